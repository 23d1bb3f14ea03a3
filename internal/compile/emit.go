package compile

import (
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: the program of a kernel, from its final form.

// recursion are the bytes of local memory that a thread has for functions that call themselves, or that are
// called by their addresses: our choice.
const recursion = 16 << 10

// emit assembles a kernel, with the functions that it calls after it.
func emit(m *module, u *unit) *sass.Kernel {
	bodies, fn, lay := u.bodies, u.fn, u.bodies[0].lay
	k := &sass.Kernel{Name: fn.Name, Arch: m.arch, Shared: int(lay.static), Weak: fn.Linkage == ptx.Weak}
	for _, v := range lay.params {
		k.Params = append(k.Params, sass.Param{Name: v.Name, Bytes: int(v.Size()), Offset: m.arch.ParamBase() + int(lay.param[v])})
	}
	e := emission{m: m, k: k, wanted: u.wanted, labels: map[*ir.Block]string{}, at: map[*ir.Inst]int{}, starts: map[*ir.Block]int{}, functions: map[string]int{}, first: map[string]int32{}}
	local := lay.frame
	functions := slices.DeleteFunc(slices.Clone(bodies[1:]), (*body).routine)
	for i, x := range bodies {
		e.survey(i, x.f)
	}
	for _, x := range functions {
		lay.bars = max(lay.bars, x.lay.bars)
		local += x.lay.frame + recursion/int64(len(functions))
	}
	k.Regs, k.Local, k.Barriers = min(e.regs+u.mach.Reserved, 255), int(alignUp(local, 16)), min(lay.bars, 16)
	k.MaxThreads, k.Block = limit(fn.MaxNTID), limit(fn.ReqNTID)
	k.Code, e.lines = make([]sass.Inst, 0, e.n), make([]int32, 0, e.n)
	for i, x := range bodies {
		if i > 0 {
			k.Labels = append(k.Labels, sass.Label{Name: x.f.Name, Index: len(k.Code)})
		}
		e.body(x.f)
	}
	if err := k.Complete(); err != nil {
		e.reject(err)
	}
	SetLines(k, m.text.File, e.lines)
	return k
}

// SetLines notes from which lines of the PTX the instructions of a kernel are, 0 if from none.
func SetLines(k *sass.Kernel, file string, lines []int32) {
	for i, n := range lines {
		k.Code[i].Pos.Line = n
		if n > 0 && (len(k.Lines) == 0 || k.Lines[len(k.Lines)-1].Line != int(n)) {
			k.Lines = append(k.Lines, sass.Line{Index: i, File: file, Line: int(n)})
		}
	}
	k.Source = func(i int) (string, int) { return file, int(lines[i]) }
}

// limit is the size of blocks that a kernel demands, zeros if it does not.
func limit(d [3]int) (to [3]uint32) {
	if d[0] > 0 {
		for i := range d {
			to[i] = uint32(max(d[i], 1))
		}
	}
	return to
}

// emission is the kernel that is being made.
type emission struct {
	m         *module
	k         *sass.Kernel
	wanted    *addresses
	labels    map[*ir.Block]string // of blocks to which code branches
	at        map[*ir.Inst]int     // the numbers of calls
	starts    map[*ir.Block]int    // of the first instructions of blocks
	functions map[string]int       // of the first instructions of functions
	first     map[string]int32     // by function: the line that calls it first, which its code counts as if it is a routine
	lines     []int32
	regs      int
	n         int // instructions
	operands  []sass.Operand
}

func (e *emission) reject(err error) {
	stop("the assembler", fmt.Sprintf("rejects what was made, a fault of the compiler: %v", err))
}

// survey numbers the instructions of a function, and finds its labels and registers.
func (e *emission) survey(number int, f *ir.Func) {
	prefix := sass.LocalLabel
	if number > 0 {
		prefix = fmt.Sprintf("%sF%d_", prefix, number)
		e.functions[f.Name] = e.n
	}
	ends := number > 0
	for _, x := range f.Blocks {
		e.starts[x] = e.n
		for _, in := range x.Insts {
			if in.Target != nil {
				e.labels[in.Target] = fmt.Sprint(prefix, in.Target.ID)
			}
			in.EachDef(func(v *ir.Value) {
				if v.Class == ir.GPR {
					e.regs = max(e.regs, v.Reg+1)
				}
			})
			base := in.Base()
			if base == "CALL" {
				e.at[in] = e.n
			}
			e.n++
			ends = ends || base == "EXIT"
		}
	}
	if !ends { // a loop without end; a kernel has an EXIT
		b := f.Blocks[len(f.Blocks)-1]
		in := &ir.Inst{Name: "EXIT", Ctl: isa.Control{Stall: 5, Write: isa.NoCounter, Read: isa.NoCounter}}
		b.Insts = append(b.Insts, in)
		e.n++
	}
}

// body makes the code of a function.
func (e *emission) body(f *ir.Func) {
	for _, x := range f.Blocks {
		if l := e.labels[x]; l != "" {
			e.k.Labels = append(e.k.Labels, sass.Label{Name: l, Index: len(e.k.Code)})
		}
		for _, in := range x.Insts {
			line := in.Line
			if in.Base() == "CALL" && e.first[in.Callee] == 0 {
				e.first[in.Callee] = line
			}
			if f.IsRoutine {
				line = e.first[f.Name]
			}
			e.lines = append(e.lines, line)
			e.inst(in)
		}
	}
}

// inst assembles an instruction.
func (e *emission) inst(in *ir.Inst) {
	g := sass.Guard{Pred: sass.PT}
	if v := in.Guard.Val; v != nil {
		g = sass.Guard{Pred: uint8(v.Reg), Not: in.Guard.Not}
	}
	e.operands = e.operands[:0]
	if in.Return != nil {
		e.operands = append(e.operands, e.operand(&in.Args[0]), sass.Operand{Kind: sass.Imm, Imm: int64(sass.InstBytes * (e.at[in.Return] + 1))})
	} else {
		for i := range in.Args {
			if a := &in.Args[i]; a.Kind != ir.Hidden {
				e.operands = append(e.operands, e.operand(a))
			}
		}
	}
	base := in.Base()
	switch to, ok := 0, false; {
	case in.Target != nil:
		e.target(e.starts[in.Target])
	case base == "CALL" && in.Callee != "":
		if to, ok = e.functions[in.Callee]; !ok {
			e.reject(fmt.Errorf("%v: there is no function %s", in, in.Callee))
		}
		e.target(to)
	case base == "RET":
		e.operands[len(e.operands)-1].Tail = true // RET.REL.NODEC R2 0x0
	}
	if err := e.m.assembler.Add(e.k, in.Name, g, e.operands, in.Ctl); err != nil {
		e.reject(err)
	}
}

// target adds an operand that leads to an instruction.
func (e *emission) target(to int) {
	e.operands = append(e.operands, sass.Operand{Kind: sass.Target, Imm: sass.InstBytes * int64(to)})
}

// operand is an argument once registers are chosen.
func (e *emission) operand(a *ir.Arg) sass.Operand {
	o := sass.Operand{Reg: sass.RZ, UReg: sass.URZ, Desc: sass.URZ, Neg: a.Neg, Abs: a.Abs, Not: a.Not}
	if a.Kind != ir.Mem {
		if o.Suffix = a.Suffix; a.Suffix == "reuse" {
			o.Suffix, o.Reuse = "", true
		}
	}
	switch a.Kind {
	case ir.Reg:
		o.Kind = sass.Reg
		firstRegister(&o, a)
	case ir.P:
		o.Kind, o.Reg = sass.Pred, sass.PT
		firstRegister(&o, a)
	case ir.Const:
		o.Kind, o.Bank, o.Imm = sass.Const, a.Bank, a.Imm
		if a.Bank == addressBank {
			o.Imm = e.wanted.place(a.Imm)
		}
		firstRegister(&o, a)
	case ir.Mem:
		o.Kind, o.Imm = sass.Mem, a.Imm
		if firstRegister(&o, a); o.Reg != sass.RZ && len(a.Vals) == 2 && a.Suffix == "" {
			o.Suffix = "64"
		}
		if a.Text == specialDesc {
			o.Desc, o.HasD = descriptorRegister, true
		}
	case ir.Imm:
		if plain := !a.Neg && !a.Abs && !a.Not && a.Suffix == ""; !plain {
			return sass.Operand{Kind: sass.Word, Suffix: a.String()}
		}
		if a.Float {
			o.Kind, o.Bits, o.Width = sass.FImm, uint64(uint32(a.Imm)), 32
			break
		}
		o.Kind, o.Imm = sass.Imm, int64(uint32(a.Imm))
		if v := int32(a.Imm); v < 0 && v > -1<<16 {
			o.Imm = int64(v)
		}
	default:
		return sass.Operand{Kind: sass.Word, Suffix: a.String()}
	}
	return o
}

// firstRegister names the first of the registers of an argument.
func firstRegister(o *sass.Operand, a *ir.Arg) {
	var first *ir.Value
	for i, v := range a.Vals {
		if i == 0 {
			first = v
		}
		if (v == nil) != (first == nil) || v != nil && v.Reg < 0 {
			stop("the assembler", fmt.Sprintf("has no register for %v, a fault of the compiler", a))
		}
	}
	switch {
	case first == nil:
	case first.Class != ir.UGPR:
		o.Reg = uint8(first.Reg)
	case o.Kind == sass.Reg:
		o.Kind, o.Reg = sass.UReg, uint8(first.Reg)
	default:
		o.HasU, o.UReg = true, uint8(first.Reg)
	}
}
