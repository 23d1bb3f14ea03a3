package simt

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/ring"
)

// delayed is an entry of a queue that models a shift pipeline: it reaches the end in
// tick due unless an entry before it is held up.
type delayed[T any] struct {
	v   T
	due uint64
}

// pipe models a pipeline of depth stages in which an entry moves on whenever the next
// stage is free.
type pipe[T any] struct{ ring.Ring[delayed[T]] }

func newPipe[T any](depth int) pipe[T] { return pipe[T]{ring.Of(make([]delayed[T], depth))} }

// room reports whether the first stage is free at tick t, after the entries have
// moved. An entry pushed at tick t is in the last stage at the beginning of tick
// t+depth, when it is due.
func (p *pipe[T]) room(t uint64) bool {
	n := p.Len()
	if n == 0 {
		return true
	}
	// The last entry is due-1-t stages before the end, or more if those before it are
	// held up.
	at := n - 1
	if last := p.At(n - 1).due; last > t+1 {
		at = max(at, int(last-t-1))
	}
	return at < p.Limit()-1
}

func (p *pipe[T]) push(v T, due uint64) { p.Push(delayed[T]{v, due}) }

// ready reports whether an entry has reached the end by tick t.
func (p *pipe[T]) ready(t uint64) bool { return p.Len() > 0 && p.Front().due <= t }

// The clients of the load/store unit's write-back, in order.
const (
	fromShared = iota
	fromTexture
	fromConst
	fromL2
	fromL1
	clients
)

// ldst is the load/store unit.
type ldst struct {
	l1d *cache.Cache
	l1c *cache.Cache
	l1t *cache.Texture

	entry   int32 // dispatch register
	stuck   int   // bytes for which the network had no room, if its instruction waits only for that; otherwise 0
	shared  pipe[int32]
	l1      []pipe[*mem.Req] // by bank
	queued  int              // entries of all banks
	replies mem.Queue
	direct  *mem.Req // reply that bypassed the L1, waiting for write-back

	wb     int32  // instruction being written back
	wbDone uint64 // its destinations written
	turn   int    // the client that is tried first
	ticks  uint64
}

func (c *Core) newLoadStore() error {
	l := &c.ls
	l.entry, l.wb = none, none
	l.shared = newPipe[int32](c.cfg.SharedLatency)
	l.replies = mem.NewQueue(c.cfg.ResponseQueue)
	for range c.cfg.L1Banks {
		l.l1 = append(l.l1, newPipe[*mem.Req](c.cfg.L1Latency))
	}
	var err error
	named := func(cfg cache.Config, name string) cache.Config {
		cfg.Name = name
		return cfg
	}
	if !c.cfg.L1D.Disabled {
		if l.l1d, err = cache.New(named(c.cfg.L1D, "l1d"), c.env.Pool); err != nil {
			return err
		}
	}
	if !c.cfg.L1C.Disabled && !c.cfg.PerfectInstConst && !c.cfg.Ideal.Const {
		if l.l1c, err = cache.New(named(c.cfg.L1C, "l1c"), c.env.Pool); err != nil {
			return err
		}
	}
	if !c.cfg.L1T.Disabled {
		if l.l1t, err = cache.NewTexture(named(c.cfg.L1T, "l1t"), c.env.Pool); err != nil {
			return err
		}
	}
	return nil
}

// Resplit gives the core an empty L1D of another size, and another amount of shared
// memory, according to the preference of a launch. No warp may be resident. The L1D's
// counters continue; its waiting write-backs are dropped, as by an invalidation.
func (c *Core) Resplit(l1d cache.Config, shared int) error {
	c.Sync()
	c.cfg.Shared = shared
	return core.Resplit(&c.ls.l1d, &c.cfg.L1D, l1d, c.env.Pool, c.id, c.alive != 0)
}

// pending reports whether requests are in the unit.
func (l *ldst) pending() bool {
	return l.queued > 0 || l.replies.Len() > 0 || l.direct != nil ||
		l.l1d != nil && (l.l1d.MissLen() > 0 || l.l1d.Pending() > 0)
}

// Deliver takes a reply from the network and reports whether there was room.
func (c *Core) Deliver(r *mem.Req) bool {
	if r.Kind != mem.InstRead && c.ls.replies.Full() {
		return false
	}
	c.Sync()
	c.Stats.Came(r)
	if r.Kind == mem.InstRead {
		c.quiet = false
		if c.l1i == nil || !c.l1i.Fill(c.now, r) {
			core.Drop(c.env.Pool, r)
		}
		return true
	}
	c.Stats.Took(r, c.now)
	c.ls.replies.Push(r)
	return true
}

// RepliesFull reports whether Deliver would accept only instructions.
func (c *Core) RepliesFull() bool { return c.ls.replies.Full() }

// accept takes the oldest memory instruction with all operands.
func (l *ldst) accept(c *Core) {
	in := &c.ocex[Mem]
	if l.entry >= 0 || in.used == 0 {
		return
	}
	r := in.oldest(in.used)
	fi := in.slot[r]
	in.used &^= 1 << r
	l.entry = fi
	c.quiet = false
	if c.log != nil {
		c.log.Reach(fi, stageExecute, c.now)
	}
	f := &c.flight[fi]
	if f.op.class != classMem {
		return
	}
	if f.op.load && f.path != pathShared {
		f.out += int32(len(f.acc))
		if f.shared != 0 {
			f.out++
		}
	}
	n := uint64(f.lanes.Count())
	st := &c.Stats
	if f.shared != 0 {
		st.SharedInsts += uint64(f.shared.Count())
		n -= uint64(f.shared.Count())
	}
	switch {
	case f.path == pathShared:
		st.SharedInsts += n
	case f.path == pathTexture:
		st.TextureInsts += n
	case f.path == pathConst && f.op.inst.Space == isa.Param:
		st.ParamInsts += n
	case f.path == pathConst:
		st.ConstInsts += n
	case f.op.load:
		st.LoadInsts += n
	default:
		st.StoreInsts += n
	}
}

// cycle simulates one cycle of the unit (GPGPU-Sim).
func (l *ldst) cycle(c *Core) {
	l.ticks++
	if l.wb >= 0 || l.shared.Len() > 0 || l.direct != nil || l.l1d != nil && l.l1d.Ready() ||
		l.l1c != nil && l.l1c.Ready() || l.l1t != nil && l.l1t.Ready() {
		l.writeback(c)
	}
	if l.replies.Len() > 0 {
		l.reply(c)
	}
	if l.l1t != nil {
		if r := l.l1t.MissHead(); r != nil && c.trySend(r) {
			l.l1t.PopMiss()
		}
		l.l1t.Tick()
	}
	if l.l1c != nil {
		c.sendMiss(l.l1c.MissHead(), l.l1c)
		l.l1c.Tick()
	}
	if l.l1d != nil {
		c.sendMiss(l.l1d.MissHead(), l.l1d)
		l.l1d.Tick()
		if l.queued > 0 {
			l.lookUp(c)
		}
	}
	if l.entry >= 0 {
		l.work(c)
	}
}

// sendMiss sends the head of a cache's miss queue if the network has room.
func (c *Core) sendMiss(r *mem.Req, from *cache.Cache) {
	if r != nil && c.trySend(r) {
		from.PopMiss()
	}
}

// trySend sends a request if the network has room for it.
func (c *Core) trySend(r *mem.Req) bool {
	return core.TrySend(&c.Stats.Traffic, &c.env, c.id, r)
}

// writeback finishes one answered access, and picks the next.
func (l *ldst) writeback(c *Core) {
	if l.wb >= 0 {
		fi := l.wb
		f := &c.flight[fi]
		for i, r := range f.op.dstBanks {
			if l.wbDone>>i&1 != 0 {
				continue
			}
			if r == noBank {
				l.wbDone |= 1 << i
				continue
			}
			b := c.col.bankOf(r, f.warp, f.sched)
			if c.col.written>>b&1 != 0 && !c.cfg.Ideal.RegisterPorts {
				break
			}
			c.col.written |= 1 << b
			l.wbDone |= 1 << i
		}
		if bits.OnesCount64(l.wbDone) < min(int(f.op.nDst), 64) {
			return
		}
		l.wb = none
		if f.path == pathShared {
			c.complete(fi)
		} else {
			c.oneAnswered(fi)
		}
	}
	for i := range clients {
		k := l.turn + i
		if k >= clients {
			k -= clients
		}
		fi := l.pick(c, k)
		if fi >= 0 {
			l.wb, l.wbDone = fi, 0
			l.turn = k + 1
			if l.turn == clients {
				l.turn = 0
			}
			return
		}
	}
}

// pick takes an answered access from a client and returns its instruction.
func (l *ldst) pick(c *Core, client int) int32 {
	switch client {
	case fromShared:
		if l.shared.ready(l.ticks) {
			fi := l.shared.Pop().v
			f := &c.flight[fi]
			if f.path != pathShared { // one with lanes elsewhere
				if f.op.inst.Atomic {
					c.answered(int32(f.warp), f.shared.Count())
				}
				c.quiet = false
				return fi
			}
			if f.op.inst.Atomic {
				c.answered(int32(f.warp), f.lanes.Count())
			}
			c.warps[f.warp].inPipe--
			f.piped = false
			c.quiet = false
			return fi
		}
	case fromTexture:
		if l.l1t != nil && l.l1t.Ready() {
			return l.owner(c, l.l1t.PopReady())
		}
	case fromConst:
		if l.l1c != nil && l.l1c.Ready() {
			return l.owner(c, l.l1c.PopReady())
		}
	case fromL2:
		if r := l.direct; r != nil {
			l.direct = nil
			fi, lanes, atomic := int32(r.Owner), r.Lanes, r.Atomic
			if o := r.Orig; o != nil {
				fi, lanes, atomic = int32(o.Owner), o.Lanes, o.Atomic
			}
			if !core.Drop(c.env.Pool, r) {
				return none // more pieces will follow
			}
			if atomic {
				c.answered(int32(c.flight[fi].warp), lanes.Count())
			}
			return fi
		}
	case fromL1:
		if l.l1d != nil && l.l1d.Ready() {
			r := l.l1d.PopReady()
			if r.Kind == mem.L1WriteAlloc {
				// A read on behalf of a store, which is complete now.
				if o := r.Orig; o != nil {
					c.stored(o)
					c.env.Pool.Put(o)
				}
				c.env.Pool.Put(r)
				return none
			}
			return l.owner(c, r)
		}
	}
	return none
}

// owner returns the instruction that a request belongs to, and frees the request.
func (l *ldst) owner(c *Core, r *mem.Req) int32 {
	fi := int32(r.Owner)
	c.env.Pool.Put(r)
	return fi
}

// oneAnswered notes that an access of a load has been answered; the last one frees the
// registers.
func (c *Core) oneAnswered(fi int32) {
	f := &c.flight[fi]
	f.out--
	if f.out > 0 {
		return
	}
	if f.op.nDst > 0 {
		c.release(f)
		c.completed(f)
	}
	if !f.piped {
		c.free(fi)
	}
}

// complete notes that an instruction outside the pipeline is done.
func (c *Core) complete(fi int32) {
	f := &c.flight[fi]
	c.release(f)
	c.completed(f)
	c.free(fi)
}

// stored notes that a store has been acknowledged.
func (c *Core) stored(r *mem.Req) { c.acknowledged(r.Warp) }

func (c *Core) acknowledged(warp uint16) {
	c.warps[warp].stores--
	c.quiet = false
}

// reply handles the head of the reply queue.
func (l *ldst) reply(c *Core) {
	r := l.replies.Head()
	switch {
	case r.Kind == mem.TexRead && l.l1t != nil && l.l1t.WaitsFor(r):
		if l.l1t.FillPortFree() {
			l.replies.Pop()
			l.l1t.Fill(c.now, r)
		}
	case r.Kind == mem.ConstRead && l.l1c != nil && l.l1c.WaitsFor(r):
		if l.l1c.FillPortFree() {
			l.replies.Pop()
			l.l1c.Fill(c.now, r)
		}
	case r.Write:
		l.replies.Pop()
		w := r.Warp
		wb := r.IsWriteBack()
		if o := r.Orig; o != nil {
			w, wb = o.Warp, o.IsWriteBack()
		}
		if core.Drop(c.env.Pool, r) && !wb {
			c.acknowledged(w)
		}
	case l.l1d != nil && !r.L2Only && l.l1d.WaitsFor(r):
		if l.l1d.FillPortFree() {
			l.replies.Pop()
			l.l1d.Fill(c.now, r)
		}
	case core.Unasked(r):
		l.replies.Pop()
		core.Drop(c.env.Pool, r)
	default:
		if l.direct == nil {
			l.replies.Pop()
			l.direct = r
		}
	}
}

// lookUp looks up the access at the end of every bank's queue in the L1D.
func (l *ldst) lookUp(c *Core) {
	for i := range l.l1 {
		q := &l.l1[i]
		if !q.ready(l.ticks) {
			continue
		}
		r := q.Front().v
		st := l.l1d.Access(c.now, r)
		if st == cache.Fail {
			continue
		}
		q.Pop()
		l.queued--
		sent := l.l1d.Sent()
		switch {
		case r.Write:
			if sent&(cache.SentWrite|cache.SentWriteAlloc) == 0 {
				c.stored(r)
				c.env.Pool.Put(r)
			}
		case st == cache.Hit:
			fi := int32(r.Owner)
			c.env.Pool.Put(r)
			c.oneAnswered(fi)
		}
	}
}

// work handles the instruction in the dispatch register.
func (l *ldst) work(c *Core) {
	f := &c.flight[l.entry]
	l.stuck = 0
	if f.op.class == classMem && f.lanes != 0 {
		stall, held := l.advance(c, f)
		if held {
			c.Stats.LSStalls++
			if stall < Stalls {
				c.Stats.LSStallBy[clientOf(f)][stall]++
			}
			return
		}
	}
	fi := l.entry
	switch {
	case f.op.class == classMem && f.op.load && f.path == pathShared:
		if !l.shared.room(l.ticks) {
			return
		}
		l.shared.push(fi, l.ticks+uint64(c.cfg.SharedLatency))
	case f.op.class == classMem && f.op.load:
		if f.out == 0 {
			c.release(f)
			c.completed(f)
		} else if f.op.nDst == 0 {
			c.completed(f)
		}
		c.leave(fi)
	default:
		if f.op.class == classMem {
			c.warps[f.warp].storing--
		}
		c.completed(f)
		c.leave(fi)
	}
	l.entry = none
}

func clientOf(f *flight) Client {
	switch f.path {
	case pathShared:
		return ClientShared
	case pathConst:
		return ClientConst
	case pathTexture:
		return ClientTexture
	}
	cl := ClientGlobalLoad
	if f.local {
		cl = ClientLocalLoad
	}
	if !f.op.load {
		cl++
	}
	return cl
}

// advance sends the accesses of an instruction that can be sent in this cycle. Held
// says that the instruction cannot leave yet, and stall why.
func (l *ldst) advance(c *Core, f *flight) (stall Stall, held bool) {
	switch f.path {
	case pathShared:
		if f.delay > 0 {
			f.delay--
		}
		if f.delay > 0 {
			c.Stats.SharedConflicts++
			return StallBank, true
		}
		return 0, false
	case pathConst:
		if len(f.acc) == 0 {
			return 0, false
		}
		if l.l1c == nil {
			f.out -= int32(len(f.acc))
			f.acc = f.acc[:0]
			return 0, false
		}
		stall, held = l.constant(c, f)
		switch stall {
		case StallCoalesce:
			c.Stats.Stats.ConstConflicts++
			c.Stats.Counters.ConstConflicts++
		case StallBank: // refused
			c.Stats.Counters.ConstConflicts++
		}
		return stall, held
	case pathTexture:
		if len(f.acc) == 0 {
			return 0, false
		}
		r := l.request(c, f)
		if l.l1t.Access(c.now, r) == cache.Fail {
			c.env.Pool.Put(r)
			return StallBank, true
		}
		f.acc = f.acc[:len(f.acc)-1]
		return StallCoalesce, len(f.acc) > 0
	case pathMemory:
		if f.shared != 0 && f.delay > 0 {
			return l.sharedFirst(c, f)
		}
		if len(f.acc) == 0 {
			return 0, false
		}
		if c.bypasses(f) {
			return l.bypass(c, f)
		}
		return l.enter(c, f)
	}
	return 0, false
}

// sharedFirst makes the passes of the lanes in shared memory before the accesses of
// the instruction's other lanes are sent. Hardware directs each lane to its memory
// (NVIDIA's Fermi whitepaper); the order is our choice.
func (l *ldst) sharedFirst(c *Core, f *flight) (Stall, bool) {
	if f.delay > 1 {
		f.delay--
		c.Stats.SharedConflicts++
		return StallBank, true
	}
	if f.op.load {
		if !l.shared.room(l.ticks) {
			return StallBank, true
		}
		l.shared.push(l.entry, l.ticks+uint64(c.cfg.SharedLatency))
	}
	f.delay = 0
	return StallCoalesce, len(f.acc) > 0
}

// constant looks up one access in the constant cache.
func (l *ldst) constant(c *Core, f *flight) (Stall, bool) {
	if !l.l1c.DataPortFree() {
		return StallDataPort, true
	}
	r := l.request(c, f)
	switch l.l1c.Access(c.now, r) {
	case cache.Fail:
		c.env.Pool.Put(r)
		return StallBank, true
	case cache.Hit:
		c.env.Pool.Put(r)
		f.out--
	}
	f.acc = f.acc[:len(f.acc)-1]
	if len(f.acc) > 0 {
		return StallCoalesce, true
	}
	return Stalls, false
}

// bypasses reports whether an instruction bypasses the L1D.
func (c *Core) bypasses(f *flight) bool {
	if c.ls.l1d == nil || f.toL2() || f.path == pathMemory && (f.op.inst.Space == isa.Texture || f.op.inst.Space == isa.Const) {
		return true
	}
	return c.cfg.GlobalSkipsL1 && !f.acc[len(f.acc)-1].local && f.op.inst.Cache != isa.CacheNC
}

// bypass sends one access straight to the network.
func (l *ldst) bypass(c *Core, f *flight) (Stall, bool) {
	r := l.request(c, f)
	r.L2Only, r.Sure = true, false
	if !c.trySend(r) {
		l.stuck = core.RoomFor(r)
		c.env.Pool.Put(r)
		return StallNetwork, true
	}
	f.acc = f.acc[:len(f.acc)-1]
	if r.Write {
		c.warps[f.warp].stores++
	}
	return StallCoalesce, len(f.acc) > 0
}

// enter puts accesses into the queues of the L1D's banks: at most as many as there are
// banks, until the first whose bank has no room.
func (l *ldst) enter(c *Core, f *flight) (Stall, bool) {
	for range c.cfg.L1Banks {
		n := len(f.acc)
		if n == 0 {
			return 0, false
		}
		if f.spread != 0 && c.bypasses(f) { // those to local memory are done
			break
		}
		q := &l.l1[c.l1Bank(f.acc[n-1].addr)]
		if !q.room(l.ticks) {
			c.Stats.L1Conflicts++
			return StallBank, true
		}
		r := l.request(c, f)
		q.push(r, l.ticks+uint64(c.cfg.L1Latency))
		l.queued++
		f.acc = f.acc[:n-1]
		if r.Write {
			c.warps[f.warp].stores++
		}
	}
	return StallCoalesce, len(f.acc) > 0
}

// l1Bank returns the L1D bank of an address.
func (c *Core) l1Bank(addr uint64) int {
	if c.cfg.L1Banks == 1 {
		return 0
	}
	return cache.Index(c.cfg.L1BankHash, c.cfg.L1Banks, uint(bits.TrailingZeros(uint(c.cfg.L1BankBytes))), addr)
}

// request returns a request for the last access of an instruction.
func (l *ldst) request(c *Core, f *flight) *mem.Req {
	a := &f.acc[len(f.acc)-1]
	in := f.op.inst
	r := c.env.Pool.Get()
	r.Addr, r.Size, r.Sectors, r.Bytes, r.Lanes = a.addr, uint32(a.size), a.sectors, a.bytes, a.lanes
	r.SM, r.Warp, r.Owner, r.Born = uint16(c.id), uint16(f.warp), uint32(l.entry), c.now
	r.PC = uint32(f.at)
	r.Write = !f.op.load
	r.Atomic = in.Atomic
	r.Sure = f.op.sure && f.path == pathMemory
	switch {
	case f.path == pathConst:
		r.Kind = mem.ConstRead
	case f.path == pathTexture:
		r.Kind = mem.TexRead
	case a.local && r.Write:
		r.Kind = mem.LocalWrite
	case a.local:
		r.Kind = mem.LocalRead
	case r.Write:
		r.Kind = mem.GlobalWrite
	default:
		r.Kind = mem.GlobalRead
	}
	return r
}
