package blas_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/libs/blas"
	"github.com/heddle-sim/heddle/internal/libs/libstest"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// compare checks C, of which stored elements were computed, against alpha times sums plus
// beta times what it was.
func (b *bench) compare(what string, c matrix, eps float64, terms int, alpha, beta complex128, sum func(i, j int) (complex128, float64)) {
	b.t.Helper()
	got := b.load(c.Type, c.At, len(c.values))
	own := map[int]bool{}
	for i := range c.full {
		for j := range c.full[i] {
			if c.stored != nil && !c.stored(i, j) {
				continue
			}
			own[c.place(i, j)] = true
			s, size := sum(i, j)
			old := c.full[i][j]
			want := alpha * s
			if beta != 0 {
				want += beta * old
			} else {
				old = 0
			}
			bound := eps * (float64(terms+4)*abs(alpha)*size + 4*abs(beta*old))
			if d := abs(got[c.place(i, j)] - want); !(d <= bound) {
				b.t.Fatalf("%s: element (%d,%d) is %v, want %v ± %g", what, i, j, got[c.place(i, j)], want, bound)
			}
		}
	}
	for at := range got {
		if !own[at] && !same(got[at], c.values[at]) {
			b.t.Fatalf("%s: wrote to %d, outside of what is computed", what, at)
		}
	}
}

// times is element (i, j) of a product and the sum of the sizes of its terms.
func times(a, c [][]complex128, i, j int) (sum complex128, size float64) {
	for k := range c {
		sum += a[i][k] * c[k][j]
		size += abs(a[i][k]) * abs(c[k][j])
	}
	return sum, size
}

// TestStructuredProducts: symm, hemm, trmm and the updates of symmetric and Hermitian
// matrices.
func TestStructuredProducts(t *testing.T) {
	for _, c := range numbers {
		t.Run(fmt.Sprint(c.t), func(t *testing.T) {
			b := start(t, "rtx-2060")
			r := rand.New(rand.NewPCG(uint64(c.t), 37))
			for _, size := range [][2]int{{1, 1}, {40, 33}, {9, 70}} {
				for _, kind := range []blas.Kind{blas.Symmetric, blas.Hermitian, blas.Triangular} {
					for _, side := range []blas.Side{blas.Left, blas.Right} {
						m, n := size[0], size[1]
						b.mode(r)
						p := blas.Problem{Kind: kind, Side: side, Fill: blas.Fill(r.IntN(2)), Diag: blas.Diag(r.IntN(2)), M: int64(m), N: int64(n), Scalar: c.t}
						rows := m
						if side == blas.Right {
							rows = n
						}
						a := b.structured(r, c.t, rows, 0, &p, 1)
						bm, cm := b.dense(r, c.t, m, n), b.dense(r, c.t, m, n)
						alpha, beta := factors(r, c.t)
						p.A, p.B, p.C, p.Alpha, p.Beta = a.Matrix, bm.Matrix, cm.Matrix, b.scalar(c.t, alpha), b.scalar(c.t, beta)
						full := a.full
						if kind == blas.Triangular {
							p.OpA, beta = blas.Op(r.IntN(3)), 0
							full = of(p.OpA, full)
							if r.IntN(2) == 0 { // in place
								p.C, cm = p.B, bm
							}
							b.want("trmm", b.Trmm(p), blas.Success)
						} else {
							b.want("symm", b.Symm(p), blas.Success)
						}
						b.compare(fmt.Sprintf("%+v, alpha %v, beta %v", p, alpha, beta), cm, c.eps, rows, alpha, beta, func(i, j int) (complex128, float64) {
							if side == blas.Left {
								return times(full, bm.full, i, j)
							}
							return times(bm.full, full, i, j)
						})
					}
				}
				for _, kind := range []blas.Kind{blas.Symmetric, blas.Hermitian} {
					for _, op := range []blas.Op{blas.N, blas.T, blas.C} {
						n, k := size[1], size[0]
						if c.t.Complex() && (op == blas.T) == (kind == blas.Hermitian) && op != blas.N {
							continue
						}
						if kind == blas.Hermitian && op == blas.T {
							continue
						}
						for _, both := range []bool{false, true} {
							b.mode(r)
							p := blas.Problem{Kind: kind, OpA: op, Fill: blas.Fill(r.IntN(2)), N: int64(n), K: int64(k), Scalar: c.t, Both: both}
							rows, columns := n, k
							if op != blas.N {
								rows, columns = k, n
							}
							a, bm := b.dense(r, c.t, rows, columns), b.dense(r, c.t, rows, columns)
							cm := b.structured(r, c.t, n, 0, &p, 0)
							alpha, beta := factors(r, c.t)
							if kind == blas.Hermitian { // otherwise C would not be Hermitian
								beta = complex(real(beta), 0)
								if !both {
									alpha, bm = complex(real(alpha), 0), a
								}
							}
							p.A, p.B, p.C, p.Alpha, p.Beta = a.Matrix, bm.Matrix, cm.Matrix, b.scalar(c.t, alpha), b.scalar(c.t, beta)
							b.want("rank k", b.RankK(p), blas.Success)
							turn := blas.T
							if kind == blas.Hermitian {
								turn = blas.C
							}
							opA, opB := of(op, a.full), of(op, bm.full)
							backA, backB := of(turn, opA), of(turn, opB)
							b.compare(fmt.Sprintf("%+v, alpha %v, beta %v", p, alpha, beta), cm, c.eps, 2*k, 1, beta, func(i, j int) (complex128, float64) {
								sum, size := times(opA, backB, i, j)
								sum, size = alpha*sum, abs(alpha)*size
								if both {
									second, more := times(opB, backA, i, j)
									if turn == blas.C {
										second *= conjugate(alpha)
									} else {
										second *= alpha
									}
									sum, size = sum+second, size+abs(alpha)*more
								}
								return sum, size
							})
						}
					}
				}
			}
		})
	}
}

// TestElements: sums of matrices, transposed or not, products with a diagonal, and packed
// triangles.
func TestElements(t *testing.T) {
	for _, c := range numbers {
		t.Run(fmt.Sprint(c.t), func(t *testing.T) {
			b := start(t, "rtx-2060")
			r := rand.New(rand.NewPCG(uint64(c.t), 41))
			for _, size := range [][2]int{{1, 1}, {40, 33}, {9, 70}} {
				m, n := size[0], size[1]
				for opA := range blas.Op(3) {
					for opB := range blas.Op(3) {
						operand := func(op blas.Op) matrix {
							if op == blas.N {
								return b.dense(r, c.t, m, n)
							}
							return b.dense(r, c.t, n, m)
						}
						b.mode(r)
						a, bm, cm := operand(opA), operand(opB), b.dense(r, c.t, m, n)
						alpha, beta := factors(r, c.t)
						p := blas.Problem{
							OpA: opA, OpB: opB, M: int64(m), N: int64(n), A: a.Matrix, B: bm.Matrix, C: cm.Matrix, Scalar: c.t,
							Alpha: b.scalar(c.t, alpha), Beta: b.scalar(c.t, beta),
						}
						if b.Pointers == blas.OnHost && beta == 0 {
							p.B = blas.Matrix{LD: 1 << 20} // need not exist
						}
						b.want("geam", b.Geam(p), blas.Success)
						fullA, fullB := of(opA, a.full), of(opB, bm.full)
						b.compare(fmt.Sprintf("%+v", p), cm, c.eps, 1, 1, 0, func(i, j int) (complex128, float64) {
							x, y := alpha*fullA[i][j], beta*fullB[i][j]
							return x + y, abs(x) + abs(y)
						})
					}
				}
				for side := range blas.Side(2) {
					a, cm := b.dense(r, c.t, m, n), b.dense(r, c.t, m, n)
					x := b.vector(r, c.t, []int{m, n}[side], []int{1, 2, -2}[r.IntN(3)])
					p := blas.Problem{Side: side, M: int64(m), N: int64(n), A: a.Matrix, B: x.Matrix, C: cm.Matrix}
					b.want("dgmm", b.Dgmm(p), blas.Success)
					b.compare(fmt.Sprintf("%+v", p), cm, c.eps, 1, 1, 0, func(i, j int) (complex128, float64) {
						v := a.full[i][j] * x.get([]int{i, j}[side])
						return v, abs(v)
					})
				}
				for fill := range blas.Fill(2) {
					for _, to := range []blas.Storage{blas.Dense, blas.Packed} {
						from := blas.Packed - to + blas.Dense
						p := blas.Problem{Kind: blas.Triangular, Fill: fill, N: int64(n), Storage: from}
						a := b.structured(r, c.t, n, 0, &p, 1)
						p.Storage = to
						cm := b.structured(r, c.t, n, 0, &p, 1)
						p.A, p.C = a.Matrix, cm.Matrix
						b.want("pack", b.Pack(p), blas.Success)
						b.compare(fmt.Sprintf("%+v", p), cm, 0, 0, 1, 0, func(i, j int) (complex128, float64) { return a.full[i][j], 0 })
					}
				}
			}
		})
	}
}

// TestFactors: factors, solutions and inverses have small residuals: rounding errors of
// sums of n terms, times the growth that pivoting allows, for which 16 is plenty here.
func TestFactors(t *testing.T) {
	for _, c := range numbers {
		t.Run(fmt.Sprint(c.t), func(t *testing.T) {
			b := start(t, "rtx-2060")
			r := rand.New(rand.NewPCG(uint64(c.t), 43))
			for _, n := range alltests.Some([]int{5, 45, 1, 32}, 2) {
				for _, pivoting := range []bool{true, false} {
					const batch = 3
					ld := n + r.IntN(3)
					values := random(r, c.t, ld*n*batch)
					if !pivoting {
						for i := range values {
							if i%(ld*n)%ld == i%(ld*n)/ld {
								values[i] += complex(float64(n), 0)
							}
						}
					}
					aAt, a := b.store(c.t, values)
					full := func(z int) (m [][]complex128) {
						for i := range n {
							m = append(m, make([]complex128, n))
							for j := range n {
								m[i][j] = a[z*ld*n+i+j*ld]
							}
						}
						return m
					}
					f := blas.Factor{N: int64(n), Batch: batch, Info: libstest.Put(b.GPU, []int32{7, 7, 7})}
					flat := blas.Matrix{At: aAt, Type: c.t, LD: int64(ld), Stride: int64(ld * n)}
					residual := func(what string, a, x, want [][]complex128, z int) {
						t.Helper()
						for i := range a {
							for j := range x[0] {
								sum, size := times(a, x, i, j)
								if bound := 16 * c.eps * float64(n+2) * (size + abs(want[i][j])) * float64(n); !(abs(sum-want[i][j]) <= bound) {
									t.Fatalf("%s, n %d, matrix %d: residual %g at (%d,%d), want %g", what, n, z, abs(sum-want[i][j]), i, j, bound)
								}
							}
						}
					}
					read := func(m blas.Matrix, z, columns int) (out [][]complex128) {
						all := b.load(c.t, m.At, int(m.Stride)*batch)
						for i := range n {
							out = append(out, make([]complex128, columns))
							for j := range columns {
								out[i][j] = all[z*int(m.Stride)+i+j*int(m.LD)]
							}
						}
						return out
					}
					one := make([][]complex128, n)
					for i := range one {
						one[i] = make([]complex128, n)
						one[i][i] = 1
					}
					cAt, _ := b.store(c.t, make([]complex128, ld*n*batch))
					inverse := flat
					inverse.At = cAt
					if pivoting && n <= 32 {
						f.A, f.C = b.listed(flat, batch), b.listed(inverse, batch)
						b.want("matinv", b.Matinv(f), blas.Success)
						for z := range batch {
							residual("matinv", full(z), read(inverse, z, n), one, z)
						}
					}
					f.C = b.listed(flat, batch)
					if pivoting {
						f.Pivots = libstest.Put(b.GPU, make([]int32, n*batch))
					}
					b.want("getrf", b.Getrf(f), blas.Success)
					for z, info := range libstest.Get[int32](b.GPU, f.Info, batch) {
						if info != 0 {
							t.Fatalf("getrf: info of matrix %d is %d", z, info)
						}
					}
					f.A, f.C = b.listed(flat, batch), b.listed(inverse, batch)
					b.want("getri", b.Getri(f), blas.Success)
					for z := range batch {
						residual("getri", full(z), read(inverse, z, n), one, z)
					}
					for op := range blas.Op(3) {
						const columns = 4
						bAt, right := b.store(c.t, random(r, c.t, n*columns*batch))
						m := blas.Matrix{At: bAt, Type: c.t, LD: int64(n), Stride: int64(n * columns)}
						g := f
						g.Op, g.M, g.N, g.C = op, int64(n), columns, b.listed(m, batch)
						b.want("getrs", b.Getrs(g), blas.Success)
						for z := range batch {
							want := make([][]complex128, n)
							for i := range want {
								for j := range columns {
									want[i] = append(want[i], right[z*n*columns+i+j*n])
								}
							}
							residual("getrs", of(op, full(z)), read(m, z, columns), want, z)
						}
					}
				}
			}
			// A singular matrix: the second row is twice the first.
			at, _ := b.store(c.t, []complex128{1, 2, 2, 4})
			f := blas.Factor{N: 2, Batch: 1, C: b.listed(blas.Matrix{At: at, Type: c.t, LD: 2}, 1), Pivots: libstest.Put(b.GPU, make([]int32, 2)), Info: libstest.Put(b.GPU, []int32{7})}
			b.want("getrf", b.Getrf(f), blas.Success)
			if info := libstest.Get[int32](b.GPU, f.Info, 1)[0]; info != 2 {
				t.Errorf("getrf of a singular matrix: info is %d, want 2", info)
			}
		})
	}
}

// TestQR: the reflections, applied to R, give the matrix back, and keep lengths.
func TestQR(t *testing.T) {
	for _, c := range numbers {
		t.Run(fmt.Sprint(c.t), func(t *testing.T) {
			b := start(t, "rtx-2060")
			r := rand.New(rand.NewPCG(uint64(c.t), 47))
			for _, size := range [][2]int{{1, 1}, {20, 7}, {7, 20}, {33, 33}} {
				m, n := size[0], size[1]
				const batch = 2
				least := min(m, n)
				at, a := b.store(c.t, random(r, c.t, m*n*batch))
				tauAt, _ := b.store(c.t, make([]complex128, least*batch))
				flat := blas.Matrix{At: at, Type: c.t, LD: int64(m), Stride: int64(m * n)}
				tau := blas.Matrix{At: tauAt, Type: c.t, Stride: int64(least)}
				b.want("geqrf", b.Geqrf(blas.Factor{M: int64(m), N: int64(n), Batch: batch, A: b.listed(tau, batch), C: b.listed(flat, batch)}), blas.Success)
				got, taus := b.load(c.t, at, m*n*batch), b.load(c.t, tauAt, least*batch)
				for z := range batch {
					for j := range n {
						x := make([]complex128, m) // column j of R
						for i := range min(m, j+1) {
							x[i] = got[z*m*n+i+j*m]
						}
						for k := least - 1; k >= 0; k-- { // x -= tau v (v^H x)
							v := func(i int) complex128 {
								if i == k {
									return 1
								}
								return got[z*m*n+i+k*m]
							}
							var sum complex128
							for i := k; i < m; i++ {
								sum += conjugate(v(i)) * x[i]
							}
							for i := k; i < m; i++ {
								x[i] -= taus[z*least+k] * v(i) * sum
							}
						}
						length := 0.0
						for i := range m {
							length += abs(a[z*m*n+i+j*m])
						}
						for i := range m {
							if d := abs(x[i] - a[z*m*n+i+j*m]); !(d <= 8*c.eps*float64(m)*length) {
								t.Fatalf("%dx%d, matrix %d: Q R is %v at (%d,%d), want %v", m, n, z, x[i], i, j, a[z*m*n+i+j*m])
							}
						}
					}
				}
			}
		})
	}
}

// TestTrmmInPlace: in a timing run blocks see what others wrote before they end, so that B
// must have been copied.
func TestTrmmInPlace(t *testing.T) {
	b := startWith(t, "rtx-2060", func(o *cuda.Options) { o.Timing = true })
	r := rand.New(rand.NewPCG(1, 53))
	const n = 150
	p := blas.Problem{Kind: blas.Triangular, Fill: blas.Upper, M: n, N: 3, Scalar: blas.F32, Alpha: b.scalar(blas.F32, 1)}
	a := b.structured(r, blas.F32, n, 0, &p, 1)
	x := b.dense(r, blas.F32, n, 3)
	p.A, p.B, p.C = a.Matrix, x.Matrix, x.Matrix
	b.want("trmm", b.Trmm(p), blas.Success)
	b.compare("trmm in place", x, 0x1p-23, n, 1, 0, func(i, j int) (complex128, float64) { return times(a.full, x.full, i, j) })
}

// TestRealBeta: beta of an update of a Hermitian matrix is one real number, after which there
// may be no memory.
func TestRealBeta(t *testing.T) {
	b := start(t, "rtx-2060")
	r := rand.New(rand.NewPCG(1, 59))
	page := os.Getpagesize()
	for _, c := range []blas.Type{blas.C32, blas.C64} {
		for _, both := range []bool{false, true} {
			two, err := syscall.Mmap(-1, 0, 2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
			if err != nil {
				t.Fatal(err)
			}
			defer syscall.Munmap(two)
			if err := syscall.Mprotect(two[page:], syscall.PROT_NONE); err != nil {
				t.Fatal(err)
			}
			bits, _ := encode(part(c), 2)
			copy(two[page-len(bits):], bits)
			one := b.dense(r, c, 1, 1)
			at, _ := b.store(c, []complex128{5})
			p := blas.Problem{
				Kind: blas.Hermitian, N: 1, Alpha: b.scalar(c, 0), Beta: libstest.At(b.GPU, &two[page-len(bits)]), Scalar: c, Both: both,
				A: one.Matrix, B: one.Matrix, C: blas.Matrix{At: at, Type: c, LD: 1},
			}
			b.want("rank k", b.RankK(p), blas.Success)
			if got := b.load(c, at, 1)[0]; got != 10 {
				t.Errorf("type %v: 2 * 5 is %v", c, got)
			}
		}
	}
}
