package blas_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/libs/blas"
	"github.com/heddle-sim/heddle/internal/libs/libstest"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// TestGemmPeak: products of 1024 x 1024 matrices reach half of what the GPU's units can do,
// on a GPU of each precision. Products a cycle and SM are those of the GPU's ordinary units
// (CUDA programming guide, arithmetic throughput) and of its tensor cores (the comments at
// tensor_halves of the GPU's file).
func TestGemmPeak(t *testing.T) {
	alltests.Only(t, "products of 1024 x 1024 matrices in timing mode")
	for _, c := range []struct {
		gpu      string
		t        blas.Type
		compute  blas.Compute
		products float64 // a cycle and SM
	}{
		{"rtx-3080", blas.F16, blas.Compute32F, 256}, // GeForce: half of it with f32 sums
		{"rtx-2060", blas.F32, blas.Compute32F, 64},
	} {
		t.Run(fmt.Sprintf("%s/%v", c.gpu, c.t), func(t *testing.T) {
			const n = 1024
			g := libstest.New(t, c.gpu, func(o *cuda.Options) { o.Timing = true })
			h, s := blas.Create(g.Thread)
			if s != blas.Success {
				t.Fatal(s.Name())
			}
			call, _ := blas.Of(g.Thread, h)
			one := []float32{1, 0}
			matrix := func() blas.Matrix {
				return blas.Matrix{At: libstest.Put(g, make([]byte, n*n*c.t.Size())), Type: c.t, LD: n}
			}
			s = call.Gemm(blas.Gemm{M: n, N: n, K: n, Alpha: libstest.At(g, &one[0]), Beta: libstest.At(g, &one[1]), Compute: c.compute, Batch: 1, A: matrix(), B: matrix(), C: matrix()})
			if s != blas.Success {
				t.Fatalf("%s\n%s", s.Name(), g.Log)
			}
			g.Must(g.Synchronize())
			res := g.Runtime.Result()
			k := res.Kernels[0]
			least := float64(n) * n * n / c.products / float64(g.Properties().SMs)
			share := least / float64(k.Cycles)
			t.Logf("%s: %d cycles, %.1f %% of the peak", k.Name, k.Cycles, 100*share)
			if share < 0.5 {
				t.Errorf("less than half of the peak")
			}
			if os.Getenv("REPORT") != "" {
				_ = res.WriteText(os.Stderr)
			}
		})
	}
}
