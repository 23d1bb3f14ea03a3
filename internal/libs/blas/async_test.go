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

// TestGemmAsync: products of f32 with aligned columns, which tiles of 128 x 104 compute, for all ways in
// which A and B may lie in memory, against sums in double precision. Nothing but the result
// is written.
func TestGemmAsync(t *testing.T) {
	for _, c := range []struct {
		name        string
		m, n, k     int
		ldc         int // more than m
		batch       int
		alpha, beta float64
		sms         int
		divided     bool
	}{
		{"whole tiles", 256, 208, 64, 0, 1, 1, 0, 1, false},
		{"whole tiles added", 128, 104, 32, 0, 1, 0.75, 2, 1, false},
		{"one term", 128, 208, 1, 0, 1, 1, 0, 1, false},
		{"terms that fill no vector", 128, 208, 45, 0, 1, -1, 0, 1, false},
		{"columns at the edge", 128, 190, 16, 0, 1, 1, 1, 1, false},
		{"rows at the edge", 250, 208, 24, 2, 1, 1, 1, 1, false},
		{"columns of C not aligned", 256, 208, 16, 1, 1, 1, -1, 1, false},
		{"alpha of zero", 128, 208, 16, 0, 1, 0, 2, 1, false},
		{"batch", 128, 104, 20, 4, 3, 1, 0, 1, false},
		{"divided", 256, 200, 1000, 0, 1, 2, 1, 8, true},
	} {
		for _, ops := range alltests.Some([]string{"nt", "nn", "tn", "tt"}, 1) {
			t.Run(c.name+"/"+ops, func(t *testing.T) {
				// On a GPU of few SMs large tiles are best for small matrices.
				b := startWith(t, "rtx-a6000", func(o *cuda.Options) {
					if err := o.Settings.Set(fmt.Sprintf("chip.clusters=%d", c.sms)); err != nil {
						t.Fatal(err)
					}
				})
				r := rand.New(rand.NewPCG(uint64(c.m), uint64(c.k)))
				matrix := func(op byte, rows, cols int) (blas.Op, blas.Matrix, []complex128) {
					o := blas.N
					if op == 't' {
						o, rows, cols = blas.T, cols, rows
					}
					ld := (rows + 3) / 4 * 4
					at, v := b.store(blas.F32, unless(c.alpha == 0, random(r, blas.F32, ld*cols*c.batch)))
					return o, blas.Matrix{At: at, Type: blas.F32, LD: int64(ld), Stride: int64(ld * cols)}, v
				}
				opA, ma, va := matrix(ops[0], c.m, c.k)
				opB, mb, vb := matrix(ops[1], c.k, c.n)
				ldc := c.m + c.ldc
				mc := blas.Matrix{Type: blas.F32, LD: int64(ldc), Stride: int64(ldc * c.n)}
				var before []complex128
				mc.At, before = b.store(blas.F32, unless(c.beta == 0, random(r, blas.F32, ldc*c.n*c.batch)))
				scalars := []float32{float32(c.alpha), float32(c.beta)}
				b.Pointers = blas.OnHost
				b.want("gemm", b.Gemm(blas.Gemm{
					OpA: opA, OpB: opB, M: int64(c.m), N: int64(c.n), K: int64(c.k), Batch: int64(c.batch), Compute: blas.Compute32F,
					Alpha: libstest.At(b.GPU, &scalars[0]), Beta: libstest.At(b.GPU, &scalars[1]), A: ma, B: mb, C: mc,
				}), blas.Success)
				kernels := b.Runtime.Result().Kernels
				if want := fmt.Sprintf("async_f32_%s_128x104", ops); kernels[0].Name != want {
					t.Fatalf("the kernel is %s, want %s", kernels[0].Name, want)
				}
				if divided := strings.HasSuffix(kernels[len(kernels)-1].Name, "_total"); divided != c.divided {
					t.Fatalf("tiles are divided: %v, want %v", divided, c.divided)
				}
				after := b.load(blas.F32, mc.At, ldc*c.n*c.batch)
				for i, got := range after {
					z, at := i/(ldc*c.n), i%(ldc*c.n)
					row, col := at%ldc, at/ldc
					if row >= c.m {
						if !same(got, before[i]) {
							t.Fatalf("wrote to row %d of column %d", row, col)
						}
						continue
					}
					sum, size := 0.0, 0.0
					for q := 0; q < c.k && c.alpha != 0; q++ {
						x := real(element(va[z*int(ma.Stride):], opA, int(ma.LD), row, q)) * real(element(vb[z*int(mb.Stride):], opB, int(mb.LD), q, col))
						sum, size = sum+x, size+math.Abs(x)
					}
					want := c.alpha * sum
					if c.beta != 0 {
						want += c.beta * real(before[i])
					}
					bound := 0x1p-24 * (math.Abs(c.alpha)*size*float64(c.k+2) + 4*(math.Abs(want)+math.Abs(c.alpha*sum)))
					if d := math.Abs(real(got) - want); !(d <= bound) {
						t.Fatalf("C[%d,%d] of matrix %d is %v, want %v ± %g", row, col, z, real(got), want, bound)
					}
				}
			})
		}
	}
}
