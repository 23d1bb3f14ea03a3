package races

import (
	"maps"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/heddle-sim/heddle/internal/isa"
)

// cell is what a word of memory remembers of its writes, or of its reads: 0 for nothing, a
// record and the lane of it that accessed the word, or a set (inSet) and what is added to the
// lanes of its entries, so that neighbouring words share sets.
type cell uint32

const inSet cell = 1 << 31

func cellOf(record uint32, lane int) cell { return cell(record<<5 | uint32(lane&31)) }

func (c cell) id() uint32 { return uint32(c&^inSet) >> 5 }
func (c cell) lane() int  { return int(c & 31) }

// class is what decides whether two accesses conflict.
type class uint8

const (
	write    class = 1 << iota
	read           // an atomic operation is both
	strong         // by the memory model
	wide           // strong in the scope of the GPU or the system; else of the block
	flight         // of an asynchronous copy
	lockstep       // all live lanes of the warp took part
	hinted         // strong by a cache operator alone: weak to PTX
)

// stores reports whether an access only stores, at once.
func stores(c class) bool { return c&(write|read|flight) == write }

// form is how the lanes of a record lie.
type form uint8

const (
	each   form = iota // a cell's lane accessed the word
	run                // lanes with consecutive elements of less than a word: the cell's is the first
	many               // all lanes of the record's mask accessed the word
	warps              // at least two warps of the block, at the same time as far as barriers tell
	blocks             // at least two blocks
)

// record is an access of a warp, shared by the words that it touched.
type record struct {
	site, time, block, launch uint32
	lanes                     uint32 // mask
	flight                    uint32 // one more than the index of the copy that is in flight
	warp, size                uint8  // size of an element in bytes
	class                     class
	form                      form
}

// at returns the lanes that accessed a byte of a word, of an entry with the given lane.
func (r *record) at(lane, byte int) uint32 {
	switch r.form {
	case many:
		return r.lanes
	case run:
		return 1 << ((lane + byte/int(r.size)) & 31)
	}
	return 1 << (lane & 31)
}

// entry is an access in a set.
type entry struct {
	record uint32
	lane   int8
	bytes  uint8 // of the word, a mask
}

// page is the shadow of pageBytes of memory, in parts that are made when they are first used.
type page struct {
	cells  [2][pageParts]*cells          // of reads and of writes
	chains [pageParts]*[partWords]*chain // of words that strong operations wrote
	spare  *chain                        // chains to be used again
}

// cells are the cells of part of a page.
type cells [partWords]cell

// A part is as small as pays for finding it: what is kept for words beside those that are
// touched is at most as much as for the rest of a part.
const (
	pageBytes = 4096
	pageWords = pageBytes / 4
	partWords = 128
	pageParts = pageWords / partWords
	ofReads   = 0
	ofWrites  = 1
)

// cell returns the cell of a word of the page.
func (p *page) cell(kind, i int) cell {
	if part := p.cells[kind][i/partWords%pageParts]; part != nil {
		return part[i%partWords]
	}
	return 0
}

// part returns part of a page, which it makes if there is none.
func (s *shadow) part(p *page, kind, n int) *cells {
	at := &p.cells[kind][n%pageParts]
	if *at == nil {
		*at = s.newPart()
	}
	return *at
}

func (s *shadow) newPart() *cells {
	s.parts++
	if n := len(s.freePart); n > 0 {
		part := s.freePart[n-1]
		s.freePart = s.freePart[:n-1]
		return part
	}
	return new(cells)
}

// drop frees a part, which is empty.
func (s *shadow) drop(part *cells) {
	s.parts--
	if len(s.freePart) < mostFree {
		s.freePart = append(s.freePart, part)
	}
}

// memory is the shadow of a space. Recently used pages are found without the map.
type memory struct {
	pages  map[uint64]*page
	recent [16]struct {
		number uint64
		page   *page
	}
}

func newMemory() *memory { return &memory{pages: map[uint64]*page{}} }

// page returns the page of an address.
func (m *memory) page(addr uint64) *page {
	n := addr / pageBytes
	r := &m.recent[n%uint64(len(m.recent))]
	if r.page != nil && r.number == n {
		return r.page
	}
	p := m.pages[n]
	if p == nil {
		p = &page{}
		m.pages[n] = p
	}
	r.number, r.page = n, p
	return p
}

// forget forgets what happened in a range, and frees the shadow of what lies in it whole.
func (c *Checker) forget(addr, bytes uint64) {
	m := c.global
	m.each(addr, bytes, func(p *page, i int, _ uint64) {
		n, w := i/partWords, i%partWords
		for k := range p.cells {
			if part := p.cells[k][n]; part != nil {
				part[w] = 0
			}
		}
		if p.chains[n] != nil {
			p.chains[n][w] = nil
		}
	})
	whole := func(n uint64) {
		p := m.pages[n]
		if p == nil || n*pageBytes < addr || (n+1)*pageBytes > addr+bytes {
			return
		}
		for k := range p.cells {
			for _, part := range p.cells[k] {
				if part != nil {
					c.parts--
				}
			}
		}
		delete(m.pages, n)
		if r := &m.recent[n%uint64(len(m.recent))]; r.page == p {
			r.page = nil
		}
	}
	m.within(addr, bytes, whole)
}

// within calls f for the numbers of pages that a range touches, if they have a shadow.
func (m *memory) within(addr, bytes uint64, f func(n uint64)) {
	if bytes == 0 {
		return
	}
	first, last := addr/pageBytes, (addr+bytes-1)/pageBytes
	if last-first > uint64(len(m.pages)) {
		for _, n := range slices.Sorted(maps.Keys(m.pages)) {
			if n >= first && n <= last {
				f(n)
			}
		}
		return
	}
	for n := first; n <= last; n++ {
		if m.pages[n] != nil {
			f(n)
		}
	}
}

// each calls f for the words of a range that have a shadow, with their addresses, in the order
// of these: what is found first is what is shown.
func (m *memory) each(addr, bytes uint64, f func(p *page, i int, addr uint64)) {
	m.within(addr, bytes, func(n uint64) {
		p, first, last := m.pages[n], addr/4, (addr+bytes-1)/4
		for i := range pageWords {
			if w := n*pageWords + uint64(i); w >= first && w <= last {
				f(p, i, 4*w)
			}
		}
	})
}

// shadow holds records and sets, by index. Those that no cell names any more are used again.
type shadow struct {
	records    []*[chunk]record
	sets       []span
	entry      []entry  // of all sets
	order      []uint32 // sets by where their entries lie
	made       int      // bytes of records and sets since the last sweep
	swept      int      // how often
	parts      int      // of pages
	nrecords   uint32   // made so far, those to be used again included
	used       uint32   // of them
	mostNames  uint32   // of records, and of sets: see limit.go
	freeRecord uint32   // the first of those to be used again, whose sites are the next ones; 0 for none
	freeSet    []uint32
	freePart   []*cells
	last       [512]uint32 // one more than the last sets made, by hash: equal ones are one
	marks      marks       // storage of sweep
}

// span is where the entries of a set lie.
type span struct{ at, n uint32 }

// list returns the entries of a set.
func (s *shadow) list(id uint32) []entry {
	x := s.sets[id]
	return s.entry[x.at : x.at+x.n]
}

// chunk is how many records are allocated together. Our choice.
const chunk = 256

// rec returns a record.
func (s *shadow) rec(id uint32) *record { return &s.records[id/chunk][id%chunk] }

// record makes a record.
func (s *shadow) record(r *record) uint32 {
	s.made += int(unsafe.Sizeof(*r))
	s.used++
	id := s.nrecords
	if s.freeRecord != 0 {
		id = s.freeRecord
		s.freeRecord = s.rec(id).site
	} else {
		if id%chunk == 0 {
			s.records = append(s.records, new([chunk]record))
		}
		s.nrecords++
	}
	*s.rec(id) = *r
	return id
}

// set makes a set of a list, whose storage it takes only a copy of, or finds an equal one.
func (s *shadow) set(list []entry) uint32 {
	h := uint64(len(list))
	for _, e := range list {
		h = (h ^ uint64(e.record) ^ uint64(uint8(e.lane))<<32 ^ uint64(e.bytes)<<40) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	known := &s.last[h>>32%uint64(len(s.last))]
	if *known != 0 && slices.Equal(s.list(*known-1), list) {
		return *known - 1
	}
	x := span{uint32(len(s.entry)), uint32(len(list))}
	s.made += int(unsafe.Sizeof(x)) + 4 + len(list)*int(unsafe.Sizeof(list[0]))
	s.entry = append(s.entry, list...)
	id := uint32(len(s.sets))
	if n := len(s.freeSet); n > 0 {
		id, s.freeSet = s.freeSet[n-1], s.freeSet[:n-1]
		s.sets[id] = x
	} else {
		s.sets = append(s.sets, x)
	}
	s.order = append(s.order, id)
	*known = id + 1
	return id
}

// entries returns what a cell stands for, and what is added to the lanes of the entries; one
// is the storage for a single one.
func (s *shadow) entries(c cell, one *[1]entry) (list []entry, lane int) {
	switch {
	case c == 0:
		return nil, 0
	case c&inSet != 0:
		return s.list(c.id()), c.lane()
	}
	one[0] = entry{record: c.id(), bytes: 15}
	return one[:], c.lane()
}

// sweepAt is how many bytes of records and sets are made, at least, between two sweeps; where
// much memory is touched, it is sweepWord for each cell. Our choice: a sweep looks at
// all cells, which costs a few hundredths of the time of what happens between two.
const (
	sweepAt   = 8 << 10
	sweepWord = 1
)

// mostFree bounds the parts that are kept to be used again. Our choice: 4 KiB.
const mostFree = 8

// sweep frees the records and sets that nothing names any more.
func (c *Checker) sweep() {
	s := &c.shadow
	if c.watch != nil {
		c.watch()
	}
	m := &s.marks
	m.begin(int(s.nrecords), len(s.sets))
	m.record(0)
	c.memories(func(mem *memory) {
		for _, p := range mem.pages {
			s.visit(p)
		}
	})
	c.roots(m.record)
	c.land()
	s.freeRecord, s.used = 0, 0
	for id := s.nrecords; id > 0; {
		id--
		if !m.records.has(id) {
			*s.rec(id) = record{site: s.freeRecord}
			s.freeRecord = id
			continue
		}
		s.used++
	}
	s.freeSet = s.freeSet[:0]
	for id := uint32(len(s.sets)); id > 0; {
		id--
		if !m.sets.has(id) {
			s.freeSet = append(s.freeSet, id)
		}
	}
	s.close()
	s.swept++
	clear(s.last[:])
	s.made = -sweepWord * partWords * s.parts
}

// marks are the records and sets that a sweep has found in use.
type marks struct{ records, sets bits64 }

// bits64 is a set of numbers.
type bits64 []uint64

func (b bits64) has(id uint32) bool { return b[id/64]>>(id%64)&1 != 0 }
func (b bits64) add(id uint32)      { b[id/64] |= 1 << (id % 64) }

func (m *marks) begin(records, sets int) {
	m.records = slices.Grow(m.records[:0], records/64+1)[:records/64+1]
	m.sets = slices.Grow(m.sets[:0], sets/64+1)[:sets/64+1]
	clear(m.records)
	clear(m.sets)
}

func (m *marks) record(id uint32) { m.records.add(id) }

// mark marks what a cell names.
func (s *shadow) mark(x cell) {
	m, id := &s.marks, x.id()
	switch {
	case x&inSet == 0:
		m.records.add(id)
	case !m.sets.has(id):
		m.sets.add(id)
		for _, e := range s.list(id) {
			m.records.add(e.record)
		}
	}
}

// visit marks what the cells of a page name, and frees its parts that are empty.
func (s *shadow) visit(p *page) {
	for k := range p.cells {
		for n, part := range p.cells[k] {
			if part == nil {
				continue
			}
			any, last := cell(0), cell(0) // neighbours often name one record
			for _, x := range part {
				any |= x
				if (x^last)>>5 != 0 {
					s.mark(x)
					last = x
				}
			}
			if any == 0 {
				p.cells[k][n] = nil
				s.drop(part)
			}
		}
	}
	for _, part := range p.chains {
		if part == nil {
			continue
		}
		for _, ch := range part {
			for ; ch != nil; ch = ch.next {
				s.mark(ch.cell)
			}
		}
	}
}

// close moves the entries of marked sets together.
func (s *shadow) close() {
	order, end := s.order[:0], uint32(0)
	for _, id := range s.order {
		if !s.marks.sets.has(id) {
			continue
		}
		x := &s.sets[id]
		copy(s.entry[end:], s.entry[x.at:x.at+x.n])
		x.at = end
		end += x.n
		order = append(order, id)
	}
	s.order, s.entry = order, s.entry[:end]
}

// first is the lowest lane of a mask.
func first(mask uint32) int { return bits.TrailingZeros32(mask) & 31 }

// classOf returns the class of an access of an instruction, to global or to shared memory.
func classOf(in *isa.Inst, far isa.Scope, reads, writes, global bool) class {
	var c class
	if writes {
		c |= write
	}
	if reads {
		c |= read
	}
	switch {
	case in.Order != isa.Weak:
		c |= strong
		if in.Scope >= far {
			c |= wide
		}
	case global && toL2(in):
		c |= strong | wide | hinted
	}
	return c
}

// toL2 reports whether an access goes to the L2, where all SMs see it, because of its cache operator
// (PTX manual, cache operators): one that hardware executes as a whole. PTX gives such accesses no
// order, but programs build flags of them, with fences beside them.
func toL2(in *isa.Inst) bool {
	return in.Elem <= 8 && (in.Cache == isa.CacheCG || in.Cache == isa.CacheCV || in.Cache == isa.CacheWT)
}
