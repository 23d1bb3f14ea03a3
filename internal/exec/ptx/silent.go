package ptx

import (
	"bytes"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: which stores change nothing, for a probe that asks (exec.SilentProbe).

// widest is the size of the widest plain store, in bytes: v8.b32.
const widest = 32

// watchSilent returns what runs a store, and notes in w.silent the lanes that changed nothing.
func watchSilent(o *inst, run runFunc) runFunc {
	op, ok := o.x.any.(*memOp)
	if space := isa.Space(o.mode); !ok || op.total > widest || space != isa.Global && space != isa.Shared && space != isa.Generic {
		return run
	}
	return func(w *warp, in *inst, m uint32) {
		w.silent = 0
		if !w.blk.silent || !w.info().Store {
			run(w, in, m)
			return
		}
		space := isa.Space(in.mode)
		var old [32][widest]byte
		w.addresses(in, m)
		for k := m; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			copy(old[i][:], w.bytesAt(space, i, op.total))
		}
		if run(w, in, m); w.fault != nil {
			return
		}
		m &^= w.lost
		ordered := w.increasing(m)
		for k := m; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			before, last := -1, i // lanes with the same address: the one before, and the last
			for j := m; j != 0 && !ordered; j &= j - 1 {
				if l := bits.TrailingZeros32(j) & 31; w.addr[l] == w.addr[i] {
					last = l
					if l < i {
						before = l
					}
				}
			}
			if before >= 0 && w.equalValues(op, i, before) ||
				before < 0 && bytes.Equal(w.bytesAt(space, i, op.total), old[i][:op.total]) && (last == i || w.equalValues(op, i, last)) {
				w.silent |= 1 << i
			}
		}
	}
}

// bytesAt returns the bytes at lane i's address in global or shared memory, nil if they are not
// there.
func (w *warp) bytesAt(space isa.Space, i, n int) []byte {
	a := w.addr[i]
	if space == isa.Generic {
		space, a = isa.Resolve(a)
	}
	switch space {
	case isa.Shared:
		if mem := w.blk.Shared; a < uint64(len(mem)) && a+uint64(n) <= uint64(len(mem)) {
			return mem[a : a+uint64(n)]
		}
	case isa.Global:
		if b := w.blk.View.ReadSpan(a, n); b != nil {
			return b[:n]
		}
	}
	return nil
}

// increasing reports whether each lane of m has a higher address than those before it.
func (w *warp) increasing(m uint32) bool {
	if m == 0 {
		return true
	}
	i := bits.TrailingZeros32(m) & 31
	for k := m & (m - 1); k != 0; k &= k - 1 {
		j := bits.TrailingZeros32(k) & 31
		if w.addr[j] <= w.addr[i] {
			return false
		}
		i = j
	}
	return true
}

// equalValues reports whether two lanes store the same value.
func (w *warp) equalValues(op *memOp, i, j int) bool {
	keep := ^uint64(0)
	if op.size < 8 {
		keep = 1<<(8*op.size) - 1
	}
	for e := range op.elems {
		if op.size == 16 {
			if r := op.elems[e].r; w.u64(r + 1)[i&31] != w.u64(r + 1)[j&31] {
				return false
			}
		}
		if (w.value(op, e, i)^w.value(op, e, j))&keep != 0 {
			return false
		}
	}
	return true
}
