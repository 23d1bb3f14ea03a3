// Package flow analyses where control can go in the code of one function: basic
// blocks, dominators and post-dominators, the points at which the lanes of a
// warp meet again after a divergent branch, natural loops, and the registers
// that are live.
//
// It is not tied to an instruction set. All that it knows of an instruction is
// what package isa says of every one: how it changes control, to where, whether
// it is guarded, and which registers it reads and writes. It moves no data and
// counts no cycles.
//
// # The graph
//
// Blocks are numbered by ascending pc; block 0 is the entry. One more node, the
// virtual exit, stands for the function's end; it is written [Exit]. These
// lead to it: returns and exits, code that runs past its last instruction, and
// branches whose every target lies outside the code. A guarded return, exit
// or branch falls through as well. A call goes on with the next instruction and
// does not end a block.
//
// # Code that never ends
//
// Post-dominators need a way to the exit from everywhere. Where a set of blocks
// that reach each other has no way out at all, the one among them with the
// highest pc gets an edge to the exit that no execution takes; Block.Endless
// marks it. In an endless loop that block is normally the one that jumps back,
// so that branches in the loop's body still meet inside it.
package flow
