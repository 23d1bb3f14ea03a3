package ptx

import (
	"fmt"
	"io"
	"math/bits"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: the contract with the timing models (package exec, timing.go). A core
// model steps warps one instruction at a time in its own order; stores and atomics
// affect device memory when they are stepped.

// instBytes is the size of an instruction in the address space of the
// instruction cache (spec: GPGPU-Sim's PTX mode; PTX itself has no encoding).
const instBytes = 8

// work is a launch prepared for a core model.
type work struct {
	*exec.Order
	m   *Machine
	im  *image
	l   launch
	out io.Writer

	team *team // the cluster whose blocks begin
}

// NewWork prepares a launch for a core model; see exec.Machine.
func (m *Machine) NewWork(l Launch, out io.Writer) (exec.Work, error) {
	im, err := m.prepare(&l)
	if err != nil {
		return nil, err
	}
	if l.Rehearsal {
		out = nil
	}
	w := &work{m: m, im: im, l: launch{Launch: l}, out: out}
	if im.rests {
		w.l.rest = new(exec.Rest)
	}
	w.Order = exec.NewOrder(&w.l.Launch, im.code(), exec.Traits{InstBytes: instBytes, Spins: im.spins, CodeBase: w.codeBase(), Source: w.source, Text: w.text,
		Cluster: int(l.ClusterSize().Count()), Hopper: im.hopper, Rest: w.l.rest, Assembled: im.machineCode})
	return w, nil
}

// code lists the instructions of the kernel and of all that it can reach.
func (im *image) code() (code []*isa.Inst) {
	for _, f := range im.fns {
		for i := range f.info {
			code = append(code, &f.info[i])
		}
	}
	return code
}

// Block starts block n. With clusters, these are the blocks of cluster 0 by their ranks, then those of
// the next.
func (w *work) Block(n uint64) exec.Block {
	w.m.begin(w.im, &w.l)
	size := w.l.ClusterSize().Count()
	if size == 1 {
		return w.start(n)
	}
	rank := n % size
	if w.team == nil || rank == 0 {
		w.team = new(team)
		for i := range size {
			b := w.start(w.l.ClusterBlock(n/size, i))
			b.team = w.team
			w.team.blocks = append(w.team.blocks, b)
		}
	}
	return w.team.blocks[rank]
}

// start starts a block.
func (w *work) start(n uint64) *block {
	wk, view := w.m.crew.Borrow()
	b := wk.newBlock(w.im, &w.l, n, view)
	b.work = w
	return b
}

// codeBase returns where the kernel's code begins among all of its program's: functions
// are laid out in the order of the program text.
func (w *work) codeBase() uint64 {
	n := 0
	for _, m := range w.im.kernel.prog.mods {
		for _, f := range m.Funcs {
			if f == w.im.fns[0].ast {
				return instBytes * uint64(n)
			}
			n += len(f.Code)
		}
	}
	return instBytes * uint64(n)
}

// source returns the source location of instruction i of Code.
func (w *work) source(i int) exec.Where { return w.im.Place(i) }

// Place is as in exec.Places.
func (im *image) Place(i int) exec.Where {
	for _, f := range im.fns {
		if i < len(f.info) {
			return im.where(f, i)
		}
		i -= len(f.info)
	}
	return exec.Where{}
}

// where returns where an instruction of a function is.
func (im *image) where(f *fn, pc int) exec.Where {
	in := &f.info[pc]
	wh := exec.Where{Kernel: im.kernel.Name(), Function: f.name, PC: pc, Inst: in.Op, File: im.fileOf(f), Pos: in.Pos}
	im.source(f, pc, &wh)
	return wh
}

// source fills in where an instruction comes from.
func (im *image) source(f *fn, pc int, wh *exec.Where) {
	switch in := &f.info[pc]; {
	case in.Line > 0:
		wh.SrcFile, wh.SrcLine = im.srcFile(f, int(in.File)), int(in.Line)
	case in.File > 0:
		for k := pc - 1; k >= 0; k-- {
			if p := &f.info[k]; p.File == in.File && p.Line > 0 {
				wh.Near = fmt.Sprintf("%s:%d", im.srcFile(f, int(p.File)), p.Line)
				return
			}
		}
	}
}

// text returns instruction i of Code.
func (w *work) text(i int) string {
	for _, f := range w.im.fns {
		if i < len(f.info) {
			return f.text(i)
		}
		i -= len(f.info)
	}
	return ""
}

// text returns an instruction of the function.
func (f *fn) text(pc int) string {
	if pc < len(f.ast.Code) {
		return strings.Join(strings.Fields(f.ast.Code[pc].String()), " ")
	}
	return f.info[pc].Op
}

// Warp returns warp i.
func (b *block) Warp(i int) exec.Warp { return &b.warps[i] }

// Tell writes what the block has printed, and reports its warnings.
func (b *block) Tell() {
	// A failing writer loses text only; the run's results stand.
	_ = b.Say(b.work.out, &b.im.m.Warner)
}

// Release writes what the block printed and recycles its storage.
func (b *block) Release() {
	w := b.work
	if w == nil {
		return
	}
	b.Tell()
	b.work = nil
	team := b.team
	if team == nil {
		b.retire(w)
		return
	}
	// Others of the cluster may still ask for a block that has ended.
	if team.released++; team.released == len(team.blocks) {
		for _, p := range team.blocks {
			p.retire(w)
		}
	}
}

// retire gives back the storage of a block.
func (b *block) retire(w *work) {
	b.Recycle()
	w.m.crew.Return(b.wk, b.View)
}

// Live returns the lanes that have not exited.
func (w *warp) Live() isa.LaneMask { return isa.LaneMask(w.live) }

// Next returns the instruction that Step executes next.
func (w *warp) Next() (*isa.Inst, isa.LaneMask, uint64, exec.WarpState) {
	for {
		if w.live == 0 {
			return nil, 0, 0, exec.Done
		}
		if !w.running && !w.resume() {
			for i := range w.frags {
				if w.frags[i].st == atBarrier {
					return nil, 0, 0, exec.AtBarrier
				}
			}
			return nil, 0, 0, exec.AtSync
		}
		if j := &w.joins[w.join]; w.pc != j.pc || j.fr != w.fr {
			break
		}
		// The fragment has reached its reconvergence point.
		w.running = false
		j := w.join
		w.joins[j].got |= w.mask
		fr := w.fr
		w.settle(j)
		w.blk.wk.release(fr)
	}
	f := w.fr.f
	return &f.info[w.pc], isa.LaneMask(w.mask), f.base + instBytes*uint64(w.pc), exec.Ready
}

// Step executes the instruction that Next returns.
func (w *warp) Step(e *exec.Effects) error {
	info, active, _, st := w.Next()
	*e = exec.Effects{}
	if st != exec.Ready {
		e.Blocked = st == exec.AtBarrier
		return nil
	}
	if w.fault != nil { // of lanes that Unblock released
		return w.blk.Failure()
	}
	in := &w.code[w.pc]
	m := w.guarded(in, w.mask)
	e.Inst, e.Active, e.Lanes, e.Space = info, active, isa.LaneMask(m), info.Space
	live := w.live
	w.wrote, w.asked = false, false
	if w.blk.postpones {
		w.bulk.reset()
	}
	w.run(1)
	e.Wrote, e.Timed = m != 0 && info.Store && (!info.Atomic || w.wrote), w.asked
	if w.fault != nil {
		return w.blk.Failure()
	}
	e.Exited = isa.LaneMask(live &^ w.live)
	if w.blk.postpones && w.bulk.started {
		e.Bulk = &w.bulk.Bulk
	}
	w.locate(e, info, in, m)
	if info.Barrier && !w.running {
		e.Blocked = true
		for i := range w.frags {
			if w.frags[i].st == ready {
				e.Blocked = false
			}
		}
	}
	return nil
}

// show lets what sees the block know of an access that has been executed.
func (w *warp) show(in *inst, m uint32, s *exec.Search) {
	info, e := &w.fr.f.info[w.pc], &w.blk.effects
	*e = exec.Effects{Inst: info, Active: isa.LaneMask(w.mask), Lanes: isa.LaneMask(m), Space: info.Space}
	w.locate(e, info, in, m)
	s.Saw(e, w.blk.View)
}

// locate fills in the addresses of an instruction that has been executed for lanes m. Lanes that write
// zeros, or whose copy has no bytes, access no global memory (PTX manual, cp.async: ignore-src, src-size).
func (w *warp) locate(e *exec.Effects, info *isa.Inst, in *inst, m uint32) {
	if m == 0 || !info.Load && !info.Store {
		return
	}
	if info.Async.Does == isa.AsyncStart && in.x != nil {
		if c, ok := in.x.any.(*copyOp); ok {
			m = c.reads(w, m)
			if e.Lanes = isa.LaneMask(m); m == 0 {
				return
			}
		}
	}
	e.Addr = &w.addr
	if info.Space == isa.Param && in.a == none { // the executor itself does not need one
		for i := m; i != 0; i &= i - 1 {
			w.addr[bits.TrailingZeros32(i)] = uint64(in.imm)
		}
	}
	if e.Space == isa.Generic {
		if e.Space, _ = isa.Resolve(w.addr[e.Lanes.First()]); e.Space != isa.Param {
			e.Space = isa.Generic
			e.Resolve(isa.SharedWindow, isa.LocalWindow, isa.WindowSize)
		}
	}
}
