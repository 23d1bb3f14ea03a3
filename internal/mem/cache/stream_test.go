package cache

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/mem"
)

// show describes a request of either side.
func show(r *mem.Req) string {
	if r == nil {
		return "nothing"
	}
	return fmt.Sprintf("%v %#x+%d write=%v sectors=%04b bytes=%x owner=%d", r.Kind, r.Addr, r.Size, r.Write, r.Sectors, r.Bytes, r.Owner)
}

func (r *twinReq) String() string {
	if r == nil {
		return "nothing"
	}
	var m mem.ByteMask
	for i, b := range r.bytes {
		if b {
			m.Set(i, 1)
		}
	}
	return show(&mem.Req{Kind: r.kind, Addr: r.addr, Size: uint32(r.size), Write: r.write, Sectors: uint8(r.sectors), Bytes: m, Owner: r.id})
}

// stream is a kind of random traffic.
type stream struct {
	name, cfg string
	level     Level
	ratio     int
	maxWays   int
	lines     int // distinct lines touched
	kinds     []mem.Kind
	atomics   bool
	whole     int // percent of writes that cover their sector
}

var (
	dataKinds = []mem.Kind{mem.GlobalRead, mem.GlobalRead, mem.GlobalWrite, mem.LocalRead, mem.LocalWrite}
	instKinds = []mem.Kind{mem.InstRead}
)

var streams = []stream{
	{name: "RTX2060 L1D", cfg: "S:4:128:64,L:T:m:L:L,A:256:32,16:0,32", ratio: 25, maxWays: 128, lines: 600, kinds: dataKinds, whole: 50},
	{name: "RTX3070 L1D", cfg: "S:4:128:256,L:T:m:L:L,A:384:48,16:0,32", ratio: 25, lines: 1500, kinds: dataKinds, whole: 80},
	{name: "QV100 L1D", cfg: "S:4:128:64,L:T:m:L:L,A:512:8,16:0,32", ratio: 25, lines: 300, kinds: dataKinds, whole: 20},
	{name: "small L1D", cfg: "S:2:128:4,L:T:m:L:L,A:8:3,4:0,32", ratio: 25, maxWays: 9, lines: 30, kinds: dataKinds, whole: 50},
	{name: "GTX480 L1D", cfg: "N:32:128:4,L:L:m:N:H,S:64:8,8", lines: 300, kinds: dataKinds, whole: 10},
	{name: "TITANX L1D", cfg: "S:4:128:96,L:L:s:N:L,A:256:8,16:0,32", lines: 600, kinds: dataKinds, whole: 50},
	{name: "small streaming", cfg: "S:2:128:3,L:L:s:N:X,A:16:3,4:0,32", lines: 20, kinds: dataKinds, whole: 50},
	{name: "RTX L2", cfg: "S:64:128:16,L:B:m:L:P,A:192:4,32:0,32", level: L2, lines: 2500, kinds: dataKinds, atomics: true, whole: 50},
	{name: "QV100 L2", cfg: "S:32:128:24,L:B:m:L:P,A:192:4,32:0,32", level: L2, lines: 2000, kinds: dataKinds, atomics: true, whole: 50},
	{name: "GTX480 L2", cfg: "S:64:128:8,L:B:m:L:L,A:256:4,4:0,32", level: L2, lines: 1500, kinds: dataKinds, atomics: true, whole: 30},
	{name: "small L2", cfg: "S:2:128:4,L:B:m:L:L,A:6:2,4:0,32", level: L2, lines: 20, kinds: dataKinds, atomics: true, whole: 50},
	{name: "line L2", cfg: "N:4:128:4,F:B:m:L:P,A:12:3,5:0,32", level: L2, lines: 40, kinds: dataKinds, atomics: true, whole: 10},
	{name: "fetch on write", cfg: "S:4:128:4,L:B:m:F:L,A:12:6,6:0,32", level: L2, lines: 30, kinds: dataKinds, whole: 30},
	{name: "naive", cfg: "S:4:128:4,F:B:m:W:X,A:12:3,6:0,16", lines: 30, kinds: dataKinds, whole: 30},
	{name: "write evict", cfg: "N:4:128:4,F:E:m:N:L,A:12:3,3", lines: 30, kinds: dataKinds, whole: 30},
	{name: "on fill", cfg: "N:4:128:2,L:T:f:N:L,A:12:3,3", lines: 24, kinds: dataKinds, whole: 30},
	{name: "three sets", cfg: "S:3:128:4,L:T:m:L:L,A:12:3,3:0,32", lines: 24, kinds: dataKinds, whole: 30},
	{name: "GTX480 L1I", cfg: "N:4:128:4,L:R:f:N:L,S:2:32,4", lines: 40, kinds: instKinds},
	{name: "QV100 L1I", cfg: "N:64:128:16,L:R:f:N:L,S:2:48,4", lines: 1300, kinds: instKinds},
	{name: "GTX480 L1C", cfg: "N:64:64:2,L:R:f:N:L,S:2:32,4", lines: 300, kinds: []mem.Kind{mem.ConstRead}},
	{name: "QV100 L1C", cfg: "N:128:64:8,L:R:f:N:L,S:2:64,4", lines: 1200, kinds: []mem.Kind{mem.ConstRead}},
}

// TestTwin feeds the same random traffic to the cache and its twin and
// compares every answer.
func TestTwin(t *testing.T) {
	steps := 20000
	if !alltests.On() {
		steps = 4000
	}
	for si, s := range streams {
		for _, compat := range []bool{true, false} {
			name := s.name
			if compat {
				name += ", compat"
			}
			n := steps
			for _, plugged := range []bool{false, true} {
				if plugged {
					name, n = name+", plugged", steps/4
				}
				t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
					runTwin(t, s, compat, plugged, uint64(si)*2, n)
				})
			}
		}
	}
}

// FuzzTwin varies the traffic.
func FuzzTwin(f *testing.F) {
	f.Add(uint8(0), true, uint64(1))
	f.Fuzz(func(t *testing.T, i uint8, compat bool, seed uint64) {
		runTwin(t, streams[int(i)%len(streams)], compat, seed%2 == 0, seed, 1500)
	})
}

// runTwin compares the two. plugged gives the cache a registered replacement
// policy, equivalent to the twin's.
func runTwin(t *testing.T, s stream, compat, plugged bool, seed uint64, steps int) {
	cfg, err := ParseConfig(s.cfg)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Level, cfg.WriteRatio, cfg.MaxWays = s.level, s.ratio, s.maxWays
	if compat {
		cfg.Compat = GPGPUSim()
	}
	w := newTwin(cfg)
	if plugged {
		cfg.Replace = map[Replacement]Replacement{LRU: oldestUse, FIFO: oldestFill}[cfg.Replace]
	}
	var pool mem.Pool
	c, err := New(cfg, &pool)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 7))
	type pair struct {
		r *mem.Req
		w *twinReq
	}
	var held *pair // refused, to retry
	var below []pair
	now := uint64(100)
	id := uint32(0)
	made, back := 0, 0
	atom := cfg.Atom()
	partOf := func(a uint64) uint64 { return a>>9<<8 | a&255 }
	base := uint64(0x7f00_0000_0000)
	make1 := func() *pair {
		id++
		r := pool.Get()
		q := &twinReq{id: id}
		line := uint64(rng.IntN(s.lines))
		if rng.IntN(3) > 0 { // favour a quarter of them
			line = line / 4
		}
		q.addr = base + line*uint64(cfg.Line)
		q.kind = s.kinds[rng.IntN(len(s.kinds))]
		q.write = q.kind == mem.GlobalWrite || q.kind == mem.LocalWrite
		q.size = atom
		first := int(q.addr % 128)
		if cfg.Sectored {
			sec := rng.IntN(4)
			q.addr += uint64(sec) * 32
			q.sectors = 1 << sec
			first = sec * 32
		} else {
			q.sectors = 15
		}
		if q.kind == mem.InstRead {
			q.addr += uint64(rng.IntN(cfg.Line/16)) * 16
			q.size = 16
		}
		q.part = partOf(q.addr)
		if q.write {
			if rng.IntN(100) < s.whole {
				for b := range atom {
					q.bytes[first+b] = true
				}
			} else {
				n := 1 + rng.IntN(atom-1)
				lo := rng.IntN(atom - n + 1)
				for b := lo; b < lo+n; b++ {
					q.bytes[first+b] = true
				}
				q.size = n
			}
		} else if s.atomics && q.kind == mem.GlobalRead && rng.IntN(4) == 0 {
			q.atomic = true
			q.bytes[first], q.bytes[first+1] = true, true
		} else if rng.IntN(2) == 0 {
			q.bytes[first+rng.IntN(atom)] = true
		}
		r.Owner, r.Addr, r.PartAddr, r.Size, r.Kind = q.id, q.addr, q.part, uint32(q.size), q.kind
		r.Write, r.Atomic, r.Sectors = q.write, q.atomic, uint8(q.sectors)
		for b, on := range q.bytes {
			if on {
				r.Bytes.Set(b, 1)
			}
		}
		r.Sub, r.Chan = 3, 1
		return &pair{r, q}
	}
	fail := func(format string, a ...any) {
		t.Helper()
		t.Fatalf("seed %d, cycle %d: %s", seed, now, fmt.Sprintf(format, a...))
	}
	answer := func(p pair) {
		back++
		pool.Put(p.r)
	}
	drainSome := func() {
		a, b := c.Ready(), len(w.done) > 0
		if a != b {
			fail("ready %v, twin %v", a, b)
		}
		if !a {
			return
		}
		r, q := c.PopReady(), w.popReady()
		if show(r) != q.String() {
			fail("answered %s, twin %s", show(r), q)
		}
		if q.kind == mem.L1WriteAlloc || q.kind == mem.L2WriteAlloc {
			if (r.Orig == nil) != (q.forWrite == nil) {
				fail("write allocation for %v, twin %v", r.Orig, q.forWrite)
			}
			if r.Orig != nil {
				answer(pair{r.Orig, q.forWrite})
			}
			pool.Put(r)
			return
		}
		answer(pair{r, q})
	}
	for range steps {
		if rng.IntN(4) > 0 {
			now++
			c.Tick()
			w.dataBusy = max(0, w.dataBusy-1)
			w.fillBusy = max(0, w.fillBusy-1)
		}
		if c.DataPortFree() != (w.dataBusy == 0) || c.FillPortFree() != (w.fillBusy == 0) {
			fail("ports %d %d, twin %d %d", c.dataBusy, c.fillBusy, w.dataBusy, w.fillBusy)
		}
		switch k := rng.IntN(100); {
		case k < 55:
			p := held
			if p == nil {
				p = make1()
				made++
			}
			held = nil
			words := show(p.r)
			pa, _ := w.probe(p.w.addr, p.w.part, w.sectorOf(p.w), p.w.write)
			if got := c.Probe(p.r); got != pa {
				fail("%s: probe %v, twin %v", words, got, pa)
			}
			a, b := c.Access(now, p.r), w.access(now, p.w)
			if a != b || c.Sent() != w.sent || a == Fail && c.Reason() != w.why {
				fail("%s: %v sent %04b reason %v, twin %v %04b %v", words, a, c.Sent(), c.Reason(), b, w.sent, w.why)
			}
			switch {
			case a == Fail:
				if rng.IntN(4) > 0 { // most callers insist
					held = p
				} else {
					answer(*p)
				}
			case a == Hit && c.Sent()&SentWrite == 0, p.r.Write && c.Sent()&(SentWrite|SentWriteAlloc) == 0:
				answer(*p)
			}
		case k < 75:
			if len(w.queue) == 0 {
				if c.MissHead() != nil {
					fail("sends %s, twin nothing", show(c.MissHead()))
				}
				continue
			}
			q := w.queue[0]
			w.queue = w.queue[1:]
			r := c.PopMiss()
			if show(r) != q.String() {
				fail("sends %s, twin %s", show(r), q)
			}
			if r.IsWriteBack() {
				pool.Put(r)
			} else if r.Write {
				answer(pair{r, q})
			} else {
				below = append(below, pair{r, q})
			}
		case k < 90:
			if len(below) == 0 || !c.FillPortFree() {
				continue
			}
			i := rng.IntN(len(below))
			p := below[i]
			below = append(below[:i], below[i+1:]...)
			if !c.WaitsFor(p.r) {
				fail("does not wait for %s", show(p.r))
			}
			if cfg.MSHR == SectorAssoc {
				n := atom / 32
				for range n {
					piece := pool.Get()
					piece.Addr, piece.Orig = p.r.Addr+32, p.r
					if !c.Fill(now, piece) {
						fail("refuses a piece of %s", show(p.r))
					}
					w.fill(now, p.w, n)
				}
			} else {
				c.Fill(now, p.r)
				w.fill(now, p.w, 1)
			}
		case k < 98:
			drainSome()
		default:
			switch rng.IntN(40) {
			case 0:
				c.Invalidate()
				w.invalidate()
			case 1:
				c.Flush()
				w.flush()
			case 2:
				if cfg.MaxWays > 0 {
					n := 1 + rng.IntN(cfg.MaxWays)
					c.SetWays(n)
					w.setWays(n)
				}
			case 3, 4, 5, 6:
				a := base + uint64(rng.IntN(s.lines))*uint64(cfg.Line)
				sec := rng.IntN(4)
				index := a
				if s.level == L2 {
					index = partOf(a)
				}
				secs := uint8(1 + rng.IntN(15))
				if rng.IntN(2) == 0 {
					secs = 1 << sec
				}
				c.FillInTurn(now, a, index, secs)
				for sec := range 4 {
					if secs>>sec&1 == 0 {
						continue
					}
					if !cfg.Sectored {
						sec = 0
					}
					w.fillAddr(now, a, partOf(a), sec, true, [128]bool{})
					now++
				}
			case 7:
				if cfg.Alloc == Streaming {
					al := Alloc(rng.IntN(2))
					c.SetAlloc(al)
					w.alloc = al
				}
			}
		}
	}
	// Drain: every accepted request must come back.
	for range 1 << 20 {
		for _, p := range below {
			if cfg.MSHR == SectorAssoc {
				for range atom / 32 {
					piece := pool.Get()
					piece.Orig = p.r
					c.Fill(now, piece)
					w.fill(now, p.w, atom/32)
				}
			} else {
				c.Fill(now, p.r)
				w.fill(now, p.w, 1)
			}
		}
		below = below[:0]
		drainSome()
		r := c.PopMiss()
		if r == nil {
			if !c.Ready() {
				break
			}
			continue
		}
		q := w.queue[0]
		w.queue = w.queue[1:]
		switch {
		case r.IsWriteBack():
			pool.Put(r)
		case r.Write:
			answer(pair{r, q})
		default:
			below = append(below, pair{r, q})
		}
	}
	if held != nil {
		answer(*held)
	}
	if made != back || pool.Live != 0 || c.Pending() != 0 {
		fail("%d requests made, %d back; %d live in the pool, %d pending", made, back, pool.Live, c.Pending())
	}
	if c.Stats.Accesses != w.count || c.Stats.Fails != w.fails {
		fail("counters\n%v\n%v\ntwin\n%v\n%v", c.Stats.Accesses, c.Stats.Fails, w.count, w.fails)
	}
	checkInside(t, c)
}

// checkInside compares the cache's derived state (masks, counts, lists, hash) with
// its lines.
func checkInside(t *testing.T, c *Cache) {
	t.Helper()
	dirty := 0
	for i := range c.lines {
		l := &c.lines[i]
		if l.rsv&l.val|l.val&l.mod|l.rsv&l.mod != 0 {
			t.Fatalf("line %d has a sector in two states: %04b %04b %04b", i, l.rsv, l.val, l.mod)
		}
		if l.mod != 0 && c.keepsMod {
			dirty++
		}
	}
	if dirty != c.dirty {
		t.Fatalf("%d dirty lines counted, %d there", c.dirty, dirty)
	}
	for s := range c.cfg.Sets {
		var rsv, mod int32
		seen := 0
		for i := c.old[s]; i != none; i = c.lines[i].next {
			seen++
			if n := c.lines[i].next; n != none {
				a, b := &c.lines[i], &c.lines[n]
				if a.stamp > b.stamp || a.stamp == b.stamp && i > n {
					t.Fatalf("set %d: line %d (%d) listed before %d (%d)", s, i, a.stamp, n, b.stamp)
				}
			}
		}
		if seen != c.ways {
			t.Fatalf("set %d lists %d of %d ways", s, seen, c.ways)
		}
		for way := range c.ways {
			l := &c.lines[s*c.stride+way]
			free := c.inv[s*c.words+way/64]>>(way%64)&1 == 1
			if used := l.rsv|l.val|l.mod != 0; used == free || used != l.hashed {
				t.Fatalf("set %d way %d: in use %v, marked free %v, hashed %v", s, way, used, free, l.hashed)
			}
			if l.rsv != 0 {
				rsv++
			} else if l.mod != 0 && c.keepsMod {
				mod++
			}
		}
		if rsv != c.rsvN[s] || mod != c.modN[s] {
			t.Fatalf("set %d counts %d reserved, %d dirty; there are %d, %d", s, c.rsvN[s], c.modN[s], rsv, mod)
		}
	}
}

// TestStreamsMeetPolicies: every policy is in one of the streams on which the cache
// and its twin are compared; the two kinds of texture cache have their own streams.
func TestStreamsMeetPolicies(t *testing.T) {
	seen := map[any]bool{}
	for _, s := range streams {
		c, err := ParseConfig(s.cfg)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []any{c.Replace, c.Write, c.Alloc, c.WriteAlloc, c.Index, c.MSHR, c.Sectored} {
			seen[p] = true
		}
	}
	for _, p := range []any{
		LRU, FIFO, ReadOnly, WriteBack, WriteThrough, WriteEvict, LocalBack, OnMiss, OnFill, Streaming,
		NoWriteAlloc, NaiveAlloc, FetchOnWrite, LazyFetch, Linear, Xor, IPoly, Fermi, Assoc, SectorAssoc, true, false,
	} {
		if !seen[p] {
			t.Errorf("no stream with %T %v", p, p)
		}
	}
}
