package cache

import (
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/mem"
)

// A script drives one cache. Each word is a step, "=" asks for its outcome:
//
//	r80 l80 i80 c80   global, local, instruction, constant read of an atom at 0x80
//	w80+4 x80+4       global, local write of 4 bytes;  a80+4 atomic
//	                  = H hit, V hit reserved, M miss, S sector miss, or
//	                    line, queue, entry, merge, rw: refused for that reason;
//	                    after "/" what was sent: r w b a (read, write, write-back, allocation)
//	m                 = the head of the miss queue, which goes to the next level: R80+32 or W80+4; "-"
//	f80               the reply to the read of 0x80 arrives
//	p                 = the next answered request, as R80 or W80; "-"
//	t3                three cycles pass (other steps advance only the stamps)
//	d                 = data port: free or busy;  e = fill port
//	?80               = probe
//	n                 the clock of the stamps stops here
//	inv flush         ways5 alloc:m
//	k80               32 bytes copied in from the host
type script struct {
	name  string
	cfg   string
	set   func(c *Config)
	steps string
}

var steadyCompat = func(c *Config) { c.Compat = GPGPUSim() }

var scripts = []script{
	// 5.2 states, probe, victims
	{"miss, pending, hit", "S:1:128:2,L:B:m:L:L,A:8:8,8:0,32", nil,
		"?0=M r0=M/r ?0=V r0=V/ m=R0+32 f0 ?0=H p=R0 p=R0 p=- r0=H/"},
	{"sectors are separate", "S:1:128:2,L:B:m:L:L,A:8:8,8:0,32", nil,
		"r0=M/r r20=S/r r40=S/r r60=S/r r60=V/ m=R0+32 m=R20+32 m=R40+32 m=R60+32 f40 r40=H/ r20=V/ ?0=V"},
	{"a line is whole", "N:1:128:2,L:B:m:L:L,A:8:8,8", nil, "r0=M/r r60=V/ m=R0+128 f0 r60=H/"},
	{"LRU", "N:1:128:3,L:R:m:N:L,A:8:8,8", nil,
		"r0=M/r r80=M/r r100=M/r f0 f80 f100 r0=H/ r180=M/r ?80=M ?0=H ?100=H"},
	{"FIFO", "N:1:128:3,F:R:m:N:L,A:8:8,8", nil,
		"r0=M/r r80=M/r r100=M/r f0 f80 f100 r0=H/ r180=M/r ?0=M ?80=H ?100=H"},
	{"among equals the first way, which was taken last", "N:1:128:3,L:R:m:N:L,A:8:8,8", nil,
		"n r0=M/r r80=M/r r100=M/r f0 f80 f100 r180=M/r ?100=M ?0=H ?80=H"},
	{"every way reserved", "S:1:128:2,L:B:m:L:L,A:8:8,8:0,32", nil,
		"r0=M/r r80=M/r r100=line/ ?100=line r20=S/r f0 r100=line/ f20 r100=M/r"},
	{"no way is reserved on fill", "N:1:128:2,L:R:f:N:L,A:8:8,8", nil,
		"r0=M/r r80=M/r r100=M/r r0=M/ f0 f80 ?0=H ?80=H f100 ?0=M ?80=H ?100=H"},
	{"dirty ratio reached: 1 of 4 at 25 %", "S:1:128:4,L:B:m:L:L,A:8:8,8:0,32", func(c *Config) { c.WriteRatio = 25 },
		"w0+32=M/ k80 k100 k180 r200=M/rb m=R200+32 m=W0+32"},
	{"dirty ratio not reached: 1 of 4 at 26 %", "S:1:128:4,L:B:m:L:L,A:8:8,8:0,32", func(c *Config) { c.WriteRatio = 26 },
		"w0+32=M/ k80 k100 k180 r200=M/r ?0=H ?80=M"},
	{"written lines protected in a write-through cache", "S:1:128:2,L:T:m:L:L,A:8:8,8:0,32",
		func(c *Config) { steadyCompat(c); c.WriteRatio = 51 }, "w0+32=M/w r80=M/r r100=line/ f80 r100=M/r ?0=H ?80=line"},
	{"and not, by default", "S:1:128:2,L:T:m:L:L,A:8:8,8:0,32", func(c *Config) { c.WriteRatio = 51 },
		"w0+32=M/w r80=M/r r100=M/r ?0=line ?80=V"},

	// 5.3 reads
	{"a miss wants two free entries", "S:4:128:4,L:T:m:L:L,A:16:8,4:0,32", steadyCompat,
		"r0=M/r r80=M/r r100=M/r r180=queue/ r0=queue/ m=R0+32 r180=M/r r0=queue/ m=R80+32 r0=V/"},
	{"or what it needs", "S:4:128:4,L:T:m:L:L,A:16:8,4:0,32", nil,
		"r0=M/r r80=M/r r100=M/r r180=M/r r200=queue/ r0=V/ m=R0+32 r200=M/r"},
	{"with a dirty victim two", "S:1:128:1,L:B:m:L:L,A:16:8,4:0,32", nil,
		"w0+32=M/ r80=M/rb m=R80+32 m=W0+32 f80 w80+32=H/ r100=M/rb f100 w120+32=S/ r180=M/rb"},
	{"and not one", "S:1:128:1,L:B:m:L:L,A:16:8,3:0,32", nil,
		"w0+32=M/ r80=M/rb f80 w80+32=H/ r100=queue/ m=R80+32 r100=M/rb m=W0+32 m=R100+32 m=W80+32 m=-"},
	{"a read-only cache uses all entries", "N:4:128:4,L:R:f:N:L,S:16:8,2", steadyCompat,
		"i0=M/r i80=M/r i100=queue/ m=R0+128 i100=M/r"},
	{"entries", "N:4:128:4,L:R:m:N:L,A:2:8,8", nil, "r0=M/r r80=M/r r100=entry/ r80=V/ f0 r100=entry/ p=R0 r100=M/r"},
	{"merge", "N:4:128:4,L:R:m:N:L,A:2:2,8", nil, "r0=M/r r0=V/ r0=merge/ r80=M/r f0 r0=H/ p=R0 p=R0 p=-"},
	{"a joined miss counts as pending on fill too", "N:4:128:4,L:R:f:N:L,A:2:2,8", nil, "r0=M/r r0=M/ r0=merge/"},
	{"atomic on a hit dirties its bytes", "S:1:128:1,L:B:m:L:L,A:8:8,8:0,32", nil,
		"k0 a0+4=H/ r80=M/rb m=R80+32 m=W0+32:4"},
	{"atomic dirties what it fetches", "S:1:128:1,L:B:m:L:L,A:8:8,8:0,32", nil,
		"a20+4=M/r m=R20+32 f20 p=R20 r20=H/ r80=M/rb m=R80+32 m=W0+32:4"},
	{"a read alone does not", "S:1:128:1,L:B:m:L:L,A:8:8,8:0,32", nil, "r0=M/r m=R0+32 f0 r80=M/r"},
	{"a reservation without a pending miss is renewed", "N:1:128:2,L:R:m:N:L,A:8:8,8", steadyCompat,
		"r0=M/r m=R0+128 f0 inv r0=M/ p=R0 p=R0 p=- r0=V/r m=R0+128 f0 ?0=H"},
	{"a late read takes no line", "N:1:128:2,L:R:m:N:L,A:8:8,8", nil,
		"r0=M/r m=R0+128 f0 inv r0=M/ ?0=M p=R0 p=R0 p=- r0=M/r"},

	// 5.2, 5.6 fills
	{"a fill goes to its way, whoever lives there", "N:1:128:1,L:L:m:N:L,A:8:8,8", steadyCompat,
		"r0=M/r inv r80=M/r f0 ?80=H"},
	{"a fill finds its line or none", "N:1:128:1,L:L:m:N:L,A:8:8,8", nil, "r0=M/r inv r80=M/r f0 ?80=V f80 ?80=H p=R0 p=R80"},
	{"on fill a dirty victim is lost", "N:1:128:1,L:L:f:N:L,A:8:8,8", nil, "k0 x0+4=H/ r80=M/r m=R80+128 f80 m=- ?80=H ?0=M"},
	{"a fill finds every way dirty and passes by", "N:2:128:1,L:L:f:N:L,A:8:8,8", func(c *Config) { c.WriteRatio = 100 },
		"r0=M/r r100=M/r f0 x0+4=H/ f100 ?0=H ?100=line p=R0 p=R100"},
	{"answers come in order of fills, then of requests", "N:4:128:4,L:R:m:N:L,A:8:8,8", nil,
		"r0=M/r r80=M/r r10=V/ r90=V/ f80 f0 p=R80 p=R90 p=R0 p=R10 p=-"},

	// 5.4 write hits
	{"write back: readable when complete", "S:1:128:2,L:B:m:L:L,A:8:8,8:0,32", nil,
		"w0+16=M/ r0=S/r m=R0+32 f0 r0=H/ w20+16=S/ w30+15=H/ ?20=S w3f+1=H/ r20=H/ m=-"},
	{"write through sends every write", "S:1:128:2,L:T:m:L:L,A:8:8,2:0,32", nil,
		"w0+32=M/w w0+4=H/w w0+4=queue/ w20+4=queue/ m=W0+32 w20+4=S/w m=W0+4 m=W20+4"},
	{"write evict", "N:4:128:4,L:E:m:N:L,A:8:8,2", nil, "k0 w0+4=H/w ?0=M w0+4=M/w w0+4=queue/ m=W0+4 m=W0+4 k80 r80=H/"},
	{"write evict refused", "N:4:128:4,L:E:m:N:L,A:8:8,2", nil, "k0 w80+4=M/w w80+4=M/w w0+4=queue/ ?0=H"},
	{"local back, global evict", "N:4:128:4,L:L:m:N:L,A:8:8,8", nil, "k0 x0+4=H/ ?0=H m=- w0+4=H/w ?0=M"},
	{"a sector is evicted alone", "S:4:128:4,L:L:m:N:L,A:8:8,8", nil, "k0 k20 w0+4=H/w ?0=S ?20=H"},
	{"a write to a read-only cache passes", "N:4:128:4,L:R:m:N:L,A:8:8,8", nil, "k0 w0+4=H/w ?0=M w0+4=M/w"},

	// 5.5 write misses
	{"no allocation, even if no way is free", "S:1:128:1,L:L:m:N:L,A:8:8,3:0,32", nil,
		"r0=M/r w80+4=M/w r80=line/ w0+4=V/w w80+4=queue/ m=R0+32 w80+4=M/w"},
	{"lazy fetch fails if no way is free", "S:1:128:1,L:B:m:L:L,A:8:8,8:0,32", nil, "r0=M/r w80+4=line/ f0 w80+4=M/"},
	{"lazy fetch is refused by a full queue", "S:1:128:2,L:B:m:L:L,A:8:8,2:0,32", nil,
		"r0=M/r r80=M/r w20+4=queue/ m=R0+32 w20+4=S/"},
	{"lazy write to what is on its way", "S:1:128:1,L:B:m:L:L,A:8:8,8:0,32", nil,
		"r0=M/r w0+4=V/ ?0=S m=R0+32 f0 ?0=H r80=M/rb m=R80+32 m=W0+32:4"},
	{"lazy write that completes what is on its way", "S:1:128:1,L:B:m:L:L,A:8:8,8:0,32", nil,
		"w0+31=M/ r0=S/r w1e+1=V/ ?0=S w1f+1=H/ ?0=H"},
	{"and at once", "S:1:128:1,L:B:m:L:L,A:8:8,8:0,32", nil, "w0+31=M/ r0=S/r w1f+1=V/ ?0=H"},
	{"bytes of later fills are not dirty", "S:1:128:1,L:B:m:L:L,A:8:8,8:0,32", nil,
		"r0=M/r w0+4=V/ m=R0+32 f0 p=R0 r80+32=M/rb m=R80+32 m=W0+32:4 f80 w80+4=H/ r0=M/rb m=R0+32 m=W80+32:4"},
	{"a whole sector is written", "S:1:128:1,L:B:m:L:L,A:8:8,8:0,32", nil, "w40+32=M/ ?40=H ?0=S r80=M/rb m=R80+32 m=W0+32:32"},
	{"two sectors written back at once", "S:1:128:1,L:B:m:L:L,A:8:8,8:0,32", nil, "w0+1=M/ w60+2=S/ r80=M/rb m=R80+32 m=W0+64:3"},
	{"a line is written back as 128 bytes", "N:1:128:1,L:B:m:L:L,A:8:8,8", nil, "w0+1=M/ r80=M/rb m=R80+128 m=W0+128:1"},
	{"fetch on write: part", "S:1:128:1,L:B:m:F:L,A:8:8,3:0,32", nil,
		"w0+4=M/a m=R0+32 f0 p=A0 r0=H/ r80=M/rb m=R80+32 m=W0+32:4 f80 p=R80"},
	{"fetch on write: whole", "S:1:128:1,L:B:m:F:L,A:8:8,3:0,32", nil, "w0+32=M/ m=- r0=H/"},
	{"fetch on write wants two entries", "S:4:128:4,L:B:m:F:L,A:8:8,3:0,32", nil,
		"w0+4=M/a w80+4=M/a w100+4=queue/ m=R0+32 w100+4=M/a"},
	{"fetch on write: write, read, write", "S:4:128:4,L:B:m:F:L,A:8:8,8:0,32", nil,
		"w0+4=M/a w0+4=V/a r0=V/ w0+4=rw/ f0 p=A0 p=A0 p=R0 w0+4=H/"},
	{"naive allocation wants three entries", "S:4:128:4,L:B:m:W:L,A:8:8,4:0,32", nil,
		"w0+4=M/wa w80+4=queue/ m=W0+4 w80+4=M/wa m=R0+32 f0 p=a0 r0=H/"},
	{"allocation refused by the table", "S:4:128:4,L:B:m:W:L,A:1:2,9:0,32", nil, "w0+4=M/wa w80+4=entry/ w0+4=V/wa w0+4=merge/"},

	// 5.6 ports
	{"a hit takes ceil(size/port)", "N:4:128:4,L:R:m:N:L,A:8:8,8:0,32", nil, "k0 d=free r0=H/ d=busy t3 d=busy t1 d=free"},
	{"a small hit takes one", "N:4:128:4,L:T:m:N:L,A:8:8,8:0,32", nil, "k0 w0+4=H/w d=busy t1 d=free"},
	{"a hit of 33 bytes two", "N:4:128:4,L:T:m:N:L,A:8:8,8:0,32", nil, "k0 w0+33=H/w t1 d=busy t1 d=free"},
	{"a miss takes none", "S:4:128:4,L:B:m:L:L,A:8:8,8:0,32", nil, "r0=M/r d=free r0=V/ d=free"},
	{"a miss with a victim takes its read-out", "S:1:128:1,L:B:m:L:L,A:8:8,8:0,32", nil,
		"w0+4=M/ w20+4=S/ w60+4=S/ d=free r80=M/rb t2 d=busy t1 d=free"},
	{"a fill takes atom/port", "N:4:128:4,L:R:m:N:L,A:8:8,8:0,32", nil, "r0=M/r f0 e=busy t3 e=busy t1 e=free"},
	{"a sector's fill takes one", "S:4:128:4,L:B:m:L:L,A:8:8,8:0,32", nil, "r0=M/r f0 d=free e=busy t1 e=free"},

	// 5.6 invalidate, flush, 7.2 copies, 1.5 ways and allocation
	{"invalidate", "S:4:128:4,L:B:m:L:L,A:8:8,8:0,32", nil, "k0 w0+4=H/ r80=M/r inv ?0=M ?80=M m=R80+32 m=- f80 ?80=M p=R80"},
	{"not if unused", "S:4:128:4,L:B:m:L:L,A:8:8,8:0,32", steadyCompat, "k0 inv ?0=H r0=H/ inv ?0=M"},
	{"a fill is use by default", "S:4:128:4,L:B:m:L:L,A:8:8,8:0,32", nil, "k0 inv ?0=M"},
	{"flush", "S:4:128:4,L:B:m:L:L,A:8:8,8:0,32", nil, "k0 k20 k80 w20+4=H/ flush ?0=M ?20=M ?80=H m=-"},
	{"a copy fills one sector and evicts silently", "S:1:128:1,L:B:m:L:L,A:8:8,8:0,32", nil,
		"w0+4=M/ k80 ?80=H ?a0=S ?0=M m=- k80 ?80=H"},
	{"ways taken away lose their lines", "N:1:128:4,L:R:m:N:L,A:8:8,8", nil,
		"k0 k80 k100 k180 ways1 ?0=M ?80=M ?100=M ?180=H ways4 ?0=M ?180=H"},
	{"ways renumbered", "N:2:128:4,L:R:m:N:L,A:8:8,8", steadyCompat, // 0 and 100 in ways 3 and 2 of set 0
		"k0 k100 ways2 ?0=M ?100=M k200 ways4 ?0=H ?100=H ?200=H"},
	{"a streaming cache changes its policy", "S:1:128:1,L:L:s:N:L,A:8:8,8:0,32", nil,
		"r0=M/r r80=M/r f0 f80 alloc:m r0=M/ r100=M/r r180=line/ f100 alloc:f r180=M/r r200=M/r"},
	{"a write-back cache does not", "S:1:128:1,L:B:m:L:L,A:8:8,8:0,32", nil, "alloc:f r0=M/r r80=line/"},
}

func TestRules(t *testing.T) {
	for _, s := range scripts {
		t.Run(strings.ReplaceAll(s.name, " ", "-"), func(t *testing.T) { play(t, s) })
	}
}

func play(t *testing.T, s script) {
	cfg, err := ParseConfig(s.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if s.set != nil {
		s.set(&cfg)
	}
	pool := &mem.Pool{}
	c, err := New(cfg, pool)
	if err != nil {
		t.Fatal(err)
	}
	now, step := uint64(1), uint64(1)
	var sent []*mem.Req // reads on their way, in the next level or still in the queue
	kinds := map[byte]mem.Kind{
		'r': mem.GlobalRead, 'l': mem.LocalRead, 'i': mem.InstRead, 'c': mem.ConstRead,
		'w': mem.GlobalWrite, 'x': mem.LocalWrite, 'a': mem.GlobalRead,
	}
	request := func(op byte, addr uint64, n int) *mem.Req {
		r := pool.Get()
		r.Addr, r.Kind, r.Size, r.Sub = addr, kinds[op], uint32(cfg.Atom()), 5
		r.Write = op == 'w' || op == 'x'
		r.Atomic = op == 'a'
		if n > 0 {
			r.Bytes.Set(int(addr%128), n)
			if r.Write {
				r.Size = uint32(n)
			}
		}
		return r
	}
	words := map[Status]string{Hit: "H", HitReserved: "V", Miss: "M", SectorMiss: "S", Fail: "line"}
	reasons := map[FailReason]string{
		LineAllocFail: "line", MissQueueFull: "queue", MSHREntryFail: "entry", MSHRMergeFail: "merge", MSHRRWPending: "rw",
	}
	for i, word := range strings.Fields(s.steps) {
		op, want, _ := strings.Cut(word, "=")
		var addr uint64
		var n int
		got := ""
		switch {
		case op == "inv":
			c.Invalidate()
		case op == "flush":
			c.Flush()
		case op == "n":
			step = 0
		case strings.HasPrefix(op, "ways"):
			fmt.Sscanf(op, "ways%d", &n)
			c.SetWays(n)
		case strings.HasPrefix(op, "alloc:"):
			c.SetAlloc(Alloc(strings.IndexByte(allocLetters, op[6])))
		case op == "m":
			got = "-"
			if r := c.PopMiss(); r != nil {
				got = fmt.Sprintf("R%x+%d", r.Addr, r.Size)
				if r.Write {
					got = "W" + got[1:]
				}
				if strings.Contains(want, ":") {
					got += fmt.Sprintf(":%d", countBytes(r.Bytes))
				}
			}
		case op == "p":
			got = "-"
			if r := c.PopReady(); r != nil {
				l := "R"
				if r.Kind == mem.L1WriteAlloc {
					l = "a"
					if r.Orig != nil {
						l = "A"
					}
				}
				got = fmt.Sprintf("%s%x", l, r.Addr)
			}
		case op == "d" || op == "e":
			got = "busy"
			if op == "d" && c.DataPortFree() || op == "e" && c.FillPortFree() {
				got = "free"
			}
		case op[0] == 't':
			fmt.Sscanf(op, "t%d", &n)
			for range n {
				c.Tick()
			}
		case op[0] == 'k':
			fmt.Sscanf(op, "k%x", &addr)
			now += step
			c.FillDirect(now, addr, addr, 1<<(addr/32%4))
		case op[0] == 'f':
			fmt.Sscanf(op, "f%x", &addr)
			at := -1
			for j, r := range sent {
				if r.Addr == addr {
					at = j
				}
			}
			if at < 0 {
				t.Fatalf("step %d %s: no request is on its way", i, word)
			}
			r := sent[at]
			sent = append(sent[:at], sent[at+1:]...)
			now += step
			if !c.WaitsFor(r) {
				t.Fatalf("step %d %s: does not wait", i, word)
			}
			answer(c, pool, now, r)
			if c.WaitsFor(r) || c.Fill(now, r) {
				t.Fatalf("step %d %s: waits for data that have arrived", i, word)
			}
		case op[0] == '?':
			fmt.Sscanf(op, "?%x", &addr)
			got = words[c.Probe(request('r', addr, 0))]
		default:
			fmt.Sscanf(op[1:], "%x+%d", &addr, &n)
			now += step
			r := request(op[0], addr, n)
			st := c.Access(now, r)
			got = words[st]
			if st == Fail {
				got = reasons[c.Reason()]
			}
			got += "/"
			for j, l := range []string{"r", "w", "b", "a"} {
				if c.Sent()>>j&1 == 1 {
					got += l
				}
			}
			if c.Sent()&(SentRead|SentWriteAlloc) != 0 {
				for j := range c.queue.Len() {
					if q := c.queue.At(j); !q.Write && (len(sent) == 0 || !has(sent, q)) {
						sent = append(sent, q)
					}
				}
			}
		}
		if got != want {
			t.Fatalf("step %d %s: got %q", i, word, got)
		}
	}
	checkInside(t, c)
}

// answer fills, in pieces if the cache expects them.
func answer(c *Cache, pool *mem.Pool, now uint64, r *mem.Req) {
	if c.cfg.MSHR != SectorAssoc {
		c.Fill(now, r)
		return
	}
	for range c.cfg.Atom() / mem.SectorBytes {
		p := pool.Get()
		p.Orig = r
		c.Fill(now, p)
	}
}

func has(list []*mem.Req, r *mem.Req) bool {
	for _, x := range list {
		if x == r {
			return true
		}
	}
	return false
}

func countBytes(m mem.ByteMask) int {
	n := 0
	for i := range 128 {
		n += int(m[i/64] >> (i % 64) & 1)
	}
	return n
}

func TestVictimGoesWhere(t *testing.T) {
	for _, x := range []struct {
		level     Level
		compat    bool
		sub, chip int32
		with      uint64 // address of the request that evicts the line
	}{{L1, false, -1, -1, 0}, {L1, true, -1, -1, 0x80}, {L2, false, 5, 2, 0}, {L2, true, 5, 2, 0}} {
		cfg, err := ParseConfig("S:1:128:1,L:B:m:L:L,A:8:8,8:0,32")
		if err != nil {
			t.Fatal(err)
		}
		cfg.Level, cfg.Compat.VictimSlice = x.level, x.compat
		c, err := New(cfg, &mem.Pool{})
		if err != nil {
			t.Fatal(err)
		}
		w := &mem.Req{Addr: 0x40, PartAddr: 0x40, Kind: mem.LocalWrite, Write: true, Size: 4, Sectors: 4, Sub: 7, Chan: 3}
		w.Bytes.Set(0x44, 4)
		c.Access(1, w)
		c.Access(2, &mem.Req{Addr: 0x80, PartAddr: 0x80, Size: 32, Sectors: 1, Sub: 5, Chan: 2, SM: 9, Lanes: 6})
		c.PopMiss()
		got := c.PopMiss()
		kind := mem.L1WriteBack
		if x.level == L2 {
			kind = mem.L2WriteBack
		}
		if got == nil || got.Sub != x.sub || got.Chan != x.chip || got.PartAddr != x.with || got.Kind != kind || got.Addr != 0 || got.Sectors != 4 ||
			got.SM != 9 || got.Lanes != 6 || got.Bytes != w.Bytes || !got.Write || !got.IsWriteBack() {
			t.Errorf("level %d, compat %v: %+v", x.level, x.compat, got)
		}
		if c.Stats.WriteBacks != 1 {
			t.Errorf("%d write-backs counted", c.Stats.WriteBacks)
		}
	}
}

// TestL2Index checks that the sets of an L2 come from the partition address, tags
// from the whole address.
func TestL2Index(t *testing.T) {
	cfg, err := ParseConfig("S:4:128:1,L:B:m:L:L,A:8:8,8:0,32")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Level = L2
	c, err := New(cfg, &mem.Pool{})
	if err != nil {
		t.Fatal(err)
	}
	c.FillDirect(1, 0x1000, 0x80, 1)
	c.FillDirect(2, 0x2000, 0x100, 1)
	probe := func(addr, part uint64) Status { return c.Probe(&mem.Req{Addr: addr, PartAddr: part, Sectors: 1}) }
	if probe(0x1000, 0x80) != Hit || probe(0x2000, 0x11f) != Hit || probe(0x3000, 0x80) != Miss {
		t.Error("lines are not where their partition addresses put them")
	}
}

func TestSkip(t *testing.T) {
	for n := range uint64(12) {
		var c [2]*Cache
		for i := range c {
			cfg, err := ParseConfig("N:4:128:4,L:R:m:N:L,A:8:8,8:0,32")
			if err != nil {
				t.Fatal(err)
			}
			if c[i], err = New(cfg, &mem.Pool{}); err != nil {
				t.Fatal(err)
			}
			c[i].FillDirect(1, 0, 0, 1)
			r := &mem.Req{Addr: 128, Size: 128}
			c[i].Access(2, r)
			c[i].PopMiss()
			if !c[i].Quiet() {
				t.Fatal("waiting for data only: quiet")
			}
			c[i].Fill(3, r)
			if c[i].Quiet() {
				t.Fatal("ready and ports busy: not quiet")
			}
			c[i].PopReady()
			c[i].Access(4, &mem.Req{Size: 33, Addr: 0})
		}
		for range n {
			c[0].Tick()
		}
		c[1].Skip(n)
		if c[0].Stats != c[1].Stats || c[0].DataPortFree() != c[1].DataPortFree() || c[0].FillPortFree() != c[1].FillPortFree() || c[0].Quiet() != c[1].Quiet() {
			t.Errorf("%d cycles: %+v, skipped %+v", n, c[0].Stats, c[1].Stats)
		}
	}
}

func TestStats(t *testing.T) {
	var a, b Stats
	a.Accesses[mem.GlobalRead][Hit] = 5
	a.Accesses[mem.GlobalWrite][SectorMiss] = 2
	a.Accesses[mem.LocalRead][Miss] = 3
	a.Accesses[mem.LocalRead][HitReserved] = 7
	a.Accesses[mem.LocalRead][Fail] = 100
	a.Accesses[mem.LocalRead][MSHRHit] = 100
	a.Fails[mem.LocalRead][MissQueueFull] = 100
	a.Cycles, a.DataBusy, a.FillBusy, a.WriteBacks = 1, 2, 3, 4
	b.Add(&a)
	b.Add(&a)
	if b.Total() != 34 || b.Misses() != 10 || b.Of(Fail) != 200 || b.Fails[mem.LocalRead][MissQueueFull] != 200 ||
		b.Cycles != 2 || b.DataBusy != 4 || b.FillBusy != 6 || b.WriteBacks != 8 {
		t.Errorf("%+v", b)
	}
	if SectorMiss.String() != "SECTOR_MISS" || Fail.String() != "RESERVATION_FAIL" || MSHRMergeFail.String() != "MSHR_MERGE_ENRTY_FAIL" {
		t.Error("names differ from GPGPU-Sim's")
	}
}

// TestSharedAtom sends requests for two sectors under one address, as GPGPU-Sim's
// splitting of constant lines does: one reply serves both, and the second sector
// stays reserved until it is requested again.
func TestSharedAtom(t *testing.T) {
	cfg, err := ParseConfig("S:4:128:2,L:B:m:L:L,A:8:8,8:0,32")
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(cfg, &mem.Pool{})
	if err != nil {
		t.Fatal(err)
	}
	read := func(sector uint8) *mem.Req { return &mem.Req{Size: 32, Sectors: 1 << sector} }
	a, b, late := read(0), read(1), read(1)
	if x, y := c.Access(1, a), c.Access(2, b); x != Miss || y != SectorMiss || c.Sent() != 0 {
		t.Fatalf("%v %v, second sent %b", x, y, c.Sent())
	}
	if c.PopMiss() != a || c.PopMiss() != nil || c.MissLen() != 0 {
		t.Fatal("one request for both expected")
	}
	c.Fill(3, a)
	if x := c.Access(4, late); x != HitReserved || c.Sent() != 0 {
		t.Fatalf("%v, sent %b", x, c.Sent())
	}
	if c.PopReady() != a || c.PopReady() != b || c.PopReady() != late || c.PopReady() != nil {
		t.Fatal("answers out of order")
	}
	if x := c.Access(5, read(1)); x != HitReserved || c.Sent() != SentRead {
		t.Fatalf("%v, sent %b", x, c.Sent())
	}
	checkInside(t, c)
}

func TestForeignAnswers(t *testing.T) {
	cfg, err := ParseConfig("N:4:128:2,L:R:m:N:L,S:8:8,8")
	if err != nil {
		t.Fatal(err)
	}
	pool := &mem.Pool{}
	c, err := New(cfg, pool)
	if err != nil {
		t.Fatal(err)
	}
	own := &mem.Req{Size: 16}
	c.Access(1, own)
	for _, r := range []*mem.Req{{}, {Orig: &mem.Req{}}, {Addr: 0x80}, {Orig: &mem.Req{Addr: 0x80}}} {
		if c.WaitsFor(r) || c.Fill(2, r) {
			t.Errorf("accepts the foreign reply %+v", r)
		}
	}
	if !c.WaitsFor(own) || !c.WaitsFor(&mem.Req{Orig: own, Addr: 0x60}) {
		t.Error("does not accept its own reply")
	}
	// A reply in one piece is as good as four.
	if !c.Fill(3, own) || c.PopReady() != own || own.Size != 16 {
		t.Error("whole answer refused")
	}
}

// TestStampsBack lets the stamps decrease: their order decides, not that of the
// calls.
func TestStampsBack(t *testing.T) {
	cfg, err := ParseConfig("N:1:128:3,L:R:m:N:L,A:8:8,8")
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(cfg, &mem.Pool{})
	if err != nil {
		t.Fatal(err)
	}
	for i, now := range []uint64{50, 60, 70} {
		c.FillDirect(now, uint64(i)*128, 0, 1)
	}
	c.Access(10, &mem.Req{Addr: 256, Size: 128}) // the youngest becomes the oldest
	c.FillDirect(80, 384, 0, 1)
	for i, want := range []Status{Hit, Hit, Miss, Hit} {
		if got := c.Probe(&mem.Req{Addr: uint64(i) * 128}); got != want {
			t.Errorf("line %d: %v, want %v", i, got, want)
		}
	}
	checkInside(t, c)
}
