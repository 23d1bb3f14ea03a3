package sdk_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
		`asm("" : "=r"(f(a) "b"));`:                                                                          "",
		"extern __shared__ SMem<A, 3> s;":                                                                    "extern __shared__ __attribute__((aligned(alignof(SMem<A,3>)))) unsigned char heddle_s[]; SMem<A, 3> &s = *(SMem<A,3> *)heddle_s;",
		"extern __shared__ __align__(16) unsigned\nlong long s ;":                                            "extern __shared__ __align__(16) __attribute__((aligned(alignof(unsigned long long)))) unsigned char heddle_s[]; unsigned\nlong long &s = *(unsigned long long *)heddle_s ;",
		"extern __shared__ ns::T *s;":                                                                        "extern __shared__ __attribute__((aligned(alignof(ns::T*)))) unsigned char heddle_s[]; ns::T *&s = *(ns::T* *)heddle_s;",
		"extern __shared__ float s[];":                                                                       "",
		"extern __shared__ int a, b;":                                                                        "",
		"extern __shared__ alignas(8":                                                                        "extern __shared__ _Alignas(8",
		"extern __shared__ T":                                                                                "",
		"extern __shared__ s;":                                                                               "",
		"__global__ void __cluster_dims__(2, N::y(1, 2)) k(int a = f(1)) { g(); }":                           `__global__ void __cluster_dims__(2, N::y(1, 2)) k(int a = f(1)) { asm volatile("// heddle.cluster %0 %1 %2" : : "n"((int)(2)), "n"((int)(N::y(1, 2))), "n"((int)(1))); g(); }`,
		"__cluster_dims__(1) void k(); void g() {}":                                                          "",
		"#define C \\\n __cluster_dims__(2)\nvoid g() {}":                                                    "",
		"__cluster_dims__ void g() {} __cluster_dims__(2, {}":                                                "",
		"__shared__ T s;":                                                                                    "",
		`asm("%smid" : `:                                                                                     `asm("%%smid" : `,
		`asm("%smid" x; y : z`:                                                                               "",
		`asm(`:                                                                                               "",
		"k<<<g, b>>>(x);":                                                                                    "",
		"x << y >> z; a < b << c;":                                                                           "",
		"a << b; c < d; f(e >> g);":                                                                          "",
		"// k<< <g, b>> >(x)\n":                                                                              "",
		"/* k<< <g, b>> >(x) */":                                                                             "",
		`s = "k<< <g, b>> >(x)";`:                                                                            "",
		`s = R"a(k<< <g, b>> >(x))a";`:                                                                       "",
		`c = '"'; s = "\"k<< <g>> >(x)";`:                                                                    "",
		"friend S &operator<< <>(S &, T<U<V>> >);":                                                           "",
		"alignas(16) __shared__ float a[4];":                                                                 "",
		"struct alignas(16) s {};":                                                                           "",
		"k<< <g, b; f(a >> >(x));":                                                                           "",
		"k<< <g":                                                                                             "",
		"<< <":                                                                                               "",
		"/*":                                                                                                 "",
		`"\`:                                                                                                 "",
		`R"(`:                                                                                                "",
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

// A note in a kernel becomes its directive, from sm_90 on.
func TestClusterDims(t *testing.T) {
	const before = ".visible .entry a(\n)\n.maxntid 32\n{\n\t// heddle.cluster 2 1 4\n\t{\n\t// heddle.cluster 2 1 4\n\tret;\n}\n.visible .entry b(\n)\n{\n\tret;\n}\n"
	const after = ".visible .entry a(\n)\n.maxntid 32\n.reqnctapercluster 2, 1, 4 {\n\t// heddle.cluster 2 1 4\n\t{\n\t// heddle.cluster 2 1 4\n\tret;\n}\n.visible .entry b(\n)\n{\n\tret;\n}\n"
	for arch, want := range map[string]string{"sm_90a": after, "sm_100": after, "sm_89": before} {
		if got := string(sdk.ClusterDims([]byte(before), arch)); got != want {
			t.Errorf("%s: it became\n%s", arch, got)
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
	f.Add("k<< <g, b>> >(x); __shared__ alignas(16) float a[4]; // \"\n R\"x(y)x\" 'a'")
	f.Fuzz(func(t *testing.T, in string) {
		got, _ := sdk.Clangs([]byte(in))
		if strings.Count(string(got), "\n") != strings.Count(in, "\n") {
			t.Errorf("%q became %q: lines moved", in, got)
		}
	})
}
