package cuda

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/program"
	"github.com/heddle-sim/heddle/internal/run"
)

// This file: machine code or PTX.

// choice is what Options.Code selects for the GPU.
func (r *Runtime) choice() program.Choice {
	first := run.HasControlBits(&r.cfg) && len(r.opt.Replace) == 0 && r.opt.Save == nil && r.opt.Checks == nil && r.opt.Coverage == nil
	return program.Choice{
		Code: program.Code(r.opt.Code), SM: r.cfg.Arch, Contract: run.ContractOf(&r.cfg), MachineFirst: first,
		Skipped: func(err error) { r.say("%v; its PTX runs", err) },
		Refused: func(err error) { r.say("%v; it runs as PTX", err) },
	}
}

// linkCode makes a program of what Options.Code selects of a module. AutoCode takes machine code
// for the GPU, as a driver does, if the core model can obey control bits and nobody wants to see or
// replace the PTX; then PTX; then machine code, which other cores guard by scoreboards. The kernels
// of our libraries are PTX.
func (r *Runtime) linkCode(m *module) (*program.Program, error) {
	if len(m.parts) == 0 {
		return nil, &program.ImageError{Err: fmt.Errorf("%s: no device code", m.name)}
	}
	c := r.choice()
	c.Heads = m.driver == nil // who loads a module by the driver learns at once what is wrong
	c.PTX = func(s program.Source, err error) (program.Source, error) { return r.adapt(m, s, err) }
	if m.of != nil {
		c.Code = program.PTXCode
	}
	prog, err := c.Load(m.parts...)
	if err != nil {
		return nil, err
	}
	if m.arch = prog.Arch(); m.arch == 0 {
		for _, mod := range prog.PTX().Modules() {
			if mod.SM > r.cfg.Arch {
				return nil, fmt.Errorf("%s: the PTX is for sm_%d and later, and the GPU is sm_%d", mod.File, mod.SM, r.cfg.Arch)
			}
			m.arch = max(m.arch, mod.SM)
		}
		return prog, nil
	}
	if sm := r.cfg.Arch; m.arch > sm || m.arch/10 != sm/10 { // a cubin may be for any
		return nil, &program.NoMachineCodeError{Name: m.name, SM: sm, Why: fmt.Sprintf("it is for sm_%d", m.arch)}
	}
	m.name = program.MachineCodeName(m.name)
	return prog, nil
}

// adapt saves the PTX of a part of a module, and replaces it. The error is why the part has none.
func (r *Runtime) adapt(m *module, s program.Source, err error) (program.Source, error) {
	if r.opt.Save != nil && err == nil {
		if err := r.opt.Save(s.Name, s.Text); err != nil {
			r.say("%v", err)
		}
	}
	x := r.replacement(m, s)
	if x == nil {
		return s, err
	}
	if err := x.fits(s.Name, s.Text); err != nil {
		return s, err
	}
	return program.Source{Name: x.Name, Text: x.Text}, nil
}

// binary is the architecture of the code that runs: machine code's own, or what PTX is compiled
// for.
func (f *function) binary(gpu int) int {
	if f.code() == string(program.SASSCode) {
		return f.module.arch
	}
	return gpu
}

// code names what a kernel is.
func (f *function) code() string { return string(program.CodeOf(f.kernel)) }
