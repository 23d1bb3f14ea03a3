package program

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/binary/cubin"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xsass "github.com/heddle-sim/heddle/internal/exec/sass"
	"github.com/heddle-sim/heddle/internal/exec/texture"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

const sample = "../binary/cubin/testdata/cudatest.7.sm_75.cubin"

// TestMachineCodeAsText: the text of each kernel of a cubin assembles to its words.
func TestMachineCodeAsText(t *testing.T) {
	b, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	f, err := cubin.Read(sample, b)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range f.Kernels {
		t.Run(k.Name, func(t *testing.T) {
			code, err := MachineCode(f, k)
			if err != nil {
				t.Fatal(err)
			}
			again, err := sass.Parse(k.Name, fmt.Sprintf(".arch %v\n%s", code.Arch, code.Listing(nil)), 0)
			if err != nil {
				t.Fatal(err)
			}
			got := again.Kernels[0]
			if got.Regs != k.Regs || got.Shared != k.Shared || got.Local != k.Least || len(got.Params) != len(k.Params) {
				t.Errorf("registers %d, shared memory %d, stack %d, parameters %d", got.Regs, got.Shared, got.Local, len(got.Params))
			}
			for i, c := range got.Consts {
				want := code.Consts[i]
				if c.Bank != want.Bank || len(c.Bytes) != (len(want.Bytes)+3)&^3 || !bytes.Equal(c.Bytes[:len(want.Bytes)], want.Bytes) {
					t.Errorf("constant bank %d has %d bytes; want %d", c.Bank, len(c.Bytes), len(want.Bytes))
				}
			}
			for i := range got.Params {
				if got.Params[i] != code.Params[i] {
					t.Errorf("parameter %+v; want %+v", got.Params[i], code.Params[i])
				}
			}
			for i := range got.Code {
				at := k.Code[sass.InstBytes*i:]
				if want := [2]uint64{binary.LittleEndian.Uint64(at), binary.LittleEndian.Uint64(at[8:])}; got.Code[i].Words != want {
					t.Errorf("%s: words %x; want %x", code.Code[i].Text(), got.Code[i].Words, want)
				}
			}
		})
	}
}

// TestMachineCodeRuns: kernels of a compiler compute what their source says, also by their listing
// and by the cubin that is made of it. The source is cudatest.cu beside the file where it comes from.
func TestMachineCodeRuns(t *testing.T) {
	b, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	text := textOf(t, b)
	for name, s := range map[string]Source{"cubin": {sample, b}, "listing": {"listing.sass", []byte(text)}, "written": {"written.cubin", assembled(t, text)}} {
		t.Run(name, func(t *testing.T) { runSample(t, s) })
	}
}

func runSample(t *testing.T, s Source) {
	t.Helper()
	l := Loader{As: FormOf(s.Name, s.Text)}
	if err := l.Add(s); err != nil {
		t.Fatal(err)
	}
	prog, err := l.Link()
	if err != nil {
		t.Fatal(err)
	}
	mem := device.New(device.Config{})
	m, err := NewMachine(prog, mem)
	if err != nil {
		t.Fatal(err)
	}
	const threads = 96
	words := func(name string, n int, f func(i int) uint32) []uint32 {
		list := make([]uint32, n)
		for i := range list {
			list[i] = f(i)
		}
		s, ok := m.Symbol(name)
		if !ok || s.Size != uint64(4*n) {
			t.Fatalf("variable %s: %+v", name, s)
		}
		write(t, mem, s.Addr, list)
		return list
	}
	c1 := words("C1", 11, func(i int) uint32 { return uint32(1000 + i) })
	c2 := words("C2", 65, func(i int) uint32 { return uint32(5000 * i) })
	g1 := words("GlobalC1", 7, func(i int) uint32 { return uint32(3 * i) })
	g2 := words("GlobalC2", 33, func(i int) uint32 { return uint32(100 - i) })
	at, err := mem.Alloc(16*threads, "v")
	if err != nil {
		t.Fatal(err)
	}
	run := func(kernel string, grid, block uint32, params ...uint32) {
		t.Helper()
		k, ok := prog.Kernel(kernel)
		if !ok {
			t.Fatalf("no kernel %s", kernel)
		}
		l := exec.Launch{Kernel: k, Grid: exec.Dim3{X: grid, Y: 1, Z: 1}, Block: exec.Dim3{X: block, Y: 1, Z: 1}}
		for _, p := range params {
			l.Params = binary.LittleEndian.AppendUint32(l.Params, p)
		}
		if _, err := m.Run(t.Context(), l, exec.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	v := make([]uint32, threads)
	for i := range v {
		v[i] = uint32(i + 2)
	}

	// v[idx] *= VAL + GlobalC1[idx % 7] + GlobalC2[idx % 16]; v[idx] += C1[VAL] + C2[VAL];
	write(t, mem, at, v)
	run("_Z5childPii", 3, 32, uint32(at), uint32(at>>32), 9)
	got := read(t, mem, at, threads)
	for i := range v {
		if want := v[i]*(9+g1[i%7]+g2[i%16]) + c1[9] + c2[9]; got[i] != want {
			t.Fatalf("child: v[%d] is %d; want %d", i, got[i], want)
		}
	}

	// a = v[idx] * VAL.x + GlobalC1[idx % 16], which is read beyond its end; here idx < 7.
	// a = __shfl_up_sync(~0, a, 1); if (VAL.z > 0) a += C1[VAL.y];
	write(t, mem, at, v)
	run("_Z10simpletest4int4Pi", 1, 7, 5, 3, 1, 0, uint32(at), uint32(at>>32))
	got = read(t, mem, at, 7)
	for i := range got {
		from := max(i-1, 0)
		if want := v[from]*5 + g1[from] + c1[3]; got[i] != want {
			t.Fatalf("simpletest: v[%d] is %d; want %d", i, got[i], want)
		}
	}

	// v[tid] of four floats, sixteen times v = fma(v, v0, v), then its last += (x*y + z) * (x + z).
	in := make([]uint32, 4*threads)
	for i := range in {
		in[i] = math.Float32bits(float32(i%13) / 8)
	}
	write(t, mem, at, in)
	v0 := [4]float32{0.25, 0.5, -0.125, 1}
	run("_Z4test6float4PS_", 1, threads, math.Float32bits(v0[0]), math.Float32bits(v0[1]), math.Float32bits(v0[2]), math.Float32bits(v0[3]), uint32(at), uint32(at>>32))
	got = read(t, mem, at, 4*threads)
	fma := func(a, b, c float32) float32 { return float32(math.FMA(float64(a), float64(b), float64(c))) }
	for i := 0; i < len(in); i += 4 {
		var x [4]float32
		for k := range x {
			x[k] = math.Float32frombits(in[i+k])
			for range 16 {
				x[k] = fma(x[k], v0[k], x[k])
			}
		}
		x[3] = fma(fma(x[0], x[1], x[2]), x[0]+x[2], x[3])
		for k := range x {
			if got[i+k] != math.Float32bits(x[k]) {
				t.Fatalf("test: v[%d] has %g; want %g", i/4, math.Float32frombits(got[i+k]), x[k])
			}
		}
	}

	runReferences(t, m, mem, run)
	if err := m.Release(); err != nil || mem.Allocated() != 16*threads {
		t.Errorf("released: %v, %d bytes are left", err, mem.Allocated())
	}
}

// runReferences runs the sample's kernel with references:
//
//	y = flist[arg[0]](idx, v[idx]), which is their sum for flist[4]
//	v[idx] = tex2D(texRef2d, y+0.5, y-0.5) + sinf(0.35*y) + tex1D(texRef1d, y+0.5)
//	surf2Dwrite(surf2Dread<int2>(inputSurfRef, 4*idx, idx), outputSurfRef, 4*idx, idx)
//	if (arg[1] == idx) printf(...)
func runReferences(t *testing.T, m *Machine, mem *device.Memory, run func(kernel string, grid, block uint32, params ...uint32)) {
	t.Helper()
	const n = 32
	var all []uint64
	alloc := func(list []uint32) uint64 {
		a, err := mem.Alloc(uint64(4*len(list)), "words")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
		write(t, mem, a, list)
		return a
	}
	var plane, row, in, v []uint32
	for i := range n * n {
		plane = append(plane, math.Float32bits(float32(7*i)+0.25))
		in = append(in, uint32(0x10000+i))
	}
	for i := range n {
		row = append(row, math.Float32bits(float32(10000*i)+0.5))
		v = append(v, uint32(i%5))
	}
	arg, at, out := alloc([]uint32{4, 1 << 20}), alloc(v), alloc(make([]uint32, n*n))
	for name, tex := range map[string]texture.Texture{
		"texRef2d": {Addr: alloc(plane), Format: "f32", Channels: 1, Width: n, Height: n}, "texRef1d": {Addr: alloc(row), Format: "f32", Channels: 1, Width: n},
		"inputSurfRef": {Addr: alloc(in), Format: "u32", Channels: 1, Width: n, Height: n}, "outputSurfRef": {Addr: out, Format: "u32", Channels: 1, Width: n, Height: n},
	} {
		if surface := strings.HasSuffix(name, "SurfRef"); !m.HasTexture(name, surface) || m.HasTexture(name, !surface) {
			t.Errorf("%s is not a reference", name)
		}
		if err := m.BindTextureOf(0, name, tex); err != nil {
			t.Fatal(err)
		}
	}
	run("_Z7argtestPiS_S_", 1, 24, uint32(arg), uint32(arg>>32), uint32(at), uint32(at>>32), 0, 0)
	got, copied := read(t, mem, at, 24), read(t, mem, out, n*n)
	for i := range got {
		y := i + int(v[i])
		want := float32(7*(max(y-1, 0)*n+y)) + 0.25 + float32(math.Sin(0.35*float64(y))) + float32(10000*y) + 0.5
		if got[i] != uint32(want) {
			t.Errorf("argtest: v[%d] is %d; want %d", i, got[i], uint32(want))
		}
		if at := i*n + i; copied[at] != in[at] {
			t.Errorf("argtest: word %d of the surface is %#x; want %#x", at, copied[at], in[at])
		}
	}
	for _, a := range all {
		if err := mem.Free(a); err != nil {
			t.Fatal(err)
		}
	}
}

func write(t *testing.T, mem *device.Memory, at uint64, list []uint32) {
	t.Helper()
	var b []byte
	for _, v := range list {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	if err := mem.Write(at, b); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, mem *device.Memory, at uint64, n int) []uint32 {
	t.Helper()
	b := make([]byte, 4*n)
	if err := mem.Read(at, b); err != nil {
		t.Fatal(err)
	}
	list := make([]uint32, n)
	for i := range list {
		list[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return list
}

// TestBadMachineCode: what a file says of a kernel's parameters does not fit the architecture.
func TestBadMachineCode(t *testing.T) {
	b, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b[0x1b40:0x1b8c], []byte{4, 0x0a}) // PARAM_CBANK of _Z5childPii
	b[0x1b40+at+8], b[0x1b40+at+9] = 0, 1
	l := Loader{As: Cubin}
	if err := l.Add(Source{sample, b}); err != nil {
		t.Fatal(err)
	}
	p, err := l.Link()
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range p.Kernels() {
		bad := k.Unusable()
		switch k.Name() {
		case "_Z5childPii":
			if len(bad) == 0 || !strings.Contains(bad[0].Error(), "begin at 0x100 of constant bank 0") {
				t.Errorf("%s: %v", k.Name(), bad)
			}
		case "_Z11shared_testfPf":
			if len(bad) > 0 {
				t.Errorf("%s: %v", k.Name(), bad)
			}
		}
	}
}

// TestDamagedPrograms: a file with damaged tables, constants or code is refused, or its kernels are,
// or they run to an end or a fault.
func TestDamagedPrograms(t *testing.T) {
	whole, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	const from, to = 0x1820, 0x47dc // .nv.info to .nv.global.init
	count := 300
	if alltests.On() {
		count = 3_000
	}
	ran, refused, faults := 0, 0, 0
	r := rand.New(rand.NewPCG(3, 4))
	for range count {
		b := bytes.Clone(whole)
		for range 1 + r.IntN(8) {
			b[from+r.IntN(to-from)] ^= 1 << r.IntN(8)
		}
		l := Loader{As: Cubin}
		if l.Add(Source{"damaged", b}) != nil {
			continue
		}
		prog, err := l.Link()
		if err != nil {
			continue
		}
		mem := device.New(device.Config{})
		m, err := NewMachine(prog, mem)
		if err != nil {
			continue
		}
		at, err := mem.Alloc(1<<16, "buffer")
		if err != nil {
			t.Fatal(err)
		}
		issued := uint64(0)
		for _, k := range prog.Kernels() {
			for _, err := range k.Unusable() {
				if err == nil || !strings.Contains(err.Error(), "damaged") {
					t.Errorf("kernel %s: %v", k.Name(), err)
				}
			}
			l := exec.Launch{Kernel: k, Grid: exec.Dim3{X: 2, Y: 1, Z: 1}, Block: exec.Dim3{X: 40, Y: 1, Z: 1}}
			for len(l.Params) < k.ParamBytes() {
				l.Params = binary.LittleEndian.AppendUint64(l.Params, at)
			}
			l.Params = l.Params[:k.ParamBytes()]
			res, err := m.Run(t.Context(), l, exec.Options{MaxInsts: issued + 2000})
			issued += res.WarpInsts
			var no *exec.LaunchError
			switch {
			case err == nil:
				ran++
			case errors.As(err, &no):
				refused++
			default:
				faults++
			}
		}
		if err := m.Release(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d kernels ran to their end, %d were refused, %d ended early", ran, refused, faults)
	if min(ran, refused, faults) == 0 {
		t.Error("want some of each")
	}
}

// TestWhereMachineCodeFails: a kernel that cannot run says which instruction, at which address and
// from which line of the source.
func TestWhereMachineCodeFails(t *testing.T) {
	lines := []cubin.Line{{Offset: 0x10, File: "a.cu", Line: 3}, {Offset: 0x40, File: "a.cu", Line: 7}}
	for offset, want := range map[uint32]int{0: 0, 0x10: 3, 0x30: 3, 0x40: 7, 0x100: 7} {
		if _, got := lineAt(lines, offset); got != want {
			t.Errorf("address %#x is from line %d; want %d", offset, got, want)
		}
	}
	b, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	f, err := cubin.Read(sample, b)
	if err != nil {
		t.Fatal(err)
	}
	file, err := machineFile(f)
	if err != nil {
		t.Fatal(err)
	}
	k := file.Kernel("_Z5childPii")
	k.Binary = bytes.Clone(k.Binary)
	binary.LittleEndian.PutUint16(k.Binary[0x60:], 0xfff) // an opcode that does not exist
	k.Source = func(i int) (string, int) { return lineAt(lines, uint32(i)*sass.InstBytes) }
	prog, _ := xsass.Load(file).Kernel(k.Name)
	bad := errors.Join(prog.Unusable()...)
	if want := sample + ": kernel _Z5childPii, address 0x60 (source a.cu:7): "; bad == nil || !strings.HasPrefix(bad.Error(), want) {
		t.Errorf("unusable: %v; want %s", bad, want)
	}
}

// relocatable reads a file of the toolkit's for sm_70, whose instructions in it have the encoding of
// sm_75, with another name for one of its functions.
func relocatable(t *testing.T, name, function, as string) Source {
	t.Helper()
	b, err := os.ReadFile("../binary/cubin/testdata/" + name + ".sm_70.cubin")
	if err != nil {
		t.Fatal(err)
	}
	b[48] = 75 // e_flags
	b = bytes.ReplaceAll(b, append([]byte(function), 0), append([]byte(as), make([]byte, 1+len(function)-len(as))...))
	return Source{name, b}
}

// TestLinkedCubins: a kernel calls a function of another file. As its source says it adds two
// numbers of 16 bits; the instruction leaves the sum in both halves of the register.
func TestLinkedCubins(t *testing.T) {
	kernel := relocatable(t, "undefined_extern", "none", "none")
	for _, sources := range [][]Source{
		{kernel, relocatable(t, "test_device_functions", "_Z13test_add_fp166__halfS_", "_Z5undefff")},
		{relocatable(t, "test_device_functions", "_Z13test_add_fp166__halfS_", "_Z5undefff"), kernel},
		{kernel},
	} {
		l := Loader{As: Cubin}
		for _, s := range sources {
			if err := l.Add(s); err != nil {
				t.Fatal(err)
			}
		}
		prog, err := l.Link()
		if err != nil {
			t.Fatal(err)
		}
		complete := len(sources) > 1
		if open := prog.Undefined(); complete != (len(open) == 0) {
			t.Errorf("%d files: undefined: %v", len(sources), open)
		}
		mem := device.New(device.Config{})
		m, err := NewMachine(prog, mem)
		if err != nil {
			t.Fatal(err)
		}
		at, err := mem.Alloc(12, "r, a, b")
		if err != nil {
			t.Fatal(err)
		}
		write(t, mem, at, []uint32{0, 0x3c00, 0x4000}) // 1 and 2
		k, ok := prog.Kernel("_Z1fPfS_S_")
		if !ok {
			t.Fatal("no kernel")
		}
		one := exec.Dim3{X: 1, Y: 1, Z: 1}
		launch := exec.Launch{Kernel: k, Grid: one, Block: one}
		for i := range uint64(3) {
			launch.Params = binary.LittleEndian.AppendUint64(launch.Params, at+4*i)
		}
		_, err = m.Run(t.Context(), launch, exec.Options{})
		switch got := read(t, mem, at, 1)[0]; {
		case complete && (err != nil || got != 0x42004200):
			t.Errorf("1 + 2 is %#x, %v; want 0x42004200", got, err)
		case !complete && (err == nil || !strings.Contains(err.Error(), "call of _Z5undefff, which neither")):
			t.Errorf("a call of nothing: %v", err)
		}
	}
}

// TestUndefinedVariable: a kernel that needs the address of a variable which no file defines says so,
// and so does the program.
func TestUndefinedVariable(t *testing.T) {
	s := relocatable(t, "undefined_extern", "none", "none")
	f, err := cubin.Read(s.Name, s.Text)
	if err != nil {
		t.Fatal(err)
	}
	f.Relocations = append(f.Relocations, cubin.Relocation{
		At: cubin.Place{Kind: cubin.InCode, Owner: f.Kernels[0].Name}, Type: cubin.RelocLower, Symbol: "counter", Global: true,
	})
	file, err := machineFile(f)
	if err != nil {
		t.Fatal(err)
	}
	prog := xsass.Load(file)
	if got := prog.Undefined(); !slices.Contains(got, "counter") {
		t.Errorf("undefined: %v", got)
	}
	bad := errors.Join(prog.Kernels()[0].Unusable()...)
	if want := "the address of counter, which no file of the program defines"; bad == nil || !strings.Contains(bad.Error(), want) {
		t.Errorf("%v; want %s", bad, want)
	}
}
