package part

import (
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/mem/dram"
)

// The address layouts of the configurations that come with GPGPU-Sim.
const (
	layoutFermi  = "dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS"
	layoutGDDR   = "dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.RBBBCCCC.BCCSSSSS"
	layoutHBM    = "dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.RBBBCCCB.CCCSSSSS"
	layoutSpelt  = "00000000|00000000|00000000|00000000|0000RRRR|RRRRRRRR|RBBBCDDD|BCCSSSSS"
	wideRowsHBM  = "dramid@8;RRRRRRRR.RRRRRRRR.RRRRRRRR.RRRRRRRR.00000000.00000000.0BBBCCCB.CCCSSSSS"
	emptyAddress = "00000000.00000000.00000000.00000000.00000000.00000000.00000000.00000000"
)

// testConfig is a memory like the RTX 2060's.
func testConfig() Config {
	p, _ := dram.Named("gddr6")
	l2, err := cache.ParseConfig("S:64:128:16,L:B:m:L:P,A:192:4,32:0,32")
	if err != nil {
		panic(err)
	}
	return Config{
		Channels: 12, Subs: 2, Mapping: layoutGDDR, L2: l2,
		Queues:     Queues{ToL2: 64, ToDRAM: 64, FromDRAM: 64, ToNet: 64},
		ROPLatency: 194, DRAMLatency: 96, DRAM: p.Config,
	}
}

func mapConfig(layout string, channels, subs int, x Indexing) Config {
	c := testConfig()
	c.Mapping, c.Channels, c.Subs, c.Indexing = layout, channels, subs, x
	c.Compat.LibraryRandom = true
	return c
}

// shipped are the shipped combinations of layout, channels and indexing.
var shipped = map[string]Config{
	"gtx480":     mapConfig(layoutFermi, 6, 2, Consecutive),
	"titan":      mapConfig(layoutGDDR, 12, 2, Consecutive),
	"titanx":     mapConfig(layoutGDDR, 12, 2, RandomIndex),
	"rtx2060":    mapConfig(layoutGDDR, 12, 2, Consecutive),
	"rtx2070s":   mapConfig(layoutGDDR, 16, 2, IPolyIndex),
	"rtx2080ti":  mapConfig(layoutGDDR, 22, 2, IPolyIndex),
	"rtx3070":    mapConfig(layoutGDDR, 16, 2, IPolyIndex),
	"rtx3080":    mapConfig(layoutGDDR, 20, 2, IPolyIndex),
	"rtxa6000":   mapConfig(layoutGDDR, 24, 2, IPolyIndex),
	"rtx5070ti":  mapConfig(layoutGDDR, 16, 8, IPolyIndex),
	"qv100":      mapConfig(layoutHBM, 32, 2, IPolyIndex),
	"qv100 xor":  mapConfig(layoutHBM, 32, 2, BitwiseXor),
	"qv100 flat": mapConfig(layoutHBM, 32, 2, Consecutive),
	"spelt out":  mapConfig(layoutSpelt, 8, 2, Consecutive),
	"one":        mapConfig(layoutGDDR, 1, 1, IPolyIndex),
}

// TestPlaces: addresses decoded by hand, bit by bit and with the polynomial tables
// of the machine's description.
func TestPlaces(t *testing.T) {
	for _, v := range []struct {
		name  string
		addr  uint64
		want  Place
		local uint64
	}{
		// 6 channels: 0xC00000 = 6 * 0x200000.
		{"gtx480", 0xc0000000, Place{0, 0, 0, 0, 0}, 0x10000000},
		{"gtx480", 0xc0000100, Place{1, 2, 0, 0, 0}, 0x10000000},
		{"gtx480", 0xc0000600, Place{0, 1, 1, 0, 0}, 0x10000000},
		// 0x123456 = 6 * 0x308B9; rest 0x308B978; bank bits 15,14,13,8.
		{"gtx480", 0x12345678, Place{0, 1, 11, 0x308, 0xc78}, 0x1845c78},
		// 0x123456 = 12 * 0x1845C + 6; rest 0x1845C78; bank bits 14,13,12,7.
		{"rtx2060", 0x12345678, Place{6, 12, 10, 0x308, 0x678}, 0xc22e78},
		// Channel 0x56 mod 32 = 22, bank bits 19,18,17,13, high 0x48D1:
		// slice 44 xor 0b100110.
		{"qv100", 0x12345678, Place{5, 10, 4, 0x123, 0x178}, 0x48d178},
		{"qv100", 1 << 14, Place{1, 3, 0, 0, 0x100}, 0x100},
		{"qv100 flat", 0x12345678, Place{22, 44, 4, 0x123, 0x178}, 0x48d178},
		// 22 xor (0x48D1 mod 32 = 17) = 7.
		{"qv100 xor", 0x12345678, Place{7, 14, 4, 0x123, 0x178}, 0x48d178},
		// Channel 6, bank bits 18,17,16,7, high 0x91A2: slice 12 xor 0b11010.
		{"rtx3070", 0x12345678, Place{11, 22, 8, 0x246, 0x2f8}, 0x91a2f8},
		// 0x123456 = 24 * 0xC22E + 6: slice 12 xor 0b011110, below 48.
		{"rtxa6000", 0x12345678, Place{9, 18, 4, 0x184, 0x778}, 0x611778},
		// Drawn in order: 1804289383, 846930886, 1681692777, 1714636915 mod 24.
		{"titanx", 0x12345678, Place{3, 7, 10, 0x308, 0x678}, 0xc22e78},
	} {
		c := shipped[v.name]
		m, err := NewAddrMap(&c)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Find(v.addr); got != v.want {
			t.Errorf("%s: %#x lies at %+v, want %+v", v.name, v.addr, got, v.want)
		}
		if got := m.Local(v.addr); got != v.local {
			t.Errorf("%s: %#x is %#x in its slice, want %#x", v.name, v.addr, got, v.local)
		}
	}
}

// TestLibraryRandom: the first numbers of rand() after srand(1) are widely
// known, and TITANX draws slices with them.
func TestLibraryRandom(t *testing.T) {
	want := []uint32{1804289383, 846930886, 1681692777, 1714636915, 1957747793, 424238335, 719885386, 1649760492}
	g := newLibraryRandom(1)
	for i, w := range want {
		if got := g.next(); got != w {
			t.Errorf("number %d is %d, want %d", i, got, w)
		}
	}
	c := shipped["titanx"]
	m, err := NewAddrMap(&c)
	if err != nil {
		t.Fatal(err)
	}
	// 128-byte blocks in order of first use; the second one is repeated.
	for _, v := range []struct {
		addr uint64
		sub  int
	}{{0xc0000000, 7}, {0xc0000f00, 22}, {0xc0000f7f, 22}, {0xc0000080, 9}, {0x80, 19}, {0xc0000000, 7}} {
		if p := m.Find(v.addr); p.Sub != v.sub || p.Chan != v.sub/2 {
			t.Errorf("%#x goes to slice %d of channel %d, want %d of %d", v.addr, p.Sub, p.Chan, v.sub, v.sub/2)
		}
	}
}

// naive decodes an address letter by letter.
func naive(c *Config, addr uint64) (p Place, local uint64) {
	head, text, dramid := strings.Cut(c.Mapping, ";")
	at := 0
	if !dramid {
		text = head
	} else {
		for _, d := range strings.TrimPrefix(head, "dramid@") {
			at = at*10 + int(d-'0')
		}
	}
	letters := []byte(strings.NewReplacer(".", "", "|", "").Replace(text)) // letters[0] is bit 63
	n := uint64(c.Channels)
	logN := bits.Len64(n - 1)
	gap := n&(n-1) != 0
	rest, high := addr, uint64(0)
	if gap {
		q := addr >> at
		p.Chan, high = int(q%n), q/n
		rest = q/n<<at | addr%(1<<at)
	} else if dramid { // insert a channel's letters at the bit
		grown := append([]byte(nil), letters[logN:64-at]...)
		grown = append(grown, strings.Repeat("D", logN)...)
		letters = append(grown, letters[64-at:]...)
	} else {
		at = 63 - strings.LastIndexByte(string(letters), 'D')
	}
	subBits := bits.Len(uint(c.Subs)) - 1
	if !gap {
		high = addr >> (at + logN + subBits)
	}
	var nb, nr, nc, nd, nl, ns int
	for bit := range 64 {
		v := int(rest >> bit & 1)
		letter := letters[63-bit]
		if letter != 'D' && (letter != 'B' || ns == subBits) {
			local |= uint64(v) << nl
			nl++
		}
		switch letter {
		case 'B':
			p.Bank |= v << nb
			nb++
			ns = min(ns+1, subBits)
		case 'R':
			p.Row |= uint32(v) << nr
			nr++
		case 'C', 'S':
			p.Col |= uint32(v) << nc
			nc++
		case 'D':
			p.Chan |= v << nd
			nd++
		}
	}
	p.Sub = p.Chan*c.Subs + p.Bank%c.Subs
	switch c.Indexing {
	case BitwiseXor:
		p.Chan ^= int(high % n)
		p.Sub = p.Chan*c.Subs + p.Bank%c.Subs
	case IPolyIndex:
		p.Sub = cache.IPolyHash(high, p.Sub, 1<<logN*c.Subs) % (c.Channels * c.Subs)
		p.Chan = p.Sub / c.Subs
	}
	return p, local
}

func TestNaiveMap(t *testing.T) {
	all := map[string]Config{"wide rows": mapConfig(wideRowsHBM, 12, 2, Consecutive)}
	for name, c := range shipped {
		all[name] = c
	}
	for name, c := range all {
		if c.Indexing == RandomIndex || name == "one" {
			continue
		}
		m, err := NewAddrMap(&c)
		if err != nil {
			t.Fatal(name, err)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		for range 3000 {
			addr := rng.Uint64() >> rng.IntN(64)
			p, local := naive(&c, addr)
			if got := m.Find(addr); got != p {
				t.Fatalf("%s: %#x lies at %+v, want %+v", name, addr, got, p)
			}
			if got := m.Local(addr); got != local {
				t.Fatalf("%s: %#x is %#x in its slice, want %#x", name, addr, got, local)
			}
			r := mem.Req{Addr: addr}
			m.Decode(&r)
			if int(r.Sub) != p.Sub || int(r.Chan) != p.Chan || int(r.Bank) != p.Bank || r.Row != p.Row || r.Col != p.Col || r.PartAddr != local {
				t.Fatalf("%s: %#x decodes to %+v", name, addr, r)
			}
		}
	}
}

// TestOneToOne: no two addresses share slice and local address, except where
// a polynomial over a power of two is folded onto fewer slices, or uses slice bits
// twice: then at most as many as the folding. No slice gets much more than its
// share.
func TestOneToOne(t *testing.T) {
	for name, c := range shipped {
		if c.Indexing == RandomIndex {
			continue
		}
		m, err := NewAddrMap(&c)
		if err != nil {
			t.Fatal(name, err)
		}
		limit := 1
		switch {
		case c.Indexing == IPolyIndex && m.gap:
			limit = 2
		case name == "rtx5070ti":
			// Two of its three slice bits lie above the place where the
			// polynomial takes its upper part from, and are used twice.
			limit = 4
		}
		type key struct {
			sub   int
			local uint64
		}
		seen := map[key]int{}
		per := make([]int, c.Channels*c.Subs)
		const blocks = 1 << 15
		for i := range uint64(blocks) {
			addr := 0xc0000000 + i*128
			k := key{m.Find(addr).Sub, m.Local(addr)}
			per[k.sub]++
			if seen[k]++; seen[k] > limit {
				t.Fatalf("%s: %d addresses up to %#x share slice %d, %#x", name, seen[k], addr, k.sub, k.local)
			}
		}
		for sub, n := range per {
			if fair := blocks / len(per); n > limit*fair*5/4 || n == 0 {
				t.Errorf("%s: slice %d has %d of %d blocks", name, sub, n, blocks)
			}
		}
	}
}

// TestRandomSpread: without the library's generator the slice depends on the
// address alone, and all slices get their share.
func TestRandomSpread(t *testing.T) {
	c := shipped["titanx"]
	c.Compat.LibraryRandom = false
	a, err := NewAddrMap(&c)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := NewAddrMap(&c)
	per := make([]int, 24)
	const n = 24000
	for i := range uint64(n) {
		per[a.Find(i*128).Sub]++
		if x, y := a.Find(i*128).Sub, b.Find((n-1-i)*128); i*2 == n-1 && x != y.Sub {
			t.Error("the order of calls matters")
		}
	}
	for i := uint64(n); i > 0; i-- {
		if x, y := a.Find(i*128+64).Sub, b.Find(i*128).Sub; x != y {
			t.Fatalf("block %d lies in %d and %d", i, x, y)
		}
	}
	for sub, k := range per {
		if k < n/24*8/10 || k > n/24*12/10 {
			t.Errorf("slice %d has %d of %d blocks", sub, k, n)
		}
	}
}

func TestBankHash(t *testing.T) {
	c := shipped["rtx2060"]
	for _, v := range []struct {
		hash BankHash
		want int32
	}{
		{BankLinear, 10},
		{BankXor, 10 ^ 0x308&15}, // row 0x308
		// Row bits 3, 8, 9 are set; by the table for 16 three of them go into
		// bit 0, two into bit 1, two into bit 2, three into bit 3.
		{BankIPoly, 10 ^ 0b1001},
	} {
		c.BankHash = v.hash
		m, err := NewAddrMap(&c)
		if err != nil {
			t.Fatal(err)
		}
		r := mem.Req{Addr: 0x12345678}
		m.Decode(&r)
		if r.Bank != v.want || r.Sub != 12 {
			t.Errorf("%v: bank %d of slice %d, want %d of 12", v.hash, r.Bank, r.Sub, v.want)
		}
	}
}

// TestVictimPlace: a write-back of an L1 with a second address goes to the slice of
// that address, and to its own place there.
func TestVictimPlace(t *testing.T) {
	c := shipped["rtx2060"]
	m, err := NewAddrMap(&c)
	if err != nil {
		t.Fatal(err)
	}
	const own, other = 0x12345680, 0x22222480
	of := func(addr, near uint64, kind mem.Kind) mem.Req {
		r := mem.Req{Addr: addr, PartAddr: near, Kind: kind}
		m.Decode(&r)
		return r
	}
	a, b := of(own, 0, mem.GlobalRead), of(other, 0, mem.GlobalRead)
	if a.Sub == b.Sub || a.Chan == b.Chan {
		t.Fatal("both addresses lie in one slice")
	}
	w := of(own, other, mem.L1WriteBack)
	if w.Sub != b.Sub || w.Chan != b.Chan || w.Bank != a.Bank || w.Row != a.Row || w.Col != a.Col || w.PartAddr != a.PartAddr {
		t.Errorf("%+v, want the slice of\n%+v and the place of\n%+v", w, b, a)
	}
	if w := of(own, 0, mem.L1WriteBack); w.Sub != a.Sub || w.Chan != a.Chan {
		t.Errorf("%+v, want the slice of %+v", w, a)
	}
}

func TestBadMaps(t *testing.T) {
	for _, v := range []struct {
		name string
		edit func(*Config)
		want string
	}{
		{"empty", func(c *Config) { c.Mapping = "" }, "0 bits"},
		{"short", func(c *Config) { c.Mapping = "dramid@8;RRRR" }, "4 bits"},
		{"long", func(c *Config) { c.Mapping = layoutGDDR + "S" }, "more than 64"},
		{"letter", func(c *Config) { c.Mapping = strings.Replace(layoutGDDR, "B", "X", 1) }, `'X' names no field`},
		{"no semicolon", func(c *Config) { c.Mapping = "dramid@8" }, "semicolon"},
		{"no bit", func(c *Config) { c.Mapping = "dramid@x;" + emptyAddress }, "dramid@x"},
		{"high bit", func(c *Config) { c.Mapping = strings.Replace(layoutGDDR, "@8", "@60", 1) }, "0 to 47"},
		{"both", func(c *Config) { c.Mapping = strings.Replace(layoutGDDR, "R", "D", 1) }, "both"},
		{"neither", func(c *Config) { c.Mapping = strings.TrimPrefix(layoutGDDR, "dramid@8;") }, "neither"},
		{"nothing", func(c *Config) { c.Mapping = "dramid@8;" + emptyAddress }, "names no bank"},
		{"12 channels spelt out", func(c *Config) { c.Mapping = layoutSpelt }, "not a power of two"},
		{"4 channels of 3 bits", func(c *Config) { c.Mapping, c.Channels = layoutSpelt, 4 }, "3 channel bits"},
		{"bank bits", func(c *Config) { c.DRAM.Banks, c.DRAM.Groups = 8, 4 }, "4 bank bits"},
		{"too few for slices", func(c *Config) { c.Subs = 32 }, "too few bank bits"},
		{"xor of 12", func(c *Config) { c.Indexing = BitwiseXor }, "power of two"},
		{"indexing", func(c *Config) { c.Indexing = 5 }, "address mapping 5"},
		{"bank hash", func(c *Config) { c.BankHash = 3 }, "bank hash 3"},
		{"random below", func(c *Config) {
			c.Indexing, c.Mapping = RandomIndex, strings.Replace(layoutGDDR, "@8", "@0", 1)
		}, "random indexing"},
		{"no channels", func(c *Config) { c.Channels = 0 }, "0 channels"},
		{"million channels", func(c *Config) { c.Channels = 1_000_000 }, "1000000 channels"},
		{"three slices", func(c *Config) { c.Subs = 3 }, "power of two"},
		{"negative latency", func(c *Config) { c.ROPLatency = -1 }, "ROP latency is -1"},
		{"short queue", func(c *Config) { c.Queues.ToL2 = 3 }, "want at least 4"},
		{"no banks", func(c *Config) { c.DRAM.Banks = 0 }, "0 banks"},
		{"L2 of textures", func(c *Config) {
			c.L2, _ = cache.ParseConfig("N:4:128:256,L:R:m:N:L,T:512:8,128:2")
		}, "texture FIFO"},
		{"L2 without sets", func(c *Config) { c.L2.Sets = 0 }, "L2"},
		{"no credits", func(c *Config) {
			c.Channels, c.Subs, c.DRAM.QueueSize, c.DRAM.ReturnQueue = 1, 4, 1, 1
		}, "want at least 4 together"},
	} {
		c := testConfig()
		v.edit(&c)
		if _, err := New(c, new(mem.Pool)); err == nil || !strings.Contains(err.Error(), v.want) {
			t.Errorf("%s: %v, want %q in it", v.name, err, v.want)
		}
	}
	if _, err := New(testConfig(), nil); err == nil {
		t.Error("no pool: accepted")
	}
}

func FuzzMapping(f *testing.F) {
	for _, s := range []string{layoutFermi, layoutGDDR, layoutHBM, layoutSpelt, wideRowsHBM, emptyAddress} {
		f.Add(s, uint16(12), uint8(2), uint8(0), uint64(0x12345678))
	}
	f.Fuzz(func(t *testing.T, s string, channels uint16, subs, indexing uint8, addr uint64) {
		c := mapConfig(s, int(channels), int(subs), Indexing(indexing))
		m, err := NewAddrMap(&c)
		if err != nil {
			return
		}
		p := m.Find(addr)
		if p.Sub < 0 || p.Sub >= c.Channels*c.Subs || p.Chan != p.Sub/c.Subs || p.Bank < 0 || p.Bank >= c.DRAM.Banks {
			t.Errorf("%q, %d channels of %d: %#x lies at %+v", s, channels, subs, addr, p)
		}
		m.Local(addr)
	})
}

func BenchmarkDecode(b *testing.B) {
	for _, name := range []string{"rtx2060", "qv100", "rtxa6000"} {
		b.Run(name, func(b *testing.B) {
			c := shipped[name]
			m, err := NewAddrMap(&c)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			r := new(mem.Req)
			for i := uint64(0); b.Loop(); i++ {
				r.Addr = i * 4096
				m.Decode(r)
			}
		})
	}
}
