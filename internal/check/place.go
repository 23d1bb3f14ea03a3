package check

import (
	"cmp"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/plain"
)

// InLibrary reports whether a file belongs to a compiler, a system or the headers that come
// with heddle, and not to the program. Names are as debug information has them.
func InLibrary(file string) bool {
	file = filepath.ToSlash(filepath.Clean(file))
	for _, part := range libraryFolders {
		if strings.Contains(file, part) {
			return true
		}
	}
	return strings.HasPrefix(file, "/usr/include/") || strings.HasPrefix(file, "/usr/lib/")
}

// libraryFolders are in the paths of headers that come with compilers and toolkits.
var libraryFolders = []string{
	"/lib/clang/",    // clang's own: __clang_cuda_intrinsics.h
	"/heddle/sdk-",   // ours, in the user's cache
	"/cuda/include/", // NVIDIA's toolkit, in any folder
	"/include/c++/",  // libstdc++, libc++
	"/targets/x86_64-linux/include/",
	"heddle/check.h", // a program's own copy of it
}

// PlaceOf makes a place of a location in device code. Where the line is one of a header of the
// SDK that was inlined, and the compiler wrote down into what, the place is that line. Without
// lines of a source it is one of the program text.
func PlaceOf(w exec.Where) Place {
	p := Place{File: w.SrcFile, Line: w.SrcLine, Function: plain.Instance(cmp.Or(w.Function, w.Kernel)), PC: w.PC, Inst: w.Inst}
	if file, line, ok := lineOf(w.Near); p.Line == 0 && ok {
		p.File, p.Line = file, line
	}
	if p.Line == 0 && w.Pos.Line > 0 {
		p.File, p.Line = w.File, int(w.Pos.Line)
		return p
	}
	if p.Library = InLibrary(p.File); p.Library {
		if file, line, ok := lineOf(w.Inlined); ok && !InLibrary(file) {
			p.File, p.Line, p.Library = file, line, false
		}
	}
	return p
}

// lineOf returns the parts of FILE:LINE.
func lineOf(s string) (file string, line int, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i <= 0 {
		return "", 0, false
	}
	line, err := strconv.Atoi(s[i+1:])
	return s[:i], line, err == nil
}
