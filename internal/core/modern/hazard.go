package modern

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: the hazard checker. In programs with control bits it looks for
// instructions that issue before their sources are available, or before other
// instructions have read what they overwrite, and for missing waits that happened to do
// no harm.

// maxHazards is how many distinct hazards are kept (our choice).
const maxHazards = 1000

// writer is the last instruction that writes a register in some lanes.
type writer struct {
	uid    uint64 // the instruction's + 1
	issue  uint64 // tick
	due    uint64 // fixed latency: tick from which the result can be read
	at     int32
	lanes  isa.LaneMask
	late   bool
	shown  bool // variable latency: the result can be read
	waited bool // the program has waited for it
	count  uint8
}

// reader is an instruction of variable latency that reads registers.
type reader struct {
	uid    uint64
	issue  uint64
	at     int32
	lanes  isa.LaneMask
	regs   []uint16
	count  [2]uint8 // counters that show that it has read them
	read   bool
	waited bool
}

// raised is an instruction that increments a counter.
type raised struct {
	uid, issue uint64 // the instruction's + 1; tick
	at         int32
}

// open is a hazard whose Short is not known yet.
type open struct {
	index int    // in the list
	uid   uint64 // instruction whose progress determines Short
	from  uint64 // tick
}

// watched is the checker's state of a warp.
type watched struct {
	regs    [][]writer // by register: its last writers, of different lanes
	readers []reader
	opens   []open
	last    int32  // instruction issued last, -1 if none
	issued  uint64 // tick in which it issued
	bars    []depbar
	order   [isa.Counters][]raised // by counter: instructions that increment it, in order
	ended   [queues]uint64         // by queue of results: the last instruction + 1 whose end is known
	read    [Pipes]uint64          // by pipe: the last instruction + 1 that is known to have read its sources
}

type hazardKey struct {
	k            *Kernel
	kind         core.HazardKind
	at, producer int32
	reg          uint16
}

// hazards is the checker.
type hazards struct {
	warps [maxWarps]watched
	list  []core.Hazard
	known map[hazardKey]int
	left  uint64 // occurrences of hazards that did not fit in the list
}

// CheckHazards starts the search for hazards in programs with control bits.
func (c *Core) CheckHazards() { c.hazards = &hazards{known: map[hazardKey]int{}} }

// Hazards returns the distinct hazards in the order of first occurrence.
func (c *Core) Hazards() []core.Hazard {
	if c.hazards == nil {
		return nil
	}
	return c.hazards.list
}

// HazardsLeft returns the number of occurrences of hazards that did not fit in Hazards.
func (c *Core) HazardsLeft() uint64 {
	if c.hazards == nil {
		return 0
	}
	return c.hazards.left
}

func (h *hazards) begin(c *Core, s int) {
	w := &h.warps[s]
	*w = watched{regs: make([][]writer, c.warps[s].K.total), last: none}
}

// register returns the register with a number.
func (k *Kernel) register(n uint16) isa.Reg {
	r := isa.Reg{File: isa.RegGPR, Count: 1, Index: uint32(n)}
	for f := int(isa.RegPred); f <= files; f++ {
		if uint32(n) >= k.first[f] {
			r.File, r.Index = isa.RegFile(f), uint32(n)-k.first[f]
		}
	}
	return r
}

// overlap returns the lanes in which two instructions use the same register.
func overlap(r isa.Reg, a, b isa.LaneMask) isa.LaneMask {
	if (r.File == isa.RegUGPR || r.File == isa.RegUPred) && a != 0 && b != 0 {
		return 1
	}
	return a & b
}

// note records a hazard and returns its index, -1 if there is no room for it.
func (h *hazards) note(c *Core, f *flight, kind core.HazardKind, n uint16, producer int32, lanes isa.LaneMask, short uint64, fixes []core.Fix) int {
	w := &c.warps[f.warp]
	key := hazardKey{w.K, kind, f.at, producer, n}
	if i, ok := h.known[key]; ok {
		x := &h.list[i]
		x.Merge(&core.Hazard{Short: int(short), Fixes: fixes, Count: 1})
		return i
	}
	if len(h.list) >= maxHazards {
		h.left++
		return -1
	}
	b := &c.Residents.Blocks[w.Block]
	h.known[key] = len(h.list)
	h.list = append(h.list, core.Hazard{
		Kind: kind, Work: b.Work, Block: b.X.Linear(), Warp: int(f.warp) - b.First, Cycle: c.now, At: f.at, Producer: producer,
		Reg: w.K.register(n), Lane: lanes.First(), Short: int(short), Fixes: fixes, Count: 1,
	})
	return len(h.list) - 1
}

// later fixes an instruction that issues too soon by a longer stall of the previous
// instruction, so that it issues in the given tick.
func (h *hazards) later(w *watched, k *Kernel, tick uint64) []core.Fix {
	if w.last < 0 {
		return nil
	}
	ctl := *k.ops[w.last].ctl
	stall := tick - w.issued
	if stall > 15 {
		return nil // too long for one stall counter; needs instructions in between
	}
	ctl.Stall = uint8(stall)
	if ctl.Yield = ctl.Yield && stall != 1 || stall > 11; ctl.Yield {
		ctl.Reuse = 0 // the two exclude each other
	}
	return []core.Fix{{At: w.last, Control: ctl}}
}

// wait fixes an instruction that issues too soon by a wait for a counter of the
// producer: the write counter for its result, otherwise the read counter for its
// sources.
func (h *hazards) wait(k *Kernel, producer, at int32, issue, now uint64, write bool) []core.Fix {
	p, x := *k.ops[producer].ctl, *k.ops[at].ctl
	n := &p.Read
	if write {
		n = &p.Write
	}
	var list []core.Fix
	changed := false
	if *n >= isa.Counters {
		// The first counter that no other instruction of the kernel uses.
		used := uint8(0)
		for i := range k.ops {
			if c := k.ops[i].ctl; c != nil {
				used |= 1<<(c.Write&7) | 1<<(c.Read&7)
			}
		}
		*n = uint8(min(bits.TrailingZeros8(^used), isa.Counters-1))
		changed = true
	}
	if now < issue+2 && p.Stall < 2 && !p.Yield {
		p.Stall, changed = 2, true // the counter must have been incremented
	}
	if changed {
		list = append(list, core.Fix{At: producer, Control: p})
	}
	if x.Wait>>*n&1 == 0 {
		x.Wait |= 1 << *n
		list = append(list, core.Fix{At: at, Control: x})
	}
	return list
}

// issue checks an instruction that issues.
func (h *hazards) issue(c *Core, fi int32, e *exec.Effects) {
	f := &c.flight[fi]
	w := &h.warps[f.warp]
	o, t, k := f.op, f.issue, c.warps[f.warp].K
	h.waits(w, k, o, t)
	for _, n := range o.src {
		r := k.register(n)
		lanes := e.Lanes
		if o.decided(r) {
			lanes = e.Active
		}
		for i := range w.regs[n] {
			p := &w.regs[n][i]
			if m := overlap(r, p.lanes, lanes); m != 0 {
				h.reads(c, f, w, p, n, m)
			}
		}
	}
	for _, n := range o.dst {
		r := k.register(n)
		for i := range w.readers {
			q := &w.readers[i]
			m := overlap(r, q.lanes, e.Lanes)
			if q.waited || m == 0 || !q.has(n) || o.late && o.pipe == k.ops[q.at].pipe {
				continue // it reads before o does
			}
			if j := h.note(c, f, core.WAR, n, q.at, m, 0, h.wait(k, q.at, f.at, q.issue, t, false)); j >= 0 && !q.read {
				w.opens = append(w.opens, open{j, q.uid, t})
			}
		}
		for i := range w.regs[n] {
			p := &w.regs[n][i]
			m := overlap(r, p.lanes, e.Lanes)
			switch {
			case m == 0:
			case p.late && o.late && o.queue != noQueue && o.queue == k.ops[p.at].queue: // results come in order
			case p.late && !p.waited:
				if j := h.note(c, f, core.WAW, n, p.at, m, 0, h.wait(k, p.at, f.at, p.issue, t, true)); j >= 0 && !p.shown {
					w.opens = append(w.opens, open{j, p.uid, t})
				}
			case r.File == isa.RegPred || r.File == isa.RegUPred: // written in order
			case !p.late && !o.late && p.due >= t+uint64(o.latency):
				soonest := p.due + 1 - uint64(o.latency)
				h.note(c, f, core.WAW, n, p.at, m, soonest-t, h.later(w, k, soonest))
			}
		}
	}
	if e.Lanes != 0 {
		for _, n := range o.dst {
			w.write(k.register(n), n, writer{uid: f.uid + 1, issue: t, due: t + uint64(o.latency), at: f.at, lanes: e.Lanes, late: o.late, count: o.ctl.Write})
		}
		if o.late && len(o.held) > 0 {
			w.addReader(reader{uid: f.uid + 1, issue: t, at: f.at, lanes: e.Lanes, regs: o.held, count: [2]uint8{o.ctl.Read, o.ctl.Write}})
		}
	}
	for i, n := range [2]uint8{o.ctl.Write, o.ctl.Read} {
		if n < isa.Counters && !(i == 1 && n == o.ctl.Write) {
			w.order[n] = append(w.order[n], raised{f.uid + 1, t, f.at})
			if len(w.order[n]) > 2*mostBehind {
				w.order[n] = append(w.order[n][:0], w.order[n][mostBehind:]...)
			}
		}
	}
	if d := o.inst.Depbar; d != nil {
		w.bars = append(w.bars, depbar{d, t + uint64(c.cfg.DepbarDelay)})
	}
	w.last, w.issued = f.at, t
}

// decided reports whether a register decides in which lanes an instruction executes: it
// is the guard, which is the last source, or a branch's own predicate. Such a register
// is read in all active lanes, even if its old value makes none of them execute.
func (o *op) decided(r isa.Reg) bool {
	in := o.inst
	if !in.Guarded || r.File != isa.RegPred && r.File != isa.RegUPred {
		return false
	}
	last := in.Srcs[len(in.Srcs)-1]
	return in.Flow != isa.FlowNext || last.File == r.File && last.Index == r.Index
}

// write adds the last writer of a register. Earlier ones stay for lanes that it does
// not write, if there is still something to wait for.
func (w *watched) write(r isa.Reg, n uint16, x writer) {
	list := w.regs[n][:0]
	for _, p := range w.regs[n] {
		p.lanes &^= x.lanes
		done := !p.late && p.due < x.issue || p.late && p.waited
		if p.lanes != 0 && !done && r.File != isa.RegUGPR && r.File != isa.RegUPred {
			list = append(list, p)
		}
	}
	w.regs[n] = append(list, x)
}

// mostBehind is how many instructions back from the last one a DEPBAR can refer to: its
// count has six bits.
const mostBehind = 64

// addReader adds a reader. In a loop that never waits for it, it replaces an earlier
// reader of the same instruction, for which the reports would be the same.
func (w *watched) addReader(r reader) {
	for i := range w.readers {
		if q := &w.readers[i]; q.at == r.at && q.lanes == r.lanes && q.read {
			*q = r
			return
		}
	}
	w.readers = append(w.readers, r)
}

// reads checks a register that is read against its last writer.
func (h *hazards) reads(c *Core, f *flight, w *watched, p *writer, n uint16, m isa.LaneMask) {
	k, t := c.warps[f.warp].K, f.issue
	switch {
	case p.waited:
		return
	case p.late:
		if j := h.note(c, f, core.RAW, n, p.at, m, 0, h.wait(k, p.at, f.at, p.issue, t, true)); j >= 0 && !p.shown {
			w.opens = append(w.opens, open{j, p.uid, t})
		}
		return
	}
	if need := p.issue + uint64(k.need(&k.ops[p.at], f.op, n)); t < need {
		h.note(c, f, core.RAW, n, p.at, m, need-t, h.later(w, k, need))
	}
}

func (q *reader) has(n uint16) bool {
	for _, r := range q.regs {
		if r == n {
			return true
		}
	}
	return false
}

// waits works out what a program has waited for when an instruction issues, from its
// wait mask and the DEPBARs before it.
func (h *hazards) waits(w *watched, k *Kernel, o *op, t uint64) {
	mask := o.ctl.Wait
	if o.inst.Barrier || o.fence != noFence {
		mask = 1<<isa.Counters - 1
		for i := range w.readers {
			if q := &w.readers[i]; k.ops[q.at].pipe == Memory {
				q.waited = true
			}
		}
	}
	n, follow := 0, false
	for _, b := range w.bars {
		if t < b.from {
			w.bars[n] = b
			n++
			continue
		}
		mask |= b.d.Zero
		if sb := b.d.SB; sb < isa.Counters {
			// All but the last AtMost have ended, if they end in order.
			switch list := w.order[sb]; {
			case b.d.AtMost == 0:
				mask |= 1 << sb
			case len(list) > int(b.d.AtMost) && inOrder(k, list):
				follow = true
				w.know(k, sb, list[len(list)-1-int(b.d.AtMost)].uid, t)
			}
		}
	}
	w.bars = w.bars[:n]
	for ; mask != 0; mask &= mask - 1 {
		w.know(k, uint8(bits.TrailingZeros8(mask)), ^uint64(0), t)
		follow = true
	}
	if follow {
		w.follow(k)
	}
	// Readers that the program has waited for are no longer needed.
	n = 0
	for _, q := range w.readers {
		if !q.waited || !q.read {
			w.readers[n] = q
			n++
		}
	}
	w.readers = w.readers[:n]
}

// inOrder reports whether instructions end in order: they are of one queue of results, or they
// close groups of asynchronous copies. Loads from global memory do not.
func inOrder(k *Kernel, list []raised) bool {
	first := &k.ops[list[0].at]
	for _, r := range list {
		if o := &k.ops[r.at]; o.queue != first.queue || o.queue == noQueue && o.group != isa.AsyncCommit {
			return false
		}
	}
	return true
}

// know marks the instructions up to upTo that use a counter as waited for, except those
// whose counter had not been incremented yet.
func (w *watched) know(k *Kernel, sb uint8, upTo, t uint64) {
	for _, list := range w.regs {
		for i := range list {
			if p := &list[i]; p.count == sb && p.uid <= upTo && p.issue+2 <= t {
				p.waited = true
			}
		}
	}
	for i := range w.readers {
		if q := &w.readers[i]; (q.count[0] == sb || q.count[1] == sb) && q.uid <= upTo && q.issue+2 <= t {
			q.waited = true
		}
	}
	rest := w.order[sb][:0]
	for _, r := range w.order[sb] {
		if r.issue+2 > t || r.uid > upTo {
			rest = append(rest, r)
			continue
		}
		o := &k.ops[r.at]
		if o.late {
			w.read[o.pipe] = max(w.read[o.pipe], r.uid)
		}
		if o.ctl.Write == sb && o.queue != noQueue {
			w.ended[o.queue] = max(w.ended[o.queue], r.uid)
		}
	}
	w.order[sb] = rest
}

// follow marks as waited for what came before other instructions in their queues: those of
// a pipe read their sources in order, and those of a queue of results end in order.
// NVIDIA's compiler relies on both: it waits for the last of several LDS, SHFL or F2I only.
func (w *watched) follow(k *Kernel) {
	for _, list := range w.regs {
		for i := range list {
			if p := &list[i]; p.late && p.uid < w.ended[k.ops[p.at].queue] {
				p.waited = true
			}
		}
	}
	for i := range w.readers {
		if q := &w.readers[i]; q.uid < w.read[k.ops[q.at].pipe] {
			q.waited = true
		}
	}
}

// read notes that an instruction of variable latency has read its sources.
func (h *hazards) read(c *Core, f *flight) {
	w := &h.warps[f.warp]
	for i := range w.readers {
		if q := &w.readers[i]; q.uid == f.uid+1 {
			q.read = true
		}
	}
	h.settle(c, w, core.WAR, f.uid+1)
}

// shown notes that the result of an instruction of variable latency can be read.
func (h *hazards) shown(c *Core, f *flight) {
	w := &h.warps[f.warp]
	for _, n := range f.op.dst {
		for i := range w.regs[n] {
			if p := &w.regs[n][i]; p.uid == f.uid+1 {
				p.shown = true
			}
		}
	}
	h.settle(c, w, core.RAW, f.uid+1)
	h.settle(c, w, core.WAW, f.uid+1)
}

// settle computes Short for the open hazards that depend on an instruction.
func (h *hazards) settle(c *Core, w *watched, kind core.HazardKind, uid uint64) {
	n := 0
	for _, x := range w.opens {
		if x.uid == uid && h.list[x.index].Kind == kind {
			h.list[x.index].Short = max(h.list[x.index].Short, int(c.tick-x.from))
			continue
		}
		w.opens[n] = x
		n++
	}
	w.opens = w.opens[:n]
}
