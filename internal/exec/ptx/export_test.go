package ptx

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/exec"
)

// What the tests of the generated table need of the package's inside.

// OpKeys returns the keys of the table of operations, sorted.
func OpKeys() []string {
	var keys []string
	for k := range opTable {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// CmpKeys returns the keys of the table of comparisons, sorted.
func CmpKeys() []string {
	var keys []string
	for k := range cmpTable {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// testWarp has the operands in registers 1 to 3 of both slabs.
func testWarp(src *[3][32]uint64) *warp {
	w := &warp{r32: make([][32]uint32, 4), r64: make([][32]uint64, 4)}
	for k := range src {
		for i, v := range src[k] {
			w.r32[1+k][i], w.r64[1+k][i] = uint32(v), v
		}
	}
	return w
}

// RunOp runs an operation for the lanes of m and returns its destination, whose
// other lanes hold the old value, and whether that is 64 bits wide.
func RunOp(key string, src *[3][32]uint64, m uint32, old uint64) (d [32]uint64, wide bool) {
	w := testWarp(src)
	for i := range 32 {
		w.r32[0][i], w.r64[0][i] = uint32(old), old
	}
	e := opTable[key]
	e.run(w, &inst{d: 0, a: 1, b: 2, c: 3}, m)
	wide = e.sig[0] == 'W'
	for i := range 32 {
		d[i] = uint64(w.r32[0][i])
		if wide {
			d[i] = w.r64[0][i]
		}
	}
	return d, wide
}

// RunCmp runs a comparison and returns the lanes for which it holds.
func RunCmp(key string, src *[3][32]uint64, m uint32) uint32 {
	return cmpTable[key].run(testWarp(src), &inst{d: 0, a: 1, b: 2, c: 3}, m)
}

// OpSig returns the signature of an operation.
func OpSig(key string) string { return opTable[key].sig }

// StepPrivately steps a warp. If its next instruction claims to be private, it
// finds no device memory.
func StepPrivately(x exec.Warp, e *exec.Effects) error {
	if in, _, _, _ := x.Next(); in != nil && in.Private {
		b := x.(*warp).blk
		view, mem := b.View, b.im.m.mem
		b.View, b.im.m.mem = nil, nil
		defer func() { b.View, b.im.m.mem = view, mem }()
	}
	return x.Step(e)
}
