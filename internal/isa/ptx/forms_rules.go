package ptx

import (
	"fmt"
	"strings"
)

// rules are conditions between modifiers of a row that its syntax cannot express.
// They return an error message, "" if the modifiers are valid.
var rules = map[string]func(values) string{
	"cmp":    ruleCmp,
	"cvt":    ruleCvt,
	"mem":    ruleMem,
	"sameab": ruleSameAB,
	"samecd": ruleSameCD,
}

// ruleCmp: the comparisons that exist depend on the type compared.
func ruleCmp(v values) string {
	cmp := v.vals[0]
	t := v.typ(1)
	if v.form.Op == "set" {
		t = v.typ(2)
	}
	var ok bool
	switch cmp {
	case "eq", "ne":
		ok = true
	case "lt", "le", "gt", "ge":
		ok = !t.Untyped()
	case "lo", "ls", "hi", "hs":
		ok = t.Unsigned()
	default:
		ok = t.Float()
	}
	if !ok {
		return "." + cmp + " does not compare ." + string(t)
	}
	if v.has("ftz") && t.Elem() != "f32" && t.Elem() != "f16" {
		return ".ftz needs operands of type .f32 or .f16"
	}
	return ""
}

// ruleCvt: the rounding modifiers of cvt. A conversion that can lose precision must
// have one, and others must not; a conversion to an integer (or to an integral
// value of the same float type) takes .rni and its kin.
func ruleCvt(v values) string {
	dst, src := v.typ(1), v.typ(2)
	rnd := ""
	if v.form.slots[0].opt {
		rnd = v.vals[0]
	}
	toInt := strings.HasSuffix(rnd, "i")
	if v.has("ftz") && dst != "f32" && src != "f32" {
		return ".ftz needs .f32 on one side"
	}
	switch {
	case dst.Float() && src.Float() && dst == src:
		if rnd != "" && !toInt {
			return "a conversion within ." + string(dst) + " rounds to an integer: one of .rni .rzi .rmi .rpi"
		}
	case dst.Float() && src.Float() && dst.Bits() > src.Bits():
		if rnd != "" {
			return "a widening conversion does not round"
		}
	case dst.Float():
		if rnd == "" || toInt {
			return "this conversion needs a rounding modifier: one of .rn .rz .rm .rp"
		}
	case src.Float():
		if !toInt {
			return "a conversion to an integer needs one of .rni .rzi .rmi .rpi"
		}
	default:
		if rnd != "" {
			return "a conversion between integers does not round"
		}
	}
	return ""
}

// ruleMem: a lane moves at most 32 bytes at once.
func ruleMem(v values) string {
	n := map[bool]int{v.has("v2"): 2, v.has("v4"): 4, v.has("v8"): 8}[true]
	t := v.typ(1)
	switch {
	case n > 0 && t == "b128":
		return "there are no vectors of .b128"
	case n*t.Bytes() > 32:
		return fmt.Sprintf(".v%d.%s is more than 32 bytes", n, t)
	}
	return ""
}

// ruleSameAB: A and B have the same type.
func ruleSameAB(v values) string {
	if v.typ(2) != v.typ(3) {
		return "the types of A and B differ: ." + string(v.typ(2)) + " and ." + string(v.typ(3))
	}
	return ""
}

// ruleSameCD: C and D have the same type.
func ruleSameCD(v values) string {
	if v.typ(1) != v.typ(4) {
		return "the types of D and C differ: ." + string(v.typ(1)) + " and ." + string(v.typ(4))
	}
	return ""
}

// Fragment returns the number and type of the registers that each lane holds for a
// matrix operand of wmma, mma, wgmma, ldmatrix or stmatrix. The operand is named as
// in the row: "a", "b", "c" or "d" (the stores only have "b").
func (f *Form) Fragment(in *Inst, operand string) (n int, t Type) {
	v, ok := f.match(in.Mods)
	if !ok {
		return 0, ""
	}
	return fragment(v, operand)
}

func fragment(v values, operand string) (n int, t Type) {
	switch v.form.Op {
	case "ldmatrix", "stmatrix":
		n = map[bool]int{v.has("x1"): 1, v.has("x2"): 2, v.has("x4"): 4}[true]
		if v.has("m16n16") {
			n *= 2
		}
		return n, "b32"
	case "wmma":
		return wmmaFragment(v, operand)
	case "mma":
		return mmaFragment(v, operand)
	case "wgmma": // D, 64 rows over the four warps of a warp group
		_, n, _ := v.shape()
		if t := v.typ(1); t != "f16" {
			return n / 2, t
		}
		return n / 4, "b32"
	}
	return 0, ""
}

// shape returns M, N and K of the .mMnNkK modifier.
func (v values) shape() (m, n, k int) {
	for _, s := range v.vals {
		if m, n, k, ok := ParseShape(s); ok {
			return m, n, k
		}
	}
	return 0, 0, 0
}

// ParseShape parses a shape modifier: "m16n8k16" → 16, 8, 16. The K part may be
// missing ("m8n8" → 8, 8, 0).
func ParseShape(mod string) (m, n, k int, ok bool) {
	dims := [3]int{}
	rest := mod
	for i, c := range "mnk" {
		if rest == "" && i == 2 {
			break
		}
		if rest == "" || rest[0] != byte(c) {
			return 0, 0, 0, false
		}
		j := 1
		for j < len(rest) && j < 5 && rest[j] >= '0' && rest[j] <= '9' {
			dims[i] = dims[i]*10 + int(rest[j]-'0')
			j++
		}
		if j == 1 {
			return 0, 0, 0, false
		}
		rest = rest[j:]
	}
	return dims[0], dims[1], dims[2], rest == ""
}

// spread returns the registers per lane if a matrix of count elements of type t is
// spread over a warp without repetition.
func spread(count int, t Type) (int, Type) {
	switch t {
	case "f32", "s32", "f64":
		return count / 32, t
	case "tf32":
		return count / 32, "b32"
	}
	return max(1, count*t.Bits()/32/32), "b32"
}

func wmmaFragment(v values, operand string) (int, Type) {
	m, n, k := v.shape()
	role, t := operand, Type("")
	switch {
	case v.has("load"):
		t = v.typ(1)
		for _, r := range []string{"a", "b", "c"} {
			if v.has(r) {
				role = r
			}
		}
	case v.has("store"):
		role, t = "d", v.typ(1)
	case v.typ(3) == "": // .dtype.ctype: A and B are f16
		t = map[string]Type{"a": "f16", "b": "f16", "c": v.typ(2), "d": v.typ(1)}[role]
	default:
		t = map[string]Type{"d": v.typ(1), "a": v.typ(2), "b": v.typ(3), "c": v.typ(4)}[role]
	}
	switch {
	case (role == "a" || role == "b") && t == "f16":
		return 8, "b32" // each element is held twice
	case role == "a":
		return spread(m*k, t)
	case role == "b":
		return spread(k*n, t)
	}
	return spread(m*n, t)
}

func mmaFragment(v values, operand string) (int, Type) {
	m, n, k := v.shape()
	t := map[string]Type{"d": v.typ(1), "a": v.typ(2), "b": v.typ(3), "c": v.typ(4)}[operand]
	copies := 1
	if m == 8 && n == 8 && k == 4 && v.typ(2) == "f16" {
		copies = 4 // four quad pairs, each with its own matrices
	}
	switch operand {
	case "a":
		count := m * k * copies
		if v.has("sp") || v.has("sp::ordered_metadata") {
			count /= 2
		}
		return fragmentOf(v, count, t)
	case "b":
		return fragmentOf(v, k*n*copies, t)
	}
	return spread(m*n*copies, t)
}

// fragmentOf is spread for A and B: with .kind::f8f6f4 and .kind::mxf8f6f4 every
// element takes a byte, whatever its format.
func fragmentOf(v values, count int, t Type) (int, Type) {
	if v.has("kind::f8f6f4") || v.has("kind::mxf8f6f4") {
		t = "b8"
	}
	return spread(count, t)
}
