package job

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec/num"
)

// Type is the element type of a buffer.
type Type uint8

// The element types and their names in job files.
const (
	NoType Type = iota
	U8
	S8
	U16
	S16
	F16
	BF16
	U32
	S32
	F32
	U64
	S64
	F64
)

var typeNames = []string{"", "u8", "s8", "u16", "s16", "f16", "bf16", "u32", "s32", "f32", "u64", "s64", "f64"}

// TypeNames lists the names of the element types in job files.
func TypeNames() []string { return typeNames[1:] }

// TypeByName returns the element type with a name, NoType if there is none.
func TypeByName(name string) Type {
	for i, n := range typeNames {
		if i > 0 && n == name {
			return Type(i)
		}
	}
	return NoType
}

func (t Type) String() string { return typeNames[t] }

// Size returns the bytes of an element.
func (t Type) Size() int {
	switch t {
	case U8, S8:
		return 1
	case U16, S16, F16, BF16:
		return 2
	case U32, S32, F32:
		return 4
	case U64, S64, F64:
		return 8
	}
	return 0
}

// Float reports whether elements are floating-point numbers.
func (t Type) Float() bool { return t == F16 || t == BF16 || t == F32 || t == F64 }

// Signed reports whether elements are signed integers.
func (t Type) Signed() bool { return t == S8 || t == S16 || t == S32 || t == S64 }

// bits returns the width of an element.
func (t Type) bits() uint { return uint(t.Size()) * 8 }

// maxBits returns the largest value of an integer type, as bits.
func (t Type) maxBits() uint64 {
	if t.Signed() {
		return 1<<(t.bits()-1) - 1
	}
	return math.MaxUint64 >> (64 - t.bits())
}

// minInt returns the smallest value of an integer type.
func (t Type) minInt() int64 {
	if t.Signed() {
		return -1 << (t.bits() - 1)
	}
	return 0
}

// put stores the low bits of v as one element.
func (t Type) put(b []byte, v uint64) {
	switch t.Size() {
	case 1:
		b[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(v))
	case 8:
		binary.LittleEndian.PutUint64(b, v)
	}
}

// get returns the bits of one element.
func (t Type) get(b []byte) uint64 {
	switch t.Size() {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// fromFloat rounds f to the type's nearest value and returns its bits.
func (t Type) fromFloat(f float64) uint64 {
	switch t {
	case F16:
		return uint64(num.F64ToF16(math.Float64bits(f), num.RN))
	case BF16:
		return uint64(num.F64ToBF16(math.Float64bits(f), num.RN))
	case F32:
		return uint64(math.Float32bits(float32(f)))
	}
	return math.Float64bits(f)
}

// toFloat returns the value of bits of a floating-point type.
func (t Type) toFloat(v uint64) float64 {
	switch t {
	case F16:
		return math.Float64frombits(num.F16ToF64(uint16(v)))
	case BF16:
		return math.Float64frombits(num.BF16ToF64(uint16(v)))
	case F32:
		return float64(math.Float32frombits(uint32(v)))
	}
	return math.Float64frombits(v)
}

// signed returns the value of bits of a signed integer type.
func (t Type) signed(v uint64) int64 {
	shift := 64 - t.bits()
	return int64(v<<shift) >> shift
}

// Format formats the bits of an element readably, and differently for different values.
func (t Type) Format(v uint64) string {
	switch {
	case t.Float():
		f := t.toFloat(v)
		if math.IsNaN(f) {
			return fmt.Sprintf("nan (0x%0*x)", 2*t.Size(), v)
		}
		if t == F64 {
			return strconv.FormatFloat(f, 'g', -1, 64)
		}
		return strconv.FormatFloat(f, 'g', -1, 32)
	case t.Signed():
		return strconv.FormatInt(t.signed(v), 10)
	}
	return strconv.FormatUint(v, 10)
}

// literal converts a TOML number to an element's bits. Strings are integers that TOML
// cannot represent, "0xffffffffffffffff". anyNaN reports a nan, which is equal to every
// NaN in comparisons.
func (t Type) literal(val any) (bits uint64, anyNaN bool, err error) {
	switch v := val.(type) {
	case int64:
		if t.Float() {
			f := float64(v)
			if t == F32 {
				return uint64(math.Float32bits(float32(v))), false, nil
			}
			return t.checkedFloat(f)
		}
		if v < t.minInt() || v > 0 && uint64(v) > t.maxBits() {
			return 0, false, t.rangeError(strconv.FormatInt(v, 10))
		}
		return uint64(v), false, nil
	case float64:
		if !t.Float() {
			return 0, false, fmt.Errorf("%v is not an integer, but the type is %v", v, t)
		}
		return t.checkedFloat(v)
	case string:
		if t.Float() {
			return 0, false, fmt.Errorf("%q is a string, not a number", v)
		}
		if t.Signed() {
			i, err := strconv.ParseInt(v, 0, 64)
			if err != nil {
				return 0, false, fmt.Errorf("%q is not an integer", v)
			}
			return t.literal(i)
		}
		u, err := strconv.ParseUint(v, 0, 64)
		if err != nil {
			return 0, false, fmt.Errorf("%q is not an unsigned integer", v)
		}
		if u > t.maxBits() {
			return 0, false, t.rangeError(v)
		}
		return u, false, nil
	}
	return 0, false, fmt.Errorf("want a number here")
}

func (t Type) rangeError(v string) error {
	return fmt.Errorf("%s does not fit %v (%d to %d)", v, t, t.minInt(), t.maxBits())
}

// checkedFloat rounds f; a finite number beyond the type's range is an error.
func (t Type) checkedFloat(f float64) (uint64, bool, error) {
	b := t.fromFloat(f)
	if math.IsInf(t.toFloat(b), 0) && !math.IsInf(f, 0) {
		return 0, false, fmt.Errorf("%v is beyond the largest finite %v", f, t)
	}
	return b, math.IsNaN(f), nil
}

// splitMix64 is the generator of init = "random": Steele, Lea and Flood's SplitMix64,
// with the seed as its state.
type splitMix64 uint64

func (s *splitMix64) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// valueRange is the range of random elements; floats are in [lo, hi), integers
// in [lo, hi].
type valueRange struct {
	flo, fhi float64
	ilo, ihi uint64 // two's complement
	full     bool   // all values of an integer type: the generator's low bits
}

// defaultRange is the default range: [0, 1) for floats, all values for integers.
func defaultRange() valueRange { return valueRange{fhi: 1, full: true} }

// fillRandom fills b with random elements.
func (t Type) fillRandom(b []byte, seed uint64, r valueRange) {
	rng := splitMix64(seed)
	size := t.Size()
	span := r.ihi - r.ilo + 1 // 0: all 2^64 values
	for ; len(b) >= size; b = b[size:] {
		x := rng.next()
		switch {
		case t.Float():
			f := float64(x>>11) * 0x1p-53
			t.put(b, t.fromFloat(r.flo+float64((r.fhi-r.flo)*f)))
		case r.full || span == 0:
			t.put(b, x)
		default:
			t.put(b, r.ilo+x%span)
		}
	}
}

// fillIota fills b with 0, 1, 2, …
func (t Type) fillIota(b []byte) {
	size := t.Size()
	for i := uint64(0); len(b) >= size; i, b = i+1, b[size:] {
		if t.Float() {
			t.put(b, t.fromFloat(float64(i)))
		} else {
			t.put(b, i)
		}
	}
}

// equal compares an element with its expected value. With a tolerance the difference may
// be that fraction of want; without one the bits must be equal, except that anyNaN
// accepts every NaN.
func (t Type) equal(got, want uint64, anyNaN bool, tolerance float64) bool {
	if got == want {
		return true
	}
	if !t.Float() {
		if tolerance == 0 {
			return false
		}
		// The difference of 64-bit integers is taken exactly.
		diff, mag := got-want, float64(want)
		if t.Signed() {
			g, w := t.signed(got), t.signed(want)
			mag = math.Abs(float64(w))
			diff = uint64(g) - uint64(w)
			if g < w {
				diff = uint64(w) - uint64(g)
			}
		} else if got < want {
			diff = want - got
		}
		return float64(diff) <= tolerance*mag
	}
	g, w := t.toFloat(got), t.toFloat(want)
	if anyNaN && math.IsNaN(g) {
		return true
	}
	if tolerance == 0 {
		return false
	}
	if math.IsNaN(g) || math.IsNaN(w) {
		return math.IsNaN(g) && math.IsNaN(w)
	}
	if math.IsInf(g, 0) || math.IsInf(w, 0) {
		return g == w
	}
	return math.Abs(g-w) <= tolerance*math.Abs(w)
}

// hexBytes parses bytes written as hexadecimal digits, in memory order; spaces and
// underscores may separate them.
func hexBytes(s string) ([]byte, error) {
	s = strings.NewReplacer(" ", "", "_", "").Replace(s)
	if len(s)%2 != 0 {
		return nil, fmt.Errorf("an odd number of hexadecimal digits")
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		return nil, fmt.Errorf("not hexadecimal digits")
	}
	return b, nil
}

// shorten cuts a long text for a message.
func shorten(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}
