package checkpoint

import (
	"fmt"
	"reflect"
	"strings"
)

// Rules say what the walk leaves out beside fields with the tag.
type Rules struct {
	// Skip reports whether values of a type are left out; may be nil.
	Skip func(t reflect.Type) bool
}

// Tag is the key of the tag of fields that are left out; its value is "-".
const Tag = "state"

// how is what the walk does with the values of a type.
type how uint8

const (
	leave    how = iota // nothing
	raw                 // their bytes in memory, as they hold no pointers
	text                // strings
	fields              // each
	elements            // of an array
	list                // slices
	table               // maps
	pointee             // pointers
	dynamic             // interfaces
	refuse              // an error
)

// plan is how values of a type are walked.
type plan struct {
	how    how
	typ    reflect.Type
	elem   *plan // of arrays, slices, pointers; values of maps
	key    *plan // of maps
	fields []field
}

// field is a field that is walked.
type field struct {
	index int
	name  string
	plan  *plan
}

// planner makes plans, one for each type.
type planner struct {
	rules Rules
	known map[reflect.Type]*plan
}

func newPlanner(r Rules) *planner { return &planner{rules: r, known: map[reflect.Type]*plan{}} }

// flat reports whether values of a type are nothing but their bytes.
func (p *planner) flat(t reflect.Type) bool {
	if p.skips(t) {
		return false
	}
	switch t.Kind() {
	case reflect.Array:
		return p.flat(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.Tag.Get(Tag) == "-" || !p.flat(f.Type) {
				return false
			}
		}
		return !lock(t)
	}
	return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Complex128 && t.Kind() != reflect.Uintptr
}

// skips reports whether values of a type are left out.
func (p *planner) skips(t reflect.Type) bool {
	return t.Kind() == reflect.Func || p.rules.Skip != nil && p.rules.Skip(t)
}

// lock reports whether a type is for synchronisation.
func lock(t reflect.Type) bool { return t.PkgPath() == "sync" || t.PkgPath() == "sync/atomic" }

// of returns the plan for a type.
func (p *planner) of(t reflect.Type) *plan {
	if x := p.known[t]; x != nil {
		return x
	}
	x := &plan{typ: t}
	p.known[t] = x // first: types refer to themselves
	switch k := t.Kind(); {
	case p.skips(t):
		x.how = leave
	case p.flat(t):
		x.how = raw
	case lock(t):
		x.how = refuse
	case k == reflect.String:
		x.how = text
	case k == reflect.Struct:
		x.how = fields
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Tag.Get(Tag) == "-" {
				continue
			}
			if y := p.of(f.Type); y.how != leave {
				x.fields = append(x.fields, field{i, f.Name, y})
			}
		}
	case k == reflect.Array:
		x.how = elements
		x.within(p)
	case k == reflect.Slice:
		x.how = list
		x.within(p)
	case k == reflect.Pointer:
		x.how = pointee
		x.within(p)
	case k == reflect.Map:
		x.how, x.key, x.elem = table, p.of(t.Key()), p.of(t.Elem())
		if x.key.how != raw && x.key.how != text {
			x.how = refuse
		}
	case k == reflect.Interface:
		x.how = dynamic
	default:
		x.how = refuse
	}
	return x
}

// within plans the values in those of the type. Of what is left out, nothing needs to be kept.
func (x *plan) within(p *planner) {
	if x.elem = p.of(x.typ.Elem()); x.elem.how == leave {
		x.how = leave
	}
}

// Check returns the fields below a type that cannot be written, each as TYPE.FIELD with the type of the field. What
// interfaces hold is not seen.
func Check(t reflect.Type, r Rules) (list []string) {
	p := newPlanner(r)
	seen := map[*plan]bool{}
	var walk func(x *plan, name string)
	walk = func(x *plan, name string) {
		if x == nil || seen[x] {
			return
		}
		if x.how == refuse {
			list = append(list, fmt.Sprintf("%s: %v", name, x.typ))
			return
		}
		seen[x] = true
		for _, f := range x.fields {
			walk(f.plan, x.typ.String()+"."+f.name)
		}
		walk(x.key, name)
		walk(x.elem, name)
	}
	walk(p.of(t), t.String())
	return list
}

// fail is an error within the walk.
type fail struct{ err error }

// caught turns a fail into an error with the place where it was.
func caught(err *error, path *[]string) {
	switch x := recover().(type) {
	case nil:
	case fail:
		*err = x.err
		if len(*path) > 0 {
			*err = fmt.Errorf("%s: %w", strings.Join(*path, "."), x.err)
		}
	default:
		panic(x)
	}
}
