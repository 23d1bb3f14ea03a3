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

// list is a list of registers: {%x0, %x1 …}.
func list(name string, n int) string {
	var s []string
	for i := range n {
		s = append(s, fmt.Sprintf("%%%s%d", name, i))
	}
	return "{" + strings.Join(s, ",") + "}"
}

// TestCompiledWMMA: fragments by rows and by columns, from global and shared memory, close together and with a stride,
// and their products give what PTX gives, with all registers of the fragments.
func TestCompiledWMMA(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	var input []byte
	for range 4096 {
		input = binary.LittleEndian.AppendUint32(input, r.Uint32()&0x87ff87ff|0x38003800)
	}
	for _, c := range []struct {
		shape, elem, sum string // C.D of sum, where they differ
		a, b, c          int    // registers
	}{
		{"m16n16k16", "f16", "f32", 8, 8, 8}, {"m16n16k16", "f16", "f16", 8, 8, 4}, {"m32n8k16", "f16", "f32", 8, 8, 8}, {"m32n8k16", "f16", "f16", 8, 8, 4},
		{"m16n16k16", "f16", "f16.f32", 8, 8, 4}, {"m32n8k16", "f16", "f32.f16", 8, 8, 8}, {"m8n32k16", "f16", "f16.f32", 8, 8, 4},
		{"m16n16k16", "bf16", "f32", 4, 4, 8}, {"m16n16k16", "s8", "s32", 2, 2, 8}, {"m16n16k16", "u8", "s32", 2, 2, 8}, {"m32n8k16", "s8", "s32", 4, 1, 8},
		{"m8n32k16", "f16", "f32", 8, 8, 8}, {"m8n32k16", "f16", "f16", 8, 8, 4}, {"m8n32k16", "bf16", "f32", 2, 8, 8}, {"m8n32k16", "u8", "s32", 1, 4, 8},
		{"m16n16k8", "tf32", "f32", 4, 4, 8}, {"m8n8k4", "f64", "f64", 1, 1, 2}, {"m8n8k32", "s4", "s32", 1, 1, 2}, {"m8n8k32", "u4", "s32", 1, 1, 2}, {"m8n8k128", "b1", "s32", 1, 1, 2},
	} {
		for n, layouts := range [][4]string{{"row", "col", "row", "row"}, {"col", "row", "col", "col"}, {"row", "row", "row", "col"}, {"col", "col", "col", "row"}} {
			if c.shape == "m8n8k32" || c.shape == "m8n8k128" { // A by rows and B by columns alone
				layouts[0], layouts[1] = "row", "col"
			}
			stride := ""
			if n%2 == 1 {
				stride = ", %s"
			}
			space, base := "global", "%in"
			if n >= 2 {
				space, base = "shared", "room"
			}
			from, to, mixed := strings.Cut(c.sum, ".")
			d := c.c
			switch {
			case !mixed:
				to = from
			case to == "f32":
				d *= 2
			default:
				d /= 2
			}
			product := fmt.Sprintf("wmma.mma.sync.aligned.%s.%s.%s.%s.%s.%s.%s", layouts[0], layouts[1], c.shape, to, c.elem, c.elem, from)
			switch c.elem {
			case "b1":
				product = strings.Replace(product, "wmma.mma", "wmma.mma.xor.popc", 1)
			case "f16":
				product = fmt.Sprintf("wmma.mma.sync.aligned.%s.%s.%s.%s.%s", layouts[0], layouts[1], c.shape, to, from)
			}
			typ, far := "b32", 48
			ends := fmt.Sprintf("xor.b32 %%a0, %%a0, %%b0; xor.b32 %%a0, %%a0, %%a%d; xor.b32 %%b0, %%d0, %%b%d; st.global.v2.u32 [%%out+1024], {%%a0, %%b0};", c.a-1, c.b-1)
			switch {
			case c.elem == "f64":
				typ, ends = "f64", "st.global.v2.f64 [%out+1024], {%a0, %b0};"
			case c.shape == "m8n8k32" || c.shape == "m8n8k128":
				far = 128
			}
			text := fmt.Sprintf(`.version 7.8
.target sm_86
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
 .reg .b64 %%in, %%out, %%q; .reg .b32 %%s, %%t, %%u, %%at; .reg .%[16]s %%a<8>, %%b<8>, %%c<8>, %%d<8>; .reg .pred %%p; .shared .align 32 .b8 room[8192];
 ld.param.u64 %%in, [in]; ld.param.u64 %%out, [out]; mov.u32 %%s, %[17]d; mov.u32 %%t, %%tid.x; shl.b32 %%t, %%t, 2;
L: cvt.u64.u32 %%q, %%t; add.u64 %%q, %%q, %%in; ld.global.u32 %%u, [%%q]; mov.u32 %%at, room; add.u32 %%at, %%at, %%t; st.shared.u32 [%%at], %%u; add.u32 %%t, %%t, 256; setp.lt.u32 %%p, %%t, 8192; @%%p bra L; bar.sync 0;
 wmma.load.a.sync.aligned.%[1]s.%[2]s.%[3]s.%[4]s %[5]s, [%[6]s]%[7]s;
 wmma.load.b.sync.aligned.%[8]s.%[2]s.%[3]s.%[4]s %[9]s, [%[6]s+512]%[7]s;
 wmma.load.c.sync.aligned.%[10]s.%[2]s.%[3]s.%[11]s %[12]s, [%[6]s+1024]%[7]s;
 %[13]s %[14]s, %[5]s, %[9]s, %[12]s;
 wmma.store.d.sync.aligned.%[15]s.%[2]s.global.%[19]s [%%out], %[14]s;
 mov.u32 %%t, %%tid.x; mul.wide.u32 %%q, %%t, 32; add.u64 %%out, %%out, %%q; %[18]s ret; }
`, layouts[0], c.shape, space, c.elem, list("a", c.a), base, stride, layouts[1], list("b", c.b), layouts[2], from, list("c", c.c), product, list("d", d), layouts[3], typ, far, ends, to)
			want, _ := callsRun(t, program.PTXCode, text, input)
			got, _ := callsRun(t, program.CompiledCode, text, input) // sm_75 refuses what it lacks, and runs it as PTX
			if !bytes.Equal(got, want) {
				for i := 0; i < 4096; i += 4 {
					if !bytes.Equal(got[i:i+4], want[i:i+4]) {
						t.Errorf("%s %v: byte %d: got %x, want %x", product, layouts, i, got[i:i+4], want[i:i+4])
						break
					}
				}
			}
		}
	}
}
