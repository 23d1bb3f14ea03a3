package ptx

import (
	"errors"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: clusters that take over the work of others that have not begun (clusterlaunchcontrol). The answer to a try
// is opaque (PTX manual); ours, little-endian: the coordinates of the cluster's first block, 4 bytes each, and 4 bytes
// that are 1 if the cluster will not begin, 0 if all have begun.

const answerBytes = 16

func init() { families["clusterlaunchcontrol"] = decodeLaunchControl }

// cancelOp is a decoded try_cancel, kept in extra.any.
type cancelOp struct {
	mbar *inst
	all  bool // the answer goes to all blocks of the cluster
}

func decodeLaunchControl(d *dec, in *ptx.Inst, o *inst) error {
	if in.Has("query_cancel") {
		return d.queryCancel(in, o)
	}
	if len(in.Args) != 2 {
		return errors.New("takes two addresses")
	}
	op := &cancelOp{all: in.Has("multicast::cluster::all")}
	if _, err := d.memAddress(&in.Args[0], o, isa.Shared); err != nil {
		return err
	}
	var err error
	if op.mbar, err = d.address2(&in.Args[1], isa.Shared); err != nil {
		return err
	}
	o.kind, o.x, o.mode, o.run = kMem, &extra{any: op}, uint8(isa.Shared), tryCancel
	d.describe(isa.Shared, answerBytes, false, true)
	d.im.ordered, d.im.rests = true, true
	d.im.hopper = "clusterlaunchcontrol"
	return nil
}

func tryCancel(w *warp, in *inst, m uint32) {
	op := in.x.any.(*cancelOp)
	w.addresses(in, m)
	at := w.addr
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		if at[i]%answerBytes != 0 {
			w.failAs(exec.Misaligned, 1<<i, "answer of %s at shared address %#x: the address must be a multiple of %d", w.info().Op, at[i], answerBytes)
			return
		}
		l := w.blk.launch
		var answer [answerBytes]byte
		if n, ok := l.rest.Take(); ok {
			b := l.Grid.At(l.ClusterBlock(n, 0))
			for k, v := range [4]uint32{b.X, b.Y, b.Z, 1} {
				le.PutUint32(answer[4*k:], v)
			}
		}
		if w.blk.postpones {
			w.bulk.begin()
		}
		own := int(w.blk.rank())
		if !op.all {
			if !w.answer(op, i, at[i], own, own, &answer) {
				return
			}
			continue
		}
		for rank := range int(l.ClusterSize().Count()) {
			if !w.answer(op, i, at[i], rank, own, &answer) {
				return
			}
		}
	}
	w.addr = at
}

// answer writes the answer to lane i's try into shared memory of the block with a rank, and signals its mbarrier.
func (w *warp) answer(op *cancelOp, i int, at uint64, rank, own int, answer *[answerBytes]byte) bool {
	if rank != own {
		at = ofRank(at, uint64(rank))
	}
	p := w.bytesOf(isa.Shared, i, at, answerBytes, true)
	if p == nil {
		return false
	}
	copy(p, answer[:])
	if rank != own {
		if !w.completeIn(op.mbar, i, rank, answerBytes) {
			return false
		}
		if w.blk.probe != nil {
			w.tellMulticast(op.mbar, i, rank, at, answerBytes, func(uint64) {})
		}
		return true
	}
	if !w.completeTx(op.mbar, 1<<i, answerBytes) {
		return false
	}
	if w.blk.probe != nil {
		w.addresses(op.mbar, 1<<i)
		mbarrier := w.addr[i]
		w.tellFlight(i, isa.Shared, at, answerBytes, false, true, isa.ByMbarrier, mbarrier)
		w.tellArrived(i, mbarrier)
	}
	return true
}

// queryCancel decodes what reads an answer in a register of 128 bits.
func (d *dec) queryCancel(in *ptx.Inst, o *inst) error {
	if len(in.Args) != 2 {
		return errors.New("takes a destination and an answer")
	}
	r, c, _, err := d.reg(&in.Args[1], false)
	if err == nil && c != c128 {
		err = errors.New("needs an answer in a 128-bit register")
	}
	if err != nil {
		return err
	}
	if in.Has("is_canceled") {
		if o.d, err = d.dstPred(&in.Args[0]); err != nil {
			return err
		}
		o.run = func(w *warp, in *inst, m uint32) {
			if in.d == none {
				return
			}
			high := w.u64(r + 1)
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				w.pr[in.d] = w.pr[in.d]&^(1<<i) | uint32(high[i]>>32&1)<<i
			}
		}
		return nil
	}
	dsts := in.Args[:1]
	first := 0
	switch {
	case in.Has("get_first_ctaid::y"):
		first = 1
	case in.Has("get_first_ctaid::z"):
		first = 2
	}
	if in.Args[0].Kind == ptx.OpVec {
		dsts = in.Args[0].List
	}
	var to [4]ref
	if len(dsts) > len(to) {
		return errors.New("has more than four destinations")
	}
	for k := range dsts {
		if to[k], err = d.dst32(&dsts[k]); err != nil {
			return err
		}
	}
	n := len(dsts)
	o.run = func(w *warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			lo, hi := w.u64(r)[i], w.u64(r + 1)[i]
			words := [4]uint32{uint32(lo), uint32(lo >> 32), uint32(hi)} // the fourth is not defined
			for k := range n {
				w.r32[to[k]][i] = words[first+k]
			}
		}
	}
	return nil
}
