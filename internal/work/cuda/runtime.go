package cuda

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/run"
)

// Where device memory and memory that host and device share lie. Our choice: a
// part of the address space that Linux and Go leave alone, so that a device
// address is never one of the host, and always the same, so that a run gives the
// same result every time.
const (
	deviceBase = 0x2000_0000_0000
	deviceTop  = 0x4000_0000_0000
	sharedTop  = 0x5000_0000_0000
	pageBytes  = 4096
)

// Host is the memory of the program.
type Host interface {
	// Bytes returns n bytes at an address in place. That they are there is the
	// program's to know.
	Bytes(addr, n uint64) []byte
	// Map makes n bytes of zeros at an address, multiples of pages both.
	Map(addr, n uint64) error
	// Unmap takes them back.
	Unmap(addr, n uint64)
	// Call calls a function of the program's with what it wants to be given.
	Call(fn, data uint64)
}

// Options are the settings of a Runtime: those of every run, and what the program
// and its user have to do with it.
type Options struct {
	run.Options
	Program string    // what the report calls the input
	Host    Host      //
	Log     io.Writer // faults and warnings; nil discards them
	// Strict makes accesses of kernels outside of every allocation faults also where a
	// GPU has memory mapped; without it they bring a warning.
	Strict bool
	// Fault is called when the program gave an address of the host where there is no
	// memory; it does not return.
	Fault func(addr uintptr)
	// Clear, if not nil, is called before the program goes on: it takes away what
	// Progress has shown.
	Clear func()
	// Replace are texts that take the place of the program's.
	Replace []Replacement
	// Save is given the PTX that is loaded, with the name by which messages call
	// it; nil if nobody wants it.
	Save func(name string, text []byte) error
}

// Runtime is the runtime of one program, with one device. Its methods, and those
// of its Threads, may be called from several goroutines at once.
type Runtime struct {
	mu      sync.Mutex
	caller  *Thread // whose call is under way
	opt     Options
	cfg     gpu.Config
	props   Properties
	modules []*module // by handle, from 1
	kernels map[uint64]*function
	vars    map[uint64]*variable

	textures map[uint64]*reference
	managed  []span // of the program's memory, where its managed variables are

	threadsMu sync.Mutex
	threads   map[uint64]*Thread
	barred    *Thread // what a thread is while the device calls it

	ctx     contexts
	named   map[string]int // modules so far, by the names that they asked for
	loaded  []*module      // by the driver, in order
	links   map[uint64]*linking
	texrefs map[uint64]*TexRef

	// What is on the device; reset drops it.
	mem      *device.Memory // nil until first used
	chip     *gpu.GPU       // the session's; nil in a functional run
	sticky   Error
	streams  map[uint64]*stream // those that the program has made
	lanes    []*stream          // the legacy default stream, then all others in the order of their making
	graphs   map[uint64]*graph
	nodes    map[uint64]*node
	execs    map[uint64]*graphExec
	captures []*capture // that are under way
	pools    map[uint64]*pool
	pooled   map[uint64]pooled // memory of pools, by address

	defaultPool, currentPool uint64 // 0 until they are asked for

	arrays   map[uint64]*Array
	mipmaps  map[uint64]*Mipmap
	objects  map[uint64]*object // textures and surfaces
	texels   *xptx.Objects      // the same, as kernels know them
	ended    []endedObject      // that the program has destroyed, and work may still use
	events   map[uint64]*event
	shared   map[uint64]*sharing // memory of the host that the device reaches
	next     uint64              // address for the next memory that both share
	handles  uint64              // given out so far, of streams, events and the like
	given    uint64              // pieces of work, so far
	pending  []given             // that the chip has not ended
	limits   map[int]uint64
	launches int // so far

	replace []Replacement
	offered []string // what there was to replace

	life      context.Context // ends when the program is interrupted
	interrupt context.CancelFunc

	ses    *run.Session
	failed error // the first error that ended a kernel
	said   map[string]bool
}

// Thread is a thread of the program: it has its own last error and its own
// launches that are being configured.
type Thread struct {
	r      *Runtime
	last   Error
	calls  []Call
	params []byte // of a launch that is configured in the old way

	own    *stream     // its default stream, nil until it is used
	mode   CaptureMode // how captures of others bind it
	barred atomic.Bool // the device calls it, and it must not call the device

	contexts []uint64 // a stack: the last is current
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

// New returns a runtime. The error says what is wrong with the options.
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
		limits: defaultLimits(), said: map[string]bool{}, named: map[string]int{}, links: map[uint64]*linking{}, texrefs: map[uint64]*TexRef{}, ctx: contexts{list: map[uint64]*driverContext{}},
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

// memoryBytes is the device memory that programs can have: no model has its
// size, and it costs memory of this computer.
func (r *Runtime) memoryBytes() uint64 {
	if n := r.opt.Settings.Memory; n > 0 {
		return n
	}
	return device.DefaultLimit
}

// forget drops the context; programs stay registered.
func (r *Runtime) forget() {
	r.mem, r.sticky, r.pending = nil, Success, nil
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
	r.next = deviceTop
	for _, m := range r.modules {
		m.machine = nil
	}
	for _, m := range r.loaded {
		r.drop(m)
	}
	r.loaded = nil
	r.ctx.cleared()
}

// Thread returns the thread of a number, which the caller gives out. To a thread
// that the device is calling nothing is permitted.
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
			nobody := &Runtime{sticky: NotPermitted, life: context.Background(), said: map[string]bool{}, ctx: contexts{list: map[uint64]*driverContext{}}}
			r.barred = &Thread{r: nobody}
		}
		return r.barred
	}
	return t
}

// begin makes the context if there is none. It returns the error that sticks.
func (r *Runtime) begin() Error {
	if r.sticky == Success && r.mem == nil {
		r.mem = device.New(device.Config{
			Base: deviceBase, Top: deviceTop, Limit: r.memoryBytes(), Heap: r.limits[limitHeap], Packed: r.cfg.Compat.PackedMemory,
		})
	}
	return r.sticky
}

// do runs a call of the program: with the lock held, not at all after an error
// that sticks, and its outcome is the thread's last error.
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

// LastError returns the last error of the thread, and forgets it unless it is
// one after which nothing works until a reset.
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

// Unsupported is a call of something that is not there. It says so once for each
// name.
func (t *Thread) Unsupported(name string) Error {
	return t.do(func(r *Runtime) Error {
		r.once(name, "%s is not supported; it returns %s", name, NotSupported.Name())
		return NotSupported
	})
}

// Check is a call that only looks at its arguments: InvalidValue unless they are
// right.
func (t *Thread) Check(right bool) Error {
	return t.do(func(*Runtime) Error {
		if !right {
			return InvalidValue
		}
		return Success
	})
}

// Answer is a call that always comes to the same.
func (t *Thread) Answer(err Error) Error { return t.do(func(*Runtime) Error { return err }) }

// Device is a call that names a device; there is one, with number 0.
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
	_, _ = fmt.Fprintf(r.opt.Log, "heddle: "+format+"\n", args...) // there is nobody else to tell
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

// Reset drops everything that the program made on the device, and the error that
// stuck.
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

// end makes an error that ended a kernel stick, and tells the user.
func (r *Runtime) end(err error) Error {
	if err == nil {
		return Success
	}
	if r.life.Err() != nil { // nobody hears of it any more
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

// faultCodes are the codes of faults that have one of their own.
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
