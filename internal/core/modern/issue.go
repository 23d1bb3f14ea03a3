package modern

import (
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/ring"
)

// subcore is a quarter of the SM: a scheduler, its registers and its pipes.
type subcore struct {
	k    int
	mine uint64  // its slots
	age  []uint8 // its resident slots, the oldest first

	// Front end.
	arriving [8]arrival // instructions being fetched, by tick
	nArrive  int
	l0i      tags
	asked    []uint64           // requested lines
	missing  []arrival          // instructions that wait for their lines
	late     ring.Ring[arrival] // instructions whose lines have arrived
	stream   stream
	ask      ring.Ring[lineReq] // for the link
	fl       tags
	flAt     int32 // place in fl of the line found last
	flMisses []waiting

	// Issue.
	last     int    // slot that issued last, -1 if none has
	held     uint64 // tick before which nothing is issued because a constant is missing
	heldBy   int
	portFree uint64             // tick from which the issue port is free
	clock    uint64             // tick in which a clock was read last
	free     [Tensor + 1]uint64 // tick from which a pipe accepts an instruction

	// Control and Allocate.
	ctl, alloc int32
	seen       bool // the instruction in Control has been there for a cycle

	// Registers.
	rd, wr [2]ports
	rfc    [slots][2]cached

	// Variable latency.
	sfu, misc, dp     ring.Ring[int32]
	sfuFree, miscFree uint64
	mem               ring.Ring[int32] // instructions before the address unit
	memN, memFreed    int              // instructions in mem and addr; those that left in this cycle
	addr              int32            // instruction in the address unit
	addrReady         uint64
	lineFree          uint64                   // tick from which it may request a line
	back              uint64                   // tick until which the path back to the registers is taken
	results           [queues]ring.Ring[int32] // that wait for the write port, by queue

	own   core.Scheduler // a program's scheduler, nil for a built-in policy
	warps core.Warps     // for own
	order []uint8        // buffer for its result
}

// cached is an entry of the register-file cache.
type cached struct {
	warp int16 // -1 if empty
	reg  uint8
}

// raise holds counters to be incremented at the end of the cycle.
type raise struct {
	warp        int32
	write, read uint8
	long        bool
}

func (c *Core) newSubCores() {
	n := c.cfg.SubCores
	c.subs = make([]subcore, n)
	for i := range c.subs {
		s := &c.subs[i]
		*s = subcore{k: i, last: -1, ctl: none, alloc: none, addr: none, l0i: newTags(c.cfg.L0I), fl: newTags(c.cfg.L0FL)}
		for w := i; w < c.cfg.Warps; w += n {
			s.mine |= 1 << w
		}
		s.age = make([]uint8, 0, maxWarps)
		s.asked, s.missing = make([]uint64, 0, 16), make([]arrival, 0, 64)
		s.flMisses = make([]waiting, 0, 16)
		s.forget()
		if maker, ok := core.Schedulers.Maker(int(c.cfg.Scheduler)); ok {
			s.own, s.warps, s.order = maker(c.id, i), core.NewWarps(c), make([]uint8, 0, maxWarps)
		}
	}
}

// forget empties the register-file cache.
func (s *subcore) forget() {
	for i := range s.rfc {
		s.rfc[i][0].warp, s.rfc[i][1].warp = -1, -1
	}
}

// join and leave keep the slots sorted by the age of their warps. A launched warp is
// the youngest, and issue tries it first [SIM].
func (s *subcore) join(w uint8) {
	s.age = append(s.age, w)
	s.last = int(w)
}

func (s *subcore) leave(w uint8) {
	for i, x := range s.age {
		if x == w {
			s.age = append(s.age[:i], s.age[i+1:]...)
			break
		}
	}
	for i := range s.rfc {
		for b := range s.rfc[i] {
			if s.rfc[i][b].warp == int16(w) {
				s.rfc[i][b].warp = -1
			}
		}
	}
	if s.last == int(w) {
		s.last = -1
	}
}

// verdict is the outcome of an attempt to issue from a warp.
type verdict uint8

const (
	goes   verdict = iota // it has issued
	cannot                // another warp may be tried
	nobody                // nothing issues in this cycle
)

// throttle is what a warp with available operands waits for.
type throttle uint8

const (
	throttleMath throttle = iota // its pipe
	throttleLG                   // the memory queue, with an access to global or local memory
	throttleMIO                  // the memory queue or another queue
	throttleDispatch
	throttles
)

// issue issues from one warp of a sub-core: the warp that issued last if it can,
// otherwise the youngest that can (CGGTY [HW]) or the oldest (GTO).
func (c *Core) issue(s *subcore, t uint64) {
	cand := s.mine & c.ready & c.has &^ (c.stalled | c.waits | c.fence | c.imc | c.copying | c.held.all())
	if cand == 0 {
		return
	}
	c.moved = true
	if s.ctl >= 0 || t < s.portFree {
		c.acct.throttled[throttleDispatch] |= cand
		return
	}
	if t < s.held && (s.heldBy < 0 || c.imc>>s.heldBy&1 != 0) {
		c.acct.throttled[throttleDispatch] |= cand
		return
	}
	if s.memN >= c.cfg.MemQueue {
		for _, i := range [...]throttle{throttleLG, throttleMIO} {
			m := cand & c.queued[i]
			c.acct.throttled[i] |= m
			cand &^= m
		}
	}
	if s.own != nil {
		if cand != 0 {
			c.consult(s, cand, t)
		}
		return
	}
	if g := s.last; g >= 0 && cand>>g&1 != 0 {
		if c.attempt(s, int32(g), t) != cannot {
			return
		}
		cand &^= 1 << g
	}
	if c.cfg.Scheduler == GTO {
		for i := 0; i < len(s.age) && cand != 0; i++ {
			g := s.age[i]
			if cand>>g&1 != 0 && c.attempt(s, int32(g), t) != cannot {
				return
			}
			cand &^= 1 << g
		}
		return
	}
	for i := len(s.age) - 1; i >= 0 && cand != 0; i-- {
		g := s.age[i]
		if cand>>g&1 != 0 && c.attempt(s, int32(g), t) != cannot {
			return
		}
		cand &^= 1 << g
	}
}

// consult lets a program's scheduler decide among the warps that may be able to issue.
func (c *Core) consult(s *subcore, cand, t uint64) {
	w := &s.warps
	w.Cycle, w.ByAge, w.Last, w.Try, w.Can = c.now, s.age, s.last, cand, cand
	mine := s.mine & c.alive &^ c.done
	w.Memory = mine & (c.waits&c.long | c.fence | c.copying | c.held.all())
	w.Result = mine & (c.waits&^c.long | c.stalled) &^ w.Memory
	w.Barrier = mine &^ c.ready
	w.Fetch = mine & c.ready &^ c.has
	for _, x := range s.own.Order(w, s.order[:0]) {
		if cand>>x&1 == 0 {
			continue
		}
		cand &^= 1 << x
		switch c.attempt(s, int32(x), t) {
		case goes:
			w.LastCycle = c.now
			return
		case nobody:
			return
		}
	}
}

// WarpInfo returns the information about the warp in a slot for schedulers.
func (c *Core) WarpInfo(slot int) core.WarpInfo { return c.Info(slot, c.Stats.PerWarp[:]) }

// attempt issues the next instruction of a warp if possible.
func (c *Core) attempt(s *subcore, g int32, t uint64) verdict {
	w := &c.warps[g]
	at := w.Next
	o := &w.ops[at]
	bit := uint64(1) << g
	if ctl := o.ctl; ctl != nil {
		if m := ctl.Wait & w.busySB; m != 0 || w.nDepbars > 0 || o.fence != noFence || o.inst.Barrier {
			if !c.mayPass(w, o, m, t) {
				c.waits |= bit
				c.fixed &^= bit
				c.long &^= bit
				if m == 0 {
					m = w.busySB
				}
				if m&w.longSB != 0 {
					c.long |= bit
				}
				return cannot
			}
		}
		if ctl.Write < isa.Counters && w.sb[ctl.Write] >= maxCounter || ctl.Read < isa.Counters && w.sb[ctl.Read] >= maxCounter {
			c.waits |= bit
			c.fixed &^= bit
			c.long |= bit
			c.Stats.CounterLimits++
			return cannot
		}
	} else if !c.operandsFree(g, o) || len(o.guards) > 0 && !c.seesGuards(g, o, t) {
		return cannot
	}
	pipe := o.pipe
	switch pipe {
	case SFU:
		// The latch must be free when it arrives.
		if n := s.sfu.Len(); n > 1 || n == 1 && max(s.sfuFree, c.flight[*s.sfu.Front()].issue+2) > t+2 {
			c.acct.throttled[throttleMath] |= bit
			return cannot
		}
	case MiscQueue:
		if s.misc.Len() >= c.cfg.QueueMisc {
			c.acct.throttled[throttleMIO] |= bit
			return cannot
		}
	case FP64:
		if s.dp.Len() >= c.cfg.QueueFP64 {
			c.acct.throttled[throttleMath] |= bit
			return cannot
		}
	case Memory:
		if s.memN >= c.cfg.MemQueue {
			c.acct.throttled[o.fullQueue] |= bit
			if w.nDepbars == 0 { // nothing else can hold it
				c.queued[o.fullQueue] |= bit
			}
			return cannot
		}
	default:
		if s.free[pipe] > t {
			if !o.either || s.free[Int] > t {
				c.acct.throttled[throttleMath] |= bit
				return cannot
			}
			pipe = Int
		}
	}
	if o.inst.Clock && s.clock+1 == t { // [HW]
		c.acct.throttled[throttleMath] |= bit
		return cannot
	}
	if o.hasConst && !c.cfg.PerfectConst && !c.constant(s, g, o.constant, t) {
		s.held, s.heldBy = t+uint64(c.cfg.ConstSwitch), int(g)
		return nobody
	}
	switch {
	case o.orders && !c.inOrder(g):
		return cannot
	case o.kind == mbarTry && !c.more[g].tried && c.suspend(g, t):
		return cannot
	case o.kind == resize && c.lacks(g, o):
		return cannot
	case o.kind == gridWait && w.K.depends: // also if its guard, which is not known yet, will not hold
		c.grid |= bit
		return cannot
	case o.kind == warpProduct && c.tensors.full(o.most, t):
		c.acct.throttled[throttleMath] |= bit
		return cannot
	}
	c.issueOne(s, g, at, o, pipe, t)
	return goes
}

// maxCounter is the highest value of a dependence counter ([HW]). What happens if it is
// incremented further has not been measured; the warp is held instead, and the cycles
// are counted.
const maxCounter = 63

// mayPass reports whether the counters let an instruction issue; m are the counters of
// its wait mask that are not zero.
func (c *Core) mayPass(w *warp, o *op, m uint8, t uint64) bool {
	if m != 0 {
		return false
	}
	n := uint8(0)
	for i := range w.nDepbars {
		b := w.depbars[i]
		if t < b.from {
			w.depbars[n] = b
			n++
			continue
		}
		if sb := b.d.SB; sb < isa.Counters && int(w.sb[sb]) > int(b.d.AtMost) || w.busySB&b.d.Zero != 0 {
			return false
		}
	}
	w.nDepbars = n
	// Barriers wait for all counters [SIM], and until the warp's memory instructions
	// have accessed memory [INF].
	return o.fence == noFence && !o.inst.Barrier || w.busySB == 0 && w.unread == 0
}

// operandsFree reports whether the scoreboards let an instruction issue.
func (c *Core) operandsFree(g int32, o *op) bool {
	w := &c.warps[g]
	bit := uint64(1) << g
	if w.unread > 0 && (o.fence != noFence || o.inst.Barrier) {
		c.waits |= bit
		c.long |= bit
		return false
	}
	if w.regs > 0 {
		var busy, long, short uint64
		list := c.busy[int(g)*c.words:]
		for i := range o.test {
			p := &o.test[i]
			r := &list[p.Word]
			busy |= r.busy & p.Mask
			long |= r.long & p.Mask
			short |= r.short & p.Mask
		}
		if busy != 0 {
			c.waits |= bit
			c.long &^= bit
			c.fixed &^= bit
			if long != 0 {
				c.long |= bit
			} else if short == 0 {
				c.fixed |= bit
			}
			return false
		}
	}
	rd := c.readers[int(g)*c.total : (int(g)+1)*c.total]
	for _, r := range o.dst {
		if rd[r] > 0 {
			c.waits |= bit
			c.long &^= bit
			c.fixed |= bit
			return false
		}
	}
	for _, r := range o.src {
		if int(rd[r]) >= c.cfg.Consumers {
			c.waits |= bit
			c.long &^= bit
			c.fixed |= bit
			return false
		}
	}
	return true
}

// seesGuards reports whether an instruction sees its guards; if not, its warp stalls until it does.
func (c *Core) seesGuards(g int32, o *op, t uint64) bool {
	w := &c.warps[g]
	until := t
	for _, r := range o.guards {
		for i := range w.preds {
			if x := &w.preds[i]; x.reg == r {
				until = max(until, x.at)
			}
		}
	}
	if until == t {
		return true
	}
	c.stalled |= 1 << g
	c.stallEnds[until&63] |= 1 << g
	return false
}

// early returns the tick from which operands see predicates that guards see at due.
func (w *warp) early(o *op, due uint64) uint64 {
	for _, r := range o.dst {
		w.preds[w.nPreds&7] = written{due, r}
		w.nPreds++
	}
	return due - uint64(o.ahead)
}

// show makes visible the results of fixed latency that all instructions can read at a tick.
func (c *Core) show(w *warp, t uint64) {
	n := 0
	for n < len(w.due) && w.due[n].due <= t {
		w.d.Commit(w.due[n].p)
		w.hidden--
		n++
	}
	if n > 0 {
		w.due = w.due[:copy(w.due, w.due[n:])]
	}
}

// showRead makes visible the further results that an instruction can read at a tick, although
// not all instructions can. All later instructions see them then.
func (c *Core) showRead(w *warp, t uint64, o *op) {
	any := false
	for i := range w.due {
		if x := &w.due[i]; !x.done && x.op.touches(o) && x.read(w.K, o, t) {
			w.showBefore(x)
			w.commit(x)
			any = true
		}
	}
	if !any {
		return
	}
	n := 0
	for _, x := range w.due {
		if !x.done {
			w.due[n] = x
			n++
		}
	}
	w.due = w.due[:n]
}

// commit makes a result visible before all instructions can read it.
func (w *warp) commit(x *shown) {
	w.d.Commit(x.p)
	w.hidden--
	x.done = true
}

// showBefore makes older results for the registers of one visible: otherwise they would replace it.
func (w *warp) showBefore(x *shown) {
	for {
		var old *shown
		for i := range w.due {
			if y := &w.due[i]; !y.done && y.at < x.at && y.op.overwrites(x.op) && (old == nil || y.at < old.at) {
				old = y
			}
		}
		if old == nil {
			return
		}
		w.commit(old)
	}
}

// read reports whether an instruction reads a result and can do so at a tick.
func (x *shown) read(k *Kernel, o *op, t uint64) bool {
	counted := x.op.ctl.Write < isa.Counters && t >= x.at+uint64(x.op.latency) // whoever has waited for its counter may read it
	need := uint16(0)
	for _, n := range x.op.dst {
		if slices.Contains(o.src, n) {
			need = max(need, k.need(x.op, o, n), 1)
		}
	}
	return need > 0 && (counted || t >= x.at+uint64(need))
}

// showAt notes the result of an instruction that issues. The results for one register become
// visible in the order in which they are written; predicates are written in order.
func (w *warp) showAt(at uint64, p exec.Pending, o *op) {
	y := shown{at: at, due: at + uint64(o.farthest), p: p, op: o}
	for i := range w.due {
		x := &w.due[i]
		if x.op.overwrites(o) && (x.op.sets&o.sets != 0 || x.at+uint64(x.op.latency) <= at+uint64(o.latency)) {
			x.due = min(x.due, y.due)
		}
	}
	w.due = append(w.due, y)
	for i := 1; i < len(w.due); i++ {
		for j := i; j > 0 && w.due[j-1].due > w.due[j].due; j-- {
			w.due[j-1], w.due[j] = w.due[j], w.due[j-1]
		}
	}
}

// showWritten makes visible the results of fixed latency that are already written, for
// registers that an instruction of variable latency writes now.
func (c *Core) showWritten(w *warp, t uint64, o *op) {
	n := 0
	for _, x := range w.due {
		if x.at+uint64(x.op.latency) <= t && x.op.overwrites(o) {
			w.d.Commit(x.p)
			w.hidden--
			continue
		}
		w.due[n] = x
		n++
	}
	w.due = w.due[:n]
}

// perform executes the instruction that warp w issues in cycle t; what it did is in c.eff.
func (c *Core) perform(w *warp, f *flight, o *op, t uint64) (err error) {
	e := &c.eff
	if w.d == nil {
		return w.X.Step(e)
	}
	c.show(w, t)
	if o.ctl != nil && len(w.due) > 0 {
		c.showRead(w, t, o)
	}
	if f.p, err = w.d.Issue(e); f.p >= 0 {
		w.hidden++
	}
	return err
}

// issueOne issues the instruction at the head of a warp's buffer.
func (c *Core) issueOne(s *subcore, g, at int32, o *op, pipe Pipe, t uint64) {
	w := &c.warps[g]
	bit := uint64(1) << g
	head := &w.ib[w.ibHead]
	w.ibHead++
	if int(w.ibHead) == c.cfg.Buffer {
		w.ibHead = 0
	}
	w.ibN--
	if int(w.fetch) < len(w.ops) {
		c.room |= bit
	}
	s.last = int(g)
	c.branch &^= bit
	c.acct.Step(g, at)
	if o.inst.Clock {
		s.clock = t
	}
	if o.alone && c.cfg.MadBubble > 0 {
		s.portFree = t + 1 + uint64(c.cfg.MadBubble)
	}

	fi := c.launch(s, g, at, o, pipe, t, head)
	f := &c.flight[fi]
	e := &c.eff
	if c.env.Turn != nil && o.turns {
		c.env.Turn()
	}
	was, opened := c.barrier, uint64(0)
	if o.team {
		opened = c.opened(w.Block)
	}
	if err := c.perform(w, f, o, t); err != nil {
		c.fail(err)
		return
	}
	c.counted(s, g, at, f, e)
	if c.hazards != nil && o.ctl != nil && w.K.ControlBits {
		c.hazards.issue(c, fi, e)
	}

	s.ctl, s.seen = fi, false
	if o.late {
		c.queue(s, fi, e)
	} else {
		c.dispatch(s, fi, t)
	}
	if o.ctl == nil {
		c.reserve(g, o)
	}
	if o.group != isa.NotAsync {
		c.groups(g, f)
	}
	if o.fence != noFence {
		c.fenceAt(g, o, t)
	}
	if d := o.inst.Depbar; d != nil && o.ctl != nil {
		w.depbars[w.nDepbars] = depbar{d, t + uint64(c.cfg.DepbarDelay)}
		w.nDepbars++
	}
	if o.stall > 1 {
		c.stalled |= bit
		c.stallEnds[(t+uint64(o.stall))&63] |= bit
	}
	c.refresh(g)
	if o.inst.Barrier || e.Exited != 0 || w.State != exec.Ready || o.kind == warpProduct {
		c.RefreshBlock(w.Block)
	}
	if o.kind != plain || o.team {
		c.after(g, fi, o, e, was, opened, t)
	}
	if c.Spins {
		// The registers are a warp's whole state only if it has no pending results.
		c.Spin.Issued(int(g), w.X, w.Next, w.State == exec.Ready && w.hidden == 0, o.calm, e)
	}
	if c.ideal {
		c.issued(s, g, o, t)
	}
}

// launch makes the record of an instruction that issues.
func (c *Core) launch(s *subcore, g, at int32, o *op, pipe Pipe, t uint64, head *fetched) int32 {
	w := &c.warps[g]
	fi := c.take()
	f := &c.flight[fi]
	*f = flight{op: o, uid: c.uids, issue: t, p: exec.NoPending, at: at, warp: int16(g), sub: int8(s.k), refs: 1, path: o.path, pipe: pipe, acc: f.acc[:0]}
	c.uids++
	w.flights++
	if o.inTurn() {
		if w.newTex == 0 {
			w.oldTex = fi + 1
		} else {
			c.flight[w.newTex-1].after = fi + 1
		}
		w.newTex = fi + 1
	}
	if c.log != nil {
		c.logged(fi, head)
	}
	return fi
}

// counted counts an instruction that has issued.
func (c *Core) counted(s *subcore, g, at int32, f *flight, e *exec.Effects) {
	w := &c.warps[g]
	f.lanes = e.Lanes
	n := e.Lanes.Count()
	c.Stats.WarpInsts++
	c.Stats.ThreadInsts += uint64(n)
	c.Stats.Lanes[e.Active.Count()]++
	c.Stats.PerWarp[g]++
	c.Stats.IssuesBy[s.k]++
	c.Stats.ByPipe[f.pipe]++
	if w.Places != nil {
		p := &w.Places[at]
		p.Issues++
		p.Lanes += uint64(n)
		if f.op.branches {
			p.Branch(e.Active, e.Lanes)
		}
	}
}

// queue puts an instruction of variable latency into the queue of its pipe.
func (c *Core) queue(s *subcore, fi int32, e *exec.Effects) {
	f := &c.flight[fi]
	w := &c.warps[f.warp]
	switch f.op.pipe {
	case SFU:
		s.sfu.Push(fi)
	case MiscQueue:
		s.misc.Push(fi)
	case FP64:
		s.dp.Push(fi)
		c.doubles++
	case Memory:
		s.mem.Push(fi)
		s.memN++
		w.unread++
		if w.d == nil {
			c.place(fi, e)
		}
	}
}

// dispatch schedules the events of an instruction of fixed latency that do not depend
// on Allocate.
func (c *Core) dispatch(s *subcore, fi int32, t uint64) {
	f := &c.flight[fi]
	o := f.op
	w := &c.warps[f.warp]
	s.free[f.pipe] = t + uint64(o.interval)
	due := t + uint64(o.latency)
	f.touched = true
	if f.p >= 0 || w.d == nil && o.ctl != nil && len(o.dst) > 0 && f.lanes != 0 {
		w.until = max(w.until, due)
	}
	if f.p >= 0 {
		if w.d.Late(f.p) {
			// The executor treats it as one of variable latency, but it reads its
			// sources when those of fixed latency do.
			c.touchPending(fi)
			if c.err != nil {
				return
			}
		}
		w.showAt(t, f.p, o)
	}
	if o.ctl == nil && o.ahead > 0 && w.K.early {
		due = w.early(o, due)
	}
	if o.ctl == nil && len(o.outs) > 0 || o.ctl != nil && o.ctl.Write < isa.Counters && !(o.group == isa.AsyncCommit && w.copies.open()) {
		f.refs++
		c.wheel.add(due, evVisible, fi)
	}
}

// visible notes that the result of an instruction of fixed latency can be read.
func (c *Core) visible(s int32, fi int32) {
	f := &c.flight[fi]
	if f.op.ctl != nil {
		c.lower(s, f.op.ctl.Write, f.at)
	} else {
		c.release(f)
	}
	c.endRef(fi)
}

// raise increments the counters of the instructions that entered Control in this
// cycle. They take effect from the next cycle on.
func (c *Core) raise() {
	for _, r := range c.raises {
		w := &c.warps[r.warp]
		for _, n := range [2]uint8{r.write, r.read} {
			if n < isa.Counters {
				w.sb[n]++
				if w.sb[n] <= 0 {
					continue // its group of copies has already ended
				}
				w.busySB |= 1 << n
				if r.long {
					w.longSB |= 1 << n
				}
			}
		}
		c.moved = true
	}
	c.raises = c.raises[:0]
}

// lower decrements a counter of a warp, which an instruction incremented.
func (c *Core) lower(s int32, n uint8, by int32) {
	if n >= isa.Counters {
		return
	}
	w := &c.warps[s]
	if w.Edges != nil && c.waiting(s) && w.heeds(n) {
		c.acct.Ended(s, by)
	}
	w.sb[n]--
	if w.sb[n] <= 0 {
		w.busySB &^= 1 << n
		w.longSB &^= 1 << n
	}
	c.waits &^= 1 << s
	c.stir = true
}

// reserve marks the registers of an instruction in the scoreboards.
func (c *Core) reserve(g int32, o *op) {
	list := c.busy[int(g)*c.words:]
	for i := range o.outs {
		p := &o.outs[i]
		r := &list[p.Word]
		r.busy |= p.Mask
		switch {
		case o.long:
			r.long |= p.Mask
		case o.late:
			r.short |= p.Mask
		}
		c.warps[g].regs += int32(bits.OnesCount64(p.Mask))
	}
	rd := c.readers[int(g)*c.total : (int(g)+1)*c.total]
	for _, r := range o.src {
		rd[r]++
	}
}

// release frees the registers that an instruction has written.
func (c *Core) release(f *flight) {
	g, o := int32(f.warp), f.op
	list := c.busy[int(g)*c.words:]
	if w := &c.warps[g]; w.Edges != nil && c.waiting(g) && w.needs(o, list) {
		c.acct.Ended(g, f.at)
	}
	for i := range o.outs {
		p := &o.outs[i]
		r := &list[p.Word]
		r.busy &^= p.Mask
		r.long &^= p.Mask
		r.short &^= p.Mask
		c.warps[g].regs -= int32(bits.OnesCount64(p.Mask))
	}
	c.waits &^= 1 << g
}

// readDone notes that an instruction has read its sources.
func (c *Core) readDone(g int32, f *flight) {
	if f.op.ctl != nil {
		return
	}
	rd := c.readers[int(g)*c.total : (int(g)+1)*c.total]
	for _, r := range f.op.src {
		rd[r]--
	}
	if w := &c.warps[g]; w.Edges != nil && c.waiting(g) && w.overwrites(f.op) {
		c.acct.Ended(g, f.at)
	}
	c.waits &^= 1 << g
}

// waiting reports whether a warp, whose waits go to edges, waits for instructions, or has before
// its next one: whatever moves in a warp makes its scheduler look again, when it has the time.
func (c *Core) waiting(g int32) bool { return c.waits>>g&1 != 0 || c.acct.Waited(g) }

// heeds reports whether a warp that waits does so for a counter, among others.
func (w *warp) heeds(n uint8) bool {
	if w.Next < 0 {
		return false
	}
	o := &w.ops[w.Next]
	return o.ctl != nil && (o.ctl.Wait>>n&1 != 0 || w.nDepbars > 0 || w.barred())
}

// barred reports whether a warp's next instruction is a barrier, which waits for all before it.
func (w *warp) barred() bool {
	return w.Next >= 0 && (w.ops[w.Next].fence != noFence || w.ops[w.Next].inst.Barrier)
}

// needs reports whether a warp's next instruction uses a register that an instruction writes;
// list has the registers that are not yet written.
func (w *warp) needs(by *op, list []reserved) bool {
	if w.Next < 0 {
		return false
	}
	for _, p := range w.ops[w.Next].test {
		busy := list[p.Word].busy & p.Mask
		for _, d := range by.outs {
			if d.Word == p.Word && d.Mask&busy != 0 {
				return true
			}
		}
	}
	return false
}

// overwrites reports whether a warp's next instruction writes a register that an instruction
// reads.
func (w *warp) overwrites(by *op) bool {
	return w.Next >= 0 && slices.ContainsFunc(w.ops[w.Next].dst, func(r uint16) bool { return slices.Contains(by.src, r) })
}
