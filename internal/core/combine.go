package core

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"
)

// This file: adding structs of counters field by field. This is done for every SM at
// the start and end of every kernel, so the layout of each type is worked out once and
// kept as a list of runs of words.

// rule says how a run of counters is combined.
type rule uint8

const (
	ruleSum     rule = iota // uint64: sums and differences
	ruleLargest             // uint64: the largest, also in a difference
	ruleLongest             // int: the largest, also in a difference
)

// words is a run of counters with the same rule in a struct, 8 bytes each.
type words struct {
	at   uintptr
	n    int
	rule rule
}

// list is a slice of counters in a struct.
type list struct {
	at   uintptr
	kind reflect.Type // of the slice
	size uintptr      // of an element
	each *plan
}

// plan is the layout of a type of counters.
type plan struct {
	words []words
	lists []list
}

// plans caches the plans by type.
var plans sync.Map

// planOf returns the plan of a type.
func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p := &plan{}
	p.lay(t, 0, false)
	plans.Store(t, p)
	return p
}

// lay appends a field of a type at an offset. Fields with the tag combine:"max" are
// maxima, other numbers are sums.
func (p *plan) lay(t reflect.Type, at uintptr, largest bool) {
	run := func(r rule) {
		if k := len(p.words) - 1; k >= 0 && p.words[k].rule == r && p.words[k].at+8*uintptr(p.words[k].n) == at {
			p.words[k].n++
			return
		}
		p.words = append(p.words, words{at, 1, r})
	}
	switch t.Kind() {
	case reflect.Uint64:
		if largest {
			run(ruleLargest)
		} else {
			run(ruleSum)
		}
	case reflect.Int:
		run(ruleLongest)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			p.lay(f.Type, at+f.Offset, f.Tag.Get("combine") == "max")
		}
	case reflect.Array:
		for i := range t.Len() {
			p.lay(t.Elem(), at+uintptr(i)*t.Elem().Size(), largest)
		}
	case reflect.Slice:
		p.lists = append(p.lists, list{at, t, t.Elem().Size(), planOf(t.Elem())})
	default:
		panic(fmt.Sprintf("core: counters of type %v", t))
	}
}

// Add adds o's counters to t's: sums are added, of maxima the larger is kept, and
// lists become as long as the longer one.
func Add[T any](t, o *T) {
	planOf(reflect.TypeFor[T]()).combine(unsafe.Pointer(t), unsafe.Pointer(o), false)
}

// Sub subtracts o's counters from t's. Maxima stay.
func Sub[T any](t, o *T) {
	planOf(reflect.TypeFor[T]()).combine(unsafe.Pointer(t), unsafe.Pointer(o), true)
}

func (p *plan) combine(t, o unsafe.Pointer, minus bool) {
	for _, w := range p.words {
		if w.rule == ruleLongest {
			a, b := unsafe.Slice((*int)(unsafe.Add(t, w.at)), w.n), unsafe.Slice((*int)(unsafe.Add(o, w.at)), w.n)
			for i := range a {
				if !minus {
					a[i] = max(a[i], b[i])
				}
			}
			continue
		}
		a, b := unsafe.Slice((*uint64)(unsafe.Add(t, w.at)), w.n), unsafe.Slice((*uint64)(unsafe.Add(o, w.at)), w.n)
		for i := range a {
			switch {
			case w.rule == ruleLargest:
				if !minus {
					a[i] = max(a[i], b[i])
				}
			case minus:
				a[i] -= b[i]
			default:
				a[i] += b[i]
			}
		}
	}
	for _, l := range p.lists {
		// Only address and length of the slices matter, so any element type will do.
		a, b := (*[]struct{})(unsafe.Add(t, l.at)), (*[]struct{})(unsafe.Add(o, l.at))
		if len(*a) < len(*b) {
			n := reflect.MakeSlice(l.kind, len(*b), len(*b))
			v := reflect.NewAt(l.kind, unsafe.Pointer(a)).Elem()
			reflect.Copy(n, v)
			v.Set(n)
		}
		to, from := unsafe.Pointer(unsafe.SliceData(*a)), unsafe.Pointer(unsafe.SliceData(*b))
		for i := range len(*b) {
			l.each.combine(unsafe.Add(to, uintptr(i)*l.size), unsafe.Add(from, uintptr(i)*l.size), minus)
		}
	}
}
