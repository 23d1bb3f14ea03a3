package sass

import (
	"math/bits"
	"sync"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: calls of a launch's probe (exec.Probe). Blocks of a probed launch run a copy of the
// kernel's code in which instructions that access or order memory call the probe, and in a second copy
// all that name a register; the kernel's own code has no such calls. What happens seldom, such as
// barriers, looks for the probe of its block.
//
// Only functional runs are probed. Under a core model an instruction accesses memory some time after
// it has issued, when later ones may have issued too, so that a probe would not see the order of the
// program.

// watch is a copy of a kernel's code that calls probes.
type watch struct {
	once sync.Once
	code []inst
}

// watching is what a block keeps for the calls of its probe.
type watching struct {
	access   exec.Access
	resolved [32]uint64 // addresses
	from     [32]uint8  // lanes that a shuffle reads
	copyAddr [32]uint64 // where a copy writes
}

// watched returns the code that calls probes, and FlowProbes too if follows is set.
func (k *Kernel) watched(follows bool) []inst {
	x := &k.watch[0]
	if follows {
		x = &k.watch[1]
	}
	x.once.Do(func() {
		x.code = append([]inst(nil), k.code...)
		groups := k.groupCounters()
		for i := range k.text.Code {
			in := &x.code[i]
			in.direct, in.quick, in.word = false, false, false // a probe may find lanes that do not get the results
			in.watch(&k.text.Code[i], groups)
			if follows {
				in.follow()
			}
		}
	})
	return x.code
}

// groupCounters returns the dependence counters by which code waits for groups of copies, a bit
// each: those of LDGDEPBAR, all if the code does not say.
func (k *Kernel) groupCounters() (m uint8) {
	for i := range k.infos {
		if o := &k.infos[i]; o.Async.Does == isa.AsyncCommit {
			if o.Control == nil || o.Control.Write == isa.NoCounter {
				return 0xff
			}
			m |= 1 << o.Control.Write
		}
	}
	return m
}

// watch asks the launch's probe, if it has one, for that of the block.
func (b *block) watch(p exec.Probe) {
	b.probe, b.flow, b.faults, b.silent = nil, nil, nil, false
	if p == nil {
		return
	}
	b.probe = p.Block(b)
	b.faults, _ = exec.ProbeAs[exec.FaultProbe](b.probe)
	if exec.Follows(p) {
		b.flow, _ = exec.ProbeAs[exec.FlowProbe](b.probe)
	}
	_, b.silent = exec.ProbeAs[exec.SilentProbe](b.probe)
}

// probe returns the probe of the block, nil if it has none, for a call about an instruction.
func (w *warp) probe(in *inst) exec.BlockProbe {
	w.site = in.info.PC
	return w.blk.probe
}

// Site, LiveLanes, Where and Chain are as in exec.ProbedBlock.
func (b *block) Site(warp int) int { return int(b.warps[warp].site) }

func (b *block) LiveLanes(warp int) isa.LaneMask { return isa.LaneMask(b.warps[warp].live) }

func (b *block) Where(warp, lane int) exec.Where {
	w := &b.warps[warp]
	return w.where(lane&31, &b.im.code[w.site])
}

func (b *block) Chain(int) []exec.Where { return nil }

// watchNop makes an instruction that has no effect on values call the probe.
func (o *inst) watchNop(tell func(p exec.BlockProbe, w *warp, in *inst, m isa.LaneMask)) {
	o.kind = kFlow
	o.act = func(w *warp, in *inst, m uint32) {
		if p := w.probe(in); p != nil {
			tell(p, w, in, isa.LaneMask(m))
		}
		w.pc++
	}
}

// watch makes an instruction call the probe, if it accesses or orders memory.
func (o *inst) watch(in *sass.Inst, groups uint8) {
	if o.mem != nil && o.mem.space != isa.Const {
		o.tolerate(in.Op == sass.OpLDSM || in.Op == sass.OpSTSM)
	}
	switch in.Op {
	case sass.OpNOP:
		o.watchNop(func(p exec.BlockProbe, w *warp, in *inst, m isa.LaneMask) { p.Meet(w.id, m) })
	case sass.OpMEMBAR, sass.OpCCTL:
		if o.info.Order != isa.Weak {
			o.watchNop(func(p exec.BlockProbe, w *warp, in *inst, m isa.LaneMask) {
				p.Fence(w.id, m, in.info.Order, in.info.Scope)
			})
		}
	case sass.OpLDGDEPBAR:
		o.watchNop(func(p exec.BlockProbe, w *warp, in *inst, m isa.LaneMask) { p.Group(w.id, m, in.info.Async) })
	case sass.OpDEPBAR:
		d := o.info.Depbar
		wait := isa.Async{Does: isa.AsyncWait, Done: isa.ByGroup, Leave: int32(d.AtMost)}
		if d.Zero&groups != 0 {
			wait.Leave = 0
		} else if d.SB == isa.NoCounter || groups>>d.SB&1 == 0 {
			return
		}
		o.watchNop(func(p exec.BlockProbe, w *warp, in *inst, m isa.LaneMask) { p.Group(w.id, m, wait) })
	case sass.OpSHFL:
		o.after(func(w *warp, in *inst, p *pending) { w.lone(in, p) })
	case sass.OpLDGSTS:
		o.after(seenCopy)
	case sass.OpATOM, sass.OpATOMG, sass.OpATOMS, sass.OpRED, sass.OpREDG:
		o.after(func(w *warp, in *inst, p *pending) { w.seen(in, p, failed(in, p), 0) })
	case sass.OpST, sass.OpSTG, sass.OpSTS:
		o.watchStore()
	default:
		if o.mem != nil && o.mem.space != isa.Const {
			o.after(func(w *warp, in *inst, p *pending) { w.seen(in, p, 0, 0) })
		}
	}
}

// tolerate makes an instruction leave out the accesses with which the probe lets it go on after a fault.
// Their lanes keep the registers that it writes; of rows of a matrix all do, since they are accessed for
// other lanes.
func (o *inst) tolerate(rows bool) {
	run := o.run
	o.run = func(w *warp, in *inst, p *pending, m uint32) {
		if w.blk.faults == nil {
			run(w, in, p, m)
			return
		}
		at, yes := uint32(0), uint32(0)
		for m != 0 {
			now := m
			if in.info.Atomic { // what has been done cannot be done again
				now = m & -m
			}
			p.at = now
			switch run(w, in, p, now); {
			case w.fault == nil:
				at, yes = at|p.at, yes|p.pout[0]&now
				m &^= now
			case w.fault.access == nil || !w.blk.faults.Fault(w.failure().(*exec.Fault)):
				return
			default:
				lost := uint32(1) << w.fault.lane
				if rows {
					lost = full
				}
				w.fault = nil
				p.mask &^= lost
				m &^= lost
			}
		}
		p.at, p.pout[0] = at, yes
	}
}

// after makes an instruction call a function after it has run without a fault, if the block has a
// probe.
func (o *inst) after(tell func(w *warp, in *inst, p *pending)) {
	run := o.run
	o.run = func(w *warp, in *inst, p *pending, m uint32) {
		run(w, in, p, m)
		if w.fault == nil && w.probe(in) != nil {
			tell(w, in, p)
		}
	}
}

// seen tells the probe of an access at w.addr; lanes of failed have stored nothing, those of silent
// what was there.
func (w *warp) seen(in *inst, p *pending, failed, silent uint32) {
	if p.at == 0 {
		return
	}
	a, o := &w.blk.told.access, in.info
	*a = exec.Access{Warp: w.id, Site: int(o.PC), Inst: o, Addr: &w.addr, Bytes: in.mem.size, Read: o.Load || o.Atomic, Write: o.Store, Failed: isa.LaneMask(failed), Silent: isa.LaneMask(silent)}
	a.Tell(w.blk.probe, in.mem.space, isa.LaneMask(p.at), &w.blk.told.resolved)
}

// failed returns the lanes in which a compare-and-swap has stored nothing.
func failed(in *inst, p *pending) (m uint32) {
	if in.mode != atomCAS && in.mode != atomCAST {
		return 0
	}
	data := p.s[in.mem.data:]
	for t := p.at; t != 0; t &= t - 1 {
		i := bits.TrailingZeros32(t) & 31
		ok := p.d[0][i] == data[0][i] && (in.mem.size == 4 || p.d[1][i] == data[1][i])
		if in.mode == atomCAST { // the result is whether it has
			ok = p.d[0][i] != 0
		}
		if !ok {
			m |= 1 << i
		}
	}
	return m
}

// seenCopy tells of an LDGSTS: what it reads and what it writes, in flight until the thread waits for
// its group.
func seenCopy(w *warp, in *inst, p *pending) {
	b := w.blk
	a := exec.Access{Warp: w.id, Site: int(in.info.PC), Inst: in.info, Addr: &w.addr, Bytes: in.mem.size, Read: true, Flight: true, By: isa.ByGroup}
	if p.at != 0 {
		b.told.access = a
		b.told.access.Tell(b.probe, isa.Global, isa.LaneMask(p.at), &b.told.resolved)
	}
	for i, to := range p.late.to {
		b.told.copyAddr[i] = uint64(to)
	}
	a.Addr, a.Read, a.Write = &b.told.copyAddr, false, true
	b.told.access = a
	b.told.access.Tell(b.probe, isa.Shared, isa.LaneMask(p.mask), &b.told.resolved)
}

// lone tells of a shuffle in which lanes read registers of lanes that do not take part.
func (w *warp) lone(in *inst, p *pending) {
	from := &w.blk.told.from
	sources(in, p, from)
	var lanes, of uint32
	for t := p.mask; t != 0; t &= t - 1 {
		i := bits.TrailingZeros32(t) & 31
		if j := from[i] & 31; p.mask>>j&1 == 0 {
			lanes |= 1 << i
			of |= 1 << j
		}
	}
	if lanes != 0 {
		w.blk.probe.Misuse(exec.FromOutside, w.id, isa.LaneMask(lanes), isa.LaneMask(of))
	}
}

// sources finds the lane that each lane of a shuffle reads, its own if that is out of range.
func sources(in *inst, p *pending, from *[32]uint8) {
	for t := p.mask; t != 0; t &= t - 1 {
		i := uint32(bits.TrailingZeros32(t) & 31)
		j, ok := in.partner(i, p.s[1][i], p.s[2][i])
		if !ok {
			j = i
		}
		from[i] = uint8(j & 31)
	}
}

// watchStore is after for a store; it notes which lanes change nothing, for a probe that asks.
func (o *inst) watchStore() {
	run := o.run
	o.run = func(w *warp, in *inst, p *pending, m uint32) {
		if w.probe(in) == nil {
			run(w, in, p, m)
			return
		}
		var old [32][8]uint32
		if w.blk.silent {
			w.addresses(in.mem, p, m)
			for t := m; t != 0; t &= t - 1 {
				i := bits.TrailingZeros32(t) & 31
				w.peek(in.mem, i, &old[i])
			}
		}
		if run(w, in, p, m); w.fault != nil {
			return
		}
		silent := uint32(0)
		if w.blk.silent {
			silent = w.unchanged(in, p, m, &old)
		}
		w.seen(in, p, 0, silent)
	}
}

// peek reads the words at lane i's address, if they are there.
func (w *warp) peek(a *access, i int, to *[8]uint32) {
	at, space, mem := w.addr[i], a.space, []byte(nil)
	if space == isa.Generic {
		space, at = isa.Resolve(at)
	}
	switch n := uint64(a.size); {
	case space == isa.Shared:
		if s := w.blk.Shared; at < uint64(len(s)) && n <= uint64(len(s))-at {
			mem = s[at : at+n]
		}
	case space != isa.Local:
		mem = w.blk.View.ReadSpan(at, a.size)
	}
	if len(mem) < a.size {
		return
	}
	switch a.size {
	case 1:
		to[0] = uint32(mem[0])
	case 2:
		to[0] = uint32(le.Uint16(mem))
	default:
		for k := range a.size / 4 {
			to[k] = le.Uint32(mem[4*k:])
		}
	}
}

// unchanged returns the lanes of a store that found what they store: old was there before, or a lane
// before them at the same address has stored it.
func (w *warp) unchanged(in *inst, p *pending, m uint32, old *[32][8]uint32) (silent uint32) {
	data, a := p.s[in.mem.data:], in.mem
	value := func(i int) (v [8]uint32) {
		switch a.size {
		case 1:
			v[0] = data[0][i] & 0xff
		case 2:
			v[0] = data[0][i] & 0xffff
		default:
			for k := range a.size / 4 {
				v[k] = data[k][i]
			}
		}
		return v
	}
	highest := uint64(0)
	for t := m; t != 0; t &= t - 1 {
		i := bits.TrailingZeros32(t) & 31
		was := old[i]
		if w.addr[i] <= highest { // perhaps that of a lane before
			for k := m & (1<<i - 1); k != 0; k &= k - 1 {
				if j := bits.TrailingZeros32(k) & 31; w.addr[j] == w.addr[i] {
					was = value(j)
				}
			}
		}
		highest = max(highest, w.addr[i])
		if value(i) == was {
			silent |= 1 << i
		}
	}
	return silent
}

// met tells the probe that lanes m have met at a WARPSYNC.
func (w *warp) met(m uint32) {
	if p := w.blk.probe; p != nil {
		p.Meet(w.id, isa.LaneMask(m))
	}
}

// neverCame tells the probe of lanes that wait at a WARPSYNC for others which have not exited.
func (b *block) neverCame() {
	for i := range b.warps {
		w := &b.warps[i]
		for k := range w.frags {
			f := &w.frags[k]
			need, came, _ := w.awaited(f)
			if (f.st == atSync || f.st == atCollective) && need&^came != 0 {
				w.probe(&b.im.code[f.pc]).Misuse(exec.NeverCame, i, isa.LaneMask(f.mask), isa.LaneMask(f.need))
			}
		}
	}
}

// tellHeap tells the probe of a malloc or a free of the thread that has called it; first was the
// argument.
func (w *warp) tellHeap(in *inst, f exec.Function, first uint64) {
	h, ok := w.probe(in).(exec.HeapProbe)
	switch t := &w.blk.caller; {
	case !ok || w.fault != nil:
	case f == exec.Malloc && t.Arg(0) != 0:
		h.Heap(w.id, t.lane, t.Arg(0), first, false)
	case f == exec.Free && first != 0:
		h.Heap(w.id, t.lane, first, 0, true)
	}
}

// follow makes an instruction that names registers call a probe that follows values. The predicates
// of branches and of accesses are looked at there, so that the probe also sees those that no lane
// passes.
func (o *inst) follow() {
	if len(o.info.Dsts)+len(o.info.Srcs) == 0 {
		return
	}
	guard := o.guard
	if o.kind == kFlow {
		act, also := o.act, o.ps[2]
		o.guard, o.ps[2] = predicate{at: predTrue}, predicate{at: predTrue}
		o.act = func(w *warp, in *inst, m uint32) {
			own := m & w.pred(guard)
			w.thrInsts -= uint64(bits.OnesCount32(m) - bits.OnesCount32(own))
			w.executed(in, own)
			if own &= w.pred(also); own == 0 {
				w.pc++
				return
			}
			act(w, in, own)
		}
		return
	}
	if o.kind != kRun {
		return
	}
	run, shuffles := o.run, o.info.Kind == isa.KindShfl
	accesses := o.mem != nil && o.mem.space != isa.Const
	if accesses {
		o.guard = predicate{at: predTrue}
	}
	o.run = func(w *warp, in *inst, p *pending, m uint32) {
		if accesses {
			m = p.mask & w.pred(guard)
			w.thrInsts -= uint64(bits.OnesCount32(p.mask) - bits.OnesCount32(m))
			p.mask, p.at = m, m
		}
		if p.mask != 0 {
			run(w, in, p, m)
		}
		switch {
		case w.fault != nil || w.blk.flow == nil:
		case shuffles:
			w.site = in.info.PC
			sources(in, p, &w.blk.told.from)
			w.blk.flow.Shuffled(w.id, int(w.site), isa.LaneMask(p.mask), &w.blk.told.from, 0)
		default:
			w.executed(in, p.mask)
		}
	}
}

// executed tells a probe that follows values that lanes m have executed an instruction.
func (w *warp) executed(in *inst, m uint32) {
	if f := w.blk.flow; f != nil {
		w.site = in.info.PC
		f.Executed(w.id, int(w.site), isa.LaneMask(m), isa.LaneMask(w.mask), 0)
	}
}

// Zero is as in exec.RegisterReader.
func (b *block) Zero(warp int, r isa.Reg) (m isa.LaneMask) {
	w := &b.warps[warp]
	row := int(r.Index)
	switch r.File {
	case isa.RegPred:
		return isa.LaneMask(^w.pr[row])
	case isa.RegUPred:
		return isa.LaneMask(^w.pr[uniformPred+row])
	case isa.RegUGPR:
		row += b.im.kernel.regs
	}
	for i, v := range w.rows[row] {
		if v == 0 {
			m |= 1 << i
		}
	}
	return m
}
