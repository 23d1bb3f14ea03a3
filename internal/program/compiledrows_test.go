package program_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/compile"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/program"
)

// rowForm are the types of a row's result and sources. Sources of type pred are tests of a bit.
func rowForm(name string) (d string, sources []string) {
	parts := strings.Split(name, ".")
	op, t := parts[0], parts[len(parts)-1]
	has := func(m string) bool { return slices.Contains(parts, m) }
	switch op {
	case "setp":
		if sources = []string{t, t}; has("and") || has("or") || has("xor") {
			sources = append(sources, "pred")
		}
		return "pred", sources
	case "selp":
		return t, []string{t, t, "pred"}
	case "set":
		if t == "f16x2" {
			return t, []string{t, t}
		}
		return parts[2], []string{t, t}
	case "slct":
		return parts[1], []string{parts[1], parts[1], "s32"}
	case "shl", "shr":
		return t, []string{t, "u32"}
	case "popc", "clz", "bfind":
		return "u32", []string{t}
	case "prmt":
		return "b32", []string{"b32", "b32", "b32"}
	case "cvt":
		switch {
		case t == "e4m3x2" || t == "e5m2x2":
			return "f16x2", []string{"b16"}
		case has("satfinite") && t == "f32":
			return "b16", []string{t, t}
		case has("satfinite"):
			return "b16", []string{t}
		}
		if has("pack") {
			return "b32", []string{"b32", "b32", "b32"}
		}
		return parts[2], []string{t}
	case "vadd2", "vsub2", "vavrg2", "vabsdiff2", "vmin2", "vmax2", "vset2", "vadd4", "vsub4", "vavrg4", "vabsdiff4", "vmin4", "vmax4", "vset4":
		return "b32", []string{"b32", "b32", "b32"}
	case "bfe":
		return t, []string{t, "u32", "u32"}
	case "dp4a", "dp2a":
		return "s32", []string{"b32", "b32", "s32"}
	case "neg", "abs", "not", "cnot", "rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh", "brev":
		return t, []string{t}
	case "mad", "fma", "sad", "mad24":
		sources = []string{t, t, t}
	default:
		sources = []string{t, t}
	}
	if d = t; has("wide") {
		d = map[string]string{"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}[t]
		if op == "mad" {
			sources[2] = d
		}
	}
	return d, sources
}

// untyped is the type of a register, or of a load, for values of a type.
func untyped(t string) string {
	if t == "pred" || strings.HasSuffix(t, "x2") {
		return "b32"
	}
	return "b" + strings.TrimLeft(t, "usbf")
}

// rowKernel is a kernel that executes an instruction on three words of its input.
func rowKernel(n int, name string) string {
	d, sources := rowForm(name)
	var b strings.Builder
	fmt.Fprintf(&b, ".visible .entry k%d(.param .u64 in, .param .u64 out) {\n .reg .b64 %%in, %%out, %%at; .reg .b32 %%i, %%w; .reg .pred %%p, %%q;\n", n)
	b.WriteString(" ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %i, %tid.x; mul.wide.u32 %at, %i, 24; add.s64 %in, %in, %at;\n mul.wide.u32 %at, %i, 8; add.s64 %out, %out, %at;\n")
	args := []string{"%d"}
	for i, s := range sources {
		if s == "pred" {
			fmt.Fprintf(&b, " .reg .pred %%s%d; ld.global.u32 %%w, [%%in+%d]; and.b32 %%w, %%w, 1; setp.eq.u32 %%s%d, %%w, 1;\n", i, 8*i, i)
		} else {
			fmt.Fprintf(&b, " .reg .%s %%s%d; ld.global.%s %%s%d, [%%in+%d];\n", untyped(s), i, untyped(s), i, 8*i)
		}
		args = append(args, fmt.Sprintf("%%s%d", i))
	}
	if d == "pred" {
		fmt.Fprintf(&b, " .reg .pred %%d; %s %s; selp.u32 %%w, 1, 0, %%d; st.global.u32 [%%out], %%w;\n ret; }\n", name, strings.Join(args, ", "))
	} else {
		fmt.Fprintf(&b, " .reg .%s %%d; %s %s; st.global.%s [%%out], %%d;\n ret; }\n", untyped(d), name, strings.Join(args, ", "), untyped(d))
	}
	return b.String()
}

// corners are words among which operands often are.
var corners = []uint64{0, 1, 2, 3, 31, 32, 33, 63, 64, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
	0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x00000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0x7e800001,
	0x3ff0000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x0000000000000001, 0x000fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff}

const rowThreads = 1024

// rowInput are three words for each thread.
func rowInput() []byte {
	r := rand.New(rand.NewPCG(7, 11))
	var b []byte
	for range 3 * rowThreads {
		w := r.Uint64()
		switch r.IntN(4) {
		case 0:
			w = corners[r.IntN(len(corners))]
		case 1: // floats near one
			w = w&0x83ff_ffff_83ff_ffff | 0x3c00_0000_3c00_0000
		}
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// inMemory loads a program, all of which has to compile, and places its input.
func inMemory(t *testing.T, code program.Code, text string, input []byte) (p *program.Program, m *program.Machine, mem *device.Memory, in uint64) {
	t.Helper()
	c := program.Choice{Code: code, SM: *forSM, Refused: func(err error) {
		if !absent(err.Error()) {
			t.Error(err)
		}
	}}
	p, err := c.Load(program.Source{Name: "rows." + strings.Replace(string(code), string(program.CompiledCode), "ptx", 1), Text: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	mem = device.New(device.Config{})
	if m, err = program.NewMachine(p, mem); err != nil {
		t.Fatal(err)
	}
	if in, err = mem.Alloc(uint64(len(input)), "in"); err == nil {
		err = mem.Write(in, input)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p, m, mem, in
}

// outputs runs the kernels k0, k1 … of a program, named for messages, each on the same input in one
// block, and returns what they leave.
func outputs(t *testing.T, code program.Code, text string, names []string, input []byte) [][]byte {
	t.Helper()
	p, m, mem, in := inMemory(t, code, text, input)
	var list [][]byte
	for n, name := range names {
		k, _ := p.Kernel(fmt.Sprintf("k%d", n))
		out, err := mem.Alloc(8*rowThreads, "out")
		if err != nil {
			t.Fatal(err)
		}
		params := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, in), out)
		l := exec.Launch{Kernel: k, Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: rowThreads, Y: 1, Z: 1}, Params: params}
		if _, err := m.Run(t.Context(), l, exec.Options{MaxInsts: 1 << 40}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		b := make([]byte, 8*rowThreads)
		if err := mem.Read(out, b); err != nil {
			t.Fatal(err)
		}
		list = append(list, b)
	}
	return list
}

// bounded are instructions whose results the manual only bounds.
func bounded(name string) bool {
	return strings.Contains(name, "approx") || strings.Contains(name, "full")
}

// videoNames are the instructions on two halves or four bytes, without selectors.
func videoNames() (list []string) {
	types := []string{"u32", "s32"}
	for _, lanes := range []string{"2", "4"} {
		for _, a := range types {
			for _, b := range types {
				for _, op := range []string{"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"} {
					for _, d := range types {
						for _, more := range []string{"", ".sat", ".add"} {
							list = append(list, fmt.Sprintf("%s%s.%s.%s.%s%s", op, lanes, d, a, b, more))
						}
					}
				}
				for _, c := range []string{"eq", "ne", "lt", "le", "gt", "ge", "lt.add"} {
					list = append(list, fmt.Sprintf("vset%s.%s.%s.%s", lanes, a, b, c))
				}
			}
		}
	}
	return list
}

// TestCompiledRows: every row of the compiler's tables, and what videoNames lists, computes what the PTX does, bit for bit, on
// random operands and corner cases; approximations are left out, for which the manual has only bounds.
func TestCompiledRows(t *testing.T) {
	var names []string
	list := compile.Rows()
	for _, op := range []string{"div", "rcp", "sqrt"} {
		for _, round := range []string{"rn", "rz", "rm", "rp"} {
			list = append(list, op+"."+round+".f32", op+"."+round+".ftz.f32")
		}
	}
	for _, f := range []string{"e4m3x2", "e5m2x2"} {
		list = append(list, "cvt.rn.f16x2."+f, "cvt.rn.satfinite."+f+".f32", "cvt.rn.satfinite."+f+".f16x2")
	}
	for _, name := range append(list, videoNames()...) {
		if !bounded(name) {
			names = append(names, name)
		}
	}
	text := ".version 8.0\n.target sm_86\n.address_size 64\n"
	for n, name := range names {
		text += rowKernel(n, name)
	}
	input := rowInput()
	want, got := outputs(t, program.PTXCode, text, names, input), outputs(t, program.CompiledCode, text, names, input)
	for n, name := range names {
		bad := 0
		for i := range rowThreads {
			w, g := binary.LittleEndian.Uint64(want[n][8*i:]), binary.LittleEndian.Uint64(got[n][8*i:])
			if w != g && !(strings.HasSuffix(name, "f64") && w&^(1<<63) > 0x7ff<<52 && g&^(1<<63) > 0x7ff<<52) { // the manual leaves open which NaN it is
				if bad++; bad == 1 {
					t.Errorf("%s of %x: got %#x, want %#x", name, input[24*i:24*i+24], g, w)
				}
			}
		}
	}
	t.Logf("%d instructions on %d operands", len(names), rowThreads)
}

// TestCompiledDivision64: quotients and remainders of 64 bits right at and beside multiples of the divisor, for divisors
// of all lengths.
func TestCompiledDivision64(t *testing.T) {
	names := []string{"div.u64", "rem.u64", "div.s64", "rem.s64"}
	text := ".version 8.0\n.target sm_86\n.address_size 64\n"
	for n, name := range names {
		text += rowKernel(n, name)
	}
	for _, name := range names { // as a routine, which instructions in several places call
		text += strings.Replace(rowKernel(len(names), name), " st.global", " .reg .b64 %e; "+name+" %e, %s1, %s0; mad.lo.u64 %d, %e, 5, %d; st.global", 1)
		names = append(names, name)
	}
	r := rand.New(rand.NewPCG(5, 3))
	for range alltests.Count(8, 400) {
		var input []byte
		for range rowThreads {
			b := r.Uint64() >> r.IntN(64)
			a := r.Uint64() >> r.IntN(64)
			switch r.IntN(8) {
			case 0: // quotients are below 2^64 / b by little, which is itself small
				b = ^uint64(0)/uint64(1+r.IntN(9)) + uint64(r.IntN(5)-2)
				a = ^uint64(0) - r.Uint64()>>r.IntN(64)
			case 1: // and here beside a power of two
				b = 1<<r.IntN(64) + uint64(r.IntN(5)-2)
				a = ^uint64(0) - r.Uint64()>>r.IntN(64)
			}
			if b != 0 {
				a = a/b*b + uint64(r.IntN(5)-2)
			}
			for _, w := range []uint64{a, b, 0} {
				input = binary.LittleEndian.AppendUint64(input, w)
			}
		}
		want, got := outputs(t, program.PTXCode, text, names, input), outputs(t, program.CompiledCode, text, names, input)
		for n, name := range names {
			for i := range rowThreads {
				w, g := binary.LittleEndian.Uint64(want[n][8*i:]), binary.LittleEndian.Uint64(got[n][8*i:])
				if w != g {
					t.Fatalf("%s of %x: got %#x, want %#x", name, input[24*i:24*i+16], g, w)
				}
			}
		}
	}
}
