// Package sass is NVIDIA's machine language since Turing: its text with control codes, its
// 128-bit words, and the conversion in both directions. The forms of the instructions are in
// tables that read like a manual (table/*.txt): a base of sm_75 and what each later
// architecture adds or changes. An instruction that no row describes is rejected by name,
// never guessed.
//
// The text is that of NVIDIA's disassembler with CuAssembler's control codes. Two extensions
// are our own, so that no word is lost: .word for words that no form describes, and desc0[…]
// for a descriptor that older disassemblers do not print. If two mnemonics encode to the same
// word (IMAD.MOV, IMAD with RZ), the word disassembles to NVIDIA's choice.
//
// sm_70 to sm_90, sm_120 and sm_121 can be assembled and disassembled; sm_100 and sm_110 can be
// disassembled as far as their tables go (testdata/newer.golden counts). What instructions of
// sm_70, sm_90, sm_100 and sm_110 do is defined nowhere: they are only listed.
//
// What an instruction does is defined in exec/sass.
package sass
