package config

import (
	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/mem/dram"
	"github.com/heddle-sim/heddle/internal/mem/noc"
	"github.com/heddle-sim/heddle/internal/mem/part"
	"github.com/heddle-sim/heddle/internal/param"
)

// GPU is a whole machine and the conditions it runs under. The tags of a field are
// those of package param. A file without extends must give all values that have no
// default.
type GPU struct {
	Name              string `help:"name of the machine"`
	Description       string `help:"one-line description" def:""`
	Core              string `help:"core model that simulates it"`
	Architecture      string `help:"the vendor's name of the generation" def:""`
	ComputeCapability string `help:"major.minor, for the device properties" def:"0.0"`

	Chip      Chip
	Clocks    Clocks
	SM        SM
	L1D       L1D
	L1C       Cache
	L1T       Cache
	L1I       Cache
	NoC       NoC `key:"noc"`
	Partition Partition
	L2        L2
	DRAM      DRAM
	Link      Link
	Run       Run
	Ideal     Ideal
	Compat    Compat

	// cores are the parameters of core models, by their names.
	cores map[string]core.Params
	// sources has the source of each value, by key.
	sources map[string]string
	// lent names the GPU from which a value was taken, by key.
	lent map[string]string
	// borrowed is the result of CoreFrom.
	borrowed string
}

// Chip counts the large parts.
type Chip struct {
	Clusters         int          `help:"clusters of SMs; each is one node of the network" unit:"clusters" want:"1..1024" from:"!-gpgpu_n_clusters=10"`
	SMsPerCluster    int          `key:"sms_per_cluster" help:"SMs that share a network port" unit:"SMs" want:"1..64" def:"1" from:"-gpgpu_n_cores_per_cluster=3"`
	GPCs             int          `key:"gpcs" help:"groups of SMs within which a cluster of blocks runs; 0: the chip is one" unit:"groups" want:"0..64" def:"0"`
	Channels         int          `help:"DRAM channels, one memory partition each" unit:"channels" want:"1..1024" from:"-gpgpu_n_mem=8"`
	SlicesPerChannel int          `help:"L2 slices of a partition, a power of two" unit:"slices" want:"1..64" from:"-gpgpu_n_sub_partition_per_mchannel=1"`
	Kernels          int          `help:"kernels that may run at the same time" unit:"kernels" want:"1..1024" def:"32" from:"-gpgpu_max_concurrent_kernel=32"`
	SharedSMs        bool         `key:"shared_sms" help:"blocks of several kernels may be on one SM" def:"false" from:"-gpgpu_concurrent_kernel_sm=0"`
	RotateSMs        bool         `key:"rotate_sms" help:"the SM of a cluster that is served first changes every cycle" def:"true" from:"-gpgpu_simt_core_sim_order=1"`
	BlockScheduler   gpu.Dispatch `help:"which cluster is offered the next block first: the one after the last to take one, or the one with the lowest number" enum:"round-robin|lowest-first" plug:"block scheduler" def:"round-robin"`
	Memory           int          `help:"device memory of the card, which CUDA programs can allocate; this computer gives pages to what they write" unit:"MiB" want:"1..8388608" def:"16384" inert:"a limit of what programs allocate; no access takes longer"`
	LocalMap         string       `help:"interleaving of the words of threads' local memory: by the blocks that can be resident, those of neighbouring SMs together, or by the thread slots of one SM after another" enum:"interleaved|slots" def:"interleaved" from:"-gpgpu_local_mem_map=1 slots|interleaved"`
}

// Clocks are the four clock domains.
type Clocks struct {
	Core param.Hz `help:"clock of the SMs" unit:"MHz"`
	NoC  param.Hz `key:"noc" help:"clock of the network" unit:"MHz"`
	L2   param.Hz `help:"clock of the L2" unit:"MHz"`
	DRAM param.Hz `help:"command clock of the DRAM" unit:"MHz"`
}

// SM holds the limits on the blocks of an SM.
type SM struct {
	Threads           int  `help:"resident threads of an SM" unit:"threads" want:"32..4096"`
	Blocks            int  `help:"resident blocks of an SM" unit:"blocks" want:"1..64" from:"-gpgpu_shader_cta=32"`
	Registers         int  `help:"registers of an SM, 32 bits each" unit:"registers" want:"32..1048576" from:"-gpgpu_shader_registers=8192"`
	RegisterGranule   int  `help:"registers of a thread are rounded up to a multiple of this" unit:"registers" want:"1..256" def:"8"`
	WarpGranule       int  `help:"the warps whose registers an SM holds are rounded down to a multiple of this" unit:"warps" want:"1..32" def:"4"`
	Shared            int  `help:"shared memory of an SM that blocks can use" unit:"bytes" want:"0..1048576" from:"-gpgpu_shmem_size=16384"`
	SharedPreferNone  int  `help:"shared memory when a kernel withdraws its preference; 0: as sm.shared" unit:"bytes" want:"0..1048576" def:"0" from:"-gpgpu_shmem_sizeDefault=16384"`
	SharedPreferL1    int  `help:"shared memory when a kernel prefers L1; 0: as sm.shared" unit:"bytes" want:"0..1048576" def:"0" from:"-gpgpu_shmem_size_PrefL1=16384"`
	SharedPreferSmem  int  `help:"shared memory when a kernel prefers shared memory; 0: as sm.shared" unit:"bytes" want:"0..1048576" def:"0" from:"-gpgpu_shmem_size_PrefShared=16384"`
	SharedPerBlock    int  `help:"maximum shared memory of a block, a device property" unit:"bytes" want:"0..1048576" def:"49152" from:"-gpgpu_shmem_per_block=49152"`
	RegistersPerBlock int  `help:"maximum registers of a block, a device property" unit:"registers" want:"0..1048576" def:"65536" from:"-gpgpu_registers_per_block=8192"`
	SharedGranule     int  `help:"shared memory is allocated in multiples of this" unit:"bytes" want:"1..65536" def:"128"`
	SharedReserved    int  `help:"shared memory that the system reserves in every block" unit:"bytes" want:"0..65536" def:"0"`
	Barriers          int  `help:"barriers of a block" unit:"barriers" want:"1..16" def:"16" from:"-gpgpu_num_cta_barriers=16"`
	AlwaysOneBlock    bool `help:"a block that needs more than the SM has runs alone instead of being refused" def:"false" from:"-gpgpu_ignore_resources_limitation=0"`
}

// Cache is a cache.
type Cache struct {
	Enabled     bool              `help:"whether there is such a cache" def:"true"`
	Sectored    bool              `help:"lines of four sectors that are filled one by one" def:"false"`
	Sets        int               `help:"sets" unit:"sets" want:"1..1048576" def:"1"`
	Line        int               `help:"length of a line" unit:"bytes" want:"32..128" def:"128"`
	Ways        int               `help:"lines of a set" unit:"lines" want:"1..65536" def:"1"`
	Replace     cache.Replacement `help:"choice of the victim" enum:"lru|fifo" plug:"replacement policy" def:"lru"`
	Write       cache.WritePolicy `help:"what a write that hits does" enum:"read-only|write-back|write-through|write-evict|local-back" def:"read-only"`
	Allocate    cache.Alloc       `help:"when a line is taken for a read" enum:"on-miss|on-fill|streaming" def:"on-miss"`
	WriteMiss   cache.WriteAlloc  `help:"what a write that misses does" enum:"send|send-and-read|read-first|read-later" def:"send"`
	Index       cache.IndexKind   `help:"mapping from address to set" enum:"linear|xor|ipoly|fermi|zero" def:"linear"`
	MSHR        cache.MSHRKind    `help:"table of pending misses" enum:"associative|sector-associative|fifo|sector-fifo" def:"associative"`
	Entries     int               `help:"pending misses (fifo: accesses in flight)" unit:"entries" want:"1..1048576" def:"1"`
	Merge       int               `help:"requests that one pending miss serves (fifo: requests in flight)" unit:"requests" want:"1..1048576" def:"1"`
	MissQueue   int               `help:"requests waiting for the next level (fifo: reorder buffer)" unit:"requests" want:"1..1048576" def:"3"`
	ResultQueue int               `help:"results waiting (fifo only)" unit:"results" want:"0..1048576" def:"0"`
	Port        int               `help:"width of the data port; 0: a line" unit:"bytes" want:"0..128" def:"0"`
}

// L1D is the first-level data cache and how it shares its memory.
type L1D struct {
	Cache

	Latency        int               `help:"latency from entry to reply" unit:"cycles" want:"1..4096" def:"1" from:"-gpgpu_l1_latency=1"`
	Banks          int               `help:"banks" unit:"banks" want:"1..64" def:"1" from:"-gpgpu_l1_banks=1"`
	BankInterleave int               `help:"consecutive bytes in a bank, a power of two" unit:"bytes" want:"4..4096" def:"32" from:"-gpgpu_l1_banks_byte_interleaving=32"`
	BankIndex      cache.IndexKind   `help:"mapping from address to bank" enum:"linear|xor|ipoly|fermi" def:"linear" from:"-gpgpu_l1_banks_hashing_function=0"`
	Prefetcher     cache.Prefetching `help:"what is prefetched: nothing, or, when a read misses, the same sector of the next line" enum:"none|next-line" plug:"prefetcher" def:"none"`
	WriteRatio     int               `help:"dirty lines are not victims while less than this share of lines is dirty" unit:"percent" want:"0..100" def:"0" from:"-gpgpu_l1_cache_write_ratio=0"`
	SkipGlobal     bool              `help:"global accesses bypass the L1" def:"false" from:"-gpgpu_gmem_skip_L1D=0"`
	Adaptive       bool              `help:"memory that a kernel does not use as shared memory becomes L1" def:"false" from:"-gpgpu_adaptive_cache_config=0"`
	Unified        int               `help:"L1 and shared memory together, for adaptive" unit:"KiB" want:"0..4096" def:"0" from:"-gpgpu_unified_l1d_size=0"`
	SharedSizes    []int             `help:"sizes that shared memory can be set to, for adaptive" unit:"KiB" want:"0..4096" def:"[0]"`
	PreferL1       Cache             `enabled:"false" help:"the cache when a kernel prefers L1"`
	PreferShared   Cache             `enabled:"false" help:"the cache when a kernel prefers shared memory"`
}

// NoC is the network between clusters and L2 slices, once for requests and
// once for replies.
type NoC struct {
	ClusterFIFO int `help:"replies that wait at a cluster" unit:"packets" want:"1..65536" def:"8" from:"-gpgpu_n_cluster_ejection_buffer_size=8"`

	noc.Config `key:"."`

	FlitInBuffer  int `help:"queue from a node to its router" unit:"flits" want:"1..65536" def:"9"`
	FlitOutBuffer int `help:"flits of each channel that a router may send ahead to a node" unit:"flits" want:"1..65536" def:"64"`
}

// Partition is the path from the network through the L2 to the DRAM.
type Partition struct {
	ROPLatency  int           `help:"latency from the network to the L2" unit:"core cycles" want:"0..1048576" from:"-gpgpu_l2_rop_latency=85 -rop_latency"`
	FarLatency  int           `help:"more of it to the other half of an L2 of two halves; 0: the L2 is one" unit:"core cycles" want:"0..1048576" def:"0"`
	FarBytes    int           `help:"writes from one half to the other; 0: no limit" unit:"bytes per core cycle" want:"0..1048576" def:"0"`
	FarHeader   int           `help:"more bytes there of each write" unit:"bytes" want:"0..1048576" def:"0"`
	DRAMLatency int           `help:"latency from the L2 to the DRAM, before that of the DRAM itself" unit:"core cycles" want:"0..1048576" from:"-dram_latency=30"`
	ToL2        int           `help:"queue from the network to the L2; 0: no limit" unit:"requests" want:"0..1048576" def:"8"`
	ToDRAM      int           `help:"queue from the L2 to the DRAM; 0: no limit" unit:"requests" want:"0..1048576" def:"8"`
	FromDRAM    int           `help:"queue from the DRAM to the L2; 0: no limit" unit:"requests" want:"0..1048576" def:"8"`
	ToNoC       int           `key:"to_noc" help:"queue from the L2 to the network; 0: no limit" unit:"requests" want:"0..1048576" def:"8"`
	Mapping     string        `help:"use of the bits of an address from the highest: B bank, R row, C column, S burst, D channel, 0 unused; dramid@p; puts the channel at bit p" from:"!-gpgpu_mem_addr_mapping"`
	Indexing    part.Indexing `help:"how the L2 slice is found; a program's address mapping finds the whole place, and mapping and dram.bank_index then have no effect" enum:"consecutive|xor|ipoly|pae|random" plug:"address mapping" def:"consecutive" from:"-gpgpu_memory_partition_indexing=0"`
}

// L2 is one slice of the second-level cache.
type L2 struct {
	Cache

	Prefetcher  cache.Prefetching `help:"what is prefetched: nothing, or, when a read misses, the same sector of the next line" enum:"none|next-line" plug:"prefetcher" def:"none"`
	TextureOnly bool              `help:"only texture reads use the L2" def:"false" from:"-gpgpu_cache:dl2_texture_only=1"`
}

// DRAM is one memory channel.
type DRAM struct {
	Preset       string         `help:"a kind of memory, which sets the values of a channel and clocks.dram; values given explicitly override it" enum:"|gddr5|gddr5x|gddr6|hbm2|hbm3" def:""`
	FixedLatency bool           `help:"no DRAM after the queues: partition.dram_latency alone" def:"false" from:"-gpgpu_simple_dram_model=0"`
	Scheduler    dram.Scheduler `help:"scheduling of requests" enum:"fifo|frfcfs" plug:"DRAM scheduler" def:"frfcfs" from:"-gpgpu_dram_scheduler=1"`
	Queue        int            `help:"requests that wait for a bank; 0: no limit" unit:"requests" want:"0..1048576" def:"0" from:"-gpgpu_frfcfs_dram_sched_queue_size=0 -gpgpu_dram_sched_queue_size"`
	ReturnQueue  int            `help:"replies that wait to leave; 0: 1024, and no limit on requests in flight" unit:"requests" want:"0..1048576" def:"0" from:"-gpgpu_dram_return_queue_size=0"`
	BusBytes     int            `help:"data width of a chip" unit:"bytes" want:"1..4096" def:"4" from:"-gpgpu_dram_buswidth=4"`
	BurstLength  int            `help:"transfers of a column command" unit:"transfers" want:"1..1024" def:"4" from:"-gpgpu_dram_burst_length=4"`
	DataRatio    int            `help:"transfers in a command clock cycle" unit:"transfers" want:"1..1024" def:"2" from:"-dram_data_command_freq_ratio=2"`
	Chips        int            `help:"chips side by side in a channel" unit:"chips" want:"1..1024" def:"1" from:"-gpgpu_n_mem_per_ctrlr=1"`
	DualCommand  bool           `help:"a row and a column command may go in one cycle" def:"false" from:"-dram_dual_bus_interface=0"`
	BankIndex    part.BankHash  `help:"how the row changes the bank" enum:"linear|xor|ipoly" def:"linear" from:"-dram_bnk_indexing_policy=0"`
	GroupBy      dram.GroupBy   `help:"bits of a bank's number that select its group" enum:"high-bits|low-bits" def:"high-bits" from:"-dram_bnkgrp_indexing_policy=0"`
	NoTurnaround bool           `help:"no wait between reading and writing" def:"false" from:"-dram_elimnate_rw_turnaround=0"`
	WriteQueue   bool           `help:"writes have their own queue" def:"false" from:"-dram_seperate_write_queue_enable=0"`
	WriteSize    int            `help:"length of the write queue" unit:"requests" want:"1..1048576" def:"32"`
	WriteHigh    int            `help:"waiting writes at which writing starts" unit:"requests" want:"1..1048576" def:"28"`
	WriteLow     int            `help:"waiting writes below which writing ends" unit:"requests" want:"0..1048576" def:"16"`
	Timing       dram.Timing    `help:"what a data sheet says"`
}

// Link is the links to the host and to other devices, and the copy engines, for run.copies =
// timed.
type Link struct {
	ToDevice  int  `help:"rate of copies from the host" unit:"MB/s" want:"1..1000000000" def:"12500"`
	ToHost    int  `help:"rate of copies to the host" unit:"MB/s" want:"1..1000000000" def:"12500"`
	Peer      int  `help:"rate of copies between devices, in each direction; 0: that of copies to the host. They always take their time" unit:"MB/s" want:"0..1000000000" def:"0"`
	Latency   int  `help:"time from a copy's start to its first byte, also on the device" unit:"ns" want:"0..1000000000" def:"1000"`
	OneEngine bool `help:"the two directions share one copy engine" def:"false"`
	DRAMShare int  `help:"share of the DRAM's peak rate that copies within device memory reach, reads and writes together" unit:"%" want:"1..100" def:"80"`
}

// Run holds the conditions of a run.
type Run struct {
	Caches          gpu.Caches `help:"l2-kept: L1 empty at each kernel's start, L2 kept; flushed: both empty; warm: each kernel runs once before it is measured" enum:"l2-kept|flushed|warm" def:"l2-kept" from:"-gpgpu_flush_l2_cache=0 l2-kept|flushed"`
	ICache          string     `key:"icache" help:"instruction cache at the start" enum:"cold|warm" def:"cold"`
	FlushL1         bool       `help:"an SM's L1 is emptied whenever the SM has no threads left, and by memory barriers" def:"true" from:"-gpgpu_flush_l1_cache=0"`
	CopiesFillL2    bool       `help:"copies from the host leave their data in the L2" def:"true" from:"-gpgpu_perf_sim_memcpy=1"`
	Copies          string     `help:"instant: copies take no time; timed: they take the time given by [link]" enum:"instant|timed" def:"instant"`
	LaunchLatency   int        `help:"time from a launch to its first block" unit:"cycles" want:"0..1000000000" def:"0" from:"-gpgpu_kernel_launch_latency=0"`
	BlockLatency    int        `help:"launch latency added for each block of the grid" unit:"cycles" want:"0..1000000" def:"0" from:"-gpgpu_TB_launch_latency=0"`
	BlockInterval   int        `help:"minimum time between the placement of two blocks on the chip; 0: every cluster may take one each cycle" unit:"thousandths of a cycle" want:"0..1000000000" def:"0"`
	BlockTurnaround int        `help:"time from a block's end until another one can take its place" unit:"cycles" want:"0..1000000" def:"0"`
	WarpTurnaround  int        `help:"turnaround added for each warp of the ended block" unit:"cycles" want:"0..1000000" def:"0"`
	BlockLog        bool       `help:"the result lists where and when each block ran; affects no other number" def:"false"`
	IdleSkip        bool       `help:"skip cycles in which nothing can happen; affects no result" def:"true"`
	DetectDeadlock  bool       `help:"end a run that makes no progress" def:"true" from:"-gpgpu_deadlock_detect=1"`
	MaxCycles       int        `help:"stop after this number of cycles; 0: never" unit:"cycles" want:"0..4611686018427387904" def:"0" from:"-gpgpu_max_cycle=0"`
	MaxInsts        int        `help:"stop after this number of thread instructions; 0: never" unit:"instructions" want:"0..4611686018427387904" def:"0" from:"-gpgpu_max_insn=0"`
	MaxBlocks       int        `help:"stop after this number of placed blocks; 0: never" unit:"blocks" want:"0..4611686018427387904" def:"0" from:"-gpgpu_max_cta=0"`
	MaxDone         int        `help:"stop after this number of completed blocks; 0: never" unit:"blocks" want:"0..4611686018427387904" def:"0" from:"-gpgpu_max_completed_cta=0"`
}

// Compat holds the switches of every model for behaviour of GPGPU-Sim that nobody
// would design but that changes cycles or counters. They are on for its
// configuration files and off for our own machines.
type Compat struct {
	Cache     cache.Compat
	Partition part.Compat
	DRAM      dram.Compat
	Chip      gpu.Compat
}
