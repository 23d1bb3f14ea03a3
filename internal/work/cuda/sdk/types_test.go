package sdk_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle"
)

// half is the value of a number in half precision.
func half(h uint16) float64 {
	sign, e, m := 1.0, int(h>>10&31), float64(h&0x3ff)
	if h>>15 != 0 {
		sign = -1
	}
	switch {
	case e == 31 && m != 0:
		return math.NaN()
	case e == 31:
		return sign * math.Inf(1)
	case e == 0:
		return sign * math.Ldexp(m, -24)
	}
	return sign * math.Ldexp(1024+m, e-25)
}

// Every half and bfloat16 converts to the float of the same value, and back.
func TestHalves(t *testing.T) {
	gpu := device(t, kit(t), `
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void widen(float *h, float *b, unsigned short *back) {
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  __half x = __ushort_as_half((unsigned short)i);
  __nv_bfloat16 y = __ushort_as_bfloat16((unsigned short)i);
  h[i] = __half2float(x);
  b[i] = __bfloat162float(y);
  back[2 * i] = __half_as_ushort(__float2half(h[i]));
  back[2 * i + 1] = __bfloat16_as_ushort(__float2bfloat16(b[i]));
}
extern "C" __global__ void sums(float *out) {
  // 1 + 2^-11 + 2^-12 is above the middle of two halves, 1 + 2^-11 on it
  __half one = __float2half(1.0f), d = __float2half(0x1p-11f), e = __float2half(0x1.8p-11f);
  out[0] = __half2float(one + d);
  out[1] = __half2float(one + e);
  out[2] = __half2float(__hfma(d, __float2half(0.5f), one));
  __half2 p = __hfma2(__floats2half2_rn(2, 3), __floats2half2_rn(4, 5), __floats2half2_rn(1, -1));
  out[3] = __low2float(p);
  out[4] = __high2float(p);
  out[5] = __half2float(__hdiv(one, __float2half(3.0f)));
  out[6] = __bfloat162float(__float2bfloat16(1.0f) + __float2bfloat16(0x1.8p-8f));
  out[7] = __bfloat162float(__hfma(__float2bfloat16(3.0f), __float2bfloat16(5.0f), __float2bfloat16(1.0f)));
}`)
	const n = 1 << 16
	up := func(size int) heddle.Ptr {
		p, err := gpu.Alloc(size, "buffer")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	hp, bp, back := up(4*n), up(4*n), up(4*n)
	if _, err := gpu.Launch(context.Background(), "widen", heddle.Dim(n/256), heddle.Dim(256), hp, bp, back); err != nil {
		t.Fatal(err)
	}
	h, err := heddle.Download[float32](gpu, hp, n)
	if err != nil {
		t.Fatal(err)
	}
	b, err := heddle.Download[float32](gpu, bp, n)
	if err != nil {
		t.Fatal(err)
	}
	r, err := heddle.Download[uint16](gpu, back, 2*n)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		want, wantB := half(uint16(i)), float64(math.Float32frombits(uint32(i)<<16))
		if math.IsNaN(want) != math.IsNaN(float64(h[i])) || !math.IsNaN(want) && (float64(h[i]) != want || r[2*i] != uint16(i)) {
			t.Fatalf("half %#04x is %v and comes back as %#04x, want %v", i, h[i], r[2*i], want)
		}
		if math.IsNaN(wantB) != math.IsNaN(float64(b[i])) || !math.IsNaN(wantB) && (float64(b[i]) != wantB || r[2*i+1] != uint16(i)) {
			t.Fatalf("bfloat16 %#04x is %v and comes back as %#04x, want %v", i, b[i], r[2*i+1], wantB)
		}
	}
	if _, err := gpu.Launch(context.Background(), "sums", heddle.Dim(1), heddle.Dim(1), hp); err != nil {
		t.Fatal(err)
	}
	got, err := heddle.Download[float32](gpu, hp, 8)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float32{1, 1 + 0x1p-10, 1, 9, 14, 0x1.554p-2, 1 + 0x1p-7, 16} {
		if got[i] != want {
			t.Errorf("sum %d is %v, want %v", i, got[i], want)
		}
	}
}

// A product of small integers on tensor cores is exact, in every type and for every
// layout of the matrices in memory.
func TestMatrixProduct(t *testing.T) {
	gpu := device(t, kit(t), `
#include <mma.h>
using namespace nvcuda;
__device__ int value_a(int i, int k) { return (i * 3 + k) % 5 - 2; }
__device__ int value_b(int k, int j) { return (k + j * 7) % 6 - 3; }
template <class T, class S, class C, int m, int n, int k, class LA, class LB> __device__ void product(float *out, bool columnsA, bool columnsB) {
  __shared__ __align__(32) S a[m * k], b[k * n];
  __shared__ __align__(32) C c[m * n];
  for (int i = threadIdx.x; i < m * k; i += 32) a[columnsA ? i % k * m + i / k : i] = S(value_a(i / k, i % k));
  for (int i = threadIdx.x; i < k * n; i += 32) b[columnsB ? i % n * k + i / n : i] = S(value_b(i / n, i % n));
  __syncthreads();
  wmma::fragment<wmma::matrix_a, m, n, k, T, LA> fa;
  wmma::fragment<wmma::matrix_b, m, n, k, T, LB> fb;
  wmma::fragment<wmma::accumulator, m, n, k, C> fc;
  wmma::fill_fragment(fc, C(1));
  wmma::load_matrix_sync(fa, a, columnsA ? m : k);
  wmma::load_matrix_sync(fb, b, columnsB ? k : n);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, n, wmma::mem_row_major);
  __syncthreads();
  for (int i = threadIdx.x; i < m * n; i += 32) out[i] = (float)c[i];
}
#define CASE(name, T, S, C, m, n, k, LA, LB) \
  extern "C" __global__ void name(float *out) { \
    product<T, S, C, m, n, k, wmma::LA##_major, wmma::LB##_major>(out, #LA[0] == 'c', #LB[0] == 'c'); \
  }
CASE(half_rr, half, half, float, 16, 16, 16, row, row)
CASE(half_rc, half, half, half, 16, 16, 16, row, col)
CASE(half_cr, half, half, float, 32, 8, 16, col, row)
CASE(half_cc, half, half, float, 8, 32, 16, col, col)
CASE(bf16_rc, __nv_bfloat16, __nv_bfloat16, float, 16, 16, 16, row, col)
CASE(tf32_rc, wmma::precision::tf32, float, float, 16, 16, 8, row, col)
CASE(double_rc, double, double, double, 8, 8, 4, row, col)
CASE(double_cr, double, double, double, 8, 8, 4, col, row)
CASE(s8_rc, signed char, signed char, int, 16, 16, 16, row, col)
CASE(s8_cr, signed char, signed char, int, 32, 8, 16, col, row)
`, "-std=c++17")
	for _, c := range []struct {
		kernel  string
		m, n, k int
	}{
		{"half_rr", 16, 16, 16}, {"half_rc", 16, 16, 16}, {"half_cr", 32, 8, 16}, {"half_cc", 8, 32, 16},
		{"bf16_rc", 16, 16, 16}, {"tf32_rc", 16, 16, 8}, {"double_rc", 8, 8, 4}, {"double_cr", 8, 8, 4}, {"s8_rc", 16, 16, 16}, {"s8_cr", 32, 8, 16},
	} {
		out, err := gpu.Alloc(4*c.m*c.n, "out")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := gpu.Launch(context.Background(), c.kernel, heddle.Dim(1), heddle.Dim(32), out); err != nil {
			t.Fatal(err)
		}
		got, err := heddle.Download[float32](gpu, out, c.m*c.n)
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.m {
			for j := range c.n {
				want := 1
				for k := range c.k {
					want += ((i*3+k)%5 - 2) * ((k+j*7)%6 - 3)
				}
				if got[i*c.n+j] != float32(want) {
					t.Fatalf("%s: element %d, %d is %v, want %d", c.kernel, i, j, got[i*c.n+j], want)
				}
			}
		}
	}
}

// TestSmallIntegers: products of integers of 4 bits and of 1 bit are exact.
func TestSmallIntegers(t *testing.T) {
	gpu := device(t, kit(t), `
#include <mma.h>
using namespace nvcuda;
template <class T, int k> struct operands {
  wmma::fragment<wmma::matrix_a, 8, 8, k, T, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 8, 8, k, T, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 8, 8, k, int> c;
  __device__ operands(const unsigned *pa, const unsigned *pb, const int *sums) {
    wmma::load_matrix_sync(a, pa, k);
    wmma::load_matrix_sync(b, pb, k);
    wmma::load_matrix_sync(c, sums, 8, wmma::mem_row_major);
  }
};
namespace small = wmma::experimental::precision;
template <class T> __device__ void fours(const unsigned *a, const unsigned *b, int *out, bool sat) {
  operands<T, 32> o(a, b, out);
  wmma::mma_sync(o.c, o.a, o.b, o.c, sat);
  wmma::store_matrix_sync(out, o.c, 8, wmma::mem_row_major);
}
__device__ void ones(const unsigned *a, const unsigned *b, int *out, wmma::experimental::bmmaBitOp op) {
  operands<small::b1, 128> o(a, b, out);
  wmma::bmma_sync(o.c, o.a, o.b, o.c, op, wmma::experimental::bmmaAccumulateOpPOPC);
  wmma::store_matrix_sync(out, o.c, 8, wmma::mem_row_major);
}
// One operand is the same number everywhere: 3 and its like, of which the last bits count.
template <class T, int k, class V> __device__ void filled(const unsigned *a, int *out, V v) {
  operands<T, k> o(a, a, out);
  wmma::fill_fragment(o.b, v);
  if constexpr (k == 32) wmma::mma_sync(o.c, o.a, o.b, o.c);
  else wmma::bmma_sync(o.c, o.a, o.b, o.c);
  wmma::store_matrix_sync(out, o.c, 8, wmma::mem_row_major);
}
extern "C" __global__ void u4_filled(const unsigned *a, const unsigned *, int *out) { filled<small::u4, 32>(a, out, 0xf3u); }
extern "C" __global__ void s4_filled(const unsigned *a, const unsigned *, int *out) { filled<small::s4, 32>(a, out, -3); }
extern "C" __global__ void b1_filled(const unsigned *a, const unsigned *, int *out) { filled<small::b1, 128>(a, out, 1u); }
extern "C" __global__ void b1_empty(const unsigned *a, const unsigned *, int *out) { filled<small::b1, 128>(a, out, 2u); }
extern "C" __global__ void u4(const unsigned *a, const unsigned *b, int *out) { fours<small::u4>(a, b, out, false); }
extern "C" __global__ void s4(const unsigned *a, const unsigned *b, int *out) { fours<small::s4>(a, b, out, false); }
extern "C" __global__ void s4_limited(const unsigned *a, const unsigned *b, int *out) { fours<small::s4>(a, b, out, true); }
extern "C" __global__ void b1_xor(const unsigned *a, const unsigned *b, int *out) { ones(a, b, out, wmma::experimental::bmmaBitOpXOR); }
extern "C" __global__ void b1_and(const unsigned *a, const unsigned *b, int *out) { ones(a, b, out, wmma::experimental::bmmaBitOpAND); }
`, "-std=c++17")
	rnd := rand.New(rand.NewPCG(4, 1))
	unsigned := func(x uint32) int64 { return int64(x) }
	signed := func(x uint32) int64 { return int64(int32(x<<28) >> 28) }
	for _, c := range []struct {
		kernel  string
		bits    int
		product func(a, b uint32) int64
		start   int32
	}{
		{"u4", 4, func(a, b uint32) int64 { return unsigned(a) * unsigned(b) }, -7},
		{"s4", 4, func(a, b uint32) int64 { return signed(a) * signed(b) }, 1000},
		{"s4_limited", 4, func(a, b uint32) int64 { return signed(a) * signed(b) }, math.MaxInt32 - 20},
		{"b1_xor", 1, func(a, b uint32) int64 { return int64(a ^ b) }, 5},
		{"b1_and", 1, func(a, b uint32) int64 { return int64(a & b) }, -100},
		{"u4_filled", 4, func(a, _ uint32) int64 { return 3 * unsigned(a) }, 9},
		{"s4_filled", 4, func(a, _ uint32) int64 { return -3 * signed(a) }, 9},
		{"b1_filled", 1, func(a, _ uint32) int64 { return int64(a ^ 1) }, 9},
		{"b1_empty", 1, func(a, _ uint32) int64 { return int64(a) }, 9},
	} {
		k := 128 / c.bits
		a, b, sums := make([]uint32, 8*4), make([]uint32, 8*4), make([]int32, 64) // four words of each row and column
		for i := range a {
			a[i], b[i] = rnd.Uint32(), rnd.Uint32()
		}
		for i := range sums {
			sums[i] = c.start
		}
		element := func(m []uint32, line, i int) uint32 {
			per := 32 / c.bits
			return m[4*line+i/per] >> (i % per * c.bits) & (1<<c.bits - 1)
		}
		got := runSmall(t, gpu, c.kernel, a, b, sums)
		limits := 0
		for i := range 8 {
			for j := range 8 {
				want := int64(c.start)
				for at := range k {
					want += c.product(element(a, i, at), element(b, j, at))
				}
				if want > math.MaxInt32 {
					want, limits = math.MaxInt32, limits+1
				}
				if int64(got[8*i+j]) != want {
					t.Fatalf("%s: element %d, %d is %d, want %d", c.kernel, i, j, got[8*i+j], want)
				}
			}
		}
		if (limits > 0) != (c.kernel == "s4_limited") {
			t.Errorf("%s: %d sums reach the limit", c.kernel, limits)
		}
	}
}

// runSmall runs one warp of a kernel with two matrices and sums, and returns the sums.
func runSmall(t *testing.T, gpu *heddle.GPU, kernel string, a, b []uint32, sums []int32) []int32 {
	t.Helper()
	pa, err := heddle.Upload(gpu, "a", a)
	if err != nil {
		t.Fatal(err)
	}
	pb, err := heddle.Upload(gpu, "b", b)
	if err != nil {
		t.Fatal(err)
	}
	out, err := heddle.Upload(gpu, "sums", sums)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gpu.Launch(t.Context(), kernel, heddle.Dim(1), heddle.Dim(32), pa, pb, out); err != nil {
		t.Fatal(err)
	}
	got, err := heddle.Download[int32](gpu, out, len(sums))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Groups count, exchange and reduce among their own threads, and a grid waits for
// all its blocks.
func TestGroups(t *testing.T) {
	gpu := device(t, kit(t), `
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void groups(int *out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  int i = block.thread_rank();
  out[4 * i] = cg::reduce(tile, i, cg::plus<int>());
  out[4 * i + 1] = tile.ballot(i % 3 == 0);
  out[4 * i + 2] = out[4 * i + 3] = -1;
  if (i % 4 == 1) {
    cg::coalesced_group g = cg::coalesced_threads();
    out[4 * i + 2] = g.thread_rank() * 100 + g.size();
    out[4 * i + 3] = g.shfl(i, 2);
  }
}
extern "C" __global__ void turns(int *sum, int *out) {
  cg::grid_group grid = cg::this_grid();
  for (int turn = 1; turn <= 3; turn++) {
    atomicAdd(sum, turn);
    grid.sync();
    if (grid.thread_rank() == 0) out[turn - 1] = *(volatile int *)sum;
    grid.sync();
  }
}`)
	out, err := heddle.Upload(gpu, "out", make([]int32, 128))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gpu.Launch(context.Background(), "groups", heddle.Dim(1), heddle.Dim(32), out); err != nil {
		t.Fatal(err)
	}
	got, err := heddle.Download[int32](gpu, out, 128)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 32 {
		first := i &^ 7
		want := [4]int32{int32(8*first + 28), 0, -1, -1}
		for k := range 8 {
			if (first+k)%3 == 0 {
				want[1] |= 1 << k
			}
		}
		if i%4 == 1 {
			want[2], want[3] = int32(i/4*100+8), 9
		}
		if [4]int32(got[4*i:]) != want {
			t.Errorf("thread %d: %v, want %v", i, got[4*i:4*i+4], want)
		}
	}
	sum, err := heddle.Upload(gpu, "sum", make([]int32, 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gpu.LaunchWith(context.Background(), "turns", heddle.LaunchConfig{Grid: heddle.Dim(5), Block: heddle.Dim(64), Cooperative: true}, sum, out); err != nil {
		t.Fatal(err)
	}
	if got, err = heddle.Download[int32](gpu, out, 3); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int32{320, 960, 1920} {
		if got[i] != want {
			t.Errorf("after turn %d: %d, want %d", i, got[i], want)
		}
	}
}
