package sparse_test

import (
	"cmp"
	"fmt"
	"math/cmplx"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/internal/libs/blas"
	"github.com/heddle-sim/heddle/internal/libs/libstest"
	"github.com/heddle-sim/heddle/internal/libs/sparse"
)

// empty is a matrix in a format whose arrays have room for n elements.
func (b *bench) empty(t sparse.Type, f full, s shape, n int) *sparse.Matrix {
	offsets := max(f.rows, f.columns) + 1
	if s.format == sparse.COO {
		offsets = n
	}
	m := b.matrix(t, newFull(f.rows, f.columns), s)
	m.Offsets = b.indices(s.offsets, make([]int, offsets))
	m.Indices = b.indices(s.places, make([]int, n))
	m.Values = b.put(t, make([]complex128, n))
	return m
}

// wantParts compares the arrays of a matrix.
func (b *bench) wantParts(what string, m *sparse.Matrix, f full, s shape) {
	b.t.Helper()
	offsets, indices, values := f.parts(s)
	if got := b.getIndices(s.offsets, m.Offsets, len(offsets)); !slices.Equal(got, offsets) {
		b.t.Fatalf("%s: offsets or rows are %v, want %v", what, got, offsets)
	}
	if got := b.getIndices(s.places, m.Indices, len(indices)); !slices.Equal(got, indices) {
		b.t.Fatalf("%s: indices are %v, want %v", what, got, indices)
	}
	if got := b.get(m.Type, m.Values, len(values)); !slices.Equal(got, values) {
		b.t.Fatalf("%s: values are %v, want %v", what, got, values)
	}
}

// TestDense: a dense matrix becomes a sparse one of every format, and dense again.
func TestDense(t *testing.T) {
	b := start(t, nil)
	sizes := [][2]int{{1, 1}, {5, 70}, {65, 3}, {33, 40}, {0, 3}}
	for i := range 2 * len(kinds) * len(shapes) {
		k, s, n := kinds[i%len(kinds)], shapes[i%len(shapes)], sizes[b.r.IntN(len(sizes))]
		f := b.random(k.t, n[0], n[1], 0.4)
		what := fmt.Sprintf("%s, %v, %v", k.name, s, n)
		_, _, values := f.parts(s)
		m, d := b.empty(k.t, f, s, len(values)), b.dense(k.t, f)
		b.want(what, b.call.Analyze(d, m), sparse.Success)
		if m.NNZ != int64(len(values)) {
			t.Fatalf("%s: %d elements, want %d", what, m.NNZ, len(values))
		}
		b.want(what, b.call.FromDense(d, m), sparse.Success)
		b.wantParts(what, m, f, s)
		back := b.dense(k.t, b.random(k.t, n[0], n[1], 1))
		b.want(what, b.call.ToDense(m, back), sparse.Success)
		if got := b.back(back); !slices.Equal(got.of, f.of) {
			t.Fatalf("%s: dense again it is %v, want %v", what, got.of, f.of)
		}
	}
}

// TestCount: the elements of rows and columns that are not zero, with the sum on the host
// and on the device.
func TestCount(t *testing.T) {
	b := start(t, nil)
	for i := range 8 {
		f := b.random(blas.F32, 40, 37, 0.3)
		d := sparse.Dense{Rows: 40, Columns: 37, LD: 40, Type: blas.F32, Order: sparse.ColumnMajor, Values: b.put(blas.F32, f.after(blas.T).of)}
		byColumn := i%2 == 1
		if byColumn {
			f = f.after(blas.T)
		}
		want, all := make([]int32, f.rows), int32(0)
		for r := range f.rows {
			for c := range f.columns {
				if *f.at(r, c) != 0 {
					want[r]++
					all++
				}
			}
		}
		each, total := libstest.Put(b.GPU, make([]int32, f.rows)), new(int32)
		at := libstest.At(b.GPU, total)
		b.want("pointer mode", setPointers(b, i/2%2), sparse.Success)
		if i/2%2 == 1 {
			at = libstest.Put(b.GPU, []int32{-1})
		}
		b.want("count", b.call.Count(byColumn, d, each, at), sparse.Success)
		if i/2%2 == 1 {
			*total = libstest.Get[int32](b.GPU, at, 1)[0]
		}
		if got := libstest.Get[int32](b.GPU, each, f.rows); !slices.Equal(got, want) || *total != all {
			t.Errorf("by column %v: %d elements, %v; want %d, %v", byColumn, *total, got, all, want)
		}
	}
}

// TestTranspose: csr2csc, csr2coo and coo2csr.
func TestTranspose(t *testing.T) {
	b := start(t, nil)
	for base := range 2 {
		csr, csc, coo := shapes[0], shapes[3], shapes[5]
		csr.base, csc.base, coo.base = base, base, base
		f := b.random(blas.C64, 90, 61, 0.5) // more elements than a block sorts
		from := b.matrix(blas.C64, f, csr)
		n := int(from.NNZ)
		to := b.empty(blas.C64, f, csc, n)
		b.want("transpose", b.call.Transpose(from, to, true), sparse.Success)
		b.wantParts("transposed", to, f, csc)

		rows := libstest.Put(b.GPU, make([]int32, n))
		b.want("expand", b.call.Expand(from.Offsets, int64(n), 90, rows, int32(base)), sparse.Success)
		want, _, _ := f.parts(coo)
		if got := b.getIndices(sparse.Index32, rows, n); !slices.Equal(got, want) {
			t.Errorf("base %d: rows are %v, want %v", base, got, want)
		}
		offsets := libstest.Put(b.GPU, make([]int32, 91))
		b.want("compress", b.call.Compress(rows, int64(n), 90, offsets, int32(base)), sparse.Success)
		want, _, _ = f.parts(csr)
		if got := b.getIndices(sparse.Index32, offsets, 91); !slices.Equal(got, want) {
			t.Errorf("base %d: offsets are %v, want %v", base, got, want)
		}
	}
}

// TestTransposeTypes: csr2csc moves values of every type, also those that have no products.
func TestTransposeTypes(t *testing.T) {
	b := start(t, nil)
	f := newFull(9, 7)
	for i := range f.of {
		if i%3 != 1 {
			f.of[i] = complex(float64(i+1), 0)
		}
	}
	for _, typ := range []sparse.Type{blas.I8, blas.F16, blas.BF16, blas.F32, blas.F64, blas.C32, blas.C64} {
		from, to := b.matrix(blas.F32, f, shapes[0]), b.empty(blas.F32, f, shapes[3], len(f.of))
		csc := shapes[3]
		csc.base = 0
		_, _, values := f.parts(shapes[0])
		from.Type, from.Values = typ, b.put(typ, values)
		to.Type, to.Values = typ, b.put(typ, make([]complex128, len(values)))
		b.want(fmt.Sprint("type ", typ), b.call.Transpose(from, to, true), sparse.Success)
		b.wantParts(fmt.Sprint("type ", typ), to, f, csc)
	}
}

// TestSort: the elements of rows are shuffled, and sorted again; places follow them. Equal
// elements keep their order.
func TestSort(t *testing.T) {
	b := start(t, nil)
	type element struct{ row, column, place int }
	for _, s := range []shape{shapes[0], shapes[3], shapes[5]} {
		const rows, columns, n = 300, 170, 5000
		list := make([]element, n)
		for i := range list {
			list[i] = element{b.r.IntN(rows), b.r.IntN(columns), 0}
		}
		if s.format != sparse.COO { // sorted by rows, or by columns
			slices.SortStableFunc(list, func(a, b element) int { return a.row - b.row })
		}
		major := rows
		m := sparse.Matrix{
			Format: s.format, Rows: rows, Columns: columns, NNZ: n, Base: int32(s.base), OffsetType: sparse.Index32, IndexType: sparse.Index32, Batch: 1,
		}
		if s.format == sparse.CSC {
			m.Rows, m.Columns = columns, rows
		}
		var indices, rowsOf []int
		offsets := make([]int, major+1)
		for i := range list {
			list[i].place = i
			indices, rowsOf = append(indices, list[i].column+s.base), append(rowsOf, list[i].row+s.base)
			offsets[list[i].row+1]++
		}
		offsets[0] = s.base
		for i := range major {
			offsets[i+1] += offsets[i]
		}
		if s.format == sparse.COO {
			offsets = rowsOf
		}
		m.Offsets, m.Indices = b.indices(sparse.Index32, offsets), b.indices(sparse.Index32, indices)
		places := libstest.Put(b.GPU, make([]int32, n))
		b.want("identity", b.call.Identity(n, places), sparse.Success)
		b.want("sort", b.call.Sort(&m, places), sparse.Success)
		slices.SortStableFunc(list, func(a, b element) int { return cmp.Or(a.row-b.row, a.column-b.column) })
		gotPlaces, gotIndices := b.getIndices(sparse.Index32, places, n), b.getIndices(sparse.Index32, m.Indices, n)
		gotRows := b.getIndices(sparse.Index32, m.Offsets, len(offsets))
		for i, e := range list {
			if gotPlaces[i] != e.place || gotIndices[i] != e.column+s.base || s.format == sparse.COO && gotRows[i] != e.row+s.base {
				t.Fatalf("format %d: element %d has column %d and was at %d, want %d, %d", s.format, i, gotIndices[i]-s.base, gotPlaces[i], e.column, e.place)
			}
		}
	}
}

// TestSampled: SDDMM of all types, formats and operations.
func TestSampled(t *testing.T) {
	b := start(t, nil)
	for i := range 2 * len(kinds) * len(shapes) {
		k, s := kinds[i%len(kinds)], shapes[i%len(shapes)]
		opA, opB := blas.Op(b.r.IntN(3)), blas.Op(b.r.IntN(3))
		m, n, inner := 1+b.r.IntN(20), 1+b.r.IntN(20), b.r.IntN(70)
		compute := sumType(k.t)
		x, y, f := b.random(k.t, m, inner, 1), b.random(k.t, inner, n, 1), b.random(k.t, m, n, 0.4)
		alpha, beta := b.pickScalar(compute), b.pickScalar(compute)
		to := b.matrix(k.t, f, s)
		what := fmt.Sprintf("%s, %v, %d x %d x %d, operations %d %d", k.name, s, m, n, inner, opA, opB)
		b.want(what, b.call.SDDMM(sparse.Sampled{
			OpA: opA, OpB: opB, Alpha: b.scalar(compute, alpha), Beta: b.scalar(compute, beta),
			A: b.dense(k.t, x.after(opA)), B: b.dense(k.t, y.after(opB)), C: to, Compute: compute,
		}), sparse.Success)
		d := b.dense(k.t, newFull(m, n))
		b.want(what, b.call.ToDense(to, d), sparse.Success)
		got := b.back(d)
		for r := range m {
			for c := range n {
				var want sum
				for p := range inner {
					want.add(alpha * *x.at(r, p) * *y.at(p, c))
				}
				want.add(beta * *f.at(r, c))
				if *f.at(r, c) == 0 {
					want = sum{}
				}
				if v := *got.at(r, c); !want.near(v, k.unit, k.store) {
					t.Fatalf("%s: element %d,%d is %v, want %v", what, r, c, v, want.v)
				}
			}
		}
	}
}

// TestSparseProducts: SpGEMM in its steps, and geam.
func TestSparseProducts(t *testing.T) {
	b := start(t, nil)
	for i := range 24 {
		k := kinds[i%4]
		m, n, inner := 1+b.r.IntN(50), 1+b.r.IntN(50), 1+b.r.IntN(50)
		sA, sB, sC := shapes[b.r.IntN(3)], shapes[b.r.IntN(3)], shapes[b.r.IntN(3)]
		x, y := b.random(k.t, m, inner, 0.2), b.random(k.t, inner, n, 0.3)
		if i == 5 {
			x = newFull(m, inner)
		}
		alpha, beta := b.pickScalar(k.t), b.pickScalar(k.t)
		product := newFull(m, n) // its structure: 1 where there are products
		count := 0
		for r := range m {
			for c := range n {
				for p := range inner {
					if *x.at(r, p) != 0 && *y.at(p, c) != 0 {
						*product.at(r, c) = 1
					}
				}
				if *product.at(r, c) != 0 {
					count++
				}
			}
		}
		h := sparse.NewProducts(b.Thread)
		descr, _ := sparse.Get[sparse.Products](h)
		p := sparse.Multiplication{
			Alpha: b.scalar(k.t, alpha), Beta: b.scalar(k.t, beta), A: b.matrix(k.t, x, sA), B: b.matrix(k.t, y, sB), C: b.empty(k.t, product, sC, count), Compute: k.t,
		}
		before := make([]complex128, count) // the elements of C
		for j := range before {
			before[j] = b.number(k.t)
		}
		p.C.Values = b.put(k.t, before)
		products := int64(0)
		for q := range inner {
			a, c := int64(0), int64(0)
			for r := range m {
				if *x.at(r, q) != 0 {
					a++
				}
			}
			for r := range n {
				if *y.at(q, r) != 0 {
					c++
				}
			}
			products += a * c
		}
		b.want("too early", b.call.Store(p, descr), sparse.InvalidValue)
		b.want("estimate", b.call.Estimate(p, descr), sparse.Success)
		if descr.Number != products {
			t.Fatalf("%d products after the estimation, want %d", descr.Number, products)
		}
		b.want("compute", b.call.Multiply(p, descr), sparse.Success)
		if p.C.NNZ != int64(count) {
			t.Fatalf("%d elements, want %d", p.C.NNZ, count)
		}
		b.want("copy", b.call.Store(p, descr), sparse.Success)
		b.want("end", sparse.DestroyProducts(b.Thread, h), sparse.Success)
		offsets, indices, _ := product.parts(sC)
		if got := b.getIndices(sC.offsets, p.C.Offsets, m+1); !slices.Equal(got, offsets) {
			t.Fatalf("offsets are %v, want %v", got, offsets)
		}
		if got := b.getIndices(sC.places, p.C.Indices, count); !slices.Equal(got, indices) {
			t.Fatalf("columns are %v, want %v", got, indices)
		}
		values := b.get(k.t, p.C.Values, count)
		for r := range m {
			for c := range n {
				if *product.at(r, c) == 0 {
					continue
				}
				var want sum
				for q := range inner {
					want.add(alpha * *x.at(r, q) * *y.at(q, c))
				}
				want.add(beta * before[len(before)-len(values)])
				if !want.near(values[0], k.unit, 0) {
					t.Fatalf("%s: element %d,%d is %v, want %v", k.name, r, c, values[0], want.v)
				}
				values = values[1:]
			}
		}
	}
}

// TestSums: alpha * A + beta * B.
func TestSums(t *testing.T) {
	b := start(t, nil)
	for i := range 16 {
		k, s := kinds[i%4], shapes[0]
		s.base = i / 4 % 2
		m, n := 1+b.r.IntN(40), 1+b.r.IntN(40)
		x, y := b.random(k.t, m, n, 0.3), b.random(k.t, m, n, 0.3)
		alpha, beta := b.pickScalar(k.t), b.pickScalar(k.t)
		united, count := newFull(m, n), 0
		for j := range united.of {
			if x.of[j] != 0 || y.of[j] != 0 {
				united.of[j] = 1
				count++
			}
		}
		a, c, to := b.matrix(k.t, x, s), b.matrix(k.t, y, s), b.empty(k.t, united, s, count)
		total := new(int32)
		b.want("count", b.call.CountSum(a, c, to, libstest.At(b.GPU, total)), sparse.Success)
		if int(*total) != count {
			t.Fatalf("%d elements, want %d", *total, count)
		}
		b.want("sum", b.call.Add(b.scalar(k.t, alpha), a, b.scalar(k.t, beta), c, to), sparse.Success)
		offsets, indices, _ := united.parts(s)
		if got := b.getIndices(s.offsets, to.Offsets, m+1); !slices.Equal(got, offsets) {
			t.Fatalf("offsets are %v, want %v", got, offsets)
		}
		if got := b.getIndices(s.places, to.Indices, count); !slices.Equal(got, indices) {
			t.Fatalf("columns are %v, want %v", got, indices)
		}
		values := b.get(k.t, to.Values, count)
		for j := range united.of {
			if united.of[j] == 0 {
				continue
			}
			var want sum
			want.add(alpha * x.of[j])
			want.add(beta * y.of[j])
			if !want.near(values[0], k.unit, 0) {
				t.Fatalf("%s: element %d is %v, want %v", k.name, j, values[0], want.v)
			}
			values = values[1:]
		}
	}
}

// TestSystems: triangular systems of all formats, operations, triangles and diagonals. What
// the other triangle stores is not read. The test multiplies the solution.
func TestSystems(t *testing.T) {
	b := start(t, nil)
	for i := range 2 * 4 * len(shapes) {
		k, s := kinds[i%4], shapes[i%len(shapes)]
		n, sides := 1+b.r.IntN(50), 1+b.r.IntN(5)
		opA, opB := blas.Op(b.r.IntN(3)), blas.Op(b.r.IntN(3))
		f := b.random(k.t, n, n, 0.3)
		for j := range n {
			*f.at(j, j) = 4 // no large solutions
			for l := range n {
				if l != j {
					*f.at(j, l) /= complex(float64(2*n), 0)
					_, *f.at(j, l) = libstest.Encode(int32(k.t), *f.at(j, l))
				}
			}
		}
		m := b.matrix(k.t, f, s)
		fill, diag := int32(b.r.IntN(2)), int32(b.r.IntN(2))
		b.want("triangle", m.SetAttribute(0, fill), sparse.Success)
		b.want("diagonal", m.SetAttribute(1, diag), sparse.Success)
		triangle := newFull(n, n)
		for r := range n {
			for c := range n {
				switch {
				case r == c && diag == 1:
					*triangle.at(r, c) = 1
				case r == c || (r > c) == (fill == 0):
					*triangle.at(r, c) = *f.at(r, c)
				}
			}
		}
		triangle = triangle.after(opA)
		right := b.random(k.t, n, sides, 1)
		alpha := b.pickScalar(k.t)
		p := sparse.System{
			OpA: opA, OpB: opB, Alpha: b.scalar(k.t, alpha), A: m, B: b.dense(k.t, right.after(opB)), C: b.dense(k.t, newFull(n, sides)), Compute: k.t,
		}
		h := sparse.NewSolver()
		with, _ := sparse.Get[sparse.Solver](h)
		b.want("too early", b.call.Solve(p, with), sparse.InvalidValue)
		b.want("analysis", with.Prepare(p), sparse.Success)
		b.want("solve", b.call.Solve(p, with), sparse.Success)
		if i%2 == 1 { // further systems with other values, of which this one solves for half
			doubled := append([]complex128(nil), f.of...)
			for j := range doubled {
				doubled[j] *= 2
			}
			_, _, values := full{n, n, doubled}.parts(s)
			b.want("the diagonal alone", with.Replace(m.Values, 1), sparse.NotSupported)
			b.want("no values", with.Replace(0, 0), sparse.InvalidValue)
			b.want("other values", with.Replace(b.put(k.t, values), 0), sparse.Success)
			b.want("solve again", b.call.Solve(p, with), sparse.Success)
			for r := range n {
				for c := range n {
					if r != c || diag == 0 {
						*triangle.at(r, c) *= 2
					}
				}
			}
		}
		b.want("end", sparse.Remove[sparse.Solver](h), sparse.Success)
		got := b.back(p.C)
		for r := range n {
			for c := range sides {
				var want sum
				for q := range n {
					want.add(*triangle.at(r, q) * *got.at(q, c))
				}
				if v := alpha * *right.at(r, c); cmplx.Abs(v-want.v) > k.unit*float64(want.n+8)*(real(want.most)+cmplx.Abs(v)) {
					t.Fatalf("%s, %v, operations %d %d, triangle %d, diagonal %d: row %d of the product is %v, want %v", k.name, s, opA, opB, fill, diag, r, want.v, v)
				}
			}
		}
	}
}

// TestVectors: the functions of sparse and dense vectors.
func TestVectors(t *testing.T) {
	b := start(t, nil)
	for i := range 4 * len(kinds) {
		k, width, base := kinds[i%len(kinds)], sparse.Index32+sparse.IndexType(i/2%2), i%2
		compute := sumType(k.t)
		n := 1 + b.r.IntN(900)
		places := b.r.Perm(n)[:b.r.IntN(n+1)]
		stored := make([]int, len(places))
		for j, p := range places {
			stored[j] = p + base
		}
		xs, ys := b.random(k.t, 1, len(places), 1).of, b.random(k.t, 1, n, 1).of
		x := &sparse.Sparse{Size: int64(n), NNZ: int64(len(places)), Indices: b.indices(width, stored), IndexType: width, Base: int32(base), Type: k.t}
		h, r := sparse.NewVector(int64(n), b.put(k.t, ys), k.t)
		b.want("vector", r, sparse.Success)
		y, _ := sparse.Get[sparse.Vector](h)
		fresh := func() { x.Values, y.Values = b.put(k.t, xs), b.put(k.t, ys) }
		check := func(what string, at uint64, j int, want sum) {
			if got := b.get(k.t, at+uint64(j)*uint64(k.t.Size()), 1)[0]; !want.near(got, k.unit, k.store) {
				t.Fatalf("%s, %s: element %d is %v, want %v", k.name, what, j, got, want.v)
			}
		}
		alpha, beta := b.pickScalar(compute), b.pickScalar(compute)
		of := map[int]int{} // places in y that x has
		for j, p := range places {
			of[p] = j
		}

		fresh()
		b.want("axpby", b.call.Axpby(b.scalar(compute, alpha), x, b.scalar(compute, beta), y), sparse.Success)
		for j := range min(n, 60) {
			var want sum
			want.add(beta * ys[j])
			if p, ok := of[j]; ok {
				want.add(alpha * xs[p])
			}
			want.most += complex(cmplx.Abs(want.v)+cmplx.Abs(beta*ys[j]), 0)
			if k.store > 0 { // beta * y is stored, and rounded, before alpha * x is added
				want.most += complex(cmplx.Abs(beta*ys[j])*k.store/k.unit, 0)
			}
			check("axpby", y.Values, j, want)
		}
		fresh()
		b.want("gather", b.call.Gather(y, x), sparse.Success)
		for j, v := range b.get(k.t, x.Values, len(places)) {
			if v != ys[places[j]] {
				t.Fatalf("%s, gather: element %d is %v, want %v", k.name, j, v, ys[places[j]])
			}
		}
		fresh()
		b.want("scatter", b.call.Scatter(x, y), sparse.Success)
		for j, v := range b.get(k.t, y.Values, n) {
			want := ys[j]
			if p, ok := of[j]; ok {
				want = xs[p]
			}
			if v != want {
				t.Fatalf("%s, scatter: element %d is %v, want %v", k.name, j, v, want)
			}
		}
		fresh()
		b.want("rotate", b.call.Rotate(b.scalar(compute, alpha), b.scalar(compute, beta), x, y), sparse.Success)
		for j, p := range places[:min(len(places), 40)] {
			var one, other sum
			one.add(alpha * xs[j])
			one.add(beta * ys[p])
			other.add(alpha * ys[p])
			other.add(-beta * xs[j])
			check("rotated x", x.Values, j, one)
			check("rotated y", y.Values, p, other)
		}
		fresh()
		op := blas.Op(2 * b.r.IntN(2))
		var want sum
		for j, p := range places {
			v := xs[j]
			if op == blas.C {
				v = cmplx.Conj(v)
			}
			want.add(v * ys[p])
		}
		result := make([]byte, 16)
		b.want("dot", b.call.Dot(op, x, y, libstest.At(b.GPU, &result[0]), 0, compute), sparse.Success)
		if got := libstest.Decode(int32(compute), result[:compute.Size()]); !want.near(got, k.unit, 0) {
			t.Fatalf("%s, operation %d: the sum is %v, want %v", k.name, op, got, want.v)
		}
	}
}
