package sparse

import (
	"github.com/heddle-sim/heddle/internal/libs/blas"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// Status is a cusparseStatus_t.
type Status int32

// The codes of cuSPARSE's documentation.
const (
	Success               Status = 0
	NotInitialized        Status = 1
	AllocFailed           Status = 2
	InvalidValue          Status = 3
	ArchMismatch          Status = 4
	MappingError          Status = 5
	ExecutionFailed       Status = 6
	InternalError         Status = 7
	MatrixType            Status = 8
	ZeroPivot             Status = 9
	NotSupported          Status = 10
	InsufficientResources Status = 11
)

var statuses = map[Status]struct{ name, text string }{
	Success:               {"CUSPARSE_STATUS_SUCCESS", "the call succeeded"},
	NotInitialized:        {"CUSPARSE_STATUS_NOT_INITIALIZED", "the handle was not made by cusparseCreate"},
	AllocFailed:           {"CUSPARSE_STATUS_ALLOC_FAILED", "out of device memory"},
	InvalidValue:          {"CUSPARSE_STATUS_INVALID_VALUE", "an argument is invalid"},
	ArchMismatch:          {"CUSPARSE_STATUS_ARCH_MISMATCH", "the GPU lacks what the call needs"},
	MappingError:          {"CUSPARSE_STATUS_MAPPING_ERROR", "device memory cannot be accessed"},
	ExecutionFailed:       {"CUSPARSE_STATUS_EXECUTION_FAILED", "a kernel failed"},
	InternalError:         {"CUSPARSE_STATUS_INTERNAL_ERROR", "an internal error"},
	MatrixType:            {"CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED", "matrices of this type are not supported"},
	ZeroPivot:             {"CUSPARSE_STATUS_ZERO_PIVOT", "a pivot is zero"},
	NotSupported:          {"CUSPARSE_STATUS_NOT_SUPPORTED", "the combination of formats, types and options is not supported"},
	InsufficientResources: {"CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", "the problem is too large"},
}

// Name is the name of a code, as cusparseGetErrorName returns it.
func (s Status) Name() string {
	if n, ok := statuses[s]; ok {
		return n.name
	}
	return "unknown cuSPARSE status"
}

// Text describes a code, as cusparseGetErrorString does.
func (s Status) Text() string {
	if n, ok := statuses[s]; ok {
		return n.text
	}
	return "unknown cuSPARSE status"
}

// statusOf is the status for the outcome of a call of the runtime.
func statusOf(err cuda.Error) Status {
	switch err {
	case cuda.Success:
		return Success
	case cuda.MemoryAllocation:
		return AllocFailed
	case cuda.NoKernelImage:
		return ArchMismatch
	case cuda.InvalidValue, cuda.InvalidHandle:
		return InvalidValue
	}
	return ExecutionFailed
}

// ofBlas is the status for one of cuBLAS, whose handles this library uses.
func ofBlas(s blas.Status) Status {
	switch s {
	case blas.Success:
		return Success
	case blas.NotInitialized:
		return NotInitialized
	case blas.AllocFailed:
		return AllocFailed
	case blas.InvalidValue:
		return InvalidValue
	}
	return ExecutionFailed
}
