package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/compile"
	"github.com/heddle-sim/heddle/internal/compile/keep"
	"github.com/heddle-sim/heddle/internal/compile/machine"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/program"
	"github.com/heddle-sim/heddle/internal/run"
)

// ptxasCmd is `heddle ptxas`.
type ptxasCmd struct {
	File    string   `arg:"" name:"file" help:"A program: PTX (.ptx)."`
	Out     string   `short:"o" name:"out" default:"elf.o" placeholder:"FILE" help:"The cubin."`
	Arch    string   `default:"sm_86" placeholder:"NAME" help:"The architecture: sm_75, sm_80, sm_86, sm_87 or sm_89; -arch is the same."`
	SASS    bool     `name:"sass" help:"Write the listing with control codes to standard output instead of a cubin. It is a program that heddle run and heddle asm take."`
	Dump    string   `placeholder:"after=PASS" help:"Write the form of each kernel after a pass to standard output instead: ${compile_passes}, or all."`
	Verbose bool     `short:"v" help:"Say how many registers and how much memory each kernel has."`
	MaxRegs int      `name:"maxrregcount" placeholder:"N" help:"The most registers of a thread, at least ${least_registers}; what does not fit moves to local memory. Kernels with .maxnreg, .maxntid or .reqntid have their own bound."`
	Machine string   `placeholder:"NAME|FILE" help:"The GPU for which the code is: its parameters [modern] say how many dependence counters there are, and how long results take. heddle run --code compiled makes code for the GPU that runs it."`
	Set     []string `short:"C" sep:"none" placeholder:"KEY=VALUE" help:"Change one value of that GPU (repeatable)."`
	Level   int      `short:"O" name:"opt-level" default:"3" placeholder:"0…3" help:"How much to optimise."`
	JSON    bool     `name:"json" help:"Write what each pass left of each kernel to standard output, too: instructions, blocks, and registers and predicates that are needed at once."`
	Lines   bool     `name:"lineinfo" help:"Give the code the lines of the source from which the PTX was made, where the PTX names them."`
	Spills  bool     `name:"warn-on-spills" help:"Warn of kernels whose registers move to local memory."`
}

// ptxasOptions are the options that ptxas takes with one dash.
var ptxasOptions = map[string]string{"-arch": "--arch", "-maxrregcount": "--maxrregcount", "-warn-spills": "--warn-on-spills", "-lineinfo": "--lineinfo"}

// ptxasArgs turns the options of ptxas with one dash into those of this command.
func ptxasArgs(args []string) []string {
	if len(args) == 0 || args[0] != "ptxas" {
		return args
	}
	args = slices.Clone(args)
	for i, a := range args {
		name, value, has := strings.Cut(a, "=")
		if long := ptxasOptions[name]; long != "" {
			if args[i] = long; has {
				args[i] += "=" + value
			}
		}
	}
	return args
}

// dump is the pass that --dump names, "" if none.
func (c *ptxasCmd) dump() (string, error) {
	if c.Dump == "" {
		return "", nil
	}
	pass, ok := strings.CutPrefix(c.Dump, "after=")
	if !ok {
		return "", usage("--dump %s: the form is after=PASS", c.Dump)
	}
	return pass, oneOf("--dump after=", pass, append(compile.Passes(), "all")...)
}

// Run compiles the program.
func (c *ptxasCmd) Run(e env) error {
	arch, err := sassArch(c.Arch)
	if err != nil {
		return err
	}
	pass, err := c.dump()
	if err != nil {
		return err
	}
	src, err := readProgram(c.File)
	if err != nil {
		return err
	}
	defer fewerCollections()()
	m, err := ptx.Parse(c.File, []byte(src))
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	if c.MaxRegs < 0 {
		return usage("--maxrregcount %d: want a number of registers, 0 for no bound", c.MaxRegs)
	}
	if c.Level < 0 || c.Level > compile.Most {
		return usage("-O%d: want 0 to %d", c.Level, compile.Most)
	}
	if c.JSON && (c.SASS || pass != "") {
		return usage("--json and --sass or --dump both write to standard output; give one of them")
	}
	o := compile.Options{Arch: arch, MaxRegisters: c.MaxRegs, Less: compile.Most - c.Level, Count: c.JSON, Sources: c.Lines}
	if o.Contract, err = c.contract(); err != nil {
		return err
	}
	if pass != "" {
		o.Dump = func(kernel, after, form string) {
			if pass == after || pass == "all" {
				fmt.Fprintf(e.stdout, "// %s after %s\n%s\n", kernel, after, form)
			}
		}
	}
	out, err := keep.Module(m, o)
	if err != nil {
		return usage("%w", err)
	}
	if err := c.write(e, out, pass != ""); err != nil {
		return err
	}
	if c.JSON {
		if err := counts(e.stdout, out); err != nil {
			return err
		}
	}
	return refused(out)
}

// fewerCollections makes garbage be collected when there is four times as much as is in use, up to 1 GiB: what a
// compilation leaves is soon of no use, and to look for the rest takes a fifth of its time. The function that it
// returns undoes that.
func fewerCollections() func() {
	percent, limit := debug.SetGCPercent(400), debug.SetMemoryLimit(1<<30)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}

// contract is that of the machine, nil if none is named.
func (c *ptxasCmd) contract() (*machine.Contract, error) {
	if c.Machine == "" && len(c.Set) == 0 {
		return nil, nil
	}
	set := run.Settings{Assignments: c.Set}
	name := cmp.Or(c.Machine, compiledFor)
	cfg, err := set.Machine(name)
	if err != nil {
		return nil, usage("--machine: %w", err)
	}
	m := run.ContractOf(&cfg)
	if m == nil {
		return nil, usage("--machine %s: its core does not obey control bits; want one with core = \"modern\"; heddle gpus lists them", name)
	}
	return m, nil
}

// compiledFor is the GPU whose values -C changes if none is named: the one with most measurements.
const compiledFor = "rtx-a6000"

// write writes what was compiled.
func (c *ptxasCmd) write(e env, out *compile.Result, dumped bool) error {
	if c.Verbose {
		c.summary(e.stderr, out)
	}
	for i, k := range out.File.Kernels {
		if n := out.Info[i]; c.Spills && n.SpillStores+n.SpillLoads > 0 {
			fmt.Fprintf(e.stderr, "ptxas warning : Registers are spilled to local memory in function '%s', %d bytes spill stores, %d bytes spill loads\n", k.Name, n.SpillStores, n.SpillLoads)
		}
	}
	switch {
	case dumped || len(out.File.Kernels) == 0:
		return nil
	case c.SASS:
		_, err := io.WriteString(e.stdout, out.File.Text())
		return err
	}
	b, err := program.WriteCubin(out.File)
	if err != nil {
		return &exitError{code: exitUsage, err: fmt.Errorf("%s: %w", c.File, err)}
	}
	if err := os.WriteFile(c.Out, b, 0o666); err != nil {
		return usage("--out: %w", err)
	}
	return nil
}

// summary is what ptxas -v says of each kernel.
func (c *ptxasCmd) summary(w io.Writer, out *compile.Result) {
	for i, k := range out.File.Kernels {
		bytes := k.Arch.ParamBase()
		for _, p := range k.Params {
			bytes = max(bytes, p.Offset+p.Bytes)
		}
		fmt.Fprintf(w, "ptxas info    : Compiling entry function '%s' for '%v'\n", k.Name, k.Arch)
		fmt.Fprintf(w, "ptxas info    : Function properties for %s\n    %d bytes stack frame, %d bytes spill stores, %d bytes spill loads\n", k.Name, k.Local, out.Info[i].SpillStores, out.Info[i].SpillLoads)
		fmt.Fprintf(w, "ptxas info    : Used %d registers, used %d barriers", k.Regs, k.Barriers)
		if k.Shared > 0 {
			fmt.Fprintf(w, ", %d bytes smem", k.Shared)
		}
		fmt.Fprintf(w, ", %d bytes cmem[0]\n", bytes)
	}
}

// counts writes what each pass left.
func counts(w io.Writer, out *compile.Result) error {
	type kernel struct {
		Kernel      string          `json:"kernel"`
		Registers   int             `json:"registers"`
		Stack       int             `json:"stack_bytes"`
		SpillStores int             `json:"spill_store_bytes"`
		SpillLoads  int             `json:"spill_load_bytes"`
		Passes      []compile.Count `json:"passes"`
	}
	list := []kernel{}
	for i, k := range out.File.Kernels {
		n := out.Info[i]
		list = append(list, kernel{k.Name, k.Regs, k.Local, n.SpillStores, n.SpillLoads, n.Passes})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(list)
}

// refused is the error for the kernels that could not be compiled, nil if there are none.
func refused(out *compile.Result) error {
	var errs []error
	for _, r := range out.Refused {
		errs = append(errs, r)
	}
	if err := errors.Join(errs...); err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	return nil
}
