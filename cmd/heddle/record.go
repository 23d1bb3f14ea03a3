package main

import (
	"errors"
	"os"

	"github.com/heddle-sim/heddle/internal/trace"
	"github.com/heddle-sim/heddle/internal/trace/micro"
	"github.com/heddle-sim/heddle/internal/trace/record"
	"github.com/heddle-sim/heddle/internal/trace/text"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// The forms of --record-form.
const (
	recordText  = "accel-sim"
	recordMicro = "micro"
)

// recordedVersion is that of the tracer whose format is written: the latest
// that Accel-Sim's releases read.
const recordedVersion = 5

// checkRecord refuses --record where nothing would be recorded.
func (c *runCmd) checkRecord(kind string) error {
	switch {
	case c.Record == "":
		return nil
	case kind != "":
		return usage("--record writes a trace of a job's PTX or SASS, and %s has none; leave it out", kind)
	case c.Mode != "timing":
		return usage("--record writes what a core model issues, in its order; leave --mode %s out", c.Mode)
	case c.Step:
		return usage("--record and --step do not go together: walking back runs instructions twice")
	}
	return oneOf("--record-form", c.RecordForm, recordText, recordMicro)
}

// recorder has the run recorded, if that is asked for.
func (c *runCmd) recorder(o *job.Options) error {
	if c.Record == "" {
		return nil
	}
	entries, err := os.ReadDir(c.Record)
	switch {
	case err == nil && len(entries) > 0:
		return usage("--record %s: the folder is not empty; name another one, or remove what is in it", c.Record)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return usage("--record: %w", err)
	}
	if err := os.MkdirAll(c.Record, 0o777); err != nil {
		return usage("--record: %w", err)
	}
	o.Record = record.New(c.Record, func(set *trace.Set) error {
		if c.RecordForm == recordMicro {
			return micro.Write(c.Record, set, nil)
		}
		return text.Write(c.Record, set, text.Options{Version: recordedVersion}, nil)
	})
	return nil
}

// recorded waits until the trace is written. The error is that of the run, and
// what is wrong with the trace.
func (c *runCmd) recorded(o job.Options, err error) error {
	if o.Record == nil {
		return err
	}
	if werr := o.Record.Finish(); werr != nil {
		err = errors.Join(err, usage("--record: %w", werr))
	}
	_ = os.Remove(c.Record) // it goes only if nothing came into it
	return err
}
