package cuda

import (
	"maps"
	"slices"

	"github.com/heddle-sim/heddle/internal/check"
)

// This file: what allocators of the program say of the memory that they share out.

// GivePart says that an allocator of the program gives out size bytes of an allocation, for work on a
// stream; TakePart that they come back, when the stream gets there. Both refuse what lies in no
// allocation (InvalidValue), and do nothing else without checkers.
func (t *Thread) GivePart(addr, size, stream uint64) Error {
	return t.tellPart(check.HostEvent{Kind: check.HostAlloc, Call: "heddle_give", Name: "heddle_give", Addr: addr, Bytes: size}, stream)
}

// TakePart is the end of GivePart.
func (t *Thread) TakePart(addr, size, stream uint64) Error {
	return t.tellPart(check.HostEvent{Kind: check.HostFree, Call: "heddle_take", Name: "heddle_take", Addr: addr, Bytes: size}, stream)
}

func (t *Thread) tellPart(e check.HostEvent, stream uint64) Error {
	bad := InvalidValue
	err := t.do(func(r *Runtime) Error { // which never fails: the program's own errors stay what they are
		s, err := r.stream(stream)
		if err != Success {
			return Success
		}
		d, err := r.holder(e.Addr)
		if err != Success {
			return Success
		}
		if m, ok := d.mem.Find(e.Addr); !ok || e.Bytes == 0 || e.Bytes > m.Size-(e.Addr-m.Addr) {
			return Success
		}
		if bad = Success; r.checked() {
			e.Part, e.Async, e.Stream = true, true, s.key()
			r.tell(e)
		}
		return Success
	})
	if err != Success {
		return err
	}
	return bad
}

// Range is a range of addresses.
type Range struct{ Addr, Size uint64 }

// heaps are the heaps and regions of NVTX, by address. They are known only if there are checkers.
type heaps struct {
	sizes   map[uint64]uint64
	regions map[uint64]region
}

type region struct{ heap, size uint64 }

// RegisterHeap says that an allocator of the program shares out the memory of a range, which begins with
// the first region (nvtxMemHeapRegister).
func (t *Thread) RegisterHeap(r Range) {
	t.annotate(func(d *Runtime, h *heaps) { h.sizes[r.Addr] = r.Size })
}

// RegisterRegion says that a range of a heap is given out; of heaps that are not known it says nothing.
func (t *Thread) RegisterRegion(heap uint64, r Range) {
	t.annotate(func(d *Runtime, h *heaps) {
		if size, ok := h.sizes[heap]; ok && r.Addr-heap < size && r.Size > 0 && r.Size <= size-(r.Addr-heap) && d.tellRegion(check.HostAlloc, "nvtxMemRegionsRegister", r, 0, Range{heap, size}) {
			h.regions[r.Addr] = region{heap, r.Size}
		}
	})
}

// ResizeRegion says that the region at an address has another size, and keeps its contents.
func (t *Thread) ResizeRegion(r Range) {
	t.annotate(func(d *Runtime, h *heaps) {
		if old, ok := h.regions[r.Addr]; ok && r.Size > 0 && r.Size <= h.sizes[old.heap]-(r.Addr-old.heap) && d.tellRegion(check.HostResize, "nvtxMemRegionsResize", r, old.size, Range{old.heap, h.sizes[old.heap]}) {
			h.regions[r.Addr] = region{old.heap, r.Size}
		}
	})
}

// UnregisterRegion is the end of RegisterRegion.
func (t *Thread) UnregisterRegion(addr uint64) {
	t.annotate(func(d *Runtime, h *heaps) {
		known := false // else it was not given out here: of the process, or of a heap that is no pool
		for heap, size := range h.sizes {
			known = known || addr-heap < size
		}
		if known {
			d.tellRegion(check.HostFree, "nvtxMemRegionsUnregister", Range{addr, max(1, h.regions[addr].size)}, 0, Range{})
		}
		delete(h.regions, addr)
	})
}

// EmptyHeap ends all regions of a heap, and with whole the heap itself.
func (t *Thread) EmptyHeap(heap uint64, whole bool) {
	t.annotate(func(d *Runtime, h *heaps) {
		size, ok := h.sizes[heap]
		if !ok {
			return
		}
		for _, addr := range slices.Sorted(maps.Keys(h.regions)) {
			if r := h.regions[addr]; r.heap == heap {
				if !whole {
					d.tellRegion(check.HostFree, "nvtxMemHeapReset", Range{addr, r.size}, 0, Range{})
				}
				delete(h.regions, addr)
			}
		}
		if whole {
			delete(h.sizes, heap)
			d.tellRegion(check.HostWhole, "nvtxMemHeapUnregister", Range{heap, size}, 0, Range{})
		}
	})
}

// annotate changes what is known of heaps. The program's errors stay what they are.
func (t *Thread) annotate(f func(d *Runtime, h *heaps)) {
	_ = t.do(func(r *Runtime) Error {
		if !r.checked() {
			return Success
		}
		if r.heaps.sizes == nil {
			r.heaps = heaps{sizes: map[uint64]uint64{}, regions: map[uint64]region{}}
		}
		f(r, &r.heaps)
		return Success
	})
}

// tellRegion tells of a region, which is a part of an allocation. It does nothing, and returns false,
// where there is none.
func (r *Runtime) tellRegion(kind check.HostKind, call string, at Range, old uint64, heap Range) bool {
	d, err := r.holder(at.Addr)
	if err != Success {
		return false
	}
	if m, ok := d.mem.Find(at.Addr); !ok || at.Size > m.Size-(at.Addr-m.Addr) {
		return false
	}
	r.tell(check.HostEvent{Kind: kind, Call: call, Name: call, Addr: at.Addr, Bytes: at.Size, Old: old, HeapAddr: heap.Addr, HeapBytes: heap.Size, Part: kind == check.HostAlloc || kind == check.HostFree})
	return true
}
