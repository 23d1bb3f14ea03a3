package sass

import (
	"cmp"
	"slices"

	"github.com/heddle-sim/heddle/internal/isa"
)

// Error is one mistake in a program, ErrorList all of them, in line order.
type (
	Error     = isa.SourceError
	ErrorList = isa.SourceErrors
)

// maxErrors bounds the number of errors reported for one file.
const maxErrors = 20

// sorted sorts the list by line and truncates it.
func sorted(l ErrorList) ErrorList {
	slices.SortStableFunc(l, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
	return l[:min(len(l), maxErrors)]
}
