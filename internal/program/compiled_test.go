package program_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/compile"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/isa/sass"
	"github.com/heddle-sim/heddle/internal/program"
)

var forSM = flag.Int("sm", 86, "for which architecture tests compile that are for one: 75, 80, 86, 87 or 89")

// conformance has cases of PTX with known outputs; its NOTICE says where they come from.
const conformance = "../isa/ptx/testdata/conformance"

// conformanceCase is one of them.
type conformanceCase struct {
	Name, PTX, Entry, Check string
	Grid, Block             [3]uint32
	Shared                  int `json:"dynamic_shared_bytes"`
	Args                    []string
	Input, Expected         *struct{ Hex string }
	Prefill                 string `json:"out_prefill"`
}

// cases reads all of them.
func cases(t *testing.T) []conformanceCase {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(conformance, "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []conformanceCase }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	return file.Cases
}

// output runs a case and returns what it leaves. compiled says whether its kernel ran as machine code;
// what is why it did not. With machine code, it runs a cubin that was made of the PTX.
func (c *conformanceCase) output(t *testing.T, code program.Code) (out []byte, compiled bool, what string) {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(conformance, c.PTX))
	if err != nil {
		t.Fatal(err)
	}
	from := program.Source{Name: c.PTX, Text: src}
	if code == program.SASSCode {
		from = toCubin(t, from)
	}
	choice := program.Choice{Code: code, SM: *forSM, Refused: func(err error) { what = err.Error() }}
	p, err := choice.Load(from)
	if err != nil {
		t.Fatal(err)
	}
	k, _ := p.Kernel(c.Entry)
	mem := device.New(device.Config{})
	m, err := program.NewMachine(p, mem)
	if err != nil {
		t.Fatal(err)
	}
	place := func(b []byte) uint64 {
		a, err := mem.Alloc(uint64(len(b)), "buffer")
		if err == nil {
			err = mem.Write(a, b)
		}
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	fromHex := func(s string) []byte {
		b, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	out = bytes.Repeat(fromHex(strings.TrimPrefix(c.Prefill, "0x")), len(c.Expected.Hex)/2)
	to, input := place(out), uint64(0)
	if c.Input != nil {
		input = place(fromHex(c.Input.Hex))
	}
	params := make([]byte, k.ParamBytes())
	for i, p := range k.Params() {
		a := to
		if c.Args[i] == "in" {
			a = input
		}
		binary.LittleEndian.PutUint64(params[p.Offset:], a)
	}
	dim := func(d [3]uint32) exec.Dim3 { return exec.Dim3{X: d[0], Y: d[1], Z: d[2]} }
	l := exec.Launch{Kernel: k, Grid: dim(c.Grid), Block: dim(c.Block), Shared: c.Shared, Params: params}
	if _, err := m.Run(t.Context(), l, exec.Options{MaxInsts: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	if err := mem.Read(to, out); err != nil {
		t.Fatal(err)
	}
	return out, program.CodeOf(k) == program.SASSCode, what
}

// toCubin compiles a module.
func toCubin(t *testing.T, s program.Source) program.Source {
	t.Helper()
	m, err := ptx.Parse(s.Name, s.Text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := compile.Module(m, compile.Options{Arch: sass.Arch(*forSM)})
	if err != nil {
		t.Fatal(err)
	}
	b, err := program.WriteCubin(r.File)
	if err != nil {
		t.Fatal(err)
	}
	return program.Source{Name: strings.TrimSuffix(s.Name, ".ptx") + ".cubin", Text: b}
}

// TestCompiledConformance: what is compiled leaves what the PTX leaves, bit for bit, in memory at once
// and from a cubin.
func TestCompiledConformance(t *testing.T) {
	equal, left := 0, 0
	for _, c := range cases(t) {
		if c.Check != "run" && c.Check != "" {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			got, compiled, what := c.output(t, program.CompiledCode)
			if !compiled {
				left++
				t.Skip(what)
			}
			want, _, _ := c.output(t, program.PTXCode)
			if written, _, _ := c.output(t, program.SASSCode); !bytes.Equal(got, want) || !bytes.Equal(written, want) {
				t.Errorf("got %x, from a cubin %x, want %x", got, written, want)
				return
			}
			equal++
		})
	}
	t.Logf("%d cases are equal, %d are not compiled", equal, left)
	if equal < 93 { // as many as once compiled
		t.Errorf("only %d cases are compiled", equal)
	}
}
