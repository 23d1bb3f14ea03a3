package device

// window is a run of bytes that a view may use without another lookup: data[i] is the
// byte at lo+i.
type window struct {
	lo   uint64
	data []byte
}

// View is one executing block's view of a Memory. Every access names bytes that must
// lie wholly inside one allocation; the caller checks alignment. A View belongs to one
// goroutine at a time. Slices that its methods return are valid until the next call of
// any of its methods.
type View struct {
	read  [2]window // recent windows for reading
	write window    // the latest window for writing
	page  *page     // the overlay page that write is a window of; nil if direct
	mem   *Memory
	gen   uint64 // Memory.gen when the windows were made
	turn  uint8  // which read window to replace next

	overlay *overlay // nil for a direct view
	recent  extent   // the latest extent found
}

// Direct returns a view that reads and writes memory in place.
func (m *Memory) Direct() *View {
	return &View{mem: m, gen: m.gen}
}

// NewOverlay returns a view that buffers its writes until Commit.
func (m *Memory) NewOverlay() *View {
	return &View{mem: m, gen: m.gen, overlay: newOverlay()}
}

// Private is as in Memory.
func (v *View) Private(addr uint64) bool { return v.mem.Private(addr) }

// ReadSpan returns the bytes from addr on: at least size of them, and all that follow
// contiguously within the allocation. It returns nil if any of the size bytes is not
// legal to read; Fault then explains why.
func (v *View) ReadSpan(addr uint64, size int) []byte {
	w := &v.read[0]
	off := addr - w.lo
	if off < uint64(len(w.data)) && uint64(size) <= uint64(len(w.data))-off && v.gen == v.mem.gen {
		return w.data[off:]
	}
	w = &v.read[1]
	off = addr - w.lo
	if off < uint64(len(w.data)) && uint64(size) <= uint64(len(w.data))-off && v.gen == v.mem.gen {
		return w.data[off:]
	}
	return v.readSlow(addr, size)
}

// WriteSpan returns a slice of exactly size bytes that aliases memory at addr. The
// caller fills all of it immediately. It returns nil if any of the bytes is not legal
// to write; Fault then explains why.
func (v *View) WriteSpan(addr uint64, size int) []byte {
	w := &v.write
	off := addr - w.lo
	if off < uint64(len(w.data)) && uint64(size) <= uint64(len(w.data))-off && v.gen == v.mem.gen {
		if v.page != nil {
			v.page.mark(uint(addr%pageSize), uint(size))
		}
		return w.data[off : off+uint64(size) : off+uint64(size)]
	}
	return v.writeSlow(addr, size)
}

// settle brings the view up to date before the slow path of an access: a
// pending write reaches its pages, and windows from before a free are dropped.
func (v *View) settle() {
	if v.overlay != nil && v.overlay.pending.data != nil {
		v.flush()
	}
	if v.gen != v.mem.gen {
		v.forget()
	}
}

// forget drops all windows.
func (v *View) forget() {
	v.read = [2]window{}
	v.write = window{}
	v.page = nil
	v.recent = extent{}
	v.gen = v.mem.gen
}

// find finds the extent that holds size bytes at addr, for reading or for writing.
func (v *View) find(addr uint64, size int, write bool) bool {
	if size < 0 {
		return false
	}
	if v.recent.holds(addr, uint64(size)) && !(write && v.recent.readOnly) {
		return true
	}
	e, ok := v.mem.locate(addr, write)
	if !ok || !e.holds(addr, uint64(size)) || write && e.readOnly {
		return false
	}
	v.recent = e
	return true
}

func (v *View) readSlow(addr uint64, size int) []byte {
	v.settle()
	if !v.find(addr, size, false) {
		return nil
	}
	e := &v.recent
	w := window{e.lo, e.bytes()}
	if v.overlay != nil && v.overlay.wrote(e.r) {
		page := v.overlay.window(e, addr)
		if off := addr - page.lo; uint64(size) > uint64(len(page.data))-off {
			return v.overlay.gather(e, addr, size)
		}
		w = page
	}
	v.read[v.turn] = w
	v.turn ^= 1
	return w.data[addr-w.lo:]
}

// own returns the overlay's copy of the region's page that contains addr.
func (v *View) own(r *region, addr uint64) *page {
	p, fresh := v.overlay.own(r, addr)
	if fresh {
		// Windows that show the bytes of memory would hide the page.
		v.read = [2]window{}
	}
	return p
}

func (v *View) writeSlow(addr uint64, size int) []byte {
	v.settle()
	if !v.find(addr, size, true) {
		return nil
	}
	e := &v.recent
	if v.overlay == nil {
		v.write = window{e.lo, e.bytes()}
		off := addr - e.lo
		return v.write.data[off : off+uint64(size) : off+uint64(size)]
	}
	if addr%pageSize+uint64(size) > pageSize {
		// The next access takes the slow path and reaches settle.
		v.forget()
		return v.overlay.postpone(addr, size)
	}
	p := v.own(e.r, addr)
	v.page = p
	v.write = p.clip(e)
	p.mark(uint(addr%pageSize), uint(size))
	off := addr - v.write.lo
	return v.write.data[off : off+uint64(size) : off+uint64(size)]
}

// CheckRead reports whether the size bytes at addr are all legal to read.
func (v *View) CheckRead(addr uint64, size int) bool {
	v.settle()
	return v.find(addr, size, false)
}

// CheckWrite reports whether the size bytes at addr are all legal to write.
func (v *View) CheckWrite(addr uint64, size int) bool {
	v.settle()
	return v.find(addr, size, true)
}

// Fault explains why an access is illegal. If bounds and write protection allow the
// access, it returns a misalignment if size is a power of two and addr is not a
// multiple of it, and nil otherwise.
func (v *View) Fault(addr uint64, size int, write bool) *Fault {
	if size < 0 {
		size = 0
	}
	legal := v.CheckRead(addr, size)
	if write {
		legal = v.CheckWrite(addr, size)
	}
	n := uint64(size)
	if !legal {
		return v.mem.explain(addr, n, write, v.mem.cfg.Device)
	}
	if n != 0 && n&(n-1) == 0 && addr&(n-1) != 0 {
		return v.Misaligned(addr, size, size, write)
	}
	return nil
}

// Misaligned returns the fault of an access whose address is not a multiple of align;
// the caller has checked that it is not.
func (v *View) Misaligned(addr uint64, size, align int, write bool) *Fault {
	return v.mem.misaligned(addr, uint64(size), uint64(align), write)
}
