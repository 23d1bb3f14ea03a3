package main

/*
#include <stdlib.h>
#include "host.h"
*/
import "C"

import (
	"sync"
	"unsafe"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: capturing the work of streams as a graph.

//export cudaStreamBeginCapture
func cudaStreamBeginCapture(h C.uintptr_t, mode C.int) C.int {
	return C.int(thread().BeginCapture(uint64(h), cuda.CaptureMode(mode)))
}

//export cudaStreamEndCapture
func cudaStreamEndCapture(h, to C.uintptr_t) C.int {
	g, err := thread().EndCapture(uint64(h))
	if to != 0 { // a program that captures to a graph of its own need not ask for it
		put(to, C.uintptr_t(g)) // null after an error
	}
	return C.int(err)
}

//export cudaStreamIsCapturing
func cudaStreamIsCapturing(h, to C.uintptr_t) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	info, err := thread().CaptureInfo(uint64(h))
	return give(to, C.int(info.Status), err)
}

//export cudaThreadExchangeStreamCaptureMode
func cudaThreadExchangeStreamCaptureMode(mode C.uintptr_t) C.int {
	if err := need(mode); err != cuda.Success {
		return C.int(err)
	}
	old, err := thread().ExchangeCaptureMode(cuda.CaptureMode(*at[C.int](mode)))
	return give(mode, C.int(old), err)
}

//export cudaStreamGetCaptureInfo_v2
func cudaStreamGetCaptureInfo_v2(h, status, id, graph, nodes, n C.uintptr_t) C.int {
	if err := need(status); err != cuda.Success {
		return C.int(err)
	}
	info, err := thread().CaptureInfo(uint64(h))
	give(status, C.int(info.Status), err)
	if id != 0 {
		give(id, C.ulonglong(info.ID), err)
	}
	if graph != 0 {
		give(graph, C.uintptr_t(info.Graph), err)
	}
	if nodes != 0 {
		give(nodes, C.uintptr_t(uintptr(tailOf(uint64(h), info.Tail))), err)
	}
	if n != 0 {
		give(n, C.size_t(len(info.Tail)), err)
	}
	return C.int(err)
}

// tails are the lists of nodes returned to programs, by stream, in C memory: a list is
// valid until the next query of the stream.
var (
	tails   = map[uint64]unsafe.Pointer{}
	tailsMu sync.Mutex
)

func tailOf(stream uint64, nodes []uint64) unsafe.Pointer {
	tailsMu.Lock()
	defer tailsMu.Unlock()
	C.free(tails[stream])
	p := C.malloc(C.size_t(8*len(nodes) + 1))
	copy(unsafe.Slice((*uint64)(p), len(nodes)), nodes)
	tails[stream] = p
	return p
}

// heddleTail is cudaStreamUpdateCaptureDependencies.
//
//export heddleTail
func heddleTail(h, nodes C.uintptr_t, n C.size_t, flags C.uint) C.int {
	handles, err := list(nodes, n)
	if err == cuda.Success {
		err = thread().Check(flags <= C.cudaStreamSetCaptureDependencies)
	}
	if err != cuda.Success {
		return C.int(err)
	}
	return C.int(thread().SetCaptureTail(uint64(h), handles, flags == C.cudaStreamAddCaptureDependencies))
}
