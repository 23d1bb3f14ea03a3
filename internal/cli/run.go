package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/check/checkers"
	"github.com/heddle-sim/heddle/internal/check/coverage"
	"github.com/heddle-sim/heddle/internal/compile"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/program"
	"github.com/heddle-sim/heddle/internal/progress"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/run/flags"
	"github.com/heddle-sim/heddle/internal/run/step"
	"github.com/heddle-sim/heddle/internal/view"
	"github.com/heddle-sim/heddle/internal/work/input"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// runCmd is `heddle run`.
type runCmd struct {
	Input string `arg:"" optional:"" name:"input" help:"A job file (TOML): programs, buffers, launches, checks. Or a trace: a folder with kernelslist.g, a .traceg, a .heddle-trace. Or a program (.kasm) or recorded case (.json) of the Kepler-style core."`

	flags.Flags
	findingFlags
	Dump    []string `sep:"none" placeholder:"BUFFER=FILE" help:"Write a buffer's bytes to a file after the last step (repeatable)."`
	SASS    string   `name:"sass" placeholder:"LISTING" help:"For a trace: a disassembly of its kernels (nvdisasm, cuobjdump, CuAssembler, or words), which adds missing control bits."`
	Explain string   `placeholder:"NAME" help:"Only explain a counter, by its name in the JSON result or in --accel-sim-stats, or a parameter of GPUs; all lists them."`

	live *livePage // a page that shows the run while it goes on; may be nil
}

// runVars are texts for the help that other packages provide.
func runVars() map[string]string {
	return map[string]string{
		"default_gpu": run.DefaultGPU, "setting_keys": strings.Join(run.SettingKeys(), ", "), "most_devices": strconv.Itoa(run.MaxDevices),
		"sass_archs": archNames(), "checkers": strings.Join(checkers.Names(), ", "),
		"compile_passes": strings.Join(compile.Passes(), ", "), "least_registers": fmt.Sprint(compile.LeastRegisters),
	}
}

// options turns the flags into options for a kind of work.
func (c *runCmd) options(kind run.Kind) (run.Options, error) {
	o, err := c.Flags.Options(kind)
	if err != nil {
		return o, usage("%w", err)
	}
	for _, d := range c.Dump {
		buffer, file, ok := strings.Cut(d, "=")
		if !ok || buffer == "" || file == "" {
			return o, usage("--dump %s: write BUFFER=FILE", d)
		}
		o.Dumps = append(o.Dumps, run.Dump{Buffer: buffer, File: file})
	}
	return o, nil
}

// Run runs the job.
func (c *runCmd) Run(e env) error {
	if c.Explain != "" {
		return explain(e, c.Explain)
	}
	if c.Input == "" {
		return usage("nothing to run: heddle run INPUT, where INPUT is a job file (TOML), a trace, or a program (.kasm) or recorded case (.json) of the Kepler-style core")
	}
	kind := input.Kind(c.Input)
	switch kind {
	case run.KeplerCore:
		return c.runKepler(e)
	case run.KeplerJob:
		return c.runKeplerJob(e)
	}
	if c.SASS != "" && kind != run.Trace {
		return usage("--sass adds control bits to a trace, but %s is not one", c.Input)
	}
	o, err := c.options(kind)
	if err != nil {
		return err
	}
	if err := c.findingFlags.check(o.Checks); err != nil {
		return err
	}
	if o.Checkpoint != nil {
		if o.Checkpoint.Content, err = c.content(kind); err != nil {
			return err
		}
	}
	load := c.loadJob
	if kind == run.Trace {
		load = c.loadTrace
	}
	o.Tell = func(message string) { fmt.Fprintf(e.stderr, "heddle: %s\n", message) }
	work, err := load(e, &o)
	if err != nil {
		return err
	}
	return c.observed(e, &o, func(to *sinks) (*report.Run, string, error) {
		// Print them at the end, not between progress and report.
		var warnings []*exec.Warning
		o.Warn = func(w *exec.Warning) { warnings = append(warnings, w) }
		defer func() {
			for _, w := range warnings {
				fmt.Fprintf(e.stderr, "heddle: warning: %v\n", &w.Fault)
			}
		}()
		o.Out = to.text
		if !c.Step {
			res, err := work(e.ctx, o)
			return res, "", err
		}
		s := step.New(e.ctx, e.stdin, o.Out, isTerminal(e))
		o.Out = s.Output(o.Out)
		var res *report.Run
		err := s.Run(func(inside func(*run.Inside) func() error) error {
			o.Inside = inside
			var err error
			res, err = work(e.ctx, o)
			return err
		})
		return res, "", err
	})
}

// content identifies what the run reads.
func (c *runCmd) content(kind run.Kind) (string, error) {
	files, err := input.Files(c.Input, kind)
	if err != nil {
		return "", err
	}
	if c.SASS != "" {
		files = append(files, c.SASS)
	}
	return input.Digest("", files...)
}

// work runs INPUT, once or several times.
type work func(context.Context, run.Options) (*report.Run, error)

// loadJob reads a job file. Its errors are reported by the run, so that there is a
// result.
func (c *runCmd) loadJob(e env, o *run.Options) (work, error) {
	if err := c.checkInput(e, c.Input, *o); err != nil {
		return nil, err
	}
	ready, err := job.Load(c.Input, *o)
	return func(ctx context.Context, o run.Options) (*report.Run, error) {
		if err != nil {
			return job.Failed(c.Input, o, err), err
		}
		return ready.Run(ctx, o)
	}, nil
}

// observed opens the observers' files, runs with a progress line, and writes the
// result and further messages.
func (c *runCmd) observed(e env, o *run.Options, simulate func(to *sinks) (res *report.Run, more string, err error)) error {
	to, err := openSinks(e, c.JSON, c.HTML)
	if err != nil {
		return err
	}
	defer to.close()
	files, err := c.Open(o, to.text)
	if err != nil {
		return usage("%w", err)
	}
	defer files.Close()
	line := progress.New(e.stderr, c.Progress, c.Quiet || c.Step)
	if c.Step {
		line = nil
	}
	if line != nil {
		o.Progress = line.Show
	}
	if c.live != nil {
		if err := c.live.begin(e, o); err != nil {
			return err
		}
	}
	res, more, err := simulate(to)
	if line != nil {
		line.Clear()
	}
	if c.live != nil {
		var list []*report.Run
		if res != nil {
			list = append(list, res)
		}
		err = errors.Join(err, c.live.end(nil, list...))
	}
	if werr := files.Finish(e.stderr); werr != nil {
		err = errors.Join(err, usage("%w", werr))
	}
	if o.Coverage != nil {
		err = errors.Join(err, writeCoverage(c.Coverage, coverage.Of(o.Coverage)))
	}
	if o.Checks == nil || res == nil {
		return c.conclude(to, res, more, err)
	}
	list, fails, ferr := c.show(e, ordered(o.Checks.Findings(), c.Order), o.Checks.Names(), c.SourceRoot)
	if ferr == nil {
		judge(res, list, fails, err == nil)
		if !fails {
			ferr = unseen(e, res)
		}
	}
	return errors.Join(c.conclude(to, res, more, err), ferr)
}

// sinks are the outputs for a result.
type sinks struct {
	text io.Writer // the report
	json io.Writer // nil: none
	html io.Writer // nil: none
	own  []*os.File
}

// openSinks opens the outputs: with --json - the report goes to standard error.
func openSinks(e env, json, html string) (*sinks, error) {
	s := &sinks{text: e.stdout}
	if html == "-" {
		return nil, usage("--html - : a page goes to a file; heddle view RESULT.json --html - writes it to standard output")
	}
	if json == "-" {
		s.text, s.json = e.stderr, e.stdout
	}
	for _, out := range []struct {
		flag, file string
		to         *io.Writer
	}{{"--json", json, &s.json}, {"--html", html, &s.html}} {
		if out.file == "" || *out.to != nil {
			continue
		}
		file, err := os.Create(out.file)
		if err != nil {
			s.close()
			return nil, usage("%s: %w", out.flag, err)
		}
		*out.to, s.own = file, append(s.own, file)
	}
	return s, nil
}

func (s *sinks) close() {
	for _, f := range s.own {
		_ = f.Close() // writes have been checked
	}
}

// page writes results as a page, if one is wanted.
func (s *sinks) page(f *flags.Flags, sources []string, results ...*report.Run) error {
	if s.html == nil {
		return nil
	}
	if err := pageOf(append(slices.Clone(f.SourceRoot), sources...), results...).WriteHTML(s.html); err != nil {
		return usage("--html: %w", err)
	}
	return nil
}

// pageOf returns a page of results; several have numbers. Their texts are also looked for in
// some folders.
func pageOf(roots []string, results ...*report.Run) *view.Page {
	p := &view.Page{}
	for i, r := range results {
		name := ""
		if len(results) > 1 {
			name = fmt.Sprintf("%d: %s", i+1, r.Input)
		}
		p.Results = append(p.Results, view.Result{Name: name, Run: r})
	}
	p.FindSources(roots)
	return p
}

// conclude writes a result and, after its report, further messages. It returns how
// the run ended.
func (c *runCmd) conclude(to *sinks, res *report.Run, more string, err error) error {
	if to.json != nil && res != nil {
		if werr := res.WriteJSON(to.json); werr != nil {
			err = errors.Join(err, usage("--json: %w", werr))
		}
	}
	if res != nil {
		err = errors.Join(err, to.page(&c.Flags, nil, res))
		if (c.HTML != "" || c.live != nil) && !c.Logged() {
			res = res.WithoutBlocks()
		}
	}
	switch {
	case res == nil, err != nil && !res.Begun():
		return err
	case c.Quiet:
		more = res.Summary() + "\n" + more
	default:
		if werr := res.WriteText(to.text); werr != nil && err == nil {
			return usage("writing the report: %w", werr)
		}
	}
	if _, werr := io.WriteString(to.text, more); werr != nil && err == nil {
		return usage("writing the report: %w", werr)
	}
	if err == nil && !res.OK {
		return &exitError{code: exitCheck}
	}
	return err
}

// checkInput determines what INPUT is, by content and not only by name, and for
// everything that is not a job file explains what to do.
func (c *runCmd) checkInput(e env, path string, o run.Options) error {
	st, err := os.Stat(path)
	if err != nil {
		return usage("cannot read %s: %w", path, errors.Unwrap(err))
	}
	base := strings.ToLower(filepath.Base(path))
	if st.IsDir() {
		return usage("the folder %s contains no trace (kernelslist.g or dynamic_trace.pb); give a job file (TOML), or a folder of traces", path)
	}
	if !st.Mode().IsRegular() {
		return usage("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return usage("cannot read %s: %w", path, errors.Unwrap(err))
	}
	defer f.Close()
	head := make([]byte, 64<<10)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return usage("cannot read %s: %w", path, err)
	}
	head = head[:n]
	ext := filepath.Ext(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(base, ".gz"), ".xz"), ".zst"))
	form := program.FormOf(path, head)
	switch {
	case form == nil || ext == ".toml":
		return nil
	case form == program.PTX || form == program.Cubin || form == program.Fatbin || form == program.Host:
		return c.needsJob(path, o)
	case form == program.SASS:
		return usage("%s is SASS, which has no buffers and launches: write a job file with program = %q", path, filepath.Base(path))
	}
	if err := form.Refused(path); err != nil {
		return usage("%w", err)
	}
	return nil
}

// needsJob explains that a program alone cannot run, and shows a job file that fits
// it as far as its text tells.
func (c *runCmd) needsJob(path string, o run.Options) error {
	src, err := job.ReadFile(path)
	if err != nil {
		return usage("cannot read %s: %w", path, errors.Unwrap(err))
	}
	prog, _, err := job.Choose(cmp.Or(o.GPU, run.DefaultGPU), o, program.Source{Name: path, Text: src})
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	if len(prog.Kernels()) == 0 {
		return usage("%s is a program without a kernel; there is nothing to run", path)
	}
	jobFile := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) + ".toml"
	return usage("%s is a program; running it needs a job file with its buffers and launches. For example, put this in %s:\n\n%s\nand run it with: heddle run %s",
		path, jobFile, template(filepath.Base(path), prog.Kernels()[0]), filepath.Join(filepath.Dir(path), jobFile))
}

// template writes a job file that launches a kernel. Parameters of eight bytes
// without a floating-point type are assumed to be addresses: PTX does not tell.
func template(file string, k exec.Kernel) string {
	var b strings.Builder
	var args []string
	fmt.Fprintf(&b, "    program = %q\n", file)
	for i, p := range k.Params() {
		typ := ptx.Type(p.Type)
		switch {
		case p.Opaque:
			args = append(args, `{ texture = "t" }`)
		case p.Size == 8 && !typ.Float():
			name := fmt.Sprintf("p%d", i)
			fmt.Fprintf(&b, "\n    [buffers.%s]\n    type  = \"f32\"\n    count = 1024\n", name)
			args = append(args, fmt.Sprintf("{ buffer = %q }", name))
		case p.Size == typ.Bytes() && job.TypeByName(p.Type) != job.NoType && typ.Float():
			args = append(args, fmt.Sprintf("{ %s = 1.0 }", p.Type))
		case p.Size == typ.Bytes() && job.TypeByName(p.Type) != job.NoType:
			args = append(args, fmt.Sprintf("{ %s = 1024 }", p.Type))
		case p.Size <= 16:
			args = append(args, fmt.Sprintf("{ bytes = %q }", strings.Repeat("00", p.Size)))
		default:
			args = append(args, fmt.Sprintf("{ bytes = \"…\" }  # %d bytes\n", p.Size))
		}
	}
	block := 256
	if n := k.MaxThreads(); n > 0 {
		block = min(n, block)
	}
	fmt.Fprintf(&b, "\n    [[launches]]\n    kernel = %q\n    grid   = [%d, 1, 1]\n    block  = [%d, 1, 1]\n    args   = [%s]\n",
		k.Name(), max(1, 1024/block), block, strings.Join(args, ", "))
	return b.String()
}
