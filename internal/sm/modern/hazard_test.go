package modern

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/isa"
)

func check(t *testing.T, p *program) []Hazard {
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
		want []string // of each, what its text has
	}{
		{"listing 2, stall 1", []*inst{fadd(1, 2, 3), ffma(5, 1, 1, 1), nop(), exit()},
			[]string{"read after write of R1: FFMA (line 2) behind FADD (line 1), block 0 warp 0 lane 0, 3 cycles too soon; line 1 needs [B------:R-:W-:-:S04]"}},
		{"listing 2, stall 4", []*inst{fadd(1, 2, 3).stall(4), ffma(5, 1, 1, 1), nop(), exit()}, nil},
		{"listing 3, stall 4", []*inst{mov(2, 4).stall(4), ld(isa.Global, 32, 8, 2).wr(0).stall(2), nop().wait(1), exit()},
			[]string{"read after write of R2: LDG.E (line 2) behind MOV (line 1), block 0 warp 0 lane 0, 1 cycles too soon; line 1 needs [B------:R-:W-:-:S05]"}},
		{"missing wait", []*inst{ld(isa.Shared, 32, 8, 2).wr(1).stall(2), mov(9, 8), nop().wait(2), exit()},
			[]string{"read after write of R8: MOV (line 2) behind LDS (line 1), block 0 warp 0 lane 0, 21 cycles too soon; line 2 needs [B-1----:R-:W-:-:S01]"}},
		{"wait too close", []*inst{ld(isa.Shared, 32, 8, 2).wr(1), mov(9, 8).wait(2), nop().wait(2), exit()},
			[]string{"line 1 needs [B------:R-:W1:-:S02]"}},
		{"no counter", []*inst{ld(isa.Shared, 32, 8, 2), mov(9, 8), nop().stall(15).yield(), nop().stall(15).yield(), exit()},
			[]string{"line 1 needs [B------:R-:W0:-:S02]; line 2 needs [B0-----:R-:W-:-:S01]"}},
		{"late enough but not waited for", []*inst{ld(isa.Shared, 32, 8, 2).wr(0).stall(15).yield(), nop().stall(15).yield(), mov(9, 8), exit()},
			[]string{"not waited for; line 3 needs [B0-----:R-:W-:-:S01]"}},
		{"overwritten too soon", []*inst{ld(isa.Shared, 32, 8, 2).wr(0).rd(1).stall(2), mov(2, 4), nop().wait(1), exit()},
			[]string{"write after read of R2: MOV (line 2) behind LDS (line 1), block 0 warp 0 lane 0, 6 cycles too soon; line 2 needs [B-1----:R-:W-:-:S01]"}},
		{"result overwritten", []*inst{ld(isa.Shared, 32, 8, 2).wr(0).stall(2), mov(8, 4), nop().wait(1), exit()},
			[]string{"write after write of R8"}},
		{"slow before fast", []*inst{hadd2(8, 2, 4), mov(8, 3), nop(), exit()}, []string{"write after write of R8: MOV (line 2) behind HADD2 (line 1), block 0 warp 0 lane 0, 1 cycles too soon"}},
		{"other lanes", func() []*inst {
			a, b := fadd(1, 2, 3), ffma(5, 1, 1, 1)
			a.dead, b.dead = 0xffff, 0xffff0000
			return []*inst{a, b, nop(), exit()}
		}(), nil},
		{"DEPBAR", []*inst{ld(isa.Shared, 32, 8, 2).wr(0), ld(isa.Shared, 32, 10, 2).wr(0).stall(2), waitSB(0, 1).stall(4), mov(12, 8), mov(13, 10), nop().wait(1), exit()},
			[]string{"read after write of R10: MOV (line 5) behind LDS (line 2)"}},
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
		}
	}
}

// correct makes a random program whose control bits wait for all that they
// must: straight-line code, scheduled by the latencies of the specification.
func correct(r *rand.Rand) *program {
	n := 12 + r.IntN(20)
	var code []*inst
	ready := map[int]int{}     // cycle from which a register can be read
	pending := map[int]int{}   // counter that tells of a register's result
	reading := map[int]uint8{} // counter that tells that a register has been read
	cycle := 0
	reg := func() int { return 2 + r.IntN(12) }
	for range n {
		a, b, d := reg(), reg(), reg()
		var in *inst
		lat, late := 4, false
		switch r.IntN(6) {
		case 0:
			in = fadd(d, a, b)
		case 1:
			in = ffma(d, a, b, a)
		case 2:
			in, lat = hadd2(d, a, b), 5
		case 3:
			in, late = ld(isa.Shared, 32, d, a), true
			b = a
		case 4:
			in, late = mk("MUFU", isa.ClassSFU, d, a).does(func(x []float64) float64 { return x[0] }), true
			b = a
		case 5:
			in, late = st(isa.Shared, 32, a, b), true
			d = -1
		}
		// The wait for counters, and the stall of the one in front.
		for _, s := range []int{a, b, d} {
			if c, ok := pending[s]; ok {
				in.Control.Wait |= 1 << c
			}
		}
		in.Control.Wait |= reading[d]
		for c := range 6 {
			if in.Control.Wait>>c&1 != 0 {
				for s, x := range pending {
					if x == c {
						delete(pending, s)
					}
				}
				for s := range reading {
					reading[s] &^= 1 << c
				}
			}
		}
		need := cycle
		for _, s := range []int{a, b} {
			at := ready[s]
			if late && at > 0 {
				at++
			}
			need = max(need, at)
		}
		if d >= 0 && !late {
			need = max(need, ready[d]+1-lat)
		}
		if d >= 0 && late {
			need = max(need, ready[d])
		}
		if len(code) > 0 {
			last := code[len(code)-1]
			last.Control.Stall = uint8(int(last.Control.Stall) + need - cycle)
		}
		cycle = need
		if late {
			in.stall(2)
			w := r.IntN(3)
			if d >= 0 {
				in.wr(w)
				pending[d] = w
			}
			q := 3 + r.IntN(3)
			in.rd(q)
			reading[a] |= 1 << q
			reading[b] |= 1 << q
			delete(ready, d)
			cycle += 2
		} else {
			ready[d] = cycle + lat
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

// broken reports whether an earlier instruction of straight-line code can still
// be under way when a later one issues, as far as the program's waits tell: the
// rules of the specification, by looking at all pairs.
func broken(p *program, cycles []uint64) (at, producer int) {
	shares := func(a, b []isa.Reg) bool {
		for _, x := range a {
			for _, y := range b {
				if x.Index < y.Index+uint32(y.Count) && y.Index < x.Index+uint32(x.Count) {
					return true
				}
			}
		}
		return false
	}
	latency := func(in *inst) uint64 {
		if in.Class == isa.ClassHalf {
			return 5
		}
		return 4
	}
	for i, x := range p.code {
		for j, y := range p.code[:i] {
			told := func(counters ...uint8) bool {
				for k := j + 1; k <= i; k++ {
					for _, c := range counters {
						if c < isa.Counters && p.code[k].Control.Wait>>c&1 != 0 && cycles[k] >= cycles[j]+2 {
							return true
						}
					}
				}
				return false
			}
			over := false // another writes the register in between
			for k := j + 1; k < i; k++ {
				over = over || shares(p.code[k].Dsts, y.Dsts)
			}
			raw, waw, war := shares(y.Dsts, x.Srcs) && !over, shares(y.Dsts, x.Dsts) && !over, shares(y.Srcs, x.Dsts)
			if late(&y.Inst) {
				if (raw || waw) && !told(y.Control.Write) || war && !told(y.Control.Write, y.Control.Read) {
					return i, j
				}
				continue
			}
			need := latency(y)
			if late(&x.Inst) {
				need++
			}
			if raw && cycles[i] < cycles[j]+need || waw && !late(&x.Inst) && cycles[i]+latency(x) <= cycles[j]+latency(y) {
				return i, j
			}
		}
	}
	return -1, -1
}

func (p *program) cycles() []uint64 {
	list := make([]uint64, len(p.code))
	for _, x := range p.log {
		list[x.pc] = x.cycle
	}
	return list
}

// Whatever stall is lowered and whatever wait dropped: if it was needed, the
// hazard is named, and its fixes silence it.
func TestHazardsOfBrokenPrograms(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	needed, not := 0, 0
	for n := range 60 {
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
				at, producer := broken(good, good.cycles())
				named := false
				for k := range got {
					named = named || int(got[k].At) == at && int(got[k].Producer) == producer
				}
				switch {
				case at >= 0 && !named:
					t.Fatalf("program %d: line %d behind line %d is not named\n%s", n, at+1, producer+1, dump(good))
				case at < 0 && len(got) > 0:
					t.Fatalf("program %d: %s\n%s", n, got[0].String(), dump(good))
				case at < 0:
					not++
				default:
					needed++
				}
				keep := make([]isa.Control, len(good.code))
				for k, in := range good.code {
					keep[k] = *in.Control
				}
				for round := 0; len(got) > 0; round++ {
					if round > 40 || len(got[0].Fixes) == 0 {
						t.Fatalf("program %d: not mended: %s\n%s", n, got[0].String(), dump(good))
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
	if needed < 200 {
		t.Errorf("only %d of %d changes broke a program", needed, needed+not)
	}
}

func dump(p *program) string {
	s := ""
	for i, in := range p.code {
		s += fmt.Sprintf("%d %s %s %v <- %v\n", i+1, in.Control, in.Op, in.Dsts, in.Srcs)
	}
	return s
}

// A loop that never waits for what it reads costs the checker no more memory
// the longer it runs, and what is wrong with it is still found.
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
		t.Errorf("after 2000 turns of the loop it keeps %d readers and %d orders", len(w.readers), len(w.order[0]))
	}
	list := g.core.Hazards()
	if len(list) != 1 || list[0].Kind != WAR || list[0].Register() != "R6" || list[0].Count != 1 {
		t.Errorf("hazards %v, want R6 written behind its store", list)
	}
}
