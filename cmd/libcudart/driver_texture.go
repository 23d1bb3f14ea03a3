package main

/*
#include "host.h"
*/
import "C"

import (
	"math"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: arrays, copies of boxes, textures and surfaces.

// formats are the texels of arrays by CUarray_format: the bits and kind of each
// component.
var formats = map[C.CUarray_format]struct{ bits, kind int32 }{
	C.CU_AD_FORMAT_UNSIGNED_INT8: {8, 1}, C.CU_AD_FORMAT_UNSIGNED_INT16: {16, 1}, C.CU_AD_FORMAT_UNSIGNED_INT32: {32, 1},
	C.CU_AD_FORMAT_SIGNED_INT8: {8, 0}, C.CU_AD_FORMAT_SIGNED_INT16: {16, 0}, C.CU_AD_FORMAT_SIGNED_INT32: {32, 0},
	C.CU_AD_FORMAT_HALF: {16, 2}, C.CU_AD_FORMAT_FLOAT: {32, 2},
}

// texels returns the channel of a format, without components if it is unknown.
func texels(format C.CUarray_format, components C.uint) cuda.Channel {
	f, ok := formats[format]
	c := cuda.Channel{Kind: f.kind}
	if !ok || components > 4 {
		return cuda.Channel{}
	}
	for i := range components {
		c.Bits[i] = f.bits
	}
	return c
}

// formatOf is the inverse of texels.
func formatOf(c cuda.Channel) (format C.CUarray_format, components C.uint) {
	for components < 4 && c.Bits[components] > 0 {
		components++
	}
	for f, x := range formats {
		if x.bits == c.Bits[0] && x.kind == c.Kind {
			return f, components
		}
	}
	return 0, components
}

//export cuArray3DCreate_v2
func cuArray3DCreate_v2(to, desc C.uintptr_t) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		d := at[C.CUDA_ARRAY3D_DESCRIPTOR](desc)
		h, err := t.MallocArray(texels(d.Format, d.NumChannels), uint64(d.Width), uint64(d.Height), uint64(d.Depth), uint32(d.Flags))
		return own(to, cuda.OwnedArray, h, err)
	}, to, desc)
}

//export cuArrayCreate_v2
func cuArrayCreate_v2(to, desc C.uintptr_t) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		d := at[C.CUDA_ARRAY_DESCRIPTOR](desc)
		h, err := t.MallocArray(texels(d.Format, d.NumChannels), uint64(d.Width), uint64(d.Height), 0, 0)
		return own(to, cuda.OwnedArray, h, err)
	}, to, desc)
}

//export cuArrayDestroy
func cuArrayDestroy(h C.uintptr_t) C.int {
	return disown(cuda.OwnedArray, h, func(t *cuda.Thread) cuda.Error {
		if h == 0 {
			return cuda.InvalidHandle
		}
		return t.FreeArray(uint64(h))
	})
}

//export cuArray3DGetDescriptor_v2
func cuArray3DGetDescriptor_v2(to, h C.uintptr_t) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		a, err := t.Array(uint64(h))
		f, n := formatOf(a.Channel)
		give(to, C.CUDA_ARRAY3D_DESCRIPTOR{
			Width: C.size_t(a.Width), Height: C.size_t(a.Height), Depth: C.size_t(a.Depth), Format: f, NumChannels: n, Flags: C.uint(a.Flags),
		}, err)
		return err
	}, to)
}

//export cuArrayGetDescriptor_v2
func cuArrayGetDescriptor_v2(to, h C.uintptr_t) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		a, err := t.Array(uint64(h))
		f, n := formatOf(a.Channel)
		give(to, C.CUDA_ARRAY_DESCRIPTOR{Width: C.size_t(a.Width), Height: C.size_t(a.Height), Format: f, NumChannels: n}, err)
		return err
	}, to)
}

//export cuMipmappedArrayCreate
func cuMipmappedArrayCreate(to, desc C.uintptr_t, levels C.uint) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		d := at[C.CUDA_ARRAY3D_DESCRIPTOR](desc)
		h, err := t.MallocMipmap(texels(d.Format, d.NumChannels), uint64(d.Width), uint64(d.Height), uint64(d.Depth), int(levels), uint32(d.Flags))
		give(to, C.uintptr_t(h), err)
		return err
	}, to, desc)
}

//export cuMipmappedArrayGetLevel
func cuMipmappedArrayGetLevel(to, h C.uintptr_t, level C.uint) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		a, err := t.Level(uint64(h), uint32(level))
		give(to, C.uintptr_t(a), err)
		return err
	}, to)
}

//export cuMipmappedArrayDestroy
func cuMipmappedArrayDestroy(h C.uintptr_t) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		if h == 0 {
			return cuda.InvalidHandle
		}
		return t.FreeMipmap(uint64(h))
	})
}

// Copies.

// direction is the direction of a copy between kinds of memory.
func direction(to, from C.CUmemorytype) cuda.Kind {
	switch {
	case to == C.CU_MEMORYTYPE_UNIFIED || from == C.CU_MEMORYTYPE_UNIFIED:
		return cuda.AnyWay
	case to == C.CU_MEMORYTYPE_HOST && from == C.CU_MEMORYTYPE_HOST:
		return cuda.HostToHost
	case from == C.CU_MEMORYTYPE_HOST:
		return cuda.HostToDevice
	case to == C.CU_MEMORYTYPE_HOST:
		return cuda.DeviceToHost
	}
	return cuda.DeviceToDevice
}

// box copies rows and planes between sides that are kinds of memory.
func box(to, from C.CUmemorytype, dst, src cuda.Side, width, height, depth C.size_t, stream C.uintptr_t, async bool) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		return t.CopyBox(dst, src, uint64(width), uint64(height), uint64(depth), direction(to, from), uint64(stream), async)
	})
}

// side is one side of a copy: the kind of memory selects one of its three addresses. A
// pitch of 0 means contiguous rows.
func side(kind C.CUmemorytype, host, device, array uintptr, x, y, z, pitch, height, width C.size_t) cuda.Side {
	if pitch == 0 {
		pitch = width
	}
	s := cuda.Side{Pitch: uint64(pitch), Plane: uint64(pitch) * uint64(min(height, 1<<20)), X: uint64(x), Y: uint64(y), Z: uint64(z)}
	switch kind {
	case C.CU_MEMORYTYPE_HOST:
		s.Addr = uint64(host)
	case C.CU_MEMORYTYPE_ARRAY:
		if s.Array = uint64(array); s.Array == 0 {
			s.Array = 1 // an invalid handle: an error, and not memory
		}
	default:
		s.Addr = uint64(device)
	}
	return s
}

//export cuMemcpy2DAsync_v2
func cuMemcpy2DAsync_v2(copy, stream C.uintptr_t) C.int { return copy2D(copy, stream, true) }

//export cuMemcpy2D_v2
func cuMemcpy2D_v2(copy C.uintptr_t) C.int { return copy2D(copy, 0, false) }

//export cuMemcpy2DUnaligned_v2
func cuMemcpy2DUnaligned_v2(copy C.uintptr_t) C.int { return copy2D(copy, 0, false) }

func copy2D(copy, stream C.uintptr_t, async bool) C.int {
	if copy == 0 {
		return setting(false)
	}
	c := at[C.CUDA_MEMCPY2D](copy)
	src := side(c.srcMemoryType, word(&c.srcHost), uintptr(c.srcDevice), word(&c.srcArray), c.srcXInBytes, c.srcY, 0, c.srcPitch, 0, c.WidthInBytes)
	dst := side(c.dstMemoryType, word(&c.dstHost), uintptr(c.dstDevice), word(&c.dstArray), c.dstXInBytes, c.dstY, 0, c.dstPitch, 0, c.WidthInBytes)
	return box(c.dstMemoryType, c.srcMemoryType, dst, src, c.WidthInBytes, c.Height, 1, stream, async)
}

//export cuMemcpy3DAsync_v2
func cuMemcpy3DAsync_v2(copy, stream C.uintptr_t) C.int { return driverCopy3D(copy, stream, true) }

//export cuMemcpy3D_v2
func cuMemcpy3D_v2(copy C.uintptr_t) C.int { return driverCopy3D(copy, 0, false) }

func driverCopy3D(copy, stream C.uintptr_t, async bool) C.int {
	if copy == 0 {
		return setting(false)
	}
	c := at[C.CUDA_MEMCPY3D](copy)
	b := driverBox(c)
	return box(c.dstMemoryType, c.srcMemoryType, b.Dst, b.Src, c.WidthInBytes, c.Height, c.Depth, stream, async)
}

func driverBox(c *C.CUDA_MEMCPY3D) cuda.Box {
	return cuda.Box{
		Src:   side(c.srcMemoryType, word(&c.srcHost), uintptr(c.srcDevice), word(&c.srcArray), c.srcXInBytes, c.srcY, c.srcZ, c.srcPitch, c.srcHeight, c.WidthInBytes),
		Dst:   side(c.dstMemoryType, word(&c.dstHost), uintptr(c.dstDevice), word(&c.dstArray), c.dstXInBytes, c.dstY, c.dstZ, c.dstPitch, c.dstHeight, c.WidthInBytes),
		Width: uint64(c.WidthInBytes), Height: uint64(c.Height), Depth: uint64(c.Depth),
	}
}

//export cuMemcpy3DPeer
func cuMemcpy3DPeer(copy C.uintptr_t) C.int { return driverCopy3DPeer(copy, 0, false) }

//export cuMemcpy3DPeerAsync
func cuMemcpy3DPeerAsync(copy, stream C.uintptr_t) C.int { return driverCopy3DPeer(copy, stream, true) }

func driverCopy3DPeer(copy, stream C.uintptr_t, async bool) C.int {
	if copy == 0 {
		return setting(false)
	}
	p := at[C.CUDA_MEMCPY3D_PEER](copy)
	device := func(kind C.CUmemorytype, context uintptr) (int, cuda.Result) { // arrays and host memory need no context
		if kind == C.CU_MEMORYTYPE_ARRAY || kind == C.CU_MEMORYTYPE_HOST {
			return cuda.AnyDevice, cuda.ResultSuccess
		}
		if context == 0 {
			return 0, cuda.ResultInvalidContext
		}
		return driver().ContextDevice(uint64(context))
	}
	to, res := device(p.dstMemoryType, word(&p.dstContext))
	if res != cuda.ResultSuccess {
		return C.int(res)
	}
	from, res := device(p.srcMemoryType, word(&p.srcContext))
	if res != cuda.ResultSuccess {
		return C.int(res)
	}
	b := driverBox(at[C.CUDA_MEMCPY3D](copy)) // the same layout, with contexts in reserved fields
	return in(func(t *cuda.Thread) cuda.Error {
		return t.CopyBoxPeer(b, to, from, direction(p.dstMemoryType, p.srcMemoryType), uint64(stream), async)
	})
}

// line copies bytes between memory and the first row of an array, or between two arrays.
func line(to, from C.CUmemorytype, dst, src C.uintptr_t, dstOffset, srcOffset, n C.size_t, stream C.uintptr_t, async bool) C.int {
	place := func(kind C.CUmemorytype, p C.uintptr_t, offset C.size_t) cuda.Side {
		return side(kind, uintptr(p), uintptr(p), uintptr(p), offset, 0, 0, n, 1, n)
	}
	return box(to, from, place(to, dst, dstOffset), place(from, src, srcOffset), n, 1, 1, stream, async)
}

//export cuMemcpyDtoA_v2
func cuMemcpyDtoA_v2(dst C.uintptr_t, offset C.size_t, src C.uintptr_t, n C.size_t) C.int {
	return line(C.CU_MEMORYTYPE_ARRAY, C.CU_MEMORYTYPE_DEVICE, dst, src, offset, 0, n, 0, false)
}

//export cuMemcpyAtoD_v2
func cuMemcpyAtoD_v2(dst, src C.uintptr_t, offset, n C.size_t) C.int {
	return line(C.CU_MEMORYTYPE_DEVICE, C.CU_MEMORYTYPE_ARRAY, dst, src, 0, offset, n, 0, false)
}

//export cuMemcpyHtoAAsync_v2
func cuMemcpyHtoAAsync_v2(dst C.uintptr_t, offset C.size_t, src C.uintptr_t, n C.size_t, stream C.uintptr_t) C.int {
	return line(C.CU_MEMORYTYPE_ARRAY, C.CU_MEMORYTYPE_HOST, dst, src, offset, 0, n, stream, true)
}

//export cuMemcpyHtoA_v2
func cuMemcpyHtoA_v2(dst C.uintptr_t, offset C.size_t, src C.uintptr_t, n C.size_t) C.int {
	return line(C.CU_MEMORYTYPE_ARRAY, C.CU_MEMORYTYPE_HOST, dst, src, offset, 0, n, 0, false)
}

//export cuMemcpyAtoHAsync_v2
func cuMemcpyAtoHAsync_v2(dst, src C.uintptr_t, offset, n C.size_t, stream C.uintptr_t) C.int {
	return line(C.CU_MEMORYTYPE_HOST, C.CU_MEMORYTYPE_ARRAY, dst, src, 0, offset, n, stream, true)
}

//export cuMemcpyAtoH_v2
func cuMemcpyAtoH_v2(dst, src C.uintptr_t, offset, n C.size_t) C.int {
	return line(C.CU_MEMORYTYPE_HOST, C.CU_MEMORYTYPE_ARRAY, dst, src, 0, offset, n, 0, false)
}

//export cuMemcpyAtoA_v2
func cuMemcpyAtoA_v2(dst C.uintptr_t, to C.size_t, src C.uintptr_t, from, n C.size_t) C.int {
	return line(C.CU_MEMORYTYPE_ARRAY, C.CU_MEMORYTYPE_ARRAY, dst, src, to, from, n, 0, false)
}

// References.

// moduleTexture returns the handle of a module's reference.
func moduleTexture(to, h, name C.uintptr_t, surface bool) C.int {
	return ask(func() cuda.Result {
		ref, res := driver().Texture(uint64(h), text(name), surface)
		back(to, C.uintptr_t(ref), res)
		return res
	}, to, name)
}

//export cuModuleGetTexRef
func cuModuleGetTexRef(to, h, name C.uintptr_t) C.int { return moduleTexture(to, h, name, false) }

//export cuModuleGetSurfRef
func cuModuleGetSurfRef(to, h, name C.uintptr_t) C.int { return moduleTexture(to, h, name, true) }

//export cuTexRefCreate
func cuTexRefCreate(to C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		h, res := driver().NewTexture()
		back(to, C.uintptr_t(h), res)
		return res
	}, to)
}

//export cuTexRefDestroy
func cuTexRefDestroy(h C.uintptr_t) C.int { return C.int(driver().EndTexture(uint64(h))) }

// edit changes a texture reference if the arguments are valid.
func edit(h C.uintptr_t, right bool, f func(x *cuda.TexRef)) C.int {
	return C.int(driver().EditTexture(uint64(h), false, func(x *cuda.TexRef) cuda.Result {
		if !right {
			return cuda.ResultInvalidValue
		}
		f(x)
		return cuda.ResultSuccess
	}))
}

//export cuTexRefSetArray
func cuTexRefSetArray(h, array C.uintptr_t, flags C.uint) C.int {
	return edit(h, flags == C.CU_TRSA_OVERRIDE_FORMAT, func(x *cuda.TexRef) { x.Image = cuda.Image{Array: uint64(array)} })
}

//export cuTexRefSetAddress_v2
func cuTexRefSetAddress_v2(offset, h, addr C.uintptr_t, n C.size_t) C.int {
	code := edit(h, true, func(x *cuda.TexRef) {
		x.Image = cuda.Image{Addr: uint64(addr), Bytes: uint64(n), Channel: x.Image.Channel}
	})
	if code == 0 && offset != 0 {
		put(offset, C.size_t(0)) // any address is aligned
	}
	return code
}

//export cuTexRefSetAddress2D_v3
func cuTexRefSetAddress2D_v3(h, desc, addr C.uintptr_t, pitch C.size_t) C.int {
	return edit(h, desc != 0, func(x *cuda.TexRef) {
		d := at[C.CUDA_ARRAY_DESCRIPTOR](desc)
		x.Image = cuda.Image{
			Addr: uint64(addr), Channel: texels(d.Format, d.NumChannels), Width: uint64(d.Width), Height: uint64(max(1, d.Height)), Pitch: uint64(pitch),
		}
	})
}

//export cuTexRefSetAddress2D_v2
func cuTexRefSetAddress2D_v2(h, desc, addr C.uintptr_t, pitch C.size_t) C.int {
	return cuTexRefSetAddress2D_v3(h, desc, addr, pitch)
}

//export cuTexRefSetFormat
func cuTexRefSetFormat(h C.uintptr_t, format, components C.int) C.int {
	c := texels(C.CUarray_format(format), C.uint(components))
	return edit(h, c.Bits[0] != 0, func(x *cuda.TexRef) { x.Image.Channel = c })
}

//export cuTexRefSetAddressMode
func cuTexRefSetAddressMode(h C.uintptr_t, dim, mode C.int) C.int {
	return edit(h, dim >= 0 && dim < 3 && mode >= 0 && mode <= C.CU_TR_ADDRESS_MODE_BORDER, func(x *cuda.TexRef) { x.Sampling.Address[dim] = int32(mode) })
}

//export cuTexRefSetFilterMode
func cuTexRefSetFilterMode(h C.uintptr_t, mode C.int) C.int {
	return edit(h, mode >= 0 && mode <= C.CU_TR_FILTER_MODE_LINEAR, func(x *cuda.TexRef) { x.Sampling.Linear = mode == C.CU_TR_FILTER_MODE_LINEAR })
}

//export cuTexRefSetFlags
func cuTexRefSetFlags(h C.uintptr_t, flags C.uint) C.int {
	return edit(h, true, func(x *cuda.TexRef) {
		x.Flags = uint32(flags)
		x.AsIntegers = flags&C.CU_TRSF_READ_AS_INTEGER != 0
		x.Sampling.Normalized, x.Sampling.SRGB = flags&C.CU_TRSF_NORMALIZED_COORDINATES != 0, flags&C.CU_TRSF_SRGB != 0
	})
}

//export cuTexRefSetMaxAnisotropy
func cuTexRefSetMaxAnisotropy(h C.uintptr_t, n C.uint) C.int {
	return edit(h, true, func(x *cuda.TexRef) { x.Sampling.MaxAnisotropy = uint32(n) })
}

// see stores a setting of a texture reference.
func see[T any](to, h C.uintptr_t, f func(x *cuda.TexRef) T) C.int {
	if to == 0 {
		return setting(false)
	}
	return C.int(driver().SeeTexture(uint64(h), false, func(x *cuda.TexRef) cuda.Result {
		put(to, f(x))
		return cuda.ResultSuccess
	}))
}

//export cuTexRefGetArray
func cuTexRefGetArray(to, h C.uintptr_t) C.int {
	return see(to, h, func(x *cuda.TexRef) C.uintptr_t { return C.uintptr_t(x.Image.Array) })
}

//export cuTexRefGetAddress_v2
func cuTexRefGetAddress_v2(to, h C.uintptr_t) C.int {
	return see(to, h, func(x *cuda.TexRef) C.uintptr_t { return C.uintptr_t(x.Image.Addr) })
}

//export cuTexRefGetFormat
func cuTexRefGetFormat(to, components, h C.uintptr_t) C.int {
	if components != 0 {
		code := see(components, h, func(x *cuda.TexRef) C.uint { _, n := formatOf(x.Image.Channel); return n })
		if code != 0 || to == 0 {
			return code
		}
	}
	return see(to, h, func(x *cuda.TexRef) C.CUarray_format { f, _ := formatOf(x.Image.Channel); return f })
}

//export cuTexRefGetAddressMode
func cuTexRefGetAddressMode(to, h C.uintptr_t, dim C.int) C.int {
	if dim < 0 || dim > 2 {
		return setting(false)
	}
	return see(to, h, func(x *cuda.TexRef) int32 { return x.Sampling.Address[dim] })
}

//export cuTexRefGetFilterMode
func cuTexRefGetFilterMode(to, h C.uintptr_t) C.int {
	return see(to, h, func(x *cuda.TexRef) C.int {
		if x.Sampling.Linear {
			return C.CU_TR_FILTER_MODE_LINEAR
		}
		return C.CU_TR_FILTER_MODE_POINT
	})
}

//export cuTexRefGetFlags
func cuTexRefGetFlags(to, h C.uintptr_t) C.int {
	return see(to, h, func(x *cuda.TexRef) C.uint { return C.uint(x.Flags) })
}

//export cuSurfRefSetArray
func cuSurfRefSetArray(h, array C.uintptr_t, flags C.uint) C.int {
	return C.int(driver().EditTexture(uint64(h), true, func(x *cuda.TexRef) cuda.Result {
		if flags != 0 {
			return cuda.ResultInvalidValue
		}
		x.Image = cuda.Image{Array: uint64(array)}
		return cuda.ResultSuccess
	}))
}

//export cuSurfRefGetArray
func cuSurfRefGetArray(to, h C.uintptr_t) C.int {
	return C.int(driver().SeeTexture(uint64(h), true, func(x *cuda.TexRef) cuda.Result {
		if to == 0 {
			return cuda.ResultInvalidValue
		}
		put(to, C.uintptr_t(x.Image.Array))
		return cuda.ResultSuccess
	}))
}

// Objects.

// The parts of a CUDA_RESOURCE_DESC's union, which Go cannot access, for linear memory
// and for rows.
type (
	linearResource struct {
		addr       uint64
		format     C.CUarray_format
		components uint32
		bytes      uint64
	}
	rowsResource struct {
		addr                 uint64
		format               C.CUarray_format
		components           uint32
		width, height, pitch uint64
	}
)

// driverResource reads a CUDA_RESOURCE_DESC; false if it is invalid.
func driverResource(addr C.uintptr_t) (cuda.Image, bool) {
	d := at[C.CUDA_RESOURCE_DESC](addr)
	union := C.uintptr_t(addressOf(&d.res))
	switch d.resType {
	case C.CU_RESOURCE_TYPE_ARRAY:
		return cuda.Image{Array: *at[uint64](union)}, true
	case C.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
		return cuda.Image{Mipmap: *at[uint64](union)}, true
	case C.CU_RESOURCE_TYPE_LINEAR:
		l := at[linearResource](union)
		return cuda.Image{Addr: l.addr, Channel: texels(l.format, C.uint(l.components)), Bytes: l.bytes}, true
	case C.CU_RESOURCE_TYPE_PITCH2D:
		p := at[rowsResource](union)
		return cuda.Image{Addr: p.addr, Channel: texels(p.format, C.uint(p.components)), Width: p.width, Height: p.height, Pitch: p.pitch}, true
	}
	return cuda.Image{}, false
}

// putDriverResource writes a CUDA_RESOURCE_DESC.
func putDriverResource(to C.uintptr_t, i cuda.Image) {
	put(to, C.CUDA_RESOURCE_DESC{})
	d := at[C.CUDA_RESOURCE_DESC](to)
	union := C.uintptr_t(addressOf(&d.res))
	format, n := formatOf(i.Channel)
	switch {
	case i.Mipmap != 0:
		d.resType = C.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
		put(union, i.Mipmap)
	case i.Array != 0:
		d.resType = C.CU_RESOURCE_TYPE_ARRAY
		put(union, i.Array)
	case i.Height == 0:
		d.resType = C.CU_RESOURCE_TYPE_LINEAR
		put(union, linearResource{i.Addr, format, uint32(n), i.Bytes})
	default:
		d.resType = C.CU_RESOURCE_TYPE_PITCH2D
		put(union, rowsResource{i.Addr, format, uint32(n), i.Width, i.Height, i.Pitch})
	}
}

//export cuTexObjectCreate
func cuTexObjectCreate(to, res, tex, view C.uintptr_t) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		i, ok := driverResource(res)
		if !ok {
			return cuda.InvalidValue
		}
		d := at[C.CUDA_TEXTURE_DESC](tex)
		s := cuda.Sampling{
			Normalized: d.flags&C.CU_TRSF_NORMALIZED_COORDINATES != 0, Linear: d.filterMode == C.CU_TR_FILTER_MODE_LINEAR,
			ReadNormalized: d.flags&C.CU_TRSF_READ_AS_INTEGER == 0, SRGB: d.flags&C.CU_TRSF_SRGB != 0, MaxAnisotropy: uint32(d.maxAnisotropy),
			MipLinear: d.mipmapFilterMode == C.CU_TR_FILTER_MODE_LINEAR, LevelBias: float32(d.mipmapLevelBias), MinLevel: float32(d.minMipmapLevelClamp), MaxLevel: float32(d.maxMipmapLevelClamp),
			NoTrilinear: d.flags&C.CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION != 0, Seamless: d.flags&C.CU_TRSF_SEAMLESS_CUBEMAP != 0,
		}
		for k := range s.Address {
			if s.Address[k] = int32(d.addressMode[k]); d.addressMode[k] > math.MaxInt32 {
				return cuda.InvalidValue
			}
		}
		for k := range s.Border {
			s.Border[k] = float32(d.borderColor[k])
		}
		var v *cuda.View
		if view != 0 {
			w := at[C.CUDA_RESOURCE_VIEW_DESC](view)
			v = &cuda.View{
				Format: int32(w.format), Width: uint64(w.width), Height: uint64(w.height), Depth: uint64(w.depth),
				FirstLevel: uint32(w.firstMipmapLevel), LastLevel: uint32(w.lastMipmapLevel), FirstLayer: uint32(w.firstLayer), LastLayer: uint32(w.lastLayer),
			}
		}
		h, err := t.TextureObject(i, s, v)
		give(to, C.ulonglong(h), err)
		return err
	}, to, res, tex)
}

//export cuTexObjectDestroy
func cuTexObjectDestroy(h C.ulonglong) C.int {
	return in(func(t *cuda.Thread) cuda.Error { return t.FreeObject(uint64(h), false) })
}

// objectDesc stores the description of an object.
func objectDesc(to C.uintptr_t, h C.ulonglong, surface bool) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		i, _, _, err := t.Object(uint64(h), surface)
		if err == cuda.Success {
			putDriverResource(to, i)
		}
		return err
	}, to)
}

//export cuTexObjectGetResourceDesc
func cuTexObjectGetResourceDesc(to C.uintptr_t, h C.ulonglong) C.int { return objectDesc(to, h, false) }

//export cuTexObjectGetTextureDesc
func cuTexObjectGetTextureDesc(to C.uintptr_t, h C.ulonglong) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		_, s, _, err := t.Object(uint64(h), false)
		if err != cuda.Success {
			return err
		}
		d := C.CUDA_TEXTURE_DESC{
			maxAnisotropy: C.uint(s.MaxAnisotropy), mipmapLevelBias: C.float(s.LevelBias), minMipmapLevelClamp: C.float(s.MinLevel), maxMipmapLevelClamp: C.float(s.MaxLevel),
		}
		for _, f := range []struct {
			set  bool
			flag C.uint
		}{
			{!s.ReadNormalized, C.CU_TRSF_READ_AS_INTEGER}, {s.Normalized, C.CU_TRSF_NORMALIZED_COORDINATES}, {s.SRGB, C.CU_TRSF_SRGB},
			{s.NoTrilinear, C.CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION}, {s.Seamless, C.CU_TRSF_SEAMLESS_CUBEMAP},
		} {
			if f.set {
				d.flags |= f.flag
			}
		}
		if s.Linear {
			d.filterMode = C.CU_TR_FILTER_MODE_LINEAR
		}
		if s.MipLinear {
			d.mipmapFilterMode = C.CU_TR_FILTER_MODE_LINEAR
		}
		for k := range s.Address {
			d.addressMode[k] = C.CUaddress_mode(s.Address[k])
		}
		for k := range s.Border {
			d.borderColor[k] = C.float(s.Border[k])
		}
		put(to, d)
		return cuda.Success
	}, to)
}

//export cuTexObjectGetResourceViewDesc
func cuTexObjectGetResourceViewDesc(to C.uintptr_t, h C.ulonglong) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		_, _, v, err := t.Object(uint64(h), false)
		if err == cuda.Success && v == nil {
			err = cuda.InvalidValue // there is none
		}
		if err == cuda.Success {
			put(to, C.CUDA_RESOURCE_VIEW_DESC{
				format: C.int(v.Format), width: C.size_t(v.Width), height: C.size_t(v.Height), depth: C.size_t(v.Depth),
				firstMipmapLevel: C.uint(v.FirstLevel), lastMipmapLevel: C.uint(v.LastLevel), firstLayer: C.uint(v.FirstLayer), lastLayer: C.uint(v.LastLayer),
			})
		}
		return err
	}, to)
}

//export cuSurfObjectCreate
func cuSurfObjectCreate(to, res C.uintptr_t) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		i, ok := driverResource(res)
		if !ok || i.Array == 0 {
			return cuda.InvalidValue
		}
		h, err := t.SurfaceObject(i.Array)
		give(to, C.ulonglong(h), err)
		return err
	}, to, res)
}

//export cuSurfObjectDestroy
func cuSurfObjectDestroy(h C.ulonglong) C.int {
	return in(func(t *cuda.Thread) cuda.Error { return t.FreeObject(uint64(h), true) })
}

//export cuSurfObjectGetResourceDesc
func cuSurfObjectGetResourceDesc(to C.uintptr_t, h C.ulonglong) C.int { return objectDesc(to, h, true) }
