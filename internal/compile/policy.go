package compile

import (
	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: cache policies. Accesses drop them; a program may still store one.

// policies are the priorities in a policy, two bits for those of the primary accesses and two for the others.
// PTX leaves open what the bits are; these are those of the executor of PTX.
var policies = map[string]uint32{"L2::evict_normal": 0, "L2::evict_first": 1, "L2::evict_last": 2, "L2::evict_unchanged": 3}

// policy is createpolicy.
func (b *builder) policy() {
	in := b.inst
	var lo ir.Arg
	hi := ir.RZ()
	if in.Has("cvt") {
		if len(in.Args) != 2 || in.Args[1].Kind == ptx.OpReg && width(in.Args[1].Var.Type) != 2 {
			stop(in.FullName(), notYet)
		}
		lo, hi = b.source(&in.Args[1], "b64", 0), b.source(&in.Args[1], "b64", 1)
	} else {
		bits, at := uint32(0), 0
		for _, m := range in.Mods {
			if k, ok := policies[m]; ok {
				bits |= k << at
				at += 2
			}
		}
		lo = ir.I(bits)
	}
	v, w := b.value(lo), b.value(hi)
	b.assign(&in.Args[0], 0, v)
	b.assign(&in.Args[0], 1, w)
}
