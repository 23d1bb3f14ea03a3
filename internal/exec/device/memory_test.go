package device

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"
	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/isa"
)

// alloc is Alloc for tests in which it must succeed.
func alloc(t testing.TB, m *Memory, size uint64, name string, flags ...Flag) uint64 {
	t.Helper()
	addr, err := m.Alloc(size, name, flags...)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

func TestLayout(t *testing.T) {
	for _, test := range []struct {
		name  string
		cfg   Config
		sizes []uint64
		want  []uint64
	}{
		{"defaults", Config{}, []uint64{1, 4096, 0, 0, 300}, []uint64{
			0xc0000000, 0xc0001100, 0xc0003100, 0xc0004200, 0xc0005300}},
		{"wide gap and alignment", Config{Base: 0x10000, Align: 4096, Gap: 0x10000}, []uint64{1, 4096, 1}, []uint64{
			0x10000, 0x21000, 0x32000}},
		{"base not aligned, gap below the least", Config{Base: 0x10001, Gap: 1}, []uint64{256, 1}, []uint64{
			0x10100, 0x11200}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := New(test.cfg)
			var got []uint64
			for _, size := range test.sizes {
				got = append(got, alloc(t, m, size, "x"))
			}
			if diff := diff.Diff(test.want, got); diff != "" {
				t.Errorf("addresses (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAllocRefuses(t *testing.T) {
	for _, test := range []struct {
		name string
		cfg  Config
		size uint64
		want string
	}{
		{"over the limit", Config{Limit: 1000}, 1001,
			`cannot allocate 1001 bytes for "x": device memory is limited to 1000 bytes, of which 1000 are left`},
		{"huge", Config{}, math.MaxUint64, "device memory is limited to 17179869184 bytes"},
		{"huge with a huge limit", Config{Limit: math.MaxUint64}, math.MaxUint64 - 5000, "the address space from 0xc0000000 to 0x800000000000 is used up"},
		{"more than any computer maps", Config{Limit: math.MaxUint64, Top: math.MaxUint64}, 1 << 60, "this computer does not have enough memory"},
		{"beyond the top", Config{Top: 0xc0001000}, 4097, "is used up"},
		{"base above the top", Config{Base: 1 << 50}, 1, "is used up"},
		{"base at the last address", Config{Base: math.MaxUint64, Top: math.MaxUint64}, 1, "is used up"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := New(test.cfg)
			if _, err := m.Alloc(test.size, "x"); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if n := len(m.Allocations()); n != 0 {
				t.Errorf("a refused allocation left %d allocations behind", n)
			}
		})
	}
	t.Run("freeing gives back", func(t *testing.T) {
		m := New(Config{Limit: 1000})
		a := alloc(t, m, 600, "a")
		if _, err := m.Alloc(600, "b"); err == nil {
			t.Fatal("1200 of 1000 bytes could be allocated")
		}
		if err := m.Free(a); err != nil {
			t.Fatal(err)
		}
		if b := alloc(t, m, 600, "b"); b == a {
			t.Errorf("address 0x%x is in use a second time", b)
		}
		if got := m.Allocated(); got != 600 {
			t.Errorf("%d bytes allocated, want 600", got)
		}
	})
}

// TestAddressesReused: addresses are given out in ascending order until none are left, and
// then those where nothing is allocated, so that an allocation fails only if no gap has
// room for it.
func TestAddressesReused(t *testing.T) {
	alltests.Only(t, "addresses that are used again")
	const base, top, gap = 1 << 32, 1<<32 + 1<<20, DefaultGap
	run := func(seed uint64) (addrs []uint64) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		m := New(Config{Base: base, Top: top})
		own, err := m.AllocSystem(5000, "own")
		if err != nil {
			t.Fatal(err)
		}
		live := []span{{own, own + 5000}} // by ascending address
		fits := func(size uint64) bool {
			lo := uint64(base)
			for _, s := range live {
				if lo+max(size, 1)+gap <= s.lo {
					return true
				}
				lo = (s.end + gap + DefaultAlign - 1) &^ (DefaultAlign - 1)
			}
			return false
		}
		highest := uint64(0)
		wrapped := false
		for i := range 3000 {
			if n := rnd.IntN(len(live)); live[n].lo != own && rnd.IntN(16) < len(live) {
				if err := m.Free(live[n].lo); err != nil {
					t.Fatal(err)
				}
				live = slices.Delete(live, n, n+1)
			}
			size := rnd.Uint64N(1 << rnd.IntN(18))
			addr, err := m.Alloc(size, "x")
			if (err == nil) != fits(size) {
				t.Fatalf("seed %d, allocation %d of %d bytes: %v, among %x", seed, i, size, err, live)
			}
			if err != nil {
				continue
			}
			wrapped = wrapped || addr < highest
			if addrs = append(addrs, addr); !wrapped && addr < highest {
				t.Errorf("seed %d: %#x was given out before %#x", seed, highest, addr)
			}
			highest = max(highest, addr)
			s := span{addr, addr + max(size, 1)}
			at, _ := slices.BinarySearchFunc(live, s, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
			if at > 0 && live[at-1].end+gap > s.lo || at < len(live) && s.end+gap > live[at].lo || s.lo < base || s.end > top {
				t.Fatalf("seed %d, allocation %d: %x among %x", seed, i, s, live)
			}
			live = slices.Insert(live, at, s)
			b, err := m.Bytes(addr, size)
			if err != nil || slices.ContainsFunc(b, func(x byte) bool { return x != 0 }) {
				t.Fatalf("seed %d, allocation %d: %v, or not zero", seed, i, err)
			}
			for j := range b {
				b[j] = 1
			}
			if a, ok := m.Find(addr); !ok || a.Addr != addr || a.Freed {
				t.Fatalf("seed %d, allocation %d at %#x is %v", seed, i, addr, a)
			}
		}
		if !wrapped {
			t.Errorf("seed %d: no address was given out again", seed)
		}
		return addrs
	}
	for seed := range uint64(20) {
		if !slices.Equal(run(seed), run(seed)) {
			t.Errorf("seed %d: the addresses of two runs differ", seed)
		}
	}
}

// TestAddressesReusedByOthers: what else takes addresses finds those that are free again.
func TestAddressesReusedByOthers(t *testing.T) {
	const base = 1 << 32
	m := New(Config{Base: base, Top: base + 16*Granule})
	defer m.Close()
	for i := range 40 {
		addr, err := m.Reserve(5*Granule, 0)
		if err == nil {
			err = m.Unreserve(addr, 5*Granule)
		}
		if err != nil {
			t.Fatalf("reservation %d: %v", i, err)
		}
	}
	x := alloc(t, m, 7*Granule, "x")
	y := alloc(t, m, 7*Granule, "y")
	own, err := m.AllocSystem(Granule, "own")
	if err != nil || own >= x && own < x+7*Granule || own >= y && own < y+7*Granule {
		t.Errorf("the driver's memory is at %#x, %v, beside %#x and %#x", own, err, x, y)
	}
	if err := errors.Join(m.Write(own, []byte{1}), m.Write(x, []byte{2}), m.Write(y, []byte{3})); err != nil {
		t.Error(err)
	}
}

// TestMuchFreed: the host's addresses of freed allocations do not run out either.
func TestMuchFreed(t *testing.T) {
	const size = 1 << 40
	m := New(Config{Limit: size})
	for i := range 300 { // more than processes have addresses: 2^47
		addr := alloc(t, m, size, "large")
		v := m.Direct()
		if x, ok := v.Load64(addr + 64); x != 0 || !ok || !v.Store64(addr+64, 1) {
			t.Fatalf("allocation %d holds %d, %v", i, x, ok)
		}
		if err := m.Free(addr); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSaveLarge: saving a large allocation takes as much room as the pages that were
// touched, and restoring it makes those zero that came later.
func TestSaveLarge(t *testing.T) {
	const size = 1 << 30
	m := New(Config{})
	addr := alloc(t, m, size, "large")
	v := m.Direct()
	put := func(off, x uint64) {
		t.Helper()
		if !v.Store64(addr+off, x) {
			t.Fatalf("offset %#x cannot be written", off)
		}
	}
	put(0, 1)
	put(300<<20, 2)
	put(size-8, 3)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	restore := m.Save()
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 { // three huge pages, and the list
		t.Errorf("saving took %d bytes", n)
	}
	put(0, 11)
	put(16, 12)
	put(500<<20, 13)
	put(size-8, 14)
	restore()
	for off, want := range map[uint64]uint64{0: 1, 16: 0, 300 << 20: 2, 500 << 20: 0, size - 8: 3} {
		if x, ok := m.Direct().Load64(addr + off); x != want || !ok {
			t.Errorf("offset %#x holds %d, want %d", off, x, want)
		}
	}
	restore = m.Save()
	if err := m.Free(addr); err != nil {
		t.Fatal(err)
	}
	restore() // what was freed meanwhile stays away
}

// TestSaveAgain: a Save uses the storage of the one before it, also when allocations have come and gone.
func TestSaveAgain(t *testing.T) {
	m := New(Config{})
	var addrs [3]uint64
	for i := range addrs {
		var err error
		if addrs[i], err = m.Alloc(256<<10, "a"); err != nil {
			t.Fatal(err)
		}
	}
	v := m.Direct()
	m.Save()
	for i, c := range []struct {
		edit func() error
		most uint64 // bytes that the save takes
	}{
		{func() error { return nil }, 64 << 10},
		{func() error { return m.Free(addrs[0]) }, 64 << 10},
		{func() error { _, err := m.Alloc(256<<10, "b"); return err }, 320 << 10},
	} {
		if err := c.edit(); err != nil {
			t.Fatal(err)
		}
		v.Store64(addrs[1], 1)
		v.Store64(addrs[2]+8, 2)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		restore := m.Save()
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > c.most {
			t.Errorf("save %d took %d bytes", i, n)
		}
		v.Store64(addrs[1], 3)
		v.Store64(addrs[2]+8, 4)
		restore()
		for addr, want := range map[uint64]uint64{addrs[1]: 1, addrs[2] + 8: 2} {
			if x, ok := m.Direct().Load64(addr); x != want || !ok {
				t.Errorf("save %d: %#x holds %d, want %d", i, addr, x, want)
			}
		}
	}
}

// TestLazy: a program may allocate more than this computer has; only what it writes takes
// room, and what it frees gives it back.
func TestLazy(t *testing.T) {
	const size = 200 << 30
	m := New(Config{Limit: size})
	for range 5 {
		addr, err := m.Alloc(size, "large")
		if err != nil {
			t.Fatal(err)
		}
		v := m.Direct()
		if x, ok := v.Load64(addr + size - 8); x != 0 || !ok {
			t.Errorf("new memory holds %d, %v", x, ok)
		}
		if !v.Store64(addr+size-8, 42) {
			t.Fatal("the last word cannot be written")
		}
		if x, ok := v.Load64(addr + size - 8); x != 42 || !ok {
			t.Errorf("read back %d, %v", x, ok)
		}
		if err := m.Free(addr); err != nil {
			t.Fatal(err)
		}
		if _, ok := m.Direct().Load64(addr + size - 8); ok {
			t.Error("freed memory can be read")
		}
	}
}

func TestFree(t *testing.T) {
	m := New(Config{})
	a := alloc(t, m, 100, "a")
	z := alloc(t, m, 0, "z")
	for _, test := range []struct {
		addr uint64
		want string // "" if it must succeed
	}{
		{0, "no allocation begins there"},
		{a - 1, "no allocation begins there"},
		{a + 1, `it is 1 byte into buffer "a" (100 bytes at 0xc0000000)`},
		{a + 100, "no allocation begins there"},
		{a, ""},
		{a, `buffer "a" (100 bytes at 0xc0000000) is already freed`},
		{z, ""},
		{z, "is already freed"},
	} {
		err := m.Free(test.addr)
		if test.want == "" {
			if err != nil {
				t.Errorf("Free(0x%x): %v", test.addr, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Free(0x%x): %v, want %q", test.addr, err, test.want)
		}
	}
}

func TestHostAccess(t *testing.T) {
	m := New(Config{})
	a := alloc(t, m, 8, "a")
	c := alloc(t, m, 8, "c", ReadOnly)
	for _, addr := range []uint64{a, c} {
		if err := m.Write(addr+2, []byte{1, 2, 3}); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 8)
		if err := m.Read(addr, got); err != nil {
			t.Fatal(err)
		}
		if want := []byte{0, 0, 1, 2, 3, 0, 0, 0}; !bytes.Equal(got, want) {
			t.Errorf("read % x, want % x", got, want)
		}
		b, err := m.Bytes(addr+4, 4)
		if err != nil || len(b) != 4 || cap(b) != 4 || b[0] != 3 {
			t.Errorf("Bytes: % x (capacity %d), %v", b, cap(b), err)
		}
		for _, bad := range []struct{ addr, n uint64 }{{addr, 9}, {addr + 8, 1}, {addr - 1, 2}, {addr + 1, math.MaxUint64}} {
			var f *Fault
			if _, err := m.Bytes(bad.addr, bad.n); !errors.As(err, &f) || f.Kind != OutOfBounds {
				t.Errorf("Bytes(0x%x, %d): %v", bad.addr, bad.n, err)
			}
		}
		if err := m.Write(addr+4, make([]byte, 5)); err == nil || !strings.HasPrefix(err.Error(), "out-of-bounds write of 5 bytes") {
			t.Errorf("Write across the end: %v", err)
		}
	}
	if err := m.Read(12345, nil); err != nil {
		t.Errorf("reading nothing: %v", err)
	}
}

func TestFindAndNearest(t *testing.T) {
	m := New(Config{Base: 0x100000})
	if got := m.Nearest(5); got != (Allocation{}) {
		t.Errorf("nearest of nothing is %v", got)
	}
	a := alloc(t, m, 0x100, "a") // 0x100000
	b := alloc(t, m, 0, "b")     // 0x101100
	c := alloc(t, m, 0x10, "c")  // 0x102200
	for _, test := range []struct {
		addr    uint64
		find    string
		nearest string
	}{
		{0, "", "a"}, {a - 1, "", "a"}, {a, "a", "a"}, {a + 0xff, "a", "a"}, {a + 0x100, "", "a"},
		{a + 0x100 + 0x7ff, "", "a"}, {a + 0x100 + 0x800, "", "a"}, {a + 0x100 + 0x801, "", "b"},
		{b, "b", "b"}, {b + 1, "", "b"}, {c - 1, "", "c"}, {c + 0xf, "c", "c"}, {math.MaxUint64, "", "c"},
	} {
		got, ok := m.Find(test.addr)
		if got.Name != test.find || ok != (test.find != "") {
			t.Errorf("Find(0x%x) = %v, %v, want %q", test.addr, got, ok, test.find)
		}
		if got := m.Nearest(test.addr); got.Name != test.nearest {
			t.Errorf("Nearest(0x%x) = %v, want %q", test.addr, got, test.nearest)
		}
	}
}

func TestSymbols(t *testing.T) {
	m := New(Config{})
	a := alloc(t, m, 100, "module")
	define := func(name string, addr, size uint64, want string) {
		t.Helper()
		err := m.Define(name, addr, size)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("Define(%q): %v, want %q", name, err, want)
		}
	}
	define("y", a+50, 50, "")
	define("x", a, 50, "")
	define("x", a, 4, `symbol "x" is already defined (50 bytes at 0xc0000000)`)
	define("late", a+50, 51, "51 bytes at 0xc0000032 are not inside one allocation")
	define("nowhere", 16, 1, "not inside one allocation")
	if s, ok := m.Symbol("y"); !ok || s != (Symbol{"y", a + 50, 50}) {
		t.Errorf("Symbol(y) = %v, %v", s, ok)
	}
	if _, ok := m.Symbol("z"); ok {
		t.Error("an unknown symbol is known")
	}
	if diff := diff.Diff([]Symbol{{"x", a, 50}, {"y", a + 50, 50}}, m.Symbols()); diff != "" {
		t.Errorf("Symbols (-want +got):\n%s", diff)
	}
}

func TestFaults(t *testing.T) {
	m := New(Config{})
	empty := New(Config{})
	a := alloc(t, m, 4096, "a")             // 0xc0000000
	c := alloc(t, m, 64, "table", ReadOnly) // 0xc0002000
	gone := alloc(t, m, 64, "gone")         // 0xc0003100
	zero := alloc(t, m, 0, "z")             // 0xc0004200
	low := New(Config{Base: 4096})          // allocations may begin low
	inLow, _ := low.Alloc(64, "low")        // 0x1000
	if err := m.Free(gone); err != nil {
		t.Fatal(err)
	}
	const R, W = false, true
	for _, test := range []struct {
		name  string
		m     *Memory
		addr  uint64
		size  int
		write bool
		kind  FaultKind
		want  string
	}{
		{"past the end", m, a + 4096 + 16, 4, R, OutOfBounds,
			`out-of-bounds read of 4 bytes at 0xc0001010: 16 bytes past the end of buffer "a" (4096 bytes at 0xc0000000)`},
		{"at the end", m, a + 4096, 8, W, OutOfBounds,
			`out-of-bounds write of 8 bytes at 0xc0001000: just past the end of buffer "a" (4096 bytes at 0xc0000000)`},
		{"across the end", m, a + 4094, 4, W, OutOfBounds,
			`out-of-bounds write of 4 bytes at 0xc0000ffe: reaching 2 bytes past the end of buffer "a" (4096 bytes at 0xc0000000)`},
		{"one byte across the end", m, a + 4095, 2, W, OutOfBounds,
			`out-of-bounds write of 2 bytes at 0xc0000fff: reaching 1 byte past the end of buffer "a" (4096 bytes at 0xc0000000)`},
		{"before", m, a - 4, 4, R, OutOfBounds,
			`out-of-bounds read of 4 bytes at 0xbffffffc: 4 bytes before buffer "a" (4096 bytes at 0xc0000000)`},
		{"null", m, 0, 4, R, NullPointer, `null-pointer read of 4 bytes at 0x0: a null pointer`},
		{"near null", m, 40, 4, W, NullPointer, `null-pointer write of 4 bytes at 0x28: a null pointer plus 40 bytes`},
		{"far away", m, math.MaxUint64, 4, R, OutOfBounds,
			`out-of-bounds read of 4 bytes at 0xffffffffffffffff: 18446744070488309247 bytes past the end of buffer "z" (0 bytes at 0xc0004200)`},
		{"read-only", m, c + 8, 4, W, ReadOnlyWrite,
			`write of 4 bytes to read-only memory at 0xc0002008: 8 bytes into read-only buffer "table" (64 bytes at 0xc0002000)`},
		{"read-only, across the end", m, c + 62, 4, W, OutOfBounds,
			`out-of-bounds write of 4 bytes at 0xc000203e: reaching 2 bytes past the end of read-only buffer "table" (64 bytes at 0xc0002000)`},
		{"use after free", m, gone + 4, 4, R, UseAfterFree,
			`use-after-free read of 4 bytes at 0xc0003104: 4 bytes into freed buffer "gone" (64 bytes at 0xc0003100)`},
		{"past a freed one", m, gone + 68, 4, R, OutOfBounds,
			`out-of-bounds read of 4 bytes at 0xc0003144: 4 bytes past the end of buffer "gone" (64 bytes at 0xc0003100), which has been freed`},
		{"empty buffer", m, zero, 1, R, OutOfBounds,
			`out-of-bounds read of 1 byte at 0xc0004200: just past the end of buffer "z" (0 bytes at 0xc0004200)`},
		{"misaligned", m, a + 6, 4, R, Misaligned,
			`misaligned read of 4 bytes at 0xc0000006: the address must be a multiple of 4; it is 6 bytes into buffer "a" (4096 bytes at 0xc0000000)`},
		{"nothing", empty, 0xc0000000, 4, R, OutOfBounds, `out-of-bounds read of 4 bytes at 0xc0000000: nothing is allocated`},
		{"low memory is not null", low, inLow + 62, 4, R, OutOfBounds,
			`out-of-bounds read of 4 bytes at 0x103e: reaching 2 bytes past the end of buffer "low" (64 bytes at 0x1000)`},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, v := range []*View{test.m.Direct(), test.m.NewOverlay()} {
				f := v.Fault(test.addr, test.size, test.write)
				if f == nil {
					t.Fatal("no fault")
				}
				if f.Kind != test.kind || f.Error() != test.want {
					t.Errorf("%v:\n got %v\nwant %s", f.Kind, f, test.want)
				}
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		v := m.Direct()
		for _, size := range []int{0, 1, 2, 3, 4, 12, 16} {
			if f := v.Fault(a+48, size, true); f != nil {
				t.Errorf("legal access of %d bytes: %v", size, f)
			}
		}
	})
	t.Run("of another space", func(t *testing.T) {
		f := &Fault{Kind: Misaligned, Addr: 2, Size: 4, Space: isa.Shared, Detail: "the address must be a multiple of 4"}
		if got, want := f.Error(), "misaligned read of 4 bytes at shared address 0x2: the address must be a multiple of 4"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// TestManyFrees: the number of freed allocations remembered is bounded; their addresses stay
// dead.
func TestManyFrees(t *testing.T) {
	m := New(Config{})
	kept, err := m.Alloc(16, "kept")
	if err != nil {
		t.Fatal(err)
	}
	var first, last uint64
	for i := range 2*maxFreed + 1 {
		last, err = m.Alloc(16, "gone")
		if err == nil {
			err = m.Free(last)
		}
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = last
		}
	}
	if n := len(m.Allocations()); n > maxFreed+1 {
		t.Errorf("%d allocations are remembered", n)
	}
	for _, c := range []struct {
		name string
		addr uint64
		ok   bool
	}{{"kept", kept, true}, {"freed first", first, false}, {"freed last", last, false}} {
		if _, err := m.Bytes(c.addr, 16); (err == nil) != c.ok {
			t.Errorf("access to the one that was %s: %v", c.name, err)
		}
	}
	if err := m.Free(last); err == nil || !strings.Contains(err.Error(), "already freed") {
		t.Errorf("freed again: %v", err)
	}
	if err := m.Free(kept); err != nil {
		t.Error(err)
	}
}

// TestSaveHeap: what kernels get from the device heap is undone too, also if the heap was not
// there before.
func TestSaveHeap(t *testing.T) {
	m := New(Config{Heap: 1 << 20})
	take := func() uint64 {
		t.Helper()
		addr, ok := m.HeapAlloc(100)
		if !ok {
			t.Fatal("no room")
		}
		return addr
	}
	restore := m.Save()
	a := take()
	restore()
	if b := take(); b != a {
		t.Errorf("before the heap: %#x, want %#x again", b, a)
	}
	restore = m.Save()
	if err := m.HeapFree(a); err != nil {
		t.Fatal(err)
	}
	restore()
	if b := take(); b == a {
		t.Errorf("%#x is handed out twice", b)
	}
	if err := m.HeapFree(a); err != nil {
		t.Errorf("it cannot be freed again: %v", err)
	}
}
