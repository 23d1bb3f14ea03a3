package kepler

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec/kasm"
	isa "github.com/heddle-sim/heddle/internal/isa/kasm"
)

// resolve decides what the head of the integer queue does to control flow: whether it
// leaves the queue, branches, exits, or waits at a barrier.
func (k *Core) resolve(now *cycle) {
	mem := &k.mems[k.memAt]
	now.fpuServed = k.fpu.valid && (!k.alu.valid || !mem.valid)
	now.fpuBlocked = k.fpu.valid && !now.fpuServed
	now.pop[unitFPU] = k.queue[unitFPU].n > 0 && (!now.stall || k.cfg.Lossless) && !now.fpuBlocked

	q := &k.queue[unitALU]
	if q.n == 0 {
		return
	}
	h := &q.ring[q.head]
	i := k.inst(h)
	w := h.warp
	now.warp = w
	now.commits = true
	now.pop[unitALU] = true
	now.squash = h.nop || k.stale(h)
	if i.Op == isa.BAR && !h.nop && !k.cfg.Rendezvous && k.barInit && k.barExpected != 0 && (k.barMask|1<<w)&k.barExpected == k.barExpected {
		// Even a barrier that a branch has overtaken releases warps.
		now.toReady = 1 << w
		for v := range Warps {
			if k.barExpected>>v&1 != 0 && k.status[v] == Barrier {
				now.toReady |= 1 << v
			}
		}
	}
	if now.squash {
		k.stats.Squashed++
		return
	}
	now.lanes = k.lanes(h, i)
	if i.Op != isa.EXIT && i.Op != isa.BAR {
		k.count(h, now.lanes)
	}
	if i.selp {
		now.selp = h.selp
		if !k.cfg.FullScoreboard {
			now.selp = k.predicate(w, uint8(i.Imm&7))
		}
	}
	if i.unit != unitControl {
		if k.cfg.Checked && !i.known {
			k.fail(h, now.lanes, "unknown operation")
		}
		return
	}
	if k.cfg.GuardedControl && now.lanes == 0 && i.Guard != isa.Always {
		return
	}
	lsu := &k.queue[unitLSU]
	inLSU := lsu.n > 0 && lsu.ring[lsu.head].warp == w && k.free[w].n > 0 || k.lsu.valid && k.lsu.warp == w
	if i.Op == isa.BAR || i.Op == isa.EXIT {
		now.commits = k.outstanding[w] == 0 && !inLSU
		if k.cfg.PatientExit {
			now.commits = k.drained(w)
		}
		now.pop[unitALU] = now.commits
		now.waits = !now.commits
		if !now.commits && k.cfg.PatientExit {
			return
		}
	}
	k.transfer(now, h, i)
	if k.cfg.Checked && now.branch && now.target >= isa.ProgramWords && i.Op != isa.BAR && i.Op != isa.SSY {
		k.fail(h, now.lanes, fmt.Sprintf("jump to %d, outside the program memory of %d instructions", int32(now.target), isa.ProgramWords))
	}
}

// transfer does what a control instruction does to its warp.
func (k *Core) transfer(now *cycle, h *slot, i *inst) {
	w, pc, mem := h.warp, uint32(h.pc), &k.mems[k.memAt]
	switch i.Op {
	case isa.BRA:
		now.branch, now.target = now.lanes != 0, pc+uint32(i.Imm)
	case isa.BEQ, isa.BNE:
		taken := uint32(0)
		a, b := &k.buf[h.buf][0], &k.buf[h.buf][1]
		for l := range a {
			if (a[l] == b[l]) == (i.Op == isa.BEQ) {
				taken |= 1 << l
			}
		}
		taken &= now.lanes
		if taken == 0 {
			return
		}
		now.branch, now.target = true, pc+uint32(i.Imm)
		active := now.lanes
		if k.cfg.GuardedControl {
			active = k.mask[w]
		}
		if rest := active &^ taken; rest != 0 {
			k.diverge(h, pc+1, rest)
			now.newMask, now.maskSet = taken, true
		}
	case isa.SSY:
		if now.lanes == 0 && !k.cfg.GuardedControl {
			return
		}
		k.diverge(h, pc+uint32(i.Imm), k.mask[w])
		now.branch, now.target = true, pc+1
	case isa.JOIN:
		if k.stackTop[w] == 0 { // at a reconvergence point of SSY, the last JOIN finds an empty stack
			return
		}
		k.stackTop[w]--
		f := k.stack[w][k.stackTop[w]%StackDepth]
		now.branch, now.target = true, f.pc
		now.newMask, now.maskSet = f.mask, true
	case isa.CALL:
		if k.cfg.Checked && k.callTop[w] == CallDepth {
			k.fail(h, now.lanes, fmt.Sprintf("the call stack is full: %d return addresses", CallDepth))
			return
		}
		k.calls[w][k.callTop[w]%CallDepth] = pc + 1
		k.callTop[w] = (k.callTop[w] + 1) & 15
		now.branch, now.target = true, pc+uint32(i.Imm)
	case isa.RET:
		if k.callTop[w] == 0 {
			if k.cfg.Checked {
				k.fail(h, now.lanes, "the call stack is empty")
			}
			return
		}
		k.callTop[w]--
		now.branch, now.target = true, k.calls[w][k.callTop[w]%CallDepth]
	case isa.BAR:
		if now.commits {
			k.count(h, now.lanes)
		}
		if k.cfg.Rendezvous {
			k.barSeen ^= 1 << w // the warp is now one epoch ahead
			now.atBar = true
			now.branch, now.target = true, pc+1
			return
		}
		k.barrier(now, w)
	case isa.EXIT:
		// An exit always jumps to itself, so it is fetched again while anything of
		// the warp is in flight.
		now.branch, now.target = true, pc
		now.exits = now.commits && (k.cfg.PatientExit || !(k.sharedResp.valid && k.sharedResp.warp == w || mem.valid && mem.warp == w ||
			k.port[0].valid && k.port[0].warp == w || k.port[1].valid && k.port[1].warp == w))
		if now.exits {
			k.count(h, now.lanes)
		}
	}
}

// drained reports whether a warp has nothing in flight to or from memory or in the
// floating-point pipe.
func (k *Core) drained(w uint8) bool {
	if k.outstanding[w] != 0 || k.replays>>w&1 != 0 || k.lsu.valid && k.lsu.warp == w {
		return false
	}
	for _, r := range [...]*result{&k.fpu, &k.mems[k.memAt]} {
		if r.valid && r.warp == w {
			return false
		}
	}
	for _, q := range [...]*queue{&k.queue[unitLSU], &k.queue[unitFPU]} {
		for n := range q.n {
			if q.ring[(q.head+n)%queueDepth].warp == w {
				return false
			}
		}
	}
	return true
}

// meet releases the warps at the barrier once all warps that have not exited are there.
func (k *Core) meet() {
	waiting := uint32(0)
	for w := range Warps {
		switch k.status[w] {
		case Ready:
			return
		case Barrier:
			waiting |= 1 << w
		}
	}
	k.barEpoch = ^k.barEpoch
	k.barSeen = k.barEpoch
	for ; waiting != 0; waiting &= waiting - 1 {
		k.setStatus(bits.TrailingZeros32(waiting), Ready)
	}
}

// Fault is an illegal instruction or access.
type Fault struct {
	Warp, Lane int // Lane is the first faulting lane
	Program    int // index of the warp's program
	PC         int
	Inst       string
	What       string
}

func (f *Fault) Error() string {
	return fmt.Sprintf("%s: warp %d, lane %d, pc %d: %s", f.What, f.Warp, f.Lane, f.PC, f.Inst)
}

// Fault returns the fault that ended the run, nil if there is none.
func (k *Core) Fault() *Fault { return k.fault }

// fail notes the first fault.
func (k *Core) fail(s *slot, lanes uint32, what string) {
	if k.fault == nil {
		k.fault = &Fault{Warp: int(s.warp), Lane: bits.TrailingZeros32(lanes) % isa.Lanes, Program: int(s.prog), PC: int(s.pc), Inst: k.inst(s).Text(), What: what}
	}
}

// diverge pushes an entry on a warp's divergence stack. The 33rd overwrites
// the first.
func (k *Core) diverge(h *slot, pc, mask uint32) {
	w := h.warp
	if k.cfg.Checked && k.stackTop[w] >= StackDepth {
		k.fail(h, mask, fmt.Sprintf("the divergence stack is full: %d entries", StackDepth))
		return
	}
	k.stack[w][k.stackTop[w]%StackDepth] = frame{pc, mask}
	k.stackTop[w] = (k.stackTop[w] + 1) & 63
}

// barrier simulates a cycle of BAR at the head of the integer queue. All decisions are
// based on the registers at the start of the cycle. In epoch zero no warp waits,
// because barSeen is zero as well.
func (k *Core) barrier(now *cycle, w uint8) {
	bit := uint32(1) << w
	active, init, expected := k.barActive, k.barInit, k.barExpected
	unseen := (k.barSeen^k.barEpoch)&bit != 0
	all := init && (k.barMask|bit)&expected == expected && expected != 0
	if !active {
		k.barExpected = 0
		for v := range Warps {
			if s := k.status[v]; s == Ready || s == Barrier {
				k.barExpected |= 1 << v
			}
		}
		k.barActive, k.barInit = true, false
	}
	if unseen {
		k.barSeen = k.barSeen&^bit | k.barEpoch&bit
		k.barMask |= bit
	}
	if active && !init {
		k.barInit = true
	}
	if now.commits && k.outstanding[w] == 0 && unseen {
		now.atBar = true
	}
	if all {
		k.barMask, k.barSeen = 0, 0
		k.barEpoch = ^k.barEpoch
		k.barActive, k.barInit = false, false
	}
}

// assign writes the masked lanes of a vector.
func assign(to, from *kasm.Vector, mask uint32) {
	if mask == ^uint32(0) {
		*to = *from
		return
	}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		to[l] = from[l]
	}
}

// writeBack writes the results in the write ports, then assigns the ports to the results
// of this cycle: the first to the integer pipe, the second to memory, and a free one to
// the floating-point pipe.
func (k *Core) writeBack(now *cycle) {
	for p := range k.port {
		if r := &k.port[p]; r.valid && r.mask != 0 {
			assign(&k.regs[r.warp][r.rd], &r.v, r.mask)
		}
		k.port[p].valid = false
	}
	if p := &k.predOut; p.valid {
		d := &k.preds[p.warp][p.pred]
		*d = *d&^p.mask | p.v&p.mask
	}
	k.predOut = k.aluPred

	mem := &k.mems[k.memAt]
	switch {
	case k.alu.valid:
		k.toPort(now, 0, &k.alu)
	case now.fpuServed:
		k.toPort(now, 0, &k.fpu)
	}
	switch {
	case mem.valid:
		k.toPort(now, 1, mem)
	case now.fpuServed && k.alu.valid:
		k.toPort(now, 1, &k.fpu)
	}
}

func (k *Core) toPort(now *cycle, p int, r *result) {
	d := &k.port[p]
	if k.record != nil && r.way != 0 {
		k.endWay(r.way, k.cycle, k.ways[r.way].Lanes, k.ways[r.way].Squashed)
	}
	d.valid, d.warp, d.rd, d.mask = true, r.warp, r.rd, r.mask
	if r.mask != 0 {
		d.v = r.v
	}
	now.clearWarp[p] = r.warp
	switch {
	case r.last:
		now.clears[p] = 1 << r.rd
	case now.clearWarp[0] == r.warp && !k.cfg.FullScoreboard:
		now.clears[0] &^= 1 << r.rd // a part other than the last keeps the register reserved
	}
}

// execute computes the results that leave the pipes at the end of the cycle.
func (k *Core) execute(now *cycle) {
	k.alu.valid, k.aluPred.valid = false, false
	if q := &k.queue[unitALU]; q.n > 0 {
		h := &q.ring[q.head]
		i := k.inst(h)
		r := &k.alu
		r.valid, r.last, r.warp, r.rd, r.mask = now.commits || !k.cfg.PatientExit, h.mark || !k.cfg.FullScoreboard, h.warp, i.rd, 0
		switch {
		case now.squash && i.setp && k.cfg.FullScoreboard:
			k.aluPred = predWrite{valid: true, warp: h.warp, pred: i.Rd & 7}
		case !now.squash && (i.writes || i.setp):
			k.compute(now, h, i, &r.v)
			if i.writes {
				r.mask = now.lanes
			}
			if i.setp {
				k.aluPred = predWrite{valid: true, warp: h.warp, pred: i.Rd & 7, mask: now.lanes}
				for l, v := range r.v {
					k.aluPred.v |= v << l
				}
			}
		}
		if now.pop[unitALU] {
			if k.record != nil {
				k.ways[h.way].Execute = k.cycle
				k.endWay(h.way, k.cycle+1, now.lanes, now.squash)
			}
			k.bufFree |= 1 << h.buf
		}
	}
	if now.fpuBlocked {
		return
	}
	r := &k.fpu
	r.valid = false
	q := &k.queue[unitFPU]
	if q.n == 0 {
		// An empty queue presents an operation of warp 0 with tag 0, which is squashed
		// if the warp's tag is different.
		if k.tag[0] != 0 && !k.cfg.PatientExit {
			r.valid, r.last, r.warp, r.rd, r.mask, r.way = true, true, 0, 0, 0, 0
		}
		return
	}
	h := &q.ring[q.head]
	i := k.inst(h)
	r.valid, r.last, r.warp, r.rd, r.mask, r.way = true, h.mark || !k.cfg.FullScoreboard, h.warp, i.rd, 0, 0
	if k.record != nil && now.pop[unitFPU] {
		r.way = h.way
		e := &k.ways[h.way]
		e.Execute, e.Lanes, e.Squashed = k.cycle, now.fpuLanes, now.fpuStale
	}
	if !now.fpuStale {
		r.mask = now.fpuLanes
		ops := &k.buf[h.buf]
		if !k.cfg.IEEE || !kasm.IEEE(i.Op, i.Imm, &ops[0], &ops[1], &ops[2], &r.v) {
			kasm.Float(i.Op, &ops[0], &ops[1], &ops[2], &r.v)
		}
	}
	if now.pop[unitFPU] {
		if now.fpuStale {
			k.stats.Squashed++
		} else {
			k.count(h, now.fpuLanes)
		}
		k.bufFree |= 1 << h.buf
	}
}
