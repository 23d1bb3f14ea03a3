package gpu

import (
	"cmp"
	"fmt"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/core/modern"
	"github.com/heddle-sim/heddle/internal/core/simt"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
)

// This file: what the chip knows of its cores. Each core model has a file that
// makes it fit: simt.go, modern.go.

// CoreModel is the kind of a chip's cores.
type CoreModel uint8

// The core models.
const (
	SIMT   CoreModel = iota // package core/simt
	Modern                  // package core/modern
)

var coreNames = [...]string{"simt", "modern"}

// String returns the name of the model as in core.
func (m CoreModel) String() string { return coreNames[m] }

// Core is an SM. Those outside this package only look at it.
type Core interface {
	// Slots is the number of warp slots, Resident that of the warps launched and
	// not retired.
	Slots() int
	Resident() int
	// View returns the warp in a slot, false if there is none; Views all of them.
	View(slot int) (WarpView, bool)
	Views() []WarpView
	// Stand returns where the warp in a slot is, false if there is none.
	Stand(slot int) (Stands, bool)
	// ResidentBlocks returns the blocks on the core.
	ResidentBlocks() []BlockView
	// Queues returns the places of the pipeline, from issue to the memory system.
	Queues() []QueueView
	// Count returns its counters that all models have, up to now.
	Count() Count
	// L1D, L1C, L1I and L1T are its caches, nil where there is none.
	L1D() *cache.Cache
	L1C() *cache.Cache
	L1I() *cache.Cache
	L1T() *cache.Texture

	// run does a core cycle.
	run(now uint64) status
	// Deliver hands over a reply, for which there is room.
	Deliver(r *mem.Req) bool
	RepliesFull() bool
	Unfinished() bool
	Err() error
	// NextEvent, Skip and KeepAwake are about cycles in which nothing happens.
	NextEvent(now uint64) uint64
	Skip(n uint64)
	KeepAwake()
	canTake(k *Kernel) bool
	launch(k *Kernel, b exec.Block) bool
	// split changes how L1D and shared memory share their memory.
	split(s Split) error
	warmCode(k *Kernel)
	// states returns the cycles of warps in each state, up to now.
	states() []uint64
	perWarp() []uint64
	readInto(c *Counters)
	inherit(old Core)
	KeepPlaces()
	takePlaces(k *Kernel, sum core.Places)
	Log(sink func(list []Record))
	HandOn()
	FlushLog()
	WatchSpin(tries int)
	Spinning() (yes, ended bool)
	EndSpin()
	Stuck() exec.Block
	EachRequest(f func(r *mem.Req, place string))
	EachPending(f func(name string, p cache.Pending))
}

// status is how a core stands after a cycle.
type status uint8

const (
	repliesFull status = 1 << iota // it has no room for a reply
	dry                            // it is finished, or has come to a fault
	asleep                         // its next cycle may be one that is counted only
)

func statusOf(full, finished, sleeps bool) status {
	var s status
	if full {
		s |= repliesFull
	}
	if finished {
		s |= dry
	}
	if sleeps {
		s |= asleep
	}
	return s
}

// Count are counters of a core that all models have.
type Count struct {
	WarpInsts, ThreadInsts uint64
	BlocksDone             uint64
	Cycles, WarpCycles     uint64 // with a resident warp
	Latency, LatencyN      uint64 // of requests: sum and number
}

// activity grows whenever an instruction is issued or a reply delivered.
func (c *Count) activity() uint64 { return c.WarpInsts + c.LatencyN + c.BlocksDone }

// Place is what warps did at one instruction of a kernel.
type Place struct {
	// Issues counts the times that it was issued, Lanes the lanes whose guard
	// held then.
	Issues, Lanes uint64
	// States sums the cycles of warps in each state, in the order of the chip's
	// States.
	States []uint64
}

// What the chip shows of its cores is as they show it.
type (
	// Record is a warp instruction that has left a core.
	Record = core.Record
	// WarpView is a resident warp.
	WarpView = core.WarpView
	// Flight is an instruction between issue and completion.
	Flight = core.Flight
	// BlockView is a resident block.
	BlockView = core.BlockView
	// Stands is where a warp is: enough to tell that it has moved.
	Stands = core.Stands
	// QueueView is a place of a core that instructions or requests pass, and how
	// full it is.
	QueueView = core.QueueView
)

// placesOf adds up what a kernel's warps did on all SMs.
func (g *GPU) placesOf(k *Kernel) []Place {
	sum := make(core.Places, len(k.work.Code()))
	for _, c := range g.cores {
		c.takePlaces(k, sum)
	}
	list := make([]Place, len(sum))
	n := len(g.States())
	for i := range sum {
		list[i] = Place{sum[i].Issues, sum[i].Lanes, sum[i].States[:n]}
	}
	return list
}

// SlotStalls returns the cycles of schedulers that issued nothing, by the reason.
func (c *Counters) SlotStalls() map[string]uint64 {
	m := map[string]uint64{}
	for _, by := range c.Modern.Slots {
		for st, n := range by {
			switch {
			case st == modern.SlotEmpty:
				m["no_warp"] += n
			case st != int(modern.Selected):
				m[modernStates[st]] += n
			}
		}
	}
	for _, by := range c.SM.Slots {
		m["idle"] += by[simt.SlotIdle]
		m["scoreboard"] += by[simt.SlotScoreboard]
		m["pipe"] += by[simt.SlotStall]
	}
	return m
}

// newCore makes SM i.
func (g *GPU) newCore(i int) (Core, error) {
	if g.cfg.Core == Modern {
		c, err := modern.New(g.cfg.Modern, i, envOf[modern.Kernel](g, i))
		return modernCore{c}, err
	}
	c, err := simt.New(g.cfg.SM, i, envOf[simt.Kernel](g, i))
	return simtCore{c}, err
}

// States are the names of the states of warps.
func (g *GPU) States() []string {
	if g.cfg.Core == Modern {
		return modernStates
	}
	return simtStates
}

// Stages are the names of the stages of the pipeline that Records tell of.
func (g *GPU) Stages() []string {
	if g.cfg.Core == Modern {
		return modern.Stages()
	}
	return simt.Stages()
}

// ByGrid says that a grid is too small to bring more blocks to an SM.
const ByGrid = "grid"

// fit is a launch made ready for the chip's cores.
type fit struct {
	core              any // *simt.Kernel or *modern.Kernel
	maxBlocks         int
	limitedBy         string
	registers, shared int
}

// fits prepares a launch for the chip's cores.
func (g *GPU) fits(w exec.Work, shared, registers, maxBlocks int, base uint64) (fit, error) {
	if g.cfg.Core == Modern {
		cfg := g.cfg.Modern
		cfg.Shared = shared
		k, err := modern.NewKernel(&cfg, w, modern.KernelOptions{Registers: registers, MaxBlocks: maxBlocks, CodeBase: base, InstBytes: instBytes(w)})
		if err != nil {
			return fit{}, err
		}
		return fit{k, k.MaxBlocks, k.LimitedBy.String(), k.Registers, k.Shared}, nil
	}
	cfg := g.cfg.SM
	cfg.Shared = shared
	k, err := simt.NewKernel(&cfg, w, simt.KernelOptions{Registers: registers, MaxBlocks: maxBlocks, CodeBase: base, InstBytes: instBytes(w)})
	if err != nil {
		return fit{}, err
	}
	return fit{k, k.MaxBlocks, k.LimitedBy.String(), k.Registers, k.Shared}, nil
}

// Occupancy returns how many blocks of a kernel fit on an SM, and what stops
// the next one.
func (c *Config) Occupancy(threads, registers, shared int) (int, string) {
	if c.Core == Modern {
		n, by := c.Modern.Occupancy(threads, registers, shared)
		return n, by.String()
	}
	n, by := c.SM.Occupancy(threads, registers, shared)
	return n, by.String()
}

// instBytes is the size of a work's instructions in its addresses: 8 where it
// does not say, as of PTX.
func instBytes(w exec.Work) int {
	return cmp.Or(w.Traits().InstBytes, 8)
}

// cachedBytes is what an instruction of a work takes in instruction caches.
func (c *Config) cachedBytes(w exec.Work) uint64 {
	if c.Core == Modern {
		return 16 // [HW]: 128 bits, whatever stands for them
	}
	return uint64(instBytes(w))
}

// Warps returns the warps that can be resident on an SM.
func (c *Config) Warps() int {
	if c.Core == Modern {
		return c.Modern.Warps
	}
	return c.SM.Warps
}

// l1d returns the settings of the data caches of SMs.
func (c *Config) l1d() *cache.Config {
	if c.Core == Modern {
		return &c.Modern.L1D
	}
	return &c.SM.L1D
}

// shared returns the shared memory of an SM in bytes.
func (c *Config) shared() *int {
	if c.Core == Modern {
		return &c.Modern.Shared
	}
	return &c.SM.Shared
}

// checkSM reports a contradiction in the settings of SMs.
func (c *Config) checkSM() error {
	if c.Core == Modern {
		return c.Modern.Check()
	}
	if c.Core != SIMT {
		return fmt.Errorf("core model %d is not known", c.Core)
	}
	return c.SM.Check()
}

// caches returns the settings of all caches of an SM.
func (c *Config) caches() []*cache.Config {
	if c.Core == Modern {
		return []*cache.Config{&c.Modern.L1D, &c.Modern.L1I}
	}
	return []*cache.Config{&c.SM.L1D, &c.SM.L1C, &c.SM.L1T, &c.SM.L1I}
}
