package sparse

import (
	"math"

	"github.com/heddle-sim/heddle/internal/libs/blas"
)

// Type is the type of a value (cudaDataType), Op an operation, as in cuBLAS.
type (
	Type = blas.Type
	Op   = blas.Op
)

// Format is that of a sparse matrix (cusparseFormat_t).
type Format int32

// The formats.
const (
	CSR Format = 1
	CSC Format = 2
	COO Format = 3
)

// IndexType is the type of an index (cusparseIndexType_t).
type IndexType int32

// The types. Those of 32 and 64 bits have kernels.
const (
	Index16 IndexType = 1
	Index32 IndexType = 2
	Index64 IndexType = 3
)

func (t IndexType) valid() bool { return t == Index32 || t == Index64 }
func (t IndexType) wide() int32 { return int32(t - Index32) }
func (t IndexType) size() int64 { return 4 << t.wide() }

// Order is the order of a dense matrix (cusparseOrder_t).
type Order int32

// The orders.
const (
	ColumnMajor Order = 1
	RowMajor    Order = 2
)

// Matrix is what a cusparseSpMatDescr_t stands for. Of a matrix in COO, Offsets are its row
// indices.
type Matrix struct {
	Format                   Format
	Rows, Columns, NNZ       int64
	Offsets, Indices, Values uint64
	OffsetType, IndexType    IndexType
	Base                     int32
	Type                     Type
	Fill                     blas.Fill
	Diag                     blas.Diag
	Batch                    int64
	OffsetStride, Stride     int64 // from one of a batch to the next, in elements
}

// hasKernels reports whether there are kernels for values of a type.
func hasKernels(t Type) bool { return exact(t) || t == blas.F16 || t == blas.BF16 }

// exact reports whether a type is also that of sums.
func exact(t Type) bool { return t == blas.F32 || t == blas.F64 || t == blas.C32 || t == blas.C64 }

// fits reports whether kernels, which number elements with 31 bits, can address all.
func fits(sizes ...int64) bool {
	for _, n := range sizes {
		if n < 0 || n >= math.MaxInt32 {
			return false
		}
	}
	return true
}

// NewMatrix makes a descriptor.
func NewMatrix(m Matrix) (uint64, Status) {
	switch {
	case m.Rows < 0 || m.Columns < 0 || m.NNZ < 0 || m.Base&^1 != 0:
		return 0, InvalidValue
	case m.Rows > 0 && m.Columns > 0 && m.NNZ/m.Rows > m.Columns:
		return 0, InvalidValue
	case m.NNZ > 0 && m.Format == COO && (m.Offsets == 0 || m.Indices == 0):
		return 0, InvalidValue
	case !m.OffsetType.valid() || !m.IndexType.valid() || !hasKernels(m.Type) || !fits(m.Rows, m.Columns, m.NNZ):
		return 0, NotSupported
	}
	m.Batch = 1
	return add(m), Success
}

// SetPointers replaces the arrays of a matrix in a format.
func (m *Matrix) SetPointers(f Format, offsets, indices, values uint64) Status {
	if m.Format != f || m.NNZ > 0 && (offsets == 0 || indices == 0 || values == 0) {
		return InvalidValue
	}
	m.Offsets, m.Indices, m.Values = offsets, indices, values
	return Success
}

// SetBatch makes a matrix a batch, with strides from one to the next: that of offsets, and
// that of indices and values. It is 0 for an array that all share.
func (m *Matrix) SetBatch(f Format, n, offsets, values int64) Status {
	if m.Format != f || n < 1 || offsets < 0 || values < 0 {
		return InvalidValue
	}
	m.Batch, m.OffsetStride, m.Stride = n, offsets, values
	return Success
}

// Attributes of a matrix (cusparseSpMatAttribute_t).
const (
	fillAttribute int32 = 0
	diagAttribute int32 = 1
)

// Attribute is the value of an attribute.
func (m *Matrix) Attribute(which int32) (v int32, s Status) {
	switch which {
	case fillAttribute:
		return int32(m.Fill), Success
	case diagAttribute:
		return int32(m.Diag), Success
	}
	return 0, InvalidValue
}

// SetAttribute sets an attribute.
func (m *Matrix) SetAttribute(which, v int32) Status {
	switch {
	case v&^1 != 0 || which&^1 != 0:
		return InvalidValue
	case which == fillAttribute:
		m.Fill = blas.Fill(v)
	case which == diagAttribute:
		m.Diag = blas.Diag(v)
	}
	return Success
}

// readable reports whether a matrix has the arrays of its elements. A descriptor may be made
// before they exist.
func (m *Matrix) readable() bool {
	major := m.Rows
	switch m.Format {
	case CSC:
		major = m.Columns
	case COO:
		major = 0
	}
	return (m.Offsets != 0 || m.NNZ == 0 && major == 0) && (m.NNZ == 0 || m.Indices != 0 && m.Values != 0)
}

// member is a matrix of a batch.
func (m *Matrix) member(i int64) *Matrix {
	one := *m
	if m.Batch > 1 {
		offsets, indices := m.OffsetStride, m.Stride
		if m.Format == COO {
			offsets = m.Stride
		}
		one.Offsets += uint64(i * offsets * m.OffsetType.size())
		one.Indices += uint64(i * indices * m.IndexType.size())
		one.Values += uint64(i * m.Stride * m.Type.Size())
	}
	one.Batch = 1
	return &one
}

// Dense is what a cusparseDnMatDescr_t or a cusparseDnVecDescr_t stands for: a vector has
// one column.
type Dense struct {
	Rows, Columns, LD int64
	Values            uint64
	Type              Type
	Order             Order
	Batch, Stride     int64
}

// Vector is a dense vector.
type Vector struct{ Dense }

// NewDense makes the descriptor of a matrix.
func NewDense(d Dense) (uint64, Status) {
	least := d.Rows
	if d.Order == RowMajor {
		least = d.Columns
	}
	switch {
	case d.Rows < 0 || d.Columns < 0 || d.LD < least || d.Order != RowMajor && d.Order != ColumnMajor:
		return 0, InvalidValue
	case d.Rows > 0 && d.Columns > 0 && d.Values == 0:
		return 0, InvalidValue
	case !hasKernels(d.Type) || !fits(d.Rows, d.Columns, d.LD):
		return 0, NotSupported
	}
	d.Batch = 1
	return add(d), Success
}

// NewVector makes the descriptor of a dense vector.
func NewVector(n int64, values uint64, t Type) (uint64, Status) {
	switch {
	case n < 0 || n > 0 && values == 0:
		return 0, InvalidValue
	case !hasKernels(t) || !fits(n):
		return 0, NotSupported
	}
	return add(Vector{column(n, values, t)}), Success
}

// column is a dense vector.
func column(n int64, values uint64, t Type) Dense {
	return Dense{Rows: n, Columns: 1, LD: n, Values: values, Type: t, Order: ColumnMajor, Batch: 1}
}

// SetBatch makes a matrix a batch.
func (d *Dense) SetBatch(n, stride int64) Status {
	if n < 1 || stride < 0 {
		return InvalidValue
	}
	d.Batch, d.Stride = n, stride
	return Success
}

// Sparse is what a cusparseSpVecDescr_t stands for.
type Sparse struct {
	Size, NNZ       int64
	Indices, Values uint64
	IndexType       IndexType
	Base            int32
	Type            Type
}

// NewSparse makes the descriptor of a sparse vector. Its arrays need not exist yet.
func NewSparse(v Sparse) (uint64, Status) {
	switch {
	case v.Size < 0 || v.NNZ < 0 || v.NNZ > v.Size || v.Base&^1 != 0:
		return 0, InvalidValue
	case !v.IndexType.valid() && v.IndexType != Index16 || !hasKernels(v.Type) || !fits(v.Size, v.NNZ):
		return 0, NotSupported
	}
	return add(v), Success
}

// Legacy is what a cusparseMatDescr_t stands for.
type Legacy struct{ Type, Fill, Diag, Base int32 }

// NewLegacy makes one.
func NewLegacy() uint64 { return add(Legacy{}) }
