package races

import "github.com/heddle-sim/heddle/internal/check"

// This file: what happens when the checker has run out of numbers. Cells have 26 bits for
// records and sets, times have 32. A checker that has used them up forgets everything, as if it
// had happened before: races with what it forgot are missed, and no others are made up.

// mostNames bounds records and sets: a cell has as many bits for them.
const mostNames = 1 << 26

// mostTime bounds times.
const mostTime = 1<<32 - 1

// forgotten is the note that a checker has forgotten.
var forgotten = &check.Rule{
	ID: "race-forgotten", Checker: Name, Level: check.Note,
	Short: "The race checker has run out of numbers, and has forgotten what happened before.",
	Full:  "The race checker numbers the accesses that are still of account, and counts the operations that order them. When a run has more than there are numbers, the checker begins again: races between what happened before and what happens later are not found.",
	Mend:  "Check a smaller input, or only some launches (--kernels).",
	Tags:  []string{"race"},
}

// tick ends an operation, so that the next one has a later time.
func (l *launch) tick() {
	if l.c.time++; l.c.time >= l.c.mostTime {
		l.restart()
	}
}

// room makes room for what an operation may add to the shadow.
func (l *launch) room() {
	c := l.c
	if c.made < sweepAt && c.names() <= c.mostNames-c.mostNames/16 {
		return
	}
	c.sweep()
	if c.names() > c.mostNames-c.mostNames/4 {
		l.restart()
	}
}

// names is how many records there are, or sets, whichever are more.
func (s *shadow) names() uint32 { return max(s.used, uint32(len(s.sets)-len(s.freeSet))) }

// restart forgets everything. What happens next has times as if it were the first.
func (l *launch) restart() {
	c := l.c
	c.shadow = shadow{mostNames: c.mostNames, swept: c.swept + 1}
	c.record(&record{})
	c.global, c.spare, c.flights, c.noFlight = newMemory(), nil, nil, nil
	for _, x := range c.launches {
		x.began, x.base = 1, 0
		clear(x.sums)
	}
	for b := range c.live {
		b.restart()
	}
	c.time = 1
	c.found.forgot(l)
}

// restart forgets what the threads of a block have done and know.
func (b *block) restart() {
	b.base, b.clock, b.shared, b.copies, b.sums, b.nseen = 0, nil, newMemory(), nil, nil, 0
	clear(b.seen[:])
	for i := range b.warps {
		w := &b.warps[i]
		w.base, w.rel, w.learned, w.clock, w.split, w.poll = 0, 0, 0, nil, false, poll{}
		if w.lanes != nil {
			for k := range w.lanes {
				w.lanes[k] = lane{group: w.lanes[k].group}
			}
		}
	}
	for i := range b.bars {
		b.bars[i].arrived = nil
	}
	for _, m := range b.mbars {
		m.pending, m.done = nil, nil
	}
}

// forgot notes that the checker has forgotten what happened before, in a launch.
func (f *findings) forgot(l *launch) {
	f.add(&find{rule: forgotten, a: side{launch: l, site: -1}, launch: l.number, kernel: l.kernel, count: 1})
}
