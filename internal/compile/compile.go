package compile

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/compile/machine"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// Options say how to compile. The zero value compiles for sm_86.
type Options struct {
	Arch sass.Arch // 0: sm_86
	// Dump, if set, is called after each pass with a kernel's form.
	Dump func(kernel, pass, form string)
	// Verify checks the form after each pass; an error refuses the kernel.
	Verify bool
	// MaxRegisters bounds the registers of a thread, of kernels that do not bound them themselves; 0: the
	// architecture does.
	MaxRegisters int
	// Contract is that of the cores for which the code is, nil: that of the architecture.
	Contract *machine.Contract
	// Less is how many levels of optimisation are left out, up to Most.
	Less int
	// Count makes Info.Passes.
	Count bool
	// Sources makes the lines of code those of the source from which the PTX was made, as far as its
	// .loc directives name them, not those of the PTX.
	Sources bool
}

// Result is a compiled module.
type Result struct {
	File    *sass.File // its kernels, and the variables of the module
	Refused []*Refusal // kernels that are not in it
	Info    []Info     // of the kernels of File

	// Pointers says that the module takes addresses of functions, or calls through some. They are not those that its
	// kernels have as PTX, nor those of other modules.
	Pointers bool
}

// Info is what is known of a compiled kernel beside its code.
type Info struct {
	SpillStores, SpillLoads int // bytes of a thread, by the instructions in the code
	Passes                  []Count
}

// Count is what a kernel has after a pass.
type Count struct {
	Pass         string `json:"pass"`
	Instructions int    `json:"instructions"`
	Blocks       int    `json:"blocks"`
	// Values that are needed at once, at most; after "registers" the registers that are used.
	Registers  int `json:"registers"`
	Predicates int `json:"predicates"`
}

// errArch is an architecture that code cannot be made for.
var errArch = errors.New("code is compiled for sm_75, sm_80, sm_86, sm_87 and sm_89")

// Module compiles the kernels of a module. The error is that of the architecture; kernels that cannot
// be compiled are listed in the result.
func Module(m *ptx.Module, o Options) (*Result, error) {
	if o.Arch == 0 {
		o.Arch = 86
	}
	contract := machine.Ampere
	if o.Contract != nil {
		contract = *o.Contract
	}
	mach := machine.Of(int(o.Arch), contract)
	if mach == nil {
		return nil, fmt.Errorf("%v: %w", o.Arch, errArch)
	}
	x := newModule(m, o.Arch)
	x.routines = &routines{options: Options{Arch: o.Arch, Contract: o.Contract, Less: o.Less, Verify: o.Verify}, mach: mach}
	out := &Result{File: x.file, Pointers: x.hasPointers()}
	var list []*ptx.Func
	for _, fn := range m.Funcs {
		if fn.Entry && !fn.Proto {
			list = append(list, fn)
		}
	}
	threads := runtime.GOMAXPROCS(0)
	if o.Dump != nil || out.Pointers || x.passed { // the first kernel that is not refused takes the functions that have addresses
		threads = 1
	}
	inOrder(len(list), threads, func(i int) *unit {
		own := x
		if threads > 1 {
			own = x.fork()
		}
		return own.unit(list[i], mach, &o)
	}, func(u *unit) {
		k, info, err := x.kernel(u, &o)
		if err != nil {
			out.Refused = append(out.Refused, err)
			return
		}
		out.Info = append(out.Info, info)
		x.file.Kernels = append(x.file.Kernels, k)
	})
	return out, nil
}

// clustered is the directive by which a kernel's blocks form clusters, nil if there is none: machine code for the
// architectures that are known has no clusters.
func clustered(fn *ptx.Func) *ptx.Directive {
	for i := range fn.Perf {
		switch d := &fn.Perf[i]; d.Name {
		case ".reqnctapercluster", ".explicitcluster", ".blocksareclusters":
			return d
		}
	}
	return nil
}

// body is the code of a kernel or of a function that it calls.
type body struct {
	fn   *ptx.Func
	f    *ir.Func
	lay  *layout // nil of a routine
	info Info
}

func (b *body) routine() bool { return b.lay == nil }

// unit is a kernel with the functions that stay functions, each compiled, or the reason why it cannot be.
type unit struct {
	fn     *ptx.Func
	mach   *machine.Machine
	bodies []*body
	wanted *addresses
	err    *Refusal
}

// unit compiles a kernel and the functions that stay functions.
func (m *module) unit(fn *ptx.Func, mach *machine.Machine, o *Options) (u *unit) {
	u = &unit{fn: fn, mach: bounded(fn, mach, o.MaxRegisters), wanted: m.wanted}
	defer m.refusal(fn, func() string { return "emit" }, &u.err)
	if err := fn.Load(); err != nil {
		stop("its body", err.Error())
	}
	if d := clustered(fn); d != nil {
		u.err = &Refusal{Kernel: fn.Name, File: m.text.File, Pos: d.Pos, What: d.Name, Why: notYet}
		return u
	}
	u.mach.Registers = max(u.mach.Registers, m.roomForCalls(m.inlined(fn)))
	known := map[string]bool{}
	add := func(fn *ptx.Func) {
		if u.err == nil {
			var b *body
			if b, u.err = m.body(fn, u.mach, o); u.err == nil {
				u.bodies = append(u.bodies, b)
			} else {
				u.err.Kernel = u.fn.Name
			}
		}
	}
	add(fn)
	for i := 0; i < len(u.bodies); i++ {
		list := u.bodies[i].f.Callees
		if m.wanted == nil && (u.bodies[i].f.Indirect || i == 0 && len(m.file.Kernels) == 0) { // the first has them if nobody calls them
			list = append(list, m.pointers()...)
		}
		for _, name := range list {
			if !known[name] {
				known[name] = true
				add(m.definition(name))
			}
		}
	}
	if u.err != nil {
		return u
	}
	for _, b := range u.bodies {
		for _, f := range b.f.Routines {
			if !known[f.Name] {
				known[f.Name] = true
				u.bodies = append(u.bodies, &body{f: f})
			}
		}
	}
	return u
}

// kernel makes the code of a kernel.
func (m *module) kernel(u *unit, o *Options) (k *sass.Kernel, info Info, err *Refusal) {
	defer m.refusal(u.fn, func() string { return "emit" }, &err)
	if !m.admit(u.wanted) { // what instructions can reach decides on their form
		own := *m
		u = own.unit(u.fn, u.mach, o)
	}
	if u.err != nil {
		return nil, Info{}, u.err
	}
	k = emit(m, u)
	m.refer(u.fn.Name, &u.bodies[0].lay.refs)
	if o.Sources {
		fromSources(k, m.text, u.fn)
	}
	for _, b := range u.bodies {
		info.SpillStores += b.info.SpillStores
		info.SpillLoads += b.info.SpillLoads
	}
	info.Passes = u.bodies[0].info.Passes
	return k, info, nil
}

// body compiles a kernel or a function. If it needs more predicates or registers than there are, it begins again
// without calls of routines, then with fewer predicates; if it needs more registers, with the instructions in other
// orders, then without vectors of loads, and then with less and less of them for what stays in registers. What
// schedule sees of that needs no other beginning.
func (m *module) body(fn *ptx.Func, mach *machine.Machine, o *Options) (*body, *Refusal) {
	var with options
	if o.Dump != nil { // only what the last attempt does
		var dumps [][3]string
		show, kept := o.Dump, *o
		kept.Dump = func(kernel, pass, form string) {
			if pass == "build" {
				dumps = nil
			}
			dumps = append(dumps, [3]string{kernel, pass, form})
		}
		o = &kept
		defer func() {
			for _, d := range dumps {
				show(d[0], d[1], d[2])
			}
		}()
	}
	for {
		b, err := m.attempt(fn, mach, o, &with)
		want := 0
		if with.reserve > 0 {
			want = max(4, with.spilled.bytes)
		}
		switch {
		case err == nil && (want != with.reserve || with.keeps > with.kept):
			with.reserve, with.kept = want, max(with.keeps, with.kept)
		case err == nil:
			b.info = Info{SpillStores: 4 * with.spilled.stores, SpillLoads: 4 * with.spilled.loads, Passes: with.counts}
			return b, nil
		case with.calls && (err.What == tooMany(ir.GPR, mach.Registers) || err.What == tooMany(ir.Pred, mach.Predicates)):
			with = options{inline: true}
		case err.What == tooMany(ir.Pred, mach.Predicates) && with.predicates == 0:
			with.predicates = mach.Predicates - 1
		case err.What == tooMany(ir.Pred, mach.Predicates) && with.predicates > mach.Predicates/2:
			with.predicates--
		case err.What != tooMany(ir.GPR, mach.Registers):
			return nil, err
		case with.registers == 0 && with.order < asWritten:
			with.order++
		case with.joined:
			with = options{predicates: with.predicates, single: true, inline: with.inline}
		case with.reserve == 0:
			with.registers, with.reserve, with.order = mach.Registers-1, 4, with.spilling
		case with.registers > fewest:
			with.registers -= max(1, with.registers/16)
		default:
			return nil, err
		}
	}
}

// refusal makes what a pass panics with the reason for which a kernel is refused.
func (m *module) refusal(fn *ptx.Func, in func() string, err **Refusal) {
	p := recover()
	if p == nil {
		return
	}
	r, ok := p.(*refuse)
	if !ok { // the kernel runs as PTX, and tests look for these words
		r = &refuse{"pass " + in(), fmt.Sprintf("fails, a fault of the compiler: %v", p)}
	}
	*err = &Refusal{Kernel: fn.Name, File: m.text.File, Pos: fn.Pos, What: r.what, Why: r.why}
	if i := m.at; i != nil && in() == "build" && i() != nil {
		(*err).Pos = i().Pos
	}
}

// attempt goes through all passes.
func (m *module) attempt(fn *ptx.Func, mach *machine.Machine, o *Options, with *options) (out *body, err *Refusal) {
	in := "build"
	m.at = nil
	defer m.refusal(fn, func() string { return in }, &err)
	fn = m.inlined(fn)
	f, lay := build(m, fn, int64(with.reserve), with.kept, !with.inline)
	with.calls = len(f.Routines) > 0
	if n := len(f.Blocks); n > mostBlocks {
		stop("a kernel", fmt.Sprintf("of %d blocks between branches, more than %d, %s", n, mostBlocks, notYet))
	}
	with.counts = nil
	check := func(ssa bool) {
		if o.Count {
			with.counts = append(with.counts, count(f, in, ssa))
		}
		if o.Dump != nil {
			o.Dump(fn.Name, in, f.String())
		}
		if o.Verify && ssa {
			if e := f.Verify(); e != nil {
				stop("pass "+in, fmt.Sprintf("leaves an invalid form, a fault of the compiler: %v", e))
			}
		}
	}
	check(true)
	for _, p := range passes(with, lay) {
		if in = p.name; p.from > Most-o.Less {
			continue
		}
		p.run(f, mach)
		check(p.ssa)
	}
	return &body{fn: fn, f: f, lay: lay}, nil
}
