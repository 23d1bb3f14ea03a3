package exec

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: functional runs whose blocks wait in loops for what never comes, such as a barrier
// of the grid that a block has left out.
//
// What a block does depends on its own state and on global memory. If each block that runs
// returns to a state that it was in before, and none of them has changed global memory
// since, all of them loop for ever. The search costs time: it begins when no block has begun or
// ended for long, and changes no result.

// Search is a search for an endless loop of one block.
type Search struct {
	changed bool // global memory, or what the block sees has another cause
	loops   bool // the block has returned to a state
	// Where a slice ends decides whose turn is next, and what is left of a slice is no part of the
	// state. So states are compared where slices begin; and where rounds of the warps end, as long
	// as the warps pass nothing to each other and meet only at barriers of all of them, so that whose
	// turn it is does not matter: each does the same from one barrier to the next.
	slices, rounds cycle

	see func(*Effects) // what is done with each step instead; nil for a search
}

// cycle looks for a state that comes back (Brent's algorithm).
type cycle struct {
	begun bool
	state uint64 // the one to which it may return
	age   int    // states since then
	most  int    // after which another one is taken
}

// returns reports whether a state is the one that has been kept, and may keep this one.
func (c *cycle) returns(state uint64) bool {
	switch c.age++; {
	case c.begun && state == c.state:
		return true
	case !c.begun || c.age == c.most:
		*c = cycle{begun: true, state: state, most: max(1, 2*c.most)}
	}
	return false
}

// Saw notes what a step of the block did. Memory that the host sees may change at any time.
func (s *Search) Saw(e *Effects, v *device.View) {
	switch {
	case s.see != nil:
		s.see(e)
		return
	case e.Timed || e.Inst != nil && e.Inst.Async.Does == isa.AsyncStart:
		s.changed = true
		return
	case s.changed || e.Inst == nil:
		return
	case e.Wrote && (e.Space == isa.Shared || e.Space == isa.Generic && e.Shared != 0):
		s.rounds.begun = false
	}
	switch {
	case e.Space == isa.Shared || e.Space == isa.Local || e.Space == isa.Param:
		return
	case e.Wrote && (e.Space != isa.Generic || e.Lanes != e.Shared|e.Local):
		s.changed = true
		return
	case e.Addr == nil || e.Space != isa.Global && e.Space != isa.Generic:
		return
	}
	for m := e.Lanes &^ (e.Shared | e.Local); m != 0; m &= m - 1 {
		s.changed = s.changed || !v.Private(e.Addr[m.First()&31])
	}
}

// Stater is a block whose state is a number.
type Stater interface {
	// State summarises all that decides what the block does next, but for global memory; false
	// if that cannot be said now.
	State() (uint64, bool)
}

// at looks at the state of the block where a slice begins, or else after each of its warps had a
// turn.
func (s *Search) at(b any, slice bool) {
	if s.changed || s.loops {
		return
	}
	x, ok := b.(Stater)
	if !ok {
		s.changed = true
		return
	}
	h, ok := x.State()
	if !ok {
		return
	}
	if slice {
		s.loops = s.slices.returns(h)
	} else {
		s.loops = s.rounds.returns(h)
	}
}

// Digest summarises numbers and bytes.
type Digest uint64

// Add adds a number.
func (d Digest) Add(v uint64) Digest {
	hi, lo := bits.Mul64(uint64(d)^v^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return Digest(hi ^ lo + bits.RotateLeft64(uint64(d), 23))
}

// Bytes adds bytes.
func (d Digest) Bytes(b []byte) Digest {
	d = d.Add(uint64(len(b)))
	for ; len(b) >= 8; b = b[8:] {
		d = d.Add(binary.LittleEndian.Uint64(b))
	}
	for _, x := range b {
		d = d.Add(uint64(x))
	}
	return d
}

// State summarises the state of a block that all executors keep.
func (c *CTA) State() Digest {
	d := Digest(uint64(c.turns.next)).Bytes(c.Shared)
	if c.turns.moved {
		d = d.Add(1)
	}
	for i := range c.Bars {
		b := &c.Bars[i]
		if !b.Used {
			continue
		}
		d = d.Add(uint64(i)).Add(uint64(b.Need)).Add(uint64(b.Rounds)).Add(uint64(b.Pop))
		if b.And {
			d = d.Add(1)
		}
		if b.Or {
			d = d.Add(2)
		}
		for k, m := range b.Came {
			d = d.Add(uint64(m) | uint64(b.Again[k])<<32)
		}
	}
	return d
}

// Watch begins a search in the block, or ends it: nil.
func (c *CTA) Watch(s *Search) { c.turns.search = s }

// Searching returns the search in the block, or what sees its steps; nil if there is neither.
func (c *CTA) Searching() *Search {
	if c.turns.search != nil {
		return c.turns.search
	}
	return c.seen
}

// Seer returns what sees the block's steps, nil if nothing does or there is a search.
func (c *CTA) Seer() *Search {
	if c.turns.search != nil {
		return nil
	}
	return c.seen
}

// See has f called with the number of the block and each of its steps that access memory, and maybe with others, but not
// with those in which there is a search.
func (c *CTA) See(f func(block uint64, e *Effects)) {
	c.seen = &Search{see: func(e *Effects) { f(c.N, e) }}
}

// hunt is the search in all blocks that run.
type hunt struct {
	first  uint64 // rounds without a block that begins or ends before the first search
	share  uint64 // a search lasts for this part of the rounds before it
	rounds uint64 // without such a block
	next   uint64 // when the next search begins
	until  uint64 // when it ends; 0: there is none
	list   []*Search
}

// When searches begin. Our choice: a search takes several times as long as the rounds without
// it. Slices of kernels that wait in loops are short, and a loop need not end with them.
func newHunt(spins bool) hunt {
	if spins {
		return hunt{first: 64, share: 4}
	}
	return hunt{first: 8, share: 16}
}

// round looks at the blocks after all of them had a turn. Still says that none has begun or
// ended, and that none can begin. It reports whether all of them loop for ever.
func (h *hunt) round(under []GridBlock, still bool) bool {
	if !still {
		h.end(under)
		h.rounds, h.next = 0, h.first
		return false
	}
	if h.until != 0 {
		forever, changed := true, false
		for _, s := range h.list {
			forever, changed = forever && s.loops, changed || s.changed
		}
		if forever && !changed {
			return true
		}
		if changed || h.rounds >= h.until {
			h.end(under)
			h.next = 2 * h.rounds
		}
	}
	if h.rounds++; h.until == 0 && h.rounds >= max(h.next, h.first) {
		h.until = h.rounds + max(1, h.rounds/h.share)
		h.list = h.list[:0]
		for _, b := range under {
			s := &Search{}
			b.Watch(s)
			h.list = append(h.list, s)
		}
	}
	return false
}

// free lets lanes go on in the first block that has some which wait for others of their warp, as all
// that can run loops for ever. It ends the search and returns the block, nil if there is none, and
// whether all is well.
func (h *hunt) free(under []GridBlock) (b GridBlock, ok bool) {
	h.end(under)
	h.rounds, h.next = 0, h.first
	for _, b := range under {
		if moved, ok := b.Free(); moved {
			return b, ok
		}
	}
	return nil, true
}

// end ends the search.
func (h *hunt) end(under []GridBlock) {
	if h.until == 0 {
		return
	}
	for _, b := range under {
		b.Watch(nil)
	}
	h.until = 0
}

// endless describes a run whose blocks loop for ever.
func (r *gridRun) endless(under []GridBlock, begun uint64) *StuckError {
	e := &StuckError{Kernel: r.Kernel, Block: under[0].Index(), Ended: r.res.Blocks, Total: r.Blocks * r.per()}
	e.Waits = []string{"every warp that can run repeats the same instructions with the same values, and none changes memory"}
	if begun < r.Blocks {
		e.Waits = append(e.Waits, fmt.Sprintf("%d of %d blocks cannot start until others end; blocks that wait for them wait forever", (r.Blocks-begun)*r.per(), e.Total))
	}
	if r.res.Blocks > 0 {
		e.Waits = append(e.Waits, fmt.Sprintf("%d of %d blocks have ended; blocks that wait for them wait forever", r.res.Blocks, e.Total))
	}
	for _, b := range under {
		if len(e.Waits) > mostWaits {
			break
		}
		for _, s := range b.Waits() {
			e.Waits = append(e.Waits, fmt.Sprintf("block %v, %s", b.Index(), s))
		}
		e.Loops = append(e.Loops, b.Loops()...)
	}
	e.Waits = FewWaits(e.Waits)
	return e
}
