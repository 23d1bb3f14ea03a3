// Package kasm is the instruction set of the Kepler-style educational core:
// its 64-bit encoding, an assembler and a disassembler for its text form, and
// the one-word-a-line hex form of program images.
//
// Encoding and text are exact in both directions: every 64-bit word has a text
// that assembles to it again, words with unknown opcodes included. What the
// instructions do to registers is in exec/kasm; when they do it, in core/kepler.
package kasm
