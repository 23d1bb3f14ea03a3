package cuda

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
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
}

// Runtime is the runtime of one program, with one device. Its methods, and those
// of its Threads, may be called from several goroutines at once.
type Runtime struct {
	mu      sync.Mutex
	caller  *Thread // the thread whose call is in progress
	opt     Options
	cfg     gpu.Config
	props   Properties
	modules []*module // by handle, from 1
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

	// The device's state; reset drops it.
	mem      *device.Memory // nil until first used
	chip     *gpu.GPU       // the session's; nil in a functional run
	sticky   Error
	resets   uint64             // how often forget was called
	streams  map[uint64]*stream // those made by the program
	lanes    []*stream          // the legacy default stream, then all others in creation order
	graphs   map[uint64]*graph
	nodes    map[uint64]*node
	execs    map[uint64]*graphExec
	captures []*capture // in progress
	pools    map[uint64]*pool
	pooled   map[uint64]pooled // memory of pools, by address

	defaultPool, currentPool uint64 // 0 until first used

	arrays   map[uint64]*Array
	mipmaps  map[uint64]*Mipmap
	objects  map[uint64]*object // textures and surfaces
	texels   *xptx.Objects      // the same, as kernels see them
	ended    []endedObject      // destroyed by the program, but perhaps still used by work
	events   map[uint64]*event
	shared   map[uint64]*sharing // host memory that the device can access
	next     uint64              // address of the next shared memory
	handles  uint64              // issued so far, for streams, events and so on
	given    uint64              // pieces of work, so far
	pending  []given             // not completed by the chip
	limits   map[int]uint64
	launches int // so far

	replace []Replacement
	offered []string // modules that could have been replaced

	ranges ranges

	life      context.Context // ends when the program is interrupted
	interrupt context.CancelFunc

	ses    *run.Session
	failed error // the first error that ended a kernel
	said   map[string]bool
}

// Thread is a thread of the program, with its own last error and its own launches in
// configuration.
type Thread struct {
	r      *Runtime
	last   Error
	calls  []Call
	params []byte // of a launch that is configured in the old style

	own    *stream     // its default stream, nil until it is used
	mode   CaptureMode // which calls captures of other threads forbid it
	barred atomic.Bool // the device is calling it, so it must not call the device

	contexts []uint64 // a stack: the last is current
	ranges   []pushed // a stack, too
	driven   bool     // within a call of the driver
}

// Call is the configuration of a launch between <<< and >>>.
type Call struct {
	Grid, Block Dim3
	Cluster     Dim3   // of blocks; zero: the kernel's own, or none
	Shared      uint64 // dynamic shared memory, bytes
	Stream      uint64
}

// Dim3 is an extent in blocks or threads.
type Dim3 = exec.Dim3

// New returns a runtime, or an error if the options are invalid.
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
	r := &Runtime{
		replace: replace,
		opt:     o, cfg: cfg, ses: run.NewSession(run.CUDA, o.Program, o.Options), threads: map[uint64]*Thread{}, kernels: map[uint64]*function{}, vars: map[uint64]*variable{}, textures: map[uint64]*reference{},
		limits: defaultLimits(), said: map[string]bool{}, named: map[string]int{}, links: map[uint64]*linking{}, ownKernels: map[ownKernel]uint64{}, texrefs: map[uint64]*TexRef{}, ctx: contexts{list: map[uint64]*driverContext{}},
	}
	r.ses.Most, r.ses.Detailed = maxListed, maxDetailed
	r.life, r.interrupt = context.WithCancel(context.Background())
	r.limits[limitHeap] = max(o.Settings.Heap, device.DefaultHeap)
	r.props = properties(&cfg, r.memoryBytes())
	r.forget()
	if !o.Timing {
		return r, r.ses.OnlyCompute()
	}
	if err := r.ses.PlugIn(o.GPU, cfg); err != nil {
		return nil, err
	}
	r.chip = r.ses.Chip
	return r, r.ses.Begin()
}

// mostMemory limits device memory, our choice: as many addresses are left for what lies
// between allocations, and for reservations.
const mostMemory = (deviceTop - deviceBase) / 2

// memoryBytes is the device memory that programs can use: the card's, or as much as the
// user says.
func (r *Runtime) memoryBytes() uint64 {
	return min(mostMemory, cmp.Or(r.opt.Settings.Memory, r.cfg.Memory, device.DefaultLimit))
}

// forget drops the context; programs stay registered.
func (r *Runtime) forget() {
	if r.mem != nil {
		r.mem.Close()
	}
	r.mem, r.sticky, r.pending = nil, Success, nil
	r.resets++
	r.streams, r.events, r.shared = map[uint64]*stream{}, map[uint64]*event{}, map[uint64]*sharing{}
	r.arrays, r.mipmaps = map[uint64]*Array{}, map[uint64]*Mipmap{}
	r.objects, r.texels, r.ended = map[uint64]*object{}, &xptx.Objects{}, nil
	for _, ref := range r.textures {
		ref.bound = false
	}
	r.lanes, r.captures = []*stream{{handle: streamLegacy}}, nil
	r.graphs, r.nodes, r.execs = map[uint64]*graph{}, map[uint64]*node{}, map[uint64]*graphExec{}
	r.pools, r.pooled, r.defaultPool, r.currentPool = map[uint64]*pool{}, map[uint64]pooled{}, 0, 0
	r.threadsMu.Lock()
	for _, t := range r.threads {
		t.own = nil
	}
	r.threadsMu.Unlock()
	r.next = sharedBase
	for _, m := range r.modules {
		m.machine = nil
	}
	r.loaded = slices.DeleteFunc(r.loaded, func(m *module) bool {
		if m.driver.library {
			m.machine = nil
			return false
		}
		r.drop(m)
		return true
	})
	r.ctx.cleared()
}

// Resets counts how often everything on the device was dropped. What a library placed
// there before is gone, and its addresses may be those of something else.
func (t *Thread) Resets() (n uint64) {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	return t.r.resets
}

// Thread returns the thread with a number, which the caller assigns. While the device is
// calling a thread, all calls of that thread fail.
func (r *Runtime) Thread(id uint64) *Thread {
	r.threadsMu.Lock()
	defer r.threadsMu.Unlock()
	t := r.threads[id]
	if t == nil {
		t = &Thread{r: r}
		r.threads[id] = t
	}
	if t.barred.Load() {
		if r.barred == nil {
			nobody := &Runtime{opt: Options{Log: r.opt.Log}, cfg: r.cfg, props: r.props, sticky: NotPermitted, life: context.Background(), said: map[string]bool{}, ctx: contexts{list: map[uint64]*driverContext{}}}
			r.barred = &Thread{r: nobody}
		}
		return r.barred
	}
	return t
}

// begin makes the context if there is none. It returns the sticky error, if any.
func (r *Runtime) begin() Error {
	if r.sticky == Success && r.mem == nil {
		r.mem = device.New(device.Config{
			Base: deviceBase, Top: deviceTop, Limit: r.memoryBytes(), Heap: r.limits[limitHeap], Packed: r.cfg.Compat.PackedMemory,
		})
	}
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
		t.last = err
	}
	return err
}

// LastError returns the last error of the thread, and clears it unless it is sticky.
func (t *Thread) LastError() Error {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	err := t.last
	t.last = Success
	if t.r.sticky != Success {
		err = t.r.sticky
	}
	return err
}

// PeekError returns the last error of the thread.
func (t *Thread) PeekError() Error {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	if t.r.sticky != Success {
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

// Properties are those of the device.
func (t *Thread) Properties() Properties { return t.r.props }

// Answer is a call with a fixed result.
func (t *Thread) Answer(err Error) Error { return t.do(func(*Runtime) Error { return err }) }

// Device is a call with a device number; the only device is 0.
func (t *Thread) Device(number int) Error {
	return t.do(func(*Runtime) Error {
		if number != 0 {
			return InvalidDevice
		}
		return Success
	})
}

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
		if len(r.captures) > 0 {
			for _, c := range r.captures {
				c.spoil()
			}
			return StreamCaptureUnsupported
		}
		return r.finish()
	})
}

// Reset drops everything that the program made on the device, and the sticky error.
func (t *Thread) Reset() Error {
	r := t.r
	r.mu.Lock()
	defer r.mu.Unlock()
	r.caller = t
	if r.sticky == Success {
		r.finish()
	}
	if r.sticky != Success && r.chip != nil {
		r.chip.LimitFromHere()
	}
	for addr, s := range r.shared {
		if s.mapped > 0 {
			r.opt.Host.Unmap(addr, s.mapped)
		}
	}
	r.forget()
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
	r.sticky = code
	if r.failed == nil {
		r.failed = err
	}
	r.say("%s", strings.TrimRight(exec.NameLimit(err, "--max-cycles"), "\n"))
	r.say("the program gets %s from now on", code.Name())
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
