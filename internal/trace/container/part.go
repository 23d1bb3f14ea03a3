package container

import (
	"sync"

	"github.com/klauspost/compress/zstd"
)

// This file: the columns of a part as bytes of a file. Short columns share one
// frame of zstd, since its tables cost less than those of a frame for each; long
// ones have a frame each.

const (
	longColumn = 1 << 10 // bytes from which a column has a frame of its own
	maxColumn  = 1 << 28 // bytes of a column, our own limit
	partInsts  = 1 << 18 // records after which a part ends with the block
	partBytes  = 1 << 22 // the same for bytes
	partBlocks = 1 << 14 // the same for blocks
)

// packer holds encoders, which are expensive to create.
type packer struct {
	plain, index *zstd.Encoder
}

func newPacker() (*packer, error) {
	plain, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true))
	if err != nil {
		return nil, err
	}
	index, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true),
		zstd.WithEncoderDictRaw(dictionaryID, []byte(dictionary)))
	if err != nil {
		return nil, err
	}
	return &packer{plain, index}, nil
}

// join concatenates columns: for each its length and whether it has a frame of its
// own, with that frame's length, then the bytes of those without one.
func join(cols *[columns][]byte, frames *[columns][]byte) []byte {
	var b []byte
	for i := range cols {
		n := uint64(len(cols[i])) << 1
		if frames[i] != nil {
			b = uvarint(uvarint(b, n|1), uint64(len(frames[i])))
		} else {
			b = uvarint(b, n)
		}
	}
	for i := range cols {
		if frames[i] == nil {
			b = append(b, cols[i]...)
		}
	}
	return b
}

// pack returns the bytes of a part.
func (p *packer) pack(cols *[columns][]byte) []byte {
	var frames [columns][]byte
	for i := range cols {
		if len(cols[i]) >= longColumn {
			frames[i] = p.plain.EncodeAll(cols[i], nil)
		}
	}
	raw := join(cols, &frames)
	short := p.plain.EncodeAll(raw, nil)
	out := uvarint(uvarint(nil, uint64(len(raw))), uint64(len(short)))
	out = append(out, short...)
	for i := range frames {
		out = append(out, frames[i]...)
	}
	return out
}

// unpacker holds a decoder, which is expensive to create, and memory for its
// output.
type unpacker struct {
	plain *zstd.Decoder
	short []byte
	long  [columns][]byte
}

var unpackers sync.Pool

func newUnpacker() (*unpacker, error) {
	if u, ok := unpackers.Get().(*unpacker); ok {
		return u, nil
	}
	plain, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxColumn), zstd.WithDecoderMaxWindow(maxColumn))
	if err != nil {
		return nil, err
	}
	return &unpacker{plain: plain}, nil
}

// free returns an unpacker for reuse.
func (u *unpacker) free() { unpackers.Put(u) }

// inflate decompresses a frame that must give n bytes. Four bytes of zstd expand to
// at most 128 KiB, so frames that claim more are refused before memory is
// allocated.
func inflate(d *zstd.Decoder, frame []byte, n uint64, most uint64, into []byte) ([]byte, error) {
	if n > most || n > uint64(len(frame))<<15+1<<17 {
		return nil, errDamaged
	}
	var h zstd.Header
	if err := h.Decode(frame); err != nil || !h.HasFCS || h.FrameContentSize != n {
		return nil, errDamaged
	}
	b, err := d.DecodeAll(frame, into[:0])
	if err != nil || uint64(len(b)) != n {
		return nil, errDamaged
	}
	return b, nil
}

// split is the inverse of join; rest are the frames.
func (u *unpacker) split(raw, rest []byte, cols *[columns]reader) error {
	r := reader{b: raw}
	var size [columns]uint64
	var own [columns]bool
	for i := range size {
		n := r.uvarint()
		size[i], own[i] = n>>1, n&1 == 1
		if own[i] {
			k := r.uvarint()
			if k > uint64(len(rest)) {
				return errDamaged
			}
			b, err := inflate(u.plain, rest[:k], size[i], maxColumn, u.long[i])
			if err != nil {
				return err
			}
			u.long[i] = b
			cols[i] = reader{b: b}
			rest = rest[k:]
		}
	}
	for i := range size {
		if !own[i] {
			if size[i] > uint64(len(raw)) {
				return errDamaged
			}
			cols[i] = reader{b: r.bytes(int(size[i]))}
		}
	}
	if r.bad || !r.done() || len(rest) > 0 {
		return errDamaged
	}
	return nil
}

// unpack reads the bytes of a part.
func (u *unpacker) unpack(b []byte, cols *[columns]reader) error {
	r := reader{b: b}
	n := r.uvarint()
	short := r.bytes(r.count(1))
	if r.bad {
		return errDamaged
	}
	raw, err := inflate(u.plain, short, n, maxColumn, u.short)
	if err != nil {
		return err
	}
	u.short = raw
	return u.split(raw, b[r.at:], cols)
}

func indexDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxIndex), zstd.WithDecoderMaxWindow(maxIndex),
		zstd.WithDecoderDictRaw(dictionaryID, []byte(dictionary)))
}
