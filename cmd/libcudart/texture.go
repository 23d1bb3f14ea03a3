package main

/*
#include "host.h"
*/
import "C"

import "github.com/heddle-sim/heddle/internal/cuda"

// This file: arrays, textures, and copies in three dimensions.

// at returns the struct at an address of the host.
func at[T any](addr C.uintptr_t) *T { return (*T)(pointer(uint64(addr))) }

func channel(d *C.struct_cudaChannelFormatDesc) cuda.Channel {
	return cuda.Channel{Bits: [4]int32{int32(d.x), int32(d.y), int32(d.z), int32(d.w)}, Kind: int32(d.f)}
}

func describe(c cuda.Channel) C.struct_cudaChannelFormatDesc {
	return C.struct_cudaChannelFormatDesc{x: C.int(c.Bits[0]), y: C.int(c.Bits[1]), z: C.int(c.Bits[2]), w: C.int(c.Bits[3]), f: uint32(c.Kind)}
}

//export __cudaRegisterTexture
func __cudaRegisterTexture(handle, hostVar, deviceAddr, name C.uintptr_t, dim, norm, ext C.int) {
	runtime().RegisterTexture(uint64(handle), uint64(hostVar), text(name), norm != 0)
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

// toArray copies rows to an array, or bytes that fill its rows (height 0).
func toArray(h C.uintptr_t, x, y C.size_t, src C.uintptr_t, pitch, width, height C.size_t, kind C.int) C.int {
	return arrayCopy(h, x, y, width, height, func(addr, row uint64, c cuda.Rows) cuda.Error {
		c.DstPitch, c.SrcPitch = row, uint64(pitch)
		return thread().CopyRows(addr, uint64(src), c, cuda.Kind(kind), 0, false)
	})
}

// fromArray copies rows from an array.
func fromArray(dst C.uintptr_t, pitch C.size_t, h C.uintptr_t, x, y, width, height C.size_t, kind C.int) C.int {
	return arrayCopy(h, x, y, width, height, func(addr, row uint64, c cuda.Rows) cuda.Error {
		c.DstPitch, c.SrcPitch = uint64(pitch), row
		return thread().CopyRows(uint64(dst), addr, c, cuda.Kind(kind), 0, false)
	})
}

func arrayCopy(h C.uintptr_t, x, y, width, height C.size_t, run func(addr, row uint64, c cuda.Rows) cuda.Error) C.int {
	a, err := thread().Array(uint64(h))
	if err != cuda.Success {
		return C.int(err)
	}
	c := cuda.Rows{Width: uint64(width), Height: uint64(max(1, height)), Depth: 1}
	addr, row, _, err := a.Place(uint64(x), uint64(y), 0, c.Width)
	if err != cuda.Success || height > 0 && x+width > C.size_t(row) || uint64(y)+c.Height > max(1, a.Height) {
		return C.int(thread().Check(false))
	}
	return C.int(run(addr, row, c))
}

//export cudaMemcpyToArray
func cudaMemcpyToArray(h C.uintptr_t, x, y C.size_t, src C.uintptr_t, n C.size_t, kind C.int) C.int {
	return toArray(h, x, y, src, n, n, 0, kind)
}

//export cudaMemcpyFromArray
func cudaMemcpyFromArray(dst, h C.uintptr_t, x, y, n C.size_t, kind C.int) C.int {
	return fromArray(dst, n, h, x, y, n, 0, kind)
}

//export cudaMemcpy2DToArray
func cudaMemcpy2DToArray(h C.uintptr_t, x, y C.size_t, src C.uintptr_t, pitch, width, height C.size_t, kind C.int) C.int {
	return toArray(h, x, y, src, pitch, width, max(1, height), kind)
}

//export cudaMemcpy2DFromArray
func cudaMemcpy2DFromArray(dst C.uintptr_t, pitch C.size_t, h C.uintptr_t, x, y, width, height C.size_t, kind C.int) C.int {
	return fromArray(dst, pitch, h, x, y, width, max(1, height), kind)
}

//export cudaMemcpy3D
func cudaMemcpy3D(parms C.uintptr_t) C.int { return copy3D(parms, 0, false) }

//export cudaMemcpy3DAsync
func cudaMemcpy3DAsync(parms, stream C.uintptr_t) C.int { return copy3D(parms, stream, true) }

// copy3D copies a box. Its width is in texels as soon as one side is an array.
func copy3D(parms, stream C.uintptr_t, async bool) C.int {
	if err := need(parms); err != cuda.Success {
		return C.int(err)
	}
	p := at[C.struct_cudaMemcpy3DParms](parms)
	unit := uint64(1)
	sides := [2]struct {
		array            uint64
		pos              C.struct_cudaPos
		ptr              C.struct_cudaPitchedPtr
		image            cuda.Array
		addr, row, plane uint64
	}{
		{array: uint64(word(&p.srcArray)), pos: p.srcPos, ptr: p.srcPtr},
		{array: uint64(word(&p.dstArray)), pos: p.dstPos, ptr: p.dstPtr},
	}
	for i := range sides {
		s := &sides[i]
		if s.array == 0 {
			continue
		}
		var err cuda.Error
		if s.image, err = thread().Array(s.array); err != cuda.Success {
			return C.int(err)
		}
		unit = s.image.Texel()
	}
	const most = 1 << 40 // more than any side has, so that products fit
	for _, n := range []C.size_t{p.extent.width, p.extent.height, p.extent.depth, sides[0].pos.x, sides[0].pos.y, sides[0].pos.z, sides[1].pos.x, sides[1].pos.y, sides[1].pos.z} {
		if n > most {
			return C.int(thread().Check(false))
		}
	}
	c := cuda.Rows{Width: uint64(p.extent.width) * unit, Height: uint64(p.extent.height), Depth: uint64(p.extent.depth)}
	for i := range sides {
		s := &sides[i]
		if s.array == 0 {
			if s.ptr.pitch > most || s.ptr.ysize > 1<<20 {
				return C.int(thread().Check(false))
			}
			s.row = uint64(s.ptr.pitch)
			s.plane = s.row * uint64(s.ptr.ysize)
			s.addr = uint64(word(&s.ptr.ptr)) + uint64(s.pos.x) + uint64(s.pos.y)*s.row + uint64(s.pos.z)*s.plane
			continue
		}
		var err cuda.Error
		s.addr, s.row, s.plane, err = s.image.Place(uint64(s.pos.x)*unit, uint64(s.pos.y), uint64(s.pos.z), 0)
		if err != cuda.Success || uint64(s.pos.x)*unit+c.Width > s.row || uint64(s.pos.y)+c.Height > max(1, s.image.Height) || uint64(s.pos.z)+c.Depth > max(1, s.image.Depth) {
			return C.int(thread().Check(false))
		}
	}
	c.SrcPitch, c.SrcPlane, c.DstPitch, c.DstPlane = sides[0].row, sides[0].plane, sides[1].row, sides[1].plane
	return C.int(thread().CopyRows(sides[1].addr, sides[0].addr, c, cuda.Kind(p.kind), uint64(stream), async))
}

// word reads a pointer of C as the number that it is: it may be a handle or an
// address of the device, which Go must not take for one of its own.
func word[T any](p *T) uintptr { return *at[uintptr](C.uintptr_t(addressOf(p))) }

//export cudaMemset3D
func cudaMemset3D(p C.struct_cudaPitchedPtr, value C.int, e C.struct_cudaExtent) C.int {
	return C.int(thread().Fill(uint64(word(&p.ptr)), byte(value), cuda.Rows{
		Width: uint64(e.width), Height: uint64(e.height), Depth: uint64(e.depth),
		DstPitch: uint64(p.pitch), DstPlane: uint64(p.pitch) * uint64(min(p.ysize, 1<<20)),
	}, 0))
}

// sampling reads a textureReference.
func sampling(ref C.uintptr_t) cuda.Sampling {
	r := at[C.struct_textureReference](ref)
	s := cuda.Sampling{Normalized: r.normalized != 0, Linear: r.filterMode == C.cudaFilterModeLinear}
	for i := range s.Address {
		s.Address[i] = int32(r.addressMode[i])
	}
	return s
}

func bind(offset, ref, desc C.uintptr_t, i cuda.Image) C.int {
	if err := need(ref); err != cuda.Success {
		return C.int(err)
	}
	if desc != 0 {
		i.Channel = channel(at[C.struct_cudaChannelFormatDesc](desc))
	}
	err := thread().Bind(uint64(ref), i, sampling(ref))
	if err == cuda.Success && offset != 0 {
		put(offset, C.size_t(0)) // any address will do
	}
	return C.int(err)
}

//export cudaBindTexture
func cudaBindTexture(offset, ref, addr, desc C.uintptr_t, n C.size_t) C.int {
	return bind(offset, ref, desc, cuda.Image{Addr: uint64(addr), Bytes: uint64(n)})
}

//export cudaBindTexture2D
func cudaBindTexture2D(offset, ref, addr, desc C.uintptr_t, width, height, pitch C.size_t) C.int {
	return bind(offset, ref, desc, cuda.Image{Addr: uint64(addr), Width: uint64(width), Height: uint64(height), Pitch: uint64(pitch)})
}

//export cudaBindTextureToArray
func cudaBindTextureToArray(ref, h, desc C.uintptr_t) C.int {
	return bind(0, ref, desc, cuda.Image{Array: uint64(h)})
}

//export cudaUnbindTexture
func cudaUnbindTexture(ref C.uintptr_t) C.int { return C.int(thread().Unbind(uint64(ref))) }

//export cudaGetTextureAlignmentOffset
func cudaGetTextureAlignmentOffset(offset, ref C.uintptr_t) C.int {
	return give(offset, C.size_t(0), need(offset, ref))
}

//export cudaCreateTextureObject
func cudaCreateTextureObject(to, res, tex, view C.uintptr_t) C.int {
	if err := need(to, res, tex); err != cuda.Success {
		return C.int(err)
	}
	t := at[C.struct_cudaTextureDesc](tex)
	s := cuda.Sampling{
		Normalized: t.normalizedCoords != 0, Linear: t.filterMode == C.cudaFilterModeLinear, ReadNormalized: t.readMode == C.cudaReadModeNormalizedFloat,
	}
	for i := range s.Address {
		s.Address[i] = int32(t.addressMode[i])
	}
	var i cuda.Image
	var ok bool
	if i, ok = resource(res); !ok {
		return C.int(thread().Unsupported("cudaCreateTextureObject with mipmaps"))
	}
	h, err := thread().TextureObject(i, s)
	return give(to, C.ulonglong(h), err)
}

// resource reads a cudaResourceDesc, whose union Go cannot name; false for one
// with mipmaps.
func resource(res C.uintptr_t) (cuda.Image, bool) {
	type linear struct { // its layout for linear memory
		addr  uintptr
		desc  C.struct_cudaChannelFormatDesc
		bytes C.size_t
	}
	type pitched struct { // and for rows
		addr                 uintptr
		desc                 C.struct_cudaChannelFormatDesc
		width, height, pitch C.size_t
	}
	d := at[C.struct_cudaResourceDesc](res)
	union := C.uintptr_t(addressOf(&d.res))
	switch d.resType {
	case C.cudaResourceTypeArray:
		return cuda.Image{Array: uint64(*at[uintptr](union))}, true
	case C.cudaResourceTypeLinear:
		l := at[linear](union)
		return cuda.Image{Addr: uint64(l.addr), Channel: channel(&l.desc), Bytes: uint64(l.bytes)}, true
	case C.cudaResourceTypePitch2D:
		p := at[pitched](union)
		return cuda.Image{Addr: uint64(p.addr), Channel: channel(&p.desc), Width: uint64(p.width), Height: uint64(p.height), Pitch: uint64(p.pitch)}, true
	}
	return cuda.Image{}, false
}

//export cudaDestroyTextureObject
func cudaDestroyTextureObject(h C.ulonglong) C.int {
	return C.int(thread().FreeTextureObject(uint64(h)))
}

//export cudaCreateSurfaceObject
func cudaCreateSurfaceObject(to, res C.uintptr_t) C.int {
	if err := need(to, res); err != cuda.Success {
		return C.int(err)
	}
	i, ok := resource(res)
	if !ok || i.Array == 0 {
		return C.int(thread().Check(false))
	}
	h, err := thread().TextureObject(i, cuda.Sampling{Address: [3]int32{1, 1, 1}})
	return give(to, C.ulonglong(h), err)
}

//export cudaDestroySurfaceObject
func cudaDestroySurfaceObject(h C.ulonglong) C.int { return cudaDestroyTextureObject(h) }
