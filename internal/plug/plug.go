// Package plug holds the parts that a program registers in place of built-in ones:
// warp schedulers, replacement policies, and others. Each kind of part is a Point,
// which belongs to the model that uses it; a machine's file chooses registered
// parts by name, like built-in ones. The package knows no model.
package plug

import (
	"fmt"
	"math"
	"slices"
	"sync"
)

// First is the number of the first part registered at a point. Built-in parts have
// smaller numbers.
const First = 128

var (
	mu         sync.RWMutex
	points     = map[string]*names{}
	registered int // parts of all kinds
)

// names are the names of the parts of one kind, in the order of their registration.
type names struct{ list []string }

// Point is a kind of part, made by functions of type T.
type Point[T any] struct {
	kind  string
	taken []string
	*names
	makers []T
}

// New returns a new point. Kind is its name in messages and in the plug tags of
// parameters; taken are the names of its built-in parts.
func New[T any](kind string, taken ...string) *Point[T] {
	mu.Lock()
	defer mu.Unlock()
	if points[kind] != nil {
		panic("plug: two points have the name " + kind)
	}
	p := &Point[T]{kind: kind, taken: taken, names: &names{}}
	points[kind] = p.names
	return p
}

// Take adds names of built-in parts; the models that have them call it in init.
func (p *Point[T]) Take(names ...string) {
	mu.Lock()
	defer mu.Unlock()
	p.taken = append(p.taken, names...)
}

// Register adds a part. It panics if the name is empty or taken: like package
// database/sql, because only a fault in the program can do that.
func (p *Point[T]) Register(name string, maker T) {
	mu.Lock()
	defer mu.Unlock()
	if name == "" || slices.Contains(p.list, name) || slices.Contains(p.taken, name) {
		panic(fmt.Sprintf("heddle: cannot register a %s as %q: want a name that is not empty and not taken", p.kind, name))
	}
	if First+len(p.list) > math.MaxUint8 { // settings keep numbers of parts in bytes
		panic(fmt.Sprintf("heddle: cannot register %q: more than %d parts of kind %s", name, len(p.list), p.kind))
	}
	p.list = append(p.list, name)
	p.makers = append(p.makers, maker)
	registered++
}

// Maker returns the constructor of part n, counted from First; false if n is a
// built-in part.
func (p *Point[T]) Maker(n int) (T, bool) {
	mu.RLock()
	defer mu.RUnlock()
	if n -= First; n < 0 || n >= len(p.makers) {
		var none T
		return none, false
	}
	return p.makers[n], true
}

// Has reports whether n is the number of a part: a built-in one, whose names are
// builtIn, or a registered one.
func (p *Point[T]) Has(n int, builtIn []string) bool {
	_, registered := p.Maker(n)
	return registered || n >= 0 && n < len(builtIn)
}

// Name returns the name of part n of a model whose built-in parts have these names.
func (p *Point[T]) Name(n int, builtIn []string) string {
	if n >= 0 && n < len(builtIn) {
		return builtIn[n]
	}
	mu.RLock()
	defer mu.RUnlock()
	if i := n - First; i >= 0 && i < len(p.list) {
		return p.list[i]
	}
	return fmt.Sprintf("%s %d", p.kind, n)
}

// Names returns the names registered for a kind of part, in the order of their
// numbers.
func Names(kind string) []string {
	mu.RLock()
	defer mu.RUnlock()
	p := points[kind]
	if p == nil {
		panic("plug: there is no point " + kind)
	}
	return slices.Clone(p.list)
}

// Count returns the number of registered parts of all kinds. When it changes, lists
// of names are out of date.
func Count() int {
	mu.RLock()
	defer mu.RUnlock()
	return registered
}
