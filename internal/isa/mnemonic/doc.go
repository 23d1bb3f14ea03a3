// Package mnemonic interprets SASS mnemonics by themselves, from Kepler to Blackwell: the
// class of the opcode, the unit that executes it, its effect on memory and control flow, the
// width of its operands. It serves programs of which only the names of the instructions and
// some of their registers are known, such as traces.
//
// It is not an instruction set: it knows neither encodings nor the text of operands (isa/sass
// does, from Turing on), nor what an instruction computes. If a mnemonic leaves something
// open, such as whether the last operand of an IMAD.WIDE is a register pair or a constant,
// the answer is the wider one: it guards too much rather than too little.
//
// table.go has the opcodes with their classes, accelsim.go Accel-Sim's classification by
// architecture, operands.go the meaning of the modifiers. An unknown name is treated like a
// similar one by rules that the user can change (Rules), and counted.
package mnemonic
