package blas

// Type is the type of an element (cudaDataType).
type Type int32

// Types with kernels.
const (
	F32  Type = 0
	F64  Type = 1
	F16  Type = 2
	I8   Type = 3
	C32  Type = 4 // complex, of two f32
	C64  Type = 5
	I32  Type = 10
	BF16 Type = 14
)

// types are the names of types in kernels, and their sizes in bytes.
var types = map[Type]struct {
	name string
	size int64
}{
	F32: {"f32", 4}, F64: {"f64", 8}, F16: {"f16", 2}, I8: {"i8", 1}, C32: {"c32", 8}, C64: {"c64", 16}, I32: {"i32", 4}, BF16: {"bf16", 2},
}

// Size is the size of an element in bytes, 0 for an unknown type.
func (t Type) Size() int64 { return types[t].size }

// Complex reports whether elements are complex numbers.
func (t Type) Complex() bool { return t == C32 || t == C64 }

// Compute is the type in which sums are computed, and how (cublasComputeType_t).
type Compute int32

// The compute types.
const (
	Compute16F         Compute = 64
	Compute16FPedantic Compute = 65
	Compute32F         Compute = 68
	Compute32FPedantic Compute = 69
	Compute64F         Compute = 70
	Compute64FPedantic Compute = 71
	Compute32I         Compute = 72
	Compute32IPedantic Compute = 73
	Compute32FFast16F  Compute = 74
	Compute32FFast16BF Compute = 75
	Compute32FFastTF32 Compute = 77
)

// ComputeOf is the compute type that programs of releases before 11 mean by a data type.
func ComputeOf(t int32) Compute {
	switch Type(t) {
	case F16:
		return Compute16F
	case F32, C32:
		return Compute32F
	case F64, C64:
		return Compute64F
	case I32:
		return Compute32I
	}
	return Compute(t)
}

// Scalar is the type of alpha and beta for sums of a type.
func (c Compute) Scalar(complex bool) (Type, bool) {
	switch c {
	case Compute16F, Compute16FPedantic:
		return F16, !complex
	case Compute32F, Compute32FPedantic, Compute32FFast16F, Compute32FFast16BF, Compute32FFastTF32:
		if complex {
			return C32, true
		}
		return F32, true
	case Compute64F, Compute64FPedantic:
		if complex {
			return C64, true
		}
		return F64, true
	case Compute32I, Compute32IPedantic:
		return I32, !complex
	}
	return 0, false
}

// Op says how a matrix enters a product (cublasOperation_t).
type Op int32

// The operations.
const (
	N Op = iota // as it is
	T           // transposed
	C           // transposed, its elements conjugated
)

func (o Op) valid() bool { return o >= N && o <= C }

// PointerMode says where alpha, beta and results that are numbers lie
// (cublasPointerMode_t).
type PointerMode int32

// The places.
const (
	OnHost PointerMode = iota
	OnDevice
)

// Math is a cublasMath_t: the kind, and flags.
type Math int32

// The kinds. DefaultMath uses tensor cores for f16 and bf16, TF32Math for f32 too.
const (
	DefaultMath  Math = 0
	TensorOpMath Math = 1
	Pedantic     Math = 2
	TF32Math     Math = 3
	mathKinds    Math = 15
	NoReduced    Math = 16 // CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION
)
