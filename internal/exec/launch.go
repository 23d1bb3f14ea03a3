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
	Type   string // element type as PTX writes it, without the dot; "" in SASS, which has sizes only
	Size   int    // bytes, arrays and vectors whole
	Offset int    // in the parameter block
	Opaque bool   // a texture, sampler or surface reference
}

// Kernel is an entry of a program in any instruction set.
type Kernel interface {
	Name() string
	// Params returns the parameters with their places in the parameter block, whose
	// size is ParamBytes.
	Params() []Param
	ParamBytes() int
	// AddressBytes is the size of an address in parameters: 4 or 8.
	AddressBytes() int
	// MaxThreads is the largest block that the program allows, 0 if it sets no limit.
	MaxThreads() int
	StaticShared() int // bytes of static shared memory of each block
	LocalBytes() int   // bytes of local memory of one activation
	// Registers is the number of 32-bit registers of a thread: exact for machine code,
	// an estimate for PTX.
	Registers() int
	RegistersEstimated() bool
	// Unusable explains why the kernel cannot run; it is empty if the kernel can.
	Unusable() []error
}

// Clustered is a kernel that may give its clusters a size.
type Clustered interface {
	// OwnCluster is the number of blocks of a cluster in each direction; zero: the kernel gives none.
	OwnCluster() Dim3
}

// Launch is one grid to run.
type Launch struct {
	Kernel      Kernel
	Grid, Block Dim3
	Cluster     Dim3   // blocks of a cluster; zero: the kernel's own, or none
	Shared      int    // dynamic shared memory, bytes
	Params      []byte // the parameter block, laid out as Kernel.Params says
	Cooperative bool   // blocks may wait for each other
	Resident    int    // as in Grid, for functional runs
	// Stack is the room of a thread for calls whose depth is not known, in bytes: machine code
	// gets it beyond what its kernel declares; 0: 1 KiB, CUDA's default. PTX needs none.
	Stack int

	// Probe sees what the launch does; nil: nothing does. Not every executor has probes: see
	// Probed.
	Probe Probe
	// Outside, if it is not nil, is called for accesses that leave the variable or the allocation
	// from which their address was made, and land in another one: for each instruction once, in
	// the order in which blocks end. The run goes on. Executors that do not know where addresses
	// come from (machine code) never call it.
	Outside func(*Fault)
	// Coverage counts who goes which way, in executors that can (PTX); nil: nobody counts.
	Coverage *Coverage

	// Order is the order of blocks and warps of a functional run.
	Order Sequence
	// TakenFirst runs the taken side of a branch first. It changes an order that PTX
	// leaves open, and hence the timing of a run.
	TakenFirst bool
	// Rehearsal marks a launch whose effects will be undone: it prints nothing and is
	// not counted.
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

// Require refuses a launch whose block is not the one that its kernel requires; zero requires none.
func (l *Launch) Require(block Dim3) error {
	if block != (Dim3{}) && block != l.Block {
		return l.Refuse("it requires a block of %v (.reqntid), not %v", block, l.Block)
	}
	return nil
}

// Check returns the launch's kernel for an executor whose kernels are of type K, or
// reports what no GPU, or not this kernel, supports. The error is a *LaunchError.
func Check[K Kernel](l *Launch) (k K, err error) {
	k, ok := l.Kernel.(K)
	if !ok {
		return k, l.Refuse("it is not part of the program loaded on this machine")
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
		err = l.Refuse("it allows at most %d threads per block (.maxntid), not %d", k.MaxThreads(), b.Count())
	case len(l.Params) != k.ParamBytes():
		err = l.Refuse("its parameters take %d bytes; got %d", k.ParamBytes(), len(l.Params))
	case len(l.Params) > isa.MaxParams:
		err = l.Refuse("its parameters take %d bytes; the limit is %d", len(l.Params), isa.MaxParams)
	case len(k.Unusable()) > 0:
		err = l.Refuse("%v", errors.Join(k.Unusable()...))
	case l.Shared < 0 || l.Shared > isa.MaxShared-static:
		err = l.Refuse("shared memory per block must be 0 to %d bytes; got %d static and %d dynamic", isa.MaxShared, static, l.Shared)
	}
	if err == nil {
		err = l.CheckCluster()
	}
	return k, err
}

// Machine is a program placed in device memory: what executes its launches.
type Machine interface {
	// Run executes a launch to its end, without timing. Errors: *LaunchError if it cannot
	// start; *Fault, *StuckError or *LimitError of a block; ctx.Err() if cancelled. The
	// result counts what was done even if an error is returned.
	Run(ctx context.Context, l Launch, o Options) (Result, error)
	// NewWork checks a launch and prepares it for a core model. Output of device code goes
	// to out, block by block as they end; nil discards it. The error is a *LaunchError.
	NewWork(l Launch, out io.Writer) (Work, error)
}
