package core_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/core"
)

// This file adds core models and touches no other.

// toy is an SM that issues an instruction a cycle, warp after warp, to which memory
// answers at once; with Fetch it sends the sectors of loads and stores to memory.
type toy struct {
	core.Base
	params
	last int
}

type params struct {
	Gap   int  `help:"cycles between two issues" unit:"cycles" want:"1..100" def:"1"`
	Fetch bool `help:"loads and stores go to memory" def:"false"`
}

var model = &core.Model{Name: "toy", Params: func() core.Params { return &params{} }, Whole: true, States: core.BaseStates, Stages: core.BaseStages}

func init() { core.Register(model) }

func (p *params) Settings(m *core.Machine) core.Settings {
	return &core.Plain{Shape: m.Shape, Of: model, Make: func(s *core.Plain, id int, env core.Env) (core.SM, error) {
		t := &toy{params: *p}
		t.Begin(&s.Shape, id, env, t.issue)
		return t, nil
	}}
}

func (t *toy) issue(now uint64) uint64 {
	if now%uint64(t.Gap) != 0 {
		return t.Ready()
	}
	s := core.NextOf(t.Ready(), t.last+1)
	if s < 0 {
		return 0
	}
	t.last = s
	in := t.Next(s)
	if e := t.Step(s); t.Fetch && e.Addr != nil && e.Space == core.Global {
		for l, a := range e.Addr {
			if e.Lanes>>l&1 != 0 && (l == 0 || a/32 != e.Addr[l-1]/32) {
				t.Send(s, a, in.Store) // dropped if there is no room: a toy
			}
		}
	}
	return 0
}

// sum adds the numbers of blocks in shared memory, with barriers.
const sum = `.version 7.0
.target sm_70
.address_size 64
.visible .entry sum(.param .u64 out) {
	.reg .u32 %r<8>;
	.reg .u64 %rd<8>;
	.shared .align 4 .b8 buf[256];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	shl.b32 %r3, %r1, 2;
	mov.u32 %r4, buf;
	add.u32 %r4, %r4, %r3;
	add.u32 %r5, %r1, %r2;
	st.shared.u32 [%r4], %r5;
	bar.sync 0;
	xor.b32 %r6, %r3, 128;
	mov.u32 %r7, buf;
	add.u32 %r7, %r7, %r6;
	ld.shared.u32 %r6, [%r7];
	mad.lo.u32 %r2, %r2, 64, %r1;
	mul.wide.u32 %rd2, %r2, 4;
	ld.param.u64 %rd1, [out];
	add.u64 %rd1, %rd1, %rd2;
	st.global.u32 [%rd1], %r6;
	ret;
}
`

const instructions = 18 // of a warp of sum

// run launches sum in 3 blocks of 64 threads on an RTX 2060 with a core.
func run(t *testing.T, threads int, o heddle.RunOptions, set ...string) (heddle.Stats, *heddle.JobResult) {
	t.Helper()
	prog, err := heddle.LoadSource(heddle.Source{Name: "sum.ptx", Text: sum})
	if err != nil {
		t.Fatal(err)
	}
	opts := []heddle.Option{heddle.With(o), heddle.Machine("rtx-2060"), heddle.Threads(threads), heddle.Set("core=toy"), heddle.Set("run.launch_latency=0")}
	for _, s := range set {
		opts = append(opts, heddle.Set(s))
	}
	gpu, err := heddle.New(prog, opts...)
	if err != nil {
		t.Fatal(err)
	}
	out, err := gpu.Alloc(3*64*4, "out")
	if err != nil {
		t.Fatal(err)
	}
	st, err := gpu.Launch(context.Background(), "sum", heddle.Dim(3), heddle.Dim(64), out)
	if err != nil {
		t.Fatal(err)
	}
	got, err := heddle.Download[uint32](gpu, out, 3*64)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if want := uint32(i%64 ^ 32 + i/64); v != want {
			t.Fatalf("out[%d] = %d, want %d", i, v, want)
		}
	}
	res, err := gpu.Result()
	if err != nil || !res.OK {
		t.Fatal(err)
	}
	return st, res
}

// TestToy: a model that a test adds runs kernels with the right values; its cycles
// follow from what it is; counters, states, places and all observers work.
func TestToy(t *testing.T) {
	base, res := run(t, 1, heddle.RunOptions{})
	if want := uint64(3 * 2 * instructions); base.WarpInstructions != want {
		t.Errorf("%d warp instructions, want %d", base.WarpInstructions, want)
	}
	k := res.Kernels[0]
	// Each block has an SM of its own, which issues an instruction a cycle. Blocks are
	// placed in the cycle of the launch or the next.
	if n := base.Cycles; n < 2*instructions || n > 2*instructions+3 {
		t.Errorf("%d cycles, want %d and a few", n, 2*instructions)
	}
	if k.Stalls["selected"] != 3*2*instructions || len(k.Lines) != instructions {
		t.Errorf("stalls %v, %d lines", k.Stalls, len(k.Lines))
	}
	if res.Timing.Core != "toy" {
		t.Errorf("the core is %q", res.Timing.Core)
	}
	t.Run("parameter", func(t *testing.T) {
		slow, res := run(t, 1, heddle.RunOptions{}, "toy.gap=10")
		if n := slow.Cycles; n < 10*(2*instructions-1) || n > 10*(2*instructions+1) {
			t.Errorf("%d cycles with toy.gap = 10", n)
		}
		if res.Kernels[0].Stalls["wait"] == 0 {
			t.Errorf("stalls %v", res.Kernels[0].Stalls)
		}
	})
	t.Run("threads", func(t *testing.T) {
		for _, n := range []int{2, 5} {
			if st, _ := run(t, n, heddle.RunOptions{}); st != base {
				t.Errorf("%d threads: %+v, want %+v", n, st, base)
			}
		}
	})
	t.Run("memory", func(t *testing.T) {
		st, res := run(t, 1, heddle.RunOptions{}, "toy.fetch=true")
		// A warp stores 128 bytes: 4 sectors.
		if n := res.Memory.Network.RequestPackets; n != 3*2*4 {
			t.Errorf("%d packets, want %d", n, 3*2*4)
		}
		if st.Cycles <= base.Cycles || res.Kernels[0].Stalls["long_scoreboard"] == 0 {
			t.Errorf("%d cycles, %d without memory; stalls %v", st.Cycles, base.Cycles, res.Kernels[0].Stalls)
		}
	})
	t.Run("observers", func(t *testing.T) {
		var rows, stats bytes.Buffer
		line := heddle.NewTimeline()
		o := heddle.RunOptions{Series: &heddle.Series{Every: 10, Out: &rows}, AccelSim: &stats, Timeline: line}
		if st, _ := run(t, 1, o); st != base {
			t.Errorf("%+v, want %+v", st, base)
		}
		if !strings.Contains(rows.String(), "stalls.not_selected") || !strings.Contains(stats.String(), fmt.Sprintf("gpu_sim_cycle = %d", base.Cycles)) {
			t.Errorf("%s%s", rows.String(), stats.String())
		}
	})
	t.Run("fault", func(t *testing.T) {
		prog, err := heddle.LoadSource(heddle.Source{Name: "sum.ptx", Text: sum})
		if err != nil {
			t.Fatal(err)
		}
		gpu, err := heddle.New(prog, heddle.Machine("rtx-2060"), heddle.Set("core=toy"))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the machine is renewed in between
			_, err = gpu.Launch(context.Background(), "sum", heddle.Dim(3), heddle.Dim(64), heddle.Ptr(16))
			if f, ok := err.(*heddle.Fault); !ok {
				t.Errorf("%v is no *Fault: %v", err, f)
			}
		}
	})
	t.Run("machines", func(t *testing.T) {
		prog, err := heddle.LoadSource(heddle.Source{Name: "sum.ptx", Text: sum})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"gtx-480", "v100", "h100-pcie", "rtx-5070-ti"} {
			gpu, err := heddle.New(prog, heddle.Machine(name), heddle.Set("core=toy"))
			if err != nil {
				t.Fatal(err)
			}
			out, _ := gpu.Alloc(3*64*4, "out")
			if st, err := gpu.Launch(context.Background(), "sum", heddle.Dim(3), heddle.Dim(64), out); err != nil || st.WarpInstructions != base.WarpInstructions {
				t.Errorf("%s: %+v, %v", name, st, err)
			}
		}
	})
}

// TestIdealisations checks that what a model does not list is refused, and what needs no
// model is not.
func TestIdealisations(t *testing.T) {
	prog, err := heddle.LoadSource(heddle.Source{Name: "sum.ptx", Text: sum})
	if err != nil {
		t.Fatal(err)
	}
	for set, want := range map[string]string{
		"ideal.coalescing=true": "ideal.coalescing = true: not for this core: the core model toy does not offer it",
		"ideal.line=sum.ptx:19": "not for this core: the core model toy does not offer it",
		"ideal.l2=true":         "",
	} {
		_, err := heddle.New(prog, heddle.With(heddle.RunOptions{Timing: true}), heddle.Machine("rtx-2060"), heddle.Set("core=toy"), heddle.Set(set))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", set, err, want)
		}
	}
}
