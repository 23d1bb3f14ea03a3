// Package perf gives hints about what makes kernels slow, as far as a functional run can know: how
// many sectors of memory the accesses of warps touch, how many banks of shared memory they collide
// in, and which branches part the lanes of warps. Rules and words are those of package findings; what
// each costs in time only a timing run can tell, so that everything here is a note.
package perf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/plain"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/findings"
)

// Name is the checker's name.
const Name = "perf"

// rule makes a rule of one of package findings.
func rule(name string) *check.Rule {
	all := findings.Rules()
	r := all[slices.IndexFunc(all, func(r findings.Rule) bool { return r.Name == name })]
	short, _, _ := strings.Cut(r.Explain, ". ")
	return &check.Rule{
		ID: name, Checker: Name, Level: check.Note, Short: strings.TrimSuffix(short, ".") + ".", Full: r.Explain,
		Mend: strings.ToUpper(r.Try[:1]) + r.Try[1:] + ".", Tags: []string{"performance"},
	}
}

var (
	uncoalesced = rule("uncoalesced-accesses")
	conflicts   = rule("bank-conflicts")
	divergence  = rule("divergence")
)

// Rules returns the rules of the checker.
func Rules() []*check.Rule { return []*check.Rule{uncoalesced, conflicts, divergence} }

// Checker is the checker of a run.
type Checker struct {
	by   map[codeKey]*code
	list []*code
}

// codeKey tells kernels apart.
type codeKey struct {
	kernel string
	sites  int
}

// New makes a checker.
func New() check.Checker { return &Checker{by: map[codeKey]*code{}} }

// Host is as in check.Checker.
func (c *Checker) Host(*check.HostEvent) {}

// code is what was counted of a kernel, over all launches.
type code struct {
	kernel string
	first  int // launch
	insts  []*isa.Inst
	source func(int) exec.Where
	sites  []site
	// Instructions of warps, and lanes that had not exited and that executed them.
	issues, live, active uint64
}

// site is what was counted of an instruction.
type site struct {
	requests, sectors, least uint64 // accesses of warps to global memory
	shared, turns            uint64 // accesses of warps to shared memory without conflicts would take shared turns
	branches, parted         uint64 // conditional branches of warps, and those that parted lanes
}

// launch is the probe of a launch.
type launch struct {
	c      *Checker
	number int
	code   *code
}

// Launch is as in check.Checker.
func (c *Checker) Launch(l *check.Launch) exec.Probe { return &launch{c: c, number: l.Number} }

// Follows is as in exec.Follower: branches are seen as a FlowProbe sees them.
func (l *launch) Follows() bool { return true }

// Begin is as in exec.Probe.
func (l *launch) Begin(x *exec.Launch, insts []*isa.Inst, source func(int) exec.Where, _ func(int) string) {
	k := codeKey{sites: len(insts)}
	if x.Kernel != nil {
		k.kernel = x.Kernel.Name()
	}
	l.code = l.c.by[k]
	if l.code == nil {
		l.code = &code{kernel: k.kernel, first: l.number, insts: insts, source: source, sites: make([]site, len(insts))}
		l.c.by[k], l.c.list = l.code, append(l.c.list, l.code)
	}
}

// Block is as in exec.Probe.
func (l *launch) Block(p exec.ProbedBlock) exec.BlockProbe { return &block{code: l.code, probed: p} }

// block is the probe of a block.
type block struct {
	check.Deaf
	*code
	probed exec.ProbedBlock
}

// Access is as in exec.BlockProbe.
func (b *block) Access(a *exec.Access) {
	if a.Flight || a.Lanes == 0 {
		return
	}
	x := &b.sites[a.Site]
	switch {
	case a.Space == isa.Global && !a.Inst.Atomic:
		x.requests++
		x.sectors += uint64(sectors(a))
		x.least += uint64(a.Lanes.Count()*a.Bytes+sectorBytes-1) / sectorBytes
	case a.Space == isa.Shared:
		shared, turns := banks(a)
		x.shared += uint64(shared)
		x.turns += uint64(turns)
	}
}

// sectorBytes is what memory moves at least, and bankCount and bankBytes describe shared memory, of
// all GPUs of NVIDIA since Kepler (CUDA C++ best practices guide, memory optimizations).
const (
	sectorBytes = 32
	bankCount   = 32
	bankBytes   = 4
)

// sectors returns how many sectors an access touches.
func sectors(a *exec.Access) int {
	var list [64]uint64
	n := 0
	for k := a.Lanes; k != 0; k &= k - 1 {
		at := a.Addr[k.First()&31]
		for s := at / sectorBytes; s <= (at+uint64(a.Bytes)-1)/sectorBytes; s++ {
			if n < len(list) && !slices.Contains(list[:n], s) {
				list[n] = s
				n++
			}
		}
	}
	return n
}

// banks returns in how many turns shared memory serves an access without conflicts, and with those
// that it has. Lanes with more than four bytes are served in parts of 128 bytes.
func banks(a *exec.Access) (least, turns int) {
	words := max(1, a.Bytes/bankBytes)
	per := max(1, 32/words) // lanes in a turn
	for from := 0; from < 32; from += per {
		var seen [bankCount][]uint64
		most := 0
		for i := from; i < from+per; i++ {
			if a.Lanes>>i&1 == 0 {
				continue
			}
			for w := range words {
				at := a.Addr[i&31]/bankBytes + uint64(w)
				bank := &seen[at%bankCount]
				if !slices.Contains(*bank, at) {
					*bank = append(*bank, at)
					most = max(most, len(*bank))
				}
			}
		}
		if most > 0 {
			least, turns = least+1, turns+most
		}
	}
	return least, turns
}

// Executed is as in exec.FlowProbe.
func (b *block) Executed(warp, at int, lanes, active isa.LaneMask, _ int) {
	b.issues++
	b.live += uint64(b.probed.LiveLanes(warp).Count())
	b.active += uint64(active.Count())
	if in := b.insts[at]; in.Guarded && in.Flow == isa.FlowBranch {
		x := &b.sites[at]
		x.branches++
		if lanes != 0 && lanes != active {
			x.parted++
		}
	}
}

// Shuffled, Enter and Passed are as in exec.FlowProbe.
func (b *block) Shuffled(warp, site int, lanes isa.LaneMask, _ *[32]uint8, depth int) {
	b.Executed(warp, site, lanes, lanes, depth)
}
func (b *block) Enter(int, isa.LaneMask, *exec.Callee)               {}
func (b *block) Passed(int, isa.LaneMask, int, isa.Reg, uint64, int) {}

// Bounds below which nothing is said, our choice: the first is that of package findings.
const (
	leastShare  = findings.Least // of the kernel's sectors, turns of shared memory, or branches
	leastParted = 0.1            // of the branches at one place part lanes
	leastIdle   = 0.1            // of the lanes that have not exited wait for others of their warp
)

// Findings is as in check.Checker.
func (c *Checker) Findings() (list []*check.Finding) {
	for _, k := range c.list {
		list = append(list, k.findings()...)
	}
	return list
}

// findings says what was counted of a kernel, of each rule the worst first.
func (k *code) findings() (list []*check.Finding) {
	var all site
	for i := range k.sites {
		x := &k.sites[i]
		all.sectors, all.turns, all.parted = all.sectors+x.sectors, all.turns+x.turns, all.parted+x.parted
	}
	type hint struct {
		f    *check.Finding
		cost uint64
	}
	var hints []hint
	add := func(r *check.Rule, at int, count, cost uint64, seen string) {
		where := k.source(at)
		hints = append(hints, hint{&check.Finding{
			Rule: r, Level: check.Note, Message: r.Short + " " + strings.ToUpper(seen[:1]) + seen[1:] + ".", Kernel: plain.Instance(k.kernel), Launch: k.first, Count: count,
			Steps: []check.Step{{Role: check.First, Text: where.Inst, Place: check.PlaceOf(where)}},
		}, cost})
	}
	idle := 1 - float64(k.active)/float64(max(1, k.live))
	for i := range k.sites {
		x := &k.sites[i]
		if more := x.sectors - min(x.sectors, x.least); x.sectors > 2*x.least && over(more, all.sectors, leastShare) {
			add(uncoalesced, i, x.requests, more, fmt.Sprintf("a request of a warp touches %.1f sectors of 32 bytes on average; its bytes would fill %.1f", ratio(x.sectors, x.requests), ratio(x.least, x.requests)))
		}
		if more := x.turns - x.shared; 2*more >= x.shared && over(more, all.turns, leastShare) {
			add(conflicts, i, x.shared, more, fmt.Sprintf("shared memory serves them in %.1f times as many turns as without conflicts", ratio(x.turns, x.shared)))
		}
		if over(x.parted, x.branches, leastParted) && over(x.parted, all.parted, leastShare) && idle >= leastIdle {
			add(divergence, i, x.branches, x.parted, fmt.Sprintf("this branch parts the lanes of a warp in %s of %s cases; instructions of the kernel have %.1f active lanes on average, of %.1f that have not exited",
				report.Count(x.parted), report.Count(x.branches), ratio(k.active, k.issues), ratio(k.live, k.issues)))
		}
	}
	slices.SortStableFunc(hints, func(a, b hint) int { return cmp.Or(cmp.Compare(a.f.Rule.ID, b.f.Rule.ID), cmp.Compare(b.cost, a.cost)) })
	for _, h := range hints {
		list = append(list, h.f)
	}
	return list
}

// over reports whether a part is more than nothing, and at least a share of the whole.
func over(part, whole uint64, share float64) bool {
	return part > 0 && float64(part) >= share*float64(whole)
}

func ratio(a, b uint64) float64 { return float64(a) / float64(max(1, b)) }
