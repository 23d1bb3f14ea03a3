package blas

import "github.com/heddle-sim/heddle/internal/work/cuda"

// Status is a cublasStatus_t.
type Status int32

// The codes of cuBLAS's documentation.
const (
	Success         Status = 0
	NotInitialized  Status = 1
	AllocFailed     Status = 3
	InvalidValue    Status = 7
	ArchMismatch    Status = 8
	MappingError    Status = 11
	ExecutionFailed Status = 13
	InternalError   Status = 14
	NotSupported    Status = 15
	LicenseError    Status = 16
)

var statusNames = map[Status]string{
	Success: "CUBLAS_STATUS_SUCCESS", NotInitialized: "CUBLAS_STATUS_NOT_INITIALIZED", AllocFailed: "CUBLAS_STATUS_ALLOC_FAILED",
	InvalidValue: "CUBLAS_STATUS_INVALID_VALUE", ArchMismatch: "CUBLAS_STATUS_ARCH_MISMATCH", MappingError: "CUBLAS_STATUS_MAPPING_ERROR",
	ExecutionFailed: "CUBLAS_STATUS_EXECUTION_FAILED", InternalError: "CUBLAS_STATUS_INTERNAL_ERROR", NotSupported: "CUBLAS_STATUS_NOT_SUPPORTED",
	LicenseError: "CUBLAS_STATUS_LICENSE_ERROR",
}

var statusTexts = map[Status]string{
	Success: "the call succeeded", NotInitialized: "the handle was not made by cublasCreate", AllocFailed: "out of device memory",
	InvalidValue: "an argument is invalid", ArchMismatch: "the GPU lacks what the call needs", MappingError: "device memory cannot be accessed",
	ExecutionFailed: "a kernel failed", InternalError: "an internal error", NotSupported: "the combination of types, sizes and options is not supported",
	LicenseError: "a license is missing",
}

// Name is the name of a code, as cublasGetStatusName returns it.
func (s Status) Name() string {
	if n, ok := statusNames[s]; ok {
		return n
	}
	return "unknown cuBLAS status"
}

// Text describes a code, as cublasGetStatusString does.
func (s Status) Text() string {
	if n, ok := statusTexts[s]; ok {
		return n
	}
	return "unknown cuBLAS status"
}

// StatusOf is the status for the outcome of a call of the runtime.
func StatusOf(err cuda.Error) Status {
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
