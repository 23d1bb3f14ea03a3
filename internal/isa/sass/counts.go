package sass

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// count fills in the number of registers of each operand.
func (r *row) count(in *Inst) {
	at := 0
	for i := range in.Operands {
		o := &in.Operands[i]
		var f *operandField
		for ; at < len(r.operands); at++ { // operands that the text omits have no register count
			if g := &r.operands[at]; g.role == o.Role && g.matches(o.Kind) {
				f = g
				at++
				break
			}
		}
		if f == nil {
			at = 0
			continue
		}
		switch o.Kind {
		case Reg, UReg, Desc, GDesc:
			o.Count = uint8(in.registers(f.count, o.Role))
		case Mem:
			o.Count, o.UCount = in.addressRegisters(o)
		case Pred, UPred, BReg, SB:
			o.Count = 1
		case Const:
			if o.Reg != RZ {
				o.Count = 1
			}
			if o.HasU {
				o.UCount = 2
			}
		}
	}
}

// matches reports whether a field can hold an operand of the kind.
func (f *operandField) matches(k Kind) bool {
	switch f.kind {
	case fGPR:
		return k == Reg
	case fUGPR:
		return k == UReg
	case fDesc:
		return k == Desc
	case fGDesc:
		return k == GDesc
	case fPred, fPnz:
		return k == Pred
	case fUPred, fUPnz:
		return k == UPred
	case fMem:
		return k == Mem
	}
	return k != Reg && k != UReg && k != Pred && k != UPred && k != Mem && k != Desc && k != GDesc
}

// registers evaluates a register count of the tables: a number; sz, the size in the
// mnemonic; n, the number of matrices of LDSM; dst and src, the formats of a conversion; ma,
// mb, mc, fragments of a matrix instruction; gc, those of C and D of four warps together; those of textures are in texture.go.
func (in *Inst) registers(spec string, role Role) int {
	switch spec {
	case "":
		return 1
	case "sz":
		return in.sizeRegisters()
	case "n":
		switch {
		case in.Has("4"):
			return 4
		case in.Has("2"):
			return 2
		}
		return 1
	case "cs": // CS2R
		if in.Has("32") {
			return 1
		}
		return 2
	case "td", "td2", "ta", "tb", "tv":
		return in.texRegisters(spec)
	case "dst", "src":
		return in.formatRegisters(spec == "src")
	case "gc":
		return in.groupAccumulator()
	case "ma", "mb", "mc":
		a, b, c := in.fragments()
		switch spec {
		case "ma":
			return a
		case "mb":
			return b
		}
		return c
	}
	n, err := strconv.Atoi(spec)
	if err != nil {
		return 1
	}
	return n
}

// sizeRegisters is the size of a memory instruction's data in registers.
func (in *Inst) sizeRegisters() int { return max(1, in.Bytes()/4) }

// formatRegisters is the size of a conversion's result, or of its source.
func (in *Inst) formatRegisters(src bool) int {
	wide := func(names ...string) int {
		for _, m := range in.Mods {
			if slices.Contains(names, m) {
				return 2
			}
		}
		return 1
	}
	switch in.Op {
	case OpF2I:
		if src {
			return wide("F64")
		}
		return wide("S64", "U64")
	case OpI2F:
		if src {
			return wide("S64", "U64")
		}
		return wide("F64")
	case OpF2F: // result format, source format
		n := 0
		for _, m := range in.Mods {
			switch m {
			case "F16", "BF16", "F32", "F64", "TF32":
				if (n == 1) == src && m == "F64" {
					return 2
				}
				n++
			}
		}
		return 1
	}
	return wide("F64", "U64", "S64")
}

// addressRegisters is the number of general and uniform registers of an address.
func (in *Inst) addressRegisters(o *Operand) (base, uniform uint8) {
	e := in.Has("E")
	if o.Reg != RZ {
		base = 1
		if t, ok := in.Tex(); ok {
			return uint8(len(t.First)), 0
		}
		if o.Suffix != "U32" && (o.HasD || o.Suffix == "64" || e && !o.HasU && o.Role == Addr && in.Op != OpLDGSTS) {
			base = 2
		}
	}
	if o.HasU && o.UReg != URZ {
		uniform = 1
		if e && (o.Role == Addr2 || in.Op != OpLDGSTS) {
			uniform = 2
		}
	}
	return base, uniform
}

// Shape splits the shape in a matrix instruction's mnemonic into M, N and K: 16816 is 16, 8,
// 16. They are 0 if it has none.
func (in *Inst) Shape() (m, n, k int) {
	for _, mod := range in.Mods {
		for _, p := range []struct {
			prefix string
			m, n   int
		}{{"168", 16, 8}, {"8x8x", 8, 8}, {"88", 8, 8}} {
			rest, ok := strings.CutPrefix(mod, p.prefix)
			if !ok {
				continue
			}
			if k, err := strconv.Atoi(rest); err == nil {
				return p.m, p.n, k
			}
		}
	}
	return 0, 0, 0
}

// groupAccumulator is the registers of C and D of four warps together: 64 rows of N numbers, in
// 128 lanes.
func (in *Inst) groupAccumulator() int {
	for _, mod := range in.Mods {
		var n, k int
		if _, err := fmt.Sscanf(mod, "64x%dx%d", &n, &k); err == nil {
			if in.Has("F16") && (in.Op == OpHGMMA || in.Op == OpQGMMA) && !in.Has("F32") {
				return n / 4
			}
			return n / 2
		}
	}
	return 1
}

// elementBits returns the bits of an element of A and B, and of the accumulator.
func (in *Inst) elementBits() (ab, acc int) {
	switch in.Op {
	case OpDMMA:
		return 64, 64
	case OpBMMA:
		return 1, 32
	case OpQMMA:
		if in.Has("F16") {
			return 8, 16
		}
		return 8, 32
	case OpOMMA:
		return 4, 32
	case OpIMMA:
		if in.Has("S4") || in.Has("U4") {
			return 4, 32
		}
		return 8, 32
	}
	ab, acc = 16, 16
	if in.Has("TF32") {
		ab = 32
	}
	if in.Has("F32") {
		acc = 32
	}
	return ab, acc
}

// fragments are the registers of A, B and of C and D: a matrix spread over 32 lanes of 32
// bits. Volta's 884 with steps works on pairs.
func (in *Inst) fragments() (a, b, c int) {
	m, n, k := in.Shape()
	if m == 0 {
		return 1, 1, 1
	}
	if in.Op == OpHMMA && k == 4 && m == 8 {
		return 2, 2, 2
	}
	ab, acc := in.elementBits()
	a, b, c = m*k*ab/1024, n*k*ab/1024, m*n*acc/1024
	if in.Has("SP") { // half of A's elements are there
		a /= 2
	}
	return max(a, 1), max(b, 1), max(c, 1)
}
