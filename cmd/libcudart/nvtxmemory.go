package main

/*
#include "host.h"
#include "nvtx_memory.h"
*/
import "C"

import "github.com/heddle-sim/heddle/internal/work/cuda"

// This file: NVTX's annotations of memory. The functions that programs call are in calls.c; a heap and a
// region have their addresses for handles.

// mostRegions limits the regions of a call. Our choice.
const mostRegions = 1 << 20

// rangesOf returns the ranges that a batch of regions describes; nil if they are not of addresses.
func rangesOf(kind C.uint32_t, count, stride C.size_t, list C.uintptr_t) (ranges []cuda.Range) {
	if kind != C.NVTX_MEM_TYPE_VIRTUAL_ADDRESS || list == 0 || stride < C.sizeof_nvtxMemVirtualRangeDesc_t || count > mostRegions {
		return nil
	}
	for i := range count {
		d := at[C.nvtxMemVirtualRangeDesc_t](list + C.uintptr_t(i*stride))
		ranges = append(ranges, cuda.Range{Addr: uint64(word(&d.ptr)), Size: uint64(d.size)})
	}
	return ranges
}

// ours reports whether a description is of the version that is known.
func ours(version C.uint16_t) bool { return version == C.NVTX_EXT_COMPATID_MEM }

//export heddleNvtxHeap
func heddleNvtxHeap(desc C.uintptr_t) C.uintptr_t {
	if desc == 0 {
		return 0
	}
	r := seen(func() (r cuda.Range) {
		d := at[C.nvtxMemHeapDesc_t](desc)
		if ours(d.extCompatID) && d.usage == C.NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR {
			if list := rangesOf(d._type, 1, d.typeSpecificDescSize, C.uintptr_t(word(&d.typeSpecificDesc))); len(list) > 0 {
				r = list[0]
			}
		}
		return r
	})
	if r.Size > 0 {
		thread().RegisterHeap(r)
	}
	return C.uintptr_t(r.Addr)
}

//export heddleNvtxHeapEnds
func heddleNvtxHeapEnds(heap C.uintptr_t, whole C.int) {
	thread().EmptyHeap(uint64(heap), whole != 0)
}

//export heddleNvtxRegions
func heddleNvtxRegions(desc C.uintptr_t) {
	if desc == 0 {
		return
	}
	heap := uint64(0)
	list := seen(func() []cuda.Range {
		d := at[C.nvtxMemRegionsRegisterBatch_t](desc)
		if !ours(d.extCompatID) {
			return nil
		}
		heap = uint64(word(&d.heap))
		list := rangesOf(d.regionType, d.regionCount, d.regionDescElementSize, C.uintptr_t(word(&d.regionDescElements)))
		if out := C.uintptr_t(word(&d.regionHandleElementsOut)); out != 0 {
			for i, r := range list {
				*at[uint64](out + C.uintptr_t(8*i)) = r.Addr
			}
		}
		return list
	})
	for _, r := range list {
		thread().RegisterRegion(heap, r)
	}
}

//export heddleNvtxResize
func heddleNvtxResize(desc C.uintptr_t) {
	if desc == 0 {
		return
	}
	for _, r := range seen(func() []cuda.Range {
		d := at[C.nvtxMemRegionsResizeBatch_t](desc)
		if !ours(d.extCompatID) {
			return nil
		}
		return rangesOf(d.regionType, d.regionDescCount, d.regionDescElementSize, C.uintptr_t(word(&d.regionDescElements)))
	}) {
		thread().ResizeRegion(r)
	}
}

//export heddleNvtxRegionsEnd
func heddleNvtxRegionsEnd(desc C.uintptr_t) {
	if desc == 0 {
		return
	}
	for _, addr := range seen(func() (list []uint64) {
		d := at[C.nvtxMemRegionsUnregisterBatch_t](desc)
		if !ours(d.extCompatID) || d.refElementSize < 8 || d.refCount > mostRegions || d.refElements == nil {
			return nil
		}
		for i := range d.refCount {
			list = append(list, *at[uint64](C.uintptr_t(word(&d.refElements)) + C.uintptr_t(i*d.refElementSize)))
		}
		return list
	}) {
		thread().UnregisterRegion(addr)
	}
}
