package run

import (
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem"
)

// This file: what happens in a timing run, as events for those who ask.

// Watch has functions that are called with what happens in a timing run; those that
// are nil are not. They are called one at a time, in an order that is the same in
// every run, and change nothing. An event is valid during the call.
//
// With Inst or Memory one goroutine simulates all SMs.
type Watch struct {
	// Launch is called when a launch begins and when it has ended.
	Launch func(*LaunchEvent)
	// Block is called when a block comes to an SM and when it has left.
	Block func(*BlockEvent)
	// Inst is called when a warp instruction has been executed; one of SASS that
	// accesses memory when it has done that.
	Inst func(*InstEvent)
	// Memory is called for every request on its way from an SM to memory and back, but
	// not for those of rehearsals (run.caches = warm).
	Memory func(*MemoryEvent)
}

// LaunchEvent is the begin or the end of a launch. A run that ends early, by a fault
// or a limit, cuts the launches that have begun: their ends say so, and the blocks that
// are on SMs then have no ends.
type LaunchEvent struct {
	Cycle       uint64 // core cycle
	Number      int    // in the run, from 0
	Kernel      string
	Stream      int64
	Grid, Block [3]int64
	Ended, Cut  bool
}

// BlockEvent is the begin or the end of a block on an SM.
type BlockEvent struct {
	Cycle  uint64
	Launch int    // its number
	Block  uint64 // index in the grid, x fastest
	SM     int
	Ended  bool
}

// InstEvent is a warp instruction.
type InstEvent struct {
	Cycle  uint64
	Launch int
	Block  uint64
	SM     int
	Warp   int // in its block
	// Inst is the instruction; Inst.Barrier says that it is a barrier of the block,
	// and Waits that the warp waits at one now.
	Inst  *isa.Inst
	Waits bool
	// Active are the lanes that executed it, Lanes those whose guard held.
	Active, Lanes isa.LaneMask
	// Space is the memory that it accesses, and Addr the addresses of Lanes: nil for
	// one that accesses none. Generic is an access to several spaces.
	Space isa.Space
	Addr  *[32]uint64
}

// MemoryEvent is a request that has come to a place.
type MemoryEvent struct {
	Cycle uint64
	At    gpu.Where
	// SM is the one that sent it, -1 for what L2 slices write back.
	SM    int
	Addr  uint64
	Bytes int
	Write bool
	// Kind is what it is for, as GPGPU-Sim calls it: GLOBAL_ACC_R and so on.
	Kind string
	// Slice is the L2 slice, Channel that of the DRAM.
	Slice, Channel int
}

// watch has a chip tell of what happens.
func (s *Session) watch(w *Watch) {
	h := &gpu.Hooks{}
	rehearsal := false // what runs is one, alone on the chip
	h.Began = func(k *gpu.Kernel) {
		_, l := s.find(k)
		rehearsal = l == nil
		s.tellLaunch(l, false, false)
	}
	h.Ended = func(k *gpu.Kernel) {
		_, l := s.find(k)
		s.tellLaunch(l, true, false)
	}
	if w.Block != nil || w.Inst != nil {
		e := new(BlockEvent)
		tell := func(k *gpu.Kernel, block uint64, sm int, ended bool) {
			if _, l := s.find(k); l != nil && w.Block != nil {
				*e = BlockEvent{Cycle: s.Chip.Now(), Launch: l.Number, Block: block, SM: sm, Ended: ended}
				w.Block(e)
			}
		}
		h.Placed = func(k *gpu.Kernel, b exec.Block, sm int) {
			if s.opened != nil {
				s.opened.SM, s.opened = sm, nil
			}
			tell(k, b.Linear(), sm, false)
		}
		h.Left = func(k *gpu.Kernel, block uint64, sm int) { tell(k, block, sm, true) }
	}
	if f := w.Memory; f != nil {
		e := new(MemoryEvent)
		h.Memory = func(at gpu.Where, r *mem.Req) {
			if rehearsal {
				return
			}
			*e = MemoryEvent{Cycle: s.Chip.Now(), At: at, SM: int(r.SM), Addr: r.Addr, Bytes: int(r.Size), Write: r.Write, Kind: r.Kind.String(), Slice: int(r.Sub), Channel: int(r.Chan)}
			if r.Kind == mem.L2WriteBack {
				e.SM = -1
			}
			f(e)
		}
	}
	s.Chip.Watch(h)
}

// tellLaunch passes on that a launch has begun or ended; nil is a rehearsal.
func (s *Session) tellLaunch(l *Launch, ended, cut bool) {
	if w := s.opt.Watch; l != nil && w != nil && w.Launch != nil {
		w.Launch(&LaunchEvent{
			Cycle: s.Chip.Now(), Number: l.Number, Kernel: l.op.Kernel.Name, Stream: l.Stream, Grid: l.Grid, Block: l.Block, Ended: ended, Cut: cut,
		})
	}
}

// tap has what a launch's warps execute told.
func (s *Session) tap(l *Launch, op *gpu.Op) {
	plain := op.Make
	op.Make = func(rehearsal bool) (exec.Work, error) {
		w, err := plain(rehearsal)
		if err != nil || rehearsal {
			return w, err
		}
		return exec.Tap(w, func(b exec.Block) exec.BlockWatcher {
			x := &watchedBlock{s: s, InstEvent: InstEvent{Launch: l.Number, Block: b.Linear(), SM: -1}}
			s.opened = x
			return x
		}), nil
	}
}

// watchedBlock tells of the instructions of a block.
type watchedBlock struct {
	InstEvent
	s    *Session
	open []pendingInst // by warp and handle
}

// pendingInst is an instruction that has not accessed memory yet.
type pendingInst struct {
	warp          int
	p             exec.Pending
	inst          *isa.Inst
	active, lanes isa.LaneMask
}

func (b *watchedBlock) Executed(warp int, e *exec.Effects, p exec.Pending) {
	if p >= 0 && (e.Inst.Load || e.Inst.Store) {
		b.open = append(b.open, pendingInst{warp, p, e.Inst, e.Active, e.Lanes})
		return
	}
	b.tell(warp, e.Inst, e.Active, e.Lanes, e)
}

func (b *watchedBlock) Accessed(warp int, e *exec.Effects, p exec.Pending) {
	for i, x := range b.open {
		if x.warp == warp && x.p == p {
			b.open[i] = b.open[len(b.open)-1]
			b.open = b.open[:len(b.open)-1]
			b.tell(warp, x.inst, x.active, e.Lanes, e)
			return
		}
	}
}

func (b *watchedBlock) tell(warp int, in *isa.Inst, active, lanes isa.LaneMask, e *exec.Effects) {
	b.Cycle, b.Warp, b.Inst, b.Active, b.Lanes = b.s.Chip.Now(), warp, in, active, lanes
	b.Waits, b.Space, b.Addr = e.Blocked, isa.NoSpace, nil
	if in.Load || in.Store {
		b.Space, b.Addr = e.Space, e.Addr
	}
	b.s.opt.Watch.Inst(&b.InstEvent)
}

func (b *watchedBlock) Released() {}
