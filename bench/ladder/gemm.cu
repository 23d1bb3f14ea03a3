// C = A B, from one thread per element to warp tiles and double buffering.
// Loops over register tiles have no #pragma unroll: the compiler should see that
// their bounds are constants.
#include "check.h"

__global__ void gemm_naive(int n, const float *A, const float *B, float *C) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += A[row * n + k] * B[k * n + col];
  C[row * n + col] = sum;
}

template <int T> __global__ void gemm_shared(int n, const float *A, const float *B, float *C) {
  __shared__ float a[T][T], b[T][T];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
  float sum = 0;
  for (int at = 0; at < n; at += T) {
    a[y][x] = A[row * n + at + x];
    b[y][x] = B[(at + y) * n + col];
    __syncthreads();
    for (int k = 0; k < T; k++) sum += a[y][k] * b[k][x];
    __syncthreads();
  }
  C[row * n + col] = sum;
}

// A column of M elements per thread.
template <int BM, int BN, int BK, int M> __global__ void gemm_column(int n, const float *A, const float *B, float *C) {
  __shared__ float a[BM * BK], b[BK * BN];
  int t = threadIdx.x, row = t / BN, col = t % BN;
  A += blockIdx.y * BM * n;
  B += blockIdx.x * BN;
  float sum[M] = {0};
  for (int at = 0; at < n; at += BK) {
    a[t] = A[t / BK * n + at + t % BK];
    b[t] = B[(at + t / BN) * n + t % BN];
    __syncthreads();
    for (int k = 0; k < BK; k++) {
      float v = b[k * BN + col];
      for (int i = 0; i < M; i++) sum[i] += a[(row * M + i) * BK + k] * v;
    }
    __syncthreads();
  }
  for (int i = 0; i < M; i++) C[(blockIdx.y * BM + row * M + i) * n + blockIdx.x * BN + col] = sum[i];
}

// A tile of M by N elements per thread.
template <int BM, int BN, int BK, int M, int N> __global__ void gemm_tile(int n, const float *A, const float *B, float *C) {
  constexpr int threads = BM * BN / (M * N);
  __shared__ float a[BM * BK], b[BK * BN];
  int t = threadIdx.x, row = t / (BN / N), col = t % (BN / N);
  A += blockIdx.y * BM * n;
  B += blockIdx.x * BN;
  float sum[M * N] = {0}, va[M], vb[N];
  for (int at = 0; at < n; at += BK) {
    for (int i = t; i < BM * BK; i += threads) a[i] = A[i / BK * n + at + i % BK];
    for (int i = t; i < BK * BN; i += threads) b[i] = B[(at + i / BN) * n + i % BN];
    __syncthreads();
    for (int k = 0; k < BK; k++) {
      for (int i = 0; i < M; i++) va[i] = a[(row * M + i) * BK + k];
      for (int j = 0; j < N; j++) vb[j] = b[k * BN + col * N + j];
      for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) sum[i * N + j] += va[i] * vb[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) C[(blockIdx.y * BM + row * M + i) * n + blockIdx.x * BN + col * N + j] = sum[i * N + j];
}

// The same with A transposed while it is copied, and four numbers per access.
template <int BM, int BN, int BK, int M, int N> __global__ void gemm_vector(int n, const float *A, const float *B, float *C) {
  constexpr int threads = BM * BN / (M * N);
  __shared__ float a[BK * BM], b[BK * BN];
  int t = threadIdx.x, row = t / (BN / N), col = t % (BN / N);
  A += blockIdx.y * BM * n;
  B += blockIdx.x * BN;
  C += (blockIdx.y * BM + row * M) * n + blockIdx.x * BN + col * N;
  float sum[M * N] = {0}, va[M], vb[N];
  for (int at = 0; at < n; at += BK) {
    for (int i = t; i < BM * BK / 4; i += threads) {
      int r = i / (BK / 4), c = i % (BK / 4) * 4;
      float4 v = *(const float4 *)&A[r * n + at + c];
      a[(c + 0) * BM + r] = v.x;
      a[(c + 1) * BM + r] = v.y;
      a[(c + 2) * BM + r] = v.z;
      a[(c + 3) * BM + r] = v.w;
    }
    for (int i = t; i < BK * BN / 4; i += threads)
      *(float4 *)&b[i * 4] = *(const float4 *)&B[(at + i / (BN / 4)) * n + i % (BN / 4) * 4];
    __syncthreads();
    for (int k = 0; k < BK; k++) {
      for (int i = 0; i < M; i++) va[i] = a[k * BM + row * M + i];
      for (int j = 0; j < N; j++) vb[j] = b[k * BN + col * N + j];
      for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) sum[i * N + j] += va[i] * vb[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j += 4) {
      float4 v = {sum[i * N + j], sum[i * N + j + 1], sum[i * N + j + 2], sum[i * N + j + 3]};
      *(float4 *)&C[i * n + j] = v;
    }
}

// A tile per warp, made of several per thread.
namespace warps {
template <int BM, int BN, int BK, int threads>
__device__ void load(int n, const float *A, const float *B, float *a, float *b) {
  for (int i = threadIdx.x; i < BM * BK / 4; i += threads) {
    int r = i / (BK / 4), c = i % (BK / 4) * 4;
    float4 v = *(const float4 *)&A[r * n + c];
    a[(c + 0) * BM + r] = v.x;
    a[(c + 1) * BM + r] = v.y;
    a[(c + 2) * BM + r] = v.z;
    a[(c + 3) * BM + r] = v.w;
  }
  for (int i = threadIdx.x; i < BK * BN / 4; i += threads)
    *(float4 *)&b[i * 4] = *(const float4 *)&B[i / (BN / 4) * n + i % (BN / 4) * 4];
}
template <int BM, int BN, int BK, int WM, int WN, int RM, int RN, int M, int N>
__device__ void multiply(const float *a, const float *b, float *va, float *vb, float *sum) {
  constexpr int SM = WM / RM, SN = WN / RN; // what a warp does in a round
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int row = warp / (BN / WN), col = warp % (BN / WN), y = lane / (SN / N), x = lane % (SN / N);
  for (int k = 0; k < BK; k++) {
    for (int r = 0; r < RM; r++)
      for (int i = 0; i < M; i++) va[r * M + i] = a[k * BM + row * WM + r * SM + y * M + i];
    for (int c = 0; c < RN; c++)
      for (int j = 0; j < N; j++) vb[c * N + j] = b[k * BN + col * WN + c * SN + x * N + j];
    for (int r = 0; r < RM; r++)
      for (int c = 0; c < RN; c++)
        for (int i = 0; i < M; i++)
          for (int j = 0; j < N; j++) sum[(r * M + i) * (RN * N) + c * N + j] += va[r * M + i] * vb[c * N + j];
  }
}
template <int BM, int BN, int WM, int WN, int RM, int RN, int M, int N>
__device__ void store(int n, float *C, const float *sum) {
  constexpr int SM = WM / RM, SN = WN / RN;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int row = warp / (BN / WN), col = warp % (BN / WN), y = lane / (SN / N), x = lane % (SN / N);
  C += (blockIdx.y * BM + row * WM) * n + blockIdx.x * BN + col * WN;
  for (int r = 0; r < RM; r++)
    for (int c = 0; c < RN; c++)
      for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j += 4) {
          const float *s = &sum[(r * M + i) * (RN * N) + c * N + j];
          *(float4 *)&C[(r * SM + y * M + i) * n + c * SN + x * N + j] = float4{s[0], s[1], s[2], s[3]};
        }
}
} // namespace warps

template <int BM, int BN, int BK, int WM, int WN, int RM, int RN, int M, int N>
__global__ void gemm_warps(int n, const float *A, const float *B, float *C) {
  constexpr int threads = BM / WM * (BN / WN) * 32;
  __shared__ float a[BK * BM], b[BK * BN];
  float sum[RM * M * RN * N] = {0}, va[RM * M], vb[RN * N];
  A += blockIdx.y * BM * n;
  B += blockIdx.x * BN;
  for (int at = 0; at < n; at += BK) {
    warps::load<BM, BN, BK, threads>(n, A + at, B + at * n, a, b);
    __syncthreads();
    warps::multiply<BM, BN, BK, WM, WN, RM, RN, M, N>(a, b, va, vb, sum);
    __syncthreads();
  }
  warps::store<BM, BN, WM, WN, RM, RN, M, N>(n, C, sum);
}

__device__ void hold(float *v, const float *from) {
  float4 four = *(const float4 *)from;
  v[0] = four.x;
  v[1] = four.y;
  v[2] = four.z;
  v[3] = four.w;
}

// Double buffering: the next tile is loaded into registers while one is used.
template <int BM, int BN, int BK, int WM, int WN, int RM, int RN, int M, int N>
__global__ void gemm_double(int n, const float *A, const float *B, float *C) {
  constexpr int threads = BM / WM * (BN / WN) * 32, LA = BM * BK / 4 / threads, LB = BK * BN / 4 / threads;
  __shared__ float a[2][BK * BM], b[2][BK * BN];
  float sum[RM * M * RN * N] = {0}, va[RM * M], vb[RN * N];
  float nextA[LA][4], nextB[LB][4];
  A += blockIdx.y * BM * n;
  B += blockIdx.x * BN;
  auto fetch = [&](int at) {
    for (int l = 0; l < LA; l++) {
      int i = threadIdx.x + l * threads;
      hold(nextA[l], &A[i / (BK / 4) * n + at + i % (BK / 4) * 4]);
    }
    for (int l = 0; l < LB; l++) {
      int i = threadIdx.x + l * threads;
      hold(nextB[l], &B[(at + i / (BN / 4)) * n + i % (BN / 4) * 4]);
    }
  };
  auto keep = [&](int buffer) {
    for (int l = 0; l < LA; l++) {
      int i = threadIdx.x + l * threads, r = i / (BK / 4), c = i % (BK / 4) * 4;
      for (int e = 0; e < 4; e++) a[buffer][(c + e) * BM + r] = nextA[l][e];
    }
    for (int l = 0; l < LB; l++) *(float4 *)&b[buffer][(threadIdx.x + l * threads) * 4] = float4{nextB[l][0], nextB[l][1], nextB[l][2], nextB[l][3]};
  };
  fetch(0);
  keep(0);
  __syncthreads();
  int buffer = 0;
  for (int at = 0; at < n; at += BK) {
    if (at + BK < n) fetch(at + BK);
    warps::multiply<BM, BN, BK, WM, WN, RM, RN, M, N>(a[buffer], b[buffer], va, vb, sum);
    if (at + BK < n) keep(buffer ^ 1);
    __syncthreads();
    buffer ^= 1;
  }
  warps::store<BM, BN, WM, WN, RM, RN, M, N>(n, C, sum);
}

int main() {
  const int n = 256;
  Array A(n * n, 1), B(n * n, 2), C(n * n);
  std::vector<float> want(n * n);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++) want[i * n + j] += A.host[i * n + k] * B.host[k * n + j];
  int bad = 0;
  gemm_naive<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(n, A.device, B.device, C.device);
  bad += verdict("gemm_naive", C, want);
  gemm_shared<32><<<dim3(n / 32, n / 32), dim3(32, 32)>>>(n, A.device, B.device, C.device);
  bad += verdict("gemm_shared", C, want);
  gemm_column<64, 64, 8, 8><<<dim3(n / 64, n / 64), 512>>>(n, A.device, B.device, C.device);
  bad += verdict("gemm_column", C, want);
  gemm_tile<64, 64, 8, 8, 8><<<dim3(n / 64, n / 64), 64>>>(n, A.device, B.device, C.device);
  bad += verdict("gemm_tile", C, want);
  gemm_vector<64, 64, 16, 8, 8><<<dim3(n / 64, n / 64), 64>>>(n, A.device, B.device, C.device);
  bad += verdict("gemm_vector", C, want);
  gemm_warps<64, 64, 16, 64, 32, 1, 2, 8, 4><<<dim3(n / 64, n / 64), 64>>>(n, A.device, B.device, C.device);
  bad += verdict("gemm_warps", C, want);
  gemm_double<64, 64, 16, 64, 32, 1, 2, 8, 4><<<dim3(n / 64, n / 64), 64>>>(n, A.device, B.device, C.device);
  bad += verdict("gemm_double", C, want);
  return bad;
}
