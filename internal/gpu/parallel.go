package gpu

import (
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/noc"
	"github.com/heddle-sim/heddle/internal/sm/simt"
)

// This file: the SMs of one core cycle run side by side. The result is that of
// one goroutine which runs cluster after cluster:
//
//   - What leaves a cluster stays in its outbox until all have ended their
//     cycle, and is handed on in the order of clusters.
//   - Instructions that other blocks could notice, such as a store to global
//     memory, wait for their turn: until all clusters before this one have
//     issued in this cycle. So memory changes in the same order.
//
// Each worker has clusters of its own, which it runs in their order; so the
// first cluster that has not issued is always under way, and nobody waits in
// vain.

// cluster is a cluster of SMs, with what its SMs have for the rest of the chip.
type cluster struct {
	first  int          // SM that is simulated first, counted within it
	last   bool         // the SM under way is the last of this cycle
	dry    bool         // an SM has run dry or has come to a fault
	out    noc.Outbox   // requests for the network
	direct []*mem.Req   // requests that are answered at once (Config.PerfectMemory)
	ended  []endedBlock // in the order of their end
	pool   *mem.Pool    // its worker's
	_      [64]byte     // clusters of different workers share no cache line
}

// endedBlock is a block that has ended on an SM.
type endedBlock struct {
	sm int
	k  *simt.Kernel
	b  exec.Block
}

// worker runs some of the clusters.
type worker struct {
	_      [64]byte
	at     atomic.Uint64 // round<<roundBits + the cluster that it issues from next, allIssued or finished
	round  uint64
	turned bool     // the cluster under way has had its turn
	busy   int      // SMs that were awake in the last cycle
	looks  int      // see await
	live   []int32  // clusters to be run in this cycle
	next   int      // in live: the one behind the cluster under way
	news   []uint64 // a bit for each cluster that has something for the rest of the chip
	own    []int32  // all its clusters, ascending
	pool   mem.Pool
	_      [64]byte
}

// What stands in the low bits of worker.at behind all clusters.
const (
	roundBits = 16
	allIssued = 1<<roundBits - 2
	finished  = 1<<roundBits - 1
)

// team is the workers of a chip. The first is the goroutine that owns the chip.
type team struct {
	depot   mem.Depot
	workers []worker
	hired   bool          // the others have goroutines
	on      bool          // they are at work on a cycle
	busy    int           // SMs that were awake in the last cycle
	round   atomic.Uint64 // cycles begun; the highest bit sends the workers home
	more    bool          // of this cycle: blocks wait to be placed

	tried, slept   int // see judge
	rest, nextRest int // cycles that the owner runs alone, now and the next time

	asleep atomic.Int32 // who sleeps in await
	mu     sync.Mutex
	wake   sync.Cond
	home   sync.WaitGroup
}

const goHome = 1 << 63

// worthwhile is how many SMs for each worker must have been awake in the last
// cycle for the workers to be called (our choice, by measurement): waiting for
// each other takes about as long as a cycle of one SM. Tests call them always.
var worthwhile = 2

// newTeam decides who runs which cluster. More workers than the host runs at a
// time would only wait for each other.
func (g *GPU) newTeam() {
	t := &g.team
	n := max(1, min(g.cfg.Run.Threads, g.cfg.Clusters, runtime.GOMAXPROCS(0)))
	t.workers = make([]worker, n)
	t.wake.L = &t.mu
	g.clusters = make([]cluster, g.cfg.Clusters)
	for i := range t.workers {
		w := &t.workers[i]
		w.news = make([]uint64, (len(g.clusters)+63)/64, 8+(len(g.clusters)+63)/64)
		w.live = make([]int32, 0, len(g.clusters)+16)
		if n > 1 {
			w.pool.Depot = &t.depot
		}
	}
	for c := range g.clusters {
		w := &t.workers[c%n]
		w.own = append(w.own, int32(c))
		g.clusters[c].pool = &w.pool
	}
	g.unsettled = make([]uint64, (len(g.clusters)+63)/64)
}

// env is what SM i sees of the chip.
func (g *GPU) env(i int) simt.Env {
	cl := &g.clusters[i/g.cfg.SMsPerCluster]
	e := simt.Env{
		Pool:    cl.pool,
		HasRoom: cl.out.HasRoom,
		Send: func(r *mem.Req, bytes int) {
			g.part.Map().Decode(r)
			cl.out.Push(r, int(r.Sub), bytes)
		},
		BlockDone: func(k *simt.Kernel, b exec.Block) { cl.ended = append(cl.ended, endedBlock{i, k, b}) },
	}
	if g.cfg.PerfectMemory {
		q := &g.fifo[i/g.cfg.SMsPerCluster]
		e.HasRoom = func(int) bool { return q.Room(len(cl.direct) + 1) }
		e.Send = func(r *mem.Req, _ int) {
			if r.IsWriteBack() {
				cl.pool.Put(r)
				return
			}
			cl.direct = append(cl.direct, r)
		}
	}
	if t := &g.team; len(t.workers) > 1 {
		c := i / g.cfg.SMsPerCluster
		w := &t.workers[c%len(t.workers)]
		e.Turn = func() {
			if t.on && !w.turned {
				t.turn(w, c)
			}
		}
		e.Issued = func() {
			if t.on && cl.last {
				t.issued(w)
			}
		}
	}
	return e
}

// hire gives the workers goroutines. The owner of the chip calls dismiss.
func (g *GPU) hire() {
	t := &g.team
	if t.hired || len(t.workers) == 1 {
		return
	}
	t.hired = true
	t.tried, t.slept, t.rest, t.nextRest = 0, 0, 0, shortRest
	t.round.Store(0)
	for i := range t.workers {
		w := &t.workers[i]
		w.at.Store(finished)
		w.round, w.looks = 0, mostLooks
		if i > 0 {
			t.home.Go(func() {
				for {
					w.round++
					t.await(&t.round, w.round, &w.looks)
					if t.round.Load()&goHome != 0 {
						return
					}
					g.work(w)
				}
			})
		}
	}
}

// dismiss ends the workers' goroutines.
func (g *GPU) dismiss() {
	t := &g.team
	if !t.hired {
		return
	}
	t.tell(&t.round, goHome)
	t.home.Wait()
	t.hired = false
}

// runSMs does the core cycle of all SMs.
func (g *GPU) runSMs() {
	t := &g.team
	t.more = g.moreBlocks()
	if t.rest > 0 {
		t.rest--
	}
	if t.hired && t.busy >= worthwhile*len(t.workers) && (t.rest == 0 || worthwhile == 0) {
		t.judge(t.asleep.Load() > 0)
		t.on = true
		own := &t.workers[0]
		own.round++
		t.tell(&t.round, own.round)
		g.work(own)
		t.busy = own.busy
		for i := 1; i < len(t.workers); i++ {
			w := &t.workers[i]
			t.await(&w.at, own.round<<roundBits+finished, &own.looks)
			t.busy += w.busy
		}
		t.on = false
	} else {
		w := &t.workers[0]
		w.busy = 0
		for c := range g.clusters {
			if g.lives(c) {
				g.runCluster(w, c)
			}
		}
		t.busy = w.busy
	}
	g.hearNews()
}

// work does a cycle of a worker's clusters.
func (g *GPU) work(w *worker) {
	t := &g.team
	w.busy, w.next, w.live = 0, 0, w.live[:0]
	for _, c := range w.own {
		if g.lives(int(c)) {
			w.live = append(w.live, c)
		}
	}
	t.issued(w)
	for k, c := range w.live {
		w.turned = false
		g.runCluster(w, int(c))
		if w.next == k+1 { // its last SM slept
			t.issued(w)
		}
	}
	t.tell(&w.at, w.round<<roundBits+finished)
}

// issued is told that the cluster under way has issued, or that none is yet.
func (t *team) issued(w *worker) {
	next := uint64(allIssued)
	if w.next < len(w.live) {
		next = uint64(w.live[w.next])
	}
	w.next++
	t.tell(&w.at, w.round<<roundBits+next)
}

// turn waits until all clusters before c have issued.
func (t *team) turn(w *worker, c int) {
	for i := range t.workers {
		if v := &t.workers[i]; v != w {
			t.await(&v.at, w.round<<roundBits+uint64(c), &w.looks)
		}
	}
	w.turned = true
}

// lives reports whether a cluster has anything to do in this cycle.
func (g *GPU) lives(c int) bool {
	per := g.cfg.SMsPerCluster
	if per == 1 {
		return g.awake[c]
	}
	if g.team.more {
		return true
	}
	for _, a := range g.awake[c*per : (c+1)*per] {
		if a {
			return true
		}
	}
	return false
}

// runCluster does the core cycle of a cluster's SMs.
func (g *GPU) runCluster(w *worker, c int) {
	cl := &g.clusters[c]
	per := g.cfg.SMsPerCluster
	base := c * per
	left := 0
	for _, a := range g.awake[base : base+per] {
		if a {
			left++
		}
	}
	i := cl.first
	for ; left > 0; i++ {
		if i == per {
			i = 0
		}
		if !g.awake[base+i] {
			continue
		}
		left--
		cl.last = left == 0
		core := g.cores[base+i]
		if core.Cycle(g.now); !core.Asleep() {
			w.busy++
		}
		cl.dry = cl.dry || !core.Unfinished() || core.Err() != nil
	}
	if per > 1 && g.cfg.RotateSMs {
		if cl.first++; cl.first == per {
			cl.first = 0
		}
	}
	if cl.dry || cl.out.Used() || len(cl.ended)+len(cl.direct) > 0 {
		w.news[c>>6] |= 1 << (c & 63)
	}
}

// hearNews gives the rest of the chip what the clusters have for it, in their
// order.
func (g *GPU) hearNews() {
	for at := range g.unsettled {
		var news uint64
		for i := range g.team.workers {
			w := &g.team.workers[i]
			news |= w.news[at]
			w.news[at] = 0
		}
		for ; news != 0; news &= news - 1 {
			bit := bits.TrailingZeros64(news)
			c := at<<6 + bit
			cl := &g.clusters[c]
			cl.out.Flush()
			for _, r := range cl.direct {
				g.answer(c, r)
			}
			cl.direct = cl.direct[:0]
			for i := range cl.ended {
				e := &cl.ended[i]
				g.blockDone(e.sm, e.k, e.b)
				*e = endedBlock{}
			}
			cl.ended = cl.ended[:0]
			if cl.dry {
				cl.dry = false
				g.unsettled[at] |= 1 << bit
			}
		}
	}
}

// How often who waits looks before it sleeps (our choice). The most takes some
// 20 µs, longer than the rest of the chip does for most cycles. Where looking is
// in vain, since the host has other things to do, it is done less.
const (
	fewLooks  = 1 << 6
	mostLooks = 1 << 14
)

// await waits until a number is at least so much. Looks is how often the caller
// looks.
func (t *team) await(a *atomic.Uint64, n uint64, looks *int) {
	for range *looks {
		if a.Load() >= n {
			*looks = min(*looks+*looks/16+1, mostLooks)
			return
		}
	}
	*looks = max(*looks/2, fewLooks)
	t.asleep.Add(1)
	t.mu.Lock()
	for a.Load() < n {
		t.wake.Wait()
	}
	t.mu.Unlock()
	t.asleep.Add(-1)
}

// tell sets a number that others may await.
func (t *team) tell(a *atomic.Uint64, n uint64) {
	a.Store(n)
	if t.asleep.Load() > 0 {
		t.mu.Lock()
		t.wake.Broadcast()
		t.mu.Unlock()
	}
}

// How the workers are spared where most of their time would go into waking each
// other, as on a host that has other things to do (our choice). Results do not
// depend on it.
const (
	trial     = 64      // cycles after which they are judged
	mostSlept = 16      // of those, in which somebody had to be woken
	shortRest = 1 << 10 // cycles that the owner runs alone then; twice as long each time
	longRest  = 1 << 18
)

// judge decides how long the owner of the chip runs alone. Slept says that the
// workers slept before a cycle.
func (t *team) judge(slept bool) {
	if slept {
		t.slept++
	}
	if t.tried++; t.tried < trial {
		return
	}
	if t.slept > mostSlept {
		t.rest = t.nextRest
		t.nextRest = min(2*t.nextRest, longRest)
	} else {
		t.nextRest = shortRest
	}
	t.tried, t.slept = 0, 0
}
