package part

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/mem/dram"
)

// chip drives a memory as the clock domains do, all at the same rate.
type chip struct {
	t    *testing.T
	m    *Memory
	pool *mem.Pool
	now  uint64
	// replies by Owner: the cycles in which they were taken
	got  map[uint32][]uint64
	take func(sub int) bool // whether a reply is taken; nil: always
}

func newChip(t *testing.T, c Config) *chip {
	t.Helper()
	pool := new(mem.Pool)
	m, err := New(c, pool)
	if err != nil {
		t.Fatal(err)
	}
	return &chip{t: t, m: m, pool: pool, got: map[uint32][]uint64{}}
}

// request makes a request like a core.
func (c *chip) request(owner uint32, kind mem.Kind, addr uint64, size uint32) *mem.Req {
	r := c.pool.Get()
	r.Owner, r.Kind, r.Addr, r.Size = owner, kind, addr, size
	switch kind {
	case mem.GlobalWrite, mem.LocalWrite, mem.L1WriteBack:
		r.Write = true
	}
	for i := uint64(0); i < uint64(size); i += 32 {
		r.Sectors |= 1 << ((addr + i) / 32 % 4)
	}
	r.Bytes.Set(int(addr%128), int(size))
	c.m.Map().Decode(r)
	return r
}

// tick is a tick in which all domains fire. The request enters if it is not nil and
// there is room; tick reports whether it entered.
func (c *chip) tick(r *mem.Req) bool {
	c.replies()
	c.m.DRAMTick(c.now)
	entered := false
	c.m.BeginL2()
	for sub := range c.m.Subs() {
		if r != nil && int(r.Sub) == sub && c.m.CanTake(sub, 0) {
			c.m.Enter(sub, r, c.now)
			entered = true
		}
		c.m.CacheCycle(sub, c.now)
	}
	c.m.EndL2()
	c.now++
	return entered
}

func (c *chip) replies() {
	for sub := range c.m.Subs() {
		r := c.m.ReplyHead(sub)
		if r == nil || c.take != nil && !c.take(sub) {
			continue
		}
		if c.m.PopReply(sub) != r {
			c.t.Fatal("ReplyHead is not what PopReply returns")
		}
		if !r.Reply || r.IsWriteBack() || r.Kind == mem.L2WriteAlloc || int(r.Sub) != sub {
			c.t.Fatalf("slice %d answers with %+v", sub, r)
		}
		c.got[r.Owner] = append(c.got[r.Owner], c.now)
		if o := r.Orig; o != nil {
			if o.Pieces--; o.Pieces == 0 {
				c.pool.Put(o)
			}
		}
		c.pool.Put(r)
	}
}

// drain runs until nothing is inside.
func (c *chip) drain(limit int) {
	c.t.Helper()
	for range limit {
		if !c.m.Busy() {
			return
		}
		c.tick(nil)
	}
	c.t.Fatalf("still busy after %d cycles", limit)
}

// send enters one request now and returns the cycles from its entry to the
// taking of each reply.
func (c *chip) send(kind mem.Kind, addr uint64, size uint32) []uint64 {
	c.t.Helper()
	start := c.now
	delete(c.got, 1)
	if !c.tick(c.request(1, kind, addr, size)) {
		c.t.Fatal("no room")
	}
	c.drain(10_000)
	var after []uint64
	for _, at := range c.got[1] {
		after = append(after, at-start)
	}
	return after
}

// TestOpenCounts: a DRAM without contention counts the same accesses as one with it.
func TestOpenCounts(t *testing.T) {
	counts := func(open bool) (n [5]uint64) {
		cfg := testConfig()
		cfg.L2.Disabled = true
		if open {
			cfg.Open = Open{On: true, Hit: 20, Empty: 40, Other: 60}
		}
		c := newChip(t, cfg)
		for i := range uint64(200) {
			c.send(mem.GlobalRead, i*4128, 32)
			c.send(mem.GlobalWrite, i*4128, 32)
			c.send(mem.L1WriteBack, i*32, 32)
		}
		for ch := range c.m.Channels() {
			s := c.m.DRAMStats(ch)
			for i, x := range []uint64{s.Requests, s.Reads, s.Writes, s.WriteBacks, s.AllocReads} {
				n[i] += x
			}
			if open && (s.RowHits+s.Activates != s.Requests || s.RowHits == 0 || s.Precharges >= s.Activates) {
				t.Errorf("channel %d: %d requests, %d row hits, rows opened %d times and closed %d times", ch, s.Requests, s.RowHits, s.Activates, s.Precharges)
			}
		}
		return n
	}
	with, without := counts(false), counts(true)
	if with != without || with[0] != 600 {
		t.Errorf("requests, reads, writes, write-backs, reads for writes: %v, and without contention %v", with, without)
	}
}

// TestFarOrder: requests for other chips are answered when their answers are there, in the order of
// the answers: one that is late does not hold up another.
func TestFarOrder(t *testing.T) {
	for _, c := range []struct {
		name    string
		ready   []uint64 // when each answer is there; one request enters per cycle
		replies []uint64 // when each is taken, a cycle later at the earliest
	}{
		{"in order", []uint64{100, 200, 300}, []uint64{101, 201, 301}},
		{"the last is the first", []uint64{300, 200, 100}, []uint64{301, 201, 101}},
		{"of two at a time, the one that was sent first", []uint64{500, 100, 100, 100}, []uint64{501, 101, 102, 103}},
		{"one in between", []uint64{100, 300, 200}, []uint64{101, 301, 201}},
	} {
		m := newChip(t, testConfig())
		m.m.Far = func(r *mem.Req, _ uint64) (uint64, bool) { return c.ready[r.Owner], true }
		for i := range c.ready {
			if !m.tick(m.request(uint32(i), mem.GlobalRead, 0x1000, 32)) {
				t.Fatal("no room")
			}
		}
		next := m.m.NextEvent(m.now)
		if first := slices.Min(c.ready); next != first {
			t.Errorf("%s: something happens at %d, not %d", c.name, next, first)
		}
		m.drain(1000)
		for i, want := range c.replies {
			if got := m.got[uint32(i)]; !slices.Equal(got, []uint64{want}) {
				t.Errorf("%s: answer %d at %v, want %d", c.name, i, got, want)
			}
		}
	}
}

// TestLatencies: the latency of each path through the partition, in cycles of equal
// clocks, from entry until the reply is taken. ROP 194, DRAM 96; the GDDR6 device
// takes RCD 24 and CL 24 (48) for a closed row, CL for an open one, RP more (72)
// for a conflicting one.
func TestLatencies(t *testing.T) {
	const (
		hit = 194 + 2 // delay; look-up; reply
		// to the miss queue's send; the DRAM's arbiter; its delay; the device;
		// its return; service of the fill
		miss = hit + 1 + 1 + 96 + 1 + 1 + 1
	)
	none := func(*Config) {}
	for _, v := range []struct {
		name string
		edit func(*Config)
		prep func(*chip)
		kind mem.Kind
		addr uint64
		size uint32
		want []uint64
	}{
		{"hit", none, func(c *chip) { c.m.Warm(0x1000, 32, 0) }, mem.GlobalRead, 0x1000, 32, []uint64{hit}},
		{"closed row", none, nil, mem.GlobalRead, 0x1000, 32, []uint64{miss + 48}},
		{"other sector of a line that is there", none, func(c *chip) { c.m.Warm(0x1000, 32, 0) },
			mem.GlobalRead, 0x1020, 32, []uint64{miss + 48}},
		{"open row", none, func(c *chip) { c.send(mem.GlobalRead, 0x1020, 32) },
			mem.GlobalRead, 0x1000, 32, []uint64{miss + 24}},
		{"wrong row", none, func(c *chip) { c.send(mem.GlobalRead, 0x1000+12<<15, 32) },
			mem.GlobalRead, 0x1000, 32, []uint64{miss + 72}},
		{"again", none, func(c *chip) { c.send(mem.GlobalRead, 0x1000, 32) }, mem.GlobalRead, 0x1000, 32, []uint64{hit}},
		{"write that misses is kept", none, nil, mem.GlobalWrite, 0x1000, 32, []uint64{hit}},
		{"read of what was written whole", none, func(c *chip) { c.send(mem.GlobalWrite, 0x1000, 32) },
			mem.GlobalRead, 0x1000, 32, []uint64{hit}},
		{"read of what was written in part", none, func(c *chip) { c.send(mem.GlobalWrite, 0x1004, 4) },
			mem.GlobalRead, 0x1000, 32, []uint64{miss + 48}},
		{"line: sector by sector through one port", none, func(c *chip) { c.m.Warm(0x1000, 128, 0) },
			mem.GlobalRead, 0x1000, 128, []uint64{hit, hit + 1, hit + 2, hit + 3}},
		{"texture passes the delay by", none, func(c *chip) { c.m.Warm(0x1000, 32, 0) }, mem.TexRead, 0x1000, 32, []uint64{1}},
		{"instruction", none, nil, mem.InstRead, 0x1000, 128, []uint64{miss + 48, miss + 54, miss + 60, miss + 66}},
		{"no ROP latency", func(c *Config) { c.ROPLatency = 0 }, func(c *chip) { c.m.Warm(0x1000, 32, 0) },
			mem.GlobalRead, 0x1000, 32, []uint64{2}},
		{"no DRAM latency", func(c *Config) { c.DRAMLatency = 0 }, nil, mem.GlobalRead, 0x1000, 32, []uint64{miss - 96 + 48}},
		// No device: neither its first cycle nor its return.
		{"fixed latency", func(c *Config) { c.FixedLatency = true }, nil, mem.GlobalRead, 0x1000, 32, []uint64{miss - 2}},
		// Without an L2: look-up and send are one step, and the reply needs none.
		{"no L2", func(c *Config) { c.L2.Disabled = true }, nil, mem.GlobalRead, 0x1000, 32, []uint64{miss - 2 + 48}},
		{"no L2, a line: 4 atoms at CCDL", func(c *Config) { c.L2.Disabled = true }, nil, mem.GlobalRead, 0x1000, 128,
			[]uint64{miss - 2 + 48 + 18}},
		{"no L2, write: RCDWR and WL", func(c *Config) { c.L2.Disabled = true }, nil, mem.GlobalWrite, 0x1000, 32,
			[]uint64{miss - 2 + 15 + 8}},
		{"L2 for textures only", func(c *Config) { c.L2TextureOnly = true }, func(c *chip) { c.m.Warm(0x1000, 32, 0) },
			mem.GlobalRead, 0x1000, 32, []uint64{miss - 2 + 48}},
		{"L2 for textures only, a texture", func(c *Config) { c.L2TextureOnly = true },
			func(c *chip) { c.m.Warm(0x1000, 32, 0) }, mem.TexRead, 0x1000, 32, []uint64{1}},
	} {
		t.Run(v.name, func(t *testing.T) {
			cfg := testConfig()
			v.edit(&cfg)
			c := newChip(t, cfg)
			if v.prep != nil {
				v.prep(c)
			}
			for range 300 { // timers of the preparation run out
				c.tick(nil)
			}
			if got := c.send(v.kind, v.addr, v.size); !slices.Equal(got, v.want) {
				t.Errorf("replies after %v cycles, want %v", got, v.want)
			}
			if c.pool.Live != 0 {
				t.Errorf("%d requests lost", c.pool.Live)
			}
		})
	}
}

// TestFar: requests for the memory of another chip come back when Far says, and leave L2 and
// DRAM alone; those for the chip's own memory are as before.
func TestFar(t *testing.T) {
	const far, after = 1 << 40, 700
	for _, x := range []struct {
		name string
		kind mem.Kind
		addr uint64
		size uint32
		want []uint64 // each reply is taken in the cycle after it is ready
	}{
		{"read of a sector", mem.GlobalRead, far, 32, []uint64{after + 1}},
		{"read of a line", mem.GlobalRead, far, 128, []uint64{after + 1, after + 2, after + 3, after + 4}},
		{"texture", mem.TexRead, far, 32, []uint64{after + 1}},
		{"write", mem.GlobalWrite, far, 32, []uint64{after + 1}},
		{"write-back", mem.L1WriteBack, far, 32, nil},
		{"own", mem.GlobalRead, 0, 32, newChip(t, testConfig()).send(mem.GlobalRead, 0, 32)},
	} {
		c := newChip(t, testConfig())
		c.m.Far = func(r *mem.Req, now uint64) (uint64, bool) { return now + after, r.Addr >= far }
		if got := c.send(x.kind, x.addr, x.size); !slices.Equal(got, x.want) {
			t.Errorf("%s: replies after %v, want %v", x.name, got, x.want)
		}
		l2, reads := uint64(0), uint64(0)
		for s := range c.m.Subs() {
			l2 += c.m.L2Stats(s).Total()
		}
		for ch := range c.m.Channels() {
			reads += c.m.DRAM(ch).Stats().Reads
		}
		if own := x.addr < far; (l2 > 0) != own || (reads > 0) != own {
			t.Errorf("%s: %d accesses of the L2, %d reads of the DRAM", x.name, l2, reads)
		}
		if c.pool.Live != 0 || c.m.NextEvent(c.now) != Never {
			t.Errorf("%s: %d requests lost, the next event at %d", x.name, c.pool.Live, c.m.NextEvent(c.now))
		}
	}
	c := newChip(t, testConfig())
	c.m.Far = func(r *mem.Req, now uint64) (uint64, bool) { return now + after, true }
	r := c.request(1, mem.GlobalRead, far, 32)
	c.tick(r)
	if next := c.m.NextEvent(c.now); next != after || c.m.Occupancy(int(r.Sub)).Away != 1 {
		t.Errorf("the next event is at %d, want %d; %+v", next, after, c.m.Occupancy(int(r.Sub)))
	}
}

// TestDelayEdge: a request leaves the delay when it is due, not a cycle before.
func TestDelayEdge(t *testing.T) {
	c := newChip(t, testConfig())
	c.m.Warm(0x1000, 32, 0)
	r := c.request(1, mem.GlobalRead, 0x1000, 32)
	sub := int(r.Sub)
	c.tick(r) // enters in cycle 0
	for c.now < 194 {
		c.tick(nil)
	}
	if o := c.m.Occupancy(sub); o.Delay != 1 || o.ToL2 != 0 {
		t.Errorf("after cycle 193: %+v", o)
	}
	c.tick(nil)
	if o := c.m.Occupancy(sub); o.Delay != 0 || o.ToL2 != 1 {
		t.Errorf("after cycle 194: %+v", o)
	}
	c.tick(nil)
	if o := c.m.Occupancy(sub); o.ToL2 != 0 || o.ToNet != 1 {
		t.Errorf("after cycle 195: %+v", o)
	}
}

// TestCanTake: room for four, whatever the request.
func TestCanTake(t *testing.T) {
	cfg := testConfig()
	cfg.Queues.ToL2 = 8
	c := newChip(t, cfg)
	var sub int
	for i := range 6 {
		r := c.request(uint32(i), mem.TexRead, 0x1000, 32)
		sub = int(r.Sub)
		if got, want := c.m.CanTake(sub, 0), i <= 4; got != want {
			t.Errorf("with %d of 8 entries taken: room for a line %v, want %v", i, got, want)
		}
		if c.m.CanTake(sub, 0) {
			c.m.Enter(sub, r, 0)
		}
	}
}

// TestPieces: how requests longer than a sector are split, as in hardware and as in
// GPGPU-Sim.
func TestPieces(t *testing.T) {
	type piece struct {
		Addr    uint64
		Sectors uint8
		Bytes   mem.ByteMask
	}
	const s0, s1 = 0xffffffff, 0xffffffff << 32
	lo := mem.ByteMask{s0 | s1, 0}
	for _, v := range []struct {
		name    string
		addr    uint64
		size    uint32
		sectors uint8
		bytes   mem.ByteMask
		compat  Compat
		want    []piece
	}{
		{"line", 0x1000, 128, 15, mem.ByteMask{s0 | s1, s0 | s1}, Compat{}, []piece{
			{0x1000, 1, mem.ByteMask{s0, 0}}, {0x1020, 2, mem.ByteMask{s1, 0}},
			{0x1040, 4, mem.ByteMask{0, s0}}, {0x1060, 8, mem.ByteMask{0, s1}}}},
		{"line with masks that add up", 0x1000, 128, 15, mem.ByteMask{s0 | s1, s0 | s1}, GPGPUSim(), []piece{
			{0x1000, 1, mem.ByteMask{s0, 0}}, {0x1020, 2, lo},
			{0x1040, 4, mem.ByteMask{s0 | s1, s0}}, {0x1060, 8, mem.ByteMask{s0 | s1, s0 | s1}}}},
		{"upper half", 0x1040, 64, 12, mem.ByteMask{0, s0 | s1}, Compat{}, []piece{
			{0x1040, 4, mem.ByteMask{0, s0}}, {0x1060, 8, mem.ByteMask{0, s1}}}},
		{"upper half, moved up twice", 0x1040, 64, 12, mem.ByteMask{0, s0 | s1}, GPGPUSim(), []piece{
			{0x1080, 4, mem.ByteMask{0, s0}}, {0x10a0, 8, mem.ByteMask{0, s0 | s1}}}},
		{"constant line without sectors", 0x1040, 64, 0, mem.ByteMask{}, Compat{}, []piece{
			{0x1040, 4, mem.ByteMask{}}, {0x1060, 8, mem.ByteMask{}}}},
		{"constant line, both at its address", 0x1040, 64, 15, mem.ByteMask{}, GPGPUSim(), []piece{
			{0x1040, 4, mem.ByteMask{}}, {0x1040, 8, mem.ByteMask{}}}},
		{"lower half of one with all sectors", 0x1000, 64, 15, mem.ByteMask{}, Compat{}, []piece{
			{0x1000, 1, mem.ByteMask{}}, {0x1020, 2, mem.ByteMask{}}}},
		{"three sectors", 0x1000, 96, 13, mem.ByteMask{s0, s0 | s1}, Compat{}, []piece{
			{0x1000, 1, mem.ByteMask{s0, 0}}, {0x1040, 4, mem.ByteMask{0, s0}}, {0x1060, 8, mem.ByteMask{0, s1}}}},
		{"short without sector", 0x1068, 8, 0, mem.ByteMask{}, Compat{}, []piece{{0x1060, 8, mem.ByteMask{}}}},
	} {
		t.Run(v.name, func(t *testing.T) {
			cfg := testConfig()
			cfg.Compat = v.compat
			c := newChip(t, cfg)
			r := c.request(1, mem.GlobalRead, v.addr, v.size)
			r.Sectors, r.Bytes = v.sectors, v.bytes
			c.m.Enter(int(r.Sub), r, 0)
			q := &c.m.subs[r.Sub].delay
			var got []piece
			for p := q.Pop(); p != nil; p = q.Pop() {
				got = append(got, piece{p.Addr, p.Sectors, p.Bytes})
				if p.Orig != r || p.Size != 32 || p.Sub != r.Sub || p.Chan != r.Chan || p.PartAddr != c.m.Map().Local(p.Addr) {
					t.Errorf("piece %+v", p)
				}
			}
			if d := cmp.Diff(v.want, got); d != "" {
				t.Errorf("pieces (-want +got):\n%s", d)
			}
			if int(r.Pieces) != len(got) {
				t.Errorf("%d pieces counted, %d made", r.Pieces, len(got))
			}
		})
	}
	// A sector is not split.
	c := newChip(t, testConfig())
	r := c.request(1, mem.GlobalRead, 0x1020, 32)
	c.m.Enter(int(r.Sub), r, 0)
	if p := c.m.subs[r.Sub].delay.Pop(); p != r || p.Orig != nil {
		t.Errorf("a sector is split: %+v", p)
	}
}

// l2Strings are slices of the shipped kinds and of every write policy.
var l2Strings = []string{
	"S:64:128:8,L:B:m:L:L,A:256:4,4:0,32", "S:64:128:16,L:B:m:L:P,A:192:4,32:0,32",
	"S:32:128:24,L:B:m:L:P,A:192:4,32:0,32", "S:64:128:16,L:B:m:L:P,A:256:64,16:0,32",
	"S:4:128:2,L:B:m:L:L,A:8:2,4:0,32", "S:4:128:2,L:B:m:F:L,A:8:2,4:0,32", "S:4:128:2,F:B:m:N:L,A:8:2,4:0,32",
	"S:4:128:2,L:T:m:N:L,A:8:2,4:0,32", "S:4:128:2,L:T:m:L:L,A:8:2,4:0,32", "S:4:128:2,L:E:m:N:X,A:8:2,4:0,32",
	"S:4:128:2,L:B:m:W:L,A:8:2,4:0,32", "N:4:128:2,L:B:m:N:L,A:8:2,4:0,32", "N:4:128:2,L:B:m:L:L,A:8:2,4",
	"none",
}

// traffic is random requests to a small piece of memory.
type traffic struct {
	rng  *rand.Rand
	c    *chip
	sent map[uint32]int // replies expected, by Owner
	next uint32
}

func (g *traffic) make() *mem.Req {
	g.next++
	kinds := []mem.Kind{
		mem.GlobalRead, mem.GlobalRead, mem.GlobalRead, mem.LocalRead, mem.ConstRead, mem.TexRead,
		mem.GlobalWrite, mem.GlobalWrite, mem.LocalWrite, mem.L1WriteBack, mem.InstRead, mem.L1WriteAlloc,
	}
	kind := kinds[g.rng.IntN(len(kinds))]
	size := []uint32{32, 32, 32, 64, 128}[g.rng.IntN(5)]
	addr := 0xc0000000 + uint64(g.rng.IntN(256))*128 + uint64(g.rng.IntN(int(128/size)))*uint64(size)
	r := g.c.request(g.next, kind, addr, size)
	if kind == mem.GlobalWrite && g.rng.IntN(2) == 0 {
		r.Bytes = mem.ByteMask{}
		r.Bytes.Set(int(addr%128), 4)
	}
	if kind == mem.GlobalRead && g.rng.IntN(8) == 0 {
		r.Atomic = true
	}
	g.sent[g.next] = 1
	if cfg := g.c.m.Config(); !cfg.L2.Disabled && cfg.L2.Sectored {
		g.sent[g.next] = int(size / 32)
	}
	if kind == mem.GlobalWrite && g.rng.IntN(2) == 0 {
		r.OneAck = true
		g.sent[g.next] = 1
	}
	if kind == mem.L1WriteBack {
		delete(g.sent, g.next)
	}
	return r
}

// TestConservation: whatever the L2 does and however slowly replies are taken, each
// request gets exactly its replies, and no request is left.
func TestConservation(t *testing.T) {
	for _, s := range l2Strings {
		for variant := range 4 {
			t.Run(fmt.Sprintf("%s/%d", s, variant), func(t *testing.T) {
				cfg := testConfig()
				var err error
				if cfg.L2, err = cache.ParseConfig(s); err != nil {
					t.Fatal(err)
				}
				cfg.Channels, cfg.ROPLatency, cfg.DRAMLatency = 2, 10, 5
				switch variant {
				case 1:
					cfg.Queues = Queues{ToL2: 4, ToDRAM: 1, FromDRAM: 1, ToNet: 1}
					cfg.DRAM.QueueSize, cfg.DRAM.ReturnQueue = 2, 1
					cfg.Compat = GPGPUSim()
					cfg.L2.Compat = cache.GPGPUSim()
				case 2:
					cfg.FixedLatency, cfg.L2TextureOnly = true, true
				case 3:
					cfg.DRAM.Scheduler, cfg.DRAM.REFI, cfg.DRAM.RFC = dram.FIFO, 1000, 100
				}
				c := newChip(t, cfg)
				rng := rand.New(rand.NewPCG(uint64(variant), 5))
				g := &traffic{rng: rng, c: c, sent: map[uint32]int{}}
				if variant == 1 {
					c.take = func(int) bool { return rng.IntN(5) == 0 }
				}
				var r *mem.Req
				for cycle := 0; cycle < 4000 || r != nil; cycle++ {
					if r == nil && cycle < 4000 && rng.IntN(3) == 0 {
						r = g.make()
					}
					if c.tick(r) {
						r = nil
					}
					for ch := range c.m.chans {
						k := &c.m.chans[ch]
						if limit := c.m.credits; limit > 0 && (k.shared > limit || k.shared < 0) {
							t.Fatalf("%d shared credits of %d in use", k.shared, limit)
						}
					}
					if cycle > 100_000 {
						t.Fatalf("no way in for %+v", r)
					}
				}
				c.drain(100_000)
				got := map[uint32]int{}
				for owner, at := range c.got {
					got[owner] = len(at)
				}
				if !maps.Equal(got, g.sent) {
					t.Errorf("replies (-expected +got):\n%s", cmp.Diff(g.sent, got))
				}
				if c.pool.Live != 0 {
					t.Errorf("%d requests were not returned", c.pool.Live)
				}
				var in, out uint64
				for sub := range c.m.Subs() {
					st := c.m.SubStats(sub)
					in += st.Requests
					out += st.Replies + st.Vanished
				}
				if in != out {
					t.Errorf("%d requests in, %d replies and write-backs out", in, out)
				}
				for ch := range c.m.chans {
					if k := c.m.chans[ch]; k.shared != 0 || k.live != 0 {
						t.Errorf("channel %d: %d credits out, %d requests left", ch, k.shared, k.live)
					}
				}
			})
		}
	}
}

// TestIdle: skipping cycles in which nothing happens changes no reply and no
// counter.
func TestIdle(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		cfg := testConfig()
		cfg.Channels, cfg.FixedLatency = 2, fixed
		type entry struct {
			at   uint64
			addr uint64
			kind mem.Kind
			size uint32
		}
		rng := rand.New(rand.NewPCG(11, 12))
		var plan []entry
		for at := uint64(0); len(plan) < 300; at += uint64(1 + rng.IntN(400)) {
			e := entry{at, 0x1000 + uint64(rng.IntN(4096))*128, mem.GlobalRead, 32}
			if rng.IntN(3) == 0 {
				e.kind, e.size = mem.GlobalWrite, 128
			}
			plan = append(plan, e)
		}
		const end = 100_000
		play := func(skip bool) (*chip, uint64) {
			c := newChip(t, cfg)
			i, jumped := 0, uint64(0)
			for c.now < end {
				if skip {
					to := c.m.NextEvent(c.now)
					if i < len(plan) {
						to = min(to, plan[i].at)
					}
					if to = min(to, end); to > c.now {
						jumped += to - c.now
						c.m.Skip(to-c.now, to-c.now)
						c.now = to
						continue
					}
				}
				var r *mem.Req
				if i < len(plan) && plan[i].at == c.now {
					r = c.request(uint32(i), plan[i].kind, plan[i].addr, plan[i].size)
					i++
				}
				if !c.tick(r) && r != nil {
					t.Fatal("no room")
				}
			}
			return c, jumped
		}
		a, _ := play(false)
		b, jumped := play(true)
		if jumped < end/4 {
			t.Errorf("only %d of %d cycles were skipped", jumped, end)
		}
		if d := cmp.Diff(a.got, b.got); d != "" {
			t.Errorf("replies differ (-stepped +skipped):\n%s", d)
		}
		for sub := range a.m.Subs() {
			if d := cmp.Diff(a.m.L2Stats(sub), b.m.L2Stats(sub)); d != "" {
				t.Errorf("L2 %d differs (-stepped +skipped):\n%s", sub, d)
			}
		}
		for ch := range a.m.Channels() {
			if fixed {
				if a.m.DRAM(ch) != nil {
					t.Error("a device behind a fixed latency")
				}
				continue
			}
			if d := cmp.Diff(a.m.DRAM(ch).Stats(), b.m.DRAM(ch).Stats()); d != "" {
				t.Errorf("DRAM %d differs (-stepped +skipped):\n%s", ch, d)
			}
		}
	}
}

// TestWarm: a copy leaves exactly its sectors in the L2.
func TestWarm(t *testing.T) {
	const base = 0x2_4000_0040
	read := func(c *chip, addr uint64) bool {
		at := c.send(mem.GlobalRead, addr, 32)
		return at[0] == 196
	}
	for _, v := range []struct {
		name   string
		compat Compat
		addr   uint64
		hit    bool
	}{
		{"first", Compat{}, base, true},
		{"last", Compat{}, base + 0x400 - 32, true},
		{"before", Compat{}, base - 32, false},
		{"behind", Compat{}, base + 0x400, false},
		{"cut to 32 bits", GPGPUSim(), base, false},
		{"what the cut address hits", GPGPUSim(), base & 0xffffffff, true},
	} {
		cfg := testConfig()
		cfg.Compat = v.compat
		c := newChip(t, cfg)
		c.m.Warm(base, 0x400, 0)
		if hit := read(c, v.addr); hit != v.hit {
			t.Errorf("%s: hit %v, want %v", v.name, hit, v.hit)
		}
		n := uint64(0)
		for sub := range c.m.Subs() {
			n += c.m.SubStats(sub).CopyFilled
		}
		if n != 0x400/32 {
			t.Errorf("%s: %d sectors filled, want %d", v.name, n, 0x400/32)
		}
	}
	for _, v := range []struct {
		name  string
		do    func(*Memory)
		clean bool // a clean line is still there
		dirty bool // a dirty one
	}{
		{"nothing", func(*Memory) {}, true, true},
		{"flush", (*Memory).FlushL2, true, false},
		{"invalidate", (*Memory).InvalidateL2, false, false},
	} {
		c := newChip(t, testConfig())
		c.m.Warm(base, 0x400, 0)
		c.send(mem.GlobalWrite, 0x1000, 32)
		v.do(c.m)
		if hit := read(c, base); hit != v.clean {
			t.Errorf("%s: clean line there: %v, want %v", v.name, hit, v.clean)
		}
		if hit := read(c, 0x1000); hit != v.dirty {
			t.Errorf("%s: dirty line there: %v, want %v", v.name, hit, v.dirty)
		}
	}
	// GPGPU-Sim flushes the first slices only, as many as there are channels.
	cfg := testConfig()
	cfg.Compat.FlushSlices = true
	c := newChip(t, cfg)
	lines := map[int]uint64{}
	for addr := uint64(0x10000); len(lines) < c.m.Subs(); addr += 128 {
		lines[c.m.Map().Find(addr).Sub] = addr
	}
	for _, addr := range lines {
		c.send(mem.GlobalWrite, addr, 32)
	}
	c.m.FlushL2()
	for sub, addr := range lines {
		if hit := read(c, addr); hit != (sub >= 12) {
			t.Errorf("slice %d keeps its dirty line: %v", sub, hit)
		}
	}
}

// TestWarmLines: filling line by line is equivalent to filling sector by sector.
func TestWarmLines(t *testing.T) {
	for name, cfg := range shipped {
		rng := rand.New(rand.NewPCG(5, 6))
		c, sector := newChip(t, cfg), newChip(t, cfg)
		if !c.m.addr.lineWise {
			t.Errorf("%s: the sectors of a line are in several slices", name)
		}
		sector.m.addr.lineWise = false
		for now := range uint64(60) {
			addr, n := rng.Uint64N(1<<22)&^rng.Uint64N(128), 1+rng.Uint64N(20000)
			c.m.Warm(addr, n, now)
			sector.m.Warm(addr, n, now)
			if now%10 == 0 {
				addr := addr &^ 127
				if a, b := c.send(mem.GlobalWrite, addr, 32), sector.send(mem.GlobalWrite, addr, 32); !slices.Equal(a, b) {
					t.Fatalf("%s: a write is answered at %v, filled by sectors at %v", name, a, b)
				}
			}
		}
		for range 200 {
			addr := rng.Uint64N(1<<22) &^ 31
			if a, b := c.send(mem.GlobalRead, addr, 32), sector.send(mem.GlobalRead, addr, 32); !slices.Equal(a, b) {
				t.Fatalf("%s: a read of %#x is answered at %v, filled by sectors at %v", name, addr, a, b)
			}
		}
		for i := range c.m.Subs() {
			if a, b := *c.m.SubStats(i), *sector.m.SubStats(i); a != b {
				t.Errorf("%s, slice %d: %+v, filled by sectors %+v", name, i, a, b)
			}
		}
	}
}

// TestWarmOrder: the sectors of a copy are used one after the other, so a copy that
// overflows a set evicts its first line.
func TestWarmOrder(t *testing.T) {
	cfg := testConfig()
	var err error
	if cfg.L2, err = cache.ParseConfig("S:1:128:2,L:B:m:L:L,A:8:2,4:0,32"); err != nil {
		t.Fatal(err)
	}
	cfg.Channels, cfg.Subs = 1, 1
	for addr, hit := range map[uint64]bool{0: false, 128: true, 256: true} {
		c := newChip(t, cfg)
		c.m.Warm(0, 3*128, 0)
		if at := c.send(mem.GlobalRead, addr, 32); (at[0] == 196) != hit {
			t.Errorf("line %#x: reply after %d cycles, hit %v expected", addr, at[0], hit)
		}
	}
}

// TestWriteBack: an evicted dirty line reaches the DRAM as a write-back to its own
// bank and row.
func TestWriteBack(t *testing.T) {
	cfg := testConfig()
	var err error
	if cfg.L2, err = cache.ParseConfig("S:1:128:1,L:B:m:L:L,A:8:2,4:0,32"); err != nil {
		t.Fatal(err)
	}
	cfg.Channels, cfg.Subs = 1, 1
	c := newChip(t, cfg)
	var log []dram.Command
	c.m.DRAM(0).SetLog(func(x dram.Command) { log = append(log, x) })
	const dirty, other = 0x3<<15 | 0x5<<12, 0x7<<15 | 0x2<<12 // row 3 bank 10, row 7 bank 4
	c.send(mem.GlobalWrite, dirty, 32)
	c.send(mem.GlobalWrite, dirty+32, 32)
	c.send(mem.GlobalRead, other, 32)
	writes := 0
	for _, x := range log {
		if x.Kind == dram.Write {
			writes++
			if x.Bank != 10 || x.Row != 3 {
				t.Errorf("write-back to bank %d row %d, want 10 and 3", x.Bank, x.Row)
			}
		}
	}
	if s := c.m.DRAM(0).Stats(); writes != 2 || s.WriteBacks != 2 || s.Writes != 0 || s.Reads != 1 || c.m.ChannelStats(0).WriteBacks != 1 {
		t.Errorf("%d writes on the bus, counters %+v, %+v", writes, s, c.m.ChannelStats(0))
	}
	if c.pool.Live != 0 {
		t.Errorf("%d requests lost", c.pool.Live)
	}
}

// TestTurns: the slices of a channel send to the DRAM in turn.
func TestTurns(t *testing.T) {
	cfg := testConfig()
	cfg.Channels, cfg.Subs, cfg.FixedLatency = 1, 2, true
	cfg.L2.Disabled = true
	c := newChip(t, cfg)
	for i := range 20 {
		for sub := range 2 {
			r := c.request(uint32(i*2+sub), mem.TexRead, uint64(i*256+sub*128), 32)
			if int(r.Sub) != sub {
				t.Fatalf("%#x goes to slice %d", r.Addr, r.Sub)
			}
			c.m.Enter(sub, r, 0)
		}
	}
	var order []int32
	for range 60 {
		c.tick(nil)
	}
	q := &c.m.chans[0].latency
	for i := range q.Len() {
		order = append(order, q.At(i).Sub)
	}
	for i, sub := range order {
		if sub != int32(i%2) {
			t.Fatalf("turns %v", order)
		}
	}
	if len(order) != 40 {
		t.Errorf("%d of 40 requests sent on in 60 cycles", len(order))
	}
}

// TestCredits: a slice has one place of its own in the channel; the others are
// shared, and no more than the queues hold.
func TestCredits(t *testing.T) {
	cfg := testConfig()
	cfg.Channels, cfg.Subs, cfg.FixedLatency = 1, 2, true
	cfg.L2.Disabled = true
	cfg.DRAMLatency = 1000
	cfg.DRAM.QueueSize, cfg.DRAM.ReturnQueue = 4, 3 // 4 + 3 - 1 to share
	c := newChip(t, cfg)
	if err := cfg.Check(); err != nil {
		t.Fatal(err)
	}
	for i := range 20 { // all to slice 0
		c.m.Enter(0, c.request(uint32(i), mem.TexRead, uint64(i*256), 32), 0)
	}
	for range 100 {
		c.tick(nil)
	}
	if n := c.m.Occupancy(0).Latency; n != 7 {
		t.Errorf("slice 0 has %d requests in the channel, want 6 shared and its own", n)
	}
	if c.m.ChannelStats(0).NoCredit == 0 {
		t.Error("no request waited for credit")
	}
	c.m.Enter(1, c.request(100, mem.TexRead, 128, 32), c.now)
	for range 10 {
		c.tick(nil)
	}
	if n := c.m.Occupancy(0).Latency; n != 8 {
		t.Errorf("%d requests in the channel, want one more for slice 1", n)
	}
	c.drain(10_000)
}

func TestNoAllocations(t *testing.T) {
	c := newChip(t, testConfig())
	step := loadStep(c.m, c.pool)
	for range 20_000 {
		step()
	}
	if n := testing.AllocsPerRun(20_000, step); n != 0 {
		t.Errorf("%v allocations per cycle", n)
	}
}

// loadStep returns a tick of a loaded memory.
func loadStep(m *Memory, pool *mem.Pool) func() {
	i, now := uint64(0), uint64(0)
	return func() {
		for sub := range m.Subs() {
			if r := m.PopReply(sub); r != nil {
				pool.Put(r)
			}
		}
		for range 2 {
			m.DRAMTick(now)
		}
		for range 4 {
			i++
			r := pool.Get()
			r.Addr, r.Size = i*7919%(1<<18)*32, 32
			if i%4 == 0 {
				r.Kind, r.Write = mem.GlobalWrite, true
				r.Bytes.Set(int(r.Addr%128), 32)
			}
			r.Sectors = 1 << (r.Addr / 32 % 4)
			m.Map().Decode(r)
			if sub := int(r.Sub); m.CanTake(sub, 0) && m.subs[sub].delay.Len() < 200 {
				m.Enter(sub, r, now)
			} else {
				pool.Put(r)
			}
		}
		m.BeginL2()
		for sub := range m.Subs() {
			m.CacheCycle(sub, now)
		}
		m.EndL2()
		now++
	}
}

func BenchmarkTick(b *testing.B) {
	cfg := testConfig()
	pool := new(mem.Pool)
	m, err := New(cfg, pool)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("loaded", func(b *testing.B) {
		step := loadStep(m, pool)
		b.ReportAllocs()
		for b.Loop() {
			step()
		}
	})
	idle, err := New(cfg, pool)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("idle", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			idle.DRAMTick(0)
			idle.BeginL2()
			for sub := range idle.Subs() {
				idle.CacheCycle(sub, 0)
			}
			idle.EndL2()
		}
	})
}
