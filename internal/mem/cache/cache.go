package cache

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/mem"
)

// Sent says what an access put into the miss queue.
type Sent uint8

// The requests an access may send.
const (
	SentRead       Sent = 1 << iota // the request itself, to read its line or sector
	SentWrite                       // the request itself, writing through
	SentWriteBack                   // a dirty victim
	SentWriteAlloc                  // a read for the write
)

const sectors = mem.LineBytes / mem.SectorBytes

// line is the state of one line. A sector, or the whole of an unsectored
// line (bit 0), has its bit in at most one of rsv, val and mod; it is invalid
// if in none.
type line struct {
	tag   uint64 // address of the line
	stamp uint64 // last access (LRU) or allocation (FIFO)
	dirty mem.ByteMask
	set   int32
	chain int32 // next line of the hash bucket
	prev  int32 // older line of the set
	next  int32 // younger line of the set

	rsv, val, mod  uint8
	rd             uint8 // modified, and every byte that a read may want is valid
	modFill        uint8 // becomes modified when filled
	rdFill         uint8 // becomes readable when filled
	ahead          uint8 // prefetched and not used yet
	maskFill       bool  // the fill's bytes become dirty
	class          uint8 // how the set's counts include the line
	hashed, inList bool
}

const (
	isInvalid  = 1 << iota // no sector in use
	isReserved             // some sector reserved
	isDirty                // some sector modified, which makes the line worth keeping
)

// Cache is one cache. Not safe for concurrent use.
type Cache struct {
	cfg   Config
	pool  *mem.Pool
	Stats Stats

	shift    uint // log2 of the line
	atom     uint64
	port     int
	ways     int
	stride   int // distance between sets, in lines
	words    int // of a set's mask of invalid ways
	onMiss   bool
	keepsMod bool // modified lines count as dirty
	wrback   mem.Kind
	wralloc  mem.Kind

	lines []line
	inv   []uint64 // per set, a bit per way
	rsvN  []int32  // per set, reserved lines
	modN  []int32  // per set, dirty lines that are not reserved
	old   []int32  // per set, head of the list by stamp
	young []int32
	hash  []int32
	hmask uint64
	dirty int // dirty lines
	used  bool

	ahead  *ahead // nil without a prefetcher
	makes  mem.Ahead
	policy Policy // a program's own; nil for a built-in one
	from   Ways   // the ways it may choose from

	mshr  mshr
	queue mem.Queue

	dataBusy int
	fillBusy int

	sent     Sent
	reason   FailReason
	wbBytes  int
	maxDirty int // number of dirty lines below which they are protected, times 100
}

// New returns an empty cache. Requests that the cache makes itself (write-backs,
// reads for writes that miss) come from the pool, and pieces of replies return to
// it.
func New(cfg Config, pool *mem.Pool) (*Cache, error) {
	if err := usable(&cfg, false); err != nil {
		return nil, err
	}
	c := &Cache{
		cfg: cfg, pool: pool,
		shift: uint(log2(cfg.Line)), atom: uint64(cfg.Atom()), port: cfg.port(),
		ways: cfg.Ways, onMiss: cfg.Alloc == OnMiss,
		keepsMod: cfg.Write != WriteThrough || cfg.Compat.ProtectWritten,
		wrback:   mem.L1WriteBack, wralloc: mem.L1WriteAlloc, makes: mem.AheadL1,
		ahead: newAhead(&cfg),
	}
	if cfg.Level == L2 {
		c.wrback, c.wralloc, c.makes = mem.L2WriteBack, mem.L2WriteAlloc, mem.AheadL2
	}
	n := cfg.Sets * cfg.maxWays()
	c.lines = make([]line, n)
	c.words = (cfg.maxWays() + 63) / 64
	c.inv = make([]uint64, cfg.Sets*c.words)
	c.rsvN = make([]int32, cfg.Sets)
	c.modN = make([]int32, cfg.Sets)
	c.old = make([]int32, cfg.Sets)
	c.young = make([]int32, cfg.Sets)
	c.hash = make([]int32, 1<<bits.Len(uint(n)))
	c.hmask = uint64(len(c.hash) - 1)
	c.mshr = newMSHR(cfg.Entries)
	c.layOut(cfg.Ways)
	return c, nil
}

// usable checks a configuration for one of the two types.
func usable(cfg *Config, texture bool) error {
	err := cfg.Check()
	switch {
	case err != nil:
	case cfg.Disabled:
		err = errors.New("is disabled")
	case cfg.IsTexture() != texture && texture:
		err = errors.New("a texture cache needs the FIFO organisation (F or T)")
	case cfg.IsTexture() != texture:
		err = errors.New("the FIFO organisation (F, T) is for texture caches")
	}
	if err != nil {
		return fmt.Errorf("cache %s: %w", cfg.Name, err)
	}
	return nil
}

// Config returns the settings.
func (c *Cache) Config() *Config { return &c.cfg }

// Probe returns the outcome that an access would start with, without side effects.
// Fail means that no line could be taken; an access may still be refused for other
// reasons.
func (c *Cache) Probe(r *mem.Req) Status {
	set, tag := c.where(r)
	st, _ := c.look(set, tag, c.sector(r), r.Write)
	return st
}

// Access looks a request up. now, in any unit, orders the accesses to a set; it
// must not decrease.
//
//   - Hit: done. The owner answers r, unless Sent has SentWrite: then r went on
//     to the next level.
//   - HitReserved, Miss, SectorMiss: accepted. A read comes out of PopReady
//     when its data have arrived. A write either went to the next level itself
//     (SentWrite), or waits for the read that it caused (SentWriteAlloc
//     without SentWrite: that read, with Orig the write, comes out of PopReady),
//     or, with neither, is done and is answered by the owner.
//   - Fail: nothing happened; the owner tries again in a later cycle.
func (c *Cache) Access(now uint64, r *mem.Req) Status {
	c.sent, c.wbBytes = 0, 0
	set, tag := c.where(r)
	t := try{r: r, now: now, set: set, tag: tag, sec: c.sector(r)}
	t.st, t.line = c.look(set, tag, t.sec, r.Write)
	got := t.st
	switch {
	case r.Write && t.st == Hit:
		got = c.writeHit(&t)
	case t.st == Hit:
		c.readHit(&t)
	case c.cfg.Perfect || r.Sure:
		return c.perfect(&t)
	case r.Write && (t.st != Fail || c.cfg.WriteAlloc == NoWriteAlloc):
		got = c.writeMiss(&t)
	case t.st != Fail:
		got = c.readMiss(&t)
	default:
		c.reason = LineAllocFail
	}
	switch got {
	case Fail:
		c.Stats.Fails[r.Kind][c.reason]++
	case Hit:
		c.dataBusy += (int(r.Size) + c.port - 1) / c.port
	case Miss, HitReserved:
		if c.wbBytes > 0 {
			c.dataBusy += c.wbBytes / c.port
		}
	}
	c.Stats.Accesses[r.Kind][got]++
	if c.ahead != nil && got != Fail {
		c.show(&t, got)
	}
	return got
}

// perfect makes an access that has missed a hit. A write that the cache would pass on
// is passed on; it takes no line.
func (c *Cache) perfect(t *try) Status {
	got := Hit
	if p := c.cfg.Write; t.r.Write && p != WriteBack && (p != LocalBack || t.r.Kind == mem.GlobalWrite) {
		if c.lacks(1) {
			c.Stats.Fails[t.r.Kind][MissQueueFull]++
			got = c.refuse(MissQueueFull)
		} else {
			c.sendWrite(t.r)
		}
	}
	if got == Hit {
		c.dataBusy += (int(t.r.Size) + c.port - 1) / c.port
	}
	c.Stats.Accesses[t.r.Kind][got]++
	return got
}

// Sent returns what the last access put into the miss queue.
func (c *Cache) Sent() Sent { return c.sent }

// Reason returns why the last refused access was refused.
func (c *Cache) Reason() FailReason { return c.reason }

// try is an access in progress.
type try struct {
	r    *mem.Req
	now  uint64
	st   Status // what look found
	line int32
	set  int
	tag  uint64
	sec  uint8
}

// accepted is the outcome of an access that missed and was accepted.
func (t *try) accepted() Status {
	if t.st == Fail {
		return Miss // a write that takes no line needs no free one
	}
	return t.st
}

func (c *Cache) refuse(why FailReason) Status {
	c.reason = why
	return Fail
}

// lacks reports whether the miss queue has fewer than n free entries.
func (c *Cache) lacks(n int) bool { return c.queue.Len()+n > c.cfg.MissQueue }

func (c *Cache) readHit(t *try) {
	c.use(t.st, t.line, t.set, t.tag, t.sec, t.now)
	if t.r.Atomic {
		c.modify(t.line, t.sec, t.r.Bytes)
	}
}

func (c *Cache) readMiss(t *try) Status {
	key := t.r.Addr &^ (c.atom - 1)
	e := c.mshr.find(key)
	if why, full := c.readRoom(t, e); full {
		return c.refuse(why)
	}
	c.fetch(t, t.r, key, e, SentRead)
	return t.accepted()
}

// readRoom reports whether there is no room for a read that misses, with entry e or
// none, and what is full.
func (c *Cache) readRoom(t *try, e int32) (FailReason, bool) {
	need := 1
	switch {
	case c.cfg.Write == ReadOnly && c.cfg.Compat.MissNeedsTwo:
	case c.cfg.Compat.MissNeedsTwo:
		need = 2
	default:
		if e != none {
			need = 0
		}
		if t.st == Miss && c.onMiss && !c.late(e) && c.cfg.Write != WriteThrough && c.lines[c.victim(t.set)].mod != 0 {
			need++
		}
	}
	if need > 0 && c.lacks(need) {
		return MissQueueFull, true
	}
	return c.pendingFull(e)
}

// pendingFull reports whether there is no room for a miss: in the list of entry e
// or, without an entry, in the table.
func (c *Cache) pendingFull(e int32) (FailReason, bool) {
	if e != none {
		return MSHRMergeFail, int(c.mshr.miss[e].n) >= c.cfg.Merge
	}
	return MSHREntryFail, c.mshr.live >= c.cfg.Entries
}

// late reports whether joining an entry must not reserve anything, because its data
// have already arrived.
func (c *Cache) late(e int32) bool {
	return e != none && c.mshr.miss[e].ready && !c.cfg.Compat.LateMerge
}

// fetch reads r's atom: it joins entry e, or opens one and sends r. It returns the
// reserved line, or none.
func (c *Cache) fetch(t *try, r *mem.Req, key uint64, e int32, sent Sent) int32 {
	line := none
	var out evicted
	if c.late(e) {
		c.used = true
		if t.st == HitReserved {
			c.touch(t.line, t.now)
		}
	} else {
		line, out = c.use(t.st, t.line, t.set, t.tag, t.sec, t.now)
	}
	if e != none {
		c.Stats.Accesses[r.Kind][MSHRHit]++
		if m := &c.mshr.miss[e]; m.head == none { // prefetched, but too late
			c.Stats.Prefetch.Late++
		}
		c.mshr.wait(e, r)
	} else {
		e = c.mshr.open(key, r, line)
		if r.Ahead != c.makes {
			c.mshr.wait(e, r)
		}
		r.Addr, r.Size = key, uint32(c.atom)
		if c.atom > mem.SectorBytes && r.Sectors != 0 { // it is requested as a whole
			r.Sectors |= uint8(1<<(c.atom/mem.SectorBytes)-1) << (key / mem.SectorBytes % sectors)
		}
		c.queue.Push(r)
		c.sent |= sent
	}
	c.evict(t, out)
	return line
}

// evict sends a dirty victim.
func (c *Cache) evict(t *try, out evicted) {
	if out.size == 0 {
		return
	}
	w := c.pool.Get()
	w.Addr, w.Size, w.Kind, w.Write = out.tag, out.size, c.wrback, true
	w.Sectors, w.Bytes, w.Lanes = out.sectors, out.bytes, t.r.Lanes
	w.SM, w.Born = t.r.SM, t.now
	w.Sub, w.Chan = -1, -1
	switch {
	case c.cfg.Level == L2:
		w.Sub, w.Chan = t.r.Sub, t.r.Chan
	case c.cfg.Compat.VictimSlice:
		w.PartAddr = t.r.Addr // see part.AddrMap.Decode
	}
	c.queue.Push(w)
	c.sent |= SentWriteBack
	c.wbBytes = int(out.size)
	c.Stats.WriteBacks++
}

// sendWrite sends the request itself.
func (c *Cache) sendWrite(r *mem.Req) {
	c.queue.Push(r)
	c.sent |= SentWrite
}

func (c *Cache) writeHit(t *try) Status {
	policy := c.cfg.Write
	if policy == LocalBack {
		policy = WriteBack
		if t.r.Kind == mem.GlobalWrite {
			policy = WriteEvict
		}
	}
	if policy != WriteBack && c.lacks(1) {
		return c.refuse(MissQueueFull)
	}
	switch policy {
	case WriteBack, WriteThrough:
		c.use(Hit, t.line, t.set, t.tag, t.sec, t.now)
		c.modify(t.line, t.sec, t.r.Bytes)
		c.complete(t.line, t.sec)
		if policy == WriteThrough {
			c.sendWrite(t.r)
		}
	default:
		c.sendWrite(t.r)
		l := &c.lines[t.line]
		l.val &^= t.sec
		l.mod &^= t.sec
		c.settle(t.line)
	}
	return Hit
}

func (c *Cache) writeMiss(t *try) Status {
	switch c.cfg.WriteAlloc {
	case NaiveAlloc, FetchOnWrite:
		if c.cfg.WriteAlloc == FetchOnWrite && c.wholeAtom(t.r) {
			return c.lazyMiss(t)
		}
		return c.allocMiss(t)
	case LazyFetch:
		return c.lazyMiss(t)
	}
	if c.lacks(1) {
		return c.refuse(MissQueueFull)
	}
	c.sendWrite(t.r)
	return t.accepted()
}

// wholeAtom reports whether a write overwrites its whole sector or line.
func (c *Cache) wholeAtom(r *mem.Req) bool {
	return uint64(bits.OnesCount64(r.Bytes[0])+bits.OnesCount64(r.Bytes[1])) == c.atom
}

// lazyMiss takes a line for a write without reading it.
func (c *Cache) lazyMiss(t *try) Status {
	if c.lacks(1) {
		return c.refuse(MissQueueFull)
	}
	if c.cfg.Write == WriteThrough {
		c.sendWrite(t.r)
	}
	i, out := c.use(t.st, t.line, t.set, t.tag, t.sec, t.now)
	c.modify(i, t.sec, t.r.Bytes)
	l := &c.lines[i]
	if t.st == HitReserved { // the fill must not undo the write
		l.modFill |= t.sec
		l.maskFill = true
	}
	if c.wholeAtom(t.r) {
		l.rd |= t.sec
	} else {
		l.rd &^= t.sec
		if t.st == HitReserved {
			l.rdFill |= t.sec
		}
	}
	c.complete(i, t.sec)
	c.evict(t, out)
	return t.accepted()
}

// allocMiss takes a line for a write by reading it (naive, fetch on write).
func (c *Cache) allocMiss(t *try) Status {
	key := t.r.Addr &^ (c.atom - 1)
	e := c.mshr.find(key)
	naive := c.cfg.WriteAlloc == NaiveAlloc
	need := 2
	if naive {
		need = 3
	}
	if c.lacks(need) {
		return c.refuse(MissQueueFull)
	}
	if why, full := c.pendingFull(e); full {
		return c.refuse(why)
	}
	if !naive && e != none && (c.late(e) || c.mshr.readAfterWrite(e)) {
		return c.refuse(MSHRRWPending)
	}
	n := c.pool.Get()
	*n = *t.r // address, place and owner
	n.Kind, n.Write, n.Atomic = c.wralloc, false, false
	n.Pieces, n.Born = 0, t.now
	n.Size = uint32(c.atom)
	n.Orig = nil
	if naive {
		c.sendWrite(t.r)
	} else {
		n.Orig = t.r
	}
	i := c.fetch(t, n, key, e, SentWriteAlloc)
	c.sent |= SentWriteAlloc
	if !naive && i != none {
		l := &c.lines[i]
		l.modFill |= t.sec
		l.maskFill = true
	}
	return t.accepted()
}

// MissHead returns the oldest request that waits for the next level, nil if there
// is none.
func (c *Cache) MissHead() *mem.Req { return c.queue.Head() }

// MissNext returns the request after MissHead, nil if there is none.
func (c *Cache) MissNext() *mem.Req {
	if c.queue.Len() < 2 {
		return nil
	}
	return c.queue.At(1)
}

// PopMiss removes and returns MissHead. The owner sends it on, at most one per
// cycle and before Tick.
func (c *Cache) PopMiss() *mem.Req { return c.queue.Pop() }

// MissLen returns the number of requests that wait for the next level.
func (c *Cache) MissLen() int { return c.queue.Len() }

// Pending returns the number of misses that wait for data or for service.
func (c *Cache) Pending() int { return c.mshr.live }

// Tick ends a cycle and advances the ports.
func (c *Cache) Tick() {
	c.Stats.Cycles++
	if c.dataBusy > 0 {
		c.dataBusy--
		c.Stats.DataBusy++
	}
	if c.fillBusy > 0 {
		c.fillBusy--
		c.Stats.FillBusy++
	}
}

// Skip has the effect of n Ticks.
func (c *Cache) Skip(n uint64) {
	c.Stats.Cycles += n
	d := min(n, uint64(c.dataBusy))
	f := min(n, uint64(c.fillBusy))
	c.dataBusy -= int(d)
	c.fillBusy -= int(f)
	c.Stats.DataBusy += d
	c.Stats.FillBusy += f
}

// DataPortFree reports whether a look-up may start. The owner must check it; Access
// does not.
func (c *Cache) DataPortFree() bool { return c.dataBusy == 0 }

// FillPortFree reports whether a fill may start.
func (c *Cache) FillPortFree() bool { return c.fillBusy == 0 }

// Quiet reports whether the cache has nothing to send or serve and its ports are
// free. Then only calls by its owner change it.
func (c *Cache) Quiet() bool {
	return c.queue.Len() == 0 && c.mshr.ready.Len() == 0 && c.dataBusy == 0 && c.fillBusy == 0
}

// entry returns the pending miss that a reply is for, and the request that was
// sent; none if the cache did not send it.
func (c *Cache) entry(r *mem.Req) (int32, *mem.Req) {
	if e := c.mshr.find(r.Addr &^ (c.atom - 1)); e != none && c.mshr.miss[e].req == r {
		return e, r
	}
	if o := r.Orig; o != nil {
		if e := c.mshr.find(o.Addr &^ (c.atom - 1)); e != none && c.mshr.miss[e].req == o {
			return e, o
		}
	}
	return none, nil
}

// WaitsFor reports whether a reply, or the request of which it is a piece, was sent
// by this cache.
func (c *Cache) WaitsFor(r *mem.Req) bool {
	e, _ := c.entry(r)
	return e != none && !c.mshr.miss[e].ready
}

// Fill takes the reply to a request that the cache sent, or one 32-byte piece of it
// (Orig is the request): pieces return to the pool, and the last one completes the
// reply. It reports whether the cache waited for it; if not, nothing happened and r
// still belongs to the caller.
func (c *Cache) Fill(now uint64, r *mem.Req) bool {
	i, req := c.entry(r)
	if i == none || c.mshr.miss[i].ready {
		return false
	}
	e := &c.mshr.miss[i]
	if r != req {
		c.pool.Put(r)
		if e.pending == 0 {
			e.pending = int32((c.atom + mem.SectorBytes - 1) / mem.SectorBytes)
		}
		e.pending--
		if e.pending > 0 {
			return true
		}
	}
	req.Addr, req.Size = e.addr, e.size
	line := c.land(now, e)
	c.fillBusy += int(c.atom) / c.port
	if req.Ahead == c.makes && c.early(i, line) {
		return true
	}
	c.mshr.arrived(i)
	if e.atomic && line != none {
		c.modify(line, c.sector(e.req), e.req.Bytes)
	}
	return true
}

// land puts the data of a miss into its line and returns the line, or none if no
// line waits for them.
func (c *Cache) land(now uint64, e *miss) int32 {
	set, tag := c.where(e.req)
	sec := c.sector(e.req)
	switch {
	case e.line == none && !c.onMiss:
		return c.fillTag(now, set, tag, sec, false, e.req.Bytes)
	case e.line != none && c.cfg.Compat.FillByWay:
		c.put(e.line, sec, e.req.Bytes)
		return e.line
	}
	_, i := c.look(set, tag, sec, false)
	if i == none || (c.lines[i].rsv|c.lines[i].modFill)&sec == 0 {
		return none
	}
	c.used = true
	c.put(i, sec, e.req.Bytes)
	return i
}

// Ready reports whether an answered request waits to be popped.
func (c *Cache) Ready() bool { return c.mshr.ready.Len() > 0 }

// PopReady returns the next answered request, nil if there is none: misses in
// the order of their fills, the requests of one miss in the order in which they
// came. A read that the cache made for a write (L1WriteAlloc, L2WriteAlloc) belongs
// to the caller, which answers its Orig, if any, and returns it to the pool.
func (c *Cache) PopReady() *mem.Req { return c.mshr.next() }
