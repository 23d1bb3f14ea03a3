package modern

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// path is the path of an instruction through the memory unit of the SM.
type path uint8

const (
	pathNone   path = iota
	pathShared      // shared memory
	pathConst       // constant cache for loads
	pathMemory      // global and local memory: pending request table and L1D
)

// fence is the scope of a memory barrier.
type fence uint8

const (
	noFence fence = iota
	fenceBlock
	fenceGPU
	fenceSystem
	fenceProxy   // between proxies, on Hopper
	fenceCluster // for the cluster, on Hopper
)

// source is a 32-bit general register that an instruction of fixed latency reads.
type source struct {
	reg   uint8 // its bank is the lowest bit
	slot  uint8 // of the register-file cache
	reuse bool
}

// op is an instruction with its properties on a core of one configuration.
type op struct {
	inst *isa.Inst
	ctl  *isa.Control // nil if scoreboards guard the program
	gone bool         // machine code does not have it: it executes with the instruction before it, in no time
	next int32        // the instruction that follows it in machine code
	line uint32       // its number in machine code
	// guards are the registers of predicates that it sees ahead cycles later than operands, if
	// scoreboards guard the program; only of programs without what is gone.
	guards []uint16

	pipe     Pipe
	late     bool  // variable latency
	branches bool  // conditionally
	calm     bool  // changes only registers, control flow and memory, and Effects report the latter
	alone    bool  // IMAD: the issue port stays busy
	preds    bool  // writes predicates and nothing else
	entry    entry // how its sources reach it
	side     side
	packed   bool   // HMUL2, HFMA2
	queue    queue  // in which its results come, if it is not noQueue
	wants    uint16 // predicates that are operands, a bit each; the uniform ones from bit 8 on
	decides  uint16 // those of them that decide in which lanes it executes
	sets     uint16 // those that it writes
	uses     uint64 // registers that it reads, several of them to a bit
	clobbers uint64 // those that it writes
	ahead    uint16 // cycles by which operands see its predicates before guards do
	least    uint16 // latency for readers, if it is more than the unit's
	halves   bool   // IMAD.WIDE and IMAD.HI, whose halves are ready, and needed, one after the other
	high     uint16 // of these: the upper half of the addend, if nothing else reads it
	farthest uint16 // after how many cycles all instructions can read its result
	long     bool   // waits for it count as long: it goes through a cache
	either   bool   // may use the Int pipe as well
	window   int    // cycles in which it reads its sources
	interval uint16
	latency  uint16 // as Timing.Latency
	stall    uint8  // cycles to the warp's next issue

	sources []source
	reads   [2]uint8 // number of distinct general registers read, by bank
	writes  uint8    // banks written
	regs    uint8    // general registers written

	// dst and src are the registers written and read, including the guard, in a
	// numbering of all files.
	dst, src []uint16
	held     []uint16       // general registers read; those of other files are read at issue
	test     []core.RegMask // dst and src
	outs     []core.RegMask // dst

	path      path
	load      bool   // waits for a reply
	sure      bool   // a load that hits the L1 whatever it holds (Ideal.Line)
	elem      uint8  // bytes per lane
	leaves    bool   // accesses memory when it leaves the address unit
	read      uint16 // if not leaves: cycles from the address unit to the access
	war       uint16 // cycles from the address unit, or if leaves from leaving it, until the read counter is decremented
	raw       uint16 // cycles from leaving the address unit to the issue of a consumer, if it hits
	lines     uint8  // accesses that raw allows for
	fence     fence
	group     isa.AsyncRole
	sequence  sequence
	kind      special
	turns     bool   // it takes turns with other SMs
	team      bool   // of a launch with clusters
	orders    bool   // orders memory for the cluster, in such a launch
	busy      uint16 // a product: cycles in the tensor units
	tail      uint16 // then to its results
	most      uint8  // products accepted before one has left the tensor units
	leave     int
	constant  uint64 // line of the L0FL that it needs
	hasConst  bool
	fullQueue throttle
}

// Kernel is a launch made ready for the cores of one GPU. It is shared and
// never changes while they run it.
type Kernel struct {
	core.Fit

	ops   []op
	lines int // instructions that are not gone
	words int // 64-bit words of a warp's register mask
	total int // registers in one numbering
	// guarded is after how many cycles a guard sees a predicate, sooner how much less that
	// is than the latency of the comparison.
	guarded, sooner uint16
	matrix          uint16 // after how many cycles at least matrix products see results of others
	first           [files + 1]uint32

	hopper  bool // the core has what Hopper added
	early   bool // operands see predicates before guards do although scoreboards guard the program
	cluster int  // blocks of a cluster
	arrives bool // it has arrivals when copies have ended (cp.async.mbarrier.arrive)
	depends bool // a launch before it runs, for which griddepcontrol.wait waits
}

// NewPlaces returns empty places for its instructions.
func (k *Kernel) NewPlaces() core.Places { return make(core.Places, len(k.ops)) }

// NewKernel prepares a launch for cores of configuration cfg. The default size of an
// instruction is 16 bytes in programs with control bits and 8 in others (PTX); in the
// caches it is always 16. The error is an *exec.LaunchError if none of its blocks fits
// on an SM.
func NewKernel(cfg *Config, w exec.Work, o core.KernelOptions) (*Kernel, error) {
	code := w.Code()
	have := 0
	for _, in := range code {
		if in.Control != nil {
			have++
		}
	}
	all := have == len(code) && have > 0
	switch {
	case have > 0 && !all:
		return nil, core.Refuse(w, "%d of its %d instructions have control bits; want all or none", have, len(code))
	case cfg.Dependences == ControlBits && !all:
		return nil, core.Refuse(w, "its instructions have no control bits; modern.dependences = \"hybrid\" guards such programs with scoreboards")
	}
	if o.InstBytes == 0 {
		o.InstBytes = 8
		if all {
			o.InstBytes = 16
		}
	}
	fit, err := core.NewFit(cfg, w, o)
	if err != nil {
		return nil, err
	}
	k := &Kernel{Fit: fit, hopper: cfg.Hopper.Enabled, cluster: max(1, w.Traits().Cluster)}
	k.ControlBits = all && cfg.Dependences != Scoreboard && !(cfg.Dependences == Hybrid && cfg.unguarded(w))
	if err := k.decode(cfg); err != nil {
		return nil, core.Refuse(w, "%v", err)
	}
	return k, nil
}

// unguarded reports whether code for sm_80, where binary64 has a fixed latency, guards such results
// by stall counters alone on a core whose sub-cores share one unit for them. A chip of sm_86 runs
// such code rightly; how it guards the results is not published, so that scoreboards do it.
func (c *Config) unguarded(w exec.Work) bool {
	if w.Traits().Arch != 80 || c.Time[isa.ClassFP64].Pipe != FP64 {
		return false
	}
	for _, in := range w.Code() {
		if class := classOf(in); (class == isa.ClassFP64 || class == isa.ClassDMMA) && len(in.Dsts) > 0 && in.Control.Write == isa.NoCounter {
			return true
		}
	}
	return false
}

// files is the number of register files of package isa that hold registers.
const files = int(isa.RegUPred)

// maxRegisters is the number of registers that the numbering can represent.
const maxRegisters = 1 << 16

// constBase is the address of the constant banks in the address space of the memory
// system, 64 KiB each (our choice: away from allocations and code).
const constBase = 0xE000_0000

// constAddress returns the address of a constant.
func constAddress(bank uint8, offset uint64) uint64 {
	return constBase + uint64(bank)<<16 + offset&0xffff
}

// decode fills the table of instructions.
func (k *Kernel) decode(cfg *Config) error {
	code := k.Work.Code()
	var size [files + 1]uint32
	for _, in := range code {
		for _, list := range [2][]isa.Reg{in.Dsts, in.Srcs} {
			for _, r := range list {
				if int(r.File) <= files {
					size[r.File] = max(size[r.File], r.Index+uint32(max(r.Count, 1)))
				}
			}
		}
	}
	n := uint32(0)
	for f := int(isa.RegGPR); f <= files; f++ {
		k.first[f] = n
		n += size[f]
	}
	if n > maxRegisters {
		return fmt.Errorf("uses %d registers; the core has at most %d", n, maxRegisters)
	}
	k.total, k.words = int(n), max(1, int(n+63)/64)
	k.matrix = 7
	if k.Work.Traits().Arch == 75 {
		k.sooner, k.matrix = 1, 6 // 12 cycles (ptxas), 13 since sm_80; 6 (Mesa), 7 since sm_80 (ptxas)
	}
	k.guarded = uint16(cfg.Time[isa.ClassSetp].Latency) - k.sooner
	k.ops = make([]op, len(code))
	short := cfg.assembled(k.Work, code)
	k.early = short != nil
	hits := cfg.Ideal.Hits(k.Work)
	for i, in := range code {
		o := &k.ops[i]
		o.inst, o.calm, o.branches = in, core.Calm(in.Op), core.Branches(in)
		if k.ControlBits {
			o.ctl = in.Control
			if c := in.Control; c.Stall > 15 || c.Wait >= 1<<isa.Counters || !counter(c.Write) || !counter(c.Read) {
				return fmt.Errorf("instruction %d (%s, line %d) has invalid control bits; want stall 0..15 and counters 0..5 or none", i, in.Op, in.Pos.Line)
			}
			n := most(in.Control)
			if d := in.Depbar; d != nil && d.SB < isa.Counters {
				n = max(n, int(d.SB))
			}
			if n >= cfg.Counters {
				return fmt.Errorf("instruction %d (%s, line %d) uses dependence counter %d; the machine has %d (modern.counters); want code for it: --code compiled makes it of PTX", i, in.Op, in.Pos.Line, n, cfg.Counters)
			}
		}
		o.stall = cfg.stallOf(o.ctl)
		dsts, srcs := in.Dsts, in.Srcs
		if short != nil {
			o.gone, dsts, srcs = short[i].Gone, short[i].Dsts, short[i].Srcs
		}
		o.dst = k.number(nil, dsts)
		o.preds = len(in.Dsts) > 0
		for _, r := range in.Dsts {
			o.preds = o.preds && (r.File == isa.RegPred || r.File == isa.RegUPred)
		}
		o.src = k.number(nil, srcs)
		for _, n := range o.src {
			if uint32(n) < k.first[isa.RegPred] {
				o.held = append(o.held, n)
			}
		}
		o.test, o.outs = core.RegMasks(core.RegMasks(nil, o.src), o.dst), core.RegMasks(nil, o.dst)
		o.classify(cfg)
		k.arrives = k.arrives || o.kind == copyArrive
		// The blocks of a cluster see each other's shared memory and barriers.
		o.team = k.cluster > 1
		o.turns = !in.Private || o.team
		o.orders = o.team && o.ordersTeam()
		o.interval = uint16(core.Half(cfg.doubled(o.pipe), int(o.interval)))
		o.sure = hits != nil && in.Load && !in.Store && !in.Atomic && hits(i)
		k.predicates(o)
		o.enters()
		if o.preds && o.pipe == Pred {
			o.ahead = min(uint16(cfg.GuardExtra), o.latency-1)
		}
		if short != nil {
			o.guarded(k)
		}
		o.operands(cfg, dsts, srcs)
		k.reach(o)
	}
	k.follow()
	return nil
}

// assembled returns what machine code has of a program that scoreboards guard, nil if that is not asked for.
func (c *Config) assembled(w exec.Work, code []*isa.Inst) []exec.Assembled {
	f := w.Traits().Assembled
	if !c.Assembled || f == nil {
		return nil
	}
	if list := f(); len(list) == len(code) {
		return list
	}
	return nil
}

// guarded notes which of its sources are guards, or predicates of instructions of the misc pipe, which sees
// them as late. The guard of an instruction of PTX is the first predicate that it reads.
func (o *op) guarded(k *Kernel) {
	for _, r := range o.inst.Srcs {
		if r.File == isa.RegPred && (o.inst.Guarded && len(o.guards) == 0 || o.pipe == Misc) {
			o.guards = k.number(o.guards, []isa.Reg{r})
		}
	}
}

// follow numbers the instructions that machine code has.
func (k *Kernel) follow() {
	next := int32(len(k.ops))
	for i := len(k.ops) - 1; i >= 0; i-- {
		o := &k.ops[i]
		if o.next = next; !o.gone {
			next = int32(i)
			k.lines++
		}
	}
	line := uint32(0)
	for i := range k.ops {
		k.ops[i].line = line
		if !k.ops[i].gone {
			line++
		}
	}
}

// predicates sorts the predicates that an instruction uses, and determines its bits of
// registers.
func (k *Kernel) predicates(o *op) {
	for _, r := range o.inst.Dsts {
		o.sets |= predicateBit(r)
	}
	for _, r := range o.inst.Srcs {
		// VOTE and BAR get theirs as late as guards: NVIDIA's compiler leaves 13 cycles too.
		if o.decided(r) || o.pipe == Misc {
			o.decides |= predicateBit(r)
		} else {
			o.wants |= predicateBit(r)
		}
	}
	o.high = noRegister
	if o.halves = strings.HasPrefix(o.inst.Op, "IMAD.WIDE") || strings.HasPrefix(o.inst.Op, "IMAD.HI"); o.halves {
		o.high = k.upper(o)
	}
	for _, n := range o.dst {
		o.clobbers |= 1 << (n % 64)
	}
	for _, n := range o.src {
		o.uses |= 1 << (n % 64)
	}
}

// noRegister is the number of no register.
const noRegister = ^uint16(0)

// upper returns the number of the upper half of an addend of 64 bits.
func (k *Kernel) upper(o *op) uint16 {
	n := noRegister
	for _, r := range o.inst.Srcs {
		if r.File == isa.RegGPR && r.Count == 2 {
			n = uint16(k.first[isa.RegGPR] + r.Index + 1)
		}
	}
	for _, r := range o.inst.Srcs {
		if r.File == isa.RegGPR && r.Count != 2 && uint16(k.first[isa.RegGPR]+r.Index) == n {
			return noRegister
		}
	}
	return n
}

// entry is how an instruction gets its sources.
type entry uint8

const (
	coupled   entry = iota // it has a fixed latency
	decoupled              // it waits in a queue
	address                // it waits in a queue for an address unit
)

// queue is a queue whose results come in order.
type queue uint8

const (
	noQueue      queue = iota
	sfuQueue           // MUFU, F2I, POPC
	sharedQueue        // LDS, LDSM, SHFL, MOVM
	miscQueue          // S2UR, REDUX, B2R
	textureQueue       // TEX, SULD: of each warp; see Core.inTurn
	queues
)

// enters determines an instruction's entry and the queue of its results.
func (o *op) enters() {
	switch {
	case !o.late:
		o.entry = coupled
	case o.pipe == Memory && o.path != pathConst && o.inst.Space != isa.Texture && !strings.HasPrefix(o.inst.Op, "MATCH"):
		o.entry = address
	default:
		o.entry = decoupled
	}
	switch {
	case !o.late:
	case classOf(o.inst) == isa.ClassTexture && len(o.dst) > 0:
		o.queue = textureQueue
	case o.pipe == SFU:
		o.queue = sfuQueue
	case o.pipe == MiscQueue && len(o.dst) > 0:
		o.queue = miscQueue
	case o.path == pathShared, o.pipe == Memory && o.path == pathNone && len(o.held) > 0: // not S2R
		o.queue = sharedQueue
	}
	switch classOf(o.inst) {
	case isa.ClassInt, isa.ClassSetp, isa.ClassPred:
		o.side = alu
	case isa.ClassIMAD:
		o.side = fma
	case isa.ClassFP32:
		o.side = fma
		if selects(o.inst) {
			o.side = alu
		}
	case isa.ClassHalf:
		o.side = half
		o.packed = o.inst.Kind == isa.KindMul || o.inst.Kind == isa.KindMad
	case isa.ClassTensor:
		o.side = matrix
	}
}

// side is where in the datapath an instruction of fixed latency executes: its result reaches the
// others of its side first (NVIDIA's compiler, and Mesa's tables).
type side uint8

const (
	elsewhere side = iota
	alu
	fma
	half
	matrix
	sides
)

// across returns how many cycles later a result reaches another side.
func (o *op) across(reader *op) uint16 {
	if (o.side == alu || o.side == fma) && (reader.side == alu || reader.side == fma || reader.side == half) && o.side != reader.side {
		return 1
	}
	return 0
}

// need returns the number of cycles after the issue of an instruction of fixed latency from
// which another one can issue that reads register n of its result.
//
// What differs from the latency are distances that NVIDIA's compiler keeps in 11 million
// instructions for sm_86 and sm_89 (bench/ggml), the least of each pair of classes; those of
// IMAD.WIDE and of branches on uniform predicates are kept in code for sm_120, and Mesa's
// compiler knows them for sm_80, too.
func (k *Kernel) need(o, reader *op, n uint16) uint16 {
	bit := k.predicate(n)
	guard := reader.decides&bit != 0
	uniform := o.pipe == Uniform && classOf(o.inst) != isa.ClassUniformMove
	switch {
	case reader.ctl == nil:
		return o.latency
	case uniform:
		return o.latency + reader.uniformly(guard)
	case o.pipe == Uniform && bit != 0 && !guard: // 1 after VOTEU: Mesa's tables, MAGMA's code
		return o.latency - 1
	case o.pipe == Uniform:
		return o.latency
	case guard && o.pipe == Pred:
		return o.latency - k.sooner
	case guard: // of carries, too
		return max(o.latency, k.guarded)
	}
	d := max(o.latency, o.least)
	switch {
	case bit != 0:
		return d - o.ahead + o.across(reader)
	case reader.entry == decoupled, reader.pipe == Branch: // 4 after IADD3, HADD2; 22 after HMMA, which takes 24
		return min(d, max(4, d-2))
	case reader.entry == address: // 5 after IADD3, HADD2; 23 after HMMA
		return min(d+1, max(5, d-1))
	case o.packed && reader.packed: // 4 between HFMA2 and HFMA2, 5 to all others
		return d - 1
	case o.halves && len(o.dst) > 1 && n == o.dst[0] && !reader.halves || reader.halves && n == reader.high:
		if reader.pipe == FP32 && o.pipe == FP32 {
			return d - 2
		}
		return d - 1 // 3 after IADD3 and IMAD.WIDE
	case reader.side == matrix && o.side != matrix && o.side != elsewhere:
		return max(d, k.matrix)
	}
	return d + o.across(reader) // 4 after IADD3, 5 for FFMA; 4 after FFMA, 5 for IADD3
}

// uniformly returns how many cycles later than the uniform datapath an instruction sees a
// result of it.
func (o *op) uniformly(guard bool) uint16 {
	switch {
	case guard && o.pipe == Branch, o.entry != coupled: // 9 after UIADD3
		return 5
	case guard: // 11 after UISETP
		return 7
	case o.pipe != Uniform: // 6 after UIADD3
		return 2
	}
	return 0
}

// reach determines after how many cycles all instructions can read an instruction's result.
func (k *Kernel) reach(o *op) {
	o.farthest = o.latency
	if o.ctl == nil || o.late {
		return
	}
	if o.pipe == Misc {
		o.least = 4 // VOTE
	}
	for _, n := range o.dst {
		for e := coupled; e <= address; e++ {
			for s := range sides {
				for _, decides := range []uint16{0, ^uint16(0)} {
					reader := op{ctl: o.ctl, entry: e, side: s, decides: decides, high: noRegister}
					o.farthest = max(o.farthest, k.need(o, &reader, n))
				}
			}
		}
	}
}

// touches reports whether an instruction may read what this one writes.
func (o *op) touches(reader *op) bool { return o.clobbers&reader.uses != 0 }

// overwrites reports whether an instruction writes what this one writes.
func (o *op) overwrites(writer *op) bool {
	if o.clobbers&writer.clobbers == 0 {
		return false
	}
	for _, n := range o.dst {
		for _, m := range writer.dst {
			if n == m {
				return true
			}
		}
	}
	return false
}

// predicateBit is the bit of a predicate in a set of them, 0 for other registers. Programs with
// control bits have seven of either kind.
func predicateBit(r isa.Reg) uint16 {
	switch {
	case r.Index >= 8:
	case r.File == isa.RegPred:
		return 1 << r.Index
	case r.File == isa.RegUPred:
		return 1 << (8 + r.Index)
	}
	return 0
}

// most is the highest counter that control bits name, -1 if they name none.
func most(c *isa.Control) int {
	n := bits.Len8(c.Wait) - 1
	for _, k := range []uint8{c.Write, c.Read} {
		if k != isa.NoCounter {
			n = max(n, int(k))
		}
	}
	return n
}

// counter reports whether a field of control bits names a counter, or none.
func counter(n uint8) bool { return n < isa.Counters || n == isa.NoCounter }

// predicate is the bit of the predicate with a number, as predicateBit.
func (k *Kernel) predicate(n uint16) uint16 {
	switch r := uint32(n); {
	case r >= k.first[isa.RegPred] && r < k.first[isa.RegUGPR]:
		return predicateBit(isa.Reg{File: isa.RegPred, Index: r - k.first[isa.RegPred]})
	case r >= k.first[isa.RegUPred]:
		return predicateBit(isa.Reg{File: isa.RegUPred, Index: r - k.first[isa.RegUPred]})
	}
	return 0
}

// number appends the numbers of registers, without duplicates.
func (k *Kernel) number(to []uint16, list []isa.Reg) []uint16 {
	for _, r := range list {
		if r.File == isa.NoReg || int(r.File) > files {
			continue
		}
	next:
		for i := range uint32(max(r.Count, 1)) {
			n := uint16(k.first[r.File] + r.Index + i)
			for _, x := range to {
				if x == n {
					continue next
				}
			}
			to = append(to, n)
		}
	}
	return to
}

// stallOf returns the cycles from an instruction's issue to the next issue of its warp.
func (c *Config) stallOf(ctl *isa.Control) uint8 {
	switch {
	case ctl == nil:
		return 1
	case ctl.Stall == 0 && ctl.Yield:
		return uint8(c.ZeroStall)
	case ctl.Stall > 11 && !ctl.Yield:
		return uint8(c.LongStall)
	case ctl.Yield:
		return max(ctl.Stall, 2)
	}
	return max(ctl.Stall, 1)
}

// operands fills in an instruction's use of the register file.
func (o *op) operands(cfg *Config, dsts, srcs []isa.Reg) {
	in := o.inst
	slot := uint8(0)
	o.window = cfg.Window
	if o.kind == warpProduct {
		return // it has paths of its own to the registers
	}
	for _, r := range srcs {
		if r.File != isa.RegGPR {
			continue
		}
		reuse := in.Control != nil && in.Control.Reuse>>slot&1 != 0
		n := max(r.Count, 1)
		if n >= 4 && o.pipe == Tensor {
			o.window = cfg.WideWindow
		}
		for j := range n {
			reg := uint8(r.Index) + j
			seen := false
			for _, s := range o.sources {
				seen = seen || s.reg == reg
			}
			if !seen {
				o.reads[reg&1]++
			}
			o.sources = append(o.sources, source{reg, slot, reuse})
		}
		slot++
	}
	if n := int(max(o.reads[0], o.reads[1])); cfg.Ports > 0 {
		// The window is at least as long as the reads need: PTX names registers one by
		// one, and some of its instructions have more of them than in SASS. (60 is more
		// than any needs.)
		o.window = min(max(o.window, (n+cfg.Ports-1)/cfg.Ports), 60)
	}
	for _, r := range dsts {
		if r.File == isa.RegGPR {
			for j := range max(r.Count, 1) {
				o.writes |= 1 << ((r.Index + uint32(j)) & 1)
				o.regs++
			}
		}
	}
}

// slots is the number of operands that the register-file cache distinguishes
// ([HW]: 3).
const slots = 3

// classOf returns the class of an instruction; for PTX instructions, which have none,
// it is derived.
func classOf(in *isa.Inst) isa.Class {
	if in.Class != isa.ClassNone {
		return in.Class
	}
	switch {
	case in.Kind == isa.KindFence:
		return isa.ClassFence
	case in.Load || in.Store:
		switch {
		case in.Space == isa.Texture || in.Space == isa.Surface:
			return isa.ClassTexture
		case in.Atomic:
			return isa.ClassAtomic
		case in.Load && in.Store:
			return isa.ClassCopy
		case in.Load && (in.Space == isa.Const || in.Space == isa.Param):
			return isa.ClassConstant
		case in.Load:
			return isa.ClassLoad
		}
		return isa.ClassStore
	case in.Kind == isa.KindShfl:
		return isa.ClassMio
	case in.Barrier || in.Unit == isa.UnitBar || in.Unit == isa.UnitNone:
		return isa.ClassMisc
	case in.Unit == isa.UnitBranch || in.Flow != isa.FlowNext:
		return isa.ClassBranch
	case in.Unit == isa.UnitTensor:
		return isa.ClassTensor
	case in.Unit == isa.UnitSFU || in.Kind == isa.KindDiv:
		return isa.ClassSFU
	case len(in.Dsts) > 0 && in.Dsts[0].File == isa.RegPred:
		return isa.ClassSetp
	case in.Data == isa.DataDouble && in.Kind != isa.KindOther, in.Unit == isa.UnitFP64:
		return isa.ClassFP64
	case in.Data == isa.DataHalf:
		return isa.ClassHalf
	case in.Data == isa.DataFloat && in.Kind != isa.KindOther, in.Unit == isa.UnitFP32:
		return isa.ClassFP32
	case in.Kind == isa.KindMul || in.Kind == isa.KindMad || in.Kind == isa.KindMul24 || in.Kind == isa.KindMad24:
		return isa.ClassIMAD
	}
	return isa.ClassInt
}

// selects reports whether an instruction on binary32 only compares and chooses: it executes
// beside the integers, at half the rate of products on sm_86 and later (throughput of compare,
// minimum and maximum in NVIDIA's CUDA programming guide: 64 of 128; Mesa's table of latencies).
func selects(in *isa.Inst) bool {
	return in.Kind == isa.KindMax || strings.HasPrefix(in.Op, "FSEL") || strings.HasPrefix(in.Op, "FSET")
}

// classify determines where an instruction executes and how long it takes.
func (o *op) classify(cfg *Config) {
	in := o.inst
	class := classOf(in)
	t := cfg.Time[class]
	o.copying()
	o.pipe, o.interval, o.latency = t.Pipe, uint16(t.Interval), uint16(t.Latency)
	switch class {
	case isa.ClassTensor:
		o.tensor(cfg)
	case isa.ClassIMAD:
		o.alone = true
	case isa.ClassFP32:
		if o.either = cfg.FP32OnInt; selects(in) {
			o.pipe, o.either = cfg.Time[isa.ClassInt].Pipe, false
		}
	case isa.ClassSFU:
		if in.Kind == isa.KindDiv {
			o.latency = uint16([...]int{isa.DataInt: cfg.DivideInt, isa.DataHalf: cfg.DivideF32, isa.DataFloat: cfg.DivideF32, isa.DataDouble: cfg.DivideF64}[in.Data])
		}
	case isa.ClassFence:
		o.pipe, o.interval, o.latency = Misc, 1, 2
		o.fence = fenceOf(in.Op)
	case isa.ClassMio, isa.ClassTexture, isa.ClassLoad, isa.ClassStore, isa.ClassAtomic, isa.ClassConstant, isa.ClassCopy:
		o.memory(cfg, class)
	}
	if cfg.Hopper.Enabled {
		o.special(cfg)
	}
	if o.pipe != Memory && o.interval == 0 {
		o.pipe, o.interval, o.latency = Misc, 1, 2
	}
	if in.Clock {
		// It does not wait for another instruction's pipe: after an FFMA that took
		// the Int pipe it issues in the next cycle ([HW], Listing 1).
		o.pipe, o.interval = Misc, 1
	}
	o.late = o.pipe > Tensor
	o.fullQueue = throttleMath
	if o.pipe == Memory {
		o.fullQueue = throttleMIO
		if o.path == pathMemory {
			o.fullQueue = throttleLG
		}
	}
	if r := in.Const; r != nil && !o.late {
		o.hasConst, o.constant = true, constAddress(r.Bank, uint64(r.Offset))/uint64(cfg.L0FL.Line)
	}
}

// tensor computes the timing of a matrix instruction from M·N·K·bits/2048, halved if sparse
// ([SIM]). The interval counts the bits of the accumulators; with binary32 it is half of that.
// The latency counts those of the elements.
func (o *op) tensor(cfg *Config) {
	o.pipe = Tensor
	m := o.inst.Tensor
	if m == nil { // unknown for PTX: as HMMA.16816.F32
		m = &isa.Tensor{M: 16, N: 8, K: 16, Elem: 16, Bits: 32, F32: true}
	}
	cycles := func(bits uint8) int {
		n := int(m.M) * int(m.N) * int(m.K) * max(1, int(bits)) / 2048
		if m.Sparse {
			n /= 2
		}
		return max(n, 2)
	}
	n := cycles(m.Bits)
	ii, lat := n/2*cfg.TensorHalves, cycles(m.Elem)+cfg.TensorF16
	if m.F32 {
		ii, lat = n/2, cycles(m.Elem)+cfg.TensorF32
		if m.M == 16 && m.N == 8 && (m.K == 16 || m.K == 8) {
			ii += cfg.TensorExtra
		}
	}
	o.interval, o.latency = uint16(min(ii, 256)), uint16(min(lat, 512))
}

// fenceOf returns the scope of a barrier from its opcode: membar.cta,
// fence.acq_rel.gpu, MEMBAR.SC.SYS.
func fenceOf(name string) fence {
	f := fenceGPU
	for _, m := range strings.Split(strings.ToLower(name), ".") {
		switch m {
		case "cta", "block":
			f = fenceBlock
		case "sys":
			f = fenceSystem
		}
	}
	return f
}

// memory fills in an instruction's path through the memory pipeline.
func (o *op) memory(cfg *Config, class isa.Class) {
	in := o.inst
	o.pipe = Memory
	o.elem = in.Width
	if o.elem == 0 {
		o.elem = max(in.Elem, 1)
	}
	size := 0
	switch {
	case o.elem > 8:
		size = 2
	case o.elem > 4:
		size = 1
	}
	kind := RegularAddress
	if in.Uniform {
		kind = UniformAddress
	}
	o.load = in.Load || in.Atomic
	o.lines = 1 << size
	shared := in.Space == isa.Shared
	a := o.access(cfg, class, kind, size, shared)
	switch {
	case o.path == pathConst:
	case shared && class != isa.ClassCopy:
		o.path = pathShared
	case in.Load || in.Store:
		o.path = pathMemory
	}
	o.long = o.path == pathMemory
	// Table 2 counts one cycle more than from issue to issue.
	less := 1
	if cfg.AsPrinted {
		less = 0
	}
	if a.RAW > 0 || o.load || len(o.dst) > 0 {
		o.raw = uint16(max(1, a.RAW-less-cfg.AddressStart-cfg.AddressCycles))
	}
	if left := a.WAR - 1 - cfg.AddressStart - cfg.AddressCycles; o.leaves && left >= 0 {
		o.war = uint16(left + 1 - less)
		return
	}
	o.leaves = false
	o.war = uint16(max(0, a.WAR-less-cfg.AddressStart))
	o.read = uint16(min(max(0, a.WAR-1-cfg.AddressStart), cfg.AddressCycles))
}

// access returns the latencies of an access of a kind and a size (0: up to 4 bytes, 1: 8, 2: 16)
// and sets its path.
func (o *op) access(cfg *Config, class isa.Class, kind int, size int, shared bool) (a Access) {
	in := o.inst
	switch class {
	case isa.ClassLoad:
		a = cfg.Load.of(kind, size)
		if shared {
			a = cfg.SharedLoad.of(kind, size)
			if n := len(in.Dsts); strings.HasPrefix(in.Op, "LDSM") && n > 0 && in.Dsts[0].Count > 1 {
				a.RAW += 2 // LDSM of several matrices [SIM]
			}
		}
		if in.Space == isa.Const || in.Space == isa.Param {
			a, o.path = cfg.Constant.of(RegularAddress), pathConst
		}
	case isa.ClassConstant:
		kind = 1
		if len(in.Srcs) == 0 || in.Uniform || len(in.Srcs) == 1 && in.Guarded {
			kind = 0
		}
		a, o.path = cfg.Constant.of(kind), pathConst
		o.lines = 1
	case isa.ClassStore:
		a, o.leaves = cfg.Store.of(kind, size), true
		if shared {
			a = cfg.SharedStore.of(kind, size)
		}
	case isa.ClassAtomic:
		// As a store and a load combined [INF].
		a, o.leaves = cfg.Store.of(kind, size), true
		a.RAW = cfg.Load.of(kind, size).RAW
		if shared {
			a = cfg.SharedStore.of(kind, size)
			a.RAW = cfg.SharedLoad.of(kind, size).RAW
		}
		o.lines = 1
	case isa.ClassCopy:
		a, o.leaves = cfg.Copy.of(kind, size), true
	case isa.ClassTexture:
		a = cfg.Load.of(kind, size)
		a.RAW = cfg.AddressStart + cfg.AddressCycles + cfg.Texture
	default:
		a = cfg.Mio
	}
	return a
}

// copying decodes the instructions of asynchronous copies; all kinds share one sequence
// of groups. A DEPBAR waits for a counter, which closing a group increments.
func (o *op) copying() {
	if a := o.inst.Async; a.Does != isa.AsyncWait || o.inst.Depbar == nil {
		o.group, o.leave = a.Does, int(a.Leave)
	}
}
