package simt

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
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
	NoInstruction: core.WaitsFetch, Wait: core.WaitsResult, ShortScoreboard: core.WaitsResult, LongScoreboard: core.WaitsResult,
	PipeThrottle: core.WaitsPlace, Membar: core.WaitsAll, Drain: core.WaitsAll, Atomics: core.WaitsAtomics,
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
		v.State, v.Waits, v.Missed, v.Issued = st.String(), waitKinds[st], c.imiss>>s&1 != 0, c.Stats.PerWarp[s]
		v.Reserved, v.Stores, v.Atomics, v.Copies = int(w.regs), int(w.stores), int(w.atomics), int(w.copies)
		for i := range 2 {
			if k := (int(w.ibHead) + i) & 1; w.ibHas>>k&1 != 0 && w.ib[k] >= 0 {
				v.Buffer = append(v.Buffer, int(w.ib[k]))
			}
		}
		v.Flights = c.flightsOf(int32(s), places)
		list = append(list, v)
	}
	return list
}

// Stand returns the position of the warp in a slot, false if there is none.
func (c *Core) Stand(s int) (core.Stands, bool) {
	if c.alive>>s&1 == 0 {
		return core.Stands{}, false
	}
	w := &c.warps[s]
	return core.Stands{Work: w.K.Work, Age: w.Age, Issued: c.Stats.PerWarp[s], Next: w.Next, Last: c.acct.Last(s)}, true
}

// inFlight reports for each record whether it is in use.
func (c *Core) inFlight() []bool {
	used := make([]bool, len(c.flight))
	for i := range used {
		used[i] = true
	}
	for _, i := range c.freeF {
		used[i] = false
	}
	return used
}

// flightPlaces returns where each instruction in flight is, "" for a free record.
func (c *Core) flightPlaces() []string {
	list := make([]string, len(c.flight))
	used := c.inFlight()
	for i := range list {
		if used[i] {
			list[i] = "memory"
		}
	}
	for s := range Sets {
		for m := c.idoc[s].used; m != 0; m &= m - 1 {
			list[c.idoc[s].slot[bits.TrailingZeros64(m)]] = s.String() + " issue register"
		}
		for m := c.ocex[s].used; m != 0; m &= m - 1 {
			list[c.ocex[s].slot[bits.TrailingZeros64(m)]] = s.String() + " execute register"
		}
	}
	c.eachCollector(func(n int, u *cunit, ready bool) {
		list[u.f] = fmt.Sprintf("collector unit %d, %d operands missing", n, u.need)
		if ready {
			list[u.f] = fmt.Sprintf("collector unit %d, waiting for a %s execute register", n, u.out)
		}
	})
	for i := range c.units {
		u := &c.units[i]
		for t := range c.ends {
			if c.ends[t]>>i&1 != 0 {
				left := (uint64(t) - c.tick) & c.ring
				list[c.stage[t*len(c.units)+i]] = fmt.Sprintf("%s unit %d, %d cycles left", u.set, u.k, left)
			}
		}
		if c.entries>>i&1 != 0 {
			list[u.entry] = fmt.Sprintf("entry of %s unit %d", u.set, u.k)
		}
	}
	for _, i := range c.wb {
		list[i] = "write-back"
	}
	l := &c.ls
	if l.entry >= 0 {
		list[l.entry] = "load/store unit"
	}
	for i := range l.shared.Len() {
		list[l.shared.At(i).v] = "shared memory pipeline"
	}
	if l.wb >= 0 {
		list[l.wb] = "write-back of the load/store unit"
	}
	return list
}

func (c *Core) eachCollector(f func(n int, u *cunit, ready bool)) {
	for i := range c.col.sets {
		s := &c.col.sets[i]
		for k := range s.n {
			if s.free>>k&1 == 0 {
				f(s.first+k, &c.col.units[s.first+k], s.ready>>k&1 != 0)
			}
		}
	}
}

// flightsOf lists a warp's instructions in flight.
func (c *Core) flightsOf(s int32, places []string) []core.Flight {
	var list []core.Flight
	w := &c.warps[s]
	for i, place := range places {
		f := &c.flight[i]
		if place == "" || int32(f.warp) != s {
			continue
		}
		v := core.Flight{ID: i, At: int(f.at), Age: f.uid, Lanes: f.lanes, Place: place, Unsent: len(f.acc), Unanswered: int(f.out)}
		if w.Next >= 0 {
			v.Blocks = c.holds(s, f.op, &w.K.ops[w.Next])
		}
		list = core.AddFlight(list, v)
	}
	return list
}

// holds reports whether next waits for a register that warp s has reserved for o.
func (c *Core) holds(s int32, o, next *op) bool {
	for _, d := range o.dst {
		for _, r := range next.test {
			if r.Word == d.Word && r.Mask&d.Mask&c.regs[s*int32(c.words)+r.Word].busy != 0 {
				return true
			}
		}
	}
	return false
}

// Queues returns the queues of the pipeline, from issue to the memory system.
func (c *Core) Queues() []core.QueueView {
	c.Sync()
	q := queueViews{c: c}
	for s := range Sets {
		if c.cfg.IssueWidth[s] > 0 && c.cfg.Units[s] > 0 {
			q.set("issue "+s.String(), &c.idoc[s])
		}
	}
	q.collectors()
	for s := range Sets {
		if c.cfg.ExecWidth[s] > 0 && c.cfg.Units[s] > 0 {
			q.set("execute "+s.String(), &c.ocex[s])
		}
	}
	for i := range c.units {
		q.unit(i)
	}
	what := ""
	for _, fi := range c.wb {
		what = join(what, q.name(fi))
	}
	q.add("write-back", len(c.wb), 0, what)
	q.loadStore()
	return q.list
}

// queueViews lists a core's queues.
type queueViews struct {
	c    *Core
	list []core.QueueView
}

func (q *queueViews) add(name string, n, limit int, what string) {
	q.list = append(q.list, core.QueueView{Name: name, Len: n, Cap: limit, What: what})
}

// name names an instruction in flight.
func (q *queueViews) name(fi int32) string {
	f := &q.c.flight[fi]
	return fmt.Sprintf("warp %d pc %d", f.warp, f.at)
}

// set adds the registers between two stages.
func (q *queueViews) set(what string, r *regset) {
	s := ""
	for m := r.used; m != 0; m &= m - 1 {
		s = join(s, q.name(r.slot[bits.TrailingZeros64(m)]))
	}
	q.add(what, bits.OnesCount64(r.used), len(r.slot), s)
}

func (q *queueViews) collectors() {
	col := &q.c.col
	for i := range col.sets {
		s := &col.sets[i]
		what := ""
		for k := range s.n {
			if s.free>>k&1 == 0 {
				u := &col.units[s.first+k]
				what = join(what, fmt.Sprintf("%s (%s, %d operands missing)", q.name(u.f), u.out, u.need))
			}
		}
		q.add(fmt.Sprintf("collector units %d-%d", s.first, s.first+s.n-1), s.n-bits.OnesCount64(s.free), s.n, what)
	}
}

// unit adds an execution unit: the instruction at its entry, and those in its pipeline.
func (q *queueViews) unit(i int) {
	c := q.c
	u := &c.units[i]
	n, what, entry := 0, "", none
	if c.entries>>i&1 != 0 {
		entry = u.entry
		n, what = 1, q.name(entry)+" at the entry"
	}
	for d := range c.ring + 1 {
		t := (c.tick + d) & c.ring
		if fi := c.stage[int(t)*len(c.units)+i]; c.ends[t]>>i&1 != 0 && fi != entry {
			n++
			what = join(what, fmt.Sprintf("%s ends in %d", q.name(fi), d))
		}
	}
	q.add(fmt.Sprintf("unit %s %d", u.set, u.k), n, 0, what)
}

// loadStore adds the load/store unit, its caches, and the replies to it.
func (q *queueViews) loadStore() {
	c := q.c
	l := &c.ls
	n, what := 0, ""
	if l.entry >= 0 {
		n, what = 1, fmt.Sprintf("%s, %d accesses to send", q.name(l.entry), len(c.flight[l.entry].acc))
	}
	q.add("load/store unit", n, 1, what)
	q.add("shared memory pipeline", l.shared.Len(), c.cfg.SharedLatency, "")
	for i := range l.l1 {
		q.add(fmt.Sprintf("L1D bank %d queue", i), l.l1[i].Len(), c.cfg.L1Latency, "")
	}
	miss := func(name string, x *cache.Cache) {
		if x == nil {
			return
		}
		cfg := x.Config()
		q.add(name+" miss table", x.Pending(), cfg.Entries, "")
		q.add(name+" miss queue", x.MissLen(), cfg.MissQueue, "")
	}
	miss("L1D", l.l1d)
	miss("constant cache", l.l1c)
	miss("instruction cache", c.l1i)
	if l.l1t != nil {
		q.add("texture cache FIFO", l.l1t.Pending(), 0, "")
		q.add("texture cache requests", l.l1t.MissLen(), l.l1t.Config().Merge, "")
	}
	q.add("replies", l.replies.Len(), c.cfg.ResponseQueue, "")
	n = 0
	if l.direct != nil {
		n = 1
	}
	q.add("reply bypassing the L1D", n, 1, "")
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// EachRequest calls f for every request in a queue of the core, with its place.
func (c *Core) EachRequest(f func(r *mem.Req, place string)) {
	l := &c.ls
	for i := range l.l1 {
		q := &l.l1[i]
		for k := range q.Len() {
			f(q.At(k).v, fmt.Sprintf("in the queue of L1D bank %d", i))
		}
	}
	for i := range l.replies.Len() {
		f(l.replies.At(i), "answered, in the SM's reply queue")
	}
	if l.direct != nil {
		f(l.direct, "answered, waiting for write-back")
	}
	each := func(name string, x *cache.Cache) {
		if x != nil {
			x.EachQueued(func(r *mem.Req) { f(r, "in the miss queue of the "+name) })
		}
	}
	each("L1D", l.l1d)
	each("constant cache", l.l1c)
	each("instruction cache", c.l1i)
	if l.l1t != nil {
		l.l1t.EachQueued(func(r *mem.Req) { f(r, "in the request queue of the texture cache") })
	}
}

// EachPending calls f for every miss pending in a cache of the core.
func (c *Core) EachPending(f func(name string, p cache.Pending)) {
	each := func(name string, x *cache.Cache) {
		if x != nil {
			x.EachPending(func(p cache.Pending) { f(name, p) })
		}
	}
	each("the L1D", c.ls.l1d)
	each("the constant cache", c.ls.l1c)
	each("the instruction cache", c.l1i)
	if c.ls.l1t != nil {
		c.ls.l1t.EachPending(func(p cache.Pending) { f("the texture cache", p) })
	}
}
