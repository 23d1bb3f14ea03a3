package blas

import (
	"encoding/binary"
	"iter"
	"math"

	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// Side says on which side of a product the matrix with a structure is
// (cublasSideMode_t).
type Side int32

// The sides.
const (
	Left Side = iota
	Right
)

// Fill says which triangle of a matrix is stored (cublasFillMode_t).
type Fill int32

// The triangles.
const (
	Lower Fill = iota
	Upper
)

// Diag says whether the diagonal of a triangular matrix is stored, or all ones
// (cublasDiagType_t).
type Diag int32

// The diagonals.
const (
	NonUnit Diag = iota
	Unit
)

// Kind is the structure of a matrix.
type Kind int32

// The structures, as operand.cuh numbers them.
const (
	General Kind = iota
	Symmetric
	Hermitian
	Triangular
)

// Storage says how a matrix with a structure lies in memory.
type Storage int32

// The storages: with all elements, the bands beside the diagonal in the rows of a matrix,
// or the columns of a triangle without gaps.
const (
	Dense Storage = iota
	Banded
	Packed
)

// Problem is what all functions but the plain products are given. Of the operands and
// sizes, each function uses those that its comment names. The vectors among the operands
// have their increment as LD.
type Problem struct {
	Side        Side
	Kind        Kind
	Storage     Storage
	Fill        Fill
	Diag        Diag
	OpA, OpB    Op
	M, N, K     int64
	KL, KU      int64  // bands below and above the diagonal
	Alpha, Beta uint64 // addresses, where the context says
	Scalar      Type   // of alpha and beta
	A, B, C     Matrix
	Batch       int64
	Both        bool // the product with exchanged operands is added
}

// valid checks what every problem has.
func (p *Problem) valid() bool {
	return p.Side&^1 == 0 && p.Fill&^1 == 0 && p.Diag&^1 == 0 && p.OpA.valid() && p.OpB.valid() &&
		p.M >= 0 && p.N >= 0 && p.K >= 0 && p.KL >= 0 && p.KU >= 0 && p.Batch >= 0
}

// fits reports whether kernels, which count with 32 bits, can address all.
func (p *Problem) fits() bool {
	return max(p.M, p.N, p.K, p.KL, p.KU, p.Batch, p.A.LD, p.B.LD, p.C.LD) <= math.MaxInt32 && min(p.A.LD, p.B.LD, p.C.LD) >= -math.MaxInt32
}

// Number is the kernels' struct number: a scalar argument.
type Number struct {
	X, Y    float64
	At      uint64
	Type, _ int32
}

// Constant is a number that a library itself chooses.
func Constant(x float64) Number { return Number{X: x} }

// Scalar is alpha or beta, of a type, as kernels take it.
func (c Call) Scalar(addr uint64, t Type) (n Number, ok bool) {
	if addr == 0 || t == I8 || t.Size() == 0 {
		return n, false
	}
	if c.Pointers == OnDevice {
		return Number{At: addr, Type: int32(t)}, true
	}
	b := make([]byte, 16)
	if c.t.Read(addr, b[:t.Size()]) != cuda.Success {
		return n, false
	}
	le := binary.LittleEndian
	f32 := func(bits uint32) float64 { return float64(math.Float32frombits(bits)) }
	f64 := func(at int) float64 { return math.Float64frombits(le.Uint64(b[at:])) }
	switch t {
	case F16:
		n.X = f32(num.F16ToF32(le.Uint16(b)))
	case BF16:
		n.X = f32(uint32(le.Uint16(b)) << 16)
	case F32:
		n.X = f32(le.Uint32(b))
	case C32:
		n.X, n.Y = f32(le.Uint32(b)), f32(le.Uint32(b[4:]))
	case I32:
		n.X = float64(int32(le.Uint32(b)))
	case F64:
		n.X = f64(0)
	case C64:
		n.X, n.Y = f64(0), f64(8)
	}
	return n, true
}

// operand is the kernels' struct operand.
type operand struct {
	At                                            uint64
	Stride, Offset, LD                            int64
	Listed, Kind, Packed, Upper, Unit             int32
	Transposed, Conjugated, Flip, N, Below, Above int32
	_                                             int32
}

// How triangles are packed, and what is reversed, as operand.cuh numbers them.
const (
	packedLower int32 = 1
	packedUpper int32 = 2
)

const (
	flipRows    int32 = 1
	flipColumns int32 = 2
)

// general is a dense matrix with an operation.
func (m *Matrix) general(op Op) operand {
	return operand{
		At: m.At, Stride: m.Stride, LD: m.LD, Listed: flag(m.Listed), Transposed: flag(op != N), Conjugated: flag(op == C),
		Below: math.MaxInt32, Above: math.MaxInt32,
	}
}

// vector is a vector of n elements. With a negative increment it starts at its end, as in
// BLAS.
func (m *Matrix) vector(n int64) operand {
	v := m.general(T)
	if m.LD < 0 {
		v.Offset = (1 - n) * m.LD
	}
	return v
}

// square is a square matrix with a structure, of which one triangle is stored. With bands
// it has k of them beside the diagonal.
func (m *Matrix) square(n, k int64, kind Kind, storage Storage, fill Fill, diag Diag, op Op) operand {
	v := m.general(op)
	v.N, v.Kind, v.Upper, v.Unit = int32(n), int32(kind), flag(fill == Upper), flag(diag == Unit)
	switch {
	case storage == Banded && fill == Upper:
		v.bands(k, 0, k)
	case storage == Banded:
		v.bands(0, k, 0)
	case storage == Packed && fill == Upper:
		v.Packed = packedUpper
	case storage == Packed:
		v.Packed = packedLower
	}
	return v
}

// bands makes an operand one whose columns are diagonals: element (i, j) lies at row
// first + i - j of column j.
func (v *operand) bands(first, below, above int64) {
	v.Offset, v.LD = first, v.LD-1
	v.Below, v.Above = int32(below), int32(above)
}

// columns makes a dense matrix begin at a column. One with a structure, which has places
// relative to its diagonal, cannot; it would not fit in any memory either.
func (v *operand) columns(first int64) bool {
	switch {
	case first == 0:
	case v.Kind != int32(General):
		return false
	case v.Transposed != 0:
		v.Offset += first
	default:
		v.Offset += first * v.LD
	}
	return true
}

// elements makes a vector begin at an element.
func (v *operand) elements(first int64) { v.Offset += first * v.LD }

// stores reports whether the leading dimension of a square matrix fits its storage.
func (p *Problem) stores(m *Matrix, n int64) bool {
	switch p.Storage {
	case Banded:
		return m.LD > p.K
	case Packed:
		return true
	}
	return m.LD >= max(1, n)
}

// task is the kernels' struct task.
type task struct {
	M, N, K, First, Flags, More int32
	Alpha, Beta                 Number
	A, B, C                     operand
}

// start launches a kernel for a batch, with x blocks for each member.
func (c Call) start(file, kernel string, t task, x, batch, threads int64) Status {
	return c.grids(file, kernel, t, x, Parts(1, 1, batch), shape{n: 1, threads: threads}, nil)
}

// tiled launches a kernel for the tiles of N columns. move makes an operand, or several,
// begin at a column, and reports whether it can.
func (c Call) tiled(file, kernel string, t task, tile shape, batch int64, move func(t *task, column int64) bool) Status {
	return c.grids(file, kernel, t, over(int64(t.M), tile.m), Parts(int64(t.N), tile.n, batch), tile, move)
}

func (c Call) grids(file, kernel string, t task, x int64, parts iter.Seq[Part], tile shape, move func(t *task, column int64) bool) Status {
	if x == 0 {
		return Success
	}
	for p := range parts {
		k := t
		k.First = int32(p.First)
		if move != nil {
			k.N = int32(p.Columns)
			if !move(&k, p.Column) {
				return NotSupported
			}
		}
		grid := cuda.Dim3{X: uint32(x), Y: uint32(over(p.Columns, tile.n)), Z: uint32(p.Members)}
		if s := c.launch(file, kernel, grid, cuda.Dim3{X: uint32(tile.threads), Y: 1, Z: 1}, 0, k); s != Success {
			return s
		}
	}
	return Success
}

// Part is what one grid computes: columns of a result, for members of a batch.
type Part struct {
	Column, Columns int64
	First, Members  int64
}

// most is the largest extent of a grid in its second and third dimension.
const most = 65535

// Parts are the grids for n columns, in tiles of a width, and a batch.
func Parts(n, width, batch int64) iter.Seq[Part] {
	return func(yield func(Part) bool) {
		for column := int64(0); column < n; column += most * width {
			for first := int64(0); first < batch; first += most {
				if !yield(Part{column, min(most*width, n-column), first, min(most, batch-first)}) {
					return
				}
			}
		}
	}
}

// over is a quotient, rounded up.
func over(n, by int64) int64 { return (n + by - 1) / by }
