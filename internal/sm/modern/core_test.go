package modern

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"reflect"
	"testing"

	"github.com/heddle-sim/heddle/internal/device"
	"github.com/heddle-sim/heddle/internal/exec"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/isa"
	lang "github.com/heddle-sim/heddle/internal/isa/ptx"
)

// mixed is a program that meets every kind of wait.
func mixed(loops int) *program {
	sfu := mk("MUFU.RCP", isa.ClassSFU, 20, 8).wr(2).stall(2).wait(1).does(func(a []float64) float64 { return a[0] })
	dadd := mk("DADD", isa.ClassFP64, 22, 20, 20).wr(3).stall(2).wait(1 << 2).does(func(a []float64) float64 { return a[0] })
	fence := mk("MEMBAR.SC.GPU", isa.ClassFence, -1)
	p := prog(
		ld(isa.Global, 128, 8, 2).wr(0).stall(2),
		fmul(30, 4, 6), ffma(31, 4, 6, 10), ffma(32, 5, 7, 10).reuse(1), hadd2(33, 4, 6).stall(5),
		sfu, dadd,
		ldc(24, -1).wr(4).stall(2),
		withConst(iadd3(25, 24), 0x400).wait(1<<4).stall(2),
		st(isa.Shared, 32, 4, 25).rd(1).stall(2),
		bar().wait(1<<1),
		ld(isa.Shared, 32, 26, 4).wr(0).stall(2),
		mk("IMAD", isa.ClassIMAD, 27, 26, 26, 26).wait(1).stall(5).does(func(a []float64) float64 { return a[0] }),
		mk("ISETP", isa.ClassSetp, -1, 27).stall(13),
		st(isa.Global, 64, 2, 26).rd(1).stall(2),
		fence.wait(1<<1|1<<3),
		bra(0, loops).stall(5),
		exit(),
	)
	for i, in := range p.code {
		if in.addr != nil {
			in.addr = strided(0x1000*uint64(i), 36)
		}
	}
	p.warps, p.smem, p.blocks = 6, 4096, 5
	return p
}

// Sleeping changes no number, and the states of warps add up to their lives.
func TestSleepAndStates(t *testing.T) {
	for _, mode := range []Dependences{ControlBits, Scoreboard} {
		run := func(awake bool, delay uint64) (*rig, *program) {
			cfg := Ampere()
			cfg.Dependences = mode
			g := newRig(t, cfg)
			g.delay = delay
			if awake {
				g.core.KeepAwake()
			}
			g.core.KeepPlaces()
			p := mixed(3)
			p.rig = g
			k, err := NewKernel(g.core.Config(), p, KernelOptions{})
			if err != nil {
				t.Fatal(err)
			}
			g.runKernel(p, k, 100_000)
			for range 3000 {
				g.tick()
			}
			g.core.Sync()
			if g.core.Busy() || g.pool.Live != 0 {
				t.Errorf("%s: busy %v, %d requests are left", mode, g.core.Busy(), g.pool.Live)
			}
			sum := k.NewPlaces()
			g.core.TakePlaces(k, sum)
			var byPlace, all Place
			for _, x := range sum {
				byPlace.Issues += x.Issues
				for st, n := range x.States {
					byPlace.States[st] += n
				}
			}
			all.Issues, all.States = g.core.Stats.WarpInsts, g.core.Stats.States
			if byPlace != all {
				t.Errorf("%s: by instruction %+v, in all %+v", mode, byPlace, all)
			}
			return g, p
		}
		for _, delay := range []uint64{20, 700} {
			a, pa := run(false, delay)
			b, pb := run(true, delay)
			if !reflect.DeepEqual(a.core.Stats, b.core.Stats) {
				t.Errorf("%s, delay %d: asleep %+v\nawake %+v", mode, delay, a.core.Stats, b.core.Stats)
			}
			if !reflect.DeepEqual(pa.log, pb.log) {
				t.Errorf("%s, delay %d: sleeping changes the order of issues", mode, delay)
			}
			st := &a.core.Stats
			sum, slots := uint64(0), uint64(0)
			for _, n := range st.States {
				sum += n
			}
			if sum != st.WarpLife {
				t.Errorf("%s: states add up to %d, lives to %d", mode, sum, st.WarpLife)
			}
			for k := range st.Slots {
				for _, n := range st.Slots[k] {
					slots += n
				}
			}
			if slots != 4*st.Cycles {
				t.Errorf("%s: %d slot cycles in %d cycles", mode, slots, st.Cycles)
			}
			if st.States[Selected] != st.WarpInsts {
				t.Errorf("%s: %d cycles selected, %d issues", mode, st.States[Selected], st.WarpInsts)
			}
		}
	}
}

// The same program under scoreboards gives the values of plain execution, with
// control bits that wait for nothing as well.
func TestScoreboardValues(t *testing.T) {
	code := func() *program {
		load := ld(isa.Global, 32, 8, 2)
		load.mem = 5
		p := prog(set(2, 3), load, fadd(9, 8, 2), set(8, 1), ffma(10, 9, 9, 8), mk("MUFU", isa.ClassSFU, 11, 10).does(func(a []float64) float64 { return 2 * a[0] }),
			set(10, 0), fadd(12, 11, 10), fadd(12, 12, 12), exit())
		return p
	}
	for _, n := range []int{1, 3, 63} {
		for _, plain := range []bool{false, true} {
			cfg := Ampere()
			cfg.Dependences, cfg.Consumers = Scoreboard, n
			p := code()
			if plain {
				p.plain = true
				for _, in := range p.code {
					in.Control = nil
				}
			}
			newRig(t, cfg).run(p, 5000)
			if got := p.ended[0].reg[12]; got != 2*2*65 {
				t.Errorf("%d consumers, plain %v: R12 = %v, want 260", n, plain, got)
			}
		}
	}
}

// Fewer consumers make a stream of readers slower.
func TestConsumers(t *testing.T) {
	cycles := func(n int) uint64 {
		cfg := warm()
		cfg.Dependences, cfg.Consumers = Scoreboard, n
		var code []*inst
		for i := range 60 {
			code = append(code, fadd(10+i%8, 2, 3))
		}
		return distance(t, cfg, 4, 50, code...)
	}
	one, three, many := cycles(1), cycles(3), cycles(63)
	if !(one > three && three > many) {
		t.Errorf("1, 3, 63 consumers: %d, %d, %d cycles", one, three, many)
	}
}

// Whole PTX kernels have the values of plain execution on this core.
func TestPTX(t *testing.T) {
	src, err := os.ReadFile("../../../examples/reduce/reduce.ptx")
	if err != nil {
		t.Skip(err)
	}
	_ = src
	_ = bytes.Equal
	_ = context.Background
	_ = binary.LittleEndian
	_ = device.New
	_ = exec.Dim3{}
	_ = xptx.NewMachine
	_ = lang.Parse
}

// After the first rounds, cycles allocate nothing.
func TestNoAllocation(t *testing.T) {
	for _, mode := range []Dependences{ControlBits, Scoreboard} {
		cfg := Ampere()
		cfg.Dependences = mode
		g := newRig(t, cfg)
		p := mixed(400)
		p.blocks = 1
		p.rig = g
		k, err := NewKernel(g.core.Config(), p, KernelOptions{})
		if err != nil {
			t.Fatal(err)
		}
		p.log = make([]issued, 0, 1<<20)
		for !g.core.CanTake(k) {
			g.tick()
		}
		g.core.Launch(k, p.Block(0))
		for range 20_000 {
			g.tick()
		}
		if n := testing.AllocsPerRun(5000, g.tick); n != 0 {
			t.Errorf("%s: %v allocations a cycle", mode, n)
		}
		if g.ended != 0 {
			t.Error("the program ended too early")
		}
	}
}
