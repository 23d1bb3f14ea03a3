package races

import (
	"context"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"

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

// shadowSize returns the bytes that the checker keeps at the end of a run, and the words of
// global memory that they are about; those of shared memory are not counted, so that the
// quotient is no less than it should be.
func shadowSize(c *Checker) (bytes, words uint64) {
	chains := func(ch *chain) {
		for ; ch != nil; ch = ch.next {
			bytes += uint64(unsafe.Sizeof(*ch)) + uint64(cap(ch.sights))*uint64(unsafe.Sizeof(sight{}))
		}
	}
	for i, m := range append([]*memory{c.global}, c.spare...) {
		for _, p := range m.pages {
			bytes += uint64(unsafe.Sizeof(*p))
			chains(p.spare)
			for w := range pageWords {
				if i == 0 && p.cells[ofReads][w]|p.cells[ofWrites][w] != 0 {
					words++
				}
				if p.chains != nil {
					bytes += uint64(unsafe.Sizeof(p))
					chains(p.chains[w])
				}
			}
		}
	}
	bytes += uint64(cap(c.records)) * uint64(unsafe.Sizeof(record{}))
	for _, s := range c.sets[:cap(c.sets)] {
		bytes += uint64(unsafe.Sizeof(s)) + uint64(cap(s))*uint64(unsafe.Sizeof(entry{}))
	}
	return bytes, words
}

// BenchmarkExamples prints how many times as long a run with the checker takes as one without
// (x), in processor time, and the size of the shadow.
func BenchmarkExamples(b *testing.B) {
	for _, p := range costly {
		b.Run(p.name, func(b *testing.B) {
			r := load(b, p.name, p.rounds)
			var off, on time.Duration
			var bytes, words uint64
			for b.Loop() {
				t0 := user(b)
				execute(b, r, nil)
				t1 := user(b)
				c := New().(*Checker)
				execute(b, r, c)
				off, on = off+t1-t0, on+user(b)-t1
				bytes, words = shadowSize(c)
			}
			b.ReportMetric(float64(off.Milliseconds())/float64(b.N), "ms-off/op")
			b.ReportMetric(float64(on.Milliseconds())/float64(b.N), "ms-on/op")
			b.ReportMetric(float64(on)/float64(off), "x")
			b.ReportMetric(float64(bytes)/float64(words), "B/word")
			b.ReportMetric(float64(words), "words")
		})
	}
}
