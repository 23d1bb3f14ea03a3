package simt

import "math/bits"

// unit is a pipelined execution unit. Instructions in its stages stand in a
// ring at the tick in which they reach the end, so nothing is shifted.
type unit struct {
	set   Set
	k     int   // number among its kind
	entry int32 // dispatch register
	n     int   // instructions in the stages
	ring  []int32
	taken []uint64 // tick for which the exit is booked, by tick
}

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
			u := unit{set: s, k: k, entry: none, ring: make([]int32, size), taken: make([]uint64, size)}
			for i := range u.ring {
				u.ring[i] = none
			}
			c.units = append(c.units, u)
		}
		c.setUnits[s][1] = len(c.units)
	}
	c.busAt = make([]uint64, size)
	c.busN = make([]uint8, size)
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
	for s := range Mem {
		in := &c.ocex[s]
		if in.used == 0 && c.working[s] == 0 {
			continue
		}
		for i := c.setUnits[s][0]; i < c.setUnits[s][1]; i++ {
			u := &c.units[i]
			if u.n > 0 {
				p := &u.ring[t&c.ring]
				if *p >= 0 {
					c.wb = append(c.wb, *p)
					*p = none
					u.n--
					c.working[s]--
				}
			}
			if u.entry >= 0 {
				c.start(u, t)
			}
			if u.entry < 0 && in.used != 0 {
				c.accept(u, in, t)
			}
		}
	}
	for range c.cfg.MemPorts {
		c.ls.cycle(c)
		c.ls.accept(c)
	}
}

// start moves the instruction at a unit's entry into the stages.
func (c *Core) start(u *unit, t uint64) {
	f := &c.flight[u.entry]
	if f.delay > 0 {
		f.delay--
	}
	if f.delay > 0 {
		return
	}
	p := &u.ring[(t+1+uint64(f.op.lat-f.op.init))&c.ring]
	if *p < 0 {
		*p = u.entry
		u.entry = none
		u.n++
	}
}

// accept takes an instruction from the execute registers.
func (c *Core) accept(u *unit, in *regset, t uint64) {
	r := u.k
	if !c.cfg.SubCore {
		r = in.oldest(in.used)
	} else if in.used>>r&1 == 0 {
		return
	}
	fi := in.slot[r]
	end := t + uint64(c.flight[fi].op.lat)
	p := end & c.ring
	if u.taken[p] == end {
		return
	}
	if c.busAt[p] != end {
		c.busAt[p], c.busN[p] = end, 0
	}
	if int(c.busN[p]) >= c.cfg.WriteWidth {
		return
	}
	c.busN[p]++
	u.taken[p] = end
	in.used &^= 1 << r
	u.entry = fi
	c.working[u.set]++
}
