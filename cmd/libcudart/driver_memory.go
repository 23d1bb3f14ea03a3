package main

/*
#include "host.h"
*/
import "C"

import (
	"encoding/binary"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: memory and copies.

//export cuMemGetInfo_v2
func cuMemGetInfo_v2(free, total C.uintptr_t) C.int {
	return same(func() C.int { return cudaMemGetInfo(free, total) }, free, total)
}

//export cuMemAlloc_v2
func cuMemAlloc_v2(to C.uintptr_t, n C.size_t) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		if n == 0 {
			return cuda.InvalidValue
		}
		addr, err := t.Malloc(uint64(n))
		return own(to, cuda.OwnedMemory, addr, err)
	}, to)
}

//export cuMemAllocPitch_v2
func cuMemAllocPitch_v2(to, pitch C.uintptr_t, width, height C.size_t, element C.uint) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		if width == 0 || height == 0 || element != 4 && element != 8 && element != 16 {
			return cuda.InvalidValue
		}
		addr, p, err := t.MallocPitch(uint64(width), uint64(height))
		give(pitch, C.size_t(p), err)
		return own(to, cuda.OwnedMemory, addr, err)
	}, to, pitch)
}

//export cuMemAllocManaged
func cuMemAllocManaged(to C.uintptr_t, n C.size_t, flags C.uint) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		addr, err := t.MallocManaged(uint64(n), uint32(flags))
		return own(to, cuda.OwnedMemory, addr, err)
	}, to)
}

//export cuMemFree_v2
func cuMemFree_v2(addr C.uintptr_t) C.int {
	return disown(cuda.OwnedMemory, addr, func(t *cuda.Thread) cuda.Error {
		if addr == 0 {
			return cuda.InvalidValue
		}
		return t.Free(uint64(addr))
	})
}

//export cuMemHostAlloc
func cuMemHostAlloc(to C.uintptr_t, n C.size_t, flags C.uint) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		if n == 0 {
			return cuda.InvalidValue
		}
		addr, err := t.MallocHost(uint64(n), uint32(flags))
		return own(to, cuda.OwnedHostMemory, addr, err)
	}, to)
}

//export cuMemAllocHost_v2
func cuMemAllocHost_v2(to C.uintptr_t, n C.size_t) C.int { return cuMemHostAlloc(to, n, 0) }

//export cuMemFreeHost
func cuMemFreeHost(addr C.uintptr_t) C.int {
	return disown(cuda.OwnedHostMemory, addr, func(t *cuda.Thread) cuda.Error {
		if addr == 0 {
			return cuda.InvalidValue
		}
		return t.FreeHost(uint64(addr))
	})
}

//export cuMemHostRegister_v2
func cuMemHostRegister_v2(addr C.uintptr_t, n C.size_t, flags C.uint) C.int {
	return same(func() C.int { return cudaHostRegister(addr, n, flags) })
}

//export cuMemHostRegister
func cuMemHostRegister(addr C.uintptr_t, n C.size_t, flags C.uint) C.int {
	return cuMemHostRegister_v2(addr, n, flags)
}

//export cuMemHostUnregister
func cuMemHostUnregister(addr C.uintptr_t) C.int {
	return same(func() C.int { return cudaHostUnregister(addr) })
}

//export cuMemHostGetDevicePointer_v2
func cuMemHostGetDevicePointer_v2(to, addr C.uintptr_t, flags C.uint) C.int {
	return same(func() C.int { return cudaHostGetDevicePointer(to, addr, flags) }, to)
}

//export cuMemHostGetFlags
func cuMemHostGetFlags(to, addr C.uintptr_t) C.int {
	return same(func() C.int { return cudaHostGetFlags(to, addr) }, to)
}

//export cuMemPrefetchAsync
func cuMemPrefetchAsync(addr C.uintptr_t, n C.size_t, dev C.int, stream C.uintptr_t) C.int {
	return same(func() C.int { return heddlePrefetch(addr, n, dev, stream) })
}

//export cuMemAdvise
func cuMemAdvise(addr C.uintptr_t, n C.size_t, advice, dev C.int) C.int {
	return same(func() C.int { return heddleAdvise(addr, n, advice, dev) })
}

//export cuMemGetAddressRange_v2
func cuMemGetAddressRange_v2(base, size, addr C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		p, res := driver().Place(uint64(addr))
		if res == cuda.ResultSuccess && p.Length == 0 {
			return cuda.ResultNotFound
		}
		if base != 0 {
			back(base, C.uintptr_t(p.Mapped), res)
		}
		if size != 0 {
			back(size, C.size_t(p.Length), res)
		}
		return res
	})
}

// pointerAttribute stores an attribute of an address. Of other memory than the device's,
// only that fact is known.
func pointerAttribute(to C.uintptr_t, which C.int, addr C.uintptr_t) cuda.Result {
	w, device, err := thread().Where(uint64(addr))
	if err != cuda.Success {
		return err.Result()
	}
	if w == cuda.Unregistered {
		return cuda.ResultInvalidValue
	}
	p, res := driver().Place(uint64(addr))
	if res != cuda.ResultSuccess {
		return res
	}
	switch which {
	case C.CU_POINTER_ATTRIBUTE_CONTEXT:
		h, res := driver().OwnerOf(p.Base)
		return cuda.Result(back(to, C.uintptr_t(h), res))
	case C.CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		kind := C.uint(C.CU_MEMORYTYPE_DEVICE)
		if w == cuda.HostMemory {
			kind = C.CU_MEMORYTYPE_HOST
		}
		put(to, kind)
	case C.CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		put(to, addr)
	case C.CU_POINTER_ATTRIBUTE_HOST_POINTER:
		if w == cuda.DeviceMemory {
			return cuda.ResultInvalidValue
		}
		put(to, addr)
	case C.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, C.CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
		C.CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
		put(to, C.uint(0))
	case C.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		put(to, C.int(device))
	case C.CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, C.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		put(to, C.ulonglong(0))
	case C.CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		put(to, C.ulonglong(p.Access))
	case C.CU_POINTER_ATTRIBUTE_BUFFER_ID: // addresses of allocations are unique
		put(to, C.ulonglong(p.Base))
	case C.CU_POINTER_ATTRIBUTE_IS_MANAGED:
		put(to, truth(w == cuda.ManagedMemory))
	case C.CU_POINTER_ATTRIBUTE_MAPPED:
		put(to, truth(p.Length > 0))
	case C.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: // of reserved addresses, as documented: all of them
		put(to, C.ulonglong(p.Base))
	case C.CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		put(to, C.ulonglong(p.Size))
	default:
		return cuda.ResultInvalidValue
	}
	return cuda.ResultSuccess
}

//export cuPointerGetAttribute
func cuPointerGetAttribute(to C.uintptr_t, which C.int, addr C.uintptr_t) C.int {
	return ask(func() cuda.Result { return pointerAttribute(to, which, addr) }, to)
}

//export cuPointerGetAttributes
func cuPointerGetAttributes(n C.uint, which, to, addr C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		if n > C.CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID {
			return cuda.ResultInvalidValue
		}
		for i := range uint64(n) {
			kind := C.int(binary.LittleEndian.Uint32(host{}.Bytes(uint64(which)+4*i, 4)))
			place := C.uintptr_t(binary.LittleEndian.Uint64(host{}.Bytes(uint64(to)+8*i, 8)))
			if place == 0 {
				return cuda.ResultInvalidValue
			}
			// Unknown addresses give null, without an error.
			if pointerAttribute(place, kind, addr) != cuda.ResultSuccess {
				switch kind {
				case C.CU_POINTER_ATTRIBUTE_CONTEXT, C.CU_POINTER_ATTRIBUTE_DEVICE_POINTER, C.CU_POINTER_ATTRIBUTE_HOST_POINTER,
					C.CU_POINTER_ATTRIBUTE_BUFFER_ID, C.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, C.CU_POINTER_ATTRIBUTE_RANGE_SIZE:
					put(place, C.ulonglong(0))
				case C.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
					put(place, C.int(C.CU_DEVICE_INVALID))
				default:
					put(place, C.uint(0))
				}
			}
		}
		return cuda.ResultSuccess
	}, which, to)
}

//export cuPointerSetAttribute
func cuPointerSetAttribute(value C.uintptr_t, which C.int, addr C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		if which != C.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS {
			return cuda.ResultInvalidValue
		}
		_, res := driver().Place(uint64(addr))
		return res
	}, value)
}

// Copies.

func move(dst, src C.uintptr_t, n C.size_t, kind cuda.Kind, stream C.uintptr_t, async bool) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		return t.Copy(uint64(dst), uint64(src), uint64(n), kind, uint64(stream), async)
	})
}

//export cuMemcpy
func cuMemcpy(dst, src C.uintptr_t, n C.size_t) C.int {
	return move(dst, src, n, cuda.AnyWay, 0, false)
}

//export cuMemcpyAsync
func cuMemcpyAsync(dst, src C.uintptr_t, n C.size_t, stream C.uintptr_t) C.int {
	return move(dst, src, n, cuda.AnyWay, stream, true)
}

//export cuMemcpyHtoD_v2
func cuMemcpyHtoD_v2(dst, src C.uintptr_t, n C.size_t) C.int {
	return move(dst, src, n, cuda.HostToDevice, 0, false)
}

//export cuMemcpyHtoDAsync_v2
func cuMemcpyHtoDAsync_v2(dst, src C.uintptr_t, n C.size_t, stream C.uintptr_t) C.int {
	return move(dst, src, n, cuda.HostToDevice, stream, true)
}

//export cuMemcpyDtoH_v2
func cuMemcpyDtoH_v2(dst, src C.uintptr_t, n C.size_t) C.int {
	return move(dst, src, n, cuda.DeviceToHost, 0, false)
}

//export cuMemcpyDtoHAsync_v2
func cuMemcpyDtoHAsync_v2(dst, src C.uintptr_t, n C.size_t, stream C.uintptr_t) C.int {
	return move(dst, src, n, cuda.DeviceToHost, stream, true)
}

//export cuMemcpyDtoD_v2
func cuMemcpyDtoD_v2(dst, src C.uintptr_t, n C.size_t) C.int {
	return move(dst, src, n, cuda.DeviceToDevice, 0, true)
}

//export cuMemcpyDtoDAsync_v2
func cuMemcpyDtoDAsync_v2(dst, src C.uintptr_t, n C.size_t, stream C.uintptr_t) C.int {
	return move(dst, src, n, cuda.DeviceToDevice, stream, true)
}

// twoContexts checks the contexts of a copy between contexts.
func twoContexts(to, from C.uintptr_t) cuda.Result {
	for _, h := range []C.uintptr_t{to, from} {
		if _, _, res := driver().ContextInfo(uint64(h)); res != cuda.ResultSuccess || h == 0 {
			return cuda.ResultInvalidContext
		}
	}
	return cuda.ResultSuccess
}

func peerCopy(dst, to, src, from C.uintptr_t, n C.size_t, stream C.uintptr_t, async bool) C.int {
	if res := twoContexts(to, from); res != cuda.ResultSuccess {
		return C.int(res)
	}
	t, _ := driver().ContextDevice(uint64(to))
	f, _ := driver().ContextDevice(uint64(from))
	return in(func(x *cuda.Thread) cuda.Error {
		return x.CopyPeer(uint64(dst), t, uint64(src), f, uint64(n), uint64(stream), async)
	})
}

//export cuMemcpyPeerAsync
func cuMemcpyPeerAsync(dst, to, src, from C.uintptr_t, n C.size_t, stream C.uintptr_t) C.int {
	return peerCopy(dst, to, src, from, n, stream, true)
}

//export cuMemcpyPeer
func cuMemcpyPeer(dst, to, src, from C.uintptr_t, n C.size_t) C.int {
	return peerCopy(dst, to, src, from, n, 0, false)
}

// Filling.

func set(dst C.uintptr_t, pitch C.size_t, value []byte, width, height C.size_t, stream C.uintptr_t) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		const most = 1 << 46
		if width > most || height > most {
			return cuda.InvalidValue
		}
		return t.FillWith(uint64(dst), value, cuda.Rows{Width: uint64(width) * uint64(len(value)), Height: uint64(height), Depth: 1, DstPitch: uint64(pitch)}, uint64(stream))
	})
}

func bytes1(v C.uchar) []byte  { return []byte{byte(v)} }
func bytes2(v C.ushort) []byte { return binary.LittleEndian.AppendUint16(nil, uint16(v)) }
func bytes4(v C.uint) []byte   { return binary.LittleEndian.AppendUint32(nil, uint32(v)) }

//export cuMemsetD8Async
func cuMemsetD8Async(dst C.uintptr_t, v C.uchar, n C.size_t, stream C.uintptr_t) C.int {
	return set(dst, 0, bytes1(v), n, 1, stream)
}

//export cuMemsetD16Async
func cuMemsetD16Async(dst C.uintptr_t, v C.ushort, n C.size_t, stream C.uintptr_t) C.int {
	return set(dst, 0, bytes2(v), n, 1, stream)
}

//export cuMemsetD32Async
func cuMemsetD32Async(dst C.uintptr_t, v C.uint, n C.size_t, stream C.uintptr_t) C.int {
	return set(dst, 0, bytes4(v), n, 1, stream)
}

//export cuMemsetD2D8Async
func cuMemsetD2D8Async(dst C.uintptr_t, pitch C.size_t, v C.uchar, width, height C.size_t, stream C.uintptr_t) C.int {
	return set(dst, pitch, bytes1(v), width, height, stream)
}

//export cuMemsetD2D16Async
func cuMemsetD2D16Async(dst C.uintptr_t, pitch C.size_t, v C.ushort, width, height C.size_t, stream C.uintptr_t) C.int {
	return set(dst, pitch, bytes2(v), width, height, stream)
}

//export cuMemsetD2D32Async
func cuMemsetD2D32Async(dst C.uintptr_t, pitch C.size_t, v C.uint, width, height C.size_t, stream C.uintptr_t) C.int {
	return set(dst, pitch, bytes4(v), width, height, stream)
}

//export cuMemsetD8_v2
func cuMemsetD8_v2(dst C.uintptr_t, v C.uchar, n C.size_t) C.int {
	return cuMemsetD8Async(dst, v, n, 0)
}

//export cuMemsetD16_v2
func cuMemsetD16_v2(dst C.uintptr_t, v C.ushort, n C.size_t) C.int {
	return cuMemsetD16Async(dst, v, n, 0)
}

//export cuMemsetD32_v2
func cuMemsetD32_v2(dst C.uintptr_t, v C.uint, n C.size_t) C.int {
	return cuMemsetD32Async(dst, v, n, 0)
}

//export cuMemsetD2D8_v2
func cuMemsetD2D8_v2(dst C.uintptr_t, pitch C.size_t, v C.uchar, width, height C.size_t) C.int {
	return cuMemsetD2D8Async(dst, pitch, v, width, height, 0)
}

//export cuMemsetD2D16_v2
func cuMemsetD2D16_v2(dst C.uintptr_t, pitch C.size_t, v C.ushort, width, height C.size_t) C.int {
	return cuMemsetD2D16Async(dst, pitch, v, width, height, 0)
}

//export cuMemsetD2D32_v2
func cuMemsetD2D32_v2(dst C.uintptr_t, pitch C.size_t, v C.uint, width, height C.size_t) C.int {
	return cuMemsetD2D32Async(dst, pitch, v, width, height, 0)
}
