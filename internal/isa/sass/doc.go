// Package sass is NVIDIA's machine language since Turing: its text with control
// codes, its 128-bit words, and the way from one to the other in both
// directions. The forms of the instructions stand in tables that read like a
// manual (table/*.txt): a base of sm_75 and what each later architecture adds
// or changes. An instruction that no row describes is refused by name, never
// guessed.
//
// What an instruction does is not known here; see exec/sass.
package sass
