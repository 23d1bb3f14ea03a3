package main

/*
#include "host.h"
*/
import "C"

import (
	"unsafe"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: virtual memory management.

// memLocation is the driver's CUmemLocation.
type memLocation struct{ kind, id int32 }

// onDevice is the kind of a location on a device.
const onDevice = 1

// memProperties is the driver's CUmemAllocationProp.
type memProperties struct {
	kind, handles int32
	location      memLocation
	windows       uint64
	flags         [8]byte // compression, RDMA, usage
}

// memAccess is the driver's CUmemAccessDesc.
type memAccess struct {
	location memLocation
	flags    int32
}

// memory reports what memory cannot be made as asked: only pinned memory of the device
// is there, and nothing to share it with other processes.
func (p *memProperties) memory() cuda.Error {
	switch {
	case p.kind != 1 || p.location.kind != onDevice && p.location.kind != 0:
		return cuda.InvalidValue
	case p.location.kind != onDevice:
		return cuda.InvalidDevice
	}
	if err := there(C.int(p.location.id)); err != cuda.Success {
		return err
	}
	if p.handles != 0 {
		return cuda.NotSupported
	}
	return cuda.Success
}

// known is in for calls that need no context.
func known(f func(t *cuda.Thread) cuda.Error, places ...C.uintptr_t) C.int {
	return ask(func() cuda.Result { return f(thread()).Result() }, places...)
}

//export cuMemGetAllocationGranularity
func cuMemGetAllocationGranularity(to, properties C.uintptr_t, option C.int) C.int {
	return known(func(*cuda.Thread) cuda.Error {
		if option != 0 && option != 1 { // least, recommended
			return cuda.InvalidValue
		}
		return cuda.Error(give(to, C.size_t(cuda.Granularity), at[memProperties](properties).memory()))
	}, to, properties)
}

//export cuMemAddressReserve
func cuMemAddressReserve(to C.uintptr_t, size, alignment C.size_t, near C.uintptr_t, flags C.ulonglong) C.int {
	return known(func(t *cuda.Thread) cuda.Error {
		if flags != 0 {
			return cuda.InvalidValue
		}
		addr, err := t.Reserve(uint64(size), uint64(alignment))
		return cuda.Error(give(to, C.uintptr_t(addr), err))
	}, to)
}

//export cuMemAddressFree
func cuMemAddressFree(addr C.uintptr_t, size C.size_t) C.int {
	return known(func(t *cuda.Thread) cuda.Error { return t.Unreserve(uint64(addr), uint64(size)) })
}

//export cuMemCreate
func cuMemCreate(to C.uintptr_t, size C.size_t, properties C.uintptr_t, flags C.ulonglong) C.int {
	return known(func(t *cuda.Thread) cuda.Error {
		if flags != 0 {
			return cuda.InvalidValue
		}
		p := at[memProperties](properties)
		if err := p.memory(); err != cuda.Success {
			return err
		}
		h, err := t.MemCreate(int(p.location.id), uint64(size))
		return cuda.Error(give(to, C.ulonglong(h), err))
	}, to, properties)
}

//export cuMemRelease
func cuMemRelease(h C.ulonglong) C.int {
	return known(func(t *cuda.Thread) cuda.Error { return t.MemRelease(uint64(h)) })
}

//export cuMemMap
func cuMemMap(addr C.uintptr_t, size, offset C.size_t, h, flags C.ulonglong) C.int {
	return known(func(t *cuda.Thread) cuda.Error {
		if offset != 0 || flags != 0 { // as documented
			return cuda.InvalidValue
		}
		return t.MemMap(uint64(addr), uint64(size), uint64(h))
	})
}

//export cuMemUnmap
func cuMemUnmap(addr C.uintptr_t, size C.size_t) C.int {
	return known(func(t *cuda.Thread) cuda.Error { return t.MemUnmap(uint64(addr), uint64(size)) })
}

// maxAccess limits the descriptions of one call, our choice.
const maxAccess = 1 << 10

//export cuMemSetAccess
func cuMemSetAccess(addr C.uintptr_t, size C.size_t, list C.uintptr_t, n C.size_t) C.int {
	return known(func(t *cuda.Thread) cuda.Error {
		if n == 0 || n > maxAccess {
			return cuda.InvalidValue
		}
		descriptions := unsafe.Slice(at[memAccess](list), n)
		for _, d := range descriptions {
			if d.location.kind != onDevice || !cuda.AccessIs(d.flags) {
				return cuda.InvalidValue
			}
			if err := t.Device(int(d.location.id)); err != cuda.Success {
				return err
			}
		}
		for _, d := range descriptions {
			if err := t.SetAccess(int(d.location.id), uint64(addr), uint64(size), d.flags); err != cuda.Success {
				return err
			}
		}
		return cuda.Success
	}, list)
}

//export cuMemGetAccess
func cuMemGetAccess(to, location, addr C.uintptr_t) C.int {
	return known(func(t *cuda.Thread) cuda.Error {
		l := *at[memLocation](location)
		if l.kind != onDevice || t.Device(int(l.id)) != cuda.Success {
			return cuda.InvalidValue
		}
		flags, err := t.AccessAt(int(l.id), uint64(addr))
		return cuda.Error(give(to, C.ulonglong(flags), err))
	}, to, location)
}

//export cuMemRetainAllocationHandle
func cuMemRetainAllocationHandle(to, addr C.uintptr_t) C.int {
	return known(func(t *cuda.Thread) cuda.Error {
		h, err := t.MemRetain(uint64(addr))
		return cuda.Error(give(to, C.ulonglong(h), err))
	}, to)
}

//export cuMemGetAllocationPropertiesFromHandle
func cuMemGetAllocationPropertiesFromHandle(to C.uintptr_t, h C.ulonglong) C.int {
	return known(func(t *cuda.Thread) cuda.Error {
		device, err := t.MemIs(uint64(h))
		return cuda.Error(give(to, memProperties{kind: 1, location: memLocation{onDevice, int32(device)}}, err))
	}, to)
}
