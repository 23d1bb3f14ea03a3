package gpu

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/mem"
)

// This file: launches and blocks that are executed without the chip, so that only their estimated
// time passes.

// Passage is a launch that was executed without the chip.
type Passage struct {
	Cycles                 uint64 // that it is estimated to take
	WarpInsts, ThreadInsts uint64
}

// passOver lets only the time of a launch pass, if that is what its Pass chooses. It is not asked
// if another launch runs or could begin before its end: these are simulated together.
func (g *GPU) passOver(o *Op) (bool, error) {
	if g.copies.by[passing] != nil {
		return false, errLater
	}
	if g.running > 0 || len(o.dependents) > 0 || g.company() {
		return false, nil
	}
	p, err := o.Pass()
	if p == nil || err != nil {
		return false, err
	}
	k := o.Kernel
	k.Start, k.FirstBlock, k.Passed = g.now, g.now, true
	k.Blocks, k.WarpInsts, k.ThreadInsts = k.total, p.WarpInsts, p.ThreadInsts
	g.passTime(o, p.Cycles)
	return true, nil
}

// company reports whether a launch could begin while one, which has its turn, goes on: one that waits for nothing but
// copies and marks that do not wait for it either.
func (g *GPU) company() bool {
	list := slices.Concat(g.ops.ready, g.ops.later, g.copies.by[:], g.copies.away)
	waits := map[*Op]int{}
	for len(list) > 0 {
		x := list[len(list)-1]
		list = list[:len(list)-1]
		if x == nil {
			continue
		}
		if x.Kind == OpLaunch {
			return true
		}
		for _, y := range x.next {
			n, seen := waits[y]
			if !seen {
				n = y.waits
			}
			if waits[y] = n - 1; n == 1 {
				list = append(list, y)
			}
		}
	}
	return false
}

// passTime lets time pass before a launch ends.
func (g *GPU) passTime(o *Op, cycles uint64) {
	o.End, o.state = g.now+cycles, opRuns
	g.copies.by[passing] = o
	g.copies.n++
	g.copies.find()
}

// Standing is how far a launch is. It is package sample's Stand.
type Standing struct {
	Cycle uint64 // the core cycle
	// Completed are its blocks that have completed, without those passed over. Issued are the warp
	// instructions that the chip has issued since the start of the run.
	Completed, Issued uint64
	Fetched, Written  uint64  // sectors read from and written to the DRAM since then
	Next, Total       uint64  // the block to be placed next, and the number of blocks
	Resident          uint64  // the most blocks that the chip holds at a time
	Peak              float64 // sectors that the DRAM moves in a cycle, at most; 0: not known
}

// Skip is what Op.Look answers.
type Skip struct {
	Blocks                 uint64 // the next ones, which have been executed without the chip
	WarpInsts, ThreadInsts uint64 // that they issued
	Again                  uint64 // completed blocks at which to ask again; 0: never
}

// askAll asks the launches that it is time to ask, but none that another may join: its blocks are all
// simulated. An error ends the run.
func (g *GPU) askAll() {
	g.looks = false
	for _, k := range g.slots {
		if k == nil || k.lookAt == 0 || k.Blocks-k.PassedBlocks < k.lookAt {
			continue
		}
		if g.running > 1 || !k.Alone || len(k.op.dependents) > 0 || g.company() {
			k.lookAt = 0
			continue
		}
		if err := g.ask(k); err != nil && g.fault == nil {
			g.fault = err
		}
	}
}

// ask passes over the blocks of a launch that its Look names.
func (g *GPU) ask(k *Kernel) error {
	s, err := k.op.Look(g.standing(k), &g.warming)
	if err != nil {
		return err
	}
	k.lookAt = s.Again
	if s.Blocks == 0 {
		return nil
	}
	k.next += s.Blocks
	k.Blocks += s.Blocks
	k.WarpInsts += s.WarpInsts
	k.ThreadInsts += s.ThreadInsts
	k.PassedBlocks += s.Blocks
	k.PassedWarpInsts += s.WarpInsts
	k.PassedThreadInsts += s.ThreadInsts
	k.logs, k.BlockLog = false, nil
	g.ended = g.ended || k.Blocks == k.total
	return nil
}

// standing returns how far a launch is.
func (g *GPU) standing(k *Kernel) Standing {
	s := Standing{
		Cycle: g.now, Completed: k.Blocks - k.PassedBlocks, Issued: g.warpInsts(), Next: k.next, Total: k.total, Resident: uint64(k.MaxBlocks) * uint64(g.cfg.SMs()),
	}
	d := &g.cfg.Mem.DRAM
	atom := uint64(d.AtomBytes())
	for i := range g.mem.Parts.Channels() {
		if dev := g.mem.Parts.DRAM(i); dev != nil {
			st := dev.Stats()
			s.Fetched += (st.Reads + st.AllocReads) * atom / mem.SectorBytes
			s.Written += (st.Writes + st.WriteBacks) * atom / mem.SectorBytes
		}
	}
	if !g.cfg.Mem.FixedLatency {
		bytes := g.cfg.Mem.Channels * d.BusBytes * d.Chips * d.DataRatio // in a cycle of its clock
		s.Peak = float64(bytes) * float64(g.cfg.Clocks.DRAM) / float64(g.cfg.Clocks.Core) / mem.SectorBytes
	}
	return s
}

// endPassage ends a launch that was passed over.
func (g *GPU) endPassage(o *Op) {
	o.Kernel.End = g.now
	g.endOp(o, g.now)
	if g.see.onEnd != nil {
		g.see.onEnd(o.Kernel)
	}
}
