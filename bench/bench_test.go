package bench

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle"
)

func gpu(tb testing.TB, file string) *heddle.GPU {
	tb.Helper()
	p, err := heddle.Load(file)
	if err != nil {
		tb.Fatal(err)
	}
	g, err := heddle.New(p, heddle.Threads(1))
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// rate reports instructions per second of the benchmark's running time.
func rate(b *testing.B, s heddle.Stats) {
	b.Helper()
	sec := b.Elapsed().Seconds()
	b.ReportMetric(float64(s.ThreadInstructions)/sec/1e6, "Mthread-instr/s")
	b.ReportMetric(float64(s.WarpInstructions)/sec/1e6, "Mwarp-instr/s")
	b.ReportMetric(float64(s.ThreadInstructions)/float64(b.N), "thread-instr/op")
}

func add(a *heddle.Stats, b heddle.Stats) {
	a.Blocks += b.Blocks
	a.WarpInstructions += b.WarpInstructions
	a.ThreadInstructions += b.ThreadInstructions
}

const (
	peakBlocks  = 64
	peakThreads = 256
)

// peak is a full-mask loop of FFMA and IADD.
type peak struct {
	gpu *heddle.GPU
	out heddle.Ptr
}

func newPeak(tb testing.TB) *peak {
	g := gpu(tb, "peak.ptx")
	out, err := g.Alloc(4*peakBlocks*peakThreads, "out")
	if err != nil {
		tb.Fatal(err)
	}
	return &peak{g, out}
}

func (p *peak) run(tb testing.TB, rounds int) heddle.Stats {
	s, err := p.gpu.Launch(context.Background(), "peak", heddle.Dim(peakBlocks), heddle.Dim(peakThreads), p.out, rounds)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// The kernel's result, computed on the host. Halving is exact, so that product
// and sum need one rounding, as in a fused multiply-add.
func TestPeak(t *testing.T) {
	const rounds = 20
	p := newPeak(t)
	p.run(t, rounds)
	got, err := heddle.Download[uint32](p.gpu, p.out, peakBlocks*peakThreads)
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range got {
		tid := uint32(i % peakThreads)
		f := float32(1)
		for range rounds {
			f = float32(float64(f)*0.5 + float64(tid))
		}
		var sum float32
		var x uint32
		for k := range uint32(8) {
			sum += f
			x ^= k + rounds*tid
		}
		if want := uint32(sum) + x; g != want {
			t.Fatalf("thread %d: %d, want %d", i, g, want)
		}
	}
}

// BenchmarkPeak runs on one thread.
func BenchmarkPeak(b *testing.B) {
	p := newPeak(b)
	b.ReportAllocs()
	var total heddle.Stats
	for b.Loop() {
		add(&total, p.run(b, 50))
	}
	rate(b, total)
}

// search is a breadth-first search from node 0 of a random graph.
type search struct {
	nodes        int
	row, col     []uint32
	start        []int32
	gpu          *heddle.GPU
	pRow, pCol   heddle.Ptr
	pCost, pMore heddle.Ptr
}

// newSearch makes a graph in compressed rows and uploads it.
func newSearch(tb testing.TB, nodes, degree int) *search {
	s := &search{nodes: nodes, row: []uint32{0}, gpu: gpu(tb, "bfs.ptx")}
	rng := rand.New(rand.NewPCG(1, 2))
	for range nodes {
		for range rng.IntN(2*degree + 1) {
			s.col = append(s.col, uint32(rng.IntN(nodes)))
		}
		s.row = append(s.row, uint32(len(s.col)))
		s.start = append(s.start, -1)
	}
	s.start[0] = 0
	for _, u := range []struct {
		p    *heddle.Ptr
		name string
		data []uint32
	}{{&s.pRow, "row", s.row}, {&s.pCol, "col", s.col}, {&s.pCost, "cost", make([]uint32, nodes)}, {&s.pMore, "more", []uint32{0}}} {
		p, err := heddle.Upload(s.gpu, u.name, u.data)
		if err != nil {
			tb.Fatal(err)
		}
		*u.p = p
	}
	return s
}

// run searches level by level until a level finds nothing.
func (s *search) run(tb testing.TB) (total heddle.Stats) {
	if err := heddle.Store(s.gpu, s.pCost, s.start); err != nil {
		tb.Fatal(err)
	}
	for depth, more := 0, []uint32{1}; more[0] != 0; depth++ {
		if err := heddle.Store(s.gpu, s.pMore, []uint32{0}); err != nil {
			tb.Fatal(err)
		}
		grid := heddle.Dim(uint32(s.nodes+255) / 256)
		st, err := s.gpu.Launch(context.Background(), "level", grid, heddle.Dim(256), s.pRow, s.pCol, s.pCost, s.pMore, depth, s.nodes)
		if err != nil {
			tb.Fatal(err)
		}
		add(&total, st)
		if more, err = heddle.Download[uint32](s.gpu, s.pMore, 1); err != nil {
			tb.Fatal(err)
		}
	}
	return total
}

// check compares the depths with those of a search on the host.
func (s *search) check(tb testing.TB) {
	want := append([]int32(nil), s.start...)
	for queue := []uint32{0}; len(queue) > 0; queue = queue[1:] {
		v := queue[0]
		for _, w := range s.col[s.row[v]:s.row[v+1]] {
			if want[w] < 0 {
				want[w] = want[v] + 1
				queue = append(queue, w)
			}
		}
	}
	got, err := heddle.Download[int32](s.gpu, s.pCost, s.nodes)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range want {
		if got[i] != want[i] {
			tb.Fatalf("node %d has depth %d, want %d", i, got[i], want[i])
		}
	}
}

func TestBFS(t *testing.T) {
	s := newSearch(t, 3000, 3)
	s.run(t)
	s.check(t)
}

// BenchmarkBFS runs on one thread.
func BenchmarkBFS(b *testing.B) {
	s := newSearch(b, 1<<16, 8)
	b.ReportAllocs()
	var total heddle.Stats
	for b.Loop() {
		add(&total, s.run(b))
	}
	rate(b, total)
	s.check(b)
}
