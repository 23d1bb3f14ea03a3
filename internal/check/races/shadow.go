package races

import (
	"math/bits"
	"slices"

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

// page is the shadow of pageBytes of memory.
type page struct {
	cells  [2][pageWords]cell // of reads and of writes
	chains *[pageWords]*chain // of words that strong operations wrote
	spare  *chain             // chains to be used again
}

const (
	pageBytes = 4096
	pageWords = pageBytes / 4
	ofReads   = 0
	ofWrites  = 1
)

// memory is the shadow of a space. Recently used pages are found without the map.
type memory struct {
	pages  map[uint64]*page
	recent [64]struct {
		number uint64
		page   *page
	}
}

func newMemory() *memory { return &memory{pages: map[uint64]*page{}} }

// page returns the page of an address.
func (m *memory) page(addr uint64) *page {
	n := addr / pageBytes
	r := &m.recent[n%64]
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

// forget forgets what happened in a range.
func (m *memory) forget(addr, bytes uint64) {
	m.each(addr, bytes, func(p *page, i int, _ uint64) {
		p.cells[ofReads][i], p.cells[ofWrites][i] = 0, 0
		if p.chains != nil {
			p.chains[i] = nil
		}
	})
}

// each calls f for the words of a range that have a shadow, with their addresses, in the order
// of these: what is found first is what is shown.
func (m *memory) each(addr, bytes uint64, f func(p *page, i int, addr uint64)) {
	if bytes == 0 {
		return
	}
	first, last := addr/4, (addr+bytes-1)/4
	inPage := func(n uint64, p *page) {
		for i := range pageWords {
			if w := n*pageWords + uint64(i); w >= first && w <= last {
				f(p, i, 4*w)
			}
		}
	}
	if n := last/pageWords - first/pageWords; n > uint64(len(m.pages)) {
		var numbers []uint64
		for n := range m.pages {
			if n >= first/pageWords && n <= last/pageWords {
				numbers = append(numbers, n)
			}
		}
		slices.Sort(numbers)
		for _, n := range numbers {
			inPage(n, m.pages[n])
		}
		return
	}
	for n := first / pageWords; n <= last/pageWords; n++ {
		if p := m.pages[n]; p != nil {
			inPage(n, p)
		}
	}
}

// shadow holds records and sets, by index. Those that no cell names any more are used again.
type shadow struct {
	records    []record
	sets       [][]entry
	freeRecord []uint32
	freeSet    []uint32
	made       int // since the last sweep
	pairs      map[[2]entry]uint32
}

// record makes a record.
func (s *shadow) record(r *record) uint32 {
	s.made++
	if n := len(s.freeRecord); n > 0 {
		id := s.freeRecord[n-1]
		s.freeRecord = s.freeRecord[:n-1]
		s.records[id] = *r
		return id
	}
	s.records = append(s.records, *r)
	return uint32(len(s.records) - 1)
}

// set makes a set of a list, whose storage it takes only a copy of.
func (s *shadow) set(list []entry) uint32 {
	summary := func(e entry) bool { return s.records[e.record].form == blocks }
	var key [2]entry
	pair := len(list) == 2 && summary(list[0]) && summary(list[1])
	if pair {
		key = [2]entry{list[0], list[1]}
		if id, ok := s.pairs[key]; ok {
			return id
		}
	}
	s.made++
	var id uint32
	if n := len(s.freeSet); n > 0 {
		id = s.freeSet[n-1]
		s.freeSet = s.freeSet[:n-1]
		s.sets[id] = append(s.sets[id][:0], list...)
	} else {
		id = uint32(len(s.sets))
		s.sets = append(s.sets, append([]entry(nil), list...))
	}
	if pair {
		s.pairs[key] = id
	}
	return id
}

// entries returns what a cell stands for, and what is added to the lanes of the entries; one
// is the storage for a single one.
func (s *shadow) entries(c cell, one *[1]entry) (list []entry, lane int) {
	switch {
	case c == 0:
		return nil, 0
	case c&inSet != 0:
		return s.sets[c.id()], c.lane()
	}
	one[0] = entry{record: c.id(), bytes: 15}
	return one[:], c.lane()
}

// sweepAt is how many records and sets are made, at least, between two sweeps. Our choice:
// they fill less than a MiB.
const sweepAt = 1 << 14

// sweep frees the records and sets that nothing names any more.
func (c *Checker) sweep() {
	s := &c.shadow
	records, sets := make([]bool, len(s.records)), make([]bool, len(s.sets))
	records[0] = true
	mark := func(x cell) {
		switch {
		case x == 0:
		case x&inSet == 0:
			records[x.id()] = true
		case !sets[x.id()]:
			sets[x.id()] = true
			for _, e := range s.sets[x.id()] {
				records[e.record] = true
			}
		}
	}
	words := 0
	c.memories(func(m *memory) {
		words += len(m.pages) * pageWords
		for _, p := range m.pages {
			for k := range p.cells {
				for _, x := range p.cells[k] {
					mark(x)
				}
			}
			if p.chains != nil {
				for _, ch := range p.chains {
					for ; ch != nil; ch = ch.next {
						mark(ch.cell)
					}
				}
			}
		}
	})
	c.roots(func(id uint32) { records[id] = true })
	clear(s.pairs)
	s.freeRecord, s.freeSet = s.freeRecord[:0], s.freeSet[:0]
	for i := len(records) - 1; i > 0; i-- {
		if !records[i] {
			s.freeRecord = append(s.freeRecord, uint32(i))
		}
	}
	for i := len(sets) - 1; i >= 0; i-- {
		if !sets[i] {
			s.freeSet = append(s.freeSet, uint32(i))
		}
	}
	// Not too often for the work that it is.
	s.made = -(len(records) - len(s.freeRecord)) - words/16
}

// first is the lowest lane of a mask.
func first(mask uint32) int { return bits.TrailingZeros32(mask) & 31 }

// classOf returns the class of an access of an instruction.
func classOf(in *isa.Inst, reads, writes bool) class {
	var c class
	if writes {
		c |= write
	}
	if reads {
		c |= read
	}
	if in.Order != isa.Weak {
		c |= strong
		if in.Scope >= isa.ScopeGPU {
			c |= wide
		}
	}
	return c
}
