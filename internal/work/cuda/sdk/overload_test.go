package sdk_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

// TestOverloads: the functions of <cmath> accept floats and integers in device
// code, with and without std::, and with float arguments return what the function
// with the suffix f returns.
func TestOverloads(t *testing.T) {
	alltests.Only(t, "calls that TestMathTypes and TestMathValues make too")
	one := "acosh asin asinh acos atan atanh cbrt ceil cos cosh erf erfc exp exp2 expm1 fabs floor lgamma log log10 log1p log2 logb " +
		"nearbyint rint round sin sinh sqrt tan tanh tgamma trunc"
	two := "atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder"
	var src strings.Builder
	src.WriteString("#include <cmath>\nextern \"C\" __global__ void overloads(float *out) {\n  float x = 1.25f, y = 2.5f;\n  int i = 1, q;\n  out += 4;\n")
	n := 0
	emit := func(call, same string) {
		fmt.Fprintf(&src, "  out[%d] = (float)(%s) - (float)(%s);\n", n, call, same)
		n++
	}
	for name := range strings.FieldsSeq(one) {
		emit(name+"(x * 0.5f + (x > 2))", name+"f(x * 0.5f + (x > 2))")
		emit("std::"+name+"(y)", name+"f(y)")
		emit(name+"(i)", name+"((double)i)")
	}
	for name := range strings.FieldsSeq(two) {
		emit(name+"(x, y)", name+"f(x, y)")
		emit("std::"+name+"(y, x)", name+"f(y, x)")
		emit(name+"(x, (double)y)", name+"((double)x, (double)y)")
		emit(name+"(i, y)", name+"((double)i, (double)y)")
	}
	emit("fma(x, y, x)", "fmaf(x, y, x)")
	emit("ilogb(y)", "ilogbf(y)")
	emit("lrint(y) + lround(y) + llrint(y) + llround(y)", "lrintf(y) + lroundf(y) + llrintf(y) + llroundf(y)")
	emit("scalbn(x, 2) + scalbln(x, 2L) + ldexp(x, 1) + frexp(x, &q)", "5.0f + 5.0f + 2.5f + 0.625f")
	emit("remquo(y, x, &q)", "remquof(y, x, &q)")
	emit("isnan(nan(\"\")) + isnan(nanf(\"\"))", "2")
	src.WriteString("}\n")
	gpu := device(t, kit(t), src.String())
	out, err := heddle.Upload(gpu, "out", make([]float32, n+4))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gpu.Launch(t.Context(), "overloads", heddle.Dim(1), heddle.Dim(1), out); err != nil {
		t.Fatal(err)
	}
	got, err := heddle.Download[float32](gpu, out, n+4)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(src.String(), "\n")
	for i, v := range got[4:] {
		if v != 0 && v == v { // the difference of two NaNs is NaN
			t.Errorf("%s is off by %v", strings.TrimSpace(lines[i+5]), v)
		}
	}
}

// compilers are the newest clang, or with HEDDLE_ALL each supported one that is
// installed, with its SDK.
func compilers(t *testing.T) []sdk.SDK {
	t.Helper()
	if !alltests.On() {
		return []sdk.SDK{kit(t)}
	}
	var all []sdk.SDK
	for _, c := range clangs(t) {
		t.Setenv("HEDDLE_CLANG", c.Path)
		all = append(all, kit(t))
	}
	return all
}

// standards of C++ under the names that all supported compilers accept.
var standards = []string{"c++11", "c++14", "c++17", "c++20", "c++2b"}

// accepts compiles a program for device and host as far as checking its types.
func accepts(t *testing.T, s sdk.SDK, source string, flags ...string) error {
	t.Helper()
	file := filepath.Join(t.TempDir(), "t.cu")
	if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"--cuda-path=" + s.Dir, "-fsyntax-only", "--no-cuda-version-check", "-Wno-unknown-cuda-version",
		"--cuda-gpu-arch=sm_80", "-ferror-limit=0", file}, flags...)
	if text, err := exec.Command(s.Clang.Path, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", s.Clang.Version, strings.Join(flags, " "), err, text)
	}
	return nil
}

// TestOrderTypes: min and max have the type in which C++ would compare their
// arguments, in kernels and on the host, for every standard and wherever
// <algorithm> is included.
func TestOrderTypes(t *testing.T) {
	alltests.Only(t, "orders of atomics, compiled")
	types := []string{"int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long", "float", "double"}
	// Each type with itself, the signed with the unsigned type of one size, and
	// float with double; other pairs are ambiguous, as with nvcc.
	pairs := [][3]string{
		{"int", "unsigned int", "unsigned int"}, {"long", "unsigned long", "unsigned long"},
		{"long long", "unsigned long long", "unsigned long long"}, {"float", "double", "double"},
		{"unsigned char", "int", "int"}, {"bool", "unsigned int", "unsigned int"},
	}
	for _, typ := range types {
		pairs = append(pairs, [3]string{typ, typ, typ})
	}
	var checks strings.Builder
	for _, p := range pairs {
		for _, f := range []string{"min", "max", "::min", "::max"} {
			fmt.Fprintf(&checks, "  IS(%s, %s((%s)1, (%s)2))\n  IS(%[1]s, %[2]s((%[4]s)1, (%[3]s)2))\n", p[2], f, p[0], p[1])
		}
	}
	body := `
#include <type_traits>
#define IS(T, ...) static_assert(std::is_same<decltype(__VA_ARGS__), T>::value, "not " #T ": " #__VA_ARGS__);
static __host__ __device__ float both(float x) { IS(float, max(x, 1.75f)) return max(x, 1.75f); }
__global__ void kernel(float *out, int *n) {
` + checks.String() + `  const int &larger = max(n[0], n[1]);
  float &&smaller = min(out[0], out[1]);
  out[2] = std::max(smaller, both(out[3])) + std::min(larger, n[2]);
}
int main() {
` + checks.String() + "  return both(1) == 1.75f ? max(1, 2) : 0;\n}\n"
	alone := strings.NewReplacer("std::max", "::max", "std::min", "::min").Replace(body)
	sources := []struct{ name, text string }{
		{"alone", alone},
		{"<algorithm> first", "#include <algorithm>\n" + body},
		{"<algorithm> last", alone + "#include <algorithm>\n"},
		{"using std", "#include <algorithm>\n#include <cmath>\nusing namespace std;\n" + body},
		{"using std, <algorithm> last", "#include <utility>\nusing namespace std;\n" + alone +
			"#include <algorithm>\n__global__ void k(float *p) { p[0] = max(p[1], p[2]); }\n"},
	}
	for _, s := range compilers(t) {
		for i, src := range alltests.Some(sources, 2) {
			for k, std := range standards {
				// One standard for each source, or all.
				if k == i || alltests.On() {
					if err := accepts(t, s, src.text, "-std="+std); err != nil {
						t.Errorf("%s: %v", src.name, err)
					}
				}
			}
		}
	}
}

// TestOrderAmbiguous: ambiguous calls are refused, not converted to an integer.
func TestOrderAmbiguous(t *testing.T) {
	src := "__global__ void k(double *p) {\n"
	calls := 0
	for _, args := range []string{"1, 2.0f", "1, 2.0", "1LL, 2", "1u, 2L", "2.0f, 1u"} {
		src += "  p[0] = min(" + args + ");\n  p[1] = max(" + args + ");\n"
		calls += 2
	}
	err := accepts(t, kit(t), src+"}\n", "--cuda-device-only")
	if err == nil || strings.Count(err.Error(), "is ambiguous") != calls {
		t.Errorf("not all of %d calls are ambiguous: %v", calls, err)
	}
}
