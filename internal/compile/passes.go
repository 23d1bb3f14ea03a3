package compile

import (
	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/compile/machine"
)

// pass is one step on the way from PTX to machine code. Those after allocate work on registers.
type pass struct {
	name string
	run  func(f *ir.Func, m *machine.Machine)
	ssa  bool // its result is in the form that ir.Func.Verify checks
}

// passes are all of them, in their order.
func passes() []pass {
	var groups []group
	plain := func(f func(*ir.Func)) func(*ir.Func, *machine.Machine) {
		return func(x *ir.Func, _ *machine.Machine) { f(x) }
	}
	return []pass{
		{"phis", plain(simplifyPhis), true},
		{"dead", plain(removeDead), true},
		{"exits", plain(exitEarly), true},
		{"blocks", plain(mergeBlocks), true},
		{"legal", plain(legalise), true},
		{"fold", plain(func(f *ir.Func) { fold(f); removeDead(f); fold(f); removeDead(f); discardResults(f) }), true},
		{"converge", plain(converge), true},
		{"isolate", plain(func(f *ir.Func) { groups = isolate(f); removeDead(f) }), true},
		{"registers", func(f *ir.Func, m *machine.Machine) { allocate(f, groups, m) }, false},
		{"moves", plain(func(f *ir.Func) { sequence(f); shorten(f) }), false},
		{"branches", plain(branchOut), false},
		{"control", control, false},
	}
}

// Passes are the names of the passes in their order; the first makes the form that all others change.
func Passes() []string {
	list := []string{"build"}
	for _, p := range passes() {
		list = append(list, p.name)
	}
	return list
}
