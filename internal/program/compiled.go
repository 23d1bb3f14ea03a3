package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/heddle-sim/heddle/internal/compile"
	"github.com/heddle-sim/heddle/internal/compile/keep"
	"github.com/heddle-sim/heddle/internal/compile/machine"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	xsass "github.com/heddle-sim/heddle/internal/exec/sass"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: PTX of which we make machine code. Both forms are in memory, with the same variables.

// compile makes machine code of the kernels of a program of PTX: for the architecture of the GPU, or else for the
// newest before it, whose instructions the core models know of all GPUs.
func (c *Choice) compile(p *Program) error {
	arch := sass.Arch(cmp.Or(machine.Newest(c.SM), c.SM))
	at := map[string]int{}
	for i, k := range p.kernels {
		at[k.Name()] = i
	}
	modules, groups := p.ptx.Modules(), p.ptx.Groups()
	several := definedTwice(p.ptx, groups)
	results := make([]*compile.Result, len(modules))
	for i, m := range modules {
		out, err := keep.Module(linked(p.ptx, m, groups[m]), compile.Options{Arch: arch, Contract: c.Contract})
		if err != nil {
			return fmt.Errorf("%s: %w; choose a GPU of these, or other code (--gpu, --code)", m.File, err)
		}
		for _, x := range groups[m] {
			if what := among(several, p.ptx, x); what != "" {
				refuseAll(out, what, "is defined several times")
			}
		}
		results[i] = out
	}
	refuseForeign(results)
	for i, m := range modules {
		out := results[i]
		runs := func(kernel string) bool { // not another module's of that name
			old, isPTX := p.kernels[at[kernel]].(*xptx.Kernel)
			return isPTX && old.Module() == m
		}
		for _, r := range out.Refused {
			if c.Refused != nil && runs(r.Kernel) {
				c.Refused(r)
			}
		}
		if len(out.File.Kernels) == 0 {
			continue
		}
		p.together(groups[m], out.File)
		code := xsass.Load(out.File)
		p.compiled, p.from = append(p.compiled, code), append(p.from, groups[m])
		for _, k := range code.Kernels() {
			if runs(k.Name()) {
				p.kernels[at[k.Name()]] = k
			}
		}
	}
	return nil
}

// together makes the constants of a group of modules lie as in the bank of its code, so that addresses in it lead to them.
func (p *Program) together(group []*ptx.Module, f *sass.File) {
	banks := map[int]map[string]uint64{}
	for _, v := range f.Variables {
		if v.Data >= 0 {
			continue
		}
		if banks[v.Bank] == nil {
			banks[v.Bank] = map[string]uint64{}
		}
		banks[v.Bank][v.Name] = v.Offset
	}
	for n, offsets := range banks {
		p.ptx.Together(group, uint64(len(f.Banks[n])), offsets)
	}
}

// refuseAll refuses the kernels of a module that could be compiled.
func refuseAll(out *compile.Result, what, why string) {
	for _, k := range out.File.Kernels {
		out.Refused = append(out.Refused, &compile.Refusal{Kernel: k.Name, File: out.File.Name, What: what, Why: why})
	}
	out.File.Kernels = nil
}

// refuseForeign keeps addresses of functions in one form: each module has some of its own, which mean others for
// PTX and for other modules.
func refuseForeign(results []*compile.Result) {
	with, why := 0, ""
	for _, out := range results {
		if !out.Pointers {
			continue
		}
		if with++; len(out.Refused) > 0 && why == "" {
			why = "would be others for the kernel " + out.Refused[0].Kernel + ", which stays PTX"
		}
	}
	if with > 1 && why == "" {
		why = "would be others for another module that has some"
	}
	for _, out := range results {
		if out.Pointers && why != "" {
			refuseAll(out, "addresses of functions", why)
		}
	}
}

// definedTwice are variables, also those of functions, and functions of modules that are compiled together, whose name
// another definition has after linking: code of one module could not tell them apart.
func definedTwice(p *xptx.Program, groups map[*ptx.Module][]*ptx.Module) map[any]bool {
	type key struct {
		group *ptx.Module // of a function
		name  string
	}
	seen, several := map[key]any{}, map[any]bool{}
	for _, m := range p.Modules() {
		for d, name := range definitions(p, m) {
			k := key{name: name}
			if _, isFunc := d.(*ptx.Func); isFunc {
				k.group = groups[m][0]
			}
			if old := seen[k]; old != nil && old != d {
				several[old], several[d] = true, true
			}
			seen[k] = d
		}
	}
	return several
}

// definitions are what linking has chosen for the variables and functions that a module defines, and their names.
func definitions(p *xptx.Program, m *ptx.Module) iter.Seq2[any, string] {
	return func(yield func(d any, name string) bool) {
		for _, v := range variables(m) {
			if !yield(cmp.Or(p.Variable(v), v), v.Name) {
				return
			}
		}
		for _, f := range m.Funcs {
			if !f.Proto && !f.Entry && !yield(cmp.Or(p.Function(f), f), f.Name) {
				return
			}
		}
	}
}

// variables are those that a module defines, also in its functions.
func variables(m *ptx.Module) (list []*ptx.Var) {
	for _, v := range m.Vars {
		if v.Linkage != ptx.Extern {
			list = append(list, v)
		}
	}
	for _, f := range m.Funcs {
		for _, v := range f.Vars {
			if v.Space == ptx.SpaceGlobal || v.Space == ptx.SpaceConst {
				list = append(list, v)
			}
		}
	}
	return list
}

// among is what a module defines that has several definitions, "" if there is nothing.
func among(several map[any]bool, p *xptx.Program, m *ptx.Module) string {
	for d, name := range definitions(p, m) {
		if _, isFunc := d.(*ptx.Func); several[d] {
			return map[bool]string{true: "the function ", false: "the variable "}[isFunc] + name
		}
	}
	return ""
}

// both runs each kernel by the machine for its form.
type both struct {
	ptx  *xptx.Machine
	sass *xsass.Machine
}

// bothMachines makes the machine of a program that has compiled kernels: its variables are those of
// the PTX.
func bothMachines(p *Program, m *xptx.Machine, mem *device.Memory) (*Machine, error) {
	at := map[string]uint64{}
	for _, name := range m.Symbols() {
		if s, ok := m.Symbol(name); ok {
			at[name] = s.Addr
		}
	}
	code, err := xsass.NewMachineAt(p.compiled, mem, at, true)
	if err != nil {
		return nil, errors.Join(err, m.Release())
	}
	code.ShareTextures(m.Textures(), func(x *xsass.Program, name string) uint64 {
		for _, mod := range p.from[slices.Index(p.compiled, x)] {
			if h := m.Handle(mod, name); h != 0 {
				return h
			}
		}
		return 0
	})
	b := &both{m, code}
	return &Machine{b, placedBoth{m, b}}, nil
}

// of is the machine for a kernel.
func (b *both) of(k exec.Kernel) exec.Machine {
	if _, ok := k.(*xsass.Kernel); ok {
		return b.sass
	}
	return b.ptx
}

// Run is that of exec.Machine.
func (b *both) Run(ctx context.Context, l exec.Launch, o exec.Options) (exec.Result, error) {
	return b.of(l.Kernel).Run(ctx, l, o)
}

// NewWork is that of exec.Machine.
func (b *both) NewWork(l exec.Launch, out io.Writer) (exec.Work, error) {
	return b.of(l.Kernel).NewWork(l, out)
}

// placedBoth is what the machines have besides launches: variables and textures are the PTX machine's.
type placedBoth struct {
	*xptx.Machine
	both *both
}

func (p placedBoth) Warn(tell func(*exec.Warning)) {
	p.Machine.Warn(tell)
	p.both.sass.Warn(tell)
}

func (p placedBoth) TolerateStrays() {
	p.Machine.TolerateStrays()
	p.both.sass.TolerateStrays()
}

func (p placedBoth) Release() error {
	return errors.Join(p.both.sass.Release(), p.Machine.Release())
}
