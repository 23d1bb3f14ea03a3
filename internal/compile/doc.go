// Package compile turns PTX into machine code for GPUs since Turing: it is an assembler in the sense of
// NVIDIA's ptxas.
//
// A kernel goes through the passes of the table in passes.go, each a file with one idea. The first
// makes the form of package ir from PTX, instruction by instruction, by the tables in select; the
// last writes a program of isa/sass. What an architecture demands of code, latencies above all, is
// in package machine and nowhere else.
//
// A kernel that cannot be compiled is refused, with the instruction that is the reason; it is never
// compiled wrongly on purpose. What the package does not know is what instructions do (exec/sass)
// and how their words look (isa/sass).
package compile
