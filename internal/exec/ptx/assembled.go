package ptx

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/flow"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: which instructions of PTX an assembler leaves out of machine code, for core models that time
// PTX in its place. PTX has any number of registers, each value has its own, and values that come from
// several places are copied into one; constants are moved to registers. Left out are
//
//   - constants, where the instruction that reads them can have a literal or the register that is zero;
//   - the sums that a product of warp groups begins with, if its operand scale-d is always false, and the
//     comparison that makes this operand;
//   - what computes values that nobody reads;
//   - copies whose registers can be one (flow.Coalesce).
//
// What remains is in the order of the program: an assembler also moves instructions.

// shorten is the state of this for one function.
type shorten struct {
	f      *fn
	out    []exec.Assembled
	code   []isa.Inst // with what has been left out
	defs   map[place]int
	consts map[place]uint64 // registers that always have one value; a predicate has 0 or 1
}

// Pass is as in exec.Passer.
func (w *warp) Pass(e *exec.Effects) error {
	insts, lanes := w.insts, w.thrInsts
	err := w.Step(e)
	w.insts, w.thrInsts = insts, lanes
	return err
}

// assembled returns what an assembler makes of each instruction of the image's code; functions too large to
// analyse stay as they are.
func (im *image) assembled() (all []exec.Assembled) {
	for _, f := range im.fns {
		s := shorten{f: f, code: slices.Clone(f.info), defs: map[place]int{}, consts: map[place]uint64{}}
		all = append(all, s.run()...)
	}
	return all
}

func (s *shorten) run() []exec.Assembled {
	s.out = make([]exec.Assembled, len(s.f.info))
	for pc := range s.f.info {
		in := &s.f.info[pc]
		s.out[pc] = exec.Assembled{Dsts: in.Dsts, Srcs: in.Srcs}
		for _, d := range in.Dsts {
			s.defs[place{d.File, d.Index}]++
		}
	}
	for _, list := range [2][]paramSlot{s.f.params, s.f.rets} {
		for _, p := range list { // callers write and read these
			s.defs[s.at(p)] += 2
		}
	}
	s.constants()
	if dead := flow.Dead(s.code, s.f.graph, s.pure); dead != nil {
		for pc, d := range dead {
			if d {
				s.drop(pc)
			}
		}
		s.join()
	}
	return s.out
}

// at is the place of a parameter in a register.
func (s *shorten) at(p paramSlot) place {
	switch {
	case p.class == cPred:
		return place{isa.RegPred, uint32(p.r)}
	case p.class == c32:
		return place{isa.RegGPR, uint32(p.r)}
	}
	return place{isa.RegGPR, uint32(s.f.n32) + 2*uint32(p.r)}
}

// drop leaves an instruction out.
func (s *shorten) drop(pc int) {
	s.out[pc] = exec.Assembled{Gone: true}
	s.code[pc].Dsts, s.code[pc].Srcs = nil, nil
}

// pure reports whether an instruction only writes its registers, as a function of those that it reads. One
// with .cc also leaves a carry; votes and the like wait for other lanes.
func (s *shorten) pure(pc int) bool {
	in := &s.f.info[pc]
	switch in.Unit {
	case isa.UnitALU, isa.UnitFP32, isa.UnitFP64, isa.UnitFP16, isa.UnitSFU:
	default:
		return false
	}
	return in.Flow == isa.FlowNext && len(in.Dsts) > 0 && !in.Load && !in.Store && !in.Atomic && !in.Barrier && !in.Time && !in.Clock &&
		in.Private && in.Async == isa.Async{} && in.Kind != isa.KindFence && in.Kind != isa.KindShfl &&
		s.f.code[pc].kind != kWarpSync && !s.f.ast.Code[pc].Has("cc")
}

// reg returns the register of an operand that is a whole one.
func (s *shorten) reg(o *ptx.Operand) (at place, ok bool) {
	if o.Kind != ptx.OpReg || o.Var == nil || o.Var.Vec > 1 || o.Elem != "" || o.Neg || o.Imm.Bits != 0 {
		return at, false
	}
	r, ok := s.f.slots[slotKey{o.Var, o.Index, 0}]
	if !ok {
		return at, false
	}
	switch classOf(o.Var.Type) {
	case cPred:
		return place{isa.RegPred, uint32(r)}, true
	case c32:
		return place{isa.RegGPR, uint32(r)}, true
	case c64:
		return place{isa.RegGPR, uint32(s.f.n32) + 2*uint32(r)}, true
	}
	return at, false
}

// value returns the value that an operand always has.
func (s *shorten) value(o *ptx.Operand) (uint64, bool) {
	if o.Kind == ptx.OpImm {
		return o.Imm.Bits, o.Imm.Kind == ptx.ImmInt
	}
	at, ok := s.reg(o)
	if !ok {
		return 0, false
	}
	v, ok := s.consts[at]
	return v, ok
}

// constants finds registers that always have one value, and lets instructions read it as a literal.
func (s *shorten) constants() {
	for again := true; again; {
		again = false
		for pc, in := range s.f.ast.Code {
			d, ok := s.result(pc, in)
			if _, known := s.consts[d]; !ok || known {
				continue
			}
			if v, ok := s.evaluate(in); ok {
				s.consts[d], again = v, true
			}
		}
	}
	for pc := range s.f.ast.Code {
		s.literals(pc)
	}
}

// result returns the register that an instruction writes, if it always does and nothing else writes it.
func (s *shorten) result(pc int, in *ptx.Inst) (place, bool) {
	if in.Guard != nil || len(in.Args) < 2 || len(s.f.info[pc].Dsts) != 1 {
		return place{}, false
	}
	d, ok := s.reg(&in.Args[0])
	return d, ok && s.defs[d] == 1
}

// evaluate returns the value of an instruction whose operands always have one: of those that compilers
// leave to the assembler.
func (s *shorten) evaluate(in *ptx.Inst) (uint64, bool) {
	t := in.Types()
	if len(t) != 1 {
		return 0, false
	}
	switch in.Op {
	case "mov":
		if in.Args[1].Kind == ptx.OpImm { // of any kind: only zero and whether it is one count
			return in.Args[1].Imm.Bits, len(in.Args) == 2
		}
		return s.value(&in.Args[1])
	case "setp":
		if len(in.Args) != 3 || !integer(t[0]) || len(in.Mods) != 2 || t[0].Bits() != 32 {
			return 0, false
		}
		a, ok := s.value(&in.Args[1])
		b, ok2 := s.value(&in.Args[2])
		equal := uint32(a) == uint32(b)
		switch {
		case !ok || !ok2:
		case in.Mods[0] == "eq" && equal, in.Mods[0] == "ne" && !equal:
			return 1, true
		case in.Mods[0] == "eq", in.Mods[0] == "ne":
			return 0, true
		}
	}
	return 0, false
}

// literals takes the registers of an instruction's constants out of those that it reads. Machine code has a
// register that is zero and a predicate that is true; besides, instructions of the integer and floating-point units
// have room for one literal. Matrix instructions read zero in no vector of registers but that of the sums.
func (s *shorten) literals(pc int) {
	in, info := s.f.ast.Code[pc], &s.f.info[pc]
	group := info.Tensor != nil && info.Tensor.Group
	room := 0
	switch info.Unit {
	case isa.UnitALU, isa.UnitFP32, isa.UnitFP16, isa.UnitBar:
		room = 1
	}
	for i := range in.Args {
		if in.Args[i].Kind == ptx.OpImm {
			room = 0
		}
	}
	var take []place
	for i := range in.Args {
		o := &in.Args[i]
		at, ok := s.reg(o)
		if !ok || i == 0 && len(info.Dsts) > 0 {
			continue
		}
		v, ok := s.consts[at]
		switch {
		case !ok:
			continue
		case group && at.file == isa.RegPred && v == 0: // scale-d
			for _, d := range info.Dsts {
				take = append(take, place{d.File, d.Index})
			}
		case at.file == isa.RegPred, v == 0 && info.Unit != isa.UnitTensor:
		case room > 0:
			room--
		default:
			continue
		}
		take = append(take, at)
	}
	if len(take) == 0 {
		return
	}
	srcs := slices.DeleteFunc(slices.Clone(info.Srcs), func(r isa.Reg) bool { return slices.Contains(take, place{r.File, r.Index}) })
	s.out[pc].Srcs, s.code[pc].Srcs = srcs, srcs
}

// join makes the registers of copies one.
func (s *shorten) join() {
	var copies []flow.Copy
	pinned := map[uint32]bool{}
	for _, list := range [2][]paramSlot{s.f.params, s.f.rets} {
		for _, p := range list {
			if p.class != cPred {
				pinned[s.at(p).index] = true
			}
		}
	}
	places := map[uint32]flow.Place{}
	for pc, in := range s.f.ast.Code {
		if c, ok := s.copyAt(pc, in); ok && !pinned[c.Dst[0]] && !pinned[c.Src[0]] {
			copies = append(copies, c)
		} else if !s.out[pc].Gone {
			s.vectors(in, places)
		}
	}
	if len(copies) == 0 {
		return
	}
	for pc := range s.code {
		s.readsUntilWait(pc)
	}
	res := flow.Coalesce(s.code, s.f.graph, copies, places)
	if res == nil {
		return
	}
	for pc := range s.out {
		if res.Gone[pc] {
			s.drop(pc)
			continue
		}
		s.out[pc].Dsts, s.out[pc].Srcs = renamed(s.out[pc].Dsts, res), renamed(s.out[pc].Srcs, res)
	}
}

// copyAt returns the copy that an instruction is: from whole registers to whole ones.
func (s *shorten) copyAt(pc int, in *ptx.Inst) (c flow.Copy, ok bool) {
	if s.out[pc].Gone || in.Guard != nil || len(in.Args) != 2 {
		return c, false
	}
	info := &s.f.info[pc]
	units := func(list []isa.Reg) (all []uint32) {
		for _, r := range list {
			if r.File != isa.RegGPR {
				return nil
			}
			for i := range uint32(r.Count) {
				all = append(all, r.Index+i)
			}
		}
		return all
	}
	c = flow.Copy{PC: pc, Dst: units(info.Dsts), Src: units(s.code[pc].Srcs)}
	switch t := in.Types(); {
	case in.Op == "mov" && len(t) == 1 && s.whole(&in.Args[0], t[0]) && s.whole(&in.Args[1], t[0]):
	case in.Op == "cvta" && in.Has("global"): // the window of global memory begins at zero
	case resizes(in) && t[0].Bits() == 32 && t[1].Bits() == 64:
		c.Src = c.Src[:min(1, len(c.Src))]
	default:
		return c, false
	}
	return c, len(c.Dst) > 0 && len(c.Dst) == len(c.Src)
}

// whole reports whether an operand of a copy consists of whole registers: not of halves of 32 bits.
func (s *shorten) whole(o *ptx.Operand, t ptx.Type) bool {
	if o.Kind != ptx.OpVec {
		_, ok := s.reg(o)
		return ok
	}
	for i := range o.List {
		if _, ok := s.reg(&o.List[i]); !ok {
			return false
		}
	}
	return t.Bits() == 32*len(o.List)
}

// vectors notes the places of registers in the vectors that an instruction names.
func (s *shorten) vectors(in *ptx.Inst, places map[uint32]flow.Place) {
	note := func(at uint32, p flow.Place) {
		if places[at].Of < p.Of {
			places[at] = p
		}
	}
	for i := range in.Args {
		o := &in.Args[i]
		list := []ptx.Operand{*o}
		if o.Kind == ptx.OpVec || o.Kind == ptx.OpAddr {
			list = o.List
		}
		for k := range list {
			at, ok := s.reg(&list[k])
			if !ok || at.file != isa.RegGPR {
				continue
			}
			wide := at.index >= uint32(s.f.n32)
			switch {
			case wide:
				note(at.index, flow.Place{At: 0, Of: 2})
				note(at.index+1, flow.Place{At: 1, Of: 2})
			case o.Kind == ptx.OpVec && len(list) > 1 && in.Op != "mov":
				note(at.index, flow.Place{At: k, Of: len(list)})
			}
		}
	}
}

// readsUntilWait lets a wait for products read the factors in registers of all of them: they are read while
// the products are computed.
func (s *shorten) readsUntilWait(pc int) {
	if a := s.f.info[pc].Async; a.Done != isa.ByProduct || a.Does != isa.AsyncWait {
		return
	}
	for k := range s.f.info {
		if x := s.f.info[k].Tensor; x != nil && x.Group && x.FromRegs {
			for _, r := range s.out[k].Srcs {
				if !slices.Contains(s.f.info[k].Dsts, r) {
					s.code[pc].Srcs = append(s.code[pc].Srcs[:len(s.code[pc].Srcs):len(s.code[pc].Srcs)], r)
				}
			}
		}
	}
}

// renamed returns registers by those that stand for them.
func renamed(list []isa.Reg, c *flow.Coalesced) []isa.Reg {
	for i, r := range list {
		if r.File != isa.RegGPR || c.Root(r.Index) == r.Index && (r.Count < 2 || c.Root(r.Index+1) == r.Index+1) {
			continue
		}
		out := slices.Clone(list[:i])
		for _, r := range list[i:] {
			if r.File != isa.RegGPR {
				out = append(out, r)
				continue
			}
			for k := range uint32(r.Count) {
				out = append(out, isa.Reg{File: r.File, Count: 1, Index: c.Root(r.Index + k)})
			}
		}
		return out
	}
	return list
}
