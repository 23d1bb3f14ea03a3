package blas

import "fmt"

// This file: products of a matrix and a vector, systems with a single right side, and
// products of two vectors that are added to a matrix.

// hasMatrices reports whether there are kernels for matrices of a type.
func hasMatrices(t Type) bool { return t == F32 || t == F64 || t == C32 || t == C64 }

// scalars are alpha and beta, whose type may be another.
func (c Call) scalars(p *Problem, typeBeta Type) (alpha, beta Number, ok bool) {
	alpha, okA := c.Scalar(p.Alpha, p.Scalar)
	beta, okB := c.Scalar(p.Beta, typeBeta)
	return alpha, beta, okA && okB
}

// Gemv is y = alpha * op(A) * x + beta * y for a matrix of M rows and N columns: x is B, y
// is C. The type of y may be wider than that of f16 and bf16 operands.
func (c Call) Gemv(p Problem) Status {
	if !p.valid() || p.A.LD < max(1, p.M) || p.B.LD == 0 || p.C.LD == 0 {
		return InvalidValue
	}
	t, out := p.A.Type, p.C.Type
	half := t == F16 || t == BF16
	if t != p.B.Type || !(hasMatrices(t) && out == t || half && (out == t || out == F32)) {
		return NotSupported
	}
	if p.M == 0 || p.N == 0 || p.Batch == 0 {
		return Success
	}
	alpha, beta, ok := c.scalars(&p, p.Scalar)
	if !ok || p.A.At == 0 || p.B.At == 0 || p.C.At == 0 {
		return InvalidValue
	}
	if !p.fits() {
		return NotSupported
	}
	return c.gemv(&p, alpha, beta)
}

// gemv chooses the kernel: that for the largest groups of rows of which there is one for
// most SMs, our choice.
func (c Call) gemv(p *Problem, alpha, beta Number) Status {
	rows, columns := p.M, p.N // of op(A)
	if p.OpA != N {
		rows, columns = columns, rows
	}
	enough := func(size int64) bool { return 4*over(rows, size)*p.Batch >= 3*c.sms() }
	shape, size := "t32", int64(8)
	switch {
	case p.OpA != N && !enough(8):
		shape, size = "t256", 1
	case p.OpA != N:
	case enough(128):
		shape, size = "n128", 128
	case enough(32):
		shape, size = "n32", 32
	default:
		shape, size = "n8", 8
	}
	in := types[p.A.Type].name
	k := task{
		M: int32(rows), N: int32(columns), Alpha: alpha, Beta: beta,
		A: p.A.general(p.OpA), B: p.B.vector(columns), C: p.C.vector(rows),
	}
	return c.start("matvec_"+in, fmt.Sprintf("gemv_%s_%s_%s", shape, in, types[p.C.Type].name), k, over(rows, size), p.Batch, 256)
}

// structured launches the kernels for matrices with a structure.
func (c Call) structured(t Type, k task, batch int64) Status {
	name := types[t].name
	if k.A.Transposed == 0 {
		return c.start("matvec_"+name, "structured_n_"+name, k, over(int64(k.M), 32), batch, 256)
	}
	return c.start("matvec_"+name, "structured_t_"+name, k, over(int64(k.M), 8), batch, 256)
}

// Mv is y = alpha * op(A) * x + beta * y: for a general matrix with KL and KU bands, or for
// a symmetric or Hermitian one of N rows, which is not transposed.
func (c Call) Mv(p Problem) Status {
	rows, columns := p.N, p.N
	ok := p.valid() && p.B.LD != 0 && p.C.LD != 0
	if p.Kind == General {
		ok = ok && p.A.LD > p.KL+p.KU
		rows = p.M
	} else {
		ok = ok && p.stores(&p.A, p.N)
	}
	if !ok {
		return InvalidValue
	}
	if !hasMatrices(p.A.Type) {
		return NotSupported
	}
	if rows == 0 || columns == 0 {
		return Success
	}
	alpha, beta, ok := c.scalars(&p, p.Scalar)
	if !ok || p.A.At == 0 || p.B.At == 0 || p.C.At == 0 {
		return InvalidValue
	}
	if !p.fits() {
		return NotSupported
	}
	k := task{Alpha: alpha, Beta: beta}
	if p.Kind == General {
		k.A = p.A.general(p.OpA)
		k.A.bands(p.KU, p.KL, p.KU)
		if p.OpA != N {
			rows, columns = columns, rows
		}
	} else {
		k.A = p.A.square(p.N, p.K, p.Kind, p.Storage, p.Fill, NonUnit, N)
	}
	k.M, k.N, k.B, k.C = int32(rows), int32(columns), p.B.vector(columns), p.C.vector(rows)
	return c.structured(p.A.Type, k, 1)
}

// triangular checks the arguments of Trmv and Trsv.
func (p *Problem) triangular() (s Status, done bool) {
	switch {
	case !p.valid() || !p.stores(&p.A, p.N) || p.C.LD == 0:
		return InvalidValue, true
	case !hasMatrices(p.A.Type):
		return NotSupported, true
	case p.N == 0:
		return Success, true
	case p.A.At == 0 || p.C.At == 0:
		return InvalidValue, true
	case !p.fits():
		return NotSupported, true
	}
	return Success, false
}

// Trmv is x = op(A) * x for triangular A of N rows: x is C.
func (c Call) Trmv(p Problem) Status {
	if s, done := p.triangular(); done {
		return s
	}
	// The product reads all of x before it is overwritten: from a copy.
	return c.Scratch(Bytes(p.N, p.C.Type.Size()), func(at uint64) Status {
		x := p.C
		old := Matrix{At: at, Type: x.Type, LD: 1}
		move := Problem{N: p.N, A: x, C: old}
		if x.LD < 0 { // a copy of elements in the order of memory
			move.A.LD, old.LD = -x.LD, -1
		}
		if s := c.elementwise("copy", &move, Number{}, Number{}); s != Success {
			return s
		}
		k := task{
			M: int32(p.N), N: int32(p.N), Alpha: Constant(1),
			A: p.A.square(p.N, p.K, Triangular, p.Storage, p.Fill, p.Diag, p.OpA), B: old.vector(p.N), C: x.vector(p.N),
		}
		return c.structured(p.A.Type, k, 1)
	})
}

// Trsv solves op(A) * x = b for triangular A of N rows: C is b, and becomes x.
func (c Call) Trsv(p Problem) Status {
	if s, done := p.triangular(); done {
		return s
	}
	a := p.A.square(p.N, p.K, Triangular, p.Storage, p.Fill, p.Diag, p.OpA)
	return c.solve(p.C.Type, a, p.C.vector(p.N), (p.Fill == Lower) == (p.OpA == N), p.N, 1, 1, Constant(1))
}

// Flags of kernels.
const (
	conjugateFlag int32 = 1
	bothFlag      int32 = 2
)

// Rank adds alpha * x * op(y) to C, of M rows and N columns: x is A, y is B, and op is C or
// T. If C is symmetric or Hermitian, of N rows, one triangle is computed, and with Both the
// product of y and x is added too.
func (c Call) Rank(p Problem) Status {
	if p.Kind != General {
		p.M = p.N
	}
	if !p.valid() || p.A.LD == 0 || p.B.LD == 0 || !p.stores(&p.C, p.M) {
		return InvalidValue
	}
	if !hasMatrices(p.C.Type) {
		return NotSupported
	}
	if p.M == 0 || p.N == 0 {
		return Success
	}
	alpha, ok := c.Scalar(p.Alpha, p.Scalar)
	if !ok || p.A.At == 0 || p.B.At == 0 || p.C.At == 0 {
		return InvalidValue
	}
	if alpha == (Number{}) { // nothing is added, however large C is
		return Success
	}
	if !p.fits() {
		return NotSupported
	}
	name := types[p.C.Type].name
	k := task{M: int32(p.M), N: int32(p.N), Alpha: alpha, A: p.A.vector(p.M), B: p.B.vector(p.N), C: p.C.general(N)}
	if p.Kind != General {
		k.C = p.C.square(p.N, 0, p.Kind, p.Storage, p.Fill, NonUnit, N)
	}
	k.Flags = flag(p.OpB == C || p.Kind == Hermitian)*conjugateFlag | flag(p.Both)*bothFlag
	return c.tiled("matvec_"+name, "rank_"+name, k, elementTile, 1, func(k *task, column int64) bool {
		k.B.elements(column)
		return k.C.columns(column)
	})
}
