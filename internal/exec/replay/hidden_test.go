package replay

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/sass"
	"github.com/heddle-sim/heddle/internal/trace"
)

// full is a program with the mnemonics and operands that a tracer sees.
type full struct {
	program
	arch  int
	insts []sass.Inst
}

func fulls(t *testing.T) []full {
	t.Helper()
	var list []full
	paths, err := filepath.Glob("../../../examples/sass/*.sass")
	if err != nil || len(paths) == 0 {
		t.Fatal("no examples")
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := sass.Parse(path, string(text), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range f.Kernels {
			list = append(list, full{programOf(k), int(f.Arch), k.Code})
		}
	}
	return list
}

// record makes a trace as tracers up to version 5 write it of random runs of a
// program: the first general destination, general sources, lanes whose guard
// held.
func (p *full) record(t *testing.T, r *rand.Rand) (*trace.Kernel, [][]int) {
	k := &trace.Kernel{Header: trace.Header{Kernel: p.name, Grid: trace.Dim{1, 1, 1}, Block: trace.Dim{32 * 16, 1, 1}, Registers: 64, Arch: p.arch, Version: 5}}
	at := map[int]int32{}
	b := &trace.Block{}
	runs := paths(&p.program, 16, 400, r)
	for w, run := range runs {
		from := int32(len(b.Insts))
		for _, i := range run {
			n, ok := at[i]
			if !ok {
				n = int32(len(k.Code))
				at[i] = n
				s := trace.Static{PC: uint32(16 * i), Op: p.code[i].Op}
				for j, o := range p.insts[i].Operands {
					switch {
					case j == 0 && o.Kind == sass.Reg && o.Dst:
						s.Dsts = append(s.Dsts, trace.Reg{File: isa.RegGPR, N: uint16(o.Reg)})
					case !o.Dst && (o.Kind == sass.Reg || o.Kind == sass.Mem && (o.Reg != sass.RZ || !o.HasU)) && len(s.Srcs) < 5:
						s.Srcs = append(s.Srcs, trace.Reg{File: isa.RegGPR, N: uint16(o.Reg)})
					}
				}
				k.Code = append(k.Code, s)
			}
			in := &p.code[i]
			x := trace.Inst{At: n, Active: isa.FullMask, Mask: isa.FullMask, Mem: -1}
			if in.Guarded && in.Flow == isa.FlowNext && r.IntN(2) == 0 {
				x.Active, x.Mask = 0xffff, 0xffff
			}
			b.Insts = append(b.Insts, x)
			k.WarpInsts++
		}
		b.Warps = append(b.Warps, trace.Warp{ID: int32(w), From: from, Upto: int32(len(b.Insts))})
	}
	k.Present = []uint64{0}
	k.Blocks = &memBlocks{list: []*trace.Block{b}, out: map[*trace.Block]bool{}, t: t, fail: map[int]error{}}
	return k, runs
}

// dependence is a read of a value that another instruction has written.
type dependence struct{ reader, writer int }

// through collects the dependences of runs through predicates and uniform
// registers, with how often they occur.
func through(runs [][]int, code func(i int) *isa.Inst) map[dependence]int {
	found := map[dependence]int{}
	for _, run := range runs {
		last := map[isa.Reg]int{}
		for _, i := range run {
			in := code(i)
			seen := map[dependence]bool{}
			for _, s := range in.Srcs {
				for n := range uint32(max(s.Count, 1)) {
					if w, ok := last[isa.Reg{File: s.File, Index: s.Index + n}]; ok && s.File != isa.RegGPR && !seen[dependence{i, w}] {
						seen[dependence{i, w}] = true
						found[dependence{i, w}]++
					}
				}
			}
			for _, d := range in.Dsts {
				for n := range uint32(max(d.Count, 1)) {
					if d.File != isa.RegGPR {
						last[isa.Reg{File: d.File, Index: d.Index + n}] = i
					}
				}
			}
		}
	}
	return found
}

// Recovered dependences are those of the program: of all that go through predicates and
// uniform registers, most are found, and few are invented.
func TestRecover(t *testing.T) {
	var all, hit, made int
	for _, p := range fulls(t) {
		k, runs := p.record(t, rand.New(rand.NewPCG(5, 6)))
		w, err := New(k, Options{Hidden: HiddenRecover})
		if err != nil {
			t.Fatal(err)
		}
		at := map[int]int{}
		for i := range k.Code {
			at[int(k.Code[i].PC)/16] = w.At(i)
		}
		truth := through(runs, func(i int) *isa.Inst { return &p.code[i] })
		got := through(runs, func(i int) *isa.Inst { return w.code[at[i]] })
		var n, h, m int
		for d, times := range truth {
			n += times
			h += min(times, got[d])
		}
		for d, times := range got {
			m += max(0, times-truth[d])
		}
		t.Logf("%-12s %5d dependences in all runs, %5d recovered, %5d made up", p.name, n, h, m)
		all, hit, made = all+n, hit+h, made+m
		off, err := New(k, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if x := through(runs, func(i int) *isa.Inst { return off.code[at[i]] }); len(x) > 0 {
			t.Errorf("%s: dependences %v without recovery", p.name, x)
		}
	}
	t.Logf("of %d dependences %.1f %% are recovered; %.1f %% as many are made up", all, 100*float64(hit)/float64(all), 100*float64(made)/float64(all))
	if hit*100 < 85*all || made*100 > 15*all {
		t.Errorf("%d of %d dependences recovered, %d made up", hit, all, made)
	}
}

// With inferred control bits, programs take about as long on the modern core as with their
// own.
func TestInferredCycles(t *testing.T) {
	var sum [3]float64
	for _, p := range fulls(t) {
		var got [3]uint64
		for i, o := range []Options{{}, {Dependences: Inferred, Hidden: HiddenRecover}, {Dependences: Scoreboard, Hidden: HiddenRecover}} {
			k, _ := p.record(t, rand.New(rand.NewPCG(7, 8)))
			if i == 0 {
				for j := range k.Code {
					c := p.bits[k.Code[j].PC/16]
					c.Reuse = 0
					k.Code[j].Control = &c
				}
			}
			got[i] = onChip(t, "rtx-a6000", o, k)[0].Cycles()
			sum[i] += float64(got[i]) / float64(got[0])
		}
		t.Logf("%-12s %6d cycles as written, %6d inferred, %6d with scoreboards", p.name, got[0], got[1], got[2])
		if r := float64(got[1]) / float64(got[0]); r > 1.1 || r < 0.75 {
			t.Errorf("%s: %d cycles as written, %d inferred", p.name, got[0], got[1])
		}
	}
	t.Logf("inferred %.3f, scoreboards %.3f of the time on average", sum[1]/sum[0], sum[2]/sum[0])
}
