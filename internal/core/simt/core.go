package simt

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
)

const none = int32(-1)

// Env is what the chip provides to a core.
type Env = core.Env

// warp is a warp slot.
type warp struct {
	core.Warp[Kernel]

	ahead   exec.Foreseen // X if it implements this, else nil
	ops     []op          `state:"-"` // of its kernel
	set     Set           // index of Core.need in which its bit may be set
	ib      [2]int32      // instruction buffer: index of the instruction, -1 for one beyond the code
	ibHead  uint8
	ibHas   uint8 // bit per valid entry
	fetch   int32 // next instruction to fetch
	inPipe  int32 // instructions buffered or in the pipeline
	stores  int32 // stores not acknowledged
	storing int32 // store instructions that have accesses to send
	atomics int32 // atomic lanes not answered
	copies  int32 // asynchronous copies in flight
	waits   *op   `state:"-"` // the wait for copies that the warp is at
	regs    int32 // registers reserved
}

// flight is an instruction between issue and completion.
type flight struct {
	op     *op `state:"-"`
	uid    uint64
	lanes  isa.LaneMask // whose guard was true
	shared isa.LaneMask // of a generic access, the lanes in shared memory
	spread isa.LaneMask // of a generic access, the lanes in local memory
	warp   int16
	sched  int16
	delay  int32 // cycles for which the unit's entry is still taken
	out    int32 // accesses not answered
	at     int32 // instruction index
	path   path
	piped  bool // still in the pipeline
	local  bool
	copies bool // counted in warp.copies
	group  uint32
	acc    []access
}

// reserved is a word of the scoreboard: a bit per register.
type reserved struct {
	busy  uint64 // reserved
	long  uint64 // reserved by a load through a cache
	short uint64 // reserved by a load from shared memory or an SFU
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

	moved bool // something before the load/store unit has moved in this cycle
	quiet bool // nothing there can move until the load/store unit or another unit enables it

	warps []warp
	uids  uint64
	warpSets
	scoreboard
	fetcher
	sched      []scheduler
	calmPolicy bool // schedulers without a warp to try have no side effects
	turn       int  // scheduler that issues first
	eff        exec.Effects
	upcoming
	pipelines

	ls ldst

	paths []core.FreePaths // by warp slot, with Ideal.Divergence
	lines []access         // buffer for pack

	coal coalescer
	acct account

	watchers
}

// warpSets are sets of warps, a bit per slot.
type warpSets struct {
	alive   uint64 // launched, not retired
	done    uint64 // all lanes have ended, not retired
	ready   uint64 // the executor can step it
	full    uint64 // has a buffered instruction
	blocked uint64 // the buffered instruction waits for a register
	onShort uint64 // of blocked: the slowest producer is shared memory or an SFU
	onLong  uint64 // of blocked: the slowest producer is a load through a cache
	barrier uint64 // waits at a barrier
	passed  uint64 // the buffered instruction waits only for an issue register
	fence   uint64 // waits at a fence
	atomic  uint64 // waits for atomics or asynchronous copies
	copying uint64 // of atomic: waits for copies
	imiss   uint64 // waits for the instruction cache
}

// scoreboard holds what is in flight: reserved registers, a bit each in a number of
// words per warp, and the instructions between issue and completion.
type scoreboard struct {
	words  int
	regs   []reserved
	flight []flight
	freeF  []int32
	copies [][isa.ByMbarrier]copies // by warp slot and kind of group
}

// fetcher loads instructions into the buffers of warps.
type fetcher struct {
	fr struct { // fetch register
		valid bool
		warp  int32
	}
	lastFetch int
	l1i       *cache.Cache
}

// upcoming classifies the warps that can step by the next instruction in their buffers.
// It is updated whenever that may have changed.
type upcoming struct {
	need      [Sets]uint64 // needs only an issue register of this set
	astray    uint64       // it is not the warp's next instruction
	collide   uint64       // it waits for a register
	willShort uint64       // of collide: from shared memory or an SFU
	willLong  uint64       // of collide: from a load through a cache
}

// pipelines are the stages between issue and write-back, except for the load/store
// unit: issue registers, operand collectors, execute registers and units.
type pipelines struct {
	idoc, ocex [Sets]regset
	col        collector
	units      []unit
	setUnits   [Sets][2]int
	inUse      []Set    // sets that have units
	entries    uint64   // units whose dispatch register is taken
	waiting    int      // instructions in execute registers, without those of the load/store unit
	ends       []uint64 // units that an instruction leaves, by tick; it took a result bus in the tick before
	frees      []uint64 // units whose dispatch register becomes free, by tick
	stage      []int32  // the instructions of ends, by tick and unit
	staged     int      // number of instructions in stage
	ring       uint64   // size of the wheels − 1
	wb         []int32
}

// watchers observe the core without affecting it.
type watchers struct {
	log   *core.Log `state:"-"` // nil without logging
	front seen      // for log
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
		c.Warps = append(c.Warps, &c.warps[i].Warp)
	}
	c.Init(cfg.Places(), c.refresh, env.Turn)
	c.copies = make([][isa.ByMbarrier]copies, cfg.Warps)
	c.words = 1
	c.growRegisters(1)
	for s := range Sets {
		c.idoc[s].init(cfg.IssueWidth[s])
		c.ocex[s].init(cfg.ExecWidth[s])
	}
	c.paths = newPaths(&cfg)
	c.newSchedulers()
	c.newCollector()
	c.newUnits()
	if err := c.newLoadStore(); err != nil {
		return nil, fmt.Errorf("SM: %w", err)
	}
	if !cfg.PerfectInstConst && !cfg.Ideal.ICache {
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

// Unfinished reports whether a warp is resident, an instruction is in flight (a load
// that writes no register, for which no warp waits), or a read that the L1D makes for
// a store is pending.
func (c *Core) Unfinished() bool {
	return c.alive != 0 || len(c.freeF) != len(c.flight) || c.ls.l1d != nil && c.ls.l1d.Pending() > 0
}

// Busy reports whether a cycle would do anything: warps are resident, or their
// requests are in flight.
func (c *Core) Busy() bool { return c.alive != 0 || len(c.freeF) != len(c.flight) || c.ls.pending() }

// L1D returns the data cache, nil if there is none.
func (c *Core) L1D() *cache.Cache { return c.ls.l1d }

// L1C returns the constant cache, nil if it is perfect or absent.
func (c *Core) L1C() *cache.Cache { return c.ls.l1c }

// L1I returns the instruction cache, nil if it is perfect.
func (c *Core) L1I() *cache.Cache { return c.l1i }

// L1T returns the texture cache, nil if there is none.
func (c *Core) L1T() *cache.Texture { return c.ls.l1t }

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

// growRegisters makes room for w words of register mask per warp.
func (c *Core) growRegisters(w int) {
	s := make([]reserved, w*c.cfg.Warps)
	for i := 0; i*c.words < len(c.regs); i++ {
		copy(s[i*w:], c.regs[i*c.words:(i+1)*c.words])
	}
	c.regs, c.words = s, w
}

// roomFor returns the core's capacity for blocks.
func (c *Core) roomFor() core.Room {
	r := c.cfg.Room()
	r.Aligned, r.FirstAlways = true, true
	return r
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
	c.quiet = false
	if k.words > c.words {
		c.growRegisters(k.words)
	}
	c.Take(bi, first, k, k.Work, b, k.Need)
	c.Stats.BlocksLaunched++
	c.BreakSpin()
	for i := range b.Warps() {
		s := first + i
		w := &c.warps[s]
		*w = warp{Warp: c.Warp(bi, i, c.PlacesOf(k, len(k.ops))), ops: k.ops}
		if w.Edges = c.EdgesOf(k, len(k.ops)); w.Edges != nil {
			c.acct.Explain(s, waitStates)
		}
		w.Before = c.Stats.PerWarp[s]
		if c.paths != nil {
			c.paths[s] = core.FreePaths{}
		}
		w.ahead, _ = w.X.(exec.Foreseen)
		bit := uint64(1) << s
		c.alive |= bit
		c.done &^= bit
		c.ready &^= bit
		c.full &^= bit
		c.blocked &^= bit
		c.fence &^= bit
		c.atomic &^= bit
		c.copying &^= bit
		c.imiss &^= bit
		c.astray &^= bit
		c.collide &^= bit
		for x := range c.need {
			c.need[x] &^= bit
		}
		for x := range c.copies[s] {
			c.copies[s][x].reset()
		}
		c.refresh(int32(s))
		w.fetch = max(w.Next, 0)
		c.sched[s%len(c.sched)].join(uint8(s))
		c.Stats.WarpsLaunched++
		c.acct.Begin(s, c.tick, uint8(NoInstruction), w.Next)
	}
	return true
}

// refresh looks up what a warp executes next.
func (c *Core) refresh(s int32) {
	w := &c.warps[s]
	b := &c.Residents.Blocks[w.Block]
	bit := uint64(1) << s
	c.barrier &^= bit
	was := w.State == exec.Ready
	in, _, addr, st := w.X.Next()
	w.State, w.Next = st, none
	c.blocked &^= bit
	c.passed &^= bit
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
		c.look(s)
		return
	}
	c.ready &^= bit
	if was {
		b.Run--
	}
	switch st {
	case exec.Done:
		c.done |= bit
	case exec.AtBarrier:
		c.barrier |= bit
	}
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
	c.Stats.Cycles++
	c.Stats.WarpCycles += uint64(bits.OnesCount64(c.alive))
	if t := c.tick & c.ring; c.quiet && c.ends[t]|c.frees[t] == 0 {
		c.loadStore()
		if c.quiet {
			c.pass()
			if c.env.Issued != nil {
				c.env.Issued()
			}
			c.doze()
			return
		}
		c.moved = true
	} else {
		c.moved = len(c.wb) > 0
		c.writeback()
		c.execute()
	}
	for range c.cfg.RegisterPorts {
		c.col.step(c)
	}
	c.issue()
	if c.env.Issued != nil {
		c.env.Issued()
	}
	for range c.cfg.FetchWidth {
		c.decode()
		c.fetch()
		if c.l1i != nil {
			c.sendMiss(c.l1i.MissHead(), c.l1i)
			c.l1i.Tick()
		}
	}
	c.settle()
	if c.quiet {
		c.doze()
	}
}

// decode fills the buffer of the warp whose instructions have been fetched.
func (c *Core) decode() {
	if !c.fr.valid {
		return
	}
	c.fr.valid = false
	c.moved = true
	if c.log != nil {
		c.front.decode[c.fr.warp] = c.now
	}
	w := &c.warps[c.fr.warp]
	w.ibHead, w.ibHas = 0, 1
	w.ib = [2]int32{none, none}
	w.inPipe++
	c.full |= 1 << c.fr.warp
	n := int32(len(w.K.ops))
	if i := w.fetch; i < n {
		w.ib[0] = i
		second := i + 1
		if w.ahead != nil { // the next one in the trace, wherever it is in the code (Accel-Sim)
			second = w.foreseen(1, n)
		}
		if second < n {
			w.ib[1] = second
			w.ibHas = 3
			w.inPipe++
		}
	}
	if w.State == exec.Ready {
		c.look(c.fr.warp)
	}
}

// foreseen returns the instruction n after the next one of a warp whose path is known,
// end if there is none.
func (w *warp) foreseen(n int, end int32) int32 {
	if addr, ok := w.ahead.Ahead(n); ok {
		return int32(min(addr>>w.K.Shift, uint64(end)))
	}
	return end
}

// look determines what holds back the next instruction in the buffer of a warp that
// can step.
func (c *Core) look(s int32) {
	w := &c.warps[s]
	bit := uint64(1) << s
	c.need[w.set] &^= bit
	c.astray &^= bit
	c.collide &^= bit
	if w.ibHas>>w.ibHead&1 == 0 {
		return
	}
	i := w.ib[w.ibHead]
	if i != w.Next {
		c.astray |= bit
		return
	}
	o := &w.ops[i]
	if w.regs != 0 {
		at := s * int32(c.words)
		var busy, long, short uint64
		for i := range o.test {
			p := &o.test[i]
			r := &c.regs[at+p.Word]
			busy |= r.busy & p.Mask
			long |= r.long & p.Mask
			short |= r.short & p.Mask
		}
		if busy != 0 {
			c.collide |= bit
			c.willLong &^= bit
			c.willShort &^= bit
			if long != 0 {
				c.willLong |= bit
			} else if short != 0 {
				c.willShort |= bit
			}
			return
		}
	}
	w.set = o.set
	c.need[o.set] |= bit
}

// flush empties a warp's instruction buffer.
func (c *Core) flush(s int32) {
	w := &c.warps[s]
	w.inPipe -= int32(bits.OnesCount8(w.ibHas))
	w.ibHas = 0
	bit := uint64(1) << s
	c.full &^= bit
	c.blocked &^= bit
	c.passed &^= bit
	c.moved = true
}

// instBase is the address of instructions in the address space of the memory system
// (GPGPU-Sim).
const instBase = 0xF000_0000

// fetchBytes is the size of an access to the instruction cache.
const fetchBytes = 16

// fetch reads the next instructions of a warp with an empty buffer, and retires the
// finished warps that it passes.
func (c *Core) fetch() {
	if c.fr.valid {
		return
	}
	if c.l1i != nil && c.l1i.Ready() {
		c.moved = true
		r := c.l1i.PopReady()
		c.imiss &^= 1 << r.Warp
		c.fr.valid, c.fr.warp = true, int32(r.Warp)
		c.env.Pool.Put(r)
		return
	}
	want := c.alive &^ c.done &^ c.imiss &^ c.full
	from := c.lastFetch + 1
	if from >= c.cfg.Warps {
		from = 0
	}
	s := nextBit(want, from)
	if c.done != 0 {
		c.retireFrom(from, s)
	}
	if s < 0 {
		return
	}
	c.lastFetch = s
	c.moved = true
	if c.log != nil {
		c.front.fetch[s] = c.now
	}
	if c.l1i == nil {
		c.fr.valid, c.fr.warp = true, int32(s)
		return
	}
	w := &c.warps[s]
	addr := instBase + w.K.Base + uint64(w.fetch)<<w.K.Shift
	line := uint64(c.l1i.Config().Line)
	r := c.env.Pool.Get()
	r.Addr, r.Kind, r.Warp, r.SM, r.Born = addr, mem.InstRead, uint16(s), uint16(c.id), c.now
	r.Size = uint32(min(fetchBytes, line-addr&(line-1)))
	r.Sectors = sectorsOf(addr, r.Size)
	switch c.l1i.Access(c.now, r) {
	case cache.Hit:
		c.fr.valid, c.fr.warp = true, int32(s)
		c.env.Pool.Put(r)
	case cache.Fail:
		c.env.Pool.Put(r)
	default:
		c.imiss |= 1 << s
	}
}

// nextBit returns the first set bit of m at or cyclically after from, -1 if
// there is none.
func nextBit(m uint64, from int) int {
	if m == 0 {
		return -1
	}
	if hi := m >> from << from; hi != 0 {
		return bits.TrailingZeros64(hi)
	}
	return bits.TrailingZeros64(m)
}

// retireFrom retires finished warps: with Compat.RetireInScan those from slot from up
// to slot to (-1: all) in cyclic order, otherwise all.
func (c *Core) retireFrom(from, to int) {
	m := c.done
	if c.cfg.Compat.RetireInScan && to >= 0 {
		below := uint64(1)<<to - 1
		if from <= to {
			m &= below &^ (uint64(1)<<from - 1)
		} else {
			m &= below | ^(uint64(1)<<from - 1)
		}
	}
	hi := m >> from << from
	for _, part := range [2]uint64{hi, m &^ hi} {
		for ; part != 0; part &= part - 1 {
			s := bits.TrailingZeros64(part)
			if w := &c.warps[s]; w.drained() {
				c.retire(s)
			}
		}
	}
}

// drained reports whether nothing of a warp is in flight.
func (w *warp) drained() bool {
	return w.inPipe == 0 && w.stores == 0 && w.regs == 0 && w.atomics == 0 && w.copies == 0
}

// retire frees the slot of a finished warp, and the place of its block if it was the
// block's last warp.
func (c *Core) retire(s int) {
	c.moved = true
	bit := uint64(1) << s
	c.alive &^= bit
	c.done &^= bit
	c.fence &^= bit
	c.sched[s%len(c.sched)].leave(uint8(s))
	c.Stats.WarpLife += c.acct.End(s, c.tick, c.Stats.States[:], c.warps[s].Places)
	k, x, ended := c.Retire(s)
	if !ended {
		return
	}
	c.Stats.BlocksDone++
	if c.env.BlockDone != nil {
		c.env.BlockDone(k, x, 0)
	}
}

// reserve marks the destination registers of an instruction.
func (c *Core) reserve(s int32, o *op, kind depend) {
	c.warps[s].regs += o.nDst
	at := s * int32(c.words)
	for i := range o.dst {
		p := &o.dst[i]
		r := &c.regs[at+p.Word]
		r.busy |= p.Mask
		switch kind {
		case dependLong:
			r.long |= p.Mask
		case dependShort:
			r.short |= p.Mask
		}
	}
}

// release frees the destination registers of an instruction.
func (c *Core) release(f *flight) {
	s, o := int32(f.warp), f.op
	if w := &c.warps[s]; w.Edges != nil && (c.blocked>>s&1 != 0 || c.acct.Waited(s)) && c.held(s, o) {
		c.acct.Ended(s, f.at)
	}
	c.warps[s].regs -= o.nDst
	at := s * int32(c.words)
	for i := range o.dst {
		p := &o.dst[i]
		r := &c.regs[at+p.Word]
		r.busy &^= p.Mask
		r.long &^= p.Mask
		r.short &^= p.Mask
	}
	bit := uint64(1) << s
	c.quiet = false
	c.blocked &^= bit
	if c.collide&bit != 0 && c.ready&bit != 0 {
		c.look(s)
	}
}

// held reports whether the buffered instruction of a warp waits for a register that an
// instruction writes.
func (c *Core) held(s int32, by *op) bool {
	w := &c.warps[s]
	i := w.ib[w.ibHead]
	if i < 0 {
		return false
	}
	at := s * int32(c.words)
	for _, p := range w.ops[i].test {
		busy := c.regs[at+p.Word].busy & p.Mask
		for _, d := range by.dst {
			if d.Word == p.Word && d.Mask&busy != 0 {
				return true
			}
		}
	}
	return false
}

// depend is the kind of instruction that a register waits for.
type depend uint8

const (
	dependFixed depend = iota // a unit of fixed latency
	dependShort               // shared memory, SFU
	dependLong                // a cache
)

// collides reports whether an instruction must wait for a register.
func (c *Core) collides(s int32, o *op) bool {
	if c.warps[s].regs == 0 {
		return false
	}
	at := s * int32(c.words)
	for i := range o.test {
		if p := &o.test[i]; c.regs[at+p.Word].busy&p.Mask != 0 {
			return true
		}
	}
	return false
}

// take returns a free record for an instruction in flight.
func (c *Core) take() int32 {
	if n := len(c.freeF); n > 0 {
		f := c.freeF[n-1]
		c.freeF = c.freeF[:n-1]
		return f
	}
	c.flight = append(c.flight, flight{})
	return int32(len(c.flight) - 1)
}

// leave notes that an instruction has left the pipeline.
func (c *Core) leave(i int32) {
	f := &c.flight[i]
	c.warps[f.warp].inPipe--
	f.piped = false
	c.quiet = false
	if f.out == 0 {
		c.free(i)
	}
}

// free frees the record of an instruction that has left the pipeline and waits for
// nothing.
func (c *Core) free(i int32) {
	f := &c.flight[i]
	c.quiet = false
	if f.copies {
		c.copied(f)
	}
	if c.log != nil {
		c.log.End(i, f.lanes, c.now)
	}
	c.freeF = append(c.freeF, i)
}
