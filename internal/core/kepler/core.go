package kepler

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec/kasm"
	isa "github.com/heddle-sim/heddle/internal/isa/kasm"
)

// Core is one core with its memories.
type Core struct {
	cfg      Config
	sm       int     // its SM number on a chip
	outside  Outside // the memory system; nil for the mock memory
	programs [][isa.ProgramWords]inst
	points   [][isa.ProgramWords]Point // counters of each instruction
	state
	line   map[uint32]*[lineWords]uint32 // written lines of global memory, by line number
	queued []message                     // the mock memory's queue
	qhead  int

	fault   *Fault
	tracing bool
	trace   []Fetch

	record   func(*Way) // called for every instruction that ends; may be nil
	ways     []wayEntry // of instructions in the pipeline
	freeWays []uint16

	// To find a repeated state.
	watching             bool
	twin, probe          *state // an earlier state, and the current one
	twinAt, nextTwin     uint64 // cycles of the earlier state and of the next one to keep
	written, twinWritten uint64 // stores to global memory until now and until twinAt
	period               uint64 // cycles after which it repeated; 0 if it did not
}

// Fetch is a row of the fetch trace: an instruction selected in a cycle.
type Fetch struct {
	Cycle uint64
	Warp  int
	PC    int
	Slot  int // 0, or 1 for the second of a pair
	Op    isa.Op
}

// New returns a core after reset: no warp is started, all memories and registers are
// zero, and all program memories are empty.
func New(cfg Config) *Core {
	k := &Core{cfg: cfg, line: map[uint32]*[lineWords]uint32{}}
	k.programs = make([][isa.ProgramWords]inst, 1, 1+Warps)
	k.points = make([][isa.ProgramWords]Point, 1, 1+Warps)
	for pc := range k.programs[0] {
		k.programs[0][pc] = decode(0, &k.cfg.Switches)
	}
	for w := range Warps {
		k.mask[w] = ^uint32(0)
		for s := range slots {
			k.free[w].ring[s] = uint8(s)
		}
		k.free[w].n = slots
	}
	k.queued = make([]message, 0, compactAt+Warps*slots)
	k.idle = ^uint32(0)
	k.bufFree = ^uint64(0)
	return k
}

// Trace makes the core keep a row for every selected instruction.
func (k *Core) Trace(on bool) { k.tracing = on }

// Fetches returns the fetch trace so far.
func (k *Core) Fetches() []Fetch { return k.trace }

// errWarp is returned for a warp that the core does not have.
var errWarp = fmt.Errorf("invalid warp; want 0 to %d", Warps-1)

// Load writes a program into the program memories of some warps and fills the rest with
// zeros.
func (k *Core) Load(words []uint64, warps ...int) error {
	if len(words) > isa.ProgramWords {
		return fmt.Errorf("the program has %d words, but a warp's program memory holds %d", len(words), isa.ProgramWords)
	}
	if len(k.programs) > 255 {
		return errors.New("too many programs: a core holds at most 255")
	}
	p := len(k.programs)
	k.programs = append(k.programs, [isa.ProgramWords]inst{})
	k.points = append(k.points, [isa.ProgramWords]Point{})
	for pc := range k.programs[p] {
		w := uint64(0)
		if pc < len(words) {
			w = words[pc]
		}
		k.programs[p][pc] = decode(w, &k.cfg.Switches)
	}
	for _, w := range warps {
		if w < 0 || w >= Warps {
			return errWarp
		}
		k.program[w] = uint8(p)
	}
	return nil
}

// Start makes a warp ready at a pc with some lanes active.
func (k *Core) Start(warp int, pc, mask uint32) error {
	if warp < 0 || warp >= Warps {
		return errWarp
	}
	k.pc[warp], k.mask[warp], k.startCycle[warp] = pc, mask, k.cycle
	k.setStatus(warp, Ready)
	k.started |= 1 << warp
	return nil
}

func (k *Core) setStatus(w int, s Status) {
	k.status[w] = s
	k.ready &^= 1 << w
	k.over &^= 1 << w
	switch s {
	case Ready:
		k.ready |= 1 << w
	case Exited:
		k.over |= 1 << w
	}
}

// SetRegister sets a register of one lane, or of all if lane is negative.
func (k *Core) SetRegister(warp, reg, lane int, v uint32) error {
	switch {
	case warp < 0 || warp >= Warps:
		return errWarp
	case reg < 0 || reg >= isa.Registers:
		return fmt.Errorf("invalid register %d; want 0 to %d", reg, isa.Registers-1)
	case lane >= isa.Lanes:
		return fmt.Errorf("invalid lane %d; want 0 to %d, or -1 for all", lane, isa.Lanes-1)
	}
	if lane >= 0 {
		k.regs[warp][reg][lane] = v
		return nil
	}
	for l := range k.regs[warp][reg] {
		k.regs[warp][reg][l] = v
	}
	return nil
}

// Register returns the values of a register, by lane.
func (k *Core) Register(warp, reg int) kasm.Vector { return k.regs[warp][reg] }

// Predicate returns the lanes in which a predicate of a warp is true.
func (k *Core) Predicate(warp, pred int) uint32 { return k.preds[warp][pred] }

// PC and the following return parts of the state.
func (k *Core) PC(warp int) uint32     { return k.pc[warp] }
func (k *Core) Mask(warp int) uint32   { return k.mask[warp] }
func (k *Core) Status(warp int) Status { return k.status[warp] }
func (k *Core) StackTop(warp int) int  { return int(k.stackTop[warp]) }
func (k *Core) CallTop(warp int) int   { return int(k.callTop[warp]) }
func (k *Core) Started(warp int) bool  { return k.started>>warp&1 != 0 }
func (k *Core) Cycle() uint64          { return k.cycle }
func (k *Core) Stats() Stats           { return k.stats }
func (k *Core) Shared(word int) uint32 { return binary.LittleEndian.Uint32(k.shared[4*word:]) }
func (k *Core) Memory(addr uint32) uint32 {
	if l := k.line[addr/lineBytes]; l != nil {
		return l[addr%lineBytes/4]
	}
	return 0
}

// SetMemory sets the word of global memory at a byte address.
func (k *Core) SetMemory(addr, v uint32) { k.lineFor(addr / lineBytes)[addr%lineBytes/4] = v }

// SetShared sets the word of shared memory at a byte address.
func (k *Core) SetShared(addr int, v uint32) error {
	if addr < 0 || addr >= SharedBytes {
		return fmt.Errorf("shared memory address %d is out of range; want 0 to %d", addr, SharedBytes-1)
	}
	binary.LittleEndian.PutUint32(k.shared[addr&^3:], v)
	return nil
}

// ExitCycle returns the cycle in which the exit of a warp was first seen, 0 if it has
// not exited.
func (k *Core) ExitCycle(warp int) uint64 { return k.exitCycle[warp] }

// Words calls f for every non-zero word of global memory, in no particular order.
func (k *Core) Words(f func(addr, v uint32)) {
	for n, l := range k.line {
		for i, v := range l {
			if v != 0 {
				f(n*lineBytes+uint32(i)*4, v)
			}
		}
	}
}

// lineFor returns a line that will be written.
func (k *Core) lineFor(n uint32) *[lineWords]uint32 {
	k.written++
	l := k.line[n]
	if l == nil {
		l = new([lineWords]uint32)
		k.line[n] = l
	}
	return l
}

// Done reports whether every started warp has exited; it becomes true one cycle after
// the last exit.
func (k *Core) Done() bool { return k.doneCycle != 0 }

// DoneCycle returns the cycle in which Done became true, 0 before.
func (k *Core) DoneCycle() uint64 { return k.doneCycle }

// drain is the number of cycles that Run continues after the last warp has exited,
// because an exit does not wait for unwritten results of the warp.
const drain = 10

// stuckAfter is the number of cycles without progress after which there will be none:
// everything that proceeds by itself, such as the replay of a bank conflict, ends much
// sooner.
const stuckAfter = 512

// Stuck reports whether warps wait for something that can never happen.
func (k *Core) Stuck() bool { return k.period != 0 || k.still() }

// still reports whether there is no progress and no answer to come.
func (k *Core) still() bool {
	return !k.Done() && k.started != 0 && k.cycle > k.moved+stuckAfter && k.flying == 0
}

// Wait is what a warp that has not exited waits for.
type Wait struct {
	Warp, Program, PC int    // PC is the next instruction to fetch, or for a running warp or one at a barrier the last executed
	Mask              uint32 // active lanes
	Inst              string
	What              string
}

func (w Wait) String() string {
	return fmt.Sprintf("warp %d at pc %d (%s), lanes %08x: %s", w.Warp, w.PC, w.Inst, w.Mask, w.What)
}

// Waiting returns what each warp that has not exited waits for.
func (k *Core) Waiting() []Wait {
	var list []Wait
	for w := range Warps {
		if s := k.status[w]; s == Idle || s == Exited {
			continue
		}
		pc := k.at(w)
		what := k.waitsFor(uint8(w), pc)
		if what == "" {
			what = "it runs"
		}
		if k.ran[w] && (what == "it runs" || k.status[w] == Barrier) {
			pc = k.ranPC[w] // the next fetch may be beyond a jump that is not resolved yet
		}
		list = append(list, Wait{Warp: w, Program: int(k.program[w]), PC: int(pc), Mask: k.mask[w], Inst: k.programs[k.program[w]][pc].Text(), What: what})
	}
	return list
}

// at returns the pc that a warp fetches next; if the pc does not wrap around, beyond the
// end of program memory it is that of the last instruction.
func (k *Core) at(w int) uint8 {
	if k.cfg.Checked && k.pc[w] >= isa.ProgramWords {
		return isa.ProgramWords - 1
	}
	return uint8(k.pc[w])
}

// waitsFor returns what a warp waits for, "" if it runs.
func (k *Core) waitsFor(w, pc uint8) string {
	i := &k.programs[k.program[w]][pc]
	q := &k.queue[unitALU]
	h := &q.ring[q.head]
	atHead := q.n > 0 && h.warp == w
	switch {
	case k.status[w] == Barrier && k.cfg.Rendezvous:
		return fmt.Sprintf("at a barrier, for warps that have not arrived or exited: %s", warpList(k.started&^k.over&k.ready))
	case k.status[w] == Barrier:
		return fmt.Sprintf("at a barrier, for warps %s", warpList(k.barExpected&^k.barMask))
	case atHead && (k.inst(h).Op == isa.EXIT || k.inst(h).Op == isa.BAR):
		return fmt.Sprintf("%v waits for %d unanswered memory transactions", k.inst(h).Op, k.outstanding[w])
	case k.cfg.Checked && k.pc[w] >= isa.ProgramWords:
		return "ran past the end of its program memory: there is no EXIT"
	case i.pred != isa.Always && k.predBusy[w]>>i.pred&1 != 0:
		return fmt.Sprintf("for P%d, which has not been written yet", i.pred)
	case k.busy[w]&i.watch != 0:
		return fmt.Sprintf("for R%d, which has not been written yet; %d memory transactions are outstanding", bits.TrailingZeros64(k.busy[w]&i.watch), k.outstanding[w])
	case i.global && k.free[w].n == 0:
		return "for a free transaction slot"
	case !k.still():
		return ""
	}
	return "for a pipeline that other warps block"
}

// Waits returns Waiting as text.
func (k *Core) Waits() []string {
	var list []string
	for _, w := range k.Waiting() {
		list = append(list, w.String())
	}
	return list
}

func warpList(set uint32) string {
	s := ""
	for ; set != 0; set &= set - 1 {
		s += fmt.Sprintf(" %d", bits.TrailingZeros32(set))
	}
	if s == "" {
		return "none"
	}
	return s[1:]
}

// Run simulates until every warp has exited and its results are written, there is a
// fault, the core is stuck, or a cycle is reached. It reports whether every warp has
// exited.
func (k *Core) Run(until uint64) bool {
	for !k.Done() && k.cycle < until && !k.Stuck() && k.fault == nil {
		k.Step()
		if k.watching {
			k.lookForTwin()
		}
	}
	if !k.Done() {
		return false
	}
	for k.cycle < k.doneCycle+drain {
		k.Step()
	}
	return true
}

// inst returns the instruction of a slot.
func (k *Core) inst(s *slot) *inst { return &k.programs[s.prog][s.pc] }

// predicate returns the lanes in which a predicate is true, including what the integer
// pipe is about to write.
func (k *Core) predicate(w, p uint8) uint32 {
	if p == isa.Always {
		return ^uint32(0)
	}
	v := k.preds[w][p]
	if f := &k.aluPred; f.valid && f.warp == w && f.pred == p {
		return f.v // for all lanes, even those that will not be written
	}
	return v
}

// lanes returns the lanes on which an instruction executes.
func (k *Core) lanes(s *slot, i *inst) uint32 {
	if k.cfg.FullScoreboard {
		return s.mask // the guard was read when it was decoded
	}
	p := k.predicate(s.warp, i.pred)
	if i.Guard&8 != 0 {
		p = ^p
	}
	return s.mask & p
}

// stale reports whether a branch has overtaken an instruction.
func (k *Core) stale(s *slot) bool {
	return s.tag != k.tag[s.warp]
}

// staleInQueue is stale for the queues that control instructions do not pass through.
// An instruction that enters one in order is older than every unresolved branch; the
// RTL treats it as younger if it has to wait.
func (k *Core) staleInQueue(s *slot) bool {
	if k.cfg.FullScoreboard {
		return s.nop
	}
	return k.stale(s)
}

// Step simulates one cycle.
func (k *Core) Step() {
	var now cycle
	now.idle = bits.OnesCount32(k.idle)
	now.stall = k.cycle < FirstFetch || k.conflict ||
		k.decoded[0].valid && now.idle == 0 || k.decoded[1].valid && now.idle < 2

	// Decisions, all based on the state at the cycle's start.
	k.resolve(&now)
	k.selectWarp(&now)
	k.account(&now)
	for w := range k.free {
		if k.free[w].n > 0 {
			now.lsuFree |= 1 << w
		}
	}
	if k.queue[unitLSU].n > 0 {
		h := &k.queue[unitLSU].ring[k.queue[unitLSU].head]
		now.lsuLanes, now.lsuStale = k.lanes(h, k.inst(h)), k.staleInQueue(h)
	}
	if k.queue[unitFPU].n > 0 {
		h := &k.queue[unitFPU].ring[k.queue[unitFPU].head]
		now.fpuLanes, now.fpuStale = k.lanes(h, k.inst(h)), k.staleInQueue(h)
	}
	k.memory(&now)
	k.release(&now)
	k.collect(&now)
	k.decode(&now)

	// Register and predicate files, write ports, results.
	k.writeBack(&now)
	k.execute(&now)

	// The state at the cycle's end.
	for q := range k.queue {
		if now.pop[q] {
			if h := &k.queue[q].ring[k.queue[q].head]; q == int(unitALU) && !h.nop && k.inst(h).unit == unitControl {
				k.control[h.warp]--
			}
			k.queue[q].pop()
		}
		if s := &now.push[q]; s.valid {
			if q == int(unitALU) && !s.nop && k.inst(s).unit == unitControl {
				k.control[s.warp]++
			}
			k.queue[q].push(*s)
		}
	}
	k.commit(&now)
	if now.chosen[0].valid || now.pop[0] || now.pop[1] || now.pop[2] || now.freed != 0 || k.working || now.stall && k.cycle < FirstFetch {
		k.moved = k.cycle
	}
	k.memAt ^= 1
	k.cycle++
	k.stats.Cycles++
}

// cycle holds the decisions of one cycle.
type cycle struct {
	idle  int  // free collectors
	stall bool // fetch and decode stall

	// The head of the integer queue.
	warp    uint8
	squash  bool
	commits bool   // the head leaves its queue
	lanes   uint32 // on which it executes
	selp    uint32 // lanes in which SELP's predicate is true
	branch  bool
	target  uint32
	newMask uint32
	maskSet bool
	exits   bool
	atBar   bool
	waits   bool   // EXIT or BAR stays in the queue
	toReady uint32 // warps that a barrier releases

	// The heads of the other queues.
	lsuLanes, fpuLanes uint32
	lsuFree            uint32 // warps with a free transaction slot
	lsuStale, fpuStale bool
	fpuServed          bool // the result gets a write port
	fpuBlocked         bool // the result register is occupied

	chosen [2]slot // fetched instructions
	pop    [3]bool
	full   [3]bool
	push   [3]slot
	freed  uint32 // freed collectors

	markWarp, clearWarp [2]uint8
	marks, clears       [2]uint64
	markPred            [2]uint8
}

// commit applies the cycle's decisions about warps.
func (k *Core) commit(now *cycle) {
	// Scoreboards: a mark wins over a release.
	k.cleared[k.clearedWarp[0]], k.cleared[k.clearedWarp[1]] = 0, 0
	k.clearedWarp = now.clearWarp
	for p, c := range now.clears {
		k.busy[now.clearWarp[p]] &^= c
		k.cleared[now.clearWarp[p]] |= c
	}
	if k.predOut.valid { // it has left the integer pipe in this cycle
		k.predBusy[k.predOut.warp] &^= 1 << k.predOut.pred
	}
	k.producers(now)
	for p := range now.marks {
		k.busy[now.markWarp[p]] |= now.marks[p]
		k.predBusy[now.markWarp[p]] |= now.markPred[p]
	}

	// Fetch.
	if !now.stall {
		k.fetched = now.chosen
		if s := &now.chosen[0]; s.valid {
			n := uint32(1)
			if now.chosen[1].valid {
				n = 2
			}
			k.pc[s.warp] += n
			k.next = (s.warp + 1) % Warps
			k.last = s.warp
		}
	}

	// Branch.
	k.branched = now.branch
	if now.branch {
		w := now.warp
		k.branchWarp = w
		k.pc[w] = now.target
		if now.commits {
			k.tag[w] = (k.tag[w] + 1) & 3
		}
		for p := range k.fetched {
			if k.fetched[p].warp == w {
				if k.fetched[p].valid && k.record != nil {
					k.dropWay(k.fetched[p].way)
				}
				k.fetched[p].valid = false
			}
		}
		k.stats.Branches++
	}
	if now.maskSet {
		k.mask[now.warp] = now.newMask
	}

	// States of warps.
	alive := uint32(0)
	for w := range Warps {
		if s := k.status[w]; s != Idle && s != Exited {
			alive |= 1 << w
		}
	}
	if k.doneCycle == 0 && k.started != 0 && alive == 0 {
		k.doneCycle = k.cycle + 1
	}
	if now.exits {
		k.setStatus(int(now.warp), Exited)
		k.exitCycle[now.warp] = k.cycle + 1
	}
	if now.atBar {
		k.setStatus(int(now.warp), Barrier)
	}
	for m := now.toReady; m != 0; m &= m - 1 {
		k.setStatus(bits.TrailingZeros32(m), Ready)
	}
	if k.cfg.Rendezvous && k.barSeen^k.barEpoch != 0 {
		k.meet()
	}
}

// Names reports whether an instruction of a warp's program names a register in
// any of its fields, used or not.
func (k *Core) Names(warp, reg int) bool {
	prog := &k.programs[k.program[warp]]
	for pc := range prog {
		if prog[pc].named>>reg&1 != 0 {
			return true
		}
	}
	return false
}
