package compile

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// parsed is a module from text.
func parsed(t testing.TB, name, text string) *ptx.Module {
	t.Helper()
	m, err := ptx.Parse(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// kernelText is a kernel with a body: %a is its parameter, %r0 the thread's number.
func kernelText(body string) string {
	return ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a) {\n.reg .u64 %a;\n.reg .u32 %r<10>;\n.reg .pred %p<3>;\n" +
		"ld.param.u64 %a, [a];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, 0;\n" + body + "st.global.u32 [%a], %r1;\nret;\n}\n"
}

// chain is a kernel with n branches, one after another, around what cannot have a guard.
func chain(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "setp.gt.u32 %%p0, %%r0, %d;\n@%%p0 bra L%d;\nactivemask.b32 %%r2;\nadd.u32 %%r1, %%r1, %%r2;\nL%d:\nxor.b32 %%r1, %%r1, %%r0;\n", i, i, i)
	}
	return kernelText(s.String())
}

// TestManyBranches: thousands of branches compile; each of them needs a place of its own where lanes
// meet.
func TestManyBranches(t *testing.T) {
	const n = 3000
	r, err := Module(parsed(t, "chain.ptx", chain(n)), Options{})
	if err != nil || len(r.Refused) > 0 {
		t.Fatal(err, r.Refused)
	}
	meet := 0
	for _, in := range r.File.Kernels[0].Code {
		if in.Op.String() == "BSYNC" {
			meet++
		}
	}
	if meet != n {
		t.Errorf("%d BSYNC; want %d", meet, n)
	}
}

// TestLoopsHaveEntries: each of several loops that are entered from two places gets one entry.
func TestLoopsHaveEntries(t *testing.T) {
	var s strings.Builder
	for i := range 4 {
		fmt.Fprintf(&s, "setp.gt.u32 %%p0, %%r0, %d;\n@%%p0 bra L%d;\nadd.u32 %%r1, %%r1, 3;\nL%d:\nadd.u32 %%r1, %%r1, %%r0;\nsetp.lt.u32 %%p1, %%r1, 1000;\n@%%p1 bra L%d;\n", i, i, i, i)
	}
	m := parsed(t, "loops.ptx", kernelText(s.String()))
	if err := m.Funcs[0].Load(); err != nil {
		t.Fatal(err)
	}
	f, _ := build(newModule(m, 86), m.Funcs[0], 0, 0, false)
	splitLoopEntries(f)
	g := f.Graph()
	if len(g.Loops) != 4 {
		t.Fatalf("%d loops", len(g.Loops))
	}
	for _, l := range g.Loops {
		entries := 0
		for _, p := range f.Blocks[l.Header].Preds {
			if !inLoop(g, p.ID, l.Header) {
				entries++
			}
		}
		if entries != 1 {
			t.Errorf("the loop of b%d has %d entries; want 1", l.Header, entries)
		}
	}
}

// TestLiveAfterLoop: what a loop's header chooses is needed at the end of the loop, if code after it
// reads it.
func TestLiveAfterLoop(t *testing.T) {
	for _, back := range []bool{true, false} { // the branch goes back, or out
		f := &ir.Func{Name: "k"}
		entry, loop, out := f.NewBlock(), f.NewBlock(), f.NewBlock()
		v, first, next, p := f.NewValue(ir.GPR), f.NewValue(ir.GPR), f.NewValue(ir.GPR), f.NewValue(ir.Pred)
		entry.Term = ir.Term{Flow: ir.Jump, Then: loop}
		entry.Append(&ir.Inst{Name: "MOV", Args: []ir.Arg{ir.D(first), ir.I(1)}})
		loop.Term = ir.Term{Flow: ir.Branch, Cond: p, Then: out, Else: loop}
		if back {
			loop.Term.Then, loop.Term.Else = loop, out
		}
		out.Term = ir.Term{Flow: ir.Exit}
		f.Connect()
		loop.Phis = []*ir.Phi{{Dst: v, Args: make([]*ir.Value, 2)}}
		v.Block = loop
		loop.Phis[0].Args[loop.PredIndex(entry)], loop.Phis[0].Args[loop.PredIndex(loop)] = first, next
		loop.Append(&ir.Inst{Name: "IADD3", Args: []ir.Arg{ir.D(next), ir.R(v), ir.I(1), ir.RZ()}})
		loop.Append(&ir.Inst{Name: "ISETP.LT.AND", Args: []ir.Arg{ir.DP(p), ir.DP(nil), ir.R(next), ir.I(9), ir.Pr(nil, false)}})
		out.Append(&ir.Inst{Name: "USE", Args: []ir.Arg{ir.R(v)}, Effect: true})
		l := findLive(f)
		if end := l.last[loop.ID] + 1; !l.of[v.ID].overlaps(ranges{{end, end + 1}}) {
			t.Errorf("back %v: %v is needed in %v, not at %d", back, v, l.of[v.ID], end)
		}
	}
}

// TestLanes: what is known of stays in registers agrees with what is known place by place.
func TestLanes(t *testing.T) {
	const places = 40
	r := rand.New(rand.NewPCG(3, 4))
	roots := []*ir.Value{{ID: 0}, {ID: 1}, {ID: 2}}
	random := func() (l lane, at [places]*ir.Value) {
		for i := range at {
			if at[i] = roots[r.IntN(3)]; r.IntN(3) > 0 {
				at[i] = nil
			}
		}
		return lanesOf(at[:]), at
	}
	united := 0
	for range 5000 {
		x, xs := random()
		y, ys := random()
		want := false
		for i := range xs {
			want = want || xs[i] != nil && ys[i] != nil && xs[i] != ys[i]
			if ys[i] != nil {
				xs[i] = ys[i]
			}
		}
		if got := disturb(x, y); got != want {
			t.Fatalf("disturb(%v, %v) = %v", x, y, got)
		}
		if want {
			continue
		}
		united++
		if got := unite(slices.Clone(x), slices.Clone(y)); !slices.Equal(got, lanesOf(xs[:])) {
			t.Fatalf("unite(%v, %v) = %v", x, y, got)
		}
	}
	if united < 10 {
		t.Errorf("only %d were united", united)
	}
}

// lanesOf are the stays of the values that a register has at each place.
func lanesOf(at []*ir.Value) (l lane) {
	for i, v := range at {
		switch n := len(l); {
		case v == nil:
		case n > 0 && l[n-1].to == i && l[n-1].root == v:
			l[n-1].to++
		default:
			l = append(l, stay{segment{i, i + 1}, v})
		}
	}
	return l
}

// BenchmarkModule: PTX instructions a second, of the examples and of a kernel with many branches.
func BenchmarkModule(b *testing.B) {
	files, _ := filepath.Glob("../../examples/*/*.ptx")
	var examples []*ptx.Module
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		examples = append(examples, parsed(b, f, string(text)))
	}
	for _, c := range []struct {
		name    string
		modules []*ptx.Module
	}{{"examples", examples}, {"branches", []*ptx.Module{parsed(b, "chain.ptx", chain(5000))}}} {
		b.Run(c.name, func(b *testing.B) {
			insts := 0
			for b.Loop() {
				for _, m := range c.modules {
					if _, err := Module(m, Options{}); err != nil {
						b.Fatal(err)
					}
					for _, fn := range m.Funcs {
						insts += len(fn.Code)
					}
				}
			}
			b.ReportMetric(float64(insts)/b.Elapsed().Seconds(), "PTX/s")
		})
	}
}

// TestInOrder: what goroutines make is used in order, and only some of it waits.
func TestInOrder(t *testing.T) {
	const n = 200
	for _, threads := range []int{1, 4} {
		var mu sync.Mutex
		begun, used := 0, 0
		inOrder(n, threads, func(i int) int {
			mu.Lock()
			begun++
			if begun > used+threads+1 {
				t.Errorf("%d threads: %d have begun when %d are used", threads, begun, used)
			}
			mu.Unlock()
			if i%7 == 0 {
				time.Sleep(time.Millisecond)
			}
			return i
		}, func(i int) {
			mu.Lock()
			defer mu.Unlock()
			if i != used {
				t.Errorf("%d threads: %d is used after %d others", threads, i, used)
			}
			used++
		})
		if used != n {
			t.Errorf("%d threads: %d used, want %d", threads, used, n)
		}
	}
}
