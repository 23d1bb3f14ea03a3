package ptx

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: inspecting a warp between two steps. Nothing here changes it.

// Fragments returns the sets of lanes that execute separately.
func (w *warp) Fragments() []exec.Fragment {
	var list []exec.Fragment
	add := func(f *frag) {
		what, barrier, lanes := w.blk.waitOf(w, f)
		list = append(list, exec.Fragment{Lanes: isa.LaneMask(f.mask), Function: f.fr.f.name, PC: int(f.pc), Waits: what, Barrier: barrier, For: isa.LaneMask(lanes)})
	}
	if w.running {
		add(&frag{pc: w.pc, mask: w.mask, fr: w.fr})
	}
	for _, first := range [2]bool{true, false} {
		for i := len(w.frags) - 1; i >= 0; i-- {
			if f := &w.frags[i]; (f.st == ready) == first {
				add(f)
			}
		}
	}
	return list
}

// Joins returns the places where lanes wait, or will wait, for others.
func (w *warp) Joins() []exec.Join {
	var list []exec.Join
	var depth []int
	for i := range w.joins {
		j := &w.joins[i]
		if !j.live || j.want == 0 || j.parent < 0 {
			continue // the end of the kernel is not a reconvergence point
		}
		d := 0
		for p := j.parent; p >= 0; p = w.joins[p].parent {
			d++
		}
		at := len(list)
		for at > 0 && depth[at-1] > d {
			at--
		}
		list = slices.Insert(list, at, exec.Join{Function: j.fr.f.name, PC: int(j.pc), Came: isa.LaneMask(j.got), Missing: isa.LaneMask(j.want &^ j.got)})
		depth = slices.Insert(depth, at, d)
	}
	return list
}

// frameOf returns the call that a lane is executing, nil if it has exited.
func (w *warp) frameOf(lane int) *frame {
	if w.running && w.mask>>lane&1 != 0 {
		return w.fr
	}
	for i := range w.frags {
		if w.frags[i].mask>>lane&1 != 0 {
			return w.frags[i].fr
		}
	}
	for i := range w.joins {
		if j := &w.joins[i]; j.live && j.got>>lane&1 != 0 {
			return j.fr
		}
	}
	return nil
}

// Frame returns the call that a lane is executing, with its registers.
func (w *warp) Frame(lane int) (exec.Frame, bool) {
	if lane < 0 || lane > 31 || w.live>>lane&1 == 0 {
		return exec.Frame{}, false
	}
	fr := w.frameOf(lane)
	if fr == nil {
		return exec.Frame{}, false
	}
	out := exec.Frame{Function: fr.f.name}
	for i := range 32 {
		if w.live>>i&1 != 0 && w.frameOf(i) == fr {
			out.Lanes |= 1 << i
		}
	}
	list := fr.f.registers()
	out.Registers = make([]exec.Register, 0, len(list))
	for _, k := range list {
		cl := classOf(k.v.Type)
		name := k.v.Name
		if k.v.Count > 0 {
			name = fmt.Sprint(name, k.i)
		}
		for e := range max(1, k.v.Vec) {
			r := exec.Register{Name: name, Type: "." + string(k.v.Type), Bits: k.v.Type.Bits()}
			if k.v.Vec > 0 {
				r.Name += "." + string("xyzw"[e&3])
				if k.v.Vec > 4 {
					r.Name = fmt.Sprintf("%s[%d]", name, e)
				}
			}
			s := fr.f.slots[k]
			switch cl {
			case cPred:
				r.Bits = 1
				for i := range 32 {
					r.Lo[i] = uint64(fr.pr[int(s)+e] >> i & 1)
				}
			case c32:
				for i, v := range fr.r32[int(s)+e] {
					r.Lo[i] = uint64(v)
				}
			case c64:
				r.Lo = fr.r64[int(s)+e]
			case c128:
				r.Lo, r.Hi = fr.r64[int(s)+2*e], fr.r64[int(s)+2*e+1]
			}
			out.Registers = append(out.Registers, r)
		}
	}
	return out, true
}

// registers lists a function's registers in the order of their declarations.
func (f *fn) registers() []slotKey {
	list := make([]slotKey, 0, len(f.slots))
	for k := range f.slots {
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b slotKey) int {
		return cmp.Or(cmp.Compare(a.v.ID, b.v.ID), cmp.Compare(a.i, b.i))
	})
	return list
}
