package tomlfile

import (
	"fmt"
	"sort"
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/near"
)

// Error is an error at a position in a file.
type Error struct {
	File string
	Pos  isa.Pos // zero without a position
	Msg  string
	Err  error // the cause, if any
}

func (e *Error) Error() string {
	if e.Pos.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Msg)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Pos.Line, e.Pos.Col, e.Msg)
}

// Unwrap returns the cause of the error.
func (e *Error) Unwrap() error { return e.Err }

// Errors are all the errors of a file, in file order.
type Errors []*Error

func (l Errors) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the individual errors.
func (l Errors) Unwrap() []error {
	errs := make([]error, len(l))
	for i, e := range l {
		errs[i] = e
	}
	return errs
}

// MaxErrors limits the messages of a file: more errors than that are mostly
// repetitions of one mistake.
const MaxErrors = 20

// keptErrors limits the messages that are kept for sorting: further errors are only
// counted, so that a file full of errors costs little.
const keptErrors = 10 * MaxErrors

// Reader reads values of a file and collects what is wrong with them.
type Reader struct {
	File string
	errs Errors
	more int // errors beyond keptErrors
}

// Add adds an error; a zero position means the file as a whole.
func (r *Reader) Add(pos isa.Pos, format string, args ...any) {
	if len(r.errs) >= keptErrors {
		r.more++
		return
	}
	r.errs = append(r.errs, &Error{File: r.File, Pos: pos, Msg: fmt.Sprintf(format, args...)})
}

// Unknown adds an error about a name that is not among names; kind says what these are.
// The suggestion is appended to the formatted text.
func (r *Reader) Unknown(pos isa.Pos, word string, names []string, kind, format string, args ...any) {
	if len(r.errs) >= keptErrors {
		r.more++
		return
	}
	hint := ""
	if len(r.errs) < 2*MaxErrors { // searching many names takes long
		hint = near.Suggest(word, names, kind)
	}
	r.Add(pos, "%s%s", fmt.Sprintf(format, args...), hint)
}

// Wrong returns the number of errors so far.
func (r *Reader) Wrong() int { return len(r.errs) + r.more }

// Keep adds an error that has been made elsewhere.
func (r *Reader) Keep(err *Error) { r.errs = append(r.errs, err) }

// Err returns the errors in file order, or nil.
func (r *Reader) Err() error {
	if len(r.errs) == 0 {
		return nil
	}
	sort.SliceStable(r.errs, func(i, j int) bool {
		a, b := r.errs[i].Pos, r.errs[j].Pos
		return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col
	})
	if n := len(r.errs) + r.more; n > MaxErrors {
		r.errs = append(r.errs[:MaxErrors:MaxErrors], &Error{File: r.File, Msg: fmt.Sprintf("and %d more errors", n-MaxErrors)})
	}
	return r.errs
}
