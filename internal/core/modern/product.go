package modern

import (
	"strings"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: products of warp groups (wgmma). The executor lets the four warps of a group go on
// together; the product enters the tensor units, which all four sub-cores have in common for it, when
// the last of them has come.
//
// Not modelled: the traffic of accumulators and operands at the registers and in shared memory.

// product determines the timing of a product: it occupies the tensor units for as long as they take for
// its multiplications, 2048 of 16 bits a cycle in an SM (NVIDIA H100 white paper: 4096 operations of
// dense f16), and in proportion to the bits of an element.
func (o *op) product(h *HopperParams) {
	x := o.inst.Tensor
	n := int(x.M) * int(x.N) * int(x.K) * int(x.Elem) / (16 * 2048)
	if x.Sparse {
		n /= 2
	}
	o.busy, o.tail, o.most, o.stall = uint16(max(n, 1)), uint16(h.ProductTail), uint8(h.ProductQueue), uint8(h.ProductGap)
	if x.FromRegs {
		o.tail, o.most, o.stall = uint16(h.ProductTailRegs), uint8(h.ProductQueueRegs), uint8(h.ProductGapRegs)
	}
	o.pipe, o.interval, o.latency = Misc, 1, 2
	o.dst, o.outs = nil, nil // waits for groups guard them
}

// tcgen sets the timing of an instruction of tcgen05. Products and copies into tensor memory go to the tensor units, and
// a commit waits for those that its warp has issued; loads and stores move a register of each lane in a cycle (assumed,
// with a path of its own for each sub-core), and the registers are guarded, so that waits for them have nothing to do.
// Not modelled: how many products may wait for the units, and which thread of its warp has issued a product.
func (o *op) tcgen(cfg *Config) {
	in := o.inst
	o.pipe, o.interval, o.latency = Misc, 1, 2
	name := strings.TrimPrefix(in.Op, "tcgen05.")
	switch {
	case strings.HasPrefix(name, "mma"), strings.HasPrefix(name, "cp"):
		o.kind = tcgenProduct
	case strings.HasPrefix(name, "commit"):
		o.kind = tcgenCommit
		o.memory(cfg, isa.ClassAtomic)
	case strings.HasPrefix(name, "ld"), strings.HasPrefix(name, "st"):
		n := 0
		for _, list := range [][]isa.Reg{in.Dsts, in.Srcs} {
			count := 0
			for _, r := range list {
				count += int(max(r.Count, 1))
			}
			n = max(n, count)
		}
		o.interval, o.latency = uint16(n), uint16(n)
		if name[0] == 'l' {
			o.latency += uint16(cfg.Hopper.TcgenLoad)
		}
	}
}

// operandBytes is what the tensor units read of shared memory in a cycle: products of 128 rows, with A there too, are
// limited by it below 128 columns (SemiAnalysis, 2026, of the B200).
const operandBytes = 128

// tcgenProduct lets the tensor units work at a product of tcgen05, or a copy; of a pair of blocks those of the other SM,
// too, once it has heard of it. Commits count the units of the SM that issues it: a product of a pair begins in
// both at once on hardware, here in each when its own units are free.
func (c *Core) tcgenProduct(g int32, b *exec.Bulk, t uint64) {
	u, rate := &c.tensors, c.cfg.Hopper.TcgenRate
	takes := max((b.Products+rate-1)/rate, (b.Operands+operandBytes-1)/operandBytes)
	u.free = max(t, u.free) + uint64(takes)
	c.more[g].tcgen = u.free
	if x := &c.crowds[c.warps[g].Block]; b.Pair && len(x.sms) > 1 {
		c.env.Peer(core.PeerMessage{Due: c.now + uint64(c.cfg.Hopper.PeerLatency), From: int32(c.id), To: x.sms[x.rank^1], Kind: core.PeerProduct, Passes: uint16(takes)})
	}
}

// tensor units for products.
type tensorUnits struct {
	free uint64    // tick from which they take the next product
	ends [8]uint64 // of the last products, by number modulo the length
	n    uint64    // products so far
}

// full reports whether no product can be accepted.
func (u *tensorUnits) full(most uint8, t uint64) bool {
	k := uint64(most)
	return u.n >= k && u.ends[(u.n-k)%uint64(len(u.ends))] > t
}

// multiply is called when a warp has issued a product.
func (c *Core) multiply(g int32, o *op, t uint64) {
	w := &c.warps[g]
	if w.State == exec.AtBarrier {
		c.product |= 1 << g
		return
	}
	u := &c.tensors
	u.free = max(t, u.free) + uint64(o.busy)
	u.ends[u.n%uint64(len(u.ends))] = u.free
	u.n++
	for i := range c.subs { // matrix instructions of single warps use the same units
		c.subs[i].free[Tensor] = max(c.subs[i].free[Tensor], u.free)
	}
	b := &c.Residents.Blocks[w.Block]
	from := int(g) - (int(g)-b.First)%exec.GroupWarps
	for i := from; i < from+exec.GroupWarps; i++ {
		c.more[i].open = u.free + uint64(o.tail)
	}
}

// closed groups of products that a warp remembers: more than can be outstanding.
const closedGroups = 16

// products executes a commit or a wait for groups of products.
func (c *Core) products(g int32, o *op, t uint64) {
	w := &c.more[g]
	if o.kind == productCommit {
		w.closed[w.groups%closedGroups] = w.open
		w.groups++
		return
	}
	leave := uint64(o.inst.Async.Leave)
	if leave >= min(w.groups, closedGroups) {
		return
	}
	if due := w.closed[(w.groups-1-leave)%closedGroups]; due > t+1 {
		c.product |= 1 << g
		c.wheel.add(min(due, t+wheelSize-1), evProduct, g)
	}
}
