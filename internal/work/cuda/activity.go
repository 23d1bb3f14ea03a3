package cuda

import (
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/internal/gpu"
)

// This file: what happens in a program as profilers see it. Nothing is recorded until one
// asks for it.

// ActivityKind is the kind of an Activity, with its number in CUPTI (CUPTI activity API,
// CUpti_ActivityKind).
type ActivityKind uint32

// The kinds that are recorded.
const (
	ActivityCopy             ActivityKind = 1
	ActivityFill             ActivityKind = 2
	ActivityKernel           ActivityKind = 3
	ActivityDriverCall       ActivityKind = 4
	ActivityRuntimeCall      ActivityKind = 5
	ActivityDevice           ActivityKind = 8
	ActivityContext          ActivityKind = 9
	ActivityConcurrentKernel ActivityKind = 10
	ActivityName             ActivityKind = 11
	ActivityMarker           ActivityKind = 12
	ActivityMarkerData       ActivityKind = 13
	ActivityPeerCopy         ActivityKind = 22
	ActivityStream           ActivityKind = 37
	ActivityWait             ActivityKind = 38
	ActivityExternal         ActivityKind = 39
	ActivityMemory           ActivityKind = 49
	ActivityPool             ActivityKind = 50
	ActivityGraph            ActivityKind = 51
	activityKinds                         = 64
)

// Activity is something that happened. Detail says what.
type Activity struct {
	Kind        ActivityKind
	Start, End  uint64 // nanoseconds on the clock of Thread.Now
	Submitted   uint64 // of work: when the program passed it to its stream
	Device      int
	Context     uint32 // its number, from 1
	Stream      uint32 // as in the report
	Correlation uint32 // of the call that caused it
	Place       GraphPlace
	Detail      any // one of the types below
}

// GraphPlace says which executable graph has launched something, and for which of the nodes
// that it was made of: the low bits of its handle, and the node's handle. Both are 0 without
// a graph.
type GraphPlace struct {
	Graph uint32
	Node  uint64
}

// KernelDetail describes a launch.
type KernelDetail struct {
	Name                 string
	Number               int // of the launch, from 0
	Grid, Block, Cluster Dim3
	Registers            int
	Static, Dynamic      int // shared memory of a block, bytes
	Local                int // memory of a thread, bytes
	LocalTotal           uint64
	Prefer               gpu.Preference
	Cooperative          bool
}

// MemoryKind is the kind of memory of a copy, with its number in CUPTI
// (CUpti_ActivityMemoryKind).
type MemoryKind uint8

// The kinds of memory.
const (
	PageableKind MemoryKind = 1
	PinnedKind   MemoryKind = 2
	DeviceKind   MemoryKind = 3
	ArrayKind    MemoryKind = 4
	ManagedKind  MemoryKind = 5
)

// CopyDetail describes a copy. To and From are devices, of those that are the host's the
// current one.
type CopyDetail struct {
	Bytes        uint64
	Dst, Src     MemoryKind
	To, From     int
	ToCtx, FrCtx uint32
	Async        bool
}

// FillDetail describes a fill.
type FillDetail struct {
	Value uint32
	Bytes uint64
	Dst   MemoryKind
}

// CallDetail describes a call of the program.
type CallDetail struct {
	ID     uint32 // of the function in CUPTI
	Thread uint32
	Result uint32
}

// WaitKind is what a call waited for, with its number in CUPTI
// (CUpti_ActivitySynchronizationType).
type WaitKind uint32

// The kinds of waits.
const (
	WaitForEvent   WaitKind = 1
	WaitInStream   WaitKind = 2 // of a stream, not of the host
	WaitForStream  WaitKind = 3
	WaitForContext WaitKind = 4
)

// WaitDetail describes a wait. Event is the number of the event, 0 if there is none.
type WaitDetail struct {
	Kind   WaitKind
	Event  uint32
	Result uint32
}

// MarkerDetail is the begin or the end of a range, or a mark.
type MarkerDetail struct {
	ID           uint32
	Begin, End   bool
	Name, Domain string
	Thread       uint32
}

// MarkerData are the attributes of a range or a mark.
type MarkerData struct {
	ID              uint32 // of the marker
	Color, Category uint32
	Colored         bool
	PayloadType     int32 // as in NVTX, 0: none
	Payload         uint64
}

// MemoryDetail is an allocation, or its end. Pool is zero for memory of none.
type MemoryDetail struct {
	Free        bool
	Addr, Bytes uint64
	Kind        MemoryKind
	Async       bool
	Pool        PoolDetail
}

// PoolOperation is what happened to a pool, with its number in CUPTI
// (CUpti_ActivityMemoryPoolOperationType).
type PoolOperation uint32

// The operations.
const (
	PoolCreated   PoolOperation = 1
	PoolDestroyed PoolOperation = 2
	PoolTrimmed   PoolOperation = 3
)

// PoolDetail describes a pool, which has no reserve, and what happened to it. Handle stands
// for its address.
type PoolDetail struct {
	Operation               PoolOperation // 0 for memory of the pool
	Handle, Threshold, Used uint64
	Keep                    uint64 // bytes of reserve that trimming was to keep
}

// GraphDetail describes a launch of a graph, which begins on the activity's device and ends
// on this one.
type GraphDetail struct {
	EndDevice  int
	EndContext uint32
}

// NameDetail is the name that a program gave to a stream.
type NameDetail struct{ Name string }

// StreamDetail describes a stream that was made.
type StreamDetail struct {
	Priority    int
	NonBlocking bool
}

// ExternalDetail says that the call with the activity's correlation happened while a
// program had pushed an id.
type ExternalDetail struct {
	Kind uint32
	ID   uint64
}

// tracer records activities.
type tracer struct {
	kinds   [activityKinds]bool
	any     bool // one of them is recorded
	clock   profilerClock
	calls   uint32 // correlations issued
	markers uint32
	place   GraphPlace // of the work that the call in progress makes
	open    []openActivity
	done    []Activity
	lost    uint64
}

// openActivity is work on the chip.
type openActivity struct {
	a     Activity
	on    *Runtime
	first *gpu.Op // with which it begins: op, except for a graph
	op    *gpu.Op // with which it ends
	shown uint64  // by a profiler's clock, when it was submitted
}

// at is the time of a cycle of its device.
func (o *openActivity) at(cycle uint64) uint64 {
	return o.on.trace.time(o.shown, o.on.nanoseconds(cycle))
}

// mostActivities limits those that nobody has taken yet, our choice.
const mostActivities = 1 << 20

// clockStart is the time at which the simulated clock starts, our choice: for profilers
// a time of zero means that it is unknown.
const clockStart = 1_000_000_000

// Trace turns the recording of a kind on or off. Devices and contexts that are there are
// recorded at once.
func (t *Thread) Trace(kind ActivityKind, on bool) {
	t.observed(func(r *Runtime) {
		x := &r.trace
		if kind == 0 || kind >= activityKinds || x.kinds[kind] == on {
			return
		}
		x.kinds[kind] = on
		x.any = slices.Contains(x.kinds[:], true)
		if !on {
			return
		}
		switch kind {
		case ActivityDevice:
			for _, d := range r.devices {
				r.record(Activity{Kind: kind, Device: d.number, Detail: d.props})
			}
		case ActivityContext:
			for _, c := range r.contextList() {
				r.recordContext(c)
			}
		}
	})
}

// observed runs a call of a profiler. While the device is calling the thread, it has no
// effect.
func (t *Thread) observed(f func(r *Runtime)) {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	if t.r.ses != nil {
		t.r.caller = t
		f(t.r)
	}
}

// Now is the simulated time in nanoseconds. In a functional run, which has no time, a warp
// instruction counts as one. shown is what a profiler's clock shows, 0 without one.
func (t *Thread) Now(shown uint64) (ns uint64) {
	t.observed(func(r *Runtime) {
		r.trace.read(shown)
		ns = r.now()
	})
	return ns
}

// SetClock makes the clock go on from what a profiler's own one shows. That ticks rate times
// in a nanosecond; each call of the program reads it, and simulated time passes in addition.
func (t *Thread) SetClock(shown uint64, rate float64) {
	t.observed(func(r *Runtime) {
		r.trace.clock = profilerClock{set: true, shown: shown, rate: rate, since: r.simulated()}
	})
}

// profilerClock is the clock of a profiler.
type profilerClock struct {
	set   bool
	shown uint64 // last
	rate  float64
	since uint64 // simulated nanoseconds
}

// read notes what a profiler's clock shows.
func (x *tracer) read(shown uint64) {
	if x.clock.set {
		x.clock.shown = max(x.clock.shown, shown)
	}
}

// time is what the clock shows after simulated nanoseconds, if a profiler's one has shown
// the given time.
func (x *tracer) time(shown, ns uint64) uint64 {
	if !x.clock.set {
		return clockStart + ns
	}
	return shown + uint64(float64(ns-min(ns, x.clock.since))*x.clock.rate)
}

// now is the time of the host.
func (r *Runtime) now() uint64 { return r.trace.time(r.trace.clock.shown, r.simulated()) }

// simulated is the simulated time in nanoseconds.
func (r *Runtime) simulated() uint64 {
	if r.chip == nil {
		return r.devices[0].ses.Res.WarpInstructions
	}
	var cycles uint64
	for _, d := range r.devices {
		cycles = max(cycles, d.chip.Now())
	}
	return r.nanoseconds(cycles)
}

// nanoseconds converts a time of a chip.
func (r *Runtime) nanoseconds(cycles uint64) uint64 {
	hi, lo := bits.Mul64(cycles, 1e9)
	ns, _ := bits.Div64(hi%uint64(r.cfg.Clocks.Core), lo, uint64(r.cfg.Clocks.Core))
	return ns
}

// record adds an activity if its kind is recorded.
func (r *Runtime) record(a Activity) {
	x := &r.trace
	if !x.kinds[a.Kind] {
		return
	}
	if len(x.done) >= mostActivities {
		x.lost++
		return
	}
	x.done = append(x.done, a)
}

// Activities returns what has happened and ended since the last call. all: also work that
// has not ended, whose End is 0.
func (t *Thread) Activities(all bool) (list []Activity) {
	t.observed(func(r *Runtime) {
		x := &r.trace
		kept := x.open[:0]
		for _, o := range x.open {
			switch {
			case o.op.Ended():
				o.a.Start, o.a.End = o.at(o.first.Start), o.at(o.op.End)
			case o.on.sticky != Success: // it never ends
				x.lost++
				continue
			case !all:
				kept = append(kept, o)
				continue
			case o.first.Begun():
				o.a.Start = o.at(o.first.Start)
			}
			x.done = append(x.done, o.a)
		}
		clear(x.open[len(kept):])
		x.open = kept
		list, x.done = x.done, nil
	})
	return list
}

// LostActivities returns how many were not kept since the last call.
func (t *Thread) LostActivities() (n uint64) {
	t.observed(func(r *Runtime) { n, r.trace.lost = r.trace.lost, 0 })
	return n
}

// BeginCall notes that the thread begins a call of the program, and returns its number,
// which what it causes carries, and the time. shown is as in Now.
func (t *Thread) BeginCall(thread uint32, shown uint64) (correlation uint32, now uint64) {
	t.observed(func(r *Runtime) {
		r.trace.read(shown)
		r.trace.calls++
		t.call = r.trace.calls
		t.number = thread
		correlation, now = t.call, r.now()
		r.correlate(t, t.call)
	})
	return correlation, now
}

// EndCall notes that a call, of the driver or the runtime, has ended; it is recorded if
// wanted.
func (t *Thread) EndCall(driver bool, correlation uint32, start, shown uint64, wanted bool, c CallDetail) {
	t.observed(func(r *Runtime) {
		r.trace.read(shown)
		t.call = 0
		kind := ActivityRuntimeCall
		if driver {
			kind = ActivityDriverCall
		}
		if wanted {
			r.record(Activity{Kind: kind, Start: start, End: r.now(), Correlation: correlation, Detail: c})
		}
	})
}

// KernelName is the name of a kernel, given by the host function that stands for it; ""
// if it is none.
func (t *Thread) KernelName(fn uint64) (name string) {
	t.observed(func(r *Runtime) {
		if f := r.kernels[fn]; f != nil {
			name = f.name
		}
	})
	return name
}

// ContextNow returns the handle and the number of the thread's context, 0 if it has none.
func (t *Thread) ContextNow() (h uint64, id uint32) {
	t.observed(func(r *Runtime) {
		if c, res := r.here(t); res == ResultSuccess {
			h, id = t.contexts[len(t.contexts)-1], uint32(c.id)
		}
	})
	return h, id
}

// StreamNumber is the number of a stream in activities.
func (t *Thread) StreamNumber(h uint64) (id uint32, ok bool) {
	t.observed(func(r *Runtime) {
		if s, err := r.stream(h); err == Success {
			id, ok = uint32(s.id), true
		}
	})
	return id, ok
}

// correlate records the ids that a profiler has pushed for a call.
func (r *Runtime) correlate(t *Thread, correlation uint32) {
	for _, x := range t.external {
		r.record(Activity{Kind: ActivityExternal, Correlation: correlation, Detail: x[len(x)-1]})
	}
}

// PushExternal pushes an id that calls of the thread are recorded with, one for each kind.
func (t *Thread) PushExternal(kind uint32, id uint64) {
	t.observed(func(*Runtime) {
		for i, x := range t.external {
			if x[0].Kind == kind && len(x) < deepestRanges {
				t.external[i] = append(x, ExternalDetail{kind, id})
				return
			}
		}
		t.external = append(t.external, []ExternalDetail{{kind, id}})
	})
}

// PopExternal pops the last id of a kind, and reports whether there was one.
func (t *Thread) PopExternal(kind uint32) (id uint64, ok bool) {
	t.observed(func(*Runtime) {
		for i, x := range t.external {
			if n := len(x) - 1; x[0].Kind == kind {
				id, ok = x[n].ID, true
				if t.external[i] = x[:n]; n == 0 {
					t.external = slices.Delete(t.external, i, i+1)
				}
				return
			}
		}
	})
	return id, ok
}

// cause is the number of the call that causes work. Work of a library, which makes no
// calls of the program, has one of its own.
func (r *Runtime) cause() uint32 {
	if r.caller.call != 0 {
		return r.caller.call
	}
	r.trace.calls++
	r.correlate(r.caller, r.trace.calls)
	return r.trace.calls
}

// contextOf is the number of the context of a call that concerns a device.
func (r *Runtime) contextOf(on *Runtime) uint32 {
	if c, res := r.here(r.caller); res == ResultSuccess && c.on == on {
		return uint32(c.id)
	}
	return uint32(r.ctx.list[on.primary()].id)
}

// contextList returns the contexts in the order in which they were made.
func (r *Runtime) contextList() []*driverContext {
	var list []*driverContext
	for _, c := range r.ctx.list {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *driverContext) int { return int(a.id) - int(b.id) })
	return list
}

func (r *Runtime) recordContext(c *driverContext) {
	r.record(Activity{Kind: ActivityContext, Device: c.on.number, Context: uint32(c.id)})
}

// observe records work of the device that a stream, perhaps of another device, has got,
// unless nobody wants it: with an action of the chip it ends with that, without one it
// began at the given time and has ended.
func (r *Runtime) observe(s *stream, w work, op *gpu.Op, start uint64) {
	x := &r.trace
	if !x.any || x.kinds[ActivityGraph] && x.place.Graph != 0 { // a graph as a whole
		return
	}
	a := Activity{Device: r.number, Stream: uint32(s.id), Start: start}
	switch w := w.(type) {
	case *kernelWork:
		if a.Kind = ActivityConcurrentKernel; !x.kinds[a.Kind] {
			a.Kind = ActivityKernel
		}
		if !x.kinds[a.Kind] {
			return
		}
		k := w.f.kernel
		local := k.LocalBytes()
		a.Detail = KernelDetail{
			Name: k.Name(), Number: r.launches - 1, Grid: w.call.Grid, Block: w.call.Block, Cluster: w.call.Cluster,
			Registers: k.Registers(), Static: k.StaticShared(), Dynamic: w.launch.Shared, Local: local,
			LocalTotal: uint64(local) * uint64(r.props.SMs*r.props.ThreadsPerSM), Prefer: gpu.Preference(w.f.prefer), Cooperative: w.launch.Cooperative,
		}
	case *copyWork:
		c := CopyDetail{
			Bytes: w.rows.Width * w.rows.Height * w.rows.Depth, Dst: r.memoryKind(w.dst), Src: r.memoryKind(w.src), To: r.number, From: r.number, Async: w.async,
		}
		if a.Kind = ActivityCopy; onDevice(w.dst) && onDevice(w.src) {
			to, from := r.at(w.dst), r.at(w.src)
			c.To, c.From, c.ToCtx, c.FrCtx = to.number, from.number, r.contextOf(to), r.contextOf(from)
			if to != from {
				a.Kind = ActivityPeerCopy
			}
		}
		a.Detail = c
	case *fillWork:
		f := FillDetail{Bytes: w.rows.Width * w.rows.Height * w.rows.Depth, Dst: r.memoryKind(w.dst)}
		for i, b := range w.value {
			f.Value |= uint32(b) << (8 * (i & 3))
		}
		a.Kind, a.Detail = ActivityFill, f
	case *markWork:
		if w.nodeKind == NodeEventWait {
			a.Kind, a.End = ActivityWait, start
			a.Detail = WaitDetail{Kind: WaitInStream, Event: eventNumber(w.handle)}
		}
	}
	if !x.kinds[a.Kind] || op != nil && op.Kind == gpu.OpMark && a.Kind != ActivityWait {
		return
	}
	a.Context, a.Correlation, a.Submitted, a.Place = r.contextOf(r), r.cause(), start, x.place
	if a.Kind == ActivityWait {
		op = nil
	}
	r.follow(a, op, op)
}

// follow records an activity that ends with an action of the chip, or now without one.
func (r *Runtime) follow(a Activity, first, op *gpu.Op) {
	x := &r.trace
	switch {
	case op == nil:
		a.End = r.now()
		r.record(a)
	case len(x.open) >= mostActivities:
		x.lost++
	default:
		x.open = append(x.open, openActivity{a, r, first, op, x.clock.shown})
	}
}

// observeGraph records a launch of a graph in a stream: with its first and its last action of
// the chip or, without them, from the given time until now.
func (r *Runtime) observeGraph(x *graphExec, s *stream, first, op *gpu.Op, start uint64) {
	if !r.trace.kinds[ActivityGraph] {
		return
	}
	begin, end := r, r
	if n := x.order.nodes; len(n) > 0 {
		begin, end = n[0].on, n[len(n)-1].on
	}
	r.follow(Activity{
		Kind: ActivityGraph, Start: start, Submitted: start, Device: begin.number, Context: r.contextOf(begin), Stream: uint32(s.id), Correlation: r.cause(),
		Place: GraphPlace{Graph: uint32(x.handle)}, Detail: GraphDetail{end.number, r.contextOf(end)},
	}, first, op)
}

// poolChanged records what happened to a pool.
func (r *Runtime) poolChanged(d PoolDetail) {
	if r.trace.kinds[ActivityPool] {
		now := r.now()
		r.record(Activity{Kind: ActivityPool, Start: now, End: now, Device: r.number, Correlation: r.cause(), Detail: d})
	}
}

// memoryKind is the kind of memory at an address.
func (r *Runtime) memoryKind(addr uint64) MemoryKind {
	if !onDevice(addr) {
		if s := r.sharedAt(addr); s != nil {
			return s.memoryKind()
		}
		return PageableKind
	}
	for _, a := range r.arrays {
		if a.on == r.at(addr) && addr >= a.addr && addr-a.addr < a.bytes() {
			return ArrayKind
		}
	}
	return DeviceKind
}

// eventNumber is the number of an event for profilers.
func eventNumber(handle uint64) uint32 { return uint32((handle - handleBase) / 16) }

// waited is lastly for waits that are recorded.
func (r *Runtime) waited(kind WaitKind, s *stream, event uint64, wait func() Error) Error {
	defer r.tellWait(s, event)
	if !r.trace.kinds[ActivityWait] {
		return r.lastly(wait)
	}
	start := r.now()
	err := r.lastly(wait)
	a := Activity{Kind: ActivityWait, Start: start, End: r.now(), Context: r.contextOf(r), Correlation: r.cause(), Device: r.number, Stream: NoStream}
	if s != nil {
		a.Stream = uint32(s.id)
	}
	d := WaitDetail{Kind: kind, Result: uint32(err)}
	if event != 0 {
		d.Event = eventNumber(event)
	}
	a.Detail = d
	r.record(a)
	return err
}

// NoStream is the stream of a wait for more or less than a stream
// (CUPTI_SYNCHRONIZATION_INVALID_VALUE).
const NoStream = 1<<32 - 1

// Describe sets the attributes of the next range or mark that the thread begins.
func (t *Thread) Describe(d MarkerData) {
	t.observed(func(r *Runtime) {
		if r.trace.any {
			t.described = &d
		}
	})
}

// allocated records that memory of a device, or of the host, begins or ends.
func (r *Runtime) allocated(s *stream, m MemoryDetail) {
	r.tellMemory(s, &m)
	if !r.trace.kinds[ActivityMemory] {
		return
	}
	now := r.now()
	a := Activity{Kind: ActivityMemory, Start: now, End: now, Device: r.number, Context: r.contextOf(r), Stream: NoStream, Correlation: r.cause()}
	if s != nil {
		a.Stream = uint32(s.id)
	}
	a.Detail = m
	r.record(a)
}

// marked records the begin or the end of a range, or a mark, which has neither.
func (r *Runtime) marked(m MarkerDetail) {
	if d := r.caller.described; d != nil && !m.End {
		r.caller.described = nil
		d.ID = m.ID
		r.record(Activity{Kind: ActivityMarkerData, Detail: *d})
	}
	if r.trace.kinds[ActivityMarker] {
		m.Thread = r.caller.number
		now := r.now()
		r.record(Activity{Kind: ActivityMarker, Start: now, End: now, Detail: m})
	}
}
