package main

import (
	"fmt"
	"strings"
)

// rows lists every instruction that is one expression per lane, with the semantics of
// the PTX manual; arithmetic that is not plain Go is in internal/exec/num.
func rows() []row {
	var rs []row
	hot := func(names, kinds, expr string) {
		rs = append(rs, row{names: names, kinds: kinds, expr: expr, hot: true})
	}
	one := func(names, kinds, expr string) { rs = append(rs, row{names: names, kinds: kinds, expr: expr}) }
	sfu := func(names, kinds, expr string) {
		rs = append(rs, row{names: names, kinds: kinds, expr: expr, unit: "isa.UnitSFU"})
	}

	// Integer arithmetic. 16-bit registers hold zero-extended values.
	hot("add.{u32,s32,b32}", "uuu", "a + b")
	hot("add.{u64,s64,b64}", "UUU", "a + b")
	one("add.{u16,s16}", "hhh", "a + b")
	one("add.sat.s32", "sss", "num.AddSatS32(a, b)")
	one("add.{u16x2,s16x2}", "uuu", "add16x2(a, b)")
	hot("sub.{u32,s32,b32}", "uuu", "a - b")
	hot("sub.{u64,s64,b64}", "UUU", "a - b")
	one("sub.{u16,s16}", "hhh", "a - b")
	one("sub.sat.s32", "sss", "num.SubSatS32(a, b)")
	hot("mul.lo.{u32,s32}", "uuu", "a * b")
	hot("mul.lo.{u64,s64}", "UUU", "a * b")
	one("mul.lo.{u16,s16}", "hhh", "a * b")
	one("mul.hi.u16", "hhh", "uint16(uint32(a) * uint32(b) >> 16)")
	one("mul.hi.s16", "HHH", "int16(int32(a) * int32(b) >> 16)")
	one("mul.hi.u32", "uuu", "num.MulHiU32(a, b)")
	one("mul.hi.s32", "sss", "num.MulHiS32(a, b)")
	one("mul.hi.u64", "UUU", "num.MulHiU64(a, b)")
	one("mul.hi.s64", "SSS", "num.MulHiS64(a, b)")
	one("mul.wide.u16", "uhh", "uint32(a) * uint32(b)")
	one("mul.wide.s16", "sHH", "int32(a) * int32(b)")
	hot("mul.wide.u32", "Uuu", "uint64(a) * uint64(b)")
	hot("mul.wide.s32", "Sss", "int64(a) * int64(b)")
	hot("mad.lo.{u32,s32}", "uuuu", "a*b + c")
	hot("mad.lo.{u64,s64}", "UUUU", "a*b + c")
	one("mad.lo.{u16,s16}", "hhhh", "a*b + c")
	one("mad.hi.u16", "hhhh", "uint16(uint32(a)*uint32(b)>>16) + c")
	one("mad.hi.s16", "HHHH", "int16(int32(a)*int32(b)>>16) + c")
	one("mad.hi.u32", "uuuu", "num.MulHiU32(a, b) + c")
	one("mad.hi.s32", "ssss", "num.MulHiS32(a, b) + c")
	one("mad.hi.sat.s32", "ssss", "num.MadHiSatS32(a, b, c)")
	one("mad.hi.u64", "UUUU", "num.MulHiU64(a, b) + c")
	one("mad.hi.s64", "SSSS", "num.MulHiS64(a, b) + c")
	one("mad.wide.u16", "uhhu", "uint32(a)*uint32(b) + c")
	one("mad.wide.s16", "sHHs", "int32(a)*int32(b) + c")
	hot("mad.wide.u32", "UuuU", "uint64(a)*uint64(b) + c")
	hot("mad.wide.s32", "SssS", "int64(a)*int64(b) + c")
	one("mul24.lo.u32", "uuu", "num.Mul24LoU(a, b)")
	one("mul24.lo.s32", "sss", "num.Mul24LoS(a, b)")
	one("mul24.hi.u32", "uuu", "num.Mul24HiU(a, b)")
	one("mul24.hi.s32", "sss", "num.Mul24HiS(a, b)")
	one("mad24.lo.u32", "uuuu", "num.Mul24LoU(a, b) + c")
	one("mad24.lo.s32", "ssss", "num.Mul24LoS(a, b) + c")
	one("mad24.hi.u32", "uuuu", "num.Mul24HiU(a, b) + c")
	one("mad24.hi.s32", "ssss", "num.Mul24HiS(a, b) + c")
	one("mad24.hi.sat.s32", "ssss", "num.Mad24HiSatS32(a, b, c)")
	one("sad.u16", "hhhh", "uint16(num.SadU64(uint64(a), uint64(b), uint64(c)))")
	one("sad.s16", "HHHH", "int16(num.SadS64(int64(a), int64(b), int64(c)))")
	one("sad.u32", "uuuu", "uint32(num.SadU64(uint64(a), uint64(b), uint64(c)))")
	one("sad.s32", "ssss", "int32(num.SadS64(int64(a), int64(b), int64(c)))")
	one("sad.u64", "UUUU", "num.SadU64(a, b, c)")
	one("sad.s64", "SSSS", "num.SadS64(a, b, c)")
	for _, op := range []string{"div", "rem"} {
		f := "num.Div"
		if op == "rem" {
			f = "num.Rem"
		}
		one(op+".u16", "hhh", f+"U16(a, b)")
		one(op+".s16", "HHH", f+"S16(a, b)")
		one(op+".u32", "uuu", f+"U32(a, b)")
		one(op+".s32", "sss", f+"S32(a, b)")
		one(op+".u64", "UUU", f+"U64(a, b)")
		one(op+".s64", "SSS", f+"S64(a, b)")
	}
	one("abs.s16", "HH", "max(a, -a)")
	one("abs.s32", "ss", "max(a, -a)")
	one("abs.s64", "SS", "max(a, -a)")
	one("neg.s16", "HH", "-a")
	one("neg.s32", "ss", "-a")
	one("neg.s64", "SS", "-a")
	for _, op := range []string{"min", "max"} {
		one(op+".u16", "hhh", op+"(a, b)")
		one(op+".s16", "HHH", op+"(a, b)")
		hot(op+".u32", "uuu", op+"(a, b)")
		hot(op+".s32", "sss", op+"(a, b)")
		one(op+".u64", "UUU", op+"(a, b)")
		one(op+".s64", "SSS", op+"(a, b)")
		one(op+".relu.s32", "sss", "max("+op+"(a, b), 0)")
		one(op+".u16x2", "uuu", op+"U16x2(a, b)")
		one(op+".s16x2", "uuu", op+"S16x2(a, b, false)")
		one(op+".relu.s16x2", "uuu", op+"S16x2(a, b, true)")
	}

	// Logic and shifts.
	for _, l := range [][2]string{{"and", "&"}, {"or", "|"}, {"xor", "^"}} {
		hot(l[0]+".b32", "uuu", "a "+l[1]+" b")
		hot(l[0]+".b64", "UUU", "a "+l[1]+" b")
		one(l[0]+".b16", "hhh", "a "+l[1]+" b")
	}
	one("not.b16", "hh", "^a")
	one("not.b32", "uu", "^a")
	one("not.b64", "UU", "^a")
	one("cnot.b16", "hh", "cnot(a)")
	one("cnot.b32", "uu", "cnot(a)")
	one("cnot.b64", "UU", "cnot(a)")
	one("shl.b16", "hhu", "num.ShlB16(a, b)")
	hot("shl.b32", "uuu", "a << b")
	hot("shl.b64", "UUu", "a << b")
	one("shr.{u16,b16}", "hhu", "num.ShrU16(a, b)")
	one("shr.s16", "HHu", "num.ShrS16(a, b)")
	hot("shr.{u32,b32}", "uuu", "a >> b")
	hot("shr.s32", "ssu", "a >> b")
	hot("shr.{u64,b64}", "UUu", "a >> b")
	hot("shr.s64", "SSu", "a >> b")
	one("shf.l.wrap.b32", "uuuu", "num.ShfL(a, b, c, false)")
	one("shf.clamp.r.b32", "uuuu", "num.ShfR(a, b, c, true)")
	one("shf.r.wrap.b32", "uuuu", "num.ShfR(a, b, c, false)")
	one("shf.clamp.l.b32", "uuuu", "num.ShfL(a, b, c, true)")

	// Bits.
	one("popc.b32", "uu", "uint32(bits.OnesCount32(a))")
	one("popc.b64", "uU", "uint32(bits.OnesCount64(a))")
	one("clz.b32", "uu", "uint32(bits.LeadingZeros32(a))")
	one("clz.b64", "uU", "uint32(bits.LeadingZeros64(a))")
	one("brev.b32", "uu", "bits.Reverse32(a)")
	one("brev.b64", "UU", "bits.Reverse64(a)")
	one("bfind.u32", "uu", "num.BfindU32(a, false)")
	one("bfind.s32", "uu", "num.BfindS32(a, false)")
	one("bfind.u64", "uU", "num.BfindU64(a, false)")
	one("bfind.s64", "uU", "num.BfindS64(a, false)")
	one("bfind.shiftamt.u32", "uu", "num.BfindU32(a, true)")
	one("bfind.shiftamt.s32", "uu", "num.BfindS32(a, true)")
	one("bfind.shiftamt.u64", "uU", "num.BfindU64(a, true)")
	one("bfind.shiftamt.s64", "uU", "num.BfindS64(a, true)")
	one("bfe.u32", "uuuu", "num.BfeU32(a, b, c)")
	one("bfe.s32", "uuuu", "num.BfeS32(a, b, c)")
	one("bfe.u64", "UUuu", "num.BfeU64(a, b, c)")
	one("bfe.s64", "UUuu", "num.BfeS64(a, b, c)")
	one("bmsk.clamp.b32", "uuu", "num.Bmsk(a, b, true)")
	one("bmsk.wrap.b32", "uuu", "num.Bmsk(a, b, false)")
	one("szext.clamp.s32", "uuu", "num.SzextS32(a, b, true)")
	one("szext.wrap.s32", "uuu", "num.SzextS32(a, b, false)")
	one("szext.clamp.u32", "uuu", "num.SzextU32(a, b, true)")
	one("szext.wrap.u32", "uuu", "num.SzextU32(a, b, false)")
	one("fns.b32", "uuus", "num.Fns(a, b, c)")
	for _, m := range [][2]string{{"", "PrmtIndex"}, {".f4e", "PrmtF4E"}, {".b4e", "PrmtB4E"}, {".rc8", "PrmtRC8"}, {".ecl", "PrmtECL"}, {".ecr", "PrmtECR"}, {".rc16", "PrmtRC16"}} {
		one("prmt"+m[0]+".b32", "uuuu", "num.Prmt(a, b, c, num."+m[1]+")")
	}
	for _, a := range []string{"u32", "s32"} {
		for _, b := range []string{"u32", "s32"} {
			one("dp4a."+a+"."+b, "uuuu", fmt.Sprintf("num.Dp4a(a, b, c, %v, %v)", a == "s32", b == "s32"))
			one("dp2a.lo."+a+"."+b, "uuuu", fmt.Sprintf("num.Dp2a(a, b, c, %v, %v, false)", a == "s32", b == "s32"))
			one("dp2a.hi."+a+"."+b, "uuuu", fmt.Sprintf("num.Dp2a(a, b, c, %v, %v, true)", a == "s32", b == "s32"))
		}
	}

	floats(one, hot)
	minMax(one)
	halves(&rs)
	approximations(sfu)
	conversions(one, hot)
	comparisons(&rs)
	return rs
}

// floats adds f32 and f64 arithmetic: rounding to nearest uses the fast functions of
// num, the other modes those on bits.
func floats(one, hot func(names, kinds, expr string)) {
	type op struct{ name, fn, args string }
	ops := []op{{"add", "Add", "a, b"}, {"sub", "Sub", "a, b"}, {"mul", "Mul", "a, b"}, {"fma", "FMA", "a, b, c"}, {"mad", "FMA", "a, b, c"}}
	z := func(ftz bool, args string) string {
		if !ftz {
			return args
		}
		out := ""
		for i, r := range args {
			if r >= 'a' && r <= 'c' {
				out += "num.FTZF32(" + string(r) + ")"
			} else {
				out += args[i : i+1]
			}
		}
		return out
	}
	zf := func(args string) string {
		out := ""
		for i, r := range args {
			if r >= 'a' && r <= 'c' {
				out += "num.FTZ32(" + string(r) + ")"
			} else {
				out += args[i : i+1]
			}
		}
		return out
	}
	wrap := func(ftz, sat bool, e string) string {
		if ftz {
			e = "num.FTZF32(" + e + ")"
		}
		if sat {
			e = "num.SatF32(" + e + ")"
		}
		return e
	}
	for _, o := range ops {
		k := "uuu"[:2] + map[bool]string{true: "uu", false: "u"}[len(o.args) > 4]
		kf := map[bool]string{true: "ffff", false: "fff"}[len(o.args) > 4]
		kd := map[bool]string{true: "FFFF", false: "FFF"}[len(o.args) > 4]
		kD := map[bool]string{true: "UUUU", false: "UUU"}[len(o.args) > 4]
		hot(o.name+".f32", kf, fmt.Sprintf("num.%s32(%s)", o.fn, o.args))
		hot(o.name+".ftz.f32", kf, fmt.Sprintf("num.FTZ32(num.%s32(%s))", o.fn, zf(o.args)))
		hot(o.name+".f64", kd, fmt.Sprintf("num.%s64(%s)", o.fn, o.args))
		for _, rnd := range []string{"rn", "rz", "rm", "rp"} {
			suffix := "." + rnd
			R := map[string]string{"rn": "num.RN", "rz": "num.RZ", "rm": "num.RM", "rp": "num.RP"}[rnd]
			if rnd == "rn" {
				suffix = ""
			} else {
				one(o.name+suffix+".f64", kD, fmt.Sprintf("num.%sF64(%s, %s)", o.fn, o.args, R))
			}
			for _, ftz := range []bool{false, true} {
				for _, sat := range []bool{false, true} {
					if rnd == "rn" && !sat {
						continue
					}
					name := o.name
					if ftz {
						name += ".ftz"
					}
					name += suffix
					if sat {
						name += ".sat"
					}
					one(name+".f32", k, wrap(ftz, sat, fmt.Sprintf("num.%sF32(%s, %s)", o.fn, z(ftz, o.args), R)))
				}
			}
		}
	}
	for _, rnd := range []string{"rn", "rz", "rm", "rp"} {
		R := map[string]string{"rn": "num.RN", "rz": "num.RZ", "rm": "num.RM", "rp": "num.RP"}[rnd]
		one("div."+rnd+".f32", "uuu", "num.DivF32(a, b, "+R+")")
		one("div.ftz."+rnd+".f32", "uuu", "num.FTZF32(num.DivF32(num.FTZF32(a), num.FTZF32(b), "+R+"))")
		old := func(op string) string { // f64 before PTX 1.4 rounds to nearest by default
			if rnd == "rn" {
				return " " + op + ".f64"
			}
			return ""
		}
		one("div."+rnd+".f64"+old("div"), "UUU", "num.DivF64(a, b, "+R+")")
		for _, o := range [][2]string{{"sqrt", "Sqrt"}, {"rcp", "Rcp"}} {
			one(o[0]+"."+rnd+".f32", "uu", "num."+o[1]+"F32(a, "+R+")")
			one(o[0]+".ftz."+rnd+".f32", "uu", "num.FTZF32(num."+o[1]+"F32(num.FTZF32(a), "+R+"))")
			one(o[0]+"."+rnd+".f64"+old(o[0]), "UU", "num."+o[1]+"F64(a, "+R+")")
		}
	}
	one("neg.f32", "uu", "num.NegF32(a)")
	one("neg.ftz.f32", "uu", "num.NegF32(num.FTZF32(a))")
	one("neg.f64", "UU", "num.NegF64(a)")
	one("abs.f32", "uu", "num.AbsF32(a)")
	one("abs.ftz.f32", "uu", "num.AbsF32(num.FTZF32(a))")
	one("abs.f64", "UU", "num.AbsF64(a)")
	one("copysign.f32", "uuu", "num.CopysignF32(a, b)")
	one("copysign.f64", "UUU", "num.CopysignF64(a, b)")
	one("min.f64", "UUU", "num.MinF64(a, b)")
	one("max.f64", "UUU", "num.MaxF64(a, b)")
	for _, o := range [][2]string{{"min", "Min"}, {"max", "Max"}} {
		hot(o[0]+".f32", "fff", "num."+o[1]+"32(a, b)")
		hot(o[0]+".ftz.f32", "fff", "num.FTZ32(num."+o[1]+"32(num.FTZ32(a), num.FTZ32(b)))")
	}
}

// approximations adds the instructions of the special function unit.
func approximations(sfu func(names, kinds, expr string)) {
	for _, o := range [][2]string{{"ex2", "Ex2"}, {"lg2", "Lg2"}, {"sin", "Sin"}, {"cos", "Cos"}, {"rcp", "Rcp"}, {"rsqrt", "Rsqrt"}, {"sqrt", "Sqrt"}} {
		sfu(o[0]+".approx.f32", "uu", "num."+o[1]+"ApproxF32(a)")
		sfu(o[0]+".approx.ftz.f32", "uu", "num.FTZF32(num."+o[1]+"ApproxF32(num.FTZF32(a)))")
	}
	// Before PTX 1.4 these were approximate and flushing without a modifier.
	for _, o := range [][2]string{{"ex2", "Ex2"}, {"lg2", "Lg2"}, {"sin", "Sin"}, {"cos", "Cos"}, {"rcp", "Rcp"}, {"rsqrt", "Rsqrt"}, {"sqrt", "Sqrt"}} {
		sfu(o[0]+".f32 "+o[0]+".ftz.f32", "uu", "num.FTZF32(num."+o[1]+"ApproxF32(num.FTZF32(a)))")
	}
	sfu("div.f32 div.ftz.f32", "uuu", "num.FTZF32(num.DivApproxF32(num.FTZF32(a), num.FTZF32(b)))")
	sfu("rsqrt.f64", "UU", "num.RsqrtApproxF64(a)")
	sfu("rsqrt.ftz.f64", "UU", "num.RsqrtApproxFTZF64(a)")
	sfu("tanh.approx.f32", "uu", "num.TanhApproxF32(a)")
	sfu("div.approx.f32", "uuu", "num.DivApproxF32(a, b)")
	sfu("div.approx.ftz.f32", "uuu", "num.FTZF32(num.DivApproxF32(num.FTZF32(a), num.FTZF32(b)))")
	sfu("div.full.f32", "uuu", "num.DivFullF32(a, b)")
	sfu("div.ftz.full.f32", "uuu", "num.FTZF32(num.DivFullF32(num.FTZF32(a), num.FTZF32(b)))")
	sfu("rcp.approx.ftz.f64", "UU", "num.RcpApproxFTZF64(a)")
	sfu("rsqrt.approx.f64", "UU", "num.RsqrtApproxF64(a)")
	sfu("rsqrt.approx.ftz.f64", "UU", "num.RsqrtApproxFTZF64(a)")
	sfu("ex2.approx.atype.f16 ex2.approx.f16", "hh", "num.Ex2ApproxF16(a)")
	sfu("ex2.approx.f16x2", "uu", "uint32(num.Ex2ApproxF16(uint16(a))) | uint32(num.Ex2ApproxF16(uint16(a>>16)))<<16")
	sfu("ex2.approx.ftz.f16", "hh", "num.FTZF16(num.Ex2ApproxF16(num.FTZF16(a)))")
	sfu("ex2.approx.ftz.f16x2", "uu", "uint32(num.FTZF16(num.Ex2ApproxF16(num.FTZF16(uint16(a))))) | uint32(num.FTZF16(num.Ex2ApproxF16(num.FTZF16(uint16(a>>16)))))<<16")
	sfu("ex2.approx.ftz.bf16", "hh", "num.Ex2ApproxBF16(a)")
	sfu("ex2.approx.ftz.bf16x2", "uu", "uint32(num.Ex2ApproxBF16(uint16(a))) | uint32(num.Ex2ApproxBF16(uint16(a>>16)))<<16")
	sfu("tanh.approx.f16", "hh", "num.TanhApproxF16(a)")
	sfu("tanh.approx.f16x2", "uu", "uint32(num.TanhApproxF16(uint16(a))) | uint32(num.TanhApproxF16(uint16(a>>16)))<<16")
	sfu("tanh.approx.bf16", "hh", "num.TanhApproxBF16(a)")
	sfu("tanh.approx.bf16x2", "uu", "uint32(num.TanhApproxBF16(uint16(a))) | uint32(num.TanhApproxBF16(uint16(a>>16)))<<16")
}

// comparisons adds the comparisons of setp, set and similar instructions. Keys are
// comparison and type: "lt.s32".
func comparisons(rs *[]row) {
	add := func(names, kinds, expr string, hot bool) {
		*rs = append(*rs, row{names: names, kinds: kinds, expr: expr, hot: hot})
	}
	ints := [][2]string{{"eq", "=="}, {"ne", "!="}, {"lt", "<"}, {"le", "<="}, {"gt", ">"}, {"ge", ">="}}
	for _, c := range ints {
		eq := c[0] == "eq" || c[0] == "ne"
		e := "a " + c[1] + " b"
		if eq {
			add(c[0]+".{u16,s16,b16}", "phh", e, false)
			add(c[0]+".{u32,s32,b32}", "puu", e, true)
			add(c[0]+".{u64,s64,b64}", "pUU", e, true)
			continue
		}
		add(c[0]+".u16", "phh", e, false)
		add(c[0]+".s16", "pHH", e, false)
		add(c[0]+".u32", "puu", e, true)
		add(c[0]+".s32", "pss", e, true)
		add(c[0]+".u64", "pUU", e, true)
		add(c[0]+".s64", "pSS", e, true)
	}
	for _, c := range [][2]string{{"lo", "<"}, {"ls", "<="}, {"hi", ">"}, {"hs", ">="}} {
		e := "a " + c[1] + " b"
		add(c[0]+".{u16,b16}", "phh", e, false)
		add(c[0]+".{u32,b32}", "puu", e, false)
		add(c[0]+".{u64,b64}", "pUU", e, false)
	}
	floats := [][2]string{
		{"eq", "a == b"}, {"ne", "a < b || a > b"}, {"lt", "a < b"}, {"le", "a <= b"}, {"gt", "a > b"}, {"ge", "a >= b"},
		{"equ", "!(a < b || a > b)"}, {"neu", "a != b"}, {"ltu", "!(a >= b)"}, {"leu", "!(a > b)"}, {"gtu", "!(a <= b)"}, {"geu", "!(a < b)"},
		{"num", "a == a && b == b"}, {"nan", "a != a || b != b"},
	}
	for _, c := range floats {
		add(c[0]+".f32", "pff", c[1], true)
		add(c[0]+".f64", "pFF", c[1], false)
		ftz := ""
		for _, r := range c[1] {
			if r == 'a' || r == 'b' {
				ftz += "num.FTZ32(" + string(r) + ")"
			} else {
				ftz += string(r)
			}
		}
		add("ftz."+c[0]+".f32", "pff", ftz, false)
	}
}

// minMax adds the forms of min.f32 and max.f32 beyond the plain ones: .NaN,
// .xorsign.abs, and three operands with .abs.
func minMax(one func(names, kinds, expr string)) {
	for _, o := range [][2]string{{"min", "Min"}, {"max", "Max"}} {
		for i := range 16 {
			ftz, nan, xor, three := i&1 != 0, i&2 != 0, i&4 != 0, i&8 != 0
			abs := xor
			if three {
				abs, xor = xor, false
			}
			if !nan && !abs && !three {
				continue
			}
			name, flags := o[0], "0"
			if nan {
				name, flags = name+".NaN", flags+"|num.PropagateNaN"
			}
			if abs {
				name += ".abs"
				if !xor {
					flags += "|num.Magnitude"
				}
			}
			if ftz {
				name += ".ftz"
			}
			if xor {
				name, flags = name+".xorsign", flags+"|num.XorSign"
			}
			z := func(x string) string {
				if ftz {
					return "num.FTZF32(" + x + ")"
				}
				return x
			}
			if three {
				// The decoder gives the three-source form its own opcode.
				one(strings.Replace(name, o[0], o[0]+"3", 1)+".f32", "uuuu", z("num."+o[1]+"3F32("+z("a")+", "+z("b")+", "+z("c")+", "+flags+")"))
			} else {
				one(name+".f32", "uuu", z("num."+o[1]+"F32("+z("a")+", "+z("b")+", "+flags+")"))
			}
		}
	}
}

// halves adds f16, bf16, their packed forms, and f32x2.
func halves(rs *[]row) {
	// both writes the rows of a scalar and of a packed type for an expression
	// over $a, $b, $c, which stand for one element.
	scalar := strings.NewReplacer("$a", "a", "$b", "b", "$c", "c")
	low := strings.NewReplacer("$a", "uint16(a)", "$b", "uint16(b)", "$c", "uint16(c)")
	high := strings.NewReplacer("$a", "uint16(a>>16)", "$b", "uint16(b>>16)", "$c", "uint16(c>>16)")
	both := func(name, t string, sources int, expr string) {
		*rs = append(*rs,
			row{names: name + "." + t, kinds: strings.Repeat("h", 1+sources), expr: scalar.Replace(expr), unit: "isa.UnitFP32"},
			row{names: name + "." + t + "x2", kinds: strings.Repeat("u", 1+sources),
				expr: "uint32(" + low.Replace(expr) + ") | uint32(" + high.Replace(expr) + ")<<16", unit: "isa.UnitFP16"})
	}
	for _, t := range []struct {
		name, fn string
		ftz      []bool
	}{{"f16", "F16", []bool{false, true}}, {"bf16", "BF16", []bool{false}}} {
		for _, ftz := range t.ftz {
			f := ""
			z := func(x string) string { return x }
			if ftz {
				f = ".ftz"
				z = func(x string) string { return "num.FTZF16(" + x + ")" }
			}
			for _, o := range [][]string{{"add", "Add", "$a", "$b"}, {"sub", "Sub", "$a", "$b"}, {"mul", "Mul", "$a", "$b"}, {"fma", "FMA", "$a", "$b", "$c"}} {
				var args []string
				for _, a := range o[2:] {
					args = append(args, z(a))
				}
				e := z("num." + o[1] + t.fn + "(" + strings.Join(args, ", ") + ")")
				both(o[0]+f, t.name, len(args), e)
				if t.name == "f16" {
					both(o[0]+f+".sat", t.name, len(args), "num.SatF16("+e+")")
				}
				if o[0] == "fma" {
					both(o[0]+f+".relu", t.name, len(args), "num.Relu"+t.fn+"("+e+")")
				}
			}
			both("neg"+f, t.name, 1, "num.Neg"+t.fn+"("+z("$a")+")")
			both("abs"+f, t.name, 1, "num.Abs"+t.fn+"("+z("$a")+")")
			for _, o := range [][2]string{{"min", "Min"}, {"max", "Max"}} {
				for i := range 4 {
					name, flags := o[0], "0"
					if i&1 != 0 {
						name, flags = name+".NaN", flags+"|num.PropagateNaN"
					}
					if i&2 != 0 {
						name, flags = name+".abs", flags+"|num.XorSign"
					}
					name += f
					if i&2 != 0 {
						name += ".xorsign"
					}
					both(name, t.name, 2, z("num."+o[1]+t.fn+"("+z("$a")+", "+z("$b")+", "+flags+")"))
				}
			}
		}
	}

	for _, o := range []struct{ op, fn string }{{"add", "Add"}, {"sub", "Sub"}, {"mul", "Mul"}, {"fma", "FMA"}} {
		kinds, args := "UUU", []string{"a", "b"}
		if o.op == "fma" {
			kinds, args = "UUUU", []string{"a", "b", "c"}
		}
		for _, rnd := range []string{"", ".rz", ".rm", ".rp"} {
			R := map[string]string{"": "num.RN", ".rz": "num.RZ", ".rm": "num.RM", ".rp": "num.RP"}[rnd]
			for _, ftz := range []bool{false, true} {
				z := func(x string) string {
					if ftz {
						return "num.FTZF32(" + x + ")"
					}
					return x
				}
				half := func(shift string) string {
					var l []string
					for _, a := range args {
						l = append(l, z("uint32("+a+shift+")"))
					}
					return z("num." + o.fn + "F32(" + strings.Join(l, ", ") + ", " + R + ")")
				}
				*rs = append(*rs, row{names: o.op + map[bool]string{true: ".ftz", false: ""}[ftz] + rnd + ".f32x2", kinds: kinds,
					expr: "uint64(" + half("") + ") | uint64(" + half(">>32") + ")<<32", unit: "isa.UnitFP32"})
			}
			// Mixed precision: f16 or bf16 factors and terms, f32 the rest.
			if o.op == "mul" {
				continue
			}
			for _, t := range []string{"f16", "bf16"} {
				w := "num." + strings.ToUpper(t) + "ToF32"
				e, k := "num."+o.fn+"F32("+w+"(a), b, "+R+")", "uhu"
				if o.op == "fma" {
					e, k = "num.FMAF32("+w+"(a), "+w+"(b), c, "+R+")", "uhhu"
				}
				*rs = append(*rs, row{names: o.op + rnd + ".f32." + t, kinds: k, expr: e, unit: "isa.UnitFP32"},
					row{names: o.op + rnd + ".sat.f32." + t, kinds: k, expr: "num.SatF32(" + e + ")", unit: "isa.UnitFP32"})
			}
		}
	}
}

// conversions adds the most common cvt, for registers as wide as their types; cvt.go
// does the others.
func conversions(one, hot func(names, kinds, expr string)) {
	hot("cvt.{u64,s64}.u32", "Uu", "uint64(a)")
	hot("cvt.{u64,s64}.s32", "Ss", "int64(a)")
	hot("cvt.{u32,s32}.{u64,s64}", "uU", "uint32(a)")
	one("cvt.{u32,s32}.{u32,s32}", "uu", "a")
	one("cvt.{u64,s64}.{u64,s64}", "UU", "a")
	one("cvt.{u32,s32}.u16", "uu", "uint32(uint16(a))")
	one("cvt.{u32,s32}.s16", "su", "int32(int16(a))")
	one("cvt.{u64,s64}.u16", "Uu", "uint64(uint16(a))")
	one("cvt.{u64,s64}.s16", "Su", "int64(int16(a))")
	one("cvt.{u32,s32}.u8", "uu", "uint32(uint8(a))")
	one("cvt.{u32,s32}.s8", "su", "int32(int8(a))")
	one("cvt.{u16,s16}.u8", "uu", "uint32(uint8(a))")
	one("cvt.{u16,s16}.s8", "Hu", "int16(int8(a))")
	one("cvt.{u16,s16}.{u32,s32,u16,s16}", "uu", "uint32(uint16(a))")
	one("cvt.{u16,s16}.{u64,s64}", "uU", "uint32(uint16(a))")
	hot("cvt.rn.f32.s32", "fs", "float32(a)")
	hot("cvt.rn.f32.u32", "fu", "float32(a)")
	one("cvt.rn.f32.s64", "fS", "float32(a)")
	one("cvt.rn.f32.u64", "fU", "float32(a)")
	one("cvt.rn.f64.s32", "Fs", "float64(a)")
	one("cvt.rn.f64.u32", "Fu", "float64(a)")
	one("cvt.rn.f64.s64", "FS", "float64(a)")
	one("cvt.rn.f64.u64", "FU", "float64(a)")
	one("cvt.rzi.s32.f32", "uu", "uint32(num.F32ToS(a, num.RZ, 32))")
	one("cvt.rzi.u32.f32", "uu", "uint32(num.F32ToU(a, num.RZ, 32))")
	one("cvt.rzi.s32.f64", "uU", "uint32(num.F64ToS(a, num.RZ, 32))")
	one("cvt.f64.f32", "Uu", "num.F32ToF64(a)")
	one("cvt.rn.f32.f64", "uU", "num.F64ToF32(a, num.RN)")
	one("cvt.f32.f16", "uh", "num.F16ToF32(a)")
	one("cvt.f32.bf16", "uh", "num.BF16ToF32(a)")
	one("cvt.rn.f16.f32", "hu", "num.F32ToF16(a, num.RN)")
	one("cvt.rn.bf16.f32", "hu", "num.F32ToBF16(a, num.RN)")
	one("cvt.rn.f16x2.f32", "uuu", "uint32(num.F32ToF16(a, num.RN))<<16 | uint32(num.F32ToF16(b, num.RN))")
	one("cvt.rn.bf16x2.f32", "uuu", "uint32(num.F32ToBF16(a, num.RN))<<16 | uint32(num.F32ToBF16(b, num.RN))")
	for _, r := range [][2]string{{"rni", "RN"}, {"rzi", "RZ"}, {"rmi", "RM"}, {"rpi", "RP"}} {
		one("cvt."+r[0]+".f32.f32", "uu", "num.RintF32(a, num."+r[1]+")")
		one("cvt."+r[0]+".f64.f64", "UU", "num.RintF64(a, num."+r[1]+")")
		if r[0] != "rzi" {
			one("cvt."+r[0]+".s32.f32", "uu", "uint32(num.F32ToS(a, num."+r[1]+", 32))")
		}
	}
	one("cvt.sat.f32.f32", "uu", "num.SatF32(a)")
	one("cvt.ftz.f64.f32", "Uu", "num.F32ToF64(num.FTZF32(a))")
	one("cvt.ftz.rn.f32.f64", "uU", "num.FTZF32(num.F64ToF32(a, num.RN))")
}
