package races

import (
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: Blackwell's tensor memory and the products that use it (tcgen05). A product, or a copy into tensor memory, is in
// flight until a thread has waited for the mbarrier that a later commit of its warp names; a load or a store
// until the warp has executed tcgen05.wait.

var tensorMemory = rule("race-tensor-memory", "Tensor memory is accessed without order.", "tensor-memory")

// tensorBase is where tensor memory lies in the shadow of a block's shared memory, which has no such addresses.
const tensorBase = 1 << 32

// inTensorMemory is an access with addresses that no shared memory has.
func inTensorMemory(a *exec.Access) *exec.Access {
	t := *a
	t.Addr = new([32]uint64)
	for i, x := range a.Addr {
		t.Addr[i] = tensorBase + x
	}
	return &t
}

// issuer is a warp all of whose lanes know what one of them knows: an operation of that lane has pieces of
// memory in place of lanes.
func (b *block) issuer(w *warp, lane int) *warp {
	return &warp{id: w.id, live: w.live, base: w.base, rel: w.rel, learned: b.c.time, clock: w.of(lane).set(threadKey(b.id, w.id, lane), b.c.time)}
}

// pipelined reports whether two operations of a warp are carried out in the order in which they are issued: products and copies
// into tensor memory. A later one is over after an earlier one.
func (b *block) pipelined(e, n *record) bool {
	if e.flight == 0 || n.flight == 0 || e.launch != n.launch || e.block != n.block || e.warp != n.warp {
		return false
	}
	f, g := b.c.flights[e.flight-1], b.c.flights[n.flight-1]
	return f.by == isa.ByCommit && g.by == isa.ByCommit
}

// commitsAt is where the commits of a block's warps are counted among its mbarriers: no mbarrier has such an address.
const commitsAt = 2 * productsAt

// commits is the sequence of commits of a warp: an operation ends with the next one, as waits for this or a later one know.
func (b *block) commits(w *warp) *mbar { return b.mbarrier(commitsAt + uint64(w.id)) }

// committed lets those who wait for the current phase of an mbarrier know that all operations of a warp so far are over.
func (b *block) committed(w *warp, m *mbar) {
	v := b.commits(w)
	v.phase++
	m.pending = m.pending.join((*clock)(nil).set(mbarKey(b.id, v.slot), v.phase))
}
