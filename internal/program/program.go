// Package program makes programs of files in any form, and places them in device memory.
// exec.Kernel and exec.Machine define kernels and what runs them; this package selects the
// implementations.
package program

import (
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	xsass "github.com/heddle-sim/heddle/internal/exec/sass"
	"github.com/heddle-sim/heddle/internal/exec/texture"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// Program is one or more linked files. It is immutable and can be placed on any number of
// machines.
type Program struct {
	ptx     *xptx.Program // nil if it is SASS
	sass    []*xsass.Program
	kernels []exec.Kernel
	// compiled is machine code that we made of the PTX: kernels has its kernels, and those of the PTX
	// that could not be compiled.
	compiled []*xsass.Program
	from     [][]*ptx.Module // the group of each one's module
}

// PTX returns the program if it is PTX, nil if not.
func (p *Program) PTX() *xptx.Program { return p.ptx }

// Arch is the architecture of machine code, ten times its compute capability; 0 for PTX.
func (p *Program) Arch() int {
	if len(p.sass) == 0 {
		return 0
	}
	return int(p.sass[0].Arch())
}

// Undefined lists the functions that machine code calls and nobody defines.
func (p *Program) Undefined() []string {
	var list []string
	for _, f := range p.sass {
		list = append(list, f.Undefined()...)
	}
	return list
}

// Managed lists the variables that host and device share. They have no address yet.
func (p *Program) Managed() []xptx.Symbol {
	if p.ptx == nil {
		return nil
	}
	return p.ptx.Managed()
}

// References lists the names of the texture, sampler and surface references.
func (p *Program) References() []string {
	if p.ptx != nil {
		return p.ptx.References()
	}
	var list []string
	for _, f := range p.sass {
		list = append(list, f.References()...)
	}
	return list
}

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
	placed
}

// placed is what the machines of all instruction sets have besides launches: variables and
// warnings.
type placed interface {
	// Warn and TolerateStrays are those of exec.Warner.
	Warn(tell func(*exec.Warning))
	TolerateStrays()
	// Forget takes back the number that the last launch got, as its effects have been undone.
	Forget()
	// Numbers are the numbers that launches have got so far, and Renumber sets them.
	Numbers() exec.Numbers
	Renumber(n exec.Numbers)
	// Release frees their memory, except for those that NewMachineAt was given. No launch of
	// the machine may be running or follow.
	Release() error
	// Holds reports whether one begins at an address.
	Holds(addr uint64) bool
	// Symbol finds one by name, Symbols lists the names that it finds.
	Symbol(name string) (xptx.Symbol, bool)
	Symbols() []string

	// UseObjects makes kernels use these texture objects instead of the machine's own, to
	// which TextureObject adds.
	UseObjects(o *texture.Objects)
	TextureObject(t texture.Texture) (handle uint64, err error)
	// HasTexture reports whether there is a texture or surface reference of that name,
	// BindTexture binds it, BindTextureOf that of one part of the program if it has its own.
	HasTexture(name string, surface bool) bool
	BindTexture(name string, t texture.Texture) error
	BindTextureOf(part int, name string, t texture.Texture) error
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
		m, err := xsass.NewMachineAt(p.sass, mem, at, keep)
		if err != nil {
			return nil, err
		}
		return &Machine{Machine: m, placed: ofSASS{m}}, nil
	}
	m, err := xptx.NewMachineAt(p.ptx, mem, at, keep)
	if err != nil {
		return nil, err
	}
	if len(p.compiled) > 0 {
		return bothMachines(p, m, mem)
	}
	return &Machine{m, m}, nil
}

// ofSASS is machine code in memory, whose variables have no type, and whose launches have no
// numbers.
type ofSASS struct{ *xsass.Machine }

func (m ofSASS) Forget() {}

func (m ofSASS) Symbol(name string) (xptx.Symbol, bool) {
	s, ok := m.Machine.Symbol(name)
	return xptx.Symbol{Name: s.Name, Addr: s.Addr, Size: s.Size}, ok
}
