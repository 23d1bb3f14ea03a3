package races

import (
	"strings"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: barriers of the block and of warps, mbarriers, and copies in flight.

// clusterBarrier is the number of the cluster's barrier. Arrivals do not wait there. Threads
// acquire when it opens, somewhat before they wait.
const clusterBarrier = exec.ClusterBarrier

// barrier is a phase of a barrier of the block.
type barrier struct {
	came    []uint32 // lanes that wait, by warp
	arrived *clock   // what those released who do not wait
	partial bool     // there are such
}

// Arrive is as in exec.BlockProbe.
func (b *block) Arrive(warp int, lanes isa.LaneMask, bar int, waits bool) {
	x, w := &b.bars[bar], &b.warps[warp]
	if x.came == nil {
		x.came = make([]uint32, len(b.warps))
	}
	if waits || bar == clusterBarrier {
		x.came[warp] |= uint32(lanes)
	}
	if !waits {
		x.partial = true
		var c *clock
		if bar != clusterBarrier || !b.isRelaxed(warp) {
			c = b.release(w, uint32(lanes), true)
		} else {
			c = w.fencedBefore(uint32(lanes), b.team == nil)
		}
		if bar == clusterBarrier && b.team != nil {
			b.team.arrive(c)
		}
		x.arrived = x.arrived.join(c)
		b.launch.tick()
	}
}

// isRelaxed reports whether the instruction that a warp executes says .relaxed.
func (b *block) isRelaxed(warp int) bool {
	s := b.probed.Site(warp)
	return s < len(b.launch.code) && strings.Contains(b.launch.code[s].Op, ".relaxed")
}

// Open is as in exec.BlockProbe.
func (b *block) Open(bar int) {
	x := &b.bars[bar]
	whole := !x.partial
	for i := range b.warps {
		whole = whole && x.came != nil && b.warps[i].live&^x.came[i] == 0
	}
	if whole {
		c := b.clock
		for i := range b.warps {
			if w := &b.warps[i]; w.split || w.clock != b.clock {
				c = c.join(b.past(w, ^uint32(0)))
			}
		}
		b.clock, b.base = c, b.c.time
		for i := range b.warps {
			w := &b.warps[i]
			w.base, w.rel, w.clock, w.split = b.base, b.base, c, false
			w.learned = b.c.time
		}
	} else {
		c := x.arrived
		if bar == clusterBarrier && b.team != nil {
			c = b.team.open()
		}
		if bar != clusterBarrier {
			for i, m := range x.came {
				if m != 0 {
					c = c.join(b.release(&b.warps[i], m, true))
				}
			}
		}
		for i, m := range x.came {
			if m != 0 {
				b.warps[i].together(m, b.past(&b.warps[i], m).join(c), b.c.time)
			}
		}
	}
	b.launch.tick()
	clear(x.came)
	x.arrived, x.partial = nil, false
}

// Meet is as in exec.BlockProbe.
func (b *block) Meet(warp int, lanes isa.LaneMask) {
	w, m := &b.warps[warp], uint32(lanes)
	if m&w.live == w.live {
		if w.split {
			w.clock, w.split = b.past(w, m), false
		}
		w.base, w.rel = b.c.time, b.c.time
		w.learned = b.c.time
	} else {
		w.together(m, b.release(w, m, false), b.c.time)
	}
	b.launch.tick()
}

// mbar is an mbarrier.
type mbar struct {
	slot          int    // in clocks
	phase         uint32 // phases completed
	pending, done *clock
	maker         *record // who has initialised it, until a copy signals it
}

// complete ends a phase: those who wait for it learn what was released into it, and that the
// copies of the phase have ended. They learn the same of the phases before it: an arrival is an
// atomic operation, which reads what the one before it wrote, so that a wait observes all of them
// (PTX manual, release patterns), also if the thread waited for those phases relaxed.
func (m *mbar) complete(b *block) {
	m.phase++
	m.done, m.pending = m.done.join(m.pending).set(mbarKey(b.id, m.slot), m.phase), nil
}

// mbarrier returns the mbarrier at an address of shared memory.
func (b *block) mbarrier(addr uint64) *mbar {
	if b.mbars == nil {
		b.mbars = map[uint64]*mbar{}
	}
	m := b.mbars[addr]
	if m == nil {
		m = &mbar{slot: len(b.mbars)}
		b.mbars[addr] = m
	}
	return m
}

// Signal is as in exec.BlockProbe.
func (b *block) Signal(s *exec.Signal) {
	w, o := &b.warps[s.Warp], b.of(s.Peer)
	if o == nil {
		return
	}
	b.touch(s, o)
	for k := uint32(s.Lanes); k != 0; {
		i := first(k)
		m := o.mbarrier(s.Addr[i])
		// The lanes that follow at the same mbarrier, up to one that completes its phase.
		lanes := uint32(0)
		for k != 0 && s.Addr[first(k)] == s.Addr[i] {
			bit := k & -k
			lanes, k = lanes|bit, k&^bit
			if uint32(s.Done)&bit != 0 && s.Does != exec.SignalWait {
				break
			}
		}
		switch s.Does {
		case exec.SignalInit:
			m.pending, m.done = nil, nil
			m.maker = &record{site: uint32(s.Site), time: b.c.time, block: b.id, launch: b.launch.id, lanes: 1 << i, warp: w.id, size: 8, class: write}
		case exec.SignalBytes:
			b.signalled(s, m)
		case exec.SignalArrive:
			if s.Order.Releases() {
				m.pending = m.pending.join(b.release(w, lanes, false))
			}
		case exec.SignalCopies:
			for _, f := range b.copies {
				if f.warp == w.id && f.by == isa.ByGroup {
					if at := f.lanes & lanes &^ f.attached; at != 0 { // a later signal says no more
						f.attached, f.owner, f.slot, f.phase = f.attached|at, o.id, m.slot, m.phase
					}
				}
			}
		case exec.SignalProducts:
			b.committed(w, m)
		case exec.SignalWait:
			if s.Order.Acquires() {
				w.gather(lanes&uint32(s.Done), m.done, b.c.time)
			}
			continue
		}
		if uint32(s.Done)&lanes != 0 {
			m.complete(o)
		}
	}
	b.launch.tick()
}

// touch notes what an operation on mbarriers of block o does to their bytes: initialising and ending them
// are plain writes, all else is atomic, from other blocks of the cluster too, whatever its scope says
// (assumed: programs arrive at mbarriers of other blocks without naming one).
func (b *block) touch(s *exec.Signal, o *block) {
	if s.Does == exec.SignalBytes {
		return // by the copy, not by the thread
	}
	b.launch.room()
	w := &b.warps[s.Warp]
	x := access{Access: &exec.Access{Warp: s.Warp, Site: s.Site, Lanes: s.Lanes, Space: isa.Shared, Addr: s.Addr, Bytes: 8, Write: s.Does != exec.SignalWait, Peer: s.Peer}, w: w, mem: o.shared, shared: true}
	x.r = record{site: uint32(s.Site), time: b.c.time, block: b.id, launch: b.launch.id, lanes: uint32(s.Lanes), warp: w.id, size: 8, class: strong | wide | read | write}
	switch s.Does {
	case exec.SignalInit, exec.SignalInval:
		x.r.class = write
	case exec.SignalWait:
		x.r.class = strong | wide | read
	}
	if x.r.class&write != 0 {
		x.kind = ofWrites
	}
	if s.Peer != 0 {
		b.reaches(&x)
	}
	b.scattered(&x, uint32(s.Lanes))
}

// copying is an asynchronous copy in flight, or one that has ended, of lanes of a warp.
type copying struct {
	warp     uint8
	lanes    uint32
	by       isa.Completion
	group    int32
	reads    bool
	landed   uint32     // lanes that have waited for it
	at       [32]uint32 // since when
	attached uint32     // lanes whose copy ends with a phase of an mbarrier, of block owner
	owner    uint32
	slot     int
	phase    uint32
}

// groups is the index of a kind of groups, -1 for none.
func groups(by isa.Completion) int {
	switch by {
	case isa.ByGroup:
		return 0
	case isa.ByBulk:
		return 1
	case isa.ByProduct:
		return 2
	case isa.ByTensorLoad:
		return 3
	case isa.ByTensorStore:
		return 4
	}
	return -1
}

// depart notes a copy that begins: lanes at the same group together.
func (b *block) depart(x *access) {
	kind := groups(x.By)
	all, w := x.r, &b.warps[x.Warp]
	for todo := uint32(x.Lanes); todo != 0; {
		group := int32(0)
		m := todo
		if kind >= 0 {
			group = w.special(first(todo)).group[kind]
			m = 0
			for k := todo; k != 0; k &= k - 1 {
				if i := first(k); w.lanes[i].group[kind] == group {
					m |= 1 << i
				}
			}
		}
		todo &^= m
		f := &copying{warp: w.id, lanes: m, by: x.By, group: group, reads: !x.Write}
		switch x.By {
		case isa.ByMbarrier:
			if o := b.of(x.MbarrierPeer); o != nil {
				mb := o.mbarrier(x.Mbarrier)
				f.attached, f.owner, f.slot, f.phase = m, o.id, mb.slot, mb.phase
			}
		case isa.ByProduct:
			f.attached, f.owner, f.slot, f.phase = m, b.id, b.products(w).slot, uint32(group)
		case isa.ByCommit:
			v := b.commits(w)
			f.attached, f.owner, f.slot, f.phase = m, b.id, v.slot, v.phase
		default:
			b.copies = append(b.copies, f)
		}
		own := *x
		own.r, own.id = all, 0
		own.r.lanes, own.r.flight = m, b.c.fly(f)
		b.weak(&own, m)
	}
}

// fly gives a copy its place among those in flight, and returns one more than that.
func (c *Checker) fly(f *copying) uint32 {
	if n := len(c.noFlight); n > 0 {
		id := c.noFlight[n-1]
		c.noFlight, c.flights[id] = c.noFlight[:n-1], f
		return id + 1
	}
	c.flights = append(c.flights, f)
	return uint32(len(c.flights))
}

// land makes marked records whose copies all lanes have waited for together records of
// accesses at that time, and forgets the copies that no record names any more.
func (c *Checker) land() {
	if len(c.flights) == len(c.noFlight) {
		return
	}
	named := make([]bool, len(c.flights))
	for id := range c.nrecords {
		r := c.rec(id)
		if r.flight == 0 || !c.marks.records.has(id) {
			continue
		}
		if f := c.flights[r.flight-1]; f.attached == 0 && f.landed == f.lanes && f.together() {
			r.time, r.flight = f.at[first(f.lanes)], 0
			continue
		}
		named[r.flight-1] = true
	}
	c.noFlight = c.noFlight[:0]
	for i := len(named) - 1; i >= 0; i-- {
		if !named[i] {
			c.flights[i] = nil
			c.noFlight = append(c.noFlight, uint32(i))
		}
	}
}

// together reports whether all lanes of a copy have waited for it at the same time.
func (f *copying) together() bool {
	for k := f.lanes; k != 0; k &= k - 1 {
		if f.at[first(k)] != f.at[first(f.lanes)] {
			return false
		}
	}
	return true
}

// landed says since when a copy of a lane is its issuer's access, if ok, and whether a lane
// knows by an mbarrier that it has ended.
func (b *block) landed(e *record, el int, w *warp, lane int) (time uint32, ok, known bool) {
	f := b.c.flights[e.flight-1]
	b.exact = true
	if f.attached>>el&1 != 0 && w.of(lane).get(mbarKey(f.owner, f.slot)) > f.phase {
		return 0, true, true
	}
	return f.at[el&31], f.landed>>el&1 != 0, false
}

// Group is as in exec.BlockProbe.
func (b *block) Group(warp int, lanes isa.LaneMask, a isa.Async) {
	w, kind := &b.warps[warp], groups(a.Done)
	if kind < 0 {
		return
	}
	if a.Does == isa.AsyncCommit {
		for k := uint32(lanes); k != 0; k &= k - 1 {
			w.special(first(k)).group[kind]++
		}
		return
	}
	if a.Done == isa.ByProduct {
		b.waitForProducts(w, uint32(lanes), a.Leave)
		return
	}
	s := b.probed.Site(warp)
	sources := s < len(b.launch.code) && strings.HasSuffix(b.launch.code[s].Op, ".read") // may be overwritten, no more
	left := b.copies[:0]
	for _, f := range b.copies {
		if f.warp == w.id && f.by == a.Done && (f.reads || !sources) {
			for k := f.lanes &^ f.landed & uint32(lanes); k != 0; k &= k - 1 {
				i := first(k)
				closed := w.special(i).group[kind]
				if a.Does == isa.AsyncWaitAll || f.group < closed-a.Leave {
					f.landed |= 1 << i
					f.at[i] = b.c.time
				}
			}
		}
		if f.landed != f.lanes {
			left = append(left, f)
		}
	}
	clear(b.copies[len(left):])
	b.copies = left
}
