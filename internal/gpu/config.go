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

// Adaptive says how the L1D takes what a kernel leaves of the memory that it
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
	// FlushL1 invalidates the L1D of an SM whenever it has no thread left
	// (-gpgpu_flush_l1_cache).
	FlushL1 bool
	// CopiesFillL2 puts what is copied to the device into the L2 at the copy's
	// end, at no cost in time (run.copies_fill_l2, -gpgpu_perf_sim_memcpy).
	CopiesFillL2 bool
	// LaunchLatency is core cycles from a kernel's launch to its first block,
	// BlockLatency those in addition for every block of its grid
	// (-gpgpu_kernel_launch_latency, -gpgpu_TB_launch_latency).
	LaunchLatency, BlockLatency int
	// BlockInterval is the least time between two blocks placed on the chip, in
	// thousandths of a core cycle; 0: every cluster may take one each cycle.
	BlockInterval int
	// BlockTurnaround is core cycles from a block's end until another can take
	// its place, WarpTurnaround those in addition for every warp of it.
	BlockTurnaround, WarpTurnaround int
	// IdleSkip jumps over cycles in which nothing can happen (run.idle_skip).
	// It changes no result.
	IdleSkip bool
	// DetectDeadlock ends a run in which nothing has moved for long
	// (-gpgpu_deadlock_detect).
	DetectDeadlock bool
	// BlockLog has every kernel keep where and when its blocks ran
	// (run.block_log). It changes no other result.
	BlockLog bool
	// Threads is how many goroutines run SMs, as far as the host can; 0 is one.
	// It changes no result.
	Threads int
	// MaxCycles ends the run after so many core cycles, MaxInsts after so many
	// thread instructions, MaxBlocks after so many blocks were placed, MaxDone
	// after so many blocks have ended; 0 is never.
	MaxCycles, MaxInsts, MaxBlocks, MaxDone uint64
}

// Compat has one switch for each behaviour of GPGPU-Sim that one would not
// design but that changes cycles. The zero value has all off.
type Compat struct {
	// DrainBetween lets a kernel end only when the memory system is idle too,
	// if no other kernel runs (GPGPU-Sim, PTX mode). Off: with its
	// last block, whose stores have been acknowledged.
	DrainBetween bool `help:"a kernel ends only when the memory system is idle too" def:"false"`
	// ClocksRestart starts all clock domains at phase zero whenever the idle
	// chip gets work (GPGPU-Sim, PTX mode). Off: they run on.
	ClocksRestart bool `help:"all clocks start at phase zero whenever the idle chip gets work" def:"false"`
	// RoundedClocks adds up clock periods with the rounding of double
	// precision, which orders domains of unequal clocks where in exact time
	// they meet. Off: exact ratios.
	RoundedClocks bool `help:"clock periods are added up with the rounding of double precision" def:"false"`
	// CopiesBackFill lets copies from the device to the host put data into the
	// L2 as the others do.
	CopiesBackFill bool `help:"copies from the device fill the L2 as copies to it do" def:"false"`
	// FlushDirtyOnly makes Flushed drop no more than written lines of the L2.
	// Off: it empties the L2.
	FlushDirtyOnly bool `help:"a flush of the L2 drops written lines only" def:"false"`
	// TakenFirst runs the taken side of a branch before the other one. Off:
	// after it. It is for the owner of the executor to see to.
	TakenFirst bool `help:"the taken side of a branch runs first" def:"false"`
	// PackedMemory places buffers side by side, aligned to 256 bytes, as the
	// incumbent's allocator does. Off: with unused addresses between them. It
	// is for the owner of device memory to see to.
	PackedMemory bool `help:"buffers lie side by side" def:"false"`
	// AccelSimTraces reads traces as Accel-Sim does: without the dependences that
	// they do not name, unless trace.hidden_dependences says otherwise. It is for
	// who replays traces to see to.
	AccelSimTraces bool `help:"traces are read as Accel-Sim reads them: dependences that they do not name are left out" def:"false"`
}

// Config is a chip's immutable settings.
type Config struct {
	// Name is what the machine is called. Arch is the compute capability without
	// its point, 0 if nobody says; it changes nothing here.
	Name string
	Arch int
	// Clusters is the number of SM clusters, each one node of the network, and
	// SMsPerCluster the SMs of one (-gpgpu_n_clusters,
	// -gpgpu_n_cores_per_cluster).
	Clusters, SMsPerCluster int
	// RotateSMs lets another SM of a cluster be first every cycle
	// (-gpgpu_simt_core_sim_order 1).
	RotateSMs bool
	// Kernels is how many kernels may run at a time
	// (-gpgpu_max_concurrent_kernel).
	Kernels int
	// Dispatch is how blocks are handed out.
	Dispatch Dispatch
	// SharedSMs allows blocks of several kernels on one SM
	// (-gpgpu_concurrent_kernel_sm).
	SharedSMs bool
	// Clocks are the clock domains (-gpgpu_clock_domains).
	Clocks Clocks
	// ClusterFIFO is how many replies wait at a cluster
	// (-gpgpu_n_cluster_ejection_buffer_size).
	ClusterFIFO int
	// PerfectMemory answers every request of an SM at once
	// (-gpgpu_perfect_mem).
	PerfectMemory bool
	// GatedLanes counts completed thread instructions by active lanes, not 32
	// for each of a warp (-gpgpu_clock_gated_lanes). It changes no time.
	GatedLanes bool

	// CoreFrom names the machine whose parameters the cores have, if that is
	// another one.
	CoreFrom string
	// Core are the settings of the cores, which know their model. Mem is the memory
	// partitions. Net is the subnet for requests; its numbers of inputs and outputs
	// are set by New.
	Core core.Settings
	Net  noc.Config
	Mem  part.Config

	// Splits are the L1D and the shared memory of an SM by what a launch prefers,
	// void where a Split has no L1D.
	Splits [Preferences]Split

	Adaptive Adaptive
	Copies   Copies
	Run      Run
	Compat   Compat
}

// Preference is what a launch wants the memory to be that L1D and shared memory
// share (cudaFuncSetCacheConfig).
type Preference uint8

// The preferences.
const (
	Undecided    Preference = iota // the launch does not say
	PreferNone                     // it takes back what it preferred
	PreferL1                       // -gpgpu_cache:dl1PrefL1, -gpgpu_shmem_size_PrefL1
	PreferShared                   // -gpgpu_cache:dl1PrefShared, -gpgpu_shmem_size_PrefShared
	Preferences                    // how many there are
)

// Split is how the memory is shared: an L1D, and bytes of shared memory.
type Split struct {
	L1D    cache.Config
	Shared int
}

// split returns what a launch's preference comes to: the base settings where an
// adaptive L1 decides by itself, or nothing is said of it.
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

// Limits on what a configuration may ask for.
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
		return param.Clash("chip.block_scheduler", "%v is unknown", c.Dispatch)
	}
	for _, b := range []struct {
		key, name string
		v, a, b   int
	}{
		{"chip.clusters", "clusters", c.Clusters, 1, maxClusters}, {"chip.sms_per_cluster", "SMs per cluster", c.SMsPerCluster, 1, maxSMs},
		{"chip.kernels", "concurrent kernels", c.Kernels, 1, maxKernels}, {"noc.cluster_fifo", "cluster FIFO", c.ClusterFIFO, 1, maxFIFO},
		{"run.launch_latency", "launch latency", c.Run.LaunchLatency, 0, maxWait}, {"run.block_latency", "block launch latency", c.Run.BlockLatency, 0, maxWait},
		{"run.block_interval", "block interval", c.Run.BlockInterval, 0, maxWait}, {"run.block_turnaround", "block turnaround", c.Run.BlockTurnaround, 0, maxWait},
		{"run.warp_turnaround", "warp turnaround", c.Run.WarpTurnaround, 0, maxWait},
	} {
		if b.v < b.a || b.v > b.b {
			return param.Clash(b.key, "%s %d is not within %d..%d", b.name, b.v, b.a, b.b)
		}
	}
	if c.SMs() > maxSMs {
		return param.Clash("chip.clusters chip.sms_per_cluster", "%d SMs are more than the %d that can be simulated", c.SMs(), maxSMs)
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

// checkStorage refuses sizes that are possible each but together would need
// more memory than a simulation should take.
func (c *Config) checkStorage() error {
	if n := (c.Clusters + c.Slices()) * (c.Net.InBuffer + c.Net.OutBuffer); n > maxPackets {
		return param.Clash("noc.in_buffer noc.out_buffer noc.flit_in_buffer noc.flit_out_buffer chip.clusters chip.channels chip.slices_per_channel",
			"the packets of all network buffers are %d, at most %d can be simulated", n, maxPackets)
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
				"the %s of all caches are %d, at most %d can be simulated", b.what, sum, b.max)
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
			return param.Clash("l1d.shared_sizes l1d.unified", "shared memory sizes %v are not ascending from 0 to the %d KiB that the L1 shares", a.Sizes, a.Unified)
		}
		last = s
	}
	if m := a.maxWays(c); m < 1 || m > 1<<16 {
		return param.Clash("l1d.unified l1d.sets l1d.line", "an L1 of %d KiB would have %d ways", a.Unified, m)
	}
	return nil
}

// maxWays is the L1D's associativity if it has all of the memory.
func (a *Adaptive) maxWays(c *Config) int {
	d := &c.Core.Base().L1D
	return d.Ways * a.Unified / (d.Bytes() / 1024)
}

// ways returns the L1D's associativity for a kernel whose blocks on one SM
// need so many bytes of shared memory.
func (a *Adaptive) ways(c *Config, shared int) int {
	m := a.maxWays(c)
	for _, s := range a.Sizes {
		if s*1024 >= shared {
			// Rounded to the nearest: m·(1 - s/unified) + 1/2.
			return max(1, (2*m*(a.Unified-s)+a.Unified)/(2*a.Unified))
		}
	}
	// More than the largest size: what is left of it.
	s := a.Sizes[len(a.Sizes)-1]
	return max(1, (2*m*(a.Unified-s)+a.Unified)/(2*a.Unified))
}
