package cuda

import "fmt"

// Result is an error code of the driver, with the driver's number (CUresult).
type Result int32

// The codes that only the driver returns. From CUDA 10.1 on, an Error of the runtime has
// the same number and meaning, with the exceptions in Error.Result.
const (
	ResultSuccess            Result = 0
	ResultInvalidValue       Result = 1
	ResultOutOfMemory        Result = 2
	ResultNotInitialized     Result = 3
	ResultInvalidDevice      Result = 101
	ResultInvalidImage       Result = 200
	ResultInvalidContext     Result = 201
	ResultNoBinary           Result = 209
	ResultPeerUnsupported    Result = 217
	ResultInvalidPTX         Result = 218
	ResultFileNotFound       Result = 301
	ResultInvalidHandle      Result = 400
	ResultNotFound           Result = 500
	ResultContextIsDestroyed Result = 709
	ResultNotSupported       Result = 801
	ResultUnknown            Result = 999
)

// resultNames has the name and the meaning of each code (CUDA driver API,
// section Data types).
var resultNames = map[Result][2]string{
	0:   {"CUDA_SUCCESS", "no error"},
	1:   {"CUDA_ERROR_INVALID_VALUE", "invalid argument"},
	2:   {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	3:   {"CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
	4:   {"CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
	5:   {"CUDA_ERROR_PROFILER_DISABLED", "profiler disabled while using external profiling tool"},
	6:   {"CUDA_ERROR_PROFILER_NOT_INITIALIZED", "profiler not initialized"},
	7:   {"CUDA_ERROR_PROFILER_ALREADY_STARTED", "profiler already started"},
	8:   {"CUDA_ERROR_PROFILER_ALREADY_STOPPED", "profiler already stopped"},
	34:  {"CUDA_ERROR_STUB_LIBRARY", "the program is linked with a stub of the driver"},
	46:  {"CUDA_ERROR_DEVICE_UNAVAILABLE", "device is busy or unavailable"},
	100: {"CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
	101: {"CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
	102: {"CUDA_ERROR_DEVICE_NOT_LICENSED", "device has no valid licence"},
	200: {"CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
	201: {"CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
	202: {"CUDA_ERROR_CONTEXT_ALREADY_CURRENT", "context already current"},
	205: {"CUDA_ERROR_MAP_FAILED", "mapping of buffer object failed"},
	206: {"CUDA_ERROR_UNMAP_FAILED", "unmapping of buffer object failed"},
	207: {"CUDA_ERROR_ARRAY_IS_MAPPED", "array is mapped"},
	208: {"CUDA_ERROR_ALREADY_MAPPED", "resource already mapped"},
	209: {"CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
	210: {"CUDA_ERROR_ALREADY_ACQUIRED", "resource already acquired"},
	211: {"CUDA_ERROR_NOT_MAPPED", "resource not mapped"},
	212: {"CUDA_ERROR_NOT_MAPPED_AS_ARRAY", "resource not mapped as array"},
	213: {"CUDA_ERROR_NOT_MAPPED_AS_POINTER", "resource not mapped as pointer"},
	214: {"CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
	215: {"CUDA_ERROR_UNSUPPORTED_LIMIT", "limit is not supported on this architecture"},
	216: {"CUDA_ERROR_CONTEXT_ALREADY_IN_USE", "context is in use by another thread"},
	217: {"CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "peer access is not supported between these two devices"},
	218: {"CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
	219: {"CUDA_ERROR_INVALID_GRAPHICS_CONTEXT", "invalid OpenGL or DirectX context"},
	220: {"CUDA_ERROR_NVLINK_UNCORRECTABLE", "uncorrectable NVLink error detected during the execution"},
	221: {"CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "PTX JIT compiler library not found"},
	222: {"CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain"},
	223: {"CUDA_ERROR_JIT_COMPILATION_DISABLED", "PTX JIT compilation was disabled"},
	224: {"CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY", "the provided execution affinity is not supported"},
	300: {"CUDA_ERROR_INVALID_SOURCE", "device kernel image is invalid"},
	301: {"CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
	302: {"CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND", "shared object symbol not found"},
	303: {"CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", "shared object initialization failed"},
	304: {"CUDA_ERROR_OPERATING_SYSTEM", "OS call failed or operation not supported on this OS"},
	400: {"CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
	401: {"CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
	500: {"CUDA_ERROR_NOT_FOUND", "named symbol not found"},
	600: {"CUDA_ERROR_NOT_READY", "device not ready"},
	700: {"CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
	701: {"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
	702: {"CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
	703: {"CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING", "launch uses incompatible texturing mode"},
	704: {"CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"},
	705: {"CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "peer access has not been enabled"},
	708: {"CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", "cannot set while device is active in this process"},
	709: {"CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
	710: {"CUDA_ERROR_ASSERT", "device-side assert triggered"},
	711: {"CUDA_ERROR_TOO_MANY_PEERS", "peer mapping resources exhausted"},
	712: {"CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "part or all of the requested memory range is already mapped"},
	713: {"CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "pointer does not correspond to a registered memory region"},
	714: {"CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error"},
	715: {"CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
	716: {"CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
	717: {"CUDA_ERROR_INVALID_ADDRESS_SPACE", "operation not supported on global/shared address space"},
	718: {"CUDA_ERROR_INVALID_PC", "invalid program counter"},
	719: {"CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
	720: {"CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch"},
	800: {"CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
	801: {"CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
	802: {"CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
	803: {"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
	804: {"CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "forward compatibility was attempted on non supported HW"},
	900: {"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
	901: {"CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"},
	902: {"CUDA_ERROR_STREAM_CAPTURE_MERGE", "operation would result in a merge of separate capture sequences"},
	903: {"CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "capture was not ended in the same stream as it began"},
	904: {"CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
	905: {"CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "dependency created on uncaptured work in another stream"},
	906: {"CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", "operation would make the legacy stream depend on a capturing blocking stream"},
	907: {"CUDA_ERROR_CAPTURED_EVENT", "operation not permitted on an event last recorded in a capturing stream"},
	908: {"CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "attempt to terminate a thread-local capture sequence from another thread"},
	909: {"CUDA_ERROR_TIMEOUT", "wait operation timed out"},
	910: {"CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update"},
	911: {"CUDA_ERROR_EXTERNAL_DEVICE", "an async error has occurred in external entity outside of CUDA"},
	912: {"CUDA_ERROR_INVALID_CLUSTER_SIZE", "a kernel launch error has occurred due to cluster misconfiguration"},
	999: {"CUDA_ERROR_UNKNOWN", "unknown error"},
}

// Name returns the name of a code, and false if there is none.
func (r Result) Name() (string, bool) {
	n, ok := resultNames[r]
	return n[0], ok
}

// Text returns the meaning of a code, and false if there is none.
func (r Result) Text() (string, bool) {
	n, ok := resultNames[r]
	return n[1], ok
}

// Error returns name, number and meaning.
func (r Result) Error() string {
	name, ok := r.Name()
	if !ok {
		return fmt.Sprintf("unrecognized error code (%d)", int(r))
	}
	text, _ := r.Text()
	return fmt.Sprintf("%s (%d): %s", name, int(r), text)
}

// Result returns the driver's code for an error of the runtime.
func (e Error) Result() Result {
	switch e {
	case InvalidConfiguration, InvalidPitchValue, InvalidTexture, InvalidChannel, InvalidMemcpyWay, MissingConfiguration:
		return ResultInvalidValue
	case InvalidSymbol:
		return ResultNotFound
	case InvalidDeviceFunction:
		return ResultInvalidHandle
	}
	if _, ok := resultNames[Result(e)]; ok {
		return Result(e)
	}
	return ResultUnknown
}

// Driver is one thread's view of the driver API: the same device, memory and streams as
// the runtime's, plus contexts, modules and functions by handle.
type Driver struct{ t *Thread }

// Driver returns the thread's view of the driver.
func (t *Thread) Driver() Driver { return Driver{t} }

// Init initialises the driver (cuInit).
func (d Driver) Init(flags uint32) Result {
	r := d.t.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if flags != 0 {
		return ResultInvalidValue
	}
	if r.absent {
		return NoDevice.Result()
	}
	r.ctx.ready = true
	return ResultSuccess
}

// Ask runs a call that needs Init but no context.
func (d Driver) Ask(f func() Result) Result {
	d.t.r.mu.Lock()
	ready := d.t.r.ctx.ready
	d.t.r.mu.Unlock()
	if !ready {
		return ResultNotInitialized
	}
	// Its calls of the runtime make no context current and set no error of the
	// runtime.
	last, outside := d.t.last, d.t.driven
	d.t.driven = true
	res := f()
	d.t.last, d.t.driven = last, outside
	return res
}

// Do runs a call that needs a context, and returns the driver's code.
func (d Driver) Do(f func(t *Thread) Error) Result {
	return d.In(func(t *Thread) Result { return f(t).Result() })
}

// In runs a call that needs a context.
func (d Driver) In(f func(t *Thread) Result) Result {
	return d.Ask(func() Result {
		if res := d.locked(func(r *Runtime, t *Thread) Result { _, res := r.here(t); return res }); res != ResultSuccess {
			return res
		}
		return f(d.t)
	})
}

// Unsupported handles a call of a missing function. It warns once for each name.
func (d Driver) Unsupported(name string) Result {
	r := d.t.r
	r.mu.Lock()
	defer r.mu.Unlock()
	r.once(name, "%s is not supported; it returns CUDA_ERROR_NOT_SUPPORTED", name)
	return ResultNotSupported
}
