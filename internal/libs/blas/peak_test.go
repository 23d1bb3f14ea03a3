package blas_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/libs/blas"
	"github.com/heddle-sim/heddle/internal/libs/libstest"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// peaks measures the products of all GPUs, not only of some: minutes for each.
var peaks = flag.Bool("peaks", false, "measure the products of all GPUs")

// TestGemmPeak: products of 1024 x 1024 matrices reach their share of what the GPU's units can do:
// half of it, except where docs/libraries.md says why not. Products a cycle and SM are
// those of the peaks that "heddle gpus NAME" prints, with f32 sums; of the tensor cores of simt
// cores those of the largest instruction in simt.initiation.tensor cycles: wmma has 4096
// products, mma 2048, each in four units.
func TestGemmPeak(t *testing.T) {
	alltests.Only(t, "products of 1024 x 1024 matrices in timing mode")
	for _, c := range []struct {
		gpu      string
		t        blas.Type
		products float64 // a cycle and SM
		share    float64 // at the least, measured and rounded down
		short    bool    // also without the flag peaks
	}{
		{"v100", blas.F16, 256, 0.5, false},
		{"rtx-2060", blas.F16, 256, 0.49, false},
		{"rtx-2070-super", blas.F16, 256, 0.7, true},
		{"rtx-2080-ti", blas.F16, 256, 0.9, false},
		{"rtx-3070", blas.F16, 128, 0.7, false},
		{"rtx-3080", blas.F16, 256, 0.7, true}, // GeForce: half of the rate with f16 sums
		{"rtx-a6000", blas.F16, 512, 0.45, false},
		{"h100-pcie", blas.F16, 512, 0.52, false}, // of mma; wgmma, which is not executed, has more
		{"v100", blas.F32, 64, 0.66, false},
		{"rtx-2060", blas.F32, 64, 0.5, true},
		{"rtx-2070-super", blas.F32, 64, 0.45, false},
		{"rtx-3070", blas.F32, 128, 0.4, false},
		{"rtx-a6000", blas.F32, 128, 0.5, false},
	} {
		if !c.short && !*peaks {
			continue
		}
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
			s = call.Gemm(blas.Gemm{M: n, N: n, K: n, Alpha: libstest.At(g, &one[0]), Beta: libstest.At(g, &one[1]), Compute: blas.Compute32F, Batch: 1, A: matrix(), B: matrix(), C: matrix()})
			if s != blas.Success {
				t.Fatalf("%s\n%s", s.Name(), g.Log)
			}
			g.Must(g.Synchronize())
			res := g.Runtime.Result()
			var cycles uint64
			var names []string
			for _, k := range res.Kernels {
				cycles += uint64(k.Cycles)
				names = append(names, k.Name)
			}
			least := n * n * n / c.products / float64(g.Properties().SMs)
			share := least / float64(cycles)
			t.Logf("%s: %d cycles, %.1f %% of the peak", strings.Join(names, ", "), cycles, 100*share)
			if share < c.share {
				t.Errorf("less than %.0f %% of the peak", 100*c.share)
			}
			if os.Getenv("REPORT") != "" {
				_ = res.WriteText(os.Stderr)
			}
		})
	}
}
