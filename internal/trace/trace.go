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
	// Files are the files and folders that the run is read from; those that a list names may
	// be missing. Empty for a run that is still being recorded.
	Files []string
	// Warnings name lines that were left out, with reason, file and line.
	Warnings []string
	// Next, if not nil, returns command i of a run that is still being recorded;
	// Commands has only those known at first. It waits for the command, and returns
	// nil if there are no more.
	Next func(i int) *Command
}

// All iterates over the commands and waits for those of a run that is still being
// recorded.
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

// ErrDropped is returned for a launch that was being recorded and did not complete.
// Writers leave it out.
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
	Text  string // the line unchanged
}

// Source is a launch that has not been read yet. Reading is deferred so that an
// error in one launch does not affect those before it, and so that memory use does
// not grow with the trace.
type Source interface {
	// Name is the file, for messages. Header is cheap.
	Name() string
	Header() (Header, error)
	// Open reads everything needed before the first block runs: static code and
	// counts. It may read the whole file. Errors are of type *Error.
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

// Linear returns the linear index of a three-dimensional one, x fastest.
func (d Dim) Linear(i Dim) uint64 {
	return (uint64(i[2])*uint64(d[1])+uint64(i[1]))*uint64(d[0]) + uint64(i[0])
}

// Header is a launch as the trace describes it.
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
	Extra      []string // header lines with unknown keys, kept for writing
}

// Kernel is a launch whose static code is known.
type Kernel struct {
	Header
	// Code lists the static instructions that occur, by function and pc. Two
	// functions may have the same pc.
	Code []Static
	// Present are the linear indices of the blocks that the trace holds, in the
	// order in which it holds them.
	Present []uint64
	// WarpInsts counts the records, ThreadInsts the set bits of their masks.
	WarpInsts, ThreadInsts uint64
	Blocks                 Blocks
	// Warnings name oddities that are not errors.
	Warnings []string
}

// Blocks reads the blocks of a launch. It is used by one goroutine.
type Blocks interface {
	// Block returns the block at index i of Present. The caller owns it until it
	// returns it with Free for reuse. Ascending order is cheap; going back may cost
	// another pass over the file. Errors are of type *Error.
	Block(i int) (*Block, error)
	Free(b *Block)
	Close() error
}

// Static is a static instruction of a trace.
type Static struct {
	Func int32  // unique id of its function if the trace distinguishes functions, else 0
	PC   uint32 // byte offset in its function
	Op   string // mnemonic with modifiers
	Dsts []Reg
	Srcs []Reg
	// Width is the bytes per lane that the trace states, 0 without a memory access.
	// It is unreliable: derive widths from the opcode.
	Width uint8
	Line  int32 // source line, 0 if none
	// Imms are the immediate operands that the trace records; in version 5 only the
	// last one.
	Imms []int64
	// Control holds the compiler's control bits, nil if the trace has none. Words
	// are the encoded instruction, zero if unknown.
	Control *isa.Control
	Words   [2]uint64
	// Guard is the guard predicate, if known.
	Guard Guard
	// Text is the disassembly, if known.
	Text string
}

// Guard is a guard predicate.
type Guard struct {
	Known, Negated, Uniform bool
	Reg                     uint8 // 7 is PT: always
}

// Reg is a register named by a trace.
type Reg struct {
	File isa.RegFile
	N    uint16 // 255 is RZ; for uniform registers 63 is URZ
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
	// Insts are the records of all warps, warp by warp. Mems has the entries of
	// records that access memory, Deltas the lists that Mems refer to.
	Insts  []Inst
	Mems   []Mem
	Deltas []int64
}

// Warp is a warp's range of its block's records.
type Warp struct {
	ID         int32
	From, Upto int32 // Insts[From:Upto]
}

// Inst is a warp instruction that was executed.
type Inst struct {
	At int32 // index in Kernel.Code
	// Active are the lanes that reached the instruction, Mask those whose guard
	// also held. They are equal where a trace has only Mask.
	Active, Mask isa.LaneMask
	// Mem is the index of its first entry in Mems, -1 if it has none. An LDGSTS in
	// the MICRO 2025 format has two, the destination first.
	Mem   int32
	NMems uint8
}

// Mode is the encoding of a record's addresses.
type Mode uint8

// The modes, numbered as in files.
const (
	ListAll    Mode = iota // an address per set lane
	BaseStride             // lanes that are set form one run: Base + k·Stride
	BaseDelta              // Base, then the difference from the previous set lane
)

// Mem holds the addresses of a record in their recorded encoding, so that a trace
// can be written again unchanged.
type Mem struct {
	Mode   Mode
	Base   uint64
	Stride int32
	// First and N select a part of Block.Deltas: in ListAll the addresses as bits
	// of int64, in BaseDelta the differences of all set lanes but the first.
	First int32
	N     uint8
}

// Expand writes the addresses of the lanes in mask; it leaves other elements of
// addr unchanged.
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

// Error is an error in a trace, with its place.
type Error struct {
	File  string
	Line  int    // 0 if there is none
	Block string // "thread block 3,0,0, warp 2"; "" if there is none
	Msg   string // what is wrong and how to fix it
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
