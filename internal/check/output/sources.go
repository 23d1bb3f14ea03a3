package output

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// Sources finds the lines of source files that findings name. The zero value looks where the
// names say.
type Sources struct {
	Roots []string // folders in which names are looked for, with their folders and without
	files map[string]source
}

// source is a file that was looked for.
type source struct {
	path  string // "": not found
	lines [][]byte
}

// mostSource limits the size of a source file that is read, our choice.
const mostSource = 16 << 20

// file returns a file, which has no path if it cannot be read as text.
func (s *Sources) file(name string) source {
	if f, ok := s.files[name]; ok {
		return f
	}
	if s.files == nil {
		s.files = map[string]source{}
	}
	paths := []string{name}
	for _, dir := range s.Roots {
		if !filepath.IsAbs(name) {
			paths = append(paths, filepath.Join(dir, name))
		}
		paths = append(paths, filepath.Join(dir, filepath.Base(name)))
	}
	var f source
	for _, p := range paths {
		if st, err := os.Stat(p); err != nil || !st.Mode().IsRegular() || st.Size() > mostSource {
			continue
		}
		if b, err := os.ReadFile(p); err == nil && bytes.IndexByte(b, 0) < 0 {
			f = source{p, bytes.Split(b, []byte("\n"))}
			break
		}
	}
	s.files[name] = f
	return f
}

// Path returns where a file is, "" if it is not found.
func (s *Sources) Path(file string) string { return s.file(file).path }

// Line returns a line of a source file without white space around it, "" if it is not known.
// Lines count from 1.
func (s *Sources) Line(file string, n int) string {
	if file == "" || n < 1 {
		return ""
	}
	if list := s.file(file).lines; n <= len(list) {
		return strings.ToValidUTF8(string(bytes.TrimSpace(list[n-1])), "?")
	}
	return ""
}
