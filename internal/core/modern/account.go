package modern

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/core"
)

// WarpState is the state of a resident warp in a cycle. The names follow Nsight
// Compute.
type WarpState uint8

// The states.
const (
	Selected        WarpState = iota // issued
	NotSelected                      // could have issued, but its sub-core chose another
	NoInstruction                    // its buffer is empty
	Wait                             // for its stall counter, or for a result of fixed latency
	ShortScoreboard                  // for shared memory, constants or an SFU
	LongScoreboard                   // for a load through a cache
	MathThrottle                     // its pipe is busy
	LGThrottle                       // to access global or local memory: the memory queue is full
	MIOThrottle                      // the memory queue or another queue is full
	Dispatch                         // the stage after issue, or the issue port, is busy
	Barrier                          // at a barrier of its block
	Membar                           // at a memory barrier
	BranchResolving                  // its buffer is empty because it has branched
	IMCMiss                          // for a constant of an instruction of fixed latency
	Drain                            // all lanes have ended; some of its instructions or stores are in flight
	MiscStall                        // lanes wait for other lanes of the same warp
	Mbarrier                         // for the phase of an mbarrier (try_wait)
	ClusterBarrier                   // at the barrier of its cluster
	BulkGroup                        // for groups of bulk copies
	Product                          // for products of its warp group
	GridDependency                   // for the launch before its own (griddepcontrol.wait)
	WarpStates                       // number of states
)

var stateNames = [WarpStates]string{
	"selected", "not_selected", "no_instruction", "wait", "short_scoreboard", "long_scoreboard", "math_pipe_throttle", "lg_throttle",
	"mio_throttle", "dispatch", "barrier", "membar", "branch_resolving", "imc_miss", "drain", "misc",
	"mbarrier", "cluster_barrier", "bulk_group", "wgmma", "grid_dependency",
}

// String returns the name used in reports.
func (s WarpState) String() string { return stateNames[s] }

// waitStates returns the states that are waits for instructions, one bit each. Where control
// bits guard dependences, a warp in Wait counts down.
func (k *Kernel) waitStates() uint32 {
	m := uint32(1<<ShortScoreboard | 1<<LongScoreboard)
	if !k.ControlBits {
		m |= 1 << Wait
	}
	return m
}

// account is what warp states are derived from.
type account struct {
	core.States

	throttled [throttles]uint64 // warps that could not issue in this cycle, by reason
	slot      [maxSubCores]uint8
	key       grounds // of the last cycle, unless a warp issued in it, or waited for what Hopper added
	stale     bool    // one did
	same      uint64  // cycles like the last one that are not in Stats.Slots yet
}

// grounds is everything that the states of warps in a cycle depend on.
type grounds struct {
	alive, done, ready, has, stalled, waits, long, fixed, fence, imc, copying, barrier, branch uint64

	throttled [throttles]uint64
}

// clear starts a cycle.
func (a *account) clear() {
	a.Issued = 0
	a.throttled = [throttles]uint64{}
}

// closest is the order in which warp states explain why a sub-core has not issued: the
// state closest to issue comes first (our choice).
var closest = [...]WarpState{
	NotSelected, Dispatch, MathThrottle, MIOThrottle, LGThrottle, IMCMiss, Wait, ShortScoreboard, LongScoreboard,
	BranchResolving, NoInstruction, Product, BulkGroup, Mbarrier, Barrier, ClusterBarrier, Membar, MiscStall, Drain,
	GridDependency,
}

// sorted holds warps by state; left are those without a state so far.
type sorted struct {
	left uint64
	now  [WarpStates]uint64
}

// take gives the remaining warps of a set a state.
func (w *sorted) take(st WarpState, m uint64) {
	w.now[st] |= w.left & m
	w.left &^= m
}

// some is 1 for a set that is not empty.
func some(m uint64) uint32 { return uint32((m | -m) >> 63) }

// charge determines the state of every warp in this cycle.
func (a *account) charge(c *Core) {
	waits := c.held.all() // for what Hopper added
	if a.Issued|waits == 0 {
		key := grounds{c.alive, c.done, c.ready, c.has, c.stalled, c.waits, c.long, c.fixed, c.fence, c.imc, c.copying, c.barrier, c.branch, a.throttled}
		if !a.stale && key == a.key {
			a.again(c)
			return
		}
		a.key = key
	}
	a.stale = a.Issued|waits != 0
	a.flush(c)
	w := sorted{left: c.alive}
	w.take(Selected, a.Issued)
	w.take(Drain, c.done)
	if waits != 0 {
		w.take(Mbarrier, c.mbar)
		w.take(ClusterBarrier, c.cluster)
		w.take(BulkGroup, c.bulk)
		w.take(Product, c.product)
		w.take(Barrier, c.opening)
		w.take(GridDependency, c.grid)
		w.take(MiscStall, c.wants)
	}
	if w.left&^c.ready != 0 {
		w.take(Barrier, c.barrier&^c.ready)
		w.take(MiscStall, ^c.ready)
	}
	w.take(Membar, c.fence|c.orders)
	w.take(LongScoreboard, c.copying)
	w.take(IMCMiss, c.imc)
	w.take(BranchResolving, c.branch&^c.has)
	w.take(Wait, c.stalled)
	w.take(NoInstruction, ^c.has)
	if w.left&c.waits != 0 {
		w.take(LongScoreboard, c.waits&c.long)
		w.take(Wait, c.waits&c.fixed)
		w.take(ShortScoreboard, c.waits)
	}
	w.take(MathThrottle, a.throttled[throttleMath])
	w.take(LGThrottle, a.throttled[throttleLG])
	w.take(MIOThrottle, a.throttled[throttleMIO])
	w.take(Dispatch, a.throttled[throttleDispatch])
	w.take(NotSelected, ^uint64(0))
	now := &w.now
	hopper := now[Mbarrier] | now[ClusterBarrier] | now[BulkGroup] | now[Product] | now[GridDependency]
	// A state's number is spread over five words, one bit in each.
	in := [core.Planes]uint64{
		now[NotSelected] | now[Wait] | now[LongScoreboard] | now[LGThrottle] | now[Dispatch] | now[Membar] | now[IMCMiss] | now[MiscStall] |
			now[ClusterBarrier] | now[Product],
		now[NoInstruction] | now[Wait] | now[MathThrottle] | now[LGThrottle] | now[Barrier] | now[Membar] | now[Drain] | now[MiscStall] |
			now[BulkGroup] | now[Product],
		now[ShortScoreboard] | now[LongScoreboard] | now[MathThrottle] | now[LGThrottle] | now[BranchResolving] | now[IMCMiss] | now[Drain] | now[MiscStall] |
			now[GridDependency],
		now[MIOThrottle] | now[Dispatch] | now[Barrier] | now[Membar] | now[BranchResolving] | now[IMCMiss] | now[Drain] | now[MiscStall],
		hopper,
	}
	core.Enter(&a.States, &c.Residents, c.tick, c.alive, in, c.Stats.States[:])
	// The states that some warp is in, by their place in closest.
	occur := some(now[NotSelected]) | some(now[Dispatch])<<1 | some(now[MathThrottle])<<2 | some(now[MIOThrottle])<<3 |
		some(now[LGThrottle])<<4 | some(now[IMCMiss])<<5 | some(now[Wait])<<6 | some(now[ShortScoreboard])<<7 |
		some(now[LongScoreboard])<<8 | some(now[BranchResolving])<<9 | some(now[NoInstruction])<<10 | some(now[Barrier])<<14 |
		some(now[Membar])<<16 | some(now[MiscStall])<<17 | some(now[Drain])<<18
	if hopper != 0 {
		occur |= some(now[Product])<<11 | some(now[BulkGroup])<<12 | some(now[Mbarrier])<<13 | some(now[ClusterBarrier])<<15 | some(now[GridDependency])<<19
	}
	for k := range c.subs {
		mine := c.subs[k].mine
		slot := uint8(SlotEmpty)
		if a.Issued&mine != 0 {
			slot = uint8(Selected)
		} else if c.alive&mine != 0 {
			for m := occur; m != 0; m &= m - 1 {
				if st := closest[bits.TrailingZeros32(m)]; now[st]&mine != 0 {
					slot = uint8(st)
					break
				}
			}
		}
		a.slot[k] = slot
		c.Stats.Slots[k][slot]++
	}
}

// again counts a cycle in which every warp is in the state of the last one.
func (a *account) again(c *Core) {
	a.same++
	if c.alive == 0 { // nobody need call Sync
		a.flush(c)
	}
}

// flush adds the cycles that again has counted to the sub-cores' counters.
func (a *account) flush(c *Core) {
	if a.same > 0 {
		for k := range c.subs {
			c.Stats.Slots[k][a.slot[k]] += a.same
		}
		a.same = 0
	}
}
