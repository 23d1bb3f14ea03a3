package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/mnemonic"
	"github.com/heddle-sim/heddle/internal/isa/sass"
	"github.com/heddle-sim/heddle/internal/trace"
)

// maxCode is the maximum number of instructions of a launch with its fillers (our
// choice: 64 MiB of code; the largest libraries have kernels of a few MiB).
const maxCode = 1 << 22

// maxStatic is the maximum number of static instructions of a trace.
const maxStatic = 1 << 21

// filler is the name of the padding between recorded instructions.
const filler = "(not recorded)"

// known is what is known about a static instruction beyond isa.Inst.
type known struct {
	info    *mnemonic.Info
	words   bool          // described from its encoded words or its full text
	konst   *isa.ConstRef // the constant that it loads
	control *isa.Control
}

// decode makes the instructions.
func (w *Work) decode(o Options) error {
	k := w.k
	if len(k.Code) > maxStatic {
		return fmt.Errorf("%d static instructions; at most %d are supported", len(k.Code), maxStatic)
	}
	var err error
	if w.table, err = mnemonic.New(k.Arch, o.Rules); err != nil {
		return err
	}
	list := make([]isa.Inst, len(k.Code))
	facts := make([]known, len(k.Code))
	w.stat = make([]static, len(k.Code))
	w.counts = make([]uint64, len(k.Code))
	disagree := 0
	for i := range k.Code {
		s, f, in := &k.Code[i], &facts[i], &list[i]
		f.info, f.control = w.table.Lookup(s.Op), s.Control
		switch {
		case o.AsAccelSim:
		case s.Words != [2]uint64{}:
			if f.words = w.fromWords(in, s, f); !f.words {
				disagree++
			}
		case s.Text != "":
			f.words = w.fromText(in, s, f)
		}
		if f.words {
			w.report.Words++
		} else {
			w.fromMnemonic(in, s, f.info, o)
			w.report.Mnemonic++
		}
		in.Line = s.Line
		in.Pipe, in.Quick, in.Async = f.info.Inst.Pipe, f.info.Inst.Quick, f.info.Inst.Async
		if d := in.Depbar; d != nil && in.Async.Does == isa.AsyncWait {
			in.Async.Leave = int32(d.AtMost)
		}
		in.Private = true
		in.Control = nil
		w.about(&w.stat[i], in, f.info, s)
		if f.konst != nil {
			w.stat[i].konst = constant(f.konst)
		}
	}
	if disagree > 0 {
		w.report.Warnings = append(w.report.Warnings, fmt.Sprintf("%d static instructions have words that contradict their mnemonics or cannot be decoded; the mnemonics are used", disagree))
	}
	if err := w.place(list); err != nil {
		return err
	}
	hidden := o.Hidden == HiddenRecover && !o.AsAccelSim && w.report.Mnemonic > 0
	infer := o.Dependences == Inferred && !complete(facts)
	var sv *survey
	if hidden || infer {
		if sv, err = w.survey(); err != nil {
			return err
		}
	}
	if hidden {
		w.recover(list, facts, sv)
	}
	w.control(list, facts, o, sv)
	return nil
}

// complete reports whether all instructions have control bits.
func complete(facts []known) bool {
	for i := range facts {
		if facts[i].control == nil {
			return false
		}
	}
	return len(facts) > 0
}

// control gives the instructions their control bits.
func (w *Work) control(list []isa.Inst, facts []known, o Options, sv *survey) {
	r := &w.report
	r.Control = "none"
	have := 0
	for i := range facts {
		if facts[i].control != nil {
			have++
		}
	}
	switch {
	case o.Dependences == Scoreboard:
		if r.Why = "asked for"; have == 0 {
			r.Why = ""
		}
		return
	case have == len(facts) && have > 0:
		r.Control = "recorded"
		for i := range list {
			list[i].Control = facts[i].control
		}
	case o.Dependences == Inferred:
		r.Control = "inferred"
		l := o.Latencies
		if l == (Latencies{}) {
			l = AmpereLatencies()
		}
		for i, c := range Infer(list, sv.successors(), l) {
			list[i].Control = &c
		}
	default:
		if have > 0 {
			r.Why = fmt.Sprintf("only %d of %d instructions have control bits", have, len(facts))
		}
		return
	}
	c := noControl
	for _, in := range w.code {
		if in.Control == nil {
			in.Control = &c
		}
	}
}

// constant returns the addresses of a load in which all lanes read one constant, as
// cores number them: banks of 64 KiB.
func constant(c *isa.ConstRef) *[32]uint64 {
	var a [32]uint64
	for i := range a {
		a[i] = uint64(c.Bank)<<16 | uint64(c.Offset&0xffff)
	}
	return &a
}

// about fills in what Step needs to know.
func (w *Work) about(st *static, in *isa.Inst, f *mnemonic.Info, s *trace.Static) {
	st.inst, st.space, st.konst = in, in.Space, &noAddress
	switch {
	case in.Flow == isa.FlowExit:
		st.does |= doesExit
	case f.Base == "BAR":
		switch {
		case in.Barrier:
			st.does |= doesWait
		case strings.HasPrefix(s.Op, "BAR.ARV"):
			st.does |= doesArrive
		}
		if in.Named > 0 {
			st.bar = (in.Named - 1) % barriers
		}
		st.count = barCount(s)
	}
	if in.Store {
		st.does |= doesStore
	}
	switch in.Space {
	case isa.Generic:
		st.does |= doesGeneric
	case isa.Const:
		if in.Load {
			st.does |= doesConst
		}
	}
}

// barCount is the number of warps that a barrier waits for, if the disassembly shows it:
// BAR.SYNC 0x1, 0x40.
func barCount(s *trace.Static) int32 {
	_, rest, ok := strings.Cut(s.Text, "BAR.")
	if !ok {
		return 0
	}
	_, rest, ok = strings.Cut(rest, ",")
	if !ok {
		return 0
	}
	var n int32
	if _, err := fmt.Sscanf(strings.TrimSpace(rest), "%v", &n); err != nil || n <= 0 || n > isa.MaxThreads {
		return 0
	}
	return (n + 31) / 32
}

// fromWords describes an instruction from its encoding and reports whether it could be
// decoded and agrees with the mnemonic.
func (w *Work) fromWords(in *isa.Inst, s *trace.Static, f *known) bool {
	arch := sass.Arch(w.k.Arch)
	if !slices.Contains(sass.Archs(), arch) {
		return false
	}
	x, err := sass.Decode(arch, s.Words, s.PC)
	if err != nil || x.Op.String() != f.info.Base {
		return false
	}
	return first(in, &sass.Kernel{Name: w.k.Kernel, Arch: arch, Code: []sass.Inst{x}, Control: true}, s, f, true)
}

// fromText does the same from the disassembly. Branches, whose targets are labels, are
// left to their mnemonics.
func (w *Work) fromText(in *isa.Inst, s *trace.Static, f *known) bool {
	arch := sass.Arch(w.k.Arch)
	if f.info.Inst.Class == isa.ClassBranch || strings.ContainsAny(s.Text, ";\n") || !slices.Contains(sass.Archs(), arch) || !arch.Assembles() {
		return false
	}
	text := fmt.Sprintf(".arch %v\n.kernel k\n.regs 255\n[B------:R-:W-:-:S01] %s ;\n[B------:R-:W-:-:S05] EXIT ;\n", arch, s.Text)
	file, err := sass.Parse("listing", text, arch)
	if err != nil || len(file.Kernels) != 1 || len(file.Kernels[0].Code) != 2 || file.Kernels[0].Code[0].Op.String() != f.info.Base {
		return false
	}
	return first(in, file.Kernels[0], s, f, false)
}

// first describes an instruction as if it were the first of a kernel.
func first(in *isa.Inst, k *sass.Kernel, s *trace.Static, f *known, bits bool) bool {
	*in = k.Infos()[0]
	in.Targets = nil
	for i := range k.Code[0].Operands {
		if o := &k.Code[0].Operands[i]; f.info.Inst.Space == isa.Const && o.Kind == sass.Const && o.Reg == sass.RZ && !o.HasU {
			f.konst = &isa.ConstRef{Bank: o.Bank, Offset: uint32(o.Imm)}
		}
	}
	if in.Class == isa.ClassNone { // the encoding is known, but not its class
		t := f.info.Inst
		t.Op, t.Dsts, t.Srcs, t.Guarded, t.Control, t.Const, t.Uniform, t.Clock = in.Op, in.Dsts, in.Srcs, in.Guarded, in.Control, in.Const, in.Uniform, in.Clock
		*in = t
	}
	switch {
	case s.Control != nil:
		c := *s.Control
		c.Reuse = in.Control.Reuse // in the operand order used here
		f.control = &c
	case bits:
		f.control = in.Control
	}
	return true
}

// fromMnemonic describes an instruction from its mnemonic and the registers that the
// trace names.
func (w *Work) fromMnemonic(in *isa.Inst, s *trace.Static, f *mnemonic.Info, o Options) {
	*in = f.Inst
	in.Op = s.Op
	if o.AsAccelSim && (in.Load || in.Store) {
		in.Width = uint8(min(mnemonic.AccelSimWidth(s.Op), 128))
		in.Elem = in.Width
		past := in.Cache == isa.CacheCG || in.Cache == isa.CacheCV
		if past && in.Load && !in.Atomic && !mnemonic.AccelSimPastL1(s.Op) {
			in.Cache = isa.CacheDefault
		}
	}
	if g := s.Guard; g.Known && g.Reg != sass.PT && !o.AsAccelSim {
		file := isa.RegPred
		if g.Uniform {
			file = isa.RegUPred
		}
		in.Guarded = true
		in.Srcs = append(in.Srcs, register(file, uint16(g.Reg), 1))
	}
	results := 0
	for _, r := range s.Dsts {
		if r.File == isa.RegGPR {
			results++
		}
	}
	for _, r := range s.Dsts {
		n := uint8(1)
		if r.File == isa.RegGPR && results == 1 || r.File == isa.RegUGPR && len(s.Dsts) == 1 {
			n = f.Results(r.N)
		}
		w.add(&in.Dsts, r, n, o)
	}
	if in.Store && !in.Load && !in.Atomic || in.Kind == isa.KindFence {
		in.Dsts = nil // even if the trace has some: they would never be written
	}
	general := 0
	for _, r := range s.Srcs {
		if r.File == isa.RegGPR {
			general++
		}
	}
	at := 0
	for _, r := range s.Srcs {
		n := uint8(1)
		if r.File == isa.RegGPR {
			n = f.Source(at, general, r.N)
			at++
		}
		w.add(&in.Srcs, r, n, o)
	}
	if f.Depbar {
		d := &isa.Depbar{SB: 0, AtMost: 0} // compilers use SB0 for groups of copies
		if n := len(s.Imms); n > 0 && s.Imms[n-1] > 0 {
			d.AtMost = uint8(min(s.Imms[n-1], 63))
		}
		in.Depbar = d
	}
	if f.Base == "BAR" && len(s.Imms) == 1 && w.k.Version >= 6 && s.Imms[0] >= 0 && s.Imms[0] < barriers {
		in.Named = uint8(s.Imms[0]) + 1
	}
}

// add appends a register of n parts unless it is none.
func (w *Work) add(list *[]isa.Reg, r trace.Reg, n uint8, o Options) {
	none := uint16(sass.RZ)
	switch r.File {
	case isa.RegUGPR:
		if o.AsAccelSim {
			return
		}
		if w.k.Arch < 100 {
			none = sass.URZ6
		}
	case isa.RegPred, isa.RegUPred:
		if o.AsAccelSim {
			return
		}
		none = sass.PT
	case isa.RegGPR:
		if o.AsAccelSim && r.N == none {
			*list = append(*list, register(r.File, r.N, 1))
			return
		}
	}
	if r.N >= none {
		return
	}
	*list = append(*list, register(r.File, r.N, uint8(min(uint16(n), none-r.N))))
}

func register(file isa.RegFile, n uint16, count uint8) isa.Reg {
	return isa.Reg{File: file, Count: count, Number: n + 1, Index: uint32(n)}
}

// place lays the instructions out: functions one after another in the order of their
// numbers, each by address, with fillers between.
func (w *Work) place(list []isa.Inst) error {
	k := w.k
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &k.Code[a], &k.Code[b]
		return cmp.Or(cmp.Compare(x.Func, y.Func), cmp.Compare(x.PC, y.PC))
	})
	// If the code of a function is spread too far, its parts are moved together. The
	// limit is three fillers per instruction, plus a fixed amount for small functions
	// (our choice).
	budget := 4*len(list) + 4096
	code := make([]*isa.Inst, 0, len(list)+1)
	at := uint64(0) // place of the current function's address 0
	slot := func(i int) uint64 { return w.slot(k.Code[i].PC) }
	var twice []int
	for n, i := range order {
		s := &k.Code[i]
		if n > 0 {
			p := &k.Code[order[n-1]]
			if p.Func == s.Func && p.PC == s.PC {
				// Two functions that the trace does not distinguish.
				twice = append(twice, i)
				continue
			}
			if p.Func != s.Func {
				at = uint64(len(code)) - slot(i)
			}
		} else {
			at = -slot(i)
		}
		want := at + slot(i)
		if gap := want - uint64(len(code)); int64(gap) < 0 || gap > uint64(budget) {
			at -= gap // the next part begins here
		} else {
			budget -= int(gap)
			for range gap {
				code = append(code, w.fill(len(code)))
			}
		}
		w.put(&code, list, i)
	}
	for _, i := range twice {
		w.put(&code, list, i)
	}
	if len(code) == 0 {
		code = append(code, w.fill(0))
	}
	if len(code) > maxCode {
		return fmt.Errorf("%d instructions of code; at most %d are supported", len(code), maxCode)
	}
	w.code = code
	return nil
}

// slot is the index of the instruction at an address, not counting words that are not
// instructions: before Volta every fourth word, on Kepler every eighth, holds control
// bits, starting with the first.
func (w *Work) slot(pc uint32) uint64 {
	group := uint64(0)
	switch a := w.k.Arch; {
	case a >= 50 && a < 70:
		group = 4
	case a >= 30 && a < 50:
		group = 8
	}
	n := uint64(pc) / uint64(w.bytes)
	if group == 0 {
		return n
	}
	return n/group*(group-1) + max(n%group, 1) - 1
}

func (w *Work) put(code *[]*isa.Inst, list []isa.Inst, i int) {
	list[i].PC = int32(len(*code))
	w.stat[i].at = list[i].PC
	*code = append(*code, &list[i])
}

// fill makes a filler.
func (w *Work) fill(pc int) *isa.Inst {
	return &isa.Inst{PC: int32(pc), Op: filler, Class: isa.ClassMisc, Unit: isa.UnitNone, Pipe: isa.PipeALU, Private: true}
}
