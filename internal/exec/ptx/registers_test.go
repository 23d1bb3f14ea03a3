package ptx_test

import (
	"os"
	"path/filepath"
	"testing"

	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// linked parses and links a text.
func linked(t *testing.T, name string, src []byte) *xptx.Program {
	t.Helper()
	mod, err := ptx.Parse(name, src)
	if err != nil {
		t.Fatal(err)
	}
	p, err := xptx.Link(mod)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRegisterRules estimates kernels of which one can say what an assembler
// does: R1 is the stack pointer, and from sm_70 on two registers come on top.
func TestRegisterRules(t *testing.T) {
	const decls = ".reg .b32 %r<99>; .reg .b64 %rd<99>; .reg .f32 %f<99>; .reg .pred %p<9>; .shared .align 4 .b8 s[4096];\n"
	for _, c := range []struct {
		name, target, head, body string
		want                     int
	}{
		{"nothing", "sm_61", "", "", 1},
		{"two hidden ones", "sm_70", "", "", 3},
		// The address is a pair, what is stored another register: R0, R1, R2:R3.
		{"a constant to a parameter's place", "sm_61", "", "ld.param.u64 %rd1, [p]; mov.u32 %r1, 7; st.global.u32 [%rd1], %r1;", 4},
		{"cvta is nothing", "sm_61", "", "ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, 7; st.global.u32 [%rd2], %r1;", 4},
		{"predicates are elsewhere", "sm_61", "", `ld.param.u64 %rd1, [p]; ld.param.u32 %r9, [n]; mov.u32 %r1, %tid.x;
			setp.eq.u32 %p1, %r1, %r9; setp.ne.u32 %p2, %r1, 3; setp.gt.u32 %p3, %r1, 5;
			@%p1 st.global.u32 [%rd1], %r1; @%p2 st.global.u32 [%rd1], %r1; @%p3 st.global.u32 [%rd1], %r1;`, 4},
		// %tid.x stays 32 bits wide, and the product goes into the sum.
		{"index and sum are one", "sm_61", "", `ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; cvt.u64.u32 %rd2, %r1; shl.b64 %rd3, %rd2, 2;
			add.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r1;`, 4},
		// The sum with 8 goes into the second access: one pair for two stores.
		{"offsets go into the access", "sm_61", "", `ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;
			add.s64 %rd5, %rd4, 8; st.global.u32 [%rd4], %r1; st.global.u32 [%rd5], %r1;`, 4},
		// An address in shared memory has 32 bits, whatever PTX makes of it: R0
		// and the stack pointer.
		{"half an address", "sm_61", "", `mov.u32 %r1, %tid.x; mov.u64 %rd1, s; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.shared.u32 [%rd3], %r1;`, 3},
		// Eight loads are on their way at a time: eight values, the address that
		// they share, R1; %tid.x has been used up.
		{"loads go first", "sm_61", "", `ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;
			ld.global.f32 %f1, [%rd4]; ld.global.f32 %f2, [%rd4+4]; add.f32 %f2, %f1, %f2;
			ld.global.f32 %f3, [%rd4+8]; ld.global.f32 %f4, [%rd4+12]; add.f32 %f4, %f3, %f4;
			ld.global.f32 %f5, [%rd4+16]; ld.global.f32 %f6, [%rd4+20]; add.f32 %f6, %f5, %f6;
			ld.global.f32 %f7, [%rd4+24]; ld.global.f32 %f8, [%rd4+28]; add.f32 %f8, %f7, %f8;
			add.f32 %f2, %f2, %f4; add.f32 %f6, %f6, %f8; add.f32 %f2, %f2, %f6; st.global.f32 [%rd4], %f2;`, 12},
		// The same with a barrier between: a pair of loads at a time, two sums.
		{"but not over a barrier", "sm_61", "", `ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;
			ld.global.f32 %f1, [%rd4]; ld.global.f32 %f2, [%rd4+4]; add.f32 %f2, %f1, %f2; bar.sync 0;
			ld.global.f32 %f3, [%rd4+8]; ld.global.f32 %f4, [%rd4+12]; add.f32 %f4, %f3, %f4;
			add.f32 %f2, %f2, %f4; st.global.f32 [%rd4], %f2;`, 6},
		{".maxnreg", "sm_61", ".maxnreg 8", `ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;
			ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd4]; ld.global.v4.f32 {%f5, %f6, %f7, %f8}, [%rd4+16];
			st.global.v4.f32 [%rd4+32], {%f1, %f2, %f3, %f4}; st.global.v4.f32 [%rd4+64], {%f5, %f6, %f7, %f8};`, 8},
	} {
		src := ".version 7.0\n.target " + c.target + "\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) " + c.head + "\n{\n" + decls + c.body + "\nret;\n}\n"
		k, _ := linked(t, c.name, []byte(src)).Kernel("k")
		if got := k.Registers(); got != c.want {
			t.Errorf("%s: %d registers, want %d", c.name, got, c.want)
		}
	}
}

// traced are kernels that are here as PTX and of which the header of a trace says
// how many registers they had. The PTX is not what the traced code was
// assembled from: it comes from another compiler. Outside says why an
// estimate is more than a quarter away from the trace.
var traced = []struct {
	file, kernel string
	registers    int
	trace        string // compute capability, file
	outside      string
}{
	{"../../../examples/vecadd/vecadd.ptx", "vecadd", 12, "8.0, simple-trace-example: vectorAdd", ""},
	{"rodinia__2.0-ft__bfs__bfs.sm_70.ptx", "_Z6KernelP4NodePiPbS2_S2_S1_i", 21, "8.0, bfs-rodinia-2.0-ft", ""},
	{"rodinia__2.0-ft__bfs__bfs.sm_70.ptx", "_Z7Kernel2PbS_S_S_i", 14, "8.0, bfs-rodinia-2.0-ft", ""},
	{"rodinia__3.1__cuda__bfs__bfs.sm_90.ptx", "_Z6KernelP4NodePiPbS2_S2_S1_i", 21, "8.0, bfs-rodinia-2.0-ft", ""},
	{"rodinia__3.1__cuda__bfs__bfs.sm_90.ptx", "_Z7Kernel2PbS_S_S_i", 14, "8.0, bfs-rodinia-2.0-ft", ""},
	{"custom-apps__sdk-matrixMul-modified__cuda_mult.sm_60.ptx", "_Z8mult_gpuPfS_S_ii", 30, "6.1, matrixmul-32-32: mult_gpu<float>", ""},
	{"rodinia__2.0-ft__lud__lud_kernel.sm_70.ptx", "_Z13lud_perimeterPfii", 166, "7.0, lud",
		"the traced code has its loops of 16 rounds unrolled, with all loads ahead of the first use; this PTX has loops of one round"},
	{"rodinia__3.1__cuda__lud__cuda__lud_kernel.sm_80.ptx", "_Z13lud_perimeterPfii", 166, "7.0, lud",
		"the traced code has its loops of 16 rounds unrolled, with all loads ahead of the first use; this PTX has eight rounds and a loop for the rest"},
}

// TestRegistersAgainstTraces compares estimates with the registers of real
// machine code.
func TestRegistersAgainstTraces(t *testing.T) {
	const corpus = "../../../../shared/data/ptx/corpus/clang19__"
	inside, here := 0, 0
	for _, c := range traced {
		file := c.file
		if filepath.Base(file) == file {
			file = corpus + file
		}
		src, err := os.ReadFile(file)
		if err != nil {
			if file == c.file {
				t.Fatal(err)
			}
			t.Logf("skipped: %s is not here", c.file)
			continue
		}
		here++
		k, ok := linked(t, c.file, src).Kernel(c.kernel)
		if !ok {
			t.Fatalf("%s: no %s", c.file, c.kernel)
		}
		got := k.Registers()
		within := 4*got >= 3*c.registers && 4*got <= 5*c.registers
		t.Logf("%3d registers estimated, %3d in the trace (%+.0f %%): %s, %s (%s)", got, c.registers, 100*float64(got-c.registers)/float64(c.registers), c.kernel, filepath.Base(c.file), c.trace)
		switch {
		case within:
			inside++
			if c.outside != "" {
				t.Errorf("%s of %s is within a quarter now", c.kernel, c.file)
			}
		case c.outside == "":
			t.Errorf("%s of %s: %d registers, %d in the trace", c.kernel, c.file, got, c.registers)
		default:
			t.Logf("    outside: %s", c.outside)
		}
	}
	t.Logf("%d of %d within 25 %%", inside, here)
}
