package flow

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/internal/isa"
)

// toy is a program whose instructions have no meaning but their number: what an instruction writes is a
// function of that, of what it reads, and of the register's place among those that it writes.
type toy struct {
	code   []isa.Inst
	copies []Copy
	shows  []bool // by pc: what it reads is observed
}

// run executes n instructions and returns what is observed. Branches are taken as the seed decides. A
// register is what to makes of it; instructions that gone has are left out.
func (p *toy) run(seed uint64, n int, to func(uint32) uint32, gone func(pc int) bool) (seen []uint64) {
	r := rand.New(rand.NewPCG(seed, 2))
	regs := map[uint32]uint64{}
	copied := map[int]Copy{}
	for _, c := range p.copies {
		copied[c.PC] = c
	}
	pc := 0
	for range n {
		if pc >= len(p.code) {
			break
		}
		in := &p.code[pc]
		taken := in.Flow == isa.FlowBranch && (!in.Guarded || r.IntN(2) == 0)
		quiet := in.Guarded && in.Flow == isa.FlowNext && r.IntN(2) == 0
		if !gone(pc) {
			h := uint64(pc) + 1
			var vals []uint64
			for _, s := range in.Srcs {
				v := regs[to(s.Index)]
				vals = append(vals, v)
				h = (h ^ v) * 0x9e3779b97f4a7c15
			}
			if p.shows[pc] {
				seen = append(seen, vals...)
			}
			for i, d := range in.Dsts {
				if quiet {
					continue
				}
				regs[to(d.Index)] = h + uint64(i)
				if _, ok := copied[pc]; ok {
					regs[to(d.Index)] = vals[i]
				}
			}
		}
		pc++
		if taken {
			pc = int(in.Targets[0])
		}
		if in.Flow == isa.FlowExit {
			break
		}
	}
	return seen
}

// randomToy makes a program of n instructions with few registers, so that they meet often.
func randomToy(r *rand.Rand, n int) *toy {
	p := &toy{code: make([]isa.Inst, n), shows: make([]bool, n)}
	reg := func() isa.Reg { return isa.Reg{File: isa.RegGPR, Count: 1, Index: uint32(r.IntN(9))} }
	for pc := range n {
		in := &p.code[pc]
		in.PC = int32(pc)
		switch k := r.IntN(10); {
		case pc == n-1:
			in.Flow = isa.FlowExit
		case k == 0:
			in.Flow, in.Targets, in.Guarded = isa.FlowBranch, []int32{int32(r.IntN(n))}, r.IntN(3) > 0
		case k < 5:
			a, b := reg(), reg()
			in.Dsts, in.Srcs = []isa.Reg{a}, []isa.Reg{b}
			p.copies = append(p.copies, Copy{pc, []uint32{a.Index}, []uint32{b.Index}})
		case k == 5:
			in.Srcs, p.shows[pc] = []isa.Reg{reg()}, true
		default:
			in.Dsts, in.Srcs, in.Guarded = []isa.Reg{reg()}, []isa.Reg{reg(), reg()}, r.IntN(4) == 0
			if d := reg(); r.IntN(3) == 0 && d != in.Dsts[0] {
				in.Dsts = append(in.Dsts, d)
			}
		}
	}
	return p
}

// What is observed of random programs does not change when copies and dead instructions are left out and
// registers are joined.
func TestCoalescedProgramsComputeTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	gone, dead := 0, 0
	for k := range 3000 {
		p := randomToy(r, 4+r.IntN(40))
		g := Analyze(p.code)
		d := Dead(p.code, g, func(pc int) bool { return len(p.code[pc].Dsts) > 0 })
		c := Coalesce(p.code, g, p.copies, nil)
		for pc := range p.code {
			if c.Gone[pc] {
				gone++
			}
			if d[pc] {
				dead++
			}
		}
		id := func(r uint32) uint32 { return r }
		never := func(int) bool { return false }
		for seed := range uint64(6) {
			want := p.run(seed, 300, id, never)
			if got := p.run(seed, 300, id, func(pc int) bool { return d[pc] }); !slices.Equal(got, want) {
				t.Fatalf("program %d: without dead instructions %v, want %v\n%s", k, got, want, p)
			}
			if got := p.run(seed, 300, c.Root, func(pc int) bool { return c.Gone[pc] }); !slices.Equal(got, want) {
				t.Fatalf("program %d: coalesced %v, want %v\n%s", k, got, want, p)
			}
		}
	}
	if gone < 4000 || dead < 3000 {
		t.Errorf("%d copies and %d dead instructions left out; the test says little", gone, dead)
	}
}

func (p *toy) String() (s string) {
	for pc := range p.code {
		in := &p.code[pc]
		s += fmt.Sprintf("%d: guarded %v, writes %v, reads %v, to %v\n", pc, in.Guarded, in.Dsts, in.Srcs, in.Targets)
	}
	return s
}

func TestCoalesceCases(t *testing.T) {
	r := func(n ...uint32) (list []isa.Reg) {
		for _, i := range n {
			list = append(list, isa.Reg{File: isa.RegGPR, Count: 1, Index: i})
		}
		return list
	}
	type step struct{ dst, src []isa.Reg }
	for _, c := range []struct {
		name   string
		steps  []step
		copies []Copy
		places map[uint32]Place
		gone   []int
	}{
		{"the source ends", []step{{r(0), nil}, {r(1), r(0)}, {nil, r(1)}}, []Copy{{1, []uint32{1}, []uint32{0}}}, nil, []int{1}},
		{"the source is read after the copy", []step{{r(0), nil}, {r(1), r(0)}, {nil, r(0, 1)}}, []Copy{{1, []uint32{1}, []uint32{0}}}, nil, []int{1}},
		{"the copy is changed while the source lives", []step{{r(0), nil}, {r(1), r(0)}, {r(1), r(1)}, {nil, r(0, 1)}}, []Copy{{1, []uint32{1}, []uint32{0}}}, nil, nil},
		{"two names of one value, one of which is changed", []step{{r(0), nil}, {r(1), r(0)}, {r(2), r(0)}, {r(1), r(1)}, {nil, r(1, 2)}},
			[]Copy{{1, []uint32{1}, []uint32{0}}, {2, []uint32{2}, []uint32{0}}}, nil, []int{1}},
		{"places differ", []step{{r(0), nil}, {r(1), r(0)}, {nil, r(1)}}, []Copy{{1, []uint32{1}, []uint32{0}}}, map[uint32]Place{0: {0, 2}, 1: {1, 4}}, nil},
		{"places agree", []step{{r(0), nil}, {r(1), r(0)}, {nil, r(1)}}, []Copy{{1, []uint32{1}, []uint32{0}}}, map[uint32]Place{0: {1, 2}, 1: {3, 96}}, []int{1}},
		{"halves exchanged", []step{{r(0, 1), nil}, {r(2, 3), r(0, 1)}, {r(0, 1), r(3, 2)}, {nil, r(0, 1)}},
			[]Copy{{1, []uint32{2, 3}, []uint32{0, 1}}, {2, []uint32{0, 1}, []uint32{3, 2}}}, nil, []int{1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			code := make([]isa.Inst, len(c.steps)+1)
			for i, s := range c.steps {
				code[i] = isa.Inst{PC: int32(i), Dsts: s.dst, Srcs: s.src}
			}
			code[len(c.steps)].Flow = isa.FlowExit
			res := Coalesce(code, Analyze(code), c.copies, c.places)
			var gone []int
			for pc, g := range res.Gone {
				if g {
					gone = append(gone, pc)
				}
			}
			if !slices.Equal(gone, c.gone) {
				t.Errorf("gone %v, want %v", gone, c.gone)
			}
		})
	}
}
