package sparse

import (
	"encoding/binary"

	"github.com/heddle-sim/heddle/internal/libs"
	"github.com/heddle-sim/heddle/internal/libs/blas"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: incomplete factors, without new elements. One warp computes them row by row.

// Factors is what a csrilu02Info_t or a csric02Info_t stands for.
type Factors struct {
	libs.Memory
	pivot uint64 // where the first zero pivot is written, 0 before the analysis
}

// NewFactors makes a description.
func NewFactors(t *cuda.Thread) uint64 { return add(Factors{Memory: libs.NewMemory(t)}) }

// DestroyFactors ends one.
func DestroyFactors(t *cuda.Thread, handle uint64) Status {
	return destroy(t, handle, func(f *Factors) *libs.Memory { return &f.Memory })
}

// Prepare is the analysis, which finds the first row without a diagonal element.
func (c Call) Prepare(m *Matrix, f *Factors) Status {
	if m.Values == 0 || !m.csr() {
		return InvalidValue
	}
	if f.Lost(c.t) {
		return InvalidValue
	}
	if f.pivot == 0 {
		at, err := c.t.Malloc(4)
		if err != cuda.Success {
			return statusOf(err)
		}
		f.Hold(at)
		f.pivot = at
	}
	w := c.begin()
	w.blocks("structure", "diagonals", 1, 1, threads, w.rows(m, blas.N), f.pivot)
	return w.end()
}

// ILU computes L and U in place of a matrix. For it and for Cholesky, the
// columns of a row are in order.
func (c Call) ILU(m *Matrix, f *Factors) Status { return c.factor("ilu", m, f) }

// Cholesky computes L in place of the lower triangle of a Hermitian matrix.
func (c Call) Cholesky(m *Matrix, f *Factors) Status { return c.factor("cholesky", m, f) }

func (c Call) factor(kernel string, m *Matrix, f *Factors) Status {
	if m.Values == 0 || !m.csr() || f.pivot == 0 || f.Lost(c.t) {
		return InvalidValue
	}
	w := c.begin()
	w.blocks("values_"+names[m.Type], kernel+"_"+names[m.Type], 1, 1, warp, problem{A: w.rows(m, blas.N), Rows: f.pivot})
	return w.end()
}

// Pivot stores, where the handle says, the first row whose pivot is zero, or -1.
func (c Call) Pivot(f *Factors, to uint64) Status {
	if to == 0 || f.Lost(c.t) {
		return InvalidValue
	}
	b := binary.LittleEndian.AppendUint32(nil, ^uint32(0))
	if f.pivot != 0 {
		if err := c.t.Fetch(f.pivot, b, c.Stream); err != cuda.Success {
			return statusOf(err)
		}
	}
	w := c.begin()
	if c.Pointers == blas.OnHost {
		w.do(func() cuda.Error { return c.t.Write(to, b) })
	} else if f.pivot != 0 {
		w.give(to, f.pivot, 4)
	} else {
		w.do(func() cuda.Error {
			return c.t.Fill(to, 0xff, cuda.Rows{Width: 4, Height: 1, Depth: 1, DstPitch: 4, DstPlane: 4}, c.Stream)
		})
	}
	s := w.end()
	if s == Success && int32(binary.LittleEndian.Uint32(b)) >= 0 {
		return ZeroPivot
	}
	return s
}
