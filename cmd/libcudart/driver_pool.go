package main

/*
#include "host.h"
*/
import "C"

import "github.com/heddle-sim/heddle/internal/work/cuda"

// This file: stream-ordered memory and its pools. They are the runtime's.

//export cuMemAllocAsync
func cuMemAllocAsync(to C.uintptr_t, n C.size_t, stream C.uintptr_t) C.int {
	return same(func() C.int { return cudaMallocAsync(to, n, stream) }, to)
}

//export cuMemFreeAsync
func cuMemFreeAsync(addr, stream C.uintptr_t) C.int {
	return disown(cuda.OwnedMemory, addr, func(t *cuda.Thread) cuda.Error { return t.FreeAsync(uint64(addr), uint64(stream)) })
}

//export cuDeviceGetDefaultMemPool
func cuDeviceGetDefaultMemPool(to C.uintptr_t, dev C.int) C.int {
	return same(func() C.int { return cudaDeviceGetDefaultMemPool(to, dev) })
}

//export cuDeviceGetMemPool
func cuDeviceGetMemPool(to C.uintptr_t, dev C.int) C.int {
	return same(func() C.int { return cudaDeviceGetMemPool(to, dev) })
}

//export cuDeviceSetMemPool
func cuDeviceSetMemPool(dev C.int, pool C.uintptr_t) C.int {
	return same(func() C.int { return cudaDeviceSetMemPool(dev, pool) })
}

//export cuMemPoolCreate
func cuMemPoolCreate(to, props C.uintptr_t) C.int {
	return same(func() C.int { return cudaMemPoolCreate(to, props) })
}

//export cuMemPoolDestroy
func cuMemPoolDestroy(pool C.uintptr_t) C.int {
	return same(func() C.int { return cudaMemPoolDestroy(pool) })
}

//export cuMemPoolTrimTo
func cuMemPoolTrimTo(pool C.uintptr_t, n C.size_t) C.int {
	return same(func() C.int { return cudaMemPoolTrimTo(pool, n) })
}

//export cuMemPoolGetAttribute
func cuMemPoolGetAttribute(pool C.uintptr_t, which C.int, to C.uintptr_t) C.int {
	return same(func() C.int { return cudaMemPoolGetAttribute(pool, which, to) })
}

//export cuMemPoolSetAttribute
func cuMemPoolSetAttribute(pool C.uintptr_t, which C.int, from C.uintptr_t) C.int {
	return same(func() C.int { return cudaMemPoolSetAttribute(pool, which, from) })
}

//export cuMemPoolSetAccess
func cuMemPoolSetAccess(pool, list C.uintptr_t, n C.size_t) C.int {
	return same(func() C.int { return cudaMemPoolSetAccess(pool, list, n) })
}

//export cuMemPoolGetAccess
func cuMemPoolGetAccess(to, pool, location C.uintptr_t) C.int {
	return same(func() C.int { return cudaMemPoolGetAccess(to, pool, location) })
}

//export cuMemAllocFromPoolAsync
func cuMemAllocFromPoolAsync(to C.uintptr_t, n C.size_t, pool, stream C.uintptr_t) C.int {
	return same(func() C.int { return cudaMallocFromPoolAsync(to, n, pool, stream) })
}

//export cuMemGetDefaultMemPool
func cuMemGetDefaultMemPool(to, location C.uintptr_t, kind C.int) C.int {
	return same(func() C.int { return cudaMemGetDefaultMemPool(to, location, kind) })
}

//export cuMemGetMemPool
func cuMemGetMemPool(to, location C.uintptr_t, kind C.int) C.int {
	return same(func() C.int { return cudaMemGetMemPool(to, location, kind) })
}

//export cuMemSetMemPool
func cuMemSetMemPool(location C.uintptr_t, kind C.int, pool C.uintptr_t) C.int {
	return same(func() C.int { return cudaMemSetMemPool(location, kind, pool) })
}
