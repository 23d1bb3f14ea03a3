package device

import "fmt"

// This file: memory of a graph. It keeps its addresses between launches, and kernels may
// access it only while a launch has it allocated.

// Sleep makes the memory at an address inaccessible to kernels until Wake; the host may
// still prepare copies of it. It does not count as allocated meanwhile, and its contents
// are undefined after that.
func (m *Memory) Sleep(addr uint64) {
	if r := m.before(addr); r != nil && r.Addr == addr && !r.Freed && !r.Dormant {
		r.Dormant = true
		m.live -= r.Size
		m.changed()
	}
}

// Wake undoes Sleep.
func (m *Memory) Wake(addr uint64) error {
	r := m.before(addr)
	if r == nil || r.Addr != addr || r.Freed || !r.Dormant {
		return nil
	}
	if free := m.cfg.Limit - m.live; r.Size > free {
		return fmt.Errorf("cannot allocate %s for %q: device memory is limited to %s, of which %d are left",
			bytesText(r.Size), r.Name, bytesText(m.cfg.Limit), free)
	}
	r.Dormant = false
	m.live += r.Size
	m.changed()
	return nil
}
