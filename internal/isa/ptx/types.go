package ptx

import "strings"

// typeInfo holds the properties of a type that the instruction table needs.
type typeInfo struct {
	bits   int  // of the whole value
	class  byte // 'u', 's', 'b', 'f', 'p' (predicate), 'o' (opaque)
	packed int  // elements of a packed type, 0 for a scalar
}

// typeInfos lists every type that PTX has: in declarations, in instructions, or in
// both.
var typeInfos = map[Type]typeInfo{
	"u8": {8, 'u', 0}, "u16": {16, 'u', 0}, "u32": {32, 'u', 0}, "u64": {64, 'u', 0},
	"s8": {8, 's', 0}, "s16": {16, 's', 0}, "s32": {32, 's', 0}, "s64": {64, 's', 0},
	"b8": {8, 'b', 0}, "b16": {16, 'b', 0}, "b32": {32, 'b', 0}, "b64": {64, 'b', 0}, "b128": {128, 'b', 0},
	"f16": {16, 'f', 0}, "f32": {32, 'f', 0}, "f64": {64, 'f', 0},
	"pred": {1, 'p', 0},

	// Integers below a byte: matrix fragments and cvt.pack.
	"b1": {1, 'b', 0}, "u2": {2, 'u', 0}, "s2": {2, 's', 0}, "u4": {4, 'u', 0}, "s4": {4, 's', 0},

	// Alternate floating-point formats.
	"bf16": {16, 'f', 0}, "tf32": {32, 'f', 0},
	"e4m3": {8, 'f', 0}, "e5m2": {8, 'f', 0}, "e2m3": {8, 'f', 0}, "e3m2": {8, 'f', 0},
	"e2m1": {4, 'f', 0}, "ue8m0": {8, 'f', 0}, "ue4m3": {8, 'f', 0}, "s2f6": {8, 'f', 0},

	// Packed types.
	"u16x2": {32, 'u', 2}, "s16x2": {32, 's', 2}, "f16x2": {32, 'f', 2}, "bf16x2": {32, 'f', 2},
	"f32x2": {64, 'f', 2}, "u8x4": {32, 'u', 4}, "s8x4": {32, 's', 4},
	"e4m3x2": {16, 'f', 2}, "e5m2x2": {16, 'f', 2}, "e2m3x2": {16, 'f', 2}, "e3m2x2": {16, 'f', 2},
	"e2m1x2": {8, 'f', 2}, "ue8m0x2": {16, 'f', 2}, "s2f6x2": {16, 'f', 2},
	"e4m3x4": {32, 'f', 4}, "e5m2x4": {32, 'f', 4}, "e2m3x4": {32, 'f', 4}, "e3m2x4": {32, 'f', 4},
	"e2m1x4": {16, 'f', 4},

	// Sources and destinations of ldmatrix with unpacking.
	"b8x16": {32, 'b', 0}, "b6x16_p32": {32, 'b', 0}, "b4x16_p64": {32, 'b', 0},

	// Opaque types.
	"texref": {0, 'o', 0}, "samplerref": {0, 'o', 0}, "surfref": {0, 'o', 0},
}

// typeSlots has the types by slot, which is different for each: to look there takes a fraction of what a map takes.
var typeSlots = func() (slots [256]struct {
	name Type
	info typeInfo
}) {
	for t, i := range typeInfos {
		s := &slots[t.slot()]
		if s.name != "" {
			panic("the types " + string(s.name) + " and " + string(t) + " have one slot: choose another factor")
		}
		s.name, s.info = t, i
	}
	return slots
}()

// slot is a hash of the name.
func (t Type) slot() uint8 {
	h := uint32(0)
	for i := range len(t) {
		h = (h ^ uint32(t[i])) * 0x76f3787 // a random factor that keeps all types apart
	}
	return uint8(h >> 24)
}

// info returns the properties of a type, none of an unknown one.
func (t Type) info() typeInfo {
	if s := &typeSlots[t.slot()]; s.name == t {
		return s.info
	}
	return typeInfo{}
}

// Known reports whether t is a type of PTX.
func (t Type) Known() bool { return t.info().class != 0 }

// Bits returns the width of a value of the type: 1 for a predicate, 0 for an
// opaque or unknown type, the whole width for a packed type.
func (t Type) Bits() int { return t.info().bits }

// Bytes returns the size of a value of the type in memory; 0 for predicates,
// opaque types and unknown ones, 1 for types below a byte.
func (t Type) Bytes() int {
	i := t.info()
	if i.class == 'p' {
		return 0
	}
	return (i.bits + 7) / 8
}

// Float reports whether the type is a floating-point type, packed ones included.
func (t Type) Float() bool { return t.info().class == 'f' }

// Signed reports whether the type is a signed integer, packed ones included.
func (t Type) Signed() bool { return t.info().class == 's' }

// Unsigned reports whether the type is an unsigned integer, packed ones included.
func (t Type) Unsigned() bool { return t.info().class == 'u' }

// Integer reports whether the type is a signed or unsigned integer. The untyped
// bits b8 … b128 are not.
func (t Type) Integer() bool { return t.Signed() || t.Unsigned() }

// Untyped reports whether the type is a bit type: b8 … b128.
func (t Type) Untyped() bool { return t.info().class == 'b' }

// Predicate reports whether the type is pred.
func (t Type) Predicate() bool { return t == "pred" }

// Opaque reports whether the type is texref, samplerref or surfref.
func (t Type) Opaque() bool { return t.info().class == 'o' }

// Packed reports whether the type packs several elements into one register.
func (t Type) Packed() bool { return t.info().packed > 0 }

// Lanes returns the number of elements of a packed type, 1 for a scalar.
func (t Type) Lanes() int { return max(1, t.info().packed) }

// Elem returns the element type of a packed type, and t itself otherwise:
// f16x2 → f16, e4m3x4 → e4m3.
func (t Type) Elem() Type {
	if !t.Packed() {
		return t
	}
	return t[:strings.LastIndexByte(string(t), 'x')]
}

// declarable reports whether variables and registers may have the type.
func (t Type) declarable() bool {
	switch t {
	case "b1", "u2", "s2", "u4", "s4", "b8x16", "b6x16_p32", "b4x16_p64":
		return false
	}
	return t.Known()
}

// isType reports whether a modifier is a type.
func isType(mod string) bool { return Type(mod).Known() }

// instTypes returns the type modifiers of an instruction in order.
func instTypes(in *Inst) []Type {
	var ts []Type
	for _, m := range in.Mods {
		if isType(m) {
			ts = append(ts, Type(m))
		}
	}
	return ts
}

// varSize returns the bytes that a variable occupies; see Var.Size.
func varSize(v *Var) int64 {
	n := int64(v.Type.Bytes())
	if v.Vec > 0 {
		n *= int64(v.Vec)
	}
	for i, d := range v.Dims {
		if d < 0 {
			if i != 0 || v.Init == nil {
				return 0
			}
			d = initLen(v)
		}
		// Sizes come from the program text: saturate instead of wrapping.
		if n > 0 && d > maxVarSize/n {
			return maxVarSize
		}
		n *= d
	}
	return n
}

// maxVarSize bounds the size of one variable, so that a product of dimensions
// cannot wrap around.
const maxVarSize = 1 << 50

// initLen returns the first dimension that the initialiser of a `[]` array
// implies. A flat list for an array of several dimensions, or for vectors, is
// counted in scalars and rounded up.
func initLen(v *Var) int64 {
	n := int64(len(v.Init.List))
	if n == 0 {
		return 0
	}
	if v.Init.List[0] != nil && v.Init.List[0].List != nil {
		return n
	}
	per := int64(max(1, v.Vec))
	for _, d := range v.Dims[1:] {
		if d <= 0 || d > maxVarSize/per {
			return 0
		}
		per *= d
	}
	return (n + per - 1) / per
}
