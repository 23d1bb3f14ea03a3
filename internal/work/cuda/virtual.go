package cuda

import (
	"errors"
	"slices"
	"syscall"

	"github.com/heddle-sim/heddle/internal/exec/device"
)

// This file: virtual memory management, whose calls only the driver has. Handles are
// those of device.Memory.

// Granularity is what sizes and addresses of mappings are multiples of.
const Granularity = device.Granule

// virtual does f on memory, when nothing runs that may use it. An error of f is of its
// arguments, and becomes wrong; but where this computer has no room, that is the error.
func (t *Thread) virtual(wrong Error, f func(m *device.Memory) error) Error {
	return t.do(func(r *Runtime) Error {
		if err := r.finish(); err != Success {
			return err
		}
		switch err := f(r.mem); {
		case err == nil:
			return Success
		case errors.Is(err, syscall.ENOMEM):
			r.once("mappings", "virtual memory of the device: %v: this computer's memory, or the number of mappings that Linux allows a process (vm.max_map_count), is used up", err)
			return MemoryAllocation
		}
		return wrong
	})
}

// Reserve reserves addresses. alignment is 0 or a power of two.
func (t *Thread) Reserve(size, alignment uint64) (addr uint64, err Error) {
	if size == 0 || size%Granularity != 0 || alignment&(alignment-1) != 0 {
		return 0, InvalidValue
	}
	err = t.virtual(MemoryAllocation, func(m *device.Memory) (e error) {
		addr, e = m.Reserve(size, alignment)
		return e
	})
	return addr, err
}

// Unreserve gives addresses of Reserve back.
func (t *Thread) Unreserve(addr, size uint64) Error {
	return t.virtual(InvalidValue, func(m *device.Memory) error { return m.Unreserve(addr, size) })
}

// MemCreate makes memory without an address.
func (t *Thread) MemCreate(size uint64) (h uint64, err Error) {
	if size == 0 || size%Granularity != 0 {
		return 0, InvalidValue
	}
	err = t.virtual(MemoryAllocation, func(m *device.Memory) (e error) {
		h, e = m.Create(size)
		return e
	})
	return h, err
}

// MemRelease gives a handle up.
func (t *Thread) MemRelease(h uint64) Error {
	return t.virtual(InvalidValue, func(m *device.Memory) error { return m.Release(h) })
}

// MemMap maps the memory of a handle.
func (t *Thread) MemMap(addr, size, h uint64) Error {
	return t.virtual(InvalidValue, func(m *device.Memory) error { return m.Map(addr, size, h) })
}

// MemUnmap ends mappings.
func (t *Thread) MemUnmap(addr, size uint64) Error {
	return t.virtual(InvalidValue, func(m *device.Memory) error { return m.Unmap(addr, size) })
}

// accessFlags are the driver's CUmemAccess_flags, by device.Access.
var accessFlags = [...]int32{device.NoAccess: 0, device.MayRead: 1, device.MayWrite: 3}

// AccessIs reports whether a number is a CUmemAccess_flags.
func AccessIs(flags int32) bool { return slices.Contains(accessFlags[:], flags) }

// SetAccess says what may be done with mapped memory, by a CUmemAccess_flags.
func (t *Thread) SetAccess(addr, size uint64, flags int32) Error {
	if !AccessIs(flags) {
		return InvalidValue
	}
	a := device.Access(slices.Index(accessFlags[:], flags))
	return t.virtual(InvalidValue, func(m *device.Memory) error { return m.SetAccess(addr, size, a) })
}

// AccessAt returns what may be done with the memory at an address.
func (t *Thread) AccessAt(addr uint64) (flags int32, err Error) {
	err = t.do(func(r *Runtime) Error {
		p, ok := r.mem.MappingAt(addr)
		if !ok {
			return InvalidValue
		}
		flags = accessFlags[p.Access]
		return Success
	})
	return flags, err
}

// MemRetain returns the handle of the memory at an address, held once more.
func (t *Thread) MemRetain(addr uint64) (h uint64, err Error) {
	err = t.do(func(r *Runtime) Error {
		var ok bool
		if h, ok = r.mem.Retain(addr); !ok {
			return InvalidValue
		}
		return Success
	})
	return h, err
}

// MemIs reports whether a handle is one of memory.
func (t *Thread) MemIs(h uint64) Error {
	return t.do(func(r *Runtime) Error {
		if !r.mem.Holds(h) {
			return InvalidValue
		}
		return Success
	})
}
