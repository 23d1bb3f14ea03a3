package compile

import (
	"cmp"
	mathbits "math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/compile/ir"
)

// This file: loads of words that lie next to each other become one load.

// farApart bounds how many instructions lie between loads that become one, since the results of the later ones are
// needed longer (our choice).
const farApart = 64

// vectors makes one load of several from the same base, if nothing between them may write what they read and their
// place is known to be aligned. It reports whether there were any.
func vectors(f *ir.Func) (some bool) {
	var zeros []uint8
	for _, b := range f.Blocks {
		j := &joining{zeros: func() []uint8 {
			if zeros == nil {
				zeros = findZeros(f)
			}
			return zeros
		}}
		for i, in := range b.Insts {
			switch {
			case (in.Name == "LDS" || in.Name == "LDS.64") && !in.Effect && in.Guard.Val == nil:
				j.add(i, in)
			case mayWriteShared(in):
				j.join()
			}
		}
		j.join()
		some = some || j.joined
		b.Insts = slices.DeleteFunc(b.Insts, func(in *ir.Inst) bool { return in.Block == nil })
	}
	return some
}

// mayWriteShared reports whether loads from shared memory may not move across an instruction.
func mayWriteShared(in *ir.Inst) bool {
	switch in.Base() {
	case "STG", "STL":
		return false
	case "LDG", "LDS", "LDL", "LD":
		return in.Effect // a strong one
	}
	return in.Effect || ordered(in)
}

// joining gathers the loads of a block that may become fewer.
type joining struct {
	zeros  func() []uint8 // finds them when they are asked for
	loads  []adjacent
	joined bool // some have become one
}

// adjacent is a load: where it is in its block, and the address that it has beside a base.
type adjacent struct {
	in    *ir.Inst
	at    int
	off   int64
	bytes int64
}

func (j *joining) add(at int, in *ir.Inst) {
	j.loads = append(j.loads, adjacent{in, at, in.Args[1].Imm, 4 * int64(len(in.Args[0].Vals))})
}

// base is what the address of a load has beside a number.
func base(in *ir.Inst) *ir.Value {
	if v := in.Args[1].Vals; len(v) == 1 {
		return v[0]
	}
	return nil
}

// join makes vectors of the loads that have been gathered.
func (j *joining) join() {
	list := j.loads
	j.loads = list[:0]
	if len(list) < 2 {
		return
	}
	id := func(w adjacent) int {
		if v := base(w.in); v != nil {
			return v.ID
		}
		return -1
	}
	slices.SortStableFunc(list, func(x, y adjacent) int { return cmp.Or(id(x)-id(y), cmp.Compare(x.off, y.off)) })
	for len(list) > 0 {
		n := 1
		for n < len(list) && id(list[n]) == id(list[0]) && list[n].off == list[n-1].off+list[n-1].bytes && list[n].in.Args[1].Text == list[0].in.Args[1].Text {
			n++
		}
		j.run(list[:n])
		list = list[n:]
	}
}

// run makes vectors of loads that follow each other in memory.
func (j *joining) run(list []adjacent) {
	for len(list) > 1 {
		n := 1
		for _, bytes := range []int64{16, 8} {
			if n = j.fits(list, bytes); n > 1 {
				j.one(list[:n], bytes)
				break
			}
		}
		list = list[max(1, n):]
	}
}

// fits is how many loads become one of that size, 0 if they cannot.
func (j *joining) fits(list []adjacent, bytes int64) int {
	n, size, first, last := 0, int64(0), list[0].at, list[0].at
	for n < len(list) && size < bytes {
		first, last = min(first, list[n].at), max(last, list[n].at)
		size += list[n].bytes
		n++
	}
	if size != bytes || last-first > farApart || list[0].off%bytes != 0 {
		return 0
	}
	if v := base(list[0].in); v != nil && bytes > 1<<j.zeros()[v.ID] {
		return 0
	}
	return n
}

// one puts a load in place of several, where the first of them is.
func (j *joining) one(list []adjacent, bytes int64) {
	first := slices.MinFunc(list, func(x, y adjacent) int { return x.at - y.at }).in
	var results []*ir.Value
	for _, w := range list {
		results = append(results, w.in.Args[0].Vals...)
	}
	address := list[0].in.Args[1].Clone()
	for _, w := range list {
		if w.in != first {
			w.in.Block = nil
		}
	}
	j.joined = true
	first.Name = "LDS" + sizeOf(int(bytes), false)
	first.Args = []ir.Arg{ir.D(results...), address}
	for _, v := range results {
		v.Def = first
	}
}

// findZeros finds how many of a value's lowest bits are known to be 0. Of what is assigned on some ways only nothing is
// known.
func findZeros(f *ir.Func) []uint8 {
	z := make([]uint8, len(f.Values))
	for i := range z {
		z[i] = 32
	}
	order := f.Graph().ReversePostOrder()
	for again := true; again; {
		again = false
		set := func(v *ir.Value, n uint8) {
			if n < z[v.ID] {
				z[v.ID], again = n, true
			}
		}
		for _, n := range order {
			b := f.Blocks[n]
			for _, p := range b.Phis {
				least := uint8(32)
				for _, v := range p.Args {
					least = min(least, zerosIn(z, v))
				}
				set(p.Dst, least)
			}
			for _, in := range b.Insts {
				least := zerosOf(in, z)
				for _, v := range in.Else {
					least = min(least, zerosIn(z, v))
				}
				for i := range in.Args {
					if !in.Args[i].Dst {
						continue
					}
					for _, v := range in.Args[i].Vals {
						if v != nil {
							set(v, least)
						}
						least = 0 // of the other results nothing is known
					}
				}
			}
		}
	}
	return z
}

// zerosIn are those of a value, 0 if it is not defined.
func zerosIn(z []uint8, v *ir.Value) uint8 {
	if v == nil {
		return 0
	}
	return z[v.ID]
}

// zerosOf is how many of the lowest bits of an instruction's first result are known to be 0.
func zerosOf(in *ir.Inst, z []uint8) uint8 {
	_, s := parts(in)
	of := func(i int) uint8 {
		a := &s[i]
		switch {
		case a.Not || a.Abs || a.Suffix != "":
			return 0
		case a.Kind == ir.Imm:
			return uint8(mathbits.TrailingZeros32(uint32(a.Imm)))
		case a.Kind != ir.Reg:
			return 0
		case a.Vals[0] == nil:
			return 32
		}
		return z[a.Vals[0].ID]
	}
	switch {
	case in.Name == "MOV":
		return of(0)
	case in.Name == "IADD3" && len(s) == 3:
		return min(of(0), of(1), of(2))
	case in.Name == "IMAD" || strings.HasPrefix(in.Name, "IMAD.WIDE") && !in.Has("X"):
		return min(of(0)+of(1), of(2))
	case in.Name == "LEA" && len(s) == 3 && s[2].Kind == ir.Text:
		places, _ := strconv.ParseUint(s[2].Text, 0, 5)
		return min(of(0)+uint8(places), of(1))
	case in.Name == "SHF.L.U32" && s[1].Kind == ir.Imm:
		return min(32, of(0)+uint8(min(uint32(s[1].Imm), 32)))
	case in.Name == "LOP3.LUT" && zero(&s[2]):
		switch s[3].Text {
		case "0xc0":
			return max(of(0), of(1))
		case "0xfc", "0x3c":
			return min(of(0), of(1))
		}
	case in.Name == "SEL":
		return min(of(0), of(1))
	}
	return 0
}
