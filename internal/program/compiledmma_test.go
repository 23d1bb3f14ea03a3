package program_test

import (
	"bytes"
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
					text := product(name, c.sum, c.a, c.b, c.d, c.sparse > 0, sel)
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
func product(name, sum string, a, b, d int, sparse bool, sel int) string {
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
	}{{"a", operand, a, 0}, {"b", operand, b, 16}, {"c", sum, d, 32}} {
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
`, operand, sum, loads.String(), name, list("d", d), list("a", a), list("b", b), list("c", d), more, stores.String())
}
