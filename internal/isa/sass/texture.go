package sass

import (
	"math/bits"
	"slices"
)

// TexPart is what a register of a texture or surface instruction holds.
type TexPart uint8

const (
	TexCoord   TexPart = iota // a coordinate: x, then y, then z
	TexLayer                  // bits 15:0 the layer; 31:16 the lowest level of detail (.LC), or the offset (TXD)
	TexHandle                 // lower half of the handle of texture and sampler, or of a surface
	TexSample                 // number of the sample (.MS)
	TexLod                    // level of detail (.LL), or what is added to it (.LB)
	TexOffset                 // signed, in texels: 4 bits each for x, y and z; 8 for TLD4; with .PTP two registers
	TexCompare                // depth to compare with (.DC)
	TexGrad                   // derivatives: by x and by y of the first coordinate, then of the second
)

// Tex describes a texture or surface instruction: its shape, and what its registers hold.
type Tex struct {
	Dims   int // coordinates within a layer: 1 to 3; 3 for a cube
	Cube   bool
	Array  bool
	Mask   uint8     // of the channels that reach registers: the first two in Rd, the others in Rd2
	First  []TexPart // Ra and the registers after it
	Second []TexPart // Rb and the registers after it
	// Unsure says why the distribution over Ra and Rb is not known; empty if it is.
	Unsure string
}

// Channels is the number of registers with results.
func (t *Tex) Channels() int { return bits.OnesCount8(t.Mask) }

// texDims are the shapes of textures, and of surfaces among the modifiers.
var texDims = map[string]Tex{
	"1D": {Dims: 1}, "2D": {Dims: 2}, "3D": {Dims: 3}, "CUBE": {Dims: 3, Cube: true},
	"ARRAY_1D": {Dims: 1, Array: true}, "ARRAY_2D": {Dims: 2, Array: true}, "ARRAY_CUBE": {Dims: 3, Cube: true, Array: true},
	"1D_ARRAY": {Dims: 1, Array: true}, "2D_ARRAY": {Dims: 2, Array: true},
}

// Tex describes the instruction; ok is false if it reads no texture and accesses no surface.
//
// The order is that of Mesa's compiler for these GPUs (nak_nir_lower_tex.c). Of NVIDIA's own words,
// sm_75 to sm_86, all have even numbers where it puts two registers, and multiples of four where it
// puts three or four. With .SCR, which Mesa does not use, the same list is divided into two and two; in
// NVIDIA's words a register has an odd number only where that leaves one.
func (in *Inst) Tex() (t Tex, ok bool) {
	switch in.Op {
	case OpSULD, OpSUST:
		return in.surface()
	case OpTXQ:
		t.Mask = 15
		if t.First = []TexPart{TexLod}; in.Has("B") {
			t.First = []TexPart{TexHandle, TexLod}
		}
	case OpTEX, OpTLD, OpTLD4, OpTXD:
		for i := range in.Operands {
			if o := &in.Operands[i]; o.Kind == Word {
				t = texDims[o.Suffix]
			}
		}
		t.Mask = 15
		if in.Op == OpTXD {
			in.gradients(&t)
		} else {
			in.sampled(&t)
		}
	default:
		return t, false
	}
	if n := len(in.Operands); n > 0 && in.Operands[n-1].Kind == Imm && (in.Op == OpTXQ || in.Operands[n-2].Kind == Word) {
		t.Mask = uint8(in.Operands[n-1].Imm & 15)
	}
	return t, true
}

// Bindless reports whether the handle is in a register after the coordinates (.B; one of TLD4's
// channels has the same name).
func (in *Inst) Bindless() bool {
	n := slices.Index(in.Mods, "B")
	if in.Op == OpTLD4 && n >= 0 && !in.Has("R") && !in.Has("G") && !in.Has("A") {
		return slices.Contains(in.Mods[n+1:], "B")
	}
	return n >= 0
}

// sampled lists the parts of TEX, TLD and TLD4.
func (in *Inst) sampled(t *Tex) {
	clamp := in.Op == OpTEX && (in.Has("LC") || in.Has("LB.LC") || in.Has("LC.FDV"))
	if t.Array || clamp {
		t.First = append(t.First, TexLayer)
	}
	t.First = append(t.First, slices.Repeat([]TexPart{TexCoord}, t.Dims)...)
	add := func(there bool, p ...TexPart) {
		if there {
			t.Second = append(t.Second, p...)
		}
	}
	add(in.Bindless(), TexHandle)
	add(in.Has("MS"), TexSample)
	add(in.Has("LL") || in.Has("LB") || in.Has("LB.LC"), TexLod)
	add(in.Has("AOFFI"), TexOffset)
	add(in.Has("PTP"), TexOffset, TexOffset)
	add(in.Has("DC"), TexCompare)
	if !in.Has("SCR") {
		return
	}
	all := append(slices.Clone(t.First), t.Second...)
	n := min(2, len(all))
	switch {
	case len(all) == 2:
		n = 1
	case len(all) == 3 && in.Op == OpTLD && t.Array:
		t.Unsure = "which two of layer, coordinates and handle share a pair of registers"
	case len(all) > 4:
		t.Unsure = "where more than four operands are with .SCR"
	}
	t.First, t.Second = all[:n:n], all[n:]
}

// gradients lists the parts of TXD.
func (in *Inst) gradients(t *Tex) {
	if in.Bindless() {
		t.First = append(t.First, TexHandle)
	}
	t.First = append(t.First, slices.Repeat([]TexPart{TexCoord}, t.Dims)...)
	if t.Array || in.Has("AOFFI") || in.Has("LC") {
		t.First = append(t.First, TexLayer)
	}
	t.Second = slices.Repeat([]TexPart{TexGrad}, 2*t.Dims)
}

// surface describes SULD and SUST: coordinates, then the layer, in Ra. A handle is in Rc.
func (in *Inst) surface() (t Tex, ok bool) {
	for _, m := range in.Mods {
		if d, ok := texDims[m]; ok {
			t = d
		}
	}
	t.First = slices.Repeat([]TexPart{TexCoord}, max(1, t.Dims))
	if t.Array {
		t.First = append(t.First, TexLayer)
	}
	t.Mask = uint8(1<<in.sizeRegisters() - 1)
	if in.Has("P") {
		switch {
		case in.Has("R"):
			t.Mask = 1
		case in.Has("RG"):
			t.Mask = 3
		default:
			t.Mask = 15
		}
	}
	return t, true
}

// texRegisters evaluates the register counts of the tables for textures: td and td2, the results;
// ta and tb, the operands; tv, a surface's values.
func (in *Inst) texRegisters(spec string) int {
	t, _ := in.Tex()
	switch n := t.Channels(); spec {
	case "td":
		return min(n, 2)
	case "td2":
		return max(n-2, 0)
	case "tv":
		return n
	case "ta":
		return len(t.First)
	}
	return len(t.Second)
}

// RelocTexture and RelocSurface are the types of relocations that the loader replaces by the handle of a texture or surface reference
// (measured on a compiled kernel for sm_75).
const (
	RelocTexture = 6
	RelocSurface = 52
)

// Reference reports whether the loader puts a handle there: in a kernel's own words of constant bank 0,
// that of the texture or surface reference a.Function.
func (a *Address) Reference() (surface, ok bool) {
	return a.Type == RelocSurface, (a.Type == RelocTexture || a.Type == RelocSurface) && a.Owner != "" && a.Bank == 0
}
