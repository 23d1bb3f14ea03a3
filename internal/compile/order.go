package compile

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/compile/ir"
)

// This file: the order of accesses to memory. What the memory order of PTX asks for are fences: one before
// what releases, one after what acquires.

// scopes are the machine's names of scopes. A cluster is more than an SM.
var scopes = map[string]string{"cta": "SM", "cluster": "GPU", "gpu": "GPU", "gl": "GPU", "sys": "SYS"}

// strong reports whether other threads may see, or change, what an instruction accesses.
func (b *builder) strong() bool {
	sem := b.inst.Sem()
	return sem != "" && sem != "weak" || b.inst.CacheOp() == "cv"
}

// order is the modifier for the memory order of a load or a store.
func (b *builder) order() string {
	in := b.inst
	scope := "." + scopes[in.Scope()]
	switch in.Sem() {
	case "", "weak":
		if in.CacheOp() == "cv" {
			return ".STRONG.SYS"
		}
		return ""
	case "volatile":
		return ".STRONG.SYS"
	case "relaxed", "acquire", "release":
		if in.Has("mmio") || scope == "." {
			break
		}
		return ".STRONG" + scope
	}
	stop(in.FullName(), notYet)
	return ""
}

// release puts a fence before an instruction that releases: all that the thread has done comes before.
func (b *builder) release() {
	switch b.inst.Sem() {
	case "release", "acq_rel":
		b.fenceOf("ALL", b.inst.Scope())
	}
}

// acquire puts a fence after an instruction that acquires: it waits for what has been read, and forgets
// what the first-level cache has, which may be older.
func (b *builder) acquire(read []*ir.Value) {
	switch b.inst.Sem() {
	case "acquire", "acq_rel":
	default:
		return
	}
	wait := ir.Arg{Kind: ir.Hidden, Vals: slices.Clone(read)}
	if scopes[b.inst.Scope()] == "SM" {
		b.effect("NOP", wait)
		return
	}
	b.effect("CCTL.IVALL", wait)
}

// fenceOf is a fence of a kind (SC, or ALL for acquire and release) and a scope.
func (b *builder) fenceOf(kind, scope string) {
	name := "MEMBAR." + kind + "."
	switch scopes[scope] {
	case "SM":
		b.effect("MEMBAR.ALL.CTA")
	case "GPU", "SYS":
		b.effect(name + scopes[scope])
		b.effect("ERRBAR")
	default:
		stop(b.inst.FullName(), notYet)
	}
}

// fence is membar and fence.
func (b *builder) fence() {
	in := b.inst
	if in.Has("proxy") || in.Has("mbarrier_init") || in.Has("sync_restrict") {
		stop(in.FullName(), notYet)
	}
	kind := "SC"
	if in.Has("acq_rel") || in.Has("acquire") || in.Has("release") {
		kind = "ALL"
	}
	b.fenceOf(kind, in.Scope())
	if scopes[in.Scope()] != "SM" && !in.Has("release") {
		b.effect("CCTL.IVALL")
	}
}
