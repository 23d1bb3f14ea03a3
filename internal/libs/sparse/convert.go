package sparse

import "github.com/heddle-sim/heddle/internal/libs/blas"

// This file: conversions between formats, and sorting. The functions that older releases
// have too take arrays of 32-bit indices.

// ToDense is SparseToDense: elements that a does not have become 0.
func (c Call) ToDense(a *Matrix, d *Dense) Status {
	if a == nil || d == nil || a.Rows != d.Rows || a.Columns != d.Columns || !a.readable() {
		return InvalidValue
	}
	if a.Type != d.Type {
		return NotSupported
	}
	w := c.begin()
	p := problem{A: w.rows(a, blas.N)}
	p.X, _, _ = d.after(blas.N)
	w.values("densify", a.Type, a.Rows*warp, p)
	return w.end()
}

// fromDense counts the elements of a dense matrix that are not zero, by rows, or by columns
// for CSC. It returns their sums.
func (w *work) fromDense(d *Dense, f Format) (p problem, sums uint64) {
	op := blas.N
	if f == CSC {
		op = blas.T
	}
	p.X, p.N, p.K = d.after(op)
	sums = w.alloc(p.N+1, 8)
	p.Rows = sums
	w.values("compact", d.Type, p.N*warp, p)
	w.scan(sums, p.N)
	return p, sums
}

// offsets stores sums as the offsets of a matrix.
func (w *work) offsets(m *Matrix, sums uint64, n int64) {
	if m.Format != COO && m.Offsets != 0 {
		w.pickTo(m.Offsets, sums, 0, n+1, m.OffsetType.wide(), wide, int64(m.Base))
	}
}

func checkFromDense(d *Dense, m *Matrix) Status {
	if d == nil || m == nil || m.Rows != d.Rows || m.Columns != d.Columns {
		return InvalidValue
	}
	if m.Type != d.Type {
		return NotSupported
	}
	return Success
}

// Analyze is DenseToSparse_analysis: it counts the elements of m.
func (c Call) Analyze(d *Dense, m *Matrix) Status {
	if s := checkFromDense(d, m); s != Success {
		return s
	}
	w := c.begin()
	p, sums := w.fromDense(d, m.Format)
	w.offsets(m, sums, p.N)
	n := w.fetch(sums + uint64(8*p.N))
	s := w.end()
	if s == Success {
		m.NNZ = n
	}
	return s
}

// FromDense is DenseToSparse_convert.
func (c Call) FromDense(d *Dense, m *Matrix) Status {
	if s := checkFromDense(d, m); s != Success {
		return s
	}
	if m.NNZ > 0 && (m.Offsets == 0 || m.Indices == 0 || m.Values == 0) {
		return InvalidValue
	}
	w := c.begin()
	p, sums := w.fromDense(d, m.Format)
	w.offsets(m, sums, p.N)
	p.First, p.Columns, p.To = sums, m.Indices, m.Values
	p.Wide, p.Base, p.Flags = m.IndexType.wide(), m.Base, 1
	w.values("compact", d.Type, p.N*warp, p)
	if m.Format == COO {
		v := view{Offsets: sums, WideOffsets: wide, Rows: p.N}
		w.structure("expand", m.NNZ, v, m.Offsets, m.NNZ, m.OffsetType.wide(), m.Base)
	}
	return w.end()
}

// Count is nnz: the elements of each row or column of a matrix, and of all, that are not
// zero.
func (c Call) Count(byColumn bool, d Dense, each, all uint64) Status {
	if d.Rows < 0 || d.Columns < 0 || d.LD < max(1, d.Rows) || each == 0 || all == 0 || d.Values == 0 {
		return InvalidValue
	}
	if !fits(d.Rows, d.Columns, d.LD) {
		return NotSupported
	}
	f := CSR
	op := blas.N
	if byColumn {
		f, op = CSC, blas.T
	}
	w := c.begin()
	counts := problem{}
	counts.X, counts.N, counts.K = d.after(op)
	counts.Rows = w.alloc(counts.N, 8)
	w.values("compact", d.Type, counts.N*warp, counts)
	w.pickTo(each, counts.Rows, 0, counts.N, 0, wide, 0)
	p, sums := w.fromDense(&d, f)
	w.give(all, sums+uint64(8*p.N), 4)
	return w.end()
}

// Expand is csr2coo: the row of each of n elements.
func (c Call) Expand(offsets uint64, n, rows int64, to uint64, base int32) Status {
	if n < 0 || rows < 0 || base&^1 != 0 || n > 0 && (offsets == 0 || to == 0) {
		return InvalidValue
	}
	w := c.begin()
	w.structure("expand", n, view{Offsets: offsets, Rows: rows, OffsetBase: base}, to, n, int32(0), base)
	return w.end()
}

// Compress is coo2csr: where each row begins in a sorted list of rows.
func (c Call) Compress(list uint64, n, rows int64, to uint64, base int32) Status {
	if n < 0 || rows < 0 || base&^1 != 0 || to == 0 || n > 0 && list == 0 {
		return InvalidValue
	}
	w := c.begin()
	w.compressTo(to, list, n, 0, base, rows, 0, base)
	return w.end()
}

// Transpose is csr2csc: values too if numeric is set.
func (c Call) Transpose(from, to *Matrix, numeric bool) Status {
	n := from.NNZ
	if from.Rows < 0 || from.Columns < 0 || n < 0 || from.Base&^1 != 0 || from.Offsets == 0 || to.Offsets == 0 ||
		n > 0 && (from.Indices == 0 || to.Indices == 0 || numeric && (from.Values == 0 || to.Values == 0)) {
		return InvalidValue
	}
	size := from.Type.Size()
	if numeric && size != 1 && !hasKernels(from.Type) {
		return NotSupported
	}
	w := c.begin()
	v := w.rows(from, blas.T)
	w.pickTo(to.Offsets, v.Offsets, 0, v.Rows+1, 0, v.WideOffsets, int64(from.Base-v.OffsetBase))
	w.pickTo(to.Indices, v.Indices, 0, n, 0, v.WideIndices, int64(from.Base-v.Base))
	if numeric {
		w.move(to.Values, from.Values, v.Places, n, 0, 0, false, size)
	}
	return w.end()
}

// move copies values: from places of a list, or to them if scatter is set.
func (w *work) move(to, from, list uint64, n int64, wideList, base int32, scatter bool, size int64) {
	flag := int32(0)
	if scatter {
		flag = 1
	}
	w.structure("move", n, to, from, list, n, wideList, base, flag, int32(size))
}

// Identity writes 0, 1, 2, ...
func (c Call) Identity(n int64, to uint64) Status {
	if n < 0 || n > 0 && to == 0 {
		return InvalidValue
	}
	w := c.begin()
	w.structure("count", n, to, n)
	return w.end()
}

// Sort sorts the indices of a matrix in its own order: by rows in CSR and COO, by columns
// in CSC. Of COO sorted by columns, rows and columns are exchanged. places, if there are
// any, are numbers that move with the elements.
func (c Call) Sort(m *Matrix, places uint64) Status {
	n, major, minor := m.NNZ, m.Rows, m.Columns
	if m.Format == CSC {
		major, minor = minor, major
	}
	if n < 0 || m.Rows < 0 || m.Columns < 0 || m.Base&^1 != 0 || n > 0 && (m.Offsets == 0 || m.Indices == 0) {
		return InvalidValue
	}
	w := c.begin()
	var rows uint64
	base := int64(m.Base)
	if m.Format == COO {
		rows = w.pick(m.Offsets, 0, n, 0, -base)
	} else {
		rows = w.expand(view{Offsets: m.Offsets, OffsetBase: m.Base, Rows: major}, n)
	}
	sortedRows, sortedColumns, from := w.sortBoth(rows, w.pick(m.Indices, 0, n, 0, -base), n, major, minor)
	if m.Format == COO {
		w.pickTo(m.Offsets, sortedRows, 0, n, 0, 0, base)
	}
	w.pickTo(m.Indices, sortedColumns, 0, n, 0, 0, base)
	if places != 0 {
		w.pickTo(places, w.pick(places, 0, n, 0, 0), from, n, 0, 0, 0)
	}
	return w.end()
}
