package races

import (
	"context"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// costly are examples with which the cost of the checker is measured, and how often their
// launches are repeated, so that the start of the program does not count.
var costly = []struct {
	name   string
	rounds int
}{
	{"mbarrier", 4},
	{"spinlock", 1},
	{"histogram", 4},
	{"bitonic", 4},
	{"matmul", 4},
	{"hotspot", 2},
	{"convolution", 4},
	{"cp-async", 4},
	{"nbody", 2},
	{"needle", 4},
}

// load opens an example without its checks of values.
func load(tb testing.TB, name string, rounds int) *job.Ready {
	tb.Helper()
	r, err := job.Load(filepath.Join("..", "..", "..", "examples", name, name+".toml"), job.Options{Threads: 1})
	if err != nil {
		tb.Fatal(err)
	}
	r.Job.Steps, r.Job.Checks = slices.Repeat(r.Job.Steps, rounds), nil
	return r
}

// execute runs a job, with the checker unless that is nil.
func execute(tb testing.TB, r *job.Ready, c *Checker) {
	tb.Helper()
	opt := job.Options{Threads: 1}
	if c != nil {
		opt.Checks = check.NewSet()
		opt.Checks.Add(Name, c)
	}
	if _, err := r.Run(context.Background(), opt); err != nil {
		tb.Fatal(err)
	}
}

// user is the processor time that this process has used.
func user(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano())
}

// BenchmarkExamples prints how many times as long a run with the checker takes as one without
// (x), in processor time, and the size of the shadow.
func BenchmarkExamples(b *testing.B) {
	for _, p := range costly {
		b.Run(p.name, func(b *testing.B) {
			r := load(b, p.name, p.rounds)
			var off, on time.Duration
			for b.Loop() {
				t0 := user(b)
				execute(b, r, nil)
				t1 := user(b)
				execute(b, r, New().(*Checker))
				off, on = off+t1-t0, on+user(b)-t1
			}
			b.ReportMetric(float64(off.Milliseconds())/float64(b.N), "ms-off/op")
			b.ReportMetric(float64(on.Milliseconds())/float64(b.N), "ms-on/op")
			b.ReportMetric(float64(on)/float64(off), "x")
		})
	}
}
