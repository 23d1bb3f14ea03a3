package cli

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"

	"github.com/heddle-sim/heddle/internal/compare"
)

// compareCmd is `heddle compare`.
type compareCmd struct {
	A string   `arg:"" name:"a" help:"The reference: a table of hardware measurements (CSV with a heading, such as from Nsight Compute, or lines of key=value), or a result (heddle run --json). - is standard input."`
	B []string `arg:"" name:"b" help:"Compared with it: results, or tables."`

	By     string   `placeholder:"WHAT" help:"What a row is: kernel (one launch) or run (a whole result, named after its file); default: as in the tables."`
	Match  string   `default:"name" placeholder:"HOW" help:"How rows are paired: name (the default; the n-th row of a name with the n-th), order (the n-th row with the n-th), or launch (the same launch number)."`
	Key    string   `placeholder:"KEY" help:"What to compare: a column of a table, or a dotted path of a result, such as memory.l2.hits; default: cycles."`
	KeyA   string   `name:"key-a" placeholder:"KEY" help:"The key of A, if it differs."`
	KeyB   string   `name:"key-b" placeholder:"KEY" help:"The key of B, if it differs."`
	Name   []string `placeholder:"COLUMN" help:"The columns of tables that form a row's name, separated by commas; their cells are joined with -."`
	Where  []string `sep:"none" placeholder:"COLUMN=VALUE" help:"Only these rows of tables; != for all others (repeatable)."`
	LessA  float64  `name:"less-a" placeholder:"N" help:"Subtract N cycles from A for every launch, such as a launch latency that B does not include."`
	LessB  float64  `name:"less-b" placeholder:"N" help:"The same for B. A row of a table counts as one launch."`
	Min    float64  `name:"min-cycles" placeholder:"N" help:"Ignore rows whose reference is below N."`
	JSON   string   `name:"json" placeholder:"FILE" help:"Write the comparison as JSON (- is standard output; the text then goes to standard error)."`
	CSV    string   `name:"csv" placeholder:"FILE" help:"Write a line for every pair as CSV (- as with --json)."`
	Plot   string   `placeholder:"FILE" help:"Draw B over A on logarithmic axes, as .svg or .png."`
	Errors string   `placeholder:"FILE" help:"Draw the errors in ascending order, as .svg or .png."`
	Fail   *float64 `name:"fail-above" placeholder:"PCT" help:"Exit with code 1 if the mean absolute error is above this percentage."`
	Strict bool     `help:"Exit with code 1 if a row cannot be compared."`
	Quiet  bool     `help:"Print the summary without the table of rows."`
}

// Run compares the inputs.
func (c *compareCmd) Run(e env) error {
	if err := c.check(); err != nil {
		return err
	}
	sources, err := c.read(e.stdin)
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	o := compare.Options{By: c.By, KeyA: c.Key, KeyB: c.Key, Names: c.Name, Where: c.Where, LessA: c.LessA, LessB: c.LessB}
	if c.KeyA != "" {
		o.KeyA = c.KeyA
	}
	if c.KeyB != "" {
		o.KeyB = c.KeyB
	}
	a, b, by, err := compare.Tables(sources[0], sources[1:], o)
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	result, err := compare.Compare(a, b, by, c.Match, c.Min)
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	above := math.NaN()
	if c.Fail != nil {
		above = *c.Fail
	}
	verdict := result.Judge(above, c.Strict)
	if err := c.write(e, result, verdict == nil); err != nil {
		return err
	}
	if verdict != nil {
		return &exitError{code: exitCheck, err: verdict}
	}
	return nil
}

// check validates the flags before any file is read.
func (c *compareCmd) check() error {
	if c.By != "" {
		if err := oneOf("--by", c.By, compare.Kernels, compare.Runs); err != nil {
			return err
		}
	}
	if err := oneOf("--match", c.Match, compare.ByName, compare.ByOrder, compare.ByLaunch); err != nil {
		return err
	}
	for _, p := range []struct{ flag, file string }{{"--plot", c.Plot}, {"--errors", c.Errors}} {
		if p.file == "" {
			continue
		}
		if _, err := compare.Format(p.file); err != nil {
			return usage("%s: %w", p.flag, err)
		}
	}
	if c.JSON == "-" && c.CSV == "-" {
		return usage("--json and --csv cannot both be standard output")
	}
	if n := 1 + len(c.B); n > mostCompared {
		return usage("%d files, more than the limit of %d; a shell pattern may match too much", n, mostCompared)
	}
	if c.Fail != nil && !(*c.Fail >= 0) {
		return usage("--fail-above %g is invalid; want a percentage of at least 0", *c.Fail)
	}
	return nil
}

// mostCompared bounds the files of one comparison (our choice).
const mostCompared = 10_000

// read reads all files, and reports all errors.
func (c *compareCmd) read(stdin io.Reader) ([]*compare.Source, error) {
	var (
		sources []*compare.Source
		errs    []error
		taken   bool
	)
	for _, name := range append([]string{c.A}, c.B...) {
		var (
			s   *compare.Source
			err error
		)
		switch {
		case name != "-":
			s, err = compare.ReadFile(name)
		case taken:
			err = errors.New("- is given twice, but standard input can be read only once")
		default:
			taken = true
			s, err = compare.Read("stdin", stdin)
		}
		sources, errs = append(sources, s), append(errs, err)
	}
	return sources, errors.Join(errs...)
}

// write writes all requested outputs.
func (c *compareCmd) write(e env, result *compare.Comparison, ok bool) error {
	text := e.stdout
	if c.JSON == "-" || c.CSV == "-" {
		text = e.stderr
	}
	for _, out := range []struct {
		flag, file string
		write      func(io.Writer) error
	}{
		{"--json", c.JSON, func(w io.Writer) error { return result.WriteJSON(w, ok) }},
		{"--csv", c.CSV, result.WriteCSV},
		{"--plot", c.Plot, func(w io.Writer) error { return draw(result.WriteScatter, w, c.Plot) }},
		{"--errors", c.Errors, func(w io.Writer) error { return draw(result.WriteErrors, w, c.Errors) }},
	} {
		if out.file == "" {
			continue
		}
		var b bytes.Buffer
		if err := out.write(&b); err != nil {
			return usage("%s: %w", out.flag, err)
		}
		if out.file == "-" {
			if _, err := e.stdout.Write(b.Bytes()); err != nil {
				return err
			}
			continue
		}
		if err := os.WriteFile(out.file, b.Bytes(), 0o666); err != nil {
			return usage("%s: %w", out.flag, err)
		}
	}
	return result.WriteText(text, c.Quiet)
}

// draw draws a picture in the format of the file's extension.
func draw(picture func(io.Writer, string) error, w io.Writer, name string) error {
	format, err := compare.Format(name)
	if err != nil {
		return err
	}
	return picture(w, format)
}
