// Package container reads and writes Heddle's own form of traces: one file for
// a whole recorded run, a fifth to a thirtieth of what xz makes of the same
// text, and read many times faster. It loses nothing: what was read from text
// and written here gives the same text again.
//
// It is not a general archive: it knows what a trace is, and nothing of
// Accel-Sim's text or of MICRO'25's protobuf. It does not judge traces either;
// what the reader of the text let pass is kept as it stands.
//
// # The file
//
// All numbers are varints as in Go's encoding/binary unless their size is
// given; signed ones are zigzag first. Version 1 of the format is
//
//	"heddletr", version     9 bytes
//	parts                   see below
//	index                   a frame of zstd, with the dictionary of dictionary.go
//	bytes of the index      4 bytes, lowest first
//	the same inflated       4 bytes, lowest first
//	checksum                4 bytes: CRC-32C of the index and the 8 bytes behind it
//	"rteddleh"
//
// A reader needs the end of the file first, then what it is asked for. A file
// that was cut or changed is noticed: by its last bytes, and by the checksums
// of index and parts.
//
// # The index
//
//   - texts: how many, their lengths, their bytes; elsewhere a text is a number
//   - the form of the trace and its warnings
//   - static code of all launches, each instruction once: how many, the lengths
//     of the columns (staticColumn), the columns
//   - the table of parts: flags (flagBoth, …), length, blocks, records, and
//     unless it stands in the index its CRC-32C in 4 bytes, lowest first
//   - small parts themselves: they would pay more for a frame than they have
//   - commands: kind (commandLaunch, …), file, line, text; of a copy address and
//     size, which make up the text if it is the usual one; of a launch the name
//     of its file if its text is another, the header, warnings, counts of warp
//     and thread instructions, its code as runs of places in the static code,
//     its blocks as runs of linear indices, and its parts
//
// # Parts
//
// A part is some blocks of a launch, as many as have 2¹⁸ records; it can be
// read without any other. So to get at a block costs at most its part, and
// memory holds a part's bytes and the blocks that were asked for. Equal parts,
// as launches with equal arguments have, are written once.
//
// A part is columns of bytes (column). Long columns are frames of zstd; the
// short ones stand in one frame behind the table of all lengths, which comes
// first.
//
// Records are told by what could not be foreseen. Writer and reader hold the
// same picture of what a warp is likely to do next (coder), and a column of runs
// says how often that was right; only what was wrong has an entry of its own.
//
//   - path: the next instruction is what followed the last two at an earlier
//     place, and so on along that place. A warp begins on the way of the one
//     before it. See path.
//   - masks: as remembered by instruction: that of the instruction before, one
//     of the last four, what a branch has left, none, or bits. See masks.
//   - addresses: as remembered by instruction: at a uniform distance from the
//     round before or from the warp before, a multiple of another instruction's,
//     a line, or a list of bytes in columns by significance. See addresses.
//
// Where an instruction's way does not hold, the way that does is written and
// remembered in its place.
package container
