package open

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/trace"
	"github.com/heddle-sim/heddle/internal/trace/container"
	"github.com/heddle-sim/heddle/internal/trace/micro"
	"github.com/heddle-sim/heddle/internal/trace/text"
)

// recorded is a folder of text.
const recorded = "../text/testdata/backprop"

// Each format is detected from the contents of the path.
func TestOpen(t *testing.T) {
	for _, c := range []struct{ path, form string }{
		{recorded, "Accel-Sim version 5"},
		{recorded + "/kernelslist.g", "Accel-Sim version 5"},
		{recorded + "/kernel-11-ctx_0x55dfecb31820.traceg", "Accel-Sim version 5"},
		{"../text/testdata/lud", "Accel-Sim, first generation"},
		{"../text/testdata/bfs/kernel-15.traceg.xz", "Accel-Sim version 3"},
	} {
		if !Is(c.path) {
			t.Errorf("%s is not recognised as a trace", c.path)
		}
		set, err := Open(c.path)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
		} else if set.Form != c.form {
			t.Errorf("%s is recognised as %q, not %q", c.path, set.Form, c.form)
		}
	}
}

// A set names the files and folders that it is read from.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	packed, proto := filepath.Join(dir, "run.heddle-trace"), filepath.Join(dir, "proto")
	if err := container.Write(packed, mustOpen(t, recorded), nil); err != nil {
		t.Fatal(err)
	}
	if err := micro.Write(proto, mustOpen(t, packed), nil); err != nil {
		t.Fatal(err)
	}
	const launch = recorded + "/kernel-11-ctx_0x55dfecb31820.traceg"
	for _, c := range []struct {
		name, path string
		want       []string
	}{
		{"folder of text", recorded, []string{recorded + "/kernelslist.g", launch}},
		{"list of text", recorded + "/kernelslist.g", []string{recorded + "/kernelslist.g", launch}},
		{"single launch", launch, []string{launch}},
		{"container", packed, []string{packed}},
		{"MICRO'25", proto, []string{proto + "/dynamic_trace.pb", proto + "/extra_info/enhanced_execution_info.json", proto + "/threadblocks"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := mustOpen(t, c.path)
			if d := cmp.Diff(c.want, set.Files); d != "" {
				t.Error(d)
			}
			for _, file := range set.Files {
				if _, err := os.Stat(file); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// A run that is converted to each format and back to text is the same text, with
// one launch and its original name.
func TestThroughAllForms(t *testing.T) {
	dir := t.TempDir()
	was := mustOpen(t, recorded)
	packed := filepath.Join(dir, "run.heddle-trace")
	if err := container.Write(packed, was, nil); err != nil {
		t.Fatal(err)
	}
	proto := filepath.Join(dir, "proto")
	if err := micro.Write(proto, mustOpen(t, packed), nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, form string
		version    int
	}{{packed, "Heddle container", 0}, {proto, "MICRO'25", 5}} {
		if !Is(c.path) {
			t.Errorf("%s is not recognised as a trace", c.path)
		}
		set := mustOpen(t, c.path)
		if !strings.Contains(set.Form, c.form) {
			t.Errorf("%s is recognised as %q", c.path, set.Form)
		}
		out := filepath.Join(dir, "text of "+c.form)
		if err := text.Write(out, set, text.Options{Version: c.version}, nil); err != nil {
			t.Fatal(err)
		}
		files, _ := filepath.Glob(filepath.Join(out, "*.traceg"))
		if len(files) != 1 {
			t.Fatalf("the files are %v", files)
		}
		have, _ := os.ReadFile(files[0])
		want, err := os.ReadFile(filepath.Join(recorded, "kernel-11-ctx_0x55dfecb31820.traceg"))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), string(have)); d != "" {
			t.Errorf("converted through %s the text is\n%s", c.form, d)
		}
	}
}

func mustOpen(t *testing.T, path string) *trace.Set {
	t.Helper()
	set, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Paths without a trace are rejected, and the message names what is missing.
func TestNoTrace(t *testing.T) {
	dir := t.TempDir()
	ptx := filepath.Join(dir, "k.ptx")
	if err := os.WriteFile(ptx, []byte(".version 8.0\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{ptx, dir, filepath.Join(dir, "none")} {
		if Is(path) {
			t.Errorf("%s is recognised as a trace", path)
		}
	}
	for path, want := range map[string]string{dir: "there is no kernelslist.g", filepath.Join(dir, "none"): "no such file", "/dev/null": "neither a file nor a folder", t.TempDir(): "the folder is empty"} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %s", path, err, want)
		}
	}
}
