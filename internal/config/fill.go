package config

import (
	"math"
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/internal/core/simt"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/mem/dram"
	"github.com/heddle-sim/heddle/internal/mem/noc"
	"github.com/heddle-sim/heddle/internal/mem/part"
)

// word returns the number of a value among the words that its key may be. The
// words of every such key stand in the order of the model's constants.
func (g *GPU) word(key string) int {
	k := keyAt[key]
	return slices.Index(k.Enum, k.at(g).String())
}

// CacheConfig returns the settings of a cache by its table: l1d, l1c, l1t,
// l1i, l2, l1d.prefer_l1 or l1d.prefer_shared.
func (g *GPU) CacheConfig(table string) cache.Config {
	var c *Cache
	level := cache.L1
	switch table {
	case "l1d":
		c = &g.L1D.Cache
	case "l1d.prefer_l1":
		c = &g.L1D.PreferL1
	case "l1d.prefer_shared":
		c = &g.L1D.PreferShared
	case "l1c":
		c = &g.L1C
	case "l1t":
		c = &g.L1T
	case "l1i":
		c = &g.L1I
	case "l2":
		c, level = &g.L2.Cache, cache.L2
	default:
		panic("config: no cache is called " + table)
	}
	if !c.Enabled {
		return cache.Config{Disabled: true, Name: table, Level: level}
	}
	out := cache.Config{
		Name: table, Level: level,
		Sectored: c.Sectored, Sets: c.Sets, Line: c.Line, Ways: c.Ways,
		Replace:    cache.Replacement(g.word(table + ".replace")),
		Write:      cache.WritePolicy(g.word(table + ".write")),
		Alloc:      cache.Alloc(g.word(table + ".allocate")),
		WriteAlloc: cache.WriteAlloc(g.word(table + ".write_miss")),
		Index:      cache.IndexKind(g.word(table + ".index")),
		MSHR:       cache.MSHRKind(g.word(table + ".mshr")),
		Entries:    c.Entries, Merge: c.Merge, MissQueue: c.MissQueue, ResultQueue: c.ResultQueue, Port: c.Port,
		Compat: g.Compat.Cache,
	}
	if c == &g.L1D.Cache || c == &g.L1D.PreferL1 || c == &g.L1D.PreferShared {
		out.WriteRatio = g.L1D.WriteRatio
		if g.L1D.Adaptive {
			out.MaxWays = max(c.Ways, c.Ways*(g.L1D.Unified<<10)/max(1, c.bytes()))
		}
	}
	return out
}

// DRAMConfig returns the settings of one DRAM channel.
func (g *GPU) DRAMConfig() dram.Config {
	d, t := &g.DRAM, &g.DRAM.Timing
	return dram.Config{
		Timing: dram.Timing{
			Banks: t.Banks, Groups: t.Groups, CCD: t.CCD, CCDL: t.CCDL, RRD: t.RRD, RCD: t.RCD, RAS: t.RAS, RP: t.RP,
			RC: t.RC, CL: t.CL, WL: t.WL, CDLR: t.CDLR, WR: t.WR, RTPL: t.RTPL, REFI: t.REFI, RFC: t.RFC,
		},
		BusBytes: d.BusBytes, BurstLength: d.BurstLength, DataRatio: d.DataRatio, Chips: d.Chips,
		Scheduler: dram.Scheduler(g.word("dram.scheduler")),
		QueueSize: d.Queue, ReturnQueue: d.ReturnQueue,
		Writes:      dram.WriteQueue{Enabled: d.WriteQueue, Size: d.WriteSize, High: d.WriteHigh, Low: d.WriteLow},
		DualCommand: d.DualCommand, GroupBy: dram.GroupBy(g.word("dram.group_by")), NoTurnaround: d.NoTurnaround,
		Compat: g.Compat.DRAM,
	}
}

// PartitionConfig returns the settings of the memory partitions with their L2
// and DRAM.
func (g *GPU) PartitionConfig() part.Config {
	p := &g.Partition
	return part.Config{
		Channels: g.Chip.Channels, Subs: g.Chip.SlicesPerChannel,
		Mapping: p.Mapping, Indexing: part.Indexing(g.word("partition.indexing")), BankHash: part.BankHash(g.word("dram.bank_index")),
		L2: g.CacheConfig("l2"), L2TextureOnly: g.L2.TextureOnly,
		Queues:     part.Queues{ToL2: p.ToL2, ToDRAM: p.ToDRAM, FromDRAM: p.FromDRAM, ToNet: p.ToNoC},
		ROPLatency: p.ROPLatency, DRAMLatency: p.DRAMLatency,
		FixedLatency: g.DRAM.FixedLatency, DRAM: g.DRAMConfig(),
		Compat: g.Compat.Partition,
	}
}

// NoCConfig returns the settings of the two networks: requests go from
// clusters to slices, replies the other way.
func (g *GPU) NoCConfig() (requests, replies noc.Config) {
	n := &g.NoC
	requests = noc.Config{
		Kind: noc.Kind(g.word("noc.kind")), InBuffer: n.InBuffer, OutBuffer: n.OutBuffer,
		Inputs: g.Chip.Clusters, Outputs: g.Chip.Channels * g.Chip.SlicesPerChannel,
		Arbiter: noc.Arbiter(g.word("noc.arbiter")), GrantCycles: n.GrantCycles, FlitBytes: n.FlitBytes,
		Radix: n.Radix, Dimensions: n.Dimensions, VCs: n.VCs, AnyVC: n.AnyVC, Placement: noc.Placement(g.word("noc.placement")),
		VCBuffer: n.VCBuffer, BoundaryBuffer: n.BoundaryBuffer, HoldVC: n.HoldVC, Iterations: n.Iterations,
		RoutingDelay: n.RoutingDelay, VCDelay: n.VCDelay, SwitchDelay: n.SwitchDelay, CreditDelay: n.CreditDelay, LinkDelay: n.LinkDelay,
		InputSpeedup: n.InputSpeedup, OutputSpeedup: n.OutputSpeedup, Steps: n.RouterSteps,
	}
	if requests.Kind != noc.Local {
		requests.InBuffer, requests.OutBuffer = n.FlitInBuffer, n.FlitOutBuffer
	}
	return requests, requests.Reverse()
}

// splits returns the L1D and the shared memory of an SM by what a launch
// prefers: what is not said of a preference is as without one.
func (g *GPU) splits() (s [gpu.Preferences]gpu.Split) {
	for p, x := range [gpu.Preferences]struct {
		on     bool
		table  string
		shared int
	}{
		gpu.Undecided: {table: "l1d"}, gpu.PreferNone: {table: "l1d", shared: g.SM.SharedPreferNone},
		gpu.PreferL1:     {g.L1D.PreferL1.Enabled, "l1d.prefer_l1", g.SM.SharedPreferL1},
		gpu.PreferShared: {g.L1D.PreferShared.Enabled, "l1d.prefer_shared", g.SM.SharedPreferSmem},
	} {
		s[p] = gpu.Split{L1D: g.CacheConfig("l1d"), Shared: g.SM.Shared}
		if x.on {
			s[p].L1D = g.CacheConfig(x.table)
		}
		if x.shared > 0 {
			s[p].Shared = x.shared
		}
	}
	return s
}

// ChipConfig returns the settings of the whole chip.
func (g *GPU) ChipConfig() gpu.Config {
	net, _ := g.NoCConfig()
	r := &g.Run
	return gpu.Config{
		Name: g.Name, Arch: int(math.Round(10 * capability(g))), Clusters: g.Chip.Clusters, SMsPerCluster: g.Chip.SMsPerCluster, RotateSMs: g.Chip.RotateSMs,
		Kernels: g.Chip.Kernels, SharedSMs: g.Chip.SharedSMs,
		Clocks:      gpu.Clocks{Core: int64(g.Clocks.Core), Net: int64(g.Clocks.NoC), L2: int64(g.Clocks.L2), DRAM: int64(g.Clocks.DRAM)},
		ClusterFIFO: g.NoC.ClusterFIFO, PerfectMemory: g.SIMT.PerfectMemory, GatedLanes: g.SIMT.GatedLanes,
		Splits:   g.splits(),
		CoreFrom: g.borrowed,
		Core:     gpu.CoreModel(g.word("core")),
		SM:       g.SIMTConfig(), Modern: g.ModernConfig(), Net: net, Mem: g.PartitionConfig(),
		Copies:   g.copies(),
		Adaptive: gpu.Adaptive{Enabled: g.L1D.Adaptive, Unified: g.L1D.Unified, Sizes: slices.Clone(g.L1D.SharedSizes)},
		Run: gpu.Run{
			Caches: gpu.Caches(g.word("run.caches")), ICacheWarm: r.ICache == "warm", FlushL1: r.FlushL1, CopiesFillL2: r.CopiesFillL2, BlockLog: r.BlockLog,
			LaunchLatency: r.LaunchLatency, BlockLatency: r.BlockLatency, BlockInterval: r.BlockInterval, BlockTurnaround: r.BlockTurnaround, WarpTurnaround: r.WarpTurnaround, IdleSkip: r.IdleSkip, DetectDeadlock: r.DetectDeadlock,
			MaxCycles: uint64(r.MaxCycles), MaxInsts: uint64(r.MaxInsts), MaxBlocks: uint64(r.MaxBlocks), MaxDone: uint64(r.MaxDone),
		},
		Compat: g.Compat.Chip,
	}
}

// copies returns how long copies take. A channel's peak is that of its pins.
func (g *GPU) copies() gpu.Copies {
	const mega = 1_000_000
	d, l := &g.DRAM, &g.Link
	width, peak := int64(g.Chip.Channels*d.BusBytes*d.Chips*d.DataRatio), int64(math.MaxInt64)
	if f := int64(g.Clocks.DRAM); f <= peak/max(1, width) {
		peak = width * f
	}
	return gpu.Copies{
		Timed:    g.Run.Copies == "timed",
		ToDevice: int64(l.ToDevice) * mega, ToHost: int64(l.ToHost) * mega, OnDevice: peak / 100 * int64(l.DRAMShare),
		Latency: l.Latency, OneEngine: l.OneEngine,
	}
}

// localBase is where local memory begins when the windows of GPGPU-Sim are in
// use (GPGPU-Sim).
const localBase = 0x1f880000

// SIMTConfig returns the settings of a SIMT core.
func (g *GPU) SIMTConfig() simt.Config {
	s := &g.SIMT
	l, i := &s.Latency, &s.Initiation
	c := simt.Config{
		SMs: g.SMs(), Warps: g.SM.Threads / 32, Blocks: g.SM.Blocks, Registers: g.SM.Registers, Shared: g.SM.Shared,
		RegisterGranule: g.SM.RegisterGranule, WarpGranule: g.SM.WarpGranule,
		SharedGranule: g.SM.SharedGranule, SharedReserved: g.SM.SharedReserved, OneBlockAtLeast: g.SM.AlwaysOneBlock, Barriers: g.SM.Barriers,

		Schedulers: s.Schedulers, Policy: simt.Policy(g.word("simt.scheduler")), PolicyWarps: s.ActiveWarps,
		MaxIssue: s.IssuePerWarp, DualDiffer: s.DualDiffers, SubCore: s.SubCores, FetchWidth: s.FetchThroughput,

		IssueWidth: widths(&s.Issue), ExecWidth: widths(&s.Exec), WriteWidth: s.WriteBack,
		IntTime: timings([6]int{l.IntAdd, l.IntMax, l.IntMul, l.IntMad, l.IntDiv, l.IntShfl},
			[6]int{i.IntAdd, i.IntMax, i.IntMul, i.IntMad, i.IntDiv, i.IntShfl}),
		FloatTime: timings([6]int{l.FPAdd, l.FPMax, l.FPMul, l.FPMad, l.FPDiv, l.IntShfl},
			[6]int{i.FPAdd, i.FPMax, i.FPMul, i.FPMad, i.FPDiv, i.IntShfl}),
		DoubleTime: timings([6]int{l.DPAdd, l.DPMax, l.DPMul, l.DPMad, l.DPDiv, l.IntShfl},
			[6]int{i.DPAdd, i.DPMax, i.DPMul, i.DPMad, i.DPDiv, i.IntShfl}),
		SFUTime:    simt.Timing{Latency: l.SFU, Initiation: i.SFU},
		TensorTime: simt.Timing{Latency: l.Tensor, Initiation: i.Tensor},
		OtherTime:  simt.Timing{Latency: s.OtherLatency, Initiation: s.OtherInitiation},
		TraceTime:  traceTimes(s),

		Generic:       simt.Collectors{Units: s.Collector.Gen.Units, In: s.Collector.Gen.InPorts, Out: s.Collector.Gen.OutPorts},
		RegisterBanks: s.Collector.Banks, RegisterPorts: s.Collector.Steps,

		SharedBanks: s.SharedBanks, SharedLatency: s.SharedLatency, LimitedBroadcast: s.SharedOneCast,
		WarpParts: s.SharedParts, MemPorts: s.MemPorts, CoalesceArch: s.CoalesceArch,

		L1D: g.CacheConfig("l1d"), L1C: g.CacheConfig("l1c"), L1T: g.CacheConfig("l1t"), L1I: g.CacheConfig("l1i"),
		PerfectInstConst: s.PerfectInstConst,
		L1Latency:        g.L1D.Latency, L1Banks: g.L1D.Banks, L1BankBytes: g.L1D.BankInterleave,
		L1BankHash:    cache.IndexKind(g.word("l1d.bank_index")),
		GlobalSkipsL1: g.L1D.SkipGlobal, FlushL1: g.Run.FlushL1, ResponseQueue: s.ResponseFIFO, LocalBase: localBase, LocalSlots: g.Chip.LocalMap == "slots",

		Compat: g.Compat.SIMT,
	}
	if c.MemPorts == 0 {
		c.MemPorts = c.WarpParts
	}
	u := &s.Units
	c.Units = [simt.Sets]int{simt.SP: u.SP, simt.DP: u.DP, simt.Int: u.Int, simt.SFU: u.SFU, simt.Tensor: u.Tensor, simt.Mem: 1}
	for i := range s.Special {
		x, set := &s.Special[i], simt.Spec1+simt.Set(i)
		c.Units[set], c.IssueWidth[set], c.ExecWidth[set] = x.Units, x.IssueWidth, x.ExecWidth
	}
	if !s.TensorPort {
		c.Units[simt.Tensor] = 0
	}
	if s.Collector.Specialized {
		of := func(x *CollectorSet) simt.Collectors {
			return simt.Collectors{Units: x.Units, In: x.InPorts, Out: x.OutPorts}
		}
		k := &s.Collector
		c.Special = [simt.Sets]simt.Collectors{simt.SP: of(&k.SP), simt.DP: of(&k.DP), simt.Int: of(&k.Int),
			simt.SFU: of(&k.SFU), simt.Tensor: of(&k.Tensor), simt.Mem: of(&k.Mem)}
	}
	return c
}

func widths(w *Widths) [simt.Sets]int {
	return [simt.Sets]int{simt.SP: w.SP, simt.DP: w.DP, simt.Int: w.Int, simt.SFU: w.SFU, simt.Tensor: w.Tensor, simt.Mem: w.Mem}
}

func traceTimes(s *SIMT) simt.TraceTimes {
	at := func(latency, initiation int) simt.Timing {
		return simt.Timing{Latency: latency, Initiation: initiation}
	}
	l, i := &s.TraceLatency, &s.TraceInitiation
	t := simt.TraceTimes{Int: at(l.Int, i.Int), SP: at(l.SP, i.SP), DP: at(l.DP, i.DP), SFU: at(l.SFU, i.SFU), Tensor: at(l.Tensor, i.Tensor)}
	for k := range s.Special {
		t.Spec[k] = at(s.Special[k].Latency, s.Special[k].Initiation)
	}
	return t
}

func timings(latency, initiation [6]int) simt.Timings {
	at := func(i int) simt.Timing { return simt.Timing{Latency: latency[i], Initiation: initiation[i]} }
	return simt.Timings{Add: at(0), Max: at(1), Mul: at(2), Mad: at(3), Div: at(4), Shfl: at(5)}
}

func isPower(n int) bool { return n > 0 && bits.OnesCount(uint(n)) == 1 }
