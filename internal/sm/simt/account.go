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
	issued  uint64    // warps that issued in this cycle
	stalled uint64    // warps that found no issue register in this cycle
	in      [4]uint64 // the states' numbers: a word per bit, a bit per warp
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
	for i := range a.in {
		a.in[i] &^= 1 << s
		a.in[i] |= uint64(NoInstruction) >> i & 1 << s
	}
	a.since[s], a.born[s] = c.tick, c.tick
	a.at[s] = max(c.warps[s].next, 0)
}

// state returns the state of warp s.
func (a *account) state(s int) WarpState {
	return WarpState(a.in[0]>>s&1 | a.in[1]>>s&1<<1 | a.in[2]>>s&1<<2 | a.in[3]>>s&1<<3)
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
func (a *account) step(s, i int32) { a.inst[s] = i }

// charge finds every warp's state of this cycle. A state lasts from the tick
// in which it is found to the one in which the next is found.
func (a *account) charge(c *Core) {
	var now [WarpStates]uint64
	left := c.alive
	now[Selected] = left & a.issued
	left &^= a.issued
	now[Drain] = left & c.done
	left &^= c.done
	if w := left &^ c.ready; w != 0 {
		now[Barrier] = w & c.barrier
		now[Sync] = w &^ c.barrier
		left &= c.ready
	}
	if left&(c.fence|c.atomic|c.copying) != 0 {
		now[Membar] = left & c.fence
		left &^= c.fence
		now[Atomics] = left & c.atomic &^ c.copying
		left &^= c.atomic &^ c.copying
	}
	now[NoInstruction] = left &^ (c.full | c.copying)
	left &= c.full | c.copying
	if b := left & (c.blocked | c.copying); b != 0 {
		long := b & (c.onLong&c.blocked | c.copying)
		now[LongScoreboard] = long
		now[ShortScoreboard] = b & c.onShort &^ long
		now[Wait] = b &^ (long | c.onShort)
		left &^= b
	}
	now[PipeThrottle] = left & a.stalled
	now[NotSelected] = left &^ a.stalled
	// A warp's state stands in four words, a bit of its number in each.
	p0 := now[NotSelected] | now[Wait] | now[LongScoreboard] | now[Barrier] | now[Membar] | now[Drain]
	p1 := now[NoInstruction] | now[Wait] | now[PipeThrottle] | now[Barrier] | now[Atomics] | now[Drain]
	p2 := now[ShortScoreboard] | now[LongScoreboard] | now[PipeThrottle] | now[Barrier]
	p3 := now[Sync] | now[Membar] | now[Atomics] | now[Drain]
	was := &a.in
	changed := (p0 ^ was[0]) | (p1 ^ was[1]) | (p2 ^ was[2]) | (p3 ^ was[3])
	changed |= ^(was[0] | was[1] | was[2] | was[3]) // each issue is charged to its own instruction
	for m := changed & c.alive; m != 0; m &= m - 1 {
		s := bits.TrailingZeros64(m)
		a.add(c, s, a.state(s))
		if n := c.warps[s].next; n >= 0 {
			a.at[s] = n
		}
	}
	a.in = [4]uint64{p0, p1, p2, p3}
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
	at := s * int32(c.words)
	d := dependFixed
	for _, p := range w.k.ops[i].test {
		r := &c.regs[at+p.word]
		switch {
		case r.long&p.mask != 0:
			return dependLong
		case r.short&p.mask != 0:
			d = dependShort
		}
	}
	return d
}
