package main

/*
#include "host.h"
*/
import "C"

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// The files driver*.go are the driver API, libcuda.so.1: the same library under
// another name, so that both sides of a program see one device. This file:
// start, errors, finding functions, devices and contexts.

// driver returns the calling thread's view of the driver.
func driver() cuda.Driver { return thread().Driver() }

// in runs a call that needs a context; it is an error if a result pointer is null.
func in(f func(t *cuda.Thread) cuda.Error, places ...C.uintptr_t) C.int {
	return C.int(driver().Do(func(t *cuda.Thread) cuda.Error {
		if slices.Contains(places, 0) {
			return cuda.InvalidValue
		}
		return f(t)
	}))
}

// ask is in for calls without a context.
func ask(f func() cuda.Result, places ...C.uintptr_t) C.int {
	return C.int(driver().Ask(func() cuda.Result {
		if slices.Contains(places, 0) {
			return cuda.ResultInvalidValue
		}
		return f()
	}))
}

// back stores the result of a call, if it succeeded.
func back[T any](addr C.uintptr_t, v T, res cuda.Result) C.int {
	if res == cuda.ResultSuccess {
		put(addr, v)
	}
	return C.int(res)
}

//export cuInit
func cuInit(flags C.uint) C.int { return C.int(driver().Init(uint32(flags))) }

//export cuDriverGetVersion
func cuDriverGetVersion(to C.uintptr_t) C.int {
	if to == 0 {
		return C.int(cuda.ResultInvalidValue)
	}
	return back(to, C.int(cuda.DriverVersion), cuda.ResultSuccess)
}

//export cuGetErrorName
func cuGetErrorName(e C.int, to C.uintptr_t) C.int {
	name, ok := cuda.Result(e).Name()
	return errorText(to, name, ok)
}

//export cuGetErrorString
func cuGetErrorString(e C.int, to C.uintptr_t) C.int {
	text, ok := cuda.Result(e).Text()
	return errorText(to, text, ok)
}

func errorText(to C.uintptr_t, s string, ok bool) C.int {
	switch {
	case to == 0:
		return C.int(cuda.ResultInvalidValue)
	case !ok:
		put(to, C.uintptr_t(0))
		return C.int(cuda.ResultInvalidValue)
	}
	put(to, forever(s))
	return 0
}

//export heddleNotInDriver
func heddleNotInDriver(name *C.char) C.int { return C.int(driver().Unsupported(C.GoString(name))) }

// only names with cu: a program must not find the runtime's functions
func isDriver(name string) bool {
	return len(name) > 2 && name[:2] == "cu" && name[2] >= 'A' && name[2] <= 'Z'
}

//export cuGetProcAddress_v2
func cuGetProcAddress_v2(name, to C.uintptr_t, version C.int, flags C.ulonglong, status C.uintptr_t) C.int {
	if name == 0 || to == 0 || flags > 2 {
		return C.int(cuda.ResultInvalidValue)
	}
	var fn C.uintptr_t
	found := C.int(C.CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND)
	if n := text(name); isDriver(n) {
		fn, found = find(n, int(version), flags == C.CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
	}
	put(to, fn)
	if status != 0 {
		put(status, found)
		return 0
	}
	if fn == 0 {
		return C.int(cuda.ResultNotFound)
	}
	return 0
}

//export cuGetProcAddress
func cuGetProcAddress(name, to C.uintptr_t, version C.int, flags C.ulonglong) C.int {
	return cuGetProcAddress_v2(name, to, version, flags, 0)
}

//export cuProfilerStart
func cuProfilerStart() C.int { return ask(done) }

//export cuProfilerStop
func cuProfilerStop() C.int { return ask(done) }

//export cuProfilerInitialize
func cuProfilerInitialize(config, output C.uintptr_t, mode C.int) C.int { return ask(done) }

func done() cuda.Result { return cuda.ResultSuccess }

// Devices.

// device runs a call on a device.
func device(n C.int, f func(p *cuda.Properties) cuda.Result, places ...C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		p, ok := runtime().PropertiesOf(int(n))
		if !ok {
			return cuda.ResultInvalidDevice
		}
		return f(&p)
	}, places...)
}

//export cuDeviceGet
func cuDeviceGet(to C.uintptr_t, n C.int) C.int {
	return device(n, func(*cuda.Properties) cuda.Result { put(to, n); return cuda.ResultSuccess }, to)
}

//export cuDeviceGetCount
func cuDeviceGetCount(to C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		n, err := thread().Devices()
		return cuda.Result(back(to, C.int(n), err.Result()))
	}, to)
}

// putText stores a zero-terminated string in n bytes, truncated if necessary.
func putText(to C.uintptr_t, n C.int, s string) {
	b := host{}.Bytes(uint64(to), uint64(n))
	b[copy(b[:n-1], s)] = 0
}

//export cuDeviceGetName
func cuDeviceGetName(to C.uintptr_t, n, dev C.int) C.int {
	return device(dev, func(p *cuda.Properties) cuda.Result {
		if n <= 0 {
			return cuda.ResultInvalidValue
		}
		putText(to, n, p.Name)
		return cuda.ResultSuccess
	}, to)
}

//export cuDeviceGetUuid
func cuDeviceGetUuid(to C.uintptr_t, dev C.int) C.int {
	return device(dev, func(p *cuda.Properties) cuda.Result {
		put(to, p.UUID())
		return cuda.ResultSuccess
	}, to)
}

//export cuDeviceGetUuid_v2
func cuDeviceGetUuid_v2(to C.uintptr_t, dev C.int) C.int { return cuDeviceGetUuid(to, dev) }

//export cuDeviceGetAttribute
func cuDeviceGetAttribute(to C.uintptr_t, which, dev C.int) C.int {
	return device(dev, func(*cuda.Properties) cuda.Result {
		v, err := thread().Attribute(int(dev), int(which))
		back(to, C.int(v), err.Result())
		return err.Result()
	}, to)
}

//export cuDeviceGetProperties
func cuDeviceGetProperties(to C.uintptr_t, dev C.int) C.int {
	return device(dev, func(*cuda.Properties) cuda.Result {
		var p C.CUdevprop
		attribute := func(to *C.int, which int) {
			if v, err := thread().Attribute(int(dev), which); err == cuda.Success {
				*to = C.int(v)
			}
		}
		for i := range 3 {
			attribute(&p.maxThreadsDim[i], C.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X+i)
			attribute(&p.maxGridSize[i], C.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X+i)
		}
		attribute(&p.maxThreadsPerBlock, C.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
		attribute(&p.sharedMemPerBlock, C.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)
		attribute(&p.totalConstantMemory, C.CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY)
		attribute(&p.SIMDWidth, C.CU_DEVICE_ATTRIBUTE_WARP_SIZE)
		attribute(&p.memPitch, C.CU_DEVICE_ATTRIBUTE_MAX_PITCH)
		attribute(&p.regsPerBlock, C.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK)
		attribute(&p.clockRate, C.CU_DEVICE_ATTRIBUTE_CLOCK_RATE)
		attribute(&p.textureAlign, C.CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)
		put(to, p)
		return cuda.ResultSuccess
	}, to)
}

//export cuDeviceComputeCapability
func cuDeviceComputeCapability(major, minor C.uintptr_t, dev C.int) C.int {
	return device(dev, func(p *cuda.Properties) cuda.Result {
		put(major, C.int(p.Major))
		put(minor, C.int(p.Minor))
		return cuda.ResultSuccess
	}, major, minor)
}

//export cuDeviceTotalMem_v2
func cuDeviceTotalMem_v2(to C.uintptr_t, dev C.int) C.int {
	return device(dev, func(p *cuda.Properties) cuda.Result {
		put(to, C.size_t(p.Memory))
		return cuda.ResultSuccess
	}, to)
}

//export cuDeviceCanAccessPeer
func cuDeviceCanAccessPeer(to C.uintptr_t, dev, peer C.int) C.int {
	return ask(func() cuda.Result {
		can, err := thread().CanAccess(int(dev), int(peer))
		return cuda.Result(back(to, truth(can), err.Result()))
	}, to)
}

//export cuDeviceGetP2PAttribute
func cuDeviceGetP2PAttribute(to C.uintptr_t, which, dev, peer C.int) C.int {
	return ask(func() cuda.Result {
		v, err := thread().PeerAttribute(int(which), int(dev), int(peer))
		return cuda.Result(back(to, C.int(v), err.Result()))
	}, to)
}

//export cuDeviceGetPCIBusId
func cuDeviceGetPCIBusId(to C.uintptr_t, n, dev C.int) C.int {
	return device(dev, func(p *cuda.Properties) cuda.Result {
		id := p.BusID()
		if int(n) <= len(id) {
			return cuda.ResultInvalidValue
		}
		putText(to, n, id)
		return cuda.ResultSuccess
	}, to)
}

//export cuDeviceGetByPCIBusId
func cuDeviceGetByPCIBusId(to, id C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		n, err := runtime().AtBus(text(id))
		return cuda.Result(back(to, C.int(n), err.Result()))
	}, to, id)
}

//export cuDevicePrimaryCtxRetain
func cuDevicePrimaryCtxRetain(to C.uintptr_t, dev C.int) C.int {
	return ask(func() cuda.Result {
		h, res := driver().RetainPrimary(int32(dev))
		back(to, C.uintptr_t(h), res)
		return res
	}, to)
}

//export cuDevicePrimaryCtxRelease
func cuDevicePrimaryCtxRelease(dev C.int) C.int { return C.int(driver().ReleasePrimary(int32(dev))) }

//export cuDevicePrimaryCtxRelease_v2
func cuDevicePrimaryCtxRelease_v2(dev C.int) C.int { return cuDevicePrimaryCtxRelease(dev) }

//export cuDevicePrimaryCtxReset
func cuDevicePrimaryCtxReset(dev C.int) C.int { return C.int(driver().ResetPrimary(int32(dev))) }

//export cuDevicePrimaryCtxReset_v2
func cuDevicePrimaryCtxReset_v2(dev C.int) C.int { return cuDevicePrimaryCtxReset(dev) }

//export cuDevicePrimaryCtxSetFlags
func cuDevicePrimaryCtxSetFlags(dev C.int, flags C.uint) C.int {
	return C.int(driver().SetPrimaryFlags(int32(dev), uint32(flags)))
}

//export cuDevicePrimaryCtxSetFlags_v2
func cuDevicePrimaryCtxSetFlags_v2(dev C.int, flags C.uint) C.int {
	return cuDevicePrimaryCtxSetFlags(dev, flags)
}

//export cuDevicePrimaryCtxGetState
func cuDevicePrimaryCtxGetState(dev C.int, flags, active C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		f, yes, res := driver().PrimaryState(int32(dev))
		n := C.int(0)
		if yes {
			n = 1
		}
		back(flags, C.uint(f), res)
		back(active, n, res)
		return res
	}, flags, active)
}

// Contexts.

//export cuCtxCreate_v2
func cuCtxCreate_v2(to C.uintptr_t, flags C.uint, dev C.int) C.int {
	return ask(func() cuda.Result {
		h, res := driver().CreateContext(uint32(flags), int32(dev))
		back(to, C.uintptr_t(h), res)
		return res
	}, to)
}

//export cuCtxCreate_v3
func cuCtxCreate_v3(to, params C.uintptr_t, n C.int, flags C.uint, dev C.int) C.int {
	if params != 0 && n > 0 {
		return C.int(driver().Unsupported("cuCtxCreate with a subset of the SMs"))
	}
	return cuCtxCreate_v2(to, flags, dev)
}

//export cuCtxCreate_v4
func cuCtxCreate_v4(to, params C.uintptr_t, flags C.uint, dev C.int) C.int {
	if params == 0 {
		return cuCtxCreate_v2(to, flags, dev)
	}
	p := at[C.CUctxCreateParams](params)
	return cuCtxCreate_v3(to, C.uintptr_t(word(&p.execAffinityParams)), p.numExecAffinityParams, flags, dev)
}

//export cuCtxDestroy_v2
func cuCtxDestroy_v2(h C.uintptr_t) C.int { return C.int(driver().DestroyContext(uint64(h))) }

//export cuCtxDestroy
func cuCtxDestroy(h C.uintptr_t) C.int { return cuCtxDestroy_v2(h) }

//export cuCtxPushCurrent_v2
func cuCtxPushCurrent_v2(h C.uintptr_t) C.int { return C.int(driver().PushContext(uint64(h))) }

//export cuCtxPushCurrent
func cuCtxPushCurrent(h C.uintptr_t) C.int { return cuCtxPushCurrent_v2(h) }

//export cuCtxPopCurrent_v2
func cuCtxPopCurrent_v2(to C.uintptr_t) C.int {
	h, res := driver().PopContext()
	if to == 0 {
		return C.int(res)
	}
	return back(to, C.uintptr_t(h), res)
}

//export cuCtxPopCurrent
func cuCtxPopCurrent(to C.uintptr_t) C.int { return cuCtxPopCurrent_v2(to) }

//export cuCtxSetCurrent
func cuCtxSetCurrent(h C.uintptr_t) C.int { return C.int(driver().SetContext(uint64(h))) }

//export cuCtxGetCurrent
func cuCtxGetCurrent(to C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		h, res := driver().Context()
		back(to, C.uintptr_t(h), res)
		return res
	}, to)
}

//export cuCtxGetDevice
func cuCtxGetDevice(to C.uintptr_t) C.int {
	return in(func(*cuda.Thread) cuda.Error {
		n, _ := driver().ContextDevice(0) // there is one
		put(to, C.int(n))
		return cuda.Success
	}, to)
}

//export cuCtxGetFlags
func cuCtxGetFlags(to C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		_, flags, res := driver().ContextInfo(0)
		back(to, C.uint(flags), res)
		return res
	}, to)
}

//export cuCtxGetId
func cuCtxGetId(h, to C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		id, _, res := driver().ContextInfo(uint64(h))
		back(to, C.ulonglong(id), res)
		return res
	}, to)
}

// apiVersion is the version of contexts, not of the driver: 3020 for all made by
// cuCtxCreate_v2.
const apiVersion = 3020

//export cuCtxGetApiVersion
func cuCtxGetApiVersion(h, to C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		_, _, res := driver().ContextInfo(uint64(h))
		back(to, C.uint(apiVersion), res)
		return res
	}, to)
}

//export cuCtxSynchronize
func cuCtxSynchronize() C.int {
	return in(func(t *cuda.Thread) cuda.Error { return t.Synchronize() })
}

//export cuCtxSetLimit
func cuCtxSetLimit(which C.int, n C.size_t) C.int {
	return in(func(t *cuda.Thread) cuda.Error { return t.SetLimit(int(which), uint64(n)) })
}

//export cuCtxGetLimit
func cuCtxGetLimit(to C.uintptr_t, which C.int) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		n, err := t.Limit(int(which))
		give(to, C.size_t(n), err)
		return err
	}, to)
}

// setting runs a call that only checks a value.
func setting(right bool) C.int {
	return in(func(t *cuda.Thread) cuda.Error { return t.Check(right) })
}

//export cuCtxSetCacheConfig
func cuCtxSetCacheConfig(c C.int) C.int { return setting(c >= 0 && c <= 3) }

//export cuCtxGetCacheConfig
func cuCtxGetCacheConfig(to C.uintptr_t) C.int {
	return in(func(*cuda.Thread) cuda.Error { put(to, C.int(0)); return cuda.Success }, to)
}

//export cuCtxSetSharedMemConfig
func cuCtxSetSharedMemConfig(c C.int) C.int { return setting(c >= 0 && c <= 2) }

//export cuCtxGetSharedMemConfig
func cuCtxGetSharedMemConfig(to C.uintptr_t) C.int {
	return in(func(*cuda.Thread) cuda.Error {
		put(to, C.int(C.CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE))
		return cuda.Success
	}, to)
}

//export cuCtxGetStreamPriorityRange
func cuCtxGetStreamPriorityRange(least, greatest C.uintptr_t) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		l, g := t.PriorityRange()
		if least != 0 {
			put(least, C.int(l))
		}
		if greatest != 0 {
			put(greatest, C.int(g))
		}
		return cuda.Success
	})
}

//export cuCtxResetPersistingL2Cache
func cuCtxResetPersistingL2Cache() C.int { return setting(true) }

// ofPeer runs a call about the device of another context.
func ofPeer(peer C.uintptr_t, f func(t *cuda.Thread, number int) cuda.Result) C.int {
	return C.int(driver().In(func(t *cuda.Thread) cuda.Result {
		if peer == 0 {
			return cuda.ResultInvalidContext
		}
		n, res := driver().ContextDevice(uint64(peer))
		if res != cuda.ResultSuccess {
			return res
		}
		return f(t, n)
	}))
}

//export cuCtxEnablePeerAccess
func cuCtxEnablePeerAccess(peer C.uintptr_t, flags C.uint) C.int {
	return ofPeer(peer, func(t *cuda.Thread, n int) cuda.Result {
		err := t.EnablePeer(n, uint32(flags))
		if err == cuda.InvalidDevice { // a context of the same device
			return cuda.ResultPeerUnsupported
		}
		return err.Result()
	})
}

//export cuCtxDisablePeerAccess
func cuCtxDisablePeerAccess(peer C.uintptr_t) C.int {
	return ofPeer(peer, func(t *cuda.Thread, n int) cuda.Result { return t.DisablePeer(n).Result() })
}

//export cuCtxAttach
func cuCtxAttach(to C.uintptr_t, flags C.uint) C.int {
	return ask(func() cuda.Result {
		if flags != 0 {
			return cuda.ResultInvalidValue
		}
		h, res := driver().AttachContext()
		back(to, C.uintptr_t(h), res)
		return res
	}, to)
}

//export cuCtxDetach
func cuCtxDetach(h C.uintptr_t) C.int { return C.int(driver().DetachContext(uint64(h))) }

//export cuCtxGetDevice_v2
func cuCtxGetDevice_v2(to, ctx C.uintptr_t) C.int {
	if ctx == 0 {
		return cuCtxGetDevice(to)
	}
	return ask(func() cuda.Result {
		n, res := driver().ContextDevice(uint64(ctx))
		return cuda.Result(back(to, C.int(n), res))
	}, to)
}
