// Package mnemonic is what a SASS mnemonic says by itself, from Kepler to
// Blackwell: the class of the opcode, the unit that executes it, what it does
// to memory and to control, how wide its operands are. It is for programs of
// which only the names of the instructions and some of their registers are
// known, such as traces.
//
// It is not an instruction set: it knows no encodings and no text of operands
// (isa/sass does, from Turing on), and nothing of what an instruction computes.
// Where a mnemonic leaves something open, such as whether the last operand of
// an IMAD.WIDE is a register pair or a constant, the answer is the wider one:
// it guards too much rather than too little.
//
// table.go has the opcodes with their classes, accelsim.go how the trace
// front end of Accel-Sim sorts them by architecture, operands.go what the
// modifiers say. A name that no table has is treated as another one that it
// resembles by a rule which the user can change (Rules), and counted.
package mnemonic
