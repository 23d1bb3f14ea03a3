package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/heddle-sim/heddle/internal/compare"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/sweep"
	"github.com/heddle-sim/heddle/internal/sweep/store"
	"github.com/heddle-sim/heddle/internal/view"
)

// This file: tables of measurements on the page Compare.

// viewInput are the contents of the files of heddle view, by kind.
type viewInput struct {
	results     []view.Result
	sources     []*compare.Source // of results, one for each file with one
	tables      []*compare.Source
	tableNames  []string
	comparisons []view.Comparison
}

// add reads a file: results, a comparison of heddle compare, or a table.
func (in *viewInput) add(name string, stdin io.Reader) error {
	text, title, err := readResult(name, stdin)
	if err != nil {
		return usage("%s: %w", name, err)
	}
	if !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) {
		s, err := compare.Read(name, bytes.NewReader(text))
		if err != nil {
			return usage("%s: %w; nor a table: %v", name, view.ErrNoResult, err)
		}
		in.tables, in.tableNames = append(in.tables, s), append(in.tableNames, name)
		return nil
	}
	if c, ok := compare.Parse(text); ok {
		in.comparisons = append(in.comparisons, view.Comparison{Name: name, JSON: c})
		return nil
	}
	runs, err := view.Read(bytes.NewReader(text))
	if err != nil {
		return usage("%s: %w", name, err)
	}
	for i, r := range runs {
		x := view.Result{Name: title, Run: r, Foreign: true}
		if len(runs) > 1 {
			x.Name = fmt.Sprintf("%s, %d", title, i+1)
		}
		in.results = append(in.results, x)
	}
	if s, err := compare.Read(name, bytes.NewReader(text)); err == nil {
		in.sources = append(in.sources, s)
	}
	return nil
}

// readResult reads a file, or a result of a sweep from its store; title is its name on the page.
func readResult(name string, stdin io.Reader) (text []byte, title string, err error) {
	if filepath.Ext(name) != store.Extension {
		text, err = view.ReadText(name, stdin)
		return text, name, err
	}
	r, err := store.Read(name)
	switch {
	case err != nil:
		return nil, "", err
	case r.Result == nil:
		return nil, "", fmt.Errorf("the run left no result: %s", r.Why)
	}
	return r.Result, sweep.Title(r), nil
}

// resultFiles returns the files of an argument: itself, the results of a store, or those of a folder.
func resultFiles(name string) ([]string, error) {
	s, err := store.Existing(name)
	if err != nil {
		return view.Files(name)
	}
	digests, err := s.Digests()
	if err == nil && len(digests) == 0 {
		err = errors.New("the store has no result yet")
	}
	for i, d := range digests {
		digests[i] = s.Path(d)
	}
	return digests, err
}

// compare compares each table with the results: one by one if these ran the same kernels, else
// all together.
func (in *viewInput) compare() error {
	if len(in.results) == 0 && len(in.tables)+len(in.comparisons) > 0 {
		return usage("a table or comparison is shown beside results, and none is given; add what heddle run --json wrote")
	}
	var errs []error
	for i, t := range in.tables {
		sets := [][]*compare.Source{in.sources}
		if len(in.sources) == len(in.results) && in.alike() {
			sets = nil
			for _, s := range in.sources {
				sets = append(sets, []*compare.Source{s})
			}
		}
		for j, set := range sets {
			name := in.tableNames[i]
			if len(sets) > 1 {
				name += " and " + in.results[j].Name
			}
			c, err := measure(t, set)
			if err != nil {
				errs = append(errs, usage("%s: %w; heddle compare has flags for other tables, and the page shows what its --json writes", name, err))
				continue
			}
			in.comparisons = append(in.comparisons, view.Comparison{Name: name, JSON: c})
		}
	}
	return errors.Join(errs...)
}

// alike reports whether all results have launches of the same kernels.
func (in *viewInput) alike() bool {
	names := func(r *report.Run) []string {
		var list []string
		for i := range r.Kernels {
			list = append(list, r.Kernels[i].Name)
		}
		slices.Sort(list)
		return list
	}
	first := names(in.results[0].Run)
	return !slices.ContainsFunc(in.results[1:], func(r view.Result) bool { return !slices.Equal(names(r.Run), first) })
}

// measure compares a table with results as heddle compare does.
func measure(table *compare.Source, results []*compare.Source) ([]byte, error) {
	a, b, by, err := compare.Tables(table, results, compare.Options{})
	if err != nil {
		return nil, err
	}
	c, err := compare.Compare(a, b, by, compare.ByName, 0)
	if err != nil {
		return nil, err
	}
	return comparison(c)
}

// comparison is a comparison in the form of pages.
func comparison(c *compare.Comparison) ([]byte, error) {
	var text bytes.Buffer
	if err := c.WriteJSON(&text, true); err != nil {
		return nil, err
	}
	out, ok := compare.Parse(text.Bytes())
	if !ok {
		return nil, errors.New("the comparison cannot be read again")
	}
	return out, nil
}
