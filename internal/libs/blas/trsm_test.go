package blas_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle/internal/libs/blas"
	"github.com/heddle-sim/heddle/internal/libs/libstest"
)

// real types and complex ones, with the relative error of one step of a sum.
var numbers = []struct {
	t   blas.Type
	eps float64
}{{blas.F32, 0x1p-23}, {blas.F64, 0x1p-52}, {blas.C32, 0x1p-22}, {blas.C64, 0x1p-51}}

// scalar puts a number where the pointer mode says that it lies.
func (b *bench) scalar(t blas.Type, v complex128) uint64 {
	bits, _ := encode(t, v)
	if b.Pointers == blas.OnHost {
		return libstest.At(b.GPU, &bits[0])
	}
	return libstest.Put(b.GPU, bits)
}

// mode chooses the pointer mode.
func (b *bench) mode(r *rand.Rand) { b.Pointers = blas.PointerMode(r.IntN(2)) }

// triangle is an element of op(A) of a triangular matrix.
func triangle(a []complex128, fill blas.Fill, diag blas.Diag, op blas.Op, ld, row, col int) complex128 {
	above := col > row
	if op != blas.N {
		above = !above
	}
	switch {
	case row == col && diag == blas.Unit:
		return 1
	case row != col && above != (fill == blas.Upper):
		return 0
	}
	return element(a, op, ld, row, col)
}

// TestTrsm: solutions have a small residual: |op(A) X - alpha B| is at most a rounding
// error per term of the sums of |op(A)| |X| (Higham, Accuracy and Stability of Numerical
// Algorithms, theorem 8.5, which holds for every order of the sums).
func TestTrsm(t *testing.T) {
	for _, c := range numbers {
		t.Run(fmt.Sprint(c.t), func(t *testing.T) {
			b := start(t, "rtx-2060")
			r := rand.New(rand.NewPCG(uint64(c.t), 7))
			for i, size := range [][2]int{{1, 1}, {5, 3}, {33, 1}, {40, 37}, {150, 20}, {70, 1}, {3, 64}} {
				for range 4 {
					m, n := size[0], size[1]
					p := blas.Problem{
						Side: blas.Side(r.IntN(2)), Fill: blas.Fill(r.IntN(2)), Diag: blas.Diag(r.IntN(2)), OpA: blas.Op(r.IntN(3)),
						M: int64(m), N: int64(n), Batch: 1 + int64(r.IntN(2)), Scalar: c.t,
					}
					if p.Side == blas.Right {
						m, n = n, m
						p.M, p.N = int64(m), int64(n)
					}
					rows := size[0]
					batch := int(p.Batch)
					lda, ldb := rows+r.IntN(3), m+r.IntN(3)
					a := random(r, c.t, lda*rows*batch)
					for k := range a { // a diagonal that keeps the solution from growing
						a[k] *= complex(1/float64(rows), 0)
						if row, col := k%lda, k/lda%rows; row == col {
							a[k] += 1
						}
					}
					aAt, a := b.store(c.t, a)
					bAt, before := b.store(c.t, random(r, c.t, ldb*n*batch))
					p.A = blas.Matrix{At: aAt, Type: c.t, LD: int64(lda), Stride: int64(lda * rows)}
					p.C = blas.Matrix{At: bAt, Type: c.t, LD: int64(ldb), Stride: int64(ldb * n)}
					if i%2 == 1 { // as lists
						p.A, p.C = b.listed(p.A, batch), b.listed(p.C, batch)
					}
					alpha := []complex128{1, 0, -0.75}[r.IntN(3)]
					b.mode(r)
					p.Alpha = b.scalar(c.t, alpha)
					b.want("trsm", b.Trsm(p), blas.Success)
					x := b.load(c.t, bAt, ldb*n*batch)
					what := fmt.Sprintf("%+v, alpha %v", p, alpha)
					at := func(of []complex128, z, row, col int) complex128 { return of[z*ldb*n+row+col*ldb] }
					for z := range batch {
						az := a[z*lda*rows:]
						for col := range n {
							for row := range ldb {
								if row >= m {
									if at(x, z, row, col) != at(before, z, row, col) {
										t.Fatalf("%s: wrote to row %d of column %d", what, row, col)
									}
									continue
								}
								want := alpha * at(before, z, row, col)
								sum, size := -want, abs(want)
								for k := range rows {
									var f, g complex128
									if p.Side == blas.Left {
										f, g = triangle(az, p.Fill, p.Diag, p.OpA, lda, row, k), at(x, z, k, col)
									} else {
										f, g = triangle(az, p.Fill, p.Diag, p.OpA, lda, k, col), at(x, z, row, k)
									}
									sum += f * g
									size += abs(f) * abs(g)
								}
								if !(abs(sum) <= size*c.eps*float64(rows+2)) {
									t.Fatalf("%s: residual %g at (%d,%d) of matrix %d, want %g", what, abs(sum), row, col, z, size*c.eps*float64(rows+2))
								}
							}
						}
					}
				}
			}
		})
	}
}

// TestTrsmZero: where alpha is zero, so is X, and A is not read.
func TestTrsmZero(t *testing.T) {
	b := start(t, "rtx-2060")
	r := rand.New(rand.NewPCG(3, 7))
	for _, c := range numbers {
		for _, b.Pointers = range []blas.PointerMode{blas.OnHost, blas.OnDevice} {
			for _, side := range []blas.Side{blas.Left, blas.Right} {
				for _, n := range []int{60, 100} {
					values := make([]complex128, n*n)
					for i := range values {
						values[i] = complex(math.NaN(), math.NaN())
					}
					a, _ := b.store(c.t, values)
					const other, batch = 3, 2
					x, _ := b.store(c.t, random(r, c.t, n*other*batch))
					p := blas.Problem{
						Side: side, M: int64(n), N: other, Batch: batch, Alpha: b.scalar(c.t, 0), Scalar: c.t,
						A: blas.Matrix{At: a, Type: c.t, LD: int64(n)}, C: blas.Matrix{At: x, Type: c.t, LD: int64(n), Stride: int64(n * other)},
					}
					if side == blas.Right {
						p.M, p.N, p.C.LD = other, int64(n), other
					}
					b.want("trsm", b.Trsm(p), blas.Success)
					for i, v := range b.load(c.t, x, n*other*batch) {
						if v != 0 {
							t.Fatalf("type %v, mode %v, side %v, %d rows of A: element %d of X is %v, want 0", c.t, b.Pointers, side, n, i, v)
						}
					}
				}
			}
		}
	}
}

// listed is a batch as an array of pointers.
func (b *bench) listed(m blas.Matrix, batch int) blas.Matrix {
	list := make([]uint64, batch)
	for i := range list {
		list[i] = m.At + uint64(int64(i)*m.Stride*m.Type.Size())
	}
	return blas.Matrix{At: libstest.Put(b.GPU, list), Type: m.Type, LD: m.LD, Listed: true}
}
