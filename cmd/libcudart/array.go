package main

/*
#include "host.h"
*/
import "C"

import "github.com/heddle-sim/heddle/internal/work/cuda"

// This file: arrays, and copies to and from them.

// at returns the struct at an address of the host.
func at[T any](addr C.uintptr_t) *T { return (*T)(pointer(uint64(addr))) }

// word reads a C pointer as a number: it may be a handle or a device address, which Go
// must not treat as a pointer.
func word[T any](p *T) uintptr { return *at[uintptr](C.uintptr_t(addressOf(p))) }

func channel(d *C.struct_cudaChannelFormatDesc) cuda.Channel {
	return cuda.Channel{Bits: [4]int32{int32(d.x), int32(d.y), int32(d.z), int32(d.w)}, Kind: int32(d.f)}
}

func describe(c cuda.Channel) C.struct_cudaChannelFormatDesc {
	return C.struct_cudaChannelFormatDesc{x: C.int(c.Bits[0]), y: C.int(c.Bits[1]), z: C.int(c.Bits[2]), w: C.int(c.Bits[3]), f: uint32(c.Kind)}
}

//export cudaMallocArray
func cudaMallocArray(to, desc C.uintptr_t, width, height C.size_t, flags C.uint) C.int {
	return cudaMalloc3DArray(to, desc, C.struct_cudaExtent{width: width, height: height}, flags)
}

//export cudaMalloc3DArray
func cudaMalloc3DArray(to, desc C.uintptr_t, e C.struct_cudaExtent, flags C.uint) C.int {
	if err := need(to, desc); err != cuda.Success {
		return C.int(err)
	}
	h, err := thread().MallocArray(channel(at[C.struct_cudaChannelFormatDesc](desc)), uint64(e.width), uint64(e.height), uint64(e.depth), uint32(flags))
	return give(to, C.uintptr_t(h), err)
}

//export cudaFreeArray
func cudaFreeArray(h C.uintptr_t) C.int { return C.int(thread().FreeArray(uint64(h))) }

//export cudaMallocMipmappedArray
func cudaMallocMipmappedArray(to, desc C.uintptr_t, e C.struct_cudaExtent, levels, flags C.uint) C.int {
	if err := need(to, desc); err != cuda.Success {
		return C.int(err)
	}
	h, err := thread().MallocMipmap(channel(at[C.struct_cudaChannelFormatDesc](desc)), uint64(e.width), uint64(e.height), uint64(e.depth), int(levels), uint32(flags))
	return give(to, C.uintptr_t(h), err)
}

//export cudaGetMipmappedArrayLevel
func cudaGetMipmappedArrayLevel(to, h C.uintptr_t, level C.uint) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	l, err := thread().Level(uint64(h), uint32(level))
	return give(to, C.uintptr_t(l), err)
}

//export cudaFreeMipmappedArray
func cudaFreeMipmappedArray(h C.uintptr_t) C.int { return C.int(thread().FreeMipmap(uint64(h))) }

//export cudaGetChannelDesc
func cudaGetChannelDesc(to, h C.uintptr_t) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	a, err := thread().Array(uint64(h))
	return give(to, describe(a.Channel), err)
}

//export cudaArrayGetInfo
func cudaArrayGetInfo(desc, extent, flags, h C.uintptr_t) C.int {
	a, err := thread().Array(uint64(h))
	if err == cuda.Success {
		if desc != 0 {
			put(desc, describe(a.Channel))
		}
		if extent != 0 {
			put(extent, C.struct_cudaExtent{width: C.size_t(a.Width), height: C.size_t(a.Height), depth: C.size_t(a.Depth)})
		}
		if flags != 0 {
			put(flags, C.uint(a.Flags))
		}
	}
	return C.int(err)
}

// image is a side of a copy in an array; x is in bytes.
func image(h C.uintptr_t, x, y C.size_t) cuda.Side {
	return cuda.Side{Array: uint64(h), X: uint64(x), Y: uint64(y)}
}

// rows is a side of a copy in memory.
func rows(addr C.uintptr_t, pitch C.size_t) cuda.Side {
	return cuda.Side{Addr: uint64(addr), Pitch: uint64(pitch)}
}

func arrayRows(dst, src cuda.Side, width, height C.size_t, kind C.int, stream C.uintptr_t, async bool) C.int {
	return C.int(thread().CopyBox(dst, src, uint64(width), uint64(height), 1, cuda.Kind(kind), uint64(stream), async))
}

// arrayBytes returns the address of n bytes of an array from a position on; they may
// continue in the following rows.
func arrayBytes(h C.uintptr_t, x, y, n C.size_t) (uint64, cuda.Error) {
	a, err := thread().Array(uint64(h))
	if err != cuda.Success {
		return 0, err
	}
	addr, _, _, err := a.Place(uint64(x), uint64(y), 0, uint64(n))
	if err != cuda.Success {
		return 0, thread().Check(false)
	}
	return addr, err
}

//export cudaMemcpyToArray
func cudaMemcpyToArray(h C.uintptr_t, x, y C.size_t, src C.uintptr_t, n C.size_t, kind C.int) C.int {
	return bytesToArray(h, x, y, src, n, kind, 0, false)
}

//export cudaMemcpyToArrayAsync
func cudaMemcpyToArrayAsync(h C.uintptr_t, x, y C.size_t, src C.uintptr_t, n C.size_t, kind C.int, stream C.uintptr_t) C.int {
	return bytesToArray(h, x, y, src, n, kind, stream, true)
}

func bytesToArray(h C.uintptr_t, x, y C.size_t, src C.uintptr_t, n C.size_t, kind C.int, stream C.uintptr_t, async bool) C.int {
	dst, err := arrayBytes(h, x, y, n)
	if err == cuda.Success {
		err = thread().Copy(dst, uint64(src), uint64(n), cuda.Kind(kind), uint64(stream), async)
	}
	return C.int(err)
}

//export cudaMemcpyFromArray
func cudaMemcpyFromArray(dst, h C.uintptr_t, x, y, n C.size_t, kind C.int) C.int {
	return bytesFromArray(dst, h, x, y, n, kind, 0, false)
}

//export cudaMemcpyFromArrayAsync
func cudaMemcpyFromArrayAsync(dst, h C.uintptr_t, x, y, n C.size_t, kind C.int, stream C.uintptr_t) C.int {
	return bytesFromArray(dst, h, x, y, n, kind, stream, true)
}

func bytesFromArray(dst, h C.uintptr_t, x, y, n C.size_t, kind C.int, stream C.uintptr_t, async bool) C.int {
	src, err := arrayBytes(h, x, y, n)
	if err == cuda.Success {
		err = thread().Copy(uint64(dst), src, uint64(n), cuda.Kind(kind), uint64(stream), async)
	}
	return C.int(err)
}

//export cudaMemcpyArrayToArray
func cudaMemcpyArrayToArray(to C.uintptr_t, tx, ty C.size_t, from C.uintptr_t, fx, fy, n C.size_t, kind C.int) C.int {
	dst, err := arrayBytes(to, tx, ty, n)
	if err != cuda.Success {
		return C.int(err)
	}
	return bytesFromArray(C.uintptr_t(dst), from, fx, fy, n, kind, 0, false)
}

//export cudaMemcpy2DToArray
func cudaMemcpy2DToArray(h C.uintptr_t, x, y C.size_t, src C.uintptr_t, pitch, width, height C.size_t, kind C.int) C.int {
	return arrayRows(image(h, x, y), rows(src, pitch), width, height, kind, 0, false)
}

//export cudaMemcpy2DToArrayAsync
func cudaMemcpy2DToArrayAsync(h C.uintptr_t, x, y C.size_t, src C.uintptr_t, pitch, width, height C.size_t, kind C.int, stream C.uintptr_t) C.int {
	return arrayRows(image(h, x, y), rows(src, pitch), width, height, kind, stream, true)
}

//export cudaMemcpy2DFromArray
func cudaMemcpy2DFromArray(dst C.uintptr_t, pitch C.size_t, h C.uintptr_t, x, y, width, height C.size_t, kind C.int) C.int {
	return arrayRows(rows(dst, pitch), image(h, x, y), width, height, kind, 0, false)
}

//export cudaMemcpy2DFromArrayAsync
func cudaMemcpy2DFromArrayAsync(dst C.uintptr_t, pitch C.size_t, h C.uintptr_t, x, y, width, height C.size_t, kind C.int, stream C.uintptr_t) C.int {
	return arrayRows(rows(dst, pitch), image(h, x, y), width, height, kind, stream, true)
}

//export cudaMemcpy2DArrayToArray
func cudaMemcpy2DArrayToArray(to C.uintptr_t, tx, ty C.size_t, from C.uintptr_t, fx, fy, width, height C.size_t, kind C.int) C.int {
	return arrayRows(image(to, tx, ty), image(from, fx, fy), width, height, kind, 0, false)
}

//export cudaMemcpy3D
func cudaMemcpy3D(parms C.uintptr_t) C.int { return copy3D(parms, 0, false) }

//export cudaMemcpy3DAsync
func cudaMemcpy3DAsync(parms, stream C.uintptr_t) C.int { return copy3D(parms, stream, true) }

//export cudaMemcpy3DPeer
func cudaMemcpy3DPeer(parms C.uintptr_t) C.int { return copy3DPeer(parms, 0, false) }

//export cudaMemcpy3DPeerAsync
func cudaMemcpy3DPeerAsync(parms, stream C.uintptr_t) C.int { return copy3DPeer(parms, stream, true) }

// copy3DPeer copies a box from a device to another.
func copy3DPeer(parms, stream C.uintptr_t, async bool) C.int {
	if err := need(parms); err != cuda.Success {
		return C.int(err)
	}
	p := at[C.struct_cudaMemcpy3DPeerParms](parms)
	for _, d := range []C.int{p.dstDevice, p.srcDevice} {
		if err := there(d); err != cuda.Success {
			return C.int(err)
		}
	}
	b, err := boxOf(&C.struct_cudaMemcpy3DParms{
		srcArray: p.srcArray, srcPos: p.srcPos, srcPtr: p.srcPtr, dstArray: p.dstArray, dstPos: p.dstPos, dstPtr: p.dstPtr, extent: p.extent,
	})
	if err != cuda.Success {
		return C.int(err)
	}
	return C.int(thread().CopyBoxPeer(b, int(p.dstDevice), int(p.srcDevice), cuda.AnyWay, uint64(stream), async))
}

// copy3D copies a box.
func copy3D(parms, stream C.uintptr_t, async bool) C.int {
	if err := need(parms); err != cuda.Success {
		return C.int(err)
	}
	b, err := boxOf(at[C.struct_cudaMemcpy3DParms](parms))
	if err != cuda.Success {
		return C.int(err)
	}
	return C.int(thread().CopyBox(b.Dst, b.Src, b.Width, b.Height, b.Depth, cuda.Kind(at[C.struct_cudaMemcpy3DParms](parms).kind), uint64(stream), async))
}

// boxOf reads a cudaMemcpy3DParms. Each side is either an array or a pointer. If one is an
// array, the width is in texels, and so is x on that side.
func boxOf(p *C.struct_cudaMemcpy3DParms) (cuda.Box, cuda.Error) {
	unit := uint64(0) // bytes of a texel
	side := func(array uint64, pos C.struct_cudaPos, ptr *C.struct_cudaPitchedPtr) (cuda.Side, cuda.Error) {
		s := cuda.Side{Array: array, X: uint64(pos.x), Y: uint64(pos.y), Z: uint64(pos.z)}
		if array == 0 {
			s.Addr, s.Pitch = uint64(word(&ptr.ptr)), uint64(ptr.pitch)
			s.Plane = s.Pitch * uint64(min(ptr.ysize, 1<<20))
			return s, thread().Check(s.Pitch <= 1<<40 && word(&ptr.ptr) != 0)
		}
		if err := thread().Check(word(&ptr.ptr) == 0); err != cuda.Success {
			return s, err
		}
		a, err := thread().Array(array)
		if err == cuda.Success {
			err = thread().Check((unit == 0 || unit == a.Texel()) && s.X <= 1<<40)
		}
		unit = a.Texel()
		s.X *= unit
		return s, err
	}
	src, err := side(uint64(word(&p.srcArray)), p.srcPos, &p.srcPtr)
	if err != cuda.Success {
		return cuda.Box{}, err
	}
	dst, err := side(uint64(word(&p.dstArray)), p.dstPos, &p.dstPtr)
	if err == cuda.Success {
		err = thread().Check(p.extent.width <= 1<<40)
	}
	return cuda.Box{Dst: dst, Src: src, Width: uint64(p.extent.width) * max(1, unit), Height: uint64(p.extent.height), Depth: uint64(p.extent.depth)}, err
}

//export cudaMemset3D
func cudaMemset3D(p C.struct_cudaPitchedPtr, value C.int, e C.struct_cudaExtent) C.int {
	return cudaMemset3DAsync(p, value, e, 0)
}

//export cudaMemset3DAsync
func cudaMemset3DAsync(p C.struct_cudaPitchedPtr, value C.int, e C.struct_cudaExtent, stream C.uintptr_t) C.int {
	return C.int(thread().Fill(uint64(word(&p.ptr)), byte(value), cuda.Rows{
		Width: uint64(e.width), Height: uint64(e.height), Depth: uint64(e.depth),
		DstPitch: uint64(p.pitch), DstPlane: uint64(p.pitch) * uint64(min(p.ysize, 1<<20)),
	}, uint64(stream)))
}

//export cudaCreateChannelDesc
func cudaCreateChannelDesc(x, y, z, w, f C.int) C.struct_cudaChannelFormatDesc {
	return C.struct_cudaChannelFormatDesc{x: x, y: y, z: z, w: w, f: uint32(f)}
}
