package device

import "math/bits"

// pageSize is the unit in which an overlay copies memory.
const pageSize = 1024

// page is an overlay's copy of one region's bytes in an aligned piece of memory. Small
// regions may share such a piece (adopted host bytes do, and allocations without
// gaps): each has its own page there. Bytes outside the region, at its first and last
// page, are never used.
type page struct {
	dirty [pageSize / 64]uint64 // a bit for each byte that the view wrote
	r     *region
	base  uint64 // address of data[0]
	slot  int    // its index in the table
	data  [pageSize]byte
}

// mark records that n bytes from offset at on are written; they end within the page.
func (p *page) mark(at, n uint) {
	word, bit := at/64, at%64
	if bit+n <= 64 {
		p.dirty[word] |= ^uint64(0) >> (64 - n) << bit
		return
	}
	p.dirty[word] |= ^uint64(0) << bit
	n -= 64 - bit
	for word++; n >= 64; word++ {
		p.dirty[word] = ^uint64(0)
		n -= 64
	}
	if n > 0 {
		p.dirty[word] |= ^uint64(0) >> (64 - n)
	}
}

// bounds returns the part of the page that lies inside the extent, as offsets.
func bounds(e *extent, base uint64) (from, to uint64) {
	to = pageSize
	if base < e.lo {
		from = e.lo - base
	}
	if end := e.lo + e.size - base; end < to {
		to = end
	}
	return from, to
}

// clip returns the window onto the page's bytes inside the extent.
func (p *page) clip(e *extent) window {
	from, to := bounds(e, p.base)
	return window{p.base + from, p.data[from:to:to]}
}

// slot is an entry of an overlay's table.
type slot struct {
	key  uint64 // page number plus one, zero if empty
	page *page
}

// overlay holds the writes of one view.
type overlay struct {
	pages  []*page // in order of first write; spare ones after used
	used   int     // pages in use
	table  []slot  // pages in use, by address: open addressing, linear probing
	shift  uint    // 64 minus the logarithm of the table's size
	counts []int32 // pages by index of their region

	pending window // a write across pages that the caller is filling
	scratch []byte // for reads across pages
	outbox  []byte // for writes across pages
}

const (
	firstTable = 64 // entries of a new overlay's table
	slabPages  = 8  // pages allocated at a time
)

func newOverlay() *overlay {
	o := new(overlay)
	o.resize(firstTable)
	return o
}

func (o *overlay) resize(n int) {
	o.table = make([]slot, n)
	o.shift = uint(64 - bits.TrailingZeros(uint(n)))
	for _, p := range o.pages[:o.used] {
		o.insert(p)
	}
}

// probe returns where the page of a region with that key is, or would be inserted.
func (o *overlay) probe(key uint64, r *region) int {
	// Multiplying by 2^64 divided by the golden ratio spreads neighbours.
	i := int(key * 0x9e37_79b9_7f4a_7c15 >> o.shift)
	for o.table[i].key != 0 && (o.table[i].key != key || o.table[i].page.r != r) {
		i = (i + 1) & (len(o.table) - 1)
	}
	return i
}

func (o *overlay) insert(p *page) {
	key := p.base/pageSize + 1
	p.slot = o.probe(key, p.r)
	o.table[p.slot] = slot{key, p}
}

// lookup returns the view's copy of the region's page that contains addr, or nil.
func (o *overlay) lookup(r *region, addr uint64) *page {
	key := addr/pageSize + 1
	return o.table[o.probe(key, r)].page
}

// wrote reports whether the view has written to the region.
func (o *overlay) wrote(r *region) bool {
	return r.index < len(o.counts) && o.counts[r.index] != 0
}

// own returns the view's copy of the page that contains addr, and whether it is new.
func (o *overlay) own(r *region, addr uint64) (p *page, fresh bool) {
	if p := o.lookup(r, addr); p != nil {
		return p, false
	}
	if 2*(o.used+1) > len(o.table) {
		o.resize(2 * len(o.table))
	}
	if o.used == len(o.pages) {
		slab := make([]page, slabPages)
		for i := range slab {
			o.pages = append(o.pages, &slab[i])
		}
	}
	p = o.pages[o.used]
	o.used++
	p.r = r
	p.base = addr &^ (pageSize - 1)
	p.dirty = [pageSize / 64]uint64{}
	from, to := bounds(&extent{r: r, lo: r.Addr, size: r.reach}, p.base)
	start := p.base + from - r.Addr
	copy(p.data[from:to], r.data[start:start+to-from])
	o.insert(p)
	for r.index >= len(o.counts) {
		o.counts = append(o.counts, 0)
	}
	if r.index >= 0 {
		o.counts[r.index]++
	}
	return p, true
}

// window returns the part of the extent that is contiguous around addr: the
// piece of one page, from the view's copy or from memory.
func (o *overlay) window(e *extent, addr uint64) window {
	if p := o.lookup(e.r, addr); p != nil {
		return p.clip(e)
	}
	base := addr &^ (pageSize - 1)
	from, to := bounds(e, base)
	start := base + from - e.r.Addr
	end := start + to - from
	return window{base + from, e.r.data[start:end:end]}
}

// gather copies size bytes at addr from several pages to a buffer.
func (o *overlay) gather(e *extent, addr uint64, size int) []byte {
	if size > len(o.scratch) {
		o.scratch = make([]byte, max(size, 4096))
	}
	dst := o.scratch[:size:size]
	for n := 0; n < size; {
		w := o.window(e, addr+uint64(n))
		n += copy(dst[n:], w.data[addr+uint64(n)-w.lo:])
	}
	return dst
}

// postpone returns a buffer for a write across pages. The bytes reach the pages
// at the next call of the view.
func (o *overlay) postpone(addr uint64, size int) []byte {
	if size > len(o.outbox) {
		o.outbox = make([]byte, max(size, 4096))
	}
	o.pending = window{addr, o.outbox[:size:size]}
	return o.pending.data
}

// flush moves the bytes of a pending write to their pages.
func (v *View) flush() {
	o := v.overlay
	addr, src := o.pending.lo, o.pending.data
	o.pending = window{}
	e, ok := v.mem.locate(addr, true)
	if !ok {
		return // freed since
	}
	for len(src) > 0 {
		p, _ := o.own(e.r, addr)
		at := addr % pageSize
		n := copy(p.data[at:], src)
		p.mark(uint(at), uint(n))
		addr += uint64(n)
		src = src[n:]
	}
}

// Commit applies the view's writes to memory and empties the view. Writes to
// allocations freed in the meantime are dropped. On a direct view it does nothing.
func (v *View) Commit() {
	if v.overlay == nil {
		return
	}
	v.settle()
	for _, p := range v.overlay.pages[:v.overlay.used] {
		p.commit()
	}
	v.Discard()
}

func (p *page) commit() {
	if p.r.Freed {
		return
	}
	for i, set := range p.dirty {
		for set != 0 {
			from := bits.TrailingZeros64(set)
			n := bits.TrailingZeros64(^(set >> from)) // length of the run of ones
			at := uint64(i*64 + from)
			off := p.base + at - p.r.Addr
			copy(p.r.data[off:off+uint64(n)], p.data[at:])
			if from+n == 64 {
				break
			}
			set = set >> (from + n) << (from + n)
		}
	}
}

// Discard drops the view's writes. On a direct view it does nothing.
func (v *View) Discard() {
	v.forget()
	o := v.overlay
	if o == nil {
		return
	}
	o.pending = window{}
	for _, p := range o.pages[:o.used] {
		o.table[p.slot] = slot{}
		if p.r.index >= 0 {
			o.counts[p.r.index] = 0
		}
		p.r = nil
	}
	o.used = 0
}

// Reset prepares the view for another block: uncommitted writes are dropped, storage
// is kept.
func (v *View) Reset() { v.Discard() }

// DirtyBytes returns the number of bytes that the view has written and not committed;
// each counts once.
func (v *View) DirtyBytes() int {
	if v.overlay == nil {
		return 0
	}
	v.settle()
	n := 0
	for _, p := range v.overlay.pages[:v.overlay.used] {
		for _, set := range p.dirty {
			n += bits.OnesCount64(set)
		}
	}
	return n
}
