package exec

import "github.com/heddle-sim/heddle/internal/isa"

// This file: what checkers see. An executor calls a Probe where an instruction acts on
// memory or on other threads, in functional and in timing runs alike. Without one it
// decodes kernels without these calls, so that nobody else pays for them.
//
// A probed functional launch runs its blocks in turn on memory itself: on overlays a block
// would not see what others of its batch have written, and neither would the probe.

// Probe sees a launch.
type Probe interface {
	// Begin is called before the first block, with the launch's instructions: the sites of
	// all later calls are indices of code, and source is Traits.Source. Text is Traits.Text.
	Begin(l *Launch, code []*isa.Inst, source func(site int) Where, text func(site int) string)
	// Block is called when a block begins. nil leaves the block unwatched.
	Block(b ProbedBlock) BlockProbe
}

// ProbedBlock is a block as its probe sees it. Its methods may be called during a call of
// the probe only.
type ProbedBlock interface {
	Index() Dim3
	Linear() uint64
	Warps() int
	// LiveLanes returns the lanes of a warp that have not exited.
	LiveLanes(warp int) isa.LaneMask
	SharedBytes() []byte
	// Site is the instruction that a warp executes, as an index of the launch's code.
	Site(warp int) int
	// Where is the place of that instruction, for one lane, and Chain the calls that led
	// there, the innermost first.
	Where(warp, lane int) Where
	Chain(warp int) []Where
}

// BlockProbe sees what the threads of a block do. All calls for one launch come from one
// goroutine, in the order in which things happen; none changes anything about the run.
type BlockProbe interface {
	// Access is called after lanes of a warp have accessed memory.
	Access(a *Access)
	// Arrive is called when lanes of a warp arrive at barrier bar of the block; if waits is
	// set they go on after Open.
	Arrive(warp int, lanes isa.LaneMask, bar int, waits bool)
	// Open is called when the phase of barrier bar is complete.
	Open(bar int)
	// Meet is called when lanes of a warp have executed a barrier of the warp together
	// (bar.warp.sync). Shuffles, votes and the like order no memory.
	Meet(warp int, lanes isa.LaneMask)
	// Fence is called when lanes execute a fence.
	Fence(warp int, lanes isa.LaneMask, order isa.Order, scope isa.Scope)
	// Signal is called after lanes have operated on mbarriers.
	Signal(s *Signal)
	// Group is called when lanes close a group of asynchronous copies or have waited for
	// groups: a.Does, a.Done and a.Leave say which.
	Group(warp int, lanes isa.LaneMask, a isa.Async)
	// Misuse is called for an error of synchronisation that the hardware tolerates.
	Misuse(kind Misuse, warp int, lanes, mask isa.LaneMask)
	// Exit is called when lanes have exited.
	Exit(warp int, lanes isa.LaneMask)
	// End is called when the block has ended, or will not run on.
	End()
}

// HeapProbe is a BlockProbe that sees the device heap too.
type HeapProbe interface {
	// Heap is called after a lane has got a block of bytes from malloc
	// or has given one to free. A malloc that found no room is left out.
	Heap(warp, lane int, addr, bytes uint64, freed bool)
}

// FaultProbe is a BlockProbe that decides about faults.
type FaultProbe interface {
	// Fault is called when an access of a lane is illegal. If it returns true the access is
	// left out, a register that it reads into keeps its value, and the block goes on.
	Fault(f *Fault) bool
}

// SilentProbe is a BlockProbe that wants Access.Silent.
type SilentProbe interface {
	WantsSilent()
}

// SumProbe is a BlockProbe that sees what threads add to floating-point numbers.
type SumProbe interface {
	// Sum is called before lanes of a warp add by an atomic instruction.
	Sum(s *Sum)
}

// Sum is what lanes of a warp add to floating-point numbers in memory, one number a lane. Of an
// instruction on vectors or pairs, each element is a Sum of its own.
type Sum struct {
	Warp  int
	Site  int
	Lanes isa.LaneMask
	Space isa.Space   // Global or Shared
	Addr  *[32]uint64 // of the numbers, in Space
	Bytes int         // of a number
	// Digits is the number of binary digits that the format keeps; a number below the smallest
	// one with all of them may be taken for zero.
	Digits int
	Least  float64
	// Old are the numbers in memory before the instruction, Value what is added.
	Old, Value *[32]float64
}

// FlowProbe is a BlockProbe that follows values through registers. Registers are those of
// isa.Inst; they belong to a frame, which is known by its depth: the number of calls in which
// a lane is.
type FlowProbe interface {
	// Executed is called after lanes of a warp have executed an instruction, and after Access
	// for it; for branches, calls and what waits for other warps before they do it. Active
	// are all lanes that came there, those whose guard is false included. Instructions that
	// name no register, and jumps without a guard, are left out.
	Executed(warp, site int, lanes, active isa.LaneMask, depth int)
	// Shuffled is called instead for a shuffle: lane i takes its value from lane from[i].
	Shuffled(warp, site int, lanes isa.LaneMask, from *[32]uint8, depth int)
	// Enter is called when lanes have called a function, before its parameters are passed.
	Enter(warp int, lanes isa.LaneMask, f *Callee)
	// Passed is called when a call or a return has set a parameter or a result: reg in the
	// frame at depth, or bytes of local memory from addr if reg.File is isa.NoReg.
	Passed(warp int, lanes isa.LaneMask, depth int, reg isa.Reg, addr uint64, bytes int)
}

// Follower is a Probe whose blocks may be FlowProbes, if Follows returns true. Only for such a
// Probe are kernels decoded with the calls of FlowProbe.
type Follower interface {
	Follows() bool
}

// Follows reports whether blocks of p may be FlowProbes; p may be nil.
func Follows(p Probe) bool {
	f, ok := p.(Follower)
	return ok && f.Follows()
}

// RegisterReader is a ProbedBlock whose registers can be read, as is each that calls a
// FlowProbe.
type RegisterReader interface {
	// Zero returns the lanes of a warp in which a register of the function that it executes is
	// zero, or false.
	Zero(warp int, r isa.Reg) isa.LaneMask
}

// MachineProbe is a Probe that sees functional launches of machine code too. There, values are followed in one
// frame for all functions, and calls have no chain; sums and mbarriers are left out, and
// FlowProbe has no Enter and no Passed. A NOP counts as a barrier of the warp's lanes that execute it
// together: it is what compilers leave of __syncwarp() where a warp is converged.
type MachineProbe interface {
	Probe
	// OfMachineCode returns what sees a launch of machine code, nil if nothing does.
	OfMachineCode() Probe
}

// OfMachineCode returns what of p sees launches of machine code, nil if nothing does; p may be nil.
func OfMachineCode(p Probe) Probe {
	if m, ok := p.(MachineProbe); ok {
		return m.OfMachineCode()
	}
	return nil
}

// Callee is what a function that has been called gets.
type Callee struct {
	Depth      int    // of calls: 1 for a function that the kernel calls
	Registers  int    // general registers have numbers below
	Predicates int    // and predicates
	Base       uint64 // of its local memory
	Bytes      uint64
}

// ProbeAs returns p as a T, which is FaultProbe, SilentProbe, SumProbe or FlowProbe: p itself, or if p
// stands for several probes the first of its Parts that is one.
func ProbeAs[T any](p BlockProbe) (t T, ok bool) {
	if t, ok = p.(T); ok {
		return t, true
	}
	if m, several := p.(interface{ Parts() []BlockProbe }); several {
		for _, x := range m.Parts() {
			if t, ok = x.(T); ok {
				return t, true
			}
		}
	}
	return t, false
}

// Access is what one warp instruction does in one space, one access per lane.
type Access struct {
	Warp  int
	Site  int
	Depth int       // of calls
	Inst  *isa.Inst // its Order, Scope and Atomic hold for every lane
	Lanes isa.LaneMask
	Space isa.Space // Global, Shared, Local or Tensor: lanes of a generic access come space by space
	// Addr holds the byte addresses of Lanes, in Space: shared and local ones begin at 0.
	Addr  *[32]uint64
	Bytes int // of a lane, vectors included
	// Read and Write are what it does; both for an atomic operation. Failed are the lanes of a
	// compare-and-swap that stored nothing.
	Read, Write bool
	Failed      isa.LaneMask
	// Silent are the lanes whose store changed nothing: their bytes were there before, or a
	// lane before them in the same instruction has just stored them. Only for a SilentProbe.
	Silent isa.LaneMask
	// Flight is set for an asynchronous copy: the access happens at any time between now and
	// the wait for it, by a thread of its own. By is where its end is observed, and Mbarrier,
	// for ByMbarrier, the address of the barrier in shared memory.
	Flight   bool
	By       isa.Completion
	Mbarrier uint64
	// Issuer is the lane that has started an operation of ByCommit. Lanes are pieces of memory there, not threads.
	Issuer int
	// Peer is whose shared or tensor memory Addr is in, and MbarrierPeer whose the mbarrier.
	Peer, MbarrierPeer Peer
}

// Peer names another block of the cluster, by one more than its linear number; 0 is the block
// that acts.
type Peer uint64

// Tell calls a probe for the access by lanes m in a space. Generic addresses are resolved into
// resolved, and told space by space.
func (a *Access) Tell(p BlockProbe, space isa.Space, m isa.LaneMask, resolved *[32]uint64) {
	if space != isa.Generic {
		a.Space, a.Lanes = space, m
		p.Access(a)
		return
	}
	var in [3]isa.LaneMask // lanes in shared, local and global memory
	generic := a.Addr
	for k := m; k != 0; k &= k - 1 {
		i := k.First() & 31
		switch s, at := isa.Resolve(generic[i]); s {
		case isa.Shared:
			in[0] |= 1 << i
			resolved[i] = at
		case isa.Local:
			in[1] |= 1 << i
			resolved[i] = at
		case isa.Param:
		default:
			in[2] |= 1 << i
			resolved[i] = generic[i]
		}
	}
	a.Addr = resolved
	for i, s := range [...]isa.Space{isa.Shared, isa.Local, isa.Global} {
		if in[i] != 0 {
			a.Space, a.Lanes = s, in[i]
			p.Access(a)
		}
	}
}

// Signal is an operation of lanes on mbarriers in shared memory.
type Signal struct {
	Warp  int
	Site  int
	Does  SignalKind
	Lanes isa.LaneMask
	Addr  *[32]uint64 // of each lane's mbarrier, in shared memory
	// Done are the lanes whose test found the phase complete (SignalWait), or whose operation
	// completed it.
	Done  isa.LaneMask
	Order isa.Order // Release or Acquire by default, Relaxed if the instruction says so
	Scope isa.Scope
	Peer  Peer // whose mbarriers they are
}

// SignalKind is what a Signal does.
type SignalKind uint8

// The operations on mbarriers.
const (
	SignalInit     SignalKind = iota // makes the barrier
	SignalInval                      // ends its life
	SignalArrive                     // arrives, with or without expected bytes
	SignalExpect                     // announces bytes
	SignalBytes                      // counts bytes as arrived
	SignalWait                       // tests or waits
	SignalCopies                     // arrives when the thread's earlier cp.async have completed
	SignalProducts                   // arrives when the warp's earlier products of tcgen05 and copies into tensor memory have completed
)

// Misuse is an error of synchronisation.
type Misuse uint8

// The errors. Lanes are those that execute the instruction, Mask what it names.
const (
	// OutsideMask: lanes are not in their own member mask.
	OutsideMask Misuse = iota
	// NeverCame: lanes were let go although lanes of the mask, which still run, had not come.
	NeverCame
	// FromOutside: a lane reads a register of a lane (mask) that does not take part.
	FromOutside
	// TooEarly: lanes read a register that a product of their warp group has still to write.
	TooEarly
	// LoadTooEarly: lanes read a register that a load of tensor memory has still to write.
	LoadTooEarly
	// TensorKept: the last lanes of a block exit, and it has columns of tensor memory.
	TensorKept
)
