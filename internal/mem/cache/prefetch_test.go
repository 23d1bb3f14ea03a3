package cache

import (
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/internal/mem"
)

// scripted is a prefetcher that returns the addresses given to it, once, and
// records its input.
type scripted struct {
	next []uint64
	seen []Access
}

func (s *scripted) Access(a *Access, list []uint64) []uint64 {
	s.seen = append(s.seen, *a)
	list = append(list, s.next...)
	s.next = nil
	return list
}

// reader is a cache with a scripted prefetcher, and a next level that answers on
// request of the test.
type reader struct {
	*testing.T
	c    *Cache
	pool mem.Pool
	of   *scripted
	now  uint64
}

func newReader(t *testing.T, text string, level Level) *reader {
	cfg, err := ParseConfig(text)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Level = level
	x := &reader{T: t, of: &scripted{}}
	if x.c, err = New(cfg, &x.pool); err != nil {
		t.Fatal(err)
	}
	x.c.ahead = &ahead{of: x.of}
	return x
}

// read reads a sector; ahead are the prefetcher's addresses.
func (x *reader) read(addr uint64, ahead ...uint64) Status {
	x.now++
	x.of.next = ahead
	r := x.pool.Get()
	r.Addr, r.PartAddr, r.Size, r.Sectors = addr, addr, 32, 1<<(addr/32%4)
	r.SM, r.Warp, r.PC = 5, 6, 7
	st := x.c.Access(x.now, r)
	if st == Hit || st == Fail {
		x.pool.Put(r)
	}
	return st
}

// sent takes the requests for the next level, and returns their addresses.
func (x *reader) sent() (list []*mem.Req, addrs []uint64) {
	for r := x.c.PopMiss(); r != nil; r = x.c.PopMiss() {
		list, addrs = append(list, r), append(addrs, r.Addr)
	}
	return
}

// answer answers requests, and returns the number of waiting accesses that this
// completed.
func (x *reader) answer(list ...*mem.Req) (waited int) {
	x.now++
	for _, r := range list {
		if !x.c.WaitsFor(r) || !x.c.Fill(x.now, r) {
			x.Fatalf("the cache does not wait for %#x", r.Addr)
		}
	}
	for r := x.c.PopReady(); r != nil; r = x.c.PopReady() {
		x.pool.Put(r)
		waited++
	}
	return waited
}

func (x *reader) want(what string, want Prefetches) {
	x.Helper()
	if got := x.c.Stats.Prefetch; got != want {
		x.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

// A prefetch goes to the next level after the access, completes no access, and is
// counted by its fate. Accesses count as without a prefetcher.
func TestPrefetch(t *testing.T) {
	for _, text := range []string{
		"S:1:128:2,L:B:m:L:L,A:4:4,8:0,32", // lines taken at the miss
		"S:1:128:2,L:R:f:N:L,A:4:4,8:0,32", // at the fill
	} {
		x := newReader(t, text, L1)
		if st := x.read(0x20, 0x80, 0x84, 0x20); st != Miss {
			t.Fatalf("the first read is a %v", st)
		}
		list, addrs := x.sent()
		if !slices.Equal(addrs, []uint64{0x20, 0x80}) {
			t.Fatalf("%#x were sent, want 0x20 and 0x80", addrs)
		}
		if r := list[1]; r.Kind != mem.GlobalRead || r.Write || r.Size != 32 || r.Sectors != 1 || r.SM != 5 || r.Ahead != mem.AheadL1 {
			t.Errorf("sent %+v", *r)
		}
		x.want("one of three", Prefetches{Issued: 1, Present: 2})
		if n := x.answer(list...); n != 1 {
			t.Errorf("%d waited, want 1", n)
		}
		if x.pool.Live != 0 {
			t.Errorf("%d requests are left", x.pool.Live)
		}
		if st := x.read(0x80); st != Hit {
			t.Errorf("a read of the prefetched sector is a %v", st)
		}
		x.read(0x80)
		x.want("used twice", Prefetches{Issued: 1, Present: 2, Useful: 1})

		// A late one: an access asks for it while it is on its way.
		x.read(0x20, 0xa0)
		if st := x.read(0xa0); st != SectorMiss && st != HitReserved {
			t.Errorf("a read of the sector on its way is a %v", st)
		}
		list, addrs = x.sent()
		if !slices.Equal(addrs, []uint64{0xa0}) {
			t.Fatalf("%#x were sent, want 0xa0 once", addrs)
		}
		if n := x.answer(list...); n != 1 {
			t.Errorf("%d accesses waited for the late prefetch, want 1", n)
		}
		x.read(0xa0)
		x.want("late", Prefetches{Issued: 2, Present: 2, Useful: 1, Late: 1})

		// An unused one, evicted by two other lines.
		x.read(0x20, 0xc0)
		list, _ = x.sent()
		x.answer(list...)
		for _, a := range []uint64{0x100, 0x180} {
			x.read(a)
			list, _ = x.sent()
			x.answer(list...)
		}
		x.want("unused", Prefetches{Issued: 3, Present: 2, Useful: 1, Late: 1, Unused: 1})
		if x.pool.Live != 0 || x.c.Pending() != 0 {
			t.Errorf("%d requests and %d misses are left", x.pool.Live, x.c.Pending())
		}
		want := Access{Addr: 0x20, Cycle: 1, PC: 7, SM: 5, Warp: 6}
		if a := x.of.seen[0]; a != want {
			t.Errorf("the prefetcher saw %+v, want %+v", a, want)
		}
		if !x.of.seen[2].Hit {
			t.Error("the prefetcher did not see that a read hit")
		}
	}
}

// Prefetches take only entries of the pending misses and of the miss queue that
// accesses leave free. A refused access is not reported.
func TestPrefetchWithoutRoom(t *testing.T) {
	for _, c := range []struct {
		what, text string
		sent       int
	}{
		{"two pending misses", "S:4:128:4,L:B:m:L:L,A:2:4,8:0,32", 2},
		{"a miss queue of three", "S:4:128:4,L:B:m:L:L,A:8:4,3:0,32", 3},
		{"two ways, both on their way", "S:1:128:2,L:B:m:L:L,A:8:4,8:0,32", 2},
	} {
		x := newReader(t, c.text, L1)
		x.read(0, 0x80, 0x100, 0x180, 0x200)
		x.want(c.what, Prefetches{Issued: uint64(c.sent) - 1, Refused: 5 - uint64(c.sent)})
		if st := x.read(0x1000, 0x2000); st != Fail || len(x.of.seen) != 1 {
			t.Errorf("%s: a %v, %d accesses seen", c.what, st, len(x.of.seen))
		}
		list, _ := x.sent()
		if len(list) != c.sent {
			t.Errorf("%s: %d requests, want %d", c.what, len(list), c.sent)
		}
		x.answer(list...)
		if x.pool.Live != 0 {
			t.Errorf("%s: %d requests are left", c.what, x.pool.Live)
		}
	}
}

// A prefetch that evicts a written line sends it to the next level. Sent of the
// access before it has only the access's own requests.
func TestPrefetchWritesBack(t *testing.T) {
	x := newReader(t, "S:1:128:1,L:B:m:L:L,A:4:4,8:0,32", L2)
	w := x.pool.Get()
	w.Addr, w.Size, w.Sectors, w.Kind, w.Write = 0, 32, 1, mem.GlobalWrite, true
	w.Bytes.Set(0, 32)
	x.of.next = []uint64{0x80}
	made := 0
	x.c.RoutePrefetches(func(now uint64, r *mem.Req) {
		r.PartAddr = r.Addr
		made += x.c.Prefetch(now, r)
	})
	if st := x.c.Access(1, w); st != Miss || x.c.Sent() != 0 {
		t.Errorf("the write is a %v that sent %b", st, x.c.Sent())
	}
	x.pool.Put(w)
	list, addrs := x.sent()
	if made != 2 || !slices.Equal(addrs, []uint64{0x80, 0}) || list[1].Kind != mem.L2WriteBack {
		t.Fatalf("%d made, %#x sent", made, addrs)
	}
	x.pool.Put(list[1])
	x.answer(list[0])
	if x.pool.Live != 0 {
		t.Errorf("%d requests are left", x.pool.Live)
	}
}

// Reads that miss prefetch the next line.
func TestNextLine(t *testing.T) {
	for _, c := range []struct {
		name string
		a    Access
		want []uint64
	}{
		{"a miss", Access{Addr: 0x1060}, []uint64{0x10e0}},
		{"a hit", Access{Addr: 0x1060, Hit: true}, nil},
		{"a write", Access{Addr: 0x1060, Write: true}, nil},
	} {
		if got := newAhead(&Config{Line: 128, Prefetch: NextLine}).of.Access(&c.a, nil); !slices.Equal(got, c.want) {
			t.Errorf("%s: %#x, want %#x", c.name, got, c.want)
		}
	}
	if newAhead(&Config{Line: 128}) != nil {
		t.Error("a cache without a prefetcher has one")
	}
}
