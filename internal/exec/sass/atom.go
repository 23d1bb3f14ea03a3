package sass

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: atomic operations. The lanes of a warp execute in lane order, one whole
// operation each.

func init() {
	put(decodeAtomic, sass.OpATOM, sass.OpATOMG, sass.OpATOMS, sass.OpRED, sass.OpREDG)
}

// The operations, in inst.mode.
const (
	atomAdd = iota
	atomMin
	atomMax
	atomInc
	atomDec
	atomAnd
	atomOr
	atomXor
	atomExch
	atomCAS
	atomCAST // compare and swap that returns whether it stored
	atomPopc // adds one
)

var atomOps = map[string]uint8{
	"ADD": atomAdd, "MIN": atomMin, "MAX": atomMax, "INC": atomInc, "DEC": atomDec, "AND": atomAnd, "OR": atomOr, "XOR": atomXor,
	"EXCH": atomExch, "CAS": atomCAS, "CAST": atomCAST, "POPC": atomPopc,
}

// The types of operands, in inst.lut.
const (
	atomUnsigned = iota
	atomSigned
	atomF32 // flushes subnormal numbers
	atomF16x2
	atomBF16x2
	atomF64
)

func decodeAtomic(d *dec) error {
	o := d.o
	o.mode = 255
	size := 4
	for _, m := range d.in.Mods {
		if op, ok := atomOps[m]; ok && o.mode == 255 {
			o.mode = op
			continue
		}
		switch m {
		case "S32":
			o.lut = atomSigned
		case "64":
			size = 8
		case "S64":
			o.lut, size = atomSigned, 8
		case "F32":
			o.lut = atomF32
		case "F16x2":
			o.lut = atomF16x2
		case "BF16x2":
			o.lut = atomBF16x2
		case "F64":
			o.lut, size = atomF64, 8
		case "E", "FTZ", "RN", "STRONG", "CTA", "SM", "GPU", "SYS", "MMIO", "PRIVATE", "EF", "EL", "LU", "EU", "NA", "32":
		case "SPIN", "INC": // of CAST and POPC
			if o.mode != atomCAST && o.mode != atomPopc {
				return errForm
			}
		default:
			return d.unsupported(m)
		}
	}
	switch {
	case o.mode == 255:
		return errForm
	case o.lut >= atomF32 && o.mode != atomAdd:
		return errForm
	case (o.mode == atomInc || o.mode == atomDec) && size == 8:
		return errForm
	}
	space := d.o.info.Space
	a, err := d.address(d.in.Find(sass.Addr), space)
	if err != nil {
		return err
	}
	a.size = size
	o.mem = a
	want := 1
	switch o.mode {
	case atomCAS, atomCAST:
		want = 2
	case atomPopc:
		want = 0
	}
	v := d.values()
	if len(v) != want {
		return errForm
	}
	for _, op := range v {
		if err := d.addWords(op, size/4); err != nil {
			return err
		}
	}
	if d.in.Find(sass.Rd) != nil {
		if err := d.result(size / 4); err != nil {
			return err
		}
	}
	d.predResult(0, sass.Pu)
	o.run = opAtomic
	return nil
}

// opAtomic reads, combines and writes, lane after lane. Pu reports that it was done
// (assumed: if it was not, compilers continue with a loop, for types that shared memory
// lacks).
func opAtomic(w *warp, in *inst, p *pending, m uint32) {
	a := in.mem
	if !w.check(in, a, p, m, "atomic operation") {
		return
	}
	data := p.s[a.data:]
	p.pout[0] = m
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		if a.space == isa.Generic {
			if s, _ := isa.Resolve(w.addr[i]); s == isa.Local {
				w.failAs(exec.BadAddress, in, 1<<i, "atomic operation on %d bytes at generic address %#x, which is neither global nor shared memory", a.size, w.addr[i])
				return
			}
		}
		mem := w.bytes(in, a.space, i, a.size, true)
		if mem == nil {
			return
		}
		if a.size == 4 {
			var b, c uint32
			if in.mode != atomPopc {
				b = data[0][i]
			}
			if in.mode == atomCAS || in.mode == atomCAST {
				c = data[1][i]
			}
			old := le.Uint32(mem)
			v := in.atomic32(old, b, c)
			le.PutUint32(mem, v)
			w.wrote = w.wrote || v != old
			p.d[0][i] = old
			if in.mode == atomCAST {
				p.stored(i, old == b, in.ndst == 0)
			}
			continue
		}
		var b, c uint64
		if in.mode != atomPopc {
			b = uint64(data[0][i]) | uint64(data[1][i])<<32
		}
		if in.mode == atomCAS || in.mode == atomCAST {
			c = uint64(data[2][i]) | uint64(data[3][i])<<32
		}
		old := le.Uint64(mem)
		v := in.atomic64(old, b, c)
		le.PutUint64(mem, v)
		w.wrote = w.wrote || v != old
		p.setPair(0, i, old)
		if in.mode == atomCAST {
			p.stored(i, old == b, in.ndst == 0)
		}
	}
}

// stored is the result of CAST for lane i: whether it has stored, as a number, or in Pu if the
// form has no register for it.
func (p *pending) stored(i int, yes, pred bool) {
	v := uint32(0)
	if yes {
		v = 1
	} else if pred {
		p.pout[0] &^= 1 << i
	}
	p.d[0][i], p.d[1][i] = v, 0
}

// atomic32 returns the new value for an old one.
func (in *inst) atomic32(old, b, c uint32) uint32 {
	switch in.mode {
	case atomMin:
		if in.lut == atomSigned {
			return uint32(min(int32(old), int32(b)))
		}
		return min(old, b)
	case atomMax:
		if in.lut == atomSigned {
			return uint32(max(int32(old), int32(b)))
		}
		return max(old, b)
	case atomInc:
		if old >= b {
			return 0
		}
		return old + 1
	case atomDec:
		if old == 0 || old > b {
			return b
		}
		return old - 1
	case atomPopc:
		return old + 1
	case atomAdd:
		switch in.lut {
		case atomF32:
			return num.FTZF32(num.AddF32(num.FTZF32(old), num.FTZF32(b), num.RN))
		case atomF16x2:
			return uint32(num.AddF16(uint16(old), uint16(b))) | uint32(num.AddF16(uint16(old>>16), uint16(b>>16)))<<16
		case atomBF16x2:
			return uint32(num.AddBF16(uint16(old), uint16(b))) | uint32(num.AddBF16(uint16(old>>16), uint16(b>>16)))<<16
		}
		return old + b
	}
	return uint32(in.atomicBits(uint64(old), uint64(b), uint64(c)))
}

// atomic64 is atomic32 for 64 bits.
func (in *inst) atomic64(old, b, c uint64) uint64 {
	switch in.mode {
	case atomMin:
		if in.lut == atomSigned {
			return uint64(min(int64(old), int64(b)))
		}
		return min(old, b)
	case atomMax:
		if in.lut == atomSigned {
			return uint64(max(int64(old), int64(b)))
		}
		return max(old, b)
	case atomPopc:
		return old + 1
	case atomAdd:
		if in.lut == atomF64 {
			return num.AddF64(old, b, num.RN)
		}
		return old + b
	}
	return in.atomicBits(old, b, c)
}

// atomicBits are the operations that only depend on bits.
func (in *inst) atomicBits(old, b, c uint64) uint64 {
	switch in.mode {
	case atomAnd:
		return old & b
	case atomOr:
		return old | b
	case atomXor:
		return old ^ b
	case atomExch:
		return b
	}
	if old == b { // CAS, CAST
		return c
	}
	return old
}
