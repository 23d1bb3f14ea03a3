package blas

import (
	"math"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// Transfer copies a matrix of rows and columns between the host and the device. Elements
// have size bytes; ldFrom and ldTo are the elements from one column to the next.
func Transfer(t *cuda.Thread, kind cuda.Kind, rows, columns, size int64, from uint64, ldFrom int64, to uint64, ldTo int64, stream uint64, async bool) Status {
	if rows < 0 || columns < 0 || size <= 0 || ldFrom <= 0 || ldTo <= 0 || max(rows, ldFrom, ldTo) > math.MaxInt64/size/max(1, columns) {
		return InvalidValue
	}
	if rows == 0 || columns == 0 {
		return Success
	}
	r := cuda.Rows{Width: uint64(rows * size), Height: uint64(columns), Depth: 1, SrcPitch: uint64(ldFrom * size), DstPitch: uint64(ldTo * size)}
	if rows == ldFrom && rows == ldTo { // without gaps
		r = cuda.Rows{Width: uint64(rows * columns * size), Height: 1, Depth: 1, SrcPitch: uint64(rows * columns * size), DstPitch: uint64(rows * columns * size)}
	}
	if t.CopyRows(to, from, r, kind, stream, async) != cuda.Success {
		return MappingError
	}
	return Success
}
