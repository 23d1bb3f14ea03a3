package gpu

import (
	"math"
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/internal/param"
)

// This file: the duration of copies. A copy has a fixed latency before its first
// byte and then proceeds at the rate of its way. Each way has one engine, which
// performs one copy at a time. Copies take no bandwidth from kernels, nor kernels
// from copies.

// Copies has the parameters of copies' durations.
type Copies struct {
	// Timed lets copies take time (run.copies). Off: they end when their turn
	// comes, and all other settings here have no effect.
	Timed bool
	// ToDevice and ToHost are the rates of the link to the host in bytes per
	// second, OnDevice that of copies within device memory, counting the bytes read
	// and those written.
	ToDevice, ToHost, OnDevice int64
	// ToPeer is the rate of the link to other chips of a Machine, in each direction.
	// Copies to them always take time.
	ToPeer int64
	// Latency is the time in nanoseconds from a copy's start to its first byte.
	Latency int
	// OneEngine makes the two directions of the link share an engine. Off: they
	// overlap.
	OneEngine bool
}

// CopyWay is the path of a copy's bytes.
type CopyWay uint8

// The ways.
const (
	ToDevice CopyWay = iota // from the host
	ToHost                  // from the device
	OnDevice                // from device memory to device memory: each byte is read and written
	Filling                 // one value into device memory: each byte is written
	ToPeer                  // from one chip of a Machine to another
)

// engines is the number of copy engines: two for the link, one for the device. A launch that is
// passed over takes the place after them.
const (
	engines = 3
	passing = engines
)

// Limits of Copies.
const (
	maxRate        = 1 << 50
	maxCopyLatency = 1_000_000_000
)

// check reports the first contradiction.
func (c *Copies) check() error {
	if !c.Timed {
		return nil
	}
	for _, r := range []struct {
		keys, name string
		rate       int64
	}{
		{"link.to_device", "to the device", c.ToDevice}, {"link.to_host", "to the host", c.ToHost},
		{"link.dram_share clocks.dram chip.channels", "on the device", c.OnDevice},
	} {
		if r.rate < 1 || r.rate > maxRate {
			return param.Clash(r.keys, "copies %s: %d bytes per second: want 1..%d", r.name, r.rate, int64(maxRate))
		}
	}
	if c.Latency < 0 || c.Latency > maxCopyLatency {
		return param.Clash("link.latency", "latency of a copy %d ns: want 0..%d", c.Latency, maxCopyLatency)
	}
	return nil
}

// engine returns the engine that serves a way.
func (c *Copies) engine(w CopyWay) int {
	switch {
	case w == OnDevice || w == Filling:
		return 2
	case w == ToHost && !c.OneEngine:
		return 1
	}
	return 0
}

// cycles returns the core cycles that a copy takes at a core clock in hertz:
// the latency and the transfer, each rounded up.
func (c *Copies) cycles(w CopyWay, bytes uint64, clock int64) uint64 {
	rate, moved := c.ToDevice, bytes
	switch w {
	case ToHost:
		rate = c.ToHost
	case OnDevice:
		rate, moved = c.OnDevice, min(bytes, math.MaxUint64/2)*2
	case Filling:
		rate = c.OnDevice
	case ToPeer:
		rate = c.ToPeer
	}
	return rounds(uint64(c.Latency), uint64(clock), 1_000_000_000) + rounds(moved, uint64(clock), uint64(rate))
}

// rounds returns a·b/c rounded up, or a very large number if that overflows.
func rounds(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	lo, carry := bits.Add64(lo, c-1, 0)
	if hi += carry; hi >= c {
		return math.MaxUint64 / 4
	}
	q, _ := bits.Div64(hi, lo, c)
	return min(q, math.MaxUint64/4)
}

// copies are the copies in progress.
type copies struct {
	by   [engines + 1]*Op // by engine, nil where it is free; the last is a launch that is passed over
	away []*Op            // those between chips, whose links queue them
	next uint64           // the first end of a copy, if n is not 0
	n    int              // copies in progress
}

// beginCopy occupies the copy's engine until its end. It is errLater if the
// engine is not free.
func (g *GPU) beginCopy(o *Op) error {
	c := &g.cfg.Copies
	if o.Way == ToPeer && o.Bytes > 0 {
		o.End = g.machine.carry(o.From, o.To, o.Bytes, g.now)
		o.state = opRuns
		g.copies.away = append(g.copies.away, o)
		g.copies.n++
		g.copies.find()
		return nil
	}
	if !c.Timed || o.Bytes == 0 {
		return g.endCopy(o)
	}
	e := c.engine(o.Way)
	if g.copies.by[e] != nil {
		return errLater
	}
	o.End = g.now + c.cycles(o.Way, o.Bytes, g.cfg.Clocks.Core)
	o.state = opRuns
	g.copies.by[e] = o
	g.copies.n++
	g.copies.find()
	return nil
}

// find looks for the copy that ends first.
func (c *copies) find() {
	c.next = math.MaxUint64
	for _, o := range c.by {
		if o != nil {
			c.next = min(c.next, o.End)
		}
	}
	for _, o := range c.away {
		c.next = min(c.next, o.End)
	}
}

// due reports whether a copy's time is over.
func (c *copies) due(now uint64) bool { return c.n > 0 && now >= c.next }

// endCopies ends the copies whose time is over.
func (g *GPU) endCopies() error {
	if !g.copies.due(g.now) {
		return nil
	}
	for e, o := range g.copies.by {
		if o == nil || g.now < o.End {
			continue
		}
		g.copies.by[e] = nil
		g.copies.n--
		if e == passing {
			g.endPassage(o)
			continue
		}
		if err := g.endCopy(o); err != nil {
			return err
		}
	}
	for i := 0; i < len(g.copies.away); i++ {
		o := g.copies.away[i]
		if g.now < o.End {
			continue
		}
		g.copies.away = slices.Delete(g.copies.away, i, i+1)
		i--
		g.copies.n--
		if err := g.endCopy(o); err != nil {
			return err
		}
	}
	g.copies.find()
	return nil
}

// endCopy moves a copy's bytes. Until then readers see the old bytes.
func (g *GPU) endCopy(o *Op) error {
	g.copied++
	if o.Copy != nil {
		if err := o.Copy(); err != nil {
			return err
		}
	}
	for _, r := range o.Fills {
		if c := g.ownerOf(r.Addr); c == g || !c.stale { // else it will begin with empty caches
			c.Fill([]Range{r})
		}
	}
	if g.cfg.Compat.CopiesBackFill {
		g.Fill(o.ToHost)
	}
	g.endOp(o, g.now)
	return nil
}

// ownerOf returns the chip in whose memory an address is.
func (g *GPU) ownerOf(addr uint64) *GPU {
	if g.machine != nil {
		if n := g.machine.owner(addr); n >= 0 {
			return g.machine.chips[n]
		}
	}
	return g
}

// dropCopies ends the copies of a run that has ended, without moving their bytes.
func (g *GPU) dropCopies() {
	for _, o := range append(g.copies.away, g.copies.by[:]...) {
		if o != nil {
			if k := o.Kernel; o.Kind == OpLaunch {
				k.End = g.now
				k.PassedCycles -= min(k.PassedCycles, o.End-g.now)
			}
			o.End, o.cut, o.state = g.now, true, opEnded
		}
	}
	g.copies = copies{}
}
