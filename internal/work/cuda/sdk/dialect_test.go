package sdk_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

// Spellings that only nvcc accepts are converted to clang's, and everything else
// stays.
func TestClangs(t *testing.T) {
	for in, want := range map[string]string{
		"k<< <g, b>> >(x);":                    "k<<< g, b>>> (x);",
		"k<<< g, b >> >(x);":                   "k<<< g, b >>> (x);",
		"k <<\n<g, b>>\n> (x);":                "k <<<\ng, b>>>\n (x);",
		"k<< <dim3(1, 2), f(a[1] >> 2)> >>();": "k<<< dim3(1, 2), f(a[1] >> 2)>>> ();",
		"k<int> << <g, b, 0, s>> > (y)":        "k<int> <<< g, b, 0, s>>>  (y)",
		"m(k<< <1, 2>> >(3))":                  "m(k<<< 1, 2>>> (3))",
		"__shared__ alignas(16) float a[4];":   "__shared__ _Alignas(16) float a[4];",
		"__constant__\talignas(T) T c;":        "__constant__\t_Alignas(T) T c;",
		`asm("mov.u32 %0, %smid;" : "=r"(x));`: `asm("mov.u32 %0, %%smid;" : "=r"(x));`,
		`asm volatile ("mov.u64 %0, %tid.x;" "and.b32 %1, %lanemask_lt, 1;" :: "r"(a));`:                     `asm volatile ("mov.u64 %0, %%tid.x;" "and.b32 %1, %%lanemask_lt, 1;" :: "r"(a));`,
		`__asm__("mov.u32 %0, %%clock;" : "=r"(x));`:                                                         "",
		`asm("add.s32 %0, %1, %r2;" : "=r"(x) : "r"(y), "r"(z));`:                                            "",
		`asm("mov.u32 r, %clock;");`:                                                                         "", // without operands the text is literal
		`printf("%smid %s", (x) ? a : b);`:                                                                   "",
		`asm("mov.u32 %0, %smid;" : "=r"(f("%tid", x)));`:                                                    `asm("mov.u32 %0, %%smid;" : "=r"(f("%tid", x)));`,
		`extern "C"__global__ void k();`:                                                                     `extern "C" __global__ void k();`,
		`extern "C"__device__ int f(), g = "C"_s;`:                                                           `extern "C" __device__ int f(), g = "C"_s;`,
		`extern "C" __global__ void k(); s = "x"__y;`:                                                        "",
		"__attribute__((__noinline__)) int f();":                                                             "__attribute__((noinline)) int f();",
		"__attribute__((used, __noinline__)) int f();":                                                       "__attribute__((used, noinline)) int f();",
		"__device__ __noinline__ int f(int __noinline__);":                                                   "",
		`asm("add %0, %1, %2;" : "=r"(x) : "r"(a)  "r"(b));`:                                                 `asm("add %0, %1, %2;" : "=r"(x) : "r"(a),  "r"(b));`,
		"asm volatile(\"f %0, %tid.x;\" : \"+l\"(f(x))\n \"=r\"(y) : \"n\"((1)), \"l\"(b) // c\n \"r\"(d));": "asm volatile(\"f %0, %%tid.x;\" : \"+l\"(f(x)),\n \"=r\"(y) : \"n\"((1)), \"l\"(b), // c\n \"r\"(d));",
		`asm("" : [a] "=r"(x), "=" "r"(y) : : "memory" "x");`:                                                "",
		`asm("f %0, %1;" : OUT(v) "r"(v) "r" /* c */ (w) IN(x));`:                                            `asm("f %0, %1;" : OUT(v) "r"(v), "r" /* c */ (w) IN(x));`,
		`asm("f %0, %1;" : "=r"((a)(b)) "r"(v));`:                                                            `asm("f %0, %1;" : "=r"((a)(b)), "r"(v));`,
		`asm("" : "=r"(f(a) "b"));`:                                                                          "",
		"extern __shared__ SMem<A, 3> s;":                                                                    "extern __shared__ __attribute__((aligned(alignof(SMem<A,3>)))) unsigned char heddle_s[]; constexpr SMem<A, 3> &s = __builtin_constant_p(0) ? *(SMem<A,3> *)heddle_s : *(SMem<A,3> *)heddle_s;",
		"extern __shared__ __align__(16) unsigned\nlong long s ;":                                            "extern __shared__ __align__(16) __attribute__((aligned(alignof(unsigned long long)))) unsigned char heddle_s[]; constexpr unsigned\nlong long &s = __builtin_constant_p(0) ? *(unsigned long long *)heddle_s : *(unsigned long long *)heddle_s ;",
		"extern __shared__ ns::T *s;":                                                                        "extern __shared__ __attribute__((aligned(alignof(ns::T*)))) unsigned char heddle_s[]; constexpr ns::T *&s = __builtin_constant_p(0) ? *(ns::T* *)heddle_s : *(ns::T* *)heddle_s;",
		"{ extern __shared__ T s; decltype(s) a = decltype(s)::b; decltype((s)) c; } decltype(s) d;":         "{ extern __shared__ __attribute__((aligned(alignof(T)))) unsigned char heddle_s[]; constexpr T &s = __builtin_constant_p(0) ? *(T *)heddle_s : *(T *)heddle_s; __typeof__(s) a = T::b; decltype((s)) c; } decltype(s) d;",
		"extern __shared__ T s; { extern __shared__ U s; a = decltype(s)::b; } decltype(s)::c;":              "extern __shared__ __attribute__((aligned(alignof(T)))) unsigned char heddle_s[]; constexpr T &s = __builtin_constant_p(0) ? *(T *)heddle_s : *(T *)heddle_s; { extern __shared__ __attribute__((aligned(alignof(U)))) unsigned char heddle_s[]; constexpr U &s = __builtin_constant_p(0) ? *(U *)heddle_s : *(U *)heddle_s; a = U::b; } T::c;",
		"extern __shared__ T s; int a = decltype(\ns)::b;":                                                   "extern __shared__ __attribute__((aligned(alignof(T)))) unsigned char heddle_s[]; constexpr T &s = __builtin_constant_p(0) ? *(T *)heddle_s : *(T *)heddle_s; int a = T\n::b;",
		"extern __shared__ float s[];":                                                                       "",
		"extern __shared__ int a, b;":                                                                        "",
		"extern __shared__ alignas(8":                                                                        "extern __shared__ _Alignas(8",
		"extern __shared__ T":                                                                                "",
		"extern __shared__ s;":                                                                               "",
		"#define D(T, x) \\\n extern __shared__ T x;":                                                        "",
		"__shared__ T s;":              "",
		`asm("%smid" : `:               `asm("%%smid" : `,
		`asm("%smid" x; y : z`:         "",
		`asm(`:                         "",
		"k<<<g, b>>>(x);":              "",
		"x << y >> z; a < b << c;":     "",
		"a << b; c < d; f(e >> g);":    "",
		"// k<< <g, b>> >(x)\n":        "",
		"/* k<< <g, b>> >(x) */":       "",
		`s = "k<< <g, b>> >(x)";`:      "",
		`s = R"a(k<< <g, b>> >(x))a";`: "",
		`a = u8R"(" k<< <1, 2>> >(x))"; b = LR"x(")" k<< <1, 2>> >(x))x"; c = uR"()" UR"()";`: "",
		`VR"(k<< <1, 2>> >(x))"; u8R "(" k<< <1, 2>> >(y)`:                                    `VR"(k<< <1, 2>> >(x))"; u8R "(" k<<< 1, 2>>> (y)`,
		`c = '"'; s = "\"k<< <g>> >(x)";`:                                                     "",
		"friend S &operator<< <>(S &, T<U<V>> >);":                                            "",
		"alignas(16) __shared__ float a[4];":                                                  "",
		"struct alignas(16) s {};":                                                            "",
		"k<< <g, b; f(a >> >(x));":                                                            "",
		"k<< <g":                                                                              "",
		"<< <":                                                                                "",
		"/*":                                                                                  "",
		`"\`:                                                                                  "",
		`R"(`:                                                                                 "",
	} {
		got, changed := sdk.Clangs([]byte(in))
		if want == "" {
			if changed || string(got) != in {
				t.Errorf("%q became %q", in, got)
			}
			continue
		}
		if !changed || string(got) != want {
			t.Errorf("%q became %q, not %q", in, got, want)
		}
		if strings.Count(in, "\n") != strings.Count(want, "\n") {
			t.Errorf("%q: lines moved", in)
		}
	}
}

// TestClusterDims: kernels have the directive for the size of their clusters from sm_90 on,
// wherever __cluster_dims__ is.
func TestClusterDims(t *testing.T) {
	alltests.Only(t, "attributes of clusters, compiled")
	const source = `
#define PAIR __cluster_dims__(2, 1, 1)
extern "C" __global__ void PAIR by_macro(int *out) { *out = 1; }
extern "C" __global__ void __cluster_dims__(4, // wide
                                            2 /* high */) declared(int *out);
extern "C" __global__ void declared(int *out) { *out = 2; }
template <int n> __global__ void __cluster_dims__(1, 1, n + 1) of_template(int *out) { *out = n; }
template __global__ void of_template<2>(int *);
__attribute__((annotate("other"))) __attribute__((annotate("heddle", 7))) __device__ int noted;
extern "C" __global__ void __launch_bounds__(64) plain(int *out) { *out = noted; }
namespace { __global__ void __cluster_dims__(3) hidden(int *out) { *out = 3; } }
void (*use)(int *) = hidden;
`
	directive := regexp.MustCompile(`(?m)\.entry (\w+)\([^{]*?(?:\.reqnctapercluster (\d+, \d+, \d+) )?\{`)
	for _, s := range compilers(t) {
		for arch, clusters := range map[string]bool{"sm_80": false, "sm_90": true} {
			known, err := s.Clang.Architectures(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if clusters && !slices.Contains(known, 90) {
				continue // an old compiler
			}
			dir := t.TempDir()
			in, out := filepath.Join(dir, "t.cu"), filepath.Join(dir, "t.ptx")
			if err := os.WriteFile(in, []byte(source), 0o666); err != nil {
				t.Fatal(err)
			}
			call := func(args ...string) error {
				if text, err := s.Clang.Command(t.Context(), args...).CombinedOutput(); err != nil {
					return fmt.Errorf("%w\n%s", err, text)
				}
				return nil
			}
			if err := s.PTX(call, arch, append(s.ReadingFlags("cuda"), "-O2"), in, dir, out); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, m := range directive.FindAllStringSubmatch(string(text), -1) {
				name := m[1]
				for _, part := range []string{"of_template", "hidden"} { // without what surrounds them in linker names
					if strings.Contains(name, part) {
						name = part
					}
				}
				got[name] = m[2]
			}
			want := map[string]string{"by_macro": "2, 1, 1", "declared": "4, 2, 1", "of_template": "1, 1, 3", "plain": "", "hidden": "3, 1, 1"}
			if !clusters {
				for name := range want {
					want[name] = ""
				}
			}
			if !maps.Equal(got, want) {
				t.Errorf("%s, %s: sizes %v, want %v", s.Clang.Version, arch, got, want)
			}
		}
	}
}

// TestDynamicVariable: a variable in the dynamic shared memory is one object, in lambdas too,
// and names its type.
func TestDynamicVariable(t *testing.T) {
	alltests.Only(t, "initialised variables, compiled")
	const source = `
struct S { enum { n = 4 }; int v[4]; };
template <class T> struct U { T v[4]; };
template <class F> __device__ int call(F f) { __syncthreads(); return f(); }
extern "C" __global__ void lambdas(int *out) {
  extern __shared__ S s;
  s.v[threadIdx.x] = 1;
  auto copies = [=] { return s.v[threadIdx.x]; };
  auto names = [] { return s.v[3 - threadIdx.x]; };
  auto refers = [&] { return s.v[threadIdx.x]; };
  __syncthreads();
  s.v[threadIdx.x] = 2 + threadIdx.x;
  out[threadIdx.x] = call(copies) + 10 * call(names) + 100 * call(refers);
}
extern "C" __global__ void types(int *out) {
  extern __shared__ S s;
  s.v[threadIdx.x] = 1;
  decltype(s) copy = s;
  s.v[threadIdx.x] = 2;
  out[threadIdx.x] = copy.v[threadIdx.x] + 10 * decltype(s)::n;
}
template <class T> __device__ void of(int *out) {
  extern __shared__ U<T> s;
  s.v[threadIdx.x] = (T)1.5;
  auto twice = [=] { return 2 * s.v[threadIdx.x]; };
  out[threadIdx.x] = (int)(twice() + 10 * sizeof(decltype(s)));
}
extern "C" __global__ void templates(int *out) { of<double>(out); __syncthreads(); of<float>(out + 4); }
#if __clang_major__ > 14
extern __shared__ S everywhere;
extern "C" __global__ void file(int *out) {
  everywhere.v[threadIdx.x] = 5 + threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = everywhere.v[3 - threadIdx.x];
}
#endif
`
	for _, s := range compilers(t) {
		text, changed := sdk.Clangs([]byte(source))
		if !changed {
			t.Fatal("nothing is converted")
		}
		gpu := device(t, s, string(text), "-std=c++14")
		for kernel, want := range map[string][]int32{
			"lambdas":   {252, 343, 434, 525},
			"types":     {41, 41, 41, 41},
			"templates": {3 + 320, 3 + 320, 3 + 320, 3 + 320, 3 + 160, 3 + 160, 3 + 160, 3 + 160},
			"file":      {8, 7, 6, 5},
		} {
			if kernel == "file" && s.Clang.Major == 14 {
				continue
			}
			out, err := heddle.Upload(gpu, "out", make([]int32, len(want)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := gpu.LaunchWith(t.Context(), kernel, heddle.LaunchConfig{Grid: heddle.Dim(1), Block: heddle.Dim(4), Shared: 64}, out); err != nil {
				t.Fatalf("%s, %s: %v", s.Clang.Version, kernel, err)
			}
			if got, err := heddle.Download[int32](gpu, out, len(want)); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s, %s: %v, %v, want %v", s.Clang.Version, kernel, got, err, want)
			}
		}
	}
}

// Included files are converted too, each once, and only changed files are copied.
func TestOverlay(t *testing.T) {
	dir, tmp := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"a.cu":       "#include \"b.cuh\"\n#include <c.h>\n#include \"none.h\"\n#include \"e.h\"\n",
		"b.cuh":      "#include \"a.cu\"\nvoid f() { k<< <1, 2>> >(); }\n",
		"inc/c.h":    "# include \"../d.h\"\n",
		"d.h":        "void g() { k<<<1, 2>> >(); }\n",
		"unused.cuh": "void h() { k<< <1, 2>> >(); }\n",
		"plain.cu":   "#include \"c.h\"\n",
		"e.h":        "#include FIRST\n#define FIRST \"inc/f.h\"\n#define SECOND <g.h>\n#include SECOND\n#include NONE\n",
		"inc/f.h":    "void i() { k<< <1, 2>> >(); }\n",
		"inc/g.h":    "void j() { k<< <1, 2>> >(); }\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := sdk.Overlay(tmp, []string{filepath.Join(dir, "a.cu")}, []string{filepath.Join(dir, "inc")})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(overlay)
	if err != nil {
		t.Fatal(err)
	}
	for name, there := range map[string]bool{"b.cuh": true, "d.h": true, "f.h": true, "g.h": true, "e.h": false, "a.cu": false, "c.h": false, "unused.cuh": false} {
		if got := strings.Contains(string(text), `/`+name+`"`); got != there {
			t.Errorf("%s in the overlay: %v, want %v\n%s", name, got, there, text)
		}
	}
	if overlay, err := sdk.Overlay(t.TempDir(), []string{filepath.Join(dir, "plain.cu"), filepath.Join(dir, "no.cu")}, nil); overlay != "" || err != nil {
		t.Errorf("overlay %q, error %v where nothing changes", overlay, err)
	}
}

func FuzzClangs(f *testing.F) {
	f.Add("extern __shared__ T s; { extern __shared__ T<U> s; decltype(\ns)::a; decltype(s)::b; } asm(\"%tid\" : \"=r\"(x) \"r\"(y))")
	f.Add("k<< <g, b>> >(x); __shared__ alignas(16) float a[4]; // \"\n R\"x(y)x\" 'a'")
	f.Fuzz(func(t *testing.T, in string) {
		got, _ := sdk.Clangs([]byte(in))
		if strings.Count(string(got), "\n") != strings.Count(in, "\n") {
			t.Errorf("%q became %q: lines moved", in, got)
		}
	})
}
