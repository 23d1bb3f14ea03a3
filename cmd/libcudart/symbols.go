package main

/*
#include "host.h"
*/
import "C"

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: the names of the driver's functions, by which programs find them, and small
// calls that are the same in both APIs.

// driverNames are the functions of CUDA 11 to 13.2: the name of the symbol, and the release
// with which it came, where a later form of an earlier function makes that matter.
//
//go:embed driver.txt
var driverNames string

// forms are the functions with a name in programs, the newest form first.
var forms = sync.OnceValue(func() map[string][]form {
	const newest = 9 // of the numbers in _v2 and so on; more than there are
	all := map[string]int{}
	for line := range strings.Lines(driverNames) {
		var name string
		var major, minor int
		if n, _ := fmt.Sscanf(line, "%s %d.%d", &name, &major, &minor); n > 0 && name[0] != '#' {
			all[name] = 1000*major + 10*minor
		}
	}
	table := map[string][]form{}
	for name := range all {
		base, version, numbered := strings.Cut(name, "_v")
		if _, plain := all[base]; plain && numbered && len(version) == 1 || table[base] != nil {
			continue // with the first of its forms
		}
		if numbered && len(version) == 1 {
			name = base
		}
		for v := newest; v >= 2; v-- {
			if full := fmt.Sprintf("%s_v%d", name, v); hasKey(all, full) {
				table[name] = append(table[name], form{full, all[full]})
			}
		}
		if from, ok := all[name]; ok {
			table[name] = append(table[name], form{name, from})
		}
	}
	table["cuGraphInstantiate"] = append([]form{{"cuGraphInstantiateWithFlags", 12000}}, table["cuGraphInstantiate"]...)
	return table
})

func hasKey(m map[string]int, k string) bool { _, ok := m[k]; return ok }

// form is a function, and the release from which a name refers to it.
type form struct {
	symbol string
	from   int
}

// find returns the address of a function by its name in programs, 0 if that release does
// not have it.
func find(name string, release int, perThread bool) (C.uintptr_t, C.int) {
	list := forms()[name]
	if list == nil {
		return 0, C.CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
	}
	endings := []string{""}
	if perThread {
		endings = []string{"_ptsz", "_ptds", ""}
	}
	for _, f := range list {
		if f.from > release {
			continue
		}
		for _, ending := range endings {
			full := C.CString(f.symbol + ending)
			fn := C.heddle_symbol(full)
			C.heddle_free(unsafe.Pointer(full))
			if fn != 0 {
				return fn, C.CU_GET_PROC_ADDRESS_SUCCESS
			}
		}
	}
	return 0, C.CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
}

//export cudaStreamGetDevice
func cudaStreamGetDevice(h, to C.uintptr_t) C.int {
	return streamInfo(h, to, func(i cuda.StreamInfo) C.int { return C.int(i.Device) })
}

//export cuStreamGetDevice
func cuStreamGetDevice(h, to C.uintptr_t) C.int {
	return same(func() C.int { return cudaStreamGetDevice(h, to) })
}

//export cudaEventElapsedTime_v2
func cudaEventElapsedTime_v2(to, from, until C.uintptr_t) C.int {
	return cudaEventElapsedTime(to, from, until)
}

//export cuEventElapsedTime_v2
func cuEventElapsedTime_v2(to, from, until C.uintptr_t) C.int {
	return cuEventElapsedTime(to, from, until)
}

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

//export cudaThreadGetCacheConfig
func cudaThreadGetCacheConfig(to C.uintptr_t) C.int { return cudaDeviceGetCacheConfig(to) }

//export cudaProfilerInitialize
func cudaProfilerInitialize(config, output C.uintptr_t, mode C.int) C.int { return 0 }

//export cudaGetFuncBySymbol
func cudaGetFuncBySymbol(to, symbol C.uintptr_t) C.int { return cudaGetKernel(to, symbol) }
