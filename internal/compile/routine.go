package compile

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/compile/machine"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: routines. What takes many instructions, such as a division of 64 bits, is one piece of code that
// several places of a function call. They are compiled as functions are, but what a caller needs after it stays in
// registers that the routine does not name, so that nothing is kept in memory, and a caller needs no stack.
// Until the pass "calls" a call of one computes its results of its operands as other instructions do.

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

// routineOf is the name of the routine for an instruction, "" if there is none.
func routineOf(in *ptx.Inst) string {
	if in.Op != "div" && in.Op != "rem" {
		return ""
	}
	switch name := in.FullName(); name {
	case "div.u64", "div.s64", "rem.u64", "rem.s64":
		return "$" + strings.ReplaceAll(name, ".", "_")
	}
	return ""
}

// repeated reports whether a function has a routine's instruction in several places.
func repeated(fn *ptx.Func) bool {
	n := 0
	for _, in := range fn.Code {
		if routineOf(in) != "" {
			n++
		}
	}
	return n >= fewestCalls
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
		r.own.tight = true
	}
	for _, fn := range r.own.text.Funcs {
		if fn.Name != name {
			continue
		}
		b, err := r.own.body(fn, r.mach, &r.options)
		if err != nil {
			stop(err.What, err.Why)
		}
		for _, x := range b.f.Blocks {
			for _, in := range x.Insts {
				in.Line = 0 // of another file
			}
		}
		r.known[name] = b.f
	}
	return r.known[name]
}

// callRoutine makes an instruction a call of its routine, if it has one.
func (b *builder) callRoutine() bool {
	name := routineOf(b.inst)
	if name == "" || !b.repeats {
		return false
	}
	g := b.guard
	b.guard = ir.Guard{} // it is harmless, and in lanes of their own it would be a branch
	args := []ir.Arg{ir.D(b.f.NewValue(ir.GPR)), ir.D(b.f.NewValue(ir.GPR))}
	for i := range b.inst.Args[1:3] {
		for part := range 2 {
			args = append(args, ir.R(b.value(b.source(&b.inst.Args[1+i], b.typeOf(), part))))
		}
	}
	in := b.emit(routineName+"."+name, args...)
	in.Callee = name
	b.f.Routine(b.mod.routines.get(b.mod, name))
	b.guard = g
	for part, v := range in.Defs() {
		b.assign(&b.inst.Args[0], part, v)
	}
	return true
}

// callsRoutine reports whether an instruction calls a routine.
func callsRoutine(in *ir.Inst) bool { return strings.HasPrefix(in.Name, routineName) }

// named are the registers that a function names.
func named(f *ir.Func) (set registerSet, list []*ir.Value) {
	add := func(v *ir.Value) {
		if v != nil && (v.Class == ir.GPR || v.Class == ir.Pred) && !set.has(registerOf(v)) {
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
	results, sources := parts(in)
	used := x.into(firstArgument, sources, 0, nil, ir.Arg{})
	used = append(used, x.branch(in.Callee, returnRegister)...)
	c := x.out[len(x.out)-1]
	c.Hidden = hidden(used)
	_, list := named(x.f.RoutineOf(in.Callee))
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

// aside finds, by value, the registers of the routines that are called while the value is needed; nil if there are
// no routines. It stops where a routine needs more registers than there are.
func (a *allocator) aside(m *machine.Machine) []*registerSet {
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
