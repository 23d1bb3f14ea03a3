package gpu_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/run"
)

// chips returns chips of which a cycle is a nanosecond, so that 1000 MB/s are a byte per
// cycle, joined by links of 4 bytes per cycle with a latency of 100 cycles.
func chips(t *testing.T, n int, sets ...string) (*gpu.Machine, []*gpu.GPU) {
	t.Helper()
	s := run.Settings{Assignments: append([]string{"clocks.core=1000", "link.peer=4000", "link.latency=100", "link.to_device=1000"}, sets...)}
	cfg, err := s.Machine("rtx-2060")
	if err != nil {
		t.Fatal(err)
	}
	var list []*gpu.GPU
	for range n {
		g, err := gpu.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, g)
	}
	return gpu.NewMachine(list, func(addr uint64) int { return -1 }), list
}

// stretch is the time after which a chip hears of the end of an action of another one, at
// most.
const stretch = 256

// TestPeerCopies: when copies between chips begin and end. A link sends one copy at a time
// and receives one; copies of one stream come one after another.
func TestPeerCopies(t *testing.T) {
	alltests.Only(t, "copies between devices in timing runs")
	const bytes, lasts = 40_000, 100 + 10_000
	type copies struct {
		on, from, to int // the chip of the stream, and those of the bytes; host for the host
		stream       int64
		bytes        uint64
		end          uint64
	}
	const host = -1
	timed := []string{"run.copies=timed"}    // a byte per cycle from the host
	quick := append(timed, "link.latency=0") // ... and no latency
	for _, c := range []struct {
		name string
		sets []string
		list []copies
	}{
		{"one, in a stream of its source", nil, []copies{{0, 0, 1, 1, bytes, lasts}}},
		{"one, in a stream of its target", nil, []copies{{1, 0, 1, 1, bytes, lasts}}},
		{"one, in a third stream", nil, []copies{{2, 0, 1, 1, bytes, lasts}}},
		{"times are rounded up", nil, []copies{{0, 0, 1, 1, 5, 102}}},
		{"the rate of the host's link, if no other is given", []string{"link.peer=0", "link.to_host=2000"}, []copies{{0, 0, 1, 1, bytes, 100 + 20_000}}},
		{"both directions at a time", nil, []copies{{0, 0, 1, 1, bytes, lasts}, {1, 1, 0, 1, bytes, lasts}}},
		{"two pairs at a time", nil, []copies{{0, 0, 1, 1, bytes, lasts}, {2, 2, 3, 1, bytes, lasts}}},
		{"around a ring", nil, []copies{{0, 0, 1, 1, bytes, lasts}, {1, 1, 2, 1, bytes, lasts}, {2, 2, 3, 1, bytes, lasts}, {3, 3, 0, 1, bytes, lasts}}},
		{"two from one chip", nil, []copies{{0, 0, 1, 1, bytes, lasts}, {0, 0, 2, 2, bytes, 2 * lasts}}},
		{"two to one chip", nil, []copies{{0, 0, 2, 1, bytes, lasts}, {1, 1, 2, 1, bytes, 2 * lasts}}},
		{"a stream", nil, []copies{{0, 0, 1, 1, bytes, lasts}, {0, 0, 1, 1, bytes, 2 * lasts}}},
		{"nothing", nil, []copies{{0, 0, 1, 1, 0, 0}}},
		{"no engine in common with copies from the host", timed, []copies{{0, host, 0, 1, bytes, 100 + bytes}, {0, 0, 1, 2, bytes, lasts}, {1, host, 1, 1, bytes, 100 + bytes}}},
		{"after a copy from the host", timed, []copies{{0, host, 0, 1, bytes, 100 + bytes}, {0, 0, 1, 1, bytes, 100 + bytes + lasts}}},
		// The clock of the chip of the first copy goes first.
		{"one before another that was simulated earlier", quick, []copies{{0, host, 0, 1, 200, 200}, {0, 0, 2, 1, 400, 300}, {1, host, 1, 1, 20, 20}, {1, 1, 2, 1, 400, 120}}},
		{"one that has no room before it", quick, []copies{{0, host, 0, 1, 100, 100}, {0, 0, 2, 1, 400, 200}, {1, host, 1, 1, 20, 20}, {1, 1, 2, 1, 400, 300}}},
		{"one while another waits for its target", quick, []copies{
			{0, 1, 2, 1, 4000, 1000}, {0, host, 0, 2, 10, 10}, {0, 0, 2, 2, 400, 1100}, {0, host, 0, 3, 20, 30}, {0, 0, 3, 3, 400, 130}}},
	} {
		for _, skip := range []string{"run.idle_skip=true", "run.idle_skip=false"} {
			m, list := chips(t, 4, append(slices.Clone(c.sets), skip)...)
			var ops []*gpu.Op
			var got, want []uint64
			moved := 0
			for _, x := range c.list {
				o := &gpu.Op{Kind: gpu.OpCopy, Stream: x.stream, Way: gpu.ToPeer, From: x.from, To: x.to, Bytes: x.bytes, Copy: func() error { moved++; return nil }}
				if x.from == host {
					o.Way, o.From, o.To = gpu.ToDevice, 0, 0
				}
				if err := list[x.on].Add(o); err != nil {
					t.Fatal(err)
				}
				ops = append(ops, o)
			}
			for i, x := range c.list {
				if _, err := m.Wait(context.Background(), list[x.on], ops[i], 1<<40); err != nil {
					t.Fatal(c.name, err)
				}
				got, want = append(got, ops[i].End), append(want, x.end)
				if list[x.on].Now() < ops[i].End {
					t.Errorf("%s: the wait ends at %d, the copy at %d", c.name, list[x.on].Now(), ops[i].End)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" || moved != len(ops) {
				t.Errorf("%s, %s: %d copies moved their bytes; ends (-want +got):\n%s", c.name, skip, moved, diff)
			}
			for _, g := range list {
				if g.Now() != list[0].Now() {
					t.Errorf("%s: the chips' clocks differ: %d and %d", c.name, g.Now(), list[0].Now())
				}
			}
		}
	}
}

// TestTraffic: what links report.
func TestTraffic(t *testing.T) {
	m, list := chips(t, 3)
	for _, x := range [][3]uint64{{0, 1, 4000}, {0, 1, 8000}, {2, 0, 40}} {
		if err := list[x[0]].Add(&gpu.Op{Kind: gpu.OpCopy, Stream: 1, Way: gpu.ToPeer, From: int(x[0]), To: int(x[1]), Bytes: x[2]}); err != nil {
			t.Fatal(err)
		}
	}
	for _, g := range list {
		if _, err := m.Finish(context.Background(), g); err != nil {
			t.Fatal(err)
		}
	}
	want := []gpu.Traffic{{From: 0, To: 1, Copies: 2, Bytes: 12000, Busy: 100 + 1000 + 100 + 2000}, {From: 2, To: 0, Copies: 1, Bytes: 40, Busy: 110}}
	if diff := cmp.Diff(want, m.Traffic(), cmpopts.IgnoreUnexported(gpu.Traffic{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWaitsBetweenChips: an action begins after those of other chips that it waits for, and
// at most a stretch later.
func TestWaitsBetweenChips(t *testing.T) {
	const lasts = 100 + 4000 // a copy of 4000 bytes from the host
	fill := func(after ...*gpu.Op) *gpu.Op {
		return &gpu.Op{Kind: gpu.OpCopy, Stream: 1, Way: gpu.ToDevice, Bytes: 4000, After: after}
	}
	m, list := chips(t, 3, "run.copies=timed")
	a := fill()
	b := fill(a)
	c := fill(a, b)
	d := fill(c)
	for i, o := range []*gpu.Op{a, b, c, d} {
		if err := list[i%3].Add(o); err != nil {
			t.Fatal(err)
		}
	}
	ctx := context.Background()
	if _, err := m.Wait(ctx, list[1], b, 1000); err != nil || b.Begun() || list[1].Now() != 1000 || list[0].Now() != 1000 {
		t.Errorf("after 1000 cycles: %v, begun %v, times %d and %d", err, b.Begun(), list[0].Now(), list[1].Now())
	}
	if _, err := m.Finish(ctx, list[0]); err != nil {
		t.Fatal(err)
	}
	for i, x := range [][2]*gpu.Op{{a, b}, {b, c}, {c, d}} {
		if !x[1].Ended() || x[1].Start < x[0].End || x[1].Start >= x[0].End+stretch || x[1].End != x[1].Start+lasts {
			t.Errorf("%d: from %d to %d, after one that ended at %d", i, x[1].Start, x[1].End, x[0].End)
		}
	}
	if a.Start != 0 || a.End != lasts || list[2].Now() != d.End {
		t.Errorf("the first from %d to %d, the last until %d, and now it is %d", a.Start, a.End, d.End, list[2].Now())
	}
	// What the host submits now begins now, on every chip.
	late := fill()
	if err := list[2].Add(late); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Finish(ctx, list[2]); err != nil || late.Start != d.End {
		t.Errorf("%v: from %d, not %d", err, late.Start, d.End)
	}
}

// TestChipFails: the end of one chip's run is not that of the others, and nothing waits
// for what will not end.
func TestChipFails(t *testing.T) {
	m, list := chips(t, 2, "run.copies=timed")
	broken := errors.New("broken")
	bad := &gpu.Op{Kind: gpu.OpCopy, Stream: 1, Way: gpu.ToDevice, Bytes: 1000, Copy: func() error { return broken }}
	next := &gpu.Op{Kind: gpu.OpCopy, Stream: 1, Way: gpu.ToDevice, Bytes: 1000}
	good := &gpu.Op{Kind: gpu.OpCopy, Stream: 1, Way: gpu.ToDevice, Bytes: 9000}
	after := &gpu.Op{Kind: gpu.OpCopy, Stream: 2, Way: gpu.ToDevice, Bytes: 1000, After: []*gpu.Op{next}}
	for i, o := range []*gpu.Op{bad, next, good, after} {
		if err := list[i/2].Add(o); err != nil {
			t.Fatal(err)
		}
	}
	ctx := context.Background()
	if g, err := m.Finish(ctx, list[1]); g != list[0] || !errors.Is(err, broken) {
		t.Fatalf("%v, of the first chip: %v", err, g == list[0])
	}
	if g, err := m.Finish(ctx, list[1]); err != nil {
		t.Fatalf("%v, of the first chip: %v", err, g == list[0])
	}
	if !good.Ended() || !after.Ended() || next.Ended() || list[0].Now() != list[1].Now() {
		t.Errorf("ended: %v %v %v; times %d and %d", good.Ended(), after.Ended(), next.Ended(), list[0].Now(), list[1].Now())
	}
	// A wait that nothing can end.
	self := &gpu.Op{Kind: gpu.OpMark, Stream: 3}
	self.After = []*gpu.Op{self}
	if err := list[1].Add(self); err != nil {
		t.Fatal(err)
	}
	if g, err := m.Finish(ctx, list[1]); g != list[1] || err == nil || !strings.Contains(err.Error(), "wait for each other") {
		t.Errorf("a circle: %v", err)
	}
	stop, cancel := context.WithCancel(ctx)
	cancel()
	if err := list[0].Add(&gpu.Op{Kind: gpu.OpCopy, Way: gpu.ToPeer, To: 1, Bytes: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Finish(stop, list[0]); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestMachineStops: a kernel whose memory never answers ends the run of its chip, also while
// chips depend on each other.
func TestMachineStops(t *testing.T) {
	a, b := newChipBench(t, "rtx-2060", 1), newChipBench(t, "rtx-2060", 1)
	m := gpu.NewMachine([]*gpu.GPU{a.chip, b.chip}, func(uint64) int { return -1 })
	m.Open()
	a.chip.StopDRAM()
	a.launch("count", 1, 1, 0)
	soon, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var stuck *exec.StuckError
	if g, err := m.Finish(soon, a.chip); g != a.chip || !errors.As(err, &stuck) {
		t.Errorf("of the first chip: %v; %v, want a StuckError", g == a.chip, err)
	}
	b.launch("count", 1, 1, 0)
	if _, err := m.Finish(context.Background(), b.chip); err != nil {
		t.Errorf("the other chip: %v", err)
	}
}

// TestLateCopy: what a copy writes in the memory of a chip whose run has ended leaves that
// chip as it is, to be inspected: its workers, too, which are hired at that time.
func TestLateCopy(t *testing.T) {
	defer gpu.AlwaysTogether()()
	fails := newChipBench(t, "rtx-2060", 2) // alone, to learn when
	fails.launch("wild", 1, 60, 0)
	if err := fails.chip.Finish(context.Background()); err == nil {
		t.Fatal("no fault")
	}
	for _, c := range []struct {
		name   string
		before uint64 // the cycles from the copy's end to the fault
	}{{"long before", 500}, {"in the stretch of the fault", 1}} {
		a, b := newChipBench(t, "rtx-2060", 2), newChipBench(t, "rtx-2060", 2, "link.latency=0")
		m := gpu.NewMachine([]*gpu.GPU{a.chip, b.chip}, func(uint64) int { return 0 })
		m.Open()
		a.launch("wild", 1, 60, 0)
		cfg := b.chip.Config()
		bytes := (fails.chip.Now() - c.before) * uint64(cfg.Copies.ToPeer) / uint64(cfg.Clocks.Core)
		o := &gpu.Op{Kind: gpu.OpCopy, Stream: 1, Way: gpu.ToPeer, From: 1, To: 0, Bytes: bytes, Fills: []gpu.Range{{Addr: a.out[1], Bytes: 4096}}}
		if err := b.chip.Add(o); err != nil {
			t.Fatal(err)
		}
		before := runtime.NumGoroutine()
		g, err := m.Finish(context.Background(), a.chip)
		if g != a.chip || err == nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if !o.Ended() || len(a.chip.Core(3).ResidentBlocks()) == 0 {
			t.Errorf("%s: the copy ended: %v; blocks are left: %d", c.name, o.Ended(), len(a.chip.Core(3).ResidentBlocks()))
		}
		if n := runtime.NumGoroutine(); n > before {
			t.Errorf("%s: %d goroutines, %d before", c.name, n, before)
		}
	}
}

// TestRestBesideAnother: while a chip waits for another one, its memory system takes the same steps with two threads as
// with one, at clocks of which the memory's have ticks between two core cycles.
func TestRestBesideAnother(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	defer gpu.AlwaysTogether()()
	for _, clocks := range [][]string{
		{"clocks.core=1000", "clocks.noc=1000", "clocks.l2=1900", "clocks.dram=3300"},
		{"clocks.core=500", "clocks.noc=500", "clocks.l2=1900", "clocks.dram=2100"},
		{"clocks.core=1000", "clocks.noc=1000", "clocks.l2=700", "clocks.dram=3300"},
	} {
		t.Run(strings.Join(clocks, " "), func(t *testing.T) {
			run := func(threads int) (samples []string, counters gpu.Counters) {
				set := append([]string{"partition.rop_latency=160", "run.launch_latency=0"}, clocks...)
				a, b := newChipBench(t, "rtx-2060", threads, set...), newChipBench(t, "rtx-2060", threads, set...)
				m := gpu.NewMachine([]*gpu.GPU{a.chip, b.chip}, func(uint64) int { return -1 })
				m.Open()
				a.chip.OnSample(50, func() {
					c := a.chip.Totals()
					samples = append(samples, fmt.Sprint(a.chip.Now(), c.Channel, c.Slice, c.Request, c.Reply, c.DRAM))
				})
				for range 4 {
					a.launch("count", 1, 7, 0)
					b.launch("count", 1, 300, 0)
					for _, c := range []*chipBench{a, b} {
						if _, err := m.Finish(t.Context(), c.chip); err != nil {
							t.Fatal(err)
						}
					}
					samples = append(samples, fmt.Sprint(a.chip.Now(), b.chip.Now()))
				}
				counters = a.chip.Totals()
				counters.Chip.Skipped = 0
				return samples, counters
			}
			wantSamples, want := run(1)
			gotSamples, got := run(2)
			if !slices.Equal(gotSamples, wantSamples) {
				t.Error("samples differ")
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("counters differ: DRAM %+v, want %+v", got.DRAM, want.DRAM)
			}
		})
	}
}
