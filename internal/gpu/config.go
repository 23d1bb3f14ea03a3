package gpu

import (
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/mem/noc"
	"github.com/heddle-sim/heddle/internal/mem/part"
	"github.com/heddle-sim/heddle/internal/param"
)

// Clocks are the frequencies of the four domains in hertz. Whole kilohertz
// keep their ratios exact.
type Clocks struct{ Core, Net, L2, DRAM int64 }

// Adaptive describes an L1D that uses what a kernel leaves of the memory that it
// shares with shared memory (GPGPU-Sim).
type Adaptive struct {
	// Enabled switches it on (-gpgpu_adaptive_cache_config).
	Enabled bool
	// Unified is the size of both together in KiB (-gpgpu_unified_l1d_size).
	Unified int
	// Sizes are the sizes in KiB, ascending, that shared memory can have
	// (-gpgpu_shmem_option).
	Sizes []int
}

// Caches is the state of the caches at a kernel's start.
type Caches uint8

// The states.
const (
	L2Kept  Caches = iota // L1 invalidated, L2 kept
	Flushed               // L1 and L2 empty
	Warm                  // each kernel runs once, unmeasured, before it is measured
)

var cachesNames = [...]string{"l2-kept", "flushed", "warm"}

// String returns the name of the state as in run.caches.
func (c Caches) String() string { return cachesNames[c] }

// Run holds the conditions of a run.
type Run struct {
	// Caches is the state of L1 and L2 at a kernel's start (run.caches).
	Caches Caches
	// ICacheWarm fills the instruction caches before a kernel (run.icache).
	ICacheWarm bool
	// FlushL1 invalidates the L1D of an SM whenever the SM has no threads left
	// (-gpgpu_flush_l1_cache).
	FlushL1 bool
	// CopiesFillL2 puts the data of a copy to the device into the L2 at the copy's
	// end, without taking time (run.copies_fill_l2, -gpgpu_perf_sim_memcpy).
	CopiesFillL2 bool
	// LaunchLatency is the number of core cycles from a kernel's launch to its
	// first block, BlockLatency those added for each block of its grid
	// (-gpgpu_kernel_launch_latency, -gpgpu_TB_launch_latency).
	LaunchLatency, BlockLatency int
	// BlockInterval is the minimum time between the placement of two blocks on the
	// chip, in thousandths of a core cycle; 0: every cluster may take one each
	// cycle.
	BlockInterval int
	// BlockTurnaround is the number of core cycles from a block's end until another
	// one can take its place, WarpTurnaround those added for each of its warps.
	BlockTurnaround, WarpTurnaround int
	// IdleSkip jumps over cycles in which nothing can happen (run.idle_skip).
	// It changes no result.
	IdleSkip bool
	// DetectDeadlock ends a run in which nothing has moved for a long time
	// (-gpgpu_deadlock_detect).
	DetectDeadlock bool
	// BlockLog records for every kernel where and when its blocks ran
	// (run.block_log). It changes no other result.
	BlockLog bool
	// Threads is the number of goroutines that run SMs, limited by the host; 0
	// means one. It changes no result.
	Threads int
	// The run ends after MaxCycles core cycles, MaxInsts thread instructions,
	// MaxBlocks placed blocks or MaxDone completed blocks; 0 means no limit.
	MaxCycles, MaxInsts, MaxBlocks, MaxDone uint64
}

// Compat has one switch for each behaviour of GPGPU-Sim that nobody would design
// but that changes cycles. In the zero value all are off.
type Compat struct {
	// DrainBetween ends a kernel only when the memory system is idle too, if no
	// other kernel runs (GPGPU-Sim, PTX mode). Off: it ends with its last block,
	// whose stores have then been acknowledged.
	DrainBetween bool `help:"a kernel ends only when the memory system is idle too" def:"false"`
	// ClocksRestart starts all clock domains at phase zero whenever the idle
	// chip gets work (GPGPU-Sim, PTX mode). Off: they run on.
	ClocksRestart bool `help:"all clocks start at phase zero whenever the idle chip gets work" def:"false"`
	// RoundedClocks sums clock periods with the rounding of double precision, which
	// orders domains of unequal clocks that in exact time fire together. Off: exact
	// ratios.
	RoundedClocks bool `help:"clock periods are summed with the rounding of double precision" def:"false"`
	// CopiesBackFill lets copies from the device to the host put data into the L2,
	// as copies to the device do.
	CopiesBackFill bool `help:"copies from the device fill the L2 as copies to it do" def:"false"`
	// FlushDirtyOnly makes Flushed drop only written lines of the L2. Off: it
	// empties the L2.
	FlushDirtyOnly bool `help:"a flush of the L2 drops written lines only" def:"false"`
	// TakenFirst runs the taken side of a branch before the other one. Off: after
	// it. The owner of the executor applies it.
	TakenFirst bool `help:"the taken side of a branch runs first" def:"false"`
	// PackedMemory places buffers without gaps, aligned to 256 bytes, as
	// GPGPU-Sim's allocator does. Off: with unused addresses between them. The
	// owner of device memory applies it.
	PackedMemory bool `help:"buffers are allocated without gaps" def:"false"`
	// AccelSimTraces reads traces as Accel-Sim does: without the dependences that
	// they do not name, unless trace.hidden_dependences says otherwise. The
	// replayer of traces applies it.
	AccelSimTraces bool `help:"traces are read as by Accel-Sim: dependences that they do not name are left out" def:"false"`
}

// Config is a chip's immutable settings.
type Config struct {
	// Name is the machine's name. Arch is the compute capability without its point,
	// 0 if unknown; it has no effect here.
	Name string
	Arch int
	// Clusters is the number of SM clusters, each one node of the network, and
	// SMsPerCluster the SMs of one (-gpgpu_n_clusters,
	// -gpgpu_n_cores_per_cluster).
	Clusters, SMsPerCluster int
	// GPCs is the number of graphics processing clusters, groups of neighbouring SMs within which a
	// cluster of blocks runs, of as many pairs of SMs as the others or one more, and in the last an SM without a pair;
	// a chip with fewer pairs is shared out by SMs. 0: the chip is one.
	GPCs int
	// Memory is the card's device memory in bytes. Only CUDA programs see it.
	Memory uint64
	// RotateSMs starts with a different SM of a cluster every cycle
	// (-gpgpu_simt_core_sim_order 1).
	RotateSMs bool
	// Kernels is the number of kernels that may run at a time
	// (-gpgpu_max_concurrent_kernel).
	Kernels int
	// Dispatch is the policy for placing blocks.
	Dispatch Dispatch
	// SharedSMs allows blocks of several kernels on one SM
	// (-gpgpu_concurrent_kernel_sm).
	SharedSMs bool
	// Clocks are the clock domains (-gpgpu_clock_domains).
	Clocks Clocks
	// ClusterFIFO is the number of replies that can wait at a cluster
	// (-gpgpu_n_cluster_ejection_buffer_size).
	ClusterFIFO int
	// PerfectMemory answers every request of an SM immediately
	// (-gpgpu_perfect_mem).
	PerfectMemory bool
	// GatedLanes counts completed thread instructions by active lanes, not 32 for
	// each warp instruction (-gpgpu_clock_gated_lanes). It does not affect timing.
	GatedLanes bool

	// Ideals names the idealisations that are on; they have no further effect here.
	Ideals []string
	// CoreFrom names the machine from which the cores' parameters come, if it is a
	// different one.
	CoreFrom string
	// Core has the settings of the cores, including their model, and Mem those of
	// the memory partitions. Net is the subnet for requests; New sets its numbers
	// of inputs and outputs.
	Core core.Settings
	Net  noc.Config
	Mem  part.Config

	// Splits are the L1D and the shared memory of an SM by a launch's preference; a
	// Split without an L1D is not used.
	Splits [Preferences]Split

	Adaptive Adaptive
	Copies   Copies
	Run      Run
	Compat   Compat
}

// Preference is a launch's wish for the split of the memory that L1D and shared
// memory share (cudaFuncSetCacheConfig).
type Preference uint8

// The preferences.
const (
	Undecided    Preference = iota // the launch does not say
	PreferNone                     // it withdraws its preference
	PreferL1                       // -gpgpu_cache:dl1PrefL1, -gpgpu_shmem_size_PrefL1
	PreferShared                   // -gpgpu_cache:dl1PrefShared, -gpgpu_shmem_size_PrefShared
	Preferences                    // number of preferences
)

// Split is a division of that memory: an L1D, and bytes of shared memory.
type Split struct {
	L1D    cache.Config
	Shared int
}

// split returns the split for a launch's preference: the base settings where an
// adaptive L1 decides by itself, or where no split is given.
func (c *Config) split(p Preference) Split {
	if s := c.Splits[p]; s.L1D.Sets > 0 && !c.Adaptive.Enabled {
		return s
	}
	b := c.Core.Base()
	return Split{b.L1D, b.Shared}
}

// SMs returns the number of SMs.
func (c *Config) SMs() int { return c.Clusters * c.SMsPerCluster }

// Slices returns the number of L2 slices.
func (c *Config) Slices() int { return c.Mem.Channels * c.Mem.Subs }

// Limits of a configuration.
const (
	maxClusters = 1 << 10
	maxSMs      = 1 << 12
	maxKernels  = 1 << 10
	maxFIFO     = 1 << 16
	maxClock    = 1e12
	maxWait     = 1 << 40
	maxPackets  = 1 << 23
	maxLines    = 1 << 23
	maxEntries  = 1 << 22
)

// Check reports the first contradiction, nil if there is none.
func (c *Config) Check() error {
	if !BlockSchedulers.Has(int(c.Dispatch), dispatchNames[:]) {
		return param.Clash("chip.block_scheduler", "unknown %v", c.Dispatch)
	}
	for _, b := range []struct {
		key, name string
		v, a, b   int
	}{
		{"chip.clusters", "clusters", c.Clusters, 1, maxClusters}, {"chip.sms_per_cluster", "SMs per cluster", c.SMsPerCluster, 1, maxSMs},
		{"chip.gpcs", "GPCs", c.GPCs, 0, c.SMs()},
		{"chip.kernels", "concurrent kernels", c.Kernels, 1, maxKernels}, {"noc.cluster_fifo", "cluster FIFO", c.ClusterFIFO, 1, maxFIFO},
		{"run.launch_latency", "launch latency", c.Run.LaunchLatency, 0, maxWait}, {"run.block_latency", "block launch latency", c.Run.BlockLatency, 0, maxWait},
		{"run.block_interval", "block interval", c.Run.BlockInterval, 0, maxWait}, {"run.block_turnaround", "block turnaround", c.Run.BlockTurnaround, 0, maxWait},
		{"run.warp_turnaround", "warp turnaround", c.Run.WarpTurnaround, 0, maxWait},
	} {
		if b.v < b.a || b.v > b.b {
			return param.Clash(b.key, "%s %d: want %d..%d", b.name, b.v, b.a, b.b)
		}
	}
	if c.SMs() > maxSMs {
		return param.Clash("chip.clusters chip.sms_per_cluster", "%d SMs: want at most %d", c.SMs(), maxSMs)
	}
	if _, err := newClock(c.Clocks); err != nil {
		return err
	}
	if err := c.Copies.check(); err != nil {
		return err
	}
	for p := range Preferences {
		x, s := c.Core.Clone(), c.split(p)
		b := x.Base()
		if b.Shared = s.Shared; s.L1D.Sets > 0 && !s.L1D.Disabled {
			b.L1D = s.L1D
			if err := s.L1D.Check(); err != nil {
				return fmt.Errorf("preference %d: %w", p, err)
			}
		}
		if err := x.Check(); err != nil {
			return fmt.Errorf("preference %d: %w", p, err)
		}
	}
	if err := c.Adaptive.check(c); err != nil {
		return err
	}
	if err := c.Core.Check(); err != nil {
		return fmt.Errorf("SM: %w", err)
	}
	if err := c.Mem.Check(); err != nil {
		return err
	}
	net := c.net()
	if err := net.Check(); err != nil {
		return err
	}
	return c.checkStorage()
}

// checkStorage refuses sizes that are each possible but together need more memory
// than a simulation should take.
func (c *Config) checkStorage() error {
	if n := (c.Clusters + c.Slices()) * (c.Net.InBuffer + c.Net.OutBuffer); n > maxPackets {
		return param.Clash("noc.in_buffer noc.out_buffer noc.flit_in_buffer noc.flit_out_buffer chip.clusters chip.channels chip.slices_per_channel",
			"all network buffers together hold %d packets: want at most %d", n, maxPackets)
	}
	type part struct {
		keys string // of the cache, without its table
		n    int
	}
	for _, b := range []struct {
		what string
		max  int
		of   func(x *cache.Config) []part
	}{
		{"lines", maxLines, func(x *cache.Config) []part { return []part{{"sets ways", x.Sets * x.Ways}} }},
		{"pending misses", maxEntries, func(x *cache.Config) []part {
			return []part{{"entries", x.Entries}, {"miss_queue", x.MissQueue}, {"result_queue", x.ResultQueue}}
		}},
	} {
		sum, largest, keys := 0, -1, ""
		for _, x := range append(c.Core.Caches(), &c.Mem.L2) {
			copies := c.SMs()
			if x == &c.Mem.L2 {
				copies = c.Slices()
			}
			if x.Disabled {
				continue
			}
			for _, p := range b.of(x) {
				sum += copies * p.n
				if copies*p.n > largest {
					largest, keys = copies*p.n, x.Name+"."+strings.ReplaceAll(p.keys, " ", " "+x.Name+".")
				}
			}
		}
		if sum > b.max {
			return param.Clash(keys+" chip.clusters chip.sms_per_cluster chip.channels chip.slices_per_channel",
				"all caches together have %d %s: want at most %d", sum, b.what, b.max)
		}
	}
	return nil
}

// net returns the settings of the subnet for requests.
func (c *Config) net() noc.Config {
	n := c.Net
	n.Inputs, n.Outputs, n.Reply = c.Clusters, c.Slices(), false
	return n
}

func (a *Adaptive) check(c *Config) error {
	if !a.Enabled {
		return nil
	}
	if d := &c.Core.Base().L1D; d.Disabled || d.Bytes() < 1024 {
		return param.Clash("l1d.sets l1d.ways l1d.line", "an adaptive L1 needs an L1 of at least 1 KiB")
	}
	if len(a.Sizes) == 0 {
		return param.Clash("l1d.shared_sizes", "an adaptive L1 needs a list of shared memory sizes")
	}
	last := -1
	for _, s := range a.Sizes {
		if s < 0 || s > a.Unified || s <= last {
			return param.Clash("l1d.shared_sizes l1d.unified", "shared memory sizes %v: want ascending sizes from 0 to the %d KiB that the L1 shares", a.Sizes, a.Unified)
		}
		last = s
	}
	if m := a.maxWays(c); m < 1 || m > 1<<16 {
		return param.Clash("l1d.unified l1d.sets l1d.line", "an L1 of %d KiB would have %d ways", a.Unified, m)
	}
	return nil
}

// maxWays is the L1D's associativity when it has all of the memory.
func (a *Adaptive) maxWays(c *Config) int {
	d := &c.Core.Base().L1D
	return d.Ways * a.Unified / (d.Bytes() / 1024)
}

// ways returns the L1D's associativity for a kernel whose blocks on one SM need the
// given bytes of shared memory.
func (a *Adaptive) ways(c *Config, shared int) int {
	m := a.maxWays(c)
	for _, s := range a.Sizes {
		if s*1024 >= shared {
			// Rounded to the nearest: m·(1 - s/unified) + 1/2.
			return max(1, (2*m*(a.Unified-s)+a.Unified)/(2*a.Unified))
		}
	}
	// More than the largest size: the L1 gets the rest.
	s := a.Sizes[len(a.Sizes)-1]
	return max(1, (2*m*(a.Unified-s)+a.Unified)/(2*a.Unified))
}
