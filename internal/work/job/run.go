package job

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/exec/texture"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/near"
	xprog "github.com/heddle-sim/heddle/internal/program"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/tomlfile"
)

// runner is the state of one run.
type runner struct {
	ready    *Ready
	job      *Job
	opt      Options
	mem      *device.Memory
	machine  *xprog.Machine
	addr     map[string]uint64 // of buffers
	textures map[string]uint64 // texture objects made so far
	ses      *run.Session
	moves    map[*Step]*move // copies and fills
}

// Run runs the job. The result is valid also when an error is returned: *exec.Fault,
// *exec.LimitError, *exec.StuckError, a context's error, or an *tomlfile.Error for errors in the
// job. A result without an error may still have failed checks: see its OK.
//
// If the options choose other device code than those that the job was opened for, it is opened
// again.
func (r *Ready) Run(ctx context.Context, opt Options) (*report.Run, error) {
	j := r.Job
	if r.target.SM > 0 {
		t, err := TargetOf(j.Machine(opt), opt)
		if err == nil && !t.same(r.target) {
			r, err = j.Open(opt)
		}
		if err != nil {
			return Failed(j.File, opt, err), err
		}
	}
	x := &runner{ready: r, job: j, opt: opt, addr: map[string]uint64{}, textures: map[string]uint64{}, ses: newSession(j.File, j.GPU, opt)}
	for _, p := range j.Programs {
		x.ses.Res.Programs = append(x.ses.Res.Programs, p.S)
	}
	return x.ses.End(x.run(ctx))
}

// newSession begins a run of a job that names a machine.
func newSession(input, gpu string, opt Options) *run.Session {
	opt.GPU = cmp.Or(opt.GPU, gpu)
	return run.NewSession(run.Job, input, opt)
}

// Failed returns the result of a job that could not be loaded.
func Failed(input string, opt Options, err error) *report.Run {
	res, _ := newSession(input, "", opt).End(err)
	return res
}

func (x *runner) run(ctx context.Context) error {
	if err := x.setup(); err != nil {
		return err
	}
	steps := x.steps
	if x.opt.Timing {
		steps = x.stepsTimed
	}
	err := steps(ctx)
	if err == nil {
		for _, c := range x.job.Checks {
			rc, cerr := x.check(c)
			if cerr != nil {
				return cerr
			}
			x.ses.Res.Checks = append(x.ses.Res.Checks, rc)
		}
	}
	return errors.Join(err, x.dumps())
}

// setup allocates and fills everything that exists before the first step.
func (x *runner) setup() error {
	j := x.job
	dc := device.Config{Limit: x.opt.Settings.Memory, Heap: x.opt.Settings.Heap, File: x.opt.MemoryFile}
	if x.opt.Timing {
		if err := x.plugIn(); err != nil {
			return &tomlfile.Error{File: j.File, Msg: err.Error(), Err: err}
		}
		dc.Packed = x.ses.Chip.Config().Compat.PackedMemory
	} else if err := x.ses.OnlyCompute(); err != nil {
		return &tomlfile.Error{File: j.File, Msg: err.Error(), Err: err}
	}
	x.mem = device.New(dc)
	for _, d := range x.opt.Dumps {
		if j.buffer(d.Buffer) == nil {
			return &tomlfile.Error{File: j.File, Msg: fmt.Sprintf("dump: unknown buffer %q%s", d.Buffer, near.Suggest(d.Buffer, j.BufferNames(), "buffers"))}
		}
	}
	selected := 0
	for _, s := range j.Steps {
		if s.Kind == StepLaunch {
			x.ses.Launches++
			if x.opt.Select.Has(s.Number, x.ready.kernels[s.Launch].Name()) {
				selected++
				x.ses.Weight += s.Launch.threads()
			}
		}
	}
	if x.ses.Launches > 0 && selected == 0 {
		return &tomlfile.Error{File: j.File, Msg: fmt.Sprintf("the selection %s matches none of the job's %s (0 to %d)",
			x.opt.Select, report.Plural(x.ses.Launches, "launch", "launches"), x.ses.Launches-1)}
	}
	for _, d := range j.Buffers {
		addr, err := x.mem.Alloc(uint64(d.Count)*uint64(d.Type.Size()), d.Name)
		if err != nil {
			return j.at(d.CountPos, "%v; make count smaller or functional.memory larger", err)
		}
		x.addr[d.Name] = addr
	}
	for _, d := range j.Buffers {
		if err := x.fill(d, x.addr[d.Name]); err != nil {
			return err
		}
	}
	if x.opt.Timing {
		x.filled()
	}
	machine, err := xprog.NewMachine(x.ready.Program, x.mem)
	if err != nil {
		return &tomlfile.Error{File: j.File, Msg: fmt.Sprintf("cannot place the program's variables: %v", err), Err: err}
	}
	x.machine = machine
	machine.Warn(exec.OncePerLine(x.opt.Warn))
	for _, d := range j.Symbols {
		if err := x.symbol(d); err != nil {
			return err
		}
	}
	x.moves = map[*Step]*move{}
	for _, s := range j.Steps {
		if s.Copy != nil {
			m, err := x.plan(s.Copy)
			if err != nil {
				return err
			}
			x.moves[s] = m
		}
	}
	return x.bindTextures()
}

// fill initialises memory.
func (x *runner) fill(d *Data, addr uint64) error {
	if d.Init == InitZero {
		return nil
	}
	b, err := x.mem.Bytes(addr, uint64(d.Count)*uint64(d.Type.Size()))
	if err != nil {
		return x.job.at(d.Pos, "%v", err)
	}
	switch d.Init {
	case InitIota:
		d.Type.fillIota(b)
	case InitRandom:
		d.Type.fillRandom(b, d.Seed, d.Range)
	case InitValues:
		for i, v := range d.Values {
			d.Type.put(b[i*d.Type.Size():], v)
		}
	case InitFile:
		return x.readFile(d.File, b)
	}
	return nil
}

// readFile fills b from the start of a file.
func (x *runner) readFile(t tomlfile.Text, b []byte) error {
	path := x.job.Path(t.S)
	f, err := os.Open(path)
	if err != nil {
		return x.job.at(t.Pos, "cannot read %s: %s", path, reason(err))
	}
	defer f.Close()
	if _, err := io.ReadFull(f, b); err != nil {
		return x.job.at(t.Pos, "cannot read %d bytes of %s: %s", len(b), path, reason(err))
	}
	return nil
}

// find returns a variable of the program.
func (x *runner) find(name string, pos isa.Pos) (xptx.Symbol, error) {
	s, ok := x.machine.Symbol(name)
	if !ok {
		return s, x.job.at(pos, "the program has no variable %q in constant or global memory%s", name, near.Suggest(name, x.machine.Symbols(), "variables"))
	}
	return s, nil
}

// symbol sets a variable of the program.
func (x *runner) symbol(d *Data) error {
	s, err := x.find(d.Name, d.Pos)
	if err != nil {
		return err
	}
	size := uint64(d.Type.Size())
	if d.Count == 0 {
		d.Count = int64(s.Size / size)
	}
	if n := uint64(d.Count) * size; n > s.Size {
		return x.job.at(d.CountPos, "%q is set to %d bytes, but the program's variable has %d", d.Name, n, s.Size)
	}
	if d.Init == InitZero {
		b, err := x.mem.Bytes(s.Addr, uint64(d.Count)*size)
		if err != nil {
			return x.job.at(d.Pos, "%v", err)
		}
		clear(b)
	}
	return x.fill(d, s.Addr)
}

// bindTextures binds each texture to the reference with its name, and makes objects for
// those that are arguments of launches.
func (x *runner) bindTextures() error {
	refs := x.ready.Program.References()
	objects := map[string]bool{}
	for _, s := range x.job.Steps {
		if s.Kind == StepLaunch {
			for _, a := range s.Launch.Args {
				if a.Kind == ArgTexture {
					objects[a.Name] = true
				}
			}
		}
	}
	for _, t := range x.job.Textures {
		tex := texture.Texture{
			Addr: x.addr[t.Buffer.S], Format: t.Format, Channels: t.Channels,
			Width: int(t.Width), Height: int(t.Height), Depth: int(t.Depth), Linear: t.Linear,
			Address: t.Address, Normalized: t.Normalized, ReadNormalized: t.ReadNormalized,
			Pitch: int(t.Pitch), Layers: int(t.Layers), Levels: int(t.Levels), Samples: int(t.Samples), Cube: t.Cube, MipLinear: t.MipLinear,
		}
		if slices.Contains(refs, t.Name) {
			if err := x.machine.BindTexture(t.Name, tex); err != nil {
				return x.job.at(t.Pos, "texture %q: %v", t.Name, err)
			}
		}
		if objects[t.Name] {
			handle, err := x.machine.TextureObject(tex)
			if err != nil {
				return x.job.at(t.Pos, "texture %q: %v", t.Name, err)
			}
			x.textures[t.Name] = handle
		}
	}
	return nil
}

// steps runs the steps in order.
func (x *runner) steps(ctx context.Context) error {
	for _, s := range x.job.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		rs := report.Step{Step: s.Index, Kind: s.Kind.String(), Stream: s.Stream, Event: s.Event.S}
		x.tell(s)
		switch s.Kind {
		case StepLaunch:
			if !x.opt.Select.Has(s.Number, x.ready.kernels[s.Launch].Name()) {
				x.ses.Res.LeftOut++
				continue
			}
			rs.Launch = &s.Number
			if err := x.launch(ctx, s); err != nil {
				return err
			}
		case StepCopy, StepFill:
			m := x.moves[s]
			m.describe(&rs)
			if err := x.copy(m); err != nil {
				return err
			}
		}
		if x.job.stepsGiven {
			x.ses.Res.Steps = append(x.ses.Res.Steps, rs)
		}
	}
	return nil
}

// prepare lays out a launch's arguments.
func (x *runner) prepare(s *Step) (exec.Launch, error) {
	l, k := s.Launch, x.ready.kernels[s.Launch]
	params := make([]byte, k.ParamBytes())
	for i, a := range l.Args {
		p := k.Params()[i]
		at := params[p.Offset:]
		switch a.Kind {
		case ArgBytes:
			copy(at[:p.Size], a.Bytes)
		case ArgBuffer:
			addr := x.addr[a.Name] + uint64(a.Offset)
			if p.Size == 4 {
				if addr > math.MaxUint32 {
					return exec.Launch{}, x.job.at(a.Pos, "buffer %q is at 0x%x, outside of the 32-bit address space of this program", a.Name, addr)
				}
				binary.LittleEndian.PutUint32(at, uint32(addr))
			} else {
				binary.LittleEndian.PutUint64(at, addr)
			}
		case ArgTexture:
			binary.LittleEndian.PutUint64(at, x.textures[a.Name])
		}
	}
	dim := func(d [3]int64) exec.Dim3 { return exec.Dim3{X: uint32(d[0]), Y: uint32(d[1]), Z: uint32(d[2])} }
	return exec.Launch{Kernel: k, Grid: dim(l.Grid), Block: dim(l.Block), Cluster: dim(l.Cluster), Shared: int(l.Shared), Params: params, Cooperative: l.Coop}, nil
}

// launch runs one kernel to completion.
func (x *runner) launch(ctx context.Context, s *Step) error {
	l, k := s.Launch, x.ready.kernels[s.Launch]
	pl, err := x.prepare(s)
	if err != nil {
		return err
	}
	pl.Order = x.opt.Order
	x.ses.Watch(&pl, s.Number, s.Stream, nil)
	o := exec.Options{Threads: x.opt.Threads, MaxInsts: x.opt.MaxInsts, Out: x.opt.Out}
	if x.opt.Progress != nil {
		before := x.ses.Res.WarpInstructions
		o.Progress = func(blocks, total, warpInsts uint64) {
			x.ses.Show(run.Progress{Launch: s.Number, Kernel: k.Name(), Blocks: blocks, Total: total, WarpInsts: before + warpInsts}, l.threads())
		}
	}
	res, err := x.machine.Run(ctx, pl, o)
	x.ses.Passed += l.threads()
	rk := report.Kernel{
		Name: k.Name(), Launch: s.Number, Code: string(xprog.CodeOf(k)), Stream: s.Stream, Grid: l.Grid, Block: l.Block,
		Registers: k.Registers(), SharedBytes: k.StaticShared() + int(l.Shared), LocalBytes: k.LocalBytes(),
		Blocks: res.Blocks, WarpInstructions: res.WarpInsts, ThreadInstructions: res.ThreadInsts,
	}
	if l.Registers > 0 {
		rk.Registers = int(l.Registers)
	}
	var le *exec.LaunchError
	if errors.As(err, &le) {
		err = &tomlfile.Error{File: x.job.File, Pos: l.Pos, Msg: le.Error(), Err: err}
	} else {
		x.ses.List(rk)
	}
	if err != nil {
		x.ses.Res.Error = run.Failure(err, &s.Number)
	}
	return err
}

// scalar returns the job file element type of a program's variable.
func scalar(t ptx.Type) Type {
	if typ := TypeByName(string(t)); typ != NoType {
		return typ
	}
	switch t.Bytes() {
	case 1:
		return U8
	case 2:
		return U16
	case 4:
		return U32
	}
	return U64
}

// check compares memory with expected values.
func (x *runner) check(c *Check) (report.Check, error) {
	rc := report.Check{Against: "values", Tolerance: c.Tolerance}
	typ, vals, anyNaN := c.Type, c.Values, c.anyNaN
	var addr, have uint64
	if c.Symbol {
		rc.Symbol = c.Name.S
		s, err := x.find(c.Name.S, c.Name.Pos)
		if err != nil {
			return rc, err
		}
		if typ == NoType {
			typ = scalar(s.Type)
			if c.values != nil {
				p := parser{Reader: tomlfile.Reader{File: x.job.File}}
				vals, anyNaN = p.literals(c.values, typ)
				if err := p.Err(); err != nil {
					return rc, err
				}
			}
		}
		addr, have = s.Addr, s.Size
	} else {
		rc.Buffer = c.Name.S
		d := x.job.buffer(c.Name.S)
		addr, have = x.addr[d.Name], uint64(d.Count)*uint64(d.Type.Size())
	}
	size := typ.Size()
	var want []byte
	if c.File.S != "" {
		rc.Against = c.File.S
		b, err := os.ReadFile(x.job.Path(c.File.S))
		if err != nil {
			return rc, x.job.at(c.File.Pos, "cannot read %s: %s", x.job.Path(c.File.S), reason(err))
		}
		if len(b)%size != 0 {
			return rc, x.job.at(c.File.Pos, "%s has %d bytes, not a whole number of %v", x.job.Path(c.File.S), len(b), typ)
		}
		want = b
		rc.Elements = int64(len(b) / size)
	} else {
		rc.Elements = int64(len(vals))
	}
	n := uint64(rc.Elements)
	if total := have / uint64(size); n > total || uint64(c.Offset) > total-n {
		return rc, x.job.at(c.OffsetPos, "the check compares %d elements from offset %d, but %q has %d", n, c.Offset, c.Name.S, total)
	}
	got, err := x.mem.Bytes(addr+uint64(c.Offset)*uint64(size), n*uint64(size))
	if err != nil {
		return rc, x.job.at(c.Pos, "%v", err)
	}
	c.compare(&rc, typ, vals, anyNaN, got, want)
	return rc, nil
}

// compare compares elements with those of a file, or with values, and records the
// outcome.
func (c *Check) compare(rc *report.Check, typ Type, vals []uint64, anyNaN []bool, got, want []byte) {
	size := typ.Size()
	rc.Elements = int64(len(got) / size)
	for i := range int(rc.Elements) {
		var w uint64
		nan := false
		if want != nil {
			w = typ.get(want[i*size:])
		} else {
			w, nan = vals[i]&(math.MaxUint64>>(64-typ.bits())), anyNaN[i]
		}
		g := typ.get(got[i*size:])
		if typ.equal(g, w, nan, c.Tolerance) {
			continue
		}
		if rc.Mismatches++; rc.First == nil {
			rc.First = &report.Mismatch{Index: c.Offset + int64(i), Got: typ.Format(g), Want: typ.Format(w)}
		}
	}
	rc.OK = rc.Mismatches == 0
}

// dumps writes buffers to files, also after a run that ended early.
func (x *runner) dumps() error {
	if x.machine == nil {
		return nil
	}
	for _, d := range x.opt.Dumps {
		buf := x.job.buffer(d.Buffer)
		b, err := x.mem.Bytes(x.addr[d.Buffer], uint64(buf.Count)*uint64(buf.Type.Size()))
		if err == nil {
			err = os.WriteFile(d.File, b, 0o666)
		}
		if err != nil {
			return &tomlfile.Error{File: x.job.File, Msg: fmt.Sprintf("dump: cannot write %s: %s", d.File, reason(err)), Err: err}
		}
		x.ses.Res.Dumps = append(x.ses.Res.Dumps, report.Dump{Buffer: d.Buffer, File: d.File, Bytes: int64(len(b))})
	}
	return nil
}
