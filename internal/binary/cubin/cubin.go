package cubin

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
)

var le = binary.LittleEndian

// machine is e_machine of device code.
const machine = elf.EM_CUDA

// The versions of the ABI, in the header's identification, decide where e_flags has the
// architecture: up to toolkit 12 in its bits 7 to 0, from 13 on in bits 15 to 8.
const abiToolkit13 = 8

// What ELF leaves to processors.
const (
	typeInfo   = elf.SHT_LOPROC // sections .nv.info and .nv.info.KERNEL
	otherEntry = 0x10           // in a symbol's st_other: a kernel, not a device function
	symTexture = elf.STT_LOOS   // types of symbols: texture and surface references
	symSurface = elf.STT_LOOS + 2
)

// Banks is the number of constant banks: a file fills banks 2 to 4, a launch bank 0.
const Banks = 8

// Bounds, our choice: the largest file of public libraries has 7 MB, and 64 KiB are what the
// encoding of a constant's offset reaches.
const (
	maxFile = 1 << 30
	maxBank = 1 << 16
)

// Is reports whether the bytes begin like a cubin: an ELF file of device code.
func Is(b []byte) bool {
	return len(b) >= 20 && bytes.HasPrefix(b, []byte(elf.ELFMAG)) && elf.Machine(le.Uint16(b[18:])) == machine
}

// File is a cubin.
type File struct {
	Name        string // for messages
	Arch        int    // 86 for sm_86
	Relocatable bool   // its references to other files are open
	Kernels     []*Kernel
	Functions   []*Function // device functions outside kernels
	Data        []*Data     // device memory that the kernels share
	Constants   [Banks][]byte
	// Variables are the symbols in Data and in the constant banks.
	Variables []Variable
	// Relocations of constant banks and code; those of debug information are left out.
	Relocations []Relocation
	// Externs are the undefined functions: what the driver provides (vprintf, malloc, free,
	// __assertfail), and in relocatable files those of other files.
	Externs []string
	// Textures and Surfaces are references to such, which have no place in memory.
	Textures, Surfaces []string

	elf   *elf.File
	syms  []elf.Symbol // by number
	parts []part       // of a result of Link, which has neither
}

// Yield makes all definitions for other files weak.
func (f *File) Yield() {
	for _, k := range f.Kernels {
		k.Weak = true
	}
	for _, fn := range f.Functions {
		fn.Weak = true
	}
	for i := range f.Variables {
		f.Variables[i].Weak = true
	}
}

// Kernel returns the kernel of a name, nil if there is none.
func (f *File) Kernel(name string) *Kernel {
	for _, k := range f.Kernels {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// Function is a piece of code.
type Function struct {
	Name   string
	Code   []byte  // 16 bytes for each instruction
	Labels []Label // of functions inside, in the order of their offsets
	// Stack is the bytes that the function puts on a thread's stack, Least what it needs
	// with all that it calls, as far as the compiler knows.
	Stack, Least int
	Local        bool // only its own file sees it
	Weak         bool // another definition may replace it
	Regs         int  // general registers per thread
	Attributes   []Attribute
}

// Kernel is a kernel with what its launch needs.
type Kernel struct {
	Function
	Barriers   int // named barriers
	Shared     int // bytes of static shared memory
	ParamBase  int // byte offset of the parameters in constant bank 0
	ParamBytes int
	Params     []Param
	MaxThreads [3]uint32     // of a block, by dimension; 0: as many as the GPU allows
	Block      [3]uint32     // the block that a launch must have; 0: any
	Constants  [Banks][]byte // its own; bank 0 is what comes before and with the parameters
}

// Param is a parameter of a kernel.
type Param struct {
	Offset int // bytes from ParamBase
	Bytes  int
}

// Label is a place in the code.
type Label struct {
	Name   string
	Offset uint32 // bytes
	Bytes  uint32 // 0 if unknown
}

// Data is a piece of device memory that a file defines.
type Data struct {
	Name  string // of its section
	Init  []byte // nil: zeros
	Bytes uint64
	Align uint64
}

// Variable is a symbol in device or constant memory.
type Variable struct {
	Name   string
	Data   int // index into Data, -1 for constants
	Bank   int // of constants
	Offset uint64
	Bytes  uint64
	Global bool // visible to other files
	Weak   bool // another definition may replace it
}

// Relocation is a place whose value depends on addresses.
type Relocation struct {
	At     Place
	Type   uint32
	Symbol string
	Global bool // other files see the symbol
	// Place is the symbol's own place; Unknown if the file does not define it.
	Place  Place
	Addend int64
}

// Types of relocations (measured: what compilers use for these purposes).
const (
	RelocWhole    = 2  // an address of 64 bits
	RelocLower    = 56 // the lower half of an address, in an instruction's immediate
	RelocUpper    = 57 // its upper half
	RelocFunction = 58 // the target of CALL.ABS
	RelocDescLow  = 62 // RelocLower and RelocUpper of a function whose address is taken
	RelocDescHigh = 63
)

// More types, whose numbers and names (R_CUDA_FUNC_DESC_64, R_CUDA_CONST_FIELD19_40 and
// R_CUDA_CONST_FIELD21_38) are in public lists of what nvdisasm knows; the fields of the latter two are
// those of our tables of encodings. No file that we have uses them.
const (
	RelocDescWhole     = 35 // RelocWhole of a function whose address is taken
	RelocSurface       = 52 // the handle of a surface reference (measured)
	relocConstOperand  = 64 // the place of an operand c[bank][offset]: the offset in words, the bank
	relocConstRegister = 66 // the same of c[bank][register+offset], the offset in bytes
)

// Place is a byte of a file's memory, constants or code.
type Place struct {
	Kind   PlaceKind
	Index  int    // into Data
	Bank   int    // of constants
	Owner  string // the kernel or function whose code, shared memory or constants these are; else empty
	Offset uint64
}

// PlaceKind is what a place is in.
type PlaceKind uint8

// The kinds of places.
const (
	Unknown PlaceKind = iota
	InData
	InConstant
	InCode
	InShared
)

// An Error is a file that is not a cubin that can be read.
type Error struct {
	File    string
	Section string // empty: the file as a whole
	Offset  int64  // in the section, or without one in the file; -1: all of it
	Msg     string
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	sep := ":"
	if e.Section != "" {
		fmt.Fprintf(&b, ": section %s", e.Section)
		sep = ","
	}
	if e.Offset >= 0 {
		fmt.Fprintf(&b, "%s offset %#x", sep, e.Offset)
	}
	return b.String() + ": " + e.Msg
}
