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

// options are choices of how passes work.
type options struct {
	// predicates is the number of them that may be needed at once, 0 if all may.
	predicates int
	// inOrder leaves the instructions in the order of the PTX.
	inOrder bool
	// registers is the number of general registers that may be needed at once, 0 if all may; reserve are
	// the bytes of local memory for the others.
	registers, reserve int
	spilled            spilled // what went there
}

// fewest registers are left to values when others move to memory: an instruction and the copies before
// it need some, and those of a matrix product three quads (our choice).
const fewest = 12

// mostBlocks bounds the memory and the time of compilation. Our choice: 60,000 branches one after the other
// take 10 s of processor time. Many exits from one loop take longer, with the square of their number.
const mostBlocks = 200_000

// passes are all of them, in their order.
func passes(o *options, lay *layout) []pass {
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
		{"shared", plain(shareResults), true},
		{"wide", plain(func(f *ir.Func) { fuseWide(f); shareResults(f); removeDead(f) }), true},
		{"fold", plain(func(f *ir.Func) { fold(f); removeDead(f); fold(f); removeDead(f); discardResults(f) }), true},
		{"schedule", func(f *ir.Func, m *machine.Machine) {
			if !o.inOrder {
				schedule(f, m)
			}
		}, true},
		{"predicates", plain(func(f *ir.Func) {
			if o.predicates > 0 {
				spillPredicates(f, o.predicates)
				removeDead(f)
			}
		}), true},
		{"spill", plain(func(f *ir.Func) {
			if o.registers > 0 {
				o.spilled = evict(f, o.registers, lay.sp, int(lay.moved))
			}
		}), true},
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
	for _, p := range passes(&options{}, nil) {
		list = append(list, p.name)
	}
	return list
}
