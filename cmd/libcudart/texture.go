package main

/*
#include "host.h"
*/
import "C"

import "github.com/heddle-sim/heddle/internal/work/cuda"

// This file: textures and surfaces.

//export __cudaRegisterTexture
func __cudaRegisterTexture(handle, hostVar, deviceAddr, name C.uintptr_t, dim, norm, ext C.int) {
	runtime().RegisterTexture(uint64(handle), uint64(hostVar), text(name), norm != 0)
}

//export __cudaRegisterSurface
func __cudaRegisterSurface(handle, hostVar, deviceAddr, name C.uintptr_t, dim, ext C.int) {
	runtime().RegisterSurface(uint64(handle), uint64(hostVar), text(name))
}

// sampling reads a textureReference.
func sampling(ref C.uintptr_t) cuda.Sampling {
	r := at[C.struct_textureReference](ref)
	s := cuda.Sampling{
		Normalized: r.normalized != 0, Linear: r.filterMode == C.cudaFilterModeLinear, SRGB: r.sRGB != 0, MaxAnisotropy: uint32(r.maxAnisotropy),
		MipLinear: r.mipmapFilterMode == C.cudaFilterModeLinear, LevelBias: float32(r.mipmapLevelBias),
		MinLevel: float32(r.minMipmapLevelClamp), MaxLevel: float32(r.maxMipmapLevelClamp), NoTrilinear: r.disableTrilinearOptimization != 0,
	}
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
		put(offset, C.size_t(0)) // any address is aligned
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

//export cudaBindTextureToMipmappedArray
func cudaBindTextureToMipmappedArray(ref, h, desc C.uintptr_t) C.int {
	return bind(0, ref, desc, cuda.Image{Mipmap: uint64(h)})
}

//export cudaUnbindTexture
func cudaUnbindTexture(ref C.uintptr_t) C.int { return C.int(thread().Unbind(uint64(ref))) }

//export cudaGetTextureAlignmentOffset
func cudaGetTextureAlignmentOffset(offset, ref C.uintptr_t) C.int {
	if err := need(offset); err != cuda.Success {
		return C.int(err)
	}
	return give(offset, C.size_t(0), thread().Bound(uint64(ref)))
}

// findReference returns the address of a reference, which is also the address that
// programs pass.
func findReference(to, symbol C.uintptr_t, surface bool) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	return give(to, symbol, thread().Reference(uint64(symbol), surface))
}

//export cudaGetTextureReference
func cudaGetTextureReference(to, symbol C.uintptr_t) C.int { return findReference(to, symbol, false) }

//export cudaGetSurfaceReference
func cudaGetSurfaceReference(to, symbol C.uintptr_t) C.int { return findReference(to, symbol, true) }

//export cudaBindSurfaceToArray
func cudaBindSurfaceToArray(ref, h, desc C.uintptr_t) C.int {
	return C.int(thread().BindSurface(uint64(ref), uint64(h)))
}

//export cudaCreateTextureObject
func cudaCreateTextureObject(to, res, tex, view C.uintptr_t) C.int {
	if err := need(to, res, tex); err != cuda.Success {
		return C.int(err)
	}
	t := at[C.struct_cudaTextureDesc](tex)
	s := cuda.Sampling{
		Normalized: t.normalizedCoords != 0, Linear: t.filterMode == C.cudaFilterModeLinear, ReadNormalized: t.readMode == C.cudaReadModeNormalizedFloat,
		SRGB: t.sRGB != 0, MaxAnisotropy: uint32(t.maxAnisotropy), MipLinear: t.mipmapFilterMode == C.cudaFilterModeLinear, LevelBias: float32(t.mipmapLevelBias),
		MinLevel: float32(t.minMipmapLevelClamp), MaxLevel: float32(t.maxMipmapLevelClamp), NoTrilinear: t.disableTrilinearOptimization != 0, Seamless: t.seamlessCubemap != 0,
	}
	for i := range s.Address {
		s.Address[i] = int32(t.addressMode[i])
	}
	for i := range s.Border {
		s.Border[i] = float32(t.borderColor[i])
	}
	var v *cuda.View
	if view != 0 {
		d := at[C.struct_cudaResourceViewDesc](view)
		v = &cuda.View{
			Format: int32(d.format), Width: uint64(d.width), Height: uint64(d.height), Depth: uint64(d.depth),
			FirstLevel: uint32(d.firstMipmapLevel), LastLevel: uint32(d.lastMipmapLevel), FirstLayer: uint32(d.firstLayer), LastLayer: uint32(d.lastLayer),
		}
	}
	i, ok := resource(res)
	if err := thread().Check(ok); err != cuda.Success {
		return C.int(err)
	}
	h, err := thread().TextureObject(i, s, v)
	return give(to, C.ulonglong(h), err)
}

// The parts of a cudaResourceDesc's union, which Go cannot access: linear memory, and
// rows.
type (
	linear struct {
		addr  uintptr
		desc  C.struct_cudaChannelFormatDesc
		bytes C.size_t
	}
	pitched struct {
		addr                 uintptr
		desc                 C.struct_cudaChannelFormatDesc
		width, height, pitch C.size_t
	}
)

// resource reads a cudaResourceDesc; false if its kind is unknown.
func resource(res C.uintptr_t) (cuda.Image, bool) {
	d := at[C.struct_cudaResourceDesc](res)
	union := C.uintptr_t(addressOf(&d.res))
	switch d.resType {
	case C.cudaResourceTypeArray:
		return cuda.Image{Array: uint64(*at[uintptr](union))}, true
	case C.cudaResourceTypeMipmappedArray:
		return cuda.Image{Mipmap: uint64(*at[uintptr](union))}, true
	case C.cudaResourceTypeLinear:
		l := at[linear](union)
		return cuda.Image{Addr: uint64(l.addr), Channel: channel(&l.desc), Bytes: uint64(l.bytes)}, true
	case C.cudaResourceTypePitch2D:
		p := at[pitched](union)
		return cuda.Image{Addr: uint64(p.addr), Channel: channel(&p.desc), Width: uint64(p.width), Height: uint64(p.height), Pitch: uint64(p.pitch)}, true
	}
	return cuda.Image{}, false
}

// putResource writes a cudaResourceDesc.
func putResource(to C.uintptr_t, i cuda.Image) {
	put(to, C.struct_cudaResourceDesc{})
	d := at[C.struct_cudaResourceDesc](to)
	union := C.uintptr_t(addressOf(&d.res))
	switch {
	case i.Mipmap != 0:
		d.resType = C.cudaResourceTypeMipmappedArray
		put(union, uintptr(i.Mipmap))
	case i.Array != 0:
		d.resType = C.cudaResourceTypeArray
		put(union, uintptr(i.Array))
	case i.Height == 0:
		d.resType = C.cudaResourceTypeLinear
		put(union, linear{uintptr(i.Addr), describe(i.Channel), C.size_t(i.Bytes)})
	default:
		d.resType = C.cudaResourceTypePitch2D
		put(union, pitched{uintptr(i.Addr), describe(i.Channel), C.size_t(i.Width), C.size_t(i.Height), C.size_t(i.Pitch)})
	}
}

//export cudaDestroyTextureObject
func cudaDestroyTextureObject(h C.ulonglong) C.int {
	return C.int(thread().FreeObject(uint64(h), false))
}

//export cudaGetTextureObjectResourceDesc
func cudaGetTextureObjectResourceDesc(to C.uintptr_t, h C.ulonglong) C.int {
	return objectResource(to, h, false)
}

func objectResource(to C.uintptr_t, h C.ulonglong, surface bool) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	i, _, _, err := thread().Object(uint64(h), surface)
	if err == cuda.Success {
		putResource(to, i)
	}
	return C.int(err)
}

//export cudaGetTextureObjectTextureDesc
func cudaGetTextureObjectTextureDesc(to C.uintptr_t, h C.ulonglong) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	_, s, _, err := thread().Object(uint64(h), false)
	if err != cuda.Success {
		return C.int(err)
	}
	bit := func(b bool) uint32 {
		if b {
			return 1
		}
		return 0
	}
	d := C.struct_cudaTextureDesc{
		filterMode: bit(s.Linear), readMode: bit(s.ReadNormalized), sRGB: C.int(bit(s.SRGB)), normalizedCoords: C.int(bit(s.Normalized)),
		maxAnisotropy: C.uint(s.MaxAnisotropy), mipmapFilterMode: bit(s.MipLinear), mipmapLevelBias: C.float(s.LevelBias),
		minMipmapLevelClamp: C.float(s.MinLevel), maxMipmapLevelClamp: C.float(s.MaxLevel),
		disableTrilinearOptimization: C.int(bit(s.NoTrilinear)), seamlessCubemap: C.int(bit(s.Seamless)),
	}
	for k := range s.Address {
		d.addressMode[k] = uint32(s.Address[k])
	}
	for k := range s.Border {
		d.borderColor[k] = C.float(s.Border[k])
	}
	put(to, d)
	return C.int(err)
}

//export cudaGetTextureObjectResourceViewDesc
func cudaGetTextureObjectResourceViewDesc(to C.uintptr_t, h C.ulonglong) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	_, _, v, err := thread().Object(uint64(h), false)
	if err == cuda.Success && v == nil {
		err = thread().Check(false) // there is none
	}
	if err == cuda.Success {
		put(to, C.struct_cudaResourceViewDesc{
			format: uint32(v.Format), width: C.size_t(v.Width), height: C.size_t(v.Height), depth: C.size_t(v.Depth),
			firstMipmapLevel: C.uint(v.FirstLevel), lastMipmapLevel: C.uint(v.LastLevel), firstLayer: C.uint(v.FirstLayer), lastLayer: C.uint(v.LastLayer),
		})
	}
	return C.int(err)
}

//export cudaCreateSurfaceObject
func cudaCreateSurfaceObject(to, res C.uintptr_t) C.int {
	if err := need(to, res); err != cuda.Success {
		return C.int(err)
	}
	i, ok := resource(res)
	if err := thread().Check(ok && i.Array != 0); err != cuda.Success {
		return C.int(err)
	}
	h, err := thread().SurfaceObject(i.Array)
	return give(to, C.ulonglong(h), err)
}

//export cudaDestroySurfaceObject
func cudaDestroySurfaceObject(h C.ulonglong) C.int {
	return C.int(thread().FreeObject(uint64(h), true))
}

//export cudaGetSurfaceObjectResourceDesc
func cudaGetSurfaceObjectResourceDesc(to C.uintptr_t, h C.ulonglong) C.int {
	return objectResource(to, h, true)
}
