package heddle_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
)

// events is everything that an observer saw, as text, and some of it by kind.
type events struct {
	text     strings.Builder
	launches []heddle.LaunchEvent
	blocks   []heddle.BlockEvent
	insts    int
	stored   []uint64 // addresses of lanes that stored to global memory
	loaded   map[heddle.MemoryPlace]int
	places   map[heddle.MemoryPlace]int
}

func (e *events) observer() heddle.Observer {
	e.loaded, e.places = map[heddle.MemoryPlace]int{}, map[heddle.MemoryPlace]int{}
	return heddle.Observer{
		Launch: func(x *heddle.LaunchEvent) {
			e.launches = append(e.launches, *x)
			fmt.Fprintf(&e.text, "%+v\n", *x)
		},
		Block: func(x *heddle.BlockEvent) {
			e.blocks = append(e.blocks, *x)
			fmt.Fprintf(&e.text, "%+v\n", *x)
		},
		Inst: func(x *heddle.InstEvent) {
			e.insts++
			fmt.Fprintf(&e.text, "%d %d %d %d %d %s %#x\n", x.Cycle, x.Launch, x.Block, x.SM, x.Warp, x.Inst.Op, x.Lanes)
			if x.Space == heddle.Global && x.Inst.Store {
				for l, a := range x.Addr {
					if x.Lanes>>l&1 != 0 {
						e.stored = append(e.stored, a)
					}
				}
			}
		},
		Memory: func(x *heddle.MemoryEvent) {
			e.places[x.At]++
			if x.Kind == "GLOBAL_ACC_R" {
				e.loaded[x.At] += x.Bytes
			}
			fmt.Fprintf(&e.text, "%+v\n", *x)
		},
	}
}

// watched launches vecadd twice over n elements and returns the observed events.
func watched(t *testing.T, watch bool, options ...heddle.Option) (e events, stats []heddle.Stats, c heddle.Ptr) {
	t.Helper()
	const n = 1000
	prog, err := heddle.Load("examples/vecadd/vecadd.ptx")
	if err != nil {
		t.Fatal(err)
	}
	options = append([]heddle.Option{heddle.Machine("rtx-2060")}, options...)
	if watch {
		options = append(options, heddle.Watch(e.observer()))
	}
	gpu, err := heddle.New(prog, options...)
	if err != nil {
		t.Fatal(err)
	}
	a, err := heddle.Upload(gpu, "a", make([]float32, n))
	if err != nil {
		t.Fatal(err)
	}
	if c, err = gpu.Alloc(4*n, "c"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s, err := gpu.Launch(context.Background(), "vecadd", heddle.Dim(4), heddle.Dim(256), a, a, c, uint32(n))
		if err != nil {
			t.Fatal(err)
		}
		stats = append(stats, s)
	}
	return e, stats, c
}

// TestWatch: an observer sees launches, blocks, instructions with their addresses and
// the requests of memory, in an order that the number of threads does not change,
// and changes nothing.
func TestWatch(t *testing.T) {
	for _, core := range []string{"simt", "modern"} {
		t.Run(core, func(t *testing.T) {
			set := heddle.Set("core=" + core)
			_, plain, _ := watched(t, false, set)
			e, stats, c := watched(t, true, set)
			if !slices.Equal(stats, plain) {
				t.Errorf("%+v, and %+v without an observer", stats, plain)
			}
			if more, _, _ := watched(t, true, set, heddle.Threads(5)); more.text.String() != e.text.String() {
				t.Error("with 5 threads it sees different events")
			}
			if n := len(e.launches); n != 4 {
				t.Fatalf("%d beginnings and ends of launches, want 4", n)
			}
			for i, l := range e.launches {
				if l.Kernel != "vecadd" || l.Number != i/2 || l.Ended != (i%2 == 1) || l.Grid != [3]int64{4, 1, 1} || l.Block != [3]int64{256, 1, 1} {
					t.Errorf("launch event %d: %+v", i, l)
				}
				if i%2 == 1 && l.Cycle-e.launches[i-1].Cycle != stats[i/2].Cycles {
					t.Errorf("launch %d took %d cycles, and %d by its statistics", i/2, l.Cycle-e.launches[i-1].Cycle, stats[i/2].Cycles)
				}
			}
			if n := len(e.blocks); n != 2*2*4 {
				t.Errorf("%d beginnings and ends of blocks, want 16", n)
			}
			on := map[string]int{}
			for _, b := range e.blocks {
				key := fmt.Sprint(b.Launch, b.Block)
				if sm, ok := on[key]; b.Ended != ok || ok && sm != b.SM {
					t.Errorf("%+v", b)
				}
				on[key] = b.SM
			}
			if want := stats[0].WarpInstructions + stats[1].WarpInstructions; uint64(e.insts) != want {
				t.Errorf("%d instructions, want %d", e.insts, want)
			}
			slices.Sort(e.stored)
			var want []uint64
			for i := range 1000 {
				want = append(want, uint64(c)+4*uint64(i), uint64(c)+4*uint64(i))
			}
			if !slices.Equal(e.stored, want) {
				t.Errorf("%d addresses were stored to, want each of 1000 words twice", len(e.stored))
			}
			// Data come from DRAM or L2; every request that leaves an SM reaches an
			// L2 slice and comes back.
			if e.places[heddle.LeavesSM] == 0 || e.places[heddle.AtL2] != e.places[heddle.LeavesSM] || e.places[heddle.BackAtSM] < e.places[heddle.AtL2] {
				t.Errorf("requests: %v", e.places)
			}
			// Lines of a: 4000 bytes, 32 at a time.
			if n := e.loaded[heddle.LeavesSM]; n < 4000 || n > 2*2*4096+1024 {
				t.Errorf("%d bytes of global memory were requested", n)
			}
		})
	}
	t.Run("a job of SASS", func(t *testing.T) {
		var e events
		w := e.observer()
		res, err := heddle.RunJob(context.Background(), "examples/sass/vecadd.toml", heddle.JobOptions{Timing: true, Watch: &w})
		if err != nil || !res.OK {
			t.Fatal(err)
		}
		if uint64(e.insts) != res.WarpInstructions || len(e.stored) == 0 {
			t.Errorf("%d instructions, want %d; %d words stored", e.insts, res.WarpInstructions, len(e.stored))
		}
	})
	t.Run("warm caches", func(t *testing.T) {
		// Nothing of the rehearsals is seen: each launch is, once.
		e, stats, _ := watched(t, true, heddle.Set("run.caches=warm"))
		var requests int
		for _, s := range stats {
			requests += int(s.WarpInstructions)
		}
		if len(e.launches) != 4 || e.insts != requests {
			t.Errorf("%d begins and ends of launches, want 4; %d instructions, want %d", len(e.launches), e.insts, requests)
		}
		cold, _, _ := watched(t, true)
		if e.places[heddle.AtDRAM] != 0 || e.places[heddle.LeavesSM] > cold.places[heddle.LeavesSM] {
			t.Errorf("requests: %v, with cold caches %v", e.places, cold.places)
		}
	})
	t.Run("a launch that faults", func(t *testing.T) {
		var e events
		prog, err := heddle.Load("examples/vecadd/vecadd.ptx")
		if err != nil {
			t.Fatal(err)
		}
		gpu, err := heddle.New(prog, heddle.Machine("rtx-2060"), heddle.Watch(e.observer()))
		if err != nil {
			t.Fatal(err)
		}
		var fault *heddle.Fault
		if _, err := gpu.Launch(context.Background(), "vecadd", heddle.Dim(4), heddle.Dim(256), heddle.Ptr(0), heddle.Ptr(0), heddle.Ptr(0), uint32(1000)); !errors.As(err, &fault) {
			t.Fatalf("a null pointer: %v", err)
		}
		if len(e.launches) != 2 || e.launches[0].Ended || !e.launches[1].Ended || !e.launches[1].Cut {
			t.Errorf("events of the launch: %+v, want a begin, and an end that is cut", e.launches)
		}
	})
	t.Run("functional", func(t *testing.T) {
		prog, err := heddle.Load("examples/vecadd/vecadd.ptx")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := heddle.New(prog, heddle.Watch(heddle.Observer{})); err == nil || !strings.Contains(err.Error(), "a functional run counts none") {
			t.Errorf("%v", err)
		}
	})
}

// TestWith: every field of RunOptions applies to a GPU's launches, or New refuses
// it.
func TestWith(t *testing.T) {
	// Lane 31 reads the register of lane 31 of a warp of which only lane 0 has it.
	prog, err := heddle.LoadSource(heddle.Source{Name: "absent.ptx", Text: `.version 7.0
.target sm_70
.address_size 64
.visible .entry absent() {
	.reg .u32 %r<3>;
	.reg .pred %p<2>;
	mov.u32 %r1, %tid.x;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra done;
	shfl.sync.idx.b32 %r2, %r1, 5, 31, 1;
done:
	ret;
}
`})
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]heddle.RunOptions{
		"Select":  {Select: new(heddle.JobSelection)},
		"Dumps":   {Dumps: []heddle.JobDump{{Buffer: "a", File: "a.bin"}}},
		"Listing": {Listing: new(heddle.Listing)},
	} {
		if _, err := heddle.New(prog, heddle.With(o)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	said := 0
	var last heddle.JobProgress
	gpu, err := heddle.New(prog, heddle.Threads(1), heddle.With(heddle.RunOptions{
		Warn: func(w *heddle.Warning) {
			said++
			if !strings.Contains(w.Error(), "absent") {
				t.Errorf("warned of %v", w)
			}
		},
		Progress: func(p heddle.JobProgress) { last = p },
	}))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := gpu.Launch(context.Background(), "absent", heddle.Dim(20000), heddle.Dim(32)); err != nil {
			t.Fatal(err)
		}
	}
	if said != 1 {
		t.Errorf("%d warnings, want one for the line", said)
	}
	if last.Launch != 1 || last.Kernel != "absent" || last.Total != 20000 || last.Blocks == 0 || last.WarpInsts <= 20000*6 {
		t.Errorf("the last progress was %+v", last)
	}
}
