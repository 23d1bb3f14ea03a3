package device

// This file: memory between allocations. A GPU maps memory in pages of 2 MiB and only
// checks that a page is mapped. There are therefore accessible bytes before, after and
// between allocations, which programs read and write by mistake without failing. These
// bytes exist here too, for callers that ask for them (View.Stray): writes to them can
// be read back. They belong to no allocation, so such a write damages none. On a GPU it
// may, since other allocations lie there; which ones depends on the driver.

// Granule is the distance from an allocation within which an access may still find a
// page mapped: NVIDIA's drivers map memory in pages of 2 MiB (the result of
// cuMemGetAllocationGranularity). Where in its page an allocation lies depends on the
// driver, so both sides count.
const Granule = 2 << 20

// hostPage is the unit in which host memory is mapped. Memory outside an adopted
// region's pages may have been given back, and is not written.
const hostPage = 4096

// tailAlign is the size to which allocations of Alloc are rounded up: if a size is not
// a multiple, the bytes after it are contiguous with those before. No allocation
// begins there (DefaultAlign is the minimum alignment).
const tailAlign = DefaultAlign

// mapped reports whether a GPU would have memory for an access that is not wholly
// inside one allocation. Freed and read-only allocations do not count. Blocks of the
// device heap cannot be written beyond their ends: on a GPU the heap's own records lie
// there.
func (m *Memory) mapped(addr, size uint64, write bool) bool {
	n := m.Nearest(addr)
	switch {
	case m.home(addr) != m: // what lies around the allocations of another device is nobody's
		return false
	case n.Size == 0 || n.Freed || n.Dormant || n.Flags&reserved != 0 || addr < nullPage && !n.Contains(addr):
		return false
	case n.Flags&arena != 0 && n.Contains(addr):
		return !write && m.explain(addr, size, write, m.cfg.Device).Kind == OutOfBounds
	}
	if n.Flags&adopted != 0 && write {
		end := n.Addr + n.Size
		return addr >= n.Addr&^(hostPage-1) && addr < end+(-end&(hostPage-1))
	}
	return addr+size+Granule > n.Addr && addr < n.Addr+n.Size+Granule
}

// around returns the extent that holds the bytes of a stray access: an allocation with
// the bytes up to its rounded size, or a page of the memory between allocations. It
// returns false if the access spans both kinds.
func (m *Memory) around(addr, size uint64, write bool) (extent, bool) {
	r, next := m.before(addr), 0
	if r != nil {
		next = r.index + 1
		if off := addr - r.Addr; off < r.reach || off < r.Size {
			e := extent{r: r, lo: r.Addr, size: r.reach}
			protected := write && r.ReadOnly() && off < r.Size
			return e, !r.Freed && !r.Dormant && r.Flags&(arena|reserved) == 0 && !protected && e.holds(addr, size)
		}
	}
	if next < len(m.regions) && m.regions[next].Addr-addr < size || addr%pageSize+size > pageSize {
		return extent{}, false
	}
	m.slackMu.Lock()
	defer m.slackMu.Unlock()
	base := addr &^ (pageSize - 1)
	return extent{r: m.slackPage(base), lo: base, size: pageSize}, true
}

// slackPage returns the page of memory between allocations at an address.
func (m *Memory) slackPage(base uint64) *region {
	s := m.slack[base]
	if s == nil {
		s = &region{Allocation: Allocation{Addr: base, Size: pageSize}, data: make([]byte, pageSize), reach: pageSize, index: -1}
		if m.slack == nil {
			m.slack = map[uint64]*region{}
		}
		m.slack[base] = s
	}
	return s
}

// Stray returns the bytes of an access that is not wholly inside one allocation, nil
// if a GPU would have no memory there; Fault describes what is wrong in either case.
// The caller fills the bytes that it writes immediately, as with WriteSpan. A write
// must not cross a kilobyte; no shorter aligned write does.
func (v *View) Stray(addr uint64, size int, write bool) []byte {
	v.settle()
	n := uint64(size)
	if size <= 0 || !v.mem.mapped(addr, n, write) {
		return nil
	}
	if e, ok := v.mem.around(addr, n, write); ok {
		return v.strayIn(&e, addr, size, write)
	}
	if write {
		return nil
	}
	b := make([]byte, size)
	for k := range b {
		at := addr + uint64(k)
		if p := v.ReadSpan(at, 1); p != nil {
			b[k] = p[0]
		} else if e, ok := v.mem.around(at, 1, false); ok {
			b[k] = v.strayIn(&e, at, 1, false)[0]
		}
	}
	return b
}

// strayIn is Stray within an extent. It leaves no window, so the next access also
// takes this path.
func (v *View) strayIn(e *extent, addr uint64, size int, write bool) []byte {
	off := addr - e.lo
	switch {
	case v.overlay == nil:
		return e.bytes()[off : off+uint64(size) : off+uint64(size)]
	case !write:
		return v.overlay.gather(e, addr, size)
	case addr%pageSize+uint64(size) > pageSize:
		return nil
	}
	p := v.own(e.r, addr)
	at := addr - p.base
	p.mark(uint(at), uint(size))
	return p.data[at : at+uint64(size) : at+uint64(size)]
}
