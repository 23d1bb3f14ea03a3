//go:build unix

package bench

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/internal/work/job"
)

// BenchmarkCompiled runs examples as PTX and as machine code of our own, with time on the modern core and without
// it. Each run loads and compiles the program anew. The rate is that of the process's own time, in which other
// work on the machine counts less.
func BenchmarkCompiled(b *testing.B) {
	for _, mode := range []struct {
		name   string
		timing bool
	}{{"timing", true}, {"functional", false}} {
		for _, name := range []string{"bfs", "half2", "hotspot", "kmeans", "mandelbrot", "matmul", "pathfinder", "sha256", "spmv", "stencil3d"} {
			for _, code := range []string{"ptx", "compiled"} {
				b.Run(mode.name+"/"+name+"/"+code, func(b *testing.B) {
					var warp uint64
					begin := used(b)
					for b.Loop() {
						o := job.Options{Timing: mode.timing, GPU: "rtx-a6000", Threads: 1, Code: code}
						r, err := job.Load(filepath.Join("../examples", name, name+".toml"), o)
						if err != nil {
							b.Fatal(err)
						}
						res, err := r.Run(context.Background(), o)
						if err != nil || !res.OK {
							b.Fatal(err)
						}
						warp += res.WarpInstructions
					}
					b.ReportMetric(float64(warp)/(used(b)-begin).Seconds()/1e6, "Mwarp-instr/s")
				})
			}
		}
	}
}

// used is the time that processors have spent in this process.
func used(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Skip(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
