package blas_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/libs/blas"
	"github.com/heddle-sim/heddle/internal/libs/libstest"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// bench is a GPU with a context.
type bench struct {
	*libstest.GPU
	blas.Call
	t testing.TB
}

func start(t testing.TB, gpu string) *bench {
	t.Helper()
	return startWith(t, gpu, nil)
}

// startWith is start with other options.
func startWith(t testing.TB, gpu string, edit func(*cuda.Options)) *bench {
	t.Helper()
	b := &bench{GPU: libstest.New(t, gpu, edit), t: t}
	h, s := blas.Create(b.Thread)
	b.want("create", s, blas.Success)
	b.Call, s = blas.Of(b.Thread, h)
	b.want("handle", s, blas.Success)
	return b
}

func (b *bench) want(what string, got, want blas.Status) {
	b.t.Helper()
	if got != want {
		b.t.Fatalf("%s: %v, want %v\n%s", what, got.Name(), want.Name(), b.Log)
	}
}

// store puts numbers on the device as elements of a type, and returns their address and
// the numbers as rounded to the type.
func (b *bench) store(t blas.Type, values []complex128) (uint64, []complex128) {
	bits := make([]byte, 0, 16*len(values))
	exact := make([]complex128, len(values))
	for i, v := range values {
		var e []byte
		e, exact[i] = encode(t, v)
		bits = append(bits, e...)
	}
	return libstest.Put(b.GPU, bits), exact
}

// load reads n elements of a type.
func (b *bench) load(t blas.Type, addr uint64, n int) []complex128 {
	size := int(t.Size())
	bits := libstest.Get[byte](b.GPU, addr, n*size)
	values := make([]complex128, n)
	for i := range values {
		values[i] = decode(t, bits[i*size:])
	}
	return values
}

// random returns numbers between -1 and 1, for integers between -100 and 100.
func random(r *rand.Rand, t blas.Type, n int) []complex128 {
	values := make([]complex128, n)
	for i := range values {
		switch {
		case t == blas.I8 || t == blas.I32:
			values[i] = complex(float64(r.IntN(201)-100), 0)
		case t.Complex():
			values[i] = complex(2*r.Float64()-1, 2*r.Float64()-1)
		default:
			values[i] = complex(2*r.Float64()-1, 0)
		}
	}
	return values
}

// TestGemm: products of random shapes, with strides, in all types, against sums in double
// precision. The bounds are those of a sum of K rounded products in the type of the sums,
// and of one rounding to the type of the result.
func TestGemm(t *testing.T) {
	ops := "NTC"
	for _, c := range []struct {
		gpu      string
		a, c     blas.Type
		compute  blas.Compute
		scalar   blas.Type
		sum, out float64 // relative errors of one step of the sum, and of the result
	}{
		{"rtx-2060", blas.F32, blas.F32, blas.Compute32F, blas.F32, 0x1p-24, 0x1p-24},
		{"rtx-2060", blas.F64, blas.F64, blas.Compute64F, blas.F64, 0x1p-53, 0x1p-53},
		{"rtx-2060", blas.C32, blas.C32, blas.Compute32F, blas.C32, 0x1p-23, 0x1p-23},
		{"rtx-2060", blas.C64, blas.C64, blas.Compute64F, blas.C64, 0x1p-52, 0x1p-52},
		{"titan-x-pascal", blas.F16, blas.F16, blas.Compute16F, blas.F16, 0x1p-23, 0x1p-11},
		{"titan-x-pascal", blas.F16, blas.F16, blas.Compute32F, blas.F32, 0x1p-23, 0x1p-11},
		{"titan-x-pascal", blas.F16, blas.F32, blas.Compute32F, blas.F32, 0x1p-23, 0x1p-24},
		{"rtx-2060", blas.BF16, blas.BF16, blas.Compute32F, blas.F32, 0x1p-23, 0x1p-8},
		{"rtx-2060", blas.BF16, blas.F32, blas.Compute32F, blas.F32, 0x1p-23, 0x1p-24},
		{"rtx-2060", blas.I8, blas.I32, blas.Compute32I, blas.I32, 0, 0},
		{"rtx-2060", blas.I8, blas.F32, blas.Compute32F, blas.F32, 0x1p-24, 0x1p-24},
		// Tensor cores: sums of 4, 8 or 16 products are truncated rather than rounded.
		{"rtx-2060", blas.F16, blas.F16, blas.Compute16F, blas.F16, 0x1p-22, 0x1p-11},
		{"rtx-2060", blas.F16, blas.F16, blas.Compute32F, blas.F32, 0x1p-22, 0x1p-11},
		{"rtx-2060", blas.F16, blas.F32, blas.Compute32F, blas.F32, 0x1p-22, 0x1p-24},
		{"rtx-3070", blas.F16, blas.F16, blas.Compute16F, blas.F16, 0x1p-22, 0x1p-11},
		{"rtx-3070", blas.F16, blas.F32, blas.Compute32F, blas.F32, 0x1p-22, 0x1p-24},
		{"rtx-3070", blas.BF16, blas.BF16, blas.Compute32F, blas.F32, 0x1p-22, 0x1p-8},
		{"rtx-3070", blas.BF16, blas.F32, blas.Compute32F, blas.F32, 0x1p-22, 0x1p-24},
		{"rtx-3070", blas.F32, blas.F32, blas.Compute32FFastTF32, blas.F32, 0x1p-10, 0x1p-24},
	} {
		t.Run(fmt.Sprintf("%s/%v-%v-%v", c.gpu, c.a, c.c, c.compute), func(t *testing.T) {
			b := start(t, c.gpu)
			r := rand.New(rand.NewPCG(uint64(c.a), uint64(c.compute)))
			for i, size := range [][3]int{{1, 1, 1}, {33, 17, 5}, {64, 40, 24}, {130, 129, 19}, {5, 150, 70}, {40, 40, 0}, {20, 17, 1100}, {1, 70, 33}, {150, 1, 40}} {
				for range alltests.Count(1, 3) {
					m, n, k := size[0], size[1], size[2]
					opA, opB := blas.Op(r.IntN(3)), blas.Op(r.IntN(3))
					if i == 2 { // aligned columns
						opA, opB = blas.Op(r.IntN(2)), blas.Op(r.IntN(2))
					}
					pick := func(op blas.Op, rows, cols int) (int, int) {
						if op != blas.N {
							rows, cols = cols, rows
						}
						ld := max(1, rows) + r.IntN(4)*i%8
						if i == 2 {
							ld = 64
						}
						return ld, ld * cols
					}
					lda, sizeA := pick(opA, m, k)
					ldb, sizeB := pick(opB, k, n)
					ldc, sizeC := pick(blas.N, m, n)
					batch := 1 + r.IntN(2)
					divided := k > 1000 // tiles are divided along the sums, if it is no batch
					if divided {
						batch = 1
					}
					factors := []complex128{0, 1, -1, 2}
					if c.scalar != blas.I32 {
						factors = append(factors, 0.75)
					}
					alpha, beta := factors[r.IntN(len(factors))], factors[r.IntN(len(factors))]
					if c.scalar.Complex() && alpha != 0 {
						alpha += 0.5i
					}
					// What a factor of zero keeps from being read is not a number.
					aAt, a := b.store(c.a, unless(alpha == 0, random(r, c.a, sizeA*batch)))
					bAt, bb := b.store(c.a, unless(alpha == 0, random(r, c.a, sizeB*batch)))
					cAt, before := b.store(c.c, unless(beta == 0, random(r, c.c, sizeC*batch)))
					g := blas.Gemm{
						OpA: opA, OpB: opB, M: int64(m), N: int64(n), K: int64(k), Batch: int64(batch), Compute: c.compute,
						A: blas.Matrix{At: aAt, Type: c.a, LD: int64(lda), Stride: int64(sizeA)},
						B: blas.Matrix{At: bAt, Type: c.a, LD: int64(ldb), Stride: int64(sizeB)},
						C: blas.Matrix{At: cAt, Type: c.c, LD: int64(ldc), Stride: int64(sizeC)},
					}
					alphaBits, _ := encode(c.scalar, alpha)
					betaBits, _ := encode(c.scalar, beta)
					if r.IntN(2) == 0 {
						b.Pointers = blas.OnHost
						g.Alpha, g.Beta = libstest.At(b.GPU, &alphaBits[0]), libstest.At(b.GPU, &betaBits[0])
					} else {
						b.Pointers = blas.OnDevice
						g.Alpha, g.Beta = libstest.Put(b.GPU, alphaBits), libstest.Put(b.GPU, betaBits)
					}
					b.want("gemm", b.Gemm(g), blas.Success)
					if list := b.Runtime.Result().Kernels; divided && !strings.HasSuffix(list[len(list)-1].Name, "_total") {
						t.Fatalf("tiles are not divided: the last kernel is %s", list[len(list)-1].Name)
					}
					after := b.load(c.c, cAt, sizeC*batch)
					what := fmt.Sprintf("%c%c %dx%dx%d, ld %d %d %d, batch %d, alpha %v, beta %v", ops[opA], ops[opB], m, n, k, lda, ldb, ldc, batch, alpha, beta)
					for z := range batch {
						for at := range sizeC {
							row, col := at%ldc, at/ldc
							got, old := after[z*sizeC+at], before[z*sizeC+at]
							if row >= m {
								if !same(got, old) {
									t.Fatalf("%s: wrote to row %d of column %d", what, row, col)
								}
								continue
							}
							var sum complex128
							size := 0.0
							for q := range k {
								if alpha == 0 {
									break
								}
								x, y := element(a[z*sizeA:], opA, lda, row, q), element(bb[z*sizeB:], opB, ldb, q, col)
								sum += x * y
								size += abs(x) * abs(y)
							}
							if beta == 0 {
								old = 0
							}
							want := alpha*sum + beta*old
							bound := abs(alpha)*size*c.sum*float64(k+2) + (abs(want)+abs(beta*old))*c.out*2
							if d := abs(got - want); !(d <= bound) {
								t.Fatalf("%s: C[%d,%d] of matrix %d is %v, want %v ± %g", what, row, col, z, got, want, bound)
							}
						}
					}
				}
			}
		})
	}
}

// unless returns numbers, or as many that are none.
func unless(none bool, values []complex128) []complex128 {
	for i := range values {
		if none {
			values[i] = complex(math.NaN(), math.NaN())
		}
	}
	return values
}

// same compares elements bit by bit.
func same(a, b complex128) bool {
	bits := math.Float64bits
	return bits(real(a)) == bits(real(b)) && bits(imag(a)) == bits(imag(b))
}

// element is an element of op(A).
func element(a []complex128, op blas.Op, ld, row, col int) complex128 {
	if op == blas.N {
		return a[row+col*ld]
	}
	v := a[col+row*ld]
	if op == blas.C {
		v = complex(real(v), -imag(v))
	}
	return v
}

func abs(v complex128) float64 { return math.Hypot(real(v), imag(v)) }

func encode(t blas.Type, v complex128) ([]byte, complex128) { return libstest.Encode(int32(t), v) }
func decode(t blas.Type, b []byte) complex128               { return libstest.Decode(int32(t), b) }
