package device

import "fmt"

// This file: the memories of several devices. Their addresses do not overlap, so an
// address says whose memory it is. A device reaches the memory of another one only where
// that is open to it; what host and device share, every memory adopts for itself.

// MaxDevices is the number of devices that a group can have, our choice: the largest
// machines with one address space for all GPUs, NVIDIA's HGX-2 and DGX-2, have sixteen.
const MaxDevices = 16

// devices is a set of devices, a bit for each.
type devices uint16

func (s *devices) set(device int, in bool) {
	*s &^= 1 << device
	if in {
		*s |= 1 << device
	}
}

func (s devices) has(device int) bool { return s>>device&1 != 0 }

// Group is the memories of the devices of one machine, which find each other through it.
// The zero value is an empty one.
type Group struct {
	by [MaxDevices]*Memory // nil where a device has none at present
}

// join adds a memory to its group.
func (m *Memory) join() {
	if g := m.cfg.Group; g != nil {
		g.by[m.cfg.Device] = m
	}
}

// leave takes a memory out of its group: its addresses are nobody's.
func (m *Memory) leave() {
	g := m.cfg.Group
	if g == nil || g.by[m.cfg.Device] != m {
		return
	}
	m.changed()
	g.by[m.cfg.Device] = nil
	for _, p := range g.by {
		if p != nil {
			p.guests.set(m.cfg.Device, false)
		}
	}
}

// changed makes the views of all devices drop their windows.
func (m *Memory) changed() {
	m.gen++
	if g := m.cfg.Group; g != nil {
		for _, p := range g.by {
			if p != nil && p != m {
				p.gen++
			}
		}
	}
}

// home returns the memory that an address belongs to: m, unless it is another device's.
func (m *Memory) home(addr uint64) *Memory {
	g := m.cfg.Group
	if g == nil || addr >= m.cfg.Base && addr < m.cfg.Top {
		return m
	}
	for _, p := range g.by {
		if p != nil && addr >= p.cfg.Base && addr < p.cfg.Top {
			return p
		}
	}
	return m
}

// Open opens the memory to the kernels of another device, or closes it: all that Alloc
// has made and will make, except where Grant says otherwise.
func (m *Memory) Open(device int, yes bool) {
	m.guests.set(device, yes)
	m.changed()
}

// Grant opens one allocation to the kernels of another device, or closes it. From then on
// Open has no effect on it.
func (m *Memory) Grant(addr uint64, device int, yes bool) {
	if r := m.before(addr); r != nil && r.Addr == addr && !r.Freed {
		r.apart = true
		r.guests.set(device, yes)
		m.changed()
	}
}

// opens reports whether a device may access a region. Reserved addresses have rights for
// each device, piece by piece.
func (m *Memory) opens(r *region, device int) bool {
	switch {
	case device == m.cfg.Device || r.Flags&reserved != 0:
		return true
	case r.Flags&(arena|system) != 0:
		return false
	case r.apart:
		return r.guests.has(device)
	}
	return m.guests.has(device)
}

// explainPeer is explain for an address of another device's memory.
func (m *Memory) explainPeer(p *Memory, addr, size uint64, write bool) *Fault {
	f := p.explain(addr, size, write, m.cfg.Device)
	r := p.before(addr)
	if r == nil || !r.Contains(addr) || r.Freed || p.opens(r, m.cfg.Device) {
		f.Detail += fmt.Sprintf(", in the memory of device %d", p.cfg.Device)
		return f
	}
	f.Kind = Forbidden
	how := fmt.Sprintf("cudaDeviceEnablePeerAccess(%d, 0) while device %d is current allows it", p.cfg.Device, m.cfg.Device)
	switch {
	case r.apart:
		how = "cudaMemPoolSetAccess allows it for its pool"
	case r.Flags&arena != 0:
		how = "nothing allows it for the device heap"
	}
	f.Detail = fmt.Sprintf("%s into %v of device %d, which device %d may not access; %s", bytesText(addr-r.Addr), r.Allocation, p.cfg.Device, m.cfg.Device, how)
	return f
}
