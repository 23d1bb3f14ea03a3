package ptx

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: program errors that a GPU tolerates. Each instruction is reported once,
// and the run continues.

// widestStray bounds a tolerated access, in bytes: loads and stores are no larger;
// larger accesses are bulk copies, whose bounds are explicit.
const widestStray = 32

// Warn registers a function that is called for errors that are not faults, once per
// instruction and kind, in the order in which blocks end.
func (m *Machine) Warn(tell func(*exec.Warning)) { m.tell = tell }

// TolerateStrays lets reads and writes outside every allocation, but near a live one,
// reach the memory that a GPU has there (device.View.Stray). Every other illegal access
// remains a fault.
func (m *Machine) TolerateStrays() { m.lenient = true }

// warning is what a block reports when it ends.
type warning struct {
	at *isa.Inst
	exec.Warning
}

// warn records an error of lane i of the running fragment.
func (w *warp) warn(kind exec.WarningKind, i int, what func() string) {
	m, at := w.blk.im.m, &w.fr.f.info[w.pc]
	same := func(x warning) bool { return x.at == at && x.Kind == kind }
	// The machine's list is not written while instructions are executed.
	if m == nil || m.tell == nil || slices.ContainsFunc(m.told, same) || slices.ContainsFunc(w.blk.warnings, same) {
		return
	}
	w.blk.warnings = append(w.blk.warnings, warning{at, exec.Warning{Kind: kind, Fault: exec.Fault{Where: w.where(i), What: what()}}})
}

// tellWarnings reports the block's warnings that no earlier block has reported.
func (b *block) tellWarnings() {
	m := b.im.m
	for _, x := range b.warnings {
		if !slices.ContainsFunc(m.told, func(y warning) bool { return y.at == x.at && y.Kind == x.Kind }) {
			m.told = append(m.told, warning{x.at, exec.Warning{Kind: x.Kind}})
			m.tell(&x.Warning)
		}
	}
	b.warnings = b.warnings[:0]
}

// stray returns the bytes of lane i's access to global memory that is not wholly inside
// one allocation, nil after a fault.
func (w *warp) stray(i, size int, write bool) []byte {
	v, a := w.blk.View, w.addr[i]
	if m := w.blk.im.m; m == nil || !m.lenient || size > widestStray {
		w.globalFault(i, size, write)
		return nil
	}
	b := v.Stray(a, size, write)
	if b == nil {
		w.globalFault(i, size, write)
		return nil
	}
	kind := exec.StrayRead
	if write {
		kind = exec.StrayWrite
	}
	w.warn(kind, i, func() string { return v.Fault(a, size, write).Error() })
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
	w.warn(exec.AbsentLane, i, func() string {
		why := "does not execute the instruction with it"
		if w.live>>j&1 == 0 {
			why = "has exited, or lies beyond the end of the block"
		}
		return fmt.Sprintf("lane %d reads a register of lane %d, which %s: the value is undefined", i, j, why)
	})
}
