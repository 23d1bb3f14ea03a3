package modern

import "github.com/heddle-sim/heddle/internal/isa"

// This file: the parameters of the core, each declared once (see package param). Its
// level-1 instruction cache is the machine's [l1i], its data cache [l1d], and the
// limits on an SM's blocks are in [sm].

// Params are a machine's values for the core. Comments give the sources of the shipped
// values; doc.go explains [HW], [SIM] and [INF].
type Params struct {
	// [HW]: 4 sub-cores.
	SubCores int `help:"sub-cores; warp slot w belongs to sub-core w modulo this" unit:"sub-cores" want:"1..8" from:"-num_subcores_in_SM"`
	// [HW]: cggty.
	Scheduler   Policy      `help:"which ready warp issues: the last one, then the youngest or the oldest" enum:"cggty|gto" plug:"warp scheduler" def:"cggty"`
	Dependences Dependences `help:"what keeps instructions from issuing too soon: control bits if a program has them, otherwise scoreboards; control bits only; scoreboards even if there are control bits" enum:"hybrid|control-bits|scoreboard" from:"-is_remodeling_scoreboarding_enabled hybrid|scoreboard"`
	// 1, 3 and 63 in the paper's Table 7.
	Consumers int `help:"readers of a register that a scoreboard counts" unit:"instructions" want:"1..255"`

	// [HW]: 6.
	Counters int `help:"dependence counters of a warp, for programs with control bits; code that names others is refused" unit:"counters" want:"1..6" def:"6"`
	// [HW]: 3.
	Buffer int `help:"instruction buffer of a warp" unit:"instructions" want:"1..16" from:"-ibuffer_remodeled_size"`
	// Turing 16 KiB, otherwise 32 KiB, lines of 128 bytes, LRU [SIM]; the stream buffer has 8 lines [SIM].
	L0I           Tags `key:"l0i" help:"instruction cache of a sub-core"`
	Prefetch      int  `help:"lines of the stream buffer of the L0 instruction cache; 0: none" unit:"lines" want:"0..64"`
	PerfectICache bool `key:"perfect_icache" help:"every fetch hits" from:"-perfect_instruction_cache"`
	// 39 and 39 [SIM]; with the look-up they add up to the 79 cycles of [HW].
	LinkUp   int `help:"from a sub-core to the level-1 instruction cache, which is also the level-1.5 constant cache" unit:"cycles" want:"1..4096" from:"-latency_L0_to_L1"`
	LinkDown int `help:"from that cache to the sub-core" unit:"cycles" want:"1..4096" from:"-latency_L1_to_L0"`
	// 512 bytes and 2 KiB [SIM]. That they are separate is [HW].
	L0FL         Tags `key:"l0fl" help:"constant cache of a sub-core, for instructions of fixed latency"`
	L0VL         Tags `key:"l0vl" help:"constant cache of the SM, for LDC"`
	PerfectConst bool `help:"every constant look-up hits" from:"-perfect_constant_cache"`
	// [HW]: 4.
	ConstSwitch int `help:"time without issue when the chosen warp's constant is not in its cache" unit:"cycles" want:"1..4096" from:"-num_const_cache_cycle_misses_before_switch_to_other_warp"`
	// Off: they are emptied [SIM].
	KeepCode bool `help:"instruction and constant caches keep their lines from one kernel to the next" from:"-invalidate_instruction_caches_at_kernel_end not"`

	// [HW]: 1 or 2 cycles; 45; 4.
	LongStall   int `help:"stall for a stall counter above 11 without the yield bit" unit:"cycles" want:"1..60"`
	ZeroStall   int `help:"stall for a stall counter of 0 with the yield bit" unit:"cycles" want:"1..60" from:"-num_stall_cycles_wait_after_bits_stall_0_and_yield"`
	DepbarDelay int `help:"from the issue of a DEPBAR until it holds its warp" unit:"cycles" want:"1..7"`
	// NVIDIA's compiler leaves 4 cycles from an ISETP to an operand of the ALU for sm_86, and 13
	// to a guard.
	GuardExtra int `help:"how much later than operands guards and branches see the predicates of the pred pipe" unit:"cycles" want:"0..60"`
	// 1 [SIM].
	MadBubble int `help:"time without issue after an IMAD" unit:"cycles" want:"0..60" from:"-num_cycles_issue_port_busy_after_imadwide"`

	// One port and the cache: [HW].
	Ports int  `help:"read ports of each of the two register banks; 0: no limit" unit:"ports" want:"0..4" from:"-num_regular_register_file_read_ports_per_bank"`
	RFC   bool `key:"rfc" help:"a register-file cache that the reuse bits control" from:"-is_rf_cache_enabled"`
	// [HW]: 3; 6 [SIM].
	Window     int `help:"cycles in which an instruction of fixed latency reads its sources" unit:"cycles" want:"1..16"`
	WideWindow int `help:"cycles in which it reads them if a source has four registers" unit:"cycles" want:"1..16"`
	// 8 [SIM]. No result waits longer for the port.
	ResultQueue int `help:"results that wait for the write port of their bank" unit:"results" want:"1..32" from:"-max_size_register_file_write_queue_for_fixed_latency_instructions"`

	// Time holds the timing of every class except those of memory and the tensor units.
	Time [isa.Classes]Timing `each:"- int int_slow fp32 imad half setp pred sfu uniform uniform_move branch misc misc_queued - fp64 - dmma"`
	// Ampere and later [HW], the rule [SIM].
	FP32OnInt bool `key:"fp32_on_int" help:"f32 instructions may use the integer pipe when it is free" from:"-is_fp32ops_allowed_in_int_pipeline"`
	// 16 on GeForce since Ampere, 8 on Turing, 0 on the RTX A6000 [SIM].
	TensorExtra int `help:"added to the interval between two HMMA.16816.F32 or HMMA.1688.F32" unit:"cycles" want:"0..256" from:"-tensor_extra_latency_16816_fp32_1688_fp32"`
	// 1 [SIM], which is the A100's rate, 2 on consumer chips ([HW]: 511 products per
	// cycle and SM on the RTX 4090; 512 by the data sheets of Turing, GA10x and GB20x).
	TensorHalves int `help:"interval between two matrix products without f32 accumulators, in halves of their formula's cycles" unit:"halves" want:"1..16"`
	TensorF32    int `key:"tensor_f32" help:"added to the formula's latency of a matrix product with f32 accumulators: M·N·K·bits of an element/2048" unit:"cycles" want:"0..256"`
	TensorF16    int `key:"tensor_f16" help:"added to the formula's latency of a matrix product with other accumulators: M·N·K·bits of an element/2048" unit:"cycles" want:"0..256"`
	DivideInt    int `help:"latency of an integer division in PTX; in SASS it is a routine" unit:"cycles" want:"1..4096"`
	DivideF32    int `key:"divide_f32" help:"latency of an f32 division or square root in PTX" unit:"cycles" want:"1..4096"`
	DivideF64    int `key:"divide_f64" help:"latency of an f64 division or square root in PTX" unit:"cycles" want:"1..4096"`
	// 3 [SIM].
	QueueFP64 int `key:"queue_fp64" help:"f64 instructions that can wait in a sub-core for the SM's unit" unit:"instructions" want:"1..16" from:"-dp_subcore_queue_size"`
	ReadFP64  int `key:"read_fp64" help:"from the start in that unit until the sources have been read" unit:"cycles" want:"1..256"`
	// 3 [SIM].
	QueueMisc int `help:"instructions that can wait in a sub-core for its miscellaneous pipe" unit:"instructions" want:"1..16" from:"-miscellaneous_queue_size"`

	// [HW]: 5: a queue of 4 and a latch; Turing 4 [SIM].
	MemQueue int `help:"memory instructions that a sub-core holds" unit:"instructions" want:"1..16" from:"-memory_subcore_queue_size +1"`
	// [HW], Figure 2: 6 and 4.
	AddressStart  int `help:"from issue to the address unit" unit:"cycles" want:"3..64"`
	AddressCycles int `help:"time in the address unit" unit:"cycles" want:"1..64"`
	// [HW]: 2.
	AcceptCycles int `help:"interval at which the SM's memory unit takes instructions from its sub-cores" unit:"cycles" want:"1..64" from:"-num_cycles_to_wait_to_dispatch_another_inst_from_subcore_to_sm_shared_pipeline_when_is_mem_inst"`
	// Off: as in the paper's Figure 2 and its simulator. The latencies are its Table 2
	// [HW].
	AsPrinted   bool      `help:"the latencies below count from issue to issue; otherwise one cycle more than that"`
	Load        Latencies `help:"LDG and LDL, if they hit and nothing else is in flight"`
	Store       Writes    `help:"STG and STL"`
	SharedLoad  Latencies `help:"LDS"`
	SharedStore Writes    `help:"STS"`
	Copy        Latencies `help:"LDGSTS"`
	Constant    Constant  `help:"LDC"`
	Mio         Access    `help:"instructions that pass the memory queue but access no memory, such as S2R and SHFL"`
	// 200 [SIM].
	Texture int `help:"minimum latency of a texture instruction" unit:"cycles" want:"2..4096"`
	// 128 and 4 [SIM].
	PRT        int `key:"prt" help:"entries of the pending request table" unit:"instructions" want:"1..4096" from:"-memory_sm_prt_size"`
	Coalescers int `help:"table entries that are expanded in parallel, each by one line per cycle" unit:"instructions" want:"1..64" from:"-number_of_coalescers"`
	// Of GPUs before Hopper not known.
	LineCycles int `help:"time that a sub-core needs for a line of an access to global or local memory" unit:"cycles" want:"1..64" def:"1"`
	// Off on GPUs before Hopper: not known.
	LineBanks bool `help:"two lines of an access are one step if their bytes are in different banks" def:"false"`
	// Off on GPUs before Hopper: Accel-Sim sends sectors. Stores that bypass the L1 and those to local memory always
	// do, and so do all if a line is in several slices.
	StoreLines  bool `help:"sectors of a line that a store puts into the L1 miss queue at once are one packet and have one answer, otherwise one each" def:"false"`
	SharedBanks int  `help:"banks of shared memory, a power of two" unit:"banks" want:"1..64"`
	// 13 [SIM]; 4 banks of 4 look-ups [SIM].
	L1Latency int `help:"from the pending request table to the look-up in the L1 data cache" unit:"cycles" want:"1..4096" from:"-memory_l1d_minimum_latency"`
	L1Banks   int `help:"banks of the L1 data cache, by line; a power of two" unit:"banks" want:"1..64"`
	L1Lookups int `help:"look-ups per bank and cycle" unit:"per cycle" want:"1..64" from:"-memory_l1d_max_lookups_per_cycle_per_bank"`
	// 4, because 128-bit loads deliver 117.8 bytes per cycle on the RTX 4090 and 64-bit
	// loads 124.7 on the RTX 3060 [HW].
	L1Sectors     int `help:"32-byte sectors that the L1 data cache looks up per cycle, over all banks" unit:"per cycle" want:"1..4096"`
	ResponseQueue int `help:"replies that the SM can hold" unit:"packets" want:"1..65536"`
	// One, as Accel-Sim's clusters do, on GPUs before Hopper.
	RepliesTaken int `help:"replies of up to 32 bytes that the SM takes from the network in a cycle" unit:"packets" want:"1..2" def:"1"`
	// 53, 186, 2900 [SIM].
	FenceBlock  int `help:"minimum time of a memory barrier for the block" unit:"cycles" want:"1..4096" from:"-num_cycles_to_stall_SM_at_cta_memory_barrier"`
	FenceGPU    int `key:"fence_gpu" help:"minimum time of a memory barrier for the GPU" unit:"cycles" want:"1..4096" from:"-num_cycles_to_stall_SM_at_gpu_memory_barrier"`
	FenceSystem int `help:"minimum time of a memory barrier for the system" unit:"cycles" want:"1..4096" from:"-num_cycles_to_stall_SM_at_system_memory_barrier"`

	// Off on GPUs before Hopper, whose results were compared with hardware without it.
	Assembled bool `help:"PTX is timed without the instructions that an assembler leaves out: copies whose registers can be one, constants, and what nobody reads" def:"false"`

	Hopper HopperParams `help:"what Hopper added"`
}

// Tags is the shape of a small cache.
type Tags struct {
	Sets int `help:"sets" unit:"sets" want:"1..65536"`
	Ways int `help:"lines per set" unit:"lines" want:"1..65536"`
	Line int `help:"length of a line, a power of two" unit:"bytes" want:"16..128"`
}

// Bytes returns its capacity.
func (t Tags) Bytes() int { return t.Sets * t.Ways * t.Line }

// Timing is the pipe and the timing of a class of instructions.
type Timing struct {
	Pipe     Pipe `help:"where it executes" enum:"int|fp32|pred|uniform|branch|misc|-|sfu|misc_queue|fp64|-"`
	Interval int  `help:"interval between two of them in the pipe" unit:"cycles" want:"1..256"`
	Latency  int  `help:"to the issue of a consumer: from issue in pipes of fixed latency, otherwise (sfu, misc_queue, fp64) from the start in the pipe" unit:"cycles" want:"1..512"`
}

// Access is a row of the paper's Table 2: cycles from the issue of a memory instruction
// to the issue of one that writes its sources (WAR), and of one that reads its result
// (RAW), if it hits and nothing else is in flight.
type Access struct {
	WAR int `key:"war" help:"until sources may be written" unit:"cycles" want:"3..4096"`
	RAW int `key:"raw" help:"until the result may be read" unit:"cycles" want:"6..4096"`
}

// The kinds of addresses: from uniform registers only, or not.
const (
	UniformAddress = iota
	RegularAddress
)

// Latencies are rows of Table 2 for 32, 64 and 128 bits, by address.
type Latencies struct {
	UniformWAR [3]int `key:"uniform_war" help:"until sources may be written, of 32, 64 and 128 bits, uniform address" unit:"cycles" want:"3..4096"`
	UniformRAW [3]int `key:"uniform_raw" help:"until the result may be read, uniform address" unit:"cycles" want:"6..4096"`
	RegularWAR [3]int `key:"regular_war" help:"until sources may be written, address from registers" unit:"cycles" want:"3..4096"`
	RegularRAW [3]int `key:"regular_raw" help:"until the result may be read, address from registers" unit:"cycles" want:"6..4096"`
}

func (l *Latencies) of(kind int, size int) Access {
	if kind == UniformAddress {
		return Access{l.UniformWAR[size], l.UniformRAW[size]}
	}
	return Access{l.RegularWAR[size], l.RegularRAW[size]}
}

// Writes are Latencies of instructions without a result.
type Writes struct {
	UniformWAR [3]int `key:"uniform_war" help:"until sources may be written, of 32, 64 and 128 bits, uniform address" unit:"cycles" want:"3..4096"`
	RegularWAR [3]int `key:"regular_war" help:"until sources may be written, address from registers" unit:"cycles" want:"3..4096"`
}

func (w *Writes) of(kind int, size int) Access {
	if kind == UniformAddress {
		return Access{WAR: w.UniformWAR[size]}
	}
	return Access{WAR: w.RegularWAR[size]}
}

func (c *Constant) of(kind int) Access {
	if kind == UniformAddress {
		return Access{c.ImmediateWAR, c.ImmediateRAW}
	}
	return Access{c.RegisterWAR, c.RegisterRAW}
}

// Constant are the latencies of LDC.
type Constant struct {
	ImmediateWAR int `key:"immediate_war" help:"until sources may be written, address in the instruction" unit:"cycles" want:"3..4096"`
	ImmediateRAW int `key:"immediate_raw" help:"until the result may be read, address in the instruction" unit:"cycles" want:"6..4096"`
	RegisterWAR  int `key:"register_war" help:"until sources may be written, address from a register" unit:"cycles" want:"3..4096"`
	RegisterRAW  int `key:"register_raw" help:"until the result may be read, address from a register" unit:"cycles" want:"6..4096"`
}
