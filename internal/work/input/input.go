// Package input says of what is given to be run which kind of work it is and which files it
// reads, and identifies it by their content.
//
// It runs nothing.
package input

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/trace/open"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// Kind returns the kind of work of a path, by content and not only by name. What it does not
// know it takes for a job file, whose reader says what is wrong.
func Kind(path string) run.Kind {
	switch {
	case IsCase(path) || IsKasm(path):
		return run.KeplerCore
	case job.IsKepler(path):
		return run.KeplerJob
	case open.Is(path):
		return run.Trace
	}
	return run.Job
}

// IsKasm reports whether a path is a program of the Kepler-style core.
func IsKasm(path string) bool { return named(path, ".kasm") }

// IsCase reports whether a path is a recorded case of the Kepler-style core.
func IsCase(path string) bool {
	if !named(path, ".json") {
		return false
	}
	text, err := job.ReadFile(path) // the format may be anywhere in it
	return err == nil && bytes.Contains(text, []byte("heddle-kepler-case"))
}

// named reports whether a path is a regular file with that extension.
func named(path, ext string) bool {
	if strings.ToLower(filepath.Ext(path)) != ext {
		return false
	}
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// Files returns the files and folders that a run of a path reads, apart from the machine's.
func Files(path string, kind run.Kind) ([]string, error) {
	switch kind {
	case run.Job:
		j, err := job.ParseFile(path)
		if err != nil {
			return nil, err
		}
		return j.Files(), nil
	case run.KeplerJob:
		j, err := job.ParseKeplerFile(path)
		if err != nil {
			return nil, err
		}
		return j.Job.Files(), nil
	case run.Trace:
		t, err := open.Open(path)
		if err != nil {
			return nil, err
		}
		return t.Files, nil
	}
	return []string{path}, nil
}

// Digest identifies what files and folders hold, through links, and some text beside them.
// Where they are does not matter, so that a copy has the same digest. A missing file counts as
// such: a run says what it lacks.
func Digest(text string, files ...string) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", text)
	for _, f := range files {
		if err := add(h, f, nil); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// add adds what a file or a folder holds; around are the folders that it is in, since a link
// may lead to one of them.
func add(h hash.Hash, name string, around []string) error {
	real, err := filepath.EvalSymlinks(name)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprint(h, "missing\n")
		return nil
	}
	if err != nil || slices.Contains(around, real) {
		return err
	}
	around = append(around, real)
	return filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(real, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%q\n", filepath.ToSlash(rel))
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			return add(h, path, around)
		case !d.Type().IsRegular():
			return nil // no run reads it
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		st, err := f.Stat()
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%d\n", st.Size())
		_, err = io.Copy(h, f)
		return err
	})
}
