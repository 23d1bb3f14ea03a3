package mnemonic

import (
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
)

// memory fills in width, cache operator and the space of the access.
func (i *Info) memory() {
	o := &i.Inst
	if o.Space == isa.Texture || o.Space == isa.Surface {
		o.Width = 16 // of a texel; at most
		if o.Space == isa.Surface && i.has("D") {
			o.Width = uint8(i.bytes())
		}
		o.Elem = o.Width
		return
	}
	o.Width = uint8(i.bytes())
	o.Elem = o.Width
	if i.row.dst == matrices || len(i.row.src) > 1 && i.row.src[1] == matrices {
		o.Elem = 4
	}
	for _, m := range i.Mods {
		switch m {
		case "BYPASS", "CG":
			o.Cache = isa.CacheCG
		case "EF", "CS":
			o.Cache = isa.CacheCS
		case "LU":
			o.Cache = isa.CacheLU
		case "CV":
			o.Cache = isa.CacheCV
		case "WT":
			o.Cache = isa.CacheWT
		case "CONSTANT", "CI":
			o.Cache = isa.CacheNC
		}
	}
	// Strong accesses beyond the SM go to the L2.
	if i.has("STRONG") && (i.has("GPU") || i.has("SYS") || i.has("GL")) || i.has("MMIO") {
		o.Cache = isa.CacheCG
	}
}

// bytes is the number of bytes that a lane moves: that of the size modifier, or 4 if there is
// none. The digits of LDSM.16.M88.4, of U.32 and of cache hints such as LTC128B are not
// sizes.
func (i *Info) bytes() int {
	if i.row.dst == matrices || len(i.row.src) > 1 && i.row.src[1] == matrices {
		return 4 * int(i.count(matrices, 0))
	}
	for _, m := range i.Mods {
		switch m {
		case "U8", "S8", "B8", "8":
			return 1
		case "U16", "S16", "B16", "16", "F16", "BF16":
			return 2
		case "32", "U32", "S32", "F32", "B32", "F16x2", "BF16x2", "F16X2":
			return 4
		case "64", "S64", "U64", "F64", "B64":
			return 8
		case "128", "B128":
			return 16
		case "256":
			return 32
		}
	}
	return 4
}

// count is the number of registers of a width; a register with an odd number cannot hold a
// pair.
func (i *Info) count(w width, reg uint16) uint8 {
	pair := func(is bool) uint8 {
		if is && reg&1 == 0 {
			return 2
		}
		return 1
	}
	switch w {
	case two:
		return 2
	case bySize:
		return uint8((i.bytes() + 3) / 4)
	case address:
		return pair(i.has("E") || i.has("64"))
	case wide64:
		return pair(i.has("64") || i.has("U64") || i.has("S64"))
	case mayPair:
		return pair(i.has("WIDE") || i.has("HI"))
	case product:
		return pair(i.has("WIDE"))
	case matrices:
		switch {
		case i.has("4"):
			return 4
		case i.has("2"):
			return 2
		}
		return 1
	case clock:
		return pair(!i.has("32"))
	case target, origin:
		return i.format(w == origin)
	case matA, matB, matC:
		a, b, c := i.fragments()
		switch w {
		case matA:
			return a
		case matB:
			return b
		}
		return c
	}
	return 1
}

// format is the size of a conversion's result, or of its source: F2I.S64.F64 names the result
// first, F2I.F64 only the source, F2F.F32.F64 both.
func (i *Info) format(source bool) uint8 {
	var formats []string
	for _, m := range i.Mods {
		switch m {
		case "F16", "BF16", "F32", "F64", "TF32", "U8", "S8", "U16", "S16", "U32", "S32", "U64", "S64":
			formats = append(formats, m)
		}
	}
	wide := func(f string) uint8 {
		if strings.HasSuffix(f, "64") {
			return 2
		}
		return 1
	}
	switch {
	case len(formats) >= 2 && source:
		return wide(formats[1])
	case len(formats) >= 2:
		return wide(formats[0])
	case len(formats) == 0:
		return 1
	}
	f := formats[0]
	isFloat := strings.Contains(f, "F")
	// If only one format is given, the other has 32 bits. For F2I, a float format is the
	// source's; for I2F, an integer format.
	switch i.Base {
	case "F2I":
		if isFloat != source {
			return 1
		}
	case "I2F":
		if isFloat == source {
			return 1
		}
	}
	return wide(f)
}

// shape reads the shape of a matrix instruction: .16816 is 16 by 8 by 16, .884 is 8 by 8 by
// 4, .64x128x16 is written in full.
func (i *Info) shape() {
	t := &isa.Tensor{Sparse: i.has("SP"), F32: i.has("F32")}
	for _, m := range i.Mods {
		if f := strings.Split(m, "x"); len(f) == 3 {
			var n [3]int
			ok := true
			for k := range f {
				var is bool
				n[k], is = number(f[k])
				ok = ok && is && n[k] < 1<<12
			}
			if ok {
				t.M, t.N, t.K = uint16(n[0]), uint16(n[1]), uint16(n[2])
				break
			}
		}
		for _, p := range []struct {
			prefix string
			m, n   uint16
		}{{"168", 16, 8}, {"88", 8, 8}} {
			if rest, ok := strings.CutPrefix(m, p.prefix); ok {
				if k, ok := number(rest); ok && k < 1<<12 && t.M == 0 {
					t.M, t.N, t.K = p.m, p.n, uint16(k)
				}
			}
		}
	}
	element, acc := i.elements()
	t.Elem, t.Bits = uint8(element), uint8(element)
	if i.Inst.Data == isa.DataHalf {
		t.Bits = uint8(acc)
	}
	if t.M == 0 { // without a shape: assume the most common one
		t.M, t.N, t.K = 16, 8, 16
	}
	i.Inst.Tensor = t
}

// elements returns the bits of an element of A and B, and of the accumulator.
func (i *Info) elements() (element, acc int) {
	switch i.Base {
	case "DMMA", "DGMMA":
		return 64, 64
	case "BMMA", "BGMMA":
		return 1, 32
	case "QMMA", "QGMMA":
		return 8, 32
	case "OMMA":
		return 4, 32
	case "IMMA", "IGMMA":
		if i.has("S4") || i.has("U4") {
			return 4, 32
		}
		return 8, 32
	}
	element, acc = 16, 16
	if i.has("TF32") {
		element = 32
	}
	if i.has("F32") {
		acc = 32
	}
	return element, acc
}

// fragments are the registers of A, B, and of C and D: a matrix spread over the lanes of a
// warp, or for HGMMA and similar instructions over those of four.
func (i *Info) fragments() (a, b, c uint8) {
	t := i.Inst.Tensor
	if t == nil {
		return 1, 1, 1
	}
	if i.Base == "HMMA" && t.M == 8 && t.K == 4 { // Volta's, in steps
		return 2, 2, 2
	}
	m, n, k := int(t.M), int(t.N), int(t.K)
	element, acc := i.elements()
	lanes := 1024
	if strings.Contains(i.Base, "GMMA") {
		lanes *= 4
	}
	clip := func(v int) uint8 { return uint8(min(max(v, 1), 128)) }
	ka := m * k * element / lanes
	if t.Sparse { // half of A's elements are there
		ka /= 2
	}
	return clip(ka), clip(n * k * element / lanes), clip(m * n * acc / lanes)
}

// Results returns the number of registers of a result that begins at register reg.
func (i *Info) Results(reg uint16) uint8 { return i.count(i.row.dst, reg) }

// Source returns the number of registers of the n-th register operand; reg is its number, of
// the number of registers that the instruction names. A number that no register can have
// (RZ) counts as one.
func (i *Info) Source(n, of int, reg uint16) uint8 {
	if reg >= 255 || len(i.row.src) == 0 {
		return 1
	}
	if (i.Inst.Store || i.Inst.Class == isa.ClassCopy) && i.row.unit == isa.UnitLSU && !i.has("ARRIVE") {
		// An address of uniform registers alone is not among them.
		want := 2
		if i.has("CAS") {
			want = 3
		}
		n += max(0, want-of)
	}
	w := i.row.src[min(n, len(i.row.src)-1)]
	if w == mayPair && n == 1 && of >= 3 { // the second of three is a factor
		w = one
	}
	return i.count(w, reg)
}
