package sparse

import "github.com/heddle-sim/heddle/internal/libs/blas"

// This file: systems with a triangular matrix. A warp has a right side, and goes row by row.

// Solver is what a cusparseSpSVDescr_t or a cusparseSpSMDescr_t stands for.
type Solver struct {
	ready  bool
	values uint64 // instead of those of the matrix, 0: none
}

// NewSolver makes a descriptor.
func NewSolver() uint64 { return add(Solver{}) }

// System is op(A) * C = alpha * op(B): C is computed.
type System struct {
	OpA, OpB Op
	Alpha    uint64
	A        *Matrix
	B, C     *Dense
	Compute  Type
}

// Check checks the arguments of SpSV and SpSM.
func (p *System) Check() Status {
	if p.A == nil || p.B == nil || p.C == nil || p.Alpha == 0 || !validOps(p.OpA, p.OpB) {
		return InvalidValue
	}
	_, m, n := p.B.after(p.OpB)
	if p.A.Rows != p.A.Columns || p.A.Rows != m || p.C.Rows != m || p.C.Columns != n || !p.A.readable() {
		return InvalidValue
	}
	t := p.A.Type
	if t != p.B.Type || t != p.C.Type || t != p.Compute || !exact(t) || p.A.Batch > 1 {
		return NotSupported
	}
	return Success
}

// Prepare is the analysis.
func (s *Solver) Prepare(p System) Status {
	r := p.Check()
	if r == Success {
		*s = Solver{ready: true}
	}
	return r
}

// Replace is updateMatrix: further systems have other values. Diagonals alone are not
// replaced.
func (s *Solver) Replace(values uint64, part int32) Status {
	switch {
	case values == 0 || !s.ready || part&^1 != 0:
		return InvalidValue
	case part != 0:
		return NotSupported
	}
	s.values = values
	return Success
}

// Flags of the kernel solve.
const (
	upward int32 = 1
	ones   int32 = 2
)

// Solve solves a system after its analysis.
func (c Call) Solve(p System, with *Solver) Status {
	if s := p.Check(); s != Success {
		return s
	}
	if !with.ready {
		return InvalidValue
	}
	alpha, ok := c.Scalar(p.Alpha, p.Compute)
	if !ok {
		return InvalidValue
	}
	a := *p.A
	if with.values != 0 {
		a.Values = with.values
	}
	w := c.begin()
	t := problem{A: w.rows(&a, p.OpA), Alpha: alpha}
	t.X, _, t.N = p.B.after(p.OpB)
	t.Y, _, _ = p.C.after(blas.N)
	if (a.Fill == blas.Upper) != (p.OpA != blas.N) {
		t.Flags |= upward
	}
	if a.Diag == blas.Unit {
		t.Flags |= ones
	}
	if a.Rows > 0 {
		w.values("solve", a.Type, t.N*warp, t)
	}
	return w.end()
}
