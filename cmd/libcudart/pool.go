package main

/*
#include "host.h"
*/
import "C"

import "github.com/heddle-sim/heddle/internal/work/cuda"

// This file: stream-ordered memory and its pools.

//export cudaMallocAsync
func cudaMallocAsync(to C.uintptr_t, n C.size_t, stream C.uintptr_t) C.int {
	return mallocAsync(to, n, 0, stream)
}

//export cudaMallocFromPoolAsync
func cudaMallocFromPoolAsync(to C.uintptr_t, n C.size_t, pool, stream C.uintptr_t) C.int {
	if err := need(pool); err != cuda.Success {
		return C.int(err)
	}
	return mallocAsync(to, n, pool, stream)
}

func mallocAsync(to C.uintptr_t, n C.size_t, pool, stream C.uintptr_t) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	addr, err := thread().MallocAsync(uint64(n), uint64(pool), uint64(stream))
	return give(to, C.uintptr_t(addr), err)
}

//export cudaFreeAsync
func cudaFreeAsync(addr, stream C.uintptr_t) C.int {
	return C.int(thread().FreeAsync(uint64(addr), uint64(stream)))
}

// ofPool stores a pool of a device.
func ofPool(to C.uintptr_t, device C.int, which func(device int) (uint64, cuda.Error)) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	h, err := which(int(device))
	return give(to, C.uintptr_t(h), err)
}

//export cudaDeviceGetDefaultMemPool
func cudaDeviceGetDefaultMemPool(to C.uintptr_t, device C.int) C.int {
	return ofPool(to, device, thread().DefaultPool)
}

//export cudaDeviceGetMemPool
func cudaDeviceGetMemPool(to C.uintptr_t, device C.int) C.int {
	return ofPool(to, device, thread().CurrentPool)
}

//export cudaDeviceSetMemPool
func cudaDeviceSetMemPool(device C.int, pool C.uintptr_t) C.int {
	return C.int(thread().SetCurrentPool(int(device), uint64(pool)))
}

//export cudaMemPoolCreate
func cudaMemPoolCreate(to, props C.uintptr_t) C.int {
	if err := need(to, props); err != cuda.Success {
		return C.int(err)
	}
	p := at[C.struct_cudaMemPoolProps](props)
	if p.handleTypes != C.cudaMemHandleTypeNone {
		return C.int(thread().Unsupported("a memory pool for other processes"))
	}
	if err := thread().Check(p.allocType == C.cudaMemAllocationTypePinned && p.location._type == C.cudaMemLocationTypeDevice); err != cuda.Success {
		return C.int(err)
	}
	return ofPool(to, p.location.id, thread().PoolCreate)
}

//export cudaMemPoolDestroy
func cudaMemPoolDestroy(pool C.uintptr_t) C.int { return C.int(thread().PoolDestroy(uint64(pool))) }

//export cudaMemPoolTrimTo
func cudaMemPoolTrimTo(pool C.uintptr_t, n C.size_t) C.int {
	return C.int(thread().PoolTrim(uint64(pool), uint64(n)))
}

// wide reports whether a pool attribute has 64 bits; the others are int.
func wide(which C.int) bool { return which >= C.cudaMemPoolAttrReleaseThreshold }

//export cudaMemPoolGetAttribute
func cudaMemPoolGetAttribute(pool C.uintptr_t, which C.int, to C.uintptr_t) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	v, err := thread().PoolAttribute(uint64(pool), cuda.PoolAttribute(which))
	if wide(which) {
		return give(to, v, err)
	}
	return give(to, C.int(v), err)
}

//export cudaMemPoolSetAttribute
func cudaMemPoolSetAttribute(pool C.uintptr_t, which C.int, from C.uintptr_t) C.int {
	if err := need(from); err != cuda.Success {
		return C.int(err)
	}
	v := uint64(*at[C.uint](from))
	if wide(which) {
		v = *at[uint64](from)
	}
	return C.int(thread().SetPoolAttribute(uint64(pool), cuda.PoolAttribute(which), v))
}

//export cudaMemPoolGetAccess
func cudaMemPoolGetAccess(to, pool, location C.uintptr_t) C.int {
	if err := need(to, location); err != cuda.Success {
		return C.int(err)
	}
	l := at[C.struct_cudaMemLocation](location)
	if err := thread().Check(l._type == C.cudaMemLocationTypeDevice); err != cuda.Success {
		return C.int(err)
	}
	flags, err := thread().PoolAccess(uint64(pool), int(l.id))
	return give(to, C.int(flags), err)
}

//export cudaMemPoolSetAccess
func cudaMemPoolSetAccess(pool, list C.uintptr_t, n C.size_t) C.int {
	_, err := thread().PoolAttribute(uint64(pool), cuda.PoolUsedNow)
	if err == cuda.Success {
		err = thread().Check(n <= maxAccess && (n == 0 || list != 0))
	}
	if err != cuda.Success {
		return C.int(err)
	}
	for i := range n {
		a := at[C.struct_cudaMemAccessDesc](list + C.uintptr_t(i)*C.sizeof_struct_cudaMemAccessDesc)
		err := thread().Check(a.location._type == C.cudaMemLocationTypeDevice)
		if err == cuda.Success {
			err = thread().SetPoolAccess(uint64(pool), int(a.location.id), int32(a.flags))
		}
		if err != cuda.Success {
			return C.int(err)
		}
	}
	return 0
}

// located returns the device of a cudaMemLocation.
func located(location C.uintptr_t) (C.int, cuda.Error) {
	if err := need(location); err != cuda.Success {
		return 0, err
	}
	l := at[C.struct_cudaMemLocation](location)
	return l.id, thread().Check(l._type == C.cudaMemLocationTypeDevice)
}

// poolOf stores a pool of a location, for memory of a kind.
func poolOf(to, location C.uintptr_t, kind C.int, which func(int) (uint64, cuda.Error)) C.int {
	device, err := located(location)
	if err == cuda.Success {
		err = thread().Check(kind == C.cudaMemAllocationTypePinned)
	}
	if err != cuda.Success {
		return C.int(err)
	}
	return ofPool(to, device, which)
}

//export cudaMemGetDefaultMemPool
func cudaMemGetDefaultMemPool(to, location C.uintptr_t, kind C.int) C.int {
	return poolOf(to, location, kind, thread().DefaultPool)
}

//export cudaMemGetMemPool
func cudaMemGetMemPool(to, location C.uintptr_t, kind C.int) C.int {
	return poolOf(to, location, kind, thread().CurrentPool)
}

//export cudaMemSetMemPool
func cudaMemSetMemPool(location C.uintptr_t, kind C.int, pool C.uintptr_t) C.int {
	device, err := located(location)
	if err == cuda.Success {
		err = thread().Check(kind == C.cudaMemAllocationTypePinned)
	}
	if err != cuda.Success {
		return C.int(err)
	}
	return cudaDeviceSetMemPool(device, pool)
}
