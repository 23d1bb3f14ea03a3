package sdk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// deviceHeaders are those whose functions kernels call.
var deviceHeaders = []string{
	"cooperative_groups.h", "cooperative_groups/memcpy_async.h", "cooperative_groups/reduce.h", "cooperative_groups/scan.h",
	"cuComplex.h", "cuda/atomic", "cuda/barrier", "cuda/latch", "cuda/pipeline", "cuda/semaphore", "cuda_bf16.h", "cuda_fp16.h", "cuda_fp8.h",
	"cuda_pipeline.h", "curand_kernel.h", "curand_mrg32k3a.h", "curand_poisson.h", "curand_sobol.h", "device_atomic_functions.h",
	"device_intrinsics.h", "dpx_functions.h", "error_names.h", "half_common.h", "heddle_surfaces.h", "host_math.h", "mma.h",
	"texture_fetch_functions.h", "crt/math_functions.hpp", "vector_functions.h",
}

var (
	lineMarker = regexp.MustCompile(`^# \d+ "([^"]*)"`)
	cppToken   = regexp.MustCompile(`"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|::|[^\s\w]`)
	identifier = regexp.MustCompile(`^[A-Za-z_]\w*$`)
)

// publicFunctions are the functions that a preprocessed program declares in some
// files, at namespace scope and as public members of classes.
func publicFunctions(text string, wanted func(file string) bool) []string {
	var tokens []string
	on := false
	for line := range strings.Lines(text) {
		if m := lineMarker.FindStringSubmatch(line); m != nil {
			on = wanted(m[1])
			continue
		}
		if on && !strings.HasPrefix(line, "#") {
			tokens = append(tokens, cppToken.FindAllString(line, -1)...)
		}
	}
	notNames := []string{"__attribute__", "__attribute", "alignas", "static_assert", "_Static_assert", "asm", "decltype", "sizeof", "noexcept", "explicit",
		"operator", "requires", "enable_if", "__declspec", "alignof", "if", "return", "defined", "deprecated", "visibility", "section"}
	type scope struct{ hidden, class bool }
	scopes := []scope{{}}
	var names, head []string // head is the declaration so far
	parens := 0
	for i, tok := range tokens {
		top := &scopes[len(scopes)-1]
		switch tok {
		case "(":
			if parens == 0 && i > 0 && identifier.MatchString(tokens[i-1]) && !top.hidden && !slices.Contains(notNames, tokens[i-1]) &&
				!slices.Contains(head, "=") && !slices.Contains(head, "operator") && !slices.Contains(head, "typedef") &&
				!slices.Contains(head, "using") && !slices.Contains(head, ":") && (i < 2 || tokens[i-2] != "~") {
				names = append(names, tokens[i-1])
			}
			parens++
		case ")":
			parens--
		case "{":
			named := func(word string) bool { return slices.Contains(head, word) }
			class := parens == 0 && !named("(") && (named("struct") || named("class") || named("union"))
			space := parens == 0 && (named("namespace") || named("extern") && len(head) == 2)
			inner := scope{hidden: top.hidden || !class && !space, class: class}
			if space && slices.ContainsFunc(head, func(w string) bool { return strings.HasPrefix(w, "heddle") || strings.HasPrefix(w, "details") }) ||
				class && named("class") || class && slices.ContainsFunc(head, func(w string) bool { return strings.HasPrefix(w, "heddle") }) {
				inner.hidden = true
			}
			scopes = append(scopes, inner)
			head = nil
			continue
		case "}":
			if len(scopes) > 1 {
				scopes = scopes[:len(scopes)-1]
			}
			head = nil
			continue
		case ";":
			if parens == 0 {
				head = nil
				continue
			}
		case "public", "private", "protected":
			if top.class && i+1 < len(tokens) && tokens[i+1] == ":" {
				// A class's own scope, not one inside of what is hidden.
				top.hidden = tok != "public" || len(scopes) > 1 && scopes[len(scopes)-2].hidden
				head = nil
				continue
			}
		case ":":
			if n := len(head); n == 0 {
				continue // of an access
			}
		}
		head = append(head, tok)
	}
	names = slices.DeleteFunc(names, func(n string) bool {
		return strings.HasPrefix(strings.ToLower(n), "heddle") || strings.HasPrefix(n, "__heddle")
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// TestEveryFunctionIsTested: what the headers for kernels declare is named by a test.
func TestEveryFunctionIsTested(t *testing.T) {
	s := kit(t)
	var src strings.Builder
	for _, h := range deviceHeaders {
		if !strings.HasPrefix(h, "crt/") {
			src.WriteString("#include <" + h + ">\n")
		}
	}
	file := filepath.Join(t.TempDir(), "t.cu")
	if err := os.WriteFile(file, []byte(src.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command(s.Clang.Path, "--cuda-path="+s.Dir, "-E", "--cuda-device-only", "-std=c++17", "--no-cuda-version-check",
		"-Wno-unknown-cuda-version", "--cuda-gpu-arch=sm_90", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	names := publicFunctions(string(text), func(file string) bool {
		rel, err := filepath.Rel(s.Include(), filepath.Clean(file))
		return err == nil && slices.Contains(deviceHeaders, rel)
	})
	if len(names) < 700 {
		t.Errorf("only %d functions found", len(names))
	}
	tested := map[string]bool{}
	word := regexp.MustCompile(`[A-Za-z_]\w*(?:\{[\w,]*\}\w*)*`)
	for _, pattern := range []string{"*_test.go", "testdata/*_api.txt", "../*_test.go", "../../../cmd/heddle/*_test.go", "../../../cmd/heddle/testdata/cuda/*"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, words := range word.FindAllString(string(text), -1) {
				for _, w := range expand(words, 1) {
					tested[w] = true
					if strings.HasSuffix(file, "_api.txt") { // other forms of the same row
						tested[w+"f"] = true
						tested[strings.ReplaceAll(w, "half", "bfloat16")] = true
					}
				}
			}
		}
	}
	for _, n := range names {
		if !tested[n] {
			t.Errorf("no test names %s", n)
		}
	}
}
