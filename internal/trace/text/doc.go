// Package text reads and writes the text traces of Accel-Sim: a list of copies
// and launches, and a file of warp instructions for each launch, plain or
// compressed, of the first generation and of tracer versions 3 to 6.
//
// A launch is scanned once, which finds its static code, its blocks and all
// that is wrong with it; its blocks are then read again as they are asked for,
// ahead of the reader and into buffers that are used again, so that memory
// grows with the blocks in use and not with the file. What is small stays
// decoded after the scan.
//
// It is not a model of what instructions do: it keeps what lines say, and the
// only opcodes that it knows by name are those without which a trace cannot be
// told to be complete. Nor does it know Accel-Sim's configuration.
package text
