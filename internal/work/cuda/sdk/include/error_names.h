// Names and meanings of the runtime's error codes for kernels; the library has the same
// ones for the host.
#ifndef HEDDLE_ERROR_NAMES_H
#define HEDDLE_ERROR_NAMES_H

#include "driver_types.h"

#define HEDDLE_ERRORS(X) \
  X(cudaSuccess, "no error") \
  X(cudaErrorInvalidValue, "invalid argument") \
  X(cudaErrorMemoryAllocation, "out of memory") \
  X(cudaErrorInitializationError, "initialization error") \
  X(cudaErrorInvalidConfiguration, "invalid configuration argument") \
  X(cudaErrorInvalidPitchValue, "invalid pitch argument") \
  X(cudaErrorInvalidSymbol, "invalid device symbol") \
  X(cudaErrorInvalidTexture, "invalid texture reference") \
  X(cudaErrorInvalidTextureBinding, "texture is not bound to a pointer") \
  X(cudaErrorInvalidChannelDescriptor, "invalid channel descriptor") \
  X(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy") \
  X(cudaErrorInvalidFilterSetting, "linear filtering not supported for non-float type") \
  X(cudaErrorInvalidSurface, "invalid surface reference") \
  X(cudaErrorMissingConfiguration, "__global__ function call is not configured") \
  X(cudaErrorInvalidDeviceFunction, "invalid device function") \
  X(cudaErrorNoDevice, "no CUDA-capable device is detected") \
  X(cudaErrorInvalidDevice, "invalid device ordinal") \
  X(cudaErrorInvalidKernelImage, "device kernel image is invalid") \
  X(cudaErrorDeviceUninitialized, "invalid device context") \
  X(cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device") \
  X(cudaErrorUnsupportedLimit, "limit is not supported on this architecture") \
  X(cudaErrorPeerAccessUnsupported, "peer access is not supported between these two devices") \
  X(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled") \
  X(cudaErrorInvalidPtx, "a PTX JIT compilation failed") \
  X(cudaErrorFileNotFound, "file not found") \
  X(cudaErrorInvalidResourceHandle, "invalid resource handle") \
  X(cudaErrorIllegalState, "the operation cannot be performed in the present state") \
  X(cudaErrorSymbolNotFound, "named symbol not found") \
  X(cudaErrorNotReady, "device not ready") \
  X(cudaErrorIllegalAddress, "an illegal memory access was encountered") \
  X(cudaErrorLaunchOutOfResources, "too many resources requested for launch") \
  X(cudaErrorLaunchTimeout, "the launch timed out and was terminated") \
  X(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled") \
  X(cudaErrorAssert, "device-side assert triggered") \
  X(cudaErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped") \
  X(cudaErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region") \
  X(cudaErrorMisalignedAddress, "misaligned address") \
  X(cudaErrorLaunchFailure, "unspecified launch failure") \
  X(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch") \
  X(cudaErrorNotPermitted, "operation not permitted") \
  X(cudaErrorNotSupported, "operation not supported") \
  X(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing") \
  X(cudaErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture") \
  X(cudaErrorStreamCaptureMerge, "operation would result in a merge of separate capture sequences") \
  X(cudaErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began") \
  X(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work") \
  X(cudaErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream") \
  X(cudaErrorStreamCaptureImplicit, "operation would make the legacy stream depend on a capturing blocking stream") \
  X(cudaErrorCapturedEvent, "operation not permitted on an event last recorded in a capturing stream") \
  X(cudaErrorStreamCaptureWrongThread, "attempt to terminate a thread-local capture sequence from another thread") \
  X(cudaErrorGraphExecUpdateFailure, "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update") \
  X(cudaErrorInvalidClusterSize, "misconfiguration of clusters") \
  X(cudaErrorUnknown, "unknown error")

#define HEDDLE_NAME(code, text) case code: return #code;
#define HEDDLE_TEXT(code, text) case code: return text;
extern "C" {
static __inline__ __attribute__((device)) const char *cudaGetErrorName(cudaError_t e) {
  switch (e) {
    HEDDLE_ERRORS(HEDDLE_NAME)
    default: return "unrecognized error code";
  }
}
static __inline__ __attribute__((device)) const char *cudaGetErrorString(cudaError_t e) {
  switch (e) {
    HEDDLE_ERRORS(HEDDLE_TEXT)
    default: return "unrecognized error code";
  }
}
}
#undef HEDDLE_NAME
#undef HEDDLE_TEXT
#undef HEDDLE_ERRORS

#endif
