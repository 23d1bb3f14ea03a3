// Command libcudart is the CUDA runtime as a shared library (-buildmode=c-shared):
// programs that are linked against libcudart find it in place of NVIDIA's, and run on a
// simulated GPU. It only converts C calls to those of internal/work/cuda; nothing else in
// this repository uses cgo. heddle cuda builds it, and passes its flags as JSON
// (internal/run/flags) in one environment variable, HEDDLE_RUN. Without it a program runs
// with the defaults.
package main

/*
#cgo CFLAGS: -I${SRCDIR}/../../internal/work/cuda/sdk/include
#include "host.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"github.com/heddle-sim/heddle/internal/check/coverage"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/progress"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/run/flags"
	"github.com/heddle-sim/heddle/internal/run/live"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

func main() {} // a library has none

// runtime returns the program's runtime. The first call makes it.
var runtime = sync.OnceValue(func() *cuda.Runtime {
	r, err := newRuntime(os.Getenv(flags.Variable))
	if err != nil {
		fmt.Fprintf(os.Stderr, "heddle: %v\n", err)
		os.Exit(2)
	}
	listen(r)
	C.heddle_at_exit()
	return r
})

// Outputs at the end of the program.
var (
	result string // folder for the result; "": nowhere
	files  *flags.Files
	covers *exec.Coverage // nil: nobody counts
)

// environment is the value of a variable of the environment as the program has set it, which os.Getenv does not see.
func environment(name string) (string, bool) {
	n := C.CString(name)
	defer C.free(unsafe.Pointer(n))
	v := C.heddle_environment(n)
	return C.GoString(v), v != nil
}

// newRuntime makes a runtime with the flags of heddle cuda.
func newRuntime(text string) (*cuda.Runtime, error) {
	f, err := flags.Decode(text)
	if err != nil {
		return nil, err
	}
	if err := f.CheckDevices(); err != nil {
		return nil, err
	}
	o := cuda.Options{Program: "program", Host: host{}, Fault: fault, Log: os.Stderr, Strict: f.Strict, Devices: f.Devices}
	if list, ok := environment("CUDA_VISIBLE_DEVICES"); ok {
		o.Visible = &list
	}
	if blocking, ok := environment("CUDA_LAUNCH_BLOCKING"); ok {
		n, err := strconv.Atoi(strings.TrimSpace(blocking))
		o.Blocking = err == nil && n != 0
	}
	if exe, err := os.Executable(); err == nil {
		o.Program = exe
	}
	if o.Options, err = f.Flags.Options(run.CUDA); err != nil {
		return nil, err
	}
	if o.Checks != nil {
		o.Caller = callers()
		o.Strict = true // each access outside of memory is found
	} else {
		C.heddle_watch_callers(0)
	}
	line := progress.New(os.Stderr, f.Progress, false)
	if line != nil {
		o.Progress, o.Clear = line.Show, line.Clear
	}
	if f.Live != "" {
		p, err := live.Dial(f.Live, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGINT) })
		if err != nil {
			return nil, err
		}
		o.Page, o.Progress, o.Live = true, p.Progress, p.Look
	}
	o.Out = printer{line}
	stats := o.Out // in the output of the program, as in GPGPU-Sim
	if f.JSON == "-" {
		stats = os.Stderr
	}
	if files, err = f.Open(&o.Options, stats); err != nil {
		return nil, err
	}
	closeInChildren(files.Locked())
	if dir := f.SavePTX; dir != "" {
		o.Save = func(name string, text []byte) error { return os.WriteFile(filepath.Join(dir, name), text, 0o666) }
	}
	for _, file := range f.PTX {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("--ptx: %w", err)
		}
		o.Replace = append(o.Replace, cuda.Replacement{Name: filepath.Base(file), Text: text})
	}
	result, covers = f.Result, o.Coverage
	return cuda.New(o)
}

// closeInChildren arranges that forked children close the files at some paths: they would
// keep them locked after the program has died.
func closeInChildren(paths []string) {
	const open = "/proc/self/fd"
	entries, _ := os.ReadDir(open) // without it children keep the files
	for _, path := range paths {
		path, _ = filepath.Abs(path)
		path, _ = filepath.EvalSymlinks(path)
		for _, e := range entries {
			to, err := os.Readlink(filepath.Join(open, e.Name()))
			fd, bad := strconv.Atoi(e.Name())
			if err == nil && bad == nil && to == path {
				C.heddle_close_in_children(C.int(fd))
			}
		}
	}
}

// writeReport writes the result of the run.
func writeReport(res *report.Run) {
	C.heddle_close_in_children(-1)
	if err := files.Finish(os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "heddle: %v\n", err)
	}
	if result == "" {
		return
	}
	if covers != nil {
		if err := coverage.Of(covers).Keep(result); err != nil {
			fmt.Fprintf(os.Stderr, "heddle: writing the coverage: %v\n", err)
		}
	}
	if err := writeResult(result, res); err != nil {
		fmt.Fprintf(os.Stderr, "heddle: writing the report: %v\n", err)
	}
}

// writeResult adds a result to a folder: 1.json, 2.json and so on, in the order in which
// programs end. Files appear only when complete.
func writeResult(dir string, res *report.Run) error {
	file := filepath.Join(dir, fmt.Sprintf("new-%d", os.Getpid()))
	if err := create(file, res.WriteJSON); err != nil {
		return err
	}
	defer os.Remove(file)
	for n := 1; ; n++ {
		err := os.Link(file, filepath.Join(dir, fmt.Sprintf("%d.json", n)))
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
}

// create writes a file.
func create(path string, f func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	err = f(file)
	return errors.Join(err, file.Close())
}

// host is the program's memory.
type host struct{}

// pointer converts a host address to a pointer.
func pointer(addr uint64) unsafe.Pointer {
	p := uintptr(addr)
	return *(*unsafe.Pointer)(unsafe.Pointer(&p))
}

// addressOf returns the address of what a pointer points to.
func addressOf[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// lowest is the lowest address whose faults have an address in Go: those below are nil
// pointers to it. Nothing is mapped there.
const lowest = 4096

func (host) Bytes(addr, n uint64) []byte {
	return unsafe.Slice((*byte)(pointer(max(addr, lowest))), n)
}

func (host) Map(addr, n uint64) error {
	if C.heddle_map(C.uintptr_t(addr), C.size_t(n)) != 0 {
		return syscall.ENOMEM
	}
	return nil
}

// Touched asks the kernel which pages are there: Map makes none.
func (host) Touched(addr, n uint64) []bool {
	f, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return nil
	}
	defer f.Close()
	size := uint64(os.Getpagesize())
	if size != 4096 || n%size != 0 {
		return nil
	}
	entries := make([]byte, n/size*8) // of 8 bytes a page (Linux, Documentation/admin-guide/mm/pagemap.rst)
	if _, err := f.ReadAt(entries, int64(addr/size*8)); err != nil {
		return nil
	}
	list := make([]bool, n/size)
	for i := range list {
		list[i] = entries[8*i+7]>>6 != 0 // bits 62 and 63: in swap, in memory
	}
	return list
}

func (host) Unmap(addr, n uint64) { C.heddle_unmap(C.uintptr_t(addr), C.size_t(n)) }

func (host) Call(fn, data uint64) { C.heddle_call(C.uintptr_t(fn), C.uintptr_t(data)) }

// printer is where the output of kernels goes: to the program's output, and not into the
// progress line.
type printer struct{ line *progress.Line }

func (p printer) Write(b []byte) (int, error) {
	if p.line != nil {
		p.line.Clear()
	}
	if len(b) > 0 {
		C.heddle_print(unsafe.Pointer(&b[0]), C.size_t(len(b)))
	}
	return len(b), nil
}

// thread returns the state of the calling thread.
func thread() *cuda.Thread {
	if !injected.Load() {
		inject()
	}
	return runtime().Thread(uint64(C.heddle_thread()))
}

// put stores a value at an address of the host, and reports whether it could.
func put[T any](addr C.uintptr_t, v T) (ok bool) {
	debug.SetPanicOnFault(true)
	defer func() {
		if e := recover(); e != nil {
			if _, fault := cuda.FaultAddress(e); !fault {
				panic(e)
			}
			fmt.Fprintf(os.Stderr, "heddle: cannot store a result at address %#x of the program: there is no memory there\n", uint64(addr))
		}
	}()
	*(*T)(pointer(max(uint64(addr), lowest))) = v
	return true
}

// fault ends the program like an access to unmapped memory.
func fault(addr uintptr) {
	fmt.Fprintf(os.Stderr, "heddle: the program passed the host address %#x to CUDA, but there is no memory there\n", addr)
	C.heddle_fault()
}

// give stores the result of a call at a host address, if it succeeded.
func give[T any](addr C.uintptr_t, v T, err cuda.Error) C.int {
	if err == cuda.Success && !put(addr, v) {
		err = thread().Check(false)
	}
	return C.int(err)
}

// need returns an error if a result pointer is null.
func need(places ...C.uintptr_t) cuda.Error {
	return thread().Check(!slices.Contains(places, 0))
}

// there returns an error unless a number is that of a device.
func there(device C.int) cuda.Error { return thread().Device(int(device)) }

// seen returns what f reads from the program's memory. Where there is none, the program
// ends as it would without a GPU.
func seen[T any](f func() T) T {
	debug.SetPanicOnFault(true)
	defer func() {
		if e := recover(); e != nil {
			at, ok := cuda.FaultAddress(e)
			if !ok {
				panic(e)
			}
			fault(at)
		}
	}()
	return f()
}

// versionPart is the major or minor release or the patch level of a library's version.
func versionPart(version int, which C.int) (part C.int, ok bool) {
	switch which {
	case 0:
		return C.int(version / 1000), true
	case 1:
		return C.int(version / 100 % 10), true
	case 2:
		return C.int(version % 100), true
	}
	return 0, false
}

// text returns a string of the host.
func text(addr C.uintptr_t) string {
	if addr == 0 {
		return ""
	}
	return seen(func() string { return C.GoString((*C.char)(pointer(uint64(addr)))) })
}
