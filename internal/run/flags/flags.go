// Package flags holds the flags that heddle run and heddle cuda share, as plain data with
// one encoding that carries them into the process of a CUDA program. It converts them to
// the options of a run, and opens and closes the files that observers write.
//
// It runs nothing itself. A new flag is one field here.
package flags

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/heddle-sim/heddle/internal/check/checkers"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/near"
	"github.com/heddle-sim/heddle/internal/report/timeline"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/sample"
)

// Flags are the flags of every run.
type Flags struct {
	GPU        string   `json:",omitempty" name:"gpu" placeholder:"NAME" help:"The machine: a name (see heddle gpus), a TOML file, or a gpgpusim.config; default: the job's, or else ${default_gpu}. Functional runs do not depend on it."`
	Mode       string   `json:",omitempty" default:"timing" placeholder:"MODE" help:"What to simulate: timing (the default) counts cycles; functional only executes and counts instructions."`
	Core       string   `json:",omitempty" placeholder:"CORE" help:"The core model: modern, simt or kepler. Has no effect on a functional run."`
	Set        []string `json:",omitempty" short:"C" sep:"none" placeholder:"KEY=VALUE" help:"Set one value of the configuration (repeatable): ${setting_keys}, or one that heddle gpus NAME lists."`
	JSON       string   `json:",omitempty" name:"json" placeholder:"FILE" help:"Write the result as JSON (- is standard output; the report then goes to standard error)."`
	HTML       string   `json:",omitempty" name:"html" placeholder:"FILE" help:"Write the result as a page that shows it: one HTML file that needs nothing else."`
	SourceRoot []string `json:",omitempty" name:"source-root" sep:"none" placeholder:"DIR" help:"For --html: look for source files in this folder too (repeatable)."`
	Kernels    string   `json:",omitempty" placeholder:"LIST" help:"Run only these launches: a comma-separated list of numbers, ranges such as 2-4, and /regular expressions/ over kernel names."`
	Threads    int      `json:",omitempty" placeholder:"N" help:"Workers; default: one per core. Every N gives the same result."`
	MaxCycles  uint64   `json:",omitempty" placeholder:"N" help:"Stop after N cycles, in a functional run after N warp instructions (exit code 4; a CUDA program gets cudaErrorLaunchTimeout)."`
	Timeline   string   `json:",omitempty" placeholder:"FILE" help:"Write every instruction's way through the pipeline; the extension selects the format: .kanata for Konata, .pftrace for Perfetto."`
	Code       string   `json:",omitempty" default:"auto" placeholder:"WHAT" help:"What of a program's device code runs: ptx; compiled, machine code that Heddle makes of the PTX; sass, its machine code for the GPU or an earlier one of its generation; or auto (the default): machine code if there is some and the core model obeys its control bits, otherwise PTX, and machine code if there is no PTX. For jobs and CUDA programs."`
	Series     string   `json:",omitempty" placeholder:"N=FILE" help:"Write counters every N cycles; the extension selects the format: .csv or .parquet."`
	Check      []string `json:",omitempty" placeholder:"CHECKER" help:"Check the run for errors: hazards reports results that the control bits of SASS do not wait for, and the control code that fixes it. A finding causes exit code 1."`
	KeepGoing  bool     `json:",omitempty" help:"With the checker memory: leave out accesses that are faults, and run on, so that one run shows all of them. Machine code with cycles ends at its first fault."`
	InitReads  bool     `json:",omitempty" help:"With the checker init: report reads of unset memory where they are, even if nothing is done with what was read."`
	Order      string   `json:",omitempty" default:"forward" placeholder:"ORDER" help:"The order in which blocks and warps of a functional run execute, as far as programs leave it open: forward (the default), reverse, or seed=N for a random one. Each is reproducible."`
	Coverage   string   `json:",omitempty" placeholder:"FILE" help:"Write which lines, functions and branches of PTX kernels ran, and how many threads ran them, as an LCOV tracefile."`
	Step       bool     `json:",omitempty" help:"Step through the run by cycle or instruction, forward and back. Commands are read from standard input; help lists them. Not for CUDA programs."`
	AccelSim   bool     `json:",omitempty" name:"accel-sim-stats" help:"Also print the counters after every launch with GPGPU-Sim's names and format."`
	Record     string   `json:",omitempty" placeholder:"DIR" help:"Write a trace of the run, PTX or SASS, to a new folder, which Accel-Sim and heddle run can read."`
	RecordForm string   `json:",omitempty" default:"accel-sim" placeholder:"FORM" help:"The format of that trace: accel-sim, or micro, which keeps control bits."`
	Sample     string   `json:",omitempty" default:"off" placeholder:"WHAT" help:"Estimate the cycles of launches like those before: launch simulates as many of each kind as --target-error needs, and only executes the others; full also passes over blocks of large launches; off (the default) simulates all. For jobs and CUDA programs."`
	Target     string   `json:",omitempty" name:"target-error" default:"2%" placeholder:"PERCENT" help:"With --sample: how far the sum of cycles may be off, in 95 of 100 cases."`
	MemoryFile string   `json:",omitempty" name:"memory-file" placeholder:"FILE" help:"Keep device memory in this file, which must not be there yet and disappears with the run: for programs with more of it than this computer has. For jobs and CUDA programs, on Linux."`
	Checkpoint string   `json:",omitempty" placeholder:"FILE[:every=N]" help:"Write a checkpoint after every N launches (default 1), each in place of the one before: heddle run --resume FILE goes on from there, with the same result. {launch} in the name of the file stands for the number of launches so far. For jobs and traces."`
	Resume     string   `json:",omitempty" placeholder:"FILE" help:"Go on from a checkpoint of the same input on the same machine, by the same build of heddle."`
	Quiet      bool     `json:",omitempty" help:"No progress line, and only the last line of the report."`
	Progress   string   `json:",omitempty" default:"auto" placeholder:"WHEN" help:"Show what runs and how long it will take: auto (on a terminal), always, never, or file:PATH, which keeps it in a file as JSON, for other programs."`
}

// Program are the flags of a CUDA program.
type Program struct {
	Flags
	PTX     []string `json:",omitempty" name:"ptx" sep:"none" placeholder:"FILE" help:"Run this PTX in place of the program's PTX with the same file name or the same kernel names (repeatable)."`
	SavePTX string   `json:",omitempty" name:"save-ptx" placeholder:"DIR" help:"Keep the PTX that the program loads, under its names in messages and the report."`
	Devices int      `json:",omitempty" default:"1" placeholder:"N" help:"Number of GPUs, all of the same kind, 1 to ${most_devices}."`
	Strict  bool     `json:",omitempty" help:"Make accesses outside of allocations faults even where a GPU has memory mapped; without this flag they cause a warning."`
	FailOn  bool     `json:",omitempty" name:"fail-on-fault" help:"If the program ends with 0 although a kernel faulted, end with 3; after a limit, or if a kernel made no progress, with 4. Child programs count too."`
	Result  string   `json:",omitempty" kong:"-"` // folder for the JSON results of programs
	Live    string   `json:",omitempty" kong:"-"` // socket of who shows programs while they run (package live)
}

// CheckDevices returns what is wrong with the number of devices. Observers of cycles follow
// one chip.
func (p *Program) CheckDevices() error {
	if p.Devices < 1 || p.Devices > run.MaxDevices {
		return fmt.Errorf("--devices %d: want 1 to %d", p.Devices, run.MaxDevices)
	}
	if p.Devices > 1 {
		for _, o := range []struct {
			flag string
			used bool
		}{{"--timeline", p.Timeline != ""}, {"--series", p.Series != ""}, {"--record", p.Record != ""}, {"--accel-sim-stats", p.AccelSim}, {"--sample", p.samples()}} {
			if o.used {
				return fmt.Errorf("%s follows one device; run with --devices 1", o.flag)
			}
		}
	}
	return nil
}

// Variable is the environment variable that holds a Program as JSON.
const Variable = "HEDDLE_RUN"

// Encode returns the flags as the value of Variable. Paths become absolute, because the
// program may change its folder.
func (p Program) Encode() (string, error) {
	p.PTX = slices.Clone(p.PTX)
	files := []*string{&p.Timeline, &p.Record, &p.MemoryFile, &p.SavePTX, &p.Result, &p.Live}
	for i := range p.PTX {
		files = append(files, &p.PTX[i])
	}
	every, series, ok := strings.Cut(p.Series, "=")
	if ok {
		files = append(files, &series)
	}
	live, kept := strings.CutPrefix(p.Progress, progressFile)
	if kept {
		files = append(files, &live)
	}
	if run.IsFile(p.GPU) {
		files = append(files, &p.GPU)
	}
	for _, f := range files {
		if *f == "" {
			continue
		}
		path, err := filepath.Abs(*f)
		if err != nil {
			return "", err
		}
		if !utf8.ValidString(path) {
			return "", fmt.Errorf("%q: the names of files for a CUDA program must be UTF-8", path)
		}
		*f = path
	}
	if ok {
		p.Series = every + "=" + series
	}
	if kept {
		p.Progress = progressFile + live
	}
	text, err := json.Marshal(p)
	return string(text), err
}

// Default returns the flags of a run to which nobody gave any.
func Default() Program {
	return Program{Flags: Flags{Mode: "timing", RecordForm: recordText, Progress: "never", Code: "auto", Order: "forward", Sample: "off", Target: "2%"}, Devices: 1}
}

// Decode parses the result of Encode; "" means the defaults.
func Decode(text string) (Program, error) {
	p := Default()
	if text == "" {
		return p, nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, fmt.Errorf("%s: %w; heddle cuda sets it to JSON such as {\"GPU\": \"v100\", \"Mode\": \"functional\"}", Variable, err)
	}
	return p, nil
}

// maxThreads limits the workers; more would only cost memory. The number of workers does
// not affect results.
const maxThreads = 256

// OneOf returns an error unless a flag's value is one of the given words.
func OneOf(flag, value string, words ...string) error {
	if slices.Contains(words, value) {
		return nil
	}
	hint := "want " + strings.Join(words, ", ")
	if n := near.Name(value, words); n != "" {
		hint = fmt.Sprintf("did you mean %q?", n)
	}
	return fmt.Errorf("%s=%s is not known; %s", flag, value, hint)
}

// progressFile begins the value of --progress that keeps it in a file.
const progressFile = "file:"

// checkProgress returns what is wrong with the flag of the progress line.
func checkProgress(when string) error {
	file, ok := strings.CutPrefix(when, progressFile)
	if !ok {
		return OneOf("--progress", when, "auto", "always", "never")
	}
	if st, err := os.Stat(filepath.Dir(file)); file == "" || err != nil || !st.IsDir() {
		return fmt.Errorf("--progress=%s: there is no such folder; want file: and the path of a file", when)
	}
	return nil
}

// check returns what is wrong with the flags for a kind of work: unknown words, and
// observers that it cannot have.
func (f *Flags) check(kind run.Kind) error {
	if err := OneOf("--mode", f.Mode, "timing", "functional"); err != nil {
		return err
	}
	for _, name := range f.Check {
		if err := OneOf("--check", name, append([]string{run.Hazards, checkers.All}, checkers.Names()...)...); err != nil {
			return err
		}
	}
	if err := OneOf("--code", f.Code, "auto", "sass", "ptx", "compiled"); err != nil {
		return err
	}
	if kind != run.Job && kind != run.CUDA && f.Code != "auto" {
		return fmt.Errorf("--code chooses among the device code of a job's program or of a CUDA program, and this is neither: remove it")
	}
	if kind != run.Job && kind != run.CUDA && f.MemoryFile != "" {
		return fmt.Errorf("--memory-file is for jobs and CUDA programs, and this is %v: remove it", kind)
	}
	if f.samples() {
		if err := OneOf("--sample", f.Sample, "off", "launch", "full"); err != nil {
			return err
		}
	}
	if err := checkProgress(f.Progress); err != nil {
		return err
	}
	if err := OneOf("--record-form", f.RecordForm, recordText, recordMicro); err != nil {
		return err
	}
	if f.Timeline != "" {
		if _, err := timeline.FormatOf(f.Timeline); err != nil {
			return fmt.Errorf("--timeline %w", err)
		}
	}
	if _, _, err := f.series(); err != nil {
		return err
	}
	if _, _, err := f.checkpoint(); err != nil {
		return err
	}
	if f.checkpoints() && f.HTML != "" {
		return errors.New("--html and --checkpoint or --resume cannot be combined: a checkpoint does not keep what only a page shows; write the result with --json, and heddle view shows it")
	}
	var list []run.Observer
	for o, on := range map[run.Observer]bool{
		run.SeriesObserver: f.Series != "", run.TimelineObserver: f.Timeline != "", run.HazardObserver: slices.Contains(f.Check, run.Hazards), run.CheckObserver: len(f.checkers()) > 0, run.CoverageObserver: f.Coverage != "", run.AccelSimObserver: f.AccelSim, run.SamplingObserver: f.samples(),
		run.RecordObserver: f.Record != "", run.StepObserver: f.Step,
		run.BlockLogObserver: f.Logged(), run.CheckpointObserver: f.checkpoints(),
	} {
		if on {
			list = append(list, o)
		}
	}
	slices.Sort(list)
	err := run.Refuse(kind, f.Mode == "timing", list...)
	var r *run.Refusal
	switch {
	case !errors.As(err, &r):
		return err
	case r.Kept:
		return fmt.Errorf("%s cannot be combined with --checkpoint or --resume: %s", names[r.Observer], r.Why)
	case r.Sampled:
		return fmt.Errorf("%s and --sample cannot be combined: %s", names[r.Observer], r.Why)
	case r.Stepped:
		return fmt.Errorf("--step and %s cannot be combined: %s", names[r.Observer], r.Why)
	case r.Functional:
		return fmt.Errorf("%s: %s; remove --mode functional", names[r.Observer], r.Why)
	}
	return fmt.Errorf("%s: %s", names[r.Observer], r.Why)
}

// checkers returns the names of the checkers of memory and threads among those of --check.
func (f *Flags) checkers() (list []string) {
	for _, n := range f.Check {
		if n != run.Hazards {
			list = append(list, n)
		}
	}
	return list
}

// Logged reports whether the log of blocks was asked for, and not only kept for a page.
func (f *Flags) Logged() bool {
	return slices.ContainsFunc(f.Set, func(s string) bool { return strings.HasPrefix(s, names[run.BlockLogObserver][len("-C "):]) })
}

// names are the flags of observers.
var names = map[run.Observer]string{
	run.SeriesObserver: "--series", run.TimelineObserver: "--timeline", run.HazardObserver: "--check " + run.Hazards, run.CheckObserver: "--check", run.CoverageObserver: "--coverage", run.AccelSimObserver: "--accel-sim-stats",
	run.RecordObserver: "--record", run.StepObserver: "--step", run.SamplingObserver: "--sample", run.BlockLogObserver: "-C run.block_log", run.CheckpointObserver: "--checkpoint and --resume",
}

// samples reports whether not all launches are simulated.
func (f *Flags) samples() bool { return f.Sample != "" && f.Sample != "off" }

// target parses --target-error: a part of the cycles.
func (f *Flags) target() (float64, error) {
	p, err := strconv.ParseFloat(strings.TrimSuffix(f.Target, "%"), 64)
	if err != nil || !(p >= 0.1 && p <= 50) {
		return 0, fmt.Errorf("--target-error %s: want a percentage from 0.1%% to 50%%", f.Target)
	}
	return p / 100, nil
}

// checkpoints reports whether checkpoints are written, or one is read.
func (f *Flags) checkpoints() bool { return f.Checkpoint != "" || f.Resume != "" }

// checkpoint parses --checkpoint: its file, and the launches from one to the next.
func (f *Flags) checkpoint() (file string, every int, err error) {
	const word = ":every="
	if f.Checkpoint == "" {
		return "", 0, nil
	}
	file, every = f.Checkpoint, 1
	if i := strings.LastIndex(file, word); i >= 0 {
		every, err = strconv.Atoi(file[i+len(word):])
		file = file[:i]
	}
	if err != nil || every < 1 || file == "" {
		return "", 0, fmt.Errorf("--checkpoint %s: want FILE or FILE:every=N, where N is the number of launches from one checkpoint to the next", f.Checkpoint)
	}
	if st, err := os.Stat(filepath.Dir(file)); err != nil || !st.IsDir() {
		return "", 0, fmt.Errorf("--checkpoint %s: there is no folder %s", f.Checkpoint, filepath.Dir(file))
	}
	return file, every, nil
}

// series parses --series: the cycles between rows, and their file.
func (f *Flags) series() (every uint64, file string, err error) {
	if f.Series == "" {
		return 0, "", nil
	}
	cycles, file, ok := strings.Cut(f.Series, "=")
	every, err = strconv.ParseUint(cycles, 10, 64)
	if !ok || err != nil || every == 0 || file == "" {
		return 0, "", fmt.Errorf("--series %s: want N=FILE.csv or N=FILE.parquet, where N is the number of cycles between rows", f.Series)
	}
	if ext := strings.ToLower(filepath.Ext(file)); ext != ".csv" && ext != parquet {
		return 0, "", fmt.Errorf("--series %s: unknown extension; want .csv or .parquet", f.Series)
	}
	return every, file, nil
}

// Options returns the options of a run of a kind of work, except for the files that Open
// opens. It returns an error for invalid flags and for observers that the kind of work
// cannot have.
func (f *Flags) Options(kind run.Kind) (run.Options, error) {
	o := run.Options{GPU: f.GPU, Threads: min(f.Threads, maxThreads), MaxInsts: f.MaxCycles, Timing: f.Mode == "timing", Code: f.Code, Hazards: slices.Contains(f.Check, run.Hazards), Page: f.HTML != ""}
	if err := f.check(kind); err != nil {
		return o, err
	}
	order, err := exec.ParseSequence(f.Order)
	if err != nil {
		return o, fmt.Errorf("--order: %w", err)
	}
	if o.Order = order; order != (exec.Sequence{}) && o.Timing {
		return o, errors.New("--order is for functional runs; in a timing run the machine decides: add --mode functional")
	}
	if f.Coverage != "" {
		o.Coverage = &exec.Coverage{}
	}
	if f.samples() {
		target, err := f.target()
		if err != nil {
			return o, err
		}
		o.Sample = &sample.Options{Target: target, Blocks: f.Sample == "full"}
	}
	if f.checkpoints() {
		file, every, err := f.checkpoint()
		if err != nil {
			return o, err
		}
		o.Checkpoint = &run.Checkpoint{File: file, Every: every, Resume: f.Resume}
	}
	if list := f.checkers(); len(list) > 0 {
		var err error
		if o.Checks, err = checkers.New(list, checkers.Options{KeepGoing: f.KeepGoing, InitReads: f.InitReads}); err != nil {
			return o, err
		}
	}
	if f.InitReads && o.Checks == nil {
		return o, errors.New("--init-reads is about what the checker init finds: add --check init")
	}
	if f.KeepGoing && o.Checks == nil {
		return o, errors.New("--keep-going is about what the checker memory finds: add --check memory")
	}
	if f.Threads < 0 {
		return o, fmt.Errorf("--threads is %d; it must be at least 1", f.Threads)
	}
	if f.Kernels != "" {
		var err error
		if o.Select, err = run.ParseSelection(f.Kernels); err != nil {
			return o, fmt.Errorf("--kernels: %w", err)
		}
	}
	if kind == run.KeplerJob || kind == run.KeplerCore { // their machine has its own keys
		return o, nil
	}
	if f.GPU != "" {
		if err := run.CheckGPU(f.GPU); err != nil {
			return o, fmt.Errorf("--gpu: %w", err)
		}
	}
	if f.Core != "" {
		if err := OneOf("--core", f.Core, "modern", "simt", "kepler"); err != nil {
			return o, err
		}
		if (f.Core == "kepler") != (f.GPU == "kepler-edu") && (f.Core == "kepler" || f.GPU != "") {
			return o, fmt.Errorf("--core kepler requires --gpu kepler-edu, and the other way round")
		}
	}
	if f.Core != "kepler" {
		o.Settings.Core = f.Core
	}
	for _, s := range f.Set {
		if err := o.Settings.Set(s); err != nil {
			return o, fmt.Errorf("-C: %w", err)
		}
	}
	return o, nil
}
