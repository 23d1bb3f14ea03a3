package sdk_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// deviceHeaders are the headers whose functions kernels call.
var deviceHeaders = []string{
	"cooperative_groups.h", "cooperative_groups/memcpy_async.h", "cooperative_groups/reduce.h", "cooperative_groups/scan.h",
	"cuComplex.h", "cuda/atomic", "cuda/barrier", "cuda/latch", "cuda/pipeline", "cuda/semaphore", "cuda_bf16.h", "cuda_fp16.h", "cuda_fp4.h", "cuda_fp6.h", "cuda_fp8.h",
	"cuda_awbarrier.h", "cuda_awbarrier_primitives.h", "cuda/annotated_ptr", "cuda/access_property", "cuda/cmath", "cuda/functional", "cuda/std/bit", "cuda/std/span",
	"heddle_atomics.h", "heddle_narrow.h", "sm_90_rt.h",
	"cuda_pipeline.h", "curand_kernel.h", "curand_mrg32k3a.h", "curand_poisson.h", "curand_sobol.h", "device_atomic_functions.h",
	"device_intrinsics.h", "dpx_functions.h", "error_names.h", "half_common.h", "heddle_surfaces.h", "host_math.h", "mma.h",
	"texture_fetch_functions.h", "crt/math_functions.hpp", "vector_functions.h",
}

var (
	lineMarker = regexp.MustCompile(`^# \d+ "([^"]*)"`)
	cppToken   = regexp.MustCompile(`"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|::|[^\s\w]`)
	identifier = regexp.MustCompile(`^[A-Za-z_]\w*$`)
	// Names before a parenthesis that are not functions, or not declarations.
	noFunction    = strings.Fields("__attribute__ alignas static_assert asm decltype noexcept explicit operator")
	noDeclaration = strings.Fields("= : operator typedef using")
)

// publicFunctions returns the functions that a preprocessed program declares in
// some files: at namespace scope and as public members of classes.
func publicFunctions(text string, wanted func(file string) bool) []string {
	var tokens []string
	on := false
	for line := range strings.Lines(text) {
		if m := lineMarker.FindStringSubmatch(line); m != nil {
			on = wanted(m[1])
		} else if on && !strings.HasPrefix(line, "#") {
			tokens = append(tokens, cppToken.FindAllString(line, -1)...)
		}
	}
	ours := func(word string) bool {
		return strings.HasPrefix(strings.ToLower(word), "heddle") || strings.HasPrefix(word, "__heddle")
	}
	type scope struct{ hidden, class bool }
	scopes := []scope{{}}
	var names, head []string // head is the declaration so far
	parens := 0
	for i, tok := range tokens {
		top := &scopes[len(scopes)-1]
		has := func(words ...string) bool {
			return slices.ContainsFunc(head, func(w string) bool { return slices.Contains(words, w) })
		}
		switch {
		case tok == "(":
			if parens++; parens == 1 && i > 0 && !top.hidden && identifier.MatchString(tokens[i-1]) && !ours(tokens[i-1]) &&
				!slices.Contains(noFunction, tokens[i-1]) && !has(noDeclaration...) {
				names = append(names, tokens[i-1])
			}
		case tok == ")":
			parens--
		case tok == "{":
			class := parens == 0 && !has("(") && has("struct", "class")
			space := parens == 0 && (has("namespace") || len(head) == 2 && has("extern"))
			scopes = append(scopes, scope{top.hidden || !class && !space || has("class") || slices.ContainsFunc(head, ours), class})
			head = nil
			continue
		case tok == "}":
			scopes = scopes[:max(1, len(scopes)-1)]
			head = nil
			continue
		case tok == ";" && parens == 0:
			head = nil
			continue
		case top.class && (tok == "public" || tok == "private" || tok == "protected") && tokens[i+1] == ":":
			top.hidden = tok != "public" || scopes[len(scopes)-2].hidden
			head = nil
			continue
		case tok == ":" && len(head) == 0:
			continue // a public member
		}
		head = append(head, tok)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// TestPublicFunctions: functions are found wherever a program may call them.
func TestPublicFunctions(t *testing.T) {
	const text = `# 1 "/other.h" 1
int elsewhere(int);
# 7 "/this.h" 2
static __inline__ __attribute__((device)) int plain(int a) { return helper(a) + (a); }
extern "C" { void linked(void (*f)(int)); }
namespace heddle_sdk { int hidden(); struct inside { int member(); }; }
namespace shown { template <class T> T generic(T v) { if (v) { return other(v); } return v; } }
class closed { int secret(); public: explicit closed(int n) : size(n) {} int open() const; private: int size; };
struct wide { int free(); operator int() const; wide &operator=(int); };
int value = call(3);
typedef int function(int);
int heddle_own();
`
	got := publicFunctions(text, func(file string) bool { return file == "/this.h" })
	if want := []string{"closed", "free", "generic", "linked", "open", "plain"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// composed are names that programs of tests put together from parts.
var composed = []string{
	// TestFP6AndFP4
	"__nv_cvt_{float,double,halfraw,bfloat16raw}_to_{fp4,fp6}", "__nv_cvt_{float2,double2,halfraw2,bfloat16raw2}_to_{fp4,fp6}x2",
	"__nv_cvt_{fp4,fp6}_to_halfraw", "__nv_cvt_{fp4,fp6}x2_to_halfraw2", "__nv_fp4_e2m1", "__nv_fp6_{e2m3,e3m2}",
}

// TestEveryFunctionIsTested: every function that the headers declare for kernels is
// named by a test.
func TestEveryFunctionIsTested(t *testing.T) {
	alltests.Only(t, "the list of tested functions")
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
	known, err := s.Clang.Architectures(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, arch := range []int{70, 80, 90} {
		if !slices.Contains(known, arch) {
			continue // an old compiler
		}
		text, err := exec.Command(s.Clang.Path, "--cuda-path="+s.Dir, "-E", "--cuda-device-only", "-std=c++17", "--no-cuda-version-check",
			"-Wno-unknown-cuda-version", fmt.Sprintf("--cuda-gpu-arch=sm_%d", arch), file).Output()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, publicFunctions(string(text), func(file string) bool {
			rel, err := filepath.Rel(s.Include(), filepath.Clean(file))
			return err == nil && slices.Contains(deviceHeaders, rel)
		})...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) < 700 {
		t.Errorf("only %d functions found", len(names))
	}
	tested := map[string]bool{}
	for _, names := range composed {
		for _, n := range expand(names, 1) {
			tested[n] = true
		}
	}
	comment := regexp.MustCompile(`(?m)^\s*//.*$| // .*$`)
	word := regexp.MustCompile(`[A-Za-z_]\w*(?:\{[\w,]*\}\w*)*`)
	for _, pattern := range []string{"*_test.go", "testdata/*_api.txt", "../*_test.go", "../../../../internal/cli/*_test.go", "../../../../internal/cli/testdata/cuda/*"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(file, "_test.go") {
				text = comment.ReplaceAll(text, nil)
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
