package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/series"
	"github.com/heddle-sim/heddle/internal/report/timeline"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// outputs are the files that are written beside a run's result.
type outputs struct {
	timeline, series *os.File
	format           timeline.Format
	parquet          *series.Parquet // nil unless the series is one
}

// watchers opens the files of --timeline and --series, and asks for what goes
// into them.
func (c *runCmd) watchers(o *job.Options) (*outputs, error) {
	f := &outputs{}
	if (c.Timeline != "" || c.Series != "") && !o.Timing {
		return nil, usage("--timeline and --series show cycles; leave --mode %s out", c.Mode)
	}
	if c.Timeline != "" {
		format, err := timeline.FormatOf(c.Timeline)
		if err != nil {
			return nil, usage("--timeline %w", err)
		}
		if f.timeline, err = os.Create(c.Timeline); err != nil {
			return nil, usage("--timeline: %w", err)
		}
		f.format = format
		o.Timeline = timeline.New(0)
	}
	if c.Series != "" {
		every, file, ok := strings.Cut(c.Series, "=")
		n, err := strconv.ParseUint(every, 10, 64)
		if !ok || err != nil || n == 0 || file == "" {
			f.close()
			return nil, usage("--series %s: write N=FILE.csv or N=FILE.parquet, N cycles apart", c.Series)
		}
		ext := strings.ToLower(filepath.Ext(file))
		if ext != ".csv" && ext != ".parquet" {
			f.close()
			return nil, usage("--series %s: the ending picks the format: .csv or .parquet", c.Series)
		}
		if f.series, err = os.Create(file); err != nil {
			f.close()
			return nil, usage("--series: %w", err)
		}
		o.Series = &run.Series{Every: n, Out: f.series}
		if ext == ".parquet" {
			f.parquet = series.NewParquet(f.series)
			o.Series.Out = f.parquet
		}
	}
	return f, nil
}

// finish writes what was kept until the end.
func (f *outputs) finish(e env, o job.Options) error {
	if f.timeline != nil {
		r := o.Timeline
		if err := r.Write(f.timeline, f.format); err != nil {
			return usage("--timeline: %w", err)
		}
		if n := r.Left(); n > 0 {
			fmt.Fprintf(e.stderr, "heddle: the timeline has the first %s warp instructions; %s more had no room\n", report.Count(uint64(r.Len())), report.Count(n))
		}
	}
	if f.parquet != nil {
		if err := f.parquet.Close(); err != nil {
			return usage("--series: %w", err)
		}
	}
	for _, file := range []*os.File{f.timeline, f.series} {
		if file != nil {
			if err := file.Close(); err != nil {
				return usage("writing %s: %w", file.Name(), err)
			}
		}
	}
	return nil
}

// close closes the files after a failure; those that are closed already stay
// so.
func (f *outputs) close() {
	for _, file := range []*os.File{f.timeline, f.series} {
		if file != nil {
			_ = file.Close()
		}
	}
}
