// Package param turns the fields of structs into parameters. A model declares each
// of its settings once, as a field with tags; reading, checking, explaining and
// listing settings are derived from these. The tags are:
//
//	help  description of the value
//	unit  its unit
//	want  the bounds of a number, both included, and "pow2" for a power of two
//	enum  the words that the value may be; a field of a number holds the place
//	      of its word in the list, in which "-" is no word
//	plug  the kind of part, as package plug has it, of which a program can register
//	      more than the words of enum
//	def   the default; without it, the value of the struct
//	      that the model hands out, or none
//	key   the last part of the name, where it is not the field's in small letters;
//	      "-" makes the field none, and "." of a struct has its parameters stand
//	      beside the others, as one that is embedded without a key
//	each  for an array of structs, the names of its elements; "-" has no parameters
//	source source of the default
//	inert why no run depends on the value; of an array of structs, "5: why" is for
//	      its elements from the fifth on
//	from  the options of other simulators' files that set it; see option.go
//	gate  the other parameters of its struct have no effect while it is 0
//
// The name of a parameter is that of its field, after the names of the structs in
// which it stands: Modern.L0I.Ways is modern.l0i.ways. An array of numbers is one
// parameter, a list.
//
// The package imports no model.
package param

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/heddle-sim/heddle/internal/near"
	"github.com/heddle-sim/heddle/internal/plug"
)

// Kind is the type of a value.
type Kind uint8

// The kinds.
const (
	Int Kind = iota
	Bool
	Text
	MHz
	List
)

// Param is one parameter.
type Param struct {
	Name       string   // such as "l2.ways"
	Help       string   // description of the value
	Unit       string   // "" if none
	Enum       []string // the words that it may have; nil for any text and all numbers
	Source     string   // source of its default, if given
	Min, Max   int64    // bounds of a number
	Power      bool     // of a number: it is a power of two
	Default    string   // default value
	HasDefault bool
	Inert      string // why no run depends on the value; "" if runs do
	Len        int    // numbers of a list; 0: up to maxList
	Kind       Kind
	Gate       bool   // the others of its table have no effect while it is 0
	Root       string // the struct that it is in, as named by the caller of walk

	path  []step
	words []string // Enum, by the numbers that stand for them
	kind  string   // kind of part, "" if a program cannot register one
	from  string   // its from tag
}

// step goes from a struct to one of its fields and, unless elem is negative, to an
// element of that array.
type step struct{ field, elem int }

// maxList bounds the values of a list (our choice).
const maxList = 16

// Hz is a clock frequency. Files give it in MHz, with up to six decimals.
type Hz int64

// Error is a value that a parameter cannot have.
type Error struct {
	Key   string
	Value string // as in a file
	Why   string // what is wrong with it
	Want  string // what is valid; "" if Why says so
}

// Error describes the value in one line.
func (e *Error) Error() string {
	if e.Want == "" {
		return fmt.Sprintf("%s = %s%s", e.Key, e.Value, e.Why)
	}
	return fmt.Sprintf("%s = %s%s %s", e.Key, e.Value, e.Why, e.Want)
}

// Conflict is a model's error about settings that contradict each other. Keys are
// the settings concerned, as far as the model knows their names.
type Conflict struct {
	Keys []string
	Why  string
}

// Error returns what is wrong. Callers that know the values of the keys can add
// them.
func (c *Conflict) Error() string { return c.Why }

// Clash returns a Conflict about keys, which are separated by blanks.
func Clash(keys, format string, a ...any) error {
	return &Conflict{strings.Fields(keys), fmt.Sprintf(format, a...)}
}

// Of returns the parameters of the struct to which root points, with names that
// begin with prefix. If whole is set, the struct's values are the defaults.
func Of(root any, prefix string, whole bool) []Param {
	var list []Param
	v := reflect.ValueOf(root).Elem()
	walk(v.Type(), prefix, nil, given{}, &list)
	for i := range list {
		if p := &list[i]; whole && !p.HasDefault {
			p.Default, p.HasDefault = p.Format(root), true
		}
	}
	return list
}

// snake turns a field's name into the last part of a parameter's.
func snake(name string) string {
	up := func(i int) bool { return name[i] >= 'A' && name[i] <= 'Z' }
	low := func(i int) bool { return i < len(name) && name[i] >= 'a' && name[i] <= 'z' }
	var b strings.Builder
	for i := range len(name) {
		if i > 0 && up(i) && (low(i-1) || low(i+1)) {
			b.WriteByte('_')
		}
		b.WriteByte(name[i])
	}
	return strings.ToLower(b.String())
}

// given has the tags of a struct field that apply to the parameters in it: the
// default of its Enabled, and why no run depends on any of them.
type given struct{ enabled, inert string }

// walk adds the parameters of a struct.
func walk(t reflect.Type, prefix string, path []step, above given, list *[]Param) {
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("key")
		if !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = snake(f.Name)
		}
		name = prefix + name
		at := append(slices.Clone(path), step{i, -1})
		switch k := f.Type.Kind(); {
		case k == reflect.Struct && (f.Tag.Get("key") == "." || f.Anonymous && f.Tag.Get("key") == ""):
			walk(f.Type, prefix, at, above, list)
			continue
		case k == reflect.Struct:
			walk(f.Type, name+".", at, given{enabled: f.Tag.Get("enabled")}, list)
			continue
		case k == reflect.Array && f.Type.Elem().Kind() == reflect.Struct:
			names, named := f.Tag.Lookup("each")
			each := strings.Split(names, " ")
			number, why, _ := strings.Cut(f.Tag.Get("inert"), ": ")
			inert, _ := strconv.Atoi(number)
			for j := range f.Type.Len() {
				last := fmt.Sprintf("%s%d.", name, j+1)
				if named {
					if j >= len(each) || each[j] == "-" {
						continue
					}
					last = name + "." + each[j] + "."
				}
				var of given
				if inert > 0 && j+1 >= inert {
					of.inert = why
				}
				walk(f.Type.Elem(), last, append(slices.Clone(path), step{i, j}), of, list)
			}
			continue
		}
		p := Param{Name: name, Help: f.Tag.Get("help"), Unit: f.Tag.Get("unit"), Inert: f.Tag.Get("inert"), Source: f.Tag.Get("source"), path: at, from: f.Tag.Get("from"), Gate: f.Tag.Get("gate") == "true"}
		if above.inert != "" {
			p.Inert = above.inert
		}
		p.Default, p.HasDefault = f.Tag.Lookup("def")
		if above.enabled != "" && f.Name == "Enabled" {
			p.Default = above.enabled
		}
		if e, ok := f.Tag.Lookup("enum"); ok {
			p.words = strings.Split(e, "|")
			p.Enum = slices.DeleteFunc(slices.Clone(p.words), func(w string) bool { return w == "-" })
		}
		if p.kind = f.Tag.Get("plug"); p.kind != "" {
			p.Enum = append(p.Enum, plug.Names(p.kind)...)
		}
		p.Kind = kindOf(f.Type, name, p.Enum != nil)
		if f.Type.Kind() == reflect.Array {
			p.Len = f.Type.Len()
		}
		p.bounds(f.Tag.Get("want"))
		*list = append(*list, p)
	}
}

func kindOf(t reflect.Type, name string, word bool) Kind {
	switch {
	case t == reflect.TypeFor[Hz]():
		return MHz
	case word || t.Kind() == reflect.String:
		return Text
	case t.Kind() == reflect.Int:
		return Int
	case t.Kind() == reflect.Bool:
		return Bool
	case t == reflect.TypeFor[[]int](), t.Kind() == reflect.Array && t.Elem().Kind() == reflect.Int:
		return List
	}
	panic(fmt.Sprintf("param: %s has the type %v, for which there are no values", name, t))
}

// bounds reads a want tag.
func (p *Param) bounds(want string) {
	if p.Kind == MHz {
		p.Min, p.Max = 1, 100e9
	}
	if p.Kind != Int && p.Kind != List {
		return
	}
	want, p.Power = strings.CutSuffix(want, " pow2")
	lo, hi, _ := strings.Cut(want, "..")
	var err1, err2 error
	p.Min, err1 = strconv.ParseInt(lo, 10, 64)
	p.Max, err2 = strconv.ParseInt(hi, 10, 64)
	if err1 != nil || err2 != nil {
		panic("param: bounds of " + p.Name)
	}
}

// Choose sets the words that a text may be.
func (p *Param) Choose(words []string) { p.Enum, p.words = words, words }

// Clone returns a copy of a struct of parameters, to which root points. It has no
// slices.
func Clone[T any](root T) T {
	v := reflect.New(reflect.TypeOf(root).Elem())
	v.Elem().Set(reflect.ValueOf(root).Elem())
	return v.Interface().(T)
}

// At returns the place of the value in a struct to which root points.
func (p *Param) At(root any) reflect.Value {
	v := reflect.ValueOf(root).Elem()
	for _, s := range p.path {
		v = v.Field(s.field)
		if s.elem >= 0 {
			v = v.Index(s.elem)
		}
	}
	return v
}

// Value returns the value in the types of package toml.
func (p *Param) Value(root any) any {
	v := p.At(root)
	switch p.Kind {
	case Bool:
		return v.Bool()
	case Text:
		if v.Kind() == reflect.String {
			return v.String()
		}
		if n := number(v); n >= 0 && n < int64(len(p.words)) {
			return p.words[n]
		} else if list := p.plugged(); n >= plug.First && n-plug.First < int64(len(list)) {
			return list[n-plug.First]
		}
		return fmt.Sprint(number(v))
	case List:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = v.Index(i).Int()
		}
		return list
	}
	return v.Int()
}

// plugged returns the words registered so far.
func (p *Param) plugged() []string {
	if p.kind == "" {
		return nil
	}
	return plug.Names(p.kind)
}

// number reads a field of whole numbers, with or without sign.
func number(v reflect.Value) int64 {
	if v.CanUint() {
		return int64(v.Uint())
	}
	return v.Int()
}

// Assign stores a value in the types of package toml.
func (p *Param) Assign(root, v any) error {
	at := p.At(root)
	switch x := v.(type) {
	case int64:
		switch p.Kind {
		case Int:
			if err := p.within(x); err != nil {
				return err
			}
			at.SetInt(x)
			return nil
		case MHz:
			return p.setHz(at, strconv.FormatInt(x, 10))
		}
	case float64:
		if p.Kind == MHz {
			return p.setHz(at, strconv.FormatFloat(x, 'f', -1, 64))
		}
	case bool:
		if p.Kind == Bool {
			at.SetBool(x)
			return nil
		}
	case string:
		if p.Kind == Text {
			return p.setText(at, x)
		}
	case []any:
		if p.Kind == List {
			return p.setList(at, x)
		}
	}
	return p.wrong(v)
}

func (p *Param) within(n int64) error {
	if n >= p.Min && n <= p.Max && (!p.Power || n&(n-1) == 0) {
		return nil
	}
	want := fmt.Sprintf("want %d to %d", p.Min, p.Max)
	if p.Power {
		want = fmt.Sprintf("want a power of two from %d to %d", p.Min, p.Max)
	}
	return &Error{p.Name, strconv.FormatInt(n, 10), " is out of bounds:", want}
}

func (p *Param) setHz(at reflect.Value, text string) error {
	hz, err := ParseMHz(text)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	at.SetInt(int64(hz))
	return nil
}

func (p *Param) setText(at reflect.Value, s string) error {
	if err := CheckText(p.Name, s); err != nil {
		return err
	}
	i := slices.Index(p.words, s)
	if k := slices.Index(p.plugged(), s); k >= 0 {
		i = plug.First + k
	}
	switch {
	case p.Enum != nil && i < plug.First && !slices.Contains(p.Enum, s):
		if n := near.Name(s, p.Enum); n != "" {
			return &Error{p.Name, strconv.Quote(s), " is not known; did you mean", strconv.Quote(n) + "?"}
		}
		return p.wrong(s)
	case at.Kind() == reflect.String:
		at.SetString(s)
	case at.CanUint():
		at.SetUint(uint64(i))
	default:
		at.SetInt(int64(i))
	}
	return nil
}

func (p *Param) setList(at reflect.Value, in []any) error {
	if len(in) == 0 || len(in) > maxList || p.Len > 0 && len(in) != p.Len {
		return p.wrong(in)
	}
	out := make([]int, len(in))
	for i, x := range in {
		n, ok := x.(int64)
		if !ok {
			return p.wrong(in)
		}
		if n < p.Min || n > p.Max {
			return fmt.Errorf("%s: %d is out of bounds: want %d to %d", p.Name, n, p.Min, p.Max)
		}
		out[i] = int(n)
	}
	if at.Kind() == reflect.Slice {
		at.Set(reflect.ValueOf(out))
		return nil
	}
	for i, n := range out {
		at.Index(i).SetInt(int64(n))
	}
	return nil
}

// wrong returns an error that says which values the parameter has.
func (p *Param) wrong(v any) error {
	if s, ok := v.(string); ok {
		v = strconv.Quote(s)
	}
	return &Error{p.Name, fmt.Sprintf("%.60s", fmt.Sprint(v)), " is invalid; want", p.Takes()}
}

// Takes says in words what values the parameter has.
func (p *Param) Takes() string {
	switch p.Kind {
	case Bool:
		return "true or false"
	case MHz:
		return "a frequency in MHz"
	case List:
		if p.Len > 0 {
			return fmt.Sprintf("%d numbers from %d to %d, such as %s", p.Len, p.Min, p.Max, p.Default)
		}
		return fmt.Sprintf("up to %d numbers from %d to %d, such as [0, 32, 64]", maxList, p.Min, p.Max)
	case Text:
		if p.Enum == nil {
			return "a text"
		}
		list := make([]string, 0, len(p.Enum))
		for _, e := range p.Enum {
			list = append(list, strconv.Quote(e))
		}
		return strings.Join(list, ", ")
	}
	what := "whole number"
	if p.Power {
		what = "power of two"
	}
	return fmt.Sprintf("a %s from %d to %d", what, p.Min, p.Max)
}

// Parse reads a value written as text: TOML, or a text without its quotes, or a
// list without its brackets.
func (p *Param) Parse(text string) (any, error) {
	text = strings.TrimSpace(text)
	number := func(s string) (any, error) {
		n, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimSpace(s), "_", ""), 10, 64)
		if err != nil {
			return nil, p.wrong(text)
		}
		return n, nil
	}
	switch p.Kind {
	case Int:
		return number(text)
	case Bool:
		if text != "true" && text != "false" {
			return nil, p.wrong(text)
		}
		return text == "true", nil
	case MHz:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, p.wrong(text)
		}
		return f, nil
	case List:
		if in, ok := strings.CutPrefix(text, "["); ok {
			if in, ok = strings.CutSuffix(in, "]"); !ok {
				return nil, p.wrong(text)
			}
			text = strings.TrimSuffix(strings.TrimSpace(in), ",")
		}
		var list []any
		for s := range strings.SplitSeq(text, ",") {
			n, err := number(s)
			if err != nil {
				return nil, err
			}
			list = append(list, n)
		}
		return list, nil
	}
	if n := len(text); n >= 2 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] {
		if text[0] == '\'' {
			return text[1 : n-1], nil
		}
		s, err := strconv.Unquote(text)
		if err != nil {
			return nil, p.wrong(text)
		}
		return s, nil
	}
	return text, nil
}

// Format writes the value as TOML.
func (p *Param) Format(root any) string {
	switch v := p.Value(root).(type) {
	case string:
		return Quote(v)
	case int64:
		if p.Kind == MHz {
			return Hz(v).MHz()
		}
		return strconv.FormatInt(v, 10)
	case []any:
		return strings.ReplaceAll(fmt.Sprint(v), " ", ", ")
	default:
		return fmt.Sprint(v)
	}
}

// Check returns an error for the first value of a struct that its parameter cannot
// have.
func Check(list []Param, root any) error {
	for i := range list {
		p := &list[i]
		switch v := p.Value(root).(type) {
		case int64:
			if p.Kind == Int {
				if err := p.within(v); err != nil {
					return err
				}
			}
		case string:
			if p.Enum != nil && !slices.Contains(p.Enum, v) && !slices.Contains(p.plugged(), v) {
				return p.wrong(v)
			}
		case []any:
			for _, n := range v {
				if n := n.(int64); n < p.Min || n > p.Max {
					return fmt.Errorf("%s: %d is out of bounds: want %d to %d", p.Name, n, p.Min, p.Max)
				}
			}
		}
	}
	return nil
}

// Within returns an error if n is out of the bounds of the named parameter.
func Within(list []Param, name string, n int64) error {
	for i := range list {
		if p := &list[i]; p.Name == name {
			return p.within(n)
		}
	}
	panic("param: there is no " + name)
}

// CheckText refuses a text that does not fit into a listing.
func CheckText(key, s string) error {
	if len(s) > 1024 || !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("%s: want a text of one line and at most 1024 bytes", key)
	}
	return nil
}

// Quote writes a text as a basic string of TOML.
func Quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// MHz writes the frequency in MHz, without loss.
func (h Hz) MHz() string {
	s := strconv.FormatInt(int64(h)/1e6, 10)
	if rest := int64(h) % 1e6; rest != 0 {
		s += strings.TrimRight(fmt.Sprintf(".%06d", rest), "0")
	}
	return s
}

// ParseMHz reads a frequency in MHz.
func ParseMHz(s string) (Hz, error) {
	whole, frac, _ := strings.Cut(s, ".")
	frac = strings.TrimRight(frac, "0")
	if len(frac) > 6 {
		return 0, fmt.Errorf("%s MHz: want a whole number of Hz", s)
	}
	n, err := strconv.ParseUint(whole+frac+strings.Repeat("0", 6-len(frac)), 10, 63)
	if err != nil || whole == "" {
		return 0, fmt.Errorf("%.40q: want a frequency in MHz", s)
	}
	if n < 1 || n > 100e9 {
		return 0, fmt.Errorf("%s MHz is out of bounds: want more than 0 and at most 100000", s)
	}
	return Hz(n), nil
}
