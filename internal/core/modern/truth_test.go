package modern

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/isa"
)

// The tests of this file are measurements on hardware (MICRO 2025), under the names of
// the project's list of measurements.

// Listing 1: sources in one bank.
func TestListing1(t *testing.T) {
	for _, c := range []struct {
		name string
		x, y int
		nop  bool
		want uint64
	}{
		{"listing1_RX19_RY21", 19, 21, true, 5}, {"listing1_RX18_RY21", 18, 21, true, 6},
		{"listing1_RX18_RY20", 18, 20, true, 7}, {"listing1_without_last_nop", 18, 20, false, 4},
	} {
		code := []*inst{clock(1), nop(), ffma(11, 10, 12, 14), ffma(13, 16, c.x, c.y)}
		if c.nop {
			code = append(code, nop())
		}
		last := len(code)
		p := prog(append(code, clock(2), exit())...)
		newRig(t, warm()).run(p, 200)
		if got := p.at(0, last, 0) - p.at(0, 0, 0); got != c.want {
			t.Errorf("%s: %d cycles between the clocks, measured %d", c.name, got, c.want)
		}
	}
}

// Listing 2: a stall counter that is too small reads the old value.
func TestListing2(t *testing.T) {
	for _, c := range []struct {
		stall  int
		cycles float64
		r5     float64
	}{{1, 5, 2}, {4, 8, 6}} {
		one := func(d int) *inst { return set(d, 1) }
		p := prog(
			one(1), one(2), one(3).stall(2), clock(14), nop(),
			fadd(1, 2, 3).stall(c.stall), ffma(5, 1, 1, 1), nop(), clock(24), exit())
		p.init = map[int]float64{1: 1, 2: 1, 3: 1, 4: 1}
		newRig(t, warm()).run(p, 200)
		w := p.ended[0]
		if got := w.reg[24] - w.reg[14]; got != c.cycles {
			t.Errorf("stall %d: %v cycles, measured %v", c.stall, got, c.cycles)
		}
		if w.reg[5] != c.r5 {
			t.Errorf("stall %d: R5 = %v, measured %v", c.stall, w.reg[5], c.r5)
		}
	}
}

// Listing 3: a consumer of variable latency needs one more cycle.
func TestListing3(t *testing.T) {
	for _, c := range []struct {
		second, third int
		want          float64 // value of R41 that the load reads
	}{{4, 5, 7}, {4, 4, -1}, {3, 5, -2}} {
		load := ld(isa.Global, 32, 36, 40).wr(0)
		load.Srcs = []isa.Reg{gpr(40, 1), gpr(41, 1)}
		load.does(func(a []float64) float64 { return a[1] })
		p := prog(mov(40, 16), mov(43, 17).stall(c.second), mov(41, 43).stall(c.third), load, nop().wait(1), exit())
		p.init = map[int]float64{17: 7, 41: -1, 43: -2}
		newRig(t, warm()).run(p, 400)
		if got := p.ended[0].reg[36]; got != c.want {
			t.Errorf("stalls %d and %d: the load uses address %v, want %v", c.second, c.third, got, c.want)
		}
	}
}

// Listing 4: the register-file cache.
func TestListing4(t *testing.T) {
	for _, c := range []struct {
		name   string
		second *inst
		hits   []int // instructions whose R2 hits
	}{
		{"listing4_ex1", ffma(5, 2, 7, 8), []int{1}},
		{"listing4_ex2", ffma(5, 2, 7, 8).reuse(1), []int{1, 2}},
		{"listing4_ex3", ffma(5, 7, 2, 8), []int{2}},
		{"listing4_ex4", ffma(5, 4, 7, 8), nil},
	} {
		p := prog(iadd3(1, 2, 3, 4).reuse(1), c.second, iadd3(10, 2, 12, 13), exit())
		g := newRig(t, warm())
		g.run(p, 200)
		// Without hits each reads three registers.
		if got, want := g.core.Stats.OperandReads, uint64(9-len(c.hits)); got != want || g.core.Stats.ReuseHits != 9-want {
			t.Errorf("%s: %d registers read, want %d", c.name, got, want)
		}
	}
}

func TestBubbles(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func(i int) *inst
		each int // cycles per instruction
	}{
		{"bubbles_fmul_same_bank", func(i int) *inst { return fmul(20+2*i%8, 2, 4) }, 2},
		{"bubbles_fmul_diff_bank", func(i int) *inst { return fmul(20+2*i%8, 2, 5) }, 1},
		{"bubbles_ffma_three_same_bank", func(i int) *inst { return ffma(20+2*i%8, 2, 4, 6) }, 3},
	} {
		var code []*inst
		for i := range 40 {
			code = append(code, c.f(i))
		}
		p := prog(append(code, exit())...)
		newRig(t, warm()).run(p, 500)
		if got := p.at(0, 36, 0) - p.at(0, 6, 0); got != uint64(30*c.each) {
			t.Errorf("%s: %d cycles for 30 instructions, measured %d each", c.name, got, c.each)
		}
	}
}

// latency_independent_of_conflicts: port conflicts do not change the stall that
// a producer needs.
func TestLatencyOfConflicts(t *testing.T) {
	for _, c := range []struct {
		stall int
		want  float64
	}{{3, 0}, {4, 12}} {
		p := prog(fmul(30, 20, 22), fmul(31, 20, 22), fmul(32, 20, 22), ffma(5, 2, 4, 6).stall(c.stall), fadd(7, 5, 60), exit())
		p.init = map[int]float64{2: 2, 4: 3, 6: 6}
		newRig(t, warm()).run(p, 200)
		if got := p.ended[0].reg[7]; got != c.want {
			t.Errorf("stall %d: %v, want %v", c.stall, got, c.want)
		}
	}
}

// Table 1: issue cycles of independent memory instructions that hit.
func TestTable1(t *testing.T) {
	want := [4][8][]uint64{
		{{2}, {3}, {4}, {5}, {6}, {13}, {17}, {21}},
		{{2, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 6}, {13, 15}, {17, 19}, {21, 23}},
		{{2, 2, 2}, {3, 3, 3}, {4, 4, 4}, {5, 5, 5}, {6, 6, 6}, {13, 15, 17}, {19, 21, 23}, {25, 27, 29}},
		{{2, 2, 2, 2}, {3, 3, 3, 3}, {4, 4, 4, 4}, {5, 5, 5, 5}, {6, 6, 6, 6}, {13, 15, 17, 19}, {21, 23, 25, 27}, {29, 31, 33, 35}},
	}
	steady := [4]uint64{4, 4, 6, 8}
	for _, kind := range []struct {
		name string
		f    func(i int) *inst
	}{
		{"LDG", func(i int) *inst { return ld(isa.Global, 32, 10+2*i, 2) }},
		{"LDS", func(i int) *inst { return ld(isa.Shared, 32, 10+2*i, 2) }},
		{"STG", func(i int) *inst { return st(isa.Global, 32, 2, 4) }},
		{"STS", func(i int) *inst { return st(isa.Shared, 32, 2, 4) }},
	} {
		for n := 1; n <= 4; n++ {
			code := []*inst{ld(isa.Global, 32, 8, 2).wr(0), nop().stall(15).yield(), nop().wait(1).stall(15).yield(), nop(), bar(), nop().stall(15).yield()}
			first := len(code)
			for i := range 14 {
				code = append(code, kind.f(i))
			}
			p := prog(append(code, exit())...)
			p.warps, p.smem = n, 4096
			newRig(t, warm()).run(p, 2000)
			for i := range 14 {
				for w := range n {
					got := p.at(w, first+i, 0) - p.at(0, first, 0) + 2
					var exp uint64
					if i < 8 {
						exp = want[n-1][i][w]
					} else {
						exp = want[n-1][7][w] + uint64(i-7)*steady[n-1]
					}
					// Which sub-core is first is not known: the measured cycles are
					// sorted.
					if got != exp {
						t.Errorf("%s, %d sub-cores, instruction %d of sub-core %d: issued at %d, measured %d", kind.name, n, i+1, w, got, exp)
					}
				}
			}
		}
	}
}

// Table 2: latencies of memory instructions that hit. The core counts from issue to
// issue, one cycle less than the table, unless AsPrinted.
func TestTable2(t *testing.T) {
	type row struct {
		name     string
		in       *inst
		war, raw uint64
	}
	var rows []row
	add := func(name string, war, raw [3]uint64, f func(bits int) *inst) {
		for i := range 3 {
			rows = append(rows, row{name + [...]string{".32", ".64", ".128"}[i], f(32 << i), war[i], raw[i]})
		}
	}
	add("LDG uniform", [3]uint64{9, 9, 9}, [3]uint64{29, 31, 35}, func(b int) *inst { return ld(isa.Global, b, 8, -1) })
	add("LDG", [3]uint64{11, 11, 11}, [3]uint64{32, 34, 38}, func(b int) *inst { return ld(isa.Global, b, 8, 2) })
	add("STG uniform", [3]uint64{10, 12, 16}, [3]uint64{}, func(b int) *inst { return st(isa.Global, b, -1, 4) })
	add("STG", [3]uint64{14, 16, 20}, [3]uint64{}, func(b int) *inst { return st(isa.Global, b, 2, 4) })
	add("LDS uniform", [3]uint64{9, 9, 9}, [3]uint64{23, 23, 25}, func(b int) *inst { return ld(isa.Shared, b, 8, -1) })
	add("LDS", [3]uint64{9, 9, 9}, [3]uint64{24, 24, 26}, func(b int) *inst { return ld(isa.Shared, b, 8, 2) })
	add("STS uniform", [3]uint64{10, 12, 16}, [3]uint64{}, func(b int) *inst { return st(isa.Shared, b, -1, 4) })
	add("STS", [3]uint64{12, 14, 18}, [3]uint64{}, func(b int) *inst { return st(isa.Shared, b, 2, 4) })
	rows = append(rows, row{"LDC.32 immediate", ldc(8, -1), 10, 26}, row{"LDC.32", ldc(8, 2), 29, 29})
	wide := ldc(8, 2)
	wide.Dsts[0].Count, wide.Width = 2, 8
	rows = append(rows, row{"LDC.64", wide, 29, 29})
	add("LDGSTS", [3]uint64{13, 13, 13}, [3]uint64{39, 39, 39}, func(b int) *inst {
		in := ld(isa.Global, b, 8, 2)
		in.Op, in.Class, in.Store, in.Dsts = "LDGSTS.E", isa.ClassCopy, true, nil
		in.Async = asyncStart
		in.Srcs = append(in.Srcs, gpr(4, 1))
		return in
	})
	for _, printed := range []bool{false, true} {
		cfg := warm()
		cfg.AsPrinted = printed
		less := uint64(1)
		if printed {
			less = 0
		}
		for _, r := range rows {
			measure := func(write, read int, mask uint8) uint64 {
				in := *r.in
				ctl := *in.Control
				in.Control = &ctl
				in.stall(2).wr(write).rd(read)
				// The first access fills the line.
				pre := *r.in
				pc := *pre.Control
				pre.Control = &pc
				pre.stall(2).wr(5)
				p := prog(&pre, nop().wait(1<<5).stall(15).yield(), nop().stall(15).yield(), nop().stall(15).yield(), &in, iadd3(30, 31, 33).wait(mask), exit())
				p.smem = 1 << 14
				newRig(t, cfg).run(p, 2000)
				return p.at(0, 5, 0) - p.at(0, 4, 0)
			}
			if got := measure(isa.NoCounter, 0, 1); got != r.war-less {
				t.Errorf("%s: WAR %d, Table 2 has %d", r.name, got, r.war)
			}
			if r.raw != 0 {
				if got := measure(1, isa.NoCounter, 2); got != r.raw-less {
					t.Errorf("%s: RAW %d, Table 2 has %d", r.name, got, r.raw)
				}
			}
		}
	}
}

// Figure 2: the timeline of three loads, a DEPBAR and their consumers.
func TestFigure2(t *testing.T) {
	pre := ld(isa.Global, 32, 40, 12).stall(2).wr(5)
	one := func(d, a int) *inst {
		in := ld(isa.Global, 32, d, a)
		in.Srcs[0].Count = 1
		return in
	}
	p := prog(
		pre, nop().wait(1<<5).stall(15).yield(), nop().stall(15).yield(),
		one(5, 12).wr(3), one(7, 2).wr(3).rd(0), one(15, 6).wr(4).rd(0).stall(2),
		iadd3(18, 18, 18, 18), waitSB(0, 1).stall(4), iadd3(2, 21, 23, 24), iadd3(6, 5, 7, 1).wait(1<<0|1<<3), exit())
	newRig(t, warm()).run(p, 2000)
	for i, want := range []uint64{1, 2, 3, 5, 6, 15, 36} {
		if got := p.at(0, 3+i, 0) - p.at(0, 3, 0) + 1; got != want {
			t.Errorf("instruction %d issued in cycle %d, measured %d", i, got, want)
		}
	}
}

// segments are the time intervals in which a warp issues.
type segment struct {
	warp       int
	start, end uint64
}

func segmentsOf(p *program, first int) []segment {
	var list []segment
	t0 := uint64(0)
	for _, x := range p.log {
		if x.pc < first || x.pc >= first+32 {
			continue
		}
		if t0 == 0 {
			t0 = x.cycle
		}
		n := len(list)
		if n > 0 && list[n-1].warp == x.warp/4 && list[n-1].end == x.cycle-t0 {
			list[n-1].end++
			continue
		}
		list = append(list, segment{x.warp / 4, x.cycle - t0, x.cycle - t0 + 1})
	}
	return list
}

// Figure 4: four warps on a sub-core. In case a W3's 17th instruction is not in the L0I;
// that it is this instruction, and that it arrives before W2 needs it, are inputs. Case
// b ends at 131 or 132 (the file's note).
func TestFigure4(t *testing.T) {
	for _, c := range []struct {
		name   string
		second func(*inst)
		want   []segment
	}{
		{"a", func(*inst) {}, []segment{{3, 0, 16}, {2, 16, 48}, {3, 48, 64}, {1, 64, 96}, {0, 96, 128}}},
		{"b", func(in *inst) { in.stall(4) },
			[]segment{{3, 0, 2}, {2, 2, 4}, {1, 4, 6}, {3, 6, 36}, {2, 36, 66}, {1, 66, 96}, {0, 96, 98}, {0, 102, 132}}},
		{"c", func(in *inst) { in.yield() },
			[]segment{{3, 0, 2}, {2, 2, 4}, {3, 4, 34}, {2, 34, 64}, {1, 64, 66}, {0, 66, 68}, {1, 68, 98}, {0, 98, 128}}},
	} {
		// After a barrier all begin with full buffers. The first of the 32 is a long
		// load, for which the warp's end waits.
		code := []*inst{nop()}
		for len(code) < 15 {
			code = append(code, nop())
		}
		code = append(code, mk("BAR.SYNC", isa.ClassBranch, -1).stall(15).yield())
		code[15].Barrier = true
		first := len(code)
		for i := range 32 {
			in := fadd(20+i%8, 2, 3)
			if i == 0 {
				in = ld(isa.Global, 32, 40, 2).wr(5)
			}
			if c.name == "a" {
				in.stall(0)
			}
			if i == 1 {
				c.second(in)
			}
			code = append(code, in)
		}
		p := prog(append(code, exit().wait(1<<5))...)
		p.warps = 16
		cfg := warm()
		cfg.KeepCode = true
		if c.name == "a" {
			cfg.PerfectICache = false
			cfg.LinkUp, cfg.LinkDown = 6, 6
		}
		g := newRig(t, cfg)
		g.delay = 600
		if c.name == "a" {
			g.run(p, 5000) // fills the L1I with the code
			p.log = nil
			g.core.L1D().Invalidate()
			line := uint64(instBase) / 128
			for i := range g.core.subs {
				s := &g.core.subs[i]
				s.l0i.clear()
				for k := range uint64(first+16) * 16 / 128 {
					s.l0i.put(line + k)
				}
			}
		}
		g.run(p, 5000)
		var only []issued
		for _, x := range p.log {
			if x.warp%4 == 0 {
				only = append(only, x)
			}
		}
		p.log = only
		got := segmentsOf(p, first)
		ok := len(got) == len(c.want)
		for i := range got {
			near := func(a, b uint64) bool { return a+1 >= b && b+1 >= a }
			ok = ok && got[i].warp == c.want[i].warp && near(got[i].start, c.want[i].start) && near(got[i].end, c.want[i].end)
		}
		if !ok {
			t.Errorf("case %s: warps issue in %v, measured %v", c.name, got, c.want)
		}
	}
}

// distance runs code and returns the cycles between the issues of two of its
// instructions.
func distance(t *testing.T, cfg Config, a, b int, code ...*inst) uint64 {
	t.Helper()
	p := prog(append(code, exit())...)
	p.smem = 1 << 14
	newRig(t, cfg).run(p, 5000)
	return p.at(0, b, 0) - p.at(0, a, 0)
}

// Special stalls.
func TestStalls(t *testing.T) {
	for s := range 16 {
		want := uint64(max(s, 1))
		if s > 11 {
			want = 2 // stall_gt11_no_yield: 1 or 2 cycles
		}
		if got := distance(t, warm(), 0, 1, nop().stall(s), nop()); got != want {
			t.Errorf("stall %d: %d cycles, want %d", s, got, want)
		}
		want = uint64(s)
		switch s {
		case 0:
			want = 45 // stall0_yield1
		case 1:
			want = 2 // yield_alone: one bubble
		}
		if got := distance(t, warm(), 0, 1, nop().stall(s).yield(), nop()); got != want {
			t.Errorf("stall %d with yield: %d cycles, want %d", s, got, want)
		}
	}
	if got := distance(t, warm(), 0, 1, clock(1), clock(2)); got != 2 {
		t.Errorf("clock_back_to_back: %d cycles, want 2", got)
	}
}

// depcounter_visibility: a counter incremented in Control does not hold the next
// instruction unless the producer stalls for two cycles or yields.
func TestCounterVisibility(t *testing.T) {
	for _, c := range []struct {
		name string
		in   func(*inst) *inst
		held bool
	}{{"stall 1", func(in *inst) *inst { return in }, false}, {"stall 2", func(in *inst) *inst { return in.stall(2) }, true},
		{"yield", func(in *inst) *inst { return in.yield() }, true}} {
		got := distance(t, warm(), 0, 1, c.in(ld(isa.Global, 32, 8, 2).wr(0)), nop().wait(1))
		if (got > 20) != c.held {
			t.Errorf("%s: the consumer issues %d cycles after the load", c.name, got)
		}
	}
}

// depbar_min_stall and depbar_semantics.
func TestDepbar(t *testing.T) {
	for s := 1; s <= 6; s++ {
		got := distance(t, warm(), 1, 2, ld(isa.Global, 32, 8, 2).wr(0).stall(2), waitSB(0, 0).stall(s), nop())
		if held := got > 20; held != (s >= 4) {
			t.Errorf("stall %d: the instruction after the DEPBAR issues %d cycles later", s, got)
		}
	}
	// SB1 may remain at 3; SB4, SB3 and SB2 must be 0.
	load := func(sb int) *inst { return ld(isa.Shared, 32, 10+2*sb, 2).wr(sb).stall(2) }
	for _, c := range []struct {
		name  string
		loads []int
		held  bool
	}{{"three on SB1", []int{1, 1, 1}, false}, {"four on SB1", []int{1, 1, 1, 1}, true}, {"one on SB3", []int{3}, true}, {"one on SB5", []int{5}, false}} {
		var code []*inst
		for _, sb := range c.loads {
			code = append(code, load(sb))
		}
		bar := waitSB(1, 3).stall(4)
		bar.Depbar.Zero = 1<<4 | 1<<3 | 1<<2
		code = append(code, bar, nop())
		got := distance(t, warm(), len(c.loads), len(c.loads)+1, code...)
		if (got > 4) != c.held {
			t.Errorf("%s: the instruction after the DEPBAR issues %d cycles later", c.name, got)
		}
	}
}

// withConst gives an instruction of fixed latency a constant operand.
func withConst(in *inst, offset int) *inst {
	in.Const = &isa.ConstRef{Offset: uint32(offset)}
	return in
}

// const_fl_miss: a constant that an LDC has loaded is not in the cache of instructions
// of fixed latency, and arrives from level 1.5 after 79 cycles; the second access hits.
func TestConstMiss(t *testing.T) {
	cfg := warm()
	cfg.PerfectConst = false
	code := []*inst{ldc(8, -1).wr(0).stall(2), nop().wait(1), nop(), withConst(iadd3(9, 2), 0x160), withConst(iadd3(10, 2), 0x160).stall(2), nop()}
	if got := distance(t, cfg, 2, 3, code...); got != 1+79 {
		t.Errorf("an instruction that could issue after 1 cycle waits for its constant until %d; measured 79 more", got)
	}
	if got := distance(t, cfg, 3, 4, code...); got != 2 && got != 1 {
		t.Errorf("a hit delays an instruction: %d cycles", got)
	}
}

// const_fl_miss_switch: nothing issues for four cycles, then the youngest other warp
// does.
func TestConstSwitch(t *testing.T) {
	cfg := warm()
	cfg.PerfectConst = false
	code := []*inst{ldc(8, -1).wr(0).stall(2), nop().wait(1), bar().stall(2), nop(), nop(), nop()}
	miss := len(code)
	code = append(code, withConst(iadd3(9, 2), 0x160))
	for range 120 {
		code = append(code, nop())
	}
	p := prog(append(code, exit())...)
	p.warps = 12 // three on a sub-core
	// Only the youngest of sub-core 0 uses the constant.
	young := 8
	p.only = map[int]int{miss: young}
	newRig(t, cfg).run(p, 5000)
	last := p.at(young, miss-1, 0)
	next := map[int]uint64{}
	for _, x := range p.log {
		if _, ok := next[x.warp]; x.warp%4 == 0 && x.cycle > last && !ok {
			next[x.warp] = x.cycle - last - 1
		}
	}
	if next[4] != 4 || p.at(4, miss-1, 0) <= last {
		t.Errorf("warp 4, the youngest other, issues %d cycles after the miss, measured 4", next[4])
	}
	if next[young] < 79 {
		t.Errorf("the warp that misses issues %d cycles after the miss", next[young])
	}
}

// ib_size3: a single warp issues one instruction per cycle with a buffer of three, but
// not with a buffer of two.
func TestBufferSize(t *testing.T) {
	for n, want := range map[int]uint64{2: 45, 3: 30, 4: 30} {
		cfg := warm()
		cfg.Buffer = n
		var code []*inst
		for range 40 {
			code = append(code, nop())
		}
		if got := distance(t, cfg, 6, 36, code...); got != want {
			t.Errorf("a buffer of %d: 30 instructions in %d cycles, want %d", n, got, want)
		}
	}
}

// wb_fixed_vs_load: a load that would write in the cycle of a result of fixed
// latency to the same bank is delayed by one cycle.
func TestWriteConflict(t *testing.T) {
	for _, dst := range []int{20, 21} {
		delayed := 0
		for gap := range 40 {
			code := []*inst{ld(isa.Shared, 32, 8, 2).wr(0).stall(2)}
			for range gap {
				code = append(code, nop())
			}
			code = append(code, set(dst, 1))
			for range 40 - gap {
				code = append(code, nop())
			}
			// Another waits for the load; the nops between do not write.
			wait := nop().wait(1)
			list := append([]*inst{}, code[:gap+2]...)
			list = append(list, wait)
			switch got := distance(t, warm(), 0, gap+2, list...); got {
			case 23:
			case 24:
				if gap < 21 {
					delayed++
				}
			default:
				if gap < 21 {
					t.Errorf("gap %d: the load takes %d cycles", gap, got)
				}
			}
		}
		want := 0
		if dst&1 == 0 {
			want = 1
		}
		if delayed != want {
			t.Errorf("R%d and the load's R8: the load is delayed for %d of the distances, want %d", dst, delayed, want)
		}
	}
}

// wb_fixed_vs_fixed: HADD2 and FFMA that end in the same cycle delay no instruction.
func TestResultQueue(t *testing.T) {
	for _, c := range []struct {
		stall int
		want  float64
	}{{4, 12}, {3, 0}} {
		p := prog(hadd2(10, 2, 4), ffma(12, 2, 4, 6).stall(c.stall), fadd(14, 12, 60), mov(16, 10), exit())
		p.init = map[int]float64{2: 2, 4: 3, 6: 6}
		newRig(t, warm()).run(p, 300)
		w := p.ended[0]
		if w.reg[14] != c.want || w.reg[16] != 5 && c.stall == 4 {
			t.Errorf("stall %d: FFMA's consumer has %v, want %v; HADD2's %v", c.stall, w.reg[14], c.want, w.reg[16])
		}
	}
}
