package pti

// Result is an error code of CUPTI, with its number (CUptiResult).
type Result int32

// The codes that are returned (CUPTI result and error codes).
const (
	Success             Result = 0
	InvalidParameter    Result = 1
	InvalidDevice       Result = 2
	InvalidContext      Result = 3
	InvalidOperation    Result = 7
	SizeNotSufficient   Result = 10
	MaxLimitReached     Result = 12
	QueueEmpty          Result = 18
	InvalidStream       Result = 20
	InvalidKind         Result = 21
	NotSupported        Result = 27
	MultipleSubscribers Result = 39
	Unknown             Result = 999
)

// results has the name and the meaning of every code, also of those that are not returned.
var results = map[Result][2]string{
	0:   {"CUPTI_SUCCESS", "no error"},
	1:   {"CUPTI_ERROR_INVALID_PARAMETER", "a parameter is invalid"},
	2:   {"CUPTI_ERROR_INVALID_DEVICE", "this is no CUDA device"},
	3:   {"CUPTI_ERROR_INVALID_CONTEXT", "the context is invalid, or there is none"},
	4:   {"CUPTI_ERROR_INVALID_EVENT_DOMAIN_ID", "unknown event domain"},
	5:   {"CUPTI_ERROR_INVALID_EVENT_ID", "unknown event"},
	6:   {"CUPTI_ERROR_INVALID_EVENT_NAME", "no event has this name"},
	7:   {"CUPTI_ERROR_INVALID_OPERATION", "the operation is not possible now"},
	8:   {"CUPTI_ERROR_OUT_OF_MEMORY", "out of memory"},
	9:   {"CUPTI_ERROR_HARDWARE", "a hardware error"},
	10:  {"CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT", "the output buffer is too small"},
	11:  {"CUPTI_ERROR_API_NOT_IMPLEMENTED", "the function is not implemented"},
	12:  {"CUPTI_ERROR_MAX_LIMIT_REACHED", "a limit is reached"},
	13:  {"CUPTI_ERROR_NOT_READY", "not ready"},
	14:  {"CUPTI_ERROR_NOT_COMPATIBLE", "not compatible with the present state"},
	15:  {"CUPTI_ERROR_NOT_INITIALIZED", "not initialized"},
	16:  {"CUPTI_ERROR_INVALID_METRIC_ID", "unknown metric"},
	17:  {"CUPTI_ERROR_INVALID_METRIC_NAME", "no metric has this name"},
	18:  {"CUPTI_ERROR_QUEUE_EMPTY", "the queue is empty"},
	19:  {"CUPTI_ERROR_INVALID_HANDLE", "invalid handle"},
	20:  {"CUPTI_ERROR_INVALID_STREAM", "invalid stream"},
	21:  {"CUPTI_ERROR_INVALID_KIND", "invalid kind of activity"},
	22:  {"CUPTI_ERROR_INVALID_EVENT_VALUE", "invalid event value"},
	23:  {"CUPTI_ERROR_DISABLED", "disabled by earlier errors"},
	24:  {"CUPTI_ERROR_INVALID_MODULE", "invalid module"},
	25:  {"CUPTI_ERROR_INVALID_METRIC_VALUE", "invalid metric value"},
	26:  {"CUPTI_ERROR_HARDWARE_BUSY", "somebody else uses the hardware's counters"},
	27:  {"CUPTI_ERROR_NOT_SUPPORTED", "not supported"},
	28:  {"CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED", "profiling of unified memory is not supported on this system"},
	29:  {"CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_DEVICE", "profiling of unified memory is not supported on this device"},
	30:  {"CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES", "profiling of unified memory needs devices that can access each other"},
	31:  {"CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_WITH_MPS", "profiling of unified memory is not supported with MPS"},
	32:  {"CUPTI_ERROR_CDP_TRACING_NOT_SUPPORTED", "kernels that launch kernels cannot be traced on this device"},
	33:  {"CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED", "not supported on a virtualized device"},
	34:  {"CUPTI_ERROR_CUDA_COMPILER_NOT_COMPATIBLE", "not possible with code of this compiler"},
	35:  {"CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", "the user lacks the privilege"},
	36:  {"CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED", "the old profiling interface is in use"},
	37:  {"CUPTI_ERROR_OPENACC_UNDEFINED_ROUTINE", "a function of the OpenACC library is missing"},
	38:  {"CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED", "the old profiling interface is not supported on this device"},
	39:  {"CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED", "there is a subscriber already"},
	40:  {"CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES", "the virtualized device lacks the privilege"},
	41:  {"CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED", "not supported with confidential computing"},
	42:  {"CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED", "not supported on this mining device"},
	43:  {"CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED", "not supported on a part of a device"},
	44:  {"CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED", "not supported on linked devices"},
	45:  {"CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED", "not supported under Windows"},
	46:  {"CUPTI_ERROR_INVALID_CHIP_NAME", "no chip has this name"},
	999: {"CUPTI_ERROR_UNKNOWN", "unknown error"},
}

// Name returns the name of a code, and false if there is none.
func (r Result) Name() (string, bool) {
	n, ok := results[r]
	return n[0], ok
}

// Text returns the meaning of a code, and false if there is none.
func (r Result) Text() (string, bool) {
	n, ok := results[r]
	return n[1], ok
}
