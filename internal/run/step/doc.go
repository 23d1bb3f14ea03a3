// Package step lets users and scripts step through a timing run: stop it at a cycle, a
// block, an instruction or a source line, inspect it, and continue or go back.
//
// It reads commands and prints; the chip (package gpu and those below it) provides
// the state. Going back reruns the job from its start to the cycle in question.
// Runs are reproducible, so that state equals the one before.
package step
