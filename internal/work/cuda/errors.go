package cuda

import "fmt"

// Error is an error code of the CUDA runtime, with the runtime's number.
type Error int32

// The error codes that the runtime returns. The numbers are those of CUDA 10.1
// and later (CUDA runtime API, section Data types).
const (
	Success                  Error = 0
	InvalidValue             Error = 1
	MemoryAllocation         Error = 2
	InitializationError      Error = 3
	InvalidConfiguration     Error = 9
	InvalidPitchValue        Error = 12
	InvalidSymbol            Error = 13
	InvalidTexture           Error = 18
	InvalidTextureBinding    Error = 19
	InvalidChannel           Error = 20
	InvalidMemcpyWay         Error = 21
	InvalidFilter            Error = 26
	InvalidSurface           Error = 37
	MissingConfiguration     Error = 52
	InvalidDeviceFunction    Error = 98
	NoDevice                 Error = 100
	InvalidDevice            Error = 101
	InvalidKernelImage       Error = 200
	DeviceUninitialized      Error = 201
	NoKernelImage            Error = 209
	UnsupportedLimit         Error = 215
	PeerAccessUnsupported    Error = 217
	InvalidPTX               Error = 218
	FileNotFound             Error = 301
	InvalidHandle            Error = 400
	IllegalState             Error = 401
	SymbolNotFound           Error = 500
	NotReady                 Error = 600
	IllegalAddress           Error = 700
	OutOfResources           Error = 701
	LaunchTimeout            Error = 702
	PeerAccessAlreadyEnabled Error = 704
	PeerAccessNotEnabled     Error = 705
	Assert                   Error = 710
	AlreadyRegistered        Error = 712
	NotRegistered            Error = 713
	MisalignedAddress        Error = 716
	LaunchFailure            Error = 719
	CooperativeTooLarge      Error = 720
	NotPermitted             Error = 800
	NotSupported             Error = 801

	StreamCaptureUnsupported Error = 900
	StreamCaptureInvalidated Error = 901
	StreamCaptureMerge       Error = 902
	StreamCaptureUnmatched   Error = 903
	StreamCaptureUnjoined    Error = 904
	StreamCaptureIsolation   Error = 905
	StreamCaptureImplicit    Error = 906
	CapturedEvent            Error = 907
	StreamCaptureWrongThread Error = 908
	GraphUpdateFailure       Error = 910

	InvalidClusterSize Error = 912
	Unknown            Error = 999
)

// errorNames has the name and the meaning of each code.
var errorNames = map[Error][2]string{
	Success:                  {"cudaSuccess", "no error"},
	InvalidValue:             {"cudaErrorInvalidValue", "invalid argument"},
	MemoryAllocation:         {"cudaErrorMemoryAllocation", "out of memory"},
	InitializationError:      {"cudaErrorInitializationError", "initialization error"},
	InvalidConfiguration:     {"cudaErrorInvalidConfiguration", "invalid configuration argument"},
	InvalidPitchValue:        {"cudaErrorInvalidPitchValue", "invalid pitch argument"},
	InvalidSymbol:            {"cudaErrorInvalidSymbol", "invalid device symbol"},
	InvalidTexture:           {"cudaErrorInvalidTexture", "invalid texture reference"},
	InvalidTextureBinding:    {"cudaErrorInvalidTextureBinding", "texture is not bound to a pointer"},
	InvalidFilter:            {"cudaErrorInvalidFilterSetting", "linear filtering not supported for non-float type"},
	InvalidSurface:           {"cudaErrorInvalidSurface", "invalid surface reference"},
	InvalidChannel:           {"cudaErrorInvalidChannelDescriptor", "invalid channel descriptor"},
	InvalidMemcpyWay:         {"cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
	MissingConfiguration:     {"cudaErrorMissingConfiguration", "__global__ function call is not configured"},
	InvalidDeviceFunction:    {"cudaErrorInvalidDeviceFunction", "invalid device function"},
	NoDevice:                 {"cudaErrorNoDevice", "no CUDA-capable device is detected"},
	InvalidDevice:            {"cudaErrorInvalidDevice", "invalid device ordinal"},
	InvalidKernelImage:       {"cudaErrorInvalidKernelImage", "device kernel image is invalid"},
	DeviceUninitialized:      {"cudaErrorDeviceUninitialized", "invalid device context"},
	NoKernelImage:            {"cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"},
	UnsupportedLimit:         {"cudaErrorUnsupportedLimit", "limit is not supported on this architecture"},
	InvalidPTX:               {"cudaErrorInvalidPtx", "a PTX JIT compilation failed"},
	InvalidHandle:            {"cudaErrorInvalidResourceHandle", "invalid resource handle"},
	FileNotFound:             {"cudaErrorFileNotFound", "file not found"},
	SymbolNotFound:           {"cudaErrorSymbolNotFound", "named symbol not found"},
	IllegalState:             {"cudaErrorIllegalState", "the operation cannot be performed in the present state"},
	NotReady:                 {"cudaErrorNotReady", "device not ready"},
	IllegalAddress:           {"cudaErrorIllegalAddress", "an illegal memory access was encountered"},
	OutOfResources:           {"cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
	LaunchTimeout:            {"cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
	PeerAccessUnsupported:    {"cudaErrorPeerAccessUnsupported", "peer access is not supported between these two devices"},
	PeerAccessAlreadyEnabled: {"cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
	PeerAccessNotEnabled:     {"cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
	Assert:                   {"cudaErrorAssert", "device-side assert triggered"},
	AlreadyRegistered:        {"cudaErrorHostMemoryAlreadyRegistered", "part or all of the requested memory range is already mapped"},
	NotRegistered:            {"cudaErrorHostMemoryNotRegistered", "pointer does not correspond to a registered memory region"},
	MisalignedAddress:        {"cudaErrorMisalignedAddress", "misaligned address"},
	InvalidClusterSize:       {"cudaErrorInvalidClusterSize", "misconfiguration of clusters"},
	LaunchFailure:            {"cudaErrorLaunchFailure", "unspecified launch failure"},
	CooperativeTooLarge:      {"cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
	NotPermitted:             {"cudaErrorNotPermitted", "operation not permitted"},
	NotSupported:             {"cudaErrorNotSupported", "operation not supported"},

	StreamCaptureUnsupported: {"cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
	StreamCaptureInvalidated: {"cudaErrorStreamCaptureInvalidated", "operation failed due to a previous error during capture"},
	StreamCaptureMerge:       {"cudaErrorStreamCaptureMerge", "operation would result in a merge of separate capture sequences"},
	StreamCaptureUnmatched:   {"cudaErrorStreamCaptureUnmatched", "capture was not ended in the same stream as it began"},
	StreamCaptureUnjoined:    {"cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
	StreamCaptureIsolation:   {"cudaErrorStreamCaptureIsolation", "dependency created on uncaptured work in another stream"},
	StreamCaptureImplicit:    {"cudaErrorStreamCaptureImplicit", "operation would make the legacy stream depend on a capturing blocking stream"},
	CapturedEvent:            {"cudaErrorCapturedEvent", "operation not permitted on an event last recorded in a capturing stream"},
	StreamCaptureWrongThread: {"cudaErrorStreamCaptureWrongThread", "attempt to terminate a thread-local capture sequence from another thread"},
	GraphUpdateFailure:       {"cudaErrorGraphExecUpdateFailure", "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update"},

	Unknown: {"cudaErrorUnknown", "unknown error"},
}

// Name returns the name of a code, as cudaGetErrorName does.
func (e Error) Name() string {
	if n, ok := errorNames[e]; ok {
		return n[0]
	}
	return "unrecognized error code"
}

// Text returns the meaning of a code, as cudaGetErrorString does.
func (e Error) Text() string {
	if n, ok := errorNames[e]; ok {
		return n[1]
	}
	return "unrecognized error code"
}

// Error returns name, number and meaning.
func (e Error) Error() string { return fmt.Sprintf("%s (%d): %s", e.Name(), int(e), e.Text()) }
