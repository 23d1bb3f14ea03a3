package job

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/binary/fatbin"
	"github.com/heddle-sim/heddle/internal/binary/fatbin/fatbintest"
	"github.com/heddle-sim/heddle/internal/run"
)

// TestCode: what of a job's device code runs. The machine code is NVIDIA's compiler's, for sm_75: its
// kernel child makes 18 of a 2. The PTX of the same name, so that the two can be told apart, writes 1.
func TestCode(t *testing.T) {
	image, err := os.ReadFile("../../binary/cubin/testdata/cudatest.7.sm_75.cubin")
	if err != nil {
		t.Fatal(err)
	}
	const text = `
.version 7.0
.target sm_70
.address_size 64
.visible .entry _Z5childPii(.param .u64 v, .param .u32 n) {
	.reg .b64 %a;
	ld.param.u64 %a, [v];
	st.global.u32 [%a], 1;
	ret;
}`
	const wrong = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry _Z5childPii(.param .u64 v, .param .u32 n) {\n\tnonsense;\n}"
	machine := fatbin.Entry{Kind: fatbin.Cubin, SM: 75, Data: image}
	ptx := func(text string) fatbin.Entry { return fatbin.Entry{Kind: fatbin.PTX, SM: 70, Data: []byte(text)} }
	both := fatbin.Append(nil, machine, ptx(text))
	other := fatbin.Append(nil, ptx(strings.ReplaceAll(text, "child", "other")), fatbin.Entry{Kind: fatbin.Cubin, SM: 75, Data: image})
	host := fatbintest.Object(".nv_fatbin", both, other)
	files := map[string][]byte{
		"k.ptx": []byte(text), "k.cubin": image, "k.fatbin": both, "program": host, "k.o": fatbintest.Object("__nv_relfatbin", both), "k.a": fatbintest.Archive(host),
		"machine.fatbin": fatbin.Append(nil, machine), "ptx.fatbin": fatbin.Append(nil, ptx(text)), "none.so": fatbintest.Object(".text", nil),
		"wrong.fatbin": fatbin.Append(nil, ptx(wrong)), "bad.fatbin": fatbin.Append(nil, fatbin.Entry{Kind: fatbin.Cubin, SM: 75, Data: image[:1000]}, ptx(text)),
	}
	dir := t.TempDir()
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const turing, simt, ampere = "rtx-2070-super", "rtx-2060", "rtx-a6000"
	for _, c := range []struct{ file, gpu, code, want, says string }{
		{file: "k.fatbin", gpu: turing, want: "sass"},
		{file: "k.fatbin", gpu: turing, code: "auto", want: "sass"},
		{file: "k.fatbin", gpu: turing, code: "ptx", want: "ptx"},
		{file: "k.fatbin", gpu: simt, want: "ptx"},
		{file: "k.fatbin", gpu: simt, code: "sass", want: "sass"},
		{file: "k.fatbin", gpu: ampere, want: "ptx"},
		{file: "k.fatbin", gpu: ampere, code: "sass", says: "k.fatbin has no machine code that runs on sm_86: there is none for it, nor for an earlier GPU of its generation; there is machine code for sm_75, PTX for compute_70"},
		{file: "program", gpu: turing, want: "sass"},
		{file: "program", gpu: turing, code: "ptx", want: "ptx"},
		{file: "program", gpu: ampere, code: "sass", says: "program, module 1 has no machine code that runs on sm_86"},
		{file: "k.o", gpu: turing, want: "sass"},
		{file: "k.a", gpu: turing, want: "sass"},
		{file: "k.a", gpu: ampere, want: "ptx"},
		{file: "machine.fatbin", gpu: simt, want: "sass"},
		{file: "machine.fatbin", gpu: turing, code: "ptx", says: "has machine code (for sm_75) but no PTX"},
		{file: "machine.fatbin", gpu: ampere, says: "has machine code (for sm_75) but no PTX"},
		{file: "ptx.fatbin", gpu: turing, want: "ptx"},
		{file: "ptx.fatbin", gpu: turing, code: "sass", says: "no machine code that runs on sm_75"},
		{file: "bad.fatbin", gpu: turing, says: "bad.fatbin.cubin: "},
		{file: "bad.fatbin", gpu: turing, code: "ptx", want: "ptx"},
		{file: "bad.fatbin", gpu: turing, code: "sass", says: "bad.fatbin.cubin: "},
		{file: "wrong.fatbin", gpu: turing, says: "nonsense"},
		{file: "none.so", gpu: turing, says: "none.so: no device code"},
		{file: "k.ptx", gpu: turing, want: "ptx"},
		{file: "k.ptx", gpu: turing, code: "sass", says: "k.ptx has no machine code that runs on sm_75: it is PTX"},
		{file: "k.cubin", gpu: turing, want: "sass"},
		{file: "k.cubin", gpu: turing, code: "ptx", says: "has machine code (for sm_75) but no PTX"},
	} {
		t.Run(fmt.Sprintf("%s on %s, code %s", c.file, c.gpu, c.code), func(t *testing.T) {
			job := filepath.Join(dir, c.file+".toml")
			toml := fmt.Sprintf("program = %q\ngpu = %q\n[buffers.v]\ntype = \"u32\"\ncount = 4\ninit = \"values\"\nvalues = [2, 2, 2, 2]\n[[launches]]\n"+
				"kernel = \"_Z5childPii\"\ngrid = [1, 1, 1]\nblock = [1, 1, 1]\nargs = [{ buffer = \"v\" }, { u32 = 9 }]\n"+
				"[[checks]]\nbuffer = \"v\"\nvalues = [%d]\n", c.file, c.gpu, map[string]int{"sass": 18, "ptx": 1}[c.want])
			if err := os.WriteFile(job, []byte(toml), 0o666); err != nil {
				t.Fatal(err)
			}
			opt := Options{Code: c.code}
			ready, err := Load(job, opt)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) || strings.Count(err.Error(), "no machine code") > 1 {
					t.Errorf("%v\nwant %q, once", err, c.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, opt.Timing = range []bool{false, true} {
				res, err := ready.Run(context.Background(), opt)
				if err != nil || !res.OK || len(res.Kernels) != 1 || res.Kernels[0].Code != c.want {
					t.Errorf("%v, %+v", err, res)
				}
			}
		})
	}
}

// TestCodeAgain: a job that was opened for one GPU runs what is for another one that its run names.
func TestCodeAgain(t *testing.T) {
	image, err := os.ReadFile("../../binary/cubin/testdata/cudatest.7.sm_75.cubin")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	b := fatbin.Append(nil, fatbin.Entry{Kind: fatbin.Cubin, SM: 75, Data: image}, fatbin.Entry{Kind: fatbin.PTX, SM: 70, Data: []byte(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry _Z5childPii(.param .u64 v, .param .u32 n) { ret; }")})
	file := filepath.Join(dir, "j.toml")
	job := "program = \"k.fatbin\"\n[buffers.v]\ntype = \"u32\"\ncount = 4\n[[launches]]\nkernel = \"_Z5childPii\"\ngrid = [1, 1, 1]\nblock = [1, 1, 1]\nargs = [{ buffer = \"v\" }, { u32 = 9 }]\n"
	for name, b := range map[string][]byte{"k.fatbin": b, "j.toml": []byte(job)} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	ready, err := Load(file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for gpu, want := range map[string]string{"": "ptx", run.DefaultGPU: "ptx", "rtx-2070-super": "sass"} {
		res, err := ready.Run(context.Background(), Options{GPU: gpu})
		if err != nil || res.Kernels[0].Code != want {
			t.Errorf("%s: %v, %+v; want %s", gpu, err, res, want)
		}
	}
}
