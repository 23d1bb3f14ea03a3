package cuda

import (
	"errors"
	"slices"
	"syscall"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec/device"
)

// This file: virtual memory management, whose calls only the driver has. Handles are
// those of device.Memory.

// Granularity is what sizes and addresses of mappings are multiples of.
const Granularity = device.Granule

// virtual does f on memory, when nothing runs that may use it. An error of f is of its
// arguments, and becomes wrong; but where this computer has no room, that is the error.
func (r *Runtime) virtual(wrong Error, f func() error) Error {
	for _, d := range r.begun() {
		if err := d.finish(); err != Success && d == r {
			return err
		}
	}
	own := Success
	switch err := f(); {
	case err == nil:
		return Success
	case errors.As(err, &own):
		return own
	case errors.Is(err, syscall.ENOMEM):
		r.once("mappings", "virtual memory of the device: %v: this computer's memory, or the number of mappings that Linux allows a process (vm.max_map_count), is used up", err)
		return MemoryAllocation
	}
	return wrong
}

// ofMapping is virtual for a call about addresses, with the device that they belong to.
func (t *Thread) ofMapping(addr uint64, f func(d *Runtime) error) Error {
	return t.do(func(r *Runtime) Error {
		d, err := r.holder(addr)
		if err != Success {
			return err
		}
		return d.virtual(InvalidValue, func() error { return f(d) })
	})
}

// handleShift is where the number of its device stands in a handle of memory; below it is
// that of device.Memory.
const handleShift = 48

// ofMemory runs a call about a handle of memory, with its device and what the device calls
// it.
func (r *Runtime) ofMemory(h uint64, f func(d *Runtime, block uint64) Error) Error {
	d, err := r.numbered(int(h >> handleShift))
	if err != Success || d.mem == nil {
		return InvalidValue
	}
	return f(d, h&(1<<handleShift-1))
}

// Reserve reserves addresses, of those of the current device. alignment is 0 or a power of
// two.
func (t *Thread) Reserve(size, alignment uint64) (addr uint64, err Error) {
	if size == 0 || size%Granularity != 0 || alignment&(alignment-1) != 0 {
		return 0, InvalidValue
	}
	err = t.do(func(r *Runtime) Error {
		return r.virtual(MemoryAllocation, func() (e error) {
			addr, e = r.mem.Reserve(size, alignment)
			return e
		})
	})
	return addr, err
}

// Unreserve gives addresses of Reserve back.
func (t *Thread) Unreserve(addr, size uint64) Error {
	return t.ofMapping(addr, func(d *Runtime) error { return d.mem.Unreserve(addr, size) })
}

// MemCreate makes memory of a device, without an address.
func (t *Thread) MemCreate(number int, size uint64) (h uint64, err Error) {
	if size == 0 || size%Granularity != 0 {
		return 0, InvalidValue
	}
	err = t.on(number, func(d *Runtime) Error {
		if err := d.begin(); err != Success {
			return err
		}
		return d.virtual(MemoryAllocation, func() (e error) {
			if h, e = d.mem.Create(size); e == nil {
				d.tellBlock(check.HostCreate, "cuMemCreate", number, h, 0, size)
			}
			h |= uint64(number) << handleShift
			return e
		})
	})
	return h, err
}

// MemRelease gives a handle up.
func (t *Thread) MemRelease(h uint64) Error {
	return t.do(func(r *Runtime) Error {
		return r.ofMemory(h, func(d *Runtime, block uint64) Error {
			return d.virtual(InvalidValue, func() error {
				err := d.mem.Release(block)
				if err == nil && !d.mem.Exists(block) {
					d.tellBlock(check.HostDestroy, "cuMemRelease", d.number, block, 0, Granularity)
				}
				return err
			})
		})
	})
}

// MemMap maps the memory of a handle, which may be that of any device.
func (t *Thread) MemMap(addr, size, h uint64) Error {
	return t.ofMapping(addr, func(d *Runtime) error {
		var err error
		wrong := d.ofMemory(h, func(from *Runtime, block uint64) Error {
			if from != d && d.machine != nil {
				d.once("foreign mappings", "cuMemMap: in a timing run memory can only be mapped at addresses that were reserved while its device was current")
				return NotSupported
			}
			if err = d.mem.MapOf(from.mem, addr, size, block); err == nil {
				d.tellBlock(check.HostMap, "cuMemMap", from.number, block, addr, size)
			}
			return Success
		})
		if wrong != Success {
			return wrong
		}
		return err
	})
}

// MemUnmap ends mappings.
func (t *Thread) MemUnmap(addr, size uint64) Error {
	return t.ofMapping(addr, func(d *Runtime) error {
		list := d.mem.Mappings(addr, size)
		if err := d.mem.Unmap(addr, size); err != nil {
			return err
		}
		for i := range list {
			d.tellUnmapped(&list[i])
		}
		return nil
	})
}

// accessFlags are the driver's CUmemAccess_flags, by device.Access.
var accessFlags = [...]int32{device.NoAccess: 0, device.MayRead: 1, device.MayWrite: 3}

// AccessIs reports whether a number is a CUmemAccess_flags.
func AccessIs(flags int32) bool { return slices.Contains(accessFlags[:], flags) }

// SetAccess says what a device may do with mapped memory, by a CUmemAccess_flags.
func (t *Thread) SetAccess(number int, addr, size uint64, flags int32) Error {
	if !AccessIs(flags) {
		return InvalidValue
	}
	a := device.Access(slices.Index(accessFlags[:], flags))
	return t.ofMapping(addr, func(d *Runtime) error {
		if _, err := d.numbered(number); err != Success {
			return err
		}
		if number != d.number {
			d.meet()
		}
		return d.mem.SetAccessOf(number, addr, size, a)
	})
}

// AccessAt returns what a device may do with the memory at an address.
func (t *Thread) AccessAt(number int, addr uint64) (flags int32, err Error) {
	err = t.on(number, func(*Runtime) Error {
		d, err := t.r.holder(addr)
		if err != Success {
			return err
		}
		p, ok := d.mem.MappingAt(addr)
		if !ok {
			return InvalidValue
		}
		flags = accessFlags[p.Access[number]]
		return Success
	})
	return flags, err
}

// MemRetain returns the handle of the memory at an address, held once more.
func (t *Thread) MemRetain(addr uint64) (h uint64, err Error) {
	err = t.do(func(r *Runtime) Error {
		d, err := r.holder(addr)
		if err != Success {
			return err
		}
		block, from, ok := d.mem.Retain(addr)
		if !ok {
			return InvalidValue
		}
		h = block | uint64(from)<<handleShift
		return Success
	})
	return h, err
}

// MemIs returns the device of a handle of memory.
func (t *Thread) MemIs(h uint64) (number int, err Error) {
	err = t.do(func(r *Runtime) Error {
		return r.ofMemory(h, func(d *Runtime, block uint64) Error {
			if !d.mem.Holds(block) {
				return InvalidValue
			}
			number = d.number
			return Success
		})
	})
	return number, err
}
