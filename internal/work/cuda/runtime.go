package cuda

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/exec/texture"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/run"
)

// Addresses of memory that host and device share, of device memory, and of handles. Our
// choice: a part of the address space that hosts do not use, so that a device address is
// never a host address. Below it is Go's heap, anywhere under 0x4000… (from Go 1.26 on);
// above it Linux puts programs, from 0x5555… to 0x6555… and stacks and libraries under
// 0x7fff… (vm.mmap_rnd_bits of up to 32). They are fixed, so that runs are reproducible.
const (
	sharedBase = 0x4000_0000_0000
	sharedTop  = 0x4400_0000_0000
	deviceBase = sharedTop
	deviceTop  = 0x5400_0000_0000
	handleBase = deviceTop
	pageBytes  = 4096
)

// Host is the memory of the program.
type Host interface {
	// Bytes returns n bytes at an address in place. The program must ensure that
	// they exist.
	Bytes(addr, n uint64) []byte
	// Map makes n bytes of zeros at an address, multiples of pages both.
	Map(addr, n uint64) error
	// Unmap removes them.
	Unmap(addr, n uint64)
	// Touched says of each page of mapped bytes whether anybody has accessed it since Map; nil
	// if that is unknown.
	Touched(addr, n uint64) []bool
	// Call calls a function of the program with its data.
	Call(fn, data uint64)
}

// Options are the settings of a Runtime: those of every run, and those for the program.
type Options struct {
	run.Options
	Program string    // the name of the input in the report
	Host    Host      //
	Log     io.Writer // faults and warnings; nil discards them
	// Strict makes accesses of kernels outside of allocations faults even where a GPU
	// has memory mapped; without it they cause a warning.
	Strict bool
	// Fault is called when the program passed an invalid host address; it does not
	// return.
	Fault func(addr uintptr)
	// Clear, if not nil, is called before the program continues: it erases what
	// Progress has shown.
	Clear func()
	// Replace are texts that replace the program's PTX.
	Replace []Replacement
	// Save, if not nil, is called with the PTX that is loaded and its name in
	// messages.
	Save func(name string, text []byte) error
	// Caller, if not nil, returns the program's calls that led to the call in progress, the
	// innermost first. Only checkers ask for it.
	Caller func() []check.Place
	// Devices is the number of GPUs; 0 is one. Visible selects those that the program
	// sees, as CUDA_VISIBLE_DEVICES does; nil: all of them.
	Devices int
	Visible *string
	// Blocking makes launches of kernels and graphs wait until their work has completed, as
	// CUDA_LAUNCH_BLOCKING does.
	Blocking bool
}

// Runtime is the runtime of one program, as one of its devices sees it. Its methods, and
// those of its Threads, may be called from several goroutines at once.
type Runtime struct {
	*app
	number int // the device's, as the program counts
	props  Properties

	// The device's state; reset drops it.
	mem    *device.Memory // nil until first used
	chip   *gpu.GPU       // the session's; nil in a functional run
	sticky Error
	unseen bool          // no call has returned the sticky error yet
	lanes  []*stream     // the legacy default stream, then all others in creation order
	resets atomic.Uint64 // how often forget was called
	peers  uint16        // devices whose memory the program let this one access, a bit for each

	defaultPool, currentPool uint64 // 0 until first used

	graphUsed, graphHigh uint64 // bytes of graphs, and the peak since the last reset

	objects   map[uint64]*object // textures and surfaces
	texels    *texture.Objects   // the same, as kernels see them
	given     uint64             // pieces of work, so far
	pending   []given            // not completed by the chip
	postponed []postponed        // objects that the program destroyed, but that work may still use
	limits    map[int]uint64

	ses *run.Session
}

// app is what all devices share: the program's code, its threads and its objects, each of
// which knows its device.
type app struct {
	mu      sync.Mutex
	caller  *Thread // the thread whose call is in progress
	opt     Options
	cfg     gpu.Config
	devices []*Runtime    // those that the program sees, by number
	absent  bool          // it sees none: the only one stands for it
	machine *gpu.Machine  // their chips, in a timing run with several
	group   *device.Group // their memories; nil with one device
	modules []*module     // by handle, from 1
	kernels map[uint64]*function
	vars    map[uint64]*variable

	ownKernels map[ownKernel]uint64 // handles of libraries' kernels

	textures map[uint64]*reference
	managed  []span // address ranges of the program's managed variables

	threadsMu sync.Mutex
	threads   map[uint64]*Thread
	barred    *Thread // stands in for a thread while the device calls it

	ctx     contexts
	named   map[string]int // modules so far, by requested name
	loaded  []*module      // by the driver, in order
	links   map[uint64]*linking
	texrefs map[uint64]*TexRef

	streams     map[uint64]*stream // those made by the program
	events      map[uint64]*event
	graphs      map[uint64]*graph
	nodes       map[uint64]*node
	execs       map[uint64]*graphExec
	captures    []*capture // in progress
	pools       map[uint64]*pool
	pooled      map[uint64]pooled       // memory of pools, by address
	graphMemory map[uint64]*graphMemory // by address
	users       map[uint64]*userObject
	doomed      []hostWork // that destroy objects of the program
	arrays      map[uint64]*Array
	mipmaps     map[uint64]*Mipmap
	shared      map[uint64]*sharing // host memory that devices can access
	heaps       heaps               // of NVTX
	next        uint64              // address of the next shared memory
	handles     uint64              // issued so far, for streams, events and so on
	launches    int                 // so far

	replace []Replacement
	offered []string // modules that could have been replaced

	ranges ranges
	trace  tracer

	life      context.Context // ends when the program is interrupted
	interrupt context.CancelFunc

	failed error // the first error that ended a kernel
	said   map[string]bool
}

// Thread is a thread of the program, with its own last error and its own launches in
// configuration.
type Thread struct {
	r      *Runtime // its current device
	home   *Runtime // the device that is current where no context is
	last   Error
	calls  []Call
	params []byte // of a launch that is configured in the old style

	own    [device.MaxDevices]*stream // its default streams, nil until they are used
	mode   CaptureMode                // which calls captures of other threads forbid it
	waits  bool                       // in a call that does nothing after its wait
	barred atomic.Bool                // the device is calling it, so it must not call the device

	contexts  []uint64           // a stack: the last is current
	ranges    []pushed           // a stack, too
	external  [][]ExternalDetail // stacks, one for each kind
	call      uint32             // in progress, as profilers count; 0: none
	number    uint32             // its own, for profilers
	described *MarkerData        // of the range or mark that it begins next, or nil
	driven    bool               // within a call of the driver
}

// Call is the configuration of a launch between <<< and >>>.
type Call struct {
	Grid, Block Dim3
	Cluster     Dim3   // of blocks; zero: the kernel's own, or none
	Shared      uint64 // dynamic shared memory, bytes
	Stream      uint64
	// Programmatic: it may begin before the launch before it in its stream has ended (programmatic stream serialization).
	Programmatic bool
}

// Dim3 is an extent in blocks or threads.
type Dim3 = exec.Dim3

// New returns the runtime as device 0 sees it, or an error if the options are invalid.
func New(o Options) (*Runtime, error) {
	if o.GPU == "" {
		o.GPU = run.DefaultGPU
	}
	if o.Out == nil {
		o.Out = io.Discard
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	cfg, err := o.Settings.Machine(o.GPU)
	if err != nil {
		return nil, err
	}
	replace, err := replacements(o.Replace)
	if err != nil {
		return nil, err
	}
	visible, err := o.seen(properties(&cfg, 0))
	if err != nil {
		return nil, err
	}
	a := &app{
		replace: replace, opt: o, cfg: cfg, threads: map[uint64]*Thread{}, kernels: map[uint64]*function{}, vars: map[uint64]*variable{}, textures: map[uint64]*reference{},
		said: map[string]bool{}, named: map[string]int{}, links: map[uint64]*linking{}, ownKernels: map[ownKernel]uint64{}, texrefs: map[uint64]*TexRef{},
		ctx: contexts{list: map[uint64]*driverContext{}}, next: sharedBase,
		streams: map[uint64]*stream{}, events: map[uint64]*event{}, shared: map[uint64]*sharing{}, arrays: map[uint64]*Array{}, mipmaps: map[uint64]*Mipmap{},
		graphs: map[uint64]*graph{}, nodes: map[uint64]*node{}, execs: map[uint64]*graphExec{}, pools: map[uint64]*pool{}, pooled: map[uint64]pooled{},
		graphMemory: map[uint64]*graphMemory{}, users: map[uint64]*userObject{},
	}
	a.life, a.interrupt = context.WithCancel(context.Background())
	if len(visible) == 0 {
		if v := strings.TrimSpace(*o.Visible); v != "" && v != "-1" { // otherwise somebody wants to have none
			_, _ = fmt.Fprintf(o.Log, "heddle: CUDA_VISIBLE_DEVICES=%s selects none of the machine's devices, 0 to %d: unset it, or give the machine more with --devices N\n", v, max(o.Devices, 1)-1)
		}
		a.absent, visible = true, []int{0}
	}
	if len(visible) > 1 {
		if o.Timing && cfg.Run.Caches == gpu.Warm {
			return nil, errors.New(`run.caches = "warm" runs each kernel twice, which other devices would see: it needs --devices 1`)
		}
		a.group = &device.Group{}
	}
	for number, index := range visible {
		if err := a.plugIn(number, index); err != nil {
			return nil, err
		}
	}
	if o.Timing && len(a.devices) > 1 {
		var chips []*gpu.GPU
		for _, d := range a.devices {
			chips = append(chips, d.chip)
		}
		a.machine = gpu.NewMachine(chips, func(addr uint64) int {
			if !onDevice(addr) {
				return -1
			}
			return a.devices[0].at(addr).number
		})
		a.machine.More = a.othersWork
	}
	return a.devices[0], nil
}

// memoryBytes is the device memory that programs can use: the card's, or as much as the
// user says. It is at most half of the addresses, our choice: as many are left for what lies
// between allocations, and for reservations.
func (r *Runtime) memoryBytes() uint64 {
	return min(r.room()/2, cmp.Or(r.opt.Settings.Memory, r.cfg.Memory, device.DefaultLimit))
}

// forget drops the device's context and all that the program made on it; programs stay
// registered.
func (r *Runtime) forget() {
	r.pending = nil
	r.endObjects()
	if r.mem != nil {
		r.dropShared()
	}
	if r.mem != nil {
		r.mem.Close()
	}
	for addr := range r.pooled {
		if r.at(addr) == r {
			delete(r.pooled, addr)
		}
	}
	r.mem, r.sticky, r.unseen, r.peers = nil, Success, false, 0
	r.resets.Add(1)
	for _, d := range r.devices {
		d.peers &^= 1 << r.number
	}
	drop(r.streams, func(s *stream) bool { return s.on == r })
	drop(r.events, func(e *event) bool { return e.on == r })
	drop(r.arrays, func(a *Array) bool { return a.on == r })
	drop(r.mipmaps, func(m *Mipmap) bool { return m.on == r })
	for _, g := range r.graphs {
		if g.uses(r) {
			r.destroy(g)
		}
	}
	for h, x := range r.execs {
		if x.order.uses(r) {
			r.destroy(x.order)
			delete(r.execs, h)
		}
	}
	drop(r.graphMemory, func(m *graphMemory) bool { return m.on == r })
	r.graphUsed, r.graphHigh = 0, 0
	drop(r.pools, func(p *pool) bool { return p.on == r })
	r.captures = slices.DeleteFunc(r.captures, func(c *capture) bool {
		used := c.uses(r)
		if used {
			c.release()
		}
		return used
	})
	r.objects, r.texels = map[uint64]*object{}, &texture.Objects{Group: r.number}
	for _, ref := range r.textures {
		ref.bound[r.number] = false
	}
	r.lanes = []*stream{{on: r, handle: streamLegacy}}
	r.defaultPool, r.currentPool = 0, 0
	r.threadsMu.Lock()
	for _, t := range r.threads {
		t.own[r.number] = nil
	}
	r.threadsMu.Unlock()
	for _, m := range r.modules {
		m.machine[r.number] = nil
	}
	r.loaded = slices.DeleteFunc(r.loaded, func(m *module) bool {
		if m.driver.library {
			m.machine[r.number] = nil
			return false
		}
		if m.driver.on != r {
			return false
		}
		r.drop(m)
		return true
	})
	r.ctx.cleared(r)
}

// drop removes the entries of a table that fit.
func drop[T any](table map[uint64]T, fits func(T) bool) {
	maps.DeleteFunc(table, func(_ uint64, x T) bool { return fits(x) })
}

// Life is the time of a device between two resets. What a library placed on the device is
// gone with it, and its addresses may be those of something else.
type Life struct {
	device int    // its number
	resets uint64 // before
}

// Device returns the number of the device.
func (l Life) Device() int { return l.device }

// Life returns that of the current device.
func (t *Thread) Life() Life { return Life{t.r.number, t.r.resets.Load()} }

// Since returns the present life of a device that had another one before, and whether it is
// another one. It does not matter which device is current.
func (t *Thread) Since(l Life) (now Life, reset bool) {
	now = l
	if l.device < len(t.r.devices) { // else the device is calling the thread
		now.resets = max(l.resets, t.r.devices[l.device].resets.Load())
	}
	return now, now != l
}

// Thread returns the thread with a number, which the caller assigns. While the device is
// calling a thread, all calls of that thread fail.
func (r *Runtime) Thread(id uint64) *Thread {
	r.threadsMu.Lock()
	defer r.threadsMu.Unlock()
	t := r.threads[id]
	if t == nil {
		t = &Thread{r: r.devices[0], home: r.devices[0]}
		r.threads[id] = t
	}
	if t.barred.Load() {
		if r.barred == nil {
			nobody := &Runtime{props: r.props, sticky: NotPermitted, app: &app{opt: Options{Log: r.opt.Log}, cfg: r.cfg, life: context.Background(), said: map[string]bool{}, ctx: contexts{list: map[uint64]*driverContext{}}}}
			nobody.devices = []*Runtime{nobody}
			r.barred = &Thread{r: nobody, home: nobody}
		}
		return r.barred
	}
	return t
}

// begin makes the context if there is none. It returns the sticky error, if any.
func (r *Runtime) begin() Error {
	if r.absent {
		return NoDevice
	}
	if r.sticky == Success && r.mem == nil {
		base := r.base(r.number)
		r.mem = device.New(device.Config{
			Base: base, Top: r.base(r.number + 1), Limit: r.memoryBytes(), Heap: r.limits[limitHeap], Packed: r.cfg.Compat.PackedMemory,
			Group: r.group, Device: r.number, File: r.opt.MemoryFile,
		})
		for addr, s := range r.shared {
			if err := r.mem.Adopt(addr, s.data, s.name); err != nil {
				r.once(s.name, "device %d: %v", r.number, err) // other devices have it, and the addresses of all are apart
			}
		}
	}
	r.unseen = false
	return r.sticky
}

// do runs a call of the program with the lock held, unless there is a sticky error. Its
// outcome becomes the thread's last error.
func (t *Thread) do(f func(r *Runtime) Error) Error {
	r := t.r
	r.mu.Lock()
	debug.SetPanicOnFault(true) // for leave
	defer r.leave()
	r.caller = t
	if !t.driven {
		r.enter(t)
	}
	err := r.begin()
	if err == Success {
		err = f(r)
	}
	if err != Success {
		t.last, r.unseen = err, false
	}
	r.bury(t)
	return err
}

// launched is the outcome of a call that launches kernels. One that they fail with is not the
// call's: as on a GPU, where they run later, the next call of the program returns it.
func (r *Runtime) launched(err Error) Error {
	for _, d := range r.devices {
		if d.unseen && err == d.sticky {
			return Success
		}
	}
	return err
}

// LastError returns the last error of the thread, and clears it unless it is sticky.
func (t *Thread) LastError() Error {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	err := t.last
	t.last = Success
	if t.r.sticky != Success && !t.r.unseen {
		err = t.r.sticky
	}
	return err
}

// PeekError returns the last error of the thread.
func (t *Thread) PeekError() Error {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	if t.r.sticky != Success && !t.r.unseen {
		return t.r.sticky
	}
	return t.last
}

// Unsupported handles a call of a missing function. It warns once for each name.
func (t *Thread) Unsupported(name string) Error {
	return t.do(func(r *Runtime) Error {
		r.once(name, "%s is not supported; it returns %s", name, NotSupported.Name())
		return NotSupported
	})
}

// Missing warns, once for each name, that a function of a library is not supported, or not
// for such arguments, and what it returns.
func (t *Thread) Missing(name, answer string) {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	t.r.once(name, "%s is not supported, or not with these arguments; it returns %s", name, answer)
}

// Never warns, once for each name, that something a profiler asked for never happens.
func (t *Thread) Never(name string) {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	t.r.once(name, "%s: a profiler asked for it, but it is not reported", name)
}

// Check is a call that only validates its arguments: it returns InvalidValue unless they
// are valid.
func (t *Thread) Check(right bool) Error {
	return t.do(func(*Runtime) Error {
		if !right {
			return InvalidValue
		}
		return Success
	})
}

// Read copies bytes of the program's memory.
func (t *Thread) Read(addr uint64, to []byte) Error {
	return t.hosts(addr, uint64(len(to)), func(b []byte) { copy(to, b) })
}

// Write stores bytes in the program's memory.
func (t *Thread) Write(addr uint64, from []byte) Error {
	return t.hosts(addr, uint64(len(from)), func(b []byte) { copy(b, from) })
}

// hosts accesses the program's memory in place.
func (t *Thread) hosts(addr, n uint64, f func(b []byte)) Error {
	return t.do(func(r *Runtime) Error {
		if onDevice(addr) {
			return InvalidValue
		}
		b, err := r.bytes(addr, n, false)
		if err == Success && !faultless(func() { f(b) }) { // it may be read-only
			err = InvalidValue
		}
		return err
	})
}

// Properties are those of the current device.
func (t *Thread) Properties() Properties { return t.r.props }

// Answer is a call with a fixed result.
func (t *Thread) Answer(err Error) Error { return t.do(func(*Runtime) Error { return err }) }

// once warns, once for each key.
func (r *Runtime) once(key, format string, args ...any) {
	if !r.said[key] {
		r.said[key] = true
		r.say(format, args...)
	}
}

// say writes a line for the user.
func (r *Runtime) say(format string, args ...any) {
	_, _ = fmt.Fprintf(r.opt.Log, "heddle: "+format+"\n", args...) // there is no other way to report it
}

// Say writes a line for the user.
func (r *Runtime) Say(message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.say("%s", message)
}

// Synchronize waits for all work.
func (t *Thread) Synchronize() Error {
	return t.do(func(r *Runtime) Error {
		err := Success
		for _, c := range r.captures {
			if c.uses(r) {
				c.spoil()
				err = StreamCaptureUnsupported
			}
		}
		if err != Success {
			return err
		}
		return r.waited(WaitForContext, nil, 0, r.finish)
	})
}

// Reset drops everything that the program made on the current device, and its sticky
// error.
func (t *Thread) Reset() Error {
	r := t.r
	r.mu.Lock()
	defer r.mu.Unlock()
	r.caller = t
	switch {
	case r.absent:
		return NoDevice
	case r.sticky == NotPermitted: // a call of a thread that the device calls
		return NotPermitted
	}
	for _, d := range r.begun() {
		d.finish() // it may use what is shared
	}
	if r.sticky != Success && r.chip != nil {
		r.chip.LimitFromHere()
	}
	if r.checked() {
		from, to := r.base(r.number), r.base(r.number+1)
		r.tell(check.HostEvent{Kind: check.HostReset, Call: "cudaDeviceReset", Stream: check.OnDevice(r.number, 0), Addr: from, Bytes: to - from})
	}
	r.forget()
	r.bury(t)
	t.last = Success
	return Success
}

// end makes an error that ended a kernel sticky, and reports it to the user.
func (r *Runtime) end(err error) Error {
	if err == nil {
		return Success
	}
	if r.life.Err() != nil { // the run was interrupted: the program does not see it
		return Unknown
	}
	code := codeOf(err)
	r.sticky, r.unseen = code, true
	if r.failed == nil {
		r.failed = err
	}
	r.ses.Failed(-1, err)
	r.say("%s", strings.TrimRight(exec.NameLimit(err, "--max-cycles"), "\n"))
	if r.shown() != nil {
		r.say("the program gets %s from device %d from now on", code.Name(), r.number)
	} else {
		r.say("the program gets %s from now on", code.Name())
	}
	return code
}

// faultCodes are the codes of faults that have a specific one.
var faultCodes = map[exec.FaultKind]Error{exec.Assertion: Assert, exec.Misaligned: MisalignedAddress, exec.BadAddress: IllegalAddress}

// codeOf returns the code of an error that ended a kernel.
func codeOf(err error) Error {
	var (
		fault *exec.Fault
		le    *exec.LaunchError
		limit *exec.LimitError
		stuck *exec.StuckError
		own   Error
	)
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &fault):
		return cmp.Or(faultCodes[fault.Kind], LaunchFailure)
	case errors.As(err, &limit), errors.As(err, &stuck):
		return LaunchTimeout
	case errors.As(err, &le):
		return OutOfResources
	}
	return Unknown
}
