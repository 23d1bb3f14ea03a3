package ptx

import (
	"strings"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// kinds maps opcodes to the kinds of work that differ in latency.
var kinds = map[string]isa.Kind{
	"add": isa.KindAdd, "sub": isa.KindAdd, "addc": isa.KindAdd, "subc": isa.KindAdd,
	"min": isa.KindMax, "max": isa.KindMax,
	"mul": isa.KindMul, "mad": isa.KindMad, "madc": isa.KindMad, "fma": isa.KindMad,
	"div": isa.KindDiv, "rem": isa.KindDiv,
	"mul24": isa.KindMul24, "mad24": isa.KindMad24,
	"shfl": isa.KindShfl, "membar": isa.KindFence, "fence": isa.KindFence,
}

var cacheOps = map[string]isa.CacheOp{
	"ca": isa.CacheCA, "cg": isa.CacheCG, "cs": isa.CacheCS, "lu": isa.CacheLU, "cv": isa.CacheCV,
	"nc": isa.CacheNC, "wb": isa.CacheWB, "wt": isa.CacheWT,
}

// classify fills in what the timing models need to know about an instruction and its
// decoder has not set.
func classify(in *ptx.Inst, info *isa.Inst) {
	info.Kind = kinds[in.Op]
	for _, m := range in.Mods {
		if c, ok := cacheOps[m]; ok && (info.Load || info.Store) {
			info.Cache = c
		}
	}
	types := in.Types()
	if len(types) == 0 {
		return
	}
	t := types[len(types)-1]
	if in.Op == "cvt" || in.Op == "set" {
		t = types[0]
	}
	if info.Load || info.Store {
		info.Elem = uint8(min(t.Bytes(), 16))
	}
	switch {
	case t == "f64":
		info.Data = isa.DataDouble
	case t == "f32" || t == "f32x2" || t == "tf32":
		info.Data = isa.DataFloat
	case strings.HasPrefix(string(t), "f16") || strings.HasPrefix(string(t), "bf16"):
		info.Data = isa.DataHalf
	}
}

// private reports whether an instruction neither reads nor changes device memory or
// other state that blocks share. Constants count as shared: their location is looked
// up among all allocations, to which the device heap may be added.
func private(in *ptx.Inst, o *inst, info *isa.Inst) bool {
	switch {
	case in.Op == "isspacep":
		return false // looks up the owner of an address
	case in.Has("try_cancel"):
		return false
	case o.kind == kCall:
		return o.x.call.built == exec.NoFunction
	}
	switch info.Space {
	case isa.NoSpace, isa.Shared, isa.Local, isa.Param:
		return true
	}
	return false
}
