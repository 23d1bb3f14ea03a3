// targets: 52
// What follows a product in cublasLtMatmul, on the sums as they were computed: scalars, C,
// bias, activation, and the gradients of both. Matrices have any type, and lie by columns
// or by rows.
#include "../../blas/kernels/operand.cuh"

// place is a matrix, or a batch in steps of a stride.
struct place {
  void *at;
  int64_t ld, stride;
  int32_t type; // cudaDataType
  int32_t rows; // contiguous along rows

  __device__ int64_t index(int batch, int i, int j) const { return batch * stride + (rows ? i * ld + j : i + j * ld); }

  template <class Acc> __device__ Acc get(int64_t to) const {
    switch (type) {
    case 0: return ((const float *)at)[to];
    case 1: return ((const double *)at)[to];
    case 2: return __half2float(((const __half *)at)[to]);
    case 3: return ((const int8_t *)at)[to];
    case 10: return ((const int32_t *)at)[to];
    case 14: return __bfloat162float(((const __nv_bfloat16 *)at)[to]);
    }
    return 0;
  }

  // Integers are rounded to nearest even, and saturated.
  template <class Acc> __device__ void put(int64_t to, Acc v) const {
    switch (type) {
    case 0: ((float *)at)[to] = v; break;
    case 1: ((double *)at)[to] = v; break;
    case 2: ((__half *)at)[to] = __float2half_rn(v); break;
    case 3: ((int8_t *)at)[to] = (int8_t)rint(fmin(fmax(v, Acc(-128)), Acc(127))); break;
    case 10: ((int32_t *)at)[to] = (int32_t)llrint(fmin(fmax((double)v, -2147483648.), 2147483647.)); break;
    case 14: ((__nv_bfloat16 *)at)[to] = __float2bfloat16_rn(v); break;
    }
  }
};

// The parts of epilogues (cublasLtEpilogue_t).
enum { RELU = 2, BIAS = 4, DRELU = 8, GELU = 32, DGELU = 64, AUX = 128 };

struct epilogue {
  int32_t m, n, first, parts;
  number alpha, beta;
  place sums, c, d;
  place aux; // what the gradient needs: signs as bits, ld of them in a column, or values before the activation
  place bias;
};

// gelu by its approximation with tanh, as documented.
template <class Acc> __device__ inline Acc gelu(Acc v) {
  return Acc(0.5) * v * (Acc(1) + tanh(Acc(0.7978845608028654) * fma(Acc(0.044715) * v * v, v, v)));
}
template <class Acc> __device__ inline Acc dgelu(Acc v) {
  const Acc t = tanh(Acc(0.7978845608028654) * fma(Acc(0.044715) * v * v, v, v));
  return Acc(0.5) * (Acc(1) + t) + Acc(0.5) * v * (Acc(1) - t * t) * Acc(0.7978845608028654) * fma(Acc(3 * 0.044715) * v, v, Acc(1));
}

// finish computes 32 x 32 elements in a block; a warp has 32 rows of a column.
template <class Acc> __device__ inline void finish(const epilogue &p) {
  const int batch = p.first + blockIdx.z, lane = threadIdx.x % 32, i = blockIdx.x * 32 + lane;
  const Acc alpha = p.alpha.get<Acc>(), beta = p.beta.get<Acc>();
  const bool inside = i < p.m;
  for (int q = threadIdx.x / 32; q < 32; q += 8) {
    const int j = blockIdx.y * 32 + q;
    if (j >= p.n) break;
    Acc v = 0;
    if (inside) {
      if (alpha != 0) v = alpha * p.sums.get<Acc>(p.sums.index(batch, i, j));
      if (beta != 0) v = fma(beta, p.c.get<Acc>(p.c.index(batch, i, j)), v);
      if (p.parts & BIAS) v += p.bias.get<Acc>(p.bias.index(batch, i, 0));
    }
    if (p.parts & (RELU | DRELU)) {
      // 32 rows are a word of the mask.
      uint32_t *word = (uint32_t *)p.aux.at + (batch * p.aux.stride + j * p.aux.ld + blockIdx.x * 32) / 32;
      bool positive = v > 0;
      if (p.parts & DRELU) positive = *word >> lane & 1;
      const uint32_t mask = __ballot_sync(~0u, inside && positive);
      if ((p.parts & (RELU | AUX)) == (RELU | AUX) && lane == 0) *word = mask;
      if (!positive) v = 0;
    }
    if (inside && p.parts & DGELU) v *= dgelu(p.aux.get<Acc>(p.aux.index(batch, i, j)));
    if (inside && p.parts & GELU) {
      if (p.parts & AUX) p.aux.put(p.aux.index(batch, i, j), v);
      v = gelu(v);
    }
    if (inside) p.d.put(p.d.index(batch, i, j), v);
  }
}

// sum adds up the rows of a matrix, n elements each: the gradient of a bias.
template <class Acc> __device__ inline void sum(const epilogue &p) {
  __shared__ Acc sums[256];
  const int batch = p.first + blockIdx.z, t = threadIdx.x, i = blockIdx.x * 32 + t % 32;
  Acc v = 0;
  if (i < p.m)
    for (int j = t / 32; j < p.n; j += 8) v += p.sums.get<Acc>(p.sums.index(batch, i, j));
  sums[t] = v;
  __syncthreads();
  if (t >= 32 || i >= p.m) return;
  for (int g = 1; g < 8; g++) v += sums[g * 32 + t];
  p.bias.put(p.bias.index(batch, i, 0), v);
}

extern "C" __global__ void __launch_bounds__(256) finish_f32(epilogue p) { finish<float>(p); }
extern "C" __global__ void __launch_bounds__(256) finish_f64(epilogue p) { finish<double>(p); }
extern "C" __global__ void __launch_bounds__(256) sum_f32(epilogue p) { sum<float>(p); }
extern "C" __global__ void __launch_bounds__(256) sum_f64(epilogue p) { sum<double>(p); }
