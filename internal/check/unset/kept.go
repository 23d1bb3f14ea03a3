package unset

import (
	"fmt"
	"iter"
	"maps"
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: unset values that kernels have stored to global memory. Storing one is no use yet:
// kernels write whole tiles of which nobody looks at the rest. It is used when a kernel uses what
// it reads from there, or when the host copies it.

// source is where such values were read first.
type source struct {
	record
	kernel string
	launch int
	detail map[string]string // of a finding, as of its first value
}

// kept is what is known of unset values in global memory.
type kept struct {
	sources []source
	known   map[findKey]uint32
	// at has, by words of 4 bytes, the index in sources. It counts where the bytes are unset.
	at map[uint64]uint32
	// device are the live allocations that the host reaches by copies alone, by address. Stores
	// to other memory are uses: the host may look at it at any time.
	device []extent
}

type extent struct{ addr, bytes uint64 }

// find returns the place of an address among the allocations, and whether it is in one.
func (k *kept) find(addr uint64) (int, bool) {
	i, exact := slices.BinarySearchFunc(k.device, addr, func(e extent, at uint64) int {
		switch {
		case at < e.addr:
			return 1
		case at-e.addr >= e.bytes:
			return -1
		}
		return 0
	})
	return i, exact
}

// begins notes an allocation, which has no values from before.
func (k *kept) begins(addr, bytes uint64, device bool) {
	k.ends(addr, bytes)
	if device {
		i, _ := k.find(addr)
		k.device = slices.Insert(k.device, i, extent{addr, bytes})
	}
}

// ends forgets allocations and their values.
func (k *kept) ends(addr, bytes uint64) {
	k.device = slices.DeleteFunc(k.device, func(e extent) bool { return e.addr-addr < bytes })
	for _, w := range k.words(addr, bytes) {
		delete(k.at, w)
	}
}

// words returns the words with values in a range, in order.
func (k *kept) words(addr, bytes uint64) (list []uint64) {
	first, last := addr/4, (addr+bytes+3)/4
	if last-first < uint64(len(k.at)) {
		for w := first; w < last; w++ {
			if _, ok := k.at[w]; ok {
				list = append(list, w)
			}
		}
		return list
	}
	for w := range maps.Keys(k.at) {
		if w >= first && w < last {
			list = append(list, w)
		}
	}
	slices.Sort(list)
	return list
}

// keep notes that lanes t of a warp store an unset value, of size n at each address.
func (b *block) keep(r *reg, t uint32, addr *[32]uint64, from, n uint64) {
	k := &b.c.kept
	x := &b.records[r.from&^moved]
	number := x.source
	if number == 0 {
		key := findKey{rule: x.rule, kernel: b.kernel, site: x.site, complete: true}
		if number = k.known[key]; number == 0 {
			k.sources = append(k.sources, source{record: *x, kernel: b.kernel, launch: b.number, detail: b.details(x, t)})
			s := &k.sources[len(k.sources)-1]
			if s.first == "" {
				s.first = b.firstText(x, r.from, t)
			}
			number = uint32(len(k.sources))
			k.known[key] = number
		}
		x.source = number
	}
	for i := range lanesOf(t) {
		at := addr[i] + from
		b.c.memory.mark(at, n, true)
		for w := at / 4; w < (at+n+3)/4; w++ {
			k.at[w] = number
		}
	}
}

// source returns the number of the source of a value in global memory; 0 if nothing was written
// there.
func (k *kept) source(addr uint64) uint32 { return k.at[addr/4] }

// from returns the number of the record of a value that came through global memory.
func (b *block) fromKept(number uint32) uint32 {
	s := &b.c.kept.sources[number-1]
	key := recordKey{warp: -1, site: int(number), rule: s.rule}
	n, ok := b.known[key]
	if !ok {
		n = uint32(len(b.records))
		b.known[key] = n
		r := s.record
		r.source = number
		b.records = append(b.records, r)
	}
	return n | moved
}

// copiedOut reports values that the host copies, and returns how many bytes of them there are.
func (c *Checker) copiedOut(e *check.HostEvent) (bytes uint64) {
	counts := map[uint32]uint64{}
	var order []uint32
	for _, w := range c.kept.words(e.Addr, e.Bytes) {
		lo, hi := max(4*w, e.Addr), min(4*w+4, e.Addr+e.Bytes)
		if n := c.memory.unset(lo, hi-lo); n > 0 {
			number := c.kept.at[w]
			if counts[number] == 0 {
				order = append(order, number)
			}
			counts[number] += n
			bytes += n
		}
	}
	for _, number := range order {
		s := &c.kept.sources[number-1]
		f := c.count(findKey{rule: s.rule, kernel: s.kernel, site: s.site, complete: true}, (counts[number]+3)/4)
		if f == nil {
			continue
		}
		s.fill(f)
		f.Steps = append(f.Steps, hostStep(e, fmt.Sprintf("%s reads %d bytes, of which %d come from there", e.Call, e.Bytes, counts[number])))
	}
	return bytes
}

// fill makes a finding about a source, without its use.
func (s *source) fill(f *check.Finding) {
	first := s.step
	first.Text = s.first
	f.Steps, f.Kernel, f.Launch = []check.Step{first}, instance(s.kernel), s.launch
	maps.Copy(f.Details, s.detail)
}

// hostStep is a call of the host.
func hostStep(e *check.HostEvent, text string) check.Step {
	s := check.Step{Role: check.Called, Text: text}
	if len(e.Host) > 0 {
		s.Place, s.Chain = e.Host[0], e.Host[1:]
	}
	return s
}

// lanesOf yields the lanes of a mask.
func lanesOf(m uint32) iter.Seq[int] {
	return func(yield func(int) bool) {
		for ; m != 0; m &= m - 1 {
			if !yield(bits.TrailingZeros32(m) & 31) {
				return
			}
		}
	}
}

// stays reports whether a store to global memory is no use yet.
func (b *block) stays(space isa.Space, addr *[32]uint64, t uint32) bool {
	if space != isa.Global || b.c.atReads {
		return false
	}
	for i := range lanesOf(t) {
		if _, ok := b.c.kept.find(addr[i]); !ok {
			return false
		}
	}
	return true
}
