package main

/*
#include "host.h"
*/
import "C"

import "github.com/heddle-sim/heddle/internal/work/cuda"

// This file: memory and copies.

//export cudaMalloc
func cudaMalloc(to C.uintptr_t, n C.size_t) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	addr, err := thread().Malloc(uint64(n))
	return give(to, C.uintptr_t(addr), err)
}

//export cudaMallocPitch
func cudaMallocPitch(to, pitch C.uintptr_t, width, height C.size_t) C.int {
	if err := need(to, pitch); err != cuda.Success {
		return C.int(err)
	}
	addr, p, err := thread().MallocPitch(uint64(width), uint64(height))
	give(pitch, C.size_t(p), err)
	return give(to, C.uintptr_t(addr), err)
}

//export cudaMalloc3D
func cudaMalloc3D(to C.uintptr_t, e C.struct_cudaExtent) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	if e.depth > 0 && e.height > (1<<46)/e.depth {
		return C.int(thread().Check(false))
	}
	addr, pitch, err := thread().MallocPitch(uint64(e.width), uint64(e.height*e.depth))
	type pitched struct{ ptr, pitch, x, y uintptr } // cudaPitchedPtr
	return give(to, pitched{uintptr(addr), uintptr(pitch), uintptr(e.width), uintptr(e.height)}, err)
}

//export cudaFree
func cudaFree(addr C.uintptr_t) C.int { return C.int(thread().Free(uint64(addr))) }

//export cudaMallocHost
func cudaMallocHost(to C.uintptr_t, n C.size_t) C.int { return cudaHostAlloc(to, n, 0) }

//export cudaHostAlloc
func cudaHostAlloc(to C.uintptr_t, n C.size_t, flags C.uint) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	addr, err := thread().MallocHost(uint64(n), uint32(flags))
	return give(to, C.uintptr_t(addr), err)
}

//export cudaMallocManaged
func cudaMallocManaged(to C.uintptr_t, n C.size_t, flags C.uint) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	addr, err := thread().MallocManaged(uint64(n), uint32(flags))
	return give(to, C.uintptr_t(addr), err)
}

// heddlePrefetch implements cudaMemPrefetchAsync; versions.c has its names.
//
//export heddlePrefetch
func heddlePrefetch(addr C.uintptr_t, n C.size_t, device C.int, stream C.uintptr_t) C.int {
	return C.int(thread().Prefetch(uint64(addr), uint64(n), int(device), uint64(stream)))
}

// heddleAdvise implements cudaMemAdvise; versions.c has its names.
//
//export heddleAdvise
func heddleAdvise(addr C.uintptr_t, n C.size_t, advice, device C.int) C.int {
	return C.int(thread().Advise(uint64(addr), uint64(n), int32(advice), int(device)))
}

//export cudaStreamAttachMemAsync
func cudaStreamAttachMemAsync(stream, addr C.uintptr_t, n C.size_t, flags C.uint) C.int {
	return C.int(thread().Attach(uint64(stream), uint64(addr), uint64(n), uint32(flags)))
}

//export cudaFreeHost
func cudaFreeHost(addr C.uintptr_t) C.int { return C.int(thread().FreeHost(uint64(addr))) }

//export cudaHostRegister
func cudaHostRegister(addr C.uintptr_t, n C.size_t, flags C.uint) C.int {
	return C.int(thread().HostRegister(uint64(addr), uint64(n), uint32(flags)))
}

//export cudaHostUnregister
func cudaHostUnregister(addr C.uintptr_t) C.int {
	return C.int(thread().HostUnregister(uint64(addr)))
}

//export cudaHostGetDevicePointer
func cudaHostGetDevicePointer(to, addr C.uintptr_t, flags C.uint) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	_, err := thread().HostFlags(uint64(addr))
	return give(to, addr, err)
}

//export cudaHostGetFlags
func cudaHostGetFlags(to, addr C.uintptr_t) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	flags, err := thread().HostFlags(uint64(addr))
	return give(to, C.uint(flags), err)
}

//export cudaPointerGetAttributes
func cudaPointerGetAttributes(to, addr C.uintptr_t) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	w, device, err := thread().Where(uint64(addr))
	type attributes struct { // cudaPointerAttributes
		kind, device int32
		dev, host    uintptr
	}
	a := attributes{kind: int32(w), device: int32(device)}
	if w != cuda.Unregistered {
		a.dev = uintptr(addr)
	}
	if w != cuda.DeviceMemory {
		a.host = uintptr(addr)
	}
	return give(to, a, err)
}

//export cudaMemGetInfo
func cudaMemGetInfo(free, total C.uintptr_t) C.int {
	if err := need(free, total); err != cuda.Success {
		return C.int(err)
	}
	f, n, err := thread().MemInfo()
	give(free, C.size_t(f), err)
	return give(total, C.size_t(n), err)
}

// __heddleSymbol is called by our headers for a char pointer that may be a device
// variable or the name of one: it returns the shadow of the variable, or host itself.
//
//export __heddleSymbol
func __heddleSymbol(host, name C.uintptr_t) C.uintptr_t {
	return C.uintptr_t(thread().SymbolNamed(uint64(host), func() string { return text(name) }))
}

//export cudaGetSymbolAddress
func cudaGetSymbolAddress(to, symbol C.uintptr_t) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	addr, _, err := thread().Symbol(uint64(symbol))
	return give(to, C.uintptr_t(addr), err)
}

//export cudaGetSymbolSize
func cudaGetSymbolSize(to, symbol C.uintptr_t) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	_, n, err := thread().Symbol(uint64(symbol))
	return give(to, C.size_t(n), err)
}

func copyBytes(dst, src C.uintptr_t, n C.size_t, kind C.int, stream C.uintptr_t, async bool) C.int {
	return C.int(thread().Copy(uint64(dst), uint64(src), uint64(n), cuda.Kind(kind), uint64(stream), async))
}

//export cudaMemcpy
func cudaMemcpy(dst, src C.uintptr_t, n C.size_t, kind C.int) C.int {
	return copyBytes(dst, src, n, kind, 0, false)
}

//export cudaMemcpyAsync
func cudaMemcpyAsync(dst, src C.uintptr_t, n C.size_t, kind C.int, stream C.uintptr_t) C.int {
	return copyBytes(dst, src, n, kind, stream, true)
}

//export cudaMemcpyPeer
func cudaMemcpyPeer(dst C.uintptr_t, to C.int, src C.uintptr_t, from C.int, n C.size_t) C.int {
	return copyPeer(dst, to, src, from, n, 0, false)
}

//export cudaMemcpyPeerAsync
func cudaMemcpyPeerAsync(dst C.uintptr_t, to C.int, src C.uintptr_t, from C.int, n C.size_t, stream C.uintptr_t) C.int {
	return copyPeer(dst, to, src, from, n, stream, true)
}

func copyPeer(dst C.uintptr_t, to C.int, src C.uintptr_t, from C.int, n C.size_t, stream C.uintptr_t, async bool) C.int {
	return C.int(thread().CopyPeer(uint64(dst), int(to), uint64(src), int(from), uint64(n), uint64(stream), async))
}

func copyRows(dst C.uintptr_t, dp C.size_t, src C.uintptr_t, sp, width, height C.size_t, kind C.int, stream C.uintptr_t, async bool) C.int {
	return C.int(thread().CopyRows(uint64(dst), uint64(src), cuda.Rows{
		Width: uint64(width), Height: uint64(height), Depth: 1, DstPitch: uint64(dp), SrcPitch: uint64(sp),
	}, cuda.Kind(kind), uint64(stream), async))
}

//export cudaMemcpy2D
func cudaMemcpy2D(dst C.uintptr_t, dp C.size_t, src C.uintptr_t, sp, width, height C.size_t, kind C.int) C.int {
	return copyRows(dst, dp, src, sp, width, height, kind, 0, false)
}

//export cudaMemcpy2DAsync
func cudaMemcpy2DAsync(dst C.uintptr_t, dp C.size_t, src C.uintptr_t, sp, width, height C.size_t, kind C.int, stream C.uintptr_t) C.int {
	return copyRows(dst, dp, src, sp, width, height, kind, stream, true)
}

//export cudaMemcpyToSymbol
func cudaMemcpyToSymbol(symbol, src C.uintptr_t, n, offset C.size_t, kind C.int) C.int {
	return C.int(thread().CopyToSymbol(uint64(symbol), uint64(src), uint64(n), uint64(offset), cuda.Kind(kind), 0, false))
}

//export cudaMemcpyToSymbolAsync
func cudaMemcpyToSymbolAsync(symbol, src C.uintptr_t, n, offset C.size_t, kind C.int, stream C.uintptr_t) C.int {
	return C.int(thread().CopyToSymbol(uint64(symbol), uint64(src), uint64(n), uint64(offset), cuda.Kind(kind), uint64(stream), true))
}

//export cudaMemcpyFromSymbol
func cudaMemcpyFromSymbol(dst, symbol C.uintptr_t, n, offset C.size_t, kind C.int) C.int {
	return C.int(thread().CopyFromSymbol(uint64(dst), uint64(symbol), uint64(n), uint64(offset), cuda.Kind(kind), 0, false))
}

//export cudaMemcpyFromSymbolAsync
func cudaMemcpyFromSymbolAsync(dst, symbol C.uintptr_t, n, offset C.size_t, kind C.int, stream C.uintptr_t) C.int {
	return C.int(thread().CopyFromSymbol(uint64(dst), uint64(symbol), uint64(n), uint64(offset), cuda.Kind(kind), uint64(stream), true))
}

func fill(dst C.uintptr_t, pitch C.size_t, value C.int, width, height C.size_t, stream C.uintptr_t) C.int {
	return C.int(thread().Fill(uint64(dst), byte(value), cuda.Rows{Width: uint64(width), Height: uint64(height), Depth: 1, DstPitch: uint64(pitch)}, uint64(stream)))
}

//export cudaMemset
func cudaMemset(dst C.uintptr_t, value C.int, n C.size_t) C.int { return fill(dst, n, value, n, 1, 0) }

//export cudaMemsetAsync
func cudaMemsetAsync(dst C.uintptr_t, value C.int, n C.size_t, stream C.uintptr_t) C.int {
	return fill(dst, n, value, n, 1, stream)
}

//export cudaMemset2D
func cudaMemset2D(dst C.uintptr_t, pitch C.size_t, value C.int, width, height C.size_t) C.int {
	return fill(dst, pitch, value, width, height, 0)
}

//export cudaMemset2DAsync
func cudaMemset2DAsync(dst C.uintptr_t, pitch C.size_t, value C.int, width, height C.size_t, stream C.uintptr_t) C.int {
	return fill(dst, pitch, value, width, height, stream)
}
