package sass

import (
	"errors"
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/exec/texture"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: what programs keep in device memory.

// place is a program in device memory.
type place struct {
	prog *Program
	data []uint64 // addresses of its pieces of device memory
	// The constant banks that its kernels share. Those with variables are in device memory
	// at an address, where the host writes them; a launch reads them when it begins.
	banks   [relocated + 1][]byte
	at      [relocated + 1]uint64
	symbols map[string]device.Symbol // its variables by name
	moved   []moved
	consts  []movedConst
	refs    map[string]uint64 // handles of its texture and surface references by name
}

// moved is a variable whose place is not in its program's piece of memory.
type moved struct {
	data     int
	from, to uint64 // offsets in that piece
	at       uint64
}

// movedConst is a constant whose value is not in its program's own bank.
type movedConst struct {
	bank     int
	from, to uint64 // offsets in the bank
	at       uint64
}

// NewMachineAt returns a machine with programs in its memory. Variables in at, by name, have a
// place there already; if keep is set, they have values that stay, but for addresses of functions. It fails
// if memory does not suffice.
func NewMachineAt(progs []*Program, mem *device.Memory, at map[string]uint64, keep bool) (*Machine, error) {
	m := NewMachine(mem)
	for _, p := range progs {
		pl := &place{prog: p, symbols: map[string]device.Symbol{}, refs: map[string]uint64{}}
		for i := range p.refs {
			if r := &p.refs[i]; pl.refs[r.name] == 0 {
				pl.refs[r.name] = m.tex.Add(texture.Reference(r.name, r.kind()))
			}
		}
		m.places = append(m.places, pl)
		if err := pl.fill(mem, at, keep); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", p.file, err), m.Release())
		}
	}
	return m, nil
}

// fill allocates and initialises a program's memory.
func (pl *place) fill(mem *device.Memory, at map[string]uint64, keep bool) error {
	t := pl.prog.text
	init := make([][]byte, len(t.Data))
	for i := range t.Data {
		d := &t.Data[i]
		a, err := mem.Alloc(max(d.Bytes, 1), d.Name)
		if err != nil {
			return err
		}
		pl.data, init[i] = append(pl.data, a), slices.Clone(d.Init)
	}
	for bank, b := range t.Banks {
		pl.banks[bank] = slices.Clone(b)
		if !slices.ContainsFunc(t.Variables, func(v sass.Variable) bool { return v.Data < 0 && v.Bank == bank }) {
			continue
		}
		a, err := mem.Alloc(uint64(max(len(b), 1)), fmt.Sprintf("constant bank %d", bank), device.ReadOnly)
		if err != nil {
			return err
		}
		pl.at[bank] = a
	}
	for _, v := range t.Variables {
		s := device.Symbol{Name: v.Name, Size: v.Bytes}
		if v.Data < 0 {
			if s.Addr = pl.at[v.Bank] + v.Offset; at[v.Name] != 0 {
				s.Addr = at[v.Name]
				pl.consts = append(pl.consts, movedConst{v.Bank, v.Offset, v.Offset + v.Bytes, s.Addr})
			}
		} else if s.Addr = pl.data[v.Data] + v.Offset; at[v.Name] != 0 {
			s.Addr = at[v.Name]
			pl.moved = append(pl.moved, moved{v.Data, v.Offset, v.Offset + v.Bytes, s.Addr})
		}
		if _, twice := pl.symbols[v.Name]; !twice { // names of one file only may repeat
			pl.symbols[v.Name] = s
		}
	}
	pl.banks[relocated] = make([]byte, 4*len(t.Addresses))
	for n := range t.Addresses {
		if t.Addresses[n].Type != 0 {
			continue
		}
		if err := pl.relocate(init, n); err != nil {
			return err
		}
	}
	for i, a := range pl.data {
		if err := mem.Write(a, init[i]); err != nil {
			return err
		}
	}
	for _, v := range pl.moved {
		if b := init[v.data]; b != nil && !keep {
			if err := mem.Write(v.at, b[v.from:v.to]); err != nil {
				return err
			}
		}
	}
	if keep {
		if err := pl.point(mem); err != nil {
			return err
		}
	}
	for bank, a := range pl.at {
		if a != 0 {
			if err := mem.Write(a, pl.banks[bank]); err != nil {
				return err
			}
		}
	}
	return nil
}

// point writes addresses of functions into variables whose other values stay: they are those of this code.
func (pl *place) point(mem *device.Memory) error {
	for n := range pl.prog.text.Addresses {
		a := &pl.prog.text.Addresses[n]
		if a.To != sass.OfPointer || a.Kernel != "" {
			continue
		}
		at := uint64(0)
		for _, v := range pl.moved {
			if a.Data == v.data && v.from <= a.Offset && a.Offset < v.to {
				at = v.at + a.Offset - v.from
			}
		}
		for _, v := range pl.consts {
			if a.Data < 0 && a.Bank == v.bank && v.from <= a.Offset && a.Offset < v.to {
				at = v.at + a.Offset - v.from
			}
		}
		if at == 0 {
			continue
		}
		if err := mem.Write(at, le.AppendUint64(nil, pl.address(a))); err != nil {
			return err
		}
	}
	return nil
}

// address is where an address leads to.
func (pl *place) address(a *sass.Address) uint64 {
	switch a.To {
	case sass.OfData:
		for _, v := range pl.moved {
			if v.data == a.ToData && v.from <= a.Addend && a.Addend < v.to {
				return v.at + a.Addend - v.from
			}
		}
		return pl.data[a.ToData] + a.Addend
	case sass.OfBank:
		for _, v := range pl.consts {
			if v.bank == a.ToBank && v.from <= a.Addend && a.Addend < v.to {
				return v.at + a.Addend - v.from
			}
		}
		return pl.at[a.ToBank] + a.Addend
	case sass.OfFunction:
		return providedBase + uint64(pl.prog.function(a.Function))*instBytes + a.Addend
	case sass.OfPointer:
		return pointerBase + uint64(slices.Index(pl.prog.pointers, a.Function))*instBytes
	}
	return a.Addend
}

// relocate writes address n to where it belongs: to a constant bank, or to what a piece of
// memory begins with.
func (pl *place) relocate(init [][]byte, n int) error {
	a := &pl.prog.text.Addresses[n]
	var b [8]byte
	le.PutUint64(b[:], pl.address(a))
	to, at, part := pl.banks[a.Bank], a.Offset, b[:]
	switch {
	case a.Kernel != "":
		to, at, part = pl.banks[relocated], 4*uint64(n), b[:4]
		if a.Part == sass.Upper {
			part = b[4:]
		}
	case a.Data >= 0:
		to = init[a.Data]
	}
	if at > uint64(len(to)) || uint64(len(to))-at < uint64(len(part)) {
		return fmt.Errorf("an address at %#x of %d bytes", at, len(to))
	}
	copy(to[at:], part)
	return nil
}

// Release frees the memory of the programs, except variables that have a place elsewhere. No
// launch may be running or follow.
func (m *Machine) Release() error {
	var errs []error
	for _, p := range m.places {
		for _, a := range append(slices.Clone(p.data), p.at[:]...) {
			if a != 0 {
				errs = append(errs, m.crew.Mem.Free(a))
			}
		}
	}
	m.places = nil
	return errors.Join(append(errs, m.spaces.Release(m.crew.Mem))...)
}

// Holds reports whether a variable begins at an address.
func (m *Machine) Holds(addr uint64) bool {
	for _, p := range m.places {
		for _, s := range p.symbols {
			if s.Addr == addr {
				return true
			}
		}
	}
	return false
}

// Symbol finds a variable by name.
func (m *Machine) Symbol(name string) (device.Symbol, bool) {
	for _, p := range m.places {
		if s, ok := p.symbols[name]; ok {
			return s, true
		}
	}
	return device.Symbol{}, false
}

// Symbols returns the names of all variables.
func (m *Machine) Symbols() []string {
	var names []string
	for _, p := range m.places {
		for name := range p.symbols {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// bank returns constant bank n of a kernel's program, as it is now; nil if it has none.
func (m *Machine) bank(k *Kernel, n int) []byte {
	for _, p := range m.places {
		if p.prog != k.prog {
			continue
		}
		b := slices.Clone(p.banks[n])
		if p.at[n] != 0 {
			if err := m.crew.Mem.Read(p.at[n], b); err != nil {
				panic(err) // it is the machine's own
			}
		}
		for _, v := range p.consts {
			if v.bank == n {
				if err := m.crew.Mem.Read(v.at, b[v.from:v.to]); err != nil {
					panic(err) // it is that of another machine for the same program
				}
			}
		}
		return b
	}
	return nil
}

// refer writes the handles of a kernel's references to its constant bank 0, which may grow.
func (m *Machine) refer(k *Kernel, bank []byte) []byte {
	for _, pl := range m.places {
		if pl.prog != k.prog {
			continue
		}
		for i := range pl.prog.refs {
			r := &pl.prog.refs[i]
			if r.kernel != k.Name() || r.offset > bankBytes-4 {
				continue
			}
			if end := int(r.offset) + 4; len(bank) < end {
				bank = append(bank, make([]byte, end-len(bank))...)
			}
			le.PutUint32(bank[r.offset:], uint32(pl.refs[r.name]))
		}
	}
	return bank
}

// UseObjects makes the machine's kernels use these texture objects instead of the machine's
// own.
func (m *Machine) UseObjects(o *texture.Objects) { m.tex.Objects = o }

// ShareTextures makes the machine's handles those of a table: of the references of each program, by their names, and
// of objects.
func (m *Machine) ShareTextures(t *texture.Table, handle func(p *Program, name string) uint64) {
	m.tex = t
	for _, pl := range m.places {
		for name := range pl.refs {
			pl.refs[name] = handle(pl.prog, name)
		}
	}
}

// HasTexture reports whether the programs have a texture or surface reference of that name.
func (m *Machine) HasTexture(name string, surface bool) bool {
	return m.tex.Has(name, (&reference{surface: surface}).kind())
}

// BindTexture binds the texture and surface references of the name.
func (m *Machine) BindTexture(name string, t texture.Texture) error {
	return m.tex.Bind(m.crew.Mem, name, t)
}

// BindTextureOf is BindTexture for the reference of that name in one of the programs, numbered from
// 0: others may have their own reference of that name.
func (m *Machine) BindTextureOf(program int, name string, t texture.Texture) error {
	if program >= 0 && program < len(m.places) {
		if h := m.places[program].refs[name]; h != 0 {
			return m.tex.Find(h).Bind(m.crew.Mem, t)
		}
	}
	return m.BindTexture(name, t)
}

// TextureObject makes a texture object, as texture.Objects.Add does.
func (m *Machine) TextureObject(t texture.Texture) (uint64, error) {
	return m.tex.Objects.Add(m.crew.Mem, t)
}
