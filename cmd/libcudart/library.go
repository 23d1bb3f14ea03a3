package main

/*
#include "host.h"
*/
import "C"

import "github.com/heddle-sim/heddle/internal/work/cuda"

// This file: libraries and their kernels, of both APIs. They are modules and functions that
// belong to no context. All contexts share the device's memory, so that a library and its
// module have the same handle, and a kernel and its function.

//export cuLibraryLoadData
func cuLibraryLoadData(to, image, options, values C.uintptr_t, n C.uint, more, moreValues C.uintptr_t, count C.uint) C.int {
	return loadData(true, to, image, n, options, values)
}

//export cuLibraryLoadFromFile
func cuLibraryLoadFromFile(to, name, options, values C.uintptr_t, n C.uint, more, moreValues C.uintptr_t, count C.uint) C.int {
	return loadFile(true, to, name, n, options, values)
}

//export cuLibraryUnload
func cuLibraryUnload(h C.uintptr_t) C.int {
	return ask(func() cuda.Result { return driver().UnloadLibrary(uint64(h)) })
}

// inLibrary is a call about a library that is the same as one about a module.
func inLibrary(h C.uintptr_t, f func() C.int) C.int {
	return ask(func() cuda.Result {
		return driver().InLibrary(uint64(h), func() cuda.Result { return cuda.Result(f()) })
	})
}

//export cuLibraryGetKernel
func cuLibraryGetKernel(to, h, name C.uintptr_t) C.int {
	return inLibrary(h, func() C.int { return cuModuleGetFunction(to, h, name) })
}

//export cuLibraryGetKernelCount
func cuLibraryGetKernelCount(to, h C.uintptr_t) C.int {
	return inLibrary(h, func() C.int { return cuModuleGetFunctionCount(to, h) })
}

//export cuLibraryEnumerateKernels
func cuLibraryEnumerateKernels(to C.uintptr_t, n C.uint, h C.uintptr_t) C.int {
	return inLibrary(h, func() C.int { return cuModuleEnumerateFunctions(to, n, h) })
}

//export cuLibraryGetGlobal
func cuLibraryGetGlobal(to, bytes, h, name C.uintptr_t) C.int {
	return inLibrary(h, func() C.int { return variable(to, bytes, h, name, cuda.Driver.Global) })
}

//export cuLibraryGetManaged
func cuLibraryGetManaged(to, bytes, h, name C.uintptr_t) C.int {
	return inLibrary(h, func() C.int { return variable(to, bytes, h, name, cuda.Driver.Managed) })
}

// inContext stores a handle that is the same in the current context, if it is one.
func inContext(to, h C.uintptr_t, check func(d cuda.Driver) cuda.Result) C.int {
	return scoped(false, func() cuda.Result {
		if to == 0 {
			return cuda.ResultInvalidValue
		}
		res := check(driver())
		back(to, h, res)
		return res
	})
}

//export cuLibraryGetModule
func cuLibraryGetModule(to, h C.uintptr_t) C.int {
	return inContext(to, h, func(d cuda.Driver) cuda.Result {
		return d.InLibrary(uint64(h), func() cuda.Result { return cuda.ResultSuccess })
	})
}

//export cuKernelGetFunction
func cuKernelGetFunction(to, kernel C.uintptr_t) C.int {
	return inContext(to, kernel, func(d cuda.Driver) cuda.Result {
		_, _, res := d.FunctionOf(uint64(kernel))
		return res
	})
}

//export cuKernelGetLibrary
func cuKernelGetLibrary(to, kernel C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		h, res := driver().Library(uint64(kernel))
		back(to, C.uintptr_t(h), res)
		return res
	}, to)
}

//export cuKernelGetName
func cuKernelGetName(to, kernel C.uintptr_t) C.int { return cuFuncGetName(to, kernel) }

//export cuKernelGetParamInfo
func cuKernelGetParamInfo(kernel C.uintptr_t, n C.size_t, offset, size C.uintptr_t) C.int {
	return cuFuncGetParamInfo(kernel, n, offset, size)
}

// ofKernel runs a call about a kernel on a device.
func ofKernel(dev C.int, f func(t *cuda.Thread) cuda.Error, places ...C.uintptr_t) C.int {
	return known(func(t *cuda.Thread) cuda.Error {
		if err := t.Device(int(dev)); err != cuda.Success {
			return err
		}
		return f(t)
	}, places...)
}

//export cuKernelGetAttribute
func cuKernelGetAttribute(to C.uintptr_t, which C.int, kernel C.uintptr_t, dev C.int) C.int {
	return ofKernel(dev, functionAttribute(to, which, kernel), to)
}

//export cuKernelSetAttribute
func cuKernelSetAttribute(which, value C.int, kernel C.uintptr_t, dev C.int) C.int {
	return ofKernel(dev, setFunctionAttribute(kernel, which, value))
}

//export cuKernelSetCacheConfig
func cuKernelSetCacheConfig(kernel C.uintptr_t, prefer, dev C.int) C.int {
	return ofKernel(dev, func(t *cuda.Thread) cuda.Error { return t.SetPreference(uint64(kernel), int(prefer)) })
}

// fromDriver runs a call of the driver as one of the runtime: the first call makes the
// primary context, and an error is the thread's last one. Both APIs number these errors
// alike.
func fromDriver(f func() C.int) C.int {
	if err := thread().Answer(cuda.Success); err != cuda.Success {
		return C.int(err)
	}
	return C.int(thread().Answer(cuda.Error(f())))
}

// heddleEntryPoint finds a function of the driver for a release of CUDA.
//
//export heddleEntryPoint
func heddleEntryPoint(name, to C.uintptr_t, release C.int, flags C.ulonglong, status C.uintptr_t) C.int {
	return fromDriver(func() C.int { return cuGetProcAddress_v2(name, to, release, flags, status) })
}

//export cudaLibraryLoadData
func cudaLibraryLoadData(to, image, options, values C.uintptr_t, n C.uint, more, moreValues C.uintptr_t, count C.uint) C.int {
	return fromDriver(func() C.int { return cuLibraryLoadData(to, image, options, values, n, more, moreValues, count) })
}

//export cudaLibraryLoadFromFile
func cudaLibraryLoadFromFile(to, name, options, values C.uintptr_t, n C.uint, more, moreValues C.uintptr_t, count C.uint) C.int {
	return fromDriver(func() C.int { return cuLibraryLoadFromFile(to, name, options, values, n, more, moreValues, count) })
}

//export cudaLibraryUnload
func cudaLibraryUnload(h C.uintptr_t) C.int {
	return fromDriver(func() C.int { return cuLibraryUnload(h) })
}

//export cudaLibraryGetKernel
func cudaLibraryGetKernel(to, h, name C.uintptr_t) C.int {
	return fromDriver(func() C.int { return cuLibraryGetKernel(to, h, name) })
}

//export cudaLibraryGetKernelCount
func cudaLibraryGetKernelCount(to, h C.uintptr_t) C.int {
	return fromDriver(func() C.int { return cuLibraryGetKernelCount(to, h) })
}

//export cudaLibraryEnumerateKernels
func cudaLibraryEnumerateKernels(to C.uintptr_t, n C.uint, h C.uintptr_t) C.int {
	return fromDriver(func() C.int { return cuLibraryEnumerateKernels(to, n, h) })
}

//export cudaLibraryGetGlobal
func cudaLibraryGetGlobal(to, bytes, h, name C.uintptr_t) C.int {
	return fromDriver(func() C.int { return cuLibraryGetGlobal(to, bytes, h, name) })
}

//export cudaLibraryGetManaged
func cudaLibraryGetManaged(to, bytes, h, name C.uintptr_t) C.int {
	return fromDriver(func() C.int { return cuLibraryGetManaged(to, bytes, h, name) })
}

//export cudaKernelSetAttributeForDevice
func cudaKernelSetAttributeForDevice(kernel C.uintptr_t, which, value, dev C.int) C.int {
	if err := there(dev); err != cuda.Success {
		return C.int(err)
	}
	return cudaFuncSetAttribute(kernel, which, value)
}

//export cudaGetKernel
func cudaGetKernel(to, fn C.uintptr_t) C.int {
	if err := need(to, fn); err != cuda.Success {
		return C.int(err)
	}
	_, err := thread().FunctionInfo(uint64(fn))
	return give(to, fn, err)
}

// ofFunction is fromDriver for a call about a function, unless it is none.
func ofFunction(fn C.uintptr_t, f func() C.int) C.int {
	if _, err := thread().FunctionInfo(uint64(fn)); err != cuda.Success {
		return C.int(err)
	}
	return fromDriver(f)
}

//export cudaFuncGetName
func cudaFuncGetName(to, fn C.uintptr_t) C.int {
	return ofFunction(fn, func() C.int { return cuFuncGetName(to, fn) })
}

//export cudaFuncGetParamInfo
func cudaFuncGetParamInfo(fn C.uintptr_t, n C.size_t, offset, size C.uintptr_t) C.int {
	return ofFunction(fn, func() C.int { return cuFuncGetParamInfo(fn, n, offset, size) })
}

//export cudaGetFuncBySymbol
func cudaGetFuncBySymbol(to, symbol C.uintptr_t) C.int { return cudaGetKernel(to, symbol) }
