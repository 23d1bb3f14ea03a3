package flow

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/isa"
	"pgregory.net/rapid"
)

// randomCode draws code of any shape, targets outside it included.
func randomCode(t *rapid.T) []isa.Inst {
	n := rapid.IntRange(0, 18).Draw(t, "instructions")
	reg := rapid.Custom(func(t *rapid.T) isa.Reg {
		return isa.Reg{
			File:  isa.RegFile(rapid.IntRange(0, 2).Draw(t, "file")),
			Index: rapid.Uint32Range(60, 66).Draw(t, "index"),
			Count: uint8(rapid.IntRange(0, 3).Draw(t, "count")),
		}
	})
	code := make([]isa.Inst, n)
	for pc := range code {
		in := &code[pc]
		in.PC = int32(pc)
		in.Flow = rapid.SampledFrom([]isa.Flow{
			isa.FlowNext, isa.FlowNext, isa.FlowBranch, isa.FlowBranch, isa.FlowBranch,
			isa.FlowIndirect, isa.FlowCall, isa.FlowReturn, isa.FlowExit,
		}).Draw(t, "flow")
		in.Guarded = rapid.IntRange(0, 2).Draw(t, "guarded") > 0
		target := rapid.Int32Range(0, int32(n-1))
		if rapid.IntRange(0, 15).Draw(t, "bad") == 0 {
			target = rapid.Int32Range(-2, int32(n+2))
		}
		switch in.Flow {
		case isa.FlowBranch:
			in.Targets = []int32{target.Draw(t, "target")}
		case isa.FlowIndirect:
			in.Targets = rapid.SliceOfN(target, 0, 4).Draw(t, "targets")
		}
		in.Srcs = rapid.SliceOfN(reg, 0, 2).Draw(t, "srcs")
		in.Dsts = rapid.SliceOfN(reg, 0, 2).Draw(t, "dsts")
	}
	return code
}

// steps returns, for each instruction, where control goes next; len(code) is the function's
// end. It follows the definitions in the simplest way.
func steps(code []isa.Inst) [][]int {
	n := len(code)
	next := make([][]int, n)
	for pc, in := range code {
		ends := in.Flow != isa.FlowNext && in.Flow != isa.FlowCall
		if !ends || in.Guarded {
			next[pc] = append(next[pc], pc+1)
		}
		if in.Flow == isa.FlowReturn || in.Flow == isa.FlowExit {
			next[pc] = append(next[pc], n)
		}
		if in.Flow == isa.FlowBranch || in.Flow == isa.FlowIndirect {
			jumps := 0
			for _, t := range in.Targets {
				if t >= 0 && int(t) < n {
					next[pc] = append(next[pc], int(t))
					jumps++
				}
			}
			if jumps == 0 {
				next[pc] = append(next[pc], n)
			}
		}
	}
	return next
}

// reach returns the nodes that can be reached from one without entering
// another, itself included. A node out of range blocks nothing.
func reach(next [][]int, from, without int) []bool {
	seen := make([]bool, len(next)+1)
	if from == without {
		return seen
	}
	seen[from] = true
	work := []int{from}
	for len(work) > 0 {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		if v == len(next) {
			continue
		}
		for _, w := range next[v] {
			if w != without && !seen[w] {
				seen[w] = true
				work = append(work, w)
			}
		}
	}
	return seen
}

// TestDefinitions compares the analysis of random code with the definitions of
// what it finds, applied to single instructions: a node dominates another if
// its removal cuts the other off.
func TestDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		code := randomCode(t)
		n := len(code)
		g := Analyze(code)
		next := steps(code)

		// Blocks partition the code, and inside one there is only one path.
		at := 0
		for b, blk := range g.Blocks {
			if blk.First != at || blk.Last < blk.First {
				t.Fatalf("block %d is [%d-%d], want it to begin at %d", b, blk.First, blk.Last, at)
			}
			for pc := blk.First; pc <= blk.Last; pc++ {
				if g.BlockOf(pc) != b {
					t.Fatalf("pc %d is in block %d, want %d", pc, g.BlockOf(pc), b)
				}
				if pc < blk.Last && !slices.Equal(next[pc], []int{pc + 1}) {
					t.Fatalf("pc %d inside block %d goes to %v", pc, b, next[pc])
				}
			}
			at = blk.Last + 1
		}
		if at != n {
			t.Fatalf("blocks cover %d of %d instructions", at, n)
		}
		if n == 0 {
			return
		}

		// Edges.
		for b, blk := range g.Blocks {
			want := map[int]bool{}
			leaves := false
			for _, pc := range next[blk.Last] {
				if pc == n {
					leaves = true
				} else {
					want[g.BlockOf(pc)] = true
					if g.Blocks[g.BlockOf(pc)].First != pc {
						t.Fatalf("pc %d is the target of a jump inside a block", pc)
					}
				}
			}
			got := map[int]bool{}
			for _, s := range blk.Succs {
				if got[s] {
					t.Fatalf("block %d has an edge to %d twice", b, s)
				}
				got[s] = true
				if !slices.Contains(g.Blocks[s].Preds, b) {
					t.Fatalf("block %d does not have its predecessor %d", s, b)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("edges of block %d (-want +got):\n%s", b, diff)
			}
			if leaves != (blk.Leaves && !blk.Endless) {
				t.Fatalf("block %d leaves: %v, want %v", b, blk.Leaves, leaves)
			}
		}

		// Edges that were added to endless code: from blocks that cannot reach an
		// end, as many as necessary and none that another one makes superfluous.
		ends := func(from int, without int) bool { // by edges of g, without the added one of a block
			all := slices.Clone(next)
			for b, blk := range g.Blocks {
				if blk.Endless && b != without {
					all[blk.Last] = append(slices.Clone(all[blk.Last]), n)
				}
			}
			return reach(all, from, -1)[n]
		}
		for b, blk := range g.Blocks {
			if blk.Endless && (!blk.Leaves || reach(next, blk.Last, -1)[n]) {
				t.Fatalf("block %d can end without help", b)
			}
			if blk.Endless && ends(blk.Last, b) {
				t.Fatalf("block %d would end without its edge", b)
			}
			if !ends(blk.First, -1) {
				t.Fatalf("block %d cannot end", b)
			}
		}
		for _, blk := range g.Blocks {
			if blk.Endless {
				next[blk.Last] = append(next[blk.Last], n)
			}
		}

		reachable := reach(next, 0, -1)
		dominates := func(a, b int) bool { // instructions
			return a == b || reachable[a] && reachable[b] && !reach(next, 0, a)[b]
		}
		postDominates := func(a, b int) bool { return a == b || !reach(next, b, a)[n] }
		// nearest returns the strict (post-)dominator that all others
		// (post-)dominate, Exit if there is none.
		nearest := func(of, count int, over func(a, b int) bool) int {
			found := Exit
			for a := range count {
				if a != of && over(a, of) && (found == Exit || over(found, a)) {
					found = a
				}
			}
			return found
		}
		first := func(b int) int { return g.Blocks[b].First }
		blocks := len(g.Blocks)
		dom := func(a, b int) bool { return dominates(first(a), first(b)) }
		pdom := func(a, b int) bool { return postDominates(first(a), first(b)) }
		for b := range blocks {
			if got := g.Reachable(b); got != reachable[first(b)] {
				t.Fatalf("block %d reachable: %v", b, got)
			}
			for a := range blocks {
				if got, want := g.Dominates(a, b), dom(a, b); got != want {
					t.Fatalf("%d dominates %d: %v, want %v", a, b, got, want)
				}
				if got, want := g.PostDominates(a, b), pdom(a, b); got != want {
					t.Fatalf("%d post-dominates %d: %v, want %v", a, b, got, want)
				}
			}
			if got, want := g.IDom(b), nearest(b, blocks, dom); got != want {
				t.Fatalf("immediate dominator of %d: %d, want %d", b, got, want)
			}
			if got, want := g.IPDom(b), nearest(b, blocks, pdom); got != want {
				t.Fatalf("immediate post-dominator of %d: %d, want %d", b, got, want)
			}
		}
		for pc := range code {
			if got, want := g.Reconverge(pc), nearest(pc, n, postDominates); got != want {
				t.Fatalf("lanes that part at %d meet at %d, want %d", pc, got, want)
			}
		}

		checkLoops(t, g, dom)
		checkLiveness(t, code, g, next, reachable)
		if diff := cmp.Diff(describe(g), describe(Analyze(code))); diff != "" {
			t.Fatalf("a second analysis differs:\n%s", diff)
		}
	})
}

func checkLoops(t *rapid.T, g *Graph, dom func(a, b int) bool) {
	// The order has each block once and goes back only where a cycle does.
	order := g.ReversePostOrder()
	place := map[int]int{}
	for i, b := range order {
		if _, twice := place[b]; twice || !g.Reachable(b) {
			t.Fatalf("block %d does not belong in the order %v", b, order)
		}
		place[b] = i
	}
	edges := make([][]int, len(g.Blocks)) // of reachable blocks, back edges left out
	loops := map[int]map[int]bool{}       // header → blocks
	reachableBlocks := 0
	for b, blk := range g.Blocks {
		if !g.Reachable(b) {
			continue
		}
		reachableBlocks++
		for _, h := range blk.Succs {
			if !dom(h, b) {
				edges[b] = append(edges[b], h)
				continue
			}
			body := loops[h]
			if body == nil {
				body = map[int]bool{h: true}
				loops[h] = body
			}
			// All that reach the latch without the header.
			for work := []int{b}; len(work) > 0; {
				x := work[len(work)-1]
				work = work[:len(work)-1]
				if !body[x] {
					body[x] = true
					for _, p := range g.Blocks[x].Preds {
						if g.Reachable(p) {
							work = append(work, p)
						}
					}
				}
			}
		}
	}
	if len(order) != reachableBlocks {
		t.Fatalf("the order has %d blocks, want %d", len(order), reachableBlocks)
	}
	cyclic := false
	for b := range g.Blocks {
		for _, s := range edges[b] {
			back := reach(edges, s, -1)[b]
			cyclic = cyclic || back
			if !back && place[s] < place[b] {
				t.Fatalf("block %d precedes its predecessor %d in %v", s, b, order)
			}
		}
	}
	if g.Irreducible != cyclic {
		t.Fatalf("irreducible: %v, want %v", g.Irreducible, cyclic)
	}

	if len(g.Loops) != len(loops) {
		t.Fatalf("%d loops, want %d", len(g.Loops), len(loops))
	}
	for l, loop := range g.Loops {
		body := loops[loop.Header]
		for _, b := range g.LoopBlocks(l) {
			if !body[b] {
				t.Fatalf("loop %d holds block %d", loop.Header, b)
			}
		}
		if len(g.LoopBlocks(l)) != len(body) {
			t.Fatalf("loop %d: %v, want %v", loop.Header, g.LoopBlocks(l), body)
		}
		for _, b := range loop.Latches {
			if !slices.Contains(g.Blocks[b].Succs, loop.Header) || !body[b] {
				t.Fatalf("%d is not a latch of loop %d", b, loop.Header)
			}
		}
		// The parent is the smallest other loop around the header.
		parent := -1
		for m, other := range g.Loops {
			if m != l && loops[other.Header][loop.Header] && (parent < 0 || len(loops[other.Header]) < len(loops[g.Loops[parent].Header])) {
				parent = m
			}
		}
		if loop.Parent != parent || parent >= l {
			t.Fatalf("loop %d is inside %d, want %d", l, loop.Parent, parent)
		}
	}
	for b := range g.Blocks {
		depth, inner := 0, -1
		for l, loop := range g.Loops {
			if loops[loop.Header][b] {
				depth++
				if inner < 0 || len(loops[loop.Header]) < len(loops[g.Loops[inner].Header]) {
					inner = l
				}
			}
		}
		if g.Depth(b) != depth || g.LoopOf(b) != inner {
			t.Fatalf("block %d: depth %d in loop %d, want %d in %d", b, g.Depth(b), g.LoopOf(b), depth, inner)
		}
		if inner >= 0 && g.Loops[inner].Depth != depth {
			t.Fatalf("loop %d has depth %d, want %d", inner, g.Loops[inner].Depth, depth)
		}
	}
}

// checkLiveness searches, for each register and each instruction, for a path to a read without
// a certain write before it.
func checkLiveness(t *rapid.T, code []isa.Inst, g *Graph, next [][]int, reachable []bool) {
	n := len(code)
	l := Liveness(code, g)
	names := func(list []isa.Reg, file isa.RegFile, reg int) bool {
		for _, r := range list {
			if r.File == file && int(r.Index) <= reg && reg < int(r.Index)+int(r.Count) {
				return true
			}
		}
		return false
	}
	for _, file := range []isa.RegFile{isa.RegGPR, isa.RegPred} {
		before, after := make([]int, n), make([]int, n)
		want := make([][]int, len(g.Blocks))
		for reg := 55; reg < 75; reg++ {
			live := func(from int) bool {
				seen := make([]bool, n+1)
				seen[n] = true
				for work := []int{from}; len(work) > 0; {
					pc := work[len(work)-1]
					work = work[:len(work)-1]
					if seen[pc] {
						continue
					}
					seen[pc] = true
					if names(code[pc].Srcs, file, reg) {
						return true
					}
					if code[pc].Guarded || !names(code[pc].Dsts, file, reg) {
						work = append(work, next[pc]...)
					}
				}
				return false
			}
			for pc := range code {
				if !reachable[pc] {
					continue
				}
				in := live(pc)
				out := names(code[pc].Dsts, file, reg)
				for _, s := range next[pc] {
					out = out || s < n && live(s)
				}
				if in {
					before[pc]++
				}
				if out {
					after[pc]++
				}
				if b := g.BlockOf(pc); in && g.Blocks[b].First == pc {
					want[b] = append(want[b], reg)
				}
			}
		}
		most := 0
		for pc := range code {
			most = max(most, before[pc], after[pc])
			if got := l.At(pc, file); got != max(before[pc], after[pc]) {
				t.Fatalf("file %d, pc %d: %d in use, want %d before and %d after", file, pc, got, before[pc], after[pc])
			}
		}
		if l.Max(file) != most {
			t.Fatalf("file %d: %d in use, want %d", file, l.Max(file), most)
		}
		for b := range g.Blocks {
			if got := l.In(b, file); !slices.Equal(got, want[b]) {
				t.Fatalf("file %d, live into block %d: %v, want %v", file, b, got, want[b])
			}
		}
	}
}

// shapes are graphs of about n instructions that make simple algorithms slow.
var shapes = []struct {
	name string
	make func(n int) []isa.Inst
}{
	{"nested loops", func(n int) []isa.Inst {
		// n/2 headers, then as many latches, innermost first.
		code := make([]isa.Inst, n)
		for i := n / 2; i < n; i++ {
			code[i] = branch(n - 1 - i)
		}
		return code
	}},
	{"nested ifs", func(n int) []isa.Inst {
		code := make([]isa.Inst, n)
		for i := range n / 2 {
			code[i] = branch(n - 1 - i)
		}
		return code
	}},
	{"ladder down and up", func(n int) []isa.Inst {
		// Every rung jumps back to the one before last: iterative dominators
		// need many rounds, and nothing is reducible.
		code := make([]isa.Inst, n)
		code[0] = branch(n / 2)
		for i := 2; i < n-1; i++ {
			code[i] = branch(i - 2)
		}
		return code
	}},
	{"one large switch in a loop", func(n int) []isa.Inst {
		code := make([]isa.Inst, n)
		code[0] = isa.Inst{Flow: isa.FlowIndirect}
		for i := 1; i < n-1; i += 2 {
			code[0].Targets = append(code[0].Targets, int32(i))
			code[i+1] = isa.Inst{Flow: isa.FlowBranch, Targets: []int32{0}}
		}
		return code
	}},
	{"blocks of ten", func(n int) []isa.Inst {
		// Like compiled code: diamonds in loops of a hundred blocks.
		code := make([]isa.Inst, n)
		for i := 9; i < n; i += 10 {
			switch b := i / 10; {
			case b%100 == 99:
				code[i] = branch((b - 99) * 10)
			case b%3 == 0:
				code[i] = branch(min(i+21, n-1))
			}
		}
		return code
	}},
}

func branch(to int) isa.Inst {
	return isa.Inst{Flow: isa.FlowBranch, Guarded: true, Targets: []int32{int32(to)}}
}

// withRegisters gives the instructions registers like those of a compiler's output
// before allocation: each writes a new one and reads two recent ones, and
// occasionally one from far back.
func withRegisters(code []isa.Inst) []isa.Inst {
	for i := range code {
		reg := func(i int) isa.Reg {
			return isa.Reg{File: isa.RegGPR, Index: uint32(max(i, 0)), Count: 1}
		}
		code[i].Dsts = []isa.Reg{reg(i)}
		code[i].Srcs = []isa.Reg{reg(i - 1), reg(i - 1 - i*7919%13)}
		if i%16 == 0 {
			code[i].Srcs = append(code[i].Srcs, reg(i/2))
		}
	}
	return code
}

// TestLargeShapes analyses 60,000 instructions of each shape, to detect quadratic
// time or memory.
func TestLargeShapes(t *testing.T) {
	alltests.Only(t, "control flow of large programs")
	n := 60_000
	if !alltests.On() {
		n = 15_000
	}
	for _, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			code := withRegisters(shape.make(n))
			start := time.Now()
			g := Analyze(code)
			analysed := time.Since(start)
			start = time.Now()
			l := Liveness(code, g)
			lived := time.Since(start)
			t.Logf("%d blocks, %d loops, irreducible %v: %v; %d registers live (complete %v): %v",
				len(g.Blocks), len(g.Loops), g.Irreducible, analysed, l.MaxLive, l.Complete, lived)
			limit := 20 * time.Second * time.Duration(n) / 60_000 // time grows with n, not with its square
			if analysed > limit || lived > 3*limit {
				t.Errorf("Analyze took %v, Liveness %v", analysed, lived)
			}
			if err := g.DOT(io.Discard, shape.name, func(int) string { return "" }); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("estimate", func(t *testing.T) {
		const n = 60_000
		// Each of n registers is live across one branch only, except for the last
		// ones, which are live throughout and use up the budget.
		code := make([]isa.Inst, n)
		for i := range code {
			code[i] = isa.Inst{Flow: isa.FlowBranch, Targets: []int32{int32(min(i+1, n-1))}}
			code[i].Dsts = []isa.Reg{{File: isa.RegGPR, Index: uint32(i), Count: 1}}
			code[i].Srcs = []isa.Reg{{File: isa.RegGPR, Index: uint32(max(i-1, 0)), Count: 1}}
		}
		// Registers that live throughout and are the first in the order.
		for r := range 50 * 64 {
			code[n-1].Srcs = append(code[n-1].Srcs, isa.Reg{File: isa.RegPred, Index: uint32(r), Count: 1})
			code[n-2].Srcs = append(code[n-2].Srcs, isa.Reg{File: isa.RegUGPR, Index: uint32(r), Count: 1})
			code[1].Dsts = append(code[1].Dsts, isa.Reg{File: isa.RegUGPR, Index: uint32(r), Count: 1})
		}
		l := Liveness(code, Analyze(code))
		if l.Complete {
			t.Error("complete")
		}
		if l.MaxLive != 2 {
			t.Errorf("%d general registers live, want 2", l.MaxLive)
		}
		// For the last registers the only information is the range from definition
		// to use, and the estimate uses that.
		if got := l.Max(isa.RegUGPR); got != 50*64 {
			t.Errorf("%d uniform registers live, want %d", got, 50*64)
		}
		if got := []int{l.At(0, isa.RegUGPR), l.At(1, isa.RegUGPR), l.At(n-2, isa.RegUGPR), l.At(n-1, isa.RegUGPR)}; !slices.Equal(got, []int{0, 3200, 3200, 0}) {
			t.Errorf("uniform registers in use: %v", got)
		}
	})
	t.Run("depth", func(t *testing.T) {
		g := Analyze(shapes[0].make(n))
		if got := g.Depth(g.BlockOf(n / 2)); got != n/2 {
			t.Errorf("the innermost of %d loops has depth %d", n/2, got)
		}
	})
}

func BenchmarkAnalyze(b *testing.B) {
	for _, shape := range shapes {
		b.Run(strings.ReplaceAll(shape.name, " ", "-"), func(b *testing.B) {
			code := withRegisters(shape.make(50_000))
			b.ReportAllocs()
			for b.Loop() {
				Analyze(code)
			}
		})
	}
}

func BenchmarkLiveness(b *testing.B) {
	for _, shape := range shapes {
		b.Run(strings.ReplaceAll(shape.name, " ", "-"), func(b *testing.B) {
			code := withRegisters(shape.make(50_000))
			g := Analyze(code)
			b.ReportAllocs()
			for b.Loop() {
				Liveness(code, g)
			}
		})
	}
}

// FuzzAnalyze takes three bytes for each instruction: flow and guard, and a
// target.
func FuzzAnalyze(f *testing.F) {
	f.Add([]byte{2, 0, 0})
	f.Add([]byte{0x12, 0, 2, 0, 0, 0, 0x12, 0, 1, 4, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		var code []isa.Inst
		for ; len(data) >= 3 && len(code) < 1000; data = data[3:] {
			target := int32(data[1])<<8 | int32(data[2])
			code = append(code, isa.Inst{
				Flow: isa.Flow(data[0] & 7), Guarded: data[0]&16 != 0, Targets: []int32{target, target ^ 1},
				Dsts: []isa.Reg{{File: isa.RegFile(data[1]), Index: uint32(data[2]), Count: data[0]}},
				Srcs: []isa.Reg{{File: isa.RegFile(data[2] & 3), Index: uint32(data[1]), Count: data[0]}},
			})
		}
		g := Analyze(code)
		l := Liveness(code, g)
		for pc := range code {
			if m := g.Reconverge(pc); m != Exit && g.BlockOf(m) == Exit {
				t.Fatalf("lanes meet outside the code, at %d", m)
			}
			l.At(pc, isa.RegGPR)
		}
		if err := g.DOT(io.Discard, "fuzz", func(pc int) string { return fmt.Sprint(pc) }); err != nil {
			t.Fatal(err)
		}
	})
}
