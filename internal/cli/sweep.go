package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"

	"github.com/heddle-sim/heddle/internal/progress"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/sweep"
	"github.com/heddle-sim/heddle/internal/sweep/slurm"
	"github.com/heddle-sim/heddle/internal/sweep/store"
)

// sweepCmd is `heddle sweep`.
type sweepCmd struct {
	Run    sweepRunCmd    `cmd:"" default:"withargs" help:"Run the points of a sweep that have no result yet, and print a table (the default)."`
	Report sweepReportCmd `cmd:"" help:"Report what there is of a sweep, or what a store has; run nothing."`
	Query  sweepQueryCmd  `cmd:"" help:"Answer a query in SQL about the results of a store."`
	Export sweepExportCmd `cmd:"" help:"Write a table of a store as Parquet or CSV."`
	Diff   sweepDiffCmd   `cmd:"" help:"Compare two stores point by point."`
}

// storeEnding is that of the names of stores.
const storeEnding = ".store"

// sweepRunCmd is `heddle sweep FILE`.
type sweepRunCmd struct {
	File string `arg:"" name:"file" help:"The sweep (TOML): inputs, gpus, axes, limits."`

	Store    string   `placeholder:"DIR" help:"The folder of results; default: FILE with .store in place of .toml."`
	Jobs     int      `placeholder:"N" help:"Points at a time; default: the file's, or one per core."`
	DryRun   bool     `help:"Print the points, and which of them have no result; run nothing."`
	List     bool     `help:"Print the digests of points without a result, one on a line, for other programs that run them with --point."`
	Point    []string `placeholder:"DIGEST" help:"Run these points only (a comma-separated list), unless they have results."`
	Progress string   `default:"auto" placeholder:"WHEN" help:"Show how many points are done and how long the rest will take: auto (on a terminal), always, never, or bars (on a terminal: also what each worker runs and how far it is)."`
	Quiet    bool     `help:"No progress line and no table."`
	NoLimits bool     `help:"Ignore the limits of the file, as tasks of a batch system do, which has its own."`
	pageFlags

	Slurm bool `help:"Run the points as an array of jobs of Slurm. The store must be on a file system that all nodes share; the same command waits for what is queued and submits what is missing."`
	slurmFlags
}

// slurmFlags are the options of jobs of Slurm.
type slurmFlags struct {
	Partition  string   `placeholder:"NAME" help:"With --slurm: the partition."`
	Account    string   `placeholder:"NAME" help:"With --slurm: the account."`
	Time       string   `placeholder:"TIME" help:"With --slurm: the limit of a task, as sbatch takes it."`
	MemPerTask string   `placeholder:"SIZE" help:"With --slurm: the memory of a task, as sbatch takes it."`
	ArrayLimit int      `placeholder:"N" help:"With --slurm: tasks at a time."`
	SbatchArg  []string `sep:"none" placeholder:"ARG" help:"With --slurm: one more argument of sbatch (repeatable)."`
	NoWait     bool     `help:"With --slurm: submit, and do not wait."`
}

// options checks the flags.
func (f *slurmFlags) options(slurms bool) (slurm.Options, error) {
	o := slurm.Options{Partition: f.Partition, Account: f.Account, Time: f.Time, Memory: f.MemPerTask, Limit: f.ArrayLimit, More: f.SbatchArg, NoWait: f.NoWait}
	if !slurms && (o.Partition+o.Account+o.Time+o.Memory != "" || o.Limit != 0 || len(o.More) > 0 || o.NoWait) {
		return o, usage("--partition, --account, --time, --mem-per-task, --array-limit, --sbatch-arg and --no-wait are for --slurm")
	}
	if o.Limit < 0 {
		return o, usage("--array-limit %d: want at least 1", o.Limit)
	}
	return o, nil
}

// Run runs the sweep.
func (c *sweepRunCmd) Run(e env) error {
	f, err := sweep.Load(c.File)
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	if c.Jobs < 0 || c.Jobs > sweep.MostJobs {
		return usage("--jobs %d: want 1 to %d", c.Jobs, sweep.MostJobs)
	}
	if c.NoLimits {
		f.Limits = sweep.Limits{}
	}
	if c.Jobs > 0 {
		f.Limits.Jobs = c.Jobs
	}
	if err := oneOf("--progress", c.Progress, "auto", "always", "never", "bars"); err != nil {
		return err
	}
	jobs, err := c.slurmFlags.options(c.Slurm)
	if err != nil {
		return err
	}
	if err := c.checkPages(); err != nil {
		return err
	}
	points, s, err := c.points(f)
	if err != nil {
		return err
	}
	if c.DryRun || c.List {
		return c.list(e, points, s)
	}
	return c.run(e, f, points, s, jobs)
}

// points are those of the sweep, or those that were chosen; and the store.
func (c *sweepRunCmd) points(f *sweep.File) (points []*sweep.Point, s *store.Store, err error) {
	if len(c.Point) == 0 { // before there is a store, which a bad sweep does not need
		if points, err = f.Points(); err != nil {
			return nil, nil, &exitError{code: exitUsage, err: err}
		}
	}
	if s, err = c.open(); err != nil {
		return nil, nil, usage("%w", err)
	}
	if len(c.Point) == 0 {
		f.Remember(points, s)
		return points, s, nil
	}
	points, unknown, err := f.Named(c.Point, s)
	switch {
	case err != nil:
		return nil, nil, &exitError{code: exitUsage, err: err}
	case unknown != "":
		return nil, nil, usage("%s has no point %s; heddle sweep %[1]s --list prints those without a result", c.File, unknown)
	}
	return points, s, nil
}

// open opens the store.
func (c *sweepRunCmd) open() (*store.Store, error) {
	dir := storeOf(c.File, c.Store)
	if c.DryRun || c.List { // these create no store
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

// engine runs points.
type engine interface {
	Run(ctx context.Context, points []*sweep.Point) (sweep.State, error)
}

// engine returns what runs the points: this computer, or Slurm.
func (c *sweepRunCmd) engine(f *sweep.File, s *store.Store, jobs slurm.Options, line *sweepLine) (engine, error) {
	self, err := itself()
	if err != nil {
		return nil, usage("%w", err)
	}
	if !c.Slurm {
		return &sweep.Queue{Store: s, Heddle: self, Limits: f.Limits, Changed: line.changed, Say: line.say, Watched: line.line != nil && line.line.Bars()}, nil
	}
	file, err := filepath.Abs(c.File)
	if err != nil {
		return nil, usage("%w", err)
	}
	return &slurm.Engine{Options: jobs, Store: s, Heddle: self, File: file, Changed: line.changed, Say: line.say}, nil
}

// run runs the points and prints the table.
func (c *sweepRunCmd) run(e env, f *sweep.File, points []*sweep.Point, s *store.Store, jobs slurm.Options) error {
	line := &sweepLine{line: progress.New(e.stderr, c.Progress, c.Quiet), stderr: e.stderr}
	x, err := c.engine(f, s, jobs, line)
	if err != nil {
		return err
	}
	stop := func() {}
	if q, ok := x.(*sweep.Queue); ok {
		stop = line.watch(q)
	}
	state, err := x.Run(e.ctx, points)
	stop()
	if line.line != nil {
		line.line.Clear()
	}
	if err != nil && e.ctx.Err() == nil {
		return usage("%w", err)
	}
	if err == nil && (jobs.NoWait || len(c.Point) > 0 && state.Failed+state.Wrong == 0) { // single points have no table
		return nil
	}
	if err == nil {
		if rerr := c.report(e, f, points, s); rerr != nil {
			return rerr
		}
	}
	fmt.Fprintf(e.stderr, "heddle: %s: %d kept, %d run, %d without a result; the store is %s\n", report.Plural(state.All, "point", "points"), state.Kept, state.Done-state.Kept, state.Failed, s.Dir)
	switch {
	case err != nil:
		return &exitError{code: exitInterrupted, err: errors.New("interrupted; the same command goes on" + c.afterInterrupt())}
	case state.Failed > 0 || state.Wrong > 0:
		return &exitError{code: exitCheck}
	}
	return nil
}

// checkPages finds flags that make no report.
func (c *sweepRunCmd) checkPages() error {
	if c.HTML != "" && (c.DryRun || c.List || len(c.Point) > 0 || c.NoWait) {
		return usage("--html is for whole sweeps; heddle sweep report %s --html %s shows what there is later", c.File, c.HTML)
	}
	return c.check()
}

// report prints the table and writes the page.
func (c *sweepRunCmd) report(e env, f *sweep.File, points []*sweep.Point, s *store.Store) error {
	if c.Quiet && c.HTML == "" {
		return nil
	}
	t, err := f.Table(points, s)
	if err != nil {
		return usage("%w", err)
	}
	r := f.Summary(t, s)
	if c.Quiet {
		return c.write(e, r, s, sourceRoots(f))
	}
	return c.show(e, t, r, s, sourceRoots(f))
}

// itself is the path of this program, under the name by which it was called.
func itself() (string, error) {
	if path, err := osexec.LookPath(os.Args[0]); err == nil {
		return filepath.Abs(path)
	}
	return os.Executable()
}

// afterInterrupt says what an interrupt has not ended.
func (c *sweepRunCmd) afterInterrupt() string {
	if c.Slurm {
		return "; jobs that are queued stay so (scancel ends them)"
	}
	return ""
}
