package simt

import "math/bits"

// WarpState is what a resident warp does in a cycle. The names follow Nsight
// Compute.
type WarpState uint8

// The states.
const (
	Selected        WarpState = iota // issued
	NotSelected                      // could have issued; its scheduler took another
	NoInstruction                    // its buffer is empty: fetch and decode, or a branch just taken
	Wait                             // for a result of fixed latency
	ShortScoreboard                  // for shared memory or an SFU
	LongScoreboard                   // for a load through a cache
	PipeThrottle                     // no issue register of its unit is free
	Barrier                          // at a barrier of its block
	Sync                             // lanes wait for others of the same warp
	Membar                           // at a fence
	Atomics                          // for the replies to atomics
	Drain                            // all lanes have ended; stores or the pipeline are not empty
	WarpStates                       // how many there are
)

var stateNames = [WarpStates]string{
	"selected", "not_selected", "no_instruction", "wait", "short_scoreboard", "long_scoreboard",
	"pipe_throttle", "barrier", "sync", "membar", "atomics", "drain",
}

// String returns the name used in reports.
func (s WarpState) String() string { return stateNames[s] }

// account keeps each warp's state, and charges a state when it ends.
type account struct {
	issued  uint64 // warps that issued in this cycle
	stalled uint64 // warps that found no issue register in this cycle
	in      [WarpStates]uint64
	since   [maxWarps]uint64
	born    [maxWarps]uint64
	at      [maxWarps]int32 // instruction to which the state is charged
	inst    [maxWarps]int32 // instruction that issued in this cycle
	slot    [maxWarps]slot  // of each scheduler
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
	a.in[NoInstruction] |= 1 << s
	a.since[s], a.born[s] = c.tick, c.tick
	a.at[s] = max(c.warps[s].next, 0)
}

// end charges the last state of a warp that retires.
func (a *account) end(c *Core, s int) {
	for st := range WarpStates {
		if a.in[st]>>s&1 != 0 {
			a.in[st] &^= 1 << s
			a.add(c, s, st)
		}
	}
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
	for st := range WarpStates {
		for m := a.in[st] & c.alive; m != 0; m &= m - 1 {
			a.add(c, bits.TrailingZeros64(m), st)
		}
	}
}

// step is told that warp s issues instruction i.
func (a *account) step(s, i int32) { a.inst[s] = i }

// charge finds every warp's state of this cycle. A state lasts from the tick
// in which it is found to the one in which the next is found.
func (a *account) charge(c *Core) {
	var now [WarpStates]uint64
	left := c.alive
	take := func(st WarpState, m uint64) {
		now[st] = left & m
		left &^= m
	}
	take(Selected, a.issued)
	take(Drain, c.done)
	if w := left &^ c.ready; w != 0 {
		take(Barrier, w&c.barrier)
		take(Sync, w)
	}
	take(Membar, c.fence)
	take(Atomics, c.atomic&^c.copying)
	take(NoInstruction, ^c.full&^c.copying)
	if b := left & (c.blocked | c.copying); b != 0 {
		take(LongScoreboard, c.onLong&c.blocked|c.copying)
		take(ShortScoreboard, b&c.onShort)
		take(Wait, b)
	}
	take(PipeThrottle, a.stalled)
	now[NotSelected] = left
	for st := range WarpStates {
		m := a.in[st] &^ now[st]
		if st == Selected {
			m = a.in[st] // each issue is charged to its own instruction
		}
		for m &= c.alive; m != 0; m &= m - 1 {
			s := bits.TrailingZeros64(m)
			a.add(c, s, st)
			if n := c.warps[s].next; n >= 0 {
				a.at[s] = n
			}
		}
		a.in[st] = now[st]
	}
	for m := a.issued & c.alive; m != 0; m &= m - 1 {
		s := bits.TrailingZeros64(m)
		a.at[s] = a.inst[s]
	}
}

// waitsOn tells what kind of instruction produces the registers that a blocked
// warp waits for; the slowest counts.
func (c *Core) waitsOn(s int32) depend {
	w := &c.warps[s]
	i := w.ib[w.ibHead]
	if i < 0 {
		return dependFixed
	}
	at := int(s) * c.words
	d := dependFixed
	for _, r := range w.k.ops[i].tests {
		k, b := at+int(r>>6), uint64(1)<<(r&63)
		switch {
		case c.long[k]&b != 0:
			return dependLong
		case c.short[k]&b != 0:
			d = dependShort
		}
	}
	return d
}
