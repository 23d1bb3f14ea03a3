package kasm

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// This file: instructions that neither the hardware nor the datasheet has: atomics, the
// rasteriser, the texture unit, and the number of the SM. They use opcodes that both leave
// free, with the same number in both numberings. The core knows them only at level
// datasheet; at level rtl they are unknown opcodes. Numbers and encodings are our choice.

// Atomics on global memory, 0x90 to 0x97, and on shared memory, 0x98 to 0x9f: bit 3 is the
// memory, the low three bits are the Atomic.
const (
	ATOM  Op = 0x90
	ATOMS Op = 0x98
)

// Atomic is the function that an atomic applies to the word in memory.
type Atomic uint8

// The atomics. Old is the word in memory and b the value of rs2.
const (
	AtomicAdd  Atomic = iota // old + b
	AtomicMin                // the lesser of old and b, signed
	AtomicMax                // the greater, signed
	AtomicAnd                // old & b
	AtomicOr                 // old | b
	AtomicXor                // old ^ b
	AtomicExch               // b
	AtomicCas                // the value of rs3 if old equals b, else old
)

var atomicNames = [...]string{"ADD", "MIN", "MAX", "AND", "OR", "XOR", "EXCH", "CAS"}

// Atomic reports whether the operation is an atomic, and which.
func (op Op) Atomic() (a Atomic, shared, ok bool) {
	return Atomic(op & 7), op&8 != 0, op&0xf0 == ATOM
}

// The rasteriser, the texture unit, and the number of the SM.
const (
	TRI  Op = 0xa0 // sets a lane's triangle up; rd is twice its area
	RAST Op = 0xa1 // a predicate: the triangle covers a pixel
	BARY Op = 0xa2 // barycentric coordinates of a pixel
	INTP Op = 0xa3 // interpolates an attribute
	TEX  Op = 0xa4 // reads a texture
	SMID Op = 0xa5 // number of the SM that executes it
)

// Extra reports whether the operation is one of this file's.
func (op Op) Extra() bool { return op >= ATOM && op <= SMID }

// Texture holds the options of TEX in its immediate: bits 3 to 0 are the binary logarithm of
// the width, 7 to 4 that of the height, bit 8 selects bilinear filtering, bit 9 coordinates
// that clamp at the edge. The other bits are ignored.
type Texture struct {
	LogW, LogH int  // binary logarithms of the size in texels
	Bilinear   bool // otherwise the nearest texel
	Clamp      bool // otherwise the texture repeats
}

// Immediate bits of TEX.
const (
	texBilinear = 1 << 8
	texClamp    = 1 << 9
	texBits     = 1<<10 - 1
)

// TextureOf unpacks TEX's immediate.
func TextureOf(imm int32) Texture {
	return Texture{int(imm & 15), int(imm >> 4 & 15), imm&texBilinear != 0, imm&texClamp != 0}
}

// Imm packs the immediate that TextureOf unpacks.
func (t Texture) Imm() int32 {
	imm := int32(t.LogW&15 | t.LogH&15<<4)
	if t.Bilinear {
		imm |= texBilinear
	}
	if t.Clamp {
		imm |= texClamp
	}
	return imm
}

// addExtras adds the instructions of this file to the table.
func addExtras(t *[256]opInfo) {
	for a, name := range atomicNames {
		f := formAtomic
		if Atomic(a) == AtomicCas {
			f = formCas
		}
		t[ATOM+Op(a)] = opInfo{"ATOM." + name, f, -1}
		t[ATOMS+Op(a)] = opInfo{"ATOMS." + name, f, -1}
	}
	t[TRI] = opInfo{"TRI", formPlain, -1}
	t[RAST] = opInfo{"RAST", formRast, -1}
	t[BARY] = opInfo{"BARY", formPlain, -1}
	t[INTP] = opInfo{"INTP", formPlain, -1}
	t[TEX] = opInfo{"TEX", formTex, -1}
	t[SMID] = opInfo{"SMID", formPlain, -1}
}

// endings returns the possible endings of names that begin with a word and a dot.
func endings(base string) []string {
	var list []string
	for _, o := range ops {
		if rest, ok := strings.CutPrefix(o.name, base+"."); ok {
			list = append(list, rest)
		}
	}
	slices.Sort(list)
	return list
}

// texEndings reads the endings of TEX after its dot.
func (a *assembler) texEndings(i *Inst, list string, at int) bool {
	for _, e := range strings.Split(list, ".") {
		switch e {
		case "NEAREST":
			i.Imm &^= texBilinear
		case "BILINEAR":
			i.Imm |= texBilinear
		case "REPEAT":
			i.Imm &^= texClamp
		case "CLAMP":
			i.Imm |= texClamp
		default:
			a.fail(at, "the endings are .NEAREST or .BILINEAR and .REPEAT or .CLAMP", "TEX cannot have the ending .%s", strings.ToLower(e))
			return false
		}
	}
	return true
}

// bracketed reads [Rn].
func (a *assembler) bracketed(field *uint8) bool {
	if !a.accept('[') {
		a.fail(a.at, "write [R4]", "expected an address, found %s", a.found())
		return false
	}
	if !a.register(field) {
		return false
	}
	if !a.accept(']') {
		a.fail(a.at, "write [R4]", "expected ], found %s", a.found())
		return false
	}
	return true
}

// size reads a texture's width and height, such as 64x32.
func (a *assembler) size(i *Inst) bool {
	a.peek()
	before := a.at
	w, at := a.word()
	width, height, _ := strings.Cut(strings.ToLower(w), "x")
	logs := [2]int{}
	for k, s := range [...]string{width, height} {
		n, err := strconv.ParseUint(s, 10, 32)
		if !digits(s) || err != nil || bits.OnesCount64(n) != 1 || n > 1<<15 {
			a.at = before
			a.fail(at, "width and height are powers of two up to 32768, for example 64x32", "expected a texture's size, found %s", a.found())
			return false
		}
		logs[k] = bits.TrailingZeros64(n)
	}
	i.Imm |= Texture{LogW: logs[0], LogH: logs[1]}.Imm()
	return true
}

// texName is TEX with its endings other than the defaults.
func (i Inst) texName() string {
	name, t := ops[TEX].name, TextureOf(i.Imm)
	if t.Bilinear {
		name += ".BILINEAR"
	}
	if t.Clamp {
		name += ".CLAMP"
	}
	return name
}

// tex writes TEX's operands.
func (i Inst) tex(p *printer) {
	t := TextureOf(i.Imm)
	p.operand(p.register("rd", i.Rd))
	p.operand(p.register("rs1", i.Rs1))
	p.operand(p.register("rs2", i.Rs2))
	p.operand("[" + p.register("rs3", i.Rs3) + "]")
	p.operand(fmt.Sprintf("%dx%d", 1<<t.LogW, 1<<t.LogH))
	if i.Imm&^texBits != 0 {
		p.forced = append(p.forced, fmt.Sprintf("imm=%d", i.Imm))
	}
}
