package rand

import "github.com/heddle-sim/heddle/internal/work/cuda"

// Status is a curandStatus_t.
type Status int32

// The codes of cuRAND's documentation. ArchMismatch says that the GPU lacks what the call
// needs, and is returned for what is missing here.
const (
	Success             Status = 0
	NotInitialized      Status = 101
	AllocationFailed    Status = 102
	TypeError           Status = 103
	OutOfRange          Status = 104
	LengthNotMultiple   Status = 105
	LaunchFailure       Status = 201
	PreexistingFailure  Status = 202
	InitializationFault Status = 203
	ArchMismatch        Status = 204
)

// statusOf is the code for the outcome of a call of the runtime.
func statusOf(err cuda.Error) Status {
	switch err {
	case cuda.Success:
		return Success
	case cuda.MemoryAllocation:
		return AllocationFailed
	case cuda.NoKernelImage:
		return ArchMismatch
	}
	return LaunchFailure
}

// Missing is a call of something that is not there. It warns once for each name.
func Missing(t *cuda.Thread, name string) Status {
	t.Missing(name, "CURAND_STATUS_ARCH_MISMATCH")
	return ArchMismatch
}

// Kind is a generator (curandRngType).
type Kind int32

// The generators. Default and QuasiDefault stand for XORWOW and Sobol32.
const (
	Default          Kind = 100
	XORWOW           Kind = 101
	MRG32k3a         Kind = 121
	MTGP32           Kind = 141
	MT19937          Kind = 142
	Philox           Kind = 161
	QuasiDefault     Kind = 200
	Sobol32          Kind = 201
	ScrambledSobol32 Kind = 202
	Sobol64          Kind = 203
	ScrambledSobol64 Kind = 204
)

func (k Kind) quasi() bool { return k >= QuasiDefault }

// kinds are the generators by their names in kernels; those without one are missing.
var kinds = map[Kind]struct{ title, name string }{
	XORWOW: {"XORWOW", "xorwow"}, MRG32k3a: {"MRG32K3A", "mrg32k3a"}, Philox: {"PHILOX4_32_10", "philox"},
	Sobol32: {"SOBOL32", "sobol32"}, Sobol64: {"SOBOL64", "sobol64"},
	MTGP32: {"MTGP32", ""}, MT19937: {"MT19937", "mt19937"}, ScrambledSobol32: {"SCRAMBLED_SOBOL32", ""}, ScrambledSobol64: {"SCRAMBLED_SOBOL64", ""},
}

// Orderings (curandOrdering).
const (
	firstOrdering = 100 // best, default, seeded, legacy, dynamic
	lastOrdering  = 104
	quasiOrdering = 201
)
