package ptx

import (
	"sort"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/near"
)

// Error is an error in a PTX file. ErrorList is what Parse returns for a file with
// errors: sorted by position, without duplicates.
type (
	Error     = isa.SourceError
	ErrorList = isa.SourceErrors
)

// maxErrors is the number of errors after which Parse stops reporting.
const maxErrors = 100

// finish sorts the list, removes duplicates, truncates it to maxErrors and fills in
// what all errors share.
func finish(l ErrorList, file string, lines []string) ErrorList {
	sort.SliceStable(l, func(i, j int) bool {
		a, b := l[i].Pos, l[j].Pos
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Col < b.Col
	})
	out := l[:0]
	for _, e := range l {
		if n := len(out); n > 0 && out[n-1].Pos == e.Pos && out[n-1].Msg == e.Msg {
			continue
		}
		out = append(out, e)
	}
	if len(out) > maxErrors {
		last := out[maxErrors]
		out = append(out[:maxErrors:maxErrors], &Error{Pos: last.Pos, Msg: "too many errors", Hint: "fix the errors above first"})
	}
	for _, e := range out {
		e.File = file
		if n := int(e.Pos.Line); n >= 1 && n <= len(lines) {
			e.Text = lines[n-1]
		}
	}
	return out
}

// didYouMean returns a hint that suggests the nearest name.
func didYouMean(name string, candidates []string) string {
	if n := near.Name(name, candidates); n != "" {
		return "did you mean " + n + "?"
	}
	return ""
}
