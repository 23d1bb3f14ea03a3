package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/heddle-sim/heddle/internal/progress"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/run/flags"
	"github.com/heddle-sim/heddle/internal/trace/open"
	"github.com/heddle-sim/heddle/internal/whatif"
	"github.com/heddle-sim/heddle/internal/work/cuda/cache"
	"github.com/heddle-sim/heddle/internal/work/input"
	"github.com/heddle-sim/heddle/internal/work/job"
	"github.com/heddle-sim/heddle/internal/work/tracerun"
)

// whatifCmd is `heddle whatif`.
type whatifCmd struct {
	Input   string   `arg:"" name:"input" help:"A job file (TOML) or a trace; or the word cuda, followed by -- and a CUDA program with its arguments."`
	Program []string `arg:"" optional:"" name:"program" help:"The CUDA program and its arguments: heddle whatif cuda -- ./app graph.txt"`

	GPU      string   `name:"gpu" placeholder:"NAME" help:"The machine: a name (see heddle gpus), a TOML file, or a gpgpusim.config; default: the job's, or else ${default_gpu}."`
	Core     string   `placeholder:"CORE" help:"The core model: modern or simt."`
	Set      []string `short:"C" sep:"none" placeholder:"KEY=VALUE" help:"Set one value of the configuration in all runs (repeatable)."`
	Code     string   `default:"auto" placeholder:"WHAT" help:"What of a program's device code runs: ptx, sass or auto, as in heddle run."`
	Only     []string `placeholder:"NAME" help:"Try only these idealisations, by the last column of the table; none tries none of them."`
	Line     string   `placeholder:"FILE:LINE" help:"Also ask: what if the loads of this line of the program text or its source hit the L1?"`
	Launch   string   `placeholder:"LIST" help:"Compare the cycles of these launches, as in heddle run --kernels, instead of the whole run. All launches run."`
	JSON     string   `name:"json" placeholder:"FILE" help:"Write the result as JSON (- is standard output; the table then goes to standard error)."`
	Threads  int      `placeholder:"N" help:"Runs at a time; default: one per core. Every N gives the same result."`
	NoCache  bool     `help:"Do not use or keep runs in the user's cache. Runs of CUDA programs are never kept, because what they read is not known."`
	Progress string   `default:"auto" placeholder:"WHEN" help:"Show how many runs are left and how long they will take: auto (on a terminal), always or never."`
}

// cudaWord is the INPUT that announces a CUDA program.
const cudaWord = "cuda"

// Run makes all runs and prints the table.
func (c *whatifCmd) Run(e env) error {
	o, err := c.options(e)
	if err != nil {
		return err
	}
	to, err := openSinks(e, c.JSON, "")
	if err != nil {
		return err
	}
	defer to.close()
	if line := progress.New(e.stderr, c.Progress, false); line != nil {
		o.Progress = line.Ran
		defer line.Clear()
	}
	res, err := whatif.Explore(e.ctx, *o)
	var values *whatif.ValuesError
	if errors.As(err, &values) {
		return &exitError{code: exitCheck, err: err}
	}
	if err != nil {
		return err
	}
	if to.json != nil {
		if err := res.WriteJSON(to.json); err != nil {
			return usage("--json: %w", err)
		}
	}
	if err := res.WriteText(to.text); err != nil {
		return usage("writing the result: %w", err)
	}
	if res.WrongValues() {
		return &exitError{code: exitCheck}
	}
	return nil
}

// options checks the flags and returns the question.
func (c *whatifCmd) options(e env) (*whatif.Options, error) {
	kind, err := c.kind()
	if err != nil {
		return nil, err
	}
	f := c.flags()
	base, err := f.Options(kind)
	if err != nil {
		return nil, usage("%w", err)
	}
	base.Threads = 1 // the runs are what is parallel
	o := &whatif.Options{Input: c.Input, Only: c.Only, Line: c.Line, Workers: cmp.Or(c.Threads, runtime.GOMAXPROCS(0))}
	if slices.Equal(c.Only, []string{"none"}) {
		o.Only = []string{}
	}
	if c.Threads < 0 {
		return nil, usage("--threads is %d; it must be at least 1", c.Threads)
	}
	if c.Launch != "" {
		if o.Launches, err = run.ParseSelection(c.Launch); err != nil {
			return nil, usage("--launch: %w", err)
		}
	}
	machine, files := cmp.Or(c.GPU, run.DefaultGPU), []string(nil)
	switch kind {
	case run.CUDA:
		o.Input = c.Program[0]
		o.Run, err = c.cudaRuns(e)
	case run.Trace:
		files, err = input.Files(c.Input, kind)
		o.Run = c.traceRuns(base)
	default:
		machine, files, err = c.jobFiles(base)
		o.Run = c.jobRuns(base)
	}
	if err != nil {
		return nil, err
	}
	if o.Machine, err = base.Settings.GPUOf(machine); err != nil {
		return nil, usage("%w", err)
	}
	if files != nil && !c.NoCache {
		if o.Digest, err = c.digest(files); err != nil {
			return nil, usage("%w", err)
		}
		o.Cache, _ = cache.Root() // without one, nothing is kept
	}
	return o, nil
}

// kind returns the kind of INPUT.
func (c *whatifCmd) kind() (run.Kind, error) {
	if c.Input == cudaWord {
		if len(c.Program) == 0 {
			return 0, usage("nothing to run: heddle whatif cuda -- PROGRAM ARGS")
		}
		return run.CUDA, nil
	}
	if len(c.Program) > 0 {
		return 0, usage("%s is one argument too many; for a CUDA program write: heddle whatif cuda -- PROGRAM ARGS", c.Program[0])
	}
	kind := input.Kind(c.Input)
	if kind == run.KeplerCore || kind == run.KeplerJob {
		return 0, usage("%s is for the Kepler-style core, which has no idealisations; want a job, a trace or a CUDA program for another core", c.Input)
	}
	return kind, nil
}

// flags returns the flags of all runs.
func (c *whatifCmd) flags() flags.Flags {
	return flags.Flags{GPU: c.GPU, Mode: "timing", Core: c.Core, Set: c.Set, Code: c.Code, RecordForm: "accel-sim", Progress: "never", Threads: 1}
}

// printed is the digest of what a run prints.
type printed struct {
	hash.Hash
	any bool
}

func newPrinted() *printed { return &printed{Hash: sha256.New()} }

// Write adds to what was printed.
func (p *printed) Write(b []byte) (int, error) {
	p.any = p.any || len(b) > 0
	return p.Hash.Write(b)
}

// String returns the digest, "" if nothing was printed.
func (p *printed) String() string {
	if !p.any {
		return ""
	}
	return fmt.Sprintf("%x", p.Sum(nil))
}

// with returns options with more assignments.
func with(o run.Options, set []string) (run.Options, error) {
	o.Settings.Assignments = slices.Clone(o.Settings.Assignments)
	for _, s := range set {
		if err := o.Settings.Set(s); err != nil {
			return o, err
		}
	}
	return o, nil
}

// jobFiles returns the machine of a job and the files that it reads.
func (c *whatifCmd) jobFiles(o run.Options) (machine string, files []string, err error) {
	r := runCmd{Input: c.Input}
	if err := r.checkInput(env{}, c.Input, o); err != nil {
		return "", nil, err
	}
	ready, err := job.Load(c.Input, o)
	if err != nil {
		return "", nil, err
	}
	return ready.Job.Machine(o), ready.Job.Files(), nil
}

// jobRuns makes runs of a job.
func (c *whatifCmd) jobRuns(base run.Options) func(context.Context, []string) (*report.Run, string, error) {
	return func(ctx context.Context, set []string) (*report.Run, string, error) {
		o, err := with(base, set)
		if err != nil {
			return nil, "", err
		}
		out := newPrinted()
		o.Out = out
		ready, err := job.Load(c.Input, o)
		if err != nil {
			return nil, "", err
		}
		res, err := ready.Run(ctx, o)
		return res, out.String(), err
	}
}

// traceRuns makes runs of a trace.
func (c *whatifCmd) traceRuns(base run.Options) func(context.Context, []string) (*report.Run, string, error) {
	return func(ctx context.Context, set []string) (*report.Run, string, error) {
		o, err := with(base, set)
		if err != nil {
			return nil, "", err
		}
		trace, err := open.Open(c.Input)
		if err != nil {
			return nil, "", err
		}
		res, err := tracerun.Run(ctx, trace, o)
		return res, "", err
	}
}

// cudaRuns makes runs of a CUDA program, each in its own process.
func (c *whatifCmd) cudaRuns(e env) (func(context.Context, []string) (*report.Run, string, error), error) {
	if _, err := osexec.LookPath(c.Program[0]); err != nil {
		return nil, usage("cannot run %s: %w", c.Program[0], errors.Unwrap(err))
	}
	dir, err := runtimeLibrary(e)
	if err != nil {
		return nil, usage("%w", err)
	}
	return func(ctx context.Context, set []string) (*report.Run, string, error) {
		x := cudaCmd{Command: c.Program, Program: flags.Program{Flags: c.flags(), Devices: 1}}
		x.Set = slices.Concat(c.Set, set)
		return x.once(ctx, dir)
	}, nil
}

// once runs the program without input, and returns its report and the digest of what it
// prints.
func (c *cudaCmd) once(ctx context.Context, dir string) (*report.Run, string, error) {
	tmp, err := os.MkdirTemp("", "heddle-whatif-")
	if err != nil {
		return nil, "", err
	}
	defer os.RemoveAll(tmp)
	path, err := osexec.LookPath(c.Command[0])
	if err != nil {
		return nil, "", err
	}
	cmd := osexec.CommandContext(ctx, path, c.Command[1:]...)
	cmd.Args[0] = c.Command[0]
	out := newPrinted()
	var messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &messages
	if cmd.Env, err = c.environment(dir, tmp); err != nil {
		return nil, "", err
	}
	// An interrupt ends all runs, so it is not left to the program as by heddle cuda.
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case err != nil:
		return nil, "", fmt.Errorf("%s: %w: %.400s", c.Command[0], err, messages.String())
	}
	if _, err := os.Stat(filepath.Join(tmp, "2.json")); err == nil {
		return nil, "", usage("%s runs more than one program with kernels, and only the cycles of a single one can be compared: give one of them, as in heddle whatif cuda -- PROGRAM ARGS", c.Command[0])
	}
	text, err := os.ReadFile(filepath.Join(tmp, "1.json"))
	if err != nil {
		return nil, "", errors.New(whyNone(cmd, path, ended{}))
	}
	var res report.Run
	if err := json.Unmarshal(text, &res); err != nil {
		return nil, "", fmt.Errorf("the report of %s cannot be read: %w", c.Command[0], err)
	}
	return &res, out.String(), nil
}

// digest identifies this program and the contents of files and folders.
func (c *whatifCmd) digest(files []string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return input.Digest(fmt.Sprintf("%s %s %q", report.Version, c.Code, c.Input), append([]string{self}, files...)...)
}
