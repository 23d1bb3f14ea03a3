package kepler

import (
	"math/bits"

	isa "github.com/heddle-sim/heddle/internal/isa/kasm"
)

// This file: the accounting of cycles. It does not affect the simulation.

// SlotState is what fetch did in a cycle. Every cycle until the exit of the last warp
// has been seen is in exactly one state.
type SlotState uint8

// The states of fetch: two instructions selected, one, or none for a reason. If
// several reasons apply, the first in this order counts.
const (
	SlotDual         SlotState = iota // two instructions of a warp were selected
	SlotSingle                        // one instruction was selected
	SlotDone                          // every warp of the SM has exited, or it has none
	SlotStart                         // before the first fetch
	SlotConflict                      // a bank conflict in shared memory holds the front end
	SlotCollector                     // no operand collector is free for decoded or following instructions
	SlotBranch                        // a branch is taken, or was in the previous cycle
	SlotScoreboard                    // some or all warps wait for registers or predicates
	SlotTransactions                  // none waits for those, but some have no free transaction slot
	SlotDrain                         // some have nothing left to fetch
	SlotBarrier                       // all are at the barrier
	SlotStates                        // number of states
)

var slotStates = [SlotStates]string{
	SlotDual: "dual", SlotSingle: "single", SlotDone: "done", SlotStart: "start", SlotConflict: "bank_conflict", SlotCollector: "collectors",
	SlotBranch: "branch", SlotScoreboard: "scoreboard", SlotTransactions: "transaction_slots", SlotDrain: "drain", SlotBarrier: "barrier",
}

func (s SlotState) String() string { return slotStates[s] }

// WarpState is the state of a warp in a cycle. From its start to its exit a warp is in
// exactly one state in each cycle.
type WarpState uint8

// The states of a warp.
const (
	Selected        WarpState = iota
	NotSelected               // could have been selected, but another warp was
	Starting                  // before the first fetch
	Conflict                  // a bank conflict in shared memory holds the front end
	NoCollector               // no operand collector is free
	Branching                 // fetch waits for a taken branch, its own or another's
	LongScoreboard            // the next instruction waits for global memory
	ShortScoreboard           // … for shared memory
	Dependence                // … for a result of fixed latency, a predicate among them
	NoTransaction             // … for a transaction slot
	Draining                  // an EXIT or BAR waits for operations in flight, or fetch has reached the end of program memory
	AtBarrier                 // it waits for other warps
	WarpStates                // number of states
)

var warpStates = [WarpStates]string{
	Selected: "selected", NotSelected: "not_selected", Starting: "start", Conflict: "bank_conflict", NoCollector: "collectors", Branching: "branch",
	LongScoreboard: "long_scoreboard", ShortScoreboard: "short_scoreboard", Dependence: "wait", NoTransaction: "transaction_slots",
	Draining: "drain", AtBarrier: "barrier",
}

func (s WarpState) String() string { return warpStates[s] }

// slotOf is the state of fetch when a warp's state causes an idle cycle.
var slotOf = [WarpStates]SlotState{
	Starting: SlotStart, Conflict: SlotConflict, NoCollector: SlotCollector, Branching: SlotBranch, LongScoreboard: SlotScoreboard,
	ShortScoreboard: SlotScoreboard, Dependence: SlotScoreboard, NoTransaction: SlotTransactions, Draining: SlotDrain, AtBarrier: SlotBarrier,
}

// Counters are the cycles of a run by state, and the executed instructions by lanes.
type Counters struct {
	// Slots are the cycles by state of fetch. They add up to Core.Counted, for each of
	// the SMs into which a core was split.
	Slots [SlotStates]uint64
	// Warps are the cycles of each warp by state. They add up to its lifetime, from its
	// start to its exit or to now.
	Warps [Warps][WarpStates]uint64
	// Lanes are the executed instructions by the number of lanes.
	Lanes [isa.Lanes + 1]uint64
}

// Point holds the counters of one instruction of a program.
type Point struct {
	Executed uint64             // executions; they add up to Stats.Executed
	Threads  uint64             // lanes in them
	Cycles   [WarpStates]uint64 // cycles of warps for which it was the next to fetch; they add up to all warps' lifetimes
	// Replays are lines requested from global memory in addition to the first of an access,
	// Conflicts the extra cycles of shared memory; they add up to those of Stats.
	Replays, Conflicts uint64
}

// Counters returns the counters so far.
func (k *Core) Counters() *Counters { return &k.counters }

// Programs returns the number of programs. The first is the empty one of warps without
// a loaded program.
func (k *Core) Programs() int { return len(k.programs) }

// Point returns the counters of an instruction of a program.
func (k *Core) Point(program, pc int) *Point { return &k.points[program][pc] }

// Counted returns the number of counted cycles, until the exit of the last warp was
// seen.
func (k *Core) Counted() uint64 {
	if k.Done() {
		return k.doneCycle
	}
	return k.cycle
}

// Lifetime returns the cycles of a warp from its start to its exit, or to now.
func (k *Core) Lifetime(warp int) uint64 {
	switch {
	case !k.Started(warp):
		return 0
	case k.exitCycle[warp] != 0:
		return k.exitCycle[warp] - k.startCycle[warp]
	}
	return k.cycle - k.startCycle[warp]
}

// account counts a cycle, from the state at its start and its decisions.
func (k *Core) account(now *cycle) {
	if k.doneCycle != 0 {
		return
	}
	live := k.started &^ k.over
	slot, all := SlotDone, WarpStates // all: what holds all ready warps
	switch {
	case live == 0:
	case k.cycle < FirstFetch:
		all = Starting
	case k.conflict:
		all = Conflict
	case now.stall || now.idle == 0:
		all = NoCollector
	case now.branch || k.branched:
		all = Branching
	}
	chosen := uint32(0)
	if s := &now.chosen[0]; s.valid {
		chosen = 1 << s.warp
	}
	seen := uint32(0) // states of the warps
	for m := live; m != 0; m &= m - 1 {
		w := bits.TrailingZeros32(m)
		pc := k.at(w)
		st := all
		switch {
		case chosen>>w&1 != 0:
			st = Selected
		case k.ready>>w&1 == 0:
			st = AtBarrier
		case now.waits && int(now.warp) == w:
			st = Draining
		case st == WarpStates:
			st = k.holds(uint8(w), pc)
		}
		seen |= 1 << st
		k.counters.Warps[w][st]++
		k.warpDid[w] = st
		k.points[k.program[w]][pc].Cycles[st]++
	}
	switch {
	case now.chosen[1].valid:
		slot = SlotDual
	case chosen != 0:
		slot = SlotSingle
	case all == NoCollector && now.waits:
		slot = SlotDrain // the integer queue is full because its head waits
	case all != WarpStates:
		slot = slotOf[all]
	default:
		for s := SlotScoreboard; s < SlotStates; s++ {
			if seen&causes[s] != 0 {
				slot = s
				break
			}
		}
	}
	k.counters.Slots[slot]++
	k.did = slot
}

// causes are the warp states that cause a state of fetch.
var causes = func() (list [SlotStates]uint32) {
	for w, s := range slotOf {
		list[s] |= 1 << w
	}
	return list
}()

// holds returns the state of a ready warp when nothing holds all warps: what its next
// instruction waits for, NotSelected if nothing.
func (k *Core) holds(w, pc uint8) WarpState {
	i := &k.programs[k.program[w]][pc]
	switch {
	case k.cfg.Checked && k.pc[w] >= isa.ProgramWords:
		return Draining
	case !k.mayIssue(w, i):
		on := k.busy[w] & i.watch
		far, near := on&k.far[w] != 0, on&k.near[w] != 0
		for p := range k.fetched { // not marked yet
			if f := &k.fetched[p]; f.valid && f.warp == w {
				j := k.inst(f)
				hit := j.unit == unitLSU && i.named>>j.rd&1 != 0
				far, near = far || hit && j.global, near || hit && !j.global
			}
		}
		switch {
		case far:
			return LongScoreboard
		case near:
			return ShortScoreboard
		}
		return Dependence
	case i.global && k.free[w].n == 0:
		return NoTransaction
	}
	return NotSelected
}

// producers notes which results that the scoreboard waits for come from memory.
func (k *Core) producers(now *cycle) {
	for p, m := range now.marks {
		if m == 0 {
			continue
		}
		w, i := now.markWarp[p], k.inst(&k.decoded[p])
		k.far[w] &^= m
		k.near[w] &^= m
		switch {
		case i.global:
			k.far[w] |= m
		case i.unit == unitLSU:
			k.near[w] |= m
		}
	}
}

// count counts an instruction that executes on some lanes.
func (k *Core) count(s *slot, lanes uint32) {
	n := bits.OnesCount32(lanes)
	k.stats.Executed++
	k.stats.Threads += uint64(n)
	k.counters.Lanes[n]++
	k.ran[s.warp], k.ranPC[s.warp] = true, s.pc
	p := &k.points[s.prog][s.pc]
	p.Executed++
	p.Threads += uint64(n)
}
