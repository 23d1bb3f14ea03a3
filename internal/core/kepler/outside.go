package kepler

import (
	"errors"
	"math/bits"

	isa "github.com/heddle-sim/heddle/internal/isa/kasm"
)

// This file: a core as one of several SMs, with an external memory system.

// Access is a transaction that leaves its SM.
type Access struct {
	Warp, Slot uint8
	Line       uint32 // number of the 128-byte line
	Words      uint32 // mask of the words that it touches in the line
	Lanes      uint32
	Write      bool
	Atomic     bool
	Longer     uint32 // cycles by which lanes of an atomic on the same word delay the answer
}

// Outside is a memory system. It models time only: a transaction has taken effect on
// memory when it is sent, in the order of cycles and, within a cycle, of SMs.
type Outside interface {
	// Send accepts a transaction; it calls Core.Answered when the transaction is
	// answered.
	Send(sm int, a Access)
}

// Split splits a core that is set up and has not run into n SMs: warp w runs on SM w
// modulo n, under its own number. Each SM has the core's programs and a copy of its
// registers and shared memory; global memory is shared. The core itself must not run
// afterwards; Gather copies the results back to it.
func (k *Core) Split(n int, outside Outside) ([]*Core, error) {
	switch {
	case !k.cfg.OwnTransactions:
		return nil, errors.New("several SMs and caches need level datasheet: at level rtl a transaction may use another warp's slot")
	case k.cycle >= FirstFetch:
		return nil, errors.New("the core has already run; split it before its first cycle")
	}
	list := make([]*Core, n)
	for sm := range list {
		c := &Core{cfg: k.cfg, sm: sm, programs: k.programs, points: make([][isa.ProgramWords]Point, len(k.points)), state: k.state, line: k.line, outside: outside}
		for w := range Warps {
			if w%n != sm {
				c.setStatus(w, Idle)
				c.started &^= 1 << w
			}
		}
		list[sm] = c
	}
	return list, nil
}

// StartedWarps returns the mask of the warps started on this core.
func (k *Core) StartedWarps() uint32 { return k.started }

// Answered notes that memory has answered a transaction; the core sees the answer later
// by the given number of cycles.
func (k *Core) Answered(warp, slot uint8, later uint32) {
	k.fly(warp, slot, k.cycle+uint64(later))
	k.moved = k.cycle
}

// Gather copies the results of the SMs that Split made back to the core: the warps'
// registers and counters, the sums of the SMs' counters, the last cycle, and whether
// they are stuck. Shared memory is that of the first SM. The SMs are not changed, so
// the chip can continue.
func (k *Core) Gather(sms []*Core, stuck bool) {
	k.stats, k.counters, k.cycle, k.moved, k.doneCycle, k.fault = Stats{}, Counters{}, 0, 0, 0, nil
	clear(k.points)
	k.shared = sms[0].shared
	done := true
	for _, c := range sms {
		for m := c.started; m != 0; m &= m - 1 {
			k.take(bits.TrailingZeros32(m), c)
		}
		k.stats.add(&c.stats)
		for s, n := range c.counters.Slots {
			k.counters.Slots[s] += n
		}
		for l, n := range c.counters.Lanes {
			k.counters.Lanes[l] += n
		}
		for p := range c.points {
			for pc := range c.points[p] {
				k.points[p][pc].add(&c.points[p][pc])
			}
		}
		k.cycle, k.doneCycle = max(k.cycle, c.cycle), max(k.doneCycle, c.doneCycle)
		if c.started != 0 && c.doneCycle == 0 {
			done = false
			k.moved = max(k.moved, c.moved)
		}
		if k.fault == nil && c.fault != nil {
			k.fault = c.fault
		}
	}
	if !done {
		k.doneCycle = 0
	}
	for _, c := range sms { // an SM that is done or has no warps is no longer simulated
		rest := k.Counted()
		if c.started != 0 {
			rest -= c.Counted()
		}
		k.counters.Slots[SlotDone] += rest
	}
	if !stuck { // memory may take longer than stuckAfter
		k.moved = k.cycle
	}
}

// take copies a warp.
func (k *Core) take(w int, c *Core) {
	k.pc[w], k.mask[w], k.busy[w], k.predBusy[w] = c.pc[w], c.mask[w], c.busy[w], c.predBusy[w]
	k.stackTop[w], k.stack[w], k.callTop[w], k.calls[w] = c.stackTop[w], c.stack[w], c.callTop[w], c.calls[w]
	k.regs[w], k.preds[w], k.tri[w], k.outstanding[w] = c.regs[w], c.preds[w], c.tri[w], c.outstanding[w]
	k.startCycle[w], k.exitCycle[w], k.counters.Warps[w] = c.startCycle[w], c.exitCycle[w], c.counters.Warps[w]
	k.setStatus(w, c.status[w])
}

func (s *Stats) add(o *Stats) {
	s.Cycles = max(s.Cycles, o.Cycles)
	s.DualIssues += o.DualIssues
	s.SingleIssues += o.SingleIssues
	s.Executed += o.Executed
	s.Threads += o.Threads
	s.Squashed += o.Squashed
	s.Branches += o.Branches
	s.Transactions += o.Transactions
	s.Replays += o.Replays
	s.Conflicts += o.Conflicts
}

func (p *Point) add(o *Point) {
	p.Executed += o.Executed
	p.Threads += o.Threads
	p.Replays += o.Replays
	p.Conflicts += o.Conflicts
	for s, n := range o.Cycles {
		p.Cycles[s] += n
	}
}
