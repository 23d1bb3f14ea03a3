package sdk_test

import (
	"context"
	"testing"

	"github.com/heddle-sim/heddle"
)

// launch runs a block of a kernel with a buffer of n ints as its argument, and
// returns the buffer's contents.
func launch(t *testing.T, gpu *heddle.GPU, kernel string, block uint32, n int) []int32 {
	t.Helper()
	out, err := heddle.Upload(gpu, "out", make([]int32, n))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gpu.Launch(context.Background(), kernel, heddle.Dim(1), heddle.Dim(block), out); err != nil {
		t.Fatal(err)
	}
	got, err := heddle.Download[int32](gpu, out, n)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// compare reports the first wrong results of a kernel.
func compare(t *testing.T, got []int32, want func(i int) int32) {
	t.Helper()
	wrong := 0
	for i, g := range got {
		if w := want(i); g != w && wrong < 5 {
			wrong++
			t.Errorf("result %d: %d, want %d", i, g, w)
		}
	}
}

// Groups of groups: by label, by a bit, of a size known only to the kernel, of
// several warps; threads exchange values of any trivially copyable type.
func TestPartitions(t *testing.T) {
	gpu := device(t, kit(t), `
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

extern "C" __global__ void labels(int *out) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int i = warp.thread_rank();
  cg::coalesced_group same = cg::labeled_partition(warp, i % 5);
  out[i] = same.thread_rank() * 100 + same.size();
  out[32 + i] = cg::reduce(same, i, cg::plus<int>());
  out[64 + i] = cg::inclusive_scan(same, i);
  out[96 + i] = cg::exclusive_scan(warp, i, cg::greater<int>());
  cg::coalesced_group part = cg::binary_partition(warp, i % 3 == 0);
  out[128 + i] = part.meta_group_rank() * 100 + part.size();
  out[160 + i] = cg::reduce(part, i, [](int a, int b) { return a < b ? a : b; });
}

__device__ int sum_of(const cg::thread_group &g, int v, int *place) {
  for (int d = (int)g.size() / 2; d > 0; d /= 2) {
    place[g.thread_rank()] = v;
    g.sync();
    if ((int)g.thread_rank() < d) v += place[g.thread_rank() + d];
    g.sync();
  }
  return v;
}
extern "C" __global__ void sizes(int *out) {
  __shared__ int place[32];
  cg::thread_block block = cg::this_thread_block();
  int sum = sum_of(block, threadIdx.x, place);
  if (threadIdx.x == 0) out[0] = sum;
  cg::thread_group tile = cg::tiled_partition(block, 8);
  sum = sum_of(tile, threadIdx.x, place + threadIdx.x / 8 * 8);
  if (tile.thread_rank() == 0) out[1 + threadIdx.x / 8] = sum;
  cg::thread_group pair = cg::tiled_partition(tile, 2);
  sum = sum_of(pair, threadIdx.x, place + threadIdx.x / 2 * 2);
  if (pair.thread_rank() == 0) out[5 + threadIdx.x / 2] = sum;
}

struct pair { double first; short second; };
extern "C" __global__ void bytes(int *out) {
  cg::thread_block_tile<16> tile = cg::tiled_partition<16>(cg::this_thread_block());
  pair mine = {threadIdx.x + 0.5, (short)-threadIdx.x}, other = tile.shfl_xor(mine, 3);
  out[threadIdx.x] = (int)(2 * other.first) - 1000 * other.second;
}

extern "C" __global__ void warps(int *out) {
  __shared__ cg::block_tile_memory<256> memory;
  cg::thread_block block = cg::this_thread_block(memory);
  auto tile = cg::tiled_partition<64>(block);
  int i = threadIdx.x;
  out[i] = cg::reduce(tile, i, cg::plus<int>());
  out[256 + i] = tile.shfl(i, 40) * 10 + tile.meta_group_size();
  out[512 + i] = tile.any(i == 70) * 2 + tile.all(i >= 192);
}

extern "C" __global__ void copies(int *out) {
  __shared__ __align__(16) int place[96];
  cg::thread_block block = cg::this_thread_block();
  for (int i = threadIdx.x; i < 96; i += 32) out[i] = 3 * i;
  block.sync();
  cg::memcpy_async(block, place, out, sizeof(int) * 64);
  cg::memcpy_async(block, place + 65, 31, out + 64, 32);
  cg::wait(block);
  for (int i = threadIdx.x; i < 96; i += 32) out[i] = i == 64 ? -1 : place[i];
}`)
	t.Run("label", func(t *testing.T) {
		compare(t, launch(t, gpu, "labels", 32, 192), func(k int) int32 {
			i := k % 32
			same := func(j int) bool { return j%5 == i%5 }
			part := func(j int) bool { return (j%3 == 0) == (i%3 == 0) }
			var rank, size, sum, before, bits, least int
			for j := 31; j >= 0; j-- {
				if same(j) {
					size, sum = size+1, sum+j
					if j <= i {
						rank, before = rank+1, before+j
					}
				}
				if part(j) {
					bits, least = bits+1, j
				}
			}
			group := 0
			if i%3 == 0 {
				group = 1
			}
			return int32([]int{(rank-1)*100 + size, sum, before, max(i-1, 0), group*100 + bits, least}[k/32])
		})
	})
	t.Run("size", func(t *testing.T) {
		compare(t, launch(t, gpu, "sizes", 32, 21), func(k int) int32 {
			switch {
			case k == 0:
				return 31 * 16
			case k < 5:
				return int32(8*8*(k-1) + 28)
			}
			return int32(4*(k-5) + 1)
		})
	})
	t.Run("bytes", func(t *testing.T) {
		compare(t, launch(t, gpu, "bytes", 32, 32), func(i int) int32 { return int32(2*(i^3) + 1 + 1000*(i^3)) })
	})
	t.Run("warps", func(t *testing.T) {
		compare(t, launch(t, gpu, "warps", 256, 768), func(k int) int32 {
			i := k % 256
			first := i &^ 63
			any, all := int32(0), int32(0)
			if first == 64 {
				any = 2
			}
			if first == 192 {
				all = 1
			}
			return []int32{int32(64*first + 63*32), int32((first+40)*10 + 4), any + all}[k/256]
		})
	})
	t.Run("copies", func(t *testing.T) {
		compare(t, launch(t, gpu, "copies", 32, 96), func(i int) int32 {
			switch {
			case i < 64:
				return int32(3 * i)
			case i == 64:
				return -1
			}
			return int32(3 * (i - 1))
		})
	})
}

// Functions of nvcc that clang's headers lack.
func TestIntrinsics(t *testing.T) {
	gpu := device(t, kit(t), `
extern "C" __global__ void match(int *out) {
  int i = threadIdx.x, all = -1;
  out[i] = __match_any_sync(~0u, i % 4);
  out[32 + i] = __match_any_sync(~0u, i % 2 ? 1.5 : -0.5);
  out[64 + i] = __match_all_sync(~0u, 7ll, &all);
  out[96 + i] = all;
  out[128 + i] = __match_all_sync(~0u, (unsigned int)i / 31, &all);
  out[160 + i] = all;
}
template <class T> __device__ void through(int *out, T v, int i) {
  T *p = (T *)(out + 64 + 8 * i);
  __stcg(p, v);
  T a = __ldcg(p);
  __stwt(p + 1, a);
  T b = __ldcv(p + 1);
  __stcs(p, b);
  T c = __ldcs(p);
  unsigned char bytes[sizeof(T)], was[sizeof(T)];
  memcpy(bytes, &c, sizeof(T));
  memcpy(was, &v, sizeof(T));
  for (int k = 0; k < sizeof(T); k++) out[i] += bytes[k] == was[k];
}
extern "C" __global__ void hints(int *out) {
  through(out, (signed char)-3, 0);
  through(out, (short)-300, 1);
  through(out, 1.25f, 2);
  through(out, make_int2(5, -7), 3);
  through(out, make_double2(-0.5, 1e300), 4);
  out[5] = __dp4a(0x01ff0203, 0x7f028005, 1000);
  out[6] = __dp4a(0x01ff0203u, 0x7f028005u, 1000u);
  out[7] = __dp2a_lo(make_short2(300, -2), make_char4(-1, 3, 5, 7), 10);
  out[8] = __dp2a_hi(make_short2(300, -2), make_char4(-1, 3, 5, 7), 10);
  __shared__ int place;
  place = 42;
  out[9] = *(int *)__cvta_shared_to_generic(__cvta_generic_to_shared(&place));
}`)
	t.Run("match", func(t *testing.T) {
		compare(t, launch(t, gpu, "match", 32, 192), func(k int) int32 {
			i := k % 32
			return []int32{0x11111111 << (i % 4), 0x55555555 << (i % 2), -1, 1, 0, 0}[k/32]
		})
	})
	t.Run("hints", func(t *testing.T) {
		want := []int32{1, 2, 4, 8, 16,
			1000 + 1*127 + -1*2 + 2*-128 + 3*5, 1000 + 1*127 + 255*2 + 2*128 + 3*5,
			10 - 300 - 6, 10 + 1500 - 14, 42}
		compare(t, launch(t, gpu, "hints", 1, 192)[:len(want)], func(i int) int32 { return want[i] })
	})
}
