package ptx_test

import (
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// pick turns a condition into the value of d.
const pick = "; selp.b32 d, 1, 0, p; @q or.b32 d, d, 2"

// TestOddShapes runs testp, bfi and cvt.pack.
func TestOddShapes(t *testing.T) {
	var list []lineTest
	class := func(prop string, r real, normal *big.Float) bool {
		switch prop {
		case "finite":
			return !r.nan && !r.inf
		case "infinite":
			return r.inf
		case "number":
			return !r.nan
		case "notanumber":
			return r.nan
		case "normal":
			return !r.nan && !r.inf && (r.zero() || r.x.Cmp(normal) >= 0)
		}
		return !r.nan && !r.inf && !r.zero() && r.x.Cmp(normal) < 0
	}
	for _, prop := range []string{"finite", "infinite", "number", "notanumber", "normal", "subnormal"} {
		for _, typ := range []string{"f32", "f64"} {
			f := formats[typ]
			reg := map[string]string{"f32": "a", "f64": "A"}[typ]
			normal := newBig().SetMantExp(big.NewFloat(1), f.emin)
			list = append(list, lineTest{
				text: "testp." + prop + "." + typ + " p, " + reg + "; selp.b32 d, 1, 0, p",
				want: func(a, _, _ uint64) uint64 {
					return uint64(b2i(class(prop, f.decode(a&(^uint64(0)>>(64-f.bits))), normal)))
				},
			})
		}
	}
	// Literals as sources of conversions.
	for text, want := range map[string]uint64{
		"cvt.rn.f32.s32 d, -5": 0xc0a00000, "cvt.rni.s32.f32 d, 2.5": 2, "cvt.rn.f16x2.f32 d, 1.0, 0.5": 0x3c003800,
		"cvt.sat.u8.s32 d, 300": 255, "cvt.s32.s8 d, -1": 0xffffffff, "cvt.rzi.u32.f64 d, 3.75": 3, "cvt.u32.u16 d, 65537": 1,
	} {
		list = append(list, lineTest{text: text, want: func(_, _, _ uint64) uint64 { return want }})
	}
	insert := func(a, b, pos, length uint64, width uint) uint64 {
		for i := range uint64(width) {
			if i >= pos && i < pos+length {
				b = b&^(1<<i) | (a>>(i-pos)&1)<<i
			}
		}
		return b
	}
	for _, pos := range []uint64{0, 1, 7, 31, 32, 63, 64, 255, 256} {
		list = append(list,
			lineTest{text: fmt.Sprintf("bfi.b32 d, a, b, %d, c", pos), want: func(a, b, c uint64) uint64 {
				return insert(a&0xffffffff, b&0xffffffff, pos&0xff, c&0xff, 32)
			}},
			lineTest{text: fmt.Sprintf("bfi.b64 D, A, B, c, %d", pos), wide: true, want: func(a, b, c uint64) uint64 {
				return insert(a, b, c&0xff, pos&0xff, 64)
			}})
	}
	for _, typ := range []string{"u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"} {
		width := widthOf(typ)
		text := "cvt.pack.sat." + typ + ".s32 d, a, b"
		if width < 16 {
			text = "cvt.pack.sat." + typ + ".s32.b32 d, a, b, c"
		}
		list = append(list, lineTest{text: text, want: func(a, b, c uint64) uint64 {
			s := typ[0] == 's'
			hi := wrap(clampTo(integer(a, 32, true), width, s), width)
			lo := wrap(clampTo(integer(b, 32, true), width, s), width)
			d := hi<<width | lo
			if width < 16 {
				d |= c << (2 * width)
			}
			return d & 0xffffffff
		}})
	}
	runLines(t, list)
}

// arithmeticLine is the line for an instruction of the generated table with n
// sources, in registers of the given names (ha, hb and hc hold 16 bits of a, b
// and c).
func arithmeticLine(t *testing.T, inst string, regs [3]string, n int) lineTest {
	t.Helper()
	o := parseKey(inst)
	if n == 3 && (o.name == "min" || o.name == "max") {
		o.name += "3"
	}
	ref := referenceOf(o)
	if ref == nil {
		t.Fatalf("%s has no reference", inst)
	}
	sources := func(a, b, c uint64) []uint64 {
		v := []uint64{a, b, c}[:n]
		for i := range v {
			v[i] &= ^uint64(0) >> (64 - widthOf(ref.types[i]))
		}
		return v
	}
	l := lineTest{want: func(a, b, c uint64) uint64 { return ref.want(sources(a, b, c)) }}
	if ref.check != nil {
		l.check = func(a, b, c, got uint64) error {
			v := sources(a, b, c)
			if ref.skip != nil && ref.skip(v) {
				return nil
			}
			return ref.check(v, got)
		}
	}
	width := widthOf(o.types[0])
	switch o.name {
	case "mul", "mad":
		width <<= b2i(o.has("wide"))
	case "popc", "clz", "bfind":
		width = 32
	}
	dst := "d"
	switch width {
	case 16:
		dst = "hd"
	case 64:
		dst, l.wide = "D", true
	}
	l.text = inst + " " + dst + ", " + strings.Join(regs[:n], ", ")
	if strings.Contains(strings.Join(regs[:n], " ")+dst, "h") {
		l.text = "cvt.u16.u32 ha, a; cvt.u16.u32 hb, b; cvt.u16.u32 hc, c; " + l.text
		if dst == "hd" {
			l.text += "; cvt.u32.u16 d, hd"
		}
	}
	return l
}

// TestArithmetic runs, as text, every combination of the instruction table that the generated
// table executes.
func TestArithmetic(t *testing.T) {
	inTable := map[string]bool{}
	for _, k := range xptx.OpKeys() {
		inTable[parseKey(k).name] = true
	}
	delete(inTable, "cvt")
	var list []lineTest
	for _, f := range ptx.Forms() {
		if !inTable[f.Op] {
			continue
		}
		n := strings.Count(f.Syntax[strings.Index(f.Syntax, " "):], ",")
		f.Expand(func(mods []string) bool {
			inst := f.Op + "." + strings.Join(mods, ".")
			o := parseKey(inst)
			if o.has("cc") || o.has("oob") || o.types[0] == "pred" {
				return true // elsewhere, or not executed
			}
			if n == 3 && (o.name == "min" || o.name == "max") {
				o.name += "3"
			}
			ref := referenceOf(o)
			if ref == nil {
				t.Errorf("%s has no reference", inst)
				return true
			}
			var regs [3]string
			for i := range n {
				regs[i] = map[uint]string{16: "h" + "abc"[i:i+1], 32: "abc"[i : i+1], 64: "ABC"[i : i+1]}[widthOf(ref.types[i])]
			}
			list = append(list, arithmeticLine(t, inst, regs, n))
			return true
		})
	}
	runLines(t, list)
}

// TestHalf runs half precision, mixed precision, packed f32 and three-source min and max as
// text, so that their operands are decoded too.
func TestHalf(t *testing.T) {
	var list []lineTest
	add := func(inst string, regs [3]string, n int) { list = append(list, arithmeticLine(t, inst, regs, n)) }
	h, w, d := [3]string{"ha", "hb", "hc"}, [3]string{"a", "b", "c"}, [3]string{"A", "B", "C"}
	for _, typ := range []string{"f16", "bf16", "f16x2", "bf16x2"} {
		regs := h
		if strings.HasSuffix(typ, "x2") {
			regs = w
		}
		half := strings.HasPrefix(typ, "f16")
		for _, op := range []string{"add", "sub", "mul"} {
			add(op+"."+typ, regs, 2)
			add(op+".rn."+typ, regs, 2)
			if half {
				add(op+".ftz.sat."+typ, regs, 2)
				add(op+".rn.ftz."+typ, regs, 2)
				add(op+".rn.sat."+typ, regs, 2)
			}
		}
		add("fma.rn."+typ, regs, 3)
		add("fma.rn.relu."+typ, regs, 3)
		if half {
			add("fma.rn.ftz."+typ, regs, 3)
			add("fma.rn.ftz.sat."+typ, regs, 3)
			add("fma.rn.ftz.relu."+typ, regs, 3)
		}
		for _, op := range []string{"min", "max"} {
			for _, m := range []string{"", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"} {
				add(op+m+"."+typ, regs, 2)
			}
		}
		add("neg."+typ, regs, 1)
		add("abs."+typ, regs, 1)
	}
	for _, op := range []string{"min", "max"} {
		for _, ftz := range []string{"", ".ftz"} {
			for _, nan := range []string{"", ".NaN"} {
				add(op+ftz+nan+".f32", w, 2)
				add(op+ftz+nan+".xorsign.abs.f32", w, 2)
				add(op+ftz+nan+".f32", w, 3)
				add(op+ftz+nan+".abs.f32", w, 3)
			}
		}
	}
	for _, rnd := range []string{".rn", ".rz", ".rm", ".rp"} {
		for _, op := range []string{"add", "sub", "mul", "fma"} {
			n := 2 + b2i(op == "fma")
			add(op+rnd+".f32x2", d, n)
			add(op+rnd+".ftz.f32x2", d, n)
			if op == "mul" {
				continue
			}
			for _, typ := range []string{"f16", "bf16"} {
				regs := [3]string{"ha", "b", ""}
				if op == "fma" {
					regs = [3]string{"ha", "hb", "c"}
				}
				add(op+rnd+".f32."+typ, regs, n)
				add(op+rnd+".sat.f32."+typ, regs, n)
			}
		}
	}
	// The amount of a shift is 32 bits wide, for every shifted type.
	for _, op := range []string{"shl.b16", "shr.u16", "shr.b16", "shr.s16"} {
		list = append(list, lineTest{text: "cvt.u16.u32 ha, a; " + op + " hd, ha, 65537; cvt.u32.u16 d, hd", want: func(a, _, _ uint64) uint64 {
			if op == "shr.s16" && a&0x8000 != 0 {
				return 0xffff
			}
			return 0
		}})
	}
	// A literal of a mixed instruction has the type of its operand position.
	list = append(list, lineTest{text: "add.f32.f16 d, 0.5, 0f3E800000", want: func(_, _, _ uint64) uint64 { return 0x3f400000 }})
	list = append(list, lineTest{text: "fma.rn.f32.bf16 d, 0.5, 3.0, 0.25", want: func(_, _, _ uint64) uint64 { return 0x3fe00000 }})
	runLines(t, list)
}

var cmpsOf = map[byte][]string{
	'b': {"eq", "ne"}, 's': {"eq", "ne", "lt", "le", "gt", "ge"},
	'u': {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"},
	'f': {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"},
}

// relation compares two values as type typ does.
func relation(typ string, a, b uint64, ftz bool) int {
	w := widthOf(typ)
	a, b = a&(^uint64(0)>>(64-w)), b&(^uint64(0)>>(64-w))
	if f := formats[typ]; f != nil {
		if ftz {
			a, b = f.flush(a), f.flush(b)
		}
		return compareReal(f.decode(a), f.decode(b))
	}
	return integer(a, w, signedType(typ)).Cmp(integer(b, w, signedType(typ)))
}

func combine(op string, a, b bool) bool {
	switch op {
	case ".and":
		return a && b
	case ".or":
		return a || b
	case ".xor":
		return a != b
	}
	return a
}

// TestSetp runs setp and set with every comparison, type, Boolean operator and
// both destinations.
func TestSetp(t *testing.T) {
	var list []lineTest
	boolOps := []string{"", ".and", ".or", ".xor"}
	for _, typ := range []string{"b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f16", "bf16", "f32", "f64"} {
		class := typ[0]
		if typ == "bf16" {
			class = 'f'
		}
		pre, x, y := "", "a", "b"
		switch widthOf(typ) {
		case 16:
			pre, x, y = "cvt.u16.u32 ha, a; cvt.u16.u32 hb, b; ", "ha", "hb"
		case 64:
			x, y = "A", "B"
		}
		n := 0
		for _, cmp := range cmpsOf[class] {
			for _, bop := range boolOps {
				for _, ftz := range []string{"", ".ftz"} {
					if ftz != "" && typ != "f32" && typ != "f16" {
						continue
					}
					n++
					not := []string{"", "!"}[n%2]
					third, third2 := "", func(c uint64) bool { return false }
					if bop != "" {
						third = ", " + not + "q"
						third2 = func(c uint64) bool { return (c&1 != 0) != (not != "") }
					}
					both := func(a, b, c uint64) (bool, bool) {
						h, _ := holds(cmp, relation(typ, a, b, ftz != ""))
						return combine(bop, h, third2(c)), combine(bop, !h, third2(c))
					}
					setq := pre + "and.b32 d, c, 1; setp.ne.u32 q, d, 0; "
					list = append(list, lineTest{
						text: fmt.Sprintf("%ssetp.%s%s%s.%s p|q, %s, %s%s%s", setq, cmp, bop, ftz, typ, x, y, third, pick),
						want: func(a, b, c uint64) uint64 {
							p, q := both(a, b, c)
							return uint64(b2i(p) | b2i(q)<<1)
						},
					})
					for _, dt := range []string{"u32", "s32", "f32"} {
						one := uint64(0xffffffff)
						if dt == "f32" {
							one = 0x3f800000
						}
						list = append(list, lineTest{
							text: fmt.Sprintf("%sset.%s%s%s.%s.%s d, %s, %s%s", setq, cmp, bop, ftz, dt, typ, x, y, third),
							want: func(a, b, c uint64) uint64 {
								if p, _ := both(a, b, c); p {
									return one
								}
								return 0
							},
						})
						if typ == "bf16" && dt == "s32" || typ == "f16" && dt == "s32" {
							break // f32 is not among their results
						}
					}
				}
			}
		}
	}
	for _, typ := range []string{"f16", "bf16"} {
		one := formats[typ].saturate(formats[typ].inf)
		for _, cmp := range cmpsOf['f'] {
			for _, bop := range boolOps {
				third := ""
				if bop != "" {
					third = ", q"
				}
				halves := func(a, b, c uint64) (bool, bool) {
					lo, _ := holds(cmp, relation(typ, a, b, false))
					hi, _ := holds(cmp, relation(typ, a>>16, b>>16, false))
					return combine(bop, lo, c&1 != 0), combine(bop, hi, c&1 != 0)
				}
				setq := "and.b32 d, c, 1; setp.ne.u32 q, d, 0; "
				list = append(list, lineTest{
					text: setq + "setp." + cmp + bop + "." + typ + "x2 p|q, a, b" + third + pick,
					want: func(a, b, c uint64) uint64 {
						lo, hi := halves(a, b, c)
						return uint64(b2i(lo) | b2i(hi)<<1)
					},
				})
				for _, dt := range []string{typ + "x2", "u32", "s32"} {
					v := uint64(0xffff)
					if dt == typ+"x2" {
						v = one
					}
					list = append(list, lineTest{
						text: setq + "set." + cmp + bop + "." + dt + "." + typ + "x2 d, a, b" + third,
						want: func(a, b, c uint64) uint64 {
							lo, hi := halves(a, b, c)
							return uint64(b2i(lo))*v | uint64(b2i(hi))*v<<16
						},
					})
				}
			}
		}
	}
	runLines(t, list)
}

// TestSelect runs selp, slct, lop3 and the logic of predicates.
func TestSelect(t *testing.T) {
	var list []lineTest
	const setp = "setp.lt.s32 p, c, 0; "
	for _, typ := range []string{"b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"} {
		regs := "d, a, b"
		wide := widthOf(typ) == 64
		if wide {
			regs = "D, A, B"
		}
		cut := func(v uint64) uint64 { return v & (^uint64(0) >> (64 - widthOf(typ))) }
		list = append(list,
			lineTest{wide: wide, text: setp + "selp." + typ + " " + regs + ", p", want: func(a, b, c uint64) uint64 {
				if int32(c) < 0 {
					return cut(a)
				}
				return cut(b)
			}},
			lineTest{wide: wide, text: "slct." + typ + ".s32 " + regs + ", c", want: func(a, b, c uint64) uint64 {
				if int32(c) >= 0 {
					return cut(a)
				}
				return cut(b)
			}})
		for _, ftz := range []string{"", ".ftz"} {
			list = append(list, lineTest{wide: wide, text: "slct" + ftz + "." + typ + ".f32 " + regs + ", c", want: func(a, b, c uint64) uint64 {
				if r := relation("f32", c, 0, ftz != ""); r == 0 || r == 1 {
					return cut(a)
				}
				return cut(b)
			}})
		}
	}
	rnd := rand.New(rand.NewPCG(11, 12))
	for i := range 40 {
		lut := rnd.IntN(256)
		if i < 4 {
			lut = []int{0, 255, 0xe8, 0x96}[i]
		}
		table := func(a, b, c uint64) uint64 {
			d := uint64(0)
			for k := range 32 {
				d |= uint64(lut) >> (a>>k&1<<2 | b>>k&1<<1 | c>>k&1) & 1 << k
			}
			return d
		}
		list = append(list, lineTest{text: fmt.Sprintf("lop3.b32 d, a, b, c, %d", lut), want: table})
		for _, op := range []string{"and", "or"} {
			list = append(list, lineTest{
				text: setp + fmt.Sprintf("lop3.%s.b32 d|q, a, b, c, %d, !p; selp.b32 d, 1, 0, q", op, lut),
				want: func(a, b, c uint64) uint64 {
					return uint64(b2i(combine("."+op, table(a, b, c) != 0, int32(c) >= 0)))
				}})
		}
	}
	for _, op := range []string{"and", "or", "xor"} {
		list = append(list, lineTest{
			text: "setp.lt.s32 p, a, 0; setp.lt.s32 q, b, 0; " + op + ".pred p, p, q; not.pred q, p" + pick,
			want: func(a, b, _ uint64) uint64 {
				p := combine("."+op, int32(a) < 0, int32(b) < 0)
				return uint64(b2i(p) | b2i(!p)<<1)
			}})
	}
	runLines(t, list)
}

// TestCarry chains additions, subtractions and multiplications over two words
// and compares with one of twice the width.
func TestCarry(t *testing.T) {
	var list []lineTest
	two := func(v uint64) *big.Int { return integer(v, 64, false) }
	swap := func(v uint64) uint64 { return bits.RotateLeft64(v, 32) }
	split := "mov.b64 {%s, %s}, %s; "
	halves := fmt.Sprintf(split, "a0", "a1", "A") + fmt.Sprintf(split, "b0", "b1", "B") + fmt.Sprintf(split, "c0", "c1", "C")
	decl := "{ .reg .b32 a0, a1, b0, b1, c0, c1, x0, x1, x2; .reg .b64 y0, y1; "
	for _, s := range []string{"u32", "s32"} {
		list = append(list,
			lineTest{wide: true, text: decl + halves + "add.cc." + s + " x0, a0, b0; addc." + s + " x1, a1, b1; mov.b64 D, {x0, x1}; }",
				want: func(a, b, _ uint64) uint64 { return wrap(new(big.Int).Add(two(a), two(b)), 64) }},
			lineTest{wide: true, text: decl + halves + "sub.cc." + s + " x0, a0, b0; subc." + s + " x1, a1, b1; mov.b64 D, {x0, x1}; }",
				want: func(a, b, _ uint64) uint64 { return wrap(new(big.Int).Sub(two(a), two(b)), 64) }},
			// The carry out of three words' addition.
			lineTest{text: decl + halves + "add.cc." + s + " x0, a0, b0; addc.cc." + s + " x1, a1, b1; addc." + s + " d, 0, 0; }",
				want: func(a, b, _ uint64) uint64 {
					return new(big.Int).Rsh(new(big.Int).Add(two(a), two(b)), 64).Uint64()
				}},
			lineTest{text: decl + halves + "sub.cc." + s + " x0, a0, b0; subc.cc." + s + " x1, a1, b1; subc." + s + " d, 0, 0; }",
				want: func(a, b, _ uint64) uint64 {
					return wrap(new(big.Int).Rsh(new(big.Int).Sub(two(a), two(b)), 64), 32)
				}})
	}
	// a·b + c of 64 bits, from 32-bit parts.
	list = append(list,
		lineTest{wide: true, text: decl + halves + "mad.lo.cc.u32 x0, a0, b0, c0; madc.hi.u32 x1, a0, b0, c1; mov.b64 D, {x0, x1}; }",
			want: func(a, b, c uint64) uint64 {
				p := new(big.Int).Mul(integer(a, 32, false), integer(b, 32, false))
				return wrap(p.Add(p, two(c)), 64)
			}},
		lineTest{wide: true, text: decl + halves + "mad.lo.cc.s32 x0, a0, b0, c0; madc.hi.s32 x1, a0, b0, c1; mov.b64 D, {x0, x1}; }",
			want: func(a, b, c uint64) uint64 {
				p := new(big.Int).Mul(integer(a, 32, true), integer(b, 32, true))
				return wrap(p.Add(p, two(c)), 64)
			}},
		// 128 bits, upper half.
		lineTest{wide: true, text: decl + "add.cc.u64 y0, A, B; addc.u64 D, C, C; }",
			want: func(a, b, c uint64) uint64 {
				_, carry := bits.Add64(a, b, 0)
				return c + c + carry
			}},
		lineTest{wide: true, text: decl + "sub.cc.s64 y0, A, B; subc.s64 D, C, A; }",
			want: func(a, b, c uint64) uint64 {
				_, borrow := bits.Sub64(a, b, 0)
				return c - a - borrow
			}},
		lineTest{wide: true, text: decl + "mad.lo.cc.u64 y0, A, B, C; madc.hi.u64 D, A, B, C; }",
			want: func(a, b, c uint64) uint64 {
				p := new(big.Int).Mul(two(a), two(b))
				p.Add(p, new(big.Int).Add(two(c), new(big.Int).Lsh(two(c), 64)))
				return wrap(p.Rsh(p, 64), 64)
			}},
		lineTest{wide: true, text: decl + "mad.hi.cc.s64 y0, A, B, C; madc.lo.s64 D, A, B, C; }",
			want: func(a, b, c uint64) uint64 {
				hi := new(big.Int).Rsh(new(big.Int).Mul(integer(a, 64, true), integer(b, 64, true)), 64)
				_, carry := bits.Add64(wrap(hi, 64), c, 0)
				return a*b + c + carry
			}},
		// Moves that pack and unpack.
		lineTest{wide: true, text: decl + halves + "mov.b64 D, {a1, a0}; }", want: func(a, _, _ uint64) uint64 { return swap(a) }},
		lineTest{wide: true, text: "{ .reg .b16 h<4>; mov.b64 {h0, h1, h2, h3}, A; mov.b64 D, {h3, h2, h1, h0}; }",
			want: func(a, _, _ uint64) uint64 { return a>>48 | a>>16&0xffff0000 | a<<16&0xffff00000000 | a<<48 }},
		lineTest{text: "{ .reg .b8 e<4>; mov.b32 {e0, e1, e2, e3}, a; mov.b32 d, {e3, e2, e1, e0}; }",
			want: func(a, _, _ uint64) uint64 { return uint64(bits.ReverseBytes32(uint32(a))) }},
		lineTest{wide: true, text: "{ .reg .b128 q; mov.b128 q, {A, B}; mov.b128 {_, D}, q; }", want: func(_, b, _ uint64) uint64 { return b }},
	)
	runLines(t, list)
}

// TestNoAllocations runs a loop over the instructions outside the generated table for few and
// for many iterations: the number of allocations must not depend on it.
func TestNoAllocations(t *testing.T) {
	const loop = `
mov.b32 n, %d;
L:
cvt.rn.f16.s32 ha, n; cvt.sat.u8.s32 hb, n; cvt.rni.f32.f32 b, a; cvt.rn.satfinite.e4m3x2.f32 hb, a, b;
cvt.pack.sat.s16.s32 d, n, n; cvt.s64.s16 A, ha;
vadd.s32.s32.s32.sat d, a.b0, b.h1, c; vmad.u32.u32.u32 d, a, b.b1, c; vadd4.s32.s32.s32 d, a, b, c; vset2.s32.s32.lt d, a, b, c;
setp.lt.and.s32 p|q, a, b, q; lop3.b32 d, a, b, c, 7; testp.normal.f32 p, a; bfi.b32 d, a, b, 3, n; add.f32.f16 d, ha, b; min.f32 d, a, b, c; fma.rn.relu.f16x2 d, a, b, c;
add.u32 n, n, -1;
setp.ne.u32 p, n, 0;
@p bra L;
`
	decls := ".reg .b64 A;\n.reg .b32 a, b, c, d, n;\n.reg .b16 ha, hb;\n.reg .pred p, q;"
	run := func(n int) func() {
		body := fmt.Sprintf(loop, n)
		return func() {
			runBody(t, bodyOpts{version: "8.8", target: "sm_100a"}, decls, body, nil, 8)
		}
	}
	few, many := testing.AllocsPerRun(5, run(2)), testing.AllocsPerRun(5, run(2000))
	if many > few+20 {
		t.Errorf("%.0f allocations in 2 turns, %.0f in 2000", few, many)
	}
}
