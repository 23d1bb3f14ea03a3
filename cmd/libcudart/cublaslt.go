package main

/*
#include <stdlib.h>
#include "host.h"
*/
import "C"

import (
	"sync"
	"unsafe"

	"github.com/heddle-sim/heddle/internal/libs/blas"
	"github.com/heddle-sim/heddle/internal/libs/blaslt"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: cuBLASLt. Its handles are those of cuBLAS, which programs may pass too.

//export cublasLtCreate
func cublasLtCreate(to C.uintptr_t) C.int { return cublasCreate_v2(to) }

//export cublasLtDestroy
func cublasLtDestroy(h C.uintptr_t) C.int { return cublasDestroy_v2(h) }

//export cublasLtGetStatusName
func cublasLtGetStatusName(s C.int) *C.char { return cublasGetStatusName(s) }

//export cublasLtGetStatusString
func cublasLtGetStatusString(s C.int) *C.char { return cublasGetStatusString(s) }

//export cublasLtGetVersion
func cublasLtGetVersion() C.size_t { return blas.Version }

//export cublasLtGetCudartVersion
func cublasLtGetCudartVersion() C.size_t { return cublasGetCudartVersion() }

//export cublasLtGetProperty
func cublasLtGetProperty(which C.int, to C.uintptr_t) C.int { return cublasGetProperty(which, to) }

// ltObjects are the objects that Create made, which alone can be destroyed.
var ltObjects = struct {
	sync.Mutex
	of map[C.uintptr_t]ltObject
}{of: map[C.uintptr_t]ltObject{}}

type ltObject struct {
	kind blaslt.Kind
	room unsafe.Pointer
}

// ltCreate makes an object, and stores its address.
func ltCreate(k blaslt.Kind, to C.uintptr_t, initialize func(t *cuda.Thread, at uint64) blas.Status) C.int {
	if to == 0 {
		return C.int(blas.InvalidValue)
	}
	room := C.calloc(1, C.size_t(k.Size()))
	if room == nil {
		return C.int(blas.AllocFailed)
	}
	at := C.uintptr_t(uintptr(room))
	s := initialize(thread(), uint64(at))
	if s == blas.Success {
		s = giveBlas(to, at)
	}
	if s != blas.Success {
		C.free(room)
		return C.int(s)
	}
	ltObjects.Lock()
	defer ltObjects.Unlock()
	ltObjects.of[at] = ltObject{k, room}
	return C.int(s)
}

func ltDestroy(k blaslt.Kind, at C.uintptr_t) C.int {
	ltObjects.Lock()
	defer ltObjects.Unlock()
	o, ok := ltObjects.of[at]
	if !ok || o.kind != k {
		return C.int(blas.InvalidValue)
	}
	delete(ltObjects.of, at)
	C.free(o.room)
	return C.int(blas.Success)
}

func ltSet(k blaslt.Kind, at C.uintptr_t, attribute C.int, from C.uintptr_t, size C.size_t) C.int {
	return C.int(k.Set(thread(), uint64(at), int32(attribute), uint64(from), uint64(size)))
}

func ltGet(k blaslt.Kind, at C.uintptr_t, attribute C.int, to C.uintptr_t, size C.size_t, written C.uintptr_t) C.int {
	return C.int(k.Get(thread(), uint64(at), int32(attribute), uint64(to), uint64(size), uint64(written)))
}

//export cublasLtMatmulDescInit_internal
func cublasLtMatmulDescInit_internal(at C.uintptr_t, size C.size_t, compute, scale C.int) C.int {
	return C.int(blaslt.InitDesc(thread(), uint64(at), int64(size), int32(compute), int32(scale)))
}

//export cublasLtMatmulDescCreate
func cublasLtMatmulDescCreate(to C.uintptr_t, compute, scale C.int) C.int {
	return ltCreate(blaslt.Desc, to, func(t *cuda.Thread, at uint64) blas.Status {
		return blaslt.InitDesc(t, at, blaslt.Desc.Size(), int32(compute), int32(scale))
	})
}

//export cublasLtMatmulDescDestroy
func cublasLtMatmulDescDestroy(at C.uintptr_t) C.int { return ltDestroy(blaslt.Desc, at) }

//export cublasLtMatmulDescSetAttribute
func cublasLtMatmulDescSetAttribute(at C.uintptr_t, attribute C.int, from C.uintptr_t, size C.size_t) C.int {
	return ltSet(blaslt.Desc, at, attribute, from, size)
}

//export cublasLtMatmulDescGetAttribute
func cublasLtMatmulDescGetAttribute(at C.uintptr_t, attribute C.int, to C.uintptr_t, size C.size_t, written C.uintptr_t) C.int {
	return ltGet(blaslt.Desc, at, attribute, to, size, written)
}

//export cublasLtMatrixLayoutInit_internal
func cublasLtMatrixLayoutInit_internal(at C.uintptr_t, size C.size_t, typ C.int, rows, cols C.uint64_t, ld C.int64_t) C.int {
	return C.int(blaslt.InitLayout(thread(), uint64(at), int64(size), int32(typ), uint64(rows), uint64(cols), int64(ld)))
}

//export cublasLtMatrixLayoutCreate
func cublasLtMatrixLayoutCreate(to C.uintptr_t, typ C.int, rows, cols C.uint64_t, ld C.int64_t) C.int {
	return ltCreate(blaslt.Layout, to, func(t *cuda.Thread, at uint64) blas.Status {
		return blaslt.InitLayout(t, at, blaslt.Layout.Size(), int32(typ), uint64(rows), uint64(cols), int64(ld))
	})
}

//export cublasLtMatrixLayoutDestroy
func cublasLtMatrixLayoutDestroy(at C.uintptr_t) C.int { return ltDestroy(blaslt.Layout, at) }

//export cublasLtMatrixLayoutSetAttribute
func cublasLtMatrixLayoutSetAttribute(at C.uintptr_t, attribute C.int, from C.uintptr_t, size C.size_t) C.int {
	return ltSet(blaslt.Layout, at, attribute, from, size)
}

//export cublasLtMatrixLayoutGetAttribute
func cublasLtMatrixLayoutGetAttribute(at C.uintptr_t, attribute C.int, to C.uintptr_t, size C.size_t, written C.uintptr_t) C.int {
	return ltGet(blaslt.Layout, at, attribute, to, size, written)
}

//export cublasLtMatmulPreferenceInit_internal
func cublasLtMatmulPreferenceInit_internal(at C.uintptr_t, size C.size_t) C.int {
	return C.int(blaslt.InitPreference(thread(), uint64(at), int64(size)))
}

//export cublasLtMatmulPreferenceCreate
func cublasLtMatmulPreferenceCreate(to C.uintptr_t) C.int {
	return ltCreate(blaslt.Preference, to, func(t *cuda.Thread, at uint64) blas.Status {
		return blaslt.InitPreference(t, at, blaslt.Preference.Size())
	})
}

//export cublasLtMatmulPreferenceDestroy
func cublasLtMatmulPreferenceDestroy(at C.uintptr_t) C.int { return ltDestroy(blaslt.Preference, at) }

//export cublasLtMatmulPreferenceSetAttribute
func cublasLtMatmulPreferenceSetAttribute(at C.uintptr_t, attribute C.int, from C.uintptr_t, size C.size_t) C.int {
	return ltSet(blaslt.Preference, at, attribute, from, size)
}

//export cublasLtMatmulPreferenceGetAttribute
func cublasLtMatmulPreferenceGetAttribute(at C.uintptr_t, attribute C.int, to C.uintptr_t, size C.size_t, written C.uintptr_t) C.int {
	return ltGet(blaslt.Preference, at, attribute, to, size, written)
}

//export cublasLtMatrixTransformDescInit_internal
func cublasLtMatrixTransformDescInit_internal(at C.uintptr_t, size C.size_t, scale C.int) C.int {
	return C.int(blaslt.InitTransform(thread(), uint64(at), int64(size), int32(scale)))
}

//export cublasLtMatrixTransformDescCreate
func cublasLtMatrixTransformDescCreate(to C.uintptr_t, scale C.int) C.int {
	return ltCreate(blaslt.Transform, to, func(t *cuda.Thread, at uint64) blas.Status {
		return blaslt.InitTransform(t, at, blaslt.Transform.Size(), int32(scale))
	})
}

//export cublasLtMatrixTransformDescDestroy
func cublasLtMatrixTransformDescDestroy(at C.uintptr_t) C.int {
	return ltDestroy(blaslt.Transform, at)
}

//export cublasLtMatrixTransformDescSetAttribute
func cublasLtMatrixTransformDescSetAttribute(at C.uintptr_t, attribute C.int, from C.uintptr_t, size C.size_t) C.int {
	return ltSet(blaslt.Transform, at, attribute, from, size)
}

//export cublasLtMatrixTransformDescGetAttribute
func cublasLtMatrixTransformDescGetAttribute(at C.uintptr_t, attribute C.int, to C.uintptr_t, size C.size_t, written C.uintptr_t) C.int {
	return ltGet(blaslt.Transform, at, attribute, to, size, written)
}

// inLt runs a call, and warns, once, where it is not supported.
func inLt(h C.uintptr_t, name string, f func(c blas.Call) blas.Status, places ...C.uintptr_t) C.int {
	s := inBlas(h, f, places...)
	if blas.Status(s) == blas.NotSupported {
		thread().Missing(name, blas.NotSupported.Name())
	}
	return s
}

//export cublasLtMatmul
func cublasLtMatmul(h, desc, alpha, a, la, b, lb, beta, c, lc, d, ld, algo, workspace C.uintptr_t, bytes C.size_t, stream C.uintptr_t) C.int {
	return inLt(h, "cublasLtMatmul", func(call blas.Call) blas.Status {
		return blaslt.Matmul(thread(), call, blaslt.Product{
			Desc: uint64(desc), Alpha: uint64(alpha), A: uint64(a), LayoutA: uint64(la), B: uint64(b), LayoutB: uint64(lb), Beta: uint64(beta),
			C: uint64(c), LayoutC: uint64(lc), D: uint64(d), LayoutD: uint64(ld), Stream: uint64(stream),
		})
	})
}

//export cublasLtMatrixTransform
func cublasLtMatrixTransform(h, desc, alpha, a, la, beta, b, lb, c, lc, stream C.uintptr_t) C.int {
	return inLt(h, "cublasLtMatrixTransform", func(call blas.Call) blas.Status {
		return blaslt.Change(thread(), call, blaslt.Product{
			Desc: uint64(desc), Alpha: uint64(alpha), A: uint64(a), LayoutA: uint64(la), Beta: uint64(beta), B: uint64(b), LayoutB: uint64(lb),
			C: uint64(c), LayoutC: uint64(lc), Stream: uint64(stream),
		})
	})
}

// ltPlan checks whether there is an algorithm for a product, and stores what there is to say
// of it.
func ltPlan(desc, la, lb, lc, ld, result C.uintptr_t) blas.Status {
	p := blaslt.Product{Desc: uint64(desc), LayoutA: uint64(la), LayoutB: uint64(lb), LayoutC: uint64(lc), LayoutD: uint64(ld)}
	s := blaslt.Plan(thread(), p)
	if s == blas.Success && result != 0 && thread().Write(uint64(result), blaslt.Result(s)) != cuda.Success {
		return blas.InvalidValue
	}
	return s
}

//export cublasLtMatmulAlgoGetHeuristic
func cublasLtMatmulAlgoGetHeuristic(h, desc, la, lb, lc, ld, preference C.uintptr_t, requested C.int, results, count C.uintptr_t) C.int {
	return inLt(h, "cublasLtMatmulAlgoGetHeuristic", func(blas.Call) blas.Status {
		if requested < 1 || preference == 0 || giveBlas(count, C.int(0)) != blas.Success {
			return blas.InvalidValue
		}
		s := ltPlan(desc, la, lb, lc, ld, results)
		if s == blas.Success {
			s = giveBlas(count, C.int(1))
		}
		return s
	}, results, count)
}

//export cublasLtMatmulAlgoCheck
func cublasLtMatmulAlgoCheck(h, desc, la, lb, lc, ld, algo, result C.uintptr_t) C.int {
	return inLt(h, "cublasLtMatmulAlgoCheck", func(blas.Call) blas.Status { return ltPlan(desc, la, lb, lc, ld, result) }, algo, result)
}

//export cublasLtMatmulAlgoGetIds
func cublasLtMatmulAlgoGetIds(h C.uintptr_t, compute, scale, a, b, c, d, requested C.int, ids, count C.uintptr_t) C.int {
	return inLt(h, "cublasLtMatmulAlgoGetIds", func(blas.Call) blas.Status {
		if requested < 1 || giveBlas(ids, C.int(0)) != blas.Success {
			return blas.InvalidValue
		}
		return giveBlas(count, C.int(1))
	}, ids, count)
}

//export cublasLtMatmulAlgoInit
func cublasLtMatmulAlgoInit(h C.uintptr_t, compute, scale, a, b, c, d, id C.int, algo C.uintptr_t) C.int {
	return inLt(h, "cublasLtMatmulAlgoInit", func(blas.Call) blas.Status {
		if id != 0 || thread().Write(uint64(algo), make([]byte, blaslt.Algo.Size())) != cuda.Success {
			return blas.InvalidValue
		}
		return blas.Success
	}, algo)
}

//export cublasLtMatmulAlgoConfigSetAttribute
func cublasLtMatmulAlgoConfigSetAttribute(at C.uintptr_t, attribute C.int, from C.uintptr_t, size C.size_t) C.int {
	return ltSet(blaslt.Algo, at, attribute, from, size)
}

//export cublasLtMatmulAlgoConfigGetAttribute
func cublasLtMatmulAlgoConfigGetAttribute(at C.uintptr_t, attribute C.int, to C.uintptr_t, size C.size_t, written C.uintptr_t) C.int {
	return ltGet(blaslt.Algo, at, attribute, to, size, written)
}

//export cublasLtMatmulAlgoCapGetAttribute
func cublasLtMatmulAlgoCapGetAttribute(algo C.uintptr_t, attribute C.int, to C.uintptr_t, size C.size_t, written C.uintptr_t) C.int {
	thread().Missing("cublasLtMatmulAlgoCapGetAttribute", blas.NotSupported.Name())
	return C.int(blas.NotSupported)
}

// Nothing is searched that a cache could keep, no library of the host is used, and nothing
// is logged.

//export cublasLtHeuristicsCacheGetCapacity
func cublasLtHeuristicsCacheGetCapacity(to C.uintptr_t) C.int {
	return C.int(giveBlas(to, C.size_t(0)))
}

//export cublasLtHeuristicsCacheSetCapacity
func cublasLtHeuristicsCacheSetCapacity(n C.size_t) C.int { return C.int(blas.Success) }

//export cublasLtDisableCpuInstructionsSetMask
func cublasLtDisableCpuInstructionsSetMask(mask C.uint) C.uint { return 0 }

//export cublasLtLoggerSetCallback
func cublasLtLoggerSetCallback(fn C.uintptr_t) C.int { return C.int(blas.Success) }

//export cublasLtLoggerSetFile
func cublasLtLoggerSetFile(file C.uintptr_t) C.int { return C.int(blas.Success) }

//export cublasLtLoggerOpenFile
func cublasLtLoggerOpenFile(name C.uintptr_t) C.int { return C.int(blas.Success) }

//export cublasLtLoggerSetLevel
func cublasLtLoggerSetLevel(level C.int) C.int { return C.int(blas.Success) }

//export cublasLtLoggerSetMask
func cublasLtLoggerSetMask(mask C.int) C.int { return C.int(blas.Success) }

//export cublasLtLoggerForceDisable
func cublasLtLoggerForceDisable() C.int { return C.int(blas.Success) }
