package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/compare"
	"github.com/heddle-sim/heddle/internal/sweep"
	"github.com/heddle-sim/heddle/internal/sweep/index"
	"github.com/heddle-sim/heddle/internal/sweep/store"
	"github.com/heddle-sim/heddle/internal/view"
)

// storeFlag names a store.
type storeFlag struct {
	Store string `placeholder:"DIR" help:"The store; default: the only one in the current folder (*.store)."`
}

// open opens the store.
func (f *storeFlag) open() (*store.Store, error) {
	dir := f.Store
	if dir == "" {
		found, err := filepath.Glob("*" + storeEnding)
		if err != nil || len(found) != 1 {
			return nil, usage("the current folder has %d stores (*%s); name one with --store DIR", len(found), storeEnding)
		}
		dir = found[0]
	}
	s, err := store.Existing(dir)
	if err != nil {
		return nil, usage("%w", err)
	}
	return s, nil
}

// query answers a query.
func (f *storeFlag) query(e env, text string) (*index.Rows, error) {
	s, err := f.open()
	if err != nil {
		return nil, err
	}
	x, err := index.Open(e.ctx, s, func(format string, args ...any) { fmt.Fprintf(e.stderr, "heddle: "+format+"\n", args...) })
	if e.ctx.Err() != nil {
		return nil, &exitError{code: exitInterrupted, err: errors.New("interrupted")}
	}
	if err != nil {
		return nil, usage("%w", err)
	}
	defer x.Close()
	rows, err := x.Query(e.ctx, text)
	if e.ctx.Err() != nil {
		return nil, &exitError{code: exitInterrupted, err: errors.New("interrupted")}
	}
	if err != nil {
		return nil, usage("%w", err)
	}
	return rows, nil
}

// sweepQueryCmd is `heddle sweep query`.
type sweepQueryCmd struct {
	SQL string `arg:"" name:"sql" help:"A query over the tables runs, settings, launches, counters, lines and findings, and the view points, which has a column for each key."`
	storeFlag
	Format string `default:"text" placeholder:"FORM" help:"text (the default), csv or json."`
}

// Run answers the query.
func (c *sweepQueryCmd) Run(e env) error {
	if err := oneOf("--format", c.Format, "text", "csv", "json"); err != nil {
		return err
	}
	rows, err := c.query(e, c.SQL)
	if err != nil {
		return err
	}
	write := map[string]func(io.Writer) error{"text": rows.WriteText, "csv": rows.WriteCSV, "json": rows.WriteJSON}[c.Format]
	if err := write(e.stdout); err != nil {
		return usage("%w", err)
	}
	return nil
}

// sweepExportCmd is `heddle sweep export`.
type sweepExportCmd struct {
	File string `arg:"" name:"file" help:"The file to be written: FILE.parquet or FILE.csv."`
	storeFlag
	Table string `default:"counters" placeholder:"NAME" help:"counters (the default), launches, lines, findings: their columns beside those of the point; or points."`
	SQL   string `name:"sql" placeholder:"SQL" help:"Write the answer to this query instead."`
}

// exports are the queries of tables.
var exports = map[string]string{
	"points":   "SELECT * FROM points",
	"counters": "SELECT p.*, t.launch, l.name AS kernel, t.name AS counter, t.value FROM counters t JOIN points p USING (digest) LEFT JOIN launches l ON l.digest = t.digest AND l.launch = t.launch",
	"launches": "SELECT p.*, t.launch, t.name AS kernel, t.stream, t.grid, t.block, t.cycles AS launch_cycles, t.warp_instructions, t.thread_instructions FROM launches t JOIN points p USING (digest)",
	"lines":    "SELECT p.*, t.launch, t.file, t.line, t.pc, t.function, t.instruction, t.issues, t.warp_cycles FROM lines t JOIN points p USING (digest)",
	"findings": "SELECT p.*, t.launch, t.rule, t.share, t.seen, t.try FROM findings t JOIN points p USING (digest)",
}

// Run writes the file.
func (c *sweepExportCmd) Run(e env) error {
	ext := strings.ToLower(filepath.Ext(c.File))
	if ext != ".csv" && ext != ".parquet" {
		return usage("%s: unknown extension; want .csv or .parquet", c.File)
	}
	query, ok := exports[c.Table]
	if !ok {
		return oneOf("--table", c.Table, "counters", "launches", "lines", "findings", "points")
	}
	if c.SQL != "" {
		query = c.SQL
	}
	rows, err := c.query(e, query)
	if err != nil {
		return err
	}
	f, err := os.Create(c.File)
	if err != nil {
		return usage("%w", err)
	}
	write := rows.WriteCSV
	if ext == ".parquet" {
		write = rows.WriteParquet
	}
	err = write(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return usage("%s: %w", c.File, err)
	}
	return nil
}

// sweepDiffCmd is `heddle sweep diff`.
type sweepDiffCmd struct {
	A      string `arg:"" name:"a" help:"A store."`
	B      string `arg:"" name:"b" help:"The store that is compared with it."`
	Metric string `default:"cycles" placeholder:"NAME" help:"The number of the results that is compared; default: cycles."`
	HTML   string `name:"html" placeholder:"FILE" help:"Write the comparison as one HTML file: errors, their distribution, and all pairs (- is standard output)."`
}

// Run prints what differs.
func (c *sweepDiffCmd) Run(e env) error {
	a, err := store.Existing(c.A)
	if err != nil {
		return usage("%w", err)
	}
	b, err := store.Existing(c.B)
	if err != nil {
		return usage("%w", err)
	}
	d, err := sweep.Diff(a, b, c.Metric)
	if err != nil {
		return usage("%w", err)
	}
	if c.HTML != "-" {
		if err := d.WriteText(e.stdout); err != nil {
			return usage("%w", err)
		}
	}
	if c.HTML != "" {
		if d.Same+len(d.Pairs) == 0 {
			return usage("%s and %s have no point in common: there is nothing to show", c.A, c.B)
		}
		if err := c.page(e, a, b); err != nil {
			return err
		}
	}
	if len(d.Pairs) > 0 {
		return &exitError{code: exitCheck}
	}
	return nil
}

// page writes the comparison as heddle compare makes it.
func (c *sweepDiffCmd) page(e env, a, b *store.Store) error {
	var tables [2]*compare.Table
	for i, s := range []*store.Store{a, b} {
		values, err := sweep.Values(s, c.Metric)
		if err != nil {
			return usage("%w", err)
		}
		tables[i] = &compare.Table{Side: string("ab"[i]), Files: []string{s.Dir}, What: "results of a sweep", Metric: c.Metric}
		for _, name := range slices.Sorted(maps.Keys(values)) {
			tables[i].Rows = append(tables[i].Rows, compare.Row{Name: name, Launch: -1, Value: values[name], File: s.Dir})
		}
	}
	x, err := compare.Compare(tables[0], tables[1], "point", compare.ByName, 0)
	if err != nil {
		return usage("%w", err)
	}
	text, err := comparison(x)
	if err != nil {
		return usage("%w", err)
	}
	return writePage(e, c.HTML, &view.Page{Comparisons: []view.Comparison{{Name: fmt.Sprintf("%s and %s", a.Dir, b.Dir), JSON: text}}})
}
