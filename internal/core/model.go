package core

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/param"
)

// This file: what a core model is. A model registers itself; machines choose it by
// name, and the chip drives its SMs without knowing which model they are of.

// Model is a core model.
type Model struct {
	// Name is what a machine's file calls it.
	Name string
	// Params returns its parameters, to be filled from the table of the machine's
	// file that has the model's name. Whole says that they have values that make a
	// core; else a file has to give those that have no default.
	Params func() Params
	Whole  bool
	// Compat returns the switches among the parameters for behaviour of GPGPU-Sim,
	// to be filled from the model's table of [compat]; nil if it has none.
	Compat func(Params) any
	// Tables are the tables of a machine's file, beside its own, that go with the
	// parameters when they are taken over from another machine.
	Tables []string
	// Options returns the options of other simulators' files that set several of its
	// parameters; those that set one stand in its tag. Finish, which may be nil, sets
	// what depends on several options, with chosen if the machine has this core.
	// ChosenBy is an option by which a file chooses the model.
	Options  func() []param.Option
	Finish   func(g param.Given, chosen bool) error
	ChosenBy string
	// States are the names of the states of warps, by their numbers; state 0 is to
	// have issued. Stages are those of the pipeline that Records tell of.
	States, Stages []string
}

var models []*Model

// Register adds a model. It is for the init of packages.
func Register(m *Model) {
	if ModelOf(m.Name) != nil || len(m.States) > MaxStates || len(m.Stages) > MaxStages {
		panic("core: model " + m.Name)
	}
	models = append(models, m)
}

// Models returns all models, in the order in which they were registered.
func Models() []*Model { return models }

// ModelOf returns the model of a name, nil if there is none.
func ModelOf(name string) *Model {
	for _, m := range models {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// Names returns the names of states or stages, of which there are n.
func Names[T ~uint8](n T, of func(T) string) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = of(T(i))
	}
	return list
}

// Params are a machine's values for a core model: a pointer to a struct of
// parameters, as package param has them.
type Params interface {
	// Settings returns the settings of a core with these values on a machine.
	Settings(m *Machine) Settings
}

// Checked is offered by Params whose values may contradict each other. Check gives
// each contradiction to bad, with the key that is the first to be looked at.
type Checked interface {
	Check(m *Machine, bad func(key, format string, a ...any))
}

// Described is offered by Params from which figures follow that one looks for on
// a data sheet, or that the model works out: Peaks and Depths give them to add.
// Clock is that of the SMs in hertz.
type Described interface {
	Peaks(m *Machine, clock int64, add func(name, format string, a ...any))
	Depths(add func(name, format string, a ...any))
}

// ChipWide is offered by Params with settings that are for the whole chip.
type ChipWide interface {
	// ChipWide reports whether memory answers at once, and whether lanes that are off
	// count for nothing; see gpu.Config.
	ChipWide() (perfectMemory, gatedLanes bool)
}

// Shape is what a machine gives an SM of any model. Settings embed it.
type Shape struct {
	// SMs is the number of SMs of the GPU, on which the layout of local memory
	// depends.
	SMs int
	// Warps is the number of warp slots, at most 64, and Blocks that of resident
	// blocks (-gpgpu_shader_core_pipeline / 32, -gpgpu_shader_cta).
	Warps, Blocks int
	// Registers is the number of 32-bit registers, Shared the shared memory in
	// bytes (-gpgpu_shader_registers, -gpgpu_shmem_size).
	Registers, Shared int
	// RegisterGranule is what registers per thread are rounded up to, WarpGranule
	// what the number of warps is rounded down to whose registers an SM holds; 0
	// and 1 do not.
	RegisterGranule, WarpGranule int
	// SharedGranule is what a block's shared memory is rounded up to in bytes,
	// after SharedReserved bytes that the system takes of every block; 0 and 1 do
	// not round.
	SharedGranule, SharedReserved int
	// Barriers is how many named barriers a block can have, 0 for no limit here
	// (-gpgpu_num_cta_barriers).
	Barriers int
	// OneBlockAtLeast lets a block in that the limits forbid
	// (-gpgpu_ignore_resources_limitation).
	OneBlockAtLeast bool
	// L1D, L1C, L1T and L1I are the caches (-gpgpu_cache:dl1,
	// -gpgpu_const_cache:l1, -gpgpu_tex_cache:l1, -gpgpu_cache:il1).
	L1D, L1C, L1T, L1I cache.Config
	// LocalBase is where local memory lies in the physical address space.
	// LocalSlots lays it out by the thread slots of all SMs, the same for every
	// kernel. Off: by the blocks that can be resident, those of neighbouring SMs
	// side by side (-gpgpu_local_mem_map 0 and 1).
	LocalBase  uint64
	LocalSlots bool
}

// Base returns the shape. It is how those who know only Settings come to it.
func (s *Shape) Base() *Shape { return s }

// L1Path is how an SM comes to its L1D, as the machine's [l1d] says it. Models
// that have parameters of their own for it leave it alone.
type L1Path struct {
	// L1Latency is the cycles from entry into the L1D's queue to the look-up
	// (-gpgpu_l1_latency).
	L1Latency int
	// L1Banks is the number of L1D banks, L1BankBytes their interleaving and
	// L1BankHash the function that picks one (-gpgpu_l1_banks*).
	L1Banks, L1BankBytes int
	L1BankHash           cache.IndexKind
	// GlobalSkipsL1 sends global accesses past the L1D (-gpgpu_gmem_skip_L1D).
	GlobalSkipsL1 bool
	// FlushL1 invalidates the L1D at memory barriers (-gpgpu_flush_l1_cache; the
	// end of a kernel is the GPU's business).
	FlushL1 bool
}

// Machine is what a machine says of its SMs outside of their model's parameters.
type Machine struct {
	Shape
	L1Path
	// DataCaches are the L1Ds that SMs can have, by what launches prefer.
	DataCaches []cache.Config
	// Architecture is the vendor's name of the generation.
	Architecture string
}

// Limit says what bounds the number of resident blocks.
type Limit uint8

// The limits.
const (
	ByThreads Limit = iota
	ByShared
	ByRegisters
	ByBlocks
	ByGrid // the grid is too small to bring more blocks to an SM
)

var limitNames = [...]string{"threads", "shared memory", "registers", "blocks", "grid"}

// String returns the name used in reports.
func (l Limit) String() string { return limitNames[l] }

// RoundUp returns the first multiple that is not less than n.
func RoundUp(n, to int) int { return (n + to - 1) / to * to }

// SharedOf returns the shared memory that a block takes of an SM.
func (s *Shape) SharedOf(bytes int) int {
	return RoundUp(bytes+s.SharedReserved, max(1, s.SharedGranule))
}

// Fits returns how many blocks fit on an SM whose registers are enough for so many
// warps, and what stops the next one; ties go to the first in the order of the
// limits. Without registers there is no limit on them.
func (s *Shape) Fits(threads, shared, registers int, enough func(registers int) int) (int, Limit) {
	warps := (threads + 31) / 32
	n, by := s.Warps/warps, ByThreads
	if b := s.SharedOf(shared); b > 0 && s.Shared/b < n {
		n, by = s.Shared/b, ByShared
	}
	if registers > 0 {
		if m := enough(RoundUp(registers, s.RegisterGranule)) / warps; m < n {
			n, by = m, ByRegisters
		}
	}
	if s.Blocks < n {
		n, by = s.Blocks, ByBlocks
	}
	if n == 0 && s.OneBlockAtLeast && warps <= s.Warps {
		n = 1
	}
	return n, by
}

// Settings are the immutable settings of a core.
type Settings interface {
	Model() *Model
	// Base returns what the machine gives: Shape has it.
	Base() *Shape
	// Clone returns a copy.
	Clone() Settings
	// Check reports the first contradiction, nil if there is none.
	Check() error
	// Occupancy returns how many blocks of a kernel fit on an SM, and what stops
	// the next one.
	Occupancy(threads, registers, shared int) (int, Limit)
	// Caches returns the settings of all caches of an SM.
	Caches() []*cache.Config
	// CodeBytes is what an instruction takes in instruction caches that takes so
	// many bytes in the program's addresses.
	CodeBytes(inst int) int
	// Prepare makes a launch ready for the cores.
	Prepare(w exec.Work, o KernelOptions) (Kernel, error)
	// New returns SM id, idle.
	New(id int, env Env) (SM, error)
}

// ControlBits is offered by Settings of a model that obeys the control bits of a
// program that has any.
type ControlBits interface {
	// FixedLatency is the cycles from the issue of an instruction of a class to
	// that of a consumer of its result, where that is fixed.
	FixedLatency(c isa.Class) int
	// Guard says what guards dependences, by control bits or without.
	Guard(bits bool) Guard
}

// Guard is what guards the dependences of instructions, and what that costs.
type Guard struct {
	Mechanism string
	Consumers int // readers of a register that scoreboards count; 0 for control bits
	// Warp and SM are its bits for a warp and for all warps of an SM; Percent
	// relates them to the register file.
	Warp, SM int
	Percent  float64
}

// KernelOptions are what a launch decides beyond its Work.
type KernelOptions struct {
	// Registers per thread; 0 is the work's estimate.
	Registers int
	// MaxBlocks is an upper bound on an SM's blocks, 0 for none; it is how a small
	// grid is spread over all SMs.
	MaxBlocks int
	// CodeBase is where the kernel's code lies in the space of instruction
	// addresses. Kernels with different code need different places.
	CodeBase uint64
	// InstBytes is the size of an instruction: number i of Work.Code has byte
	// address i·InstBytes. A power of two; 0 is for the model to say.
	InstBytes int
}

// Kernel is a launch made ready for the cores of one GPU. It is shared and never
// changes while they run it.
type Kernel interface{ Info() *Fit }

// Fit is what all models know of a launch that is ready; their kernels embed it.
type Fit struct {
	Work exec.Work
	// MaxBlocks is how many blocks an SM takes, LimitedBy why no more.
	MaxBlocks int
	LimitedBy Limit
	// Warps is the number of warps of a block, Registers those of a thread, Shared
	// the bytes of shared memory of a block.
	Warps, Registers, Shared int
	// ControlBits reports whether control bits guard its dependences, not
	// scoreboards.
	ControlBits bool
	// Base is where its code lies, Shift the logarithm to base 2 of an
	// instruction's bytes.
	Base  uint64
	Shift uint
	// Need is what a block takes of a core.
	Need Need
}

// Info returns it.
func (f *Fit) Info() *Fit { return f }

// Padded is the number of threads of a block, rounded up to warps.
func (f *Fit) Padded() int { return 32 * f.Warps }

// Refuse returns an *exec.LaunchError about a launch.
func Refuse(w exec.Work, format string, a ...any) error {
	return &exec.LaunchError{Kernel: w.Name(), Msg: fmt.Sprintf(format, a...)}
}

// NewFit finds out how a launch fits on cores of some settings. The error is a
// *exec.LaunchError if no SM could ever take one of its blocks.
func NewFit(s Settings, w exec.Work, o KernelOptions) (Fit, error) {
	if o.InstBytes < 1 || o.InstBytes&(o.InstBytes-1) != 0 {
		return Fit{}, fmt.Errorf("instruction size %d is no power of two", o.InstBytes)
	}
	if w.Threads() < 1 {
		return Fit{}, Refuse(w, "a block has no threads")
	}
	f := Fit{
		Work: w, Base: o.CodeBase, Shift: uint(bits.TrailingZeros(uint(o.InstBytes))),
		Warps: (w.Threads() + 31) / 32, Registers: w.Registers(), Shared: w.Shared(),
	}
	if o.Registers > 0 {
		f.Registers = o.Registers
	}
	f.MaxBlocks, f.LimitedBy = s.Occupancy(w.Threads(), f.Registers, f.Shared)
	b := s.Base()
	if f.MaxBlocks == 0 {
		return Fit{}, Refuse(w, "no SM can take a block of %d threads with %d registers each and %d bytes of shared memory: %s (an SM has %d threads, %d registers, %d bytes)",
			w.Threads(), f.Registers, f.Shared, f.LimitedBy, 32*b.Warps, b.Registers, b.Shared)
	}
	if o.MaxBlocks > 0 && o.MaxBlocks < f.MaxBlocks {
		f.MaxBlocks, f.LimitedBy = o.MaxBlocks, ByGrid
	}
	f.Need = Need{Warps: f.Warps, Registers: f.Padded() * RoundUp(f.Registers, b.RegisterGranule), Shared: b.SharedOf(f.Shared), MaxBlocks: f.MaxBlocks}
	return f, nil
}

// Status is how a core stands after a cycle.
type Status uint8

// The parts of a status.
const (
	Choked Status = 1 << iota // it has no room for a reply
	Dry                       // it is finished, or has come to a fault
	Dozing                    // its next cycle may be one that is counted only
)

// StatusOf puts a status together.
func StatusOf(choked, dry, dozing bool) Status {
	var s Status
	if choked {
		s |= Choked
	}
	if dry {
		s |= Dry
	}
	if dozing {
		s |= Dozing
	}
	return s
}

// SM is a core as the chip drives it. A chip makes one call of Run for each cycle
// of a core that has something to do; what of the rest is not asked for within
// cycles may take its time.
type SM interface {
	// Run does a core cycle. Now is the GPU's count of them.
	Run(now uint64) Status
	// CanTake reports whether there is room for one more block of a kernel; Launch
	// places one, and reports whether there was room.
	CanTake(k Kernel) bool
	Launch(k Kernel, b exec.Block) bool
	// Deliver hands over a reply, for which there is room unless RepliesFull.
	Deliver(r *mem.Req) bool
	RepliesFull() bool
	// Unfinished reports whether anything is left to do; Err returns the fault that
	// stopped the core.
	Unfinished() bool
	Err() error
	// NextEvent returns the first cycle after now in which the core may do anything
	// by itself, Never if only a reply or a block can wake it. Skip stands for n
	// cycles before that. KeepAwake has every cycle simulated.
	NextEvent(now uint64) uint64
	Skip(n uint64)
	KeepAwake()

	// Settle brings the counters up to now. Count returns those that all models
	// have, Own a model's own, nil if it has none. Inherit takes over the counters
	// of the core in whose place this one comes.
	Settle()
	Count() *Stats
	Own() Own
	Inherit(old SM)
	// L1D, L1C, L1I and L1T are its caches, nil where there is none.
	L1D() *cache.Cache
	L1C() *cache.Cache
	L1I() *cache.Cache
	L1T() *cache.Texture
	// Resplit changes how L1D and shared memory share their memory.
	Resplit(l1d cache.Config, shared int) error
	// WarmCode puts a kernel's code into the instruction caches.
	WarmCode(k Kernel)

	Inspected
}

// Inspected is a core as those see it who look at a run.
type Inspected interface {
	// Slots is the number of warp slots, Resident that of the warps launched and
	// not retired.
	Slots() int
	Resident() int
	// View returns the warp in a slot, false if there is none; Views all of them.
	View(slot int) (WarpView, bool)
	Views() []WarpView
	// Stand returns where the warp in a slot is, false if there is none.
	Stand(slot int) (Stands, bool)
	// ResidentBlocks returns the blocks on the core; Stuck one in which no warp can
	// ever step again, nil if there is none.
	ResidentBlocks() []BlockView
	Stuck() exec.Block
	// Queues returns the places of the pipeline, from issue to the memory system;
	// EachRequest and EachPending call f for every request and every miss in them.
	Queues() []QueueView
	EachRequest(f func(r *mem.Req, place string))
	EachPending(f func(name string, p cache.Pending))
	// KeepPlaces has the states of warps accounted by instruction; TakePlaces adds
	// what a kernel's warps did to sum, and forgets it.
	KeepPlaces()
	TakePlaces(k Kernel, sum Places)
	// Log has the way of every instruction handed to sink, HandOn and FlushLog some
	// and all of what is kept.
	Log(sink func(list []Record))
	HandOn()
	FlushLog()
	// WatchSpin begins to look for endless loops, EndSpin ends it; Spinning reports
	// what was found.
	WatchSpin(tries int)
	Spinning() (yes, ended bool)
	EndSpin()
}

// HazardChecker is offered by SMs that can look for dependences that a program
// does not wait for.
type HazardChecker interface {
	CheckHazards()
	// Hazards returns the different ones found, in the order in which they happened
	// first, HazardsLeft how often one happened that has no room there.
	Hazards() []Hazard
	HazardsLeft() uint64
}

// Check reports what no model can build, nil if there is nothing. The bounds are
// our choice, far beyond any hardware; 64 warps are what sets of warps hold.
func (s *Shape) Check() error {
	const most = 1 << 30
	for _, b := range []struct {
		name, key string
		v, a, b   int
	}{
		{"SMs", "chip.clusters", s.SMs, 1, 1 << 16}, {"warps", "sm.threads", s.Warps, 1, maxWarps}, {"blocks", "sm.blocks", s.Blocks, 1, maxWarps},
		{"registers", "sm.registers", s.Registers, 1, most}, {"shared memory", "sm.shared", s.Shared, 0, most},
		{"register granule", "sm.register_granule", s.RegisterGranule, 1, 256}, {"warp granule", "sm.warp_granule", s.WarpGranule, 0, maxWarps},
		{"shared memory granule", "sm.shared_granule", s.SharedGranule, 0, 1 << 16},
		{"reserved shared memory", "sm.shared_reserved", s.SharedReserved, 0, 1 << 16}, {"barriers", "sm.barriers", s.Barriers, 0, 255},
	} {
		if b.v < b.a || b.v > b.b {
			return param.Clash(b.key, "%s %d is not within %d..%d", b.name, b.v, b.a, b.b)
		}
	}
	return nil
}
