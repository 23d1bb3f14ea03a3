package device

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
)

// Flag is a property of an allocation.
type Flag uint8

// The flags of Alloc.
const (
	ReadOnly Flag = 1 << iota // kernels may not write it; the host may (constants)
	arena                     // the arena of the device heap
	system                    // of AllocSystem
	adopted                   // bytes of the host
	reserved                  // addresses of Reserve
)

// Allocation describes one allocation.
type Allocation struct {
	Addr  uint64
	Size  uint64
	Name  string
	Flags Flag
	Freed bool
	// Dormant says that Sleep has made it inaccessible to kernels.
	Dormant bool
}

// ReadOnly reports whether kernels may not write the allocation.
func (a Allocation) ReadOnly() bool { return a.Flags&ReadOnly != 0 }

// Reserved reports whether the addresses are those of Reserve.
func (a Allocation) Reserved() bool { return a.Flags&reserved != 0 }

// Contains reports whether addr lies within the allocation.
func (a Allocation) Contains(addr uint64) bool { return addr-a.Addr < a.Size }

func (a Allocation) String() string {
	noun := "buffer"
	if a.ReadOnly() {
		noun = "read-only buffer"
	}
	return fmt.Sprintf("%s %q (%s at 0x%x)", noun, a.Name, bytesText(a.Size), a.Addr)
}

func bytesText(n uint64) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// Symbol is a name that a program gives to a piece of memory.
type Symbol struct {
	Name string
	Addr uint64
	Size uint64
}

// region is an allocation with its bytes.
type region struct {
	Allocation
	data  []byte // of length Size, with room for reach bytes; nil once freed
	reach uint64 // Size plus the unowned bytes after it (slack.go)
	index int    // in Memory.regions, -1 for memory between allocations

	pages   []byte // data as the operating system gave them, nil if they are of Go's heap
	cleanup runtime.Cleanup
	file    *File  // that has them, nil if they are memory
	at      uint64 // where they begin in it

	mapped *mappings // of reserved addresses

	apart  bool    // its own guests count, not those of the memory
	guests devices // other devices that may access it
}

// Memory is the global memory of one GPU.
type Memory struct {
	cfg     Config
	regions []*region // by ascending address, freed ones included
	next    uint64    // lowest address for the next allocation, as long as there is room
	top     uint64    // no allocation of the program begins there or after
	live    uint64    // bytes allocated and not freed
	freed   int       // freed regions
	gen     uint64    // counts frees; views drop cached windows when it changes
	symbols map[string]Symbol
	heap    *heap
	virtual *virtual // nil before the first Reserve or Create
	guests  devices  // other devices that may access it
	saved   [][]byte // storage of the last Save, for the next one

	slackMu sync.Mutex         // concurrent blocks may create entries
	slack   map[uint64]*region // pages of memory between allocations, by address
}

// New returns an empty memory.
func New(cfg Config) *Memory {
	cfg = cfg.withDefaults()
	m := &Memory{cfg: cfg, next: cfg.Base, top: cfg.Top, symbols: make(map[string]Symbol)}
	m.join()
	return m
}

// Alloc reserves size zeroed bytes and returns the address of the first. A size of
// zero is legal: the address is unique, and every access through it is out of bounds.
// The name appears in messages and need not be unique.
func (m *Memory) Alloc(size uint64, name string, flags ...Flag) (uint64, error) {
	free := m.cfg.Limit - m.live
	if size > free {
		return 0, fmt.Errorf("cannot allocate %s for %q: device memory is limited to %s, of which %d are left",
			bytesText(size), name, bytesText(m.cfg.Limit), free)
	}
	addr, ok := m.room(size, m.cfg.Align)
	if !ok {
		return 0, fmt.Errorf("cannot allocate %s for %q: the address space from 0x%x to 0x%x is used up",
			bytesText(size), name, m.cfg.Base, m.cfg.Top)
	}
	r := &region{Allocation: Allocation{Addr: addr, Size: size, Name: name}, reach: (size + tailAlign - 1) &^ (tailAlign - 1)}
	if size <= math.MaxInt-tailAlign {
		if r.data = m.bytes(r); r.data == nil && m.reclaim() {
			r.data = m.bytes(r)
		}
	}
	if r.data == nil {
		where := "this computer does not have enough memory"
		if m.cfg.File != nil && size >= inFile {
			where = "the file system of the file for device memory does not have enough room"
		}
		return 0, fmt.Errorf("cannot allocate %s for %q: %s", bytesText(size), name, where)
	}
	r.data = r.data[:size]
	for _, f := range flags {
		r.Flags |= f
	}
	m.insert(r)
	m.next = r.end() + m.cfg.Gap
	m.live += size
	return addr, nil
}

// inFile is the size from which allocations are in the file, if there is one: our choice.
const inFile = 1 << 20

// bytes returns the zeroed bytes of a new region, nil if there are none.
func (m *Memory) bytes(r *region) []byte {
	if m.cfg.File != nil && r.reach >= inFile {
		return m.cfg.File.allocate(r, r.reach)
	}
	return hostMemory(r, r.reach)
}

// end is the first address beyond a region. It has at least one, its own.
func (r *region) end() uint64 { return r.Addr + max(r.Size, 1) }

// room returns where an allocation goes: after the previous one, so that addresses are dead
// after a Free. Once the end of the address space has been reached, it goes on from its
// begin, where nothing is allocated any more.
func (m *Memory) room(size, align uint64) (addr uint64, ok bool) {
	if addr, ok = m.gap(m.next, size, align); !ok {
		addr, ok = m.gap(m.cfg.Base, size, align)
	}
	return addr, ok
}

// gap returns the lowest address, not below another one, of an allocation with guard bytes
// on both sides.
func (m *Memory) gap(from, size, align uint64) (addr uint64, ok bool) {
	size = max(size, 1)
	fits := func() bool {
		return addr >= from && addr < m.top && size <= m.top-addr && m.cfg.Gap <= math.MaxUint64-addr-size
	}
	addr = from + (-from & (align - 1))
	i := 0
	if r := m.before(addr); r != nil {
		i = r.index
	}
	for ; i < len(m.regions) && m.regions[i].Addr < m.top && fits(); i++ {
		switch r := m.regions[i]; {
		case r.Freed || r.Flags&adopted != 0 || r.end() <= addr && m.cfg.Gap <= addr-r.end():
		case r.Addr > addr && size <= r.Addr-addr && m.cfg.Gap <= r.Addr-addr-size:
			return addr, true
		default:
			addr = r.end() + m.cfg.Gap
			addr += -addr & (align - 1)
		}
	}
	return addr, fits()
}

// AllocSystem is Alloc for memory of the driver's own: at the end of the address space,
// so that it moves no allocation of the program, and outside the limit.
func (m *Memory) AllocSystem(size uint64, name string) (uint64, error) {
	last := (m.top - size) &^ (m.cfg.Align - 1)
	addr, ok := uint64(0), false
	if size <= m.top {
		addr, ok = m.gap(last, size, m.cfg.Align)
	}
	if !ok || addr != last { // addresses are given out again
		addr, ok = m.gap(m.cfg.Base, size, m.cfg.Align)
	}
	if !ok {
		return 0, fmt.Errorf("cannot allocate %s for %q: the address space from 0x%x to 0x%x is used up", bytesText(size), name, m.cfg.Base, m.cfg.Top)
	}
	m.insert(&region{Allocation: Allocation{Addr: addr, Size: size, Name: name, Flags: system}, data: make([]byte, size), reach: size})
	if addr == last {
		m.top = addr - min(m.cfg.Gap, addr)
	}
	return addr, nil
}

// Adopt makes bytes of the host part of device memory: kernels reach them at addr, and
// host and device see each other's writes. They must lie outside the addresses that
// Alloc gives out (Config.Base to Config.Top). They do not count towards the limit.
// Save and Free treat them like other allocations, except that a later Adopt may
// reuse their addresses after a Free.
func (m *Memory) Adopt(addr uint64, data []byte, name string) error {
	n := uint64(len(data))
	if addr < nullPage || n == 0 || n > math.MaxUint64-addr || addr < m.cfg.Top && addr+n > m.cfg.Base {
		return fmt.Errorf("cannot map %s of host memory at 0x%x: they must lie below 0x%x or above 0x%x", bytesText(n), addr, m.cfg.Base, m.cfg.Top)
	}
	if r := m.before(addr + n - 1); r != nil && r.Addr+r.Size > addr {
		return fmt.Errorf("cannot map %s of host memory at 0x%x: %v is already there", bytesText(n), addr, r.Allocation)
	}
	m.insert(&region{Allocation: Allocation{Addr: addr, Size: n, Name: name, Flags: adopted}, data: data, reach: n})
	return nil
}

// insert puts a region at its place among the others, and in place of those that were freed
// there.
func (m *Memory) insert(r *region) {
	from := 0
	if low := m.before(r.Addr); low != nil {
		if from = low.index; low.end() <= r.Addr {
			from++
		}
	}
	to := from
	for to < len(m.regions) && m.regions[to].Addr < r.end() {
		m.regions[to].unmap()
		m.freed--
		to++
	}
	m.regions = slices.Replace(m.regions, from, to, r)
	m.number(from)
}

// reclaim gives the addresses of the host that freed allocations still have back to the
// operating system, and reports whether there were any.
func (m *Memory) reclaim() (some bool) {
	for _, r := range m.regions {
		some = r.Freed && r.unmap() || some
	}
	return some
}

// number renumbers the regions from index one on.
func (m *Memory) number(from int) {
	for i := from; i < len(m.regions); i++ {
		m.regions[i].index = i
	}
}

// maxFreed bounds the number of freed allocations remembered, our choice: programs may
// allocate and free without end.
const maxFreed = 1 << 15

// Free releases the allocation that begins at addr. Its addresses stay dead: an access
// to them is a use after free or, once very many others have been freed, an access
// where nothing was ever allocated.
func (m *Memory) Free(addr uint64) error {
	r := m.before(addr)
	switch {
	case r == nil || r.Addr != addr && !r.Contains(addr):
		return fmt.Errorf("cannot free 0x%x: no allocation begins there", addr)
	case r.Addr != addr:
		return fmt.Errorf("cannot free 0x%x: it is %s into %v", addr, bytesText(addr-r.Addr), r.Allocation)
	case r.Freed:
		return fmt.Errorf("cannot free 0x%x: %v is already freed", addr, r.Allocation)
	case r.Flags&arena != 0:
		return fmt.Errorf("cannot free 0x%x: it is the arena of the device heap", addr)
	case r.Flags&reserved != 0:
		return fmt.Errorf("cannot free 0x%x: its addresses were reserved, and memory mapped there is unmapped", addr)
	}
	if r.Flags&adopted != 0 {
		r.Freed, r.data = true, nil
		m.changed()
		m.regions = slices.Delete(m.regions, r.index, r.index+1)
		m.number(r.index)
		return nil
	}
	if r.Flags&system == 0 && !r.Dormant {
		m.live -= r.Size
	}
	m.retire(r)
	return nil
}

// retire makes the addresses of a region dead.
func (m *Memory) retire(r *region) {
	r.discard()
	r.Freed, r.data = true, nil
	m.changed()
	if m.freed++; m.freed > maxFreed {
		m.forget(maxFreed / 2)
	}
}

// forget drops the oldest n freed allocations.
func (m *Memory) forget(n int) {
	m.freed -= n
	m.regions = slices.DeleteFunc(m.regions, func(r *region) bool {
		if !r.Freed || n == 0 {
			return false
		}
		n--
		r.unmap()
		return true
	})
	m.number(0)
}

// before returns the region with the highest address not above addr, or nil.
func (m *Memory) before(addr uint64) *region {
	lo, hi := 0, len(m.regions)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if m.regions[mid].Addr <= addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return nil
	}
	return m.regions[lo-1]
}

// extent is a legal range of addresses: an allocation, or one live block of
// the device heap.
type extent struct {
	r        *region
	lo       uint64
	size     uint64
	readOnly bool // or not known to be writable
}

// holds reports whether the size bytes from addr on lie inside the extent.
func (e *extent) holds(addr, size uint64) bool {
	off := addr - e.lo
	return off < e.size && size <= e.size-off
}

// bytes returns the extent's bytes.
func (e *extent) bytes() []byte {
	off := e.lo - e.r.Addr
	return e.r.data[off : off+e.size : off+e.size]
}

// locate returns the extent that contains addr, for reading or for writing.
func (m *Memory) locate(addr uint64, write bool) (extent, bool) {
	p := m.home(addr)
	r := p.before(addr)
	if r == nil || r.Freed || r.Dormant || !r.Contains(addr) || p != m && !p.opens(r, m.cfg.Device) {
		return extent{}, false
	}
	if r.Flags&arena != 0 {
		lo, size, ok := m.heap.block(addr)
		return extent{r: r, lo: lo, size: size}, ok && addr-lo < size
	}
	if r.Flags&reserved != 0 {
		least := MayRead
		if write {
			least = MayWrite
		}
		return r.run(addr, least, m.cfg.Device)
	}
	return extent{r, r.Addr, r.Size, r.ReadOnly()}, true
}

// Private reports whether only kernels of this device, and the host between them, change the byte
// at addr: the host sees memory that it shares at any time.
func (m *Memory) Private(addr uint64) bool {
	r := m.before(addr)
	return m.home(addr) == m && r != nil && r.Flags&(adopted|reserved) == 0
}

// Bytes returns the n bytes at addr in place: writing to the slice writes to memory.
// Read-only allocations are included, since the host may fill them. The slice must not
// be used after the allocation is freed.
func (m *Memory) Bytes(addr, n uint64) ([]byte, error) {
	return m.hostBytes(addr, n, false)
}

// WritableBytes is Bytes for a destination, which must be writable as far as mapped
// memory goes (SetAccess).
func (m *Memory) WritableBytes(addr, n uint64) ([]byte, error) {
	return m.hostBytes(addr, n, true)
}

func (m *Memory) hostBytes(addr, n uint64, write bool) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	r := m.before(addr)
	if r == nil || r.Freed || !r.Contains(addr) || n > r.Size-(addr-r.Addr) {
		return nil, m.explain(addr, n, write, m.cfg.Device)
	}
	if r.Flags&reserved != 0 {
		if e, ok := m.locate(addr, write); !ok || !e.holds(addr, n) {
			return nil, m.explain(addr, n, write, m.cfg.Device)
		}
	}
	off := addr - r.Addr
	return r.data[off : off+n : off+n], nil
}

// Read copies memory at addr to dst.
func (m *Memory) Read(addr uint64, dst []byte) error {
	src, err := m.hostBytes(addr, uint64(len(dst)), false)
	if err != nil {
		return err
	}
	copy(dst, src)
	return nil
}

// Write copies src to memory at addr, read-only allocations included.
func (m *Memory) Write(addr uint64, src []byte) error {
	dst, err := m.hostBytes(addr, uint64(len(src)), true)
	if err != nil {
		return err
	}
	copy(dst, src)
	return nil
}

// Find returns the allocation that contains addr, freed ones included. An
// allocation of size zero is found by its own address.
func (m *Memory) Find(addr uint64) (Allocation, bool) {
	r := m.before(addr)
	if r == nil || !r.Contains(addr) && r.Addr != addr {
		return Allocation{}, false
	}
	return r.Allocation, true
}

// Nearest returns the allocation that contains addr or, failing that, the closest one;
// the lower one of two equally close. It is the zero Allocation if nothing is
// allocated.
func (m *Memory) Nearest(addr uint64) Allocation {
	if len(m.regions) == 0 {
		return Allocation{}
	}
	below := m.before(addr)
	if below == nil {
		return m.regions[0].Allocation
	}
	if below.Contains(addr) || below.index+1 == len(m.regions) {
		return below.Allocation
	}
	above := m.regions[below.index+1]
	if above.Addr-addr < addr-(below.Addr+below.Size) {
		return above.Allocation
	}
	return below.Allocation
}

// Allocated returns the number of bytes allocated and not freed.
func (m *Memory) Allocated() uint64 { return m.live }

// Define names the size bytes at addr. It fails if the name is taken or the bytes are
// not allocated.
func (m *Memory) Define(name string, addr, size uint64) error {
	if old, taken := m.symbols[name]; taken {
		return fmt.Errorf("symbol %q is already defined (%s at 0x%x)", name, bytesText(old.Size), old.Addr)
	}
	if a, ok := m.Find(addr); !ok || a.Freed || size > a.Size-(addr-a.Addr) {
		return fmt.Errorf("symbol %q: %s at 0x%x are not inside one allocation", name, bytesText(size), addr)
	}
	m.symbols[name] = Symbol{name, addr, size}
	return nil
}

// Symbol returns the memory that a name denotes.
func (m *Memory) Symbol(name string) (Symbol, bool) {
	s, ok := m.symbols[name]
	return s, ok
}

// Symbols returns all symbols by ascending address, then name.
func (m *Memory) Symbols() []Symbol {
	list := make([]Symbol, 0, len(m.symbols))
	for _, s := range m.symbols {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b Symbol) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// Save records the contents of all allocations that kernels can write, and returns a
// function that restores them, until the next Save. Allocations made later keep their contents.
func (m *Memory) Save() (restore func()) {
	type kept struct {
		r   *region
		now []byte // of the region
		old []byte
	}
	var list []kept
	var restores []func() // of pages
	keep := func(r *region, now []byte) {
		n := len(list)
		if n == len(m.saved) {
			m.saved = append(m.saved, nil)
		}
		m.saved[n] = append(m.saved[n][:0], now...)
		list = append(list, kept{r, now, m.saved[n]})
	}
	for _, r := range m.regions {
		switch {
		case r.Freed || r.ReadOnly():
		case r.Flags&reserved != 0:
			restores = append(restores, m.saveMapped(r)...)
		case r.pages != nil:
			restore := savePages(r.pages[:r.reach], r.held)
			restores = append(restores, func() {
				if !r.Freed {
					restore()
				}
			})
		default:
			keep(r, r.data[:r.reach])
		}
	}
	slack := maps.Clone(m.slack)
	for _, r := range slack {
		keep(r, r.data)
	}
	clear(m.saved[len(list):])
	heap := m.heap.clone()
	return func() {
		m.restoreHeap(heap)
		for _, k := range list {
			if !k.r.Freed {
				copy(k.now, k.old)
			}
		}
		for _, f := range restores {
			f()
		}
		m.slack = slack
	}
}
