package gpu

import (
	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
)

// This file: looking at a run while it lasts. Nothing here changes a result.

// observer is who looks.
type observer struct {
	onEnd  func(*Kernel)
	sample func()
	period uint64 // core cycles between samples, 0 for none
	next   uint64
	hooks  *Hooks // nil if nobody asks
}

// Hooks are functions that are called with what happens on the chip; those that are
// nil are not. Placed and Left belong to blocks. Memory sees requests as they come to
// places: SMs run side by side, so a chip with it has one worker.
type Hooks struct {
	Began, Ended func(k *Kernel)
	Placed       func(k *Kernel, b exec.Block, sm int)
	Left         func(k *Kernel, block uint64, sm int)
	Memory       func(at Where, r *mem.Req)
}

// Where is a place on the way of a request.
type Where uint8

// The places.
const (
	LeavesSM Where = iota
	AtL2           // it has come to its slice
	AtDRAM         // it leaves the slice for the DRAM
	BackAtSM       // the reply
	wheres
)

var whereNames = [wheres]string{"leaves SM", "at L2", "at DRAM", "back at SM"}

func (w Where) String() string { return whereNames[w] }

// Watch has functions called from now on.
func (g *GPU) Watch(h *Hooks) {
	g.see.hooks = h
	g.watched()
}

// met tells of a request that has come to a place.
func (g *GPU) met(at Where, r *mem.Req) {
	if h := g.see.hooks; h != nil && h.Memory != nil {
		h.Memory(at, r)
	}
}

// OnEnd has f called at the end of every kernel, its counters read.
func (g *GPU) OnEnd(f func(*Kernel)) { g.see.onEnd = f }

// OnSample has f called whenever another period of core cycles has passed.
func (g *GPU) OnSample(period uint64, f func()) {
	g.see.period, g.see.sample = period, f
	g.see.next = g.now + period
}

// look calls the owner's function if it is time.
func (g *GPU) look() {
	for s := &g.see; s.period > 0 && g.now >= s.next; s.next += s.period {
		s.sample()
	}
}

// Log has the way of every instruction handed to sink, some at a time, SM by
// SM; FlushLog hands on the rest. The list is used again after the call.
func (g *GPU) Log(sink func(sm int, list []Record)) {
	g.sink = sink
	g.watched()
}

// watched has the SMs keep what was asked for.
func (g *GPU) watched() {
	if h := g.see.hooks; h != nil && h.Memory != nil {
		g.mem.Parts.Saw = func(dram bool, r *mem.Req) {
			if dram {
				h.Memory(AtDRAM, r)
			} else {
				h.Memory(AtL2, r)
			}
		}
	}
	for i, c := range g.cores {
		if g.places {
			c.KeepPlaces()
		}
		if g.sink != nil {
			c.Log(func(list []Record) { g.sink(i, list) })
		}
		if x, ok := c.(core.HazardChecker); ok && g.checked {
			x.CheckHazards()
		}
	}
}

// FlushLog hands on the instructions that were kept.
func (g *GPU) FlushLog() {
	for _, c := range g.cores {
		c.FlushLog()
	}
}

// Sample are counters since the start, and how many warps are resident now.
type Sample struct {
	Cycle                          uint64
	WarpInsts, ThreadInsts, Blocks uint64
	Resident                       int
	States                         [core.MaxStates]uint64 // in the order of the chip's States
	L1Accesses, L1Hits             uint64
	L2Accesses, L2Hits             uint64
	DRAMReads, DRAMWrites          uint64
	Requests, Replies              uint64 // packets of the two subnets
	Latency, LatencyN              uint64 // of requests: sum and number
}

// Sample reads the counters.
func (g *GPU) Sample() Sample {
	s := Sample{Cycle: g.now, Blocks: g.blocksEnd, Requests: g.mem.Requests.Stats.Packets, Replies: g.mem.Replies.Stats.Packets}
	level := func(st *cache.Stats, accesses, hits *uint64) {
		*accesses += st.Total()
		*hits += st.Of(cache.Hit)
	}
	for _, c := range g.cores {
		c.Settle()
		x := c.Count()
		for i, n := range x.States {
			s.States[i] += n
		}
		s.WarpInsts += x.WarpInsts
		s.ThreadInsts += x.ThreadInsts
		s.Resident += c.Resident()
		s.Latency += x.Latency
		s.LatencyN += x.LatencyN
		if d := c.L1D(); d != nil {
			level(&d.Stats, &s.L1Accesses, &s.L1Hits)
		}
	}
	for i := range g.mem.Parts.Subs() {
		if st := g.mem.Parts.L2Stats(i); st != nil {
			level(st, &s.L2Accesses, &s.L2Hits)
		}
	}
	for i := range g.mem.Parts.Channels() {
		if d := g.mem.Parts.DRAM(i); d != nil {
			st := d.Stats()
			s.DRAMReads += st.Reads + st.AllocReads
			s.DRAMWrites += st.Writes + st.WriteBacks
		}
	}
	return s
}
