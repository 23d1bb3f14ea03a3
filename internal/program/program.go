// Package program makes programs of files in any form, and places them in device memory.
// exec.Kernel and exec.Machine define kernels and what runs them; this package selects the
// implementations.
package program

import (
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	xsass "github.com/heddle-sim/heddle/internal/exec/sass"
)

// Program is one or more linked files. It is immutable and can be placed on any number of
// machines.
type Program struct {
	ptx     *xptx.Program // nil if it is SASS
	kernels []exec.Kernel
}

// PTX returns the program if it is PTX, nil if not.
func (p *Program) PTX() *xptx.Program { return p.ptx }

// Kernels returns the kernels in the order of the texts.
func (p *Program) Kernels() []exec.Kernel { return p.kernels }

// Kernel finds a kernel by name.
func (p *Program) Kernel(name string) (exec.Kernel, bool) {
	for _, k := range p.kernels {
		if k.Name() == name {
			return k, true
		}
	}
	return nil, false
}

// Machine is a program placed in device memory.
type Machine struct {
	exec.Machine
	ptx *xptx.Machine // nil if it is SASS
}

// NewMachine places a program's variables in memory and initialises them. It fails if one
// does not fit or refers to something undefined.
func NewMachine(p *Program, mem *device.Memory) (*Machine, error) {
	return NewMachineAt(p, mem, nil, false)
}

// NewMachineAt is NewMachine for a program some of whose variables, by name, already have a
// place in mem; if keep is set, and values that stay.
func NewMachineAt(p *Program, mem *device.Memory, at map[string]uint64, keep bool) (*Machine, error) {
	if p.ptx == nil {
		return &Machine{Machine: xsass.NewMachine(mem)}, nil
	}
	m, err := xptx.NewMachineAt(p.ptx, mem, at, keep)
	if err != nil {
		return nil, err
	}
	return &Machine{m, m}, nil
}

// PTX returns the machine if its program is PTX, nil if not. Only PTX has
// variables and textures.
func (m *Machine) PTX() *xptx.Machine { return m.ptx }

// Release frees the memory of the program's variables, except those that NewMachineAt was
// given. No launch of the machine may be running or follow.
func (m *Machine) Release() error {
	if m.ptx == nil {
		return nil
	}
	return m.ptx.Release()
}

// Holds reports whether a variable of the program begins at an address.
func (m *Machine) Holds(addr uint64) bool { return m.ptx != nil && m.ptx.Holds(addr) }

// Symbol finds a variable of the program.
func (m *Machine) Symbol(name string) (xptx.Symbol, bool) {
	if m.ptx == nil {
		return xptx.Symbol{}, false
	}
	return m.ptx.Symbol(name)
}

// Symbols returns the names of all variables that Symbol can find.
func (m *Machine) Symbols() []string {
	if m.ptx == nil {
		return nil
	}
	return m.ptx.Symbols()
}
