package view

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
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
// for in the folders of the program's texts and inputs, and in roots. Texts that are not found,
// not text or too large are left out.
func (p *Page) FindSources(roots []string) {
	if p.Sources == nil {
		p.Sources = map[string]string{}
	}
	left := mostSources
	for _, r := range p.Results {
		folders := append(slices.Clone(roots), "", filepath.Dir(r.Run.Input))
		if r.Name != "" {
			folders = append(folders, filepath.Dir(r.Name))
		}
		for i := range r.Run.Kernels {
			k := r.Run.Kernels[i].KernelTiming
			if k == nil {
				continue
			}
			for j := range k.Lines {
				l := &k.Lines[j]
				left -= p.find(l.File, folders, left)
				if l.SourceFile != "" {
					left -= p.find(l.SourceFile, append(folders, filepath.Dir(l.File)), left)
				}
			}
		}
	}
	for name, text := range p.Sources {
		if text == "" { // was looked for and not found
			delete(p.Sources, name)
		}
	}
}

// find reads one text, of at most this size, and returns its size.
func (p *Page) find(name string, folders []string, most int) int {
	if _, known := p.Sources[name]; known || name == "" {
		return 0
	}
	p.Sources[name] = ""
	if !slices.Contains(sourceNames, strings.ToLower(filepath.Ext(name))) {
		return 0
	}
	for _, base := range []string{name, filepath.Base(name)} {
		for _, dir := range folders {
			path := base
			if !filepath.IsAbs(base) {
				path = filepath.Join(dir, base)
			}
			if text, ok := readText(path, min(most, mostSource)); ok {
				p.Sources[name] = text
				return len(text)
			}
		}
	}
	return 0
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
