// Package heddle simulates GPUs. It loads CUDA kernels as PTX, runs them on any
// computer, and returns their results and instruction counts:
//
//	prog, err := heddle.Load("vecadd.ptx")
//	gpu, err := heddle.New(prog)
//	a, err := heddle.Upload(gpu, "a", []float32{1, 2, 3})
//	stats, err := gpu.Launch(ctx, "vecadd", heddle.Dim(1), heddle.Dim(32), a, uint32(3))
//	out, err := heddle.Download[float32](gpu, a, 3)
//
// Such a GPU is functional: it counts instructions, not cycles. With the option
// Machine, such as heddle.Machine("rtx-2060"), it simulates that machine cycle by
// cycle. Runs are deterministic, whatever the number of threads. The package is for
// Go programs; the command line is cmd/heddle.
package heddle

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"unsafe"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/exec/texture"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/near"
	"github.com/heddle-sim/heddle/internal/program"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/timeline"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/trace/open"
	"github.com/heddle-sim/heddle/internal/work/job"
	"github.com/heddle-sim/heddle/internal/work/tracerun"
)

// Version is Heddle's version.
const Version = report.Version

// Program is one or more PTX files, linked, or files of machine code. It is immutable: any number of GPUs
// may run it.
type Program struct {
	linked *program.Program
}

// Load reads PTX files and links them into one program, or reads SASS files
// (.sass) or cubins. Of files with device code for several GPUs it takes that for the
// GPU rtx-a6000: see LoadFor.
func Load(paths ...string) (*Program, error) { return LoadFor(RunOptions{}, paths...) }

// LoadFor is Load for a run with the given options. They matter for files with device
// code for several GPUs: fat binaries (.fatbin), and programs, libraries and objects of
// the host that hold some. Of these it takes what Code says for the machine of GPU and
// Settings: "sass", the machine code for that GPU or for the highest earlier one of its
// generation; "ptx"; or "auto", machine code if there is some and the core model obeys
// its control bits, otherwise PTX, and machine code if there is no PTX.
func LoadFor(o RunOptions, paths ...string) (*Program, error) {
	sources := make([]program.Source, len(paths))
	for i, p := range paths {
		text, err := job.ReadFile(p)
		if err != nil {
			return nil, err
		}
		sources[i] = program.Source{Name: p, Text: text}
	}
	return load(o, sources)
}

// Source is the text of a PTX or SASS file (.sass) and its name in messages.
type Source struct{ Name, Text string }

// LoadSource links PTX texts, or combines SASS texts, into one program.
func LoadSource(sources ...Source) (*Program, error) {
	list := make([]program.Source, len(sources))
	for i, src := range sources {
		list[i] = program.Source{Name: src.Name, Text: []byte(src.Text)}
	}
	return load(RunOptions{}, list)
}

func load(o RunOptions, sources []program.Source) (*Program, error) {
	p, _, err := job.Choose(cmp.Or(o.GPU, run.DefaultGPU), o, sources...)
	if err != nil {
		return nil, err
	}
	return &Program{p}, nil
}

// Kernels lists the names of the program's kernels in source order.
func (p *Program) Kernels() []string {
	var names []string
	for _, k := range p.linked.Kernels() {
		names = append(names, k.Name())
	}
	return names
}

// Unusable says why a kernel cannot run, or returns nil if it can.
func (p *Program) Unusable(kernel string) error {
	k, err := p.kernel(kernel)
	if err != nil {
		return err
	}
	return errors.Join(k.Unusable()...)
}

func (p *Program) kernel(name string) (exec.Kernel, error) {
	k, ok := p.linked.Kernel(name)
	if ok {
		return k, program.ParseBody(k)
	}
	if n := near.Name(name, p.Kernels()); n != "" {
		return nil, fmt.Errorf("heddle: unknown kernel %q; did you mean %q?", name, n)
	}
	return nil, fmt.Errorf("heddle: unknown kernel %q; the program has %q", name, p.Kernels())
}

// Dim3 is an extent in blocks or threads.
type Dim3 struct{ X, Y, Z uint32 }

// Dim returns an extent of one to three numbers; missing ones are 1.
func Dim(xyz ...uint32) Dim3 {
	d := Dim3{1, 1, 1}
	for i, n := range xyz {
		switch i {
		case 0:
			d.X = n
		case 1:
			d.Y = n
		case 2:
			d.Z = n
		default:
			panic("heddle.Dim: more than three dimensions")
		}
	}
	return d
}

// Ptr is an address in device memory.
type Ptr uint64

// Add returns the address n bytes further.
func (p Ptr) Add(n int) Ptr { return p + Ptr(n) }

// GPU is a simulated machine with a program and its own memory. It is not safe for
// concurrent use.
type GPU struct {
	prog    *Program
	mem     *device.Memory
	machine *program.Machine
	ses     *run.Session
	opt     options
	count   int   // of launches
	streams int64 // of NewStream
	failed  error // of the first launch that did not complete
}

type options struct {
	run.Options
	bad error // error of the first invalid setting
}

// Option is a setting of New.
type Option func(*options)

// Threads sets the number of worker goroutines; the default is one per core. It
// does not affect results.
func Threads(n int) Option { return func(o *options) { o.Threads = n } }

// MaxInstructions ends all launches together after n warp instructions, with a
// *LimitError.
func MaxInstructions(n uint64) Option { return func(o *options) { o.MaxInsts = n } }

// Output sets the writer for printf in kernels; the default discards its output.
func Output(w io.Writer) Option { return func(o *options) { o.Out = w } }

// MemoryLimit bounds the device memory that may be allocated, in bytes.
func MemoryLimit(n uint64) Option { return func(o *options) { o.Settings.Memory = n } }

// HeapSize sets the size of the heap for malloc in kernels, in bytes.
func HeapSize(n uint64) Option { return func(o *options) { o.Settings.Heap = n } }

// Machine makes launches count cycles on a machine: the name of a built-in GPU, a
// TOML file, or a gpgpusim.config. MaxInstructions then bounds the cycles.
func Machine(nameOrFile string) Option {
	return func(o *options) { o.GPU, o.Timing = nameOrFile, true }
}

// With sets all options of a run, such as observers; see RunOptions. Give it before
// other options, which change single settings of it. New refuses the options that
// only jobs and traces have: Select, Dumps and Listing.
func With(r RunOptions) Option { return func(o *options) { o.Options = r } }

// Set changes one value of the machine, of the conditions of the run or of a
// functional run: "run.launch_latency=0", "functional.memory=1GiB". Without Machine
// those of the first two kinds have no effect, and each is checked only by itself,
// since contradictions depend on the machine.
func Set(assignment string) Option {
	return func(o *options) {
		if err := o.Settings.Set(assignment); err != nil && o.bad == nil {
			o.bad = fmt.Errorf("heddle: %w", err)
		}
	}
}

// New returns a GPU with the program's variables in its memory.
func New(p *Program, opts ...Option) (*GPU, error) {
	g := &GPU{prog: p}
	for _, o := range opts {
		o(&g.opt)
	}
	if g.opt.bad != nil {
		return nil, g.opt.bad
	}
	if err := g.opt.fit(); err != nil {
		return nil, err
	}
	g.ses = run.NewSession(run.Library, os.Args[0], g.opt.Options)
	g.ses.Most, g.ses.Detailed = mostListed, mostDetailed
	dc := device.Config{Limit: g.opt.Settings.Memory, Heap: g.opt.Settings.Heap}
	if err := g.plugIn(); err != nil {
		return nil, fmt.Errorf("heddle: %w", err)
	}
	if g.ses.Chip != nil {
		dc.Packed = g.ses.Chip.Config().Compat.PackedMemory
	}
	g.mem = device.New(dc)
	m, err := program.NewMachine(p.linked, g.mem)
	if err != nil {
		return nil, err
	}
	g.machine = m
	m.Warn(exec.OncePerLine(g.opt.Warn))
	if g.ses.Chip != nil {
		g.ses.Look(&run.Inside{Memory: g.mem})
	}
	return g, nil
}

// Bounds of a result (our choice), since programs may launch any number of kernels.
// Launches beyond them count in its totals.
const (
	mostListed   = 10000 // launches
	mostDetailed = 100   // launches with their instructions
)

// plugIn creates the machine, if there is one.
func (g *GPU) plugIn() error {
	if !g.opt.Timing {
		return g.ses.OnlyCompute()
	}
	name := cmp.Or(g.opt.GPU, run.DefaultGPU)
	cfg, err := g.opt.Settings.Machine(name)
	if err != nil {
		return err
	}
	if err := g.ses.PlugIn(name, cfg); err != nil {
		return err
	}
	return g.ses.Begin()
}

// Result returns the result of all launches so far: everything that heddle run
// prints and writes as JSON, including the first error that ended a launch. The
// outputs of observers are complete up to now.
func (g *GPU) Result() (*JobResult, error) {
	res, err := g.ses.End(nil)
	if g.failed != nil {
		res.Error, res.OK = run.Failure(g.failed, nil), false
	}
	return res, err
}

// Alloc reserves size bytes of zeroed device memory. Fault messages use the name.
func (g *GPU) Alloc(size int, name string) (Ptr, error) {
	if size < 0 {
		return 0, fmt.Errorf("heddle: cannot allocate %d bytes for %q", size, name)
	}
	addr, err := g.mem.Alloc(uint64(size), name)
	return Ptr(addr), err
}

// Free releases an allocation; later accesses to it are faults. What streams were given
// happens before, as with Sync. Its error is Free's too; the allocation is released all
// the same.
func (g *GPU) Free(p Ptr) error {
	return errors.Join(g.Sync(context.Background()), g.mem.Free(uint64(p)))
}

// Read copies device memory into b.
func (g *GPU) Read(p Ptr, b []byte) error {
	return g.copy(gpu.ToHost, p, len(b), func() error { return g.mem.Read(uint64(p), b) })
}

// Write copies b into device memory.
func (g *GPU) Write(p Ptr, b []byte) error {
	return g.copy(gpu.ToDevice, p, len(b), func() error { return g.mem.Write(uint64(p), b) })
}

// copy moves n bytes to or from device memory, taking simulated time if copies are
// timed.
func (g *GPU) copy(way gpu.CopyWay, p Ptr, n int, move func() error) error {
	if g.ses.Chip == nil {
		return move()
	}
	if err := g.ses.Do(copyOp(way, p, n, move), ""); err != nil {
		return err
	}
	return g.finish(context.Background())
}

// copyOp returns a copy of n bytes as an action of the machine.
func copyOp(way gpu.CopyWay, p Ptr, n int, move func() error) *gpu.Op {
	op := &gpu.Op{Kind: gpu.OpCopy, Way: way, Bytes: uint64(n), Copy: move}
	if r := []gpu.Range{{Addr: uint64(p), Bytes: uint64(n)}}; way == gpu.ToHost {
		op.ToHost = r
	} else {
		op.Fills = r
	}
	return op
}

// Symbol returns the address and the size in bytes of a constant or global
// variable of the program.
func (g *GPU) Symbol(name string) (p Ptr, size int, err error) {
	s, ok := g.machine.Symbol(name)
	if !ok {
		return 0, 0, fmt.Errorf("heddle: the program has no variable %q in constant or global memory", name)
	}
	return Ptr(s.Addr), int(s.Size), nil
}

// Element is a type that has the same bytes on the host and on the device.
type Element interface {
	~uint8 | ~int8 | ~uint16 | ~int16 | ~uint32 | ~int32 | ~uint64 | ~int64 | ~float32 | ~float64
}

// Upload allocates device memory and fills it with data.
func Upload[T Element](g *GPU, name string, data []T) (Ptr, error) {
	p, err := g.Alloc(len(data)*elementSize[T](), name)
	if err != nil {
		return 0, err
	}
	return p, Store(g, p, data)
}

// Store copies data to device memory, little endian as the device has it.
func Store[T Element](g *GPU, p Ptr, data []T) error {
	b, err := binary.Append(make([]byte, 0, len(data)*elementSize[T]()), binary.LittleEndian, data)
	if err != nil {
		return err
	}
	return g.Write(p, b)
}

// Download copies n elements from device memory.
func Download[T Element](g *GPU, p Ptr, n int) ([]T, error) {
	if n < 0 {
		return nil, fmt.Errorf("heddle: cannot download %d elements", n)
	}
	size := uint64(elementSize[T]())
	if uint64(n) > math.MaxInt64/size {
		return nil, fmt.Errorf("heddle: cannot download %d elements", n)
	}
	var b []byte
	if err := g.copy(gpu.ToHost, p, n*int(size), func() (err error) {
		b, err = g.mem.Bytes(uint64(p), uint64(n)*size)
		return err
	}); err != nil {
		return nil, err
	}
	data := make([]T, n)
	if _, err := binary.Decode(b, binary.LittleEndian, data); err != nil {
		return nil, err
	}
	return data, nil
}

func elementSize[T Element]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}

// Texture describes an image in device memory.
type Texture struct {
	Addr                 Ptr
	Format               string    // element type: u8 s8 u16 s16 f16 u32 s32 f32
	Channels             int       // 1, 2 or 4
	Width, Height, Depth int       // texels; Height and Depth are 0 if the image has fewer dimensions
	Pitch                int       // bytes from row to row; 0: rows without gaps
	Linear               bool      // interpolate
	Address              [3]string // clamp, wrap, mirror or border for each dimension; "" is clamp
	Normalized           bool      // coordinates are in [0, 1)
	ReadNormalized       bool      // integers are read as fractions

	Layers    int  // of a layered texture; 0: not layered
	Cube      bool // six square faces, in every layer if it has layers
	Levels    int  // mipmap levels, one after the other in memory; 0 and 1: one
	MipLinear bool // blend the two nearest levels
	Samples   int  // samples of a texel; 0 and 1: one
}

func (t Texture) internal() texture.Texture {
	return texture.Texture{
		Addr: uint64(t.Addr), Format: t.Format, Channels: t.Channels, Width: t.Width, Height: t.Height, Depth: t.Depth,
		Pitch: t.Pitch, Linear: t.Linear, Address: t.Address, Normalized: t.Normalized, ReadNormalized: t.ReadNormalized,
		Layers: t.Layers, Cube: t.Cube, Levels: t.Levels, MipLinear: t.MipLinear, Samples: t.Samples,
	}
}

// BindTexture binds an image to the program's .texref or .surfref of that name. What
// streams were given happens before, as with Sync. Its error is BindTexture's too; the
// image is bound all the same.
func (g *GPU) BindTexture(name string, t Texture) error {
	return errors.Join(g.Sync(context.Background()), g.machine.BindTexture(name, t.internal()))
}

// TextureObject returns a texture object, which kernels take as a 64-bit parameter.
func (g *GPU) TextureObject(t Texture) (uint64, error) {
	return g.machine.TextureObject(t.internal())
}

// Stats are the counters of a launch.
type Stats struct {
	Blocks             uint64 // completed blocks
	WarpInstructions   uint64 // instructions issued, once per warp
	ThreadInstructions uint64 // the same, once per active lane whose guard was true
	Cycles             uint64 // from the launch to its end; 0 without Machine
}

// The errors of launches, for errors.As.
type (
	// Fault is an illegal operation of an instruction, with its location.
	Fault = exec.Fault
	// Warning is an error of a kernel that a GPU tolerates: see JobOptions.
	Warning = exec.Warning
	// LimitError ends a run that reached its instruction limit.
	LimitError = exec.LimitError
	// StuckError ends a run in which no warp can continue.
	StuckError = exec.StuckError
	// LaunchError is a launch that does not fit the kernel or the machine.
	LaunchError = exec.LaunchError
)

// LaunchConfig has all settings of a launch.
type LaunchConfig struct {
	Grid, Block Dim3
	Shared      int  // dynamic shared memory, bytes
	Cooperative bool // blocks may wait for each other
}

// Launch runs a kernel to its end. An argument is a Ptr, a number of the
// parameter's size, an int, which is converted to the size of the parameter, a
// bool for a byte, or []byte for a parameter passed by value. Stats are filled even
// when an error ends the launch. Such a launch has no further effect: the next one
// finds memory as it was then, and an idle machine with empty caches.
func (g *GPU) Launch(ctx context.Context, kernel string, grid, block Dim3, args ...any) (Stats, error) {
	return g.LaunchWith(ctx, kernel, LaunchConfig{Grid: grid, Block: block}, args...)
}

// LaunchWith is Launch with more settings.
func (g *GPU) LaunchWith(ctx context.Context, kernel string, c LaunchConfig, args ...any) (Stats, error) {
	l, about, err := g.prepare(kernel, c, args)
	if err != nil {
		return Stats{}, err
	}
	if g.ses.Chip != nil {
		return g.timed(ctx, l, about)
	}
	return g.compute(ctx, l, about)
}

// prepare returns a launch with the caller's settings, and its description for
// results.
func (g *GPU) prepare(kernel string, c LaunchConfig, args []any) (l exec.Launch, about *run.Launch, err error) {
	k, err := g.prog.kernel(kernel)
	if err != nil {
		return l, nil, err
	}
	params, err := parameterBlock(k, args)
	if err != nil {
		return l, nil, &LaunchError{Kernel: kernel, Msg: err.Error()}
	}
	l = exec.Launch{
		Kernel: k, Grid: exec.Dim3(c.Grid), Block: exec.Dim3(c.Block), Shared: c.Shared, Params: params, Cooperative: c.Cooperative,
	}
	about = &run.Launch{Number: g.count, Grid: run.Extent(l.Grid), Block: run.Extent(l.Block), LocalBytes: k.LocalBytes(), Estimated: k.RegistersEstimated(), Code: string(program.CodeOf(k))}
	return l, about, nil
}

// compute runs a kernel functionally.
func (g *GPU) compute(ctx context.Context, l exec.Launch, about *run.Launch) (Stats, error) {
	k := l.Kernel
	res, err := g.machine.Run(ctx, l, exec.Options{Threads: g.opt.Threads, MaxInsts: g.opt.MaxInsts, Out: g.opt.Out, Progress: g.progress(k.Name())})
	if !g.accepted(err) {
		return Stats{}, err
	}
	g.ses.List(report.Kernel{
		Name: k.Name(), Launch: about.Number, Code: about.Code, Grid: about.Grid, Block: about.Block,
		Registers: k.Registers(), SharedBytes: k.StaticShared() + l.Shared, LocalBytes: about.LocalBytes,
		Blocks: res.Blocks, WarpInstructions: res.WarpInsts, ThreadInstructions: res.ThreadInsts,
	})
	return Stats{Blocks: res.Blocks, WarpInstructions: res.WarpInsts, ThreadInstructions: res.ThreadInsts}, err
}

// accepted records how a launch ended, and counts it unless it was refused.
func (g *GPU) accepted(err error) bool {
	var refused *LaunchError
	if errors.As(err, &refused) {
		return false
	}
	g.count++
	g.failed = cmp.Or(g.failed, err)
	return true
}

// timed runs a kernel cycle by cycle.
func (g *GPU) timed(ctx context.Context, l exec.Launch, about *run.Launch) (Stats, error) {
	op := g.launchOp(l)
	if err := g.ses.Launch(about, op); err != nil {
		return Stats{}, err
	}
	err := g.finish(ctx)
	g.accepted(err)
	return statsOf(op.Kernel), err
}

// statsOf returns the counters of a launch so far.
func statsOf(k *gpu.Kernel) Stats { return Stats{k.Blocks, k.WarpInsts, k.ThreadInsts, k.Cycles()} }

// launchOp returns a launch as an action of the machine.
func (g *GPU) launchOp(l exec.Launch) *gpu.Op {
	l.TakenFirst = g.ses.Chip.Config().Compat.TakenFirst
	return &gpu.Op{
		Kind: gpu.OpLaunch,
		Make: func(rehearsal bool) (exec.Work, error) {
			l.Rehearsal = rehearsal
			return g.machine.NewWork(l, g.opt.Out)
		},
		Save: g.mem.Save,
	}
}

// parameterBlock lays arguments out as the kernel's parameters.
func parameterBlock(k exec.Kernel, args []any) ([]byte, error) {
	params := k.Params()
	if len(args) != len(params) {
		return nil, fmt.Errorf("the kernel takes %d arguments, not %d", len(params), len(args))
	}
	block := make([]byte, k.ParamBytes())
	for i, a := range args {
		p := params[i]
		b, err := argumentBytes(a, p.Size)
		if err != nil {
			return nil, fmt.Errorf("argument %d (%s): %w", i+1, p.Name, err)
		}
		if len(b) != p.Size {
			return nil, fmt.Errorf("argument %d (%s) has %d bytes, the parameter (.%s) has %d", i+1, p.Name, len(b), p.Type, p.Size)
		}
		copy(block[p.Offset:], b)
	}
	return block, nil
}

// argumentBytes returns an argument's bytes; size is the parameter's.
func argumentBytes(a any, size int) ([]byte, error) {
	v := reflect.ValueOf(a)
	switch v.Kind() {
	case reflect.Int, reflect.Uint, reflect.Uintptr:
		if size != 1 && size != 2 && size != 4 && size != 8 {
			return nil, fmt.Errorf("cannot pass an integer as %d bytes", size)
		}
		var bits uint64
		fits := true
		if v.CanInt() {
			n := v.Int()
			bits = uint64(n)
			fits = size == 8 || n >= -(1<<(8*size-1)) && n < 1<<(8*size)
		} else {
			bits = v.Uint()
			fits = size == 8 || bits < 1<<(8*size)
		}
		if !fits {
			return nil, fmt.Errorf("%v does not fit %d bytes", a, size)
		}
		return binary.LittleEndian.AppendUint64(nil, bits)[:size], nil
	case reflect.Slice:
		if b, ok := a.([]byte); ok {
			return b, nil
		}
	case reflect.Bool, reflect.Int8, reflect.Uint8, reflect.Int16, reflect.Uint16, reflect.Int32, reflect.Uint32,
		reflect.Int64, reflect.Uint64, reflect.Float32, reflect.Float64:
		return binary.Append(nil, binary.LittleEndian, a)
	}
	return nil, fmt.Errorf("cannot pass a %T to a kernel", a)
}

// Options and results of runs.
type (
	// RunOptions are all options of a run apart from its work: the same for GPU
	// (see With), jobs and traces.
	RunOptions = run.Options
	// Series asks for counters over time.
	Series = run.Series
	// Timeline records every instruction's way through the pipeline; see
	// NewTimeline.
	Timeline = timeline.Recorder
	// JobResult is the result of a job.
	JobResult = report.Run
	// JobOptions are the settings of RunJob; the zero value suits most jobs.
	JobOptions = job.Options
	// JobDump asks for a file with a buffer's bytes.
	JobDump = job.Dump
	// JobProgress is the progress of a job.
	JobProgress = run.Progress
	// JobSelection selects launches of a job.
	JobSelection = run.Selection
)

// NewTimeline returns an empty timeline with room for a million warp instructions.
func NewTimeline() *Timeline { return timeline.New(0) }

// SelectLaunches reads a list of launches such as "0,2-4,/^bfs/".
func SelectLaunches(list string) (*JobSelection, error) { return run.ParseSelection(list) }

// RunJob runs a job file. The run is functional unless the options ask for Timing;
// jobs of the Kepler-style core always count cycles. If an error ends the run, the
// result has everything up to it; without an error, its OK says whether all checks
// passed. The result is nil if the job could not be loaded.
func RunJob(ctx context.Context, path string, opt JobOptions) (*JobResult, error) {
	if job.IsKepler(path) {
		return runKeplerJob(ctx, path, opt)
	}
	ready, err := job.Load(path, opt)
	if err != nil {
		return nil, err
	}
	return ready.Run(ctx, opt)
}

// runKeplerJob runs a job file of the Kepler-style core.
func runKeplerJob(ctx context.Context, path string, opt JobOptions) (*JobResult, error) {
	ready, err := job.LoadKepler(path)
	if err != nil {
		return nil, err
	}
	cfg, err := ready.Config(opt.GPU)
	if err != nil {
		return nil, err
	}
	return ready.Run(ctx, job.KeplerOptions{Options: opt, Config: cfg})
}

// TraceOptions are the settings of RunTrace; the zero value suits most traces.
type TraceOptions = tracerun.Options

// RunTrace replays a recorded run: a folder of Accel-Sim's tracer, its list, one
// launch, a .heddle-trace, or a folder with dynamic_trace.pb. It counts cycles. If
// an error ends the run, the result has everything up to it; it is nil if the trace
// could not be opened.
func RunTrace(ctx context.Context, path string, opt TraceOptions) (*JobResult, error) {
	set, err := open.Open(path)
	if err != nil {
		return nil, err
	}
	return tracerun.Run(ctx, set, opt)
}
