package blas

// solveRows is the size up to which one kernel solves for matrices; larger systems are
// halved, with a product in between. Our choice.
const solveRows = 64

// Trsm solves op(A) * X = alpha * B, or X * op(A) = alpha * B, for triangular A, and stores
// X, of M rows and N columns, at C, where B was.
func (c Call) Trsm(p Problem) Status {
	rows := p.M
	if p.Side == Right {
		rows = p.N
	}
	if !p.valid() || p.A.LD < max(1, rows) || p.C.LD < max(1, p.M) {
		return InvalidValue
	}
	if p.M == 0 || p.N == 0 || p.Batch == 0 {
		return Success
	}
	alpha, ok := c.Scalar(p.Alpha, p.C.Type)
	if !ok || p.A.At == 0 || p.C.At == 0 {
		return InvalidValue
	}
	if !p.fits() {
		return NotSupported
	}
	s := c.trsm(&p, alpha)
	if s == Success && alpha.At != 0 {
		// Where alpha is zero, X is too, whatever A is, which the products of halves read.
		s = c.tiles("clear", &p, task{Alpha: alpha, C: p.C.general(N)})
	}
	return s
}

// trsm is Trsm for valid arguments.
func (c Call) trsm(p *Problem, alpha Number) Status {
	rows, right := p.M, p.N
	if p.Side == Right {
		rows, right = right, rows
	}
	if rows > solveRows && !p.A.Listed && !p.C.Listed && alpha != (Number{}) {
		return c.trsmHalves(p, alpha, rows)
	}
	// The kernel knows unknowns on the right of lower triangular matrices.
	op := p.OpA
	lower := (p.Fill == Lower) == (op == N)
	x := p.C.general(N)
	if p.Side == Right {
		lower = !lower
		x.Transposed = 1
	}
	a := p.A.square(rows, 0, Triangular, Dense, p.Fill, p.Diag, op)
	if p.Side == Right {
		a.Transposed ^= 1
	}
	return c.solve(p.C.Type, a, x, lower, rows, right, p.Batch, alpha)
}

// solve launches the kernel for a triangle and unknowns.
func (c Call) solve(t Type, a, x operand, lower bool, rows, right, batch int64, alpha Number) Status {
	if !lower {
		a.Flip, x.Flip, x.N = flipRows|flipColumns, flipRows, int32(rows)
	}
	file := "solve_" + types[t].name
	k := task{M: int32(rows), N: int32(right), Alpha: alpha, A: a, C: x}
	if right == 1 {
		return c.start(file, file+"_column", k, 1, batch, 256)
	}
	return c.start(file, file, k, over(right, 32), batch, 256)
}

// trsmHalves solves for one half of the rows of op(A) (or of its columns), subtracts what
// this half contributes to the other, and solves for that.
func (c Call) trsmHalves(p *Problem, alpha Number, rows int64) Status {
	half := (rows/2 + solveRows - 1) / solveRows * solveRows
	left := p.Side == Left
	// The half that depends on nothing else is the first one of op(A) if that is lower
	// triangular and on the left, or upper triangular and on the right.
	firstHalf := ((p.Fill == Lower) == (p.OpA == N)) == left
	part := func(first, second int64, n int64) Problem {
		q := *p
		q.A = p.A.at(first, first)
		if left {
			q.M, q.C = n, p.C.at(first, 0)
		} else {
			q.N, q.C = n, p.C.at(0, first)
		}
		return q
	}
	one, two := part(0, 0, half), part(half, half, rows-half)
	from, to := int64(0), half // where the known and the unknown half begin
	if !firstHalf {
		one, two = two, one
		from, to = to, from
	}
	if s := c.trsm(&one, alpha); s != Success {
		return s
	}
	g := Gemm{M: two.M, N: two.N, Batch: p.Batch, C: two.C}
	row, col := to, from // of the block of op(A) that joins the halves
	if !left {
		row, col = col, row
	}
	if p.OpA != N {
		row, col = col, row
	}
	block := p.A.at(row, col)
	if left {
		g.OpA, g.A, g.B, g.K = p.OpA, block, one.C, one.M
	} else {
		g.A, g.OpB, g.B, g.K = one.C, p.OpA, block, one.N
	}
	if s := c.update(&g, Constant(-1), alpha); s != Success {
		return s
	}
	return c.trsm(&two, Constant(1))
}

// at is the part of a matrix that begins at an element.
func (m Matrix) at(row, col int64) Matrix {
	m.At += uint64((row + col*m.LD) * m.Type.Size())
	return m
}

// update is a product within another function, in the precision of the operands.
func (c Call) update(g *Gemm, alpha, beta Number) Status {
	t := g.C.Type
	return c.multiply(g, form{file: "gemm_" + types[t].name, scalar: t}, alpha, beta)
}
