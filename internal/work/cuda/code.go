package cuda

import (
	"errors"
	"fmt"

	"github.com/heddle-sim/heddle/internal/binary/cubin"
	"github.com/heddle-sim/heddle/internal/binary/fatbin"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/program"
)

// This file: machine code or PTX.

// Code selects what of a program's device code runs.
type Code string

// The values of Code.
const (
	AutoCode Code = "auto" // machine code if the program has it for the GPU and the core model runs it as hardware does, else PTX
	SASSCode Code = "sass" // machine code only
	PTXCode  Code = "ptx"  // PTX only
)

// wantsMachineCode reports whether machine code comes first.
func (r *Runtime) wantsMachineCode() bool {
	switch r.opt.Code {
	case SASSCode:
		return true
	case AutoCode, "":
		return r.cfg.ControlBits
	}
	return false
}

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
	case len(r.replace) > 0 && r.opt.Code != SASSCode:
		return nil, no("PTX is replaced")
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

// linkCode is link for what Options.Code selects.
func (r *Runtime) linkCode(m *module) (*program.Program, error) {
	if !r.wantsMachineCode() || m.of != nil || m.onlyPTX {
		return r.link(m)
	}
	prog, err := r.linkMachineCode(m)
	if err == nil || r.opt.Code == SASSCode {
		return prog, err
	}
	fallback, err2 := r.link(m)
	if err2 != nil {
		return nil, errors.Join(err2, err)
	}
	var none *NoMachineCodeError
	if !errors.As(err, &none) {
		r.once("machine code of "+m.name, "the machine code of %s does not run, its PTX does instead: %v", m.name, err)
	}
	return fallback, nil
}

// code names what a kernel is.
func (f *function) code() string {
	if _, ok := f.kernel.(*xptx.Kernel); ok {
		return string(PTXCode)
	}
	return string(SASSCode)
}

// usePTX replaces a module's machine code by its PTX, because a kernel cannot run: variables
// keep their addresses and values.
func (r *Runtime) usePTX(m *module) error {
	m.onlyPTX = true
	prog, err := r.link(m)
	if err != nil {
		return err
	}
	for _, d := range r.begun() {
		d.finish()
		old := m.machine[d.number]
		if old == nil {
			continue
		}
		at := map[string]uint64{}
		for _, name := range old.Symbols() {
			if s, ok := old.Symbol(name); ok {
				at[name] = s.Addr
			}
		}
		machine, err := program.NewMachineAt(prog, d.mem, at, true)
		if err != nil {
			return err
		}
		d.ready(machine)
		m.machine[d.number] = machine
	}
	for _, f := range r.kernels {
		if f.module == m {
			f.kernel = nil
		}
	}
	m.prog = prog
	return nil
}
