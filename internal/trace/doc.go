// Package trace holds what a recorded run of a GPU program is, whatever file
// it comes from: a list of copies and launches, the static instructions of each
// launch, and the warp instructions that its blocks executed, with masks and
// addresses but without values.
//
// It is not a file format: Accel-Sim's text is read and written by trace/text,
// the MICRO 2025 form (protobuf and JSON) by trace/micro, Heddle's own
// container by trace/container. Nor does it run anything: trace/replay makes
// launches for core models of it.
package trace
