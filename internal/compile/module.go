package compile

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: what the kernels of a module share: variables in global memory, each a piece of data;
// constants, in bank 3; and addresses of both, in bank 4.

const (
	constantBank = 3
	addressBank  = 4
)

// module is a module that is being compiled.
type module struct {
	text *ptx.Module
	arch sass.Arch
	file *sass.File

	assembler *sass.Assembler

	at func() *ptx.Inst // the instruction that is compiled

	consts   map[*ptx.Var]int64
	data     map[*ptx.Var]int     // in file.Data
	byName   map[string]*ptx.Var  // definitions that others see
	known    map[addressKey]int64 // places in the bank of addresses
	wanted   *addresses           // of a fork
	refused  map[*ptx.Var]string  // variables that cannot be placed, and why
	circles  *circles
	routines *routines
	routine  bool     // it is that of the routines
	taken    []string // functions whose addresses the code takes
	passed   bool     // it passes some in calls directly

	// far says that addresses in constant memory are those of device memory, not places in the bank, since a variable
	// begins with one, which others see, too.
	far bool
}

type addressKey struct {
	v   *ptx.Var // nil: the constant bank
	off int64
	fn  string // a function
}

// newModule places the module's variables.
func newModule(m *ptx.Module, arch sass.Arch) *module {
	x := &module{text: m, arch: arch, circles: &circles{of: map[*ptx.Func]bool{}}, assembler: sass.NewAssembler(arch), file: &sass.File{Name: m.File, Arch: arch}, consts: map[*ptx.Var]int64{}, data: map[*ptx.Var]int{}, byName: map[string]*ptx.Var{}, known: map[addressKey]int64{}, refused: map[*ptx.Var]string{}}
	list := append([]*ptx.Var(nil), m.Vars...)
	for _, f := range m.Funcs {
		for _, v := range f.Vars {
			if v.Space == ptx.SpaceGlobal || v.Space == ptx.SpaceConst {
				list = append(list, v)
			}
		}
	}
	for _, v := range list {
		if v.Linkage != ptx.NoLinkage && v.Linkage != ptx.Extern {
			x.byName[v.Name] = v
		}
		x.place(v)
	}
	for _, v := range list {
		x.initialise(v)
	}
	return x
}

// place gives a variable its place.
func (m *module) place(v *ptx.Var) {
	f, size := m.file, v.Size()
	s := sass.Variable{Name: v.Name, Data: -1, Bytes: uint64(max(0, size)), Local: v.Linkage == ptx.NoLinkage}
	switch {
	case v.Type.Opaque() || v.Space != ptx.SpaceGlobal && v.Space != ptx.SpaceConst:
		return
	case v.Linkage == ptx.Extern:
		m.refused[v] = "is defined in another module"
		return
	case v.Space == ptx.SpaceConst:
		b := f.Banks[constantBank]
		at := alignUp(int64(len(b)), alignOf(v))
		if v.Bank != 0 || at+size > 1<<16 {
			m.refused[v] = "does not fit into constant bank 0 of PTX"
			return
		}
		f.Banks[constantBank] = append(b, make([]byte, at+size-int64(len(b)))...)
		m.consts[v] = at
		s.Bank, s.Offset = constantBank, uint64(at)
	default:
		if size > 1<<28 {
			m.refused[v] = "is too large"
			return
		}
		m.data[v], s.Data = len(f.Data), len(f.Data)
		f.Data = append(f.Data, sass.Data{Name: ".nv.global." + v.Name, Bytes: uint64(size), Align: uint64(alignOf(v))})
	}
	f.Variables = append(f.Variables, s)
}

// initialise fills in a variable's initial value.
func (m *module) initialise(v *ptx.Var) {
	if v.Init == nil || m.refused[v] != "" {
		return
	}
	at, isConst := m.consts[v]
	n, isData := m.data[v]
	if !isConst && !isData {
		return
	}
	w := &initialiser{m: m, v: v, bytes: make([]byte, v.Size())}
	if w.list(v.Init, 0, 0); w.why != "" {
		m.refused[v] = w.why
		return
	}
	if isConst {
		copy(m.file.Banks[constantBank][at:], w.bytes)
	} else {
		m.file.Data[n].Init = w.bytes
	}
	for _, a := range w.addresses {
		a.Data = -1
		if isData {
			a.Data = n
		} else {
			a.Bank, a.Offset = constantBank, a.Offset+uint64(at)
		}
		m.file.Addresses = append(m.file.Addresses, a)
	}
}

// initialiser turns an initialiser into bytes.
type initialiser struct {
	m         *module
	v         *ptx.Var
	bytes     []byte
	addresses []sass.Address
	why       string
}

// list writes an initialiser at an offset; depth counts dimensions. It returns where the next begins.
func (w *initialiser) list(x *ptx.Init, at int64, depth int) int64 {
	if x == nil {
		return at
	}
	if x.List == nil {
		w.scalar(x.Expr, at)
		return at + int64(w.v.Type.Bytes())
	}
	size := int64(w.v.Type.Bytes()) // of an element of this level
	if w.v.Vec > 0 && depth < len(w.v.Dims) {
		size *= int64(w.v.Vec)
	}
	for i := depth + 1; i < len(w.v.Dims); i++ {
		size *= w.v.Dims[i]
	}
	for _, e := range x.List {
		if e != nil && e.List != nil {
			w.list(e, at, depth+1)
			at += size
		} else {
			at = w.list(e, at, depth+1)
		}
	}
	return at
}

func (w *initialiser) scalar(e *ptx.Expr, at int64) {
	n := int64(w.v.Type.Bytes())
	switch {
	case e == nil || e.Mask != 0 || e.Entry != nil || at+n > int64(len(w.bytes)):
		w.why = "has an initial value that " + notYet
		return
	case e.Sym != "" && e.Var == nil && n == 8 && w.m.definition(e.Sym) != nil:
		w.addresses = append(w.addresses, sass.Address{To: sass.OfPointer, Function: e.Sym, Offset: uint64(at)})
		return
	case e.Sym != "":
		a, ok := w.m.to(e.Var, int64(e.Imm.Bits))
		if !ok || n != 8 {
			w.why = "has an address in its initial value that " + notYet
			return
		}
		w.m.far = w.m.far || !e.Generic && e.Var.Space == ptx.SpaceConst
		a.Offset = uint64(at)
		w.addresses = append(w.addresses, a)
		return
	}
	v := e.Imm.Bits
	switch t := w.v.Type; {
	case t == "f32" && e.Imm.Kind == ptx.ImmF64:
		v = uint64(math.Float32bits(float32(math.Float64frombits(v))))
	case t == "f64" && e.Imm.Kind == ptx.ImmF32:
		v = math.Float64bits(float64(math.Float32frombits(uint32(v))))
	case t.Float() && t != "f32" && t != "f64" && e.Imm.Kind != ptx.ImmInt && e.Imm.Kind != ptx.ImmUint:
		w.why = "has an initial value that " + notYet
		return
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	copy(w.bytes[at:at+n], b[:])
}

// defined is the definition of a variable, which may stand in another declaration of its name.
func (m *module) defined(v *ptx.Var) *ptx.Var {
	if d := m.byName[v.Name]; d != nil && v.Linkage != ptx.NoLinkage {
		return d
	}
	return v
}

// to is an address that leads to a variable.
func (m *module) to(v *ptx.Var, off int64) (sass.Address, bool) {
	if v == nil {
		return sass.Address{}, false
	}
	v = m.defined(v)
	if n, ok := m.data[v]; ok {
		return sass.Address{To: sass.OfData, ToData: n, Addend: uint64(off)}, true
	}
	at, ok := m.consts[v]
	return sass.Address{To: sass.OfBank, ToBank: constantBank, Addend: uint64(at + off)}, ok
}

// constant is a variable's place in the constant bank.
func (m *module) constant(v *ptx.Var) int64 {
	v = m.defined(v)
	at, ok := m.consts[v]
	if why := m.refused[v]; why != "" || !ok {
		stop("the variable "+v.Name, fmt.Sprint(why, map[bool]string{true: notYet}[why == ""]))
	}
	return at
}

// address is part n of a variable's address.
func (m *module) address(v *ptx.Var, off int64, n int) ir.Arg {
	v = m.defined(v)
	if why := m.refused[v]; why != "" {
		stop("the variable "+v.Name, why)
	}
	a, ok := m.to(v, off)
	if !ok {
		stop("the variable "+v.Name, notYet)
	}
	return m.place64(addressKey{v: v, off: off}, a, n)
}

// bankAddress is part n of the address of the constant bank.
func (m *module) bankAddress(n int) ir.Arg {
	return m.place64(addressKey{}, sass.Address{To: sass.OfBank, ToBank: constantBank}, n)
}

// place64 is part n of an address in the bank of addresses.
func (m *module) place64(k addressKey, a sass.Address, n int) ir.Arg {
	if m.wanted != nil {
		return ir.C(addressBank, m.wanted.add(k, a)+4*int64(n))
	}
	return ir.C(addressBank, m.bank(k, a)+4*int64(n))
}

// bank puts an address into the bank of addresses, once.
func (m *module) bank(k addressKey, a sass.Address) int64 {
	at, ok := m.known[k]
	if !ok {
		b := m.file.Banks[addressBank]
		at = int64(len(b))
		m.known[k] = at
		m.file.Banks[addressBank] = append(b, make([]byte, 8)...)
		a.Data, a.Bank, a.Offset = -1, addressBank, uint64(at)
		m.file.Addresses = append(m.file.Addresses, a)
	}
	return at
}
