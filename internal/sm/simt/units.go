package simt

import "math/bits"

// unit is a pipelined execution unit. Instructions in its stages stand in a
// ring at the tick in which they reach the end, so nothing is shifted.
type unit struct {
	set   Set
	k     int   // number among its kind
	entry int32 // dispatch register
	ring  []int32
}

// booking is what has been promised for a tick: result buses, and the exits of
// units. It is void unless it is for that tick.
type booking struct {
	tick  uint64
	exits uint64
	n     int
}

// maxPipes is how many units a core can have: a bit each in a mask.
const maxPipes = 64

func (c *Core) newUnits() {
	longest := 1
	for _, t := range c.cfg.timings() {
		longest = max(longest, t.t.Latency+1)
	}
	size := 1 << bits.Len(uint(longest+2))
	c.ring = uint64(size - 1)
	for s := range Mem {
		c.setUnits[s][0] = len(c.units)
		for k := range c.cfg.Units[s] {
			c.units = append(c.units, unit{set: s, k: k, entry: none, ring: make([]int32, size)})
		}
		c.setUnits[s][1] = len(c.units)
	}
	c.ends = make([]uint64, size)
	c.buses = make([]booking, size)
	c.wb = make([]int32, 0, maxWidth)
}

// writeback completes what the units have finished.
func (c *Core) writeback() {
	for _, i := range c.wb {
		f := &c.flight[i]
		c.col.write(c, f)
		c.release(int32(f.warp), f.op)
		c.Stats.Completed++
		c.leave(i)
	}
	c.wb = c.wb[:0]
}

// execute runs the units and the load/store unit.
func (c *Core) execute() {
	t := c.tick
	if end := &c.ends[t&c.ring]; *end != 0 {
		for m := *end; m != 0; m &= m - 1 {
			c.wb = append(c.wb, c.units[bits.TrailingZeros64(m)].ring[t&c.ring])
		}
		c.staged -= bits.OnesCount64(*end)
		*end = 0
	}
	for m := c.entries; m != 0; m &= m - 1 {
		c.start(bits.TrailingZeros64(m), t)
	}
	for s := range Mem {
		in := &c.ocex[s]
		if in.used == 0 {
			continue
		}
		for i := c.setUnits[s][0]; i < c.setUnits[s][1]; i++ {
			if c.entries>>i&1 == 0 && in.used != 0 {
				c.accept(i, in, t)
			}
		}
	}
	for range c.cfg.MemPorts {
		c.ls.cycle(c)
		c.ls.accept(c)
	}
}

// start moves the instruction at a unit's entry into the stages.
func (c *Core) start(i int, t uint64) {
	u := &c.units[i]
	f := &c.flight[u.entry]
	if f.delay > 0 {
		f.delay--
	}
	if f.delay > 0 {
		return
	}
	p := (t + 1 + uint64(f.op.lat-f.op.init)) & c.ring
	if c.ends[p]>>i&1 == 0 {
		c.ends[p] |= 1 << i
		u.ring[p] = u.entry
		u.entry = none
		c.entries &^= 1 << i
		c.staged++
	}
}

// accept takes an instruction from the execute registers.
func (c *Core) accept(i int, in *regset, t uint64) {
	u := &c.units[i]
	r := u.k
	if !c.cfg.SubCore {
		r = in.oldest(in.used)
	} else if in.used>>r&1 == 0 {
		return
	}
	fi := in.slot[r]
	end := t + uint64(c.flight[fi].op.lat)
	p := &c.buses[end&c.ring]
	if p.tick != end {
		*p = booking{tick: end}
	}
	if p.exits>>i&1 != 0 || p.n >= c.cfg.WriteWidth {
		return
	}
	p.n++
	p.exits |= 1 << i
	in.used &^= 1 << r
	u.entry = fi
	if c.log != nil {
		c.log.open[fi].Execute = c.now
	}
	c.entries |= 1 << i
}
