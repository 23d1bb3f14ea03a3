package device

import (
	"strings"
	"testing"
)

// TestSleep: what kernels and the host may do with memory of a graph between its launches.
func TestSleep(t *testing.T) {
	m := New(Config{Base: 1 << 20, Limit: 1024})
	addr, err := m.Alloc(1000, "graph")
	if err != nil {
		t.Fatal(err)
	}
	v := m.Direct()
	if v.WriteSpan(addr, 4) == nil {
		t.Error("live memory cannot be written")
	}
	m.Sleep(addr)
	m.Sleep(addr) // has no effect
	if v.WriteSpan(addr, 4) != nil || v.ReadSpan(addr, 4) != nil || v.Stray(addr, 4, true) != nil || v.Stray(addr+1000, 4, false) != nil {
		t.Error("kernels access dormant memory")
	}
	f := v.Fault(addr+8, 4, true)
	if f.Kind != UseAfterFree || !strings.Contains(f.Error(), `8 bytes into buffer "graph"`) || !strings.Contains(f.Error(), "no launch of its graph has allocated") {
		t.Errorf("the fault is %v", f)
	}
	if _, err := m.WritableBytes(addr, 1000); err != nil || m.Allocated() != 0 {
		t.Errorf("the host: %v; %d bytes are allocated", err, m.Allocated())
	}
	other, err := m.Alloc(100, "other")
	if err != nil || other < addr+1000 && other+100 > addr {
		t.Errorf("another allocation at %#x, with dormant memory at %#x: %v", other, addr, err)
	}
	if err := m.Wake(addr); err == nil || !strings.Contains(err.Error(), "924 are left") {
		t.Errorf("waking beyond the limit: %v", err)
	}
	if err := m.Free(other); err != nil {
		t.Fatal(err)
	}
	if err := m.Wake(addr); err != nil || v.ReadSpan(addr, 4) == nil || m.Allocated() != 1000 {
		t.Errorf("awake again: %v, %d bytes", err, m.Allocated())
	}
	m.Sleep(addr)
	if err := m.Free(addr); err != nil || m.Allocated() != 0 {
		t.Errorf("freed while dormant: %v, %d bytes", err, m.Allocated())
	}
	if m.Wake(addr) != nil || v.ReadSpan(addr, 4) != nil {
		t.Error("freed memory wakes")
	}
}
