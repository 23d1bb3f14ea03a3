// Runtime functions for kernels: names of errors. Launches by kernels are not supported:
// they are declared for code that mentions them, and a kernel that calls one is refused.
#ifndef HEDDLE_CUDA_DEVICE_RUNTIME_API_H
#define HEDDLE_CUDA_DEVICE_RUNTIME_API_H
#define __CUDA_DEVICE_RUNTIME_API_H__

#include "driver_types.h"

#if defined(__CUDA__)

#include "error_names.h"

// Launches that may begin before the ones they depend on have ended, from sm_90 on: waiting for those, and permitting the next.
static __inline__ __attribute__((device)) void cudaGridDependencySynchronize() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" : : : "memory");
#endif
}
static __inline__ __attribute__((device)) void cudaTriggerProgrammaticLaunchCompletion() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" : : : "memory");
#endif
}

// The value of a conditional node is a word of device memory, whose address is the handle.
static __inline__ __attribute__((device)) void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value) {
  *(volatile unsigned int *)handle = value;
}

extern "C" {
__device__ void *cudaGetParameterBuffer(size_t alignment, size_t size);
__device__ void *cudaGetParameterBufferV2(void *fn, dim3 grid, dim3 block, unsigned int shared);
__device__ cudaError_t __cudaDeviceSynchronizeDeprecationAvoidance(void);
__device__ cudaError_t cudaLaunchDevice(void *fn, void *params, dim3 grid, dim3 block, unsigned int shared, cudaStream_t stream);
__device__ cudaError_t cudaLaunchDeviceV2(void *params, cudaStream_t stream);
}

#endif

#endif
