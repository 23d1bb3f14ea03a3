package kepler

// This file: programs that never exit. If the whole state of a core repeats, it will
// repeat forever.

// firstTwin is the cycle from which a core looks for a repeated state. It compares with
// the state at cycles that double each time. Our choice: short runs pay nothing.
const firstTwin = 1 << 16

// Watch makes Run look for a repeated state. If it finds one, it stops and the core is
// stuck. It finds most loops that store nothing in global memory.
func (k *Core) Watch(on bool) { k.watching = on }

// Repeats returns a cycle whose state was repeated, and after how many cycles; the
// period is 0 if there is none.
func (k *Core) Repeats() (cycle, period uint64) { return k.twinAt, k.period }

// quiet reports whether nothing is in flight whose time is not part of the state.
func (k *Core) quiet() bool {
	return k.flying == 0 && !k.working && k.qhead == len(k.queued) && !k.sampler.busy && k.outside == nil
}

// lookForTwin compares the state with an earlier one.
func (k *Core) lookForTwin() {
	if k.cycle < max(firstTwin, k.nextTwin) && (k.twin == nil || k.written != k.twinWritten) || !k.quiet() {
		return
	}
	if k.cycle >= max(firstTwin, k.nextTwin) {
		if k.twin == nil {
			k.twin, k.probe = new(state), new(state)
		}
		k.normal(k.twin)
		k.twinAt, k.twinWritten, k.nextTwin = k.cycle, k.written, 2*k.cycle
		return
	}
	t := k.twin
	if k.cycle%7 != t.cycle || k.pc != t.pc || k.tag != t.tag || k.mask != t.mask || k.pops != t.pops || k.outNext != t.outNext || k.regs != t.regs {
		return
	}
	if k.normal(k.probe); *k.probe == *t {
		k.period = k.cycle - k.twinAt
	}
}

// normal copies the state without the parts that do not affect the future: counters,
// running numbers, and the remains in empty slots. Times become relative to now, except
// for the cycle modulo seven, on which the mock memory's delays depend.
func (k *Core) normal(s *state) {
	*s = k.state
	for u := range s.unit {
		if s.idle>>u&1 != 0 {
			s.unit[u] = slot{}
		} else {
			s.unit[u].id -= s.releaseID[s.unit[u].warp]
		}
	}
	for q := range s.queue {
		p := &s.queue[q]
		for n := range uint8(queueDepth) {
			if at := (p.head + n) % queueDepth; n >= p.n {
				p.ring[at] = slot{}
			} else {
				p.ring[at].id = 0 // only the collectors use it
			}
		}
	}
	for w := range Warps {
		s.issueID[w] -= s.releaseID[w]
		s.releaseID[w] = 0
		s.replay[w].ready = 0
	}
	if s.lsu.begun {
		s.lsu.ready -= s.cycle
	}
	if !s.lsu.valid {
		s.lsu.ready = 0
	}
	s.held.ready = 0
	clear(s.flights[:])
	s.answerAt, s.answered, s.head = 0, 0, message{}
	s.moved, s.stats, s.counters = 0, Stats{}, Counters{}
	clear(s.picked[:])
	s.cycle %= 7
}
