// Command libcudart is the CUDA runtime as a shared library (-buildmode=c-shared):
// programs that are linked against libcudart find it in place of NVIDIA's, and
// run on a simulated GPU.
//
// It turns the calls of C into those of internal/work/cuda and knows nothing else;
// nothing else in this repository uses cgo. heddle cuda builds it, and tells it
// by environment variables what to simulate:
//
//	HEDDLE_GPU         name or file of the machine
//	HEDDLE_MODE        functional, or timing (the default)
//	HEDDLE_CORE        core model
//	HEDDLE_SET         key=value of the configuration, one a line
//	HEDDLE_THREADS     workers
//	HEDDLE_MAX_CYCLES  bound of the run
//	HEDDLE_RESULT      folder for the result, as JSON, when the program ends
//	HEDDLE_STRICT      not empty: accesses a little outside of allocations are faults
//	HEDDLE_SAVE_PTX    folder for the PTX that is loaded
//	HEDDLE_PTX         files of PTX to run in place of the program's, one a line
//	HEDDLE_PROGRESS    always, auto (on a terminal), or never (the default)
//	HEDDLE_TIMELINE    file for every instruction's way through the pipeline
package main

/*
#cgo CFLAGS: -I${SRCDIR}/../../internal/work/cuda/sdk/include
#include "host.h"
*/
import "C"

import (
	"cmp"
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

	"github.com/heddle-sim/heddle/internal/progress"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/timeline"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

func main() {} // a library has none

// runtime returns the program's runtime, which its first call makes.
var runtime = sync.OnceValue(func() *cuda.Runtime {
	o, err := options(os.Getenv)
	var r *cuda.Runtime
	if err == nil {
		r, err = cuda.New(o)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "heddle: %v\n", err)
		os.Exit(2)
	}
	record = o.Timeline
	listen(r)
	C.heddle_at_exit()
	return r
})

// record is the timeline of the run, nil without one.
var record *timeline.Recorder

// options reads the settings of the environment.
func options(env func(string) string) (cuda.Options, error) {
	o := cuda.Options{GPU: env("HEDDLE_GPU"), Program: "program", Host: host{}, Fault: fault, Out: output{}, Log: os.Stderr}
	if exe, err := os.Executable(); err == nil {
		o.Program = exe
	}
	switch mode := env("HEDDLE_MODE"); mode {
	case "", "timing":
		o.Timing = true
	case "functional":
	default:
		return o, fmt.Errorf("HEDDLE_MODE=%s is not known; it is timing or functional", mode)
	}
	o.Settings.Core = env("HEDDLE_CORE")
	for line := range strings.Lines(env("HEDDLE_SET")) {
		if err := o.Settings.Set(strings.TrimSuffix(line, "\n")); err != nil {
			return o, fmt.Errorf("HEDDLE_SET: %w", err)
		}
	}
	for _, n := range []struct {
		name string
		put  func(uint64)
	}{
		{"HEDDLE_THREADS", func(n uint64) { o.Threads = int(min(n, maxThreads)) }},
		{"HEDDLE_MAX_CYCLES", func(n uint64) { o.MaxInsts = n }},
	} {
		if s := env(n.name); s != "" {
			v, err := strconv.ParseUint(s, 10, 63)
			if err != nil {
				return o, fmt.Errorf("%s=%s is not a number", n.name, s)
			}
			n.put(v)
		}
	}
	if file := env("HEDDLE_TIMELINE"); file != "" {
		if !o.Timing {
			return o, fmt.Errorf("HEDDLE_TIMELINE shows cycles, and HEDDLE_MODE is functional")
		}
		if _, err := timeline.FormatOf(file); err != nil {
			return o, fmt.Errorf("HEDDLE_TIMELINE: %w", err)
		}
		o.Timeline = timeline.New(0)
	}
	if dir := env("HEDDLE_SAVE_PTX"); dir != "" {
		o.Save = func(name string, text []byte) error { return os.WriteFile(filepath.Join(dir, name), text, 0o666) }
	}
	for file := range strings.Lines(env("HEDDLE_PTX")) {
		file = strings.TrimSuffix(file, "\n")
		text, err := os.ReadFile(file)
		if err != nil {
			return o, fmt.Errorf("HEDDLE_PTX: %w", err)
		}
		o.Replace = append(o.Replace, cuda.Replacement{Name: filepath.Base(file), Text: text})
	}
	if line := progress.New(os.Stderr, cmp.Or(env("HEDDLE_PROGRESS"), "never"), false); line != nil {
		o.Progress = line
		o.Out = output{line}
	}
	o.Strict = env("HEDDLE_STRICT") != ""
	if o.GPU == "" {
		o.GPU = run.DefaultGPU
	}
	return o, nil
}

// maxThreads bounds the workers; more only cost memory.
const maxThreads = 256

// writeReport writes what the run came to.
func writeReport(res *report.Run) {
	if dir := os.Getenv("HEDDLE_RESULT"); dir != "" {
		if err := writeResult(dir, res); err != nil {
			fmt.Fprintf(os.Stderr, "heddle: HEDDLE_RESULT: %v\n", err)
		}
	}
	if record == nil {
		return
	}
	path := os.Getenv("HEDDLE_TIMELINE")
	format, err := timeline.FormatOf(path)
	if err == nil {
		err = create(path, func(w io.Writer) error { return record.Write(w, format) })
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "heddle: HEDDLE_TIMELINE: %v\n", err)
	}
}

// writeResult adds a result to a folder: 1.json, 2.json and so on, in the order
// in which programs end. One is there only as a whole.
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

// pointer makes a pointer of an address of the host.
func pointer(addr uint64) unsafe.Pointer {
	p := uintptr(addr)
	return *(*unsafe.Pointer)(unsafe.Pointer(&p))
}

// addressOf returns the address of what a pointer points to.
func addressOf[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

func (host) Bytes(addr, n uint64) []byte {
	return unsafe.Slice((*byte)(pointer(max(addr, 1))), n) // using the null pointer is a fault like others
}

func (host) Map(addr, n uint64) error {
	if C.heddle_map(C.uintptr_t(addr), C.size_t(n)) != 0 {
		return syscall.ENOMEM
	}
	return nil
}

func (host) Unmap(addr, n uint64) { C.heddle_unmap(C.uintptr_t(addr), C.size_t(n)) }

func (host) Call(fn, data uint64) { C.heddle_call(C.uintptr_t(fn), C.uintptr_t(data)) }

// output is where kernels print: among what the program prints, and not into the
// progress line.
type output struct{ line *progress.Line }

func (o output) Write(b []byte) (int, error) {
	if o.line != nil {
		o.line.Clear()
	}
	if len(b) > 0 {
		C.heddle_print(unsafe.Pointer(&b[0]), C.size_t(len(b)))
	}
	return len(b), nil
}

// thread returns the state of the thread that calls.
func thread() *cuda.Thread { return runtime().Thread(uint64(C.heddle_thread())) }

// put stores a value at an address of the host, and reports whether it could.
func put[T any](addr C.uintptr_t, v T) (ok bool) {
	debug.SetPanicOnFault(true)
	defer func() {
		if e := recover(); e != nil {
			at, fault := cuda.FaultAddress(e)
			if !fault {
				panic(e)
			}
			fmt.Fprintf(os.Stderr, "heddle: a result was to go to the address %#x of the program, and there is no memory there\n", at)
		}
	}()
	*(*T)(pointer(uint64(addr))) = v
	return true
}

// fault ends the program as an access to memory that is not there does.
func fault(addr uintptr) {
	fmt.Fprintf(os.Stderr, "heddle: the program gave the address %#x of its own memory to CUDA, and there is no memory there\n", addr)
	C.heddle_fault()
}

// give stores what a call returned at an address of the host, if it succeeded.
func give[T any](addr C.uintptr_t, v T, err cuda.Error) C.int {
	if err == cuda.Success && !put(addr, v) {
		err = thread().Check(false)
	}
	return C.int(err)
}

// need is an error if a result has no place.
func need(places ...C.uintptr_t) cuda.Error {
	return thread().Check(!slices.Contains(places, 0))
}

// only is an error for any device but the one there is.
func only(device C.int) cuda.Error { return thread().Device(int(device)) }

// text returns a string of the host.
func text(addr C.uintptr_t) string {
	if addr == 0 {
		return ""
	}
	return C.GoString((*C.char)(pointer(uint64(addr))))
}
