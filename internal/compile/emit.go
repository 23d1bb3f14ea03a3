package compile

import (
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/compile/machine"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: the program of a kernel, from its final form.

// recursion are the bytes of local memory that a thread has for functions that call themselves, or that are
// called by their addresses: our choice.
const recursion = 16 << 10

// emit assembles a kernel, with the functions that it calls after it.
func emit(m *module, bodies []*body, mach *machine.Machine) *sass.Kernel {
	var b strings.Builder
	fn, lay := bodies[0].fn, bodies[0].lay
	fmt.Fprintf(&b, ".arch %v\n.kernel %s\n", m.arch, fn.Name)
	for i, v := range lay.params {
		fmt.Fprintf(&b, ".param p%d, %d, %d\n", i, v.Size(), lay.param[v])
	}
	e := emission{text: &b, labels: map[*ir.Block]string{}, at: map[*ir.Inst]int{}}
	local := lay.frame
	for i, x := range bodies {
		e.survey(i, x.f)
		lay.bars = max(lay.bars, x.lay.bars)
		if i > 0 {
			local += x.lay.frame + recursion/int64(len(bodies)-1)
		}
	}
	fmt.Fprintf(&b, ".regs %d\n.shared %d\n.local %d\n.barriers %d\n", min(e.regs+mach.Reserved, 255), lay.static, alignUp(local, 16), min(lay.bars, 16))
	limits(&b, fn)
	for i, x := range bodies {
		if i > 0 {
			fmt.Fprintf(&b, "%s:\n", x.f.Name)
		}
		e.body(x.f)
	}
	lines := e.lines
	file, err := sass.Parse(fn.Name, b.String(), m.arch)
	if err != nil {
		stop("the assembler", fmt.Sprintf("rejects what was made, a fault of the compiler: %v", err))
	}
	k := file.Kernels[0]
	for i := range k.Params {
		k.Params[i].Name = lay.params[i].Name
	}
	for i, n := range lines {
		if n > 0 && (len(k.Lines) == 0 || k.Lines[len(k.Lines)-1].Line != int(n)) {
			k.Lines = append(k.Lines, sass.Line{Index: i, File: m.text.File, Line: int(n)})
		}
	}
	k.Source = func(i int) (string, int) { return m.text.File, int(lines[i]) }
	k.Weak = fn.Linkage == ptx.Weak
	return k
}

// limits writes the sizes of blocks that a kernel demands.
func limits(b *strings.Builder, fn *ptx.Func) {
	put := func(name string, d [3]int) {
		if d[0] > 0 {
			fmt.Fprintf(b, "%s %d, %d, %d\n", name, d[0], max(d[1], 1), max(d[2], 1))
		}
	}
	put(".maxthreads", fn.MaxNTID)
	put(".block", fn.ReqNTID)
}

// emission is the text that is being made.
type emission struct {
	text   *strings.Builder
	labels map[*ir.Block]string // of blocks to which code branches
	at     map[*ir.Inst]int     // the numbers of instructions
	lines  []int32
	regs   int
	n      int // instructions
}

// survey numbers the instructions of a function, and finds its labels and registers.
func (e *emission) survey(number int, f *ir.Func) {
	prefix := sass.LocalLabel
	if number > 0 {
		prefix = fmt.Sprintf("%sF%d_", prefix, number)
	}
	ends := number > 0
	for _, x := range f.Blocks {
		for _, in := range x.Insts {
			if in.Target != nil {
				e.labels[in.Target] = fmt.Sprintf("%s%d", prefix, in.Target.ID)
			}
			for _, v := range in.Defs() {
				if v.Class == ir.GPR {
					e.regs = max(e.regs, v.Reg+1)
				}
			}
			e.at[in] = e.n
			e.n++
			ends = ends || in.Base() == "EXIT"
		}
	}
	if !ends { // a loop without end; the text of a kernel has an EXIT
		b := f.Blocks[len(f.Blocks)-1]
		in := &ir.Inst{Name: "EXIT", Ctl: isa.Control{Stall: 5, Write: isa.NoCounter, Read: isa.NoCounter}}
		b.Insts = append(b.Insts, in)
		e.n++
	}
}

// body writes the code of a function.
func (e *emission) body(f *ir.Func) {
	for _, x := range f.Blocks {
		if l := e.labels[x]; l != "" {
			fmt.Fprintf(e.text, "%s:\n", l)
		}
		for _, in := range x.Insts {
			e.lines = append(e.lines, in.Line)
			fmt.Fprintf(e.text, "%v %s;\n", in.Ctl, e.inst(in))
		}
	}
}

// instBytes is the size of an instruction.
const instBytes = 16

// inst is an instruction in the machine's syntax, with the label to which it branches.
func (e *emission) inst(in *ir.Inst) string {
	plain := *in
	to := ""
	switch {
	case in.Target != nil:
		plain.Target, to = nil, e.labels[in.Target]
	case in.Return != nil:
		plain.Args = []ir.Arg{in.Args[0], ir.I(uint32(instBytes * (e.at[in.Return] + 1)))}
	case in.Base() == "CALL":
		to = in.Callee
	case in.Base() == "RET":
		return strings.Replace(in.String(), ", ", " ", 1) // RET.REL.NODEC R2 0x0
	}
	if to == "" {
		return plain.String()
	}
	sep := " "
	if len(in.Args) > 0 {
		sep = ", "
	}
	return plain.String() + sep + to
}
