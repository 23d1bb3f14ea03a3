package cache

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/plug"
)

// This file: prefetching. A cache reports every accepted access to its prefetcher,
// and requests the addresses that the prefetcher returns like reads that miss.
// Nothing waits for the replies. Without a prefetcher this costs nothing.

// Prefetching says which prefetcher a cache has: one below, or a registered one
// (Prefetchers).
type Prefetching uint8

// The built-in prefetchers.
const (
	NoPrefetch Prefetching = iota
	NextLine               // a read that misses brings the same sector of the next line
)

// Prefetcher says what a cache should prefetch. Every cache has its own; those of
// several SMs are called concurrently.
type Prefetcher interface {
	// Access is called after an access that the cache has accepted. It appends the
	// addresses to prefetch to list, most important first, and returns list. The
	// cache reads their sectors or lines, except those that are present or on their
	// way, and those for which its table of pending misses or its miss queue has no
	// room. a must not be used after the call.
	Access(a *Access, list []uint64) []uint64
}

// Access is what a prefetcher sees of an access to data.
type Access struct {
	Addr     uint64 // of the sector, or of the line in a cache without sectors
	Cycle    uint64 // a time in cycles that never decreases
	PC       int    // index of the instruction in its kernel's code
	SM, Warp int    // the SM, and the slot of the warp in it
	Write    bool
	Hit      bool // the data were present; else they are on their way or missing
}

// Prefetchers are the constructors of prefetchers by name. line is the length of
// the cache's lines, fetch what it reads at a time (a sector or a line), both in
// bytes.
var Prefetchers = plug.New[func(line, fetch int) Prefetcher]("prefetcher", prefetcherNames...)

var prefetcherNames = []string{"none", "next-line"}

// Prefetches counts prefetches, in sectors or lines.
type Prefetches struct {
	// Issued went to the next level. Each of them is later counted as one of the
	// next three, unless it is still on its way or unused in the cache at the end.
	Issued uint64
	Useful uint64 // an access found it
	Late   uint64 // an access asked for it while it was on its way
	Unused uint64 // evicted before any access
	// Present were already in the cache or on their way, and for Refused there was
	// no room: neither went to the next level.
	Present, Refused uint64
}

// nextLine is the prefetcher NextLine.
type nextLine struct{ line uint64 }

func (n nextLine) Access(a *Access, list []uint64) []uint64 {
	if a.Hit || a.Write {
		return list
	}
	return append(list, a.Addr+n.line)
}

// ahead is a cache's prefetcher with its input and its output.
type ahead struct {
	of     Prefetcher
	access Access
	list   []uint64
	// route takes a request to the cache that has its address; nil: this one.
	route func(now uint64, r *mem.Req)
}

// newAhead returns the prefetcher of a cache, nil if it has none.
func newAhead(cfg *Config) *ahead {
	if cfg.Prefetch == NextLine {
		return &ahead{of: nextLine{uint64(cfg.Line)}}
	}
	if maker, ok := Prefetchers.Maker(int(cfg.Prefetch)); ok {
		return &ahead{of: maker(cfg.Line, cfg.Atom())}
	}
	return nil
}

// RoutePrefetches passes the prefetcher's requests to f, which finds the cache
// responsible for the address and calls its Prefetch. Without it the requests go to
// this cache.
func (c *Cache) RoutePrefetches(f func(now uint64, r *mem.Req)) {
	if c.ahead != nil {
		c.ahead.route = f
	}
}

// show reports an accepted access to the prefetcher and makes the requests that it
// returns.
func (c *Cache) show(t *try, got Status) {
	if got == Hit {
		if l := &c.lines[t.line]; l.ahead&t.sec != 0 {
			l.ahead &^= t.sec
			c.Stats.Prefetch.Useful++
		}
	}
	kind := t.r.Kind
	switch kind {
	case mem.GlobalRead, mem.LocalRead, mem.TexRead:
	case mem.GlobalWrite:
		kind = mem.GlobalRead
	case mem.LocalWrite:
		kind = mem.LocalRead
	default:
		return
	}
	p, low := c.ahead, c.atom-1
	p.access = Access{
		Addr: t.r.Addr &^ low, Cycle: t.now, PC: int(t.r.PC), SM: int(t.r.SM), Warp: int(t.r.Warp),
		Write: t.r.Write, Hit: got == Hit,
	}
	p.list = p.of.Access(&p.access, p.list[:0])
	for _, addr := range p.list {
		r := c.pool.Get()
		r.Addr, r.Size, r.Kind, r.Ahead = addr&^low, uint32(c.atom), kind, c.makes
		r.SM, r.Warp, r.PC, r.Born = t.r.SM, t.r.Warp, t.r.PC, t.now
		r.Sectors = uint8(1<<(c.atom/mem.SectorBytes)-1) << (r.Addr / mem.SectorBytes % sectors)
		r.Bytes.Set(int(r.Addr%mem.LineBytes), int(c.atom))
		if p.route != nil {
			p.route(t.now, r)
		} else {
			c.Prefetch(t.now, r)
		}
	}
}

// Prefetch requests a sector or line that nothing waits for from the next level,
// and returns how many requests it put into the miss queue: r, which then belongs
// to the cache, and perhaps a victim. 0 means that there was no need or no room; r
// is then back in the pool.
func (c *Cache) Prefetch(now uint64, r *mem.Req) int {
	set, tag := c.where(r)
	t := try{r: r, now: now, set: set, tag: tag, sec: c.sector(r)}
	t.st, t.line = c.look(set, tag, t.sec, false)
	e := c.mshr.find(r.Addr)
	n := &c.Stats.Prefetch
	if _, full := c.readRoom(&t, e); t.st == Hit || t.st == HitReserved || e != none {
		n.Present++
	} else if t.st == Fail || full {
		n.Refused++
	} else {
		n.Issued++
		sent := c.sent // what the access sent
		c.sent, c.wbBytes = 0, 0
		c.fetch(&t, r, r.Addr, none, SentRead)
		c.dataBusy += c.wbBytes / c.port
		made := bits.OnesCount8(uint8(c.sent))
		c.sent = sent
		return made
	}
	c.pool.Put(r)
	return 0
}

// unused counts the unused prefetches of an evicted line.
func (c *Cache) unused(l *line) {
	c.Stats.Prefetch.Unused += uint64(bits.OnesCount8(l.ahead))
	l.ahead = 0
}

// ForgetPrefetches counts what was prefetched for nothing, drops the misses that only the
// prefetcher has requested, and returns the number of other pending misses. The cache does not wait for replies to them any
// more.
func (c *Cache) ForgetPrefetches() (others int) {
	for i := range c.lines {
		c.unused(&c.lines[i])
	}
	for h := range c.mshr.hash {
		for i := c.mshr.hash[h]; i != none; {
			e := &c.mshr.miss[i]
			next := e.chain
			if r := e.req; r.Ahead != c.makes || e.head != none {
				others++
			} else {
				if e.pending > 0 { // some pieces of the reply have come
					r.Pieces = e.pending
				}
				c.Stats.Prefetch.Unused++
				c.mshr.close(i)
			}
			i = next
		}
	}
	return others
}

// early handles the reply to a prefetch, stored in line unless that is none. It
// reports whether no access has requested the data yet; it then closes the entry.
func (c *Cache) early(i, line int32) bool {
	e := &c.mshr.miss[i]
	r := e.req
	defer c.pool.Put(r)
	if e.head != none { // late
		e.req = c.mshr.waiters[e.head].r
		return false
	}
	if line != none {
		c.lines[line].ahead |= c.sector(r)
	} else {
		c.Stats.Prefetch.Unused++
	}
	c.mshr.close(i)
	return true
}
