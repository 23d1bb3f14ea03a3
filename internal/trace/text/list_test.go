package text

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// folder creates a folder with files.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A file with other contents does not fill memory with warnings.
func TestStrangeList(t *testing.T) {
	set, err := Open(folder(t, map[string]string{"kernelslist.g": "kernel-1.traceg\n" + strings.Repeat("x\n", 100_000), "kernel-1.traceg": two}))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(set.Warnings); n != mostNotes+1 || !strings.Contains(set.Warnings[n-1], fmt.Sprint(100_000-mostNotes, " more lines")) {
		t.Errorf("%d warnings, the last of them %q", n, set.Warnings[n-1])
	}
}

// A list gives its commands in order; lines that are neither copies nor launches
// are left out with a warning.
func TestList(t *testing.T) {
	dir := folder(t, map[string]string{
		"kernelslist.g":            "MemcpyHtoD,0x00007fc841500000,32768\n\nkernel-1-ctx_0x55.traceg\r\nncclAllReduce,4\nMemcpyDtoH,0x10,4\nMemcpyHtoD,0x10,1\nkernel-2.traceg",
		"kernel-1-ctx_0x55.traceg": two,
		"kernel-2.traceg":          two,
		"stats.csv":                statsHead + "kernel-1-ctx_0x55.trace, k, 2, 1, 1, 2, 48, 1, 1, 48, 8,8\nkernel-2.trace, k, 2, 1, 1, 2, 48, 1, 1, 48, 9,9\n",
	})
	for _, path := range []string{dir, filepath.Join(dir, "kernelslist.g")} {
		set, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, c := range set.Commands {
			switch {
			case c.Launch != nil:
				k := mustOpen(t, c.Launch)
				have = append(have, fmt.Sprintf("%d: launch %s of %d, %d warnings", c.Line, filepath.Base(c.Launch.Name()), k.WarpInsts, len(k.Warnings)))
			default:
				have = append(have, fmt.Sprintf("%d: copy %#x %d", c.Line, c.Addr, c.Bytes))
			}
		}
		want := []string{"1: copy 0x7fc841500000 32768", "3: launch kernel-1-ctx_0x55.traceg of 8, 0 warnings", "6: copy 0x10 1", "7: launch kernel-2.traceg of 8, 1 warnings"}
		if d := cmp.Diff(want, have); d != "" {
			t.Error(d)
		}
		if len(set.Warnings) != 2 || !strings.Contains(set.Warnings[0], "kernelslist.g:4: \"ncclAllReduce,4\"") {
			t.Errorf("the warnings are %q", set.Warnings)
		}
		if set.Form != "Accel-Sim version 5" {
			t.Errorf("the format is %q", set.Form)
		}
	}
}

// The kinds of paths that are accepted.
func TestPaths(t *testing.T) {
	one := map[string]string{"kernelslist.g": "kernel-1.traceg\n", "kernel-1.traceg": two}
	raw := map[string]string{"kernelslist": "kernel-1.trace\n", "kernel-1.trace": head(5, 0) + "0 0 0 0 0010 ffffffff 0 EXIT 0 0 0\n"}
	inner := map[string]string{"traces/kernelslist.g": "kernel-1.traceg\n", "traces/kernel-1.traceg": two}
	for _, c := range []struct {
		name  string
		files map[string]string
		path  string
	}{
		{"folder", one, ""}, {"list", one, "kernelslist.g"}, {"launch", one, "kernel-1.traceg"},
		{"raw folder", raw, ""}, {"raw list", raw, "kernelslist"}, {"raw launch", raw, "kernel-1.trace"},
		{"folder above", inner, ""},
	} {
		path := filepath.Join(folder(t, c.files), c.path)
		if !Is(path) {
			t.Errorf("%s is not recognised as a trace", c.name)
		}
		set, err := Open(path)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		mustOpen(t, set.Commands[0].Launch)
	}
	for name, text := range map[string]string{"job.toml": "[[launch]]\n", "k.ptx": ".version 8.0\n", "gpgpusim.config": "-gpgpu_ptx_instruction_classification 0\n", "empty": ""} {
		if Is(file(t, name, text)) {
			t.Errorf("%s is recognised as a trace", name)
		}
	}
}

// A listed file may have been compressed or decompressed since.
func TestPacked(t *testing.T) {
	for _, c := range [][2]string{{"kernel-1.traceg", "kernel-1.traceg.xz"}, {"kernel-1.traceg.xz", "kernel-1.traceg"}} {
		set, err := Open(folder(t, map[string]string{"kernelslist.g": c[0] + "\n", c[1]: two}))
		if err != nil {
			t.Fatal(err)
		}
		mustOpen(t, set.Commands[0].Launch)
	}
}

// Errors in lists and folders.
func TestListWrong(t *testing.T) {
	for _, c := range []struct {
		files map[string]string
		want  string
	}{
		{nil, "the folder is empty"},
		{map[string]string{"readme": "x"}, "there is no kernelslist.g"},
		{map[string]string{"kernel-1.traceg": two}, "give its file, such as kernel-1.traceg"},
		{map[string]string{"kernelslist.g": ""}, "names no launch"},
		{map[string]string{"kernelslist.g": "MemcpyHtoD,0x10,4\n"}, "names no launch"},
		{map[string]string{"kernelslist.g": "MemcpyHtoD,0x10\nkernel-1.traceg\n"}, "kernelslist.g:1: \"MemcpyHtoD,0x10\" is not a copy"},
		{map[string]string{"kernelslist.g": "MemcpyHtoD,0x10,-4\nkernel-1.traceg\n"}, "is not a copy"},
		{map[string]string{"kernelslist.g": "MemcpyHtoD,0x10,999999999999999999\nkernel-1.traceg\n"}, "is not a copy"},
		{map[string]string{"kernelslist.g": "kernel/../../secret\n"}, "kernelslist.g:1: \"kernel/../../secret\" leads out of the list's folder"},
		{map[string]string{"kernelslist.g": "kernel-" + strings.Repeat("1", 70_000)}, "a line of more than 64 KiB"},
	} {
		set, err := Open(folder(t, c.files))
		if err == nil {
			t.Errorf("%v: no error, %+v", c.files, set)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("the error is %v, want %s", err, c.want)
		}
	}
	if _, err := Open("/nowhere/at/all"); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
}

// A launch that cannot be read does not affect the others. Neither names nor links
// can lead out of the folder.
func TestLaunchWrong(t *testing.T) {
	secret := file(t, "secret", two)
	dir := folder(t, map[string]string{
		"kernelslist.g":   "kernel-1.traceg\nkernel-2.traceg\nkernel-3.traceg\nkernel-4.traceg\nkernel-5.traceg\nkernel-6.traceg\n",
		"kernel-1.traceg": two,
		"kernel-5.traceg": "\x1f\x8bxx",
		"in/real":         two,
	})
	if err := os.Symlink(secret, filepath.Join(dir, "kernel-2.traceg")); err != nil {
		t.Skip("this system has no links")
	}
	os.Symlink("in/real", filepath.Join(dir, "kernel-6.traceg"))
	os.Mkdir(filepath.Join(dir, "kernel-4.traceg"), 0o777)
	set, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "it is a link that leads out of the list's folder", "no such file (named at " + filepath.Join(dir, "kernelslist.g") + ":3)", "not a file", "gzip data", ""} {
		_, err := set.Commands[i].Launch.Open()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("launch %d: %v, want %s", i+1, err, want)
		}
	}
}

// Any list gives an error or commands.
func FuzzList(f *testing.F) {
	f.Add("MemcpyHtoD,0x00007fc841500000,32768\nkernel-1.traceg\n")
	f.Add("kernel/../../etc/passwd\n")
	f.Add("ncclAllReduce\nMemcpyDtoH,1,2\nkernel-1.traceg.xz")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, list string) {
		if err := os.WriteFile(filepath.Join(dir, "kernelslist.g"), []byte(list), 0o666); err != nil {
			t.Fatal(err)
		}
		set, err := Open(dir)
		if err != nil {
			return
		}
		for _, c := range set.Commands {
			if c.Launch != nil {
				if _, err := c.Launch.Open(); err == nil {
					t.Fatalf("%s was opened", c.Launch.Name())
				}
			}
		}
	})
}
