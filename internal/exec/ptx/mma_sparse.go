package ptx

import (
	"errors"
	"fmt"

	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: mma.sp, whose matrix A has two non-zero elements in every four (one in two
// for tf32, two pairs in four for 4-bit integers). A comes packed with half as many
// elements; a metadata operand gives the place of each in its group.
//
// The location of the metadata follows the PTX manual's figures of the sparse
// fragments. Each row of A needs 16, 32 or 64 bits. The sparsity selector picks which
// one, two or four of each four lanes 4g…4g+3 contribute:
//
//   - 16- and 32-bit elements: a contributing lane holds in its low half 16 bits
//     for row g, in its high half 16 bits for row g+8. If a row has 32 bits, the
//     second contributing lane of the four holds the second halves.
//   - 8- and 4-bit elements: the first contributing lane holds 32 bits for row g,
//     the second 32 bits for row g+8. If a row has 64 bits, the third and the
//     fourth hold the second words.
//
// The order of metadata in CUTLASS' host-side reordering, which feeds the same
// instruction, agrees. Metadata that the manual calls undefined is a fault: an index
// twice in a group, a tf32 index other than 0b0100 and 0b1110, and, with
// .sp::ordered_metadata, descending indices.

// sparsity describes how A of an mma.sp is packed.
type sparsity struct {
	ordered bool
	meta    ref
	sel     int  // first contributing lane of each four
	wide    bool // 32 bits a lane and row, else 16
	bits    int  // of metadata per index
	count   int  // indices of a row
}

// sparsity decodes metadata and selector, the last operands of mma.sp.
func (d *dec) sparsity(in *ptx.Inst, op *mmaOp) error {
	s := op.sparse
	var err error
	if s.meta, err = d.src32(&in.Args[4], "b32"); err != nil {
		return err
	}
	s.bits, s.count = 2, op.k/2
	switch {
	case op.class == mmaInt8 || (op.class == mmaFloat || op.class == mmaHalf) && op.wa.bits == 8:
		s.wide = true
	case op.class == mmaInt4:
		s.wide = true
		s.count /= 2 // an index for two elements
	case (op.class == mmaFloat || op.class == mmaHalf) && op.wa.bits == 16:
	case op.class == mmaFloat && op.wa.bits == 32:
		s.bits = 4
	default:
		return errUnsupported
	}
	lanes := s.count * s.bits / 16 // contributing lanes
	if op.m != 16 || lanes != 1 && lanes != 2 && lanes != 4 || s.count > sparseMax {
		return errUnsupported
	}
	f := &in.Args[5]
	if f.Kind != ptx.OpImm {
		return errors.New("needs a constant sparsity selector")
	}
	if f.Imm.Bits >= uint64(4/lanes) {
		return fmt.Errorf("has sparsity selector %d; it must be below %[3]d, since %[2]d of four lanes hold the metadata", int64(f.Imm.Bits), lanes, 4/lanes)
	}
	s.sel = int(f.Imm.Bits) * lanes
	return nil
}

// sparseMax is the largest number of indices of a row.
const sparseMax = 32

// places finds for each index of a row of A which element of its group of 4 (2 for
// tf32) it selects, counted from the row's beginning. It returns false after a fault.
func (w *warp) places(op *mmaOp, row int, out *[sparseMax]int) bool {
	s := op.sparse
	meta := w.u32(s.meta)
	g, high := row&7, row>>3
	mask := uint32(1)<<s.bits - 1
	for i := range s.count {
		bit := i * s.bits
		lane, shift := 4*g+s.sel, 0
		if s.wide {
			lane, shift = lane+bit/32*2+high, bit%32
		} else {
			lane, shift = lane+bit/16, 16*high+bit%16
		}
		v := meta[lane] >> shift & mask
		if s.bits == 4 { // the indices of an element's two halves
			switch v {
			case 0b0100:
				out[i] = 2 * i
			case 0b1110:
				out[i] = 2*i + 1
			default:
				w.failf(1<<lane, "sparsity metadata %#08x: index %#04b at bit %d selects no element of its pair; want 0b0100 or 0b1110", meta[lane], v, shift)
				return false
			}
			continue
		}
		out[i] = i/2*4 + int(v)
		if i&1 == 0 {
			continue
		}
		switch prev := out[i-1]; {
		case prev == out[i]:
			w.failf(1<<lane, "sparsity metadata %#08x: the indices at bits %d to %d select the same element of their group twice", meta[lane], shift-2, shift+1)
			return false
		case prev > out[i] && s.ordered:
			w.failf(1<<lane, "sparsity metadata %#08x: the indices at bits %d to %d descend, which .sp::ordered_metadata excludes", meta[lane], shift-2, shift+1)
			return false
		}
	}
	return true
}

// mmaSparse multiplies the packed rows of A with the elements of B's columns that
// their indices select. The other elements do not affect the result, not even if they
// are NaN.
func mmaSparse(w *warp, in *inst, m uint32) {
	if !w.needAll(in, m) {
		return
	}
	op := in.x.any.(*mmaOp)
	t := w.tileOf()
	w.operands(op, t)
	w.takeC(op, t)
	n := op.sparse.count
	var at [sparseMax]int
	for row := range op.m {
		if !w.places(op, row, &at) {
			return
		}
		for col := range op.n {
			p := &t.c[row*op.n+col]
			switch op.class {
			case mmaFloat, mmaHalf:
				var b [sparseMax]float32
				column := t.bf[col*op.k:][:op.k]
				for i, k := range at[:n] {
					b[i] = column[k]
				}
				a := t.af[row*n:][:n]
				if op.class == mmaHalf {
					*p = uint64(num.DotF32F16(uint16(*p), a, b[:n]))
				} else {
					*p = uint64(num.DotF32(uint32(*p), a, b[:n]))
				}
			case mmaInt8:
				var b [sparseMax]int32
				column := t.bi[col*op.k:][:op.k]
				for i, k := range at[:n] {
					b[i] = column[k]
				}
				*p = uint64(uint32(num.DotInt(int32(*p), t.ai[row*n:][:n], b[:n], op.sat)))
			case mmaInt4: // an index selects two elements
				var b [2 * sparseMax]int32
				column := t.bi[col*op.k:][:op.k]
				for i, k := range at[:n] {
					b[2*i], b[2*i+1] = column[2*k], column[2*k+1]
				}
				*p = uint64(uint32(num.DotInt(int32(*p), t.ai[2*row*n:][:2*n], b[:2*n], op.sat)))
			}
		}
	}
	w.giveD(op, t)
}
