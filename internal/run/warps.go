package run

import (
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/report"
)

// This file: what the warps of each SM do over time, for a page: samples, since nobody can look
// at the states of thousands of warps in every cycle.

// historyStates bounds the samples of all warp slots (our choice: some 30 kB of a page). While
// they are recorded there are half of them at least.
const historyStates = 1 << 17

// none is the letter of a slot without a warp.
const none = '.'

// warpHistory has samples of the states of warps.
type warpHistory struct {
	chip   *gpu.GPU
	now    []int8
	slots  [][][]byte // by SM and slot, a letter for each sample; nil for slots without a warp so far
	used   int        // slots with a warp so far
	number int        // of samples
	each   int        // rows of the history between two samples, a power of two
	joined int        // rows since the last sample
}

func newWarpHistory(chip *gpu.GPU) *warpHistory {
	return &warpHistory{chip: chip, slots: make([][][]byte, chip.Config().SMs()), each: 1}
}

// row is called after every row of the history.
func (w *warpHistory) row() {
	if w.joined++; w.joined < w.each {
		return
	}
	w.joined = 0
	for sm := range w.slots {
		c := w.chip.Core(sm)
		if c.Resident() > 0 {
			w.look(sm, c)
		}
	}
	w.number++
	for w.used*w.number > historyStates && w.number > 1 {
		w.halve()
		w.each *= 2
	}
}

// look samples the warps of an SM.
func (w *warpHistory) look(sm int, c gpu.Core) {
	if n := c.Slots(); len(w.slots[sm]) < n {
		w.slots[sm] = make([][]byte, n)
		w.now = make([]int8, n)
	}
	w.now = w.now[:len(w.slots[sm])]
	c.Doing(w.now)
	for s, state := range w.now {
		if state < 0 {
			continue
		}
		if w.slots[sm][s] == nil {
			w.used++
		}
		w.slots[sm][s] = append(w.upTo(sm, s), byte('a'+state))
	}
}

// upTo returns the samples of a slot before the current one.
func (w *warpHistory) upTo(sm, slot int) []byte {
	list := w.slots[sm][slot]
	for len(list) < w.number {
		list = append(list, none)
	}
	return list
}

// halve leaves out every other sample.
func (w *warpHistory) halve() {
	for _, slots := range w.slots {
		for s, list := range slots {
			n := 0
			for i := 1; i < len(list); i += 2 {
				list[n] = list[i]
				n++
			}
			if list != nil {
				slots[s] = list[:n]
			}
		}
	}
	w.joined = w.number % 2 * w.each
	w.number /= 2
}

// slower is called when rows have become twice as long.
func (w *warpHistory) slower() {
	if w.each > 1 {
		w.each /= 2
		w.joined /= 2
	} else {
		w.halve()
	}
}

// result returns the samples so far, for rows of some cycles; nil if there are none.
func (w *warpHistory) result(row uint64) *report.WarpHistory {
	if w.used == 0 {
		return nil
	}
	x := &report.WarpHistory{Every: row * uint64(w.each), States: w.chip.States()}
	for sm, slots := range w.slots {
		for s, list := range slots {
			if list != nil {
				x.Slots = append(x.Slots, report.WarpSlot{SM: sm, Slot: s, States: string(w.upTo(sm, s))})
			}
		}
	}
	return x
}
