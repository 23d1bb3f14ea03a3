package modern

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/ring"
)

// lookup is a request that has not reached its look-up in the L1D.
type lookup struct {
	r   *mem.Req
	due uint64
}

// memory is the part of the memory pipeline that the sub-cores share.
type memory struct {
	l1d *cache.Cache

	acceptFree uint64 // tick from which it accepts an instruction
	turn       int    // sub-core that is tried first
	sharedFree uint64 // tick from which shared memory is free
	constFree  uint64 // tick from which the constants of loads are
	prt        int    // entries of the pending request table in use
	lines      int    // L1D lines of instructions that have begun to request and have not completed
	expand     ring.Ring[int32]
	look       ring.Ring[lookup]
	past       ring.Ring[*mem.Req] // requests that bypass the L1D, not sent yet
	stuck      int                 // bytes for which the network had no room for the first of past, 0 if it had
	replies    mem.Queue
}

func (c *Core) newMemory() error {
	l := &c.ls
	l.replies = mem.NewQueue(c.cfg.ResponseQueue)
	if c.cfg.L1D.Disabled {
		return nil
	}
	cfg := c.cfg.L1D
	cfg.Name = "l1d"
	var err error
	l.l1d, err = cache.New(cfg, c.env.Pool)
	return err
}

// pending reports whether requests are in the unit.
func (l *memory) pending() bool {
	return l.look.Len() > 0 || l.past.Len() > 0 || l.expand.Len() > 0 || l.replies.Len() > 0 || l.l1d != nil && (l.l1d.MissLen() > 0 || l.l1d.Pending() > 0)
}

// CanDeliver reports whether Deliver would accept a reply of this kind.
func (c *Core) CanDeliver(r *mem.Req) bool { return forL1I(r) || !c.ls.replies.Full() }

// forL1I reports whether a request is from the cache of instructions and constants.
func forL1I(r *mem.Req) bool { return r.Kind == mem.InstRead || r.Kind == mem.ConstRead }

// Deliver takes a reply from the network and reports whether there was room.
func (c *Core) Deliver(r *mem.Req) bool {
	if !c.CanDeliver(r) {
		return false
	}
	c.Sync()
	c.moved = true
	c.Stats.Came(r)
	if forL1I(r) {
		if c.l1i == nil || !c.l1i.Fill(c.now, r) {
			core.Drop(c.env.Pool, r)
		}
		return true
	}
	c.Stats.Took(r, c.now)
	c.ls.replies.Push(r)
	return true
}

// sendMiss sends the head of a cache's miss queue if the network has room.
func (c *Core) sendMiss(r *mem.Req, from *cache.Cache) {
	if r == nil {
		return
	}
	c.moved = true
	if c.cfg.StoreLines && c.env.LineWise && from == c.ls.l1d {
		r = c.wholeStore(from)
	}
	if c.trySend(r) {
		from.PopMiss()
	}
}

// wholeStore joins to the head of a miss queue what follows it there, as far as it is of the same line of
// the same store.
func (c *Core) wholeStore(q *cache.Cache) *mem.Req {
	for {
		r, s := q.MissHead(), q.MissNext()
		if s == nil || r.Kind != mem.GlobalWrite || s.Kind != mem.GlobalWrite || r.Atomic || r.Owner != s.Owner || r.Born != s.Born || r.Addr/mem.LineBytes != s.Addr/mem.LineBytes {
			return r
		}
		s.Addr, s.Size = s.Addr&^(mem.LineBytes-1), r.Size+s.Size
		s.Sectors |= r.Sectors
		s.Bytes = s.Bytes.Or(r.Bytes)
		s.OneAck = true
		c.warps[s.Warp].stores--
		c.env.Pool.Put(q.PopMiss())
	}
}

// trySend sends a request if the network has room for it.
func (c *Core) trySend(r *mem.Req) bool {
	return core.TrySend(&c.Stats.Traffic, &c.env, c.id, r)
}

// receive handles replies from the memory system and ready misses.
func (c *Core) receive(t uint64) {
	if c.up.Len() > 0 || c.down.Len() > 0 || c.l1i != nil && c.l1i.Ready() {
		c.shared(t)
	}
	l := &c.ls
	for n := 0; n < c.cfg.RepliesTaken && l.replies.Len() > 0; n++ {
		c.moved = true
		c.reply()
	}
	if l.l1d != nil {
		for i := 0; i < c.cfg.L1Banks && l.l1d.Ready(); i++ {
			c.moved = true
			r := l.l1d.PopReady()
			if r.Kind == mem.L1WriteAlloc {
				// A read on behalf of a store, which is complete now.
				if o := r.Orig; o != nil {
					c.stored(o.Warp)
					c.env.Pool.Put(o)
				}
				c.env.Pool.Put(r)
				continue
			}
			fi := int32(r.Owner)
			c.env.Pool.Put(r)
			c.answered(t, fi)
		}
	}
}

// reply handles the head of the reply queue.
func (c *Core) reply() {
	l := &c.ls
	r := l.replies.Head()
	switch {
	case r.Owner&bulkOwner != 0:
		l.replies.Pop()
		c.bulkAnswer(r)
	case r.Write:
		l.replies.Pop()
		w, wb := r.Warp, r.IsWriteBack()
		if o := r.Orig; o != nil {
			w, wb = o.Warp, o.IsWriteBack()
		}
		if core.Drop(c.env.Pool, r) && !wb {
			c.stored(w)
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
		l.replies.Pop()
		fi := int32(r.Owner)
		if o := r.Orig; o != nil {
			fi = int32(o.Owner)
		}
		if core.Drop(c.env.Pool, r) {
			c.answered(c.tick, fi)
		}
	}
}

// stored notes that a store has been acknowledged.
func (c *Core) stored(warp uint16) {
	w := &c.warps[warp]
	w.stores--
	if w.stores == 0 {
		c.pass(int32(warp))
	}
}

// fenceAt makes a warp wait at a memory barrier.
func (c *Core) fenceAt(g int32, o *op, t uint64) {
	c.fence |= 1 << g
	c.timed |= 1 << g
	c.wheel.add(t+uint64([...]int{c.cfg.FenceBlock, c.cfg.FenceGPU, c.cfg.FenceSystem, c.cfg.Hopper.ProxyFence, c.cfg.FenceBlock}[o.fence-fenceBlock]), evFence, g)
	if o.fence != fenceBlock && o.fence != fenceProxy && c.ls.l1d != nil {
		c.ls.l1d.Invalidate() // [SIM]
	}
}

// pass ends a warp's wait at a memory barrier if all its stores have been acknowledged
// and the barrier's minimum time has passed.
func (c *Core) pass(g int32) {
	if bit := uint64(1) << g; c.warps[g].stores == 0 && c.timed&bit == 0 {
		c.fence &^= bit
		c.moved, c.stir = true, true
	}
}

// cycle simulates a cycle of the unit.
func (l *memory) cycle(c *Core, t uint64) {
	if t >= l.acceptFree {
		l.accept(c, t)
	}
	if l.look.Len() > 0 {
		l.lookUp(c, t)
	}
	if l.past.Len() > 0 {
		if r := *l.past.Front(); c.trySend(r) {
			l.past.Pop()
			c.moved = true
			l.stuck = 0
		} else {
			l.stuck = core.RoomFor(r)
		}
	}
	if l.expand.Len() > 0 {
		l.expandAll(c, t)
	}
}

// accept takes an instruction from a sub-core's address unit, round robin [HW].
func (l *memory) accept(c *Core, t uint64) {
	if c.addresses == 0 {
		return
	}
	n := len(c.subs)
	for i := range n {
		k := l.turn + i
		if k >= n {
			k -= n
		}
		s := &c.subs[k]
		if s.addr < 0 || t < s.addrReady {
			continue
		}
		fi := s.addr
		f := &c.flight[fi]
		if (f.op.path == pathMemory || f.op.path == pathShared) && l.prt >= c.cfg.PRT {
			c.Stats.TableFull++
			continue
		}
		s.addr = none
		c.addresses--
		s.memFreed++
		l.acceptFree = t + uint64(c.cfg.AcceptCycles)
		if f.op.kind == mbarTry || f.op.kind == mbarChange || f.op.kind == copyArrive {
			l.acceptFree = t + uint64(max(c.cfg.AcceptCycles, c.cfg.Hopper.MbarrierAccept))
		}
		l.turn = k + 1
		if l.turn == n {
			l.turn = 0
		}
		c.accepted(t, fi)
		return
	}
}

// accepted notes that an instruction has left its address unit.
func (c *Core) accepted(t uint64, fi int32) {
	f := &c.flight[fi]
	o := f.op
	f.gone = true
	if o.leaves {
		c.touch(fi)
		if c.err != nil {
			return
		}
		c.readDone(int32(f.warp), f)
		if ctl := o.ctl; ctl != nil && ctl.Read < isa.Counters {
			if o.war == 0 {
				c.lower(int32(f.warp), ctl.Read, f.at)
			} else {
				f.refs++
				c.wheel.add(t+uint64(o.war), evLower, fi)
			}
		}
	}
	if c.log != nil {
		c.log.Reach(fi, stageMemory, c.now)
	}
	c.count(f)
	if f.waitsInTable() {
		c.ls.prt++
	}
	if f.path == pathMemory && len(f.acc) > 0 {
		c.ls.prt++
		n := int32(0)
		for i := range f.acc {
			n += int32(bits.OnesCount8(f.acc[i].sectors))
		}
		if o.load {
			f.out = n
		} else {
			c.warps[f.warp].stores += n
		}
	}
	if !o.load && o.leaves && o.war > 0 {
		// The data of a store follows its addresses.
		c.wheel.add(t+uint64(o.war), evSend, fi)
		return
	}
	c.enter(t, fi)
}

// waitsInTable reports whether an access to shared memory keeps an entry of the pending
// request table until its result is written.
func (f *flight) waitsInTable() bool { return f.path == pathShared && f.lanes != 0 && f.op.raw > 0 }

// count counts a memory instruction.
func (c *Core) count(f *flight) {
	n := uint64((f.lanes &^ f.shared).Count())
	st := &c.Stats
	st.SharedInsts += uint64(f.shared.Count())
	switch {
	case f.path == pathShared:
		st.SharedInsts += n
	case f.path == pathConst && f.op.inst.Space == isa.Param:
		st.ParamInsts += n
	case f.path == pathConst:
		st.ConstInsts += n
	case f.path == pathMemory && f.op.inst.Space == isa.Texture:
		st.TextureInsts += n
	case f.path == pathMemory && f.op.load:
		st.LoadInsts += n
	case f.path == pathMemory:
		st.StoreInsts += n
	}
}

// enter moves an instruction on in the memory unit.
func (c *Core) enter(t uint64, fi int32) {
	f := &c.flight[fi]
	l := &c.ls
	raw := uint64(f.op.raw)
	far := false
	if f.job > 0 {
		if len(c.jobs[f.job-1].far) == 0 {
			c.begun(t, fi)
			return
		}
		c.reach(fi)
		far = f.op.load
	} else if f.op.kind == bulkCopy && f.op.group == isa.AsyncStart { // no lane copies
		c.groupEnded(f, bulkReads)
	}
	if p := uint64(f.passes); f.path != pathConst && (p > 0 || f.path == pathShared && f.lanes != 0) {
		from := max(t, l.sharedFree)
		l.sharedFree = from + p
		if c.cfg.Ideal.Double.Memory {
			l.sharedFree = from + (p+1)/2
		}
		least := min(uint64(f.op.lines), p)
		c.Stats.SharedConflicts += p - least
		if list := c.warps[f.warp].Places; list != nil {
			list[f.at].Conflicts += p - least
		}
		f.least = from + raw + p - least + uint64(f.slow)
	}
	switch {
	case far: // the answers come from other SMs
	case f.path == pathShared && f.lanes != 0:
		c.respond(fi, f.least)
	case f.path == pathConst && f.lanes != 0 && len(f.acc) > 0 && !c.cfg.PerfectConst:
		c.loadConst(t, fi)
	case f.path == pathMemory && len(f.acc) > 0:
		l.expand.Push(fi)
		c.moved = true
	default:
		c.respond(fi, t+raw)
	}
}

// respond sends the result of an instruction back to its sub-core, where it can be read
// at tick due if the path there is free. The path carries 64 bytes per cycle from
// global memory ([HW]) and 128 from shared memory, but a single register takes two
// cycles from either [SIM].
func (c *Core) respond(fi int32, due uint64) {
	f := &c.flight[fi]
	if f.op.raw == 0 {
		if f.p >= 0 {
			w := &c.warps[f.warp]
			w.d.Commit(f.p)
			w.hidden--
		}
		if ctl := f.op.ctl; ctl != nil {
			c.lower(int32(f.warp), ctl.Write, f.at)
		}
		c.finish(fi)
		return
	}
	due = max(due, f.least)
	if n := uint64(f.op.regs); n > 0 {
		s := &c.subs[f.sub]
		if f.path == pathMemory {
			n *= 2
		}
		if c.cfg.Ideal.Double.Memory {
			n = (n + 1) / 2
		}
		due = max(due, s.back+max(n, 2))
		s.back = due
	}
	c.writeAt(max(due, c.tick+1), fi)
}

// writeAt schedules the write of an instruction's result for a tick.
func (c *Core) writeAt(due uint64, fi int32) {
	if due-c.tick < wheelSize {
		c.wheel.add(due, evWrite, fi)
		return
	}
	c.flight[fi].due = due
	c.wheel.add(c.tick+wheelSize-1, evLater, fi)
}

// loadConst looks up the lines of an LDC.
func (c *Core) loadConst(t uint64, fi int32) {
	f := &c.flight[fi]
	for i := range f.acc {
		line := f.acc[i].addr / uint64(c.cfg.L0VL.Line)
		c.Stats.VLLookups++
		if _, ok := c.vl.find(line, 0); ok {
			continue
		}
		c.Stats.VLMisses++
		f.out++
		asked := false
		for _, x := range c.vlWait {
			asked = asked || x.line == line
		}
		c.vlWait = append(c.vlWait, waiting{line: line, f: fi})
		if !asked {
			c.request(&c.subs[f.sub], lineReq{line: line, who: forVL})
		}
	}
	if f.out == 0 {
		c.readConst(t, fi)
	}
}

// readConst serves an LDC whose lines are there. It is served as often as its lanes have
// addresses (CUDA's programming guide, "Device Memory Accesses"); that each takes a cycle of
// the SM, and that bytes of one word count apart, is assumed. Those of one address come no faster than the unit accepts them, and
// do not keep it from others.
func (c *Core) readConst(t uint64, fi int32) {
	f := &c.flight[fi]
	n := uint64(f.passes)
	from := max(t, c.ls.constFree)
	if n > 1 {
		c.ls.constFree = from + n
		if c.cfg.Ideal.Double.Memory {
			c.ls.constFree = from + (n+1)/2
		}
	}
	c.Stats.ConstConflicts += n - 1
	if list := c.warps[f.warp].Places; list != nil {
		list[f.at].Conflicts += n - 1
	}
	c.respond(fi, from+uint64(f.op.raw)+n-1)
}

// constCame notes the arrival of a line for which an LDC waits.
func (c *Core) constCame(t uint64, fi int32) {
	f := &c.flight[fi]
	f.out--
	if f.out == 0 {
		c.readConst(t, fi)
	}
}

// expandAll lets the oldest instructions of the pending request table request a line
// each, as far as their sub-cores are ready. An instruction begins only if the L1D has
// enough ways for all lines of the instructions that have begun, including its own
// [SIM]; the first one always begins.
func (l *memory) expandAll(c *Core, t uint64) {
	c.moved = true
	full := false // nothing begins any more, but what has begun goes on, also after what has not: its ways come free
	for i, n := 0, c.cfg.Coalescers; n > 0 && i < l.expand.Len(); {
		fi := *l.expand.At(i)
		f := &c.flight[fi]
		s := &c.subs[f.sub]
		if t < s.lineFree || full && f.next == 0 {
			i++
			continue
		}
		if f.next == 0 && !c.past(f) {
			if full = l.lines > 0 && l.lines+len(f.acc) > c.cfg.L1D.Ways; full {
				continue
			}
			l.lines += len(f.acc)
		}
		n--
		if c.askLines(t, fi, f); c.cfg.LineCycles > 1 {
			s.lineFree = t + uint64(c.cfg.LineCycles)
		}
		if int(f.next) < len(f.acc) {
			i++
			continue
		}
		l.expand.Remove(i)
		if !f.op.load {
			c.complete(f)
			c.respond(fi, t)
		}
	}
}

// askLines makes the requests of an instruction's next line, and of the one after it if the data of
// both can be read at once.
func (c *Core) askLines(t uint64, fi int32, f *flight) {
	a := &f.acc[f.next]
	c.ask(t, fi, f, a)
	f.next++
	if !c.cfg.LineBanks || int(f.next) == len(f.acc) {
		return
	}
	if b := &f.acc[f.next]; a.bytes.And(b.bytes) == (mem.ByteMask{}) {
		c.ask(t, fi, f, b)
		f.next++
	}
}

// past reports whether an instruction's requests bypass the L1D.
func (c *Core) past(f *flight) bool {
	in := f.op.inst
	return c.ls.l1d == nil || in.Atomic || in.Cache == isa.CacheCG || in.Cache == isa.CacheCV
}

// complete removes an access to global or local memory from the pending request table.
func (c *Core) complete(f *flight) {
	c.ls.prt--
	if !c.past(f) {
		c.ls.lines -= len(f.acc)
	}
}

// ask makes the requests of an access, one for each sector.
func (c *Core) ask(t uint64, fi int32, f *flight, a *access) {
	in := f.op.inst
	past := c.past(f)
	for m := a.sectors; m != 0; m &= m - 1 {
		i := bits.TrailingZeros8(m)
		r := c.env.Pool.Get()
		r.Addr, r.Size, r.Sectors = a.addr+uint64(i)*mem.SectorBytes, mem.SectorBytes, 1<<i
		r.Bytes[i>>1] = uint64(a.bytes.Sector(i)) << (32 * (i & 1))
		r.Lanes = a.lanes
		r.SM, r.Warp, r.Owner, r.Born = uint16(c.id), uint16(f.warp), uint32(fi), c.now
		r.PC = uint32(f.at)
		r.Write, r.Atomic, r.L2Only, r.Sure = !f.op.load, in.Atomic, past, f.op.sure && !past
		switch {
		case a.local && r.Write:
			r.Kind = mem.LocalWrite
		case a.local:
			r.Kind = mem.LocalRead
		case r.Write:
			r.Kind = mem.GlobalWrite
		case in.Space == isa.Texture:
			r.Kind = mem.TexRead
		default:
			r.Kind = mem.GlobalRead
		}
		if past {
			c.ls.past.Push(r)
		} else {
			c.ls.look.Push(lookup{r, t + uint64(c.cfg.L1Latency)})
		}
	}
}

// lookUp looks up requests in the L1D, in order.
func (l *memory) lookUp(c *Core, t uint64) {
	var done [64]uint8
	for all := 0; l.look.Len() > 0 && l.look.Front().due <= t; all++ {
		c.moved = true
		r := l.look.Front().r
		b := &done[int(r.Addr/mem.LineBytes)&(c.cfg.L1Banks-1)]
		if int(*b) == c.cfg.L1Lookups || all == c.cfg.L1Sectors {
			c.Stats.L1Conflicts++
			return
		}
		*b++
		st := l.l1d.Access(c.now, r)
		if st == cache.Fail {
			c.Stats.L1Fails++
			return
		}
		l.look.Pop()
		sent := l.l1d.Sent()
		switch {
		case r.Write:
			if sent&(cache.SentWrite|cache.SentWriteAlloc) == 0 {
				c.stored(r.Warp)
				c.env.Pool.Put(r)
			}
		case st == cache.Hit:
			fi := int32(r.Owner)
			c.env.Pool.Put(r)
			c.answered(t, fi)
		}
	}
}

// answered notes that a request of a load has been answered. The last one sends the
// result back.
func (c *Core) answered(t uint64, fi int32) {
	f := &c.flight[fi]
	f.out--
	if f.out > 0 {
		return
	}
	c.complete(f)
	// What remains of the latency of a hit after its look-ups. Lanes that share lines
	// save look-ups but no time: the registers are filled at the same rate ([HW]: 512
	// bits per cycle).
	rest := int(f.op.raw) - c.cfg.L1Latency - (min(int(f.op.lines), len(f.acc)) - 1)
	c.respond(fi, t+uint64(max(rest, 1)))
}

// place works out the path and the accesses of a memory instruction.
func (c *Core) place(fi int32, e *exec.Effects) {
	f := &c.flight[fi]
	if e.Bulk != nil {
		c.undertake(fi, e.Bulk)
		return
	}
	if e.Lanes == 0 || e.Addr == nil || f.op.path == pathNone {
		return
	}
	local, of := isa.LaneMask(0), f.lanes // of: the lanes that global or local memory serves
	switch e.Space {
	case isa.Shared:
		f.path = pathShared
		if f.op.inst.Load && f.op.inst.Store && !f.op.inst.Atomic {
			f.path = pathMemory // an asynchronous copy: the addresses are those it reads
		}
	case isa.Const, isa.Param:
		f.path = pathConst
	case isa.Local:
		f.path, local = pathMemory, f.lanes
	case isa.NoSpace:
	default:
		f.path, f.shared, local = pathMemory, e.Shared, e.Local
		of &^= f.shared
	}
	shared := f.shared
	if f.path == pathShared {
		shared = f.lanes
	}
	if shared != 0 && f.path == pathShared && f.op.team {
		shared &^= c.far(f, fi, e)
	}
	if shared != 0 {
		// Hardware directs each lane to its memory (NVIDIA's Fermi whitepaper); that
		// the two groups do not wait for each other is our choice.
		f.passes = uint16(passes(shared, e.Addr, int(f.op.elem), c.cfg.SharedBanks, f.op.inst.Atomic))
		if c.cfg.Ideal.SharedBanks {
			f.passes = min(f.passes, uint16(f.op.lines))
		}
	}
	switch f.path {
	case pathConst:
		c.linesOf(f, e.Addr)
	case pathMemory:
		c.coalesce(f, of, local, e.Addr)
		if c.cfg.Ideal.Coalescing && len(f.acc) > 0 && local == 0 && !f.op.inst.Atomic {
			c.pack(f, of.Count())
		}
		if p := c.warps[f.warp].Places; p != nil && len(f.acc) > 0 {
			n := 0
			for i := range f.acc {
				n += bits.OnesCount8(f.acc[i].sectors)
			}
			p[f.at].Access(n, int(f.op.elem)*of.Count())
		}
	}
}
