package sparse

import (
	"math"
	"slices"

	"github.com/heddle-sim/heddle/internal/libs"
	"github.com/heddle-sim/heddle/internal/libs/blas"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: sums and products of sparse matrices, whose result is sparse.

// Products is what a cusparseSpGEMMDescr_t stands for: the products of elements of two
// matrices, sorted by their place in the result.
type Products struct {
	libs.Memory
	Number                       int64 // how many there are
	rows, columns, first, values uint64
	places                       uint64
	n                            int64 // elements of the result
	typ                          Type
	done                         bool
}

// NewProducts makes a descriptor.
func NewProducts(t *cuda.Thread) uint64 { return add(Products{Memory: libs.NewMemory(t)}) }

// DestroyProducts ends a descriptor.
func DestroyProducts(t *cuda.Thread, handle uint64) Status {
	return destroy(t, handle, func(p *Products) *libs.Memory { return &p.Memory })
}

// Multiplication is C = alpha * A * B + beta * C: C has the structure of the product.
type Multiplication struct {
	OpA, OpB    Op
	Alpha, Beta uint64
	A, B, C     *Matrix
	Compute     Type
}

// Check checks the arguments of SpGEMM.
func (p *Multiplication) Check() Status {
	if p.A == nil || p.B == nil || p.C == nil || p.Alpha == 0 || p.Beta == 0 || !validOps(p.OpA, p.OpB) ||
		p.A.Columns != p.B.Rows || p.C.Rows != p.A.Rows || p.C.Columns != p.B.Columns || !p.A.readable() || !p.B.readable() {
		return InvalidValue
	}
	t := p.A.Type
	if p.OpA != blas.N || p.OpB != blas.N || p.A.Format != CSR || p.B.Format != CSR || p.C.Format != CSR ||
		t != p.B.Type || t != p.C.Type || t != p.Compute || !exact(t) {
		return NotSupported
	}
	return Success
}

// Estimate counts the products of elements.
func (c Call) Estimate(p Multiplication, to *Products) Status {
	if s := p.Check(); s != Success {
		return s
	}
	w := c.begin()
	_, n := w.lengths(w.rows(p.A, blas.N), w.rows(p.B, blas.N), p.A.NNZ)
	s := w.end()
	if s == Success {
		to.Number = n
	}
	return s
}

// lengths returns where the products of each element of a begin, and how many there are.
func (w *work) lengths(a, b view, nnz int64) (list uint64, n int64) {
	list = w.alloc(nnz+1, 8)
	w.structure("lengths", nnz, a, b, nnz, list)
	w.scan(list, nnz)
	return list, w.fetch(list + uint64(8*nnz))
}

// Multiply computes all products of elements, and with them the number of elements of C.
func (c Call) Multiply(p Multiplication, to *Products) Status {
	if s := p.Check(); s != Success {
		return s
	}
	if to.Lost(c.t) {
		return InvalidValue
	}
	to.done = false
	if s := statusOf(to.FreeAll(c.t)); s != Success {
		return s
	}
	w := c.begin()
	a, b := w.rows(p.A, blas.N), w.rows(p.B, blas.N)
	t := p.A.Type
	lengths, n := w.lengths(a, b, p.A.NNZ)
	if n >= math.MaxInt32 && w.s == Success {
		w.s = InsufficientResources
	}
	if w.s != Success {
		return w.end()
	}
	rows, columns, values := w.alloc(n, 4), w.alloc(n, 4), w.alloc(n, t.Size())
	w.values("products", t, n, problem{A: a, B: b, First: lengths, Rows: rows, Columns: columns, To: values, N: n, K: p.A.NNZ})
	rows, columns, places := w.sortBoth(rows, columns, n, p.A.Rows, p.B.Columns)
	sums := w.alloc(n+1, 8)
	w.structure("heads", n, rows, columns, n, sums)
	w.scan(sums, n)
	united := w.fetch(sums + uint64(8*n))
	rowsTo, columnsTo, first := w.alloc(united, 4), w.alloc(united, 4), w.alloc(united+1, 8)
	w.structure("unite", n, rows, columns, n, sums, rowsTo, columnsTo, first)
	if w.s == Success {
		*to = Products{Memory: to.Memory, Number: n, rows: rowsTo, columns: columnsTo, first: first, values: values, places: places, n: united, typ: t, done: true}
		to.Hold(w.keep(rowsTo, columnsTo, first, values, places)...)
		p.C.NNZ = united
	}
	return w.end()
}

// keep takes allocations out of the working memory.
func (w *work) keep(addrs ...uint64) []uint64 {
	w.list = slices.DeleteFunc(w.list, func(addr uint64) bool { return slices.Contains(addrs, addr) })
	return addrs
}

// Store adds up the products, and stores the result.
func (c Call) Store(p Multiplication, from *Products) Status {
	if s := p.Check(); s != Success {
		return s
	}
	if from.Lost(c.t) || !from.done || from.typ != p.C.Type || from.n != p.C.NNZ || p.C.Offsets == 0 || from.n > 0 && (p.C.Indices == 0 || p.C.Values == 0) {
		return InvalidValue
	}
	alpha, beta, s := c.scalars(p.Alpha, p.Beta, p.Compute)
	if s != Success {
		return s
	}
	w := c.begin()
	w.compressTo(p.C.Offsets, from.rows, from.n, 0, 0, p.C.Rows, p.C.OffsetType.wide(), p.C.Base)
	w.pickTo(p.C.Indices, from.columns, 0, from.n, p.C.IndexType.wide(), 0, int64(p.C.Base))
	w.values("sums", from.typ, from.n, problem{
		A: view{Values: from.values, Places: from.places}, Alpha: alpha, Beta: beta, First: from.first, To: p.C.Values, N: from.n,
	})
	return w.end()
}

// csr checks a matrix of 32-bit indices.
func (m *Matrix) csr() bool {
	return m.Rows >= 0 && m.Columns >= 0 && m.NNZ >= 0 && m.Base&^1 == 0 && m.Offsets != 0 && (m.NNZ == 0 || m.Indices != 0)
}

// CountSum writes the offsets of the sum of two matrices, and where the handle says the
// number of its elements.
func (c Call) CountSum(a, b, to *Matrix, all uint64) Status {
	if !a.csr() || !b.csr() || to.Offsets == 0 || all == 0 {
		return InvalidValue
	}
	w := c.begin()
	sums := w.alloc(a.Rows+1, 8)
	w.structure("merged", a.Rows, w.rows(a, blas.N), w.rows(b, blas.N), sums)
	w.scan(sums, a.Rows)
	w.offsets(to, sums, a.Rows)
	w.give(all, sums+uint64(8*a.Rows), 4)
	return w.end()
}

// Add is geam: alpha * a + beta * b, whose offsets CountSum has written.
func (c Call) Add(alpha uint64, a *Matrix, beta uint64, b, to *Matrix) Status {
	if !a.csr() || !b.csr() || to.Offsets == 0 || to.Indices == 0 || to.Values == 0 || alpha == 0 || beta == 0 {
		return InvalidValue
	}
	x, y, s := c.scalars(alpha, beta, a.Type)
	if s != Success {
		return s
	}
	w := c.begin()
	first := w.alloc(a.Rows+1, 8)
	w.pickTo(first, to.Offsets, 0, a.Rows+1, wide, 0, -int64(to.Base))
	w.values("merge", a.Type, a.Rows, problem{
		A: w.rows(a, blas.N), B: w.rows(b, blas.N), Alpha: x, Beta: y, First: first, Columns: to.Indices, To: to.Values, Base: to.Base,
	})
	return w.end()
}
