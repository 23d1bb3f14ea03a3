package cuda

import (
	"encoding/binary"
	"os"
)

// This file: handles of memory and events for other processes. A process makes them, and
// cannot open its own (CUDA runtime API, cudaIpcOpenMemHandle); those of another one are
// refused, because its memory is in its own simulated machine.

// ProcessHandle is cudaIpcMemHandle_t and cudaIpcEventHandle_t.
type ProcessHandle [64]byte

// handleMark begins the handles of this library.
const handleMark = "heddle\x00\x01"

// interprocess is cudaEventInterprocess.
const interprocess = 4

// handed returns the handle of an object.
func handed(object uint64) (h ProcessHandle) {
	copy(h[:], handleMark)
	binary.LittleEndian.PutUint64(h[8:], uint64(os.Getpid()))
	binary.LittleEndian.PutUint64(h[16:], object)
	return h
}

// opened is the error of opening a handle.
func (r *Runtime) opened(h ProcessHandle, what string) Error {
	switch {
	case string(h[:8]) != handleMark:
		return InvalidValue
	case binary.LittleEndian.Uint64(h[8:]) == uint64(os.Getpid()):
		r.once("own "+what, "a process cannot open the handle of its own %s; it uses what it made the handle of", what)
		return DeviceUninitialized
	}
	r.once("foreign "+what, "sharing %s between processes is not supported: each process has a simulated machine of its own; use the devices of one process (--devices N)", what)
	return NotSupported
}

// ShareMemory returns a handle of memory of cudaMalloc, by its address.
func (t *Thread) ShareMemory(addr uint64) (h ProcessHandle, err Error) {
	err = t.do(func(r *Runtime) Error {
		d, err := r.holder(addr)
		if err != Success {
			return err
		}
		a, ok := d.mem.Find(addr)
		if !ok || a.Addr != addr || a.Freed || a.Reserved() || d.isVariable(addr) || r.pooled[addr].pool != nil || r.graphMemory[addr] != nil {
			return InvalidValue
		}
		h = handed(addr)
		return Success
	})
	return h, err
}

// OpenMemory opens a handle of memory; flags must be 1 (cudaIpcMemLazyEnablePeerAccess).
func (t *Thread) OpenMemory(h ProcessHandle, flags uint32) Error {
	return t.do(func(r *Runtime) Error {
		if flags != 1 {
			return InvalidValue
		}
		return r.opened(h, "memory")
	})
}

// ShareEvent returns a handle of an event that was made for other processes.
func (t *Thread) ShareEvent(ev uint64) (h ProcessHandle, err Error) {
	err = t.do(func(r *Runtime) Error {
		e := r.events[ev]
		if e == nil || e.flags&(interprocess|noTiming) != interprocess|noTiming {
			return InvalidHandle
		}
		h = handed(ev)
		return Success
	})
	return h, err
}

// OpenEvent opens a handle of an event.
func (t *Thread) OpenEvent(h ProcessHandle) Error {
	return t.do(func(r *Runtime) Error { return r.opened(h, "events") })
}
