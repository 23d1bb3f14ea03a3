package main

import (
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/heddle-sim/heddle/internal/progress"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/sweep"
	"github.com/heddle-sim/heddle/internal/sweep/store"
)

// sweepCmd is `heddle sweep`.
type sweepCmd struct {
	Run    sweepRunCmd    `cmd:"" default:"withargs" help:"Run the points of a sweep that have no result yet, and print a table (the default)."`
	Query  sweepQueryCmd  `cmd:"" help:"Answer a query in SQL about the results of a store."`
	Export sweepExportCmd `cmd:"" help:"Write a table of a store as Parquet or CSV."`
	Diff   sweepDiffCmd   `cmd:"" help:"Compare two stores point by point."`
}

// storeEnding is that of the names of stores.
const storeEnding = ".store"

// sweepRunCmd is `heddle sweep FILE`.
type sweepRunCmd struct {
	File string `arg:"" name:"file" help:"The sweep (TOML): inputs, gpus, axes, limits."`

	Store    string `placeholder:"DIR" help:"The folder of results; default: FILE with .store in place of .toml."`
	Jobs     int    `placeholder:"N" help:"Points at a time; default: the file's, or one per core."`
	DryRun   bool   `help:"Print the points, and which of them have no result; run nothing."`
	List     bool   `help:"Print the digests of points without a result, one on a line, for other programs that run them with --point."`
	Point    string `placeholder:"DIGEST" help:"Run this point only, unless it has a result."`
	Progress string `default:"auto" placeholder:"WHEN" help:"Show how many points are done and how long the rest will take: auto (on a terminal), always or never."`
	Quiet    bool   `help:"No progress line and no table."`
}

// Run runs the sweep.
func (c *sweepRunCmd) Run(e env) error {
	f, err := sweep.Load(c.File)
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	points, err := f.Points()
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	if c.Jobs < 0 || c.Jobs > sweep.MostJobs {
		return usage("--jobs %d: want 1 to %d", c.Jobs, sweep.MostJobs)
	}
	if c.Jobs > 0 {
		f.Limits.Jobs = c.Jobs
	}
	if c.Point != "" {
		points = slices.DeleteFunc(points, func(p *sweep.Point) bool { return p.Digest != c.Point })
		if len(points) == 0 {
			return usage("%s has no point %s; heddle sweep %[1]s --list prints those without a result", c.File, c.Point)
		}
	}
	s, err := c.open()
	if err != nil {
		return usage("%w", err)
	}
	if c.DryRun || c.List {
		return c.list(e, points, s)
	}
	return c.run(e, f, points, s)
}

// open opens the store.
func (c *sweepRunCmd) open() (*store.Store, error) {
	dir := c.Store
	if dir == "" {
		dir = strings.TrimSuffix(c.File, filepath.Ext(c.File)) + storeEnding
	}
	if c.DryRun || c.List { // these create nothing
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			return &store.Store{Dir: dir}, nil
		}
	}
	return store.Open(dir)
}

// list prints the points.
func (c *sweepRunCmd) list(e env, points []*sweep.Point, s *store.Store) error {
	digests, err := s.Digests()
	if err != nil {
		return usage("%w", err)
	}
	seen := map[string]bool{}
	missing := 0
	for _, p := range points {
		_, kept := slices.BinarySearch(digests, p.Digest)
		if !kept && !seen[p.Digest] {
			missing++
			if c.List {
				fmt.Fprintln(e.stdout, p.Digest)
			}
		}
		if c.DryRun {
			state := "missing"
			switch {
			case kept:
				state = "kept"
			case seen[p.Digest]:
				state = "twice"
			}
			fmt.Fprintf(e.stdout, "%s  %-7s  %s\n", p.Digest, state, p)
		}
		seen[p.Digest] = true
	}
	if c.DryRun {
		fmt.Fprintf(e.stderr, "heddle: %s, %d of them to be run\n", report.Plural(len(points), "point", "points"), missing)
	}
	return nil
}

// run runs the points and prints the table.
func (c *sweepRunCmd) run(e env, f *sweep.File, points []*sweep.Point, s *store.Store) error {
	self, err := itself()
	if err != nil {
		return usage("%w", err)
	}
	q := &sweep.Queue{Store: s, Heddle: self, Limits: f.Limits}
	var said sync.Mutex
	q.Say = func(format string, args ...any) {
		said.Lock()
		defer said.Unlock()
		fmt.Fprintf(e.stderr, "heddle: "+format+"\n", args...)
	}
	line := progress.New(e.stderr, c.Progress, c.Quiet)
	if line != nil {
		q.Changed = func(x sweep.State) { line.Swept(x.Kept, x.Done+x.Failed, x.All, x.Running, x.Failed) }
	}
	state, err := q.Run(e.ctx, points)
	if line != nil {
		line.Clear()
	}
	if err != nil && e.ctx.Err() == nil {
		return usage("%w", err)
	}
	if err == nil && !c.Quiet {
		t, terr := f.Table(points, s)
		if terr == nil {
			terr = t.WriteText(e.stdout)
		}
		if terr != nil {
			return usage("%w", terr)
		}
	}
	fmt.Fprintf(e.stderr, "heddle: %s: %d kept, %d run, %d without a result; the store is %s\n", report.Plural(state.All, "point", "points"), state.Kept, state.Done-state.Kept, state.Failed, s.Dir)
	switch {
	case err != nil:
		return &exitError{code: exitInterrupted, err: errors.New("interrupted; the same command goes on")}
	case state.Failed > 0 || state.Wrong > 0:
		return &exitError{code: exitCheck}
	}
	return nil
}

// itself is the path of this program, under the name by which it was called.
func itself() (string, error) {
	if path, err := osexec.LookPath(os.Args[0]); err == nil {
		return filepath.Abs(path)
	}
	return os.Executable()
}
