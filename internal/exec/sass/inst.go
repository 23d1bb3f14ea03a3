package sass

import (
	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa"
)

// ref identifies a row of 32 lanes: a register of the warp if it is not negative, else row
// ^ref of the launch's constants.
type ref int32

const nowhere ref = -1 << 31 // a result that is discarded

// Maximum number of rows that an instruction reads and writes: IMMA.SP.16864 reads 4, 4, 4
// and 1; LDG.128 and DMMA write 4.
const (
	maxSrc = 13
	maxDst = 8
)

// kind distinguishes instructions that change control flow, or wait, from those that only
// compute.
type kind uint8

const (
	kRun  kind = iota // computes: run does it
	kNop              // has no effect on values
	kFlow             // act does it when it issues
)

// source is an operand of 32 bits per lane: the row's value, changed to (row AND and XOR
// xor) + add, and then the selected half.
type source struct {
	row           ref
	and, xor, add uint32
	half          half
}

// half selects the half words of a register for an operand of packed halves.
type half uint8

const (
	bothHalves half = iota // H1_H0
	lowHalf                // H0_H0
	highHalf               // H1_H1
)

func plain(r ref) source { return source{row: r, and: full} }

func (s *source) plain() bool {
	return s.and == full && s.xor == 0 && s.add == 0 && s.half == bothHalves
}

// predicate is a predicate operand: an index into warp.pr.
type predicate struct {
	at  uint8
	not bool
}

// noPredicate is the index of a discarded predicate result.
const noPredicate = 0xff

// laneOp is an operation of which each lane depends on its own operands alone: d becomes a result of up to three
// sources and two predicates in the lanes of m, where d may be one of the sources. It returns results for two
// predicates.
type laneOp func(w *warp, in *inst, d, a, b, c *[32]uint32, x, y, m uint32) (u, v uint32)

// inst is a decoded instruction. What every execution looks at comes first, in three lines of the host's caches: the
// code of a kernel shares them with its registers.
type inst struct {
	lanes laneOp // what run does, if it is no more than this
	run   func(w *warp, in *inst, p *pending, m uint32)
	act   func(w *warp, in *inst, m uint32)

	kind    kind
	quick   bool // lanes does all of it, in registers
	word    bool // loads or stores words of shared memory, and nothing else
	late    bool // has variable latency
	uniform bool // computes once per warp, in lane 0
	toUR    bool // its result goes to uniform registers: lane 0 for all
	toUP    bool // its predicate results are uniform
	changed bool // some source is modified
	direct  bool // its results may be computed in their registers: it writes only lanes that execute, each from its own sources
	sets    bool // it has a predicate result
	guard   predicate

	nsrc, ndst uint8
	nps        uint8        // predicate sources that need not be true
	pd         [2]uint8     // predicate results
	ps         [3]predicate // predicate sources

	// Used by the instruction families; the meaning is defined with their operations.
	ftz, sat, flag bool
	mode, lut, arg uint8
	round          num.Round
	cmp            num.Cmp
	count          int
	imm            uint64

	dst  [maxDst]ref
	rows [maxSrc]ref // of src, side by side

	target    int32
	mem, mem2 *access
	mma       *matrix
	tex       *texel
	shuffle   *shuffle
	// commit does what becomes visible beyond registers and two predicates.
	commit func(w *warp, in *inst, p *pending)
	info   *isa.Inst
	src    [maxSrc]source
}

const full = ^uint32(0)
