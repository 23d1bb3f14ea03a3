// Package tracetest provides the recorded traces of testdata/traces to tests.
//
// Only tests may import it.
package tracetest

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ulikunitz/xz"
)

// ending is the suffix of archive names.
const ending = ".tar.xz"

// Dir returns the folder of the archives; its NOTICE.md gives their origin.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return filepath.Join(dir, "testdata", "traces")
		}
		if up := filepath.Dir(dir); up != dir {
			dir = up
		} else {
			err = errors.New("no go.mod in or above the working directory")
		}
	}
	t.Fatal(err)
	return ""
}

// Names returns the names of all archives in ascending order.
func Names(t testing.TB) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(Dir(t), "*"+ending))
	if err != nil || len(list) == 0 {
		t.Fatalf("no traces in %s (%v)", Dir(t), err)
	}
	for i := range list {
		list[i] = strings.TrimSuffix(filepath.Base(list[i]), ending)
	}
	return list
}

var (
	mu       sync.Mutex
	unpacked = map[string]map[string]string{}
)

// Files returns the files of an archive by their base names. They are unpacked once
// and must not be changed. A name with a folder refers to an archive elsewhere.
func Files(t testing.TB, name string) map[string]string {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	if files := unpacked[name]; files != nil {
		return files
	}
	path := name + ending
	if filepath.Base(name) == name {
		path = filepath.Join(Dir(t), path)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := xz.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		var b []byte
		if err == nil && h.Typeflag == tar.TypeReg {
			b, err = io.ReadAll(r)
			files[filepath.Base(h.Name)] = string(b)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	unpacked[name] = files
	return files
}

// Folder returns a new folder with the files of an archive, under its name. The
// test may change them; the folder is removed after the test.
func Folder(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), filepath.Base(name))
	err := os.Mkdir(dir, 0o777)
	for file, text := range Files(t, name) {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
