package ptx

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: clusters of blocks: their size, the shared memory of the other blocks, the barrier of
// the cluster, mapa and getctarank.

func init() {
	families["mapa"] = decodeMapa
	families["getctarank"] = decodeGetCtaRank
}

// OwnCluster is the size that .reqnctapercluster gives clusters; zero without.
func (k *Kernel) OwnCluster() exec.Dim3 {
	c := k.ast.Cluster
	if c[0] <= 0 {
		return exec.Dim3{}
	}
	return exec.Dim3{X: uint32(c[0]), Y: uint32(max(1, c[1])), Z: uint32(max(1, c[2]))}
}

// cluster gives a launch the cluster that its kernel requires, and checks the one that it has.
func (k *Kernel) cluster(l *Launch) error {
	own := k.OwnCluster()
	explicit, units, most := false, false, uint64(0)
	for _, d := range k.ast.Perf {
		switch d.Name {
		case ".explicitcluster":
			explicit = true
		case ".blocksareclusters":
			units = true
		case ".maxclusterrank":
			if _, err := fmt.Sscanf(d.Raw, ".maxclusterrank %d", &most); err != nil {
				return l.Refuse("%s is no number", d.Raw)
			}
		}
	}
	switch {
	case l.Cluster == exec.Dim3{}:
		l.Cluster = own
	case own != exec.Dim3{} && own != l.Cluster:
		return l.Refuse("it requires clusters of %v blocks (.reqnctapercluster), not of %v", own, l.Cluster)
	}
	size := l.ClusterSize().Count()
	switch {
	case explicit && l.Cluster == exec.Dim3{}:
		return l.Refuse("it requires a launch with the size of its clusters (.explicitcluster)")
	case units && size > 1:
		return l.Refuse("a grid that counts clusters (.blocksareclusters) is not supported")
	case most > 0 && size > most:
		return l.Refuse("it allows at most %d blocks per cluster (.maxclusterrank), not %d", most, size)
	}
	if l.Cluster == own { // not checked yet
		return l.CheckCluster()
	}
	return nil
}

// team is a cluster that runs.
type team struct {
	blocks   []*block   // by rank
	opened   uint64     // how often its barrier has opened
	released int        // blocks that a core model has done with
	told     [32]uint64 // addresses that a probe is shown
}

// newCluster makes the blocks of cluster n of a launch ready to run.
func (wk *worker) newCluster(im *image, l *launch, n uint64, view *device.View) exec.GridBlock {
	t := &team{blocks: make([]*block, l.ClusterSize().Count())}
	members := make([]exec.Member, len(t.blocks))
	for rank := range members {
		b := wk.newBlock(im, l, l.ClusterBlock(n, uint64(rank)), view)
		b.team, t.blocks[rank], members[rank] = t, b, b
	}
	return exec.NewCluster(members, l.Order)
}

// Rank is as in exec.ClusterMember.
func (b *block) Rank() int { return int(b.rank()) }

// Opened is as in exec.ClusterMember.
func (b *block) Opened() uint64 {
	if b.team == nil {
		return 0
	}
	return b.team.opened
}

// Team is as in exec.ClusterMember.
func (b *block) Team() any { return b.team }

// rank is the block's number in its cluster.
func (b *block) rank() uint64 {
	c := b.launch.ClusterSize()
	return uint64(b.Idx.X%c.X) + uint64(c.X)*(uint64(b.Idx.Y%c.Y)+uint64(c.Y)*uint64(b.Idx.Z%c.Z))
}

// clusterValue is the value of a special register from sregClusterX to sregSizeZ.
func (b *block) clusterValue(s sreg) uint32 {
	of := func(d exec.Dim3) uint32 { return [3]uint32{d.X, d.Y, d.Z}[(s-sregClusterX)%3] }
	size := of(b.launch.ClusterSize())
	switch {
	case s < sregNclusterX:
		return of(b.Idx) / size
	case s < sregInX:
		return of(b.Grid) / size
	case s < sregSizeX:
		return of(b.Idx) % size
	}
	return size
}

// inCluster reports whether a shared address is one of the memory of all blocks of a cluster, and
// returns the block's rank and the address in it.
func inCluster(a uint64) (rank, at uint64, ok bool) {
	if a < isa.ClusterBase || a >= isa.ClusterEnd {
		return 0, a, false
	}
	a -= isa.ClusterBase
	return a / isa.ClusterStride, a % isa.ClusterStride, true
}

// ofRank is the address, in the block with a rank, of what an address of any block stands for.
func ofRank(a, rank uint64) uint64 {
	if _, at, ok := inCluster(a); ok {
		a = at
	}
	return isa.ClusterBase + rank*isa.ClusterStride + a
}

// Hardware numbers the two blocks of a pair (.cta_group::2) by bit 24 of shared addresses, and programs clear it to name
// the even one: CUTLASS masks addresses of mbarriers with 0xfeffffff, which the PTX manual does not mention. So a kernel
// with pairs has shared addresses with the bit of the shared window, which is the same, set in both blocks; where an
// operation on an mbarrier takes addresses of shared::cluster, or a copy of a box signals one, an address without it
// lies in the even block.

// pairs reports whether a kernel's blocks work in pairs.
func (k *Kernel) pairs() bool {
	return slices.ContainsFunc(k.ast.Code, func(in *ptx.Inst) bool { return in.Has("cta_group::2") })
}

// pairAddress makes addresses of lanes of an instruction with fPair those in the even block of the pair that are.
func (w *warp) pairAddress(in *inst, m uint32) {
	if own := w.blk.rank(); in.flags&fPair != 0 && own&1 != 0 {
		for ; m != 0; m &= m - 1 {
			if a := &w.addr[bits.TrailingZeros32(m)&31]; *a < isa.ClusterBase {
				*a = ofRank(*a, own-1)
			}
		}
	}
}

// owns reports whether a shared address lies in the block itself.
func (b *block) owns(a uint64) bool {
	rank, _, ok := inCluster(a)
	return !ok || rank == b.rank()
}

// distributed returns the bytes of lane i's access to shared memory at an address that is not one
// of the block's own from 0 on: one of its own in the window, or in the memory of a block of the
// cluster. It returns nil after a fault.
func (w *warp) distributed(i int, a uint64, size int, write bool) []byte {
	b := w.blk
	what := "read"
	if write {
		what = "write"
	}
	if off := a - isa.SharedWindow; off < isa.WindowSize {
		if a = off; off < uint64(len(b.Shared)) && off+uint64(size) <= uint64(len(b.Shared)) {
			return b.Shared[off : off+uint64(size)]
		}
	}
	rank, at, ok := inCluster(a)
	if !ok {
		w.sharedFault(i, a, size, what)
		return nil
	}
	peer, count := b, b.launch.ClusterSize().Count()
	switch {
	case rank >= count:
		w.remoteFault(i, a, size, write, fmt.Sprintf("in block %d of a cluster that has %d", rank, count))
		return nil
	case b.team != nil:
		peer = b.team.blocks[rank]
	}
	switch n := uint64(len(peer.Shared)); {
	case peer != b && peer.Over():
		w.remoteFault(i, a, size, write, fmt.Sprintf("in block %d of the cluster, which has exited and left its shared memory", rank))
		return nil
	case at >= n || at+uint64(size) > n:
		w.remoteFault(i, a, size, write, fmt.Sprintf("at %#x in block %d of the cluster, which has %d bytes of shared memory", at, rank, n))
		return nil
	}
	if s := b.Searching(); s != nil && write && peer != b {
		s.Reached()
	}
	return peer.Shared[at : at+uint64(size)]
}

// remoteFault records an access to memory of the cluster that does not exist.
func (w *warp) remoteFault(i int, a uint64, size int, write bool, where string) {
	what := "read"
	if write {
		what = "write"
	}
	w.failAs(exec.BadAddress, 1<<i, "%s of %d bytes at shared address %#x, %s", what, size, a, where)
	w.accused(&device.Fault{Addr: a, Size: uint64(size), Write: write, Space: isa.Shared})
}

// tryReleaseCluster opens the barrier of the cluster if the threads of all its blocks have arrived
// or exited.
func (b *block) tryReleaseCluster() {
	used := false
	for _, p := range b.team.blocks {
		if !p.Complete(exec.ClusterBarrier) {
			return
		}
		used = used || p.Bars[exec.ClusterBarrier].Used
	}
	if used {
		b.team.opened++
	}
	for _, p := range b.team.blocks {
		if p.Bars[exec.ClusterBarrier].Used {
			p.release(exec.ClusterBarrier)
		}
	}
}

// waitingCluster describes what the threads at the barrier of the cluster wait for.
func (b *block) waitingCluster() string {
	came := 0
	for _, p := range b.team.blocks {
		if p.Complete(exec.ClusterBarrier) {
			came++
		}
	}
	return fmt.Sprintf("waits at the barrier of the cluster, where all threads of %d of %d blocks have arrived", came, len(b.team.blocks))
}

// decodeMapa maps a shared address to that of the same variable in a block of the cluster. In a
// cluster of one block, it is the address itself.
func decodeMapa(d *dec, in *ptx.Inst, o *inst) error {
	types := in.Types()
	if len(in.Args) != 3 || len(types) != 1 {
		return errors.New("takes a destination, an address and the rank of a block")
	}
	wide, err := d.operands(in, o, types[0], 1)
	if err != nil {
		return err
	}
	if o.b, err = d.src32(&in.Args[2], "u32"); err != nil {
		return err
	}
	o.kind = kMem
	o.run = func(w *warp, in *inst, m uint32) {
		count := w.blk.launch.ClusterSize().Count()
		b := w.u32(in.b)
		for k := m; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			if rank := b[i]; uint64(rank) >= count {
				w.failf(1<<i, "address in block %d of a cluster, which has %d", rank, count)
				return
			}
			a := w.at(in.a, wide, i)
			if count > 1 {
				window := a &^ (isa.WindowSize - 1) // a generic address keeps it
				a = window | ofRank(a-window, uint64(b[i]))
			}
			if wide {
				w.r64[in.d][i] = a
			} else {
				w.r32[in.d][i] = uint32(a)
			}
		}
	}
	return nil
}

// at is lane i's address in a register of 32 or 64 bits.
func (w *warp) at(r ref, wide bool, i int) uint64 {
	if wide {
		return w.u64(r)[i&31]
	}
	return uint64(w.u32(r)[i&31])
}

// decodeGetCtaRank finds the block of the cluster to which a shared address belongs.
func decodeGetCtaRank(d *dec, in *ptx.Inst, o *inst) error {
	if len(in.Args) != 2 {
		return errors.New("takes a destination and an address")
	}
	var err error
	if o.d, err = d.dst32(&in.Args[0]); err != nil {
		return err
	}
	var wide bool
	if o.a, wide, err = d.src(&in.Args[1], in.Types()[0]); err != nil {
		return err
	}
	o.run = func(w *warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			rank, _, ok := inCluster(w.at(in.a, wide, i) & (isa.WindowSize - 1))
			if !ok {
				rank = w.blk.rank()
			}
			w.r32[in.d][i] = uint32(rank)
		}
	}
	return nil
}
