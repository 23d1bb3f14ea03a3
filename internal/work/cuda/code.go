package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	AutoCode Code = "auto" // see autoCode
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
	case len(m.parts) == 0:
		return nil, no("it has no device code")
	case len(m.parts) > 1 && !isMachineCode(m):
		return nil, no("it has several parts, whose machine code is not linked")
	}
	sm := r.cfg.Arch
	l := program.Loader{As: program.Cubin}
	for _, p := range m.parts {
		image := p.data
		switch {
		case isMachineCode(m):
			if !cubin.Is(image) {
				return nil, no("it is no ELF file of device code")
			}
		case !fatbin.Is(image):
			return nil, no("it is PTX")
		default:
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
		}
		if err := l.Add(program.Source{Name: machineCodeName(p.name), Text: image}); err != nil {
			return nil, &imageError{err}
		}
	}
	prog, err := l.Link()
	if err != nil {
		return nil, &imageError{err}
	}
	arch := prog.Arch()
	if arch > sm || arch/10 != sm/10 {
		return nil, no("it is for sm_%d", arch)
	}
	m.arch = arch
	m.name = machineCodeName(m.name)
	return prog, nil
}

// machineCodeName is the name of a module or a part whose machine code runs.
func machineCodeName(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, ".cubin"), ".ptx") + ".cubin"
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
	return r.autoCode(m)
}

// autoCode takes a module's machine code for the GPU, as a driver does, if the core model can obey
// control bits and nobody wants to see or replace the PTX; then its PTX; then its machine code,
// which other cores guard by scoreboards.
func (r *Runtime) autoCode(m *module) (*program.Program, error) {
	if isMachineCode(m) {
		return r.linkMachineCode(m)
	}
	var noPTX *fatbin.NoPTXError
	if !run.HasControlBits(&r.cfg) || len(r.opt.Replace) > 0 || r.opt.Save != nil {
		prog, err := r.link(m)
		if !errors.As(err, &noPTX) {
			return prog, err
		}
		code, err2 := r.linkMachineCode(m)
		if err2 != nil {
			return nil, errors.Join(err, err2)
		}
		return code, nil
	}
	code, err := r.linkMachineCode(m)
	if err == nil {
		return code, nil
	}
	prog, err2 := r.link(m)
	var none *NoMachineCodeError
	switch {
	case errors.As(err2, &noPTX):
		return nil, errors.Join(err2, err)
	case err2 == nil && !errors.As(err, &none):
		r.say("%v; its PTX runs", err)
	}
	return prog, err2
}

// isMachineCode reports whether a module is ELF files, which should be cubins.
func isMachineCode(m *module) bool {
	return len(m.parts) > 0 && !slices.ContainsFunc(m.parts, func(p part) bool { return !bytes.HasPrefix(p.data, []byte(elfMagic)) })
}

// binary is the architecture of the code that runs: machine code's own, or what PTX is compiled
// for.
func (f *function) binary(gpu int) int {
	if f.code() == string(SASSCode) {
		return f.module.arch
	}
	return gpu
}

// code names what a kernel is.
func (f *function) code() string {
	if _, ok := f.kernel.(*xptx.Kernel); ok {
		return string(PTXCode)
	}
	return string(SASSCode)
}
