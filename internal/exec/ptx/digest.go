package ptx

import "math/bits"

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
	h := digest(0).add(uint64(uint32(w.pc))).add(uint64(w.mask)).add(uint64(w.live)).add(uint64(uint32(w.join)))
	for fr := w.fr; fr != nil; fr = fr.parent {
		h = h.add(uint64(uint32(fr.ret))).add(uint64(fr.depth)).add(uint64(fr.base)).add(uint64(fr.top)).add(uint64(fr.cc))
		if fr.sp != nil {
			for _, v := range fr.sp {
				h = h.add(uint64(v))
			}
		}
		for _, v := range fr.pr {
			h = h.add(uint64(v))
		}
		for i := range fr.r32 {
			for l := 0; l < 32; l += 2 {
				h = h.add(uint64(fr.r32[i][l]) | uint64(fr.r32[i][l+1])<<32)
			}
		}
		for i := range fr.r64 {
			for _, v := range fr.r64[i] {
				h = h.add(v)
			}
		}
	}
	return uint64(h), true
}

// digest collects numbers.
type digest uint64

func (d digest) add(v uint64) digest {
	hi, lo := bits.Mul64(uint64(d)^v^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return digest(hi ^ lo + bits.RotateLeft64(uint64(d), 23))
}
