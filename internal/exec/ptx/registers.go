package ptx

import (
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/flow"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: an estimate of the registers that a kernel would need on hardware. PTX has
// an unlimited number; the assembler that allocates them is not part of Heddle. The
// estimate applies the steps of such an assembler that affect the number most, and
// counts live registers afterwards:
//
//   - operands that an instruction can take from the constant bank or as a literal need
//     no register: parameters, constants, addresses of variables;
//   - copies and widened integers share the register of their source, and offsets
//     go into the address of a load;
//   - a product or a shift that is only added to something is fused with the sum into
//     one instruction;
//   - of a 64-bit value whose upper half is never used only the lower half is live
//     (addresses in shared memory);
//   - inside a block, instructions are issued early to hide latencies, so that more
//     values are live at a time.
//
// The facts about real machine code come from the headers and lines of traces:
// parameters are read from the constant bank, R1 is the stack pointer in every kernel,
// and from compute capability 7.0 on a kernel gets two registers more than the highest
// that its code names.

// Registers of a kernel beyond those of its values.
const (
	stackPointer = 1
	// hiddenFrom is the first compute capability on which kernels get two more
	// registers. In traces of sm_61 the highest register is the last one.
	hiddenFrom, hidden = 70, 2
	// mostRegisters is the most that an instruction of a recent machine can name; the
	// rest spills to local memory. Fermi can name 63.
	mostRegisters, mostFermi = 255, 63
)

// How far instructions are moved, and the latencies that decide it. The window is our
// assumption: the distance by which a tiled matrix product of sm_61 hoists its loads.
// Latencies are those of Volta, rounded; only their order matters.
const (
	window       = 20
	latencyALU   = 4
	latencyNear  = 24  // shared memory, constants, special functions
	latencyFar   = 400 // global, local and texture memory
	latencyOther = 1
)

// Registers estimates the 32-bit registers that a thread of the kernel needs on
// hardware: the maximum over the entry and the functions that it can reach.
func (k *Kernel) Registers() int { return k.regs() }

// RegistersEstimated reports that Registers is an estimate, since PTX registers are
// virtual.
func (k *Kernel) RegistersEstimated() bool { return true }

func (k *Kernel) estimate() int {
	n := 0
	for _, f := range k.image().fns {
		e := estimate{f: f, entry: f == k.image().entry}
		n = max(n, e.run())
	}
	if k.mod.SM >= hiddenFrom {
		n += hidden
	}
	if k.image().resizes { // all that there are: some warps give theirs back to others
		return k.mostRegisters()
	}
	return min(n, k.mostRegisters())
}

// bounded reports whether the kernel says how many registers its threads may have, or how many threads run at once.
func (k *Kernel) bounded() bool { return k.ast.MaxNReg > 0 || k.MaxThreads() > 0 }

// mostRegisters is the most registers that a thread may have: what the instruction set
// can name, what .maxnreg allows, and what lets a block of .maxntid or .reqntid threads
// run.
func (k *Kernel) mostRegisters() int {
	most, file := mostRegisters, 1<<16
	if k.mod.SM < 35 {
		most = mostFermi
	}
	if k.mod.SM < 30 {
		file = 1 << 15
	}
	if k.ast.MaxNReg > 0 {
		most = min(most, k.ast.MaxNReg)
	}
	if threads := (k.MaxThreads() + isa.WarpSize - 1) / isa.WarpSize * isa.WarpSize * max(1, k.ast.MinNCTA); threads > 0 {
		most = min(most, max(16, file/threads&^7))
	}
	return most
}

// value is what one or more definitions assign to a register of the program.
type value struct {
	defs, uses int   // instructions
	addresses  int   // uses as the address of an access
	user       int32 // the last instruction that reads it
	block      int32 // of its definition
	as         int32 // the value that it is a copy of, itself if none
	pred       bool  // a predicate
	free       bool  // needs no register if the instruction accepts a constant
	wide, high bool  // has two halves; the upper one is used
}

// step is an instruction as the estimate sees it.
type step struct {
	uses, defs []int32 // values
	base       []bool  // by use: the address of an access
	gone       bool    // takes no register and no time
	keep       bool    // does not move, and nothing moves over it
	loads      isa.Space
	stores     isa.Space
	latency    int
	data       bool // stores its operands: they must be in registers
	guarded    bool // may leave what it defines as it was
	low        bool // the upper half of its result alone needs the upper halves of its operands
	narrow     bool // needs no upper half at all
	flow       isa.Flow
	targets    []int32
}

// estimate analyses one function.
type estimate struct {
	f        *fn
	entry    bool
	vals     []value
	at       map[place]int32 // current value of each register
	steps    []step
	literals map[uint64]int32
	first    []int32    // by pc: its step, once constants have steps of their own
	order    []isa.Inst // the result, for the count of live registers
	pairs    bool       // it has values of two registers
}

// place is a register.
type place struct {
	file  isa.RegFile
	index uint32
}

func (e *estimate) run() int {
	if len(e.f.info) == 0 {
		return 0
	}
	e.collect()
	e.simplify()
	e.fuse()
	e.materialise()
	e.halves()
	return e.count()
}

// val returns the value of a register.
func (e *estimate) val(r isa.Reg) int32 {
	at := place{r.File, r.Index}
	v, ok := e.at[at]
	if !ok {
		v = int32(len(e.vals))
		e.at[at] = v
		e.vals = append(e.vals, value{as: v, wide: r.Count > 1, pred: r.File != isa.RegGPR})
	}
	return v
}

// operand returns the value of an operand that is a scalar general register.
func (e *estimate) operand(o *ptx.Operand) (int32, bool) {
	if o.Kind != ptx.OpReg || o.Var == nil || o.Var.Vec > 1 || o.Elem != "" || o.Neg || o.Imm.Bits != 0 {
		return 0, false
	}
	r, ok := e.f.slots[slotKey{o.Var, o.Index, 0}]
	if !ok {
		return 0, false
	}
	switch classOf(o.Var.Type) {
	case c32:
		v, ok := e.at[place{isa.RegGPR, uint32(r)}]
		return v, ok
	case c64:
		v, ok := e.at[place{isa.RegGPR, uint32(e.f.n32) + 2*uint32(r)}]
		return v, ok
	}
	return 0, false
}

// collect reads the code.
func (e *estimate) collect() {
	e.at, e.literals = map[place]int32{}, map[uint64]int32{}
	e.steps = make([]step, len(e.f.info))
	for pc := range e.f.info {
		in, s := &e.f.info[pc], &e.steps[pc]
		block := int32(e.f.graph.BlockOf(pc))
		for _, r := range in.Srcs {
			v := e.val(r)
			s.uses = append(s.uses, v)
			e.vals[v].uses++
			e.vals[v].user = int32(pc)
		}
		for _, r := range in.Dsts {
			v := e.val(r)
			s.defs = append(s.defs, v)
			e.vals[v].defs++
			e.vals[v].block = block
		}
		s.latency, s.guarded, s.flow, s.targets = latencyOf(in), in.Guarded, in.Flow, in.Targets
		if pc < len(e.f.ast.Code) {
			s.low, s.narrow = halvesOf(e.f.ast.Code[pc])
		}
		if in.Load {
			s.loads = in.Space
		}
		if in.Store {
			s.stores = in.Space
		}
		s.data = in.Store || in.Unit == isa.UnitLSU && !in.Load || in.Unit == isa.UnitTex
		s.keep = in.Flow != isa.FlowNext || in.Unit == isa.UnitBar || in.Barrier || in.Atomic || in.Unit == isa.UnitNone
	}
	// A function's parameters and results have values at its ends.
	for _, list := range [][]paramSlot{e.f.params, e.f.rets} {
		for _, p := range list {
			if p.off >= 0 {
				continue
			}
			at := uint32(p.r)
			if p.class == c64 {
				at = uint32(e.f.n32) + 2*at
			}
			if v, ok := e.at[place{isa.RegGPR, at}]; ok && p.class != cPred {
				e.vals[v].defs += 2
			}
		}
	}
	// Where the base of an access stands.
	for pc := range e.steps {
		s := &e.steps[pc]
		s.base = make([]bool, len(s.uses))
		if pc >= len(e.f.ast.Code) || s.loads == isa.NoSpace && s.stores == isa.NoSpace {
			continue
		}
		for i := range e.f.ast.Code[pc].Args {
			o := &e.f.ast.Code[pc].Args[i]
			if o.Kind != ptx.OpAddr || len(o.List) == 0 {
				continue
			}
			if v, ok := e.operand(&o.List[0]); ok {
				if i := slices.Index(s.uses, v); i >= 0 {
					s.base[i] = true
					e.vals[v].addresses++
				}
			}
		}
	}
}

func latencyOf(in *isa.Inst) int {
	switch {
	case in.Load && (in.Space == isa.Shared || in.Space == isa.Const || in.Space == isa.Param):
		return latencyNear
	case in.Load, in.Unit == isa.UnitTex:
		return latencyFar
	case in.Unit == isa.UnitSFU, in.Unit == isa.UnitTensor, in.Unit == isa.UnitLSU:
		return latencyNear
	case in.Unit == isa.UnitBranch, in.Unit == isa.UnitBar, in.Unit == isa.UnitNone:
		return latencyOther
	}
	return latencyALU
}

// halvesOf reports which halves of 64-bit operands an operation needs: low means the
// upper ones only for the upper half of its result, narrow means never the upper ones.
func halvesOf(in *ptx.Inst) (low, narrow bool) {
	t := in.Types()
	switch in.Op {
	case "add", "sub", "and", "or", "xor", "not", "neg", "mov", "cvta", "selp":
		low = true
	case "mul", "mad":
		low = in.Has("lo")
	case "shl":
		low = len(in.Args) == 3 && in.Args[2].Kind == ptx.OpImm
	case "cvt":
		low = resizes(in)
		narrow = low && t[0].Bits() <= 32
	}
	return low && len(t) > 0 && integer(t[0]), narrow
}

// root follows copies.
func (e *estimate) root(v int32) int32 {
	for e.vals[v].as != v {
		v = e.vals[v].as
	}
	return v
}

// once reports whether a value has one definition.
func (e *estimate) once(v int32) bool { return e.vals[v].defs == 1 }

// copies are operations whose result is their operand. Integers are widened in the
// instruction that uses them.
func copies(in *ptx.Inst) bool {
	switch in.Op {
	case "mov", "cvta":
		return true
	case "cvt":
		t := in.Types()
		return resizes(in) && (t[1].Bits() < 64 || t[0].Bits() == 64)
	}
	return false
}

// resizes reports whether an instruction makes an integer longer or shorter.
func resizes(in *ptx.Inst) bool {
	t := in.Types()
	return in.Op == "cvt" && len(t) == 2 && integer(t[0]) && integer(t[1]) && !in.Has("sat")
}

func integer(t ptx.Type) bool {
	return t[0] == 's' || t[0] == 'u' || t[0] == 'b' && !strings.HasPrefix(string(t), "bf")
}

// simplify finds values that need no register of their own. In nearly all code
// definitions precede uses; otherwise the copy simply counts.
func (e *estimate) simplify() {
	for pc := range e.f.ast.Code {
		in, s := e.f.ast.Code[pc], &e.steps[pc]
		if in.Guard != nil || len(s.defs) != 1 || len(in.Args) < 2 || !e.once(s.defs[0]) {
			continue
		}
		d := s.defs[0]
		src := &in.Args[1]
		switch {
		case in.Op == "ld" && e.entry && s.loads == isa.Param && len(s.uses) == 0,
			in.Op == "mov" && (src.Kind == ptx.OpImm || src.Kind == ptx.OpSym && src.Func == nil),
			copies(in) && src.Kind == ptx.OpSym:
			e.vals[d].free, s.gone = true, true
		case copies(in) && len(s.uses) == 1:
			v := e.root(s.uses[0])
			if _, ok := e.operand(src); !ok || !e.once(v) {
				continue
			}
			s.gone = true
			if e.vals[v].free {
				e.vals[d].free = true
			} else {
				e.vals[d].as = v
			}
		case (in.Op == "add" || in.Op == "sub") && len(in.Args) == 3 && in.Args[2].Kind == ptx.OpImm && len(s.uses) == 1:
			v := e.root(s.uses[0])
			if e.once(v) && !e.vals[v].free && e.vals[d].addresses == e.vals[d].uses {
				e.vals[d].as, s.gone = v, true
			}
		}
	}
}

// fuse joins products and shifts with the sum that is their only use.
func (e *estimate) fuse() {
	for pc := range e.f.ast.Code {
		in, s := e.f.ast.Code[pc], &e.steps[pc]
		if s.gone || in.Guard != nil || len(s.defs) != 1 || len(in.Args) < 3 {
			continue
		}
		t := in.Types()
		if len(t) == 0 || !integer(t[0]) || in.Op != "mul" && (in.Op != "shl" || in.Args[2].Kind != ptx.OpImm) || in.Has("hi") {
			continue
		}
		d := s.defs[0]
		v := &e.vals[d]
		if v.defs != 1 || v.uses != 1 || v.as != d || int(v.user) >= len(e.f.ast.Code) {
			continue
		}
		sum := e.f.ast.Code[v.user]
		u := &e.steps[v.user]
		if sum.Op != "add" || sum.Guard != nil || u.gone || int32(e.f.graph.BlockOf(int(v.user))) != v.block {
			continue
		}
		u.uses = slices.DeleteFunc(u.uses, func(x int32) bool { return x == d })
		u.uses = append(u.uses, s.uses...)
		if in.Op == "mul" && in.Args[2].Kind == ptx.OpImm {
			// A shift has the literal in the instruction. A product takes it as a constant,
			// or, beside another constant, from a register.
			u.uses = append(u.uses, e.literal(in.Args[2].Imm.Bits))
		}
		u.base = make([]bool, len(u.uses))
		u.low = u.low && (s.low || in.Has("wide"))
		s.gone = true
	}
}

// literal returns the value that represents a literal.
func (e *estimate) literal(bits uint64) int32 {
	v, ok := e.literals[bits]
	if !ok {
		v = int32(len(e.vals))
		e.vals = append(e.vals, value{as: v, defs: 1, free: true})
		e.literals[bits] = v
	}
	return v
}

// materialise assigns registers to constants that an instruction cannot take: as an
// address, as the value stored, or beside another constant.
func (e *estimate) materialise() {
	type key struct{ block, val int32 }
	made := map[key]int32{}
	var out []step
	first := make([]int32, len(e.steps)+1)
	for pc := range e.steps {
		first[pc] = int32(len(out))
		s := e.steps[pc]
		if s.gone {
			continue
		}
		free := 0
		kept := s.uses[:0:0]
		base := s.base[:0:0]
		for i, u := range s.uses {
			v := e.root(u)
			if e.vals[v].free {
				if free++; !s.base[i] && !s.data && free < 2 {
					continue
				}
				k := key{int32(e.f.graph.BlockOf(pc)), v}
				m, ok := made[k]
				if !ok {
					m = int32(len(e.vals))
					e.vals = append(e.vals, value{as: m, defs: 1, wide: e.vals[v].wide})
					out = append(out, step{defs: []int32{m}, latency: latencyALU})
					made[k] = m
				}
				v = m
			}
			kept, base = append(kept, v), append(base, s.base[i])
		}
		s.uses, s.base = kept, base
		out = append(out, s)
	}
	first[len(e.steps)] = int32(len(out))
	e.steps, e.first = out, first
}

// halves finds the values whose upper half is never used.
func (e *estimate) halves() {
	for again := true; again; {
		again = false
		want := func(v int32) {
			if x := &e.vals[v]; x.wide && !x.high {
				x.high, again = true, true
			}
		}
		for i := len(e.steps) - 1; i >= 0; i-- {
			s := &e.steps[i]
			high := !s.low
			for _, d := range s.defs {
				high = high || e.vals[e.root(d)].high
			}
			for k, u := range s.uses {
				if !s.narrow && (s.base[k] && !half(max(s.loads, s.stores)) || !s.base[k] && high) {
					want(u)
				}
			}
		}
	}
}

// half reports whether an access to a space takes addresses of 32 bits.
func half(s isa.Space) bool {
	return s == isa.Shared || s == isa.Local || s == isa.Const || s == isa.Param
}

// count orders each block as it would be issued, and returns the maximum number of
// live registers.
func (e *estimate) count() int {
	at := make([]int32, len(e.f.graph.Blocks)+1)
	for b := range e.f.graph.Blocks {
		at[b] = int32(len(e.order))
		blk := &e.f.graph.Blocks[b]
		steps := e.steps[e.first[blk.First]:e.first[blk.Last+1]]
		for len(steps) > 0 {
			n := slices.IndexFunc(steps, func(s step) bool { return s.keep })
			if n < 0 {
				n = len(steps)
			}
			e.schedule(steps[:n])
			if n < len(steps) {
				e.emit(&steps[n])
				n++
			}
			steps = steps[n:]
		}
	}
	at[len(e.f.graph.Blocks)] = int32(len(e.order))
	for i := range e.order {
		in := &e.order[i]
		in.PC = int32(i)
		for k, t := range in.Targets {
			if int(t) < len(e.f.info) {
				in.Targets[k] = at[e.f.graph.BlockOf(int(t))]
			} else {
				in.Targets[k] = at[len(at)-1]
			}
		}
	}
	n := flow.Liveness(e.order, flow.Analyze(e.order)).Max(isa.RegGPR) + stackPointer
	if e.pairs {
		n = (n + 1) &^ 1
	}
	return n
}

// reg returns the register of a value in the result.
func (e *estimate) reg(v int32) isa.Reg {
	x := &e.vals[v]
	r := isa.Reg{File: isa.RegGPR, Index: 2 * uint32(v), Count: 1}
	if x.pred {
		r.File = isa.RegPred
	}
	if x.high {
		r.Count = 2
		e.pairs = true
	}
	return r
}

// emit adds an instruction to the result.
func (e *estimate) emit(s *step) {
	in := isa.Inst{Flow: s.flow, Targets: slices.Clone(s.targets), Guarded: s.guarded}
	for _, v := range s.uses {
		in.Srcs = append(in.Srcs, e.reg(v))
	}
	for _, v := range s.defs {
		in.Dsts = append(in.Dsts, e.reg(e.root(v)))
	}
	e.order = append(e.order, in)
}

// wait is what an instruction waits for in schedule.
type wait struct {
	left  int   // earlier instructions that are not issued
	ready int   // cycle
	next  []int // instructions that wait for it, and
	late  []int // how long after it they can be issued
}

// schedule appends reorderable instructions to the result: in each cycle, the first
// of the next few that can issue.
func (e *estimate) schedule(steps []step) {
	w := make([]wait, len(steps))
	after := func(i, j, cycles int) { // j after i
		w[i].next, w[i].late = append(w[i].next, j), append(w[i].late, cycles)
		w[j].left++
	}
	def := map[int32]int{}
	reads := map[int32][]int{}
	var mem order
	for j := range steps {
		s := &steps[j]
		for _, u := range s.uses {
			if i, ok := def[u]; ok {
				after(i, j, steps[i].latency)
			}
			reads[u] = append(reads[u], j)
		}
		for _, d := range s.defs {
			d = e.root(d)
			if i, ok := def[d]; ok {
				after(i, j, 1)
			}
			for _, i := range reads[d] {
				if i != j {
					after(i, j, 0)
				}
			}
			def[d], reads[d] = j, nil
		}
		mem.add(j, s, after)
	}
	done := make([]bool, len(steps))
	for first, now := 0, 0; first < len(steps); {
		best := -1
		for j := first; j < min(len(steps), first+window); j++ {
			if done[j] || w[j].left > 0 {
				continue
			}
			if best < 0 || w[j].ready < w[best].ready && w[best].ready > now {
				best = j
			}
			if w[best].ready <= now {
				break
			}
		}
		now = max(now, w[best].ready) + 1
		done[best] = true
		e.emit(&steps[best])
		for k, j := range w[best].next {
			w[j].left--
			w[j].ready = max(w[j].ready, now-1+w[best].late[k])
		}
		for first < len(steps) && done[first] {
			first++
		}
	}
}

// order keeps accesses to memory that may touch the same byte in their order:
// loads after the last store, and a store after all accesses since.
type order struct {
	stored [isa.Surface + 1]int   // by space: one more than the last store
	loaded [isa.Surface + 1][]int // loads since
}

func (o *order) add(j int, s *step, after func(i, j, cycles int)) {
	if s.loads != isa.NoSpace {
		for at := range o.stored {
			if meet(isa.Space(at), s.loads) && o.stored[at] > 0 {
				after(o.stored[at]-1, j, 1)
			}
		}
		o.loaded[s.loads] = append(o.loaded[s.loads], j)
	}
	if s.stores == isa.NoSpace {
		return
	}
	for at := range o.stored {
		if !meet(isa.Space(at), s.stores) {
			continue
		}
		for _, i := range o.loaded[at] {
			if i != j {
				after(i, j, 0)
			}
		}
		o.loaded[at] = nil
		if o.stored[at] > 0 {
			after(o.stored[at]-1, j, 1)
			o.stored[at] = 0
		}
	}
	o.stored[s.stores] = j + 1
}

// meet reports whether accesses to two spaces can touch the same byte.
func meet(a, b isa.Space) bool { return a == b || a == isa.Generic || b == isa.Generic }
