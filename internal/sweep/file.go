package sweep

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/sweep/store"
	"github.com/heddle-sim/heddle/internal/tomlfile"
)

// File is a sweep as written: what runs, and the axes whose values are combined.
type File struct {
	Path   string
	Inputs []*Input
	GPUs   []string // as in --gpu; empty: each input's own
	Axes   []*Axis  // in file order; of points in a row the last axis varies first
	Limits Limits
	Report ReportOptions
}

// Input is a job, a trace, a program of the Kepler-style core, or a CUDA program.
type Input struct {
	Name    string   // unique in the sweep
	Kind    run.Kind // Job, Trace, KeplerJob, KeplerCore or CUDA
	Dir     string   // the folder of the file that names it, in which it runs; absolute
	Path    string   // the job, trace or program, from Dir
	Command []string // of a CUDA program: how it is called, and its arguments
	Reads   []string // files and folders that a CUDA program reads, from Dir
}

// File is the path of the job, trace or program, from the current folder.
func (in *Input) File() string { return in.file(in.Path) }

// file is a path of the input, from the current folder.
func (in *Input) file(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(in.Dir, path)
}

// Axis is what varies: one key or several, and their values.
type Axis struct {
	Name   string
	Values [][]Setting // each sets the axis' keys
}

// keys are those that any value sets.
func (a *Axis) keys() (list []string) {
	for _, v := range a.Values {
		for _, s := range v {
			if !slices.Contains(list, s.Key) {
				list = append(list, s.Key)
			}
		}
	}
	return list
}

// Setting is a key of the configuration, or one of the special keys, and its value as text.
type Setting = store.Setting

// The special keys of axes: flags of heddle run that are no keys of the configuration.
const (
	keyCore      = "core"
	keyCode      = "code"
	keyMode      = "mode"
	keyKernels   = "kernels"
	keyMaxCycles = "max_cycles"
)

var specialKeys = []string{keyCore, keyCode, keyMode, keyKernels, keyMaxCycles}

// Limits bound what runs on this computer.
type Limits struct {
	Memory int64         // bytes of all workers together; 0: not set
	Time   time.Duration // of a point; 0: none
	Jobs   int           // points at a time; 0: not set
}

// ReportOptions say what the report of a sweep shows.
type ReportOptions struct {
	Baseline []Setting       // keys of axes, "input" and "gpu"; may be empty
	Metrics  []string        // names in the JSON result, with dots; "A / B" is a quotient
	More     map[string]bool // by metric: whether more is better, where its name does not say it
}

// more reports whether more of a metric is better: of what is reached a second or a cycle, and of
// hits, it is; of time, traffic and energy less is.
func (o *ReportOptions) more(metric string) bool {
	if more, ok := o.More[metric]; ok {
		return more
	}
	name, _, _ := strings.Cut(metric, quotient)
	name = name[strings.LastIndexByte(name, '.')+1:]
	return name == "ipc" || name == "occupancy" || strings.HasSuffix(name, "hits") || strings.HasSuffix(name, "_per_s")
}

// MostPoints is the largest number of points of a sweep, each of which is a process (our
// choice).
const MostPoints = 100_000

// MostJobs is the largest number of points at a time (our choice).
const MostJobs = 4096

// mostIncludes bounds files that include each other (our choice).
const mostIncludes = 32

// Load reads a sweep, and the files that it includes.
func Load(path string) (*File, error) {
	f := &File{Path: path}
	l := &loader{file: f, names: map[string]int{}}
	src, err := readText(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	if err := l.read(path, src); err != nil {
		return nil, err
	}
	for _, check := range l.better {
		if err := check(); err != nil {
			return nil, err
		}
	}
	if len(f.Inputs) == 0 {
		return nil, fmt.Errorf("%s: the sweep has nothing to run: add inputs = [\"job.toml\"]", path)
	}
	if f.points() > MostPoints {
		return nil, fmt.Errorf("%s: %s, more than the limit of %d; split the sweep, or give its axes fewer values", path, f.shape(), MostPoints)
	}
	return f, nil
}

// points is the number of points, or MostPoints + 1 if it is larger.
func (f *File) points() int {
	n := len(f.Inputs) * max(1, len(f.GPUs))
	for _, a := range f.Axes {
		if n *= len(a.Values); n > MostPoints {
			return MostPoints + 1
		}
	}
	return n
}

// shape says how many points there are and why.
func (f *File) shape() string {
	n := float64(len(f.Inputs) * max(1, len(f.GPUs)))
	parts := []string{fmt.Sprintf("%d inputs", len(f.Inputs)), fmt.Sprintf("%d GPUs", max(1, len(f.GPUs)))}
	for _, a := range f.Axes {
		n *= float64(len(a.Values))
		parts = append(parts, fmt.Sprintf("%d values of %s", len(a.Values), a.Name))
	}
	return fmt.Sprintf("%s are %.0f points", strings.Join(parts, " × "), n)
}

// loader reads the files of a sweep.
type loader struct {
	file  *File
	files []string       // that are being read, outermost first
	names map[string]int // of inputs

	metrics []string       // that any file names
	better  []func() error // checks names of metrics, when all are known
}

// read reads a file into the sweep, and before it what it includes, so that its own keys win.
func (l *loader) read(path string, src []byte) error {
	root, err := tomlfile.Parse(path, src)
	if err != nil {
		return err
	}
	l.files = append(l.files, identity(path))
	defer func() { l.files = l.files[:len(l.files)-1] }()
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	r := &reader{Reader: tomlfile.Reader{File: path}, loader: l, dir: dir}
	if err := r.include(root); err != nil {
		return err
	}
	r.root(root)
	return r.Err()
}

// identity is the same for all paths of a file.
func identity(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return path
}

// readText reads a file of a sweep.
func readText(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if err == nil {
		switch {
		case st.IsDir():
			return nil, errors.New("it is a folder; want a file (TOML)")
		case !st.Mode().IsRegular():
			return nil, errors.New("it is not a regular file")
		case st.Size() > tomlfile.MaxBytes:
			return nil, fmt.Errorf("it has %d bytes; the limit is %d", st.Size(), tomlfile.MaxBytes)
		}
		var src []byte
		if src, err = os.ReadFile(path); err == nil {
			return src, nil
		}
	}
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return nil, p.Err
	}
	return nil, err
}

// include reads the files that a file includes.
func (r *reader) include(n *tomlfile.Node) error {
	for _, t := range r.strings(n, "include") {
		path := r.path(t.S)
		src, err := readText(path)
		switch {
		case slices.Contains(r.loader.files, identity(path)):
			r.Add(t.Pos, "include: %s includes this file in turn; remove one of the two includes", t.S)
		case len(r.loader.files) >= mostIncludes:
			r.Add(t.Pos, "include: more than %d files include each other", mostIncludes)
		case err != nil:
			r.Add(t.Pos, "include: cannot read %s: %v", path, err)
		default:
			if err := r.loader.read(path, src); err != nil {
				return err
			}
		}
	}
	return r.Err()
}

// size reads a number of bytes such as "16 GiB".
func size(text string) (int64, bool) {
	for _, u := range []struct {
		name  string
		bytes float64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}} {
		if n, ok := strings.CutSuffix(text, u.name); ok {
			x, err := strconv.ParseFloat(strings.TrimSpace(n), 64)
			return int64(x * u.bytes), err == nil && x*u.bytes >= 1 && x*u.bytes < 1<<60
		}
	}
	return 0, false
}
