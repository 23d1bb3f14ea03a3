package sass

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: which lanes of a warp run where.

// state of a fragment.
type state uint8

const (
	ready        state = iota
	atBarrier          // waits at a barrier of the block
	atJoin             // waits at a BSYNC for the lanes of its B register
	atSync             // waits at a WARPSYNC
	atCollective       // waits at a WARPSYNC.COLLECTIVE
)

// frag is a set of lanes of a warp that execute together. A converged warp has
// one.
type frag struct {
	pc   int32
	mask uint32
	st   state
	bar  uint8  // B register while atJoin, barrier while atBarrier
	need uint32 // lanes that a WARPSYNC names
}

// starve is the number of instructions a fragment runs before others get a turn when it
// jumps back (assumed: hardware guarantees progress, but not when).
const starve = 4096

// ready makes sure that a fragment runs, if one can.
func (w *warp) ready() bool {
	if w.running {
		return true
	}
	for i := len(w.frags) - 1; i >= 0; i-- {
		if w.frags[i].st == ready {
			f := w.frags[i]
			w.frags = append(w.frags[:i], w.frags[i+1:]...)
			w.pc, w.mask, w.running, w.since = f.pc, f.mask, true, w.insts
			return true
		}
	}
	return false
}

// push adds a ready fragment that runs next.
func (w *warp) push(pc int32, m uint32) { w.frags = append(w.frags, frag{pc: pc, mask: m}) }

// park makes lanes m of the running fragment wait; the others continue after the
// instruction.
func (w *warp) park(f frag) {
	if rest := w.mask &^ f.mask; rest != 0 {
		w.push(w.pc+1, rest)
	}
	f.pc = w.pc
	w.frags = append(w.frags, f)
	w.running = false
}

// split sends lanes m of the running fragment to target; the others continue.
func (w *warp) split(target int32, m uint32) {
	rest := w.mask &^ m
	if rest == 0 {
		back := target <= w.pc
		w.pc = target
		if back && w.insts-w.since > starve {
			w.giveWay()
		}
		return
	}
	if w.blk.launch.TakenFirst {
		w.push(w.pc+1, rest)
		w.mask, w.pc = m, target
	} else {
		w.push(target, m)
		w.mask, w.pc = rest, w.pc+1
	}
}

// giveWay puts the running fragment after all others, if any can run.
func (w *warp) giveWay() {
	w.since = w.insts
	for i := range w.frags {
		if w.frags[i].st == ready {
			w.frags = append(w.frags, frag{})
			copy(w.frags[1:], w.frags)
			w.frags[0] = frag{pc: w.pc, mask: w.mask}
			w.running = false
			return
		}
	}
}

// members returns the lanes that a fragment waits for at B register b.
func (w *warp) members(b uint8, m uint32) uint32 {
	return w.b[b][bits.TrailingZeros32(m)&31] & w.live
}

// awaited returns the lanes that a fragment at BSYNC or WARPSYNC waits for, and
// those that have come; waits is off for a fragment that is elsewhere.
func (w *warp) awaited(f *frag) (need, came uint32, waits bool) {
	switch f.st {
	case atJoin:
		need = w.members(f.bar, f.mask)
	case atSync, atCollective:
		need = f.need & w.live
	default:
		return 0, 0, false
	}
	came = f.mask
	for k := range w.frags {
		if g := &w.frags[k]; w.together(f, g) {
			came |= g.mask
		}
	}
	return need, came, true
}

// settle releases fragments whose lanes have all arrived: those at BSYNC and at WARPSYNC.
// Fragments that leave the same instruction together become one.
func (w *warp) settle() {
	for again := true; again; {
		again = false
		for i := range w.frags {
			f := &w.frags[i]
			if need, came, waits := w.awaited(f); waits && need&^came == 0 {
				w.meet(*f)
				again = true
				break
			}
		}
	}
}

// together reports whether g waits for what f waits for.
func (w *warp) together(f, g *frag) bool {
	if g.st != f.st {
		return false
	}
	if f.st == atJoin {
		// Deeper in a function that calls itself, lanes may wait at the same register for others.
		need := w.members(f.bar, f.mask)
		return g.bar == f.bar && need&g.mask != 0 && need == w.members(g.bar, g.mask)
	}
	return g.need == f.need
}

// meet releases the fragments that wait with f. Those that wait for a collective region continue
// together, wherever they wait: compilers repeat the region with the same registers.
func (w *warp) meet(f frag) {
	f0 := f
	left := w.frags[:0]
	var free [32]frag
	n := 0
	for _, g := range w.frags {
		if g.mask != f0.mask && !w.together(&f0, &g) {
			left = append(left, g)
			continue
		}
		pc := g.pc + 1
		if f0.st == atCollective {
			pc = f0.pc + 1
		}
		k := 0
		for k < n && free[k].pc != pc {
			k++
		}
		if k == n {
			free[k] = frag{pc: pc}
			n++
		}
		free[k].mask |= g.mask
	}
	w.frags = append(left, free[:n]...)
	if f0.st != atJoin {
		met := f0.mask
		for _, g := range free[:n] {
			met |= g.mask
		}
		w.met(met)
	}
}

// actBranch is BRA and similar instructions with a fixed target.
func actBranch(w *warp, in *inst, m uint32) {
	w.split(in.target, m)
}

// actBranchAny is BRA.ANY: all active lanes jump.
func actBranchAny(w *warp, in *inst, _ uint32) {
	w.split(in.target, w.mask)
}

// actBranchDiv is BRA.DIV and BRA.CONV: the lanes jump if the active lanes are not, or
// are, the expected ones.
func actBranchDiv(w *warp, in *inst, m uint32) {
	want := w.live
	if in.nsrc > 0 {
		want = w.row(in.src[0].row)[0]&in.src[0].and ^ in.src[0].xor
	}
	if (w.mask == want) == in.flag {
		w.split(in.target, m)
	} else {
		w.pc++
	}
}

// actIndirect sends each lane to the address in a register pair plus a constant.
// A destination outside the code, or between instructions, is a fault.
func actIndirect(w *warp, in *inst, m uint32) {
	var at [32]int32
	lo, hi := w.row(in.src[0].row), w.row(in.src[1].row)
	end := uint64(len(w.blk.im.code)-1) * instBytes
	for t := m; t != 0; t &= t - 1 {
		i := bits.TrailingZeros32(t) & 31
		a := uint64(lo[i]) | uint64(hi[i])<<32
		if in.flag { // the register has 32 bits
			a = uint64(int64(int32(lo[i])))
		}
		a += in.imm
		if n := (a - pointerBase) / instBytes; a >= pointerBase {
			if k := w.blk.im.kernel; n >= uint64(len(k.entries)) || k.entries[n] == 0 {
				w.failAs(exec.BadCall, in, 1<<i, "jump to %#x, where there is no function that kernel %s can call", a, k.Name())
				return
			}
			a = w.blk.im.kernel.entries[n] + a%instBytes
		} else if a >= providedBase {
			// A call: the lanes continue where they return to.
			w.call(in, (a-providedBase)/instBytes, 1<<i)
			if w.fault != nil {
				return
			}
			a = uint64(w.rows[returnRegister][i]) | uint64(w.rows[returnRegister+1][i])<<32
		}
		if a >= end || a%instBytes != 0 {
			w.failf(in, 1<<i, "jump to %#x, which is not an instruction of the kernel; it has %d bytes of code", a, end)
			return
		}
		at[i] = int32(a / instBytes)
	}
	first := at[bits.TrailingZeros32(m)&31]
	rest := w.mask &^ m
	if rest != 0 {
		w.push(w.pc+1, rest)
	}
	for t := m; t != 0; {
		to := at[bits.TrailingZeros32(t)&31]
		same := uint32(0)
		for k := t; k != 0; k &= k - 1 {
			if i := bits.TrailingZeros32(k) & 31; at[i] == to {
				same |= 1 << i
			}
		}
		t &^= same
		if to == first {
			w.mask = same
		} else {
			w.push(to, same)
		}
	}
	back := first <= w.pc
	w.pc = first
	if back && rest == 0 && w.insts-w.since > starve {
		w.giveWay()
	}
}

// actExit ends lanes m.
func actExit(w *warp, in *inst, m uint32) {
	w.live &^= m
	w.mask &^= m
	if p := w.probe(in); p != nil {
		p.Exit(w.id, isa.LaneMask(m))
	}
	w.pc++
	if w.mask == 0 {
		w.running = false
	}
	w.settle()
	w.blk.exited(w)
}

// actBSSY stores the active lanes in a B register.
func actBSSY(w *warp, in *inst, m uint32) {
	b := &w.b[in.arg]
	for t := m; t != 0; t &= t - 1 {
		b[bits.TrailingZeros32(t)&31] = m
	}
	w.pc++
}

// actBSYNC waits for the lanes of a B register.
func actBSYNC(w *warp, in *inst, m uint32) {
	if w.members(in.arg, m)&^m == 0 && m == w.mask {
		w.pc++
		return
	}
	w.park(frag{mask: m, st: atJoin, bar: in.arg})
	w.settle()
}

// actBREAK takes lanes m out of a B register.
func actBREAK(w *warp, in *inst, m uint32) {
	b := &w.b[in.arg]
	for i := range b {
		b[i] &^= m
	}
	w.pc++
	w.settle()
}

// actBMOV writes lanes of a register to a B register.
func actBMOV(w *warp, in *inst, m uint32) {
	v := w.row(in.src[0].row)
	for t := m; t != 0; t &= t - 1 {
		i := bits.TrailingZeros32(t) & 31
		w.b[in.arg][i] = v[i]
	}
	w.pc++
	w.settle()
}

// opReadB reads a B register, and clears it if flag is set.
func opReadB(w *warp, in *inst, p *pending, m uint32) {
	b := &w.b[in.arg]
	*p.d[0] = *b
	if in.flag {
		for ; m != 0; m &= m - 1 {
			b[bits.TrailingZeros32(m)&31] = 0
		}
		w.settle()
	}
}

// actWARPSYNC waits for the lanes of a mask, which each lane provides for itself.
func actWARPSYNC(w *warp, in *inst, m uint32) {
	v := w.row(in.src[0].row)
	need := v[bits.TrailingZeros32(m)&31]
	same := uint32(0)
	for t := m; t != 0; t &= t - 1 {
		if i := bits.TrailingZeros32(t) & 31; v[i] == need {
			same |= 1 << i
		}
	}
	if p := w.probe(in); p != nil && same&^need != 0 {
		p.Misuse(exec.OutsideMask, w.id, isa.LaneMask(same&^need), isa.LaneMask(need))
	}
	st := atSync
	if in.flag {
		st = atCollective
		for t := same; t != 0; t &= t - 1 {
			w.after[bits.TrailingZeros32(t)&31] = in.target + 1
		}
	}
	if need&w.live&^m == 0 && same == w.mask {
		w.met(same)
		w.pc++
		return
	}
	pc, rest := w.pc, w.mask&^same
	if late := rest & m; late != 0 { // lanes with other masks execute it separately
		w.push(pc, late)
		w.mask &^= late
	}
	w.park(frag{mask: same, st: st, need: need})
	w.settle()
}

// actEndCollective sends lanes to where they continue after a collective region.
func actEndCollective(w *warp, _ *inst, m uint32) {
	pc, rest := w.pc, w.mask&^m
	w.running = false
	if rest != 0 {
		w.push(pc+1, rest)
	}
	for m != 0 {
		to, same := w.after[bits.TrailingZeros32(m)&31], uint32(0)
		for t := m; t != 0; t &= t - 1 {
			if i := bits.TrailingZeros32(t) & 31; w.after[i] == to {
				same |= 1 << i
			}
		}
		m &^= same
		for t := same; t != 0; t &= t - 1 {
			w.after[bits.TrailingZeros32(t)&31] = 0
		}
		if to == 0 {
			to = pc + 2
		}
		w.push(to-1, same)
	}
}

// actYIELD lets other parts of the warp run.
func actYIELD(w *warp, _ *inst, _ uint32) {
	w.pc++
	w.giveWay()
}

// actTrap is BPT.TRAP.
func actTrap(w *warp, in *inst, m uint32) {
	w.failAs(exec.Trap, in, m, "trap")
}

// actEnd is executed after the last instruction.
func actEnd(w *warp, in *inst, m uint32) {
	w.failf(in, m, "the kernel runs past its last instruction; end it with EXIT")
}
