// Package text reads and writes the text traces of Accel-Sim: a list of copies and
// launches, and a file of warp instructions for each launch, plain or compressed,
// of the first generation and of tracer versions 3 to 6.
//
// A launch is scanned once, to find its static code, its blocks and all errors. Its
// blocks are read again on request, ahead of the reader and into reused buffers, so
// that memory grows with the blocks in use and not with the file. Small launches
// stay decoded after the scan.
//
// The package does not know what instructions do: it keeps the contents of lines,
// and knows by name only the opcodes that it needs to check that a trace is
// complete. Nor does it know Accel-Sim's configuration.
package text
