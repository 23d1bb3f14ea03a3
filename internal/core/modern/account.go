package modern

import "github.com/heddle-sim/heddle/internal/core"

// WarpState is what a resident warp does in a cycle. The names follow Nsight
// Compute.
type WarpState uint8

// The states.
const (
	Selected        WarpState = iota // issued
	NotSelected                      // could have issued; its sub-core took another
	NoInstruction                    // its buffer is empty
	Wait                             // its stall counter holds it, or a result of fixed latency
	ShortScoreboard                  // for shared memory, constants, an SFU
	LongScoreboard                   // for memory behind a cache
	MathThrottle                     // its pipe is taken
	LGThrottle                       // the memory queue is full; it accesses global or local memory
	MIOThrottle                      // the memory queue or another is full
	Dispatch                         // the stage behind issue, or the issue port, is taken
	Barrier                          // at a barrier of its block
	Membar                           // at a memory barrier
	BranchResolving                  // its buffer is empty since it has branched
	IMCMiss                          // for a constant of an instruction of fixed latency
	Drain                            // all lanes have ended; something of it is under way
	MiscStall                        // lanes wait for others of the same warp
	WarpStates                       // how many there are
)

var stateNames = [WarpStates]string{
	"selected", "not_selected", "no_instruction", "wait", "short_scoreboard", "long_scoreboard", "math_pipe_throttle", "lg_throttle",
	"mio_throttle", "dispatch", "barrier", "membar", "branch_resolving", "imc_miss", "drain", "misc",
}

// String returns the name used in reports.
func (s WarpState) String() string { return stateNames[s] }

// account is what the states of warps are found from.
type account struct {
	core.States

	throttled [throttles]uint64 // warps that could not issue in this cycle, and why
	slot      [maxSubCores]uint8
	key       grounds // of the last cycle
}

// grounds is all that the states of warps in a cycle depend on.
type grounds struct {
	alive, issued, done, ready, has, stalled, waits, long, fixed, fence, imc, copying, barrier, branch uint64

	throttled [throttles]uint64
}

// clear begins a cycle.
func (a *account) clear() {
	a.Issued = 0
	a.throttled = [throttles]uint64{}
}

// closest is the order in which a warp's state explains why a sub-core has not
// issued: the nearer to issue the first (our choice).
var closest = [...]WarpState{
	NotSelected, Dispatch, MathThrottle, MIOThrottle, LGThrottle, IMCMiss, Wait, ShortScoreboard, LongScoreboard,
	BranchResolving, NoInstruction, Barrier, Membar, MiscStall, Drain,
}

// sorted is warps by their state, and those not yet sorted in.
type sorted struct {
	left uint64
	now  [WarpStates]uint64
}

// take sorts in those of a set that are left.
func (w *sorted) take(st WarpState, m uint64) {
	w.now[st] |= w.left & m
	w.left &^= m
}

// charge finds every warp's state of this cycle.
func (a *account) charge(c *Core) {
	key := grounds{c.alive, a.Issued, c.done, c.ready, c.has, c.stalled, c.waits, c.long, c.fixed, c.fence, c.imc, c.copying, c.barrier, c.branch,
		a.throttled}
	if key == a.key && a.Issued == 0 {
		for k := range c.subs {
			c.Stats.Slots[k][a.slot[k]]++
		}
		return
	}
	a.key = key
	w := sorted{left: c.alive}
	w.take(Selected, a.Issued)
	w.take(Drain, c.done)
	if w.left&^c.ready != 0 {
		w.take(Barrier, c.barrier&^c.ready)
		w.take(MiscStall, ^c.ready)
	}
	w.take(Membar, c.fence)
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

	var in [core.Planes]uint64
	for st, m := range now {
		for i := range in {
			if st>>i&1 != 0 {
				in[i] |= m
			}
		}
	}
	core.Enter(&a.States, &c.Residents, c.tick, c.alive, in, c.Stats.States[:])
	for k := range c.subs {
		mine := c.subs[k].mine
		slot := uint8(SlotEmpty)
		if a.Issued&mine != 0 {
			slot = uint8(Selected)
		} else if c.alive&mine != 0 {
			for _, st := range closest {
				if now[st]&mine != 0 {
					slot = uint8(st)
					break
				}
			}
		}
		a.slot[k] = slot
		c.Stats.Slots[k][slot]++
	}
}
