package sass

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is one thing that is wrong with a program.
type Error struct {
	File      string
	Line, Col int    // from one
	Msg       string // what is wrong
	Hint      string // how to mend it; may be empty
	Text      string // the line
}

// Error returns the message on one line: "file:line:col: message (hint)".
func (e *Error) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// maxExcerpt bounds how much of a line a message shows.
const maxExcerpt = 160

// Detail returns the message with the line, a caret under the column, and the
// hint.
func (e *Error) Detail() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
	if e.Text != "" && len(e.Text) <= maxExcerpt && e.Col >= 1 && e.Col <= len(e.Text)+1 {
		pad := strings.Map(func(r rune) rune {
			if r == '\t' {
				return r
			}
			return ' '
		}, e.Text[:e.Col-1])
		fmt.Fprintf(&b, "\n    %s\n    %s^", e.Text, pad)
	}
	if e.Hint != "" {
		fmt.Fprintf(&b, "\n  hint: %s", e.Hint)
	}
	return b.String()
}

// ErrorList is everything that is wrong with a program, in the order of its
// lines.
type ErrorList []*Error

// maxErrors bounds how much is said about one file.
const maxErrors = 20

func (l ErrorList) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Detail returns all messages with their lines.
func (l ErrorList) Detail() string {
	var b strings.Builder
	for _, e := range l {
		b.WriteString(e.Detail())
		b.WriteByte('\n')
	}
	return b.String()
}

// sorted puts the list in the order of the lines and cuts it.
func (l ErrorList) sorted() ErrorList {
	slices.SortStableFunc(l, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return l[:min(len(l), maxErrors)]
}
