// Package job reads job files and runs them: it is the host side of a
// simulation, what a CUDA program's main function is to its kernels. A job
// file names programs, buffers and their contents, launches and copies, and
// what the results must be.
//
// It does not know what an instruction does (exec) nor how a result is printed
// (report); it does not count time.
//
// A job goes through three stages, each of which reports everything that is
// wrong with file, line and column before the next begins: Parse looks at the
// text alone, Open reads the files that it names and links the programs, and
// Run allocates, fills, launches and checks. Jobs of the Kepler-style core have
// a form of their own and go through the same stages: see KeplerJob.
package job

import (
	"fmt"
	"github.com/heddle-sim/heddle/internal/near"
	"sort"
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
)

// Error is something wrong with a job, at a place in its file.
type Error struct {
	File string
	Pos  isa.Pos // zero where no place is to blame
	Msg  string
	Err  error // what lies behind it, if anything
}

func (e *Error) Error() string {
	if e.Pos.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Msg)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Pos.Line, e.Pos.Col, e.Msg)
}

// Unwrap returns what lies behind the error.
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

// Unwrap returns the errors one by one.
func (l Errors) Unwrap() []error {
	errs := make([]error, len(l))
	for i, e := range l {
		errs[i] = e
	}
	return errs
}

// maxErrors bounds the messages of one stage; whoever made that many mistakes
// made one of them many times.
const maxErrors = 20

// keptErrors bounds the messages that are made before they are sorted: beyond
// it errors are only counted, so that a file of nothing but errors costs little.
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

// unknown adds an error about a name that is not among names; kind says what
// they are. The format ends where the suggestion is to follow.
func (l *errorList) unknown(pos isa.Pos, word string, names []string, kind, format string, args ...any) {
	if len(l.errs) >= keptErrors {
		l.more++
		return
	}
	hint := ""
	if len(l.errs) < 2*maxErrors { // a search through many names takes its time
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
