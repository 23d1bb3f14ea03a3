package kasm

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
)

// encodingNote is the line of a hex file that names a numbering other than the core's own.
const encodingNote = "# encoding: "

// FormatHex writes one word per line as 16 hex digits.
func FormatHex(words []uint64, enc Encoding) string {
	var b strings.Builder
	if enc != RTL {
		b.WriteString(encodingNote + enc.String() + "\n")
	}
	for _, w := range words {
		fmt.Fprintf(&b, "%016x\n", w)
	}
	return b.String()
}

// ParseHex reads one word per line as 16 hex digits. Lines that start with # are comments;
// "# encoding: datasheet" selects the numbering. On error it returns an ErrorList.
func ParseHex(file, text string) ([]uint64, Encoding, error) {
	var words []uint64
	var errs ErrorList
	enc := RTL
	for i, line := range strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") {
		s := strings.TrimSpace(line)
		fail := func(hint, format string, args ...any) {
			if len(errs) < maxErrors {
				col := strings.Index(line, s) + 1
				errs = append(errs, &Error{File: file, Pos: isa.Pos{Line: int32(i + 1), Col: int32(col)}, Msg: fmt.Sprintf(format, args...), Hint: hint, Text: line})
			}
		}
		if name, ok := strings.CutPrefix(s, encodingNote); ok {
			if enc, ok = EncodingByName(strings.TrimSpace(name)); !ok {
				fail("the numberings are rtl and datasheet", "unknown encoding %q", strings.TrimSpace(name))
			}
			continue
		}
		if s == "" || s[0] == '#' {
			continue
		}
		v, err := strconv.ParseUint(s, 16, 64)
		if err != nil || len(s) != 16 {
			if len(s) > 40 {
				s = s[:40]
			}
			fail("for example 0100000070000000", "expected one word of 16 hex digits, found %q", s)
			continue
		}
		if len(words) == ProgramWords {
			fail("", "a warp's program memory holds %d words", ProgramWords)
			break
		}
		words = append(words, v)
	}
	if len(errs) > 0 {
		return nil, enc, errs
	}
	return words, enc, nil
}
