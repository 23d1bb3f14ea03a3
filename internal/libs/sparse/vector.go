package sparse

import "github.com/heddle-sim/heddle/internal/libs/blas"

// This file: sparse and dense vectors. The indices of a sparse one differ from each other.

// pair checks a sparse and a dense vector.
func pair(x *Sparse, y *Vector) Status {
	if x == nil || y == nil || x.Size != y.Rows || x.NNZ > 0 && (x.Indices == 0 || x.Values == 0) {
		return InvalidValue
	}
	if x.Type != y.Type || !x.IndexType.valid() {
		return NotSupported
	}
	return Success
}

// both are two vectors as the kernels take them.
func both(x *Sparse, y *Vector) problem {
	p := problem{A: view{Indices: x.Indices, Values: x.Values, WideIndices: x.IndexType.wide(), Base: x.Base}, N: x.NNZ}
	p.Y, _, _ = y.after(blas.N)
	return p
}

// Axpby is y = alpha * x + beta * y.
func (c Call) Axpby(alpha uint64, x *Sparse, beta uint64, y *Vector) Status {
	s := pair(x, y)
	if s != Success {
		return s
	}
	p := both(x, y)
	if p.Alpha, p.Beta, s = c.scalars(alpha, beta, sum(x.Type)); s != Success {
		return s
	}
	w := c.begin()
	all := p
	all.N = y.Rows
	w.values("scale", x.Type, all.N, all)
	w.values("axpy", x.Type, p.N, p)
	return w.end()
}

// Gather copies the elements of y that x has to x.
func (c Call) Gather(y *Vector, x *Sparse) Status { return c.moveVector(x, y, false) }

// Scatter copies the elements of x to y.
func (c Call) Scatter(x *Sparse, y *Vector) Status { return c.moveVector(x, y, true) }

func (c Call) moveVector(x *Sparse, y *Vector, scatter bool) Status {
	if s := pair(x, y); s != Success {
		return s
	}
	w := c.begin()
	to, from := x.Values, y.Values
	if scatter {
		to, from = from, to
	}
	w.move(to, from, x.Indices, x.NNZ, x.IndexType.wide(), x.Base, scatter, x.Type.Size())
	return w.end()
}

// Rotate is Rot: x becomes c * x + s * y, and y becomes c * y - s * x.
func (c Call) Rotate(cosine, sine uint64, x *Sparse, y *Vector) Status {
	s := pair(x, y)
	if s != Success {
		return s
	}
	p := both(x, y)
	if p.Alpha, p.Beta, s = c.scalars(cosine, sine, sum(x.Type)); s != Success {
		return s
	}
	w := c.begin()
	w.values("rotate", x.Type, p.N, p)
	return w.end()
}

// Dot is SpVV: the sum of the products of elements, those of x conjugated if op is C. With a
// buffer of the program, it can be captured.
func (c Call) Dot(op Op, x *Sparse, y *Vector, result, buffer uint64, compute Type) Status {
	s := pair(x, y)
	switch {
	case s != Success:
		return s
	case result == 0 || !validOps(op):
		return InvalidValue
	case compute != sum(x.Type):
		return NotSupported
	}
	w := c.begin()
	p := both(x, y)
	if op == blas.C {
		p.A.Conjugated = 1
	}
	p.To = result
	if c.Pointers == blas.OnHost {
		if p.To = buffer; buffer == 0 {
			p.To = w.alloc(1, compute.Size())
		}
	}
	w.blocks("values_"+names[x.Type], "dot_"+names[x.Type], 1, 1, threads, p)
	if c.Pointers == blas.OnHost {
		w.give(result, p.To, compute.Size())
	}
	return w.end()
}
