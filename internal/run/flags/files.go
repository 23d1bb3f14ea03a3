package flags

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/series"
	"github.com/heddle-sim/heddle/internal/report/timeline"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/trace"
	"github.com/heddle-sim/heddle/internal/trace/micro"
	"github.com/heddle-sim/heddle/internal/trace/record"
	"github.com/heddle-sim/heddle/internal/trace/text"
)

// This file: the files that observers write.

// The forms of --record-form.
const (
	recordText  = "accel-sim"
	recordMicro = "micro"
)

// recordedVersion is the version of the trace format that is written: the latest that
// Accel-Sim's releases read.
const recordedVersion = 5

// parquet is the extension of a series in binary form.
const parquet = ".parquet"

// Files are the files that observers write.
type Files struct {
	timeline, series *os.File
	format           timeline.Format
	recorder         *timeline.Recorder
	parquet          *series.Parquet // nil unless the series is one
	record           *record.Recorder
	folder           string // of the recording
	locks            []*flock.Flock
}

// Open opens the files of the flags and sets the options to write to them. Counters under
// GPGPU-Sim's names go to stats.
func (f *Flags) Open(o *run.Options, stats io.Writer) (_ *Files, err error) {
	x := &Files{}
	defer func() {
		if err != nil {
			x.Close()
		}
	}()
	if f.MemoryFile != "" {
		if o.MemoryFile, err = device.NewFile(f.MemoryFile); err != nil {
			return nil, fmt.Errorf("--memory-file: %w", err)
		}
	}
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

// create creates or truncates a file, unless another program is writing it: programs
// started by one command may run concurrently.
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
		return nil, fmt.Errorf("%s is being written by another program; give each concurrent program its own file", path)
	}
	x.locks = append(x.locks, lock)
	return f, f.Truncate(0)
}

// Locked returns the paths of the files that no other program may write now.
func (x *Files) Locked() (paths []string) {
	for _, l := range x.locks {
		paths = append(paths, l.Path())
	}
	return paths
}

// openRecord records a run into a folder, which must be new or empty.
func (x *Files) openRecord(dir, form string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil && len(entries) > 0:
		return fmt.Errorf("--record %s: the folder is not empty; choose another one, or remove its contents", dir)
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

// Finish writes what was kept until the end of the run. If a file is incomplete, it says
// so on warn.
func (x *Files) Finish(warn io.Writer) error {
	var errs []error
	fail := func(flag string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", flag, err))
		}
	}
	if x.record != nil {
		fail("--record", x.record.Finish())
		_ = os.Remove(x.folder) // fails unless the folder is empty
	}
	if x.recorder != nil {
		fail("--timeline", x.recorder.Write(x.timeline, x.format))
		if n := x.recorder.Left(); n > 0 {
			fmt.Fprintf(warn, "heddle: the timeline has the first %s warp instructions; %s more did not fit\n", report.Count(uint64(x.recorder.Len())), report.Count(n))
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

// Close closes the files that are still open after a failure.
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
