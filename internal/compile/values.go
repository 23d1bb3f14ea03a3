package compile

import "github.com/heddle-sim/heddle/internal/compile/ir"

// This file: which values the registers of PTX have, in all blocks of a kernel.

// valueTable is a map from a block's number, from one on, and a slot's key to a value, which may be nil. It is one
// table with open addresses because most of what is read was written shortly before.
type valueTable struct {
	list []valueEntry // a power of two, at least twice as many as there are
	used int
}

type valueEntry struct {
	key   uint64
	block uint32 // 0: there is none
	v     *ir.Value
}

// find is the place of a value, or the one where it would be.
func (t *valueTable) find(block uint32, key uint64) *valueEntry {
	h := (key ^ uint64(block)<<20) * 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	for i := h >> 32; ; i++ {
		if e := &t.list[i&uint64(len(t.list)-1)]; e.block == 0 || e.block == block && e.key == key {
			return e
		}
	}
}

// newValueTable is a table for about n values.
func newValueTable(n int) valueTable {
	size := 64
	for size < 2*n {
		size *= 2
	}
	return valueTable{list: make([]valueEntry, size)}
}

func (t *valueTable) get(block uint32, key uint64) (v *ir.Value, known bool) {
	e := t.find(block, key)
	return e.v, e.block != 0
}

func (t *valueTable) set(block uint32, key uint64, v *ir.Value) {
	if 2*t.used >= len(t.list) {
		old := t.list
		t.list = make([]valueEntry, 2*len(old))
		for _, e := range old {
			if e.block != 0 {
				*t.find(e.block, e.key) = e
			}
		}
	}
	e := t.find(block, key)
	if e.block == 0 {
		t.used++
	}
	*e = valueEntry{key, block, v}
}
