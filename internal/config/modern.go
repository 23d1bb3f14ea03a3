package config

import (
	"github.com/heddle-sim/heddle/internal/core/modern"
	"github.com/heddle-sim/heddle/internal/isa"
)

// Modern is the core of GPUs since Turing as measured on hardware. Its
// instruction cache of the first level is [l1i], its data cache [l1d], and what
// limits the blocks of an SM is [sm]. What a file does not say is as package
// modern has it for GA10x.
type Modern struct {
	SubCores    int    `help:"sub-cores; warp slot w belongs to sub-core w modulo this" unit:"sub-cores" want:"1..8"`
	Dependences string `help:"what keeps instructions from issuing too soon: control bits where a program has them and else scoreboards; control bits only; scoreboards whatever the control bits say" enum:"hybrid|control-bits|scoreboard"`
	Consumers   int    `help:"readers of a register that a scoreboard counts" unit:"instructions" want:"1..255"`

	Buffer        int  `help:"instruction buffer of a warp" unit:"instructions" want:"1..16"`
	L0I           Tags `key:"l0i" help:"instruction cache of a sub-core"`
	Prefetch      int  `help:"lines of the stream buffer in front of the L0 instruction cache; 0: none" unit:"lines" want:"0..64"`
	PerfectICache bool `key:"perfect_icache" help:"every fetch hits"`
	LinkUp        int  `help:"from a sub-core to the level-1 instruction cache, which is the level-1.5 constant cache too" unit:"cycles" want:"1..4096"`
	LinkDown      int  `help:"and back" unit:"cycles" want:"1..4096"`
	L0FL          Tags `key:"l0fl" help:"constant cache of a sub-core, for instructions of fixed latency"`
	L0VL          Tags `key:"l0vl" help:"constant cache of the SM, for LDC"`
	PerfectConst  bool `help:"every look-up of a constant hits"`
	ConstSwitch   int  `help:"nothing is issued for so long when the chosen warp's constant is not in its cache" unit:"cycles" want:"1..4096"`
	KeepCode      bool `help:"instruction and constant caches keep their lines from one kernel to the next"`

	LongStall   int `help:"what a stall counter above 11 without the yield bit stalls" unit:"cycles" want:"1..60"`
	ZeroStall   int `help:"what a stall counter of 0 with the yield bit stalls" unit:"cycles" want:"1..60"`
	DepbarDelay int `help:"from the issue of a DEPBAR until it holds its warp" unit:"cycles" want:"1..7"`
	GuardExtra  int `help:"a guard or a branch sees the predicates of the pred pipe so long after an operand does" unit:"cycles" want:"0..60"`
	MadBubble   int `help:"nothing is issued for so long behind an IMAD" unit:"cycles" want:"0..60"`

	Ports       int  `help:"read ports of each of the two register banks; 0: no limit" unit:"ports" want:"0..4"`
	RFC         bool `key:"rfc" help:"a register-file cache that the reuse bits control"`
	Window      int  `help:"cycles in which an instruction of fixed latency reads its sources" unit:"cycles" want:"1..16"`
	WideWindow  int  `help:"the same with a source of four registers" unit:"cycles" want:"1..16"`
	ResultQueue int  `help:"results that wait for the write port of their bank" unit:"results" want:"1..32"`

	Time         ClassTimes `help:"how classes of instructions execute"`
	FP32OnInt    bool       `key:"fp32_on_int" help:"f32 instructions may use the integer pipe when it is free"`
	TensorExtra  int        `help:"more distance of two HMMA.16816.F32 or HMMA.1688.F32" unit:"cycles" want:"0..256"`
	TensorHalves int        `help:"distance of two matrix products without f32 accumulators, in halves of their formula's cycles" unit:"halves" want:"1..16"`
	TensorF32    int        `key:"tensor_f32" help:"a matrix product's latency beyond the cycles of its formula, f32 accumulators" unit:"cycles" want:"0..256"`
	TensorF16    int        `key:"tensor_f16" help:"the same with others" unit:"cycles" want:"0..256"`
	DivideInt    int        `help:"an integer division, a routine in SASS; only PTX has it as an instruction" unit:"cycles" want:"1..4096"`
	DivideF32    int        `key:"divide_f32" help:"an f32 division or square root, likewise" unit:"cycles" want:"1..4096"`
	DivideF64    int        `key:"divide_f64" help:"an f64 division or square root, likewise" unit:"cycles" want:"1..4096"`
	QueueFP64    int        `key:"queue_fp64" help:"f64 instructions that wait in a sub-core for the unit of the SM" unit:"instructions" want:"1..16"`
	ReadFP64     int        `key:"read_fp64" help:"from the start in that unit until the sources have been read" unit:"cycles" want:"1..256"`
	QueueMisc    int        `help:"instructions that wait in a sub-core for its miscellaneous pipe" unit:"instructions" want:"1..16"`

	MemQueue      int         `help:"memory instructions that a sub-core holds" unit:"instructions" want:"1..16"`
	AddressStart  int         `help:"from issue to the address unit" unit:"cycles" want:"3..64"`
	AddressCycles int         `help:"an instruction's time in it" unit:"cycles" want:"1..64"`
	AcceptCycles  int         `help:"between two instructions that the SM's memory unit takes from its sub-cores" unit:"cycles" want:"1..64"`
	AsPrinted     bool        `help:"the latencies below count from issue to issue; else one cycle more than that"`
	Load          Table2      `help:"LDG and LDL, when they hit and nothing else is under way"`
	Store         Table2Write `help:"STG and STL"`
	SharedLoad    Table2      `help:"LDS"`
	SharedStore   Table2Write `help:"STS"`
	Copy          Table2      `help:"LDGSTS"`
	Constant      Constant    `help:"LDC"`
	Mio           Mio         `help:"what passes the memory queue and touches no memory, such as S2R and SHFL"`
	Texture       int         `help:"least latency of a texture instruction" unit:"cycles" want:"4..4096"`
	PRT           int         `key:"prt" help:"entries of the pending request table" unit:"instructions" want:"1..4096"`
	Coalescers    int         `help:"entries of it that are expanded at a time, a line each in a cycle" unit:"instructions" want:"1..64"`
	SharedBanks   int         `help:"banks of shared memory, a power of two" unit:"banks" want:"1..64"`
	L1Latency     int         `help:"to the look-up in the L1 data cache" unit:"cycles" want:"1..4096"`
	L1Banks       int         `help:"its banks by line, a power of two" unit:"banks" want:"1..64"`
	L1Lookups     int         `help:"look-ups of a bank in a cycle" unit:"per cycle" want:"1..64"`
	L1Sectors     int         `help:"sectors of 32 bytes that it looks up in a cycle, in all banks" unit:"per cycle" want:"1..4096"`
	ResponseQueue int         `help:"replies that the SM holds" unit:"packets" want:"1..65536"`
	FenceBlock    int         `help:"a memory barrier for the block, at least" unit:"cycles" want:"1..4096"`
	FenceGPU      int         `key:"fence_gpu" help:"a memory barrier for the GPU, at least" unit:"cycles" want:"1..4096"`
	FenceSystem   int         `help:"a memory barrier for the system, at least" unit:"cycles" want:"1..4096"`
}

// Tags is the shape of a small cache.
type Tags struct {
	Sets int `help:"sets" unit:"sets" want:"1..65536"`
	Ways int `help:"lines of a set" unit:"lines" want:"1..65536"`
	Line int `help:"length of a line, a power of two" unit:"bytes" want:"16..128"`
}

// ClassTimes has a ClassTime for each class of instructions that does not go
// through the memory pipeline or a tensor unit.
type ClassTimes struct {
	Int        ClassTime // IADD3, LOP3, SHF, MOV …
	IntSlow    ClassTime // POPC, FLO, BREV
	FP32       ClassTime `key:"fp32"` // FADD, FMUL, FFMA …
	IMAD       ClassTime `key:"imad"`
	Half       ClassTime // HADD2, HMUL2, HFMA2 …
	Setp       ClassTime // ISETP, FSETP …
	Pred       ClassTime // PLOP3, P2R, R2P
	SFU        ClassTime `key:"sfu"` // MUFU and conversions
	Uniform    ClassTime
	Branch     ClassTime
	Misc       ClassTime
	MiscQueued ClassTime
	FP64       ClassTime `key:"fp64"`
	DMMA       ClassTime `key:"dmma"`
}

// ClassTime is how a class of instructions executes.
type ClassTime struct {
	Pipe     string `help:"where it executes" enum:"int|fp32|pred|uniform|branch|misc|sfu|misc_queue|fp64"`
	Interval int    `help:"between two of them in the pipe" unit:"cycles" want:"1..256"`
	Latency  int    `help:"to the issue of a consumer: from issue in pipes of fixed latency, else (sfu, misc_queue, fp64) from the start in the pipe" unit:"cycles" want:"1..512"`
}

// Table2 are latencies of 32, 64 and 128 bits: from issue to that of an
// instruction that writes the sources (WAR), and to that of one that reads the
// result (RAW), by where the address comes from.
type Table2 struct {
	UniformWAR []int `key:"uniform_war" help:"until sources may be written, of 32, 64 and 128 bits, uniform address" unit:"cycles" want:"3..4096" len:"3"`
	UniformRAW []int `key:"uniform_raw" help:"until the result may be read, uniform address" unit:"cycles" want:"6..4096" len:"3"`
	RegularWAR []int `key:"regular_war" help:"until sources may be written, address from registers" unit:"cycles" want:"3..4096" len:"3"`
	RegularRAW []int `key:"regular_raw" help:"until the result may be read, address from registers" unit:"cycles" want:"6..4096" len:"3"`
}

// Table2Write is Table2 of instructions without a result.
type Table2Write struct {
	UniformWAR []int `key:"uniform_war" help:"until sources may be written, of 32, 64 and 128 bits, uniform address" unit:"cycles" want:"3..4096" len:"3"`
	RegularWAR []int `key:"regular_war" help:"until sources may be written, address from registers" unit:"cycles" want:"3..4096" len:"3"`
}

// Constant are the latencies of LDC.
type Constant struct {
	ImmediateWAR int `key:"immediate_war" help:"until sources may be written, address in the instruction" unit:"cycles" want:"3..4096"`
	ImmediateRAW int `key:"immediate_raw" help:"until the result may be read, address in the instruction" unit:"cycles" want:"6..4096"`
	RegisterWAR  int `key:"register_war" help:"until sources may be written, address from a register" unit:"cycles" want:"3..4096"`
	RegisterRAW  int `key:"register_raw" help:"until the result may be read, address from a register" unit:"cycles" want:"6..4096"`
}

// Mio are the latencies of what passes the memory queue only.
type Mio struct {
	WAR int `key:"war" help:"until sources may be written" unit:"cycles" want:"3..4096"`
	RAW int `key:"raw" help:"until the result may be read" unit:"cycles" want:"6..4096"`
}

// modernStart is how the keys of the modern core begin.
const modernStart = "modern."

// each names the class of each time.
func (t *ClassTimes) each(f func(class isa.Class, t *ClassTime)) {
	for _, x := range []struct {
		c isa.Class
		t *ClassTime
	}{
		{isa.ClassInt, &t.Int}, {isa.ClassIntSlow, &t.IntSlow}, {isa.ClassFP32, &t.FP32}, {isa.ClassIMAD, &t.IMAD},
		{isa.ClassHalf, &t.Half}, {isa.ClassSetp, &t.Setp}, {isa.ClassPred, &t.Pred}, {isa.ClassSFU, &t.SFU},
		{isa.ClassUniform, &t.Uniform}, {isa.ClassBranch, &t.Branch}, {isa.ClassMisc, &t.Misc}, {isa.ClassMiscQ, &t.MiscQueued},
		{isa.ClassFP64, &t.FP64}, {isa.ClassDMMA, &t.DMMA},
	} {
		f(x.c, x.t)
	}
}

// pipeOf finds a pipe by its name.
func pipeOf(name string) modern.Pipe {
	for p := range modern.Pipes {
		if p.String() == name {
			return p
		}
	}
	return modern.Misc
}

// modernOf returns the values of a core's settings, those that stand in other
// tables left out.
func modernOf(c *modern.Config) Modern {
	tags := func(t modern.Tags) Tags { return Tags{t.Sets, t.Ways, t.Line} }
	row := func(a *modern.Accesses, kind int) (war, raw []int) {
		for _, x := range a[kind] {
			war, raw = append(war, x.WAR), append(raw, x.RAW)
		}
		return war, raw
	}
	read := func(a *modern.Accesses) (t Table2) {
		t.UniformWAR, t.UniformRAW = row(a, modern.UniformAddress)
		t.RegularWAR, t.RegularRAW = row(a, modern.RegularAddress)
		return t
	}
	write := func(a *modern.Accesses) Table2Write {
		t := read(a)
		return Table2Write{t.UniformWAR, t.RegularWAR}
	}
	m := Modern{
		SubCores: c.SubCores, Dependences: c.Dependences.String(), Consumers: c.Consumers,
		Buffer: c.Buffer, L0I: tags(c.L0I), Prefetch: c.Prefetch, PerfectICache: c.PerfectICache, LinkUp: c.LinkUp, LinkDown: c.LinkDown,
		L0FL: tags(c.L0FL), L0VL: tags(c.L0VL), PerfectConst: c.PerfectConst, ConstSwitch: c.ConstSwitch, KeepCode: c.KeepCode,
		LongStall: c.LongStall, ZeroStall: c.ZeroStall, DepbarDelay: c.DepbarDelay, GuardExtra: c.GuardExtra, MadBubble: c.MadBubble,
		Ports: c.Ports, RFC: c.RFC, Window: c.Window, WideWindow: c.WideWindow, ResultQueue: c.ResultQueue,
		FP32OnInt: c.FP32OnInt, TensorExtra: c.TensorExtra, TensorHalves: c.TensorHalves, TensorF32: c.TensorF32, TensorF16: c.TensorF16,
		DivideInt: c.Divide[0], DivideF32: c.Divide[1], DivideF64: c.Divide[2],
		QueueFP64: c.QueueFP64, ReadFP64: c.ReadFP64, QueueMisc: c.QueueMisc,
		MemQueue: c.MemQueue, AddressStart: c.AddressStart, AddressCycles: c.AddressCycles, AcceptCycles: c.AcceptCycles, AsPrinted: c.AsPrinted,
		Load: read(&c.Load), Store: write(&c.Store), SharedLoad: read(&c.SharedLoad), SharedStore: write(&c.SharedStore), Copy: read(&c.Copy),
		Constant: Constant{
			c.Constant[modern.UniformAddress].WAR, c.Constant[modern.UniformAddress].RAW,
			c.Constant[modern.RegularAddress].WAR, c.Constant[modern.RegularAddress].RAW,
		},
		Mio:     Mio{c.Mio.WAR, c.Mio.RAW},
		Texture: c.Texture, PRT: c.PRT, Coalescers: c.Coalescers, SharedBanks: c.SharedBanks,
		L1Latency: c.L1Latency, L1Banks: c.L1Banks, L1Lookups: c.L1Lookups, L1Sectors: c.L1Sectors, ResponseQueue: c.ResponseQueue,
		FenceBlock: c.Fence[0], FenceGPU: c.Fence[1], FenceSystem: c.Fence[2],
	}
	m.Time.each(func(class isa.Class, t *ClassTime) {
		x := c.Time[class]
		*t = ClassTime{x.Pipe.String(), x.Interval, x.Latency}
	})
	return m
}

// ModernConfig returns the settings of a modern core.
func (g *GPU) ModernConfig() modern.Config {
	m := &g.Modern
	tags := func(t Tags) modern.Tags { return modern.Tags{Sets: t.Sets, Ways: t.Ways, Line: t.Line} }
	row := func(war, raw []int) (a [3]modern.Access) {
		for i := range a {
			a[i].WAR = war[i]
			if raw != nil {
				a[i].RAW = raw[i]
			}
		}
		return a
	}
	read := func(t *Table2) modern.Accesses {
		return modern.Accesses{modern.UniformAddress: row(t.UniformWAR, t.UniformRAW), modern.RegularAddress: row(t.RegularWAR, t.RegularRAW)}
	}
	write := func(t *Table2Write) modern.Accesses {
		return modern.Accesses{modern.UniformAddress: row(t.UniformWAR, nil), modern.RegularAddress: row(t.RegularWAR, nil)}
	}
	c := modern.Config{
		SMs: g.SMs(), Warps: g.SM.Threads / 32, Blocks: g.SM.Blocks, Registers: g.SM.Registers, Shared: g.SM.Shared,
		RegisterGranule: g.SM.RegisterGranule, SharedGranule: g.SM.SharedGranule, SharedReserved: g.SM.SharedReserved,
		SubCores: m.SubCores, Dependences: modern.Dependences(g.word("modern.dependences")), Consumers: m.Consumers,
		Buffer: m.Buffer, L0I: tags(m.L0I), Prefetch: m.Prefetch, PerfectICache: m.PerfectICache, LinkUp: m.LinkUp, LinkDown: m.LinkDown,
		L1I: g.CacheConfig("l1i"), L0FL: tags(m.L0FL), L0VL: tags(m.L0VL), PerfectConst: m.PerfectConst, ConstSwitch: m.ConstSwitch, KeepCode: m.KeepCode,
		LongStall: m.LongStall, ZeroStall: m.ZeroStall, DepbarDelay: m.DepbarDelay, GuardExtra: m.GuardExtra, MadBubble: m.MadBubble,
		Ports: m.Ports, RFC: m.RFC, Window: m.Window, WideWindow: m.WideWindow, ResultQueue: m.ResultQueue,
		FP32OnInt: m.FP32OnInt, TensorExtra: m.TensorExtra, TensorHalves: m.TensorHalves, TensorF32: m.TensorF32, TensorF16: m.TensorF16,
		Divide:    [3]int{m.DivideInt, m.DivideF32, m.DivideF64},
		QueueFP64: m.QueueFP64, ReadFP64: m.ReadFP64, QueueMisc: m.QueueMisc,
		MemQueue: m.MemQueue, AddressStart: m.AddressStart, AddressCycles: m.AddressCycles, AcceptCycles: m.AcceptCycles, AsPrinted: m.AsPrinted,
		Load: read(&m.Load), Store: write(&m.Store), SharedLoad: read(&m.SharedLoad), SharedStore: write(&m.SharedStore), Copy: read(&m.Copy),
		Constant: [...]modern.Access{
			modern.UniformAddress: {WAR: m.Constant.ImmediateWAR, RAW: m.Constant.ImmediateRAW},
			modern.RegularAddress: {WAR: m.Constant.RegisterWAR, RAW: m.Constant.RegisterRAW},
		},
		Mio:     modern.Access{WAR: m.Mio.WAR, RAW: m.Mio.RAW},
		Texture: m.Texture, PRT: m.PRT, Coalescers: m.Coalescers, SharedBanks: m.SharedBanks,
		L1D: g.CacheConfig("l1d"), L1Latency: m.L1Latency, L1Banks: m.L1Banks, L1Lookups: m.L1Lookups, L1Sectors: m.L1Sectors,
		ResponseQueue: m.ResponseQueue, LocalBase: localBase,
		Fence: [3]int{m.FenceBlock, m.FenceGPU, m.FenceSystem},
	}
	m.Time.each(func(class isa.Class, t *ClassTime) {
		c.Time[class] = modern.Timing{Pipe: pipeOf(t.Pipe), Interval: t.Interval, Latency: t.Latency}
	})
	return c
}

// ampere returns the defaults of the modern core's values.
func ampere() *GPU {
	c := modern.Ampere()
	return &GPU{Modern: modernOf(&c)}
}
