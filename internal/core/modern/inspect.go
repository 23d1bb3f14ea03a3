package modern

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/ring"
)

// This file: views of a core between two cycles. They are copies. The only change
// that taking one makes is that a sleeping core brings its counters up to date.

// Slots returns the number of warp slots.
func (c *Core) Slots() int { return len(c.warps) }

// View returns the warp in a slot, false if there is none.
func (c *Core) View(slot int) (core.WarpView, bool) {
	if slot < 0 || slot >= len(c.warps) || c.alive>>slot&1 == 0 {
		return core.WarpView{}, false
	}
	return c.views(1 << slot)[0], true
}

// Views returns all resident warps, by slot.
func (c *Core) Views() []core.WarpView { return c.views(c.alive) }

// Doing sets the state of the warp in each slot, -1 where there is none.
func (c *Core) Doing(to []int8) { c.acct.Doing(c.alive, to) }

// waitKinds maps warp states to kinds of wait.
var waitKinds = [WarpStates]core.WaitKind{
	NoInstruction: core.WaitsFetch, BranchResolving: core.WaitsFetch,
	Wait: core.WaitsResult, ShortScoreboard: core.WaitsResult, LongScoreboard: core.WaitsResult,
	MathThrottle: core.WaitsPlace, LGThrottle: core.WaitsPlace, MIOThrottle: core.WaitsPlace, Dispatch: core.WaitsPlace,
	Membar: core.WaitsAll, Drain: core.WaitsAll,
}

func (c *Core) views(set uint64) []core.WarpView {
	c.Sync()
	places := c.flightPlaces()
	var list []core.WarpView
	for m := set & c.alive; m != 0; m &= m - 1 {
		s := bits.TrailingZeros64(m)
		w := &c.warps[s]
		st := WarpState(c.acct.Of(s))
		v := c.Residents.View(s)
		v.State, v.Waits, v.Missed, v.Issued = st.String(), waitKinds[st], c.awaitsLine(s), c.Stats.PerWarp[s]
		v.Reserved, v.Stores = int(w.regs), int(w.stores)
		if w.K.ControlBits {
			for _, n := range w.sb {
				v.Counters = append(v.Counters, int(n))
			}
		}
		for i := range int(w.ibN) {
			if e := &w.ib[(int(w.ibHead)+i)%c.cfg.Buffer]; e.valid {
				v.Buffer = append(v.Buffer, int(e.at))
			}
		}
		v.Flights = c.flightsOf(int16(s), places)
		list = append(list, v)
	}
	return list
}

// awaitsLine reports whether a warp's instructions wait for a line of the L0I.
func (c *Core) awaitsLine(s int) bool {
	sub := &c.subs[s%len(c.subs)]
	for i := range sub.missing {
		if a := &sub.missing[i]; int(a.warp) == s && a.epoch == c.warps[s].epoch {
			return true
		}
	}
	return false
}

// Stand returns the position of the warp in a slot, false if there is none.
func (c *Core) Stand(s int) (core.Stands, bool) {
	if c.alive>>s&1 == 0 {
		return core.Stands{}, false
	}
	w := &c.warps[s]
	return core.Stands{Work: w.K.Work, Age: w.Age, Issued: c.Stats.PerWarp[s], Next: w.Next, Last: c.acct.Last(s)}, true
}

// flightPlaces returns where each instruction in flight is, "" for a free record.
func (c *Core) flightPlaces() []string {
	list := make([]string, len(c.flight))
	for i := range c.flight {
		f := &c.flight[i]
		switch {
		case f.op == nil:
		case f.op.pipe == Memory && f.gone:
			list[i] = "the memory unit of the SM"
		case f.op.pipe == Memory:
			list[i] = "the memory pipeline"
		default:
			list[i] = "the " + f.pipe.String() + " pipe"
		}
	}
	for _, i := range c.freeF {
		list[i] = ""
	}
	in := func(q *ring.Ring[int32], what string) {
		for i := range q.Len() {
			list[*q.At(i)] = what
		}
	}
	for k := range c.subs {
		s := &c.subs[k]
		if s.ctl >= 0 {
			list[s.ctl] = "control"
		}
		if s.alloc >= 0 {
			list[s.alloc] = "allocate"
		}
		in(&s.sfu, "the queue of the SFU")
		in(&s.misc, "the miscellaneous queue")
		in(&s.dp, "the queue of the FP64 unit")
		in(&s.mem, "the memory queue")
		if s.addr >= 0 {
			list[s.addr] = "the address unit"
		}
	}
	in(&c.ls.expand, "the pending request table, not all requests sent")
	return list
}

// flightsOf lists a warp's instructions in flight.
func (c *Core) flightsOf(s int16, places []string) []core.Flight {
	var list []core.Flight
	w := &c.warps[s]
	for i, place := range places {
		f := &c.flight[i]
		if place == "" || f.warp != s {
			continue
		}
		v := core.Flight{ID: i, At: int(f.at), Age: f.uid, Lanes: f.lanes, Place: place}
		switch {
		case f.path == pathConst && f.out > 0:
			v.Place = fmt.Sprintf("the constant cache, waiting for %d lines", f.out)
		case f.path == pathMemory:
			v.Unanswered = int(f.out)
		}
		if f.path == pathMemory && f.touched {
			for _, a := range f.acc[f.next:] {
				v.Unsent += bits.OnesCount8(a.sectors)
			}
		}
		if w.Next >= 0 {
			v.Blocks = holds(f.op, &w.ops[w.Next])
		}
		list = core.AddFlight(list, v)
	}
	return list
}

// holds reports whether instruction next must wait for o, which is in flight.
func holds(o, next *op) bool {
	if o.ctl != nil && next.ctl != nil {
		for _, n := range [...]uint8{o.ctl.Write, o.ctl.Read} {
			if n < isa.Counters && next.ctl.Wait>>n&1 != 0 {
				return true
			}
		}
		return false
	}
	for _, d := range o.outs {
		for _, r := range next.test {
			if r.Word == d.Word && r.Mask&d.Mask != 0 {
				return true
			}
		}
	}
	return false
}

// Queues returns the queues of the pipeline, from issue to the memory system.
func (c *Core) Queues() []core.QueueView {
	c.Sync()
	var list []core.QueueView
	add := func(name string, n, limit int, what string) {
		list = append(list, core.QueueView{Name: name, Len: n, Cap: limit, What: what})
	}
	name := func(fi int32) string {
		f := &c.flight[fi]
		return fmt.Sprintf("warp %d pc %d", f.warp, f.at)
	}
	one := func(what string, fi int32) {
		if fi >= 0 {
			add(what, 1, 1, name(fi))
		}
	}
	queue := func(what string, q *ring.Ring[int32], limit int) {
		s := ""
		for i := range q.Len() {
			if i > 0 {
				s += "; "
			}
			s += name(*q.At(i))
		}
		add(what, q.Len(), limit, s)
	}
	for k := range c.subs {
		s := &c.subs[k]
		at := fmt.Sprintf("sub-core %d ", k)
		one(at+"control", s.ctl)
		one(at+"allocate", s.alloc)
		queue(at+"SFU queue", &s.sfu, 0)
		queue(at+"miscellaneous queue", &s.misc, c.cfg.QueueMisc)
		queue(at+"FP64 queue", &s.dp, c.cfg.QueueFP64)
		queue(at+"memory queue", &s.mem, c.cfg.MemQueue)
		one(at+"address unit", s.addr)
		add(at+"requested lines", len(s.asked), 0, "")
	}
	l := &c.ls
	add("pending request table", l.prt, c.cfg.PRT, "")
	add("entries being expanded", l.expand.Len(), 0, "")
	add("requests before the L1D", l.look.Len(), 0, "")
	add("requests bypassing the L1D", l.past.Len(), 0, "")
	add("replies", l.replies.Len(), c.cfg.ResponseQueue, "")
	for _, x := range []struct {
		name string
		c    *cache.Cache
	}{{"L1D", l.l1d}, {"L1I", c.l1i}} {
		if x.c != nil {
			cfg := x.c.Config()
			add(x.name+" miss table", x.c.Pending(), cfg.Entries, "")
			add(x.name+" miss queue", x.c.MissLen(), cfg.MissQueue, "")
		}
	}
	return list
}

// EachRequest calls f for every request in a queue of the core, with its place.
func (c *Core) EachRequest(f func(r *mem.Req, place string)) {
	l := &c.ls
	for i := range l.look.Len() {
		f(l.look.At(i).r, "on the way to the L1D")
	}
	for i := range l.past.Len() {
		f(*l.past.At(i), "bypassing the L1D, waiting for the network")
	}
	for i := range l.replies.Len() {
		f(l.replies.At(i), "answered, in the SM's reply queue")
	}
	if l.l1d != nil {
		l.l1d.EachQueued(func(r *mem.Req) { f(r, "in the miss queue of the L1D") })
	}
	if c.l1i != nil {
		c.l1i.EachQueued(func(r *mem.Req) { f(r, "in the miss queue of the L1I") })
	}
}

// EachPending calls f for every miss pending in a cache of the core.
func (c *Core) EachPending(f func(name string, p cache.Pending)) {
	if c.ls.l1d != nil {
		c.ls.l1d.EachPending(func(p cache.Pending) { f("the L1D", p) })
	}
	if c.l1i != nil {
		c.l1i.EachPending(func(p cache.Pending) { f("the L1I", p) })
	}
}
