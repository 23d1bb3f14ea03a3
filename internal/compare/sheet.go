package compare

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heddle-sim/heddle/internal/near"
)

// sheet is a table as text: comma-separated values, or lines of key=value.
type sheet struct {
	file    string
	head    int // the heading's line; 0 if every line names its columns
	columns []string
	records []record
	pairs   bool // lines of key=value
}

// record is a line of a sheet. Lines may leave columns out; lines of separated
// values only at the end.
type record struct {
	line  int
	cells []string
	cols  []int // start of each cell, in bytes from 1; 0 if the line lacks it
}

// at returns a cell and its start; a cell that the line lacks is empty, with column
// 0.
func (r *record) at(i int) (cell string, col int) {
	if i >= len(r.cells) {
		return "", 0
	}
	return r.cells[i], r.cols[i]
}

// cell returns a cell without its start.
func (r *record) cell(i int) string {
	text, _ := r.at(i)
	return text
}

func (r *record) set(i int, cell string, col int) {
	for len(r.cells) <= i {
		r.cells, r.cols = append(r.cells, ""), append(r.cols, 0)
	}
	r.cells[i], r.cols[i] = cell, col
}

// mostErrors is the number of errors reported for a file (our choice).
const mostErrors = 10

// plain returns the form in which names are compared: letters and digits, in lower
// case.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// column returns the index of a column, ignoring case and punctuation; -1 if there
// is none.
func (s *sheet) column(name string) int {
	for i, c := range s.columns {
		if c == name {
			return i
		}
	}
	name = plain(name)
	for i, c := range s.columns {
		if name != "" && plain(c) == name {
			return i
		}
	}
	return -1
}

// first returns the first of the columns that exists, with names in the form of
// plain.
func (s *sheet) first(names ...string) int {
	for _, n := range names {
		for i, c := range s.columns {
			if plain(c) == n {
				return i
			}
		}
	}
	return -1
}

func (s *sheet) errorf(line, col int, format string, args ...any) *Error {
	return &Error{File: s.file, Line: line, Col: col, Msg: fmt.Sprintf(format, args...)}
}

// readSheet reads a table from its text.
func readSheet(file string, text []byte) (*sheet, error) {
	if bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text) {
		return nil, &Error{File: file, Msg: "this is neither text nor JSON; want comma- or tab-separated values with a heading, or lines of key=value, in UTF-8"}
	}
	skip, first := firstLine(text)
	if first == "" {
		return nil, &Error{File: file, Msg: "the file is empty"}
	}
	if isPairs(first) {
		return readPairs(file, text)
	}
	return readValues(file, text[skip.bytes:], skip.lines, separator(first))
}

type skipped struct{ bytes, lines int }

// firstLine returns the first line that is neither empty nor a comment nor one that
// Nsight Compute prints before its table ("==PROF== …"), and the bytes before it.
func firstLine(text []byte) (skipped, string) {
	var at skipped
	for at.bytes < len(text) {
		line, _, _ := bytes.Cut(text[at.bytes:], []byte("\n"))
		if l := strings.TrimSpace(string(line)); l != "" && l[0] != '#' && !strings.HasPrefix(l, "==") {
			return at, l
		}
		at.bytes += len(line) + 1
		at.lines++
	}
	return at, ""
}

// isPairs reports whether a line consists of key=value separated by commas.
func isPairs(line string) bool {
	for part := range strings.SplitSeq(line, ",") {
		key, _, ok := strings.Cut(part, "=")
		if key = strings.TrimSpace(key); !ok || key == "" || strings.ContainsFunc(key, func(r rune) bool {
			return r != '_' && r != '-' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		}) {
			return false
		}
	}
	return true
}

// separator is the separator of a heading: the most frequent one of comma, tab and
// semicolon.
func separator(line string) rune {
	best, most := ',', strings.Count(line, ",")
	for _, r := range "\t;" {
		if n := strings.Count(line, string(r)); n > most {
			best, most = r, n
		}
	}
	return best
}

// readPairs reads lines such as "benchmark=gemm, size=64, cycles=4012".
func readPairs(file string, text []byte) (*sheet, error) {
	s := &sheet{file: file, pairs: true}
	at := map[string]int{}
	var errs []error
	number, cells := 0, 0
	for line := range strings.Lines(string(text)) {
		number++
		l := strings.TrimRight(line, "\r\n")
		if t := strings.TrimSpace(l); t == "" || t[0] == '#' {
			continue
		}
		r := record{line: number}
		col := 1
		for part := range strings.SplitSeq(l, ",") {
			start := col + len(part) - len(strings.TrimLeft(part, " \t"))
			col += len(part) + 1
			key, value, ok := strings.Cut(part, "=")
			key, value = strings.TrimSpace(key), strings.TrimSpace(value)
			if !ok || key == "" {
				errs = append(errs, s.errorf(number, start, "%q: want key=value, as in the first line of this table", shorten(strings.TrimSpace(part), 40)))
				continue
			}
			i, known := at[key]
			if !known {
				if len(s.columns) >= mostColumns {
					errs = append(errs, s.errorf(number, start, "the key %q is one too many: want at most %d in a table", shorten(key, 40), mostColumns))
					continue
				}
				i = len(s.columns)
				at[key] = i
				s.columns = append(s.columns, key)
			}
			if _, col := r.at(i); col != 0 {
				errs = append(errs, s.errorf(number, start, "%s is given twice in this line", key))
				continue
			}
			r.set(i, value, start)
		}
		if cells += len(r.cells); cells > mostCells {
			errs = append(errs, s.errorf(number, 1, "more than %d cells up to here, including those that lines leave out", mostCells))
		}
		if len(errs) >= mostErrors || cells > mostCells {
			break
		}
		s.records = append(s.records, r)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return s, nil
}

// mostColumns bounds the columns of a table (our choice); with all metrics, Nsight
// Compute writes several hundred.
const mostColumns = 4096

// mostCells bounds the memory of tables whose lines leave columns out (our choice):
// 400 MiB of empty cells.
const mostCells = 1 << 24

// readValues reads separated values whose first line is the heading. Line numbers
// start after the before skipped lines.
func readValues(file string, text []byte, before int, sep rune) (*sheet, error) {
	s := &sheet{file: file}
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma, r.Comment, r.FieldsPerRecord, r.TrimLeadingSpace = sep, '#', -1, sep != '\t'
	var errs []error
	for len(errs) < mostErrors {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var wrong *csv.ParseError
		if errors.As(err, &wrong) {
			errs = append(errs, s.errorf(wrong.Line+before, wrong.Column, "%s; write a field with quotes in it \"like \"\"this\"\"\"", wrong.Err))
			break // the rest cannot be parsed reliably
		}
		if err != nil {
			return nil, err
		}
		rec := record{cells: cells, cols: make([]int, len(cells))}
		for i := range cells {
			var line int
			line, rec.cols[i] = r.FieldPos(i)
			if i == 0 {
				rec.line = line + before
			}
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case s.columns == nil:
			s.columns, s.head = cells, rec.line
			if len(cells) > mostColumns {
				return nil, s.errorf(rec.line, 1, "the heading has %d columns; want at most %d", len(cells), mostColumns)
			}
			if len(cells) < 2 {
				return nil, s.errorf(rec.line, 1, "the heading %q has one column; want one of names and one of values, separated by commas, tabs or semicolons", shorten(strings.Join(cells, ""), 40))
			}
		case len(cells) > len(s.columns):
			errs = append(errs, s.errorf(rec.line, rec.cols[len(s.columns)], "this line has %s; want the %d of the heading", plural(len(cells), "field"), len(s.columns)))
		default:
			s.records = append(s.records, rec)
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if metric, value := s.first("metricname"), s.first("metricvalue"); metric >= 0 && value >= 0 {
		return s.long(metric, value)
	}
	if len(s.columns) == 2 && plain(s.columns[0]) == "metric" && plain(s.columns[1]) == "value" {
		return s.vertical(), nil
	}
	s.dropUnits()
	return s, nil
}

// dropUnits removes the line of units that Nsight Compute writes below the
// heading of its wide table: that line has no launch number.
func (s *sheet) dropUnits() {
	if id := s.column("ID"); id >= 0 && len(s.records) > 0 && s.records[0].cell(id) == "" && s.column("Kernel Name") >= 0 {
		s.records = s.records[1:]
	}
}

// vertical turns lines of metric names and values for one kernel into one record
// whose columns are the metrics.
func (s *sheet) vertical() *sheet {
	t := &sheet{file: s.file, head: s.head}
	var one record
	for _, r := range s.records {
		if one.line == 0 {
			one.line = r.line
		}
		cell, col := r.at(1)
		t.columns = append(t.columns, r.cells[0])
		one.cells, one.cols = append(one.cells, cell), append(one.cols, col)
	}
	if one.line > 0 {
		t.records = []record{one}
	}
	return t
}

// long turns the lines of Nsight Compute, one for each metric of each launch, into
// one record for each launch. The first of several values of a metric counts; if
// launches have no number, a repeated metric starts the next launch.
func (s *sheet) long(metric, value int) (*sheet, error) {
	t := &sheet{file: s.file, head: s.head}
	var keep []int
	for i, c := range s.columns {
		if p := plain(c); i != metric && i != value && p != "metricunit" && p != "sectionname" {
			keep = append(keep, i)
			t.columns = append(t.columns, c)
		}
	}
	id, process := s.column("ID"), s.column("Process ID")
	launch, column := map[string]int{}, map[string]int{}
	cells := 0
	for _, r := range s.records {
		name := r.cell(metric)
		c, ok := column[name]
		if !ok {
			if c = len(t.columns); c >= mostColumns {
				return nil, s.errorf(r.line, 0, "the metric %q is one too many: want at most %d columns in a table", shorten(name, 40), mostColumns)
			}
			column[name] = c
			t.columns = append(t.columns, name)
		}
		key := ""
		for _, i := range keep {
			if id < 0 || i == id || i == process {
				key += r.cell(i) + "\x00"
			}
		}
		n, ok := launch[key]
		if ok && id < 0 {
			_, col := t.records[n].at(c)
			ok = col == 0
		}
		if !ok {
			n = len(t.records)
			launch[key] = n
			rec := record{line: r.line}
			for to, from := range keep {
				cell, col := r.at(from)
				rec.set(to, cell, col)
			}
			t.records = append(t.records, rec)
		}
		rec := &t.records[n]
		cells -= len(rec.cells)
		if _, col := rec.at(c); col == 0 {
			cell, col := r.at(value)
			rec.set(c, cell, col)
		}
		if cells += len(rec.cells); cells > mostCells {
			return nil, s.errorf(r.line, 1, "more than %d cells of launches and metrics up to here", mostCells)
		}
	}
	return t, nil
}

// where keeps the records that meet a condition, COLUMN=VALUE or COLUMN!=VALUE. It
// reports whether the sheet has the column.
func (s *sheet) where(c condition) bool {
	i := s.column(c.column)
	if i < 0 {
		return false
	}
	kept := []record{}
	for _, r := range s.records {
		if (r.cell(i) == c.value) != c.not {
			kept = append(kept, r)
		}
	}
	s.records = kept
	return true
}

type condition struct {
	text, column, value string
	not                 bool
}

func parseCondition(text string) (condition, error) {
	column, value, ok := strings.Cut(text, "=")
	not := strings.HasSuffix(column, "!")
	column = strings.TrimSpace(strings.TrimSuffix(column, "!"))
	if !ok || column == "" {
		return condition{}, fmt.Errorf("--where %s: write COLUMN=VALUE or COLUMN!=VALUE", text)
	}
	return condition{text: text, column: column, value: strings.TrimSpace(value), not: not}, nil
}

// number reads a number of a table, with or without commas between groups of three
// digits. Words for a missing value set missing.
func number(text string) (v float64, missing bool, err error) {
	switch strings.ToLower(text) {
	case "", "-", "–", "na", "n/a", "nan", "null", "none":
		return 0, true, nil
	}
	s := text
	if whole, _, _ := strings.Cut(s, "."); strings.Contains(whole, ",") {
		groups := strings.Split(whole, ",")
		for i, g := range groups {
			if len(g) != 3 && (i > 0 || len(g) == 0 || len(g) > 3) {
				return 0, false, fmt.Errorf("%q is not a number", shorten(text, 40))
			}
		}
		s = strings.ReplaceAll(s, ",", "")
	}
	if strings.Trim(s, "0123456789.eE+-") != "" {
		return 0, false, fmt.Errorf("%q is not a number", shorten(text, 40))
	}
	v, err = strconv.ParseFloat(s, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, false, fmt.Errorf("%q is not a number", shorten(text, 40))
	}
	return v, false, inRange(v, text)
}

// inRange refuses values that no counter can have.
func inRange(v float64, text string) error {
	switch {
	case v < 0:
		return fmt.Errorf("%s is negative; want 0 or more", shorten(text, 40))
	case v > mostValue || v != 0 && v < leastValue:
		return fmt.Errorf("%s is out of range; want 0, or %g to %g", shorten(text, 40), leastValue, mostValue)
	}
	return nil
}

// suggest returns a hint with the column that was probably meant.
func (s *sheet) suggest(name string) string {
	return near.Suggest(name, s.columns, "its columns are")
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// shorten leaves out the middle of a long text, and replaces unprintable characters
// with question marks.
func shorten(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	head := most / 2
	return string(r[:head]) + "…" + string(r[len(r)-(most-head-1):])
}
