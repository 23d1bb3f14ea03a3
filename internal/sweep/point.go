package sweep

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/run/flags"
	"github.com/heddle-sim/heddle/internal/sweep/store"
	"github.com/heddle-sim/heddle/internal/work/input"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// Point is one run: an input on a machine with values of the configuration.
type Point struct {
	Number   int // in the sweep, from 0
	Input    *Input
	GPU      string // as in --gpu; "" is the input's own
	Settings []Setting
	Digest   string // names its result
}

// list lists the points, inputs first, then GPUs, then axes. They have no names yet.
func (f *File) list() ([]*Point, error) {
	gpus := f.GPUs
	if len(gpus) == 0 {
		gpus = []string{""}
	}
	var list []*Point
	choice := make([]int, len(f.Axes))
	for _, in := range f.Inputs {
		for _, gpu := range gpus {
			clear(choice)
			for more := true; more; {
				p := &Point{Number: len(list), Input: in, GPU: gpu}
				for i, a := range f.Axes {
					p.Settings = append(p.Settings, a.Values[choice[i]]...)
				}
				list = append(list, p)
				more = false
				for i := len(choice) - 1; i >= 0 && !more; i-- {
					if choice[i]++; choice[i] < len(f.Axes[i].Values) {
						more = true
					} else {
						choice[i] = 0
					}
				}
			}
		}
	}
	if b := f.Report.Baseline; len(b) > 0 && !slices.ContainsFunc(list, func(p *Point) bool { return p.has(b) }) {
		return nil, fmt.Errorf("%s: no point is the baseline of the report (%s)", f.Path, join(b))
	}
	return list, nil
}

// Points lists the points and names them.
func (f *File) Points() ([]*Point, error) {
	list, err := f.list()
	if err != nil {
		return nil, err
	}
	return list, f.name(list)
}

// name names points.
func (f *File) name(list []*Point) error {
	n := namer{inputs: map[*Input]named{}, machines: map[string]string{}}
	for _, p := range list {
		if err := n.name(p); err != nil {
			return fmt.Errorf("%s: point %d (%s): %w", f.Path, p.Number, p, err)
		}
	}
	return nil
}

// Named returns the points with some names, and the first name that no point has; "" if all have
// one. Naming a point takes the contents of its input and the description of its machine: where
// points were when the sweep was last listed is kept in the store, so that most often only those
// that are asked for are looked at.
func (f *File) Named(digests []string, s *store.Store) (found []*Point, unknown string, err error) {
	list, err := f.list()
	if err != nil {
		return nil, "", err
	}
	before := s.Order(f.Path)
	for _, d := range digests {
		if i := slices.Index(before, d); i >= 0 && i < len(list) {
			found = append(found, list[i])
		}
	}
	// One that cannot be named, or has another name by now, is no error yet: it may not be what is asked for.
	if len(found) == len(digests) && f.name(found) == nil && slices.EqualFunc(found, digests, func(p *Point, d string) bool { return p.Digest == d }) {
		return found, "", nil
	}
	if err := f.name(list); err != nil {
		return nil, "", err
	}
	f.Remember(list, s)
	for _, d := range digests {
		if !slices.ContainsFunc(list, func(p *Point) bool { return p.Digest == d }) {
			return nil, d, nil
		}
	}
	return slices.DeleteFunc(list, func(p *Point) bool { return !slices.Contains(digests, p.Digest) }), "", nil
}

// Remember keeps in the store where the points of the sweep are, for Named. It may fail: nothing
// depends on it.
func (f *File) Remember(list []*Point, s *store.Store) {
	order := make([]string, len(list))
	for i, p := range list {
		order[i] = p.Digest
	}
	if !slices.Equal(order, s.Order(f.Path)) {
		s.SetOrder(f.Path, order)
	}
}

// has reports whether the point has all of these values.
func (p *Point) has(list []Setting) bool {
	return !slices.ContainsFunc(list, func(s Setting) bool { return p.value(s.Key) != s.Value })
}

// String describes the point in a line.
func (p *Point) String() string {
	parts := []string{p.Input.Name}
	if p.GPU != "" {
		parts = append(parts, p.GPU)
	}
	for _, s := range p.Settings {
		parts = append(parts, s.Key+"="+s.Value)
	}
	return strings.Join(parts, " ")
}

// Short describes the point by its values alone, for narrow lines.
func (p *Point) Short() string {
	parts := []string{p.Input.Name}
	if p.GPU != "" {
		parts = append(parts, filepath.Base(p.GPU))
	}
	for _, s := range p.Settings {
		parts = append(parts, s.Value)
	}
	return strings.Join(parts, " ")
}

// flagsOf are the flags of a run with these settings.
func flagsOf(settings []Setting) (flags.Flags, error) {
	f := flags.Default().Flags
	for _, s := range settings {
		switch s.Key {
		case keyCore:
			f.Core = s.Value
		case keyCode:
			f.Code = s.Value
		case keyMode:
			f.Mode = s.Value
		case keyKernels:
			f.Kernels = s.Value
		case keyMaxCycles:
			n, err := strconv.ParseUint(s.Value, 10, 64)
			if err != nil || n == 0 {
				return f, fmt.Errorf("%s = %q; want a number of cycles", s.Key, s.Value)
			}
			f.MaxCycles = n
		default:
			f.Set = append(f.Set, s.Key+"="+s.Value)
		}
	}
	return f, nil
}

const noProgress = "--progress=never"

// Arguments are those of heddle for the point, whose result it writes to a file as JSON.
func (p *Point) Arguments(result string) []string {
	args := []string{"run"}
	if p.Input.Kind == run.CUDA {
		args[0] = "cuda"
	}
	args = append(args, "--quiet", noProgress, "--threads=1", "--json="+result)
	if p.GPU != "" {
		args = append(args, "--gpu="+p.GPU)
	}
	for _, s := range p.Settings {
		switch s.Key {
		case keyCore, keyCode, keyMode, keyKernels:
			args = append(args, "--"+s.Key+"="+s.Value)
		case keyMaxCycles:
			args = append(args, "--max-cycles="+s.Value)
		default:
			args = append(args, "-C", s.Key+"="+s.Value)
		}
	}
	if p.Input.Kind == run.CUDA {
		return append(append(args, "--", p.Input.Path), p.Input.Command[1:]...)
	}
	return append(args, p.Input.Path)
}

// namer names points. What an input holds is read once, and a machine described once.
type namer struct {
	inputs   map[*Input]named
	machines map[string]string // descriptions by name, core and settings
}

// named is an input that has been looked at.
type named struct {
	digest, machine string // machine is that of a job, if no other is chosen
	err             error
}

// name computes a point's digest.
func (n *namer) name(p *Point) error {
	f, err := flagsOf(p.Settings)
	if err != nil {
		return err
	}
	f.GPU = p.GPU
	o, err := f.Options(p.Input.Kind)
	if err != nil {
		return err
	}
	in, ok := n.inputs[p.Input]
	if !ok {
		in = look(p.Input)
		n.inputs[p.Input] = in
	}
	if in.err != nil {
		return in.err
	}
	text, err := n.machine(cmp.Or(p.GPU, in.machine, run.DefaultGPU), p.Input.Kind, &o)
	if err != nil {
		return err
	}
	// Run conditions are in the machine's description; what is left are flags.
	f.GPU, f.Set = "", slices.DeleteFunc(slices.Clone(f.Set), func(s string) bool { return !strings.HasPrefix(s, "functional.") && !strings.HasPrefix(s, "trace.") })
	p.Digest, err = input.Digest(fmt.Sprintf("%s %d %q %q %+v", report.Version, report.ResultVersion, in.digest, text, f))
	p.Digest = p.Digest[:digestLength]
	return err
}

// digestLength is that of names: 128 bits.
const digestLength = 32

// machine describes a machine with all of its values.
func (n *namer) machine(name string, kind run.Kind, o *run.Options) (string, error) {
	key := fmt.Sprintf("%q %q %q %d", name, o.Settings.Core, o.Settings.Assignments, kind)
	if text, ok := n.machines[key]; ok {
		return text, nil
	}
	var b bytes.Buffer
	switch {
	case (kind == run.KeplerJob || kind == run.KeplerCore) && run.IsFile(name):
		m, err := config.LoadKepler(name) // the files that it extends count too
		if err != nil {
			return "", err
		}
		if err := m.WriteTOML(&b); err != nil {
			return "", err
		}
	case kind == run.KeplerJob || kind == run.KeplerCore, !o.Timing && !run.IsFile(name):
		b.WriteString(key) // what it would come to is not looked at here
	default:
		gpu, err := o.Settings.GPUOf(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s %s\n", gpu.Name, gpu.Core) // a result has the name
		for _, k := range config.Keys() {
			if v, ok := gpu.Value(k.Name); ok {
				fmt.Fprintf(&b, "%s=%s\n", k.Name, v)
			}
		}
	}
	n.machines[key] = b.String()
	return b.String(), nil
}

// look reads an input.
func look(in *Input) (x named) {
	path := in.file(in.Path)
	files := []string{path}
	switch in.Kind {
	case run.CUDA:
		for _, f := range in.Reads {
			files = append(files, in.file(f))
		}
	case run.Job:
		var j *job.Job
		if j, x.err = job.ParseFile(path); x.err != nil {
			return x
		}
		x.machine = j.Machine(run.Options{})
		files = j.Files()
	default:
		if files, x.err = input.Files(path, in.Kind); x.err != nil {
			return x
		}
	}
	x.digest, x.err = input.Digest(fmt.Sprintf("%q %d", in.Command[min(1, len(in.Command)):], in.Kind), files...)
	return x
}
