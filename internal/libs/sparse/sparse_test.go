package sparse_test

import (
	"fmt"
	"math/cmplx"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/libs/blas"
	"github.com/heddle-sim/heddle/internal/libs/libstest"
	"github.com/heddle-sim/heddle/internal/libs/sparse"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// bench is a GPU with a handle.
type bench struct {
	*libstest.GPU
	call sparse.Call
	r    *rand.Rand
	t    testing.TB
}

func start(t testing.TB, edit func(*cuda.Options)) *bench {
	t.Helper()
	b := &bench{libstest.New(t, "rtx-2060", edit), sparse.Call{}, rand.New(rand.NewPCG(1, 2)), t}
	h := b.handle()
	t.Cleanup(func() { b.want("destroy", sparse.Destroy(b.Thread, h), sparse.Success) })
	return b
}

// handle makes a handle for all further calls.
func (b *bench) handle() uint64 {
	b.t.Helper()
	h, s := sparse.Create(b.Thread)
	b.want("create", s, sparse.Success)
	b.call, s = sparse.Of(b.Thread, h)
	b.want("handle", s, sparse.Success)
	return h
}

func (b *bench) want(what string, got, want sparse.Status) {
	b.t.Helper()
	if got != want {
		b.t.Fatalf("%s: %s, want %s\n%s", what, got.Name(), want.Name(), b.Log)
	}
}

// kinds are the types of values. A sum of n products has an error of n+4 units of the sum of
// their absolute values; a complex product has several roundings. What is stored is rounded
// once more.
var kinds = []struct {
	name        string
	t           sparse.Type
	unit, store float64
}{
	{"f32", blas.F32, 0x1p-24, 0}, {"f64", blas.F64, 0x1p-53, 0}, {"c32", blas.C32, 0x1p-22, 0}, {"c64", blas.C64, 0x1p-51, 0},
	{"f16", blas.F16, 0x1p-24, 0x1p-11}, {"bf16", blas.BF16, 0x1p-24, 0x1p-8},
}

func complexType(t sparse.Type) bool { return t == blas.C32 || t == blas.C64 }

func sumType(t sparse.Type) sparse.Type {
	if t == blas.F16 || t == blas.BF16 {
		return blas.F32
	}
	return t
}

// number is a random value of a type, as rounded.
func (b *bench) number(t sparse.Type) complex128 {
	v := complex(2*b.r.Float64()-1, 0)
	if complexType(t) {
		v += complex(0, 2*b.r.Float64()-1)
	}
	_, v = libstest.Encode(int32(t), v)
	return v
}

// encode are the bytes of values.
func encode(t sparse.Type, values []complex128) (list []byte) {
	for _, v := range values {
		e, _ := libstest.Encode(int32(t), v)
		list = append(list, e...)
	}
	return list
}

func (b *bench) put(t sparse.Type, values []complex128) uint64 {
	return libstest.Put(b.GPU, encode(t, values))
}

func (b *bench) get(t sparse.Type, addr uint64, n int) []complex128 {
	size := int(t.Size())
	bytes := libstest.Get[byte](b.GPU, addr, n*size)
	list := make([]complex128, n)
	for i := range list {
		list[i] = libstest.Decode(int32(t), bytes[i*size:(i+1)*size])
	}
	return list
}

// scalar stores alpha or beta where the handle says.
func (b *bench) scalar(t sparse.Type, v complex128) uint64 {
	e := encode(t, []complex128{v})
	if b.call.Pointers == blas.OnDevice {
		return libstest.Put(b.GPU, e)
	}
	return libstest.At(b.GPU, &e[0])
}

// indices stores numbers of a width.
func (b *bench) indices(t sparse.IndexType, list []int) uint64 {
	if t == sparse.Index64 {
		wide := make([]int64, len(list))
		for i, v := range list {
			wide[i] = int64(v)
		}
		return libstest.Put(b.GPU, wide)
	}
	narrow := make([]int32, len(list))
	for i, v := range list {
		narrow[i] = int32(v)
	}
	return libstest.Put(b.GPU, narrow)
}

func (b *bench) getIndices(t sparse.IndexType, addr uint64, n int) []int {
	list := make([]int, n)
	if t == sparse.Index64 {
		for i, v := range libstest.Get[int64](b.GPU, addr, n) {
			list[i] = int(v)
		}
		return list
	}
	for i, v := range libstest.Get[int32](b.GPU, addr, n) {
		list[i] = int(v)
	}
	return list
}

// full is a matrix with all elements.
type full struct {
	rows, columns int
	of            []complex128
}

func newFull(rows, columns int) full { return full{rows, columns, make([]complex128, rows*columns)} }

func (f full) at(i, j int) *complex128 { return &f.of[i*f.columns+j] }

// after is the matrix after an operation.
func (f full) after(op blas.Op) full {
	if op == blas.N {
		return f
	}
	to := newFull(f.columns, f.rows)
	for i := range f.rows {
		for j := range f.columns {
			v := *f.at(i, j)
			if op == blas.C {
				v = cmplx.Conj(v)
			}
			*to.at(j, i) = v
		}
	}
	return to
}

// random is a matrix of which a share of elements is not zero.
func (b *bench) random(t sparse.Type, rows, columns int, share float64) full {
	f := newFull(rows, columns)
	for i := range f.of {
		for b.r.Float64() < share {
			if f.of[i] = b.number(t); f.of[i] != 0 {
				break
			}
		}
	}
	return f
}

// shape is how a sparse matrix lies in memory.
type shape struct {
	format          sparse.Format
	offsets, places sparse.IndexType
	base            int
}

var shapes = []shape{
	{sparse.CSR, sparse.Index32, sparse.Index32, 0}, {sparse.CSR, sparse.Index64, sparse.Index32, 1}, {sparse.CSR, sparse.Index64, sparse.Index64, 0},
	{sparse.CSC, sparse.Index32, sparse.Index32, 1}, {sparse.CSC, sparse.Index64, sparse.Index64, 0},
	{sparse.COO, sparse.Index32, sparse.Index32, 1}, {sparse.COO, sparse.Index64, sparse.Index64, 0},
}

// parts are the arrays of a matrix in a format.
func (f full) parts(s shape) (offsets, indices []int, values []complex128) {
	major, minor := f.rows, f.columns
	if s.format == sparse.CSC {
		major, minor = minor, major
	}
	for i := range major {
		if s.format != sparse.COO {
			offsets = append(offsets, len(values)+s.base)
		}
		for j := range minor {
			v := *f.after(blas.N).at(min(i, f.rows-1), min(j, f.columns-1))
			if s.format == sparse.CSC {
				v = *f.at(j, i)
			}
			if v == 0 {
				continue
			}
			if s.format == sparse.COO {
				offsets = append(offsets, i+s.base)
			}
			indices, values = append(indices, j+s.base), append(values, v)
		}
	}
	if s.format != sparse.COO {
		offsets = append(offsets, len(values)+s.base)
	}
	return offsets, indices, values
}

// matrix places a matrix on the device.
func (b *bench) matrix(t sparse.Type, f full, s shape) *sparse.Matrix {
	b.t.Helper()
	offsets, indices, values := f.parts(s)
	h, r := sparse.NewMatrix(sparse.Matrix{
		Format: s.format, Rows: int64(f.rows), Columns: int64(f.columns), NNZ: int64(len(values)), Type: t,
		Offsets: b.indices(s.offsets, offsets), Indices: b.indices(s.places, indices), Values: b.put(t, values),
		OffsetType: s.offsets, IndexType: s.places, Base: int32(s.base),
	})
	b.want("matrix", r, sparse.Success)
	m, _ := sparse.Get[sparse.Matrix](h)
	return m
}

// dense places a dense matrix on the device, in a random order and with gaps.
func (b *bench) dense(t sparse.Type, f full) *sparse.Dense {
	b.t.Helper()
	d := sparse.Dense{Rows: int64(f.rows), Columns: int64(f.columns), Type: t, Order: sparse.Order(1 + b.r.IntN(2))}
	across := f.columns
	d.LD = int64(f.rows + b.r.IntN(3))
	if d.Order == sparse.RowMajor {
		d.LD = int64(f.columns + b.r.IntN(3))
		across = f.rows
	}
	memory := make([]complex128, int(d.LD)*across)
	for i := range f.rows {
		for j := range f.columns {
			memory[place(&d, i, j)] = *f.at(i, j)
		}
	}
	d.Values = b.put(t, memory)
	h, r := sparse.NewDense(d)
	b.want("dense matrix", r, sparse.Success)
	to, _ := sparse.Get[sparse.Dense](h)
	return to
}

func place(d *sparse.Dense, i, j int) int {
	if d.Order == sparse.RowMajor {
		return i*int(d.LD) + j
	}
	return i + j*int(d.LD)
}

// back reads a dense matrix.
func (b *bench) back(d *sparse.Dense) full {
	f := newFull(int(d.Rows), int(d.Columns))
	across := d.Columns
	if d.Order == sparse.RowMajor {
		across = d.Rows
	}
	memory := b.get(d.Type, d.Values, int(d.LD*across))
	for i := range f.rows {
		for j := range f.columns {
			*f.at(i, j) = memory[place(d, i, j)]
		}
	}
	return f
}

// sum is alpha times a sum of products, plus beta times the value
// before, and what it is compared with.
type sum struct {
	v, most complex128
	n       int
}

func (s *sum) add(v complex128) {
	s.v += v
	s.most += complex(cmplx.Abs(v), 0)
	s.n++
}

func (s *sum) near(got complex128, unit, store float64) bool {
	return cmplx.Abs(got-s.v) <= unit*float64(s.n+4)*real(s.most)+store*cmplx.Abs(s.v)*1.01+store*0x1p-13
}

var scalars = []complex128{1, 0, -0.75 + 0.5i}

// pickScalar is a random scalar of a type.
func (b *bench) pickScalar(t sparse.Type) complex128 {
	v := scalars[b.r.IntN(len(scalars))]
	if !complexType(t) {
		v = complex(real(v), 0)
	}
	return v
}

// TestProducts: SpMV and SpMM of all formats, indices, types, operations and orders against
// loops, with scalars on the host and on the device.
func TestProducts(t *testing.T) {
	b := start(t, nil)
	sizes := [][3]int{{1, 1, 1}, {7, 5, 1}, {33, 70, 1}, {5, 9, 3}, {40, 23, 37}, {3, 60, 33}, {0, 4, 2}, {4, 0, 2}, {70, 40, 1}}
	for i := range 3 * len(kinds) * len(shapes) {
		k, s, n := kinds[i%len(kinds)], shapes[i%len(shapes)], sizes[b.r.IntN(len(sizes))]
		opA, opB := blas.Op(b.r.IntN(3)), blas.Op(b.r.IntN(3))
		out := k
		if k.store > 0 && i%2 == 0 {
			out = kinds[0]
		}
		compute := sumType(k.t)
		a, x, y := b.random(k.t, n[0], n[1], b.r.Float64()), b.random(k.t, n[1], n[2], 1), b.random(out.t, n[0], n[2], 1)
		alpha, beta := b.pickScalar(compute), b.pickScalar(compute)
		what := fmt.Sprintf("%s, %v, %v, operations %d %d, alpha %v, beta %v", k.name, s, n, opA, opB, alpha, beta)
		b.want(what, setPointers(b, i%2), sparse.Success)
		if beta == 0 { // what is there is not read
			for i := range y.of {
				y.of[i] = cmplx.NaN()
			}
		}
		// The stored matrices are those which the operations turn into a and x.

		c := b.dense(out.t, y)
		b.want(what, b.call.SpMM(sparse.Product{
			OpA: opA, OpB: opB, Alpha: b.scalar(compute, alpha), Beta: b.scalar(compute, beta),
			A: b.matrix(k.t, a.after(opA), s), B: b.dense(k.t, x.after(opB)), C: c, Compute: compute,
		}), sparse.Success)
		got := b.back(c)
		for r := range n[0] {
			for q := range n[2] {
				var want sum
				for p := range n[1] {
					want.add(alpha * *a.at(r, p) * *x.at(p, q))
				}
				if beta != 0 {
					want.add(beta * *y.at(r, q))
				}
				if v := *got.at(r, q); !want.near(v, k.unit, out.store) {
					t.Fatalf("%s: element %d,%d is %v, want %v", what, r, q, v, want.v)
				}
			}
		}
	}
}

// TestBatches: batches of sparse matrices with columns and values of their own, which are a
// stride apart. Offsets may be shared; dense operands may have one matrix for the batch.
func TestBatches(t *testing.T) {
	const n, count = 6, 3
	of := func(i, row, column int) complex128 { // one element in each row, at another place in each matrix
		if column == (row+i+1)%n {
			return complex(float64(row+1+10*i), 0)
		}
		return 0
	}
	for _, c := range []struct {
		name            string
		s               shape
		offsets, values int64
		shared          bool // the dense operands
	}{
		{"CSR with the same offsets", shapes[0], 0, n, false},
		{"CSR", shapes[1], n + 1, n, false},
		{"COO", shapes[5], 0, n, false},
		{"COO, dense operands shared", shapes[5], 0, n, true},
		{"CSR, dense operands shared", shapes[2], 0, n, true},
	} {
		b := start(t, nil)
		var offsets, indices []int
		var values []complex128
		var all []full
		for i := range count {
			f := newFull(n, n)
			for r := range n {
				for q := range n {
					*f.at(r, q) = of(i, r, q)
				}
			}
			o, p, v := f.parts(c.s)
			all, offsets, indices, values = append(all, f), append(offsets, o...), append(indices, p...), append(values, v...)
		}
		m := b.matrix(blas.F32, all[0], c.s)
		m.Offsets, m.Indices, m.Values = b.indices(c.s.offsets, offsets), b.indices(c.s.places, indices), b.put(blas.F32, values)
		b.want("no batch", m.SetBatch(c.s.format, 0, c.offsets, c.values), sparse.InvalidValue)
		b.want("batch", m.SetBatch(c.s.format, count, c.offsets, c.values), sparse.Success)
		dense := func(rows, columns, of int) (*sparse.Dense, []complex128) {
			var list []complex128
			for range of * rows * columns {
				list = append(list, complex(float64(b.r.IntN(9)-4), 0))
			}
			d := &sparse.Dense{Rows: int64(rows), Columns: int64(columns), LD: int64(rows), Values: b.put(blas.F32, list), Type: blas.F32, Order: sparse.ColumnMajor, Batch: 1}
			b.want("no batch", d.SetBatch(0, n), sparse.InvalidValue)
			b.want("batch", d.SetBatch(int64(of), int64(rows*columns)), sparse.Success)
			return d, list
		}
		operands := count
		if c.shared {
			operands = 1
		}
		x, xs := dense(n, 2, operands)
		y, _ := dense(n, 2, count)
		one, zero := b.scalar(blas.F32, 1), b.scalar(blas.F32, 0)
		product := sparse.Product{Alpha: one, Beta: zero, A: m, B: x, C: y, Compute: blas.F32}
		b.want(c.name, b.call.SpMM(product), sparse.Success)
		got := b.get(blas.F32, y.Values, count*n*2)
		for i := range count {
			for r := range n {
				for q := range 2 {
					want := of(i, r, (r+i+1)%n) * xs[i%operands*n*2+q*n+(r+i+1)%n]
					if v := got[i*n*2+q*n+r]; v != want {
						t.Fatalf("%s: matrix %d of the product has %v at %d,%d, want %v", c.name, i, v, r, q, want)
					}
				}
			}
		}

		left, ls := dense(n, 3, operands)
		right, rs := dense(3, n, operands)
		sampled := sparse.Sampled{Alpha: one, Beta: one, A: left, B: right, C: m, Compute: blas.F32}
		b.want(c.name, b.call.SDDMM(sampled), sparse.Success)
		got = b.get(blas.F32, m.Values, count*n)
		for i := range count {
			for r := range n {
				q := (r + i + 1) % n
				want := of(i, r, q)
				for k := range 3 {
					want += ls[i%operands*n*3+k*n+r] * rs[i%operands*n*3+q*3+k]
				}
				if v := got[i*n+r]; v != want {
					t.Fatalf("%s: row %d of the sampled product %d is %v, want %v", c.name, r, i, v, want)
				}
			}
		}

		// Operands belong to one matrix of the result, or to all.
		for _, d := range []*sparse.Dense{x, left} {
			b.want("another batch", d.SetBatch(2, n), sparse.Success)
		}
		b.want("batches of 3 and 2", b.call.SpMM(product), sparse.InvalidValue)
		b.want("sampled batches of 3 and 2", b.call.SDDMM(sampled), sparse.InvalidValue)
		b.want("one matrix", x.SetBatch(1, 0), sparse.Success)
		b.want("one matrix", y.SetBatch(1, 0), sparse.Success)
		b.want("a batch into one matrix", b.call.SpMM(product), sparse.InvalidValue)
	}
}

// TestWide: more columns than a grid has blocks for.
func TestWide(t *testing.T) {
	alltests.Only(t, "matrices of two million columns")
	b := start(t, nil)
	const n = 65535*32 + 40
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(i % 1000)
	}
	x := &sparse.Dense{Rows: 1, Columns: n, LD: 1, Values: libstest.Put(b.GPU, values), Type: blas.F32, Order: sparse.ColumnMajor, Batch: 1}
	y := *x
	y.Values = libstest.Put(b.GPU, make([]float32, n))
	b.want("product", b.call.SpMM(sparse.Product{
		Alpha: b.scalar(blas.F32, 1), Beta: b.scalar(blas.F32, 0), A: b.matrix(blas.F32, full{1, 1, []complex128{2}}, shapes[0]), B: x, C: &y, Compute: blas.F32,
	}), sparse.Success)
	for i, v := range libstest.Get[float32](b.GPU, y.Values, n) {
		if v != 2*values[i] {
			t.Fatalf("column %d is %v, want %v", i, v, 2*values[i])
		}
	}
}

// held is a descriptor with memory on the device.
type held struct {
	name   string
	make   func(b *bench) (handle uint64, use func() sparse.Status)
	remove func(t *cuda.Thread, handle uint64) sparse.Status
}

var helds = []held{
	{"products", func(b *bench) (uint64, func() sparse.Status) {
		h := sparse.NewProducts(b.Thread)
		v, _ := sparse.Get[sparse.Products](h)
		f := full{2, 2, []complex128{1, 2, 3, 0}}
		p := sparse.Multiplication{
			Alpha: b.scalar(blas.F32, 1), Beta: b.scalar(blas.F32, 0), A: b.matrix(blas.F32, f, shapes[0]), B: b.matrix(blas.F32, f, shapes[0]),
			C: b.empty(blas.F32, f, shapes[0], 4), Compute: blas.F32,
		}
		b.want("compute", b.call.Multiply(p, v), sparse.Success)
		return h, func() sparse.Status { return b.call.Store(p, v) }
	}, sparse.DestroyProducts},
	{"factors", func(b *bench) (uint64, func() sparse.Status) {
		h := sparse.NewFactors(b.Thread)
		v, _ := sparse.Get[sparse.Factors](h)
		m := b.matrix(blas.F32, full{2, 2, []complex128{1, 0, 0, 1}}, shapes[0])
		b.want("analysis", b.call.Prepare(m, v), sparse.Success)
		b.want("factors", b.call.ILU(m, v), sparse.Success)
		return h, func() sparse.Status { return b.call.ILU(m, v) }
	}, sparse.DestroyFactors},
}

// TestReset: what a descriptor had on the device before a reset is gone. Its addresses may
// be those of the program, which its functions neither use nor free.
func TestReset(t *testing.T) {
	for _, c := range helds {
		b := &bench{libstest.New(t, "rtx-2060", nil), sparse.Call{}, nil, t}
		b.handle()
		h, use := c.make(b)
		b.Must(b.Reset())
		b.handle()
		var own []uint64
		for range 40 {
			own = append(own, libstest.Put(b.GPU, make([]byte, 512)))
		}
		b.want(c.name+": use", use(), sparse.InvalidValue)
		b.want(c.name+": destroy", c.remove(b.Thread, h), sparse.InvalidValue)
		for i, addr := range own {
			for j, v := range libstest.Get[byte](b.GPU, addr, 512) {
				if v != 0 {
					t.Fatalf("%s: byte %d of allocation %d is %d, want 0", c.name, j, i, v)
				}
			}
			b.Must(b.Free(addr))
		}
	}
}

// TestDestroyInCapture: a descriptor that cannot be freed now can be freed later.
func TestDestroyInCapture(t *testing.T) {
	for _, c := range helds {
		b := start(t, nil)
		stream, err := b.StreamCreate(1, 0)
		b.Must(err)
		h, _ := c.make(b)
		before, _, err := b.MemInfo()
		b.Must(err)
		b.Must(b.BeginCapture(stream, cuda.CaptureGlobal))
		if s := c.remove(b.Thread, h); s == sparse.Success {
			t.Errorf("%s: destroyed during a capture", c.name)
		}
		if _, err := b.EndCapture(stream); err == cuda.Success {
			t.Errorf("%s: the capture is still valid", c.name)
		}
		b.want(c.name+": destroy", c.remove(b.Thread, h), sparse.Success)
		if after, _, _ := b.MemInfo(); after <= before {
			t.Errorf("%s: %d bytes are free, as before", c.name, after)
		}
		b.want(c.name+": destroy again", c.remove(b.Thread, h), sparse.InvalidValue)
	}
}

// TestCaptureDot: the sum of products is captured if its result lies on the device, or if
// there is a buffer for it, from which the graph copies it. Otherwise the call is refused.
func TestCaptureDot(t *testing.T) {
	b := start(t, nil)
	stream, err := b.StreamCreate(1, 0)
	b.Must(err)
	b.call.SetStream(stream)
	x := &sparse.Sparse{Size: 4, NNZ: 2, Indices: b.indices(sparse.Index32, []int{1, 3}), Values: b.put(blas.F32, []complex128{5, 7}), IndexType: sparse.Index32, Type: blas.F32}
	h, s := sparse.NewVector(4, b.put(blas.F32, []complex128{1, 2, 3, 4}), blas.F32)
	b.want("vector", s, sparse.Success)
	y, _ := sparse.Get[sparse.Vector](h)
	onDevice, onHost := b.put(blas.F32, []complex128{0}), new(float32)
	for _, c := range []struct {
		mode           int
		result, buffer uint64
		want           sparse.Status
	}{
		{1, onDevice, 0, sparse.Success},
		{0, libstest.At(b.GPU, onHost), libstest.Put(b.GPU, make([]byte, sparse.Nominal)), sparse.Success},
		{0, libstest.At(b.GPU, onHost), 0, sparse.NotSupported},
	} {
		b.want("pointers", setPointers(b, c.mode), sparse.Success)
		b.Must(b.BeginCapture(stream, cuda.CaptureGlobal))
		b.want("capture", b.call.Dot(blas.N, x, y, c.result, c.buffer, blas.F32), c.want)
		graph, err := b.EndCapture(stream)
		b.Must(err)
		if c.want != sparse.Success {
			continue
		}
		exec, err := b.GraphInstantiate(graph, 0)
		b.Must(err)
		b.Must(b.ExecLaunch(exec, stream))
		b.Must(b.StreamSynchronize(stream))
		v := *onHost
		if c.mode == 1 {
			v = libstest.Get[float32](b.GPU, onDevice, 1)[0]
		}
		if v != 5*2+7*4 {
			t.Errorf("pointer mode %d: the sum is %v, want 38", c.mode, v)
		}
	}
	if strings.Contains(b.Log.String(), "cudaMallocAsync") {
		t.Errorf("a message names a call that the program did not make: %s", b.Log)
	}
}

// TestCapture: a product by rows takes no memory, and can be captured.
func TestCapture(t *testing.T) {
	b := start(t, nil)
	stream, err := b.StreamCreate(1, 0)
	b.Must(err)
	b.call.SetStream(stream)
	m := b.matrix(blas.F32, full{1, 1, []complex128{2}}, shapes[0])
	x := &sparse.Dense{Rows: 1, Columns: 1, LD: 1, Values: b.put(blas.F32, []complex128{3}), Type: blas.F32, Order: sparse.ColumnMajor, Batch: 1}
	y := *x
	y.Values = b.put(blas.F32, []complex128{1})
	b.Must(b.BeginCapture(stream, cuda.CaptureGlobal))
	b.want("product", b.call.SpMM(sparse.Product{Alpha: b.scalar(blas.F32, 1), Beta: b.scalar(blas.F32, 1), A: m, B: x, C: &y, Compute: blas.F32}), sparse.Success)
	graph, err := b.EndCapture(stream)
	b.Must(err)
	exec, err := b.GraphInstantiate(graph, 0)
	b.Must(err)
	b.Must(b.ExecLaunch(exec, stream))
	b.Must(b.ExecLaunch(exec, stream))
	b.Must(b.StreamSynchronize(stream))
	if v := b.get(blas.F32, y.Values, 1)[0]; v != 13 {
		t.Errorf("after two launches the vector is %v, want 1+6+6", v)
	}
}

// TestCodes: the codes of the documentation for calls that are wrong.
func TestCodes(t *testing.T) {
	b := start(t, nil)
	good := sparse.Matrix{Format: sparse.CSR, Rows: 2, Columns: 2, Offsets: 1, OffsetType: sparse.Index32, IndexType: sparse.Index32}
	for _, c := range []struct {
		name string
		edit func(m *sparse.Matrix)
		want sparse.Status
	}{
		{"negative rows", func(m *sparse.Matrix) { m.Rows = -1 }, sparse.InvalidValue},
		{"base 2", func(m *sparse.Matrix) { m.Base = 2 }, sparse.InvalidValue},
		{"more elements than fit", func(m *sparse.Matrix) { m.NNZ = 7 }, sparse.InvalidValue},
		{"indices of 16 bits", func(m *sparse.Matrix) { m.IndexType = 1 }, sparse.NotSupported},
		{"integers", func(m *sparse.Matrix) { m.Type = blas.I8 }, sparse.NotSupported},
		{"2^31 rows", func(m *sparse.Matrix) { m.Rows = 1 << 31 }, sparse.NotSupported},
	} {
		m := good
		c.edit(&m)
		_, s := sparse.NewMatrix(m)
		b.want(c.name, s, c.want)
	}
	// Matrices and vectors may be described before their arrays exist. What reads them then
	// is an error.
	none := good
	none.Offsets, none.Type = 0, blas.F32
	h, s := sparse.NewMatrix(none)
	b.want("a matrix without arrays", s, sparse.Success)
	empty, _ := sparse.Get[sparse.Matrix](h)
	h, s = sparse.NewVector(2, b.put(blas.F32, make([]complex128, 2)), blas.F32)
	b.want("vector", s, sparse.Success)
	dense, _ := sparse.Get[sparse.Vector](h)
	scalar := b.scalar(blas.F32, 1)
	b.want("a product of nothing", b.call.SpMM(sparse.Product{Alpha: scalar, Beta: scalar, A: empty, B: &dense.Dense, C: &dense.Dense, Compute: blas.F32}), sparse.InvalidValue)
	for _, c := range []struct {
		name string
		v    sparse.Sparse
		want sparse.Status
	}{
		{"no arrays", sparse.Sparse{Size: 2, NNZ: 1, IndexType: sparse.Index32}, sparse.InvalidValue},
		{"no elements", sparse.Sparse{Size: 2, IndexType: sparse.Index32}, sparse.Success},
		{"indices of 16 bits", sparse.Sparse{Size: 2, NNZ: 1, Indices: dense.Values, Values: dense.Values, IndexType: sparse.Index16}, sparse.NotSupported},
	} {
		h, s := sparse.NewSparse(c.v)
		b.want(c.name, s, sparse.Success)
		v, _ := sparse.Get[sparse.Sparse](h)
		b.want(c.name, b.call.Gather(dense, v), c.want)
		b.want(c.name, b.call.Dot(blas.N, v, dense, b.scalar(blas.F32, 0), 0, blas.F32), c.want)
	}
	_, s = sparse.NewSparse(sparse.Sparse{Size: 2, NNZ: 1, IndexType: 4})
	b.want("indices of no type", s, sparse.NotSupported)
	m := b.matrix(blas.F32, newFull(2, 3), shapes[0])
	x, y := b.dense(blas.F32, newFull(3, 1)), b.dense(blas.F32, newFull(2, 1))
	one := b.scalar(blas.F32, 1)
	p := sparse.Product{Alpha: one, Beta: one, A: m, B: x, C: y, Compute: blas.F32}
	for _, c := range []struct {
		name string
		edit func(p *sparse.Product)
		want sparse.Status
	}{
		{"right", func(p *sparse.Product) {}, sparse.Success},
		{"no matrix", func(p *sparse.Product) { p.A = nil }, sparse.InvalidValue},
		{"no alpha", func(p *sparse.Product) { p.Alpha = 0 }, sparse.InvalidValue},
		{"an operation that is none", func(p *sparse.Product) { p.OpA = 3 }, sparse.InvalidValue},
		{"sizes that do not fit", func(p *sparse.Product) { p.OpA = blas.T }, sparse.InvalidValue},
		{"other values", func(p *sparse.Product) { p.B = b.dense(blas.F64, newFull(3, 1)) }, sparse.NotSupported},
		{"another compute type", func(p *sparse.Product) { p.Compute = blas.F64 }, sparse.NotSupported},
	} {
		p := p
		c.edit(&p)
		b.want(c.name, b.call.SpMM(p), c.want)
	}
	_, s = sparse.Of(b.Thread, 99)
	b.want("no handle", s, sparse.NotInitialized)
	b.want("no descriptor", sparse.Remove[sparse.Matrix](99), sparse.InvalidValue)
}

// setPointers sets where scalars lie.
func setPointers(b *bench, mode int) sparse.Status {
	return sparse.Status(b.call.SetPointers(blas.PointerMode(mode)))
}
