package cli

import (
	"context"
	"os"

	"github.com/heddle-sim/heddle/internal/exec/replay"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/trace/open"
	"github.com/heddle-sim/heddle/internal/work/tracerun"
)

// loadTrace opens a recorded run.
func (c *runCmd) loadTrace(_ env, o *run.Options) (work, error) {
	switch {
	case !o.Timing:
		return nil, usage("a trace has addresses but no values, so there is nothing to compute; remove --mode %s", c.Mode)
	case len(o.Dumps) > 0:
		return nil, usage("--dump writes buffers, but a trace has none")
	}
	set, err := open.Open(c.Input)
	if err != nil {
		return nil, err
	}
	if c.SASS != "" {
		if o.Listing, err = readListing(c.SASS); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, o run.Options) (*report.Run, error) { return tracerun.Run(ctx, set, o) }, nil
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
