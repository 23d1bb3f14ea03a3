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

// inst is a decoded instruction.
type inst struct {
	run func(w *warp, in *inst, p *pending, m uint32)
	act func(w *warp, in *inst, m uint32)
	// commit does what becomes visible beyond registers and two predicates.
	commit func(w *warp, in *inst, p *pending)
	info   *isa.Inst

	kind    kind
	late    bool // has variable latency
	uniform bool // computes once per warp, in lane 0
	toUR    bool // its result goes to uniform registers: lane 0 for all
	toUP    bool // its predicate results are uniform
	changed bool // some source is modified
	direct  bool // its results may be computed in their registers: it writes only lanes that execute, each from its own sources
	guard   predicate

	nsrc, ndst uint8
	nps        uint8       // predicate sources that need not be true
	sets       bool        // it has a predicate result
	rows       [maxSrc]ref // of src, side by side
	dst        [maxDst]ref
	pd         [2]uint8     // predicate results
	ps         [3]predicate // predicate sources
	src        [maxSrc]source

	// Used by the instruction families; the meaning is defined with their operations.
	ftz, sat, flag bool
	mode, lut, arg uint8
	round          num.Round
	cmp            num.Cmp
	count          int
	imm            uint64
	target         int32
	mem, mem2      *access
	mma            *matrix
	tex            *texel
}

const full = ^uint32(0)
