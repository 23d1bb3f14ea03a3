package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/job"
	"github.com/heddle-sim/heddle/internal/krun"
	"github.com/heddle-sim/heddle/internal/sm/kepler"
	"github.com/heddle-sim/heddle/internal/step"
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
	to, err := c.sinks(e)
	if err != nil {
		return err
	}
	defer to.close()
	files, err := c.watchers(&o.Options)
	if err != nil {
		return err
	}
	defer files.close()
	if c.Step {
		if n := len(ready.Selected(o.Select)); n != 1 {
			return usage("--step walks through one run of the core, but %s has %d frames; choose one, as with --kernels 0", c.Input, n)
		}
		o.Walk = func(start func() (*krun.Run, error)) (*krun.Run, error) {
			return step.New(e.ctx, e.stdin, to.text, isTerminal(e)).RunKepler(start)
		}
	} else if line := newProgressLine(e.stderr, c.Progress, c.Quiet); line != nil {
		o.Progress = line.show
		defer line.clear()
	}
	res, err := ready.Run(e.ctx, o)
	err = errors.Join(err, files.finish(e, o.Options))
	return c.conclude(to, res, "", err)
}

// keplerJobOptions turns the flags into options; what the command line sets
// wins over the job.
func (c *runCmd) keplerJobOptions(ready *job.KeplerReady) (job.KeplerOptions, error) {
	var o job.KeplerOptions
	switch {
	case c.Mode == "functional":
		return o, usage("--mode functional: the Kepler-style core computes as it counts cycles; leave --mode out")
	case c.GPU != "" && !config.IsKepler(c.GPU):
		return o, c.wrongGPU()
	case c.Core != "" && c.Core != "kepler":
		return o, usage("--core %s: %s runs on the kepler core only; leave --core out", c.Core, c.Input)
	case c.AccelSim:
		return o, usage("--accel-sim-stats: these counters are not those of the Kepler-style core; see --json")
	}
	cfg, err := ready.Config(c.GPU, c.Set...)
	if err != nil {
		return o, usage("%w", err)
	}
	if err := c.alone(&cfg); err != nil {
		return o, err
	}
	plain := *c
	plain.Set, plain.GPU, plain.Core = nil, "", ""
	if o.Options, err = plain.options(); err != nil {
		return o, err
	}
	o.Timing = true
	o.Config = cfg
	return o, nil
}

// wrongGPU says what a program for the Kepler-style core runs on.
func (c *runCmd) wrongGPU() error {
	if _, err := os.Stat(c.GPU); err != nil && filepath.Ext(c.GPU) == ".toml" {
		return usage("--gpu: %w", err)
	}
	return usage("--gpu %s: %s runs on %s, or a file with extends = %q, only; leave --gpu out", c.GPU, c.Input, kepler.Name, kepler.Name)
}

// alone refuses what looks into one core on a machine that has several, or
// caches.
func (c *runCmd) alone(cfg *kepler.Config) error {
	for _, f := range []struct {
		name string
		on   bool
	}{{"--step", c.Step}, {"--timeline", c.Timeline != ""}, {"--series", c.Series != ""}} {
		if f.on {
			if err := krun.Alone(cfg, f.name); err != nil {
				return usage("%w", err)
			}
		}
	}
	return nil
}
