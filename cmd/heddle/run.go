package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/near"
	"github.com/heddle-sim/heddle/internal/program"
	"github.com/heddle-sim/heddle/internal/progress"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/trace/open"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// runCmd is `heddle run`.
type runCmd struct {
	Input string `arg:"" optional:"" name:"input" help:"A job file (TOML): programs, buffers, launches, checks. Or a trace: a folder with kernelslist.g, a .traceg, a .heddle-trace. Or a program (.kasm) or recorded case (.json) of the Kepler-style core."`

	GPU        string   `name:"gpu" placeholder:"NAME" help:"The machine: a name (see heddle gpus), a TOML file, or a gpgpusim.config; default: the job's, or else ${default_gpu}. Functional runs are the same on all."`
	Mode       string   `default:"timing" placeholder:"MODE" help:"What to simulate: timing (the default) counts cycles; functional only computes and counts instructions."`
	Core       string   `placeholder:"CORE" help:"The core model: modern, simt or kepler. Means nothing to a functional run."`
	Set        []string `short:"C" sep:"none" placeholder:"KEY=VALUE" help:"Set one value of the configuration (repeatable): ${setting_keys}, or one that heddle gpus NAME lists."`
	JSON       string   `name:"json" placeholder:"FILE" help:"Write the result as JSON (- is standard output; the report then goes to standard error)."`
	Dump       []string `sep:"none" placeholder:"BUFFER=FILE" help:"Write a buffer's bytes to a file after the last step (repeatable)."`
	Kernels    string   `placeholder:"LIST" help:"Run only these launches: numbers, ranges such as 2-4, /regular expressions/ over kernel names, with commas between."`
	Threads    int      `placeholder:"N" help:"Workers; default: one per core. Every N gives the same result."`
	MaxCycles  uint64   `placeholder:"N" help:"Stop after N cycles, in a functional run after N warp instructions (exit code 4)."`
	Timeline   string   `placeholder:"FILE" help:"Write every instruction's way through the pipeline; the ending picks the format: .kanata for Konata, .pftrace for Perfetto."`
	Series     string   `placeholder:"N=FILE" help:"Write counters every N cycles; the ending picks the format: .csv or .parquet."`
	Check      []string `placeholder:"CHECKER" help:"Watch the run for mistakes: hazards names what the control bits of SASS do not wait for, and the control code that cures it. A finding is exit code 1."`
	Step       bool     `help:"Walk through the run: by cycle or instruction, forward and back. Commands are read from standard input; help lists them."`
	AccelSim   bool     `name:"accel-sim-stats" help:"Also print the counters after every launch under GPGPU-Sim's names and in its format."`
	SASS       string   `name:"sass" placeholder:"LISTING" help:"Of a trace: a disassembly of its kernels (nvdisasm, cuobjdump, CuAssembler, or words), which adds the control bits that the trace does not have."`
	Record     string   `placeholder:"DIR" help:"Write a trace of what a job executes, PTX or SASS, to a new folder, which Accel-Sim and heddle run can read."`
	RecordForm string   `default:"accel-sim" placeholder:"FORM" help:"The form of that trace: accel-sim, or micro, which keeps control bits."`
	Explain    string   `placeholder:"NAME" help:"Say what a counter means, by its name in the JSON result or in --accel-sim-stats, and run nothing; all lists them."`
	Quiet      bool     `help:"No progress line, and of the report only the last line."`
	Progress   string   `default:"auto" placeholder:"WHEN" help:"Show a progress line: auto (on a terminal), always or never."`
}

// maxThreads bounds the workers; more than this only costs memory, and no
// number of them changes a result.
const maxThreads = 256

// runVars are the texts that the help takes from elsewhere.
func runVars() map[string]string {
	return map[string]string{"default_gpu": run.DefaultGPU, "setting_keys": strings.Join(run.SettingKeys(), ", ")}
}

// oneOf checks a flag whose values are words.
func oneOf(flag, value string, words ...string) error {
	if slices.Contains(words, value) {
		return nil
	}
	hint := "it takes " + strings.Join(words, ", ")
	if n := near.Name(value, words); n != "" {
		hint = fmt.Sprintf("did you mean %q?", n)
	}
	return usage("%s=%s is not known; %s", flag, value, hint)
}

// options turns the flags into a job's options.
func (c *runCmd) options() (job.Options, error) {
	o := job.Options{GPU: c.GPU, Threads: min(c.Threads, maxThreads), MaxInsts: c.MaxCycles}
	if err := oneOf("--mode", c.Mode, "timing", "functional"); err != nil {
		return o, err
	}
	for _, name := range c.Check {
		if err := oneOf("--check", name, run.Hazards); err != nil {
			return o, err
		}
		if c.Mode != "timing" {
			return o, usage("--check %s is about cycles; leave --mode %s out", name, c.Mode)
		}
		o.Hazards = true
	}
	if err := oneOf("--progress", c.Progress, "auto", "always", "never"); err != nil {
		return o, err
	}
	if c.GPU != "" {
		if err := run.CheckGPU(c.GPU); err != nil && (c.Mode != "timing" || !run.IsFile(c.GPU)) {
			return o, usage("--gpu: %w", err)
		}
	}
	if c.Core != "" {
		if err := oneOf("--core", c.Core, "modern", "simt", "kepler"); err != nil {
			return o, err
		}
		if (c.Core == "kepler") != (c.GPU == "kepler-edu") && (c.Core == "kepler" || c.GPU != "") {
			return o, usage("--core kepler and --gpu kepler-edu go together only")
		}
	}
	if c.Core != "kepler" {
		o.Settings.Core = c.Core
	}
	for _, s := range c.Set {
		if err := o.Settings.Set(s); err != nil {
			return o, usage("-C: %w", err)
		}
	}
	for _, d := range c.Dump {
		buffer, file, ok := strings.Cut(d, "=")
		if !ok || buffer == "" || file == "" {
			return o, usage("--dump %s: write BUFFER=FILE", d)
		}
		o.Dumps = append(o.Dumps, job.Dump{Buffer: buffer, File: file})
	}
	if c.Threads < 0 {
		return o, usage("--threads is %d, it must be at least 1", c.Threads)
	}
	if c.Kernels != "" {
		sel, err := run.ParseSelection(c.Kernels)
		if err != nil {
			return o, usage("--kernels: %w", err)
		}
		o.Select = sel
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
	if err := c.checkStep(); err != nil {
		return err
	}
	if isCase, ok := isKepler(c.Input); ok {
		if err := c.checkRecord("the Kepler-style core"); err != nil {
			return err
		}
		return c.runKepler(e, isCase)
	}
	if job.IsKepler(c.Input) {
		if err := c.checkRecord("the Kepler-style core"); err != nil {
			return err
		}
		return c.runKeplerJob(e)
	}
	if open.Is(c.Input) {
		if err := c.checkRecord("a trace, which heddle trace convert writes in other forms,"); err != nil {
			return err
		}
		return c.runTrace(e)
	}
	if c.SASS != "" {
		return usage("--sass adds control bits to a trace, and %s is none", c.Input)
	}
	o, err := c.options()
	if err != nil {
		return err
	}
	if err := checkInput(e, c.Input); err != nil {
		return err
	}
	if err := c.checkRecord(""); err != nil {
		return err
	}
	o.Timing = c.Mode == "timing"
	to, err := c.sinks(e)
	if err != nil {
		return err
	}
	defer to.close()
	o.Out = to.text
	files, err := c.watchers(&o)
	if err != nil {
		return err
	}
	defer files.close()
	if c.AccelSim {
		if !o.Timing {
			return usage("--accel-sim-stats prints counters of a timing run; leave --mode %s out", c.Mode)
		}
		o.AccelSim = to.text
	}

	if err := c.recorder(&o); err != nil {
		return err
	}
	res, err := c.simulate(e, o)
	err = c.recorded(o, err)
	if werr := files.finish(e, o); werr != nil {
		err = errors.Join(err, werr)
	}
	return c.conclude(to, res, "", err)
}

// sinks are where a result goes.
type sinks struct {
	text io.Writer // the report
	json io.Writer // nil: nowhere
	file *os.File  // to be closed; may be nil
}

// sinks opens them: with --json - the report gives way to standard error.
func (c *runCmd) sinks(e env) (*sinks, error) {
	switch c.JSON {
	case "":
		return &sinks{text: e.stdout}, nil
	case "-":
		return &sinks{text: e.stderr, json: e.stdout}, nil
	}
	f, err := os.Create(c.JSON)
	if err != nil {
		return nil, usage("--json: %w", err)
	}
	return &sinks{text: e.stdout, json: f, file: f}, nil
}

func (s *sinks) close() {
	if s.file != nil {
		_ = s.file.Close() // what was written has been checked
	}
}

// conclude writes a result, and after its report what else is to be said. It
// returns how the run ended.
func (c *runCmd) conclude(to *sinks, res *report.Run, more string, err error) error {
	if to.json != nil {
		if werr := res.WriteJSON(to.json); werr != nil {
			err = errors.Join(err, usage("--json: %w", werr))
		}
	}
	switch {
	case err != nil && !res.Begun():
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

// simulate loads and runs the job; the result is there in any case.
func (c *runCmd) simulate(e env, o job.Options) (*report.Run, error) {
	ready, err := job.Load(c.Input)
	if err != nil {
		return job.Failed(c.Input, o, err), err
	}
	// They wait for the end, so that they do not come between progress and report.
	var warnings []*exec.Warning
	o.Warn = func(w *exec.Warning) { warnings = append(warnings, w) }
	defer func() {
		for _, w := range warnings {
			fmt.Fprintf(e.stderr, "heddle: warning: %v\n", &w.Fault)
		}
	}()
	if c.Step {
		return c.walk(e, ready, o)
	}
	line := progress.New(e.stderr, c.Progress, c.Quiet)
	if line != nil {
		o.Progress = line.Show
		defer line.Clear()
	}
	return ready.Run(e.ctx, o)
}

// checkInput looks at what INPUT is, by content and not only by name, and says
// what to do about everything that is not a job file.
func checkInput(e env, path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return usage("cannot read %s: %w", path, errors.Unwrap(err))
	}
	base := strings.ToLower(filepath.Base(path))
	if st.IsDir() {
		return usage("%s is a folder without a trace in it (kernelslist.g or dynamic_trace.pb); give a job file (TOML), or a folder of traces", path)
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
	case form == program.PTX:
		return needsJob(path)
	case form == program.SASS:
		return usage("%s is SASS, which says nothing about buffers and launches: write a job file with program = %q", path, filepath.Base(path))
	}
	if err := form.Refused(path); err != nil {
		return usage("%w", err)
	}
	return nil
}

// needsJob explains that a program alone cannot run, with a job file that fits
// it as far as its text tells.
func needsJob(path string) error {
	src, err := job.ReadFile(path)
	if err != nil {
		return usage("cannot read %s: %w", path, errors.Unwrap(err))
	}
	prog, err := program.Load(program.Source{Name: path, Text: src})
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	if len(prog.Kernels()) == 0 {
		return usage("%s is PTX without a kernel (.entry); there is nothing to run", path)
	}
	jobFile := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) + ".toml"
	return usage("%s is a program; what it runs on stands in a job file. Beside it, %s could begin like this:\n\n%s\nand run with: heddle run %s",
		path, jobFile, template(filepath.Base(path), prog.Kernels()[0]), filepath.Join(filepath.Dir(path), jobFile))
}

// template writes a job file that launches a kernel. Parameters of eight bytes
// without a floating-point type are taken for addresses: PTX does not tell.
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
