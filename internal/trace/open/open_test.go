package open

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorded is a folder of text.
const recorded = "../text/testdata/backprop"

// Each form is found by what lies at the path.
func TestOpen(t *testing.T) {
	for _, c := range []struct{ path, form string }{
		{recorded, "Accel-Sim version 5"},
		{recorded + "/kernelslist.g", "Accel-Sim version 5"},
		{recorded + "/kernel-11-ctx_0x55dfecb31820.traceg", "Accel-Sim version 5"},
		{"../text/testdata/lud", "Accel-Sim, first generation"},
		{"../text/testdata/bfs/kernel-15.traceg.xz", "Accel-Sim version 3"},
	} {
		if !Is(c.path) {
			t.Errorf("%s is not taken for a trace", c.path)
		}
		set, err := Open(c.path)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
		} else if set.Form != c.form {
			t.Errorf("%s is taken for %q, not %q", c.path, set.Form, c.form)
		}
	}
}

// What is no trace is told from what is, and says what is missing.
func TestNoTrace(t *testing.T) {
	dir := t.TempDir()
	ptx := filepath.Join(dir, "k.ptx")
	if err := os.WriteFile(ptx, []byte(".version 8.0\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{ptx, dir, filepath.Join(dir, "none")} {
		if Is(path) {
			t.Errorf("%s is taken for a trace", path)
		}
	}
	for path, want := range map[string]string{dir: "there is no kernelslist.g", filepath.Join(dir, "none"): "no such file", t.TempDir(): "the folder is empty"} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %s", path, err, want)
		}
	}
}
