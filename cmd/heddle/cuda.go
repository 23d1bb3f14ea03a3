package main

import (
	"cmp"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/heddle-sim/heddle/internal/chiprun"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/timeline"
)

// cudaCmd is `heddle cuda`.
type cudaCmd struct {
	GPU       string   `name:"gpu" placeholder:"NAME" help:"The machine: a name (see heddle gpus), a TOML file, or a gpgpusim.config; default: ${default_gpu}."`
	Mode      string   `default:"timing" placeholder:"MODE" help:"What to simulate: timing (the default) counts cycles; functional only computes and counts instructions."`
	Core      string   `placeholder:"CORE" help:"The core model: modern or simt."`
	Set       []string `short:"C" sep:"none" placeholder:"KEY=VALUE" help:"Set one value of the configuration (repeatable), as in heddle run."`
	JSON      string   `name:"json" placeholder:"FILE" help:"Write the result as JSON (- is standard output, behind the program's; the report then goes to standard error)."`
	Threads   int      `placeholder:"N" help:"Workers; default: one per core. Every N gives the same result."`
	MaxCycles uint64   `placeholder:"N" help:"Stop after N cycles, in a functional run after N warp instructions: the program gets cudaErrorLaunchTimeout."`
	Timeline  string   `placeholder:"FILE" help:"Write every instruction's way through the pipeline; the ending picks the format: .kanata for Konata, .pftrace for Perfetto."`
	SavePTX   string   `name:"save-ptx" placeholder:"DIR" help:"Keep the PTX that the program loads, by the names that messages and the report give it."`
	Quiet     bool     `help:"Of the report only the last line."`
	Build     string   `placeholder:"DIR" help:"Run nothing; build the CUDA runtime into DIR, for computers without Go and a C compiler: it serves beside heddle, or in ../lib/heddle."`

	Command []string `arg:"" optional:"" passthrough:"" name:"program" help:"The program, and its arguments: heddle cuda --mode functional -- ./app graph.txt"`
}

// Run runs the program, and prints the report behind its output. The exit code
// is the program's.
func (c *cudaCmd) Run(e env) error {
	if len(c.Command) > 0 && c.Command[0] == "--" {
		c.Command = c.Command[1:]
	}
	if c.Build != "" {
		return c.build(e)
	}
	if len(c.Command) == 0 {
		return usage("nothing to run: heddle cuda [flags] -- PROGRAM ARGS, where PROGRAM was built with heddle cc, or with nvcc -cudart shared")
	}
	rc := runCmd{GPU: c.GPU, Mode: c.Mode, Core: c.Core, Set: c.Set, JSON: c.JSON, Threads: c.Threads, MaxCycles: c.MaxCycles, Quiet: c.Quiet, Progress: "never"}
	o, err := rc.options()
	if err != nil {
		return err
	}
	if _, err := o.Settings.Machine(cmp.Or(c.GPU, chiprun.DefaultGPU)); err != nil {
		return usage("%w", err)
	}
	if c.Timeline != "" {
		if c.Mode != "timing" {
			return usage("--timeline shows cycles; leave --mode %s out", c.Mode)
		}
		if _, err := timeline.FormatOf(c.Timeline); err != nil {
			return usage("--timeline %w", err)
		}
	}
	if c.SavePTX != "" {
		if err := os.MkdirAll(c.SavePTX, 0o777); err != nil {
			return usage("--save-ptx: %w", err)
		}
	}
	program, err := exec.LookPath(c.Command[0])
	if err != nil {
		return usage("cannot run %s: %w", c.Command[0], errors.Unwrap(err))
	}
	dir, err := runtimeLibrary(e)
	if err != nil {
		return usage("%w", err)
	}
	to, err := rc.sinks(e)
	if err != nil {
		return err
	}
	defer to.close()
	tmp, err := os.MkdirTemp("", "heddle-cuda-")
	if err != nil {
		return usage("%w", err)
	}
	defer os.RemoveAll(tmp)

	result := filepath.Join(tmp, "result.json")
	cmd := exec.Command(program, c.Command[1:]...)
	cmd.Args[0] = c.Command[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.stdin, e.stdout, e.stderr
	if cmd.Env, err = c.environment(dir, result, o.Settings.Core); err != nil {
		return err
	}
	code, err := wait(cmd)
	if err != nil {
		return usage("cannot run %s: %w", c.Command[0], err)
	}
	if err := c.report(to, program, result); err != nil {
		if code == 0 {
			return err
		}
		fmt.Fprintf(e.stderr, "heddle: %v\n", err)
	}
	if code != 0 {
		return &exitError{code: code}
	}
	return nil
}

// build makes the CUDA runtime for other computers.
func (c *cudaCmd) build(e env) error {
	if len(c.Command) > 0 {
		return usage("--build runs nothing: leave %s out", c.Command[0])
	}
	root, _, err := librarySource()
	if err != nil {
		return usage("%w", err)
	}
	if err := os.MkdirAll(c.Build, 0o777); err != nil {
		return usage("--build: %w", err)
	}
	dir, err := filepath.Abs(c.Build)
	if err != nil {
		return usage("--build: %w", err)
	}
	if err := buildLibrary(e.ctx, root, dir); err != nil {
		return usage("%w", err)
	}
	return nil
}

// wait runs a command and returns its exit code, as shells have it for one that
// a signal ended. An interrupt is for the command to obey.
func wait(cmd *exec.Cmd) (int, error) {
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return 0, err
	}
	if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal()), nil
	}
	return exit.ExitCode(), nil
}

// environment tells the library what to simulate.
func (c *cudaCmd) environment(dir, result, core string) ([]string, error) {
	list := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "HEDDLE_") })
	path := dir
	if old := os.Getenv("LD_LIBRARY_PATH"); old != "" {
		path += string(filepath.ListSeparator) + old
	}
	add := func(name, value string) {
		if value != "" {
			list = append(list, name+"="+value)
		}
	}
	add("LD_LIBRARY_PATH", path)
	add("HEDDLE_GPU", c.GPU)
	add("HEDDLE_MODE", c.Mode)
	add("HEDDLE_CORE", core)
	add("HEDDLE_SET", strings.Join(c.Set, "\n"))
	add("HEDDLE_RESULT", result)
	if c.Threads > 0 {
		add("HEDDLE_THREADS", strconv.Itoa(c.Threads))
	}
	if c.MaxCycles > 0 {
		add("HEDDLE_MAX_CYCLES", strconv.FormatUint(c.MaxCycles, 10))
	}
	for _, f := range []struct{ variable, path string }{{"HEDDLE_TIMELINE", c.Timeline}, {"HEDDLE_SAVE_PTX", c.SavePTX}} {
		if f.path == "" {
			continue
		}
		path, err := filepath.Abs(f.path) // the program may go to another folder
		if err != nil {
			return nil, usage("%w", err)
		}
		add(f.variable, path)
	}
	return list, nil
}

// report prints what the library wrote when the program ended.
func (c *cudaCmd) report(to *sinks, program, file string) error {
	b, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return usage("there is no report: %s", whyNone(program))
	}
	var res report.Run
	if err == nil {
		err = json.Unmarshal(b, &res)
	}
	if err != nil {
		return usage("the report cannot be read: %w", err)
	}
	if to.json != nil {
		if _, err := to.json.Write(b); err != nil {
			return usage("--json: %w", err)
		}
	}
	if c.Quiet {
		_, err = io.WriteString(to.text, res.Summary()+"\n")
	} else {
		err = res.WriteText(to.text)
	}
	if err != nil {
		return usage("writing the report: %w", err)
	}
	return nil
}

// whyNone guesses why a program ended without a report.
func whyNone(program string) string {
	const ended = "the program did not come to its end by exit or return"
	f, err := elf.Open(program)
	if err != nil {
		return ended
	}
	defer f.Close()
	libs, err := f.ImportedLibraries()
	if err != nil || slices.ContainsFunc(libs, func(l string) bool { return strings.HasPrefix(l, "libcudart.so") }) {
		return ended
	}
	if f.Section(".nv_fatbin") != nil {
		return program + " has NVIDIA's runtime built in; link it with nvcc -cudart shared, or build it with heddle cc"
	}
	return program + " does not use the CUDA runtime as a shared library (libcudart.so)"
}
