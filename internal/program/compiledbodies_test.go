package program_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/program"
)

// bodyFrame is a kernel around a body: threads read three words, and write 32 bytes.
const bodyFrame = `.version 7.8
.target sm_86
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
 .reg .b64 %%in, %%out, %%at, %%d<20>; .reg .b32 %%i, %%r<40>; .reg .b16 %%h<20>; .reg .pred %%p<20>; .reg .f32 %%f<20>; .reg .f64 %%e<20>;
 .shared .align 16 .b8 room[1024];
 ld.param.u64 %%in, [in]; ld.param.u64 %%out, [out]; mov.u32 %%i, %%tid.x; mul.wide.u32 %%at, %%i, 24; add.s64 %%in, %%in, %%at;
 mul.wide.u32 %%at, %%i, 32; add.s64 %%out, %%out, %%at;
 ld.global.u32 %%r0,[%%in]; ld.global.u32 %%r1,[%%in+4]; ld.global.u32 %%r2,[%%in+8]; ld.global.u64 %%d0,[%%in]; ld.global.u64 %%d1,[%%in+8];
 and.b32 %%r9, %%r1, 1; setp.eq.u32 %%p0, %%r9, 1;
 %s
 ret; }
`

// bodyRun runs a body in a block of 64 threads. refused says why it was not compiled, if so.
func bodyRun(t *testing.T, code program.Code, body string, input []byte) (out []byte, refused string, err error) {
	t.Helper()
	return textRun(t, code, fmt.Sprintf(bodyFrame, body), input)
}

// textRun is bodyRun for a kernel k with the same parameters.
func textRun(t *testing.T, code program.Code, text string, input []byte) (out []byte, refused string, err error) {
	t.Helper()
	c := program.Choice{Code: code, SM: *forSM, Refused: func(err error) { refused = err.Error() }}
	p, err := c.Load(program.Source{Name: "body.ptx", Text: []byte(text)})
	if err != nil {
		return nil, "", err
	}
	mem := device.New(device.Config{})
	m, err := program.NewMachine(p, mem)
	if err != nil {
		return nil, refused, err
	}
	in, err := mem.Alloc(uint64(len(input)), "in")
	if err != nil {
		t.Fatal(err)
	}
	if err := mem.Write(in, input); err != nil {
		t.Fatal(err)
	}
	at, err := mem.Alloc(64*32, "out")
	if err != nil {
		t.Fatal(err)
	}
	k, ok := p.Kernel("k")
	if !ok {
		return nil, refused, fmt.Errorf("no kernel")
	}
	params := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, in), at)
	if _, err := m.Run(t.Context(), exec.Launch{Kernel: k, Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 64, Y: 1, Z: 1}, Params: params}, exec.Options{MaxInsts: 1 << 22}); err != nil {
		return nil, refused, err
	}
	out = make([]byte, 64*32)
	return out, refused, mem.Read(at, out)
}

// sinceAmpere are bodies with instructions that sm_75 does not have.
var sinceAmpere = []string{"bfloat16 of binary32", "pairs of halves without negative numbers", "two numbers rounded to halves"}

// TestCompiledBodies: compiled code gives what PTX gives, or says that it is not compiled.
func TestCompiledBodies(t *testing.T) {
	input := rowInput()
	for _, c := range []struct {
		name, body string
		refused    bool
	}{
		{"a loop to which nothing leads", "bra Z; H: add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 9; @%p1 bra H; Z: st.global.u32 [%out], %r2;", false},
		{"results of redux in registers of the same numbers", "redux.sync.min.u32 %r3,%r0,-1; redux.sync.and.b32 %r4,%r0,-1; redux.sync.or.b32 %r5,%r0,-1; redux.sync.add.u32 %r6,%r0,-1; redux.sync.min.s32 %r7,%r0,-1; redux.sync.xor.b32 %r8,%r0,-1; st.global.v4.u32 [%out],{%r3,%r4,%r5,%r6}; st.global.v2.u32 [%out+16],{%r7,%r8};", false},
		{"ldmatrix before and after a store", "mov.u32 %r3, room; shl.b32 %r4, %i, 2; add.u32 %r4, %r3, %r4; st.shared.u32 [%r4], %r0; bar.sync 0; and.b32 %r5, %i, 7; shl.b32 %r5, %r5, 4; add.u32 %r5, %r3, %r5; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r5]; bar.sync 0; st.shared.u32 [%r4], %r1; bar.sync 0; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%r5]; st.global.v2.u32 [%out], {%r6, %r7};", false},
		{"ldmatrix of a generic address", "mov.u32 %r3, room; shl.b32 %r4, %i, 2; add.u32 %r4, %r3, %r4; st.shared.u32 [%r4], %r0; bar.sync 0; and.b32 %r5, %i, 7; shl.b32 %r5, %r5, 4; add.u32 %r5, %r3, %r5; cvt.u64.u32 %d3, %r5; cvta.shared.u64 %d3, %d3; ldmatrix.sync.aligned.m8n8.x2.trans.b16 {%r6, %r7}, [%d3+128]; st.global.v2.u32 [%out], {%r6, %r7};", false},
		{"movmatrix", "movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r0; movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r3; st.global.v2.u32 [%out], {%r3, %r4};", false},
		{"fields of 64 bits", "bfi.b64 %d3, %d0, %d1, %r2, %r0; bfi.b64 %d4, %d0, %d1, 24, 17; bfi.b64 %d5, %d0, %d1, 0, 64; and.b32 %r3, %r2, 31; and.b32 %r4, %r1, 63; bfi.b64 %d6, %d0, %d1, %r4, %r3; st.global.v2.u64 [%out], {%d3, %d4}; st.global.v2.u64 [%out+16], {%d5, %d6};", false},
		{"fields of 32 bits", "bfi.b32 %r3, %r0, %r1, %r2, %r0; bfi.b32 %r4, %r0, %r1, 24, 17; bfi.b32 %r5, %r0, %r1, 7, 9; bfi.b32 %r6, %r0, %r1, 32, 3; st.global.v4.u32 [%out], {%r3, %r4, %r5, %r6};", false},
		{"bfloat16 of binary32", "mov.b32 %f0, %r0; cvt.rn.bf16.f32 %h0, %f0; cvt.rz.bf16.f32 %h1, %f0; mov.f32 %f1, 0f7F800001; cvt.rn.bf16.f32 %h2, %f1; st.global.v4.u16 [%out], {%h0, %h1, %h2, %h2};", false},
		{"saturated after rounding", "mov.f32 %f0, 0f3F333333; cvt.rzi.sat.f32.f32 %f1, %f0; cvt.rni.sat.f32.f32 %f2, %f0; mov.b32 %f3, %r0; cvt.rpi.ftz.sat.f32.f32 %f4, %f3; cvt.rmi.sat.f32.f32 %f5, %f3; cvt.sat.f32.f32 %f6, %f3; st.global.v4.f32 [%out], {%f1, %f2, %f4, %f5}; st.global.f32 [%out+16], %f6;", false},
		{"a float to a wider register", "mov.b32 %f0, %r0; cvt.rn.f16.f32 %r3, %f0; st.global.u32 [%out], %r3;", true},
		{"bfloat16 without subnormals", "mov.b32 %f0, %r0; cvt.rn.ftz.bf16.f32 %h0, %f0; st.global.u16 [%out], %h0;", true},
		{"a fragment far away", "ld.param.u64 %d3, [in]; sub.s64 %d3, %d3, 8388592; wmma.load.c.sync.aligned.m16n16k16.row.global.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, [%d3+8388592]; st.global.v2.f32 [%out], {%f0, %f7};", false},
		{"integers of bfloat16", "mov.b32 {%h0, %h1}, %r0; cvt.rni.s32.bf16 %r3, %h0; st.global.u32 [%out], %r3;", true},
		{"halves put together and taken out", "mov.b32 {%h0, %h1}, %r0; mov.b32 {%h2, %h3}, %r1; mov.b32 %r3, {%h1, %h2}; mov.b32 %r4, {%h3, %h3}; fma.rn.f16x2 %r5, %r3, %r4, %r2; add.f16 %h4, %h1, %h3; mov.b32 {%h5, %h6}, %r3; mul.f16 %h7, %h5, %h6; mov.b32 %r6, {%h4, %h7}; mov.b32 %r7, {%h6, %h5}; add.f16x2 %r8, %r4, %r7; st.global.v4.u32 [%out], {%r5, %r6, %r7, %r8}; st.global.u16 [%out+16], %h6; st.global.u16 [%out+18], %h5;", false},
		{"bytes of bytes", "prmt.b32 %r3, %r0, %r1, 0x5410; prmt.b32 %r4, %r3, %r2, 0x9173; prmt.b32 %r5, %r4, 0, 0x4381; shr.u32 %r6, %r0, 16; and.b32 %r7, %r6, 0xff; prmt.b32 %r7, %r7, %r6, 0x0415; shr.u32 %r8, %r4, 24; prmt.b32 %r8, %r8, %r5, 0x8c91; st.global.v4.u32 [%out], {%r4, %r5, %r7, %r8}; prmt.b32 %r10, %r1, 0, 0xba98; prmt.b32 %r11, %r10, 0, 0xfb76; prmt.b32 %r12, %r3, %r3, 0x7654; st.global.v4.u32 [%out+16], {%r10, %r11, %r12, %r3};", false},
		{"two numbers rounded to halves", "mov.b32 %f0, %r0; mov.b32 %f1, %r1; cvt.rn.f16.f32 %h0, %f0; cvt.rn.f16.f32 %h1, %f1; mov.b32 %r3, {%h0, %h1}; cvt.rn.bf16.f32 %h2, %f1; cvt.rn.bf16.f32 %h3, %f0; mov.b32 %r4, {%h2, %h3}; cvt.rz.f16.f32 %h4, %f0; mov.b32 %r5, {%h0, %h4}; st.global.v2.u32 [%out], {%r3, %r4}; st.global.u32 [%out+8], %r5;", false},
		{"sums of shifted values", "shl.b32 %r3, %r0, 5; add.s32 %r4, %r3, %r1; shr.u32 %r5, %r1, 29; add.s32 %r6, %r5, %r2; shl.b64 %d3, %d0, 3; add.s64 %d4, %d3, %d1; cvt.s64.s32 %d5, %r2; shl.b64 %d5, %d5, 31; add.s64 %d5, %d1, %d5; cvt.u64.u32 %d6, %r1; shl.b64 %d6, %d6, 7; add.s64 %d6, %d6, %d0; shl.b64 %d7, %d0, 33; add.s64 %d7, %d7, %d1; sub.s32 %r7, %r1, %r5; xor.b64 %d5, %d5, %d7; st.global.v2.u64 [%out], {%d4, %d5}; st.global.u64 [%out+16], %d6; xor.b32 %r6, %r6, %r7; st.global.v2.u32 [%out+24], {%r4, %r6};", false},
		{"logic of three operands", "and.b32 %r3, %r0, 0xf0f0f0f0; or.b32 %r4, %r3, %r1; xor.b32 %r5, %r4, %r2; or.b32 %r6, %r1, %r2; and.b32 %r7, %r0, %r6; not.b32 %r8, %r7; xor.b32 %r10, %r2, 0x12345678; and.b32 %r11, %r0, %r10; lop3.b32 %r12, %r0, %r1, %r2, 0x4d; lop3.b32 %r13, %r12, %r1, %r0, 0xb1; and.b32 %r14, %r2, 0xff; xor.b32 %r15, %r14, 0xff00; lop3.b32 %r16, %r1, %r15, %r15, 0x6a; st.global.v4.u32 [%out], {%r5, %r8, %r11, %r13}; st.global.u32 [%out+16], %r16;", false},
		{"logic with numbers", "mov.u32 %r3, 0; mov.u32 %r4, -1; or.b32 %r5, %r0, %r3; and.b32 %r6, %r4, %r1; xor.b32 %r7, %r3, %r2; and.b32 %r8, %r0, %r3; or.b32 %r10, %r1, %r4; xor.b32 %r11, %r4, %r2; xor.b32 %r12, %r4, 0x55; shl.b32 %r13, %r12, 4; shr.s32 %r14, %r12, 3; shr.u32 %r15, %r12, 7; shl.b32 %r16, %r0, 0; add.u32 %r13, %r13, %r15; xor.b32 %r14, %r14, %r16; st.global.v4.u32 [%out], {%r5, %r6, %r7, %r8}; st.global.v4.u32 [%out+16], {%r10, %r11, %r13, %r14};", false},
		{"sums of three terms", "add.s32 %r3, %r0, %r1; sub.s32 %r4, %r2, %r3; sub.s32 %r5, %r0, %r1; sub.s32 %r6, %r5, %r2; add.s32 %r7, %r1, 77; add.s32 %r8, %r2, %r7; sub.s32 %r10, 5, %r0; sub.s32 %r11, %r1, %r10; add.s32 %r12, %r0, 9; add.s32 %r13, %r12, -20; neg.s32 %r14, %r2; sub.s32 %r15, %r14, 3; add.s32 %r15, %r15, %r1; add.s32 %r16, %r2, %r2; add.s32 %r17, %r16, %r2; st.global.v4.u32 [%out], {%r4, %r6, %r8, %r11}; st.global.v4.u32 [%out+16], {%r13, %r15, %r17, %r17};", false},
		{"offsets in addresses", "mov.u32 %r3, room; shl.b32 %r4, %i, 4; add.u32 %r3, %r3, %r4; add.u32 %r5, %r3, -16; add.u32 %r6, %r5, 20; st.shared.u32 [%r6], %r0; st.shared.u32 [%r5+16], %r1; xor.b32 %r7, %r6, 12; st.shared.u32 [%r7], %r2; add.s64 %d3, %out, 16; add.s64 %d4, %in, 0x100000000; add.s64 %d4, %d4, -4; sub.s64 %d5, %d4, 0xfffffffc; ld.global.u32 %r8, [%d5+4]; add.s64 %d6, %in, -8; ld.global.u32 %r10, [%d6+12]; ld.shared.v2.u32 {%r11, %r12}, [%r6+-4]; st.global.v4.u32 [%d3], {%r8, %r10, %r11, %r12}; st.global.v2.u32 [%d3+-16], {%r1, %r0};", false},
		{"joined comparisons", "mov.b32 %f0, %r0; mov.b32 %f1, %r1; setp.lt.s32 %p1, %r0, %r1; setp.ge.u32 %p2, %r1, %r2; or.pred %p3, %p1, %p2; setp.gtu.f32 %p4, %f0, %f1; and.pred %p5, %p3, %p4; setp.eq.u32 %p6, %r9, 0; xor.pred %p7, %p5, %p6; setp.ne.s32 %p8, %r0, %r2; not.pred %p9, %p8; or.pred %p10, %p9, %p7; setp.lt.ftz.f32 %p11, %f1, 0f00000000; and.pred %p12, %p11, %p11; selp.u32 %r3, 1, 0, %p5; selp.u32 %r4, 1, 0, %p7; selp.u32 %r5, 1, 0, %p10; selp.u32 %r6, 1, 0, %p12; st.global.v4.u32 [%out], {%r3, %r4, %r5, %r6};", false},
		{"signs of operands", "mov.b32 %f0, %r0; mov.b32 %f1, %r1; mov.b32 %f2, %r2; abs.f32 %f3, %f0; neg.f32 %f4, %f1; add.f32 %f5, %f3, %f4; abs.ftz.f32 %f6, %f1; mul.ftz.f32 %f7, %f6, %f2; neg.f32 %f8, %f3; fma.rn.f32 %f9, %f4, %f8, %f3; abs.ftz.f32 %f10, %f2; setp.neu.ftz.f32 %p1, %f10, 0f7F800000; neg.f32 %f11, %f0; abs.f32 %f12, %f11; min.f32 %f13, %f12, %f4; setp.lt.f32 %p2, %f6, %f12; and.b32 %r3, %r0, 0x807fffff; mov.b32 %f14, %r3; abs.ftz.f32 %f15, %f14; add.f32 %f16, %f15, %f15; selp.u32 %r4, 1, 0, %p1; selp.u32 %r5, 2, 0, %p2; or.b32 %r4, %r4, %r5; st.global.v4.f32 [%out], {%f5, %f7, %f9, %f13}; st.global.f32 [%out+16], %f16; st.global.u32 [%out+20], %r4; st.global.f32 [%out+24], %f15;", false},
		{"selections of selections", "setp.lt.s32 %p1, %r0, %r1; setp.gt.u32 %p2, %r0, 99; selp.b32 %r3, 0x1234567, %r2, %p1; selp.b32 %r4, %r0, %r3, %p2; setp.lt.s32 %p3, %r2, 0; selp.b32 %r5, %r1, 7, %p3; selp.b32 %r6, %r5, %r2, %p0; selp.b32 %r7, %r1, %r2, %p3; selp.b32 %r8, %r7, %r0, %p3; add.u32 %r10, %r1, %r2; setp.eq.u32 %p4, %r10, %r0; selp.b32 %r11, 1, 2, %p0; selp.b32 %r12, %r10, %r11, %p4; st.global.v4.u32 [%out], {%r4, %r6, %r8, %r12}; st.global.u32 [%out+16], %r2;", false},
		{"shuffles of numbers", "mov.u32 %r3, 5; mov.u32 %r4, 31; mov.u32 %r5, 3; shfl.sync.idx.b32 %r6|%p1, %r3, %r5, %r4, -1; shfl.sync.bfly.b32 %r7|%p2, %r0, %r5, %r4, -1; mov.u32 %r8, 0; shfl.sync.up.b32 %r10, %r0, %r5, %r8, -1; shfl.sync.down.b32 %r11|%p3, %r3, %r5, %r4, -1; selp.u32 %r12, 1, 0, %p3; add.u32 %r11, %r11, %r12; st.global.v4.u32 [%out], {%r6, %r7, %r10, %r11};", false},
		{"zeros that a load replaces", "mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r6, 0; @%p0 ld.global.v2.u32 {%r3, %r4}, [%in]; @!%p0 ld.global.v2.u32 {%r5, %r6}, [%in+8]; mov.u32 %r7, 0; mov.u32 %r8, 0; L: add.u32 %r7, %r7, %r3; add.u32 %r8, %r8, %r6; setp.lt.u32 %p1, %r7, 1000; @%p1 add.u32 %r7, %r7, 100; @%p1 bra L; st.global.v4.u32 [%out], {%r3, %r4, %r5, %r6}; st.global.v2.u32 [%out+16], {%r7, %r8};", false},
		{"a load of constant memory after an exit", "setp.gt.u32 %p1, %i, 3; mul.wide.u32 %d6, %i, 0x1000000; add.u64 %d6, %d6, %in; @%p1 ret; setp.gt.u32 %p2, %i, 0; @%p2 ret; ld.global.nc.u32 %r3, [%d6]; st.global.u32 [%out], %r3;", false},
		{"NaN to 64 bits", "mov.f32 %f0, 0f7FC00000; cvt.rzi.u64.f32 %d3, %f0; cvt.rzi.s64.f32 %d4, %f0; cvt.rzi.s32.f32 %r3, %f0; st.global.v2.u64 [%out], {%d3, %d4}; st.global.u32 [%out+16], %r3;", false},
		{"NaN of binary64 to 16 bits", "mov.f64 %e0, 0d7FF8000000000000; cvt.rzi.s16.f64 %h0, %e0; st.global.b16 [%out], %h0; cvt.rzi.s16.f64 %r3, %e0; st.global.u32 [%out+4], %r3; cvt.rni.u8.f64 %r4, %e0; cvt.rmi.s8.f64 %r5, %e0; cvt.rzi.u16.f64 %r6, %e0; st.global.v4.u32 [%out+16], {%r4, %r5, %r6, %r6};", false},
		{"binary64 to 8 and 16 bits", "mov.b64 %e0, %d0; mov.b64 %e2, %d1; and.b64 %d2, %d0, 0x40afffffffffffff; mov.b64 %e1, %d2; cvt.rzi.s16.f64 %r3, %e1; cvt.rni.u8.f64 %r4, %e1; cvt.rmi.s8.f64 %r5, %e0; cvt.rzi.u16.f64 %r6, %e2; st.global.v4.u32 [%out+16], {%r3, %r4, %r5, %r6};", false},
		{"floats to integers in wider registers", "mov.b32 %f0, %r0; cvt.rzi.s32.f32 %d2, %f0; cvt.rzi.u32.f32 %d3, %f0; cvt.rzi.s16.f32 %d4, %f0; cvt.rzi.u8.f32 %d5, %f0; st.global.v2.u64 [%out], {%d2, %d3}; st.global.v2.u64 [%out+16], {%d4, %d5};", false},
		{"conversions to the same type", "mov.b64 %e0, %d0; cvt.f64.f64 %e1, %e0; mov.b32 %f0, %r0; cvt.f32.f32 %f1, %f0; mov.f32 %f2, 0fFFFFFFFF; cvt.f32.f32 %f3, %f2; st.global.f64 [%out], %e1; st.global.f32 [%out+8], %f1; st.global.f32 [%out+12], %f3;", false},
		{"a carry under a guard", "add.cc.u32 %r3, %r0, %r1; @%p0 add.cc.u32 %r4, %r1, %r2; addc.u32 %r5, 0, 0; st.global.u32 [%out], %r5;", false},
		{"a carry over a branch", "add.cc.u32 %r3, %r0, %r1; @%p0 bra L; sub.cc.u32 %r4, %r1, %r2; L: addc.u32 %r5, 0, 0; subc.cc.u32 %r6, %r5, %r1; subc.u32 %r7, 0, 0; st.global.v4.u32 [%out], {%r5, %r6, %r7, %r7};", false},
		{"binary64 divided by a constant", "mov.b64 %e0, %d0; div.rn.f64 %e1, %e0, 0d4028000000000000; div.rn.f64 %e2, 0d4028000000000000, %e0; sqrt.rn.f64 %e3, 0d4028000000000000; rcp.rn.f64 %e4, 0d4028000000000000; st.global.v2.f64 [%out], {%e1, %e2}; st.global.v2.f64 [%out+16], {%e3, %e4};", false},
		{"pairs of halves without negative numbers", "mov.b32 %f0, %r0; mov.b32 %f1, %r1; cvt.rn.relu.f16x2.f32 %r3, %f0, %f1; cvt.rn.relu.bf16x2.f32 %r4, %f0, %f1; cvt.rz.relu.f16x2.f32 %r5, %f1, %f0; st.global.v2.u32 [%out], {%r3, %r4}; st.global.u32 [%out+8], %r5;", false},
		{"sums as operands", "st.global.u64 [%out], %d0+-1; st.global.u64 [%out+8], %d1+4294967296; st.global.u32 [%out+16], %r0+7;", false},
		{"no carry before", "addc.cc.u32 %r3, %r0, %r1; subc.u32 %r4, %r0, %r1; st.global.v2.u32 [%out], {%r3, %r4};", false},
		{"carries of products", "mad.lo.cc.u32 %r3, %r0, %r1, %r2; madc.hi.cc.u32 %r4, %r0, %r1, %r2; madc.lo.cc.s32 %r5, %r2, %r1, %r0; madc.hi.s32 %r6, %r2, %r1, 7; st.global.v4.u32 [%out], {%r3, %r4, %r5, %r6}; mad.lo.cc.u64 %d3, %d0, %d1, %d0; @%p0 madc.hi.cc.u64 %d4, %d0, %d1, %d1; madc.hi.s64 %d5, %d0, %d1, 0; st.global.v2.u64 [%out+16], {%d3, %d5};", false},
		{"a carry", "add.cc.u32 %r3, %r0, %r1; addc.cc.u32 %r4, %r1, %r2; addc.u32 %r5, 0, 0; st.global.v2.u32 [%out], {%r4, %r5};", false},
		{"tanh of subnormals", "and.b32 %r3, %r0, 0x807fffff; mov.b32 %f0, %r3; tanh.approx.f32 %f1, %f0; st.global.f32 [%out], %f1;", false},
		{"acquire in shared memory", "st.shared.u32 [room], 1; ld.acquire.cta.shared.u32 %r3, [room]; st.global.u32 [%out], %r3;", false},
		{"acquire and release", "st.release.gpu.global.u32 [%out], %r0; ld.acquire.gpu.global.u32 %r3, [%out]; st.release.sys.u32 [%out+4], %r1; ld.acquire.sys.v2.u32 {%r4, %r5}, [%out]; st.relaxed.cta.shared.u16 [room], %h0; ld.volatile.global.u32 %r6, [%out]; ld.global.cv.u32 %r7, [%out+4]; @%p0 ld.acquire.gpu.u64 %d3, [%out]; fence.acq_rel.gpu; fence.sc.sys; fence.acq_rel.cta; membar.gl; st.global.v4.u32 [%out], {%r3, %r4, %r5, %r6}; st.global.u32 [%out+16], %r7; @%p0 st.global.u64 [%out+24], %d3;", false},
		{"copies of which a part is read", `mov.u32 %r3, room; shl.b32 %r4, %i, 4; add.u32 %r3, %r3, %r4; cvta.to.global.u64 %d3, %in; mul.wide.u32 %d4, %i, 24; sub.u64 %d3, %d3, %d4; mul.wide.u32 %d4, %i, 16; add.u64 %d3, %d3, %d4;
			and.b32 %r5, %r0, 31; min.u32 %r5, %r5, 16; @%p0 mov.u32 %r5, 16; st.shared.v4.u32 [%r3], {%r0, %r1, %r2, %r0}; setp.lt.u32 %p1, %r1, 0x80000000;
			@%p1 cp.async.cg.shared.global [%r3], [%d3], 16, %r5; cp.async.wait_all; ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r3]; st.global.v4.u32 [%out], {%r10, %r11, %r12, %r13};
			cp.async.ca.shared.global [%r3+4], [%d3+4], 4, 3; cp.async.ca.shared.global [%r3+8], [%d3+8], 8, 0; cp.async.ca.shared.global [%r3], [%d3], 4, %p0; cp.async.commit_group; cp.async.wait_group 0;
			ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r3]; st.global.v4.u32 [%out+16], {%r10, %r11, %r12, %r13};`, false},
		{"a half that was a byte, compared in memory", "st.global.u32 [%out], 0xffffffff; ld.global.s8 %h2, [%out]; mov.u16 %h3, 5; @%p0 atom.global.cas.b16 %h4, [%out+2], %h2, %h3;", false},
		{"copies of all or nothing", `mov.u32 %r3, room; shl.b32 %r4, %i, 4; add.u32 %r3, %r3, %r4; mul.wide.u32 %d4, %i, 24; sub.u64 %d3, %in, %d4; mul.wide.u32 %d4, %i, 16; add.u64 %d3, %d3, %d4; setp.lt.u32 %p1, %r1, 0x80000000;
			selp.b32 %r5, 16, 0, %p0; cp.async.cg.shared.global [%r3], [%d3], 16, %r5; cp.async.wait_all; ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r3]; st.global.v4.u32 [%out], {%r10, %r11, %r12, %r13};
			selp.b32 %r5, 0, 8, %p0; @%p1 cp.async.ca.shared.global [%r3], [%d3], 8, %r5; selp.b32 %r5, 4, 1, %p0; cp.async.ca.shared.global [%r3+8], [%d3], 4, %r5; cp.async.wait_all; ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r3]; st.global.v4.u32 [%out+16], {%r10, %r11, %r12, %r13};`, false},
		{"spaces of addresses", `.local .b32 here; mov.u32 %r3, room; cvt.u64.u32 %d3, %r3; cvta.shared.u64 %d3, %d3; mov.u64 %d4, here; cvta.local.u64 %d4, %d4; selp.b64 %d5, %d3, %d4, %p0; setp.lt.u32 %p1, %r2, 0x60000000; selp.b64 %d5, %out, %d5, %p1;
			isspacep.shared %p2, %d5; isspacep.local %p3, %d5; isspacep.global %p4, %d5; selp.u32 %r4, 1, 0, %p2; selp.u32 %r5, 1, 0, %p3; selp.u32 %r6, 1, 0, %p4; st.global.v4.u32 [%out], {%r4, %r5, %r6, %r6};`, false},
		{"an mbarrier", `shr.u32 %r3, %i, 5; shl.b32 %r3, %r3, 6; mov.u32 %r4, room; add.u32 %r4, %r4, %r3; and.b32 %r5, %i, 31; setp.eq.u32 %p1, %r5, 0; mov.b64 %d5, 0;
			@%p1 mbarrier.init.shared.b64 [%r4+8], 33; bar.sync 0;
			mbarrier.arrive.shared.b64 %d3, [%r4+8]; mbarrier.pending_count.b64 %r6, %d3; mbarrier.test_wait.shared.b64 %p2, [%r4+8], %d3; selp.u32 %r7, 1, 0, %p2;
			@%p0 bra SKIP; bar.warp.sync -1; bra ON; SKIP: bar.warp.sync -1; ON:
			@%p1 mbarrier.arrive.shared::cta.b64 %d5, [%r4+8];
			WAIT: mbarrier.test_wait.acquire.cta.shared::cta.b64 %p3, [%r4+8], %d3; @!%p3 bra WAIT;
			mbarrier.test_wait.parity.shared.b64 %p4, [%r4+8], 0; selp.u32 %r8, 1, 0, %p4; mbarrier.test_wait.parity.shared.b64 %p4, [%r4+8], %r8; selp.u32 %r10, 1, 0, %p4; bar.sync 0;
			@%p1 mbarrier.arrive_drop.shared.b64 %d6, [%r4+8], 3; bar.sync 0; ld.shared.u64 %d7, [%r4+8]; @%p1 mbarrier.inval.shared.b64 [%r4+8];
			st.global.v2.u64 [%out], {%d7, %d5}; st.global.v4.u32 [%out+16], {%r6, %r7, %r8, %r10};`, false},
		{"arrivals after copies", `mov.u32 %r3, room; shl.b32 %r4, %i, 3; add.u32 %r4, %r4, %r3; setp.eq.u32 %p3, %i, 0; @%p3 mbarrier.init.shared.b64 [%r3+1000], 64; bar.sync 0;
			cp.async.ca.shared.global [%r4], [%in], 8; cp.async.mbarrier.arrive.shared.b64 [%r3+1000]; cp.async.ca.shared.global [%r4+4], [%in+8], 4; @!%p0 cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r3+1000]; @%p0 cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r3+1000];
			WAIT: mbarrier.test_wait.parity.shared.b64 %p4, [%r3+1000], 0; @!%p4 bra WAIT;
			xor.b32 %r5, %r4, 8; mov.u32 %r9, 0; setp.lt.u32 %p5, %r5, 496; ld.shared.u64 %d3, [%r5]; ld.shared.u64 %d4, [%r3+1000]; st.global.v2.u64 [%out], {%d3, %d4};`, false},
		{"policies of caches", `createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %d3, 0.5; createpolicy.cvt.L2.b64 %d4, %d0; createpolicy.fractional.L2::evict_unchanged.b64 %d5; ld.global.L2::cache_hint.u32 %r3, [%in], %d3; st.global.v2.u64 [%out], {%d3, %d4}; st.global.L2::cache_hint.u32 [%out+16], %r3, %d5; st.global.u64 [%out+24], %d5;`, false},
		{"branches by tables", `T: .branchtargets A, B, C, B, A; U: .branchtargets E; V: .branchtargets L, E; rem.u32 %r3, %r0, 5; and.b32 %r4, %r2, 7; mov.u32 %r5, 0;
			L: @%p0 brx.idx %r3, T; add.u32 %r5, %r5, 1000; bra D; A: add.u32 %r5, %r5, 1; B: add.u32 %r5, %r5, 10; bra D; C: add.u32 %r5, %r5, 100; D: add.u32 %r3, %r3, 1; rem.u32 %r3, %r3, 5;
			sub.u32 %r4, %r4, 1; setp.lt.s32 %p2, %r4, 0; selp.u32 %r6, 1, 0, %p2; brx.idx %r6, V; E: setp.gt.u32 %p3, %r5, 5000; @!%p3 brx.idx 0, W; add.u32 %r5, %r5, 7; W: .branchtargets F; brx.idx 0, W; F: st.global.u32 [%out], %r5;`, false},
		{"a branch by a table for all", "T: .branchtargets A, B; mov.u32 %r3, %ntid.x; shr.u32 %r3, %r3, 6; brx.idx.uni %r3, T; A: add.u32 %r1, %r1, %r0; B: st.global.u32 [%out], %r1;", false},
		{"dp2a with a constant", "dp2a.lo.u32.u32 %r3, 0x30005, %r1, %r2; dp4a.u32.u32 %r4, 0x30005, %r1, %r2; st.global.v2.u32 [%out], {%r3, %r4};", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for at := 0; at < len(input)-64*24; at += 4 * 64 * 24 {
				want, _, err := bodyRun(t, program.PTXCode, c.body, input[at:])
				if err != nil {
					t.Fatal(err)
				}
				got, refused, err := bodyRun(t, program.CompiledCode, c.body, input[at:])
				if err != nil {
					t.Fatal(err)
				}
				if lacks := *forSM == 75 && slices.Contains(sinceAmpere, c.name); absent(refused) != lacks {
					t.Fatalf("sm_75 lacks it: %v; refused: %q", lacks, refused)
				} else if lacks {
					return
				}
				if (refused != "") != c.refused {
					t.Fatalf("refused: %q", refused)
				}
				if !bytes.Equal(got, want) {
					t.Fatalf("got %x\nwant %x", got[:64], want[:64])
				}
			}
		})
	}
}
