package exec

import (
	"context"

	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: what machines of all instruction sets keep between launches, and
// what their launches report to core models.

// Crew holds the workers of a machine, the memory views of their blocks, and the
// number of instructions that they have issued. A worker of type W owns the state
// that blocks reuse; one goroutine uses it at a time.
type Crew[W any] struct {
	Mem *device.Memory
	New func() *W

	direct *device.View
	views  []*device.View // overlays
	all    []*W           // of functional runs
	idle   []hand[W]      // of blocks that core models have run
	issued uint64
}

// hand is the worker of a core model's block with its view.
type hand[W any] struct {
	w    *W
	view *device.View
}

// Run runs a grid to its end; begin is as Grid.Begin, and also takes the block's
// worker and view.
func (c *Crew[W]) Run(ctx context.Context, g Grid, o Options, begin func(w *W, n uint64, view *device.View) GridBlock) (Result, error) {
	if c.direct == nil {
		c.direct = c.Mem.Direct()
	}
	for len(c.all) < g.Workers(o) {
		c.all = append(c.all, c.New())
	}
	g.Overlay = func(i int) Overlay {
		for len(c.views) <= i {
			c.views = append(c.views, c.Mem.NewOverlay())
		}
		return c.views[i]
	}
	g.Begin = func(worker int, n uint64, overlay int) GridBlock {
		view := c.direct
		if overlay != Direct {
			view = c.views[overlay]
		}
		return begin(c.all[worker], n, view)
	}
	res, err := g.Run(ctx, o, c.issued)
	c.issued += res.WarpInsts
	return res, err
}

// Borrow gives a core model's block its own worker, since such blocks may run
// concurrently, and a direct view of memory.
func (c *Crew[W]) Borrow() (*W, *device.View) {
	if n := len(c.idle); n > 0 {
		h := c.idle[n-1]
		c.idle = c.idle[:n-1]
		return h.w, h.view
	}
	return c.New(), c.Mem.Direct()
}

// Return takes them back.
func (c *Crew[W]) Return(w *W, view *device.View) { c.idle = append(c.idle, hand[W]{w, view}) }

// Order is the part of a Work that executors share.
type Order struct {
	Launch *Launch
	Insts  []*isa.Inst
	About  Traits

	Cycles *uint64 // the current time; nil until a core model sets it
	Hertz  uint64
}

// NewOrder makes the shared part of a launch's Work; about is what its executor knows
// about it.
func NewOrder(l *Launch, insts []*isa.Inst, about Traits) *Order {
	w := &Order{Launch: l, Insts: insts, About: about}
	w.About.Kernel, w.About.Cooperative, w.About.Placed = l.Kernel, l.Cooperative, true
	w.About.SetTime = func(cycles *uint64, hertz uint64) { w.Cycles, w.Hertz = cycles, hertz }
	return w
}

// Name is as in Work, and so are the others.
func (w *Order) Name() string      { return w.Launch.Kernel.Name() }
func (w *Order) Blocks() uint64    { return w.Launch.Grid.Count() }
func (w *Order) Threads() int      { return int(w.Launch.Block.Count()) }
func (w *Order) Registers() int    { return w.Launch.Kernel.Registers() }
func (w *Order) Shared() int       { return w.Launch.Kernel.StaticShared() + w.Launch.Shared }
func (w *Order) Code() []*isa.Inst { return w.Insts }
func (w *Order) Traits() Traits    { return w.About }
