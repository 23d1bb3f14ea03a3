package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/check/checkers"
	"github.com/heddle-sim/heddle/internal/check/coverage"
	"github.com/heddle-sim/heddle/internal/check/output"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/run/flags"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// checkCmd is `heddle check`.
type checkCmd struct {
	Checkers  []string `default:"all" placeholder:"LIST" help:"The checkers, separated by commas: some of ${checkers}; all (the default) is all but perf, which gives hints about speed."`
	KeepGoing bool     `help:"Leave out accesses that are faults, and run on, so that one run shows all of them; without it the first fault of a kernel ends it, as on a GPU."`
	InitReads bool     `help:"Report reads of unset memory where they are, even if nothing is done with what was read. Without it the checker init reports a use: as an address, in the decision of a branch, in a store to global memory."`
	Order     string   `default:"forward" placeholder:"ORDER" help:"The order in which blocks and warps execute, as far as the program leaves it open: forward (the default), reverse, or seed=N for a random one."`
	Orders    int      `default:"1" placeholder:"N" help:"Run in N orders, and put together what is found: forward, reverse, seed=1, seed=2 and so on."`
	findingFlags
	ErrorExit int    `name:"error-exitcode" default:"1" placeholder:"N" help:"The exit code if something is found; default: 1."`
	Coverage  string `placeholder:"FILE" help:"Write which lines, functions and branches of PTX kernels ran, and how many threads ran them, as an LCOV tracefile, over all orders together."`
	JSON      string `name:"json" placeholder:"FILE" help:"Write the findings as JSON (- is standard output)."`
	HTML      string `name:"html" placeholder:"FILE" help:"Write a page that shows the findings at their lines: one HTML file that needs nothing else. Of several orders it has the counts of the first."`

	Code      string   `default:"auto" placeholder:"WHAT" help:"What of a program's device code runs: ptx; sass, its machine code, of which races, memory, leaks, sync and init see what can be seen there; or auto (the default): PTX, and machine code if there is none."`
	GPU       string   `name:"gpu" placeholder:"NAME" help:"The GPU that the program sees: a name (see heddle gpus) or a TOML file; default: the job's, or else ${default_gpu}."`
	Devices   int      `default:"1" placeholder:"N" help:"Number of GPUs, all of the same kind, 1 to ${most_devices}."`
	Kernels   string   `placeholder:"LIST" help:"Run only these launches: a comma-separated list of numbers, ranges such as 2-4, and /regular expressions/ over kernel names."`
	MaxCycles uint64   `placeholder:"N" help:"Stop after N warp instructions (exit code 4; a CUDA program gets cudaErrorLaunchTimeout)."`
	PTX       []string `name:"ptx" sep:"none" placeholder:"FILE" help:"Run this PTX in place of the program's PTX with the same file name or the same kernel names (repeatable)."`
	Roots     []string `name:"source-root" sep:"none" placeholder:"DIR" help:"Look for source files in this folder too (repeatable)."`
	Progress  string   `default:"auto" placeholder:"WHEN" help:"Show what runs and how long it will take: auto (on a terminal), always or never."`

	Command []string `arg:"" passthrough:"partial" name:"input" help:"A job file (TOML), or a CUDA program and its arguments: heddle check -- ./app graph.txt"`
}

// checkedRun is what one run of the program with checkers came to.
type checkedRun struct {
	found [][]*check.Finding // by the program, if it runs others
	code  int                // with which it ended
	out   string             // digest of what it printed, if there are several runs
	cover coverage.Data      // nil without --coverage
	why   error              // of a failure that is said after the findings; may be nil

	results []*report.Run
	texts   string // folder of the program's PTX, for the page
}

// Run runs the program, in one order or several, and prints what was found.
func (c *checkCmd) Run(e env) error {
	set, err := checkers.New(c.Checkers, checkers.Options{KeepGoing: c.KeepGoing, InitReads: c.InitReads})
	if err != nil {
		return usage("--checkers: %w", err)
	}
	if err := c.checkFlags(set); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "heddle-check-")
	if err != nil {
		return usage("%w", err)
	}
	defer os.RemoveAll(tmp)
	one, err := c.input(e, tmp)
	if err != nil {
		return err
	}
	orders, err := c.orders()
	if err != nil {
		return err
	}
	var runs []checkedRun
	var found [][]*check.Finding
	for i, order := range orders {
		x := e
		out := newPrinted()
		switch {
		case i > 0:
			x.stdout = out // once is enough
		case len(orders) > 1:
			x.stdout = io.MultiWriter(e.stdout, out)
		}
		r, err := one(x, order)
		if err != nil {
			return err
		}
		r.out = out.String()
		if i > 0 {
			compareRuns(e.stderr, order, &runs[0], &r)
		}
		runs, found = append(runs, r), append(found, slices.Concat(r.found...))
	}
	all, fails, err := c.show(e, output.MergeRuns(found...), set.Names(), c.Roots)
	if err == nil || all != nil { // a file that cannot be written keeps no other from it
		err = cmp.Or(err, c.write(e, runs, all, fails))
	}
	if err != nil {
		return usage("%w", err)
	}
	if fails && c.ErrorExit != 0 {
		return &exitError{code: c.ErrorExit}
	}
	if err := unseen(e, runs[0].results...); err != nil {
		return err
	}
	for _, r := range runs {
		if r.code != 0 || r.why != nil {
			return &exitError{code: r.code, err: r.why}
		}
	}
	return nil
}

// write writes the files of the runs with the findings that are reported, and returns why the first
// of those that it could not write failed.
func (c *checkCmd) write(e env, runs []checkedRun, all []*check.Finding, fails bool) (first error) {
	if c.Coverage != "" {
		covered := coverage.Data{}
		for _, r := range runs {
			covered.Merge(r.cover)
		}
		first = writeCoverage(c.Coverage, covered)
	}
	if c.JSON != "" {
		b, err := output.Encode(all)
		if err == nil {
			err = writeTo(e, c.JSON, b)
		}
		if err != nil {
			first = cmp.Or(first, usage("--json: %w", err))
		}
	}
	if c.HTML == "" {
		return first
	}
	r := &runs[0]
	judgeAll(r.results, output.Divide(all, r.found...), fails)
	var b bytes.Buffer
	err := pageOf(append(slices.Clone(c.Roots), r.texts), r.results...).WriteHTML(&b)
	if err == nil {
		err = os.WriteFile(c.HTML, b.Bytes(), 0o666)
	}
	if err != nil {
		return cmp.Or(first, usage("--html: %w", err))
	}
	return first
}

// checkFlags returns what is wrong with the flags of a run with these checkers.
func (c *checkCmd) checkFlags(set *check.Set) error {
	if c.ErrorExit < 0 || c.ErrorExit > 255 {
		return usage("--error-exitcode %d: want 0 to 255", c.ErrorExit)
	}
	if c.HTML == "-" {
		return usage("--html - : a page goes to a file")
	}
	for _, x := range []struct{ flag, file string }{{"--json", c.JSON}, {"--coverage", c.Coverage}, {"--html", c.HTML}} {
		if err := writable(x.flag, x.file); err != nil {
			return err
		}
	}
	return c.check(set)
}

// compareRuns says where a run in another order came to something else.
func compareRuns(w io.Writer, order string, first, r *checkedRun) {
	if r.code != first.code {
		fmt.Fprintf(w, "heddle: with --order %s it ends with %d instead of %d\n", order, r.code, first.code)
	}
	if r.out != first.out {
		fmt.Fprintf(w, "heddle: with --order %s it prints something else\n", order)
	}
}

// orders returns the orders to run in.
func (c *checkCmd) orders() ([]string, error) {
	const most = 1000 // our choice; each is a whole run
	if c.Orders < 1 || c.Orders > most {
		return nil, usage("--orders %d: want 1 to %d", c.Orders, most)
	}
	if c.Orders == 1 {
		return []string{c.Order}, nil
	}
	if c.Order != "forward" {
		return nil, usage("--orders %d chooses the orders itself: remove --order %s", c.Orders, c.Order)
	}
	list := []string{"forward", "reverse"}
	for n := 1; len(list) < c.Orders; n++ {
		list = append(list, fmt.Sprintf("seed=%d", n))
	}
	return list, nil
}

// flags returns the flags of a run.
func (c *checkCmd) flags(order string) flags.Flags {
	f := flags.Default().Flags
	f.GPU, f.Mode, f.Kernels, f.MaxCycles, f.Check, f.Order, f.Progress = c.GPU, "functional", c.Kernels, c.MaxCycles, c.Checkers, order, c.Progress
	f.Code = c.Code
	f.SourceRoot, f.Coverage, f.KeepGoing, f.InitReads, f.HTML = c.Roots, c.Coverage, c.KeepGoing, c.InitReads, c.HTML
	return f
}

// input returns what runs the program or the job once. There is a folder for its files.
func (c *checkCmd) input(e env, dir string) (func(e env, order string) (checkedRun, error), error) {
	switch {
	case len(c.Command) > 0 && c.Command[0] == "--":
		c.Command = c.Command[1:]
	case len(c.Command) == 1 && strings.EqualFold(filepath.Ext(c.Command[0]), ".toml"):
		return c.jobRuns()
	}
	if len(c.Command) == 0 {
		return nil, usage("nothing to run: heddle check [flags] -- PROGRAM ARGS, or heddle check JOB.toml")
	}
	return c.programRuns(e, dir)
}

// jobRuns returns what runs the job.
func (c *checkCmd) jobRuns() (func(e env, order string) (checkedRun, error), error) {
	file := c.Command[0]
	if len(c.PTX) > 0 || c.Devices != 1 {
		return nil, usage("--ptx and --devices are for CUDA programs, but %s is a job", file)
	}
	if job.IsKepler(file) {
		return nil, usage("%s is for the Kepler-style core, which has no checkers", file)
	}
	return func(e env, order string) (checkedRun, error) {
		r := runCmd{Input: file, Flags: c.flags(order)}
		o, err := r.options(run.Job)
		if err != nil {
			return checkedRun{}, err
		}
		work, err := r.loadJob(e, &o)
		if err != nil {
			return checkedRun{}, err
		}
		o.Out = e.stdout
		res, err := work(e.ctx, o)
		if res == nil || !res.Begun() && err != nil {
			return checkedRun{}, err
		}
		x := checkedRun{found: [][]*check.Finding{ordered(o.Checks.Findings(), order)}, why: err, results: []*report.Run{res}}
		if o.Coverage != nil {
			x.cover = coverage.Of(o.Coverage)
		}
		if err != nil {
			x.code = exitCode(err)
		}
		for _, k := range res.Checks {
			if !k.OK && err == nil {
				x.code, x.why = exitCheck, fmt.Errorf("the values of the buffer %s are not those that the job expects; heddle run %s shows them", k.Buffer, file)
			}
		}
		return x, nil
	}, nil
}

// programRuns returns what runs the CUDA program. Accesses outside of allocations are
// faults, also where a GPU has memory mapped. Each run has a folder of its own in a folder.
func (c *checkCmd) programRuns(e env, folder string) (func(e env, order string) (checkedRun, error), error) {
	x := cudaCmd{Command: c.Command, Program: flags.Program{Flags: c.flags(c.Order), Devices: c.Devices, PTX: c.PTX, Strict: true}}
	if _, err := x.check(); err != nil {
		return nil, err
	}
	program, dir, err := x.find(e)
	if err != nil {
		return nil, err
	}
	return func(e env, order string) (checkedRun, error) {
		x.Flags = c.flags(order)
		tmp := filepath.Join(folder, order)
		if err := os.Mkdir(tmp, 0o777); err != nil {
			return checkedRun{}, usage("%w", err)
		}
		cmd, state, err := x.execute(e, program, dir, tmp)
		if err != nil {
			return checkedRun{}, err
		}
		_, results, err := readResults(tmp)
		if errors.Is(err, errNoReport) {
			return checkedRun{}, usage("nothing was checked: %s", whyNone(cmd, program, state))
		} else if err != nil {
			return checkedRun{}, err
		}
		r := checkedRun{code: state.code, results: results, texts: pageTexts(tmp)}
		if r.found, err = foundIn(results, order); err != nil {
			return checkedRun{}, err
		}
		if c.Coverage != "" {
			if r.cover, err = coverage.ReadAll(tmp); err != nil {
				return checkedRun{}, usage("--coverage: %w", err)
			}
		}
		if failed := failure(results); r.code == 0 && failed != 0 {
			r.code, r.why = failed, errors.New("the program ended with 0, but a kernel failed")
		}
		return r, nil
	}, nil
}
