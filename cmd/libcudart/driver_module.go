package main

/*
#include "host.h"
*/
import "C"

import (
	"encoding/binary"
	"os"
	"slices"
	"sync"
	"unsafe"

	"github.com/heddle-sim/heddle/internal/binary/fatbin"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// This file: modules and linking.

// maxJIT limits the options of one call; the API has about thirty.
const maxJIT = 1 << 10

// jit holds the options of a compilation.
type jit struct {
	values   uint64 // address of the option values
	errors   log
	info     log
	wallTime int // index of its option, -1 without
}

// log is a buffer of the program for messages.
type log struct {
	addr, size uint64
	sizeAt     int // index of the option with the size, -1 without
}

// jitOptions reads the options of a compilation.
func jitOptions(n C.uint, options, values C.uintptr_t) (j jit, ok bool) {
	j = jit{values: uint64(values), wallTime: -1, errors: log{sizeAt: -1}, info: log{sizeAt: -1}}
	if n > maxJIT || n > 0 && (options == 0 || values == 0) {
		return j, false
	}
	le := binary.LittleEndian
	for i := range int(n) {
		value := le.Uint64(host{}.Bytes(uint64(values)+8*uint64(i), 8))
		switch le.Uint32(host{}.Bytes(uint64(options)+4*uint64(i), 4)) {
		case C.CU_JIT_WALL_TIME:
			j.wallTime = i
		case C.CU_JIT_INFO_LOG_BUFFER:
			j.info.addr = value
		case C.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
			j.info.size, j.info.sizeAt = uint64(uint32(value)), i
		case C.CU_JIT_ERROR_LOG_BUFFER:
			j.errors.addr = value
		case C.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
			j.errors.size, j.errors.sizeAt = uint64(uint32(value)), i
		}
	}
	return j, true
}

// report fills the logs. Without an error log, errors go to standard error.
func (j *jit) report(wrong error) {
	message := ""
	if wrong != nil {
		message = wrong.Error()
	}
	j.write(&j.errors, message)
	j.write(&j.info, "")
	if j.wallTime >= 0 { // compilation takes no simulated time
		put(C.uintptr_t(j.values+8*uint64(j.wallTime)), float32(0))
	}
	if wrong != nil && (j.errors.addr == 0 || j.errors.size == 0) {
		runtime().Say(message)
	}
}

func (j *jit) write(l *log, s string) {
	if l.addr == 0 || l.size == 0 {
		return
	}
	b := host{}.Bytes(l.addr, l.size)
	n := copy(b[:len(b)-1], s)
	b[n] = 0
	if l.sizeAt >= 0 {
		put(C.uintptr_t(j.values+8*uint64(l.sizeAt)), C.uint(n))
	}
}

// images returns the modules at a host address.
func images(addr C.uintptr_t) ([][]byte, error) {
	if begins(addr, wrapperMagic) {
		return fatBinaries(addr)
	}
	size := 0
	if slices.ContainsFunc(cuda.ImageMagics, func(magic string) bool { return begins(addr, magic) }) {
		var err error
		if size, err = cuda.ImageBytes(func(offset, n uint64) []byte { return cuda.Readable(host{}.Bytes(uint64(addr)+offset, n)) }); err != nil {
			return nil, err
		}
	}
	if size == 0 {
		size = int(C.heddle_length(addr))
	}
	return [][]byte{cuda.Readable(host{}.Bytes(uint64(addr), uint64(size)))}, nil // the size may be wrong
}

// wrapperMagic is the memory representation of fatbin.WrapperMagic.
var wrapperMagic = string(binary.LittleEndian.AppendUint32(nil, fatbin.WrapperMagic))

// begins reports whether memory at a host address starts with some bytes. It stops at the
// first difference, because later bytes may not exist.
func begins(addr C.uintptr_t, magic string) bool {
	for i := range len(magic) {
		if *at[byte](addr + C.uintptr_t(i)) != magic[i] {
			return false
		}
	}
	return true
}

// scoped runs a call about a module, which needs a context, or about a library, which needs
// none.
func scoped(library bool, f func() cuda.Result) C.int {
	if library {
		return ask(f)
	}
	return C.int(driver().In(func(*cuda.Thread) cuda.Result { return f() }))
}

// load loads a module or a library and stores the handle.
func load(library bool, to C.uintptr_t, file string, j jit, images func() ([][]byte, error)) C.int {
	return scoped(library, func() cuda.Result {
		if to == 0 {
			return cuda.ResultInvalidValue
		}
		list, err := images()
		if err != nil {
			j.report(err)
			return cuda.ResultInvalidImage
		}
		from := cuda.Driver.LoadModule
		if library {
			from = cuda.Driver.LoadLibrary
		}
		h, res, wrong := from(driver(), file, list...)
		j.report(wrong)
		if res == cuda.ResultSuccess && j.info.addr != 0 {
			why, _ := driver().Unusable(h)
			j.write(&j.info, why)
		}
		back(to, C.uintptr_t(h), res)
		return res
	})
}

func loadFile(library bool, to, name C.uintptr_t, n C.uint, options, values C.uintptr_t) C.int {
	j, ok := jitOptions(n, options, values)
	if !ok || name == 0 {
		return scoped(library, func() cuda.Result { return cuda.ResultInvalidValue })
	}
	file := text(name)
	b, err := os.ReadFile(file)
	if err != nil {
		return scoped(library, func() cuda.Result { return cuda.ResultFileNotFound })
	}
	return load(library, to, file, j, func() ([][]byte, error) { return [][]byte{b}, nil })
}

func loadData(library bool, to, image C.uintptr_t, n C.uint, options, values C.uintptr_t) C.int {
	j, ok := jitOptions(n, options, values)
	if !ok || image == 0 {
		return scoped(library, func() cuda.Result { return cuda.ResultInvalidValue })
	}
	return load(library, to, "", j, func() ([][]byte, error) { return images(image) })
}

//export cuModuleLoad
func cuModuleLoad(to, name C.uintptr_t) C.int { return loadFile(false, to, name, 0, 0, 0) }

//export cuModuleLoadData
func cuModuleLoadData(to, image C.uintptr_t) C.int { return loadData(false, to, image, 0, 0, 0) }

//export cuModuleLoadDataEx
func cuModuleLoadDataEx(to, image C.uintptr_t, n C.uint, options, values C.uintptr_t) C.int {
	return loadData(false, to, image, n, options, values)
}

//export cuModuleLoadFatBinary
func cuModuleLoadFatBinary(to, image C.uintptr_t) C.int { return cuModuleLoadData(to, image) }

//export cuModuleUnload
func cuModuleUnload(h C.uintptr_t) C.int {
	return C.int(driver().In(func(t *cuda.Thread) cuda.Result { return t.Driver().UnloadModule(uint64(h)) }))
}

//export cuModuleGetLoadingMode
func cuModuleGetLoadingMode(to C.uintptr_t) C.int {
	return ask(func() cuda.Result { put(to, C.int(C.CU_MODULE_EAGER_LOADING)); return cuda.ResultSuccess }, to)
}

//export cuModuleGetFunction
func cuModuleGetFunction(to, h, name C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		f, res := driver().Function(uint64(h), text(name))
		back(to, C.uintptr_t(f), res)
		return res
	}, to, name)
}

//export cuModuleGetFunctionCount
func cuModuleGetFunctionCount(to, h C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		names, res := driver().Functions(uint64(h))
		back(to, C.uint(len(names)), res)
		return res
	}, to)
}

//export cuModuleEnumerateFunctions
func cuModuleEnumerateFunctions(to C.uintptr_t, n C.uint, h C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		names, res := driver().Functions(uint64(h))
		for i, name := range names[:min(len(names), int(n))] {
			f, _ := driver().Function(uint64(h), name)
			put(to+8*C.uintptr_t(i), C.uintptr_t(f))
		}
		return res
	}, to)
}

//export cuModuleGetGlobal_v2
func cuModuleGetGlobal_v2(to, bytes, h, name C.uintptr_t) C.int {
	return variable(to, bytes, h, name, cuda.Driver.Global)
}

// variable stores the address and the size of a variable, where they are wanted.
func variable(to, bytes, h, name C.uintptr_t, find func(d cuda.Driver, mod uint64, name string) (addr, size uint64, res cuda.Result)) C.int {
	return ask(func() cuda.Result {
		if to == 0 && bytes == 0 {
			return cuda.ResultInvalidValue
		}
		addr, n, res := find(driver(), uint64(h), text(name))
		if to != 0 {
			back(to, C.uintptr_t(addr), res)
		}
		if bytes != 0 {
			back(bytes, C.size_t(n), res)
		}
		return res
	}, name)
}

// links are the options of links and their results, by handle.
var (
	links   = map[uint64]*link{}
	linksMu sync.Mutex
)

type link struct {
	jit   jit
	image unsafe.Pointer // in C memory, nil until complete
}

// linkOf returns a link, one without options if it is unknown.
func linkOf(h C.uintptr_t) *link {
	linksMu.Lock()
	defer linksMu.Unlock()
	if l := links[uint64(h)]; l != nil {
		return l
	}
	j, _ := jitOptions(0, 0, 0)
	return &link{jit: j}
}

//export cuLinkCreate_v2
func cuLinkCreate_v2(n C.uint, options, values, to C.uintptr_t) C.int {
	j, ok := jitOptions(n, options, values)
	if !ok {
		return setting(false)
	}
	return ask(func() cuda.Result {
		h, res := driver().NewLink()
		if res == cuda.ResultSuccess {
			linksMu.Lock()
			defer linksMu.Unlock()
			links[h] = &link{jit: j}
			put(to, C.uintptr_t(h))
		}
		return res
	}, to)
}

//export cuLinkAddData_v2
func cuLinkAddData_v2(h C.uintptr_t, kind C.int, data C.uintptr_t, n C.size_t, name C.uintptr_t, count C.uint, options, values C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		if n > 1<<30 {
			return cuda.ResultInvalidValue
		}
		return addToLink(h, kind, text(name), host{}.Bytes(uint64(data), uint64(n)))
	}, data)
}

func addToLink(h C.uintptr_t, kind C.int, name string, data []byte) cuda.Result {
	res, wrong := driver().AddToLink(uint64(h), cuda.Input(kind), name, data)
	linkOf(h).jit.report(wrong)
	return res
}

//export cuLinkAddFile_v2
func cuLinkAddFile_v2(h C.uintptr_t, kind C.int, path C.uintptr_t, count C.uint, options, values C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		b, err := os.ReadFile(text(path))
		if err != nil {
			return cuda.ResultFileNotFound
		}
		return addToLink(h, kind, text(path), b)
	}, path)
}

//export cuLinkComplete
func cuLinkComplete(h, to, bytes C.uintptr_t) C.int {
	return ask(func() cuda.Result {
		image, res, wrong := driver().CompleteLink(uint64(h))
		l := linkOf(h)
		l.jit.report(wrong)
		if res != cuda.ResultSuccess {
			return res
		}
		C.heddle_free(l.image)
		l.image = C.CBytes(image)
		put(to, l.image)
		if bytes != 0 {
			put(bytes, C.size_t(len(image)))
		}
		return res
	}, to)
}

//export cuLinkDestroy
func cuLinkDestroy(h C.uintptr_t) C.int {
	res := driver().EndLink(uint64(h))
	if res == cuda.ResultSuccess {
		C.heddle_free(linkOf(h).image)
		linksMu.Lock()
		defer linksMu.Unlock()
		delete(links, uint64(h))
	}
	return C.int(res)
}

// The forms before CUDA 6.5 differ only in options on other systems.

//export cuLinkCreate
func cuLinkCreate(n C.uint, options, values, to C.uintptr_t) C.int {
	return cuLinkCreate_v2(n, options, values, to)
}

//export cuLinkAddData
func cuLinkAddData(h C.uintptr_t, kind C.int, data C.uintptr_t, n C.size_t, name C.uintptr_t, count C.uint, options, values C.uintptr_t) C.int {
	return cuLinkAddData_v2(h, kind, data, n, name, count, options, values)
}

//export cuLinkAddFile
func cuLinkAddFile(h C.uintptr_t, kind C.int, path C.uintptr_t, count C.uint, options, values C.uintptr_t) C.int {
	return cuLinkAddFile_v2(h, kind, path, count, options, values)
}
