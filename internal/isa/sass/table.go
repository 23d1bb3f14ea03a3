package sass

import (
	"embed"
	"sync"
)

// The tables are text, so that they can be read and checked like a manual.
// table/sm_75.txt explains their syntax; build.go turns them into rows, once, when the first
// program is read.

//go:embed table/*.txt
var tableText embed.FS

// enum is a field whose values have names.
type enum struct {
	name  string
	at    span
	names map[uint64][]string // the first is printed; "" prints nothing
	order []enumName          // longest first, for reading
}

type enumName struct {
	text  string
	value uint64
}

// modField is a part of the mnemonic after the opcode.
type modField struct {
	enum *enum
	at   span
	text string // a modifier: always printed if enum is nil and at empty, else if the bit is set
}

// immType is the interpretation of a number in a field.
type immType uint8

const (
	immUnsigned immType = iota
	immSigned
	immF16
	immF32
	immF64 // the upper 32 bits of a double
	immH2  // two halves, the upper one first
	immB2  // two bfloat16, the upper one first
)

// field kinds of operands
type fieldKind uint8

const (
	fGPR fieldKind = iota
	fUGPR
	fPred
	fUPred
	fBReg
	fSB
	fSReg
	fImm
	fConst  // c[bank][word offset]
	fCX     // cx[UR][word offset]
	fLDC    // c[bank][R + byte offset]
	fULDC   // c[bank][UR + byte offset]
	fLDCU   // c[bank][UR + byte offset], one bit lower
	fTarget // relative to the next instruction
	fAbs    // code address
	fMask
	fWord
	fEnum
	fMem
	fPnz  // predicate whose encoding is mirrored: PT is 0
	fUPnz // the same of a uniform predicate
	fDesc
	fGDesc
)

// opt says when the text omits an operand.
type opt uint8

const (
	always    opt = iota
	unlessPT      // omitted if PT (or an offset of 0)
	unlessNot     // omitted if !PT
)

// operandField is an operand of a row.
type operandField struct {
	kind    fieldKind
	role    Role
	dst     bool
	at      span
	opt     opt
	neg     int // bit numbers, -1 if none
	abs     int
	inv     int
	not     int
	reuse   int
	suffix  *enum
	suffAt  span
	imm     immType
	scale   int64
	count   string // number of registers: "", "2", "sz" etc.; see counts.go
	tail    bool
	word    string
	half    bool // half-precision slot
	next    bool // uniform register after the one in the field
	literal int  // required register number, -1 if any

	// of memory operands
	base      *operandField
	ureg      *operandField
	keepURZ   bool
	offset    *operandField
	desc      *operandField
	descOld   bool
	wide      bool // base's suffix bit follows .E if there is no base
	zeroShown bool // or the base is written as RZ
}

// row is one instruction form.
type row struct {
	op       Op
	src      string // the table's line, for messages
	mask     word128
	value    word128 // required values of the bits of mask
	known    word128 // all bits that belong to a field; others must be zero
	before   []*row  // those with the same opcode that come before it in the table
	mods     []modField
	operands []operandField
	shl      bool // the immediate must be a power of two, and not 0x10000
	guard    bool // its guard is a uniform predicate
}

// pair reports whether the field holds two numbers.
func (f *operandField) pair() bool { return f.kind == fImm && (f.imm == immH2 || f.imm == immB2) }

// table holds the rows of one architecture.
type table struct {
	arch     Arch
	rows     []*row
	byOpcode map[uint64][]*row
	byOp     map[Op][]*row
}

// names lists the opcodes that the architecture has.
func (t *table) names() []string {
	var list []string
	for op := NoOp + 1; op < Ops; op++ {
		if len(t.byOp[op]) > 0 {
			list = append(list, opNames[op])
		}
	}
	return list
}

// opcodeSpan is the 13-bit opcode.
var opcodeSpan = span{{91, 91}, {11, 0}}

// guardSpan is the guard predicate, guardNot its negation.
var guardSpan = span{{14, 12}}

const guardNot = 15

// descPrinted says before sm_90 that a descriptor is printed.
var descPrinted = span{{101, 101}}

// controlMask covers the control bits except reuse.
var controlMask = span{{121, 105}}.mask()

var tables sync.Map // Arch to func() *table

// tableOf returns the rows of an architecture, built on first use. The tables
// are part of the program: an error in them is a bug, which a test finds.
func tableOf(a Arch) *table {
	f, ok := tables.Load(a)
	if !ok {
		f, _ = tables.LoadOrStore(a, sync.OnceValue(func() *table {
			t, err := buildTable(a)
			if err != nil {
				panic(err)
			}
			return t
		}))
	}
	return f.(func() *table)()
}
