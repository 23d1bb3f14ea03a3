package sass

import (
	"cmp"
	"slices"

	"github.com/heddle-sim/heddle/internal/isa"
)

// Error is one thing that is wrong with a program, ErrorList everything, in the
// order of its lines.
type (
	Error     = isa.SourceError
	ErrorList = isa.SourceErrors
)

// maxErrors bounds how much is said about one file.
const maxErrors = 20

// sorted puts the list in the order of the lines and cuts it.
func sorted(l ErrorList) ErrorList {
	slices.SortStableFunc(l, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
	return l[:min(len(l), maxErrors)]
}
