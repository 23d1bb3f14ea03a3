// Package step lets a person, or a script, walk through a timing run: stop it
// at a cycle, a block, an instruction or a source line, look at everything, go
// on or back.
//
// It reads commands and prints; what there is to see is the chip's business
// (package gpu and those below it). Going back runs the job again from its
// start up to the cycle in question: runs repeat exactly, so the state that is
// found there is the one that was there.
package step
