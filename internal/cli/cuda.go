package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/check/output"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/libs/ml"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/run/flags"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// cudaCmd is `heddle cuda`.
type cudaCmd struct {
	flags.Program
	findingFlags
	Build string `placeholder:"DIR" help:"Only build the CUDA runtime into DIR, for computers without Go and a C compiler; put it beside heddle, or into ../lib/heddle."`

	Command []string `arg:"" optional:"" passthrough:"partial" name:"program" help:"The program and its arguments: heddle cuda --mode functional -- ./app graph.txt"`

	live *livePage // a page that shows the program while it runs; may be nil
}

// Run runs the program, and prints the report after its output. The exit code is
// the program's.
func (c *cudaCmd) Run(e env) error {
	if len(c.Command) > 0 && c.Command[0] == "--" {
		c.Command = c.Command[1:]
	}
	if c.Build != "" {
		return c.build(e)
	}
	if len(c.Command) == 0 {
		return usage("nothing to run: heddle cuda [flags] -- PROGRAM ARGS, where PROGRAM was built with heddle cc, or with nvcc")
	}
	o, err := c.check()
	if err == nil {
		err = c.findingFlags.check(o.Checks)
	}
	if err != nil {
		return err
	}
	if _, err := exec.LookPath(c.Command[0]); errors.Is(err, exec.ErrNotFound) && c.Command[0] == smi {
		return c.describeGPUs(e, o, c.Command[1:])
	}
	program, dir, err := c.find(e)
	if err != nil {
		return err
	}
	return c.run(e, program, dir, o.Checks)
}

// find returns the program's file, and the folder of the runtime, which is built if need be.
func (c *cudaCmd) find(e env) (program, dir string, err error) {
	if program, err = exec.LookPath(c.Command[0]); err != nil {
		return "", "", usage("cannot run %s: %w", c.Command[0], errors.Unwrap(err))
	}
	dir, err = runtimeLibrary(e)
	if err != nil && !errors.Is(err, context.Canceled) {
		err = usage("%w", err)
	}
	return program, dir, err
}

// run runs the program with the runtime in a folder, and prints the report and what the
// checkers found; checks may be nil.
func (c *cudaCmd) run(e env, program, dir string, checks *check.Set) error {
	to, err := openSinks(e, c.JSON, c.HTML)
	if err != nil {
		return err
	}
	defer to.close()
	tmp, err := os.MkdirTemp("", "heddle-cuda-")
	if err != nil {
		return usage("%w", err)
	}
	defer os.RemoveAll(tmp)

	if c.live != nil {
		end, err := c.live.beginProgram(e, tmp)
		if err != nil {
			return err
		}
		defer end()
	}
	cmd, state, err := c.execute(e, program, dir, tmp)
	if err != nil {
		return err
	}
	texts, results, err := readResults(tmp)
	if c.live != nil {
		err = errors.Join(err, c.live.end([]string{pageTexts(tmp)}, results...))
	}
	failed := failure(results)
	var fails bool
	var ferr error
	if checks != nil {
		if texts, fails, ferr = c.judged(e, checks, results, texts); ferr != nil {
			fmt.Fprintf(e.stderr, "heddle: %v\n", ferr)
		}
	}
	found, rerr := c.report(to, tmp, texts, results)
	err = errors.Join(err, rerr)
	if c.Coverage != "" {
		if cerr := writeCoverageOf(c.Coverage, tmp); cerr != nil {
			fmt.Fprintf(e.stderr, "heddle: %v\n", cerr)
		}
	}
	if checks != nil {
		if found = found || fails; ferr == nil && !found {
			err = errors.Join(err, unseen(e, results...))
		}
	}
	if errors.Is(err, errNoReport) { // the exit code is still the program's
		fmt.Fprintf(e.stderr, "heddle: no report: %s\n", whyNone(cmd, program, state))
		err = nil
	}
	if err != nil && state.code != 0 {
		fmt.Fprintf(e.stderr, "heddle: %v\n", err)
	}
	if state.code != 0 {
		return &exitError{code: state.code}
	}
	if err == nil && c.FailOn && failed != 0 {
		return &exitError{code: failed, err: errors.New("the program succeeded although a kernel failed (--fail-on-fault)")}
	}
	if err == nil && found {
		return &exitError{code: exitCheck, err: errors.New("the program succeeded, but a checker has found something (--check)")}
	}
	return err
}

// judged shows what checkers have found, and leaves in the results what is reported. It returns the
// results as JSON, and whether the findings make the run fail.
func (c *cudaCmd) judged(e env, checks *check.Set, results []*report.Run, texts [][]byte) ([][]byte, bool, error) {
	lists, err := foundIn(results, c.Order)
	if err != nil {
		return texts, false, err
	}
	list, fails, err := c.show(e, output.Merge(slices.Concat(lists...)), checks.Names(), c.SourceRoot)
	if err != nil {
		return texts, fails, err
	}
	judgeAll(results, output.Divide(list, lists...), fails)
	for i, res := range results {
		var b bytes.Buffer
		if err := res.WriteJSON(&b); err != nil {
			return texts, fails, err
		}
		texts[i] = b.Bytes()
	}
	return texts, fails, nil
}

// execute runs the program to its end, with the runtime in one folder and its results in
// another.
func (c *cudaCmd) execute(e env, program, dir, results string) (*exec.Cmd, ended, error) {
	cmd := exec.Command(program, c.Command[1:]...)
	cmd.Args[0] = c.Command[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.stdin, e.stdout, e.stderr
	var err error
	if cmd.Env, err = c.environment(dir, results); err != nil {
		return nil, ended{}, err
	}
	var stop <-chan struct{}
	if c.live != nil {
		stop = e.ctx.Done()
	}
	state, err := wait(cmd, stop)
	if err != nil {
		return nil, ended{}, usage("cannot run %s: %w", c.Command[0], err)
	}
	if state.signal != 0 && state.signal != syscall.SIGINT {
		fmt.Fprintf(e.stderr, "heddle: %s was terminated by a signal: %v\n", c.Command[0], state.signal)
	}
	return cmd, state, nil
}

// check returns the options of a run, or what is wrong with the flags and the files that
// they name.
func (c *cudaCmd) check() (run.Options, error) {
	o, err := c.Options(run.CUDA)
	if err == nil {
		err = c.CheckDevices()
	}
	if err == nil && c.Code == "sass" && (len(c.PTX) > 0 || c.SavePTX != "") {
		err = errors.New("--ptx and --save-ptx are about PTX, which --code sass does not run")
	}
	if err != nil {
		return o, usage("%w", err)
	}
	if _, err := o.Settings.Machine(cmp.Or(c.GPU, run.DefaultGPU)); err != nil {
		return o, usage("%w", err)
	}
	if c.SavePTX != "" {
		if err := os.MkdirAll(c.SavePTX, 0o777); err != nil {
			return o, usage("--save-ptx: %w", err)
		}
	}
	for _, file := range c.PTX {
		text, err := os.ReadFile(file)
		if err == nil {
			_, err = ptx.Parse(file, text)
		}
		if errs := (ptx.ErrorList)(nil); errors.As(err, &errs) {
			return o, err
		} else if err != nil {
			return o, usage("--ptx: %w", err)
		}
	}
	return o, nil
}

// smi is the name of NVIDIA's program that prints what GPUs there are.
const smi = "nvidia-smi"

// describeGPUs prints what nvidia-smi would print of the simulated GPU.
func (c *cudaCmd) describeGPUs(e env, o run.Options, args []string) error {
	o.Timing = false
	r, err := cuda.New(cuda.Options{Options: o, Program: smi, Devices: c.Devices})
	if err != nil {
		return usage("%w", err)
	}
	err = ml.SMI(e.stdout, "heddle "+report.Version, ml.Devices(r, func() *cuda.Thread { return r.Thread(0) }), args)
	if wrong := (*ml.UsageError)(nil); errors.As(err, &wrong) {
		return usage("%s: %w", smi, err)
	}
	return err
}

// build makes the CUDA runtime for other computers.
func (c *cudaCmd) build(e env) error {
	if len(c.Command) > 0 {
		return usage("--build runs no program: remove %s", c.Command[0])
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

// ended is how a program ended.
type ended struct {
	code   int            // as in shells: 128 plus the signal, if one ended it
	signal syscall.Signal // 0 if none did
}

// wait runs a command to its end. An interrupt from the terminal reaches the
// command directly, and it may obey or not; other signals are forwarded. Stop, if it is not
// nil, interrupts the command.
func wait(cmd *exec.Cmd, stop <-chan struct{}) (ended, error) {
	endWithThis(cmd)
	runtime.LockOSThread() // the thread lives as long as this
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return ended{}, err
	}
	if stop == nil {
		signal.Ignore(os.Interrupt)
	}
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-stop:
			_ = cmd.Process.Signal(os.Interrupt) // it may have ended
		case <-over:
		}
	}()
	requests := make(chan os.Signal, 8)
	signal.Notify(requests, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(requests)
	go func() {
		for s := range requests {
			_ = cmd.Process.Signal(s) // it may have ended
		}
	}()
	err := cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return ended{}, err
	}
	if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return ended{code: 128 + int(s.Signal()), signal: s.Signal()}, nil
	}
	return ended{code: exit.ExitCode()}, nil
}

// injection is the variable through which the headers of NVTX 3 find a library for ranges.
const injection = "NVTX_INJECTION64_PATH"

// environment returns the variables that configure the library.
func (c *cudaCmd) environment(dir, result string) ([]string, error) {
	list := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "HEDDLE_") && !strings.HasPrefix(v, "HEDDLE_CLANG=") // NVRTC compiles with it
	})
	path := dir
	if old := os.Getenv("LD_LIBRARY_PATH"); old != "" {
		path += string(filepath.ListSeparator) + old
	}
	p := c.Program
	p.Result = result
	if c.live != nil {
		p.Live = c.live.socket
	}
	if (c.HTML != "" || c.live != nil) && c.SavePTX == "" && c.Code != "sass" {
		p.SavePTX = pageTexts(result)
		if err := os.MkdirAll(p.SavePTX, 0o777); err != nil {
			return nil, usage("keeping PTX for the page: %w", err)
		}
	}
	if p.Quiet && p.Progress == "auto" {
		p.Progress = "never"
	}
	text, err := p.Encode()
	if err != nil {
		return nil, usage("%w", err)
	}
	list = append(list, "LD_LIBRARY_PATH="+path, flags.Variable+"="+text)
	if os.Getenv(injection) == "" {
		list = append(list, injection+"="+filepath.Join(dir, libraryName))
	}
	return list, nil
}

// pageTexts is the folder in which a program leaves its PTX for a page.
func pageTexts(dir string) string { return filepath.Join(dir, "ptx") }

// errNoReport means that no program wrote a report.
var errNoReport = errors.New("no report")

// readResults returns the results that the library wrote when programs ended, as they lie in
// the files and decoded: one, or several if the program ran others.
func readResults(dir string) (texts [][]byte, all []*report.Run, err error) {
	for n := 1; ; n++ {
		b, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%d.json", n)))
		if errors.Is(err, fs.ErrNotExist) {
			if n == 1 {
				return nil, nil, errNoReport
			}
			return texts, all, nil
		}
		var res report.Run
		if err == nil {
			err = json.Unmarshal(b, &res)
		}
		if err != nil {
			return texts, all, usage("the report cannot be read: %w", err)
		}
		texts, all = append(texts, b), append(all, &res)
	}
}

// failure returns the exit code of the first kernel failure in results, 0 if there is none.
func failure(all []*report.Run) int {
	for _, res := range all {
		if res.Error != nil && endings[res.Error.Kind] != 0 {
			return endings[res.Error.Kind]
		}
	}
	return 0
}

// report prints the reports that the library wrote into a folder. It returns whether there
// are hazards.
func (c *cudaCmd) report(to *sinks, dir string, texts [][]byte, all []*report.Run) (found bool, err error) {
	for i, res := range all {
		found = found || slices.ContainsFunc(res.Checkers, func(c report.Checker) bool { return c.Checker == run.Hazards && !c.OK })
		if werr := c.print(to, res, texts[i]); werr != nil {
			return found, werr
		}
	}
	if len(all) > 0 {
		err = to.page(&c.Flags, []string{cmp.Or(c.SavePTX, pageTexts(dir))}, all...)
	}
	return found, err
}

// print prints one result, and writes it as JSON.
func (c *cudaCmd) print(to *sinks, res *report.Run, text []byte) error {
	if (c.HTML != "" || c.live != nil) && !c.Logged() {
		res = res.WithoutBlocks()
	}
	if to.json != nil {
		if _, err := to.json.Write(text); err != nil {
			return usage("--json: %w", err)
		}
	}
	err := error(nil)
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
