package ptx

import (
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
	Resident    int       // as in exec.Grid, for functional runs

	// TakenFirst runs the taken side of a branch before the other one. It
	// changes an order that PTX leaves open, and so the time of a run.
	TakenFirst bool
	// Rehearsal says that what the launch does will be undone: it prints nothing,
	// and has the %gridid of the launch that follows.
	Rehearsal bool

	grid uint64 // %gridid, from 1; 0: it has not begun
}

// Options are the conditions of a run, Result is what a launch did.
type (
	Options = exec.Options
	Result  = exec.Result
)
