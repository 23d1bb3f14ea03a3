package main

/*
#include "host.h"
*/
import "C"

import "github.com/heddle-sim/heddle/internal/work/cuda"

// This file: streams and events. They are the runtime's.

//export cuStreamCreateWithPriority
func cuStreamCreateWithPriority(to C.uintptr_t, flags C.uint, priority C.int) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		h, err := t.StreamCreate(uint32(flags), int(priority))
		return own(to, cuda.OwnedStream, h, err)
	}, to)
}

// own stores a handle and makes the context the owner of its object.
func own(to C.uintptr_t, kind cuda.ThingKind, h uint64, err cuda.Error) cuda.Error {
	if err == cuda.Success {
		driver().Own(kind, h)
		put(to, C.uintptr_t(h))
	}
	return err
}

// disown runs a call that destroys an object.
func disown(kind cuda.ThingKind, h C.uintptr_t, end func(t *cuda.Thread) cuda.Error) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		err := end(t)
		if err == cuda.Success {
			driver().Disown(kind, uint64(h))
		}
		return err
	})
}

//export cuStreamCreate
func cuStreamCreate(to C.uintptr_t, flags C.uint) C.int {
	return cuStreamCreateWithPriority(to, flags, 0)
}

//export cuStreamDestroy_v2
func cuStreamDestroy_v2(h C.uintptr_t) C.int {
	return disown(cuda.OwnedStream, h, func(t *cuda.Thread) cuda.Error { return t.StreamDestroy(uint64(h)) })
}

//export cuStreamDestroy
func cuStreamDestroy(h C.uintptr_t) C.int { return cuStreamDestroy_v2(h) }

// same runs a call that is the same in the runtime.
func same(f func() C.int, places ...C.uintptr_t) C.int {
	return in(func(*cuda.Thread) cuda.Error { return cuda.Error(f()) }, places...)
}

//export cuStreamSynchronize
func cuStreamSynchronize(h C.uintptr_t) C.int {
	return same(func() C.int { return cudaStreamSynchronize(h) })
}

//export cuStreamQuery
func cuStreamQuery(h C.uintptr_t) C.int { return same(func() C.int { return cudaStreamQuery(h) }) }

//export cuStreamWaitEvent
func cuStreamWaitEvent(h, event C.uintptr_t, flags C.uint) C.int {
	return same(func() C.int { return cudaStreamWaitEvent(h, event, flags) })
}

//export cuStreamGetFlags
func cuStreamGetFlags(h, to C.uintptr_t) C.int {
	return same(func() C.int { return cudaStreamGetFlags(h, to) })
}

//export cuStreamSetAttribute
func cuStreamSetAttribute(h C.uintptr_t, which C.int, value C.uintptr_t) C.int {
	return same(func() C.int { return cudaStreamSetAttribute(h, which, value) })
}

//export cuStreamGetAttribute
func cuStreamGetAttribute(h C.uintptr_t, which C.int, value C.uintptr_t) C.int {
	return same(func() C.int { return cudaStreamGetAttribute(h, which, value) })
}

//export cuStreamCopyAttributes
func cuStreamCopyAttributes(to, from C.uintptr_t) C.int {
	return same(func() C.int { return cudaStreamCopyAttributes(to, from) })
}

//export cuStreamGetPriority
func cuStreamGetPriority(h, to C.uintptr_t) C.int {
	return same(func() C.int { return cudaStreamGetPriority(h, to) })
}

//export cuStreamGetId
func cuStreamGetId(h, to C.uintptr_t) C.int {
	return same(func() C.int { return cudaStreamGetId(h, to) })
}

//export cuStreamGetCtx
func cuStreamGetCtx(h, to C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		ctx, res := driver().StreamContext(uint64(h))
		back(to, C.uintptr_t(ctx), res)
		return res
	}, to)
}

//export cuStreamAddCallback
func cuStreamAddCallback(h, fn, data C.uintptr_t, flags C.uint) C.int {
	if flags != 0 {
		return setting(false)
	}
	return same(func() C.int { return cudaStreamAddCallback(h, fn, data, flags) }, fn)
}

//export cuStreamAttachMemAsync
func cuStreamAttachMemAsync(h, addr C.uintptr_t, n C.size_t, flags C.uint) C.int {
	return same(func() C.int { return cudaStreamAttachMemAsync(h, addr, n, flags) })
}

//export cuEventCreate
func cuEventCreate(to C.uintptr_t, flags C.uint) C.int {
	return in(func(t *cuda.Thread) cuda.Error {
		h, err := t.EventCreate(uint32(flags))
		return own(to, cuda.OwnedEvent, h, err)
	}, to)
}

//export cuEventDestroy_v2
func cuEventDestroy_v2(h C.uintptr_t) C.int {
	return disown(cuda.OwnedEvent, h, func(t *cuda.Thread) cuda.Error { return t.EventDestroy(uint64(h)) })
}

//export cuEventDestroy
func cuEventDestroy(h C.uintptr_t) C.int { return cuEventDestroy_v2(h) }

//export cuEventRecord
func cuEventRecord(h, stream C.uintptr_t) C.int {
	return same(func() C.int { return cudaEventRecord(h, stream) })
}

//export cuEventRecordWithFlags
func cuEventRecordWithFlags(h, stream C.uintptr_t, flags C.uint) C.int {
	return same(func() C.int { return cudaEventRecordWithFlags(h, stream, flags) })
}

//export cuEventQuery
func cuEventQuery(h C.uintptr_t) C.int { return same(func() C.int { return cudaEventQuery(h) }) }

//export cuEventSynchronize
func cuEventSynchronize(h C.uintptr_t) C.int {
	return same(func() C.int { return cudaEventSynchronize(h) })
}

//export cuEventElapsedTime
func cuEventElapsedTime(to, from, until C.uintptr_t) C.int {
	return same(func() C.int { return cudaEventElapsedTime(to, from, until) }, to)
}

//export cuStreamGetDevice
func cuStreamGetDevice(h, to C.uintptr_t) C.int {
	return same(func() C.int { return cudaStreamGetDevice(h, to) })
}

//export cuEventElapsedTime_v2
func cuEventElapsedTime_v2(to, from, until C.uintptr_t) C.int {
	return cuEventElapsedTime(to, from, until)
}
