package cuda

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// lanes are the streams of TestOrder: 0 is the legacy default stream; a, b and c
// synchronise with it, n and m do not; p is the thread's own default stream and q
// that of another thread.
type lanes struct {
	*bench
	other  *bench // another thread
	stream map[string]uint64
	event  [2]uint64
}

// long and short are numbers of iterations for a kernel.
const long, short = 600, 60

// do runs a step: "a long" launches a kernel in a stream, "record a 0" records an
// event, "wait a 0" waits for it, "sync a" and "sync" make the host wait, "came 0"
// makes it wait for an event, "copy" copies to the host and "copy a" does so in a
// stream, "graph a" launches a graph of two long kernels in parallel and a short
// one after both.
func (l *lanes) do(step string) {
	l.t.Helper()
	w := strings.Fields(step)
	b, s := l.bench, uint64(0)
	if len(w) > 1 && w[0] == "q" || len(w) > 1 && w[1] == "q" {
		b = l.other
	}
	arg := func(i int) uint64 {
		if i < len(w) {
			s = l.stream[w[i]]
		}
		return s
	}
	event := func(i int) uint64 { return l.event[w[i][0]-'0'] }
	var err Error
	switch w[0] {
	case "record":
		err = b.EventRecord(event(2), arg(1), 0)
	case "wait":
		err = b.StreamWait(arg(1), event(2), 0)
	case "sync":
		if len(w) == 1 {
			err = b.Synchronize()
		} else {
			err = b.StreamSynchronize(arg(1))
		}
	case "came":
		err = b.EventSynchronize(event(1))
	case "copy":
		err = b.Copy(stack, l.stream["memory"], 4, DeviceToHost, arg(1), len(w) > 1)
	case "graph":
		err = b.ExecLaunch(l.stream["graph"], arg(1))
	default:
		err = b.run("turns", 32, arg(0), uint64(map[string]int{"long": long, "short": short}[w[1]]))
	}
	b.want(step, err, Success)
}

// TestOrder: the order of work in simulated time (CUDA programming guide, on
// streams, events and the two default streams).
func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps string
		// Relations of two launches by number: "0 before 1" (one ends before the
		// other starts), "0 with 1" (both run at the same time).
		relations string
	}{
		{"one stream", "a long; a short", "0 before 1"},
		{"two streams", "a long; b short", "0 with 1"},
		{"the default stream waits", "a long; 0 short", "0 before 1"},
		{"the default stream is waited for", "0 long; a short", "0 before 1"},
		{"the default stream between", "a long; 0 short; b short", "0 before 1; 1 before 2"},
		{"beside the default stream", "n long; 0 short", "0 with 1"},
		{"the default stream, and one beside", "0 long; n short", "0 with 1"},
		{"two beside", "n long; m short", "0 with 1"},
		{"one beside has an order", "n long; n short", "0 before 1"},
		{"one beside does not connect others", "a long; n short; 0 short", "0 with 1; 0 before 2"},
		{"a thread's own default stream waits for the legacy one", "0 long; p short", "0 before 1"},
		{"and is waited for", "p long; 0 short", "0 before 1"},
		{"two threads' own", "p long; q short", "0 with 1"},
		{"a thread's own has an order", "p long; p short", "0 before 1"},
		{"an event", "a long; record a 0; wait b 0; b short; c short", "0 before 1; 0 with 2"},
		{"an event of one beside", "n long; record n 0; wait 0 0; 0 short", "0 before 1"},
		{"an event before the work", "record a 0; a long; wait b 0; b short", "0 with 1"},
		{"an event that is recorded after the wait", "wait b 0; a long; record a 0; b short", "0 with 1"},
		{"an event that is recorded again after the wait", "a short; record a 0; wait b 0; c long; record c 0; b short", "0 before 2; 1 with 2"},
		{"an event that was recorded twice", "a long; record a 0; c short; record c 0; wait b 0; b short", "1 before 2; 0 with 2"},
		{"two events", "a long; record a 0; c short; record c 1; wait b 0; wait b 1; b short", "0 before 2; 1 before 2"},
		{"an event of the default stream", "a long; record 0 0; wait n 0; n short", "0 before 1"},
		{"the host waits for one stream", "a short; b long; sync a; c short", "0 before 2; 1 with 2"},
		{"the host waits for all", "a short; n long; sync; c short", "0 before 2; 1 before 2"},
		{"the host waits for an event", "a short; record a 0; a long; came 0; c short", "0 before 2; 1 with 2"},
		{"the host waits for the default stream", "a short; n long; sync 0; c short", "0 before 2; 1 with 2"},
		{"the host waits for nothing", "a long; sync b; c short", "0 with 1"},
		{"a copy that waits", "a short; n long; copy; c short", "0 before 2; 1 with 2"},
		{"a copy in a stream, to memory that only the host has", "a short; b long; copy a; c short", "0 before 2; 1 with 2"},
		{"a graph", "graph a", "0 with 1; 0 before 2; 1 before 2"},
		{"a graph after its stream", "a long; graph a; a short", "0 before 1; 0 before 2; 3 before 4"},
		{"a graph beside a stream", "b long; graph a", "0 with 1; 0 with 2"},
		{"a graph twice in two streams", "graph a; graph b", "2 before 3; 2 before 4"},
		{"a graph and the default stream", "0 short; graph a; 0 short", "0 before 1; 0 before 2; 3 before 4"},
		{"a graph beside the default stream", "0 long; graph n", "0 with 1; 0 with 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, mode func(*Options)) {
				b := start(t, mode)
				l := &lanes{bench: b, stream: map[string]uint64{"0": 0, "p": streamPerThread, "q": streamPerThread, "memory": b.malloc(4)}}
				l.other = &bench{Thread: b.r.Thread(2), t: t, r: b.r, host: b.host, log: b.log}
				for i, name := range []string{"a", "b", "c", "n", "m"} {
					l.stream[name], _ = b.StreamCreate(uint32(i/3), 0)
				}
				l.event[0], _ = b.EventCreate(0)
				l.event[1], _ = b.EventCreate(noTiming)
				l.stream["graph"] = b.exec(b.diamond(), 0)
				for _, step := range strings.Split(c.steps, "; ") {
					l.do(step)
				}
				res := b.r.Result()
				if !res.OK {
					t.Fatalf("%+v", res.Error)
				}
				if mode == nil {
					return
				}
				for _, r := range strings.Split(c.relations, "; ") {
					var i, j int
					var how string
					if _, err := fmt.Sscan(r, &i, &how, &j); err != nil {
						t.Fatal(err)
					}
					x, y := res.Kernels[i], res.Kernels[j]
					if ok := how == "before" && x.EndCycle <= y.StartCycle || how == "with" && x.StartCycle < y.EndCycle && y.StartCycle < x.EndCycle; !ok {
						t.Errorf("want %s: %d..%d and %d..%d", r, x.StartCycle, x.EndCycle, y.StartCycle, y.EndCycle)
					}
				}
			})
		})
	}
}

// TestQuery: unfinished work is not ready; a program that polls reaches the end,
// and little time passes at each query.
func TestQuery(t *testing.T) {
	b := start(t, timing)
	s, _ := b.StreamCreate(nonBlocking, 0)
	e, _ := b.EventCreate(0)
	for _, c := range []struct {
		name string
		ask  func() Error
	}{
		{"stream", func() Error { return b.StreamQuery(s) }},
		{"event", func() Error { return b.EventQuery(e) }},
		{"time of an event", func() Error {
			_, err := b.EventElapsed(e, e)
			if err == NotReady {
				b.EventQuery(e)
			}
			return err
		}},
	} {
		b.want("nothing given", b.StreamQuery(s), Success)
		b.want("launch", b.run("turns", 32, s, 3000), Success)
		b.want("record", b.EventRecord(e, s, 0), Success)
		n := 0
		for ; n < 1000; n++ {
			before := b.r.chip.Now()
			err := c.ask()
			if passed := b.r.chip.Now() - before; passed > uint64(b.r.cfg.Clocks.Core)*queryTime/1e9 {
				t.Fatalf("%s: %d cycles pass", c.name, passed)
			}
			if err == Success {
				break
			}
			b.want(c.name, err, NotReady)
		}
		if n < 3 || n == 1000 {
			t.Errorf("%s: asked %d times", c.name, n)
		}
		b.LastError()
	}
	b = start(t, nil)
	b.want("launch", b.run("spin", 32, 0), Success)
	b.want("a functional run is always ready", b.StreamQuery(0), Success)
}

// TestPriority: waiting blocks of a higher priority are placed first.
func TestPriority(t *testing.T) {
	alltests.Only(t, "priorities of streams")
	for i, c := range []struct {
		name     string
		priority int
		first    bool // the second kernel ends before the first
	}{{"equal", 0, false}, {"higher", -1, true}, {"highest", -9, true}, {"lower than there is", 3, false}} {
		for k, shared := range []string{"true", "false"} {
			if i%2 != k && !alltests.On() { // one of them
				continue
			}
			b := start(t, func(o *Options) {
				timing(o)
				for _, set := range []string{"sm.blocks=1", "chip.shared_sms=" + shared} {
					if err := o.Settings.Set(set); err != nil {
						t.Fatal(err)
					}
				}
			})
			var s [2]uint64
			for i := range s {
				s[i], _ = b.StreamCreate(0, i*c.priority)
			}
			launch := func(i int, blocks uint32) {
				b.want("launch", b.Launch(kernel("turns"), Call{Grid: Dim3{X: blocks, Y: 1, Z: 1}, Block: Dim3{X: 32, Y: 1, Z: 1}, Stream: s[i]}, false,
					func(_, _ int, to []byte) { binary.LittleEndian.PutUint32(to, long) }), Success)
			}
			launch(0, 120) // four times the blocks that fit
			for range 12 { // until some blocks run
				b.StreamQuery(s[0])
			}
			launch(1, 30)
			b.want("wait", b.Synchronize(), Success)
			k := b.r.Result().Kernels
			if k[0].FirstBlockCycle >= k[1].StartCycle {
				t.Fatal("the first kernel has not begun")
			}
			if first := k[1].EndCycle < k[0].EndCycle; first != c.first {
				t.Errorf("%s, shared SMs %s: the first ends in cycle %d, the second in %d", c.name, shared, k[0].EndCycle, k[1].EndCycle)
			}
		}
	}
}

// TestHostCall: the program's function is called once everything before it in the
// stream has completed, and may call the runtime.
func TestHostCall(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		b := start(t, mode)
		s, _ := b.StreamCreate(0, 0)
		d := b.malloc(16)
		pinned, _ := b.MallocHost(16, 0)
		var saw []uint32
		b.host.calls = []func(uint64){func(data uint64) {
			saw = append(b.words(pinned, 1), uint32(data))
			_, err := b.StreamCreate(0, 0)
			b.want("a call within the call", err, Success)
		}}
		b.want("launch", b.run("add", 4, s, d, 10), Success)
		b.want("copy", b.Copy(pinned, d, 16, DeviceToHost, s, true), Success)
		b.want("call", b.HostCall(s, 1, 7), Success)
		if !slices.Equal(saw, []uint32{10, 7}) {
			t.Errorf("it saw %v", saw)
		}
	})
}

// TestPools: stream-ordered memory, and the pools' counts.
func TestPools(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		b := start(t, func(o *Options) {
			o.Settings.Memory = 64 << 20
			if mode != nil {
				mode(o)
			}
		})
		s, _ := b.StreamCreate(nonBlocking, 0)
		usual, err := b.DefaultPool(0)
		b.want("default pool", err, Success)
		count := func(pool uint64, want ...uint64) {
			t.Helper()
			var got []uint64
			for _, a := range []PoolAttribute{PoolUsedNow, PoolUsedHigh} {
				v, err := b.PoolAttribute(pool, a)
				b.want("attribute", err, Success)
				got = append(got, v)
			}
			if !slices.Equal(got, want) {
				t.Errorf("used now and at most: %v, want %v", got, want)
			}
		}
		x, err := b.MallocAsync(40, 0, s)
		b.want("malloc", err, Success)
		count(usual, 40, 40)
		b.want("launch", b.run("add", 10, s, x, 5), Success)
		b.want("free", b.FreeAsync(x, s), Success)
		b.want("free twice", b.FreeAsync(x, s), InvalidValue)
		b.want("wait", b.StreamSynchronize(s), Success)
		count(usual, 0, 40)
		b.want("anew", b.SetPoolAttribute(usual, PoolUsedHigh, 0), Success)
		count(usual, 0, 0)

		// Memory in use is freed when the work has completed.
		for range 5 {
			x, err := b.MallocAsync(40<<20, 0, s)
			b.want("malloc of most", err, Success)
			b.want("launch", b.run("add", 10, s, x, 5), Success)
			b.want("free", b.FreeAsync(x, s), Success)
		}
		_, err = b.MallocAsync(65<<20, 0, s)
		b.want("malloc of too much", err, MemoryAllocation)

		own, err := b.PoolCreate(0)
		b.want("pool", err, Success)
		x, err = b.MallocAsync(100, own, s)
		b.want("malloc of a pool", err, Success)
		count(own, 100, 100)
		b.want("free, and wait", b.Free(x), Success)
		count(own, 0, 100)
		b.want("make it current", b.SetCurrentPool(0, own), Success)
		x, _ = b.MallocAsync(60, 0, s)
		count(own, 60, 100)
		b.want("threshold", b.SetPoolAttribute(own, PoolReleaseThreshold, 1<<40), Success)
		if v, err := b.PoolAttribute(own, PoolReleaseThreshold); v != 1<<40 || err != Success {
			t.Errorf("threshold %d, %v", v, err)
		}
		b.want("destroy the default pool", b.PoolDestroy(usual), InvalidValue)
		b.want("destroy", b.PoolDestroy(own), Success)
		b.want("destroy twice", b.PoolDestroy(own), InvalidValue)
		_, err = b.MallocAsync(4, own, s)
		b.want("malloc of a pool that is gone", err, InvalidValue)
		b.want("its memory stays", b.run("add", 10, s, x, 5), Success)
		b.want("until it is freed", b.FreeAsync(x, s), Success)
		b.want("wait", b.Synchronize(), Success)
		_, err = b.MallocAsync(0, 0, s)
		b.want("nothing", err, InvalidValue)
		b.want("free memory of the host", b.FreeAsync(stack, s), InvalidValue)
	})
}

// TestLaunchAfterReset: however the work of all streams ended, a launch after a
// reset takes as long as the first one of a new program.
func TestLaunchAfterReset(t *testing.T) {
	for _, gpu := range []string{"rtx-2060", "rtx-a6000"} {
		for _, threads := range []int{1, 2} {
			for _, c := range []struct {
				kernel string
				want   Error
			}{{"wild", IllegalAddress}, {"odd", MisalignedAddress}, {"stop", LaunchFailure}, {"forever", LaunchTimeout}} {
				t.Run(fmt.Sprint(gpu, " ", threads, " threads ", c.kernel), func(t *testing.T) {
					begin := func() *bench {
						return start(t, func(o *Options) { timing(o); o.GPU, o.Threads, o.MaxInsts = gpu, threads, 20000 })
					}
					launch := func(b *bench) uint64 {
						d := b.malloc(64)
						b.want("launch", b.run("add", 16, 0, d, 1), Success)
						b.want("copy", b.Copy(stack, d, 64, DeviceToHost, 0, false), Success)
						if got := b.words(stack, 16); got[0] != 1 || got[15] != 16 {
							t.Errorf("values %v", got)
						}
						k := b.r.Result().Kernels
						return k[len(k)-1].Cycles
					}
					want := launch(begin())
					b := begin()
					d := b.malloc(64)
					for range 3 {
						s, _ := b.StreamCreate(1, 0)
						b.want("turns", b.run("turns", 1024, s, 1<<30), Success)
					}
					s, _ := b.StreamCreate(1, 0)
					b.want("launch", b.run(c.kernel, 1, s, d), Success)
					b.want("wait", b.Synchronize(), c.want)
					b.want("reset", b.Reset(), Success)
					if got := launch(b); got != want {
						t.Errorf("the launch takes %d cycles, %d in a new program", got, want)
					}
				})
			}
		}
	}
}

// TestResetKeepsTime: after a fault and a reset, simulated time and the totals of
// the report continue.
func TestResetKeepsTime(t *testing.T) {
	for _, gpu := range []string{"rtx-2060", "rtx-a6000"} {
		b := start(t, func(o *Options) { timing(o); o.GPU = gpu })
		d := b.malloc(64)
		b.want("launch", b.run("add", 16, 0, d, 1), Success)
		b.want("wait", b.Synchronize(), Success)
		b.want("launch", b.run("wild", 32, 0, d), Success)
		b.want("wait", b.Synchronize(), IllegalAddress)
		before := b.r.Result()
		b.want("reset", b.Reset(), Success)
		e, _ := b.EventCreate(0)
		b.want("record", b.EventRecord(e, 0, 0), Success)
		b.want("launch", b.run("add", 16, 0, b.malloc(64), 1), Success)
		b.want("wait", b.Synchronize(), Success)
		res := b.r.Result()
		k := res.Kernels
		if len(k) != 3 || k[2].StartCycle < k[1].EndCycle || res.Cycles < k[2].EndCycle {
			t.Fatalf("%s: %d launches of %d cycles", gpu, len(k), res.Cycles)
		}
		if got := k[2].EndCycle - k[2].StartCycle; got < (k[0].EndCycle-k[0].StartCycle)*9/10 {
			t.Errorf("%s: the first launch takes %d cycles, the same after the reset %d", gpu, k[0].EndCycle-k[0].StartCycle, got)
		}
		if want := before.WarpInstructions + k[2].WarpInstructions; res.WarpInstructions != want {
			t.Errorf("%s: %d warp instructions, want %d", gpu, res.WarpInstructions, want)
		}
		var sms, packets uint64
		for _, sm := range res.Timing.PerSM {
			sms += sm.WarpInstructions
		}
		for _, s := range before.Timing.PerSlice {
			packets += s.Requests
		}
		for _, s := range res.Timing.PerSlice {
			packets -= min(packets, s.Requests)
		}
		if sms != res.WarpInstructions || packets > 0 || res.Memory.Network.RequestPackets <= before.Memory.Network.RequestPackets {
			t.Errorf("%s: SMs have %d warp instructions of %d, requests %d, then %d", gpu, sms, res.WarpInstructions, before.Memory.Network.RequestPackets, res.Memory.Network.RequestPackets)
		}
	}
}
