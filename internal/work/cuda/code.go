package cuda

import (
	"errors"
	"fmt"

	"github.com/heddle-sim/heddle/internal/binary/cubin"
	"github.com/heddle-sim/heddle/internal/binary/fatbin"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/program"
	"github.com/heddle-sim/heddle/internal/run"
)

// This file: machine code or PTX.

// Code selects what of a program's device code runs.
type Code string

// The values of Code.
const (
	AutoCode Code = "auto" // PTX if the program has some for the GPU, else machine code
	SASSCode Code = "sass" // machine code only
	PTXCode  Code = "ptx"  // PTX only
)

// NoMachineCodeError is a module without machine code for the GPU.
type NoMachineCodeError struct {
	Module string
	SM     int // of the GPU
	Why    string
}

func (e *NoMachineCodeError) Error() string {
	return fmt.Sprintf("%s has no machine code that runs on sm_%d: %s", e.Module, e.SM, e.Why)
}

// linkMachineCode makes a program of a module's machine code. The error is a
// *NoMachineCodeError if there is none.
func (r *Runtime) linkMachineCode(m *module) (*program.Program, error) {
	no := func(format string, args ...any) error {
		return &NoMachineCodeError{m.name, r.cfg.Arch, fmt.Sprintf(format, args...)}
	}
	switch {
	case r.opt.Timing && run.ObeysControlBits(&r.cfg):
		return nil, no("where cycles are counted, it runs with -C modern.dependences=scoreboard only: some latencies of the core are longer than those that NVIDIA's compiler counts on, and values could be wrong")
	case len(m.parts) > 1:
		return nil, no("it has several parts, whose machine code is not linked")
	case len(m.parts) == 0:
		return nil, no("it has no device code")
	}
	p, sm := m.parts[0], r.cfg.Arch
	image := p.data
	if !cubin.Is(image) {
		if !fatbin.Is(image) {
			return nil, no("it is PTX")
		}
		entries, err := fatbin.Parse(image)
		if err != nil {
			return nil, &imageError{fmt.Errorf("%s: %w", p.name, err)}
		}
		e := fatbin.MachineCode(entries, sm)
		if e == nil {
			return nil, no("there is none for it, nor for an earlier GPU of its generation")
		}
		if image, err = e.Image(); err != nil {
			return nil, &imageError{fmt.Errorf("%s: %w", p.name, err)}
		}
		sm = e.SM
	}
	l := program.Loader{As: program.Cubin}
	if err := l.Add(program.Source{Name: p.name, Text: image}); err != nil {
		return nil, &imageError{err}
	}
	prog, err := l.Link()
	if err != nil {
		return nil, &imageError{err}
	}
	m.arch = sm
	return prog, nil
}

// linkCode makes a program of what Options.Code selects.
func (r *Runtime) linkCode(m *module) (*program.Program, error) {
	if m.of != nil { // the kernels of our libraries are PTX
		return r.link(m)
	}
	switch r.opt.Code {
	case SASSCode:
		return r.linkMachineCode(m)
	case PTXCode:
		return r.link(m)
	}
	prog, err := r.link(m)
	var no *fatbin.NoPTXError
	if !errors.As(err, &no) && !isMachineCode(m) {
		return prog, err
	}
	code, err2 := r.linkMachineCode(m)
	if err2 != nil {
		return nil, errors.Join(err, err2)
	}
	return code, nil
}

// isMachineCode reports whether a module is a cubin.
func isMachineCode(m *module) bool { return len(m.parts) == 1 && cubin.Is(m.parts[0].data) }

// code names what a kernel is.
func (f *function) code() string {
	if _, ok := f.kernel.(*xptx.Kernel); ok {
		return string(PTXCode)
	}
	return string(SASSCode)
}
