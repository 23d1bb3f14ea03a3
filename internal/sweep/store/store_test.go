package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOpen(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, dir string)
		want string // of the error
	}{
		{"a new folder", func(*testing.T, string) {}, ""},
		{"a store", func(t *testing.T, dir string) {
			if _, err := Open(dir); err != nil {
				t.Fatal(err)
			}
		}, ""},
		{"an empty folder", func(t *testing.T, dir string) { mkdir(t, dir) }, ""},
		{"another process is making it", func(t *testing.T, dir string) { mkdir(t, dir); put(t, filepath.Join(dir, newFile+"1"), "") }, ""},
		{"another folder", func(t *testing.T, dir string) { mkdir(t, dir); put(t, filepath.Join(dir, "thesis.tex"), "") }, "is not a store and not empty"},
		{"a file", func(t *testing.T, dir string) { put(t, dir, "") }, "not a directory"},
		{"a later version", func(t *testing.T, dir string) {
			mkdir(t, dir)
			put(t, filepath.Join(dir, formFile), `{"format": "heddle-store/9"}`)
		}, `the format is "heddle-store/9"; this version of heddle knows "heddle-store/1"`},
		{"nonsense", func(t *testing.T, dir string) { mkdir(t, dir); put(t, filepath.Join(dir, formFile), "{") }, "the format is"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			c.make(t, dir)
			_, err := Open(dir)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// Any number of processes may make a store, and write the same results.
func TestManyWriters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			s, err := Open(dir)
			if err != nil {
				t.Error(err)
				return
			}
			for _, d := range []string{"aa", "ab", "bc"} {
				if err := s.Put(&Record{Digest: d, Result: []byte(`{"cycles": 1}`)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	s, err := Existing(dir)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Digests()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"aa", "ab", "bc"}, list); diff != "" {
		t.Error(diff)
	}
}

func TestRecords(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get("aa"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a result that there is not: %v", err)
	}
	want := &Record{Digest: "aa", Input: "job", GPU: "v100", Settings: []Setting{{"l2.ways", "8"}}, Command: []string{"run", "x"}, Code: 1, Messages: "two\nlines", Seconds: 1.5, Peak: 7}
	failure := *want
	failure.Why = "it took too long"
	if err := s.Put(&failure); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Failure("aa"); err != nil || cmp.Diff(&failure, got) != "" {
		t.Errorf("the failure is %+v, error %v", got, err)
	}
	want.Result = []byte("{\n\"cycles\": 1}")
	if err := s.Put(want); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Get("aa"); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("the record is %+v, error %v", got, err)
	}
	if _, err := s.Failure("aa"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a failure beside the result: %v", err)
	}
	text, err := os.ReadFile(s.Path("aa"))
	if err != nil {
		t.Fatal(err)
	}
	mkdir(t, filepath.Dir(s.Path("bb")))
	for name, broken := range map[string][]byte{"cut": text[:len(text)-3], "empty": {}, "another's": text, "nonsense": []byte("nonsense")} {
		t.Run(name, func(t *testing.T) {
			put(t, s.Path("bb"), string(broken))
			var damaged *Damaged
			if _, err := s.Get("bb"); !errors.As(err, &damaged) {
				t.Fatalf("got %v", err)
			}
			if err := s.SetAside(damaged); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Get("bb"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("set aside: %v", err)
			}
		})
	}
}
