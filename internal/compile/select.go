package compile

import (
	"embed"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: the tables by which an instruction of PTX becomes one or a few of the machine.
// select/integer.txt explains their syntax.

//go:embed select/*.txt
var selectText embed.FS

// step is one instruction of a rule, with names in place of operands.
type step struct {
	name  string
	args  []string
	dsts  int // how many of args are results
	guard string
	keep  string // what the result is where the guard does not hold
	table int    // from which argument on they are tables, not names
	to    int    // up to which
}

// rule is what an instruction of PTX becomes.
type rule struct {
	body  string
	once  sync.Once
	steps []step
	own   bool // it guards instructions itself
}

// part is a row that others consist of: a body with names of one capital letter, its parameters.
type part struct {
	params []string
	body   string
}

// rules are the rows of all tables, by the full name of the instruction.
var rules = sync.OnceValue(func() map[string]*rule {
	list, parts := map[string]*rule{}, map[string]part{}
	for _, line := range rows() {
		pattern, body, _ := strings.Cut(line, " ")
		body = strings.TrimSpace(body)
		if name, params, ok := strings.Cut(strings.TrimSuffix(pattern, ")"), "("); ok {
			parts[name] = part{strings.Split(params, ","), body}
			continue
		}
		for name, by := range expand(pattern) {
			if list[name] != nil {
				panic(name + " has a row before")
			}
			list[name] = &rule{body: replace(body, by)}
		}
	}
	for _, r := range list {
		r.body = insert(r.body, parts)
	}
	for name, p := range parts { // with the parameters as names
		list[name+"()"] = &rule{body: insert(p.body, parts)}
	}
	return list
})

// rows are the lines of all tables, each with those below it that are indented.
func rows() []string {
	var list []string
	files, err := selectText.ReadDir("select")
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		text, err := selectText.ReadFile("select/" + f.Name())
		if err != nil {
			panic(err)
		}
		for line := range strings.Lines(string(text)) {
			line, _, _ = strings.Cut(line, "#")
			trimmed := strings.TrimSpace(line)
			switch {
			case trimmed == "":
			case line[0] == ' ':
				list[len(list)-1] += " " + trimmed
			default:
				list = append(list, trimmed)
			}
		}
	}
	return list
}

// insert puts the bodies of parts in place of their names.
func insert(body string, parts map[string]part) string {
	if !strings.Contains(body, "(") {
		return body
	}
	var list []string
	for _, s := range strings.Split(body, ";") {
		s = strings.TrimSpace(s)
		name, args, ok := strings.Cut(strings.TrimSuffix(s, ")"), "(")
		if p, known := parts[name]; ok && known {
			by := strings.Split(args, ",")
			s = insert(parameter.ReplaceAllStringFunc(p.body, func(x string) string {
				if n := slices.Index(p.params, x); n >= 0 {
					return by[n]
				}
				return x
			}), parts)
		}
		list = append(list, s)
	}
	return strings.Join(list, " ; ")
}

// parameter is what may be the name of a part's parameter.
var parameter = regexp.MustCompile(`\b[A-Z]\b`)

// expand writes out the choices of a pattern: {x=Y|z} is x, for which the body has Y, or z, for which
// it has nothing. The result has the texts of the choices by name.
func expand(pattern string) map[string][]string {
	list := map[string][]string{"": nil}
	for pattern != "" {
		head, rest, choice := strings.Cut(pattern, "{")
		next := map[string][]string{}
		alternatives := []string{""}
		if choice {
			inner, tail, ok := strings.Cut(rest, "}")
			if !ok {
				panic("a choice is not closed: " + pattern)
			}
			alternatives, pattern = strings.Split(inner, "|"), tail
		} else {
			pattern = ""
		}
		for name, by := range list {
			for _, a := range alternatives {
				word, text, _ := strings.Cut(a, "=")
				if choice {
					next[name+head+word] = append(append([]string(nil), by...), text)
				} else {
					next[name+head] = by
				}
			}
		}
		list = next
	}
	return list
}

// replace puts the texts of choices in place of $1, $2 …
func replace(body string, by []string) string {
	for i, s := range by {
		body = strings.ReplaceAll(body, "$"+strconv.Itoa(i+1), s)
	}
	return body
}

// parse reads a rule's body, once.
func (r *rule) parse() []step {
	r.once.Do(func() {
		for _, text := range strings.Split(r.body, ";") {
			var s step
			text, s.keep, _ = strings.Cut(strings.TrimSpace(text), " : ")
			if strings.HasPrefix(text, "@") {
				s.guard, text, _ = strings.Cut(text[1:], " ")
			}
			name, args, _ := strings.Cut(strings.TrimSpace(text), " ")
			s.name = name
			for _, a := range strings.Split(args, ",") {
				if a = strings.TrimSpace(a); a != "" {
					s.args = append(s.args, a)
				}
			}
			s.dsts = results(ir.Base(name), s.args)
			switch ir.Base(name) {
			case "LOP3":
				s.table, s.to = 4, 5
			case "PLOP3":
				s.table, s.to = 5, len(s.args)
			}
			r.own = r.own || s.guard != ""
			r.steps = append(r.steps, s)
		}
	})
	return r.steps
}

// isPredicate reports whether a name in a rule is that of a predicate.
func isPredicate(name string) bool {
	name = strings.TrimPrefix(name, "!")
	return name == "PT" || name == "q" || len(name) == 2 && name[0] == 'p' && name[1] >= '0' && name[1] <= '9' || strings.HasPrefix(name, "pred:")
}

// results is how many of an instruction's operands are results: predicates, a register, predicates.
func results(base string, args []string) int {
	switch base {
	case "ISETP", "FSETP", "DSETP", "HSETP2", "PLOP3", "VOTE":
		return 2
	case "FCHK":
		return 1
	}
	n := 0
	for n < len(args) && isPredicate(args[n]) {
		n++
	}
	for n++; n < len(args) && isPredicate(args[n]) && base != "SEL" && base != "FSEL"; {
		n++
	}
	return n
}

// apply emits a rule's instructions.
func (b *builder) apply(r *rule) {
	x := b.applying(nil)
	g := b.guard
	if r.parse(); r.own { // which guards instructions itself: all of it is harmless without a guard
		b.guard = ir.Guard{}
	}
	x.run(r)
	b.guard = g
	x.finish()
	clear(x.names)
	b.spare = append(b.spare, x)
}

// run emits the instructions of a rule.
func (x *applying) run(r *rule) {
	for _, s := range r.parse() {
		args := make([]ir.Arg, 0, len(s.args))
		for i, name := range s.args {
			if i >= s.table && i < s.to {
				args = append(args, ir.T(name)) // a table
				continue
			}
			args = append(args, x.arg(name, i < s.dsts))
		}
		if s.guard == "" {
			x.emit(s.name, args...)
		} else {
			p, not := strings.CutPrefix(s.guard, "!")
			keep := x.value(x.arg(s.keep, false))
			x.guard = ir.Guard{Val: x.names[p], Not: not}
			x.emit(s.name, args...).Else[0] = keep
			x.guard = ir.Guard{}
		}
		for _, m := range x.made {
			x.names[m.name] = m.v
		}
		x.made = x.made[:0]
	}
}

// text is run for instructions that are no row of a table.
func (x *applying) text(body string) { x.run(&rule{body: body}) }

// part is run for a part of rows, whose parameters are names here.
func (x *applying) part(name string) { x.run(rules()[name+"()"]) }

// finish gives the instruction's results to its registers.
func (x *applying) finish() {
	d := &x.inst.Args[0]
	list := []*ptx.Operand{d}
	if d.Kind == ptx.OpPair {
		list = []*ptx.Operand{&d.List[0], &d.List[1]}
	}
	for n, o := range list {
		if o.Kind == ptx.OpSink {
			continue
		}
		for part, name := range [2][]string{{"d.lo", "d.hi"}, {"q"}}[n] {
			if v := x.names[name]; v != nil {
				x.assign(o, part, v)
			}
		}
	}
}

// applying is a rule that is being applied.
type applying struct {
	*builder
	names map[string]*ir.Value // results and temporaries
	made  []made               // those of the instruction that is being made
}

// made is a result with its name.
type made struct {
	name string
	v    *ir.Value
}

// applying begins to apply rules, with names that stand for values.
func (b *builder) applying(names map[string]*ir.Value) *applying {
	if names == nil {
		if n := len(b.spare); n > 0 {
			x := b.spare[n-1]
			b.spare = b.spare[:n-1]
			return x
		}
		names = map[string]*ir.Value{}
	}
	return &applying{builder: b, names: names}
}

// arg is an operand of a rule.
func (x *applying) arg(name string, dst bool) ir.Arg {
	if dst {
		return x.result(name)
	}
	var marks ir.Arg
	for {
		switch {
		case strings.HasPrefix(name, "-") && len(name) > 1 && (name[1] < '0' || name[1] > '9'):
			marks.Neg, name = true, name[1:]
		case strings.HasPrefix(name, "~"), strings.HasPrefix(name, "!"):
			marks.Not, name = true, name[1:]
		case strings.HasPrefix(name, "|"):
			marks.Abs, name = true, strings.Trim(name, "|")
		default:
			a := x.operand(name)
			a.Neg, a.Abs, a.Not = a.Neg != marks.Neg, a.Abs || marks.Abs, a.Not != marks.Not
			return a
		}
	}
}

// class is what a name in a rule stands for.
func (x *applying) class(name string) ir.Class {
	o := &x.inst.Args[0]
	switch {
	case isPredicate(name):
		return ir.Pred
	case name[0] != 'd':
		return ir.GPR
	case o.Kind == ptx.OpPair:
		o = &o.List[0]
	}
	if o.Var != nil && o.Var.Type.Predicate() {
		return ir.Pred
	}
	return ir.GPR
}

// result is an operand of a rule that is written.
func (x *applying) result(name string) ir.Arg {
	switch name {
	case "PT":
		return ir.DP(nil)
	case "RZ":
		return ir.D(nil)
	}
	if name == "q" && x.inst.Args[0].Kind != ptx.OpPair {
		return ir.DP(nil)
	}
	c := x.class(name)
	parts := x.parts(name)
	list := make([]*ir.Value, len(parts))
	for i, part := range parts {
		list[i] = x.f.NewValue(c)
		x.made = append(x.made, made{part, list[i]})
	}
	return ir.Arg{Kind: map[bool]ir.Kind{true: ir.P, false: ir.Reg}[c == ir.Pred], Dst: true, Vals: list}
}

// parts are the names of the 32-bit parts of a name: of w0 both halves.
func (x *applying) parts(name string) []string {
	switch {
	case name == "d" && x.inst.Args[0].Var != nil && width(x.inst.Args[0].Var.Type) == 2, (name[0] == 'w' || name[0] == 'v') && len(name) == 2:
		return []string{name + ".lo", name + ".hi"}
	case name == "d":
		return []string{"d.lo"}
	}
	return []string{name}
}

// operand is an operand of a rule that is read.
func (x *applying) operand(name string) ir.Arg {
	switch name {
	case "RZ":
		return ir.RZ()
	case "PT":
		return ir.Pr(nil, false)
	}
	if n := int(name[0] - 'a'); name[0] >= 'a' && name[0] <= 'c' && (len(name) == 1 || name[1] == '.') {
		return x.given(n+1, name)
	}
	if name == "e" {
		return x.given(4, name)
	}
	if parts := x.parts(name); x.names[parts[0]] != nil {
		a := ir.Arg{Kind: ir.Reg}
		for _, p := range parts {
			a.Vals = append(a.Vals, x.names[p])
		}
		if a.Vals[0].Class == ir.Pred {
			a.Kind = ir.P
		}
		return a
	}
	if v, err := strconv.ParseInt(name, 0, 64); err == nil {
		return ir.I(uint32(v))
	}
	if inner, ok := strings.CutPrefix(name, "c0["); ok {
		v, err := strconv.ParseInt(strings.TrimSuffix(inner, "]"), 0, 64)
		if err == nil {
			return ir.C(0, v)
		}
	}
	return ir.T(name)
}

// given is an operand of the instruction, or a part of it.
func (x *applying) given(n int, name string) ir.Arg {
	o, t := &x.inst.Args[n], x.typeOf()
	if n == 3 && o.Kind == ptx.OpImm && (x.inst.Op == "selp" || x.inst.Op == "setp") {
		return ir.Pr(nil, o.Imm.Bits == 0)
	}
	if x.inst.Args[0].Var != nil && x.inst.Args[0].Var.Type.Predicate() && t.Predicate() && o.Kind == ptx.OpImm {
		return ir.Pr(nil, o.Imm.Bits == 0)
	}
	switch part := name[min(len(name), 2):]; part {
	case "lo":
		return x.source(o, t, 0)
	case "hi":
		return x.source(o, t, 1)
	case "h0":
		a := ir.R(x.value(x.source(o, t, 0)))
		a.Suffix = "H0_H0"
		return a
	case "zx", "sx":
		return x.extended(o, t, 16, part == "sx")
	case "zx8", "sx8":
		return x.extended(o, t, 8, part == "sx8")
	}
	if o.Kind == ptx.OpReg {
		if w := width(o.Var.Type); w > 1 {
			return x.tuple(o, t, w)
		}
		return x.source(o, t, 0)
	}
	if t.Bits() > 32 || n == 3 && x.inst.Op == "mad" && x.inst.Has("wide") && t.Bits() == 32 {
		return x.tuple(o, t, 2)
	}
	return x.source(o, t, 0)
}

// extended is the low part of an operand, extended to 32 bits.
func (b *builder) extended(o *ptx.Operand, t ptx.Type, n int, signed bool) ir.Arg {
	a := b.source(o, t, 0)
	if a.Kind == ir.Imm {
		v := uint32(a.Imm) << (32 - n)
		if signed {
			return ir.I(uint32(int32(v) >> (32 - n)))
		}
		return ir.I(v >> (32 - n))
	}
	t0 := b.f.NewValue(ir.GPR)
	sel := ir.I(selector(n, 0, signed))
	b.emit("PRMT", ir.D(t0), a, sel, ir.RZ())
	return ir.R(t0)
}

// choose compiles an instruction by its row, or by the function for its opcode.
func (b *builder) choose() {
	if b.callRoutine() {
		return
	}
	name := b.inst.FullName()
	if r := rules()[name]; r != nil {
		b.apply(r)
		return
	}
	if f := special[b.inst.Op]; f != nil {
		f(b)
		return
	}
	stop(name, notYet)
}

// selector is PRMT's for the field of 8 or 16 bits at a byte of the first source, extended by the sign
// or by a second source that is zero.
func selector(size, at int, signed bool) uint32 {
	n := uint32(at)
	switch {
	case size == 8 && signed:
		return (8+n)*0x1110 + n
	case size == 8:
		return 0x7770 + n
	case signed:
		return (9+n)*0x1100 + (n+1)*0x10 + n
	}
	return 0x7700 + (n+1)*0x10 + n
}

// Rows are the instructions that the tables have rows for, in order of their names.
func Rows() []string {
	list := slices.Sorted(maps.Keys(rules()))
	return slices.DeleteFunc(list, func(name string) bool { return strings.Contains(name, "(") })
}
