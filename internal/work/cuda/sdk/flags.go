package sdk

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// This file: the flags of nvcc, which NVRTC has too, in clang's terms.

// shortFlags maps nvcc's long names to short ones.
var shortFlags = map[string]string{
	"--output-file": "-o", "--compile": "-c", "--include-path": "-I", "--define-macro": "-D", "--undefine-macro": "-U", "--library-path": "-L",
	"--library": "-l", "--optimize": "-O", "--gpu-architecture": "-arch", "--generate-code": "-gencode", "--gpu-code": "-code",
	"--compiler-options": "-Xcompiler", "--linker-options": "-Xlinker", "--pre-include": "-include", "--system-include": "-isystem",
	"--device-c": "-dc", "--device-link": "-dlink", "--output-directory": "-odir", "--x": "-x",
	"-default-stream": "--default-stream", "-V": "--version", "--generate-dependencies": "-M", "--generate-nonsystem-dependencies": "-MM",
	"--ftz": "-ftz", "--fmad": "-fmad", "--prec-div": "-prec-div", "--prec-sqrt": "-prec-sqrt",
	"--preprocess": "-E", "--Werror": "-Werror", "--dependency-output": "-MF", "--disable-warnings": "-w", "--profile": "-pg", "-dryrun": "--dryrun",
	"--relocatable-device-code": "-rdc", "-ptx": "--ptx", "-fatbin": "--fatbin", "-S": "--ptx-or-S", "--std": "-std",
}

// ShortFlag returns the short name of a flag of nvcc, or the name itself if it has only
// one.
func ShortFlag(name string) string {
	if short, ok := shortFlags[name]; ok && short != "--ptx-or-S" {
		return short
	}
	return name
}

// LongFlags are the long names of nvcc's flags that have a short one.
func LongFlags() []string { return slices.Collect(maps.Keys(shortFlags)) }

// clangFlags is nvcc's spelling of flags that clang has too.
var clangFlags = map[string][]string{
	"-lineinfo": {"-gline-tables-only"}, "--generate-line-info": {"-gline-tables-only"}, "-G": {"-g"}, "--device-debug": {"-g"}, "--debug": {"-g"},
	"--use_fast_math": {"-fgpu-flush-denormals-to-zero", "-fcuda-approx-transcendentals"},
	"-use_fast_math":  {"-fgpu-flush-denormals-to-zero", "-fcuda-approx-transcendentals"},
	"-ftz=true":       {"-fgpu-flush-denormals-to-zero"}, "-ftz=false": nil,
	"-fmad=true": {"-ffp-contract=fast"}, "-fmad=false": {"-ffp-contract=off"},
	"-prec-div=true": nil, "-prec-div=false": nil, "-prec-sqrt=true": nil, "-prec-sqrt=false": nil,
	"-shared": {"-shared"}, "--shared": {"-shared"},
}

// ClangFlag returns clang's equivalent of a flag of nvcc, by its short name and with its
// value, and false if clang has no other name for it.
func ClangFlag(flag string) ([]string, bool) {
	to, ok := clangFlags[flag]
	return to, ok
}

// IsYesOrNo reports whether the value of a flag of nvcc, by its short name, is true or
// false.
func IsYesOrNo(name string) bool {
	return slices.Contains([]string{"-ftz", "-fmad", "-prec-div", "-prec-sqrt"}, name)
}

var archName = regexp.MustCompile(`(?:sm|compute|lto)_(\d+[af]?)`)

// Arch returns the architecture, sm_XX, that a value such as compute_70 of a flag of nvcc
// names, and false if it names none.
func Arch(value string) (string, bool) {
	m := archName.FindStringSubmatch(value)
	if m == nil {
		return "", false
	}
	return "sm_" + m[1], true
}

// withValue are flags of clang whose value is the next argument.
var withValue = []string{"-I", "-D", "-U", "-L", "-l", "-isystem", "-include", "-iquote", "-idirafter", "-Xclang", "-MF", "-MT", "-MQ", "-mllvm", "-target", "-isysroot", "-framework"}

// HasValue reports whether the value of a flag of clang is the next argument.
func HasValue(flag string) bool { return slices.Contains(withValue, flag) }

// OwnMacros separates the flags that define or undefine a program's own macros, and
// returns the other flags, and equivalent lines of C for a file that is included first.
// Clang includes headers of its own before that, in which a name such as N or T is a
// parameter: with -DN=256 they would not compile. Names that system headers use stay
// flags: those that begin with an underscore, NDEBUG, and those that select a variant of
// CUDA's headers.
func OwnMacros(flags []string) (others []string, lines string) {
	var text strings.Builder
	for i := 0; i < len(flags); i++ {
		flag, words := flags[i:i+1], 1
		if HasValue(flags[i]) && i+1 < len(flags) {
			flag, words = flags[i:i+2], 2
		}
		i += words - 1
		joined := strings.Join(flag, "")
		define := strings.HasPrefix(joined, "-D")
		if !define && !strings.HasPrefix(joined, "-U") {
			others = append(others, flag...)
			continue
		}
		name, value, has := strings.Cut(joined[2:], "=")
		if !has {
			value = "1"
		}
		switch {
		case name == "" || name == "NDEBUG" || strings.HasPrefix(name, "_") || strings.HasPrefix(name, "CUDA_") || strings.ContainsAny(joined, "\r\n"):
			others = append(others, flag...)
		case define:
			fmt.Fprintf(&text, "#define %s %s\n", name, value)
		default:
			fmt.Fprintf(&text, "#undef %s\n", name)
		}
	}
	if text.Len() == 0 {
		return others, ""
	}
	return others, "#line 1 \"<command line>\"\n" + text.String()
}

// ReadingFlags returns the arguments of every call of clang that reads a source in a
// language.
func (s SDK) ReadingFlags(language string) []string {
	args := []string{"-Qunused-arguments", // not all of these apply to all steps, and gcc is silent too
		// Old sources depend on code for which gcc only warns.
		"-Wno-c++11-narrowing", "-Wno-reserved-user-defined-literal", "-Wno-error=implicit-function-declaration",
		"-Wno-error=implicit-int", "-Wno-error=int-conversion", "-Wno-error=incompatible-pointer-types", "-Wno-register",
		"-Wno-static-float-init", "-Wno-missing-template-arg-list-after-template-kw", "-Wno-unknown-warning-option",
		// Neither does nvcc check that constexpr functions can be constant, or tell which loops are not unrolled.
		"-Wno-invalid-constexpr", "-Wno-pass-failed",
		// Functions without a return statement return if the value is unused.
		"-fno-strict-return"}
	if s.Clang.Major < 17 && language != "c" {
		args = append(args, "-std=gnu++17")
	}
	// nvcc defines its name and release in all languages.
	args = append(args, "-D__NVCC__", fmt.Sprint("-D__CUDACC_VER_MAJOR__=", Major), fmt.Sprint("-D__CUDACC_VER_MINOR__=", Minor), fmt.Sprint("-D__CUDACC_VER_BUILD__=", Build))
	if s.Clang.Major < 15 {
		args = append(args, "-isystem", filepath.Join(s.Include(), "clang14"))
	}
	// Files in other languages may include CUDA's headers too.
	args = append(args, "-isystem", s.Include(), "-idirafter", filepath.Join(s.Include(), "fallback"))
	if language == "cuda" {
		args = append(args, "-include", "heddle_nvcc.h")
	}
	return args
}
