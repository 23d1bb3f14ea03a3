package sweep

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/tomlfile"
	"github.com/heddle-sim/heddle/internal/work/input"
)

// reader reads one file of a sweep.
type reader struct {
	tomlfile.Reader
	loader *loader
	dir    string // to which its paths are relative; absolute
	keys   []string
}

// path is a path of the file.
func (r *reader) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.dir, name)
}

// root reads the tables.
func (r *reader) root(n *tomlfile.Node) {
	f := r.loader.file
	r.Known(n, "include", "inputs", "gpus", "axes", "zip", "set", "limits", "report")
	if k := r.list(n, "inputs"); k != nil {
		for _, it := range k.Items {
			r.input(it)
		}
	}
	if n.Kids["gpus"] != nil {
		f.GPUs = nil
	}
	for _, t := range r.strings(n, "gpus") {
		name := t.S
		if run.IsFile(name) {
			name = r.path(name)
		} else if err := run.CheckGPU(name); err != nil {
			r.Add(t.Pos, "%v", err)
		}
		f.GPUs = append(f.GPUs, name)
	}
	for _, key := range []string{"set", "axes"} {
		if t := r.table(n, key); t != nil {
			for _, name := range t.Keys {
				r.axis(name, t.Kids[name], key == "set")
			}
		}
	}
	if t := r.table(n, "zip"); t != nil {
		r.zip(t)
	}
	if t := r.table(n, "limits"); t != nil {
		r.limits(t)
	}
	if t := r.table(n, "report"); t != nil {
		r.report(t)
	}
}

// table returns a table, or nil.
func (r *reader) table(n *tomlfile.Node, key string) *tomlfile.Node {
	k := n.Kids[key]
	if k != nil && !k.Table {
		r.Add(k.Pos, "%s must be a table such as [%s], not %s", key, key, k.Kind())
		return nil
	}
	return k
}

// list returns a list that is not empty, or nil.
func (r *reader) list(n *tomlfile.Node, key string) *tomlfile.Node {
	k := n.Kids[key]
	switch {
	case k == nil:
		return nil
	case !k.Array:
		r.Add(k.Pos, "%s must be a list in brackets, not %s", key, k.Kind())
		return nil
	case len(k.Items) == 0:
		r.Add(k.Pos, "%s is empty; remove it, or give it values", key)
		return nil
	}
	return k
}

// strings reads a list of strings.
func (r *reader) strings(n *tomlfile.Node, key string) (list []tomlfile.Text) {
	k := r.list(n, key)
	if k == nil {
		return nil
	}
	for _, it := range k.Items {
		s, ok := it.Val.(string)
		if !ok || s == "" || strings.ContainsRune(s, 0) {
			r.Add(it.Pos, "each of %s must be a string in quotes, not %s", key, it.Kind())
			continue
		}
		list = append(list, tomlfile.Text{S: s, Pos: it.Pos})
	}
	return list
}

// input reads one of the inputs: a path, a pattern of paths, or a table.
func (r *reader) input(n *tomlfile.Node) {
	if s, ok := n.Val.(string); ok && s != "" {
		r.paths(s, "", n.Pos)
		return
	}
	if !n.Table {
		r.Add(n.Pos, "each of inputs must be a path in quotes, or a table such as { cuda = [\"./app\", \"-n\", \"4096\"], name = \"app\" }, not %s", n.Kind())
		return
	}
	r.Known(n, "path", "cuda", "name", "reads")
	name, _ := r.Str(n, "name")
	path, given := r.Str(n, "path")
	command := r.strings(n, "cuda")
	switch {
	case given && n.Kids["cuda"] != nil:
		r.Add(n.Pos, "an input has either path or cuda, not both")
	case given && n.Kids["reads"] != nil:
		r.Add(n.Kids["reads"].KeyPos, "reads is for CUDA programs: what a job or a trace reads is known")
	case given:
		r.paths(path.S, name.S, path.Pos)
	case len(command) > 0:
		r.program(n, name.S, command)
	case n.Kids["cuda"] == nil:
		r.Add(n.Pos, "an input needs path = \"FILE\" or cuda = [\"PROGRAM\", \"ARGUMENT\"]")
	}
}

// paths adds the inputs that a pattern means.
func (r *reader) paths(pattern, name string, pos isa.Pos) {
	found := []string{r.path(pattern)}
	if strings.ContainsAny(pattern, "*?[") {
		var err error
		if found, err = filepath.Glob(r.path(pattern)); err != nil {
			r.Add(pos, "%q is no pattern for paths: %v", pattern, err)
			return
		}
		slices.Sort(found)
		if len(found) == 0 {
			r.Add(pos, "no file matches %q", pattern)
		}
		if name != "" && len(found) > 1 {
			r.Add(pos, "%q matches %d files, which cannot all have the name %q; remove name", pattern, len(found), name)
			return
		}
	}
	for _, path := range found {
		if identity(path) == r.loader.files[0] {
			continue // the sweep itself, among *.toml
		}
		title := name
		if title == "" {
			title = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		}
		in := &Input{Name: title, Kind: input.Kind(path), Path: path, Dir: r.dir}
		if !filepath.IsAbs(pattern) {
			in.Path, _ = filepath.Rel(r.dir, path) // both are absolute
		}
		r.addInput(in, name != "", pos)
	}
}

// program adds a CUDA program.
func (r *reader) program(n *tomlfile.Node, name string, command []tomlfile.Text) {
	in := &Input{Name: name, Kind: run.CUDA, Dir: r.dir, Path: command[0].S}
	for _, t := range command {
		in.Command = append(in.Command, t.S)
	}
	file := in.Path
	if strings.ContainsRune(file, filepath.Separator) {
		file = in.file(file)
	}
	path, err := exec.LookPath(file)
	if err != nil {
		r.Add(command[0].Pos, "no program %s: give its path from the folder of this file, such as \"./app\"", in.Path)
	} else if file == in.Path { // found by the PATH
		in.Path = path
	}
	for _, t := range r.strings(n, "reads") {
		in.Reads = append(in.Reads, t.S)
	}
	if name == "" {
		in.Name = filepath.Base(in.Command[0])
	}
	r.addInput(in, name != "", command[0].Pos)
}

// addInput adds an input. A name that the file does not give is made different from others.
func (r *reader) addInput(in *Input, named bool, pos isa.Pos) {
	f := r.loader.file
	taken := r.loader.names // and how many inputs have had a name
	if taken[in.Name] > 0 && named {
		r.Add(pos, "two inputs have the name %q", in.Name)
		return
	}
	for base := in.Name; taken[in.Name] > 0; {
		taken[base]++
		in.Name = base + "-" + strconv.Itoa(taken[base])
	}
	taken[in.Name]++
	f.Inputs = append(f.Inputs, in)
}

// axis reads the values of an axis, or a single one that all points have.
func (r *reader) axis(name string, n *tomlfile.Node, single bool) {
	a := &Axis{Name: name}
	items := []*tomlfile.Node{n}
	switch {
	case single && (n.Array || n.Table):
		r.Add(n.Pos, "%s in [set] must have one value; several are an axis, in [axes]", name)
		return
	case single:
	case !n.Array:
		r.Add(n.Pos, "the axis %s must be a list of values in brackets, not %s", name, n.Kind())
		return
	case len(n.Items) == 0:
		r.Add(n.Pos, "the axis %s has no values; remove it, or give it some", name)
		return
	default:
		items = n.Items
	}
	if slices.ContainsFunc(items, func(it *tomlfile.Node) bool { return !it.Table }) && !r.isKey(name, n) {
		return
	}
	for _, it := range items {
		if !it.Table {
			a.Values = append(a.Values, r.settings(name, it, nil))
			continue
		}
		var v []Setting
		for _, key := range it.Keys {
			if r.isKey(key, it.Kids[key]) {
				v = r.settings(key, it.Kids[key], v)
			}
		}
		if len(it.Keys) == 0 {
			r.Add(it.Pos, "a value of the axis %s is empty; want keys that go together, such as { \"dram.preset\" = \"hbm2\" }", name)
		}
		a.Values = append(a.Values, v)
	}
	r.addAxis(a, n.KeyPos)
}

// addAxis adds an axis, in place of one of the same name.
func (r *reader) addAxis(a *Axis, pos isa.Pos) {
	f := r.loader.file
	for _, other := range f.Axes {
		if other.Name == a.Name {
			continue
		}
		for _, key := range a.keys() {
			if slices.Contains(other.keys(), key) {
				r.Add(pos, "%s is set by %s and by %s; remove one of the two", key, other.Name, a.Name)
				return
			}
		}
	}
	if i := slices.IndexFunc(f.Axes, func(o *Axis) bool { return o.Name == a.Name }); i >= 0 {
		f.Axes[i] = a
		return
	}
	f.Axes = append(f.Axes, a)
}

// zip reads the axes that walk together: lists of the same length, which become one axis.
func (r *reader) zip(n *tomlfile.Node) {
	a := &Axis{Name: strings.Join(n.Keys, "+")}
	for _, key := range n.Keys {
		k := n.Kids[key]
		switch {
		case !r.isKey(key, k):
			return
		case !k.Array || len(k.Items) == 0:
			r.Add(k.Pos, "%s in [zip] must be a list of values in brackets", key)
			return
		case a.Values == nil:
			a.Values = make([][]Setting, len(k.Items))
		case len(k.Items) != len(a.Values):
			r.Add(k.Pos, "%s has %d values and %s %d; axes in [zip] need the same number of values", key, len(k.Items), n.Keys[0], len(a.Values))
			return
		}
		for i, it := range k.Items {
			a.Values[i] = r.settings(key, it, a.Values[i])
		}
	}
	if len(a.Values) > 0 {
		r.addAxis(a, n.KeyPos)
	}
}

// isKey reports whether a key is one of the configuration, or a special one.
func (r *reader) isKey(key string, n *tomlfile.Node) bool {
	if r.keys == nil {
		r.keys = append(slices.Clone(specialKeys), run.SettingKeys()...)
		for _, k := range config.Keys() {
			r.keys = append(r.keys, k.Name)
		}
	}
	if slices.Contains(r.keys, key) {
		return true
	}
	r.Unknown(n.KeyPos, key, r.keys, "known keys", "unknown key %q; axes are keys of the configuration (heddle gpus NAME lists them)", key)
	return false
}

// settings appends a key and its value to a list.
func (r *reader) settings(key string, n *tomlfile.Node, list []Setting) []Setting {
	var text string
	switch v := n.Val.(type) {
	case string:
		text = v
	case int64:
		text = strconv.FormatInt(v, 10)
	case float64:
		text = strconv.FormatFloat(v, 'g', -1, 64)
	case bool:
		text = strconv.FormatBool(v)
	default:
		r.Add(n.Pos, "a value of %s must be a string, a number or a boolean, not %s", key, n.Kind())
		return list
	}
	if err := check(key, text); err != nil {
		r.Add(n.Pos, "%v", err)
	}
	return append(list, Setting{Key: key, Value: text})
}

// check returns what is wrong with a value, whatever machine it is for.
func check(key, value string) error {
	f, err := flagsOf([]Setting{{Key: key, Value: value}})
	if err != nil {
		return err
	}
	o, err := f.Options(run.Job)
	if err != nil {
		return err
	}
	return o.Settings.Check()
}

// limits reads what bounds a sweep on this computer.
func (r *reader) limits(n *tomlfile.Node) {
	l := &r.loader.file.Limits
	r.Known(n, "memory", "time", "jobs")
	if t, ok := r.Str(n, "memory"); ok {
		if l.Memory, ok = size(t.S); !ok {
			r.Add(t.Pos, "memory = %q; want a size such as \"16 GiB\"", t.S)
		}
	}
	if t, ok := r.Str(n, "time"); ok {
		d, err := time.ParseDuration(t.S)
		if err != nil || d <= 0 {
			r.Add(t.Pos, "time = %q; want a duration such as \"2h\" or \"90s\"", t.S)
		}
		l.Time = d
	}
	l.Jobs = int(r.Integer(n, "jobs", 1, MostJobs, int64(l.Jobs)))
}

// report reads what the report shows.
func (r *reader) report(n *tomlfile.Node) {
	rep := &r.loader.file.Report
	r.Known(n, "baseline", "metrics", "better")
	if t := r.table(n, "baseline"); t != nil {
		rep.Baseline = nil
		for _, key := range t.Keys {
			k := t.Kids[key]
			if key == "input" || key == "gpu" {
				s, ok := r.Str(t, key)
				if ok && key == "gpu" && run.IsFile(s.S) {
					s.S = r.path(s.S)
				}
				if ok {
					rep.Baseline = append(rep.Baseline, Setting{Key: key, Value: s.S})
				}
				continue
			}
			if r.isKey(key, k) {
				rep.Baseline = r.settings(key, k, rep.Baseline)
			}
		}
	}
	if n.Kids["metrics"] != nil {
		rep.Metrics = nil
		for _, t := range r.strings(n, "metrics") {
			rep.Metrics = append(rep.Metrics, t.S)
		}
		r.loader.metrics = append(r.loader.metrics, rep.Metrics...)
	}
	if t := r.table(n, "better"); t != nil {
		rep.More = map[string]bool{}
		for _, name := range t.Keys {
			s, ok := r.Str(t, name)
			if ok && s.S != "more" && s.S != "less" {
				r.Add(s.Pos, "%s = %q in better; want \"more\" or \"less\"", name, s.S)
			}
			rep.More[name] = s.S == "more"
		}
		r.loader.better = append(r.loader.better, func() error { return r.checkBetter(t) })
	}
}

// checkBetter finds names that are none of the metrics.
func (r *reader) checkBetter(t *tomlfile.Node) error {
	metrics := r.loader.metrics
	if len(metrics) == 0 {
		metrics = defaultMetrics
	}
	for _, name := range t.Keys {
		if !slices.Contains(metrics, name) {
			r.Unknown(t.Kids[name].KeyPos, name, metrics, "they are", "%q in better is none of the metrics", name)
		}
	}
	return r.Err()
}
