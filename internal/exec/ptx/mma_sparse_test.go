package ptx_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// sparsePlaces gives, for mma.sp, which non-zero element an element of A's
// fragment is: its row, the first column of the chunk in which it lies, and its
// rank among the non-zero elements of the chunk (manual: firstcol … lastcol).
func sparsePlaces(shape string, bits int) func(i, lane int) (row, first, rank int) {
	group := func(l int) int { return l >> 2 }
	thread := func(l int) int { return l % 4 }
	switch fmt.Sprintf("%s/%d", shape, bits) {
	case "m16n8k16/16":
		return func(i, l int) (int, int, int) { return when(i < 2, group(l), group(l)+8), thread(l) * 4, i % 2 }
	case "m16n8k32/16":
		return func(i, l int) (int, int, int) {
			return when(i < 2 || i >= 4 && i < 6, group(l), group(l)+8), when(i < 4, thread(l)*4, thread(l)*4+16), i % 2
		}
	case "m16n8k8/32":
		return func(i, l int) (int, int, int) { return when(i == 0, group(l), group(l)+8), thread(l) * 2, 0 }
	case "m16n8k16/32":
		return func(i, l int) (int, int, int) {
			return when(i == 0 || i == 2, group(l), group(l)+8), when(i < 2, thread(l)*2, thread(l)*2+8), 0
		}
	case "m16n8k32/8":
		return func(i, l int) (int, int, int) { return when(i < 4, group(l), group(l)+8), thread(l) * 8, i % 4 }
	case "m16n8k64/8":
		return func(i, l int) (int, int, int) {
			return when(i < 4 || i >= 8 && i < 12, group(l), group(l)+8), when(i < 8, thread(l)*8, thread(l)*8+32), i % 4
		}
	case "m16n8k64/4":
		return func(i, l int) (int, int, int) { return when(i < 8, group(l), group(l)+8), thread(l) * 16, i % 8 }
	case "m16n8k128/4":
		return func(i, l int) (int, int, int) {
			return when(i < 8 || i >= 16 && i < 24, group(l), group(l)+8), when(i < 16, thread(l)*16, thread(l)*16+64), i % 8
		}
	}
	return nil
}

// sparseB gives the fragments of B of mma.sp: for shapes that the dense
// instruction has they are its own.
func sparseB(shape string, bits int) lanePlace {
	group := func(l int) int { return l >> 2 }
	thread := func(l int) int { return l % 4 }
	switch fmt.Sprintf("%s/%d", shape, bits) {
	case "m16n8k32/16":
		return func(i, l int) (int, int) { return thread(l)*2 + i&1 + []int{0, 8, 16, 24}[i/2], group(l) }
	case "m16n8k16/32":
		return func(i, l int) (int, int) { return thread(l) + []int{0, 4, 8, 12}[i], group(l) }
	case "m16n8k64/8":
		return func(i, l int) (int, int) { return thread(l)*4 + i&3 + []int{0, 16, 32, 48}[i/4], group(l) }
	case "m16n8k128/4":
		return func(i, l int) (int, int) { return thread(l)*8 + i&7 + []int{0, 32, 64, 96}[i/8], group(l) }
	}
	_, b, _ := mmaPlaces(shape, bits)
	return b
}

// metaPlace says in which lane's metadata, and at which bit, the indices of
// the chunk of A that begins at (row, col) lie: the manual's figures "metadata
// layout", with sel for the sparsity selector. Chunks are of 4 elements (2 for
// tf32, 8 for 4-bit integers), each with 4 bits.
func metaPlace(shape string, bits, sel int) (func(row, col int) (lane, bit int), int) {
	low := func(row int) int { return row % 8 * 4 }
	switch fmt.Sprintf("%s/%d", shape, bits) {
	case "m16n8k16/16": // T_sel: bits 0-15 row g, 16-31 row g+8
		return func(row, col int) (int, int) { return low(row) + sel, when(row < 8, 0, 16) + col/4*4 }, 4
	case "m16n8k32/16": // the first of the pair columns 0-15, the second 16-31
		return func(row, col int) (int, int) {
			return low(row) + 2*sel + when(col < 16, 0, 1), when(row < 8, 0, 16) + col%16/4*4
		}, 2
	case "m16n8k8/32":
		return func(row, col int) (int, int) { return low(row) + sel, when(row < 8, 0, 16) + col/2*4 }, 4
	case "m16n8k16/32":
		return func(row, col int) (int, int) {
			return low(row) + 2*sel + when(col < 8, 0, 1), when(row < 8, 0, 16) + col%8/2*4
		}, 2
	case "m16n8k32/8": // the first of the pair row g, the second row g+8
		return func(row, col int) (int, int) { return low(row) + 2*sel + when(row < 8, 0, 1), col / 4 * 4 }, 2
	case "m16n8k64/8":
		return func(row, col int) (int, int) {
			return low(row) + when(row < 8, 0, 1) + when(col < 32, 0, 2), col % 32 / 4 * 4
		}, 1
	case "m16n8k64/4":
		return func(row, col int) (int, int) { return low(row) + 2*sel + when(row < 8, 0, 1), col / 8 * 4 }, 2
	case "m16n8k128/4":
		return func(row, col int) (int, int) {
			return low(row) + when(row < 8, 0, 1) + when(col < 64, 0, 2), col % 64 / 8 * 4
		}, 1
	}
	return nil, 0
}

// sparseMatrix makes a random A for mma.sp: the dense matrix, its metadata
// registers (lanes that contribute nothing hold garbage), and the columns of
// the non-zero elements of every row in the order in which they are packed.
func sparseMatrix(c *mmaCase, rnd *rand.Rand, sel int, ordered bool) (a matrix, meta [32]uint64, cols [][]int) {
	place, _ := metaPlace(c.shape, c.at.bits, sel)
	a = randomMatrix(rnd, c.m, c.k, c.at)
	cols = make([][]int, c.m)
	for l := range meta {
		meta[l] = uint64(rnd.Uint32())
	}
	chunk, unit := 4, 1
	switch c.at.bits {
	case 32:
		chunk = 2
	case 4:
		chunk, unit = 8, 2
	}
	for row := range a {
		for first := 0; first < c.k; first += chunk {
			var nibble uint64
			var keep []int
			if chunk == 2 {
				i := rnd.IntN(2)
				nibble = []uint64{0b0100, 0b1110}[i]
				keep = []int{first + i}
			} else {
				p := rnd.Perm(4)[:2]
				if ordered {
					slices.Sort(p)
				}
				nibble = uint64(p[0] | p[1]<<2)
				for _, i := range p {
					for u := range unit {
						keep = append(keep, first+i*unit+u)
					}
				}
			}
			for col := first; col < first+chunk; col++ {
				if !slices.Contains(keep, col) {
					a[row][col] = 0
				}
			}
			cols[row] = append(cols[row], keep...)
			lane, bit := place(row, first)
			meta[lane] = meta[lane]&^(15<<bit) | nibble<<bit
		}
	}
	return a, meta, cols
}

func tcSparse(mods []string) bool {
	return tcTested(mods) && strings.HasPrefix(mods[0], "sp")
}

// packed gives the place of an element of A's fragment in the dense matrix.
func packed(c *mmaCase, cols [][]int) lanePlace {
	at := sparsePlaces(c.shape, c.at.bits)
	return func(i, l int) (int, int) {
		row, first, rank := at(i, l)
		return row, cols[row][first/2+rank]
	}
}

// TestMMASparse executes every combination of mma.sp with every selector.
func TestMMASparse(t *testing.T) {
	eachMMA(t, "mma", tcSparse, func(t *testing.T, c mmaCase) {
		rnd := tcRand(c.name)
		_, selectors := metaPlace(c.shape, c.at.bits, 0)
		if selectors == 0 {
			t.Fatal("the test knows no metadata of this shape")
		}
		ordered := c.mods[0] != "sp"
		pb := sparseB(c.shape, c.bt.bits)
		pc := func(i, l int) (int, int) { return when(i < 2, l>>2, l>>2+8), l%4*2 + i&1 }
		for sel := range selectors {
			for round := range 2 {
				a, meta, cols := sparseMatrix(&c, rnd, sel, ordered)
				b, cc := randomMatrix(rnd, c.k, c.n, c.bt), randomMatrix(rnd, c.m, c.n, c.ct)
				if c.ct.name == "s32" && round > 0 {
					tcNear(cc, rnd)
				}
				get := func(i, l int) uint64 { r, k := packed(&c, cols)(i, l); return c.at.encode(a[r][k]) }
				elem := func(x matrix, ty tcType, at lanePlace) func(i, l int) uint64 {
					return func(i, l int) uint64 { r, k := at(i, l); return ty.encode(x[r][k]) }
				}
				got := runMMA(t, c.name, [][][32]uint64{
					tcPack(c.m*c.k/2*c.at.bits/32/32, 32, c.at, get),
					tcPack(c.k*c.n*c.bt.bits/32/32, 32, c.bt, elem(b, c.bt, pb)),
					tcPack(c.m*c.n*c.ct.bits/32/32, 32, c.ct, elem(cc, c.ct, pc)),
					{meta},
				}, c.m*c.n*c.dt.bits/32/32, 32, 32, fmt.Sprintf(", %d", sel))
				c.compare(t, got, tcProduct(a, b, cc, c.combine), pc)
			}
		}
		// A selector beyond the last is refused when the kernel is loaded.
		_, err := tryMMA(t, c.name, [][][32]uint64{
			make([][32]uint64, c.m*c.k/2*c.at.bits/32/32), make([][32]uint64, c.k*c.n*c.bt.bits/32/32),
			make([][32]uint64, c.m*c.n*c.ct.bits/32/32), make([][32]uint64, 1),
		}, c.m*c.n*c.dt.bits/32/32, 32, 32, fmt.Sprintf(", %d", selectors))
		if err == nil || !strings.Contains(err.Error(), "sparsity selector") {
			t.Errorf("selector %d: error %v", selectors, err)
		}
	})
}

// TestMMASparseUndefined: elements of B that no index selects have no part in
// the result even if they are NaN, and metadata without a meaning is a fault.
func TestMMASparseUndefined(t *testing.T) {
	const name = "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
	one, nan := uint64(0x3c003c00), uint64(0x7e007e00)
	fill := func(n int, v uint64) [][32]uint64 {
		regs := make([][32]uint64, n)
		for r := range regs {
			for l := range regs[r] {
				regs[r][l] = v
			}
		}
		return regs
	}
	b := fill(2, one)
	for l := range 32 {
		if l%2 == 1 { // rows 2, 3 (mod 4) of B
			b[0][l], b[1][l] = nan, nan
		}
	}
	// Indices 0 and 1 of every four.
	d := runMMA(t, name, [][][32]uint64{fill(2, one), b, fill(4, 0), fill(1, 0x44444444)}, 4, 32, 32, ", 0")
	for r := range d {
		for l := range 32 {
			if d[r][l] != 0x41000000 { // 8 products of 1
				t.Fatalf("D register %d of lane %d = %#x, want 8.0", r, l, d[r][l])
			}
		}
	}
	tf32 := strings.Replace(strings.Replace(name, "m16n8k16", "m16n8k8", 1), "f16.f16", "tf32.tf32", 1)
	ordered := strings.Replace(name, "mma.sp", "mma.sp::ordered_metadata", 1)
	for _, c := range []struct {
		name string
		meta uint64
		want string // "" if it runs
	}{
		{name, 0x44444454, "the same element of their group twice"},
		{name, 0x11111111, ""},
		{ordered, 0x44444444, ""},
		{ordered, 0x44444414, "descend"},
		{tf32, 0x4e4e4e4e, ""},
		{tf32, 0x44444454, "selects no element of its pair"},
	} {
		_, err := tryMMA(t, c.name, [][][32]uint64{fill(2, one), fill(2, one), fill(4, 0), fill(1, c.meta)}, 4, 32, 32, ", 3")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with metadata %#x: error %v, want %q", c.name, c.meta, err, c.want)
		}
	}
}
