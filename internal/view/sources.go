package view

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/found"
)

// This file: the texts of programs.

// The bounds of texts in a page (our choice): generated code is long, but not that long.
const (
	mostSource  = 4 << 20
	mostSources = 24 << 20
)

// sourceNames are the extensions of files that a page may contain. A result names files, and a
// result from elsewhere must not make a page of other files of this computer.
var sourceNames = []string{
	".cu", ".cuh", ".h", ".hh", ".hpp", ".hxx", ".c", ".cc", ".cpp", ".cxx", ".inl", ".inc", ".ipp", ".cl", ".hip",
	".ptx", ".sass", ".kasm", ".ll", ".py", ".jl", ".rs", ".f90", ".cuf", ".mlir", ".ttir",
}

// FindSources reads the texts that the results name. Names that are no paths from here are looked
// for in the folders of the program's texts and inputs, and in roots. Of a result that was read from
// a file, names count only below the current folder, its file's folder and the roots. Texts that
// are not found, not text or too large are left out.
func (p *Page) FindSources(roots []string) {
	left := mostSources
	for i := range p.Results {
		r := &p.Results[i]
		f := finder{folders: append(slices.Clone(roots), ""), foreign: r.Foreign, found: map[string]string{}}
		if r.Foreign {
			f.folders = append(f.folders, filepath.Dir(r.Name))
		}
		f.within = slices.Clone(f.folders)
		f.folders = append(f.folders, filepath.Dir(r.Run.Input))
		for i := range r.Run.Kernels {
			if k := r.Run.Kernels[i].KernelTiming; k != nil {
				left -= f.lines(k.Lines, left)
			}
		}
		left -= f.lines(r.Run.Lines, left)
		left -= f.places(r.Run.Found, left)
		r.Sources = f.found
		for name, text := range r.Sources {
			if text == "" { // was looked for and not found
				delete(r.Sources, name)
			}
		}
	}
}

// finder finds the texts of one result.
type finder struct {
	folders []string // where they are looked for
	foreign bool     // the result is from a file
	within  []string // then: what they must be in
	found   map[string]string
}

// lines reads the texts that lines name, of at most this size, and returns their size.
func (f *finder) lines(list []report.Line, most int) (size int) {
	for i := range list {
		l := &list[i]
		size += f.find(l.File, "", most-size)
		if l.SourceFile != "" {
			size += f.find(l.SourceFile, filepath.Dir(l.File), most-size)
		}
	}
	return size
}

// places is lines for what checkers have found. Headers of the SDK are left out.
func (f *finder) places(doc *found.Document, most int) (size int) {
	if doc == nil {
		return 0
	}
	for _, x := range doc.Findings {
		for _, s := range x.Steps {
			for _, p := range append([]found.Place{s.Place}, s.Chain...) {
				if !p.Library && p.Line > 0 {
					size += f.find(p.File, "", most-size)
				}
			}
		}
	}
	return size
}

// find reads one text, of at most this size, and returns its size. It may be in a further folder.
func (f *finder) find(name, folder string, most int) int {
	if _, known := f.found[name]; known || name == "" {
		return 0
	}
	f.found[name] = ""
	if !slices.Contains(sourceNames, strings.ToLower(filepath.Ext(name))) {
		return 0
	}
	for _, base := range []string{name, filepath.Base(name)} {
		for _, dir := range append(slices.Clone(f.folders), folder) {
			path := base
			if !filepath.IsAbs(base) {
				path = filepath.Join(dir, base)
			}
			if f.foreign && !below(path, f.within) {
				continue
			}
			if text, ok := readText(path, min(most, mostSource)); ok {
				f.found[name] = text
				return len(text)
			}
		}
	}
	return 0
}

// below reports whether a path is in one of the folders.
func below(path string, folders []string) bool {
	at, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	for _, dir := range folders {
		if dir, err := filepath.Abs(dir); err == nil {
			if rel, err := filepath.Rel(dir, at); err == nil && filepath.IsLocal(rel) {
				return true
			}
		}
	}
	return false
}

// readText reads a regular file that is text.
func readText(path string, most int) (string, bool) {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() || st.Size() > int64(most) || st.Size() == 0 {
		return "", false
	}
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(most)))
	if err != nil || !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
		return "", false
	}
	return string(b), true
}

// New makes a page of results with the texts that they name.
func New(results []Result, roots []string) *Page {
	p := &Page{Results: results}
	p.FindSources(roots)
	return p
}
