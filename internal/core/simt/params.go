package simt

import "github.com/heddle-sim/heddle/internal/core"

// This file: the parameters of the core, each declared once (see package param), and
// the settings that follow from them.

// Latency holds one number for each class of PTX instruction.
type Latency struct {
	IntAdd  int `help:"integer add, sub" unit:"cycles" want:"1..511"`
	IntMax  int `help:"integer min, max" unit:"cycles" want:"1..511"`
	IntMul  int `help:"integer mul" unit:"cycles" want:"1..511"`
	IntMad  int `help:"integer mad" unit:"cycles" want:"1..511"`
	IntDiv  int `help:"integer div, rem" unit:"cycles" want:"1..511"`
	IntShfl int `help:"shuffle between lanes" unit:"cycles" want:"1..511" def:"1"`
	FPAdd   int `help:"f32 add" unit:"cycles" want:"1..511"`
	FPMax   int `help:"f32 min, max" unit:"cycles" want:"1..511"`
	FPMul   int `help:"f32 mul" unit:"cycles" want:"1..511"`
	FPMad   int `help:"f32 fma" unit:"cycles" want:"1..511"`
	FPDiv   int `help:"f32 div" unit:"cycles" want:"1..511"`
	DPAdd   int `help:"f64 add" unit:"cycles" want:"1..511"`
	DPMax   int `help:"f64 min, max" unit:"cycles" want:"1..511"`
	DPMul   int `help:"f64 mul" unit:"cycles" want:"1..511"`
	DPMad   int `help:"f64 fma" unit:"cycles" want:"1..511"`
	DPDiv   int `help:"f64 div" unit:"cycles" want:"1..511"`
	SFU     int `help:"sqrt, sin, ex2 and similar functions" unit:"cycles" want:"1..511"`
	Tensor  int `help:"matrix multiply" unit:"cycles" want:"1..511" def:"64"`
}

// TraceLatency holds one number for each class of instruction in a trace.
type TraceLatency struct {
	Int    int `help:"in traces: integer unit" unit:"cycles" want:"1..511" def:"4"`
	SP     int `help:"in traces: f32" unit:"cycles" want:"1..511" def:"4"`
	DP     int `help:"in traces: f64" unit:"cycles" want:"1..511" def:"4"`
	SFU    int `help:"in traces: special functions" unit:"cycles" want:"1..511" def:"4"`
	Tensor int `help:"in traces: matrix multiply" unit:"cycles" want:"1..511" def:"4" inert:"Accel-Sim has no opcode in this class; matrix products are special3's"`
}

// TraceInitiation is TraceLatency for initiation intervals.
type TraceInitiation struct {
	Int    int `help:"in traces: integer unit" unit:"cycles" want:"1..511" def:"1"`
	SP     int `help:"in traces: f32" unit:"cycles" want:"1..511" def:"1"`
	DP     int `help:"in traces: f64" unit:"cycles" want:"1..511" def:"1"`
	SFU    int `help:"in traces: special functions" unit:"cycles" want:"1..511" def:"1"`
	Tensor int `help:"in traces: matrix multiply" unit:"cycles" want:"1..511" def:"1" inert:"Accel-Sim has no opcode in this class; matrix products are special3's"`
}

// Widths are the numbers of pipeline registers between two stages.
type Widths struct {
	SP     int `help:"f32 units" unit:"instructions" want:"0..32"`
	DP     int `help:"f64 units" unit:"instructions" want:"0..32"`
	Int    int `help:"integer units" unit:"instructions" want:"0..32"`
	SFU    int `help:"special function units" unit:"instructions" want:"0..32"`
	Mem    int `help:"load/store unit" unit:"instructions" want:"1..32"`
	Tensor int `help:"tensor units" unit:"instructions" want:"0..32" def:"0"`
}

// Units are the numbers of execution units of an SM.
type Units struct {
	SP     int `help:"f32 units" unit:"units" want:"1..32" from:"-gpgpu_num_sp_units=1"`
	DP     int `help:"f64 units; 0: the special function units do f64" unit:"units" want:"0..32" from:"-gpgpu_num_dp_units=0"`
	Int    int `help:"integer units; 0: the f32 units do integers" unit:"units" want:"0..32" from:"-gpgpu_num_int_units=0"`
	SFU    int `help:"special function units" unit:"units" want:"0..32" from:"-gpgpu_num_sfu_units=1"`
	Tensor int `help:"tensor units" unit:"units" want:"0..32" def:"0" from:"-gpgpu_num_tensor_core_units=0"`
}

// Special is a unit for its own class of trace instructions.
type Special struct {
	Name       string `help:"its name in GPGPU-Sim; its number selects the instructions: 1 branches, 2 textures, 3 tensor, 4 uniform" def:"" inert:"the unit's number, not its name, selects the instructions that it executes"`
	Units      int    `help:"units; 0: none, an integer unit executes these instructions with its own timing" unit:"units" want:"0..32" def:"0" gate:"true"`
	Depth      int    `help:"stages, at least the latency" unit:"cycles" want:"1..511" def:"4" inert:"it only bounds the latency"`
	IssueWidth int    `help:"pipeline registers before the operand collector" unit:"instructions" want:"1..32" def:"4"`
	ExecWidth  int    `help:"pipeline registers after the operand collector" unit:"instructions" want:"1..32" def:"4"`
	Latency    int    `help:"latency" unit:"cycles" want:"1..511" def:"4"`
	Initiation int    `help:"initiation interval" unit:"cycles" want:"1..511" def:"4"`
}

// CollectorSet is a set of operand collector units.
type CollectorSet struct {
	Units    int `help:"collector units" unit:"units" want:"0..64"`
	InPorts  int `help:"ports that fill collectors" unit:"ports" want:"0..64"`
	OutPorts int `help:"ports that dispatch from them" unit:"ports" want:"0..64"`
}

// Collector describes operand reading.
type Collector struct {
	Specialized bool         `help:"each kind of unit has its own collectors besides the general ones" from:"-gpgpu_enable_specialized_operand_collector=1"`
	Banks       int          `help:"register banks of an SM" unit:"banks" want:"1..64" from:"-gpgpu_num_reg_banks=8"`
	Steps       int          `help:"collector steps per cycle" unit:"per cycle" want:"1..8" def:"1" from:"-gpgpu_reg_file_port_throughput=1"`
	Gen         CollectorSet `help:"general collectors"`
	SP          CollectorSet `help:"collectors for f32"`
	DP          CollectorSet `help:"collectors for f64"`
	Int         CollectorSet `help:"collectors for integers"`
	SFU         CollectorSet `help:"collectors for special functions"`
	Mem         CollectorSet `help:"collectors for loads and stores"`
	Tensor      CollectorSet `help:"collectors for tensor units"`
}

// Params are a machine's values for the core. The limits on an SM's blocks are in
// [sm], its caches in [l1d], [l1c], [l1t] and [l1i].
type Params struct {
	Scheduler        Policy  `help:"which ready warp issues" enum:"lrr|gto|old|rrr|two-level|warp-limiting" plug:"warp scheduler"`
	ActiveWarps      int     `help:"two-level: warps in the inner round; warp-limiting: warps that may issue" unit:"warps" want:"1..64" def:"8"`
	Schedulers       int     `help:"warp schedulers" unit:"schedulers" want:"1..8" from:"-gpgpu_num_sched_per_core=1"`
	IssuePerWarp     int     `help:"maximum instructions of one warp per cycle" unit:"instructions" want:"1..2" def:"1" from:"-gpgpu_max_insn_issue_per_warp=2"`
	DualDiffers      bool    `help:"a warp's second instruction in a cycle must go to another kind of unit" def:"true" from:"-gpgpu_dual_issue_diff_exec_units=1"`
	SubCores         bool    `help:"each scheduler has its own registers, collectors and units" from:"-gpgpu_sub_core_model=0"`
	GatedLanes       bool    `help:"completed thread instructions count active lanes instead of 32 per warp instruction" def:"false" from:"-gpgpu_clock_gated_lanes=0"`
	FetchThroughput  int     `help:"fetches and decodes per cycle" unit:"per cycle" want:"1..16" def:"1" from:"-gpgpu_inst_fetch_throughput=1"`
	PerfectInstConst bool    `help:"instruction and constant caches always hit" def:"false" from:"-gpgpu_perfect_inst_const_cache=0"`
	TensorPort       bool    `help:"there is a path from issue to the tensor units" def:"false" from:"-gpgpu_tensor_core_avail=0"`
	Issue            Widths  `help:"pipeline registers between issue and the operand collector"`
	Exec             Widths  `help:"pipeline registers between the operand collector and the units"`
	WriteBack        int     `help:"pipeline registers before write-back, and result buses" unit:"instructions" want:"1..64"`
	Units            Units   `help:"execution units"`
	Latency          Latency `help:"latencies of PTX instructions"`
	Initiation       Latency `help:"initiation intervals of PTX instructions"`
	OtherLatency     int     `help:"latency of PTX moves, conversions, comparisons, logic and control" unit:"cycles" want:"1..511" def:"1"`
	OtherInitiation  int     `help:"initiation interval of those instructions" unit:"cycles" want:"1..511" def:"1"`

	TraceLatency    TraceLatency    `help:"latencies of trace instructions"`
	TraceInitiation TraceInitiation `help:"initiation intervals of trace instructions"`
	Special         [8]Special      `help:"units for classes of trace instructions" inert:"5: Accel-Sim has no opcode for this unit"`

	Collector Collector `help:"operand collectors"`

	CoalesceArch  int  `help:"coalescing rules, by compute capability without the point" want:"13..999" from:"-gpgpu_coalesce_arch=13"`
	MemPorts      int  `help:"load/store unit cycles per core cycle; 0: the value of shared_parts" unit:"per cycle" want:"0..8" def:"1" from:"-gpgpu_mem_unit_ports=1"`
	SharedLatency int  `help:"latency of shared memory" unit:"cycles" want:"2..511" from:"-gpgpu_smem_latency=3 -smem_latency"`
	SharedBanks   int  `help:"banks of shared memory" unit:"banks" want:"1..64" def:"32" from:"-gpgpu_shmem_num_banks=16"`
	SharedParts   int  `help:"parts of a warp that access shared memory one after the other" unit:"parts" want:"1..32" def:"1" from:"-gpgpu_shmem_warp_parts=2"`
	SharedOneCast bool `help:"only one word of shared memory is broadcast per pass" def:"false" from:"-gpgpu_shmem_limited_broadcast=1"`
	ResponseFIFO  int  `help:"replies that the load/store unit holds" unit:"packets" want:"1..4096" def:"2" from:"-gpgpu_n_ldst_response_buffer_size=2"`
	PerfectMemory bool `help:"every request that leaves an SM is answered at once" def:"false" from:"-gpgpu_perfect_mem=0"`

	// Compat are the switches of [compat.simt].
	Compat Compat `key:"-"`
}

// Settings returns the settings of a machine's core with these values.
func (s *Params) Settings(m *core.Machine) core.Settings {
	l, i := &s.Latency, &s.Initiation
	c := &Config{
		Shape: m.Shape, L1Path: m.L1Path,

		Schedulers: s.Schedulers, Policy: s.Scheduler, PolicyWarps: s.ActiveWarps,
		MaxIssue: s.IssuePerWarp, DualDiffer: s.DualDiffers, SubCore: s.SubCores, FetchWidth: s.FetchThroughput,

		IssueWidth: widths(&s.Issue), ExecWidth: widths(&s.Exec), WriteWidth: s.WriteBack,
		IntTime: timings([6]int{l.IntAdd, l.IntMax, l.IntMul, l.IntMad, l.IntDiv, l.IntShfl},
			[6]int{i.IntAdd, i.IntMax, i.IntMul, i.IntMad, i.IntDiv, i.IntShfl}),
		FloatTime: timings([6]int{l.FPAdd, l.FPMax, l.FPMul, l.FPMad, l.FPDiv, l.IntShfl},
			[6]int{i.FPAdd, i.FPMax, i.FPMul, i.FPMad, i.FPDiv, i.IntShfl}),
		DoubleTime: timings([6]int{l.DPAdd, l.DPMax, l.DPMul, l.DPMad, l.DPDiv, l.IntShfl},
			[6]int{i.DPAdd, i.DPMax, i.DPMul, i.DPMad, i.DPDiv, i.IntShfl}),
		SFUTime:    Timing{Latency: l.SFU, Initiation: i.SFU},
		TensorTime: Timing{Latency: l.Tensor, Initiation: i.Tensor},
		OtherTime:  Timing{Latency: s.OtherLatency, Initiation: s.OtherInitiation},
		TraceTime:  traceTimes(s),

		Generic:       Collectors{Units: s.Collector.Gen.Units, In: s.Collector.Gen.InPorts, Out: s.Collector.Gen.OutPorts},
		RegisterBanks: s.Collector.Banks, RegisterPorts: s.Collector.Steps,

		SharedBanks: s.SharedBanks, SharedLatency: s.SharedLatency, LimitedBroadcast: s.SharedOneCast,
		WarpParts: s.SharedParts, MemPorts: s.MemPorts, CoalesceArch: s.CoalesceArch,

		PerfectInstConst: s.PerfectInstConst, ResponseQueue: s.ResponseFIFO,

		Compat: s.Compat,
	}
	if c.MemPorts == 0 {
		c.MemPorts = c.WarpParts
	}
	u := &s.Units
	c.Units = [Sets]int{SP: u.SP, DP: u.DP, Int: u.Int, SFU: u.SFU, Tensor: u.Tensor, Mem: 1}
	for i := range s.Special {
		x, set := &s.Special[i], Spec1+Set(i)
		c.Units[set], c.IssueWidth[set], c.ExecWidth[set] = x.Units, x.IssueWidth, x.ExecWidth
	}
	if !s.TensorPort {
		c.Units[Tensor] = 0
	}
	if s.Collector.Specialized {
		of := func(x *CollectorSet) Collectors {
			return Collectors{Units: x.Units, In: x.InPorts, Out: x.OutPorts}
		}
		k := &s.Collector
		c.Special = [Sets]Collectors{SP: of(&k.SP), DP: of(&k.DP), Int: of(&k.Int),
			SFU: of(&k.SFU), Tensor: of(&k.Tensor), Mem: of(&k.Mem)}
	}
	c.idealise()
	return c
}

func widths(w *Widths) [Sets]int {
	return [Sets]int{SP: w.SP, DP: w.DP, Int: w.Int, SFU: w.SFU, Tensor: w.Tensor, Mem: w.Mem}
}

func traceTimes(s *Params) TraceTimes {
	at := func(latency, initiation int) Timing {
		return Timing{Latency: latency, Initiation: initiation}
	}
	l, i := &s.TraceLatency, &s.TraceInitiation
	t := TraceTimes{Int: at(l.Int, i.Int), SP: at(l.SP, i.SP), DP: at(l.DP, i.DP), SFU: at(l.SFU, i.SFU), Tensor: at(l.Tensor, i.Tensor)}
	for k := range s.Special {
		t.Spec[k] = at(s.Special[k].Latency, s.Special[k].Initiation)
	}
	return t
}

func timings(latency, initiation [6]int) Timings {
	at := func(i int) Timing { return Timing{Latency: latency[i], Initiation: initiation[i]} }
	return Timings{Add: at(0), Max: at(1), Mul: at(2), Mad: at(3), Div: at(4), Shfl: at(5)}
}
