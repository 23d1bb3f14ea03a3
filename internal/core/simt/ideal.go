package simt

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
	if d.IssueWidth { // a warp's buffer has two instructions
		c.MaxIssue, c.DualDiffer, c.FetchWidth = 2, false, min(2*c.FetchWidth, 16)
	}
	if d.Double.Memory {
		c.MemPorts = min(2*c.MemPorts, 8)
	}
}

// doubled reports whether a kind of unit is doubled.
func (c *Config) doubled(s Set) bool {
	d := &c.Ideal.Double
	switch s {
	case Int:
		return d.Int
	case SP:
		return d.FP32
	case DP:
		return d.FP64
	case SFU:
		return d.SFU
	case Tensor, Spec3:
		return d.Tensor
	case Spec4:
		return d.Uniform
	}
	return false
}

// pack makes the accesses of an instruction touch as few lines and sectors as its lanes'
// bytes fill: whole lines among those that it touches (core.Packed).
func (c *Core) pack(f *flight) {
	const sector, per = mem.SectorBytes, core.SectorsPerLine
	all, touched := isa.LaneMask(0), 0
	lines := c.lines[:0]
	for i := range f.acc {
		a := &f.acc[i]
		all |= a.lanes
		touched += bits.OnesCount8(a.sectors)
		base := a.addr &^ (mem.LineBytes - 1)
		if n := len(lines); n == 0 || lines[n-1].addr != base {
			lines = append(lines, access{addr: base, sectors: a.sectors, bytes: a.bytes})
		} else {
			lines[n-1].sectors |= a.sectors
			lines[n-1].bytes = lines[n-1].bytes.Or(a.bytes)
		}
	}
	c.lines = lines
	n, elem := len(lines), int(f.op.elem)
	// Accesses are sent from the last to the first.
	left, need, from := core.Packed(n, touched, f.lanes.Count()*elem, elem, &lines[n-1].bytes)
	if n == need && touched == left {
		return
	}
	single := c.sectorsOnly(f)
	f.acc = f.acc[:0]
	for i := range need {
		x := lines[(from+i)%n]
		at := bits.TrailingZeros8(x.sectors)
		whole := access{addr: x.addr, size: mem.LineBytes, lanes: all}
		for j := range min(per, left) {
			k := (at + j) % per
			if single {
				one := access{addr: x.addr + uint64(k*sector), size: sector, lanes: all, sectors: 1 << k}
				one.bytes.Set(k*sector, sector)
				f.acc = append(f.acc, one)
				continue
			}
			whole.sectors |= 1 << k
			whole.bytes.Set(k*sector, sector)
		}
		left -= min(per, left)
		if !single {
			f.acc = append(f.acc, whole)
		}
	}
}

// skip executes what a warp executes next for nothing: the instructions of the units on a
// path whose lanes have executed less than others. It is called when an instruction has
// issued.
func (c *Core) skip(s int32) {
	w := &c.warps[s]
	e := &c.eff
	p := &c.paths[s]
	p.Charge(e.Active, w.X.Live())
	any := false
	for w.State == exec.Ready {
		_, active, addr, st := w.X.Next()
		i := addr >> w.K.Shift
		if st != exec.Ready || i >= uint64(len(w.ops)) {
			break
		}
		o := &w.ops[i]
		if !skippable(o) || c.pending(s, o) || !p.Free(active, w.X.Live()) {
			break
		}
		any = true
		if err := w.X.Step(e); err != nil {
			c.fail(err)
			return
		}
		c.Stats.CountFree(w.Places, int(i), e.Lanes)
	}
	if any {
		c.BreakSpin()
		c.moved = true
		c.refresh(s)
		if w.State != exec.Ready {
			c.RefreshBlock(w.Block)
		}
	}
}

// skippable reports whether an instruction may execute outside of the pipeline.
func skippable(o *op) bool {
	in := o.inst
	return o.class == classALU && o.set != SFU && !o.commit && !o.await && !in.Barrier && !in.Clock && in.Private && in.Flow != isa.FlowExit
}

// pending reports whether an instruction needs a register whose value is still on its way.
// Results of fixed latency are known; they are those of lanes on another path.
func (c *Core) pending(s int32, o *op) bool {
	at := s * int32(c.words)
	for i := range o.test {
		p := &o.test[i]
		if r := &c.regs[at+p.Word]; (r.long|r.short)&p.Mask != 0 {
			return true
		}
	}
	return false
}

// newPaths returns the counts of all warps, nil if they are not needed.
func newPaths(c *Config) []core.FreePaths {
	if !c.Ideal.Divergence {
		return nil
	}
	return make([]core.FreePaths, c.Warps)
}
