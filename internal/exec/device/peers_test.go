package device

import (
	"strings"
	"testing"
)

// pair returns the memories of devices 0 and 1.
func pair() (a, b *Memory) {
	g := &Group{}
	return New(Config{Base: 1 << 32, Top: 2 << 32, Group: g}), New(Config{Base: 2 << 32, Top: 3 << 32, Group: g, Device: 1})
}

// TestPeers: what a device may access of another one's memory, and the words of the fault.
func TestPeers(t *testing.T) {
	for _, c := range []struct {
		name  string
		setup func(a, b *Memory, at uint64)
		write bool
		fault string // "": none
	}{
		{"closed", func(a, b *Memory, at uint64) {}, false, `forbidden read of 4 bytes at 0x200000004: 4 bytes into buffer "x" (64 bytes at 0x200000000) of device 1, which device 0 may not access; cudaDeviceEnablePeerAccess(1, 0) while device 0 is current allows it`},
		{"the other direction is open", func(a, b *Memory, at uint64) { a.Open(1, true) }, true, "forbidden write"},
		{"open", func(a, b *Memory, at uint64) { b.Open(0, true) }, true, ""},
		{"closed again", func(a, b *Memory, at uint64) { b.Open(0, true); b.Open(0, false) }, false, "forbidden"},
		{"granted", func(a, b *Memory, at uint64) { b.Grant(at, 0, true) }, true, ""},
		{"open, and not granted", func(a, b *Memory, at uint64) { b.Open(0, true); b.Grant(at, 0, false) }, false, "cudaMemPoolSetAccess"},
		{"freed", func(a, b *Memory, at uint64) { b.Open(0, true); free(t, b, at) }, false, `use-after-free read of 4 bytes at 0x200000004: 4 bytes into freed buffer "x" (64 bytes at 0x200000000), in the memory of device 1`},
		{"closed memory", func(a, b *Memory, at uint64) { b.Open(0, true); b.Close() }, false, "out-of-bounds"},
		{"the same device's next memory", func(a, b *Memory, at uint64) {
			a.Open(1, true)
			b.Open(0, true)
			b.Close()
			next := New(b.cfg)
			alloc(t, next, 64, "x")
		}, false, "forbidden"},
	} {
		for _, overlay := range []bool{false, true} {
			a, b := pair()
			alloc(t, a, 64, "own")
			at := alloc(t, b, 64, "x")
			v := a.Direct()
			if overlay {
				v = a.NewOverlay()
			}
			b.Open(0, true) // so that the view has a window before the setup
			if v.ReadSpan(at, 4) == nil {
				t.Fatal(c.name, ": no window")
			}
			b.Open(0, false)
			c.setup(a, b, at)
			got := v.ReadSpan(at+4, 4)
			if c.write {
				got = v.WriteSpan(at+4, 4)
			}
			if (got != nil) != (c.fault == "") {
				t.Errorf("%s, overlay %v: access %v", c.name, overlay, got != nil)
			}
			if c.fault == "" {
				copy(got, "abcd")
				v.Commit()
				if own, _ := b.Bytes(at+4, 4); string(own) != "abcd" && c.write {
					t.Errorf("%s, overlay %v: the owner sees %q", c.name, overlay, own)
				}
				continue
			}
			if f := v.Fault(at+4, 4, c.write); f == nil || !strings.Contains(f.Error(), c.fault) {
				t.Errorf("%s: %v; want %s", c.name, f, c.fault)
			}
			if v.Stray(at+4, 4, c.write) != nil {
				t.Errorf("%s: tolerated", c.name)
			}
		}
	}
}

func free(t *testing.T, m *Memory, at uint64) {
	t.Helper()
	if err := m.Free(at); err != nil {
		t.Fatal(err)
	}
}

// TestMappedPeers: memory that is mapped has rights for each device.
func TestMappedPeers(t *testing.T) {
	a, b := pair()
	defer b.Close()
	at, err := b.Reserve(Granule, 0)
	if err != nil {
		t.Skip(err) // not on this system
	}
	h, err := b.Create(Granule)
	if err != nil || b.Map(at, Granule, h) != nil || b.SetAccess(at, Granule, MayWrite) != nil {
		t.Fatal(err)
	}
	b.Open(0, true) // does not count here
	v := a.Direct()
	if f := v.Fault(at, 4, false); f == nil || f.Kind != Forbidden || !strings.Contains(f.Error(), "without access for device 0") {
		t.Errorf("mapped for device 1: %v", f)
	}
	if err := b.SetAccessOf(0, at, Granule, MayRead); err != nil {
		t.Fatal(err)
	}
	if v.ReadSpan(at, 4) == nil || v.WriteSpan(at, 4) != nil || b.Direct().WriteSpan(at, 4) == nil {
		t.Error("device 0 may read, device 1 may write")
	}
	if f := v.Fault(at, 4, true); f == nil || f.Kind != ReadOnlyWrite {
		t.Errorf("a write of device 0: %v", f)
	}
	if err := b.Unmap(at, Granule); err != nil {
		t.Fatal(err)
	}
	if v.ReadSpan(at, 4) != nil {
		t.Error("unmapped memory can be read")
	}
}
