package sparse

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/libs/blas"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// work is a call that launches kernels. After an error the rest does nothing.
type work struct {
	Call
	s    Status
	list []uint64 // working memory
}

// begin begins one.
func (c Call) begin() *work { return &work{Call: c} }

// do is the next step of a call.
func (w *work) do(f func() cuda.Error) {
	if w.s == Success {
		w.s = statusOf(f())
	}
}

// alloc is working memory until the call's end. A graph cannot have it.
func (w *work) alloc(n, size int64) (addr uint64) {
	if w.s == Success && w.captured() {
		w.s = NotSupported
	}
	w.do(func() (err cuda.Error) {
		if addr, err = w.t.MallocAsync(uint64(max(1, n)*size), 0, w.Stream); err == cuda.Success {
			w.list = append(w.list, addr)
		}
		return err
	})
	return addr
}

// captured reports whether the stream collects work for a graph.
func (w *work) captured() bool {
	info, err := w.t.CaptureInfo(w.Stream)
	return err == cuda.Success && info.Status != cuda.CaptureNone
}

// end frees the working memory, and returns the outcome.
func (w *work) end() Status {
	for _, addr := range w.list {
		if err := w.t.FreeAsync(addr, w.Stream); w.s == Success {
			w.s = statusOf(err)
		}
	}
	w.list = nil
	return w.s
}

// Sizes of the kernels' blocks.
const (
	threads     = 256
	scanThreads = 1024
	chunk       = 2048 // keys that a block sorts
	digits      = 16
	digitBits   = 4
	warp        = 32
	maxY        = 65535 // blocks of a grid
)

// launch starts a kernel with n threads, or with none if n is 0.
func (w *work) launch(file, kernel string, n, y int64, args ...any) {
	w.blocks(file, kernel, over(n, threads), y, threads, args...)
}

func (w *work) blocks(file, kernel string, x, y, threads int64, args ...any) {
	if x == 0 || y == 0 {
		return
	}
	if !fits(x) || y > maxY {
		w.s = NotSupported
	}
	w.do(func() cuda.Error {
		return w.t.LaunchOwn(kernels[file], kernel, cuda.Call{
			Grid: cuda.Dim3{X: uint32(x), Y: uint32(y), Z: 1}, Block: cuda.Dim3{X: uint32(threads), Y: 1, Z: 1}, Stream: w.Stream,
		}, args...)
	})
}

// structure starts one of the kernels for places.
func (w *work) structure(kernel string, n int64, args ...any) {
	w.launch("structure", kernel, n, 1, args...)
}

// over is a quotient, rounded up.
func over(n, by int64) int64 { return (n + by - 1) / by }

// view is the kernels' struct view.
type view struct {
	Offsets, Indices, Values, Places uint64
	Rows, Columns                    int64
	WideOffsets, WideIndices         int32
	OffsetBase, Base, Conjugated, _  int32
}

// wide says that numbers have 64 bits.
const wide = 1

// rows is a matrix by rows after an operation.
func (w *work) rows(m *Matrix, op Op) view {
	v := view{
		Offsets: m.Offsets, Indices: m.Indices, Values: m.Values, Rows: m.Rows, Columns: m.Columns,
		WideOffsets: m.OffsetType.wide(), WideIndices: m.IndexType.wide(), OffsetBase: m.Base, Base: m.Base,
	}
	turn := op != blas.N
	if m.Format == CSC { // the rows of its transposition
		turn = !turn
		v.Rows, v.Columns = v.Columns, v.Rows
	}
	switch {
	case m.Format == COO && turn:
		v = w.transpose(v, m.NNZ, func() uint64 { return w.pick(m.Offsets, 0, m.NNZ, v.WideOffsets, -int64(m.Base)) })
	case m.Format == COO:
		v.Offsets = w.compress(m.Offsets, m.NNZ, v.WideOffsets, m.Base, m.Rows)
		v.WideOffsets, v.OffsetBase = wide, 0
	case turn:
		v = w.transpose(v, m.NNZ, func() uint64 { return w.expand(v, m.NNZ) })
	}
	if op == blas.C {
		v.Conjugated = 1
	}
	return v
}

// compress returns where rows begin in a sorted list of rows.
func (w *work) compress(list uint64, n int64, wideList, base int32, rows int64) uint64 {
	to := w.alloc(rows+1, 8)
	w.compressTo(to, list, n, wideList, base, rows, wide, 0)
	return to
}

func (w *work) compressTo(to, list uint64, n int64, wideList, base int32, rows int64, wideTo, baseTo int32) {
	w.structure("compress", rows+1, list, n, wideList, base, to, rows, wideTo, baseTo)
}

// expand returns the row of each element, in 32 bits.
func (w *work) expand(v view, n int64) uint64 {
	to := w.alloc(n, 4)
	w.structure("expand", n, v, to, n, int32(0), int32(0))
	return to
}

// pick returns numbers in 32 bits in the order of places, if they are not 0.
func (w *work) pick(from, places uint64, n int64, wideFrom int32, add int64) uint64 {
	to := w.alloc(n, 4)
	w.pickTo(to, from, places, n, 0, wideFrom, add)
	return to
}

func (w *work) pickTo(to, from, places uint64, n int64, wideTo, wideFrom int32, add int64) {
	w.structure("pick", n, to, from, places, n, wideTo, wideFrom, add)
}

// transpose is a view by columns, given the row of each element.
func (w *work) transpose(v view, n int64, rowsOf func() uint64) view {
	rows := rowsOf()
	columns, places := w.sort(w.pick(v.Indices, 0, n, v.WideIndices, -int64(v.Base)), 0, n, v.Columns)
	return view{
		Offsets: w.compress(columns, n, 0, 0, v.Columns), WideOffsets: wide, Indices: w.pick(rows, places, n, 0, 0),
		Values: v.Values, Places: places, Rows: v.Columns, Columns: v.Rows,
	}
}

// sort sorts n numbers below limit, which it overwrites, and returns them with the places
// where they were: of equal ones in the order that they had. The places before are 0, 1, 2,
// ... if none are given.
func (w *work) sort(keys, places uint64, n, limit int64) (sorted, from uint64) {
	if places == 0 {
		places = w.alloc(n, 4)
		w.structure("count", n, places, n)
	}
	keysTo, placesTo := w.alloc(n, 4), w.alloc(n, 4)
	blocks := over(n, chunk)
	counts := w.alloc(blocks*digits+1, 8)
	for shift := 0; shift < bits.Len64(uint64(max(0, limit-1))); shift += digitBits {
		w.blocks("structure", "histogram", blocks, 1, threads, keys, n, int32(shift), int32(0), counts)
		w.scan(counts, blocks*digits)
		w.blocks("structure", "distribute", blocks, 1, threads, keys, places, keysTo, placesTo, n, int32(shift), int32(0), counts)
		keys, keysTo, places, placesTo = keysTo, keys, placesTo, places
	}
	return keys, places
}

// sortBoth sorts elements by row, then by column: the arrays, of 32 bits, are overwritten.
func (w *work) sortBoth(rows, columns uint64, n, limitRows, limitColumns int64) (sortedRows, sortedColumns, from uint64) {
	_, from = w.sort(w.pick(columns, 0, n, 0, 0), 0, n, limitColumns)
	sortedRows, from = w.sort(w.pick(rows, from, n, 0, 0), from, n, limitRows)
	return sortedRows, w.pick(columns, from, n, 0, 0), from
}

// scan replaces n counts by their sums.
func (w *work) scan(counts uint64, n int64) {
	w.blocks("structure", "scan", 1, 1, scanThreads, counts, n)
}

// fetch waits for the stream, and reads a number of 64 bits.
func (w *work) fetch(addr uint64) (v int64) {
	b := make([]byte, 8)
	w.do(func() cuda.Error { return w.t.Fetch(addr, b, w.Stream) })
	for i := range b {
		v |= int64(b[i]) << (8 * i)
	}
	return v
}

// give stores a result, which lies on the device, where the handle says.
func (w *work) give(to, from uint64, n int64) {
	w.do(func() cuda.Error {
		if w.Pointers == blas.OnDevice {
			return w.t.Copy(to, from, uint64(n), cuda.DeviceToDevice, w.Stream, true)
		}
		if w.captured() { // the graph copies it
			return w.t.Copy(to, from, uint64(n), cuda.DeviceToHost, w.Stream, true)
		}
		b := make([]byte, n)
		if err := w.t.Fetch(from, b, w.Stream); err != cuda.Success {
			return err
		}
		return w.t.Write(to, b)
	})
}

// dense is the kernels' struct dense.
type dense struct {
	At            uint64
	Row, Column   int64
	Conjugated, _ int32
}

// after is a matrix after an operation, and its extents.
func (d *Dense) after(op Op) (v dense, rows, columns int64) {
	v, rows, columns = dense{At: d.Values, Row: 1, Column: d.LD}, d.Rows, d.Columns
	if d.Order == RowMajor {
		v.Row, v.Column = v.Column, v.Row
	}
	if op != blas.N {
		v.Row, v.Column = v.Column, v.Row
		rows, columns = columns, rows
	}
	if op == blas.C {
		v.Conjugated = 1
	}
	return v, rows, columns
}

// member is a matrix of a batch.
func (d *Dense) member(i int64) *Dense {
	one := *d
	if d.Batch > 1 {
		one.Values += uint64(i * d.Stride * d.Type.Size())
	}
	return &one
}

// problem is the kernels' struct problem.
type problem struct {
	A, B              view
	X, Y              dense
	Alpha, Beta       blas.Number
	First             uint64
	Rows, Columns, To uint64
	N, K              int64
	Wide, Base, Flags int32
	_                 int32
}

// names are those of types in kernels.
var names = map[Type]string{blas.F32: "f32", blas.F64: "f64", blas.F16: "f16", blas.BF16: "bf16", blas.C32: "c32", blas.C64: "c64"}

// values starts a kernel that computes with values of a type.
func (w *work) values(kernel string, t Type, n int64, p problem) {
	w.launch("values_"+names[t], kernel+"_"+names[t], n, 1, p)
}

// sum is the type in which values of a type are added up.
func sum(t Type) Type {
	if t == blas.F16 || t == blas.BF16 {
		return blas.F32
	}
	return t
}

// scalars reads alpha and beta.
func (c Call) scalars(alpha, beta uint64, t Type) (a, b blas.Number, s Status) {
	a, okA := c.Scalar(alpha, t)
	b, okB := c.Scalar(beta, t)
	if !okA || !okB {
		return a, b, InvalidValue
	}
	return a, b, Success
}

func validOps(ops ...Op) bool {
	for _, op := range ops {
		if op < blas.N || op > blas.C {
			return false
		}
	}
	return true
}
