package sdk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

// TestAlignArrays: functions read local arrays of smaller elements 16 bytes at a time.
// The other variables in local memory put them at addresses that are not multiples of 16.
func TestAlignArrays(t *testing.T) {
	alltests.Only(t, "wide reads of local arrays, compiled")
	const source = `
struct two { short x, y; };
__device__ __noinline__ void copy(void *to, const void *from) { *(int4 *)to = *(const int4 *)from; }
__device__ __noinline__ void set(int *p, int v) { *(volatile int *)p = v; }
extern "C" __global__ void wide(int4 *out, int n) {
  int before;
  two structs[4];
  int middle;
  int numbers[4];
  int after;
  set(&before, n);
  set(&middle, n);
  set(&after, n);
  for (int i = 0; i < 4; i++) {
    set((int *)&structs[i], i + before);
    set(&numbers[i], 10 + i + middle + after);
  }
  copy(&out[0], structs);
  copy(&out[1], numbers);
}
`
	file := filepath.Join(t.TempDir(), "arrays.cu")
	if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, s := range compilers(t) {
		t.Run(fmt.Sprintf("clang-%d", s.Clang.Major), func(t *testing.T) {
			prog, err := heddle.Load(ptxOf(t, s, file, "-O2"))
			if err != nil {
				t.Fatal(err)
			}
			gpu, err := heddle.New(prog)
			if err != nil {
				t.Fatal(err)
			}
			out, err := heddle.Upload(gpu, "out", make([]int32, 8))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := gpu.Launch(t.Context(), "wide", heddle.Dim(1), heddle.Dim(1), out, int32(0)); err != nil {
				t.Fatal(err)
			}
			got, err := heddle.Download[int32](gpu, out, 8)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				if want := int32(i%4 + i/4*10); v != want {
					t.Errorf("word %d is %d, want %d", i, v, want)
				}
			}
		})
	}
}

// TestAlignArraysText: which arrays of LLVM IR are aligned, and that nothing else of a
// line changes.
func TestAlignArraysText(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"16 bytes of numbers", "  %a = alloca [4 x i32], align 4\n", "  %a = alloca [4 x i32], align 16\n"},
		{"15 bytes of numbers", "  %a = alloca [15 x i8], align 1\n", ""},
		{"16 bytes of characters", "  %a = alloca [16 x i8], align 1\n", "  %a = alloca [16 x i8], align 16\n"},
		{"structs", `  %a = alloca [2 x %"struct.x::y"], align 4` + "\n", `  %a = alloca [2 x %"struct.x::y"], align 16` + "\n"},
		{"arrays", "  %a = alloca [2 x [8 x float]], align 4\n", "  %a = alloca [2 x [8 x float]], align 16\n"},
		{"aligned more", "  %a = alloca [4 x i32], align 128\n", ""},
		{"with debug data", "  %a = alloca [8 x half], align 2, !dbg !7\n", "  %a = alloca [8 x half], align 16, !dbg !7\n"},
		{"no array", "  %a = alloca %struct.x, align 4\n", ""},
		{"a global", "@a = addrspace(3) global [64 x i32] undef, align 4\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := c.want
			if want == "" {
				want = c.line
			}
			if got := string(sdk.AlignArrays([]byte(c.line))); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
