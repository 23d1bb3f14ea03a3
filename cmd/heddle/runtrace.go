package main

import (
	"errors"
	"os"

	"github.com/heddle-sim/heddle/internal/exec/replay"
	"github.com/heddle-sim/heddle/internal/progress"
	"github.com/heddle-sim/heddle/internal/trace/open"
	"github.com/heddle-sim/heddle/internal/work/tracerun"
)

// runTrace replays a recorded run.
func (c *runCmd) runTrace(e env) error {
	o, err := c.options()
	if err != nil {
		return err
	}
	switch {
	case c.Mode != "timing":
		return usage("a trace has addresses but no values, so there is nothing to compute; leave --mode %s out", c.Mode)
	case c.Step:
		return usage("--step does not walk through traces; it takes a job file")
	case len(c.Dump) > 0:
		return usage("--dump writes buffers, and a trace has none")
	case len(c.Check) > 0:
		return usage("--check %s compares values that are read too early, and a trace has none", c.Check[0])
	}
	set, err := open.Open(c.Input)
	if err != nil {
		return err
	}
	o.Timing = true
	to, err := c.sinks(e)
	if err != nil {
		return err
	}
	defer to.close()
	files, err := c.watchers(&o)
	if err != nil {
		return err
	}
	defer files.close()
	t := tracerun.Options{
		GPU: o.GPU, Threads: o.Threads, MaxCycles: o.MaxInsts, Select: o.Select, Settings: o.Settings, Series: o.Series, Timeline: o.Timeline,
	}
	if c.SASS != "" {
		if t.Listing, err = readListing(c.SASS); err != nil {
			return err
		}
	}
	if c.AccelSim {
		t.AccelSim = to.text
	}
	line := progress.New(e.stderr, c.Progress, c.Quiet)
	if line != nil {
		t.Progress = line.Show
		defer line.Clear()
	}
	res, err := tracerun.Run(e.ctx, set, t)
	if line != nil {
		line.Clear()
	}
	if werr := files.finish(e, o); werr != nil {
		err = errors.Join(err, werr)
	}
	return c.conclude(to, res, "", err)
}

// readListing reads a disassembly.
func readListing(path string) (*replay.Listing, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usage("--sass: %w", err)
	}
	defer f.Close()
	return replay.ReadListing(path, f)
}
