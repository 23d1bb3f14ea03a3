package ptx

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec"
)

// Digest returns a number that summarises what decides the warp's next steps: its
// lanes' positions and registers. Local memory is left out, like other memory. It
// returns false while lanes that are not running might run before the others have
// moved on.
func (w *warp) Digest() (uint64, bool) {
	if !w.running {
		return 0, false
	}
	if w.blk.im.independent && w.mask != w.live {
		for i := range w.frags {
			if w.frags[i].st == ready {
				return 0, false
			}
		}
		for i := range w.joins {
			if j := &w.joins[i]; j.live && j.got != 0 && (j.pc >= 0 || j.fr.parent != nil) {
				return 0, false
			}
		}
	}
	return uint64(registers(w.fr, exec.Digest(0).Add(uint64(uint32(w.pc))).Add(uint64(w.mask)).Add(uint64(w.live)).Add(uint64(uint32(w.join))))), true
}

// registers adds those of a call, and of its callers.
func registers(fr *frame, h exec.Digest) exec.Digest {
	for ; fr != nil; fr = fr.parent {
		h = h.Add(uint64(uint32(fr.ret))).Add(uint64(fr.depth)).Add(uint64(fr.base)).Add(uint64(fr.top)).Add(uint64(fr.cc))
		if fr.sp != nil {
			for _, v := range fr.sp {
				h = h.Add(uint64(v))
			}
		}
		for _, v := range fr.pr {
			h = h.Add(uint64(v))
		}
		for i := range fr.r32 {
			for l := 0; l < 32; l += 2 {
				h = h.Add(uint64(fr.r32[i][l]) | uint64(fr.r32[i][l+1])<<32)
			}
		}
		for i := range fr.r64 {
			for _, v := range fr.r64[i] {
				h = h.Add(v)
			}
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
		all := !w.running && len(w.frags) == 1 && w.frags[0].mask == w.live // that wait at a barrier, or have met there
		for k := range w.frags {
			f := &w.frags[k]
			if f.st == ready && !all {
				return 0, false
			}
			h = h.Add(uint64(uint32(f.pc))<<32 | uint64(f.mask))
			if !w.running || f.fr != w.fr { // else they are among those of the lanes that run
				h = registers(f.fr, h)
			}
		}
		if d, ok := w.Digest(); ok {
			h = h.Add(d)
		} else if w.running {
			return 0, false
		} else if all {
			f := &w.frags[0]
			h = h.Add(uint64(f.st)<<48 | uint64(f.bar)<<32 | uint64(uint32(f.join)))
		} else {
			h = h.Add(w.insts)
		}
		for k := range w.joins {
			if j := &w.joins[k]; j.live {
				h = h.Add(uint64(k)<<32 | uint64(uint32(j.pc))).Add(uint64(uint32(j.parent))).Add(uint64(j.want)<<32 | uint64(j.got))
			}
		}
		for l := range w.local {
			h = h.Bytes(w.local[l])
		}
	}
	return uint64(h), true
}

// Loops returns the places of the warps that can run.
func (b *block) Loops() (list []exec.Where) {
	for i := range b.warps {
		if w := &b.warps[i]; w.live != 0 && (w.running || w.resume()) {
			list = append(list, w.where(bits.TrailingZeros32(w.mask)))
		}
	}
	return list
}

// watched is run for a search. Each step is the same as in run.
func (w *warp) watched(limit uint64, s *exec.Search) bool {
	var e exec.Effects
	for start := w.insts; w.insts-start < limit; {
		if _, _, _, st := w.Next(); st != exec.Ready {
			return w.insts != start
		}
		if w.Step(&e) != nil || w.yield {
			s.Saw(&e, w.blk.View)
			return true
		}
		s.Saw(&e, w.blk.View)
	}
	return true
}
