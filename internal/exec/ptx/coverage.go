package ptx

import (
	"math/bits"
	"sync/atomic"

	"github.com/heddle-sim/heddle/internal/exec"
)

// This file: counters of a launch with coverage. Its kernel is decoded apart: branches have a
// kind of their own. A block counts for itself, and adds its counts to the launch's when it ends.

// counter is where a block counts: two counts for each instruction, and one for each function.
type counter struct {
	n       []uint64
	entered []uint64
}

// countSite is an instruction that counts.
type countSite struct {
	counts *exec.FunctionCounts
	pc     int
	at     int // in counter.n
}

// countFunctions makes the counters of an image, and branches count.
func (im *image) countFunctions(c *exec.Coverage) {
	im.covered = c
	for _, f := range im.fns {
		g := exec.NewFunctionCounts(f.name, f.info, func(pc int) exec.Where { return im.where(f, pc) }, f.text)
		im.counts = append(im.counts, g)
		c.Add(g)
		for pc := range f.code {
			switch f.code[pc].kind {
			case kBranch, kCounted:
				f.code[pc].kind = kCounted
			case kBranchIx, kRet, kExit:
			default:
				continue
			}
			im.sites = append(im.sites, countSite{g, pc, 2 * (int(f.base/instBytes) + pc)})
		}
	}
}

// startCounts gives a block counters of zero, if its launch has coverage.
func (b *block) startCounts() {
	if b.im.covered == nil || b.launch.Rehearsal {
		b.counts = nil
		return
	}
	total := 0
	for _, f := range b.im.fns {
		total += len(f.code)
	}
	c := b.wk.counter
	if c == nil || len(c.n) != 2*total || len(c.entered) != len(b.im.fns) {
		c = &counter{n: make([]uint64, 2*total), entered: make([]uint64, len(b.im.fns))}
	}
	b.wk.counter, b.counts = nil, c
}

// endCounts adds a block's counts to those of its launch.
func (b *block) endCounts() {
	c := b.counts
	if c == nil {
		return
	}
	add := func(to *uint64, n *uint64) {
		if *n != 0 {
			atomic.AddUint64(to, *n)
			*n = 0
		}
	}
	for i, g := range b.im.counts {
		add(&g.Entered, &c.entered[i])
	}
	for _, x := range b.im.sites {
		add(&x.counts.Taken[x.pc], &c.n[x.at])
		add(&x.counts.Passed[x.pc], &c.n[x.at+1])
	}
	b.counts, b.wk.counter = nil, c
}

// countWays counts lanes m as branching, returning or exiting at pc, and the rest of the
// fragment's lanes as going on.
func (w *warp) countWays(pc int32, m, mask uint32) {
	c := w.blk.counts
	if c == nil {
		return
	}
	at := 2 * (int(w.fr.f.base/instBytes) + int(pc))
	c.n[at] += uint64(bits.OnesCount32(m))
	c.n[at+1] += uint64(bits.OnesCount32(mask &^ m))
}

// countIndexed counts lanes m of an indexed branch by the entry that they select; those with
// a wrong index fault.
func (w *warp) countIndexed(in *inst, m uint32) {
	ways := w.blk.im.counts[w.fr.f.index].Ways[int(w.pc)]
	idx := w.u32(in.a)
	for ; m != 0; m &= m - 1 {
		if v := idx[bits.TrailingZeros32(m)&31]; uint64(v) < uint64(len(ways)) {
			atomic.AddUint64(&ways[v], 1)
		}
	}
}

// countSpecial counts at what ends lanes or selects among several targets.
func (w *warp) countSpecial(in *inst, m uint32) {
	switch in.kind {
	case kExit, kRet:
		w.countWays(w.pc, m, w.mask)
	case kBranchIx:
		w.countWays(w.pc, m, w.mask)
		w.countIndexed(in, m)
	}
}
