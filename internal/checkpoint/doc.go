// Package checkpoint writes the state of a simulation to a file and reads it back, so that a run goes on where another one was.
//
// The state is not listed anywhere: Encoder walks the values of the machine itself, whatever they are made of, and Decoder
// walks a machine of the same configuration that was just built and fills it in. So a new field is part of the state without
// further ado. What a value is to the walk follows from its type:
//
//   - Numbers, strings, arrays, structs, slices and maps are written.
//   - What a pointer points to is written once, so that pointers to the same value do so afterwards. If the machine that is
//     read into has a value in that place, it is filled in and not replaced: functions that refer to it stay right.
//   - An interface keeps its value, which must have the type that it has in the machine that was built.
//   - Functions are left out: the machine that was built has the same ones.
//   - Fields with the tag state:"-" are left out, and types that the owner names: what is wired up when a machine is built,
//     follows from the rest, or belongs to a program and means nothing between its launches.
//   - Channels, locks and raw pointers cannot be written. Check finds them by type, without a run.
//
// The package knows nothing of what it writes.
package checkpoint
