package flow

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/internal/isa"
)

// files is the number of register files, isa.NoReg included.
const files = int(isa.RegUPred) + 1

// Live describes which registers hold a value that may still be read. A register is the unit
// of isa.Reg: 32 bits of a general file, or one predicate.
//
// It treats a warp's lanes as one thread: a register that is dead on one side of a divergent
// branch counts as free there, although lanes waiting on the other side may still need
// theirs. The numbers are therefore those of a compiler for one thread.
type Live struct {
	// MaxLive is the largest number of general registers in use at one time, an
	// estimate of the registers that a thread needs.
	MaxLive int

	// Complete is false if the code has too many blocks and registers: computing all sets
	// would take minutes and gigabytes. Registers with higher numbers then count as live
	// from the first to the last instruction that names them, regardless of what happens in
	// between, and In and IsIn leave them out.
	Complete bool

	in   [files][][]liveWord // by block: its live-in set, by ascending base
	peak [files]int
	at   [files][]int32 // by pc: registers in use
}

// liveWord is a piece of a set: bit i stands for register 64*base+i.
type liveWord struct {
	base uint32
	bits uint64
}

// In returns the registers of a file that are live at the beginning of a block, ascending.
func (l *Live) In(block int, file isa.RegFile) []int {
	var regs []int
	for _, w := range l.in[file][block] {
		for set := w.bits; set != 0; set &= set - 1 {
			regs = append(regs, 64*int(w.base)+bits.TrailingZeros64(set))
		}
	}
	return regs
}

// IsIn reports whether a register is live at the beginning of a block.
func (l *Live) IsIn(block int, file isa.RegFile, index int) bool {
	words := l.in[file][block]
	i, found := slices.BinarySearchFunc(words, uint32(index/64), func(w liveWord, base uint32) int { return cmp.Compare(w.base, base) })
	return found && words[i].bits>>(index%64)&1 != 0
}

// At returns the number of registers of a file that an instruction keeps in use: those live
// before it, or those live after it together with all that it writes, whichever is larger.
// It is zero in unreachable code.
func (l *Live) At(pc int, file isa.RegFile) int { return int(l.at[file][pc]) }

// Max returns the largest number of registers of a file in use at one time.
func (l *Live) Max(file isa.RegFile) int { return l.peak[file] }

// event is the effect of one instruction on one group of 64 registers.
type event struct {
	pc       int32
	use, def uint64
	kill     uint64 // def, unless a guard may leave the old value
}

// liveBudget is the number of sets that Liveness makes before it begins to estimate; a set
// has 64 registers, and there is one for each block in which any of them is live or named.
// That takes about a second and 32 MiB. It is enough for 50,000 instructions in blocks of
// fifteen with 14,000 registers live at a time.
const liveBudget = 1 << 21

// Liveness finds the live registers of a function; g is the graph of code. A guarded
// instruction may leave its destinations unchanged, so it does not end the life of the old
// value.
func Liveness(code []isa.Inst, g *Graph) *Live {
	l := &Live{Complete: true}
	if len(code) == 0 {
		return l
	}
	// Sets of thousands of registers for each of thousands of blocks would be large and
	// mostly empty. The analysis therefore handles 64 registers at a time, and visits only
	// the instructions that name one of them.
	groups := collect(code)
	s := newSolver(g)
	budget := liveBudget
	for file := range files {
		l.in[file] = make([][]liveWord, len(g.Blocks))
		before := make([]int32, len(code)+1) // differences between the counts of successive pcs
		after := make([]int32, len(code)+1)
		for _, grp := range groups[file] {
			if budget <= 0 {
				l.Complete = false
				estimate(grp.events, before, after)
				continue
			}
			s.solve(grp.events)
			budget -= len(s.touched)
			s.count(grp.events, before, after)
			for _, b := range s.touched {
				if set := s.in[b]; set != 0 && g.Reachable(int(b)) {
					l.in[file][b] = append(l.in[file][b], liveWord{grp.base, set})
				}
			}
			s.reset()
		}
		l.at[file] = before[:len(code)]
		var sumBefore, sumAfter int32
		for pc := range code {
			sumBefore += before[pc]
			sumAfter += after[pc]
			l.at[file][pc] = max(sumBefore, sumAfter)
			l.peak[file] = max(l.peak[file], int(l.at[file][pc]))
		}
	}
	l.MaxLive = l.peak[isa.RegGPR]
	return l
}

// group is everything that happens to the registers from 64*base on, in code order.
type group struct {
	base   uint32
	events []event
}

// collect sorts the effects of the instructions on registers by file and group of 64;
// groups are ascending.
func collect(code []isa.Inst) (groups [files][]group) {
	var index [files]map[uint32]int // by base
	at := func(file isa.RegFile, base uint32, pc int) *event {
		i, ok := index[file][base]
		if !ok {
			if index[file] == nil {
				index[file] = make(map[uint32]int)
			}
			i = len(groups[file])
			index[file][base] = i
			groups[file] = append(groups[file], group{base: base})
		}
		grp := &groups[file][i]
		if n := len(grp.events); n == 0 || int(grp.events[n-1].pc) != pc {
			grp.events = append(grp.events, event{pc: int32(pc)})
		}
		return &grp.events[len(grp.events)-1]
	}
	for pc := range code {
		in := &code[pc]
		for _, r := range in.Srcs {
			for base, set := range words(r) {
				at(r.File, base, pc).use |= set
			}
		}
		for _, r := range in.Dsts {
			for base, set := range words(r) {
				e := at(r.File, base, pc)
				e.def |= set
				if !in.Guarded {
					e.kill |= set
				}
			}
		}
	}
	for file := range groups {
		slices.SortFunc(groups[file], func(a, b group) int { return cmp.Compare(a.base, b.base) })
	}
	return groups
}

// words yields the registers of r as sets of groups; none if its file is not tracked.
func words(r isa.Reg) iter.Seq2[uint32, uint64] {
	return func(yield func(uint32, uint64) bool) {
		if r.File == isa.NoReg || int(r.File) >= files {
			return
		}
		reg, left := uint64(r.Index), uint64(r.Count)
		for left > 0 {
			n := min(left, 64-reg%64)
			if !yield(uint32(reg/64), ^uint64(0)>>(64-n)<<(reg%64)) {
				return
			}
			reg += n
			left -= n
		}
	}
}

// solver holds the sets of one group's registers for all blocks. Only touched
// blocks differ from zero.
type solver struct {
	g       *Graph
	state   []blockState
	in      []uint64 // live where the block begins
	work    []int32
	touched []int32
}

// blockState is the solver's state of a block besides its live-in set.
type blockState struct {
	out         uint64 // live where it ends
	use         uint64 // read before they are written
	kill        uint64 // certainly written
	first, last int32  // its events in the list: [first, last)
	touched     bool
	queued      bool
}

func newSolver(g *Graph) *solver {
	n := len(g.Blocks)
	return &solver{g: g, state: make([]blockState, n), in: make([]uint64, n)}
}

// touch returns the state of a block that is about to change.
func (s *solver) touch(b int32) *blockState {
	st := &s.state[b]
	if !st.touched {
		st.touched = true
		s.touched = append(s.touched, b)
	}
	return st
}

func (s *solver) reset() {
	for _, b := range s.touched {
		s.state[b] = blockState{}
		s.in[b] = 0
	}
	s.touched = s.touched[:0]
}

func (s *solver) push(b int32) {
	if st := &s.state[b]; !st.queued {
		st.queued = true
		s.work = append(s.work, b)
	}
}

// solve finds the live-in and live-out sets of all blocks.
func (s *solver) solve(list []event) {
	for i := len(list) - 1; i >= 0; i-- {
		e := &list[i]
		b := s.g.blockOf[e.pc]
		st := s.touch(b)
		if st.last == 0 {
			st.last = int32(i + 1)
		}
		st.first = int32(i)
		st.use = st.use&^e.kill | e.use
		st.kill |= e.kill
	}
	// Only blocks that read something can add registers; from there the sets grow
	// backwards.
	for _, b := range s.touched {
		if s.state[b].use != 0 {
			s.push(b)
		}
	}
	for len(s.work) > 0 {
		b := s.work[len(s.work)-1]
		s.work = s.work[:len(s.work)-1]
		st := &s.state[b]
		st.queued = false
		in := st.use | st.out&^st.kill
		if in == s.in[b] {
			continue
		}
		s.in[b] = in
		for _, p := range s.g.Blocks[b].Preds {
			if from := s.touch(int32(p)); in&^from.out != 0 {
				from.out |= in
				s.push(int32(p))
			}
		}
	}
}

// count adds the registers in use to the differences of the counts before and after each
// instruction.
func (s *solver) count(list []event, before, after []int32) {
	for _, b := range s.touched {
		if !s.g.Reachable(int(b)) {
			continue
		}
		blk, st := &s.g.Blocks[b], &s.state[b]
		// Walk backwards; set is what is live after the instruction at pc.
		set := st.out
		pc := blk.Last
		for i := int(st.last) - 1; i >= int(st.first); i-- {
			e := &list[i]
			constant(before, after, int(e.pc)+1, pc, set)
			span(after, int(e.pc), int(e.pc), set|e.def)
			set = set&^e.kill | e.use
			span(before, int(e.pc), int(e.pc), set)
			pc = int(e.pc) - 1
		}
		constant(before, after, blk.First, pc, set)
	}
}

// estimate counts each register from the first to the last event that names it.
func estimate(list []event, before, after []int32) {
	var first, last [64]int
	var named uint64
	for i := range list {
		e := &list[i]
		for set := e.use | e.def; set != 0; set &= set - 1 {
			r := bits.TrailingZeros64(set)
			if named>>r&1 == 0 {
				named |= 1 << r
				first[r] = int(e.pc)
			}
			last[r] = int(e.pc)
		}
	}
	for set := named; set != 0; set &= set - 1 {
		r := bits.TrailingZeros64(set)
		constant(before, after, first[r], last[r], 1)
	}
}

// constant counts a set that is the same at all pcs from first to last.
func constant(before, after []int32, first, last int, set uint64) {
	if first <= last && set != 0 {
		span(before, first, last, set)
		span(after, first, last, set)
	}
}

// span adds the set's size to the count of each pc from first to last.
func span(diff []int32, first, last int, set uint64) {
	n := int32(bits.OnesCount64(set))
	diff[first] += n
	diff[last+1] -= n
}
