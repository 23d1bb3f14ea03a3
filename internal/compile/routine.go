package compile

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/compile/machine"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: routines. What takes many instructions, such as a division of 64 bits, is one piece of code that
// several places of a function call. They are compiled as functions are, but what a caller needs after a call stays
// in registers that the routine does not name, so that nothing is kept in memory, and a caller needs no stack.
// Until the pass "calls" a call of one computes its results from its operands as other instructions do.

// routineName is what the names of instructions begin with that call one.
const routineName = "ROUTINE"

// fewestCalls is in how many places an instruction must stand to become a routine: our choice, as one place alone
// has shorter code without.
const fewestCalls = 2

//go:embed routines.ptx
var routinesText []byte

// routines are those that a module's kernels call, compiled when one first does. They are the same for all kernels,
// also for such as are compiled at the same time.
type routines struct {
	options Options
	mach    *machine.Machine

	mu    sync.Mutex
	own   *module
	known map[string]*ir.Func
}

// routineOf is the routine for an instruction, "" if there is none, and which of its results is the instruction's.
// No function of PTX has such a name.
func routineOf(in *ptx.Inst) (name string, result int) {
	if in.Op == "div" || in.Op == "rem" {
		switch in.FullName() {
		case "div.u64":
			return "div.u64", 1
		case "rem.u64":
			return "div.u64", 0
		case "div.s64":
			return "div.s64", 1
		case "rem.s64":
			return "div.s64", 0
		}
	}
	return "", 0
}

// callers finds the instructions of a function that call routines: those that stand in several places, but for
// divisions by a number, and those in each round of a loop by what the loop keeps, of which other passes compute a
// part before it. A quotient and a remainder of the same operands are one place.
func callers(fn *ptx.Func) map[*ptx.Inst]bool {
	type place struct {
		name string
		of   [2]ptxRegister
	}
	var list []int
	for pc, in := range fn.Code {
		if name, _ := routineOf(in); name != "" && in.Args[2].Kind == ptx.OpReg {
			list = append(list, pc)
		}
	}
	if len(list) < fewestCalls {
		return nil
	}
	loops := backwards(fn)
	known, count := map[place]bool{}, map[string]int{}
	list = slices.DeleteFunc(list, func(pc int) bool {
		in := fn.Code[pc]
		name, _ := routineOf(in)
		p := place{name, [2]ptxRegister{registerIn(&in.Args[1]), registerIn(&in.Args[2])}}
		if loops.keep(p.of[1], pc) {
			return true
		}
		if !known[p] {
			known[p] = true
			count[name]++
		}
		return false
	})
	found := map[*ptx.Inst]bool{}
	for _, pc := range list {
		if name, _ := routineOf(fn.Code[pc]); count[name] >= fewestCalls {
			found[fn.Code[pc]] = true
		}
	}
	return found
}

// ptxRegister is a register of PTX, or a number.
type ptxRegister struct {
	v     *ptx.Var
	index int
	bits  uint64
}

func registerIn(o *ptx.Operand) ptxRegister { return ptxRegister{o.Var, o.Index, o.Imm.Bits} }

// ptxLoops are ranges of PTX instructions, each from the target of a branch to the last one that leads back there.
type ptxLoops []*ptxLoop

type ptxLoop struct {
	from, to int
	code     []*ptx.Inst
	written  map[ptxRegister]bool // what it writes, once that is asked for
}

// backwards are a function's loops.
func backwards(fn *ptx.Func) (list ptxLoops) {
	at := map[int]*ptxLoop{}
	for pc, in := range fn.Code {
		if in.Op != "bra" || in.Args[0].Target > pc {
			continue
		}
		to := in.Args[0].Target
		if at[to] == nil {
			at[to] = &ptxLoop{from: to, code: fn.Code}
			list = append(list, at[to])
		}
		at[to].to = pc
	}
	return list
}

// keep reports whether a loop that comes to an instruction in each round leaves a register as it is.
func (list ptxLoops) keep(r ptxRegister, pc int) bool {
	return slices.ContainsFunc(list, func(l *ptxLoop) bool { return l.from <= pc && pc <= l.to && !l.passes(pc) && !l.writes()[r] })
}

// passes reports whether a branch leads around an instruction of the loop.
func (l *ptxLoop) passes(pc int) bool {
	return slices.ContainsFunc(l.code[l.from:pc], func(in *ptx.Inst) bool {
		return in.Op == "bra" && in.Args[0].Target > pc && in.Args[0].Target <= l.to
	})
}

// writes are the registers that a loop writes.
func (l *ptxLoop) writes() map[ptxRegister]bool {
	if l.written != nil {
		return l.written
	}
	l.written = map[ptxRegister]bool{}
	for _, in := range l.code[l.from : l.to+1] {
		if len(in.Args) == 0 {
			continue
		}
		for _, o := range append(slices.Clip(in.Args[0].List), in.Args[0]) {
			if o.Kind == ptx.OpReg {
				l.written[registerIn(&o)] = true
			}
		}
	}
	return l.written
}

// get is the code of a routine.
func (r *routines) get(m *module, name string) *ir.Func {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f := r.known[name]; f != nil {
		return f
	}
	if r.own == nil {
		text, err := ptx.Parse("routines.ptx", routinesText)
		if err != nil {
			panic(err)
		}
		r.own, r.known = newModule(text, m.arch), map[string]*ir.Func{}
		r.own.routine = true
	}
	at := slices.IndexFunc(r.own.text.Funcs, func(fn *ptx.Func) bool { return fn.Name == strings.ReplaceAll(name, ".", "_") })
	b, err := r.own.body(r.own.text.Funcs[at], r.mach, &r.options)
	if err != nil {
		stop(err.What, err.Why)
	}
	b.f.Name = name
	r.known[name] = b.f
	return b.f
}

// callRoutine makes an instruction a call of its routine, if that is what it shall be.
func (b *builder) callRoutine() bool {
	if !b.callers[b.inst] {
		return false
	}
	name, result := routineOf(b.inst)
	g := b.guard
	b.guard = ir.Guard{} // all lanes call it: under a guard some would have to be elsewhere meanwhile
	var args []ir.Arg
	for range 4 {
		args = append(args, ir.D(b.f.NewValue(ir.GPR)))
	}
	for i := range b.inst.Args[1:3] {
		for part := range 2 {
			args = append(args, ir.R(b.value(b.source(&b.inst.Args[1+i], b.typeOf(), part))))
		}
	}
	in := b.emit(routineName+"."+name, args...)
	in.Callee = name
	b.f.Calls(b.mod.routines.get(b.mod, name))
	b.guard = g
	for part, v := range in.Defs()[2*result : 2*result+2] {
		b.assign(&b.inst.Args[0], part, v)
	}
	return true
}

// callsRoutine reports whether an instruction calls a routine.
func callsRoutine(in *ir.Inst) bool { return strings.HasPrefix(in.Name, routineName) }

// dropFromRoutines drops results of routines that nothing needs, after equal calls have become one.
func dropFromRoutines(f *ir.Func) {
	uses := usesOf(f)
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			if !callsRoutine(in) {
				continue
			}
			for i := range in.Args {
				if a := &in.Args[i]; a.Dst && a.Vals[0] != nil && uses[a.Vals[0].ID] == 0 {
					a.Vals[0] = nil
				}
			}
		}
	}
}

// named are the registers that a routine names.
func named(f *ir.Func) (set registerSet, list []*ir.Value) {
	add := func(v *ir.Value) {
		if v.Class == ir.GPR && v.Reg < reservedByCall || v.Class == ir.UGPR { // those that it leaves alone
			return
		}
		if !set.has(registerOf(v)) {
			set.add(registerOf(v))
			list = append(list, v)
		}
	}
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			in.Uses(func(v **ir.Value) { add(*v) })
			in.EachDef(add)
			for i := range in.Hidden {
				add(in.Hidden[i].Vals[0])
			}
		}
	}
	return set, list
}

// routine makes the code of a routine's call.
func (x *expander) routine(in *ir.Inst) {
	if in.Guard.Val != nil {
		stop(in.Name, "has a guard, a fault of the compiler")
	}
	results, sources := parts(in)
	used := x.into(firstArgument, sources, 0, nil, ir.Arg{})
	used = append(used, x.branch(in.Callee, returnRegister)...)
	c := x.out[len(x.out)-1]
	c.Hidden = hidden(used)
	_, list := named(x.f.Routine(in.Callee))
	for _, v := range list {
		d := x.f.NewValue(v.Class)
		d.Reg = v.Reg
		if v.Class == ir.Pred {
			c.Hidden = append(c.Hidden, ir.DP(d))
		} else {
			c.Hidden = append(c.Hidden, ir.D(d))
		}
	}
	x.from(results, firstArgument)
}

// crossed finds, by value, the registers of the routines that are called while the value is needed; nil if there are
// no routines. It stops where a routine needs more registers than there are.
func (a *allocator) crossed(m *machine.Machine) []*registerSet {
	if len(a.f.Routines) == 0 {
		return nil
	}
	own := map[string]*registerSet{}
	for _, r := range a.f.Routines {
		set, list := named(r)
		for _, v := range list {
			if v.Class == ir.GPR && v.Reg >= m.Registers {
				stop(tooMany(ir.GPR, m.Registers), "at once, which "+notYet)
			}
		}
		own[r.Name] = &set
	}
	avoid := make([]*registerSet, len(a.f.Values))
	for _, b := range a.f.Blocks {
		for k, in := range b.Insts {
			if !callsRoutine(in) {
				continue
			}
			at := a.live.first[b.ID] + 2 + 2*k
			for v, r := range a.live.of {
				if !r.across(at) {
					continue
				}
				if avoid[v] == nil {
					avoid[v] = new(registerSet)
				}
				avoid[v].include(own[in.Callee])
			}
		}
	}
	return avoid
}

// across reports whether a value is needed before and after what is at a place.
func (r ranges) across(at int) bool {
	for _, s := range r {
		if s.from <= at && s.to > at+1 {
			return true
		}
	}
	return false
}
