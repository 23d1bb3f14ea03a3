package blas_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle/internal/libs/blas"
)

// matrix is a matrix on the device and what its elements are, row by row.
type matrix struct {
	blas.Matrix
	place  func(i, j int) int // of a stored element
	stored func(i, j int) bool
	values []complex128 // as they lie
	full   [][]complex128
}

// structured makes a random square matrix of n rows, with k bands. What the structure
// implies is not a number in memory, so that nobody reads it.
func (b *bench) structured(r *rand.Rand, t blas.Type, n, k int, p *blas.Problem, diagonal float64) matrix {
	m := matrix{}
	ld := n + r.IntN(3)
	size := ld * n
	upper := p.Fill == blas.Upper
	switch p.Storage {
	case blas.Dense:
		m.place = func(i, j int) int { return i + j*ld }
	case blas.Banded:
		ld = k + 1 + r.IntN(3)
		size = ld * n
		m.place = func(i, j int) int {
			if upper {
				return k + i - j + j*ld
			}
			return i - j + j*ld
		}
	case blas.Packed:
		size = n * (n + 1) / 2
		m.place = func(i, j int) int {
			if upper {
				return i + j*(j+1)/2
			}
			return i + (2*n-j-1)*j/2
		}
	}
	m.stored = func(i, j int) bool {
		return (i == j || (i < j) == upper) && (p.Storage != blas.Banded || i-j <= k && j-i <= k)
	}
	values := make([]complex128, size)
	for i := range values {
		values[i] = complex(math.NaN(), math.NaN())
	}
	for i := range n {
		for j := range n {
			if m.stored(i, j) && !(i == j && p.Kind == blas.Triangular && p.Diag == blas.Unit) {
				v := random(r, t, 1)[0]
				if i == j && p.Kind == blas.Triangular {
					v = v*0.25 + complex(diagonal, 0)
				}
				if i == j && p.Kind == blas.Hermitian {
					v = complex(real(v), math.NaN()) // documented as taken for zero
					if !t.Complex() {
						v = complex(real(v), 0)
					}
				}
				values[m.place(i, j)] = v
			}
		}
	}
	at, exact := b.store(t, values)
	m.values, m.Matrix = exact, blas.Matrix{At: at, Type: t, LD: int64(ld)}
	m.full = make([][]complex128, n)
	for i := range n {
		m.full[i] = make([]complex128, n)
		for j := range n {
			switch {
			case i == j && p.Kind == blas.Triangular && p.Diag == blas.Unit:
				m.full[i][j] = 1
			case i == j && p.Kind == blas.Hermitian:
				m.full[i][j] = complex(real(exact[m.place(i, j)]), 0)
			case m.stored(i, j):
				m.full[i][j] = exact[m.place(i, j)]
			case p.Kind == blas.Symmetric && m.stored(j, i):
				m.full[i][j] = exact[m.place(j, i)]
			case p.Kind == blas.Hermitian && m.stored(j, i):
				m.full[i][j] = conjugate(exact[m.place(j, i)])
			}
		}
	}
	return m
}

// of is op applied to a matrix.
func of(op blas.Op, m [][]complex128) [][]complex128 {
	if op == blas.N {
		return m
	}
	if len(m) == 0 {
		return nil
	}
	t := make([][]complex128, len(m[0]))
	for i := range t {
		t[i] = make([]complex128, len(m))
		for j := range m {
			t[i][j] = m[j][i]
			if op == blas.C {
				t[i][j] = conjugate(t[i][j])
			}
		}
	}
	return t
}

// dense makes a random matrix of rows and columns.
func (b *bench) dense(r *rand.Rand, t blas.Type, rows, columns int) matrix {
	ld := rows + r.IntN(3)
	at, values := b.store(t, random(r, t, max(1, ld*columns)))
	m := matrix{Matrix: blas.Matrix{At: at, Type: t, LD: int64(max(1, ld))}, values: values, place: func(i, j int) int { return i + j*ld }}
	for i := range rows {
		m.full = append(m.full, make([]complex128, columns))
		for j := range columns {
			m.full[i][j] = values[i+j*ld]
		}
	}
	return m
}

// product is A * x, and the sum of the sizes of its terms.
func product(a [][]complex128, x func(int) complex128, i int) (sum complex128, size float64) {
	for j, v := range a[i] {
		sum += v * x(j)
		size += abs(v) * abs(x(j))
	}
	return sum, size
}

// factors are values of alpha and beta.
func factors(r *rand.Rand, t blas.Type) (alpha, beta complex128) {
	list := []complex128{0, 1, -1, 0.75}
	if t.Complex() {
		list = append(list, 0.5-0.25i)
	}
	return list[r.IntN(len(list))], list[r.IntN(len(list))]
}

// TestGemv: general matrices, tall, wide and small, in batches.
func TestGemv(t *testing.T) {
	for _, c := range append(elements, []struct {
		t        blas.Type
		sum, out float64
	}{{-blas.F16, 0x1p-23, 0x1p-23}, {-blas.BF16, 0x1p-23, 0x1p-23}}...) { // negative: results of f32
		out := c.t
		if c.t < 0 {
			c.t, out = -c.t, blas.F32
		}
		t.Run(fmt.Sprintf("%v-%v", c.t, out), func(t *testing.T) {
			b := start(t, "rtx-2060")
			r := rand.New(rand.NewPCG(uint64(c.t), 17))
			for _, size := range [][2]int{{1, 1}, {0, 3}, {7, 130}, {900, 3}, {3, 900}, {70, 41}, {4100, 2}} {
				for _, op := range []blas.Op{blas.N, blas.T, blas.C} {
					m, n := size[0], size[1]
					a := b.dense(r, c.t, m, n)
					full := of(op, a.full)
					rows, columns := len(full), n
					if op != blas.N {
						columns = m
					}
					incs := []int{1, 2, -1, -2}
					x, y := b.vector(r, c.t, columns, incs[r.IntN(4)]), b.vector(r, out, rows, incs[r.IntN(4)])
					if m == 0 { // nothing happens
						rows, y.n = 0, 0
					}
					alpha, beta := factors(r, c.t)
					scalar := c.t
					if scalar == blas.F16 || scalar == blas.BF16 {
						scalar = blas.F32
					}
					b.mode(r)
					p := blas.Problem{
						OpA: op, M: int64(m), N: int64(n), A: a.Matrix, B: x.Matrix, C: y.Matrix, Batch: 1, Scalar: scalar,
						Alpha: b.scalar(scalar, alpha), Beta: b.scalar(scalar, beta),
					}
					b.want("gemv", b.Gemv(p), blas.Success)
					b.check(fmt.Sprintf("%+v, alpha %v, beta %v", p, alpha, beta), y, func(i int) (complex128, float64) {
						sum, size := product(full, x.get, i)
						w := alpha*sum + beta*y.get(i)
						return w, abs(alpha)*size*c.sum*float64(columns+2) + (abs(w)+abs(beta*y.get(i)))*c.out*2
					})
				}
			}
		})
	}
}

// TestGemvBatch: every member of a batch, by stride and by list.
func TestGemvBatch(t *testing.T) {
	b := start(t, "rtx-2060")
	r := rand.New(rand.NewPCG(1, 19))
	const m, n, batch = 5, 3, 4
	aAt, a := b.store(blas.F32, random(r, blas.F32, m*n*batch))
	xAt, x := b.store(blas.F32, random(r, blas.F32, n*batch))
	for _, listed := range []bool{false, true} {
		yAt, _ := b.store(blas.F32, make([]complex128, m*batch))
		p := blas.Problem{
			M: m, N: n, Batch: batch, Scalar: blas.F32, Alpha: b.scalar(blas.F32, 1), Beta: b.scalar(blas.F32, 0),
			A: blas.Matrix{At: aAt, Type: blas.F32, LD: m, Stride: m * n}, B: blas.Matrix{At: xAt, Type: blas.F32, LD: 1, Stride: n},
			C: blas.Matrix{At: yAt, Type: blas.F32, LD: 1, Stride: m},
		}
		if listed {
			p.A, p.B, p.C = b.listed(p.A, batch), b.listed(p.B, batch), b.listed(p.C, batch)
		}
		b.want("gemv", b.Gemv(p), blas.Success)
		y := b.load(blas.F32, yAt, m*batch)
		for z := range batch {
			for i := range m {
				var want complex128
				for j := range n {
					want += a[z*m*n+i+j*m] * x[z*n+j]
				}
				if !(abs(y[z*m+i]-want) <= 1e-6) {
					t.Errorf("listed %v, matrix %d, row %d: %v, want %v", listed, z, i, y[z*m+i], want)
				}
			}
		}
	}
}

// TestBands: general matrices with bands.
func TestBands(t *testing.T) {
	for _, c := range numbers {
		t.Run(fmt.Sprint(c.t), func(t *testing.T) {
			b := start(t, "rtx-2060")
			r := rand.New(rand.NewPCG(uint64(c.t), 23))
			for _, size := range [][4]int{{1, 1, 0, 0}, {40, 33, 2, 5}, {20, 70, 3, 0}, {70, 5, 30, 9}} {
				for _, op := range []blas.Op{blas.N, blas.T, blas.C} {
					m, n, kl, ku := size[0], size[1], size[2], size[3]
					ld := kl + ku + 1 + r.IntN(2)
					values := random(r, c.t, ld*n)
					full := make([][]complex128, m)
					stored := make([]bool, len(values))
					for i := range m {
						full[i] = make([]complex128, n)
						for j := range n {
							if i-j <= kl && j-i <= ku {
								stored[ku+i-j+j*ld] = true
							}
						}
					}
					for i := range values {
						if !stored[i] {
							values[i] = complex(math.NaN(), 0)
						}
					}
					at, values := b.store(c.t, values)
					for i := range m {
						for j := range n {
							if i-j <= kl && j-i <= ku {
								full[i][j] = values[ku+i-j+j*ld]
							}
						}
					}
					full = of(op, full)
					x, y := b.vector(r, c.t, len(full[0]), -2), b.vector(r, c.t, len(full), 1)
					alpha, beta := factors(r, c.t)
					b.mode(r)
					p := blas.Problem{
						OpA: op, M: int64(m), N: int64(n), KL: int64(kl), KU: int64(ku), B: x.Matrix, C: y.Matrix, Scalar: c.t,
						A: blas.Matrix{At: at, Type: c.t, LD: int64(ld)}, Alpha: b.scalar(c.t, alpha), Beta: b.scalar(c.t, beta),
					}
					b.want("gbmv", b.Mv(p), blas.Success)
					b.check(fmt.Sprintf("%+v", p), y, func(i int) (complex128, float64) {
						sum, size := product(full, x.get, i)
						w := alpha*sum + beta*y.get(i)
						return w, abs(alpha)*size*c.eps*float64(len(full[0])+2) + (abs(w)+abs(beta*y.get(i)))*c.eps*2
					})
				}
			}
		})
	}
}

// TestStructuredVectors: products and solutions for symmetric, Hermitian and triangular
// matrices in all storages. Solutions have a small residual, as in TestTrsm.
func TestStructuredVectors(t *testing.T) {
	for _, c := range numbers {
		t.Run(fmt.Sprint(c.t), func(t *testing.T) {
			b := start(t, "rtx-2060")
			r := rand.New(rand.NewPCG(uint64(c.t), 29))
			for _, n := range []int{1, 5, 32, 75} {
				for _, kind := range []blas.Kind{blas.Symmetric, blas.Hermitian, blas.Triangular} {
					for _, storage := range []blas.Storage{blas.Dense, blas.Banded, blas.Packed} {
						for _, fill := range []blas.Fill{blas.Lower, blas.Upper} {
							k := r.IntN(n + 2)
							p := blas.Problem{Kind: kind, Storage: storage, Fill: fill, N: int64(n), K: int64(k), Scalar: c.t}
							incs := []int{1, 3, -1, -2}
							b.mode(r)
							if kind != blas.Triangular {
								a := b.structured(r, c.t, n, k, &p, 0)
								alpha, beta := factors(r, c.t)
								x, y := b.vector(r, c.t, n, incs[r.IntN(4)]), b.vector(r, c.t, n, incs[r.IntN(4)])
								p.A, p.B, p.C, p.Alpha, p.Beta = a.Matrix, x.Matrix, y.Matrix, b.scalar(c.t, alpha), b.scalar(c.t, beta)
								b.want("mv", b.Mv(p), blas.Success)
								b.check(fmt.Sprintf("mv %+v, alpha %v, beta %v", p, alpha, beta), y, func(i int) (complex128, float64) {
									sum, size := product(a.full, x.get, i)
									w := alpha*sum + beta*y.get(i)
									return w, abs(alpha)*size*c.eps*float64(n+2) + (abs(w)+abs(beta*y.get(i)))*c.eps*2
								})
								continue
							}
							for _, op := range []blas.Op{blas.N, blas.T, blas.C} {
								p.OpA, p.Diag = op, blas.Diag(r.IntN(2))
								a := b.structured(r, c.t, n, k, &p, float64(n))
								full := of(op, a.full)
								x := b.vector(r, c.t, n, incs[r.IntN(4)])
								p.A, p.C = a.Matrix, x.Matrix
								if p.Diag == blas.NonUnit || n <= 5 { // others grow
									b.want("sv", b.Trsv(p), blas.Success)
									got := x
									got.values = b.load(c.t, x.At, len(x.values))
									for i := range n {
										sum, size := product(full, got.get, i)
										bound := (size + abs(x.get(i))) * c.eps * float64(n+2)
										if !(abs(sum-x.get(i)) <= bound) {
											t.Fatalf("sv %+v: residual %g in row %d, want %g", p, abs(sum-x.get(i)), i, bound)
										}
									}
									x = got
								}
								b.want("mv", b.Trmv(p), blas.Success)
								b.check(fmt.Sprintf("mv %+v", p), x, func(i int) (complex128, float64) {
									w, size := product(full, x.get, i)
									return w, size * c.eps * float64(n+2)
								})
							}
						}
					}
				}
			}
		})
	}
}

// TestRank: products of vectors that are added to general, symmetric and Hermitian
// matrices.
func TestRank(t *testing.T) {
	for _, c := range numbers {
		t.Run(fmt.Sprint(c.t), func(t *testing.T) {
			b := start(t, "rtx-2060")
			r := rand.New(rand.NewPCG(uint64(c.t), 31))
			incs := []int{1, 3, -1, -2}
			for _, size := range [][2]int{{1, 1}, {40, 33}, {7, 70}} {
				m, n := size[0], size[1]
				for _, op := range []blas.Op{blas.T, blas.C} {
					b.mode(r)
					a := b.dense(r, c.t, m, n)
					x, y := b.vector(r, c.t, m, incs[r.IntN(4)]), b.vector(r, c.t, n, incs[r.IntN(4)])
					alpha, _ := factors(r, c.t)
					p := blas.Problem{OpB: op, M: int64(m), N: int64(n), A: x.Matrix, B: y.Matrix, C: a.Matrix, Alpha: b.scalar(c.t, alpha), Scalar: c.t}
					b.want("ger", b.Rank(p), blas.Success)
					got := b.load(c.t, a.At, len(a.values))
					for i := range m {
						for j := range n {
							v := y.get(j)
							if op == blas.C {
								v = conjugate(v)
							}
							term := alpha * x.get(i) * v
							if bound := 4 * c.eps * (abs(term) + abs(a.full[i][j])); !(abs(got[a.place(i, j)]-a.full[i][j]-term) <= bound) {
								t.Fatalf("%+v: element (%d,%d) is %v, want %v", p, i, j, got[a.place(i, j)], a.full[i][j]+term)
							}
						}
					}
				}
				for _, kind := range []blas.Kind{blas.Symmetric, blas.Hermitian} {
					for _, storage := range []blas.Storage{blas.Dense, blas.Packed} {
						for _, both := range []bool{false, true} {
							b.mode(r)
							p := blas.Problem{Kind: kind, Storage: storage, Fill: blas.Fill(r.IntN(2)), Both: both, N: int64(n), Scalar: c.t}
							alpha := complex(0.75, 0)
							if both && c.t.Complex() {
								alpha += 0.5i
							}
							if kind == blas.Hermitian && !both {
								p.Scalar = part(c.t)
							}
							a := b.structured(r, c.t, n, 0, &p, 0)
							x, y := b.vector(r, c.t, n, incs[r.IntN(4)]), b.vector(r, c.t, n, incs[r.IntN(4)])
							if !both {
								y = x
							}
							p.A, p.B, p.C, p.Alpha = x.Matrix, y.Matrix, a.Matrix, b.scalar(p.Scalar, alpha)
							b.want("rank", b.Rank(p), blas.Success)
							got := b.load(c.t, a.At, len(a.values))
							for i := range n {
								for j := range n {
									if !a.stored(i, j) {
										continue
									}
									turn := func(v complex128) complex128 {
										if kind == blas.Hermitian {
											return conjugate(v)
										}
										return v
									}
									term := alpha * x.get(i) * turn(y.get(j))
									if both {
										term += turn(alpha) * y.get(i) * turn(x.get(j))
									}
									size := 2 * abs(alpha) * (abs(x.get(i))*abs(y.get(j)) + abs(y.get(i))*abs(x.get(j)))
									if bound := 4 * c.eps * (size + abs(a.full[i][j])); !(abs(got[a.place(i, j)]-a.full[i][j]-term) <= bound) {
										t.Fatalf("%+v: element (%d,%d) is %v, want %v", p, i, j, got[a.place(i, j)], a.full[i][j]+term)
									}
								}
							}
						}
					}
				}
			}
		})
	}
}
