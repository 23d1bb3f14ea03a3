package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/sweep/store"
)

// Queue runs points on this computer, each in a process of its own, as many at a time as its
// cores and its memory allow.
type Queue struct {
	Store  *store.Store
	Heddle string // the program that runs points
	Limits Limits
	// Changed, which may be nil, is called when a point has begun or ended.
	Changed func(State)
	// Watched makes runs keep how far they are, for Workers.
	Watched bool
	// Say, which may be nil, gets messages for the user.
	Say func(format string, args ...any)

	mu      sync.Mutex
	woken   *sync.Cond
	running map[*process]bool
	workers []*process // by worker: what it runs, or nil
	waiting []*task
	known   costs
	state   State
}

// State is how far a sweep is.
type State struct {
	All     int // points
	Kept    int // had a result before
	Done    int // have a result now, the kept ones too
	Failed  int // have none
	Wrong   int // of Done, those whose exit code is not 0
	Running int
}

// task is a point to be run, under all numbers that it has in the sweep.
type task struct {
	point   *Point
	points  int
	seconds float64 // expected; +Inf if nothing is known
	alone   bool    // it did not fit beside others
}

// Run runs the points that have no result yet. The error is that of ctx, or says that the store
// or the program cannot be used; points that fail are counted.
func (q *Queue) Run(ctx context.Context, list []*Point) (State, error) {
	q.woken = sync.NewCond(&q.mu)
	q.running = map[*process]bool{}
	q.defaults()
	if err := q.plan(list); err != nil {
		return q.state, err
	}
	q.changed()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.woken.Broadcast()
	})()
	go q.watch(ctx)
	var workers sync.WaitGroup
	q.mu.Lock()
	q.workers = make([]*process, min(q.Limits.Jobs, len(q.waiting)))
	q.mu.Unlock()
	for w := range len(q.workers) {
		workers.Go(func() {
			if err := q.work(ctx, w, stop); err != nil {
				stop(err)
			}
		})
	}
	workers.Wait()
	return q.state, context.Cause(ctx)
}

// defaults sets the limits that the sweep does not.
func (q *Queue) defaults() {
	if q.Limits.Jobs == 0 {
		q.Limits.Jobs = runtime.GOMAXPROCS(0)
	}
	if q.Limits.Memory == 0 {
		q.Limits.Memory = available() / 4 * 3
	}
	if q.Limits.Memory == 0 {
		q.Limits.Memory = math.MaxInt64
	}
	if q.Changed == nil {
		q.Changed = func(State) {}
	}
	if q.Say == nil {
		q.Say = func(string, ...any) {}
	}
}

// plan finds out which points have results, and orders the others: longest first, and before
// them those of which nothing is known.
func (q *Queue) plan(list []*Point) error {
	q.state = State{All: len(list)}
	q.known = costs{}
	tasks := map[string]*task{}
	for _, p := range list {
		if t := tasks[p.Digest]; t != nil {
			t.points++
			continue
		}
		tasks[p.Digest] = &task{point: p, points: 1}
	}
	for _, p := range list {
		t := tasks[p.Digest]
		if t.point != p {
			continue
		}
		kept, err := q.kept(t)
		if err != nil {
			return err
		}
		if kept {
			q.state.Kept += t.points
		} else {
			q.waiting = append(q.waiting, t)
		}
	}
	for _, t := range q.waiting {
		t.seconds = q.known.seconds(t.point)
	}
	slices.SortStableFunc(q.waiting, func(a, b *task) int { return cmp.Compare(b.seconds, a.seconds) })
	return nil
}

// Missing returns the points without a result, each digest once, longest first, for another
// engine to run, and what is known of all.
func (q *Queue) Missing(list []*Point) ([]*Point, State, error) {
	q.defaults()
	q.waiting = nil
	if err := q.plan(list); err != nil {
		return nil, q.state, err
	}
	var missing []*Point
	for _, t := range q.waiting {
		missing = append(missing, t.point)
	}
	return missing, q.state, nil
}

// Expected is the time that a point is expected to take, from those of the same input; the longest
// Duration if none has run.
func (q *Queue) Expected(p *Point) time.Duration {
	s := q.known.seconds(p)
	if math.IsInf(s, 1) {
		return math.MaxInt64
	}
	return time.Duration(s * float64(time.Second))
}

// kept reports whether a task has a result, and counts it. A damaged one is set aside.
func (q *Queue) kept(t *task) (bool, error) {
	r, err := q.Store.Get(t.point.Digest)
	var damaged *store.Damaged
	switch {
	case err == nil:
		q.ended(t, r)
		return true, nil
	case errors.As(err, &damaged):
		q.Say("%v; its point runs again", err)
		return false, q.Store.SetAside(damaged)
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	}
	return false, fmt.Errorf("the store: %w", err)
}

// ended counts a task that has a record.
func (q *Queue) ended(t *task, r *store.Record) {
	if r.Result == nil {
		q.state.Failed += t.points
		return
	}
	q.known.add(t.point, r)
	q.state.Done += t.points
	if r.Code != 0 {
		q.state.Wrong += t.points
	}
}

// changed tells who wants to know.
func (q *Queue) changed() {
	q.state.Running = len(q.running)
	q.Changed(q.state)
}

// work runs tasks until there is none. What one leaves is written while the next one runs: a
// store that reaches the disk takes as long as a short point. If it cannot be written, the sweep
// stops at once, since nothing that runs would be kept.
func (q *Queue) work(ctx context.Context, worker int, stop context.CancelCauseFunc) (err error) {
	written := make(chan error, 1) // of the task before
	written <- nil
	defer func() { err = errors.Join(err, <-written) }()
	for {
		t, p := q.next(ctx, worker)
		if t == nil {
			return nil
		}
		write, err := q.run(ctx, t, p)
		if err != nil {
			return err
		}
		if write == nil {
			continue
		}
		err = <-written
		go func() {
			err := write()
			if err != nil {
				stop(err)
			}
			written <- err
		}()
		if err != nil {
			return err
		}
	}
}

// next waits for a task that fits beside those that run, and takes it; nil at the end. As long
// as something runs, it may come back.
func (q *Queue) next(ctx context.Context, worker int) (*task, *process) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.workers[worker] = nil
	for ctx.Err() == nil {
		for i, t := range q.waiting {
			p := &process{point: t.point, need: q.need(t), began: time.Now()}
			if !q.fits(t, p) {
				continue
			}
			q.waiting = slices.Delete(q.waiting, i, i+1)
			q.running[p], q.workers[worker] = true, p
			q.changed()
			return t, p
		}
		if len(q.waiting) == 0 && len(q.running) == 0 {
			break
		}
		q.woken.Wait()
	}
	q.woken.Broadcast()
	return nil, nil
}

// need is the memory that is set aside for a task.
func (q *Queue) need(t *task) int64 {
	share := q.Limits.Memory / int64(q.Limits.Jobs)
	if t.alone {
		return q.Limits.Memory
	}
	if n := q.known.peak(t.point); n > 0 {
		return min(n+n/4, q.Limits.Memory)
	}
	return share
}

// fits reports whether a task may begin now.
func (q *Queue) fits(t *task, p *process) bool {
	if len(q.running) == 0 {
		return true
	}
	sum := p.need
	for o := range q.running {
		sum += max(o.need, o.now)
	}
	return !t.alone && sum <= q.Limits.Memory
}

// run runs a task, unless another process does, and returns what writes its record; nil if there
// is none.
func (q *Queue) run(ctx context.Context, t *task, p *process) (write func() error, err error) {
	end := func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.running, p)
		q.changed()
		q.woken.Broadcast()
	}
	defer end()
	unlock, ok, err := q.Store.Lock(t.point.Digest)
	if err != nil {
		return nil, fmt.Errorf("the store: %w", err)
	}
	if !ok {
		q.later(ctx, t)
		return nil, nil
	}
	defer func() {
		if write == nil {
			unlock()
		}
	}()
	if found, err := q.foundMeanwhile(t); found || err != nil {
		return nil, err
	}
	ctx, p.stop = context.WithCancelCause(ctx)
	defer p.stop(nil)
	if q.Limits.Time > 0 {
		late := time.AfterFunc(q.Limits.Time, func() { p.stop(errTime) })
		defer late.Stop()
	}
	r, err := p.execute(ctx, q.Heddle, q.Store, q.Watched)
	switch {
	case errors.Is(err, errMemory) && p.need < q.Limits.Memory:
		q.mu.Lock()
		defer q.mu.Unlock()
		t.alone = true
		q.waiting = append(q.waiting, t)
		return nil, nil
	case errors.Is(err, errMemory):
		r.Why = fmt.Sprintf("it needs more memory than the limit of %s", report.Bytes(uint64(q.Limits.Memory)))
	case errors.Is(err, errTime):
		r.Why = fmt.Sprintf("it took longer than the limit of %v", q.Limits.Time)
	case err != nil:
		return nil, err
	}
	q.mu.Lock()
	r.Peak = max(r.Peak, p.peak)
	q.mu.Unlock()
	return func() error {
		defer unlock()
		if err := q.Store.Put(r); err != nil {
			return fmt.Errorf("the store: %w", err)
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		q.ended(t, r)
		q.changed()
		return nil
	}, nil
}

// foundMeanwhile reports whether another process has run a task since the sweep began.
func (q *Queue) foundMeanwhile(t *task) (bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.kept(t)
}

// otherDelay is the time between looks at a point that another process runs.
const otherDelay = 500 * time.Millisecond

// later puts back a task that another process runs.
func (q *Queue) later(ctx context.Context, t *task) {
	select {
	case <-ctx.Done():
	case <-time.After(otherDelay):
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, t)
}

// The watch looks this often, and acts when this part of the limit is used: processes grow
// between two looks (our choices).
const (
	watchDelay = 50 * time.Millisecond
	watchPart  = 0.95
)

// watch ends the point that exceeds its memory the most when all together come near the limit.
func (q *Queue) watch(ctx context.Context) {
	tick := time.NewTicker(watchDelay)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			q.look()
		}
	}
}

// look measures what runs.
func (q *Queue) look() {
	q.mu.Lock()
	defer q.mu.Unlock()
	groups := map[int]int64{}
	for p := range q.running {
		if pid := p.pid.Load(); pid > 0 {
			groups[int(pid)] = 0
		}
	}
	if len(groups) == 0 {
		return
	}
	resident(groups)
	var sum int64
	var worst *process
	ending := false // one point has been stopped, and still gives its memory back
	for p := range q.running {
		ending = ending || p.stopped
		pid := int(p.pid.Load())
		p.now = groups[pid]
		p.peak = max(p.peak, p.now)
		sum += p.now
		if pid > 0 && !p.stopped && (worst == nil || p.now-p.need > worst.now-worst.need) {
			worst = p
		}
	}
	if worst != nil && !ending && float64(sum) > watchPart*float64(q.Limits.Memory) {
		worst.stopped = true
		if len(q.running) == 1 { // it had all of it
			worst.need = q.Limits.Memory
		}
		worst.stop(errMemory)
	}
}

// Worker is what a worker does.
type Worker struct {
	Point    *Point // nil if it has none
	Began    time.Time
	Expected time.Duration // 0 if no point of the same input has run
	Progress *run.Progress // nil if the run has not said how far it is
}

// Workers returns what each worker does. It may be called while Run runs, but not from Changed.
func (q *Queue) Workers() []Worker {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := make([]Worker, len(q.workers))
	for i, p := range q.workers {
		if p == nil {
			continue
		}
		list[i] = Worker{Point: p.point, Began: p.began, Progress: p.far()}
		if s := q.known.seconds(p.point); !math.IsInf(s, 1) {
			list[i].Expected = time.Duration(s * float64(time.Second))
		}
	}
	return list
}

// costs are what points have needed.
type costs map[string]*cost

type cost struct {
	seconds float64 // of all
	runs    int
	peak    int64
}

// keys of a point, the nearest first.
func costKeys(p *Point) [2]string {
	return [2]string{p.Input.Name + "\x00" + p.GPU, p.Input.Name}
}

func (c costs) add(p *Point, r *store.Record) {
	for _, k := range costKeys(p) {
		x := c[k]
		if x == nil {
			x = &cost{}
			c[k] = x
		}
		x.seconds += r.Seconds
		x.runs++
		x.peak = max(x.peak, r.Peak)
	}
}

func (c costs) of(p *Point) *cost {
	for _, k := range costKeys(p) {
		if x := c[k]; x != nil {
			return x
		}
	}
	return nil
}

func (c costs) seconds(p *Point) float64 {
	if x := c.of(p); x != nil {
		return x.seconds / float64(x.runs)
	}
	return math.Inf(1)
}

func (c costs) peak(p *Point) int64 {
	if x := c.of(p); x != nil {
		return x.peak
	}
	return 0
}
