package gpu

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
)

// This file: observing a run in progress. Nothing here changes a result.

// observer holds the observers of a chip.
type observer struct {
	onEnd    func(*Kernel)
	samplers []*Sampler
	hooks    *Hooks `state:"-"` // nil if there are none
}

// Sampler calls a function after every period of core cycles.
type Sampler struct {
	sample       func()
	period, next uint64
}

// Slow makes the period longer, from the last call on. The function itself may do so.
func (s *Sampler) Slow(period uint64) {
	s.next += period - s.period
	s.period = period
}

// Hooks are functions called for events on the chip, unless they are nil. Placed
// and Left are called for blocks. Memory is called when a request reaches a place;
// as SMs would call it concurrently, a chip with it has one worker.
type Hooks struct {
	Began, Ended func(k *Kernel)
	Placed       func(k *Kernel, b exec.Block, sm int)
	Left         func(k *Kernel, block uint64, sm int)
	Memory       func(at Where, r *mem.Req)
}

// Where is a place on a request's way.
type Where uint8

// The places.
const (
	LeavesSM Where = iota
	AtL2           // it has reached its slice
	AtDRAM         // it leaves the slice for the DRAM
	BackAtSM       // the reply
	wheres
)

var whereNames = [wheres]string{"leaves SM", "at L2", "at DRAM", "back at SM"}

func (w Where) String() string { return whereNames[w] }

// Watch makes the chip call the given functions from now on.
func (g *GPU) Watch(h *Hooks) {
	g.see.hooks = h
	g.watched()
}

// met reports that a request has reached a place.
func (g *GPU) met(at Where, r *mem.Req) {
	if h := g.see.hooks; h != nil && h.Memory != nil {
		h.Memory(at, r)
	}
}

// OnEnd makes the chip call f at the end of every kernel, after reading its
// counters.
func (g *GPU) OnEnd(f func(*Kernel)) { g.see.onEnd = f }

// OnSample makes the chip call f after every period of core cycles.
func (g *GPU) OnSample(period uint64, f func()) *Sampler {
	s := &Sampler{sample: f, period: period, next: g.now + period}
	g.see.samplers = append(g.see.samplers, s)
	return s
}

// look calls the owners' functions if it is time.
func (g *GPU) look() {
	for _, s := range g.see.samplers {
		for g.now >= s.next {
			s.next += s.period // first: the function may change it
			s.sample()
		}
	}
}

// logged is an SM of whose instructions there are records.
type logged struct {
	sm   int
	sink func(list []Record)
}

// Log passes a record of every instruction that an SM issues from now on to sink, several at a
// time, until it is called again, with nil for none. Instructions in flight then have records, too.
// FlushLog passes those that are complete. The list is reused after the call.
func (g *GPU) Log(sm int, sink func(list []Record)) {
	g.cores[sm].Log(sink)
	g.logged = slices.DeleteFunc(g.logged, func(l logged) bool { return l.sm == sm })
	if sink != nil {
		g.logged = append(g.logged, logged{sm, sink})
	}
}

// watched makes the SMs keep what observers need.
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
	for _, l := range g.logged {
		g.cores[l.sm].Log(l.sink)
	}
	for _, c := range g.cores {
		if x, ok := c.(core.HazardChecker); ok && g.checked {
			x.CheckHazards()
		}
	}
}

// FlushLog passes the records kept so far to the sinks of Log.
func (g *GPU) FlushLog() {
	for _, l := range g.logged {
		g.cores[l.sm].FlushLog()
	}
}

// Sample has counters since the start, and the number of warps resident now.
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
		n, hit := st.Accepted()
		*accesses += n
		*hits += hit
	}
	for _, c := range g.cores {
		x := c.Count()
		if x.WarpInsts == 0 && c.Resident() == 0 {
			continue // it has done nothing
		}
		if t, ok := c.(core.Tally); ok {
			t.AddStates(&s.States)
		} else {
			c.Settle()
			for i, n := range x.States {
				s.States[i] += n
			}
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
