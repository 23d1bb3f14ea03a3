package program_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/program"
)

// TestCompiledMMA: matrix products of all types and shapes that the machine has give what PTX gives, and the others
// are refused by name.
func TestCompiledMMA(t *testing.T) {
	const integer, single, double = "b32", "f32", "f64"
	for _, c := range []struct {
		form       string // with types and further modifiers in braces, of which all are taken
		a, b, d    int    // registers
		c          int    // 0: as many as of D
		sum        string
		sparse     int  // how many selectors there are
		turing     bool // sm_75 has it
		refused    bool
		mask, bits uint32 // of the words of A, B and C: they stay finite
	}{
		{form: "m16n8k8.row.col.f32.f16.f16.f32", a: 2, b: 1, d: 4, sum: single, turing: true, mask: 0x87ff87ff, bits: 0x38003800},
		{form: "m16n8k8.row.col.f16.f16.f16.f16", a: 2, b: 1, d: 2, sum: integer, turing: true, mask: 0x87ff87ff, bits: 0x38003800},
		{form: "m16n8k16.row.col.f32.f16.f16.f32", a: 4, b: 2, d: 4, sum: single, turing: true, mask: 0x87ff87ff, bits: 0x38003800},
		{form: "m16n8k16.row.col.f16.f16.f16.f16", a: 4, b: 2, d: 2, sum: integer, turing: true, mask: 0x87ff87ff, bits: 0x38003800},
		{form: "m16n8k16.row.col.f32.f16.f16.f16", a: 4, b: 2, c: 2, d: 4, sum: integer, turing: true, mask: 0x87ff87ff, bits: 0x38003800},
		{form: "m16n8k16.row.col.f16.f16.f16.f32", a: 4, b: 2, c: 4, d: 2, sum: integer, turing: true, mask: 0x87ff87ff, bits: 0x38003800},
		{form: "m16n8k8.row.col.f32.bf16.bf16.f32", a: 2, b: 1, d: 4, sum: single, mask: 0x807f807f, bits: 0x3f803f80},
		{form: "m16n8k16.row.col.f32.bf16.bf16.f32", a: 4, b: 2, d: 4, sum: single, mask: 0x807f807f, bits: 0x3f803f80},
		{form: "m16n8k4.row.col.f32.tf32.tf32.f32", a: 2, b: 1, d: 4, sum: single, mask: 0x80ffffff, bits: 0x3f000000},
		{form: "m16n8k8.row.col.f32.tf32.tf32.f32", a: 4, b: 2, d: 4, sum: single, mask: 0x80ffffff, bits: 0x3f000000},
		{form: "m16n8k32.row.col.f32.{e4m3,e5m2}.{e4m3,e5m2}.f32", a: 4, b: 2, d: 4, sum: single, mask: 0xbfbfbfbf},
		{form: "m16n8k32.row.col.f16.e4m3.e5m2.f16", a: 4, b: 2, d: 2, sum: integer, refused: true},
		{form: "m8n8k4.row.col.f64.f64.f64.f64", a: 1, b: 1, d: 2, sum: double, mask: 0x800fffff, bits: 0x3ff00000},
		{form: "m8n8k4.row.col.rz.f64.f64.f64.f64", a: 1, b: 1, d: 2, sum: double, refused: true},
		{form: "m8n8k16.row.col{.satfinite,}.s32.{u8,s8}.{u8,s8}.s32", a: 1, b: 1, d: 2, sum: integer, turing: true, mask: ^uint32(0)},
		{form: "m16n8k16.row.col{.satfinite,}.s32.{u8,s8}.{u8,s8}.s32", a: 2, b: 1, d: 4, sum: integer, turing: true, mask: ^uint32(0)},
		{form: "m16n8k32.row.col{.satfinite,}.s32.{u8,s8}.{u8,s8}.s32", a: 4, b: 2, d: 4, sum: integer, mask: ^uint32(0)},
		{form: "m8n8k32.row.col{.satfinite,}.s32.{u4,s4}.{u4,s4}.s32", a: 1, b: 1, d: 2, sum: integer, turing: true, mask: ^uint32(0)},
		{form: "m16n8k32.row.col{.satfinite,}.s32.{u4,s4}.{u4,s4}.s32", a: 2, b: 1, d: 4, sum: integer, mask: ^uint32(0)},
		{form: "m16n8k64.row.col{.satfinite,}.s32.{u4,s4}.{u4,s4}.s32", a: 4, b: 2, d: 4, sum: integer, mask: ^uint32(0)},
		{form: "m8n8k128.row.col.s32.b1.b1.s32.xor.popc", a: 1, b: 1, d: 2, sum: integer, turing: true, mask: ^uint32(0)},
		{form: "m8n8k128.row.col.s32.b1.b1.s32.and.popc", a: 1, b: 1, d: 2, sum: integer, mask: ^uint32(0)},
		{form: "m16n8k128.row.col.s32.b1.b1.s32.{xor,and}.popc", a: 2, b: 1, d: 4, sum: integer, mask: ^uint32(0)},
		{form: "m16n8k256.row.col.s32.b1.b1.s32.{xor,and}.popc", a: 4, b: 2, d: 4, sum: integer, mask: ^uint32(0)},
		{form: "m16n8k32.row.col.f32.{f16,bf16}.{f16,bf16}.f32", a: 4, b: 4, d: 4, sum: single, sparse: 2, mask: 0x83ff83ff, bits: 0x3c003c00},
		{form: "m16n8k32.row.col.f16.f16.f16.f16", a: 4, b: 4, d: 2, sum: integer, sparse: 2, mask: 0x87ff87ff, bits: 0x38003800},
		{form: "m16n8k32.row.col.f32.f16.f16.f16", a: 4, b: 4, c: 2, d: 4, sum: integer, sparse: 2, mask: 0x87ff87ff, bits: 0x38003800},
		{form: "m16n8k64.row.col{.satfinite,}.s32.{u8,s8}.{u8,s8}.s32", a: 4, b: 4, d: 4, sum: integer, sparse: 1, mask: ^uint32(0)},
		{form: "m16n8k16.row.col.f32.f16.f16.f32", a: 2, b: 2, d: 4, sum: single, sparse: 2, refused: true},
	} {
		for _, form := range alternatives(c.form) {
			types := strings.Split(form, ".")
			if mixed := strings.Contains(form, ".f16.bf16.") || strings.Contains(form, ".bf16.f16."); mixed {
				continue
			}
			op := "mma"
			if c.sparse > 0 {
				op = "mma.sp"
			}
			name := op + ".sync.aligned." + form
			t.Run(strings.Join(types, " "), func(t *testing.T) {
				if usual := *forSM; strings.Contains(form, "e4m3") || strings.Contains(form, "e5m2") {
					defer func() { *forSM = usual }()
					if usual != 75 {
						*forSM = 89
					}
				}
				r := rand.New(rand.NewPCG(4, uint64(len(form))))
				var input []byte
				for i := range 4096 {
					w := r.Uint32()&c.mask | c.bits
					switch {
					case i%16 == 15: // where a sparse A has its elements: two of each four
						w = 0
						for range 8 {
							w = w<<4 | [6]uint32{0x4, 0x8, 0xc, 0x9, 0xd, 0xe}[r.IntN(6)]
						}
					case i%16 >= 8 && c.sum == single && strings.Contains(form, "f16"): // C
						w = r.Uint32()&0x80ffffff | 0x3f000000
					}
					input = binary.LittleEndian.AppendUint32(input, w)
				}
				for sel := range max(1, c.sparse) {
					text := product(name, c.sum, c.a, c.b, cmp.Or(c.c, c.d), c.d, c.sparse > 0, sel)
					want, _, err := textRun(t, program.PTXCode, text, input)
					if err != nil {
						t.Fatal(err)
					}
					got, refused, err := textRun(t, program.CompiledCode, text, input)
					if err != nil {
						t.Fatal(err)
					}
					switch old := *forSM == 75 && !c.turing; {
					case c.refused != (refused != "") && !(old && refused != ""):
						t.Fatalf("refused: %q", refused)
					case old && !c.refused && !absent(refused):
						t.Errorf("refused for sm_75: %q", refused)
					case refused == "" && !bytes.Equal(got, want):
						t.Errorf("got %x,\nwant %x", got, want)
					}
				}
			})
		}
	}
}

// alternatives are the texts that a form with lists in braces stands for.
func alternatives(form string) []string {
	before, rest, ok := strings.Cut(form, "{")
	if !ok {
		return []string{form}
	}
	inner, after, _ := strings.Cut(rest, "}")
	var list []string
	for _, s := range strings.Split(inner, ",") {
		list = append(list, alternatives(before+s+after)...)
	}
	return list
}

// product is a kernel of one matrix product, whose operands each lane loads from sixteen words of its own: A, from the
// fifth word on B, from the ninth on C, and in the last one the places of a sparse A's elements.
func product(name, sum string, a, b, c, d int, sparse bool, sel int) string {
	bits, more := 4, ""
	operand := "b32"
	if sum == "f64" {
		bits, operand = 8, "f64"
	}
	if sparse {
		more = fmt.Sprintf(", %%e, %#x", sel)
	}
	var loads, stores strings.Builder
	for _, x := range []struct {
		name, typ string
		n, at     int
	}{{"a", operand, a, 0}, {"b", operand, b, 16}, {"c", sum, c, 32}} {
		for i := range x.n {
			fmt.Fprintf(&loads, " ld.global.%s %%%s%d, [%%in+%d];\n", x.typ, x.name, i, x.at+bits*i)
		}
	}
	for i := range d {
		fmt.Fprintf(&stores, " st.global.%s [%%out+%d], %%d%d;\n", sum, bits*i, i)
	}
	return fmt.Sprintf(`.version 8.4
.target sm_89
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
 .reg .b64 %%in, %%out, %%q; .reg .b32 %%t, %%e; .reg .%[1]s %%a<4>, %%b<4>; .reg .%[2]s %%c<4>, %%d<4>;
 ld.param.u64 %%in, [in]; ld.param.u64 %%out, [out]; mov.u32 %%t, %%tid.x;
 mul.wide.u32 %%q, %%t, 64; add.u64 %%in, %%in, %%q; mul.wide.u32 %%q, %%t, 32; add.u64 %%out, %%out, %%q;
 ld.global.b32 %%e, [%%in+60];
%[3]s %[4]s %[5]s, %[6]s, %[7]s, %[8]s%[9]s;
%[10]s ret; }
`, operand, sum, loads.String(), name, list("d", d), list("a", a), list("b", b), list("c", c), more, stores.String())
}

// TestCompiledOddOperands: sinks and numbers as operands of matrix products and video instructions count as what they
// stand for, and selectors that there are not are refused, as PTX refuses them.
func TestCompiledOddOperands(t *testing.T) {
	const product = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
	const ends = " st.global.f64 [%out], %e3; st.global.f64 [%out+8], %e4;"
	const loads = "and.b32 %r0, %r0, 0x800fffff; or.b32 %r0, %r0, 0x3ff00000; mov.b64 %e0, {%r1, %r0}; mov.b64 %e1, {%r0, %r0}; mov.f64 %e3, %e0; mov.f64 %e4, %e1; "
	for _, c := range []struct{ name, body, refused string }{
		{"a sink before a result", loads + product + "{_, %e3}, {%e0}, {%e1}, {%e0, %e1};" + ends, ""},
		{"a sink after a result", loads + product + "{%e3, _}, {%e0}, {%e1}, {%e0, %e1};" + ends, ""},
		{"a number as A", loads + product + "{%e3, %e4}, {0d3ff8000000000000}, {%e1}, {%e0, %e1};" + ends, ""},
		{"numbers as C", loads + product + "{%e3, %e4}, {%e0}, {%e1}, {1.5, 0d4008000000000000};" + ends, ""},
		{"a number as C of binary32", "mov.b32 %f0, 0f3f800000; mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1}, {%r2}, {1.5, 0f40400000, 0f00000000, 2.0}; st.global.v4.f32 [%out], {%f0, %f1, %f2, %f3};", ""},
		{"a fragment of numbers", loads + "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64 {%e3, %e4}, {0d3ff8000000000000}, {%e1}, {%e0, 2.5};" + ends, ""},
		{"a stored number", loads + "and.b32 %r3, %i, 32; setp.eq.u32 %p1, %r3, 0; @%p1 bra.uni L; ret; L: ld.param.u64 %out, [out]; wmma.store.d.sync.aligned.row.m8n8k4.global.f64 [%out], {%e0, 0d3ff8000000000000};", ""},
		{"numbers as operands of video instructions", "vadd.s32.s32.s32.sat %r3, %r0, 0x7fffffff; vsub2.s32.s32.s32 %r4, %r0, 0x10002, %r1; vset4.u32.u32.gt %r5, 0x80402010, %r0, %r2; st.global.v2.u32 [%out], {%r3, %r4}; st.global.u32 [%out+8], %r5;", ""},
		{"a byte that there is not", "vadd.u32.u32.u32 %r3, %r0.b7, %r1; st.global.u32 [%out], %r3;", "with the selector .b7 cannot be compiled"},
		{"a selector without what is put together", "vadd.u32.u32.u32 %r3.b1, %r0, %r1; st.global.u32 [%out], %r3;", "with the selector .b1 there cannot be compiled"},
		{"a selector of the last source", "vmad.u32.u32.u32 %r3, %r0, %r1, %r2.h0; st.global.u32 [%out], %r3;", "with the selector .h0 there cannot be compiled"},
		{"too few digits", "vadd4.u32.u32.u32 %r3, %r0.b01, %r1, %r2; st.global.u32 [%out], %r3;", "with the selector .b01 cannot be compiled"},
		{"bytes of halves", "vadd2.u32.u32.u32 %r3, %r0.b10, %r1, %r2; st.global.u32 [%out], %r3;", "with the selector .b10 cannot be compiled"},
		{"a digit that there is not", "vadd2.u32.u32.u32 %r3, %r0.h74, %r1, %r2; st.global.u32 [%out], %r3;", "with the selector .h74 cannot be compiled"},
		{"a fourth half in a result of two", "vadd2.u32.u32.u32 %r3.h3, %r0, %r1, %r2; st.global.u32 [%out], %r3;", "with the selector .h3 cannot be compiled"},
		{"places of a third pair", "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r0, %r0, %r0}, {%r1, %r1, %r1, %r1}, {%f0, %f1, %f2, %f3}, %r2, 2; st.global.f32 [%out], %f0;", "with the selector 2 cannot be compiled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			input := rowInput()
			got, refused, err := bodyRun(t, program.CompiledCode, c.body, input)
			switch {
			case !strings.HasSuffix(refused, c.refused) || c.refused == "" && refused != "" && !absent(refused):
				t.Fatalf("refused: %q, want %q", refused, c.refused)
			case refused != "":
				return
			case err != nil:
				t.Fatal(err)
			}
			want, _, err := bodyRun(t, program.PTXCode, c.body, input)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("got %x,\nwant %x", got, want)
			}
		})
	}
}
