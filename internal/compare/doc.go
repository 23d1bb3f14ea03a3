// Package compare compares cycles, or any other counter, of two sources: a table of
// hardware measurements with results of runs, or results with each other. It reads
// both, pairs their rows, and reports the errors as text, JSON, comma-separated
// values and two pictures.
//
// The first source, A, is the reference for the second, B: a ratio is B/A, an error
// (B−A)/A. The package runs nothing, and does not know what a counter means.
package compare

import "fmt"

// Error is an error in a file, with its place.
type Error struct {
	File string
	Line int // 1 is the first; 0 if the whole file is meant
	Col  int // in bytes, 1 is the first
	Msg  string
}

// Error returns the place in the form that editors know, and the error.
func (e *Error) Error() string {
	switch {
	case e.Line == 0:
		return e.File + ": " + e.Msg
	case e.Col == 0:
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
}

// What a row is: one launch of a kernel, or a whole run.
const (
	Kernels = "kernel"
	Runs    = "run"
)

// Row is a value of one source.
type Row struct {
	Name   string  // the kernel's, or the run's; "" if the source gives none
	Group  string  // the row's kind: a kernel's name without its parameters, a benchmark
	Launch int     // number of the launch in the source; -1 if it does not say
	Value  float64 // the compared value, after subtracting [Options].Less
	File   string
	Line   int // in the file; 0 for a result
}

// Table is one source: rows in its order, launches of a result in theirs.
type Table struct {
	Side   string   // "a" or "b"
	Files  []string // in the order given
	What   string   // what the files are, in words
	Metric string   // the column or key that holds the values
	Less   float64  // subtracted from each value, for every kernel of a row
	Rows   []Row
	Notes  []string // for the reader: rows without a value, runs that failed
}

// The bounds of a value that is not 0 (our choice): beyond any counter, and such
// that sums, squares and ratios of them stay in the range of a float64.
const (
	leastValue = 1e-20
	mostValue  = 1e20
)
