package core

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem"
)

// MaxStates is the maximum number of states of a warp.
const MaxStates = 1 << Planes

// Planes is the number of bits of a state's number.
const Planes = 5

// Place holds the counters of one instruction of a kernel.
type Place struct {
	// Issues counts its issues, Lanes the lanes whose guard was true in them.
	Issues, Lanes uint64
	// States sums the cycles of warps by state: state 0 are its issues, the others the
	// waits before it, and for a barrier or an exit the waits after it.
	States [MaxStates]uint64

	// Requests counts its accesses of warps to global and local memory, Sectors the 32-byte
	// sectors that they touch, and Least the sectors that as many bytes would fill.
	Requests, Sectors, Least uint64
	// Conflicts sums the cycles that bank conflicts add to its accesses to shared memory,
	// and that the addresses of lanes after the first add to its loads of constants.
	Conflicts uint64
	// Taken and Split count the issues of a conditional branch that all of its active lanes
	// take, and those that only some take.
	Taken, Split uint64
}

// Access counts an access of a warp to global or local memory: the sectors that it touches,
// and the bytes of its lanes.
func (p *Place) Access(sectors, bytes int) {
	p.Requests++
	p.Sectors += uint64(sectors)
	p.Least += uint64(bytes+mem.SectorBytes-1) / mem.SectorBytes
}

// Branch counts an issue of a conditional branch; its guard holds in the taken ones of the
// active lanes.
func (p *Place) Branch(active, taken isa.LaneMask) {
	switch taken {
	case 0:
	case active:
		p.Taken++
	default:
		p.Split++
	}
}

// Branches reports whether an instruction is a conditional branch.
func Branches(in *isa.Inst) bool { return in.Guarded && in.Flow == isa.FlowBranch }

// Places has a place for every instruction of a kernel, in the order of its work's
// code.
type Places []Place

// Add adds places of the same kernel.
func (p Places) Add(o Places) {
	for i := range o {
		p[i].Issues += o[i].Issues
		p[i].Lanes += o[i].Lanes
		p[i].Requests += o[i].Requests
		p[i].Sectors += o[i].Sectors
		p[i].Least += o[i].Least
		p[i].Conflicts += o[i].Conflicts
		p[i].Taken += o[i].Taken
		p[i].Split += o[i].Split
		for st, n := range o[i].States {
			p[i].States[st] += n
		}
	}
}

// Ledger holds places by kernel. Cores that run one after another may share one: what
// they count adds up, and the host's caches hold it once.
type Ledger struct {
	by    map[Kernel]Places
	spare []Places
	edges map[Kernel]*Edges // nil unless they are kept
}

// NewLedger returns an empty ledger.
func NewLedger() *Ledger { return &Ledger{by: map[Kernel]Places{}} }

// Books is the part of a core that keeps places, in a ledger if it has one.
type Books struct {
	ledger *Ledger `state:"-"` // it is empty between launches
}

// KeepPlaces makes the core account the states of warps by instruction, in a ledger.
func (b *Books) KeepPlaces(l *Ledger) { b.ledger = l }

// PlacesOf returns the places of a kernel with n instructions; nil without KeepPlaces.
func (b *Books) PlacesOf(k Kernel, n int) Places {
	if b.ledger == nil {
		return nil
	}
	return b.ledger.of(k, n)
}

// TakePlaces adds a kernel's places to sum, which has a place for each of its
// instructions, and forgets them: a further core with the same ledger adds nothing. No
// block of the kernel may be launched on these cores later.
func (b *Books) TakePlaces(k Kernel, sum Places) {
	if b.ledger != nil {
		b.ledger.take(k, sum)
	}
}

func (l *Ledger) of(k Kernel, n int) Places {
	p := l.by[k]
	if p == nil {
		if i := len(l.spare) - 1; i >= 0 && cap(l.spare[i]) >= n {
			p, l.spare = l.spare[i][:n], l.spare[:i]
			clear(p)
		} else {
			p = make(Places, n)
		}
		l.by[k] = p
	}
	return p
}

// Read adds a kernel's places so far to sum, which has a place for each of its instructions.
func (l *Ledger) Read(k Kernel, sum Places) { sum.Add(l.by[k]) }

func (l *Ledger) take(k Kernel, sum Places) {
	if p := l.by[k]; p != nil {
		sum.Add(p)
		delete(l.by, k)
		l.spare = append(l.spare, p)
	}
}

// States holds the states of a core's warps, numbers below MaxStates, and charges the
// time in a state when it ends. State 0 means that the warp has issued.
type States struct {
	Issued uint64 // warps that issued in this cycle

	in    [Planes]uint64 // the states' numbers: one word per bit, one bit per warp
	since [maxWarps]uint64
	born  [maxWarps]uint64
	at    [maxWarps]int32 // instruction to which the state is charged
	inst  [maxWarps]int32 // instruction that issued in this cycle

	ends *ends `state:"-"` // nil unless edges are kept
}

// Begin notes that a warp is launched in slot s at a tick, in a state and before
// instruction next, -1 for none.
func (a *States) Begin(s int, tick uint64, state uint8, next int32) {
	for i := range a.in {
		a.in[i] &^= 1 << s
		a.in[i] |= uint64(state) >> i & 1 << s
	}
	a.since[s], a.born[s] = tick, tick
	a.at[s] = max(next, 0)
}

// Of returns the state of the warp in slot s.
func (a *States) Of(s int) uint8 {
	return uint8(a.in[0]>>s&1 | a.in[1]>>s&1<<1 | a.in[2]>>s&1<<2 | a.in[3]>>s&1<<3 | a.in[4]>>s&1<<4)
}

// Doing sets the state of the warp in each slot, -1 where no warp is alive.
func (a *States) Doing(alive uint64, to []int8) {
	for s := range to {
		to[s] = -1
		if alive>>s&1 != 0 {
			to[s] = int8(a.Of(s))
		}
	}
}

// Step notes that the warp in slot s issues instruction i.
func (a *States) Step(s, i int32) {
	a.Issued |= 1 << s
	a.inst[s] = i
}

// Last returns the instruction that the warp in slot s issued in this cycle, -1
// for none.
func (a *States) Last(s int) int32 {
	if a.Issued>>s&1 == 0 {
		return -1
	}
	return a.inst[s]
}

// End charges the last state of a warp that retires to sum and to its places,
// and returns how long it was on the core.
func (a *States) End(s int, tick uint64, sum []uint64, p Places) (life uint64) {
	a.charge(s, tick, sum, p)
	return tick - a.born[s]
}

func (a *States) charge(s int, tick uint64, sum []uint64, p Places) {
	n := tick - a.since[s]
	st := a.Of(s)
	sum[st] += n
	if p != nil {
		p[a.at[s]].States[st] += n
	}
	if a.ends != nil {
		a.ends.wait(s, st, n)
	}
	a.since[s] = tick
}

// Enter gives the warps of a set the states of this cycle, one word per bit of their
// numbers and one bit per warp. A state lasts from the tick in which it is entered to
// the tick in which the next is entered. Enter is not a method of States because
// methods have no type parameters.
func Enter[K any](a *States, r *Residents[K], tick, set uint64, in [Planes]uint64, sum []uint64) {
	changed := ^(a.in[0] | a.in[1] | a.in[2] | a.in[3] | a.in[4]) // each issue is charged to its own instruction
	for i := range in {
		changed |= in[i] ^ a.in[i]
	}
	for m := changed & set; m != 0; m &= m - 1 {
		s := bits.TrailingZeros64(m)
		w := r.Warps[s]
		a.charge(s, tick, sum, w.Places)
		if w.Edges != nil {
			a.ends.explain(s, a.at[s], w.Edges)
		}
		if w.Next >= 0 {
			a.at[s] = w.Next
		}
	}
	a.in = in
	for m := a.Issued & set; m != 0; m &= m - 1 {
		s := bits.TrailingZeros64(m)
		a.at[s] = a.inst[s]
		if a.ends != nil {
			a.ends.by[s], a.ends.open[s] = -1, 0
		}
	}
}

// Settle charges the states of the warps of a set up to a tick.
func Settle[K any](a *States, r *Residents[K], tick, set uint64, sum []uint64) {
	for m := set; m != 0; m &= m - 1 {
		s := bits.TrailingZeros64(m)
		a.charge(s, tick, sum, r.Warps[s].Places)
	}
}

// AddTo adds the time of the warps of a set in their states, up to a tick, that has not been charged.
func (a *States) AddTo(sum *[MaxStates]uint64, tick, set uint64) {
	for m := set; m != 0; m &= m - 1 {
		s := bits.TrailingZeros64(m)
		sum[a.Of(s)] += tick - a.since[s]
	}
}
