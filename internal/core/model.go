package core

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/compile/machine"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/param"
)

// This file: the interfaces of a core model. A model is registered by name, machines
// choose it by name, and the chip drives its SMs without knowing the model.

// Model is a core model.
type Model struct {
	// Name is the model's name in configuration files.
	Name string
	// Params returns its parameters, to be filled from the table with the model's name
	// in the machine's file. Whole says that the values returned already describe a
	// complete core; otherwise the file must set those without a default.
	Params func() Params
	Whole  bool
	// Compat returns the switches among the parameters for behaviour of GPGPU-Sim,
	// to be filled from the model's table of [compat]; nil if it has none.
	Compat func(Params) any
	// Tables are the tables of a machine's file, besides the model's own, that are
	// copied with the parameters when they are taken from another machine.
	Tables []string
	// Options returns the options of other simulators' files that set several of its
	// parameters; an option that sets one is named in that parameter's tag. Finish,
	// which may be nil, sets what depends on several options; chosen reports whether
	// the machine uses this model. ChosenBy is an option with which a file chooses it.
	Options  func() []param.Option
	Finish   func(g param.Given, chosen bool) error
	ChosenBy string
	// States are the names of warp states by number; state 0 means that the warp has
	// issued. Stages are the names of the pipeline stages in a Record.
	States, Stages []string
	// Ideals are the idealisations that it obeys, by the names of the parameters of Ideal
	// without their table.
	Ideals []string
}

var models []*Model

// Register adds a model. Call it from an init function.
func Register(m *Model) {
	if ModelOf(m.Name) != nil || len(m.States) > MaxStates || len(m.Stages) > MaxStages {
		panic("core: model " + m.Name)
	}
	models = append(models, m)
}

// Models returns all models in the order of registration.
func Models() []*Model { return models }

// ModelOf returns the model with a name, nil if there is none.
func ModelOf(name string) *Model {
	for _, m := range models {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// Names returns the names of n states or stages.
func Names[T ~uint8](n T, of func(T) string) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = of(T(i))
	}
	return list
}

// Params are a machine's values for a core model: a pointer to a struct of
// parameters (see package param).
type Params interface {
	// Settings returns the settings of a machine's core with these values.
	Settings(m *Machine) Settings
}

// Checked is implemented by Params whose values may contradict each other. Check calls
// bad for each contradiction, with the key that the user should look at first.
type Checked interface {
	Check(m *Machine, bad func(key, format string, a ...any))
}

// Limited is implemented by Params with which a core may not obey all idealisations of its
// model. Lacks says why it does not obey one; "" if it does.
type Limited interface {
	Lacks(ideal string) string
}

// Described is implemented by Params from which other figures can be derived. Peaks
// calls add for each peak rate of a data sheet, Depths for each pipeline depth. Clock
// is the SMs' clock in hertz.
type Described interface {
	Peaks(m *Machine, clock int64, add func(name, format string, a ...any))
	Depths(add func(name, format string, a ...any))
}

// ChipWide is implemented by Params with settings that affect the whole chip.
type ChipWide interface {
	// ChipWide reports whether memory answers at once, and whether inactive lanes are
	// left out of the counts; see gpu.Config.
	ChipWide() (perfectMemory, gatedLanes bool)
}

// Shape holds a machine's settings for SMs of any model. Settings embed it.
type Shape struct {
	// SMs is the number of SMs of the GPU, on which the layout of local memory
	// depends.
	SMs int
	// Warps is the number of warp slots, at most 64, and Blocks the maximum number of
	// resident blocks (-gpgpu_shader_core_pipeline / 32, -gpgpu_shader_cta).
	Warps, Blocks int
	// Registers is the number of 32-bit registers, Shared the shared memory in
	// bytes (-gpgpu_shader_registers, -gpgpu_shmem_size).
	Registers, Shared int
	// Registers per thread are rounded up to a multiple of RegisterGranule. The number
	// of warps for which an SM has registers is rounded down to a multiple of
	// WarpGranule. 0 and 1 do not round.
	RegisterGranule, WarpGranule int
	// A block's shared memory, plus SharedReserved bytes that the system takes for
	// every block, is rounded up to a multiple of SharedGranule bytes; 0 and 1 do not
	// round.
	SharedGranule, SharedReserved int
	// Barriers is the number of named barriers per block, 0 for no limit here
	// (-gpgpu_num_cta_barriers).
	Barriers int
	// OneBlockAtLeast admits one block even if it exceeds the limits
	// (-gpgpu_ignore_resources_limitation).
	OneBlockAtLeast bool
	// L1D, L1C, L1T and L1I are the caches (-gpgpu_cache:dl1,
	// -gpgpu_const_cache:l1, -gpgpu_tex_cache:l1, -gpgpu_cache:il1).
	L1D, L1C, L1T, L1I cache.Config
	// LocalBase is the physical address of local memory. With LocalSlots it is laid
	// out by the thread slots of all SMs, the same for every kernel; without, by the
	// blocks that can be resident, with those of neighbouring SMs adjacent
	// (-gpgpu_local_mem_map 0 and 1).
	LocalBase  uint64
	LocalSlots bool
	// Replies is how many replies an SM, or a cluster of SMs, takes from the network in a core cycle, at most 2; 0: 1.
	Replies int
	// Ideal are the idealisations that are on.
	Ideal Ideal
}

// Base returns the shape. Code that only has Settings uses it to get the Shape.
func (s *Shape) Base() *Shape { return s }

// L1Path is the path from an SM to its L1D, from the machine's table [l1d]. Models
// with their own parameters for it ignore this one.
type L1Path struct {
	// L1Latency is the number of cycles from entry into the L1D's queue to the look-up
	// (-gpgpu_l1_latency).
	L1Latency int
	// L1Banks is the number of L1D banks, L1BankBytes their interleaving, and
	// L1BankHash the function that selects one (-gpgpu_l1_banks*).
	L1Banks, L1BankBytes int
	L1BankHash           cache.IndexKind
	// GlobalSkipsL1 makes global accesses bypass the L1D (-gpgpu_gmem_skip_L1D).
	GlobalSkipsL1 bool
	// FlushL1 invalidates the L1D at memory barriers (-gpgpu_flush_l1_cache). The
	// flush at the end of a kernel is in package gpu.
	FlushL1 bool
}

// Machine is what a machine's file says about its SMs besides their model's parameters.
type Machine struct {
	Shape
	L1Path
	// DataCaches are the possible L1Ds, one for each preference of a launch.
	DataCaches []cache.Config
	// Architecture is the vendor's name for the generation.
	Architecture string
}

// Places returns how many blocks can be on an SM, and Room what they share.
func (s *Shape) Places() int {
	if s.Ideal.Occupancy {
		return s.Warps // a block has at least one
	}
	return s.Blocks
}

// Room returns an SM's capacity for blocks.
func (s *Shape) Room() Room {
	if s.Ideal.Occupancy {
		return Room{Warps: s.Warps, Registers: Unlimited, Shared: Unlimited}
	}
	return Room{Warps: s.Warps, Registers: s.Registers, Shared: s.Shared}
}

// Limit says what bounds the number of resident blocks.
type Limit uint8

// The limits.
const (
	ByThreads Limit = iota
	ByShared
	ByRegisters
	ByBlocks
	ByGrid // the grid has too few blocks
)

var limitNames = [...]string{"threads", "shared memory", "registers", "blocks", "grid"}

// String returns the name used in reports.
func (l Limit) String() string { return limitNames[l] }

// RoundUp returns the first multiple that is not less than n.
func RoundUp(n, to int) int { return (n + to - 1) / to * to }

// SharedOf returns the shared memory that a block occupies on an SM.
func (s *Shape) SharedOf(bytes int) int {
	return RoundUp(bytes+s.SharedReserved, max(1, s.SharedGranule))
}

// Fits returns how many blocks fit on an SM and what prevents one more; of equal limits
// the first in the order of Limit counts. Enough returns for how many warps an SM has
// registers; registers 0 means no such limit.
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
	// Base returns the machine's part of the settings; Shape implements it.
	Base() *Shape
	// Clone returns a copy.
	Clone() Settings
	// Check reports the first contradiction, nil if there is none.
	Check() error
	// Occupancy returns how many blocks of a kernel fit on an SM, and what prevents
	// one more.
	Occupancy(threads, registers, shared int) (int, Limit)
	// Caches returns the settings of all caches of an SM.
	Caches() []*cache.Config
	// CodeBytes returns the bytes that an instruction of inst bytes in the program
	// occupies in the instruction caches.
	CodeBytes(inst int) int
	// Prepare makes a launch ready for the cores.
	Prepare(w exec.Work, o KernelOptions) (Kernel, error)
	// New returns SM id, idle.
	New(id int, env Env) (SM, error)
}

// ControlBits is implemented by Settings of a model that obeys the control bits of a
// program that has them.
type ControlBits interface {
	// FixedLatency is the number of cycles from the issue of an instruction of a class
	// to the issue of a consumer of its result, where that is fixed.
	FixedLatency(c isa.Class) int
	// Guard describes what guards the dependences of a program with control bits, or without.
	Guard(bits bool) Guard
	// Contract is what the cores leave to the code: a compiler makes it for them.
	Contract() machine.Contract
}

// Rated is implemented by Settings of a model that knows what an SM does at most.
type Rated interface{ Rates() Rates }

// Rates are what an SM does at most in a core cycle.
type Rates struct {
	// Issues are warp instructions, over all schedulers.
	Issues int
	// L1Sectors are sectors of 32 bytes that the L1 data cache looks up; 0 if unknown.
	L1Sectors int
	// Pipes are the pipes with the number of each in an SM; nil if the model does not say
	// which instruction takes which.
	Pipes []PipeCount
	// Flops are floating-point operations by the kind of number: f16, f32, f64, tensor. A
	// fused multiply-add counts as two.
	Flops map[string]float64
}

// PipeCount is a kind of pipe and how many of it an SM has.
type PipeCount struct {
	Pipe  string
	Count int
}

// Piped is implemented by kernels of a model with Rates.Pipes.
type Piped interface {
	// Pipe returns the pipe that instruction i of the kernel's code takes, and for how many
	// cycles the pipe is busy with it; "" for one that takes none of those in Rates.
	Pipe(i int) (string, int)
}

// Guard is the mechanism that guards dependences between instructions, and its cost.
type Guard struct {
	Mechanism string
	Consumers int // readers of a register that scoreboards count; 0 for control bits
	// Warp and SM are its bits per warp and per SM, Percent the latter relative to the
	// register file.
	Warp, SM int
	Percent  float64
}

// KernelOptions are the choices of a launch besides its Work.
type KernelOptions struct {
	// Registers per thread; 0 is the work's estimate.
	Registers int
	// MaxBlocks is an upper bound on an SM's blocks, 0 for none. With it a small grid
	// is spread over all SMs.
	MaxBlocks int
	// CodeBase is the instruction address of the kernel's code. Kernels with different
	// code must not overlap.
	CodeBase uint64
	// InstBytes is the size of an instruction, a power of two: instruction i of
	// Work.Code has byte address i·InstBytes. 0 lets the model choose.
	InstBytes int
}

// Kernel is a launch made ready for the cores of one GPU. It is shared and never
// changes while they run it.
type Kernel interface{ Info() *Fit }

// Fit is the part of a ready launch that all models share; their kernels embed it.
type Fit struct {
	Work exec.Work
	// MaxBlocks is how many blocks an SM takes, LimitedBy what prevents more.
	MaxBlocks int
	LimitedBy Limit
	// Warps is the number of warps of a block, Registers those of a thread, Shared
	// the bytes of shared memory of a block.
	Warps, Registers, Shared int
	// ControlBits says that control bits guard its dependences instead of scoreboards.
	ControlBits bool
	// Base is the address of its code, Shift the base-2 logarithm of an instruction's
	// size in bytes.
	Base  uint64
	Shift uint
	// Need is what a block occupies on a core.
	Need Need
}

// Info returns it.
func (f *Fit) Info() *Fit { return f }

// Padded returns the number of threads of a block, rounded up to whole warps.
func (f *Fit) Padded() int { return 32 * f.Warps }

// Refuse returns an *exec.LaunchError about a launch.
func Refuse(w exec.Work, format string, a ...any) error {
	return &exec.LaunchError{Kernel: w.Name(), Msg: fmt.Sprintf(format, a...)}
}

// NewFit works out how a launch fits on cores with some settings. The error is an
// *exec.LaunchError if none of its blocks fits on an SM.
func NewFit(s Settings, w exec.Work, o KernelOptions) (Fit, error) {
	if o.InstBytes < 1 || o.InstBytes&(o.InstBytes-1) != 0 {
		return Fit{}, fmt.Errorf("instruction size %d must be a power of two", o.InstBytes)
	}
	if w.Threads() < 1 {
		return Fit{}, Refuse(w, "a block must have at least one thread")
	}
	if err := checkHopper(s, w); err != nil {
		return Fit{}, err
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
	if b.Ideal.Occupancy { // what programs ask for, Settings.Occupancy, stays as it is
		f.MaxBlocks, f.LimitedBy = b.Warps/f.Warps, ByThreads
	}
	if o.MaxBlocks > 0 && o.MaxBlocks < f.MaxBlocks {
		f.MaxBlocks, f.LimitedBy = o.MaxBlocks, ByGrid
	}
	f.Need = Need{Warps: f.Warps, Registers: f.Padded() * RoundUp(f.Registers, b.RegisterGranule), Shared: b.SharedOf(f.Shared), MaxBlocks: f.MaxBlocks}
	return f, nil
}

// Status is the state of a core after a cycle.
type Status uint8

// The flags of a status.
const (
	Choked Status = 1 << iota // it has no room for a reply
	Dry                       // it has finished or stopped at a fault
	Dozing                    // its next cycle may be counted without being simulated
)

// StatusOf returns a status with the given flags.
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

// SM is a core as the chip drives it. The chip calls Run once in each cycle of a core
// that has something to do. Methods that are not called within cycles may be slow.
type SM interface {
	// Run simulates a core cycle. Now is the GPU's cycle count.
	Run(now uint64) Status
	// CanTake reports whether there is room for one more block of a kernel; Launch
	// places one, and reports whether there was room.
	CanTake(k Kernel) bool
	Launch(k Kernel, b exec.Block) bool
	// Deliver hands over a reply. There is room for one unless RepliesFull.
	Deliver(r *mem.Req) bool
	RepliesFull() bool
	// Unfinished reports whether there is work left; Err returns the fault that
	// stopped the core.
	Unfinished() bool
	Err() error
	// NextEvent returns the first cycle after now in which the core may do anything
	// by itself, Never if only a reply or a block can wake it. Skip counts n cycles
	// before that as passed. KeepAwake makes the core simulate every cycle.
	NextEvent(now uint64) uint64
	Skip(n uint64)
	KeepAwake()

	// Settle brings the counters up to date. Count returns those common to all models,
	// Own the model's own, nil if it has none. Inherit takes over the counters of the
	// core that this one replaces.
	Settle()
	Count() *Stats
	Own() Own
	Inherit(old SM)
	// L1D, L1C, L1I and L1T are its caches, nil where there is none.
	L1D() *cache.Cache
	L1C() *cache.Cache
	L1I() *cache.Cache
	L1T() *cache.Texture
	// Resplit changes the split of memory between L1D and shared memory.
	Resplit(l1d cache.Config, shared int) error
	// WarmCode puts a kernel's code into the instruction caches.
	WarmCode(k Kernel)

	Inspected
}

// Tally is implemented by an SM that tells the warp cycles of its states without charging them to
// instructions, which is faster than Settle. Count is then up to date but for the states.
type Tally interface {
	// AddStates adds the warp cycles in each state so far to sum.
	AddStates(sum *[MaxStates]uint64)
}

// Inspected is the view of a core for observers of a run.
type Inspected interface {
	// Slots is the number of warp slots, Resident the number of warps launched and not
	// retired.
	Slots() int
	Resident() int
	// View returns the warp in a slot, false if there is none; Views all of them.
	View(slot int) (WarpView, bool)
	Views() []WarpView
	// Doing sets the state of the warp in each slot, in the order of the model's states, -1
	// where there is none. It is cheap.
	Doing(to []int8)
	// Stand returns the position of the warp in a slot, false if there is none.
	Stand(slot int) (Stands, bool)
	// ResidentBlocks returns the blocks on the core; Stuck returns one in which no warp
	// can step again, nil if there is none.
	ResidentBlocks() []BlockView
	Stuck() exec.Block
	// Queues returns the queues from issue to the memory system; EachRequest and
	// EachPending call f for every request and every miss in the core.
	Queues() []QueueView
	EachRequest(f func(r *mem.Req, place string))
	EachPending(f func(name string, p cache.Pending))
	// KeepPlaces accounts the states of warps by instruction in a ledger, which it may
	// share with cores that do not run at the same time; TakePlaces adds a kernel's to
	// sum, and forgets them.
	KeepPlaces(l *Ledger)
	TakePlaces(k Kernel, sum Places)
	// Log passes a record of every instruction that issues from now on to sink, until it is
	// called again, with nil for none. HandOn passes on the kept records if there are many,
	// FlushLog in any case. They are called between two cycles.
	Log(sink func(list []Record))
	HandOn()
	FlushLog()
	// WatchSpin starts the search for endless loops, EndSpin ends it, and Spinning
	// reports what it found.
	WatchSpin(tries int)
	Spinning() (yes, ended bool)
	EndSpin()
	// Unblock lets lanes go on that wait for others of their warp, in one block, and reports
	// whether there were any.
	Unblock() bool
}

// HazardChecker is implemented by SMs that can look for dependences that a program does
// not wait for.
type HazardChecker interface {
	CheckHazards()
	// Hazards returns the distinct hazards in the order of first occurrence,
	// HazardsLeft the number of occurrences of those that no longer fit in that list.
	Hazards() []Hazard
	HazardsLeft() uint64
}

// Check reports the first value that no model can build, nil if there is none. The
// bounds are our choice, far beyond any hardware; a set of warps holds 64.
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
