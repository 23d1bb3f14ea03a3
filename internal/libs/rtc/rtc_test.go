package rtc

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

func TestOptions(t *testing.T) {
	const fast, approximate = "-fgpu-flush-denormals-to-zero", "-fcuda-approx-transcendentals"
	for _, c := range []struct {
		options []string
		arch    string
		flags   []string
	}{
		{nil, "sm_52", nil},
		{[]string{"--gpu-architecture=compute_70"}, "sm_70", nil},
		{[]string{"--gpu-architecture", "compute_86"}, "sm_86", nil},
		{[]string{" -arch=sm_90a "}, "sm_90a", nil},
		{[]string{"-arch sm_80"}, "sm_80", nil},
		{[]string{"-Ia", "-I", "b c", "-I d", "-I=e", "--include-path=f", "--include-path", "g"}, "sm_52", []string{"-Ia", "-Ib c", "-Id", "-Ie", "-If", "-Ig"}},
		{[]string{"-DA", "-D", "B=1", "-D C=2 3", "--define-macro=D=4", "-UE", "--undefine-macro=F"}, "sm_52", []string{"-DA", "-DB=1", "-DC=2 3", "-DD=4", "-UE", "-UF"}},
		{[]string{"--pre-include=a.h", "-include", "b.h"}, "sm_52", []string{"-include", "a.h", "-include", "b.h"}},
		{[]string{"--std=c++14"}, "sm_52", []string{"-std=c++14"}},
		{[]string{"-std=c++20", "-w"}, "sm_52", []string{"-std=c++20", "-w"}},
		{[]string{"--use_fast_math"}, "sm_52", []string{fast, approximate}},
		{[]string{"-ftz=true", "--fmad=false", "--prec-div", "true", "-prec-sqrt=false"}, "sm_52", []string{fast, "-ffp-contract=off"}},
		{[]string{"-lineinfo"}, "sm_52", []string{"-gline-tables-only"}},
		{[]string{"--generate-line-info", "--device-debug"}, "sm_52", []string{"-gline-tables-only", "-g"}},
		{[]string{"-rdc=true"}, "sm_52", []string{"-fgpu-rdc"}},
		{[]string{"--relocatable-device-code=false"}, "sm_52", nil},
		{[]string{"--device-c"}, "sm_52", []string{"-fgpu-rdc"}},
		{[]string{"--maxrregcount=32", "--restrict", "--ptxas-options", "-v", "-pch", "--diag-suppress=177", "-builtin-move-forward=true"}, "sm_52", nil},
	} {
		s, err := parse(c.options)
		if err != nil || s.arch != c.arch || !slices.Equal(s.flags, c.flags) {
			t.Errorf("%q: %v, for %s with %q; want %s with %q", c.options, err, s.arch, s.flags, c.arch, c.flags)
		}
	}
	for _, c := range []struct{ options, says string }{
		{"--gpu-architectur=compute_70", `unrecognized option "--gpu-architectur=compute_70"; did you mean "--gpu-architecture"?`},
		{"--relocatable-device-cod=true", `did you mean "--relocatable-device-code"?`},
		{"--outputt-file=a", `unrecognized option "--outputt-file=a"`},
		{"-O3", `unrecognized option "-O3"`},
		{"saxpy.cu", `unrecognized option "saxpy.cu"`},
		{"", `unrecognized option ""`},
		{"-arch=70", "want compute_XX or sm_XX"},
		{"-arch=compute_", "want compute_XX or sm_XX"},
		{"-arch=compute_70,sm_70", "want compute_XX or sm_XX"},
		{"-arch", "a value is missing"},
		{"-arch=", "a value is missing"},
		{"-I", "a value is missing"},
		{"-lineinfo=1", "-lineinfo has no value"},
		{"--ftz=yes", "want true or false"},
		{"-rdc=maybe", "want true or false"},
		{"--std=c++98", "want one of c++03, c++11, c++14, c++17, c++20"},
		{"--maxrregcount=many", "not a number of registers"},
		{"-dlto", "intermediate representations are not generated"},
	} {
		if _, err := parse([]string{c.options}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v; want %q", c.options, err, c.says)
		}
	}
}

// kits is the folder of all tests' SDKs: unpacking one compiles its mathematics.
var kits string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "heddle-rtc-")
	if err != nil {
		panic(err)
	}
	kits = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// libraries returns a library for each installed compiler, by default for one.
func libraries(t *testing.T) map[string]*Library {
	t.Helper()
	if testing.Short() {
		t.Skip("compiling takes long")
	}
	list := map[string]*Library{}
	for _, clang := range alltests.Some(sdk.Installed(t.Context()), 1) {
		kit, err := sdk.UnpackAt(t.Context(), kits, clang, "")
		if err != nil {
			t.Fatal(err)
		}
		l := New(io.Discard)
		l.kit = func() (sdk.SDK, error) { return kit, nil }
		list[filepath.Base(clang.Path)] = l
	}
	if len(list) == 0 {
		t.Skip("no clang is installed")
	}
	return list
}

// release is that of NVRTC, 12.4: it is not the headers' own.
const release = 12040

const saxpy = `extern "C" __global__ void saxpy(float a, float *x, float *y, float *out, size_t n) {
  size_t tid = blockIdx.x * blockDim.x + threadIdx.x;
  if (tid < n)
    out[tid] = a * x[tid] + y[tid];
}
`

// TestCompile: sources, headers and options, and what their PTX or their log contains.
func TestCompile(t *testing.T) {
	cases := []struct {
		name, file, source string
		headers            []Header
		options            []string
		want               Result
		ptx, log           string // regular expressions
		rare               bool
	}{
		{
			name: "a kernel", file: "saxpy.cu", source: saxpy, options: []string{"--gpu-architecture=compute_70", "--fmad=true"},
			ptx: `(?s)\.target sm_70.*\.visible \.entry saxpy\(.*fma\.rn\.f32`, log: `^$`,
		},
		{
			name: "an error has the line of the user's file", file: "my file.cu", source: saxpy + "__global__ void broken(int *p) {\n  *p = missing;\n}\n",
			want: Compilation, log: `(?s)^my file\.cu\(7\): error: .*missing.*1 error detected in the compilation of "my file\.cu"\.\n$`,
		},
		{
			name: "an unnamed program", source: "int x = ;\n", rare: true,
			want: Compilation, log: `(?m)^default_program\(1\): error: `,
		},
		{
			name: "a missing header", file: "a.cu", source: "#include \"first.h\"\n", headers: []Header{{"first.h", "\n#include <second.h>\n"}},
			want: Compilation, log: `(?m)^first\.h\(2\): catastrophic error: cannot open source file "second\.h"$`,
		},
		{
			name: "headers in memory", file: "a.cu",
			source: "#include \"a.h\"\n#include <dir/b.h>\n#include \"/no/such/folder/c.h\"\n#include \"../d.h\"\nextern \"C\" __global__ void k(int *p) { *p = A + B + C + D + E; }\n",
			headers: []Header{
				{"a.h", "#define A 1"}, {"dir/b.h", "#include \"e.h\"\n#define B 20\n"}, {"dir/e.h", "#pragma once\n#define E 50000\n"},
				{"/no/such/folder/c.h", "#define C 300\n"}, {"../d.h", "#define D 4000\n"}, {"", "unused"},
			},
			ptx: `54321`, log: `^$`,
		},
		{
			name: "standard headers are the compiler's", file: "a.cu", rare: true,
			source:  "#include <cstdint>\n#include <type_traits>\n#include <stdint.h>\nextern \"C\" __global__ void k(uint64_t *p) { *p = std::is_same<int64_t, long>::value; }\n",
			headers: []Header{{"cstdint", "#error cstdint"}, {"type_traits", "#error type_traits"}, {"stdint.h", "#error stdint.h"}},
			log:     `^$`,
		},
		{
			name: "the names of stdint.h are free", file: "a.cu", rare: true,
			source: "typedef long long int64_t; typedef unsigned long long uint64_t; typedef int int32_t;\nextern \"C\" __global__ void k(uint64_t *p) { *p = sizeof(int64_t) + sizeof(int32_t); }\n",
			log:    `^$`,
		},
		{
			name: "headers that heddle cc has", file: "a.cu", rare: true, options: []string{"-arch=compute_80"},
			source: "#include <cstdint>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cooperative_groups.h>\n#include <cuda/atomic>\n#include <mma.h>\n#include <curand_kernel.h>\n" +
				"extern \"C\" __global__ void k(__half *p) { cooperative_groups::this_thread_block().sync(); *p = __float2half(2.f); }\n",
			ptx: `bar\.sync`, log: `^$`,
		},
		{
			name: "macros", file: "a.cu", rare: true, options: []string{"-DN=256", "-D", "T=float", "-DX", "-UX"},
			source: "#ifdef X\n#error X\n#endif\n#if !defined __CUDACC_RTC__ || !__CUDACC__ || defined __NVCC__\n#error macros\n#endif\n" +
				"#if __CUDACC_VER_MAJOR__ != 12 || __CUDACC_VER_MINOR__ != 4 || CUDA_VERSION != 12040 || CUDART_VERSION != 12040\n#error release\n#endif\nextern \"C\" __global__ void k(T *p) { __shared__ T s[N]; s[threadIdx.x] = *p; __syncthreads(); *p = s[7]; }\n",
			ptx: `\[1024\]`, log: `^$`,
		},
		{
			name: "default execution space", file: "a.cu", rare: true, options: []string{"-default-device"},
			source: "int twice(int x) { return 2 * x; }\nextern \"C\" __global__ void k(int *p) { *p = twice(*p); }\n",
			log:    `^$`,
		},
		{
			name: "without it the host's", file: "a.cu", rare: true,
			source: "int twice(int x) { return 2 * x; }\nextern \"C\" __global__ void k(int *p) { *p = twice(*p); }\n",
			want:   Compilation, log: `(?ms)^a\.cu\(2\): error: .*a\.cu\(1\): note: [^\n]*__host__ function`,
		},
		{
			name: "the host may write what is internal", file: "a.cu", rare: true,
			source: "static __constant__ int c[3];\nnamespace { __device__ int d[3]; }\n__constant__ int e = 7;\nstatic const int f[2] = {10, 20};\nextern \"C\" __global__ void k(int *p) { p[0] = c[2]; p[1] = d[2]; p[2] = e; p[3] = f[1]; }\n",
			ptx:    `(?s)^(?:.*\.const [^\n]* c\[12\];|.*\.global [^\n]* _ZN12_GLOBAL__N_11dE\[12\];|.*\.const [^\n]* e = 7;){3}.*ld\.const\.[^\n]*\[c\+8\].*ld\.global\.[^\n]*_ZN12_GLOBAL__N_11dE.*ld\.const\.[^\n]*e\].*\b20;.*$`, log: `^$`,
		},
		{
			name: "nvcc's spelling", file: "a.cu", rare: true,
			source: "extern \"C\"__global__ void k(int *p) { __shared__ alignas(16) int s[4]; s[0] = *p; __syncthreads(); asm(\"mov.u32 %0, %smid;\" : \"=r\"(*p)); }\n",
			ptx:    `%smid`, log: `^$`,
		},
		{
			name: "lines", file: "a.cu", options: []string{"-lineinfo"}, rare: true, source: saxpy,
			ptx: `(?s)\.loc\s+1 4 .*\.file\s+1 "[^"]*a\.cu"`, log: `^$`,
		},
		{
			name: "an unknown option", file: "a.cu", source: saxpy, options: []string{"--fast"},
			want: InvalidOption, log: `unrecognized option "--fast"`,
		},
		{
			name: "an unknown architecture", file: "a.cu", source: saxpy, options: []string{"-arch=compute_777"}, rare: true,
			want: Compilation, log: `sm_777`,
		},
		{
			name: "a warning", file: "a.cu", rare: true, source: "#warning careful\n" + saxpy,
			ptx: `saxpy`, log: `^a\.cu\(1\): warning: careful`,
		},
		{name: "no warnings", file: "a.cu", rare: true, source: "#warning careful\n" + saxpy, options: []string{"-w"}, ptx: `saxpy`, log: `^$`},
		{name: "nothing", file: "a.cu", ptx: `\.target sm_52`, log: `^$`, rare: true},
		{name: "a header too far up", file: "a.cu", source: saxpy, headers: []Header{{strings.Repeat("../", 40) + "h", ""}}, want: InternalError, log: `too many parts`},
	}
	here, err := os.Getwd() // where a.cu would be
	if err != nil {
		t.Fatal(err)
	}
	for compiler, l := range libraries(t) {
		for _, c := range cases {
			if c.rare && !alltests.On() {
				continue
			}
			t.Run(compiler+"/"+c.name, func(t *testing.T) {
				h := l.Create(c.file, c.source, c.headers)
				res := l.Compile(t.Context(), h, release, c.options)
				log, _ := l.Log(h)
				text, ptxRes := l.PTX(h)
				if res != c.want || !regexp.MustCompile(c.log).MatchString(log) {
					t.Errorf("%v with the log\n%s\nwant %v and %q", res, log, c.want, c.log)
				}
				if ok := ptxRes == Success; ok != (c.want == Success) || ok && !regexp.MustCompile(c.ptx).Match(text) {
					t.Errorf("PTX: %v\n%s\nwant %q", ptxRes, text, c.ptx)
				}
				if all := strings.ReplaceAll(log+"\n"+string(text), here, ""); strings.Contains(all, os.TempDir()) || strings.Contains(all, "heddle") {
					t.Errorf("more than the program's own appears:\n%s", all)
				}
				if res := l.Destroy(h); res != Success {
					t.Error(res)
				}
			})
		}
	}
}

// TestNames: name expressions are instantiated, and their names are those of the PTX.
func TestNames(t *testing.T) {
	const source = `template <typename T> __global__ void fill(T *p, int n) { p[n] = T(1); }
extern "C" __global__ void plain(int *p) { *p = 1; }
namespace ns {
template <typename T> __device__ T pi = T(3);
__constant__ int table[4];
__global__ void over(float *p) { *p = 3; }
struct S { int x; };
}
__device__ int counter = 3;
template <int N, typename T> __global__ void two(T) {}
static __constant__ int factors[4];
static __device__ int hidden = 5;
static __device__ int sum;
extern "C" __device__ __noinline__ int plain_hidden(int n) { return n + hidden + sum; }
static __global__ void inner(int *p) { *p = plain_hidden(factors[0]); }
`
	// The names follow from the Itanium C++ ABI.
	names := map[string]string{
		"fill<float>": "_Z4fillIfEvPT_i", "&fill<double>": "_Z4fillIdEvPT_i", "plain": "plain", "&ns::pi<double>": "_ZN2ns2piIdEE",
		"ns::over": "_ZN2ns4overEPf", " & counter": "counter", "&ns::table": "_ZN2ns5tableE", "two<(3 > 2), ns::S>": "_Z3twoILi1EN2ns1SEEvT0_",
		// Static variables have the names of the source.
		"&factors": "factors", "&hidden": "hidden", "&sum": "sum", "inner": "_ZL5innerPi",
	}
	for compiler, l := range libraries(t) {
		for _, std := range alltests.Some([]string{"-default-device", "--std=c++17", "--std=c++11", "--std=c++20"}, 2) {
			t.Run(compiler+"/"+std, func(t *testing.T) {
				h := l.Create("names.cu", source, nil)
				for e := range names {
					if res := l.AddName(h, e); res != Success {
						t.Fatal(e, res)
					}
				}
				if _, res := l.LoweredName(h, "plain"); res != NoLoweredNamesBeforeCompilation {
					t.Errorf("before the compilation: %v", res)
				}
				if res := l.Compile(t.Context(), h, release, []string{std}); res != Success {
					log, _ := l.Log(h)
					t.Fatalf("%v\n%s", res, log)
				}
				text, _ := l.PTX(h)
				for e, want := range names {
					if name, res := l.LoweredName(h, e); name != want || res != Success || !regexp.MustCompile(`(?m)^\.(?:visible|weak|const) .*[ ]`+regexp.QuoteMeta(want)+`\b`).Match(text) {
						t.Errorf("%q: %q, %v; want %q, in\n%s", e, name, res, want, text)
					}
				}
				if strings.Contains(string(text), "heddle") {
					t.Errorf("more than the program's own is in the PTX:\n%s", text)
				}
				if _, res := l.LoweredName(h, "fill<int>"); res != NameExpressionNotValid {
					t.Errorf("an expression that was not added: %v", res)
				}
				if res := l.AddName(h, "fill<int>"); res != NoNameExpressionsAfterCompiling {
					t.Errorf("adding after the compilation: %v", res)
				}
			})
		}
		for e, says := range map[string]string{
			"fill<nothing>": `(?m)^name expression 1\(1\): error: `,
			"nothing":       `(?m)^name expression 1\(1\): error: `,
			"plain); }":     `error: `,
			"nullptr":       `name expression 1: error: .*: nullptr`,
			"":              `error: `,
		} {
			if !alltests.On() && e != "nullptr" {
				continue
			}
			h := l.Create("names.cu", source, nil)
			l.AddName(h, e)
			res := l.Compile(t.Context(), h, release, nil)
			if log, _ := l.Log(h); res != Compilation || !regexp.MustCompile(says).MatchString(log) {
				t.Errorf("%s: expression %q: %v\n%swant %q", compiler, e, res, log, says)
			}
			if _, res := l.PTX(h); res != InvalidProgram {
				t.Errorf("%s: expression %q: there is PTX: %v", compiler, e, res)
			}
		}
	}
}

// TestCUBIN: for a GPU there is a fat binary, for a virtual architecture nothing.
func TestCUBIN(t *testing.T) {
	for compiler, l := range libraries(t) {
		for arch, want := range map[string]bool{"compute_70": false, "sm_70": true} {
			h := l.Create("saxpy.cu", saxpy, nil)
			if res := l.Compile(t.Context(), h, release, []string{"-arch=" + arch}); res != Success {
				t.Fatal(compiler, res)
			}
			image, res := l.CUBIN(h)
			if res != Success || want != strings.Contains(string(image), ".entry saxpy(") || !want && len(image) > 0 {
				t.Errorf("%s, %s: %v, %d bytes", compiler, arch, res, len(image))
			}
		}
		list, res := l.Architectures()
		if res != Success || !slices.IsSorted(list) || list[0] != 50 || !slices.Contains(list, 86) {
			t.Errorf("%s knows %v, %v", compiler, list, res)
		}
	}
}

// TestWithoutClang: the log and one line for the user say what to install.
func TestWithoutClang(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("HEDDLE_CLANG", "")
	var out strings.Builder
	l := New(&out)
	h := l.Create("saxpy.cu", saxpy, nil)
	for range 2 {
		if res := l.Compile(t.Context(), h, release, nil); res != BuiltinOperationFailure {
			t.Error(res)
		}
	}
	if log, _ := l.Log(h); !strings.Contains(log, "apt-get install clang") || strings.Count(out.String(), "apt-get install clang") != 1 {
		t.Errorf("the log is\n%s\nthe user reads\n%s", log, &out)
	}
}

func TestHandles(t *testing.T) {
	l := New(io.Discard)
	known := l.Create("", "", nil)
	if known == 0 || l.Known(known) != Success {
		t.Fatal("a program has no handle")
	}
	for _, h := range []uint64{0, 1, known + 1, ^uint64(0)} {
		_, ptx := l.PTX(h)
		_, log := l.Log(h)
		_, cubin := l.CUBIN(h)
		_, name := l.LoweredName(h, "")
		for _, res := range []Result{l.Compile(t.Context(), h, release, nil), l.AddName(h, ""), l.Destroy(h), l.Known(h), l.Unsupported(h, "x"), ptx, log, cubin, name} {
			if res != InvalidProgram {
				t.Errorf("handle %#x: %v", h, res)
			}
		}
	}
	if l.Destroy(known) != Success || l.Destroy(known) != InvalidProgram {
		t.Error("a program ends once")
	}
}

func TestResults(t *testing.T) {
	for r, want := range map[Result]string{0: "NVRTC_SUCCESS", 5: "NVRTC_ERROR_INVALID_OPTION", 11: "NVRTC_ERROR_INTERNAL_ERROR", 17: "NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED", 18: "NVRTC_ERROR unknown (18)", -1: "NVRTC_ERROR unknown (-1)"} {
		if r.String() != want {
			t.Errorf("%d is %s, want %s", int32(r), r, want)
		}
	}
}
