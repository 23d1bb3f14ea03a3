package sdk_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
)

// TestOverloads: the functions of <cmath> take floats and integers in device
// code, with and without std::, and float arguments give what the function with
// an f gives.
func TestOverloads(t *testing.T) {
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
		if v != 0 && v == v { // where both are no numbers, so is the difference
			t.Errorf("%s is off by %v", strings.TrimSpace(lines[i+5]), v)
		}
	}
}
