// Package kasm is the instruction set of the Kepler-style educational core: its 64-bit
// encoding, an assembler and a disassembler for its text form, and the hex form of program
// images with one word per line.
//
// Encoding and text are exact in both directions: every 64-bit word, even one with an
// unknown opcode, has a text that assembles to it again. What the instructions do to
// registers is in exec/kasm; when they do it, in core/kepler.
package kasm
