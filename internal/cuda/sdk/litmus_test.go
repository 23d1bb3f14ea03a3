package sdk_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/cuda/sdk"
)

// clangs are the compilers that tests of what compilers make go through: the
// oldest and the newest installed, or with HEDDLE_TEST_CLANGS=all every one.
func clangs(t *testing.T) []sdk.Clang {
	t.Helper()
	var list []sdk.Clang
	for major := range 100 {
		if c, err := sdk.ClangNamed(t.Context(), fmt.Sprintf("clang++-%d", major)); err == nil {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		c, err := sdk.FindClang(t.Context())
		if err != nil {
			t.Skip(err)
		}
		list = append(list, c)
	}
	if os.Getenv("HEDDLE_TEST_CLANGS") != "all" && len(list) > 2 {
		list = []sdk.Clang{list[0], list[len(list)-1]}
	}
	return list
}

// litmus has a program of testdata/litmus.cu in each line, and what thread i of
// the launch leaves in its place of out.
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

// TestLitmus: no compiler moves an access across a barrier, at any level of
// optimization.
func TestLitmus(t *testing.T) {
	if testing.Short() {
		t.Skip("every compiler compiles it four times")
	}
	for _, clang := range clangs(t) {
		s, err := sdk.UnpackAt(t.Context(), t.TempDir(), clang, os.Args[0])
		if err != nil {
			t.Fatal(err)
		}
		for level := range 4 {
			t.Run(fmt.Sprintf("clang-%d/O%d", clang.Major, level), func(t *testing.T) {
				t.Parallel()
				text := filepath.Join(t.TempDir(), "litmus.ptx")
				args := slices.Concat(s.DeviceFlags("sm_80"), []string{"-std=gnu++17", fmt.Sprintf("-O%d", level), "testdata/litmus.cu", "-o", text})
				if out, err := exec.Command(clang.Path, args...).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				prog, err := heddle.Load(text)
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
