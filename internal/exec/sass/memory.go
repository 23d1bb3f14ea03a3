package sass

import (
	"errors"
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: what programs keep in device memory.

// place is a program in device memory.
type place struct {
	prog *Program
	data []uint64 // addresses of its pieces of device memory
	// The constant banks that its kernels share. Those with variables are in device memory
	// at an address, where the host writes them; a launch reads them when it begins.
	banks [relocated + 1][]byte
	at    [relocated + 1]uint64
	// symbols are its variables by name; given are those that NewMachineAt was told.
	symbols map[string]device.Symbol
	given   map[string]bool
}

// NewMachineAt returns a machine with programs in its memory. Variables in at, by name, have a
// place there already; if keep is set, they have values that stay. It fails if memory does not
// suffice, or if a program refers to a function that is not provided.
func NewMachineAt(progs []*Program, mem *device.Memory, at map[string]uint64, keep bool) (*Machine, error) {
	m := NewMachine(mem)
	for _, p := range progs {
		pl := &place{prog: p, symbols: map[string]device.Symbol{}, given: map[string]bool{}}
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
	for i := range t.Data {
		d := &t.Data[i]
		a, err := mem.Alloc(max(d.Bytes, 1), d.Name)
		if err != nil {
			return err
		}
		pl.data = append(pl.data, a)
		if err := mem.Write(a, d.Init); err != nil {
			return err
		}
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
			s.Addr = pl.at[v.Bank] + v.Offset
		} else {
			s.Addr = pl.data[v.Data] + v.Offset
		}
		if given, ok := at[v.Name]; ok && v.Data >= 0 {
			pl.given[v.Name] = true
			if d := &t.Data[v.Data]; !keep && d.Init != nil {
				if err := mem.Write(given, d.Init[v.Offset:v.Offset+v.Bytes]); err != nil {
					return err
				}
			}
			s.Addr = given
		}
		pl.symbols[v.Name] = s
	}
	pl.banks[relocated] = make([]byte, 4*len(t.Addresses))
	for n := range t.Addresses {
		if err := pl.relocate(mem, n); err != nil {
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

// relocate writes address n.
func (pl *place) relocate(mem *device.Memory, n int) error {
	a := &pl.prog.text.Addresses[n]
	v := a.Addend
	switch {
	case a.Function != "":
		i := slices.Index(provided, a.Function)
		if i < 0 {
			return fmt.Errorf("it calls %s, which neither it nor the machine defines", a.Function)
		}
		v += providedBase + uint64(i)*instBytes
	case a.Variable != "":
		s, ok := pl.symbols[a.Variable]
		if !ok {
			return fmt.Errorf("it refers to %s, which it does not define", a.Variable)
		}
		v += s.Addr
	}
	var b [8]byte
	le.PutUint64(b[:], v)
	if a.Data >= 0 {
		return mem.Write(pl.data[a.Data]+a.Offset, b[:])
	}
	bank, at, part := pl.banks[a.Bank], a.Offset, b[:]
	if a.Kernel != "" {
		bank, at, part = pl.banks[relocated], 4*uint64(n), b[:4]
		if a.Part == sass.Upper {
			part = b[4:]
		}
	}
	if at > uint64(len(bank)) || uint64(len(bank))-at < uint64(len(part)) {
		return fmt.Errorf("an address at %#x of constant bank %d, which has %d bytes", at, a.Bank, len(bank))
	}
	copy(bank[at:], part)
	return nil
}

// Release frees the memory of the programs, except variables that NewMachineAt was told. No
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
		return b
	}
	return nil
}
