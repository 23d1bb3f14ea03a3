package gpu

import "github.com/heddle-sim/heddle/internal/plug"

// This file: registered policies that choose the SM for the next block and its
// kernel. The built-in policies are in place.

// Dispatch is the policy for placing blocks.
type Dispatch uint8

// The policies.
const (
	RoundRobin  Dispatch = iota // clusters in turn, each its SMs in turn (GPGPU-Sim)
	LowestFirst                 // the cluster with the lowest number that has room
	dispatches
)

var dispatchNames = [dispatches]string{"round-robin", "lowest-first"}

// String returns the name as in chip.block_scheduler.
func (d Dispatch) String() string { return BlockSchedulers.Name(int(d), dispatchNames[:]) }

// BlockScheduler decides which SM takes the next block, and of which kernel. A chip
// has one.
type BlockScheduler interface {
	// Next is called in each core cycle in which a block can be placed, and again
	// after every block placed. It returns an SM and the index of a kernel for
	// which o.CanTake is true; any other result, such as -1, places no more blocks
	// in this cycle.
	Next(o *Offer) (sm, kernel int)
}

// BlockSchedulers are the constructors of block schedulers by name.
var BlockSchedulers = plug.New[func() BlockScheduler]("block scheduler", dispatchNames[:]...)

// Offer is the input of a block scheduler. It is valid during the call of Next; what a
// scheduler writes into it changes nothing.
type Offer struct {
	// Cycle is the core cycle.
	Cycle uint64
	// Kernels are the running kernels. Their blocks are placed in order.
	Kernels []OfferedKernel
	// SMs is the number of SMs. Blocks and Warps are the numbers resident on each;
	// Took says whether it has already taken a block in this cycle.
	SMs    int
	Blocks []int
	Warps  []int
	Took   []bool

	g    *GPU
	took []bool
}

// OfferedKernel is a running kernel.
type OfferedKernel struct {
	Name string
	// Next is its next block, Total the number of its blocks; Ready says that a
	// block can be placed now.
	Next, Total uint64
	Ready       bool
	// Priority is smaller for kernels that go first. MaxBlocks is the number of its
	// blocks that an SM can hold, Warps the warps of a block.
	Priority, MaxBlocks, Warps int
}

// CanTake reports whether an SM has room for the next block of a kernel now. An SM
// takes one block a cycle and, unless chip.shared_sms is set, no block of another
// kernel while it holds one.
func (o *Offer) CanTake(sm, kernel int) bool {
	g := o.g
	if sm < 0 || sm >= len(g.cores) || kernel < 0 || kernel >= len(g.active) || o.took[sm] || !g.active[kernel].gives() || g.active[kernel].clustered() {
		return false
	}
	k := g.active[kernel]
	c := g.cores[sm]
	if !g.cfg.SharedSMs {
		switch {
		case g.bound[sm] != k && c.Unfinished(), g.bound[sm] == k && g.full[sm]:
			return false
		}
	}
	if !g.hasPlace(sm, k) {
		return false
	}
	can := c.CanTake(k.core)
	if !can && g.bound[sm] == k {
		g.full[sm] = !g.cfg.SharedSMs
	}
	return can
}

// any reports whether a block can be placed.
func (o *Offer) any() bool {
	for k := range o.g.active {
		for sm := range o.g.cores {
			if o.CanTake(sm, k) {
				return true
			}
		}
	}
	return false
}

// placeAsTold lets the registered block scheduler place blocks.
func (g *GPU) placeAsTold() {
	o := g.offer
	clear(o.took)
	for g.mayDispatch() {
		o.Cycle = g.now
		o.Kernels = o.Kernels[:0]
		for _, k := range g.active {
			o.Kernels = append(o.Kernels, OfferedKernel{
				Name: k.Name, Next: k.next, Total: k.total, Ready: k.gives(), Priority: k.priority, MaxBlocks: k.MaxBlocks, Warps: (k.Threads + 31) / 32,
			})
		}
		o.SMs, o.Warps = len(g.cores), o.Warps[:0]
		for _, c := range g.cores {
			o.Warps = append(o.Warps, c.Resident())
		}
		o.Blocks, o.Took = append(o.Blocks[:0], g.rate.resident...), append(o.Took[:0], o.took...)
		if !o.any() {
			return
		}
		g.declined = true
		sm, kernel := g.own.Next(o)
		if !o.CanTake(sm, kernel) {
			return
		}
		k := g.active[kernel]
		if !g.cfg.SharedSMs && g.bound[sm] != k {
			g.bound[sm], g.full[sm] = k, false
		}
		if g.put(sm, k) == nil {
			return
		}
		o.took[sm], g.declined = true, false
		g.placed++
	}
}
