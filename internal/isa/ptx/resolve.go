package ptx

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// entry is the meaning of a name in a scope.
type entry struct {
	pos   Pos
	v     *Var
	fn    *Func // a function, or a .callprototype if proto is set
	proto bool
	table *Table
	label *labelEntry
}

// labelEntry is a label and, once its position has been reached, its target.
type labelEntry struct {
	name  string
	index int
}

// scope holds the names of a block, or of the module.
type scope struct {
	parent   *scope
	names    map[string]entry
	families map[string]*Var // parameterised declarations by the name before <n>
	lengths  uint64          // those of the names of families, as bits; 63 stands for longer ones, too
	numbered map[string]numbered
}

// numbered is the smallest number after a prefix among single names, to find
// clashes with parameterised declarations that follow.
type numbered struct {
	n   int
	pos Pos
}

// resolver resolves all names and flattens functions.
type resolver struct {
	mod     *Module
	errs    ErrorList
	top     *scope
	tainted map[string]bool

	fn       *Func
	cur      *scope
	depth    int // of blocks; 1 is the function's own
	loc      *Loc
	fixups   []fixup
	tables   []tableFixup
	suffix   map[string]int  // last suffix given to a reused name
	reported map[string]bool // unknown names already reported in this function
	faulty   bool            // the current instruction has an error
	looked   int             // names compared for hints
}

func (r *resolver) errorAt(pos Pos, msg, hint string) {
	r.faulty = true
	if len(r.errs) <= 4*maxErrors {
		r.errs = append(r.errs, &Error{Pos: pos, Msg: msg, Hint: hint})
	}
}

func newScope(parent *scope) *scope { return &scope{parent: parent, names: map[string]entry{}} }

// splitNumber calls f with every way to read name as a prefix and a number
// without leading zeros, longest number last, until f returns true.
func splitNumber(name string, f func(prefix string, n int) bool) {
	for i := len(name) - 1; i > 0 && name[i] >= '0' && name[i] <= '9' && len(name)-i <= 9; i-- {
		if name[i] == '0' && i < len(name)-1 {
			continue
		}
		n, _ := strconv.Atoi(name[i:])
		if f(name[:i], n) {
			return
		}
	}
}

// member finds the parameterised declaration of this scope that declares name.
// tooFar is one whose count is too small for it.
func (s *scope) member(name string) (v *Var, index int, tooFar *Var) {
	if len(s.families) == 0 {
		return nil, 0, nil
	}
	splitNumber(name, func(prefix string, n int) bool {
		if s.lengths>>min(len(prefix), 63)&1 == 0 {
			return false
		}
		f := s.families[prefix]
		if f == nil {
			return false
		}
		if n >= f.Count {
			tooFar = f
			return false
		}
		v, index = f, n
		return true
	})
	return v, index, tooFar
}

// find looks up a name from scope s outwards.
func (s *scope) find(name string) (e entry, index int, tooFar *Var, ok bool) {
	for ; s != nil; s = s.parent {
		if e, ok := s.names[name]; ok {
			return e, 0, nil, true
		}
		v, i, far := s.member(name)
		if v != nil {
			return entry{pos: v.Pos, v: v}, i, nil, true
		}
		if tooFar == nil {
			tooFar = far
		}
	}
	return entry{}, 0, tooFar, false
}

func inLine(pos Pos) string { return "in line " + strconv.Itoa(int(pos.Line)) }

// declare enters a name into a scope and reports duplicates.
func (r *resolver) declare(s *scope, name string, e entry) bool {
	old, exists := s.names[name]
	if !exists {
		if v, _, _ := s.member(name); v != nil {
			old, exists = entry{pos: v.Pos, v: v}, true
		}
	}
	if exists {
		r.errorAt(e.pos, "duplicate name "+clip(name), "first declared "+inLine(old.pos))
		return false
	}
	s.names[name] = e
	splitNumber(name, func(prefix string, n int) bool {
		if old, ok := s.numbered[prefix]; !ok || n < old.n {
			if s.numbered == nil {
				s.numbered = map[string]numbered{}
			}
			s.numbered[prefix] = numbered{n, e.pos}
		}
		return false
	})
	return true
}

// declareVar enters a variable, or all names of a parameterised one.
func (r *resolver) declareVar(s *scope, v *Var) {
	if v.Name == "_" {
		return
	}
	if strings.HasPrefix(v.Name, "%") && v.Count == 0 {
		if _, ok := lookupSpecial(v.Name); ok && v.Space == SpaceSreg {
			return // old files declare special registers; the names keep their usual meaning
		} else if ok {
			r.errorAt(v.Pos, v.Name+" is a special register", "choose another name")
			return
		}
	}
	if v.Count == 0 {
		r.declare(s, v.Name, entry{pos: v.Pos, v: v})
		return
	}
	if old := s.families[v.Name]; old != nil {
		r.errorAt(v.Pos, "duplicate name "+clip(v.Name)+"0", "first declared "+inLine(old.Pos))
		return
	}
	if old, ok := s.numbered[v.Name]; ok && old.n < v.Count {
		r.errorAt(v.Pos, "duplicate name "+clip(v.Name)+strconv.Itoa(old.n), "first declared "+inLine(old.pos))
		return
	}
	if s.families == nil {
		s.families = map[string]*Var{}
	}
	s.families[v.Name] = v
	s.lengths |= 1 << min(len(v.Name), 63)
}

// module resolves everything.
func (r *resolver) module() {
	r.top = newScope(nil)
	r.cur = r.top
	for _, v := range r.mod.Vars {
		r.moduleVar(v)
	}
	for _, f := range r.mod.Funcs {
		r.moduleFunc(f)
	}
	for _, a := range r.mod.Aliases {
		r.alias(a)
	}
	for _, v := range r.mod.Vars {
		r.variable(v)
	}
	for _, f := range r.mod.Funcs {
		r.function(f)
	}
}

// moduleVar enters a module variable. An .extern declaration may accompany other
// declarations of the same name; a definition wins.
func (r *resolver) moduleVar(v *Var) {
	if old, ok := r.top.names[v.Name]; ok && old.v != nil && v.Count == 0 {
		switch {
		case v.Linkage == Extern:
			return
		case old.v.Linkage == Extern:
			r.top.names[v.Name] = entry{pos: v.Pos, v: v}
			return
		}
	}
	r.declareVar(r.top, v)
}

// moduleFunc enters a function. Any number of prototypes may accompany one
// definition, which wins.
func (r *resolver) moduleFunc(f *Func) {
	old, ok := r.top.names[f.Name]
	if !ok || old.fn == nil {
		r.declare(r.top, f.Name, entry{pos: f.Pos, fn: f})
		return
	}
	switch {
	case !old.fn.Proto && !f.Proto:
		r.errorAt(f.Pos, "second definition of "+clip(f.Name), "the first one is "+inLine(old.pos))
		return
	case old.fn.Entry != f.Entry:
		r.errorAt(f.Pos, clip(f.Name)+" is declared both as .entry and as .func", "the other declaration is "+inLine(old.pos))
		return
	}
	if what := signatureDiff(old.fn, f); what != "" {
		r.errorAt(f.Pos, "declarations of "+clip(f.Name)+" differ in their "+what, "the other declaration is "+inLine(old.pos))
	}
	if old.fn.Proto {
		r.top.names[f.Name] = entry{pos: f.Pos, fn: f}
	}
}

// signatureDiff names the difference between two declarations of a function.
func signatureDiff(a, b *Func) string {
	same := func(x, y *Var) bool {
		return x.Space == y.Space && x.Type.Bits() == y.Type.Bits() && x.Vec == y.Vec && slices.Equal(x.Dims, y.Dims)
	}
	switch {
	case a.Variadic || b.Variadic:
		return ""
	case !slices.EqualFunc(a.Rets, b.Rets, same):
		return "return values"
	case !slices.EqualFunc(a.Params, b.Params, same):
		return "parameters"
	}
	return ""
}

func (r *resolver) alias(a *Alias) {
	e, ok := r.top.names[a.Target]
	if !ok || e.fn == nil {
		if !r.tainted[a.Target] {
			r.errorAt(a.Pos, "unknown function "+clip(a.Target), r.suggest(a.Target, func(e entry) bool { return e.fn != nil }))
		}
		return
	}
	if old, ok := r.top.names[a.Name]; ok && old.fn != nil && old.fn.Proto { // its prototype
		r.top.names[a.Name] = e
		return
	}
	r.declare(r.top, a.Name, entry{pos: a.Pos, fn: e.fn})
}

// variable checks a variable and the symbols of its initialiser.
func (r *resolver) variable(v *Var) {
	if slices.Contains(v.Dims, -1) && v.Init == nil && v.Linkage != Extern && !r.tainted[v.Name] {
		r.errorAt(v.Pos, "array "+clip(v.Name)+" without a size", "write its size, initialise it, or declare it .extern")
	}
	if v.Init == nil {
		return
	}
	r.faulty = false
	if r.initSymbols(v, v.Init); r.faulty {
		return
	}
	if len(v.Dims) == 0 && v.Vec == 0 && v.Init.List != nil && !v.Type.Opaque() {
		r.errorAt(v.Init.Pos, "list of values for the scalar "+clip(v.Name), "omit the braces or declare an array")
		return
	}
	if len(v.Dims) > 0 && v.Init.List == nil {
		r.errorAt(v.Init.Pos, "single value for the array "+clip(v.Name), "put the values in braces")
		return
	}
	if have, room := countValues(v.Init), elements(v); room >= 0 && have > room {
		r.errorAt(v.Init.Pos, "too many values for "+clip(v.Name), strconv.FormatInt(have, 10)+" values for "+strconv.FormatInt(room, 10)+" elements")
	}
}

func countValues(in *Init) int64 {
	if in.List == nil {
		return 1
	}
	var n int64
	for _, e := range in.List {
		n += countValues(e)
	}
	return n
}

// elements returns the number of scalars in a variable, -1 if its size is given by
// its initialiser or it is opaque.
func elements(v *Var) int64 {
	if v.Type.Opaque() || slices.Contains(v.Dims, -1) {
		return -1
	}
	n := int64(max(1, v.Vec))
	for _, d := range v.Dims {
		if d > 0 && n > maxVarSize/d {
			return maxVarSize
		}
		n *= d
	}
	return n
}

func (r *resolver) initSymbols(v *Var, in *Init) {
	for _, e := range in.List {
		r.initSymbols(v, e)
	}
	x := in.Expr
	if x == nil {
		return
	}
	if (x.Entry != nil) != v.Type.Opaque() {
		if x.Entry != nil {
			r.errorAt(x.Pos, "field "+clip(x.Entry.Name)+" in a variable that is not a texture, sampler or surface", "")
		} else {
			r.errorAt(x.Pos, "value in a texture, sampler or surface", "write fields, for example filter_mode = linear")
		}
		return
	}
	if x.Sym == "" {
		return
	}
	e, _, _, ok := r.cur.find(x.Sym)
	x.Var = e.v
	switch {
	case !ok || e.v == nil && e.fn == nil:
		if !r.tainted[x.Sym] {
			r.errorAt(x.Pos, "unknown name "+clip(x.Sym), r.suggest(x.Sym, func(e entry) bool { return e.v != nil || e.fn != nil }))
		}
	case e.v != nil && e.v.Space == SpaceReg:
		r.errorAt(x.Pos, "register "+clip(x.Sym)+" in an initialiser", "only addresses of variables and functions are known before the program runs")
	case x.Mask == 0 && v.Type.Bits() != 32 && v.Type.Bits() != 64:
		r.errorAt(x.Pos, "address in a variable of type ."+string(v.Type), "an address takes 32 or 64 bits; single bytes are written 0xFF("+clip(x.Sym)+")")
	}
}

// maxLooked bounds the names that are compared for hints in the whole file.
const maxLooked = 1 << 19

// suggest is the hint for an unknown name: the nearest visible one that pick
// accepts, or one of others.
func (r *resolver) suggest(name string, pick func(entry) bool, others ...string) string {
	if r.looked > maxLooked {
		return ""
	}
	for s := r.cur; s != nil; s = s.parent {
		r.looked += len(s.names) + len(s.families)
	}
	return didYouMean(name, append(r.visible(pick), others...))
}

// visible lists the names in scope that f accepts, nearest scope first.
func (r *resolver) visible(f func(entry) bool) []string {
	var out []string
	for s := r.cur; s != nil; s = s.parent {
		n := len(out)
		for name, e := range s.names {
			if f(e) {
				out = append(out, name)
			}
		}
		slices.Sort(out[n:])
	}
	return out
}

// role names the meaning that an instruction expects of a name, for messages.
type role uint8

const (
	roleValue role = iota
	roleLabel
	roleCallee
	roleTable
	roleAddress
)

// instruction resolves the operands of one instruction and matches it against
// the instruction table.
func (r *resolver) instruction(in *Inst) {
	r.faulty = false
	if g := in.Guard; g != nil {
		r.operand(in, &g.Reg, roleValue)
		if !r.faulty && (g.Reg.Kind != OpReg || !g.Reg.Var.Type.Predicate() || g.Reg.Elem != "") {
			r.errorAt(g.Reg.Pos, "guard "+clip(g.Reg.Name)+" is not a predicate", "compare with setp into a .pred register first")
		}
	}
	callee := -1
	if in.Op == "call" {
		callee = 0
		if len(in.Args) > 1 && in.Args[0].Kind == OpList {
			callee = 1
		}
	}
	for i := range in.Args {
		want := roleValue
		switch {
		case in.Op == "bra" && i == len(in.Args)-1:
			want = roleLabel
		case in.Op == "brx" && i == 1, callee >= 0 && i > callee+1, callee >= 0 && i > callee && in.Args[i].Kind == OpSym:
			want = roleTable
		case i == callee:
			want = roleCallee
		}
		r.operand(in, &in.Args[i], want)
	}
	v, bad := matchForm(in)
	in.Form, in.Bad = v.form, bad
	if r.faulty {
		return
	}
	if in.Bad == nil {
		if o := labelOperand(in.Args); o != nil && in.Op != "bra" {
			r.errorAt(o.Pos, "label "+clip(o.Name)+" used as a value", "labels are targets of bra")
			return
		}
	}
	if callee >= 0 && callee < len(in.Args) {
		switch o := &in.Args[callee]; {
		case o.Kind == OpTable:
			in.Bad = errors.New("call of " + clip(o.Name) + ", of which only a prototype is declared")
			return
		case o.Kind == OpSym && o.Func == nil:
			in.Bad = r.undeclaredCallee(o.Name)
			return
		}
		r.call(in, callee)
	}
	if in.Bad == nil {
		for _, e := range checkInst(r.mod, v, in) {
			r.errorAt(e.Pos, e.Msg, e.Hint)
		}
	}
}

// call compares a call with the signature of the callee, if it is known.
func (r *resolver) call(in *Inst, callee int) {
	sig := in.Args[callee].Func
	if sig != nil && sig.Entry {
		r.errorAt(in.Args[callee].Pos, "call of the kernel "+clip(sig.Name), "only a .func can be called")
		return
	}
	if sig == nil && len(in.Args) > callee+2 {
		switch o := in.Args[callee+2]; {
		case o.Func != nil:
			sig = o.Func
		case o.Table != nil && o.Table.Call && len(o.Table.Names) > 0:
			// Every target has the same signature.
			if e, ok := r.top.names[o.Table.Names[0]]; ok {
				sig = e.fn
			}
		}
	}
	if sig == nil || sig.Variadic {
		return
	}
	var rets []Operand
	if callee == 1 {
		rets = in.Args[0].List
	}
	r.passed(in, sig, "result", rets, sig.Rets)
	if len(in.Args) > callee+1 { // `call f;` may omit the list
		r.passed(in, sig, "argument", in.Args[callee+1].List, sig.Params)
	}
}

// passed compares the results or arguments of a call with their declarations.
func (r *resolver) passed(in *Inst, sig *Func, what string, ops []Operand, want []*Var) {
	declared := clip(sig.Name) + " is declared " + inLine(sig.Pos)
	if len(ops) != len(want) {
		r.errorAt(in.Pos, "call with "+count(len(ops), what)+", "+clip(sig.Name)+" has "+count(len(want), what), declared)
		return
	}
	for i := range ops {
		o, w := &ops[i], want[i]
		if o.Var == nil || o.Elem != "" {
			continue
		}
		have, need := int64(o.Var.Type.Bits()), int64(w.Type.Bits())
		if o.Kind == OpSym { // .param variables are passed whole
			if o.Var.Space != SpaceParam {
				continue // the address of something else
			}
			have, need = o.Var.Size()*8, w.Size()*8
		} else {
			if w.Dims != nil || w.Vec != o.Var.Vec {
				r.errorAt(o.Pos, what+" "+clip(o.Name)+" is one register, "+clip(w.Name)+" is not", declared)
				continue
			}
			have, need = registerBits(have), registerBits(need)
		}
		if have != need {
			r.errorAt(o.Pos, what+" "+clip(o.Name)+" has "+strconv.FormatInt(have, 10)+" bits, "+
				clip(w.Name)+" has "+strconv.FormatInt(need, 10), declared)
		}
	}
}

// registerBits is the width that determines whether registers are interchangeable:
// small integers are passed in registers of up to 32 bits.
func registerBits(n int64) int64 {
	if n > 1 && n < 32 {
		return 32
	}
	return n
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// undeclaredCallee returns why a call cannot be executed. It is not an error in the
// file: some compilers emit calls of functions that the driver provides without
// declaring them.
func (r *resolver) undeclaredCallee(name string) error {
	msg := "call of the undeclared function " + clip(name)
	if hint := r.suggest(name, func(e entry) bool { return e.fn != nil }); hint != "" {
		msg += " (" + hint + ")"
	}
	return errors.New(msg)
}

func labelOperand(ops []Operand) *Operand {
	for i := range ops {
		if ops[i].Kind == OpLabel {
			return &ops[i]
		}
		if o := labelOperand(ops[i].List); o != nil {
			return o
		}
	}
	return nil
}

// operand resolves one operand in place.
func (r *resolver) operand(in *Inst, o *Operand, want role) {
	switch o.Kind {
	case opIndex:
		r.arrayElement(in, o)
	case OpAddr:
		base := &o.List[0]
		r.operand(in, base, roleAddress)
		switch base.Kind {
		case OpReg, OpImm:
		case OpSym:
			if base.Func != nil && in.Op != "call" {
				r.errorAt(base.Pos, "function "+clip(base.Name)+" used as an address of data", "")
			}
		case OpLabel, OpTable:
			r.errorAt(base.Pos, "label "+clip(base.Name)+" used as an address", "")
		case OpSpecial:
			r.errorAt(base.Pos, "special register "+clip(base.Name)+" used as an address", "move it to a register first")
		default:
			r.errorAt(base.Pos, "bad base of an address", "an address is written [%r], [%r+8] or [name+8]")
		}
	case OpVec, OpPair, OpList, OpTexAddr:
		for i := range o.List {
			r.operand(in, &o.List[i], roleValue)
		}
	case OpSym, OpReg:
		r.name(in, o, want)
		return
	}
	if want == roleLabel && o.Kind != OpLabel {
		r.errorAt(o.Pos, "a branch needs a label", "write bra NAME; and NAME: before the instruction to go to")
	}
}

// name determines the kind of an operand that is a name.
func (r *resolver) name(in *Inst, o *Operand, want role) {
	e, index, tooFar, ok := r.cur.find(o.Name)
	if !ok {
		if s, found := lookupSpecial(o.Name); found {
			r.special(o, s, want)
			return
		}
		if want == roleCallee && !strings.HasPrefix(o.Name, "%") {
			return // instruction reports it in Bad: other modules or the driver may define it
		}
		r.unknown(o, tooFar, want)
		return
	}
	offset := int64(o.Imm.Bits)
	switch {
	case e.label != nil:
		o.Kind = OpLabel
		r.fixups = append(r.fixups, fixup{o, e.label})
		if want == roleCallee {
			r.errorAt(o.Pos, "label "+clip(o.Name)+" used as a function", "call needs a function; use bra to go to a label")
		}
	case e.table != nil || e.proto:
		o.Kind = OpTable
		o.Table, o.Func = e.table, e.fn
		if want != roleTable && (want != roleCallee || e.table != nil) {
			r.errorAt(o.Pos, clip(o.Name)+" names a list of targets or a prototype", "it can only be the last operand of brx.idx or of an indirect call")
		}
	case e.fn != nil:
		o.Kind, o.Func = OpSym, e.fn
	case e.v.Space == SpaceReg || e.v.Space == SpaceSreg:
		o.Kind, o.Var, o.Index = OpReg, e.v, index
		r.register(o)
	default:
		o.Kind, o.Var, o.Index = OpSym, e.v, index
		if o.Elem != "" {
			r.errorAt(o.Pos, "element ."+clip(o.Elem)+" of a variable in memory", "load it into a register first")
		}
		if want == roleCallee {
			r.errorAt(o.Pos, "variable "+clip(o.Name)+" used as a function", "load the function's address into a register first")
		}
	}
	if o.Kind != OpSym && o.Kind != OpReg && (offset != 0 || o.Elem != "") || o.Func != nil && o.Kind == OpSym && o.Elem != "" {
		r.errorAt(o.Pos, "offset or element of "+clip(o.Name), "")
	}
	if want == roleLabel && o.Kind != OpLabel {
		r.errorAt(o.Pos, clip(o.Name)+" is not a label", "a branch needs a label; write NAME: before the instruction to go to")
	}
	if want == roleTable && o.Kind != OpTable {
		r.errorAt(o.Pos, clip(o.Name)+" is not a list of targets", "declare it with .branchtargets, .calltargets or .callprototype")
	}
	if o.Generic && (o.Kind != OpSym || o.Var == nil) {
		r.errorAt(o.Pos, "generic address of "+clip(o.Name), "generic(...) takes a variable")
	}
}

// register checks the element of a register operand.
func (r *resolver) register(o *Operand) {
	if o.Elem == "" {
		return
	}
	if i := strings.Index("xyzw", o.Elem); i >= 0 && len(o.Elem) == 1 {
		if i >= o.Var.Vec && o.Var.Vec > 0 {
			r.errorAt(o.Pos, "register "+clip(o.Name)+" has no element ."+o.Elem, "it has "+strconv.Itoa(o.Var.Vec)+" elements")
		} else if o.Var.Vec == 0 {
			r.errorAt(o.Pos, "register "+clip(o.Name)+" has no element ."+o.Elem, "it is not a vector")
		}
		return
	}
	if !videoSelector(o.Elem) {
		r.errorAt(o.Pos, "unknown element ."+clip(o.Elem)+" of "+clip(o.Name), "elements are .x .y .z .w, and .b0 ... .h1 in video instructions")
	}
}

// videoSelector reports whether s selects bytes or half-words, as in video
// instructions: b0, h1, b3210, h10; masks of four lanes select one to four bytes:
// b20.
func videoSelector(s string) bool {
	n := len(s) - 1
	if n < 1 || s[0] == 'b' && n > 4 || s[0] == 'h' && n > 2 || s[0] != 'b' && s[0] != 'h' {
		return false
	}
	for _, c := range s[1:] {
		if c < '0' || c > '7' {
			return false
		}
	}
	return true
}

// special turns an operand into a special register.
func (r *resolver) special(o *Operand, s *Special, want role) {
	o.Kind = OpSpecial
	switch {
	case want == roleLabel:
		r.errorAt(o.Pos, clip(o.Name)+" is not a label", "a branch needs a label")
	case o.Elem != "" && !s.HasElem(o.Elem):
		hint := "it is not a vector"
		if s.Elems != "" {
			hint = "its elements are ." + strings.Join(strings.Split(s.Elems, ""), " .")
		}
		r.errorAt(o.Pos, "special register "+o.Name+" has no element ."+clip(o.Elem), hint)
	case o.Imm.Bits != 0 && want != roleAddress:
		r.errorAt(o.Pos, "sum of special register "+clip(o.Name)+" and a constant", "move it to a register and add there")
	}
}

// unknown reports an undeclared name, once per function, and once for all registers
// that differ only in their numbers.
func (r *resolver) unknown(o *Operand, tooFar *Var, want role) {
	r.faulty = true
	key := o.Name
	if tooFar == nil && key[0] == '%' { // one message for a whole family of registers
		key = strings.TrimRight(key, "0123456789")
	}
	if r.reported[key] || r.isTainted(o.Name) || len(r.errs) > 4*maxErrors {
		return
	}
	if r.reported == nil {
		r.reported = map[string]bool{}
	}
	r.reported[key] = true
	what, pick := "name", func(entry) bool { return true }
	switch {
	case want == roleLabel:
		what, pick = "label", func(e entry) bool { return e.label != nil }
	case want == roleCallee:
		what, pick = "function", func(e entry) bool { return e.fn != nil || e.v != nil && e.v.Space == SpaceReg }
	case want == roleTable:
		what, pick = "list of targets", func(e entry) bool { return e.table != nil || e.proto }
	case strings.HasPrefix(o.Name, "%"):
		what, pick = "register", func(e entry) bool { return e.v != nil && e.v.Space == SpaceReg }
	}
	msg := "unknown " + what + " " + clip(o.Name)
	if tooFar != nil {
		r.errorAt(o.Pos, msg, "."+string(tooFar.Type)+" "+clip(tooFar.Name)+"<"+strconv.Itoa(tooFar.Count)+"> "+inLine(tooFar.Pos)+
			" declares up to "+clip(tooFar.Name)+strconv.Itoa(tooFar.Count-1))
		return
	}
	if where := r.elsewhere(o.Name, o.Pos); where != "" {
		r.errorAt(o.Pos, msg, where)
		return
	}
	others := r.familyMembers(o.Name)
	if what == "register" {
		if s := nearestSpecial(o.Name); s != "" {
			others = append(others, s)
		}
	}
	r.errorAt(o.Pos, msg, r.suggest(o.Name, pick, others...))
}

// isTainted reports whether a statement with an error may have declared the name.
func (r *resolver) isTainted(name string) bool {
	if r.tainted[name] {
		return true
	}
	found := false
	splitNumber(name, func(prefix string, _ int) bool {
		found = r.tainted[prefix]
		return found
	})
	return found
}

// elsewhere returns where in the function a name is declared that is not visible at
// pos, "" if nowhere.
func (r *resolver) elsewhere(name string, pos Pos) string {
	var at Pos
	kind := ""
	var walk func(b *Block)
	walk = func(b *Block) {
		for _, s := range b.Stmts {
			switch s := s.(type) {
			case *Block:
				walk(s)
			case *Label:
				if s.Name == name {
					at, kind = s.Pos, "label"
				}
			case *VarDecl:
				for _, v := range s.Vars {
					hit := v.Count == 0 && v.Name == name
					splitNumber(name, func(prefix string, n int) bool {
						hit = hit || v.Count > 0 && prefix == v.Name && n < v.Count
						return hit
					})
					if hit && at.Line == 0 {
						at, kind = v.Pos, "variable"
					}
				}
			}
		}
	}
	walk(r.fn.Body)
	switch {
	case at.Line == 0:
		return ""
	case kind == "variable" && (at.Line > pos.Line || at.Line == pos.Line && at.Col > pos.Col):
		return "it is declared later, " + inLine(at) + "; move the declaration up"
	}
	return "the one " + inLine(at) + " is local to another block"
}

// familyMembers returns the members of parameterised declarations that have the
// same number as name.
func (r *resolver) familyMembers(name string) []string {
	i := len(name)
	for i > 1 && name[i-1] >= '0' && name[i-1] <= '9' {
		i--
	}
	if i == len(name) || len(name)-i > 9 {
		return nil
	}
	n, _ := strconv.Atoi(name[i:])
	var out []string
	for s := r.cur; s != nil; s = s.parent {
		from := len(out)
		for prefix, v := range s.families {
			if n < v.Count {
				out = append(out, prefix+strconv.Itoa(n))
			}
		}
		slices.Sort(out[from:])
	}
	return out
}

// arrayElement turns `array[n]` into the address of the element: for mov and cvta
// the operand is the address itself, for other instructions the contents.
func (r *resolver) arrayElement(in *Inst, o *Operand) {
	base, n := o.List[0], int64(o.List[1].Imm.Bits)
	r.name(in, &base, roleAddress)
	if base.Kind != OpSym || base.Var == nil || len(base.Var.Dims) == 0 {
		if !r.faulty {
			r.errorAt(base.Pos, clip(base.Name)+" is not an array", "only variables with dimensions can be indexed")
		}
		*o = base
		return
	}
	size := int64(max(1, base.Var.Vec) * base.Var.Type.Bytes())
	for _, d := range base.Var.Dims[1:] {
		if d > 0 && size < maxVarSize/d {
			size *= d
		}
	}
	if n < 0 || n > maxVarSize/max(1, size) {
		r.errorAt(base.Pos, "array index "+strconv.FormatInt(n, 10)+" is out of range", "")
		n = 0
	}
	switch in.Op {
	case "mov", "cvta", "cvt":
		base.Imm = Imm{Bits: uint64(n * size)}
		*o = base
	default:
		*o = Operand{Kind: OpAddr, Pos: base.Pos, Offset: n * size, List: []Operand{base}}
	}
}
