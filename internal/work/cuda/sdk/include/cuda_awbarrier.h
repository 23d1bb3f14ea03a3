// nvcuda::experimental::awbarrier, a barrier of a block as an object.
#ifndef HEDDLE_CUDA_AWBARRIER_H
#define HEDDLE_CUDA_AWBARRIER_H

#include "cuda_awbarrier_primitives.h"
#include "cuda_pipeline.h"

#if defined(__CUDA__)

HEDDLE_NO_LINES
namespace nvcuda {
namespace experimental {

class awbarrier {
  __mbarrier_t bar;

 public:
  class arrival_token {
    __mbarrier_token_t token;
    friend class awbarrier;
    __device__ arrival_token(__mbarrier_token_t t) : token(t) {}

   public:
    arrival_token() = default;
    __device__ unsigned int pending_count() const { return __mbarrier_token_pending_count(token); }
  };
  awbarrier() = default;
  awbarrier(const awbarrier &) = delete;
  friend __device__ void init(awbarrier *b, unsigned int n) { __mbarrier_init(&b->bar, n); }
  friend __device__ void inval(awbarrier *b) { __mbarrier_inval(&b->bar); }
  static constexpr __host__ __device__ unsigned int max() { return heddle_sdk::barriers::most; }
  __device__ arrival_token arrive() { return __mbarrier_arrive(&bar); }
  __device__ arrival_token arrive_and_drop() { return __mbarrier_arrive_and_drop(&bar); }
  // Waits for at most a number of cycles.
  __device__ bool timed_wait(arrival_token t, unsigned int cycles = 0) {
    const long long start = clock64();
    do {
      if (__mbarrier_test_wait(&bar, t.token)) return true;
    } while (clock64() - start < cycles);
    return false;
  }
  __device__ bool timed_wait_parity(bool parity, unsigned int cycles) {
    const long long start = clock64();
    do {
      if (__mbarrier_test_wait_parity(&bar, parity)) return true;
    } while (clock64() - start < cycles);
    return false;
  }
  __device__ bool try_wait(arrival_token t, unsigned int nanoseconds) { return __mbarrier_try_wait(&bar, t.token, nanoseconds); }
  __device__ bool try_wait_parity(bool parity, unsigned int nanoseconds) { return __mbarrier_try_wait_parity(&bar, parity, nanoseconds); }
  __device__ void wait(arrival_token t) {
    while (!__mbarrier_test_wait(&bar, t.token)) {
    }
  }
  __device__ void arrive_and_wait() { wait(arrive()); }
};

} // namespace experimental
} // namespace nvcuda
HEDDLE_LINES

#endif

#endif
