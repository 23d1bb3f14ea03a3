package gpu

import (
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/noc"
	"github.com/heddle-sim/heddle/internal/mem/system"
)

// This file: running the SMs of one core cycle in parallel. The result is that of
// one goroutine that runs cluster after cluster:
//
//   - What leaves a cluster stays in its outbox until all clusters have ended
//     their cycle, and is passed on in the order of clusters.
//   - Instructions with effects visible to other blocks, such as a store to
//     global memory, wait for their turn: until all clusters before this one
//     have issued in this cycle. So memory changes in the same order.
//
// Meanwhile one worker simulates the cycle of the memory system, which comes before that of the SMs:
// the SMs have their replies by then, and of all that it does they see only what has left the
// network's buffers, which an SM waits for that finds no room (noc.Outbox).
//
// Each worker has clusters of its own, whose state stays in its core's caches, and runs
// them in order. The owner of the chip begins first; when it has run its own, it takes
// those that are next of other workers, and it takes over all of a worker that does not
// run at all, because the host's core does something else. So the first cluster that has
// not issued is always running or can be taken, and no worker waits forever.

// cluster is a cluster of SMs, with the output of its SMs for the rest of the chip.
type cluster struct {
	first  int                // SM that is simulated first, numbered within the cluster
	last   bool               // the running SM is the last of this cycle
	dry    bool               // an SM has no warps left or has met a fault
	out    noc.Outbox         // requests for the network
	direct []*mem.Req         // requests that are answered immediately (Config.PerfectMemory)
	ended  []endedBlock       `state:"-"` // in the order in which they ended
	lets   []endedBlock       `state:"-"` // those that have let dependent launches begin
	mail   []core.PeerMessage `state:"-"` // to SMs, in the order in which they were sent
	worker *worker            `state:"-"`
	pool   *mem.Pool
	own    mem.Pool // pool, if there are several workers
	load   int      `state:"-"` // cycles of its SMs since the clusters were last distributed
	_      [pad]byte
}

// pad separates the data of workers into different cache lines; hosts fetch lines
// in pairs.
const pad = 128

// endedBlock is a block that has ended on an SM.
type endedBlock struct {
	sm  int
	k   core.Kernel // Kernel.core
	b   exec.Block
	ago uint64 // core cycles since all its lanes had ended
}

// worker runs some of the clusters. In a round, whose clusters they are is decided by
// who takes them first: its own goroutine, or the owner of the chip.
type worker struct {
	_ [pad]byte
	// Each is round<<roundBits + a cluster or an index. Others read at before lent.
	at   atomic.Uint64 // the cluster that it issues from next, or allIssued
	lent atomic.Uint64 // the cluster that the owner of the chip has taken, until that has issued
	head atomic.Uint64 // in live: the one that is taken next
	_    [pad]byte

	taken atomic.Uint64            // the last round in which somebody took the clusters
	done  atomic.Uint64            // rounds
	away  atomic.Bool              // its goroutine sleeps in await
	busy  int                      // SMs that were awake in the last cycle
	news  [maxClusters / 64]uint64 // a bit for each cluster with output for the rest of the chip
	_     [pad]byte

	round  uint64
	helped bool      // the owner of the chip runs the clusters in this round
	called time.Time // since when its goroutine has been called and has not come; zero: it came, or was awake
	turned bool      // the running cluster has had its turn
	issued bool      // and has issued
	lender *worker   // whose cluster it is, if it is lent
	looks  int       // polls before it blocks
	live   []int32   // clusters to run in this cycle
	own    []int32   // all its clusters, ascending
	load   int       // of all of them
	_      [pad]byte
}

// The low bits of worker.at after all clusters, and of worker.lent if none is lent.
const (
	roundBits = 16
	allIssued = 1<<roundBits - 1
)

// team is the workers of a chip. The first is the goroutine that owns the chip.
type team struct {
	workers []worker
	depot   mem.Depot
	home    sync.WaitGroup
	hired   bool // the others have goroutines
	_       [pad]byte

	taken   atomic.Uint64 // the last round in which somebody took the memory system
	settled atomic.Uint64 // the last round in which its cycle has ended
	_       [pad]byte

	// The order for a cycle.
	round atomic.Uint64 // cycles begun; the highest bit ends the workers
	now   uint64        // core cycle
	more  bool          // blocks wait to be placed
	on    bool          // several workers run
	was   bool          // they did in the last cycle
	_     [pad]byte

	owed []system.Domains // ticks of the memory system that have not been simulated
	_    [pad]byte

	asleep atomic.Int32 // workers that sleep in await
	mu     sync.Mutex
	wake   sync.Cond
	_      [pad]byte

	busy  int           // SMs that were awake in the last cycle
	late  time.Duration // lost in the last round because workers did not run
	deal  int           // cycles until clusters are redistributed
	trier trier
}

const goHome = 1 << 63

// worthwhile is the number of SMs per worker that must have been awake in the last
// cycle for the workers to be called (our choice, by measurement): synchronising
// them takes about as long as a cycle of one SM. Tests always call them.
var worthwhile = 2

// newTeam assigns clusters to workers. More workers than the host runs at a time
// would only wait for each other. If the placement of an address depends on the
// order of requests, there is one worker.
func (g *GPU) newTeam() {
	t := &g.team
	n := max(1, min(g.cfg.Run.Threads, g.cfg.Clusters, runtime.GOMAXPROCS(0)))
	if g.cfg.Mem.Remembers() {
		n = 1
	}
	t.workers = make([]worker, n)
	t.wake.L = &t.mu
	g.clusters = make([]cluster, g.cfg.Clusters)
	for i := range t.workers {
		w := &t.workers[i]
		w.live = make([]int32, 0, (len(g.clusters)+63)&^63)
		w.own = make([]int32, 0, (len(g.clusters)+63)&^63)
	}
	for c := range g.clusters {
		w, cl := &t.workers[c%n], &g.clusters[c]
		w.own = append(w.own, int32(c))
		cl.worker, cl.pool = w, &g.pool
		if n > 1 {
			cl.own.Depot = &t.depot
			cl.pool = &cl.own
		}
	}
	if n > 1 {
		g.pool.Depot = &t.depot
	}
	g.unsettled = make([]uint64, (len(g.clusters)+63)/64)
}

// envOf returns the view that SM i has of the chip.
func (g *GPU) envOf(i int) core.Env {
	cl := &g.clusters[i/g.cfg.SMsPerCluster]
	e := core.Env{
		Pool:     cl.pool,
		Sleep:    g.naps[i],
		HasRoom:  cl.out.HasRoom,
		LineWise: g.mem.Parts.Map().LineWise(),
		Send: func(r *mem.Req, bytes int) {
			g.mem.Send(&cl.out, r, bytes)
			g.met(LeavesSM, r)
		},
		Peer:      func(m core.PeerMessage) { cl.mail = append(cl.mail, m) },
		Releases:  func(k core.Kernel, b exec.Block) { cl.lets = append(cl.lets, endedBlock{sm: i, k: k, b: b}) },
		BlockDone: func(k core.Kernel, b exec.Block, ago uint64) { cl.ended = append(cl.ended, endedBlock{i, k, b, ago}) },
	}
	if g.cfg.PerfectMemory {
		c := i / g.cfg.SMsPerCluster
		e.HasRoom = func(int) bool { return g.mem.Room(c, len(cl.direct)+1) }
		e.Send = func(r *mem.Req, _ int) {
			if r.IsWriteBack() {
				cl.pool.Put(r)
				return
			}
			cl.direct = append(cl.direct, r)
			g.met(LeavesSM, r)
		}
	}
	if t := &g.team; len(t.workers) > 1 {
		c := i / g.cfg.SMsPerCluster
		e.Turn = func() {
			if t.on && !cl.worker.turned {
				g.turn(cl.worker, c)
			}
		}
		e.Issued = func() {
			if t.on && cl.last {
				t.hasIssued(cl.worker)
			}
		}
	}
	return e
}

// hire starts the workers' goroutines. The owner of the chip calls dismiss.
func (g *GPU) hire() {
	t := &g.team
	if t.hired || len(t.workers) == 1 {
		return
	}
	t.hired = true
	t.trier = trier{}
	t.round.Store(0)
	t.taken.Store(0)
	t.settled.Store(0)
	for i := range t.workers {
		w := &t.workers[i]
		w.at.Store(allIssued)
		w.lent.Store(allIssued)
		w.head.Store(0)
		w.done.Store(0)
		w.round, w.called = 0, time.Time{}
		w.taken.Store(0)
		if i > 0 {
			t.home.Go(func() { helper(g, w) })
		}
	}
}

// helper is a worker's goroutine. Tests have some that do nothing.
var helper = (*GPU).help

// help is a worker's goroutine. It misses the rounds in which the owner of the chip was
// faster.
func (g *GPU) help(w *worker) {
	t := &g.team
	for round := uint64(1); ; round++ {
		t.await(w, &t.round, round)
		round = t.round.Load()
		if round&goHome != 0 {
			return
		}
		if w.taken.CompareAndSwap(round-1, round) {
			g.startRound(w, round)
			g.runMemory(round)
			g.runAll(w)
			t.tell(&w.done, round)
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

// callWorkers decides whether the workers are called for the core cycle that begins.
func (t *team) callWorkers() {
	t.trier.end()
	t.on = t.hired && t.busy >= worthwhile*len(t.workers) && (worthwhile == 0 || t.trier.call(t.busy, t.late))
}

// runSMs simulates the core cycle of all SMs.
func (g *GPU) runSMs() {
	t := &g.team
	t.now, t.more = g.now, g.moreBlocks()
	own := &t.workers[0]
	t.was, t.busy = t.on, 0
	if t.on {
		g.runTogether()
		t.on = false
	} else {
		own.busy = 0
		if g.cfg.SMsPerCluster == 1 {
			g.runAlone(own)
		} else {
			for c := range g.clusters {
				if g.lives(c) {
					g.runCluster(own, c)
				}
			}
		}
	}
	t.busy += own.busy
	for _, c := range g.handed {
		g.inbox[c] = inbox{}
	}
	g.handed = g.handed[:0]
	g.hearNews()
}

// mayOwe keeps a tick between two core cycles for later, if it may be simulated beside the next one:
// what the network delivers does not depend on it, and nothing looks at the memory system before: run does
// so only at the end of a launch, and rest pays at once.
func (g *GPU) mayOwe(d system.Domains) bool {
	t := &g.team
	if d.Net || !t.was || g.ended {
		return false
	}
	t.owed = append(t.owed, d)
	return true
}

// catchUp simulates what is owed.
func (g *GPU) catchUp() {
	for _, d := range g.team.owed {
		g.mem.Cycle(d, g.now)
	}
	g.team.owed = g.team.owed[:0]
}

// runMemory simulates a cycle of the memory system, unless somebody has taken that.
func (g *GPU) runMemory(round uint64) {
	t := &g.team
	if t.taken.CompareAndSwap(round-1, round) {
		g.catchUp()
		t.tell(&t.settled, round)
	}
}

// awaitMemory has a worker wait until the cycle of the memory system has ended.
func (g *GPU) awaitMemory(w *worker) {
	t := &g.team
	if t.settled.Load() >= w.round {
		return
	}
	g.runMemory(w.round)
	who := w
	if w.helped {
		who = &t.workers[0]
	}
	if late := t.await(who, &t.settled, w.round); who == &t.workers[0] {
		t.late += late
	}
}

// runTogether simulates the core cycle of all SMs with all workers, as their owner.
func (g *GPU) runTogether() {
	t := &g.team
	if t.deal--; t.deal <= 0 {
		g.deal()
	}
	own := &t.workers[0]
	round := own.round + 1
	t.late = 0
	for i := range t.workers { // nobody but the owner uses them between rounds
		w := &t.workers[i]
		w.helped = false
		w.at.Store(round<<roundBits + uint64(w.first()))
		w.lent.Store(round<<roundBits + allIssued)
	}
	t.tell(&t.round, round)
	g.startRound(own, round)
	g.runAll(own)
	for i := 1; i < len(t.workers); i++ {
		if w := &t.workers[i]; w.helped || g.takeOver(w, round) {
			g.runAll(w)
		}
	}
	for i := 1; i < len(t.workers); i++ {
		if w := &t.workers[i]; !w.helped {
			for g.borrow(w, round, allIssued) {
			}
		}
	}
	g.awaitMemory(own)
	for i := 1; i < len(t.workers); i++ {
		w := &t.workers[i]
		if !w.helped {
			w.called = time.Time{}
			t.late += t.await(&t.workers[0], &w.done, round)
		}
		t.busy += w.busy
	}
}

// first is the worker's first cluster, or allIssued.
func (w *worker) first() int {
	if len(w.own) == 0 {
		return allIssued
	}
	return int(w.own[0])
}

// startRound begins a worker's round, for whoever has taken its clusters.
func (g *GPU) startRound(w *worker, round uint64) {
	w.round, w.busy, w.live = round, 0, w.live[:0]
	for _, c := range w.own {
		if g.lives(int(c)) {
			w.live = append(w.live, c)
		}
	}
	g.team.tell(&w.at, round<<roundBits+uint64(w.following(0)))
	w.head.Store(round << roundBits)
}

// following is the first of a worker's clusters in this round from the i-th on, or allIssued.
func (w *worker) following(i int) int {
	if i < len(w.live) {
		return int(w.live[i])
	}
	return allIssued
}

// runAll simulates a cycle of a worker's clusters that nobody else has taken.
func (g *GPU) runAll(w *worker) {
	for g.runNext(w) {
	}
}

// runNext simulates a cycle of a worker's next cluster. It reports whether there was one.
func (g *GPU) runNext(w *worker) bool {
	t := &g.team
	var k int
	for {
		h := w.head.Load()
		if k = int(h & allIssued); k >= len(w.live) {
			t.tell(&w.at, w.round<<roundBits+allIssued)
			return false
		}
		if w.head.CompareAndSwap(h, h+1) {
			break
		}
	}
	c := w.live[k]
	if at := w.round<<roundBits + uint64(c); w.at.Load() != at { // those before it were taken
		t.tell(&w.at, at)
	}
	g.runTaken(w, int(c))
	return true
}

// borrow has the owner of the chip simulate a cycle of another worker's next cluster, if that is before
// the one with a number. It reports whether there was one.
func (g *GPU) borrow(w *worker, round uint64, before int) bool {
	h := w.head.Load()
	if h>>roundBits != round || int(h&allIssued) >= len(w.live) {
		return false
	}
	c := w.live[h&allIssued]
	if int(c) >= before {
		return false
	}
	w.lent.Store(round<<roundBits + uint64(c)) // before others see that it is taken
	own := &g.team.workers[0]
	own.lender = w
	if w.head.CompareAndSwap(h, h+1) {
		if w.at.CompareAndSwap(round<<roundBits+uint64(c), round<<roundBits+uint64(w.following(int(h&allIssued)+1))) { // it had not begun
			g.team.rouse()
		}
		cl := &g.clusters[c]
		cl.worker = own
		g.runTaken(own, int(c))
		cl.worker = w
	} else {
		g.team.tell(&w.lent, round<<roundBits+allIssued)
	}
	own.lender = nil
	return true
}

// runTaken simulates a cycle of a cluster.
func (g *GPU) runTaken(w *worker, c int) {
	w.turned, w.issued = false, false
	g.runCluster(w, c)
	if !w.issued { // its last SM slept
		g.team.hasIssued(w)
	}
}

// takeOver lets the owner of the chip run a worker's clusters, unless its goroutine does.
func (g *GPU) takeOver(w *worker, round uint64) bool {
	if !w.taken.CompareAndSwap(round-1, round) {
		return false
	}
	w.helped = true
	if w.overdue() {
		g.team.late += missed
	}
	g.startRound(w, round)
	return true
}

// overdue reports whether a worker whose clusters were taken over is later than one that had to be
// woken.
func (w *worker) overdue() bool {
	switch {
	case !w.away.Load():
		return true
	case w.called.IsZero():
		w.called = time.Now()
	}
	return time.Since(w.called) > wakes
}

// wakes is the longest time that a host with an idle core takes to wake a goroutine (our choice: two
// to five times what virtual machines took).
const wakes = 250 * time.Microsecond

// dealEvery is the number of cycles between checks of the workers' balance (our
// choice).
const dealEvery = 1 << 10

// deal moves clusters from the worker with the most work to the one with the least.
func (g *GPU) deal() {
	t := &g.team
	t.deal = dealEvery
	a, b := &t.workers[0], &t.workers[0]
	for i := range t.workers {
		w := &t.workers[i]
		w.load = 0
		for _, c := range w.own {
			w.load += g.clusters[c].load
		}
		if w.load > a.load {
			a = w
		}
		if w.load < b.load {
			b = w
		}
	}
	if gap := a.load - b.load; gap > a.load/16 {
		kept := a.own[:0]
		for _, c := range a.own {
			cl := &g.clusters[c]
			if cl.load > 0 && 2*cl.load <= gap+cl.load/2 {
				gap -= 2 * cl.load
				cl.worker = b
				b.own = append(b.own, c)
				continue
			}
			kept = append(kept, c)
		}
		a.own = kept
		slices.Sort(b.own)
	}
	for c := range g.clusters {
		g.clusters[c].load = 0
	}
}

// hasIssued is called when the running cluster has issued.
func (t *team) hasIssued(w *worker) {
	if w.issued {
		return
	}
	w.issued = true
	if w.lender != nil {
		t.tell(&w.lender.lent, w.round<<roundBits+allIssued)
		return
	}
	t.tell(&w.at, w.round<<roundBits+uint64(w.following(int(w.head.Load()&allIssued))))
}

// turn waits until all clusters before c have issued. The owner of the chip runs those
// that nobody else will.
func (g *GPU) turn(w *worker, c int) {
	t := &g.team
	before := w.round<<roundBits + uint64(c)
	if w.helped || w == &t.workers[0] {
		for i := 1; i < len(t.workers); i++ {
			if v := &t.workers[i]; v != w && v.at.Load() < before && (v.helped || v.absent(w.round) && g.takeOver(v, w.round)) {
				for v.at.Load() < before {
					g.runNext(v)
				}
			}
		}
	}
	if own := &t.workers[0]; w == own {
		issued, lender := own.issued, own.lender
		for i := 1; i < len(t.workers); i++ {
			for v := &t.workers[i]; v.at.Load() < before && g.borrow(v, w.round, c); {
			}
		}
		own.issued, own.lender = issued, lender
	}
	var late time.Duration
	who := w
	if w.helped {
		who = &t.workers[0]
	}
	for i := range t.workers {
		v := &t.workers[i]
		if v != w {
			late += t.await(who, &v.at, before)
		}
		late += t.await(who, &v.lent, before)
	}
	if who == &t.workers[0] {
		t.late += late
	}
	w.turned = true
}

// absent waits a moment for a worker to take its clusters, and reports whether it has not.
func (w *worker) absent(round uint64) bool {
	if w.away.Load() {
		return true
	}
	for range promptly {
		if w.taken.Load() == round {
			return false
		}
	}
	return true
}

// lives reports whether a cluster has something to do in this cycle.
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

// runAlone simulates the core cycle of all clusters, of one SM each, while no other worker
// runs. SMs that sleep cost little: they are most of a large chip.
func (g *GPU) runAlone(w *worker) {
	in, naps := g.inbox[:len(g.awake)], g.naps[:len(g.awake)]
	for c, awake := range g.awake {
		if !awake {
			continue
		}
		if in[c][0] == nil {
			n := naps[c]
			if r := n.Room(); (r == 0 || g.clusters[c].out.Refuses(r)) && n.Pass() {
				continue
			}
		}
		g.runCluster(w, c)
	}
}

// runCluster simulates the core cycle of a cluster's SMs.
func (g *GPU) runCluster(w *worker, c int) {
	cl := &g.clusters[c]
	per := g.cfg.SMsPerCluster
	base := c * per
	for _, r := range g.inbox[c] {
		if r != nil {
			g.cores[r.SM].Deliver(r)
		}
	}
	if per == 1 {
		cl.last = true
		g.runSM(w, cl, c)
	} else if !g.runTurns(w, cl, base) {
		return
	}
	if cl.dry || cl.out.Used() || len(cl.ended)+len(cl.lets)+len(cl.direct)+len(cl.mail) > 0 {
		w.news[c>>6] |= 1 << (c & 63)
	}
}

// runTurns simulates the core cycle of the SMs of a cluster of several, the first of
// which is the base-th of the chip, and reports whether any did not sleep.
func (g *GPU) runTurns(w *worker, cl *cluster, base int) (ran bool) {
	per := g.cfg.SMsPerCluster
	left := 0
	for _, a := range g.awake[base : base+per] {
		if a {
			left++
		}
	}
	for i := cl.first; left > 0; i++ {
		if i == per {
			i = 0
		}
		if !g.awake[base+i] {
			continue
		}
		left--
		if n := g.naps[base+i]; n.Room() == 0 && n.Pass() {
			continue
		}
		ran = true
		cl.last = left == 0
		g.runSM(w, cl, base+i)
	}
	if g.cfg.RotateSMs {
		if cl.first++; cl.first == per {
			cl.first = 0
		}
	}
	return ran
}

// runSM simulates the core cycle of an SM.
func (g *GPU) runSM(w *worker, cl *cluster, sm int) {
	st := g.cores[sm].Run(g.team.now)
	if x := st&core.Choked != 0; x != g.choked[sm] {
		g.choked[sm] = x
	}
	switch {
	case st&core.Dry != 0:
		cl.dry = true
	case st&core.Dozing == 0:
		w.busy++
		cl.load++
	}
}

// hearNews passes the output of the clusters to the rest of the chip, in their
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
			if len(cl.mail) > 0 {
				g.collect(c)
			}
			for _, r := range cl.direct {
				g.mem.Answer(c, r, g.now)
			}
			cl.direct = cl.direct[:0]
			for i := range cl.lets {
				g.releases(cl.lets[i].k, cl.lets[i].b)
				cl.lets[i] = endedBlock{}
			}
			cl.lets = cl.lets[:0]
			for i := range cl.ended {
				e := &cl.ended[i]
				g.blockDone(e.sm, e.k, e.b, e.ago)
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

// Polls before a waiter blocks: the fewest, those of its first wait, and the most (our choice), some 5,
// 20 and 300 µs. The most is more than what the owner of the chip does alone between two rounds, also with a chip of 144
// SMs, since waking a goroutine takes longer than most rounds. A waiter takes processor time from
// others, and from the one that it waits for if they share a core. So it polls for longer after a wait
// for which the most would have been enough, and else less. Tests poll less.
var (
	fewLooks, firstLooks, mostLooks = 1 << 13, 1 << 15, 1 << 19
)

// lookFor is how long mostLooks take.
const lookFor = 300 * time.Microsecond

// missed is what it costs to find that a worker does not run (our choice: twice promptly).
const missed = time.Microsecond

// promptly is the number of polls, some 0.5 µs, within which a worker that is awake takes
// its clusters (our choice).
const promptly = 1 << 10

// await has a worker wait until a is at least n. It returns for how long it was blocked, if it was.
func (t *team) await(w *worker, a *atomic.Uint64, n uint64) (blocked time.Duration) {
	if w.looks == 0 {
		w.looks = firstLooks
	}
	for range w.looks {
		if a.Load() >= n {
			return 0
		}
	}
	start := time.Now()
	w.away.Store(true)
	t.asleep.Add(1)
	t.mu.Lock()
	for a.Load() < n {
		t.wake.Wait()
	}
	t.mu.Unlock()
	t.asleep.Add(-1)
	w.away.Store(false)
	blocked = time.Since(start)
	if blocked < lookFor {
		w.looks = min(2*w.looks, mostLooks)
	} else {
		w.looks = max(w.looks/2, fewLooks)
	}
	return blocked
}

// tell sets a to n and wakes those that await it.
func (t *team) tell(a *atomic.Uint64, n uint64) {
	a.Store(n)
	t.rouse()
}

// rouse wakes those that await something.
func (t *team) rouse() {
	if t.asleep.Load() > 0 {
		t.mu.Lock()
		t.wake.Broadcast()
		t.mu.Unlock()
	}
}
