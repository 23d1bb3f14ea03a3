package compile

import (
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/compile/machine"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: the program of a kernel, from its final form.

// emit assembles a kernel.
func emit(m *module, fn *ptx.Func, f *ir.Func, lay *layout, mach *machine.Machine) *sass.Kernel {
	var b strings.Builder
	fmt.Fprintf(&b, ".arch %v\n.kernel %s\n", m.arch, f.Name)
	for i, v := range lay.params {
		fmt.Fprintf(&b, ".param p%d, %d, %d\n", i, v.Size(), lay.param[v])
	}
	regs := 0
	var lines []int32
	target := map[*ir.Block]bool{}
	for _, x := range f.Blocks {
		for _, in := range x.Insts {
			if in.Target != nil {
				target[in.Target] = true
			}
			for _, v := range in.Defs() {
				if v.Class == ir.GPR {
					regs = max(regs, v.Reg+1)
				}
			}
		}
	}
	fmt.Fprintf(&b, ".regs %d\n.shared %d\n.local %d\n.barriers %d\n", min(regs+mach.Reserved, 255), lay.static, lay.frame, min(lay.bars, 16))
	limits(&b, fn)
	ends := false
	for _, x := range f.Blocks {
		if target[x] {
			fmt.Fprintf(&b, "%s%d:\n", sass.LocalLabel, x.ID)
		}
		for _, in := range x.Insts {
			lines = append(lines, in.Line)
			fmt.Fprintf(&b, "%v %s;\n", in.Ctl, text(in))
			ends = ends || in.Base() == "EXIT"
		}
	}
	if !ends { // a loop without end; the text of a kernel has an EXIT
		lines = append(lines, 0)
		b.WriteString("[B------:R-:W-:-:S05] EXIT;\n")
	}
	file, err := sass.Parse(f.Name, b.String(), m.arch)
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

// text is an instruction in the machine's syntax, with the label to which it branches.
func text(in *ir.Inst) string {
	to := in.Target
	if to == nil {
		return in.String()
	}
	plain := *in
	plain.Target = nil
	sep := " "
	if len(in.Args) > 0 {
		sep = ", "
	}
	return fmt.Sprintf("%s%s%s%d", plain.String(), sep, sass.LocalLabel, to.ID)
}
