package replay

import (
	"cmp"
	"slices"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/mnemonic"
	"github.com/heddle-sim/heddle/internal/trace"
)

// This file: dependences that a trace does not name. Traces up to version 5 have general
// registers only. The dependence between a comparison and a branch can still be inferred
// if the code leaves little choice: a predicate is read soon after it is written, and
// mostly once. The instructions are therefore visited in address order, and an
// instruction that must read a predicate reads the last one written and not yet read,
// or else the last one. Each producer gets a new register, above the existing ones.

// reach is the maximum distance in instructions between a predicate or uniform register
// and its producer (our choice: some basic blocks); branchReach is that of the guard of a
// branch, which may close a long loop.
const (
	reach       = 64
	branchReach = 4096
)

// firstHidden is the index of the first invented register: after the 8 predicates and
// the 255 uniform registers of any architecture.
const firstHidden = 256

// hiddenReads counts the reads of a static instruction that the trace does not name.
type hiddenReads struct{ needed, recovered uint8 }

// producer is an instruction that writes a register that the trace does not name.
type producer struct {
	at    int // in the order of addresses
	index int // static instruction
	reg   isa.Reg
	reads int
	wide  bool // of 64 bits
	carry bool
}

// recovery is the state of recover between two instructions.
type recovery struct {
	w     *Work
	list  []isa.Inst
	facts []known
	sv    *survey
	named bool // the trace names uniform registers

	preds, carries, unis []*producer // of the function, by address
	claims               []*producer // of the functions before it
	made                 map[isa.RegFile]uint32
	block                int // place after the last instruction that may change control

	at, index int // the instruction: its place, and its number
	in        *isa.Inst
	lost      *hiddenReads
}

// recover adds dependences to the instructions that are known only by their mnemonics.
func (w *Work) recover(list []isa.Inst, facts []known, sv *survey) {
	k := w.k
	w.lost = make([]hiddenReads, len(list))
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &k.Code[a], &k.Code[b]
		return cmp.Or(cmp.Compare(x.Func, y.Func), cmp.Compare(x.PC, y.PC))
	})
	r := &recovery{w: w, list: list, facts: facts, sv: sv, named: w.namesUniform(), made: map[isa.RegFile]uint32{}}
	for at, i := range order {
		if at > 0 && k.Code[i].Func != k.Code[order[at-1]].Func {
			r.endFunction()
		}
		if facts[i].words {
			continue
		}
		r.at, r.index, r.in, r.lost = at, i, &list[i], &w.lost[i]
		r.guard()
		r.predicates()
		if !r.named {
			r.uniforms()
		}
		if r.in.Class == isa.ClassBranch {
			r.block = at
		}
		r.writes()
	}
	r.endFunction()
	for _, p := range r.claims {
		switch {
		case p.carry && p.reads > 0:
			list[p.index].Dsts = append(list[p.index].Dsts, p.reg)
		case p.carry:
		case p.reads == 0:
			// Its reader is unknown.
			w.lost[p.index].needed++
		}
	}
	for i := range w.lost {
		w.report.Hidden.NeededStatic += int(w.lost[i].needed)
		w.report.Hidden.RecoveredStatic += int(w.lost[i].recovered)
	}
}

// endFunction begins with an empty list of producers.
func (r *recovery) endFunction() {
	r.claims = append(append(append(r.claims, r.preds...), r.unis...), r.carries...)
	r.preds, r.carries, r.unis = nil, nil, nil
}

// add makes the instruction a producer of a new register.
func (r *recovery) add(to *[]*producer, file isa.RegFile) *producer {
	p := &producer{at: r.at, index: r.index, reg: isa.Reg{File: file, Count: 1, Index: firstHidden + r.made[file]}}
	r.made[file]++
	*to = append(*to, p)
	return p
}

// latest finds the producer that the instruction reads: the last one without a reader
// or, unless a fresh one is wanted, the last one.
func (r *recovery) latest(from []*producer, reach int, fresh bool, ok func(*producer) bool) *producer {
	var any *producer
	for n := len(from) - 1; n >= 0 && r.at-from[n].at <= reach; n-- {
		p := from[n]
		if ok != nil && !ok(p) {
			continue
		}
		if p.reads == 0 {
			return p
		}
		if any == nil {
			any = p
		}
	}
	if fresh {
		return nil
	}
	return any
}

// read notes that the instruction needs a register, and its producer if that was found.
func (r *recovery) read(p *producer) {
	r.lost.needed++
	if p == nil {
		return
	}
	r.lost.recovered++
	p.reads++
	r.in.Srcs = append(r.in.Srcs, p.reg)
}

// guard finds the predicate of a guard that the trace has not recorded.
func (r *recovery) guard() {
	in, i := r.in, r.index
	switch {
	case r.w.k.Code[i].Guard.Known:
	case in.Class == isa.ClassBranch:
		switch n := len(r.preds) - 1; {
		case r.w.conditional(i, r.sv):
			in.Guarded = true
			r.read(r.latest(r.preds, branchReach, false, nil))
		case (in.Flow == isa.FlowBranch || in.Flow == isa.FlowExit) && n >= 0 && r.preds[n].reads == 0 && r.preds[n].at >= r.block:
			// All lanes went the same way, but there is a preceding comparison that
			// nothing else has read.
			in.Guarded = true
			r.read(r.preds[n])
		}
	case r.sv.guarded[i]:
		in.Guarded = true
		r.read(r.latest(r.preds, reach, false, nil))
	}
	if in.Guarded && len(in.Srcs) > 1 && r.lost.recovered == 1 { // a guard comes first
		n := len(in.Srcs) - 1
		in.Srcs = append([]isa.Reg{in.Srcs[n]}, in.Srcs[:n]...)
	}
}

// predicates finds the predicates and carries that the instruction's operation reads.
func (r *recovery) predicates() {
	f := r.facts[r.index].info
	switch x := f.Reads; {
	case x.All:
		for n := len(r.preds) - 1; n >= 0 && r.at-r.preds[n].at <= reach; n-- {
			if r.preds[n].reads == 0 {
				r.read(r.preds[n])
			}
		}
	case x.Carry && f.Inst.Class.Uniform():
	case x.Carry:
		// The lower half, if the results are a pair.
		p := r.latest(r.carries, reach, true, func(p *producer) bool { return below(&r.list[p.index], r.in) })
		if p == nil {
			p = r.latest(r.carries, reach, true, nil)
		}
		r.read(p)
	case x.Lane && !f.Inst.Class.Uniform():
		r.read(r.latest(r.preds, reach, false, nil))
	case x.MayLane && f.Inst.Class == isa.ClassSetp:
		// A second comparison joins the first if that has no reader yet and directly
		// precedes it.
		if n := len(r.preds) - 1; n >= 0 && r.preds[n].reads == 0 && r.at-r.preds[n].at <= 2 {
			r.read(r.preds[n])
		}
	}
}

// uniforms finds the uniform registers that the instruction reads.
func (r *recovery) uniforms() {
	f, in, k := r.facts[r.index].info, r.in, r.w.k
	switch {
	case f.Inst.Class.Uniform() && readsUniform(f):
		r.read(r.latest(r.unis, reach, false, nil))
	case (in.Load || in.Store) && k.Arch >= 80 && (in.Space == isa.Global || in.Space == isa.Generic):
		// The descriptor of global memory, a pair of uniform registers.
		if p := r.latest(r.unis, reach, false, func(p *producer) bool { return p.wide }); p != nil {
			r.read(p)
		}
	case !f.Inst.Class.Uniform() && f.Inst.Class != isa.ClassBranch && operandMissing(f, k.Code[r.index].Srcs):
		// It has an operand that is not a general register: a uniform one if one has
		// no reader yet.
		if p := r.latest(r.unis, reach, true, nil); p != nil && r.at-p.at <= reach/4 {
			r.read(p)
		}
	}
}

// writes makes the instruction a producer of what it writes.
func (r *recovery) writes() {
	f := r.facts[r.index].info
	write := func(p *producer) { r.in.Dsts = append(r.in.Dsts, p.reg) }
	switch o := f.Writes; {
	case o.All, o.Lane:
		write(r.add(&r.preds, isa.RegPred))
	case o.MayLane && mayCarry(f):
		r.add(&r.carries, isa.RegPred).carry = true
	case o.Uniform:
		write(r.add(&r.preds, isa.RegUPred))
	}
	if !r.named && writesUniform(f) {
		p := r.add(&r.unis, isa.RegUGPR)
		p.wide = f.Has("64")
		write(p)
	}
}

// namesUniform reports whether the trace names uniform registers.
func (w *Work) namesUniform() bool {
	uniform := func(r trace.Reg) bool { return r.File == isa.RegUGPR }
	return slices.ContainsFunc(w.k.Code, func(s trace.Static) bool {
		return slices.ContainsFunc(s.Dsts, uniform) || slices.ContainsFunc(s.Srcs, uniform)
	})
}

// conditional reports whether a branch, an exit or a similar instruction must have a
// guard: lanes did not take it, or its warp went both ways.
func (w *Work) conditional(i int, sv *survey) bool {
	in := w.stat[i].inst
	if sv.guarded[i] {
		return true
	}
	return (in.Flow == isa.FlowBranch || in.Flow == isa.FlowExit) &&
		slices.ContainsFunc(sv.next[i][:], func(n int32) bool { return n >= 0 && w.stat[n].at == w.stat[i].at+1 })
}

// mayCarry reports whether the result of an addition may have a carry for the upper
// half.
func mayCarry(f *mnemonic.Info) bool {
	switch f.Base {
	case "IADD", "IADD3", "IADD32I", "LEA", "IMAD", "XMAD", "ISCADD":
		return true
	}
	return false
}

// readsUniform reports whether an instruction of the uniform datapath reads uniform
// registers.
func readsUniform(f *mnemonic.Info) bool {
	switch f.Base {
	case "ULDC", "R2UR", "VOTEU", "ELECT", "UMOV", "UP2UR":
		return false
	}
	return true
}

// writesUniform reports whether an instruction writes a uniform register.
func writesUniform(f *mnemonic.Info) bool {
	switch f.Base {
	case "UISETP", "UPLOP3", "UPSETP", "UR2UP", "UFSETP", "ELECT", "USETMAXREG":
		return false
	case "S2UR", "LDCU", "CS2UR", "REDUX", "CREDUX":
		return true
	}
	return f.Inst.Class.Uniform()
}

// operands is the number of source values of instructions whose result is a general
// register.
var operands = map[string]int{
	"IMAD": 3, "IADD3": 3, "LOP3": 3, "FFMA": 3, "PRMT": 3, "SHF": 3, "LEA": 2, "ISETP": 2, "FADD": 2, "FMUL": 2, "FSETP": 2, "SEL": 2, "FSEL": 2,
	"IMNMX": 2, "FMNMX": 2, "MOV": 1, "VIADD": 2,
}

// operandMissing reports whether an instruction names fewer general registers than it
// has source values.
func operandMissing(f *mnemonic.Info, srcs []trace.Reg) bool {
	n, ok := operands[f.Base]
	return ok && len(srcs) < n
}

// below reports whether the results of two instructions are the lower and the upper half
// of a pair.
func below(lo, hi *isa.Inst) bool {
	return len(lo.Dsts) > 0 && len(hi.Dsts) > 0 && lo.Dsts[0].File == hi.Dsts[0].File && lo.Dsts[0].Index+1 == hi.Dsts[0].Index
}
