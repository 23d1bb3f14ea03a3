package main

/*
#include "host.h"
*/
import "C"

import (
	"encoding/binary"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: functions, launches and occupancy.

//export cuFuncGetAttribute
func cuFuncGetAttribute(to C.uintptr_t, which C.int, fn C.uintptr_t) C.int {
	return in(functionAttribute(to, which, fn), to)
}

// functionAttribute returns a call that stores an attribute of a function.
func functionAttribute(to C.uintptr_t, which C.int, fn C.uintptr_t) func(t *cuda.Thread) cuda.Error {
	return func(t *cuda.Thread) cuda.Error {
		f, err := t.FunctionInfo(uint64(fn))
		if err != cuda.Success {
			return err
		}
		n := 0
		switch which {
		case C.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
			n = f.MaxThreads
		case C.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
			n = f.Shared
		case C.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
			n = f.Local
		case C.CU_FUNC_ATTRIBUTE_NUM_REGS:
			n = f.Registers
		case C.CU_FUNC_ATTRIBUTE_PTX_VERSION:
			n = f.PTX
		case C.CU_FUNC_ATTRIBUTE_BINARY_VERSION:
			n = f.Binary
		default: // constant memory and load caching are 0
			if which < 0 || which >= C.CU_FUNC_ATTRIBUTE_MAX {
				return cuda.InvalidValue
			}
			n = f.Attribute(cuda.FunctionAttribute(which))
		}
		put(to, C.int(n))
		return cuda.Success
	}
}

//export cuFuncSetAttribute
func cuFuncSetAttribute(fn C.uintptr_t, which, value C.int) C.int {
	return in(setFunctionAttribute(fn, which, value))
}

// setFunctionAttribute returns a call that sets an attribute of a function.
func setFunctionAttribute(fn C.uintptr_t, which, value C.int) func(t *cuda.Thread) cuda.Error {
	return func(t *cuda.Thread) cuda.Error {
		return t.SetFunctionAttribute(uint64(fn), cuda.FunctionAttribute(which), int32(value))
	}
}

//export cuFuncSetCacheConfig
func cuFuncSetCacheConfig(fn C.uintptr_t, prefer C.int) C.int {
	return in(func(t *cuda.Thread) cuda.Error { return t.SetPreference(uint64(fn), int(prefer)) })
}

//export cuFuncSetSharedMemConfig
func cuFuncSetSharedMemConfig(fn C.uintptr_t, c C.int) C.int { return setting(c >= 0 && c <= 2) }

//export cuFuncGetModule
func cuFuncGetModule(to, fn C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		_, h, res := driver().FunctionOf(uint64(fn))
		back(to, C.uintptr_t(h), res)
		return res
	}, to)
}

//export cuFuncGetName
func cuFuncGetName(to, fn C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		name, _, res := driver().FunctionOf(uint64(fn))
		if res == cuda.ResultSuccess {
			put(to, forever(name))
		}
		return res
	}, to)
}

//export cuFuncGetParamInfo
func cuFuncGetParamInfo(fn C.uintptr_t, n C.size_t, offset, size C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		o, s, res := driver().Parameter(uint64(fn), int(min(n, 1<<16)))
		back(offset, C.size_t(o), res)
		if size != 0 {
			back(size, C.size_t(s), res)
		}
		return res
	}, offset)
}

// extras reads the arguments of a launch in one buffer, given as pairs of a kind and a
// value with an end marker.
func extras(extra C.uintptr_t) (buffer []byte, ok bool) {
	le := binary.LittleEndian
	var addr, size uint64
	for i := range uint64(8) { // there are only two kinds
		kind := le.Uint64(host{}.Bytes(uint64(extra)+16*i, 8))
		if kind == C.CU_LAUNCH_PARAM_END_AS_INT {
			if size > 1<<16 || size > 0 && addr == 0 {
				return nil, false
			}
			if size == 0 {
				return []byte{}, true
			}
			return host{}.Bytes(addr, size), true
		}
		value := le.Uint64(host{}.Bytes(uint64(extra)+16*i+8, 8))
		switch kind {
		case 1: // CU_LAUNCH_PARAM_BUFFER_POINTER
			addr = value
		case 2: // CU_LAUNCH_PARAM_BUFFER_SIZE, a pointer to it
			if value == 0 {
				return nil, false
			}
			size = le.Uint64(host{}.Bytes(value, 8))
		default:
			return nil, false
		}
	}
	return nil, false
}

// given returns the arguments of a launch in either form: one buffer, a function that
// copies the n-th argument, or neither.
func given(params, extra C.uintptr_t) (buffer []byte, arg func(n int, to []byte), ok bool) {
	switch {
	case params != 0 && extra != 0:
		return nil, nil, false
	case extra != 0:
		buffer, ok = extras(extra)
		return buffer, nil, ok
	case params != 0:
		arg = func(n int, to []byte) {
			at := binary.LittleEndian.Uint64(host{}.Bytes(uint64(params)+8*uint64(n), 8))
			if at != 0 {
				copy(to, host{}.Bytes(at, uint64(len(to))))
			}
		}
	}
	return nil, arg, true
}

// launchFunction launches a kernel.
func launchFunction(fn C.uintptr_t, c cuda.Call, cooperative bool, params, extra C.uintptr_t) C.int {
	buffer, arg, ok := given(params, extra)
	if !ok {
		return setting(false)
	}
	return C.int(driver().Launch(uint64(fn), c, cooperative, buffer, arg))
}

func grid(gx, gy, gz, bx, by, bz, shared C.uint, stream C.uintptr_t) cuda.Call {
	return cuda.Call{
		Grid: cuda.Dim3{X: uint32(gx), Y: uint32(gy), Z: uint32(gz)}, Block: cuda.Dim3{X: uint32(bx), Y: uint32(by), Z: uint32(bz)},
		Shared: uint64(shared), Stream: uint64(stream),
	}
}

//export cuLaunchKernel
func cuLaunchKernel(fn C.uintptr_t, gx, gy, gz, bx, by, bz, shared C.uint, stream, params, extra C.uintptr_t) C.int {
	return launchFunction(fn, grid(gx, gy, gz, bx, by, bz, shared, stream), false, params, extra)
}

//export cuLaunchCooperativeKernel
func cuLaunchCooperativeKernel(fn C.uintptr_t, gx, gy, gz, bx, by, bz, shared C.uint, stream, params C.uintptr_t) C.int {
	return launchFunction(fn, grid(gx, gy, gz, bx, by, bz, shared, stream), true, params, 0)
}

// maxAttributes limits the attributes of one launch; the API has about a dozen.
const maxAttributes = 64

//export cuLaunchKernelEx
func cuLaunchKernelEx(config, fn, params, extra C.uintptr_t) C.int {
	c, cooperative, lacking, ok := driverConfig(config)
	if !ok {
		return setting(false)
	}
	if lacking != "" {
		return C.int(driver().Unsupported("cuLaunchKernelEx with " + lacking))
	}
	return launchFunction(fn, c, cooperative, params, extra)
}

// driverConfig is launchConfig for a CUlaunchConfig.
func driverConfig(config C.uintptr_t) (c cuda.Call, cooperative bool, lacking string, ok bool) {
	if config == 0 {
		return c, false, "", false
	}
	l := at[C.CUlaunchConfig](config)
	c = grid(l.gridDimX, l.gridDimY, l.gridDimZ, l.blockDimX, l.blockDimY, l.blockDimZ, l.sharedMemBytes, C.uintptr_t(word(&l.hStream)))
	if l.numAttrs > maxAttributes || l.numAttrs > 0 && word(&l.attrs) == 0 {
		return c, false, "", false
	}
	cooperative, lacking = attributes(&c, uint64(word(&l.attrs)), uint64(l.numAttrs))
	return c, cooperative, lacking, true
}

// attributes reads the n attributes of a launch, which both APIs lay out alike, and names
// one that is lacking here. Those that are left out are advice.
func attributes(c *cuda.Call, list, n uint64) (cooperative bool, lacking string) {
	for i := range n {
		a := at[C.CUlaunchAttribute](C.uintptr_t(list + i*C.sizeof_CUlaunchAttribute))
		value := C.uintptr_t(addressOf(&a.value))
		switch a.id {
		case C.CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
			cooperative = *at[C.int](value) != 0
		case C.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
			d := at[[3]uint32](value)
			c.Cluster = cuda.Dim3{X: d[0], Y: d[1], Z: d[2]}
		case C.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
			c.Programmatic = *at[C.int](value) != 0
		case C.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, C.CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
			lacking = "an event"
		case C.CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
			if *at[C.int](value) != 0 {
				lacking = "a node that kernels update"
			}
		}
	}
	return cooperative, lacking
}

//export cuLaunchHostFunc
func cuLaunchHostFunc(h, fn, data C.uintptr_t) C.int {
	return in(func(t *cuda.Thread) cuda.Error { return cuda.Error(cudaLaunchHostFunc(h, fn, data)) }, fn)
}

// Launches of CUDA before 4.0: shape, size and arguments are set by separate calls.

//export cuFuncSetBlockShape
func cuFuncSetBlockShape(fn C.uintptr_t, x, y, z C.int) C.int {
	return C.int(driver().Shape(uint64(fn), cuda.Dim3{X: uint32(x), Y: uint32(y), Z: uint32(z)}))
}

//export cuFuncSetSharedSize
func cuFuncSetSharedSize(fn C.uintptr_t, n C.uint) C.int {
	return C.int(driver().SharedSize(uint64(fn), uint64(n)))
}

//export cuParamSetSize
func cuParamSetSize(fn C.uintptr_t, n C.uint) C.int {
	return C.int(driver().SetParameter(uint64(fn), uint64(n), nil))
}

//export cuParamSeti
func cuParamSeti(fn C.uintptr_t, offset C.int, value C.uint) C.int {
	return C.int(driver().SetParameter(uint64(fn), uint64(uint32(offset)), binary.LittleEndian.AppendUint32(nil, uint32(value))))
}

//export cuParamSetf
func cuParamSetf(fn C.uintptr_t, offset C.int, value C.float) C.int {
	return cuParamSeti(fn, offset, *at[C.uint](C.uintptr_t(addressOf(&value))))
}

//export cuParamSetv
func cuParamSetv(fn C.uintptr_t, offset C.int, value C.uintptr_t, n C.uint) C.int {
	if value == 0 || n > 1<<16 {
		return setting(false)
	}
	return C.int(driver().SetParameter(uint64(fn), uint64(uint32(offset)), host{}.Bytes(uint64(value), uint64(n))))
}

//export cuParamSetTexRef
func cuParamSetTexRef(fn C.uintptr_t, unit C.int, ref C.uintptr_t) C.int {
	return setting(unit == C.CU_PARAM_TR_DEFAULT)
}

//export cuLaunch
func cuLaunch(fn C.uintptr_t) C.int { return cuLaunchGridAsync(fn, 1, 1, 0) }

//export cuLaunchGrid
func cuLaunchGrid(fn C.uintptr_t, width, height C.int) C.int {
	return cuLaunchGridAsync(fn, width, height, 0)
}

//export cuLaunchGridAsync
func cuLaunchGridAsync(fn C.uintptr_t, width, height C.int, stream C.uintptr_t) C.int {
	return C.int(driver().LaunchShaped(uint64(fn), cuda.Dim3{X: uint32(width), Y: uint32(height), Z: 1}, uint64(stream)))
}

// Occupancy.

//export cuOccupancyMaxActiveBlocksPerMultiprocessor
func cuOccupancyMaxActiveBlocksPerMultiprocessor(to, fn C.uintptr_t, threads C.int, shared C.size_t) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		n, err := t.Occupancy(uint64(fn), int(threads), uint64(shared))
		give(to, C.int(n), err)
		return err
	}, to)
}

//export cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
func cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(to, fn C.uintptr_t, threads C.int, shared C.size_t, flags C.uint) C.int {
	if flags > 1 {
		return setting(false)
	}
	return cuOccupancyMaxActiveBlocksPerMultiprocessor(to, fn, threads, shared)
}

//export cuOccupancyMaxActiveClusters
func cuOccupancyMaxActiveClusters(to, fn, config C.uintptr_t) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		c, _, _, ok := driverConfig(config)
		if !ok {
			return cuda.InvalidValue
		}
		n, _, err := t.Clusters(uint64(fn), c)
		give(to, C.int(n), err)
		return err
	}, to)
}

//export cuOccupancyMaxPotentialClusterSize
func cuOccupancyMaxPotentialClusterSize(to, fn, config C.uintptr_t) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		c, _, _, ok := driverConfig(config)
		if !ok {
			return cuda.InvalidValue
		}
		c.Cluster = cuda.Dim3{}
		_, n, err := t.Clusters(uint64(fn), c)
		give(to, C.int(n), err)
		return err
	}, to)
}

//export cuOccupancyMaxPotentialBlockSizeWithFlags
func cuOccupancyMaxPotentialBlockSizeWithFlags(minGrid, block, fn, sharedOf C.uintptr_t, shared C.size_t, limit C.int, flags C.uint) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		if flags > 1 {
			return cuda.InvalidValue
		}
		threads, blocks, err := t.BestBlock(uint64(fn), int(limit), func(threads int) uint64 {
			if sharedOf == 0 {
				return uint64(shared)
			}
			return uint64(C.heddle_shared_of(sharedOf, C.int(threads)))
		})
		give(block, C.int(threads), err)
		give(minGrid, C.int(blocks*runtime().Properties().SMs), err)
		return err
	}, minGrid, block)
}

//export cuOccupancyMaxPotentialBlockSize
func cuOccupancyMaxPotentialBlockSize(minGrid, block, fn, sharedOf C.uintptr_t, shared C.size_t, limit C.int) C.int {
	return cuOccupancyMaxPotentialBlockSizeWithFlags(minGrid, block, fn, sharedOf, shared, limit, 0)
}

//export cuOccupancyAvailableDynamicSMemPerBlock
func cuOccupancyAvailableDynamicSMemPerBlock(to, fn C.uintptr_t, blocks, threads C.int) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		n, err := t.RoomForShared(uint64(fn), int(blocks), int(threads))
		give(to, C.size_t(n), err)
		return err
	}, to)
}

// Kernels are parsed when they are first needed, which a program does not notice.

//export cuFuncLoad
func cuFuncLoad(fn C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		_, _, res := driver().FunctionOf(uint64(fn))
		return res
	})
}

//export cuFuncIsLoaded
func cuFuncIsLoaded(to, fn C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		const loaded = 1
		_, _, res := driver().FunctionOf(uint64(fn))
		return cuda.Result(back(to, C.int(loaded), res))
	}, to)
}
