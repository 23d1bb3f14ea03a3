package ptx

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
)

const full = ^uint32(0)

// funcBase is where the "addresses" of functions begin: 16 apart, below every
// window of the generic address space, never readable. (Our choice.)
const funcBase = 0x0001_0000

// maxDepth bounds the nesting of calls. (Our choice: CUDA's default is 1 KiB of local
// memory for calls, raised on request; recursion needs more.)
const maxDepth = 1024

// frame is one activation of a function by a set of lanes: its registers, and the start
// of its local memory. Frames are pooled per worker.
type frame struct {
	f      *fn
	r32    [][32]uint32
	r64    [][32]uint64
	pr     []uint32
	cc     uint32   // condition code of add.cc and similar, a bit per lane
	base   int      // its local memory in every lane: [base, base+f.local)
	top    int      // end of its local memory, moved by alloca
	sp     *[32]int // each lane's end of it, once alloca is used
	depth  int
	parent *frame
	ret    int32 // pc after the call, in parent
	site   *inst // the call
	refs   int   // fragments and joins that reference it
}

// join is a place where lanes wait for others of their group: the
// reconvergence point of a branch, or the end of a frame (pc -1).
type join struct {
	pc     int32
	parent int32 // enclosing join, -1 for a kernel frame's
	want   uint32
	got    uint32
	fr     *frame
	live   bool
}

// state of a fragment.
type state uint8

const (
	ready     state = iota
	atBarrier       // waits at a block barrier
	atSync          // waits for other lanes of its warp
)

// frag is a set of lanes of a warp that execute together. A converged warp has
// one.
type frag struct {
	pc   int32
	mask uint32
	join int32
	st   state
	bar  uint8  // barrier number while atBarrier
	need uint32 // member mask while atSync
	fr   *frame
}

// warp is 32 lanes of a block.
type warp struct {
	blk  *block
	id   int    // in its block
	live uint32 // lanes that have not exited

	// The running fragment, and its frame's slabs.
	pc   int32
	mask uint32
	join int32
	fr   *frame
	code []inst
	r32  [][32]uint32
	r64  [][32]uint64
	pr   []uint32
	k32  [][32]uint32
	k64  [][32]uint64

	frags   []frag // the others; the last ready one runs next
	joins   []join
	freeJ   []int32
	running bool   // the fields above hold a fragment
	wrote   bool   // an atomic operation has changed memory
	done    uint32 // lanes whose operation on an mbarrier ended a phase, or found it ended
	bulk    later
	asked   bool // the time has been read, or the machine was asked for something

	insts    uint64 // instructions issued
	thrInsts uint64
	spins    int    // waiting instructions since the last switch to this fragment
	quantum  uint64 // instruction count at which to check for starving
	ways     int    // number of times a fragment yielded
	broken   int    // where breakJoin starts searching

	local   [32][]byte
	addr    [32]uint64 // addresses of the current memory instruction
	tid     [3][32]uint32
	scratch [2][32]uint32 // rows for operations that need an operand rearranged

	fault    *fault
	lost     uint32    // lanes whose access a probe has left out after a fault
	products *products // that its registers still wait for; nil: none, or nobody asks
	silent   uint32    // lanes whose store changed nothing, for a probe that asks
	yield    bool      // let other warps run
}

// fault is a pending fault: which lane did what.
type fault struct {
	kind exec.FaultKind
	lane int
	what string

	access *device.Fault // nil if it was something else
}

// failf records a fault of the first lane of m.
func (w *warp) failf(m uint32, format string, args ...any) {
	w.failAs(exec.IllegalInst, m, format, args...)
}

// failAt records an access of the first lane of m that device memory rejects.
func (w *warp) failAt(m uint32, f *device.Fault, format string, args ...any) {
	w.failAs(accessKind(f), m, format, append(args, f)...)
	w.accused(f)
}

// accused notes which access is the pending fault, if it has just become that.
func (w *warp) accused(f *device.Fault) {
	if w.fault != nil && w.fault.access == nil {
		w.fault.access = f
	}
}

// accessKind is the kind of a fault reported by device memory.
func accessKind(f *device.Fault) exec.FaultKind {
	if f.Kind == device.Misaligned {
		return exec.Misaligned
	}
	return exec.BadAddress
}

// failAs records a fault of a given kind.
func (w *warp) failAs(kind exec.FaultKind, m uint32, format string, args ...any) {
	if w.fault == nil {
		w.fault = &fault{kind: kind, lane: bits.TrailingZeros32(m), what: fmt.Sprintf(format, args...)}
	}
}

// u32, u64 return the lanes of a source operand.
func (w *warp) u32(r ref) *[32]uint32 {
	if r >= 0 {
		return &w.r32[r]
	}
	return &w.k32[^r]
}

func (w *warp) u64(r ref) *[32]uint64 {
	if r >= 0 {
		return &w.r64[r]
	}
	return &w.k64[^r]
}

// setPred writes a predicate for the lanes of m.
func (w *warp) setPred(r ref, v, m uint32) {
	if r != none {
		w.pr[r] = w.pr[r]&^m | v&m
	}
}

// enter makes fr the frame whose slabs are current.
func (w *warp) enter(fr *frame) {
	w.fr = fr
	f := fr.f
	w.code, w.r32, w.r64, w.pr, w.k32, w.k64 = f.code, fr.r32, fr.r64, fr.pr, f.c32, f.c64
}

func (w *warp) newJoin(j join) int32 {
	j.live = true
	j.fr.refs++
	if n := len(w.freeJ); n > 0 {
		i := w.freeJ[n-1]
		w.freeJ = w.freeJ[:n-1]
		w.joins[i] = j
		return i
	}
	w.joins = append(w.joins, j)
	return int32(len(w.joins) - 1)
}

func (w *warp) dropJoin(i int32) {
	j := &w.joins[i]
	j.live = false
	fr := j.fr
	j.fr = nil
	w.freeJ = append(w.freeJ, i)
	w.blk.wk.release(fr)
}

// end ends the running fragment; its lanes have arrived, returned or exited.
func (w *warp) end() {
	w.running = false
	w.blk.wk.release(w.fr)
	w.fr = nil
}

// push adds a ready fragment that runs next.
func (w *warp) push(pc int32, mask uint32, join int32, fr *frame) {
	fr.refs++
	w.frags = append(w.frags, frag{pc: pc, mask: mask, join: join, st: ready, fr: fr})
}

// resume makes the last ready fragment the running one. If there is none and lanes wait for
// others of their warp that are held at a join, it releases the join.
func (w *warp) resume() bool {
	for {
		for i := len(w.frags) - 1; i >= 0; i-- {
			if w.frags[i].st == ready {
				w.take(i)
				return true
			}
		}
		if !w.blk.im.independent || !w.syncing() || !w.breakJoin() {
			return false
		}
	}
}

// take makes fragment i the running one.
func (w *warp) take(i int) {
	f := w.frags[i]
	copy(w.frags[i:], w.frags[i+1:])
	w.frags = w.frags[:len(w.frags)-1]
	w.pc, w.mask, w.join = f.pc, f.mask, f.join
	w.enter(f.fr)
	w.running = true
}

// settle releases the lanes of a join once all have arrived.
func (w *warp) settle(i int32) {
	j := &w.joins[i]
	if !j.live || j.got != j.want {
		return
	}
	switch {
	case j.want == 0:
		w.dropJoin(i)
	case j.pc >= 0:
		pc, got, parent, fr := j.pc, j.got, j.parent, j.fr
		w.push(pc, got, parent, fr)
		w.dropJoin(i)
	default: // end of a frame: back to the caller
		got, parent, fr := j.got, j.parent, j.fr
		if fr.parent != nil {
			w.push(fr.ret, got, parent, fr.parent)
		}
		w.dropJoin(i)
	}
}

// leave takes lanes m out of the joins from j up to and including stop's child: they
// will never arrive there.
func (w *warp) leave(j, stop int32, m uint32) {
	for j != stop && j >= 0 {
		p := w.joins[j].parent
		w.joins[j].want &^= m
		w.joins[j].got &^= m
		w.settle(j)
		j = p
	}
}

// frameJoin finds the join at the end of the running frame.
func (w *warp) frameJoin() int32 {
	j := w.join
	for w.joins[j].pc >= 0 || w.joins[j].fr != w.fr {
		j = w.joins[j].parent
	}
	return j
}

// fragQuantum is the number of instructions that a fragment runs before the loop checks
// whether it waits for lanes that cannot run meanwhile.
const fragQuantum = 2048

// run executes until the warp blocks, ends, faults, or has issued limit more
// instructions. It reports whether the warp did anything.
func (w *warp) run(limit uint64) bool {
	start := w.insts
	stop := w.insts + limit
	for {
		if !w.running && !w.resume() {
			return w.insts != start
		}
		// The fragment's own values stay in registers of this loop.
		pc, mask := w.pc, w.mask
		rpc := w.joins[w.join].pc
		if w.joins[w.join].fr != w.fr {
			rpc = -1
		}
		code := w.code
	frag:
		for {
			if pc == rpc {
				w.arrive(pc, mask)
				break frag
			}
			if w.insts >= stop {
				w.pc = pc
				return true
			}
			in := &code[pc]
			m := mask
			if in.guard >= 0 {
				if in.flags&fNegGuard != 0 {
					m &^= w.pr[in.guard]
				} else {
					m &= w.pr[in.guard]
				}
			}
			w.insts++
			w.thrInsts += uint64(bits.OnesCount32(m))
			switch in.kind {
			case kRun:
				if m != 0 {
					in.run(w, in, m)
				}
				pc++
			case kMem:
				if m != 0 && !w.access(in, pc, m) {
					return true
				}
				pc++
			case kCounted:
				w.branches(pc, m, mask)
				fallthrough
			case kBranch:
				if m == mask {
					if in.target <= pc && w.insts >= w.quantum && w.starving() {
						w.pc = in.target
						w.giveWay()
						break frag
					}
					pc = in.target
					continue
				}
				if m == 0 {
					pc++
					continue
				}
				w.pc, w.mask = pc, mask
				w.diverge(in.rpc, in.target, m, pc+1, mask&^m)
				break frag
			default:
				w.pc = pc
				w.special(in, m)
				if w.fault != nil {
					return true
				}
				if w.yield {
					return true
				}
				break frag
			}
		}
	}
}

// arrive ends the running fragment, lanes mask, where it meets the others of its join.
func (w *warp) arrive(pc int32, mask uint32) {
	w.pc = pc
	w.running = false
	j := w.join
	w.joins[j].got |= mask
	fr := w.fr
	w.settle(j)
	w.blk.wk.release(fr)
}

// access executes an instruction that accesses memory for lanes m. It is false if that
// was a fault.
func (w *warp) access(in *inst, pc int32, m uint32) bool {
	w.pc = pc // so that a fault or warning can name the place
	in.run(w, in, m)
	if in.flags&fSpin != 0 {
		w.spins++
	}
	if w.fault != nil {
		return false
	}
	if s := w.blk.Seer(); s != nil {
		w.show(in, m, s)
	}
	return true
}

// diverge splits the running fragment: lanes t go to pct, lanes n to pcn; both
// reconverge at rpc. A fragment that has reached rpc waits there; otherwise, the taken
// side is kept for later unless the launch says otherwise.
func (w *warp) diverge(rpc, pct int32, t uint32, pcn int32, n uint32) {
	j := w.joinAt(rpc, t|n)
	fr := w.fr
	// The fragment pushed last runs first.
	if w.blk.launch.TakenFirst {
		w.push(pcn, n, j, fr)
		w.push(pct, t, j, fr)
	} else {
		w.push(pct, t, j, fr)
		w.push(pcn, n, j, fr)
	}
	w.end()
}

// joinAt returns the join at which lanes of a branch reconverge: the current one if it
// is already at rpc (a loop's exits share one) or if they reconverge only at the end of
// the function, otherwise a new one.
func (w *warp) joinAt(rpc int32, want uint32) int32 {
	if j := &w.joins[w.join]; rpc < 0 || j.pc == rpc && j.fr == w.fr {
		return w.join
	}
	return w.newJoin(join{pc: rpc, parent: w.join, want: want, fr: w.fr})
}

// starving reports whether the running fragment seems to wait for lanes of its own
// warp: it has used up its quantum with instructions that can wait, and there are lanes
// that could run instead.
func (w *warp) starving() bool {
	spun := w.spins
	w.quantum = w.insts + fragQuantum
	w.spins = 0
	return spun >= 8 && w.blk.im.independent && w.mask != w.live
}

// giveWay parks the running fragment after all others. If nothing else can run, it
// releases lanes that wait at a join for this fragment.
func (w *warp) giveWay() {
	w.frags = append(w.frags, frag{})
	copy(w.frags[1:], w.frags)
	w.frags[0] = frag{pc: w.pc, mask: w.mask, join: w.join, st: ready, fr: w.fr}
	w.running = false
	w.ways++
	for _, f := range w.frags[1:] {
		if f.st == ready && w.ways%4 != 0 {
			return
		}
	}
	w.breakJoin()
}

// breakJoin releases the lanes that wait at one join without waiting for the others. It
// reports whether there were any.
func (w *warp) breakJoin() bool {
	for n := range w.joins {
		i := (w.broken + n) % len(w.joins)
		j := &w.joins[i]
		if !j.live || j.got == 0 || j.pc < 0 && j.fr.parent == nil {
			continue
		}
		w.broken = i + 1
		got := j.got
		j.want &^= got
		j.got = 0
		if j.pc >= 0 {
			w.push(j.pc, got, j.parent, j.fr)
		} else { // lanes at the end of a called function return separately
			w.push(j.fr.ret, got, j.parent, j.fr.parent)
		}
		return true
	}
	return false
}

// special executes control flow and everything that may block. It leaves the running
// fragment's pc where it continues, or no running fragment.
func (w *warp) special(in *inst, m uint32) {
	if w.blk.counts != nil {
		w.countSpecial(in, m)
	}
	if w.blk.flow != nil && in.kind != kWarpSync && len(w.info().Dsts)+len(w.info().Srcs) > 0 {
		w.executed(m)
	}
	if m == 0 {
		w.pc++
		return
	}
	switch in.kind {
	case kExit:
		w.exit(m)
	case kRet:
		w.doReturn(m)
	case kCall:
		w.call(in, m)
	case kBranchIx:
		w.branchIndexed(in, m)
	case kSync:
		in.run(w, in, m)
	case kWarpSync:
		if w.warpSync(in, m); in.flags&fGroup != 0 && w.running && w.fault == nil {
			w.meetGroup()
		}
	case kYield:
		in.run(w, in, m)
		if w.fault != nil {
			return
		}
		w.spins++
		w.pc++
		w.yield = true
		if w.insts >= w.quantum && w.starving() {
			w.giveWay()
		}
	}
}

// exit ends lanes m.
func (w *warp) exit(m uint32) {
	w.live &^= m
	w.mask &^= m
	j := w.join
	if w.mask == 0 {
		w.running = false
		fr := w.fr
		w.leave(j, -1, m)
		w.blk.wk.release(fr)
	} else {
		w.pc++
		w.leave(j, -1, m)
	}
	w.recheck()
	w.blk.exited(w, m)
}

// doReturn takes lanes m out of the running function; in the kernel itself it ends the
// threads.
func (w *warp) doReturn(m uint32) {
	if w.fr.parent == nil {
		w.exit(m)
		return
	}
	w.copyRets(m)
	root := w.frameJoin()
	inner := w.join
	w.mask &^= m
	fr := w.fr
	if w.mask == 0 {
		w.running = false
	} else {
		w.pc++
	}
	w.leave(inner, root, m)
	w.joins[root].got |= m
	w.settle(root)
	if !w.running {
		w.blk.wk.release(fr)
	}
}

// branchIndexed is brx.idx: each lane goes to the target that its index selects.
func (w *warp) branchIndexed(in *inst, m uint32) {
	idx := w.u32(in.a)
	rest := w.mask &^ m
	if rest == 0 && uniform(idx, m) && uint64(idx[bits.TrailingZeros32(m)]) < uint64(len(in.x.table)) {
		w.pc = in.x.table[idx[bits.TrailingZeros32(m)]]
		return
	}
	j := w.joinAt(in.rpc, w.mask)
	fr := w.fr
	for todo := m; todo != 0; {
		l := bits.TrailingZeros32(todo)
		v := idx[l]
		if uint64(v) >= uint64(len(in.x.table)) {
			w.failf(1<<l, "branch index %d is outside its table of %d targets", v, len(in.x.table))
			return
		}
		same := uint32(0)
		for k := l; k < 32; k++ {
			if todo>>k&1 != 0 && idx[k] == v {
				same |= 1 << k
			}
		}
		todo &^= same
		w.push(in.x.table[v], same, j, fr)
	}
	if rest != 0 {
		w.push(w.pc+1, rest, j, fr)
	}
	w.end()
}

// uniform reports whether all lanes of m hold the same value.
func uniform(v *[32]uint32, m uint32) bool {
	first := v[bits.TrailingZeros32(m)]
	for ; m != 0; m &= m - 1 {
		if v[bits.TrailingZeros32(m)] != first {
			return false
		}
	}
	return true
}

// warpSync executes an instruction that the lanes of a member mask execute together. It
// waits for lanes of the mask that are elsewhere in the program; when they reach the
// same instruction, all execute it at once. Lanes with different masks (tiles of a warp)
// form separate groups.
func (w *warp) warpSync(in *inst, m uint32) {
	masks := w.u32(in.e)
	mask := masks[bits.TrailingZeros32(m)&31]
	if in.e >= 0 && !uniform(masks, m) {
		w.tileSync(in, m)
		return
	}
	if m&^mask != 0 {
		w.lacking(mask, m)
		w.misuse(exec.OutsideMask, m&^mask, mask)
	}
	if mask&w.live&^w.mask == 0 || !w.blk.im.independent {
		in.run(w, in, m)
		if w.fault == nil {
			w.pc++
		}
		return
	}
	if have := w.mask | w.waiting(in, mask); mask&w.live&^have == 0 {
		w.syncTogether(in, mask, have)
		return
	}
	w.frags = append(w.frags, frag{pc: w.pc, mask: w.mask, join: w.join, st: atSync, need: mask, fr: w.fr})
	w.running = false
}

// tileSync is warpSync for lanes with several member masks. Complete groups execute at
// once; the others wait as separate fragments.
func (w *warp) tileSync(in *inst, m uint32) {
	masks := w.u32(in.e)
	var late [32]uint32
	n, rest := 0, uint32(0)
	for todo := m; todo != 0; {
		mask := masks[bits.TrailingZeros32(todo)&31]
		group := uint32(0)
		for k := todo; k != 0; k &= k - 1 {
			if i := bits.TrailingZeros32(k) & 31; masks[i] == mask {
				group |= 1 << i
			}
		}
		todo &^= group
		if group&^mask != 0 {
			w.lacking(mask, group)
			w.misuse(exec.OutsideMask, group&^mask, mask)
		}
		if mask&w.live&^w.mask != 0 && w.blk.im.independent {
			late[n] = group
			n++
			rest |= group
			continue
		}
		if in.run(w, in, group); w.fault != nil {
			return
		}
	}
	if n == 0 {
		w.pc++
		return
	}
	j, fr := w.joinAt(w.pc+1, w.mask), w.fr
	if go1 := w.mask &^ rest; go1 != 0 {
		w.push(w.pc+1, go1, j, fr)
	}
	for _, group := range late[:n] {
		w.push(w.pc, group, j, fr)
	}
	w.end()
}

// meets reports whether fragment f waits to execute in together with the lanes of mask
// that are at the running fragment's pc.
func (w *warp) meets(f *frag, in *inst, mask uint32) bool {
	return f.meets(w.pc, w.fr, in, mask)
}

// meets reports whether a fragment waits to execute, with the lanes of mask, an instruction at
// pc of a frame.
func (f *frag) meets(pc int32, fr *frame, in *inst, mask uint32) bool {
	if f.st != atSync || f.need != mask {
		return false
	}
	if f.pc == pc && f.fr == fr {
		return true
	}
	return in.flags&fAnyPC != 0 && f.fr.f.code[f.pc].flags&fAnyPC != 0
}

// waiting returns the lanes that wait to execute in with the lanes of mask.
func (w *warp) waiting(in *inst, mask uint32) (have uint32) {
	for i := range w.frags {
		if f := &w.frags[i]; w.meets(f, in, mask) {
			have |= f.mask
		}
	}
	return have
}

// guarded returns those of lanes m for which the guard of an instruction holds.
func (w *warp) guarded(in *inst, m uint32) uint32 {
	switch {
	case in.guard < 0:
		return m
	case in.flags&fNegGuard != 0:
		return m &^ w.pr[in.guard]
	}
	return m & w.pr[in.guard]
}

// syncTogether executes in for the running fragment and all that wait for it. Fragments
// that wait at the same pc join the running fragment, the others become ready.
func (w *warp) syncTogether(in *inst, mask, have uint32) {
	if m := w.guarded(in, have); m != 0 {
		own := w.mask
		w.mask = have
		in.run(w, in, m)
		w.mask = own
		if w.fault != nil {
			return
		}
	}
	for i := 0; i < len(w.frags); {
		f := &w.frags[i]
		switch {
		case !w.meets(f, in, mask):
			i++
		case f.pc == w.pc && f.fr == w.fr && f.join == w.join:
			// Lanes that meet continue together, as on hardware.
			w.mask |= f.mask
			w.blk.wk.release(f.fr)
			w.frags = slices.Delete(w.frags, i, i+1)
		default:
			f.st = ready
			f.pc++
			i++
		}
	}
	w.pc++
}

// recheck lets one fragment of each group re-execute its instruction if the group waited
// only for lanes that have exited.
func (w *warp) recheck() {
	for i := range w.frags {
		f := &w.frags[i]
		if f.st != atSync {
			continue
		}
		in := &f.fr.f.code[f.pc]
		have := f.mask
		for k := range w.frags {
			g := &w.frags[k]
			if g.st == atSync && g.need == f.need && (g.pc == f.pc && g.fr == f.fr || in.flags&fAnyPC != 0 && g.fr.f.code[g.pc].flags&fAnyPC != 0) {
				have |= g.mask
			}
		}
		if f.need&w.live&^have == 0 {
			f.st = ready
		}
	}
}

// syncing reports whether a fragment waits for other lanes of the warp.
func (w *warp) syncing() bool {
	for i := range w.frags {
		if w.frags[i].st == atSync {
			return true
		}
	}
	return false
}

// forceSync releases one group of lanes that wait for others of their warp, as hardware
// does if the others can never arrive. It reports whether there was one.
func (w *warp) forceSync() bool {
	for i := range w.frags {
		if w.frags[i].st == atSync {
			mask := w.frags[i].need
			w.take(i)
			in := &w.code[w.pc]
			have := w.mask | w.waiting(in, mask)
			w.misuse(exec.NeverCame, have, mask&w.live&^have)
			w.syncTogether(in, mask, have)
			return true
		}
	}
	return false
}

// where describes the instruction at pc for one lane.
func (w *warp) where(lane int) exec.Where { return w.placeOf(w.fr.f, w.pc, lane) }

// placeOf describes the instruction at pc of a function for one lane.
func (w *warp) placeOf(f *fn, pc int32, lane int) exec.Where {
	in := &f.info[pc]
	wh := exec.Where{
		Kernel:   w.blk.im.kernel.Name(),
		Function: f.name,
		Block:    w.blk.Idx,
		Thread:   exec.Dim3{X: w.tid[0][lane], Y: w.tid[1][lane], Z: w.tid[2][lane]},
		PC:       int(pc),
		Inst:     in.Op,
		File:     w.blk.im.fileOf(f),
		Pos:      in.Pos,
	}
	w.blk.im.source(f, int(pc), &wh)
	if in.Line > 0 {
		wh.Inlined = w.blk.im.inlined(f, int(pc))
	}
	return wh
}
