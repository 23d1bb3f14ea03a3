// Package program lets hosts (jobs, the library) launch kernels without asking
// in which language they are written: PTX, or SASS. What the languages do is in
// exec/ptx and exec/sass.
package program

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	xsass "github.com/heddle-sim/heddle/internal/exec/sass"
)

// Program is one linked PTX program, or the kernels of SASS files. It is
// immutable.
type Program struct {
	ptx     *xptx.Program
	kernels []*Kernel
}

// FromPTX makes a program of linked PTX modules.
func FromPTX(p *xptx.Program) *Program {
	out := &Program{ptx: p}
	for _, k := range p.Kernels() {
		out.kernels = append(out.kernels, &Kernel{ptx: k})
	}
	return out
}

// FromSASS makes a program of SASS files. Two kernels of one name are an error.
func FromSASS(files ...*xsass.Program) (*Program, error) {
	out := &Program{}
	for _, f := range files {
		for _, k := range f.Kernels() {
			if old, ok := out.Kernel(k.Name); ok {
				return nil, fmt.Errorf("%s:%d: kernel %s is in %s already", f.File(), k.Text().Pos.Line, k.Name, old.sass.File())
			}
			out.kernels = append(out.kernels, &Kernel{sass: k})
		}
	}
	return out, nil
}

// IsSASS reports whether a file is SASS by its name.
func IsSASS(path string) bool { return strings.EqualFold(filepath.Ext(path), ".sass") }

// PTX returns the PTX program, nil if it is none.
func (p *Program) PTX() *xptx.Program { return p.ptx }

// Kernels returns the kernels in source order.
func (p *Program) Kernels() []*Kernel { return p.kernels }

// Kernel finds a kernel by name.
func (p *Program) Kernel(name string) (*Kernel, bool) {
	for _, k := range p.kernels {
		if k.Name() == name {
			return k, true
		}
	}
	return nil, false
}

// Kernel is a kernel of either language.
type Kernel struct {
	ptx  *xptx.Kernel
	sass *xsass.Kernel
	regs int // of PTX, once known
	once sync.Once
}

// Param is one parameter of a kernel.
type Param struct {
	Name   string
	Type   string // as PTX writes it; "" in SASS, which knows sizes only
	Size   int    // bytes
	Offset int    // in the parameter block
	Opaque bool   // a texture, sampler or surface reference
}

// Name is the kernel's name.
func (k *Kernel) Name() string {
	if k.sass != nil {
		return k.sass.Name
	}
	return k.ptx.Name()
}

// Params lists the parameters.
func (k *Kernel) Params() []Param {
	var list []Param
	if k.sass != nil {
		base := k.sass.Text().Arch.ParamBase()
		for _, p := range k.sass.Params {
			list = append(list, Param{Name: p.Name, Size: p.Bytes, Offset: p.Offset - base})
		}
		return list
	}
	for _, p := range k.ptx.Params() {
		list = append(list, Param{Name: p.Name, Type: string(p.Type), Size: p.Size, Offset: p.Offset, Opaque: p.Opaque})
	}
	return list
}

// ParamBytes is the size of the parameter block.
func (k *Kernel) ParamBytes() int {
	if k.sass != nil {
		return k.sass.ParamBytes()
	}
	return k.ptx.ParamBytes()
}

// AddressBytes is the size of a pointer.
func (k *Kernel) AddressBytes() int {
	if k.sass == nil && k.ptx.Module().AddressSize == 32 {
		return 4
	}
	return 8
}

// MaxThreads is the largest block that the kernel says it takes, 0 if it says
// nothing.
func (k *Kernel) MaxThreads() int {
	if k.sass != nil {
		return 0
	}
	return k.ptx.MaxThreads()
}

// StaticShared is the bytes of shared memory that the kernel declares.
func (k *Kernel) StaticShared() int {
	if k.sass != nil {
		return k.sass.Shared
	}
	return k.ptx.StaticShared()
}

// LocalBytes is the bytes of local memory per thread that the kernel declares.
func (k *Kernel) LocalBytes() int {
	if k.sass != nil {
		return k.sass.Local
	}
	return k.ptx.LocalBytes()
}

// RegistersEstimated reports whether Registers is an estimate: SASS says how
// many a kernel has, PTX does not.
func (k *Kernel) RegistersEstimated() bool { return k.sass == nil }

// Registers is the general registers per thread: of PTX an estimate, made once.
func (k *Kernel) Registers() int {
	if k.sass != nil {
		return k.sass.Regs
	}
	k.once.Do(func() { k.regs = k.ptx.Registers() })
	return k.regs
}

// Unusable says why the kernel cannot run: every instruction that is not
// supported, by name and place. It is empty for a kernel that can.
func (k *Kernel) Unusable() []error {
	if k.sass != nil {
		return k.sass.Unusable()
	}
	return k.ptx.Unusable()
}

// Launch is one grid to run.
type Launch struct {
	Kernel      *Kernel
	Grid, Block exec.Dim3
	Cluster     exec.Dim3 // zero: the kernel's own, or none
	Shared      int       // dynamic shared memory, bytes
	Params      []byte    // laid out as Kernel.Params says
	Cooperative bool      // blocks may wait for each other
	Resident    int       // as in exec.Grid, for functional runs
	TakenFirst  bool      // runs the taken side of a branch first
	Rehearsal   bool      // what it does will be undone: it prints nothing and does not count
}

// Options are the conditions of a functional run, Result is what it counted.
type (
	Options = exec.Options
	Result  = exec.Result
)

// Machine is a program placed in device memory.
type Machine struct {
	ptx  *xptx.Machine
	sass *xsass.Machine
}

// NewMachine places a program's variables in memory.
func NewMachine(p *Program, mem *device.Memory) (*Machine, error) { return NewMachineAt(p, mem, nil) }

// NewMachineAt is NewMachine for a PTX program of which some variables, by name,
// have a place in mem already.
func NewMachineAt(p *Program, mem *device.Memory, at map[string]uint64) (*Machine, error) {
	if p.ptx == nil {
		return &Machine{sass: xsass.NewMachine(mem)}, nil
	}
	m, err := xptx.NewMachineAt(p.ptx, mem, at)
	if err != nil {
		return nil, err
	}
	return &Machine{ptx: m}, nil
}

// Release gives the memory of the program's variables back. No launch of the
// machine may follow, nor be under way.
func (m *Machine) Release() error {
	if m.ptx == nil {
		return nil
	}
	return m.ptx.Release()
}

// Holds reports whether a variable of the program begins at an address.
func (m *Machine) Holds(addr uint64) bool { return m.ptx != nil && m.ptx.Holds(addr) }

// PTX returns the machine of a PTX program, nil if it is of another.
func (m *Machine) PTX() *xptx.Machine { return m.ptx }

func (l *Launch) forPTX() xptx.Launch {
	return xptx.Launch{Kernel: l.Kernel.ptx, Grid: l.Grid, Block: l.Block, Cluster: l.Cluster, Shared: l.Shared, Params: l.Params,
		Cooperative: l.Cooperative, Resident: l.Resident, TakenFirst: l.TakenFirst, Rehearsal: l.Rehearsal}
}

func (l *Launch) forSASS() (xsass.Launch, error) {
	if c := l.Cluster; c.X > 1 || c.Y > 1 || c.Z > 1 {
		return xsass.Launch{}, &exec.LaunchError{Kernel: l.Kernel.Name(), Msg: "clusters of blocks are not supported in SASS"}
	}
	return xsass.Launch{Kernel: l.Kernel.sass, Grid: l.Grid, Block: l.Block, Shared: l.Shared, Params: l.Params,
		Cooperative: l.Cooperative, Resident: l.Resident, TakenFirst: l.TakenFirst}, nil
}

// Run executes a launch to its end and counts instructions. Errors:
// *exec.LaunchError if it cannot start; *exec.Fault, *exec.StuckError or
// *exec.LimitError if a block came to one; ctx.Err() if it was cancelled.
func (m *Machine) Run(ctx context.Context, l Launch, o Options) (Result, error) {
	if m.sass == nil {
		return m.ptx.Run(ctx, l.forPTX(), o)
	}
	sl, err := l.forSASS()
	if err != nil {
		return Result{}, err
	}
	return m.sass.Run(ctx, sl, o)
}

// NewWork makes a launch ready to be run by a core model. What device code
// prints goes to out; nil discards it. The error is a *exec.LaunchError.
func (m *Machine) NewWork(l Launch, out io.Writer) (exec.Work, error) {
	if m.sass == nil {
		return m.ptx.NewWork(l.forPTX(), out)
	}
	sl, err := l.forSASS()
	if err != nil {
		return nil, err
	}
	return m.sass.NewWork(sl)
}

// Symbol finds a variable of the program; SASS has none.
func (m *Machine) Symbol(name string) (xptx.Symbol, bool) {
	if m.ptx == nil {
		return xptx.Symbol{}, false
	}
	return m.ptx.Symbol(name)
}

// Symbols lists the names of the program's variables.
func (m *Machine) Symbols() []string {
	if m.ptx == nil {
		return nil
	}
	return m.ptx.Symbols()
}
