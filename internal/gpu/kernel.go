package gpu

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/mem/cache"
)

// Kernel is a launch and, once it has ended, its results.
type Kernel struct {
	Name      string
	Registers int        // per thread, for occupancy
	Shared    int        // bytes per block
	Threads   int        // of a block
	MaxBlocks int        // most blocks on an SM
	LimitedBy core.Limit // what limits that
	L1Ways    int        // of the L1D while it runs

	// Start is the core cycle of the launch, FirstBlock that of its first block's
	// placement, End that of its end.
	Start, FirstBlock, End uint64
	// Blocks counts its completed blocks; WarpInsts and ThreadInsts the
	// instructions that they issued.
	Blocks, WarpInsts, ThreadInsts uint64
	// Passed means that the launch was executed without the chip: End is an estimate, and it has
	// none of the counters below.
	Passed bool
	// PassedBlocks are those of its blocks that were executed without the chip, with the instructions
	// that they issued, and PassedCycles the estimated time that they take, which is in End. Blocks,
	// WarpInsts and ThreadInsts count them, the counters below do not.
	PassedBlocks, PassedCycles, PassedWarpInsts, PassedThreadInsts uint64
	// Alone reports whether no other kernel ran at the same time. The counters
	// below are those of the whole chip from Start to End.
	Alone bool
	Counters
	// Places has the counters of each instruction of its work, for its own warps
	// only; nil without KeepPlaces.
	Places core.Places
	// Edges has for which instructions its warps waited; nil without KeepEdges.
	Edges *core.Edges
	// BlockLog says where and when the blocks that have begun ran, by their index
	// in the grid; nil without Run.BlockLog.
	BlockLog []BlockRun

	core    core.Kernel // the cores' form of it
	work    exec.Work
	slot    int
	launch  uint64  // its number among those that have begun
	most    int     // as MaxBlocks, but not limited by the grid
	on      []int32 // by SM: its blocks that have not ended
	next    uint64  // block to be placed next
	total   uint64
	team    int // blocks of a cluster, which are placed together
	latency uint64
	prefer  Preference

	op       *Op    // nil of a rehearsal
	lookAt   uint64 // completed blocks at which the action's Look is asked; 0: never
	logs     bool   // it has a BlockLog
	priority int    // kernels with smaller ones go first
	before   Counters
	done     func(k *Kernel)

	gave bool // it has given clusters away (give), and its dependents have not been asked for since

	// Of programmatic dependent launch: the blocks that have let dependents begin, a bit for each, and how many of
	// them have not ended.
	released  []uint64
	releasing uint64
}

// BlockRun is where and when a block ran: on an SM, from the core cycle of its
// placement to that of its end. End is 0 for a block that did not end.
type BlockRun struct {
	SM         int
	Start, End uint64
	Began      bool // not if others have taken over its work
}

// Cycles returns the core cycles from launch to end.
func (k *Kernel) Cycles() uint64 { return k.End - k.Start }

// SimulatedCycles returns the core cycles of Cycles in which the chip ran.
func (k *Kernel) SimulatedCycles() uint64 { return k.Cycles() - min(k.Cycles(), k.PassedCycles) }

// ControlBits reports whether control bits guarded its dependences.
func (k *Kernel) ControlBits() bool {
	return k.core.Info().ControlBits
}

// Pipe returns the pipe that an instruction of its work takes and for how many cycles, "" if
// the core model does not say.
func (k *Kernel) Pipe(i int) (string, int) {
	if x, ok := k.core.(core.Piped); ok {
		return x.Pipe(i)
	}
	return "", 0
}

// Work returns what was launched.
func (k *Kernel) Work() exec.Work { return k.work }

// Total returns the number of blocks of the grid.
func (k *Kernel) Total() uint64 { return k.total }

// LaunchOptions are the settings of a launch beyond its work.
type LaunchOptions struct {
	Registers int // per thread, for occupancy; 0: the work's estimate
	Prefer    Preference
}

// newKernel prepares a launch. The error is a *exec.LaunchError if no SM can
// take its blocks.
func (g *GPU) newKernel(w exec.Work, o LaunchOptions) (*Kernel, error) {
	traits := w.Traits()
	if traits.SetTime != nil {
		traits.SetTime(&g.now, uint64(g.cfg.Clocks.Core))
	}
	base, known := g.code[w.Name()]
	if traits.Placed {
		base, known = traits.CodeBase/uint64(instBytes(w))*g.cfg.cachedBytes(w), true
	} else if !known {
		base = g.codeEnd
	}
	shared := g.cfg.split(o.Prefer).Shared
	k, err := g.fits(w, shared, o.Registers, 0, base)
	if err != nil {
		return nil, err
	}
	f := k.Info()
	if err := g.checkCluster(w); err != nil {
		return nil, err
	}
	if traits.Cooperative {
		size := max(1, traits.Cluster)
		if most := uint64(g.cfg.ActiveClusters(f.MaxBlocks, size) * size); w.Blocks() > most {
			return nil, &exec.LaunchError{Kernel: w.Name(), NotResident: true, Msg: fmt.Sprintf(
				"cooperative launch of %d blocks: only %d can be resident at a time (%d on each of %d SMs, limited by %s), so a barrier over the grid could never complete",
				w.Blocks(), most, f.MaxBlocks, g.cfg.SMs(), f.LimitedBy)}
		}
	}
	most := f.MaxBlocks
	// A small grid is spread over all SMs (GPGPU-Sim).
	if n, sms := w.Blocks(), uint64(g.cfg.SMs()); n < uint64(f.MaxBlocks)*sms {
		if k, err = g.fits(w, shared, o.Registers, int(max(1, (n+sms-1)/sms)), base); err != nil {
			return nil, err
		}
		f = k.Info()
	}
	if !known {
		g.code[w.Name()] = base
		g.codeEnd = (base + g.cfg.cachedBytes(w)*uint64(len(w.Code())) + 255) &^ 255
	}
	return &Kernel{
		Name: w.Name(), Registers: f.Registers, Shared: f.Shared, Threads: w.Threads(),
		MaxBlocks: f.MaxBlocks, LimitedBy: f.LimitedBy, most: most,
		core: k, work: w, total: w.Blocks(), team: max(1, traits.Cluster), Alone: true, prefer: o.Prefer, logs: g.cfg.Run.BlockLog,
	}, nil
}

// errLater means that an action needs something that is not free yet.
var errLater = errors.New("no free kernel slot or copy engine")

// start starts a kernel.
func (g *GPU) start(k *Kernel) error {
	if g.running == len(g.slots) {
		return errLater
	}
	slot := -1
	for i, x := range g.slots {
		if x == nil {
			slot = i
			break
		}
	}
	if s := g.cfg.split(k.prefer); s != g.cfg.split(g.prefer) {
		if g.running > 0 {
			return errLater // until the SMs are empty
		}
		for _, c := range g.cores {
			if err := c.Resplit(s.L1D, s.Shared); err != nil {
				return err
			}
		}
	}
	g.prefer = k.prefer
	if g.running == 0 {
		if g.cfg.Compat.ClocksRestart {
			g.clk.restart()
		}
		if g.cfg.Run.Caches == Flushed {
			g.emptyCaches()
		}
	}
	if d := g.cores[0].L1D(); d == nil {
		// A core model without one has nothing to split.
	} else if a := &g.cfg.Adaptive; a.Enabled {
		if w := a.ways(&g.cfg, k.Shared*k.MaxBlocks); w != g.ways {
			g.ways = w
			for _, c := range g.cores {
				c.L1D().SetWays(w)
			}
		}
		if d.Config().Alloc == cache.Streaming {
			alloc := cache.OnFill
			if k.Shared == 0 { // all of the memory is L1 (GPGPU-Sim)
				alloc = cache.OnMiss
			}
			for _, c := range g.cores {
				c.L1D().SetAlloc(alloc)
			}
		}
		k.L1Ways = g.ways
	} else {
		k.L1Ways = d.Ways()
	}
	k.slot, k.Start = slot, g.now
	k.latency = uint64(g.cfg.Run.LaunchLatency) + uint64(g.cfg.Run.BlockLatency)*k.total
	for _, x := range g.slots {
		if x != nil {
			x.Alone, k.Alone = false, false
		}
	}
	g.rate.launches++
	k.launch, k.on = g.rate.launches, make([]int32, len(g.cores))
	g.slots[slot] = k
	g.running++
	if g.cfg.SharedSMs { // an SM that is full for one kernel may have room for another
		clear(g.full)
	}
	g.list()
	g.fresh = true
	if g.cfg.Run.ICacheWarm {
		for _, c := range g.cores {
			c.WarmCode(k.core)
		}
	}
	g.count(&k.before)
	if h := g.see.hooks; h != nil && h.Began != nil {
		h.Began(k)
	}
	if k.total == 0 {
		g.ended = true
	}
	rest := k.work.Traits().Rest
	rest.Give(k.give)
	if k.op != nil && k.op.Look != nil && !k.clustered() && rest == nil {
		return g.ask(k)
	}
	return nil
}

// give takes the next cluster off the launch, whose work one of its blocks takes over (exec.Rest).
func (k *Kernel) give() (n uint64, ok bool) {
	if k.next == k.total {
		return 0, false
	}
	n = k.next / uint64(k.team)
	k.next += uint64(k.team)
	k.Blocks += uint64(k.team)
	k.gave = true
	return n, true
}

// list updates the list of running kernels.
func (g *GPU) list() {
	g.active = g.active[:0]
	for _, k := range g.slots {
		if k != nil {
			g.active = append(g.active, k)
		}
	}
}

// emptyCaches makes all caches cold.
func (g *GPU) emptyCaches() {
	g.last.good = false
	for _, c := range g.cores {
		if d := c.L1D(); d != nil {
			d.Invalidate()
		}
		if g.cfg.Compat.FlushDirtyOnly {
			continue
		}
		if x := c.L1C(); x != nil {
			x.Invalidate()
		}
		if x := c.L1I(); x != nil {
			x.Invalidate()
		}
		if x := c.L1T(); x != nil {
			x.Invalidate()
		}
	}
	if g.cfg.Compat.FlushDirtyOnly {
		g.mem.Parts.FlushL2()
	} else {
		g.mem.Parts.InvalidateL2()
	}
}

// moreBlocks reports whether a running kernel has blocks to place.
func (g *GPU) moreBlocks() bool {
	for _, k := range g.active {
		if k.next < k.total {
			return true
		}
	}
	return false
}

// choose returns the kernel of the next block: of those with the highest priority
// the kernel of the last block, else the next in order of slots (GPGPU-Sim, which
// has no priorities).
func (g *GPU) choose() *Kernel {
	top := math.MaxInt
	for _, k := range g.active {
		if k.gives() {
			top = min(top, k.priority)
		}
	}
	if top == math.MaxInt {
		return nil
	}
	can := func(i int) *Kernel {
		if k := g.slots[i]; k != nil && k.priority == top && k.gives() {
			return k
		}
		return nil
	}
	if k := can(g.lastSlot); k != nil {
		return k
	}
	for i := range g.slots {
		at := (g.lastSlot + 1 + i) % len(g.slots)
		if k := can(at); k != nil {
			g.lastSlot = at
			return k
		}
	}
	return nil
}

// gives reports whether a kernel has a block to place and its latency is over.
func (k *Kernel) gives() bool { return k.next < k.total && k.latency == 0 }

// outranked reports whether a kernel of higher priority than k has a block to
// place. An SM bound to k then takes no more of its blocks, and is free for the
// other kernel when its present blocks have ended.
func (g *GPU) outranked(k *Kernel) bool {
	for _, x := range g.active {
		if x.priority < k.priority && x.gives() {
			return true
		}
	}
	return false
}

// place gives every cluster at most one block, starting after the cluster that took
// the last one.
func (g *GPU) place() {
	g.placed, g.declined = 0, false
	if !g.moreBlocks() || g.choose() == nil && !g.boundMore() {
		return
	}
	if k := g.choose(); k != nil && k.clustered() {
		if g.placeTeam(k) {
			g.placed += k.team
			return
		}
	}
	if g.own != nil {
		g.placeAsTold()
		return
	}
	n := len(g.clusters)
	from := g.lastUnit
	if g.cfg.Dispatch == LowestFirst {
		from = n - 1
	}
	for i := range n {
		if !g.mayDispatch() {
			return
		}
		c := from + 1 + i
		for c >= n {
			c -= n
		}
		if g.placeOn(c) {
			g.lastUnit = c
			g.placed++
		}
	}
}

// boundMore reports whether an SM is bound to a kernel with blocks left.
func (g *GPU) boundMore() bool {
	for _, k := range g.bound {
		if k != nil && k.gives() {
			return true
		}
	}
	return false
}

// placeOn tries a cluster's SMs, starting after the one that took its last block.
func (g *GPU) placeOn(cluster int) bool {
	per := g.cfg.SMsPerCluster
	for i := range per {
		at := (g.lastCore[cluster] + 1 + i) % per
		sm := cluster*per + at
		c := g.cores[sm]
		k := g.bound[sm]
		if g.cfg.SharedSMs {
			k = g.choose()
		} else if k == nil || k.next >= k.total || g.outranked(k) {
			if c.Unfinished() {
				continue
			}
			k = g.choose()
			g.bound[sm] = k
			g.full[sm] = false
		}
		if k == nil || k.next >= k.total || g.full[sm] || k.clustered() {
			continue
		}
		if !g.hasPlace(sm, k) {
			continue
		}
		if !c.CanTake(k.core) {
			g.full[sm] = !g.cfg.SharedSMs || g.running == 1
			continue
		}
		if g.put(sm, k) == nil {
			continue
		}
		g.lastCore[cluster] = at
		return true
	}
	return false
}

// put places the next block of a kernel on an SM, and returns it; nil if there was no room.
func (g *GPU) put(sm int, k *Kernel) exec.Block {
	b := k.work.Block(k.next)
	if !g.cores[sm].Launch(k.core, b) {
		b.Release()
		return nil
	}
	if k.next == 0 {
		k.FirstBlock = g.now
	}
	if k.logs {
		for uint64(len(k.BlockLog)) <= b.Linear() {
			k.BlockLog = append(k.BlockLog, BlockRun{})
		}
		k.BlockLog[b.Linear()] = BlockRun{SM: sm, Start: g.now, Began: true}
	}
	if h := g.see.hooks; h != nil && h.Placed != nil {
		h.Placed(k, b, sm)
	}
	k.next++
	g.blocks++
	g.dispatched(sm, k)
	g.awake[sm] = true
	cluster := sm / g.cfg.SMsPerCluster
	g.unsettled[cluster>>6] |= 1 << (cluster & 63)
	return b
}

// blockDone is called when a block has ended on an SM.
func (g *GPU) blockDone(sm int, core any, b exec.Block, ago uint64) {
	g.full[sm] = false
	warps, at := b.Warps(), b.Linear()
	w, t := b.Counts()
	b.Release()
	for _, k := range g.slots {
		if k == nil || k.core != core {
			continue
		}
		g.vacated(sm, k, warps, ago)
		k.Blocks++
		k.WarpInsts += w
		k.ThreadInsts += t
		g.blocksEnd++
		if k.released != nil && k.released[at>>6]>>(at&63)&1 != 0 {
			k.releasing--
		} else {
			g.letBegin(k.op)
		}
		if k.logs {
			k.BlockLog[at].End = g.now + 1
		}
		g.looks = g.looks || k.lookAt > 0 && k.Blocks-k.PassedBlocks >= k.lookAt
		if h := g.see.hooks; h != nil && h.Left != nil {
			h.Left(k, at, sm)
		}
		if k.Blocks == k.total {
			g.ended = true
		}
		return
	}
}

// retire ends kernels whose blocks have all ended, and reports whether there
// was one. The last one waits for the memory system if that is configured.
func (g *GPU) retire() bool {
	any, open := false, false
	for i, k := range g.slots {
		if k == nil || k.Blocks < k.total {
			continue
		}
		if g.cfg.Compat.DrainBetween && g.running == 1 && !g.idle() {
			open = true
			continue
		}
		k.End = g.now
		g.count(&k.Counters)
		k.Counters.sub(&k.before)
		k.takePlaces(g)
		g.slots[i] = nil
		g.running--
		g.list()
		any = true
		for sm, x := range g.bound {
			if x == k {
				g.bound[sm] = nil
			}
		}
		if h := g.see.hooks; h != nil && h.Ended != nil {
			h.Ended(k)
		}
		if k.PassedBlocks > 0 {
			k.PassedCycles = k.op.Passed(g.now)
			g.passTime(k.op, k.PassedCycles)
			continue
		}
		if k.done != nil {
			k.done(k)
		}
		if g.see.onEnd != nil {
			g.see.onEnd(k)
		}
	}
	g.ended = open
	return any
}

// takePlaces collects the counters of the kernel's instructions from all SMs.
func (k *Kernel) takePlaces(g *GPU) {
	if !g.places {
		return
	}
	k.Places = g.placesOf(k)
	if g.edges {
		k.Edges = core.NewEdges(len(k.work.Code()))
		for _, l := range g.ledgers {
			l.TakeEdges(k.core, k.Edges)
		}
	}
}

// cut counts the instructions of a kernel that has not ended, blocks on SMs included. The time of blocks that
// were passed over comes at its end, so that none of it has passed.
func (k *Kernel) cut() {
	k.WarpInsts, k.ThreadInsts = k.SM.WarpInsts, k.SM.ThreadInsts
	if k.Places != nil { // its own, even if others ran too
		k.WarpInsts, k.ThreadInsts = 0, 0
		for j := range k.Places {
			k.WarpInsts += k.Places[j].Issues
			k.ThreadInsts += k.Places[j].Lanes
		}
	}
	k.WarpInsts += k.PassedWarpInsts
	k.ThreadInsts += k.PassedThreadInsts
	k.PassedCycles = 0
}

// SoFar returns a running kernel as if it ended now. The run goes on as without the call.
// It may be called between two cycles.
func (g *GPU) SoFar(k *Kernel) *Kernel {
	x := *k
	if o := g.copies.by[passing]; o != nil && o.Kernel == k { // the chip is done with it
		x.End, x.PassedCycles = g.now, g.now-k.End
		return &x
	}
	x.End = g.now
	x.Counters = g.Totals()
	x.Counters.sub(&k.before)
	if g.places {
		x.Places = make(core.Places, len(k.work.Code()))
		for _, l := range g.ledgers {
			l.Read(k.core, x.Places)
		}
	}
	if g.edges {
		x.Edges = core.NewEdges(len(k.work.Code()))
		for _, l := range g.ledgers {
			l.ReadEdges(k.core, x.Edges)
		}
	}
	x.BlockLog = slices.Clone(k.BlockLog)
	x.cut()
	return &x
}

// abandon drops all actions after a run that ended early. Kernels keep their
// results so far, and blocks on SMs report theirs, in the order of SMs. The machine
// can be inspected as it is until the next action; if a kernel ran, it is renewed
// before that.
func (g *GPU) abandon() {
	g.dropCopies()
	g.stale = g.stale || g.running > 0 || g.fault != nil
	for _, c := range g.cores {
		for _, r := range c.ResidentBlocks() {
			if x, ok := r.Block.(exec.Teller); ok {
				x.Tell()
			}
		}
	}
	for i, k := range g.slots {
		if k == nil {
			continue
		}
		k.End = g.now
		g.count(&k.Counters)
		k.Counters.sub(&k.before)
		k.takePlaces(g)
		k.cut()
		g.slots[i] = nil
		g.running--
		g.list()
		if k.done != nil {
			k.done(k)
		}
	}
	for _, o := range g.ops.list { // nothing may wait for an action that will not end
		if o.state == opWaits {
			o.state = opNever
		}
		g.release(o) // also those of other chips
	}
	g.arrived = g.arrived[:0]
	g.ops = ops{}
}
