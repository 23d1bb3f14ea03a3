package modern

import (
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/internal/compile/machine"
	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/param"
)

// Dependences is the mechanism that keeps instructions from issuing too soon.
type Dependences uint8

// The mechanisms.
const (
	Hybrid      Dependences = iota // control bits if a program has them, else scoreboards
	ControlBits                    // control bits; programs without them are refused
	Scoreboard                     // scoreboards, whatever the control bits say
	dependences
)

var dependenceNames = [dependences]string{"hybrid", "control-bits", "scoreboard"}

// String returns the name used in GPU files.
func (d Dependences) String() string { return dependenceNames[d] }

// Pipe is the pipe in which an instruction executes. Those up to Tensor have a fixed
// latency.
type Pipe uint8

// The pipes of a sub-core. All sub-cores share one FP64 pipe.
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
	Pipes // number of pipes
)

var pipeNames = [Pipes]string{"int", "fp32", "pred", "uniform", "branch", "misc", "tensor", "sfu", "misc_queue", "fp64", "memory"}

// String returns the name used in reports.
func (p Pipe) String() string { return pipeNames[p] }

// Policy is the order in which a sub-core tries its warps.
type Policy uint8

// The policies. Both try the warp that issued last first.
const (
	CGGTY Policy = iota // then the youngest [HW]
	GTO                 // then the oldest
)

func init() { core.Schedulers.Take("cggty", "gto") }

// Config holds a core's immutable settings.
type Config struct {
	core.Shape
	Params
}

// Ampere returns the core of GA10x as the authors configure it for the RTX
// A6000 [SIM] with the measured figures [HW].
func Ampere() Config {
	shape := core.Shape{
		SMs: 84, Warps: 48, Blocks: 32, Registers: 65536, Shared: 100 << 10, RegisterGranule: 8, SharedGranule: 128, SharedReserved: 1024,
		LocalBase: 0x1F88_0000, Replies: 1,
	}
	c := Config{shape, Params{
		SubCores: 4, Consumers: 63, Counters: machine.Ampere.Counters,
		Buffer: 3, L0I: Tags{8, 32, 128}, Prefetch: 8, LinkUp: 39, LinkDown: 39,
		L0FL: Tags{4, 2, 64}, L0VL: Tags{4, 8, 64}, ConstSwitch: 4,
		LongStall: 2, ZeroStall: 45, DepbarDelay: 4, GuardExtra: machine.Ampere.GuardExtra, MadBubble: 1,
		Ports: 1, RFC: machine.Ampere.Reuse, Window: 3, WideWindow: 6, ResultQueue: 8,
		FP32OnInt: true, TensorHalves: 2,
		// NVIDIA's compiler leaves 24 cycles after HMMA.16816 for sm_86, where the formula
		// gives 16, and 16 after IMMA.16816, where it gives 8. DocumentSASS has 33 for
		// binary32 accumulators, which is how long they hold the pipe of a GeForce.
		TensorF32: 8, TensorF16: 8,
		// Measured: div.s32 on the A100 (Abdelkhalik 2022), sqrt.f32 on the TITAN V
		// (Arafa 2019), div.f64 on the A100.
		DivideInt: 66, DivideF32: 60, DivideF64: 426,
		QueueFP64: 3, ReadFP64: 18, QueueMisc: 3,
		MemQueue: 5, AddressStart: 6, AddressCycles: 4, AcceptCycles: 2,
		Load:        Latencies{[3]int{9, 9, 9}, [3]int{29, 31, 35}, [3]int{11, 11, 11}, [3]int{32, 34, 38}},
		Store:       Writes{[3]int{10, 12, 16}, [3]int{14, 16, 20}},
		SharedLoad:  Latencies{[3]int{9, 9, 9}, [3]int{23, 23, 25}, [3]int{9, 9, 9}, [3]int{24, 24, 26}},
		SharedStore: Writes{[3]int{10, 12, 16}, [3]int{12, 14, 18}},
		Copy:        Latencies{[3]int{13, 13, 13}, [3]int{39, 39, 39}, [3]int{13, 13, 13}, [3]int{39, 39, 39}},
		Constant:    Constant{10, 26, 29, 29},
		// No figure in the paper: taken as a load from shared memory [INF].
		Mio:     Access{9, 24},
		Texture: 200, PRT: 128, Coalescers: 4, LineCycles: 1, RepliesTaken: 1, SharedBanks: 32,
		L1Latency: 13, L1Banks: 4, L1Lookups: 4, L1Sectors: 4, ResponseQueue: 64,
		FenceBlock: 53, FenceGPU: 186, FenceSystem: 2900,
		Hopper: hopper(),
	}}
	c.L1I = mustCache("N:64:128:16,L:R:f:N:L,A:32:32,32")
	c.L1D = mustCache("S:4:128:256,L:T:m:L:L,A:384:48,32:0,32")
	c.Time = [isa.Classes]Timing{
		isa.ClassInt:         {Int, 2, 4},                              // [HW] MOV, IADD3
		isa.ClassIntSlow:     {SFU, 8, 13},                             // T4: about 15 from issue (Jia 2019)
		isa.ClassFP32:        {FP32, 2, 4},                             // [HW]
		isa.ClassIMAD:        {FP32, 2, 4},                             // [SIM]
		isa.ClassHalf:        {FP32, 1, 5},                             // distance [HW], interval [SIM]
		isa.ClassSetp:        {Pred, 2, 13},                            // [SIM], as compilers wait
		isa.ClassPred:        {Pred, 2, 13},                            // [SIM]
		isa.ClassSFU:         {SFU, 8, 15},                             // interval [SIM]; MUFU 17 from issue on sm_86 (DocumentSASS)
		isa.ClassUniform:     {Uniform, 2, 4},                          // [SIM]
		isa.ClassUniformMove: {Uniform, 2, machine.Ampere.UniformMove}, // as compilers wait
		isa.ClassBranch:      {Branch, 1, 3},                           // [SIM]
		isa.ClassMisc:        {Misc, 1, 2},                             // [SIM]
		isa.ClassMiscQ:       {MiscQueue, 2, 7},
		isa.ClassFP64:        {FP64, 16, 52}, // 54 from issue, 16 apart (RTX 4090, measured)
		isa.ClassDMMA:        {FP64, 16, 52},
	}
	return c
}

// Turing returns the core of TU10x as the authors configure it.
func Turing() Config {
	c := Ampere()
	c.SMs, c.Warps, c.Blocks, c.Shared, c.SharedReserved = 68, 32, 16, 64<<10, 0
	c.L0I = Tags{4, 32, 128}
	c.FP32OnInt, c.TensorExtra = false, 8
	c.TensorF32, c.TensorF16 = 6, 6 // 14 after HMMA.1688, 10 after IMMA.8816 (Mesa's table for sm_75)
	c.MemQueue = 4
	c.L1D = mustCache("S:3:128:256,L:T:m:L:L,A:384:48,32:0,32")
	// The first stage of its memory instructions is a cycle shorter [SIM].
	for _, a := range c.accesses() {
		*a.war--
		if a.raw != nil {
			*a.raw--
		}
	}
	c.AddressStart--
	c.Time[isa.ClassSFU].Latency = 13 // T4: about 15 from issue (Jia 2019)
	return c
}

// mustCache reads a cache string of this package.
func mustCache(s string) cache.Config {
	c, err := cache.ParseConfig(s)
	if err != nil {
		panic(err)
	}
	return c
}

// Limits of tables of fixed size; the bounds of parameters do not exceed them.
const (
	maxWarps    = 64
	maxSubCores = 8
	maxBuffer   = 16
)

// parameters are the declared parameters of Params.
var parameters = param.Of(new(Params), "modern.", false)

// Check reports the first contradiction among the settings, nil if there is none.
func (c *Config) Check() error {
	if err := param.Check(parameters, &c.Params); err != nil {
		return err
	}
	if err := c.Shape.Check(); err != nil {
		return err
	}
	first := c.AddressStart + c.AddressCycles
	for _, a := range c.accesses() {
		if least := c.AddressStart + 2; *a.war < least {
			return param.Clash(a.key("war")+" modern.address_start modern.address_cycles", "%s WAR %d must be at least %d", a.name, *a.war, least)
		}
		if least := first + 2; a.raw != nil && *a.raw < least {
			return param.Clash(a.key("raw")+" modern.address_start modern.address_cycles", "%s RAW %d must be at least %d", a.name, *a.raw, least)
		}
	}
	for _, t := range []struct {
		name string
		t    Tags
	}{{"l0i", c.L0I}, {"l0fl", c.L0FL}, {"l0vl", c.L0VL}} {
		at := "modern." + t.name
		switch {
		case t.t.Sets*t.t.Ways > 1<<16:
			return param.Clash(at+".sets "+at+".ways", "%s has %d sets of %d ways; want at most %d lines in all", strings.ToUpper(t.name), t.t.Sets, t.t.Ways, 1<<16)
		case t.t.Line&(t.t.Line-1) != 0:
			return param.Clash(at+".line", "%s line of %d bytes; want 16, 32, 64 or 128", strings.ToUpper(t.name), t.t.Line)
		}
	}
	switch {
	case c.WideWindow < c.Window:
		return param.Clash("modern.wide_window modern.window", "wide read window %d must not be less than the window %d", c.WideWindow, c.Window)
	case c.RepliesTaken > c.ResponseQueue:
		return param.Clash("modern.replies_taken modern.response_queue", "an SM that holds %d replies cannot take %d in a cycle", c.ResponseQueue, c.RepliesTaken)
	case c.SubCores > c.Warps:
		return param.Clash("modern.sub_cores sm.threads", "%d sub-cores need at least as many warps, not %d", c.SubCores, c.Warps)
	case c.SharedBanks&(c.SharedBanks-1) != 0 || c.L1Banks&(c.L1Banks-1) != 0:
		return param.Clash("modern.shared_banks modern.l1_banks", "shared memory banks %d and L1D banks %d must be powers of two", c.SharedBanks, c.L1Banks)
	case c.L1I.Disabled && !(c.PerfectICache && c.PerfectConst):
		return param.Clash("l1i.enabled modern.perfect_icache modern.perfect_const", "without an L1I, instruction and constant caches must be perfect")
	}
	return nil
}

// row is a row of Table 2 in the parameters; raw is nil if there is no result.
type row struct {
	name, table string
	war, raw    *int
}

func (a *row) key(last string) string { return "modern." + a.table + last }

// accesses returns all rows.
func (p *Params) accesses() []row {
	k := &p.Constant
	list := []row{
		{"LDC immediate", "constant.immediate_", &k.ImmediateWAR, &k.ImmediateRAW}, {"LDC", "constant.register_", &k.RegisterWAR, &k.RegisterRAW},
		{"S2R", "mio.", &p.Mio.WAR, &p.Mio.RAW},
	}
	for _, t := range []struct {
		name, table string
		l           *Latencies
	}{{"LDG", "load", &p.Load}, {"LDS", "shared_load", &p.SharedLoad}, {"LDGSTS", "copy", &p.Copy}} {
		for j := range 3 {
			name := fmt.Sprintf("%s.%d", t.name, 32<<j)
			list = append(list, row{name, t.table + ".uniform_", &t.l.UniformWAR[j], &t.l.UniformRAW[j]},
				row{name, t.table + ".regular_", &t.l.RegularWAR[j], &t.l.RegularRAW[j]})
		}
	}
	for _, t := range []struct {
		name, table string
		w           *Writes
	}{{"STG", "store", &p.Store}, {"STS", "shared_store", &p.SharedStore}} {
		for j := range 3 {
			name := fmt.Sprintf("%s.%d", t.name, 32<<j)
			list = append(list, row{name, t.table + ".uniform_", &t.w.UniformWAR[j], nil}, row{name, t.table + ".regular_", &t.w.RegularWAR[j], nil})
		}
	}
	return list
}

// Occupancy returns how many blocks of a kernel fit on an SM, and what prevents one
// more. A warp's registers must fit in its sub-core.
func (c *Config) Occupancy(threads, registers, shared int) (int, core.Limit) {
	return c.Fits(threads, shared, registers, func(each int) int { return c.Registers / c.SubCores / (32 * each) * c.SubCores })
}

// scoreboardEntries is the number of registers of a warp that a scoreboard tracks: 255
// general and 63 uniform registers, 7 predicates and 7 uniform predicates (the paper's
// Table 7).
const scoreboardEntries = 332

// Guard returns what guards dependences, and its storage (the paper's Table 7). Control
// bits need their counters of 6 bits, the stall counter and the yield bit; scoreboards need
// for every register one bit for writes and a counter of consumers.
func (c *Config) Guard(bits bool) core.Guard {
	g, n := core.Guard{Mechanism: "control bits"}, float64(6*c.Counters+4+1)
	if !bits || c.Dependences == Scoreboard {
		g.Mechanism, g.Consumers = "scoreboards", c.Consumers
		n = scoreboardEntries * (1 + float64(log2(c.Consumers+1)))
	}
	g.Warp, g.SM = int(n), int(n)*c.Warps
	g.Percent = 100 * float64(g.SM) / float64(32*c.Registers)
	return g
}

// Contract is what the core leaves to the code that it runs.
func (c *Config) Contract() machine.Contract {
	at := func(k isa.Class) int { return c.Time[k].Latency }
	return machine.Contract{
		Counters: c.Counters, Integer: at(isa.ClassInt), Float: at(isa.ClassFP32), Product: at(isa.ClassIMAD), Half: at(isa.ClassHalf),
		UniformMove: at(isa.ClassUniformMove), Predicate: max(at(isa.ClassSetp), at(isa.ClassPred)), GuardExtra: c.GuardExtra, Reuse: c.RFC && c.Ports > 0,
	}
}

// log2 returns the number of bits that distinguish n values.
func log2(n int) int {
	b := 0
	for 1<<b < n {
		b++
	}
	return b
}
