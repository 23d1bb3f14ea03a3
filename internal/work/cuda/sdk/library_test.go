package sdk_test

import (
	"fmt"
	"math"
	"math/cmplx"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// row is an expression of a kernel, and its value.
type row struct {
	expr string
	want float64
}

// evaluate runs one thread that computes expressions after some statements, and
// compares their values within a relative error.
func evaluate(t *testing.T, head, setup string, rows []row, within float64) {
	t.Helper()
	var src strings.Builder
	fmt.Fprintf(&src, "%s\nextern \"C\" __global__ void values(double *out) {\n%s\n", head, setup)
	for i, r := range rows {
		fmt.Fprintf(&src, "  out[%d] = (double)(%s);\n", i, r.expr)
	}
	src.WriteString("}\n")
	for _, s := range compilers(t) {
		gpu := device(t, s, src.String(), "-std=c++17")
		for i, got := range numbers[float64](t, gpu, "values", len(rows)) {
			want := rows[i].want
			if got != want && !(math.Abs(got-want) <= within*math.Abs(want)) && !(got != got && want != want) {
				t.Errorf("clang %d: %s is %v, want %v", s.Clang.Major, rows[i].expr, got, want)
			}
		}
	}
}

// absolute is the path of a file from anywhere.
func absolute(t *testing.T, file string) string {
	t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestVectorFunctions: make_ functions store the numbers in the vector's fields.
func TestVectorFunctions(t *testing.T) {
	var rows []row
	for _, name := range expand("make_{char,uchar,short,ushort,int,uint,long,ulong,longlong,ulonglong,float,double}{1,2,3,4}", 1) {
		n := int(name[len(name)-1] - '0')
		call := name + "(" + strings.Join([]string{"3", "5", "7", "9"}[:n], ", ") + ")"
		for i, want := range []float64{3, 5, 7, 9}[:n] {
			rows = append(rows, row{fmt.Sprintf("%s.%c", call, "xyzw"[i]), want})
		}
	}
	evaluate(t, "", "", rows, 0)
}

// TestComplexFunctions: the arithmetic of cuComplex.h agrees with Go's complex
// numbers.
func TestComplexFunctions(t *testing.T) {
	a, b := complex(1.5, -2.25), complex(-0.5, 4)
	var rows []row
	for _, f := range []struct{ typ, suffix string }{{"cuFloatComplex", "f"}, {"cuDoubleComplex", ""}} {
		for name, want := range map[string]complex128{
			"cuCadd": a + b, "cuCsub": a - b, "cuCmul": a * b, "cuCdiv": a / b, "cuConj": cmplx.Conj(a),
		} {
			call := name + f.suffix + "(a" + f.suffix
			if name != "cuConj" {
				call += ", b" + f.suffix
			}
			call += ")"
			rows = append(rows, row{"cuCreal" + f.suffix + "(" + call + ")", real(want)}, row{"cuCimag" + f.suffix + "(" + call + ")", imag(want)})
		}
		rows = append(rows, row{"cuCabs" + f.suffix + "(a" + f.suffix + ")", cmplx.Abs(a)})
	}
	// Lengths of numbers whose squares overflow, and a quotient of them.
	rows = append(rows, row{"cuCabs(make_cuDoubleComplex(3e300, 4e300))", 5e300}, row{"cuCabsf(make_cuComplex(3e30f, 4e30f))", 5e30},
		row{"cuCdiv(make_cuDoubleComplex(3e300, 4e300), make_cuDoubleComplex(3e300, 4e300)).x", 1})
	names := expand("cu{Creal,Cimag,Cabs,Cadd,Csub,Cmul,Cdiv,Conj}{,f}", 1)
	setup := "volatile double z = 0; cuDoubleComplex a = make_cuDoubleComplex(1.5 + z, -2.25), b = make_cuDoubleComplex(-0.5, 4 + z);\n" +
		"cuFloatComplex af = make_cuFloatComplex(1.5f + (float)z, -2.25f), bf = make_cuFloatComplex(-0.5f, 4);"
	all := fmt.Sprint(rows)
	for _, name := range names {
		if !strings.Contains(all, name+"(") {
			t.Errorf("%s is not tried", name)
		}
	}
	evaluate(t, "#include <cuComplex.h>", setup, rows, 1e-6)
}

// TestAtomicFunctions: each returns the old value and stores the new one, in each
// scope, for each type.
func TestAtomicFunctions(t *testing.T) {
	type integer struct {
		typ    string
		bits   int
		signed bool
	}
	types := []integer{{"int", 32, true}, {"unsigned int", 32, false}, {"unsigned long long", 64, false}, {"long long", 64, true}}
	// Pairs of the value in memory and the operand; -1 is all bits.
	pairs := [][2]int64{{5, 3}, {3, 5}, {5, 5}, {0, 7}, {-1, 1}, {1, -1}, {12, 10}}
	var rows []row
	setup := "__shared__ int x_int; __shared__ unsigned int x_unsigned_int; __shared__ unsigned long long x_unsigned_long_long; __shared__ long long x_long_long;\n" +
		"__shared__ float x_float; __shared__ double x_double; __shared__ unsigned short x_short;\n"
	add := func(typ, name, old, args string, was, is float64) {
		x := "x_" + strings.ReplaceAll(typ, " ", "_")
		rows = append(rows, row{fmt.Sprintf("(%s = (%s)%s, %s(&%s, %s))", x, typ, old, name, x, args), was}, row{x, is})
	}
	for _, name := range expand("atomic{Add,Sub,Exch,Min,Max,Inc,Dec,And,Or,Xor}{,_block,_system}", 1) {
		op := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(name, "atomic"), "_block"), "_system")
		for _, typ := range types {
			switch { // as listed in the programming guide
			case typ.typ == "long long" && op != "Min" && op != "Max",
				typ.typ != "unsigned int" && (op == "Inc" || op == "Dec"),
				typ.bits == 64 && op == "Sub":
				continue
			}
			wrap := func(v int64) float64 {
				if typ.bits == 32 {
					if typ.signed {
						return float64(int32(v))
					}
					return float64(uint32(v))
				}
				if typ.signed {
					return float64(v)
				}
				return float64(uint64(v))
			}
			for _, p := range pairs {
				old, v := p[0], p[1]
				less := wrap(v) < wrap(old)
				is := old
				switch op {
				case "Add":
					is = old + v
				case "Sub":
					is = old - v
				case "Exch":
					is = v
				case "Min":
					if less {
						is = v
					}
				case "Max":
					if !less {
						is = v
					}
				case "Inc": // ((old >= val) ? 0 : (old+1))
					is = old + 1
					if wrap(old) >= wrap(v) {
						is = 0
					}
				case "Dec": // (((old == 0) || (old > val)) ? val : (old-1))
					is = old - 1
					if old == 0 || wrap(old) > wrap(v) {
						is = v
					}
				case "And":
					is = old & v
				case "Or":
					is = old | v
				case "Xor":
					is = old ^ v
				}
				add(typ.typ, name, fmt.Sprint(old), fmt.Sprintf("(%s)%d", typ.typ, v), wrap(old), wrap(is))
			}
		}
		if op == "Add" {
			add("float", name, "1.5", "-0.25f", 1.5, 1.25)
			add("double", name, "1.5", "1e-3", 1.5, 1.501)
		}
		if op == "Exch" {
			add("float", name, "1.5", "-0.25f", 1.5, -0.25)
		}
	}
	for _, name := range expand("atomicCAS{,_block,_system}", 1) {
		for _, typ := range types[:3] {
			add(typ.typ, name, "5", "5, 9", 5, 9)
			add(typ.typ, name, "5", "6, 9", 5, 5)
		}
		rows = append(rows, row{"(x_short = 5, " + name + "(&x_short, (unsigned short)5, (unsigned short)9))", 5}, row{"x_short", 9},
			row{"(x_short = 5, " + name + "(&x_short, (unsigned short)6, (unsigned short)9))", 5}, row{"x_short", 5})
	}
	evaluate(t, "", setup, rows, 0)
}

// TestOldNames: halves of products and 24-bit products under their old names, and
// conversions of addresses to generic ones and back.
func TestOldNames(t *testing.T) {
	evaluate(t, "__device__ int global_place; __constant__ int constant_place = 7;", `
  int local_place = 5;
  asm volatile("" : : "l"(&local_place) : "memory"); // forces it into memory
  global_place = 3;
  __shared__ int shared_place;
  shared_place = 4;
  unsigned long long constant_address, local_address;
  asm("cvta.to.const.u64 %0, %1;" : "=l"(constant_address) : "l"(&constant_place));
  asm("cvta.to.local.u64 %0, %1;" : "=l"(local_address) : "l"(&local_place));
  __nanosleep(100);`,
		[]row{
			{"mulhi(-0x40000000, 12)", -3}, {"mulhi(0xc0000000u, 12u)", 9}, {"umulhi(0xc0000000u, 12u)", 9},
			{"mul24(-3, 5)", -15}, {"mul24(0x1000003, 5)", 15}, {"umul24(0x1000003u, 5u)", 15},
			{"mul64hi(-(1ll << 62), 12ll)", -3}, {"umul64hi(3ull << 62, 12ull)", 9},
			{"fdivide(7.0, 2.0)", 3.5},
			{"*(int *)__cvta_global_to_generic(__cvta_generic_to_global(&global_place))", 3},
			{"*(int *)__cvta_shared_to_generic(__cvta_generic_to_shared(&shared_place))", 4},
			{"*(int *)__cvta_constant_to_generic(constant_address)", 7},
			{"*(int *)__cvta_local_to_generic(local_address)", 5},
		}, 0)
}

// TestReductions: a warp's sum, extremes and bits, of signed and unsigned numbers.
func TestReductions(t *testing.T) {
	const source = `
extern "C" __global__ void reductions(int *out) {
  int i = threadIdx.x, v = i * 7 % 32 - 16;
  out[i] = __reduce_add_sync(~0u, v);
  out[32 + i] = __reduce_min_sync(~0u, v);
  out[64 + i] = __reduce_max_sync(~0u, v);
  out[96 + i] = __reduce_min_sync(~0u, (unsigned int)v);
  out[128 + i] = __reduce_max_sync(~0u, (unsigned int)v);
  out[160 + i] = __reduce_and_sync(~0u, 0xf0u | i);
  out[192 + i] = __reduce_or_sync(~0u, 1u << i / 2);
  out[224 + i] = __reduce_xor_sync(~0u, 3u * i);
  out[256 + i] = i % 2 ? __reduce_add_sync(0xaaaaaaaau, (unsigned int)i) : __reduce_add_sync(0x55555555u, (unsigned int)i);
}`
	for _, s := range compilers(t) {
		t.Run(fmt.Sprint("clang ", s.Clang.Major), func(t *testing.T) { reductions(t, device(t, s, source)) })
	}
}

func reductions(t *testing.T, gpu *heddle.GPU) {
	compare(t, launch(t, gpu, "reductions", 32, 288), func(k int) int32 {
		xor := 0
		for i := range 32 {
			xor ^= 3 * i
		}
		if k/32 == 8 {
			return []int32{240, 256}[k%2]
		}
		// i * 7 takes each remainder modulo 32 once.
		return []int32{-16, -16, 15, 0, -1, 0xf0, 0xffff, int32(xor)}[k/32]
	})
}

// TestWarpFunctions: shuffles of every type and width, votes, and reads through the
// read-only cache.
func TestWarpFunctions(t *testing.T) {
	types := strings.Split("int,unsigned int,long,unsigned long,long long,unsigned long long,float,double", ",")
	ways := []struct {
		call string
		from func(i, width int) int // the lane that the value comes from
	}{
		{"__shfl_sync(~0u, v, 3, W)", func(i, w int) int { return i&^(w-1) | 3 }},
		{"__shfl_sync(~0u, v, i + 1, W)", func(i, w int) int { return i&^(w-1) | (i+1)&(w-1) }},
		{"__shfl_up_sync(~0u, v, 2, W)", func(i, w int) int {
			if i&(w-1) < 2 {
				return i
			}
			return i - 2
		}},
		{"__shfl_down_sync(~0u, v, 3, W)", func(i, w int) int {
			if i&(w-1)+3 >= w {
				return i
			}
			return i + 3
		}},
		{"__shfl_xor_sync(~0u, v, 5, W)", func(i, _ int) int { return i ^ 5 }},
	}
	src := "#include \"" + absolute(t, "testdata/math_api.h") + "\"\nextern \"C\" __global__ void shuffles(int *out) {\n  int i = threadIdx.x;\n"
	var want []func(i int) int
	for _, typ := range types {
		for _, width := range []int{8, 32} {
			for _, w := range ways {
				// A negative value that needs both halves of 64 bits.
				scale := "-3"
				if strings.Contains(typ, "long") || typ == "double" {
					scale = "-3 * 0x100000001ll"
				}
				call := strings.ReplaceAll(w.call, "W)", fmt.Sprint(width, ")"))
				src += fmt.Sprintf("  { %s v = (%[1]s)((i + 1) * (%s)), r = %s; IS(%[1]s, %[3]s) out[%d + i] = r == (%[1]s)((FROM(%[4]d) + 1) * (%[2]s)); }\n",
					typ, scale, call, 32*len(want))
				want = append(want, func(i int) int { return w.from(i, width) })
			}
		}
	}
	// FROM is the lane that the host computed.
	table := "static __device__ const unsigned char lanes_of[] = {"
	for _, f := range want {
		for i := range 32 {
			table += fmt.Sprint(f(i), ",")
		}
	}
	src = table + "};\n#define FROM(k) (int)lanes_of[(k) + threadIdx.x]\n" + src + "}\n" + `
template <class T> __device__ bool loads(int *place, T v) {
  *(T *)place = v;
  T r = __ldg((const T *)place);
  for (unsigned k = 0; k < sizeof(T); k++)
    if (((char *)&r)[k] != ((char *)&v)[k]) return false;
  return true;
}
extern "C" __global__ void votes(int *out) {
  int i = threadIdx.x;
  out[i] = __any_sync(~0u, i == 40) + 2 * __any_sync(~0u, i == 7) + 4 * __all_sync(~0u, i < 32) + 8 * __all_sync(~0u, i < 31);
  out[32 + i] = __ballot_sync(~0u, i % 3 == 0);
  out[64 + i] = __activemask();
  if (i % 2) out[96 + i] = __ballot_sync(0xaaaaaaaau, i > 16);
  else out[96 + i] = __popc(__activemask());
  __syncwarp();
  out[128 + i] = 0;
  int *p = out + 160 + 8 * i;
  out[128 + i] = loads(p, (char)-1) + loads(p, (unsigned char)200) + loads(p, (short)-300) + loads(p, 1ll << 40) + loads(p, -1.5) + loads(p, 2.5f) +
                 loads(p, make_int4(1, 2, 3, 4)) + loads(p, make_double2(-1, 1e300)) + loads(p, make_uchar4(1, 2, 3, 4)) + loads(p, 7ul);
}
`
	for _, s := range compilers(t) {
		t.Run(fmt.Sprint("clang ", s.Clang.Major), func(t *testing.T) {
			gpu := device(t, s, src)
			compare(t, launch(t, gpu, "shuffles", 32, 32*len(want)), func(int) int32 { return 1 })
			compare(t, launch(t, gpu, "votes", 32, 416)[:160], func(k int) int32 {
				if k/32 == 3 {
					return []int32{16, -0x55560000}[k%2]
				}
				return []int32{2 + 4, 0x49249249, -1, 0, 10}[k/32]
			})
		})
	}
}

// TestPipelinePrimitives: the data of __pipeline_memcpy_async are present after the
// wait for their batch, including the bytes filled with zeros.
func TestPipelinePrimitives(t *testing.T) {
	const source = `
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
extern "C" __global__ void batches(int *out) {
  __shared__ __align__(16) int place[16];
  for (int i = 0; i < 16; i++) out[i] = 100 + i, place[i] = -1;
  __threadfence();
  __pipeline_memcpy_async(place, out, 16);
  __pipeline_commit();
  __pipeline_memcpy_async(place + 4, out + 4, 8);
  __pipeline_memcpy_async(place + 6, out + 6, 4);
  __pipeline_commit();
  __pipeline_memcpy_async(place + 8, out + 8, 16, 8);
  __pipeline_commit();
  __pipeline_wait_prior(2);
  for (int i = 0; i < 4; i++) out[16 + i] = place[i];
  __pipeline_wait_prior(0);
  for (int i = 4; i < 16; i++) out[16 + i] = place[i];
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(place, out + 8, sizeof(int) * 4, pipe);
  pipe.producer_commit();
  cuda::pipeline_consumer_wait_prior<0>(pipe);
  out[32] = place[0];
  pipe.consumer_release();
  out[33] = pipe.quit();
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  init(&bar, 1);
  cuda::memcpy_async(place, out, sizeof(int) * 4, bar);
  cuda::pipeline_producer_commit(pipe, bar);
  bar.arrive_and_wait();
  out[34] = place[3];
  cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, place, out + 4, sizeof(int));
  cg::memcpy_async(block, place + 1, out + 5, sizeof(int));
  cg::wait_prior<0>(block);
  out[35] = place[0] + place[1];
}`
	for _, arch := range alltests.Some([]string{"sm_80", "sm_70"}, 1) {
		gpu := device(t, kit(t), source, "--no-cuda-gpu-arch=all", "--cuda-gpu-arch="+arch)
		compare(t, launch(t, gpu, "batches", 1, 36), func(i int) int32 {
			switch {
			case i < 16:
				return int32(100 + i)
			case i < 23, i == 24 || i == 25:
				return int32(84 + i)
			case i == 26 || i == 27:
				return 0
			case i < 32:
				return -1
			}
			return []int32{108, 1, 103, 104 + 105}[i-32]
		})
	}
}

// TestMeetings: barriers, latches, semaphores and the other members of atomic objects.
func TestMeetings(t *testing.T) {
	gpu := device(t, kit(t), `
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda/std/atomic>
extern "C" __global__ void meetings(int *out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ cuda::latch<cuda::thread_scope_block> gate;
  __shared__ cuda::counting_semaphore<cuda::thread_scope_block> permits;
  __shared__ int sum;
  int i = threadIdx.x;
  if (i == 0) {
    init(&bar, 64);
    new (&gate) cuda::latch<cuda::thread_scope_block>(64);
    new (&permits) cuda::counting_semaphore<cuda::thread_scope_block>(3);
    sum = 0;
  }
  __syncthreads();
  // Every second thread leaves the barrier: the next phase expects the others.
  atomicAdd(&sum, i);
  bool stays = i % 2;
  if (stays) {
    auto token = bar.arrive();
    while (!bar.try_wait(token)) {}
    out[i] = sum;
    __syncwarp(0xaaaaaaaa);
    bar.arrive();
    bar.wait_parity(true);
    out[64 + i] = bar.try_wait_parity(true) + 2 * bar.try_wait_parity(false);
  } else {
    bar.arrive_and_drop();
    out[i] = out[64 + i] = -1;
  }
  gate.count_down();
  gate.wait();
  out[128 + i] = gate.try_wait();
  if (i == 0) {
    int n = 0;
    while (permits.try_acquire()) n++;
    permits.release(2);
    permits.acquire();
    out[192] = n * 10 + permits.try_acquire() + permits.try_acquire();
  }
}
template <class A> __device__ void members(A *a, int *out) {
  int e = 6;
  *a = 12;
  out[0] = a->fetch_and(10);
  out[1] = a->fetch_xor(3);
  out[2] = a->fetch_sub(4);
  out[3] = a->fetch_min(5);
  out[4] = a->exchange(6);
  out[5] = a->compare_exchange_weak(e, 7);
  out[6] = a->compare_exchange_strong(e, 8) * 10 + e;
  out[7] = (*a)++;
  out[8] = --*a;
  out[9] = (*a += 5) + (*a -= 1);
  out[10] = (*a |= 16) + (*a &= 24) + (*a ^= 1);
  a->store(9, cuda::memory_order_release);
  out[11] = a->load(cuda::memory_order_acquire) + *a + a->is_lock_free();
  a->wait(3);
  a->notify_one();
  a->notify_all();
  out[12] = a->fetch_max(40) + a->fetch_or(1) + a->fetch_add(1);
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
}
extern "C" __global__ void atomics(int *out) {
  __shared__ cuda::std::atomic<int> plain;
  __shared__ volatile cuda::std::atomic<int> changing;
  __shared__ cuda::atomic<int, cuda::thread_scope_block> narrow;
  members(&plain, out);
  members(&changing, out + 13);
  members((volatile cuda::atomic<int, cuda::thread_scope_block> *)&narrow, out + 26);
  __shared__ volatile cuda::std::atomic_flag flag;
  flag.clear();
  out[39] = flag.test_and_set() * 2 + flag.test_and_set();
}`)
	compare(t, launch(t, gpu, "meetings", 64, 193), func(k int) int32 {
		switch {
		case k == 192:
			return 31
		case k >= 128:
			return 1
		case k%2 == 0:
			return -1
		case k < 64:
			return 63 * 32
		}
		return 1
	})
	want := []int32{12, 8, 11, 7, 5, 1, 7, 7, 7, 12 + 11, 27 + 24 + 25, 19, 9 + 40 + 41}
	compare(t, launch(t, gpu, "atomics", 1, 40), func(k int) int32 {
		if k == 39 {
			return 1
		}
		return want[k%13]
	})
}

// TestGroupMembers: the indices of threads, blocks and groups.
func TestGroupMembers(t *testing.T) {
	gpu := device(t, kit(t), `
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
namespace cg = cooperative_groups;
extern "C" __global__ void places(int *out) {
  cg::thread_block block = cg::this_thread_block();
  cg::grid_group grid = cg::this_grid();
  int i = threadIdx.x;
  dim3 at = block.thread_index(), size = block.group_dim(), threads = block.dim_threads(), which = block.group_index();
  out[i] = at.x + 100 * size.x + 10000 * threads.y + 100000 * which.x;
  dim3 blocks = grid.group_dim(), dims = grid.dim_blocks(), mine = grid.block_index();
  out[32 + i] = blocks.x + 10 * dims.y + 100 * mine.z + 1000 * grid.block_rank() + 10000 * grid.num_blocks() + 100000 * grid.is_valid();
  out[64 + i] = grid.num_threads() * 100 + block.num_threads() + cg::group_size(block);
  auto token = block.barrier_arrive();
  block.barrier_wait(std::move(token));
  cg::synchronize(block);
  cg::synchronize(grid);
  auto all = grid.barrier_arrive();
  grid.barrier_wait(std::move(all));
  cg::multi_grid_group grids = cg::this_multi_grid();
  out[320 + i] = grids.grid_rank() * 10 + grids.num_grids();
  auto tile = cg::tiled_partition<8>(block);
  out[96 + i] = tile.shfl_up(i, 1) * 10000 + tile.shfl_down(i, 1) * 100 + tile.shfl_xor(i, 1);
  int same;
  out[128 + i] = tile.match_any(i % 2) + (tile.match_all(i / 8, same) << 8) + (same << 16);
  tile.match_all(i, same);
  out[160 + i] = same;
  int count = 0;
  cg::invoke_one(tile, [&] { count = 1; });
  out[192 + i] = count * 1000 + cg::invoke_one_broadcast(tile, [&] { return i + 1; });
  __shared__ cuda::atomic<int, cuda::thread_scope_block> total;
  if (i == 0) total = 1000;
  block.sync();
  auto warp = cg::tiled_partition<32>(block);
  out[224 + i] = cg::exclusive_scan_update(warp, total, i);
  out[256 + i] = cg::inclusive_scan_update(warp, total, 2);
  out[288 + i] = total;
}`)
	sum := func(n int) int32 { return int32(n * (n - 1) / 2) }
	compare(t, launch(t, gpu, "places", 32, 352), func(k int) int32 {
		i := k % 32
		first, last := i&^7, i|7
		switch k / 32 {
		case 0:
			return int32(i + 3200 + 10000)
		case 1:
			return 1 + 10 + 10000 + 100000
		case 2:
			return 3200 + 32 + 32
		case 3:
			return int32(max(i-1, first)*10000 + min(i+1, last)*100 + (i ^ 1))
		case 4:
			return []int32{0x55, 0xaa}[i%2] + 0xff00 + 1<<16
		case 5:
			return 0
		case 6:
			if i == first {
				return int32(1000 + first + 1)
			}
			return int32(first + 1)
		case 7:
			return 1000 + sum(i)
		case 8:
			return 1000 + sum(32) + int32(2*(i+1))
		case 10:
			return 1
		}
		return 1000 + sum(32) + 64
	})
}

// TestFP8Conversions: every conversion to and from 8-bit numbers equals that
// through float.
func TestFP8Conversions(t *testing.T) {
	alltests.Only(t, "conversions of 8-bit floats, compiled")
	var rows []row
	// Numbers with three bits of fraction, too large ones, and NaN.
	values := []struct {
		x          float64
		e4m3, e5m2 float64 // saturated
	}{{1.5, 1.5, 1.5}, {-17, -16, -16}, {1.0625, 1, 1}, {0.015625, 0.015625, 0.015625}, {500, 448, 512}, {-1e5, -448, -57344}, {3.4, 3.5, 3.5}}
	for _, v := range values {
		for _, f := range []struct {
			name, kind string
			want       float64
		}{{"e4m3", "__NV_E4M3", v.e4m3}, {"e5m2", "__NV_E5M2", v.e5m2}} {
			fp8 := "__nv_fp8_" + f.name
			widen := func(code string) string {
				return fmt.Sprintf("(float)__half(__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(%s), %s))", code, f.kind)
			}
			to := ", __NV_SATFINITE, " + f.kind + ")"
			x := fmt.Sprint(v.x)
			for _, code := range []string{
				"__nv_cvt_float_to_fp8((float)" + x + to,
				"__nv_cvt_double_to_fp8(" + x + to,
				"__nv_cvt_float2_to_fp8x2(make_float2(" + x + ", 1)" + to,
				"__nv_cvt_float2_to_fp8x2(make_float2(1, " + x + ")" + to + " >> 8",
				"__nv_cvt_double2_to_fp8x2(make_double2(1, " + x + ")" + to + " >> 8",
				fp8 + "((float)" + x + ").__x", fp8 + "((double)" + x + ").__x",
				"__nv_fp8x2_" + f.name + "(make_double2(1, " + x + ")).__x >> 8",
				"__nv_fp8x4_" + f.name + "(make_float4(0, 1, 2, " + x + ")).__x >> 24",
				"__nv_fp8x4_" + f.name + "(make_double4(0, 1, " + x + ", 2)).__x >> 16",
			} {
				rows = append(rows, row{widen(code), f.want})
			}
			if v.x == math.Trunc(v.x) && math.Abs(v.x) < 1e4 { // as integers, and as numbers that are exact in 16 bits
				for _, typ := range []string{"short", "int", "long", "long long"} {
					rows = append(rows, row{"(float)" + fp8 + "((" + typ + ")" + x + ")", f.want}, row{"(" + typ + ")" + fp8 + "(" + x + ")", f.want})
				}
				if v.x > 0 {
					for _, typ := range []string{"unsigned short", "unsigned int", "unsigned long", "unsigned long long"} {
						rows = append(rows, row{"(float)" + fp8 + "((" + typ + ")" + x + ")", f.want}, row{"(" + typ + ")" + fp8 + "(" + x + ")", f.want})
					}
				}
			}
			if math.Abs(v.x) < 1e4 && v.x != 3.4 {
				for _, code := range []string{
					"__nv_cvt_halfraw_to_fp8(__half(" + x + ")" + to,
					"__nv_cvt_halfraw2_to_fp8x2(__half2(1, " + x + ")" + to + " >> 8",
					"__nv_fp8x4_" + f.name + "(__half2(0, 1), __half2(2, " + x + ")).__x >> 24",
					"__nv_fp8x4_" + f.name + "(__half2(0, " + x + "), __half2(2, 3)).__x >> 8",
				} {
					rows = append(rows, row{widen(code), f.want})
				}
			}
			// Numbers that are exact in 16 bits are not rounded twice.
			bf := float64(math.Float32frombits(math.Float32bits(float32(v.x)) &^ 0xffff))
			if bf == v.x {
				for _, code := range []string{
					"__nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16((float)" + x + ")" + to,
					"__nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162(1, (float)" + x + ")" + to + " >> 8",
					"__nv_fp8x2_" + f.name + "(__nv_bfloat162(1, (float)" + x + ")).__x >> 8",
					"__nv_fp8x4_" + f.name + "(__nv_bfloat162(0, 1), __nv_bfloat162(2, (float)" + x + ")).__x >> 24",
				} {
					rows = append(rows, row{widen(code), f.want})
				}
			}
		}
	}
	rows = append(rows, []row{
		{"(int)__nv_fp8_e5m2(__half(3.0f))", 3}, {"(unsigned char)__nv_fp8_e5m2(-5.0f)", 0}, {"(signed char)__nv_fp8_e4m3(-448.0f)", -128},
		{"(char)__nv_fp8_e4m3(300.0f)", 127}, {"(unsigned char)__nv_fp8_e4m3(300.0f)", 255}, {"(short)__nv_fp8_e5m2(57344.0f)", 32767},
		{"(int)from_bits<__nv_fp8_e5m2>(0x7c)", math.MaxInt32}, {"(int)from_bits<__nv_fp8_e5m2>(0xfc)", math.MinInt32},
		{"(double)(long long)from_bits<__nv_fp8_e4m3>(0x7f)", -0x1p63}, {"(double)(unsigned long long)from_bits<__nv_fp8_e5m2>(0xff)", 0x1p63},
		{"__nv_cvt_double_to_e8m0(1.5, __NV_SATFINITE, cudaRoundPosInf)", 128}, {"__nv_cvt_double_to_e8m0(1.5, __NV_SATFINITE, cudaRoundZero)", 127},
		{"__nv_cvt_double_to_e8m0(1 + 0x1p-40, __NV_SATFINITE, cudaRoundPosInf)", 128}, {"__nv_cvt_double_to_e8m0(1e-300, __NV_SATFINITE, cudaRoundPosInf)", 0},
		{"__nv_cvt_double_to_e8m0(1e300, __NV_SATFINITE, cudaRoundZero)", 254}, {"__nv_cvt_double_to_e8m0(1e300, __NV_NOSAT, cudaRoundZero)", 255},
		{"__nv_cvt_double2_to_e8m0x2(make_double2(1, 3), __NV_SATFINITE, cudaRoundPosInf)", 127 + 129*256},
		{"__nv_cvt_bfloat162raw_to_e8m0x2(__nv_bfloat162(1.0f, 3.0f), __NV_SATFINITE, cudaRoundZero)", 127 + 128*256},
		{"__nv_fp8_e8m0(__half(3.0f)).__x", 129}, {"__nv_fp8_e8m0(3).__x", 129}, {"__nv_fp8_e8m0(3.0).__x", 129}, {"__nv_fp8_e8m0(65537ll).__x", 127 + 17},
		{"(float)(__half)__nv_fp8_e8m0(0.5f)", 0.5}, {"(int)__nv_fp8_e8m0(8.0f)", 8}, {"(double)from_bits<__nv_fp8_e8m0>(0)", 0x1p-127}, {"(bool)from_bits<__nv_fp8_e8m0>(0)", 1},
		{"((float2)__nv_fp8x2_e8m0(make_float2(1, 5))).y", 8}, {"__high2float((__half2)__nv_fp8x2_e8m0(__half2(1.0f, 2.0f)))", 2},
		{"((float4)__nv_fp8x4_e8m0(make_double4(1, 2, 3, 4))).z", 4}, {"__nv_fp8x4_e8m0(__nv_bfloat162(1.0f, 1.0f), __nv_bfloat162(1.0f, 4.0f)).__x >> 24", 129},
		{"(int)from_bits<__nv_fp8_e4m3>(0x7f)", 0}, {"(unsigned int)from_bits<__nv_fp8_e5m2>(0xfc)", 0},
		{"(bool)__nv_fp8_e4m3(0.5f)", 1}, {"(bool)__nv_fp8_e4m3(-0.0f)", 0},
		{"(float)__high2half(__half2(__nv_cvt_fp8x2_to_halfraw2(0x3c38, __NV_E4M3)))", 1.5},
		{"__nv_cvt_float_to_fp8(1e6f, __NV_NOSAT, __NV_E5M2)", 0x7c}, {"__nv_cvt_float_to_fp8(-1e6f, __NV_NOSAT, __NV_E4M3)", 0xff},
	}...)
	evaluate(t, "#include <cuda_fp8.h>\ntemplate <class T> __device__ T from_bits(int v) { T r; r.__x = v; return r; }", "", rows, 0)
}

// TestAtomicInstructions: sums, differences and extremes are one instruction, in 64 bits too, and the
// type of the object decides.
func TestAtomicInstructions(t *testing.T) {
	file := ptxFile(t, kit(t), `
#include <cuda/atomic>
__device__ unsigned counter;
extern "C" __global__ void direct(int *out) {
  __shared__ unsigned long long sum;
  __shared__ long long least, most;
  __shared__ double real;
  __shared__ float single;
  __shared__ int whole;
  const int i = threadIdx.x;
  if (i == 0) sum = 1ull << 40, least = most = -(1ll << 40), real = 0.5, single = 100, whole = -5;
  __syncthreads();
  __nv_atomic_fetch_sub(&sum, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_min(&least, -(1ll << 40) - i, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_max(&most, -(1ll << 40) + i, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_add(&real, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_sub(&real, 0.25, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_sub(&single, 1.5, __NV_ATOMIC_RELAXED);
  cuda::atomic_ref<int>(whole).fetch_sub(-2, cuda::memory_order_relaxed);
  volatile unsigned *v = &counter;
  __nv_atomic_store_n(v, 0, __NV_ATOMIC_RELAXED);
  __syncthreads();
  __nv_atomic_add(v, 2, __NV_ATOMIC_RELAXED);
  __syncthreads();
  if (i) return;
  out[0] = (int)((1ull << 40) - sum);
  out[1] = (int)(least + (1ll << 40));
  out[2] = (int)(most + (1ll << 40));
  out[3] = (int)(4 * real);
  out[4] = (int)(2 * single);
  out[5] = whole;
  out[6] = (int)__nv_atomic_load_n(v, __NV_ATOMIC_RELAXED);
  const volatile unsigned *c = v;
  unsigned copy;
  __nv_atomic_load(c, &copy, __NV_ATOMIC_RELAXED);
  out[7] = (int)copy;
}
`, "-std=c++17")
	want := []int32{64, -63, 63, 2 + 64*3, 200 - 64*3, -5 + 64*2, 128, 128}
	compare(t, launch(t, load(t, file), "direct", 64, len(want)), func(i int) int32 { return want[i] })
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), ".cas") {
		t.Errorf("values are compared and swapped:\n%s", text)
	}
}

// TestTF32: the last 13 bits of a float are rounded away.
func TestTF32(t *testing.T) {
	evaluate(t, "#include <mma.h>", "", []row{
		{"nvcuda::wmma::__float_to_tf32(1.0f + 0x1p-10f)", 1 + 0x1p-10},
		{"nvcuda::wmma::__float_to_tf32(1.0f + 0x1p-12f)", 1},
		{"nvcuda::wmma::__float_to_tf32(-1.0f - 0x1.8p-11f)", -1 - 0x1p-10},
	}, 0)
}

// TestErrorNamesOfKernels: kernels get the host's names and meanings of errors.
func TestErrorNamesOfKernels(t *testing.T) {
	const codes, length = 1000, 160
	gpu := device(t, kit(t), fmt.Sprintf(`
extern "C" __global__ void names(char *out) {
  for (int i = 0; i < %[1]d; i++) {
    const char *words[2] = {cudaGetErrorName((cudaError_t)i), cudaGetErrorString((cudaError_t)i)};
    for (int k = 0; k < 2; k++, out += %[2]d)
      for (int c = 0; c < %[2]d - 1 && words[k][c]; c++) out[c] = words[k][c];
  }
}`, codes, length))
	out, err := heddle.Upload(gpu, "out", make([]byte, 2*codes*length))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gpu.Launch(t.Context(), "names", heddle.Dim(1), heddle.Dim(1), out); err != nil {
		t.Fatal(err)
	}
	got, err := heddle.Download[byte](gpu, out, 2*codes*length)
	if err != nil {
		t.Fatal(err)
	}
	for i := range codes {
		for k, want := range []string{cuda.Error(i).Name(), cuda.Error(i).Text()} {
			at := (2*i + k) * length
			if text := strings.TrimRight(string(got[at:at+length]), "\x00"); text != want {
				t.Errorf("error %d is %q, want %q", i, text, want)
			}
		}
	}
}

// TestStatesOfHostCode: a plain C++ file can use small floats and the states of
// random generators, with the same sizes as in kernels.
func TestStatesOfHostCode(t *testing.T) {
	alltests.Only(t, "lines of host code, compiled")
	const sizes = `
#include <curand_kernel.h>
static_assert(sizeof(curandState) == 48 && sizeof(curandState_t) == 48 && sizeof(curandStateXORWOW_t) == 48, "XORWOW");
static_assert(sizeof(curandStatePhilox4_32_10_t) == 64, "Philox");
static_assert(sizeof(curandStateMRG32k3a_t) == 48, "MRG32k3a");
static_assert(sizeof(curandDirectionVectors32_t) == 128 && sizeof(curandDirectionVectors64_t) == 512, "Sobol");
struct program { curandState *states; curandStateSobol32_t *a; curandStateScrambledSobol64_t *b; };
`
	for _, s := range compilers(t) {
		if err := accepts(t, s, sizes); err != nil {
			t.Error(err)
		}
		file := filepath.Join(t.TempDir(), "host.cpp")
		if err := os.WriteFile(file, []byte(sizes+"#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuda_fp8.h>\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if text, err := exec.Command(s.Clang.Path, "-fsyntax-only", "-I"+s.Include(), file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", s.Clang.Version, err, text)
		}
	}
}
