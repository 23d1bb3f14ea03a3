package races

import (
	"context"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
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

// size is the storage of a checker, in bytes, and what it is about.
type size struct {
	cells, records, sets, chains, flights int
	threads                               int // of live blocks: what their threads know, but for clocks
	words, shared                         int // words of global memory that were touched, and of shared memory of live blocks
}

// bytes is the size of the shadow.
func (s size) bytes() int { return s.cells + s.records + s.sets + s.chains + s.flights }

// sizeOf adds up what a checker keeps about memory now: all that is allocated, whether it is
// in use or kept ahead of use.
func sizeOf(c *Checker) (s size) {
	chains := func(ch *chain) {
		for ; ch != nil; ch = ch.next {
			s.chains += int(unsafe.Sizeof(*ch)) + cap(ch.sights)*int(unsafe.Sizeof(sight{})) + 48*len(ch.own)
		}
	}
	all := slices.Clone(c.spare)
	for b := range c.live {
		all = append(all, b.shared)
		s.threads += cap(b.warps)*int(unsafe.Sizeof(warp{})) + 8*cap(b.copies)
		for i := range b.warps {
			if lanes := b.warps[i].lanes; lanes != nil {
				s.threads += int(unsafe.Sizeof(*lanes))
				for k := range lanes {
					s.threads += cap(lanes[k].waiting)*int(unsafe.Sizeof(pending{})) + 16*len(lanes[k].released)
				}
			}
		}
	}
	for i, m := range append(all, c.global) {
		s.cells += int(unsafe.Sizeof(*m)) + 16*len(m.pages)
		words := &s.shared
		if i == len(all) {
			words = &s.words
		}
		for _, p := range m.pages {
			s.cells += int(unsafe.Sizeof(*p))
			chains(p.spare)
			for n := range pageParts {
				for k := range p.cells {
					if p.cells[k][n] != nil {
						s.cells += int(unsafe.Sizeof(cells{}))
					}
				}
				if part := p.chains[n]; part != nil {
					s.chains += int(unsafe.Sizeof(*part))
					for _, ch := range part {
						chains(ch)
					}
				}
			}
			for w := range pageWords {
				if p.cell(ofReads, w)|p.cell(ofWrites, w) != 0 {
					*words++
				}
			}
		}
	}
	s.records = len(c.records)*int(unsafe.Sizeof([chunk]record{})) + 8*cap(c.records) + 8*cap(c.marks.records)
	s.sets = cap(c.sets)*int(unsafe.Sizeof(c.sets[0])) + 4*cap(c.freeSet) + 8*cap(c.marks.sets) + int(unsafe.Sizeof(c.last))
	s.sets += cap(c.entry)*int(unsafe.Sizeof(entry{})) + 4*cap(c.order)
	s.cells += len(c.freePart) * int(unsafe.Sizeof(cells{}))
	s.flights = 8*cap(c.flights) + 4*cap(c.noFlight)
	for _, f := range c.flights {
		if f != nil {
			s.flights += int(unsafe.Sizeof(*f))
		}
	}
	return s
}

// peak watches a checker: what it returns gives, after the run, the most that it kept at any
// sweep, where its storage is fullest, or at the end.
func peak(c *Checker) func() size {
	var most size
	look := func() {
		if s := sizeOf(c); s.bytes() >= most.bytes() {
			most = s
		}
	}
	c.watch = look
	return func() size {
		look()
		return most
	}
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
				c := New().(*Checker)
				execute(b, r, c)
				off, on = off+t1-t0, on+user(b)-t1
			}
			c := New().(*Checker)
			most := peak(c)
			execute(b, r, c)
			s := most()
			b.ReportMetric(float64(off.Milliseconds())/float64(b.N), "ms-off/op")
			b.ReportMetric(float64(on.Milliseconds())/float64(b.N), "ms-on/op")
			b.ReportMetric(float64(on)/float64(off), "x")
			b.ReportMetric(float64(s.bytes())/float64(s.words), "B/word")
			b.ReportMetric(float64(s.words), "words")
			b.Logf("%+v", s)
		})
	}
}

// TestGrowth runs kernels that do the same again and again: what the checker keeps is bounded
// by the memory that they touch, however long they run.
func TestGrowth(t *testing.T) {
	const words = 4096
	// A step is one or a few accesses of a warp, the nth of them.
	for _, test := range []struct {
		name string
		most int // bytes for each word that is touched
		step func(g *grower, n int)
	}{
		{"rows of loads and stores", 20, func(g *grower, n int) {
			g.row(n % (words / 32))
			g.access(n/3%2 == 0, nil)
		}},
		{"scattered loads of bytes", 12 * mostEntries, func(g *grower, n int) {
			for i := range g.addr {
				g.addr[i] = uint64((n*61 + i*i*37) % 512)
			}
			g.bytes = 1
			g.access(false, nil)
		}},
		{"one array after another", 20, func(g *grower, n int) {
			g.row(n)
			g.access(true, nil)
			if n%(words/32) == 0 {
				g.c.Host(&check.HostEvent{Kind: check.HostFree, Addr: uint64(n-words/32) * 128, Bytes: 4 * words})
			}
		}},
		{"polls", 4096, func(g *grower, n int) {
			g.addr = [32]uint64{}
			g.access(false, &isa.Inst{Elem: 4, Order: isa.Relaxed, Scope: isa.ScopeGPU})
			if n%97 == 0 {
				g.blocks[g.block].Fence(g.warp, ^isa.LaneMask(0), isa.AcqRel, isa.ScopeGPU)
				g.access(true, &isa.Inst{Elem: 4, Order: isa.Relaxed, Scope: isa.ScopeGPU})
			}
		}},
		{"atomics and fences", 4096, func(g *grower, n int) {
			if n%8 != 0 {
				return
			}
			for i := range g.addr {
				g.addr[i] = uint64(4 * ((n*13 + i*7) % 64))
			}
			g.atomic = true
			g.access(true, &isa.Inst{Elem: 4, Order: isa.Relaxed, Scope: isa.ScopeGPU})
			if n < 800 {
				g.blocks[g.block].Fence(g.warp, ^isa.LaneMask(0), isa.Release, isa.ScopeGPU)
			}
		}},
		{"asynchronous copies", 40, func(g *grower, n int) {
			g.row(n % (words / 32))
			b := g.blocks[g.block]
			g.flight = true
			g.access(true, nil)
			b.Group(g.warp, ^isa.LaneMask(0), isa.Async{Does: isa.AsyncCommit, Done: isa.ByGroup})
			b.Group(g.warp, ^isa.LaneMask(0), isa.Async{Does: isa.AsyncWait, Done: isa.ByGroup, Leave: 1})
			b.Meet(g.warp, ^isa.LaneMask(0))
		}},
		{"launches", 20, func(g *grower, n int) {
			if n%16 == 0 {
				g.launch()
			}
			g.row(n % (words / 32))
			g.access(true, nil)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := newGrower()
			most := peak(g.c)
			steps := alltests.Count(20_000, 450_000) // of 32 lanes each: 10^8 accesses in all
			var early size
			for n := range steps {
				g.block, g.warp = n/7%2, n/3%2
				g.bytes, g.atomic, g.flight = 4, false, false
				test.step(g, n)
				if n == steps/10 {
					early = most()
				}
			}
			late := most()
			if limit := (early.bytes()+early.threads)*5/4 + 16<<10; late.bytes()+late.threads > limit {
				t.Errorf("after %d accesses: %+v, after ten times as many: %+v", steps/10*32, early, late)
			}
			if fixed := 32 << 10; late.bytes() > fixed+test.most*late.words {
				t.Errorf("more than %d bytes, and %d for each word: %+v", fixed, test.most, late)
			}
			t.Logf("%+v", late)
		})
	}
}

// grower makes accesses of two blocks of two warps.
type grower struct {
	c              *Checker
	n              int // launches
	blocks         []exec.BlockProbe
	block, warp    int // whose access is next
	addr           [32]uint64
	bytes          int
	atomic, flight bool
}

func newGrower() *grower {
	g := &grower{c: New().(*Checker)}
	g.launch()
	return g
}

// launch ends the launch and begins the next one.
func (g *grower) launch() {
	for _, b := range g.blocks {
		b.End()
	}
	g.n++
	l := g.c.Launch(&check.Launch{Number: g.n, At: check.Clock{0: uint64(g.n)}})
	code := []*isa.Inst{{Elem: 4, Order: isa.Release}}
	l.Begin(&exec.Launch{Grid: exec.Dim3{X: 2, Y: 1, Z: 1}, Block: exec.Dim3{X: 64, Y: 1, Z: 1}}, code, func(int) exec.Where { return exec.Where{} }, func(int) string { return "" })
	g.blocks = []exec.BlockProbe{l.Block(&fullStub{stub{n: 0}}), l.Block(&fullStub{stub{n: 1}})}
}

// fullStub is a block of two whole warps.
type fullStub struct{ stub }

func (*fullStub) LiveLanes(int) isa.LaneMask { return ^isa.LaneMask(0) }

// row sets the addresses to those of row n of memory, of 32 words, and the warp to its owner.
func (g *grower) row(n int) {
	g.block, g.warp = n%2, n/2%2
	for i := range g.addr {
		g.addr[i] = uint64(n*128 + i*4)
	}
}

// access makes an access of a warp, plain unless there is an instruction.
func (g *grower) access(write bool, in *isa.Inst) {
	if in == nil {
		in = &isa.Inst{Elem: uint8(g.bytes)}
	}
	a := &exec.Access{Warp: g.warp, Inst: in, Lanes: ^isa.LaneMask(0), Space: isa.Global, Addr: &g.addr, Bytes: g.bytes, Write: write, Read: !write || g.atomic, Flight: g.flight}
	if g.flight {
		a.By = isa.ByGroup
	}
	g.blocks[g.block].Access(a)
}
