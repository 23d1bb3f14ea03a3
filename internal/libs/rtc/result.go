package rtc

import "fmt"

// Result is an error code of NVRTC, with its number (nvrtcResult).
type Result int32

// The error codes (NVRTC documentation, section Error Handling).
const (
	Success                         Result = 0
	OutOfMemory                     Result = 1
	ProgramCreationFailure          Result = 2
	InvalidInput                    Result = 3
	InvalidProgram                  Result = 4
	InvalidOption                   Result = 5
	Compilation                     Result = 6
	BuiltinOperationFailure         Result = 7
	NoNameExpressionsAfterCompiling Result = 8
	NoLoweredNamesBeforeCompilation Result = 9
	NameExpressionNotValid          Result = 10
	InternalError                   Result = 11
	NoPCHCreateAttempted            Result = 13
)

// names has the name of every code, also of those that are not returned.
var names = [...]string{
	"NVRTC_SUCCESS", "NVRTC_ERROR_OUT_OF_MEMORY", "NVRTC_ERROR_PROGRAM_CREATION_FAILURE", "NVRTC_ERROR_INVALID_INPUT",
	"NVRTC_ERROR_INVALID_PROGRAM", "NVRTC_ERROR_INVALID_OPTION", "NVRTC_ERROR_COMPILATION", "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
	"NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION", "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
	"NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID", "NVRTC_ERROR_INTERNAL_ERROR", "NVRTC_ERROR_TIME_FILE_WRITE_FAILED",
	"NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED", "NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED", "NVRTC_ERROR_PCH_CREATE", "NVRTC_ERROR_CANCELLED",
	"NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED",
}

// String returns the name of a code, as nvrtcGetErrorString does.
func (r Result) String() string {
	if r >= 0 && int(r) < len(names) {
		return names[r]
	}
	return fmt.Sprintf("NVRTC_ERROR unknown (%d)", int32(r))
}
