package ptx

import (
	"slices"
	"strings"
)

// oneOf returns the first modifier of the instruction that is in the list.
func (in *Inst) oneOf(list ...string) string {
	for _, m := range in.Mods {
		if slices.Contains(list, m) {
			return m
		}
	}
	return ""
}

// Rounding returns the rounding modifier: rn rz rm rp, rni rzi rmi rpi, rna or
// rs; "" if there is none.
func (in *Inst) Rounding() string {
	return in.oneOf("rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "rna", "rs")
}

// VecLen returns the number of elements of a vector modifier (.v2, .v4, .v8), 0
// if there is none.
func (in *Inst) VecLen() int {
	switch in.oneOf("v2", "v4", "v8") {
	case "v2":
		return 2
	case "v4":
		return 4
	case "v8":
		return 8
	}
	return 0
}

// Space returns the state space of a memory instruction, SpaceNone for generic
// addressing, and the sub-space after the double colon: "cta", "cluster", "entry",
// "func" or "". For an instruction with two spaces (cp.async) it returns the first,
// which is the destination.
func (in *Inst) Space() (StateSpace, string) {
	for _, m := range in.Mods {
		name, sub, _ := strings.Cut(m, "::")
		switch name {
		case "const":
			return SpaceConst, sub
		case "global":
			return SpaceGlobal, sub
		case "local":
			return SpaceLocal, sub
		case "param":
			return SpaceParam, sub
		case "shared":
			return SpaceShared, sub
		}
	}
	return SpaceNone, ""
}

// Cmp returns the comparison of set, setp and the vset family, "" for others.
func (in *Inst) Cmp() string {
	if in.Op != "set" && in.Op != "setp" && !strings.HasPrefix(in.Op, "vset") {
		return ""
	}
	return in.oneOf("eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs",
		"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
}

// BoolOp returns the Boolean operator of set, setp and lop3, "" if there is none.
func (in *Inst) BoolOp() string {
	switch in.Op {
	case "set", "setp", "lop3":
		return in.oneOf("and", "or", "xor")
	}
	return ""
}

// CacheOp returns the cache operator of a load or store: ca cg cs lu cv wb wt;
// "" if there is none.
func (in *Inst) CacheOp() string { return in.oneOf("ca", "cg", "cs", "lu", "cv", "wb", "wt") }

// Scope returns the scope of a memory operation or fence: cta, cluster, gpu or
// sys; for membar its level: cta, gl or sys. "" if there is none.
func (in *Inst) Scope() string {
	if in.Op == "membar" {
		return in.oneOf("cta", "gl", "sys")
	}
	return in.oneOf("cta", "cluster", "gpu", "sys")
}

// Sem returns the memory order: weak, volatile, relaxed, acquire, release,
// acq_rel or sc; "" if there is none.
func (in *Inst) Sem() string {
	return in.oneOf("weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "sc")
}
