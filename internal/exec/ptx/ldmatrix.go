package ptx

import (
	"errors"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: ldmatrix, stmatrix and movmatrix on 8×8 matrices of 16-bit elements. Lane
// 8j+i gives the address of row i of matrix j. Lane t holds, of each matrix, the
// elements 2(t mod 4) and 2(t mod 4)+1 of row t/4, or of column t/4 with .trans (PTX
// manual, figures of ldmatrix). ldmatrix.m8n16 loads rows of 16 elements of 6 or 4
// bits, packed in the first 12 or 8 bytes of a row, into bytes: lane t holds four
// elements of row t/4, each in the low bits of its byte. The transposing forms on
// bytes (m16n16, m16n8) are refused.

func init() {
	families["ldmatrix"] = decodeLdmatrix
	families["stmatrix"] = decodeLdmatrix
	families["movmatrix"] = decodeMovmatrix
}

// matrixOp is a decoded ldmatrix or stmatrix, kept in extra.any.
type matrixOp struct {
	refs  []ref
	trans bool
	space isa.Space
	store bool
	bits  int // of packed elements that become bytes, 0 for 8×8 of 16 bits
}

func decodeLdmatrix(d *dec, in *ptx.Inst, o *inst) error {
	packed := 0
	switch {
	case in.Has("m8n8") && in.Has("b16"):
	case in.Has("m8n16") && in.Has("b8x16") && in.Has("b6x16_p32"):
		packed = 6
	case in.Has("m8n16") && in.Has("b8x16") && in.Has("b4x16_p64"):
		packed = 4
	default:
		return errUnsupported
	}
	if len(in.Args) != 2 {
		return errors.New("takes a vector and an address")
	}
	n := 1
	switch {
	case in.Has("x2"):
		n = 2
	case in.Has("x4"):
		n = 4
	}
	op := &matrixOp{trans: in.Has("trans"), store: in.Op == "stmatrix", bits: packed}
	vec, addr := &in.Args[0], &in.Args[1]
	if op.store {
		vec, addr = addr, vec
	}
	var err error
	if op.refs, err = d.fragRegs(vec, n, false, !op.store); err != nil {
		return err
	}
	if op.space, err = d.memAddress(addr, o, spaceOf(in)); err != nil {
		return err
	}
	d.together(o)
	d.describe(op.space, 4*n, !op.store, op.store)
	o.x = &extra{any: op}
	o.run = ldmatrix
	return nil
}

func ldmatrix(w *warp, in *inst, m uint32) {
	if !w.needAll(in, m) {
		return
	}
	op := in.x.any.(*matrixOp)
	w.addresses(in, m)
	what := "read"
	if op.store {
		what = "write"
	}
	for j, r := range op.refs {
		var rows [8][]byte
		for i := range rows {
			l := 8*j + i
			if w.addr[l]&15 != 0 {
				w.misaligned(1<<l, 16, what)
				return
			}
			if op.space == isa.Generic && w.addr[l]&^(isa.WindowSize-1) != isa.SharedWindow {
				w.failf(1<<l, "generic address %#x is not in shared memory", w.addr[l])
				return
			}
			if rows[i] = w.lane(op.space, l, 16, op.store); rows[i] == nil {
				return
			}
			if op.store {
				// Each row is filled before the next span is requested.
				for c := range 8 {
					lane, hi := i*4+c/2, c&1
					if op.trans {
						lane, hi = c*4+i/2, i&1
					}
					le.PutUint16(rows[i][2*c:], uint16(w.u32(r)[lane]>>(16*hi)))
				}
			}
		}
		if op.store {
			continue
		}
		d := &w.r32[r]
		for t := range d {
			row, col := t/4, 2*(t&3)
			if op.bits != 0 {
				d[t] = unpackRow(rows[row], 4*(t&3), op.bits)
				continue
			}
			if op.trans {
				d[t] = uint32(le.Uint16(rows[col][2*row:])) | uint32(le.Uint16(rows[col+1][2*row:]))<<16
			} else {
				d[t] = le.Uint32(rows[row][2*col:])
			}
		}
	}
}

// unpackRow unpacks four elements of 4 or 6 bits, from number i on, into bytes.
func unpackRow(row []byte, i, bits int) (v uint32) {
	for e := range 4 {
		at := (i + e) * bits
		x := le.Uint16(row[at/8:]) >> (at % 8) & (1<<bits - 1)
		v |= uint32(x) << (8 * e)
	}
	return v
}

// decodeMovmatrix transposes the 8×8 matrix that the warp holds in a register.
func decodeMovmatrix(d *dec, in *ptx.Inst, o *inst) error {
	if len(in.Args) != 2 {
		return errors.New("takes two operands")
	}
	var err error
	if o.d, err = d.dst32(&in.Args[0]); err != nil {
		return err
	}
	if o.a, err = d.src32(&in.Args[1], "b32"); err != nil {
		return err
	}
	d.together(o)
	o.run = func(w *warp, in *inst, m uint32) {
		if !w.needAll(in, m) {
			return
		}
		a := *w.u32(in.a)
		d := &w.r32[in.d]
		for t := range d {
			row, col := t/4, 2*(t&3) // of the result: a[col][row] and a[col+1][row]
			get := func(r, c int) uint32 { return a[r*4+c/2] >> (16 * (c & 1)) & 0xffff }
			d[t] = get(col, row) | get(col+1, row)<<16
		}
	}
	return nil
}
