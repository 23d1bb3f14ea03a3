package modern

import (
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/ring"
)

// This file: the supply of instructions and constants to the sub-cores. Both come over
// one link from a cache that all sub-cores share.

// instBase is the address of instructions in the address space of the memory system
// (GPGPU-Sim).
const instBase = 0xF000_0000

// codeBytes is the size of an instruction in the instruction caches ([HW]: 128 bits).
const codeBytes = 16

// fetchStages is the number of cycles from a fetch that hits to the issue of the
// instruction.
const fetchStages = 3

// arrival is an instruction being fetched into its place in a buffer.
type arrival struct {
	valid bool
	warp  uint8
	epoch uint32
	slot  uint8
	line  uint64 // after a miss
	due   uint64 // once the line has arrived: tick from which it is decoded
}

// who is the cache that a line is for.
type who uint8

const (
	forL0I who = iota
	forFL
	forVL
)

// lineReq is a request for a line on the link.
type lineReq struct {
	line uint64 // number of the line in the requesting cache
	due  uint64 // tick in which it arrives
	sub  int8
	who  who
}

// waiting is a requested line and the warps that wait for it, or for the L0VL the
// instruction that waits for it.
type waiting struct {
	line  uint64
	warps uint64
	f     int32
}

// stream is a stream buffer of requested consecutive lines.
type stream struct {
	list   ring.Ring[streamLine]
	next   uint64 // next line to request
	end    uint64 // line after the code
	active bool
}

type streamLine struct {
	line    uint64
	arrived bool
	wanted  bool // it is at the head and instructions wait for it
}

// fetch reads the next instruction of a warp: of the one that issued last if its
// buffer has room, otherwise of the youngest whose buffer has room [SIM].
func (c *Core) fetch(s *subcore, t uint64) {
	can := s.mine & c.room &^ c.turned
	if can == 0 {
		if s.mine&c.room != 0 {
			c.moved = true
		}
		return
	}
	c.moved = true
	g := s.last
	if g < 0 || can>>g&1 == 0 {
		for i := len(s.age) - 1; i >= 0; i-- {
			if can>>s.age[i]&1 != 0 {
				g = int(s.age[i])
				break
			}
		}
	}
	w := &c.warps[g]
	bit := uint64(1) << g
	if int(w.fetch) >= len(w.ops) {
		c.room &^= bit
		return
	}
	slot := int(w.ibHead) + int(w.ibN)
	if slot >= c.cfg.Buffer {
		slot -= c.cfg.Buffer
	}
	a := arrival{valid: true, warp: uint8(g), epoch: w.epoch, slot: uint8(slot)}
	w.ib[slot] = fetched{at: w.fetch, fetch: c.now}
	c.Stats.Fetches++
	hit := true
	if !c.cfg.PerfectICache {
		n := uint64(c.cfg.L0I.Line)
		a.line = (instBase + w.K.Base + uint64(w.ops[w.fetch].line)*codeBytes) / n
		if w.l0, hit = s.l0i.find(a.line, w.l0); !hit {
			end := (instBase + w.K.Base + uint64(w.K.lines)*codeBytes + n - 1) / n
			if hit = c.missed(s, a.line, end); !hit {
				s.missing = append(s.missing, a)
			}
		}
	}
	if hit {
		s.arriving[(t+fetchStages)&7] = a
		s.nArrive++
	}
	w.fetch = w.ops[w.fetch].next
	w.ibN++
	if int(w.ibN) == c.cfg.Buffer || int(w.fetch) == len(w.ops) {
		c.room &^= bit
	}
}

// arrive decodes the instruction that was fetched three cycles ago, and one whose line
// has arrived: if one of four warps misses, the others are not delayed ([HW],
// Figure 4).
func (c *Core) arrive(s *subcore, t uint64) {
	if s.nArrive+s.late.Len() == 0 {
		return
	}
	c.moved = true
	if a := &s.arriving[t&7]; a.valid {
		a.valid = false
		s.nArrive--
		c.decode(a)
	}
	if s.late.Len() > 0 && s.late.Front().due <= t {
		a := s.late.Pop()
		c.decode(&a)
	}
}

// decode puts an instruction into its place in a buffer.
func (c *Core) decode(a *arrival) {
	w := &c.warps[a.warp]
	if w.X == nil || w.epoch != a.epoch {
		return
	}
	f := &w.ib[a.slot]
	f.valid, f.decode = true, c.now-1
	if a.slot == w.ibHead && w.Next == f.at {
		c.has |= 1 << a.warp
	}
}

// came notes that a line is in the L0I: the instructions that wait for it are decoded,
// one per cycle from the next cycle on.
func (s *subcore) came(line, t uint64) {
	n := 0
	for _, a := range s.missing {
		if a.line != line {
			s.missing[n] = a
			n++
			continue
		}
		a.due = t + 1
		s.late.Push(a)
	}
	s.missing = s.missing[:n]
}

// missed handles a miss in the L0I. It reports whether the stream buffer had the line;
// if not, the line is requested unless it already is.
func (c *Core) missed(s *subcore, line, end uint64) bool {
	c.Stats.L0IMisses++
	for _, x := range s.asked {
		if x == line {
			return false
		}
	}
	b := &s.stream
	if b.list.Len() > 0 {
		switch h := b.list.Front(); {
		case h.line == line && h.arrived:
			c.Stats.StreamHits++
			b.list.Pop()
			s.l0i.put(line)
			return true
		case h.line == line:
			c.Stats.StreamHits++
			h.wanted = true
			return false
		case h.line != line+1 && !h.wanted:
			b.active = false
			b.list.Clear()
		}
	}
	s.asked = append(s.asked, line)
	c.request(s, lineReq{line: line, who: forL0I})
	if c.cfg.Prefetch > 0 && b.list.Len() == 0 {
		b.next, b.end, b.active = line+1, end, true
	}
	return false
}

// prefetch lets the stream buffer request its next line.
func (c *Core) prefetch(s *subcore, t uint64) {
	b := &s.stream
	if !b.active || b.list.Len() >= c.cfg.Prefetch || s.ask.Len() > 0 {
		return
	}
	c.moved = true
	stop := b.next >= b.end || s.l0i.where(b.next) >= 0
	for _, x := range s.asked {
		stop = stop || x == b.next
	}
	if stop {
		b.active = false
		return
	}
	b.list.Push(streamLine{line: b.next})
	c.request(s, lineReq{line: b.next, who: forL0I})
	b.next++
	c.Stats.Prefetches++
}

// request puts a request into a sub-core's queue for the link.
func (c *Core) request(s *subcore, r lineReq) {
	s.ask.Push(r)
	c.asking++
}

// link puts a request of one sub-core on the link to the L1I, round robin [SIM].
func (c *Core) link(t uint64) {
	if c.asking == 0 {
		return
	}
	n := len(c.subs)
	for i := range n {
		k := c.turnUp + i
		if k >= n {
			k -= n
		}
		s := &c.subs[k]
		if s.ask.Len() == 0 {
			continue
		}
		r := s.ask.Pop()
		r.sub, r.due = int8(k), t+uint64(c.cfg.LinkUp)
		c.up.Push(r)
		c.asking--
		c.turnUp = k + 1
		if c.turnUp == n {
			c.turnUp = 0
		}
		c.moved = true
		return
	}
}

// size returns the line size of a requesting cache.
func (c *Core) size(w who) uint64 {
	switch w {
	case forFL:
		return uint64(c.cfg.L0FL.Line)
	case forVL:
		return uint64(c.cfg.L0VL.Line)
	}
	return uint64(c.cfg.L0I.Line)
}

// shared simulates a cycle of the L1I: a look-up or a reply [SIM]. Answered misses go
// first, because that frees room.
func (c *Core) shared(t uint64) {
	switch {
	case c.l1i != nil && c.l1i.Ready():
		c.moved = true
		r := c.l1i.PopReady()
		w := who(r.Owner)
		c.down.Push(lineReq{line: r.Addr / c.size(w), due: t + 1 + uint64(c.cfg.LinkDown), sub: int8(r.Warp), who: w})
		c.env.Pool.Put(r)
	case c.up.Len() > 0 && c.up.Front().due <= t:
		c.moved = true
		q := c.up.Front()
		n := c.size(q.who)
		r := c.env.Pool.Get()
		r.Addr, r.Size, r.SM, r.Born = q.line*n, uint32(n), uint16(c.id), c.now
		r.Kind, r.Warp, r.Owner = mem.InstRead, uint16(q.sub), uint32(q.who)
		if q.who != forL0I {
			r.Kind = mem.ConstRead
		}
		switch c.l1i.Access(c.now, r) {
		case cache.Hit:
			c.down.Push(lineReq{line: q.line, due: t + 1 + uint64(c.cfg.LinkDown), sub: q.sub, who: q.who})
			c.env.Pool.Put(r)
			c.up.Pop()
		case cache.Fail:
			c.env.Pool.Put(r)
		default:
			c.up.Pop()
		}
	}
	if c.down.Len() > 0 && c.down.Front().due <= t {
		c.moved = true
		c.comes(t, c.down.Pop())
	}
}

// comes takes a line off the link.
func (c *Core) comes(t uint64, q lineReq) {
	s := &c.subs[q.sub]
	c.stir = true
	switch q.who {
	case forL0I:
		for i, x := range s.asked {
			if x == q.line {
				s.l0i.put(q.line)
				s.came(q.line, t)
				s.asked = append(s.asked[:i], s.asked[i+1:]...)
				return
			}
		}
		b := &s.stream
		for i := range b.list.Len() {
			l := b.list.At(i)
			if l.line != q.line {
				continue
			}
			l.arrived = true
			if i == 0 && l.wanted {
				s.l0i.put(q.line)
				s.came(q.line, t)
				b.list.Pop()
			}
			return
		}
	case forFL:
		s.fl.put(q.line)
		for i := range s.flMisses {
			if s.flMisses[i].line == q.line {
				c.imc &^= s.flMisses[i].warps
				s.flMisses = append(s.flMisses[:i], s.flMisses[i+1:]...)
				return
			}
		}
	case forVL:
		c.vl.put(q.line)
		n := 0
		for _, x := range c.vlWait {
			if x.line != q.line {
				c.vlWait[n] = x
				n++
				continue
			}
			c.constCame(t, x.f)
		}
		c.vlWait = c.vlWait[:n]
	}
}

// constant looks up the constant of an instruction of fixed latency, at issue [HW], and
// requests its line on a miss.
func (c *Core) constant(s *subcore, g int32, line, t uint64) bool {
	c.Stats.FLLookups++
	var ok bool
	if s.flAt, ok = s.fl.find(line, s.flAt); ok {
		return true
	}
	c.Stats.FLMisses++
	bit := uint64(1) << g
	c.imc |= bit
	for i := range s.flMisses {
		if s.flMisses[i].line == line {
			s.flMisses[i].warps |= bit
			return false
		}
	}
	s.flMisses = append(s.flMisses, waiting{line: line, warps: bit})
	c.request(s, lineReq{line: line, who: forFL})
	return false
}

// turnTo notes which kernel is launched next. The caches of instructions and constants
// are emptied if the kernel is a different one, unless blocks are resident or the core
// keeps code.
func (c *Core) turnTo(k *Kernel) {
	c.touched = c.touched && k == c.last
	if k != c.last && c.N == 0 && !c.cfg.KeepCode {
		c.forgetCode()
	}
	c.last = k
}

// forgetCode empties the caches of instructions and constants.
func (c *Core) forgetCode() {
	for i := range c.subs {
		s := &c.subs[i]
		s.l0i.clear()
		s.fl.clear()
		s.stream.active = false
		if s.stream.list.Len() > 0 && !s.stream.list.Front().wanted {
			s.stream.list.Clear()
		}
	}
	c.vl.clear()
	if c.l1i != nil {
		c.l1i.Invalidate()
	}
}
