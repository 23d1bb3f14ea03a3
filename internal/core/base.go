package core

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
)

// This file: a base for small core models. It is a whole SM except for the decision
// which warp issues when.

// Plain are Settings of a model that needs none beyond its own parameters, has no
// caches and keeps instructions at their addresses.
type Plain struct {
	Shape
	Of *Model
	// Make returns SM id, idle.
	Make func(s *Plain, id int, env Env) (SM, error)
}

// Model returns the core model.
func (p *Plain) Model() *Model { return p.Of }

// Clone returns a copy.
func (p *Plain) Clone() Settings { x := *p; return &x }

// Occupancy returns how many blocks of a kernel fit on an SM, and what prevents one
// more.
func (p *Plain) Occupancy(threads, registers, shared int) (int, Limit) {
	return p.Fits(threads, shared, registers, func(each int) int { return p.Registers / (isa.WarpSize * each) })
}

// Caches returns nil.
func (p *Plain) Caches() []*cache.Config { return nil }

// CodeBytes returns inst: an instruction takes the same space here as in the program.
func (p *Plain) CodeBytes(inst int) int { return inst }

// Prepare makes a launch ready for the cores; the result is a *Fit.
func (p *Plain) Prepare(w exec.Work, o KernelOptions) (Kernel, error) {
	f, err := NewFit(p, w, o)
	if err != nil {
		return nil, err
	}
	return &f, nil
}

// New returns SM id, idle.
func (p *Plain) New(id int, env Env) (SM, error) { return p.Make(p, id, env) }

// BaseStates are the states of warps on a core with a Base, for Model.States: issued;
// ready but not issued; held back by the model; waiting at a barrier or for lanes of
// the same warp; waiting for memory.
var BaseStates = []string{"selected", "not_selected", "wait", "barrier", "long_scoreboard"}

// BaseStages are the stages of its pipeline, for Model.Stages. An instruction takes
// one cycle.
var BaseStages = []string{"issue"}

// residents are the blocks and warps of a Base.
type residents = Residents[Fit]

// Base is an SM without an issue stage. It holds blocks and warps, executes the
// instructions that the model issues, tracks memory requests, keeps the counters, and
// shows its state. A model embeds it and may override any of its methods.
type Base struct {
	residents
	Books
	Stats Stats
	Env   Env

	id     int
	room   Room
	issue  func(now uint64) (held uint64)
	err    error
	tick   uint64 // cycles with a warp
	now    uint64
	states States
	next   [maxWarps]*isa.Inst // nil if the warp cannot step
	out    [maxWarps]int       // requests not answered
	eff    exec.Effects
	issued uint64 // instructions

	alive, ready, done, memory uint64 // warps: resident, can step, have ended, wait for requests

	log *Log `state:"-"`
	SpinWatch
}

// Begin sets up the base of SM id, of a shape. Issue is called once in each cycle in
// which a warp is resident. It calls Step for what it issues, and returns the ready
// warps that it holds back, which are counted as waiting.
func (b *Base) Begin(s *Shape, id int, env Env, issue func(now uint64) (held uint64)) {
	*b = Base{id: id, Env: env, issue: issue, room: s.Room()}
	b.room.FirstAlways = s.OneBlockAtLeast
	b.Init(s.Places(), b.refresh, env.Turn)
	b.Warps = make([]*Warp[Fit], s.Warps)
	for i := range b.Warps {
		b.Warps[i] = new(Warp[Fit])
	}
	b.Stats.PerWarp = make([]uint64, s.Warps)
}

// ID returns the SM's number.
func (b *Base) ID() int { return b.id }

// Ready returns the warps that can step and have no request in flight.
func (b *Base) Ready() uint64 {
	if b.err != nil {
		return 0
	}
	return b.ready &^ b.memory
}

// Next returns the next instruction of the warp in a slot, nil if it cannot step.
func (b *Base) Next(slot int) *isa.Inst { return b.next[slot] }

// NextOf returns the first warp of a set at or cyclically after a slot, -1 if there
// is none.
func NextOf(set uint64, slot int) int {
	if hi := set >> (slot & 63) << (slot & 63); hi != 0 {
		set = hi
	}
	if set == 0 {
		return -1
	}
	return bits.TrailingZeros64(set)
}

// Step executes the next instruction of the warp in a slot, and returns its effects,
// which are valid until the next Step. They are empty after a fault, which ends the
// run, and for a warp that cannot step.
func (b *Base) Step(slot int) *exec.Effects {
	e := &b.eff
	w, in := b.Warps[slot], b.next[slot]
	if in == nil || b.err != nil {
		*e = exec.Effects{}
		return e
	}
	if b.Env.Turn != nil && !in.Private {
		b.Env.Turn()
	}
	at := w.Next
	if b.err = w.X.Step(e); b.err != nil {
		*e = exec.Effects{}
		return e
	}
	n := uint64(e.Lanes.Count())
	s := &b.Stats
	s.WarpInsts++
	s.ThreadInsts += n
	s.Completed++
	s.Lanes[e.Active.Count()]++
	s.PerWarp[slot]++
	switch {
	case in.Load:
		s.LoadInsts += n
	case in.Store:
		s.StoreInsts += n
	}
	if w.Places != nil {
		p := &w.Places[at]
		p.Issues++
		p.Lanes += n
		if Branches(in) {
			p.Branch(e.Active, e.Lanes)
		}
	}
	b.states.Step(int32(slot), at)
	if b.log != nil {
		x := &b.residents.Blocks[w.Block]
		b.log.Begin(0, Record{Work: x.Work, Block: x.X.Linear(), ID: b.issued, At: at, For: -1, Warp: int16(slot - x.First), Slot: int16(slot)})
		b.log.Reach(0, 0, b.now)
		b.log.End(0, e.Lanes, b.now)
	}
	b.issued++
	b.refresh(int32(slot))
	if in.Barrier || e.Exited != 0 || w.State != exec.Ready {
		b.RefreshBlock(w.Block)
	}
	if b.Spins {
		b.Spin.Issued(slot, w.X, w.Next, w.State == exec.Ready, Calm(in.Op), e)
	}
	return e
}

// Send sends a request for the 32-byte sector that contains an address, for the warp
// in a slot, which waits until all its requests have been answered. It reports
// whether the network had room.
func (b *Base) Send(slot int, addr uint64, write bool) bool {
	r := b.Env.Pool.Get()
	r.Addr, r.Size, r.Kind, r.Write = addr&^(mem.SectorBytes-1), mem.SectorBytes, mem.GlobalRead, write
	if write {
		r.Kind = mem.GlobalWrite
	}
	r.Warp, r.Born = uint16(slot), b.now
	at := int(r.Addr % mem.LineBytes)
	r.Sectors = 1 << (at / mem.SectorBytes)
	r.Bytes.Set(at, mem.SectorBytes)
	if !TrySend(&b.Stats.Traffic, &b.Env, b.id, r) {
		b.Env.Pool.Put(r)
		return false
	}
	b.out[slot]++
	b.memory |= 1 << slot
	return true
}

// Deliver takes a reply.
func (b *Base) Deliver(r *mem.Req) bool {
	b.Stats.Came(r)
	b.Stats.Took(r, b.now)
	slot := r.Warp
	if Drop(b.Env.Pool, r) {
		if b.out[slot]--; b.out[slot] == 0 {
			b.memory &^= 1 << slot
		}
	}
	return true
}

// refresh looks up what a warp executes next.
func (b *Base) refresh(s int32) {
	w := b.Warps[s]
	bit := uint64(1) << s
	was := w.State == exec.Ready
	in, _, addr, st := w.X.Next()
	w.State, w.Next, b.next[s] = st, -1, nil
	b.ready &^= bit
	if st == exec.Ready {
		i := addr >> w.K.Shift
		if code := w.K.Work.Code(); i >= uint64(len(code)) || code[i] != in {
			b.err = fmt.Errorf("kernel %s: instruction address %#x is not in its code", w.K.Work.Name(), addr)
			return
		}
		w.Next, b.next[s] = int32(i), in
		b.ready |= bit
	}
	switch run := &b.residents.Blocks[w.Block].Run; {
	case st == exec.Ready && !was:
		*run++
	case st != exec.Ready && was:
		*run--
	}
	if st == exec.Done {
		b.done |= bit
	}
}

// Run simulates a core cycle.
func (b *Base) Run(now uint64) Status {
	b.now = now
	if b.alive == 0 {
		return StatusOf(false, true, false)
	}
	b.tick++
	b.Stats.Cycles++
	b.Stats.WarpCycles += uint64(b.Resident())
	b.states.Issued = 0
	for m := b.done &^ b.memory; m != 0; m &= m - 1 {
		b.retire(bits.TrailingZeros64(m))
	}
	held := b.issue(now)
	if b.Env.Issued != nil {
		b.Env.Issued()
	}
	state := [...]uint64{1: b.ready &^ held, 2: b.ready & held, 3: b.alive &^ b.ready &^ b.done, 4: b.memory}
	left := b.alive &^ b.states.Issued
	var planes [Planes]uint64
	for st := len(state) - 1; st > 0; st-- {
		m := left & state[st]
		left &^= m
		for i := range planes {
			planes[i] |= m * uint64(st>>i&1)
		}
	}
	Enter(&b.states, &b.residents, b.tick, b.alive, planes, b.Stats.States[:])
	return StatusOf(false, !b.Unfinished() || b.err != nil, false)
}

// retire frees the slot of a warp that has ended, and the place of its block if it was
// the block's last warp.
func (b *Base) retire(s int) {
	b.alive &^= 1 << s
	b.done &^= 1 << s
	b.Stats.WarpLife += b.states.End(s, b.tick, b.Stats.States[:], b.Warps[s].Places)
	if k, x, ended := b.Retire(s); ended {
		b.Stats.BlocksDone++
		b.Env.BlockDone(k, x, 0)
	}
}

// CanTake reports whether there is room for one more block of a kernel.
func (b *Base) CanTake(kernel Kernel) bool {
	k := kernel.Info()
	_, _, ok := b.Find(k, k.Need, b.room)
	return ok
}

// Launch places a block of a kernel and reports whether there was room.
func (b *Base) Launch(kernel Kernel, x exec.Block) bool {
	k := kernel.Info()
	at, first, ok := b.Find(k, k.Need, b.room)
	if !ok {
		return false
	}
	b.Take(at, first, k, k.Work, x, k.Need)
	b.Stats.BlocksLaunched++
	b.BreakSpin()
	for i := range x.Warps() {
		s := first + i
		*b.Warps[s] = b.Warp(at, i, b.PlacesOf(k, len(k.Work.Code())))
		b.alive |= 1 << s
		b.refresh(int32(s))
		b.Stats.WarpsLaunched++
		b.states.Begin(s, b.tick, 1, b.Warps[s].Next)
	}
	return true
}

// The remaining methods of an SM.

// RepliesFull returns false.
func (b *Base) RepliesFull() bool { return false }

// Unfinished reports whether a warp is resident.
func (b *Base) Unfinished() bool { return b.alive != 0 }

// Err returns the fault that stopped the core.
func (b *Base) Err() error { return b.err }

// NextEvent returns the next cycle if a warp is resident, else Never: a Base does not
// sleep.
func (b *Base) NextEvent(now uint64) uint64 {
	if b.alive == 0 {
		return Never
	}
	return now + 1
}

// Skip, KeepAwake and WarmCode do nothing: a Base does not sleep and has no caches.
func (b *Base) Skip(uint64)     {}
func (b *Base) KeepAwake()      {}
func (b *Base) WarmCode(Kernel) {}

// Settle charges the states of resident warps up to now.
func (b *Base) Settle() { Settle(&b.states, &b.residents, b.tick, b.alive, b.Stats.States[:]) }

// Count returns the counters that all models have, Own nil.
func (b *Base) Count() *Stats { return &b.Stats }
func (b *Base) Own() Own      { return nil }

// Inherit takes over the counters of another core.
func (b *Base) Inherit(old SM) { b.Stats = *old.Count() }

// L1D, L1C, L1I and L1T return nil: there are no caches.
func (b *Base) L1D() *cache.Cache   { return nil }
func (b *Base) L1C() *cache.Cache   { return nil }
func (b *Base) L1I() *cache.Cache   { return nil }
func (b *Base) L1T() *cache.Texture { return nil }

// Resplit changes the size of shared memory.
func (b *Base) Resplit(_ cache.Config, shared int) error {
	b.room.Shared = shared
	return nil
}

// Slots is the number of warp slots, Resident the number of warps in them.
func (b *Base) Slots() int    { return len(b.Warps) }
func (b *Base) Resident() int { return bits.OnesCount64(b.alive) }

// View returns the warp in a slot, false if there is none.
func (b *Base) View(slot int) (WarpView, bool) {
	if slot < 0 || slot >= len(b.Warps) || b.alive>>slot&1 == 0 {
		return WarpView{}, false
	}
	v := b.residents.View(slot)
	st := b.states.Of(slot)
	v.State, v.Issued, v.Stores = BaseStates[st], b.Stats.PerWarp[slot], b.out[slot]
	v.Waits = [...]WaitKind{WaitsOther, WaitsOther, WaitsResult, WaitsOther, WaitsAll}[st]
	return v, true
}

// Views returns all resident warps.
func (b *Base) Views() []WarpView {
	var list []WarpView
	for s := range b.Warps {
		if v, ok := b.View(s); ok {
			list = append(list, v)
		}
	}
	return list
}

// Doing sets the state of the warp in each slot, -1 where there is none.
func (b *Base) Doing(to []int8) { b.states.Doing(b.alive, to) }

// Stand returns the position of the warp in a slot, false if there is none.
func (b *Base) Stand(s int) (Stands, bool) {
	if b.alive>>s&1 == 0 {
		return Stands{}, false
	}
	w := b.Warps[s]
	return Stands{Work: w.K.Work, Age: w.Age, Issued: b.Stats.PerWarp[s], Next: w.Next, Last: b.states.Last(s)}, true
}

// Queues returns nil. Nothing is queued in the core, so EachRequest and EachPending
// never call f.
func (b *Base) Queues() []QueueView                          { return nil }
func (b *Base) EachRequest(f func(r *mem.Req, place string)) {}
func (b *Base) EachPending(func(string, cache.Pending))      {}

// Log passes a record of every instruction from now on to sink, until it is called again. HandOn
// passes on the kept records if there are many, FlushLog in any case.
func (b *Base) Log(sink func(list []Record)) {
	b.log.Close(b.now)
	b.log = NewLog(len(BaseStages), sink)
}
func (b *Base) HandOn()   { b.log.HandOn() }
func (b *Base) FlushLog() { b.log.Flush() }

// Spinning reports whether all warps loop forever.
func (b *Base) Spinning() (yes, ended bool) { return b.Looping(b.ready, b.done|b.memory != 0) }
