package main

/*
#include "host.h"
*/
import "C"

import (
	"sync"
	"unsafe"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: errors, devices, functions and occupancy.

// C strings, made once each and never freed, because programs keep the pointers.
var (
	names   = map[string]*C.char{}
	namesMu sync.Mutex
)

func forever(s string) *C.char {
	namesMu.Lock()
	defer namesMu.Unlock()
	c := names[s]
	if c == nil {
		c = C.CString(s)
		names[s] = c
	}
	return c
}

//export cudaGetErrorString
func cudaGetErrorString(e C.int) *C.char { return forever(cuda.Error(e).Text()) }

//export cudaGetErrorName
func cudaGetErrorName(e C.int) *C.char { return forever(cuda.Error(e).Name()) }

//export cudaGetLastError
func cudaGetLastError() C.int { return C.int(thread().LastError()) }

//export cudaPeekAtLastError
func cudaPeekAtLastError() C.int { return C.int(thread().PeekError()) }

//export heddleUnsupported
func heddleUnsupported(name *C.char) C.int { return C.int(thread().Unsupported(C.GoString(name))) }

// heddleVersion implements cudaRuntimeGetVersion for a release; versions.c has its names.
//
//export heddleVersion
func heddleVersion(v C.uintptr_t, release C.int) C.int { return give(v, release, need(v)) }

//export cudaDriverGetVersion
func cudaDriverGetVersion(v C.uintptr_t) C.int { return give(v, C.int(cuda.DriverVersion), need(v)) }

//export cudaGetDeviceCount
func cudaGetDeviceCount(n C.uintptr_t) C.int {
	count, err := thread().Devices()
	if n != 0 {
		put(n, C.int(count)) // 0 without a device, too
	} else if err == cuda.Success {
		err = cuda.InvalidValue
	}
	return C.int(thread().Answer(err))
}

//export cudaGetDevice
func cudaGetDevice(n C.uintptr_t) C.int {
	if err := need(n); err != cuda.Success {
		return C.int(err)
	}
	number, err := thread().Current()
	return give(n, C.int(number), err)
}

//export cudaSetDevice
func cudaSetDevice(n C.int) C.int { return C.int(thread().SetDevice(int(n))) }

//export cudaInitDevice
func cudaInitDevice(n C.int, deviceFlags, flags C.uint) C.int {
	if err := there(n); err != cuda.Success {
		return C.int(err)
	}
	return C.int(thread().Check(deviceFlags < 32 && flags <= 1))
}

//export cudaChooseDevice
func cudaChooseDevice(n, prop C.uintptr_t) C.int { return give(n, C.int(0), need(n)) }

//export cudaSetDeviceFlags
func cudaSetDeviceFlags(flags C.uint) C.int { return C.int(thread().Check(flags < 32)) }

//export cudaGetDeviceFlags
func cudaGetDeviceFlags(flags C.uintptr_t) C.int {
	return give(flags, C.uint(C.cudaDeviceMapHost), need(flags))
}

//export cudaDeviceSynchronize
func cudaDeviceSynchronize() C.int { return C.int(thread().Synchronize()) }

//export cudaThreadSynchronize
func cudaThreadSynchronize() C.int { return C.int(thread().Synchronize()) }

//export cudaDeviceReset
func cudaDeviceReset() C.int { return C.int(thread().Reset()) }

//export cudaThreadExit
func cudaThreadExit() C.int { return C.int(thread().Reset()) }

//export cudaDeviceSetCacheConfig
func cudaDeviceSetCacheConfig(c C.int) C.int { return C.int(thread().Check(c >= 0 && c <= 3)) }

//export cudaThreadSetCacheConfig
func cudaThreadSetCacheConfig(c C.int) C.int { return cudaDeviceSetCacheConfig(c) }

//export cudaDeviceGetCacheConfig
func cudaDeviceGetCacheConfig(c C.uintptr_t) C.int { return give(c, C.int(0), need(c)) }

//export cudaDeviceSetSharedMemConfig
func cudaDeviceSetSharedMemConfig(c C.int) C.int { return C.int(thread().Check(c >= 0 && c <= 2)) }

//export cudaDeviceGetSharedMemConfig
func cudaDeviceGetSharedMemConfig(c C.uintptr_t) C.int {
	return give(c, C.int(C.cudaSharedMemBankSizeFourByte), need(c))
}

//export cudaDeviceSetLimit
func cudaDeviceSetLimit(which C.int, n C.size_t) C.int {
	return C.int(thread().SetLimit(int(which), uint64(n)))
}

//export cudaThreadSetLimit
func cudaThreadSetLimit(which C.int, n C.size_t) C.int { return cudaDeviceSetLimit(which, n) }

//export cudaDeviceGetLimit
func cudaDeviceGetLimit(to C.uintptr_t, which C.int) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	n, err := thread().Limit(int(which))
	return give(to, C.size_t(n), err)
}

//export cudaThreadGetLimit
func cudaThreadGetLimit(to C.uintptr_t, which C.int) C.int { return cudaDeviceGetLimit(to, which) }

//export cudaDeviceGetStreamPriorityRange
func cudaDeviceGetStreamPriorityRange(least, greatest C.uintptr_t) C.int {
	l, g := thread().PriorityRange()
	if least != 0 {
		put(least, C.int(l))
	}
	if greatest != 0 {
		put(greatest, C.int(g))
	}
	return 0
}

//export cudaDeviceCanAccessPeer
func cudaDeviceCanAccessPeer(to C.uintptr_t, device, peer C.int) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	can, err := thread().CanAccess(int(device), int(peer))
	return give(to, truth(can), err)
}

// truth is a value of C.
func truth(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

//export cudaDeviceEnablePeerAccess
func cudaDeviceEnablePeerAccess(peer C.int, flags C.uint) C.int {
	return C.int(thread().EnablePeer(int(peer), uint32(flags)))
}

//export cudaDeviceDisablePeerAccess
func cudaDeviceDisablePeerAccess(peer C.int) C.int { return C.int(thread().DisablePeer(int(peer))) }

//export cudaDeviceGetP2PAttribute
func cudaDeviceGetP2PAttribute(to C.uintptr_t, which, device, peer C.int) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	v, err := thread().PeerAttribute(int(which), int(device), int(peer))
	return give(to, C.int(v), err)
}

//export cudaSetValidDevices
func cudaSetValidDevices(list C.uintptr_t, n C.int) C.int {
	err := thread().Check(n >= 0 && (n == 0 || list != 0))
	if err == cuda.Success && n > 0 { // use the first one
		err = thread().SetDevice(int(*(*int32)(pointer(uint64(list)))))
	}
	return C.int(err)
}

//export cudaDeviceGetPCIBusId
func cudaDeviceGetPCIBusId(to C.uintptr_t, n, device C.int) C.int {
	err := need(to)
	if err == cuda.Success {
		err = there(device)
	}
	if err != cuda.Success {
		return C.int(err)
	}
	id := busID(device)
	if err = thread().Check(int(n) > len(id)); err == cuda.Success {
		putText(to, n, id)
	}
	return C.int(err)
}

//export cudaDeviceGetByPCIBusId
func cudaDeviceGetByPCIBusId(to, id C.uintptr_t) C.int {
	if err := need(to, id); err != cuda.Success {
		return C.int(err)
	}
	n, err := runtime().AtBus(text(id))
	return give(to, C.int(n), thread().Answer(err))
}

// busID is the address of a device on the bus.
func busID(device C.int) string {
	p, _ := runtime().PropertiesOf(int(device))
	return p.BusID()
}

//export cudaDeviceGetAttribute
func cudaDeviceGetAttribute(to C.uintptr_t, which, device C.int) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	v, err := thread().Attribute(int(device), int(which))
	return give(to, C.int(v), err)
}

// heddleDeviceProperties implements cudaGetDeviceProperties for a release; versions.c has
// its names.
//
//export heddleDeviceProperties
func heddleDeviceProperties(to C.uintptr_t, device C.int, release C.int) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	b, err := thread().DeviceProp(int(device), cuda.Release(release))
	copy(host{}.Bytes(uint64(to), uint64(len(b))), b)
	return C.int(err)
}

// heddleFunctionAttributes describes a function, with the attributes of clusters if the
// program's release has them.
//
//export heddleFunctionAttributes
func heddleFunctionAttributes(to, fn C.uintptr_t, clusters C.int) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	f, err := thread().FunctionInfo(uint64(fn))
	set := func(a cuda.FunctionAttribute) C.int { return C.int(f.Attribute(a)) }
	a := C.struct_cudaFuncAttributes{
		sharedSizeBytes: C.size_t(f.Shared), localSizeBytes: C.size_t(f.Local), maxThreadsPerBlock: C.int(f.MaxThreads),
		numRegs: C.int(f.Registers), ptxVersion: C.int(f.PTX), binaryVersion: C.int(f.Binary),
		maxDynamicSharedSizeBytes: C.int(f.MaxSharedPrefer), preferredShmemCarveout: set(cuda.FunctionCarveout),
		requiredClusterWidth: set(cuda.FunctionClusterWidth), requiredClusterHeight: set(cuda.FunctionClusterHeight), requiredClusterDepth: set(cuda.FunctionClusterDepth),
		clusterSchedulingPolicyPreference: set(cuda.FunctionSpread), nonPortableClusterSizeAllowed: set(cuda.FunctionNonPortable),
	}
	if clusters != 0 {
		return give(to, a, err)
	}
	return give(to, *(*[unsafe.Offsetof(a.clusterDimMustBeSet)]byte)(unsafe.Pointer(&a)), err)
}

//export cudaFuncSetAttribute
func cudaFuncSetAttribute(fn C.uintptr_t, which, value C.int) C.int {
	return C.int(thread().SetFunctionAttribute(uint64(fn), cuda.FunctionAttribute(which), int32(value)))
}

//export cudaFuncSetCacheConfig
func cudaFuncSetCacheConfig(fn C.uintptr_t, prefer C.int) C.int {
	return C.int(thread().SetPreference(uint64(fn), int(prefer)))
}

//export cudaFuncSetSharedMemConfig
func cudaFuncSetSharedMemConfig(fn C.uintptr_t, c C.int) C.int {
	return C.int(thread().Check(c >= 0 && c <= 2))
}

//export cudaOccupancyMaxActiveBlocksPerMultiprocessor
func cudaOccupancyMaxActiveBlocksPerMultiprocessor(to, fn C.uintptr_t, threads C.int, shared C.size_t) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	n, err := thread().Occupancy(uint64(fn), int(threads), uint64(shared))
	return give(to, C.int(n), err)
}

//export cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
func cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(to, fn C.uintptr_t, threads C.int, shared C.size_t, flags C.uint) C.int {
	return cudaOccupancyMaxActiveBlocksPerMultiprocessor(to, fn, threads, shared)
}

//export cudaOccupancyAvailableDynamicSMemPerBlock
func cudaOccupancyAvailableDynamicSMemPerBlock(to, fn C.uintptr_t, blocks, threads C.int) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	n, err := thread().RoomForShared(uint64(fn), int(blocks), int(threads))
	return give(to, C.size_t(n), err)
}

//export cudaProfilerStart
func cudaProfilerStart() C.int { return 0 }

//export cudaProfilerStop
func cudaProfilerStop() C.int { return 0 }

//export cudaThreadGetCacheConfig
func cudaThreadGetCacheConfig(to C.uintptr_t) C.int { return cudaDeviceGetCacheConfig(to) }

//export cudaProfilerInitialize
func cudaProfilerInitialize(config, output C.uintptr_t, mode C.int) C.int { return 0 }
