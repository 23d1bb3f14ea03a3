package modern

import (
	"errors"
	"fmt"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem/cache"
)

// Dependences is the mechanism that keeps instructions from issuing too soon.
type Dependences uint8

// The mechanisms.
const (
	Hybrid      Dependences = iota // control bits where a program has them, else scoreboards
	ControlBits                    // control bits; programs without them are refused
	Scoreboard                     // scoreboards, whatever the control bits say
	dependences
)

var dependenceNames = [dependences]string{"hybrid", "control-bits", "scoreboard"}

// String returns the name used in GPU files.
func (d Dependences) String() string { return dependenceNames[d] }

// Pipe is what an instruction executes in. Those up to Tensor have a fixed
// latency.
type Pipe uint8

// The pipes of a sub-core. FP64 is one for all sub-cores.
const (
	Int Pipe = iota
	FP32
	Pred
	Uniform
	Branch
	Misc
	Tensor
	SFU
	MiscQueue
	FP64
	Memory
	Pipes // how many there are
)

var pipeNames = [Pipes]string{"int", "fp32", "pred", "uniform", "branch", "misc", "tensor", "sfu", "misc_queue", "fp64", "memory"}

// String returns the name used in reports.
func (p Pipe) String() string { return pipeNames[p] }

// Timing is how a class of instructions executes.
type Timing struct {
	Pipe Pipe
	// Interval is the cycles between two instructions in the pipe.
	Interval int
	// Latency is, of fixed latency, the cycles from issue to the issue of a
	// consumer; else those from the start in the pipe to it.
	Latency int
}

// Access is a row of the paper's Table 2: cycles from the issue of a memory
// instruction to that of one that writes its sources (WAR), and of one that
// reads its result (RAW), when it hits and nothing else is under way.
type Access struct{ WAR, RAW int }

// The columns of Accesses: the address from uniform registers alone, or not.
const (
	UniformAddress = iota
	RegularAddress
	addressKinds
)

// Accesses are the rows of Table 2 for 32, 64 and 128 bits, by address.
type Accesses [addressKinds][3]Access

// Tags is the shape of a small cache.
type Tags struct{ Sets, Ways, Line int }

// Bytes returns its capacity.
func (t Tags) Bytes() int { return t.Sets * t.Ways * t.Line }

// Config is a core's immutable settings.
type Config struct {
	// SMs is the number of SMs of the GPU, on which the layout of local memory
	// depends.
	SMs int
	// Warps and Blocks are what is resident at most; Warps is at most 64.
	Warps, Blocks int
	// Registers is the number of 32-bit registers, Shared the shared memory in
	// bytes.
	Registers, Shared int
	// RegisterGranule rounds up a thread's registers, SharedGranule a block's
	// shared memory after SharedReserved bytes of the system's; 0 and 1 do not.
	RegisterGranule, SharedGranule, SharedReserved int

	// SubCores is the number of sub-cores; warp slot w belongs to sub-core w mod
	// SubCores ([HW]: 4).
	SubCores int
	// Dependences is the mechanism, Consumers how many readers a scoreboard
	// counts for each register (1, 3 and 63 in the paper's Table 7).
	Dependences Dependences
	Consumers   int

	// Buffer is the length of a warp's instruction buffer ([HW]: 3).
	Buffer int
	// L0I is the instruction cache of a sub-core (Turing 16 KiB, else 32 KiB,
	// lines of 128 bytes, LRU [SIM]), Prefetch the lines of its stream buffer
	// (8 [SIM], 0 for none).
	L0I      Tags
	Prefetch int
	// PerfectICache makes every fetch hit.
	PerfectICache bool
	// LinkUp and LinkDown are the cycles from a sub-core to the L1I, which is
	// the constant cache of level 1.5 too, and back (39 and 39 [SIM]; with the
	// look-up they make the 79 cycles of [HW]).
	LinkUp, LinkDown int
	// L1I is that cache (128 KiB, 64 sets of 16 ways [SIM]).
	L1I cache.Config
	// L0FL is the constant cache of a sub-core for instructions of fixed latency
	// (512 bytes [SIM]), L0VL that of the SM for LDC (2 KiB [SIM]). That they are
	// apart is [HW].
	L0FL, L0VL Tags
	// PerfectConst makes every look-up of a constant hit.
	PerfectConst bool
	// ConstSwitch is the cycles in which nothing is issued when the constant of
	// the chosen warp's instruction is not in the L0FL ([HW]: 4).
	ConstSwitch int
	// KeepCode lets instruction and constant caches keep their lines from one
	// kernel to the next. Off: they are emptied [SIM].
	KeepCode bool

	// LongStall is the stall of a counter above 11 without the yield bit ([HW]:
	// 1 or 2 cycles).
	LongStall int
	// ZeroStall is that of a counter of 0 with the yield bit ([HW]: 45).
	ZeroStall int
	// DepbarDelay is the cycles from the issue of a DEPBAR until it holds the
	// warp ([HW]: 4).
	DepbarDelay int
	// GuardExtra is the cycles that a guard, or a branch, needs more than an
	// operand to see a predicate of the Pred pipe: a compiler's code for sm_80
	// has a SEL 8 cycles behind its ISETP, and guards never less than 13 behind.
	GuardExtra int
	// MadBubble is the cycles in which nothing is issued after an IMAD (1
	// [SIM]).
	MadBubble int

	// Ports is the number of read ports of a register bank ([HW]: 1); 0 is no
	// limit.
	Ports int
	// RFC is the register-file cache, which the reuse bits control [HW].
	RFC bool
	// Window is the cycles in which an instruction of fixed latency reads its
	// sources ([HW]: 3), WideWindow that of one with a source of four registers
	// (6 [SIM]).
	Window, WideWindow int
	// ResultQueue is how many cycles a result waits at most for the write port
	// of its bank behind others of fixed latency (8 [SIM]). Nobody waits longer
	// for it.
	ResultQueue int

	// Time holds the timing of every class but those of Memory and Tensor.
	Time [isa.Classes]Timing
	// FP32OnInt lets FP32 instructions use the Int pipe when it is free (Ampere
	// and later [HW], the rule [SIM]).
	FP32OnInt bool
	// TensorExtra is the extra cycles of HMMA.16816.F32 and HMMA.1688.F32 on
	// their interval (16 on GeForce since Ampere, 8 on Turing, 0 on the RTX A6000
	// [SIM]).
	TensorExtra int
	// TensorHalves is the interval of matrix instructions without binary32
	// accumulators in halves of the formula's cycles: 1 [SIM], which is the A100's
	// rate, 2 on consumer chips ([HW]: 511 products a cycle and SM on the RTX
	// 4090; 512 by the data sheets of Turing, GA10x and GB20x).
	TensorHalves int
	// TensorF32 and TensorF16 are what is added to the formula's cycles to make
	// the dependent distance of products with and without binary32
	// accumulators.
	TensorF32, TensorF16 int
	// Divide is the cycles of a division or square root that is a routine in
	// SASS: of integers, binary32 and binary64. Only PTX has such instructions.
	Divide [3]int
	// QueueFP64 is the entries of a sub-core's FP64 queue (3 [SIM]), ReadFP64 the
	// cycles from the start until its sources have been read.
	QueueFP64, ReadFP64 int
	// QueueMisc is the entries of the misc queue (3 [SIM]).
	QueueMisc int

	// MemQueue is how many memory instructions a sub-core holds ([HW]: 5: a
	// queue of 4 and a latch; Turing 4 [SIM]).
	MemQueue int
	// AddressStart is the cycles from issue to the address unit, AddressCycles
	// those that an instruction spends there ([HW], Figure 2: 6 and 4).
	AddressStart, AddressCycles int
	// AcceptCycles is the cycles between two instructions that the memory unit
	// of the SM takes from its sub-cores ([HW]: 2).
	AcceptCycles int
	// AsPrinted takes the latencies of Table 2 as issue to issue. Off: they
	// count one cycle more than that, as the paper's Figure 2 and its simulator
	// say.
	AsPrinted bool
	// Load, Store, SharedLoad, SharedStore and Copy (LDGSTS) are Table 2 [HW];
	// Constant is LDC with an address from a register (first) or without. Mio is
	// what passes the queue without touching memory, such as S2R and SHFL.
	Load, Store, SharedLoad, SharedStore, Copy Accesses
	Constant                                   [addressKinds]Access
	Mio                                        Access
	// Texture is the least latency of a texture instruction in cycles (200
	// [SIM]).
	Texture int
	// PRT is the entries of the pending request table (128 [SIM]), Coalescers
	// how many of them are expanded at a time, a line each in a cycle (4 [SIM]).
	PRT, Coalescers int
	// SharedBanks is the number of 4-byte banks of shared memory (32).
	SharedBanks int
	// L1D is the data cache. L1Latency is the cycles to its look-up (13 [SIM]);
	// L1Banks banks by line take L1Lookups look-ups a cycle each (4 and 4
	// [SIM]), all together L1Sectors sectors a cycle: 4 of 32 bytes, since loads
	// of 128 bits bring 117.8 bytes a cycle on the RTX 4090 and of 64 bits 124.7
	// on the RTX 3060 [HW].
	L1D                           cache.Config
	L1Latency, L1Banks, L1Lookups int
	L1Sectors                     int
	// ResponseQueue is the length of the queue of replies.
	ResponseQueue int
	// LocalBase is where local memory lies in the physical address space.
	LocalBase uint64
	// Fence is the least cycles of a memory barrier for the block, the GPU and
	// the system (53, 186, 2900 [SIM]).
	Fence [3]int
}

// Ampere returns the core of GA10x as the authors configure it for the RTX
// A6000 [SIM] with the measured figures [HW].
func Ampere() Config {
	c := Config{
		SMs: 84, Warps: 48, Blocks: 32, Registers: 65536, Shared: 100 << 10, RegisterGranule: 8, SharedGranule: 128, SharedReserved: 1024,
		SubCores: 4, Consumers: 63,
		Buffer: 3, L0I: Tags{8, 32, 128}, Prefetch: 8, LinkUp: 39, LinkDown: 39,
		L0FL: Tags{4, 2, 64}, L0VL: Tags{4, 8, 64}, ConstSwitch: 4,
		LongStall: 2, ZeroStall: 45, DepbarDelay: 4, GuardExtra: 5, MadBubble: 1,
		Ports: 1, RFC: true, Window: 3, WideWindow: 6, ResultQueue: 8,
		FP32OnInt: true, TensorHalves: 2,
		// DocumentSASS: HMMA.16816 takes 33 cycles with binary32 accumulators on
		// sm_86, where the formula gives 32, and 24 with binary16, where it gives 16.
		TensorF32: 1, TensorF16: 8,
		// Measured: div.s32 on the A100 (Abdelkhalik 2022), sqrt.f32 on the TITAN V
		// (Arafa 2019), div.f64 on the A100.
		Divide:    [3]int{66, 60, 426},
		QueueFP64: 3, ReadFP64: 18, QueueMisc: 3,
		MemQueue: 5, AddressStart: 6, AddressCycles: 4, AcceptCycles: 2,
		Load:        Accesses{{{9, 29}, {9, 31}, {9, 35}}, {{11, 32}, {11, 34}, {11, 38}}},
		Store:       Accesses{{{10, 0}, {12, 0}, {16, 0}}, {{14, 0}, {16, 0}, {20, 0}}},
		SharedLoad:  Accesses{{{9, 23}, {9, 23}, {9, 25}}, {{9, 24}, {9, 24}, {9, 26}}},
		SharedStore: Accesses{{{10, 0}, {12, 0}, {16, 0}}, {{12, 0}, {14, 0}, {18, 0}}},
		Copy:        Accesses{{{13, 39}, {13, 39}, {13, 39}}, {{13, 39}, {13, 39}, {13, 39}}},
		Constant:    [addressKinds]Access{{10, 26}, {29, 29}},
		// No figure in the paper: taken as a load from shared memory [INF].
		Mio:     Access{9, 24},
		Texture: 200, PRT: 128, Coalescers: 4, SharedBanks: 32,
		L1Latency: 13, L1Banks: 4, L1Lookups: 4, L1Sectors: 4, ResponseQueue: 64, LocalBase: 0x1F88_0000,
		Fence: [3]int{53, 186, 2900},
	}
	c.L1I = mustCache("N:64:128:16,L:R:f:N:L,A:32:32,32")
	c.L1D = mustCache("S:4:128:256,L:T:m:L:L,A:384:48,32:0,32")
	c.Time = [isa.Classes]Timing{
		isa.ClassInt:     {Int, 2, 4},     // [HW] MOV, IADD3
		isa.ClassIntSlow: {SFU, 8, 13},    // T4: about 15 from issue (Jia 2019)
		isa.ClassFP32:    {FP32, 2, 4},    // [HW]
		isa.ClassIMAD:    {FP32, 2, 4},    // [SIM]
		isa.ClassHalf:    {FP32, 1, 5},    // distance [HW], interval [SIM]
		isa.ClassSetp:    {Pred, 2, 13},   // [SIM], as compilers wait
		isa.ClassPred:    {Pred, 2, 13},   // [SIM]
		isa.ClassSFU:     {SFU, 8, 15},    // interval [SIM]; MUFU 17 from issue on sm_86 (DocumentSASS)
		isa.ClassUniform: {Uniform, 2, 4}, // [SIM]
		isa.ClassBranch:  {Branch, 1, 3},  // [SIM]
		isa.ClassMisc:    {Misc, 1, 2},    // [SIM]
		isa.ClassMiscQ:   {MiscQueue, 2, 7},
		isa.ClassFP64:    {FP64, 16, 52}, // 54 from issue, 16 apart (RTX 4090, measured)
		isa.ClassDMMA:    {FP64, 16, 52},
	}
	return c
}

// Turing returns the core of TU10x as the authors configure it.
func Turing() Config {
	c := Ampere()
	c.SMs, c.Warps, c.Blocks, c.Shared, c.SharedReserved = 68, 32, 16, 64<<10, 0
	c.L0I = Tags{4, 32, 128}
	c.FP32OnInt, c.TensorExtra = false, 8
	c.MemQueue = 4
	c.L1D = mustCache("S:3:128:256,L:T:m:L:L,A:384:48,32:0,32")
	// The first stage of its memory instructions is a cycle shorter [SIM].
	for _, t := range []*Accesses{&c.Load, &c.Store, &c.SharedLoad, &c.SharedStore, &c.Copy} {
		for i := range t {
			for j := range t[i] {
				t[i][j].shorten()
			}
		}
	}
	for i := range c.Constant {
		c.Constant[i].shorten()
	}
	c.Mio.shorten()
	c.AddressStart--
	c.Time[isa.ClassSFU].Latency = 13 // T4: about 15 from issue (Jia 2019)
	return c
}

func (a *Access) shorten() {
	a.WAR--
	if a.RAW > 0 {
		a.RAW--
	}
}

// mustCache reads a cache string of this package.
func mustCache(s string) cache.Config {
	c, err := cache.ParseConfig(s)
	if err != nil {
		panic(err)
	}
	return c
}

// Limits on what a configuration may ask for.
const (
	maxWarps    = 64
	maxSubCores = 8
	maxLatency  = wheelSize - 1024
	maxBuffer   = 16
	maxPrefetch = 64
	maxStorage  = 1 << 30
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
		{"register granule", c.RegisterGranule, 1, 256}, {"shared memory granule", c.SharedGranule, 0, 1 << 16},
		{"reserved shared memory", c.SharedReserved, 0, 1 << 16}, {"sub-cores", c.SubCores, 1, maxSubCores},
		{"dependence mechanism", int(c.Dependences), 0, int(dependences) - 1}, {"scoreboard consumers", c.Consumers, 1, 255},
		{"instruction buffer", c.Buffer, 1, maxBuffer}, {"stream buffer", c.Prefetch, 0, maxPrefetch},
		{"link to the L1I", c.LinkUp, 1, maxLatency}, {"link from the L1I", c.LinkDown, 1, maxLatency},
		{"constant switch", c.ConstSwitch, 1, maxLatency}, {"stall above 11", c.LongStall, 1, 60},
		{"stall 0 with yield", c.ZeroStall, 1, 60}, {"DEPBAR delay", c.DepbarDelay, 1, maxDepbar}, {"IMAD bubble", c.MadBubble, 0, 60},
		{"guard extra", c.GuardExtra, 0, 60},
		{"register ports", c.Ports, 0, maxPorts}, {"read window", c.Window, 1, 16}, {"wide read window", c.WideWindow, c.Window, 16},
		{"result queue", c.ResultQueue, 1, 32}, {"tensor extra", c.TensorExtra, 0, 256}, {"tensor halves", c.TensorHalves, 1, 16},
		{"tensor F32 latency", c.TensorF32, 0, 256}, {"tensor F16 latency", c.TensorF16, 0, 256},
		{"FP64 queue", c.QueueFP64, 1, queueSize}, {"FP64 read", c.ReadFP64, 1, 256}, {"misc queue", c.QueueMisc, 1, queueSize},
		{"memory queue", c.MemQueue, 1, queueSize}, {"address start", c.AddressStart, 3, 64},
		{"address cycles", c.AddressCycles, 1, 64}, {"accept cycles", c.AcceptCycles, 1, 64},
		{"texture latency", c.Texture, 2, maxLatency}, {"pending request table", c.PRT, 1, 4096},
		{"coalescers", c.Coalescers, 1, 64}, {"shared memory banks", c.SharedBanks, 1, 64},
		{"L1D latency", c.L1Latency, 1, maxLatency}, {"L1D banks", c.L1Banks, 1, 64}, {"L1D look-ups", c.L1Lookups, 1, 64},
		{"L1D sectors", c.L1Sectors, 1, 4096},
		{"response queue", c.ResponseQueue, 1, 1 << 16},
	}
	for i, n := range c.Fence {
		list = append(list, bound{[...]string{"block", "GPU", "system"}[i] + " fence", n, 1, maxLatency})
	}
	for _, n := range c.Divide {
		list = append(list, bound{"division", n, 1, maxLatency})
	}
	for i, t := range c.Time {
		if t != (Timing{}) {
			n := isa.Class(i).String()
			list = append(list, bound{n + " pipe", int(t.Pipe), 0, int(Pipes) - 1}, bound{n + " interval", t.Interval, 1, 256},
				bound{n + " latency", t.Latency, 1, 512})
		}
	}
	first := c.AddressStart + c.AddressCycles
	for _, a := range c.accesses() {
		list = append(list, bound{a.name + " WAR", a.WAR, c.AddressStart + 2, maxLatency})
		if a.RAW != 0 {
			list = append(list, bound{a.name + " RAW", a.RAW, first + 2, maxLatency})
		}
	}
	for _, b := range list {
		if b.v < b.a || b.v > b.b {
			return fmt.Errorf("%s %d is not within %d..%d", b.name, b.v, b.a, b.b)
		}
	}
	for _, t := range []struct {
		name string
		t    Tags
	}{{"L0I", c.L0I}, {"L0FL", c.L0FL}, {"L0VL", c.L0VL}} {
		switch {
		case t.t.Sets < 1 || t.t.Ways < 1 || t.t.Sets*t.t.Ways > 1<<16:
			return fmt.Errorf("%s has %d sets of %d ways", t.name, t.t.Sets, t.t.Ways)
		case t.t.Line < 16 || t.t.Line > 128 || t.t.Line&(t.t.Line-1) != 0:
			return fmt.Errorf("%s line %d is not 16, 32, 64 or 128 bytes", t.name, t.t.Line)
		}
	}
	switch {
	case c.SubCores > c.Warps:
		return fmt.Errorf("%d sub-cores have only %d warps", c.SubCores, c.Warps)
	case c.SharedBanks&(c.SharedBanks-1) != 0 || c.L1Banks&(c.L1Banks-1) != 0:
		return fmt.Errorf("shared memory banks %d or L1D banks %d are no power of two", c.SharedBanks, c.L1Banks)
	case c.L1I.Disabled && !(c.PerfectICache && c.PerfectConst):
		return errors.New("without an L1I, instruction and constant caches must be perfect")
	}
	for i := range c.Time {
		if t := c.Time[i]; t.Pipe == Memory || t.Pipe == Tensor {
			return fmt.Errorf("class %s cannot be given to pipe %s", isa.Class(i), t.Pipe)
		}
	}
	return nil
}

type namedAccess struct {
	name string
	Access
}

func (c *Config) accesses() []namedAccess {
	list := []namedAccess{{"LDC immediate", c.Constant[0]}, {"LDC", c.Constant[1]}, {"S2R", c.Mio}}
	for _, t := range []struct {
		name string
		a    *Accesses
	}{{"LDG", &c.Load}, {"STG", &c.Store}, {"LDS", &c.SharedLoad}, {"STS", &c.SharedStore}, {"LDGSTS", &c.Copy}} {
		for i := range t.a {
			for j, x := range t.a[i] {
				list = append(list, namedAccess{fmt.Sprintf("%s.%d", t.name, 32<<j), x})
			}
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
// the next one; ties go to the first in the order of the limits. Registers are
// given to warps, whose sub-core must have them.
func (c *Config) Occupancy(threads, registers, shared int) (int, Limit) {
	warps := (threads + 31) / 32
	n, by := c.Warps/warps, ByThreads
	if s := c.sharedOf(shared); s > 0 && c.Shared/s < n {
		n, by = c.Shared/s, ByShared
	}
	if registers > 0 {
		per := c.Registers / c.SubCores / (32 * roundUp(registers, c.RegisterGranule)) * c.SubCores
		if m := per / warps; m < n {
			n, by = m, ByRegisters
		}
	}
	if c.Blocks < n {
		n, by = c.Blocks, ByBlocks
	}
	return n, by
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// sharedOf returns the shared memory that a block takes of an SM.
func (c *Config) sharedOf(bytes int) int {
	return roundUp(bytes+c.SharedReserved, max(1, c.SharedGranule))
}

// Storage is what a dependence mechanism costs (the paper's Table 7).
type Storage struct {
	// Warp and SM are its bits for a warp and for all warps of an SM.
	Warp, SM int
	// Percent relates them to the register file.
	Percent float64
}

// scoreboardEntries is how many registers of a warp a scoreboard watches: 255
// general, 63 uniform, 7 predicates and 7 uniform ones (the paper's Table 7).
const scoreboardEntries = 332

// DependenceBits returns the storage of the mechanism: 6 counters of 6 bits,
// the stall counter and the yield bit for control bits; for scoreboards a
// bit for writes, and as many as count the consumers, for every register.
func (c *Config) DependenceBits(bits bool) Storage {
	n := float64(6*6 + 4 + 1)
	if !bits {
		n = scoreboardEntries * (1 + float64(log2(c.Consumers+1)))
	}
	s := Storage{Warp: int(n), SM: int(n) * c.Warps}
	s.Percent = 100 * float64(s.SM) / float64(32*c.Registers)
	return s
}

// log2 is the number of bits that tell n values apart.
func log2(n int) int {
	b := 0
	for 1<<b < n {
		b++
	}
	return b
}
