package ptx_test

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// oneWarp starts a kernel of one warp for inspection.
func oneWarp(t *testing.T, src string) exec.Warp {
	t.Helper()
	mod, err := ptx.Parse("test.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	p, err := xptx.Link(mod)
	if err != nil {
		t.Fatal(err)
	}
	m, err := xptx.NewMachine(p, device.New(device.Config{}))
	if err != nil {
		t.Fatal(err)
	}
	k, _ := p.Kernel("k")
	one := exec.Dim3{X: 1, Y: 1, Z: 1}
	w, err := m.NewWork(xptx.Launch{Kernel: k, Grid: one, Block: exec.Dim3{X: 32, Y: 1, Z: 1}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.Block(0).Warp(0)
}

// TestInspect steps a warp through divergence and a call, and inspects every step.
func TestInspect(t *testing.T) {
	w := oneWarp(t, `.version 7.0
.target sm_70
.address_size 64
.func (.reg .b32 %ret) twice(.reg .b32 %x)
{
 .reg .b32 %y;
 add.u32 %y, %x, %x;
 mov.b32 %ret, %y;
 ret;
}
.visible .entry k()
{
 .reg .s32 %r<4>;
 .reg .f32 %f;
 .reg .b64 %d;
 .reg .v2 .b32 %v;
 .reg .b128 %q;
 .reg .pred %p<2>;
 mov.u32 %r1, %tid.x;
 sub.s32 %r2, %r1, 5;
 cvt.rn.f32.s32 %f, %r2;
 mov.b32 %v.x, %r1;
 mov.b32 %v.y, 77;
 cvt.s64.s32 %d, %r2;
 mov.b128 %q, {%d, %d};
 setp.lt.s32 %p1, %r1, 8;
 @%p1 bra LOW;
 mov.s32 %r3, 1;
 bra JOIN;
LOW:
 call.uni (%r3), twice, (%r1);
JOIN:
 exit;
}
`)
	x := w.(exec.Inspector)
	var e exec.Effects
	step := func(n int) {
		t.Helper()
		for range n {
			if err := w.Step(&e); err != nil {
				t.Fatal(err)
			}
		}
	}
	step(8)
	f, ok := x.Frame(3)
	if !ok || f.Function != "k" || f.Lanes != ^isa.LaneMask(0) {
		t.Fatalf("frame %+v %v", f, ok)
	}
	regs := map[string]exec.Register{}
	var names []string
	for _, r := range f.Registers {
		regs[r.Name] = r
		names = append(names, r.Name+r.Type)
	}
	if got, want := strings.Join(names, " "), "%r1.s32 %r2.s32 %r3.s32 %f.f32 %d.b64 %v.x.b32 %v.y.b32 %q.b128 %p1.pred"; got != want {
		t.Errorf("registers\n%s\nwant\n%s", got, want)
	}
	for l := range 32 {
		d := uint64(int64(l - 5))
		for _, c := range []struct {
			name   string
			lo, hi uint64
		}{
			{"%r1", uint64(l), 0}, {"%r2", uint64(uint32(l - 5)), 0}, {"%f", uint64(math.Float32bits(float32(l - 5))), 0},
			{"%d", d, 0}, {"%v.x", uint64(l), 0}, {"%v.y", 77, 0}, {"%q", d, d}, {"%p1", map[bool]uint64{true: 1}[l < 8], 0}, {"%r3", 0, 0},
		} {
			if r := regs[c.name]; r.Lo[l] != c.lo || r.Hi[l] != c.hi {
				t.Errorf("%s in lane %d is %#x %#x, want %#x %#x", c.name, l, r.Hi[l], r.Lo[l], c.hi, c.lo)
			}
		}
	}
	// The branch splits the warp: the lanes, the places, and the reconvergence
	// at JOIN.
	step(1)
	frags := x.Fragments()
	all := isa.LaneMask(0)
	at := map[int]isa.LaneMask{}
	for _, f := range frags {
		if f.Lanes&all != 0 || f.Function != "k" || f.Waits != "" {
			t.Errorf("fragment %+v", f)
		}
		all |= f.Lanes
		at[f.PC] = f.Lanes
	}
	if len(frags) != 2 || all != ^isa.LaneMask(0) || at[9] != 0xffffff00 || at[11] != 0xff {
		t.Errorf("fragments %+v", frags)
	}
	if j := x.Joins(); len(j) != 1 || j[0].PC != 12 || j[0].Came != 0 || j[0].Missing != ^isa.LaneMask(0) || j[0].Function != "k" {
		t.Errorf("joins %+v", j)
	}
	// Some lanes come into the function, some wait at the join.
	met, waited := false, false
	for w.Live() != 0 {
		in, lanes, _, st := w.Next()
		if st != exec.Ready {
			t.Fatalf("state %v", st)
		}
		f, ok := x.Frame(lanes.First())
		if !ok || f.Lanes&lanes != lanes {
			t.Errorf("frame of lanes %08x: %+v", lanes, f)
		}
		if first := x.Fragments()[0]; first.Lanes != lanes || first.PC != int(in.PC) || first.Function != f.Function {
			t.Errorf("the fragment that runs next is %+v, Next has lanes %08x pc %d", first, lanes, in.PC)
		}
		if f.Function == "twice" {
			met = true
			if f.Lanes != 0xff {
				t.Errorf("lanes %08x are in the function", f.Lanes)
			}
			if o, _ := x.Frame(20); o.Function != "k" || o.Lanes != 0xffffff00 {
				t.Errorf("lane 20 is in %s with lanes %08x", o.Function, o.Lanes)
			}
		}
		for _, j := range x.Joins() {
			if j.PC == 12 && j.Came != 0 {
				waited = true
				if n := bits.OnesCount32(uint32(j.Came | j.Missing)); n != 32 || j.Came&j.Missing != 0 {
					t.Errorf("join %+v", j)
				}
			}
		}
		step(1)
	}
	if !met || !waited {
		t.Errorf("met the function: %v, saw lanes wait: %v", met, waited)
	}
	if _, ok := x.Frame(0); ok {
		t.Error("a lane that has exited is in a frame")
	}
	for _, l := range []int{-1, 32} {
		if _, ok := x.Frame(l); ok {
			t.Errorf("there is a lane %d", l)
		}
	}
}

// TestInspectWaits inspects lanes that wait for others of their warp, and at a barrier.
func TestInspectWaits(t *testing.T) {
	w := oneWarp(t, `.version 7.0
.target sm_70
.address_size 64
.visible .entry k()
{
 .reg .b32 %r<2>;
 .reg .pred %p;
 mov.u32 %r1, %tid.x;
 setp.lt.u32 %p, %r1, 4;
 @%p bra SYNC;
 bar.sync 3, 64;
SYNC:
 bar.warp.sync 0xffffffff;
 exit;
}
`)
	x := w.(exec.Inspector)
	var e exec.Effects
	for {
		if _, _, _, st := w.Next(); st != exec.Ready {
			break
		}
		if err := w.Step(&e); err != nil {
			t.Fatal(err)
		}
	}
	got := map[isa.LaneMask]string{}
	for _, f := range x.Fragments() {
		got[f.Lanes] = fmt.Sprint(f.PC, " ", f.Waits)
		if want := map[bool]int{true: 3, false: -1}[f.Lanes == 0xfffffff0]; f.Barrier != want {
			t.Errorf("lanes %v are at barrier %d, want %d", f.Lanes, f.Barrier, want)
		}
	}
	// The manual counts the threads of the lanes that came; four of the warp's
	// may still come.
	if s := got[0xfffffff0]; s != "3 waits at barrier 3, where 28 of 64 threads have arrived" {
		t.Errorf("the lanes at the barrier: %q", s)
	}
	if j := x.Joins(); len(j) != 1 || j[0].Came != 0xf || j[0].Missing != 0xfffffff0 || j[0].PC != 4 {
		t.Errorf("the other lanes: %v, %+v", got, j)
	}
}
