package cuda

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/binary/fatbin"
	"github.com/heddle-sim/heddle/internal/binary/fatbin/fatbintest"
	"github.com/heddle-sim/heddle/internal/program"
)

// TestCode: what of a program runs. The machine code is NVIDIA's compiler's, for sm_75; its
// kernel child multiplies each v[i] by VAL + GlobalC1[i % 7] + GlobalC2[i % 16], and adds
// C1[VAL] + C2[VAL].
func TestCode(t *testing.T) {
	image, err := os.ReadFile("../../binary/cubin/testdata/cudatest.7.sm_75.cubin")
	if err != nil {
		t.Fatal(err)
	}
	const name, scoreboard = "_Z5childPii", "modern.dependences=scoreboard"
	machine := fatbin.Entry{Kind: fatbin.Cubin, SM: 75, Data: image}
	// PTX of another kernel with this name, so that the two can be told apart: it writes 1.
	other := fatbin.Entry{Kind: fatbin.PTX, SM: 70, Data: []byte(`
.version 7.0
.target sm_70
.address_size 64
.visible .entry _Z5childPii(.param .u64 v, .param .u32 n) {
	.reg .b64 %a;
	ld.param.u64 %a, [v];
	st.global.u32 [%a], 1;
	ret;
}`)}
	const right, fromPTX = 2*(9+3) + 70, 1 // v[0] is 2, GlobalC1[0] is 3, C1[9] is 70
	for _, c := range []struct {
		name   string
		gpu    string
		code   program.Code
		set    string
		timing bool
		images []fatbin.Entry
		err    Error
		want   uint32
		says   string
	}{
		{name: "only machine code", gpu: "rtx-2070-super", images: []fatbin.Entry{machine}, want: right},
		{name: "machine code comes first", gpu: "rtx-2070-super", images: []fatbin.Entry{machine, other}, want: right},
		{name: "machine code is for another generation", gpu: "rtx-a6000", images: []fatbin.Entry{machine, other}, want: fromPTX},
		{name: "a core without control bits", gpu: "rtx-2060", images: []fatbin.Entry{machine, other}, want: fromPTX},
		{name: "a core without control bits, only machine code", gpu: "rtx-2060", images: []fatbin.Entry{machine}, want: right},
		{name: "neither", gpu: "rtx-a6000", images: []fatbin.Entry{machine}, err: NoKernelImage, says: "no machine code that runs on sm_86"},
		{name: "machine code is asked for", gpu: "rtx-2070-super", code: program.SASSCode, images: []fatbin.Entry{machine, other}, want: right},
		{name: "PTX is asked for", gpu: "rtx-2070-super", code: program.PTXCode, images: []fatbin.Entry{machine, other}, want: fromPTX},
		{name: "there is no PTX", gpu: "rtx-2070-super", code: program.PTXCode, images: []fatbin.Entry{machine}, err: NoKernelImage, says: "has machine code (for sm_75) but no PTX"},
		{name: "there is no machine code", gpu: "rtx-2070-super", code: program.SASSCode, images: []fatbin.Entry{other}, err: NoKernelImage, says: "there is none for it, nor for an earlier GPU of its generation"},
		{name: "another generation", gpu: "rtx-a6000", code: program.SASSCode, images: []fatbin.Entry{machine, other}, err: NoKernelImage, says: "no machine code that runs on sm_86"},
		{name: "with cycles", gpu: "rtx-2070-super", timing: true, set: scoreboard, images: []fatbin.Entry{machine}, want: right},
		{name: "with cycles by control bits", gpu: "rtx-2070-super", timing: true, images: []fatbin.Entry{machine}, want: right},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := start(t, func(o *Options) {
				o.GPU, o.Timing, o.Code = c.gpu, c.timing, string(c.code)
				if c.set != "" {
					if err := o.Settings.Set(c.set); err != nil {
						t.Fatal(err)
					}
				}
			}, c.images...)
			const host, g1, c1 = 900, 901, 902
			b.r.RegisterFunction(1, host, name)
			b.r.RegisterVariable(1, g1, "GlobalC1", 28)
			b.r.RegisterVariable(1, c1, "C1", 44)
			v := b.malloc(64)

			b.put(stack, 2)
			b.want("copy", b.Copy(v, stack, 4, HostToDevice, 0, false), Success)
			if slices.ContainsFunc(c.images, func(e fatbin.Entry) bool { return e.Kind == fatbin.Cubin }) && c.want == right {
				b.put(stack, 3)
				b.want("a variable", b.CopyToSymbol(g1, stack, 4, 0, HostToDevice, 0, false), Success)
				b.put(stack, 70)
				b.want("a constant", b.CopyToSymbol(c1, stack, 4, 36, HostToDevice, 0, false), Success)
			}
			got := b.Launch(host, Call{Grid: Dim3{X: 1, Y: 1, Z: 1}, Block: Dim3{X: 1, Y: 1, Z: 1}}, false, func(n, _ int, to []byte) {
				copy(to, [][]byte{{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24), byte(v >> 32), byte(v >> 40), byte(v >> 48), 0}, {9, 0, 0, 0}}[n])
			})
			b.want("launch", got, c.err)
			if log := b.log.String(); !strings.Contains(log, c.says) {
				t.Errorf("it says %q; want %q", log, c.says)
			}
			if c.err != Success {
				return
			}
			if x := b.see(v, 1); x[0] != c.want {
				t.Errorf("v[0] is %d; want %d", x[0], c.want)
			}
			want := map[uint32]string{right: "sass", fromPTX: "ptx"}[c.want]
			if k := b.r.Result().Kernels; len(k) != 1 || k[0].Code != want {
				t.Errorf("the report says %+v; want %s", k, want)
			}
		})
	}
}

// put writes words to host memory.
func (b *bench) put(at uint64, values ...uint32) {
	to := b.host.Bytes(at, uint64(4*len(values)))
	for i, v := range values {
		to[4*i], to[4*i+1], to[4*i+2], to[4*i+3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
	}
}

// TestCubinModule: the driver loads machine code, by its file's contents, and finds what is in
// it; for another generation of GPUs it has none.
func TestCubinModule(t *testing.T) {
	image, err := os.ReadFile("../../binary/cubin/testdata/cudatest.7.sm_75.cubin")
	if err != nil {
		t.Fatal(err)
	}
	for gpu, want := range map[string]Result{"rtx-2060": ResultSuccess, "v100": ResultNoBinary, "rtx-a6000": ResultNoBinary} {
		d := drive(t, func(o *Options) { o.GPU = gpu }).ready()
		mod, res, wrong := d.LoadModule("", image)
		if res != want || (want == ResultSuccess) != (wrong == nil) {
			t.Errorf("%s: %v, %v; want %v", gpu, res, wrong, want)
			continue
		}
		if want != ResultSuccess {
			continue
		}
		names, res := d.Functions(mod)
		if res != ResultSuccess || len(names) != 7 || names[2] != "_Z5childPii" {
			t.Errorf("%s: kernels %v, %v", gpu, names, res)
		}
		if _, res := d.Function(mod, "_Z5childPii"); res != ResultSuccess {
			t.Errorf("%s: kernel: %v", gpu, res)
		}
		if _, size, res := d.Global(mod, "GlobalC2"); res != ResultSuccess || size != 132 {
			t.Errorf("%s: variable of %d bytes, %v", gpu, size, res)
		}
	}
}

// TestLinkCode: what the driver links, from fat binaries and from objects and libraries of the host
// that hold them, is what the options choose.
func TestLinkCode(t *testing.T) {
	image, err := os.ReadFile("../../binary/cubin/testdata/cudatest.7.sm_75.cubin")
	if err != nil {
		t.Fatal(err)
	}
	machine := fatbin.Entry{Kind: fatbin.Cubin, SM: 75, Data: image}
	other := fatbin.Entry{Kind: fatbin.PTX, SM: 70, Data: []byte(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry _Z5childPii(.param .u64 v, .param .u32 n) {\n" +
		".reg .b64 %a; ld.param.u64 %a, [v]; st.global.u32 [%a], 1; ret; }")}
	both, only := fatbin.Append(nil, machine, other), fatbin.Append(nil, machine)
	object := fatbintest.Object("__nv_relfatbin", both)
	const turing, simt = "rtx-2070-super", "rtx-2060"
	for _, c := range []struct {
		name, gpu string
		code      program.Code
		kind      Input
		data      []byte
		want      uint32 // 0: it is refused
	}{
		{"a fat binary", turing, program.AutoCode, InputFatBinary, both, 18},
		{"a core without control bits", simt, program.AutoCode, InputFatBinary, both, 1},
		{"PTX is asked for", turing, program.PTXCode, InputFatBinary, both, 1},
		{"machine code is asked for", simt, program.SASSCode, InputFatBinary, both, 18},
		{"an object", turing, program.AutoCode, InputObject, object, 18},
		{"PTX of an object", turing, program.PTXCode, InputObject, object, 1},
		{"a library", turing, program.SASSCode, InputLibrary, fatbintest.Archive(object), 18},
		{"PTX of a library", turing, program.PTXCode, InputLibrary, fatbintest.Archive(object), 1},
		{"there is no PTX", turing, program.PTXCode, InputFatBinary, only, 0},
		{"there is no PTX in an object", turing, program.PTXCode, InputObject, fatbintest.Object(".nv_fatbin", only), 0},
		{"PTX of a cubin", turing, program.PTXCode, InputCubin, image, 0},
		{"a cubin", turing, program.SASSCode, InputCubin, image, 18},
		{"an object without device code", turing, program.AutoCode, InputObject, fatbintest.Object(".text", both), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := drive(t, func(o *Options) { o.GPU, o.Code = c.gpu, string(c.code) }).ready()
			h, _ := d.NewLink()
			res, wrong := d.AddToLink(h, c.kind, "file", c.data)
			if c.want == 0 {
				if res != ResultNoBinary || wrong == nil {
					t.Errorf("%v, %v; want %v", res, wrong, ResultNoBinary)
				}
				if c.kind == InputCubin {
					if _, res, _ := d.LoadModule("", c.data); res != ResultNoBinary {
						t.Errorf("as a module: %v", res)
					}
				}
				return
			}
			if res != ResultSuccess {
				t.Fatal(res, wrong)
			}
			image, res, wrong := d.CompleteLink(h)
			if res != ResultSuccess {
				t.Fatal(res, wrong)
			}
			mod, res, wrong := d.LoadModule("", image)
			if res != ResultSuccess {
				t.Fatal(res, wrong)
			}
			p := d.alloc(16)
			d.put(stack, 2)
			d.is("copy", d.Do(func(t *Thread) Error { return t.Copy(p, stack, 4, HostToDevice, 0, false) }), ResultSuccess)
			d.is("launch", d.Launch(d.function(mod, "_Z5childPii"), one, false, params(p, uint32(9)), nil), ResultSuccess)
			if got := d.read(p, 1); got[0] != c.want {
				t.Errorf("it makes %d; want %d", got[0], c.want)
			}
		})
	}
}

// TestLinkMachineCode: cubins are linked, in the form in which they are given; with PTX, or while a
// function is missing, they are not.
func TestLinkMachineCode(t *testing.T) {
	read := func(name string) []byte {
		b, err := os.ReadFile("../../binary/cubin/testdata/" + name + ".sm_70.cubin")
		if err != nil {
			t.Fatal(err)
		}
		b[48] = 75 // e_flags: these instructions of sm_70 have the encoding of sm_75
		const function, as = "_Z13test_add_fp166__halfS_", "_Z5undefff"
		return bytes.ReplaceAll(b, append([]byte(function), 0), append([]byte(as), make([]byte, 1+len(function)-len(as))...))
	}
	kernel, functions := read("undefined_extern"), read("test_device_functions")
	packed := fatbin.Append(nil, fatbin.Entry{Kind: fatbin.Cubin, SM: 75, Data: functions})
	d := drive(t, func(o *Options) { o.GPU = "rtx-2060" }).ready()
	add := func(h uint64, kind Input, data []byte, want Result) {
		t.Helper()
		if res, wrong := d.AddToLink(h, kind, "file.cubin", data); res != want || (want == ResultSuccess) != (wrong == nil) {
			t.Errorf("%v, %v; want %v", res, wrong, want)
		}
	}
	for _, c := range []struct {
		name string
		kind Input
		data []byte
	}{{"cubins", InputCubin, functions}, {"a fat binary", InputFatBinary, packed}} {
		h, _ := d.NewLink()
		add(h, InputCubin, kernel, ResultSuccess)
		if _, res, wrong := d.CompleteLink(h); res != ResultInvalidImage || wrong == nil || !strings.Contains(wrong.Error(), "_Z5undefff is used") {
			t.Errorf("%s: a function is missing: %v, %v", c.name, res, wrong)
		}
		add(h, InputCubin, kernel[:1000], ResultInvalidImage)
		add(h, InputPTX, []byte(plusText), ResultNoBinary)
		add(h, c.kind, c.data, ResultSuccess)
		twice, _ := d.NewLink()
		add(twice, InputCubin, functions, ResultSuccess)
		add(twice, InputCubin, functions, ResultSuccess)
		if _, res, wrong := d.CompleteLink(twice); res != ResultInvalidImage || wrong == nil {
			t.Errorf("%s: functions are defined twice: %v, %v", c.name, res, wrong)
		}
		image, res, wrong := d.CompleteLink(h)
		if res != ResultSuccess {
			t.Fatalf("%s: %v, %v", c.name, res, wrong)
		}
		mod, res, wrong := d.LoadModule("", image)
		if res != ResultSuccess {
			t.Fatalf("%s: %v, %v", c.name, res, wrong)
		}
		p := d.alloc(16)
		d.put(stack, 0, 0x3c00, 0x4000)
		d.is("copy", d.Do(func(t *Thread) Error { return t.Copy(p, stack, 12, HostToDevice, 0, false) }), ResultSuccess)
		d.is("launch", d.Launch(d.function(mod, "_Z1fPfS_S_"), one, false, params(p, p+4, p+8), nil), ResultSuccess)
		if got := d.read(p, 1); got[0] != 0x42004200 {
			t.Errorf("%s: 1 + 2 is %#x", c.name, got)
		}
	}
}
