package ptx

import (
	"github.com/heddle-sim/heddle/internal/device"
	"github.com/heddle-sim/heddle/internal/exec"
)

// This file: reads a little outside of every allocation. GPUs map memory in
// pages, so that such a read finds something there, and programs that never use
// what they read so run well; not a few do.

// strayReach is how far from an allocation a read may be and still find a page
// mapped: NVIDIA's drivers map memory in pages of 2 MiB (what
// cuMemGetAllocationGranularity returns).
const strayReach = 2 << 20

// widestStray bounds a tolerated read, in bytes: loads take no more; larger ones
// are bulk copies, which name their bounds.
const widestStray = 32

// TolerateStrayReads makes reads outside of every allocation, but near one that
// is not freed, return zeros. Of each block that does so the first such read is
// told, in the order in which blocks end. Everything else that is illegal
// remains a fault.
func (m *Machine) TolerateStrayReads(tell func(*exec.Fault)) { m.stray = tell }

// strayRead returns what lane i reads where no allocation has all of the bytes:
// those that one has, and zeros; nil after a fault.
func (w *warp) strayRead(i, size int) []byte {
	v, a := w.blk.view, w.addr[i]
	f := v.Fault(a, size, false)
	if m := w.blk.im.m; f == nil || m == nil || m.stray == nil || size > widestStray || !nearMiss(f) {
		w.globalFault(i, size, false)
		return nil
	}
	b := make([]byte, size)
	for k := range b {
		x, _ := v.Load8(a + uint64(k))
		b[k] = byte(x)
	}
	if w.blk.stray == nil {
		w.blk.stray = &exec.Fault{Where: w.where(i), What: f.Error()}
	}
	return b
}

// nearMiss reports whether a GPU would find memory there.
func nearMiss(f *device.Fault) bool {
	n := f.Nearest
	return f.Kind == device.OutOfBounds && n.Size > 0 && !n.Freed && f.Addr+f.Size+strayReach > n.Addr && f.Addr < n.Addr+n.Size+strayReach
}

// tellStray tells of the block's first stray read.
func (b *block) tellStray() {
	if b.stray != nil {
		b.im.m.stray(b.stray)
		b.stray = nil
	}
}
