package compile

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"slices"

	"github.com/heddle-sim/heddle/internal/compile/ir"
)

// This file: what has been computed is not computed again.

// reusable reports whether an instruction gives the same result wherever it is.
func reusable(in *ir.Inst) bool {
	if in.Effect || in.Guard.Val != nil || in.Name == ir.Copy {
		return false
	}
	return !ordered(in) && in.Base() != "CS2R"
}

// key appends what is equal for instructions that compute the same to a buffer.
func key(b []byte, in *ir.Inst) []byte {
	number := func(n int64) { b = binary.AppendVarint(b, n) }
	text := func(s string) {
		number(int64(len(s)))
		b = append(b, s...)
	}
	text(in.Name)
	for i := range in.Args {
		a := &in.Args[i]
		marks := byte(0)
		for k, set := range [...]bool{a.Dst, a.Neg, a.Abs, a.Not, a.Float} {
			if set {
				marks |= 1 << k
			}
		}
		b = append(b, byte(a.Kind), marks)
		list := a.Vals
		if !a.Dst && !slices.ContainsFunc(list, func(v *ir.Value) bool { return v != nil }) {
			list = nil // zero in any width
		}
		number(int64(len(list)))
		for _, v := range list {
			switch {
			case v == nil: // zero, or a result that is not wanted
				number(-1)
			case !a.Dst:
				number(int64(v.ID))
			default:
				number(0)
			}
		}
		if a.Dst {
			continue
		}
		if a.Kind == ir.Imm {
			number(int64(uint32(a.Imm)))
		} else {
			number(a.Imm)
		}
		b = append(b, a.Bank)
		text(a.Text)
		text(a.Suffix)
	}
	return b
}

// shareResults makes later instructions use the results of earlier ones that compute the same and come
// before them on all paths.
func shareResults(f *ir.Func) {
	g := f.Graph()
	n := 0
	for _, b := range f.Blocks {
		n += len(b.Insts)
	}
	known := make(map[uint64]int, n) // by the hash of a key: 1 + the last one in list
	type earlier struct {
		in       *ir.Inst
		next     int // 1 + the one before that has the same hash
		from, to int // its key
	}
	list := make([]earlier, 0, n)
	var keys []byte
	var ours, theirs []*ir.Value
	seed := maphash.MakeSeed()
	same := make([]*ir.Value, len(f.Values))
	replace := func(v **ir.Value) {
		if s := same[(*v).ID]; s != nil {
			*v = s
		}
	}
	for _, n := range g.ReversePostOrder() {
		b := f.Blocks[n]
		for _, in := range b.Insts {
			in.Uses(replace)
			if !reusable(in) {
				continue
			}
			from := len(keys)
			keys = key(keys, in)
			h := maphash.Bytes(seed, keys[from:])
			found := false
			for i := known[h]; i > 0 && !found; i = list[i-1].next {
				old := &list[i-1]
				if found = (old.in.Block == b || g.Dominates(old.in.Block.ID, b.ID)) && bytes.Equal(keys[old.from:old.to], keys[from:]); found {
					ours, theirs = in.Writes(ours[:0]), old.in.Writes(theirs[:0])
					for i, v := range ours {
						same[v.ID] = theirs[i]
					}
				}
			}
			if found {
				keys = keys[:from]
				continue
			}
			list = append(list, earlier{in, known[h], from, len(keys)})
			known[h] = len(list)
		}
	}
	for _, b := range f.Blocks {
		for _, p := range b.Phis {
			for i, v := range p.Args {
				if v != nil {
					replace(&p.Args[i])
				}
			}
		}
		if b.Term.Cond != nil {
			replace(&b.Term.Cond)
		}
	}
}
