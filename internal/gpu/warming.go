package gpu

import (
	"math"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem"
)

// This file: what blocks that are executed without the chip do to its L2, so that those that are
// simulated after them find there what they would have left. They are executed one after another; on the chip they
// run side by side, so their accesses are put in turn: the first one of each block, the second one of each, and so on.
// The L1s, which hold little and are filled anew by the blocks of a wave, and the open rows of the DRAM are left as
// they are; local memory and textures leave no trace (our simplification).

// Warming is the way of blocks that are executed without the chip to its L2.
type Warming struct {
	g                *GPU
	block            uint64 // the one whose accesses came last
	turn             uint32 // the number of its next one
	list             []touch
	order            []int32
	next             []int32 // by turn
	fetched, written uint64
}

// touch is an access to a line.
type touch struct {
	line  uint64
	bytes mem.ByteMask
	turn  uint32
	write bool
}

// mostTouches bounds the accesses that are put in turn together. Our choice: some 40 MB.
const mostTouches = 1 << 20

// See notes what a warp of a block has done.
func (w *Warming) See(block uint64, e *exec.Effects) {
	if e.Addr == nil || e.Inst == nil || e.Space != isa.Global && e.Space != isa.Generic {
		return
	}
	if block != w.block {
		w.block, w.turn = block, 0
	}
	write := e.Inst.Store && e.Inst.Async.Does != isa.AsyncStart // a copy stores to shared memory; Addr is where it reads
	width := uint64(e.Inst.Width)
	t := touch{line: math.MaxUint64, write: write}
	for m := e.Lanes &^ (e.Shared | e.Local); m != 0; m &= m - 1 {
		at := e.Addr[m.First()&31]
		for n := width; n > 0; {
			base := at &^ (mem.LineBytes - 1)
			if base != t.line {
				w.add(t)
				t.line, t.bytes = base, mem.ByteMask{}
			}
			k := min(n, base+mem.LineBytes-at)
			t.bytes.Set(int(at-base), int(k))
			at, n = at+k, n-k
		}
	}
	w.add(t)
	w.turn++
}

func (w *Warming) add(t touch) {
	if t.line == math.MaxUint64 {
		return
	}
	t.turn = w.turn
	w.list = append(w.list, t)
	if len(w.list) == mostTouches {
		w.apply()
	}
}

// Settle makes all that blocks have done since the last call leave its trace in the L2, and returns how many sectors
// would have come from the DRAM and gone there.
func (w *Warming) Settle() (fetched, written uint64) {
	w.apply()
	fetched, written = w.fetched, w.written
	w.fetched, w.written, w.turn = 0, 0, 0
	return fetched, written
}

// apply takes the accesses so far to the L2, by their turns.
func (w *Warming) apply() {
	clear(w.next)
	for i := range w.list {
		for int(w.list[i].turn)+1 >= len(w.next) {
			w.next = append(w.next, 0)
		}
		w.next[w.list[i].turn+1]++
	}
	for i := 1; i < len(w.next); i++ {
		w.next[i] += w.next[i-1]
	}
	w.order = append(w.order[:0], make([]int32, len(w.list))...)
	for i := range w.list {
		at := &w.next[w.list[i].turn]
		w.order[*at] = int32(i)
		*at++
	}
	for _, i := range w.order {
		w.touch(&w.list[i])
	}
	w.list = w.list[:0]
}

// touch takes an access to the L2.
func (w *Warming) touch(t *touch) {
	var sectors uint8
	for i := range mem.LineBytes / mem.SectorBytes {
		if t.bytes.Sector(i) != 0 {
			sectors |= 1 << i
		}
	}
	f, n := w.g.mem.Parts.Touch(t.line, sectors, t.write, t.bytes, w.g.now)
	w.fetched, w.written = w.fetched+uint64(f), w.written+uint64(n)
}
