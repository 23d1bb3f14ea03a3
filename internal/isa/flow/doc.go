// Package flow analyses the control flow of one function: basic blocks, dominators and
// post-dominators, the points at which the lanes of a warp reconverge after a divergent
// branch, natural loops, and live registers.
//
// It is independent of the instruction set. It only uses what package isa describes for
// every instruction: how it changes control flow, its targets, whether it is guarded, and
// which registers it reads and writes. It moves no data and counts no cycles.
//
// # The graph
//
// Blocks are numbered by ascending pc; block 0 is the entry. An additional node, the virtual
// exit, represents the function's end; it is written [Exit]. Its predecessors are returns
// and exits, code that runs past its last instruction, and branches whose targets all lie
// outside the code. A guarded return, exit or branch also falls through. A call continues
// with the next instruction and does not end a block.
//
// # Code that never ends
//
// Post-dominators need a path to the exit from everywhere. If a set of blocks that reach
// each other has no way out, the one with the highest pc gets an edge to the exit that no
// execution takes; Block.Endless marks it. In an endless loop that block is normally the one
// that jumps back, so that branches in the loop's body still reconverge inside it.
package flow
