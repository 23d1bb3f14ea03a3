// Package container reads and writes Heddle's own trace format: one file for a
// whole recorded run, a fifth to a thirtieth of the size of the same text under xz,
// and many times faster to read. It is lossless: text that was converted to a
// container converts back to the same text.
//
// The package knows the structure of a trace, and nothing of Accel-Sim's text or
// the protobuf of MICRO 2025. It does not validate traces: whatever the reader of
// the text accepted is kept unchanged.
//
// # The file
//
// All numbers are varints as in Go's encoding/binary unless a size is given; signed
// ones are zigzag-encoded. Version 1 of the format is
//
//	"heddletr", version     9 bytes
//	parts                   see below
//	index                   a frame of zstd, with the dictionary of dictionary.go
//	bytes of the index      4 bytes, lowest first
//	the same inflated       4 bytes, lowest first
//	checksum                4 bytes: CRC-32C of the index and the 8 bytes after it
//	"rteddleh"
//
// A reader starts at the end of the file, then reads what it needs. The last bytes
// and the checksums of index and parts reveal a truncated or changed file.
//
// # The index
//
//   - texts: their number, lengths and bytes; elsewhere a text is an index
//   - the form of the trace and its warnings
//   - static code of all launches, each instruction once: the number, the lengths
//     of the columns (staticColumn), the columns
//   - the table of parts: flags (flagBoth, …), length, blocks, records, and
//     unless it is inline its CRC-32C in 4 bytes, lowest first
//   - small parts, inline: a frame would be larger than its contents
//   - commands: kind (commandLaunch, …), file, line, text; of a copy address and
//     size, from which the usual text is derived; of a launch the name
//     of its file if its text is another, the header, warnings, counts of warp
//     and thread instructions, its code as runs of indices into the static code,
//     its blocks as runs of linear indices, and its parts
//
// # Parts
//
// A part is a group of blocks of a launch with about 2¹⁸ records. It can be read
// without any other part, so random access to a block costs at most its part, and
// memory holds one part's bytes and the requested blocks. Equal parts, as of
// launches with equal arguments, are written once.
//
// A part is a set of columns of bytes (column). Each long column is a frame of
// zstd. The short ones share a frame, which follows the table of all lengths at the
// start.
//
// Records are encoded by prediction. Writer and reader predict in the same way what
// a warp does next (coder). A column of run lengths says how often the prediction
// was right; only wrong predictions have entries.
//
//   - path: the next instruction is the one that followed the last two at an
//     earlier place, and so on from there. A warp starts by following the path of
//     the previous one. See path.
//   - masks: as remembered by instruction: that of the instruction before, one of
//     the last four, what a branch left over, none, or bits. See masks.
//   - addresses: as remembered by instruction: at a uniform distance from the
//     previous iteration or the previous warp, a multiple of another instruction's,
//     a line, or a list of bytes in columns by significance. See addresses.
//
// Where the remembered way of an instruction is wrong, the right one is written and
// remembered instead.
package container
