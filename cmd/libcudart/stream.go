package main

/*
#include "host.h"
*/
import "C"

import "github.com/heddle-sim/heddle/internal/cuda"

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
func cudaStreamQuery(h C.uintptr_t) C.int { return C.int(thread().StreamSynchronize(uint64(h))) }

//export cudaStreamGetFlags
func cudaStreamGetFlags(h, to C.uintptr_t) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	flags, _, err := thread().StreamInfo(uint64(h))
	return give(to, C.uint(flags), err)
}

//export cudaStreamGetPriority
func cudaStreamGetPriority(h, to C.uintptr_t) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	_, priority, err := thread().StreamInfo(uint64(h))
	return give(to, C.int(priority), err)
}

//export cudaStreamWaitEvent
func cudaStreamWaitEvent(h, event C.uintptr_t, flags C.uint) C.int {
	return C.int(thread().StreamWait(uint64(h), uint64(event)))
}

//export cudaLaunchHostFunc
func cudaLaunchHostFunc(h, fn, data C.uintptr_t) C.int {
	if err := need(fn); err != cuda.Success {
		return C.int(err)
	}
	err := thread().StreamSynchronize(uint64(h))
	if err == cuda.Success {
		C.heddle_call(fn, data)
	}
	return C.int(err)
}

//export cudaStreamAddCallback
func cudaStreamAddCallback(h, fn, data C.uintptr_t, flags C.uint) C.int {
	if err := need(fn); err != cuda.Success {
		return C.int(err)
	}
	err := thread().StreamSynchronize(uint64(h))
	if err != cuda.InvalidHandle {
		C.heddle_callback(fn, h, C.int(err), data)
	}
	return C.int(err)
}

//export cudaStreamIsCapturing
func cudaStreamIsCapturing(h, to C.uintptr_t) C.int {
	return give(to, C.int(C.cudaStreamCaptureStatusNone), need(to))
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
	return C.int(thread().EventRecord(uint64(h), uint64(stream)))
}

//export cudaEventSynchronize
func cudaEventSynchronize(h C.uintptr_t) C.int { return C.int(thread().EventSynchronize(uint64(h))) }

//export cudaEventQuery
func cudaEventQuery(h C.uintptr_t) C.int { return C.int(thread().EventSynchronize(uint64(h))) }

//export cudaEventElapsedTime
func cudaEventElapsedTime(to, from, until C.uintptr_t) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	ms, err := thread().EventElapsed(uint64(from), uint64(until))
	return give(to, C.float(ms), err)
}
