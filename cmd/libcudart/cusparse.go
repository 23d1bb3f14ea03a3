package main

// #include "host.h"
import "C"

import (
	"github.com/heddle-sim/heddle/internal/libs/blas"
	"github.com/heddle-sim/heddle/internal/libs/sparse"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: cuSPARSE. cusparse.c has the functions that exist for several types, and the
// forms for constant arguments.

// inSparse runs a call with a handle of cuSPARSE. What it does not support is named once.
func inSparse(h C.uintptr_t, name string, f func(c sparse.Call) sparse.Status) C.int {
	c, s := sparse.Of(thread(), uint64(h))
	if s == sparse.Success {
		s = f(c)
	}
	return ofSparse(name, s)
}

// ofSparse is a status; a function that does not support a call is named once.
func ofSparse(name string, s sparse.Status) C.int {
	if s == sparse.NotSupported {
		thread().Missing(name, s.Name())
	}
	return C.int(s)
}

// object is a descriptor, nil if it is none.
func object[T any](h C.uintptr_t) *T {
	v, _ := sparse.Get[T](uint64(h))
	return v
}

// vector is a dense vector as a matrix.
func vector(h C.uintptr_t) *sparse.Dense {
	if v := object[sparse.Vector](h); v != nil {
		return &v.Dense
	}
	return nil
}

// giveSparse stores a result, unless one before could not be stored.
func giveSparse[T any](s *sparse.Status, addr C.uintptr_t, v T) {
	if *s == sparse.Success && (addr == 0 || !put(addr, v)) {
		*s = sparse.InvalidValue
	}
}

// giveOne stores the only result.
func giveOne[T any](addr C.uintptr_t, v T) (s sparse.Status) {
	giveSparse(&s, addr, v)
	return s
}

// newSparse stores a new descriptor.
func newSparse[T any](to C.uintptr_t, name string, h uint64, s sparse.Status) C.int {
	if s == sparse.Success {
		if s = giveOne(to, C.uintptr_t(h)); s != sparse.Success {
			sparse.Remove[T](h)
		}
	}
	return ofSparse(name, s)
}

// nominal stores the size of a buffer.
func nominal(size C.uintptr_t, s sparse.Status) sparse.Status {
	if s == sparse.Success {
		s = giveOne(size, C.size_t(sparse.Nominal))
	}
	return s
}

// inObject runs a function of a descriptor.
func inObject[T any](h C.uintptr_t, f func(v *T) sparse.Status) C.int {
	v := object[T](h)
	if v == nil {
		return C.int(sparse.InvalidValue)
	}
	return C.int(f(v))
}

//export cusparseCreate
func cusparseCreate(to C.uintptr_t) C.int {
	if to == 0 {
		return C.int(sparse.InvalidValue)
	}
	h, s := sparse.Create(thread())
	if s == sparse.Success {
		s = giveOne(to, C.uintptr_t(h))
	}
	return C.int(s)
}

//export cusparseDestroy
func cusparseDestroy(h C.uintptr_t) C.int { return C.int(sparse.Destroy(thread(), uint64(h))) }

//export cusparseGetVersion
func cusparseGetVersion(h, to C.uintptr_t) C.int {
	return inSparse(h, "cusparseGetVersion", func(sparse.Call) sparse.Status { return giveOne(to, C.int(sparse.Version)) })
}

//export cusparseGetProperty
func cusparseGetProperty(which C.int, to C.uintptr_t) C.int {
	if v, ok := versionPart(sparse.Version, which); ok {
		return C.int(giveOne(to, v))
	}
	return C.int(sparse.InvalidValue)
}

//export cusparseGetErrorName
func cusparseGetErrorName(s C.int) *C.char { return forever(sparse.Status(s).Name()) }

//export cusparseGetErrorString
func cusparseGetErrorString(s C.int) *C.char { return forever(sparse.Status(s).Text()) }

//export cusparseSetStream
func cusparseSetStream(h, stream C.uintptr_t) C.int {
	return inSparse(h, "cusparseSetStream", func(c sparse.Call) sparse.Status { c.SetStream(uint64(stream)); return sparse.Success })
}

//export cusparseGetStream
func cusparseGetStream(h, to C.uintptr_t) C.int {
	return inSparse(h, "cusparseGetStream", func(c sparse.Call) sparse.Status { return giveOne(to, C.uintptr_t(c.Stream)) })
}

//export cusparseSetPointerMode
func cusparseSetPointerMode(h C.uintptr_t, mode C.int) C.int {
	return inSparse(h, "cusparseSetPointerMode", func(c sparse.Call) sparse.Status {
		if c.SetPointers(blas.PointerMode(mode)) != blas.Success {
			return sparse.InvalidValue
		}
		return sparse.Success
	})
}

//export cusparseGetPointerMode
func cusparseGetPointerMode(h, to C.uintptr_t) C.int {
	return inSparse(h, "cusparseGetPointerMode", func(c sparse.Call) sparse.Status { return giveOne(to, C.int(c.Pointers)) })
}

// Nothing is logged: the report has the kernels.

//export cusparseLoggerSetCallback
func cusparseLoggerSetCallback(callback C.uintptr_t) C.int { return C.int(sparse.Success) }

//export cusparseLoggerSetFile
func cusparseLoggerSetFile(file C.uintptr_t) C.int { return C.int(sparse.Success) }

//export cusparseLoggerOpenFile
func cusparseLoggerOpenFile(file C.uintptr_t) C.int { return C.int(sparse.Success) }

//export cusparseLoggerSetLevel
func cusparseLoggerSetLevel(level C.int) C.int { return C.int(sparse.Success) }

//export cusparseLoggerSetMask
func cusparseLoggerSetMask(mask C.int) C.int { return C.int(sparse.Success) }

//export cusparseLoggerForceDisable
func cusparseLoggerForceDisable() C.int { return C.int(sparse.Success) }

//export heddleSparseMatrix
func heddleSparseMatrix(name *C.char, to C.uintptr_t, format C.int, rows, columns, nnz C.int64_t, offsets, indices, values C.uintptr_t, offsetType, indexType, base, t C.int) C.int {
	h, s := sparse.NewMatrix(sparse.Matrix{
		Format: sparse.Format(format), Rows: int64(rows), Columns: int64(columns), NNZ: int64(nnz), Offsets: uint64(offsets), Indices: uint64(indices),
		Values: uint64(values), OffsetType: sparse.IndexType(offsetType), IndexType: sparse.IndexType(indexType), Base: int32(base), Type: sparse.Type(t),
	})
	return newSparse[sparse.Matrix](to, C.GoString(name), h, s)
}

//export heddleSparseGet
func heddleSparseGet(h C.uintptr_t, format C.int, rows, columns, nnz, offsets, indices, values, offsetType, indexType, base, t C.uintptr_t) C.int {
	return inObject(h, func(m *sparse.Matrix) (s sparse.Status) {
		if m.Format != sparse.Format(format) {
			return sparse.InvalidValue
		}
		giveSparse(&s, rows, C.int64_t(m.Rows))
		giveSparse(&s, columns, C.int64_t(m.Columns))
		giveSparse(&s, nnz, C.int64_t(m.NNZ))
		giveSparse(&s, offsets, C.uintptr_t(m.Offsets))
		giveSparse(&s, indices, C.uintptr_t(m.Indices))
		giveSparse(&s, values, C.uintptr_t(m.Values))
		giveSparse(&s, offsetType, C.int(m.OffsetType))
		giveSparse(&s, indexType, C.int(m.IndexType))
		giveSparse(&s, base, C.int(m.Base))
		giveSparse(&s, t, C.int(m.Type))
		return s
	})
}

//export heddleSparseSetPointers
func heddleSparseSetPointers(h C.uintptr_t, format C.int, offsets, indices, values C.uintptr_t) C.int {
	return inObject(h, func(m *sparse.Matrix) sparse.Status {
		return m.SetPointers(sparse.Format(format), uint64(offsets), uint64(indices), uint64(values))
	})
}

//export heddleSparseMissing
func heddleSparseMissing(name *C.char) C.int { return ofSparse(C.GoString(name), sparse.NotSupported) }

//export cusparseDestroySpMat
func cusparseDestroySpMat(h C.uintptr_t) C.int { return C.int(sparse.Remove[sparse.Matrix](uint64(h))) }

//export cusparseDestroyDnMat
func cusparseDestroyDnMat(h C.uintptr_t) C.int { return C.int(sparse.Remove[sparse.Dense](uint64(h))) }

//export cusparseDestroyDnVec
func cusparseDestroyDnVec(h C.uintptr_t) C.int { return C.int(sparse.Remove[sparse.Vector](uint64(h))) }

//export cusparseDestroySpVec
func cusparseDestroySpVec(h C.uintptr_t) C.int { return C.int(sparse.Remove[sparse.Sparse](uint64(h))) }

//export cusparseCreateDnMat
func cusparseCreateDnMat(to C.uintptr_t, rows, columns, ld C.int64_t, values C.uintptr_t, t, order C.int) C.int {
	h, s := sparse.NewDense(sparse.Dense{
		Rows: int64(rows), Columns: int64(columns), LD: int64(ld), Values: uint64(values), Type: sparse.Type(t), Order: sparse.Order(order),
	})
	return newSparse[sparse.Dense](to, "cusparseCreateDnMat", h, s)
}

//export cusparseDnMatGet
func cusparseDnMatGet(h, rows, columns, ld, values, t, order C.uintptr_t) C.int {
	return inObject(h, func(d *sparse.Dense) (s sparse.Status) {
		giveSparse(&s, rows, C.int64_t(d.Rows))
		giveSparse(&s, columns, C.int64_t(d.Columns))
		giveSparse(&s, ld, C.int64_t(d.LD))
		giveSparse(&s, values, C.uintptr_t(d.Values))
		giveSparse(&s, t, C.int(d.Type))
		giveSparse(&s, order, C.int(d.Order))
		return s
	})
}

//export cusparseCreateDnVec
func cusparseCreateDnVec(to C.uintptr_t, n C.int64_t, values C.uintptr_t, t C.int) C.int {
	h, s := sparse.NewVector(int64(n), uint64(values), sparse.Type(t))
	return newSparse[sparse.Vector](to, "cusparseCreateDnVec", h, s)
}

//export cusparseDnVecGet
func cusparseDnVecGet(h, n, values, t C.uintptr_t) C.int {
	return inObject(h, func(v *sparse.Vector) (s sparse.Status) {
		giveSparse(&s, n, C.int64_t(v.Rows))
		giveSparse(&s, values, C.uintptr_t(v.Values))
		giveSparse(&s, t, C.int(v.Type))
		return s
	})
}

//export cusparseCreateSpVec
func cusparseCreateSpVec(to C.uintptr_t, size, nnz C.int64_t, indices, values C.uintptr_t, indexType, base, t C.int) C.int {
	h, s := sparse.NewSparse(sparse.Sparse{
		Size: int64(size), NNZ: int64(nnz), Indices: uint64(indices), Values: uint64(values), IndexType: sparse.IndexType(indexType),
		Base: int32(base), Type: sparse.Type(t),
	})
	return newSparse[sparse.Sparse](to, "cusparseCreateSpVec", h, s)
}

//export cusparseSpVecGet
func cusparseSpVecGet(h, size, nnz, indices, values, indexType, base, t C.uintptr_t) C.int {
	return inObject(h, func(v *sparse.Sparse) (s sparse.Status) {
		giveSparse(&s, size, C.int64_t(v.Size))
		giveSparse(&s, nnz, C.int64_t(v.NNZ))
		giveSparse(&s, indices, C.uintptr_t(v.Indices))
		giveSparse(&s, values, C.uintptr_t(v.Values))
		giveSparse(&s, indexType, C.int(v.IndexType))
		giveSparse(&s, base, C.int(v.Base))
		giveSparse(&s, t, C.int(v.Type))
		return s
	})
}

// valuesOf is where a descriptor has the address of its values.
func valuesOf(h C.uintptr_t) *uint64 {
	if v := object[sparse.Matrix](h); v != nil {
		return &v.Values
	}
	if v := object[sparse.Dense](h); v != nil {
		return &v.Values
	}
	if v := object[sparse.Vector](h); v != nil {
		return &v.Values
	}
	if v := object[sparse.Sparse](h); v != nil {
		return &v.Values
	}
	return nil
}

//export heddleSparseValues
func heddleSparseValues(h, to C.uintptr_t) C.int {
	v := valuesOf(h)
	if v == nil {
		return C.int(sparse.InvalidValue)
	}
	return C.int(giveOne(to, C.uintptr_t(*v)))
}

//export heddleSparseSetValues
func heddleSparseSetValues(h, values C.uintptr_t) C.int {
	v := valuesOf(h)
	if v == nil || values == 0 {
		return C.int(sparse.InvalidValue)
	}
	*v = uint64(values)
	return C.int(sparse.Success)
}

//export cusparseSpMatGetIndexBase
func cusparseSpMatGetIndexBase(h, to C.uintptr_t) C.int {
	return inObject(h, func(m *sparse.Matrix) sparse.Status { return giveOne(to, C.int(m.Base)) })
}

//export cusparseSpVecGetIndexBase
func cusparseSpVecGetIndexBase(h, to C.uintptr_t) C.int {
	return inObject(h, func(v *sparse.Sparse) sparse.Status { return giveOne(to, C.int(v.Base)) })
}

//export cusparseSpMatGetSize
func cusparseSpMatGetSize(h, rows, columns, nnz C.uintptr_t) C.int {
	return inObject(h, func(m *sparse.Matrix) (s sparse.Status) {
		giveSparse(&s, rows, C.int64_t(m.Rows))
		giveSparse(&s, columns, C.int64_t(m.Columns))
		giveSparse(&s, nnz, C.int64_t(m.NNZ))
		return s
	})
}

//export cusparseSpMatGetFormat
func cusparseSpMatGetFormat(h, to C.uintptr_t) C.int {
	return inObject(h, func(m *sparse.Matrix) sparse.Status { return giveOne(to, C.int(m.Format)) })
}

//export cusparseSpMatGetAttribute
func cusparseSpMatGetAttribute(h C.uintptr_t, which C.int, to C.uintptr_t, size C.size_t) C.int {
	return inObject(h, func(m *sparse.Matrix) sparse.Status {
		v, s := m.Attribute(int32(which))
		if s != sparse.Success || size != 4 {
			return sparse.InvalidValue
		}
		return giveOne(to, C.int(v))
	})
}

//export cusparseSpMatSetAttribute
func cusparseSpMatSetAttribute(h C.uintptr_t, which C.int, from C.uintptr_t, size C.size_t) C.int {
	return inObject(h, func(m *sparse.Matrix) sparse.Status {
		b := make([]byte, 4)
		if size != 4 || from == 0 || thread().Read(uint64(from), b) != cuda.Success {
			return sparse.InvalidValue
		}
		return m.SetAttribute(int32(which), int32(b[0])|int32(b[1])<<8|int32(b[2])<<16|int32(b[3])<<24)
	})
}

//export cusparseSpMatGetStridedBatch
func cusparseSpMatGetStridedBatch(h, to C.uintptr_t) C.int {
	return inObject(h, func(m *sparse.Matrix) sparse.Status { return giveOne(to, C.int(m.Batch)) })
}

//export cusparseCsrSetStridedBatch
func cusparseCsrSetStridedBatch(h C.uintptr_t, n C.int, offsets, values C.int64_t) C.int {
	return inObject(h, func(m *sparse.Matrix) sparse.Status {
		return m.SetBatch(sparse.CSR, int64(n), int64(offsets), int64(values))
	})
}

//export cusparseCooSetStridedBatch
func cusparseCooSetStridedBatch(h C.uintptr_t, n C.int, stride C.int64_t) C.int {
	return inObject(h, func(m *sparse.Matrix) sparse.Status { return m.SetBatch(sparse.COO, int64(n), 0, int64(stride)) })
}

//export cusparseDnMatSetStridedBatch
func cusparseDnMatSetStridedBatch(h C.uintptr_t, n C.int, stride C.int64_t) C.int {
	return inObject(h, func(d *sparse.Dense) sparse.Status { return d.SetBatch(int64(n), int64(stride)) })
}

//export cusparseDnMatGetStridedBatch
func cusparseDnMatGetStridedBatch(h, n, stride C.uintptr_t) C.int {
	return inObject(h, func(d *sparse.Dense) (s sparse.Status) {
		giveSparse(&s, n, C.int(d.Batch))
		giveSparse(&s, stride, C.int64_t(d.Stride))
		return s
	})
}

// What a family of functions does with the arguments that they share: its C functions pass
// which of them was called.
const (
	sizeOf = iota
	prepare
	perform
)

//export heddleSpMM
func heddleSpMM(name *C.char, step C.int, isVector C.int, h C.uintptr_t, opA, opB C.int, alpha, a, b, beta, to C.uintptr_t, compute C.int, size C.uintptr_t) C.int {
	return inSparse(h, C.GoString(name), func(c sparse.Call) sparse.Status {
		p := sparse.Product{
			OpA: sparse.Op(opA), OpB: sparse.Op(opB), Alpha: uint64(alpha), Beta: uint64(beta), A: object[sparse.Matrix](a), Compute: sparse.Type(compute),
		}
		if isVector != 0 {
			p.B, p.C = vector(b), vector(to)
		} else {
			p.B, p.C = object[sparse.Dense](b), object[sparse.Dense](to)
		}
		switch step {
		case sizeOf:
			return nominal(size, p.Check())
		case prepare:
			return p.Check()
		}
		return c.SpMM(p)
	})
}

//export heddleSDDMM
func heddleSDDMM(name *C.char, step C.int, h C.uintptr_t, opA, opB C.int, alpha, a, b, beta, to C.uintptr_t, compute C.int, size C.uintptr_t) C.int {
	return inSparse(h, C.GoString(name), func(c sparse.Call) sparse.Status {
		p := sparse.Sampled{
			OpA: sparse.Op(opA), OpB: sparse.Op(opB), Alpha: uint64(alpha), Beta: uint64(beta), A: object[sparse.Dense](a), B: object[sparse.Dense](b),
			C: object[sparse.Matrix](to), Compute: sparse.Type(compute),
		}
		switch step {
		case sizeOf:
			return nominal(size, p.Check())
		case prepare:
			return p.Check()
		}
		return c.SDDMM(p)
	})
}

//export heddleSolve
func heddleSolve(name *C.char, step, isVector C.int, h C.uintptr_t, opA, opB C.int, alpha, a, b, to C.uintptr_t, compute C.int, descr, size C.uintptr_t) C.int {
	return inSparse(h, C.GoString(name), func(c sparse.Call) sparse.Status {
		p := sparse.System{OpA: sparse.Op(opA), OpB: sparse.Op(opB), Alpha: uint64(alpha), A: object[sparse.Matrix](a), Compute: sparse.Type(compute)}
		if isVector != 0 {
			p.B, p.C = vector(b), vector(to)
		} else {
			p.B, p.C = object[sparse.Dense](b), object[sparse.Dense](to)
		}
		with := object[sparse.Solver](descr)
		switch {
		case with == nil:
			return sparse.InvalidValue
		case step == sizeOf:
			return nominal(size, p.Check())
		case step == prepare:
			return with.Prepare(p)
		}
		return c.Solve(p, with)
	})
}

//export heddleNewSolver
func heddleNewSolver(to C.uintptr_t) C.int {
	return newSparse[sparse.Solver](to, "", sparse.NewSolver(), sparse.Success)
}

//export heddleFreeSolver
func heddleFreeSolver(h C.uintptr_t) C.int { return C.int(sparse.Remove[sparse.Solver](uint64(h))) }

//export heddleUpdateSolver
func heddleUpdateSolver(name *C.char, h, descr, values C.uintptr_t, part C.int) C.int {
	return inSparse(h, C.GoString(name), func(sparse.Call) sparse.Status {
		if v := object[sparse.Solver](descr); v != nil {
			return v.Replace(uint64(values), int32(part))
		}
		return sparse.InvalidValue
	})
}

//export cusparseSpGEMM_createDescr
func cusparseSpGEMM_createDescr(to C.uintptr_t) C.int {
	return newSparse[sparse.Products](to, "", sparse.NewProducts(thread()), sparse.Success)
}

//export cusparseSpGEMM_destroyDescr
func cusparseSpGEMM_destroyDescr(h C.uintptr_t) C.int {
	return C.int(sparse.DestroyProducts(thread(), uint64(h)))
}

//export cusparseSpGEMM_getNumProducts
func cusparseSpGEMM_getNumProducts(h, to C.uintptr_t) C.int {
	return inObject(h, func(v *sparse.Products) sparse.Status { return giveOne(to, C.int64_t(v.Number)) })
}

// The steps of SpGEMM. Without a buffer, a step says how large that has to be.
const (
	estimate = iota
	multiply
	store
)

//export heddleSpGEMM
func heddleSpGEMM(name *C.char, step C.int, h C.uintptr_t, opA, opB C.int, alpha, a, b, beta, to C.uintptr_t, compute C.int, descr, size, buffer C.uintptr_t) C.int {
	return inSparse(h, C.GoString(name), func(c sparse.Call) sparse.Status {
		p := sparse.Multiplication{
			OpA: sparse.Op(opA), OpB: sparse.Op(opB), Alpha: uint64(alpha), Beta: uint64(beta), A: object[sparse.Matrix](a), B: object[sparse.Matrix](b),
			C: object[sparse.Matrix](to), Compute: sparse.Type(compute),
		}
		v := object[sparse.Products](descr)
		switch {
		case v == nil:
			return sparse.InvalidValue
		case step == store:
			return c.Store(p, v)
		case buffer == 0:
			return nominal(size, p.Check())
		case step == estimate:
			return c.Estimate(p, v)
		}
		return c.Multiply(p, v)
	})
}

//export heddleToDense
func heddleToDense(name *C.char, step C.int, h, a, to, size C.uintptr_t) C.int {
	return inSparse(h, C.GoString(name), func(c sparse.Call) sparse.Status {
		m, d := object[sparse.Matrix](a), object[sparse.Dense](to)
		switch {
		case m == nil || d == nil:
			return sparse.InvalidValue
		case step == sizeOf:
			return nominal(size, sparse.Success)
		}
		return c.ToDense(m, d)
	})
}

//export heddleFromDense
func heddleFromDense(name *C.char, step C.int, h, a, to, size C.uintptr_t) C.int {
	return inSparse(h, C.GoString(name), func(c sparse.Call) sparse.Status {
		d, m := object[sparse.Dense](a), object[sparse.Matrix](to)
		switch {
		case m == nil || d == nil:
			return sparse.InvalidValue
		case step == sizeOf:
			return nominal(size, sparse.Success)
		case step == prepare:
			return c.Analyze(d, m)
		}
		return c.FromDense(d, m)
	})
}

//export cusparseSpVV_bufferSize
func cusparseSpVV_bufferSize(h C.uintptr_t, op C.int, x, y, result C.uintptr_t, compute C.int, size C.uintptr_t) C.int {
	return inSparse(h, "cusparseSpVV_bufferSize", func(sparse.Call) sparse.Status {
		if object[sparse.Sparse](x) == nil || vector(y) == nil {
			return sparse.InvalidValue
		}
		return nominal(size, sparse.Success)
	})
}

//export cusparseSpVV
func cusparseSpVV(h C.uintptr_t, op C.int, x, y, result C.uintptr_t, compute C.int, buffer C.uintptr_t) C.int {
	return inSparse(h, "cusparseSpVV", func(c sparse.Call) sparse.Status {
		return c.Dot(sparse.Op(op), object[sparse.Sparse](x), object[sparse.Vector](y), uint64(result), uint64(buffer), sparse.Type(compute))
	})
}

//export cusparseAxpby
func cusparseAxpby(h, alpha, x, beta, y C.uintptr_t) C.int {
	return inSparse(h, "cusparseAxpby", func(c sparse.Call) sparse.Status {
		return c.Axpby(uint64(alpha), object[sparse.Sparse](x), uint64(beta), object[sparse.Vector](y))
	})
}

//export cusparseGather
func cusparseGather(h, y, x C.uintptr_t) C.int {
	return inSparse(h, "cusparseGather", func(c sparse.Call) sparse.Status {
		return c.Gather(object[sparse.Vector](y), object[sparse.Sparse](x))
	})
}

//export cusparseScatter
func cusparseScatter(h, x, y C.uintptr_t) C.int {
	return inSparse(h, "cusparseScatter", func(c sparse.Call) sparse.Status {
		return c.Scatter(object[sparse.Sparse](x), object[sparse.Vector](y))
	})
}

//export cusparseRot
func cusparseRot(h, cosine, sine, x, y C.uintptr_t) C.int {
	return inSparse(h, "cusparseRot", func(c sparse.Call) sparse.Status {
		return c.Rotate(uint64(cosine), uint64(sine), object[sparse.Sparse](x), object[sparse.Vector](y))
	})
}
