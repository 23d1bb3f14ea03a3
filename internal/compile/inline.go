package compile

import (
	"fmt"
	"slices"
	"sync"

	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: the bodies of functions in place of calls of them, and branches in place of those by a table, in PTX.
// Parameters that are variables of .param space become one variable of caller and callee. What stays are calls of
// functions that call themselves, calls through registers, and those of functions that the machine provides; none has
// a guard.

// mostInlined bounds the instructions of a kernel with the functions in it: our choice.
const mostInlined = 100_000

// definition is the function of the module that a prototype or a call names, nil if there is none.
func (m *module) definition(name string) *ptx.Func {
	for _, f := range m.text.Funcs {
		if f.Name == name && !f.Proto && !f.Entry {
			return f
		}
	}
	return nil
}

// call is a call with its operands.
type call struct {
	to         *ptx.Operand
	rets, args []ptx.Operand
}

// callOf takes a call apart.
func callOf(in *ptx.Inst) (c call) {
	for i := range in.Args {
		switch a := &in.Args[i]; {
		case a.Kind == ptx.OpList && c.to == nil:
			c.rets = a.List
		case a.Kind == ptx.OpList:
			c.args = a.List
		case c.to == nil:
			c.to = a
		}
	}
	return c
}

// inlined is a function with the functions that it calls in its own code and without branches by tables, itself if it
// has neither.
func (m *module) inlined(fn *ptx.Func) *ptx.Func {
	if fn.Entry && !slices.ContainsFunc(fn.Code, func(in *ptx.Inst) bool { return in.Op == "call" || in.Op == "brx" }) {
		return fn
	}
	x := &inliner{m: m}
	x.body(fn, nil)
	out := *fn
	out.Code = x.code
	return &out
}

// inliner makes the code of a function.
type inliner struct {
	m     *module
	code  []*ptx.Inst
	stack []*ptx.Func // functions whose bodies are being put in, the outermost first
}

// body appends the code of a function, with other variables in place of some.
func (x *inliner) body(fn *ptx.Func, vars map[*ptx.Var]*ptx.Var) {
	x.stack = append(x.stack, fn)
	at := make([]int, len(fn.Code)+1)
	var branches []int
	for pc, in := range fn.Code {
		if at[pc] = len(x.code); len(x.code) > mostInlined {
			stop("a kernel", fmt.Sprintf("with more than %d instructions in place of its calls and tables, which %s", mostInlined, notYet))
		}
		inner := len(x.stack) > 1 || !fn.Entry
		switch {
		case in.Op == "call":
			x.call(x.copy(in, vars))
		case in.Op == "ret" && inner:
			if in.Guard != nil || pc < len(fn.Code)-1 {
				branches = append(branches, len(x.code))
				r := x.copy(in, vars)
				r.Op, r.Mods, r.Args = "bra", nil, []ptx.Operand{{Kind: ptx.OpLabel, Target: len(fn.Code)}}
				x.code = append(x.code, r)
			}
		case in.Op == "bra":
			branches = append(branches, len(x.code))
			x.code = append(x.code, x.copy(in, vars))
		case in.Op == "brx" && in.Bad == nil:
			branches = append(branches, x.table(x.copy(in, vars))...)
		default:
			x.code = append(x.code, x.copy(in, vars))
		}
	}
	at[len(fn.Code)] = len(x.code)
	for _, n := range branches {
		a := x.code[n].Args
		a[0].Target = at[a[0].Target]
	}
	x.stack = x.stack[:len(x.stack)-1]
}

// table appends branches that do what one by a table does, halving the table; it returns the places of those to its
// targets. An index beyond the table, which has no meaning, is taken for the last one.
func (x *inliner) table(in *ptx.Inst) (leave []int) {
	branch := func(guard *ptx.Guard, target int) {
		b := &ptx.Inst{Pos: in.Pos, Loc: in.Loc, Guard: guard, Op: "bra", Args: []ptx.Operand{{Kind: ptx.OpLabel, Target: target}}}
		if in.Has("uni") {
			b.Mods = []string{"uni"}
		}
		x.code = append(x.code, b)
	}
	around := -1
	if in.Guard != nil {
		g := *in.Guard
		g.Neg = !g.Neg
		around = len(x.code)
		branch(&g, 0)
	}
	var choose func(targets []int, first int)
	choose = func(targets []int, first int) {
		if !slices.ContainsFunc(targets, func(t int) bool { return t != targets[0] }) {
			leave = append(leave, len(x.code))
			branch(nil, targets[0])
			return
		}
		half := len(targets) / 2
		low := operandOf(&ptx.Var{Name: "(low)", Space: ptx.SpaceReg, Type: "pred"})
		bound := ptx.Operand{Kind: ptx.OpImm, Imm: ptx.Imm{Bits: uint64(first + half)}}
		x.code = append(x.code, &ptx.Inst{Pos: in.Pos, Loc: in.Loc, Op: "setp", Mods: []string{"lt", "u32"}, Args: []ptx.Operand{low, in.Args[0], bound}})
		to := len(x.code)
		branch(&ptx.Guard{Reg: low}, 0)
		choose(targets[half:], first+half)
		x.code[to].Args[0].Target = len(x.code)
		choose(targets[:half], first)
	}
	choose(in.Args[1].Table.Targets, 0)
	if around >= 0 {
		x.code[around].Args[0].Target = len(x.code)
	}
	return leave
}

// copy is an instruction with other variables.
func (x *inliner) copy(in *ptx.Inst, vars map[*ptx.Var]*ptx.Var) *ptx.Inst {
	c := *in
	c.Args = renamed(in.Args, vars)
	if in.Guard != nil {
		g := *in.Guard
		g.Reg = renamed([]ptx.Operand{g.Reg}, vars)[0]
		c.Guard = &g
	}
	return &c
}

func renamed(list []ptx.Operand, vars map[*ptx.Var]*ptx.Var) []ptx.Operand {
	out := slices.Clone(list)
	for i := range out {
		if v := vars[out[i].Var]; v != nil {
			out[i].Var = v
		}
		out[i].List = renamed(out[i].List, vars)
	}
	return out
}

// call appends a call, or the body of what it calls.
func (x *inliner) call(in *ptx.Inst) {
	guard := in.Guard
	skip := -1
	if guard != nil { // lanes that do not call go around it
		in.Guard = nil
		skip = len(x.code)
		g := *guard
		g.Neg = !g.Neg
		x.code = append(x.code, &ptx.Inst{Pos: in.Pos, Loc: in.Loc, Guard: &g, Op: "bra", Args: []ptx.Operand{{Kind: ptx.OpLabel}}})
	}
	c := callOf(in)
	var f *ptx.Func
	if c.to != nil && c.to.Func != nil {
		f = x.m.definition(c.to.Func.Name)
	}
	if f == nil || x.m.calledByItself(f) {
		x.code = append(x.code, in)
	} else {
		x.inline(in, c, f)
	}
	if skip >= 0 {
		x.code[skip].Args[0].Target = len(x.code)
	}
}

// inline appends the body of a function, and what passes its parameters.
func (x *inliner) inline(in *ptx.Inst, c call, f *ptx.Func) {
	if len(f.Params) != len(c.args) || len(f.Rets) != len(c.rets) {
		stop("a call of "+f.Name, "with another number of parameters "+notYet)
	}
	vars := map[*ptx.Var]*ptx.Var{}
	fresh := func(v *ptx.Var) *ptx.Var {
		n := *v
		vars[v] = &n
		return &n
	}
	for _, v := range f.Vars {
		if v.Space == ptx.SpaceReg || v.Space == ptx.SpaceLocal || v.Space == ptx.SpaceParam {
			fresh(v)
		}
	}
	pass := func(formal *ptx.Var, actual *ptx.Operand) (v *ptx.Var, moves bool) {
		if formal.Space == ptx.SpaceParam && actual.Kind == ptx.OpSym && actual.Var != nil && actual.Var.Space == ptx.SpaceParam && actual.Imm.Bits == 0 {
			vars[formal] = actual.Var
			return actual.Var, false
		}
		return fresh(formal), true
	}
	for i, p := range f.Params {
		if v, moves := pass(p, &c.args[i]); moves {
			x.code = append(x.code, passing(in, operandOf(v), c.args[i], v)...)
		}
	}
	var after []*ptx.Inst
	for i, p := range f.Rets {
		if a := c.rets[i].Var; a != nil && slices.ContainsFunc(c.args, func(o ptx.Operand) bool { return o.Kind == ptx.OpSym && o.Var == a }) {
			own := *a // the body may read the argument after it has written the result
			c.rets[i].Var = &own
			after = append(after, variableCopy(in, a, &own)...)
		}
		if v, moves := pass(p, &c.rets[i]); moves && c.rets[i].Kind != ptx.OpSink {
			after = append(after, passing(in, c.rets[i], operandOf(v), v)...)
		}
	}
	x.body(f, vars)
	x.code = append(x.code, after...)
}

// operandOf is the operand that names a variable: a register, or one in .param space.
func operandOf(v *ptx.Var) ptx.Operand {
	if v.Space == ptx.SpaceReg {
		return ptx.Operand{Kind: ptx.OpReg, Name: v.Name, Var: v}
	}
	return ptx.Operand{Kind: ptx.OpSym, Name: v.Name, Var: v}
}

// variableCopy are instructions that copy a variable of .param space to another of its size.
func variableCopy(in *ptx.Inst, d, s *ptx.Var) (list []*ptx.Inst) {
	for at := int64(0); at < s.Size(); {
		n, t := int64(1), ptx.Type("b8")
		if at+4 <= s.Size() {
			n, t = 4, "b32"
		}
		reg := operandOf(&ptx.Var{Name: "(copy)", Space: ptx.SpaceReg, Type: "b32"})
		addr := func(v *ptx.Var) ptx.Operand {
			return ptx.Operand{Kind: ptx.OpAddr, List: []ptx.Operand{operandOf(v)}, Offset: at}
		}
		mods := []string{"param", string(t)}
		list = append(list, &ptx.Inst{Pos: in.Pos, Loc: in.Loc, Op: "ld", Mods: mods, Args: []ptx.Operand{reg, addr(s)}},
			&ptx.Inst{Pos: in.Pos, Loc: in.Loc, Op: "st", Mods: mods, Args: []ptx.Operand{addr(d), reg}})
		at += n
	}
	return list
}

// passing are instructions that give a parameter's value to another of its type, or to a register.
func passing(in *ptx.Inst, d, s ptx.Operand, v *ptx.Var) []*ptx.Inst {
	if x, y := vectorOf(&d), vectorOf(&s); x.Kind == ptx.OpVec && y.Kind == ptx.OpVec && len(x.List) == len(y.List) {
		one := *v
		one.Vec = 0
		var list []*ptx.Inst
		for i := range x.List {
			list = append(list, passing(in, x.List[i], y.List[i], &one)...)
		}
		return list
	}
	if v.Vec > 0 || len(v.Dims) > 0 {
		stop("a call", "that passes "+v.Name+" in a register "+notYet)
	}
	out := &ptx.Inst{Pos: in.Pos, Loc: in.Loc, Op: "mov", Mods: []string{string(v.Type)}}
	addr := func(o ptx.Operand) ptx.Operand { return ptx.Operand{Kind: ptx.OpAddr, List: []ptx.Operand{o}} }
	switch inMemory := func(o *ptx.Operand) bool { return o.Kind == ptx.OpSym && o.Var != nil && o.Var.Space == ptx.SpaceParam }; {
	case inMemory(&d):
		d, out.Op, out.Mods = addr(d), "st", []string{"param", string(v.Type)}
	case inMemory(&s):
		s, out.Op, out.Mods = addr(s), "ld", []string{"param", string(v.Type)}
	}
	out.Args = []ptx.Operand{d, s}
	return []*ptx.Inst{out}
}

// calledByItself reports whether a function calls itself, or another one that does so by it.
func (m *module) calledByItself(f *ptx.Func) bool {
	c := m.circles
	c.mu.Lock()
	defer c.mu.Unlock()
	known, done := c.of[f]
	if !done {
		known = m.reaches(f, f, map[*ptx.Func]bool{})
		c.of[f] = known
	}
	return known
}

// circles are functions that kernels have asked about, and whether they call themselves.
type circles struct {
	mu sync.Mutex
	of map[*ptx.Func]bool
}

// reaches reports whether a function calls another one, by others or not.
func (m *module) reaches(from, to *ptx.Func, seen map[*ptx.Func]bool) bool {
	if seen[from] {
		return false
	}
	seen[from] = true
	if err := from.Load(); err != nil {
		stop("the function "+from.Name, err.Error())
	}
	for _, in := range from.Code {
		if in.Op != "call" {
			continue
		}
		if c := callOf(in); c.to != nil && c.to.Func != nil {
			if g := m.definition(c.to.Func.Name); g != nil && (g == to || m.reaches(g, to, seen)) {
				return true
			}
		}
	}
	return false
}
