// Package trace describes a recorded run of a GPU program independently of its file
// format: a list of copies and launches, the static instructions of each launch,
// and the warp instructions that its blocks executed, with masks and addresses but
// without values.
//
// The formats have packages of their own: trace/text reads and writes Accel-Sim's
// text, trace/micro the MICRO 2025 format (protobuf and JSON), trace/container
// Heddle's own. Package exec/replay turns traces into launches for core models.
package trace
