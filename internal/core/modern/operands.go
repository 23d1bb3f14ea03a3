package modern

import (
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/ring"
)

// control is the stage after issue. Instructions of variable latency leave it for their
// queues, where they have a place. The others leave it for Allocate; an instruction
// that is held there blocks this stage and issue [HW].
func (c *Core) control(s *subcore, t uint64) {
	if s.ctl < 0 {
		return
	}
	c.moved = true
	f := &c.flight[s.ctl]
	if !s.seen {
		s.seen = true
		if ctl := f.op.ctl; ctl != nil && (ctl.Write < isa.Counters || ctl.Read < isa.Counters) {
			c.raises = append(c.raises, raise{int32(f.warp), ctl.Write, ctl.Read, f.op.long})
		}
		if c.log != nil {
			c.log.Reach(s.ctl, stageControl, c.now)
		}
	}
	switch {
	case f.op.late:
		s.ctl = none
	case s.alloc < 0:
		s.alloc, s.ctl = s.ctl, none
	}
}

// allocate releases an instruction of fixed latency if it can read all its sources in
// the window after this cycle.
func (c *Core) allocate(s *subcore, t uint64) {
	if s.alloc < 0 {
		return
	}
	c.moved = true
	fi := s.alloc
	f := &c.flight[fi]
	o := f.op
	window := o.window
	if len(o.sources) > 0 {
		if !c.readable(s, f, window, t) {
			// Its pipe also stays busy longer [SIM].
			s.free[f.pipe]++
			c.Stats.AllocateHolds++
			return
		}
		if c.cfg.RFC {
			s.keep(f)
		}
	}
	s.alloc = none
	// The write port: results of fixed latency wait for each other in the result
	// queue. That delays no instruction, because they are bypassed [HW].
	if o.writes != 0 {
		from := window + int(o.latency) + 1
		for b := range s.wr {
			if o.writes>>b&1 != 0 {
				p := &s.wr[b]
				p.at(t)
				for i := from; i < min(from+c.cfg.ResultQueue, 64); i++ {
					if p.busy[0]>>i&1 == 0 {
						p.busy[0] |= 1 << i
						break
					}
					c.Stats.ResultWaits++
				}
			}
		}
	}
	if c.log != nil {
		exec := c.now + 1 + uint64(window)
		c.log.Reach(fi, stageAllocate, c.now)
		c.log.Reach(fi, stageRead, c.now+1)
		c.log.Reach(fi, stageExecute, exec)
		c.log.Reach(fi, stageWrite, exec+uint64(o.latency))
	}
	if ctl := o.ctl; ctl == nil && len(o.src) > 0 {
		f.refs++
		c.wheel.add(t+uint64(window), evRead, fi)
	} else if ctl != nil && ctl.Read < isa.Counters {
		f.refs++
		c.wheel.add(t+uint64(window), evLower, fi)
	}
	c.endRef(fi)
}

// readable reports whether the read ports have room for an instruction's sources in the
// window, and books it.
func (c *Core) readable(s *subcore, f *flight, window int, t uint64) bool {
	need := [2]int{int(f.op.reads[0]), int(f.op.reads[1])}
	if c.cfg.RFC {
		need = s.unkept(f)
	}
	all := uint64(f.op.reads[0] + f.op.reads[1])
	got := uint64(need[0] + need[1])
	if c.cfg.Ports > 0 {
		for b := range s.rd {
			s.rd[b].at(t)
			if need[b] > 0 && s.rd[b].free(c.cfg.Ports, window) < need[b] {
				return false
			}
		}
		for b := range s.rd {
			s.rd[b].book(c.cfg.Ports, need[b], 1)
		}
	}
	c.Stats.OperandReads += got
	c.Stats.ReuseHits += all - got
	return true
}

// unkept returns the number of distinct registers of each bank that an instruction does
// not find in the register-file cache.
func (s *subcore) unkept(f *flight) [2]int {
	var n [2]int
	list := f.op.sources
next:
	for i, x := range list {
		if x.slot < slots {
			if e := &s.rfc[x.slot][x.reg&1]; e.warp == f.warp && e.reg == x.reg {
				continue
			}
		}
		for j := range i {
			y := list[j]
			if y.reg == x.reg && !(y.slot < slots && s.rfc[y.slot][y.reg&1] == cached{f.warp, y.reg}) {
				continue next
			}
		}
		n[x.reg&1]++
	}
	return n
}

// keep updates the register-file cache when an instruction reads its sources: every
// entry that it looks up is freed, and then holds the register if the operand's reuse
// bit is set [HW]. A source of several registers uses the entries of both banks, with
// the first register of each [INF].
func (s *subcore) keep(f *flight) {
	for i, x := range f.op.sources {
		if x.slot >= slots {
			continue
		}
		e := &s.rfc[x.slot][x.reg&1]
		first := true
		for j := range i {
			y := f.op.sources[j]
			first = first && !(y.slot == x.slot && y.reg&1 == x.reg&1)
		}
		if !first {
			continue
		}
		e.warp = -1
		if x.reuse {
			*e = cached{f.warp, x.reg}
		}
	}
}

// start starts instructions of variable latency.
func (c *Core) start(s *subcore, t uint64) {
	if s.sfu.Len() > 0 {
		c.moved = true
		fi := *s.sfu.Front()
		if f := &c.flight[fi]; t >= f.issue+2 && t >= s.sfuFree && c.readLate(s, f, t) {
			s.sfu.Pop()
			s.sfuFree = t + uint64(f.op.interval)
			c.begin(fi, t, uint64(c.cfg.Window))
		}
	}
	if s.misc.Len() > 0 {
		c.moved = true
		fi := *s.misc.Front()
		if f := &c.flight[fi]; t >= f.issue+2 && t >= s.miscFree && c.readLate(s, f, t) {
			s.misc.Pop()
			s.miscFree = t + uint64(f.op.interval)
			c.begin(fi, t, uint64(c.cfg.Window))
		}
	}
	if s.mem.Len() > 0 && s.addr < 0 {
		c.moved = true
		fi := *s.mem.Front()
		f := &c.flight[fi]
		if t >= f.issue+uint64(c.cfg.AddressStart) && c.readLate(s, f, t) {
			s.mem.Pop()
			c.addresses++
			s.addr, s.addrReady = fi, t+uint64(c.cfg.AddressCycles)
			if c.log != nil {
				c.log.Reach(fi, stageRead, c.now)
			}
			if !f.op.leaves {
				f.refs++
				c.wheel.add(t+uint64(f.op.read), evRead, fi)
				if ctl := f.op.ctl; ctl != nil && ctl.Read < isa.Counters {
					f.refs++
					c.wheel.add(t+uint64(f.op.war), evLower, fi)
				}
			}
		}
	}
	if s.addr >= 0 {
		c.moved = true
	}
}

// readLate books read ports for an instruction of variable latency, in a cycle in which
// one is free in every bank [SIM].
func (c *Core) readLate(s *subcore, f *flight, t uint64) bool {
	o := f.op
	if c.cfg.Ports == 0 || o.reads[0]+o.reads[1] == 0 {
		return true
	}
	for b := range s.rd {
		p := &s.rd[b]
		p.at(t)
		ok := false
		for i := range c.cfg.Ports {
			ok = ok || p.busy[i]&1 == 0
		}
		if !ok {
			c.Stats.LateReadHolds++
			return false
		}
	}
	for b := range s.rd {
		s.rd[b].book(c.cfg.Ports, int(o.reads[b]), 0)
	}
	c.Stats.OperandReads += uint64(o.reads[0] + o.reads[1])
	return true
}

// begin schedules the events of an instruction that starts in a pipe of variable
// latency; read is the number of cycles until its sources have been read.
func (c *Core) begin(fi int32, t, read uint64) {
	f := &c.flight[fi]
	f.refs++ // read, write
	c.wheel.add(t+read, evRead, fi)
	if ctl := f.op.ctl; ctl != nil && ctl.Read < isa.Counters {
		f.refs++
		c.wheel.add(t+read, evLower, fi)
	}
	c.wheel.add(max(t+uint64(f.op.latency), t+read+1), evWrite, fi)
	if c.log != nil {
		c.log.Reach(fi, stageRead, c.now)
		c.log.Reach(fi, stageExecute, c.now+read)
	}
}

// fp64 moves an instruction into the FP64 unit, which the sub-cores share.
func (c *Core) fp64(t uint64) {
	if c.doubles == 0 {
		return
	}
	n := len(c.subs)
	for i := range n {
		k := c.fp64Turn + i
		if k >= n {
			k -= n
		}
		s := &c.subs[k]
		if s.dp.Len() == 0 {
			continue
		}
		c.moved = true
		if t < c.fp64Free {
			return
		}
		fi := *s.dp.Front()
		f := &c.flight[fi]
		if t < f.issue+2 || !c.readLate(s, f, t) {
			continue
		}
		s.dp.Pop()
		c.doubles--
		c.fp64Free = t + uint64(f.op.interval)
		c.fp64Turn = k + 1
		if c.fp64Turn == n {
			c.fp64Turn = 0
		}
		c.begin(fi, t, uint64(c.cfg.ReadFP64))
		return
	}
}

// touch executes an instruction of variable latency, or the rest of it, when its
// sources have been read.
func (c *Core) touch(fi int32) {
	f := &c.flight[fi]
	if f.touched {
		return
	}
	f.touched = true
	c.touchPending(fi)
	if f.op.pipe == Memory {
		w := &c.warps[f.warp]
		w.unread--
		if w.unread == 0 {
			if w.Edges != nil && c.waiting(int32(f.warp)) && w.barred() {
				c.acct.Ended(int32(f.warp), f.at)
			}
			c.waits &^= 1 << f.warp
		}
	}
}

// touchPending lets the executor access memory for a pending instruction whose sources
// have been read.
func (c *Core) touchPending(fi int32) {
	f := &c.flight[fi]
	w := &c.warps[f.warp]
	if f.p < 0 || w.d == nil || !w.d.Late(f.p) {
		return
	}
	e := &c.eff
	if c.env.Turn != nil && !f.op.inst.Private {
		c.env.Turn()
	}
	c.show(w, c.tick-1)
	if err := w.d.Access(f.p, e); err != nil {
		c.fail(err)
		return
	}
	f.lanes = e.Lanes
	if e.Wrote {
		c.BreakSpin()
	}
	if c.hazards != nil {
		c.hazards.read(c, f)
	}
	if f.op.pipe == Memory {
		c.place(fi, e)
	}
}

// write writes the result of an instruction of variable latency. Results of fixed
// latency have priority at the write port of a bank [HW]. The results of a queue are written
// in order: compilers wait for the last of several only.
func (c *Core) write(t uint64, fi int32) {
	f := &c.flight[fi]
	o := f.op
	s := &c.subs[f.sub]
	if o.inTurn() && c.warps[f.warp].oldTex != fi+1 {
		f.back = true
		return
	}
	var wait *ring.Ring[int32]
	if o.queue != noQueue && o.ctl != nil {
		if wait = &s.results[o.queue]; wait.Len() > 0 && *wait.Front() != fi {
			wait.Push(fi)
			return
		}
	}
	for b := range s.wr {
		if o.writes>>b&1 != 0 {
			if s.wr[b].at(t); s.wr[b].busy[0]&1 != 0 && !c.cfg.Ideal.RegisterPorts {
				c.Stats.WriteConflicts++
				c.wheel.add(t+1, evWrite, fi)
				if wait != nil && wait.Len() == 0 {
					wait.Push(fi)
				}
				return
			}
		}
	}
	if wait != nil && wait.Len() > 0 {
		if wait.Pop(); wait.Len() > 0 {
			c.wheel.add(t, evWrite, *wait.Front())
		}
	}
	for b := range s.wr {
		if o.writes>>b&1 != 0 {
			s.wr[b].busy[0] |= 1
		}
	}
	w := &c.warps[f.warp]
	if c.log != nil {
		c.log.Reach(fi, stageWrite, c.now)
	}
	if f.p != exec.NoPending {
		c.show(w, t)
		if o.ctl != nil && len(w.due) > 0 {
			c.showWritten(w, t, o)
		}
		w.d.Commit(f.p)
		w.hidden--
	}
	if c.hazards != nil {
		c.hazards.shown(c, f)
	}
	if o.ctl != nil {
		c.lower(int32(f.warp), o.ctl.Write, f.at)
	} else {
		c.release(f)
	}
	c.moved = true
	c.finish(fi)
}

// inTurn reports whether results come in the order in which a warp has issued the instructions, though
// memory answers in any: texture and surface accesses, guided by control bits. NVIDIA's compiler relies
// on it: after TEX, TEX and SULD with one counter, DEPBAR.LE waits for all but the last and then reads
// what both TEX have written (compiled kernel for sm_75).
func (o *op) inTurn() bool { return o.queue == textureQueue && o.ctl != nil }

// nextTexture takes a texture access that ends out of its warp's list; the one after it is written if
// its texels have come.
func (c *Core) nextTexture(w *warp, fi int32) {
	f := &c.flight[fi]
	if w.oldTex = f.after; w.oldTex == 0 {
		w.newTex = 0
	} else if c.flight[w.oldTex-1].back {
		c.wheel.add(c.tick+1, evWrite, w.oldTex-1)
	}
}

// finish ends an instruction of variable latency.
func (c *Core) finish(fi int32) {
	f := &c.flight[fi]
	c.Stats.Completed++
	if f.op.inTurn() {
		c.nextTexture(&c.warps[f.warp], fi)
	}
	if f.waitsInTable() {
		c.ls.prt--
	}
	if f.op.group == isa.AsyncStart {
		c.groupEnded(f, f.op.sequence)
		if f.op.sequence == asyncGroups && c.warps[f.warp].K.arrives {
			c.groupEnded(f, arriveGroups)
		}
	}
	c.endRef(fi)
}
