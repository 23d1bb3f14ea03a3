package input

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/heddle-sim/heddle/internal/run"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestKind(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"job.toml": `program = "a.ptx"`, "kepler.toml": `program = "a.kasm"`, "a.kasm": "EXIT ;",
		"case.json": `{"format": "heddle-kepler-case/1"}`, "other.json": "{}", "trace/kernelslist.g": "", "folder/file": "",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	for _, c := range []struct {
		name string
		want run.Kind
	}{
		{"job.toml", run.Job}, {"kepler.toml", run.KeplerJob}, {"a.kasm", run.KeplerCore}, {"case.json", run.KeplerCore},
		{"trace", run.Trace}, {"other.json", run.Job}, {"folder", run.Job}, {"missing", run.Job},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Kind(filepath.Join(dir, c.name)); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// A digest depends on what there is to read, and not on where it is.
func TestDigest(t *testing.T) {
	base := func(dir string) {
		write(t, filepath.Join(dir, "in", "a"), "text")
		write(t, filepath.Join(dir, "in", "b", "c"), "more")
		write(t, filepath.Join(dir, "outside"), "linked")
		for link, to := range map[string]string{"in/link": "../outside", "in/up": "..", "in/b/self": "."} {
			if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name   string
		change func(t *testing.T, dir string)
		same   bool
	}{
		{"elsewhere", func(*testing.T, string) {}, true},
		{"a file changes", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "in", "b", "c"), "mores") }, false},
		{"a link's file changes", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "outside"), "Linked") }, false},
		{"a file is renamed", func(t *testing.T, dir string) {
			if err := os.Rename(filepath.Join(dir, "in", "a"), filepath.Join(dir, "in", "z")); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"text moves between files", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "in", "a"), "tex")
			write(t, filepath.Join(dir, "in", "b", "c"), "tmore")
		}, false},
		{"a file is missing", func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "in", "a")); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			one, two := t.TempDir(), t.TempDir()
			base(one)
			base(two)
			c.change(t, two)
			var got [2]string
			for i, dir := range []string{one, two} {
				var err error
				if got[i], err = Digest("text", filepath.Join(dir, "in"), filepath.Join(dir, "in", "a")); err != nil {
					t.Fatal(err)
				}
			}
			if (got[0] == got[1]) != c.same {
				t.Errorf("same digest: %t, want %t", got[0] == got[1], c.same)
			}
		})
	}
	a, _ := Digest("one")
	if b, _ := Digest("two"); a == b {
		t.Error("another text has the same digest")
	}
}
