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
func (w *warp) Frame(lane int) (exec.Frame, bool) { return w.Changed(lane, nil) }

// Changed returns the call that a lane is executing, with the registers that have changed.
func (w *warp) Changed(lane int, since *exec.Seen) (exec.Frame, bool) {
	if lane < 0 || lane > 31 || w.live>>lane&1 == 0 {
		return exec.Frame{}, false
	}
	fr := w.frameOf(lane)
	if fr == nil {
		return exec.Frame{}, false
	}
	list := fr.f.registers()
	out := exec.Frame{Function: fr.f.name, Registers: since.List(len(list))}
	for i := range 32 {
		if w.live>>i&1 != 0 && w.frameOf(i) == fr {
			out.Lanes |= 1 << i
		}
	}
	since.Begin(fr.f, out.Lanes)
	for i := range list {
		k := &list[i]
		differs := false
		switch s := k.slot; k.class {
		case cPred:
			differs = since.Mask(s, fr.pr[s])
		case c32:
			differs = since.Row(s, &fr.r32[s])
		case c64:
			differs = since.Wide(s, &fr.r64[s])
		case c128:
			low := since.Wide(s, &fr.r64[s])
			differs = since.Wide(s+1, &fr.r64[s+1]) || low
		}
		if !differs {
			continue
		}
		out.Registers = append(out.Registers, exec.Register{Name: k.name, Type: k.typ, Bits: k.bits})
		r := &out.Registers[len(out.Registers)-1]
		switch s := k.slot; k.class {
		case cPred:
			for l := range r.Lo {
				r.Lo[l] = uint64(fr.pr[s] >> l & 1)
			}
		case c32:
			for l, v := range fr.r32[s] {
				r.Lo[l] = uint64(v)
			}
		case c64:
			r.Lo = fr.r64[s]
		case c128:
			r.Lo, r.Hi = fr.r64[s], fr.r64[s+1]
		}
	}
	since.End(out.Registers)
	return out, true
}

// namedSlot is a register, or an element of a vector, with its name and place.
type namedSlot struct {
	name, typ string
	bits      int
	class     regClass
	slot      int
}

// namedSlots lists a function's registers in the order of their declarations.
func (f *fn) namedSlots() []namedSlot {
	keys := make([]slotKey, 0, len(f.slots))
	for k := range f.slots {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b slotKey) int {
		return cmp.Or(cmp.Compare(a.v.ID, b.v.ID), cmp.Compare(a.i, b.i))
	})
	list := make([]namedSlot, 0, len(keys))
	for _, k := range keys {
		x := namedSlot{name: k.v.Name, typ: "." + string(k.v.Type), bits: k.v.Type.Bits(), class: classOf(k.v.Type)}
		if k.v.Count > 0 {
			x.name = fmt.Sprint(x.name, k.i)
		}
		if x.class == cPred {
			x.bits = 1
		}
		for e := range max(1, k.v.Vec) {
			y := x
			switch {
			case k.v.Vec > 4:
				y.name = fmt.Sprintf("%s[%d]", x.name, e)
			case k.v.Vec > 0:
				y.name += "." + string("xyzw"[e])
			}
			y.slot = int(f.slots[k]) + e
			if x.class == c128 {
				y.slot += e
			}
			list = append(list, y)
		}
	}
	return list
}
