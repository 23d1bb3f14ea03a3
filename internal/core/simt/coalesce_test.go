package simt

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem"
)

// requests returns the accesses of one instruction, in the order in which they
// are sent.
func requests(t *testing.T, cfg Config, in *isa.Inst, lanes isa.LaneMask, addr *[32]uint64) []access {
	t.Helper()
	_, f := loading(t, cfg, in, lanes, addr)
	slices.Reverse(f.acc) // they are sent from the end
	return f.acc
}

// loading returns a core, and an instruction whose accesses are known.
func loading(t *testing.T, cfg Config, in *isa.Inst, lanes isa.LaneMask, addr *[32]uint64) (*Core, *flight) {
	t.Helper()
	g := newRig(t, cfg)
	s := chain(1, func(int) (*isa.Inst, *[32]uint64) { return in, addr })
	k, err := NewKernel(&cfg, s, core.KernelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	g.core.Launch(k, s.Block(0))
	f := &flight{op: &k.ops[0], lanes: lanes, path: pathMemory, local: in.Space == isa.Local}
	switch in.Space {
	case isa.Const:
		f.path = pathConst
	case isa.Texture:
		f.path = pathTexture
	}
	g.core.coal.accesses(g.core, f, addr)
	return g.core, f
}

// TestSureLoads checks that only loads of data hit because of their line: constants and
// texels have caches of their own.
func TestSureLoads(t *testing.T) {
	for _, c := range []struct {
		name  string
		space isa.Space
		sure  bool
	}{{"global", isa.Global, true}, {"local", isa.Local, true}, {"constant", isa.Const, false}, {"texture", isa.Texture, false}} {
		t.Run(c.name, func(t *testing.T) {
			x, f := loading(t, qv100(t), load(c.space, 4, 1, 2), isa.FullMask, new([32]uint64))
			f.op.sure, f.acc = true, []access{{size: mem.SectorBytes}}
			if r := x.ls.request(x, f); r.Sure != c.sure {
				t.Errorf("hits: %v, want %v", r.Sure, c.sure)
			}
		})
	}
}

// TestCoalescing checks the number and sizes of a warp's requests, by architecture and
// width (GPGPU-Sim).
func TestCoalescing(t *testing.T) {
	base := uint64(0x1000)
	for _, c := range []struct {
		arch  int
		width int
		by    uint64
		cg    bool
		sizes []int // ascending addresses
	}{
		// Sectors from Maxwell on.
		{75, 4, 4, false, []int{32, 32, 32, 32}},
		{75, 8, 8, false, []int{32, 32, 32, 32, 32, 32, 32, 32}},
		{75, 16, 16, false, slices.Repeat([]int{32}, 16)},
		{75, 1, 1, false, []int{32}},
		{75, 2, 2, false, []int{32, 32}},
		{75, 4, 0, false, []int{32}},
		{75, 4, 32, false, slices.Repeat([]int{32}, 32)},
		{75, 4, 128, false, slices.Repeat([]int{32}, 32)},
		{40, 4, 4, false, []int{32, 32, 32, 32}},
		// Fermi and Kepler: lines, halved if one half is enough; sectors if they
		// bypass the L1.
		{20, 4, 4, false, []int{128}},
		{20, 8, 8, false, []int{128, 128}},
		{20, 1, 1, false, []int{32}},
		{20, 2, 2, false, []int{64}},
		{20, 4, 2, false, []int{128}}, // the last lane's bytes reach the upper half
		{20, 4, 1, false, []int{64}},  // the last lane's bytes reach the second sector
		{20, 4, 0, false, []int{32}},
		{20, 4, 128, false, slices.Repeat([]int{32}, 32)},
		{20, 4, 4, true, []int{32, 32, 32, 32}},
		{35, 4, 4, true, []int{32, 32, 32, 32}},
		{38, 4, 4, true, []int{32, 32, 32, 32}},
		// 39 and the oldest have lines for every operator.
		{39, 4, 4, true, []int{128}},
		{13, 4, 4, true, []int{128}},
		{13, 2, 2, false, []int{64}},
		{13, 1, 1, false, []int{32}},
	} {
		cfg := rtx2060(t)
		cfg.CoalesceArch = c.arch
		cfg.Compat = Compat{}
		in := load(isa.Global, c.width, 1, 2)
		if c.cg {
			in.Cache = isa.CacheCG
		}
		var sizes []int
		last := uint64(0)
		for _, a := range requests(t, cfg, in, isa.FullMask, strided(base, c.by)) {
			sizes = append(sizes, int(a.size))
			if a.addr <= last {
				t.Errorf("arch %d width %d stride %d: address %#x after %#x", c.arch, c.width, c.by, a.addr, last)
			}
			last = a.addr
		}
		if !slices.Equal(sizes, c.sizes) {
			t.Errorf("arch %d width %d stride %d .cg %v: sizes %v, want %v", c.arch, c.width, c.by, c.cg, sizes, c.sizes)
		}
	}
}

// TestOrder: GPGPU-Sim sends the highest address first.
func TestOrder(t *testing.T) {
	for _, high := range []bool{false, true} {
		cfg := rtx2060(t)
		cfg.Compat.HighestFirst = high
		var got []uint64
		for _, a := range requests(t, cfg, load(isa.Global, 4, 1, 2), isa.FullMask, strided(0x1000, 4)) {
			got = append(got, a.addr)
		}
		want := []uint64{0x1000, 0x1020, 0x1040, 0x1060}
		if high {
			slices.Reverse(want)
		}
		if !slices.Equal(got, want) {
			t.Errorf("highest first %v: %#x, want %#x", high, got, want)
		}
	}
}

// TestCoalescingTwin compares random warps with a map of bytes.
func TestCoalescingTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	cfg := rtx2060(t)
	cfg.Compat = Compat{}
	type sector struct {
		bytes uint32
		lanes isa.LaneMask
	}
	for n := range 400 {
		width := []int{1, 2, 4, 8, 16}[r.IntN(5)]
		lanes := isa.LaneMask(r.Uint32() | 1)
		var addr [32]uint64
		for i := range addr {
			addr[i] = 0x1000 + r.Uint64N([]uint64{64, 500, 5000}[r.IntN(3)])
			if r.IntN(4) > 0 {
				addr[i] &^= uint64(width - 1)
			}
		}
		want := map[uint64]sector{}
		for i, a := range addr {
			if lanes>>i&1 == 0 {
				continue
			}
			for b := a; b < a+uint64(width); b++ {
				s := want[b&^31]
				s.bytes |= 1 << (b & 31)
				s.lanes |= 1 << i
				want[b&^31] = s
			}
		}
		got := map[uint64]sector{}
		for _, a := range requests(t, cfg, load(isa.Global, width, 1, 2), lanes, &addr) {
			if a.size != 32 || a.sectors != 1<<(a.addr%128/32) {
				t.Fatalf("case %d: access of %d bytes, sectors %#x at %#x", n, a.size, a.sectors, a.addr)
			}
			got[a.addr] = sector{a.bytes.Sector(int(a.addr % 128 / 32)), a.lanes}
		}
		if d := cmp.Diff(want, got, cmp.AllowUnexported(sector{})); d != "" {
			t.Fatalf("case %d, width %d: sectors (- want, + got)\n%s", n, width, d)
		}
	}
}

// TestCrossing: a lane that crosses segments, with and without the quirks.
func TestCrossing(t *testing.T) {
	for _, c := range []struct {
		name   string
		compat Compat
		width  int
		at     uint64
		want   []uint64
	}{
		{"two sectors", Compat{}, 8, 0x101c, []uint64{0x1000, 0x1020}},
		{"two sectors", Compat{EndSegments: true}, 8, 0x101c, []uint64{0x1000, 0x1020}},
		{"zero is an address", Compat{}, 4, 0, []uint64{0}},
		{"zero is none", Compat{ZeroIsNone: true}, 4, 0, nil},
		{"three sectors", Compat{}, 64, 0x1010, []uint64{0x1000, 0x1020, 0x1040}},
		{"the ends of three", Compat{EndSegments: true}, 64, 0x1010, []uint64{0x1000, 0x1040}},
	} {
		cfg := rtx2060(t)
		cfg.Compat = c.compat
		var got []uint64
		for _, a := range requests(t, cfg, load(isa.Global, c.width, 1, 2), 1, strided(c.at, 0)) {
			got = append(got, a.addr)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s, %+v: %#x, want %#x", c.name, c.compat, got, c.want)
		}
	}
}

// TestAtomicAccesses: lanes on the same bytes are serialised.
func TestAtomicAccesses(t *testing.T) {
	for _, c := range []struct {
		by   uint64
		want int
	}{{0, 32}, {4, 4}, {32, 32}} {
		got := requests(t, rtx2060(t), atom(isa.Global, 1, 2, 3), isa.FullMask, strided(0x1000, c.by))
		var lanes isa.LaneMask
		for _, a := range got {
			if lanes&a.lanes != 0 {
				t.Errorf("stride %d: a lane is in two accesses", c.by)
			}
			lanes |= a.lanes
		}
		if len(got) != c.want || lanes != isa.FullMask {
			t.Errorf("stride %d: %d accesses of lanes %#x, want %d", c.by, len(got), lanes, c.want)
		}
	}
	// Eight words, four lanes each.
	var addr [32]uint64
	for i := range addr {
		addr[i] = 0x1000 + uint64(i%8)*4
	}
	if got := requests(t, rtx2060(t), atom(isa.Global, 1, 2, 3), isa.FullMask, &addr); len(got) != 4 {
		t.Errorf("eight words, four lanes each: %d accesses, want 4", len(got))
	}
}

// TestLocal: the same word of neighbouring threads is adjacent, so one word per lane
// makes one line.
func TestLocal(t *testing.T) {
	cfg := rtx2060(t)
	got := requests(t, cfg, load(isa.Local, 4, 1, 2), isa.FullMask, strided(0x20, 0))
	if len(got) != 4 || got[3].addr+96 != got[0].addr {
		t.Errorf("a word of local memory: %+v", got)
	}
	if got := requests(t, cfg, load(isa.Local, 8, 1, 2), isa.FullMask, strided(0x20, 0)); len(got) != 8 {
		t.Errorf("two words of local memory: %d accesses, want 8", len(got))
	}
	// The layout is one to one.
	k := &Kernel{Fit: core.Fit{Warps: 2, MaxBlocks: 3}}
	cfg.SMs = 5
	seen := map[uint64]string{}
	for id := range cfg.SMs {
		c := &Core{cfg: cfg, id: id}
		for warp := range 6 {
			for lane := range 32 {
				for w := range uint64(8) {
					a, who := c.localAddress(k, warp, lane, 4*w), fmt.Sprint(id, warp, lane, w)
					if old, ok := seen[a]; ok {
						t.Fatalf("%s and %s are both at %#x", old, who, a)
					}
					seen[a] = who
				}
			}
		}
	}
}

// TestLines: constants and textures access one line at a time.
func TestLines(t *testing.T) {
	cfg := gtx480(t)
	if got := requests(t, cfg, load(isa.Const, 4, 1, 2), isa.FullMask, strided(0x1000, 4)); len(got) != 2 || got[0].size != 64 {
		t.Errorf("32 constants: %+v", got)
	}
	if got := requests(t, cfg, load(isa.Const, 4, 1, 2), isa.FullMask, strided(0x1000, 64)); len(got) != 32 {
		t.Errorf("constants in 32 lines: %d accesses", len(got))
	}
	if got := requests(t, cfg, load(isa.Texture, 4, 1, 2), isa.FullMask, strided(0x1000, 4)); len(got) != 1 || got[0].size != 128 {
		t.Errorf("32 texels: %+v", got)
	}
}

func passes(t *testing.T, cfg Config, width int, lanes isa.LaneMask, addr *[32]uint64) int {
	t.Helper()
	g := newRig(t, cfg)
	f := &flight{op: &op{elem: uint8(width), load: true}, lanes: lanes, path: pathShared}
	g.core.coal.accesses(g.core, f, addr)
	return int(f.delay)
}

// TestConflicts: strides of 1 to 32 words conflict according to their factors of two.
func TestConflicts(t *testing.T) {
	cfg := rtx2060(t)
	for stride := uint64(1); stride <= 64; stride++ {
		want := min(32, 1<<bits.TrailingZeros64(stride))
		if got := passes(t, cfg, 4, isa.FullMask, strided(0, 4*stride)); got != want {
			t.Errorf("stride of %d words: %d passes, want %d", stride, got, want)
		}
	}
	for ways := 1; ways <= 32; ways++ {
		var addr [32]uint64
		for i := range addr {
			addr[i] = uint64(4 * i)
			if i < ways {
				addr[i] = uint64(128 * i)
			}
		}
		if got := passes(t, cfg, 4, isa.FullMask, &addr); got != ways {
			t.Errorf("%d lanes in bank 0: %d passes", ways, got)
		}
	}
	for _, c := range []struct {
		name  string
		edit  func(*Config)
		width int
		addr  *[32]uint64
		want  int
	}{
		{"broadcast", nil, 4, strided(0, 0), 1},
		{"bytes of words", nil, 1, strided(0, 1), 1},
		{"wide, by its first word", nil, 8, strided(0, 8), 2},
		{"wide, all words", func(c *Config) { c.Compat.WordPerLane = false }, 8, strided(0, 8), 2},
		{"wide, all words, conflicts", func(c *Config) { c.Compat.WordPerLane = false }, 8, strided(0, 128), 32},
		{"16 bytes, by the first word", nil, 16, strided(0, 16), 4},
		{"16 bytes, all words", func(c *Config) { c.Compat.WordPerLane = false }, 16, strided(0, 16), 4},
		{"16 banks", func(c *Config) { c.SharedBanks = 16 }, 4, strided(0, 4), 2},
		{"16 banks, half warps", func(c *Config) { c.SharedBanks, c.WarpParts = 16, 2 }, 4, strided(0, 4), 2},
		{"limited broadcast, one word", func(c *Config) { c.LimitedBroadcast = true }, 4, strided(0, 0), 1},
		// Sixteen words of two lanes each: one is broadcast to both lanes, the others
		// are served lane by lane.
		{"limited broadcast, pairs", func(c *Config) { c.LimitedBroadcast = true }, 2, strided(0, 2), 2},
	} {
		cfg := rtx2060(t)
		if c.edit != nil {
			c.edit(&cfg)
		}
		if got := passes(t, cfg, c.width, isa.FullMask, c.addr); got != c.want {
			t.Errorf("%s: %d passes, want %d", c.name, got, c.want)
		}
	}
}

// TestConflictsTwin compares random warps with maps.
func TestConflictsTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	cfg := rtx2060(t)
	for range 500 {
		lanes := isa.LaneMask(r.Uint32() | 1)
		var addr [32]uint64
		words := map[uint64]map[uint64]bool{}
		for i := range addr {
			addr[i] = r.Uint64N(4096) &^ 3
			if lanes>>i&1 == 0 {
				continue
			}
			b := addr[i] / 4 % 32
			if words[b] == nil {
				words[b] = map[uint64]bool{}
			}
			words[b][addr[i]/4] = true
		}
		want := 0
		for _, w := range words {
			want = max(want, len(w))
		}
		if got := passes(t, cfg, 4, lanes, &addr); got != want {
			t.Fatalf("%d passes, want %d for %v", got, want, addr)
		}
	}
}

// TestMark compares the byte masks with the shared one.
func TestMark(t *testing.T) {
	for at := range mem.LineBytes {
		for n := range 140 {
			var got, want mem.ByteMask
			got.Set(at, n)
			want.Set(at, n)
			if got != want {
				t.Fatalf("%d bytes at %d: %x, want %x", n, at, got, want)
			}
		}
	}
}
