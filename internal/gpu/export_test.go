package gpu

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Tick simulates the next time at which a clock domain fires.
func (g *GPU) Tick() { g.step() }

// Begin starts the actions whose turn it is.
func (g *GPU) Begin() error { return g.begin() }

// Hire starts the goroutines of the chip's workers, Dismiss ends them.
func (g *GPU) Hire()    { g.hire() }
func (g *GPU) Dismiss() { g.dismiss() }

// StopDRAM stops the clock of the DRAM.
func (g *GPU) StopDRAM() { g.clk.at[dramDomain] = 1 << 62 }

// AlwaysTogether makes chips call workers in every cycle from now on, and waiters
// block soon. The returned function ends that.
func AlwaysTogether() func() {
	w, few, first, most := worthwhile, fewLooks, firstLooks, mostLooks
	worthwhile, fewLooks, firstLooks, mostLooks = 0, 1<<8, 1<<8, 1<<8
	return func() { worthwhile, fewLooks, firstLooks, mostLooks = w, few, first, most }
}

// NobodyHelps makes chips call workers whose goroutines never run, until the returned
// function is called.
func NobodyHelps() func() {
	helper = func(*GPU, *worker) {}
	return func() { helper = (*GPU).help }
}

// Try makes a decision about workers, with given times of the parts of the trial with and
// without them and what workers cost that do not run, and reports whether they are called after it.
func Try(alone, together func(part int) time.Duration, late func(cycle int) time.Duration) bool {
	var now time.Time
	t := trier{clock: func() time.Time { return now }}
	x := &t.classes[classOf(30)]
	for cycle := 0; ; cycle++ {
		var d time.Duration
		if late != nil {
			d = late(cycle)
		}
		if t.call(30, d); !x.trying {
			return t.together
		}
		if x.left < timed {
			f := alone
			if t.together {
				f = together
			}
			now = now.Add(f(x.part/2) / timed)
		}
		t.end()
	}
}

// TryTwo makes decisions about cycles of two classes in turn, of which workers make those faster that
// begin with many SMs awake, and the others slower. It returns whether they are called for them.
func TryTwo() (few, many bool) {
	var now time.Time
	t := trier{clock: func() time.Time { return now }}
	for cycle := range 1 << 13 {
		awake, d := 5, 10*time.Microsecond
		if cycle%4 == 0 {
			awake, d = 80, 100*time.Microsecond
		}
		on := t.call(awake, 0)
		if on {
			d = d*2/3 + 4*time.Microsecond
		}
		now = now.Add(d)
		t.end()
	}
	return t.call(5, 0), t.call(80, 0)
}

// Stay has workers called for cycles that take some time each, and in which workers that do not run
// cost some more. It returns after how many cycles they are no longer called, at most n.
func Stay(n int, cycle time.Duration, late func(cycle int) time.Duration) int {
	var now time.Time
	t := won30(&now)
	for i := range n {
		d := late(i)
		now = now.Add(cycle + d)
		if !t.call(30, d) {
			return i
		}
	}
	return n
}

// won30 has workers be called for cycles with 30 SMs awake.
func won30(now *time.Time) *trier {
	t := &trier{together: true, credit: leastCredit, began: *now, clock: func() time.Time { return *now }}
	x := &t.classes[classOf(30)]
	x.decide(true)
	x.left = 1 << 20
	return t
}

// Retries returns how many cycles pass between trials that workers lose, for the first n of them.
func Retries(n int, interrupted bool) (cycles []int) {
	var now time.Time
	t := won30(&now)
	x := &t.classes[classOf(30)]
	for range n {
		if interrupted {
			t.charge(time.Second)
			cycles = append(cycles, t.pause)
		} else {
			x.decide(false)
			cycles = append(cycles, x.left)
		}
	}
	return cycles
}

// Interrupted waits for a worker that is interrupted, and returns what that cost, and whether workers
// are called after it.
func Interrupted(d time.Duration) (together bool, late time.Duration) {
	defer AlwaysTogether()()
	var t team
	t.wake.L = &t.mu
	var a atomic.Uint64
	time.AfterFunc(d, func() { t.tell(&a, 1) })
	late = t.await(new(worker), &a, 1)
	var now time.Time
	t.trier = *won30(&now)
	t.trier.credit = mostCredit
	return t.trier.call(30, late), late
}

// MailLeft is the number of messages between SMs that are on their way.
func (g *GPU) MailLeft() int { return g.mail.n }

// AbsentBesideASleeper has one worker sleep, and returns whether that one, and another one that has
// taken its clusters, count as absent.
func AbsentBesideASleeper() (sleeper, other bool) {
	t := team{workers: make([]worker, 3)}
	t.wake.L = &t.mu
	slept, w := &t.workers[1], &t.workers[2]
	w.taken.Store(1)
	home := make(chan bool)
	go func() {
		t.await(slept, &t.round, 1)
		close(home)
	}()
	for t.asleep.Load() == 0 {
		runtime.Gosched()
	}
	sleeper, other = slept.absent(1), w.absent(1)
	t.tell(&t.round, 1)
	<-home
	return sleeper, other
}

// Warm returns what blocks that are executed without the chip do to its L2.
func (g *GPU) Warm() *Warming { return &g.warming }
