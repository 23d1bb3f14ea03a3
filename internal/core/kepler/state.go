package kepler

import (
	"github.com/heddle-sim/heddle/internal/exec/kasm"
	isa "github.com/heddle-sim/heddle/internal/isa/kasm"
)

// Sizes of the core.
const (
	Warps       = 24
	SharedBytes = 16384
	MemoryBytes = 32 << 20 // global memory, where addresses are checked
	StackDepth  = 32       // divergence stack entries of a warp
	CallDepth   = 8        // return addresses of a warp

	// FirstFetch is the cycle in which fetch begins: the queues of free
	// transaction slots fill before.
	FirstFetch = slots + 5

	collectors  = 32
	banks       = 4
	queueDepth  = 8
	slots       = 64  // outstanding transactions of a warp
	lineBytes   = 128 // a transaction's reach
	lineWords   = lineBytes / 4
	sharedBanks = 32
)

// Status is what a warp is doing.
type Status uint8

// The states of a warp that the RTL enters, with its numbers.
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
	return "in no state"
}

// slot is an instruction on its way: in fetch, decode, a collector or a queue.
type slot struct {
	valid bool
	prog  uint8 // program and pc name the instruction
	pc    uint8
	warp  uint8
	tag   uint8
	nop   bool   // squashed on the way
	mark  bool   // it has marked rd in the scoreboard
	selp  uint32 // lanes of SELP's predicate, if read in order
	buf   uint8  // operand buffer
	id    uint16 // order within the warp
	mask  uint32
	way   uint16 // of the timeline; 0 is none
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

// result is a result register: of the integer pipe, the floating-point pipe,
// the memory, and the two write ports.
type result struct {
	valid bool
	last  bool // releases rd in the scoreboard
	warp  uint8
	rd    uint8
	way   uint16 // whose end this is; 0 is none
	mask  uint32
	v     kasm.Vector
}

// predWrite is a predicate on its way to the predicate file.
type predWrite struct {
	valid bool
	warp  uint8
	pred  uint8
	mask  uint32
	v     uint32
}

// request is what the load/store unit works on.
type request struct {
	valid  bool
	nop    bool // squashed: only releases rd
	mark   bool // rd is marked in the scoreboard
	begun  bool // shared memory has been asked
	shared bool // to shared memory
	extra  bool // an atomic or TEX
	pc     uint8
	group  uint8  // what the parts of a split request have in common
	ready  uint64 // cycle in which shared memory has answered all lanes
	op     isa.Op
	warp   uint8
	rd     uint8
	way    uint16
	mask   uint32
	id     uint16 // operation and number, to tell requests apart
	imm    int32  // of TEX
	addr   kasm.Vector
	data   kasm.Vector
	third  kasm.Vector // the value of rs3, where the operation has one
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
	lines  uint8            // of a texture, still to come
	filter uint8            // cycles that the texture unit takes afterwards
	word   [isa.Lanes]uint8 // each lane's word in the line
	v      kasm.Vector      // what a load has read
}

// flight is a transaction that will be answered, where answers may overtake.
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

// state is everything that a cycle changes, but for the mock memory's queue
// and the global memory's lines.
type state struct {
	cycle uint64

	// Warps.
	pc       [Warps]uint32
	status   [Warps]Status
	mask     [Warps]uint32
	busy     [Warps]uint64 // scoreboard of registers
	cleared  [Warps]uint64 // bits released in the cycle before
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
	next       uint8 // where the scan for a warp begins
	fetched    [2]slot
	decoded    [2]slot
	branched   bool // a branch was taken in the cycle before
	branchWarp uint8

	// Operand collectors.
	last     uint8        // warp that was selected last
	control  [Warps]uint8 // control instructions in the integer queue
	idle     uint32
	waiting  uint32 // allocated, operands missing or just read
	complete uint32
	unit     [collectors]slot
	missing  [collectors]uint8       // operands not read yet
	second   [collectors]kasm.Vector // rs2 as it was last read
	bankNext [banks]uint8
	outNext  uint8
	bufFree  uint64 // operand buffers
	buf      [64][3]kasm.Vector

	// Execution.
	queue   [3]queue // by unit
	alu     result
	aluPred predWrite
	fpu     result
	mems    [2]result // one is of this cycle, the other is being made
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

	// Mock memory: the message in work answers in cycle answerAt.
	working  bool
	answerAt uint64
	answered uint64 // cycle of the answer before
	head     message

	// Where answers may overtake: transactions on their way, and how many
	// parts of a request are.
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
	steps      uint8 // replays to come
	step       uint8
	order      [isa.Lanes]uint8
	held       request     // the request being replayed
	read       kasm.Vector // read-data register
	sharedReq  result      // response pipeline, first stage
	sharedResp result      // second stage

	doneCycle  uint64
	moved      uint64 // last cycle in which an instruction or message got on
	startCycle [Warps]uint64
	exitCycle  [Warps]uint64
	stats      Stats
	counters   Counters
	far, near  [Warps]uint64 // registers marked last by an access to global, to shared memory
	picked     [Warps]uint64 // instructions selected
	pickedPC   [Warps]uint8  // the last of them
	ran        [Warps]bool   // whether any has executed
	ranPC      [Warps]uint8  // the last of them
	did        SlotState     // what fetch did in the cycle before
	warpDid    [Warps]WarpState
}

// Stats counts what a run did.
type Stats struct {
	Cycles       uint64
	DualIssues   uint64 // cycles in which two instructions were selected
	SingleIssues uint64 // cycles in which one was
	Executed     uint64 // instructions that reached a unit and counted; an exit once
	Threads      uint64 // lanes on which they executed
	Squashed     uint64 // instructions that a branch overtook, as they reached a unit
	Branches     uint64 // branches taken
	Transactions uint64 // lines asked of global memory
	Replays      uint64 // of them, parts of a split request
	Conflicts    uint64 // extra cycles of shared memory for bank conflicts
}
