package device

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func heapAlloc(t testing.TB, m *Memory, size uint64) uint64 {
	t.Helper()
	addr, ok := m.HeapAlloc(size)
	if !ok {
		t.Fatalf("HeapAlloc(%d) failed", size)
	}
	return addr
}

func TestHeap(t *testing.T) {
	m := New(Config{Heap: 256})
	a := heapAlloc(t, m, 1)
	b := heapAlloc(t, m, 17)
	c := heapAlloc(t, m, 0)
	if b != a+16 || c != b+32 {
		t.Errorf("blocks at +0, +%d, +%d, want +0, +16, +48", b-a, c-a)
	}
	if err := m.HeapFree(b); err != nil {
		t.Error(err)
	}
	if got := heapAlloc(t, m, 33); got != c+16 {
		t.Errorf("33 bytes at +%d, want +64: the gap of 32 is too small", got-a)
	}
	if got := heapAlloc(t, m, 16); got != b {
		t.Errorf("16 bytes at +%d, want +16, the first gap", got-a)
	}
	if _, ok := m.HeapAlloc(257); ok {
		t.Error("more than the arena was handed out")
	}
	if _, ok := m.HeapAlloc(1 << 63); ok {
		t.Error("half of the address space was handed out")
	}
	if err := m.SetHeapSize(1 << 20); err == nil {
		t.Error("the arena changed its size while in use")
	}
	for _, test := range []struct {
		addr uint64
		want string // "" if it must succeed
	}{
		{0, ""},
		{a, ""},
		{a, "double free"},
		{b + 8, "it is 8 bytes into the block of 16 bytes"},
		{b + 16, "no block of the device heap begins there"},
		{c + 16 + 16, "it is 16 bytes into the block of 33 bytes"},
		{12345, "not on the device heap"},
	} {
		err := m.HeapFree(test.addr)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("HeapFree(0x%x): %v, want %q", test.addr, err, test.want)
		}
	}
	if err := m.Free(a); err == nil {
		t.Error("the host freed the arena")
	}
	if err := New(Config{}).HeapFree(16); err == nil {
		t.Error("a block was freed on a heap that was never used")
	}
}

func TestHeapLimits(t *testing.T) {
	if _, ok := New(Config{Heap: 8}).HeapAlloc(1); ok {
		t.Error("a heap too small for one block gave one")
	}
	if _, ok := New(Config{Limit: 1000, Heap: 2000}).HeapAlloc(1); ok {
		t.Error("a heap larger than memory gave a block")
	}
	m := New(Config{})
	if err := m.SetHeapSize(32); err != nil {
		t.Fatal(err)
	}
	heapAlloc(t, m, 32)
	if _, ok := m.HeapAlloc(0); ok {
		t.Error("a full heap gave a block")
	}
}

// TestHeapAccess checks accesses through views: blocks are as strict as allocations, also
// after successful accesses.
func TestHeapAccess(t *testing.T) {
	for _, kind := range []string{"direct", "overlay"} {
		t.Run(kind, func(t *testing.T) {
			m := New(Config{Heap: 1024})
			v := m.Direct()
			if kind == "overlay" {
				v = m.NewOverlay()
			}
			a := heapAlloc(t, m, 20)
			b := heapAlloc(t, m, 32)
			if !v.Store32(a+16, 7) || !v.Store32(b, 8) {
				t.Fatal("a block cannot be written")
			}
			if x, ok := v.Load32(a + 16); x != 7 || !ok {
				t.Fatalf("read back %d, %v", x, ok)
			}
			check := func(addr uint64, size int, kind FaultKind, want string) {
				t.Helper()
				if v.ReadSpan(addr, size) != nil || v.WriteSpan(addr, size) != nil {
					t.Errorf("0x%x can be accessed", addr)
				}
				f := v.Fault(addr, size, false)
				if f == nil || f.Kind != kind || !strings.Contains(f.Error(), want) {
					t.Errorf("0x%x: %v, want %q", addr, f, want)
				}
			}
			check(a+20, 4, OutOfBounds, fmt.Sprintf("just past the end of the block of 20 bytes at 0x%x on the device heap", a))
			check(a+16, 8, OutOfBounds, "reaching 4 bytes past the end of the block of 20 bytes")
			check(b+32, 4, OutOfBounds, "in a part that was never allocated")
			if err := m.HeapFree(a); err != nil {
				t.Fatal(err)
			}
			check(a+16, 4, UseAfterFree, "in a freed block")
			if x, ok := v.Load32(b); x != 8 || !ok {
				t.Errorf("the other block reads %d, %v", x, ok)
			}
		})
	}
}

// TestHeapFirstFit compares the heap with a map of its grains.
func TestHeapFirstFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const grains = 40
		m := New(Config{Heap: grains * heapGrain})
		var used [grains]bool
		var base uint64
		sizes := map[uint64]uint64{}
		var order []uint64 // live blocks
		t.Repeat(map[string]func(*rapid.T){
			"alloc": func(t *rapid.T) {
				size := rapid.Uint64Range(0, 10*heapGrain).Draw(t, "size")
				need := int(max(size+heapGrain-1, heapGrain) / heapGrain)
				want := -1
			search:
				for first := 0; first+need <= grains; first++ {
					for i := range need {
						if used[first+i] {
							continue search
						}
					}
					want = first
					break
				}
				addr, ok := m.HeapAlloc(size)
				if base == 0 {
					base = addr
				}
				if ok != (want >= 0) || ok && addr != base+uint64(want)*heapGrain {
					t.Fatalf("HeapAlloc(%d) = +%d, %v; want grain %d", size, addr-base, ok, want)
				}
				if ok {
					for i := range need {
						used[want+i] = true
					}
					sizes[addr] = size
					order = append(order, addr)
				}
			},
			"free": func(t *rapid.T) {
				if len(order) == 0 {
					t.Skip("nothing to free")
				}
				i := rapid.IntRange(0, len(order)-1).Draw(t, "which")
				addr := order[i]
				order = append(order[:i], order[i+1:]...)
				if err := m.HeapFree(addr); err != nil {
					t.Fatal(err)
				}
				if err := m.HeapFree(addr); err == nil || !strings.Contains(err.Error(), "double free") {
					t.Fatalf("second free: %v", err)
				}
				first := int(addr-base) / heapGrain
				for i := range int(max(sizes[addr]+heapGrain-1, heapGrain) / heapGrain) {
					used[first+i] = false
				}
				delete(sizes, addr)
			},
			"": func(t *rapid.T) {
				if base == 0 {
					return
				}
				v := m.Direct()
				at := rapid.Uint64Range(0, grains*heapGrain-1).Draw(t, "at")
				want := false
				for _, addr := range order {
					want = want || base+at-addr < sizes[addr]
				}
				if got := v.CheckRead(base+at, 1); got != want {
					t.Fatalf("byte +%d legal: %v, want %v", at, got, want)
				}
			},
		})
	})
}

func BenchmarkHeap(b *testing.B) {
	m := New(Config{})
	var addrs [1024]uint64
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		slot := &addrs[i*769%len(addrs)]
		if *slot != 0 {
			if err := m.HeapFree(*slot); err != nil {
				b.Fatal(err)
			}
		}
		*slot, _ = m.HeapAlloc(uint64(16 + i%7*16))
	}
}
