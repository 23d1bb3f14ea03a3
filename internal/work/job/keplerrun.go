package job

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
	"github.com/heddle-sim/heddle/internal/near"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/findings"
	"github.com/heddle-sim/heddle/internal/report/lesson"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/tomlfile"
	"github.com/heddle-sim/heddle/internal/work/krun"
)

// KeplerReady is a job for the Kepler-style core whose files have been read.
type KeplerReady struct {
	Job      *KeplerJob
	Programs []*kasm.Program
	programs map[string]int // by name in the job file
	contents map[string][]byte
}

// LoadKepler reads and opens a job file for the Kepler-style core.
func LoadKepler(file string) (*KeplerReady, error) {
	j, err := ParseKeplerFile(file)
	if err != nil {
		return nil, err
	}
	return j.Open()
}

// Open assembles the programs, reads the files of buffers, and checks the sizes of
// everything.
func (k *KeplerJob) Open() (*KeplerReady, error) {
	r := &KeplerReady{Job: k, programs: map[string]int{}, contents: map[string][]byte{}}
	o := &opener{Reader: tomlfile.Reader{File: k.File}, job: k.Job}
	for _, t := range k.Job.Programs {
		path := k.Path(t.S)
		src, err := ReadFile(path)
		if err != nil {
			o.Add(t.Pos, "cannot read the program %s: %s", path, reason(err))
			continue
		}
		prog, err := kasm.Assemble(path, string(src), kasm.RTL)
		if err != nil {
			o.sources = append(o.sources, err)
			continue
		}
		r.programs[t.S] = len(r.Programs)
		r.Programs = append(r.Programs, prog)
	}
	if len(r.Programs) == len(k.Job.Programs) {
		r.warps(o)
	}
	r.buffers(o)
	var wrong *tomlfile.Error
	if _, err := r.Config(""); errors.As(err, &wrong) {
		o.Keep(wrong)
	}
	if err := o.Err(); err != nil {
		o.sources = append(o.sources, err)
	}
	if len(o.sources) > 0 {
		return nil, errors.Join(o.sources...)
	}
	return r, nil
}

// warps finds the program of each warp, and the addresses of labels.
func (r *KeplerReady) warps(o *opener) {
	var names []string
	for _, t := range r.Job.Job.Programs {
		names = append(names, t.S)
	}
	for _, w := range r.Job.Warps {
		if w.Program.S == "" {
			if len(names) > 1 {
				o.Add(w.Pos, "the warps name no program, and the job has %s; add program = \"NAME\"", strings.Join(names, ", "))
				continue
			}
			w.Program.S = names[0]
		}
		n, ok := r.programs[w.Program.S]
		if !ok {
			o.Unknown(w.Program.Pos, w.Program.S, names, "programs", "unknown program %q", w.Program.S)
			continue
		}
		if w.Label.S == "" {
			continue
		}
		if w.PC, ok = r.Programs[n].Labels[w.Label.S]; !ok {
			var labels []string
			for l := range r.Programs[n].Labels {
				labels = append(labels, l)
			}
			slices.Sort(labels)
			o.Unknown(w.Label.Pos, w.Label.S, labels, "labels", "%s has no label %q", w.Program.S, w.Label.S)
		}
	}
}

// buffers determines sizes, makes the initial contents of buffers, and checks that they
// do not overlap.
func (r *KeplerReady) buffers(o *opener) {
	j := r.Job
	whole := *j.Job // checks of one frame are as in every job
	whole.Checks = nil
	for _, c := range j.Checks {
		if c.Name.S != "" && c.Register < 0 && c.Predicate < 0 && c.Frame != allFrames {
			whole.Checks = append(whole.Checks, c.Check)
		}
	}
	o.job = &whole
	before := o.Wrong()
	if o.dataFiles(); o.Wrong() > before {
		return
	}
	type extent struct {
		name   string
		lo, hi int64
		shared bool
	}
	var taken []extent
	for _, d := range j.Buffers {
		p := j.places[d.Name]
		n := d.Count * int64(d.Type.Size())
		if n > p.size()-int64(p.at) {
			o.Add(p.pos, "buffer %q of %d bytes at %#x exceeds the memory's %d bytes", d.Name, n, p.at, p.size())
			continue
		}
		e := extent{d.Name, int64(p.at), int64(p.at) + n, p.shared}
		for _, t := range taken {
			if t.shared == e.shared && e.lo < t.hi && t.lo < e.hi {
				o.Add(p.pos, "buffer %q at %#x to %#x overlaps buffer %q", d.Name, e.lo, e.hi-1, t.name)
			}
		}
		taken = append(taken, e)
		for _, m := range j.Images {
			if m.Buffer.S == d.Name && m.bytes() > n {
				o.Add(m.Pos, "the picture takes %d bytes, but buffer %q has %d", m.bytes(), d.Name, n)
			}
		}
		for _, c := range j.Checks {
			if c.Frame == allFrames && c.Name.S == d.Name {
				r.allFrames(o, c, n)
			}
		}
		b := make([]byte, (n+3)/4*4)
		switch d.Init {
		case InitIota:
			d.Type.fillIota(b[:n])
		case InitRandom:
			d.Type.fillRandom(b[:n], d.Seed, d.Range)
		case InitValues:
			for i, v := range d.Values {
				d.Type.put(b[i*d.Type.Size():], v)
			}
		case InitFile:
			src, err := os.ReadFile(j.Path(d.File.S))
			if err == nil && len(src) != int(n) {
				err = fmt.Errorf("it has changed")
			}
			if err != nil {
				o.Add(d.File.Pos, "cannot read %s: %s", j.Path(d.File.S), reason(err))
				continue
			}
			copy(b, src)
		}
		r.contents[d.Name] = b
	}
}

// allFrames checks the size of a check of all frames, with n bytes each.
func (r *KeplerReady) allFrames(o *opener, c *KeplerCheck, n int64) {
	have := n * int64(r.Job.Frames)
	if have > maxKept {
		o.Add(c.Pos, "%d frames of %d bytes exceed the limit of a check, %d bytes", r.Job.Frames, n, maxKept)
		return
	}
	elements := int64(len(c.Values))
	if c.File.S != "" {
		var ok bool
		if elements, ok = o.elements(c.File, c.Type); !ok {
			return
		}
	}
	if total := have / int64(c.Type.Size()); elements > total || c.Offset > total-elements {
		o.Add(c.Pos, "the check compares %d elements from offset %d, but all frames of %q have %d", elements, c.Offset, c.Name.S, total)
	}
}

// Config returns the machine of a job: the one with a name or file, otherwise the job's,
// with the job's settings and then the key=value pairs of the command line. The last
// setting of a key wins; a conformance level resets every switch.
func (r *KeplerReady) Config(gpu string, sets ...string) (kepler.Config, error) {
	j := r.Job
	m, err := config.NewKepler(), error(nil)
	switch {
	case gpu != "":
		if m, err = config.LoadKepler(gpu); err != nil {
			return kepler.Config{}, fmt.Errorf("GPU: %w", err)
		}
	case j.GPU != "":
		name := j.GPU
		if run.IsFile(name) {
			name = j.Path(name)
		}
		if m, err = config.LoadKepler(name); err != nil {
			return kepler.Config{}, j.at(j.GPUPos, "gpu: %v", err)
		}
	}
	settings := slices.Clone(j.Settings)
	slices.SortStableFunc(settings, func(a, b KeplerSetting) int { return config.LevelFirst(a.Key, b.Key) })
	for _, s := range settings {
		if err := m.Put(s.Key, s.Value, "the job"); err != nil {
			return m.Config, j.at(s.Pos, "%v", err)
		}
	}
	if len(sets) > 0 {
		return m.Config, m.Set(sets...)
	}
	if err := m.Check(); err != nil {
		return m.Config, j.at(j.keplerPos, "%v", err)
	}
	return m.Config, nil
}

// Core returns a core set up for a frame.
func (r *KeplerReady) Core(cfg kepler.Config, frame int) (*kepler.Core, error) {
	k := kepler.New(cfg)
	for i, p := range r.Programs {
		var warps []int
		for _, w := range r.Job.Warps {
			if r.programs[w.Program.S] == i {
				warps = append(warps, w.Warps...)
			}
		}
		if err := k.Load(p.Words, warps...); err != nil {
			return nil, &tomlfile.Error{File: r.Job.File, Msg: err.Error(), Err: err}
		}
	}
	for _, d := range r.Job.Buffers {
		p, b := r.Job.places[d.Name], r.contents[d.Name]
		for i := 0; i < len(b); i += 4 {
			v := binary.LittleEndian.Uint32(b[i:])
			switch {
			case v == 0: // memory is zero
			case p.shared:
				if err := k.SetShared(int(p.at)+i, v); err != nil {
					return nil, r.Job.at(p.pos, "%v", err)
				}
			default:
				k.SetMemory(p.at+uint32(i), v)
			}
		}
	}
	for _, s := range r.Job.Warps {
		for _, w := range s.Warps {
			for _, reg := range s.Registers {
				for l := range kasm.Lanes {
					if err := k.SetRegister(w, reg.Register, l, reg.at(w, l, frame)); err != nil {
						return nil, r.Job.at(s.Pos, "%v", err)
					}
				}
			}
			if err := k.Start(w, uint32(s.PC), s.Mask); err != nil {
				return nil, r.Job.at(s.Pos, "%v", err)
			}
		}
	}
	return k, nil
}

// Bytes returns the contents of a buffer in a core.
func (r *KeplerReady) Bytes(k *kepler.Core, buffer string) []byte {
	d, p := r.Job.buffer(buffer), r.Job.places[buffer]
	b := make([]byte, len(r.contents[buffer]))
	for i := 0; i < len(b); i += 4 {
		at := p.at + uint32(i)
		v := uint32(0)
		if p.shared {
			v = k.Shared(int(at / 4))
		} else {
			v = k.Memory(at)
		}
		binary.LittleEndian.PutUint32(b[i:], v)
	}
	return b[:d.Count*int64(d.Type.Size())]
}

// KeplerOptions are the settings of a run that are not part of its job. These Options
// apply: Select, which selects frames, Dumps, of the last frame, MaxInsts, in cycles of
// all frames together, Series, Timeline and Progress.
type KeplerOptions struct {
	Options
	Config   kepler.Config
	Pictures string                         // folder of the pictures; "" is the job's
	Frame    func(run *krun.Run, frame int) // called after every frame; may be nil
	// Walk runs a frame in place of krun's Do: it calls start for a core that is set
	// up, once or more, and returns the last. May be nil.
	Walk func(start func() (*krun.Run, error)) (*krun.Run, error)
}

// keplerRunner is the state of one run.
type keplerRunner struct {
	ready *KeplerReady
	opt   KeplerOptions
	res   *report.Run
	last  int              // the last frame that will run
	kept  map[int][][]byte // contents of images' buffers by image and frame
	all   map[int][]byte   // contents by check, all frames in order
	steps int              // of lessons, that are left
	film  int              // bytes of films, that are left
}

// Selected returns the frames of a selection.
func (r *KeplerReady) Selected(sel *run.Selection) []int {
	var list []int
	for f := range r.Job.Frames {
		if sel.Has(f, r.name()) {
			list = append(list, f)
		}
	}
	return list
}

// name returns the name of a frame.
func (r *KeplerReady) name() string {
	base := filepath.Base(r.Programs[0].File)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// Prepare returns a frame that is ready to run.
func (r *KeplerReady) Prepare(cfg kepler.Config, frame int) (*krun.Run, error) {
	k, err := r.Core(cfg, frame)
	if err != nil {
		return nil, err
	}
	return &krun.Run{Name: r.Job.File, Core: k, Programs: r.Programs}, nil
}

// Run runs the frames, checks, and writes pictures. The result is valid also when an
// error is returned: *krun.Error, the context's, or an *tomlfile.Error for errors in the job.
func (r *KeplerReady) Run(ctx context.Context, opt KeplerOptions) (*report.Run, error) {
	start := time.Now()
	x := &keplerRunner{ready: r, opt: opt, last: -1, kept: map[int][][]byte{}, all: map[int][]byte{}, steps: lesson.MostSteps, film: lesson.MostFilm}
	x.res = &report.Run{
		Heddle: report.Version, Input: r.Job.File, GPU: opt.Config.Name, Mode: "timing", Programs: []string{}, Kernels: []report.Kernel{}, Checks: []report.Check{},
		Conditions: opt.Config.Conditions(),
		Timing:     &report.Timing{Core: "kepler", SMs: max(1, opt.Config.Chip.SMs)},
		Kepler:     &report.Kepler{Conform: opt.Config.Level.String(), ExitCycle: map[string]uint64{}},
	}
	for _, t := range r.Job.Job.Programs {
		x.res.Programs = append(x.res.Programs, t.S)
	}
	err := x.run(ctx)
	if err != nil {
		x.res.Error = run.Failure(err, nil)
	}
	x.res.OK = err == nil && !slices.ContainsFunc(x.res.Checks, func(c report.Check) bool { return !c.OK })
	x.res.Findings = findings.Of(x.res)
	x.res.Seconds = time.Since(start).Seconds()
	return x.res, err
}

func (x *keplerRunner) run(ctx context.Context) error {
	r := x.ready
	x.opt.Timing = true
	if err := x.opt.Refused(run.KeplerJob); err != nil {
		return &tomlfile.Error{File: r.Job.File, Msg: err.Error(), Err: err}
	}
	for _, d := range x.opt.Dumps {
		if r.Job.buffer(d.Buffer) == nil {
			return &tomlfile.Error{File: r.Job.File, Msg: fmt.Sprintf("dump: unknown buffer %q%s", d.Buffer, near.Suggest(d.Buffer, r.Job.BufferNames(), "buffers"))}
		}
	}
	frames := r.Selected(x.opt.Select)
	x.res.LeftOut = r.Job.Frames - len(frames)
	if len(frames) == 0 {
		return nil
	}
	x.last = frames[len(frames)-1]
	for _, f := range frames {
		if err := x.frame(ctx, f); err != nil {
			return err
		}
	}
	if err := x.sums(); err != nil {
		return err
	}
	return x.pictures(frames)
}

// prepare sets up a frame and its observers.
func (x *keplerRunner) prepare(f int) (*krun.Run, error) {
	core, err := x.ready.Prepare(x.opt.Config, f)
	if err != nil {
		return nil, err
	}
	if x.opt.MaxInsts > 0 {
		core.Limit = x.opt.MaxInsts - x.res.Cycles
	}
	core.Timeline, core.Series, core.From = x.opt.Timeline, x.opt.Series, x.res.Cycles
	core.Progress = func(cycle uint64) {
		if x.opt.Progress != nil {
			done := float64(len(x.res.Kernels))
			if x.res.Cycles > 0 { // this frame takes as long as those before on average
				done += min(1, float64(cycle)/float64(x.res.Cycles)*done)
			}
			x.opt.Progress(run.Progress{
				Input: x.res.Input, GPU: x.res.GPU, Each: "frame", Launch: f, Launches: x.ready.Job.Frames, Kernel: x.ready.name(),
				Share: done / float64(x.ready.Job.Frames-x.res.LeftOut), WarpInsts: x.res.WarpInstructions + core.Core.Stats().Executed, Cycles: x.res.Cycles + cycle,
			})
		}
	}
	return core, nil
}

// frame runs one frame and processes its final state.
func (x *keplerRunner) frame(ctx context.Context, f int) error {
	if x.opt.MaxInsts > 0 && x.res.Cycles >= x.opt.MaxInsts {
		return &exec.LimitError{Limit: x.opt.MaxInsts, What: "cycles"}
	}
	var core *krun.Run
	prepare := func() (*krun.Run, error) { return x.prepare(f) }
	var err error
	if x.opt.Walk != nil {
		if core, err = x.opt.Walk(prepare); err == nil && core.Err() != nil {
			err = core.Err()
		}
	} else if core, err = prepare(); err == nil {
		core.Progress(0)
		x.learn(core, f)
		err = core.Do(ctx)
		x.learned(core, err == nil)
	}
	if core == nil {
		return err
	}
	k := core.Core
	rk := core.Kernel(x.ready.name())
	rk.Launch = f
	rk.StartCycle += x.res.Cycles
	rk.EndCycle += x.res.Cycles
	rk.FirstBlockCycle += x.res.Cycles
	x.res.Kernels = append(x.res.Kernels, rk)
	x.res.Cycles += k.Counted()
	x.res.WarpInstructions += rk.WarpInstructions
	x.res.ThreadInstructions += rk.ThreadInstructions
	x.res.Kepler.Add(core.Counters())
	core.AddMemory(&x.res.Timing.Memory)
	if x.opt.Frame != nil {
		x.opt.Frame(core, f)
	}
	if err != nil {
		return err
	}
	x.filmed(k, f)
	for i, m := range x.ready.Job.Images {
		if m.GIF.S != "" || f == m.still(x.last) {
			x.kept[i] = append(x.kept[i], x.ready.Bytes(k, m.Buffer.S)[:m.bytes()])
		}
	}
	for i, c := range x.ready.Job.Checks {
		switch {
		case c.Level.S != "" && c.Level.S != k.Level().String():
		case c.Cycles > 0:
		case c.Frame == allFrames:
			x.all[i] = append(x.all[i], x.ready.Bytes(k, c.Name.S)...)
		case f == c.Frame || c.Frame == lastFrame && f == x.ready.Job.Frames-1:
			if err := x.check(k, c); err != nil {
				return err
			}
		}
	}
	if f == x.last {
		return x.dumps(k)
	}
	return nil
}

// check compares the final state of one frame.
func (x *keplerRunner) check(k *kepler.Core, c *KeplerCheck) error {
	switch {
	case c.Register >= 0:
		v := k.Register(c.Warp, c.Register)
		got := make([]byte, 4*len(c.Values))
		for i := range c.Values {
			binary.LittleEndian.PutUint32(got[4*i:], v[c.Offset+int64(i)])
		}
		rc := report.Check{Buffer: fmt.Sprintf("R%d of warp %d", c.Register, c.Warp), Against: "values"}
		c.compare(&rc, c.Type, c.Values, c.anyNaN, got, nil)
		x.res.Checks = append(x.res.Checks, rc)
	case c.Predicate >= 0:
		got := k.Predicate(c.Warp, c.Predicate)
		rc := report.Check{Buffer: fmt.Sprintf("P%d of warp %d", c.Predicate, c.Warp), Against: "lanes", Elements: kasm.Lanes}
		for l := range kasm.Lanes {
			if g, w := got>>l&1, c.Lanes>>l&1; g != w {
				if rc.Mismatches++; rc.First == nil {
					rc.First = &report.Mismatch{Index: int64(l), Got: fmt.Sprint(g), Want: fmt.Sprint(w)}
				}
			}
		}
		rc.OK = rc.Mismatches == 0
		x.res.Checks = append(x.res.Checks, rc)
	default:
		return x.buffer(c, x.ready.Bytes(k, c.Name.S))
	}
	return nil
}

// buffer compares the contents of a buffer.
func (x *keplerRunner) buffer(c *KeplerCheck, have []byte) error {
	j := x.ready.Job
	size := int64(c.Type.Size())
	rc := report.Check{Buffer: c.Name.S, Against: "values", Tolerance: c.Tolerance}
	n := int64(len(c.Values)) * size
	var want []byte
	if c.File.S != "" {
		rc.Against = c.File.S
		var err error
		if want, err = os.ReadFile(j.Path(c.File.S)); err != nil {
			return j.at(c.File.Pos, "cannot read %s: %s", j.Path(c.File.S), reason(err))
		}
		if n = int64(len(want)); n%size != 0 || n == 0 {
			return j.at(c.File.Pos, "%s has %d bytes, not a whole number of %v", j.Path(c.File.S), n, c.Type)
		}
	}
	if from := c.Offset * size; from > int64(len(have)) || n > int64(len(have))-from {
		return j.at(c.Pos, "the check compares %d elements from offset %d, but there are %d", n/size, c.Offset, int64(len(have))/size)
	}
	c.compare(&rc, c.Type, c.Values, c.anyNaN, have[c.Offset*size:][:n], want)
	x.res.Checks = append(x.res.Checks, rc)
	return nil
}

// sums runs the checks of all frames together.
func (x *keplerRunner) sums() error {
	for i, c := range x.ready.Job.Checks {
		switch {
		case c.Level.S != "" && c.Level.S != x.opt.Config.Level.String():
		case c.Cycles > 0 && x.res.LeftOut == 0:
			rc := report.Check{Buffer: "cycles", Against: "values", Elements: 1, OK: x.res.Cycles == c.Cycles}
			if !rc.OK {
				rc.Mismatches, rc.First = 1, &report.Mismatch{Got: fmt.Sprint(x.res.Cycles), Want: fmt.Sprint(c.Cycles)}
			}
			x.res.Checks = append(x.res.Checks, rc)
		case c.Frame == allFrames && x.res.LeftOut == 0:
			if err := x.buffer(c, x.all[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// pictures writes the pictures of the frames that ran. If frames are left out, ".part"
// before the extension keeps the files of the complete job.
func (x *keplerRunner) pictures(ran []int) error {
	j := x.ready.Job
	path := func(t tomlfile.Text) string {
		file := t.S
		if x.res.LeftOut > 0 {
			ext := filepath.Ext(file)
			file = strings.TrimSuffix(file, ext) + ".part" + ext
		}
		if x.opt.Pictures != "" {
			return filepath.Join(x.opt.Pictures, file)
		}
		return j.Path(file)
	}
	write := func(t tomlfile.Text, encode func(io.Writer) error) error {
		if err := create(path(t), encode); err != nil {
			return j.at(t.Pos, "cannot write %s: %s", path(t), reason(err))
		}
		x.res.Pictures = append(x.res.Pictures, path(t))
		return nil
	}
	for i, m := range j.Images {
		frames, still := x.kept[i], 0
		if m.GIF.S != "" {
			if err := write(m.GIF, func(w io.Writer) error { return m.writeGIF(w, frames) }); err != nil {
				return err
			}
			still = slices.Index(ran, m.still(x.last))
		}
		if m.PNG.S == "" || still < 0 || len(frames) == 0 {
			continue // its frame was not selected
		}
		if err := write(m.PNG, func(w io.Writer) error { return m.writePNG(w, frames[still]) }); err != nil {
			return err
		}
	}
	return nil
}

// dumps writes buffers to files.
func (x *keplerRunner) dumps(k *kepler.Core) error {
	for _, d := range x.opt.Dumps {
		b := x.ready.Bytes(k, d.Buffer)
		if err := os.WriteFile(d.File, b, 0o666); err != nil {
			return &tomlfile.Error{File: x.ready.Job.File, Msg: fmt.Sprintf("dump: cannot write %s: %s", d.File, reason(err)), Err: err}
		}
		x.res.Dumps = append(x.res.Dumps, report.Dump{Buffer: d.Buffer, File: d.File, Bytes: int64(len(b))})
	}
	return nil
}
