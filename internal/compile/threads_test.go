package compile_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/compile"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// ptxHead begins a module.
const ptxHead = ".version 7.8\n.target sm_80\n.address_size 64\n"

// manyAddresses is a module of which one kernel needs n addresses, and the others some of them in other orders, with one
// among them that is refused after it has asked for some.
func manyAddresses(n int) string {
	var b strings.Builder
	b.WriteString(ptxHead)
	for i := range n {
		fmt.Fprintf(&b, ".global .u32 g%d;\n", i)
	}
	for k := range 12 {
		fmt.Fprintf(&b, ".visible .entry k%d()\n{\n.reg .b32 %%r<3>;\n.reg .b64 %%rd<3>;\n", k)
		fmt.Fprintf(&b, "mov.u64 %%rd1, g%d;\ncvt.u64.u32 %%rd2, %%tid.x;\nadd.s64 %%rd1, %%rd1, %%rd2;\nst.global.u32 [%%rd1], 1;\n", k)
		step := 1 + (k+1)*n/20
		if k == 5 {
			step = 1
		}
		for i := k; i < n; i += step {
			fmt.Fprintf(&b, "st.global.u32 [g%d], %d;\n", n-1-i, k)
		}
		if k == 4 {
			b.WriteString("multimem.red.relaxed.sys.global.add.u32 [%rd1], %r1;\n")
		}
		b.WriteString("ret;\n}\n")
	}
	return b.String()
}

// calling has functions that call themselves, one that takes the address of a function, and one that passes one on.
const calling = ptxHead + `
.global .u32 g;
.func (.reg .b32 %out) down(.reg .b32 %in)
{
	.reg .b32 %r<3>;
	.reg .pred %p;
	setp.eq.s32 %p, %in, 0;
	mov.b32 %out, %in;
	@%p ret;
	sub.s32 %r1, %in, 1;
	call (%r2), down, (%r1);
	add.s32 %out, %r2, %in;
	ret;
}
.visible .entry first(.param .u64 p) { .reg .b32 %r<3>; .reg .b64 %rd; ld.param.u64 %rd, [p]; ld.global.u32 %r1, [%rd]; call (%r2), down, (%r1); st.global.u32 [g], %r2; ret; }
.visible .entry second(.param .u64 p) { .reg .b32 %r<3>; .reg .b64 %rd; ld.param.u64 %rd, [p]; ld.global.u32 %r1, [%rd+4]; call (%r2), down, (%r1); st.global.u32 [g], %r2; ret; }
`

const pointing = calling + `
.visible .entry third() { .reg .b64 %rd; mov.u64 %rd, down; st.global.u64 [g], %rd; ret; }
.visible .entry fourth() { .reg .b64 %rd; mov.u64 %rd, down; st.global.u64 [g+8], %rd; ret; }
`

// everything is what a compilation gives, as text.
func everything(t *testing.T, m *ptx.Module, o compile.Options) string {
	t.Helper()
	r, err := compile.Module(m, o)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintln(&b, r.File.Text(), r.Info, r.Pointers, r.File.Banks, r.File.Addresses, r.File.Variables)
	for _, k := range r.File.Kernels {
		fmt.Fprintln(&b, k.Name, k.Regs, k.Local, k.Lines, k.Labels)
		for i := range k.Code {
			fmt.Fprintln(&b, k.Code[i].Words)
		}
	}
	for _, x := range r.Refused {
		fmt.Fprintln(&b, x)
	}
	return b.String()
}

// TestThreads: the kernels of a module become the same code, in the same order, with the same places of addresses and
// the same messages, whatever the number of goroutines.
func TestThreads(t *testing.T) {
	modules := map[string]*ptx.Module{}
	for name, text := range map[string]string{"addresses": manyAddresses(40), "addresses beyond the reach of instructions": manyAddresses(8300), "calls": calling, "pointers": pointing} {
		m, err := ptx.Parse(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		modules[name] = m
	}
	if testing.Short() { // the race detector takes too long
		delete(modules, "addresses beyond the reach of instructions")
	}
	for _, s := range sources {
		files, err := filepath.Glob(s.files)
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, f := range files {
			if m := parsed(t, f); len(m.Funcs) > 1 {
				modules[f] = m
			}
		}
	}
	for name, m := range modules {
		t.Run(name, func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			o := compile.Options{Count: true}
			want := everything(t, m, o)
			runtime.GOMAXPROCS(4)
			if got := everything(t, m, o); got != want {
				t.Errorf("with 4 goroutines\n%.2000s\nwith one\n%.2000s", got, want)
			}
		})
	}
}
