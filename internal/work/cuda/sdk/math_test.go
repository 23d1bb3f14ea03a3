package sdk_test

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

// kits is the folder of the SDKs of these tests: one for each compiler.
var kits string

func TestMain(m *testing.M) {
	var err error
	if kits, err = os.MkdirTemp("", "heddle-sdk"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := os.RemoveAll(kits); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// kit unpacks an SDK for the newest clang, or skips the test if there is none.
func kit(t *testing.T) sdk.SDK {
	t.Helper()
	clang, err := sdk.FindClang(context.Background())
	if err != nil {
		t.Skip(err)
	}
	s, err := sdk.UnpackAt(context.Background(), kits, clang, os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ptxFile compiles device code and returns the name of a file with its PTX.
func ptxFile(t *testing.T, s sdk.SDK, source string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "t.cu"), filepath.Join(dir, "t.ptx")
	if err := os.WriteFile(in, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	args := deviceFlags(s, flags)
	if common := strings.Join(flags, " "); common == "" || common == "-std=c++17" {
		args = append(args, "-Xclang", "-include-pch", "-Xclang", precompiled(t, s, flags))
	}
	args = append(args, "-o", out, in)
	if text, err := exec.Command(s.Clang.Path, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

// deviceFlags are the arguments for device code, for sm_80 unless flags say otherwise.
func deviceFlags(s sdk.SDK, flags []string) []string {
	return append([]string{"--cuda-path=" + s.Dir, "--cuda-device-only", "-S", "-O2", "--no-cuda-version-check", "-Wno-unknown-cuda-version",
		"--cuda-gpu-arch=sm_80"}, flags...)
}

// precompiled returns a file with the headers that clang includes into every program: they
// take most of the time that a small one needs. It is made once for each SDK and flags.
func precompiled(t *testing.T, s sdk.SDK, flags []string) string {
	t.Helper()
	file := filepath.Join(s.Dir, "headers"+strings.Join(flags, "")+".pch")
	if _, err := os.Stat(file); err == nil {
		return file
	}
	empty := strings.TrimSuffix(file, ".pch") + ".cu" // file refers to it
	if err := os.WriteFile(empty, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command(s.Clang.Path, append(deviceFlags(s, flags), "-Xclang", "-emit-pch", "-o", file, empty)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return file
}

// device compiles device code and loads it.
func device(t *testing.T, s sdk.SDK, source string, flags ...string) *heddle.GPU {
	t.Helper()
	return load(t, ptxFile(t, s, source, flags...))
}

// load makes a GPU with the program of a file.
func load(t *testing.T, file string) *heddle.GPU {
	t.Helper()
	prog, err := heddle.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	gpu, err := heddle.New(prog)
	if err != nil {
		t.Fatal(err)
	}
	return gpu
}

// reference is a line of testdata/math.csv.
type reference struct {
	args   []float64
	double float64
	single float32
}

// references reads testdata/math.csv, or the file that HEDDLE_MATH names.
func references(t *testing.T) map[string][]reference {
	t.Helper()
	name := "testdata/math.csv"
	if other := os.Getenv("HEDDLE_MATH"); other != "" {
		name = other
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list := map[string][]reference{}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		words := strings.Split(sc.Text(), ",")
		var r reference
		for i, w := range words[1:] {
			u, err := strconv.ParseUint(w, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			switch i {
			case len(words) - 2:
				r.single = math.Float32frombits(uint32(u))
			case len(words) - 3:
				r.double = math.Float64frombits(u)
			default:
				r.args = append(r.args, math.Float64frombits(u))
			}
		}
		list[words[0]] = append(list[words[0]], r)
	}
	return list
}

// ordered maps numbers to integers so that neighbours differ by one.
func ordered64(x float64) int64 {
	if i := int64(math.Float64bits(x)); i < 0 {
		return math.MinInt64 - i
	} else {
		return i
	}
}

func ordered32(x float32) int64 {
	if i := int32(math.Float32bits(x)); i < 0 {
		return int64(math.MinInt32) - int64(i)
	} else {
		return int64(i)
	}
}

// ulps64 returns the number of steps between two numbers, plus one.
func ulps64(a, b float64) uint64 {
	if math.IsNaN(a) || math.IsNaN(b) {
		if math.IsNaN(a) == math.IsNaN(b) {
			return 0
		}
		return math.MaxUint64
	}
	x, y := ordered64(a), ordered64(b)
	return uint64(max(x, y)) - uint64(min(x, y))
}

func ulps32(a, b float32) uint64 {
	if a != a || b != b {
		if (a != a) == (b != b) {
			return 0
		}
		return math.MaxUint64
	}
	x, y := ordered32(a), ordered32(b)
	return uint64(max(x, y) - min(x, y))
}

// bessel functions have a bound on their absolute error: their zeros are not
// numbers of the format, so near them no better bound is possible.
var bessel = []string{"j0", "j1", "y0", "y1", "jn", "yn"}

// Every function of the device math library is within 2 units in the last place of
// the rounded true value.
func TestMath(t *testing.T) {
	s := kit(t)
	refs := references(t)
	var names []string
	for name := range refs {
		names = append(names, name)
	}
	slices.Sort(names)
	var src strings.Builder
	for _, name := range names {
		for _, typ := range []string{"double", "float"} {
			fn := name
			if typ == "float" {
				fn += "f"
			}
			call := fn + "(a[i])"
			if len(refs[name][0].args) == 2 {
				call = fn + "(a[i], b[i])"
				if name == "jn" || name == "yn" {
					call = fn + "((int)a[i], b[i])"
				}
			}
			fmt.Fprintf(&src, "extern \"C\" __global__ void test_%s(const %s *a, const %[2]s *b, %[2]s *out, int n) {\n"+
				"  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) out[i] = %[3]s;\n}\n", fn, typ, call)
		}
	}
	gpu := device(t, s, src.String())
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			double(t, gpu, name, refs[name])
			single(t, gpu, name, refs[name])
		})
	}
}

// compute runs a function on arguments.
func compute[T float32 | float64](t *testing.T, gpu *heddle.GPU, kernel string, args [2][]T) []T {
	t.Helper()
	n := len(args[0])
	a, err := heddle.Upload(gpu, "a", args[0])
	if err != nil {
		t.Fatal(err)
	}
	b, err := heddle.Upload(gpu, "b", args[1])
	if err != nil {
		t.Fatal(err)
	}
	out, err := heddle.Upload(gpu, "out", make([]T, n))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gpu.Launch(context.Background(), kernel, heddle.Dim(uint32((n+127)/128)), heddle.Dim(128), a, b, out, int32(n)); err != nil {
		t.Fatal(err)
	}
	got, err := heddle.Download[T](gpu, out, n)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []heddle.Ptr{a, b, out} {
		if err := gpu.Free(p); err != nil {
			t.Fatal(err)
		}
	}
	return got
}

func double(t *testing.T, gpu *heddle.GPU, name string, refs []reference) {
	var args [2][]float64
	for _, r := range refs {
		args[0] = append(args[0], r.args[0])
		args[1] = append(args[1], r.args[len(r.args)-1])
	}
	got := compute(t, gpu, "test_"+name, args)
	worst, bad := uint64(0), 0
	for i, r := range refs {
		u := ulps64(got[i], r.double)
		if slices.Contains(bessel, name) && math.Abs(got[i]-r.double) <= 0x1p-48*max(1, math.Abs(r.double)) {
			continue
		}
		worst = max(worst, u)
		if u > 2 {
			if bad++; bad <= 3 {
				t.Errorf("%s(%v) = %v, want %v: off by %d", name, r.args, got[i], r.double, u)
			}
		}
	}
	t.Logf("double: at most %d ulp on %d arguments, %d wrong", worst, len(refs), bad)
}

func single(t *testing.T, gpu *heddle.GPU, name string, refs []reference) {
	var args [2][]float32
	var want []reference
	for _, r := range refs {
		exact := true
		for _, x := range r.args {
			exact = exact && float64(float32(x)) == x
		}
		if exact {
			args[0] = append(args[0], float32(r.args[0]))
			args[1] = append(args[1], float32(r.args[len(r.args)-1]))
			want = append(want, r)
		}
	}
	if len(want) == 0 {
		t.Fatalf("%s: no argument is a float", name)
	}
	got := compute(t, gpu, "test_"+name+"f", args)
	worst, bad := uint64(0), 0
	for i, r := range want {
		u := ulps32(got[i], r.single)
		worst = max(worst, u)
		if u > 2 {
			if bad++; bad <= 3 {
				t.Errorf("%sf(%v) = %v, want %v: off by %d", name, r.args, got[i], r.single, u)
			}
		}
	}
	t.Logf("float: at most %d ulp on %d arguments, %d wrong", worst, len(want), bad)
}
