package cli

import (
	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/run/step"
	"github.com/heddle-sim/heddle/internal/work/job"
	"github.com/heddle-sim/heddle/internal/work/krun"
)

// runKeplerJob runs a job file of the Kepler-style core.
func (c *runCmd) runKeplerJob(e env) error {
	ready, err := job.LoadKepler(c.Input)
	if err != nil {
		return err
	}
	o, err := c.keplerJobOptions(ready)
	if err != nil {
		return err
	}
	return c.observed(e, &o.Options, func(to *sinks) (*report.Run, string, error) {
		if c.Step {
			if n := len(ready.Selected(o.Select)); n != 1 {
				return nil, "", usage("--step steps through one run of the core, but %s has %d frames; choose one, for example --kernels 0", c.Input, n)
			}
			o.Walk = func(start func() (*krun.Run, error)) (*krun.Run, error) {
				return step.New(e.ctx, e.stdin, to.text, isTerminal(e)).RunKepler(start)
			}
		}
		res, err := ready.Run(e.ctx, o)
		return res, "", err
	})
}

// keplerJobOptions turns the flags into options; the command line overrides the
// job.
func (c *runCmd) keplerJobOptions(ready *job.KeplerReady) (job.KeplerOptions, error) {
	plain, err := c.keplerFlags(run.KeplerJob)
	o := job.KeplerOptions{Options: plain}
	if err != nil {
		return o, err
	}
	cfg, err := ready.Config(c.GPU, c.Set...)
	if err != nil {
		return o, usage("%w", err)
	}
	if err := c.alone(&cfg); err != nil {
		return o, err
	}
	o.Config = cfg
	return o, nil
}

// alone refuses stepping on a machine with several SMs or with caches.
func (c *runCmd) alone(cfg *kepler.Config) error {
	if c.Step && cfg.Chip.Wanted() {
		return usage("--step supports one SM without caches; remove kepler.sms, kepler.l1.on and kepler.l2.on")
	}
	return nil
}
