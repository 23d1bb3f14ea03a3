package sync

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/plain"
)

// This file: barriers in memory. What their state forbids is a fault; waits that never end and
// objects that are made twice are found here.

var misuse = rule("mbarrier-misuse", "A barrier in shared memory (mbarrier) is used in a way that its state does not allow.",
	"An mbarrier must be initialised once before it is used, and invalidated before its memory has another use. In each phase exactly as many threads arrive as it was initialised for, and as many bytes as were announced. A wait by parity can only tell the phase that runs from the one before it.",
	"Initialise the barrier with the number of threads that arrive in each phase, let each of them arrive once a phase, and let each thread that waits by parity see every phase.")

// mbar is what is known of an mbarrier.
type mbar struct {
	made   arrival        // its initialisation
	ended  bool           // its life
	phases uint32         // completed
	seen   map[int]*looks // by warp
	polls  map[spot]*arrival
}

// looks are the phases that had completed when lanes of a warp last found one complete.
type looks [32]uint32

// Signal is as in exec.BlockProbe.
func (b *block) Signal(s *exec.Signal) {
	o := b.peers.Of(s.Peer, b)
	if o == nil {
		return
	}
	for k := s.Lanes; k != 0; {
		addr, lanes := s.Addr[k.First()&31], isa.LaneMask(0)
		for k != 0 && s.Addr[k.First()&31] == addr { // those that follow at the same mbarrier
			lanes, k = lanes|k&-k, k&(k-1)
		}
		m := o.mbars[addr]
		switch {
		case s.Does == exec.SignalInit:
			b.initialised(s, m, lanes)
		case m == nil: // of unknown origin
		case s.Does == exec.SignalInval:
			m.ended = true
		case s.Does == exec.SignalWait:
			m.waited(b, s, lanes)
		default:
			m.phases += uint32((s.Done & lanes).Count())
		}
	}
}

// initialised notes that lanes have made an mbarrier, where m was before.
func (b *block) initialised(s *exec.Signal, m *mbar, lanes isa.LaneMask) {
	a := b.here(s.Warp, 0, lanes, false)
	if m != nil && !m.ended {
		b.add(misuse, check.Error, "A barrier in shared memory is initialised again, although its life has not ended (mbarrier.inval)", &a, b.step(check.Other, &m.made, b.code[m.made.site].Op))
	}
	b.mbars[s.Addr[lanes.First()&31]] = &mbar{made: a, seen: map[int]*looks{}, polls: map[spot]*arrival{}}
}

// waited notes that lanes have tested for a phase.
func (m *mbar) waited(b *block, s *exec.Signal, lanes isa.LaneMask) {
	at, in, done := spot{s.Warp, s.Site}, lanes&^s.Done, lanes&s.Done
	p := m.polls[at]
	if p == nil && in != 0 {
		a := b.here(s.Warp, 0, in, true)
		p = &a
		m.polls[at] = p
	}
	if p != nil {
		p.lanes = p.lanes&^done | in
	}
	if done == 0 {
		return
	}
	l := m.seen[s.Warp]
	if l == nil {
		l = new(looks)
		m.seen[s.Warp] = l
	}
	for ; done != 0; done &= done - 1 {
		l[done.First()&31] = m.phases
	}
}

// endlessPolls looks at the blocks of a launch that was ended early.
func (c *Checker) endlessPolls(number int) {
	for _, b := range c.ofLaunch(number) {
		if b.idle() {
			b.stuckAtMbarriers()
		}
	}
}

// ofLaunch returns the blocks of a launch that have not ended, in order.
func (c *Checker) ofLaunch(number int) (list []*block) {
	for _, b := range slices.SortedFunc(maps.Keys(c.live), func(x, y *block) int { return cmp.Compare(x.probed.Linear(), y.probed.Linear()) }) {
		if b.number == number {
			list = append(list, b)
		}
	}
	return list
}

// idle reports whether all threads of the block wait: only they can end the phases of its
// mbarriers.
func (b *block) idle() bool {
	waits := map[int]isa.LaneMask{} // by warp
	for i := range b.came {
		if a := &b.came[i]; a.waits {
			waits[a.warp] |= a.lanes
		}
	}
	for _, m := range b.mbars {
		for _, p := range m.polls {
			waits[p.warp] |= p.lanes
		}
	}
	for w := range b.probed.Warps() {
		if b.probed.LiveLanes(w)&^waits[w] != 0 {
			return false
		}
	}
	return true
}

// stuckAtMbarriers reports the threads that poll for phases which never complete.
func (b *block) stuckAtMbarriers() {
	for _, addr := range slices.Sorted(maps.Keys(b.mbars)) {
		m := b.mbars[addr]
		var list []*arrival
		missed := false
		for _, p := range m.polls {
			if p.lanes == 0 {
				continue
			}
			list = append(list, p)
			for k := p.lanes; k != 0; k &= k - 1 {
				l := m.seen[p.warp]
				missed = missed || m.phases >= 2 && (l == nil || m.phases-l[k.First()&31] >= 2)
			}
		}
		if len(list) == 0 {
			continue
		}
		slices.SortFunc(list, func(x, y *arrival) int { return cmp.Or(cmp.Compare(x.warp, y.warp), cmp.Compare(x.site, y.site)) })
		rest := []check.Step{b.step(check.Other, &m.made, "initialised")}
		for _, p := range list[1:] {
			rest = append(rest, b.step(check.Other, p, "waits as well"))
		}
		what := "Threads wait for a phase of a barrier in shared memory that never completes: not all arrivals, or not all bytes, that it waits for come"
		if missed {
			what = "Threads wait by parity for a phase of a barrier in shared memory, and have not seen the last two that completed: they cannot tell the one that they want from the one that runs"
		}
		b.add(misuse, check.Error, what, list[0], rest...)
	}
}

// badBarrier reports a fault.
func (c *Checker) badBarrier(number int, f *exec.Fault) {
	w := &f.Where
	n := &check.Finding{Rule: misuse, Level: check.Error, Message: misuse.Short + " " + misuse.Mend, Kernel: plain.Instance(w.Kernel), Launch: number, Count: 1, Details: map[string]string{}}
	n.Steps = []check.Step{{Role: check.First, Place: check.PlaceOf(*w), Text: fmt.Sprintf("%s, by thread %v of block %v", f.What, w.Thread, w.Block)}}
	c.all = append(c.all, n)
}
