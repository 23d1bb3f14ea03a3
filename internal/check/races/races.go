package races

import (
	"sort"
	"strings"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// Checker is the race checker of a run.
type Checker struct {
	shadow
	global   *memory
	time     uint32
	mostTime uint32 // of time: see limit.go
	launches []*launch
	streams  map[int64][]*launch
	live     map[*block]bool
	spare    []*memory  // of shared memory, to be used again
	flights  []*copying // nil where there is none
	noFlight []uint32   // such, to be used again
	host     []hostAccess
	found    findings
	watch    func() // of tests: before each sweep
}

// New makes a race checker.
func New() check.Checker {
	c := &Checker{global: newMemory(), time: 1, mostTime: mostTime, streams: map[int64][]*launch{}, live: map[*block]bool{}, found: newFindings()}
	c.mostNames = mostNames
	c.record(&record{}) // a cell of 0 names nothing
	return c
}

// launch is a launch, and its probe.
type launch struct {
	c      *Checker
	id     uint32
	number int
	stream int64
	at     check.Clock
	began  uint32
	base   uint32 // what happened up to this time happened before the launch
	foes   bool   // the host's accesses may be unordered with it
	code   []*isa.Inst
	source func(int) exec.Where
	dim    exec.Dim3
	grid   exec.Dim3
	kernel string
	// mute: no thread of a block can happen after one of another block. plain: the only order
	// within a block is by whole barriers, and by barriers of a warp.
	mute, plain bool
	narrow      bool      // a fence in the scope of the block was executed
	far         isa.Scope // the narrowest scope that reaches beyond a block
	clusters    clusters
	sums        []uint32 // records of form blocks, by site and class
}

// Launch is as in check.Checker.
func (c *Checker) Launch(l *check.Launch) exec.Probe {
	x := &launch{c: c, id: uint32(len(c.launches)), number: l.Number, stream: l.Stream, at: l.At}
	c.launches = append(c.launches, x)
	return x
}

// before reports whether a launch happened before l.
func (l *launch) before(id uint32) bool {
	o := l.c.launches[id]
	return o != l && l.at.Before(o.stream, o.at[o.stream])
}

// OfMachineCode is as in exec.MachineProbe.
func (l *launch) OfMachineCode() exec.Probe { return l }

// Begin is as in exec.Probe.
func (l *launch) Begin(x *exec.Launch, code []*isa.Inst, source func(int) exec.Where, text func(int) string) {
	c := l.c
	l.code, l.source, l.dim, l.grid = code, source, x.Block, x.Grid
	if x.Kernel != nil {
		l.kernel = x.Kernel.Name()
	}
	l.began, l.base = c.time, c.time
	for _, list := range c.streams {
		first := sort.Search(len(list), func(i int) bool { return !l.before(list[i].id) }) // as all that follow
		if first < len(list) {
			l.base = min(l.base, list[first].began-1)
		}
	}
	if list := c.streams[l.stream]; len(list) > 0 {
		list[len(list)-1].sums = nil // it has ended
	}
	c.streams[l.stream] = append(c.streams[l.stream], l)
	l.tick()
	l.mute, l.plain, l.far = true, true, isa.ScopeGPU
	if l.clusters = newClusters(x); l.clusters.size > 1 {
		// Scopes of other clusters are taken for the same: what only a wider one would order is not found.
		l.mute, l.far = false, isa.ScopeCluster
	}
	for i, in := range code {
		switch {
		case in.Kind == isa.KindFence && in.Order != isa.Weak, in.Order.Releases():
			l.mute, l.plain = false, false
		case in.Barrier && in.Async.Does == isa.NotAsync && !isWhole(text(i)):
			l.plain = false
		case in.Async.Done == isa.ByMbarrier, in.Async.Done == isa.ByProduct, strings.HasPrefix(in.Op, "tcgen05."):
			l.plain = false
		}
	}
	l.sums = make([]uint32, 2*len(code))
	for i := range c.host {
		l.foes = l.foes || !c.host[i].before(l.at)
	}
}

// Block is as in exec.Probe.
func (l *launch) Block(p exec.ProbedBlock) exec.BlockProbe {
	c := l.c
	b := &block{c: c, launch: l, probed: p, id: uint32(p.Linear()), base: l.base, warps: make([]warp, p.Warps())}
	for i := range b.warps {
		b.warps[i] = warp{id: uint8(i), live: uint32(p.LiveLanes(i)), base: l.base}
	}
	if n := len(c.spare); n > 0 {
		b.shared, c.spare = c.spare[n-1], c.spare[:n-1]
	} else {
		b.shared = newMemory()
	}
	c.live[b] = true
	l.clusters.add(b)
	return b
}

// block is a block, and its probe.
type block struct {
	c      *Checker
	launch *launch
	probed exec.ProbedBlock
	id     uint32
	base   uint32 // what the block did up to this time happened before what it does now
	clock  *clock // what all threads know beyond it
	warps  []warp
	shared *memory
	bars   [exec.MaxBarriers + 1]barrier
	mbars  map[uint64]*mbar
	team   *cluster // nil: it is alone
	// visited: other blocks of the cluster have accessed its shared memory.
	visited bool
	proxies proxies
	copies  []*copying // in flight, until a thread waits for groups
	sums    []uint32   // records of form warps, by site and class; nil unless the kernel is plain
	seen    [8]*chain  // where threads have read what others wrote strongly, for causes
	nseen   int
	exact   bool // what was just found out holds for the lane alone
}

// warp is what a checker knows of a warp.
type warp struct {
	id    uint8
	live  uint32
	base  uint32 // what lanes of the warp did up to this time happened before
	rel   uint32 // the last time at which a lane released something
	clock *clock // of all lanes, unless split
	split bool
	poll  poll // the last one
	lanes *[32]lane
	// learned is the last time at which a clock changed: lanes know of nothing later.
	learned uint32
}

// lane is what is special about a thread.
type lane struct {
	clock    *clock
	fenced   [2]*clock // at its last releasing fence in the scope of the block, and wider
	waiting  []pending
	released map[*chain]*release // by its own release operations, where it may store again
	group    [5]int32            // groups of copies and of products that it has closed
}

// of returns a lane's clock.
func (w *warp) of(i int) *clock {
	if w.split {
		return w.lanes[i].clock
	}
	return w.clock
}

// special returns what is special about a lane.
func (w *warp) special(i int) *lane {
	if w.lanes == nil {
		w.lanes = new([32]lane)
	}
	return &w.lanes[i&31]
}

// learn adds to what a lane knows, at a time.
func (w *warp) learn(i int, c *clock, now uint32) {
	old := w.of(i)
	n := old.join(c)
	if n == old {
		return
	}
	if !w.split {
		w.special(i)
		for k := range w.lanes {
			w.lanes[k].clock = w.clock
		}
		w.split = true
	}
	w.lanes[i].clock = n
	w.learned = now
}

// gather adds to what lanes of a warp, m, know each.
func (w *warp) gather(m uint32, c *clock, now uint32) {
	if !w.split && m != 0 && m&w.live == w.live {
		if n := w.clock.join(c); n != w.clock {
			w.clock, w.learned = n, now
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		w.learn(first(m), c, now)
	}
}

// together makes lanes of a warp, m, know the same.
func (w *warp) together(m uint32, c *clock, now uint32) {
	if m&w.live == w.live {
		w.clock, w.split = c, false
		w.learned = now
		return
	}
	for ; m != 0; m &= m - 1 {
		w.learn(first(m), c, now)
	}
}

// past is what lanes of a warp know together, without what they did since the last barrier.
func (b *block) past(w *warp, m uint32) *clock {
	c := w.clock
	if w.split {
		c = nil
		for k := m; k != 0; k &= k - 1 {
			c = c.join(w.lanes[first(k)].clock)
		}
	}
	if b.base > b.launch.base {
		c = c.set(blockKey(b.id), b.base)
	}
	if w.base > b.base {
		c = c.set(warpKey(b.id, w.id), w.base)
	}
	return c
}

// release returns what lanes of a warp know, and what they did up to now; whole covers
// threads of the warp that have exited, too.
func (b *block) release(w *warp, m uint32, whole bool) *clock {
	c := b.past(w, m)
	w.rel = b.c.time
	if whole && m&w.live == w.live {
		return c.set(warpKey(b.id, w.id), b.c.time)
	}
	if m == ^uint32(0) { // the same as a key for each thread, and smaller
		return c.set(warpKey(b.id, w.id), b.c.time)
	}
	for k := m; k != 0; k &= k - 1 {
		c = c.set(threadKey(b.id, w.id, first(k)), b.c.time)
	}
	return c
}

// memories calls f for all shadows.
func (c *Checker) memories(f func(*memory)) {
	f(c.global)
	for b := range c.live {
		f(b.shared)
	}
}

// roots calls f for records that are named outside of cells.
func (c *Checker) roots(f func(uint32)) {
	for b := range c.live {
		for _, id := range b.sums {
			f(id)
		}
	}
	for _, list := range c.streams {
		for _, id := range list[len(list)-1].sums {
			f(id)
		}
	}
}

// Exit is as in exec.BlockProbe. A thread that has exited counts as arrived at every later
// barrier, as barriers count it (CUDA programming guide, synchronization functions).
func (b *block) Exit(warp int, lanes isa.LaneMask) {
	b.warps[warp].live &^= uint32(lanes)
	if b.team != nil {
		b.leaves()
	}
}

// Heap is as in exec.HeapProbe: what others did to memory before it was given to a thread, or
// given back, is of no account.
func (b *block) Heap(_, _ int, addr, bytes uint64, _ bool) { b.c.forget(addr, bytes) }

// Misuse is as in exec.BlockProbe: another checker's work.
func (b *block) Misuse(exec.Misuse, int, isa.LaneMask, isa.LaneMask) {}

// End is as in exec.BlockProbe.
func (b *block) End() {
	c := b.c
	if !c.live[b] {
		return
	}
	delete(c.live, b)
	b.launch.clusters.remove(b)
	for _, p := range b.shared.pages {
		for k := range p.cells {
			for n, part := range p.cells[k] {
				if part != nil {
					*part = cells{}
					c.drop(part)
					p.cells[k][n] = nil
				}
			}
		}
		p.retire()
	}
	c.spare = append(c.spare, b.shared)
	b.copies = nil
}

// Findings is as in check.Checker.
func (c *Checker) Findings() []*check.Finding { return c.found.list() }
