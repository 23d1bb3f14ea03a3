package gpu

import (
	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/mem/dram"
	"github.com/heddle-sim/heddle/internal/mem/noc"
	"github.com/heddle-sim/heddle/internal/mem/part"
)

// Counters are those of all parts of a chip, each kind summed over its
// instances; or a difference of two such sums.
type Counters struct {
	parts
	// Own sums the core model's own counters; nil if it has none.
	Own core.Own
}

// parts are the counters that do not depend on the model of the cores.
type parts struct {
	// SM sums the cores; maxima are those of the whole run even in a difference.
	SM core.Stats
	// L1D, L1C, L1T and L1I sum the SMs' caches, L2 the slices.
	L1D, L1C, L1T, L1I, L2 cache.Stats
	// Request and Reply are the two subnets.
	Request, Reply noc.Stats
	// Slice sums the sub-partitions, Channel the channels, DRAM their devices.
	Slice   part.SubStats
	Channel part.ChannelStats
	DRAM    dram.Stats
	// Chip has the chip's own counters.
	Chip Stats
}

// read sums all counters up to now.
func (c *Counters) read(g *GPU) {
	*c = Counters{}
	for _, s := range g.cores {
		s.Settle()
		core.Add(&c.SM, s.Count())
		c.addOwn(s.Own())
		if x := s.L1D(); x != nil {
			c.L1D.Add(&x.Stats)
		}
		if x := s.L1C(); x != nil {
			c.L1C.Add(&x.Stats)
		}
		if x := s.L1I(); x != nil {
			c.L1I.Add(&x.Stats)
		}
		if x := s.L1T(); x != nil {
			c.L1T.Add(&x.Stats)
		}
	}
	for i := range g.mem.Parts.Subs() {
		if s := g.mem.Parts.L2Stats(i); s != nil {
			c.L2.Add(s)
		}
		core.Add(&c.Slice, g.mem.Parts.SubStats(i))
	}
	for i := range g.mem.Parts.Channels() {
		core.Add(&c.Channel, g.mem.Parts.ChannelStats(i))
		if s := g.mem.Parts.DRAMStats(i); s != nil {
			core.Add(&c.DRAM, s)
		}
	}
	core.Add(&c.Request, &g.mem.Requests.Stats)
	core.Add(&c.Reply, &g.mem.Replies.Stats)
	c.Chip = Stats{g.mem.Stats, g.skipped}
}

// reading is the last sum of all counters.
type reading struct {
	good bool // nothing has counted since
	Counters
}

// count sums all counters up to now. When kernels follow each other immediately,
// the end of one and the start of the next share a reading.
func (g *GPU) count(c *Counters) {
	if !g.last.good {
		g.last.read(g)
		g.last.good = true
	}
	*c = Counters{}
	core.Add(&c.parts, &g.last.parts)
	c.addOwn(g.last.Own)
}

// addOwn adds the counters of a core model.
func (c *Counters) addOwn(o core.Own) {
	if o == nil {
		return
	}
	if c.Own == nil {
		c.Own = o.Zero()
	}
	c.Own.Add(o)
}

// Totals returns the counters since the start.
func (g *GPU) Totals() Counters {
	var c Counters
	c.read(g)
	return c
}

// Add adds the counters of another chip.
func (c *Counters) Add(o *Counters) {
	core.Add(&c.parts, &o.parts)
	c.addOwn(o.Own)
}

// sub subtracts an earlier reading.
func (c *Counters) sub(o *Counters) {
	core.Sub(&c.parts, &o.parts)
	if o.Own != nil && c.Own != nil {
		c.Own.Sub(o.Own)
	}
}

// DRAMReads returns the sectors read from DRAM, including those for write
// allocation.
func (c *Counters) DRAMReads() uint64 { return c.DRAM.Reads + c.DRAM.AllocReads }

// DRAMWrites returns the sectors written to DRAM.
func (c *Counters) DRAMWrites() uint64 { return c.DRAM.Writes + c.DRAM.WriteBacks }
