package compile

import (
	"github.com/heddle-sim/heddle/internal/compile/machine"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: how many registers a kernel may have.

// LeastRegisters is the smallest bound on registers that is kept, as for calls with NVIDIA's convention,
// which names registers up to R23.
const LeastRegisters = 24

// bounded is the machine as a kernel may use it: with the registers that .maxnreg allows, and with which
// the blocks that .maxntid and .minnctapersm promise fit on an SM. Where the kernel says nothing of the
// kind, most bounds them, if it is not 0; ptxas, too, prefers what the kernel says.
func bounded(fn *ptx.Func, m *machine.Machine, most int) *machine.Machine {
	own := *m
	limit := m.Registers + m.Reserved
	threads := max(volume(fn.MaxNTID), volume(fn.ReqNTID))
	if threads > 0 {
		warps := (threads + 31) / 32
		each := (warps + m.SubCores - 1) / m.SubCores // of a sub-core
		limit = min(limit, m.File/m.SubCores/32/each/max(1, fn.MinNCTA)/m.Granule*m.Granule)
	}
	if fn.MaxNReg > 0 {
		limit = min(limit, fn.MaxNReg)
	}
	if threads == 0 && fn.MaxNReg == 0 && most > 0 {
		limit = min(limit, most)
	}
	own.Registers = min(m.Registers, max(limit, LeastRegisters)-m.Reserved)
	return &own
}

// volume is the number of threads of a block, 0 if it is not given.
func volume(d [3]int) int {
	if d[0] == 0 {
		return 0
	}
	return d[0] * max(1, d[1]) * max(1, d[2])
}
