package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: calls. Arguments and results are in R4 and the registers after it, and R1 is the top of the
// stack, which a function leaves as it was. Functions of the machine return to the address in R20 and R21
// and leave all other registers alone (exec/sass); our own return to the one in R2 and R3 and may change all
// (routine.go has others).
// Up to the choice of registers a call is one instruction whose operands are any registers; then it becomes
// parallel copies to and from those, and what code after the call needs is kept in local memory.

const (
	stackRegister  = 1 // of functions and of what calls any; their R0 is for the moment
	reservedByCall = 2 // R0 and R1
	returnRegister = 2 // of our functions
	firstArgument  = 4
	machineReturn  = 20 // of the machine's functions
	machineReads   = 10 // registers that the core waits for at their calls, from the first argument on (exec/sass)
)

// mostPassed bounds the words of a call's parameters: our choice.
const mostPassed = 64

// machineFunctions are the functions that the machine provides, and their names there (exec/sass).
var machineFunctions = map[string]string{"vprintf": "vprintf", "malloc": "malloc", "free": "free", "__assertfail": "__assertfail", "__assert_fail": "__assertfail"}

// The instructions for calls before registers are chosen. The last source of all but the first is the stack
// pointer.
const (
	enterName    = "ENTER"         // the beginning of a function: its parameters, its return address, the stack
	leaveName    = "LEAVE"         // its end: results, return address, the stack
	callName     = "CALL"          // of a function: its parameters
	indirectName = "CALL.INDIRECT" // the parameters, an address
	machineName  = "CALL.MACHINE"  // the parameters, an address
)

// wordsOf is the number of words of a parameter.
func wordsOf(v *ptx.Var) int64 { return (max(1, v.Size()) + 3) / 4 }

// parameterSlots are the words of parameters, one after another.
func parameterSlots(list []*ptx.Var) (slots []slot) {
	for _, v := range list {
		if v.Type.Predicate() || v.Vec > 0 && v.Space == ptx.SpaceReg {
			stop("the parameter "+v.Name+" of a function", notYet)
		}
		for n := range wordsOf(v) {
			if v.Space == ptx.SpaceReg {
				slots = append(slots, slot{v: v, part: int8(n)})
			} else {
				slots = append(slots, word(v, n))
			}
		}
	}
	if len(slots) > mostPassed {
		stop("a function", fmt.Sprintf("with parameters of %d words, more than %d, %s", len(slots), mostPassed, notYet))
	}
	return slots
}

// actuals are the words of a call's operands; types are those of the parameters, nil for a function of the
// machine, whose parameters have 64 bits.
func (b *builder) actuals(list []ptx.Operand, types []*ptx.Var) (words []ir.Arg) {
	for i := range list {
		o, n := &list[i], int64(2)
		if types != nil {
			n = wordsOf(types[i])
		}
		for k := range n {
			switch {
			case o.Kind == ptx.OpSym && o.Var != nil && o.Var.Space == ptx.SpaceParam:
				if k >= wordsOf(o.Var) {
					words = append(words, ir.RZ())
				} else {
					words = append(words, b.passedWord(o.Var, k))
				}
			default:
				words = append(words, b.source(o, "b64", int(k)))
			}
		}
	}
	return words
}

// resultSlots are where the words of a call's result go.
func resultSlots(list []ptx.Operand) (slots []slot) {
	for i := range list {
		switch o := &list[i]; {
		case o.Kind == ptx.OpSym && o.Var != nil && o.Var.Space == ptx.SpaceParam:
			slots = append(slots, parameterSlots([]*ptx.Var{o.Var})...)
		case o.Kind == ptx.OpReg && o.Var.Vec == 0 && !o.Var.Type.Predicate():
			for n := range width(o.Var.Type) {
				slots = append(slots, slot{v: o.Var, index: o.Index, part: int8(n)})
			}
		default:
			stop("a result of a call", notYet)
		}
	}
	return slots
}

// call is a call of a function that the machine provides, of one that calls itself, or through a register.
func (b *builder) call() {
	c := callOf(b.inst)
	switch {
	case c.to == nil:
		stop(b.inst.FullName(), notYet)
	case c.to.Kind == ptx.OpReg:
		b.callThrough(c)
	case c.to.Func == nil:
		stop("a call of "+c.to.Name, notYet)
	case b.mod.definition(c.to.Func.Name) != nil:
		f := b.mod.definition(c.to.Func.Name)
		b.f.Callees = append(b.f.Callees, f.Name)
		if len(f.Params) != len(c.args) || len(f.Rets) != len(c.rets) {
			stop("a call of "+f.Name, "with another number of parameters "+notYet)
		}
		b.callBy(callName, f.Name, b.actuals(c.args, f.Params), nil, len(parameterSlots(f.Rets)), resultSlots(c.rets))
	default:
		if machineFunctions[c.to.Func.Name] == "" {
			stop("a call of "+c.to.Func.Name, "which the module does not define, "+notYet)
		}
		to := []ir.Arg{b.mod.provided(c.to.Func.Name, 0), b.mod.provided(c.to.Func.Name, 1)}
		b.callBy(machineName, "", b.actuals(c.args, nil), to, 2, resultSlots(c.rets))
	}
}

// callThrough is a call of the function whose address is in a register.
func (b *builder) callThrough(c call) {
	proto := (*ptx.Func)(nil)
	for i := range b.inst.Args {
		if o := &b.inst.Args[i]; o.Kind == ptx.OpTable {
			if proto = o.Func; o.Table != nil && len(o.Table.Funcs) > 0 {
				proto = o.Table.Funcs[0]
			}
		}
	}
	if proto == nil || len(proto.Params) != len(c.args) || len(proto.Rets) != len(c.rets) {
		stop(b.inst.FullName(), "through a register without a list of parameters "+notYet)
	}
	b.f.Indirect = true
	to := []ir.Arg{b.source(c.to, "u64", 0), b.source(c.to, "u64", 1)}
	b.callBy(indirectName, "", b.actuals(c.args, proto.Params), to, len(parameterSlots(proto.Rets)), resultSlots(c.rets))
}

// callBy emits a call: results are its results, as words, of which to some slots are given.
func (b *builder) callBy(name, callee string, words, to []ir.Arg, results int, slots []slot) {
	b.f.Reserved, b.f.CalleesWait = reservedByCall, b.mod.functionsWait()
	args := []ir.Arg{}
	var list []*ir.Value
	for range max(results, len(slots)) {
		v := b.f.NewValue(ir.GPR)
		list, args = append(list, v), append(args, ir.D(v))
	}
	args = append(append(append(args, words...), to...), ir.R(b.stack()))
	b.effect(name, args...).Callee = callee
	for i, s := range slots {
		b.set(s, list[i])
	}
}

// functionsWait reports whether a function of the module, which is no kernel, reads what other threads may
// write: by atomics, mbarriers, barriers, and loads with an order.
func (m *module) functionsWait() bool {
	for _, fn := range m.text.Funcs {
		if fn.Entry || fn.Proto || fn.Load() != nil {
			continue
		}
		for _, in := range fn.Code {
			switch in.Op {
			case "atom", "mbarrier", "bar", "barrier":
				return true
			case "ld":
				if sem := in.Sem(); sem != "" && sem != "weak" || in.CacheOp() == "cv" {
					return true
				}
			}
		}
	}
	return false
}

// enter begins a function.
func (b *builder) enter() {
	fn := b.fn
	b.f.Reserved = reservedByCall
	entry := b.f.Blocks[0]
	in := &ir.Inst{Name: enterName, Effect: true, Line: fn.Pos.Line}
	slots := parameterSlots(fn.Params)
	for _, s := range append(slots, b.back(0), b.back(1)) {
		v := b.f.NewValue(ir.GPR)
		in.Args = append(in.Args, ir.D(v))
		defer b.writeAt(entry, s, v)
	}
	b.top = b.f.NewValue(ir.GPR)
	in.Args = append(in.Args, ir.D(b.top))
	entry.Append(in)
	b.lay.sp = b.top
}

// back is where a part of a function's return address is.
func (b *builder) back(part int8) slot { return slot{v: b.returns, part: part} }

// leave ends a function.
func (b *builder) leave(end *ir.Block) {
	if len(end.Preds) == 0 {
		return // it never returns
	}
	b.cur, b.guard, b.from = end, ir.Guard{}, 0
	var args []ir.Arg
	for _, s := range append(parameterSlots(b.fn.Rets), b.back(0), b.back(1)) {
		args = append(args, ir.R(b.read(s)))
	}
	b.effect(leaveName, append(args, ir.R(b.top))...)
	end.Term = ir.Term{Flow: ir.Return, Line: b.inst.Pos.Line}
}

// provided is part n of the address of a function of the machine.
func (m *module) provided(name string, n int) ir.Arg {
	return m.place64(addressKey{fn: name}, sass.Address{To: sass.OfFunction, Function: machineFunctions[name]}, n)
}

// pointer is part n of the address of a function.
func (m *module) pointer(f *ptx.Func, n int) ir.Arg {
	d := m.definition(f.Name)
	if d == nil {
		stop("the address of "+f.Name, "which the module does not define, "+notYet)
	}
	return m.place64(addressKey{fn: f.Name}, sass.Address{To: sass.OfPointer, Function: d.Name}, n)
}

// stackOf is the stack pointer that a call, or the beginning or end of a function, names; nil in other instructions.
func stackOf(in *ir.Inst) *ir.Value {
	switch in.Name {
	case enterName, leaveName, callName, indirectName, machineName:
		return in.Args[len(in.Args)-1].Vals[0]
	}
	return nil
}

// wishes are, by value, the registers that calls pass it in, 0 if none does; nil in code without calls.
func wishes(f *ir.Func) []int {
	if f.Reserved == 0 && len(f.Routines) == 0 {
		return nil
	}
	list := make([]int, len(f.Values))
	put := func(args []ir.Arg, first int) {
		for i, a := range args {
			if len(a.Vals) == 1 && a.Vals[0] != nil {
				list[a.Vals[0].ID] = first + i
			}
		}
	}
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			results, sources := parts(in)
			switch {
			case in.Name == enterName:
				n := len(results) - 3
				put(results[:n], firstArgument)
				put(results[n:n+2], returnRegister)
			case in.Name == leaveName:
				n := len(sources) - 3
				put(sources[:n], firstArgument)
				put(sources[n:n+2], returnRegister)
			case in.Name == callName, in.Name == indirectName, in.Name == machineName:
				put(sources[:len(sources)-1], firstArgument)
				put(results, firstArgument)
			case callsRoutine(in):
				put(sources, firstArgument)
				put(results, firstArgument)
			}
		}
	}
	return list
}

// expander makes calls of their instructions, once registers are known.
type expander struct {
	f     *ir.Func
	at    int64 // where registers are kept, from the stack pointer on
	below int64 // bytes of the frame below the stack pointer
	bytes int64 // of those
	line  int32
	out   []*ir.Inst
}

// expandCalls makes the code of calls. Registers are kept in the frame from a place on; it returns how many
// bytes they take.
func expandCalls(f *ir.Func, at, below int64) int64 {
	if f.Reserved == 0 && len(f.Routines) == 0 {
		return 0
	}
	x := &expander{f: f, at: at, below: below}
	after := liveAfterCalls(f)
	scopes := openScopes(f)
	for _, b := range f.Blocks {
		list := b.Insts
		b.Insts = nil
		for _, in := range list {
			x.out, x.line = nil, in.Line
			switch {
			case in.Name == enterName:
				x.enter(in)
			case in.Name == leaveName:
				x.leave(in)
			case in.Name == callName, in.Name == indirectName, in.Name == machineName:
				x.call(in, after[in], scopes[in])
			case callsRoutine(in):
				x.routine(in)
			default:
				x.out = append(x.out, in)
			}
			b.Insts = append(b.Insts, x.out...)
		}
	}
	return x.bytes
}

// fixed is a register by its number.
func (x *expander) fixed(n int) *ir.Value {
	v := x.f.NewValue(ir.GPR)
	v.Reg = n
	return v
}

func (x *expander) emit(name string, args ...ir.Arg) *ir.Inst {
	in := &ir.Inst{Name: name, Args: args, Line: x.line, Effect: true}
	x.out = append(x.out, in)
	return in
}

// parts are the results and the sources of an instruction.
func parts(in *ir.Inst) (results, sources []ir.Arg) {
	for _, a := range in.Args {
		if a.Dst {
			results = append(results, a)
		} else {
			sources = append(sources, a)
		}
	}
	return results, sources
}

// into copies sources to registers from a number on, two at another one, and the stack pointer, if there is one.
func (x *expander) into(first int, words []ir.Arg, at int, pair []ir.Arg, sp ir.Arg) (used []*ir.Value) {
	c := &ir.Inst{Line: x.line}
	put := func(n int, a ir.Arg) {
		v := x.fixed(n)
		used = append(used, v)
		addCopy(c, v, a)
	}
	for i, a := range words {
		put(first+i, a)
	}
	for i, a := range pair {
		put(at+i, a)
	}
	if sp.Vals != nil {
		put(stackRegister, sp)
	}
	x.out = append(x.out, c)
	return used
}

// from copies registers from a number on to results.
func (x *expander) from(results []ir.Arg, first int) {
	c := &ir.Inst{Line: x.line}
	for i, r := range results {
		if v := r.Vals[0]; v != nil && v.Reg >= 0 {
			addCopy(c, v, ir.R(x.fixed(first+i)))
		}
	}
	if len(c.Args) > 0 {
		x.out = append(x.out, c)
	}
}

func (x *expander) enter(in *ir.Inst) {
	results, _ := parts(in)
	n := len(results) - 3
	c := &ir.Inst{Line: x.line}
	for i, r := range results {
		from := firstArgument + i
		switch {
		case i == n+2:
			from = stackRegister
		case i >= n:
			from = returnRegister + i - n
		}
		if v := r.Vals[0]; v != nil && v.Reg >= 0 {
			addCopy(c, v, ir.R(x.fixed(from)))
		}
	}
	x.out = append(x.out, c)
}

func (x *expander) leave(in *ir.Inst) {
	_, sources := parts(in)
	n := len(sources) - 3
	used := x.into(firstArgument, sources[:n], returnRegister, sources[n:n+2], sources[n+2])
	x.emit("RET.REL.NODEC", ir.R(used[n], used[n+1]), ir.T("0x0")).Hidden = hidden(used)
}

// hidden are registers that an instruction reads without naming them.
func hidden(list []*ir.Value) (out []ir.Arg) {
	for _, v := range list {
		out = append(out, ir.R(v))
	}
	return out
}

// call makes the code of a call after which some registers are needed, within scopes.
func (x *expander) call(in *ir.Inst, after registerSet, scopes []string) {
	results, sources := parts(in)
	n := len(sources) - 1
	sp := sources[n]
	machine := in.Name == machineName
	var pair []ir.Arg
	if in.Name != callName {
		n -= 2
		pair = sources[n : n+2]
	}
	keep := x.keep(in, results, after, n)
	if machine {
		scopes = nil
	}
	save := saved{ir.Arg{Kind: ir.Mem, Vals: sp.Vals, Imm: x.at}, keep, scopes}
	save.store(x)
	x.bytes = max(x.bytes, 4*int64(len(keep)+len(scopes)))
	to := (firstArgument + n + 1) &^ 1
	back := returnRegister
	if machine {
		to, back = returnRegister, machineReturn
	}
	used := x.into(firstArgument, sources[:n], to, pair, sp)
	if x.below > 0 {
		x.emit("IADD3", ir.D(x.fixed(stackRegister)), ir.R(x.fixed(stackRegister)), ir.I(uint32(-x.below)), ir.RZ())
	}
	var address []ir.Arg
	if in.Name != callName {
		address = []ir.Arg{ir.R(used[n], used[n+1])}
	}
	used = append(used, x.branch(in.Callee, back, address...)...)
	c := x.out[len(x.out)-1]
	c.Hidden = hidden(used)
	if machine {
		for k := range machineReads { // whatever it is called with
			c.Hidden = append(c.Hidden, ir.R(x.fixed(firstArgument+k)))
		}
		for k := range 2 {
			c.Hidden = append(c.Hidden, ir.D(x.fixed(firstArgument+k)))
		}
	}
	x.from(results, firstArgument)
	if stack := x.fixed(stackRegister); !same(stack, sp.Vals[0]) {
		save.base.Vals, save.base.Imm = []*ir.Value{stack}, save.base.Imm+x.below
	} else if x.below > 0 {
		x.emit("IADD3", ir.D(stack), ir.R(stack), ir.I(uint32(x.below)), ir.RZ())
	}
	save.load(x)
}

// branch goes to a function, or to an address, with the return address in two registers.
func (x *expander) branch(callee string, back int, address ...ir.Arg) []*ir.Value {
	lo, hi := x.fixed(back), x.fixed(back+1)
	low := x.emit("MOV", ir.D(lo), ir.I(0))
	x.emit("MOV", ir.D(hi), ir.RZ())
	name := "CALL.REL.NOINC"
	if len(address) > 0 {
		name = "CALL.ABS.NOINC"
	}
	c := x.emit(name, address...)
	c.Callee, low.Return = callee, c
	return []*ir.Value{lo, hi}
}

// saved are registers and scopes that a call overwrites, each in a word of the stack from an address on.
type saved struct {
	base      ir.Arg
	registers []*ir.Value
	scopes    []string
}

// place is word i.
func (s *saved) place(i int) ir.Arg {
	m := s.base
	m.Vals, m.Imm = slices.Clone(m.Vals), m.Imm+4*int64(i)
	return m
}

// store puts them there.
func (s *saved) store(x *expander) {
	zero := x.fixed(0)
	for i, v := range s.registers {
		if v.Class == ir.Pred {
			x.emit("SEL", ir.D(zero), ir.RZ(), ir.I(1), ir.Pr(v, true))
			x.emit("STL", s.place(i), ir.R(zero))
		} else {
			x.emit("STL", s.place(i), ir.R(v))
		}
	}
	for i, t := range s.scopes {
		x.emit("BMOV.32", ir.D(zero), ir.T(t))
		x.emit("STL", s.place(len(s.registers)+i), ir.R(zero))
	}
}

// load brings them back.
func (s *saved) load(x *expander) {
	zero := x.fixed(0)
	for i, v := range s.registers {
		if v.Class == ir.Pred {
			x.emit("LDL", ir.D(zero), s.place(i))
			x.emit("ISETP.NE.AND", ir.DP(v), ir.DP(nil), ir.R(zero), ir.RZ(), ir.Pr(nil, false))
		} else {
			x.emit("LDL", ir.D(v), s.place(i))
		}
	}
	for i, t := range s.scopes {
		x.emit("LDL", ir.D(zero), s.place(len(s.registers)+i))
		x.emit("BMOV.32", ir.T(t), ir.R(zero))
	}
}

// keep are the registers that a call overwrites and that code after it needs.
func (x *expander) keep(in *ir.Inst, results []ir.Arg, after registerSet, words int) (list []*ir.Value) {
	made := map[int]bool{}
	for _, r := range results {
		if v := r.Vals[0]; v != nil {
			made[v.Reg] = true
		}
	}
	for r := register(reservedByCall); r < 256; r++ {
		over := in.Name != machineName || r < firstArgument+register(max(words, 2)) || r == machineReturn || r == machineReturn+1
		if after.has(r) && !made[int(r)] && over {
			list = append(list, x.fixed(int(r)))
		}
	}
	for p := range 7 {
		if in.Name != machineName && after.has(predicates+register(p)) {
			v := x.f.NewValue(ir.Pred)
			v.Reg = p
			list = append(list, v)
		}
	}
	return list
}

// liveAfterCalls finds the registers that code after each call needs.
func liveAfterCalls(f *ir.Func) map[*ir.Inst]registerSet {
	begin := make([]registerSet, len(f.Blocks))
	found := map[*ir.Inst]registerSet{}
	for again := true; again; {
		again = false
		for i := len(f.Blocks) - 1; i >= 0; i-- {
			b := f.Blocks[i]
			var live registerSet
			for _, s := range b.Succs() {
				live.include(&begin[s.ID])
			}
			if c := b.Term.Cond; c != nil {
				live.add(registerOf(c))
			}
			for k := len(b.Insts) - 1; k >= 0; k-- {
				in := b.Insts[k]
				if strings.HasPrefix(in.Name, callName) {
					found[in] = live
				}
				if in.Guard.Val == nil {
					in.EachDef(func(v *ir.Value) {
						if v.Reg >= 0 {
							r := registerOf(v)
							live[r/64] &^= 1 << (r % 64)
						}
					})
				}
				in.Uses(func(v **ir.Value) {
					if (*v).Reg >= 0 {
						live.add(registerOf(*v))
					}
				})
			}
			again = begin[i].include(&live) || again
		}
	}
	return found
}

// openScopes finds the convergence registers in use at each call.
func openScopes(f *ir.Func) map[*ir.Inst][]string {
	found := map[*ir.Inst][]string{}
	open := make([][]string, len(f.Blocks))
	seen := make([]bool, len(f.Blocks))
	queue := []*ir.Block{f.Blocks[0]}
	seen[0] = true
	for len(queue) > 0 {
		b := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		list := open[b.ID]
		for _, in := range b.Insts {
			switch {
			case in.Name == "BSSY":
				list = append(list[:len(list):len(list)], in.Args[0].Text)
			case in.Name == "BSYNC":
				list = without1(list, in.Args[0].Text)
			case strings.HasPrefix(in.Name, callName):
				found[in] = list
			}
		}
		for _, s := range b.Succs() {
			if !seen[s.ID] {
				seen[s.ID], open[s.ID] = true, list
				queue = append(queue, s)
			}
		}
	}
	return found
}

// without1 is a list without one of its entries.
func without1(list []string, x string) (out []string) {
	for _, s := range list {
		if s != x {
			out = append(out, s)
		}
	}
	return out
}

// roomForCalls are the registers that a kernel needs if its functions stay functions, 0 if they do not: for the
// parameters, and for what is needed with them.
func (m *module) roomForCalls(fn *ptx.Func) int {
	words, stay := int64(0), false
	count := func(list []*ptx.Var) (n int64) {
		for _, v := range list {
			n += wordsOf(v)
		}
		return n
	}
	for _, in := range fn.Code {
		if in.Op != "call" {
			continue
		}
		if c := callOf(in); c.to != nil && (c.to.Kind == ptx.OpReg || c.to.Func != nil && m.definition(c.to.Func.Name) != nil) {
			stay = true
		}
	}
	if !stay {
		return 0
	}
	for _, f := range m.text.Funcs {
		if !f.Entry {
			words = max(words, count(f.Params), count(f.Rets))
		}
	}
	return int(min(words, mostPassed)) + firstArgument + fewest
}

// pointers are the functions of the module whose addresses its code takes, or its variables begin with.
func (m *module) pointers() (list []string) {
	add := func(name string) {
		if m.definition(name) != nil && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	for _, name := range m.taken {
		add(name)
	}
	for i := range m.file.Addresses {
		if a := &m.file.Addresses[i]; a.To == sass.OfPointer {
			add(a.Function)
		}
	}
	return list
}

// hasPointers reports whether the module takes addresses of functions, or calls through some. It notes which.
func (m *module) hasPointers() bool {
	seen := map[string]bool{}
	through := false
	var walk func(list []ptx.Operand)
	walk = func(list []ptx.Operand) {
		for i := range list {
			o := &list[i]
			if o.Kind == ptx.OpSym && o.Func != nil && !seen[o.Func.Name] {
				seen[o.Func.Name] = true
				m.taken = append(m.taken, o.Func.Name)
			}
			walk(o.List)
		}
	}
	for _, f := range m.text.Funcs {
		if f.Proto || f.Load() != nil { // one that cannot be read is refused where it is called
			continue
		}
		for _, in := range f.Code {
			if in.Op != "call" {
				walk(in.Args)
				continue
			}
			c := callOf(in)
			through = through || c.to != nil && c.to.Kind == ptx.OpReg
			m.passed = m.passed || slices.ContainsFunc(c.args, func(o ptx.Operand) bool { return o.Func != nil })
		}
	}
	return through || len(m.pointers()) > 0
}
