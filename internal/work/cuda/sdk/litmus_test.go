package sdk_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

// clangs are the compilers for tests of compiler output: the oldest and the newest
// installed, or with HEDDLE_ALL every one.
func clangs(t *testing.T) []sdk.Clang {
	t.Helper()
	list := sdk.Installed(t.Context())
	if len(list) == 0 {
		t.Skip(sdk.ErrNoClang)
	}
	if !alltests.On() && len(list) > 2 {
		list = []sdk.Clang{list[0], list[len(list)-1]}
	}
	return list
}

// litmus lists the programs of testdata/litmus.cu, each with the value that thread
// i of the launch stores at its index of out.
var litmus = []struct {
	kernel string
	blocks int
	want   func(i int) int
}{
	{"one_thread_stores", 1, first},
	{"last_thread_stores", 1, first},
	{"load_in_loop", 1, fixed(1000 + 1001 + 1002 + 1003 + 1004)},
	{"load_before_barrier", 1, fixed(1002)},
	{"sum_in_turn", 1, fixed(64*1000 + 64*63/2)},
	{"store_between", 1, func(i int) int { return 1000 + i + 1 }},
	{"store_overwritten", 1, func(i int) int {
		if i < 32 {
			return -1
		}
		return 1000 + i - 32 - 1
	}},
	{"forwarded", 1, func(i int) int { return (i + 63) % 64 }},
	{"file_scope", 1, first},
	{"members", 1, fixed(1000 + 1001 + 1002)},
	{"barrier_in_function", 1, first},
	{"count", 1, fixed(1000 + 30)},
	{"all_of_block", 1, fixed(1000 + 1)},
	{"any_of_block", 1, fixed(1000 + 1)},
	{"warp_barrier", 1, func(i int) int { return 1000 + i/32 }},
	{"warp_barrier_in_loop", 1, fixed(1000 + 1001 + 1002 + 1003 + 1004)},
	{"half_warp_barrier", 1, func(i int) int { return 1000 + i/16 }},
	{"fence_block", 1, secondHalf},
	{"fence_device", 1, secondHalf},
	{"fence_system", 1, secondHalf},
	{"message", 2, func(i int) int { return secondHalf(i / 2) }},
	{"polled_message", 2, func(i int) int { return secondHalf(i / 2) }},
	{"last_block", 4, func(i int) int {
		if i < 64 {
			return 1000 + 1001 + 1002 + 1003
		}
		return 0
	}},
	{"spin_lock", 2, fixed(7)},
	{"named_barrier", 1, first},
	{"producer_consumer", 1, func(i int) int {
		if i < 32 {
			return 0
		}
		return 3*(1000+63-i) + 0 + 1 + 2
	}},
	{"group_block", 1, first},
	{"group_tile_32", 1, func(i int) int { return 1000 + i/32 }},
	{"group_tile_8", 1, func(i int) int { return 1000 + i/8 }},
	{"group_coalesced", 1, func(i int) int {
		if i%2 == 0 {
			return 5
		}
		return 1000 + i/32*32 + 7 // the fourth of the odd lanes
	}},
	{"object_barrier", 1, first},
	{"arrive_then_wait", 1, first},
	{"copy_wait", 1, fixed(2*1000 + 63)},
	{"copy_two_stages", 1, func(i int) int { return 4*(1000+63-i) + 64*(0+1+2+3) }},
	{"copy_group", 1, func(i int) int { return 1000 + 63 - i }},
	{"histogram", 1, fixed(16)},
	{"shuffle_used_by_some", 1, func(i int) int {
		switch {
		case i%2 == 1:
			return 1000 + i - 1
		case i%32 < 16:
			return 1000 + i + 2
		}
		return 3
	}},
	{"vote_used_by_some", 1, func(i int) int {
		switch {
		case i < 5:
			return 16 // half of the numbers are odd
		case i < 10:
			return 2 // not all, but one
		}
		return 3
	}},
	{"match_used_by_some", 1, func(i int) int {
		switch {
		case i%32 < 4:
			return 8 // every fourth of 32
		case i%32 < 8:
			return 32 + 1
		}
		return 3
	}},
	{"active_in_branches", 1, branches},
	{"active_by_asm", 1, branches},
	{"coalesced_in_branches", 1, branches},
	{"active_in_loop", 1, func(i int) int { return []int{32, 32 + 24, 32 + 24 + 16, 32 + 24 + 16 + 8}[i%4] }},
	{"shuffle_of_loaded", 1, func(i int) int { return 1000 + i/32*32 + 6 }},
}

func first(int) int { return 1000 }

func fixed(v int) func(int) int { return func(int) int { return v } }

func branches(i int) int {
	if i%32 < 8 {
		return 8
	}
	return 24
}

func secondHalf(i int) int {
	if i < 32 {
		return 1
	}
	return 1000
}

// TestLitmus: no compiler moves an access across a barrier, at any optimisation
// level.
func TestLitmus(t *testing.T) {
	alltests.Only(t, "a suite that every compiler compiles four times")
	for _, clang := range clangs(t) {
		s, err := sdk.UnpackAt(t.Context(), t.TempDir(), clang, os.Args[0])
		if err != nil {
			t.Fatal(err)
		}
		for level := range 4 {
			t.Run(fmt.Sprintf("clang-%d/O%d", clang.Major, level), func(t *testing.T) {
				t.Parallel()
				prog, err := heddle.Load(ptxOf(t, s, "testdata/litmus.cu", "-std=gnu++17", fmt.Sprintf("-O%d", level)))
				if err != nil {
					t.Fatal(err)
				}
				for _, l := range litmus {
					gpu, err := heddle.New(prog, heddle.MaxInstructions(1_000_000))
					if err != nil {
						t.Fatal(err)
					}
					runLitmus(t, gpu, l.kernel, l.blocks, l.want)
				}
			})
		}
	}
}

// ptxOf compiles the kernels of a file for sm_80 and returns the PTX file.
func ptxOf(t *testing.T, s sdk.SDK, source string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	out := filepath.Join(dir, "kernels.ptx")
	call := func(args ...string) error {
		if text, err := exec.Command(s.Clang.Path, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, text)
		}
		return nil
	}
	if err := s.PTX(call, "sm_80", flags, source, dir, out); err != nil {
		t.Fatal(err)
	}
	return out
}

func runLitmus(t *testing.T, gpu *heddle.GPU, kernel string, blocks int, want func(i int) int) {
	t.Helper()
	numbers := make([]int32, 256)
	for i := range numbers {
		numbers[i] = int32(1000 + i)
	}
	in, err := heddle.Upload(gpu, "in", numbers)
	if err != nil {
		t.Fatal(err)
	}
	out, err := heddle.Upload(gpu, "out", make([]int32, 64*blocks))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gpu.Launch(context.Background(), kernel, heddle.Dim(uint32(blocks)), heddle.Dim(64), in, out); err != nil {
		t.Errorf("%s: %v", kernel, err)
		return
	}
	got, err := heddle.Download[int32](gpu, out, 64*blocks)
	if err != nil {
		t.Fatal(err)
	}
	wrong, at := 0, 0
	for i, v := range got {
		if int(v) != want(i) {
			if wrong == 0 {
				at = i
			}
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("%s: %d of %d are wrong; out[%d] is %d, want %d", kernel, wrong, len(got), at, got[at], want(at))
	}
}

// TestSplitCopies: variables that kernels only copy as a whole are kept in
// registers, and the copies are right.
func TestSplitCopies(t *testing.T) {
	const source = `
struct three { float a[3]; };
struct __align__(16) pair { double x, y; };
struct mixed { int *p; char c; };
extern "C" __global__ void passed_on(const float4 *a, float4 *b, const three *c, three *d, const pair *e, pair *f, const mixed *g, mixed *h) {
  __shared__ float4 tile[128];
  float4 next[2];
  three t[2];
  pair p[3];
  mixed m[2];
  int i = threadIdx.x;
#pragma unroll
  for (int k = 0; k < 2; k++) { next[k] = a[k * 64 + i]; t[k] = c[k * 64 + i]; m[k] = g[k * 64 + i]; }
#pragma unroll
  for (int k = 0; k < 3; k++) p[k] = e[k * 64 + i];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 2; k++) { tile[k * 64 + i] = next[k]; d[k * 64 + i] = t[k]; h[k * 64 + i] = m[k]; }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 3; k++) f[k * 64 + i] = p[k];
  b[i] = tile[127 - i];
  b[64 + i] = tile[63 - i];
}
`
	file := filepath.Join(t.TempDir(), "copies.cu")
	if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, s := range compilers(t) {
		t.Run(fmt.Sprintf("clang-%d", s.Clang.Major), func(t *testing.T) {
			out := ptxOf(t, s, file, "-O2")
			text, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), ".local") {
				t.Errorf("an array is in local memory:\n%s", text)
			}
			prog, err := heddle.Load(out)
			if err != nil {
				t.Fatal(err)
			}
			gpu, err := heddle.New(prog)
			if err != nil {
				t.Fatal(err)
			}
			var args []any
			var to []heddle.Ptr
			// Structs of 16, 12, 16 and 16 bytes, as many as threads copy.
			words := []int{128 * 4, 128 * 3, 192 * 4, 128 * 4}
			for k, n := range words {
				from := make([]uint32, n)
				for i := range from {
					from[i] = uint32(1000*k + i)
				}
				a, err := heddle.Upload(gpu, fmt.Sprint("from ", k), from)
				if err != nil {
					t.Fatal(err)
				}
				b, err := heddle.Upload(gpu, fmt.Sprint("to ", k), make([]uint32, n))
				if err != nil {
					t.Fatal(err)
				}
				args, to = append(args, a, b), append(to, b)
			}
			if _, err := gpu.Launch(t.Context(), "passed_on", heddle.Dim(1), heddle.Dim(64), args...); err != nil {
				t.Fatal(err)
			}
			for k, n := range words {
				got, err := heddle.Download[uint32](gpu, to[k], n)
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range got {
					want := uint32(1000*k + i)
					switch {
					case k == 0: // the tile is read from its end
						want = uint32(4*(127-i/4) + i%4)
					case k == 3 && i%4 == 3: // no data
						continue
					case k == 3 && i%4 == 2: // a char, and padding
						v, want = v&0xff, want&0xff
					}
					if v != want {
						t.Fatalf("word %d of copy %d is %d, want %d", i, k, v, want)
					}
				}
			}
		})
	}
}
