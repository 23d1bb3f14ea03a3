package cuda

import (
	"errors"
	"maps"
	"math"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/program"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
)

// Push stores a launch's configuration (<<< >>>) until its stub pops it.
func (t *Thread) Push(c Call) {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	t.calls = append(t.calls, c)
}

// Pop removes and returns the last configuration.
func (t *Thread) Pop() (Call, Error) {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	n := len(t.calls)
	if n == 0 {
		t.last = MissingConfiguration
		return Call{}, MissingConfiguration
	}
	c := t.calls[n-1]
	t.calls = t.calls[:n-1]
	return c, Success
}

// Configure begins a launch in the style of CUDA before 9.2: Argument follows for each
// argument, then LaunchConfigured.
func (t *Thread) Configure(c Call) {
	t.Push(c)
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	t.params = t.params[:0]
}

// Argument sets bytes of an argument of the launch that is being configured.
func (t *Thread) Argument(b []byte, offset uint64) Error {
	return t.do(func(*Runtime) Error {
		if offset > isa.MaxParams || uint64(len(b)) > isa.MaxParams-offset {
			return InvalidValue
		}
		if need := int(offset) + len(b) - len(t.params); need > 0 {
			t.params = append(t.params, make([]byte, need)...)
		}
		copy(t.params[offset:], b)
		return Success
	})
}

// LaunchConfigured runs the launch that Configure and Argument prepared.
func (t *Thread) LaunchConfigured(host uint64) Error {
	c, err := t.Pop()
	if err != Success {
		return err
	}
	return t.Launch(host, c, false, func(_, offset int, to []byte) {
		if offset < len(t.params) {
			copy(to, t.params[offset:])
		}
	})
}

// plainShared is the shared memory that a block can use without opting in to more (CUDA
// programming guide, compute capabilities 3.0 to 12.x).
const plainShared = 48 << 10

// Launch runs a kernel, or enqueues it in a stream. arg copies the bytes of the n-th
// argument, which has the given offset in the parameters.
func (t *Thread) Launch(host uint64, c Call, cooperative bool, arg func(n, offset int, to []byte)) Error {
	return t.do(func(r *Runtime) Error {
		s, err := r.stream(c.Stream)
		if err == Success && s.on != r {
			err = InvalidHandle
		}
		if err != Success {
			return err
		}
		w, err := r.prepareLaunch(host, c, cooperative, arg)
		if err != Success {
			return err
		}
		return r.launched(r.submit(s, w))
	})
}

// kernelWork is a launch with its arguments.
type kernelWork struct {
	host   uint64 // the kernel's stub in the host's code
	f      *function
	call   Call
	launch exec.Launch

	priority   int                        // of its node; streams have their own
	attributes map[KernelAttribute]string // of its node, those that were set
}

// prepareLaunch prepares a launch; arg is as in Launch.
func (r *Runtime) prepareLaunch(host uint64, c Call, cooperative bool, arg func(n, offset int, to []byte)) (*kernelWork, Error) {
	f, err := r.function(host)
	if err != Success {
		return nil, err
	}
	if f.module.driver != nil && !f.module.driver.library && f.module.driver.on != r {
		return nil, InvalidHandle
	}
	if err := r.fits(f, &c); err != Success {
		return nil, err
	}
	if c.Cluster, _, _, err = r.clusters(f, c.Cluster); err != Success {
		return nil, err
	}
	k := f.kernel
	if list := k.Unusable(); len(list) > 0 {
		hint := ""
		if f.code() == string(program.SASSCode) && r.opt.Code != string(program.SASSCode) && !program.AllMachineCode(f.module.parts) {
			hint = "\n--code ptx runs PTX instead of machine code"
		}
		r.once(f.name, "kernel %s cannot run: %v%s", f.name, errors.Join(list...), hint)
		return nil, NotSupported
	}
	// Programs with hand-written grid barriers launch as many blocks as the machine holds.
	n, by := r.cfg.Occupancy(int(c.Block.Count()), k.Registers(), k.StaticShared()+int(c.Shared))
	resident := n * r.cfg.SMs()
	if cooperative && c.Grid.Count() > uint64(resident) {
		r.once(f.name+by.String(), "cooperative launch of %s with %d blocks: only %d can be resident at a time, limited by %s", f.name, c.Grid.Count(), resident, by)
		return nil, CooperativeTooLarge
	}
	l := exec.Launch{Kernel: k, Grid: c.Grid, Block: c.Block, Cluster: c.Cluster, Shared: int(c.Shared), Cooperative: cooperative, Resident: resident, Stack: int(min(r.limits[limitStack], isa.MaxLocal)), Params: make([]byte, k.ParamBytes())}
	if !faultless(func() {
		for i, p := range k.Params() {
			arg(i, p.Offset, l.Params[p.Offset:p.Offset+p.Size])
		}
	}) {
		r.say("launch of %s: its argument pointers do not point to memory", f.name)
		return nil, InvalidValue
	}
	return &kernelWork{host: host, f: f, call: c, launch: l}, Success
}

func (w *kernelWork) kind() NodeKind { return NodeKernel }

func (w *kernelWork) now(r *Runtime, s *stream) Error {
	if w.f.module.machine[r.number] == nil { // unloaded since a graph was made
		return InvalidDeviceFunction
	}
	if r.leaveOut(w.f) {
		return Success
	}
	return r.compute(w.f, w.launch, s)
}

// leaveOut reports whether the user's selection excludes the next launch, and counts it
// if so.
func (r *Runtime) leaveOut(f *function) bool {
	if r.opt.Select.Has(r.launches, f.name) {
		return false
	}
	r.launches++
	r.ses.Res.LeftOut++
	return true
}

// fits checks the dimensions of a launch.
func (r *Runtime) fits(f *function, c *Call) Error {
	g, b := c.Grid, c.Block
	if g.X == 0 || g.Y == 0 || g.Z == 0 || b.X == 0 || b.Y == 0 || b.Z == 0 ||
		g.X > isa.MaxGridX || g.Y > isa.MaxGridYZ || g.Z > isa.MaxGridYZ ||
		b.X > isa.MaxThreads || b.Y > isa.MaxThreads || b.Z > isa.MaxBlockZ || b.Count() > isa.MaxThreads {
		return InvalidConfiguration
	}
	if n := f.kernel.MaxThreads(); n > 0 && b.Count() > uint64(n) {
		return OutOfResources
	}
	if static := uint64(f.kernel.StaticShared()); static+c.Shared > max(plainShared, f.shared+static) || c.Shared > 1<<20 {
		return InvalidValue
	}
	return Success
}

// clusters returns the clusters that a launch asks for, itself or by the attributes of its function; the
// blocks that its clusters then have in each direction, which are the kernel's own if it does not ask; and
// the most blocks that they may have. Kernels must ask for more than every GPU with clusters has in one
// (CUDA programming guide, thread block clusters). The error on GPUs without clusters is assumed.
func (r *Runtime) clusters(f *function, c Dim3) (asked, size Dim3, most int, err Error) {
	if c == (Dim3{}) {
		c = Dim3{X: uint32(f.chosen[FunctionClusterWidth]), Y: uint32(f.chosen[FunctionClusterHeight]), Z: uint32(f.chosen[FunctionClusterDepth])}
		if c != (Dim3{}) { // one of them says that there are clusters
			c = Dim3{X: max(1, c.X), Y: max(1, c.Y), Z: max(1, c.Z)}
		}
	}
	asked, size = c, c
	if k, ok := f.kernel.(exec.Clustered); ok && c == (Dim3{}) {
		size = k.OwnCluster()
	}
	size = Dim3{X: max(1, size.X), Y: max(1, size.Y), Z: max(1, size.Z)}
	if most = isa.PortableCluster; f.chosen[FunctionNonPortable] != 0 {
		most = isa.MaxCluster
	}
	switch {
	case size == Dim3{X: 1, Y: 1, Z: 1}:
	case r.props.Major < 9:
		r.once(f.name+" cluster", "launch of %s with clusters of %v blocks: %s has compute capability %d.%d, clusters need 9.0", f.name, size, r.props.Name, r.props.Major, r.props.Minor)
		return asked, size, 0, NotSupported
	case max(size.X, size.Y, size.Z) > isa.MaxCluster || size.Count() > isa.MaxCluster:
		r.once(f.name+" cluster", "launch of %s with clusters of %v blocks: the limit is %d", f.name, size, isa.MaxCluster)
		return asked, size, most, InvalidClusterSize
	case size.Count() > uint64(most):
		r.once(f.name+" cluster", "launch of %s with clusters of %v blocks: more than %d need cudaFuncAttributeNonPortableClusterSizeAllowed", f.name, size, most)
		return asked, size, most, InvalidClusterSize
	}
	return asked, size, most, Success
}

// Clusters returns the number of clusters of a launch that can be resident at a time, and the largest
// possible size of them. It is not known how a chip's groups of SMs divide its blocks: all are taken
// as one group (assumed).
func (t *Thread) Clusters(host uint64, c Call) (active, largest int, err Error) {
	err = t.do(func(r *Runtime) Error {
		f, err := r.function(host)
		if err != Success {
			return err
		}
		if r.props.Major < 9 {
			return NotSupported
		}
		if err := r.fits(f, &c); err != Success {
			return err
		}
		n, _ := r.cfg.Occupancy(int(c.Block.Count()), f.kernel.Registers(), f.kernel.StaticShared()+int(c.Shared))
		var size Dim3
		if _, size, largest, err = r.clusters(f, c.Cluster); err != Success {
			return err
		}
		active = r.cfg.ActiveClusters(n, int(size.Count()))
		return Success
	})
	return active, largest, err
}

// compute runs a launch to completion, without time.
func (r *Runtime) compute(f *function, l exec.Launch, s *stream) Error {
	k := f.kernel
	l.Order = r.opt.Order
	r.ses.Watch(&l, r.launches, s.key(), r.launchPlaces(f.name))
	progress, watched := r.watch(k.Name())
	o := exec.Options{Threads: r.opt.Threads, Out: r.opt.Out, MaxInsts: r.opt.MaxInsts, Progress: progress}
	res, err := f.module.machine[r.number].Run(r.life, l, o)
	watched()
	if refused(err) {
		return r.refuse(err)
	}
	r.ses.List(report.Kernel{
		Name: k.Name(), Launch: r.launches, Device: r.shown(), Code: f.code(), Stream: s.id, Grid: run.Extent(l.Grid), Block: run.Extent(l.Block),
		Registers: k.Registers(), SharedBytes: k.StaticShared() + l.Shared, LocalBytes: k.LocalBytes(),
		Blocks: res.Blocks, WarpInstructions: res.WarpInsts, ThreadInstructions: res.ThreadInsts,
	}, r.inside()...)
	r.ses.Failed(r.launches, err)
	r.launches++
	return r.end(err)
}

// refused reports whether a launch could not start.
func refused(err error) bool {
	var le *exec.LaunchError
	return errors.As(err, &le)
}

// refuse reports why a launch could not start. The error is not sticky.
func (r *Runtime) refuse(err error) Error {
	r.once(err.Error(), "%v", err)
	var le *exec.LaunchError
	if errors.As(err, &le) && le.NotResident {
		return CooperativeTooLarge
	}
	return OutOfResources
}

// op makes a launch for the chip.
func (w *kernelWork) op(r *Runtime, s *stream) (*gpu.Op, *run.Launch, Error) {
	k, l := w.f.kernel, w.launch
	l.TakenFirst = r.cfg.Compat.TakenFirst
	machine, mem := w.f.module.machine[r.number], r.mem
	if machine == nil { // unloaded since a graph was made
		return nil, nil, InvalidDeviceFunction
	}
	if r.leaveOut(w.f) {
		return &gpu.Op{Kind: gpu.OpMark}, nil, Success
	}
	r.ses.Watch(&l, r.launches, s.key(), r.launchPlaces(w.f.name))
	op := &gpu.Op{
		Kind: gpu.OpLaunch, Save: mem.Save, Programmatic: w.call.Programmatic,
		Options: gpu.LaunchOptions{Registers: k.Registers(), Prefer: gpu.Preference(w.f.prefer)},
		Make: func(rehearsal bool) (exec.Work, error) {
			l.Rehearsal = rehearsal
			return machine.NewWork(l, r.opt.Out)
		},
	}
	return op, &run.Launch{
		Number: r.launches, Device: r.shown(), Stream: s.id, Grid: run.Extent(l.Grid), Block: run.Extent(l.Block), LocalBytes: k.LocalBytes(), Estimated: k.RegistersEstimated(), Code: w.f.code(), Ranges: r.inside(),
		Compute: func(o exec.Options) (exec.Result, error) {
			l := l
			l.Rehearsal = false
			o.Threads = r.opt.Threads
			return machine.Run(r.life, l, o)
		},
		Forget: machine.Forget,
	}, Success
}

// FunctionInfo is what cudaFuncGetAttributes returns.
type FunctionInfo struct {
	Shared, Local   int // static shared memory of a block and local memory of a thread, bytes
	MaxThreads      int // of a block
	Registers       int // of a thread; an estimate
	PTX, Binary     int // the targets of the PTX and of the code, ten times the compute capability
	MaxSharedPrefer int // dynamic shared memory that it may have, bytes
	chosen          map[FunctionAttribute]int32
}

// FunctionAttribute is an attribute of a kernel that programs can set (cudaFuncAttribute,
// CUfunction_attribute).
type FunctionAttribute int32

// The attributes.
const (
	FunctionMaxShared FunctionAttribute = iota + 8 // dynamic shared memory of a block, bytes
	FunctionCarveout                               // percentage of the L1 that is shared memory; advice
	_
	FunctionClusterWidth // blocks of its clusters, 0 without
	FunctionClusterHeight
	FunctionClusterDepth
	FunctionNonPortable // clusters may be larger than all GPUs with clusters permit
	FunctionSpread      // how clusters are placed; advice
)

// functionAttributes are the initial values and the valid ones of the attributes but the
// first (CUDA runtime API, cudaFuncAttribute).
var functionAttributes = map[FunctionAttribute]struct{ initial, least, most int32 }{
	FunctionCarveout:     {-1, -1, 100},
	FunctionClusterWidth: {0, 0, math.MaxInt32}, FunctionClusterHeight: {0, 0, math.MaxInt32}, FunctionClusterDepth: {0, 0, math.MaxInt32},
	FunctionNonPortable: {0, 0, 1},
	FunctionSpread:      {0, 0, 2},
}

// Attribute returns an attribute's value; 0 if there is no such attribute.
func (i *FunctionInfo) Attribute(a FunctionAttribute) int {
	if a == FunctionMaxShared {
		return i.MaxSharedPrefer
	}
	if v, set := i.chosen[a]; set {
		return int(v)
	}
	return int(functionAttributes[a].initial)
}

// SetFunctionAttribute sets an attribute of a kernel.
func (t *Thread) SetFunctionAttribute(host uint64, a FunctionAttribute, value int32) Error {
	if a == FunctionMaxShared {
		return t.SetMaxShared(host, int64(value))
	}
	return t.do(func(r *Runtime) Error {
		f, err := r.function(host)
		if err != Success {
			return err
		}
		if of, ok := functionAttributes[a]; !ok || value < of.least || value > of.most {
			return InvalidValue
		}
		f.chosen = maps.Clone(f.chosen) // others may read the old ones
		if f.chosen == nil {
			f.chosen = map[FunctionAttribute]int32{}
		}
		f.chosen[a] = value
		return Success
	})
}

// FunctionInfo returns the attributes of a kernel.
func (t *Thread) FunctionInfo(host uint64) (info FunctionInfo, err Error) {
	err = t.do(func(r *Runtime) Error {
		f, err := r.function(host)
		if err != Success {
			return err
		}
		k := f.kernel
		info = FunctionInfo{
			Shared: k.StaticShared(), Local: k.LocalBytes(), Registers: k.Registers(), MaxThreads: isa.MaxThreads, PTX: f.module.arch, Binary: f.binary(r.cfg.Arch),
			MaxSharedPrefer: int(max(plainShared-uint64(k.StaticShared()), f.shared)), chosen: f.chosen,
		}
		if n := k.MaxThreads(); n > 0 {
			info.MaxThreads = min(n, isa.MaxThreads)
		}
		for info.MaxThreads > 32 {
			if n, _ := r.cfg.Occupancy(info.MaxThreads, info.Registers, info.Shared); n > 0 {
				break
			}
			info.MaxThreads -= 32
		}
		return Success
	})
	return info, err
}

// SetMaxShared raises a kernel's limit of dynamic shared memory.
func (t *Thread) SetMaxShared(host uint64, bytes int64) Error {
	return t.do(func(r *Runtime) Error {
		f, err := r.function(host)
		if err != Success {
			return err
		}
		if bytes < 0 || uint64(bytes)+uint64(f.kernel.StaticShared()) > r.props.SharedPerBlockOptIn {
			return InvalidValue
		}
		f.shared = uint64(bytes)
		return Success
	})
}

// SetPreference sets a kernel's preferred split of L1 cache and shared memory
// (cudaFuncCache).
func (t *Thread) SetPreference(host uint64, prefer int) Error {
	return t.do(func(r *Runtime) Error {
		f, err := r.function(host)
		if err != Success {
			return err
		}
		switch prefer {
		case 0, 3:
			f.prefer = int(gpu.PreferNone)
		case 1:
			f.prefer = int(gpu.PreferShared)
		case 2:
			f.prefer = int(gpu.PreferL1)
		default:
			return InvalidValue
		}
		return Success
	})
}

// Occupancy returns the blocks of a kernel that an SM holds at a time.
func (t *Thread) Occupancy(host uint64, threads int, shared uint64) (blocks int, err Error) {
	err = t.do(func(r *Runtime) Error {
		f, err := r.function(host)
		if err != Success {
			return err
		}
		if threads <= 0 || shared > 1<<20 {
			return InvalidValue
		}
		if threads <= isa.MaxThreads {
			blocks, _ = r.cfg.Occupancy(threads, f.kernel.Registers(), f.kernel.StaticShared()+int(shared))
		}
		return Success
	})
	return blocks, err
}

// BestBlock returns the block size, in threads, with the highest occupancy of an SM, and
// the number of blocks that an SM then holds. The size is at most that of most, unless that is 0;
// of equals it is the largest. sharedOf returns the dynamic shared memory of a block of a
// given size.
func (t *Thread) BestBlock(host uint64, most int, sharedOf func(threads int) uint64) (threads, blocks int, err Error) {
	info, err := t.FunctionInfo(host)
	if err != Success {
		return 0, 0, err
	}
	if most <= 0 || most > info.MaxThreads {
		most = info.MaxThreads
	}
	for n := most; n > 0; n = (n - 1) &^ 31 {
		b, err := t.Occupancy(host, n, sharedOf(n))
		if err != Success {
			return 0, 0, err
		}
		if b*n > blocks*threads {
			threads, blocks = n, b
		}
	}
	return threads, blocks, Success
}

// RoomForShared returns the dynamic shared memory, in bytes, that each block of a kernel
// can have when an SM holds the given number of them.
func (t *Thread) RoomForShared(host uint64, blocks, threads int) (bytes uint64, err Error) {
	if blocks <= 0 || threads <= 0 || threads > isa.MaxThreads {
		return 0, t.Check(false)
	}
	info, err := t.FunctionInfo(host)
	if err != Success {
		return 0, err
	}
	if n, err := t.Occupancy(host, threads, 0); err != Success || n < blocks {
		return 0, err
	}
	fits := uint64(0)
	for step := uint64(1 << 20); step > 0; step /= 2 { // the largest with which the blocks still fit
		if fits+step+uint64(info.Shared) > t.r.props.SharedPerBlockOptIn {
			continue
		}
		if n, err := t.Occupancy(host, threads, fits+step); err == Success && n >= blocks {
			fits += step
		}
	}
	return fits, Success
}
