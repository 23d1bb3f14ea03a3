package cuda

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/run"
)

// trace starts the recording of kinds.
func (b *bench) trace(kinds ...ActivityKind) {
	for _, k := range kinds {
		b.Trace(k, true)
	}
}

// activities are those of a kind among what happened since the last call.
func activities(list []Activity, kind ActivityKind) []Activity {
	return slices.DeleteFunc(slices.Clone(list), func(a Activity) bool { return a.Kind != kind })
}

// TestActivitiesOfWork: kernels, copies and fills are recorded with their streams, calls and
// times. In a timing run these are those of events around them; in a functional run they
// count warp instructions.
func TestActivitiesOfWork(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		b := start(t, mode)
		d := b.malloc(4 * 64)
		b.want("launch before", b.run("scale", 32, 0, d), Success)
		b.trace(ActivityConcurrentKernel, ActivityCopy, ActivityFill)
		s, err := b.StreamCreate(0, 0)
		b.want("stream", err, Success)
		var events [3]uint64
		record := func(i int) {
			events[i], err = b.EventCreate(0)
			b.want("event", err, Success)
			b.want("record", b.EventRecord(events[i], s, 0), Success)
		}
		b.want("fill", b.Fill(d, 7, line(256), s), Success)
		record(0)
		call, _ := b.BeginCall(5, 0)
		b.want("launch", b.run("scale", 64, s, d), Success)
		b.EndCall(false, call, 0, 0, true, CallDetail{})
		record(1)
		b.want("launch", b.run("scale", 32, s, d), Success)
		record(2)
		b.want("copy", b.Copy(stack, d, 4*64, DeviceToHost, s, true), Success)
		b.want("wait", b.StreamSynchronize(s), Success)
		list := b.Activities(false)

		kernels, copies, fills := activities(list, ActivityConcurrentKernel), activities(list, ActivityCopy), activities(list, ActivityFill)
		if len(list) != 4 || len(kernels) != 2 || len(copies) != 1 || len(fills) != 1 {
			t.Fatalf("%d activities: %+v", len(list), list)
		}
		number := uint32(0)
		for _, a := range list {
			number = a.Stream
			if a.Stream == 0 || a.Stream != list[0].Stream || a.Context != 1 || a.Device != 0 || a.Start == 0 || a.End < a.Start || a.End > b.Now(0) || a.Submitted > a.Start {
				t.Errorf("%+v", a)
			}
		}
		if id, ok := b.StreamNumber(s); !ok || id != number {
			t.Errorf("stream %d, %v; want %d", id, ok, number)
		}
		if kernels[0].Correlation != call || kernels[1].Correlation == call || kernels[1].Correlation == 0 {
			t.Errorf("correlations %d and %d, call %d", kernels[0].Correlation, kernels[1].Correlation, call)
		}
		k := kernels[0].Detail.(KernelDetail)
		if k.Name != "scale" || k.Number != 1 || k.Grid.Count() != 1 || k.Block.X != 64 || k.Registers == 0 {
			t.Errorf("kernel %+v", k)
		}
		if c := copies[0].Detail.(CopyDetail); c != (CopyDetail{Bytes: 256, Dst: PageableKind, Src: DeviceKind, Async: true}) {
			t.Errorf("copy %+v", c)
		}
		if f := fills[0].Detail.(FillDetail); f != (FillDetail{Value: 7, Bytes: 256, Dst: DeviceKind}) {
			t.Errorf("fill %+v", f)
		}
		if kernels[0].End > kernels[1].Start || kernels[1].End > copies[0].Start || fills[0].End > kernels[0].Start {
			t.Errorf("out of order: %+v", list)
		}
		for i, a := range kernels {
			ms, err := b.EventElapsed(events[i], events[i+1])
			b.want("elapsed", err, Success)
			if ns := float64(a.End - a.Start); ns < ms*1e6-1 || ns > ms*1e6+1 || ns == 0 {
				t.Errorf("kernel %d took %g ns, its events say %g", i, ns, ms*1e6)
			}
		}
		b.Trace(ActivityConcurrentKernel, false)
		b.want("launch after", b.run("scale", 32, 0, d), Success)
		if list := b.Activities(true); len(list) != 0 {
			t.Errorf("recorded while off: %+v", list)
		}
	})
}

// TestNoActivity: launches that the user leaves out or that fault have no records, and one
// that has not ended has none yet, or one without an end.
func TestNoActivity(t *testing.T) {
	t.Run("left out", func(t *testing.T) {
		both(t, func(t *testing.T, mode func(*Options)) {
			b := start(t, func(o *Options) {
				if mode != nil {
					mode(o)
				}
				var err error
				if o.Select, err = run.ParseSelection("1"); err != nil {
					t.Fatal(err)
				}
			})
			d := b.malloc(128)
			b.trace(ActivityKernel)
			for range 3 {
				b.want("launch", b.run("scale", 32, 0, d), Success)
			}
			b.want("wait", b.Synchronize(), Success)
			if list := b.Activities(false); len(list) != 1 || list[0].Detail.(KernelDetail).Number != 1 {
				t.Errorf("%+v", list)
			}
		})
	})
	t.Run("fault", func(t *testing.T) {
		both(t, func(t *testing.T, mode func(*Options)) {
			b := start(t, mode)
			b.trace(ActivityKernel)
			b.run("stop", 32, 0)
			b.Synchronize()
			if list := b.Activities(true); len(list) != 0 {
				t.Errorf("%+v", list)
			}
			if n := b.LostActivities(); n > 1 {
				t.Errorf("%d lost", n)
			}
		})
	})
	t.Run("not ended", func(t *testing.T) {
		b := start(t, timing)
		d := b.malloc(128)
		b.trace(ActivityKernel)
		b.want("launch", b.run("scale", 32, 0, d), Success)
		if list := b.Activities(false); len(list) != 0 {
			t.Errorf("before its end: %+v", list)
		}
		if list := b.Activities(true); len(list) != 1 || list[0].End != 0 {
			t.Errorf("without its end: %+v", list)
		}
		b.want("wait", b.Synchronize(), Success)
		if list := b.Activities(true); len(list) != 0 {
			t.Errorf("again: %+v", list)
		}
	})
}

// TestActivitiesOfThreads: ids that a thread has pushed go with its calls alone, the last of
// each kind, and waits, ranges, names, streams and contexts are recorded where they happen.
func TestActivitiesOfThreads(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		b := start(t, mode)
		b.trace(ActivityRuntimeCall, ActivityDriverCall, ActivityExternal, ActivityWait, ActivityMarker, ActivityName, ActivityStream, ActivityDevice, ActivityContext)
		other := b.r.Thread(2)
		b.PushExternal(3, 41)
		b.PushExternal(3, 42)
		b.PushExternal(4, 43)
		var text []string
		for i, th := range []*Thread{b.Thread, other, b.Thread} {
			if i == 2 {
				id, ok := th.PopExternal(3)
				_, none := th.PopExternal(5)
				text = append(text, fmt.Sprint("popped ", id, ok, none))
			}
			n, at := th.BeginCall(uint32(10+i), 0)
			th.EndCall(i == 1, n, at, 0, true, CallDetail{ID: uint32(20 + i), Thread: uint32(10 + i)})
		}
		b.PopExternal(3)
		b.PopExternal(4)
		s, _ := b.StreamCreate(nonBlocking, -3)
		b.NameStream(s, "mine")
		b.PushRange(b.CreateDomain("house"), "work")
		b.Mark(0, "here")
		b.PopRange(77)
		b.EndRange(b.StartRange(0, "long"))
		b.want("wait", b.StreamSynchronize(s), Success)
		b.want("wait", b.Synchronize(), Success)
		for _, a := range b.Activities(false) {
			if d, ok := a.Detail.(Properties); ok {
				a.Detail = d.Name
			}
			text = append(text, fmt.Sprintf("%d: %+v", a.Kind, a.Detail))
		}
		want := strings.Split(strings.TrimSpace(`
popped 42 true false
8: rtx-2060
9: <nil>
39: {Kind:3 ID:42}
39: {Kind:4 ID:43}
5: {ID:20 Thread:10 Result:0}
4: {ID:21 Thread:11 Result:0}
39: {Kind:3 ID:41}
39: {Kind:4 ID:43}
5: {ID:22 Thread:12 Result:0}
37: {Priority:-3 NonBlocking:true}
11: {Name:mine}
12: {ID:1 Begin:true End:false Name:work Domain:house Thread:12}
12: {ID:2 Begin:false End:false Name:here Domain: Thread:12}
12: {ID:3 Begin:true End:false Name:long Domain: Thread:12}
12: {ID:3 Begin:false End:true Name: Domain: Thread:12}
38: {Kind:3 Event:0 Result:0}
38: {Kind:4 Event:0 Result:0}
`), "\n")
		slices.Sort(text)
		slices.Sort(want)
		if !slices.Equal(text, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(text, "\n"), strings.Join(want, "\n"))
		}
	})
}

// TestActivitiesOfMemory: allocations and their ends are recorded with their kinds and sizes,
// unless they fail.
func TestActivitiesOfMemory(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		b := start(t, mode)
		b.trace(ActivityMemory)
		s, _ := b.StreamCreate(0, 0)
		device := b.malloc(100)
		managed, err := b.MallocManaged(200, 1)
		b.want("managed", err, Success)
		pinned, err := b.MallocHost(300, 0)
		b.want("pinned", err, Success)
		pooled, err := b.MallocAsync(400, 0, s)
		b.want("pooled", err, Success)
		pool, err := b.CurrentPool(0)
		b.want("pool", err, Success)
		b.want("threshold", b.SetPoolAttribute(pool, PoolReleaseThreshold, 500), Success)
		_, err = b.Malloc(1 << 60)
		b.want("too large", err, MemoryAllocation)
		b.want("nothing", b.Free(0), Success)
		b.want("free", b.Free(device), Success)
		b.want("free again", b.Free(device), InvalidValue)
		b.want("free", b.Free(managed), Success)
		b.want("free", b.FreeHost(pinned), Success)
		b.want("free", b.FreeAsync(pooled, s), Success)
		stream, _ := b.StreamNumber(s)
		var got []MemoryDetail
		for _, a := range b.Activities(false) {
			d := a.Detail.(MemoryDetail)
			if want := uint32(NoStream); d.Async && a.Stream != stream || !d.Async && a.Stream != want {
				t.Errorf("%+v is in stream %d", d, a.Stream)
			}
			got = append(got, d)
		}
		want := []MemoryDetail{
			{Addr: device, Bytes: 100, Kind: DeviceKind}, {Addr: managed, Bytes: 200, Kind: ManagedKind}, {Addr: pinned, Bytes: 300, Kind: PinnedKind},
			{Addr: pooled, Bytes: 400, Kind: DeviceKind, Async: true, Pool: PoolDetail{Handle: pool, Used: 400}},
		}
		for _, d := range want {
			d.Free = true
			if d.Pool.Handle != 0 {
				d.Pool.Threshold = 500
			}
			want = append(want, d)
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
	})
}

// TestMarkerData: attributes go with the next range or mark of the thread, once.
func TestMarkerData(t *testing.T) {
	b := start(t, nil)
	b.trace(ActivityMarker, ActivityMarkerData)
	b.Describe(MarkerData{Color: 5, Colored: true})
	b.PushRange(0, "a")
	b.Describe(MarkerData{Category: 6})
	b.PopRange(0)
	b.Mark(0, "b")
	b.Mark(0, "c")
	var got []any
	for _, a := range b.Activities(false) {
		got = append(got, a.Detail)
	}
	want := []any{
		MarkerData{ID: 1, Color: 5, Colored: true}, MarkerDetail{ID: 1, Begin: true, Name: "a"}, MarkerDetail{ID: 1, End: true},
		MarkerData{ID: 2, Category: 6}, MarkerDetail{ID: 2, Name: "b"}, MarkerDetail{ID: 3, Name: "c"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// TestProfilersClock: times go on from a profiler's own clock at its rate. Work has the time
// that it showed when the work was submitted, and simulated time in addition.
func TestProfilersClock(t *testing.T) {
	b := start(t, timing)
	d := b.malloc(128)
	b.trace(ActivityKernel)
	run := func(shown uint64) Activity {
		b.BeginCall(1, shown)
		b.want("launch", b.run("scale", 32, 0, d), Success)
		b.EndCall(false, 1, 0, shown+5, true, CallDetail{})
		b.want("wait", b.Synchronize(), Success)
		list := b.Activities(false)
		if len(list) != 1 {
			t.Fatalf("%+v", list)
		}
		return list[0]
	}
	first := run(0)
	took := first.End - first.Start
	b.SetClock(1<<40, 2)
	second := run(1<<40 + 100)
	if second.Start != 1<<40+100 {
		t.Errorf("starts at %d, want %d", second.Start, 1<<40+100)
	}
	lasts := (second.End - second.Start) / 2
	third := run(1<<40 + 1000)
	if want := 1<<40 + 1000 + 2*lasts; third.Start+2 < want || third.Start > want+2 {
		t.Errorf("starts at %d, want %d", third.Start, want)
	}
	if lasts > took || lasts < took/2 { // the first one filled the caches
		t.Errorf("lasts %d ns, the first one %d", lasts, took)
	}
	if now := b.Now(1); now < third.End { // a clock that goes back
		t.Errorf("now %d, the last work ended at %d", now, third.End)
	}
}

// TestActivitiesOfGraphs: kernels of a graph are recorded with the device of their node, and
// with the call that launched the graph, whatever other threads call meanwhile.
func TestActivitiesOfGraphs(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		b := several(t, 2, mode)
		d := b.malloc(64)
		g, _ := b.GraphCreate(0)
		first := b.node(g, HostNode(1, 0))
		b.node(g, KernelNode(kernel("add"), warp(16), false, args(d, 1)), first)
		b.use(1)
		e := b.malloc(64)
		last := b.node(g, KernelNode(kernel("add"), warp(16), false, args(e, 1)), first)
		b.node(g, FillNode(e, []byte{1}, line(64)), last)
		b.use(0)
		x := b.exec(g, 0)
		b.host.calls = []func(uint64){func(uint64) {
			if mode == nil { // otherwise the function is called with the lock held
				other := b.r.Thread(2)
				other.BeginCall(6, 0)
				b.want("another thread", other.SetDevice(1), Success)
			}
		}}
		b.trace(ActivityConcurrentKernel, ActivityFill)
		call, _ := b.BeginCall(5, 0)
		b.want("launch", b.ExecLaunch(x, 0), Success)
		b.EndCall(false, call, 0, 0, true, CallDetail{})
		b.want("wait", b.Synchronize(), Success)
		contexts := map[uint32]int{}
		list := b.Activities(true)
		var nodes []uint64
		devices := make([]int, 0, len(list))
		for _, a := range list {
			devices = append(devices, a.Device)
			if a.Correlation != call || a.End == 0 {
				t.Errorf("correlation %d, end %d; want %d, and an end", a.Correlation, a.End, call)
			}
			if a.Place.Graph != uint32(x) {
				t.Errorf("graph %d, want %d", a.Place.Graph, uint32(x))
			}
			nodes = append(nodes, a.Place.Node)
			if before, ok := contexts[a.Context]; ok && before != a.Device {
				t.Errorf("context %d is of devices %d and %d", a.Context, before, a.Device)
			}
			contexts[a.Context] = a.Device
		}
		slices.Sort(devices)
		if !slices.Equal(devices, []int{0, 1, 1}) {
			t.Errorf("activities on devices %v, want 0, 1 and 1", devices)
		}
		slices.Sort(nodes)
		if made, _ := b.GraphNodes(g, false); !slices.Equal(nodes, made[1:]) {
			t.Errorf("nodes %v, want %v", nodes, made[1:])
		}
		b.want("launch", b.run("add", 16, 0, d, 1), Success)
		if list := b.Activities(true); len(list) != 1 || list[0].Place != (GraphPlace{}) {
			t.Errorf("a launch without a graph: %+v", list)
		}
	})
}

// TestActivityOfGraph: where graphs are recorded as a whole, there is one activity for each
// launch, from its first node to its last one, and none for nodes.
func TestActivityOfGraph(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		b := start(t, mode)
		s, _ := b.StreamCreate(0, 0)
		before, _ := b.EventCreate(0)
		after, _ := b.EventCreate(0)
		x := b.exec(b.diamond(), 0)
		b.trace(ActivityConcurrentKernel, ActivityGraph)
		b.want("record", b.EventRecord(before, s, 0), Success)
		call, _ := b.BeginCall(5, 0)
		b.want("launch", b.ExecLaunch(x, s), Success)
		b.EndCall(false, call, 0, 0, true, CallDetail{})
		b.want("record", b.EventRecord(after, s, 0), Success)
		b.want("launch", b.run("turns", 32, s, short), Success)
		b.want("wait", b.Synchronize(), Success)
		list := b.Activities(true)
		stream, _ := b.StreamNumber(s)
		graphs := activities(list, ActivityGraph)
		if len(list) != 2 || len(graphs) != 1 {
			t.Fatalf("got %+v, want a graph and a kernel", list)
		}
		a := graphs[0]
		if a.Correlation != call || a.Stream != stream || a.Place != (GraphPlace{Graph: uint32(x)}) || a.Detail != (GraphDetail{0, a.Context}) || a.Context == 0 {
			t.Errorf("%+v", a)
		}
		ms, err := b.EventElapsed(before, after)
		b.want("elapsed", err, Success)
		if ns := float64(a.End - a.Start); ns < ms*1e6-1 || ns > ms*1e6+1 || ns == 0 {
			t.Errorf("it took %g ns, its events say %g", ns, ms*1e6)
		}
	})
}

// TestActivitiesOfPools: pools are recorded when they are made, trimmed and destroyed.
func TestActivitiesOfPools(t *testing.T) {
	b := start(t, nil)
	b.trace(ActivityPool)
	p, err := b.PoolCreate(0)
	b.want("pool", err, Success)
	b.want("threshold", b.SetPoolAttribute(p, PoolReleaseThreshold, 500), Success)
	_, err = b.MallocAsync(100, p, 0)
	b.want("memory", err, Success)
	b.want("trim", b.PoolTrim(p, 50), Success)
	b.want("destroy", b.PoolDestroy(p), Success)
	b.want("destroy again", b.PoolDestroy(p), InvalidValue)
	b.want("trim again", b.PoolTrim(p, 50), InvalidValue)
	var got []PoolDetail
	for _, a := range b.Activities(false) {
		got = append(got, a.Detail.(PoolDetail))
	}
	want := []PoolDetail{
		{Operation: PoolCreated, Handle: p}, {Operation: PoolTrimmed, Handle: p, Threshold: 500, Used: 100, Keep: 50},
		{Operation: PoolDestroyed, Handle: p, Threshold: 500, Used: 100},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}
