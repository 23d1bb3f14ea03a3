package texture

import (
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/internal/exec/device"
)

// This file: what handles stand for.

// Kind is the declared kind of a slot.
type Kind uint8

const (
	IsTexture Kind = iota
	IsSampler
	IsSurface
	IsObject // made by Objects.Add: texture, sampler and surface in one
)

var kindNames = [...]string{"texture reference", "sampler reference", "surface reference", "texture object"}

// Slot is the target of a handle: a reference of a program, or an object.
type Slot struct {
	name  string
	kind  Kind
	bound bool // tex is set; samplers count as bound from the start
	smp   Sampler
	set   preset
	tex   image
	bad   error // its initialiser is wrong
}

// preset records which settings the program gives a reference.
type preset struct {
	linear, normalized bool
	mode               [3]bool
}

// Reference returns the slot of a reference that a program declares. A sampler takes
// normalised coordinates unless SetNormalized says otherwise.
func Reference(name string, kind Kind) Slot {
	return Slot{name: name, kind: kind, bound: kind == IsSampler, smp: Sampler{normalized: kind == IsSampler, mode: [3]Mode{Clamp, Clamp, Clamp}}}
}

// Name is the name of the reference.
func (s *Slot) Name() string { return s.name }

// Kind is what the handle stands for.
func (s *Slot) Kind() Kind { return s.kind }

// Format is the format of the texels.
func (s *Slot) Format() Format { return s.tex.format }

// Cube reports whether the texture is a cube, with or without layers.
func (s *Slot) Cube() bool { return s.tex.cube }

// Layered reports whether the texture has layers.
func (s *Slot) Layered() bool { return s.tex.layered }

// SetLinear is the program's choice of filtering, for hosts that make none.
func (s *Slot) SetLinear(on bool) { s.smp.linear, s.set.linear = on, true }

// SetNormalized is the program's choice of coordinates, for hosts that make none.
func (s *Slot) SetNormalized(on bool) { s.smp.normalized, s.set.normalized = on, true }

// SetMode is the program's address mode of axis 0, 1 or 2, for hosts that give none.
func (s *Slot) SetMode(axis int, m Mode) { s.smp.mode[axis], s.set.mode[axis] = m, true }

// Refuse makes every use of the reference fail with an error.
func (s *Slot) Refuse(err error) { s.bad = err }

// Bind connects the reference to an image in mem, or a sampler to the settings of t. What t
// leaves open comes from the program.
func (s *Slot) Bind(mem *device.Memory, t Texture) error {
	b, err := ready(mem, t)
	if err != nil {
		return err
	}
	if s.bad != nil {
		return s.bad
	}
	s.bound = true
	smp := b.smp
	if s.set.linear && !t.Linear {
		smp.linear = s.smp.linear
	}
	if s.set.normalized && !t.Normalized {
		smp.normalized = s.smp.normalized
	}
	for k := range smp.mode {
		if s.set.mode[k] && t.Address[k] == "" {
			smp.mode[k] = s.smp.mode[k]
		}
	}
	if s.kind == IsSampler {
		smp.normalized = s.smp.normalized
		s.smp = smp
		return nil
	}
	s.tex = b
	s.tex.smp = smp
	return nil
}

// check returns why the slot cannot be used as a texture, sampler or surface, whichever is
// wanted; nil if it can. A query about sampling accepts a texture too.
func (s *Slot) check(want Kind, query bool) error {
	switch {
	case s.bad != nil:
		return s.bad
	case !s.bound && s.kind == IsObject:
		return fmt.Errorf("the %s is used, but the host has destroyed it", s.name)
	case !s.bound:
		return fmt.Errorf("the %s %s is used, but the host has bound nothing to it", kindNames[s.kind], s.name)
	case want == IsSampler && s.kind != IsSampler && s.kind != IsObject && !query,
		want != IsSampler && s.kind == IsSampler:
		return fmt.Errorf("%s is a %s; want a %s", s.name, kindNames[s.kind], kindNames[want])
	}
	return nil
}

// Handles are base+16*slot: outside all memory, and valid for 32-bit programs too. Machine
// code gives the texture unit only the lower 32 bits. (Assumed; programs only pass them on.)
const base = 0x0800_0000

// objectBase is the first handle of objects. A program has at most maxObjects
// references, and at most as many objects exist at a time.
const (
	objectBase = base + 16*maxObjects
	maxObjects = 1 << 20
)

// Objects are texture objects. Machines of several programs in one memory may share
// them: a handle is valid in all.
type Objects struct {
	Group int // handles of different groups, from 0, are different

	slots []Slot
	free  []int // slots of destroyed objects, reused last in, first out
}

// base is the first handle.
func (o *Objects) base() uint64 { return objectBase + 16*maxObjects*uint64(o.Group) }

// Add makes a texture object of an image in mem and returns its handle, which is also
// valid as a surface object and as a sampler.
func (o *Objects) Add(mem *device.Memory, t Texture) (uint64, error) {
	b, err := ready(mem, t)
	if err != nil {
		return 0, err
	}
	n := len(o.slots)
	if k := len(o.free); k > 0 {
		n, o.free = o.free[k-1], o.free[:k-1]
	} else if n >= maxObjects {
		return 0, fmt.Errorf("there are already %d texture objects; destroy those no longer used", maxObjects)
	} else {
		o.slots = append(o.slots, Slot{})
	}
	o.slots[n] = Slot{name: fmt.Sprintf("texture object %d", n), kind: IsObject, bound: true, smp: b.smp, tex: b}
	return o.base() + 16*uint64(n), nil
}

// Remove destroys a texture object: a kernel that uses it afterwards faults, until its
// handle is reused. It fails if there is no such object.
func (o *Objects) Remove(handle uint64) error {
	i := handle - o.base()
	if i%16 != 0 || i/16 >= uint64(len(o.slots)) || !o.slots[i/16].bound {
		return fmt.Errorf("%#x is not the handle of a texture object", handle)
	}
	s := &o.slots[i/16]
	*s = Slot{name: s.name, kind: IsObject}
	o.free = append(o.free, int(i/16))
	return nil
}

// Table is what handles stand for in a machine: the references of its programs, and objects.
type Table struct {
	Objects *Objects

	slots []Slot
}

// Add enters a reference, and returns its handle.
func (t *Table) Add(s Slot) (handle uint64) {
	t.slots = append(t.slots, s)
	return base + 16*uint64(len(t.slots)-1)
}

// Find returns what a handle stands for, nil if it stands for nothing.
func (t *Table) Find(handle uint64) *Slot {
	i, slots := handle-base, t.slots
	if handle >= objectBase {
		i, slots = handle-t.Objects.base(), t.Objects.slots
	}
	if i%16 != 0 || i/16 >= uint64(len(slots)) {
		return nil
	}
	return &slots[i/16]
}

// Get is Find for an instruction that needs a texture, a sampler or a surface; a query about
// sampling accepts a texture for a sampler. The error says why the handle is none.
func (t *Table) Get(handle uint64, want Kind, query bool) (*Slot, error) {
	s := t.Find(handle)
	if s == nil {
		return nil, fmt.Errorf("%#x is not the handle of a texture, sampler or surface", handle)
	}
	if err := s.check(want, query); err != nil {
		return nil, err
	}
	return s, nil
}

// Has reports whether there is a reference of that name and kind.
func (t *Table) Has(name string, kind Kind) bool {
	return slices.ContainsFunc(t.slots, func(s Slot) bool { return s.kind == kind && s.name == name })
}

// Bind binds all references of the name. It fails if there is none.
func (t *Table) Bind(mem *device.Memory, name string, tex Texture) error {
	if _, err := ready(mem, tex); err != nil {
		return err
	}
	found := false
	for i := range t.slots {
		s := &t.slots[i]
		if s.name != name {
			continue
		}
		if err := s.Bind(mem, tex); err != nil {
			return err
		}
		found = true
	}
	if !found {
		return fmt.Errorf("the program has no texture, surface or sampler reference %q", name)
	}
	return nil
}
