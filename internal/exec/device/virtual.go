package device

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sort"
)

// This file: addresses that are reserved first and get memory later, piece by piece
// (cuMemAddressReserve, cuMemCreate, cuMemMap, cuMemSetAccess). A reservation is a region
// whose bytes are mapped by the operating system as the program says, so that memory
// mapped at two addresses is one, and that pieces side by side are one extent.

// Access says what kernels and copies may do with mapped memory.
type Access uint8

// The kinds of access.
const (
	NoAccess Access = iota // as mapped
	MayRead
	MayWrite // and read
)

// Mapping is a piece of reserved addresses with the memory that is mapped there.
type Mapping struct {
	Addr, Size uint64
	Handle     uint64             // of the memory
	Access     [MaxDevices]Access // by device

	of *Memory // in whose store the memory is
}

// gone reports whether that was closed, and the memory with it.
func (p *Mapping) gone() bool { return p.of.virtual == nil }

// Memory returns the device of the memory, and whether the memory is there without the mapping, held
// or mapped. Of memory that went with a reset it returns -1.
func (p *Mapping) Memory() (device int, lasts bool) {
	if p.gone() {
		return -1, false
	}
	return p.of.cfg.Device, p.of.Exists(p.Handle)
}

// mappings are those of a reservation.
type mappings struct {
	list []Mapping // by ascending address
	// may are the addresses that a device may access in a way, or in more ways: what
	// an access looks up, however many mappings it has been put together from.
	may [MaxDevices][MayWrite + 1]spans
}

// allow records that of a range only a is allowed to a device from now on.
func (x *mappings) allow(lo, end uint64, device int, a Access) {
	may := &x.may[device]
	for least := MayRead; least <= MayWrite; least++ {
		if a >= least {
			may[least] = may[least].with(lo, end)
		} else {
			may[least] = may[least].without(lo, end)
		}
	}
}

// block is memory without an address of its own.
type block struct {
	at, size uint64 // in the store
	held     int    // times that its handle has to be released
	mapped   int    // times that it is mapped
}

// virtual is the reserved part of a memory.
type virtual struct {
	store   *store
	blocks  map[uint64]*block // by handle
	last    uint64            // handle
	cleanup runtime.Cleanup
}

// open makes the store of mapped memory. Close gives it back, or else the end of m.
func (m *Memory) open() error {
	if m.virtual != nil {
		return nil
	}
	s, err := newStore()
	if err != nil {
		return err
	}
	m.virtual = &virtual{store: s, blocks: map[uint64]*block{}, cleanup: runtime.AddCleanup(m, (*store).close, s)}
	return nil
}

// Close gives reserved addresses, and all memory that was made with Create, back to the
// operating system at once: nobody else knows when the last access was. What Alloc made
// stays usable, but not by other devices.
func (m *Memory) Close() {
	m.withdraw()
	m.leave()
	if m.virtual == nil {
		return
	}
	for _, r := range slices.Clone(m.regions) {
		if r.Flags&reserved != 0 && !r.Freed {
			_ = unmapped(r.mapped.list) // the rest is gone, too
			m.retire(r)
		}
	}
	for _, b := range m.virtual.blocks {
		m.live -= b.size
	}
	m.virtual.cleanup.Stop()
	m.virtual.store.close()
	m.virtual = nil
}

// withdraw ends all access to memory of m at addresses of other devices. It stays mapped
// there until Unmap.
func (m *Memory) withdraw() {
	if m.virtual == nil || m.cfg.Group == nil {
		return
	}
	for _, o := range m.cfg.Group.by {
		if o == nil || o == m {
			continue
		}
		for _, r := range o.regions {
			if r.Flags&reserved == 0 || r.Freed {
				continue
			}
			for i := range r.mapped.list {
				p := &r.mapped.list[i]
				if p.of != m {
					continue
				}
				for device := range p.Access {
					r.mapped.allow(p.Addr, p.Addr+p.Size, device, NoAccess)
					p.Access[device] = NoAccess
				}
			}
		}
	}
	m.changed()
}

// Reserve reserves a range of addresses, a multiple of Granule in size and alignment.
// An access to it is a fault until memory is mapped there.
func (m *Memory) Reserve(size, align uint64) (addr uint64, err error) {
	align = max(align, Granule)
	if size == 0 || size%Granule != 0 || align&(align-1) != 0 {
		return 0, fmt.Errorf("cannot reserve %s aligned to %d: want multiples of %d, and a power of two", bytesText(size), align, Granule)
	}
	addr, ok := m.room(size, align)
	if !ok {
		return 0, fmt.Errorf("cannot reserve %s: the address space from 0x%x to 0x%x is used up", bytesText(size), m.cfg.Base, m.cfg.Top)
	}
	if err := m.open(); err != nil {
		return 0, fmt.Errorf("cannot reserve %s: %w", bytesText(size), err)
	}
	data, err := m.virtual.store.reserve(size)
	if err != nil {
		return 0, fmt.Errorf("cannot reserve %s: %w", bytesText(size), err)
	}
	m.insert(&region{Allocation: Allocation{Addr: addr, Size: size, Name: "reserved addresses", Flags: reserved}, data: data, reach: size, mapped: &mappings{}})
	m.next = addr + size + m.cfg.Gap
	return addr, nil
}

// Unreserve gives a range of Reserve back; nothing may be mapped there.
func (m *Memory) Unreserve(addr, size uint64) error {
	r := m.before(addr)
	if r == nil || r.Freed || r.Flags&reserved == 0 || r.Addr != addr || r.Size != size {
		return fmt.Errorf("0x%x is not the begin of %s of reserved addresses", addr, bytesText(size))
	}
	if list := r.mapped.list; len(list) > 0 {
		return fmt.Errorf("memory is still mapped at 0x%x", list[0].Addr)
	}
	if err := m.virtual.store.unreserve(r.data); err != nil {
		return err
	}
	m.retire(r)
	return nil
}

// Create makes size bytes of zeroed memory, a multiple of Granule, and returns a handle
// with which it can be mapped. It counts towards the limit until it is neither held nor
// mapped.
func (m *Memory) Create(size uint64) (handle uint64, err error) {
	switch {
	case size == 0 || size%Granule != 0:
		return 0, fmt.Errorf("cannot create %s: want a multiple of %d", bytesText(size), Granule)
	case size > m.cfg.Limit-m.live:
		return 0, fmt.Errorf("cannot create %s: device memory is limited to %s, of which %d are left", bytesText(size), bytesText(m.cfg.Limit), m.cfg.Limit-m.live)
	}
	if err := m.open(); err != nil {
		return 0, err
	}
	at, err := m.virtual.store.grow(size)
	if err != nil {
		return 0, err
	}
	m.live += size
	m.virtual.last++
	m.virtual.blocks[m.virtual.last] = &block{at: at, size: size, held: 1}
	return m.virtual.last, nil
}

// block returns the memory of a handle that is held.
func (m *Memory) block(handle uint64) (*block, error) {
	if m.virtual != nil {
		if b := m.virtual.blocks[handle]; b != nil && b.held > 0 {
			return b, nil
		}
	}
	return nil, fmt.Errorf("%d is not a handle of memory", handle)
}

// Release gives a handle up. Its memory stays until it is unmapped everywhere.
func (m *Memory) Release(handle uint64) error {
	b, err := m.block(handle)
	if err != nil {
		return err
	}
	b.held--
	return m.drop(handle)
}

// drop gives memory back that is neither held nor mapped.
func (m *Memory) drop(handle uint64) error {
	b := m.virtual.blocks[handle]
	if b.held > 0 || b.mapped > 0 {
		return nil
	}
	delete(m.virtual.blocks, handle)
	m.live -= b.size
	return m.virtual.store.discard(b.at, b.size)
}

// reservation returns the region of reserved addresses that holds a range.
func (m *Memory) reservation(addr, size uint64) (*region, error) {
	r := m.before(addr)
	if r == nil || r.Freed || r.Flags&reserved == 0 || !r.Contains(addr) || size > r.Size-(addr-r.Addr) {
		return nil, fmt.Errorf("%s at 0x%x are not inside one range of reserved addresses", bytesText(size), addr)
	}
	if size == 0 || addr%Granule != 0 || size%Granule != 0 {
		return nil, fmt.Errorf("%s at 0x%x: want multiples of %d", bytesText(size), addr, Granule)
	}
	return r, nil
}

// at returns the index of the first mapping that ends after an address.
func (x *mappings) at(addr uint64) int {
	return sort.Search(len(x.list), func(i int) bool { return x.list[i].Addr+x.list[i].Size > addr })
}

// Map maps all memory of a handle at reserved addresses where nothing is mapped. Nobody
// may access it before SetAccess.
func (m *Memory) Map(addr, size, handle uint64) error { return m.MapOf(m, addr, size, handle) }

// MapOf is Map for a handle of any memory.
func (m *Memory) MapOf(from *Memory, addr, size, handle uint64) error {
	r, err := m.reservation(addr, size)
	if err != nil {
		return err
	}
	b, err := from.block(handle)
	if err != nil {
		return err
	}
	if size != b.size {
		return fmt.Errorf("cannot map %s: the memory of the handle has %d", bytesText(size), b.size)
	}
	x := r.mapped
	i := x.at(addr)
	if i < len(x.list) && x.list[i].Addr < addr+size {
		return fmt.Errorf("memory is already mapped at 0x%x", x.list[i].Addr)
	}
	off := addr - r.Addr
	if err := from.virtual.store.place(r.data[off:off+size], b.at); err != nil {
		return fmt.Errorf("cannot map %s: %w", bytesText(size), err)
	}
	x.list = slices.Insert(x.list, i, Mapping{Addr: addr, Size: size, Handle: handle, of: from})
	b.mapped++
	return nil
}

// whole returns the mappings that fill a range exactly.
func (m *Memory) whole(addr, size uint64) (r *region, from, to int, err error) {
	if r, err = m.reservation(addr, size); err != nil {
		return nil, 0, 0, err
	}
	list := r.mapped.list
	from = r.mapped.at(addr)
	next := addr
	for to = from; to < len(list) && list[to].Addr == next && next < addr+size; to++ {
		next += list[to].Size
	}
	if next != addr+size {
		return nil, 0, 0, fmt.Errorf("%s at 0x%x are not whole mappings", bytesText(size), addr)
	}
	return r, from, to, nil
}

// Mappings returns the mappings that fill a range exactly, nil if none do.
func (m *Memory) Mappings(addr, size uint64) []Mapping {
	r, from, to, err := m.whole(addr, size)
	if err != nil {
		return nil
	}
	return slices.Clone(r.mapped.list[from:to])
}

// Unmap ends the mappings that fill a range exactly.
func (m *Memory) Unmap(addr, size uint64) error {
	r, from, to, err := m.whole(addr, size)
	if err != nil {
		return err
	}
	off := addr - r.Addr
	if err := m.virtual.store.clear(r.data[off : off+size]); err != nil {
		return err
	}
	m.changed()
	for device := range MaxDevices {
		r.mapped.allow(addr, addr+size, device, NoAccess)
	}
	err = unmapped(r.mapped.list[from:to])
	r.mapped.list = slices.Delete(r.mapped.list, from, to)
	return err
}

// unmapped gives the memory of mappings back where that was the last use.
func unmapped(list []Mapping) (err error) {
	for _, p := range list {
		if !p.gone() {
			p.of.virtual.blocks[p.Handle].mapped--
			err = errors.Join(err, p.of.drop(p.Handle))
		}
	}
	return err
}

// SetAccess says what may be done with the mappings that fill a range exactly.
func (m *Memory) SetAccess(addr, size uint64, a Access) error {
	return m.SetAccessOf(m.cfg.Device, addr, size, a)
}

// SetAccessOf is SetAccess for the kernels of any device of the group.
func (m *Memory) SetAccessOf(device int, addr, size uint64, a Access) error {
	r, from, to, err := m.whole(addr, size)
	if err != nil {
		return err
	}
	for _, p := range r.mapped.list[from:to] {
		if p.gone() {
			return fmt.Errorf("the memory at 0x%x went with a reset of device %d", p.Addr, p.of.cfg.Device)
		}
	}
	for i := from; i < to; i++ {
		r.mapped.list[i].Access[device] = a
	}
	r.mapped.allow(addr, addr+size, device, a)
	m.changed()
	return nil
}

// Holds reports whether a handle is one of memory.
func (m *Memory) Holds(handle uint64) bool {
	_, err := m.block(handle)
	return err == nil
}

// Exists reports whether the memory of a handle is there, held or mapped.
func (m *Memory) Exists(handle uint64) bool {
	return m.virtual != nil && m.virtual.blocks[handle] != nil
}

// MappingAt returns the mapping that contains an address; false if there is none.
func (m *Memory) MappingAt(addr uint64) (p Mapping, ok bool) {
	r := m.before(addr)
	if r == nil || r.Freed || r.Flags&reserved == 0 {
		return Mapping{}, false
	}
	i := r.mapped.at(addr)
	if i == len(r.mapped.list) || r.mapped.list[i].Addr > addr {
		return Mapping{}, false
	}
	return r.mapped.list[i], true
}

// Retain returns the handle of the memory that is mapped at an address, which has to be
// released once more, and the device of the memory.
func (m *Memory) Retain(addr uint64) (handle uint64, device int, ok bool) {
	p, ok := m.MappingAt(addr)
	if !ok || p.gone() {
		return 0, 0, false
	}
	p.of.virtual.blocks[p.Handle].held++
	return p.Handle, p.of.cfg.Device, true
}

// run returns the mapped range around an address in which a device's access is everywhere
// as least says; false if it is not at the address.
func (r *region) run(addr uint64, least Access, device int) (e extent, ok bool) {
	s, ok := r.mapped.may[device][least].at(addr)
	return extent{r: r, lo: s.lo, size: s.end - s.lo, readOnly: least == MayRead}, ok
}

// saveMapped returns what restores the mapped memory of a region that kernels can write.
// It copies the pages that exist: a mapping may be much larger than what of it is used.
func (m *Memory) saveMapped(r *region) (restore []func()) {
	for _, p := range r.mapped.list {
		if p.Access[m.cfg.Device] != MayWrite || p.gone() {
			continue
		}
		at := p.of.virtual.blocks[p.Handle].at
		back := savePages(r.data[p.Addr-r.Addr:][:p.Size], func() []span { return p.of.virtual.store.pages(at, p.Size) })
		restore = append(restore, func() {
			if q, ok := m.MappingAt(p.Addr); ok && q == p { // else it was unmapped, or others may not write it any more
				back()
			}
		})
	}
	return restore
}

// savePages returns what restores bytes of which only some have pages, which pages returns:
// the others are zeros.
func savePages(now []byte, pages func() []span) (restore func()) {
	had := pages()
	old := make([][]byte, len(had))
	for i, s := range had {
		old[i] = slices.Clone(now[s.lo:s.end])
	}
	return func() {
		for _, s := range pages() {
			clear(now[s.lo:s.end])
		}
		for i, s := range had {
			copy(now[s.lo:], old[i])
		}
	}
}

// explainReserved completes the fault of an access that begins at reserved addresses.
func (m *Memory) explainReserved(f *Fault, device int) {
	r := m.before(f.Addr)
	all := fmt.Sprintf("the %s reserved at 0x%x", bytesText(r.Size), r.Addr)
	at, least := f.Addr, MayRead // where it goes wrong
	if f.Write {
		least = MayWrite
	}
	if e, ok := r.run(at, least, device); ok && !e.holds(at, f.Size) {
		if at = e.lo + e.size; at == r.Addr+r.Size {
			f.Detail = position(f.Addr, f.Size, r.Addr, r.Size) + " " + all
			return
		}
	}
	why := ""
	switch p, mapped := m.MappingAt(at); {
	case !mapped:
		f.Kind, why = Unmapped, "no memory is mapped"
	case p.gone():
		f.Kind, why = Unmapped, fmt.Sprintf("the memory of device %d was mapped, which was reset", p.of.cfg.Device)
	case p.Access[device] == NoAccess && m.cfg.Group != nil:
		f.Kind, why = Forbidden, fmt.Sprintf("memory is mapped without access for device %d (cuMemSetAccess gives it)", device)
	case p.Access[device] == NoAccess:
		f.Kind, why = Forbidden, "memory is mapped without access (cuMemSetAccess gives it)"
	default:
		f.Kind, why = ReadOnlyWrite, "memory may only be read"
	}
	f.Detail = fmt.Sprintf("%s into %s, where %s", bytesText(at-r.Addr), all, why)
}
