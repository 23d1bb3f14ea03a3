package program_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa/sass"
	"github.com/heddle-sim/heddle/internal/program"
	"github.com/heddle-sim/heddle/internal/program/agreetest"
)

// A compiled kernel is its PTX and the listing of its machine code.
type compiled struct {
	name string // of its files
	ptx  string
	text []string // of the instructions
	code []byte
}

var (
	firstLine  = regexp.MustCompile(`^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;\s+/\* 0x([0-9a-f]{16}) \*/`)
	secondLine = regexp.MustCompile(`^\s*/\* 0x([0-9a-f]{16}) \*/`)
)

// readPairs reads the archive; see testdata/NOTICE.md.
func readPairs(t *testing.T) []compiled {
	t.Helper()
	b, err := os.ReadFile("testdata/pairs.sm_89.txtar.zst")
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if b, err = z.DecodeAll(b, nil); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	var list []compiled
	for _, f := range txtar.Parse(b).Files {
		files[f.Name] = string(f.Data)
		name, isListing := strings.CutSuffix(f.Name, ".sass")
		if !isListing {
			continue
		}
		ptx := files[name+".ptx"]
		c := compiled{name: name, ptx: ptx[strings.Index(ptx, ".version"):]}
		for line := range strings.Lines(files[f.Name]) {
			if m := firstLine.FindStringSubmatch(line); m != nil {
				c.text, c.code = append(c.text, m[2]), appendHex(t, c.code, m[3])
			} else if m := secondLine.FindStringSubmatch(line); m != nil {
				c.code = appendHex(t, c.code, m[1])
			}
		}
		if len(c.text) == 0 || len(c.code) != sass.InstBytes*len(c.text) {
			t.Fatalf("%s: %d instructions, %d bytes", name, len(c.text), len(c.code))
		}
		list = append(list, c)
	}
	return list
}

func appendHex(t *testing.T, b []byte, digits string) []byte {
	t.Helper()
	v, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return binary.LittleEndian.AppendUint64(b, v)
}

// hidden is what the listings' disassembler does not print.
var hidden = regexp.MustCompile(`desc0?\[U[^\]]*\]`)

// plainText is an instruction without white space.
func plainText(s string) string {
	return strings.Join(strings.Fields(strings.TrimSuffix(hidden.ReplaceAllString(s, ""), ";")), "")
}

// TestCompiledPairs: the machine code of 36 kernels decodes to the text of the listings, its own
// text assembles to the same words, and the program of that text computes what the PTX does.
func TestCompiledPairs(t *testing.T) {
	list := readPairs(t)
	if len(list) != 36 {
		t.Fatalf("%d kernels; want 36", len(list))
	}
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			for i, want := range c.text {
				at := c.code[sass.InstBytes*i:]
				in, err := sass.Decode(89, [2]uint64{binary.LittleEndian.Uint64(at), binary.LittleEndian.Uint64(at[8:])}, uint32(sass.InstBytes*i))
				if err != nil {
					t.Errorf("%04x %s: %v", sass.InstBytes*i, want, err)
				} else if got := in.Text(); plainText(got) != plainText(want) {
					t.Errorf("%04x: %s; want %s", sass.InstBytes*i, got, want)
				}
			}
			ptx, err := program.Load(program.Source{Name: c.name + ".ptx", Text: []byte(c.ptx)})
			if err != nil {
				t.Fatal(err)
			}
			text := c.listing(t, ptx.Kernels()[0])
			again, err := sass.Parse(c.name, text, 0)
			if err != nil {
				t.Fatal(err)
			}
			for i, in := range again.Kernels[0].Code {
				at := c.code[sass.InstBytes*i:]
				if want := [2]uint64{binary.LittleEndian.Uint64(at), binary.LittleEndian.Uint64(at[8:])}; in.Words != want {
					t.Errorf("%s: words %016x; want %016x", c.text[i], in.Words, want)
				}
			}
			pair := agreetest.New(t, program.Source{Name: c.name + ".ptx", Text: []byte(c.ptx)}, program.Source{Name: c.name + ".sass", Text: []byte(text)})
			pair.Threads = 256
			o := pair.Agree(t, pair.Kernels()[0], draws)
			if len(o.Different) > 0 || o.Equal+o.Free != len(draws) {
				t.Errorf("%+v", o)
			}
			if o.Free > 0 {
				t.Logf("%d launches are equal with contraction and div.approx written out", o.Free)
			}
		})
	}
}

// draws are numbers of elements within and beyond the launch's threads.
var draws = []agreetest.Draw{
	{Name: "all", Ints: []uint64{1024}, Grid: exec.Dim3{X: 4, Y: 1, Z: 1}},
	{Name: "some", Ints: []uint64{300, 77, 510}, Grid: exec.Dim3{X: 2, Y: 1, Z: 1}},
}

// listing is the program of a kernel's code, with the parameters and the shared memory of its PTX.
func (c *compiled) listing(t *testing.T, k exec.Kernel) string {
	t.Helper()
	const arch = sass.Arch(89)
	text := sass.Kernel{Name: k.Name(), Arch: arch, Regs: 255, Shared: k.StaticShared()}
	for _, p := range k.Params() {
		text.Params = append(text.Params, sass.Param{Name: p.Name, Bytes: p.Size, Offset: arch.ParamBase() + p.Offset})
	}
	if err := text.SetCode(c.code); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(".arch %v\n%s", arch, text.Listing(nil))
}
