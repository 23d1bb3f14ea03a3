package main

/*
#include "host.h"
*/
import "C"

import (
	"context"
	"encoding/binary"
	"os"
	"sync"
	"unsafe"

	"github.com/heddle-sim/heddle/internal/libs/rtc"
)

// This file: NVRTC, libnvrtc.so. It needs no device.

// compiler holds the program's NVRTC programs.
var compiler = sync.OnceValue(func() *rtc.Library { return rtc.New(os.Stderr) })

// maxElements limits the headers and options of one call, our choice.
const maxElements = 1 << 16

// texts returns the strings of an array of a program, and false if there are none where
// they must be.
func texts(addr C.uintptr_t, n C.int) (list []string, ok bool) {
	if n < 0 || n > maxElements || n > 0 && addr == 0 {
		return nil, false
	}
	for i := range uint64(n) {
		s := seen(func() uint64 { return *at[uint64](addr + C.uintptr_t(8*i)) })
		if s == 0 {
			return nil, false
		}
		list = append(list, text(C.uintptr_t(s)))
	}
	return list, true
}

// putSize stores the size of a result of a program.
func putSize(to C.uintptr_t, n int, res rtc.Result) C.int {
	switch {
	case res != rtc.Success:
		return C.int(res)
	case to == 0 || !put(to, C.size_t(n)):
		return C.int(rtc.InvalidInput)
	}
	return C.int(rtc.Success)
}

// putBytes stores a result of a program.
func putBytes(to C.uintptr_t, b []byte, res rtc.Result) C.int {
	switch {
	case res != rtc.Success:
		return C.int(res)
	case to == 0:
		return C.int(rtc.InvalidInput)
	}
	copy(host{}.Bytes(uint64(to), uint64(len(b))), b)
	return C.int(rtc.Success)
}

// zeroEnded returns a text as C has it.
func zeroEnded[T string | []byte](s T) []byte { return append([]byte(s), 0) }

//export nvrtcGetErrorString
func nvrtcGetErrorString(e C.int) *C.char { return forever(rtc.Result(e).String()) }

//export heddleCompilerVersion
func heddleCompilerVersion(major, minor C.uintptr_t, release C.int) C.int {
	if major == 0 || minor == 0 || !put(major, release/1000) || !put(minor, release%1000/10) {
		return C.int(rtc.InvalidInput)
	}
	return C.int(rtc.Success)
}

// withClang runs a call that may call clang.
func withClang(f func()) {
	C.heddle_keep_children(1)
	defer C.heddle_keep_children(0)
	f()
}

// architectures returns the supported ones.
func architectures() (list []int, res rtc.Result) {
	withClang(func() { list, res = compiler().Architectures() })
	return list, res
}

//export nvrtcGetNumSupportedArchs
func nvrtcGetNumSupportedArchs(to C.uintptr_t) C.int {
	list, res := architectures()
	if res == rtc.Success && (to == 0 || !put(to, C.int(len(list)))) {
		res = rtc.InvalidInput
	}
	return C.int(res)
}

//export nvrtcGetSupportedArchs
func nvrtcGetSupportedArchs(to C.uintptr_t) C.int {
	list, res := architectures()
	var b []byte
	for _, n := range list {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return putBytes(to, b, res)
}

//export nvrtcCreateProgram
func nvrtcCreateProgram(to, source, name C.uintptr_t, n C.int, headers, names C.uintptr_t) C.int {
	sources, ok := texts(headers, n)
	includes, named := texts(names, n)
	if to == 0 || source == 0 || !ok || !named {
		return C.int(rtc.InvalidInput)
	}
	list := make([]rtc.Header, n)
	for i := range list {
		list[i] = rtc.Header{Name: includes[i], Text: sources[i]}
	}
	h := compiler().Create(text(name), text(source), list)
	if !put(to, C.uintptr_t(h)) {
		compiler().Destroy(h)
		return C.int(rtc.InvalidInput)
	}
	return C.int(rtc.Success)
}

//export nvrtcDestroyProgram
func nvrtcDestroyProgram(at C.uintptr_t) C.int {
	if at == 0 {
		return C.int(rtc.InvalidProgram)
	}
	h := binary.LittleEndian.Uint64(host{}.Bytes(uint64(at), 8))
	res := compiler().Destroy(h)
	if res == rtc.Success {
		lowered.drop(h)
		put(at, C.uintptr_t(0))
	}
	return C.int(res)
}

//export heddleCompileProgram
func heddleCompileProgram(h C.uintptr_t, n C.int, options C.uintptr_t, release C.int) C.int {
	res := compiler().Known(uint64(h))
	if res != rtc.Success {
		return C.int(res)
	}
	list, ok := texts(options, n)
	if !ok {
		return C.int(rtc.InvalidInput)
	}
	withClang(func() { res = compiler().Compile(context.Background(), uint64(h), int(release), list) })
	return C.int(res)
}

//export nvrtcAddNameExpression
func nvrtcAddNameExpression(h, expression C.uintptr_t) C.int {
	if res := compiler().Known(uint64(h)); res != rtc.Success {
		return C.int(res)
	}
	if expression == 0 {
		return C.int(rtc.InvalidInput)
	}
	return C.int(compiler().AddName(uint64(h), text(expression)))
}

// loweredNames are the lowered names that were returned, by program: each is valid until
// its program ends.
type loweredNames struct {
	mu   sync.Mutex
	list map[uint64]map[string]*C.char
}

var lowered = loweredNames{list: map[uint64]map[string]*C.char{}}

// keep returns a name of a program as C has it.
func (n *loweredNames) keep(h uint64, name string) *C.char {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.list[h] == nil {
		n.list[h] = map[string]*C.char{}
	}
	if n.list[h][name] == nil {
		n.list[h][name] = C.CString(name)
	}
	return n.list[h][name]
}

// drop ends the names of a program.
func (n *loweredNames) drop(h uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range n.list[h] {
		C.heddle_free(unsafe.Pointer(s))
	}
	delete(n.list, h)
}

//export nvrtcGetLoweredName
func nvrtcGetLoweredName(h, expression, to C.uintptr_t) C.int {
	if res := compiler().Known(uint64(h)); res != rtc.Success {
		return C.int(res)
	}
	if expression == 0 || to == 0 {
		return C.int(rtc.InvalidInput)
	}
	name, res := compiler().LoweredName(uint64(h), text(expression))
	if res == rtc.Success && !put(to, lowered.keep(uint64(h), name)) {
		res = rtc.InvalidInput
	}
	return C.int(res)
}

//export nvrtcGetProgramLogSize
func nvrtcGetProgramLogSize(h, to C.uintptr_t) C.int {
	log, res := compiler().Log(uint64(h))
	return putSize(to, len(log)+1, res)
}

//export nvrtcGetProgramLog
func nvrtcGetProgramLog(h, to C.uintptr_t) C.int {
	log, res := compiler().Log(uint64(h))
	return putBytes(to, zeroEnded(log), res)
}

//export nvrtcGetPTXSize
func nvrtcGetPTXSize(h, to C.uintptr_t) C.int {
	ptx, res := compiler().PTX(uint64(h))
	return putSize(to, len(ptx)+1, res)
}

//export nvrtcGetPTX
func nvrtcGetPTX(h, to C.uintptr_t) C.int {
	ptx, res := compiler().PTX(uint64(h))
	return putBytes(to, zeroEnded(ptx), res)
}

//export nvrtcGetCUBINSize
func nvrtcGetCUBINSize(h, to C.uintptr_t) C.int {
	image, res := compiler().CUBIN(uint64(h))
	return putSize(to, len(image), res)
}

//export nvrtcGetCUBIN
func nvrtcGetCUBIN(h, to C.uintptr_t) C.int {
	image, res := compiler().CUBIN(uint64(h))
	return putBytes(to, image, res)
}

// Programs have no LTO IR, OptiX IR or NVVM IR: the options that ask for them are
// refused, as CompileProgram says. So their sizes are 0.

//export nvrtcGetLTOIRSize
func nvrtcGetLTOIRSize(h, to C.uintptr_t) C.int { return putSize(to, 0, compiler().Known(uint64(h))) }

//export nvrtcGetLTOIR
func nvrtcGetLTOIR(h, to C.uintptr_t) C.int {
	return C.int(compiler().Unsupported(uint64(h), "nvrtcGetLTOIR"))
}

//export nvrtcGetNVVMSize
func nvrtcGetNVVMSize(h, to C.uintptr_t) C.int { return putSize(to, 0, compiler().Known(uint64(h))) }

//export nvrtcGetNVVM
func nvrtcGetNVVM(h, to C.uintptr_t) C.int {
	return C.int(compiler().Unsupported(uint64(h), "nvrtcGetNVVM"))
}

//export nvrtcGetOptiXIRSize
func nvrtcGetOptiXIRSize(h, to C.uintptr_t) C.int { return putSize(to, 0, compiler().Known(uint64(h))) }

//export nvrtcGetOptiXIR
func nvrtcGetOptiXIR(h, to C.uintptr_t) C.int {
	return C.int(compiler().Unsupported(uint64(h), "nvrtcGetOptiXIR"))
}

// Precompiled headers only save time: none are made.

//export nvrtcGetPCHHeapSize
func nvrtcGetPCHHeapSize(to C.uintptr_t) C.int { return putSize(to, 0, rtc.Success) }

//export nvrtcSetPCHHeapSize
func nvrtcSetPCHHeapSize(n C.size_t) C.int { return C.int(rtc.Success) }

//export nvrtcGetPCHCreateStatus
func nvrtcGetPCHCreateStatus(h C.uintptr_t) C.int {
	if res := compiler().Known(uint64(h)); res != rtc.Success {
		return C.int(res)
	}
	return C.int(rtc.NoPCHCreateAttempted)
}

//export nvrtcGetPCHHeapSizeRequired
func nvrtcGetPCHHeapSizeRequired(h, to C.uintptr_t) C.int {
	return putSize(to, 0, compiler().Known(uint64(h)))
}

//export nvrtcSetFlowCallback
func nvrtcSetFlowCallback(h, callback, data C.uintptr_t) C.int {
	return C.int(compiler().Unsupported(uint64(h), "nvrtcSetFlowCallback"))
}
