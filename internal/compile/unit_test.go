package compile

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/compile/machine"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// TestMoves: parallel copies among few registers, in circles and trees, leave what copying all at once
// leaves.
func TestMoves(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		c := ir.Class(r.IntN(2))
		n := 2 + r.IntN(5)
		var before, want [7]int
		for i := range before {
			before[i] = i + 1
		}
		want = before
		in := &ir.Inst{}
		var sources []ir.Arg
		for d, reg := range r.Perm(7)[:n] {
			s := r.IntN(7)
			kind := map[ir.Class]ir.Kind{ir.GPR: ir.Reg, ir.Pred: ir.P}[c]
			in.Args = append(in.Args, ir.Arg{Kind: kind, Dst: true, Vals: []*ir.Value{{ID: d, Class: c, Reg: reg}}})
			sources = append(sources, ir.Arg{Kind: kind, Vals: []*ir.Value{{ID: 10 + d, Class: c, Reg: s}}})
			want[reg] = before[s]
		}
		in.Args = append(in.Args, sources...)
		got := before
		for _, m := range moves(in) {
			reg := func(i int) *int { return &got[m.Args[i].Vals[0].Reg] }
			switch {
			case m.Name == "MOV":
				*reg(0) = *reg(1)
			case m.Name == "PLOP3.LUT" && m.Args[1].Vals[0] == nil:
				*reg(0) = *reg(2)
			case m.Name == "PLOP3.LUT":
				*reg(0), *reg(1) = *reg(1), *reg(0)
			default: // an exclusive or
				*reg(0) = *reg(1) ^ *reg(2)
			}
		}
		if got != want {
			t.Fatalf("%v: got %v, want %v", in, got, want)
		}
	}
}

// kernelOf is the first form of a kernel with two blocks and a value in each.
func kernelOf() (f *ir.Func, first, second *ir.Inst) {
	f = &ir.Func{Name: "k"}
	a, b := f.NewBlock(), f.NewBlock()
	a.Term = ir.Term{Flow: ir.Jump, Then: b}
	b.Term = ir.Term{Flow: ir.Exit}
	f.Connect()
	first = a.Append(&ir.Inst{Name: "MOV", Args: []ir.Arg{ir.D(f.NewValue(ir.GPR)), ir.I(1)}})
	second = b.Append(&ir.Inst{Name: "MOV", Args: []ir.Arg{ir.D(f.NewValue(ir.GPR)), ir.R(first.Defs()[0])}})
	return f, first, second
}

// TestVerify: the verifier accepts a good form, and names what is wrong with others.
func TestVerify(t *testing.T) {
	for _, c := range []struct {
		name, want string
		spoil      func(f *ir.Func, first, second *ir.Inst)
	}{
		{"good", "", func(*ir.Func, *ir.Inst, *ir.Inst) {}},
		{"used before", "is not defined before", func(f *ir.Func, a, b *ir.Inst) { a.Args[1] = ir.R(b.Defs()[0]) }},
		{"twice", "is defined twice", func(f *ir.Func, a, b *ir.Inst) { b.Args[0] = a.Args[0].Clone(); a.Defs()[0].Def = a }},
		{"a shared operand", "share an operand", func(f *ir.Func, a, b *ir.Inst) { b.Args[0] = a.Args[0] }},
		{"an edge is missing", "lacks its predecessor", func(f *ir.Func, a, b *ir.Inst) { f.Blocks[1].Preds = nil }},
		{"three registers", "want 1, 2 or 4", func(f *ir.Func, a, b *ir.Inst) { v := a.Defs()[0]; b.Args[1] = ir.R(v, v, v) }},
		{"a predicate as a register", "operand 1 is", func(f *ir.Func, a, b *ir.Inst) { b.Args[1] = ir.R(f.NewValue(ir.Pred)) }},
		{"a guard without what was before", "want 1", func(f *ir.Func, a, b *ir.Inst) { b.Guard.Val = f.NewValue(ir.Pred) }},
	} {
		f, first, second := kernelOf()
		c.spoil(f, first, second)
		err := f.Verify()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
}

// TestFault: a failure inside of a pass refuses the kernel and names the pass.
func TestFault(t *testing.T) {
	m, err := ptx.Parse("k.ptx", []byte(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }"))
	if err != nil {
		t.Fatal(err)
	}
	x := newModule(m, 86)
	_, refusal := x.attempt(m.Funcs[0], machine.Of(86, machine.Ampere), &Options{Dump: func(string, string, string) { panic("oh") }}, &options{})
	if refusal == nil || !strings.Contains(refusal.Error(), "pass build fails, a fault of the compiler: oh") {
		t.Error(refusal)
	}
}

// TestTwoBranches: where a block ends with two branches, the first is as late as the predicate demands
// that decides in the loop to which it leads. A load there waits for itself in the round before.
func TestTwoBranches(t *testing.T) {
	f := &ir.Func{Name: "k"}
	value := func(c ir.Class, reg int) *ir.Value { v := f.NewValue(c); v.Reg = reg; return v }
	r, a, p, q := value(ir.GPR, 0), value(ir.GPR, 2), value(ir.Pred, 0), value(ir.Pred, 1)
	entry, loop, other, out := f.NewBlock(), f.NewBlock(), f.NewBlock(), f.NewBlock()
	entry.Term = ir.Term{Flow: ir.Branch, Cond: q, Then: other, Else: loop}
	loop.Term = ir.Term{Flow: ir.Branch, Cond: q, Then: loop, Else: out}
	other.Term = ir.Term{Flow: ir.Jump, Then: out}
	out.Term = ir.Term{Flow: ir.Exit}
	f.Connect()
	loop.Append(&ir.Inst{Name: "MOV", Guard: ir.Guard{Val: p}, Args: []ir.Arg{ir.D(a), ir.I(1)}})
	loop.Append(&ir.Inst{Name: "LDS", Args: []ir.Arg{ir.D(r), {Kind: ir.Mem, Vals: []*ir.Value{nil}}}})
	loop.Append(&ir.Inst{Name: "ISETP.NE.AND", Args: []ir.Arg{ir.DP(p), ir.DP(nil), ir.R(a), ir.I(9), ir.Pr(nil, false)}})
	branchOut(f)
	control(f, machine.Of(86, machine.Ampere))
	n := len(loop.Insts)
	load, set, first := loop.Insts[n-4], loop.Insts[n-3], loop.Insts[n-2]
	if load.Ctl.Wait>>load.Ctl.Write&1 == 0 {
		t.Errorf("%v %v does not wait for itself", load.Ctl, load)
	}
	if passed := set.Ctl.Stall + first.Ctl.Stall; passed < 13 {
		t.Errorf("the loop begins %d cycles after its guard is made; want 13", passed)
	}
}

// TestReuse: a source is kept if the next instruction reads its register in the same place, and the first
// does not write it.
func TestReuse(t *testing.T) {
	r := func(n int) *ir.Value { return &ir.Value{ID: n, Class: ir.GPR, Reg: n} }
	ffma := func(d, a, b, c int) *ir.Inst {
		return &ir.Inst{Name: "FFMA", Args: []ir.Arg{ir.D(r(d)), ir.R(r(a)), ir.R(r(b)), ir.R(r(c))}}
	}
	yields := ffma(1, 2, 3, 4)
	yields.Ctl.Yield = true
	for _, c := range []struct {
		name        string
		first, then *ir.Inst
		slots       int
		want        string
	}{
		{"the first source", ffma(1, 2, 3, 4), ffma(5, 2, 6, 7), 3, "FFMA R1, R2.reuse, R3, R4"},
		{"two", ffma(1, 2, 3, 4), ffma(5, 2, 6, 4), 3, "FFMA R1, R2.reuse, R3, R4.reuse"},
		{"another place", ffma(1, 2, 3, 4), ffma(5, 6, 2, 7), 3, "FFMA R1, R2, R3, R4"},
		{"it is written", ffma(2, 2, 3, 4), ffma(5, 2, 6, 7), 3, "FFMA R2, R2, R3, R4"},
		{"a place that has none", ffma(1, 2, 3, 4), ffma(5, 6, 7, 4), 2, "FFMA R1, R2, R3, R4"},
		{"no cache", ffma(1, 2, 3, 4), ffma(5, 2, 6, 7), 0, "FFMA R1, R2, R3, R4"},
		{"yield", yields, ffma(5, 2, 6, 7), 3, "FFMA R1, R2, R3, R4"},
	} {
		reuse(&ir.Func{Blocks: []*ir.Block{{Insts: []*ir.Inst{c.first, c.then}}}}, &machine.Machine{ReuseSlots: c.slots})
		if got := c.first.String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestManyStores: what is open does not grow with the number of stores, and is waited for all the same.
func TestManyStores(t *testing.T) {
	c := &controller{entry: make([][]pending, 1), known: make([]map[pendingID]bool, 1)}
	for i := range 10 * mostOpen {
		p := pending{in: &ir.Inst{Name: "STG"}, counter: uint8(i % 2), regs: []register{register(i % 200)}}
		c.push(p)
		if new := c.enter(0, p); new != (i < mostOpen+200) {
			t.Fatalf("store %d is new: %v", i, new)
		}
		if c.enter(0, p) {
			t.Fatalf("store %d is new twice", i)
		}
	}
	if n := len(c.entry[0]); n > mostOpen+2 || len(c.open) > mostOpen+2 {
		t.Errorf("%d and %d are open", n, len(c.open))
	}
	for r := range register(200) {
		in := &ir.Inst{Name: "MOV"}
		c.open = append(c.open[:0], c.entry[0]...)
		c.count()
		if c.wait(in, r, true); in.Ctl.Wait != 1<<(r%2) {
			t.Errorf("who writes register %d waits for %b", r, in.Ctl.Wait)
		}
	}
}

// TestOneAttempt: a kernel that needs too many registers or predicates in the usual order is not made again from the
// beginning: what schedule sees of that is dealt with at once.
func TestOneAttempt(t *testing.T) {
	sums, pairs := "", ""
	for i := range 40 { // loads that would all come early
		sums += fmt.Sprintf("ld.global.u32 %%r2, [%%a+%d];\nmul.lo.u32 %%r2, %%r2, %%r2;\nadd.u32 %%r1, %%r1, %%r2;\n", 4*i)
	}
	for i := range 10 { // predicates that are all needed in the next blocks
		pairs += fmt.Sprintf(".reg .pred %%q%d;\nsetp.eq.u32 %%q%d, %%r0, %d;\n", i, i, 3*i)
	}
	pairs += "setp.gt.u32 %p0, %r0, 5;\n@%p0 bra L;\nactivemask.b32 %r2;\nadd.u32 %r1, %r1, %r2;\nL:\n"
	for i := range 10 {
		pairs += fmt.Sprintf("selp.u32 %%r2, 3, 5, %%q%d;\nmad.lo.u32 %%r1, %%r1, %%r2, %%r0;\n@%%q%d st.global.u32 [%%a+%d], %%r1;\n", 9-i, i, 4*i)
	}
	far, again := ".reg .u32 %q<40>;\n", ".reg .u32 %q<40>;\n"
	for i := range 40 {
		far += fmt.Sprintf("mul.lo.u32 %%q%d, %%r0, %d;\n", i, 2*i+3)
		again += fmt.Sprintf("add.u32 %%q%d, %%r0, %d;\nst.global.u32 [%%a+%d], %%q%d;\n", i, i+5, 4*i, i)
	}
	for i := range 20 { // a choice that looks only ahead makes half of the factors before it can use two
		far += fmt.Sprintf("mad.lo.u32 %%r1, %%q%d, %%q%d, %%r1;\n", i, 39-i)
	}
	again += "setp.gt.u32 %p0, %r0, 5;\n@%p0 bra L;\nactivemask.b32 %r2;\nadd.u32 %r1, %r1, %r2;\nL:\n"
	for i := range 40 { // needed again in another block, and quickly made
		again += fmt.Sprintf("mul.lo.u32 %%r1, %%r1, %%q%d;\n", i)
	}
	again += "add.u32 %r1, %r1, %r0;\n" // what they are made of is there all the time
	for _, c := range []struct {
		name, body string
		registers  int
		want       options
	}{
		{"factors far apart", far, 22, options{order: late}},
		{"what is made again", again, 22, options{order: usual, registers: 20}},
		{"enough of both", sums, 64, options{order: usual}},
		{"few registers", sums, 22, options{order: frugal}},
		{"many predicates", pairs, 64, options{order: usual, predicates: 6}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := parsed(t, "k.ptx", kernelText(c.body))
			if err := m.Funcs[0].Load(); err != nil {
				t.Fatal(err)
			}
			mach := *machine.Of(86, machine.Ampere)
			mach.Registers = c.registers
			var got options
			if _, err := newModule(m, 86).attempt(m.Funcs[0], &mach, &Options{Verify: true}, &got); err != nil {
				t.Fatal(err)
			}
			if got.order != c.want.order || got.predicates != c.want.predicates || got.registers != c.want.registers || got.spilled.stores != 0 {
				t.Errorf("order %d, %d predicates, %d registers, %d stores; want order %d, %d, %d, 0", got.order, got.predicates, got.registers, got.spilled.stores,
					c.want.order, c.want.predicates, c.want.registers)
			}
		})
	}
}
