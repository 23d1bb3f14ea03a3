package replay

import (
	"testing"
)

// BenchmarkStep replays the launches of a real trace without timing.
func BenchmarkStep(b *testing.B) {
	var works []*Work
	records := uint64(0)
	for _, read := range archives(b, "bfs-rodinia")[0].kernels {
		k, _ := read(b)
		w, err := New(k, Options{})
		if err != nil {
			b.Fatal(err)
		}
		works = append(works, w)
		records += k.WarpInsts
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, w := range works {
			runAll(b, w)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(records), "ns/record")
}

// BenchmarkInfer makes a large kernel's control bits.
func BenchmarkInfer(b *testing.B) {
	p := compiled(b)
	for b.Loop() {
		Infer(p.code, p.next, AmpereLatencies())
	}
}

// BenchmarkNew makes the launches of a real trace ready, with a pass over all
// records and with control bits of our own.
func BenchmarkNew(b *testing.B) {
	records := uint64(0)
	kernels := archives(b, "bfs-rodinia")[0].kernels
	var works []func()
	for _, read := range kernels {
		k, _ := read(b)
		records += k.WarpInsts
		works = append(works, func() {
			if _, err := New(k, Options{Hidden: HiddenRecover, Dependences: Inferred}); err != nil {
				b.Fatal(err)
			}
		})
	}
	for b.Loop() {
		for _, f := range works {
			f()
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(records), "ns/record")
}
