package fft

import "github.com/heddle-sim/heddle/internal/work/cuda"

// Result is a cufftResult.
type Result int32

// The codes of cuFFT's documentation.
const (
	Success        Result = 0
	InvalidPlan    Result = 1
	AllocFailed    Result = 2
	InvalidType    Result = 3
	InvalidValue   Result = 4
	InternalError  Result = 5
	ExecFailed     Result = 6
	SetupFailed    Result = 7
	InvalidSize    Result = 8
	InvalidDevice  Result = 11 // another one is current than when the plan was made
	NoWorkspace    Result = 13
	NotImplemented Result = 14
	NotSupported   Result = 16
)

// resultOf is the code for the outcome of a call of the runtime; other is that of
// failures without a code of their own.
func resultOf(err cuda.Error, other Result) Result {
	switch err {
	case cuda.Success:
		return Success
	case cuda.MemoryAllocation:
		return AllocFailed
	}
	return other
}

// Type is what a transform reads and writes (cufftType).
type Type int32

// The types.
const (
	C2C Type = 0x29
	R2C Type = 0x2a
	C2R Type = 0x2c
	Z2Z Type = 0x69
	D2Z Type = 0x6a
	Z2D Type = 0x6c
)

// TypeOf is the type of a transform between elements of types of numbers (cudaDataType):
// those of float and double, if the execution has the same precision. Those of half have
// transforms in cuFFT, but not here.
func TypeOf(t *cuda.Thread, from, to, execution int32) (Type, Result) {
	const realFloat, realDouble, realHalf, complexFloat, complexDouble, complexHalf, realBrain, complexBrain = 0, 1, 2, 4, 5, 6, 14, 15
	switch [3]int32{from, to, execution} {
	case [3]int32{complexFloat, complexFloat, complexFloat}:
		return C2C, Success
	case [3]int32{realFloat, complexFloat, complexFloat}:
		return R2C, Success
	case [3]int32{complexFloat, realFloat, complexFloat}:
		return C2R, Success
	case [3]int32{complexDouble, complexDouble, complexDouble}:
		return Z2Z, Success
	case [3]int32{realDouble, complexDouble, complexDouble}:
		return D2Z, Success
	case [3]int32{complexDouble, realDouble, complexDouble}:
		return Z2D, Success
	}
	for _, of := range [][2]int32{{realHalf, complexHalf}, {realBrain, complexBrain}} {
		half := func(t int32) bool { return t == of[0] || t == of[1] }
		if half(from) && half(to) && (from != of[0] || to != of[0]) && execution == of[1] {
			return 0, Missing(t, "a transform in half precision")
		}
	}
	return 0, InvalidType
}

// Missing is a call of a function that is not there. It warns once for each name.
func Missing(t *cuda.Thread, name string) Result {
	t.Missing(name, "CUFFT_NOT_SUPPORTED")
	return NotSupported
}

// types are what the types consist of: whether they are double, and what is read and
// written.
var types = map[Type]struct {
	double   bool
	from, to form
}{
	C2C: {false, complexForm, complexForm}, R2C: {false, realForm, complexForm}, C2R: {false, complexForm, realForm},
	Z2Z: {true, complexForm, complexForm}, D2Z: {true, realForm, complexForm}, Z2D: {true, complexForm, realForm},
}

// Direction is the sign of the exponents.
type Direction int32

// The directions.
const (
	Forward Direction = -1
	Inverse Direction = 1
)
