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
	from int  // the level of optimisation from which on it runs
}

// order says how instructions of a block are ordered.
type order uint8

// The orders in which a kernel's instructions are tried, until its registers fit.
const (
	usual     order = iota // long waits begin early
	frugal                 // few registers are needed, whatever is waited for
	late                   // what is computed comes as late as it can, so that few registers are needed
	asWritten              // as the PTX has them
	orders                 // their number
)

// options are choices of how passes work.
type options struct {
	// predicates is the number of them that may be needed at once, 0 if all may.
	predicates int
	order      order
	leanest    order // the one that needs the fewest registers, if none suffices
	spilling   order // that of those by which most goes on while values are fetched from memory
	// registers is the number of general registers that may be needed at once, 0 if all may; reserve are
	// the bytes of local memory for the others, 0 if these are only made again where they are needed.
	registers, reserve int
	spilled            spilled // what went there
	single             bool    // loads of adjacent words stay as they are, since registers do not suffice for vectors
	joined             bool    // some have become vectors
	counts             []Count
	kept, keeps        int64 // bytes of local memory for registers that calls overwrite: there are, and are needed
	calls              bool  // it calls routines
	inline             bool  // it must not, since registers do not suffice for that
}

// fewest registers are left to values when others move to memory: an instruction and the copies before
// it need some, and those of a matrix product three quads (our choice).
const fewest = 12

// mostBlocks bounds the memory and the time of compilation. Our choice: 60,000 branches one after the other
// take 10 s of processor time. Many exits from one loop take longer, with the square of their number.
const mostBlocks = 200_000

// Most is the highest level of optimisation, and the usual one. At 0 only those passes run without which
// there is no code; 1 adds what makes it shorter within instructions and blocks, 2 what finds results
// that are there already, 3 the order of instructions.
const Most = 3

// passes are all of them, in their order.
func passes(o *options, lay *layout) []pass {
	var groups []group
	var peak [ir.Classes]int // after schedule: values that are needed at once
	plain := func(f func(*ir.Func)) func(*ir.Func, *machine.Machine) {
		return func(x *ir.Func, _ *machine.Machine) { f(x) }
	}
	return []pass{
		{"phis", plain(simplifyPhis), true, 0},
		{"dead", plain(removeDead), true, 0},
		{"exits", plain(exitEarly), true, 1},
		{"blocks", plain(mergeBlocks), true, 1},
		{"legal", plain(legalise), true, 0},
		{"simplify", plain(func(f *ir.Func) { discardResults(f); simplify(f); removeDead(f) }), true, 2},
		{"shared", plain(shareResults), true, 2},
		{"wide", plain(func(f *ir.Func) { fuseWide(f); fuseShifts(f); fuseBytes(f); shareResults(f); removeDead(f) }), true, 2},
		{"pairs", plain(func(f *ir.Func) { fusePairs(f); removeDead(f) }), true, 2},
		{"fold", plain(func(f *ir.Func) { fold(f); fold(f); removeDead(f); discardResults(f); dropFromRoutines(f) }), true, 1},
		{"flatten", plain(func(f *ir.Func) { flatten(f); removeDead(f) }), true, 3},
		{"invariants", func(f *ir.Func, m *machine.Machine) {
			invariants(f, m)
			flatten(f) // branches around what has moved out of a loop
			removeDead(f)
		}, true, 3},
		{"vectors", plain(func(f *ir.Func) {
			o.joined = !o.single && o.registers == 0 && vectors(f)
		}), true, 3},
		{"uniform", plain(uniformBranches), true, 3},
		{"schedule", func(f *ir.Func, m *machine.Machine) {
			meetOnce(f)
			peak = o.arrange(f, m)
		}, true, 3},
		{"predicates", func(f *ir.Func, m *machine.Machine) {
			if o.predicates == 0 && peak[ir.Pred] > m.Predicates {
				o.predicates = m.Predicates - 1
			}
			if o.predicates > 0 {
				spillPredicates(f, o.predicates)
				removeDead(f)
			}
		}, true, 0},
		{"spill", plain(func(f *ir.Func) {
			if o.registers > 0 {
				sp := lay.sp
				if o.reserve == 0 {
					sp = nil
				}
				o.spilled = evict(f, o.registers, sp, int(lay.moved))
			}
		}), true, 0},
		{"converge", plain(converge), true, 0},
		{"isolate", plain(func(f *ir.Func) { groups = isolate(f); removeDead(f) }), true, 0},
		{"registers", func(f *ir.Func, m *machine.Machine) { allocate(f, groups, m) }, false, 0},
		{"calls", plain(func(f *ir.Func) { o.keeps = expandCalls(f, lay.kept, lay.below) }), false, 0},
		{"moves", plain(func(f *ir.Func) { sequence(f); shorten(f) }), false, 0},
		{"branches", plain(branchOut), false, 0},
		{"control", control, false, 0},
		{"reuse", reuse, false, 2},
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
