package main

/*
#include "host.h"
#include "blas.h"
*/
import "C"

import (
	"strings"
	"sync"

	"github.com/heddle-sim/heddle/internal/libs/blas"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: cuBLAS. cublas.c has the functions that exist for several types.

// inBlas runs a call with a handle of cuBLAS. Results at places that are null are invalid.
func inBlas(h C.uintptr_t, f func(c blas.Call) blas.Status, places ...C.uintptr_t) C.int {
	c, s := blas.Of(thread(), uint64(h))
	if s == blas.Success {
		if need(places...) != cuda.Success {
			return C.int(blas.InvalidValue)
		}
		s = f(c)
	}
	return C.int(s)
}

// namedBlas is inBlas for a function that warns, once, where it does not support a call.
func namedBlas(h C.uintptr_t, name *C.char, f func(c blas.Call) blas.Status) C.int {
	s := inBlas(h, f)
	if blas.Status(s) == blas.NotSupported {
		heddleNotInBlas(name)
	}
	return s
}

// heddleNotInBlas names a function as programs do: _v2 is the header's.
//
//export heddleNotInBlas
func heddleNotInBlas(name *C.char) C.int {
	thread().Missing(strings.Replace(C.GoString(name), "_v2", "", 1), blas.NotSupported.Name())
	return C.int(blas.NotSupported)
}

// giveBlas stores a result.
func giveBlas[T any](addr C.uintptr_t, v T) blas.Status {
	if addr == 0 || !put(addr, v) {
		return blas.InvalidValue
	}
	return blas.Success
}

//export cublasCreate_v2
func cublasCreate_v2(to C.uintptr_t) C.int {
	if to == 0 {
		return C.int(blas.InvalidValue)
	}
	h, s := blas.Create(thread())
	if s == blas.Success {
		s = giveBlas(to, C.uintptr_t(h))
	}
	return C.int(s)
}

//export cublasDestroy_v2
func cublasDestroy_v2(h C.uintptr_t) C.int { return C.int(blas.Destroy(thread(), uint64(h))) }

//export cublasGetVersion_v2
func cublasGetVersion_v2(h, to C.uintptr_t) C.int { return C.int(giveBlas(to, C.int(blas.Version))) }

//export cublasGetProperty
func cublasGetProperty(which C.int, to C.uintptr_t) C.int {
	if which < 0 || which > 2 {
		return C.int(blas.InvalidValue)
	}
	return C.int(giveBlas(to, C.int([]int{blas.Version / 10000, blas.Version / 100 % 100, blas.Version % 100}[which])))
}

//export cublasGetCudartVersion
func cublasGetCudartVersion() C.size_t { return C.CUDART_VERSION }

//export cublasGetStatusName
func cublasGetStatusName(s C.int) *C.char { return forever(blas.Status(s).Name()) }

//export cublasGetStatusString
func cublasGetStatusString(s C.int) *C.char { return forever(blas.Status(s).Text()) }

//export cublasSetStream_v2
func cublasSetStream_v2(h, stream C.uintptr_t) C.int {
	return inBlas(h, func(c blas.Call) blas.Status { return c.SetStream(uint64(stream)) })
}

//export cublasGetStream_v2
func cublasGetStream_v2(h, to C.uintptr_t) C.int {
	return inBlas(h, func(c blas.Call) blas.Status { return giveBlas(to, C.uintptr_t(c.Stream)) }, to)
}

//export cublasSetWorkspace_v2
func cublasSetWorkspace_v2(h, at C.uintptr_t, bytes C.size_t) C.int {
	return inBlas(h, func(c blas.Call) blas.Status { return c.SetWorkspace(uint64(at), uint64(bytes)) })
}

//export cublasSetPointerMode_v2
func cublasSetPointerMode_v2(h C.uintptr_t, mode C.int) C.int {
	return inBlas(h, func(c blas.Call) blas.Status { return c.SetPointers(blas.PointerMode(mode)) })
}

//export cublasGetPointerMode_v2
func cublasGetPointerMode_v2(h, to C.uintptr_t) C.int {
	return inBlas(h, func(c blas.Call) blas.Status { return giveBlas(to, C.int(c.Pointers)) }, to)
}

//export cublasSetAtomicsMode
func cublasSetAtomicsMode(h C.uintptr_t, mode C.int) C.int {
	return inBlas(h, func(c blas.Call) blas.Status { return c.SetAtomics(int32(mode)) })
}

//export cublasGetAtomicsMode
func cublasGetAtomicsMode(h, to C.uintptr_t) C.int {
	return inBlas(h, func(c blas.Call) blas.Status { return giveBlas(to, C.int(c.Atomics)) }, to)
}

//export cublasSetMathMode
func cublasSetMathMode(h C.uintptr_t, mode C.int) C.int {
	return inBlas(h, func(c blas.Call) blas.Status { return c.SetMath(blas.Math(mode)) })
}

//export cublasGetMathMode
func cublasGetMathMode(h, to C.uintptr_t) C.int {
	return inBlas(h, func(c blas.Call) blas.Status { return giveBlas(to, C.int(c.Math)) }, to)
}

//export cublasSetSmCountTarget
func cublasSetSmCountTarget(h C.uintptr_t, count C.int) C.int {
	return inBlas(h, func(c blas.Call) blas.Status { return c.SetSMs(int32(count)) })
}

//export cublasGetSmCountTarget
func cublasGetSmCountTarget(h, to C.uintptr_t) C.int {
	return inBlas(h, func(c blas.Call) blas.Status { return giveBlas(to, C.int(c.SMs)) }, to)
}

// Nothing is logged: the report has the kernels.

//export cublasLoggerConfigure
func cublasLoggerConfigure(on, out, err C.int, file C.uintptr_t) C.int { return C.int(blas.Success) }

// blasLogger is the program's function, which is never called.
var blasLogger struct {
	sync.Mutex
	fn C.uintptr_t
}

//export cublasSetLoggerCallback
func cublasSetLoggerCallback(fn C.uintptr_t) C.int {
	blasLogger.Lock()
	defer blasLogger.Unlock()
	blasLogger.fn = fn
	return C.int(blas.Success)
}

//export cublasGetLoggerCallback
func cublasGetLoggerCallback(to C.uintptr_t) C.int {
	blasLogger.Lock()
	defer blasLogger.Unlock()
	return C.int(giveBlas(to, blasLogger.fn))
}

func blasMatrix(m *C.struct_blas_matrix, listed C.int) blas.Matrix {
	return blas.Matrix{At: uint64(m.at), Type: blas.Type(m._type), LD: int64(m.ld), Stride: int64(m.stride), Listed: listed != 0}
}

//export heddleGemm
func heddleGemm(h C.uintptr_t, name *C.char, g *C.struct_blas_gemm) C.int {
	return namedBlas(h, name, func(c blas.Call) blas.Status {
		return c.Gemm(blas.Gemm{
			OpA: blas.Op(g.transa), OpB: blas.Op(g.transb), M: int64(g.m), N: int64(g.n), K: int64(g.k), Batch: int64(g.batch),
			Alpha: uint64(g.alpha), Beta: uint64(g.beta), Compute: blas.ComputeOf(int32(g.compute)),
			A: blasMatrix(&g.a, g.listed), B: blasMatrix(&g.b, g.listed), C: blasMatrix(&g.c, g.listed),
		})
	})
}

// mostGroups limits the arrays of a call with groups, our choice.
const mostGroups = 1 << 20

//export heddleGemmGroups
func heddleGemmGroups(h C.uintptr_t, name *C.char, p *C.struct_blas_groups) C.int {
	return namedBlas(h, name, func(c blas.Call) blas.Status {
		compute := blas.ComputeOf(int32(p.compute))
		scalar, ok := compute.Scalar(false)
		if !ok {
			return blas.NotSupported
		}
		read := numbers[C.int]
		if p.wide != 0 {
			read = numbers[C.longlong]
		}
		n := int(p.count)
		switch {
		case n < 0:
			return blas.InvalidValue
		case n > mostGroups:
			return blas.NotSupported
		}
		var fields [9][]int64
		for i, at := range []C.uintptr_t{p.transa, p.transb, p.m, p.n, p.k, p.lda, p.ldb, p.ldc, p.sizes} {
			from := read
			if i < 2 {
				from = numbers[C.int]
			}
			if fields[i], ok = from(at, n); !ok {
				return blas.InvalidValue
			}
		}
		groups := make([]blas.Gemm, n)
		first := int64(0) // the group's first product
		for i := range groups {
			of := func(at C.uintptr_t, t C.int, ld int64) blas.Matrix {
				return blas.Matrix{At: uint64(at) + 8*uint64(first), Type: blas.Type(t), LD: ld, Listed: true}
			}
			size := uint64(i) * uint64(scalar.Size())
			groups[i] = blas.Gemm{
				OpA: blas.Op(fields[0][i]), OpB: blas.Op(fields[1][i]), M: fields[2][i], N: fields[3][i], K: fields[4][i], Batch: fields[8][i],
				Alpha: uint64(p.alpha) + size, Beta: uint64(p.beta) + size, Compute: compute,
				A: of(p.a, p.at, fields[5][i]), B: of(p.b, p.bt, fields[6][i]), C: of(p.c, p.ct, fields[7][i]),
			}
			first += fields[8][i]
		}
		return c.GemmGroups(groups)
	})
}

// blasCalls are the functions that blas_call describes.
var blasCalls = map[C.int]func(blas.Call, blas.Problem) blas.Status{
	C.BLAS_COPY: blas.Call.Copy, C.BLAS_SWAP: blas.Call.Swap, C.BLAS_AXPY: blas.Call.Axpy, C.BLAS_SCAL: blas.Call.Scal,
	C.BLAS_DOT: blas.Call.Dot, C.BLAS_DOTC: blas.Call.Dotc, C.BLAS_NRM2: blas.Call.Nrm2, C.BLAS_ASUM: blas.Call.Asum,
	C.BLAS_AMAX: blas.Call.Amax, C.BLAS_AMIN: blas.Call.Amin, C.BLAS_ROT: blas.Call.Rot, C.BLAS_ROTG: blas.Call.Rotg,
	C.BLAS_ROTM: blas.Call.Rotm, C.BLAS_ROTMG: blas.Call.Rotmg, C.BLAS_GEMV: blas.Call.Gemv, C.BLAS_MV: blas.Call.Mv,
	C.BLAS_TRMV: blas.Call.Trmv, C.BLAS_TRSV: blas.Call.Trsv, C.BLAS_RANK: blas.Call.Rank, C.BLAS_TRSM: blas.Call.Trsm,
	C.BLAS_TRMM: blas.Call.Trmm, C.BLAS_SYMM: blas.Call.Symm, C.BLAS_RANKK: blas.Call.RankK, C.BLAS_GEAM: blas.Call.Geam,
	C.BLAS_DGMM: blas.Call.Dgmm, C.BLAS_PACK: blas.Call.Pack,
}

//export heddleBlas
func heddleBlas(h C.uintptr_t, name *C.char, what C.int, p *C.struct_blas_call) C.int {
	return namedBlas(h, name, func(c blas.Call) blas.Status {
		return blasCalls[what](c, blas.Problem{
			Side: blas.Side(p.side), Kind: blas.Kind(p.kind), Storage: blas.Storage(p.storage), Both: p.both != 0,
			Fill: blas.Fill(p.fill), Diag: blas.Diag(p.diag), OpA: blas.Op(p.transa), OpB: blas.Op(p.transb),
			M: int64(p.m), N: int64(p.n), K: int64(p.k), KL: int64(p.kl), KU: int64(p.ku),
			Alpha: uint64(p.alpha), Beta: uint64(p.beta), Scalar: blas.Type(p.scalar),
			A: blasMatrix(&p.a, p.listed), B: blasMatrix(&p.b, p.listed), C: blasMatrix(&p.c, p.listed), Batch: int64(p.batch),
		})
	})
}

// blasFactors are the functions that blas_factor describes.
var blasFactors = map[C.int]func(blas.Call, blas.Factor) blas.Status{
	C.BLAS_GETRF: blas.Call.Getrf, C.BLAS_GETRS: blas.Call.Getrs, C.BLAS_GETRI: blas.Call.Getri, C.BLAS_MATINV: blas.Call.Matinv,
	C.BLAS_GEQRF: blas.Call.Geqrf,
}

//export heddleBlasFactor
func heddleBlasFactor(h C.uintptr_t, name *C.char, what C.int, f *C.struct_blas_factor) C.int {
	return namedBlas(h, name, func(c blas.Call) blas.Status {
		return blasFactors[what](c, blas.Factor{
			Op: blas.Op(f.op), M: int64(f.m), N: int64(f.n), A: blasMatrix(&f.a, 1), C: blasMatrix(&f.c, 1),
			Pivots: uint64(f.pivots), Info: uint64(f.info), Batch: int64(f.batch),
		})
	})
}
