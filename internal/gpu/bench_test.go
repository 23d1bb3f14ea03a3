package gpu_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/work/job"
)

// BenchmarkJobs runs reference jobs on the RTX 2060 and reports warp instructions
// per second, including loading and host work.
func BenchmarkJobs(b *testing.B) {
	const folder = "../../testdata/reference/gpgpusim"
	for _, name := range []string{"vecadd", "copy_s8", "matmul_tiled", "matmul_naive", "chase_large", "hist_shared", "bfs", "fp64axpy"} {
		b.Run(name, func(b *testing.B) {
			file := filepath.Join(folder, name+".toml")
			if _, err := os.Stat(file); err != nil {
				b.Skip(err)
			}
			ready, err := job.Load(file, job.Options{})
			if err != nil {
				b.Fatal(err)
			}
			var insts, cycles uint64
			b.ReportAllocs()
			for b.Loop() {
				res, err := ready.Run(b.Context(), job.Options{Timing: true, GPU: "rtx-2060"})
				if err != nil {
					b.Fatal(err)
				}
				insts += res.WarpInstructions
				cycles += res.Cycles
			}
			b.ReportMetric(float64(insts)/b.Elapsed().Seconds(), "winst/s")
			b.ReportMetric(float64(cycles)/b.Elapsed().Seconds(), "cycles/s")
		})
	}
}

// BenchmarkThreads runs jobs that fill the chip with one and with two workers.
func BenchmarkThreads(b *testing.B) {
	for _, x := range []struct{ file, gpu string }{
		{"../../testdata/reference/gpgpusim/matmul_tiled.toml", "rtx-2060"}, {"../../testdata/reference/gpgpusim/copy_s8.toml", "rtx-2060"},
		{"../../examples/hotspot/hotspot.toml", "rtx-a6000"}, {"../../examples/matmul/matmul.toml", "rtx-a6000"}, {"../../examples/spmv/spmv.toml", "rtx-2060"}, {"../../examples/mandelbrot/mandelbrot.toml", "v100"},
	} {
		ready, err := job.Load(x.file, job.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, n := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/%s/%d", strings.TrimSuffix(filepath.Base(x.file), ".toml"), x.gpu, n), func(b *testing.B) {
				var insts uint64
				for b.Loop() {
					res, err := ready.Run(b.Context(), job.Options{Timing: true, GPU: x.gpu, Threads: n})
					if err != nil {
						b.Fatal(err)
					}
					insts += res.WarpInstructions
				}
				b.ReportMetric(float64(insts)/b.Elapsed().Seconds(), "winst/s")
			})
		}
	}
}

// BenchmarkModern runs examples on a chip of modern cores with one worker: those
// that wait for memory, and some that compute.
func BenchmarkModern(b *testing.B) {
	for _, name := range []string{"vecadd", "scan", "kmeans", "bfs", "spmv", "nbody", "funcptr", "hotspot", "collatz", "recursion", "spinlock"} {
		b.Run(name, func(b *testing.B) {
			ready, err := job.Load(filepath.Join("../../examples", name, name+".toml"), job.Options{})
			if err != nil {
				b.Fatal(err)
			}
			var insts, cycles uint64
			for b.Loop() {
				res, err := ready.Run(b.Context(), job.Options{Timing: true, GPU: "rtx-a6000", Threads: 1})
				if err != nil {
					b.Fatal(err)
				}
				insts += res.WarpInstructions
				cycles += res.Cycles
			}
			b.ReportMetric(float64(insts)/b.Elapsed().Seconds(), "winst/s")
			b.ReportMetric(float64(cycles)/b.Elapsed().Seconds(), "cycles/s")
		})
	}
}
