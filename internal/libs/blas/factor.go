package blas

import "github.com/heddle-sim/heddle/internal/work/cuda"

// This file: factors, solutions and inverses of the matrices of a batch, all square but
// those of QR. Pivots count from 1; info is one number for each matrix, 0 or the first row,
// from 1, whose element on the diagonal is zero.

// Factor is what these functions are given.
type Factor struct {
	Op     Op
	M, N   int64
	A, C   Matrix // A is what is read, C what is factored, solved for or inverted
	Pivots uint64 // 0 without pivoting
	Info   uint64
	Batch  int64
}

// valid checks the arguments that all have: C has M rows, and A has rows.
func (f *Factor) valid(rows int64) Status {
	switch {
	case !f.Op.valid() || f.M < 0 || f.N < 0 || f.Batch < 0 || f.A.LD < max(1, rows) || f.C.LD < max(1, f.M):
		return InvalidValue
	case !hasMatrices(f.C.Type):
		return NotSupported
	case f.M == 0 || f.N == 0 || f.Batch == 0:
		return Success
	case f.A.At == 0 || f.C.At == 0:
		return InvalidValue
	}
	p := Problem{M: f.M, N: f.N, Batch: f.Batch, A: f.A, C: f.C}
	if !p.fits() {
		return NotSupported
	}
	return Success
}

func (f *Factor) empty() bool { return f.M == 0 || f.N == 0 || f.Batch == 0 }

// each launches a kernel with a block for each matrix.
func (c Call) each(kernel string, f *Factor, args ...any) Status {
	name := types[f.C.Type].name
	k := task{M: int32(f.M), N: int32(f.N), A: f.A.general(N), C: f.C.general(N)}
	grid := cuda.Dim3{X: uint32(f.Batch), Y: 1, Z: 1}
	return c.launch("factor_"+name, kernel+"_"+name, grid, cuda.Dim3{X: 256, Y: 1, Z: 1}, 0, append([]any{k}, args...)...)
}

// Getrf factors C, of N rows and columns, in place: P * C = L * U.
func (c Call) Getrf(f Factor) Status {
	f.M, f.A = f.N, f.C
	if s := f.valid(f.N); s != Success || f.empty() {
		return s
	}
	if f.Info == 0 {
		return InvalidValue
	}
	return c.each("lu", &f, f.Pivots, f.Info)
}

// permute exchanges the rows of C by pivots, or back.
func (c Call) permute(f *Factor, back bool) Status {
	if f.Pivots == 0 {
		return Success
	}
	name := types[f.C.Type].name
	k := task{M: int32(f.M), N: int32(f.N), Flags: flag(back), C: f.C.general(N)}
	for p := range Parts(1, 1, f.Batch) {
		k.First = int32(p.First)
		grid := cuda.Dim3{X: uint32(over(f.N, 256)), Y: 1, Z: uint32(p.Members)}
		if s := c.launch("factor_"+name, "permute_"+name, grid, cuda.Dim3{X: 256, Y: 1, Z: 1}, 0, k, f.Pivots); s != Success {
			return s
		}
	}
	return Success
}

// Getrs solves op(A) * X = C, of M rows and N columns, where A was factored by Getrf, and
// stores X at C.
func (c Call) Getrs(f Factor) Status {
	if s := f.valid(f.M); s != Success || f.empty() {
		return s
	}
	half := func(fill Fill, diag Diag) Status {
		p := Problem{Fill: fill, Diag: diag, OpA: f.Op, M: f.M, N: f.N, A: f.A, C: f.C, Batch: f.Batch}
		return c.trsm(&p, Constant(1))
	}
	steps := []func() Status{
		func() Status { return c.permute(&f, false) },
		func() Status { return half(Lower, Unit) },
		func() Status { return half(Upper, NonUnit) },
	}
	if f.Op != N { // backwards
		steps[0], steps[2] = steps[2], func() Status { return c.permute(&f, true) }
	}
	for _, step := range steps {
		if s := step(); s != Success {
			return s
		}
	}
	return Success
}

// Getri inverts A, of N rows and columns, which was factored by Getrf, and stores the
// inverse at C.
func (c Call) Getri(f Factor) Status {
	f.M = f.N
	if s := f.valid(f.N); s != Success || f.empty() {
		return s
	}
	if f.Info == 0 {
		return InvalidValue
	}
	if s := c.each("unit", &f, f.Info); s != Success {
		return s
	}
	f.Op = N
	return c.Getrs(f)
}

// mostInverse is the size up to which Matinv works, as documented.
const mostInverse = 32

// Matinv inverts A, of N rows and columns, and stores the inverse at C.
func (c Call) Matinv(f Factor) Status {
	f.M = f.N
	if f.N > mostInverse {
		return InvalidValue
	}
	if s := f.valid(f.N); s != Success || f.empty() {
		return s
	}
	if f.Info == 0 {
		return InvalidValue
	}
	size := f.N * f.N * f.C.Type.Size()
	pivots := (f.N*f.Batch*4 + 255) / 256 * 256
	return c.Scratch(pivots+Bytes(f.Batch, size), func(at uint64) Status {
		lu := f
		lu.Pivots = at
		lu.C = Matrix{At: at + uint64(pivots), Type: f.C.Type, LD: f.N, Stride: f.N * f.N}
		copyA := Problem{M: f.N, N: f.N, Batch: f.Batch, C: lu.C}
		if s := c.tiles("move", &copyA, task{A: f.A.general(N), C: lu.C.general(N)}); s != Success {
			return s
		}
		if s := c.Getrf(lu); s != Success {
			return s
		}
		inverse := f
		inverse.A, inverse.Pivots = lu.C, lu.Pivots
		return c.Getri(inverse)
	})
}

// Geqrf factors C, of M rows and N columns, in place: C = Q * R, where Q is a product of
// reflections, whose factors are stored at A.
func (c Call) Geqrf(f Factor) Status {
	f.A.LD = max(1, f.M)
	if s := f.valid(f.M); s != Success || f.empty() {
		return s
	}
	return c.each("qr", &f)
}
