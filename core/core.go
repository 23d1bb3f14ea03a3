// Package core is what a core model of one's own is made of: when the warps of an SM
// issue, and what they wait for. What instructions do, the blocks, the memory system
// and the result are Heddle's.
//
// A model is a Model, registered by its name; a machine then has it with core =
// "name", and its parameters stand in the table [name]. The shortest has three parts:
//
//   - parameters: a struct of fields with tags, such as
//     Gap int `help:"cycles between two issues" unit:"cycles" want:"1..100" def:"1"`,
//     whose method Settings makes settings of them: a Plain;
//   - an SM: a struct that embeds Base, and a function that issues;
//   - the call of Register in an init function.
//
// examples/extend/toycore is a model of that kind. One that needs more implements SM
// and Settings, or puts methods of its own in the place of Base's and Plain's.
//
// SMs run in parallel: one may touch what is its own, and what its Env gives it. What
// it does depends on nothing else, so that results are the same with every number of
// threads. Run allocates nothing once the run is under way.
//
// The types are those that Heddle's own models use, and change with them.
package core

import (
	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
)

// Register adds a model. Call it in an init function: machines that have been loaded
// do not know it.
func Register(m *Model) { core.Register(m) }

// What a model is, and its parameters.
type (
	// Model is a core model: a name, parameters, the names of states and stages.
	Model = core.Model
	// Params are a machine's values for a model: a pointer to a struct of fields
	// with tags: help, unit, want ("1..64"), enum ("a|b"), def.
	Params = core.Params
	// Machine is what a machine says of its SMs outside of their model's parameters.
	Machine = core.Machine
	// Shape is what a machine gives an SM: warps, registers, shared memory, caches.
	Shape = core.Shape
	// Ideal are the idealisations of an SM that a model may offer; it lists those that it
	// obeys in Model.Ideals.
	Ideal = core.Ideal
	// Settings are the immutable settings of a core.
	Settings = core.Settings
	// Plain are Settings of a model without caches of its own.
	Plain = core.Plain
)

// What an SM is.
type (
	// SM is a core as the chip drives it.
	SM = core.SM
	// Base is an SM that lacks nothing but the decision which warp issues when.
	Base = core.Base
	// Env is what a core needs of the chip around it.
	Env = core.Env
	// Status is how a core stands after a cycle.
	Status = core.Status
	// Stats are the counters that all models have; Own are the others.
	Stats = core.Stats
	Own   = core.Own
	// Terms are counters as GPGPU-Sim has them.
	Terms = core.Terms
)

// What runs on it.
type (
	// Kernel is a launch made ready for a model's cores, Fit what all models know of
	// it, KernelOptions what it decides beyond its Work.
	Kernel        = core.Kernel
	Fit           = core.Fit
	KernelOptions = core.KernelOptions
	// Work is a launch as the executor knows it, Block a running block and Warp one
	// of its warps; Effects is what a step of a warp did.
	Work    = exec.Work
	Block   = exec.Block
	Warp    = exec.Warp
	Effects = exec.Effects
	// Inst is a decoded instruction, Reg a register in it, LaneMask a set of lanes.
	Inst     = isa.Inst
	Reg      = isa.Reg
	LaneMask = isa.LaneMask
	// Space is a kind of memory, Unit the kind of unit that an instruction occupies,
	// Class what latencies tell apart.
	Space = isa.Space
	Unit  = isa.Unit
	Class = isa.Class
	// Request is a request to memory or the reply to it, Pool where they come from.
	Request = mem.Req
	Pool    = mem.Pool
	// Cache is a cache, Texture a texture cache, CacheConfig the settings of both.
	Cache       = cache.Cache
	Texture     = cache.Texture
	CacheConfig = cache.Config
)

// What is seen of it.
type (
	// WarpView is a resident warp, BlockView a block, QueueView a place of the
	// pipeline, as those see them who look into a run.
	WarpView  = core.WarpView
	BlockView = core.BlockView
	QueueView = core.QueueView
	// Stands is where a warp is, Places what warps did at each instruction, Ledger the
	// places of several kernels.
	Stands = core.Stands
	Places = core.Places
	Ledger = core.Ledger
	// Record is an instruction's way through the pipeline.
	Record = core.Record
)

// Spaces of memory.
const (
	Generic = isa.Generic
	Global  = isa.Global
	Shared  = isa.Shared
	Local   = isa.Local
	Const   = isa.Const
	Param   = isa.Param
)

// BaseStates are the states of warps on a core with a Base, for Model.States, and
// BaseStages the stages of its pipeline, for Model.Stages.
var (
	BaseStates = core.BaseStates
	BaseStages = core.BaseStages
)

// Never is the answer of NextEvent when only a reply or a block can wake a core.
const Never = core.Never

// StatusOf puts a status together: of a core without room for a reply, one that has
// nothing left to do or has come to a fault, and one that sleeps.
func StatusOf(choked, dry, dozing bool) Status { return core.StatusOf(choked, dry, dozing) }

// NextOf returns the first warp of a set at or cyclically after a slot, -1 if there
// is none.
func NextOf(set uint64, slot int) int { return core.NextOf(set, slot) }
