package container

import (
	"encoding/binary"
	"errors"
)

// column is a stream of bytes with values of one kind. A part of a launch is a set
// of columns: similar values are adjacent, which makes zstd fast and strong.
type column uint8

// The columns, in file order.
const (
	colWarps    column = iota // warps of a block, then for each its ID minus the previous one minus 1
	colPathRun                // number of correctly predicted instructions before a wrong prediction
	colPathNew                // the instruction after a wrong prediction
	colMaskRun                // the same for masks
	colMaskKind               // how a mask is found that was not predicted
	colMaskBits               // bits of masks that no prediction gives
	colSubRun                 // for masks within active masks, if a trace has both
	colSubKind
	colSubBits
	colCountRun // how many accesses an instruction has, where the number changed
	colCountNew
	colAddrRun  // number of accesses encoded in the remembered way
	colAddrKind // another encoding
	colShift    // uniform distances to the addresses of an earlier execution
	colRelation // slots of other instructions of whose addresses these are a multiple
	colBase
	colStride
	colList // encoding of a list of addresses
	colOff0 // offsets of a list, bytes 0, 1 and the others
	colOff1
	colOffN
	colDelta0 // differences of a list, bytes 0, 1 and the others
	colDelta1
	colDeltaN
	colRaw // accesses that follow no rule, unchanged
	columns
)

// errDamaged reports columns that end early or hold impossible values.
var errDamaged = errors.New("damaged")

// uvarint appends a number, seven bits a byte.
func uvarint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

// zigzag maps small numbers of either sign to small numbers.
func zigzag(v int64) uint64 { return uint64(v)<<1 ^ uint64(v>>63) }

func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// reader reads numbers from bytes. After the end of the bytes all numbers are zero,
// and bad is set.
type reader struct {
	b   []byte
	at  int
	bad bool
}

func (r *reader) byte() byte {
	if r.at >= len(r.b) {
		r.bad = true
		return 0
	}
	r.at++
	return r.b[r.at-1]
}

func (r *reader) uvarint() uint64 {
	if r.at < len(r.b) && r.b[r.at] < 0x80 {
		r.at++
		return uint64(r.b[r.at-1])
	}
	v, n := binary.Uvarint(r.b[r.at:])
	if n <= 0 {
		r.bad = true
		r.at = len(r.b)
		return 0
	}
	r.at += n
	return v
}

func (r *reader) varint() int64 { return unzigzag(r.uvarint()) }

// count reads a number of items of at least size bytes each. It is limited by the
// bytes that remain, so nothing is allocated for items that cannot exist.
func (r *reader) count(size int) int {
	v := r.uvarint()
	if v > uint64(len(r.b)-r.at)/uint64(size) {
		r.bad = true
		return 0
	}
	return int(v)
}

// below reads a number less than n.
func (r *reader) below(n uint64) uint64 {
	v := r.uvarint()
	if v >= n {
		r.bad = true
		return 0
	}
	return v
}

func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.b)-r.at {
		r.bad = true
		return nil
	}
	r.at += n
	return r.b[r.at-n : r.at]
}

func (r *reader) done() bool { return r.at == len(r.b) }

// hits encodes predictions: the number that were right, then one that was wrong,
// and so on. Nothing follows the last number.
type hits struct{ n uint64 }

// begin reads the first run.
func (h *hits) begin(r *reader) { h.n = r.uvarint() }

// miss ends a run.
func (h *hits) miss(b []byte) []byte {
	b = uvarint(b, h.n)
	h.n = 0
	return b
}

// next reports whether the next prediction holds.
func (h *hits) next(r *reader) bool {
	if h.n == 0 {
		h.n = r.uvarint()
		return false
	}
	h.n--
	return true
}
