package modern

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/isa"
)

func check(t *testing.T, p *program) []core.Hazard {
	t.Helper()
	cfg := warm()
	g := newRig(t, cfg)
	g.core.CheckHazards()
	g.run(p, 20_000)
	return g.core.Hazards()
}

func TestHazardsNamed(t *testing.T) {
	for _, c := range []struct {
		name string
		code []*inst
		want []string // substrings of the hazards, in order
	}{
		{"listing 2, stall 1", []*inst{fadd(1, 2, 3), ffma(5, 1, 1, 1), nop(), exit()},
			[]string{"read after write of R1: FFMA (line 2) after FADD (line 1), block 0 warp 0 lane 0, 3 cycles too soon; line 1 needs [B------:R-:W-:-:S04]"}},
		{"listing 2, stall 4", []*inst{fadd(1, 2, 3).stall(4), ffma(5, 1, 1, 1), nop(), exit()}, nil},
		{"listing 3, stall 4", []*inst{mov(2, 4).stall(4), ld(isa.Global, 32, 8, 2).wr(0).stall(2), nop().wait(1), exit()},
			[]string{"read after write of R2: LDG.E (line 2) after MOV (line 1), block 0 warp 0 lane 0, 1 cycles too soon; line 1 needs [B------:R-:W-:-:S05]"}},
		{"missing wait", []*inst{ld(isa.Shared, 32, 8, 2).wr(1).stall(2), mov(9, 8), nop().wait(2), exit()},
			[]string{"read after write of R8: MOV (line 2) after LDS (line 1), block 0 warp 0 lane 0, 21 cycles too soon; line 2 needs [B-1----:R-:W-:-:S01]"}},
		{"wait too close", []*inst{ld(isa.Shared, 32, 8, 2).wr(1), mov(9, 8).wait(2), nop().wait(2), exit()},
			[]string{"line 1 needs [B------:R-:W1:-:S02]"}},
		{"no counter", []*inst{ld(isa.Shared, 32, 8, 2), mov(9, 8), nop().stall(15).yield(), nop().stall(15).yield(), exit()},
			[]string{"line 1 needs [B------:R-:W0:-:S02]; line 2 needs [B0-----:R-:W-:-:S01]"}},
		{"late enough but not waited for", []*inst{ld(isa.Shared, 32, 8, 2).wr(0).stall(15).yield(), nop().stall(15).yield(), mov(9, 8), exit()},
			[]string{"not waited for; line 3 needs [B0-----:R-:W-:-:S01]"}},
		{"overwritten too soon", []*inst{ld(isa.Shared, 32, 8, 2).wr(0).rd(1).stall(2), mov(2, 4), nop().wait(1), exit()},
			[]string{"write after read of R2: MOV (line 2) after LDS (line 1), block 0 warp 0 lane 0, 6 cycles too soon; line 2 needs [B-1----:R-:W-:-:S01]"}},
		{"result overwritten", []*inst{ld(isa.Shared, 32, 8, 2).wr(0).stall(2), mov(8, 4), nop().wait(1), exit()},
			[]string{"write after write of R8"}},
		{"slow before fast", []*inst{hadd2(8, 2, 4), mov(8, 3), nop(), exit()}, []string{"write after write of R8: MOV (line 2) after HADD2 (line 1), block 0 warp 0 lane 0, 1 cycles too soon"}},
		{"other lanes", func() []*inst {
			a, b := fadd(1, 2, 3), ffma(5, 1, 1, 1)
			a.dead, b.dead = 0xffff, 0xffff0000
			return []*inst{a, b, nop(), exit()}
		}(), nil},
		{"guard of an exit, whose old value says that no lane takes it", []*inst{mk("ISETP", isa.ClassSetp, -1, 2, 3).to(reg(isa.RegPred, 0)), exit().guard(reg(isa.RegPred, 0), isa.FullMask), nop(), exit()},
			[]string{"read after write of P0: EXIT (line 2) after ISETP (line 1), block 0 warp 0 lane 0, 12 cycles too soon; line 1 needs [B------:R-:W-:Y:S13]"}},
		{"guard of a branch", []*inst{mk("ISETP", isa.ClassSetp, -1, 2, 3).to(reg(isa.RegPred, 0)).stall(5), bra(2, 0).guard(reg(isa.RegPred, 0), isa.FullMask), nop(), exit()},
			[]string{"read after write of P0: BRA (line 2) after ISETP (line 1), block 0 warp 0 lane 0, 8 cycles too soon"}},
		{"guard of a load, late enough", []*inst{mk("ISETP", isa.ClassSetp, -1, 2, 3).to(reg(isa.RegPred, 0)).stall(13).yield(),
			ld(isa.Shared, 32, 8, 2).guard(reg(isa.RegPred, 0), 1).wr(0).stall(2), nop().wait(1), exit()}, nil},
		{"carry", []*inst{iadd3(8, 2, 3).to(reg(isa.RegPred, 1)).stall(2), iadd3(9, 4, 5).from(reg(isa.RegPred, 1)), nop(), exit()},
			[]string{"read after write of P1: IADD3 (line 2) after IADD3 (line 1), block 0 warp 0 lane 0, 2 cycles too soon; line 1 needs [B------:R-:W-:-:S04]"}},
		{"uniform register", []*inst{mk("UIADD3", isa.ClassUniform, -1).to(reg(isa.RegUGPR, 4)), iadd3(9, 4).from(reg(isa.RegUGPR, 4)), nop(), exit()},
			[]string{"read after write of UR4: IADD3 (line 2) after UIADD3 (line 1), block 0 warp 0 lane 0, 5 cycles too soon"}},
		{"a barrier waits for counters", []*inst{ld(isa.Shared, 32, 8, 2).wr(0).stall(2), bar(), mov(9, 8), nop(), exit()}, nil},
		{"a barrier waits for no MUFU without a counter", []*inst{mk("MUFU", isa.ClassSFU, 8, 2).does(func(x []float64) float64 { return x[0] }), bar(), mov(2, 4), nop().stall(15).yield(), nop().stall(15).yield(), exit()},
			[]string{"write after read of R2: MOV (line 3) after MUFU (line 1)"}},
		{"half of the lanes written twice", func() []*inst {
			a := fadd(1, 2, 3)
			b := fadd(1, 2, 3).guard(reg(isa.RegPred, 0), 0xffff)
			return []*inst{a, b, ffma(5, 1, 1, 1), nop(), exit()}
		}(), []string{"R1: FFMA (line 3) after FADD (line 1), block 0 warp 0 lane 0, 2 cycles", "R1: FFMA (line 3) after FADD (line 2), block 0 warp 0 lane 16, 3 cycles"}},
		// The first time after a taken branch, whose target must be fetched, then without:
		// two more cycles too soon, and another previous instruction.
		{"the worst of two times", []*inst{mk("ISETP", isa.ClassSetp, -1, 2, 3).to(reg(isa.RegPred, 0)), bra(3, 1), nop(), exit().guard(reg(isa.RegPred, 0), isa.FullMask), bra(0, 1).stall(13).yield(), exit()},
			[]string{"10 cycles too soon; line 2 needs [B------:R-:W-:Y:S12]; line 3 needs [B------:R-:W-:-:S11]"}},
		// The load delays the guarded instruction by 5 of the 12 cycles; the stall in the
		// fix is 13 nevertheless.
		{"delayed by something else, not long enough", []*inst{ld(isa.Shared, 32, 20, 2).wr(0).stall(2), nop().stall(11), nop().stall(4),
			mk("ISETP", isa.ClassSetp, -1, 2, 3).to(reg(isa.RegPred, 0)), exit().guard(reg(isa.RegPred, 0), isa.FullMask).wait(1), exit()},
			[]string{"7 cycles too soon; line 4 needs [B------:R-:W-:Y:S13]"}},
		{"DEPBAR", []*inst{ld(isa.Shared, 32, 8, 2).wr(0), ld(isa.Shared, 32, 10, 2).wr(0).stall(2), waitSB(0, 1).stall(4), mov(12, 8), mov(13, 10), nop().wait(1), exit()},
			[]string{"read after write of R10: MOV (line 5) after LDS (line 2)"}},
		{"DEPBAR of loads that end in any order", []*inst{ld(isa.Global, 32, 8, 2).wr(0), ld(isa.Global, 32, 10, 2).wr(0).stall(2), waitSB(0, 1).stall(4), mov(12, 8), mov(13, 10), nop().wait(1), exit()},
			[]string{"read after write of R8: MOV (line 4) after LDG", "read after write of R10: MOV (line 5) after LDG"}},
		{"DEPBAR of all loads", []*inst{ld(isa.Global, 32, 8, 2).wr(0), ld(isa.Global, 32, 10, 2).wr(0).stall(2), waitSB(0, 0).stall(4), mov(12, 8), mov(13, 10), nop().wait(1), exit()}, nil},
		{"a fix with yield drops the reuse bits, which share their place", func() []*inst {
			a := mk("ISETP", isa.ClassSetp, -1, 2, 3).to(reg(isa.RegPred, 0))
			a.Control.Reuse = 1
			return []*inst{a, exit().guard(reg(isa.RegPred, 0), isa.FullMask), nop(), exit()}
		}(), []string{"line 1 needs [B------:R-:W-:Y:S13]"}},
	} {
		got := check(t, prog(c.code...))
		if len(got) != len(c.want) {
			t.Errorf("%s: %d hazards, want %d", c.name, len(got), len(c.want))
			for i := range got {
				t.Log(got[i].String())
			}
			continue
		}
		for i := range got {
			if !strings.Contains(got[i].String(), c.want[i]) {
				t.Errorf("%s: %s\nwant %s", c.name, got[i].String(), c.want[i])
			}
			for _, f := range got[i].Fixes {
				if f.Control.Yield && f.Control.Reuse != 0 {
					t.Errorf("%s: %s cannot be written with reuse", c.name, f.Control)
				}
			}
		}
	}
}

// reg returns a register of any file.
func reg(f isa.RegFile, n int) isa.Reg { return isa.Reg{File: f, Count: 1, Index: uint32(n)} }

// to and from add registers of other files to the destinations and sources of an
// instruction.
func (in *inst) to(r ...isa.Reg) *inst   { in.Dsts = append(in.Dsts, r...); return in }
func (in *inst) from(r ...isa.Reg) *inst { in.Srcs = append(in.Srcs, r...); return in }

// guard gives an instruction a guard that is false in the dead lanes.
func (in *inst) guard(r isa.Reg, dead isa.LaneMask) *inst {
	in.Guarded, in.dead = true, dead
	return in.from(r)
}

// latencyOf returns the cycles from an instruction of fixed latency to a consumer, from
// the table of the specification.
func latencyOf(in *isa.Inst) int {
	switch in.Class {
	case isa.ClassHalf:
		return 5
	case isa.ClassSetp:
		return 13
	}
	return 4
}

// apart returns the cycles from an instruction of fixed latency to one that reads its
// result, a predicate or another register: those that NVIDIA's compiler leaves for sm_86 and
// sm_89.
func apart(first, second *isa.Inst, predicate bool) int {
	memory := late(second) && second.Class != isa.ClassSFU
	if predicate {
		if second.Guarded {
			return 13
		}
		if second.Class == isa.ClassFP32 { // FADD with a predicate stands for IMAD.X
			return 5
		}
		return 4
	}
	switch first.Class {
	case isa.ClassUniform:
		switch {
		case late(second):
			return 9
		case second.Class == isa.ClassUniform:
			return 4
		}
		return 6
	case isa.ClassHalf:
		if second.Class == isa.ClassSFU {
			return 4
		}
		return 5
	}
	integer := func(in *isa.Inst) bool {
		return in.Class == isa.ClassInt || in.Class == isa.ClassSetp || in.Class == isa.ClassPred
	}
	if memory || second.Class == isa.ClassHalf || integer(first) && second.Class == isa.ClassFP32 || first.Class == isa.ClassFP32 && integer(second) {
		return 5
	}
	return 4
}

// random draws an instruction: arithmetic, comparisons, carries, uniform registers,
// loads and stores, guards, branches, exits that no lane takes, barriers.
func random(r *rand.Rand) *inst {
	g := func() int { return 2 + r.IntN(10) }
	p := func() isa.Reg { return reg(isa.RegPred, r.IntN(4)) }
	u := func() isa.Reg { return reg(isa.RegUGPR, 4+r.IntN(4)) }
	var in *inst
	switch r.IntN(18) {
	case 0, 1:
		in = fadd(g(), g(), g())
	case 2:
		in = ffma(g(), g(), g(), g())
	case 3:
		in = hadd2(g(), g(), g())
	case 4, 5:
		in = ld(isa.Shared, 32, g(), g())
	case 6:
		in = mk("MUFU", isa.ClassSFU, g(), g()).does(func(x []float64) float64 { return x[0] })
	case 7:
		in = st(isa.Shared, 32, g(), g())
	case 8, 9:
		in = mk("ISETP", isa.ClassSetp, -1, g(), g()).to(p())
	case 10: // carry out
		in = iadd3(g(), g(), g()).to(p())
	case 11: // carry in
		in = iadd3(g(), g(), g()).from(p())
	case 12:
		in = mk("UIADD3", isa.ClassUniform, -1).to(u()).from(u(), u())
	case 13:
		in = mk("R2UR", isa.ClassUniform, -1, g()).to(u())
	case 14:
		in = iadd3(g(), g()).from(u())
	case 15:
		in = bra(0, r.IntN(2)).guard(p(), 0) // to the next instruction
	case 16:
		return exit().guard(p(), isa.FullMask)
	case 17:
		return bar()
	}
	if in.Flow == isa.FlowNext && in.Class != isa.ClassUniform && r.IntN(4) == 0 {
		dead := [...]isa.LaneMask{isa.FullMask, 0xffff, 0xffff0000, 0}[r.IntN(4)]
		in.guard(p(), dead)
	}
	return in
}

// correct makes a random program whose control bits contain all necessary waits:
// straight-line code, scheduled with the latencies of the specification.
func correct(r *rand.Rand) *program {
	n := 12 + r.IntN(20)
	type name struct {
		f isa.RegFile
		n uint32
	}
	names := func(list []isa.Reg) (to []name) {
		for _, x := range list {
			for i := range max(uint32(x.Count), 1) {
				to = append(to, name{x.File, x.Index + i})
			}
		}
		return to
	}
	var code []*inst
	ready := map[name]int{}     // cycle from which a register can be read
	by := map[name]*isa.Inst{}  // its writer
	pending := map[name]int{}   // counter for a register's result
	reading := map[name]uint8{} // counters for reads of a register
	cycle := 0
	for range n {
		in := random(r)
		if in.Flow == isa.FlowBranch {
			in.Targets[0] = int32(len(code) + 1)
		}
		srcs, dsts, late, lat := names(in.Srcs), names(in.Dsts), late(&in.Inst), latencyOf(&in.Inst)
		// The wait for counters, and the stall of the previous instruction.
		for _, x := range append(srcs, dsts...) {
			if c, ok := pending[x]; ok {
				in.Control.Wait |= 1 << c
			}
		}
		for _, x := range dsts {
			in.Control.Wait |= reading[x]
		}
		known := in.Control.Wait
		if in.Barrier {
			known = 0x3f // it waits for all
		}
		for c := range 6 {
			if known>>c&1 != 0 {
				for x, p := range pending {
					if p == c {
						delete(pending, x)
					}
				}
				for x := range reading {
					reading[x] &^= 1 << c
				}
			}
		}
		need := cycle
		for _, x := range srcs {
			if y, ok := by[x]; ok {
				need = max(need, ready[x]-latencyOf(y)+apart(y, &in.Inst, x.f == isa.RegPred))
			}
		}
		for _, x := range dsts {
			if late {
				need = max(need, ready[x])
			} else {
				need = max(need, ready[x]+1-lat)
			}
		}
		for len(code) > 0 && need > cycle {
			last := code[len(code)-1].Control
			more := min(need-cycle, 11-int(last.Stall))
			last.Stall += uint8(more)
			cycle += more
			if need > cycle {
				code = append(code, nop())
				cycle++
				if in.Flow == isa.FlowBranch {
					in.Targets[0]++
				}
			}
		}
		if late {
			in.stall(2)
			if w := r.IntN(3); len(dsts) > 0 {
				in.wr(w)
				for _, x := range dsts {
					pending[x] = w
					delete(ready, x)
					delete(by, x)
				}
			}
			q := 3 + r.IntN(3)
			in.rd(q)
			for _, x := range srcs {
				reading[x] |= 1 << q
			}
			cycle += 2
		} else {
			for _, x := range dsts {
				ready[x], by[x] = cycle+lat, &in.Inst
			}
			cycle++
		}
		code = append(code, in)
	}
	p := prog(append(code, nop().wait(0x3f), exit())...)
	p.smem = 4096
	return p
}

func TestHazardsSilent(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 200 {
		p := correct(r)
		if got := check(t, p); len(got) > 0 {
			t.Fatalf("program %d: %s\n%s", i, got[0].String(), dump(p))
		}
	}
}

// broken returns the pairs of instructions, the later one first, whose earlier one may
// still be in flight when the later one issues, given the program's waits. It applies
// the rules of the specification to all pairs, register by register and lane by lane.
func broken(p *program, cycles []uint64) map[[2]int]bool {
	type use struct {
		r     isa.Reg
		lanes isa.LaneMask
	}
	uses := func(in *inst, list []isa.Reg, reads bool) (to []use) {
		for k, x := range list {
			lanes := isa.FullMask &^ in.dead
			if x.File == isa.RegUGPR && lanes != 0 {
				lanes = isa.FullMask
			}
			if reads && in.Guarded && k == len(list)-1 {
				lanes = isa.FullMask // the guard
			}
			for i := range max(uint32(x.Count), 1) {
				to = append(to, use{reg(x.File, int(x.Index+i)), lanes})
			}
		}
		return to
	}
	both := func(a, b []use, gone map[isa.Reg]isa.LaneMask) bool {
		for _, x := range a {
			for _, y := range b {
				if x.r == y.r && x.lanes&y.lanes&^gone[x.r] != 0 {
					return true
				}
			}
		}
		return false
	}
	bad := map[[2]int]bool{}
	for i, x := range p.code {
		reads, writes := uses(x, x.Srcs, true), uses(x, x.Dsts, false)
		over := map[isa.Reg]isa.LaneMask{} // lanes that other instructions write in between
		for j := i - 1; j >= 0; j-- {
			y := p.code[j]
			// told reports whether the program has waited for y, or for a later
			// instruction of its queue, which reads and ends after it.
			told := func(read bool) bool {
				for n := j; n < i; n++ {
					x := p.code[n]
					if n != j && (!late(&x.Inst) || (x.Class == isa.ClassSFU) != (y.Class == isa.ClassSFU)) {
						continue
					}
					for k := n + 1; k <= i; k++ {
						if cycles[k] < cycles[n]+2 {
							continue
						}
						z := p.code[k]
						if z.Barrier && read && y.Class != isa.ClassSFU {
							return true // memory has been accessed
						}
						for at, c := range [2]uint8{x.Control.Write, x.Control.Read} {
							if c < isa.Counters && (at == 0 || read) && (z.Barrier || z.Control.Wait>>c&1 != 0) {
								return true
							}
						}
					}
				}
				return false
			}
			theirs := uses(y, y.Dsts, false)
			raw, waw := both(theirs, reads, over), both(theirs, writes, over)
			if late(&y.Inst) {
				held := slices.DeleteFunc(uses(y, y.Srcs, false), func(u use) bool { return u.r.File != isa.RegGPR })
				same := late(&x.Inst) && (x.Class == isa.ClassSFU) == (y.Class == isa.ClassSFU) // it reads after y
				war := !same && y.dead != isa.FullMask && both(held, writes, nil)
				if (raw || waw && !same) && !told(false) || war && !told(true) {
					bad[[2]int{i, j}] = true
				}
			} else {
				lat := uint64(latencyOf(&y.Inst))
				predicate := func(u use) bool { return u.r.File == isa.RegPred }
				preds, others := slices.DeleteFunc(slices.Clone(theirs), func(u use) bool { return !predicate(u) }), slices.DeleteFunc(slices.Clone(theirs), predicate)
				raw, waw := both(others, reads, over), both(others, writes, over) // predicates are written in order
				if raw && cycles[i] < cycles[j]+uint64(apart(&y.Inst, &x.Inst, false)) ||
					both(preds, reads, over) && cycles[i] < cycles[j]+uint64(apart(&y.Inst, &x.Inst, true)) || waw && !late(&x.Inst) && cycles[i]+uint64(latencyOf(&x.Inst)) <= cycles[j]+lat {
					bad[[2]int{i, j}] = true
				}
			}
			for _, z := range theirs {
				over[z.r] |= z.lanes
			}
		}
	}
	return bad
}

func (p *program) cycles() []uint64 {
	list := make([]uint64, len(p.code))
	for _, x := range p.log {
		list[x.pc] = x.cycle
	}
	return list
}

// If a necessary stall is reduced or a necessary wait removed, the hazard is reported,
// and its fixes remove it.
func TestHazardsOfBrokenPrograms(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	needed, not := 0, 0
	what := map[string]int{} // pairs that were broken
	for n := range alltests.Count(25, 100) {
		good := correct(r)
		for i := range good.code[:len(good.code)-2] {
			ctl := *good.code[i].Control
			var list []isa.Control
			for c := range isa.Counters {
				if ctl.Wait>>c&1 != 0 {
					bad := ctl
					bad.Wait &^= 1 << c
					list = append(list, bad)
				}
			}
			if ctl.Stall > 1 {
				bad := ctl
				bad.Stall--
				list = append(list, bad)
			}
			for _, bad := range list {
				*good.code[i].Control = bad
				good.log = nil
				got := check(t, good)
				want := broken(good, good.cycles())
				named := map[[2]int]bool{}
				for k := range got {
					named[[2]int{int(got[k].At), int(got[k].Producer)}] = true
				}
				if diff := cmp.Diff(want, named); diff != "" {
					t.Fatalf("program %d: pairs of hazards, -wanted +reported\n%s\n%s", n, diff, dump(good))
				}
				for x := range want {
					what[good.code[x[1]].Op+" "+good.code[x[0]].Op]++
				}
				if len(want) == 0 {
					not++
				} else {
					needed++
				}
				keep := make([]isa.Control, len(good.code))
				for k, in := range good.code {
					keep[k] = *in.Control
				}
				for round := 0; len(got) > 0; round++ {
					if round > 40 || len(got[0].Fixes) == 0 {
						t.Fatalf("program %d: not fixed: %s\n%s", n, got[0].String(), dump(good))
					}
					for _, f := range got[0].Fixes {
						*good.code[f.At].Control = f.Control
					}
					got = check(t, good)
				}
				for k, in := range good.code {
					*in.Control = keep[k]
				}
				*good.code[i].Control = ctl
			}
		}
	}
	if needed < alltests.Count(50, 200) {
		t.Errorf("only %d of %d changes broke a program", needed, needed+not)
	}
	// Every kind of mistake of a compiler must have occurred.
	for _, pair := range []string{"ISETP EXIT", "ISETP BRA", "ISETP IADD3", "ISETP LDS", "IADD3 IADD3", "R2UR UIADD3", "UIADD3 IADD3", "LDS FADD", "MUFU STS", "STS FADD"} {
		if what[pair] == 0 && alltests.On() {
			t.Errorf("no program without the wait for %s", pair)
		}
	}
}

func dump(p *program) string {
	s := ""
	for i, in := range p.code {
		s += fmt.Sprintf("%d %s %s %v <- %v\n", i+1, in.Control, in.Op, in.Dsts, in.Srcs)
	}
	return s
}

// The checker's memory does not grow with the iterations of a loop that never waits for
// what it reads, and the loop's hazards are still found.
func TestHazardsOfLongLoop(t *testing.T) {
	_, g := runSASS(t, warm(), 32, `
[B------:R-:W-:-:S02]      MOV R8, c[0x0][0x160] ;
[B------:R-:W-:-:S04]      MOV R9, c[0x0][0x164] ;
[B------:R-:W-:-:S05]      MOV R4, 0x7d0 ;
loop:
[B------:R0:W-:-:S02]      STS [RZ], R5 ;
[B------:R-:W-:-:S02]      STS [RZ+0x4], R6 ;
[B------:R-:W-:-:S05]      IADD3 R4, R4, -0x1, RZ ;
[B------:R-:W-:Y:S13]      ISETP.NE.AND P0, PT, R4, RZ, PT ;
[B------:R-:W-:-:S05]  @P0 BRA loop ;
[B------:R-:W-:-:S05]      MOV R6, RZ ;
[B------:R-:W-:-:S05]      EXIT ;
`)
	w := &g.core.hazards.warps[0]
	if len(w.readers) > 32 || len(w.order[0]) > 2*mostBehind {
		t.Errorf("after 2000 iterations it keeps %d readers and %d orders", len(w.readers), len(w.order[0]))
	}
	list := g.core.Hazards()
	if len(list) != 1 || list[0].Kind != core.WAR || list[0].Register() != "R6" || list[0].Count != 1 {
		t.Errorf("hazards %v, want R6 written after its store", list)
	}
}

// What compilers must wait for, in real instructions: registers of every file, read as
// operands, guards and carries. The fix for each is the control code that reports
// nothing.
func TestHazardsOfSASS(t *testing.T) {
	for _, c := range []struct {
		first, second string // %s is the control code
		bad, good     string
		register      string
	}{
		{"ISETP.NE.AND P0, PT, R5, RZ, PT", "@P0 EXIT", "B------:R-:W-:-:S11", "B------:R-:W-:Y:S13", "P0"},
		{"ISETP.EQ.AND P0, PT, R5, RZ, PT", "@!P0 BRA end", "B------:R-:W-:-:S05", "B------:R-:W-:Y:S13", "P0"},
		{"ISETP.NE.AND P0, PT, R5, RZ, PT", "@P0 LDS R6, [R4]", "B------:R-:W-:Y:S12", "B------:R-:W-:Y:S13", "P0"},
		{"ISETP.NE.AND P0, PT, R5, RZ, PT", "SEL R6, R5, R4, P0", "B------:R-:W-:-:S03", "B------:R-:W-:-:S04", "P0"},
		{"IMAD R6, R4, R5, RZ", "I2F.U32.RP R7, R6", "B------:R-:W-:-:S03", "B------:R-:W-:-:S04", "R6"},
		{"IADD3 R6, P1, R4, R5, RZ", "IADD3.X R7, R4, R5, RZ, P1, !PT", "B------:R-:W-:-:S03", "B------:R-:W-:-:S04", "P1"},
		{"UIADD3 UR4, UR5, UR6, URZ", "IADD3 R6, R4, UR4, RZ", "B------:R-:W-:-:S05", "B------:R-:W-:-:S06", "UR4"},
		{"UIADD3 UR4, UR5, UR6, URZ", "UIADD3 UR7, UR4, UR6, URZ", "B------:R-:W-:-:S01", "B------:R-:W-:-:S04", "UR4"},
		{"UISETP.NE.AND UP0, UPT, UR5, URZ, UPT", "USEL UR7, UR4, UR6, UP0", "B------:R-:W-:-:S03", "B------:R-:W-:-:S04", "UP0"},
		{"IADD3 R4, R5, 0x10, RZ", "LDS R6, [R4]", "B------:R-:W-:-:S04", "B------:R-:W-:-:S05", "R4"},
		{"UIADD3 UR4, UR5, UR6, URZ", "LDS R6, [UR4]", "B------:R-:W-:-:S08", "B------:R-:W-:-:S09", "UR4"},
		{"ULDC UR4, c[0x0][0x160]", "IADD3 R6, R4, UR4, RZ", "B------:R-:W-:-:S01", "B------:R-:W-:-:S02", "UR4"},
		{"UMOV UR4, 0x10", "LDS R6, [UR4]", "B------:R-:W-:-:S01", "B------:R-:W-:-:S02", "UR4"},
		{"P2R R6, PR, RZ, 0x1", "IADD3 R7, R6, R5, RZ", "B------:R-:W-:-:S03", "B------:R-:W-:-:S04", "R6"},
		{"HADD2 R6, R4, R5", "MOV R7, R6", "B------:R-:W-:-:S04", "B------:R-:W-:-:S05", "R6"},
		{"HADD2 R6, R4, R5", "STS [RZ], R6", "B------:R-:W-:-:S04", "B------:R-:W-:-:S05", "R6"},
		{"HADD2 R6, R4, R5", "MUFU.RCP R7, R6", "B------:R-:W-:-:S03", "B------:R-:W-:-:S04", "R6"},
		{"HFMA2 R6, R4, R5, R4", "HFMA2 R7, R6, R5, R4", "B------:R-:W-:-:S03", "B------:R-:W-:-:S04", "R6"},
		{"ISETP.NE.AND P0, PT, R5, RZ, PT", "VOTE.ANY R6, PT, P0", "B------:R-:W-:Y:S12", "B------:R-:W-:Y:S13", "P0"},
		{"VOTE.ANY R6, PT, PT", "IADD3 R7, R6, R5, RZ", "B------:R-:W-:-:S03", "B------:R-:W-:-:S04", "R6"},
		{"UISETP.NE.AND UP0, UPT, UR5, URZ, UPT", "@UP0 UIADD3 UR7, UR4, UR6, URZ", "B------:R-:W-:-:S10", "B------:R-:W-:-:S11", "UP0"},
		{"UISETP.NE.AND UP0, UPT, UR5, URZ, UPT", "PLOP3.LUT P0, PT, PT, PT, UP0, 0x80, 0x0", "B------:R-:W-:-:S05", "B------:R-:W-:-:S06", "UP0"},
		{"HFMA2 R6, R4, R5, R4", "HADD2 R7, R6, R5", "B------:R-:W-:-:S04", "B------:R-:W-:-:S05", "R6"},
	} {
		for stalled, want := range map[string]int{c.bad: 1, c.good: 0} {
			_, g := runSASS(t, warm(), 32, fmt.Sprintf(`
[B------:R-:W-:-:S02]      MOV R4, RZ ;
[B------:R-:W-:Y:S15]      MOV R5, RZ ;
[%s]      %s ;
[B------:R-:W0:-:S02]      %s ;
[B0-----:R-:W-:-:S02]      NOP ;
end:
[B------:R-:W-:-:S05]      EXIT ;
`, stalled, c.first, c.second))
			list := g.core.Hazards()
			if len(list) != want || want == 1 && (list[0].Register() != c.register || list[0].Kind != core.RAW || len(list[0].Fixes) != 1 || list[0].Fixes[0].Control.String() != "["+c.good+"]") {
				t.Errorf("%s after %s with [%s]: %d hazards", c.second, c.first, stalled, len(list))
				for _, h := range list {
					t.Log(h.String())
				}
			}
		}
	}
}

// NVIDIA's compiler waits for a counter after REDUX and B2R.
func TestHazardsWithoutCounter(t *testing.T) {
	for _, first := range []string{"REDUX UR4, R5", "B2R.RESULT RZ, P0"} {
		second := map[bool]string{true: "MOV R6, UR4", false: "SEL R6, R4, R5, P0"}[strings.Contains(first, "UR4")]
		for counters, want := range map[string]int{"R-:W-:Y:S15 R-:W-": 1, "R-:W0:Y:S15 R-:W-": 1, "R-:W0:-:S02 W0": 0} {
			own, _, _ := strings.Cut(counters, " ")
			wait := "------"
			if want == 0 {
				wait = "0-----"
			}
			_, g := runSASS(t, warm(), 32, fmt.Sprintf(`
[B------:R-:W-:-:S02]      MOV R4, RZ ;
[B------:R-:W-:Y:S15]      MOV R5, RZ ;
[B------:%s]      %s ;
[B%s:R-:W-:-:S05]      %s ;
[B0-----:R-:W-:-:S05]      EXIT ;
`, own, first, wait, second))
			if n := len(g.core.Hazards()); n != want {
				t.Errorf("%s with %s, then %s with %s: %d hazards, want %d", first, own, second, wait, n, want)
			}
		}
	}
}

// NVIDIA's compiler waits for the last of several S2UR, whose results come in order.
func TestHazardsOfQueue(t *testing.T) {
	for _, c := range []struct {
		last string
		want int
	}{{"S2UR UR5, SR_CTAID.Y", 0}, {"LDS R6, [R5]", 1}} {
		_, g := runSASS(t, warm(), 32, fmt.Sprintf(`
[B------:R-:W-:Y:S15]      MOV R5, RZ ;
[B------:R-:W-:-:S01]      S2UR UR4, SR_CTAID.X ;
[B------:R-:W0:-:S02]      %s ;
[B0-----:R-:W-:-:S05]      MOV R7, UR4 ;
[B------:R-:W-:-:S05]      EXIT ;
`, c.last))
		if n := len(g.core.Hazards()); n != c.want {
			t.Errorf("UR4 after %s: %d hazards, want %d", c.last, n, c.want)
		}
	}
}

// What an instruction reads that issues a cycle too soon is the old value, and what the checker
// asks for suffices.
func TestTooSoon(t *testing.T) {
	for _, c := range []struct {
		first, between, second string
		need                   int
		old, new               uint32
	}{
		{"IADD3 R6, R4, R5, RZ", "", "IADD3 R7, R6, 0x1, RZ", 4, 101, 9},
		{"HADD2.F32 R6, -RZ, R4.H0_H0", "", "MOV R7, R6", 5, 100, 0x34400000},
		{"ISETP.NE.AND P0, PT, R5, RZ, PT", "", "SEL R7, R5, R4, P0", 4, 3, 5},
		{"ISETP.NE.AND P0, PT, R5, RZ, PT", "", "@P0 MOV R7, R5", 13, 7, 5},
		{"ISETP.NE.AND P0, PT, R5, RZ, PT", "", "VOTE.ANY R7, PT, P0", 13, 0, 1},
		{"IADD3 R6, P0, R4, -0x1, RZ", "", "@P0 MOV R7, R5", 13, 7, 5},
		{"IADD3 R6, P0, R4, -0x1, RZ", "FADD R8, R5, R4", "@P0 MOV R7, R5", 13, 7, 5},
		{"VOTE.ANY R6, PT, PT", "", "IADD3 R7, R6, 0x1, RZ", 4, 101, 2},
		{"UIADD3 UR4, UR5, 0x4, URZ", "", "MOV R7, UR4", 6, 64, 9},
		{"UIADD3 UR4, UR5, 0x4, URZ", "", "I2F.U32 R7, UR4", 9, 0x42800000, 0x41100000},
		{"UIADD3 UR4, UR5, 0x4, URZ", "IADD3 R8, R4, UR5, RZ", "I2F.U32 R7, UR4", 9, 0x42800000, 0x41100000},
		{"UISETP.NE.AND UP0, UPT, UR5, URZ, UPT", "", "@UP0 UMOV UR6, 0x9", 11, 6, 9},
		{"ULDC UR4, c[0x0][0x0]", "", "MOV R7, UR4", 2, 64, 1},
		{"IMAD.WIDE R6, R4, 0x5, RZ", "", "IADD3 R7, R6, 0x1, RZ", 3, 101, 16},
		{"IMAD.WIDE R8, R4, R12, RZ", "", "IADD3 R7, R9, 0x1, RZ", 5, 1, 2},
		{"IADD3 R6, R4, R5, RZ", "", "IMAD.SHL.U32 R7, R6, 0x2, RZ", 5, 200, 16},
		{"IMAD.SHL.U32 R6, R4, 0x2, RZ", "", "IMAD.SHL.U32 R7, R6, 0x2, RZ", 4, 200, 12},
		{"IMAD.SHL.U32 R6, R4, 0x2, RZ", "", "IADD3 R7, R6, 0x1, RZ", 5, 101, 7},
		{"FMNMX R6, R4, R5, PT", "", "IADD3 R7, R6, 0x1, RZ", 4, 101, 4},
		{"ISETP.NE.AND P0, PT, R5, RZ, PT", "", "IMAD.X R7, R4, 0x2, RZ, P0", 5, 6, 7},
		{"sm_75 | ISETP.NE.AND P0, PT, R5, RZ, PT", "", "@P0 MOV R7, R5", 12, 7, 5},
		{"IADD3 R9, R4, R5, RZ", "", "IMAD.HI R7, RZ, RZ, R8", 3, 0, 8},
	} {
		second := fmt.Sprintf("[B------:R-:W0:-:S02] %s ;", c.second)
		read := "[B0-----:R-:W-:-:S05] MOV R7, R7 ;"
		if strings.Contains(c.second, "UR6") {
			read = "[B------:R-:W-:-:S05] MOV R7, UR6 ;"
			second = fmt.Sprintf("[B------:R-:W-:-:S12] %s ;", c.second)
		}
		arch, first, given := strings.Cut(c.first, " | ")
		if !given {
			arch, first = "sm_86", c.first
		}
		for cycles, want := range map[int]uint32{c.need - 1: c.old, c.need: c.new} {
			stall, between := cycles, ""
			if c.between != "" {
				stall, between = cycles-1, fmt.Sprintf("[B------:R-:W-:-:S01] %s ;", c.between)
			}
			yield := "-"
			if stall > 11 {
				yield = "Y"
			}
			out, g := runSASS(t, warm(), 1, arch+" | "+fmt.Sprintf(`
[B------:R-:W-:-:S01]      MOV R4, 0x3 ;
[B------:R-:W-:-:S01]      MOV R5, 0x5 ;
[B------:R-:W-:-:S01]      MOV R6, 0x64 ;
[B------:R-:W-:-:S01]      MOV R7, 0x7 ;
[B------:R-:W-:-:S01]      MOV R8, RZ ;
[B------:R-:W-:-:S01]      MOV R9, RZ ;
[B------:R-:W-:-:S01]      MOV R12, 0x55555556 ;
[B------:R-:W-:-:S01]      UMOV UR4, 0x40 ;
[B------:R-:W-:-:S01]      UMOV UR5, 0x5 ;
[B------:R-:W-:-:S01]      UMOV UR6, 0x6 ;
[B------:R-:W-:-:S01]      MOV R10, c[0x0][0x160] ;
[B------:R-:W-:-:S01]      MOV R11, c[0x0][0x164] ;
[B------:R-:W-:-:S01]      ISETP.NE.AND P1, PT, RZ, RZ, PT ;
[B------:R-:W-:-:S01]      UISETP.NE.AND UP0, UPT, URZ, URZ, UPT ;
[B------:R-:W-:Y:S13]      ISETP.NE.AND P0, PT, RZ, RZ, PT ;
[B------:R-:W-:%s:S%02d]   %s ;
%s
%s
%s
[B------:R1:W-:-:S02]      %s [R10.64], R7 ;
[B-1----:R-:W-:-:S05]      EXIT ;
`, yield, stall, first, between, second, read, map[bool]string{true: "STG.E.SYS", false: "STG.E"}[arch == "sm_75"]))
			if out[0] != want {
				t.Errorf("%s, %d cycles after %s: %#x, want %#x", c.second, cycles, c.first, out[0], want)
			}
			if n := len(g.core.Hazards()); (n == 0) != (cycles == c.need) {
				t.Errorf("%s, %d cycles after %s: %d hazards", c.second, cycles, c.first, n)
			}
		}
	}
}

// A result stays hidden whatever other registers are written in between.
func TestTooSoonWithOthers(t *testing.T) {
	for u := range 63 {
		out, _ := runSASS(t, warm(), 1, fmt.Sprintf(`
[B------:R-:W-:-:S01]      MOV R4, 0x3 ;
[B------:R-:W-:-:S01]      MOV R6, 0x64 ;
[B------:R-:W-:-:S01]      MOV R10, c[0x0][0x160] ;
[B------:R-:W-:Y:S13]      MOV R11, c[0x0][0x164] ;
[B------:R-:W-:-:S02]      FADD R6, R4, R4 ;
[B------:R-:W-:-:S02]      UMOV UR%d, 0x1 ;
[B------:R-:W-:-:S05]      IADD3 R7, R6, 0x1, RZ ;
[B------:R1:W-:-:S02]      STG.E [R10.64], R7 ;
[B-1----:R-:W-:-:S05]      EXIT ;
`, u))
		if out[0] != 101 {
			t.Errorf("UMOV UR%d in between: %#x, want the old value and one", u, out[0])
		}
	}
}
