package main

// #include "host.h"
import "C"

import "github.com/heddle-sim/heddle/internal/libs/sparse"

// This file: the functions of cuSPARSE that take arrays. Their indices have 32 bits.

//export cusparseCreateMatDescr
func cusparseCreateMatDescr(to C.uintptr_t) C.int {
	return newSparse[sparse.Legacy](to, "", sparse.NewLegacy(), sparse.Success)
}

//export cusparseDestroyMatDescr
func cusparseDestroyMatDescr(h C.uintptr_t) C.int {
	return C.int(sparse.Remove[sparse.Legacy](uint64(h)))
}

// legacyField is one of a description, and the largest value that it has.
func legacyField(d *sparse.Legacy, which C.int) (v *int32, most int32) {
	switch which {
	case 0:
		return &d.Type, 3
	case 1:
		return &d.Fill, 1
	case 2:
		return &d.Diag, 1
	}
	return &d.Base, 1
}

//export heddleSparseField
func heddleSparseField(h C.uintptr_t, which C.int) C.int {
	d := object[sparse.Legacy](h)
	if d == nil {
		return 0
	}
	v, _ := legacyField(d, which)
	return C.int(*v)
}

//export heddleSparseSetField
func heddleSparseSetField(h C.uintptr_t, which, to C.int) C.int {
	return inObject(h, func(d *sparse.Legacy) sparse.Status {
		v, most := legacyField(d, which)
		if to < 0 || int32(to) > most {
			return sparse.InvalidValue
		}
		*v = int32(to)
		return sparse.Success
	})
}

// general is a matrix of arrays, whose description says that it has no structure.
func general(descr C.uintptr_t, f sparse.Format, t, rows, columns, nnz C.int, values, offsets, indices C.uintptr_t) (*sparse.Matrix, sparse.Status) {
	d := object[sparse.Legacy](descr)
	if d == nil {
		return nil, sparse.InvalidValue
	}
	if d.Type != 0 {
		return nil, sparse.MatrixType
	}
	return arrays(f, t, rows, columns, nnz, d.Base, values, offsets, indices), sparse.Success
}

func arrays(f sparse.Format, t, rows, columns, nnz C.int, base int32, values, offsets, indices C.uintptr_t) *sparse.Matrix {
	return &sparse.Matrix{
		Format: f, Rows: int64(rows), Columns: int64(columns), NNZ: int64(nnz), Offsets: uint64(offsets), Indices: uint64(indices), Values: uint64(values),
		OffsetType: sparse.Index32, IndexType: sparse.Index32, Base: base, Type: sparse.Type(t), Batch: 1,
	}
}

//export cusparseXcsr2coo
func cusparseXcsr2coo(h, offsets C.uintptr_t, nnz, m C.int, rows C.uintptr_t, base C.int) C.int {
	return inSparse(h, "cusparseXcsr2coo", func(c sparse.Call) sparse.Status {
		return c.Expand(uint64(offsets), int64(nnz), int64(m), uint64(rows), int32(base))
	})
}

//export cusparseXcoo2csr
func cusparseXcoo2csr(h, rows C.uintptr_t, nnz, m C.int, offsets C.uintptr_t, base C.int) C.int {
	return inSparse(h, "cusparseXcoo2csr", func(c sparse.Call) sparse.Status {
		return c.Compress(uint64(rows), int64(nnz), int64(m), uint64(offsets), int32(base))
	})
}

//export cusparseCreateIdentityPermutation
func cusparseCreateIdentityPermutation(h C.uintptr_t, n C.int, to C.uintptr_t) C.int {
	return inSparse(h, "cusparseCreateIdentityPermutation", func(c sparse.Call) sparse.Status { return c.Identity(int64(n), uint64(to)) })
}

//export cusparseCsr2cscEx2_bufferSize
func cusparseCsr2cscEx2_bufferSize(h C.uintptr_t, m, n, nnz C.int, values, offsets, columns, toValues, toOffsets, rows C.uintptr_t, t, action, base, algorithm C.int, size C.uintptr_t) C.int {
	return inSparse(h, "cusparseCsr2cscEx2_bufferSize", func(sparse.Call) sparse.Status { return nominal(size, sparse.Success) })
}

//export heddleSparseTranspose
func heddleSparseTranspose(name *C.char, h C.uintptr_t, t, m, n, nnz C.int, values, offsets, columns, toValues, rows, toOffsets C.uintptr_t, action, base C.int) C.int {
	return inSparse(h, C.GoString(name), func(c sparse.Call) sparse.Status {
		return c.Transpose(arrays(sparse.CSR, t, m, n, nnz, int32(base), values, offsets, columns),
			arrays(sparse.CSC, t, m, n, nnz, int32(base), toValues, toOffsets, rows), action != 0)
	})
}

//export heddleSparseSortSize
func heddleSparseSortSize(name *C.char, h, size C.uintptr_t) C.int {
	return inSparse(h, C.GoString(name), func(sparse.Call) sparse.Status { return nominal(size, sparse.Success) })
}

//export heddleSparseSort
func heddleSparseSort(name *C.char, h C.uintptr_t, format, m, n, nnz C.int, descr, offsets, indices, places C.uintptr_t) C.int {
	return inSparse(h, C.GoString(name), func(c sparse.Call) sparse.Status {
		a, s := general(descr, sparse.Format(format), 0, m, n, nnz, 0, offsets, indices)
		if s != sparse.Success {
			return s
		}
		return c.Sort(a, uint64(places))
	})
}

// Indices of COO that are moved may begin at 0 or 1: they are sorted as they are, with room
// for both.

//export cusparseXcoosortByRow
func cusparseXcoosortByRow(h C.uintptr_t, m, n, nnz C.int, rows, columns, places, buffer C.uintptr_t) C.int {
	return inSparse(h, "cusparseXcoosortByRow", func(c sparse.Call) sparse.Status {
		if m < 0 || n < 0 {
			return sparse.InvalidValue
		}
		a := arrays(sparse.COO, 0, m, n, nnz, 0, 0, rows, columns)
		a.Rows, a.Columns = a.Rows+1, a.Columns+1
		return c.Sort(a, uint64(places))
	})
}

//export cusparseXcoosortByColumn
func cusparseXcoosortByColumn(h C.uintptr_t, m, n, nnz C.int, rows, columns, places, buffer C.uintptr_t) C.int {
	return cusparseXcoosortByRow(h, n, m, nnz, columns, rows, places, buffer)
}

//export heddleSparseCount
func heddleSparseCount(name *C.char, h C.uintptr_t, t, direction, m, n C.int, descr, a C.uintptr_t, lda C.int, each, all C.uintptr_t) C.int {
	return inSparse(h, C.GoString(name), func(c sparse.Call) sparse.Status {
		if _, s := general(descr, sparse.CSR, t, m, n, 0, 0, 0, 0); s != sparse.Success {
			return s
		}
		if direction != 0 && direction != 1 {
			return sparse.InvalidValue
		}
		return c.Count(direction == 1, sparse.Dense{
			Rows: int64(m), Columns: int64(n), LD: int64(lda), Values: uint64(a), Type: sparse.Type(t), Order: sparse.ColumnMajor, Batch: 1,
		}, uint64(each), uint64(all))
	})
}

// sumOf reads the operands of a sum.
func sumOf(t, m, n C.int, descrA C.uintptr_t, nnzA C.int, valuesA, offsetsA, columnsA, descrB C.uintptr_t, nnzB C.int, valuesB, offsetsB, columnsB, descrC, valuesC, offsetsC, columnsC C.uintptr_t) (a, b, c *sparse.Matrix, s sparse.Status) {
	if a, s = general(descrA, sparse.CSR, t, m, n, nnzA, valuesA, offsetsA, columnsA); s != sparse.Success {
		return
	}
	if b, s = general(descrB, sparse.CSR, t, m, n, nnzB, valuesB, offsetsB, columnsB); s != sparse.Success {
		return
	}
	c, s = general(descrC, sparse.CSR, t, m, n, 0, valuesC, offsetsC, columnsC)
	return
}

//export cusparseXcsrgeam2Nnz
func cusparseXcsrgeam2Nnz(h C.uintptr_t, m, n C.int, descrA C.uintptr_t, nnzA C.int, offsetsA, columnsA, descrB C.uintptr_t, nnzB C.int, offsetsB, columnsB, descrC, offsetsC, all, buffer C.uintptr_t) C.int {
	return inSparse(h, "cusparseXcsrgeam2Nnz", func(c sparse.Call) sparse.Status {
		a, b, to, s := sumOf(0, m, n, descrA, nnzA, 0, offsetsA, columnsA, descrB, nnzB, 0, offsetsB, columnsB, descrC, 0, offsetsC, 0)
		if s != sparse.Success {
			return s
		}
		return c.CountSum(a, b, to, uint64(all))
	})
}

//export heddleSparseSum
func heddleSparseSum(name *C.char, h C.uintptr_t, t, m, n C.int, alpha, descrA C.uintptr_t, nnzA C.int, valuesA, offsetsA, columnsA, beta, descrB C.uintptr_t, nnzB C.int, valuesB, offsetsB, columnsB, descrC, valuesC, offsetsC, columnsC C.uintptr_t) C.int {
	return inSparse(h, C.GoString(name), func(c sparse.Call) sparse.Status {
		a, b, to, s := sumOf(t, m, n, descrA, nnzA, valuesA, offsetsA, columnsA, descrB, nnzB, valuesB, offsetsB, columnsB, descrC, valuesC, offsetsC, columnsC)
		if s != sparse.Success {
			return s
		}
		return c.Add(uint64(alpha), a, uint64(beta), b, to)
	})
}

//export heddleSparseOldProduct
func heddleSparseOldProduct(name *C.char, h C.uintptr_t, t, opA, opB, m, n, k, nnz C.int, alpha, descr, values, offsets, columns, b C.uintptr_t, ldb C.int, beta, to C.uintptr_t, ldc C.int) C.int {
	return inSparse(h, C.GoString(name), func(c sparse.Call) sparse.Status {
		a, s := general(descr, sparse.CSR, t, m, k, nnz, values, offsets, columns)
		if s != sparse.Success {
			return s
		}
		if m < 0 || n < 0 || k < 0 || nnz < 0 || offsets == 0 || b == 0 || to == 0 {
			return sparse.InvalidValue
		}
		// m and k are the extents of the matrix as it is stored.
		rows, inner := int64(m), int64(k)
		if opA != 0 {
			rows, inner = inner, rows
		}
		x := &sparse.Dense{Rows: inner, Columns: int64(n), LD: int64(ldb), Values: uint64(b), Type: sparse.Type(t), Order: sparse.ColumnMajor, Batch: 1}
		least := inner
		if opB != 0 {
			x.Rows, x.Columns = x.Columns, x.Rows
			least = int64(n)
		}
		if x.LD < max(1, least) || int64(ldc) < max(1, rows) {
			return sparse.InvalidValue
		}
		return c.SpMM(sparse.Product{
			OpA: sparse.Op(opA), OpB: sparse.Op(opB), Alpha: uint64(alpha), Beta: uint64(beta), A: a, B: x,
			C:       &sparse.Dense{Rows: rows, Columns: int64(n), LD: int64(ldc), Values: uint64(to), Type: sparse.Type(t), Order: sparse.ColumnMajor, Batch: 1},
			Compute: sparse.Type(t),
		})
	})
}

//export heddleNewFactors
func heddleNewFactors(to C.uintptr_t) C.int {
	return newSparse[sparse.Factors](to, "", sparse.NewFactors(thread()), sparse.Success)
}

//export heddleFreeFactors
func heddleFreeFactors(h C.uintptr_t) C.int { return C.int(sparse.DestroyFactors(thread(), uint64(h))) }

//export heddleZeroPivot
func heddleZeroPivot(name *C.char, h, info, to C.uintptr_t) C.int {
	return inSparse(h, C.GoString(name), func(c sparse.Call) sparse.Status {
		if f := object[sparse.Factors](info); f != nil {
			return c.Pivot(f, uint64(to))
		}
		return sparse.InvalidValue
	})
}

//export heddleSparseFactor
func heddleSparseFactor(name *C.char, h C.uintptr_t, t, cholesky, step, m, nnz C.int, descr, values, offsets, columns, info, size C.uintptr_t, sizeBytes C.int) C.int {
	return inSparse(h, C.GoString(name), func(c sparse.Call) sparse.Status {
		a, s := general(descr, sparse.CSR, t, m, m, nnz, values, offsets, columns)
		f := object[sparse.Factors](info)
		switch {
		case s != sparse.Success:
			return s
		case f == nil:
			return sparse.InvalidValue
		case step == sizeOf && sizeBytes == 4:
			return giveOne(size, C.int(sparse.Nominal))
		case step == sizeOf:
			return nominal(size, sparse.Success)
		case step == prepare:
			return c.Prepare(a, f)
		case cholesky != 0:
			return c.Cholesky(a, f)
		}
		return c.ILU(a, f)
	})
}
