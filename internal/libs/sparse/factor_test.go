package sparse_test

import (
	"math/cmplx"
	"testing"

	"github.com/heddle-sim/heddle/internal/libs/blas"
	"github.com/heddle-sim/heddle/internal/libs/libstest"
	"github.com/heddle-sim/heddle/internal/libs/sparse"
)

// TestFactors: incomplete factors. The product of L and U, and of L and its conjugate
// transposition, is the matrix where that has elements.
func TestFactors(t *testing.T) {
	b := start(t, nil)
	for i := range 16 {
		k, s, n := kinds[i%4], shapes[0], 1+b.r.IntN(60)
		s.base = i / 4 % 2
		hermitian := i >= 8
		f := b.random(k.t, n, n, 0.2)
		for r := range n {
			*f.at(r, r) = complex(float64(n), 0) // no large factors
			for c := range r {
				if hermitian {
					*f.at(r, c) = cmplx.Conj(*f.at(c, r))
				}
			}
		}
		m := b.matrix(k.t, f, s)
		h := sparse.NewFactors(b.Thread)
		info, _ := sparse.Get[sparse.Factors](h)
		b.want("too early", b.call.ILU(m, info), sparse.InvalidValue)
		b.want("analysis", b.call.Prepare(m, info), sparse.Success)
		call := b.call.ILU
		if hermitian {
			call = b.call.Cholesky
		}
		b.want("factors", call(m, info), sparse.Success)
		row := new(int32)
		b.want("pivot", b.call.Pivot(info, libstest.At(b.GPU, row)), sparse.Success)
		if *row != -1 {
			t.Errorf("the pivot of row %d is zero", *row)
		}
		b.want("end", sparse.DestroyFactors(b.Thread, h), sparse.Success)
		d := b.dense(k.t, newFull(n, n))
		b.want("dense", b.call.ToDense(m, d), sparse.Success)
		got := b.back(d)
		lower, upper := newFull(n, n), newFull(n, n)
		for r := range n {
			for c := range n {
				switch {
				case hermitian && r >= c:
					*lower.at(r, c) = *got.at(r, c)
				case !hermitian && r > c:
					*lower.at(r, c) = *got.at(r, c)
				case !hermitian:
					*upper.at(r, c) = *got.at(r, c)
				}
			}
			if !hermitian {
				*lower.at(r, r) = 1
			}
		}
		if hermitian {
			upper = lower.after(blas.C)
		}
		for r := range n {
			for c := range n {
				if *f.at(r, c) == 0 || hermitian && c > r {
					continue
				}
				var want sum
				for q := range n {
					want.add(*lower.at(r, q) * *upper.at(q, c))
				}
				if v := *f.at(r, c); cmplx.Abs(v-want.v) > k.unit*float64(n+8)*(real(want.most)+cmplx.Abs(v)) {
					t.Fatalf("%s, %d rows, Hermitian %v: element %d,%d of the product is %v, want %v", k.name, n, hermitian, r, c, want.v, v)
				}
			}
		}
	}
}

// TestZeroPivot: the first row whose diagonal is zero or missing, as the matrix counts.
func TestZeroPivot(t *testing.T) {
	b := start(t, nil)
	s := shapes[0]
	s.base = 1
	for _, c := range []struct {
		name string
		of   []complex128
		want int32
	}{
		{"missing", []complex128{2, 0, 0, 0, 0, 1, 0, 0, 3}, 2},
		{"zero after elimination", []complex128{1, 0, 1, 0, 2, 0, 1, 0, 1}, 3},
		{"none", []complex128{1, 0, 0, 0, 1, 0, 0, 0, 1}, -1},
	} {
		m := b.matrix(blas.F64, full{3, 3, c.of}, s)
		info, _ := sparse.Get[sparse.Factors](sparse.NewFactors(b.Thread))
		b.want("analysis", b.call.Prepare(m, info), sparse.Success)
		b.want("factors", b.call.ILU(m, info), sparse.Success)
		row, status := new(int32), sparse.ZeroPivot
		if c.want < 0 {
			status = sparse.Success
		}
		b.want(c.name, b.call.Pivot(info, libstest.At(b.GPU, row)), status)
		if *row != c.want {
			t.Errorf("%s: row %d, want %d", c.name, *row, c.want)
		}
	}
}

// TestStructuralPivot: the analysis finds the first row without a diagonal element, and one
// of another matrix forgets it.
func TestStructuralPivot(t *testing.T) {
	b := start(t, nil)
	const n = 700 // more rows than a block has threads
	for base := range 2 {
		info, _ := sparse.Get[sparse.Factors](sparse.NewFactors(b.Thread))
		for _, c := range []struct {
			name    string
			missing []int
			want    int32
		}{
			{"a diagonal", nil, -1}, {"row 1 lacks it", []int{1}, int32(1 + base)}, {"all there again", nil, -1},
			{"several lack it", []int{650, 699, 300}, int32(300 + base)}, {"the first", []int{0, 1}, int32(base)},
		} {
			offsets, columns := make([]int, n+1), make([]int, n)
			for i := range n {
				offsets[i], columns[i] = i+base, i+base
			}
			offsets[n] = n + base
			for _, i := range c.missing {
				columns[i] = (i+1)%n + base
			}
			m := &sparse.Matrix{
				Format: sparse.CSR, Rows: n, Columns: n, NNZ: n, Offsets: b.indices(sparse.Index32, offsets), Indices: b.indices(sparse.Index32, columns),
				Values: b.put(blas.F32, make([]complex128, n)), OffsetType: sparse.Index32, IndexType: sparse.Index32, Base: int32(base), Type: blas.F32, Batch: 1,
			}
			b.want(c.name, b.call.Prepare(m, info), sparse.Success)
			row, status := new(int32), sparse.ZeroPivot
			if c.want < 0 {
				status = sparse.Success
			}
			b.want(c.name, b.call.Pivot(info, libstest.At(b.GPU, row)), status)
			if *row != c.want {
				t.Errorf("base %d, %s: row %d, want %d", base, c.name, *row, c.want)
			}
		}
	}
}
