package sass

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/isa"
)

// Indices of predicates in warp.pr: P0 to P6 and PT, UP0 to UP6 and UPT.
const (
	predTrue    = 7
	uniformPred = 8
	predicates  = 16
)

// bRegs is the number of convergence barriers of a warp (at least 16, measured;
// the encoding has 16).
const bRegs = 16

// warp is 32 lanes of a block.
type warp struct {
	blk    *block
	kernel *Kernel // whose code the warp has run last
	id     int
	live   uint32 // lanes that have not exited

	// The fragment that runs.
	pc      int32
	mask    uint32
	running bool
	since   uint64 // value of insts at the last switch to it
	frags   []frag // the others; the last ready one runs next

	rows []([32]uint32)     // general registers, then uniform ones (the same in all lanes)
	pr   [predicates]uint32 // predicates; uniform ones are all ones or zero
	b    [bRegs][32]uint32  // convergence barriers, per lane
	// Where lanes continue after a collective region, plus one; 0 outside of one.
	after [32]int32

	barCount [32]uint32 // result of the last BAR.RED
	barPred  uint32

	insts    uint64
	thrInsts uint64
	seq      uint64  // issued instructions with something pending
	open     int     // instructions with something pending
	waiting  []int32 // pending instructions that have not had their Access

	local []byte             // the lanes' local memory, one after another; see stack
	used  bool               // local holds this block's memory
	addr  [32]uint64         // addresses of the current memory access
	tmp   [maxSrc][32]uint32 // sources with their modifiers applied
	// The second result and the fourth source of a laneOp that has them.
	second, fourth *[32]uint32
	tid            [3][32]uint32

	// The lanes of a mask, as a list; see lanes.
	on     [32]int
	count  int
	listed uint32

	wrote bool
	asked bool
	fault *fault
	site  int32 // of the instruction that a probe sees
}

// pending is an instruction that has issued and not been committed. What most instructions
// use comes first: in a timing run the records of many SMs compete for the host's caches.
type pending struct {
	in   *inst
	seq  uint64
	mask uint32
	at   uint32 // lanes that access memory, known at Access
	done bool   // its results are computed
	ps   [3]uint32
	pout [2]uint32
	late *operands // nil if no instruction of variable latency has used the record
	s    [maxSrc]*[32]uint32
	d    [maxDst]*[32]uint32 // where run writes results: the rows of out, or registers
	out  [maxDst][32]uint32
}

// init makes a record's results go to itself; an operation may name sources that its instruction does not have.
func (p *pending) init() {
	for k := range p.s {
		p.s[k] = &p.out[0]
	}
	for k := range p.d {
		p.d[k] = &p.out[k]
	}
}

// operands are what an instruction of variable latency has read at issue.
type operands struct {
	buf [maxSrc][32]uint32
	to  [32]uint32 // LDGSTS: where in shared memory
}

// fault is a pending fault: which lane did what at which instruction.
type fault struct {
	kind exec.FaultKind
	lane int
	in   *inst
	what string

	access *device.Fault // nil if it was something else
}

// accused notes which access is the pending fault, if it has just become that.
func (w *warp) accused(f *device.Fault) {
	if w.fault != nil && w.fault.access == nil {
		w.fault.access = f
	}
}

// failf records a fault of the first lane of m.
func (w *warp) failf(in *inst, m uint32, format string, args ...any) {
	w.failAs(exec.IllegalInst, in, m, format, args...)
}

// failAs records a fault of a given kind.
func (w *warp) failAs(kind exec.FaultKind, in *inst, m uint32, format string, args ...any) {
	if w.fault == nil {
		w.fault = &fault{kind: kind, lane: bits.TrailingZeros32(m) & 31, in: in, what: fmt.Sprintf(format, args...)}
	}
}

func (w *warp) failure() error {
	return &exec.Fault{Where: w.where(w.fault.lane, w.fault.in), Kind: w.fault.kind, What: w.fault.what, Access: w.fault.access}
}

// where returns the place of an instruction as executed by a lane.
func (w *warp) where(lane int, in *inst) exec.Where {
	wh := w.blk.im.kernel.source(in)
	wh.Block = w.blk.Idx
	wh.Thread = exec.Dim3{X: w.tid[0][lane], Y: w.tid[1][lane], Z: w.tid[2][lane]}
	return wh
}

// row returns the lanes of a source.
func (w *warp) row(r ref) *[32]uint32 {
	if r >= 0 {
		return &w.rows[r]
	}
	return &w.blk.im.rows[^r]
}

// allLanes lists the lanes of the full mask.
var allLanes = func() (list [32]int) {
	for i := range list {
		list[i] = i
	}
	return list
}()

// lanes lists the lanes of a mask, until it is called for another one. Instructions after each other mostly
// have the same.
func (w *warp) lanes(m uint32) []int {
	if m == full {
		return allLanes[:]
	}
	if m != w.listed {
		w.list(m)
	}
	return w.on[:w.count&63]
}

// list makes the list of lanes.
func (w *warp) list(m uint32) {
	w.listed, w.count = m, 0
	for ; m != 0; m &= m - 1 {
		w.on[w.count&31] = bits.TrailingZeros32(m)
		w.count++
	}
}

// pred returns the lanes in which a predicate operand holds.
func (w *warp) pred(p predicate) uint32 {
	v := w.pr[p.at]
	if p.not {
		return ^v
	}
	return v
}

// stack returns the local memory of a lane. Most kernels do not use it, so it is zeroed on
// first use.
func (w *warp) stack(lane int) []byte {
	n := w.blk.im.local
	if !w.used {
		w.used = true
		if cap(w.local) < 32*n {
			w.local = make([]byte, 32*n)
		}
		w.local = w.local[:32*n]
		clear(w.local)
	}
	return w.local[lane*n : lane*n+n]
}

// Live returns the lanes that have not exited.
func (w *warp) Live() isa.LaneMask { return isa.LaneMask(w.live) }

// Next returns the instruction that the next Issue executes.
func (w *warp) Next() (*isa.Inst, isa.LaneMask, uint64, exec.WarpState) {
	if !w.ready() {
		return nil, 0, 0, w.state()
	}
	return w.blk.im.code[w.pc].info, isa.LaneMask(w.mask), uint64(w.pc) * instBytes, exec.Ready
}

// state reports why the warp cannot run.
func (w *warp) state() exec.WarpState {
	if w.live == 0 {
		return exec.Done
	}
	for i := range w.frags {
		if w.frags[i].st == atBarrier {
			return exec.AtBarrier
		}
	}
	return exec.AtSync
}

// Step executes the next instruction in one go.
func (w *warp) Step(e *exec.Effects) error {
	in, m, err := w.begin(e)
	if in == nil {
		return err
	}
	live := w.live
	w.wrote, w.asked = false, false
	p := w.step(in, m)
	e.Wrote, e.Timed = w.wrote, w.asked
	if w.fault != nil {
		return w.failure()
	}
	switch {
	case p == nil:
		w.flowed(in, live, e)
	case in.mem != nil:
		if w.accessed(p, e); e.Lanes != isa.LaneMask(m) {
			w.share(e)
			e.Lanes = isa.LaneMask(m)
		}
	}
	return nil
}

// step executes an instruction in one go. Its operands are read where they are, since nothing comes between,
// and results are computed in their registers where that makes no difference. It returns the record, nil if
// there was nothing to compute.
func (w *warp) step(in *inst, m uint32) *pending {
	w.insts++
	w.thrInsts += uint64(bits.OnesCount32(m))
	if in.kind == kFlow {
		w.act(in, m)
		return nil
	}
	w.pc++
	if m == 0 || in.kind == kNop {
		return nil
	}
	if in.quick && len(w.waiting) == 0 {
		w.quick(in, m)
		return nil
	}
	p := &w.blk.step
	direct := in.direct && len(w.waiting) == 0
	if direct {
		p = &w.blk.direct
		for k, r := range in.dst[:in.ndst] {
			if k &= maxDst - 1; r >= 0 {
				p.d[k] = &w.rows[r]
			} else {
				p.d[k] = &p.out[k]
			}
		}
	}
	w.take(p, in, m)
	w.compute(p, in)
	if w.fault != nil {
		return p
	}
	if !direct {
		w.writeRows(p, in)
	}
	if in.sets {
		w.writePredicates(p, in)
	}
	if in.commit != nil {
		in.commit(w, in, p)
	}
	return p
}

// burst executes instructions from registers to registers and on words of shared memory, at most the given number, until
// another one comes, or one that would fault.
func (w *warp) burst(most uint64) (used uint64) {
	if len(w.waiting) > 0 {
		return 0
	}
	code, pc, mask, lanes := w.blk.im.code, w.pc, w.mask, uint64(0)
run:
	for ; used < most; used++ {
		in := &code[pc]
		m := mask & w.pred(in.guard)
		switch {
		case in.quick:
			if m != 0 {
				w.quick(in, m)
			}
		case !in.word || !w.word(in, m):
			break run
		}
		pc++
		lanes += uint64(bits.OnesCount32(m))
	}
	w.pc = pc
	w.insts += used
	w.thrInsts += lanes
	return used
}

// quick executes an instruction from registers to registers, without a record.
func (w *warp) quick(in *inst, m uint32) {
	d := &w.blk.direct.out[0]
	if r := in.dst[0]; r >= 0 {
		d = &w.rows[r]
	}
	s := [4]*[32]uint32{w.row(in.rows[0]), w.row(in.rows[1]), w.row(in.rows[2])}
	if in.nsrc > 3 {
		s[3] = w.row(in.rows[3])
		w.second = &w.blk.direct.out[1]
		if r := in.dst[1]; in.ndst > 1 && r >= 0 {
			w.second = &w.rows[r]
		}
	}
	if in.changed {
		for k := range in.src[:in.nsrc] {
			if o := &in.src[k]; !o.plain() {
				o.apply(&w.tmp[k], s[k])
				s[k] = &w.tmp[k]
			}
		}
	}
	if in.nsrc > 3 {
		w.fourth = s[3]
	}
	x, y := full, full
	if in.nps > 0 {
		x, y = w.pred(in.ps[0]), w.pred(in.ps[1])
	}
	u, v := in.lanes(w, in, d, s[0], s[1], s[2], x, y, m)
	if in.sets {
		w.setPredicate(in.pd[0], u, m)
		w.setPredicate(in.pd[1], v, m)
	}
}

// runLanes is the run of instructions with lanes.
func runLanes(w *warp, in *inst, p *pending, m uint32) {
	if in.nsrc > 3 {
		w.second, w.fourth = p.d[1], p.s[3]
	}
	p.pout[0], p.pout[1] = in.lanes(w, in, p.d[0], p.s[0], p.s[1], p.s[2], p.ps[0], p.ps[1], m)
}

// setPredicate makes results of the lanes of m visible.
func (w *warp) setPredicate(r uint8, v, m uint32) {
	if r != noPredicate {
		w.pr[r] = w.pr[r]&^m | v&m
	}
}

// share gives lanes that execute a memory instruction without accessing memory the address
// of a lane that does, so that models see no further address.
func (w *warp) share(e *exec.Effects) {
	if e.Lanes == 0 {
		e.Addr = nil
		return
	}
	for m := ^e.Lanes; m != 0; m &= m - 1 {
		w.addr[m.First()&31] = w.addr[e.Lanes.First()&31]
	}
}

// begin returns the next instruction and the lanes that execute it; nil if the warp cannot run.
func (w *warp) begin(e *exec.Effects) (*inst, uint32, error) {
	*e = exec.Effects{}
	if !w.ready() {
		e.Blocked = w.state() == exec.AtBarrier
		return nil, 0, nil
	}
	if w.fault != nil { // from a Commit without an Access
		return nil, 0, w.failure()
	}
	in := &w.blk.im.code[w.pc]
	m := w.mask & w.pred(in.guard)
	e.Inst, e.Active, e.Lanes, e.Space = in.info, isa.LaneMask(w.mask), isa.LaneMask(m), in.info.Space
	return in, m, nil
}

// act executes an instruction that changes the flow of control.
func (w *warp) act(in *inst, m uint32) {
	if m &= w.pred(in.ps[2]); m == 0 {
		w.pc++
	} else {
		in.act(w, in, m)
	}
}

// flowed fills in the effects of an instruction that has computed nothing; live are the lanes before it.
func (w *warp) flowed(in *inst, live uint32, e *exec.Effects) {
	e.Exited = isa.LaneMask(live &^ w.live)
	e.Blocked = in.kind == kFlow && in.info.Barrier && !w.ready()
}

// take fills in the record of an instruction. Its sources are the rows themselves.
func (w *warp) take(p *pending, in *inst, m uint32) {
	p.mask, p.at = m, m
	p.ps = [3]uint32{full, full, full}
	for k := range in.ps[:in.nps] {
		p.ps[k] = w.pred(in.ps[k])
	}
	to := p.s[:in.nsrc]
	for k, r := range in.rows[:len(to)] {
		to[k] = w.row(r)
	}
}

// Issue executes the issue phase of the next instruction.
func (w *warp) Issue(e *exec.Effects) (exec.Pending, error) {
	in, m, err := w.begin(e)
	if in == nil {
		return exec.NoPending, err
	}
	if in.kind != kRun || m == 0 {
		live := w.live
		if w.step(in, m); w.fault != nil {
			return exec.NoPending, w.failure()
		}
		w.flowed(in, live, e)
		return exec.NoPending, nil
	}
	w.insts++
	w.thrInsts += uint64(bits.OnesCount32(m))
	w.pc++
	h := w.blk.takePending()
	p := w.blk.pend[h]
	w.take(p, in, m)
	p.in, p.done = in, !in.late
	w.seq++
	w.open++
	p.seq = w.seq
	if in.late {
		if p.late == nil {
			p.late = new(operands)
		}
		for k := range in.src[:in.nsrc] {
			if in.src[k].row >= 0 {
				p.late.buf[k] = *p.s[k]
				p.s[k] = &p.late.buf[k]
			}
		}
		w.waiting = append(w.waiting, h)
		return exec.Pending(h), nil
	}
	w.wrote, w.asked = false, false
	w.compute(p, in)
	e.Timed = w.asked
	if w.fault != nil {
		w.open--
		w.blk.givePending(h)
		return exec.NoPending, w.failure()
	}
	return exec.Pending(h), nil
}

// compute applies the modifiers of an instruction's sources and runs it.
func (w *warp) compute(p *pending, in *inst) {
	if in.changed {
		w.modify(p, in)
	}
	m := p.mask
	if in.uniform {
		m = 1
	}
	in.run(w, in, p, m)
}

// modify applies the modifiers of an instruction's sources.
func (w *warp) modify(p *pending, in *inst) {
	for k := range in.src[:in.nsrc] {
		if s := &in.src[k]; !s.plain() {
			s.apply(&w.tmp[k], p.s[k])
			p.s[k] = &w.tmp[k]
		}
	}
}

// apply writes the lanes of row to t with the operand's modifiers applied.
func (s *source) apply(t, row *[32]uint32) {
	and, xor, add := s.and, s.xor, s.add
	for i := range t {
		t[i] = row[i]&and ^ xor + add
	}
	switch s.half {
	case lowHalf:
		for i := range t {
			t[i] = t[i]&0xffff | t[i]<<16
		}
	case highHalf:
		for i := range t {
			t[i] = t[i]>>16 | t[i]&0xffff0000
		}
	}
}

// Late reports whether a pending instruction needs Access.
func (w *warp) Late(h exec.Pending) bool { return w.blk.pend[h].in.late }

// Access lets a pending instruction of variable latency access memory and compute its
// results.
func (w *warp) Access(h exec.Pending, e *exec.Effects) error {
	*e = exec.Effects{}
	p := w.blk.pend[h]
	in := p.in
	e.Inst, e.Active, e.Lanes, e.Space = in.info, isa.LaneMask(p.mask), isa.LaneMask(p.mask), in.info.Space
	if p.done {
		return nil
	}
	for i, q := range w.waiting {
		if q == int32(h) {
			w.waiting = append(w.waiting[:i], w.waiting[i+1:]...)
			break
		}
	}
	w.wrote, w.asked = false, false
	w.compute(p, in)
	p.done = true
	e.Wrote, e.Timed = w.wrote, w.asked
	if w.fault != nil {
		return w.failure()
	}
	if in.mem != nil {
		w.accessed(p, e)
	}
	return nil
}

// accessed says where an instruction has accessed memory.
func (w *warp) accessed(p *pending, e *exec.Effects) {
	e.Addr, e.Lanes = &w.addr, isa.LaneMask(p.at)
	if e.Space == isa.Generic {
		e.Resolve(isa.SharedWindow, isa.LocalWindow, isa.WindowSize)
	}
}

// Commit makes the results of a pending instruction visible and ends it.
func (w *warp) Commit(h exec.Pending) {
	p := w.blk.pend[h]
	w.open--
	if !p.done { // the model did not call Access
		var e exec.Effects
		if w.Access(h, &e) != nil {
			w.blk.givePending(int32(h))
			return
		}
	}
	w.writeRows(p, p.in)
	if p.in.sets {
		w.writePredicates(p, p.in)
	}
	if p.in.commit != nil {
		p.in.commit(w, p.in, p)
	}
	w.blk.givePending(int32(h))
}

// writePredicates makes results visible: those in predicates.
func (w *warp) writePredicates(p *pending, in *inst) {
	for k, r := range in.pd {
		v, m := p.pout[k], p.mask
		if in.toUP {
			v, m = -(v & 1), full
		}
		w.setPredicate(r, v, m)
	}
}

// writeRows makes the results visible that are in registers.
func (w *warp) writeRows(p *pending, in *inst) {
	m := p.mask
	if in.toUR {
		m = full
		for k := range in.dst[:in.ndst] {
			v := p.out[k][0]
			for i := range p.out[k] {
				p.out[k][i] = v
			}
		}
	}
	for k := range in.dst[:in.ndst] {
		r := in.dst[k]
		if r < 0 {
			continue
		}
		d := &w.rows[r]
		if m == full {
			*d = p.out[k]
		} else {
			for t := m; t != 0; t &= t - 1 {
				i := bits.TrailingZeros32(t) & 31
				d[i] = p.out[k][i]
			}
		}
		if len(w.waiting) > 0 && int(r) < w.blk.im.kernel.regs {
			w.disturb(p, r, m)
		}
	}
}

// disturb lets a general register's new value reach the operands of earlier instructions that
// have not read them yet because nothing waited for them. Uniform registers and predicates are
// read at issue: NVIDIA's compiler overwrites them in the next cycle (LDS R17, [UR4+0x78];
// UIADD3 UR4, UR4, 0x80, URZ for sm_86).
func (w *warp) disturb(p *pending, r ref, m uint32) {
	for _, h := range w.waiting {
		q := w.blk.pend[h]
		if q.seq >= p.seq {
			continue
		}
		for k := range q.in.src[:q.in.nsrc] {
			if q.in.src[k].row != r {
				continue
			}
			for t := m; t != 0; t &= t - 1 {
				i := bits.TrailingZeros32(t) & 31
				q.late.buf[k][i] = w.rows[r][i]
			}
		}
	}
}
