package gpu

import (
	"github.com/heddle-sim/heddle/internal/core/modern"
	"github.com/heddle-sim/heddle/internal/core/simt"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/mem/dram"
	"github.com/heddle-sim/heddle/internal/mem/noc"
	"github.com/heddle-sim/heddle/internal/mem/part"
)

// Counters are those of all parts of a chip, each kind summed over its
// instances; or a difference of two such sums.
type Counters struct {
	// SM sums the cores; fields that are the largest or the longest of
	// something are so over the whole run even in a difference. Of modern cores
	// it has what both models count; all that they count is in Modern.
	SM     simt.Stats
	Modern modern.Stats
	// L1D, L1C, L1T and L1I sum the SMs' caches, L2 the slices.
	L1D, L1C, L1T, L1I, L2 cache.Stats
	// Request and Reply are the two subnets.
	Request, Reply noc.Stats
	// Slice sums the sub-partitions, Channel the channels, DRAM their devices.
	Slice   part.SubStats
	Channel part.ChannelStats
	DRAM    dram.Stats
	// Chip is what the chip itself counts.
	Chip Stats
}

// read sums all counters up to now.
func (c *Counters) read(g *GPU) {
	*c = Counters{}
	for _, s := range g.cores {
		s.readInto(c)
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
	shareNames(&c.SM, &c.Modern)
	for i := range g.mem.Parts.Subs() {
		if s := g.mem.Parts.L2Stats(i); s != nil {
			c.L2.Add(s)
		}
		add(&c.Slice, g.mem.Parts.SubStats(i))
	}
	for i := range g.mem.Parts.Channels() {
		add(&c.Channel, g.mem.Parts.ChannelStats(i))
		if d := g.mem.Parts.DRAM(i); d != nil {
			add(&c.DRAM, d.Stats())
		}
	}
	add(&c.Request, &g.mem.Requests.Stats)
	add(&c.Reply, &g.mem.Replies.Stats)
	c.Chip = Stats{g.mem.Stats, g.skipped}
}

// reading is the last sum of all counters.
type reading struct {
	good bool // nothing has counted since
	Counters
}

// count sums all counters up to now. Where kernels follow each other at once, the
// end of one and the start of the next share a reading.
func (g *GPU) count(c *Counters) {
	if !g.last.good {
		g.last.read(g)
		g.last.good = true
	}
	*c = Counters{}
	add(c, &g.last.Counters)
}

// Totals returns the counters since the start.
func (g *GPU) Totals() Counters {
	var c Counters
	c.read(g)
	return c
}

// sub subtracts an earlier reading.
func (c *Counters) sub(o *Counters) {
	combine(c, o, true)
}

// DRAMReads returns the sectors read from DRAM, those for write allocation
// included; DRAMWrites those written.
func (c *Counters) DRAMReads() uint64 { return c.DRAM.Reads + c.DRAM.AllocReads }

// DRAMWrites returns the sectors written to DRAM.
func (c *Counters) DRAMWrites() uint64 { return c.DRAM.Writes + c.DRAM.WriteBacks }

// add adds o's counters to t's. Both are pointers to the same kind of struct of
// counters.
func add[T any](t, o *T) {
	combine(t, o, false)
}
