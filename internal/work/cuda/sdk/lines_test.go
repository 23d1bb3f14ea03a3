package sdk_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// TestLines: instructions that access memory, or that threads meet at, have lines of the
// program and not of headers, whatever makes them: atomics, intrinsics of warps, cooperative
// groups, asynchronous copies, the classes of namespace cuda.
func TestLines(t *testing.T) {
	alltests.Only(t, "lines of compiled programs")
	const source = `#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
__global__ void k(int *p, const int *q, int n)
{
	__shared__ int s[64];
	int i = threadIdx.x;
	s[i] = q[i];
	__syncwarp(0xffffffff);
	int v = s[63 - i];
	v += __shfl_down_sync(0xffffffffu, v, 1);
	v += __ballot_sync(0xffffffffu, v > 3);
	atomicAdd(p, v);
	atomicCAS(p + 1, v, n);
	__threadfence();
	cg::thread_block b = cg::this_thread_block();
	b.sync();
	auto t = cg::tiled_partition<32>(b);
	v += t.shfl_down(v, 1);
	t.sync();
	__pipeline_memcpy_async(&s[i], &q[i], 4);
	__pipeline_commit();
	__pipeline_wait_prior(0);
	__syncthreads();
	cuda::atomic_ref<int, cuda::thread_scope_device> r(p[2]);
	r.fetch_add(v, cuda::memory_order_relaxed);
	v += r.load(cuda::memory_order_acquire);
	p[3 + i] = v + s[i] + __syncthreads_count(v);
}
`
	file := filepath.Join(t.TempDir(), "lines.cu")
	if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	want := map[string][]int{ // lines of some instructions
		"shfl": {12, 20}, "vote": {13}, "atom": {14, 15, 27}, "cp": {22, 23, 24},
	}
	for _, s := range compilers(t) {
		for _, level := range []string{"-O2", "-O0"} {
			t.Run(s.Clang.Version+level, func(t *testing.T) {
				text, err := os.ReadFile(ptxOf(t, s, file, append(s.ReadingFlags("cuda"), level, "-gline-tables-only")...))
				if err != nil {
					t.Fatal(err)
				}
				p, err := ptx.Parse("lines.ptx", text)
				if err != nil {
					t.Fatal(err)
				}
				lines := map[string][]int{}
				for _, f := range p.Funcs {
					for _, in := range f.Code {
						if !slices.Contains([]string{"ld", "st", "atom", "red", "bar", "barrier", "shfl", "vote", "membar", "fence", "cp"}, in.Op) || slices.Contains(in.Mods, "param") {
							continue
						}
						if in.Loc == nil || in.Loc.Line == 0 {
							continue // code of the compiler's own
						}
						if file := p.Files[in.Loc.File]; !strings.HasSuffix(file, ".cu") {
							t.Errorf("%s.%s has line %d of %s", in.Op, strings.Join(in.Mods, "."), in.Loc.Line, filepath.Base(file))
						}
						if !slices.Contains(lines[in.Op], in.Loc.Line) {
							lines[in.Op] = append(lines[in.Op], in.Loc.Line)
						}
					}
				}
				for op, list := range want {
					for _, n := range list {
						if !slices.Contains(lines[op], n) {
							t.Errorf("no %s has line %d: %d", op, n, lines[op])
						}
					}
				}
			})
		}
	}
}
