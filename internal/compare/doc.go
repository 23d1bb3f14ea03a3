// Package compare holds cycles, or any other counter, of one source against
// those of another: what hardware measured, from a table, against results of
// runs, or results against each other. It reads both, finds which rows belong
// together, and says how far they are apart, as text, JSON, comma-separated
// values and two pictures.
//
// The first source, A, is the reference; the second, B, is judged by it: a
// ratio is B/A, an error (B−A)/A. It runs nothing, and it does not know what a
// counter means.
package compare

import "fmt"

// Error is what is wrong with a file, and where.
type Error struct {
	File string
	Line int // 1 is the first; 0 if the whole file is meant
	Col  int // in bytes, 1 is the first
	Msg  string
}

// Error writes the place as editors know it, and what is wrong.
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
	Name   string  // the kernel's, or the run's; "" where the source gives none
	Group  string  // what rows of one kind have in common: a kernel's name without its parameters, a benchmark
	Launch int     // number of the launch as the source counts it; -1 where it does not say
	Value  float64 // what is compared, after the subtraction of [Options].Less
	File   string
	Line   int // in the file, 0 of a result
}

// Table is one source: rows in its order, launches of a result in theirs.
type Table struct {
	Side   string   // "a" or "b"
	Files  []string // in the order given
	What   string   // what the files are, in words
	Metric string   // the column or key that holds the values
	Less   float64  // what was subtracted from each value, for every kernel of a row
	Rows   []Row
	Notes  []string // what a reader should know: rows without a value, runs that failed
}

// The bounds of a value that is not 0 (our choice): beyond any counter, and
// such that no sum, square or ratio of them leaves the range of a float64.
const (
	leastValue = 1e-20
	mostValue  = 1e20
)
