package ptx

import (
	"io"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// Param is one parameter of a kernel.
type Param struct {
	Name   string
	Type   ptx.Type // element type
	Size   int      // bytes, arrays and vectors whole
	Align  int      // bytes
	Offset int      // in the parameter block
	Opaque bool     // a texture, sampler or surface reference
}

// Launch is one grid to run.
type Launch struct {
	Kernel      *Kernel
	Grid, Block exec.Dim3
	Cluster     exec.Dim3 // zero: the kernel's own, or none
	Shared      int       // dynamic shared memory, bytes
	Params      []byte    // the parameter block, laid out as Kernel.Params says
	Cooperative bool      // blocks may wait for each other

	// TakenFirst runs the taken side of a branch before the other one. It
	// changes an order that PTX leaves open, and so the time of a run.
	TakenFirst bool
}

// Options are the conditions of a run; they change no result.
type Options struct {
	Threads  int       // worker goroutines; 0 means as many as there are cores
	MaxInsts uint64    // warp instructions per machine, all launches together; 0 means no limit
	Out      io.Writer // where printf of device code goes; nil discards it

	// Progress, if set, is called now and then from one goroutine with the
	// blocks done so far, their total, and the warp instructions so far.
	Progress func(blocks, total, warpInsts uint64)
}

// Result counts what a launch did. It is filled as far as the run came when
// an error ended it.
type Result struct {
	Blocks      uint64 // blocks that ran to their end
	WarpInsts   uint64 // instructions issued, once per warp (or per part of a diverged one)
	ThreadInsts uint64 // active lanes whose guard held, summed over those
}
