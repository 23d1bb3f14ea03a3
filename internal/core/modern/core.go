package modern

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/ring"
)

const none = int32(-1)

// Env is what the chip provides to a core.
type Env = core.Env

// fetched is an instruction in a warp's buffer.
type fetched struct {
	at            int32
	valid         bool   // it has been decoded
	fetch, decode uint64 // core cycles, for the log
}

// shown is a pending instruction of fixed latency and the tick from which its
// result can be read.
type shown struct {
	at  uint64 // tick of its instruction's issue
	due uint64 // tick from which all instructions can read it
	p   exec.Pending
	op  *op `state:"-"`
	// done: it has become visible earlier, because an instruction can read it.
	done bool
}

// written is a predicate and the tick from which guards see it.
type written struct {
	at  uint64
	reg uint16
}

// counted is a warp that counts the instructions that machine code does not have.
type counted struct{ exec.Warp }

func (c counted) Pass(e *exec.Effects) error { return c.Step(e) }

// warp is a warp slot.
type warp struct {
	core.Warp[Kernel]

	d    exec.Deferred // X, nil if results are visible at once
	pass exec.Passer   // X, nil if machine code has all instructions
	ops  []op          `state:"-"` // of its kernel

	ib       [maxBuffer]fetched
	ibHead   uint8
	ibN      uint8  // instructions buffered or being fetched
	epoch    uint32 // changes when the buffer is flushed
	fetch    int32  // next instruction to fetch
	l0       int32  // place in the L0I of the line fetched last
	sb       [isa.Counters]int8
	busySB   uint8 // counters that are not zero
	longSB   uint8 // of busySB: incremented by an instruction that goes through a cache
	depbars  [maxDepbar + 1]depbar
	nDepbars uint8

	preds  [8]written // predicates that operands may see before guards do, with Config.Assembled
	nPreds uint8

	due     []shown // of fixed latency, the earliest first
	until   uint64  // tick from which the last result of fixed latency can be read
	flights int32   // instructions in flight
	hidden  int32   // pending instructions whose results cannot be read yet
	unread  int32   // memory instructions that have not accessed memory yet
	stores  int32   // stores not acknowledged
	// Texture accesses in flight that lower a counter: the oldest and the latest, plus one; 0 if
	// there are none.
	oldTex, newTex int32
	regs           int32  // scoreboard: registers reserved
	copies         copies // of cp.async and LDGSTS
	leave          int32  // closed groups of copies that may remain when it continues
}

// maxDepbar is the maximum number of cycles until a DEPBAR holds its warp, and hence
// the maximum number of DEPBARs that have issued without holding it yet.
const maxDepbar = 7

// depbar is a DEPBAR that holds its warp from a tick on.
type depbar struct {
	d    *isa.Depbar
	from uint64
}

// flight is an instruction between issue and its last effect.
type flight struct {
	op      *op `state:"-"`
	uid     uint64
	issue   uint64 // tick
	lanes   isa.LaneMask
	shared  isa.LaneMask // of a generic access, the lanes in shared memory
	p       exec.Pending
	at      int32  // instruction
	due     uint64 // tick of its result, if beyond the reach of the wheel
	least   uint64 // earliest tick of its result, because of its lanes in shared memory
	out     int32  // requests not answered
	next    int32  // accesses passed on
	group   uint32
	reading uint32 // the same for what it reads
	job     int32  // plus one; 0: none
	warp    int16
	sub     int8
	refs    int8 // events outstanding before its record is free
	path    path
	pipe    Pipe
	touched bool   // it has accessed memory
	gone    bool   // it has left the address unit
	passes  uint16 // through shared memory, or of a load of constants
	back    bool   // its texels have come, but not yet those of the texture access before it
	after   int32  // the warp's texture access after it, plus one; 0 if it is the last
	slow    uint16 // more cycles until its result may be read: a wait for an mbarrier that its warp has just changed
	acc     []access
}

// reserved is a word of the scoreboards: a bit per register.
type reserved struct {
	busy  uint64 // reserved
	long  uint64 // reserved by an instruction that goes through a cache
	short uint64 // reserved by another instruction of variable latency
}

// Core is one streaming multiprocessor. Not safe for concurrent use.
type Core struct {
	core.Residents[Kernel]
	core.Books
	*core.Sleep

	cfg   Config
	env   Env
	id    int
	Stats Stats

	err  error
	tick uint64 // core cycles so far, the time base of the pipelines
	now  uint64 // core cycles of the GPU

	moved bool // something may happen in the next cycle
	stir  bool // something may happen in the sub-cores in this cycle

	warps []warp
	subs  []subcore
	uids  uint64
	last  *Kernel `state:"-"` // the kernel launched last
	warpSets
	engine
	stallEnds [64]uint64 // warps whose stall ends, by tick
	underWay
	supply

	exits     []uint64 // by place of a block: tick at which all lanes of a warp had ended, the latest
	addresses int      // sub-cores with an instruction in the address unit
	doubles   int      // instructions that wait for the FP64 unit

	fp64Free uint64
	fp64Turn int

	ls     memory
	eff    exec.Effects
	passed exec.Effects // of instructions that machine code does not have

	ideal  bool             // Ideal.Divergence or Ideal.IssueWidth
	paths  []core.FreePaths // by warp slot, with Ideal.Divergence
	packed []access         // buffer for pack

	acct account
	watchers
}

// warpSets are sets of warps, a bit per slot.
type warpSets struct {
	alive   uint64            // launched, not retired
	done    uint64            // all lanes have ended, not retired
	ready   uint64            // the executor can step it
	has     uint64            // the buffer has its next instruction
	stalled uint64            // its stall counter or yield bit holds it
	waits   uint64            // its next instruction waits for counters or registers
	long    uint64            // of waits: for a load through a cache
	fixed   uint64            // of waits: for a result of fixed latency
	fence   uint64            // waits at a memory barrier
	timed   uint64            // of fence: the barrier's minimum time has not passed
	queued  [throttles]uint64 // waits only for a place in the memory queue
	imc     uint64            // waits for a constant
	copying uint64            // waits for asynchronous copies
	barrier uint64            // waits at a barrier
	room    uint64            // has room in its buffer and instructions to fetch
	turned  uint64            // has branched in this cycle
	branch  uint64            // has branched and not issued since
	held
}

// underWay is what has been issued and has not ended: instructions, their scheduled
// events, and the scoreboards, with a bit and a count of readers per register.
type underWay struct {
	wheel  wheel
	flight []flight
	freeF  []int32
	raises []raise // counters incremented in this cycle

	words, total int
	busy         []reserved
	readers      []uint8
}

// supply is the part of the instruction and constant supply that sub-cores share.
type supply struct {
	l1i      *cache.Cache
	up, down ring.Ring[lineReq]
	turnUp   int // sub-core with the first turn on the link
	asking   int // requests of sub-cores for the link
	vl       tags
	vlWait   []waiting // LDCs that wait for a line
}

// watchers observe the core without affecting it.
type watchers struct {
	log     *core.Log `state:"-"` // no checkpoints of runs with these
	hazards *hazards  `state:"-"`
	core.SpinWatch
}

// New returns an idle core. Its id is its number in the GPU.
func New(cfg Config, id int, env Env) (*Core, error) {
	if err := cfg.Check(); err != nil {
		return nil, fmt.Errorf("SM: %w", err)
	}
	if err := env.Check(id); err != nil {
		return nil, err
	}
	c := &Core{cfg: cfg, env: env, id: id, Sleep: env.Sleep}
	if c.Sleep == nil {
		c.Sleep = new(core.Sleep)
	}
	c.warps = make([]warp, cfg.Warps)
	for i := range c.warps {
		w := &c.warps[i]
		w.due = make([]shown, 0, 64)
		c.Warps = append(c.Warps, &w.Warp)
	}
	c.Init(cfg.Places(), c.refresh, env.Turn)
	c.wheel.init()
	c.grow(1, 1)
	c.raises = make([]raise, 0, 2*cfg.SubCores)
	c.ideal = cfg.Ideal.Divergence || cfg.Ideal.IssueWidth
	if cfg.Ideal.Divergence {
		c.paths = make([]core.FreePaths, cfg.Warps)
	}
	c.exits = make([]uint64, cfg.Places())
	c.newSubCores()
	if cfg.Hopper.Enabled {
		c.crowds, c.more = make([]crowd, cfg.Places()), make([]moreWarp, cfg.Warps)
	}
	c.vl = newTags(cfg.L0VL)
	if err := c.newMemory(); err != nil {
		return nil, fmt.Errorf("SM: %w", err)
	}
	if !cfg.PerfectICache || !cfg.PerfectConst {
		ic := cfg.L1I
		ic.Name = "l1i"
		var err error
		if c.l1i, err = cache.New(ic, env.Pool); err != nil {
			return nil, fmt.Errorf("SM: %w", err)
		}
	}
	c.Stats.init(&cfg)
	return c, nil
}

// Spinning reports whether all resident warps will loop forever unless another SM
// changes memory. A warp that has ended will retire after its memory accesses.
func (c *Core) Spinning() (yes, ended bool) {
	return c.Looping(c.alive&c.ready&^c.done, c.done != 0)
}

// Config returns the core's settings.
func (c *Core) Config() *Config { return &c.cfg }

// ID returns the core's number in the GPU.
func (c *Core) ID() int { return c.id }

// Err returns the fault that stopped the core, nil if there is none. It is an
// *exec.Fault if the program is at fault.
func (c *Core) Err() error { return c.err }

// Blocks returns the number of resident blocks.
func (c *Core) Blocks() int { return c.N }

// Resident returns the number of warps launched and not retired.
func (c *Core) Resident() int { return bits.OnesCount64(c.alive) }

// Unfinished reports whether a warp is resident, or a read that the L1D makes for a
// store is pending.
func (c *Core) Unfinished() bool { return c.alive != 0 || c.ls.l1d != nil && c.ls.l1d.Pending() > 0 }

// Busy reports whether a cycle would do anything: warps are resident, or requests are
// in flight.
func (c *Core) Busy() bool {
	return c.alive != 0 || c.ls.pending() || c.up.Len() > 0 || c.down.Len() > 0 || c.l1i != nil && !c.l1i.Quiet() || c.asking > 0
}

// L1D returns the data cache, nil if there is none.
func (c *Core) L1D() *cache.Cache { return c.ls.l1d }

// L1I returns the cache of instructions and constants, nil if both are perfect.
func (c *Core) L1I() *cache.Cache { return c.l1i }

// Settle charges the states of the resident warps up to now. Without it, a state is
// charged when it ends.
func (c *Core) Settle() {
	c.Sync()
	core.Settle(&c.acct.States, &c.Residents, c.tick, c.alive, c.Stats.States[:])
}

// AddStates adds the warp cycles in each state so far to sum.
func (c *Core) AddStates(sum *[core.MaxStates]uint64) {
	c.Sync()
	for i, n := range c.Stats.States {
		sum[i] += n
	}
	c.acct.AddTo(sum, c.tick, c.alive)
}

// grow makes room for scoreboards with the given numbers of words and registers per
// warp.
func (c *Core) grow(words, total int) {
	if words > c.words {
		s := make([]reserved, words*c.cfg.Warps)
		for i := 0; i*c.words < len(c.busy); i++ {
			copy(s[i*words:], c.busy[i*c.words:(i+1)*c.words])
		}
		c.busy, c.words = s, words
	}
	if total > c.total {
		s := make([]uint8, total*c.cfg.Warps)
		for i := 0; i*c.total < len(c.readers); i++ {
			copy(s[i*total:], c.readers[i*c.total:(i+1)*c.total])
		}
		c.readers, c.total = s, total
	}
}

// roomFor returns the core's capacity for blocks.
func (c *Core) roomFor() core.Room {
	return c.cfg.Room()
}

// CanTake reports whether the core has room for one more block of k.
func (c *Core) CanTake(kernel core.Kernel) bool {
	k := kernel.(*Kernel)
	_, _, ok := c.Find(k, k.Need, c.roomFor())
	return ok
}

// Launch places a block of k on the core and reports whether there was room.
func (c *Core) Launch(kernel core.Kernel, b exec.Block) bool {
	k := kernel.(*Kernel)
	bi, first, ok := c.Find(k, k.Need, c.roomFor())
	if !ok {
		return false
	}
	c.Sync()
	c.moved, c.stir = true, true
	c.turnTo(k)
	if !k.ControlBits {
		c.grow(k.words, k.total)
	}
	c.Residents.Take(bi, first, k, k.Work, b, k.Need)
	if k.hopper {
		c.crowds[bi] = crowd{sms: c.crowds[bi].sms[:0], blocks: c.crowds[bi].blocks[:0]}
		if p, ok := b.(exec.Postponer); ok {
			c.crowds[bi].post = p
			p.Postpone()
		}
	}
	c.Stats.BlocksLaunched++
	for i := range b.Warps() {
		s := first + i
		w := &c.warps[s]
		w.copies.reset()
		*w = warp{Warp: c.Warp(bi, i, c.PlacesOf(k, len(k.ops))), ops: k.ops, due: w.due[:0], epoch: w.epoch + 1, copies: w.copies}
		if w.Edges = c.EdgesOf(k, len(k.ops)); w.Edges != nil {
			c.acct.Explain(s, k.waitStates())
		}
		w.Before = c.Stats.PerWarp[s]
		if c.paths != nil {
			c.paths[s] = core.FreePaths{}
		}
		w.d, _ = w.X.(exec.Deferred)
		if k.lines < len(k.ops) {
			if w.pass, _ = w.X.(exec.Passer); w.pass == nil {
				w.pass = counted{w.X}
			}
		}
		if k.hopper {
			c.more[s].begin(w.X, k.Registers)
		}
		bit := uint64(1) << s
		c.alive |= bit
		for _, m := range [...]*uint64{&c.done, &c.ready, &c.has, &c.stalled, &c.waits, &c.fence, &c.timed, &c.imc, &c.copying,
			&c.barrier, &c.turned, &c.branch, &c.mbar, &c.cluster, &c.bulk, &c.product, &c.opening, &c.orders, &c.grid, &c.wants} {
			*m &^= bit
		}
		for i := range c.stallEnds {
			c.stallEnds[i] &^= bit // set by the previous warp's last instruction
		}
		c.room |= bit
		c.refresh(int32(s))
		w.fetch = max(w.Next, 0)
		c.subs[s%len(c.subs)].join(uint8(s))
		c.Stats.WarpsLaunched++
		c.acct.Begin(s, c.tick, uint8(NoInstruction), w.Next)
		if c.hazards != nil {
			c.hazards.begin(c, s)
		}
	}
	c.BreakSpin()
	return true
}

// refresh looks up what a warp executes next.
func (c *Core) refresh(s int32) {
	w := &c.warps[s]
	b := &c.Residents.Blocks[w.Block]
	bit := uint64(1) << s
	was := w.State == exec.Ready
	in, _, addr, st := w.X.Next()
	for st == exec.Ready && w.pass != nil {
		if i := addr >> w.K.Shift; i >= uint64(len(w.ops)) || !w.ops[i].gone {
			break
		}
		if err := w.pass.Pass(&c.passed); err != nil {
			c.fail(err)
			return
		}
		in, _, addr, st = w.X.Next()
	}
	w.State, w.Next = st, none
	c.barrier &^= bit
	c.product &^= bit
	c.waits &^= bit
	c.has &^= bit
	c.queued[throttleLG] &^= bit
	c.queued[throttleMIO] &^= bit
	if st == exec.Ready {
		i := addr >> w.K.Shift
		if i >= uint64(len(w.ops)) || w.ops[i].inst != in {
			c.fail(fmt.Errorf("kernel %s: instruction address %#x is not in its code", w.K.Work.Name(), addr))
			return
		}
		w.Next = int32(i)
		c.ready |= bit
		if !was {
			b.Run++
		}
		c.aim(s)
		return
	}
	c.ready &^= bit
	if was {
		b.Run--
	}
	switch st {
	case exec.Done:
		c.done |= bit
		c.exits[w.Block] = c.tick
		c.room &^= bit
	case exec.AtBarrier:
		c.barrier |= bit
	}
}

// aim checks that a warp's buffer holds or is fetching its next instruction; if not,
// it flushes the buffer and redirects fetch.
func (c *Core) aim(s int32) {
	w := &c.warps[s]
	bit := uint64(1) << s
	if w.ibN > 0 {
		if h := &w.ib[w.ibHead]; h.at == w.Next {
			if h.valid {
				c.has |= bit
			}
			return
		}
	} else if w.fetch == w.Next {
		return
	}
	w.ibN, w.ibHead = 0, 0
	w.epoch++
	w.fetch = w.Next
	c.room |= bit
	c.turned |= bit
	c.branch |= bit
}

func (c *Core) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// Cycle simulates one core cycle. Now is the GPU's count of core cycles.
func (c *Core) Cycle(now uint64) {
	if c.Asleep() {
		if r := c.Room(); (r == 0 || !c.env.HasRoom(r)) && c.Pass() {
			return
		}
		c.Sync()
	}
	c.now = now
	c.tick++
	if c.alive == 0 && !c.Busy() {
		return
	}
	t := c.tick
	c.Stats.Cycles++
	c.Stats.WarpCycles += uint64(bits.OnesCount64(c.alive))
	c.moved = false
	if m := c.stallEnds[t&63]; m != 0 {
		c.stalled &^= m
		c.stallEnds[t&63] = 0
		c.stir = true
	}
	c.receive(t)
	for {
		e, ok := c.wheel.pop(t)
		if !ok {
			break
		}
		c.stir = true
		c.happen(t, e)
	}
	if c.working.Len() > 0 {
		c.copyOn()
	}
	c.ls.cycle(c, t)
	same := c.done == 0 && !c.stir && !c.Awake()
	if c.stir || c.Awake() {
		c.subCores(t)
	} else if c.env.Issued != nil {
		c.env.Issued()
	}
	if c.l1i != nil {
		c.sendMiss(c.l1i.MissHead(), c.l1i)
		c.l1i.Tick()
	}
	if c.ls.l1d != nil {
		c.sendMiss(c.ls.l1d.MissHead(), c.ls.l1d)
		c.ls.l1d.Tick()
	}
	if c.done != 0 {
		c.retire()
	}
	if same {
		c.acct.again(c)
	} else {
		c.acct.charge(c)
	}
	if !c.moved {
		c.doze(t)
	}
}

// subCores simulates a cycle of the sub-cores. If nothing moves in it, the following
// ones do nothing either and are left out, until something that the sub-cores wait for
// happens: an event, the end of a stall, the arrival of a line or a block.
func (c *Core) subCores(t uint64) {
	others := c.moved
	c.moved = false
	c.fp64(t)
	c.acct.clear()
	for i := range c.subs {
		s := &c.subs[i]
		c.allocate(s, t)
		c.start(s, t)
		c.control(s, t)
		c.arrive(s, t)
		c.issue(s, t)
	}
	if c.env.Issued != nil {
		c.env.Issued()
	}
	c.raise()
	for i := range c.subs {
		s := &c.subs[i]
		s.memN -= s.memFreed
		s.memFreed = 0
		c.fetch(s, t)
		c.prefetch(s, t)
	}
	if c.cfg.Ideal.IssueWidth {
		c.fetchMore(t)
	}
	c.link(t)
	c.turned = 0
	c.stir = c.moved
	c.moved = c.moved || others
}

// happen executes an event.
func (c *Core) happen(t uint64, e event) {
	if e.kind == evFence {
		c.timed &^= 1 << e.f
		c.pass(e.f)
		return
	}
	if e.kind > evFence {
		c.happenHopper(t, e)
		return
	}
	f := &c.flight[e.f]
	s := int32(f.warp)
	switch e.kind {
	case evRead:
		c.touch(e.f)
		if c.err != nil {
			return
		}
		c.readDone(s, f)
		c.endRef(e.f)
	case evLower:
		if f.op.ctl != nil {
			c.lower(s, f.op.ctl.Read, f.at)
		}
		c.endRef(e.f)
	case evSend:
		c.enter(t, e.f)
	case evWrite:
		c.write(t, e.f)
	case evLater:
		c.writeAt(f.due, e.f)
	case evVisible:
		c.visible(s, e.f)
	}
}

// happenHopper executes an event of what Hopper added.
func (c *Core) happenHopper(t uint64, e event) {
	switch e.kind {
	case evResume:
		c.resume(e.f)
	case evGiveUp:
		if m := &c.more[e.f]; c.mbar>>e.f&1 != 0 && m.giveUp == t && !m.waking {
			c.resume(e.f)
		}
	case evRelease:
		c.opening &^= 1 << e.f
	case evProduct:
		c.product &^= 1 << e.f
	case evBulkStart:
		c.working.Push(e.f)
	case evBulkDone:
		c.bulkDone(t, e.f)
	}
	c.moved, c.stir = true, true
}

// retire frees the slots of finished warps with nothing in flight, and the places of
// blocks with their last warp.
func (c *Core) retire() {
	for m := c.done; m != 0; m &= m - 1 {
		s := bits.TrailingZeros64(m)
		w := &c.warps[s]
		if w.flights > 0 || w.stores > 0 || w.regs > 0 || w.until > c.tick {
			continue
		}
		c.show(w, core.Never)
		bit := uint64(1) << s
		c.moved = true
		c.alive &^= bit
		c.done &^= bit
		c.fence &^= bit
		c.copying &^= bit
		c.cluster, c.bulk, c.product = c.cluster&^bit, c.bulk&^bit, c.product&^bit
		c.subs[s%len(c.subs)].leave(uint8(s))
		c.Stats.WarpLife += c.acct.End(s, c.tick, c.Stats.States[:], w.Places)
		w.d = nil
		at := w.Block
		k, x, ended := c.Retire(s)
		if !ended {
			continue
		}
		c.Stats.BlocksDone++
		if c.env.BlockDone != nil {
			c.env.BlockDone(k, x, c.tick-c.exits[at])
		}
	}
}

// take returns a free record for an instruction in flight.
func (c *Core) take() int32 {
	if n := len(c.freeF); n > 0 {
		f := c.freeF[n-1]
		c.freeF = c.freeF[:n-1]
		return f
	}
	c.flight = append(c.flight, flight{acc: make([]access, 0, 32)})
	return int32(len(c.flight) - 1)
}

// endRef notes that one of the outstanding events of an instruction in flight has
// happened. The last one frees its record.
func (c *Core) endRef(fi int32) {
	f := &c.flight[fi]
	f.refs--
	if f.refs > 0 {
		return
	}
	c.warps[f.warp].flights--
	if c.log != nil {
		c.log.End(fi, f.lanes, c.now)
	}
	c.freeF = append(c.freeF, fi)
}
