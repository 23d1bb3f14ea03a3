package simt

import (
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/param"
)

// Set is a set of issue registers and the kind of unit that it feeds.
type Set uint8

// The sets, in the order in which their units are simulated.
const (
	SP Set = iota
	DP
	Int
	SFU
	Tensor
	Spec1 // branches, in the terms of traces
	Spec2 // textures
	Spec3 // matrix products since Turing
	Spec4 // the uniform datapath
	Spec5
	Spec6
	Spec7
	Spec8
	Mem
	Sets // number of sets
)

var setNames = [Sets]string{"sp", "dp", "int", "sfu", "tensor", "spec1", "spec2", "spec3", "spec4", "spec5", "spec6", "spec7", "spec8", "mem"}

// String returns the name in GPGPU-Sim's options.
func (s Set) String() string { return setNames[s] }

// Policy is the order in which a scheduler tries its warps.
type Policy uint8

// The policies.
const (
	LRR      Policy = iota // loose round robin, starting after the warp that issued last
	GTO                    // the warp that issued last, then by age
	Oldest                 // by age
	RRR                    // strict round robin: one warp at a time
	TwoLevel               // an active list in round robin, and a pending queue
	Limiting               // as GTO, over the oldest PolicyWarps warps only
	policies
)

var policyNames = [policies]string{"lrr", "gto", "old", "rrr", "two_level_active", "warp_limiting"}

// String returns the name in GPGPU-Sim's option.
func (p Policy) String() string {
	return core.Schedulers.Name(int(p), policyNames[:])
}

// Timing is the timing of a kind of instruction: Latency is the number of cycles from
// a unit's first stage to its last, Initiation the number until it accepts the next.
type Timing struct{ Latency, Initiation int }

// Timings are the timings of the five kinds of instruction that options distinguish,
// and of shuffles (integers only).
type Timings struct{ Add, Max, Mul, Mad, Div, Shfl Timing }

// TraceTimes are the timings of the instruction classes of traces
// (-trace_opcode_latency_initiation_*).
type TraceTimes struct {
	Int, SP, DP, SFU, Tensor Timing
	Spec                     [8]Timing
}

// Collectors are the numbers of collector units, input ports and dispatch units of
// the operand collector for one set.
type Collectors struct{ Units, In, Out int }

// Config holds a core's immutable settings. The comment of a field names its
// GPGPU-Sim option; the sources of the shipped values are in the GPU files.
type Config struct {
	core.Shape
	core.L1Path

	// Schedulers is the number of warp schedulers (-gpgpu_num_sched_per_core).
	Schedulers int
	// Policy is their order (-gpgpu_scheduler).
	Policy Policy
	// PolicyWarps is the size of TwoLevel's active list, or the number of warps that
	// Limiting tries.
	PolicyWarps int
	// MaxIssue is the maximum number of instructions of one warp that a scheduler
	// issues in a cycle (-gpgpu_max_insn_issue_per_warp).
	MaxIssue int
	// DualDiffer requires that the second of a pair goes to another kind of unit
	// (-gpgpu_dual_issue_diff_exec_units).
	DualDiffer bool
	// SubCore partitions registers, collectors and units among the schedulers
	// (-gpgpu_sub_core_model).
	SubCore bool
	// FetchWidth is the number of decodes and fetches per cycle
	// (-gpgpu_inst_fetch_throughput).
	FetchWidth int

	// IssueWidth and ExecWidth are the numbers of pipeline registers between issue
	// and collector, and between collector and units (-gpgpu_pipeline_widths ID_OC,
	// OC_EX).
	IssueWidth, ExecWidth [Sets]int
	// WriteWidth is the number of registers and result buses of write-back (EX_WB).
	WriteWidth int
	// Units is the number of units of each kind; Mem is 1. Without Int units the SP
	// units execute integer instructions, without DP units the SFUs execute f64
	// instructions (-gpgpu_num_*_units).
	Units [Sets]int
	// IntTime, FloatTime and DoubleTime are latencies and initiation intervals
	// in cycles (-ptx_opcode_latency_*, -ptx_opcode_initiation_*).
	IntTime, FloatTime, DoubleTime Timings
	// SFUTime and TensorTime are the timings of approximations and matrix products.
	SFUTime, TensorTime Timing
	// OtherTime is the timing of moves, conversions, comparisons, logic and control
	// (GPGPU-Sim: 1, 1).
	OtherTime Timing
	// TraceTime are the timings of instructions from a trace. Those of a specialised
	// unit that the core lacks go to an integer unit.
	TraceTime TraceTimes

	// Generic are the collector units that serve every set
	// (-gpgpu_operand_collector_num_units_gen and its ports).
	Generic Collectors
	// Special are the collector units of each set; all zero unless
	// -gpgpu_enable_specialized_operand_collector is set.
	Special [Sets]Collectors
	// RegisterBanks is the number of register banks (-gpgpu_num_reg_banks).
	RegisterBanks int
	// RegisterPorts is the number of collector steps per cycle
	// (-gpgpu_reg_file_port_throughput).
	RegisterPorts int

	// SharedBanks is the number of 4-byte banks (-gpgpu_shmem_num_banks).
	SharedBanks int
	// SharedLatency is the depth of the shared memory pipeline in cycles
	// (-gpgpu_smem_latency).
	SharedLatency int
	// LimitedBroadcast broadcasts only one word per pass to several lanes
	// (-gpgpu_shmem_limited_broadcast).
	LimitedBroadcast bool
	// WarpParts is the number of parts of a warp that are coalesced and checked for
	// conflicts separately (-gpgpu_shmem_warp_parts).
	WarpParts int
	// MemPorts is the number of load/store unit cycles per core cycle
	// (-gpgpu_mem_unit_ports).
	MemPorts int
	// CoalesceArch selects the coalescing rules: 13 to 19 and 39, 20 to 38, 40
	// and above (-gpgpu_coalesce_arch).
	CoalesceArch int

	// PerfectInstConst makes instruction and constant caches always hit
	// (-gpgpu_perfect_inst_const_cache).
	PerfectInstConst bool
	// ResponseQueue is the length of the load/store unit's reply queue
	// (-gpgpu_n_ldst_response_buffer_size).
	ResponseQueue int
	// Compat selects quirks of GPGPU-Sim.
	Compat Compat
}

// Compat has one switch for each unintended behaviour of GPGPU-Sim that affects
// cycles. In the zero value all are off.
type Compat struct {
	// OldestBlocks lets only the oldest instruction of an issue register set look
	// for a collector unit, so a scheduler whose units are taken holds up the
	// others. Off: each scheduler's oldest instruction looks for one.
	OldestBlocks bool `help:"an instruction without a free collector holds up younger ones of all schedulers" def:"false"`
	// NextGroupFirst starts the search for an instruction to dispatch at the
	// next scheduler's first collector unit (GPGPU-Sim). If only one scheduler is
	// busy its first unit always goes first, and its last unit waits until the
	// others are empty. Off: the search starts after the unit that went last.
	NextGroupFirst bool `help:"the search for an instruction to dispatch starts at the next scheduler's collectors" def:"false"`
	// RetireInScan retires a finished warp only when the fetch scan passes it; the
	// scan ends at the first warp that fetches. Off: at once.
	RetireInScan bool `help:"finished warps are retired only as the fetch scan passes them" def:"false"`
	// HighestFirst sends a warp's accesses in descending order of address. Off: in
	// ascending order.
	HighestFirst bool `help:"a warp's accesses are sent in descending order of address" def:"false"`
	// EndSegments accesses only the first and the last of the segments that a lane
	// spans. Off: all of them.
	EndSegments bool `help:"of the segments that a lane spans only the first and the last are accessed" def:"false"`
	// ZeroIsNone ignores accesses to address 0.
	ZeroIsNone bool `help:"accesses to address 0 are ignored" def:"false"`
	// WordPerLane counts one 4-byte word of each lane for shared memory conflicts,
	// whatever the width of the access. Off: accesses of 8 and 16 bytes take two and
	// four passes that count all their words.
	WordPerLane bool `help:"for conflicts in shared memory only the first word of a wide access counts" def:"false"`
	// FenceLoadsOnly makes fences wait for loads but not for stores.
	FenceLoadsOnly bool `help:"memory barriers do not wait for stores" def:"false"`
	// AtomicsBlock stops a warp until all replies to its atomics have arrived.
	// Off: only instructions that need the result wait.
	AtomicsBlock bool `help:"a warp stops until its atomics are answered" def:"false"`
	// AtomicAddressFree: an atomic neither waits for its address register nor reads
	// it through the collector. (Measured: in GPGPU-Sim, one-warp loops of atom are
	// faster than loops of ld by one cycle per iteration and the address's latency.)
	// Off: as for loads.
	AtomicAddressFree bool `help:"atomics neither wait for their address register nor read it through the collector" def:"false"`
	// NameBanks takes a register's bank from the first number in its PTX name.
	// Registers with the same number are read once, those without a number not at
	// all. Off: registers are numbered in the order of first use.
	NameBanks bool `help:"a register's bank comes from the first number in its name" def:"false"`
}

// GPGPUSim returns the switches that reproduce GPGPU-Sim.
func GPGPUSim() Compat {
	return Compat{
		OldestBlocks: true, NextGroupFirst: true, RetireInScan: true, HighestFirst: true, EndSegments: true,
		ZeroIsNone: true, WordPerLane: true, FenceLoadsOnly: true, AtomicsBlock: true, AtomicAddressFree: true, NameBanks: true,
	}
}

// Limits of tables of fixed size; the bounds of parameters do not exceed them.
const (
	maxWarps = 64
	maxWidth = 64
	maxBanks = 64
)

// parameters are the declared parameters of Params.
var parameters = param.Of(new(Params), "simt.", false)

// Check reports the first contradiction among the settings, nil if there is none.
func (c *Config) Check() error {
	if err := c.Shape.Check(); err != nil {
		return err
	}
	type value struct {
		key string
		v   int
	}
	list := []value{
		{"simt.schedulers", c.Schedulers}, {"simt.issue_per_warp", c.MaxIssue}, {"simt.fetch_throughput", c.FetchWidth},
		{"simt.write_back", c.WriteWidth}, {"simt.collector.banks", c.RegisterBanks}, {"simt.collector.steps", c.RegisterPorts},
		{"simt.shared_banks", c.SharedBanks}, {"simt.shared_latency", c.SharedLatency}, {"simt.shared_parts", c.WarpParts},
		{"simt.mem_ports", c.MemPorts}, {"simt.coalesce_arch", c.CoalesceArch}, {"simt.response_fifo", c.ResponseQueue},
		{"simt.collector.gen.units", c.Generic.Units}, {"simt.collector.gen.in_ports", c.Generic.In}, {"simt.collector.gen.out_ports", c.Generic.Out},
	}
	for s := range Sets {
		if s.special() && c.Units[s] == 0 {
			continue
		}
		list = append(list, value{s.key("units"), c.Units[s]}, value{s.key("issue"), c.IssueWidth[s]}, value{s.key("exec"), c.ExecWidth[s]},
			value{s.collector("units"), c.Special[s].Units}, value{s.collector("in_ports"), c.Special[s].In}, value{s.collector("out_ports"), c.Special[s].Out})
	}
	for _, t := range c.timings() {
		list = append(list, value{t.latency, t.t.Latency}, value{t.initiation, t.t.Initiation})
	}
	for _, x := range list {
		if key := strings.TrimSpace(x.key); key != "" {
			if err := param.Within(parameters, key, int64(x.v)); err != nil {
				return err
			}
		}
	}
	for _, t := range c.timings() {
		if t.t.Initiation > t.t.Latency {
			return param.Clash(t.keys(), "%s initiation interval %d is longer than its latency %d", t.name, t.t.Initiation, t.t.Latency)
		}
	}
	if !core.Schedulers.Has(int(c.Policy), policyNames[:]) {
		return param.Clash("simt.scheduler", "unknown %v", c.Policy)
	}
	units := 0
	for s := range Mem {
		units += c.Units[s]
	}
	switch {
	case units > maxPipes:
		return param.Clash("simt.units.sp simt.units.dp simt.units.int simt.units.sfu simt.units.tensor", "%d units; want at most %d in all", units, maxPipes)
	case c.Units[SP] == 0 || c.Units[SFU] == 0:
		return param.Clash("simt.units.sp simt.units.sfu", "a core needs at least one SP unit and one SFU")
	case c.Units[Mem] != 1:
		return param.Clash("", "%d load/store units; want 1", c.Units[Mem])
	case c.WarpParts&(c.WarpParts-1) != 0:
		return param.Clash("simt.shared_parts", "warp parts %d must be a power of two", c.WarpParts)
	case c.L1Latency < 1:
		return param.Clash("l1d.latency", "L1 latency %d must be at least 1 cycle", c.L1Latency)
	case c.L1BankBytes < 4 || c.L1BankBytes&(c.L1BankBytes-1) != 0:
		return param.Clash("l1d.bank_interleave", "L1 bank interleaving %d must be a power of two, at least 4", c.L1BankBytes)
	case c.Schedulers > c.Warps:
		return param.Clash("simt.schedulers sm.threads", "%d schedulers need at least as many warps, not %d", c.Schedulers, c.Warps)
	case (c.Policy == TwoLevel || c.Policy == Limiting) && c.PolicyWarps < 1:
		return param.Clash("simt.scheduler simt.active_warps", "policy %s needs a number of warps", c.Policy)
	}
	if err := cache.CheckIndex(c.L1BankHash, c.L1Banks); err != nil {
		return param.Clash("l1d.banks l1d.bank_index", "L1 banks: %v", err)
	}
	return c.checkSets()
}

// checkSets reports a set that can get instructions but has no path through the
// collector to its units.
func (c *Config) checkSets() error {
	for s := range Sets {
		if c.Units[s] == 0 {
			continue
		}
		sp := c.Special[s]
		generic := c.Generic.Units > 0 && c.Generic.In > 0 && c.Generic.Out > 0
		switch {
		case c.IssueWidth[s] == 0 || c.ExecWidth[s] == 0:
			return param.Clash(s.key("units")+s.key("issue")+s.key("exec"), "%s has units but no issue or execute registers", s)
		case sp.Units > 0 && sp.Out == 0, c.Generic.Units > 0 && c.Generic.Out == 0:
			return param.Clash(s.collector("units")+s.collector("out_ports")+"simt.collector.gen.units simt.collector.gen.out_ports", "%s collector units have no dispatch unit", s)
		case !generic && (sp.Units == 0 || sp.In == 0):
			return param.Clash(s.key("units")+"simt.collector.specialized "+s.collector("units")+s.collector("in_ports")+"simt.collector.gen.units simt.collector.gen.in_ports simt.collector.gen.out_ports", "%s instructions reach no collector unit", s)
		}
		if c.SubCore {
			n := c.Schedulers
			switch {
			case c.IssueWidth[s] != n || c.ExecWidth[s] < n:
				return param.Clash("simt.sub_cores "+s.key("issue")+s.key("exec")+"simt.schedulers", "%s registers are %d and %d; sub-core mode needs one for each of the %d schedulers", s, c.IssueWidth[s], c.ExecWidth[s], n)
			case s != Mem && c.Units[s] < n:
				return param.Clash("simt.sub_cores "+s.key("units")+"simt.schedulers", "%d %s units are too few for the %d schedulers of sub-core mode", c.Units[s], s, n)
			case s != Mem && c.Units[s] > c.ExecWidth[s]:
				return param.Clash("simt.sub_cores "+s.key("units")+s.key("exec"), "%d %s units need an execute register each in sub-core mode; there are %d", c.Units[s], s, c.ExecWidth[s])
			case sp.Units%n != 0, c.Generic.Units%n != 0:
				return param.Clash("simt.collector.specialized "+s.collector("units")+"simt.collector.gen.units simt.schedulers", "%s collector units cannot be divided evenly among %d schedulers", s, n)
			}
		}
	}
	if c.SubCore && c.RegisterBanks%c.Schedulers != 0 {
		return param.Clash("simt.collector.banks simt.schedulers", "%d register banks cannot be divided evenly among %d schedulers", c.RegisterBanks, c.Schedulers)
	}
	return nil
}

type namedTiming struct {
	name, latency, initiation string // name, and the keys of the parameters
	t                         Timing
}

func (t *namedTiming) keys() string { return t.latency + " " + t.initiation }

func (c *Config) timings() []namedTiming {
	of := func(name, which, last string, t Timing) namedTiming {
		return namedTiming{name, "simt." + which + "latency." + last, "simt." + which + "initiation." + last, t}
	}
	list := []namedTiming{
		of("sfu", "", "sfu", c.SFUTime), of("tensor", "", "tensor", c.TensorTime), of("int shfl", "", "int_shfl", c.IntTime.Shfl),
		{"other", "simt.other_latency", "simt.other_initiation", c.OtherTime},
	}
	for _, x := range []struct {
		n, key string
		t      *Timings
	}{{"int", "int_", &c.IntTime}, {"float", "fp_", &c.FloatTime}, {"double", "dp_", &c.DoubleTime}} {
		for i, t := range [...]Timing{x.t.Add, x.t.Max, x.t.Mul, x.t.Mad, x.t.Div} {
			k := [...]string{"add", "max", "mul", "mad", "div"}[i]
			list = append(list, of(x.n+" "+k, "", x.key+k, t))
		}
	}
	tr := &c.TraceTime
	for i, t := range [...]Timing{tr.Int, tr.SP, tr.DP, tr.SFU, tr.Tensor} {
		k := [...]string{"int", "sp", "dp", "sfu", "tensor"}[i]
		list = append(list, of("trace "+k, "trace_", k, t))
	}
	for i := range tr.Spec {
		if s := Spec1 + Set(i); c.Units[s] > 0 {
			at := fmt.Sprintf("simt.special%d.", i+1)
			list = append(list, namedTiming{"trace " + s.String(), at + "latency", at + "initiation", tr.Spec[i]})
		}
	}
	return list
}

func (s Set) special() bool { return s >= Spec1 && s <= Spec8 }

// key names the parameter of a set's units, issue registers or execute registers,
// with a blank after it.
func (s Set) key(what string) string {
	switch {
	case s == Mem && what == "units":
		return ""
	case s.special():
		last := map[string]string{"units": "units", "issue": "issue_width", "exec": "exec_width"}[what]
		return fmt.Sprintf("simt.special%d.%s ", s-Spec1+1, last)
	}
	return fmt.Sprintf("simt.%s.%s ", what, s)
}

// collector names a parameter of the collectors of a set, with a blank after it.
func (s Set) collector(what string) string {
	if s.special() {
		return ""
	}
	return fmt.Sprintf("simt.collector.%s.%s ", s, what)
}

// Occupancy returns how many blocks of a kernel fit on an SM, and what prevents one
// more.
func (c *Config) Occupancy(threads, registers, shared int) (int, core.Limit) {
	return c.Fits(threads, shared, registers, func(each int) int {
		warps := c.Registers / (32 * each)
		if c.WarpGranule > 1 {
			warps -= warps % c.WarpGranule
		}
		return warps
	})
}
