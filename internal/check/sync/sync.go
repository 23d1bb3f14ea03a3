// Package sync finds misuse of barriers and of member masks.
package sync

import (
	"errors"
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/plain"
)

// Name is the checker's name.
const Name = "sync"

func rule(id, short, full, mend string) *check.Rule {
	return &check.Rule{ID: id, Checker: Name, Level: check.Error, Short: short, Full: full, Mend: mend, Tags: []string{"synchronisation"}}
}

var (
	mask = rule("sync-mask", "The member mask does not fit the threads that execute the instruction.",
		"Instructions that threads of a warp execute together name them in a mask. A thread must be in its own mask, every thread of the mask that has not exited must come, and values may be taken from threads of the mask only.",
		"Name exactly the threads that reach the instruction, as known before the branch (__ballot_sync), or move it to where all of them come.")
	divergence = rule("barrier-divergence", "Not all threads that a barrier waits for reach it together.",
		"A barrier that is not reached by all of its threads hangs, or opens at the wrong time. The threads of a warp must be at the same barrier instruction.",
		"Move the barrier out of the branch, so that all threads execute it, or name the number of threads that come.")
	early = rule("wgmma-wait", "Threads read the result of a product of their warp group before they have waited for it.",
		"wgmma.mma_async writes its registers at any time until wgmma.wait_group says that the group is over. What is read before is undefined; compilers that notice let products run one after the other.",
		"Put wgmma.commit_group and wgmma.wait_group between the product and the first use of its accumulators.")
	loading = rule("tensor-load-wait", "Threads use a register that a load of tensor memory has still to write.",
		"tcgen05.ld writes its registers at any time until tcgen05.wait::ld says that it is over. What is read before is undefined.",
		"Execute tcgen05.wait::ld between the load and the first use of its registers.")
	kept = rule("tensor-memory-kept", "A block ends without giving back its columns of tensor memory.",
		"Columns that tcgen05.alloc has given must be given back before the kernel ends: later blocks of the SM, of other kernels too, wait for them.",
		"Let a warp execute tcgen05.dealloc for each allocation, after all that uses the columns.")
	endless = rule("endless-wait", "Threads wait in a loop for what never comes.",
		"All threads of the launch that run repeat the same instructions with the same values, none of them changes memory that others see, and no block that could do so can begin: the kernel never ends. What another kernel or the host does meanwhile is not seen in a run in which kernels run one after another.",
		"Let what the threads wait for happen before, or in a block that runs at the same time; blocks that wait for each other need a cooperative launch, and each of them must come to the barrier.")
)

// Rules returns the rules of the checker.
func Rules() []*check.Rule {
	return []*check.Rule{mask, divergence, misuse, early, loading, kept, endless}
}

// findKey tells findings apart.
type findKey struct {
	rule   *check.Rule
	kernel string
	site   int
	what   string
}

// Checker is the checker of a run.
type Checker struct {
	live map[*block]bool // blocks that have not ended
	by   map[findKey]*check.Finding
	all  []*check.Finding
}

// New makes a checker.
func New() check.Checker {
	return &Checker{live: map[*block]bool{}, by: map[findKey]*check.Finding{}}
}

// Host is as in check.Checker.
func (c *Checker) Host(*check.HostEvent) {}

// Findings is as in check.Checker.
func (c *Checker) Findings() []*check.Finding { return c.all }

// launch is a launch, and its probe.
type launch struct {
	c      *Checker
	number int
	kernel string
	code   []*isa.Inst
	text   func(site int) string
	// cooperative: blocks may wait for each other.
	cooperative bool
	peers       check.Peers[block]
}

// Launch is as in check.Checker.
func (c *Checker) Launch(l *check.Launch) exec.Probe { return &launch{c: c, number: l.Number} }

// OfMachineCode is as in exec.MachineProbe.
func (l *launch) OfMachineCode() exec.Probe { return l }

// Begin is as in exec.Probe.
func (l *launch) Begin(x *exec.Launch, code []*isa.Inst, _ func(int) exec.Where, text func(int) string) {
	l.code, l.text, l.cooperative = code, text, x.Cooperative
	l.peers.Begin(x)
	if x.Kernel != nil {
		l.kernel = x.Kernel.Name()
	}
}

// Block is as in exec.Probe.
func (l *launch) Block(p exec.ProbedBlock) exec.BlockProbe {
	b := &block{launch: l, probed: p, been: map[spot]isa.LaneMask{}, gone: map[int]isa.LaneMask{}, mbars: map[uint64]*mbar{}}
	l.c.live[b] = true
	l.peers.Add(p.Linear(), b)
	return b
}

// arrival is lanes of a warp at a barrier whose phase is not complete.
type arrival struct {
	warp, bar, site int
	lanes           isa.LaneMask
	waits           bool
	place           check.Place
	chain           []check.Place
	thread          exec.Dim3
}

// block is a block, and its probe.
type block struct {
	check.Deaf
	*launch
	probed exec.ProbedBlock
	came   []arrival
	been   map[spot]isa.LaneMask // lanes that have waited at a barrier before
	gone   map[int]isa.LaneMask  // lanes of a warp that have exited
	mbars  map[uint64]*mbar      // by address
}

// spot is a barrier instruction as one warp executes it.
type spot struct{ warp, site int }

// here is what lanes of a warp do now.
func (b *block) here(warp, bar int, lanes isa.LaneMask, waits bool) arrival {
	w := b.probed.Where(warp, lanes.First()&31)
	a := arrival{warp: warp, bar: bar, site: b.probed.Site(warp), lanes: lanes, waits: waits, place: check.PlaceOf(w), thread: w.Thread}
	for _, c := range b.probed.Chain(warp) {
		a.chain = append(a.chain, check.PlaceOf(c))
	}
	return a
}

func (b *block) step(role check.Role, a *arrival, what string) check.Step {
	return check.Step{Role: role, Place: a.place, Chain: a.chain, Text: fmt.Sprintf("%s, by thread %v of block %v (warp %d, lanes %#08x)", what, a.thread, b.probed.Index(), a.warp, uint32(a.lanes))}
}

// add counts a finding by threads.
func (b *block) add(r *check.Rule, level check.Level, what string, a *arrival, more ...check.Step) {
	k := findKey{r, b.kernel, a.site, what}
	n := uint64(a.lanes.Count())
	if old := b.c.by[k]; old != nil {
		old.Count += n
		return
	}
	f := &check.Finding{Rule: r, Level: level, Message: what + ". " + r.Mend, Kernel: plain.Instance(b.kernel), Launch: b.number, Count: n, Details: map[string]string{}}
	f.Steps = append([]check.Step{b.step(check.First, a, b.code[a.site].Op)}, more...)
	b.c.by[k], b.c.all = f, append(b.c.all, f)
}

// Misuse is as in exec.BlockProbe.
func (b *block) Misuse(kind exec.Misuse, warp int, lanes, named isa.LaneMask) {
	a := b.here(warp, 0, lanes, false)
	switch kind {
	case exec.OutsideMask:
		b.add(mask, check.Error, "Threads execute an instruction whose member mask lacks them", &a)
	case exec.NeverCame:
		b.add(mask, check.Error, "Threads that the member mask names never come, although they have not exited", &a)
	case exec.TooEarly:
		b.add(early, check.Error, "Threads read a register that a product of their warp group has still to write", &a)
	case exec.LoadTooEarly:
		b.add(loading, check.Error, "Threads use a register that a load of tensor memory has still to write", &a)
	case exec.TensorKept:
		b.add(kept, check.Error, fmt.Sprintf("A block ends with %d columns of tensor memory", named), &a)
	case exec.FromOutside:
		if b.probed.LiveLanes(warp)&named == 0 {
			b.add(mask, check.Note, "Threads read a register of a thread that has exited or does not exist", &a)
			return
		}
		b.add(mask, check.Error, "Threads read a register of a thread that does not execute the instruction with them", &a)
	}
}

// Arrive is as in exec.BlockProbe.
func (b *block) Arrive(warp int, lanes isa.LaneMask, bar int, waits bool) {
	if bar >= exec.MaxBarriers { // the cluster's
		return
	}
	site := b.probed.Site(warp)
	for i := range b.came {
		if a := &b.came[i]; a.warp == warp && a.bar == bar && a.site == site && a.waits == waits {
			a.lanes |= lanes
			return
		}
	}
	a := b.here(warp, bar, lanes, waits)
	b.came = append(b.came, a)
	b.left(&a, b.gone[warp])
}

// Exit is as in exec.BlockProbe.
func (b *block) Exit(warp int, lanes isa.LaneMask) {
	b.gone[warp] |= lanes
	for i := range b.came {
		if a := &b.came[i]; a.warp == warp {
			b.left(a, lanes)
		}
	}
}

// left looks for lanes that have exited although their warp waits at a barrier that all of it
// must execute. Since compute capability 7.0 the barrier opens without them, and programs rely
// on that for threads that return at their beginning; so it is an error only if the lanes have
// waited at this barrier before.
func (b *block) left(a *arrival, lanes isa.LaneMask) {
	switch {
	case lanes == 0 || !a.waits || !aligned(b.code[a.site].Op):
	case lanes&b.been[spot{a.warp, a.site}] != 0:
		b.add(divergence, check.Error, "Threads of a warp wait at a barrier, which others of the warp have left out although they were at it before", a)
	default:
		b.add(divergence, check.Note, "Threads of a warp wait at a barrier, and others of the warp have exited", a)
	}
}

// aligned reports whether a warp must execute an instruction as a whole (PTX manual, bar:
// bar is barrier.aligned). In machine code all barriers of the block are taken for such: compilers let
// the warp meet first where it may be divergent (WARPSYNC).
func aligned(op string) bool {
	return strings.HasPrefix(op, "bar.") || strings.HasPrefix(op, "BAR.") || strings.Contains(op, ".aligned")
}

// Open is as in exec.BlockProbe.
func (b *block) Open(bar int) {
	kept := b.came[:0]
	var here []arrival
	for _, a := range b.came {
		if a.bar == bar {
			here = append(here, a)
			b.been[spot{a.warp, a.site}] |= a.lanes
		} else {
			kept = append(kept, a)
		}
	}
	b.passed(here)
	for i := range here {
		for k := range i {
			x, y := &here[k], &here[i]
			if x.warp == y.warp && x.waits && y.waits && x.site != y.site && aligned(b.code[x.site].Op) && aligned(b.code[y.site].Op) {
				b.add(divergence, check.Error, "Threads of one warp meet at different barrier instructions", y, b.step(check.Other, x, b.code[x.site].Op))
			}
		}
	}
	b.came = kept
}

// passed notes a barrier of the whole block that opens without threads which have exited. The
// warps of those who wait are left to left.
func (b *block) passed(here []arrival) {
	whole := false // warps that have exited as a whole
	for w := range b.gone {
		whole = whole || b.probed.LiveLanes(w) == 0
	}
	if !whole {
		return
	}
	for i := range here {
		if a := &here[i]; a.waits && !strings.Contains(b.text(a.site), ",") {
			b.add(divergence, check.Note, "Threads wait at a barrier, and whole warps of the block have exited", a)
			return
		}
	}
}

// End is as in exec.BlockProbe.
func (b *block) End() {
	delete(b.c.live, b)
	b.peers.Remove(b.probed.Linear())
}

// Failed is as in check.Failer: threads that wait for ever are a finding.
func (c *Checker) Failed(number int, err error) {
	var fault *exec.Fault
	if errors.As(err, &fault) && fault.Kind == exec.BadBarrier {
		c.badBarrier(number, fault)
		return
	}
	var stuck *exec.StuckError
	if !errors.As(err, &stuck) { // a limit, or the user, has ended it
		c.endlessPolls(number)
		return
	}
	if len(stuck.Loops) > 0 {
		c.endless(number, stuck)
		return
	}
	for b := range c.live {
		if b.number != number || b.probed.Index() != stuck.Block {
			continue
		}
		var first *arrival
		var rest []check.Step
		for i := range b.came {
			switch a := &b.came[i]; {
			case !a.waits:
			case first == nil:
				first = a
			default:
				rest = append(rest, b.step(check.Other, a, "waits at barrier "+fmt.Sprint(a.bar)))
			}
		}
		if first != nil {
			b.add(divergence, check.Error, "Threads wait at a barrier that the others never reach", first, rest...)
		}
	}
}
