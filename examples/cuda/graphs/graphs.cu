// Graphs: what two streams do is captured once and launched many times; then the
// same graph is built node by node, with another argument for one launch.
#include "../check.h"

#include <vector>

__global__ void scale(float *x, int n, float by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= by;
}

__global__ void add(float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] += y[i];
}

const int n = 1000, launches = 5;
const dim3 blocks((n + 127) / 128), threads(128);

// The fork and join of a capture: x and y are scaled side by side, then added.
static cudaGraph_t capture(float *x, float *y) {
  cudaStream_t left, right;
  cudaEvent_t fork, join;
  CHECK(cudaStreamCreate(&left));
  CHECK(cudaStreamCreate(&right));
  CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  cudaGraph_t graph;
  CHECK(cudaStreamBeginCapture(left, cudaStreamCaptureModeGlobal));
  CHECK(cudaEventRecord(fork, left));
  CHECK(cudaStreamWaitEvent(right, fork, 0)); // now right is captured too
  scale<<<blocks, threads, 0, left>>>(x, n, 0.5f);
  scale<<<blocks, threads, 0, right>>>(y, n, 2);
  CHECK(cudaEventRecord(join, right));
  CHECK(cudaStreamWaitEvent(left, join, 0));
  add<<<blocks, threads, 0, left>>>(x, y, n);
  CHECK(cudaStreamEndCapture(left, &graph));
  CHECK(cudaStreamDestroy(left));
  CHECK(cudaStreamDestroy(right));
  CHECK(cudaEventDestroy(fork));
  CHECK(cudaEventDestroy(join));
  return graph;
}

// The same by hand; node is the launch that scales x.
static cudaGraph_t build(float *x, float *y, cudaGraphNode_t *node) {
  int size = n;
  float half = 0.5f, two = 2;
  void *scaleX[] = {&x, &size, &half}, *scaleY[] = {&y, &size, &two}, *sum[] = {&x, &y, &size};
  cudaGraph_t graph;
  cudaGraphNode_t other, last;
  cudaKernelNodeParams p = {};
  p.gridDim = blocks;
  p.blockDim = threads;
  CHECK(cudaGraphCreate(&graph, 0));
  p.func = (void *)scale;
  p.kernelParams = scaleX;
  CHECK(cudaGraphAddKernelNode(node, graph, nullptr, 0, &p));
  p.kernelParams = scaleY;
  CHECK(cudaGraphAddKernelNode(&other, graph, nullptr, 0, &p));
  cudaGraphNode_t both[] = {*node, other};
  p.func = (void *)add;
  p.kernelParams = sum;
  CHECK(cudaGraphAddKernelNode(&last, graph, both, 2, &p));
  return graph;
}

int main() {
  std::vector<float> x(n), y(n), gotX(n), gotY(n);
  const size_t bytes = n * sizeof(float);
  float *dx, *dy;
  CHECK(cudaMalloc(&dx, bytes));
  CHECK(cudaMalloc(&dy, bytes));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));

  int wrong = 0;
  for (int way = 0; way < 2; way++) {
    cudaGraphNode_t node;
    cudaGraph_t graph = way == 0 ? capture(dx, dy) : build(dx, dy, &node);
    size_t nodes;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    wrong += nodes != 3;
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));

    for (int i = 0; i < n; i++) {
      x[i] = i;
      y[i] = 1 + i % 7;
    }
    CHECK(cudaMemcpy(dx, x.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dy, y.data(), bytes, cudaMemcpyHostToDevice));
    float by = 0.5f;
    for (int l = 0; l < launches; l++) {
      if (way == 1 && l == launches - 1) { // the last time with another factor
        int size = n;
        by = 4;
        void *args[] = {&dx, &size, &by};
        cudaKernelNodeParams p = {};
        p.func = (void *)scale;
        p.gridDim = blocks;
        p.blockDim = threads;
        p.kernelParams = args;
        CHECK(cudaGraphExecKernelNodeSetParams(exec, node, &p));
      }
      CHECK(cudaGraphLaunch(exec, stream));
      for (int i = 0; i < n; i++) {
        y[i] *= 2;
        x[i] = x[i] * by + y[i];
      }
    }
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(gotX.data(), dx, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(gotY.data(), dy, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
      wrong += gotX[i] != x[i] || gotY[i] != y[i];
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
  }
  CHECK(cudaStreamDestroy(stream));
  return verdict(wrong);
}
