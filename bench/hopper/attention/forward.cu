// Runs FlashAttention-3's forward pass once on random numbers, and compares some rows with attention in double
// precision. Arguments: batch, tokens, heads, and 1 for a causal mask. DIM is the size of a head, 64 or 128; BF16 takes
// bf16 in place of f16.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include "flash_fwd_launch_template.h"

#ifdef BF16
using Number = cutlass::bfloat16_t;
constexpr double tolerance = 0.03;
#else
using Number = cutlass::half_t;
constexpr double tolerance = 0.004;
#endif

// The launch template names it, for sequences of several lengths.
void prepare_varlen_num_blocks(Flash_fwd_params &, cudaStream_t, bool, int, int, bool) { abort(); }

static uint32_t seed = 12345;
static uint32_t next() { return (seed = seed * 1664525u + 1013904223u) >> 8; }

// normal is nearly a normal distribution: a sum of four uniform numbers.
static float normal() {
  float sum = 0;
  for (int i = 0; i < 4; i++) sum += next() / 16777216.f;
  return (sum - 2) * 1.7320508f;
}

static void check(cudaError_t e) {
  if (e == cudaSuccess) return;
  printf("%s\n", cudaGetErrorString(e));
  exit(1);
}

struct Buffer {
  std::vector<Number> host;
  Number *device;
  Buffer(size_t n, bool random) : host(n) {
    if (random)
      for (auto &x : host) x = Number(normal());
    check(cudaMalloc(&device, n * sizeof(Number)));
    check(cudaMemcpy(device, host.data(), n * sizeof(Number), cudaMemcpyHostToDevice));
  }
};

template <bool causal> static void launch(Flash_fwd_params &p) {
  // With heads of 128 and without a mask clusters of two share K and V, as FlashAttention-3 chooses for an even number
  // of tiles.
  constexpr int cluster = DIM == 128 && !causal ? 2 : 1;
  run_flash_fwd<90, DIM, DIM, cluster, Number, Number, causal, false, false, false, false, false, false, false, false, false>(p, 0);
}

int main(int argc, char **argv) {
  if (argc != 5) {
    printf("usage: forward BATCH TOKENS HEADS CAUSAL\n");
    return 2;
  }
  const int batch = atoi(argv[1]), tokens = atoi(argv[2]), heads = atoi(argv[3]);
  const bool causal = atoi(argv[4]) != 0;
  const size_t n = size_t(batch) * tokens * heads * DIM;
  Buffer q(n, true), k(n, true), v(n, true), o(n, false);
  float *lse;
  int *semaphore;
  check(cudaMalloc(&lse, size_t(batch) * heads * tokens * sizeof(float)));
  check(cudaMalloc(&semaphore, 4096));
  check(cudaMemset(semaphore, 0, 4096));

  Flash_fwd_params p = {};
  p.q_ptr = q.device, p.k_ptr = k.device, p.v_ptr = v.device, p.o_ptr = o.device, p.softmax_lse_ptr = lse;
  p.q_row_stride = p.k_row_stride = p.v_row_stride = p.o_row_stride = heads * DIM;
  p.q_head_stride = p.k_head_stride = p.v_head_stride = p.o_head_stride = DIM;
  p.q_batch_stride = p.k_batch_stride = p.v_batch_stride = p.o_batch_stride = int64_t(tokens) * heads * DIM;
  p.v_dim_stride = 1;
  p.b = p.b_k = batch, p.h = p.h_k = heads, p.seqlen_q = p.seqlen_k = tokens, p.total_q = p.total_k = batch * tokens;
  p.seqlen_q_rounded = p.seqlen_k_rounded = (tokens + 127) / 128 * 128;
  p.d = p.d_rounded = p.dv = p.dv_rounded = DIM;
  p.scale_softmax = 1 / sqrtf(DIM);
  p.p_dropout = p.rp_dropout = 1, p.p_dropout_in_uint8_t = 255;
  p.is_bf16 = std::is_same_v<Number, cutlass::bfloat16_t>;
  p.is_causal = causal, p.window_size_left = tokens - 1, p.window_size_right = causal ? 0 : tokens - 1;
  p.page_size = p.num_splits = 1;
  p.varlen_sort_batches = true, p.head_swizzle = causal;
  p.tile_count_semaphore = causal ? semaphore : nullptr;
  p.arch = 90;
  check(cudaDeviceGetAttribute(&p.num_sm, cudaDevAttrMultiProcessorCount, 0));
  causal ? launch<true>(p) : launch<false>(p);
  check(cudaDeviceSynchronize());
  check(cudaMemcpy(o.host.data(), o.device, n * sizeof(Number), cudaMemcpyDeviceToHost));

  double worst = 0;
  for (int row = 0; row < 8; row++) { // the last token, the first, and others
    const int b = next() % batch, h = next() % heads, t = row == 0 ? tokens - 1 : row == 1 ? 0 : next() % tokens;
    auto at = [&](int token) { return ((size_t(b) * tokens + token) * heads + h) * DIM; };
    std::vector<double> weight(causal ? t + 1 : tokens);
    double most = -INFINITY, sum = 0;
    for (size_t j = 0; j < weight.size(); j++) {
      for (int d = 0; d < DIM; d++) weight[j] += double(float(q.host[at(t) + d])) * float(k.host[at(j) + d]);
      most = fmax(most, weight[j] *= p.scale_softmax);
    }
    for (auto &w : weight) sum += w = exp(w - most);
    for (int d = 0; d < DIM; d++) {
      double want = 0;
      for (size_t j = 0; j < weight.size(); j++) want += weight[j] / sum * float(v.host[at(j) + d]);
      const double error = fabs(want - float(o.host[at(t) + d]));
      if (!(error <= worst) && !std::isnan(worst)) worst = error; // a NaN stays
    }
  }
  printf("batch %d, %d tokens, %d heads of %d, %s: largest error %.6f, %s\n", batch, tokens, heads, DIM, causal ? "causal" : "full", worst,
         worst <= tolerance ? "right" : "WRONG");
  return !(worst <= tolerance);
}
