package gpu

import (
	"reflect"
	"strings"

	"github.com/heddle-sim/heddle/internal/checkpoint"
	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/mem"
)

// This file: the state of the chip between launches as part of a checkpoint. It is all of GPU, but for what has the tag
// state:"-", and what the rules leave out.

// StateRules say what of a chip is not part of its state between launches: what belongs to programs, which no SM
// holds then, and the stock of free requests.
func StateRules() checkpoint.Rules {
	kernel, pool := reflect.TypeFor[core.Kernel](), reflect.TypeFor[mem.Pool]()
	return checkpoint.Rules{Skip: func(t reflect.Type) bool {
		of := t
		if t.Kind() == reflect.Pointer {
			of = t.Elem()
		}
		if of == pool || of == kernel || t.Kind() == reflect.Pointer && t.Implements(kernel) {
			return true
		}
		switch of.Kind() {
		case reflect.Struct, reflect.Interface:
			_, path, _ := strings.Cut(of.PkgPath(), "/internal/")
			return path != "exec/device" && (path == "exec" || path == "isa" || strings.HasPrefix(path, "exec/") || strings.HasPrefix(path, "isa/"))
		}
		return false
	}}
}

// OnIdle makes the chip call f whenever an action has ended and none is in progress, before the next one begins. An error
// ends the run.
func (g *GPU) OnIdle(f func() error) { g.onIdle = f }

// idles calls the owner's function if nothing is in progress.
func (g *GPU) idles() error {
	if g.onIdle == nil || g.running > 0 || g.copies.n > 0 || g.stale || g.machine != nil {
		return nil
	}
	for _, o := range g.ops.list {
		if o.warmed && o.state == opWaits {
			return nil // it is rehearsed, and has not run
		}
	}
	return g.onIdle()
}

// Save writes the state of the chip. It must be idle, as in OnIdle.
func (g *GPU) Save(e *checkpoint.Encoder) error { return e.Encode(g) }

// Load reads the state of a chip with the same settings and observers, before the first action begins. Actions may have
// been added.
func (g *GPU) Load(d *checkpoint.Decoder) error {
	g.last.good = false
	return d.Decode(g)
}

// Past ends an action that was added and ended in the run that goes on: it does nothing and takes no time.
func (g *GPU) Past(o *Op, start, end uint64) {
	o.Start = start
	for i, x := range g.ops.ready {
		if x == o {
			g.ops.ready = append(g.ops.ready[:i], g.ops.ready[i+1:]...)
			break
		}
	}
	g.endOp(o, end)
}
