package flow

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/heddle-sim/heddle/internal/isa"
)

// assemble builds code from lines of the form "label: op target ...": nop,
// bra, brx, call, ret and exit, guarded after an @. A target is a label.
func assemble(t testing.TB, text string) []isa.Inst {
	t.Helper()
	flows := map[string]isa.Flow{
		"nop": isa.FlowNext, "bra": isa.FlowBranch, "brx": isa.FlowIndirect,
		"call": isa.FlowCall, "ret": isa.FlowReturn, "exit": isa.FlowExit,
	}
	labels := map[string]int32{}
	var code []isa.Inst
	var operands [][]string
	for line := range strings.Lines(text) {
		label, rest, found := strings.Cut(line, ":")
		if !found {
			rest = label
		} else {
			labels[strings.TrimSpace(label)] = int32(len(code))
		}
		words := strings.Fields(rest)
		if len(words) == 0 {
			continue
		}
		op, guarded := strings.CutPrefix(words[0], "@")
		flow, ok := flows[op]
		if !ok {
			t.Fatalf("no op %q", op)
		}
		code = append(code, isa.Inst{PC: int32(len(code)), Op: op, Flow: flow, Guarded: guarded})
		operands = append(operands, words[1:])
	}
	for pc := range code {
		for _, name := range operands[pc] {
			target, ok := labels[name]
			if !ok {
				t.Fatalf("no label %q", name)
			}
			code[pc].Targets = append(code[pc].Targets, target)
		}
	}
	return code
}

// describe lists the analysis, one block per line: number, pcs, successors (x for the exit, x?
// for an edge that is never taken), immediate dominator, immediate post-dominator, loop depth.
func describe(g *Graph) string {
	var s strings.Builder
	name := func(b int) string {
		if b == Exit {
			return "-"
		}
		return fmt.Sprint(b)
	}
	for b := range g.Blocks {
		blk := &g.Blocks[b]
		var succs []string
		for _, x := range blk.Succs {
			succs = append(succs, fmt.Sprint(x))
		}
		switch {
		case blk.Endless:
			succs = append(succs, "x?")
		case blk.Leaves:
			succs = append(succs, "x")
		}
		reached := ""
		if !g.Reachable(b) {
			reached = " unreachable"
		}
		fmt.Fprintf(&s, "%d [%d-%d] to %s dom %s pdom %s depth %d%s\n", b, blk.First, blk.Last,
			strings.Join(succs, ","), name(g.IDom(b)), name(g.IPDom(b)), g.Depth(b), reached)
	}
	for l := range g.Loops {
		fmt.Fprintf(&s, "loop %d latches %v blocks %v parent %d\n", g.Loops[l].Header, g.Loops[l].Latches, g.LoopBlocks(l), g.Loops[l].Parent)
	}
	if g.Irreducible {
		s.WriteString("irreducible\n")
	}
	return s.String()
}

func TestAnalyze(t *testing.T) {
	for _, test := range []struct{ name, code, want string }{
		{"empty function", ``, ``},
		{"straight line, falls off its end", `
			nop
			call
			@call
			nop`, `
			0 [0-3] to x dom - pdom - depth 0`},
		{"if", `
			@bra end
			nop
			end: ret`, `
			0 [0-0] to 1,2 dom - pdom 2 depth 0
			1 [1-1] to 2 dom 0 pdom 2 depth 0
			2 [2-2] to x dom 0 pdom - depth 0`},
		{"diamond", `
			nop
			@bra else
			nop
			bra end
			else: nop
			end: nop
			ret`, `
			0 [0-1] to 1,2 dom - pdom 3 depth 0
			1 [2-3] to 3 dom 0 pdom 3 depth 0
			2 [4-4] to 3 dom 0 pdom 3 depth 0
			3 [5-6] to x dom 0 pdom - depth 0`},
		{"branch to the next instruction", `
			@bra next
			next: ret`, `
			0 [0-0] to 1 dom - pdom 1 depth 0
			1 [1-1] to x dom 0 pdom - depth 0`},
		{"do-while loop", `
			nop
			loop: nop
			@bra loop
			ret`, `
			0 [0-0] to 1 dom - pdom 1 depth 0
			1 [1-2] to 2,1 dom 0 pdom 2 depth 1
			2 [3-3] to x dom 1 pdom - depth 0
			loop 1 latches [1] blocks [1] parent -1`},
		{"the entry is a loop", `
			loop: @bra loop
			exit`, `
			0 [0-0] to 1,0 dom - pdom 1 depth 1
			1 [1-1] to x dom 0 pdom - depth 0
			loop 0 latches [0] blocks [0] parent -1`},
		{"while loop with break and continue", `
			head: @bra end
			@bra head
			nop
			@bra end
			nop
			bra head
			end: ret`, `
			0 [0-0] to 1,4 dom - pdom 4 depth 1
			1 [1-1] to 2,0 dom 0 pdom 4 depth 1
			2 [2-3] to 3,4 dom 1 pdom 4 depth 1
			3 [4-5] to 0 dom 2 pdom 0 depth 1
			4 [6-6] to x dom 0 pdom - depth 0
			loop 0 latches [1 3] blocks [0 1 2 3] parent -1`},
		{"nested loops", `
			nop
			outer: nop
			inner: nop
			@bra inner
			nop
			@bra outer
			ret`, `
			0 [0-0] to 1 dom - pdom 1 depth 0
			1 [1-1] to 2 dom 0 pdom 2 depth 1
			2 [2-3] to 3,2 dom 1 pdom 3 depth 2
			3 [4-5] to 4,1 dom 2 pdom 4 depth 1
			4 [6-6] to x dom 3 pdom - depth 0
			loop 1 latches [3] blocks [1 2 3] parent -1
			loop 2 latches [2] blocks [2] parent 0`},
		{"two loops in one", `
			outer: nop
			a: @bra a
			b: @bra b
			@bra outer
			ret`, `
			0 [0-0] to 1 dom - pdom 1 depth 1
			1 [1-1] to 2,1 dom 0 pdom 2 depth 2
			2 [2-2] to 3,2 dom 1 pdom 3 depth 2
			3 [3-3] to 4,0 dom 2 pdom 4 depth 1
			4 [4-4] to x dom 3 pdom - depth 0
			loop 0 latches [3] blocks [0 1 2 3] parent -1
			loop 1 latches [1] blocks [1] parent 0
			loop 2 latches [2] blocks [2] parent 0`},
		{"early return in one arm", `
			@bra else
			@ret
			nop
			bra end
			else: nop
			end: ret`, `
			0 [0-0] to 1,3 dom - pdom - depth 0
			1 [1-1] to 2,x dom 0 pdom - depth 0
			2 [2-3] to 4 dom 1 pdom 4 depth 0
			3 [4-4] to 4 dom 0 pdom 4 depth 0
			4 [5-5] to x dom 0 pdom - depth 0`},
		{"guarded exit as the last instruction", `
			nop
			@exit`, `
			0 [0-1] to x dom - pdom - depth 0`},
		{"switch by indirect branch", `
			brx a b c a
			a: nop
			bra end
			b: nop
			c: nop
			end: ret`, `
			0 [0-0] to 1,2,3 dom - pdom 4 depth 0
			1 [1-2] to 4 dom 0 pdom 4 depth 0
			2 [3-3] to 3 dom 0 pdom 3 depth 0
			3 [4-4] to 4 dom 0 pdom 4 depth 0
			4 [5-5] to x dom 0 pdom - depth 0`},
		{"guarded indirect branch", `
			@brx b c
			nop
			b: nop
			c: ret`, `
			0 [0-0] to 1,2,3 dom - pdom 3 depth 0
			1 [1-1] to 2 dom 0 pdom 2 depth 0
			2 [2-2] to 3 dom 0 pdom 3 depth 0
			3 [3-3] to x dom 0 pdom - depth 0`},
		{"irreducible: a cycle with two entries", `
			@bra b
			a: nop
			b: nop
			@bra a
			ret`, `
			0 [0-0] to 1,2 dom - pdom 2 depth 0
			1 [1-1] to 2 dom 0 pdom 2 depth 0
			2 [2-3] to 3,1 dom 0 pdom 3 depth 0
			3 [4-4] to x dom 2 pdom - depth 0
			irreducible`},
		{"irreducible inside a loop", `
			top: @bra b
			a: nop
			b: @bra a
			@bra top
			ret`, `
			0 [0-0] to 1,2 dom - pdom 2 depth 1
			1 [1-1] to 2 dom 0 pdom 2 depth 1
			2 [2-2] to 3,1 dom 0 pdom 3 depth 1
			3 [3-3] to 4,0 dom 2 pdom 4 depth 1
			4 [4-4] to x dom 3 pdom - depth 0
			loop 0 latches [3] blocks [0 1 2 3] parent -1
			irreducible`},
		{"endless loop around a diamond", `
			nop
			loop: @bra else
			nop
			bra join
			else: nop
			join: nop
			bra loop`, `
			0 [0-0] to 1 dom - pdom 1 depth 0
			1 [1-1] to 2,3 dom 0 pdom 4 depth 1
			2 [2-3] to 4 dom 1 pdom 4 depth 1
			3 [4-4] to 4 dom 1 pdom 4 depth 1
			4 [5-6] to 1,x? dom 1 pdom - depth 1
			loop 1 latches [4] blocks [1 2 3 4] parent -1`},
		{"endless loop beside a return", `
			@bra spin
			ret
			spin: bra spin`, `
			0 [0-0] to 1,2 dom - pdom - depth 0
			1 [1-1] to x dom 0 pdom - depth 0
			2 [2-2] to 2,x? dom 0 pdom - depth 1
			loop 2 latches [2] blocks [2] parent -1`},
		{"an endless cycle that leads to another", `
			a: @bra b
			bra a
			b: nop
			bra b`, `
			0 [0-0] to 1,2 dom - pdom 2 depth 1
			1 [1-1] to 0 dom 0 pdom 0 depth 1
			2 [2-3] to 2,x? dom 0 pdom - depth 1
			loop 0 latches [1] blocks [0 1] parent -1
			loop 2 latches [2] blocks [2] parent -1`},
		{"unreachable code", `
			bra end
			dead: nop
			@bra dead
			end: ret
			nop
			bra end`, `
			0 [0-0] to 2 dom - pdom 2 depth 0
			1 [1-2] to 2,1 dom - pdom 2 depth 0 unreachable
			2 [3-3] to x dom 0 pdom - depth 0
			3 [4-5] to 2 dom - pdom 2 depth 0 unreachable`},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := strings.TrimSpace(strings.ReplaceAll(test.want, "\t", ""))
			g := Analyze(assemble(t, test.code))
			if diff := cmp.Diff(want, strings.TrimSpace(describe(g))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestReconverge(t *testing.T) {
	code := assemble(t, `
		nop
		@bra else
		@call
		@ret
		bra end
		else: nop
		@bra end
		nop
		end: ret`)
	g := Analyze(code)
	want := []int{1, Exit, 3, Exit, 8, 6, 8, 8, Exit}
	var got []int
	for pc := range code {
		got = append(got, g.Reconverge(pc))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, pc := range []int{-1, len(code), 1 << 30} {
		if got := g.Reconverge(pc); got != Exit {
			t.Errorf("Reconverge(%d) = %d", pc, got)
		}
		if got := g.BlockOf(pc); got != Exit {
			t.Errorf("BlockOf(%d) = %d", pc, got)
		}
	}
}

// TestBadTargets gives targets outside the code and branches without any.
func TestBadTargets(t *testing.T) {
	g := Analyze([]isa.Inst{
		{Flow: isa.FlowBranch, Guarded: true, Targets: []int32{-1}},
		{Flow: isa.FlowIndirect, Targets: []int32{2, 99, -5, 3, 1 << 30}},
		{Flow: isa.FlowBranch},
		{Flow: isa.FlowIndirect, Guarded: true, Targets: []int32{4}},
	})
	want := strings.Join([]string{
		"0 [0-0] to 1,x dom - pdom - depth 0",
		"1 [1-1] to 2,3 dom 0 pdom - depth 0",
		"2 [2-2] to x dom 1 pdom - depth 0",
		"3 [3-3] to x dom 1 pdom - depth 0",
		"",
	}, "\n")
	if diff := cmp.Diff(want, describe(g)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestReversePostOrder(t *testing.T) {
	g := Analyze(assemble(t, `
		@bra else
		nop
		bra end
		else: nop
		end: ret
		nop`))
	if got, want := g.ReversePostOrder(), []int{0, 1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestDOT(t *testing.T) {
	code := assemble(t, `
		@bra end
		loop: nop
		@bra loop
		end: ret
		spin: bra spin`)
	lines := []string{`@%p0 bra $END;`, `mov.u32 %r1, "x\y";`, "@%p1\tbra $LOOP;", "ret;", "bra $SPIN;"}
	var out strings.Builder
	if err := Analyze(code).DOT(&out, `kernel "k"`, func(pc int) string { return lines[pc] }); err != nil {
		t.Fatal(err)
	}
	want := `digraph "kernel \"k\"" {
	label="kernel \"k\"\n4 blocks, 1 loops"; labelloc=t; fontname=monospace;
	node [shape=box, fontname=monospace];
	exit [shape=oval, label="exit"];
	b0 [label="b0\l   0  @%p0 bra $END;\l"];
	b2 [label="b2\l   3  ret;\l"];
	b3 [label="b3\l   4  bra $SPIN;\l", style=dashed];
	subgraph cluster_0 {
		label="loop of b1, depth 1"; color=gray;
		b1 [label="b1\l   1  mov.u32 %r1, \"x\\y\";\l   2  @%p1 bra $LOOP;\l"];
	}
	b0 -> b1;
	b0 -> b2;
	b0 -> b2 [style=dotted, color=blue, constraint=false, label="reconverge"];
	b1 -> b2;
	b1 -> b1 [style=bold, label="back"];
	b1 -> b2 [style=dotted, color=blue, constraint=false, label="reconverge"];
	b2 -> exit;
	b3 -> b3;
	b3 -> exit [color=gray, label="never"];
}
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var empty strings.Builder
	if err := Analyze(nil).DOT(&empty, "", nil); err != nil || !strings.HasPrefix(empty.String(), `digraph "" {`) {
		t.Errorf("no code: %v, %q", err, empty.String())
	}
	full := errors.New("disk full")
	if err := Analyze(code).DOT(writerFunc(func([]byte) (int, error) { return 0, full }), "k", func(int) string { return "" }); !errors.Is(err, full) {
		t.Errorf("a failing writer gives %v", err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func TestLiveness(t *testing.T) {
	gpr := func(index, count int) isa.Reg {
		return isa.Reg{File: isa.RegGPR, Index: uint32(index), Count: uint8(count)}
	}
	pred := func(index int) isa.Reg { return isa.Reg{File: isa.RegPred, Index: uint32(index), Count: 1} }
	regs := func(r ...isa.Reg) []isa.Reg { return r }
	code := []isa.Inst{
		0: {Dsts: regs(gpr(0, 1))},
		1: {Dsts: regs(gpr(63, 2)), Srcs: regs(gpr(0, 1))},                                                      // crosses a group of 64
		2: {Dsts: regs(pred(0)), Srcs: regs(gpr(63, 1))},                                                        // loop head
		3: {Dsts: regs(gpr(5, 1)), Srcs: regs(gpr(5, 1), pred(0)), Guarded: true},                               // keeps the old value
		4: {Dsts: regs(gpr(9, 4))},                                                                              // never read
		5: {Flow: isa.FlowBranch, Guarded: true, Targets: []int32{2}, Srcs: regs(pred(0), gpr(64, 1))},          //
		6: {Flow: isa.FlowExit, Srcs: regs(gpr(5, 1), isa.Reg{}, isa.Reg{File: 77, Count: 1}, gpr(1<<32-1, 3))}, // runs past the last index
		7: {Srcs: regs(gpr(200, 1))},                                                                            // unreachable
	}
	g := Analyze(code)
	l := Liveness(code, g)
	for _, test := range []struct {
		block int
		file  isa.RegFile
		want  []int
	}{
		{0, isa.RegGPR, []int{5, 1<<32 - 1, 1 << 32, 1<<32 + 1}},
		{0, isa.RegPred, nil},
		{1, isa.RegGPR, []int{5, 63, 64, 1<<32 - 1, 1 << 32, 1<<32 + 1}},
		{1, isa.RegPred, nil},
		{2, isa.RegGPR, []int{5, 1<<32 - 1, 1 << 32, 1<<32 + 1}},
		{3, isa.RegGPR, nil},
	} {
		if got := l.In(test.block, test.file); !slices.Equal(got, test.want) {
			t.Errorf("live into block %d: %v, want %v", test.block, got, test.want)
		}
		for _, r := range []int{0, 4, 5, 6, 62, 63, 64, 65, 1<<32 - 2, 1<<32 - 1, 1 << 32, 1<<32 + 1, 1<<32 + 2} {
			if got := l.IsIn(test.block, test.file, r); got != slices.Contains(test.want, r) {
				t.Errorf("register %d live into block %d: %v", r, test.block, got)
			}
		}
	}
	var gprs, preds []int
	for pc := range code {
		gprs = append(gprs, l.At(pc, isa.RegGPR))
		preds = append(preds, l.At(pc, isa.RegPred))
	}
	// 5 and the three at the end live throughout; 0, then 63 and 64 join them,
	// and at pc 4 the four that are never read.
	if want := []int{5, 6, 6, 6, 10, 6, 4, 0}; !slices.Equal(gprs, want) {
		t.Errorf("general registers in use %v, want %v", gprs, want)
	}
	if want := []int{0, 0, 1, 1, 1, 1, 0, 0}; !slices.Equal(preds, want) {
		t.Errorf("predicates in use %v, want %v", preds, want)
	}
	if l.MaxLive != 10 || l.Max(isa.RegGPR) != 10 || l.Max(isa.RegPred) != 1 {
		t.Errorf("most in use %d (%d), %d, want 10, 1", l.MaxLive, l.Max(isa.RegGPR), l.Max(isa.RegPred))
	}
	if l := Liveness(nil, Analyze(nil)); l.MaxLive != 0 {
		t.Errorf("no code needs %d registers", l.MaxLive)
	}
}
