package gpu

import (
	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
)

// This file: launches that begin while the one before them in their stream runs (programmatic dependent launch). They
// begin as soon as all blocks of that one, their primary, have ended or executed griddepcontrol.launch_dependents; the
// launch latency counts from then on (assumed). Their griddepcontrol.wait waits until it has ended (PTX manual,
// griddepcontrol), and they end no earlier.

// dependence is what an action knows of it.
type dependence struct {
	primary    *Op   // a launch that may still run when this one begins; nil once that has ended
	dependents []*Op // launches whose primary it is
	barred     bool  // its primary's blocks do not let it begin yet
	left       bool  // its kernel has ended, but not its primary
}

// mayOverlap reports whether a launch may begin while x runs, the action before it in its stream.
func (g *GPU) mayOverlap(o, x *Op) bool {
	_, able := g.cores[0].(core.Dependents)
	return able && o.Programmatic && o.Kind == OpLaunch && x.Kind == OpLaunch && x.chip == g && x.state <= opRuns
}

// follow makes a launch wait until the blocks of its primary let it begin.
func (o *Op) follow(primary *Op) {
	o.primary = primary
	primary.dependents = append(primary.dependents, o)
	if o.barred = !primary.lets(); o.barred {
		o.waits++
	}
}

// lets reports whether all blocks of a launch have ended or let its dependents begin.
func (o *Op) lets() bool { return o.Begun() && o.Kernel.Blocks+o.Kernel.releasing == o.Kernel.total }

// letBegin lets the dependents of a launch begin if its blocks do.
func (g *GPU) letBegin(o *Op) {
	if o == nil || len(o.dependents) == 0 || !o.lets() {
		return
	}
	for _, x := range o.dependents {
		g.unbar(x)
	}
	g.offered = true
}

// unbar lifts what bars a dependent.
func (g *GPU) unbar(x *Op) {
	if !x.barred {
		return
	}
	x.barred = false
	if x.waits--; x.waits == 0 {
		g.ops.offer(x)
	}
}

// releases is called when a warp of a block has let dependents begin.
func (g *GPU) releases(c core.Kernel, b exec.Block) {
	for _, k := range g.slots {
		if k == nil || k.core != c {
			continue
		}
		if k.released == nil {
			k.released = make([]uint64, (k.total+63)/64)
		}
		at := b.Linear()
		if bit := uint64(1) << (at & 63); k.released[at>>6]&bit == 0 {
			k.released[at>>6] |= bit
			k.releasing++
			g.letBegin(k.op)
		}
		return
	}
}

// leave ends a launch whose kernel has ended, but not before its primary.
func (g *GPU) leave(o *Op) {
	if o.left = o.primary != nil && !o.cut; !o.left {
		g.endOp(o, o.Kernel.End)
	}
}

// letGo lets the dependents of an action go on that has ended.
func (g *GPU) letGo(o *Op) {
	list := o.dependents
	o.dependents = nil
	for _, x := range list {
		x.primary = nil
		g.unbar(x)
		switch {
		case x.left:
			g.endOp(x, o.End)
		case x.state == opRuns:
			x.Kernel.core.(core.Dependent).Hold(false)
			for _, c := range g.cores {
				c.(core.Dependents).Go(x.Kernel.core)
			}
		}
	}
}
