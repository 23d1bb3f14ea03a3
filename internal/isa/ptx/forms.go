package ptx

// The instruction table: its notation, and how instructions are matched to it.
//
// The rows are in forms_*.go and read like the syntax lines of the PTX manual. A
// row is
//
//	opcode and modifiers    operands    [where RULE]    ; since [sm_NN]
//
// Modifiers: `.x` is required, `.{x,y}` is a required choice, `{.x,.y}` an
// optional one. A name that is a class (see forms_classes.go) stands for its values.
//
// Operands, separated by commas, optional ones in `{, …}`:
//
//	d:T        a register of the instruction's type. T (or T1) is the first type
//	           among the modifiers, T2 the second …; other type names are fixed
//	           (`b:u32`). WT is twice as wide as T. A name beginning with d is
//	           written, every other one is read and may be a literal.
//	d:T~       the register may also be wider than the type
//	d:T_       the operand may be the sink `_`
//	d:{T}v     a vector as long as the modifier .v2, .v4, .v8 says, a scalar if none
//	d:{T}4     a vector of four; `{T}*` of any length; `{T}1*` may also be a scalar
//	a:frag     a fragment of a matrix; its length follows from shape and types
//	d:pred{|q} may be a pair `d|q`; without braces it must be
//	!c:pred    may be negated
//	[a]        an address, [t]:tex a texture or surface operand with coordinates,
//	           [t]:tensor a tensor map with coordinates
//	x:imm, x:label, x:func, x:list, x:table, x:any
//	           a literal; a branch target; a function or a register holding its
//	           address; (a, b); a table's label; anything

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// Form is a row of the instruction table: an opcode, the modifiers it takes in the
// order of the manual, and its operands.
type Form struct {
	Op     string  // opcode up to the first dot: "cp" for cp.async
	Syntax string  // opcode, modifiers and operands as in the manual, choices in braces
	Since  Version // PTX version that introduced the oldest of its combinations
	SM     int     // lowest architecture (80 for sm_80) of any; 0 for all

	id    int // position in the table
	slots []slot
	args  []argSpec
	nreq  int // number of required operands
	rule  func(values) string
}

// slot is a position for a modifier.
type slot struct {
	name string   // the class that the row names, or "" for literal values
	vals []string // the allowed values
	opt  bool
	typ  bool // all values are types
}

// argKind is the kind of operand that a row requires.
type argKind uint8

const (
	argReg    argKind = iota // a register or, for sources, also a literal or the address of a variable
	argImm                   // a literal (or constant expression)
	argAddr                  // [a]
	argTex                   // [tex, {coordinates}]
	argTensor                // [map, {coordinates}]
	argLabel                 // a label
	argFunc                  // a function name, or a register holding its address
	argList                  // (a, b)
	argTable                 // a .branchtargets, .calltargets or .callprototype label
	argAny
)

// Lengths of vector operands that are not fixed numbers.
const (
	lenScalar  = 0
	lenByMod   = -1 // given by the .vN modifier
	lenAny     = -2 // any length
	lenAnyOrNo = -3 // any length, or a scalar
	lenFrag    = -4 // see fragment
)

// argSpec is an operand of a row.
type argSpec struct {
	name  string
	kind  argKind
	typ   string // "", "T1" … "T9", "WT", or a type
	n     int    // vector length, or one of the len constants
	dest  bool
	opt   bool
	wide  bool // the register may be wider than the type
	sink  bool // may be _
	neg   bool // may be negated
	pair  bool // may be a pair d|q
	pair2 bool // must be a pair
}

// values are the modifiers of an instruction by slot; "" for an optional one that
// is absent.
type values struct {
	form *Form
	vals []string
}

// get returns the modifier in the slot of the given class, "" if it is absent.
func (v values) get(class string) string {
	for i, s := range v.form.slots {
		if s.name == class && v.vals[i] != "" {
			return v.vals[i]
		}
	}
	return ""
}

// has reports whether a modifier is present.
func (v values) has(mod string) bool { return slices.Contains(v.vals, mod) }

// typ returns the i-th type (from 1), "" if there are fewer.
func (v values) typ(i int) Type {
	for k, s := range v.form.slots {
		if s.typ && v.vals[k] != "" {
			if i--; i == 0 {
				return Type(v.vals[k])
			}
		}
	}
	return ""
}

// mods returns the modifiers that are present, in the row's order.
func (v values) mods() []string {
	var out []string
	for _, m := range v.vals {
		if m != "" {
			out = append(out, m)
		}
	}
	return out
}

// table is every row, formsByOp the rows by opcode, modsByOp the modifiers that an
// opcode takes in any of its rows.
var (
	table     []*Form
	formsByOp = map[string][]*Form{}
	modsByOp  = map[string][]string{}
	opcodes   []string // sorted
)

func init() {
	classes := parseClasses(classRows)
	for _, theme := range [][2]string{
		{"integer", integerRows}, {"floating", floatRows}, {"logic", logicRows},
		{"data", dataRows}, {"atomic", atomicRows}, {"async", asyncRows}, {"texture", textureRows},
		{"control", controlRows}, {"matrix", matrixRows}, {"video", videoRows},
	} {
		for line := range strings.Lines(theme[1]) {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			f, err := parseRow(line, classes)
			if err != nil {
				panic(fmt.Sprintf("ptx: %s row %q: %v", theme[0], line, err))
			}
			f.id = len(table)
			table = append(table, f)
			if formsByOp[f.Op] == nil {
				opcodes = append(opcodes, f.Op)
			}
			formsByOp[f.Op] = append(formsByOp[f.Op], f)
			for _, s := range f.slots {
				for _, m := range s.vals {
					if !slices.Contains(modsByOp[f.Op], m) {
						modsByOp[f.Op] = append(modsByOp[f.Op], m)
					}
				}
			}
		}
	}
	sort.Strings(opcodes)
}

// Forms returns every row of the instruction table, in the table's order.
func Forms() []*Form { return append([]*Form(nil), table...) }

// Opcodes returns every opcode of the instruction table, sorted.
func Opcodes() []string { return append([]string(nil), opcodes...) }

// parseClasses parses lines "name: value value …"; a value may be an earlier class.
func parseClasses(rows string) map[string][]string {
	classes := map[string][]string{}
	for line := range strings.Lines(rows) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, rest, ok := strings.Cut(line, " ")
		if !ok {
			panic("ptx: class row " + line)
		}
		for _, v := range strings.Fields(rest) {
			if c, ok := classes[v]; ok {
				classes[name] = append(classes[name], c...)
			} else {
				classes[name] = append(classes[name], v)
			}
		}
	}
	return classes
}

// parseRow parses a row of the table.
func parseRow(line string, classes map[string][]string) (*Form, error) {
	body, since, ok := strings.Cut(line, ";")
	if !ok {
		return nil, fmt.Errorf("no version")
	}
	f := &Form{}
	for i, w := range strings.Fields(since) {
		if n, isSM := strings.CutPrefix(w, "sm_"); isSM {
			v, err := strconv.Atoi(strings.TrimRight(n, "af"))
			if err != nil {
				return nil, err
			}
			f.SM = v
		} else if _, err := fmt.Sscanf(w, "%d.%d", &f.Since.Major, &f.Since.Minor); err != nil || i > 0 {
			return nil, fmt.Errorf("bad version %q", w)
		}
	}
	if f.Since.Major == 0 {
		return nil, fmt.Errorf("no version")
	}
	body, rule, _ := strings.Cut(body, " where ")
	if rule = strings.TrimSpace(rule); rule != "" {
		if f.rule = rules[rule]; f.rule == nil {
			return nil, fmt.Errorf("no rule %q", rule)
		}
	}
	mods, operands, _ := strings.Cut(strings.TrimSpace(body), " ")
	if err := f.parseMods(mods, classes); err != nil {
		return nil, err
	}
	if err := f.parseArgs(operands); err != nil {
		return nil, err
	}
	f.Syntax = f.text(1 << 20)
	return f, nil
}

// parseMods parses the opcode and the modifier slots.
func (f *Form) parseMods(s string, classes map[string][]string) error {
	i := strings.IndexAny(s, ".{")
	if i < 0 {
		i = len(s)
	}
	f.Op, s = s[:i], s[i:]
	for s != "" {
		var sl slot
		var list string
		switch {
		case strings.HasPrefix(s, ".{"), s[0] == '{':
			sl.opt = s[0] == '{'
			end := strings.IndexByte(s, '}')
			if end < 0 {
				return fmt.Errorf("unclosed {")
			}
			list, s = s[strings.IndexByte(s, '{')+1:end], s[end+1:]
		case s[0] == '.':
			end := strings.IndexAny(s[1:], ".{")
			if end < 0 {
				end = len(s) - 1
			}
			list, s = s[1:end+1], s[end+1:]
		default:
			return fmt.Errorf("bad modifiers at %q", s)
		}
		for _, v := range strings.Split(list, ",") {
			v = strings.TrimPrefix(strings.TrimSpace(v), ".")
			if v == "" {
				return fmt.Errorf("empty modifier")
			}
			if c, ok := classes[v]; ok {
				if list == v || list == "."+v {
					sl.name = v
				}
				sl.vals = append(sl.vals, c...)
			} else {
				sl.vals = append(sl.vals, v)
			}
		}
		sl.typ = !slices.ContainsFunc(sl.vals, func(v string) bool { return !isType(v) })
		f.slots = append(f.slots, sl)
	}
	return nil
}

// parseArgs parses the operands of a row.
func (f *Form) parseArgs(s string) error {
	opt := false
	for {
		s = strings.TrimLeft(s, " \t")
		switch {
		case s == "":
			return nil
		case strings.HasPrefix(s, "{,"):
			opt, s = true, s[2:]
			continue
		case s[0] == '}':
			opt, s = false, s[1:]
			continue
		case s[0] == ',':
			s = s[1:]
			continue
		}
		// An operand ends at a comma, or where an optional group begins or ends;
		// braces of the operand follow a colon or hold the bar of a pair.
		end, depth := 0, 0
	scan:
		for ; end < len(s); end++ {
			switch s[end] {
			case '{':
				if strings.HasPrefix(s[end:], "{,") && depth == 0 {
					break scan
				}
				depth++
			case '}':
				if depth == 0 {
					break scan
				}
				depth--
			case ',':
				if depth == 0 {
					break scan
				}
			}
		}
		a, err := parseArg(strings.TrimSpace(s[:end]))
		if err != nil {
			return err
		}
		a.opt = opt
		if !opt {
			f.nreq++
		}
		f.args = append(f.args, a)
		s = s[end:]
	}
}

var argKinds = map[string]argKind{
	"imm": argImm, "tex": argTex, "tensor": argTensor, "label": argLabel, "func": argFunc,
	"list": argList, "table": argTable, "any": argAny,
}

// parseArg parses an operand of a row.
func parseArg(s string) (argSpec, error) {
	var a argSpec
	a.neg, s = strings.HasPrefix(s, "!"), strings.TrimPrefix(s, "!")
	if t, ok := strings.CutSuffix(s, "{|q}"); ok {
		a.pair, s = true, t
	} else if t, ok := strings.CutSuffix(s, "|q"); ok {
		a.pair, a.pair2, s = true, true, t
	}
	name, typ, _ := strings.Cut(s, ":")
	if inner, ok := strings.CutPrefix(name, "["); ok {
		a.name, a.kind = strings.TrimSuffix(inner, "]"), argAddr
		if typ != "" {
			k, ok := argKinds[typ]
			if !ok {
				return a, fmt.Errorf("bad address operand %q", s)
			}
			a.kind = k
		}
		return a, nil
	}
	a.name, a.dest = name, strings.HasPrefix(name, "d")
	for typ != "" {
		if t, ok := strings.CutSuffix(typ, "~"); ok {
			a.wide, typ = true, t
		} else if t, ok := strings.CutSuffix(typ, "_"); ok {
			a.sink, typ = true, t
		} else {
			break
		}
	}
	if inner, ok := strings.CutPrefix(typ, "{"); ok {
		t, n, ok := strings.Cut(inner, "}")
		if !ok {
			return a, fmt.Errorf("bad vector operand %q", s)
		}
		typ = t
		switch n {
		case "v":
			a.n = lenByMod
		case "*":
			a.n = lenAny
		case "1*":
			a.n = lenAnyOrNo
		default:
			v, err := strconv.Atoi(n)
			if err != nil {
				return a, fmt.Errorf("bad vector operand %q", s)
			}
			a.n = v
		}
	}
	switch k, ok := argKinds[typ]; {
	case ok:
		a.kind = k
	case typ == "frag":
		a.n = lenFrag
	case typ == "T":
		a.typ = "T1"
	case typ == "", typ == "WT", isType(typ), len(typ) == 2 && typ[0] == 'T' && typ[1] >= '1' && typ[1] <= '9':
		a.typ = typ
	default:
		return a, fmt.Errorf("bad operand type %q", typ)
	}
	return a, nil
}

// allows reports whether the slot accepts the modifier.
func (s *slot) allows(mod string) bool { return slices.Contains(s.vals, mod) }

// match assigns modifiers to the slots of the row: first in the row's order, then
// in any order that keeps the types in sequence, because real PTX is not strict:
// `div.ftz.rn.f32`.
func (f *Form) match(mods []string) (values, bool) {
	v := values{f, make([]string, len(f.slots))}
	if len(mods) > len(f.slots) {
		return v, false
	}
	if !f.matchOrdered(v.vals, mods, 0) {
		clear(v.vals)
		if !f.matchAny(v.vals, mods, -1) {
			return v, false
		}
	}
	return v, true
}

func (f *Form) matchOrdered(vals, mods []string, i int) bool {
	if i == len(f.slots) {
		return len(mods) == 0
	}
	if len(mods) > 0 && f.slots[i].allows(mods[0]) {
		vals[i] = mods[0]
		if f.matchOrdered(vals, mods[1:], i+1) {
			return true
		}
		vals[i] = ""
	}
	return f.slots[i].opt && f.matchOrdered(vals, mods, i+1)
}

func (f *Form) matchAny(vals, mods []string, lastType int) bool {
	if len(mods) == 0 {
		for i, s := range f.slots {
			if !s.opt && vals[i] == "" {
				return false
			}
		}
		return true
	}
	for i := range f.slots {
		s := &f.slots[i]
		if vals[i] != "" || s.typ && i < lastType || !s.allows(mods[0]) {
			continue
		}
		vals[i] = mods[0]
		last := lastType
		if s.typ {
			last = i
		}
		if f.matchAny(vals, mods[1:], last) {
			return true
		}
		vals[i] = ""
	}
	return false
}

// Canonical returns opcode and modifiers of an instruction in the order of the row,
// whatever their order in the source: `div.ftz.rn.f32` → "div.rn.ftz.f32".
func (f *Form) Canonical(in *Inst) string {
	v, ok := f.match(in.Mods)
	if !ok {
		return in.FullName()
	}
	return join(f.Op, v.mods())
}

// Slot returns the instruction's modifier in the slot of a class ("rnd", "vec",
// "cmpop" …, see forms_classes.go), "" if there is none.
func (f *Form) Slot(in *Inst, class string) string {
	v, ok := f.match(in.Mods)
	if !ok {
		return ""
	}
	return v.get(class)
}

func join(op string, mods []string) string {
	if len(mods) == 0 {
		return op
	}
	return op + "." + strings.Join(mods, ".")
}

// matchCache caches the rows that an opcode with its modifiers matches. A program
// uses few distinct combinations; the bound is for hostile input.
var matchCache struct {
	sync.RWMutex
	rows map[string][]values
}

const maxMatchCache = 1 << 13

// maxMods is larger than the number of slots of any row.
const maxMods = 24

// matchMods returns the rows that match an opcode with modifiers, with these by slot.
func matchMods(op string, mods []string) []values {
	var room [64]byte
	key := append(room[:0], op...)
	for _, m := range mods {
		key = append(append(key, '.'), m...)
	}
	matchCache.RLock()
	fs, ok := matchCache.rows[string(key)]
	matchCache.RUnlock()
	if ok {
		return fs
	}
	for _, f := range formsByOp[op] {
		if v, ok := f.match(mods); ok && (f.rule == nil || f.rule(v) == "") {
			fs = append(fs, v)
		}
	}
	matchCache.Lock()
	if matchCache.rows == nil || len(matchCache.rows) >= maxMatchCache {
		matchCache.rows = map[string][]values{}
	}
	matchCache.rows[string(key)] = fs
	matchCache.Unlock()
	return fs
}

// matchForm returns the row of the table that an instruction matches, with its
// modifiers by slot: by opcode and modifiers and, if several rows share these (mov
// of a vector and of a scalar), by the shape of its operands. Operands that fit no
// row are left to checkInst. The error says which modifier is wrong or missing.
//
// A row newer than the module's .version or .target is accepted, because real PTX
// does not respect them.
func matchForm(in *Inst) (values, error) {
	if len(in.Mods) > maxMods {
		return values{}, &formError{msg: fmt.Sprintf("%s has %d modifiers, more than any instruction takes", clip(in.Op), len(in.Mods))}
	}
	fs := matchMods(in.Op, in.Mods)
	switch {
	case len(fs) == 1:
		return fs[0], nil
	case len(fs) > 1:
		for _, v := range fs {
			if v.fits(in) {
				return v, nil
			}
		}
		for _, v := range fs {
			if v.fitsShape(in) {
				return v, nil
			}
		}
		return fs[0], nil
	}
	return values{}, explain(in)
}
