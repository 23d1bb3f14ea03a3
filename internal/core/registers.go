package core

// RegMask is a set of registers in one word of a scoreboard, which has a bit for each
// register.
type RegMask struct {
	Mask uint64
	Word int32
}

// RegMasks adds registers to a list of masks.
func RegMasks(out []RegMask, list []uint16) []RegMask {
next:
	for _, r := range list {
		w, b := int32(r>>6), uint64(1)<<(r&63)
		for i := range out {
			if out[i].Word == w {
				out[i].Mask |= b
				continue next
			}
		}
		out = append(out, RegMask{b, w})
	}
	return out
}
