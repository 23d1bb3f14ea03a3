package bench

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle"
)

func gpu(b *testing.B, file string) *heddle.GPU {
	b.Helper()
	p, err := heddle.Load(file)
	if err != nil {
		b.Fatal(err)
	}
	g, err := heddle.New(p, heddle.Threads(1))
	if err != nil {
		b.Fatal(err)
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

// BenchmarkPeak is a full-mask loop of FFMA and IADD on one thread.
func BenchmarkPeak(b *testing.B) {
	g := gpu(b, "peak.ptx")
	const blocks, threads, rounds = 64, 256, 50
	out, err := g.Alloc(4*blocks*threads, "out")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var total heddle.Stats
	for b.Loop() {
		s, err := g.Launch(context.Background(), "peak", heddle.Dim(blocks), heddle.Dim(threads), out, rounds)
		if err != nil {
			b.Fatal(err)
		}
		add(&total, s)
	}
	rate(b, total)
}

// graph makes a random graph in compressed rows.
func graph(nodes, degree int) (row, col []uint32) {
	rng := rand.New(rand.NewPCG(1, 2))
	row = append(row, 0)
	for range nodes {
		for range rng.IntN(2*degree + 1) {
			col = append(col, uint32(rng.IntN(nodes)))
		}
		row = append(row, uint32(len(col)))
	}
	return row, col
}

// depths is the search on the host.
func depths(row, col []uint32) []int32 {
	d := make([]int32, len(row)-1)
	for i := range d {
		d[i] = -1
	}
	d[0] = 0
	for queue := []uint32{0}; len(queue) > 0; queue = queue[1:] {
		v := queue[0]
		for _, w := range col[row[v]:row[v+1]] {
			if d[w] < 0 {
				d[w] = d[v] + 1
				queue = append(queue, w)
			}
		}
	}
	return d
}

// BenchmarkBFS is a breadth-first search over a random graph, all levels, on
// one thread.
func BenchmarkBFS(b *testing.B) {
	const nodes, degree = 1 << 16, 8
	row, col := graph(nodes, degree)
	want := depths(row, col)
	g := gpu(b, "bfs.ptx")
	upload := func(name string, data []uint32) heddle.Ptr {
		p, err := heddle.Upload(g, name, data)
		if err != nil {
			b.Fatal(err)
		}
		return p
	}
	start := make([]int32, nodes)
	for i := range start {
		start[i] = -1
	}
	start[0] = 0
	pRow, pCol := upload("row", row), upload("col", col)
	pMore := upload("more", []uint32{0})
	pCost, err := heddle.Upload(g, "cost", start)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var total heddle.Stats
	for b.Loop() {
		if err := heddle.Store(g, pCost, start); err != nil {
			b.Fatal(err)
		}
		for depth, more := 0, uint32(1); more != 0; depth++ {
			if err := heddle.Store(g, pMore, []uint32{0}); err != nil {
				b.Fatal(err)
			}
			s, err := g.Launch(context.Background(), "level", heddle.Dim(nodes/256), heddle.Dim(256), pRow, pCol, pCost, pMore, depth, nodes)
			if err != nil {
				b.Fatal(err)
			}
			add(&total, s)
			m, err := heddle.Download[uint32](g, pMore, 1)
			if err != nil {
				b.Fatal(err)
			}
			more = m[0]
		}
	}
	rate(b, total)
	got, err := heddle.Download[int32](g, pCost, nodes)
	if err != nil {
		b.Fatal(err)
	}
	for i := range want {
		if got[i] != want[i] {
			b.Fatalf("node %d has depth %d, want %d", i, got[i], want[i])
		}
	}
}
