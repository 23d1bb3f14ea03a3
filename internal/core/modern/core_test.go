package modern

import (
	"bytes"
	"context"
	"encoding/binary"
	"reflect"
	"testing"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/isa"
	lang "github.com/heddle-sim/heddle/internal/isa/ptx"
)

// mixed is a program with every kind of wait.
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

// Sleeping changes no counter, and the states of warps add up to their lifetimes.
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
			g.core.KeepPlaces(core.NewLedger())
			p := mixed(3)
			p.rig = g
			k, err := NewKernel(g.core.Config(), p, core.KernelOptions{})
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
			var byPlace, all core.Place
			for _, x := range sum {
				byPlace.Issues += x.Issues
				for st, n := range x.States {
					byPlace.States[st] += n
				}
			}
			all.Issues, all.States = g.core.Stats.WarpInsts, [core.MaxStates]uint64(g.core.Stats.States)
			if byPlace != all {
				t.Errorf("%s: by instruction %+v, in total %+v", mode, byPlace, all)
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
				t.Errorf("%s: states add up to %d, lifetimes to %d", mode, sum, st.WarpLife)
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

// With scoreboards the same program gives the values of functional execution, even with
// control bits that wait for nothing.
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

// sums is a PTX kernel that diverges, loops a different number of times in every thread,
// synchronises at barriers, exchanges values through shared and local memory, adds
// atomically, divides, and uses constants, doubles and approximations.
const sums = `
.version 7.0
.target sm_70
.address_size 64
.const .u32 table[4] = {2, 9, 4, 7};
.visible .entry sums(.param .u64 out, .param .u64 total)
{
 .reg .u32 %r<24>; .reg .u64 %d<8>; .reg .f32 %f<4>; .reg .f64 %g<4>; .reg .pred %p<4>;
 .shared .u32 box[96]; .local .u32 own[4];
 mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, 96, %r0;
 setp.ge.u32 %p0, %r0, 90; @%p0 exit;
 and.b32 %r3, %r0, 3; shl.b32 %r4, %r3, 2; cvt.u64.u32 %d0, %r4;
 mov.u64 %d1, table; add.u64 %d1, %d1, %d0; ld.const.u32 %r5, [%d1];
 mov.u64 %d2, own; add.u64 %d2, %d2, %d0; st.local.u32 [%d2], %r2;
 mov.u32 %r6, 0;
again:
 mad.lo.u32 %r6, %r6, 3, %r5; add.u32 %r5, %r5, 4294967295; setp.ne.u32 %p1, %r5, 0; @%p1 bra again;
 mov.u32 %r7, box; shl.b32 %r8, %r0, 2; add.u32 %r7, %r7, %r8; st.shared.u32 [%r7], %r6;
 bar.sync 0;
 xor.b32 %r9, %r0, 1; shl.b32 %r9, %r9, 2; mov.u32 %r10, box; add.u32 %r10, %r10, %r9; ld.shared.u32 %r11, [%r10];
 ld.local.u32 %r12, [%d2]; add.u32 %r12, %r12, 7; rem.u32 %r13, %r11, %r12;
 cvt.rn.f64.u32 %g0, %r13; fma.rn.f64 %g1, %g0, %g0, %g0; cvt.rzi.u32.f64 %r14, %g1;
 cvt.rn.f32.u32 %f0, %r14; sqrt.rn.f32 %f1, %f0; cvt.rzi.u32.f32 %r15, %f1;
 shfl.sync.bfly.b32 %r16, %r15, 1, 31, 0xffffffff;
 ld.param.u64 %d3, [out]; cvta.to.global.u64 %d3, %d3; mul.wide.u32 %d4, %r2, 8; add.u64 %d3, %d3, %d4;
 st.global.v2.u32 [%d3], {%r15, %r11};
 ld.param.u64 %d5, [total]; and.b32 %r17, %r15, 255; atom.global.add.u32 %r18, [%d5], %r17;
 membar.gl;
 ld.global.u32 %r19, [%d3]; add.u32 %r19, %r19, %r16; st.global.u32 [%d3], %r19;
 exit;
}
`

// PTX runs on this core with scoreboards, with the values of functional execution.
func TestPTX(t *testing.T) {
	mod, err := lang.Parse("sums.ptx", []byte(sums))
	if err != nil {
		t.Fatal(err)
	}
	p, err := xptx.Link(mod)
	if err != nil {
		t.Fatal(err)
	}
	k, ok := p.Kernel("sums")
	if !ok {
		t.Fatal("no kernel")
	}
	const blocks, threads, size = 7, 96, 7 * 96 * 8
	run := func(do func(m *xptx.Machine, l xptx.Launch)) []byte {
		dev := device.New(device.Config{Base: 0xc000_0000})
		m, err := xptx.NewMachine(p, dev)
		if err != nil {
			t.Fatal(err)
		}
		var params []byte
		var at []uint64
		for _, n := range []uint64{size, 4} {
			a, err := dev.Alloc(n, "m")
			if err != nil {
				t.Fatal(err)
			}
			if err := dev.Write(a, make([]byte, n)); err != nil {
				t.Fatal(err)
			}
			at = append(at, a)
			params = binary.LittleEndian.AppendUint64(params, a)
		}
		do(m, xptx.Launch{Kernel: k, Grid: exec.Dim3{X: blocks, Y: 1, Z: 1}, Block: exec.Dim3{X: threads, Y: 1, Z: 1}, Params: params})
		got := make([]byte, size+4)
		for i, part := range [][]byte{got[:size], got[size:]} {
			if err := dev.Read(at[i], part); err != nil {
				t.Fatal(err)
			}
		}
		return got
	}
	var insts, lanes uint64
	want := run(func(m *xptx.Machine, l xptx.Launch) {
		res, err := m.Run(context.Background(), l, xptx.Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		insts, lanes = res.WarpInsts, res.ThreadInsts
	})
	if n := bytes.Count(want, []byte{0}); n > len(want)*3/4 {
		t.Fatalf("%d of %d bytes of the results are zero", n, len(want))
	}
	for name, cfg := range map[string]Config{"Ampere": Ampere(), "Turing": Turing()} {
		for _, consumers := range []int{1, 63} {
			cfg.Consumers = consumers
			g := newRig(t, cfg)
			got := run(func(m *xptx.Machine, l xptx.Launch) {
				w, err := m.NewWork(l, nil)
				if err != nil {
					t.Fatal(err)
				}
				k, err := NewKernel(g.core.Config(), w, core.KernelOptions{})
				if err != nil {
					t.Fatal(err)
				}
				for next := uint64(0); g.ended < blocks; {
					if next < blocks && g.core.Launch(k, w.Block(next)) {
						next++
					}
					if g.tick(); g.cycle > 200_000 {
						t.Fatalf("no end; states %v", g.core.Stats.States)
					}
					if err := g.core.Err(); err != nil {
						t.Fatal(err)
					}
				}
			})
			if !bytes.Equal(got, want) {
				t.Errorf("%s, %d consumers: the results differ from functional execution", name, consumers)
			}
			if st := &g.core.Stats; st.WarpInsts != insts || st.ThreadInsts != lanes {
				t.Errorf("%s: %d warp and %d thread instructions, functional execution has %d and %d", name, st.WarpInsts, st.ThreadInsts, insts, lanes)
			}
			for range 3000 {
				g.tick()
			}
			if g.pool.Live != 0 || g.core.Busy() {
				t.Errorf("%s: %d requests are left, busy %v", name, g.pool.Live, g.core.Busy())
			}
		}
	}
}

// After the first iterations, cycles allocate nothing.
func TestNoAllocation(t *testing.T) {
	for _, mode := range []Dependences{ControlBits, Scoreboard} {
		cfg := Ampere()
		cfg.Dependences = mode
		g := newRig(t, cfg)
		p := mixed(400)
		p.blocks = 1
		p.rig = g
		k, err := NewKernel(g.core.Config(), p, core.KernelOptions{})
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
			t.Errorf("%s: %v allocations per cycle", mode, n)
		}
		if g.ended != 0 {
			t.Error("the program ended too early")
		}
	}
}

// With control bits, warps whose results are visible at once, like those of a trace,
// take exactly as many cycles as other warps: with wait masks, DEPBAR, memory barriers,
// instructions of variable latency, copies, and a result that is not available yet when
// the last instruction has issued.
func TestPlainWarpsTakeTheSameTime(t *testing.T) {
	value := func(a []float64) float64 { return 1 }
	tail := func(last *inst) *program {
		copies := ld(isa.Global, 64, 8, 2)
		copies.Op, copies.Class, copies.Store, copies.Dsts = "LDGSTS.E", isa.ClassCopy, true, nil
		copies.Async = asyncStart
		group := closeGroup().wr(2).stall(2)
		p := prog(
			ld(isa.Global, 32, 8, 2).wr(0).stall(2), ld(isa.Global, 32, 9, 2).wr(0).stall(2), ld(isa.Global, 128, 12, 2).wr(0).stall(2),
			waitSB(0, 1).stall(4), fadd(10, 8, 9).stall(2),
			copies, group, waitSB(2, 0).stall(4),
			mk("MUFU.RCP", isa.ClassSFU, 20, 10).wr(1).stall(2).does(value), st(isa.Global, 32, 2, 20).wait(1<<1).rd(3),
			mk("MEMBAR.SC.GPU", isa.ClassFence, -1).wait(1<<3), bar(), last, exit())
		p.warps, p.smem, p.blocks = 5, 4096, 3
		return p
	}
	hmma := mk("HMMA.16816.F32", isa.ClassTensor, 24, 4, 6).does(value)
	hmma.Tensor = &isa.Tensor{M: 16, N: 8, K: 16, Elem: 16, Bits: 32, F32: true}
	for i, p := range []*program{mixed(3), tail(hmma), tail(mk("ISETP", isa.ClassSetp, 30, 4).does(value)), tail(fadd(30, 4, 5))} {
		var stats [2]Stats
		var end [2]uint64
		for j := range stats {
			q := *p
			q.plain, q.log, q.ended = j == 1, nil, nil
			g := newRig(t, Ampere())
			g.run(&q, 100_000)
			stats[j], end[j] = g.core.Stats, g.cycle
		}
		if !reflect.DeepEqual(stats[0], stats[1]) || end[0] != end[1] {
			t.Errorf("program %d: results visible when the core says so: ends at %d, %+v\\nat once: ends at %d, %+v", i, end[0], stats[0], end[1], stats[1])
		}
	}
}

// The stall of a warp's last instruction does not affect the next warp in its slot.
func TestStallEndsWithItsWarp(t *testing.T) {
	var code []*inst
	for range 6 {
		code = append(code, nop().stall(11))
	}
	p := prog(append(code, exit().stall(11))...)
	p.blocks = 3
	cfg := warm()
	cfg.Blocks = 1
	newRig(t, cfg).run(p, 2000)
	for i := 1; i < len(p.log); i++ {
		if a, b := p.log[i-1], p.log[i]; a.block == b.block && b.cycle-a.cycle != 11 {
			t.Errorf("block %d: instruction %d issues %d cycles after one with a stall of 11", b.block, b.pc, b.cycle-a.cycle)
		}
	}
}
