package ptx

import (
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: what a probe sees of tensor memory and of the products that use it. Addresses of tensor memory are of
// bytes: a lane has 2 KiB, a column 4 bytes. An operation of one thread comes with pieces of memory in place of lanes.

// tensorByte is the address of a cell for probes.
func tensorByte(lane, column int) uint64 { return uint64(lane*tmemColumns+column) * 4 }

// tellTensor tells the probe of an access to a block's tensor memory at w.addr: by lanes m, or for ByCommit in as many
// pieces, started by lane issuer.
func (w *warp) tellTensor(b *block, m uint32, bytes int, read, write bool, by isa.Completion, issuer int) {
	own := w.blk
	a := &own.access
	*a = exec.Access{Warp: w.id, Site: w.site(), Depth: w.fr.depth, Inst: w.info(), Space: isa.TensorMem, Lanes: isa.LaneMask(m), Addr: &w.addr, Bytes: bytes, Read: read, Write: write,
		Flight: by != isa.ByNothing, By: by, Issuer: issuer}
	if b != own {
		a.Peer = exec.Peer(b.Linear() + 1)
	}
	own.probe.Access(a)
}

// seenMove tells of tcgen05.ld and st: of a register of each thread, or if all lie along the lanes, at once.
func (w *warp) seenMove(shape tmemShape, lane, column, regs, words, half int, whole, store bool) {
	if w.blk.probe == nil {
		return
	}
	by, n := isa.ByTensorLoad, 1
	if store {
		by = isa.ByTensorStore
	}
	if whole {
		regs, n = 1, regs
	}
	for r := range regs {
		for t := range 32 {
			l, c := shape.at(t, r, half)
			w.addr[t] = tensorByte(lane+l, column+c*words)
		}
		w.tellTensor(w.blk, full, 4*words*n, !store, store, by, 0)
	}
}

// seenWait tells of tcgen05.wait.
func (w *warp) seenWait(by isa.Completion) {
	if p := w.blk.probe; p != nil {
		p.Group(w.id, isa.LaneMask(full), isa.Async{Does: isa.AsyncWaitAll, Done: by})
	}
}

// seenColumns tells of columns that are given back: all that used them must be over.
func (w *warp) seenColumns(column, n int) {
	if w.blk.probe == nil {
		return
	}
	for first := 0; first < tmemLanes; first += 32 {
		for t := range 32 {
			w.addr[t] = tensorByte(first+t, column)
		}
		w.tellTensor(w.blk, full, 4*n, false, true, isa.ByNothing, 0)
	}
}

// seenCells tells of what an operation of lane i does to n columns of some lanes of a block's tensor memory.
func (w *warp) seenCells(b *block, i int, lanes []int, column, n int, read, write bool) {
	own := w.addr
	for part := range slices.Chunk(lanes, 32) {
		for t, l := range part {
			w.addr[t] = tensorByte(l, column)
		}
		w.tellTensor(b, full>>(32-len(part)), 4*n, read, write, isa.ByCommit, i)
	}
	w.addr = own
}

// lanesFrom are n lanes from one on.
func lanesFrom(first, n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = first + i
	}
	return list
}

// seenProduct tells of what lane i's product does in a block: to D, whose lanes in masks stay, and of what it reads.
func (w *warp) seenProduct(b *block, op *tcgenOp, s *tcShape, i, rows int, reads chunks, scales [2]uint32, at uint32, keep, split bool, masks *[4]uint32) {
	reads.see(w, b, i)
	if op.a != nil {
		w.addresses(op.a, 1<<i)
		lanes := lanesFrom(int(w.addr[i]>>16&0xffff), rows)
		for r := range lanes {
			lanes[r] += tmemLane(r, rows) - r
		}
		w.seenCells(b, i, lanes, int(w.addr[i]&0xffff), 8, true, false)
	}
	for k, n := range [2]int{rows, s.n} {
		if op.scales[k] != nil {
			w.seenCells(b, i, lanesFrom(int(scales[k]>>16), 32), int(scales[k]&0xffff), (n+31)/32, true, false)
		}
	}
	n := s.n
	if split {
		rows, n = tmemLanes, n/2
	}
	var lanes []int
	for r := range rows {
		if l := int(at>>16) + tmemLane(r, rows); masks[l/32]>>(l%32)&1 == 0 {
			lanes = append(lanes, l)
		}
	}
	w.seenCells(b, i, lanes, int(at&0xffff), n, keep, true)
}

// chunks are pieces of 16 bytes of shared memory that an operation reads.
type chunks []uint64

// see tells the probe that lane i's operation reads them in a block's shared memory.
func (c chunks) see(w *warp, b *block, i int) {
	own := w.addr
	slices.Sort(c)
	for part := range slices.Chunk(slices.Compact(c), 32) {
		for t, a := range part {
			if w.addr[t] = a; b != w.blk {
				w.addr[t] = ofRank(a, b.rank())
			}
		}
		a := &w.blk.access
		*a = exec.Access{Warp: w.id, Site: w.site(), Depth: w.fr.depth, Inst: w.info(), Addr: &w.addr, Bytes: 16, Read: true, Flight: true, By: isa.ByCommit, Issuer: i}
		w.tellAccess(a, isa.Shared, full>>(32-len(part)))
	}
	w.addr = own
}

// leavesColumns tells the probe of a block whose last lanes exit while it has columns of tensor memory.
func (b *block) leavesColumns(w *warp, gone uint32) {
	if b.tmem == nil || b.tmem.taken == 0 || slices.ContainsFunc(b.Lanes, func(m uint32) bool { return m != 0 }) {
		return
	}
	w.misuse(exec.TensorKept, gone&-gone, uint32(bits.OnesCount32(b.tmem.taken)*tmemUnit))
}
