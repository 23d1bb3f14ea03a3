package kepler

import (
	"math/bits"

	isa "github.com/heddle-sim/heddle/internal/isa/kasm"
)

// selectWarp chooses one or two instructions to fetch, of the first warp in round-robin
// order that can continue.
func (k *Core) selectWarp(now *cycle) {
	if now.stall || now.branch || k.branched || now.idle == 0 {
		return
	}
	if k.cfg.Greedy && k.ready>>k.last&1 != 0 && k.selectFrom(now, k.last) {
		return
	}
	below := uint32(1)<<k.next - 1
	for _, set := range [2]uint32{k.ready &^ below, k.ready & below} {
		for ; set != 0; set &= set - 1 {
			if k.selectFrom(now, uint8(bits.TrailingZeros32(set))) {
				return
			}
		}
	}
}

// selectFrom fetches one or two instructions of a warp if it can continue.
func (k *Core) selectFrom(now *cycle, w uint8) bool {
	prog, pc := &k.programs[k.program[w]], uint8(k.pc[w])
	i := &prog[pc]
	if i.global && k.free[w].n == 0 || !k.mayIssue(w, i) || k.cfg.Checked && k.pc[w] >= isa.ProgramWords {
		return false
	}
	k.fetch(now, 0, w, pc, i)
	if j := &prog[pc+1]; now.idle >= 2 && pairs(i, j) && k.mayIssue(w, j) && !(k.cfg.Checked && pc == isa.ProgramWords-1) {
		k.fetch(now, 1, w, pc+1, j)
		k.stats.DualIssues++
	} else {
		k.stats.SingleIssues++
	}
	return true
}

func (k *Core) fetch(now *cycle, at int, w, pc uint8, i *inst) {
	k.picked[w]++
	k.pickedPC[w] = pc
	now.chosen[at] = slot{valid: true, prog: k.program[w], pc: pc, warp: w, tag: k.tag[w]}
	if k.record != nil {
		now.chosen[at].way = k.newWay(w, pc)
	}
	if k.tracing {
		k.trace = append(k.trace, Fetch{k.cycle, int(w), int(pc), at, i.Op})
	}
}

// mayIssue reports whether the scoreboard lets an instruction of a warp issue.
func (k *Core) mayIssue(w uint8, i *inst) bool {
	if i.free {
		return true
	}
	if k.cfg.FullScoreboard {
		return k.mayIssueInFull(w, i)
	}
	if i.pred != isa.Always && k.predBusy[w]>>i.pred&1 != 0 &&
		!(k.aluPred.valid && k.aluPred.warp == w && k.aluPred.pred == i.pred) {
		return false
	}
	if k.busy[w]&^k.cleared[w]&i.watch != 0 {
		return false
	}
	for p := range k.fetched {
		f := &k.fetched[p]
		if !f.valid || f.warp != w {
			continue
		}
		j := k.inst(f)
		if j.ahead && i.names(j.Rd) || j.setp && i.needsPred(j.Rd&7) {
			return false
		}
	}
	return true
}

// mayIssueInFull is mayIssue for a scoreboard without gaps.
func (k *Core) mayIssueInFull(w uint8, i *inst) bool {
	preds := k.predBusy[w]
	if k.aluPred.valid && k.aluPred.warp == w {
		preds &^= 1 << k.aluPred.pred
	}
	if k.busy[w]&i.watch != 0 {
		return false
	}
	for p := range k.fetched {
		f := &k.fetched[p]
		if !f.valid || f.warp != w {
			continue
		}
		j := k.inst(f)
		if j.ahead && i.named>>j.rd&1 != 0 {
			return false
		}
		if j.setp {
			preds |= 1 << (j.Rd & 7)
		}
	}
	preds &^= 1 << isa.Always
	return preds>>i.pred&1 == 0 && !(i.selp && preds>>(i.Imm&7)&1 != 0) && !(i.setp && preds>>(i.Rd&7)&1 != 0)
}

// pairs reports whether instruction b may be issued together with a before it.
func pairs(a, b *inst) bool {
	switch {
	case a.unit == b.unit && a.sfu == b.sfu || a.unit == unitControl || b.unit == unitControl:
		return false
	case a.pairs && (b.names(a.Rd) || a.full && b.named>>a.rd&1 != 0):
		return false
	case a.setp && b.needsPredPaired(a.Rd&7):
		return false
	}
	return true
}

// decode moves fetched instructions on with the current mask, and marks the
// scoreboards. It runs after collect, which reads the previously decoded instructions.
func (k *Core) decode(now *cycle) {
	if now.stall {
		return
	}
	for p := range k.fetched {
		f := &k.fetched[p]
		d := &k.decoded[p]
		*d = *f
		d.valid = f.valid && f.tag == k.tag[f.warp]
		if k.record != nil && f.valid {
			k.decodeWay(d)
		}
		if !d.valid {
			continue
		}
		d.mask = k.mask[f.warp]
		if k.cfg.FullScoreboard {
			k.reserve(now, p)
			continue
		}
		if now.branch && now.warp == f.warp || k.branched && k.branchWarp == f.warp {
			continue
		}
		i := k.inst(f)
		now.markWarp[p] = f.warp
		if i.marks {
			now.marks[p] = 1 << i.rd
		}
		if i.setp {
			now.markPred[p] = 1 << (i.Rd & 7)
		}
	}
}

// reserve marks what an instruction will write, and reads its guard. No instruction in
// flight writes the predicate, so its value is in the file or in the write port.
func (k *Core) reserve(now *cycle, p int) {
	d := &k.decoded[p]
	i := k.inst(d)
	now.markWarp[p] = d.warp
	if i.marks {
		d.mark = true
		now.marks[p] = 1 << i.rd
	}
	if i.setp {
		now.markPred[p] = 1 << (i.Rd & 7)
	}
	guard := k.settled(d.warp, i.pred)
	if i.Guard&8 != 0 {
		guard = ^guard
	}
	d.mask &= guard
	if i.selp {
		d.selp = k.settled(d.warp, uint8(i.Imm&7))
	}
}

// settled returns the lanes in which a predicate is true that no instruction in flight
// will change.
func (k *Core) settled(w, p uint8) uint32 {
	if p == isa.Always {
		return ^uint32(0)
	}
	v := k.preds[w][p]
	if o := &k.predOut; o.valid && o.warp == w && o.pred == p {
		v = v&^o.mask | o.v&o.mask
	}
	return v
}

// collect reads operands, completes collectors, squashes instructions that a branch has
// overtaken, and allocates collectors to decoded instructions.
func (k *Core) collect(now *cycle) {
	idle := k.idle // before this cycle's releases
	if k.waiting != 0 {
		k.readOperands()
	}
	k.squash()

	// Allocation is not gated by a stall: while a request replays in shared memory,
	// the decoded instructions are held and allocated again in every cycle.
	d := &k.decoded
	switch {
	case now.stall && k.cfg.Lossless:
	case d[0].valid && d[1].valid:
		if now.idle >= 2 {
			first := bits.TrailingZeros32(idle)
			k.allocate(first, &d[0])
			k.allocate(bits.TrailingZeros32(idle&^(1<<first)), &d[1])
		}
	case d[0].valid && now.idle >= 1:
		k.allocate(bits.TrailingZeros32(idle), &d[0])
	case d[1].valid && now.idle >= 2:
		k.allocate(bits.TrailingZeros32(idle), &d[1])
	}
	k.idle |= now.freed
}

func (k *Core) allocate(u int, s *slot) {
	k.idle &^= 1 << u
	k.waiting |= 1 << u
	e := &k.unit[u]
	*e = *s
	if k.record != nil {
		k.collectWay(e)
	}
	e.id = k.issueID[s.warp]
	k.issueID[s.warp]++
	e.buf = uint8(bits.TrailingZeros64(k.bufFree))
	k.bufFree &^= 1 << e.buf
	i := k.inst(s)
	k.missing[u] = i.collects
	if i.Op == isa.LDR {
		// Its data is meaningless, but a replayed part of a load can be sent to memory
		// as a store.
		k.buf[e.buf][1] = k.second[u]
	}
}

// readOperands reads one operand from each bank of the register file, and forwards
// those in the write ports.
func (k *Core) readOperands() {
	var forward [collectors]uint8
	var wants [banks]uint32 // by bank: collectors with an operand to read
	for set := k.waiting; set != 0; set &= set - 1 {
		u := bits.TrailingZeros32(set)
		m := k.missing[u]
		if m == 0 {
			k.waiting &^= 1 << u
			k.complete |= 1 << u
			continue
		}
		s := &k.unit[u]
		i := k.inst(s)
		for p := range k.port {
			r := &k.port[p]
			if !r.valid || r.mask == 0 || r.warp != s.warp {
				continue
			}
			for o, reg := range i.reg {
				if m>>o&1 != 0 && reg == r.rd {
					forward[u] |= 1 << o
					k.buf[s.buf][o] = r.v
					if o == 1 {
						k.second[u] = r.v
					}
				}
			}
		}
		for o, reg := range i.reg {
			if m&^forward[u]>>o&1 != 0 {
				wants[reg%banks] |= 1 << u
			}
		}
	}
	var got [collectors]uint8
	read := uint32(0)
	for b := range wants {
		if wants[b] == 0 {
			continue
		}
		u := first(wants[b], k.bankNext[b])
		k.bankNext[b] = (u + 1) % collectors
		s := &k.unit[u]
		i := k.inst(s)
		for o, reg := range i.reg {
			if k.missing[u]>>o&1 != 0 && int(reg%banks) == b {
				if forward[u]>>o&1 == 0 {
					k.buf[s.buf][o] = k.regs[s.warp][reg]
					if o == 1 {
						k.second[u] = k.regs[s.warp][reg]
					}
				}
				got[u] |= 1 << o
				break
			}
		}
		read |= 1 << u
	}
	for set := k.waiting; set != 0; set &= set - 1 {
		u := bits.TrailingZeros32(set)
		k.missing[u] &^= got[u] | forward[u]
	}
}

// first returns the first member of a non-empty set at or cyclically after from.
func first(set uint32, from uint8) uint8 {
	if high := set &^ (1<<from - 1); high != 0 {
		return uint8(bits.TrailingZeros32(high))
	}
	return uint8(bits.TrailingZeros32(set))
}

// squash turns instructions that branches have overtaken into operations without
// effect.
func (k *Core) squash() {
	for set := k.waiting | k.complete; set != 0; set &= set - 1 {
		u := bits.TrailingZeros32(set)
		s := &k.unit[u]
		if s.tag != k.tag[s.warp] {
			s.nop = true
			k.missing[u] = 0
			k.waiting &^= 1 << u
			k.complete |= 1 << u
		}
	}
}

// class returns the queue that a collector's instruction goes to.
func (k *Core) class(s *slot) int {
	if s.nop {
		return int(unitALU)
	}
	return k.inst(s).unit.pipe()
}

// release moves complete instructions to the queues: each warp's in order, at most two
// per cycle, to different queues.
func (k *Core) release(now *cycle) {
	if k.complete == 0 {
		return
	}
	for q := range k.queue {
		now.full[q] = k.queue[q].n == queueDepth
	}
	a := k.nextOut(-1, -1, false)
	if a < 0 {
		return
	}
	ca := k.class(&k.unit[a])
	b := k.nextOut(a, ca, !(k.cfg.Lossless && now.full[ca]))
	last := a
	if b >= 0 {
		last = b
	}
	k.outNext = uint8(last+1) % collectors
	k.accept(now, a, ca)
	if b >= 0 {
		k.accept(now, b, k.class(&k.unit[b]))
	}
}

// nextOut returns the first complete collector whose instruction is the next of its
// warp, given that collector with, if any, leaves in the same cycle; -1 if there is
// none.
func (k *Core) nextOut(with, class int, leaves bool) int {
	below := uint32(1)<<k.outNext - 1
	for _, set := range [2]uint32{k.complete &^ below, k.complete & below} {
		for ; set != 0; set &= set - 1 {
			u := bits.TrailingZeros32(set)
			s := &k.unit[u]
			turn := k.releaseID[s.warp]
			if with >= 0 {
				if u == with {
					continue
				}
				if leaves && k.unit[with].warp == s.warp {
					turn++
				}
				if k.class(s) == class {
					continue
				}
			}
			if s.id == turn && !(k.cfg.FullScoreboard && k.overtakes(s, with)) {
				return u
			}
		}
	}
	return -1
}

// overtakes reports whether an instruction would overtake an unresolved control
// instruction of its warp through another queue.
func (k *Core) overtakes(s *slot, with int) bool {
	if k.class(s) == int(unitALU) {
		return false
	}
	if k.control[s.warp] > 0 {
		return true
	}
	return with >= 0 && k.unit[with].warp == s.warp && k.inst(&k.unit[with]).unit == unitControl
}

// accept moves an instruction into its queue if there is room. For a full queue the
// router relies on a pop in the same cycle; the queue does not allow for it and drops
// the instruction.
func (k *Core) accept(now *cycle, u, q int) {
	if now.full[q] && (q == int(unitALU) || !now.pop[q] || k.cfg.Lossless) {
		return
	}
	s := &k.unit[u]
	if now.full[q] {
		k.bufFree |= 1 << s.buf
		if k.record != nil {
			k.dropWay(s.way)
		}
	} else {
		now.push[q] = *s
		if k.record != nil {
			k.ways[s.way].Queue = k.cycle + 1
		}
		if k.cfg.FullScoreboard && q != int(unitALU) {
			now.push[q].nop = k.stale(s)
		}
	}
	k.releaseID[s.warp]++
	k.complete &^= 1 << u
	now.freed |= 1 << u
}
