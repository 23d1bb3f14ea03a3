package main

/*
#include "host.h"
*/
import "C"

import (
	"fmt"
	"sync"

	"github.com/heddle-sim/heddle/internal/libs/blas"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: the copies of cuBLAS, and the context of its old interface. cublas_old.c has
// the functions of that.

//export heddleBlasCopy
func heddleBlasCopy(kind C.int, rows, columns, size C.int64_t, from C.uintptr_t, ldFrom C.int64_t, to C.uintptr_t, ldTo C.int64_t, stream C.uintptr_t, async C.int) C.int {
	return C.int(blas.Transfer(thread(), cuda.Kind(kind), int64(rows), int64(columns), int64(size), uint64(from), int64(ldFrom),
		uint64(to), int64(ldTo), uint64(stream), async != 0))
}

// oldBlas is the context of programs without handles.
var oldBlas struct {
	sync.Mutex
	handle uint64
	life   cuda.Life   // of its device
	status blas.Status // of the last call that failed since it was asked for
}

//export cublasInit
func cublasInit() C.int {
	oldBlas.Lock()
	defer oldBlas.Unlock()
	if oldBlas.handle != 0 {
		if _, reset := thread().Since(oldBlas.life); !reset {
			return C.int(blas.Success)
		}
		blas.Destroy(thread(), oldBlas.handle) // it ended with the device's other things
	}
	h, s := blas.Create(thread())
	oldBlas.handle, oldBlas.life = h, thread().Life()
	return C.int(s)
}

//export cublasShutdown
func cublasShutdown() C.int {
	oldBlas.Lock()
	defer oldBlas.Unlock()
	h := oldBlas.handle
	oldBlas.handle = 0
	return C.int(blas.Destroy(thread(), h))
}

//export heddleOldBlas
func heddleOldBlas() C.uintptr_t {
	oldBlas.Lock()
	defer oldBlas.Unlock()
	return C.uintptr_t(oldBlas.handle)
}

//export heddleOldBlasError
func heddleOldBlasError(s C.int) {
	oldBlas.Lock()
	defer oldBlas.Unlock()
	if blas.Status(s) != blas.Success {
		oldBlas.status = blas.Status(s)
	}
}

//export cublasGetError
func cublasGetError() C.int {
	oldBlas.Lock()
	defer oldBlas.Unlock()
	s := oldBlas.status
	oldBlas.status = blas.Success
	return C.int(s)
}

//export cublasGetVersion
func cublasGetVersion(to C.uintptr_t) C.int { return C.int(giveBlas(to, C.int(blas.Version))) }

//export cublasAlloc
func cublasAlloc(n, size C.int, to C.uintptr_t) C.int {
	if n <= 0 || size <= 0 || to == 0 {
		return C.int(blas.InvalidValue)
	}
	at, err := thread().Malloc(uint64(n) * uint64(size))
	if err != cuda.Success {
		return C.int(blas.AllocFailed)
	}
	return C.int(giveBlas(to, C.uintptr_t(at)))
}

//export cublasFree
func cublasFree(at C.uintptr_t) C.int {
	if thread().Free(uint64(at)) != cuda.Success {
		return C.int(blas.InternalError)
	}
	return C.int(blas.Success)
}

//export cublasSetKernelStream
func cublasSetKernelStream(stream C.uintptr_t) C.int {
	return cublasSetStream_v2(heddleOldBlas(), stream)
}

// cublasXerbla says which argument of a function is wrong, for programs that check them.
//
//export cublasXerbla
func cublasXerbla(name C.uintptr_t, info C.int) {
	if name == 0 {
		return
	}
	text := cuda.Readable(host{}.Bytes(uint64(name), uint64(C.heddle_length(name)))) // whoever calls this gives a text
	runtime().Say(fmt.Sprintf("%s: argument %d is invalid", text, info))
}
