package job

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/tomlfile"
)

// wants returns the expectations of a broken job file: "LINE:COL" or "-" (no
// place), and a part of the message.
func wants(t *testing.T, src string) [][2]string {
	t.Helper()
	var list [][2]string
	for _, line := range strings.Split(src, "\n") {
		rest, ok := strings.CutPrefix(line, "# want ")
		if !ok {
			break
		}
		place, msg, ok := strings.Cut(rest, ": ")
		if !ok {
			t.Fatalf("not an expectation: %s", line)
		}
		list = append(list, [2]string{place, msg})
	}
	if len(list) == 0 {
		t.Fatal("the file expects nothing")
	}
	return list
}

// messages returns every message within err, one string each.
func messages(err error) []string {
	if err == nil {
		return nil
	}
	var list interface{ Unwrap() []error }
	if errors.As(err, &list) {
		var all []string
		for _, e := range list.Unwrap() {
			all = append(all, messages(e)...)
		}
		return all
	}
	return []string{err.Error()}
}

// match compares messages with expectations, in any order.
func match(t *testing.T, name string, got []string, want [][2]string) {
	t.Helper()
	left := append([]string(nil), got...)
next:
	for _, w := range want {
		prefix := name + ":" + w[0] + ": "
		if w[0] == "-" {
			prefix = name + ": "
		}
		if strings.Contains(w[0], ".") { // a place in another file
			prefix = filepath.Join(filepath.Dir(name), w[0]) + ": "
		}
		for i, g := range left {
			if strings.HasPrefix(g, prefix) && strings.Contains(g, w[1]) {
				left = append(left[:i], left[i+1:]...)
				continue next
			}
		}
		t.Errorf("missing: %s…%s…\ngot:\n  %s", prefix, w[1], strings.Join(got, "\n  "))
	}
	if len(left) > 0 && !t.Failed() {
		t.Errorf("not expected:\n  %s", strings.Join(left, "\n  "))
	}
}

const minimal = `program = "k.ptx"
[[launches]]
grid = 1
block = 32
`

func TestParseWhole(t *testing.T) {
	src := "\ufeff" + strings.ReplaceAll(`# everything that a job file can say
programs = ["k.ptx", "l.ptx"]
gpu = "v100"

[buffers.z]                # file order, not alphabetical
type = "f64"
count = 1_000
init = "random"
seed = 7
range = [-1, 2.5]
[buffers."a b"]
type = "s8"
values = [-128, 127]
[buffers.m]
type = "u64"
count = 2
init = "values"
values = ["0xffffffffffffffff", 1]

[symbols.table]
type = "bf16"
count = 3
init = "iota"

[textures.t]
buffer = "z"
format = "u8x4"
width = 4
height = 2
filter = "linear"
read = "normalized"
normalized = true
address = ["wrap", "mirror"]

[[steps]]
launch = { kernel = "k", grid = [2, 3], block = [4, 4, 2], shared = 16, stream = 2, registers = 24, args = [
  { buffer = "z", offset = 8 },
  { s16 = -2 }, # a comment
  { f16 = 1.5 },
  { bytes = "00 ff_10" },
  { texture = "t" } ] }
[[steps]]
copy = { from = "host:in.bin", to = "m", bytes = 16, stream = 1 }
[[steps]]
sync = true

[[checks]]
buffer = "z"
file = "z.bin"
offset = 5
tolerance = 1e-3
[[checks]]
symbol = "table"
values = [nan, 1]
`, "\n", "\r\n")
	j, err := Parse("dir/job.toml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := j.BufferNames(), []string{"z", "a b", "m"}; !cmp.Equal(got, want) {
		t.Errorf("buffers %q, want %q", got, want)
	}
	if d := j.Buffers[1]; d.Count != 2 || d.Init != InitValues || S8.Format(d.Values[0]) != "-128" {
		t.Errorf("buffer a b: %+v", d)
	}
	if d := j.Buffers[2]; d.Values[0] != ^uint64(0) {
		t.Errorf("buffer m: %+v", d)
	}
	l := j.Steps[0].Launch
	if l.Grid != [3]int64{2, 3, 1} || l.Block != [3]int64{4, 4, 2} || l.Shared != 16 || l.Registers != 24 || j.Steps[0].Stream != 2 {
		t.Errorf("launch: %+v", l)
	}
	var args []string
	for _, a := range l.Args {
		args = append(args, fmt.Sprintf("%s %x %s %d", a.Word, a.Bytes, a.Name, a.Offset))
	}
	want := []string{"buffer  z 8", "s16 feff  0", "f16 003e  0", "bytes 00ff10  0", "texture  t 0"}
	if diff := cmp.Diff(want, args); diff != "" {
		t.Error(diff)
	}
	x := j.Textures[0]
	if !x.Linear || !x.Normalized || !x.ReadNormalized || x.Format != "u8" || x.Channels != 4 || x.Address != [3]string{"wrap", "mirror", "clamp"} {
		t.Errorf("texture: %+v", x)
	}
	if p := j.Path("in.bin"); p != filepath.Join("dir", "in.bin") {
		t.Errorf("path %s", p)
	}
	if c := j.Checks[1]; c.Type != BF16 || !c.anyNaN[0] || c.anyNaN[1] || c.Values[1] != 0x3f80 {
		t.Errorf("check: %+v", c)
	}
}

func TestStepOrder(t *testing.T) {
	step := func(kind, event string, stream int) string {
		if kind == "sync" {
			return "[[steps]]\nsync = true\n"
		}
		if kind == "launch" {
			return fmt.Sprintf("[[steps]]\nlaunch = { grid = 1, block = 1, stream = %d }\n", stream)
		}
		return fmt.Sprintf("[[steps]]\n%s = { event = %q, stream = %d }\n", kind, event, stream)
	}
	for _, c := range []struct {
		name  string
		steps []string
		want  []int
	}{
		{"file order", []string{step("launch", "", 1), step("launch", "", 2), step("launch", "", 1)}, []int{0, 1, 2}},
		{"wait after record", []string{step("launch", "", 1), step("record", "e", 1), step("wait", "e", 2), step("launch", "", 2)}, []int{0, 1, 2, 3}},
		{"wait before record", []string{step("wait", "e", 2), step("launch", "", 2), step("launch", "", 1), step("record", "e", 1)}, []int{2, 3, 0, 1}},
		{"wait for the last record before", []string{step("record", "e", 1), step("wait", "e", 2), step("launch", "", 2), step("record", "e", 1)}, []int{0, 1, 2, 3}},
		{"sync", []string{step("wait", "e", 2), step("record", "e", 1), step("sync", "", 0), step("launch", "", 2)}, []int{1, 0, 2, 3}},
		{"chain", []string{step("wait", "b", 3), step("wait", "a", 2), step("record", "b", 2), step("record", "a", 1)}, []int{3, 1, 2, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			j, err := Parse("j.toml", []byte("program = \"k.ptx\"\n"+strings.Join(c.steps, "")))
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for _, s := range j.Steps {
				got = append(got, s.Index)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestManyErrorsAreCut(t *testing.T) {
	var b strings.Builder
	b.WriteString(minimal)
	for i := range 100 {
		fmt.Fprintf(&b, "[buffers.b%d]\ntype = \"u99\"\ncount = 1\n", i)
	}
	_, err := Parse("j.toml", []byte(b.String()))
	got := messages(err)
	if len(got) != tomlfile.MaxErrors+1 || !strings.Contains(got[tomlfile.MaxErrors], "and 80 more errors") {
		t.Errorf("%d messages, the last %q", len(got), got[len(got)-1])
	}
}

func TestTooDeep(t *testing.T) {
	_, err := Parse("j.toml", []byte("program = "+strings.Repeat("[", 200_000)))
	if err == nil || !strings.Contains(err.Error(), "nested lists or tables") {
		t.Errorf("got %v", err)
	}
}

func FuzzJob(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*.toml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Add([]byte("\ufeff" + minimal))
	f.Fuzz(func(t *testing.T, src []byte) {
		j, err := Parse("fuzz.toml", src)
		if (j == nil) == (err == nil) {
			t.Fatalf("job %v, error %v", j, err)
		}
		for _, m := range messages(err) {
			if !strings.HasPrefix(m, "fuzz.toml:") {
				t.Fatalf("message without a place: %s", m)
			}
		}
	})
}

// Large inputs take time in proportion to their size.
func TestLargeInputs(t *testing.T) {
	const n = 100_000
	var waits strings.Builder
	waits.WriteString("program = \"k.ptx\"\n")
	for i := range 5000 {
		fmt.Fprintf(&waits, "[[steps]]\nwait = { event = \"e%d\", stream = %d }\n", i, i)
	}
	for i := range 5000 {
		fmt.Fprintf(&waits, "[[steps]]\nrecord = { event = \"e%d\", stream = %d }\n", i, i+5000)
	}
	for name, src := range map[string]string{
		"launches":     "program = \"k.ptx\"\n" + strings.Repeat("[[launches]]\ngrid = 1\nblock = 1\n", 10_000),
		"one line":     "program = \"k.ptx\"\n[buffers.a]\ntype = \"u8\"\nvalues = [" + strings.Repeat("1, ", n) + "]\n",
		"dotted key":   strings.Repeat("a.", n) + "b = 1\n",
		"dotted table": "[" + strings.Repeat("a.", n) + "b]\n",
		"waits":        waits.String(),
		"unknown":      minimal + strings.Repeat("args = [", 1) + strings.Repeat("{ buffer = \"none\" }, ", n/10) + "]\n",
		"backslashes":  "\"" + strings.Repeat("\\", n),
	} {
		start := time.Now()
		_, err := Parse("j.toml", []byte(src))
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%s: %v", name, d)
		}
		if good := name == "launches" || name == "waits"; good && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
