package ptx

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec"
)

// This file: program errors that a GPU tolerates. Each instruction is reported once,
// and the run continues.

// warner is the machine's, nil if there is no machine.
func (b *block) warner() *exec.Warner {
	if b.im.m == nil {
		return nil
	}
	return &b.im.m.Warner
}

// warn records an error of lane i of the running fragment.
func (w *warp) warn(kind exec.WarningKind, i int, what func() string) {
	w.blk.Warn(w.blk.warner(), &w.fr.f.info[w.pc], kind, func() exec.Fault { return exec.Fault{Where: w.where(i), What: what()} })
}

// stray returns the bytes of lane i's access to global memory that is not wholly inside
// one allocation, nil after a fault.
func (w *warp) stray(i, size int, write bool) []byte {
	b := w.blk.Stray(w.blk.warner(), &w.fr.f.info[w.pc], w.addr[i], size, write, func() exec.Where { return w.where(i) })
	if b == nil {
		w.globalFault(i, size, write)
	}
	return b
}

// lacking warns about lanes m that execute an instruction with a member mask that lacks
// them.
func (w *warp) lacking(mask, m uint32) {
	i := bits.TrailingZeros32(m &^ mask)
	w.warn(exec.SyncMask, i, func() string {
		return fmt.Sprintf("member mask %#08x lacks lane %d, which executes the instruction: a thread must be in its own mask, or the result is undefined", mask, i)
	})
}

// absent warns about lanes m that read the registers of lane j, which does not take part.
func (w *warp) absent(i, j int) {
	w.misuse(exec.FromOutside, 1<<i, 1<<j)
	w.warn(exec.AbsentLane, i, func() string {
		why := "does not execute the instruction with it"
		if w.live>>j&1 == 0 {
			why = "has exited, or lies beyond the end of the block"
		}
		return fmt.Sprintf("lane %d reads a register of lane %d, which %s: the value is undefined", i, j, why)
	})
}
