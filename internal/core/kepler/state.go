package kepler

import (
	"github.com/heddle-sim/heddle/internal/exec/kasm"
	isa "github.com/heddle-sim/heddle/internal/isa/kasm"
)

// Sizes of the core.
const (
	Warps       = 24
	SharedBytes = 16384
	MemoryBytes = 32 << 20 // global memory if addresses are checked
	StackDepth  = 32       // divergence stack entries of a warp
	CallDepth   = 8        // return addresses of a warp

	// FirstFetch is the cycle in which fetch begins, after the queues of free
	// transaction slots have been filled.
	FirstFetch = slots + 5

	collectors  = 32
	banks       = 4
	queueDepth  = 8
	slots       = 64  // outstanding transactions of a warp
	lineBytes   = 128 // of a transaction
	lineWords   = lineBytes / 4
	sharedBanks = 32
)

// Status is the status of a warp.
type Status uint8

// The warp states that the RTL uses, with its numbers.
const (
	Idle    Status = 0
	Ready   Status = 1
	Barrier Status = 5
	Exited  Status = 6
)

func (s Status) String() string {
	switch s {
	case Idle:
		return "idle"
	case Ready:
		return "ready"
	case Barrier:
		return "at a barrier"
	case Exited:
		return "exited"
	}
	return "in an unknown state"
}

// slot is an instruction in fetch, decode, a collector or a queue.
type slot struct {
	valid bool
	prog  uint8 // program and pc identify the instruction
	pc    uint8
	warp  uint8
	tag   uint8
	nop   bool   // squashed
	mark  bool   // it has marked rd in the scoreboard
	selp  uint32 // lanes of SELP's predicate, if read in order
	buf   uint8  // operand buffer
	id    uint16 // order within the warp
	mask  uint32
	way   uint16 // its record in Core.ways; 0 is none
}

// frame is an entry of the divergence stack.
type frame struct {
	pc   uint32
	mask uint32
}

// queue is one of the three FIFOs before the execution units.
type queue struct {
	ring [queueDepth]slot
	head uint8
	n    uint8
}

func (q *queue) pop() { q.head, q.n = (q.head+1)%queueDepth, q.n-1 }

func (q *queue) push(s slot) {
	q.ring[(q.head+q.n)%queueDepth] = s
	q.n++
}

// result is a result register of the integer pipe, the floating-point pipe or memory, or
// a write port.
type result struct {
	valid bool
	last  bool // releases rd in the scoreboard
	warp  uint8
	rd    uint8
	way   uint16 // the record that this result ends; 0 is none
	mask  uint32
	v     kasm.Vector
}

// predWrite is a pending write to the predicate file.
type predWrite struct {
	valid bool
	warp  uint8
	pred  uint8
	mask  uint32
	v     uint32
}

// request is a request in the load/store unit.
type request struct {
	valid  bool
	nop    bool // squashed: only releases rd
	mark   bool // rd is marked in the scoreboard
	begun  bool // the access to shared memory has begun
	shared bool // to shared memory
	extra  bool // an atomic or TEX
	pc     uint8
	group  uint8  // number of the group that the parts of a split request form
	ready  uint64 // cycle in which shared memory has answered all lanes
	op     isa.Op
	warp   uint8
	rd     uint8
	way    uint16
	mask   uint32
	id     uint16 // operation and number, to distinguish requests
	imm    int32  // of TEX
	addr   kasm.Vector
	data   kasm.Vector
	third  kasm.Vector // the value of rs3, if the operation has one
}

// transaction is an entry of a warp's table of outstanding transactions.
type transaction struct {
	valid  bool
	store  bool
	last   bool
	warp   uint8 // with slot: the transaction's id
	slot   uint8
	rd     uint8
	way    uint16
	mask   uint32
	group  uint8
	lines  uint8            // lines of a texture that have not arrived
	filter uint8            // cycles that the texture unit then takes
	word   [isa.Lanes]uint8 // each lane's word in the line
	v      kasm.Vector      // the values that a load has read
}

// flight is a transaction to be answered, if answers may arrive out of order.
type flight struct {
	due        uint64
	warp, slot uint8
}

// message is a request in the mock memory.
type message struct {
	warp  uint8
	slot  uint8
	write bool
	line  uint32
	mask  uint32
	at    uint64 // launched in this cycle
	word  [isa.Lanes]uint8
	data  kasm.Vector
}

// slotQueue holds a warp's free transaction slots.
type slotQueue struct {
	ring [slots]uint8
	head uint8
	n    uint8
}

// state is everything that a cycle changes, except for the mock memory's queue and the
// lines of global memory.
type state struct {
	cycle uint64

	// Warps.
	pc       [Warps]uint32
	status   [Warps]Status
	mask     [Warps]uint32
	busy     [Warps]uint64 // scoreboard of registers
	cleared  [Warps]uint64 // bits released in the previous cycle
	predBusy [Warps]uint8  // scoreboard of predicates

	clearedWarp [2]uint8 // warps with bits in cleared

	tag       [Warps]uint8
	issueID   [Warps]uint16
	releaseID [Warps]uint16
	stackTop  [Warps]uint8
	callTop   [Warps]uint8
	stack     [Warps][StackDepth]frame
	calls     [Warps][CallDepth]uint32
	regs      [Warps][isa.Registers]kasm.Vector
	preds     [Warps][8]uint32
	program   [Warps]uint8 // index of its program
	ready     uint32       // warps in state Ready
	started   uint32       // warps that the host started
	over      uint32       // warps that have exited

	// Front end.
	next       uint8 // the warp at which selection starts
	fetched    [2]slot
	decoded    [2]slot
	branched   bool // a branch was taken in the previous cycle
	branchWarp uint8

	// Operand collectors.
	last     uint8        // warp that was selected last
	control  [Warps]uint8 // control instructions in the integer queue
	idle     uint32
	waiting  uint32 // allocated, with operands missing or just read
	complete uint32
	unit     [collectors]slot
	missing  [collectors]uint8       // operands not read yet
	second   [collectors]kasm.Vector // rs2 as last read
	bankNext [banks]uint8
	outNext  uint8
	bufFree  uint64 // operand buffers
	buf      [64][3]kasm.Vector

	// Execution.
	queue   [3]queue // by unit
	alu     result
	aluPred predWrite
	fpu     result
	mems    [2]result // one is of this cycle, the other of the next
	memAt   uint8
	port    [2]result // registered write ports
	predOut predWrite // registered predicate write port

	// Barrier.
	barActive, barInit bool
	barExpected        uint32
	barMask            uint32
	barEpoch           uint32 // 0 or all ones
	barSeen            uint32

	// Load/store unit.
	lsu         request
	pops        uint8
	replays     uint32 // warps with a replay entry
	replayNext  uint8
	replay      [Warps]request
	outstanding [Warps]uint16
	free        [Warps]slotQueue
	table       [Warps][slots]transaction
	returning   bool // a slot goes back at the end of this cycle
	returnWarp  uint8
	returnSlot  uint8

	// Mock memory: the current message is answered in cycle answerAt.
	working  bool
	answerAt uint64
	answered uint64 // cycle of the previous answer
	head     message

	// If answers may arrive out of order: transactions in flight, and the number of
	// parts of each request that are.
	flights [Warps*slots + texLines]flight
	flying  int
	groups  [Warps]uint64 // in use
	parts   [Warps][slots]uint8
	open    [Warps][slots]bool // more parts will follow

	sampler sampler
	tri     [Warps]kasm.Triangle // set up by TRI

	// Shared memory.
	shared     [SharedBytes]byte
	conflict   bool // replaying a request with bank conflicts
	serviced   uint16
	steps      uint8 // remaining replays
	step       uint8
	order      [isa.Lanes]uint8
	held       request     // the request being replayed
	read       kasm.Vector // read-data register
	sharedReq  result      // response pipeline, first stage
	sharedResp result      // second stage

	doneCycle  uint64
	moved      uint64 // last cycle in which an instruction or message made progress
	startCycle [Warps]uint64
	exitCycle  [Warps]uint64
	stats      Stats
	counters   Counters
	far, near  [Warps]uint64 // registers last marked by an access to global or shared memory
	picked     [Warps]uint64 // selected instructions
	pickedPC   [Warps]uint8  // the last of them
	ran        [Warps]bool   // whether any instruction has executed
	ranPC      [Warps]uint8  // the last of them
	did        SlotState     // what fetch did in the previous cycle
	warpDid    [Warps]WarpState
}

// Stats are the counters of a run.
type Stats struct {
	Cycles       uint64
	DualIssues   uint64 // cycles in which two instructions were selected
	SingleIssues uint64 // cycles in which one was selected
	Executed     uint64 // instructions that executed in a unit; an exit counts once
	Threads      uint64 // lanes on which they executed
	Squashed     uint64 // instructions found squashed by a branch when they reached a unit
	Branches     uint64 // taken branches
	Transactions uint64 // lines requested from global memory
	Replays      uint64 // those that were replayed parts of a split request
	Conflicts    uint64 // extra cycles of shared memory for bank conflicts
}
