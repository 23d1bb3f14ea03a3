package job

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The generator's numbers are those that others publish for SplitMix64: the
// first outputs of seed 1234567.
func TestSplitMix64(t *testing.T) {
	rng := splitMix64(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := rng.next(); got != want {
			t.Errorf("output %d is %d, want %d", i, got, want)
		}
	}
}

func TestFillRandom(t *testing.T) {
	const n = 1000
	for _, typ := range []Type{U8, S8, U16, S16, F16, BF16, U32, S32, F32, U64, S64, F64} {
		b := make([]byte, n*typ.Size())
		typ.fillRandom(b, 42, defaultRange())
		rng := splitMix64(42)
		for i := range n {
			r, got := rng.next(), typ.get(b[i*typ.Size():])
			if !typ.Float() {
				if want := r & (math.MaxUint64 >> (64 - typ.bits())); got != want {
					t.Fatalf("%v: element %d is %x, want %x", typ, i, got, want)
				}
				continue
			}
			// Half a unit in the last place, by the widths of the significands.
			f, eps := typ.toFloat(got), map[Type]float64{F16: 0x1p-11, BF16: 0x1p-8, F32: 0x1p-24, F64: 0}[typ]
			if want := float64(r>>11) / (1 << 53); math.Abs(f-want) > eps*want+0x1p-25 && typ != F64 || typ == F64 && f != want {
				t.Fatalf("%v: element %d is %v, want %v", typ, i, f, want)
			}
		}
	}
	// Ranges: [lo, hi) for floats, [lo, hi] for integers, and both ends occur.
	b := make([]byte, 4*n)
	F32.fillRandom(b, 7, valueRange{flo: -2, fhi: 6})
	for i := range n {
		if f := F32.toFloat(F32.get(b[4*i:])); f < -2 || f > 6 {
			t.Fatalf("%v is outside the range", f)
		}
	}
	seen := map[int64]int{}
	lo := int64(-3)
	S32.fillRandom(b, 7, valueRange{ilo: uint64(lo), ihi: 2})
	for i := range n {
		seen[S32.signed(S32.get(b[4*i:]))]++
	}
	for v := int64(-3); v <= 2; v++ {
		if seen[v] == 0 {
			t.Errorf("%d never occurs", v)
		}
		delete(seen, v)
	}
	if len(seen) > 0 {
		t.Errorf("outside the range: %v", seen)
	}
}

func TestFillIota(t *testing.T) {
	b := make([]byte, 300)
	U8.fillIota(b)
	if b[0] != 0 || b[255] != 255 || b[256] != 0 || b[299] != 43 {
		t.Error("u8")
	}
	b = make([]byte, 3*8)
	F64.fillIota(b)
	if math.Float64frombits(binary.LittleEndian.Uint64(b[16:])) != 2 {
		t.Error("f64")
	}
	b = make([]byte, 3*2)
	F16.fillIota(b)
	if !bytes.Equal(b, []byte{0, 0, 0, 0x3c, 0, 0x40}) {
		t.Errorf("f16: %x", b)
	}
	BF16.fillIota(b)
	if !bytes.Equal(b, []byte{0, 0, 0x80, 0x3f, 0, 0x40}) {
		t.Errorf("bf16: %x", b)
	}
}

func TestEqual(t *testing.T) {
	f32 := func(f float64) uint64 { return uint64(math.Float32bits(float32(f))) }
	inf, nan := math.Inf(1), math.NaN()
	neg := func(n int64) uint64 { return uint64(n) & math.MaxUint32 }
	for _, c := range []struct {
		typ       Type
		got, want uint64
		anyNaN    bool
		tolerance float64
		equal     bool
	}{
		{F32, f32(1), f32(1), false, 0, true},
		{F32, f32(0), f32(math.Copysign(0, -1)), false, 0, false},
		{F32, f32(0), f32(math.Copysign(0, -1)), false, 1e-6, true},
		{F32, f32(100.4), f32(100), false, 0.005, true},
		{F32, f32(100.6), f32(100), false, 0.005, false},
		{F32, f32(99.4), f32(100), false, 0.005, false},
		{F32, f32(-100.4), f32(-100), false, 0.005, true},
		{F32, f32(1e-9), f32(0), false, 0.5, false},
		{F32, f32(inf), f32(inf), false, 0.1, true},
		{F32, f32(3), f32(inf), false, 0.1, false},
		{F32, f32(-inf), f32(inf), false, 1, false},
		{F32, f32(inf), f32(3), false, 1, false},
		{F32, 0x7fffffff, f32(nan), false, 0, false},
		{F32, 0x7fffffff, f32(nan), true, 0, true},
		{F32, f32(1), f32(nan), true, 0, false},
		{F32, 0x7fffffff, f32(nan), false, 0.1, true},
		{F32, f32(1), f32(nan), false, 0.1, false},
		{F32, f32(nan), f32(1), false, 1, false},
		{F16, 0x3c01, 0x3c00, false, 0.001, true},
		{F16, 0x3c02, 0x3c00, false, 0.001, false},
		{U32, 101, 100, false, 0, false},
		{U32, 101, 100, false, 0.01, true},
		{U32, 98, 100, false, 0.01, false},
		{S32, neg(-101), neg(-100), false, 0.01, true},
		{S32, neg(100), neg(-100), false, 0.01, false},
		{U64, math.MaxUint64, math.MaxUint64 - 1, false, 0, false},
		{U64, math.MaxUint64, 0, false, 1, false},
		{S64, 1 << 63, math.MaxInt64, false, 1, false},
		{S64, 1<<63 + 1, 1 << 63, false, 1e-9, true},
	} {
		if got := c.typ.equal(c.got, c.want, c.anyNaN, c.tolerance); got != c.equal {
			t.Errorf("%v: %s and %s (any NaN %v) within %v: %v", c.typ, c.typ.Format(c.got), c.typ.Format(c.want), c.anyNaN, c.tolerance, got)
		}
	}
}

func TestLiteral(t *testing.T) {
	for _, c := range []struct {
		typ  Type
		val  any
		bits uint64
		err  string
	}{
		{U8, int64(255), 255, ""}, {U8, int64(256), 0, "does not fit"}, {S8, int64(-128), 0x80, ""}, {S8, int64(128), 0, "does not fit"},
		{U64, "0xffffffffffffffff", math.MaxUint64, ""}, {U64, "18446744073709551616", 0, "not an unsigned"}, {U32, "0x1_0000_0000", 0, "does not fit"},
		{S64, "-5", uint64(0xfffffffffffffffb), ""}, {S64, "x", 0, "not an integer"}, {F32, "1.0", 0, "not a number"},
		{F32, int64(16777217), 0x4b800000, ""}, {F64, 0.1, 0x3fb999999999999a, ""}, {F32, 1e39, 0, "beyond"}, {F32, math.Inf(-1), 0xff800000, ""},
		{F16, 65519.0, 0x7bff, ""}, {F16, 65520.0, 0, "beyond"}, {BF16, 1.00390625, 0x3f80, ""}, {BF16, 1.01171875, 0x3f82, ""},
		{U32, 1.0, 0, "is not an integer"}, {U32, true, 0, "want a number"},
	} {
		bits, _, err := c.typ.literal(c.val)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v %v: error %v, want %q", c.typ, c.val, err, c.err)
			}
			continue
		}
		if mask := uint64(math.MaxUint64 >> (64 - c.typ.bits())); err != nil || bits&mask != c.bits {
			t.Errorf("%v %v: %x, %v, want %x", c.typ, c.val, bits, err, c.bits)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		typ  Type
		bits uint64
		want string
	}{
		{S8, 0xff, "-1"}, {U8, 0xff, "255"}, {F32, 0x3dcccccd, "0.1"}, {F64, 0x3fb999999999999a, "0.1"}, {F16, 0x3555, "0.33325195"},
		{F32, 0x7fc00001, "nan (0x7fc00001)"}, {F32, 0xff800000, "-Inf"}, {F32, 0x80000000, "-0"}, {S64, 1 << 63, "-9223372036854775808"},
	} {
		if got := c.typ.Format(c.bits); got != c.want {
			t.Errorf("%v %x: %s, want %s", c.typ, c.bits, got, c.want)
		}
	}
}

// writeFiles puts texts into a folder and returns its path.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
