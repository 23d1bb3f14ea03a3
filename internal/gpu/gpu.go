package gpu

import (
	"context"
	"errors"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/system"
)

// GPU is a chip. Not safe for concurrent use.
type GPU struct {
	cfg Config `state:"-"` // it follows from the machine, but for the number of workers
	state

	now       uint64 // core cycles since the start
	limitFrom uint64 // core cycle from which Run.MaxCycles counts
	blocks    uint64 // placed so far
	blocksEnd uint64 // ended so far
	copied    uint64 // copies that have ended so far

	moved    uint64 // activity when it was last seen to change
	movedAt  uint64
	patience uint64
	ran      uint64   // core cycle at which run last returned
	ops      ops      `state:"-"` // Past ends those that have ended
	copies   copies   `state:"-"` // none
	machine  *Machine `state:"-"` // that it is part of, or nil
	warming  Warming  `state:"-"` // only differences within a launch count
	number   int      // there
	arrived  []*Op    `state:"-"` // those whose waits for an action of another chip are over, once for each
	broken   error    `state:"-"` // that ended its run, until its Machine returns it
	stale    bool     // its state is left from a run that ended early: see renew
	progress func(Progress)

	places    bool           // states of warps are kept by instruction
	edges     bool           // and for which instructions they wait
	ledgers   []*core.Ledger `state:"-"` // in which they are kept
	logged    []logged       `state:"-"` // SMs of whose instructions there are records
	checked   bool           // SMs look for hazards
	found     []Hazard       `state:"-"` // before the machine was last renewed
	foundLeft uint64         // occurrences for which there was no room

	routed netTotals
	see    observer
	last   reading                       `state:"-"` // Load has it read again
	hand   func(cluster int, r *mem.Req) // give, made once

	onCycle func() error
	onIdle  func() error
	lookAt  uint64 // cycle that is not skipped
	until   uint64 // cycle at which run returns
	skipped uint64 // core cycles
}

// inbox are the replies for the SMs of a cluster in this cycle, nil after the last.
type inbox [2]*mem.Req

// state is the machine itself: everything that a run changes in it.
type state struct {
	cores    []core.SM
	naps     []*core.Sleep // of the cores
	clusters []cluster
	mem      *system.Memory
	awake    []bool  // by SM: has a warp that has not retired
	choked   []bool  // by SM: has no room for a reply
	inbox    []inbox // by cluster
	team     team    `state:"-"` // it affects no result

	clk       clock
	pool      mem.Pool
	handed    []int    // clusters with an entry in inbox
	unsettled []uint64 // a bit for each cluster in which an SM may have run dry

	slots    []*Kernel `state:"-"` // running kernels, nil where free
	active   []*Kernel `state:"-"` // the running ones, in order of slots
	running  int
	full     []bool // by SM: has no room for its kernel until a block ends
	lastSlot int    // slot of the kernel of the last placed block
	lastUnit int    // cluster that took the last block
	lastGPC  int    // GPC that took the last cluster of blocks
	mail     mail   `state:"-"` // none between launches

	teamSMs    []int32      `state:"-"` // of the cluster of blocks that is placed, by rank
	teamBlocks []exec.Block `state:"-"`
	rate       rate
	lastCore   []int          // by cluster: SM that took the last block, within it
	bound      []*Kernel      `state:"-"` // by SM: kernel whose blocks it takes
	placed     int            // blocks placed in this cycle
	own        BlockScheduler // registered block scheduler, nil for a built-in policy
	offer      *Offer         // for own
	declined   bool           // own has not placed a block that could be placed
	fresh      bool           // a kernel has just become ready
	ended      bool           // a kernel's last block has ended
	offered    bool           // a launch may begin because the blocks of another let it
	looks      bool           // a launch is to be asked what it passes over

	code    map[string]uint64 // place of each kernel's code, by its name
	codeEnd uint64
	spin    spinWatch
	ways    int        // of the L1D now, 0 if not adaptive
	prefer  Preference // of the kernel that began last
	fault   error      `state:"-"`
}

// Stats are counters of the chip outside its parts.
type Stats struct {
	system.Stats
	// Skipped counts core cycles that were skipped. It is the only counter that
	// Run.IdleSkip changes.
	Skipped uint64
}

// Progress is the progress of a run.
type Progress struct {
	Cycle     uint64  // core cycles
	Kernel    *Kernel // a running kernel
	Blocks    uint64  // its completed blocks
	Running   uint64  // its blocks on SMs
	Total     uint64  // its blocks
	WarpInsts uint64  // of all kernels so far
}

// New returns an idle chip with empty caches.
func New(cfg Config) (*GPU, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	g := &GPU{cfg: cfg}
	g.warming.g = g
	n := cfg.SMs()
	if cfg.Core == nil {
		return nil, errors.New("a chip needs a core model")
	}
	g.cfg.Core = cfg.Core.Clone()
	b := g.cfg.Core.Base()
	b.SMs = n
	g.patience = patience(&cfg)
	if cfg.Adaptive.Enabled {
		b.L1D.MaxWays = cfg.Adaptive.maxWays(&cfg)
	}
	g.hand = g.give
	return g, g.build()
}

// build creates the machine.
func (g *GPU) build() (err error) {
	cfg, n := &g.cfg, g.cfg.SMs()
	g.state = state{code: map[string]uint64{}}
	if g.clk, err = newClock(cfg.Clocks); err != nil {
		return err
	}
	if cfg.Compat.RoundedClocks {
		g.clk.rounded = newRoundedClock(cfg.Clocks)
	}
	g.newTeam()
	if g.mem, err = system.New(system.Config{
		Clusters: cfg.Clusters, SMsPerCluster: cfg.SMsPerCluster, FIFO: cfg.ClusterFIFO, Replies: cfg.Core.Base().Replies, Net: cfg.net(), Mem: cfg.Mem,
	}, &g.pool); err != nil {
		return err
	}
	g.join()
	for c := range g.clusters {
		cl := &g.clusters[c]
		cl.out = g.mem.Outbox(c)
		if t := &g.team; len(t.workers) > 1 {
			cl.out.Advanced = func() {
				if t.on {
					g.awaitMemory(cl.worker)
				}
			}
		}
	}
	g.cores, g.naps = make([]core.SM, n), make([]*core.Sleep, n)
	// What one worker uses is allocated together, so that workers share no cache
	// lines.
	for w := range g.team.workers {
		naps := make([]core.Sleep, len(g.team.workers[w].own)*cfg.SMsPerCluster+pad/8)
		for _, c := range g.team.workers[w].own {
			for i := int(c) * cfg.SMsPerCluster; i < int(c+1)*cfg.SMsPerCluster; i++ {
				g.naps[i], naps = &naps[0], naps[1:]
				if g.cores[i], err = cfg.Core.New(i, g.envOf(i)); err != nil {
					return err
				}
				if !cfg.Run.IdleSkip {
					g.cores[i].KeepAwake()
				}
			}
		}
	}
	g.choked, g.inbox = make([]bool, n), make([]inbox, cfg.Clusters)
	g.awake, g.full, g.bound = make([]bool, n), make([]bool, n), make([]*Kernel, n)
	g.lastCore = make([]int, cfg.Clusters)
	g.rate = newRate(cfg)
	for i := range g.lastCore {
		g.lastCore[i] = cfg.SMsPerCluster - 1
	}
	g.lastUnit = cfg.Clusters - 1
	g.lastGPC = cfg.gpcs() - 1
	g.mail.to = make([][]core.PeerMessage, n)
	g.slots = make([]*Kernel, cfg.Kernels)
	if maker, ok := BlockSchedulers.Maker(int(cfg.Dispatch)); ok {
		g.own, g.offer = maker(), &Offer{g: g, took: make([]bool, n)}
	}
	return nil
}

// Config returns the settings.
func (g *GPU) Config() *Config { return &g.cfg }

// Now returns the core cycles since the start.
func (g *GPU) Now() uint64 { return g.now }

// KeepPlaces makes every kernel keep counters per instruction. It changes no other
// result.
func (g *GPU) KeepPlaces() {
	if !g.places {
		g.places = true
		g.giveLedgers()
	}
}

// KeepEdges makes every kernel keep for which of its instructions its warps waited, at
// which instructions. It comes before KeepPlaces and changes no other result.
func (g *GPU) KeepEdges() { g.edges = true }

// giveLedgers gives the SMs ledgers: one to all if they run in turn, otherwise each its
// own, because SMs move between workers.
func (g *GPU) giveLedgers() {
	if !g.places {
		return
	}
	g.ledgers = g.ledgers[:0]
	for _, c := range g.cores {
		if len(g.ledgers) == 0 || len(g.team.workers) > 1 {
			l := core.NewLedger()
			if g.edges {
				l.KeepEdges()
			}
			g.ledgers = append(g.ledgers, l)
		}
		c.KeepPlaces(g.ledgers[len(g.ledgers)-1])
	}
}

// OnProgress makes the chip call f from time to time while it runs.
func (g *GPU) OnProgress(f func(Progress)) { g.progress = f }

// step simulates the next time at which a clock domain fires, in the order of
// GPGPU-Sim. It reports whether the core domain fired.
func (g *GPU) step() bool {
	f, t := g.clk.tick(), &g.team
	d := system.Domains{Net: f.has(netDomain), L2: f.has(l2Domain), DRAM: f.has(dramDomain)}
	if !f.has(coreDomain) {
		if !g.mayOwe(d) {
			g.catchUp()
			g.mem.Cycle(d, g.now)
		}
		return false
	}
	if t.callWorkers(); !t.on {
		g.catchUp()
	}
	g.mem.Deliver(g.now, g.choked, g.hand)
	if t.on {
		t.owed = append(t.owed, d)
	} else {
		g.mem.Cycle(d, g.now)
	}
	g.coreCycle()
	return true
}

// give passes a reply to an SM: immediately, or at the beginning of the core cycle
// that is due, in the worker that runs the SM.
func (g *GPU) give(cluster int, r *mem.Req) {
	g.met(BackAtSM, r)
	if sm := r.SM; !g.awake[sm] {
		g.cores[sm].Deliver(r)
		g.choked[sm] = g.cores[sm].RepliesFull()
		return
	}
	in := &g.inbox[cluster]
	if in[0] != nil {
		in[1] = r
		return
	}
	in[0] = r
	g.handed = append(g.handed, cluster)
}

// coreCycle simulates one cycle of the core domain.
func (g *GPU) coreCycle() {
	g.deliver()
	g.runSMs()
	for _, l := range g.logged {
		g.cores[l.sm].HandOn()
	}
	g.now++
	if g.looks {
		g.askAll()
	}
	g.place()
	g.fresh = false
	for _, k := range g.active {
		if k.latency > 0 {
			if k.latency--; k.latency == 0 {
				g.fresh = true
			}
		}
		if k.gave { // those clusters count as ended
			k.gave = false
			g.letBegin(k.op)
		}
	}
	g.settle()
}

// settle finds the SMs that have no warps left.
func (g *GPU) settle() {
	per := g.cfg.SMsPerCluster
	for at, m := range g.unsettled {
		g.unsettled[at] = 0
		for ; m != 0; m &= m - 1 {
			base := (at<<6 + bits.TrailingZeros64(m)) * per
			was, is := false, false
			for i := base; i < base+per; i++ {
				was = was || g.awake[i]
				g.awake[i] = g.cores[i].Unfinished()
				is = is || g.awake[i]
				if err := g.cores[i].Err(); err != nil && g.fault == nil {
					g.fault = err
				}
			}
			if was && !is && g.cfg.Run.FlushL1 {
				for i := base; i < base+per; i++ {
					if d := g.cores[i].L1D(); d != nil {
						d.Invalidate()
					}
				}
			}
		}
	}
}

// idle reports whether nothing is left to do except for write-backs, which nothing
// waits for.
func (g *GPU) idle() bool {
	if g.moreBlocks() {
		return false
	}
	for _, a := range g.awake {
		if a {
			return false
		}
	}
	return g.mem.Idle()
}

// patience is the number of core cycles without an issued instruction or a reply
// after which a run is given up: as in GPGPU-Sim, and several times the latency of
// a request where memory is configured to be very slow.
func patience(c *Config) uint64 {
	m := &c.Mem
	n := 50_000 + 8*uint64(m.ROPLatency+m.DRAMLatency)
	if !m.FixedLatency {
		d := &m.DRAM.Timing
		one := uint64(d.RC + d.RRD + d.RCD + d.RAS + d.RP + d.CL + d.WL + d.CCD + d.CCDL + d.CDLR + d.WR + d.RTPL + d.RFC)
		n += 8 * one * uint64(1+c.Clocks.Core/c.Clocks.DRAM)
	}
	return n + 64*uint64(1+c.Clocks.Core/c.Clocks.L2+c.Clocks.Core/c.Clocks.Net)
}

// watchEvery is the interval, in core cycles, of checks for interruption and
// progress.
const watchEvery = 4096

// run steps the chip until a kernel or a copy has ended, or until cycle g.until.
func (g *GPU) run(ctx context.Context) error {
	if g.machine == nil || g.now != g.ran { // not the next stretch of the same run
		g.moved, g.movedAt = g.activity(), g.now
	}
	defer func() {
		g.catchUp()
		g.ran = g.now
	}()
	g.last.good = false
	if g.onCycle != nil && g.now == 0 {
		if err := g.onCycle(); err != nil {
			return err
		}
	}
	for {
		if g.step() {
			if g.fault != nil {
				return g.fault
			}
			if err := g.limit(); err != nil {
				return err
			}
			g.look()
			if err := g.watch(ctx); err != nil {
				return err
			}
			if g.onCycle != nil {
				if err := g.onCycle(); err != nil {
					return err
				}
			}
			if g.cfg.Run.IdleSkip && g.skip() {
				g.look()
				if err := g.watch(ctx); err != nil {
					return err
				}
				if g.onCycle != nil && g.now == g.lookAt {
					if err := g.onCycle(); err != nil {
						return err
					}
				}
			}
		}
		if g.ended && g.retire() {
			if g.running == 0 {
				g.mail.clear()
			}
			return nil
		}
		if g.offered || g.copies.due(g.now) || g.now >= g.until {
			g.offered = false
			return nil
		}
	}
}

// clear drops messages that are on their way to blocks that have ended.
func (m *mail) clear() {
	for i := range m.to {
		clear(m.to[i])
		m.to[i] = m.to[i][:0]
	}
	m.n = 0
}

// watch ends a run that was interrupted or in which nothing moves any more.
func (g *GPU) watch(ctx context.Context) error {
	if g.now%watchEvery != 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if a := g.activity(); a != g.moved || g.latent() || g.running == 0 || g.mem.Parts.Away() {
		g.moved, g.movedAt = a, g.now
	} else if g.now-g.movedAt > g.patience && g.cfg.Run.DetectDeadlock {
		return g.stuck()
	}
	if g.cfg.Run.DetectDeadlock && !g.linked() && g.spin.look([]*GPU{g}) {
		return g.spinning()
	}
	if g.progress != nil {
		g.report()
	}
	return nil
}

// limit tests the limits of a run.
func (g *GPU) limit() error {
	r := &g.cfg.Run
	switch {
	case r.MaxCycles > 0 && g.now-g.limitFrom >= r.MaxCycles:
		return &exec.LimitError{Limit: r.MaxCycles, What: "cycles"}
	case r.MaxBlocks > 0 && g.blocks >= r.MaxBlocks:
		return &exec.LimitError{Limit: r.MaxBlocks, What: "placed blocks"}
	case r.MaxDone > 0 && g.blocksEnd >= r.MaxDone:
		return &exec.LimitError{Limit: r.MaxDone, What: "ended blocks"}
	case r.MaxInsts > 0 && g.threadInsts() >= r.MaxInsts:
		return &exec.LimitError{Limit: r.MaxInsts, What: "thread instructions"}
	}
	return nil
}

// threadInsts returns the thread instructions issued so far.
func (g *GPU) threadInsts() uint64 {
	var n uint64
	for _, c := range g.cores {
		n += c.Count().ThreadInsts
	}
	return n
}

// warpInsts returns the warp instructions issued so far.
func (g *GPU) warpInsts() uint64 {
	var n uint64
	for _, c := range g.cores {
		n += c.Count().WarpInsts
	}
	return n
}

// activity grows whenever an instruction is issued or a reply delivered.
func (g *GPU) activity() uint64 {
	var n uint64
	for _, c := range g.cores {
		n += c.Count().Activity()
	}
	return n
}

// latent reports whether a kernel has just begun or still waits for its launch latency,
// or a copy is in progress.
func (g *GPU) latent() bool {
	if g.fresh || g.copies.n > 0 {
		return true
	}
	for _, k := range g.active {
		if k.latency > 0 {
			return true
		}
	}
	return false
}

// report calls the owner's progress function.
func (g *GPU) report() {
	for _, k := range g.slots {
		if k == nil {
			continue
		}
		g.progress(Progress{Cycle: g.now, Kernel: k, Blocks: k.Blocks, Running: k.next - k.Blocks, Total: k.total, WarpInsts: g.warpInsts()})
		return
	}
}
