package cache

import (
	"math/bits"
	"strings"
	"testing"
)

// ipolyTables are those of GPGPU-Sim: for each bit of the index, the
// bits of the upper address whose parity it takes.
var ipolyTables = map[int][][]int{
	16: {{0, 3, 4, 6, 8, 9, 10, 11}, {0, 1, 3, 5, 6, 7, 8, 12}, {1, 2, 4, 6, 7, 8, 9}, {2, 3, 5, 7, 8, 9, 10}},
	32: {
		{0, 3, 5, 6, 9, 10, 11, 12, 13}, {1, 4, 6, 7, 10, 11, 12, 13, 14}, {0, 2, 3, 6, 7, 8, 9, 10, 14},
		{1, 3, 4, 7, 8, 9, 10, 11}, {2, 4, 5, 8, 9, 10, 11, 12},
	},
	64: {
		{0, 5, 6, 10, 12, 15, 16, 17, 18}, {0, 1, 5, 7, 10, 11, 12, 13, 15}, {1, 2, 6, 8, 11, 12, 13, 14, 16},
		{2, 3, 7, 9, 12, 13, 14, 15, 17}, {3, 4, 8, 10, 13, 14, 15, 16, 18}, {4, 5, 9, 11, 14, 15, 16, 17},
	},
}

func TestIPolyTables(t *testing.T) {
	for n, table := range ipolyTables {
		for bit, from := range table {
			var want uint64
			for _, b := range from {
				want |= 1 << b
			}
			if got := ipolyMasks[log2(n)][bit]; got != want {
				t.Errorf("%d sets, bit %d: mask %#x, table %#x (differ in %#x)", n, bit, got, want, got^want)
			}
		}
	}
}

// TestIPolyRemainder divides by long division over GF(2), for every size for which
// GPGPU-Sim's tables are not cut off.
func TestIPolyRemainder(t *testing.T) {
	for d := 1; d < len(polynomials); d++ {
		if d >= 4 && d <= 6 {
			continue
		}
		p := uint64(polynomials[d]) | 1<<d
		for _, a := range []uint64{0, 1, 0x123456789abc, 0x7f0012345680, 1<<47 - 1, 0xdeadbeef00} {
			rem := a
			for bits.Len64(rem) > d {
				rem ^= p << (bits.Len64(rem) - d - 1)
			}
			if got := Index(IPoly, 1<<d, 7, a<<7); got != int(rem) {
				t.Errorf("%d sets, %#x: %d, remainder %d", 1<<d, a, got, rem)
			}
		}
	}
}

// TestIPolyPrimitive checks that each polynomial is primitive: x has the
// largest order, so that every power-of-two stride is spread over all sets but
// one.
func TestIPolyPrimitive(t *testing.T) {
	for d := 2; d < len(polynomials); d++ {
		x, n := uint32(1), 0
		for {
			x <<= 1
			if x>>d&1 != 0 {
				x = x&(1<<d-1) ^ polynomials[d]
			}
			n++
			if x == 1 || n > 1<<d {
				break
			}
		}
		if n != 1<<d-1 {
			t.Errorf("degree %d: x has order %d, want %d", d, n, 1<<d-1)
		}
	}
}

func TestIndex(t *testing.T) {
	for _, x := range []struct {
		name  string
		kind  IndexKind
		n     int
		shift uint
		addr  uint64
		want  int
	}{
		{"linear", Linear, 64, 7, 63 << 7, 63},
		{"linear wraps", Linear, 64, 7, 64<<7 | 127, 0},
		{"linear, 3 sets", Linear, 3, 7, 5 << 7, 2},
		{"bank of 32 bytes", Linear, 4, 5, 0x60, 3},
		{"xor of equal halves", Xor, 16, 7, (5<<4 | 5) << 7, 0},
		{"xor", Xor, 16, 7, (9<<4 | 5) << 7, 12},
		{"ipoly 4: x^2 = x+1", IPoly, 4, 5, 4 << 5, 3},
		{"ipoly 16: x^4 = x+1", IPoly, 16, 7, 16 << 7, 3},
		{"ipoly 64: x^6 = x+1", IPoly, 64, 7, 64 << 7, 3},
		{"ipoly 128: x^7 = x+1", IPoly, 128, 7, 128 << 7, 3},
		{"ipoly 1", IPoly, 1, 7, 12345 << 7, 0},
		{"ipoly 16 ends at bit 12", IPoly, 16, 7, 1 << (7 + 4 + 13), 0},
		{"Fermi, low bits", Fermi, 32, 7, 21 << 7, 21},
		{"Fermi, bit 13", Fermi, 32, 7, 1 << 13, 1},
		{"Fermi, bit 15", Fermi, 32, 7, 1 << 15, 4},
		{"Fermi, bit 16 unused", Fermi, 32, 7, 1 << 16, 0},
		{"Fermi, bit 17", Fermi, 32, 7, 1 << 17, 8},
		{"Fermi, bit 19", Fermi, 32, 7, 1 << 19, 16},
		{"Fermi, 32 sets, bit 12", Fermi, 32, 7, 1 << 12, 0},
		{"Fermi, 64 sets, bit 12", Fermi, 64, 7, 1 << 12, 32},
		{"custom", Custom, 64, 7, 33 << 7, 0},
	} {
		if got := Index(x.kind, x.n, x.shift, x.addr); got != x.want {
			t.Errorf("%s: %d, want %d", x.name, got, x.want)
		}
	}
}

// TestIndexSpread checks that every function reaches all places, evenly for
// consecutive lines.
func TestIndexSpread(t *testing.T) {
	for _, kind := range []IndexKind{Linear, Xor, IPoly, Fermi} {
		for _, n := range []int{1, 2, 4, 8, 16, 32, 64, 128, 1024} {
			if CheckIndex(kind, n) != nil {
				continue
			}
			count := make([]int, n)
			for line := range uint64(n * 8) {
				count[Index(kind, n, 7, line<<7)]++
			}
			for s, k := range count {
				if k != 8 {
					t.Fatalf("kind %d, %d sets: set %d takes %d of %d lines", kind, n, s, k, n*8)
				}
			}
		}
	}
}

func TestCheckIndex(t *testing.T) {
	for _, x := range []struct {
		kind IndexKind
		n    int
		want string
	}{
		{Linear, 3, ""}, {Linear, 0, "want at least 1"}, {Xor, 16, ""}, {Xor, 12, "power of two"},
		{IPoly, 1 << 16, ""}, {IPoly, 1 << 17, "needs a power of two up to 65536, not 131072"}, {IPoly, 48, "not 48"},
		{Fermi, 32, ""}, {Fermi, 64, ""}, {Fermi, 16, "32 or 64, not 16"}, {Custom, 7, ""}, {Custom + 1, 4, "unknown"},
	} {
		err := CheckIndex(x.kind, x.n)
		if x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("kind %d, %d places: %v, want %q", x.kind, x.n, err, x.want)
		}
	}
}
