package report

// Timing is the part of a result that only timing runs have.
type Timing struct {
	Core string `json:"core"` // the core model
	// CoreFrom is the machine that the parameters of the cores come from, if this one
	// has none.
	CoreFrom string `json:"core_from,omitempty"`
	// Dependences are the mechanisms that kept instructions from issuing too early,
	// for cores with a choice, and their cost.
	Dependences []Dependence `json:"dependences,omitempty"`
	SMs         int          `json:"sms"`    // of the machine
	Clocks      Clocks       `json:"clocks"` // of the machine
	// Machine is what the machine does at most; nil for the Kepler-style core.
	Machine *Machine `json:"machine,omitempty"`
	Cycles  uint64   `json:"cycles"` // core cycles from the start to the end of the last step
	Memory  Memory   `json:"memory"` // of the whole run, including launches that only warm the caches

	// The parts of the machine, over the whole run.
	PerSM      []SM      `json:"per_sm"`
	PerSlice   []Slice   `json:"per_slice"`
	PerChannel []Channel `json:"per_channel"`
	PerPort    []Port    `json:"per_port"`
	Subnets    []Subnet  `json:"subnets"` // of requests, then of replies

	// History has the counters over time; with --html only.
	History *History `json:"history,omitempty"`
	// Now is what warps do at the moment; in results so far, for a page, only.
	Now *Now `json:"now,omitempty"`
}

// Now is what is on the SMs between two cycles of a run.
type Now struct {
	Cycle uint64 `json:"cycle"`
	Standstill
	Queues []Queue `json:"queues"` // of SMs, that are not empty
}

// Queue is a queue of an SM.
type Queue struct {
	SM   int    `json:"sm"`
	Name string `json:"name"`
	Len  int    `json:"len"`
	Cap  int    `json:"cap"` // 0: no bound of its own
}

// History has counters over time. Row i is from the end of row i-1, or the start, to cycle End[i].
// Rows are Every cycles long, save the last one.
type History struct {
	Every uint64   `json:"every"`
	End   []uint64 `json:"end"`
	// Columns are counters by their names in --series, and as sums where that has means. All but
	// resident_warps count what happened in the row.
	Columns map[string][]uint64 `json:"columns"`
	// Parts are the counters of the machine's parts over time, at longer intervals.
	Parts []PartHistory `json:"parts"`
	// Warps are the states of warps over time; nil if no SM had any.
	Warps *WarpHistory `json:"warps,omitempty"`
}

// WarpHistory has the state of the warp in each slot of the SMs in every Every-th core cycle:
// it is sampled, and says nothing of the cycles between.
type WarpHistory struct {
	Every  uint64     `json:"every"`
	States []string   `json:"states"` // their names
	Slots  []WarpSlot `json:"slots"`  // that ever had a warp
}

// WarpSlot is the history of a warp slot. States has a letter for each sample: a for the first of
// the names, and a point where there is no warp.
type WarpSlot struct {
	SM     int    `json:"sm"`
	Slot   int    `json:"slot"`
	States string `json:"states"`
}

// PartHistory is a counter of parts of one kind over time. Counts[p][i] is that of part p in row i.
type PartHistory struct {
	Part    string     `json:"part"`    // sm, slice or channel
	Counter string     `json:"counter"` // what is counted
	Every   uint64     `json:"every"`   // core cycles of a row
	Counts  [][]uint64 `json:"counts"`
}

// Machine is what a machine holds and does at most. Shares of peaks are relative to it.
type Machine struct {
	WarpSlots   int                `json:"warp_slots"`            // of an SM
	BlockSlots  int                `json:"block_slots"`           // of an SM
	Registers   int                `json:"registers"`             // of an SM, 32 bits each
	SharedBytes int                `json:"shared_bytes"`          // of an SM
	Issues      int                `json:"issues_per_cycle"`      // warp instructions, of all SMs; 0 if unknown
	L1Rate      float64            `json:"l1_gb_per_s,omitempty"` // of all L1 data caches
	L2Rate      float64            `json:"l2_gb_per_s,omitempty"` // of all slices, 32 bytes a cycle each
	Gflops      map[string]float64 `json:"gflop_per_s,omitempty"` // by the kind of number: f16, f32, f64, tensor
}

// PeakUse is how much of a part of the machine a launch used, of what that part does at most in
// the launch's cycles.
type PeakUse struct {
	Part string  `json:"part"` // issue, l1, l2, network_request, network_reply, dram or the name of a pipe
	Used float64 `json:"used"`
	Most float64 `json:"most"`
	Unit string  `json:"unit"`
}

// OccupancyStep is the nearest smaller need of a resource with which an SM holds more blocks.
type OccupancyStep struct {
	Resource string `json:"resource"`      // threads, registers or shared memory
	Now      int    `json:"now"`           // what a block or thread needs
	Need     int    `json:"need"`          // what it may need at most for the step
	Blocks   int    `json:"blocks_per_sm"` // that an SM then holds
}

// Dependence is a mechanism that keeps instructions from issuing too early. Its storage
// is compared with that of the registers.
type Dependence struct {
	Mechanism    string  `json:"mechanism"`
	Consumers    int     `json:"consumers,omitempty"` // that a scoreboard counts for each register
	WarpBits     int     `json:"warp_bits"`
	SMBits       int     `json:"sm_bits"`
	RegisterFile float64 `json:"register_file_percent"` // of the bits of an SM's register file
}

// SM are the counters of one SM.
type SM struct {
	SM                 int     `json:"sm"`
	Device             *int    `json:"device,omitempty"` // nil if there is only one; also below
	Blocks             uint64  `json:"blocks"`           // that ended
	WarpInstructions   uint64  `json:"warp_instructions"`
	ThreadInstructions uint64  `json:"thread_instructions"`
	BusyCycles         uint64  `json:"busy_cycles"` // with a resident warp
	WarpCycles         uint64  `json:"warp_cycles"`
	MeanLatencyCycles  float64 `json:"mean_latency_cycles"`
	L1                 Cache   `json:"l1"`
}

// Slice are the counters of one slice of the L2.
type Slice struct {
	Slice    int    `json:"slice"`
	Device   *int   `json:"device,omitempty"`
	Requests uint64 `json:"requests"` // that came from the network
	L2       Cache  `json:"l2"`
}

// Channel are the counters of one DRAM channel.
type Channel struct {
	Channel    int    `json:"channel"`
	Device     *int   `json:"device,omitempty"`
	Reads      uint64 `json:"reads"`
	Writes     uint64 `json:"writes"`
	Activates  uint64 `json:"activates"`
	Requests   uint64 `json:"requests"`
	RowHits    uint64 `json:"row_hits"`
	BusyCycles uint64 `json:"busy_cycles"` // of its data pins
	Cycles     uint64 `json:"cycles"`
	Banks      []Bank `json:"banks"`
}

// Port are the counters of a node of the network: SMs that share one, or an L2 slice.
type Port struct {
	Side           string `json:"side"` // sms or slice
	Port           int    `json:"port"` // its number on that side
	Device         *int   `json:"device,omitempty"`
	RequestPackets uint64 `json:"request_packets"` // that it sent (sms) or got (slice)
	RequestFlits   uint64 `json:"request_flits"`
	ReplyPackets   uint64 `json:"reply_packets"` // that it got (sms) or sent (slice)
	ReplyFlits     uint64 `json:"reply_flits"`
}

// The sides of the network.
const (
	SMsSide   = "sms"
	SliceSide = "slice"
)

// Subnet are the counters of one direction of the network.
type Subnet struct {
	Of                string  `json:"of"` // requests or replies
	Device            *int    `json:"device,omitempty"`
	Kind              string  `json:"kind"` // as noc.kind
	FlitBytes         int     `json:"flit_bytes"`
	Packets           uint64  `json:"packets"` // that entered
	Flits             uint64  `json:"flits"`
	MeanLatencyCycles float64 `json:"mean_latency_cycles"` // of the network's clock, from end to end
	MaxLatencyCycles  uint64  `json:"max_latency_cycles"`
	Cycles            uint64  `json:"cycles"`      // of the network's clock
	BusyCycles        uint64  `json:"busy_cycles"` // in which something moved
	Conflicts         uint64  `json:"conflicts"`
	Refused           uint64  `json:"refused"`      // attempts to enter without room
	FullOutputs       uint64  `json:"full_outputs"` // attempts to go on without room
}

// Bank are the counters of one bank of a channel.
type Bank struct {
	Bank      int    `json:"bank"`
	Reads     uint64 `json:"reads"`
	Writes    uint64 `json:"writes"`
	Activates uint64 `json:"activates"`
	Requests  uint64 `json:"requests"`
	RowHits   uint64 `json:"row_hits"`
}

// Clocks are the frequencies of a machine's clock domains in MHz.
type Clocks struct {
	Core    float64 `json:"core_mhz"`
	Network float64 `json:"network_mhz"`
	L2      float64 `json:"l2_mhz"`
	DRAM    float64 `json:"dram_mhz"` // of the commands
}

// KernelTiming is the part of a launch's result that only timing runs have. The counters
// of stalls and memory are those of the whole chip between start and end; Shared reports
// that other kernels ran at the same time.
type KernelTiming struct {
	// Sampled means that the launch was executed but not simulated: its cycles are an estimate, and
	// it has no counters below but the instructions.
	Sampled bool `json:"sampled,omitempty"`

	// PassedBlocks are the blocks that were executed but not simulated, with their warp instructions, PassedCycles
	// the estimated time that they take, which is in the cycles. The counters below leave them out.
	PassedBlocks           uint64 `json:"passed_blocks,omitempty"`
	PassedWarpInstructions uint64 `json:"passed_warp_instructions,omitempty"`
	PassedCycles           uint64 `json:"passed_cycles,omitempty"`

	StartCycle      uint64  `json:"start_cycle"` // of the launch, its latency included
	EndCycle        uint64  `json:"end_cycle"`
	Cycles          uint64  `json:"cycles"`
	FirstBlockCycle uint64  `json:"first_block_cycle"`
	IPC             float64 `json:"ipc"`       // warp instructions per cycle of the chip
	Occupancy       float64 `json:"occupancy"` // resident warps of warp slots, over SMs with any
	BlocksPerSM     int     `json:"blocks_per_sm"`
	LimitedBy       string  `json:"limited_by"` // what limits the blocks on an SM
	// RegisterEstimate is nil if the launch gives its number of registers.
	RegisterEstimate *RegisterEstimate `json:"register_estimate,omitempty"`
	L1Ways           int               `json:"l1_ways"`
	// Occupancies are the next steps of the blocks on an SM; a resource of which less
	// gives no step is left out.
	Occupancies []OccupancyStep `json:"occupancy_steps,omitempty"`
	// Peaks are the parts of the machine by what the launch used of them.
	Peaks []PeakUse `json:"peaks,omitempty"`
	// Flops are floating-point operations by the kind of number: f16, f32, f64, tensor.
	Flops         map[string]uint64 `json:"flops,omitempty"`
	Shared        bool              `json:"overlapped"`
	Stalls        map[string]uint64 `json:"stalls"`          // warp cycles by the warp's state
	SlotStalls    map[string]uint64 `json:"slot_stalls"`     // scheduler cycles without issue, by reason
	WarpCycles    uint64            `json:"warp_cycles"`     // resident warps, summed over cycles and SMs: the sum of the stalls
	LanesPerIssue []uint64          `json:"lanes_per_issue"` // issues by the number of active lanes, 0 to 32
	Memory        Memory            `json:"memory"`
	Warps         []Warp            `json:"warps,omitempty"` // for cores with fixed warp numbers
	Lines         []Line            `json:"lines,omitempty"` // instructions that were issued or waited for, in code order
	// BlockLog has the blocks that began, in the order of the grid, x fastest;
	// with run.block_log only.
	BlockLog []BlockRun `json:"block_log,omitempty"`
}

// BlockRun records where and when a block ran.
type BlockRun struct {
	Block      uint64  `json:"block"` // index in the grid
	SM         int     `json:"sm"`
	StartCycle uint64  `json:"start_cycle"`         // in which it was placed
	EndCycle   *uint64 `json:"end_cycle,omitempty"` // if it completed
}

// Line has the counters of one launch for one instruction.
type Line struct {
	File               string            `json:"file"` // program text
	Line               int               `json:"line"`
	PC                 int               `json:"pc"` // index in its function
	Function           string            `json:"function"`
	Instruction        string            `json:"instruction"`
	Text               string            `json:"text"`                  // the instruction with its operands
	Control            string            `json:"control,omitempty"`     // control code, if it has one
	SourceFile         string            `json:"source_file,omitempty"` // from debug information, if there is any
	SourceLine         int               `json:"source_line,omitempty"`
	Issues             uint64            `json:"issues"`                       // warp instructions
	ThreadInstructions uint64            `json:"thread_instructions"`          // lanes whose guard held
	WarpCycles         uint64            `json:"warp_cycles"`                  // spent at it: the sum of its stalls
	Stalls             map[string]uint64 `json:"stalls"`                       // by the warp's state, without zeros
	Replays            uint64            `json:"split_transactions,omitempty"` // of the Kepler-style core: lines requested after the first of an access
	*Accesses                            // nil if there are none
	*Branches                            // nil if it is no conditional branch
	// WaitedFor are the instructions for which warps waited longest at this one, of runs for a
	// page. A wait for several counts for the last.
	WaitedFor []Producer `json:"waited_for,omitempty"`
}

// Producer is an instruction for which warps waited at another.
type Producer struct {
	Function   string `json:"function"`
	File       string `json:"file"`
	Line       int    `json:"line"`
	PC         int    `json:"pc"`
	WarpCycles uint64 `json:"warp_cycles"` // of those of the waiting line
}

// Accesses are an instruction's accesses to memory.
type Accesses struct {
	Requests       uint64 `json:"requests"`        // of warps, to global and local memory
	Sectors        uint64 `json:"sectors"`         // of 32 bytes, that they touch
	LeastSectors   uint64 `json:"least_sectors"`   // that as many bytes would fill
	ConflictCycles uint64 `json:"conflict_cycles"` // that bank conflicts in shared memory and other addresses of constants add
}

// Branches are the outcomes of a conditional branch, by warp: taken by all active lanes, by
// none, or by some.
type Branches struct {
	Taken    uint64 `json:"taken"`
	NotTaken uint64 `json:"not_taken"`
	Diverged uint64 `json:"diverged"`
}

// Memory are the counters of the memory system.
type Memory struct {
	L1                   Cache    `json:"l1"`
	L1Const              Cache    `json:"l1_const"`
	L1Texture            Cache    `json:"l1_texture"`
	L1Inst               Cache    `json:"l1_inst"`
	L2                   Cache    `json:"l2"`
	DRAM                 DRAM     `json:"dram"`
	Network              Network  `json:"network"`
	MeanLatencyCycles    float64  `json:"mean_latency_cycles"` // round trip of a request from the SM
	Replies              uint64   `json:"replies"`             // over which that is the mean
	LatencyLog2          []uint64 `json:"latency_log2"`        // replies whose latency was 2^i to 2^(i+1)-1 cycles
	SharedConflictCycles uint64   `json:"shared_conflict_cycles"`
	ConstConflictCycles  uint64   `json:"const_conflict_cycles"`
	LoadStoreStallCycles uint64   `json:"load_store_stall_cycles"`
	L2EntryStallCycles   uint64   `json:"l2_entry_stall_cycles"`
	ReplyStallCycles     uint64   `json:"reply_stall_cycles"`

	L1Prefetch *Prefetch `json:"l1_prefetch,omitempty"` // of the data caches; nil where nothing was to be read ahead
	L2Prefetch *Prefetch `json:"l2_prefetch,omitempty"`
}

// Cache are the counters of one level: accesses = hits + pending hits + misses.
type Cache struct {
	Accesses     uint64 `json:"accesses"`
	Hits         uint64 `json:"hits"`
	PendingHits  uint64 `json:"pending_hits"` // the data had already been requested
	Misses       uint64 `json:"misses"`       // sector misses included
	SectorMisses uint64 `json:"sector_misses"`
	Refused      uint64 `json:"refused"` // attempts refused for lack of room; not accesses
	WriteBacks   uint64 `json:"write_backs"`
}

// Prefetch counts what the caches of a level read before anybody asked, in sectors or lines. None of
// it is among the accesses.
type Prefetch struct {
	Issued  uint64 `json:"issued"`  // asked of the next level
	Useful  uint64 `json:"useful"`  // of these, those that an access found
	Late    uint64 `json:"late"`    // those that an access asked for while they were on their way
	Unused  uint64 `json:"unused"`  // those that lost their place before any access
	Present uint64 `json:"present"` // not issued: in the cache already, or on their way
	Refused uint64 `json:"refused"` // not issued: no room among the pending misses
}

// DRAM are the counters of all channels.
type DRAM struct {
	Reads      uint64 `json:"reads"`  // bursts read
	Writes     uint64 `json:"writes"` // bursts written
	Activates  uint64 `json:"activates"`
	Precharges uint64 `json:"precharges"`
	Requests   uint64 `json:"requests"`
	RowHits    uint64 `json:"row_hits"`
	BusyCycles uint64 `json:"busy_cycles"` // of the data pins, in cycles of the command clock
	Cycles     uint64 `json:"cycles"`      // of the command clock, over all channels

	BytesRead    uint64 `json:"bytes_read"`
	BytesWritten uint64 `json:"bytes_written"`
	// Peak is the highest rate of all data pins together.
	Peak float64 `json:"peak_gb_per_s"`
}

// Network are the counters of the two subnets.
type Network struct {
	RequestPackets uint64 `json:"request_packets"`
	RequestFlits   uint64 `json:"request_flits"`
	ReplyPackets   uint64 `json:"reply_packets"`
	ReplyFlits     uint64 `json:"reply_flits"`
}
