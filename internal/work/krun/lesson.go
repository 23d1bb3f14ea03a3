package krun

import (
	"maps"
	"slices"
	"strconv"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/isa/explain"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
	"github.com/heddle-sim/heddle/internal/report/lesson"
)

// This file: a run step by step, for a page. The core is looked at after every cycle: which
// instructions were selected, and what has changed since the cycle before.

// pupil is a core that is watched.
type pupil struct {
	*lesson.Recorder
	run     *Run
	base    []int // index in the code of each program's first instruction
	preds   int   // index of P0 among the registers; R0 is the first
	warps   []*watched
	lines   map[uint32][32]uint32 // global memory when it was last looked at
	first   map[uint32][32]uint32 // and at the start
	storer  int                   // the only warp, -1 if there are several
	shared  []uint32              // nil if no instruction stores there
	stores  uint64
	guards  []uint8 // of each instruction
	targets []int   // the register that each instruction writes, -1 for none
}

// watched is a warp.
type watched struct {
	number int
	picked uint64
	mask   uint32
	writer [kasm.Registers + kasm.Predicates]int // index in the code of the last instruction that was selected to write it, -1 for none
}

// watch starts a lesson. The core is set up, and has not run.
func (r *Run) watch() *pupil {
	p := &pupil{Recorder: r.Lesson, run: r, lines: map[uint32][32]uint32{}}
	k := r.Core
	p.Set = "kasm"
	p.base = []int{-1} // before those loaded, a core has an empty one
	stores := false
	for _, prog := range r.Programs {
		n := len(p.base)
		p.base = append(p.base, len(p.Code))
		for pc, w := range prog.Words {
			in, text := kasm.Decode(w), k.Text(n, pc)
			line, _ := prog.Line(pc)
			p.Code = append(p.Code, lesson.Inst{Text: text, Explain: explain.Sentence("kasm", text), File: prog.File, Line: line})
			p.guards, p.targets = append(p.guards, in.Guard), append(p.targets, target(in))
			_, toShared, atomic := in.Op.Atomic()
			stores = stores || in.Op == kasm.STS || atomic && toShared
		}
	}
	for i := range kasm.Registers {
		p.Register("", "R"+strconv.Itoa(i), ".b32", 32)
	}
	p.preds = kasm.Registers
	for i := range kasm.Predicates {
		p.Register("", "P"+strconv.Itoa(i), ".pred", 1)
	}
	if stores {
		p.shared = make([]uint32, kepler.SharedBytes/4)
		for i := range p.shared {
			p.shared[i] = k.Shared(i)
		}
	}
	for w := range kepler.Warps {
		if !k.Started(w) {
			continue
		}
		x := &watched{number: w, mask: k.Mask(w)}
		for i := range x.writer {
			x.writer[i] = -1
		}
		p.warps = append(p.warps, x)
		p.Warp(w)
		p.Step(k.Cycle(), lesson.Arrival, w, -1, 0, 0)
		p.state(x)
	}
	p.storer = -1
	if len(p.warps) == 1 {
		p.storer = p.warps[0].number
	}
	p.stores = k.Stores()
	for i, v := range p.shared {
		if v != 0 {
			p.Word(lesson.Shared, uint64(i)*4, v, int64(v))
		}
	}
	k.Lines(func(line uint32, words *[32]uint32) {
		p.lines[line] = *words
		for i, v := range words {
			if v != 0 {
				p.Word(lesson.Global, uint64(line*kepler.LineBytes+uint32(i)*4), v, int64(v))
			}
		}
	})
	p.first = maps.Clone(p.lines)
	p.Started()
	return p
}

// target returns the register that an instruction writes: R0 is 0, P0 follows the registers; -1 for none.
func target(in kasm.Inst) int {
	switch in.Op {
	case kasm.ISETP, kasm.FSETP, kasm.RAST:
		if in.Rd&7 < kasm.Predicates {
			return kasm.Registers + int(in.Rd&7)
		}
		return -1
	case kasm.STR, kasm.STS, kasm.BRA, kasm.BEQ, kasm.BNE, kasm.SSY, kasm.JOIN, kasm.BAR, kasm.CALL, kasm.RET, kasm.EXIT, kasm.NOP:
		return -1
	}
	return int(in.Rd) % kasm.Registers
}

// at returns the index of an instruction in the code, -1 if the program has none there.
func (p *pupil) at(program, pc int) int {
	if program < 1 || program >= len(p.base) {
		return -1
	}
	end := len(p.Code)
	if program+1 < len(p.base) {
		end = p.base[program+1]
	}
	if i := p.base[program] + pc; i < end {
		return i
	}
	return -1
}

// cycle simulates a cycle and records it.
func (p *pupil) cycle() {
	k, now := p.run.Core, p.run.Core.Cycle()
	k.Step()
	for _, w := range p.warps {
		// What has arrived was not the work of what is selected in this cycle.
		p.Step(now, lesson.Arrival, w.number, p.writerOf(w), 0, 0)
		p.state(w)
	}
	p.memory(func() { p.Step(now, lesson.Arrival, p.storer, -1, 0, 0) })
	for _, w := range p.warps {
		p.selected(w, now)
		w.mask = k.Mask(w.number)
	}
}

// writerOf returns the instruction whose result has become visible in this cycle, -1 if there is none
// or it is not known.
func (p *pupil) writerOf(w *watched) int {
	at := -1
	for reg, by := range w.writer {
		if by < 0 || by == at {
			continue
		}
		c := p.Cells[reg].Cell
		old, ok := p.Last(w.number, c)
		changed := false
		if reg < p.preds {
			v := p.run.Core.Register(w.number, reg)
			changed = !ok && v != [32]uint32{} || ok && v != old
		} else {
			v := spread(p.run.Core.Predicate(w.number, reg-p.preds))
			changed = !ok && v != [32]uint32{} || ok && v != old
		}
		if changed {
			at = by
		}
	}
	return at
}

// spread returns the bits of a mask by lane.
func spread(m uint32) (v [32]uint32) {
	for l := range v {
		v[l] = m >> l & 1
	}
	return v
}

// selected records the instructions that a warp selected in the last cycle.
func (p *pupil) selected(w *watched, now uint64) {
	v := p.run.Core.View(w.number)
	for n := v.Issued - w.picked; n > 0; n-- {
		at := p.at(v.Program, v.Last-int(n-1)) // both of a pair stand one after the other
		lanes := w.mask
		if at >= 0 {
			lanes &= p.guard(w.number, p.guards[at], v.BusyPreds)
			if reg := p.targets[at]; reg >= 0 {
				w.writer[reg] = at
			}
		}
		p.Step(now, lesson.Issue, w.number, at, w.mask, lanes)
	}
	w.picked = v.Issued
}

// guard returns the lanes in which a guard holds. A predicate whose result is on its way is not known.
func (p *pupil) guard(warp int, g uint8, busy []int) uint32 {
	m := ^uint32(0)
	if i := int(g & 7); i < kasm.Predicates && !slices.Contains(busy, i) {
		m = p.run.Core.Predicate(warp, i)
	} else if i < kasm.Predicates {
		return m
	}
	if g&8 != 0 {
		m = ^m
	}
	return m
}

// state shows the registers, predicates and lanes of a warp.
func (p *pupil) state(w *watched) {
	k := p.run.Core
	for i := range kasm.Registers {
		v := k.Register(w.number, i)
		p.Cell(i, ^uint32(0), (*[32]uint32)(&v))
	}
	for i := range kasm.Predicates {
		v := spread(k.Predicate(w.number, i))
		p.Cell(p.preds+i, ^uint32(0), &v)
	}
	v := k.View(w.number)
	g := lesson.Group{Live: v.Mask}
	if v.Status != kepler.Ready {
		g.State = v.Status.String()
	}
	if v.Status == kepler.Exited {
		g.Live = 0
	}
	for _, f := range v.Stack {
		g.Joins = append(g.Joins, lesson.Set{Lanes: f.Mask, At: p.at(v.Program, int(f.PC))})
	}
	g.Calls = v.Calls
	p.Group(g)
}

// memory shows the words of memory that have changed. Which instruction has stored them is not known:
// several may be on their way. Open begins a step for them.
func (p *pupil) memory(open func()) {
	k := p.run.Core
	begun := false
	show := func(space int, addr uint64, v uint32, first int64) {
		if !begun {
			begun = true
			open()
		}
		p.Word(space, addr, v, first)
	}
	for i, old := range p.shared {
		if v := k.Shared(i); v != old {
			p.shared[i] = v
			show(lesson.Shared, uint64(i)*4, v, int64(old))
		}
	}
	if n := k.Stores(); n == p.stores {
		return
	}
	p.stores = k.Stores()
	k.Lines(func(line uint32, words *[32]uint32) {
		old := p.lines[line]
		if old == *words {
			return
		}
		for i, v := range words {
			if v != old[i] {
				addr := line*kepler.LineBytes + uint32(i)*4
				show(lesson.Global, uint64(addr), v, int64(p.first[line][i]))
			}
		}
		p.lines[line] = *words
	})
}
