package ptx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/flow"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// Program is one or more modules whose names have been resolved against each
// other. It is immutable and may be placed on several machines.
type Program struct {
	mods    []*ptx.Module
	kernels []*Kernel
	byName  map[string]*Kernel
	globals []*global               // in the order they are placed
	varDef  map[*ptx.Var]*global    // every global and constant declaration
	fnDef   map[*ptx.Func]*ptx.Func // every function declaration that has a body somewhere
	fnMod   map[*ptx.Func]*ptx.Module
	fnAddr  map[*ptx.Func]uint64 // address of each function with a body
	fnAt    map[uint64]*ptx.Func
	shared  map[*ptx.Var]inRegion
}

// inRegion is a variable's place in a region of memory that several share.
type inRegion struct {
	of     *region
	offset uint64
}

// region is memory that variables share.
type region struct{ bytes uint64 }

// Together makes variables of modules, by their names, lie at offsets of one region of memory, as machine code has
// them. It comes before the first machine.
func (p *Program) Together(mods []*ptx.Module, bytes uint64, offsets map[string]uint64) {
	r := &region{bytes}
	for _, m := range mods {
		for _, v := range m.Vars {
			if at, ok := offsets[v.Name]; ok && inMemory(v) {
				p.shared[v] = inRegion{r, at}
			}
		}
	}
}

// global is a variable in global or constant memory with its definition.
type global struct {
	v      *ptx.Var
	mod    *ptx.Module
	size   uint64
	index  int
	inBody bool // declared in a function: its name is local
}

// Kernel is an entry of a program.
type Kernel struct {
	prog   *Program
	mod    *ptx.Module
	ast    *ptx.Func
	params []Param
	bytes  int
	image  func() *image // decoded without a machine, for reports
	regs   func() int
}

// Function is a kernel, or a function that one can reach, as seen by analyses and
// models.
type Function struct {
	Name  string
	Code  []isa.Inst
	Graph *flow.Graph
}

// Symbol is a variable of a program in device memory.
type Symbol struct {
	Name  string
	Addr  uint64
	Size  uint64
	Type  ptx.Type
	Const bool
}

// linker is what Link knows of the modules.
type linker struct {
	*Program
	vars map[string]*global   // exported
	fns  map[string]*ptx.Func // exported, with a body
	errs ptx.ErrorList
}

// Link resolves the names of the modules against each other: external declarations
// find the visible or weak definition of another module, and strong definitions
// override weak ones. Undefined names make only the kernels that use them unusable. The
// error is a ptx.ErrorList: a name has two strong definitions.
func Link(mods ...*ptx.Module) (*Program, error) {
	p := &Program{
		mods: mods, byName: map[string]*Kernel{},
		varDef: map[*ptx.Var]*global{}, fnDef: map[*ptx.Func]*ptx.Func{},
		fnMod: map[*ptx.Func]*ptx.Module{}, fnAddr: map[*ptx.Func]uint64{}, fnAt: map[uint64]*ptx.Func{}, shared: map[*ptx.Var]inRegion{},
	}
	l := &linker{Program: p, vars: map[string]*global{}, fns: map[string]*ptx.Func{}}
	for _, m := range mods {
		l.defineVars(m)
		l.defineFuncs(m)
	}
	for _, m := range mods {
		l.resolveVars(m.Vars)
		for _, f := range m.Funcs {
			l.resolveVars(f.Vars)
		}
		l.resolveFuncs(m)
	}
	if len(l.errs) > 0 {
		return nil, l.errs
	}
	return p, nil
}

// twice reports a name with two strong definitions.
func (l *linker) twice(m *ptx.Module, pos ptx.Pos, name, file string, line int32) {
	e := &ptx.Error{File: m.File, Pos: pos, Msg: fmt.Sprintf("%s is defined twice; the other definition is at %s:%d", name, file, line)}
	if int(pos.Line) <= len(m.Lines) && pos.Line > 0 {
		e.Text = m.Lines[pos.Line-1]
	}
	l.errs = append(l.errs, e)
}

// inMemory reports whether a variable is one of the program's, with a place in memory.
func inMemory(v *ptx.Var) bool {
	return (v.Space == ptx.SpaceGlobal || v.Space == ptx.SpaceConst) && v.Linkage != ptx.Extern && !v.Type.Opaque()
}

// newGlobal makes a variable of the program.
func (l *linker) newGlobal(m *ptx.Module, v *ptx.Var, inBody bool) *global {
	return &global{v: v, mod: m, size: uint64(max(0, v.Size())), index: len(l.globals), inBody: inBody}
}

// defineVars takes the variables that a module defines.
func (l *linker) defineVars(m *ptx.Module) {
	local := map[string]*global{}
	for _, v := range m.Vars {
		if !inMemory(v) {
			continue
		}
		if g := local[v.Name]; g != nil {
			l.varDef[v] = g
			continue
		}
		g := l.newGlobal(m, v, false)
		old := l.vars[v.Name]
		switch {
		case v.Linkage == ptx.NoLinkage:
		case old == nil:
			l.vars[v.Name] = g
		case v.Linkage == ptx.Weak || v.Linkage == ptx.Common:
			old.size = max(old.size, g.size)
			l.varDef[v], local[v.Name] = old, old
			continue
		case old.v.Linkage == ptx.Weak || old.v.Linkage == ptx.Common:
			old.v, old.mod, old.size = v, m, g.size
			l.varDef[v], local[v.Name] = old, old
			continue
		default:
			l.twice(m, v.Pos, v.Name, old.mod.File, old.v.Pos.Line)
			continue
		}
		l.globals = append(l.globals, g)
		l.varDef[v], local[v.Name] = g, g
	}
}

// defineFuncs takes the functions that a module defines, with the variables in their
// bodies.
func (l *linker) defineFuncs(m *ptx.Module) {
	for _, f := range m.Funcs {
		l.fnMod[f] = m
		for _, v := range f.Vars {
			if inMemory(v) {
				g := l.newGlobal(m, v, true)
				l.globals = append(l.globals, g)
				l.varDef[v] = g
			}
		}
		if f.Proto || f.Linkage == ptx.NoLinkage {
			continue
		}
		switch old := l.fns[f.Name]; {
		case old == nil:
			l.fns[f.Name] = f
		case f.Linkage == ptx.Weak:
		case old.Linkage == ptx.Weak:
			l.fns[f.Name] = f
		default:
			l.twice(m, f.Pos, f.Name, l.fnMod[old].File, old.Pos.Line)
		}
	}
}

// resolveVars finds the definitions of external variables.
func (l *linker) resolveVars(list []*ptx.Var) {
	for _, v := range list {
		if v.Linkage == ptx.Extern && l.varDef[v] == nil {
			if g := l.vars[v.Name]; g != nil {
				l.varDef[v] = g
			}
		}
	}
}

// resolveFuncs finds the definitions of a module's functions, and makes its kernels.
func (l *linker) resolveFuncs(m *ptx.Module) {
	bodies := map[string]*ptx.Func{}
	for _, f := range m.Funcs {
		if !f.Proto {
			bodies[f.Name] = f
		}
	}
	for _, a := range m.Aliases {
		if f := bodies[a.Target]; f != nil && bodies[a.Name] == nil {
			bodies[a.Name] = f
		}
	}
	for _, f := range m.Funcs {
		d := bodies[f.Name]
		if d == nil || d.Linkage == ptx.Weak {
			if g := l.fns[f.Name]; g != nil {
				d = g
			}
		}
		if d != nil {
			l.fnDef[f] = d
			if l.fnAddr[d] == 0 {
				a := funcBase + 16*uint64(len(l.fnAddr))
				l.fnAddr[d], l.fnAt[a] = a, d
			}
		}
		if f.Entry && !f.Proto {
			l.addKernel(m, f)
		}
	}
}

// addKernel makes the kernel of an entry. Of several of one name there is one: that which others see, or else the first.
func (l *linker) addKernel(m *ptx.Module, f *ptx.Func) {
	p := l.Program
	if seen := l.fns[f.Name]; seen != nil && seen != f || p.byName[f.Name] != nil {
		return
	}
	k := &Kernel{prog: p, mod: m, ast: f}
	k.image = sync.OnceValue(func() *image { return decodeImage(k, nil, imageKey{}) })
	k.regs = sync.OnceValue(k.estimate)
	k.layoutParams()
	p.kernels = append(p.kernels, k)
	p.byName[f.Name] = k
}

// Kernels returns the program's entries in source order, one of each name.
func (p *Program) Kernels() []*Kernel { return p.kernels }

// Kernel finds an entry by name.
func (p *Program) Kernel(name string) (*Kernel, bool) {
	k, ok := p.byName[name]
	return k, ok
}

// Modules returns the modules that the program was linked from.
func (p *Program) Modules() []*ptx.Module { return p.mods }

func alignUp(n, a int) int {
	if a <= 1 {
		return n
	}
	return (n + a - 1) / a * a
}

// alignOf is a variable's alignment: as written, or its element's size.
func alignOf(v *ptx.Var) int {
	a := max(1, v.Type.Bytes()) * max(1, v.Vec)
	if v.Type.Opaque() {
		a = 8
	}
	return max(a, v.Align)
}

func (k *Kernel) layoutParams() {
	off := 0
	for _, v := range k.ast.Params {
		a := alignOf(v)
		size := int(max(0, v.Size()))
		if v.Type.Opaque() {
			size = 8
		}
		off = alignUp(off, a)
		k.params = append(k.params, Param{Name: v.Name, Type: string(v.Type), Size: size, Offset: off, Opaque: v.Type.Opaque()})
		off += size
	}
	k.bytes = off
}

// Name returns the entry's name.
func (k *Kernel) Name() string { return k.ast.Name }

// Params returns the entry's parameters with their places in the parameter block.
func (k *Kernel) Params() []Param { return k.params }

// ParamBytes returns the size of the parameter block.
func (k *Kernel) ParamBytes() int { return k.bytes }

// AddressBytes is the size of an address: 4 or 8.
func (k *Kernel) AddressBytes() int {
	if k.mod.AddressSize == 32 {
		return 4
	}
	return 8
}

// Module returns the module that defines the entry.
func (k *Kernel) Module() *ptx.Module { return k.mod }

// Func returns the entry's syntax tree.
func (k *Kernel) Func() *ptx.Func { return k.ast }

// MaxThreads returns the largest block that the entry allows by .maxntid or .reqntid,
// 0 if it sets no limit.
func (k *Kernel) MaxThreads() int {
	n := 0
	for _, d := range [][3]int{k.ast.MaxNTID, k.ast.ReqNTID} {
		if d[0] > 0 {
			n = d[0] * max(1, d[1]) * max(1, d[2])
		}
	}
	return n
}

// StaticShared returns the bytes of shared memory declared by the entry and all that it
// can reach.
func (k *Kernel) StaticShared() int { return k.image().sharedBytes }

// LocalBytes returns the bytes of local memory of one activation of the entry.
func (k *Kernel) LocalBytes() int { return k.image().entry.local }

// Unusable explains why the kernel cannot run: every unsupported instruction that it
// can reach, by name and line. It is empty for a usable kernel.
func (k *Kernel) Unusable() []error { return k.image().errors() }

func (im *image) errors() (errs []error) {
	for _, f := range im.fns {
		errs = append(errs, f.err...)
	}
	return errs
}

// ErrUndefined is contained in the errors of Unusable for a name that no module of the
// program defines.
var ErrUndefined = errors.New("has no definition")

// Functions returns the entry and every function that it can reach.
func (k *Kernel) Functions() []Function {
	var out []Function
	for _, f := range k.image().fns {
		out = append(out, Function{Name: f.name, Code: f.info, Graph: f.graph})
	}
	return out
}

// Managed lists the variables that host and device share, by their attribute
// .managed, in source order. They have no address yet.
func (p *Program) Managed() []Symbol {
	var list []Symbol
	for _, g := range p.globals {
		if slices.Contains(g.v.Attrs, ".managed") && !g.inBody {
			list = append(list, Symbol{Name: g.v.Name, Size: max(g.size, 1), Type: g.v.Type})
		}
	}
	return list
}

// imageKey identifies a decoded kernel of a machine.
type imageKey struct {
	k               *Kernel
	probed, follows bool
	bounded         bool
	counts          *exec.Coverage
}

// Machine is a program placed in device memory.
type Machine struct {
	exec.Warner
	prog   *Program
	mem    *device.Memory
	addr   []uint64 // by global.index
	own    []uint64 // what it has allocated for them
	images map[imageKey]*image
	crew   exec.Crew[worker]
	grids  uint64 // launches begun, for %gridid
	spaces exec.Workspaces
	tex    textures
}

// NewMachine places the program's variables in mem and initialises them. It fails if a
// variable does not fit or an initialiser refers to something undefined.
func NewMachine(p *Program, mem *device.Memory) (*Machine, error) {
	return NewMachineAt(p, mem, nil, false)
}

// NewMachineAt is NewMachine for a program some of whose variables, by name, already
// have a place in mem. If keep is set these have values too, which stay.
func NewMachineAt(p *Program, mem *device.Memory, at map[string]uint64, keep bool) (*Machine, error) {
	m := &Machine{prog: p, mem: mem, crew: exec.Crew[worker]{Mem: mem, New: newWorker}, images: map[imageKey]*image{}, addr: make([]uint64, len(p.globals))}
	regions := map[*region]uint64{}
	for _, g := range p.globals {
		var flags []device.Flag
		if g.v.Space == ptx.SpaceConst {
			flags = append(flags, device.ReadOnly)
		}
		a, err := uint64(0), error(nil)
		if place, ok := at[g.v.Name]; ok && !g.inBody {
			a = place
			_, err = mem.Bytes(a, max(g.size, 1))
		} else {
			in, shared := p.shared[g.v]
			if a = regions[in.of]; a == 0 {
				size := g.size
				if shared {
					size = in.of.bytes
				}
				if a, err = mem.Alloc(max(size, 1), g.v.Name, flags...); err == nil {
					m.own = append(m.own, a)
				}
				if shared {
					regions[in.of] = a
				}
			}
			a += in.offset
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: variable %s: %w", g.mod.File, g.v.Pos.Line, g.v.Name, err)
		}
		m.addr[g.index] = a
		if g.v.Linkage != ptx.NoLinkage && !g.inBody {
			if _, dup := mem.Symbol(g.v.Name); !dup {
				if err := mem.Define(g.v.Name, a, g.size); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, g := range p.globals {
		if _, given := at[g.v.Name]; g.v.Init == nil || keep && given && !g.inBody {
			continue
		}
		buf := make([]byte, max(g.size, 1))
		if err := m.initialise(g, buf); err != nil {
			return nil, err
		}
		if err := mem.Write(m.addr[g.index], buf); err != nil {
			return nil, fmt.Errorf("%s:%d: variable %s: %w", g.mod.File, g.v.Pos.Line, g.v.Name, err)
		}
	}
	m.initTextures()
	return m, nil
}

// Release frees the memory of the program's variables, except those that NewMachineAt
// was given. No launch of the machine may be running or follow.
func (m *Machine) Release() error {
	var errs []error
	for _, a := range m.own {
		errs = append(errs, m.mem.Free(a))
	}
	return errors.Join(append(errs, m.spaces.Release(m.mem))...)
}

// Holds reports whether a variable of the program begins at an address.
func (m *Machine) Holds(addr uint64) bool { return slices.Contains(m.addr, addr) }

// Memory returns the device memory that the program is placed in.
func (m *Machine) Memory() *device.Memory { return m.mem }

// Symbol finds a global or constant variable by name, module-local ones
// included.
func (m *Machine) Symbol(name string) (Symbol, bool) {
	var found *global
	for _, g := range m.prog.globals {
		if g.v.Name == name && !g.inBody && (found == nil || g.v.Linkage != ptx.NoLinkage) {
			found = g
		}
	}
	if found == nil {
		return Symbol{}, false
	}
	return Symbol{Name: name, Addr: m.addr[found.index], Size: found.size, Type: found.v.Type, Const: found.v.Space == ptx.SpaceConst}, true
}

// Symbols returns the names of all variables that Symbol can find.
func (m *Machine) Symbols() []string {
	var names []string
	for _, g := range m.prog.globals {
		if !g.inBody {
			names = append(names, g.v.Name)
		}
	}
	sort.Strings(names)
	return names
}

// initialise writes a variable's initial value to buf.
func (m *Machine) initialise(g *global, buf []byte) error {
	elem := g.v.Type.Bytes()
	dims := append([]int64(nil), g.v.Dims...)
	if g.v.Vec > 1 {
		dims = append(dims, int64(g.v.Vec))
	}
	at := 0
	var put func(in *ptx.Init, depth, at, span int) error
	put = func(in *ptx.Init, depth, at, span int) error {
		if in.List == nil {
			if at+elem > len(buf) {
				return fmt.Errorf("%s:%d:%d: too many initialisers for %s", g.mod.File, in.Pos.Line, in.Pos.Col, g.v.Name)
			}
			v, err := m.constant(g, in.Expr)
			if err != nil {
				return err
			}
			var tmp [8]byte
			binary.LittleEndian.PutUint64(tmp[:], v)
			copy(buf[at:at+elem], tmp[:])
			return nil
		}
		// Each element of this level covers the product of the dimensions below.
		sub := elem
		for _, d := range dims[min(len(dims), depth+1):] {
			sub *= int(max(1, d))
		}
		for _, e := range in.List {
			step := sub
			if e.List == nil {
				step = elem // flat lists fill element by element
			}
			if err := put(e, depth+1, at, step); err != nil {
				return err
			}
			at += step
		}
		return nil
	}
	return put(g.v.Init, 0, at, len(buf))
}

// constant evaluates one initialiser to the bits of the variable's element.
func (m *Machine) constant(g *global, e *ptx.Expr) (uint64, error) {
	v := immBits(e.Imm, g.v.Type)
	if e.Sym == "" {
		return v, nil
	}
	a, ok := uint64(0), false
	if x := m.prog.varDef[e.Var]; x != nil {
		a, ok = m.addr[x.index], true
	} else {
		a, ok = m.symbolIn(g.mod, e.Sym)
	}
	if !ok {
		return 0, fmt.Errorf("%s:%d:%d: initialiser of %s: %s must be a variable in global or constant memory, or a function with a body", g.mod.File, e.Pos.Line, e.Pos.Col, g.v.Name, e.Sym)
	}
	a += e.Imm.Bits
	if e.Mask != 0 {
		shift := 0
		for e.Mask>>shift&0xff == 0 && shift < 56 {
			shift += 8
		}
		a = a & e.Mask >> shift
	}
	return a, nil
}

// symbolIn resolves a name as a module sees it.
func (m *Machine) symbolIn(mod *ptx.Module, name string) (uint64, bool) {
	for _, v := range mod.Vars {
		if v.Name == name {
			if g := m.prog.varDef[v]; g != nil {
				return m.addr[g.index], true
			}
		}
	}
	for _, f := range mod.Funcs {
		if f.Name == name {
			if d := m.prog.fnDef[f]; d != nil {
				return m.prog.fnAddr[d], true
			}
		}
	}
	return 0, false
}

// immBits gives a literal's bits as a value of type t.
func immBits(i ptx.Imm, t ptx.Type) uint64 {
	f := func() float64 {
		switch i.Kind {
		case ptx.ImmF32:
			return float64(math.Float32frombits(uint32(i.Bits)))
		case ptx.ImmF64:
			return math.Float64frombits(i.Bits)
		case ptx.ImmUint:
			return float64(i.Bits)
		}
		return float64(int64(i.Bits))
	}
	isFloat := i.Kind == ptx.ImmF32 || i.Kind == ptx.ImmF64
	switch t {
	case "f32":
		if i.Kind == ptx.ImmF32 {
			return i.Bits & 0xffffffff
		}
		return uint64(math.Float32bits(float32(f())))
	case "f64":
		return math.Float64bits(f())
	case "f16":
		return uint64(num.F64ToF16(math.Float64bits(f()), num.RN))
	case "bf16":
		return uint64(num.F64ToBF16(math.Float64bits(f()), num.RN))
	}
	if isFloat && !t.Float() {
		// A floating literal for an untyped element: its own bits if it fits.
		if t.Bits() == 64 && i.Kind == ptx.ImmF64 {
			return i.Bits
		}
		if t.Bits() == 32 {
			return uint64(math.Float32bits(float32(f())))
		}
		return uint64(int64(f()))
	}
	v := i.Bits
	if b := t.Bits(); b < 64 {
		v &= 1<<b - 1
	}
	return v
}

func newWorker() *worker { return &worker{pool: map[*fn][]*frame{}} }

// prepare checks a launch and decodes its kernel for this machine.
func (m *Machine) prepare(l *Launch) (*image, error) {
	k, err := exec.Check[*Kernel](l)
	if err != nil {
		return nil, err
	}
	if r := k.ast.ReqNTID; r[0] > 0 {
		if err := l.Require(exec.Dim3{X: uint32(r[0]), Y: uint32(max(1, r[1])), Z: uint32(max(1, r[2]))}); err != nil {
			return nil, err
		}
	}
	if err := k.cluster(l); err != nil {
		return nil, err
	}
	key := imageKey{k: k, probed: l.Probe != nil, follows: exec.Follows(l.Probe), bounded: l.Outside != nil, counts: l.Coverage}
	im := m.images[key]
	if im == nil {
		im = decodeImage(k, m, key)
		if l.Coverage != nil {
			im.countFunctions(l.Coverage)
		}
		m.images[key] = im
	}
	if errs := im.errors(); len(errs) > 0 {
		return nil, l.Refuse("%v", errors.Join(errs...))
	}
	if l.Cooperative && im.workspace {
		if err := m.spaces.Prepare(m.mem); err != nil {
			return nil, l.Refuse("%v", err)
		}
	}
	return im, nil
}

// Forget takes back the number that the last launch got, as its effects have been undone.
func (m *Machine) Forget() { m.grids-- }

// Numbers are those of the launches so far.
func (m *Machine) Numbers() exec.Numbers {
	return exec.Numbers{Grids: m.grids, Workspaces: m.spaces.Used()}
}

// Renumber sets the numbers of the launches so far.
func (m *Machine) Renumber(n exec.Numbers) {
	m.grids = n.Grids
	m.spaces.Reuse(n.Workspaces)
}

// begin numbers a launch when its first block begins, and clears its workspace.
func (m *Machine) begin(im *image, l *launch) {
	if l.grid != 0 {
		return
	}
	l.grid = m.grids + 1
	if !l.Rehearsal {
		m.grids++
	}
	if l.Cooperative && im.workspace {
		l.workspace = m.spaces.Take(m.mem)
	}
	m.point(im, l)
	if l.Probe != nil && !l.Rehearsal {
		o := &work{im: im}
		l.Probe.Begin(&l.Launch, im.code(), o.source, o.text)
	}
}
