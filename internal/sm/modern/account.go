package modern

import "math/bits"

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

// planes is the bits of a state's number.
const planes = 4

// account keeps each warp's state, and charges a state when it ends.
type account struct {
	issued    uint64            // warps that issued in this cycle
	throttled [throttles]uint64 // warps that could not, and why
	in        [planes]uint64    // the states' numbers: a word per bit, a bit per warp
	since     [maxWarps]uint64
	born      [maxWarps]uint64
	at        [maxWarps]int32 // instruction to which the state is charged
	inst      [maxWarps]int32 // instruction that issued in this cycle
	slot      [maxSubCores]uint8
}

// Place is what warps did at one instruction of a kernel.
type Place struct {
	// Issues counts the times that it was issued, Lanes the lanes whose guard
	// held then.
	Issues, Lanes uint64
	// States sums the cycles of warps: Selected for those of its issues, the
	// others for the waits in front of it; a barrier's and an exit's own waits
	// come after it.
	States [WarpStates]uint64
}

// Places holds a place for every instruction of a kernel, in the order of its
// work's code.
type Places []Place

// Add adds places of the same kernel.
func (p Places) Add(o Places) {
	for i := range o {
		p[i].Issues += o[i].Issues
		p[i].Lanes += o[i].Lanes
		for st, n := range o[i].States {
			p[i].States[st] += n
		}
	}
}

func (a *account) begin(c *Core, s int) {
	for i := range a.in {
		a.in[i] &^= 1 << s
		a.in[i] |= uint64(NoInstruction) >> i & 1 << s
	}
	a.since[s], a.born[s] = c.tick, c.tick
	a.at[s] = max(c.warps[s].next, 0)
}

// clear begins a cycle.
func (a *account) clear() {
	a.issued = 0
	a.throttled = [throttles]uint64{}
}

// state returns the state of warp s.
func (a *account) state(s int) WarpState {
	st := WarpState(0)
	for i, m := range a.in {
		st |= WarpState(m>>s&1) << i
	}
	return st
}

// end charges the last state of a warp that retires.
func (a *account) end(c *Core, s int) {
	a.add(c, s, a.state(s))
	c.Stats.WarpLife += c.tick - a.born[s]
}

func (a *account) add(c *Core, s int, st WarpState) {
	n := c.tick - a.since[s]
	c.Stats.States[st] += n
	if p := c.warps[s].places; p != nil {
		p[a.at[s]].States[st] += n
	}
	a.since[s] = c.tick
}

// settle charges the states of all warps up to now.
func (a *account) settle(c *Core) {
	for m := c.alive; m != 0; m &= m - 1 {
		s := bits.TrailingZeros64(m)
		a.add(c, s, a.state(s))
	}
}

// step is told that warp s issues instruction i.
func (a *account) step(s, i int32) {
	a.issued |= 1 << s
	a.inst[s] = i
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

// charge finds every warp's state of this cycle. A state lasts from the tick
// in which it is found to the one in which the next is found.
func (a *account) charge(c *Core) {
	w := sorted{left: c.alive}
	w.take(Selected, a.issued)
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

	var in [planes]uint64
	for st, m := range now {
		for i := range in {
			if st>>i&1 != 0 {
				in[i] |= m
			}
		}
	}
	changed := ^(a.in[0] | a.in[1] | a.in[2] | a.in[3]) // each issue is charged to its own instruction
	for i := range in {
		changed |= in[i] ^ a.in[i]
	}
	for m := changed & c.alive; m != 0; m &= m - 1 {
		s := bits.TrailingZeros64(m)
		a.add(c, s, a.state(s))
		if n := c.warps[s].next; n >= 0 {
			a.at[s] = n
		}
	}
	a.in = in
	for m := a.issued & c.alive; m != 0; m &= m - 1 {
		s := bits.TrailingZeros64(m)
		a.at[s] = a.inst[s]
	}
	for k := range c.subs {
		mine := c.subs[k].mine
		slot := uint8(SlotEmpty)
		if a.issued&mine != 0 {
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
