package cache

import (
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle/internal/mem"
)

// traffic runs a cache against a next level of fixed latency.
type traffic struct {
	c     *Cache
	pool  *mem.Pool
	addrs []uint64
	at    int
	now   uint64
	delay [256]*mem.Req // ring by cycle
	held  *mem.Req
	write bool
}

func newTraffic(t testing.TB, s string, level Level, lines int, write bool, replace Replacement) *traffic {
	cfg, err := ParseConfig(s)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Level, cfg.WriteRatio, cfg.Compat, cfg.Replace = level, 25, GPGPUSim(), replace
	x := &traffic{pool: &mem.Pool{}, write: write, addrs: make([]uint64, 4096)}
	if x.c, err = New(cfg, x.pool); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range x.addrs {
		x.addrs[i] = uint64(rng.IntN(lines*4)) * 32
	}
	return x
}

// cycle performs an owner's calls of one cycle, with one access.
func (x *traffic) cycle() {
	x.now++
	slot := &x.delay[x.now&255]
	if r := *slot; r != nil {
		*slot = nil
		x.c.Fill(x.now, r)
	}
	if r := x.c.PopMiss(); r != nil {
		if r.Write {
			x.pool.Put(r)
		} else {
			x.delay[(x.now+200)&255] = r
		}
	}
	x.c.Tick()
	if x.c.Ready() {
		x.pool.Put(x.c.PopReady())
	}
	r := x.held
	x.held = nil
	if r == nil {
		r = x.pool.Get()
		r.Addr = x.addrs[x.at&4095]
		r.PartAddr, r.Size, r.Sectors = r.Addr, 32, 1<<(r.Addr>>5&3)
		if x.write && x.at%4 == 3 {
			r.Kind, r.Write = mem.GlobalWrite, true
			r.Bytes.Set(int(r.Addr&127), 32)
		}
		x.at++
	}
	switch st := x.c.Access(x.now, r); {
	case st == Fail:
		x.held = r
	case st == Hit && x.c.Sent()&SentWrite == 0, r.Write && x.c.Sent() & ^SentWriteBack == 0:
		x.pool.Put(r)
	}
}

var loads = []struct {
	name, cfg string
	level     Level
	lines     int
	write     bool
	replace   Replacement
}{
	{"L1D-hits", "S:4:128:256,L:T:m:L:L,A:384:48,16:0,32", L1, 500, false, LRU},
	{"L1D-misses", "S:4:128:256,L:T:m:L:L,A:384:48,16:0,32", L1, 100000, true, LRU},
	{"L2-mixed", "S:64:128:16,L:B:m:L:P,A:192:4,32:0,32", L2, 4000, true, LRU},
	{"L1D-hits-plugged", "S:4:128:256,L:T:m:L:L,A:384:48,16:0,32", L1, 500, false, oldestUse},
	{"L1D-misses-plugged", "S:4:128:256,L:T:m:L:L,A:384:48,16:0,32", L1, 100000, true, oldestUse},
	{"L2-mixed-plugged", "S:64:128:16,L:B:m:L:P,A:192:4,32:0,32", L2, 4000, true, oldestUse},
}

func TestNoAllocation(t *testing.T) {
	for _, l := range loads {
		x := newTraffic(t, l.cfg, l.level, l.lines, l.write, l.replace)
		for range 20000 {
			x.cycle()
		}
		if n := testing.AllocsPerRun(20000, x.cycle); n != 0 {
			t.Errorf("%s: %v allocations a cycle", l.name, n)
		}
		if x.c.Stats.Total() < 10000 {
			t.Errorf("%s: only %d accesses", l.name, x.c.Stats.Total())
		}
	}
}

func BenchmarkCycle(b *testing.B) {
	for _, l := range loads {
		b.Run(l.name, func(b *testing.B) {
			x := newTraffic(b, l.cfg, l.level, l.lines, l.write, l.replace)
			for range 20000 {
				x.cycle()
			}
			b.ReportAllocs()
			before := x.c.Stats.Total()
			for b.Loop() {
				x.cycle()
			}
			b.ReportMetric(float64(x.c.Stats.Total()-before)/float64(b.N), "accepted/op")
		})
	}
}
