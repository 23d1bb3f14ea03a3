package fatbin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Magic numbers of the parts of a fat binary.
const (
	WrapperMagic = 0x466243b1 // of the structure that points to the data
	dataMagic    = 0xba55ed50
	oldDataMagic = 0x1ee55a01

	// HeaderBytes is the size of a block's header, WrapperBytes that of a
	// wrapper.
	HeaderBytes  = 16
	WrapperBytes = 24
	entryBytes   = 64
)

// Flags of an entry.
const (
	flag64   = 1
	flagCUDA = 4
	flagLZ4  = 0x2000
	flagZstd = 0x8000
)

// Bounds on unpacked data, our choice: the largest PTX of public libraries has some
// tens of megabytes.
const (
	maxBlock = 1 << 31
	maxText  = 1 << 28
)

// Kind is what an entry holds.
type Kind uint16

// The kinds.
const (
	PTX   Kind = 1
	Cubin Kind = 2
)

// Entry is one image of the device code.
type Entry struct {
	Kind  Kind
	SM    int    // target compute capability without its point, e.g. 86
	Flags uint64 // as stored
	Data  []byte // as stored, possibly compressed
	Size  uint64 // unpacked size in bytes, if compressed
}

// Magics are the bytes with which blocks begin.
func Magics() []string {
	var list []string
	for _, m := range []uint32{dataMagic, oldDataMagic} {
		list = append(list, string(binary.LittleEndian.AppendUint32(nil, m)))
	}
	return list
}

// Is reports whether the bytes begin like a block.
func Is(b []byte) bool {
	return slices.ContainsFunc(Magics(), func(m string) bool { return bytes.HasPrefix(b, []byte(m)) })
}

// Block returns the size in bytes of a block, header included, given its first
// HeaderBytes. It fails if they do not begin a block.
func Block(header []byte) (int, error) {
	if len(header) < HeaderBytes {
		return 0, fmt.Errorf("fat binary: truncated: %d bytes, want at least %d for the header", len(header), HeaderBytes)
	}
	le := binary.LittleEndian
	if m := le.Uint32(header); m != dataMagic && m != oldDataMagic {
		return 0, fmt.Errorf("fat binary: bad magic number 0x%08x; want 0x%08x", m, uint32(dataMagic))
	}
	if n := le.Uint16(header[6:]); n != HeaderBytes {
		return 0, fmt.Errorf("fat binary: header size %d is not supported; want %d", n, HeaderBytes)
	}
	n := le.Uint64(header[8:])
	if n > maxBlock {
		return 0, fmt.Errorf("fat binary: %d bytes of entries exceed the limit of %d", n, uint64(maxBlock))
	}
	return HeaderBytes + int(n), nil
}

// Parse returns the entries of one or more consecutive blocks, possibly with zeros
// between them. The entries share data's memory.
func Parse(data []byte) ([]Entry, error) {
	var list []Entry
	blocks, err := Blocks(data)
	if err != nil {
		return nil, err
	}
	for _, b := range blocks {
		entries, err := parseEntries(data[b.At+HeaderBytes:b.At+b.Bytes], b.At+HeaderBytes)
		if err != nil {
			return nil, err
		}
		list = append(list, entries...)
	}
	if len(list) == 0 {
		return nil, errors.New("fat binary: empty")
	}
	return list, nil
}

// Extent is the place of a block.
type Extent struct{ At, Bytes int }

// Blocks finds consecutive blocks, possibly with zeros between them.
func Blocks(data []byte) ([]Extent, error) {
	var list []Extent
	for at := 0; ; {
		for at < len(data) && data[at] == 0 {
			at++
		}
		if at == len(data) {
			return list, nil
		}
		n, err := Block(data[at:])
		if err != nil {
			return nil, fmt.Errorf("%w (offset %d)", err, at)
		}
		if n > len(data)-at {
			return nil, fmt.Errorf("fat binary: truncated: the block at offset %d has %d bytes, but only %d are left", at, n, len(data)-at)
		}
		list = append(list, Extent{at, n})
		at += n
	}
}

// parseEntries returns the entries of one block; base is where they begin, for
// messages.
func parseEntries(b []byte, base int) ([]Entry, error) {
	le := binary.LittleEndian
	var list []Entry
	for at := 0; at < len(b); {
		h := b[at:]
		if len(h) < entryBytes {
			return nil, fmt.Errorf("fat binary: truncated: %d bytes at offset %d do not hold an entry", len(h), base+at)
		}
		size, payload, packed := uint64(le.Uint32(h[4:])), uint64(le.Uint32(h[8:])), uint64(le.Uint32(h[16:]))
		stored := max(payload, packed)
		if size < entryBytes || size+stored > uint64(len(h)) {
			return nil, fmt.Errorf("fat binary: truncated: the entry at offset %d needs %d bytes of header and %d of data, but only %d are left", base+at, size, stored, len(h))
		}
		e := Entry{
			Kind: Kind(le.Uint16(h)), SM: int(le.Uint32(h[28:])), Flags: le.Uint64(h[40:]),
			Data: h[size : size+stored], Size: le.Uint64(h[56:]),
		}
		if e.compressed() && packed > 0 {
			e.Data = e.Data[:packed]
		}
		list = append(list, e)
		at += int(size + stored)
	}
	return list, nil
}

func (e *Entry) compressed() bool { return e.Flags&(flagLZ4|flagZstd) != 0 }

// Text returns the PTX of an entry, unpacked.
func (e *Entry) Text() ([]byte, error) {
	if e.Kind != PTX {
		return nil, fmt.Errorf("fat binary: the image for sm_%d is machine code, not PTX", e.SM)
	}
	b, err := e.Image()
	return bytes.TrimRight(b, "\x00"), err
}

// Image returns what an entry holds, unpacked.
func (e *Entry) Image() ([]byte, error) {
	if !e.compressed() {
		return e.Data, nil
	}
	b, err := e.unpack()
	if err != nil {
		what := "image"
		switch e.Kind {
		case PTX:
			what = "PTX"
		case Cubin:
			what = "machine code"
		}
		return nil, fmt.Errorf("fat binary: the %s for sm_%d does not unpack: %w", what, e.SM, err)
	}
	return b, nil
}

// maxRatio bounds the expansion of LZ4: each byte of a block expands to at most 255.
const maxRatio = 256

func (e *Entry) unpack() ([]byte, error) {
	if e.Size == 0 || e.Size > maxText {
		return nil, fmt.Errorf("unpacked size %d is outside 1..%d", e.Size, maxText)
	}
	if e.Flags&flagZstd != 0 {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(e.Size))
		if err != nil {
			return nil, err
		}
		defer d.Close()
		out, err := d.DecodeAll(e.Data, nil)
		if err == nil && uint64(len(out)) != e.Size {
			err = fmt.Errorf("it has %d bytes; want %d", len(out), e.Size)
		}
		return out, err
	}
	if e.Size/maxRatio > uint64(len(e.Data)) {
		return nil, fmt.Errorf("%d bytes of LZ4 cannot expand to %d", len(e.Data), e.Size)
	}
	out := make([]byte, e.Size)
	n, err := lz4.UncompressBlock(e.Data, out)
	if err == nil && uint64(n) != e.Size {
		err = fmt.Errorf("it has %d bytes; want %d", n, e.Size)
	}
	return out, err
}

// NoPTXError says that a fat binary has no PTX for a GPU.
type NoPTXError struct {
	SM      int   // of the GPU
	PTX     []int // targets of its PTX, all newer than the GPU
	Machine []int // targets of its machine code
}

func (e *NoPTXError) Error() string {
	names := func(list []int) string {
		var s []string
		for _, n := range list {
			s = append(s, fmt.Sprintf("sm_%d", n))
		}
		return strings.Join(s, ", ")
	}
	switch {
	case len(e.PTX) > 0:
		return fmt.Sprintf("the program has PTX for %s, but the GPU is sm_%d: compile for compute_%d or lower, or choose a newer GPU with --gpu", names(e.PTX), e.SM, e.SM)
	case len(e.Machine) > 0:
		return fmt.Sprintf("the program has machine code (for %s) but no PTX: keep the PTX by compiling with nvcc -gencode arch=compute_%d,code=compute_%d", names(e.Machine), e.SM, e.SM)
	}
	return "the program has no device code"
}

// Newest returns the newest PTX that the GPU accepts, i.e. not newer than the GPU;
// the first of several. The error is a *NoPTXError.
func Newest(entries []Entry, sm int) (*Entry, error) {
	var best *Entry
	no := &NoPTXError{SM: sm}
	note := func(list []int, n int) []int {
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
		return list
	}
	for i := range entries {
		e := &entries[i]
		switch {
		case e.Kind == Cubin:
			no.Machine = note(no.Machine, e.SM)
		case e.Kind != PTX:
		case e.SM > sm:
			no.PTX = note(no.PTX, e.SM)
		case best == nil || e.SM > best.SM:
			best = e
		}
	}
	if best == nil {
		return nil, no
	}
	return best, nil
}

// MachineCode returns the machine code that runs on the GPU as it is: that for its own compute
// capability, or else for the highest earlier one with the same major version. It is nil if
// there is none.
func MachineCode(entries []Entry, sm int) *Entry {
	var best *Entry
	for i := range entries {
		if e := &entries[i]; e.Kind == Cubin && e.SM <= sm && e.SM/10 == sm/10 && (best == nil || e.SM > best.SM) {
			best = e
		}
	}
	return best
}

// Append adds to dst a block with uncompressed PTX images: each text with its target
// compute capability.
func Append(dst []byte, images ...Entry) []byte {
	le := binary.LittleEndian
	start := len(dst)
	dst = le.AppendUint32(dst, dataMagic)
	dst = le.AppendUint16(dst, 1)
	dst = le.AppendUint16(dst, HeaderBytes)
	dst = le.AppendUint64(dst, 0)
	for _, e := range images {
		n := len(e.Data)
		if e.Kind == PTX && !e.compressed() {
			n++ // its text ends in a zero
		}
		padded := (n + 7) &^ 7
		packed := 0
		if e.compressed() {
			packed = len(e.Data)
		}
		h := make([]byte, entryBytes, entryBytes+padded)
		le.PutUint16(h, uint16(e.Kind))
		le.PutUint16(h[2:], 0x101)
		le.PutUint32(h[4:], entryBytes)
		le.PutUint32(h[8:], uint32(padded))
		le.PutUint32(h[16:], uint32(packed))
		le.PutUint32(h[28:], uint32(e.SM))
		le.PutUint32(h[32:], 64)
		le.PutUint64(h[40:], e.Flags|flag64|flagCUDA)
		le.PutUint64(h[56:], e.Size)
		h = append(h, e.Data...)
		dst = append(dst, append(h, make([]byte, entryBytes+padded-len(h))...)...)
	}
	le.PutUint64(dst[start+8:], uint64(len(dst)-start-HeaderBytes))
	return dst
}
