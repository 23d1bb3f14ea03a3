package main

/*
#include "host.h"
*/
import "C"

import "github.com/heddle-sim/heddle/internal/work/cuda"

// This file: handles for other processes. Calls that take one by value are in ipc.c.

//export cudaIpcGetMemHandle
func cudaIpcGetMemHandle(to, addr C.uintptr_t) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	h, err := thread().ShareMemory(uint64(addr))
	return give(to, h, err)
}

//export heddleOpenMemory
func heddleOpenMemory(to, handle C.uintptr_t, flags C.uint) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	return C.int(thread().OpenMemory(*at[cuda.ProcessHandle](handle), uint32(flags)))
}

//export cudaIpcCloseMemHandle
func cudaIpcCloseMemHandle(addr C.uintptr_t) C.int { return C.int(thread().Check(false)) } // none is open

//export cudaIpcGetEventHandle
func cudaIpcGetEventHandle(to, event C.uintptr_t) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	h, err := thread().ShareEvent(uint64(event))
	return give(to, h, err)
}

//export heddleOpenEvent
func heddleOpenEvent(to, handle C.uintptr_t) C.int {
	if err := need(to); err != cuda.Success {
		return C.int(err)
	}
	return C.int(thread().OpenEvent(*at[cuda.ProcessHandle](handle)))
}

//export cuIpcGetMemHandle
func cuIpcGetMemHandle(to, addr C.uintptr_t) C.int {
	return same(func() C.int { return cudaIpcGetMemHandle(to, addr) })
}

//export heddleOpenMemoryInDriver
func heddleOpenMemoryInDriver(to, handle C.uintptr_t, flags C.uint) C.int {
	return same(func() C.int { return heddleOpenMemory(to, handle, flags) })
}

//export cuIpcCloseMemHandle
func cuIpcCloseMemHandle(addr C.uintptr_t) C.int {
	return same(func() C.int { return cudaIpcCloseMemHandle(addr) })
}

//export cuIpcGetEventHandle
func cuIpcGetEventHandle(to, event C.uintptr_t) C.int {
	return same(func() C.int { return cudaIpcGetEventHandle(to, event) })
}

//export heddleOpenEventInDriver
func heddleOpenEventInDriver(to, handle C.uintptr_t) C.int {
	return same(func() C.int { return heddleOpenEvent(to, handle) })
}
