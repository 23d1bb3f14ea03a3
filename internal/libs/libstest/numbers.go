package libstest

import (
	"math"

	"github.com/heddle-sim/heddle/internal/exec/num"
)

// Types of elements (cudaDataType).
const (
	F32  = 0
	F64  = 1
	F16  = 2
	I8   = 3
	C32  = 4
	C64  = 5
	I32  = 10
	BF16 = 14
)

// Encode returns the bytes of an element, and its value as rounded.
func Encode(t int32, v complex128) ([]byte, complex128) {
	var b []byte
	add := func(v uint64, n int) {
		for i := range n {
			b = append(b, byte(v>>(8*i)))
		}
	}
	x := real(v)
	f32 := math.Float32bits(float32(x))
	switch t {
	case F32:
		add(uint64(f32), 4)
	case F64:
		add(math.Float64bits(x), 8)
	case F16:
		add(uint64(num.F32ToF16(f32, num.RN)), 2)
	case BF16:
		add(uint64(num.F32ToBF16(f32, num.RN)), 2)
	case I8:
		add(uint64(int8(x)), 1)
	case I32:
		add(uint64(int32(x)), 4)
	case C32:
		add(uint64(f32), 4)
		add(uint64(math.Float32bits(float32(imag(v)))), 4)
	case C64:
		add(math.Float64bits(x), 8)
		add(math.Float64bits(imag(v)), 8)
	}
	return b, Decode(t, b)
}

// Decode is the value of an element.
func Decode(t int32, b []byte) complex128 {
	get := func(at, n int) (v uint64) {
		for i := range n {
			v |= uint64(b[at+i]) << (8 * i)
		}
		return v
	}
	f32 := func(v uint64) float64 { return float64(math.Float32frombits(uint32(v))) }
	switch t {
	case F32:
		return complex(f32(get(0, 4)), 0)
	case F64:
		return complex(math.Float64frombits(get(0, 8)), 0)
	case F16:
		return complex(f32(uint64(num.F16ToF32(uint16(get(0, 2))))), 0)
	case BF16:
		return complex(f32(get(0, 2)<<16), 0)
	case I8:
		return complex(float64(int8(get(0, 1))), 0)
	case I32:
		return complex(float64(int32(get(0, 4))), 0)
	case C32:
		return complex(f32(get(0, 4)), f32(get(4, 4)))
	case C64:
		return complex(math.Float64frombits(get(0, 8)), math.Float64frombits(get(8, 8)))
	}
	return 0
}
