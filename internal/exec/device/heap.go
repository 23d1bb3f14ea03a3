package device

import (
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"sort"
)

// heapGrain is the alignment and size unit of blocks of the device heap; malloc in
// kernels guarantees 16 bytes.
const heapGrain = 16

// run is a range of free grains.
type run struct{ first, count uint64 }

// heap hands out blocks of an arena, lowest address first.
type heap struct {
	r      *region
	free   []run             // by ascending address, never adjacent
	live   map[uint64]uint64 // first grain of a block → its size in bytes
	freed  map[uint64]bool   // first grain of every block that was ever freed
	starts []uint64          // a bit for each grain at which a live block begins
	high   uint64            // every grain ever used lies below it
}

// SetHeapSize sets the size of HeapAlloc's arena. It fails after the first
// HeapAlloc.
func (m *Memory) SetHeapSize(size uint64) error {
	if m.heap != nil {
		return fmt.Errorf("the size of the device heap cannot change once a kernel has used it")
	}
	m.cfg.Heap = size
	return nil
}

// HeapAlloc implements malloc in kernels: it returns size bytes aligned to 16, at the
// lowest address of the arena where they fit, with whatever contents were there
// before. It returns false and address zero if no gap is large enough. A size of zero
// gives a unique address that may not be accessed.
func (m *Memory) HeapAlloc(size uint64) (uint64, bool) {
	if m.heap == nil && !m.makeHeap() {
		return 0, false
	}
	h := m.heap
	if size > h.r.Size {
		return 0, false
	}
	grains := max((size+heapGrain-1)/heapGrain, 1)
	for i := range h.free {
		f := &h.free[i]
		if f.count < grains {
			continue
		}
		first := f.first
		f.first += grains
		f.count -= grains
		if f.count == 0 {
			h.free = slices.Delete(h.free, i, i+1)
		}
		h.live[first] = size
		h.starts[first/64] |= 1 << (first % 64)
		h.high = max(h.high, first+grains)
		return h.r.Addr + first*heapGrain, true
	}
	return 0, false
}

func (m *Memory) makeHeap() bool {
	grains := m.cfg.Heap / heapGrain
	addr, err := m.Alloc(grains*heapGrain, "device heap", arena)
	if err != nil {
		return false
	}
	m.heap = emptyHeap(m.before(addr), grains)
	return true
}

// emptyHeap is a heap of an arena, from which nothing has been handed out.
func emptyHeap(r *region, grains uint64) *heap {
	h := &heap{r: r, live: make(map[uint64]uint64), freed: make(map[uint64]bool), starts: make([]uint64, (grains+63)/64)}
	if grains > 0 {
		h.free = []run{{0, grains}}
	}
	return h
}

// clone copies a heap, which may be nil.
func (h *heap) clone() *heap {
	if h == nil {
		return nil
	}
	x := *h
	x.free, x.live, x.freed, x.starts = slices.Clone(h.free), maps.Clone(h.live), maps.Clone(h.freed), slices.Clone(h.starts)
	return &x
}

// restoreHeap puts a heap back; if there was none, the arena stays, and is empty.
func (m *Memory) restoreHeap(was *heap) {
	switch {
	case was != nil:
		m.heap = was.clone()
	case m.heap != nil:
		m.heap = emptyHeap(m.heap.r, m.cfg.Heap/heapGrain)
	}
}

// ErrDoubleFree is within the error of HeapFree for a block that is already free.
var ErrDoubleFree = errors.New("double free")

// HeapFree implements free in kernels. The null pointer is ignored, as the language
// requires; an address that HeapAlloc did not return, or that is already free, is an
// error.
func (m *Memory) HeapFree(addr uint64) error {
	if addr == 0 {
		return nil
	}
	h := m.heap
	if h == nil || !h.r.Contains(addr) {
		return fmt.Errorf("free of 0x%x: the address is not on the device heap", addr)
	}
	grain := (addr - h.r.Addr) / heapGrain
	size, ok := h.live[grain]
	if !ok || addr%heapGrain != 0 {
		if lo, n, in := h.block(addr); in && addr-lo < max(n, 1) {
			return fmt.Errorf("free of 0x%x: it is %s into the block of %s at 0x%x",
				addr, bytesText(addr-lo), bytesText(n), lo)
		}
		if h.freed[grain] && addr%heapGrain == 0 {
			return fmt.Errorf("%w of 0x%x: the block is already free", ErrDoubleFree, addr)
		}
		return fmt.Errorf("free of 0x%x: no block of the device heap begins there", addr)
	}
	grains := max((size+heapGrain-1)/heapGrain, 1)
	delete(h.live, grain)
	h.freed[grain] = true
	h.starts[grain/64] &^= 1 << (grain % 64)
	h.release(grain, grains)
	m.changed()
	return nil
}

// release adds grains to the free runs and joins neighbours.
func (h *heap) release(first, count uint64) {
	i := sort.Search(len(h.free), func(i int) bool { return h.free[i].first > first })
	joinsLeft := i > 0 && h.free[i-1].first+h.free[i-1].count == first
	joinsRight := i < len(h.free) && first+count == h.free[i].first
	switch {
	case joinsLeft && joinsRight:
		h.free[i-1].count += count + h.free[i].count
		h.free = slices.Delete(h.free, i, i+1)
	case joinsLeft:
		h.free[i-1].count += count
	case joinsRight:
		h.free[i].first = first
		h.free[i].count += count
	default:
		h.free = slices.Insert(h.free, i, run{first, count})
	}
}

// block returns the live block with the highest address not above addr, which must
// lie in the arena. The caller checks whether addr is inside it.
func (h *heap) block(addr uint64) (lo, size uint64, ok bool) {
	grain := (addr - h.r.Addr) / heapGrain
	word := grain / 64
	set := h.starts[word] & (^uint64(0) >> (63 - grain%64))
	for set == 0 {
		if word == 0 {
			return 0, 0, false
		}
		word--
		set = h.starts[word]
	}
	first := word*64 + uint64(63-bits.LeadingZeros64(set))
	return h.r.Addr + first*heapGrain, h.live[first], true
}

// explain completes the fault of an access that begins inside the arena.
func (h *heap) explain(f *Fault) {
	if lo, size, ok := h.block(f.Addr); ok {
		grains := max((size+heapGrain-1)/heapGrain, 1)
		if f.Addr-lo < grains*heapGrain {
			f.Detail = fmt.Sprintf("%s the block of %s at 0x%x on the device heap",
				position(f.Addr, f.Size, lo, size), bytesText(size), lo)
			return
		}
	}
	if (f.Addr-h.r.Addr)/heapGrain < h.high {
		f.Kind = UseAfterFree
		f.Detail = "the address is on the device heap, in a freed block"
		return
	}
	f.Detail = "the address is on the device heap, in a part that was never allocated"
}
