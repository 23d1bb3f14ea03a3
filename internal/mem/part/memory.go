package part

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/mem/dram"
)

// Memory is all partitions of a chip. In every tick, its owner calls, in this
// order, for the clock domains that fire: for every sub-partition in Replying
// ReplyHead and PopReply (network), DRAMTick (DRAM), and between BeginL2 and EndL2 for
// every sub-partition in Awake, in order, CanTake and Enter, then CacheCycle (L2).
// Sub-partitions and channels in which nothing can happen sleep: their ticks are
// counted when they wake. It is not safe for concurrent use.
type Memory struct {
	cfg   Config
	addr  *AddrMap
	pool  *mem.Pool
	subs  []sub
	chans []channel
	live  int // requests inside, including those that the L2s made

	l2Ticks, dramTicks uint64 // so far
	turn               int    // sub-partition whose L2 tick is simulated; all have had it between ticks
	// Sets, a bit each.
	awake    []uint64 // sub-partitions whose next L2 ticks may do something
	replying []uint64 // with a reply for the network
	loud     []uint64 // channels with requests

	// Far, if set, says of a request that enters a slice whether it is for the memory of
	// another chip, and at which core cycle the answer comes. Slices do not cache it.
	Far func(r *mem.Req, now uint64) (ready uint64, far bool)

	// Saw, if set, is called with every request that reaches an L2 slice, and every
	// one that leaves one for the DRAM.
	Saw func(dram bool, r *mem.Req)

	credits int // requests that the slices of a channel share; 0: any number

	halves halves // with FarLatency

	rows [][]int64 // with Open, by channel and bank: the open row, -1 if none; otherwise nil
	atom uint64    // bytes of a DRAM command
}

// sub is a sub-partition: an L2 slice and the queues around it.
type sub struct {
	k     int          // its number
	l2    *cache.Cache // nil if off
	delay mem.Queue    // before the L2, by Ready
	away  mem.Queue    // at another chip, by Ready
	toL2, toDRAM,
	fromDRAM, toNet mem.Queue
	live    int    // requests of this slice anywhere
	aged    uint64 // cycles that copies added to its times
	ticked  uint64 // L2 ticks counted in the cache
	wake    uint64 // core cycle before which its ticks do nothing
	private int    // requests in the channel on the slice's own credit
	stats   SubStats
}

// channel is the DRAM side of a partition.
type channel struct {
	dev     *dram.Device // nil with FixedLatency or Open
	latency mem.Queue    // before the DRAM, by Ready
	last    int          // sub-partition that had the last turn
	shared  int          // requests on shared credit
	live    int          // requests that left an L2 and have not come back
	ticked  uint64       // DRAM ticks counted in the device
	wake    uint64       // core cycle before which its ticks do nothing
	stats   ChannelStats
	open    dram.Stats // with Open
}

// New returns an idle memory with an empty L2. Requests that it makes itself come
// from the pool.
func New(cfg Config, pool *mem.Pool) (*Memory, error) {
	if pool == nil {
		return nil, errors.New("memory: no pool of requests")
	}
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	cfg.L2.Level = cache.L2
	addr, err := NewAddrMap(&cfg)
	if err != nil {
		return nil, err
	}
	m := &Memory{
		cfg: cfg, addr: addr, pool: pool, credits: cfg.sharedCredits(), atom: uint64(cfg.DRAM.AtomBytes()),
		subs: make([]sub, cfg.Channels*cfg.Subs), chans: make([]channel, cfg.Channels),
	}
	if !cfg.L2.Disabled && cfg.FarLatency > 0 {
		m.halves = newHalves(len(m.subs), len(m.subs)*cfg.L2.Sets*cfg.L2.Ways)
	}
	m.turn = len(m.subs)
	m.awake, m.replying, m.loud = newSet(len(m.subs)), newSet(len(m.subs)), newSet(len(m.chans))
	q := cfg.Queues
	if cfg.Open.On {
		q.ToDRAM, q.FromDRAM = 0, 0
	}
	for i := range m.subs {
		s := &m.subs[i]
		s.k, s.wake = i, Never
		s.delay, s.away = mem.NewQueue(0), mem.NewQueue(0)
		s.toL2, s.toDRAM = mem.NewQueue(q.ToL2), mem.NewQueue(q.ToDRAM)
		s.fromDRAM, s.toNet = mem.NewQueue(q.FromDRAM), mem.NewQueue(q.ToNet)
		if !cfg.L2.Disabled {
			if s.l2, err = cache.New(cfg.L2, pool); err != nil {
				return nil, fmt.Errorf("memory: L2: %w", err)
			}
			s.l2.RoutePrefetches(func(now uint64, r *mem.Req) { m.prefetch(r, now-s.aged) })
		}
	}
	for i := range m.chans {
		c := &m.chans[i]
		c.latency, c.last = mem.NewQueue(0), cfg.Subs-1
		switch {
		case cfg.Open.On:
			m.rows = append(m.rows, slices.Repeat([]int64{-1}, cfg.DRAM.Banks))
		case !cfg.FixedLatency:
			if c.dev, err = dram.New(cfg.DRAM); err != nil {
				return nil, fmt.Errorf("memory: %w", err)
			}
		}
	}
	return m, nil
}

func newSet(n int) []uint64      { return make([]uint64, (n+63)/64) }
func add(set []uint64, i int)    { set[i>>6] |= 1 << (i & 63) }
func remove(set []uint64, i int) { set[i>>6] &^= 1 << (i & 63) }

// rouse lets the ticks of a sub-partition from core cycle from on be simulated.
func (m *Memory) rouse(s *sub, from uint64) {
	s.wake = min(s.wake, from)
	add(m.awake, s.k)
}

// Config returns the settings.
func (m *Memory) Config() *Config { return &m.cfg }

// Map returns the address map, with which the senders of requests fill in their
// place.
func (m *Memory) Map() *AddrMap { return m.addr }

// Channels returns the number of channels.
func (m *Memory) Channels() int { return len(m.chans) }

// Subs returns the number of sub-partitions of the chip.
func (m *Memory) Subs() int { return len(m.subs) }

// Busy reports whether any request is inside, including replies not yet taken.
func (m *Memory) Busy() bool { return m.live > 0 }

// Away reports whether any request is at another chip.
func (m *Memory) Away() bool {
	if m.Far != nil {
		for i := range m.subs {
			if m.subs[i].away.Len() > 0 {
				return true
			}
		}
	}
	return false
}

// CanTake reports whether a sub-partition may take a packet: its queue to the
// L2 has room for the four sectors of a line, and not too many writes wait for the
// other half of the L2.
func (m *Memory) CanTake(sub int, now uint64) bool {
	return !m.halves.full(now) && m.subs[sub].toL2.Room(mem.LineBytes/mem.SectorBytes)
}

// Enter takes a packet from the network. The address map has set the request's
// place, and CanTake was true.
func (m *Memory) Enter(sub int, r *mem.Req, now uint64) {
	s := &m.subs[sub]
	s.stats.Packets++
	r.Sub, r.Chan = int32(sub), int32(sub/m.cfg.Subs)
	if m.Saw != nil {
		m.Saw(false, r)
	}
	r.Ready = now + uint64(m.cfg.ROPLatency)
	if m.halves.sets > 0 {
		near := r.Ready
		if r.Ready = m.halves.access(r, now, &m.cfg); r.Ready > near {
			s.stats.Far++
		}
	}
	if s.l2 != nil && m.cfg.L2.Sectored && !oneSector(r) {
		m.cut(s, r, now)
		return
	}
	m.admit(s, r, now)
}

func oneSector(r *mem.Req) bool {
	return r.Size == mem.SectorBytes && r.Sectors != 0 && r.Sectors&(r.Sectors-1) == 0
}

const allSectors = 1<<(mem.LineBytes/mem.SectorBytes) - 1

// cut splits a request into sectors and enters them.
func (m *Memory) cut(s *sub, r *mem.Req, now uint64) {
	sectors := r.Sectors & allSectors
	twin := false // 64 bytes without a sector mask
	switch {
	case r.Size >= mem.LineBytes:
		sectors = allSectors
	case r.Size == 2*mem.SectorBytes && (sectors == 0 || sectors == allSectors):
		sectors = 0b11
		if r.Addr%mem.LineBytes != 0 {
			sectors = 0b1100
		}
		twin = true
	case sectors == 0:
		sectors = 1 << (r.Addr / mem.SectorBytes % 4)
	}
	r.Pieces = 0
	for i := range mem.LineBytes / mem.SectorBytes {
		if sectors>>i&1 != 0 {
			r.Pieces++
		}
	}
	below := mem.ByteMask{}
	for i := range mem.LineBytes / mem.SectorBytes {
		if sectors>>i&1 == 0 {
			continue
		}
		p := m.pool.Get()
		*p = *r
		p.Orig, p.Pieces, p.PartAddr = r, 0, 0
		p.Size, p.Sectors = mem.SectorBytes, 1<<i
		p.Addr = r.Addr&^(mem.LineBytes-1) + uint64(i)*mem.SectorBytes
		if m.cfg.Compat.PieceAddresses {
			p.Addr = r.Addr
			if !twin {
				p.Addr += uint64(i) * mem.SectorBytes
			}
		}
		of := mem.ByteMask{}
		of.Set(i*mem.SectorBytes, mem.SectorBytes)
		below = below.Or(of)
		if m.cfg.Compat.CumulativeMasks {
			of = below
		}
		p.Bytes = r.Bytes.And(of)
		m.addr.Decode(p)
		p.Sub, p.Chan = r.Sub, r.Chan // a piece stays in the partition
		m.admit(s, p, now)
	}
}

// admit puts a request into the delay before the L2, until it is Ready, or a texture's after it.
func (m *Memory) admit(s *sub, r *mem.Req, now uint64) {
	s.stats.Requests++
	s.live++
	m.live++
	if m.Far != nil {
		if ready, far := m.Far(r, now); far {
			r.Ready = ready
			s.away.PushReady(r)
			m.rouse(s, ready)
			return
		}
	}
	if r.Kind == mem.TexRead {
		s.toL2.Push(r)
		m.rouse(s, 0)
		return
	}
	if m.halves.sets > 0 {
		s.delay.PushReady(r)
	} else {
		s.delay.Push(r)
	}
	m.rouse(s, r.Ready)
}

// Replying returns the sub-partitions with a ReplyHead, a bit each.
func (m *Memory) Replying() []uint64 { return m.replying }

// ReplyHead returns the oldest reply of a sub-partition, nil if there is none.
func (m *Memory) ReplyHead(sub int) *mem.Req { return m.subs[sub].toNet.Head() }

// PopReply removes and returns ReplyHead, which then belongs to the caller.
func (m *Memory) PopReply(sub int) *mem.Req {
	s := &m.subs[sub]
	r := s.toNet.Pop()
	if r != nil {
		s.stats.Replies++
		m.gone(s)
		if s.toNet.Len() == 0 {
			remove(m.replying, sub)
		}
	}
	return r
}

// gone counts a request that has left.
func (m *Memory) gone(s *sub) {
	s.live--
	m.live--
}

// answer sends a request back; a write-back ends here, as nothing waits for it.
func (m *Memory) answer(s *sub, r *mem.Req) {
	if r.IsWriteBack() {
		m.end(s, r)
		return
	}
	if o := r.Orig; o != nil && o.OneAck && o.Pieces > 1 {
		o.Pieces--
		s.stats.Vanished++
		m.pool.Put(r)
		m.gone(s)
		return
	}
	r.Reply = true
	s.toNet.Push(r)
	add(m.replying, s.k)
}

// end returns a write-back to the pool; with the last piece of a request, also that
// request.
func (m *Memory) end(s *sub, r *mem.Req) {
	if r.Kind == mem.L1WriteBack {
		s.stats.Vanished++
		if o := r.Orig; o != nil {
			if o.Pieces--; o.Pieces == 0 {
				m.pool.Put(o)
			}
		}
	}
	m.pool.Put(r)
	m.gone(s)
}

// catchUp counts the ticks of the L2 that the sub-partition has slept through.
func (m *Memory) catchUp(s *sub) {
	passed := m.l2Ticks
	if s.k >= m.turn { // this tick is still to come
		passed--
	}
	if n := passed - s.ticked; n > 0 {
		if s.l2 != nil {
			s.l2.Skip(n)
		}
		s.ticked = passed
	}
}

// BeginL2 begins a tick of the L2.
func (m *Memory) BeginL2() { m.l2Ticks, m.turn = m.l2Ticks+1, 0 }

// EndL2 ends it.
func (m *Memory) EndL2() { m.turn = len(m.subs) }

// Awake returns the sub-partitions for which CacheCycle does something, a bit each. The
// ticks of others may add later ones.
func (m *Memory) Awake() []uint64 { return m.awake }

// CacheCycle is one L2 tick of a sub-partition; now is the core cycle.
func (m *Memory) CacheCycle(sub int, now uint64) {
	s := &m.subs[sub]
	m.turn = sub
	if now < s.wake {
		return
	}
	m.catchUp(s)
	m.cacheCycle(s, now)
	s.ticked++
	switch {
	case s.toL2.Len()+s.fromDRAM.Len()+s.away.Len() > 0 || s.l2 != nil && (s.l2.Ready() || s.l2.MissHead() != nil):
		s.wake = 0
	case s.delay.Len() > 0:
		s.wake = s.delay.Head().Ready
	default:
		s.wake = Never
		remove(m.awake, sub)
	}
}

func (m *Memory) cacheCycle(s *sub, now uint64) {
	if s.l2 != nil && s.l2.Ready() && !s.toNet.Full() {
		m.serve(s)
	}
	if r := s.fromDRAM.Head(); r != nil {
		if s.l2 != nil && s.l2.WaitsFor(r) {
			if s.l2.FillPortFree() {
				s.fromDRAM.Pop()
				own := r.Ahead == mem.AheadL2
				s.l2.Fill(now+s.aged, r)
				if own { // nothing else holds it
					m.gone(s)
				}
			}
		} else if !s.toNet.Full() {
			s.fromDRAM.Pop()
			m.answer(s, r)
		}
	}
	if s.l2 != nil {
		if s.l2.MissHead() != nil && !s.toDRAM.Full() {
			m.sendDown(s.k, s.l2.PopMiss())
		}
		s.l2.Tick()
	}
	if r := s.toL2.Head(); r != nil && !s.toDRAM.Full() {
		if s.l2 == nil || m.cfg.L2TextureOnly && r.Kind != mem.TexRead {
			s.toL2.Pop()
			m.sendDown(s.k, r)
		} else if !s.toNet.Full() && s.l2.DataPortFree() {
			m.access(s, r, now)
		}
	}
	if r := s.delay.Head(); r != nil && r.Ready <= now && !s.toL2.Full() {
		s.toL2.Push(s.delay.Pop())
	}
	if m.Far != nil {
		if r := s.away.Head(); r != nil && r.Ready <= now && !s.toNet.Full() {
			m.answer(s, s.away.Pop())
		}
	}
}

// serve takes an answered request out of the L2.
func (m *Memory) serve(s *sub) {
	r := s.l2.PopReady()
	if r.Kind != mem.L2WriteAlloc {
		m.answer(s, r)
		return
	}
	if r.Orig != nil { // the write that the line was read for
		m.answer(s, r.Orig)
	}
	m.pool.Put(r)
	m.gone(s)
}

// access looks up the head of the queue to the L2.
func (m *Memory) access(s *sub, r *mem.Req, now uint64) {
	st := s.l2.Access(now+s.aged, r)
	if st == cache.Fail {
		return
	}
	s.toL2.Pop()
	sent := s.l2.Sent()
	if sent&cache.SentWriteBack != 0 {
		s.live++
		m.live++
	}
	if sent&cache.SentWriteAlloc != 0 {
		s.live++
		m.live++
	}
	// A write that was neither sent on nor waits for a read is done.
	if st == cache.Hit && sent&cache.SentWrite == 0 ||
		st != cache.Hit && r.Write && sent&(cache.SentWrite|cache.SentWriteAlloc) == 0 {
		m.answer(s, r)
	}
}

// prefetch takes a request of an L2's prefetcher to the slice of its address. It
// arrives there immediately (our simplification).
func (m *Memory) prefetch(r *mem.Req, now uint64) {
	m.addr.Decode(r)
	s := &m.subs[r.Sub]
	m.catchUp(s)
	m.rouse(s, 0)
	n := s.l2.Prefetch(now+s.aged, r)
	s.live += n
	m.live += n
}

// sendDown puts a request into the queue to the DRAM.
func (m *Memory) sendDown(sub int, r *mem.Req) {
	if r.Kind == mem.L2WriteBack { // has its slice, not yet its bank
		p := m.addr.Find(r.Addr)
		r.Bank, r.Row, r.Col = int32(m.addr.device(p)), p.Row, p.Col
		r.Sub, r.Chan = int32(sub), int32(sub/m.cfg.Subs)
	}
	m.subs[sub].toDRAM.Push(r)
	c := &m.chans[sub/m.cfg.Subs]
	c.live++
	c.wake = 0
	add(m.loud, sub/m.cfg.Subs)
	c.stats.ToDRAM++
}

// catchUp counts the first n ticks in the device.
func (c *channel) catchUp(n uint64) {
	if c.dev != nil && n > c.ticked {
		c.dev.Skip(n - c.ticked)
	}
	c.ticked = n
}

// DRAMTick is one DRAM tick of all channels; now is the core cycle.
func (m *Memory) DRAMTick(now uint64) {
	m.dramTicks++
	for w, set := range m.loud {
		for ; set != 0; set &= set - 1 {
			ch := w<<6 + bits.TrailingZeros64(set)
			c := &m.chans[ch]
			if now < c.wake {
				continue
			}
			c.catchUp(m.dramTicks - 1)
			c.ticked++
			m.dramCycle(ch, now)
			m.settle(ch)
		}
	}
}

// settle lets a channel sleep until the next request leaves the delay before the DRAM,
// if nothing can happen before.
func (m *Memory) settle(ch int) {
	c := &m.chans[ch]
	if c.live == 0 {
		remove(m.loud, ch)
		return
	}
	if c.dev == nil || !c.dev.Empty() {
		return
	}
	for i := range m.subs[ch*m.cfg.Subs : (ch+1)*m.cfg.Subs] {
		if m.subs[ch*m.cfg.Subs+i].toDRAM.Len() > 0 {
			return
		}
	}
	if r := c.latency.Head(); r != nil {
		c.wake = r.Ready
	}
}

// dramCycle is one DRAM tick of a channel.
func (m *Memory) dramCycle(ch int, now uint64) {
	c := &m.chans[ch]
	if c.dev == nil {
		m.fixedCycle(ch, now)
		return
	}
	if r := c.dev.ReplyHead(); r != nil {
		s := &m.subs[r.Sub]
		if !s.fromDRAM.Full() {
			c.dev.PopReply()
			m.comeBack(c, s, r)
		}
	}
	if r := c.dev.Cycle(now); r != nil {
		m.written(c, r)
	}
	m.borrow(ch, now)
	if r := c.latency.Head(); r != nil && r.Ready <= now && !c.dev.Full(r.Write) {
		c.dev.Push(c.latency.Pop(), now)
	}
}

// fixedCycle is dramCycle of a memory with FixedLatency or Open.
func (m *Memory) fixedCycle(ch int, now uint64) {
	if m.rows != nil {
		m.openCycle(ch, now)
		return
	}
	c := &m.chans[ch]
	if r := c.latency.Head(); r != nil && r.Ready <= now {
		s := &m.subs[r.Sub]
		if r.IsWriteBack() {
			c.latency.Pop()
			m.written(c, r)
		} else if !s.fromDRAM.Full() {
			c.latency.Pop()
			r.Reply = true
			m.comeBack(c, s, r)
		}
	}
	m.borrow(ch, now)
}

// openCycle is dramCycle of a memory with Open: everything that is due is answered, and
// everything that waits is accessed.
func (m *Memory) openCycle(ch int, now uint64) {
	c := &m.chans[ch]
	for r := c.latency.Head(); r != nil && r.Ready <= now; r = c.latency.Head() {
		c.latency.Pop()
		s := &m.subs[r.Sub]
		if r.IsWriteBack() {
			m.written(c, r)
			continue
		}
		r.Reply = true
		m.comeBack(c, s, r)
	}
	n := m.cfg.Subs
	for i := ch * n; i < (ch+1)*n; i++ {
		s := &m.subs[i]
		for s.toDRAM.Len() > 0 {
			r := s.toDRAM.Pop()
			if m.Saw != nil {
				m.Saw(true, r)
			}
			r.Ready = now + uint64(m.cfg.DRAMLatency+m.cfg.Open.time(m.rows[ch], r, &c.open))
			c.countOpen(r, (uint64(r.Size)+m.atom-1)/m.atom)
			c.latency.PushReady(r)
			c.shared++ // without a limit
		}
	}
}

// countOpen counts an access with its commands. Cycles of the data pins are not counted:
// without a limit, they would say nothing.
func (c *channel) countOpen(r *mem.Req, commands uint64) {
	s := &c.open
	s.Requests++
	switch {
	case r.Kind == mem.L2WriteBack:
		s.WriteBacks += commands
	case r.Write:
		s.Writes += commands
	case r.Kind == mem.L2WriteAlloc:
		s.AllocReads += commands
	default:
		s.Reads += commands
	}
}

// time returns the time of an access, opens its row and counts what that takes.
func (o *Open) time(rows []int64, r *mem.Req, s *dram.Stats) int {
	row := &rows[int(r.Bank)&(len(rows)-1)]
	was := *row
	*row = int64(r.Row)
	switch was {
	case *row:
		s.RowHits++
		return o.Hit
	case -1:
		s.Activates++
		return o.Empty
	}
	s.Precharges++
	s.Activates++
	return o.Other
}

// written ends a write-back that the DRAM has completed.
func (m *Memory) written(c *channel, r *mem.Req) {
	s := &m.subs[r.Sub]
	m.repay(c, s)
	if r.Kind == mem.L2WriteBack {
		c.stats.WriteBacks++
	}
	m.end(s, r)
}

// comeBack moves an answered request from the DRAM to its sub-partition.
func (m *Memory) comeBack(c *channel, s *sub, r *mem.Req) {
	s.fromDRAM.Push(r)
	m.rouse(s, 0)
	m.repay(c, s)
}

// repay returns the credit of a request that has left the DRAM side.
func (m *Memory) repay(c *channel, s *sub) {
	c.live--
	if s.private > 0 {
		s.private--
	} else {
		c.shared--
	}
}

// borrow moves one request from the sub-partitions, in turn, to the delay
// before the DRAM.
func (m *Memory) borrow(ch int, now uint64) {
	c := &m.chans[ch]
	n := m.cfg.Subs
	poor := false
	for k := 1; k <= n; k++ {
		i := c.last + k
		if i >= n {
			i -= n
		}
		s := &m.subs[ch*n+i]
		r := s.toDRAM.Head()
		if r == nil || s.fromDRAM.Full() {
			continue
		}
		if s.private > 0 && m.credits > 0 && c.shared >= m.credits {
			poor = true
			continue
		}
		if c.dev != nil && c.dev.Full(r.Write) {
			break
		}
		s.toDRAM.Pop()
		if m.Saw != nil {
			m.Saw(true, r)
		}
		r.Ready = now + uint64(m.cfg.DRAMLatency)
		c.latency.Push(r)
		if s.private == 0 {
			s.private = 1
		} else {
			c.shared++
		}
		c.last = i
		return
	}
	if poor {
		c.stats.NoCredit++
	}
}

// Warm fills the L2 with n bytes from addr, as a copy from the host does:
// immediately, without traffic, one sector after the other.
func (m *Memory) Warm(addr, n, now uint64) {
	step := uint64(mem.SectorBytes)
	if m.addr.lineWise {
		step = mem.LineBytes
	}
	for at, end := addr, addr+n; at < end; {
		// The sectors up to the next multiple of step, and one that is cut.
		next := min(end, at&^(step-1)+step)
		count := (next - at + mem.SectorBytes - 1) / mem.SectorBytes
		a := at
		if m.cfg.Compat.CopyTruncates {
			a &= math.MaxUint32
		}
		s := &m.subs[m.addr.Find(a).Sub]
		if s.l2 != nil {
			first := a / mem.SectorBytes % 4
			if m.halves.sets > 0 {
				m.halves.keep(a / mem.LineBytes)
			}
			s.l2.FillInTurn(now+s.aged, a, m.addr.Local(a), uint8((1<<count-1)<<first))
			s.stats.CopyFilled += count
		}
		s.aged += count // a copy's sectors come one after the other
		at += count * mem.SectorBytes
	}
}

// Touch does to the L2 what an access to sectors of the line at an address does, at once and without traffic
// and counters. It returns how many sectors would have come from the DRAM and gone there.
func (m *Memory) Touch(line uint64, sectors uint8, write bool, bytes mem.ByteMask, now uint64) (fetched, written int) {
	first := line + mem.SectorBytes*uint64(bits.TrailingZeros8(sectors))
	s := &m.subs[m.addr.Find(first).Sub]
	if s.l2 == nil || m.cfg.L2TextureOnly {
		if write {
			return 0, bits.OnesCount8(sectors)
		}
		return bits.OnesCount8(sectors), 0
	}
	s.aged++
	return s.l2.Warm(now+s.aged, line, m.addr.Local(first), sectors, write, bytes)
}

// FlushL2 drops the dirty lines of the L2 without traffic.
func (m *Memory) FlushL2() {
	n := len(m.subs)
	if m.cfg.Compat.FlushSlices {
		n = len(m.chans)
	}
	for i := range n {
		if c := m.subs[i].l2; c != nil {
			c.Flush()
		}
	}
}

// InvalidateL2 empties the L2 without traffic.
func (m *Memory) InvalidateL2() {
	m.halves.clear()
	for i := range m.subs {
		if c := m.subs[i].l2; c != nil {
			c.Invalidate()
		}
	}
}

// Never is the result of NextEvent when nothing will happen without further
// requests.
const Never = math.MaxUint64

// NextEvent returns the first core cycle, at least now, in which a tick may do more
// than count; Never if nothing is inside. Until then Skip replaces the ticks.
func (m *Memory) NextEvent(now uint64) uint64 {
	if m.live == 0 {
		return Never
	}
	next := uint64(Never)
	for i := range m.subs {
		s := &m.subs[i]
		if s.live == 0 {
			continue
		}
		m.catchUp(s)
		if s.toL2.Len()+s.toDRAM.Len()+s.fromDRAM.Len()+s.toNet.Len() > 0 || s.l2 != nil && !s.l2.Quiet() {
			return now
		}
		for _, q := range [...]*mem.Queue{&s.delay, &s.away} {
			if r := q.Head(); r != nil {
				next = min(next, max(now, r.Ready))
			}
		}
	}
	for i := range m.chans {
		c := &m.chans[i]
		if c.live == 0 {
			continue
		}
		if c.dev != nil && !c.dev.Empty() {
			return now
		}
		if r := c.latency.Head(); r != nil {
			next = min(next, max(now, r.Ready))
		}
	}
	return next
}

// Skip counts ticks of all L2 slices and all channels in which nothing
// happens (see NextEvent).
func (m *Memory) Skip(l2Ticks, dramTicks uint64) {
	m.l2Ticks += l2Ticks
	m.dramTicks += dramTicks
}
