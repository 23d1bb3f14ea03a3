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
	named := w.namesUniform()
	var preds, carries, unis []*producer
	made := map[isa.RegFile]uint32{}
	add := func(to *[]*producer, file isa.RegFile, at, i int) *producer {
		p := &producer{at: at, index: i, reg: isa.Reg{File: file, Count: 1, Index: firstHidden + made[file]}}
		made[file]++
		*to = append(*to, p)
		return p
	}
	// latest finds the producer that an instruction reads.
	latest := func(from []*producer, at, reach int, fresh bool, ok func(*producer) bool) *producer {
		var any *producer
		for n := len(from) - 1; n >= 0 && at-from[n].at <= reach; n-- {
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
	var claims []*producer
	block := 0 // place after the last instruction that may change control
	for at, i := range order {
		if at > 0 && k.Code[i].Func != k.Code[order[at-1]].Func {
			claims = append(append(append(claims, preds...), unis...), carries...)
			preds, carries, unis = nil, nil, nil
		}
		if facts[i].words {
			continue
		}
		in, f, h := &list[i], facts[i].info, &w.lost[i]
		read := func(p *producer) {
			h.needed++
			if p == nil {
				return
			}
			h.recovered++
			p.reads++
			in.Srcs = append(in.Srcs, p.reg)
		}
		// Reads.
		switch guard := k.Code[i].Guard; {
		case guard.Known: // recorded in the trace
		case in.Class == isa.ClassBranch:
			switch n := len(preds) - 1; {
			case w.conditional(i, sv):
				in.Guarded = true
				read(latest(preds, at, branchReach, false, nil))
			case (in.Flow == isa.FlowBranch || in.Flow == isa.FlowExit) && n >= 0 && preds[n].reads == 0 && preds[n].at >= block:
				// All lanes went the same way, but there is a preceding comparison that
				// nothing else has read.
				in.Guarded = true
				read(preds[n])
			}
		case sv.guarded[i]:
			in.Guarded = true
			read(latest(preds, at, reach, false, nil))
		}
		if in.Guarded && len(in.Srcs) > 1 && h.recovered == 1 { // a guard comes first
			n := len(in.Srcs) - 1
			in.Srcs = append([]isa.Reg{in.Srcs[n]}, in.Srcs[:n]...)
		}
		switch r := f.Reads; {
		case r.All:
			for n := len(preds) - 1; n >= 0 && at-preds[n].at <= reach; n-- {
				if preds[n].reads == 0 {
					read(preds[n])
				}
			}
		case r.Carry && f.Inst.Class == isa.ClassUniform:
		case r.Carry:
			// The lower half, if the results are a pair.
			p := latest(carries, at, reach, true, func(p *producer) bool { return below(&list[p.index], in) })
			if p == nil {
				p = latest(carries, at, reach, true, nil)
			}
			read(p)
		case r.Lane && f.Inst.Class != isa.ClassUniform:
			read(latest(preds, at, reach, false, nil))
		case r.MayLane && f.Inst.Class == isa.ClassSetp:
			// A second comparison joins the first if that has no reader yet and directly
			// precedes it.
			if n := len(preds) - 1; n >= 0 && preds[n].reads == 0 && at-preds[n].at <= 2 {
				read(preds[n])
			}
		}
		if !named {
			switch {
			case f.Inst.Class == isa.ClassUniform && readsUniform(f):
				read(latest(unis, at, reach, false, nil))
			case (in.Load || in.Store) && k.Arch >= 80 && (in.Space == isa.Global || in.Space == isa.Generic):
				// The descriptor of global memory, a pair of uniform registers.
				if p := latest(unis, at, reach, false, func(p *producer) bool { return p.wide }); p != nil {
					read(p)
				}
			case f.Inst.Class != isa.ClassUniform && f.Inst.Class != isa.ClassBranch && operandMissing(f, k.Code[i].Srcs):
				// It has an operand that is not a general register: a uniform one if one has
				// no reader yet.
				if p := latest(unis, at, reach, true, nil); p != nil && at-p.at <= reach/4 {
					read(p)
				}
			}
		}
		if in.Class == isa.ClassBranch {
			block = at
		}
		// Writes.
		write := func(p *producer) { in.Dsts = append(in.Dsts, p.reg) }
		switch o := f.Writes; {
		case o.All, o.Lane:
			write(add(&preds, isa.RegPred, at, i))
		case o.MayLane && mayCarry(f):
			p := add(&carries, isa.RegPred, at, i)
			p.carry = true
		case o.Uniform:
			write(add(&preds, isa.RegUPred, at, i))
		}
		if !named && writesUniform(f) {
			p := add(&unis, isa.RegUGPR, at, i)
			p.wide = f.Has("64")
			write(p)
		}
	}
	claims = append(append(append(claims, preds...), unis...), carries...)
	for _, p := range claims {
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
	switch in.Flow {
	case isa.FlowBranch:
		behind, away := false, false
		for _, n := range sv.next[i] {
			if n < 0 {
				break
			}
			if w.stat[n].at == w.stat[i].at+1 {
				behind = true
			} else {
				away = true
			}
		}
		return behind && away || behind
	case isa.FlowExit:
		for _, n := range sv.next[i] {
			if n >= 0 && w.stat[n].at == w.stat[i].at+1 {
				return true
			}
		}
	}
	return false
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
	return f.Inst.Class == isa.ClassUniform
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
