package device

import (
	"bytes"
	"slices"
	"testing"
)

// TestAdopt: adopted host bytes are device memory, besides what Alloc gives out, until they
// are freed.
func TestAdopt(t *testing.T) {
	const top = 1 << 40
	const base = 1 << 30
	m := New(Config{Base: base, Top: top})
	first, err := m.Alloc(16, "first")
	if err != nil {
		t.Fatal(err)
	}
	high, low := []byte("high bytes"), []byte("low bytes")
	for _, c := range []struct {
		what string
		addr uint64
		data []byte
		ok   bool
	}{
		{"high", top + 8192, high, true},
		{"below it", top, low, true},
		{"where Alloc gives out", top - 1, low, false},
		{"where Alloc begins", base - 1, low, false},
		{"before that", base - 9, []byte("below all"), true},
		{"what a null pointer reaches", 100, low, false},
		{"nothing", top + 100, nil, false},
		{"over the end of another", top + 4, low, false},
		{"over the start of another", top + 8191, low, false},
		{"around another", top + 8190, make([]byte, 100), false},
		{"beyond all addresses", ^uint64(3), low, false},
	} {
		if err := m.Adopt(c.addr, c.data, c.what); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	second, err := m.Alloc(16, "second") // after the first, before the others
	if err != nil || second <= first || second >= top {
		t.Fatalf("%#x, %v", second, err)
	}
	v := m.Direct()
	if !v.WriteBytes(top+8192, []byte("HIGH")) || string(high) != "HIGH bytes" {
		t.Errorf("the host sees %q", high)
	}
	copy(low, "LOW")
	if got := v.ReadSpan(top, len(low)); !bytes.Equal(got, low) {
		t.Errorf("the device sees %q", got)
	}
	o := m.NewOverlay()
	if !o.WriteBytes(top+8192, []byte("over")) || string(high) != "HIGH bytes" {
		t.Errorf("before the commit: %q", high)
	}
	if o.Commit(); string(high) != "over bytes" {
		t.Errorf("after the commit: %q", high)
	}
	var names []string
	for _, a := range m.Allocations() {
		names = append(names, a.Name)
	}
	if !slices.Equal(names, []string{"before that", "first", "second", "below it", "high"}) {
		t.Errorf("%q", names)
	}
	if a := m.Nearest(top + 12); a.Name != "below it" {
		t.Errorf("nearest: %v", a)
	}
	if n := m.Allocated(); n != 32 {
		t.Errorf("%d bytes count for the limit", n)
	}
	if err := m.Free(top); err != nil {
		t.Fatal(err)
	}
	if v.ReadSpan(top, 1) != nil || m.Free(top) == nil {
		t.Error("it is there after it was freed")
	}
	if !v.WriteBytes(second, []byte{1}) || !v.WriteBytes(top+8192, []byte{1}) || m.Allocated() != 32 {
		t.Error("another one went with it")
	}
	if err := m.Adopt(top+4, low, "again"); err != nil {
		t.Error(err)
	}
}

// TestNeighboursInAPage: what overlays write to allocations within the same kilobyte reaches
// each of them: variables of the host, and allocations without gaps.
func TestNeighboursInAPage(t *testing.T) {
	packed := New(Config{Packed: true})
	shared := New(Config{Top: 1 << 40})
	for _, c := range []struct {
		name  string
		m     *Memory
		alloc func(i int) (uint64, error)
	}{
		{"allocations without gaps", packed, func(int) (uint64, error) { return packed.Alloc(16, "b") }},
		{"variables of the host", shared, func(i int) (uint64, error) {
			at := uint64(1<<40 + 4*i)
			return at, shared.Adopt(at, make([]byte, 4), "v")
		}},
	} {
		v := c.m.NewOverlay()
		var at []uint64
		for i := range 8 {
			a, err := c.alloc(i)
			if err != nil {
				t.Fatal(err)
			}
			at = append(at, a)
			v.Store32(a, uint64(100+i))
		}
		for _, when := range []string{"before the commit", "after it"} {
			for i, a := range at {
				if got, ok := v.Load32(a); !ok || got != uint64(100+i) {
					t.Errorf("%s, number %d %s: %d, %v; want %d", c.name, i, when, got, ok, 100+i)
				}
			}
			v.Commit()
		}
	}
}
