package sparse

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/libs/blas"
)

// This file: products with dense vectors and matrices.

// manyPerRow is the mean number of elements from which a warp has a row of SpMV: our choice.
const manyPerRow = 12

// Product is a product of a sparse and a dense matrix: the result is dense.
type Product struct {
	OpA, OpB    Op
	Alpha, Beta uint64 // addresses, where the handle says
	A           *Matrix
	B, C        *Dense
	Compute     Type
}

// productTypes checks those of a product whose operands and results have types.
func productTypes(in, out, compute Type) Status {
	if !hasKernels(in) || compute != sum(in) || out != in && out != compute {
		return NotSupported
	}
	return Success
}

// batches reports whether each operand has a matrix for every result, or one for all.
func batches(results int64, operands ...int64) bool {
	return !slices.ContainsFunc(operands, func(n int64) bool { return n != 1 && n != results })
}

// Check checks the arguments of SpMM.
func (p *Product) Check() Status {
	if p.A == nil || p.B == nil || p.C == nil || p.Alpha == 0 || p.Beta == 0 || !validOps(p.OpA, p.OpB) {
		return InvalidValue
	}
	_, k, n := p.B.after(p.OpB)
	rows, columns := p.A.Rows, p.A.Columns
	if p.OpA != blas.N {
		rows, columns = columns, rows
	}
	if columns != k || rows != p.C.Rows || n != p.C.Columns || !p.A.readable() || !batches(p.C.Batch, p.A.Batch, p.B.Batch) {
		return InvalidValue
	}
	if p.A.Type != p.B.Type {
		return NotSupported
	}
	return productTypes(p.A.Type, p.C.Type, p.Compute)
}

// SpMM is C = alpha * op(A) * op(B) + beta * C. Vectors are matrices with one column.
func (c Call) SpMM(p Product) Status {
	if s := p.Check(); s != Success {
		return s
	}
	alpha, beta, s := c.scalars(p.Alpha, p.Beta, p.Compute)
	if s != Success {
		return s
	}
	w := c.begin()
	for i := range p.C.Batch {
		w.spmm(&p, p.A.member(i), p.B.member(i), p.C.member(i), alpha, beta)
	}
	return w.end()
}

func (w *work) spmm(p *Product, a *Matrix, b, to *Dense, alpha, beta blas.Number) {
	if to.Rows == 0 || to.Columns == 0 {
		return
	}
	t := problem{A: w.rows(a, p.OpA), Alpha: alpha, Beta: beta, N: to.Columns}
	t.X, _, _ = b.after(p.OpB)
	t.Y, _, _ = to.after(blas.N)
	file, suffix := "values_"+names[a.Type], "_"+names[a.Type]+"_"+names[to.Type]
	if t.N > 1 {
		for t.K = 2; t.K < t.N && t.K < warp; t.K *= 2 {
		}
		w.launch(file, "spmm"+suffix, to.Rows*t.K, min(over(t.N, t.K), maxY), t)
	} else if a.NNZ >= manyPerRow*to.Rows {
		w.launch(file, "spmv32"+suffix, to.Rows*warp, 1, t)
	} else {
		w.launch(file, "spmv4"+suffix, to.Rows*4, 1, t)
	}
}

// Sampled is a product of dense matrices of which the elements of a sparse one are computed.
type Sampled struct {
	OpA, OpB    Op
	Alpha, Beta uint64
	A, B        *Dense
	C           *Matrix
	Compute     Type
}

// Check checks the arguments of SDDMM.
func (p *Sampled) Check() Status {
	if p.A == nil || p.B == nil || p.C == nil || p.Alpha == 0 || p.Beta == 0 || !validOps(p.OpA, p.OpB) {
		return InvalidValue
	}
	_, m, k := p.A.after(p.OpA)
	_, k2, n := p.B.after(p.OpB)
	if k != k2 || m != p.C.Rows || n != p.C.Columns || !p.C.readable() || !batches(p.C.Batch, p.A.Batch, p.B.Batch) {
		return InvalidValue
	}
	if p.A.Type != p.B.Type {
		return NotSupported
	}
	return productTypes(p.A.Type, p.C.Type, p.Compute)
}

// SDDMM is C = alpha * (op(A) * op(B)) + beta * C in the elements of C.
func (c Call) SDDMM(p Sampled) Status {
	if s := p.Check(); s != Success {
		return s
	}
	alpha, beta, s := c.scalars(p.Alpha, p.Beta, p.Compute)
	if s != Success {
		return s
	}
	w := c.begin()
	for i := range p.C.Batch {
		to := p.C.member(i)
		t := problem{A: w.rows(to, blas.N), Alpha: alpha, Beta: beta, N: to.NNZ}
		t.X, _, t.K = p.A.member(i).after(p.OpA)
		t.Y, _, _ = p.B.member(i).after(p.OpB)
		w.launch("values_"+names[p.A.Type], "sddmm_"+names[p.A.Type]+"_"+names[to.Type], to.NNZ*warp, 1, t)
	}
	return w.end()
}
