package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/flow"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/near"
	"github.com/heddle-sim/heddle/internal/program"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// ptxCmd is `heddle ptx`.
type ptxCmd struct {
	Files  []string `arg:"" name:"file" help:"PTX files."`
	Kernel string   `placeholder:"NAME" help:"Show only this kernel."`
	DOT    bool     `name:"dot" xor:"form" help:"Print the control-flow graphs for Graphviz."`
	Print  bool     `xor:"form" help:"Print the program as canonical PTX."`
	Strict bool     `help:"Fail (exit code 2) if a kernel cannot run."`
}

// Run prints the contents of the files.
func (c *ptxCmd) Run(e env) error {
	out := bufio.NewWriter(e.stdout)
	defer out.Flush()
	broken := 0
	var unusable []string
	found := c.Kernel == ""
	var names []string
	for i, file := range c.Files {
		prog, mod, err := loadPTX(file)
		if err != nil {
			out.Flush()
			printErrors(e.stderr, err)
			broken++
			continue
		}
		if c.Print {
			if err := ptx.Print(out, mod); err != nil {
				return usage("%s: %w", file, err)
			}
		}
		if i > 0 && !c.DOT && !c.Print {
			fmt.Fprintln(out)
		}
		if !c.DOT && !c.Print {
			c.module(out, file, mod, prog)
		}
		for _, k := range prog.Kernels() {
			names = append(names, k.Name())
			if c.Kernel != "" && k.Name() != c.Kernel {
				continue
			}
			found = true
			if len(k.Unusable()) > 0 {
				unusable = append(unusable, k.Name())
			}
			switch {
			case c.Print:
			case c.DOT:
				if err := dot(out, k, prog); err != nil {
					return err
				}
			default:
				kernel(out, k, prog)
			}
		}
	}
	if err := out.Flush(); err != nil {
		return usage("writing: %w", err)
	}
	switch {
	case broken > 0:
		return &exitError{code: exitUsage}
	case !found:
		hint := "kernels: " + strings.Join(names, ", ")
		if n := near.Name(c.Kernel, names); n != "" {
			hint = fmt.Sprintf("did you mean %q?", n)
		} else if len(names) == 0 {
			hint = "the files have no kernels"
		}
		return usage("--kernel: unknown kernel %q; %s", c.Kernel, hint)
	case c.Strict && len(unusable) > 0:
		return usage("--strict: %s cannot run: %s", report.Plural(len(unusable), "kernel", "kernels"), strings.Join(unusable, ", "))
	}
	return nil
}

// loadPTX parses a file and links it on its own.
func loadPTX(file string) (*xptx.Program, *ptx.Module, error) {
	src, err := job.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	prog, err := program.Load(program.Source{Name: file, Text: src})
	if err != nil {
		return nil, nil, err
	}
	if prog.PTX() == nil {
		return nil, nil, usage("%s is SASS, not PTX; use heddle asm", file)
	}
	return prog.PTX(), prog.PTX().Modules()[0], nil
}

// module prints what a file declares.
func (c *ptxCmd) module(w io.Writer, file string, m *ptx.Module, prog *xptx.Program) {
	fmt.Fprintf(w, "%s: PTX %d.%d for %s, %d-bit addresses\n", file, m.VersionMajor, m.VersionMinor, strings.Join(m.Targets, ", "), m.AddressSize)
	var funcs, external []string
	for _, f := range m.Funcs {
		switch {
		case f.Entry:
		case f.Proto && f.Linkage == ptx.Extern:
			external = append(external, f.Name)
		case !f.Proto:
			funcs = append(funcs, f.Name)
		}
	}
	var kernels []string
	for _, k := range prog.Kernels() {
		name := k.Name()
		if len(k.Unusable()) > 0 {
			name += " (cannot run)"
		}
		kernels = append(kernels, name)
	}
	nameList(w, "kernels", kernels)
	nameList(w, "functions", funcs)
	nameList(w, "external functions", external)
	var vars []string
	for _, v := range m.Vars {
		vars = append(vars, variable(v))
	}
	nameList(w, "variables", vars)
}

// width is the width of the text in characters.
const width = 110

// nameList prints a list of names under a heading, if there are any.
func nameList(w io.Writer, what string, names []string) {
	const most = 40
	if len(names) == 0 {
		return
	}
	more := ""
	n := len(names)
	if n > most {
		names, more = names[:most], ", …"
	}
	head := fmt.Sprintf("  %s: %d  ", what, n)
	fmt.Fprintf(w, "%s%s%s\n", head, report.Wrap(names, width, len(head)), more)
}

var spaceNames = map[ptx.StateSpace]string{
	ptx.SpaceReg: ".reg", ptx.SpaceSreg: ".sreg", ptx.SpaceConst: ".const", ptx.SpaceGlobal: ".global",
	ptx.SpaceLocal: ".local", ptx.SpaceParam: ".param", ptx.SpaceShared: ".shared", ptx.SpaceTex: ".tex",
}

// variable describes a declared variable.
func variable(v *ptx.Var) string {
	s := fmt.Sprintf("%s %s .%s", v.Name, spaceNames[v.Space], v.Type)
	if n := v.Size(); n > 0 {
		s += " (" + report.Bytes(uint64(n)) + ")"
	}
	return s
}

// kernel prints a kernel and every function that it can reach.
func kernel(w io.Writer, k *xptx.Kernel, prog *xptx.Program) {
	fmt.Fprintf(w, "\nkernel %s  line %d\n", k.Name(), k.Func().Pos.Line)
	var params []string
	for _, p := range k.Params() {
		s := fmt.Sprintf("%s .%s", p.Name, p.Type)
		if n := ptx.Type(p.Type).Bytes(); n > 0 && p.Size > n {
			s += fmt.Sprintf("[%d]", p.Size/n)
		}
		params = append(params, s)
	}
	fmt.Fprintf(w, "  parameters   %s\n", cmp.Or(report.Wrap(params, width, 15), "none"))
	if len(params) > 0 {
		fmt.Fprintf(w, "               %d bytes\n", k.ParamBytes())
	}
	fmt.Fprintf(w, "  registers    %d needed at most (estimate, 32 bits each); declared: %s\n", k.Registers(), cmp.Or(declared(k.Func()), "none"))
	fmt.Fprintf(w, "  memory       %s shared per block, %s local per thread\n", report.Bytes(uint64(k.StaticShared())), report.Bytes(uint64(k.LocalBytes())))
	if n := k.MaxThreads(); n > 0 {
		fmt.Fprintf(w, "  block        at most %d threads\n", n)
	}
	if why := k.Unusable(); len(why) > 0 {
		fmt.Fprintf(w, "  cannot run\n")
		for _, err := range why {
			fmt.Fprintf(w, "    %s\n", strings.ReplaceAll(err.Error(), "\n", "\n      "))
		}
	}
	for _, f := range k.Functions() {
		if f.Name != k.Name() {
			fmt.Fprintf(w, "\n  function %s\n", f.Name)
		}
		function(w, f)
	}
}

// declared counts the registers that a function declares, by type.
func declared(f *ptx.Func) string {
	counts := map[ptx.Type]int{}
	var order []ptx.Type
	for _, v := range f.Vars {
		if v.Space != ptx.SpaceReg {
			continue
		}
		if counts[v.Type] == 0 {
			order = append(order, v.Type)
		}
		counts[v.Type] += max(1, v.Count) * max(1, v.Vec)
	}
	slices.Sort(order)
	var parts []string
	for _, t := range order {
		parts = append(parts, fmt.Sprintf("%d .%s", counts[t], t))
	}
	return strings.Join(parts, ", ")
}

// function prints blocks, loops and the instruction mix.
func function(w io.Writer, f xptx.Function) {
	g := f.Graph
	if len(g.Blocks) > 0 {
		fmt.Fprintln(w)
		t := report.NewTable("<  block", "<pcs", "<lines", "<successors", "<reconverges at", "depth")
		for i := range g.Blocks {
			b := &g.Blocks[i]
			meet := ""
			if g.Diverges(i) {
				meet = "the end"
				if pc := g.Reconverge(b.Last); pc != flow.Exit {
					meet = fmt.Sprintf("pc %d (B%d)", pc, g.BlockOf(pc))
				}
			}
			depth := ""
			if d := g.Depth(i); d > 0 {
				depth = fmt.Sprint(d)
			}
			t.Row(fmt.Sprintf("  B%d", i), span(b.First, b.Last), span(int(f.Code[b.First].Pos.Line), int(f.Code[b.Last].Pos.Line)), successors(g, i), meet, depth)
		}
		var b strings.Builder
		t.Write(&b)
		io.WriteString(w, b.String())
	}
	if len(g.Loops) > 0 {
		fmt.Fprintln(w, "\n  loops")
		for i, l := range g.Loops {
			fmt.Fprintf(w, "    %sB%d, entered at pc %d, blocks %s\n", strings.Repeat("  ", l.Depth-1), l.Header, g.Blocks[l.Header].First, blockList(g.LoopBlocks(i)))
		}
	}
	if g.Irreducible {
		fmt.Fprintln(w, "\n  irreducible: some cycle can be entered at more than one block")
	}
	fmt.Fprintf(w, "\n  instructions %s\n", mix(f.Code))
}

// span writes a range of numbers.
func span(first, last int) string {
	if first == last {
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d–%d", first, last)
}

// successors describes where control goes after a block.
func successors(g *flow.Graph, i int) string {
	b := &g.Blocks[i]
	var to []string
	for _, s := range b.Succs {
		to = append(to, fmt.Sprintf("B%d", s))
	}
	if b.Leaves && !b.Endless {
		to = append(to, "end")
	}
	s := strings.Join(to, " ")
	if b.Endless {
		s += " (endless)"
	}
	if !g.Reachable(i) {
		s += " (never reached)"
	}
	return s
}

// blockList formats block numbers, consecutive ones as ranges.
func blockList(blocks []int) string {
	var parts []string
	for i := 0; i < len(blocks); {
		j := i
		for j+1 < len(blocks) && blocks[j+1] == blocks[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, fmt.Sprintf("B%d", blocks[i]))
		} else {
			parts = append(parts, fmt.Sprintf("B%d–B%d", blocks[i], blocks[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, " ")
}

// mix counts instructions by opcode, most frequent first.
func mix(code []isa.Inst) string {
	counts := map[string]int{}
	for i := range code {
		op, _, _ := strings.Cut(code[i].Op, ".")
		counts[op]++
	}
	ops := make([]string, 0, len(counts))
	for op := range counts {
		ops = append(ops, op)
	}
	slices.SortFunc(ops, func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
	parts := make([]string, len(ops))
	for i, op := range ops {
		parts[i] = fmt.Sprintf("%s %d", op, counts[op])
	}
	head := fmt.Sprintf("%d: ", len(code))
	return head + report.Wrap(parts, width, 15+len(head))
}

// dot draws a kernel and the functions that it can reach.
func dot(w io.Writer, k *xptx.Kernel, prog *xptx.Program) error {
	for _, f := range k.Functions() {
		title := k.Name()
		if f.Name != title {
			title += ": " + f.Name
		}
		lines := sourceLines(f, prog)
		err := f.Graph.DOT(w, title, func(pc int) string {
			in := &f.Code[pc]
			return fmt.Sprintf("%d: %s", pc, statement(lines, in.Pos, in.Op))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sourceLines returns the text of the file that defines a function.
func sourceLines(f xptx.Function, prog *xptx.Program) []string {
	for _, m := range prog.Modules() {
		for _, fn := range m.Funcs {
			if fn.Name == f.Name && !fn.Proto && len(fn.Code) == len(f.Code) {
				return m.Lines
			}
		}
	}
	return nil
}

// statement returns the text of an instruction from its place to its semicolon, or
// the opcode if the text is not available.
func statement(lines []string, pos isa.Pos, op string) string {
	if pos.Line < 1 || int(pos.Line) > len(lines) || pos.Col < 1 || int(pos.Col) > len(lines[pos.Line-1]) {
		return op
	}
	s, _, _ := strings.Cut(lines[pos.Line-1][pos.Col-1:], ";")
	return strings.Join(strings.Fields(s), " ")
}
