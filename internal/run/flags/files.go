package flags

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/series"
	"github.com/heddle-sim/heddle/internal/report/timeline"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/trace"
	"github.com/heddle-sim/heddle/internal/trace/micro"
	"github.com/heddle-sim/heddle/internal/trace/record"
	"github.com/heddle-sim/heddle/internal/trace/text"
)

// This file: what is written beside a run's result.

// The forms of --record-form.
const (
	recordText  = "accel-sim"
	recordMicro = "micro"
)

// recordedVersion is that of the tracer whose format is written: the latest
// that Accel-Sim's releases read.
const recordedVersion = 5

// parquet is the ending of a series that is no text.
const parquet = ".parquet"

// Files are what observers write into.
type Files struct {
	timeline, series *os.File
	format           timeline.Format
	recorder         *timeline.Recorder
	parquet          *series.Parquet // nil unless the series is one
	record           *record.Recorder
	folder           string // of the record
	locks            []*flock.Flock
}

// Open opens the files of the flags, and has the options write into them. Counters
// under GPGPU-Sim's names go to stats.
func (f *Flags) Open(o *run.Options, stats io.Writer) (_ *Files, err error) {
	x := &Files{}
	defer func() {
		if err != nil {
			x.Close()
		}
	}()
	if f.Timeline != "" {
		if x.format, err = timeline.FormatOf(f.Timeline); err != nil {
			return nil, fmt.Errorf("--timeline %w", err)
		}
		if x.timeline, err = x.create(f.Timeline); err != nil {
			return nil, fmt.Errorf("--timeline: %w", err)
		}
		x.recorder = timeline.New(0)
		o.Timeline = x.recorder
	}
	every, file, err := f.series()
	if err != nil {
		return nil, err
	}
	if file != "" {
		if x.series, err = x.create(file); err != nil {
			return nil, fmt.Errorf("--series: %w", err)
		}
		o.Series = &run.Series{Every: every, Out: x.series}
		if strings.ToLower(filepath.Ext(file)) == parquet {
			x.parquet = series.NewParquet(x.series)
			o.Series.Out = x.parquet
		}
	}
	if f.AccelSim {
		o.AccelSim = stats
	}
	if f.Record != "" {
		if err := x.openRecord(f.Record, f.RecordForm); err != nil {
			return nil, err
		}
		o.Record = x.record
	}
	return x, nil
}

// create begins a file anew, unless another program is writing it: programs that
// one command starts may run side by side.
func (x *Files) create(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return f, err
	}
	lock := flock.New(path)
	if free, err := lock.TryLock(); err == nil && !free {
		f.Close()
		return nil, fmt.Errorf("%s is being written by another program; give programs that run side by side a file each", path)
	}
	x.locks = append(x.locks, lock)
	return f, f.Truncate(0)
}

// openRecord has a run recorded into a folder, which must be new or empty.
func (x *Files) openRecord(dir, form string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil && len(entries) > 0:
		return fmt.Errorf("--record %s: the folder is not empty; name another one, or remove what is in it", dir)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("--record: %w", err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("--record: %w", err)
	}
	x.folder = dir
	x.record = record.New(dir, func(set *trace.Set) error {
		if form == recordMicro {
			return micro.Write(dir, set, nil)
		}
		return text.Write(dir, set, text.Options{Version: recordedVersion}, nil)
	})
	return nil
}

// Finish writes what was kept until the end of the run. What a file had no room
// for is said on warn.
func (x *Files) Finish(warn io.Writer) error {
	var errs []error
	fail := func(flag string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", flag, err))
		}
	}
	if x.record != nil {
		fail("--record", x.record.Finish())
		_ = os.Remove(x.folder) // it goes only if nothing came into it
	}
	if x.recorder != nil {
		fail("--timeline", x.recorder.Write(x.timeline, x.format))
		if n := x.recorder.Left(); n > 0 {
			fmt.Fprintf(warn, "heddle: the timeline has the first %s warp instructions; %s more had no room\n", report.Count(uint64(x.recorder.Len())), report.Count(n))
		}
		fail("--timeline", x.timeline.Close())
	}
	if x.parquet != nil {
		fail("--series", x.parquet.Close())
	}
	if x.series != nil {
		fail("--series", x.series.Close())
	}
	x.Close()
	return errors.Join(errs...)
}

// Close closes the files after a failure; those that are closed already stay so.
func (x *Files) Close() {
	for _, file := range []*os.File{x.timeline, x.series} {
		if file != nil {
			_ = file.Close()
		}
	}
	for _, l := range x.locks {
		_ = l.Close()
	}
}
