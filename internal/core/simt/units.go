package simt

import "math/bits"

// unit is a pipelined execution unit. An instruction that enters it is noted in a
// wheel (Core.ends, Core.stage) at the tick in which it will leave; it takes a result
// bus in the tick before. Hence no stages are shifted and no counters decremented.
type unit struct {
	set   Set
	k     int   // number among its kind
	entry int32 // instruction in the dispatch register, while Core.entries has the unit's bit
}

// maxPipes is the maximum number of units of a core, a bit each in a mask.
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
			c.units = append(c.units, unit{set: s, k: k})
		}
		c.setUnits[s][1] = len(c.units)
	}
	for s := range Sets {
		if c.cfg.Units[s] > 0 {
			c.inUse = append(c.inUse, s)
		}
	}
	c.ends, c.frees = make([]uint64, size), make([]uint64, size)
	c.stage = make([]int32, size*len(c.units))
	c.wb = make([]int32, 0, maxWidth)
}

// writeback completes the instructions that the units have finished.
func (c *Core) writeback() {
	for _, i := range c.wb {
		f := &c.flight[i]
		c.col.write(c, f)
		c.release(f)
		c.completed(f)
		c.leave(i)
	}
	c.wb = c.wb[:0]
}

// execute runs the units and the load/store unit.
func (c *Core) execute() {
	t := c.tick & c.ring
	if m := c.ends[t]; m != 0 {
		at := int(t) * len(c.units)
		c.staged -= bits.OnesCount64(m)
		for ; m != 0; m &= m - 1 {
			c.wb = append(c.wb, c.stage[at+bits.TrailingZeros64(m)])
		}
		c.ends[t] = 0
	}
	if m := c.frees[t]; m != 0 {
		c.entries &^= m
		c.frees[t] = 0
	}
	if c.waiting != 0 {
		c.start()
	}
	c.loadStore()
}

// loadStore runs the load/store unit.
func (c *Core) loadStore() {
	for range c.cfg.MemPorts {
		c.ls.cycle(c)
		if c.ocex[Mem].used != 0 && c.ls.entry < 0 {
			c.ls.accept(c)
		}
	}
}

// start moves instructions from the execute registers into the units.
func (c *Core) start() {
	for _, s := range c.inUse {
		in := &c.ocex[s]
		if in.used == 0 || s == Mem {
			continue
		}
		first, end := c.setUnits[s][0], c.setUnits[s][1]
		if c.cfg.SubCore {
			// Unit k takes from register k.
			for m := in.used & (1<<(end-first) - 1) &^ (c.entries >> first); m != 0; m &= m - 1 {
				k := bits.TrailingZeros64(m)
				c.accept(first+k, k, in)
			}
			continue
		}
		for i := first; i < end && in.used != 0; i++ {
			if c.entries>>i&1 == 0 {
				c.accept(i, in.oldest(in.used), in)
			}
		}
	}
}

// accept moves the instruction in an execute register into unit i, if at the time when
// it will leave no other instruction leaves the unit and a result bus is free.
func (c *Core) accept(i, reg int, in *regset) {
	fi := in.slot[reg]
	o := c.flight[fi].op
	p := (c.tick + uint64(o.lat) + 1) & c.ring
	ends := c.ends[p]
	if ends>>i&1 != 0 || bits.OnesCount64(ends) >= c.cfg.WriteWidth {
		return
	}
	c.ends[p] = ends | 1<<i
	c.stage[int(p)*len(c.units)+i] = fi
	c.staged++
	c.frees[(c.tick+uint64(o.init))&c.ring] |= 1 << i
	c.entries |= 1 << i
	c.units[i].entry = fi
	in.used &^= 1 << reg
	c.waiting--
	if c.log != nil {
		c.log.Reach(fi, stageExecute, c.now)
	}
}
