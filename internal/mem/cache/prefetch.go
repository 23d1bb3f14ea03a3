package cache

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/plug"
)

// This file: reading data before anybody asks. A cache shows its prefetcher every
// access that it accepts, and asks for what the prefetcher names as it would for a
// read that misses. Nobody waits for the answer. With no prefetcher there is no work.

// Prefetching says which prefetcher a cache has. Beyond those below there are the ones
// in Prefetchers.
type Prefetching uint8

// The prefetchers that are built in.
const (
	NoPrefetch Prefetching = iota
	NextLine               // a read that misses brings the same sector of the next line
)

// Prefetcher names what a cache should read ahead. Every cache has one of its own;
// those of several SMs are called side by side.
type Prefetcher interface {
	// Access is called after an access that the cache has accepted. It appends the
	// addresses that should be read to list, in order of importance, and returns
	// that. The cache reads the sectors, or lines, in which they lie, unless it has
	// them or they are on their way, or there is no room among its pending misses.
	// a is the caller's after the call.
	Access(a *Access, list []uint64) []uint64
}

// Access is what a prefetcher sees of an access to data.
type Access struct {
	Addr     uint64 // of the sector, or of the line in a cache without sectors
	Cycle    uint64 // a time in cycles that does not run backwards
	PC       int    // index of the instruction in its kernel's code
	SM, Warp int    // the SM, and the slot of the warp in it
	Write    bool
	Hit      bool // the data were there; else they are on their way or missing
}

// Prefetchers are the prefetchers, each made for a cache with lines of so many bytes
// that fetches so many at a time: a sector or a line.
var Prefetchers = plug.New[func(line, fetch int) Prefetcher]("prefetcher", prefetcherNames...)

var prefetcherNames = []string{"none", "next-line"}

// Prefetches counts what was read ahead, in sectors or lines.
type Prefetches struct {
	// Issued went to the next level. Each is one of the next three in the end, or
	// lies in the cache unused, or is on its way.
	Issued uint64
	Useful uint64 // an access found it
	Late   uint64 // an access asked for it while it was on its way
	Unused uint64 // lost its place before any access
	// Present were in the cache or on their way when they were named, Refused found
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

// ahead is a cache's prefetcher with what it is shown and what it names.
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

// RoutePrefetches has what the prefetcher names go to f, which finds the cache that
// has the address and calls its Prefetch. Without it the requests are for this cache.
func (c *Cache) RoutePrefetches(f func(now uint64, r *mem.Req)) {
	if c.ahead != nil {
		c.ahead.route = f
	}
}

// show lets the prefetcher see an access that was accepted, and does what it wants.
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

// Prefetch asks the next level for a sector or line that nobody waits for, and
// returns how many requests are in the miss queue for it: the request, which is the
// cache's from now on, and perhaps a victim. With 0 there was no need or no room, and
// the request is in the pool.
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
		sent := c.sent // what the access has sent
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

// unused counts what a line that loses its place had for nothing.
func (c *Cache) unused(l *line) {
	c.Stats.Prefetch.Unused += uint64(bits.OnesCount8(l.ahead))
	l.ahead = 0
}

// ForgetPrefetches gives up the misses that only the prefetcher has asked for, and
// returns how many others are pending. Replies to those that were sent are strangers to
// the cache from now on.
func (c *Cache) ForgetPrefetches() (others int) {
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

// early takes the answer to a prefetch, which has gone into a line unless that is
// none. It reports whether nobody has asked for the data yet; the entry is closed then.
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
