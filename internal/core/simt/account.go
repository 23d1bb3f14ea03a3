package simt

import "github.com/heddle-sim/heddle/internal/core"

// WarpState is the state of a resident warp in a cycle. The names follow Nsight
// Compute.
type WarpState uint8

// The states.
const (
	Selected        WarpState = iota // issued
	NotSelected                      // could have issued, but its scheduler chose another
	NoInstruction                    // its buffer is empty: fetch, decode, or a branch just taken
	Wait                             // for a result of fixed latency
	ShortScoreboard                  // for shared memory or an SFU
	LongScoreboard                   // for a load through a cache
	PipeThrottle                     // no issue register of its unit is free
	Barrier                          // at a barrier of its block
	Sync                             // lanes wait for other lanes of the same warp
	Membar                           // at a fence
	Atomics                          // for the replies to atomics
	Drain                            // all lanes have ended; stores or the pipeline are not empty
	WarpStates                       // number of states
)

var stateNames = [WarpStates]string{
	"selected", "not_selected", "no_instruction", "wait", "short_scoreboard", "long_scoreboard",
	"pipe_throttle", "barrier", "sync", "membar", "atomics", "drain",
}

// String returns the name used in reports.
func (s WarpState) String() string { return stateNames[s] }

// waitStates are the states that are waits for instructions, one bit each.
const waitStates = 1<<Wait | 1<<ShortScoreboard | 1<<LongScoreboard

// account is what warp states are derived from.
type account struct {
	core.States

	stalled uint64         // warps that found no issue register in this cycle
	slot    [maxWarps]slot // outcome for each scheduler
}

// charge determines the state of every warp in this cycle.
func (a *account) charge(c *Core) {
	var now [WarpStates]uint64
	left := c.alive
	now[Selected] = left & a.Issued
	left &^= a.Issued
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
	// A state's number is spread over four words, one bit in each.
	p0 := now[NotSelected] | now[Wait] | now[LongScoreboard] | now[Barrier] | now[Membar] | now[Drain]
	p1 := now[NoInstruction] | now[Wait] | now[PipeThrottle] | now[Barrier] | now[Atomics] | now[Drain]
	p2 := now[ShortScoreboard] | now[LongScoreboard] | now[PipeThrottle] | now[Barrier]
	p3 := now[Sync] | now[Membar] | now[Atomics] | now[Drain]
	core.Enter(&a.States, &c.Residents, c.tick, c.alive, [core.Planes]uint64{p0, p1, p2, p3, 0}, c.Stats.States[:])
}

// waitsOn returns the kind of instruction that produces the registers that a blocked
// warp waits for; the slowest counts.
func (c *Core) waitsOn(s int32) depend {
	w := &c.warps[s]
	i := w.ib[w.ibHead]
	if i < 0 {
		return dependFixed
	}
	at := s * int32(c.words)
	d := dependFixed
	for _, p := range w.K.ops[i].test {
		r := &c.regs[at+p.Word]
		switch {
		case r.long&p.Mask != 0:
			return dependLong
		case r.short&p.Mask != 0:
			d = dependShort
		}
	}
	return d
}
