package main

/*
#include "host.h"
#include "nvtx_types.h"
*/
import "C"

import (
	"strings"

	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: NVTX, libnvToolsExt.so.1. Ranges appear in the report; marks, colours,
// categories and payloads are for profilers alone.

// text32 returns a string of wide characters of the host.
func text32(addr C.uintptr_t) string {
	if addr == 0 {
		return ""
	}
	return seen(func() string {
		var b strings.Builder
		for p := addr; *at[rune](p) != 0; p += 4 {
			b.WriteRune(*at[rune](p))
		}
		return b.String()
	})
}

// message returns the text of an event's attributes.
func message(addr C.uintptr_t) string {
	if addr == 0 {
		return ""
	}
	a := at[C.nvtxEventAttributes_t](addr)
	value := C.uintptr_t(word(&a.message))
	switch a.messageType {
	case C.NVTX_MESSAGE_TYPE_ASCII:
		return text(value)
	case C.NVTX_MESSAGE_TYPE_UNICODE:
		return text32(value)
	case C.NVTX_MESSAGE_TYPE_REGISTERED:
		return thread().RegisteredString(uint64(value))
	}
	return ""
}

// described passes an event's attributes on to profilers, and returns its text.
func described(addr C.uintptr_t) string {
	if addr != 0 {
		a := at[C.nvtxEventAttributes_t](addr)
		d := seen(func() cuda.MarkerData {
			return cuda.MarkerData{
				Color: uint32(a.color), Category: uint32(a.category), Colored: a.colorType == C.NVTX_COLOR_ARGB,
				PayloadType: int32(a.payloadType), Payload: uint64(word(&a.payload)),
			}
		})
		thread().Describe(d)
	}
	return message(addr)
}

// push begins a range of the thread.
func push(domain C.uintptr_t, name string) C.int {
	return C.int(thread().PushRange(uint64(domain), name))
}

// start begins a range of the program.
func start(domain C.uintptr_t, name string) C.ulonglong {
	return C.ulonglong(thread().StartRange(uint64(domain), name))
}

//export nvtxInitialize
func nvtxInitialize(C.uintptr_t) {}

//export nvtxMarkEx
func nvtxMarkEx(event C.uintptr_t) { thread().Mark(0, described(event)) }

//export nvtxMarkA
func nvtxMarkA(name C.uintptr_t) { thread().Mark(0, text(name)) }

//export nvtxMarkW
func nvtxMarkW(name C.uintptr_t) { thread().Mark(0, text32(name)) }

//export nvtxDomainMarkEx
func nvtxDomainMarkEx(domain, event C.uintptr_t) { thread().Mark(uint64(domain), described(event)) }

//export nvtxRangeStartEx
func nvtxRangeStartEx(event C.uintptr_t) C.ulonglong { return start(0, described(event)) }

//export nvtxRangeStartA
func nvtxRangeStartA(name C.uintptr_t) C.ulonglong { return start(0, text(name)) }

//export nvtxRangeStartW
func nvtxRangeStartW(name C.uintptr_t) C.ulonglong { return start(0, text32(name)) }

//export nvtxRangeEnd
func nvtxRangeEnd(id C.ulonglong) { thread().EndRange(uint64(id)) }

//export nvtxRangePushEx
func nvtxRangePushEx(event C.uintptr_t) C.int { return push(0, described(event)) }

//export nvtxRangePushA
func nvtxRangePushA(name C.uintptr_t) C.int { return push(0, text(name)) }

//export nvtxRangePushW
func nvtxRangePushW(name C.uintptr_t) C.int { return push(0, text32(name)) }

//export nvtxRangePop
func nvtxRangePop() C.int { return nvtxDomainRangePop(0) }

//export nvtxDomainRangeStartEx
func nvtxDomainRangeStartEx(domain, event C.uintptr_t) C.ulonglong {
	return start(domain, described(event))
}

//export nvtxDomainRangeEnd
func nvtxDomainRangeEnd(domain C.uintptr_t, id C.ulonglong) { nvtxRangeEnd(id) }

//export nvtxDomainRangePushEx
func nvtxDomainRangePushEx(domain, event C.uintptr_t) C.int { return push(domain, described(event)) }

//export nvtxDomainRangePop
func nvtxDomainRangePop(domain C.uintptr_t) C.int { return C.int(thread().PopRange(uint64(domain))) }

//export nvtxDomainCreateA
func nvtxDomainCreateA(name C.uintptr_t) C.uintptr_t {
	return C.uintptr_t(thread().CreateDomain(text(name)))
}

//export nvtxDomainCreateW
func nvtxDomainCreateW(name C.uintptr_t) C.uintptr_t {
	return C.uintptr_t(thread().CreateDomain(text32(name)))
}

//export nvtxDomainDestroy
func nvtxDomainDestroy(C.uintptr_t) {} // its ranges stay in the report

//export nvtxDomainRegisterStringA
func nvtxDomainRegisterStringA(domain, name C.uintptr_t) C.uintptr_t {
	return C.uintptr_t(thread().RegisterString(text(name)))
}

//export nvtxDomainRegisterStringW
func nvtxDomainRegisterStringW(domain, name C.uintptr_t) C.uintptr_t {
	return C.uintptr_t(thread().RegisterString(text32(name)))
}

// Names of streams appear in the timeline; the others have no effect.

//export nvtxNameCudaStreamA
func nvtxNameCudaStreamA(stream, name C.uintptr_t) { thread().NameStream(uint64(stream), text(name)) }

//export nvtxNameCudaStreamW
func nvtxNameCudaStreamW(stream, name C.uintptr_t) { thread().NameStream(uint64(stream), text32(name)) }

//export nvtxNameCuStreamA
func nvtxNameCuStreamA(stream, name C.uintptr_t) { nvtxNameCudaStreamA(stream, name) }

//export nvtxNameCuStreamW
func nvtxNameCuStreamW(stream, name C.uintptr_t) { nvtxNameCudaStreamW(stream, name) }

//export nvtxNameCategoryA
func nvtxNameCategoryA(category C.uint, name C.uintptr_t) {}

//export nvtxNameCategoryW
func nvtxNameCategoryW(category C.uint, name C.uintptr_t) {}

//export nvtxDomainNameCategoryA
func nvtxDomainNameCategoryA(domain C.uintptr_t, category C.uint, name C.uintptr_t) {}

//export nvtxDomainNameCategoryW
func nvtxDomainNameCategoryW(domain C.uintptr_t, category C.uint, name C.uintptr_t) {}

//export nvtxNameOsThreadA
func nvtxNameOsThreadA(id C.uint, name C.uintptr_t) {}

//export nvtxNameOsThreadW
func nvtxNameOsThreadW(id C.uint, name C.uintptr_t) {}

//export nvtxNameCudaDeviceA
func nvtxNameCudaDeviceA(device C.int, name C.uintptr_t) {}

//export nvtxNameCudaDeviceW
func nvtxNameCudaDeviceW(device C.int, name C.uintptr_t) {}

//export nvtxNameCudaEventA
func nvtxNameCudaEventA(event, name C.uintptr_t) {}

//export nvtxNameCudaEventW
func nvtxNameCudaEventW(event, name C.uintptr_t) {}

//export nvtxNameCuDeviceA
func nvtxNameCuDeviceA(device C.int, name C.uintptr_t) {}

//export nvtxNameCuDeviceW
func nvtxNameCuDeviceW(device C.int, name C.uintptr_t) {}

//export nvtxNameCuContextA
func nvtxNameCuContextA(context, name C.uintptr_t) {}

//export nvtxNameCuContextW
func nvtxNameCuContextW(context, name C.uintptr_t) {}

//export nvtxNameCuEventA
func nvtxNameCuEventA(event, name C.uintptr_t) {}

//export nvtxNameCuEventW
func nvtxNameCuEventW(event, name C.uintptr_t) {}
