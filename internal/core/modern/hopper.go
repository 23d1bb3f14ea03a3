package modern

import (
	"strings"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: what Hopper added to the core, if the machine has it: the parameters, how instructions are
// recognised, and the waits of warps. The parts are in bulk.go (the bulk copy engine), peers.go (the
// memory of other blocks of a cluster and their barrier) and product.go (products of warp groups).

// HopperParams are the parameters of what Hopper added. "H200" is a set of measurements on an H200 that
// FlashGPU-Sim publishes (docs/cluster_noc/calibration.md), "H100" its measurements on an H100.
type HopperParams struct {
	Enabled bool `help:"clusters, the bulk copy engine, suspended waits for mbarriers and products of warp groups, as on Hopper" def:"false"`

	// H200: 36 on an H100 from the check of a phase to the use of its predicate; 52 from the arrival of
	// another warp, hence 16; 7,755 to 7,776 for a wait that fails.
	MbarrierWait int `help:"from a wait for an mbarrier that succeeds to the use of its predicate" unit:"cycles" want:"14..4096"`
	MbarrierWake int `help:"from the end of a phase until a suspended wait goes on" unit:"cycles" want:"1..4096"`
	// H100: a producer and 1, 4 and 12 consumers take 133, 139 and 158 cycles a round. H200: 6 for an arrival; 71 for one that expects no bytes and a wait for it, where a wait alone takes 43.
	MbarrierAccept int `help:"interval after a change of an mbarrier or a wait for one at which the SM's memory unit takes the next instruction" unit:"cycles" want:"1..64"`
	MbarrierGap    int `help:"from the issue of a change of an mbarrier to that of the warp's next instruction" unit:"cycles" want:"1..60"`
	MbarrierOwn    int `help:"from the issue of a change of an mbarrier until a wait of the same warp for it sees it" unit:"cycles" want:"0..4096"`
	Suspend        int `help:"how long a wait for an mbarrier is suspended at most" unit:"cycles" want:"1..8000"`

	// H100: 111 cycles for a token to pass three warp groups by named barriers, with one arrival in two
	// cycles; the release is set so that the model takes as long.
	BarrierArrive  int `help:"interval at which an SM takes arrivals of warps at barriers of blocks" unit:"cycles" want:"0..64"`
	BarrierRelease int `help:"from the last arrival at a barrier of a block until its warps go on" unit:"cycles" want:"0..4096"`

	// H200: a load from the block's own memory takes 37 cycles in a program that loads from others too.
	// One from shared memory by its own address takes 29.9 on an H100 (mt4g).
	PeerOwn int `help:"more time of a load through an address of the cluster that turns out to be the block's own memory" unit:"cycles" want:"0..4096"`
	// H200: a model with 32 bytes in two of three cycles, and 78 cycles for a way, has the measured
	// latencies and bandwidths; 18.9 bytes a cycle for stores, hence the header.
	PeerLatency int `help:"one way between the SMs of a cluster" unit:"cycles" want:"1..4096"`
	PeerCycles  int `help:"time that an SM needs to send 64 bytes to others of its cluster" unit:"cycles" want:"1..64"`
	PeerCommand int `help:"bytes on that way of a read of up to 128 bytes, and of an arrival" unit:"bytes" want:"0..128"`
	PeerHeader  int `help:"bytes on that way of a store of up to 128 bytes besides its data" unit:"bytes" want:"0..128"`
	// Set so that the owner of an mbarrier waits for 212 cycles for an arrival from another block (H200).
	PeerSignal int `help:"time of a signal to an mbarrier of another block besides that of its bytes" unit:"cycles" want:"1..4096"`
	// H200: 352 ns at 1777 MHz until a store is visible at its peer.
	PeerStore int `help:"until a store to the memory of another block of the cluster is acknowledged" unit:"cycles" want:"2..4096"`
	// Two ways: assumed.
	ClusterBarrier int `help:"from the last arrival at the barrier of a cluster until its warps go on" unit:"cycles" want:"1..4096"`

	// HPMLL on an H800: a small copy by TMA takes 100 to 105 cycles more than a load, from the L2 and
	// from the DRAM. How they divide is assumed, and so is the time for the descriptor, which is
	// taken as found in a cache.
	BulkStart      int `help:"from a bulk copy's leaving the address unit to its first request" unit:"cycles" want:"1..2048"`
	BulkDescriptor int `help:"more of it for a copy by a tensor map" unit:"cycles" want:"0..2048"`
	BulkEnd        int `help:"from the last byte of a bulk copy to the signal at its mbarrier" unit:"cycles" want:"1..2048"`
	// FlashGPU-Sim's model. That one copy may use them all follows from H200: 16 KiB from the DRAM take
	// 536 cycles more than 256 bytes, which needs some 300 in flight.
	BulkRequests int `help:"requests of 128 bytes in flight of the bulk copies of an SM" unit:"requests" want:"1..65536"`
	// H200: 510 more for a first copy of 256 bytes than the latencies of the DRAM and of the engine. What
	// it consists of is not known: the TLB, the tensor map, or code. That only the first copy takes it
	// follows from copies from the DRAM in 128 blocks (H100), which would take longer otherwise.
	BulkFirst int `help:"more time of the first bulk copy of an SM in a launch" unit:"cycles" want:"0..4096"`
	// H200: 99, median; 14 of them are the signal.
	Multicast int `help:"more time of a copy that goes to several blocks of the cluster" unit:"cycles" want:"0..2048"`

	// H200: a commit and a wait after a product of f16 take 43 + N/2 cycles, 33 + N/2 with A in registers;
	// the issue of the product before them 4.3 and 9 to 10, which the tails here include; six are accepted
	// before issue stops, five with A in registers.
	ProductTail      int `help:"from the end of a product in the tensor units to its results" unit:"cycles" want:"1..4096"`
	ProductTailRegs  int `help:"the same with A in registers" unit:"cycles" want:"1..4096"`
	ProductGap       int `help:"from the issue of a product to that of the warp's next instruction" unit:"cycles" want:"1..60"`
	ProductGapRegs   int `help:"the same with A in registers" unit:"cycles" want:"1..60"`
	ProductQueue     int `help:"products that an SM accepts before the first has left the tensor units" unit:"products" want:"1..8"`
	ProductQueueRegs int `help:"the same with A in registers" unit:"products" want:"1..8"`
	// H200: 97.8 and 129.8 cycles for fence, product, commit and wait with N of 64 and 128, of which commit
	// and wait take 43 + N/2, and the issue of the product 4.3.
	ProductFence int `help:"from the issue of a fence for products to that of the warp's next instruction" unit:"cycles" want:"1..60"`
	// H100: 8 to 13 alone.
	ProxyFence int `help:"minimum time of a fence between proxies" unit:"cycles" want:"1..4096"`
	// B200: 8,192 operations of dense f16 for an SM and cycle (FlashGPU-Sim, by Nsight Compute in eight cases of
	// FlashAttention-4); 160 fitted to these.
	TcgenRate int `help:"multiplications of elements of 16 bits that tcgen05.mma does in an SM; 0: it has no tensor memory" unit:"per cycle" want:"0..65536"`
	TcgenTail int `help:"from the end of products of tcgen05 to the arrival that tells of it" unit:"cycles" want:"0..8000"`
	// As for shared memory: no figure is public.
	TcgenLoad int `help:"latency of a load from tensor memory, without a cycle for each register" unit:"cycles" want:"1..256"`
}

// hopper returns the values of an H200 and an H100, switched off.
func hopper() HopperParams {
	return HopperParams{
		MbarrierWait: 36, MbarrierWake: 16, MbarrierAccept: 2, MbarrierGap: 6, MbarrierOwn: 33, Suspend: 7755,
		BarrierArrive: 2, BarrierRelease: 26,
		PeerOwn: 7, PeerLatency: 78, PeerCycles: 3, PeerCommand: 32, PeerHeader: 16, PeerSignal: 134, PeerStore: 625, ClusterBarrier: 156,
		BulkStart: 60, BulkDescriptor: 0, BulkEnd: 30, BulkRequests: 384, BulkFirst: 510, Multicast: 85,
		ProductTail: 47, ProductTailRegs: 42, ProductGap: 4, ProductGapRegs: 9, ProductQueue: 6, ProductQueueRegs: 5,
		ProductFence: 19, ProxyFence: 10, TcgenTail: 160, TcgenLoad: 31,
	}
}

// TimesTensorMemory is as in core.Hopper.
func (c *Config) TimesTensorMemory() bool { return c.Hopper.Enabled && c.Hopper.TcgenRate > 0 }

// TimesHopper is as in core.Hopper.
func (c *Config) TimesHopper() bool { return c.Hopper.Enabled }

// held are sets of warps that wait for what Hopper added, a bit per slot.
type held struct {
	mbar    uint64 // waits for the phase of an mbarrier
	cluster uint64 // at the barrier of the cluster
	bulk    uint64 // for groups of bulk copies
	product uint64 // for the others of its warp group, or for products
	opening uint64 // for the news that a barrier of its block has opened
	orders  uint64 // until arrivals of its block at others are applied, before what is ordered after them
	grid    uint64 // for the end of the launch before its own
	wants   uint64 // for registers that other warps give back
}

func (h *held) all() uint64 {
	return h.mbar | h.cluster | h.bulk | h.product | h.opening | h.orders | h.grid | h.wants
}

// moreWarp is what a warp slot has more on a core with Hopper's additions.
type moreWarp struct {
	suspends exec.Suspender // nil if its warp cannot wait suspended
	giveUp   uint64         // tick at which a suspended wait ends
	waking   bool           // its suspended wait is over
	tried    bool           // and it may execute the wait
	need     uint64         // how often the barrier of the cluster must have opened
	bulk     [3]copies      // bulkGroups and bulkReads of bulk copies, arriveGroups of others
	arriving []int32        // arrivals that wait for copies, one for each closed group of arriveGroups
	waitsFor sequence       // that of the groups that it waits for
	changed  uint64         // tick at which it changed an mbarrier last
	changes  uint64         // its address
	has      int32          // registers of a thread
	tcgen    uint64         // tick at which the last product of tcgen05 ends that it has issued; 0: none
	// Products of its warp group: when those since the last commit end, and the closed groups.
	open   uint64
	closed [closedGroups]uint64
	groups uint64
}

// begin prepares for a warp.
func (m *moreWarp) begin(x exec.Warp, registers int) {
	b := m.bulk
	for i := range b {
		b[i].reset()
	}
	*m = moreWarp{bulk: b, arriving: m.arriving[:0], has: int32(registers)}
	m.suspends, _ = x.(exec.Suspender)
}

// special is what an instruction of Hopper does besides executing.
type special uint8

const (
	plain        special = iota
	mbarTry              // waits for the phase of an mbarrier, suspended
	mbarChange           // may end one
	copyArrive           // does when the copies of its warp have ended
	blockBarrier         // arrives at a barrier of its block, and may wait
	clusterWait          // waits at the barrier of the cluster
	bulkCopy             // goes to the bulk copy engine
	warpProduct          // a product of a warp group
	productCommit
	productWait
	tcgenProduct // a product of tcgen05, or a copy into tensor memory
	tcgenCommit  // tells of them
	gridWait     // waits for the end of the launch before its own
	gridRelease  // lets the launch after its own begin
	resize       // gives registers back, or takes some that others have
)

// special sorts an instruction for a core with Hopper's additions, and sets its timing.
func (o *op) special(cfg *Config) {
	in := o.inst
	h := &cfg.Hopper
	a := in.Async
	switch {
	case strings.HasPrefix(in.Op, "tcgen05."):
		o.tcgen(cfg)
	case in.Tensor != nil && in.Tensor.Group:
		o.kind = warpProduct
		o.product(h)
	case strings.HasPrefix(in.Op, "wgmma.fence"):
		o.pipe, o.interval, o.latency = Misc, 1, 2
		o.stall = max(o.stall, uint8(h.ProductFence))
	case a.Done == isa.ByProduct:
		o.kind, o.group = productCommit, isa.NotAsync
		o.pipe, o.interval, o.latency = Misc, 1, 2
		if a.Does == isa.AsyncWait {
			o.kind = productWait
		}
	case strings.HasPrefix(in.Op, "mbarrier.try_wait"):
		o.kind = mbarTry
		o.lateBy(cfg, h.MbarrierWait)
	case strings.HasPrefix(in.Op, "mbarrier.test_wait"):
		o.lateBy(cfg, h.MbarrierWait)
	case strings.HasPrefix(in.Op, "cp.async.mbarrier"):
		o.kind = copyArrive
		o.stall = max(o.stall, uint8(h.MbarrierGap))
	case strings.HasPrefix(in.Op, "mbarrier."):
		o.kind = mbarChange
		o.stall = max(o.stall, uint8(h.MbarrierGap))
	case in.Barrier && h.BarrierRelease > 0 && !strings.Contains(in.Op, ".cluster") && !strings.Contains(in.Op, ".warp"):
		o.kind = blockBarrier
	case strings.HasPrefix(in.Op, "clusterlaunchcontrol.try_cancel"): // the time of an answer is not known
		o.memory(cfg, isa.ClassAtomic)
	case in.Keeps > 0:
		o.kind = resize
	case strings.HasPrefix(in.Op, "griddepcontrol.wait"):
		o.kind = gridWait
	case strings.HasPrefix(in.Op, "griddepcontrol.launch_dependents"):
		o.kind = gridRelease
	case strings.HasPrefix(in.Op, "barrier.cluster.wait"):
		o.kind = clusterWait
	case strings.HasPrefix(in.Op, "cp.async.bulk") && (in.Load || in.Store), strings.HasPrefix(in.Op, "cp.reduce.async.bulk"):
		o.kind = bulkCopy
		o.engine(cfg)
	case in.Load && strings.Contains(in.Op, "shared::cluster"):
		o.raw += uint16(h.PeerOwn)
	case in.Kind == isa.KindFence && (strings.Contains(in.Op, ".proxy") || strings.Contains(in.Op, "mbarrier_init")):
		o.fence = fenceProxy
	case in.Kind == isa.KindFence && strings.Contains(in.Op, ".cluster"):
		o.fence = fenceCluster
	}
	if a.Done == isa.ByBulk {
		o.sequence = bulkGroups
		if a.Read {
			o.sequence = bulkReads
		}
	}
}

// ordersTeam reports whether an instruction orders what its block has done before for other blocks of the
// cluster (PTX manual, Memory Consistency Model), or lets its warp end. An arrival that releases is not
// one: signals arrive in the order in which they are sent. A return counts, as it may be the kernel's.
func (o *op) ordersTeam() bool {
	in := o.inst
	switch {
	case in.Flow == isa.FlowExit || in.Flow == isa.FlowReturn || o.fence == fenceCluster || o.fence == fenceGPU || o.fence == fenceSystem:
		return true
	case strings.HasPrefix(in.Op, "barrier.cluster.arrive"):
		return !strings.Contains(in.Op, ".relaxed")
	case strings.HasPrefix(in.Op, "mbarrier.") || !in.Store && !in.Atomic || strings.Contains(in.Op, ".cta."):
		return false
	}
	return strings.Contains(in.Op, ".release") || strings.Contains(in.Op, ".acq_rel")
}

// lateBy makes the result readable a number of cycles after issue.
func (o *op) lateBy(cfg *Config, cycles int) {
	o.raw = uint16(max(1, cycles-cfg.AddressStart-cfg.AddressCycles))
}

// suspend makes a warp wait for the phase of an mbarrier if its next instruction would not see it ended.
// It reports whether the warp waits.
func (c *Core) suspend(g int32, t uint64) bool {
	m := &c.more[g]
	if m.suspends == nil {
		return false
	}
	if c.env.Turn != nil && c.warps[g].K.cluster > 1 {
		c.env.Turn()
	}
	if !m.suspends.Suspends() {
		return false
	}
	c.mbar |= 1 << g
	m.giveUp, m.waking = t+uint64(c.cfg.Hopper.Suspend), false
	c.wheel.add(m.giveUp, evGiveUp, g)
	return true
}

// changed wakes the warps of a block whose mbarriers have ended their phase.
func (c *Core) changed(blk int32, t uint64) {
	for m := c.mbar; m != 0; m &= m - 1 {
		g := int32(first(m))
		w := &c.more[g]
		if c.warps[g].Block != blk || w.waking || w.suspends.Suspends() {
			continue
		}
		w.waking = true
		c.wheel.add(t+uint64(c.cfg.Hopper.MbarrierWake), evResume, g)
	}
}

// resume lets a suspended warp execute its wait.
func (c *Core) resume(g int32) {
	c.mbar &^= 1 << g
	c.more[g].tried, c.more[g].waking = true, false
	c.moved, c.stir = true, true
}

// seesOwn delays the result of a wait for an mbarrier that its warp has just changed itself.
func (c *Core) seesOwn(g, fi int32, e *exec.Effects, t uint64) {
	m := &c.more[g]
	if seen := m.changed + uint64(c.cfg.Hopper.MbarrierOwn); m.changed != 0 && t < seen && e.Addr != nil && e.Lanes != 0 && e.Addr[e.Lanes.First()&31] == m.changes {
		c.flight[fi].slow = uint16(seen - t)
	}
}

// arrived is called when a warp has arrived at a barrier of its block; was are the warps that waited at
// barriers before. If that has opened the barrier, its warps go on when they have heard of it.
func (c *Core) arrived(g int32, o *op, was, t uint64) {
	h := &c.cfg.Hopper
	c.arrivals = max(t, c.arrivals) + uint64(h.BarrierArrive)
	open := was &^ c.barrier
	if c.barrier>>g&1 == 0 && !strings.Contains(o.inst.Op, "arrive") {
		open |= 1 << g
	}
	for m := open; m != 0; m &= m - 1 {
		c.wheel.add(c.arrivals+uint64(h.BarrierRelease), evRelease, int32(first(m)))
	}
	c.opening |= open
}

// lacks reports whether a warp must wait for registers that others of its block have not given back yet.
func (c *Core) lacks(g int32, o *op) bool {
	// Whether a guard holds is not known before the instruction issues: one with a guard does not wait.
	if o.inst.Guarded || !strings.HasPrefix(o.inst.Op, "setmaxnreg.inc") || int32(o.inst.Keeps)-c.more[g].has <= c.crowds[c.warps[g].Block].spare {
		return false
	}
	c.wants |= 1 << g
	return true
}

// resize gives registers of a warp back to its block, or takes some. What one warp gives back, another of
// the same block may have; the time of that is not known, and none here.
func (c *Core) resize(g int32, o *op) {
	m, blk := &c.more[g], c.warps[g].Block
	more := int32(o.inst.Keeps) - m.has
	if inc := strings.HasPrefix(o.inst.Op, "setmaxnreg.inc"); inc != (more > 0) {
		more = 0 // it has as many, or the program is wrong
	}
	m.has += more
	c.crowds[blk].spare -= more
	if more >= 0 {
		return
	}
	for k := c.wants; k != 0; k &= k - 1 {
		if i := first(k); c.warps[i].Block == blk {
			c.wants &^= 1 << i
		}
	}
}

// Hold is as in core.Dependent.
func (k *Kernel) Hold(on bool) { k.depends = on }

// Go is as in core.Dependents.
func (c *Core) Go(k core.Kernel) {
	c.Sync()
	c.moved, c.stir = true, true
	for m := c.grid; m != 0; m &= m - 1 {
		if g := first(m); core.Kernel(c.warps[g].K) == k {
			c.grid &^= 1 << g
		}
	}
}

// after does what an instruction of Hopper does besides executing; it has issued. Was are the warps that
// waited at barriers before it, opened is how often the barrier of its cluster had opened.
func (c *Core) after(g, fi int32, o *op, e *exec.Effects, was, opened, t uint64) {
	w := &c.warps[g]
	switch o.kind {
	case mbarTry:
		c.more[g].tried = false
		c.seesOwn(g, fi, e, t)
	case mbarChange:
		if e.Addr != nil && e.Lanes != 0 {
			c.more[g].changed, c.more[g].changes = t, e.Addr[e.Lanes.First()&31]
		}
		if c.mbar != 0 {
			c.changed(w.Block, t)
		}
	case blockBarrier:
		c.arrived(g, o, was, t)
	case clusterWait:
		c.meet(g, w)
	case resize:
		if e.Lanes != 0 {
			c.resize(g, o)
		}
	case gridRelease:
		if e.Lanes != 0 && c.env.Releases != nil {
			c.env.Releases(w.K, c.Residents.Blocks[w.Block].X)
		}
	case warpProduct:
		if e.Lanes != 0 {
			c.multiply(g, o, t)
		}
	case productCommit, productWait:
		c.products(g, o, t)
	case tcgenProduct:
		if e.Bulk != nil {
			c.tcgenProduct(g, e.Bulk, t)
		}
	}
	if o.team && (o.inst.Barrier || e.Exited != 0) {
		c.announce(w.Block, opened)
	}
}
