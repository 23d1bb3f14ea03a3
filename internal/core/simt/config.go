package simt

import (
	"errors"
	"fmt"

	"github.com/heddle-sim/heddle/internal/mem/cache"
)

// Set names a set of issue registers, and the kind of unit behind it.
type Set uint8

// The sets, in the order in which their units are simulated.
const (
	SP Set = iota
	DP
	Int
	SFU
	Tensor
	Spec1 // what traces call branches
	Spec2 // textures
	Spec3 // matrix products since Turing
	Spec4 // the uniform datapath
	Spec5
	Spec6
	Spec7
	Spec8
	Mem
	Sets // how many there are
)

var setNames = [Sets]string{"sp", "dp", "int", "sfu", "tensor", "spec1", "spec2", "spec3", "spec4", "spec5", "spec6", "spec7", "spec8", "mem"}

// String returns the name as GPGPU-Sim's options have it.
func (s Set) String() string { return setNames[s] }

// Policy is the order in which a scheduler tries its warps.
type Policy uint8

// The policies.
const (
	LRR      Policy = iota // loose round robin behind the warp that issued last
	GTO                    // the warp that issued last, then by age
	Oldest                 // by age
	RRR                    // strict round robin: one warp at a time
	TwoLevel               // an active list in round robin, and a pending queue
	Limiting               // as GTO, over the oldest PolicyWarps warps only
	policies
)

var policyNames = [policies]string{"lrr", "gto", "old", "rrr", "two_level_active", "warp_limiting"}

// String returns the name as GPGPU-Sim's option has it.
func (p Policy) String() string { return policyNames[p] }

// Timing is how long a kind of instruction takes: cycles from a unit's first
// stage to its last, and cycles until the unit takes the next one.
type Timing struct{ Latency, Initiation int }

// Timings are those of the five kinds that options tell apart, and shuffles
// (integers only).
type Timings struct{ Add, Max, Mul, Mad, Div, Shfl Timing }

// TraceTimes are the timings of the classes that traces have
// (-trace_opcode_latency_initiation_*).
type TraceTimes struct {
	Int, SP, DP, SFU, Tensor Timing
	Spec                     [8]Timing
}

// Collectors are the operand collector's sizes for one set: collector units,
// input ports and dispatch units.
type Collectors struct{ Units, In, Out int }

// Config is a core's immutable settings. The comment of a field names the
// GPGPU-Sim option that it is; sources of shipped values are in the GPU files.
type Config struct {
	// SMs is the number of SMs of the GPU, which the layout of local memory
	// depends on.
	SMs int
	// Warps is the number of warp slots, at most 64 (-gpgpu_shader_core_pipeline / 32).
	Warps int
	// Blocks is the number of resident blocks (-gpgpu_shader_cta).
	Blocks int
	// Registers is the number of 32-bit registers (-gpgpu_shader_registers).
	Registers int
	// Shared is the shared memory in bytes (-gpgpu_shmem_size).
	Shared int
	// RegisterGranule is what registers per thread are rounded up to (GPGPU-Sim:
	// 4).
	RegisterGranule int
	// WarpGranule rounds down the number of warps whose registers an SM holds,
	// to one that its parts share evenly; 0 and 1 do not.
	WarpGranule int
	// SharedGranule is what a block's shared memory is rounded up to in bytes,
	// after SharedReserved bytes that the system takes of every block; 0 and 1
	// do not round.
	SharedGranule, SharedReserved int
	// Barriers is how many named barriers a block can have, 0 for no limit here
	// (-gpgpu_num_cta_barriers).
	Barriers int
	// OneBlockAtLeast lets a block in that the limits forbid
	// (-gpgpu_ignore_resources_limitation).
	OneBlockAtLeast bool

	// Schedulers is the number of warp schedulers (-gpgpu_num_sched_per_core).
	Schedulers int
	// Policy is their order (-gpgpu_scheduler).
	Policy Policy
	// PolicyWarps is the size of TwoLevel's active list, or Limiting's number.
	PolicyWarps int
	// MaxIssue is how many instructions of one warp a scheduler issues in a
	// cycle (-gpgpu_max_insn_issue_per_warp).
	MaxIssue int
	// DualDiffer sends the second of a pair to another kind of unit
	// (-gpgpu_dual_issue_diff_exec_units).
	DualDiffer bool
	// SubCore partitions registers, collectors and units among the schedulers
	// (-gpgpu_sub_core_model).
	SubCore bool
	// FetchWidth is how many times a cycle decodes and fetches
	// (-gpgpu_inst_fetch_throughput).
	FetchWidth int

	// IssueWidth and ExecWidth are the registers between issue and collector,
	// and between collector and units (-gpgpu_pipeline_widths ID_OC, OC_EX).
	IssueWidth, ExecWidth [Sets]int
	// WriteWidth is the registers and result buses of write-back (EX_WB).
	WriteWidth int
	// Units is the number of units of each kind; Mem is 1. Without Int units
	// the SP units do their work, without DP units the SFUs
	// (-gpgpu_num_*_units).
	Units [Sets]int
	// IntTime, FloatTime and DoubleTime are latencies and initiation intervals
	// in cycles (-ptx_opcode_latency_*, -ptx_opcode_initiation_*).
	IntTime, FloatTime, DoubleTime Timings
	// SFUTime and TensorTime are those of approximations and matrix products.
	SFUTime, TensorTime Timing
	// OtherTime is that of moves, conversions, comparisons, logic and control
	// (GPGPU-Sim: 1, 1).
	OtherTime Timing
	// TraceTime are the timings of instructions that come from a trace. Those of
	// a specialised unit that the core has not take an integer unit.
	TraceTime TraceTimes

	// Generic are the collector units that serve every set
	// (-gpgpu_operand_collector_num_units_gen and its ports).
	Generic Collectors
	// Special are those of each set; all zero unless
	// -gpgpu_enable_specialized_operand_collector.
	Special [Sets]Collectors
	// RegisterBanks is the number of register banks (-gpgpu_num_reg_banks).
	RegisterBanks int
	// RegisterPorts is how many steps the collector makes in a cycle
	// (-gpgpu_reg_file_port_throughput).
	RegisterPorts int

	// SharedBanks is the number of 4-byte banks (-gpgpu_shmem_num_banks).
	SharedBanks int
	// SharedLatency is the depth of the shared memory pipeline in cycles
	// (-gpgpu_smem_latency).
	SharedLatency int
	// LimitedBroadcast serves only one word a pass to several lanes
	// (-gpgpu_shmem_limited_broadcast).
	LimitedBroadcast bool
	// WarpParts is how many parts of a warp are coalesced and checked for
	// conflicts one by one (-gpgpu_shmem_warp_parts).
	WarpParts int
	// MemPorts is how many cycles the load/store unit makes in a cycle
	// (-gpgpu_mem_unit_ports).
	MemPorts int
	// CoalesceArch picks the coalescing rules: 13 to 19 and 39, 20 to 38, 40
	// and above (-gpgpu_coalesce_arch).
	CoalesceArch int

	// L1D, L1C, L1T and L1I are the caches (-gpgpu_cache:dl1,
	// -gpgpu_const_cache:l1, -gpgpu_tex_cache:l1, -gpgpu_cache:il1).
	L1D, L1C, L1T, L1I cache.Config
	// PerfectInstConst makes instruction and constant caches always hit
	// (-gpgpu_perfect_inst_const_cache).
	PerfectInstConst bool
	// L1Latency is the cycles from entry into the L1D's queue to the look-up
	// (-gpgpu_l1_latency).
	L1Latency int
	// L1Banks is the number of L1D banks, L1BankBytes their interleaving and
	// L1BankHash the function that picks one (-gpgpu_l1_banks*).
	L1Banks, L1BankBytes int
	L1BankHash           cache.IndexKind
	// GlobalSkipsL1 sends global accesses past the L1D (-gpgpu_gmem_skip_L1D).
	GlobalSkipsL1 bool
	// FlushL1 invalidates the L1D at memory barriers
	// (-gpgpu_flush_l1_cache; the end of a kernel is the GPU's business).
	FlushL1 bool
	// ResponseQueue is the length of the reply queue in front of the
	// load/store unit (-gpgpu_n_ldst_response_buffer_size).
	ResponseQueue int
	// LocalBase is where local memory lies in the physical address space.
	LocalBase uint64
	// LocalSlots lays out local memory by the thread slots of all SMs, the
	// same for every kernel. Off: by the blocks that can be resident, those of
	// neighbouring SMs side by side (-gpgpu_local_mem_map 0 and 1).
	LocalSlots bool

	// Compat holds the incumbent's quirks.
	Compat Compat
}

// Compat has one switch for each behaviour of GPGPU-Sim that one would not
// design but that changes cycles. The zero value has all off.
type Compat struct {
	// OldestBlocks lets only the oldest instruction of an issue register set
	// look for a collector unit, so that a scheduler whose units are taken
	// holds up the others. Off: each scheduler's oldest looks.
	OldestBlocks bool
	// NextGroupFirst starts the search for an instruction to dispatch at the
	// next scheduler's first collector unit (GPGPU-Sim). With one busy
	// scheduler its first unit always goes first, and what sits in its last one
	// waits until nothing else comes. Off: behind the unit that went last.
	NextGroupFirst bool
	// RetireInScan retires finished warps only as the fetch scan passes them,
	// which ends at the first warp that fetches. Off: at once.
	RetireInScan bool
	// HighestFirst sends a warp's accesses from the highest address down.
	// Off: from the lowest up.
	HighestFirst bool
	// EndSegments covers of a lane that spans several segments only the first
	// and the last. Off: all.
	EndSegments bool
	// ZeroIsNone takes address 0 for no access.
	ZeroIsNone bool
	// WordPerLane counts one 4-byte word of each lane for conflicts in shared
	// memory however wide the access is. Off: accesses of 8 and 16
	// bytes go in two and four passes of all their words.
	WordPerLane bool
	// FenceLoadsOnly lets fences wait for loads but not for stores.
	FenceLoadsOnly bool
	// AtomicsBlock stops a warp until all replies to its atomics are back.
	// Off: only instructions that need the result wait.
	AtomicsBlock bool
	// AtomicAddressFree lets an atomic neither wait for its address register
	// nor read it through the collector. (Measured: one-warp loops of atom on
	// the incumbent are one cycle an iteration and the address's latency
	// faster than loops of ld.) Off: as for loads.
	AtomicAddressFree bool
	// NameBanks takes a register's bank from the first number in its name, as
	// PTX gives it; registers of one number are read once, and those without
	// not at all. Off: registers are numbered as they are first used.
	NameBanks bool
}

// GPGPUSim returns the switches as the incumbent behaves.
func GPGPUSim() Compat {
	return Compat{
		OldestBlocks: true, NextGroupFirst: true, RetireInScan: true, HighestFirst: true, EndSegments: true,
		ZeroIsNone: true, WordPerLane: true, FenceLoadsOnly: true, AtomicsBlock: true, AtomicAddressFree: true, NameBanks: true,
	}
}

// Limits on what a configuration may ask for.
const (
	maxWarps   = 64
	maxLatency = 4096
	maxWidth   = 64
	maxUnits   = 64 // collector units of a set
	maxRepeat  = 64
	maxBanks   = 64
	maxQueue   = 1 << 16
	maxStorage = 1 << 30
)

// Check reports the first contradiction among the settings, nil if there is
// none.
func (c *Config) Check() error {
	type bound struct {
		name    string
		v, a, b int
	}
	list := []bound{
		{"SMs", c.SMs, 1, 1 << 16}, {"warps", c.Warps, 1, maxWarps}, {"blocks", c.Blocks, 1, maxWarps},
		{"registers", c.Registers, 1, maxStorage}, {"shared memory", c.Shared, 0, maxStorage},
		{"register granule", c.RegisterGranule, 1, 256},
		{"warp granule", c.WarpGranule, 0, maxWarps}, {"shared memory granule", c.SharedGranule, 0, 1 << 16},
		{"reserved shared memory", c.SharedReserved, 0, 1 << 16},
		{"barriers", c.Barriers, 0, 255},
		{"schedulers", c.Schedulers, 1, maxWarps}, {"scheduling policy", int(c.Policy), 0, int(policies) - 1},
		{"issue per warp", c.MaxIssue, 1, 2}, {"fetch width", c.FetchWidth, 1, maxRepeat},
		{"write-back width", c.WriteWidth, 1, maxWidth},
		{"register banks", c.RegisterBanks, 1, maxBanks}, {"register ports", c.RegisterPorts, 1, maxRepeat},
		{"shared memory banks", c.SharedBanks, 1, maxBanks}, {"shared memory latency", c.SharedLatency, 2, maxLatency},
		{"warp parts", c.WarpParts, 1, 32}, {"memory ports", c.MemPorts, 1, maxRepeat},
		{"coalescing architecture", c.CoalesceArch, 13, 1000},
		{"L1 latency", c.L1Latency, 1, maxLatency}, {"L1 banks", c.L1Banks, 1, maxBanks},
		{"L1 bank interleaving", c.L1BankBytes, 4, 1 << 16}, {"response queue", c.ResponseQueue, 1, maxQueue},
		{"generic collector units", c.Generic.Units, 0, maxUnits},
		{"generic collector ports", c.Generic.In, 0, maxWidth}, {"generic dispatch units", c.Generic.Out, 0, maxWidth},
	}
	for s := range Sets {
		n := s.String()
		list = append(list,
			bound{n + " units", c.Units[s], 0, maxWidth},
			bound{n + " issue registers", c.IssueWidth[s], 0, maxWidth},
			bound{n + " execute registers", c.ExecWidth[s], 0, maxWidth},
			bound{n + " collector units", c.Special[s].Units, 0, maxUnits},
			bound{n + " collector ports", c.Special[s].In, 0, maxWidth},
			bound{n + " dispatch units", c.Special[s].Out, 0, maxWidth})
	}
	for _, t := range c.timings() {
		list = append(list, bound{t.name + " latency", t.t.Latency, 1, maxLatency},
			bound{t.name + " initiation interval", t.t.Initiation, 1, maxLatency})
	}
	for _, b := range list {
		if b.v < b.a || b.v > b.b {
			return fmt.Errorf("%s %d is not within %d..%d", b.name, b.v, b.a, b.b)
		}
	}
	for _, t := range c.timings() {
		if t.t.Initiation > t.t.Latency {
			return fmt.Errorf("%s initiation interval %d is longer than its latency %d", t.name, t.t.Initiation, t.t.Latency)
		}
	}
	units := 0
	for s := range Mem {
		units += c.Units[s]
	}
	switch {
	case units > maxPipes:
		return fmt.Errorf("%d units are more than %d", units, maxPipes)
	case c.Units[SP] == 0 || c.Units[SFU] == 0:
		return errors.New("a core needs SP and SFU units")
	case c.Units[Mem] != 1:
		return fmt.Errorf("a core has one load/store unit, not %d", c.Units[Mem])
	case c.WarpParts&(c.WarpParts-1) != 0:
		return fmt.Errorf("warp parts %d is no power of two", c.WarpParts)
	case c.L1BankBytes&(c.L1BankBytes-1) != 0:
		return fmt.Errorf("L1 bank interleaving %d is no power of two", c.L1BankBytes)
	case c.Schedulers > c.Warps:
		return fmt.Errorf("%d schedulers have only %d warps", c.Schedulers, c.Warps)
	case (c.Policy == TwoLevel || c.Policy == Limiting) && c.PolicyWarps < 1:
		return fmt.Errorf("policy %s needs a number of warps", c.Policy)
	}
	if err := cache.CheckIndex(c.L1BankHash, c.L1Banks); err != nil {
		return fmt.Errorf("L1 banks: %w", err)
	}
	return c.checkSets()
}

// checkSets tells whether every set that can get instructions has a way
// through the collector to its units.
func (c *Config) checkSets() error {
	for s := range Sets {
		if c.Units[s] == 0 {
			continue
		}
		sp := c.Special[s]
		generic := c.Generic.Units > 0 && c.Generic.In > 0 && c.Generic.Out > 0
		switch {
		case c.IssueWidth[s] == 0 || c.ExecWidth[s] == 0:
			return fmt.Errorf("%s has units but no issue or execute registers", s)
		case sp.Units > 0 && sp.Out == 0, c.Generic.Units > 0 && c.Generic.Out == 0:
			return fmt.Errorf("%s collector units have no dispatch unit", s)
		case !generic && (sp.Units == 0 || sp.In == 0):
			return fmt.Errorf("%s instructions reach no collector unit", s)
		}
		if c.SubCore {
			n := c.Schedulers
			switch {
			case c.IssueWidth[s] != n || c.ExecWidth[s] < n:
				return fmt.Errorf("%s registers are %d and %d; sub-core mode needs one for each of the %d schedulers", s, c.IssueWidth[s], c.ExecWidth[s], n)
			case s != Mem && c.Units[s] < n:
				return fmt.Errorf("%d %s units do not serve the %d schedulers of sub-core mode", c.Units[s], s, n)
			case s != Mem && c.Units[s] > c.ExecWidth[s]:
				return fmt.Errorf("%d %s units have only %d execute registers in sub-core mode", c.Units[s], s, c.ExecWidth[s])
			case sp.Units%n != 0, c.Generic.Units%n != 0:
				return fmt.Errorf("%s collector units cannot be shared out among %d schedulers", s, n)
			}
		}
	}
	if c.SubCore && c.RegisterBanks%c.Schedulers != 0 {
		return fmt.Errorf("%d register banks cannot be shared out among %d schedulers", c.RegisterBanks, c.Schedulers)
	}
	return nil
}

type namedTiming struct {
	name string
	t    Timing
}

func (c *Config) timings() []namedTiming {
	list := []namedTiming{{"sfu", c.SFUTime}, {"tensor", c.TensorTime}, {"other", c.OtherTime}, {"int shfl", c.IntTime.Shfl}}
	for _, x := range []struct {
		n string
		t *Timings
	}{{"int", &c.IntTime}, {"float", &c.FloatTime}, {"double", &c.DoubleTime}} {
		list = append(list, namedTiming{x.n + " add", x.t.Add}, namedTiming{x.n + " max", x.t.Max},
			namedTiming{x.n + " mul", x.t.Mul}, namedTiming{x.n + " mad", x.t.Mad}, namedTiming{x.n + " div", x.t.Div})
	}
	tr := &c.TraceTime
	list = append(list, namedTiming{"trace int", tr.Int}, namedTiming{"trace sp", tr.SP}, namedTiming{"trace dp", tr.DP},
		namedTiming{"trace sfu", tr.SFU}, namedTiming{"trace tensor", tr.Tensor})
	for i := range tr.Spec {
		if s := Spec1 + Set(i); c.Units[s] > 0 {
			list = append(list, namedTiming{"trace " + s.String(), tr.Spec[i]})
		}
	}
	return list
}

// Limit says what bounds the number of resident blocks.
type Limit uint8

// The limits.
const (
	ByThreads Limit = iota
	ByShared
	ByRegisters
	ByBlocks
	ByGrid
)

var limitNames = [...]string{"threads", "shared memory", "registers", "blocks", "grid"}

func (l Limit) String() string { return limitNames[l] }

// Occupancy returns how many blocks of a kernel fit on an SM, and what stops
// the next one; ties go to the first in the order of the limits.
func (c *Config) Occupancy(threads, registers, shared int) (int, Limit) {
	padded := (threads + 31) &^ 31
	n, by := c.Warps*32/padded, ByThreads
	if s := c.sharedOf(shared); s > 0 && c.Shared/s < n {
		n, by = c.Shared/s, ByShared
	}
	if registers > 0 {
		warps := c.Registers / (32 * roundUp(registers, c.RegisterGranule))
		if c.WarpGranule > 1 {
			warps -= warps % c.WarpGranule
		}
		if m := warps / (padded / 32); m < n {
			n, by = m, ByRegisters
		}
	}
	if c.Blocks < n {
		n, by = c.Blocks, ByBlocks
	}
	if n == 0 && c.OneBlockAtLeast && padded <= c.Warps*32 {
		n = 1
	}
	return n, by
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// sharedOf returns the shared memory that a block takes of an SM.
func (c *Config) sharedOf(bytes int) int {
	return roundUp(bytes+c.SharedReserved, max(1, c.SharedGranule))
}
