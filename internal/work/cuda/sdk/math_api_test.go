package sdk_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

// function is an overload of testdata/math_api.txt.
type function struct {
	result, name string
	params       []param
	refs         []string // values computed by the host; none if only the type is checked
	bound        string
	domains      []string
	host, real   bool // also on the host; from a row R
	mixed, std   bool // also for integers and mixed arguments; also in std
	libc         bool // the host's is that of the C library
}

// param is a parameter, and its argument if that is not a variable.
type param struct{ typ, arg string }

var (
	columnGap = regexp.MustCompile(`\s{2,}`)
	braces    = regexp.MustCompile(`\{([^}]*)\}`)
	signature = regexp.MustCompile(`^(.*?)\s*(\w+)\((.*)\)$`)
)

// expand expands the braces of a row.
func expand(row string, n int) []string {
	at := braces.FindStringSubmatchIndex(row)
	if at == nil {
		return []string{row}
	}
	var rows []string
	for word := range strings.SplitSeq(row[at[2]:at[3]], ",") {
		one := strings.ReplaceAll(row[:at[0]]+word+row[at[1]:], fmt.Sprintf("$%d", n), word)
		rows = append(rows, expand(one, n+1)...)
	}
	return rows
}

// mathAPI reads the table of functions.
func mathAPI(t *testing.T) []function {
	t.Helper()
	text, err := os.ReadFile("testdata/math_api.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []function
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		for _, row := range expand(line, 1) {
			list = append(list, overloads(t, row)...)
		}
	}
	return list
}

// overloads returns the overloads of a row.
func overloads(t *testing.T, row string) []function {
	cols := columnGap.Split(row, -1)
	if len(cols) != 6 {
		t.Fatalf("%d columns in %q, want 6", len(cols), row)
	}
	m := signature.FindStringSubmatch(cols[0])
	if m == nil {
		t.Fatalf("no function in %q", row)
	}
	has := func(form string) bool { return strings.Contains(cols[1], form) }
	f := function{result: m[1], name: m[2], host: has("h"), domains: strings.Split(cols[5], ",")}
	for p := range strings.SplitSeq(m[3], ",") {
		typ, arg, _ := strings.Cut(strings.TrimSpace(p), "=")
		f.params = append(f.params, param{typ, arg})
		f.real = f.real || typ == "R" || typ == "const R*"
	}
	f.real = f.real || f.result == "R"
	f.libc = has("s")
	if cols[2] != "-" {
		f.refs = strings.Split(cols[2], " ; ")
	}
	if !f.real {
		f.bound = cols[3]
		if f.bound == "-" {
			f.bound = cols[4]
		}
		return []function{f}
	}
	of := func(typ, name, bound string) function {
		g := f
		g.name, g.bound, g.params = name, bound, slices.Clone(f.params)
		g.result = strings.Replace(f.result, "R", typ, 1)
		for i := range g.params {
			g.params[i].typ = strings.Replace(g.params[i].typ, "R", typ, 1)
		}
		return g
	}
	list := []function{of("double", f.name, cols[4])}
	list[0].mixed, list[0].std = has("i"), has("s")
	if has("f") {
		list = append(list, of("float", f.name+"f", cols[3]))
	}
	if has("o") {
		list = append(list, of("float", f.name, cols[3]))
		list[len(list)-1].std = has("s")
	}
	return list
}

// variables declares the variables of a call, and returns the names of its inputs
// with their types.
func (f function) variables(long bool) (decl string, inputs []param) {
	real := func(typ string) string {
		if long && f.real {
			return strings.Replace(strings.Replace(typ, "double", "long double", 1), "float", "long double", 1)
		}
		return typ
	}
	outs := 0
	for _, p := range f.params {
		switch {
		case p.arg == "v":
			typ := strings.Trim(strings.TrimPrefix(p.typ, "const "), "*")
			for i := range f.domains {
				inputs = append(inputs, param{typ, string(rune('a' + i))})
			}
			if !long {
				decl += typ + " v[] = {a, b, c};"
			}
		case p.arg != "":
		case strings.HasSuffix(p.typ, "*"):
			decl += fmt.Sprintf("%s %c = {}; (void)%[2]c;", real(strings.TrimSuffix(p.typ, "*")), 'p'+outs)
			outs++
		default:
			inputs = append(inputs, param{p.typ, string(rune('a' + len(inputs)))})
		}
	}
	reads := ""
	for i, in := range inputs {
		reads += fmt.Sprintf("const %s %s = from<%s>(in[%d]); (void)%[2]s;", real(in.typ), in.arg, in.typ, i)
	}
	return reads + decl, inputs
}

// call returns a call of the function that stores its results.
func (f function) call() (call string, stored []string) {
	var args []string
	n := 0
	for _, p := range f.params {
		switch {
		case p.arg != "":
			args = append(args, p.arg)
		case strings.HasSuffix(p.typ, "*"):
			name := string(rune('p' + len(stored)))
			stored = append(stored, name)
			args = append(args, "&"+name)
		default:
			args = append(args, string(rune('a'+n)))
			n++
		}
	}
	return f.name + "(" + strings.Join(args, ", ") + ")", stored
}

// types returns statements that hold if the function has its types.
func (f function) types() string {
	decl, _ := f.variables(false)
	call, _ := f.call()
	s := "  { " + decl + " IS(" + f.result + ", " + call + ")"
	if f.std {
		s += " IS(" + f.result + ", std::" + call + ")"
	}
	s += " }\n"
	if !f.mixed {
		return s
	}
	others := [][]string{{"int"}, {"unsigned int"}, {"char"}, {"long long"}, {"bool"}}
	var reals []int
	for i, p := range f.params {
		if p.typ == "double" {
			reals = append(reals, i)
		}
	}
	if len(reals) > 1 {
		others = [][]string{{"float", "double"}, {"double", "float"}, {"int", "float"}, {"float", "int"}, {"int", "int"}, {"unsigned int", "int"}, {"long long", "int"}}
	}
	for _, types := range others {
		g := f
		g.params = slices.Clone(f.params)
		for k, i := range reals {
			g.params[i].typ = types[k%len(types)]
		}
		decl, _ := g.variables(false)
		s += "  { " + decl + " IS(" + f.result + ", " + call + ") }\n"
	}
	return s
}

// body returns statements that store the results of a call in out.
func (f function) body() string {
	decl, _ := f.variables(false)
	call, stored := f.call()
	s, n := decl, 0
	if f.result == "void" {
		s += call + "; "
	} else {
		s += "out[0] = bits(" + call + "); "
		n++
	}
	for i, v := range stored {
		s += fmt.Sprintf("out[%d] = bits(%s); ", n+i, v)
	}
	return s
}

// results are the types of what body stores.
func (f function) results() []string {
	var types []string
	if f.result != "void" {
		types = append(types, f.result)
	}
	for _, p := range f.params {
		if p.arg == "" && strings.HasSuffix(p.typ, "*") {
			types = append(types, strings.TrimSuffix(p.typ, "*"))
		}
	}
	return types
}

// width returns the number of bits of a C type on the machines that clang's CUDA
// supports.
func width(typ string) int {
	switch {
	case typ == "bool" || typ == "char":
		return 8
	case strings.HasSuffix(typ, "long") || typ == "double":
		return 64
	}
	return 32
}

// specials are arguments that every function is tested with.
func specials(typ string) []uint64 {
	switch typ {
	case "double":
		var list []uint64
		for _, x := range []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, 3, math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, -5e-324, 0x1p-1022, math.MaxFloat64, -math.MaxFloat64} {
			list = append(list, math.Float64bits(x))
		}
		return list
	case "float":
		var list []uint64
		for _, x := range []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.5, -0.5, 2, 3, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 0x1p-149, -0x1p-149, 0x1p-126, math.MaxFloat32, -math.MaxFloat32} {
			list = append(list, uint64(math.Float32bits(x)))
		}
		return list
	}
	w := width(typ)
	return []uint64{0, 1, 2, 3, 31, 32, 33, 0xff, 0x7fff, 0x7f7f7f7f, 0x80808080, 0x7fff7fff, 0x80008000,
		1<<w - 1, 1 << (w - 1), 1<<(w-1) - 1}
}

// limits parses a range.
func limits(t *testing.T, domain string) (low, high float64, only bool) {
	a, b, ok := strings.Cut(strings.TrimSuffix(domain, "!"), ":")
	low, err1 := strconv.ParseFloat(a, 64)
	high, err2 := strconv.ParseFloat(b, 64)
	if !ok || err1 != nil || err2 != nil {
		t.Fatalf("%q is not a range", domain)
	}
	return low, high, strings.HasSuffix(domain, "!")
}

// number is the value of an argument, as far as ranges ask.
func number(typ string, bits uint64) float64 {
	switch {
	case typ == "double":
		return math.Float64frombits(bits)
	case typ == "float":
		return float64(math.Float32frombits(uint32(bits)))
	case strings.HasPrefix(typ, "unsigned"):
		return float64(bits)
	}
	shift := 64 - width(typ)
	return float64(int64(bits<<shift) >> shift)
}

// encode returns the bits of a number in a type.
func encode(typ string, x float64) uint64 {
	switch typ {
	case "double":
		return math.Float64bits(x)
	case "float":
		return uint64(math.Float32bits(float32(x)))
	}
	return uint64(int64(x))
}

// arguments draws values for the inputs of a function: all pairs of special
// values, and random ones.
func arguments(t *testing.T, rng *rand.Rand, inputs []param, domains []string) [][]uint64 {
	special := make([][]uint64, len(inputs))
	draw := make([]func() uint64, len(inputs))
	for i, in := range inputs {
		if domains[i] == "*" {
			special[i] = specials(in.typ)
			draw[i] = func() uint64 {
				switch in.typ {
				case "double":
					return rng.Uint64()
				case "float":
					return uint64(rng.Uint32())
				}
				return rng.Uint64() >> rng.IntN(64)
			}
			continue
		}
		low, high, only := limits(t, domains[i])
		for _, b := range specials(in.typ) {
			if x := number(in.typ, b); !only || x >= low && x <= high {
				special[i] = append(special[i], b)
			}
		}
		draw[i] = func() uint64 { return encode(in.typ, low+rng.Float64()*(high-low)) }
	}
	var tuples [][]uint64
	switch len(inputs) {
	case 0:
		return [][]uint64{nil}
	case 1:
		for _, a := range special[0] {
			tuples = append(tuples, []uint64{a})
		}
	case 2:
		for _, a := range special[0] {
			for _, b := range special[1] {
				tuples = append(tuples, []uint64{a, b})
			}
		}
	}
	for range 100 {
		tuple := make([]uint64, len(inputs))
		for i := range tuple {
			tuple[i] = draw[i]()
			// Signalling NaNs differ between machines.
			switch in := inputs[i]; {
			case in.typ == "double" && math.IsNaN(math.Float64frombits(tuple[i])):
				tuple[i] |= 1 << 51
			case in.typ == "float" && math.IsNaN(float64(math.Float32frombits(uint32(tuple[i])))):
				tuple[i] |= 1 << 22
			}
			if len(inputs) > 2 && len(special[i]) > 0 && rng.IntN(3) == 0 {
				tuple[i] = special[i][rng.IntN(len(special[i]))]
			}
		}
		tuples = append(tuples, tuple)
	}
	return tuples
}

// off describes how a result differs from the reference; it is empty within the
// bound.
func off(typ string, got uint64, want, bound string) string {
	if want == "skip" {
		return ""
	}
	f := math.NaN()
	var exact *big.Float
	if !strings.Contains(want, "nan") {
		var err error
		if exact, _, err = big.ParseFloat(want, 0, 128, big.ToNearestEven); err != nil {
			return err.Error()
		}
		f, _ = exact.Float64()
	}
	var ulps uint64
	var value any
	var same, equal bool
	switch typ {
	case "double":
		x := math.Float64frombits(got)
		value, ulps, equal = x, ulps64(x, f), x == f || x != x && f != f
		same = equal && (x != x || math.Signbit(x) == math.Signbit(f))
	case "float":
		x, y := math.Float32frombits(uint32(got)), float32(f)
		if exact != nil {
			y, _ = exact.Float32()
		}
		value, ulps, equal = x, ulps32(x, y), x == y || x != x && y != y
		same = equal && (x != x || math.Signbit(float64(x)) == math.Signbit(float64(y)))
	default:
		if exact == nil {
			return "no number is no " + typ
		}
		n, _ := exact.Int(nil)
		shift := 64 - width(typ)
		low := new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
		if same = got<<shift == low<<shift; !same {
			return fmt.Sprintf("%#x, want %s", got, want)
		}
		return ""
	}
	switch bound {
	case "0":
		if !same {
			return fmt.Sprintf("%v, want %s", value, want)
		}
	case "~":
		if !equal {
			return fmt.Sprintf("%v, want %s", value, want)
		}
	default:
		if most, err := strconv.ParseUint(bound, 10, 64); err != nil || ulps > most {
			return fmt.Sprintf("%v, want %s: off by %d, more than %s", value, want, ulps, bound)
		}
	}
	return ""
}

// TestMathTypes: every overload of CUDA's mathematical functions exists and has its
// type, in kernels and, if CUDA has it there, on the host.
func TestMathTypes(t *testing.T) {
	alltests.Only(t, "types of device functions, compiled")
	src := mathProgram(mathAPI(t), true)
	for _, s := range compilers(t) {
		for _, std := range standards {
			// One standard, or all.
			if std == "c++17" || alltests.On() {
				if err := accepts(t, s, src, "-std="+std); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// mathProgram returns the program that checks types, or computes.
func mathProgram(list []function, types bool) string {
	here, _ := filepath.Abs("testdata/math_api.h")
	var src strings.Builder
	fmt.Fprintf(&src, "#include \"%s\"\n#include <limits>\n", here)
	if types {
		src.WriteString("__global__ void device_types(const u64 *in) {\n")
		for _, f := range list {
			src.WriteString(f.types())
		}
		src.WriteString("}\nvoid host_types(const u64 *in) {\n")
		for _, f := range list {
			if f.host {
				src.WriteString(f.types())
			}
		}
		src.WriteString("}\n")
		return src.String()
	}
	src.WriteString("#if defined(__CUDA_ARCH__)\n")
	for i, f := range list {
		fmt.Fprintf(&src, "extern \"C\" __global__ void k%d(const u64 *in, u64 *out, int n) {\n"+
			"  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n  in += 4 * i; out += 3 * i;\n  %s\n}\n", i, f.body())
	}
	src.WriteString("#else\n")
	var table strings.Builder
	for i, f := range list {
		decl, _ := f.variables(true)
		fmt.Fprintf(&src, "static void r%d(const u64 *in) { %s", i, decl)
		for _, ref := range f.refs {
			fmt.Fprintf(&src, " show(%s);", ref)
		}
		src.WriteString(" }\n")
		host := "0"
		if f.host {
			host = fmt.Sprintf("h%d", i)
			fmt.Fprintf(&src, "static void %s(const u64 *in, u64 *out) { %s }\n", host, f.body())
		}
		fmt.Fprintf(&table, "{r%d, %s},", i, host)
	}
	src.WriteString("struct { void (*reference)(const u64 *); void (*host)(const u64 *, u64 *); } table[] = {" + table.String() + `};
int main() {
  unsigned k;
  u64 in[4];
  while (scanf("%u %llx %llx %llx %llx", &k, &in[0], &in[1], &in[2], &in[3]) == 5) {
    u64 out[3] = {};
    table[k].reference(in);
    if (table[k].host) table[k].host(in, out);
    printf(" %llx %llx %llx\n", out[0], out[1], out[2]);
  }
}
#endif
`)
	return src.String()
}

// TestMathValues: every overload of CUDA's mathematical functions returns the
// host's value within the documented bounds, in kernels and on the host. (TestMath
// checks the transcendental ones to more digits.)
func TestMathValues(t *testing.T) {
	alltests.Only(t, "the values of every function of the CUDA Math API on many arguments")
	var list []function
	for _, f := range mathAPI(t) {
		if f.refs != nil {
			list = append(list, f)
		}
	}
	src := mathProgram(list, false)
	for _, s := range compilers(t) {
		t.Run(fmt.Sprint(s.Clang.Major), func(t *testing.T) { mathValues(t, s, list, src) })
	}
}

func mathValues(t *testing.T, s sdk.SDK, list []function, src string) {
	rng := rand.New(rand.NewPCG(3, 4))
	args := make([][][]uint64, len(list))
	var ask strings.Builder
	for i, f := range list {
		_, inputs := f.variables(false)
		args[i] = arguments(t, rng, inputs, f.domains)
		for _, tuple := range args[i] {
			var in [4]uint64
			copy(in[:], tuple)
			fmt.Fprintf(&ask, "%d %x %x %x %x\n", i, in[0], in[1], in[2], in[3])
		}
	}
	want := strings.Split(strings.TrimSuffix(runHost(t, s, src, ask.String()), "\n"), "\n")
	gpu := device(t, s, src, "-std=c++17", "-O1")
	for i, f := range list {
		n := len(args[i])
		in := make([]uint64, 0, 4*n)
		for _, tuple := range args[i] {
			in = append(append(in, tuple...), make([]uint64, 4-len(tuple))...)
		}
		got := launchMath(t, gpu, fmt.Sprint("k", i), in, n)
		call, _ := f.call()
		bad := 0
		check := func(where string, k, out int, value uint64, ref string) {
			if wrong := off(f.results()[out], value, ref, f.bound); wrong != "" {
				if bad++; bad <= 3 {
					t.Errorf("%s %s of %x in %s, result %d: %s", f.result, call, args[i][k], where, out, wrong)
				}
			}
		}
		for k := range n {
			words := strings.Fields(want[0])
			want = want[1:]
			refs, host := words[:len(words)-3], words[len(words)-3:]
			for out, ref := range refs {
				check("a kernel", k, out, got[3*k+out], ref)
				if f.host && !f.libc {
					value, err := strconv.ParseUint(host[out], 16, 64)
					if err != nil {
						t.Fatal(err)
					}
					check("host code", k, out, value, ref)
				}
			}
		}
		if bad > 3 {
			t.Errorf("%s %s: and %d more", f.result, call, bad-3)
		}
	}
}

// runHost compiles the host's part of a program without kernels, and runs it.
func runHost(t *testing.T, s sdk.SDK, src, input string) string {
	t.Helper()
	dir := t.TempDir()
	file, program := filepath.Join(dir, "host.cu"), filepath.Join(dir, "host")
	if err := os.WriteFile(file, []byte(src), 0o666); err != nil {
		t.Fatal(err)
	}
	// Without optimisation nothing moves across changes of the rounding mode.
	build := exec.Command(s.Clang.Path, "--cuda-path="+s.Dir, "--cuda-host-only", "-std=c++17", "-O0", "-frounding-math", "--no-cuda-version-check",
		"-Wno-unknown-cuda-version", "-Wno-unsupported-floating-point-opt", "-o", program, file, "-L"+s.Lib(), "-lcudart", "-lm")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	// The empty library has the names that the program's start-up code refers to.
	if err := os.Symlink(filepath.Join(s.Lib(), "libcudart.so"), filepath.Join(dir, sdk.Soname)); err != nil {
		t.Fatal(err)
	}
	run := exec.Command(program)
	run.Stdin = strings.NewReader(input)
	run.Env = append(os.Environ(), "LD_LIBRARY_PATH="+dir)
	var complaint strings.Builder
	run.Stderr = &complaint
	text, err := run.Output()
	if err != nil {
		t.Fatal(err, complaint.String())
	}
	return string(text)
}

// TestHostMath: on the host, CUDA's own functions are also within a unit in the
// last place of the rounded true value.
func TestHostMath(t *testing.T) {
	names := strings.Fields("cospi erfcinv erfcx erfinv normcdf normcdfinv rcbrt rhypot rsqrt sinpi")
	refs := references(t)
	src := "#include <stdio.h>\n#include <string.h>\nint main() {\n  int k;\n  double a, b;\n  while (scanf(\"%d %la %la\", &k, &a, &b) == 3) switch (k) {\n"
	var ask strings.Builder
	for i, name := range names {
		args, argsf := "(a)", "f((float)a)"
		if name == "rhypot" {
			args, argsf = "(a, b)", "f((float)a, (float)b)"
		}
		src += fmt.Sprintf("  case %d: printf(\"%%la %%la\\n\", %s%s, (double)%[2]s%[4]s); break;\n", i, name, args, argsf)
		for _, r := range refs[name] {
			fmt.Fprintf(&ask, "%d %x %x\n", i, r.args[0], r.args[len(r.args)-1])
		}
	}
	src += "  }\n}\n"
	for _, s := range compilers(t) {
		got := strings.Fields(strings.ReplaceAll(runHost(t, s, src, ask.String()), "-nan", "nan"))
		for _, name := range names {
			bad := 0
			for _, r := range refs[name] {
				double, err1 := strconv.ParseFloat(got[0], 64)
				single, err2 := strconv.ParseFloat(got[1], 64)
				if err1 != nil || err2 != nil {
					t.Fatal(err1, err2)
				}
				got = got[2:]
				isFloat := true
				for _, x := range r.args {
					isFloat = isFloat && float64(float32(x)) == x
				}
				if d := ulps64(double, r.double); d > 1 && bad < 3 {
					bad++
					t.Errorf("clang %d: %s(%v) is %v, want %v: off by %d", s.Clang.Major, name, r.args, double, r.double, d)
				}
				if d := ulps32(float32(single), r.single); isFloat && d > 1 && bad < 3 {
					bad++
					t.Errorf("clang %d: %sf(%v) is %v, want %v: off by %d", s.Clang.Major, name, r.args, single, r.single, d)
				}
			}
		}
	}
}

// launchMath computes a function of math_api.txt on the device.
func launchMath(t *testing.T, gpu *heddle.GPU, kernel string, in []uint64, n int) []uint64 {
	t.Helper()
	a, err := heddle.Upload(gpu, "in", in)
	if err != nil {
		t.Fatal(err)
	}
	out, err := heddle.Upload(gpu, "out", make([]uint64, 3*n))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gpu.Launch(t.Context(), kernel, heddle.Dim(uint32((n+127)/128)), heddle.Dim(128), a, out, int32(n)); err != nil {
		t.Fatal(err)
	}
	got, err := heddle.Download[uint64](gpu, out, 3*n)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []heddle.Ptr{a, out} {
		if err := gpu.Free(p); err != nil {
			t.Fatal(err)
		}
	}
	return got
}

// documented reads a list of names.
func documented(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for word := range strings.FieldsSeq(line) {
			names = append(names, expand(word, 1)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// TestMathNamesOfManual: the table of mathematical functions has exactly the names
// in CUDA's manual.
func TestMathNamesOfManual(t *testing.T) {
	var names []string
	for _, f := range mathAPI(t) {
		names = append(names, f.name)
	}
	slices.Sort(names)
	sameNames(t, documented(t, "testdata/math_names.txt"), slices.Compact(names))
}

// sameNames compares sorted lists.
func sameNames(t *testing.T, manual, table []string) {
	t.Helper()
	for _, name := range manual {
		if _, ok := slices.BinarySearch(table, name); !ok {
			t.Errorf("%s is in the manual and not in the table", name)
		}
	}
	for _, name := range table {
		if _, ok := slices.BinarySearch(manual, name); !ok {
			t.Errorf("%s is in the table and not in the manual", name)
		}
	}
}

// TestHalfTypes: the functions of 16-bit numbers exist and have their types.
func TestHalfTypes(t *testing.T) {
	text, err := os.ReadFile("testdata/half_api.txt")
	if err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs("testdata/math_api.h")
	if err != nil {
		t.Fatal(err)
	}
	src := "#include \"" + here + "\"\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n__global__ void types() {\n"
	types := regexp.MustCompile(`\bH(2?)\b`)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		for _, row := range expand(line, 1) {
			m := signature.FindStringSubmatch(row)
			if m == nil {
				t.Fatalf("no function in %q", row)
			}
			for _, format := range []struct{ typ, name string }{{"__half", "half"}, {"__nv_bfloat16", "bfloat16"}} {
				var args []string
				for p := range strings.SplitSeq(types.ReplaceAllString(m[3], format.typ+"$1"), ",") {
					typ, arg, given := strings.Cut(p, "=")
					if !given {
						arg = "make<" + typ + ">()"
					}
					args = append(args, arg)
				}
				src += fmt.Sprintf("  IS(%s, %s(%s))\n", types.ReplaceAllString(m[1], format.typ+"$1"),
					strings.ReplaceAll(m[2], "half", format.name), strings.Join(args, ", "))
			}
		}
	}
	src = strings.Replace(src, "__global__", "template <class T> __device__ T make();\n__global__", 1) + "}\n"
	for _, s := range compilers(t) {
		for i, std := range standards {
			if i == 0 || alltests.On() {
				if err := accepts(t, s, src, "-std="+std, "--cuda-device-only"); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// TestCastsOfConstants: conversions of values that do not fit follow the PTX manual
// even if the compiler evaluates them.
func TestCastsOfConstants(t *testing.T) {
	casts := []struct {
		call string
		want int64
	}{
		{"__float2int_rz(1e10f)", math.MaxInt32},
		{"__float2int_rz(__int_as_float(0x7fc00000))", 0},
		{"__float2uint_rz(-1.0f)", 0},
		{"__float2ll_rz(-1e30f)", math.MinInt64},
		{"__float2ull_rz(-1e30f)", 0},
		{"__double2int_rz(-1e300)", math.MinInt32},
		{"__double2uint_rz(1e300)", math.MaxUint32},
		{"__double2ll_rz(1e300)", math.MaxInt64},
		{"__double2ull_rz(-2.5)", 0},
		{"llround(1e300)", math.MaxInt64},
		{"llroundf(1e30f)", math.MaxInt64},
		{"__float2int_rn(1e10f)", math.MaxInt32},
		{"(long long)__ll2float_rz(0x7fffffff)", 0x7fffff80},
	}
	src := "extern \"C\" __global__ void casts(long long *out) {\n"
	for i, c := range casts {
		src += fmt.Sprintf("  out[%d] = %s;\n", i, c.call)
	}
	for _, s := range compilers(t) {
		gpu := device(t, s, src+"}\n")
		out, err := heddle.Upload(gpu, "out", make([]int64, len(casts)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := gpu.Launch(t.Context(), "casts", heddle.Dim(1), heddle.Dim(1), out); err != nil {
			t.Fatal(err)
		}
		got, err := heddle.Download[int64](gpu, out, len(casts))
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range casts {
			if got[i] != c.want {
				t.Errorf("clang %d: %s is %d, want %d", s.Clang.Major, c.call, got[i], c.want)
			}
		}
	}
}
