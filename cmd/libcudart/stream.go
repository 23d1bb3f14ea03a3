package main

/*
#include "host.h"
*/
import "C"

import "github.com/heddle-sim/heddle/internal/work/cuda"

// This file: streams and events.

func newStream(to C.uintptr_t, flags C.uint, priority C.int) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	h, err := thread().StreamCreate(uint32(flags), int(priority))
	return give(to, C.uintptr_t(h), err)
}

//export cudaStreamCreate
func cudaStreamCreate(to C.uintptr_t) C.int { return newStream(to, 0, 0) }

//export cudaStreamCreateWithFlags
func cudaStreamCreateWithFlags(to C.uintptr_t, flags C.uint) C.int { return newStream(to, flags, 0) }

//export cudaStreamCreateWithPriority
func cudaStreamCreateWithPriority(to C.uintptr_t, flags C.uint, priority C.int) C.int {
	return newStream(to, flags, priority)
}

//export cudaStreamDestroy
func cudaStreamDestroy(h C.uintptr_t) C.int { return C.int(thread().StreamDestroy(uint64(h))) }

//export cudaStreamSynchronize
func cudaStreamSynchronize(h C.uintptr_t) C.int { return C.int(thread().StreamSynchronize(uint64(h))) }

//export cudaStreamQuery
func cudaStreamQuery(h C.uintptr_t) C.int { return C.int(thread().StreamQuery(uint64(h))) }

// streamInfo stores a property of a stream.
func streamInfo[T any](h, to C.uintptr_t, of func(cuda.StreamInfo) T) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	info, err := thread().StreamInfo(uint64(h))
	return give(to, of(info), err)
}

//export cudaStreamGetFlags
func cudaStreamGetFlags(h, to C.uintptr_t) C.int {
	return streamInfo(h, to, func(i cuda.StreamInfo) C.uint { return C.uint(i.Flags) })
}

//export cudaStreamGetPriority
func cudaStreamGetPriority(h, to C.uintptr_t) C.int {
	return streamInfo(h, to, func(i cuda.StreamInfo) C.int { return C.int(i.Priority) })
}

//export cudaStreamGetId
func cudaStreamGetId(h, to C.uintptr_t) C.int {
	return streamInfo(h, to, func(i cuda.StreamInfo) C.ulonglong { return C.ulonglong(i.ID) })
}

// streamValue returns the bytes of a stream attribute's value at an address of the host.
func streamValue(which C.int, value C.uintptr_t) ([]byte, cuda.Error) {
	n := cuda.StreamAttribute(which).Bytes()
	if n == 0 || value == 0 {
		return nil, thread().Check(false)
	}
	return host{}.Bytes(uint64(value), uint64(n)), cuda.Success
}

//export cudaStreamSetAttribute
func cudaStreamSetAttribute(h C.uintptr_t, which C.int, value C.uintptr_t) C.int {
	v, err := streamValue(which, value)
	if err == cuda.Success {
		err = thread().SetStreamAttribute(uint64(h), cuda.StreamAttribute(which), v)
	}
	return C.int(err)
}

//export cudaStreamGetAttribute
func cudaStreamGetAttribute(h C.uintptr_t, which C.int, value C.uintptr_t) C.int {
	to, err := streamValue(which, value)
	if err == cuda.Success {
		err = thread().StreamAttribute(uint64(h), cuda.StreamAttribute(which), to)
	}
	return C.int(err)
}

//export cudaStreamCopyAttributes
func cudaStreamCopyAttributes(to, from C.uintptr_t) C.int {
	return C.int(thread().CopyStreamAttributes(uint64(to), uint64(from)))
}

//export cudaCtxResetPersistingL2Cache
func cudaCtxResetPersistingL2Cache() C.int { return C.int(thread().Answer(cuda.Success)) } // no line persists

//export cudaStreamWaitEvent
func cudaStreamWaitEvent(h, event C.uintptr_t, flags C.uint) C.int {
	return C.int(thread().StreamWait(uint64(h), uint64(event), uint32(flags)))
}

//export cudaLaunchHostFunc
func cudaLaunchHostFunc(h, fn, data C.uintptr_t) C.int {
	return C.int(thread().HostCall(uint64(h), uint64(fn), uint64(data)))
}

//export cudaStreamAddCallback
func cudaStreamAddCallback(h, fn, data C.uintptr_t, flags C.uint) C.int {
	if err := need(fn); err != cuda.Success {
		return C.int(err)
	}
	err := thread().StreamSynchronize(uint64(h))
	if err != cuda.InvalidHandle && err != cuda.StreamCaptureUnsupported {
		C.heddle_callback(fn, h, C.int(err), data)
	}
	return C.int(err)
}

//export cudaEventCreate
func cudaEventCreate(to C.uintptr_t) C.int { return cudaEventCreateWithFlags(to, 0) }

//export cudaEventCreateWithFlags
func cudaEventCreateWithFlags(to C.uintptr_t, flags C.uint) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	h, err := thread().EventCreate(uint32(flags))
	return give(to, C.uintptr_t(h), err)
}

//export cudaEventDestroy
func cudaEventDestroy(h C.uintptr_t) C.int { return C.int(thread().EventDestroy(uint64(h))) }

//export cudaEventRecord
func cudaEventRecord(h, stream C.uintptr_t) C.int {
	return cudaEventRecordWithFlags(h, stream, 0)
}

//export cudaEventRecordWithFlags
func cudaEventRecordWithFlags(h, stream C.uintptr_t, flags C.uint) C.int {
	return C.int(thread().EventRecord(uint64(h), uint64(stream), uint32(flags)))
}

//export cudaEventSynchronize
func cudaEventSynchronize(h C.uintptr_t) C.int { return C.int(thread().EventSynchronize(uint64(h))) }

//export cudaEventQuery
func cudaEventQuery(h C.uintptr_t) C.int { return C.int(thread().EventQuery(uint64(h))) }

//export cudaEventElapsedTime
func cudaEventElapsedTime(to, from, until C.uintptr_t) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	ms, err := thread().EventElapsed(uint64(from), uint64(until))
	return give(to, C.float(ms), err)
}

//export cudaStreamGetDevice
func cudaStreamGetDevice(h, to C.uintptr_t) C.int {
	return streamInfo(h, to, func(i cuda.StreamInfo) C.int { return C.int(i.Device) })
}

//export cudaEventElapsedTime_v2
func cudaEventElapsedTime_v2(to, from, until C.uintptr_t) C.int {
	return cudaEventElapsedTime(to, from, until)
}
