package modern

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem"
)

// This file: what idealisations (core.Ideal) do to the core. Most change its settings or an
// instruction's properties, so that the cycle loop does not know of them.

// idealise changes the settings.
func (c *Config) idealise() {
	d := &c.Ideal
	c.PerfectICache = c.PerfectICache || d.ICache
	c.PerfectConst = c.PerfectConst || d.Const
	if d.RegisterPorts {
		c.Ports = 0
	}
	if d.MSHRs {
		c.PRT = 4096 // more than the warps of an SM have in flight
	}
	if d.Double.Memory {
		c.AcceptCycles = core.Half(true, c.AcceptCycles)
		c.L1Sectors, c.L1Lookups, c.Coalescers = min(2*c.L1Sectors, 4096), min(2*c.L1Lookups, 64), min(2*c.Coalescers, 64)
	}
}

// doubled reports whether a pipe is doubled.
func (c *Config) doubled(p Pipe) bool {
	d := &c.Ideal.Double
	switch p {
	case Int:
		return d.Int
	case FP32:
		return d.FP32
	case FP64:
		return d.FP64
	case SFU:
		return d.SFU
	case Tensor:
		return d.Tensor
	case Uniform:
		return d.Uniform
	}
	return false
}

// issued is called when an instruction has issued, if diverged lanes or another issue in the
// same cycle may follow.
func (c *Core) issued(s *subcore, g int32, o *op, t uint64) {
	if c.paths != nil {
		c.skip(g, o)
	}
	already := c.acct.Issued & s.mine
	if !c.cfg.Ideal.IssueWidth || already&(already-1) != 0 {
		return
	}
	// Another warp issues in this cycle, if one may: the stages after issue move on for it.
	// Control bits count the cycles between a warp's own instructions.
	if s.mine&c.ready&c.has&^(c.stalled|c.waits|c.fence|c.imc|c.copying|c.held.all()|already) == 0 {
		return
	}
	c.allocate(s, t)
	c.control(s, t)
	held := already &^ c.stalled
	c.stalled |= held
	c.issue(s, t)
	c.stalled &^= held
}

// fetchMore is the second fetch of a cycle in every sub-core. What it fetches comes as late
// as the first, by the way of what arrives after a miss.
func (c *Core) fetchMore(t uint64) {
	for i := range c.subs {
		s := &c.subs[i]
		x := &s.arriving[(t+fetchStages)&7]
		first, n := *x, s.nArrive
		x.valid = false
		c.fetch(s, t)
		if !first.valid {
			continue
		}
		if x.valid {
			x.due = t + fetchStages
			s.late.Push(*x)
		}
		*x, s.nArrive = first, n
	}
}

// pack makes the accesses of an instruction touch as few lines and sectors as its lanes'
// bytes fill: whole lines among those that it touches (core.Packed).
func (c *Core) pack(f *flight, lanes int) {
	all, touched := isa.LaneMask(0), 0
	for i := range f.acc {
		all |= f.acc[i].lanes
		touched += bits.OnesCount8(f.acc[i].sectors)
	}
	const sector, per = mem.SectorBytes, core.SectorsPerLine
	n, elem := len(f.acc), int(f.op.elem)
	left, lines, from := core.Packed(n, touched, lanes*elem, elem, &f.acc[0].bytes)
	if n == lines && touched == left {
		return
	}
	c.packed = c.packed[:0]
	for i := range lines {
		a := f.acc[(from+i)%n]
		a.lanes = all
		at := bits.TrailingZeros8(a.sectors)
		a.sectors, a.bytes = 0, mem.ByteMask{}
		for j := range min(per, left) {
			k := (at + j) % per
			a.sectors |= 1 << k
			a.bytes.Set(k*sector, sector)
		}
		left -= min(per, left)
		c.packed = append(c.packed, a)
	}
	f.acc = append(f.acc[:0], c.packed...)
}

// skip executes what a warp executes next for nothing: the instructions of fixed latency of
// a path whose lanes have executed less than others. It is called when an instruction has
// issued.
func (c *Core) skip(g int32, by *op) {
	w := &c.warps[g]
	e := &c.eff
	p := &c.paths[g]
	p.Charge(e.Active, w.X.Live())
	if c.hazards != nil || by.ctl != nil && counts(by.ctl) {
		return // the counter that it increments is not seen before the next cycle
	}
	any := false
	for w.State == exec.Ready {
		_, active, addr, st := w.X.Next()
		i := addr >> w.K.Shift
		if st != exec.Ready || i >= uint64(len(w.ops)) {
			break
		}
		o := &w.ops[i]
		if !c.skippable(g, o) || !p.Free(active, w.X.Live()) {
			break
		}
		any = true
		if err := c.execute(w, e); err != nil {
			c.fail(err)
			return
		}
		c.Stats.CountFree(w.Places, int(i), e.Lanes)
	}
	if any {
		c.BreakSpin()
		c.refresh(g)
		if w.State != exec.Ready {
			c.RefreshBlock(w.Block)
		}
	}
}

// counts reports whether an instruction increments counters.
func counts(c *isa.Control) bool { return c.Write < isa.Counters || c.Read < isa.Counters }

// skippable reports whether an instruction can execute outside of the pipeline now.
func (c *Core) skippable(g int32, o *op) bool {
	in := o.inst
	if o.late || o.fence != noFence || o.group != isa.NotAsync || in.Barrier || in.Clock || in.Depbar != nil || !in.Private || in.Flow == isa.FlowExit {
		return false
	}
	w := &c.warps[g]
	if o.ctl != nil {
		return o.ctl.Wait&w.busySB == 0 && w.nDepbars == 0 && !counts(o.ctl)
	}
	// Results of fixed latency are known. They are those of lanes on another path.
	list := c.busy[int(g)*c.words:]
	for i := range o.test {
		p := &o.test[i]
		if r := &list[p.Word]; (r.long|r.short)&p.Mask != 0 {
			return false
		}
	}
	if w.d == nil {
		return true
	}
	rd := c.readers[int(g)*c.total : (int(g)+1)*c.total]
	for _, r := range o.dst {
		if rd[r] > 0 {
			return false
		}
	}
	return true
}

// execute executes the next instruction of a warp; all results of fixed latency are visible
// before and after it.
func (c *Core) execute(w *warp, e *exec.Effects) error {
	if w.d == nil {
		return w.X.Step(e)
	}
	c.show(w, core.Never)
	p, err := w.d.Issue(e)
	if err != nil || p < 0 {
		return err
	}
	if w.d.Late(p) {
		if err := w.d.Access(p, e); err != nil {
			return err
		}
	}
	w.d.Commit(p)
	return nil
}
