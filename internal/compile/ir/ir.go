// Package ir is the form in which a kernel is while it is compiled to machine code: basic blocks
// of machine instructions whose operands are values that are defined once (static single
// assignment), registers and predicates not yet chosen.
//
// A value is one 32-bit register or one predicate. Wider data are tuples of two or four values that
// an instruction needs in neighbouring registers; a tuple exists in the operand that names it and
// nowhere else, so that the halves of a 64-bit number can be made, used and forgotten on their own.
//
// A guarded instruction leaves its results as they were in lanes where its guard is false. In
// this form it therefore reads, for each result, the value that the register has before: Inst.Else.
//
// [Func.Verify] checks all that passes may rely on.
package ir

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/isa"
)

// Class is what a value is kept in.
type Class uint8

// The classes.
const (
	GPR  Class = iota // a 32-bit register for each lane
	Pred              // a predicate for each lane
	UGPR              // a 32-bit register of the warp
	Classes
)

// Value is the result of one instruction or one phi.
type Value struct {
	ID    int
	Class Class
	Def   *Inst // nil for a phi's
	Block *Block
	// Reg is its register once registers are allocated, -1 before.
	Reg int
}

// Kind is the kind of an argument.
type Kind uint8

// The kinds.
const (
	Reg    Kind = iota // one, two or four values in neighbouring registers; nil stands for RZ
	P                  // a predicate; nil stands for PT
	Imm                // an integer or the bits of a float, of 32 bits
	Const              // a constant bank at an offset; Vals has an index register for LDC
	Mem                // an address in brackets: Vals (two: a 64-bit one), plus Imm
	Text               // what has no values: SR_TID.X, a number of a barrier
	Hidden             // values that the instruction waits for: no part of the machine's text
)

// Arg is an operand, in the order of the machine's text.
type Arg struct {
	Kind   Kind
	Dst    bool
	Neg    bool // negated
	Abs    bool // its magnitude
	Not    bool // a predicate that is negated, or a register whose bits are inverted
	Float  bool // Imm are the bits of a binary32
	Bank   uint8
	Vals   []*Value
	Imm    int64
	Text   string
	Suffix string // without the dot: H0_H0
}

// Guard is the predicate of an instruction; Val is nil if it always executes.
type Guard struct {
	Val *Value
	Not bool
}

// Inst is an instruction. One without a name is a parallel copy: the i-th of its results gets the
// i-th of its sources, all at once.
type Inst struct {
	Name  string // the mnemonic with its modifiers: "IADD3.X"
	Guard Guard
	Args  []Arg
	Else  []*Value // of a guarded instruction: what each result was before, nil if nothing; see Defs
	Block *Block
	Line  int32 // of the PTX
	// Target is where BSSY's lanes meet.
	Target *Block
	// Ctl are the control bits, in the last pass.
	Ctl isa.Control
	// Of calls, once registers are chosen: registers that are used without being named, the function, and, of
	// what makes a return address, the call after which it is.
	Hidden []Arg
	Callee string
	Return *Inst
	// Sorts that passes need to know.
	Effect bool // it does more than to compute its results
	Alone  bool // a barrier at which other lanes of the warp may be elsewhere
	// Mark is Func.Marks when a pass last came to the instruction.
	Mark uint32
}

// Copy is the name of a parallel copy.
const Copy = ""

// Phi chooses a value by the block from which control comes.
type Phi struct {
	Dst  *Value
	Args []*Value // by Block.Preds; nil if nothing was assigned there
	Mark uint32   // Func.Marks when a pass last came to it
}

// Flow is how a block ends.
type Flow uint8

// The ends of blocks.
const (
	Jump   Flow = iota // to Then
	Branch             // to Then in lanes where the condition holds, else to Else
	Exit               // the lanes end
	Return             // to the caller: the block's last instruction
)

// Term is the end of a block.
type Term struct {
	Flow       Flow
	Cond       *Value
	Not        bool // the condition is negated
	Then, Else *Block
	Line       int32
	// Uniform says that all active lanes of a warp go the same way.
	Uniform bool
	// Brief says that a loop from which this leads ends, whatever other threads do in the meantime.
	Brief bool
}

// Block is a basic block.
type Block struct {
	ID    int // its place in Func.Blocks
	Phis  []*Phi
	Insts []*Inst
	Term  Term
	Preds []*Block
}

// Func is a kernel, or a function that kernels call.
type Func struct {
	Name string
	// Reserved registers, the first ones, are left to calls; 0 in a kernel without them.
	Reserved int
	// CalleesWait says that functions which are called may wait for other threads.
	CalleesWait bool
	Callees     []string // functions that it calls
	Routines    []*Func  // pieces of code that it calls, whose registers are chosen
	IsRoutine   bool     // it is one
	Indirect    bool     // it calls functions by their addresses
	Blocks      []*Block // in the order of the code; the first is the entry
	Values      []*Value // by ID
	Marks       uint32   // how often passes have marked instructions and phis
	room        []Value  // for the next values
}

// NewValue makes a value.
func (f *Func) NewValue(c Class) *Value {
	if len(f.room) == 0 {
		f.room = make([]Value, 64)
	}
	v := &f.room[0]
	f.room = f.room[1:]
	*v = Value{ID: len(f.Values), Class: c, Reg: -1}
	f.Values = append(f.Values, v)
	return v
}

// Calls notes that the function calls a routine.
func (f *Func) Calls(r *Func) {
	if f.Routine(r.Name) == nil {
		f.Routines = append(f.Routines, r)
	}
}

// Routine is the routine of a name, nil if the function calls none.
func (f *Func) Routine(name string) *Func {
	for _, r := range f.Routines {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// NewBlock appends a block.
func (f *Func) NewBlock() *Block {
	b := &Block{ID: len(f.Blocks)}
	f.Blocks = append(f.Blocks, b)
	return b
}

// Renumber gives blocks the numbers of their places.
func (f *Func) Renumber() {
	for i, b := range f.Blocks {
		b.ID = i
	}
}

// Succs are the blocks to which a block leads, each once.
func (b *Block) Succs() []*Block {
	switch b.Term.Flow {
	case Jump:
		return []*Block{b.Term.Then}
	case Branch:
		if b.Term.Then == b.Term.Else {
			return []*Block{b.Term.Then}
		}
		return []*Block{b.Term.Then, b.Term.Else}
	}
	return nil
}

// PredIndex is the place of p among b's predecessors, -1 if it is none.
func (b *Block) PredIndex(p *Block) int {
	for i, q := range b.Preds {
		if q == p {
			return i
		}
	}
	return -1
}

// Replace makes an edge to one block one to another; the caller sees to predecessors and phis.
func (b *Block) Replace(from, to *Block) {
	if b.Term.Then == from {
		b.Term.Then = to
	}
	if b.Term.Else == from {
		b.Term.Else = to
	}
}

// Defs are the values that an instruction defines, in the order of its operands.
func (in *Inst) Defs() []*Value { return in.Writes(nil) }

// Writes appends the values that an instruction defines to a list, in the order of its operands.
func (in *Inst) Writes(list []*Value) []*Value {
	for i := range in.Args {
		if a := &in.Args[i]; a.Dst {
			list = appendSome(list, a.Vals)
		}
	}
	return list
}

// Reads appends the values that an instruction reads to a list, each as often as it is read.
func (in *Inst) Reads(list []*Value) []*Value {
	if in.Guard.Val != nil {
		list = append(list, in.Guard.Val)
	}
	for i := range in.Args {
		if a := &in.Args[i]; !a.Dst {
			list = appendSome(list, a.Vals)
		}
	}
	return appendSome(list, in.Else)
}

// appendSome appends the values that are there.
func appendSome(list, vals []*Value) []*Value {
	for _, v := range vals {
		if v != nil {
			list = append(list, v)
		}
	}
	return list
}

// EachDef calls f for each value that an instruction defines, in the order of its operands.
func (in *Inst) EachDef(f func(v *Value)) {
	for i := range in.Args {
		if a := &in.Args[i]; a.Dst {
			for _, v := range a.Vals {
				if v != nil {
					f(v)
				}
			}
		}
	}
}

// Uses calls f for the place of each value that an instruction reads; f may replace it.
func (in *Inst) Uses(f func(v **Value)) {
	if in.Guard.Val != nil {
		f(&in.Guard.Val)
	}
	for i := range in.Args {
		if a := &in.Args[i]; !a.Dst {
			for j := range a.Vals {
				if a.Vals[j] != nil {
					f(&a.Vals[j])
				}
			}
		}
	}
	for i := range in.Else {
		if in.Else[i] != nil {
			f(&in.Else[i])
		}
	}
}

// Append puts an instruction at a block's end, and makes it the definition of its results.
func (b *Block) Append(in *Inst) *Inst {
	b.Insts = append(b.Insts, in)
	in.own(b)
	return in
}

// Put makes an instruction the one at place i.
func (b *Block) Put(i int, in *Inst) {
	b.Insts[i] = in
	in.own(b)
}

// Insert puts instructions before place i.
func (b *Block) Insert(i int, list ...*Inst) {
	all := make([]*Inst, 0, len(b.Insts)+len(list)) // who goes through the old list goes on with it
	b.Insts = append(append(append(all, b.Insts[:i]...), list...), b.Insts[i:]...)
	for _, in := range list {
		in.own(b)
	}
}

func (in *Inst) own(b *Block) {
	in.Block = b
	in.EachDef(func(v *Value) { v.Def, v.Block = in, b })
}

// Base is the mnemonic without modifiers.
func (in *Inst) Base() string { return Base(in.Name) }

// Base is a mnemonic without modifiers.
func Base(name string) string {
	for i := range len(name) {
		if name[i] == '.' {
			return name[:i]
		}
	}
	return name
}

// Has reports whether a mnemonic has a modifier.
func (in *Inst) Has(mod string) bool {
	n := in.Name
	for i := 0; i+len(mod) < len(n); i++ {
		if n[i] == '.' && n[i+1:i+1+len(mod)] == mod && (i+1+len(mod) == len(n) || n[i+1+len(mod)] == '.') {
			return true
		}
	}
	return false
}

// Clone is an equal argument with values of its own, for another place.
func (a Arg) Clone() Arg {
	a.Vals = slices.Clone(a.Vals)
	return a
}

// R is an argument of values in registers.
func R(v ...*Value) Arg { return Arg{Kind: Reg, Vals: v} }

// D is a result in registers.
func D(v ...*Value) Arg { return Arg{Kind: Reg, Vals: v, Dst: true} }

// RZ is the register that is always zero.
func RZ() Arg { return Arg{Kind: Reg, Vals: []*Value{nil}} }

// Pr is a predicate that is read, PT if v is nil.
func Pr(v *Value, not bool) Arg { return Arg{Kind: P, Vals: []*Value{v}, Not: not} }

// DP is a predicate that is written, PT if v is nil.
func DP(v *Value) Arg { return Arg{Kind: P, Vals: []*Value{v}, Dst: true} }

// I is an immediate of 32 bits.
func I(v uint32) Arg { return Arg{Kind: Imm, Imm: int64(v)} }

// T is text.
func T(s string) Arg { return Arg{Kind: Text, Text: s} }

// C is a place in a constant bank.
func C(bank uint8, offset int64) Arg { return Arg{Kind: Const, Bank: bank, Imm: offset} }
