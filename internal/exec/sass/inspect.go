package sass

import (
	"math/bits"
	"strconv"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: inspecting a warp between two steps. Nothing here changes it.

// Fragments returns the sets of lanes that execute separately.
func (w *warp) Fragments() []exec.Fragment {
	var list []exec.Fragment
	name := w.blk.im.kernel.Name()
	if w.running {
		list = append(list, exec.Fragment{Lanes: isa.LaneMask(w.mask), Function: name, PC: int(w.pc), Barrier: -1})
	}
	for _, first := range [2]bool{true, false} {
		for i := len(w.frags) - 1; i >= 0; i-- {
			if f := &w.frags[i]; (f.st == ready) == first {
				what, barrier, lanes := w.blk.waitOf(w, f)
				list = append(list, exec.Fragment{Lanes: isa.LaneMask(f.mask), Function: name, PC: int(f.pc), Waits: what, Barrier: barrier, For: isa.LaneMask(lanes)})
			}
		}
	}
	return list
}

// Joins returns the places where lanes wait for others: BSYNC and WARPSYNC.
func (w *warp) Joins() []exec.Join {
	var list []exec.Join
	for i := range w.frags {
		f := &w.frags[i]
		need, came, waits := w.awaited(f)
		if !waits {
			continue
		}
		list = append(list, exec.Join{Function: w.blk.im.kernel.Name(), PC: int(f.pc), Came: isa.LaneMask(came), Missing: isa.LaneMask(need &^ came)})
	}
	return list
}

// Frame returns the registers of the warp; all lanes are in one function.
func (w *warp) Frame(lane int) (exec.Frame, bool) { return w.Changed(lane, nil) }

// Changed returns the registers that have changed.
func (w *warp) Changed(lane int, since *exec.Seen) (exec.Frame, bool) {
	if lane < 0 || lane > 31 || w.live>>lane&1 == 0 {
		return exec.Frame{}, false
	}
	k := w.blk.im.kernel
	out := exec.Frame{Function: k.Name(), Lanes: isa.LaneMask(w.live), Registers: since.List(k.rows + predicates + len(w.b))}
	since.Begin(k, out.Lanes)
	add := func(name string, i int, v *[32]uint32) {
		out.Registers = append(out.Registers, exec.Register{Name: name + strconv.Itoa(i), Type: ".b32", Bits: 32})
		to := &out.Registers[len(out.Registers)-1].Lo
		for l, x := range v {
			to[l] = uint64(x)
		}
	}
	row := func(i int) {
		if v := &w.rows[i]; !since.Row(i, v) {
			return
		} else if i < k.regs {
			add("R", i, v)
		} else {
			add("UR", i-k.regs, v)
		}
	}
	if since.Few() {
		for _, r := range since.Wrote {
			from := int(r.Index)
			switch r.File {
			case isa.RegUGPR:
				from += k.regs
			case isa.RegGPR:
			default:
				continue
			}
			for i := range min(int(r.Count), k.rows-from) {
				row(from + i)
			}
		}
	} else {
		for i := range k.rows {
			row(i)
		}
	}
	for i, v := range w.pr {
		if i%uniformPred == predTrue || !since.Mask(i, v) {
			continue
		}
		name := "P" + strconv.Itoa(i)
		if i >= uniformPred {
			name = "UP" + strconv.Itoa(i-uniformPred)
		}
		r := exec.Register{Name: name, Type: ".pred", Bits: 1}
		for l := range r.Lo {
			r.Lo[l] = uint64(v >> l & 1)
		}
		out.Registers = append(out.Registers, r)
	}
	for i := range w.b {
		if v := &w.b[i]; since.Row(k.rows+i, v) && *v != [32]uint32{} {
			add("B", i, v)
		}
	}
	since.End(out.Registers)
	return out, true
}

// Digest returns a number that summarises what decides the warp's next steps: its lanes'
// positions and registers. It returns false while lanes that are not running might run
// before the others have moved on, or while results are pending.
func (w *warp) Digest() (uint64, bool) {
	if !w.running || w.open != 0 {
		return 0, false
	}
	for i := range w.frags {
		if w.frags[i].st == ready {
			return 0, false
		}
	}
	return uint64(w.registers(exec.Digest(uint64(uint32(w.pc))<<32 | uint64(w.mask)))), true
}

// registers adds the warp's.
func (w *warp) registers(h exec.Digest) exec.Digest {
	mix := func(v uint64) { h = h.Add(v) }
	mix(uint64(w.live))
	for _, p := range w.pr {
		mix(uint64(p))
	}
	for i := range w.rows {
		for l := 0; l < 32; l += 2 {
			mix(uint64(w.rows[i][l]) | uint64(w.rows[i][l+1])<<32)
		}
	}
	for i := range w.b {
		for l := 0; l < 32; l += 2 {
			mix(uint64(w.b[i][l]) | uint64(w.b[i][l+1])<<32)
		}
	}
	return h
}

// State is as in exec.Stater. Lanes of a warp that wait for others of the warp do nothing as long as
// the others do nothing new.
func (b *block) State() (uint64, bool) {
	h := b.CTA.State()
	for i := range b.warps {
		w := &b.warps[i]
		if w.live == 0 {
			continue
		}
		all := !w.running && w.open == 0 && len(w.frags) == 1 && w.frags[0].mask == w.live // that wait at a barrier, or have met there
		for k := range w.frags {
			f := &w.frags[k]
			if f.st == ready && !all {
				return 0, false
			}
			h = h.Add(uint64(uint32(f.pc))<<32 | uint64(f.mask))
		}
		if d, ok := w.Digest(); ok {
			h = h.Add(d)
		} else if w.running {
			return 0, false
		} else if all {
			f := &w.frags[0]
			h = w.registers(h.Add(uint64(f.st)<<48 | uint64(f.bar)<<32 | uint64(f.need)))
		} else {
			h = h.Add(w.insts)
		}
		for _, v := range w.after {
			h = h.Add(uint64(uint32(v)))
		}
		for _, v := range w.barCount {
			h = h.Add(uint64(v))
		}
		h = h.Add(uint64(w.barPred))
		if w.used {
			h = h.Bytes(w.local)
		}
	}
	return uint64(h), true
}

// Loops returns the places of the warps that can run.
func (b *block) Loops() (list []exec.Where) {
	for i := range b.warps {
		if w := &b.warps[i]; w.live != 0 && w.ready() {
			list = append(list, w.where(bits.TrailingZeros32(w.mask)&31, &b.im.code[w.pc]))
		}
	}
	return list
}
