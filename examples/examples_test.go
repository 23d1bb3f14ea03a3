package examples_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/heddle-sim/heddle/internal/alltests"
)

var update = flag.Bool("update", false, "write the input and result files of the examples from the Go references (never from the simulator)")

// An example is a folder NAME with the job NAME.toml, and what we know about it
// without running it.
type example struct {
	name string
	// files makes the input files of the job that no init rule makes: a slice
	// of numbers for each file name. May be nil.
	files func() map[string]any
	// reference computes the final content of buffers and symbols from the
	// inputs: a slice of numbers for each name. A []float64 for a buffer of
	// single precision is rounded when it is compared bit for bit.
	reference func(in *inputs) map[string]any
	// stdout is what the kernels print; nil if nothing.
	stdout func(out map[string]any) string
}

// jobFile is as much of a job file as the references need.
type jobFile struct {
	Buffers map[string]bufferSpec
	Symbols map[string]bufferSpec
	Checks  []checkSpec
}

type bufferSpec struct {
	Type   string
	Count  int
	Init   string
	Seed   uint64
	Range  []any
	File   string
	Values []any
}

type checkSpec struct {
	Buffer, Symbol, File string
	Offset               int
	Values               []any
	Tolerance            float64
}

func (c checkSpec) target() string { return c.Buffer + c.Symbol }

// inputs gives the reference the initial content of a job's buffers.
type inputs struct {
	t    *testing.T
	dir  string
	job  jobFile
	data map[string][]byte
}

func readJob(t *testing.T, name string) *inputs {
	t.Helper()
	in := &inputs{t: t, dir: name, data: map[string][]byte{}}
	if _, err := toml.DecodeFile(filepath.Join(name, name+".toml"), &in.job); err != nil {
		t.Fatal(err)
	}
	for b, spec := range in.job.Buffers {
		in.data[b] = in.initial(b, spec)
	}
	for s, spec := range in.job.Symbols {
		in.data[s] = in.initial(s, spec)
	}
	return in
}

func (in *inputs) initial(name string, spec bufferSpec) []byte {
	size := elementSize(spec.Type)
	if size == 0 {
		in.t.Fatalf("%s: unknown type %q", name, spec.Type)
	}
	floating := strings.Contains(spec.Type, "f")
	number := func(v any) float64 {
		f, ok := asFloat(v)
		if !ok {
			in.t.Fatalf("%s: %v is no number", name, v)
		}
		return f
	}
	out := make([]byte, 0, spec.Count*size)
	switch spec.Init {
	case "", "zero":
		return make([]byte, spec.Count*size)
	case "iota":
		for i := range spec.Count {
			out = appendElement(out, spec.Type, float64(i), int64(i))
		}
	case "values":
		for _, v := range spec.Values {
			f := number(v)
			out = appendElement(out, spec.Type, f, int64(f))
		}
	case "random":
		state := splitMix(spec.Seed)
		lo, hi := 0.0, 1.0
		if !floating {
			lo, hi = 0, math.Ldexp(1, 8*size)-1
		}
		if len(spec.Range) == 2 {
			lo, hi = number(spec.Range[0]), number(spec.Range[1])
		}
		for range spec.Count {
			r := state.next()
			if floating {
				out = appendElement(out, spec.Type, lo+(hi-lo)*state.unit(r), 0)
			} else if len(spec.Range) == 2 {
				out = appendElement(out, spec.Type, 0, int64(lo)+int64(r%uint64(hi-lo+1)))
			} else {
				out = appendElement(out, spec.Type, 0, int64(r))
			}
		}
	case "file":
		raw, err := os.ReadFile(filepath.Join(in.dir, spec.File))
		if err != nil {
			in.t.Fatal(err)
		}
		out = raw
	default:
		in.t.Fatalf("%s: unknown init %q", name, spec.Init)
	}
	if len(out) != spec.Count*size {
		in.t.Fatalf("%s: %d bytes of initial data for %d elements of %s", name, len(out), spec.Count, spec.Type)
	}
	return out
}

// splitMix is the generator behind init = "random" (Steele, Lea, Flood 2014).
type splitMix uint64

func (s *splitMix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// unit maps a random word into [0, 1).
func (*splitMix) unit(r uint64) float64 { return float64(r>>11) * (1.0 / (1 << 53)) }

// below returns a random number of [0, n).
func (s *splitMix) below(n int) int { return int(s.next() % uint64(n)) }

func asFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func elementSize(typ string) int {
	switch typ {
	case "u8", "s8":
		return 1
	case "u16", "s16", "f16":
		return 2
	case "u32", "s32", "f32":
		return 4
	case "u64", "s64", "f64":
		return 8
	}
	return 0
}

// appendElement appends f or, for integer types, i.
func appendElement(b []byte, typ string, f float64, i int64) []byte {
	le := binary.LittleEndian
	switch typ {
	case "f16":
		return le.AppendUint16(b, halfFromFloat(f))
	case "f32":
		return le.AppendUint32(b, math.Float32bits(float32(f)))
	case "f64":
		return le.AppendUint64(b, math.Float64bits(f))
	}
	switch elementSize(typ) {
	case 1:
		return append(b, byte(i))
	case 2:
		return le.AppendUint16(b, uint16(i))
	case 4:
		return le.AppendUint32(b, uint32(i))
	}
	return le.AppendUint64(b, uint64(i))
}

// encode turns a slice of numbers into the bytes of a buffer of that type.
func encode(t *testing.T, typ string, slice any) []byte {
	t.Helper()
	v := reflect.ValueOf(slice)
	out := make([]byte, 0, v.Len()*elementSize(typ))
	for k := range v.Len() {
		e := v.Index(k)
		switch {
		case e.CanFloat():
			out = appendElement(out, typ, e.Float(), int64(e.Float()))
		case e.CanUint():
			out = appendElement(out, typ, float64(e.Uint()), int64(e.Uint()))
		default:
			out = appendElement(out, typ, float64(e.Int()), e.Int())
		}
	}
	return out
}

// decode reads the bytes of a buffer of that type as float64; exact for all types
// that checks with a tolerance use.
func decode(typ string, b []byte) []float64 {
	size := elementSize(typ)
	out := make([]float64, len(b)/size)
	le := binary.LittleEndian
	for k := range out {
		p := b[k*size:]
		switch typ {
		case "f16":
			out[k] = floatFromHalf(le.Uint16(p))
		case "f32":
			out[k] = float64(math.Float32frombits(le.Uint32(p)))
		case "f64":
			out[k] = math.Float64frombits(le.Uint64(p))
		case "u8":
			out[k] = float64(p[0])
		case "u16":
			out[k] = float64(le.Uint16(p))
		case "u32":
			out[k] = float64(le.Uint32(p))
		case "s32":
			out[k] = float64(int32(le.Uint32(p)))
		}
	}
	return out
}

// halfFromFloat rounds to half precision, ties to even.
func halfFromFloat(f float64) uint16 {
	sign := uint16(0)
	if math.Signbit(f) {
		sign, f = 0x8000, -f
	}
	if f >= 65520 {
		return sign | 0x7c00
	}
	exp := max(math.Ilogb(f), -14)
	if f == 0 {
		exp = -14
	}
	mantissa := uint16(math.RoundToEven(math.Ldexp(f, 10-exp)))
	// A mantissa that rounds up to 2^11 carries into the exponent by itself.
	return sign + uint16(exp+14)<<10 + mantissa
}

func floatFromHalf(h uint16) float64 {
	exp, mantissa := int(h>>10&31), float64(h&0x3ff)
	v := math.Ldexp(mantissa, -24)
	if exp > 0 {
		v = math.Ldexp(1024+mantissa, exp-25)
	}
	if h&0x8000 != 0 {
		v = -v
	}
	return v
}

// The initial content of a buffer or symbol, by type.

func (in *inputs) bytes(name, typ string) []byte {
	in.t.Helper()
	spec, ok := in.job.Buffers[name]
	if !ok {
		spec, ok = in.job.Symbols[name]
	}
	if !ok || spec.Type != typ {
		in.t.Fatalf("%s: the job has no buffer %s of type %s", in.dir, name, typ)
	}
	return in.data[name]
}

func (in *inputs) u8(name string) []byte     { return in.bytes(name, "u8") }
func (in *inputs) f32(name string) []float64 { return decode("f32", in.bytes(name, "f32")) }
func (in *inputs) f64(name string) []float64 { return decode("f64", in.bytes(name, "f64")) }
func (in *inputs) f16(name string) []float64 { return decode("f16", in.bytes(name, "f16")) }
func (in *inputs) u16(name string) []uint16  { return words[uint16](in.bytes(name, "u16")) }
func (in *inputs) u32(name string) []uint32  { return words[uint32](in.bytes(name, "u32")) }
func (in *inputs) s32(name string) []int32   { return words[int32](in.bytes(name, "s32")) }

func words[T uint16 | uint32 | int32 | float32](b []byte) []T {
	var zero T
	out := make([]T, len(b)/binary.Size(zero))
	if _, err := binary.Decode(b, binary.LittleEndian, out); err != nil {
		panic(err)
	}
	return out
}

// typeOf is the type of a checked buffer or symbol. Symbols that the job does not
// set are words.
func (in *inputs) typeOf(name string) string {
	if spec, ok := in.job.Buffers[name]; ok {
		return spec.Type
	}
	if spec, ok := in.job.Symbols[name]; ok {
		return spec.Type
	}
	return "u32"
}

// differs says where two buffers differ by more than the tolerance, or "".
func differs(typ string, got, want []byte, tolerance float64) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d bytes, want %d", len(got), len(want))
	}
	size := elementSize(typ)
	bad, first := 0, ""
	g, w := decode(typ, got), decode(typ, want)
	for k := range g {
		same := bytes.Equal(got[k*size:(k+1)*size], want[k*size:(k+1)*size])
		if !same && tolerance > 0 {
			same = math.Abs(g[k]-w[k]) <= tolerance*math.Abs(w[k])
		}
		if !same {
			if bad == 0 {
				first = fmt.Sprintf("element %d is %v, want %v", k, g[k], w[k])
			}
			bad++
		}
	}
	if bad == 0 {
		return ""
	}
	return fmt.Sprintf("%s (%d of %d differ)", first, bad, len(g))
}

// expected gives the bytes that a check of the job file wants.
func (in *inputs) expected(c checkSpec) []byte {
	in.t.Helper()
	if c.File != "" {
		raw, err := os.ReadFile(filepath.Join(in.dir, c.File))
		if err != nil {
			in.t.Fatal(err)
		}
		return raw
	}
	var out []byte
	for _, v := range c.Values {
		f, ok := asFloat(v)
		if !ok {
			in.t.Fatalf("check of %s: %v is no number", c.target(), v)
		}
		out = appendElement(out, in.typeOf(c.target()), f, int64(f))
	}
	return out
}

// referenceSlice is what the reference expects of so many elements from the offset
// of a check on.
func (in *inputs) referenceSlice(out map[string]any, c checkSpec, elements int) []byte {
	in.t.Helper()
	ref, ok := out[c.target()]
	if !ok {
		in.t.Fatalf("the reference says nothing about %s, which the job checks", c.target())
	}
	typ := in.typeOf(c.target())
	b := encode(in.t, typ, ref)
	size := elementSize(typ)
	from, to := c.Offset*size, (c.Offset+elements)*size
	if to > len(b) {
		in.t.Fatalf("check of %s asks for elements %d to %d, the reference has %d", c.target(), c.Offset, c.Offset+elements, len(b)/size)
	}
	return b[from:to]
}

// TestExpectedResults compares the committed input files and the results that the
// job files expect with what the Go references compute.
func TestExpectedResults(t *testing.T) {
	for _, ex := range examples {
		t.Run(ex.name, func(t *testing.T) {
			if *update {
				writeFiles(t, ex)
			}
			if ex.files != nil {
				for name, numbers := range ex.files() {
					got, err := os.ReadFile(filepath.Join(ex.name, name))
					if err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(got, encode(t, naturalType(numbers), numbers)) {
						t.Errorf("%s is not what the generator makes; -update writes it", name)
					}
				}
			}
			in := readJob(t, ex.name)
			if len(in.job.Checks) == 0 {
				t.Fatal("the job checks nothing")
			}
			out := ex.reference(in)
			for _, c := range in.job.Checks {
				typ := in.typeOf(c.target())
				want := in.expected(c)
				if len(want) == 0 {
					t.Errorf("the check of %s expects nothing", c.target())
					continue
				}
				ref := in.referenceSlice(out, c, len(want)/elementSize(typ))
				// The file is a rounded copy of the reference, which may
				// itself differ in the last bits from machine to machine.
				if d := differs(typ, want, ref, c.Tolerance/10); d != "" {
					t.Errorf("%s, %s%s from %d: %s", ex.name, c.target(), c.File, c.Offset, d)
				}
			}
		})
	}
}

// naturalType is the buffer type that holds a slice's elements as they are.
func naturalType(slice any) string {
	kind := reflect.TypeOf(slice).Elem().Kind()
	names := map[reflect.Kind]string{
		reflect.Uint8: "u8", reflect.Uint16: "u16", reflect.Uint32: "u32", reflect.Int32: "s32",
		reflect.Float32: "f32", reflect.Float64: "f64",
	}
	return names[kind]
}

// sliceLengths says how many elements a check with a file takes where that is not
// everything from its offset to the end of the buffer.
var sliceLengths = map[string]int{
	"scan/first.bin": 1024, "scan/last.bin": 1024,
	"transpose/first.bin": 4096, "transpose/last.bin": 4096,
	"needle/last_row.bin":  513,
	"stencil3d/planes.bin": 3 * 64 * 64,
	"mma-gemm/first.bin":   32 * 256,
	"compact/out.bin":      4096,
	"compact/answers.bin":  4096,
	"streams/y1.bin":       4096, "streams/y2.bin": 4096, "streams/x2.bin": 4096,
	"blackscholes/call.bin": 4096, "blackscholes/put.bin": 4096,
	"texture/nearest.bin": 4096, "texture/smooth.bin": 4096, "texture/wrapped.bin": 4096,
	"texture/mirrored.bin": 4096, "texture/bordered.bin": 4096,
	"sha256/out.bin": 4096, "bitonic/data.bin": 8192, "cp-async/c.bin": 8192, "convolution/out.bin": 8192,
	"matmul/c.bin":       8192,
	"lookback/first.bin": 1024, "lookback/last.bin": 1024, "gridsync/a.bin": 4096, "ntt/data.bin": 4096,
	"half2/y.bin": 4096, "dp4a/c.bin": 4096,
	"hotspot/temp.bin": 8192,
}

var valuesLine = regexp.MustCompile(`(?m)^values = \[.*\]$`)

// writeFiles writes the input files, the result files and the values of a job.
func writeFiles(t *testing.T, ex example) {
	if ex.files != nil {
		for name, numbers := range ex.files() {
			b := encode(t, naturalType(numbers), numbers)
			if err := os.WriteFile(filepath.Join(ex.name, name), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	in := readJob(t, ex.name)
	out := ex.reference(in)
	path := filepath.Join(ex.name, ex.name+".toml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "[[checks]]\n")
	for k, c := range in.job.Checks {
		all := reflect.ValueOf(out[c.target()])
		if !all.IsValid() {
			t.Fatalf("the reference says nothing about %s", c.target())
		}
		n, ok := sliceLengths[ex.name+"/"+c.File]
		if !ok {
			n = all.Len() - c.Offset
		}
		b := in.referenceSlice(out, c, n)
		switch {
		case c.File == "":
			list := strings.Join(strings.Fields(fmt.Sprint(all.Slice(c.Offset, c.Offset+n))), ", ")
			parts[k+1] = valuesLine.ReplaceAllString(parts[k+1], "values = "+list)
		case slices.ContainsFunc(slices.Collect(mapKeys(ex.files)), func(f string) bool { return f == c.File }):
			// An input that a check compares with is not overwritten.
		default:
			if err := os.WriteFile(filepath.Join(ex.name, c.File), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(path, []byte(strings.Join(parts, "[[checks]]\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

func mapKeys(files func() map[string]any) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		if files == nil {
			return
		}
		for name := range files() {
			if !yield(name) {
				return
			}
		}
	}
}

// TestFolders holds the folders and the table of references together, and each
// folder's files and its job file.
func TestFolders(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		name := e.Name()
		if slices.Contains([]string{"counters", "cuda", "cuda-project", "extend", "kepler", "learn", "llm", "polybench", "sass"}, name) { // they have tests of their own
			continue
		}
		names = append(names, name)
		if !slices.ContainsFunc(examples, func(ex example) bool { return ex.name == name }) {
			t.Errorf("folder %s has no reference", name)
		}
		if !bytes.Contains(readme, []byte("["+name+"]("+name+"/)")) {
			t.Errorf("README.md does not list %s", name)
		}
		job, err := os.ReadFile(filepath.Join(name, name+".toml"))
		if err != nil {
			t.Error(err)
			continue
		}
		files, err := os.ReadDir(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			ext := filepath.Ext(f.Name())
			if (ext == ".bin" || ext == ".ptx") && !bytes.Contains(job, []byte(f.Name()+`"`)) {
				t.Errorf("%s/%s is not used by the job", name, f.Name())
			}
		}
	}
	for _, ex := range examples {
		if !slices.Contains(names, ex.name) {
			t.Errorf("reference %s has no folder", ex.name)
		}
	}
}

// TestSplitMix pins the generator down by the first words that its published
// implementation gives for the seed 1234567.
func TestSplitMix(t *testing.T) {
	s := splitMix(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431} {
		if got := s.next(); got != want {
			t.Errorf("word %d is %d, want %d", i, got, want)
		}
	}
}

func TestDiffers(t *testing.T) {
	for _, c := range []struct {
		typ       string
		got, want any
		tolerance float64
		differs   string
	}{
		{"u32", []uint32{1, 2, 3}, []uint32{1, 2, 3}, 0, ""},
		{"u32", []uint32{1, 7, 8}, []uint32{1, 2, 3}, 0, "element 1 is 7, want 2 (2 of 3 differ)"},
		{"u32", []uint32{1}, []uint32{1, 2}, 0, "4 bytes, want 8"},
		{"f32", []float64{1.001}, []float64{1}, 0, "element 0 is 1.0010000467300415, want 1 (1 of 1 differ)"},
		{"f32", []float64{1.001}, []float64{1}, 0.01, ""},
		{"f32", []float64{1.1}, []float64{1}, 0.01, "element 0 is 1.100000023841858, want 1 (1 of 1 differ)"},
		{"f32", []float64{math.Copysign(0, -1)}, []float64{0}, 0, "element 0 is -0, want 0 (1 of 1 differ)"},
		{"f32", []float64{math.NaN()}, []float64{1}, 0.01, "element 0 is NaN, want 1 (1 of 1 differ)"},
		{"f64", []float64{1e-9}, []float64{0}, 0.01, "element 0 is 1e-09, want 0 (1 of 1 differ)"},
		{"s32", []int32{-1}, []int32{-2}, 0, "element 0 is -1, want -2 (1 of 1 differ)"},
	} {
		got := differs(c.typ, encode(t, c.typ, c.got), encode(t, c.typ, c.want), c.tolerance)
		if got != c.differs {
			t.Errorf("%v and %v: %q, want %q", c.got, c.want, got, c.differs)
		}
	}
}

// TestPTXIsFresh compiles every kernel again and wants the committed PTX. Only the
// compiler that made it can tell; elsewhere the test is skipped.
func TestPTXIsFresh(t *testing.T) {
	if !alltests.On() {
		t.Skip("short")
	}
	const release = "clang version 19.1.7"
	if out, err := exec.Command("clang-19", "--version").Output(); err != nil || !bytes.Contains(out, []byte(release)) {
		t.Skip("the PTX was made by " + release + ", which is not here")
	}
	dir := t.TempDir()
	cmd := exec.Command("./compile.sh")
	cmd.Env = append(os.Environ(), "CLANG=clang-19", "OUT="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	made, err := filepath.Glob(filepath.Join(dir, "*", "*.ptx"))
	if err != nil || len(made) < len(examples)-1 {
		t.Fatalf("%d files were made: %v", len(made), err)
	}
	for _, path := range made {
		fresh, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		if kept, err := os.ReadFile(name); err != nil || !bytes.Equal(kept, fresh) {
			t.Errorf("%s is not what compile.sh makes now: %v", name, err)
		}
	}
}

// TestHalf pins the half precision helpers of the references down by known values.
func TestHalf(t *testing.T) {
	for _, c := range []struct {
		f float64
		h uint16
	}{
		{0, 0}, {1, 0x3c00}, {-2, 0xc000}, {65504, 0x7bff}, {65520, 0x7c00}, {0.1, 0x2e66},
		{math.Ldexp(1, -24), 1}, {math.Ldexp(1, -25), 0}, {math.Ldexp(3, -25), 2}, {math.Ldexp(1, -14), 0x0400},
		{1 + math.Ldexp(1, -11), 0x3c00}, {1 + math.Ldexp(3, -11), 0x3c02}, {1.9999, 0x4000},
	} {
		if got := halfFromFloat(c.f); got != c.h {
			t.Errorf("halfFromFloat(%v) = %#04x, want %#04x", c.f, got, c.h)
		}
	}
	for h := range uint16(0x7c00) {
		if back := halfFromFloat(floatFromHalf(h)); back != h {
			t.Fatalf("%#04x becomes %#04x", h, back)
		}
	}
}
