package ptx

import (
	"errors"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: operations across the lanes of a warp: shuffles, votes, matches,
// reductions.

func init() {
	families["shfl"] = decodeShfl
	families["vote"] = decodeVote
	families["match"] = decodeMatch
	families["redux"] = decodeRedux
	families["elect"] = decodeElect
	families["activemask"] = func(d *dec, in *ptx.Inst, o *inst) (err error) {
		if len(in.Args) != 1 {
			return errors.New("takes one operand")
		}
		o.d, err = d.dst32(&in.Args[0])
		o.run = func(w *warp, in *inst, m uint32) { w.fill32(in.d, m, m) }
		return err
	}
}

// fill32 writes v to lanes m.
func (w *warp) fill32(r ref, v, m uint32) {
	d := &w.r32[r]
	for ; m != 0; m &= m - 1 {
		d[bits.TrailingZeros32(m)&31] = v
	}
}

// member decodes the member mask, the last operand, of a .sync instruction.
func (d *dec) member(in *ptx.Inst, o *inst, a *ptx.Operand) error {
	var err error
	o.kind = kWarpSync
	o.e, err = d.src32(a, "b32")
	return err
}

// decodeBarWarp is bar.warp.sync.
func decodeBarWarp(d *dec, in *ptx.Inst, o *inst) error {
	if len(in.Args) != 1 {
		return errors.New("takes a member mask")
	}
	o.flags |= fAnyPC
	o.run = func(w *warp, _ *inst, m uint32) {
		if p := w.blk.probe; p != nil {
			p.Meet(w.id, isa.LaneMask(m))
		}
	}
	return d.member(in, o, &in.Args[0])
}

// decodeShfl is shfl and shfl.sync (PTX manual, shfl: lane arithmetic with the
// segment mask in bits 12:8 of c and the clamp in bits 4:0).
func decodeShfl(d *dec, in *ptx.Inst, o *inst) error {
	args := in.Args
	want := 4
	if in.Has("sync") {
		want = 5
	}
	if len(args) != want {
		return errors.New("takes a destination, a value, a lane and a clamp, and a member mask with .sync")
	}
	d.info.Unit = isa.UnitLSU
	dst, p := &args[0], none
	var err error
	if dst.Kind == ptx.OpPair {
		if p, err = d.dstPred(&dst.List[1]); err != nil {
			return err
		}
		dst = &dst.List[0]
	}
	if o.d, err = d.dst32(dst); err != nil {
		return err
	}
	for i, r := range []*ref{&o.a, &o.b, &o.c} {
		if *r, err = d.src32(&args[1+i], "b32"); err != nil {
			return err
		}
	}
	o.kind = kMem // so that a warning can name the place
	if want == 5 {
		if err = d.member(in, o, &args[4]); err != nil {
			return err
		}
	}
	mode := 0
	for i, s := range []string{"up", "down", "bfly", "idx"} {
		if in.Has(s) {
			mode = i
		}
	}
	o.mode = uint8(mode)
	o.x = &extra{refs: []ref{p}}
	o.run = shfl
	return nil
}

func shfl(w *warp, in *inst, m uint32) {
	var from [32]uint8
	inRange := in.sources(w, m, &from)
	d := &w.r32[in.d]
	a := *w.u32(in.a) // destination and source may be the same register
	for k := m; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		j := from[i] & 31
		if m>>j&1 == 0 {
			w.absent(i, int(j))
		}
		d[i] = a[j]
	}
	w.setPred(in.x.refs[0], inRange, m)
}

// sources finds the lane from which each lane of m takes its value in a shuffle, and returns
// those for which it is in range: the others take their own.
func (in *inst) sources(w *warp, m uint32, from *[32]uint8) (inRange uint32) {
	b, c := w.u32(in.b), w.u32(in.c)
	for ; m != 0; m &= m - 1 {
		i := uint32(bits.TrailingZeros32(m) & 31)
		bv, cv := b[i]&31, c[i]&31
		seg := c[i] >> 8 & 31
		maxLane := i&seg | cv&^seg
		minLane := i & seg
		var j uint32
		ok := false
		switch in.mode {
		case 0:
			j = i - bv
			ok = int32(j) >= int32(maxLane)
		case 1:
			j = i + bv
			ok = j <= maxLane
		case 2:
			j = i ^ bv
			ok = j <= maxLane
		case 3:
			j = minLane | bv&^seg
			ok = j <= maxLane
		}
		if ok {
			inRange |= 1 << i
		} else {
			j = i
		}
		from[i] = uint8(j & 31)
	}
	return inRange
}

// decodeVote is vote and vote.sync.
func decodeVote(d *dec, in *ptx.Inst, o *inst) error {
	args := in.Args
	want := 2
	if in.Has("sync") {
		want = 3
	}
	if len(args) != want {
		return errors.New("takes a destination and a predicate, and a member mask with .sync")
	}
	var err error
	ballot := in.Has("ballot")
	if ballot {
		o.d, err = d.dst32(&args[0])
	} else {
		o.d, err = d.dstPred(&args[0])
	}
	if err != nil {
		return err
	}
	var neg bool
	if o.a, neg, err = d.srcPred(&args[1]); err != nil {
		return err
	}
	if neg {
		o.imm = 0xffffffff
	}
	if want == 3 {
		if err = d.member(in, o, &args[2]); err != nil {
			return err
		}
	}
	all, anyOf := in.Has("all"), in.Has("any")
	o.run = func(w *warp, in *inst, m uint32) {
		p := (w.pr[in.a] ^ uint32(in.imm)) & m
		var r bool
		switch {
		case ballot:
			w.fill32(in.d, p, m)
			return
		case all:
			r = p == m
		case anyOf:
			r = p != 0
		default: // uni
			r = p == m || p == 0
		}
		w.setPred(in.d, -b2u(r), m)
	}
	return nil
}

// decodeMatch is match.any.sync and match.all.sync.
func decodeMatch(d *dec, in *ptx.Inst, o *inst) error {
	args := in.Args
	types := in.Types()
	if len(args) != 3 || len(types) != 1 {
		return errors.New("takes a destination, a value and a member mask")
	}
	dst, p := &args[0], none
	var err error
	if dst.Kind == ptx.OpPair {
		if p, err = d.dstPred(&dst.List[1]); err != nil {
			return err
		}
		dst = &dst.List[0]
	}
	if dst.Kind == ptx.OpSink {
		o.d = d.scratch(c32)
	} else if o.d, err = d.dst32(dst); err != nil {
		return err
	}
	wide := types[0].Bits() == 64
	if wide {
		o.a, err = d.src64(&args[1], types[0])
	} else {
		o.a, err = d.src32(&args[1], types[0])
	}
	if err != nil {
		return err
	}
	all := in.Has("all")
	o.run = func(w *warp, in *inst, m uint32) {
		val := func(i int) uint64 {
			if wide {
				return w.u64(in.a)[i]
			}
			return uint64(w.u32(in.a)[i])
		}
		var out [32]uint32
		same := true
		first := val(bits.TrailingZeros32(m))
		for k := m; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k)
			v := val(i)
			same = same && v == first
			for n := m; n != 0; n &= n - 1 {
				if l := bits.TrailingZeros32(n); val(l) == v {
					out[i] |= 1 << l
				}
			}
		}
		d := &w.r32[in.d]
		for k := m; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			switch {
			case !all:
				d[i] = out[i]
			case same:
				d[i] = m
			default:
				d[i] = 0
			}
		}
		if all {
			w.setPred(p, -b2u(same), m)
		}
	}
	return d.member(in, o, &args[2])
}

// decodeElect picks the lowest lane of the member mask as leader.
func decodeElect(d *dec, in *ptx.Inst, o *inst) error {
	args := in.Args
	if len(args) != 2 || args[0].Kind != ptx.OpPair {
		return errors.New("takes a destination d|p and a member mask")
	}
	var err error
	if args[0].List[0].Kind == ptx.OpSink {
		o.d = d.scratch(c32)
	} else if o.d, err = d.dst32(&args[0].List[0]); err != nil {
		return err
	}
	if o.b, err = d.dstPred(&args[0].List[1]); err != nil {
		return err
	}
	o.run = func(w *warp, in *inst, m uint32) {
		leader := bits.TrailingZeros32(m)
		w.fill32(in.d, uint32(leader), m)
		w.setPred(in.b, 1<<leader, m)
	}
	return d.member(in, o, &args[1])
}
