package main

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run/step"
	"github.com/heddle-sim/heddle/internal/work/job"
	"github.com/heddle-sim/heddle/internal/work/krun"
)

// checkStep refuses flags that --step does not go with.
func (c *runCmd) checkStep() error {
	const again = "--step and %s do not go together: going back runs the job again, and would write it twice"
	switch {
	case !c.Step:
	case c.Mode != "timing":
		return usage("--step walks through cycles; leave --mode %s out", c.Mode)
	case c.Timeline != "":
		return usage(again, "--timeline")
	case c.Series != "":
		return usage(again, "--series")
	case c.AccelSim:
		return usage(again, "--accel-sim-stats")
	}
	return nil
}

// walk runs a job as commands from standard input say. The result is that of
// the last run through it.
func (c *runCmd) walk(e env, ready *job.Ready, o job.Options) (res *report.Run, err error) {
	s := step.New(e.ctx, e.stdin, o.Out, isTerminal(e))
	o.Out = s.Output(o.Out)
	err = s.Run(func(inside func(*job.Inside) func() error) error {
		o.Inside = inside
		var err error
		res, err = ready.Run(e.ctx, o)
		return err
	})
	return res, err
}

// walkKepler runs a core of the Kepler-style machine as commands from standard
// input say, and returns it as it stands at the end. Without a core, the error
// says why there is none; with one, that the user has left.
func (c *runCmd) walkKepler(e env, out io.Writer, cfg kepler.Config, text string, isCase bool) (*krun.Run, error) {
	s := step.New(e.ctx, e.stdin, out, isTerminal(e))
	return s.RunKepler(func() (*krun.Run, error) {
		r, _, err := c.keplerCore(cfg, text, isCase)
		return r, err
	})
}

// isTerminal reports whether a person types the commands.
func isTerminal(e env) bool {
	f, ok := e.stdin.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
