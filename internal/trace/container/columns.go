package container

import (
	"encoding/binary"
	"errors"
)

// column is a stream of bytes that hold one kind of thing. A part of a launch
// is a set of them: like stands beside like, which is what makes zstd fast and
// strong.
type column uint8

// The columns, in the order in which they stand in the file.
const (
	colWarps    column = iota // warps of a block, then of each its ID less the one before less 1
	colPathRun                // how many instructions are the predicted ones, until one is not
	colPathNew                // the one that is not
	colMaskRun                // the same of masks
	colMaskKind               // how the mask is found that was not predicted
	colMaskBits               // bits of masks that nothing predicts
	colSubRun                 // of masks within active masks, where a trace tells both
	colSubKind
	colSubBits
	colCountRun // how many accesses an instruction has: where it is not what it was
	colCountNew
	colAddrRun  // of accesses: how many are found in the way that is remembered
	colAddrKind // the other way
	colShift    // uniform distances to the addresses of an earlier execution
	colRelation // places of other instructions whose addresses are a multiple of these
	colBase
	colStride
	colList // how a list of addresses is written
	colOff0 // offsets of a list, bytes 0, 1 and the others
	colOff1
	colOffN
	colDelta0 // differences of a list, bytes 0, 1 and the others
	colDelta1
	colDeltaN
	colRaw // accesses that follow no rule, as they stand
	columns
)

// errDamaged says that columns end early or hold what cannot be.
var errDamaged = errors.New("damaged")

// uvarint appends a number, seven bits a byte.
func uvarint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

// zigzag makes small numbers of small ones of either sign.
func zigzag(v int64) uint64 { return uint64(v)<<1 ^ uint64(v>>63) }

func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// reader takes numbers from bytes. After the first that is not there all are
// zero, and bad is set.
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

// count reads a number of things of which each takes at least size bytes of
// what is left, so that nothing is allocated for what cannot be there.
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

// hits is how predictions are written: a number of those that held, then one
// that did not, and so on. The last number has nothing behind it.
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
