// Package cli is the command line of heddle.
//
// It parses arguments, prints what the packages below it return, and turns errors
// into exit codes. It contains no simulation.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/heddle-sim/heddle/internal/compare"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/near"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/run/flags"
	"github.com/heddle-sim/heddle/internal/tomlfile"
	"github.com/heddle-sim/heddle/internal/trace"
)

// Exit codes; scripts depend on them.
const (
	exitOK          = 0
	exitCheck       = 1   // a check failed
	exitUsage       = 2   // bad usage or bad input
	exitFault       = 3   // an instruction did something illegal
	exitLimit       = 4   // a limit, or no forward progress
	exitInterrupted = 130 // interrupted by the user
)

// commands are the verbs, one file each.
type commands struct {
	Run     runCmd     `cmd:"" help:"Run a job and print a report."`
	PTX     ptxCmd     `cmd:"" name:"ptx" help:"Parse PTX and show what it contains: kernels, registers, blocks, reconvergence points."`
	Trace   traceCmd   `cmd:"" help:"Inspect or convert traces."`
	Asm     asmCmd     `cmd:"" help:"Assemble SASS, or a program of the Kepler-style core."`
	PTXAS   ptxasCmd   `cmd:"" name:"ptxas" help:"Compile PTX to machine code: a cubin, or its listing with control codes."`
	Disasm  disasmCmd  `cmd:"" help:"Disassemble cubins, programs with device code, words of SASS, or of the Kepler-style core."`
	CC      ccCmd      `cmd:"" name:"cc" passthrough:"" help:"Compile CUDA C++ with clang, without NVIDIA's software."`
	CUDA    cudaCmd    `cmd:"" name:"cuda" help:"Run a CUDA program on a simulated GPU and print a report."`
	Check   checkCmd   `cmd:"" help:"Run a CUDA program or a job with all checkers, and say what is wrong, at which lines, and how to mend it."`
	WhatIf  whatifCmd  `cmd:"" name:"whatif" help:"Run a job, a trace or a CUDA program again on idealised machines, and show what each cause of lost time costs."`
	Sweep   sweepCmd   `cmd:"" help:"Run many points: inputs on GPUs with values of the configuration. Results are kept, so that a sweep goes on where it ended."`
	GPUs    gpusCmd    `cmd:"" name:"gpus" help:"List the GPUs, or show one with the source of each value."`
	View    viewCmd    `cmd:"" help:"Show results as a page: in a browser, or as one HTML file."`
	Compare compareCmd `cmd:"" help:"Compare results with hardware measurements or with each other: errors, correlation, plots."`
	Version versionCmd `cmd:"" help:"Show the versions of Heddle and Go, and the commit."`
}

// env is what a verb can access of the outside world.
type env struct {
	ctx    context.Context
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
}

// exitError ends the program with a code. Its message is err's, or has already been
// printed.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage returns an error for bad usage or input.
func usage(format string, args ...any) error {
	return &exitError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// oneOf validates a flag whose values are words.
func oneOf(flag, value string, words ...string) error {
	if err := flags.OneOf(flag, value, words...); err != nil {
		return usage("%w", err)
	}
	return nil
}

// Main runs the command line of the process, and ends it with the exit code.
func Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	go func() {
		<-ctx.Done()
		stop() // a second interrupt ends the program at once
	}()
	os.Exit(heddle(env{ctx: ctx, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}, asNVCC(os.Args)))
}

// heddle runs one command line and returns its exit code.
func heddle(e env, args []string) int {
	var c commands
	k, err := kong.New(&c,
		kong.Name("heddle"),
		kong.Description("Heddle simulates GPUs: it runs the PTX of CUDA kernels on any computer, without a GPU or a CUDA toolkit."),
		kong.Writers(e.stdout, e.stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Bind(e),
		kong.Vars(runVars()),
	)
	if err != nil {
		panic(err) // the struct above is wrong, not the user's input
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	args = ptxasArgs(args)
	verbs := verbNames(k)
	if v := args[0]; !strings.HasPrefix(v, "-") && !slices.Contains(verbs, v) {
		hint := "; commands: " + strings.Join(verbs, ", ")
		if n := near.Name(v, verbs); n != "" {
			hint = fmt.Sprintf("; did you mean %q?", n)
		} else if _, err := os.Stat(v); err == nil {
			hint = fmt.Sprintf("; to run it, write: heddle run %s", v)
		}
		fmt.Fprintf(e.stderr, "heddle: unknown command %q%s\n", v, hint)
		return exitUsage
	}
	ctx, err := k.Parse(args)
	if err != nil {
		fmt.Fprintf(e.stderr, "heddle: %s\n", parseError(err, k, args))
		return exitUsage
	}
	err = ctx.Run()
	if err == nil {
		return exitOK
	}
	printErrors(e.stderr, err)
	return exitCode(err)
}

func verbNames(k *kong.Kong) []string {
	var names []string
	for _, n := range k.Model.Children {
		names = append(names, n.Name)
	}
	return names
}

// parseError returns the message for a usage error. If the first word that was not
// recognised is a flag, it names the nearest known one.
func parseError(err error, k *kong.Kong, args []string) string {
	var bad *kong.ParseError
	flag := ""
	if errors.As(err, &bad) {
		if rest := bad.Context.Path[len(bad.Context.Path)-1].Remainder(); len(rest) > 0 {
			flag, _, _ = strings.Cut(rest[0], "=")
		}
	}
	var flags []string
	for _, n := range k.Model.Children {
		if n.Name == args[0] {
			for _, f := range n.Flags {
				flags = append(flags, "--"+f.Name)
				if f.Short != 0 {
					flags = append(flags, "-"+string(f.Short))
				}
			}
		}
	}
	if !strings.HasPrefix(flag, "-") || slices.Contains(flags, flag) {
		return fmt.Sprintf("%v; see heddle %s --help", err, args[0])
	}
	if n := near.Name(flag, flags); n != "" {
		return fmt.Sprintf("unknown flag %s; did you mean %s?", flag, n)
	}
	return fmt.Sprintf("unknown flag %s; flags of heddle %s: --help %s", flag, args[0], strings.Join(flags, " "))
}

// endings are the exit codes of runs that fail, by kind of failure.
var endings = map[string]int{"fault": exitFault, "limit": exitLimit, "stuck": exitLimit, "interrupted": exitInterrupted}

// exitCode maps an error to the program's exit code.
func exitCode(err error) int {
	var own *exitError
	if errors.As(err, &own) {
		return own.code
	}
	return cmp.Or(endings[run.Failure(err, nil).Kind], exitUsage)
}

// printErrors prints every error within err; those with a place in a file are in
// the form that editors parse.
func printErrors(w io.Writer, err error) {
	switch e := err.(type) {
	case isa.SourceErrors:
		fmt.Fprintln(w, e.Detail())
	case tomlfile.Errors, *tomlfile.Error, *trace.Error, *isa.SourceError, *compare.Error:
		fmt.Fprintln(w, e)
	case *exitError:
		if e.err != nil {
			printErrors(w, e.err)
		}
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			printErrors(w, err)
		}
	default:
		if errors.Is(err, context.Canceled) {
			fmt.Fprintln(w, "heddle: interrupted")
			return
		}
		fmt.Fprintf(w, "heddle: %s\n", exec.NameLimit(err, "--max-cycles"))
	}
}
