// Package lint finds what is no error, but may surprise: sums of floating-point numbers whose
// value depends on the order in which threads happen to add.
//
// Additions to one number by several threads are looked at together as far as no barrier of the
// block, and no end of a launch, orders them. Their order does not matter, and nothing is said, if
//
//   - all add the same value: then every order has the same partial sums;
//   - there are two of them, and the number was zero before: addition is commutative;
//   - every partial sum is exact, whatever the order: all numbers are multiples of one power of two,
//     and the sum of their magnitudes has no more digits, counted from there, than the format keeps.
//
// Of up to mostTried other additions, some orders are tried (all, if they are few), and something is
// said once two sums differ. Of more it is taken for granted that another order has another sum.
// Orders through memory (locks, barriers
// of the grid) are not known here: what they order counts as unordered. Additions in a loop of
// compare-and-swap are not recognised.
package lint

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/plain"
)

// Name is the checker's name.
const Name = "lint"

var order = &check.Rule{
	ID: "order-float-atomic", Checker: Name, Level: check.Warning, Short: "The value of a sum depends on the order in which threads add to it.",
	Full: "Threads add different floating-point numbers to one by atomic operations. No addition is lost, but each one rounds, and the hardware chooses the order, so that the last digits may differ from run to run and from GPU to GPU.",
	Mend: "If every run must give the same digits, add in a fixed order (within the warp and the block first, then one thread adds what the blocks have stored), or add integers or fixed-point numbers, whose sums are exact. Else allow this rule here.",
	Tags: []string{"reproducibility"},
}

// Rules returns the rules of the checker.
func Rules() []*check.Rule { return []*check.Rule{order} }

// Checker is the checker of a run.
type Checker struct {
	level  check.Level
	global map[uint64]*number // by address
	users  []*launch          // launches that have added to them
	by     map[findKey]*check.Finding
	all    []*check.Finding
}

// findKey tells findings apart.
type findKey struct {
	kernel      string
	site, other int
}

// New makes a checker. What it finds are warnings if somebody asked for it by its name, else notes:
// many programs accept the last digits as they come.
func New(asked bool) check.Checker {
	c := &Checker{level: check.Note, global: map[uint64]*number{}, by: map[findKey]*check.Finding{}}
	if asked {
		c.level = check.Warning
	}
	return c
}

// Host is as in check.Checker.
func (c *Checker) Host(*check.HostEvent) {}

// Findings is as in check.Checker.
func (c *Checker) Findings() []*check.Finding { return c.all }

// launch is a launch, and its probe.
type launch struct {
	c      *Checker
	at     *check.Launch
	kernel string
	code   []*isa.Inst
	source func(int) exec.Where
	dim    exec.Dim3
}

// Launch is as in check.Checker.
func (c *Checker) Launch(l *check.Launch) exec.Probe { return &launch{c: c, at: l} }

// after reports whether all of another launch happened before this one.
func (l *launch) after(o *launch) bool {
	return o != l && l.at.At.Before(o.at.Stream, o.at.At[o.at.Stream])
}

// Begin is as in exec.Probe. Numbers that nothing can be unordered with any more are forgotten.
func (l *launch) Begin(x *exec.Launch, code []*isa.Inst, source func(int) exec.Where, _ func(int) string) {
	l.code, l.source, l.dim = code, source, x.Block
	if x.Kernel != nil {
		l.kernel = x.Kernel.Name()
	}
	for _, o := range l.c.users {
		if !l.after(o) {
			return
		}
	}
	clear(l.c.global)
	l.c.users = nil
}

// Block is as in exec.Probe.
func (l *launch) Block(p exec.ProbedBlock) exec.BlockProbe {
	return &block{launch: l, probed: p, id: p.Linear(), shared: map[uint64]*number{}}
}

// block is a block, and its probe.
type block struct {
	check.Deaf
	*launch
	probed exec.ProbedBlock
	id     uint64
	phase  int // barriers of the whole block that it has passed
	came   [exec.MaxBarriers + 1]int
	shared map[uint64]*number
}

// Arrive is as in exec.BlockProbe.
func (b *block) Arrive(_ int, lanes isa.LaneMask, bar int, _ bool) { b.came[bar] += lanes.Count() }

// Open is as in exec.BlockProbe: a barrier at which all threads have met orders what they add.
func (b *block) Open(bar int) {
	live := 0
	for w := range b.probed.Warps() {
		live += b.probed.LiveLanes(w).Count()
	}
	if b.came[bar] >= live {
		b.phase++
	}
	b.came[bar] = 0
}

// number is a number to which threads have added.
type number struct {
	launch *launch
	block  uint64
	phase  int
	within group // by threads of the block, since its last barrier
	across group // by threads of all blocks, in the launch and those that may run at the same time
	told   bool
}

// group is additions to one number of which nothing orders any two of different threads.
type group struct {
	old, first float64
	n          int     // additions of other numbers than zero
	differ     bool    // they add different values
	unit       int     // all numbers are multiples of two to it
	total      float64 // the sum of their magnitudes
	who        uint64  // the first thread or block
	several    bool    // there are others
	list       []float64
	site       int // of the first addition, by
	thread     int // this thread of its block
}

// unitOf is the exponent of a number's last binary digit that is one.
func unitOf(x float64) int {
	f, e := math.Frexp(x)
	return e - 53 + bits.TrailingZeros64(uint64(math.Abs(f)*0x1p53))
}

// begin makes a group that begins with a number in memory.
func begin(old float64, who uint64, site, thread int) group {
	g := group{old: old, who: who, site: site, thread: thread, unit: math.MaxInt}
	if old != 0 {
		g.unit, g.total = unitOf(old), math.Abs(old)
	}
	return g
}

// add counts an addition, and reports whether another order may have another sum.
func (g *group) add(x float64, s *exec.Sum, who uint64) bool {
	g.several = g.several || who != g.who
	if x != 0 {
		if g.n++; g.n == 1 {
			g.first = x
		}
		g.differ = g.differ || x != g.first
		g.unit, g.total = min(g.unit, unitOf(x)), g.total+math.Abs(x)
		if g.n <= mostTried {
			g.list = append(g.list, x)
		}
	}
	switch {
	case !g.several, !g.differ, g.n <= 2 && g.old == 0:
		return false
	}
	// Below two to the digits, in units, nothing rounds, and neither does the total here.
	if g.total < math.Ldexp(1, g.unit+s.Digits) && math.Ldexp(1, g.unit) >= s.Least {
		return false
	}
	return g.n > mostTried || g.tried(s.Digits)
}

// The numbers of additions of which all orders are tried, and some (our choice: there are 120 and 4).
const (
	mostAll   = 5
	mostTried = 32
)

// tried reports whether two orders of the additions have different sums.
func (g *group) tried(digits int) bool {
	want := g.sum(g.list, digits)
	if g.n <= mostAll {
		return g.permuted(slices.Clone(g.list), 0, digits, want)
	}
	list := slices.Clone(g.list)
	slices.Reverse(list)
	if g.sum(list, digits) != want {
		return true
	}
	slices.SortFunc(list, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	if g.sum(list, digits) != want {
		return true
	}
	slices.Reverse(list)
	return g.sum(list, digits) != want
}

// permuted reports whether some order of a list from one place on has another sum.
func (g *group) permuted(list []float64, from, digits int, want float64) bool {
	if from == len(list) {
		return g.sum(list, digits) != want
	}
	for i := from; i < len(list); i++ {
		list[from], list[i] = list[i], list[from]
		if g.permuted(list, from+1, digits, want) {
			return true
		}
		list[from], list[i] = list[i], list[from]
	}
	return false
}

// sum adds numbers in their order, each time rounded to the digits of the format. A sum of two
// numbers of at most 24 digits is rounded to 53 first, which changes nothing (53 is at least twice 24
// and two more).
func (g *group) sum(list []float64, digits int) float64 {
	sum := g.old
	for _, x := range list {
		sum += x
		if digits < 53 && sum != 0 && finite(sum) {
			_, e := math.Frexp(sum)
			sum = math.Ldexp(math.RoundToEven(math.Ldexp(sum, digits-e)), e-digits)
		}
	}
	return sum
}

// finite reports whether a number is one that rounds. What NaN and infinity make of a sum does not
// depend on where they stand.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// Sum is as in exec.SumProbe.
func (b *block) Sum(s *exec.Sum) {
	for k := s.Lanes; k != 0; k &= k - 1 {
		i := k.First() & 31
		if !finite(s.Old[i]) || !finite(s.Value[i]) {
			continue
		}
		thread := 32*s.Warp + i
		numbers := b.shared
		if s.Space == isa.Global {
			numbers = b.c.global
		}
		x := numbers[s.Addr[i]]
		if x == nil || b.after(x.launch) {
			if s.Space == isa.Global && (len(b.c.users) == 0 || b.c.users[len(b.c.users)-1] != b.launch) {
				b.c.users = append(b.c.users, b.launch)
			}
			x = &number{launch: b.launch, phase: -1, across: begin(s.Old[i], b.who(), s.Site, thread)}
			numbers[s.Addr[i]] = x
		}
		if x.told {
			continue
		}
		if x.block != b.id || x.phase != b.phase {
			x.block, x.phase, x.within = b.id, b.phase, begin(s.Old[i], uint64(thread), s.Site, thread)
		}
		within, across := x.within.add(s.Value[i], s, uint64(thread)), x.across.add(s.Value[i], s, b.who())
		if x.told = within || across; within {
			b.report(s, i, &x.within, "threads of the block")
		} else if across {
			b.report(s, i, &x.across, "blocks")
		}
	}
}

// who tells blocks of launches apart that may run at the same time.
func (b *block) who() uint64 { return uint64(b.at.Number)<<40 | b.id }

// report counts a number whose sum depends on the order.
func (b *block) report(s *exec.Sum, lane int, g *group, who string) {
	key := findKey{b.kernel, s.Site, g.site}
	if old := b.c.by[key]; old != nil {
		old.Count++
		return
	}
	show := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, max(32, 8*s.Bytes)) }
	f := &check.Finding{
		Rule: order, Level: b.c.level, Message: order.Short + " " + order.Mend, Kernel: plain.Instance(b.kernel), Launch: b.at.Number, Count: 1,
		Details: map[string]string{"address": fmt.Sprintf("%#x", s.Addr[lane]), "space": s.Space.String(), "before": show(g.old), "first value": show(g.first), "another value": show(s.Value[lane])},
	}
	step := check.Step{Role: check.First, Text: fmt.Sprintf("addition of %s to a number of %d bytes by thread %v of block %v; nothing orders it with the additions of other %s", show(s.Value[lane]), s.Bytes, b.dim.At(uint64(32*s.Warp+lane)), b.probed.Index(), who), Place: check.PlaceOf(b.probed.Where(s.Warp, lane))}
	for _, c := range b.probed.Chain(s.Warp) {
		step.Chain = append(step.Chain, check.PlaceOf(c))
	}
	f.Steps = append(f.Steps, step)
	if g.site != s.Site {
		f.Steps = append(f.Steps, check.Step{Role: check.Other, Text: fmt.Sprintf("addition of %s by thread %v", show(g.first), b.dim.At(uint64(g.thread))), Place: check.PlaceOf(b.source(g.site))})
	}
	b.c.by[key], b.c.all = f, append(b.c.all, f)
}
