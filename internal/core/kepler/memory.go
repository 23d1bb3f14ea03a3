package kepler

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	isa "github.com/heddle-sim/heddle/internal/isa/kasm"
)

// delays is the number of cycles that the mock memory takes for a message, by launch
// cycle modulo seven: its shift register's sequence 5, 3, 7, 6, 4, 1, 2, each modulo
// six, plus two.
var delays = [7]uint64{7, 5, 3, 2, 6, 3, 4}

// delay returns the number of cycles that the mock memory takes for a message launched
// in a cycle.
func (k *Core) delay(launch uint64) uint64 {
	if k.cfg.Delay > 0 {
		return uint64(k.cfg.Delay)
	}
	return delays[launch%7]
}

// compactAt is the number of completed messages in the mock memory's queue at which the
// rest is moved to its start.
const compactAt = 512

// memory simulates a cycle of the load/store unit and of the memories.
func (k *Core) memory(now *cycle) {
	next := &k.mems[k.memAt^1]
	next.valid = false

	back, backWarp, backSlot := k.returning, k.returnWarp, k.returnSlot
	k.returning = false
	loaded := false
	if k.cfg.OwnTransactions {
		loaded = k.answerAny(next)
	} else {
		loaded = k.answer(next)
	}
	consumed := k.launch()
	if back { // the slot of the answer in the previous cycle
		q := &k.free[backWarp]
		if q.n < slots {
			q.ring[(q.head+q.n)%slots] = backSlot
			q.n++
		}
	}

	// Shared memory.
	l := &k.lsu
	isShared := l.valid && !l.nop && l.shared
	if k.cfg.OneResponse {
		if isShared && k.sharedOnce(next) {
			consumed = true
			k.endAccess()
		}
	} else if k.sharedPipe(next, isShared, loaded) {
		consumed = true
		k.endAccess()
	}
	if l.valid && l.nop && !next.valid {
		next.valid, next.last, next.warp, next.rd, next.mask = true, l.mark || !k.cfg.FullScoreboard, l.warp, l.rd, 0
		consumed = true
		k.endAccess()
	}
	k.nextRequest(now, consumed)
}

// sharedOnce simulates a cycle of an access to shared memory that answers once, two
// cycles after the last bank has been served. It reports whether the access is
// complete.
func (k *Core) sharedOnce(next *result) bool {
	l := &k.lsu
	if !l.begun {
		l.begun = true
		l.ready = k.cycle + 2 + uint64(k.banksOf(l))
		if l.extra {
			l.ready += atomicShared
		}
		return false
	}
	if k.conflict {
		k.bankStep(false)
	}
	if k.cycle < l.ready || next.valid {
		return false
	}
	next.valid, next.last, next.warp, next.rd, next.mask = true, l.mark, l.warp, l.rd, 0
	if l.op != isa.STS {
		next.mask = l.mask
		next.v = k.read
	}
	return true
}

// sharedPipe simulates a cycle of the RTL's response pipeline of shared memory. It
// reports whether the current request is complete.
func (k *Core) sharedPipe(next *result, isShared, loaded bool) (consumed bool) {
	l := &k.lsu
	wasReplaying := k.conflict
	hold := k.sharedResp.valid && loaded
	if k.sharedResp.valid && !loaded {
		*next = k.sharedResp
	}
	if !hold {
		valid := k.sharedReq.valid
		if valid {
			k.sharedResp = k.sharedReq
			k.sharedResp.v = k.read
		}
		k.sharedResp.valid = valid
	}
	switch r := &k.sharedReq; {
	case isShared && !wasReplaying:
		r.valid, r.last, r.warp, r.rd, r.mask = true, true, l.warp, l.rd, l.mask
	case !hold:
		r.valid = false
	}
	k.bankStep(isShared)
	return isShared && !wasReplaying && next.valid
}

// nextRequest takes the next request from its queue when the current one is complete.
func (k *Core) nextRequest(now *cycle, consumed bool) {
	l := &k.lsu
	if consumed {
		l.valid, l.nop, l.op, l.warp = false, false, isa.NOP, 0
	}
	q := &k.queue[unitLSU]
	if q.n == 0 || l.valid {
		return
	}
	h := &q.ring[q.head]
	if now.lsuFree>>h.warp&1 == 0 {
		return
	}
	now.pop[unitLSU] = true
	k.pops++
	i := k.inst(h)
	l.valid, l.nop, l.op, l.warp, l.rd, l.shared, l.extra, l.imm = true, now.lsuStale, i.Op, h.warp, i.rd, !i.global, i.extra, i.Imm
	if l.nop {
		l.op = isa.NOP
		k.stats.Squashed++
	} else {
		k.count(h, now.lsuLanes)
	}
	l.mask, l.mark, l.begun, l.pc = now.lsuLanes, h.mark, false, h.pc
	l.id = uint16(i.Op)<<8 | uint16(k.pops)
	l.way = h.way
	if k.record != nil {
		e := &k.ways[h.way]
		e.Execute, e.Lanes, e.Squashed = k.cycle+1, now.lsuLanes, l.nop
	}
	for n, a := range k.buf[h.buf][0] {
		l.addr[n] = a + uint32(i.Imm)
	}
	l.data = k.buf[h.buf][1]
	if l.extra {
		l.third = k.buf[h.buf][2]
		if i.Op == isa.TEX {
			l.addr = k.buf[h.buf][0] // no address: the first coordinate
		}
	}
	k.bufFree |= 1 << h.buf
	if k.cfg.Checked && !l.nop {
		k.checkAddresses(h, i)
	}
}

// checkAddresses reports accesses that are misaligned or outside memory.
func (k *Core) checkAddresses(h *slot, i *inst) {
	l := &k.lsu
	if i.Op == isa.TEX {
		k.checkTexture(h, l)
		return
	}
	size, name := uint32(MemoryBytes), "memory"
	if !i.global {
		size, name = SharedBytes, "shared memory"
	}
	for m := l.mask; m != 0; m &= m - 1 {
		n := bits.TrailingZeros32(m)
		switch a := l.addr[n]; {
		case a%4 != 0:
			k.fail(h, m, fmt.Sprintf("misaligned access to %s at %#x", name, a))
			return
		case a >= size:
			k.fail(h, m, fmt.Sprintf("access to %s at %#x, beyond its %d bytes", name, a, size))
			return
		}
	}
}

// launch sends one line's part of a request to memory: of a split request that waits for
// replay, or of the current request. It reports whether the latter is complete.
func (k *Core) launch() (consumed bool) {
	l := &k.lsu
	from, replayed := k.nextReplay()
	if !replayed {
		from = l
	}
	if !replayed && (!l.valid || l.nop || l.shared) {
		return false
	}
	if !replayed && l.extra && l.op == isa.TEX {
		return k.sample()
	}

	// The RTL takes slot and direction from the current request, whichever request's
	// part is sent.
	owner, write := l.warp, l.op == isa.STR
	if k.cfg.OwnTransactions {
		owner, write = from.warp, from.op == isa.STR
	}
	q := &k.free[owner]
	id := q.ring[q.head]
	if q.n > 0 {
		q.head, q.n = (q.head+1)%slots, q.n-1
	} else if !replayed {
		return false
	}
	leader := 0
	if from.mask != 0 {
		leader = bits.TrailingZeros32(from.mask)
	}
	line := from.addr[leader] / lineBytes
	part := uint32(0)
	for m := from.mask; m != 0; m &= m - 1 {
		if n := bits.TrailingZeros32(m); from.addr[n]/lineBytes == line {
			part |= 1 << n
		}
	}
	rest := from.mask &^ part
	t := &k.table[from.warp][id]
	t.valid, t.store, t.last, t.warp, t.slot, t.rd, t.mask = true, from.op == isa.STR, rest == 0, owner, id, from.rd, part
	t.way = from.way
	for n, a := range from.addr {
		t.word[n] = uint8(a % lineBytes / 4)
	}
	k.outstanding[from.warp]++
	if k.cfg.OwnTransactions {
		if !replayed {
			from.group = k.newGroup(from.warp)
		}
		k.perform(from, t, line, rest != 0)
	} else {
		k.queued = append(k.queued, message{warp: owner, slot: id, write: write, line: line, mask: part, at: k.cycle, word: t.word})
		if write {
			k.queued[len(k.queued)-1].data = from.data
		}
	}
	k.stats.Transactions++
	switch {
	case replayed:
		k.stats.Replays++
		k.points[k.program[from.warp]][from.pc].Replays++
		from.mask = rest
		if rest == 0 {
			k.replays &^= 1 << from.warp
		}
		return false
	case rest != 0:
		r := &k.replay[l.warp]
		*r = *l
		r.mask = rest
		k.replays |= 1 << l.warp
	}
	return true
}

// nextReplay returns a split request that waits for replay and has a free slot, in turn of
// the warps; false if there is none.
func (k *Core) nextReplay() (*request, bool) {
	able := k.replays
	for m := able; m != 0; m &= m - 1 {
		if w := bits.TrailingZeros32(m); k.free[w].n == 0 {
			able &^= 1 << w
		}
	}
	if able == 0 {
		return nil, false
	}
	w := first(able, k.replayNext)
	k.replayNext = (w + 1) % Warps
	return &k.replay[w], true
}

// newGroup returns a group number for the parts of a request, which may be answered in
// any order and after those of later requests. There is one for each free slot, because
// a request of a warp begins only after all parts of the previous one have been sent.
func (k *Core) newGroup(warp uint8) uint8 {
	g := uint8(bits.TrailingZeros64(^k.groups[warp]))
	k.groups[warp] |= 1 << g
	return g
}

// perform applies a transaction to memory, and sends it to the memory system.
func (k *Core) perform(from *request, t *transaction, line uint32, more bool) {
	t.group, t.lines = from.group, 0
	k.parts[t.warp][t.group]++
	k.open[t.warp][t.group] = more
	clear(t.v[:])
	what, longer := read, uint64(0)
	switch words := k.line[line]; {
	case from.extra:
		what, longer = atomic, k.atomics(from, t, line)-1
	case t.store:
		what = write
		words = k.lineFor(line)
		for m := t.mask; m != 0; m &= m - 1 {
			n := bits.TrailingZeros32(m)
			words[t.word[n]] = from.data[n]
		}
	case words != nil:
		for m := t.mask; m != 0; m &= m - 1 {
			n := bits.TrailingZeros32(m)
			t.v[n] = words[t.word[n]]
		}
	}
	t.last = from.mark
	k.send(t.warp, t.slot, line, what, t.mask, longer)
}

// send sends a request for a line; longer is the number of additional cycles.
func (k *Core) send(warp, slot uint8, line uint32, what access, mask uint32, longer uint64) {
	if k.outside != nil {
		a := Access{Warp: warp, Slot: slot, Line: line, Words: ^uint32(0), Lanes: mask, Write: what == write, Atomic: what == atomic, Longer: uint32(longer)}
		if what != textureRead {
			a.Words = 0
			t := &k.table[warp][slot]
			for m := mask; m != 0; m &= m - 1 {
				a.Words |= 1 << t.word[bits.TrailingZeros32(m)]
			}
		}
		k.outside.Send(k.sm, a)
		return
	}
	k.fly(warp, slot, k.cycle+k.delay(k.cycle)+2+longer)
}

// fly schedules the answer to a transaction.
func (k *Core) fly(warp, slot uint8, due uint64) {
	k.flights[k.flying] = flight{due: due, warp: warp, slot: slot}
	k.flying++
}

// answerAny answers the transaction that has been due longest. It reports whether loaded
// values have arrived in next.
func (k *Core) answerAny(next *result) (loaded bool) {
	at := -1
	for n := range k.flying {
		if f := &k.flights[n]; f.due <= k.cycle && (at < 0 || f.due < k.flights[at].due) {
			at = n
		}
	}
	if at < 0 {
		return false
	}
	f := k.flights[at]
	k.moved = k.cycle
	k.flying--
	copy(k.flights[at:k.flying], k.flights[at+1:k.flying+1])
	t := &k.table[f.warp][f.slot]
	if t.lines > 0 {
		k.filtered(f, t)
		return false
	}
	t.valid = false
	k.outstanding[f.warp]--
	k.parts[f.warp][t.group]--
	complete := k.parts[f.warp][t.group] == 0 && !k.open[f.warp][t.group]
	if complete {
		k.groups[f.warp] &^= 1 << t.group
	}
	k.returning, k.returnWarp, k.returnSlot = true, f.warp, f.slot
	if k.record != nil && complete {
		k.answerWay(t.way)
	}
	if t.store {
		return false
	}
	next.valid, next.warp, next.rd, next.mask = true, f.warp, t.rd, t.mask
	next.last = t.last && complete
	next.v = t.v
	return true
}

// answer simulates a cycle of the mock memory, which handles one message after another.
// It reports whether loaded values have arrived in next.
func (k *Core) answer(next *result) (loaded bool) {
	if !k.working {
		if k.qhead == len(k.queued) {
			return false
		}
		k.head = k.queued[k.qhead]
		switch k.qhead++; {
		case k.qhead == len(k.queued):
			k.queued, k.qhead = k.queued[:0], 0
		case k.qhead >= compactAt:
			k.queued, k.qhead = k.queued[:copy(k.queued, k.queued[k.qhead:])], 0
		}
		k.working = true
		k.answerAt = max(k.head.at, k.answered) + k.delay(k.head.at) + 2
	}
	h := &k.head
	if k.cycle+1 == k.answerAt && h.write {
		line := k.lineFor(h.line)
		for m := h.mask; m != 0; m &= m - 1 {
			n := bits.TrailingZeros32(m)
			line[h.word[n]] = h.data[n]
		}
	}
	if k.cycle != k.answerAt {
		return false
	}
	k.working, k.answered = false, k.cycle
	t := &k.table[h.warp][h.slot]
	if !t.valid || t.warp != h.warp || t.slot != h.slot || k.outstanding[h.warp] == 0 {
		return false // no transaction waits for it
	}
	t.valid = false
	k.outstanding[h.warp]--
	k.returning, k.returnWarp, k.returnSlot = true, h.warp, h.slot
	if k.record != nil && t.last {
		k.answerWay(t.way)
	}
	if t.store {
		return false
	}
	next.valid, next.last, next.warp, next.rd, next.mask = true, t.last, h.warp, t.rd, t.mask
	clear(next.v[:])
	if line := k.line[h.line]; line != nil && !h.write {
		for m := t.mask; m != 0; m &= m - 1 {
			n := bits.TrailingZeros32(m)
			next.v[n] = line[t.word[n]]
		}
	}
	return true
}

// bankStep simulates a cycle of shared memory: one word of each bank.
func (k *Core) bankStep(isShared bool) {
	if k.conflict {
		k.stats.Conflicts++
		k.points[k.program[k.held.warp]][k.held.pc].Conflicts++
		k.service(&k.held, k.step)
		k.step++
		if k.steps--; k.steps == 0 {
			k.conflict = false
			k.serviced = k.held.id
		}
		return
	}
	if l := &k.lsu; isShared && l.id != k.serviced {
		k.banksOf(l)
	}
}

// banksOf serves the first word of each bank of a request, and returns the number of
// cycles that the remaining words will take.
func (k *Core) banksOf(l *request) uint8 {
	// The n-th distinct word of a bank is served in the n-th cycle.
	var words [sharedBanks][isa.Lanes]uint32
	var count [sharedBanks]uint8
	most := uint8(0)
	for m := l.mask; m != 0; m &= m - 1 {
		n := bits.TrailingZeros32(m)
		word := l.addr[n] / 4
		b := word % sharedBanks
		at := uint8(0)
		if l.extra { // each lane changes its word separately
			at = count[b]
		}
		for at < count[b] && words[b][at] != word {
			at++
		}
		if at == count[b] {
			words[b][at] = word
			count[b]++
			most = max(most, count[b])
		}
		k.order[n] = at
	}
	k.service(l, 0)
	if most <= 1 {
		k.serviced = l.id
		return 0
	}
	k.conflict, k.steps, k.step = true, most-1, 1
	k.held = *l
	return most - 1
}

// service reads or writes the lanes whose turn it is.
func (k *Core) service(r *request, step uint8) {
	for m := r.mask; m != 0; m &= m - 1 {
		n := bits.TrailingZeros32(m)
		if k.order[n] != step {
			continue
		}
		at := r.addr[n] % SharedBytes
		switch {
		case at%4 != 0: // a misaligned word is accessed byte by byte
			k.misaligned(r, n, at)
		case r.extra:
			k.sharedAtomic(r, n, at)
		case r.op == isa.STS:
			binary.LittleEndian.PutUint32(k.shared[at:], r.data[n])
		default:
			k.read[n] = binary.LittleEndian.Uint32(k.shared[at:])
		}
	}
}

// misaligned reads or writes one lane's four bytes; addresses beyond the end wrap around
// to the start.
func (k *Core) misaligned(r *request, lane int, at uint32) {
	v := uint32(0)
	for i := range uint32(4) {
		b := &k.shared[(at+i)%SharedBytes]
		if r.op == isa.STS {
			*b = byte(r.data[lane] >> (8 * i))
		}
		v |= uint32(*b) << (8 * i)
	}
	if r.op != isa.STS {
		k.read[lane] = v
	}
}
