package ptx

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: calls of a launch's probe (exec.Probe). Kernels of a probed launch are decoded
// apart: instructions that access memory run inside a function that calls the probe. What
// happens seldom, such as barriers, looks for the probe of its block.

var orders = map[string]isa.Order{
	"volatile": isa.Relaxed, "mmio": isa.Relaxed, "relaxed": isa.Relaxed, "acquire": isa.Acquire, "release": isa.Release, "acq_rel": isa.AcqRel, "sc": isa.SeqCst,
}

var scopes = map[string]isa.Scope{
	"cta": isa.ScopeCTA, "cluster": isa.ScopeCluster, "gpu": isa.ScopeGPU, "gl": isa.ScopeGPU, "sys": isa.ScopeSystem,
}

// memoryModel fills in what an access or a fence means for other threads (PTX manual, memory
// consistency model; ld, st, atom, fence for the defaults).
func memoryModel(in *ptx.Inst, info *isa.Inst) {
	switch {
	case info.Kind == isa.KindFence:
		info.Order, info.Scope = isa.AcqRel, isa.ScopeGPU
		if in.Op == "membar" {
			info.Order = isa.SeqCst
		}
		if in.Has("proxy") {
			info.Order = isa.Weak
		}
	case in.Op == "mbarrier" && (in.Has("test_wait") || in.Has("try_wait")):
		info.Order, info.Scope = isa.Acquire, isa.ScopeCTA
	case in.Op == "mbarrier", in.Op == "cp" && in.Has("mbarrier"):
		info.Order, info.Scope = isa.Release, isa.ScopeCTA
	case info.Atomic:
		info.Order, info.Scope = isa.Relaxed, isa.ScopeGPU
	case !info.Load && !info.Store:
		return
	}
	for _, m := range in.Mods {
		if o, ok := orders[m]; ok {
			info.Order = o
			if m == "volatile" || m == "mmio" {
				info.Scope = isa.ScopeSystem
			}
		}
		if s, ok := scopes[m]; ok {
			info.Scope = s
		}
	}
}

// site is the index of the running instruction in the launch's code.
func (w *warp) site() int { return int(w.fr.f.base/instBytes) + int(w.pc) }

// Site, LiveLanes, Where and Chain are as in exec.ProbedBlock.
func (b *block) Site(warp int) int { return b.warps[warp].site() }

func (b *block) LiveLanes(warp int) isa.LaneMask { return isa.LaneMask(b.warps[warp].live) }

func (b *block) Where(warp, lane int) exec.Where { return b.warps[warp].where(lane) }

func (b *block) Chain(warp int) (list []exec.Where) {
	w := &b.warps[warp]
	for fr := w.fr; fr.parent != nil; fr = fr.parent {
		list = append(list, w.placeOf(fr.parent.f, fr.ret-1, bits.TrailingZeros32(w.mask)&31))
	}
	return list
}

// probe makes an instruction call the probe, if it accesses memory.
func (d *dec) probe(o *inst) {
	if o.run == nil {
		return
	}
	switch {
	case d.info.Kind == isa.KindFence:
		o.kind = kMem
		o.run = func(w *warp, in *inst, m uint32) {
			if p := w.blk.probe; p != nil {
				info := w.info()
				p.Fence(w.id, isa.LaneMask(m), info.Order, info.Scope)
			}
		}
	case d.info.Async.Does == isa.AsyncCommit, d.info.Async.Does == isa.AsyncWait, d.info.Async.Does == isa.AsyncWaitAll:
		o.kind = kMem
		o.run = func(w *warp, in *inst, m uint32) {
			if p := w.blk.probe; p != nil {
				p.Group(w.id, isa.LaneMask(m), w.info().Async)
			}
		}
	case o.x == nil:
	case isCAS(o):
		o.run = seenCAS(o.x.any.(*atomicOp), tolerant(o))
	default:
		seen := seenAs(o)
		if seen == nil {
			return
		}
		run := watchSums(o, watchSilent(o, tolerant(o)))
		o.run = func(w *warp, in *inst, m uint32) {
			run(w, in, m)
			if m &^= w.lost; w.blk.probe != nil && w.fault == nil && m != 0 {
				seen(w, in, m)
			}
		}
	}
}

// tolerant returns what runs an instruction, and leaves out the accesses that the probe lets
// go on after a fault. w.lost are their lanes.
func tolerant(o *inst) runFunc {
	run := o.run
	apart := false // each lane acts for itself
	switch o.x.any.(type) {
	case *memOp, *atomicOp:
		apart = true
	}
	return func(w *warp, in *inst, m uint32) {
		w.lost = 0
		if w.blk.faults == nil {
			run(w, in, m)
			return
		}
		for m != 0 && w.fault == nil {
			now := m
			if apart {
				now = m & -m
			}
			if run(w, in, now); w.fault != nil && w.fault.access != nil && w.blk.faults.Fault(w.failure()) {
				w.fault = nil
				w.lost |= now
			}
			m &^= now
		}
	}
}

// info is the description of the running instruction.
func (w *warp) info() *isa.Inst { return &w.fr.f.info[w.pc] }

// seenAs returns what tells the probe of an instruction after it has run, nil for one that
// accesses no memory, or tells the probe itself.
func seenAs(o *inst) runFunc {
	switch x := o.x.any.(type) {
	case *memOp:
		if space := isa.Space(o.mode); space == isa.Const || space == isa.Param {
			return nil
		}
		return seenPlain
	case *atomicOp:
		return func(w *warp, in *inst, m uint32) {
			w.seen(isa.Space(in.mode), m, x.total, true, true, &w.addr)
			if x.mbar != nil {
				w.seenBytes(x.mbar, m)
			}
		}
	case *matrixOp:
		rows := uint32(1)<<(8*len(x.refs)) - 1
		if len(x.refs) == 4 {
			rows = full
		}
		return func(w *warp, in *inst, m uint32) {
			w.seen(x.space, rows, 16, !x.store, x.store, &w.addr)
		}
	case *copyOp:
		return x.seen
	}
	return nil
}

// isCAS reports whether an instruction is a compare-and-swap.
func isCAS(o *inst) bool {
	a, ok := o.x.any.(*atomicOp)
	return ok && a.op == rmwCAS
}

// seenCAS returns what runs a compare-and-swap lane by lane, and tells the probe which lanes
// stored nothing: earlier lanes of the warp may have changed what a later one compares.
func seenCAS(a *atomicOp, run runFunc) runFunc {
	return func(w *warp, in *inst, m uint32) {
		if w.blk.probe == nil || w.addresses(in, m)&uint64(a.total-1) != 0 {
			run(w, in, m)
			return
		}
		failed, lost := uint32(0), uint32(0)
		for k := m; k != 0 && w.fault == nil; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			w.addresses(in, 1<<i)
			if p, _ := w.atomBytes(isa.Space(in.mode), i, a.total); p == nil {
				w.fault = nil // the run finds it again
			} else if !a.equal(w, p, i) {
				failed |= 1 << i
			}
			run(w, in, 1<<i)
			lost |= w.lost
		}
		if m &^= lost; w.fault == nil && m != 0 {
			b := w.blk
			b.access = exec.Access{Warp: w.id, Site: w.site(), Depth: w.fr.depth, Inst: w.info(), Addr: &w.addr, Bytes: a.total, Read: true, Write: true, Failed: isa.LaneMask(failed)}
			w.tellAccess(&b.access, isa.Space(in.mode), m)
		}
	}
}

// equal reports whether a compare-and-swap of lane i at p finds what it compares with.
func (a *atomicOp) equal(w *warp, p []byte, i int) bool {
	switch a.size {
	case 2:
		return le.Uint16(p) == uint16(w.value(a.b, 0, i))
	case 4:
		return le.Uint32(p) == uint32(w.value(a.b, 0, i))
	case 8:
		return le.Uint64(p) == w.value(a.b, 0, i)
	}
	r := a.b.elems[0].r
	return le.Uint64(p) == w.u64(r)[i&31] && le.Uint64(p[8:]) == w.u64(r + 1)[i&31]
}

// seenPlain tells of a load or a store.
func seenPlain(w *warp, in *inst, m uint32) {
	info := w.info()
	b := w.blk
	b.access = exec.Access{Warp: w.id, Site: w.site(), Depth: w.fr.depth, Inst: info, Addr: &w.addr, Bytes: int(in.size), Read: info.Load, Write: info.Store, Silent: isa.LaneMask(w.silent)}
	w.tellAccess(&b.access, isa.Space(in.mode), m)
}

// seen tells the probe of an access of lanes m, space by space.
func (w *warp) seen(space isa.Space, m uint32, bytes int, read, write bool, addr *[32]uint64) {
	b := w.blk
	a := &b.access
	*a = exec.Access{Warp: w.id, Site: w.site(), Depth: w.fr.depth, Inst: w.info(), Addr: addr, Bytes: bytes, Read: read, Write: write}
	w.tellAccess(a, space, m)
}

// tellAccess tells the probe of an access, with generic addresses resolved.
func (w *warp) tellAccess(a *exec.Access, space isa.Space, m uint32) {
	if w.blk.team != nil && (space == isa.Shared || space == isa.Generic) {
		m &^= w.tellCluster(a, space, m)
	}
	if m == 0 {
		return
	}
	if to := &w.blk.resolved; w.blk.im.pairs && space == isa.Shared { // such addresses may have the window's bit
		*to = *a.Addr
		for k := m; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			if s, at := isa.Resolve(to[i]); s == isa.Shared {
				to[i] = at
			}
		}
		a.Addr = to
	}
	a.Tell(w.blk.probe, space, isa.LaneMask(m), &w.blk.resolved)
}

// tellCluster tells the probe of those of lanes m whose addresses are in the shared memory of the cluster,
// block by block, and returns them.
func (w *warp) tellCluster(a *exec.Access, space isa.Space, m uint32) (told uint32) {
	b := w.blk
	of := b.byRank(a.Addr, space, m)
	for rank, lanes := range of {
		if lanes == 0 {
			continue
		}
		told |= lanes
		x := *a
		x.Addr, x.Space, x.Lanes, x.Peer = &b.team.told, isa.Shared, isa.LaneMask(lanes), b.peer(uint64(rank))
		b.probe.Access(&x)
	}
	return told
}

// byRank finds the lanes whose addresses are in the shared memory of the cluster, by the ranks of the
// blocks, and puts where they are in it into team.told.
func (b *block) byRank(addr *[32]uint64, space isa.Space, m uint32) (of [isa.MaxCluster]uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		s, a := isa.Resolve(addr[i])
		if space == isa.Shared && s != isa.Shared {
			s, a = isa.Shared, addr[i]
		}
		if s != isa.Shared {
			continue
		}
		if rank, at, ok := inCluster(a); ok && rank < isa.MaxCluster {
			of[rank] |= 1 << i
			b.team.told[i] = at
		}
	}
	return of
}

// peer is the block of a rank as probes know it.
func (b *block) peer(rank uint64) exec.Peer {
	if b.team == nil || rank == b.rank() {
		return 0
	}
	return exec.Peer(b.team.blocks[rank].Linear() + 1)
}

// inPeer is how probes see a shared address: whose memory it is in, and where.
func (b *block) inPeer(a uint64) (exec.Peer, uint64) {
	if s, at := isa.Resolve(a); s == isa.Shared {
		a = at
	}
	rank, at, ok := inCluster(a)
	if !ok {
		return 0, a
	}
	return b.peer(rank), at
}

// tellFlight tells the probe of a part of lane i's asynchronous copy, which ends with a phase of the mbarrier
// at a shared address, or with a group.
func (w *warp) tellFlight(i int, space isa.Space, addr uint64, bytes int, read, write bool, by isa.Completion, mbarrier uint64) {
	b := w.blk
	w.addr[i&31] = addr
	a := &b.access
	*a = exec.Access{Warp: w.id, Site: w.site(), Depth: w.fr.depth, Inst: w.info(), Addr: &w.addr, Bytes: bytes, Read: read, Write: write, Flight: true, By: by}
	if by == isa.ByMbarrier {
		a.MbarrierPeer, a.Mbarrier = b.inPeer(mbarrier)
	}
	w.tellAccess(a, space, 1<<i)
}

// tellArrived tells the probe that bytes of lane i's copy have arrived at the mbarrier at a shared address.
func (w *warp) tellArrived(i int, mbarrier uint64) {
	w.addr[i&31] = mbarrier
	w.signal(exec.SignalBytes, 1<<i)
}

// seen tells of a copy: what it reads and what it writes, in flight until somebody waits.
func (c *copyOp) seen(w *warp, in *inst, m uint32) {
	if c.multi {
		return // each block was told of
	}
	own := w.addr
	defer func() { w.addr = own }()
	info := w.info()
	by, mbarrier, peer := info.Async.Done, uint64(0), exec.Peer(0)
	tell := func(at *inst, space isa.Space, m uint32, bytes int, read, write bool) {
		w.addresses(at, m)
		if space == isa.Shared {
			w.sharedOnly(m)
		}
		a := &w.blk.access
		*a = exec.Access{Warp: w.id, Site: w.site(), Depth: w.fr.depth, Inst: info, Addr: &w.addr, Bytes: bytes, Read: read, Write: write, Flight: by != isa.ByNothing, By: by, Mbarrier: mbarrier, MbarrierPeer: peer}
		w.tellAccess(a, space, m)
	}
	each := func(m uint32, bytes int) {
		if c.mbar != nil {
			by = isa.ByMbarrier
			w.addresses(c.mbar, m)
			peer, mbarrier = w.blk.inPeer(w.addr[bits.TrailingZeros32(m)&31])
		}
		if c.src != nil {
			tell(c.src, c.from, c.reads(w, m), bytes, true, false)
		}
		tell(in, c.to, m, bytes, c.elem > 0, true)
		if c.mbar != nil {
			w.seenBytes(c.mbar, m)
		}
	}
	switch {
	case c.size > 0:
		each(m, c.size)
	case c.value != nil:
		each(m, c.value.total)
	default: // a size for each lane
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			n := 0
			if c.to == isa.Shared && c.src == nil {
				n = int(w.u64(c.bytes)[i])
			} else {
				n = int(w.u32(c.bytes)[i])
			}
			if n > 0 {
				each(1<<i, n)
			}
		}
	}
}

// reads returns the lanes of m that read their source: the others write zeros.
func (c *copyOp) reads(w *warp, m uint32) uint32 {
	if c.ignore != none {
		p := w.pr[c.ignore]
		if c.neg {
			p = ^p
		}
		m &^= p
	}
	if c.srcLen != none {
		for k := m; k != 0; k &= k - 1 {
			if i := bits.TrailingZeros32(k) & 31; w.u32(c.srcLen)[i] == 0 {
				m &^= 1 << i
			}
		}
	}
	return m
}

// sharedOnly makes generic addresses of shared memory in w.addr relative to it.
func (w *warp) sharedOnly(m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		if s, at := isa.Resolve(w.addr[i]); s == isa.Shared {
			w.addr[i] = at
		}
	}
}

// seenBytes tells of bytes that have arrived at mbarriers.
func (w *warp) seenBytes(at *inst, m uint32) {
	own := w.addr
	w.addresses(at, m)
	w.signal(exec.SignalBytes, m)
	w.addr = own
}

// signal tells the probe of an operation on the mbarriers at w.addr; w.done are the lanes
// for which it completed a phase, or found it complete.
func (w *warp) signal(does exec.SignalKind, m uint32) {
	b := w.blk
	if b.probe == nil || w.fault != nil {
		return
	}
	info := w.info()
	order, scope := info.Order, info.Scope
	if does == exec.SignalBytes && order != isa.Release { // of a copy
		order, scope = isa.Release, isa.ScopeCluster
	}
	b.signal = exec.Signal{Warp: w.id, Site: w.site(), Does: does, Order: order, Scope: scope}
	if b.team != nil {
		for rank, lanes := range b.byRank(&w.addr, isa.Shared, m) {
			if lanes != 0 {
				m &^= lanes
				w.tellSignal(lanes, &b.team.told, b.peer(uint64(rank)))
			}
		}
	}
	if m == 0 {
		return
	}
	b.resolved = w.addr
	for k := m; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		if s, at := isa.Resolve(b.resolved[i]); s == isa.Shared {
			b.resolved[i] = at
		}
	}
	w.tellSignal(m, &b.resolved, 0)
}

// tellSignal tells the probe of what lanes m do to mbarriers of one block.
func (w *warp) tellSignal(m uint32, addr *[32]uint64, p exec.Peer) {
	s := &w.blk.signal
	s.Lanes, s.Addr, s.Done, s.Peer = isa.LaneMask(m), addr, isa.LaneMask(w.done&m), p
	w.blk.probe.Signal(s)
}

// misuse tells the probe of an error of synchronisation.
func (w *warp) misuse(kind exec.Misuse, lanes, mask uint32) {
	if p := w.blk.probe; p != nil {
		p.Misuse(kind, w.id, isa.LaneMask(lanes), isa.LaneMask(mask))
	}
}

// wrappable reports whether an instruction's run function may be wrapped in one that looks at the warp's place, and
// makes the interpreter keep that place.
func (o *inst) wrappable() bool {
	switch {
	case o.run == nil:
		return false
	case o.kind == kRun:
		o.kind = kMem
	}
	return o.kind == kMem || o.kind == kWarpSync
}

// follow makes an instruction call a probe that follows values, after it has run. What
// special executes calls it there.
func (d *dec) follow(o *inst) {
	if len(d.info.Dsts)+len(d.info.Srcs) == 0 || !o.wrappable() {
		return
	}
	run := o.run
	if d.info.Kind == isa.KindShfl {
		o.run = func(w *warp, in *inst, m uint32) {
			var from [32]uint8
			if w.blk.flow != nil {
				in.sources(w, m, &from)
			}
			if run(w, in, m); w.blk.flow != nil && w.fault == nil {
				w.blk.from = from
				w.blk.flow.Shuffled(w.id, w.site(), isa.LaneMask(m), &w.blk.from, w.fr.depth)
			}
		}
		return
	}
	o.run = func(w *warp, in *inst, m uint32) {
		run(w, in, m)
		if w.blk.flow != nil && w.fault == nil {
			w.executed(m)
		}
	}
}

// executed tells the probe that lanes m of the running fragment have executed the running
// instruction.
func (w *warp) executed(m uint32) {
	w.blk.flow.Executed(w.id, w.site(), isa.LaneMask(m), isa.LaneMask(w.mask), w.fr.depth)
}

// branches tells of a branch with a guard: lanes m of mask take it.
func (w *warp) branches(pc int32, m, mask uint32) {
	w.countWays(pc, m, mask)
	if w.blk.flow != nil {
		w.pc = pc
		w.executed(m)
	}
}

// entered tells the probe of a new frame.
func (w *warp) entered(fr *frame, m uint32) {
	if w.blk.flow != nil {
		f := fr.f
		w.blk.flow.Enter(w.id, isa.LaneMask(m), &exec.Callee{Depth: fr.depth, Registers: f.n32 + 2*f.n64, Predicates: f.np, Base: uint64(fr.base), Bytes: uint64(f.local)})
	}
}

// passed tells the probe that a parameter or a result has been set.
func (w *warp) passed(fr *frame, to *paramSlot, m uint32) {
	flow := w.blk.flow
	if flow == nil {
		return
	}
	at := isa.Reg{File: isa.RegGPR, Count: 1, Index: uint32(to.r)}
	switch {
	case to.off >= 0:
		flow.Passed(w.id, isa.LaneMask(m), fr.depth, isa.Reg{}, uint64(fr.base+to.off), to.size)
		return
	case to.class == cPred:
		at.File = isa.RegPred
	case to.class == c64, to.class == c128:
		at.Count, at.Index = 2, uint32(fr.f.n32)+2*uint32(to.r)
	}
	flow.Passed(w.id, isa.LaneMask(m), fr.depth, at, 0, 0)
	if to.class == c128 {
		at.Index += 2
		flow.Passed(w.id, isa.LaneMask(m), fr.depth, at, 0, 0)
	}
}

// Zero is as in exec.RegisterReader.
func (b *block) Zero(warp int, r isa.Reg) (m isa.LaneMask) {
	w := &b.warps[warp]
	n := uint32(w.fr.f.n32)
	switch {
	case r.File == isa.RegPred:
		return isa.LaneMask(^w.pr[r.Index])
	case r.Index < n:
		for i, v := range w.r32[r.Index] {
			if v == 0 {
				m |= 1 << i
			}
		}
	default:
		for i, v := range w.r64[(r.Index-n)/2] {
			if v == 0 {
				m |= 1 << i
			}
		}
	}
	return m
}
