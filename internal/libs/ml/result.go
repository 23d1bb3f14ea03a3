package ml

// Result is an error code of NVML, with its number (nvmlReturn_t).
type Result int32

// The error codes that are returned (NVML API reference, section Device Enums).
const (
	Success          Result = 0
	Uninitialized    Result = 1
	InvalidArgument  Result = 2
	NotSupported     Result = 3
	NotFound         Result = 6
	InsufficientSize Result = 7
	VersionMismatch  Result = 25
	UnknownError     Result = 999
)

// texts has the meaning of every code, also of those that are not returned.
var texts = map[Result]string{
	0: "Success", 1: "Uninitialized", 2: "Invalid Argument", 3: "Not Supported", 4: "Insufficient Permissions", 5: "Already Initialized",
	6: "Not Found", 7: "Insufficient Size", 8: "Insufficient External Power", 9: "Driver Not Loaded", 10: "Timeout", 11: "Interrupt Request Issue",
	12: "NVML Shared Library Not Found", 13: "Function Not Found", 14: "Corrupted infoROM", 15: "GPU is lost", 16: "GPU requires restart",
	17: "The operating system has blocked the request", 18: "RM has detected an NVML/RM version mismatch", 19: "In Use", 20: "Insufficient Memory",
	21: "No data", 22: "vGPU operation not available while ECC is enabled", 23: "Insufficient Resources",
	24: "The requested frequency is not supported", 25: "Argument version mismatch", 26: "Deprecated", 27: "Not ready", 28: "No GPU was found",
	29: "Invalid state", 30: "Reset type not supported", 999: "Unknown Error",
}

// String returns the meaning of a code, as nvmlErrorString does.
func (r Result) String() string {
	if s, ok := texts[r]; ok {
		return s
	}
	return "Unknown Error"
}
