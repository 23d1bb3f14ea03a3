// Package lesson holds small runs step by step, for the page Learn: which instruction a warp
// issued, and what changed in registers, predicates, masks and memory. It keeps changes, not
// states, in columns, so that thousands of steps take little space.
//
// A Recorder is shown values and keeps those that differ from the last ones; where they come
// from is its caller's affair.
package lesson
