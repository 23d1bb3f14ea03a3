// Package sample chooses which launches of a long run, and which blocks of a large launch, are
// simulated cycle by cycle, and estimates the cycles of the others, with an interval that says how far the sum may be off.
//
// Launches of the same kernel and the same grid that execute about as many instructions form a
// group. Of a group the first launches are simulated, then as many as the spread of their cycles
// per instruction demands for the error that is asked for (the central limit theorem, with
// Student's t for small samples), and after that some at random distances that grow, since later
// launches may differ from earlier ones. The others take the mean cycles per instruction of the
// group times their own instructions.
//
// Every decision follows from launches before it and from a seed: a run is the same for every
// number of threads.
package sample

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Options say how well a run is to be sampled.
type Options struct {
	Target float64 // half the width of the interval that is aimed at, as a part of the cycles: 0.02
	Seed   uint64  // of the random distances
	Blocks bool    // pass over blocks of launches, too
}

// Level is the name of what is passed over: launch, or full for blocks of launches, too.
func (o *Options) Level() string {
	if o.Blocks {
		return "full"
	}
	return "launch"
}

// Launch is what is known of a launch that has been executed.
type Launch struct {
	Kernel                 string // kernel, grid, block and whatever else must be equal in a group
	WarpInsts, ThreadInsts uint64
}

// Our choices.
const (
	// leastTimed is the number of launches of a group that are simulated in any case: fewer
	// give no spread.
	leastTimed = 2
	// renewed is the number of launches that begin a new stretch: of those far from the mean, two
	// may be so by chance.
	renewed = 3
	// near is how much the instructions of a group's launches may differ from those of its
	// first, relative to them; of warps, and of threads for each instruction of a warp.
	near = 0.05
	// growth and jitter: the distance to the next launch that is simulated to look whether the
	// group still behaves as before is those seen times growth, and up to so much more, if the
	// target is usual. The distances grow in proportion to the target, but not to less than
	// leastGrowth.
	growth, jitter, usual = 10, 5, 0.02
	leastGrowth           = 0.75
	// alarm is how many standard deviations from the mean a launch is far.
	alarm = 3
	// coldFactor is how many times the difference of a group's second and third launch its first must be off
	// them to be left out of the mean.
	coldFactor = 4
	// bias is the part of estimated cycles, and of those that were simulated after launches that were not, that the interval
	// has on each side beside what the spread says: caches are left as the last simulated launch left them.
	bias = 0.01
	// confidence is the normal quantile of an interval of 95 %.
	confidence = 1.959964
)

// Sampler follows the launches of a run.
type Sampler struct {
	opt    Options
	rnd    *rand.Rand
	groups map[string][]*group
	order  []*group // in the order of their first launches
	timed  sum      // all that were simulated
	passed sum      // all that were not
	within within
	after  uint64 // cycles that were simulated after a launch that was passed over
}

// sum adds up launches.
type sum struct{ launches, cycles, insts uint64 }

func (s *sum) add(cycles, insts uint64) {
	s.launches++
	s.cycles += cycles
	s.insts += insts
}

// group is a set of launches that are taken to behave alike, as long as they do: stretch is
// since when.
type group struct {
	kernel       string
	insts, lanes float64 // of the first: warp instructions, and threads for each
	seen         uint64  // launches so far, from the first of the stretch
	look         uint64  // the number of the launch that is simulated next in any case
	timed        sum
	passed       sum
	stretch      stretch
	first        float64   // cycles per instruction of the first launch
	suspect      []float64 // cycles per instruction of the last launches, if these were far from the mean
	since        float64   // instructions passed over since the last launch that was near the mean
	ended        float64   // squares of the margins of earlier stretches
	drift        float64   // cycles by which estimates may be off because stretches changed unseen
}

// stretch is a part of a group's launches that behave alike.
type stretch struct {
	n             uint64  // simulated
	mean, squares float64 // of cycles per warp instruction: Welford's sums
	passed        sum
}

// add adds a launch that was simulated.
func (x *stretch) add(v float64) {
	x.n++
	d := v - x.mean
	x.mean += d / float64(x.n)
	x.squares += d * (v - x.mean)
}

// deviation is the standard deviation of cycles per instruction.
func (x *stretch) deviation() float64 {
	if x.n < 2 {
		return 0
	}
	return math.Sqrt(x.squares / float64(x.n-1))
}

// spread is the coefficient of variation.
func (x *stretch) spread() float64 {
	if x.mean == 0 {
		return 0
	}
	return x.deviation() / x.mean
}

// width is how far 95 of 100 launches are from the mean at most, relative to it.
func (x *stretch) width() float64 { return student(x.n-1) * x.spread() }

// margin is what the width lets the estimated cycles be off: by the error of the mean, which
// all share, and by the spread of each.
func (x *stretch) margin(width float64) float64 {
	if x.passed.launches == 0 {
		return 0
	}
	return width * float64(x.passed.cycles) * math.Sqrt(1/float64(x.n)+1/float64(x.passed.launches))
}

// New returns a sampler for a run.
func New(o Options) *Sampler {
	return &Sampler{opt: o, rnd: rand.New(rand.NewPCG(o.Seed, 0x9e3779b97f4a7c15)), groups: map[string][]*group{}}
}

// MayPass reports whether a launch of a kernel could be passed over, so that it is worth
// executing to see. Otherwise it must be simulated.
func (s *Sampler) MayPass(kernel string) bool {
	return slices.ContainsFunc(s.groups[kernel], s.settled)
}

// settled reports whether the next launch of a group need not be simulated.
func (s *Sampler) settled(g *group) bool {
	return g.stretch.n >= s.needed(g) && g.seen < g.look
}

// Pass decides about a launch that has been executed. If it need not be simulated, cycles is the
// estimate of what it takes; otherwise Timed must follow.
func (s *Sampler) Pass(l Launch) (cycles uint64, pass bool) {
	g := s.find(l)
	if g == nil || !s.settled(g) {
		return 0, false
	}
	cycles = max(1, uint64(math.Round(g.stretch.mean*l.insts())))
	g.seen++
	g.since += l.insts()
	for _, x := range []*sum{&g.passed, &g.stretch.passed, &s.passed} {
		x.add(cycles, l.WarpInsts)
	}
	return cycles, true
}

// Beside notes a launch that has been simulated while others ran, and says nothing of its kind.
func (s *Sampler) Beside(l Launch, cycles uint64) {
	s.timed.add(cycles, l.WarpInsts)
	if s.passed.launches > 0 {
		s.after += cycles
	}
}

// within are the blocks that were passed over in launches that were simulated.
type within struct {
	launches, cycles, insts uint64
	margin                  float64
}

// Within notes that blocks of a launch that is simulated were passed over: their estimated cycles, which the
// launch's include, their warp instructions, and how far the cycles may be off.
func (s *Sampler) Within(cycles, insts uint64, margin float64) {
	x := &s.within
	x.launches++
	x.cycles += cycles
	x.insts += insts
	x.margin += margin
}

// Timed notes a launch that has been simulated alone.
func (s *Sampler) Timed(l Launch, cycles uint64) {
	s.Beside(l, cycles)
	g := s.find(l)
	if g == nil {
		g = &group{kernel: l.Kernel, insts: float64(l.WarpInsts), lanes: l.lanes()}
		s.groups[l.Kernel] = append(s.groups[l.Kernel], g)
		s.order = append(s.order, g)
	}
	g.seen++
	g.timed.add(cycles, l.WarpInsts)
	if g.timed.launches == 1 {
		g.first = float64(cycles) / l.insts()
	}
	g.note(float64(cycles)/l.insts(), s.opt.Target)
	switch {
	case len(g.suspect) > 0:
		g.look = g.seen // the next one says more
	case g.seen >= g.look:
		g.look = g.seen + 1 + uint64(float64(g.seen)*s.growth())
	}
}

// cold reports whether the first launch of a group differs from the next two, of which v is the second,
// as one does that finds its code and data in no cache.
func (g *group) cold(v float64) bool {
	second := 2*g.stretch.mean - g.first
	return math.Abs(g.first-(second+v)/2) > coldFactor*math.Abs(second-v)
}

// growth is a random distance to the next look, relative to the launches seen.
func (s *Sampler) growth() float64 {
	return max(leastGrowth, (growth+jitter*s.rnd.Float64())*s.opt.Target/usual)
}

// note adds the cycles per instruction of a launch that was simulated. If it is far from the mean,
// two more are; if these are far from it too, all together, a new stretch begins. When it began is
// not known: what was passed over since the last launch that was near the mean may have cost as
// much as before, or as much as now.
func (g *group) note(v, target float64) {
	x := &g.stretch
	far := x.n >= leastTimed && math.Abs(v-x.mean) > max(alarm*x.deviation(), target*x.mean)
	if !far && len(g.suspect) == 0 {
		if x.n == 2 && g.timed.launches == 3 && g.cold(v) {
			second := 2*x.mean - g.first
			g.drift += math.Abs(x.mean-second) * float64(x.passed.insts) // what was passed over with the old mean
			*x = stretch{n: 1, mean: second, passed: x.passed}
		}
		if x.n >= leastTimed {
			g.drift += math.Abs(v-x.mean) * g.since // which a slow change may have made
		}
		x.add(v)
		g.since = 0
		return
	}
	g.suspect = append(g.suspect, v)
	if far && len(g.suspect) < renewed {
		return
	}
	var now stretch
	for _, v := range g.suspect {
		now.add(v)
	}
	if off := math.Abs(now.mean - x.mean); now.n == renewed && off > max(alarm*x.deviation()/math.Sqrt(renewed), target*x.mean) {
		m := x.margin(x.width())
		g.ended += m * m
		g.drift += off * g.since
		*x = now
		g.look = 0 // and it is looked at as often as a new one
		g.seen = renewed
	} else {
		for _, v := range g.suspect {
			x.add(v)
		}
	}
	g.suspect, g.since = nil, 0
}

// insts is what cycles are divided by: at least one instruction.
func (l *Launch) insts() float64 { return float64(max(1, l.WarpInsts)) }

// lanes is the mean number of threads for each instruction of a warp.
func (l *Launch) lanes() float64 { return float64(l.ThreadInsts) / l.insts() }

// find returns the group of a launch: the nearest one that is near enough, nil if there is none.
func (s *Sampler) find(l Launch) *group {
	var best *group
	least := math.Inf(1)
	for _, g := range s.groups[l.Kernel] {
		d := max(apart(float64(l.WarpInsts), g.insts), apart(l.lanes(), g.lanes))
		if d <= near && d < least {
			best, least = g, d
		}
	}
	return best
}

// apart is the relative difference of a from b.
func apart(a, b float64) float64 {
	if a == b {
		return 0
	}
	return math.Abs(a-b) / b
}

// needed is the number of launches of a group that must be simulated for the error that is
// asked for. Errors of groups add up as squares, so that a group with a part p of all cycles may
// be off by the target over the root of p.
func (s *Sampler) needed(g *group) uint64 {
	x := &g.stretch
	if x.n < leastTimed {
		return leastTimed
	}
	part := float64(g.timed.cycles+g.passed.cycles) / float64(max(1, s.timed.cycles+s.passed.cycles))
	root := x.width() * math.Sqrt(part) / s.opt.Target
	return max(leastTimed, uint64(math.Ceil(root*root)))
}

// Result is what a sampled run comes to.
type Result struct {
	// Launches are all, Timed those that were simulated, with their cycles; Estimated are the
	// cycles of the others.
	Launches, Timed              uint64
	TimedCycles, EstimatedCycles uint64
	// Margin is half the width of the interval of the sum of all launches' cycles that holds the
	// truth in 95 of 100 cases, if launches of a group are alike.
	Margin float64
	// Insts are the warp instructions of all, TimedInsts those of the simulated ones.
	Insts, TimedInsts uint64
	// Partly are the launches among Timed of which blocks were passed over. The cycles and instructions of these
	// are not in TimedCycles and TimedInsts.
	Partly uint64
	Groups []Group // the one with the most estimated cycles first
}

// Group is a set of launches that were taken to behave alike.
type Group struct {
	Kernel                       string
	WarpInsts                    uint64 // of its first launch
	Launches, Timed              uint64
	TimedCycles, EstimatedCycles uint64
	Spread                       float64 // coefficient of variation of cycles per warp instruction, of late
	Margin                       float64 // in cycles
}

// Result sums up the launches so far.
func (s *Sampler) Result() Result {
	r := Result{
		Launches: s.timed.launches + s.passed.launches, Timed: s.timed.launches, Partly: s.within.launches,
		TimedCycles: s.timed.cycles - s.within.cycles, EstimatedCycles: s.passed.cycles + s.within.cycles,
		Insts: s.timed.insts + s.passed.insts, TimedInsts: s.timed.insts - s.within.insts,
	}
	squares, drift := 0.0, 0.0
	for _, g := range s.order {
		own, more := s.margin(g)
		squares += own * own
		drift += more
		r.Groups = append(r.Groups, Group{
			Kernel: g.kernel, WarpInsts: uint64(g.insts), Launches: g.timed.launches + g.passed.launches, Timed: g.timed.launches,
			TimedCycles: g.timed.cycles, EstimatedCycles: g.passed.cycles, Spread: g.stretch.spread(), Margin: own + more,
		})
	}
	// What launches that were simulated in part may be off, those estimated from them may be, too.
	r.Margin = math.Sqrt(squares) + drift + bias*float64(s.passed.cycles+s.after) + s.within.margin*(1+float64(s.passed.cycles)/float64(max(1, s.timed.cycles)))
	slices.SortStableFunc(r.Groups, func(a, b Group) int { return cmp.Compare(b.EstimatedCycles, a.EstimatedCycles) })
	return r
}

// margin is how far a group's estimated cycles may be off: by its own spread, which is independent of other groups', and
// by what may be off the same way in several: drift, that of less than the target since the last look, which would not be
// noticed either, and kinds of launches that its own few have not shown.
func (s *Sampler) margin(g *group) (own, more float64) {
	m := g.stretch.margin(g.stretch.width())
	return math.Sqrt(g.ended + m*m), g.drift + s.opt.Target*g.stretch.mean*g.since + g.stretch.margin(s.width(g)) - m
}

// width is how far 95 of 100 launches of a group are from its mean at most, relative to it. Few of a group are simulated,
// which may all be of one kind where some launches of a kernel are slower, as when each eighth column of a matrix begins
// a sector: so the spread is at least that of all groups of the kernel together.
func (s *Sampler) width(g *group) float64 {
	squares, freedom := 0.0, uint64(0)
	for _, o := range s.groups[g.kernel] {
		if x := &o.stretch; x.n > 1 && x.mean > 0 {
			squares += x.squares / (x.mean * x.mean)
			freedom += x.n - 1
		}
	}
	if freedom == 0 {
		return g.stretch.width()
	}
	return max(g.stretch.width(), student(freedom)*math.Sqrt(squares/float64(freedom)))
}

// student is the quantile of Student's distribution that 95 % lie within on both sides, by
// degrees of freedom. For few it is from tables; from there on the expansion of Cornish and
// Fisher is exact to a thousandth.
func student(freedom uint64) float64 {
	table := [...]float64{math.Inf(1), 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228}
	if freedom < uint64(len(table)) {
		return table[freedom]
	}
	const z = confidence
	n := float64(freedom)
	return z + (z*z*z+z)/(4*n) + (5*math.Pow(z, 5)+16*z*z*z+3*z)/(96*n*n) + (3*math.Pow(z, 7)+19*math.Pow(z, 5)+17*z*z*z-15*z)/(384*n*n*n)
}
