package compare

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/near"
)

// Source is a parsed file: a table or a result.
type Source struct {
	file   string
	sheet  *sheet
	result *result
}

// mostBytes bounds a file (our choice).
const mostBytes = 1 << 30

// ReadFile reads a table or a result, detected from its content.
func ReadFile(name string) (*Source, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, &Error{File: name, Msg: "this is a folder; name the files in it, such as " + filepath.Join(name, "*.json")}
	}
	return Read(name, f)
}

// Read reads a table or a result; name is used in messages and as the name of the
// run.
func Read(name string, r io.Reader) (*Source, error) {
	text, err := io.ReadAll(io.LimitReader(r, mostBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > mostBytes {
		return nil, &Error{File: name, Msg: "the file is larger than 1 GiB; want a table or a result"}
	}
	s := &Source{file: name}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // the byte order mark that spreadsheets write
	switch start := bytes.TrimLeft(text, " \t\r\n"); {
	case bytes.HasPrefix(start, []byte("{")):
		s.result, err = readResult(name, text)
	case bytes.HasPrefix(start, []byte("[")):
		err = &Error{File: name, Msg: "this is a JSON list; want one result, an object, in each file"}
	default:
		s.sheet, err = readSheet(name, text)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Table reports whether the file is a table, and not a result.
func (s *Source) Table() bool { return s.sheet != nil }

// defaultKey is compared by default.
const defaultKey = "cycles"

// Options select what is compared.
type Options struct {
	// By says what a row is: Kernels, Runs, or "" to derive it from the tables.
	By string
	// KeyA and KeyB are the compared values, "" means cycles: a column of a table,
	// or a dotted path in a result, such as memory.l2.hits.
	KeyA, KeyB string
	// Names are the columns of tables that make a row's name, joined with "-"; if
	// there are none, they are chosen by their headings.
	Names []string
	// Where are conditions COLUMN=VALUE or COLUMN!=VALUE that the rows of tables
	// must meet. They do not apply to a table without the column.
	Where []string
	// LessA and LessB are subtracted from every value, from that of a run once for
	// each kernel: a launch latency that the other side does not have.
	LessA, LessB float64
}

// Tables returns the two tables to compare: the reference, and the other side with
// the rows of all its files.
func Tables(a *Source, b []*Source, o Options) (ta, tb *Table, by string, err error) {
	all := append([]*Source{a}, b...)
	switch o.By {
	case "", Kernels, Runs:
	default:
		return nil, nil, "", fmt.Errorf("--by %s is not known; want kernel or run", o.By)
	}
	for _, less := range []struct {
		flag  string
		value float64
	}{{"--less-a", o.LessA}, {"--less-b", o.LessB}} {
		if !(less.value >= 0 && less.value <= mostValue) {
			return nil, nil, "", fmt.Errorf("%s %g is invalid; want a number from 0 to %g", less.flag, less.value, mostValue)
		}
	}
	if err := filter(all, o.Where); err != nil {
		return nil, nil, "", err
	}
	by = o.By
	if by == "" {
		by = rowsOf(all, o.Names)
	}
	var errs []error
	ta, err = table("a", all[:1], by, o.KeyA, o.Names, o.LessA)
	errs = append(errs, err)
	tb, err = table("b", all[1:], by, o.KeyB, o.Names, o.LessB)
	errs = append(errs, err)
	if err := errors.Join(errs...); err != nil {
		return nil, nil, "", err
	}
	tb.Notes = append(tb.Notes, differences(a, b)...)
	return ta, tb, by, nil
}

// differences names the run conditions in which the reference, if it is a result,
// differs from the results on the other side.
func differences(a *Source, b []*Source) []string {
	if a.result == nil {
		return nil
	}
	var notes []string
	for _, s := range b {
		if s.result == nil {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(s.result.conditions)) {
			inA, ok := a.result.conditions[key]
			x, y := fmt.Sprint(inA), fmt.Sprint(s.result.conditions[key])
			if n := fmt.Sprintf("the runs' conditions differ: %s is %s in A, %s in B", shorten(key, 40), shorten(x, 40), shorten(y, 40)); ok && x != y && !slices.Contains(notes, n) {
				notes = append(notes, n)
			}
		}
	}
	return notes
}

// filter applies conditions to all tables with their column.
func filter(all []*Source, where []string) error {
	for _, text := range where {
		c, err := parseCondition(text)
		if err != nil {
			return err
		}
		found := false
		var columns []string
		for _, s := range all {
			if s.sheet != nil {
				found = s.sheet.where(c) || found
				columns = append(columns, s.sheet.columns...)
			}
		}
		if !found {
			return fmt.Errorf("--where %s: no table has the column %q%s", text, c.column, near.Suggest(c.column, columns, "there are"))
		}
	}
	return nil
}

// Columns that name rows, in the form of plain, best first.
var (
	kernelColumns = []string{"kernelname", "kernel", "name", "function"}
	runColumns    = []string{"run", "benchmark", "workload", "application", "app", "program", "testcase", "test", "trace", "case", "id"}
	launchColumns = []string{"launch", "launchid", "launchnumber", "kernelid", "id", "kernel"}
)

// cycleColumns are the names of columns of cycles: the plain word of Heddle and
// other tables, Nsight Compute's names for people and for scripts, and GPGPU-Sim's.
var cycleColumns = []string{
	"cycles", "cycle", "elapsedcycles", "gpccycleselapsedmax", "gpucycleselapsedmax", "smcycleselapsedmax", "smcycleselapsedavg",
	"gpusimcycle", "gpusimcycles", "simcycles", "hwcycles", "totalcycles",
}

// conditionKeys are keys in lines of key=value that say how a value was measured,
// not of what.
var conditionKeys = []string{"suite", "frequency", "profiletype", "beforeturning"}

// rowsOf returns whether rows are kernels or runs: runs if a table names only runs,
// or a result has no kernels.
func rowsOf(all []*Source, names []string) string {
	for _, s := range all {
		switch {
		case s.result != nil && len(s.result.kernels) == 0:
			return Runs
		case s.sheet == nil:
		case len(names) > 0:
			if i := s.sheet.column(names[0]); i >= 0 && !slices.Contains(kernelColumns, plain(s.sheet.columns[i])) {
				return Runs
			}
		case s.sheet.nameColumn(kernelColumns) < 0 && (s.sheet.pairs || s.sheet.nameColumn(runColumns) >= 0):
			return Runs
		}
	}
	return Kernels
}

// nameColumn returns the first of some columns that does not hold only numbers; -1
// if there is none.
func (s *sheet) nameColumn(candidates []string) int {
	for _, name := range candidates {
		if i := s.first(name); i >= 0 && (len(s.records) == 0 || !s.whole(i)) {
			return i
		}
	}
	return -1
}

// whole reports whether a column holds only whole numbers.
func (s *sheet) whole(i int) bool {
	return !slices.ContainsFunc(s.records, func(r record) bool {
		_, err := strconv.ParseUint(r.cell(i), 10, 31)
		return err != nil
	})
}

// table makes one side's table from its sources.
func table(side string, sources []*Source, by, key string, names []string, less float64) (*Table, error) {
	if key == "" {
		key = defaultKey
	}
	t := &Table{Side: side, Metric: key, Less: less}
	var errs []error
	var whats []string
	for _, s := range sources {
		t.Files = append(t.Files, s.file)
		what := "table"
		if s.sheet != nil {
			rows, metric, err := s.sheet.rows(t, by, key, names, less)
			errs = append(errs, err)
			t.Rows, t.Metric = append(t.Rows, rows...), metric
		} else {
			rows, err := s.result.rows(by, key, runName(s.file), less)
			errs = append(errs, err)
			t.Rows = append(t.Rows, rows...)
			what = s.result.what()
			if s.result.failure != "" {
				t.Notes = append(t.Notes, fmt.Sprintf("%s: %s", s.file, s.result.failure))
			}
			if c := s.result.caution(by, key); c != "" {
				t.Notes = append(t.Notes, fmt.Sprintf("%s: %s", s.file, c))
			}
		}
		if !slices.Contains(whats, what) {
			whats = append(whats, what)
		}
	}
	t.What = strings.Join(whats, "; ")
	return t, errors.Join(errs...)
}

// runName is the name of a run: that of its file, without folder and extension.
func runName(file string) string {
	base := filepath.Base(file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// rows returns the rows of a sheet, and the name of the column of values.
func (s *sheet) rows(t *Table, by, key string, names []string, less float64) ([]Row, string, error) {
	value, err := s.valueColumn(key, t.Side)
	if err != nil {
		return nil, key, err
	}
	columns, err := s.nameColumns(by, names, value)
	if err != nil {
		return nil, key, err
	}
	launch := -1
	for _, name := range launchColumns {
		if i := s.first(name); i >= 0 && i != value && !slices.Contains(columns, i) && s.whole(i) {
			launch = i
			break
		}
	}
	var (
		rows    []Row
		errs    []error
		missing int
	)
	for i := range s.records {
		r := &s.records[i]
		cell, col := r.at(value)
		v, none, err := number(cell)
		switch {
		case none:
			missing++
			continue
		case err != nil:
			errs = append(errs, s.errorf(r.line, col, "%s: %s", s.columns[value], err))
			if len(errs) == mostErrors {
				return nil, key, errors.Join(errs...)
			}
			continue
		}
		row := Row{Launch: -1, Value: v - less, File: s.file, Line: r.line}
		var parts []string
		for _, c := range columns {
			if cell := r.cell(c); cell != "" {
				parts = append(parts, cell)
			}
		}
		row.Name = strings.Join(parts, "-")
		switch {
		case by == Kernels && len(columns) == 1:
			row.Group = identifier(row.Name)
		case len(parts) > 0:
			row.Group = parts[0]
		}
		if launch >= 0 {
			row.Launch, _ = strconv.Atoi(r.cell(launch)) // whole has parsed it
		}
		rows = append(rows, row)
	}
	if missing > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s: %s without a value left out", s.file, plural(missing, "row")))
	}
	return rows, s.columns[value], errors.Join(errs...)
}

// valueColumn finds the column of a key.
func (s *sheet) valueColumn(key, side string) (int, error) {
	if i := s.column(key); i >= 0 {
		return i, nil
	}
	if key == defaultKey {
		if i := s.first(cycleColumns...); i >= 0 {
			return i, nil
		}
		var like []int
		for i, c := range s.columns {
			if strings.Contains(plain(c), "cycle") {
				like = append(like, i)
			}
		}
		if len(like) == 1 {
			return like[0], nil
		}
		return -1, s.errorf(s.head, 0, "there is no column cycles; select one with --key-%s%s", side, near.Suggest(key, s.columns, "there are"))
	}
	return -1, s.errorf(s.head, 0, "there is no column %q%s", key, s.suggest(key))
}

// nameColumns finds the columns that make a row's name; it returns none if the
// table does not name its rows.
func (s *sheet) nameColumns(by string, names []string, value int) ([]int, error) {
	var columns []int
	for _, n := range names {
		i := s.column(n)
		if i < 0 {
			return nil, s.errorf(s.head, 0, "there is no column %q (--name)%s", n, s.suggest(n))
		}
		columns = append(columns, i)
	}
	if len(names) > 0 {
		return columns, nil
	}
	candidates := slices.Concat(kernelColumns, runColumns)
	if by == Runs {
		candidates = slices.Concat(runColumns, kernelColumns)
	}
	i := s.nameColumn(candidates)
	if i == value {
		i = -1
	}
	if i >= 0 {
		columns = append(columns, i)
	}
	if !s.pairs {
		return columns, nil
	}
	for c, name := range s.columns {
		if c != i && c != value && !slices.Contains(conditionKeys, plain(name)) {
			columns = append(columns, c)
		}
	}
	return columns, nil
}
