package exec

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/heddle-sim/heddle/internal/isa"
)

// Param is one parameter of a kernel.
type Param struct {
	Name   string
	Type   string // element type as PTX writes it, without the dot; "" in SASS, which knows sizes only
	Size   int    // bytes, arrays and vectors whole
	Offset int    // in the parameter block
	Opaque bool   // a texture, sampler or surface reference
}

// Kernel is an entry of a program, in whatever instruction set.
type Kernel interface {
	Name() string
	// Params returns the parameters with their places in the parameter block,
	// which has ParamBytes bytes.
	Params() []Param
	ParamBytes() int
	// AddressBytes is the size of an address in parameters: 4 or 8.
	AddressBytes() int
	// MaxThreads is the largest block that the program allows, 0 if it says
	// nothing.
	MaxThreads() int
	StaticShared() int // bytes of shared memory that every block has
	LocalBytes() int   // bytes of local memory of one activation
	// Registers is the number of 32-bit registers of a thread: exact in machine
	// code, in PTX an estimate.
	Registers() int
	RegistersEstimated() bool
	// Unusable says why the kernel cannot run; it is empty for one that can.
	Unusable() []error
}

// Launch is one grid to run.
type Launch struct {
	Kernel      Kernel
	Grid, Block Dim3
	Cluster     Dim3   // zero: the kernel's own, or none
	Shared      int    // dynamic shared memory, bytes
	Params      []byte // the parameter block, laid out as Kernel.Params says
	Cooperative bool   // blocks may wait for each other
	Resident    int    // as in Grid, for functional runs

	// TakenFirst runs the taken side of a branch before the other one. It
	// changes an order that PTX leaves open, and so the time of a run.
	TakenFirst bool
	// Rehearsal says that what the launch does will be undone: it prints nothing
	// and does not count.
	Rehearsal bool
}

// Refuse returns the error of a launch that cannot start.
func (l *Launch) Refuse(format string, args ...any) error {
	e := &LaunchError{Msg: fmt.Sprintf(format, args...)}
	if l.Kernel != nil {
		e.Kernel = l.Kernel.Name()
	}
	return e
}

// Check returns the launch's kernel for an executor whose kernels are of type K,
// or says what no GPU, or not this kernel, can take. The error is a *LaunchError.
func Check[K Kernel](l *Launch) (k K, err error) {
	k, ok := l.Kernel.(K)
	if !ok {
		return k, l.Refuse("it is not of the program that the machine has")
	}
	g, b, static := l.Grid, l.Block, k.StaticShared()
	switch {
	case min(g.X, g.Y, g.Z, b.X, b.Y, b.Z) == 0:
		err = l.Refuse("grid %v and block %v must be at least 1 in every dimension", g, b)
	case b.X > isa.MaxThreads || b.Y > isa.MaxThreads || b.Z > isa.MaxBlockZ || b.Count() > isa.MaxThreads:
		err = l.Refuse("block %v has more than %d threads, or more than %d in z", b, isa.MaxThreads, isa.MaxBlockZ)
	case g.X > isa.MaxGridX || g.Y > isa.MaxGridYZ || g.Z > isa.MaxGridYZ:
		err = l.Refuse("grid %v is larger than (%d,%d,%d)", g, isa.MaxGridX, isa.MaxGridYZ, isa.MaxGridYZ)
	case k.MaxThreads() > 0 && b.Count() > uint64(k.MaxThreads()):
		err = l.Refuse("it allows at most %d threads in a block (.maxntid), not %d", k.MaxThreads(), b.Count())
	case len(l.Params) != k.ParamBytes():
		err = l.Refuse("its parameters take %d bytes, not %d", k.ParamBytes(), len(l.Params))
	case len(l.Params) > isa.MaxParams:
		err = l.Refuse("its parameters take %d bytes; a kernel has at most %d", len(l.Params), isa.MaxParams)
	case l.Cluster.X > 1 || l.Cluster.Y > 1 || l.Cluster.Z > 1:
		err = l.Refuse("clusters of more than one block are not supported")
	case len(k.Unusable()) > 0:
		err = l.Refuse("%v", errors.Join(k.Unusable()...))
	case l.Shared < 0 || l.Shared > isa.MaxShared-static:
		err = l.Refuse("a block has 0 to %d bytes of shared memory: %d static and %d dynamic ones are not within that", isa.MaxShared, static, l.Shared)
	}
	return k, err
}

// Machine is a program placed in device memory: what executes its launches.
type Machine interface {
	// Run executes a launch to its end, without time. Errors: *LaunchError if it
	// cannot start; *Fault, *StuckError or *LimitError if a block came to one;
	// ctx.Err() if it was cancelled. The result counts what was done also when an
	// error is returned.
	Run(ctx context.Context, l Launch, o Options) (Result, error)
	// NewWork checks a launch and makes it ready to be run by a core model. What
	// device code prints goes to out, block by block as they end; nil discards it.
	// The error is a *LaunchError.
	NewWork(l Launch, out io.Writer) (Work, error)
}
