// Package job reads job files and runs them. It is the host side of a simulation, like
// the main function of a CUDA program. A job file lists programs, buffers and their
// contents, launches, copies, and expected results.
//
// It does not execute instructions (exec), print results (report), or count time. A job
// goes through three stages, each of which reports all its errors with file, line and
// column before the next begins: Parse looks only at the text, Open reads the referenced
// files and links the programs, and Run allocates, fills, launches and checks. Jobs of
// the Kepler-style core have their own format and go through the same stages: see
// KeplerJob.
package job

import (
	"fmt"
	"github.com/heddle-sim/heddle/internal/near"
	"sort"
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
)

// Error is an error in a job, at a position in its file.
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

// Errors are all the errors of one stage, in file order.
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

// maxErrors limits the messages of one stage: more errors than that are mostly
// repetitions of one mistake.
const maxErrors = 20

// keptErrors limits the messages that are kept for sorting: further errors are only
// counted, so that a file full of errors costs little.
const keptErrors = 10 * maxErrors

// errorList collects errors of one file.
type errorList struct {
	file string
	errs Errors
	more int // errors beyond keptErrors
}

func (l *errorList) add(pos isa.Pos, format string, args ...any) {
	if len(l.errs) >= keptErrors {
		l.more++
		return
	}
	l.errs = append(l.errs, &Error{File: l.file, Pos: pos, Msg: fmt.Sprintf(format, args...)})
}

// unknown adds an error about a name that is not among names; kind says what these are.
// The suggestion is appended to the formatted text.
func (l *errorList) unknown(pos isa.Pos, word string, names []string, kind, format string, args ...any) {
	if len(l.errs) >= keptErrors {
		l.more++
		return
	}
	hint := ""
	if len(l.errs) < 2*maxErrors { // searching many names takes long
		hint = near.Suggest(word, names, kind)
	}
	l.add(pos, "%s%s", fmt.Sprintf(format, args...), hint)
}

// err returns the errors in file order, or nil.
func (l *errorList) err() error {
	if len(l.errs) == 0 {
		return nil
	}
	sort.SliceStable(l.errs, func(i, j int) bool {
		a, b := l.errs[i].Pos, l.errs[j].Pos
		return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col
	})
	if n := len(l.errs) + l.more; n > maxErrors {
		l.errs = append(l.errs[:maxErrors:maxErrors], &Error{File: l.file, Msg: fmt.Sprintf("and %d more errors", n-maxErrors)})
	}
	return l.errs
}
