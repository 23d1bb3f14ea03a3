package run

import (
	"bytes"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/explain"
	"github.com/heddle-sim/heddle/internal/report/lesson"
)

// This file: small launches step by step, for a page. A tap sees what the warps of a block execute,
// and looks after each instruction what has changed. Launches of several blocks pay nothing, and
// neither do runs without a page.

// Bounds of the memory whose contents at the start of a lesson are known (our choice).
const (
	mostKept    = 1 << 20 // bytes of one allocation
	mostKeptAll = 4 << 20
)

// school records lessons, one at a time: of launches that run at the same time, the first.
type school struct {
	in   *Inside
	left int // steps
	busy bool
	list []*pupil
}

// pupil is a block whose warps are watched.
type pupil struct {
	*lesson.Recorder
	school  *school
	chip    *gpu.GPU
	block   exec.Block
	seen    []exec.Seen // registers by warp
	shared  exec.Sharer // nil if its shared memory cannot be seen
	was     []byte      // shared memory when it was last looked at
	insts   []*isa.Inst // as in the code
	index   map[*isa.Inst]int
	place   map[exec.Where]int // of instructions, by function and pc
	pending map[pendingKey]int // index in the code
	kept    []keptRange
	whole   bool
}

// pendingKey is an instruction that has not committed.
type pendingKey struct {
	warp int
	p    exec.Pending
}

// keptRange is memory as it was at the start.
type keptRange struct {
	addr uint64
	data []byte
}

// teach has a launch recorded, if it turns out to be small when it begins.
func (s *Session) teach(l *Launch, op *gpu.Op) {
	plain := op.Make
	op.Make = func(rehearsal bool) (exec.Work, error) {
		w, err := plain(rehearsal)
		x := s.school
		if err != nil || rehearsal || x.busy || x.left <= 0 || w.Blocks() != 1 || w.Threads() > 32*lesson.MostWarps || w.Traits().Source == nil {
			return w, err
		}
		x.busy = true
		return exec.Tap(w, func(b exec.Block) exec.BlockWatcher { return x.open(s.Chip, l, w, b) }), nil
	}
}

// open begins the lesson of a block.
func (x *school) open(chip *gpu.GPU, l *Launch, w exec.Work, b exec.Block) *pupil {
	p := &pupil{
		Recorder: lesson.NewRecorder(x.left), school: x, chip: chip, block: b,
		index: map[*isa.Inst]int{}, place: map[exec.Where]int{}, pending: map[pendingKey]int{},
	}
	p.Launch, p.Kernel, p.Set = l.Number, w.Name(), l.Code
	traits := w.Traits()
	p.insts = w.Code()
	for i, in := range p.insts {
		at := traits.Source(i)
		p.index[in] = i
		p.place[exec.Where{Function: at.Function, PC: at.PC}] = i
		text := traits.Text(i)
		p.Code = append(p.Code, lesson.Inst{
			Text: text, Explain: explain.Sentence(l.Code, text), File: at.File, Line: int(at.Pos.Line), SourceFile: at.SrcFile, SourceLine: at.SrcLine,
		})
	}
	for i := range b.Warps() {
		p.Warp(i)
	}
	p.seen = make([]exec.Seen, b.Warps())
	p.shared, _ = b.(exec.Sharer)
	if p.shared != nil {
		p.was = append(p.was, p.shared.SharedBytes()...)
	}
	p.keep()
	p.Started()
	x.list = append(x.list, p)
	return p
}

// keep copies the memory that the launch may use, if it is small.
func (p *pupil) keep() {
	mem, left := p.school.in.Memory, uint64(mostKeptAll)
	add := func(addr, size uint64) {
		if size == 0 || size > mostKept || size > left {
			return
		}
		if data, err := mem.Bytes(addr, size); err == nil {
			p.kept = append(p.kept, keptRange{addr, append([]byte(nil), data...)})
			left -= size
		}
	}
	for _, b := range p.school.in.Buffers {
		a, ok := mem.Find(b.Addr)
		if !ok || a.Freed {
			continue
		}
		p.Buffers = append(p.Buffers, lesson.Buffer{Name: b.Name, Addr: b.Addr, Bytes: a.Size, Type: b.Type})
		add(a.Addr, a.Size)
	}
	for _, s := range mem.Symbols() {
		p.Buffers = append(p.Buffers, lesson.Buffer{Name: s.Name, Addr: s.Addr, Bytes: s.Size, Type: "u32"})
		add(s.Addr, s.Size)
	}
}

// Executed records the issue of an instruction.
func (p *pupil) Executed(warp int, e *exec.Effects, pending exec.Pending) {
	if p.Full() {
		return
	}
	at, ok := p.index[e.Inst]
	if !ok {
		at = -1
	}
	if pending >= 0 {
		p.pending[pendingKey{warp, pending}] = at
	}
	if !p.Step(p.chip.Now(), lesson.Issue, warp, at, uint32(e.Active), uint32(e.Lanes)) {
		return
	}
	var wrote []isa.Reg // any
	if pending >= 0 {
		wrote = nothing
	}
	p.look(warp, at, e.Active, wrote)
	if pending < 0 {
		p.memory(e.Inst, e)
	}
}

// Accessed records what a pending instruction has done in memory.
func (p *pupil) Accessed(warp int, e *exec.Effects, pending exec.Pending) {
	if p.Full() {
		return
	}
	if at := p.pending[pendingKey{warp, pending}]; p.Step(p.chip.Now(), lesson.Arrival, warp, at, uint32(e.Active), uint32(e.Lanes)) && at >= 0 {
		p.look(warp, at, e.Active, nothing)
		p.memory(e.Inst, e)
	}
}

// Committed records that results have become visible.
func (p *pupil) Committed(warp int, pending exec.Pending) {
	if p.Full() {
		return
	}
	k := pendingKey{warp, pending}
	at := p.pending[k]
	delete(p.pending, k)
	if p.Step(p.chip.Now(), lesson.Arrival, warp, at, 0, 0) {
		var wrote []isa.Reg
		if at >= 0 {
			if wrote = p.insts[at].Dsts; wrote == nil {
				wrote = nothing
			}
		}
		p.look(warp, at, p.block.Warp(warp).Live(), wrote)
	}
}

// Released ends the lesson.
func (p *pupil) Released() {
	p.whole = true
	for i := range p.block.Warps() {
		p.whole = p.whole && p.block.Warp(i).Live() == 0
	}
	p.Close()
	p.school.left -= len(p.Steps.Kind)
	p.school.busy = false
}

// look records what has changed in a warp, of whose lanes some have executed the instruction at an
// index and written registers (nil: it is not known which), and in shared memory.
func (p *pupil) look(warp, at int, lanes isa.LaneMask, wrote []isa.Reg) {
	w := p.block.Warp(warp)
	p.seen[warp].Wrote = wrote
	live := w.Live()
	if x, ok := w.(exec.Inspector); ok {
		if m := lanes & live; m != 0 {
			if f, ok := x.Changed(m.First(), &p.seen[warp]); ok {
				p.registers(&f)
			}
		}
		p.group(x, uint32(live))
	}
	if p.shared == nil || at >= 0 && !touches(p.insts[at]) {
		return
	}
	now := p.shared.SharedBytes()
	for i, n := 0, min(len(now), len(p.was)); i < n; i += chunk {
		if to := min(i+chunk, n); !bytes.Equal(now[i:to], p.was[i:to]) {
			p.stored(i, now[i:to], p.was[i:to])
		}
	}
}

// touches reports whether an instruction may change shared memory.
func touches(in *isa.Inst) bool {
	return in.Space != isa.NoSpace || in.Async.Does != isa.NotAsync || in.Flow == isa.FlowCall
}

// nothing is no register.
var nothing = []isa.Reg{}

// chunk is how much shared memory is compared at once.
const chunk = 1024

// stored shows the words of shared memory from a place on that differ from what was there.
func (p *pupil) stored(at int, now, was []byte) {
	for i := 0; i+4 <= len(now); i += 4 {
		if [4]byte(now[i:]) != [4]byte(was[i:]) {
			copy(was[i:i+4], now[i:])
			p.Word(lesson.Shared, uint64(at+i), word(now[i:i+4]), 0)
		}
	}
}

// registers shows the registers of a function.
func (p *pupil) registers(f *exec.Frame) {
	function := f.Function
	if function == p.Kernel {
		function = ""
	}
	for i := range f.Registers {
		r := &f.Registers[i]
		p.Value(p.Register(function, r.Name, r.Type, r.Bits), uint32(f.Lanes), &r.Lo, &r.Hi)
	}
}

// group shows how the lanes of a warp stand. Where lanes that can run come next, the next step says.
func (p *pupil) group(x exec.Inspector, live uint32) {
	g := lesson.Group{Live: live}
	for i, f := range x.Fragments() {
		s := lesson.Set{Lanes: uint32(f.Lanes), At: -1, Waits: f.Waits}
		if i > 0 || f.Waits != "" {
			s.At = p.at(f.Function, f.PC)
		}
		g.Sets = append(g.Sets, s)
	}
	for _, j := range x.Joins() {
		g.Joins = append(g.Joins, lesson.Set{Lanes: uint32(j.Came), Missing: uint32(j.Missing), At: p.at(j.Function, j.PC)})
	}
	p.Group(g)
}

// at returns the index of an instruction in the code, -1 for the end of a function.
func (p *pupil) at(function string, pc int) int {
	if i, ok := p.place[exec.Where{Function: function, PC: pc}]; ok {
		return i
	}
	return -1
}

// memory records the words of global memory that an instruction has touched.
func (p *pupil) memory(in *isa.Inst, e *exec.Effects) {
	if in == nil || !in.Load && !in.Store || e.Addr == nil || e.Space != isa.Global && e.Space != isa.Generic {
		return
	}
	for m := e.Lanes &^ (e.Shared | e.Local); m != 0; m &= m - 1 {
		from := e.Addr[m.First()&31]
		for addr := from &^ 3; addr < from+uint64(in.Width); addr += 4 {
			if v, ok := p.global(addr); ok {
				p.Word(lesson.Global, addr, v, p.first(addr))
			}
		}
	}
}

// global returns a word of global memory; bytes beyond the end of its allocation are zero.
func (p *pupil) global(addr uint64) (uint32, bool) {
	return read(p.school.in.Memory, addr)
}

func read(mem *device.Memory, addr uint64) (uint32, bool) {
	for n := uint64(4); n > 0; n-- {
		if b, err := mem.Bytes(addr, n); err == nil {
			return word(b), true
		}
	}
	return 0, false
}

// first returns a word as it was at the start, -1 if that was not kept.
func (p *pupil) first(addr uint64) int64 {
	for _, k := range p.kept {
		if addr >= k.addr && addr-k.addr < uint64(len(k.data)) {
			return int64(word(k.data[addr-k.addr:]))
		}
	}
	return -1
}

// word returns the first four bytes as a number, the lowest first; missing ones are zero.
func word(b []byte) uint32 {
	v := uint32(0)
	for i := range min(4, len(b)) {
		v |= uint32(b[i]) << (8 * i)
	}
	return v
}

// result returns the lessons, without those in which nothing happened.
func (x *school) result() []*lesson.Lesson {
	var list []*lesson.Lesson
	for _, p := range x.list {
		if l := p.Result(p.whole); len(l.Steps.Kind) > l.Begin {
			list = append(list, l)
		}
	}
	return list
}
