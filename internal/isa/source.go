package isa

import (
	"fmt"
	"strings"
)

// SourceError is one mistake in a program text.
type SourceError struct {
	File string
	Pos  Pos
	Msg  string // what is wrong, without the position
	Hint string // what was expected or how to fix it; may be empty
	Text string // the source line, without its end
}

// Error returns the message on one line: "file:line:col: message (hint)".
func (e *SourceError) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Pos.Line, e.Pos.Col, e.Msg)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Detail returns the message on several lines: position and message, the
// source line, a caret under the column, and the hint.
func (e *SourceError) Detail() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: %s", e.File, e.Pos.Line, e.Pos.Col, e.Msg)
	if e.Text != "" {
		text, pad := excerpt(e.Text, int(e.Pos.Col)-1)
		fmt.Fprintf(&b, "\n    %s\n    %s^", text, pad)
	}
	if e.Hint != "" {
		fmt.Fprintf(&b, "\n  hint: %s", e.Hint)
	}
	return b.String()
}

// maxExcerpt bounds the source text shown in a message; data initialisers make lines of many
// kilobytes.
const maxExcerpt = 160

// excerpt returns the part of line to show for byte offset at, and the white space that puts
// a caret under it. Tabs stay tabs in both, and only the first byte of a multi-byte character
// takes up a column.
func excerpt(line string, at int) (text, pad string) {
	if at < 0 {
		at = 0
	}
	if at > len(line) {
		at = len(line)
	}
	text, before := line, line[:at]
	if len(line) > maxExcerpt {
		lo := max(0, at-maxExcerpt/2)
		for lo > 0 && lo < len(line) && line[lo]&0xc0 == 0x80 {
			lo--
		}
		hi := min(len(line), lo+maxExcerpt)
		for hi < len(line) && line[hi]&0xc0 == 0x80 {
			hi++
		}
		text, before = line[lo:hi], line[lo:at]
		if lo > 0 {
			text, before = "... "+text, "... "+before
		}
		if hi < len(line) {
			text += " ..."
		}
	}
	var b strings.Builder
	for i := 0; i < len(before); i++ {
		switch c := before[i]; {
		case c == '\t':
			b.WriteByte('\t')
		case c&0xc0 != 0x80:
			b.WriteByte(' ')
		}
	}
	return text, b.String()
}

// SourceErrors is all mistakes in a text, in line order.
type SourceErrors []*SourceError

// Error returns all messages, one per line.
func (l SourceErrors) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Detail returns all messages with their source lines and carets.
func (l SourceErrors) Detail() string {
	parts := make([]string, len(l))
	for i, e := range l {
		parts[i] = e.Detail()
	}
	return strings.Join(parts, "\n")
}

// Unwrap lets errors.As find the individual errors.
func (l SourceErrors) Unwrap() []error {
	out := make([]error, len(l))
	for i, e := range l {
		out[i] = e
	}
	return out
}
