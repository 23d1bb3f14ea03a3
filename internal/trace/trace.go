package trace

import (
	"errors"
	"fmt"
	"iter"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/isa"
)

// Set is a recorded run: copies and launches in order.
type Set struct {
	Name     string // folder or file, as the user named it
	Form     string // "Accel-Sim version 5", "MICRO'25", "Heddle container" …
	Commands []Command
	// Warnings are lines that were left out and why, each with file and line.
	Warnings []string
	// Next, if not nil, returns command i of a run that still goes on, of which
	// Commands has only those that were known at first. It waits for the command,
	// and returns nil if there will be none.
	Next func(i int) *Command
}

// All goes through the commands, and waits for those of a run that still goes on.
func (s *Set) All() iter.Seq[*Command] {
	return func(yield func(*Command) bool) {
		for i := range s.Commands {
			if !yield(&s.Commands[i]) {
				return
			}
		}
		for i := len(s.Commands); s.Next != nil; i++ {
			if c := s.Next(i); c == nil || !yield(c) {
				return
			}
		}
	}
}

// ErrDropped is what reading a launch returns that is recorded while it runs and
// will not come to its end. Writers leave it out.
var ErrDropped = errors.New("the launch did not come to its end")

// Command is a line of a list: a copy to the device, or a launch.
type Command struct {
	File string // of the list
	Line int
	// Launch is nil for a copy.
	Launch Source
	// Addr and Bytes are those of a copy from host to device.
	Addr  uint64
	Bytes uint64
	Text  string // the line as it stands
}

// Source is a launch that has not been read yet. Reading is put off so that
// what is wrong with one launch costs none of those before it, and because
// memory should not grow with the trace.
type Source interface {
	// Name is the file, for messages; Header is cheap.
	Name() string
	Header() (Header, error)
	// Open reads all there is to know before the first block runs: static code
	// and counts. It may read the whole file for that. The error is an *Error.
	Open() (*Kernel, error)
}

// Dim is an extent or index, x first.
type Dim [3]uint32

// Count returns the product.
func (d Dim) Count() uint64 { return uint64(d[0]) * uint64(d[1]) * uint64(d[2]) }

// At returns the index of the n-th element in x-fastest order.
func (d Dim) At(n uint64) Dim {
	x, y := uint64(d[0]), uint64(d[1])
	return Dim{uint32(n % x), uint32(n / x % y), uint32(n / (x * y))}
}

// Linear returns the place of an index, x fastest.
func (d Dim) Linear(i Dim) uint64 {
	return (uint64(i[2])*uint64(d[1])+uint64(i[1]))*uint64(d[0]) + uint64(i[0])
}

// Header is what a trace says about a launch.
type Header struct {
	Kernel    string // mangled
	ID        int64
	Grid      Dim
	Block     Dim
	Shared    int // bytes of a block
	Registers int // of a thread
	// Arch is the binary version: 70 for sm_70; 0 if the trace does not say.
	Arch       int
	Stream     uint64
	SharedBase uint64 // of the generic window of shared memory; 0: unknown
	LocalBase  uint64
	NVBit      string
	Version    int // of the tracer; 0 if the trace does not say
	LineInfo   bool
	Extra      []string // header lines that mean nothing to us, kept for writing
}

// Kernel is a launch whose static code is known.
type Kernel struct {
	Header
	// Code are the static instructions that occur, by function and pc. Two
	// functions may use one pc: then they differ in more.
	Code []Static
	// Present are the linear indices of the blocks that the trace holds, in the
	// order in which it holds them.
	Present []uint64
	// WarpInsts and ThreadInsts count the records and the set bits of their
	// masks.
	WarpInsts, ThreadInsts uint64
	Blocks                 Blocks
	// Warnings are what is odd but not wrong.
	Warnings []string
}

// Blocks gives the blocks of a launch. It is used by one goroutine.
type Blocks interface {
	// Block returns the block at place i of Present. It belongs to the caller,
	// who gives it back by Free for use again. Asking in ascending order is
	// cheap, asking for an earlier one may cost a new pass over the file. The
	// error is an *Error.
	Block(i int) (*Block, error)
	Free(b *Block)
	Close() error
}

// Static is an instruction as a trace tells of it.
type Static struct {
	Func int32  // unique id of its function where the trace tells functions apart, else 0
	PC   uint32 // byte offset in its function
	Op   string // mnemonic with modifiers
	Dsts []Reg
	Srcs []Reg
	// Width is the bytes of a lane as the trace has them, 0 for what touches no
	// memory. Not to be trusted: the opcode says more.
	Width uint8
	Line  int32 // source line, 0 if none
	// Imms are immediate operands that the trace has beside registers; of
	// version 5 it is the last one.
	Imms []int64
	// Control is what the compiler said, nil if the trace does not tell. Words
	// are the encoded instruction, zero if unknown.
	Control *isa.Control
	Words   [2]uint64
	// Guard is the guard predicate if it is known.
	Guard Guard
	// Text is the disassembly if it is known.
	Text string
}

// Guard is a guard predicate as far as a trace has it.
type Guard struct {
	Known, Negated, Uniform bool
	Reg                     uint8 // 7 is PT: always
}

// Reg is a register that a trace names.
type Reg struct {
	File isa.RegFile
	N    uint16 // 255 is RZ, of uniform registers 63 is URZ
}

func (r Reg) String() string {
	switch r.File {
	case isa.RegUGPR:
		return fmt.Sprintf("UR%d", r.N)
	case isa.RegPred:
		return fmt.Sprintf("P%d", r.N)
	case isa.RegUPred:
		return fmt.Sprintf("UP%d", r.N)
	}
	return fmt.Sprintf("R%d", r.N)
}

// Block is what a thread block executed.
type Block struct {
	Index Dim
	Warps []Warp // ascending by ID; absent ones are left out
	// Insts are the records of all warps, one warp behind the other; Mems what
	// those that touch memory have, Deltas the lists that Mems refer to.
	Insts  []Inst
	Mems   []Mem
	Deltas []int64
}

// Warp is a part of a block's records.
type Warp struct {
	ID         int32
	From, Upto int32 // Insts[From:Upto]
}

// Inst is a warp instruction that was executed.
type Inst struct {
	At int32 // index in Kernel.Code
	// Active are the lanes that came here, Mask those whose guard held too. Where
	// a trace tells only the latter they are the same.
	Active, Mask isa.LaneMask
	// Mem is the first of its Mems entries, -1 if it has none; an LDGSTS of
	// MICRO'25 has two, destination first.
	Mem   int32
	NMems uint8
}

// Mode says how the addresses of a record are written.
type Mode uint8

// The modes, numbered as in files.
const (
	ListAll    Mode = iota // an address per set lane
	BaseStride             // set lanes are one run: Base + k·Stride
	BaseDelta              // Base, then differences to the set lane before
)

// Mem are the addresses of a record. They are kept as they are written, so that
// a trace that is written again is the same.
type Mem struct {
	Mode   Mode
	Base   uint64
	Stride int32
	// First and N are a part of Block.Deltas: in ListAll the addresses as bits of
	// int64, in BaseDelta the differences of all set lanes but the first.
	First int32
	N     uint8
}

// Expand writes the addresses of the lanes of mask; other elements of addr keep
// what they hold.
func (b *Block) Expand(m *Mem, mask isa.LaneMask, addr *[32]uint64) {
	switch m.Mode {
	case ListAll:
		for i := range b.Deltas[m.First : m.First+int32(m.N)] {
			if mask == 0 {
				return
			}
			l := bits.TrailingZeros32(uint32(mask))
			mask &= mask - 1
			addr[l] = uint64(b.Deltas[int(m.First)+i])
		}
	case BaseStride:
		at := m.Base
		for ; mask != 0; mask &= mask - 1 {
			addr[bits.TrailingZeros32(uint32(mask))] = at
			at += uint64(int64(m.Stride))
		}
	case BaseDelta:
		at := m.Base
		for i := int32(0); mask != 0; mask &= mask - 1 {
			addr[bits.TrailingZeros32(uint32(mask))] = at
			if i < int32(m.N) {
				at += uint64(b.Deltas[m.First+i])
				i++
			}
		}
	}
}

// Error is something wrong with a trace, with its place.
type Error struct {
	File  string
	Line  int    // 0 if there is none
	Block string // "thread block 3,0,0, warp 2"; "" if there is none
	Msg   string // what is wrong and how to mend it
}

func (e *Error) Error() string {
	s := e.File
	if e.Line > 0 {
		s = fmt.Sprintf("%s:%d", s, e.Line)
	}
	if e.Block != "" {
		return fmt.Sprintf("%s: %s: %s", s, e.Block, e.Msg)
	}
	return fmt.Sprintf("%s: %s", s, e.Msg)
}
