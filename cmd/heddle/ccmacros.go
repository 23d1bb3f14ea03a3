package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

// ownMacros separates the flags that define or undefine a program's own macros, and
// returns the other flags, and equivalent lines of C. Names that system headers use
// stay flags: those that begin with an underscore, NDEBUG, and those that select a
// variant of CUDA's headers.
func ownMacros(flags []string) (others []string, lines string) {
	var text strings.Builder
	for i := 0; i < len(flags); i++ {
		flag, words := flags[i:i+1], 1
		if slices.Contains(withValue, flags[i]) && i+1 < len(flags) {
			flag, words = flags[i:i+2], 2
		}
		i += words - 1
		joined := strings.Join(flag, "")
		define := strings.HasPrefix(joined, "-D")
		if !define && !strings.HasPrefix(joined, "-U") {
			others = append(others, flag...)
			continue
		}
		name, value, has := strings.Cut(joined[2:], "=")
		if !has {
			value = "1"
		}
		switch {
		case name == "" || name == "NDEBUG" || strings.HasPrefix(name, "_") || strings.HasPrefix(name, "CUDA_") || strings.ContainsAny(joined, "\r\n"):
			others = append(others, flag...)
		case define:
			fmt.Fprintf(&text, "#define %s %s\n", name, value)
		default:
			fmt.Fprintf(&text, "#undef %s\n", name)
		}
	}
	return others, text.String()
}

// macrosAfterHeaders defines a program's own macros in a file that is included
// first. Clang includes headers of its own before that, in which a name such as N
// or T is a parameter: with -DN=256 they would not compile. The file is in the
// SDK's folder under a name derived from its contents, so that the same command
// line gives the same call of clang.
func (c *ccCall) macrosAfterHeaders(kit sdk.SDK) error {
	others, lines := ownMacros(c.flags)
	if lines == "" {
		return nil
	}
	lines = "#line 1 \"<command line>\"\n" + lines
	sum := sha256.Sum256([]byte(lines))
	dir := filepath.Join(kit.Dir, "macros")
	file := filepath.Join(dir, hex.EncodeToString(sum[:8])+".h")
	c.flags = append([]string{"-include", file}, others...)
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	// Another call may create the same file, so it must appear complete.
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(dir, "new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	whole := filepath.Join(tmp, "macros.h")
	if err := os.WriteFile(whole, []byte(lines), 0o666); err != nil {
		return err
	}
	return os.Rename(whole, file)
}
