package kepler

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"

	isa "github.com/heddle-sim/heddle/internal/isa/kasm"
)

// This file: views of a core between two cycles. Taking them does not change the core.

// WarpView is the state of a warp.
type WarpView struct {
	PC, Mask    uint32
	Program     int // index of its program
	Status      Status
	Issued      uint64    // instructions selected
	Last        int       // the last of them, if any
	Did         WarpState // its state in the previous cycle
	Busy        []int     // registers reserved in the scoreboard
	BusyPreds   []int     // predicates reserved in the scoreboard
	Outstanding int       // unanswered transactions
	Stack       []Split   // divergence stack, the outermost entry first
	Calls       []uint32
}

// Split is an entry of a warp's divergence stack.
type Split struct{ PC, Mask uint32 }

// View returns a warp.
func (k *Core) View(w int) WarpView {
	v := WarpView{
		PC: k.pc[w], Mask: k.mask[w], Program: int(k.program[w]), Status: k.status[w],
		Issued: k.picked[w], Last: int(k.pickedPC[w]), Did: k.warpDid[w], Outstanding: int(k.outstanding[w]),
	}
	for m := k.busy[w]; m != 0; m &= m - 1 {
		v.Busy = append(v.Busy, bits.TrailingZeros64(m))
	}
	for m := k.predBusy[w]; m != 0; m &= m - 1 {
		v.BusyPreds = append(v.BusyPreds, bits.TrailingZeros8(m))
	}
	for _, f := range k.stack[w][:min(int(k.stackTop[w]), StackDepth)] {
		v.Stack = append(v.Stack, Split{f.pc, f.mask})
	}
	v.Calls = append(v.Calls, k.calls[w][:min(int(k.callTop[w]), CallDepth)]...)
	return v
}

// Ended reports whether Run would stop here: every warp has exited and its results are
// written, there is a fault, or the core is stuck.
func (k *Core) Ended() bool {
	if k.Done() {
		return k.cycle >= k.doneCycle+drain
	}
	return k.Stuck() || k.fault != nil
}

// Text returns an instruction of a program in assembler syntax.
func (k *Core) Text(program, pc int) string {
	return k.programs[program][pc%isa.ProgramWords].Text()
}

// Op returns an instruction's operation.
func (k *Core) Op(program, pc int) isa.Op { return k.programs[program][pc%isa.ProgramWords].Op }

// Moved returns the last cycle in which an instruction or message made progress.
func (k *Core) Moved() uint64 { return k.moved }

// Selected returns the number of selected instructions of a warp.
func (k *Core) Selected(warp int) uint64 { return k.picked[warp] }

// Did returns what fetch did in the previous cycle.
func (k *Core) Did() SlotState { return k.did }

// LineBytes is the size of a line of global memory.
const LineBytes = lineBytes

// Stores returns the number of accesses that may have changed global memory.
func (k *Core) Stores() uint64 { return k.written }

// Lines calls f for every line of global memory that was written, in the order of addresses. It must
// not change them.
func (k *Core) Lines(f func(line uint32, words *[lineWords]uint32)) {
	for _, n := range slices.Sorted(maps.Keys(k.line)) {
		f(n, k.line[n])
	}
}

// QueueView is a queue of instructions.
type QueueView struct {
	Name     string
	Len, Cap int
	What     string
}

// Queues returns the queues of the pipeline, from fetch to memory.
func (k *Core) Queues() []QueueView {
	var list []QueueView
	name := func(s *slot) string {
		t := fmt.Sprintf("warp %d pc %d %s", s.warp, s.pc, k.inst(s).Op)
		if s.nop {
			t += " (squashed)"
		}
		return t
	}
	pair := func(what string, p *[2]slot) {
		q := QueueView{Name: what, Cap: 2}
		for i := range p {
			if p[i].valid {
				q.add(name(&p[i]))
			}
		}
		list = append(list, q)
	}
	pair("fetched", &k.fetched)
	pair("decoded", &k.decoded)
	q := QueueView{Name: "operand collectors", Cap: collectors}
	for m := ^k.idle; m != 0; m &= m - 1 {
		u := bits.TrailingZeros32(m)
		q.add(fmt.Sprintf("%s, %d operands missing", name(&k.unit[u]), k.missing[u]))
	}
	list = append(list, q)
	for u, what := range [...]string{unitALU: "integer queue", unitLSU: "load/store queue", unitFPU: "floating-point queue"} {
		p := &k.queue[u]
		q := QueueView{Name: what, Cap: queueDepth}
		for i := range p.n {
			q.add(name(&p.ring[(p.head+i)%queueDepth]))
		}
		list = append(list, q)
	}
	res := func(what string, r *result) {
		q := QueueView{Name: what, Cap: 1}
		if r.valid {
			q.add(fmt.Sprintf("warp %d R%d, lanes %08x", r.warp, r.rd, r.mask))
		}
		list = append(list, q)
	}
	res("integer result", &k.alu)
	res("floating-point result", &k.fpu)
	q = QueueView{Name: "load/store unit", Cap: 1}
	if r := &k.lsu; r.valid {
		q.add(fmt.Sprintf("warp %d pc %d %s", r.warp, r.pc, r.op))
	}
	list = append(list, q)
	q = QueueView{Name: "replays", Cap: Warps}
	for m := k.replays; m != 0; m &= m - 1 {
		r := &k.replay[bits.TrailingZeros32(m)]
		q.add(fmt.Sprintf("warp %d pc %d %s, lanes %08x", r.warp, r.pc, r.op, r.mask))
	}
	list = append(list, q)
	n := len(k.queued) - k.qhead
	if k.working {
		n++
	}
	list = append(list, QueueView{Name: "memory", Len: n + k.flying})
	res("memory result", &k.mems[k.memAt])
	res("write port 0", &k.port[0])
	res("write port 1", &k.port[1])
	return list
}

func (q *QueueView) add(what string) {
	q.Len++
	if q.What != "" {
		q.What += "; "
	}
	q.What += what
}
