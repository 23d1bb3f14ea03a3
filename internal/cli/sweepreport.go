package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/sweep"
	"github.com/heddle-sim/heddle/internal/sweep/store"
	"github.com/heddle-sim/heddle/internal/view"
)

// pageFlags say which pages of a sweep are written.
type pageFlags struct {
	HTML  string `name:"html" placeholder:"FILE" help:"Write a report as one HTML file: best, worst and baseline, all points on parallel coordinates, curves, a heat map and a Pareto front."`
	Pages bool   `help:"With --html: also write a page of each result, into a folder beside the report (report.pages for report.html), and link it. Otherwise the report has the commands that show them."`
}

// check finds flags that do not go together, and a report that could not be written.
func (f *pageFlags) check() error {
	switch {
	case f.Pages && f.HTML == "":
		return usage("--pages is for --html FILE, the report that links the pages")
	case f.Pages && f.HTML == "-":
		return usage("--pages needs --html FILE: pages are written beside the report")
	case f.HTML == "" || f.HTML == "-":
		return nil
	}
	dir := filepath.Dir(f.HTML)
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return usage("--html %s: there is no folder %s", f.HTML, dir)
	}
	if st, err := os.Stat(f.HTML); err == nil && st.IsDir() {
		return usage("--html %s: it is a folder; want a file", f.HTML)
	}
	return nil
}

// write writes the report, and the pages of points. roots are folders in which texts of programs are
// looked for.
func (f *pageFlags) write(e env, r *sweep.Report, s *store.Store, roots []string) error {
	if f.HTML == "" {
		return nil
	}
	if f.Pages {
		dir := strings.TrimSuffix(f.HTML, filepath.Ext(f.HTML)) + ".pages"
		if err := writePointPages(e, dir, r.Digests, s, roots); err != nil {
			var exit *exitError // an interrupt, or a page that cannot be written
			if errors.As(err, &exit) {
				return exit
			}
			return usage("--pages: %w", err)
		}
		r.Pages = filepath.Base(dir)
	}
	text, err := json.Marshal(r)
	if err != nil {
		return usage("%w", err)
	}
	return writePage(e, f.HTML, &view.Page{Sweep: text, SweepName: r.Name})
}

// writePage writes a page to a file; - is standard output.
func writePage(e env, file string, page *view.Page) error {
	var b bytes.Buffer
	if err := page.WriteHTML(&b); err != nil {
		return usage("%w", err)
	}
	var err error
	if file == "-" {
		_, err = e.stdout.Write(b.Bytes())
	} else {
		err = os.WriteFile(file, b.Bytes(), 0o666)
	}
	if err != nil {
		return usage("--html: %w", err)
	}
	return nil
}

// writePointPages writes a page for each result.
func writePointPages(e env, dir string, digests []string, s *store.Store, roots []string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	digests = slices.Compact(slices.Sorted(slices.Values(digests)))
	for _, d := range digests {
		if e.ctx.Err() != nil {
			return &exitError{code: exitInterrupted, err: errors.New("interrupted")}
		}
		r, err := s.Get(d)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		runs, err := view.Read(bytes.NewReader(r.Result))
		if err != nil {
			return fmt.Errorf("%s: %w", s.Path(d), err)
		}
		var list []view.Result
		for i, x := range runs {
			name := sweep.Title(r)
			if len(runs) > 1 {
				name = fmt.Sprintf("%s, %d", name, i+1)
			}
			list = append(list, view.Result{Name: name, Run: x, Foreign: true})
		}
		if err := writePage(e, filepath.Join(dir, d+".html"), view.New(list, roots)); err != nil {
			return err
		}
	}
	return nil
}

// sourceRoots are the folders of a sweep's inputs.
func sourceRoots(f *sweep.File) []string {
	var list []string
	for _, in := range f.Inputs {
		list = append(list, in.Dir, filepath.Dir(in.File()))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// sweepReportCmd is `heddle sweep report`.
type sweepReportCmd struct {
	Sweep    string            `arg:"" name:"sweep" help:"A sweep (TOML), or a store, of which all results are shown."`
	Store    string            `placeholder:"DIR" help:"Of a sweep: the folder of results; default: its name with .store in place of .toml."`
	Metric   []string          `sep:"none" placeholder:"NAME" help:"A number of the results to be shown (repeatable); \"A / B\" is a quotient. Default: the sweep's metrics, or cycles and ipc."`
	Baseline map[string]string `mapsep:"none" placeholder:"KEY=VALUE" help:"What the others are compared with: a value of an axis, input or gpu (repeatable). Default: the sweep's."`
	pageFlags
}

// Run reports what there is, and runs nothing.
func (c *sweepReportCmd) Run(e env) error {
	if err := c.check(); err != nil {
		return err
	}
	var baseline []sweep.Setting
	for _, k := range slices.Sorted(maps.Keys(c.Baseline)) {
		baseline = append(baseline, sweep.Setting{Key: k, Value: c.Baseline[k]})
	}
	if st, err := os.Stat(c.Sweep); err == nil && st.IsDir() {
		return c.ofStore(e, baseline)
	}
	return c.ofFile(e, baseline)
}

// ofStore reports all that a store has.
func (c *sweepReportCmd) ofStore(e env, baseline []sweep.Setting) error {
	if c.Store != "" {
		return usage("%s is a store; remove --store", c.Sweep)
	}
	s, err := store.Existing(c.Sweep)
	if err != nil {
		return usage("%w", err)
	}
	t, r, err := sweep.StoreReport(s, sweep.ReportOptions{Baseline: baseline, Metrics: c.Metric})
	if err != nil {
		return usage("%w", err)
	}
	return c.show(e, t, r, s, []string{"."})
}

// ofFile reports what there is of a sweep.
func (c *sweepReportCmd) ofFile(e env, baseline []sweep.Setting) error {
	f, err := sweep.Load(c.Sweep)
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	if len(c.Metric) > 0 {
		f.Report.Metrics = c.Metric
	}
	if len(baseline) > 0 {
		f.Report.Baseline = baseline
	}
	s, err := store.Existing(storeOf(c.Sweep, c.Store))
	if err != nil {
		return usage("%w", err)
	}
	points, err := f.Points()
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	t, err := f.Table(points, s)
	if err != nil {
		return usage("%w", err)
	}
	return c.show(e, t, f.Summary(t, s), s, sourceRoots(f))
}

// show prints the table and writes pages.
func (c *pageFlags) show(e env, t *sweep.Table, r *sweep.Report, s *store.Store, roots []string) error {
	if c.HTML != "-" {
		if err := errors.Join(t.WriteText(e.stdout), r.WriteText(e.stdout)); err != nil {
			return usage("%w", err)
		}
	}
	return c.write(e, r, s, roots)
}

// storeOf is the folder of a sweep's results.
func storeOf(file, dir string) string {
	if dir != "" {
		return dir
	}
	return strings.TrimSuffix(file, filepath.Ext(file)) + storeEnding
}
