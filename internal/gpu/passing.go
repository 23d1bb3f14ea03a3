package gpu

import "slices"

// This file: launches and blocks that are executed without the chip, so that only their estimated
// time passes.

// Passage is a launch that was executed without the chip.
type Passage struct {
	Cycles                 uint64 // that it is estimated to take
	WarpInsts, ThreadInsts uint64
}

// passOver lets only the time of a launch pass, if that is what its Pass chooses. It is not asked
// if another launch runs or could begin now: these are simulated together.
func (g *GPU) passOver(o *Op) (bool, error) {
	if g.copies.by[passing] != nil {
		return false, errLater
	}
	if g.running > 0 || slices.ContainsFunc(g.ops.ready, func(x *Op) bool { return x.Kind == OpLaunch }) {
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
	// Completed are its blocks that have completed, with the warp instructions that they issued; both
	// without those passed over.
	Completed, WarpInsts uint64
	Next, Total          uint64 // the block to be placed next, and the number of blocks
	Resident             uint64 // the most blocks that the chip holds at a time
	Fetched              uint64 // bytes that were ever fetched into the L2
	L2, Held             uint64 // bytes that the L2 has room for, and that it holds
}

// Skip is what Op.Look answers.
type Skip struct {
	Blocks                 uint64 // the next ones, which have been executed without the chip
	Cycles                 uint64 // that they are estimated to take
	WarpInsts, ThreadInsts uint64 // that they issued
	Again                  uint64 // completed blocks at which to ask again; 0: never
}

// askAll asks the launches that it is time to ask. An error ends the run.
func (g *GPU) askAll() {
	g.looks = false
	for _, k := range g.slots {
		if k == nil || k.lookAt == 0 || k.Blocks-k.PassedBlocks < k.lookAt {
			continue
		}
		if g.running > 1 || !k.Alone {
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
	l2, now := &g.cfg.Mem.L2, g.Sample()
	held := 0
	for i := range g.mem.Parts.Subs() {
		held += g.mem.Parts.L2Lines(i)
	}
	s, err := k.op.Look(Standing{
		Cycle: g.now, Completed: k.Blocks - k.PassedBlocks, WarpInsts: k.WarpInsts - k.PassedWarpInsts,
		Next: k.next, Total: k.total, Resident: uint64(k.MaxBlocks) * uint64(g.cfg.SMs()),
		Fetched: (now.L2Accesses - now.L2Hits) * uint64(l2.Atom()), L2: uint64(l2.Bytes()) * uint64(g.mem.Parts.Subs()), Held: uint64(held) * uint64(l2.Line),
	})
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
	k.PassedCycles += s.Cycles
	k.logs, k.BlockLog = false, nil
	g.ended = g.ended || k.Blocks == k.total
	return nil
}

// endPassage ends a launch that was passed over.
func (g *GPU) endPassage(o *Op) {
	o.Kernel.End = g.now
	g.endOp(o, g.now)
	if g.see.onEnd != nil {
		g.see.onEnd(o.Kernel)
	}
}
