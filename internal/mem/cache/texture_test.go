package cache

import (
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle/internal/mem"
)

// newTexture returns a texture cache and a function that makes requests for it.
func newTexture(t testing.TB, s string) (*Texture, *mem.Pool, func(addr uint64) *mem.Req) {
	t.Helper()
	cfg, err := ParseConfig(s)
	if err != nil {
		t.Fatal(err)
	}
	pool := &mem.Pool{}
	x, err := NewTexture(cfg, pool)
	if err != nil {
		t.Fatal(err)
	}
	return x, pool, func(addr uint64) *mem.Req {
		r := pool.Get()
		r.Addr, r.Size, r.Kind = addr, 64, mem.TexRead
		return r
	}
}

func TestTextureOrder(t *testing.T) {
	x, pool, read := newTexture(t, "N:4:128:2,L:R:m:N:L,T:8:4,4:2")
	a, b, c := read(0x10), read(0x80), read(0x20)
	for i, s := range []struct {
		r    *mem.Req
		want Status
	}{{a, Miss}, {b, Miss}, {c, HitReserved}} {
		if got := x.Access(1, s.r); got != s.want {
			t.Fatalf("access %d: %v, want %v", i, got, s.want)
		}
	}
	if x.Probe(c) != Hit {
		t.Error("the tag of a line on its way is missing")
	}
	if a.Addr != 0 || a.Size != 128 {
		t.Errorf("asks for %#x+%d, want the line", a.Addr, a.Size)
	}
	if x.PopMiss() != a || x.PopMiss() != b || x.PopMiss() != nil {
		t.Error("the requests are not the misses, in order")
	}
	pieces := func(r *mem.Req, n int) {
		for range n {
			p := pool.Get()
			p.Orig = r
			if !x.WaitsFor(p) || !x.Fill(2, p) {
				t.Fatal("a piece is refused")
			}
		}
	}
	pieces(b, 4) // the younger one first: it must wait
	x.Tick()
	if x.Ready() {
		t.Fatal("overtaken")
	}
	pieces(a, 3)
	x.Tick()
	if x.Ready() {
		t.Fatal("ready before the last piece")
	}
	pieces(a, 1)
	if x.WaitsFor(a) || x.Fill(2, a) {
		t.Error("waits for data that have arrived")
	}
	if x.Ready() {
		t.Fatal("ready before the cycle is over")
	}
	x.Tick()
	if r := x.PopReady(); r != a || a.Addr != 0x10 || a.Size != 64 {
		t.Fatal("first result is not the first access as it was")
	}
	x.Tick()
	x.Tick() // two results fill the queue
	x.Tick()
	if x.results.Len() != 2 || x.PopReady() != b || x.PopReady() != c || x.PopReady() != nil || !x.Quiet() {
		t.Error("results out of order")
	}
	if pool.Live != 3 {
		t.Errorf("%d requests live, want the three accesses", pool.Live)
	}
}

func TestTextureFull(t *testing.T) {
	for _, s := range []struct {
		name, cfg string
		accepted  int  // misses, nothing moving
		sending   bool // with requests sent on
	}{
		{"request FIFO", "N:4:128:8,L:R:m:N:L,F:9:3,8:2", 3, false},
		{"reorder buffer", "N:4:128:8,L:R:m:N:L,F:9:3,5:2", 5, true},
		{"fragment FIFO", "N:4:128:8,L:R:m:N:L,F:4:8,8:2", 4, true},
	} {
		x, _, read := newTexture(t, s.cfg)
		n := uint64(0)
		for ; n < 20; n++ {
			if x.Access(n, read(n*128)) == Fail {
				break
			}
			if s.sending {
				x.PopMiss()
			}
		}
		if int(n) != s.accepted {
			t.Errorf("%s: %d accepted, want %d", s.name, n, s.accepted)
		}
		if x.Stats.Of(Fail) != 1 || x.Stats.Misses() != n {
			t.Errorf("%s: counts %d refused, %d missed", s.name, x.Stats.Of(Fail), x.Stats.Misses())
		}
	}
}

// TestTextureTwin compares random traffic with a list of accesses and a map of
// lines.
func TestTextureTwin(t *testing.T) {
	for _, cfg := range []string{
		"N:4:128:24,L:R:m:N:L,T:128:4,128:2", "N:16:128:24,L:R:m:N:L,T:128:4,128:2",
		"N:4:128:256,L:R:m:N:L,T:512:8,128:2", "N:2:64:2,F:R:m:N:X,F:6:2,4:1",
	} {
		x, pool, read := newTexture(t, cfg)
		c := x.cfg
		rng := rand.New(rand.NewPCG(3, 9))
		type access struct {
			r    *mem.Req
			addr uint64
			miss bool
			back bool
		}
		var fifo, results, sentOn []*access
		var sets = make([][]uint64, c.Sets) // oldest first
		toSend := 0
		accepted, popped := 0, 0
		missing := func() (n int) {
			for _, a := range fifo {
				if a.miss {
					n++
				}
			}
			return n
		}
		for step := range 30000 {
			switch k := rng.IntN(10); {
			case k < 4:
				a := &access{addr: uint64(rng.IntN(c.Sets*c.Ways*2)) * uint64(c.Line)}
				a.r = read(a.addr)
				want := HitReserved
				set := Index(c.Index, c.Sets, uint(log2(c.Line)), a.addr)
				at := -1
				for i, tag := range sets[set] {
					if tag == a.addr {
						at = i
					}
				}
				switch {
				case len(fifo) == c.Entries || toSend == c.Merge || missing() == c.MissQueue:
					want = Fail
				case at < 0:
					want = Miss
					if len(sets[set]) == c.Ways {
						sets[set] = sets[set][1:]
					}
					sets[set] = append(sets[set], a.addr)
				case c.Replace == LRU:
					sets[set] = append(append(sets[set][:at:at], sets[set][at+1:]...), a.addr)
				}
				if got := x.Access(uint64(step), a.r); got != want {
					t.Fatalf("%s: step %d: %v, twin %v", cfg, step, got, want)
				}
				if want == Fail {
					pool.Put(a.r)
					continue
				}
				accepted++
				a.miss = want == Miss
				fifo = append(fifo, a)
				if a.miss {
					toSend++
				}
			case k < 6:
				r := x.PopMiss()
				if (r == nil) != (toSend == 0) {
					t.Fatalf("%s: step %d: sends %v of %d", cfg, step, r, toSend)
				}
				if r != nil {
					toSend--
					for _, a := range fifo {
						if a.r == r {
							sentOn = append(sentOn, a)
						}
					}
				}
			case k < 7:
				if len(sentOn) > 0 {
					i := rng.IntN(len(sentOn))
					x.Fill(uint64(step), sentOn[i].r)
					sentOn[i].back = true
					sentOn = append(sentOn[:i], sentOn[i+1:]...)
				}
			case k < 9:
				x.Tick()
				if len(fifo) > 0 && len(results) < c.ResultQueue && (!fifo[0].miss || fifo[0].back) {
					results = append(results, fifo[0])
					fifo = fifo[1:]
				}
			default:
				r := x.PopReady()
				if (r == nil) != (len(results) == 0) || r != nil && r != results[0].r {
					t.Fatalf("%s: step %d: answers %v", cfg, step, r)
				}
				if r != nil {
					popped++
					pool.Put(r)
					results = results[1:]
				}
			}
		}
		if int(x.Stats.Total()) != accepted || pool.Live != accepted-popped || accepted < 1000 {
			t.Errorf("%s: %d accepted, %d counted, %d popped, %d live", cfg, accepted, x.Stats.Total(), popped, pool.Live)
		}
	}
}
