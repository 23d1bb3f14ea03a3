package unset

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: what a block does with memory.

// memory is a memory that all threads of a block share.
type memory interface {
	mark(addr, n uint64, unset bool)
	unset(addr, n uint64) uint64
	bits(addr, n uint64) uint64
}

// block is a block, and its probe.
type block struct {
	check.Deaf
	*launch
	probed exec.ProbedBlock
	reader exec.RegisterReader
	shared flat
	tensor flat // tensor memory: columns without a value, or that are not allocated, are unset
	warps  []warp
	// records are the reads that values came from; the first is none.
	records []record
	known   map[recordKey]uint32
	// moved has, by space and word, the record of unset values that were stored there.
	moved map[word4]uint32

	// pending are the lanes for which the running load has found no byte set, and from is
	// their record.
	pending, from uint32
	warpOf        int // whose lanes details are about
	// source is what the last asynchronous copy read, by lane.
	source     [32]uint64
	sourceOf   memory
	sourceSize uint64
	sources    uint32
}

// warp is the state of a warp.
type warp struct {
	frames [][]reg // by depth of calls
	local  lanes
}

// word4 is a word of shared memory, or of a lane's local memory.
type word4 struct {
	lane int32 // -1 for shared memory, 32 for each warp before plus the lane's number
	at   uint32
}

// start makes the block ready for another one.
func (b *block) start(p exec.ProbedBlock) {
	b.probed = p
	b.reader, _ = p.(exec.RegisterReader)
	b.shared.words, b.tensor.words = b.shared.words[:0], b.tensor.words[:0]
	b.records = append(b.records[:0], record{})
	clear(b.known)
	clear(b.moved)
	b.pending, b.sources = 0, 0
	n := p.Warps()
	for len(b.warps) < n {
		b.warps = append(b.warps, warp{})
	}
	for i := range b.warps[:n] {
		w := &b.warps[i]
		w.local = w.local[:0]
		if len(w.frames) == 0 {
			w.frames = append(w.frames, make([]reg, len(b.plan.fresh)))
		}
		copy(w.frames[0], b.plan.fresh)
		for _, f := range w.frames[1:] {
			clear(f)
		}
	}
}

// End is as in exec.BlockProbe.
func (b *block) End() {
	b.peers.Remove(b.probed.Linear())
	b.probed, b.reader = nil, nil
	b.free = append(b.free, b)
}

// in returns the memory of a space, nil if all of it is set.
func (b *block) in(s isa.Space) memory {
	switch {
	case s == isa.Shared:
		return &b.shared
	case s == isa.Global && len(b.c.memory) > 0:
		return b.c.memory
	}
	return nil
}

// Access is as in exec.BlockProbe.
func (b *block) Access(a *exec.Access) {
	size := uint64(a.Bytes)
	if a.Space == isa.TensorMem {
		b.accessTensor(a, size)
		return
	}
	if a.Peer != 0 || a.By == isa.ByProduct || a.By == isa.ByCommit {
		b.elsewhere(a, size)
		return
	}
	if a.Space == isa.Local {
		b.accessLocal(a, size)
		return
	}
	m := b.in(a.Space)
	if a.Flight && a.Space == isa.Global {
		m = b.c.memory
	}
	if m == nil {
		if a.Write {
			b.stored(a, nil, size)
		}
		return
	}
	if a.Flight {
		b.copied(a, m, size)
		return
	}
	lo, hi, next, row := ^uint64(0), uint64(0), uint64(0), true
	for k := uint32(a.Lanes); k != 0; k &= k - 1 {
		at := a.Addr[bits.TrailingZeros32(k)&31]
		lo, hi = min(lo, at), max(hi, at)
		row, next = row && (at == next || lo == hi), at+size
	}
	hi += size
	done := hi-lo <= pageBytes && m.unset(lo, hi-lo) == 0 // all bytes are set
	if a.Read && !done {
		var whole, part uint32
		for k := uint32(a.Lanes); k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			switch m.unset(a.Addr[i], size) {
			case 0:
			case size:
				whole |= 1 << i
			default:
				part |= 1 << i
			}
		}
		b.read(a, whole, part)
	}
	if !a.Write {
		return
	}
	switch {
	case done:
	case row:
		m.mark(lo, hi-lo, false)
	default:
		for k := uint32(a.Lanes); k != 0; k &= k - 1 {
			m.mark(a.Addr[bits.TrailingZeros32(k)&31], size, false)
		}
	}
	b.stored(a, m, size)
}

// accessLocal is Access for local memory. Lanes mostly use one address.
func (b *block) accessLocal(a *exec.Access, size uint64) {
	local := &b.warps[a.Warp].local
	first := a.Addr[a.Lanes.First()&31]
	same := true
	for k := uint32(a.Lanes); k != 0 && same; k &= k - 1 {
		same = a.Addr[bits.TrailingZeros32(k)&31] == first
	}
	var whole, part uint32
	each := func(at uint64, m uint32) {
		if a.Read {
			all, some := local.set(at, size)
			whole |= m &^ some
			part |= m & some &^ all
		}
		if a.Write {
			local.mark(at, size, m, false)
		}
	}
	if same {
		each(first, uint32(a.Lanes))
	} else {
		for k := uint32(a.Lanes); k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			each(a.Addr[i], 1<<i)
		}
	}
	if whole|part != 0 {
		b.read(a, whole, part)
	}
	if a.Write {
		b.stored(a, nil, size)
	}
}

// accessTensor is Access for tensor memory. What a product reads is used; loads pass it on.
func (b *block) accessTensor(a *exec.Access, size uint64) {
	o := b.peers.Of(a.Peer, b)
	if o == nil {
		return
	}
	var whole, part uint32
	for k := uint32(a.Lanes); k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		if a.Read {
			switch o.tensor.unset(a.Addr[i], size) {
			case 0:
			case size:
				whole |= 1 << i
			default:
				part |= 1 << i
			}
		}
		if a.Write {
			o.tensor.mark(a.Addr[i], size, !a.Flight) // columns are given back at once
		}
	}
	switch {
	case a.By == isa.ByCommit && whole|part != 0: // its lanes are none
		by := *a
		by.Addr = new([32]uint64)
		by.Addr[a.Issuer&31] = a.Addr[bits.TrailingZeros32(whole|part)&31]
		b.atRead(&by, 1<<(a.Issuer&31), true)
	case whole|part != 0:
		b.read(a, whole, part)
	}
}

// copied follows asynchronous copies: they take the state of the bytes along.
func (b *block) copied(a *exec.Access, m memory, size uint64) {
	if a.Read && !a.Write {
		b.source, b.sourceOf, b.sourceSize, b.sources = *a.Addr, m, size, uint32(a.Lanes)
		return
	}
	for k := uint32(a.Lanes); k != 0 && a.Write; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		m.mark(a.Addr[i], size, false)
		if b.sources>>i&1 == 0 || b.sourceSize != size || b.sourceOf.unset(b.source[i], size) == 0 {
			continue
		}
		for at := uint64(0); at < size; at += 64 {
			for set := b.sourceOf.bits(b.source[i]+at, min(64, size-at)); set != 0; set &= set - 1 {
				m.mark(a.Addr[i]+at+uint64(bits.TrailingZeros64(set)), 1, true)
			}
		}
	}
	b.sources = 0
}

// elsewhere notes that memory of another block of the cluster is set. Whether what is read there, or by a product of
// a warp group, is set is not looked at.
func (b *block) elsewhere(a *exec.Access, size uint64) {
	o := b.peers.Of(a.Peer, nil)
	for k := uint32(a.Lanes); k != 0 && a.Write && o != nil; k &= k - 1 {
		o.shared.mark(a.Addr[bits.TrailingZeros32(k)&31], size, false)
	}
	b.sources = 0
}

// read deals with a read that found no byte of lanes whole set, and some bytes of lanes part.
func (b *block) read(a *exec.Access, whole, part uint32) {
	if part != 0 {
		b.atRead(a, part, false)
	}
	if whole == 0 {
		return
	}
	switch how := b.plan.ops[a.Site].does; {
	case b.c.atReads:
		b.atRead(a, whole, true)
	case how == atomics:
		if from := b.origin(a, whole); b.records[from&^moved].source != 0 {
			b.use(a.Warp, a.Site, &reg{whole, from}, whole, usedAtomic)
			break
		}
		b.atRead(a, whole, true)
	case how == loads, how == swaps, how == matrices:
		b.from = b.origin(a, whole)
		b.pending |= whole
	}
}

// Heap is as in exec.HeapProbe: what malloc gives has no values, and what free gets has none
// any more.
func (b *block) Heap(_, _ int, addr, bytes uint64, freed bool) {
	c := b.c
	if freed {
		bytes = c.heap[addr]
		delete(c.heap, addr)
	} else {
		c.heap[addr] = bytes
	}
	c.memory.mark(addr, bytes, true)
}

// origin returns the record of a read that found no byte set.
func (b *block) origin(a *exec.Access, lanes uint32) uint32 {
	i := bits.TrailingZeros32(lanes) & 31
	if len(b.moved) > 0 && a.Space != isa.Global && a.Space != isa.TensorMem {
		if from, ok := b.moved[place(a, i, a.Addr[i])]; ok {
			return from
		}
	}
	if a.Space == isa.Global && len(b.c.kept.at) > 0 {
		if number := b.c.kept.source(a.Addr[i]); number != 0 {
			return b.fromKept(number)
		}
	}
	from, r := b.record(a.Warp, a.Site, ruleOf(a.Space), i)
	r.bytes, r.space = a.Bytes, a.Space
	for k := lanes; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		r.addr[i] = a.Addr[i]
	}
	return from
}

// place is where block.moved has a word.
func place(a *exec.Access, lane int, addr uint64) word4 {
	if a.Space == isa.Shared {
		lane = -1
	} else {
		lane += 32 * a.Warp
	}
	return word4{int32(lane), uint32(addr / 4)}
}

// stored follows the values of a store: they are used if they go to global memory, and
// otherwise make its bytes unset again. m is the memory unless it is local.
func (b *block) stored(a *exec.Access, m memory, size uint64) {
	o := &b.plan.ops[a.Site]
	if o.does != stores || a.Flight {
		return
	}
	in, regs := b.plan.code[a.Site], b.registers(a.Warp, a.Depth)
	srcs := b.plan.regs[o.from:o.mid]
	any := uint32(0)
	for _, s := range srcs {
		any |= regs[s].lanes
	}
	if any&uint32(a.Lanes) == 0 {
		return
	}
	values := 0
	for i := range srcs {
		if isValue(in, i) {
			values++
		}
	}
	elem, at := uint64(in.Elem), uint64(0)
	if uint64(values)*elem != size { // some are constants
		elem = 0
	}
	for i, s := range srcs {
		if !isValue(in, i) {
			continue
		}
		r := &regs[s]
		t := r.lanes & uint32(a.Lanes)
		from, n := at, elem
		if at += elem; elem == 0 {
			n = size
		}
		if t == 0 {
			continue
		}
		if b.stays(a.Space, a.Addr, t) {
			r.from, b.warpOf = b.traced(a.Warp, a.Site, r, t), a.Warp
			b.keep(r, t, a.Addr, from, n)
			continue
		}
		if a.Space == isa.Global || b.c.atReads {
			b.use(a.Warp, a.Site, r, t, usedStored)
			continue
		}
		r.from = b.traced(a.Warp, a.Site, r, t)
		for k := t; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			addr := a.Addr[i] + from
			if a.Space == isa.Shared {
				m.mark(addr, n, true)
			} else {
				b.warps[a.Warp].local.mark(addr, n, 1<<i, true)
			}
			for x := addr; x < addr+n; x += 4 {
				b.moved[place(a, i, x)] = r.from | moved
			}
		}
	}
}

// isValue reports whether a source of a store or an atomic operation is neither the guard nor
// of the address.
func isValue(in *isa.Inst, i int) bool {
	return in.Bases>>i&1 == 0 && !isPredicate(in.Srcs[i])
}
