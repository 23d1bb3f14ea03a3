package exec

import (
	"bytes"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: the state that thread blocks of all instruction sets keep: whose turn it
// is, named barriers, the threads' indices.

// MaxBarriers is the number of named barriers of a block (PTX manual, bar;
// CUDA programming guide: 16).
const MaxBarriers = 16

// GroupWarps is the number of warps of a warp group, which begins at a multiple of it (PTX manual,
// wgmma). Warps of a group meet at a barrier of its own.
const GroupWarps = 4

// ClusterBarrier is the place of the cluster's barrier among those of a block, and GroupBarriers of
// those of the warp groups.
const (
	ClusterBarrier = MaxBarriers
	GroupBarriers  = ClusterBarrier + 1
)

// Barrier is a named barrier of a block. It counts lanes; a warp all of whose live
// lanes have arrived counts as 32, following the PTX manual's rule for partial warps.
type Barrier struct {
	Came    []uint32 // per warp: lanes that arrived in this phase
	Again   []uint32 // per warp: lanes that arrived again, with bar.arrive: they count too
	Rounds  int      // threads of earlier arrivals of lanes that arrive for the third time or more
	Need    int      // threads, a multiple of 32; 0: the whole block
	Used    bool     // a thread has arrived in this phase
	Pop     uint32   // threads whose predicate held, for a reduction
	And, Or bool
}

// Size sizes the barrier for a block of the given number of warps and begins a phase.
func (b *Barrier) Size(warps int) {
	for len(b.Came) < warps {
		b.Came, b.Again = append(b.Came, 0), append(b.Again, 0)
	}
	b.Came, b.Again = b.Came[:warps], b.Again[:warps]
	b.Reset()
}

// Reset begins a phase.
func (b *Barrier) Reset() {
	clear(b.Came)
	clear(b.Again)
	b.Need, b.Rounds, b.Used = 0, 0, false
	b.Pop, b.And, b.Or = 0, true, false
}

// Arrive records the arrival of lanes of a warp that expect need threads in all, 0 for the whole
// block. Lanes that arrive again in one phase count again; live and whole are as in Count, for the
// warp. It returns what is wrong, or "": all threads that arrive in one phase must expect the same
// number.
func (b *Barrier) Arrive(id, warp int, lanes, live uint32, whole bool, need int) (wrong string) {
	all := 32 * len(b.Came)
	expected := func(n int) int {
		if n == 0 {
			return all
		}
		return n
	}
	if b.Used && expected(need) != expected(b.Need) {
		return fmt.Sprintf("barrier %d: this thread expects %d threads, others in the same phase expect %d", id, expected(need), expected(b.Need))
	}
	if !b.Used {
		b.Used, b.Need = true, need
	}
	if again := b.Came[warp] & lanes; need != 0 && again != 0 {
		if b.Again[warp]&again != 0 { // for the third time
			b.Rounds += arrived(b.Again[warp], live, whole)
			b.Again[warp] = 0
		}
		b.Again[warp] |= again
	}
	b.Came[warp] |= lanes
	return ""
}

// arrived returns for how many threads the lanes of a warp count that have arrived.
func arrived(lanes, live uint32, whole bool) int {
	switch {
	case lanes == 0:
		return 0
	case whole || live&^lanes == 0:
		return 32
	}
	return bits.OnesCount32(lanes)
}

// Reduce adds the predicates of lanes to a reduction.
func (b *Barrier) Reduce(holds, lanes uint32) {
	holds &= lanes
	b.Pop += uint32(bits.OnesCount32(holds))
	b.And = b.And && holds == lanes
	b.Or = b.Or || holds != 0
}

// Count returns the number of threads that have arrived and the number that can;
// live holds the lanes of each warp that have not exited. With whole, a warp counts
// as soon as one of its lanes has arrived (before sm_70).
func (b *Barrier) Count(live []uint32, whole bool) (came, all int) {
	for i, l := range live {
		if l != 0 {
			all += 32
		}
		came += arrived(b.Came[i], l, whole) + arrived(b.Again[i], l, whole)
	}
	return came + b.Rounds, all
}

// Complete reports whether all threads of the phase have arrived.
func (b *Barrier) Complete(live []uint32, whole bool) bool {
	came, need := b.Needs(live, whole)
	return came >= need
}

// Needs returns the number of threads that have arrived, as Count does, and the number for
// which the barrier waits.
func (b *Barrier) Needs(live []uint32, whole bool) (came, need int) {
	came, need = b.Count(live, whole)
	if b.Need != 0 {
		need = b.Need
	}
	return came, need
}

// Warper is a block as Turns sees it.
type Warper interface {
	// RunWarp lets warp i issue at most the given number of instructions. It returns
	// the number issued, whether the warp did anything, and whether all is well.
	RunWarp(i int, most uint64) (used uint64, moved, ok bool)
	// Over reports whether all threads have exited.
	Over() bool
	// Free releases lanes that wait for others which cannot arrive before them. It
	// reports whether there were any, and whether all is well.
	Free() (moved, ok bool)
	// Met reports, once per occurrence, whether threads have met at a barrier in a
	// block that waits for other blocks in loops.
	Met() bool
}

// Turns schedules the warps of a block in turn: each runs until it waits or has used
// its quantum. A new slice continues the round where the last slice ended.
type Turns struct {
	order Sequence
	next  int
	moved bool // some warp did something in this round

	search *Search // nil: none
	unseen uint64  // instructions since it looked at the end of a round

	patient bool // another block of the cluster may let its lanes go on: Free does not yet
}

// seldom is how many instructions a block issues, at least, before a search looks at the end of a
// round again: its look costs as much as some hundred. Our choice.
const seldom = 256

// Run runs warps in turn until the block ends or has issued budget instructions. It
// ends a slice early when the block's threads have met: if blocks build a barrier
// between them, each must see it open before the first of them reaches the next
// barrier, which may use the same counter.
func (t *Turns) Run(b Warper, warps int, budget, quantum uint64) Status {
	if t.search != nil {
		t.search.at(b, true)
	}
	for {
		for t.next < warps {
			i := int(t.order.At(uint64(t.next), uint64(warps)))
			t.next++
			used, moved, ok := b.RunWarp(i, min(quantum, budget))
			t.moved = t.moved || moved
			if !ok {
				return Failed
			}
			if used >= budget && moved {
				if b.Over() {
					return Finished
				}
				return Stopped
			}
			budget -= used
			t.unseen += used
			if b.Met() {
				if b.Over() {
					return Finished
				}
				return Stopped
			}
		}
		if b.Over() {
			return Finished
		}
		if !t.moved {
			if t.patient {
				t.next = 0
				return Stuck
			}
			moved, ok := b.Free()
			if !moved {
				t.next = 0
				return Stuck
			}
			if !ok { // what lanes did that were let go
				return Failed
			}
			if t.search != nil { // who is let go next is no part of the state
				t.search.changed = true
			}
		}
		t.next, t.moved = 0, false
		if t.search != nil && t.unseen >= seldom {
			t.unseen = 0
			t.search.at(b, false)
		}
	}
}

// Threads fills in the indices of a warp's threads in a block of the given extent and
// returns the lanes that exist.
func Threads(dim Dim3, warp int, at *[3][32]uint32) (live uint32) {
	first := uint32(warp * 32)
	x, y, z := first%dim.X, first/dim.X%dim.Y, first/dim.X/dim.Y
	for i := range 32 { // counts instead of dividing: blocks are begun often
		at[0][i], at[1][i], at[2][i] = x, y, z
		if x++; x < dim.X {
			continue
		}
		if x, y = 0, y+1; y == dim.Y {
			y, z = 0, z+1
		}
	}
	live = ^uint32(0)
	if rest := int(dim.Count()) - 32*warp; rest < 32 {
		live = 1<<rest - 1
	}
	return live
}

// CTA is the state of a thread block that every executor embeds.
type CTA struct {
	Idx    Dim3 // place in the grid
	N      uint64
	Dim    Dim3   // threads
	Grid   Dim3   // blocks
	Shared []byte // shared memory, static and dynamic
	View   *device.View
	Lanes  []uint32 // per warp, the lanes that have not exited
	Bars   [GroupBarriers + isa.MaxThreads/32/GroupWarps]Barrier
	Whole  bool         // warps arrive at barriers as a whole (before sm_70)
	Spins  bool         // the kernel waits for other blocks in loops
	Out    bytes.Buffer // what printf printed

	warnings Warnings
	outside  func(*Fault) // of the launch
	turns    Turns
	seen     *Search
	met      bool // threads have met at a barrier
}

// Start makes it block n of a launch, with the given amount of zeroed shared memory.
// Start of each warp follows.
func (c *CTA) Start(l *Launch, n uint64, shared int, view *device.View) {
	c.Idx, c.N, c.Dim, c.Grid, c.View = l.Grid.At(n), n, l.Block, l.Grid, view
	c.turns, c.seen, c.met = Turns{order: l.Order.within(n)}, nil, false
	c.Out.Reset()
	c.warnings.Reset()
	c.outside = l.Outside
	c.Shared = slices.Grow(c.Shared[:0], shared)[:shared]
	clear(c.Shared)
	warps := (int(l.Block.Count()) + 31) / 32
	c.Lanes = slices.Grow(c.Lanes[:0], warps)[:warps]
	for i := range c.Bars {
		c.Bars[i].Size(warps)
	}
}

// SharedBytes is as in Sharer.
func (c *CTA) SharedBytes() []byte { return c.Shared }

// StartWarp fills in the indices of a warp's threads in the block and returns the
// lanes that exist.
func (c *CTA) StartWarp(warp int, at *[3][32]uint32) (live uint32) {
	c.Lanes[warp] = Threads(c.Dim, warp, at)
	return c.Lanes[warp]
}

// RunAs lets b, which must be the block itself, issue at most budget instructions in
// turns of one quantum.
func (c *CTA) RunAs(b Warper, budget, quantum uint64) Status {
	return c.turns.Run(b, len(c.Lanes), budget, quantum)
}

// Say writes what the block has printed, and reports its warnings; to may be nil.
func (c *CTA) Say(to io.Writer, m *Warner) error {
	c.warnings.Tell(m, c.outside)
	defer c.Out.Reset()
	if to == nil || c.Out.Len() == 0 {
		return nil
	}
	if _, err := to.Write(c.Out.Bytes()); err != nil {
		return fmt.Errorf("writing what the kernel printed: %w", err)
	}
	return nil
}

// Quiet reports whether there is nothing to Say.
func (c *CTA) Quiet() bool { return c.Out.Len() == 0 && len(c.warnings.list) == 0 }

// Warn records an error of the program that a GPU tolerates; m is nil if there is no machine.
func (c *CTA) Warn(m *Warner, at *isa.Inst, kind WarningKind, what func() Fault) {
	if m != nil {
		c.warnings.Add(m, at, kind, what)
	}
}

// Outside records an access for Launch.Outside.
func (c *CTA) Outside(m *Warner, at *isa.Inst, what func() Fault) {
	if m != nil {
		c.warnings.Add(m, at, leftObject, what)
	}
}

// Stray returns the bytes of an access to global memory that is not wholly inside one allocation,
// nil if it is a fault.
func (c *CTA) Stray(m *Warner, at *isa.Inst, addr uint64, size int, write bool, where func() Where) []byte {
	if m == nil || !m.Tolerates(size) {
		return nil
	}
	b := c.View.Stray(addr, size, write)
	if b == nil {
		return nil
	}
	kind := StrayRead
	if write {
		kind = StrayWrite
	}
	c.Warn(m, at, kind, func() Fault { return Fault{Where: where(), What: c.View.Fault(addr, size, write).Error()} })
	return b
}

// Arrive is as Barrier.Arrive, for barrier i. Waits is set if the lanes wait there.
func (c *CTA) Arrive(i, warp int, lanes uint32, need int, waits bool) (wrong string) {
	if s := c.turns.search; s != nil && i < GroupBarriers && (!waits || need != 0 && need != 32*len(c.Lanes)) {
		s.rounds.begun = false // who is in time for this phase depends on whose turn it is
	}
	return c.Bars[i].Arrive(i, warp, lanes, c.Lanes[warp], c.Whole, need)
}

// GoOn notes that lanes of a warp go on at a barrier that opens, without the others of the warp.
func (c *CTA) GoOn() {
	if s := c.turns.search; s != nil {
		s.changed = true // which of them run first depends on counts that are no part of the state
	}
}

// Complete reports whether all threads that barrier i waits for have arrived.
func (c *CTA) Complete(i int) bool { return c.Bars[i].Complete(c.Lanes, c.Whole) }

// Open begins the next phase of barrier i.
func (c *CTA) Open(i int) {
	c.Bars[i].Reset()
	c.met = true
}

// Waiting describes what the threads at barrier i wait for.
func (c *CTA) Waiting(i int) string {
	came, need := c.Bars[i].Needs(c.Lanes, c.Whole)
	if i >= GroupBarriers {
		return fmt.Sprintf("waits for the others of its warp group, of which %d of %d threads have come", came, need)
	}
	return fmt.Sprintf("waits at barrier %d, where %d of %d threads have arrived", i, came, need)
}

// Meeting is as in Meeter.
func (c *CTA) Meeting(i int) (came, need int, missing []isa.LaneMask) {
	b := &c.Bars[i]
	came, need = b.Needs(c.Lanes, c.Whole)
	for w, live := range c.Lanes {
		m := live &^ b.Came[w]
		if c.Whole && b.Came[w] != 0 {
			m = 0
		}
		missing = append(missing, isa.LaneMask(m))
	}
	return came, need, missing
}

// Met is as in Warper.
func (c *CTA) Met() bool {
	met := c.met
	c.met = false
	return met && c.Spins
}

// Over reports whether all threads have exited.
func (c *CTA) Over() bool {
	for _, live := range c.Lanes {
		if live != 0 {
			return false
		}
	}
	return true
}

// Index returns the block's index in the grid.
func (c *CTA) Index() Dim3 { return c.Idx }

// Linear returns the block's number in the grid.
func (c *CTA) Linear() uint64 { return c.N }

// Warps returns the number of warps.
func (c *CTA) Warps() int { return len(c.Lanes) }

// mostWaits bounds the number of waits reported for one block.
const mostWaits = 40

// FewWaits shortens the list of waits to a readable length.
func FewWaits(list []string) []string {
	if len(list) > mostWaits {
		list = append(list[:mostWaits], fmt.Sprintf("… and %d more", len(list)-mostWaits))
	}
	return list
}
