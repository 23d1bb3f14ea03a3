package cli

import (
	"bytes"
	"debug/elf"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

// Why a program left no report.

// whyNone guesses the reason.
func whyNone(cmd *exec.Cmd, program string, state ended) string {
	if state.code == cannotLoad {
		if why := missingLibraries(cmd, program); why != "" {
			return why
		}
	}
	const none = " made no CUDA calls"
	f, err := elf.Open(program)
	if err != nil {
		return program + none // a script, say
	}
	defer f.Close()
	switch {
	case state.signal == syscall.SIGKILL:
		return program + " was killed"
	case imports(f, "libcudart.so", "libcuda.so") || hasKernels(f):
		return program + none + ", or did not end by exit or return"
	}
	return program + none + ": it is not linked with the CUDA runtime (libcudart.so) or driver (libcuda.so), and loaded neither"
}

// imports reports whether a program is linked with one of several libraries, given
// by prefixes of their names.
func imports(f *elf.File, prefixes ...string) bool {
	libs, _ := f.ImportedLibraries() // a program without imports has none of them
	return slices.ContainsFunc(libs, func(l string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(l, p) })
	})
}

// hasKernels reports whether a program contains fat binaries.
func hasKernels(f *elf.File) bool {
	return f.Section(".nv_fatbin") != nil || f.Section(".nvFatBinSegment") != nil
}

// cannotLoad is the exit code of the dynamic loader, and of shells, if a program
// cannot be started.
const cannotLoad = 127

// notFound matches the loader's line for a missing library.
var notFound = regexp.MustCompile(`(?m)^\s*(\S+) => not found$`)

// missingLibraries asks the loader which libraries a program lacks. The program
// itself does not run.
func missingLibraries(cmd *exec.Cmd, program string) string {
	f, err := elf.Open(program)
	if err != nil {
		return ""
	}
	f.Close()
	ask := exec.Command(program)
	ask.Env = append(slices.Clone(cmd.Env), "LD_TRACE_LOADED_OBJECTS=1")
	out, err := ask.Output()
	if err != nil && len(out) == 0 {
		return ""
	}
	var lines []string
	for _, m := range notFound.FindAllSubmatch(bytes.TrimSpace(out), -1) {
		if line := string(m[1]) + libraryHint(string(m[1])); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return program + " cannot start without " + strings.Join(lines, ", ")
}

// libraryHint names the source of a library.
func libraryHint(name string) string {
	for _, lib := range sdk.Libraries {
		if strings.HasPrefix(name, "lib"+lib.Name+".") {
			return " (an unknown release of " + lib.Title + ")"
		}
	}
	for _, h := range []struct{ prefixes, hint string }{
		{"libcusolver libcudnn libnpp libnvjpeg libnccl libnvJitLink libcutensor libcufile",
			" (NVIDIA's own; Heddle has no replacement)"},
		{"libomp. libiomp", " (apt-get install libomp5)"},
		{"libgomp", " (apt-get install libgomp1)"},
		{"libstdc++", " (apt-get install libstdc++6)"},
		{"libGL. libGLU libglut libGLEW", " (OpenGL; apt-get install libgl1 libglu1-mesa freeglut3)"},
	} {
		for _, prefix := range strings.Fields(h.prefixes) {
			if strings.HasPrefix(name, prefix) {
				return h.hint
			}
		}
	}
	return " (apt-file search " + name + " finds the package; for your own library set LD_LIBRARY_PATH or link with -Wl,-rpath)"
}
