package blas

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: products of matrices with a structure, and what is done to the elements of
// matrices one by one.

// productShapes are the tiles of the kernels.
var productShapes = []shape{{64, 64, 256, 0, 1}, {32, 32, 256, 0, 0.7}}

// structuredProduct launches the kernel for C = alpha * A * B + beta * C.
func (c Call) structuredProduct(p *Problem, k task) Status {
	name := types[p.C.Type].name
	tile := c.choose(productShapes, int64(k.M), int64(k.N), 1)
	return c.tiled("structured_"+name, fmt.Sprintf("product_%s_%s", tile, name), k, tile, 1, func(k *task, column int64) bool {
		return k.B.columns(column) && k.C.columns(column)
	})
}

// operands checks what all products here need: a type with kernels, scalars, and places.
func (c Call) operands(p *Problem, typeBeta Type) (alpha, beta Number, s Status) {
	if !hasMatrices(p.C.Type) || p.A.Type != p.C.Type || p.B.Type != p.C.Type {
		return alpha, beta, NotSupported
	}
	alpha, beta, ok := c.scalars(p, typeBeta)
	if !ok || p.A.At == 0 || p.B.At == 0 || p.C.At == 0 {
		return alpha, beta, InvalidValue
	}
	if !p.fits() {
		return alpha, beta, NotSupported
	}
	return alpha, beta, Success
}

// Symm is C = alpha * A * B + beta * C, or with B on the left of A, for symmetric or
// Hermitian A. C has M rows and N columns.
func (c Call) Symm(p Problem) Status {
	n := p.M
	if p.Side == Right {
		n = p.N
	}
	if !p.valid() || p.A.LD < max(1, n) || p.B.LD < max(1, p.M) || p.C.LD < max(1, p.M) {
		return InvalidValue
	}
	if p.M == 0 || p.N == 0 {
		return Success
	}
	alpha, beta, s := c.operands(&p, p.Scalar)
	if s != Success {
		return s
	}
	a, b := p.A.square(n, 0, p.Kind, Dense, p.Fill, NonUnit, N), p.B.general(N)
	if p.Side == Right {
		a, b = b, a
	}
	return c.structuredProduct(&p, task{M: int32(p.M), N: int32(p.N), K: int32(n), Alpha: alpha, Beta: beta, A: a, B: b, C: p.C.general(N)})
}

// Trmm is C = alpha * op(A) * B, or with B on the left of A, for triangular A. C has M rows
// and N columns, and may be B.
func (c Call) Trmm(p Problem) Status {
	n := p.M
	if p.Side == Right {
		n = p.N
	}
	if !p.valid() || p.A.LD < max(1, n) || p.B.LD < max(1, p.M) || p.C.LD < max(1, p.M) {
		return InvalidValue
	}
	if p.M == 0 || p.N == 0 {
		return Success
	}
	p.Beta = p.Alpha // there is none
	alpha, _, s := c.operands(&p, p.Scalar)
	if s != Success {
		return s
	}
	multiply := func(b operand) Status {
		a := p.A.square(n, 0, Triangular, Dense, p.Fill, p.Diag, p.OpA)
		if p.Side == Right {
			a, b = b, a
		}
		return c.structuredProduct(&p, task{M: int32(p.M), N: int32(p.N), K: int32(n), Alpha: alpha, A: a, B: b, C: p.C.general(N)})
	}
	if p.B.At != p.C.At {
		return multiply(p.B.general(N))
	}
	// The product reads all of B before it is overwritten: from a copy.
	size := p.B.Type.Size()
	return c.Scratch(Bytes(p.M, p.N, size), func(at uint64) Status {
		width := uint64(p.M * size)
		rows := cuda.Rows{Width: width, Height: uint64(p.N), Depth: 1, SrcPitch: uint64(p.B.LD * size), DstPitch: width}
		if err := c.t.CopyRows(at, p.B.At, rows, cuda.DeviceToDevice, c.Stream, true); err != cuda.Success {
			return StatusOf(err)
		}
		old := Matrix{At: at, Type: p.B.Type, LD: p.M}
		return multiply(old.general(N))
	})
}

// RankK is C = alpha * op(A) * op(B)^T + beta * C for a triangle of symmetric C of N rows,
// where the sums have K terms; with Both, the product of B and A is added. For Hermitian C
// what is transposed is conjugated.
func (c Call) RankK(p Problem) Status {
	rows := p.N
	if p.OpA != N {
		rows = p.K
	}
	if !p.valid() || p.A.LD < max(1, rows) || p.B.LD < max(1, rows) || p.C.LD < max(1, p.N) {
		return InvalidValue
	}
	if p.Kind == Hermitian && p.OpA == T || p.Kind == Symmetric && p.OpA == C && p.C.Type.Complex() {
		return InvalidValue
	}
	if p.N == 0 {
		return Success
	}
	if p.K == 0 { // only beta matters
		p.A.At, p.B.At = p.C.At, p.C.At
	}
	typeBeta := p.Scalar
	if p.Kind == Hermitian { // real, also where alpha is not
		typeBeta = typeBeta.part()
	}
	alpha, beta, s := c.operands(&p, typeBeta)
	if s != Success {
		return s
	}
	a, b := p.A.general(p.OpA), p.B.general(p.OpA)
	b.Transposed ^= 1
	if p.Kind == Hermitian {
		b.Conjugated ^= 1
	}
	k := task{M: int32(p.N), N: int32(p.N), K: int32(p.K), Alpha: alpha, Beta: beta, A: a, B: b}
	k.C = p.C.square(p.N, 0, p.Kind, Dense, p.Fill, NonUnit, N)
	k.Flags = flag(p.Kind == Hermitian)*conjugateFlag | flag(p.Both)*bothFlag
	return c.structuredProduct(&p, k)
}

// elementTile is the tile of kernels that change elements one by one.
var elementTile = shape{m: 32, n: 32, threads: 256}

// tiles launches a kernel that changes elements one by one.
func (c Call) tiles(kernel string, p *Problem, k task) Status {
	k.M, k.N = int32(p.M), int32(p.N)
	name := types[p.C.Type].name
	return c.tiled("structured_"+name, kernel+"_"+name, k, elementTile, max(1, p.Batch), func(k *task, column int64) bool {
		if kernel != "scale" {
			return k.A.columns(column) && k.B.columns(column) && k.C.columns(column)
		}
		if p.Side == Right { // B is the diagonal
			k.B.elements(column)
		}
		return k.A.columns(column) && k.C.columns(column)
	})
}

// Geam is C = alpha * op(A) + beta * op(B), of M rows and N columns. C may be A or B if
// that is not transposed.
func (c Call) Geam(p Problem) Status {
	rows := func(op Op) int64 {
		if op == N {
			return p.M
		}
		return p.N
	}
	if !p.valid() || p.A.LD < max(1, rows(p.OpA)) || p.B.LD < max(1, rows(p.OpB)) || p.C.LD < max(1, p.M) ||
		p.C.At == p.A.At && (p.OpA != N || p.C.LD != p.A.LD) && p.A.At != 0 || p.C.At == p.B.At && (p.OpB != N || p.C.LD != p.B.LD) && p.B.At != 0 {
		return InvalidValue
	}
	if !hasMatrices(p.C.Type) {
		return NotSupported
	}
	if p.M == 0 || p.N == 0 {
		return Success
	}
	alpha, beta, ok := c.scalars(&p, p.Scalar)
	// An operand whose factor is zero need not exist.
	if !ok || p.C.At == 0 || p.A.At == 0 && alpha != (Number{}) || p.B.At == 0 && beta != (Number{}) {
		return InvalidValue
	}
	if !p.fits() {
		return NotSupported
	}
	return c.tiles("add", &p, task{Alpha: alpha, Beta: beta, A: p.A.general(p.OpA), B: p.B.general(p.OpB), C: p.C.general(N)})
}

// Dgmm multiplies the rows of A, on the left, or its columns by the elements of a vector,
// which is B.
func (c Call) Dgmm(p Problem) Status {
	if !p.valid() || p.A.LD < max(1, p.M) || p.C.LD < max(1, p.M) {
		return InvalidValue
	}
	if !hasMatrices(p.C.Type) {
		return NotSupported
	}
	if p.M == 0 || p.N == 0 {
		return Success
	}
	if p.A.At == 0 || p.B.At == 0 || p.C.At == 0 {
		return InvalidValue
	}
	if !p.fits() {
		return NotSupported
	}
	n := p.M
	if p.Side == Right {
		n = p.N
	}
	return c.tiles("scale", &p, task{Flags: flag(p.Side == Right), A: p.A.general(N), B: p.B.vector(n), C: p.C.general(N)})
}

// Pack copies a triangle of N rows from a matrix with all elements to packed columns, if
// Storage says that these are the result, or back.
func (c Call) Pack(p Problem) Status {
	from, to := Dense, Packed
	ld := p.A.LD
	if p.Storage == Dense {
		from, to, ld = to, from, p.C.LD
	}
	if !p.valid() || ld < max(1, p.N) {
		return InvalidValue
	}
	if !hasMatrices(p.C.Type) {
		return NotSupported
	}
	if p.N == 0 {
		return Success
	}
	if p.A.At == 0 || p.C.At == 0 {
		return InvalidValue
	}
	if !p.fits() {
		return NotSupported
	}
	p.M = p.N
	square := func(m *Matrix, s Storage) operand { return m.square(p.N, 0, Triangular, s, p.Fill, NonUnit, N) }
	return c.tiles("move", &p, task{A: square(&p.A, from), C: square(&p.C, to)})
}
