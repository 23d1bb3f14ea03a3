package exec

import "github.com/heddle-sim/heddle/internal/isa"

// Seen holds the registers of a warp as they were when an observer last looked at them, so that it is shown
// only what has changed. The zero value has seen nothing. Rows are numbered by the executor. A
// nil Seen keeps nothing, and everything differs from it.
type Seen struct {
	// Wrote lists the registers that may have changed since the last look, apart from predicates and
	// what stands for the flow of control; nil if that is not known.
	Wrote []isa.Reg

	of    any // the function
	lanes isa.LaneMask
	all   bool // what is shown now has not been seen

	rows  [][32]uint32
	wide  [][32]uint64
	masks []uint32
	list  []Register
}

// Begin says that registers of some lanes in a function follow. All of them have changed unless the last
// ones were of the same function and of these lanes, or more.
func (s *Seen) Begin(of any, lanes isa.LaneMask) {
	if s == nil {
		return
	}
	s.all = s.of != of || lanes&^s.lanes != 0
	s.of, s.lanes = of, lanes
}

// Few reports whether only the registers in Wrote need to be looked at.
func (s *Seen) Few() bool { return s != nil && s.Wrote != nil && !s.all }

// List returns an empty list with room for n registers.
func (s *Seen) List(n int) []Register {
	if s == nil {
		return make([]Register, 0, n)
	}
	return s.list[:0]
}

// End keeps a list for the next call of List.
func (s *Seen) End(list []Register) {
	if s != nil {
		s.list = list
	}
}

// Row reports whether a row of 32-bit values differs from what was seen, and keeps it.
func (s *Seen) Row(i int, v *[32]uint32) bool {
	return s == nil || differs(s.all, &s.rows, i, v)
}

// Wide is Row for values of 64 bits.
func (s *Seen) Wide(i int, v *[32]uint64) bool {
	return s == nil || differs(s.all, &s.wide, i, v)
}

// Mask is Row for a bit of each lane.
func (s *Seen) Mask(i int, v uint32) bool {
	return s == nil || differs(s.all, &s.masks, i, &v)
}

// differs compares a row with the one that was seen, and keeps it.
func differs[T comparable](all bool, rows *[]T, i int, v *T) bool {
	if n := i + 1 - len(*rows); n > 0 {
		*rows = append(*rows, make([]T, n)...)
		all = true
	}
	if !all && (*rows)[i] == *v {
		return false
	}
	(*rows)[i] = *v
	return true
}
