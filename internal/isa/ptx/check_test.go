package ptx

import (
	"errors"
	"strings"
	"testing"
)

// checkHead declares the names that the tests below use.
const checkHead = `.version 8.6
.target sm_90
.address_size 64
.global .align 16 .b8 buf[64];
.global .texref tex;
.func (.param .b32 r) fn (.param .b32 a) { ret; }
.entry k (.param .u64 par)
{
	.reg .pred p<4>;
	.reg .b16 h<4>; .reg .u16 us<4>; .reg .f16 hf<4>;
	.reg .b32 r<9>; .reg .u32 u<4>; .reg .s32 s<4>; .reg .f32 f<9>;
	.reg .b64 rd<9>; .reg .u64 ud<4>; .reg .f64 fd<4>;
	.reg .b128 q<2>;
	.reg .v4 .f32 vf; .reg .v2 .u32 vu;
`

// checkText parses an instruction and returns the errors.
func checkText(text string) ErrorList {
	_, err := Parse("k.ptx", []byte(checkHead+"\t"+text+"\nL: ret;\n}\n"))
	var list ErrorList
	if errors.As(err, &list) {
		return list
	}
	return nil
}

// TestOperandsAccepted: what PTX allows, especially odd cases.
func TestOperandsAccepted(t *testing.T) {
	for _, text := range []string{
		"add.u32 u0, s1, r2;",         // signedness does not matter, .b32 agrees with all
		"add.s32 r0, r1, 5;",          // literal
		"add.f32 f0, r1, 0f3F800000;", // untyped register as a float
		"add.u64 rd0, rd1, buf;",      // address of a variable
		"mov.u64 rd0, buf+8;",
		"mov.u64 rd0, fn;",
		"mov.u32 r0, %tid.x;",
		"mov.u16 us0, %ctaid.x;", // as PTX 1.4 did
		"cvt.u32.u16 r0, %ntid.x;",
		"mov.u64 rd0, %clock64;",
		"mov.pred p0, 1;",
		"mov.b32 r0, {h0, h1};",
		"mov.b64 {r0, f1}, fd0;",
		"mov.b64 {_, r1}, rd0;",
		"mov.b128 q0, {rd0, rd1};",
		"ld.global.u8 r0, [rd0];", // wider destination
		"ld.global.u8 us0, [rd0+1];",
		"ld.global.f32 r0, [buf+4];",
		"ld.global.v4.f32 vf, [rd0];", // vector register
		"ld.global.v4.f32 {f0, f1, f2, f3}, [rd0];",
		"ld.global.v2.u8 {us0, us1}, [rd0];",
		"st.global.u8 [rd0], r0;",
		"st.global.v2.u32 [rd0], {r0, 7};",
		"st.global.f32 [rd0], 0f00000000;",
		"ld.global.L2::cache_hint.u32 r0, [rd0], rd1;",
		"cvt.u8.u32 r0, r1;",
		"cvt.s64.s8 rd0, r1;",
		"cvt.rn.f16.f32 h0, f1;",
		"cvt.rn.bf16.f32 h0, f1;",
		"cvt.rn.f16x2.f32 r0, f1, f2;",
		"fma.rn.f16x2 r0, u1, r2, s3;",
		"add.f16 hf0, h1, us2;",
		"setp.lt.f32 p0, f1, f2;",
		"setp.lt.and.f32 p0|p1, f1, f2, !p2;",
		"setp.eq.u32 _|p1, r1, %laneid;",
		"selp.b32 r0, f1, 3, p0;",
		"and.pred p0, p1, !p2;",
		"shl.b64 rd0, rd1, r2;",
		"shfl.sync.down.b32 f0|p0, f1, 1, 31, -1;",
		"vote.sync.ballot.b32 r0, !p0, -1;",
		"mul.wide.u32 rd0, r1, r2;",
		"mad.wide.s16 r0, h1, h2, r3;",
		"lop3.b32 r0, r1, r2, r3, 0x96;",
		"atom.global.add.f32 f0, [rd0], 0f3F800000;",
		"atom.global.cas.b32 r0, [rd0], r1, r2;",
		"bar.sync 0;",
		"bar.sync r0, 64;",
		"bar.red.popc.u32 r0, 1, !p0;",
		"bar.red.popc.u32 r0, 1, 64, p0;",
		"tex.2d.v4.f32.s32 {f0, f1, f2, f3}, [tex, {r1, r2}];",
		"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {f0,f1,f2,f3}, {r0,r1,r2,r3}, {r4,r5}, {f4,f5,f6,f7};",
		"cp.async.ca.shared.global [r0], [rd0], 8, r1;",
		"cp.async.ca.shared.global [r0], [rd0], 8, p1;",
		"vadd.s32.s32.s32.sat r0, r1.b0, r2.h1, r3;",
		"min.f32 f0, f1, f2, f3;",
		"@p0 bra L;",
		"@!p0 exit;",
		"call (par0), fn, (par0);",
	} {
		if strings.HasPrefix(text, "call") {
			text = ".param .b32 par0; " + text
		}
		if errs := checkText(text); len(errs) > 0 {
			t.Errorf("%s\n%s", text, errs[0].Detail())
		}
	}
}

// TestOperandsRefused: wrong operands and their messages.
func TestOperandsRefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"add.u32 r0, r1;", "add.u32 takes 3 operands, not 2"},
		{"add.u32 r0, r1, r2, r3;", "add.u32 takes 3 operands, not 4"},
		{"exit r0;", "exit takes no operands, not 1"},
		{"brev.b32;", "brev.b32 takes 2 operands, not 0"},
		{"ld.global.u32 r0;", "ld.global.u32 takes 2 to 3 operands, not 1"},
		{"add.u32 rd0, r1, r2;", "add.u32: rd0 is .b64, operand d needs .u32"},
		{"add.u64 rd0, rd1, r2;", "add.u64: r2 is .b32, operand b needs .u64"},
		{"add.u32 r0, f1, r2;", "add.u32: f1 is .f32, operand a needs .u32"},
		{"add.f32 f0, u1, f2;", "add.f32: u1 is .u32, operand a needs .f32"},
		{"add.f64 fd0, fd1, f2;", "add.f64: f2 is .f32, operand b needs .f64"},
		{"add.u16 us0, hf1, us2;", "add.u16: hf1 is .f16, operand a needs .u16"},
		{"add.u32 r0, r1, 1.5;", "add.u32: floating-point constant 1.5 where operand b is .u32"},
		{"add.u32 5, r1, r2;", "add.u32: operand d is a constant, expected a register"},
		{"add.u32 r0, [rd1], r2;", "add.u32: operand a is an address in brackets, expected a register"},
		{"add.u32 p0, r1, r2;", "add.u32: p0 is .pred, operand d needs .u32"},
		{"add.u32 _, r1, r2;", "add.u32: operand d is the sink _, expected a register"},
		{"mov.u32 %tid.x, r0;", "mov.u32: %tid cannot be written"},
		{"mov.u32 r0, {h0, h1};", "mov.u32: operand a is a vector of 2, expected a register"},
		{"mov.b32 r0, {h0, r1};", "mov.b32: the elements of a have 48 bits in total, the type has 32"},
		{"mov.f32 f0, buf;", "mov.f32: the address of buf does not fit operand a of type .f32"},
		{"mov.f32 f0, vf;", "mov.f32: vf is a vector of 4"},
		{"selp.b32 r0, r1, r2, r3;", "selp.b32: r3 is .b32, operand c needs a predicate"},
		{"setp.lt.u32 r0, r1, r2;", "setp.lt.u32: r0 is .b32, operand d needs a predicate"},
		{"setp.lt.f16x2 p0, r1, r2;", "setp.lt.f16x2: operand d is a register (p0), expected a pair p|q"},
		{"ld.global.u32 r0, rd1;", "ld.global.u32: operand a is a register (rd1), expected an address in brackets"},
		{"ld.global.u32 r0, [f1];", "ld.global.u32: f1 is .f32 and cannot hold an address"},
		{"ld.global.u64 r0, [rd1];", "ld.global.u64: r0 is .b32, operand d needs .u64 or wider"},
		{"ld.global.v4.u32 {r0, r1}, [rd1];", "ld.global.v4.u32: operand d is a vector of 2, expected a vector of 4"},
		{"ld.global.v2.u32 r0, [rd1];", "ld.global.v2.u32: operand d is a register (r0), expected a vector of 2"},
		{"ld.global.v4.u32 vu, [rd1];", "ld.global.v4.u32: operand d is a register (vu), expected a vector of 4"},
		{"ld.global.v2.u32 {r0, 5}, [rd1];", "ld.global.v2.u32: element of operand d is a constant, expected a register"},
		{"lop3.b32 r0, r1, r2, r3, r4;", "lop3.b32: operand lut is a register (r4), expected a constant"},
		{"shl.b64 rd0, rd1, rd2;", "shl.b64: rd2 is .b64, operand b needs .u32"},
		{"mul.wide.u32 r0, r1, r2;", "mul.wide.u32: r0 is .b32, operand d needs .u64"},
		{"neg.s32 r0, !p0;", "neg.s32: operand a cannot be negated"},
		{"and.pred !p0, p1, p2;", "and.pred: operand d cannot be negated"},
		{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {f0,f1,f2,f3}, {r0,r1}, {r4,r5}, {f4,f5,f6,f7};",
			"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32: operand a is a vector of 2, expected a vector of 4"},
		{"atom.global.add.u32 r0, [rd0], f1;", "atom.global.add.u32: f1 is .f32, operand b needs .u32"},
		{"tex.2d.v4.f32.s32 {f0, f1, f2, f3}, [rd1];", "tex.2d.v4.f32.s32: operand t is an address in brackets, expected [name, {coordinates}]"},
		{"vote.sync.all.pred p0, r1, -1;", "vote.sync.all.pred: r1 is .b32, operand a needs a predicate"},
	} {
		errs := checkText(c.text)
		if len(errs) == 0 {
			t.Errorf("%s: accepted, want %q", c.text, c.want)
			continue
		}
		if errs[0].Msg != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.text, errs[0].Msg, c.want)
		}
		if want := int32(strings.Count(checkHead, "\n") + 1); errs[0].Pos.Line != want {
			t.Errorf("%s: reported in line %d, want %d", c.text, errs[0].Pos.Line, want)
		}
	}
}
