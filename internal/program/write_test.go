package program

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/binary/cubin"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// textOf is a cubin as a program's text.
func textOf(t *testing.T, b []byte) string {
	t.Helper()
	f, err := cubin.Read("file", b)
	if err != nil {
		t.Fatal(err)
	}
	text, err := Listing(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range text.Kernels {
		if err := k.SetCode(k.Binary); err != nil {
			t.Fatal(err)
		}
	}
	return text.Text()
}

// assembled is the cubin of a text.
func assembled(t *testing.T, text string) []byte {
	t.Helper()
	f, err := sass.Parse("file.sass", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := WriteCubin(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// withLines is a text with all that a listing may have.
const withLines = `.arch sm_86
.data .nv.global.init, 6, 4, 00000001 00000002
.data .nv.global, 132, 16
.bank 3, 5, 00000001 00000002
.bank 4, 16, 00000000 00000000 00000000 00000000
.variable half, .nv.global.init+0x4, 2, local
.variable none, .nv.global, 128
.variable C, .nv.constant3, 5
.address .nv.constant4, vprintf
.address .nv.constant4+0x8, none+0x10

.kernel k
.param p0, 8
.param p1, 4
.param p2, 1, 0x10
.regs 10
.shared 260
.local 40
.barriers 2
.maxthreads 64, 2, 1
.const 2, 0x0, 3f800000 00000001
.L_1:
.address .nv.constant0+0x178, 52, picture
.line a.cu, 3
.address lower, half
[B------:R-:W-:-:S01] MOV R0, 0x0 ;
.address upper, none+0x10
[B------:R-:W0:-:S02] MOV R1, 0x0 ;
inner:
.line b.cuh, 70
[B0-----:R-:W-:Y:S05] @P0 BRA .L_2 ;
.line a.cu, 4
.address 73, half
.address whole, malloc
[B------:R-:W-:-:S01] CALL.ABS.NOINC .L_1 ;
.L_2:
[B------:R-:W-:Y:S05] EXIT ;

.kernel other
.regs 8
[B------:R-:W-:Y:S05] EXIT ;
`

// TestWrittenCubins: a cubin that is written has all that the text says: it reads back as the same
// text, from a file of a compiler, and from one with lines of the source; and readelf finds nothing
// to say about it.
func TestWrittenCubins(t *testing.T) {
	compiled, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	given, err := sass.Parse("file.sass", withLines, 0)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(withLines) {
		if strings.HasPrefix(line, ".") && !strings.Contains(given.Text(), line) {
			t.Errorf("%s is lost in\n%s", line, given.Text())
		}
	}
	for name, text := range map[string]string{"a compiler's": textOf(t, compiled), "a text": given.Text()} {
		b := assembled(t, text)
		if got := textOf(t, b); got != text {
			t.Errorf("%s: it reads back as\n%s\nwant\n%s", name, got, text)
		}
		path := filepath.Join(t.TempDir(), "out.cubin")
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		tool, err := exec.LookPath("readelf")
		if err != nil {
			t.Log("readelf not found")
			continue
		}
		out, err := exec.Command(tool, "-W", "-h", "-S", "-s", "-r", "--debug-dump=rawline", path).CombinedOutput()
		for line := range strings.Lines(string(out)) {
			// It does not know the processor's own meaning of sh_info and of the machine's relocations.
			if strings.HasPrefix(line, "readelf: ") && !strings.Contains(line, "Unexpected value") && !strings.Contains(line, "unable to apply") && !strings.Contains(line, "Missing knowledge") {
				t.Errorf("%s: %s", name, line)
			}
		}
		if err != nil || !strings.Contains(string(out), "NVIDIA CUDA architecture") {
			t.Errorf("%s: readelf: %v\n%s", name, err, out)
		}
	}
	// What no text shows.
	was, err := cubin.Read(sample, compiled)
	if err != nil {
		t.Fatal(err)
	}
	now, err := cubin.Read("file", assembled(t, textOf(t, compiled)))
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range was.Kernels {
		got := now.Kernels[i]
		if !slices.Equal(got.Labels, k.Labels) {
			t.Errorf("kernel %s has the functions %v; want %v", k.Name, got.Labels, k.Labels)
		}
		if !bytes.Equal(got.Code, k.Code) || got.Regs != k.Regs || got.Shared != k.Shared || got.Least != k.Least || got.Barriers != k.Barriers || got.ParamBase != k.ParamBase ||
			!slices.Equal(got.Params, k.Params) || got.MaxThreads != k.MaxThreads || len(got.Constants[0]) != len(k.Constants[0]) || !bytes.Equal(got.Constants[2], k.Constants[2]) {
			t.Errorf("kernel %s differs", k.Name)
		}
	}
	sorted := func(list []string) []string { return slices.Sorted(slices.Values(list)) }
	if !slices.Equal(sorted(now.Textures), sorted(was.Textures)) || !slices.Equal(sorted(now.Surfaces), sorted(was.Surfaces)) || len(was.Surfaces) != 2 {
		t.Errorf("textures %v, surfaces %v; want %v, %v", now.Textures, now.Surfaces, was.Textures, was.Surfaces)
	}
	if !slices.Equal(now.Variables, was.Variables) || !slices.Equal(now.Externs, was.Externs) {
		t.Errorf("variables %+v, functions %v; want %+v, %v", now.Variables, now.Externs, was.Variables, was.Externs)
	}
}

// TestSameNames: a label, a variable and a kernel may have one name; each keeps what it has.
func TestSameNames(t *testing.T) {
	const text = `.arch sm_86
.data .nv.global, 16, 4
.variable k, .nv.global+0x8, 8

.kernel j
.regs 8
k:
[B------:R-:W-:-:S05]        EXIT ;

.kernel k
.regs 20
.local 16
.line a.cu, 7
.address lower, k
[B------:R-:W-:-:S02]        MOV R0, 0x0 ;
[B------:R-:W-:-:S05]        EXIT ;

.kernel l
.regs 9
.address lower, l
[B------:R-:W-:-:S02]        MOV R0, 0x0 ;
l:
[B------:R-:W-:-:S05]        EXIT ;
`
	if got := textOf(t, assembled(t, text)); got != text {
		t.Errorf("it reads back as\n%s", got)
	}
}

// TestLargeParameters: the sizes of parameters of 16 KiB and more have a place, too.
func TestLargeParameters(t *testing.T) {
	const text = ".arch sm_86\n\n.kernel k\n.param p0, 8\n.param p1, 16384\n.param p2, 16372\n.regs 8\n[B------:R-:W-:-:S05]        EXIT ;\n"
	if got := textOf(t, assembled(t, text)); got != text {
		t.Errorf("it reads back as\n%s", got)
	}
}

// TestNoPlace: what a cubin cannot hold is not left out without a word.
func TestNoPlace(t *testing.T) {
	f, err := sass.Parse("file.sass", ".arch sm_86\n.kernel k\n.const 0, 0x160, 1\nEXIT ;\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := WriteCubin(f); err == nil || !strings.Contains(err.Error(), "kernel k gives words of constant bank 0") {
		t.Errorf("error %v", err)
	}
}

// TestSharedCode: functions that many kernels call do not take memory without bound.
func TestSharedCode(t *testing.T) {
	f := &cubin.File{Name: "file", Arch: 86, Functions: []*cubin.Function{{Name: "f", Regs: 8, Code: make([]byte, maxCode/8)}}}
	for _, name := range []string{"a", "b", "c", "d", "e", "g", "h", "i"} {
		k := &cubin.Kernel{ParamBase: 0x160}
		k.Name, k.Regs, k.Code = name, 8, make([]byte, sass.InstBytes)
		f.Kernels = append(f.Kernels, k)
		f.Relocations = append(f.Relocations, cubin.Relocation{At: cubin.Place{Kind: cubin.InCode, Owner: name}, Type: cubin.RelocFunction, Symbol: "f", Place: cubin.Place{Kind: cubin.InCode, Owner: "f"}})
	}
	if _, err := machineFile(f); err == nil || !strings.Contains(err.Error(), "file: its kernels, each with all that it calls, have more than") {
		t.Errorf("error %v", err)
	}
	f.Kernels = f.Kernels[:2]
	f.Relocations = f.Relocations[:2]
	if _, err := machineFile(f); err != nil {
		t.Error(err)
	}
}

// TestPlaces: names in a text that stand for nothing, and places that do not exist.
func TestPlaces(t *testing.T) {
	const code = ".kernel k\n.regs 8\nEXIT ;\n"
	for _, c := range []struct{ text, says string }{
		{".data .nv.global, 4, 3\n" + code, "file.sass:2:1: 3 is no alignment"},
		{".data .nv.global, 8, 4, 0 0 0\n" + code, "file.sass:2:1: 8 bytes take 2 words; got 3"},
		{".data .nv.global, 8, 4, 0 x\n" + code, `file.sass:2:1: "x" is not a word`},
		{".data .nv.global\n" + code, "file.sass:2:1: .data needs 3 operands, not 1"},
		{".data other, 8, 4\n" + code, "file.sass:2:1: data cannot be called other here"},
		{".data .nv.global, 8, 4\n.data .nv.global, 8, 4\n" + code, "file.sass:3:1: data cannot be called .nv.global here"},
		{".bank 9, 4, 0\n" + code, `file.sass:2:1: "9" is not in range`},
		{".bank 3, 4, 1\n.bank 3, 4, 2\n" + code, "file.sass:3:1: bank 3 is given twice"},
		{code + ".bank 3, 4, 1\n", "file.sass:5:1: .bank must precede the first kernel"},
		{".kernel k\n.regs 8\n.const 8, 0, 1\nEXIT ;\n", `file.sass:4:1: "8" is not a constant bank that a program fills`},
		{".variable v, d, 4\n" + code, "file.sass:2:1: there is no data d"},
		{".data .nv.global, 8, 4\n.variable v, .nv.global+0x6, 4\n" + code, "file.sass:3:1: v has 4 bytes from 6 on, but there are 8"},
		{".data .nv.global, 8, 4\n.variable v, .nv.global, 4, own\n" + code, `file.sass:3:1: "own" is not known here`},
		{".data .nv.global, 8, 4\n.address .nv.global+4, d\n" + code, "file.sass:3:1: offset 4 is beyond the 8 bytes of .nv.global"},
		{".data .nv.global, 8, 4\n.address .nv.global, .e\n" + code, "file.sass:3:1: there is no .e"},
		{".kernel k\n.regs 8\n.address middle, x\nEXIT ;\n", `file.sass:4:1: "middle" is no part of an address`},
		{".kernel k\n.regs 8\n.address 0, x\nEXIT ;\n", `file.sass:4:1: "0" is no type of a relocation`},
		{".kernel k\n.regs 8\n.address .nv.constant9, 52, x\nEXIT ;\n", "file.sass:4:1: there is no data .nv.constant9"},
		{".kernel k\n.regs 8\n.address lower, +\nEXIT ;\n", `file.sass:4:1: "+" is no place`},
		{".kernel k\n.regs 8\nEXIT ;\n.address lower, x\n", "file.sass:5:1: no instruction follows"},
		{code + ".kernel l\n.regs 8\n.address lower, k\nEXIT ;\n", "file.sass:7:1: code gets only addresses of its own kernel, not of k"},
		{".kernel k\n.regs 8\n.line a.cu, x\nEXIT ;\n", `file.sass:4:1: "x" is not a line`},
	} {
		_, err := sass.Parse("file.sass", ".arch sm_86\n"+c.text, 0)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: error %v; want %q", c.text, err, c.says)
		}
	}
}

// FuzzWriteCubin: a text that parses becomes a cubin that reads back as the same text, or a message
// says why not.
func FuzzWriteCubin(f *testing.F) {
	f.Add(withLines)
	f.Add(".arch sm_80\n.kernel a\n.address .nv.constant0+0x0, 1, \x00\nEXIT ;\n")
	f.Add(".arch sm_75\n.kernel a\nEXIT ;\n.kernel b\n.local 9\n.const 3, 0x4, 1 2\nEXIT ;\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := sass.Parse("file.sass", text, 0)
		if err != nil {
			return
		}
		b, err := WriteCubin(p)
		if err != nil {
			return
		}
		once := textOf(t, b)
		if again := textOf(t, assembled(t, once)); again != once {
			t.Errorf("%q becomes\n%s\nand then\n%s", text, once, again)
		}
	})
}
