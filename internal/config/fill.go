package config

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/mem/dram"
	"github.com/heddle-sim/heddle/internal/mem/noc"
	"github.com/heddle-sim/heddle/internal/mem/part"
)

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
		panic("config: there is no cache " + table)
	}
	if !c.Enabled {
		return cache.Config{Disabled: true, Name: table, Level: level}
	}
	out := cache.Config{
		Name: table, Level: level,
		Sectored: c.Sectored, Sets: c.Sets, Line: c.Line, Ways: c.Ways,
		Replace:    c.Replace,
		Write:      c.Write,
		Alloc:      c.Allocate,
		WriteAlloc: c.WriteMiss,
		Index:      c.Index,
		MSHR:       c.MSHR,
		Entries:    c.Entries, Merge: c.Merge, MissQueue: c.MissQueue, ResultQueue: c.ResultQueue, Port: c.Port,
		Compat: g.Compat.Cache,
	}
	if c == &g.L1D.Cache || c == &g.L1D.PreferL1 || c == &g.L1D.PreferShared {
		out.WriteRatio, out.Prefetch = g.L1D.WriteRatio, g.L1D.Prefetcher
		if g.L1D.Adaptive {
			out.MaxWays = max(c.Ways, c.Ways*(g.L1D.Unified<<10)/max(1, c.bytes()))
		}
	}
	if c == &g.L2.Cache {
		out.Prefetch = g.L2.Prefetcher
	}
	g.idealCache(table, &out)
	return out
}

// DRAMConfig returns the settings of one DRAM channel.
func (g *GPU) DRAMConfig() dram.Config {
	d := &g.DRAM
	out := dram.Config{
		Timing:   d.Timing,
		BusBytes: d.BusBytes, BurstLength: d.BurstLength, DataRatio: d.DataRatio, Chips: d.Chips,
		Scheduler: d.Scheduler,
		QueueSize: d.Queue, ReturnQueue: d.ReturnQueue,
		Writes:      dram.WriteQueue{Enabled: d.WriteQueue, Size: d.WriteSize, High: d.WriteHigh, Low: d.WriteLow},
		DualCommand: d.DualCommand, GroupBy: d.GroupBy, NoTurnaround: d.NoTurnaround,
		Compat: g.Compat.DRAM,
	}
	g.idealDRAM(&out)
	return out
}

// PartitionConfig returns the settings of the memory partitions with their L2
// and DRAM.
func (g *GPU) PartitionConfig() part.Config {
	p := &g.Partition
	out := part.Config{
		Channels: g.Chip.Channels, Subs: g.Chip.SlicesPerChannel,
		Mapping: p.Mapping, Indexing: p.Indexing, BankHash: g.DRAM.BankIndex,
		L2: g.CacheConfig("l2"), L2TextureOnly: g.L2.TextureOnly,
		Queues:     part.Queues{ToL2: p.ToL2, ToDRAM: p.ToDRAM, FromDRAM: p.FromDRAM, ToNet: p.ToNoC},
		ROPLatency: p.ROPLatency, FarLatency: p.FarLatency, FarBytes: p.FarBytes, FarHeader: p.FarHeader, DRAMLatency: p.DRAMLatency,
		FixedLatency: g.DRAM.FixedLatency, DRAM: g.DRAMConfig(),
		Compat: g.Compat.Partition,
	}
	g.idealPartition(&out)
	return out
}

// NoCConfig returns the settings of the two networks: requests go from
// clusters to slices, replies the other way.
func (g *GPU) NoCConfig() (requests, replies noc.Config) {
	n := &g.NoC
	requests = n.Config
	requests.Open = g.Ideal.Network
	requests.Inputs, requests.Outputs = g.Chip.Clusters, g.Chip.Channels*g.Chip.SlicesPerChannel
	if requests.Kind != noc.Local {
		requests.InBuffer, requests.OutBuffer = n.FlitInBuffer, n.FlitOutBuffer
	}
	return requests, requests.Reverse()
}

// splits returns the L1D and the shared memory of an SM by a launch's preference;
// what the GPU does not give for a preference is as without one.
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
	r := g.Run
	if g.Ideal.Launch {
		r.LaunchLatency, r.BlockLatency, r.BlockInterval, r.BlockTurnaround, r.WarpTurnaround = 0, 0, 0, 0, 0
	}
	perfect, gated := false, false
	for _, m := range core.Models() {
		if p, ok := g.params(m.Name).(core.ChipWide); ok {
			a, b := p.ChipWide()
			perfect, gated = perfect || a, gated || b
		}
	}
	return gpu.Config{
		Name: g.Name, Arch: int(math.Round(10 * capability(g))), Clusters: g.Chip.Clusters, SMsPerCluster: g.Chip.SMsPerCluster, GPCs: g.Chip.GPCs, RotateSMs: g.Chip.RotateSMs,
		Memory:  uint64(g.Chip.Memory) << 20,
		Kernels: g.Chip.Kernels, Dispatch: g.Chip.BlockScheduler, SharedSMs: g.Chip.SharedSMs,
		Clocks:      gpu.Clocks{Core: int64(g.Clocks.Core), Net: int64(g.Clocks.NoC), L2: int64(g.Clocks.L2), DRAM: int64(g.Clocks.DRAM)},
		ClusterFIFO: g.NoC.ClusterFIFO, PerfectMemory: perfect, GatedLanes: gated,
		Splits:   g.splits(),
		Ideals:   g.idealised(),
		CoreFrom: g.borrowed,
		Core:     g.CoreConfig(), Net: net, Mem: g.PartitionConfig(),
		Copies:   g.copies(),
		Adaptive: gpu.Adaptive{Enabled: g.L1D.Adaptive, Unified: g.L1D.Unified, Sizes: slices.Clone(g.L1D.SharedSizes)},
		Run: gpu.Run{
			Caches: r.Caches, ICacheWarm: r.ICache == "warm", FlushL1: r.FlushL1, CopiesFillL2: r.CopiesFillL2, BlockLog: r.BlockLog,
			LaunchLatency: r.LaunchLatency, BlockLatency: r.BlockLatency, BlockInterval: r.BlockInterval, BlockTurnaround: r.BlockTurnaround, WarpTurnaround: r.WarpTurnaround, IdleSkip: r.IdleSkip, DetectDeadlock: r.DetectDeadlock,
			MaxCycles: uint64(r.MaxCycles), MaxInsts: uint64(r.MaxInsts), MaxBlocks: uint64(r.MaxBlocks), MaxDone: uint64(r.MaxDone),
		},
		Compat: g.Compat.Chip,
	}
}

// copies returns the settings of copies. A channel's peak rate is that of its pins.
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
		ToPeer: int64(cmp.Or(l.Peer, l.ToHost)) * mega, Latency: l.Latency, OneEngine: l.OneEngine,
	}
}

// localBase is the start of local memory when GPGPU-Sim's windows are in use
// (GPGPU-Sim).
const localBase = 0x1f880000

// machine returns the description of the machine for core models.
func (g *GPU) machine() *core.Machine {
	s := &g.SM
	m := &core.Machine{
		Shape: core.Shape{
			SMs: g.SMs(), Warps: s.Threads / 32, Blocks: s.Blocks, Registers: s.Registers, Shared: s.Shared,
			RegisterGranule: s.RegisterGranule, WarpGranule: s.WarpGranule, SharedGranule: s.SharedGranule, SharedReserved: s.SharedReserved,
			Barriers: s.Barriers, OneBlockAtLeast: s.AlwaysOneBlock,
			L1D: g.CacheConfig("l1d"), L1C: g.CacheConfig("l1c"), L1T: g.CacheConfig("l1t"), L1I: g.CacheConfig("l1i"),
			LocalBase: localBase, LocalSlots: g.Chip.LocalMap == "slots",
			Ideal: g.Ideal.Ideal,
		},
		L1Path: core.L1Path{
			L1Latency: g.L1D.Latency, L1Banks: g.L1D.Banks, L1BankBytes: g.L1D.BankInterleave, L1BankHash: g.L1D.BankIndex,
			GlobalSkipsL1: g.L1D.SkipGlobal, FlushL1: g.Run.FlushL1,
		},
		Architecture: g.Architecture,
	}
	for _, table := range []string{"l1d", "l1d.prefer_l1", "l1d.prefer_shared"} {
		if c := g.CacheConfig(table); !c.Disabled {
			m.DataCaches = append(m.DataCaches, c)
		}
	}
	return m
}

// CoreConfig returns the settings of the SMs.
func (g *GPU) CoreConfig() core.Settings { return g.params(g.Core).Settings(g.machine()) }

func isPower(n int) bool { return n > 0 && bits.OnesCount(uint(n)) == 1 }
