// Package chip is a chip of several Kepler-style SMs, connected by a small network to
// a memory hierarchy: an L1 for each SM, an L2 in slices, and DRAM. It is built from
// the memory system that all core models share; neither the hardware nor its datasheet
// has one.
//
// Values are kept in one place, the global memory that the SMs share. A store or an
// atomic takes effect in the cycle in which it leaves its SM, in the order of SM
// numbers, and a load reads the value at that time. Caches hold no values, so their
// settings affect cycles but never what a single warp computes.
package chip

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/mem/dram"
	"github.com/heddle-sim/heddle/internal/mem/noc"
	"github.com/heddle-sim/heddle/internal/mem/part"
)

// Chip is a chip. Not safe for concurrent use.
type Chip struct {
	cfg  kepler.Chip
	host *kepler.Core // the core from which the chip was made
	sms  []*kepler.Core
	port []port
	part *part.Memory
	req  *noc.Network // SMs to slices
	rep  *noc.Network // slices to SMs
	pool mem.Pool
	now  uint64

	answered, latency uint64 // answered transactions, and the sum of their cycles
}

// port connects an SM to the network.
type port struct {
	in     mem.Queue // from the SM, with the L1's latency
	direct *mem.Req  // bypasses the L1
	l1     *cache.Cache
}

// New makes a chip from a core that is set up and has not run: warp w runs on SM w
// modulo the number of SMs. Gather copies the results back to the core.
func New(k *kepler.Core) (*Chip, error) {
	cfg := k.Config().Chip
	cfg.SMs = max(cfg.SMs, 1)
	c := &Chip{cfg: cfg, host: k, port: make([]port, cfg.SMs)}
	var err error
	if c.part, err = part.New(memory(&cfg), &c.pool); err != nil {
		return nil, err
	}
	n := net(&cfg)
	if err := n.Check(); err != nil {
		return nil, err
	}
	c.req, c.rep = noc.New(n), noc.New(n.Reverse())
	for i := range c.port {
		p := &c.port[i]
		p.in = mem.NewQueue(0) // bounded by an SM's outstanding transactions
		if cfg.L1.On {
			if p.l1, err = cache.New(cacheOf(&cfg.L1, "l1", cache.L1), &c.pool); err != nil {
				return nil, err
			}
		}
	}
	if c.sms, err = k.Split(cfg.SMs, c); err != nil {
		return nil, err
	}
	return c, nil
}

// SMs returns the SMs. The caller must not change them.
func (c *Chip) SMs() []*kepler.Core { return c.sms }

// Cycle returns the cycles since the start.
func (c *Chip) Cycle() uint64 { return c.now }

// Send accepts a transaction of an SM.
func (c *Chip) Send(sm int, a kepler.Access) {
	r := c.pool.Get()
	r.Addr, r.Size, r.Lanes = uint64(a.Line)*mem.LineBytes, mem.LineBytes, isa.LaneMask(a.Lanes)
	r.Write, r.Atomic = a.Write, a.Atomic
	for m, at := a.Words, 0; m != 0; m, at = m>>1, at+4 {
		if m&1 != 0 {
			r.Bytes.Set(at, 4)
			r.Sectors |= 1 << (at / mem.SectorBytes)
		}
	}
	r.Kind = mem.GlobalRead // textures too: they have no separate cache
	if a.Write {
		r.Kind, r.Size = mem.GlobalWrite, mem.SectorBytes*uint32(max(1, bits.OnesCount8(r.Sectors)))
	}
	r.SM, r.Warp, r.Owner, r.Born = uint16(sm), uint16(a.Warp), uint32(a.Slot)|a.Longer<<8, c.now
	r.Ready = c.now
	if c.cfg.L1.On && !a.Atomic {
		r.Ready += uint64(c.cfg.L1.Latency)
	}
	c.port[sm].in.Push(r)
}

// answer reports to an SM that a transaction is done.
func (c *Chip) answer(r *mem.Req) {
	c.answered++
	c.latency += c.now - r.Born
	c.sms[r.SM].Answered(uint8(r.Warp), uint8(r.Owner), r.Owner>>8)
	c.pool.Put(r)
}

// Step simulates one cycle.
func (c *Chip) Step() {
	for i := range c.sms {
		c.deliver(i)
	}
	for s := range c.part.Subs() {
		if r := c.part.ReplyHead(s); r != nil && c.rep.HasRoom(s, bytesBack(r)) {
			c.rep.Push(c.part.PopReply(s), s, int(r.SM), bytesBack(r))
		}
	}
	c.part.DRAMTick(c.now)
	c.part.BeginL2()
	for s := range c.part.Subs() {
		if c.part.CanTake(s, c.now) {
			if r := c.req.Pop(s); r != nil {
				c.part.Enter(s, r, c.now)
			}
		}
		c.part.CacheCycle(s, c.now)
	}
	c.part.EndL2()
	c.req.Advance()
	c.rep.Advance()
	for i, k := range c.sms {
		if !ended(k) {
			k.Step()
		}
		c.look(i)
	}
	c.now++
}

// bytesBack returns the size of a reply packet, which has data only for a read.
func bytesBack(r *mem.Req) int {
	if r.Write {
		return mem.ControlSize
	}
	return mem.ControlSize + int(r.Size)
}

// deliver takes a reply from the network and one from the L1.
func (c *Chip) deliver(sm int) {
	p := &c.port[sm]
	if r := c.rep.Peek(sm); r != nil {
		switch {
		case p.l1 == nil || !p.l1.WaitsFor(r):
			c.answer(c.rep.Pop(sm))
		case p.l1.FillPortFree():
			p.l1.Fill(c.now, c.rep.Pop(sm))
		}
	}
	if p.l1 != nil && p.l1.Ready() {
		c.answer(p.l1.PopReady())
	}
}

// look simulates a cycle of the L1 of an SM: one look-up, and one request to the
// network. Atomics bypass the L1.
func (c *Chip) look(sm int) {
	p := &c.port[sm]
	switch {
	case p.direct != nil:
		if c.send(sm, p.direct) {
			p.direct = nil
		}
	case p.l1 != nil && p.l1.MissHead() != nil && c.room(sm, p.l1.MissHead()):
		c.send(sm, p.l1.PopMiss())
	}
	if r := p.in.Head(); r != nil && r.Ready <= c.now {
		switch {
		case p.l1 == nil || r.Atomic:
			if p.direct == nil {
				p.direct = p.in.Pop()
			}
		case p.l1.DataPortFree():
			st := p.l1.Access(c.now, r)
			if st != cache.Fail {
				p.in.Pop()
			}
			if st == cache.Hit && !r.Write {
				c.answer(r)
			}
		}
	}
	if p.l1 != nil {
		p.l1.Tick()
	}
}

// bytesOut returns the size of a request's packet.
func bytesOut(r *mem.Req) int {
	if r.Write || r.Atomic {
		return mem.ControlSize + int(r.Size)
	}
	return mem.ControlSize
}

func (c *Chip) room(sm int, r *mem.Req) bool { return c.req.HasRoom(sm, bytesOut(r)) }

// send puts a request into the network if there is room.
func (c *Chip) send(sm int, r *mem.Req) bool {
	if !c.room(sm, r) {
		return false
	}
	c.part.Map().Decode(r)
	c.req.Push(r, sm, int(r.Sub), bytesOut(r))
	return true
}

// Ended reports whether Run would stop here.
func (c *Chip) Ended() bool {
	for _, k := range c.sms {
		if k.Fault() != nil {
			return true
		}
	}
	return c.done() || c.Stuck()
}

// done reports whether every warp has exited and its results are written.
func (c *Chip) done() bool {
	for _, k := range c.sms {
		if !ended(k) {
			return false
		}
	}
	return true
}

// ended reports whether an SM has nothing left to do.
func ended(k *kepler.Core) bool { return k.StartedWarps() == 0 || k.Done() && k.Ended() }

// Stuck reports whether warps wait for something that can never happen: no SM makes
// progress, and nothing is in flight to or from memory.
func (c *Chip) Stuck() bool {
	if c.part.Busy() || c.req.Busy() || c.rep.Busy() {
		return false
	}
	stuck := false
	for i, k := range c.sms {
		if c.port[i].in.Len() > 0 || c.port[i].direct != nil {
			return false
		}
		if k.StartedWarps() == 0 || k.Done() {
			continue
		}
		if !k.Stuck() {
			return false
		}
		stuck = true
	}
	return stuck
}

// Run simulates until every warp has exited, there is a fault, the chip is stuck, or a
// cycle is reached. It reports whether every warp has exited.
func (c *Chip) Run(until uint64) bool {
	for !c.Ended() && c.now < until {
		c.Step()
	}
	return c.done()
}

// Gather copies the results of the SMs to the core from which the chip was made: see
// kepler.Core.Gather.
func (c *Chip) Gather() { c.host.Gather(c.sms, c.Stuck()) }

// Level holds the counters of one level of caches.
type Level struct {
	Accesses, Hits uint64
	PendingHits    uint64 // hits on a line that had been requested
	Misses         uint64
	SectorMisses   uint64 // always zero: lines have no sectors
	Refused        uint64 // accesses refused for lack of room
	WriteBacks     uint64
}

func (l *Level) add(s *cache.Stats) {
	l.Accesses += s.Total()
	l.Hits += s.Of(cache.Hit)
	l.PendingHits += s.Of(cache.HitReserved)
	l.Misses += s.Misses()
	l.Refused += s.Of(cache.Fail)
	l.WriteBacks += s.WriteBacks
}

// Stats are the counters of the memory system.
type Stats struct {
	L1, L2            Level
	Requests, Replies noc.Stats
	DRAM              dram.Stats // only counters that can be summed over channels
	BurstBytes        uint64     // bytes per DRAM command
	Answered, Latency uint64     // answered transactions, and the sum of their round trips in cycles
}

// MeanLatency returns the average round trip of a transaction in cycles.
func (s *Stats) MeanLatency() float64 { return float64(s.Latency) / float64(max(s.Answered, 1)) }

// Stats returns the counters so far, summed over SMs, slices and channels.
func (c *Chip) Stats() Stats {
	s := Stats{Requests: c.req.Stats, Replies: c.rep.Stats, Answered: c.answered, Latency: c.latency}
	for i := range c.port {
		if l := c.port[i].l1; l != nil {
			s.L1.add(&l.Stats)
		}
	}
	for i := range c.part.Subs() {
		if l := c.part.L2Stats(i); l != nil {
			s.L2.add(l)
		}
	}
	for ch := range c.part.Channels() {
		d := c.part.DRAM(ch)
		cfg, one := d.Config(), d.Stats()
		s.BurstBytes = uint64(cfg.AtomBytes())
		s.DRAM.Cycles += one.Cycles
		s.DRAM.Activates += one.Activates
		s.DRAM.Precharges += one.Precharges
		s.DRAM.Requests += one.Requests
		s.DRAM.Reads += one.Reads
		s.DRAM.AllocReads += one.AllocReads
		s.DRAM.Writes += one.Writes
		s.DRAM.WriteBacks += one.WriteBacks
		s.DRAM.DataCycles += one.DataCycles
		s.DRAM.RowHits += one.RowHits
	}
	return s
}
