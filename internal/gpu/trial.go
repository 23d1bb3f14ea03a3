package gpu

import (
	"math/bits"
	"slices"
	"time"
)

// This file: whether the workers are called for a cycle. Results do not depend on it. It depends on
// the program and on the host's load, so it is tried: some cycles with workers, some without, in turn,
// and then many in the faster way. Cycles in which few SMs are awake have little to divide, and often
// follow those in which many are, so every class of cycles has a trial of its own.

// Lengths of trials, in cycles of one class.
const (
	warmUp   = 4                     // cycles before the timed ones of a part (these are all our choices)
	timed    = 24                    // timed cycles of a part
	pieces   = 8                     // parts with workers, and as many without
	won      = 1 << 13               // cycles before the next trial if workers make a run faster
	lost     = 1 << 10               // the same if they do not; twice as long each time
	longLost = 1 << 13               // at most, or for so long that a trial takes a 32nd more time
	least    = 200 * time.Nanosecond // that a cycle must be faster, and an eighth: workers take processor time
	busyLost = 1 << 18               // at most, in cycles of all classes, if the host's cores do something else
)

// Workers that do not run although they are called, because the host's cores do something
// else, may cost a part of the time; more ends their use.
const (
	window      = 128                  // cycles with workers between looks at the clock (these are all our choices)
	share       = 16                   // a sixteenth of the time may be lost
	leastCredit = 2 * time.Millisecond // may be lost at once in a trial
	mostCredit  = 4 * time.Millisecond // may be lost at once: an interruption by the host or a garbage collection
)

// trier decides whether the workers are called for a cycle.
type trier struct {
	classes  [2 * 16]trial // by classOf; a chip has at most maxSMs
	together bool          // in the last cycle
	open     *trial        // the trial of which a cycle is being timed
	mark     time.Time     // when that began

	round  int           // cycles with workers in this window
	began  time.Time     // the window
	credit time.Duration // that may be lost yet
	pause  int           // cycles without workers, in which nothing is tried
	paused int           // length of the last pause, 0 after a good time

	clock func() time.Time // nil: that of the host
}

// trial is about the cycles of one class.
type trial struct {
	trying   bool
	together bool
	left     int                      // cycles of this part or, between trials, of this decision
	part     int                      // with workers and without in turn
	lost     int                      // length of the next lost stage
	took     [2][pieces]time.Duration // of parts with workers and without
}

// classOf is the class of cycles before which some SMs were awake: two classes for each power of two.
func classOf(awake int) int {
	n := bits.Len(uint(awake))
	return 2*n + awake<<2>>n&1
}

// call decides whether the workers are called for a cycle. awake are the SMs that were awake in the
// last one, late is the time that was lost in it because workers did not run.
func (t *trier) call(awake int, late time.Duration) bool {
	if t.together {
		t.charge(late)
	}
	if t.pause > 0 {
		if t.pause--; t.pause == 0 {
			t.round, t.began = 0, t.time()
		}
		t.together = false
		return false
	}
	x := &t.classes[classOf(awake)]
	if !x.trying && x.left == 0 {
		t.credit = max(t.credit, leastCredit)
		t.round, t.began = 0, t.time()
	}
	t.together = x.next()
	if x.trying && x.left < timed {
		t.open, t.mark = x, t.time()
	}
	return t.together
}

// end ends a cycle, if it is timed.
func (t *trier) end() {
	if x := t.open; x != nil {
		x.took[x.part&1][x.part/2] += t.time().Sub(t.mark)
		t.open = nil
	}
}

// charge takes what was lost from what may be. If too much is, no workers are called for a while.
func (t *trier) charge(late time.Duration) {
	if t.round++; t.round == window {
		now := t.time()
		t.credit = min(t.credit+now.Sub(t.began)/share, mostCredit)
		t.round, t.began = 0, now
		if t.credit == mostCredit {
			t.paused = 0
		}
	}
	if t.credit -= late; t.credit >= 0 {
		return
	}
	t.paused = min(max(2*t.paused, lost), busyLost)
	t.pause, t.credit = t.paused, leastCredit
	for i := range t.classes {
		if x := &t.classes[i]; x.trying {
			x.trying, x.left = false, 0
		}
	}
}

func (t *trier) time() time.Time {
	if t.clock != nil {
		return t.clock()
	}
	return time.Now()
}

// next begins the next cycle of the class. It reports whether workers are called for it.
func (x *trial) next() bool {
	switch {
	case x.left > 0:
	case !x.trying:
		x.took = [2][pieces]time.Duration{}
		x.trying = true
		x.begin(0)
	case x.part+1 < 2*pieces:
		x.begin(x.part + 1)
	default:
		alone, together := lower(&x.took[1]), lower(&x.took[0])
		x.decide(together+together/8+pieces/2*timed*least < alone)
		if more := together - alone; more > 0 && alone > 0 {
			x.left = max(x.left, int(min(busyLost, 32*pieces*(warmUp+timed)*more/alone)))
		}
	}
	x.left--
	return x.together
}

// begin begins a part. Those with workers are the even ones.
func (x *trial) begin(part int) { x.part, x.together, x.left = part, part&1 == 0, warmUp+timed }

// decide ends a trial. If workers are not called from now on, the next one is sooner, but later every
// time.
func (x *trial) decide(together bool) {
	x.trying, x.together, x.left = false, together, won
	if together {
		x.lost = 0
		return
	}
	x.lost = min(max(2*x.lost, lost), longLost)
	x.left = x.lost
}

// lower sums the lower half of some times: on a loaded host, some parts are interrupted.
func lower(took *[pieces]time.Duration) (sum time.Duration) {
	slices.Sort(took[:])
	for _, d := range took[:pieces/2] {
		sum += d
	}
	return sum
}
