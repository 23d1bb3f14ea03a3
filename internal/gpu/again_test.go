package gpu_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// againPTX: count adds to a word for each thread for some rounds; wild does the
// same, but its block 3 stores to address 8; hang waits at two barriers at once; in
// astray the first thread of each block prints its letter and stores beyond the end
// of the buffer, then that of block 0 stores to address 8 and the others loop
// forever.
const againPTX = `.version 7.0
.target sm_70
.address_size 64
.visible .entry count(.param .u64 out, .param .u32 rounds)
{
 .reg .b64 %rd<4>;
 .reg .b32 %r<8>;
 .reg .pred %p<2>;
 ld.param.u64 %rd1, [out];
 ld.param.u32 %r1, [rounds];
 mov.u32 %r2, %ctaid.x;
 mov.u32 %r3, %ntid.x;
 mov.u32 %r4, %tid.x;
 mad.lo.u32 %r2, %r2, %r3, %r4;
 mul.wide.u32 %rd2, %r2, 4;
 add.u64 %rd1, %rd1, %rd2;
 mov.u32 %r5, 0;
LOOP:
 ld.global.u32 %r6, [%rd1];
 add.u32 %r6, %r6, 1;
 st.global.u32 [%rd1], %r6;
 add.u32 %r5, %r5, 1;
 setp.lt.u32 %p1, %r5, %r1;
 @%p1 bra LOOP;
 ret;
}
.visible .entry wild(.param .u64 out, .param .u32 rounds)
{
 .reg .b64 %rd<4>;
 .reg .b32 %r<8>;
 .reg .pred %p<2>;
 ld.param.u64 %rd1, [out];
 mov.u32 %r2, %ctaid.x;
 mov.u32 %r3, %tid.x;
 mad.lo.u32 %r3, %r2, 64, %r3;
 mul.wide.u32 %rd2, %r3, 4;
 add.u64 %rd1, %rd1, %rd2;
 setp.eq.u32 %p1, %r2, 3;
 ld.global.u32 %r4, [%rd1];
 @%p1 mov.u64 %rd1, 8;
 st.global.u32 [%rd1], %r4;
 ret;
}
.visible .entry hang(.param .u64 out, .param .u32 rounds)
{
 .reg .b32 %r<4>;
 .reg .pred %p<2>;
 mov.u32 %r1, %tid.x;
 setp.ge.u32 %p1, %r1, 32;
 @%p1 bra SECOND;
 bar.sync 1, 64;
 ret;
SECOND:
 bar.sync 2, 64;
 ret;
}
.extern .func (.param .b32 n) vprintf (.param .b64 format, .param .b64 list);
.global .align 1 .b8 letters[6] = {65, 10, 0, 66, 10, 0};
.visible .entry astray(.param .u64 out, .param .u32 rounds)
{
 .reg .b64 %rd<4>;
 .reg .b32 %r<4>;
 .reg .pred %p<2>;
 mov.u32 %r1, %tid.x;
 setp.ne.u32 %p1, %r1, 0;
 @%p1 ret;
 mov.u32 %r2, %ctaid.x;
 mul.wide.u32 %rd1, %r2, 3;
 mov.u64 %rd2, letters;
 cvta.global.u64 %rd2, %rd2;
 add.u64 %rd2, %rd2, %rd1;
 mov.u64 %rd3, 0;
 {
 .param .b64 format;
 .param .b64 list;
 .param .b32 n;
 st.param.b64 [format], %rd2;
 st.param.b64 [list], %rd3;
 call.uni (n), vprintf, (format, list);
 }
 ld.param.u64 %rd1, [out];
 st.global.u32 [%rd1+512064], 1;
 mov.u32 %r3, 0;
WAIT:
 add.u32 %r3, %r3, 1;
 setp.lt.u32 %p1, %r3, 1000;
 @%p1 bra WAIT;
 setp.ne.u32 %p1, %r2, 0;
 @%p1 bra WAIT;
 mov.u64 %rd1, 8;
 st.global.u32 [%rd1], 1;
 ret;
}
`

// chipBench is a chip with memory and the program againPTX.
type chipBench struct {
	t    *testing.T
	chip *gpu.GPU
	mem  *device.Memory
	prog *xptx.Program
	m    *xptx.Machine
	out  [2]uint64    // a buffer for the launches that end early, one for those that follow
	text bytes.Buffer // output of kernels
}

const againBytes = 2000 * 64 * 4

func newChipBench(t *testing.T, name string, threads int, set ...string) *chipBench {
	t.Helper()
	c, err := config.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range set {
		if err := c.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	cfg := c.ChipConfig()
	cfg.Run.Threads = threads
	b := &chipBench{t: t, mem: device.New(device.Config{})}
	if b.chip, err = gpu.New(cfg); err != nil {
		t.Fatal(err)
	}
	mod, err := ptx.Parse("again.ptx", []byte(againPTX))
	if err != nil {
		t.Fatal(err)
	}
	if b.prog, err = xptx.Link(mod); err != nil {
		t.Fatal(err)
	}
	if b.m, err = xptx.NewMachine(b.prog, b.mem); err != nil {
		t.Fatal(err)
	}
	for i := range b.out {
		if b.out[i], err = b.mem.Alloc(againBytes, fmt.Sprint("out ", i)); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// of returns a launch of blocks of 64 threads with a buffer as its output.
func (b *chipBench) of(kernel string, blocks uint32, out int) xptx.Launch {
	const rounds = 6
	l := xptx.Launch{
		Grid: exec.Dim3{X: blocks, Y: 1, Z: 1}, Block: exec.Dim3{X: 64, Y: 1, Z: 1},
		Params: binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, b.out[out]), rounds),
	}
	for _, k := range b.prog.Kernels() {
		if k.Name() == kernel {
			l.Kernel = k
		}
	}
	return l
}

// launch adds such a launch to the chip.
func (b *chipBench) launch(kernel string, stream int64, blocks uint32, out int) *gpu.Op {
	b.t.Helper()
	l := b.of(kernel, blocks, out)
	op := &gpu.Op{Kind: gpu.OpLaunch, Stream: stream, Save: b.mem.Save, Make: func(bool) (exec.Work, error) { return b.m.NewWork(l, &b.text) }}
	if err := b.chip.Add(op); err != nil {
		b.t.Fatal(err)
	}
	return op
}

// read returns a buffer's bytes.
func (b *chipBench) read(i int) []byte {
	b.t.Helper()
	s := make([]byte, againBytes)
	if err := b.mem.Read(b.out[i], s); err != nil {
		b.t.Fatal(err)
	}
	return s
}

var errCut = errors.New("cut")

// cutAt ends the next run after a core cycle, as an interrupt would.
func (b *chipBench) cutAt(cycle uint64) {
	b.chip.LookAt(cycle)
	b.chip.OnCycle(func() error {
		if b.chip.Now() == cycle {
			return errCut
		}
		return nil
	})
}

// measured has the duration and counters of a launch, independent of its start.
type measured struct {
	Cycles, First, Blocks, WarpInsts, ThreadInsts uint64
	L1, L2                                        [2]uint64 // accesses, hits
	Reads, Writes, Activates                      uint64    // of DRAM
	Alone                                         bool
}

// measure runs a launch on the second buffer and measures it.
func (b *chipBench) measure() measured {
	b.t.Helper()
	op := b.launch("count", 0, 45, 1)
	if err := b.chip.Finish(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	k := op.Kernel
	return measured{
		k.Cycles(), k.FirstBlock - k.Start, k.Blocks, k.WarpInsts, k.ThreadInsts,
		[2]uint64{k.L1D.Total(), k.L1D.Of(0)}, [2]uint64{k.L2.Total(), k.L2.Of(0)},
		k.DRAMReads(), k.DRAMWrites(), k.DRAM.Activates, k.Alone,
	}
}

// TestLaunchAgain lets a run end early in every way, and launches again: the ended
// launch has no further effect, and the new one takes the same time as on a new
// machine.
func TestLaunchAgain(t *testing.T) {
	alltests.Only(t, "launches after every kind of end")
	ends := []struct {
		name string
		set  []string
		run  func(b *chipBench) error
		want any // the error's type
	}{
		{"a fault", nil, func(b *chipBench) error {
			b.launch("wild", 0, 400, 0)
			return b.chip.Finish(b.t.Context())
		}, new(*exec.Fault)},
		{"a limit on blocks", []string{"run.max_done=50"}, func(b *chipBench) error {
			b.launch("count", 0, 600, 0)
			return b.chip.Finish(b.t.Context())
		}, new(*exec.LimitError)},
		{"no progress", nil, func(b *chipBench) error {
			b.launch("hang", 0, 4, 0)
			return b.chip.Finish(b.t.Context())
		}, new(*exec.StuckError)},
		{"cancelled by a context", nil, func(b *chipBench) error {
			b.launch("count", 0, 2000, 0)
			ctx, cancel := context.WithCancel(b.t.Context())
			b.chip.OnCycle(func() error {
				if b.chip.Now() > 700 {
					cancel()
				}
				return nil
			})
			return b.chip.Finish(ctx)
		}, nil},
		{"cut while several streams run", nil, func(b *chipBench) error {
			for s := range int64(4) {
				b.launch("count", s+1, 400, 0)
			}
			b.cutAt(900)
			return b.chip.Finish(b.t.Context())
		}, nil},
		{"cut during a copy", []string{"run.copies=timed"}, func(b *chipBench) error {
			b.launch("count", 1, 600, 0)
			if err := b.chip.Add(&gpu.Op{Kind: gpu.OpCopy, Stream: 2, Way: gpu.ToDevice, Bytes: 1 << 20, Copy: func() error {
				b.t.Error("a copy that did not end has moved its bytes")
				return nil
			}}); err != nil {
				b.t.Fatal(err)
			}
			b.cutAt(900)
			return b.chip.Finish(b.t.Context())
		}, nil},
		{"cut in a rehearsal", []string{"run.caches=warm"}, func(b *chipBench) error {
			b.launch("count", 0, 600, 0)
			b.cutAt(900)
			return b.chip.Finish(b.t.Context())
		}, nil},
		{"cut at the first block", nil, func(b *chipBench) error {
			b.launch("count", 0, 600, 0)
			b.cutAt(2)
			return b.chip.Finish(b.t.Context())
		}, nil},
		{"cut twice", nil, func(b *chipBench) error {
			for i := range uint64(2) {
				b.launch("count", 0, 600, 0)
				b.cutAt(900 * (i + 1))
				if err := b.chip.Finish(b.t.Context()); !errors.Is(err, errCut) {
					return err
				}
			}
			return errCut
		}, nil},
	}
	for _, name := range alltests.Some([]string{"rtx-2070-super", "rtx-2060"}, 1) {
		for _, threads := range []int{1, 2} {
			for _, e := range ends {
				t.Run(fmt.Sprintf("%s, %d threads, %s", name, threads, e.name), func(t *testing.T) {
					together(t, threads)
					set := append([]string{"run.launch_latency=0"}, e.set...)
					fresh := newChipBench(t, name, threads, append(set, "run.max_done=0")...)
					want := fresh.measure()
					b := newChipBench(t, name, threads, set...)
					err := e.run(b)
					switch {
					case e.want == nil && !errors.Is(err, errCut) && !errors.Is(err, context.Canceled), e.want != nil && !errors.As(err, e.want):
						t.Fatalf("the run ends with %v", err)
					}
					b.chip.OnCycle(nil)
					b.chip.Config().Run.MaxDone = 0
					before, at := b.read(0), b.chip.Now()
					got := b.measure()
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("not as on a new machine (-want +got):\n%s", diff)
					}
					if b.chip.Now()-at < got.Cycles {
						t.Errorf("time goes from %d to %d in a launch of %d cycles", at, b.chip.Now(), got.Cycles)
					}
					if !bytes.Equal(before, b.read(0)) {
						t.Error("the launch that ended early still writes memory")
					}
					if !bytes.Equal(fresh.read(1), b.read(1)) {
						t.Error("wrong values")
					}
					if n := b.chip.LiveRequests(); n != fresh.chip.LiveRequests() {
						t.Errorf("%d requests are left, want %d as on a new machine", n, fresh.chip.LiveRequests())
					}
				})
			}
		}
	}
}

// TestWordsOfAnEnd: the output and the warnings of blocks appear even if the launch
// ends before the blocks do: those of the faulting block, and on a chip those of
// all running blocks. Each instruction has one warning.
func TestWordsOfAnEnd(t *testing.T) {
	functional := func(b *chipBench, threads int) error {
		_, err := b.m.Run(b.t.Context(), b.of("astray", 2, 1), xptx.Options{Threads: threads, Out: &b.text})
		return err
	}
	timed := func(b *chipBench, _ int) error {
		b.launch("astray", 0, 2, 1)
		return b.chip.Finish(b.t.Context())
	}
	cut := func(b *chipBench, threads int) error {
		b.cutAt(3000)
		return timed(b, threads)
	}
	var fault *exec.Fault
	faults := func(err error) bool { return errors.As(err, &fault) }
	for _, c := range []struct {
		name, gpu string
		run       func(b *chipBench, threads int) error
		ends      func(error) bool
		want      string
	}{
		{"functional", "rtx-2060", functional, faults, "A\n"},
		{"simt", "rtx-2060", timed, faults, "A\nB\n"},
		{"modern", "rtx-2070-super", timed, faults, "A\nB\n"},
		{"simt, cut", "rtx-2060", cut, func(err error) bool { return errors.Is(err, errCut) }, "A\nB\n"},
	} {
		for _, threads := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s, %d threads", c.name, threads), func(t *testing.T) {
				together(t, threads)
				b := newChipBench(t, c.gpu, threads, "run.launch_latency=0")
				warnings := 0
				b.m.TolerateStrays()
				b.m.Warn(func(w *exec.Warning) {
					warnings++
					if w.Kind != exec.StrayWrite || w.Where.Block != (exec.Dim3{}) {
						t.Errorf("warning of kind %d: %v", w.Kind, &w.Fault)
					}
				})
				if err := c.run(b, threads); !c.ends(err) {
					t.Fatalf("it ends with %v", err)
				}
				if b.text.String() != c.want || warnings != 1 {
					t.Errorf("%q printed and %d warnings, want %q and 1", b.text.String(), warnings, c.want)
				}
			})
		}
	}
}

// TestLargestLimit: a limit that a run cannot reach prevents no skipping of cycles,
// however late it starts to count.
func TestLargestLimit(t *testing.T) {
	skipped := func(limit uint64) uint64 {
		b := newChipBench(t, "rtx-2060", 1)
		b.chip.Config().Run.MaxCycles = limit
		b.measure()
		b.chip.LimitFromHere()
		b.measure()
		return b.chip.Totals().Chip.Skipped
	}
	want := skipped(0)
	if want == 0 {
		t.Fatal("no cycle is skipped")
	}
	for _, limit := range []uint64{1 << 62, math.MaxUint64 - 1, math.MaxUint64} {
		if got := skipped(limit); got != want {
			t.Errorf("limit %d: %d cycles are skipped, without one %d", limit, got, want)
		}
	}
}

// TestTotalsAfterAnEnd checks that the counters and the time of a chip continue
// after a run has ended early.
func TestTotalsAfterAnEnd(t *testing.T) {
	for _, name := range []string{"rtx-2060", "rtx-2070-super"} {
		b := newChipBench(t, name, 1, "run.launch_latency=0")
		b.launch("count", 0, 600, 0)
		b.cutAt(1700)
		if err := b.chip.Finish(t.Context()); !errors.Is(err, errCut) {
			t.Fatal(err)
		}
		b.chip.OnCycle(nil)
		first := b.chip.Totals()
		var banks uint64
		sum := func() (n uint64) {
			for ch := range b.chip.Memory().Parts.Channels() {
				d := b.chip.Memory().Parts.DRAM(ch)
				for i := range d.Config().Banks {
					n += d.Bank(i).Requests
				}
			}
			return n
		}
		banks = sum()
		b.measure()
		fresh := newChipBench(t, name, 1, "run.launch_latency=0")
		fresh.measure()
		alone, both := fresh.chip.Totals(), b.chip.Totals()
		for _, c := range []struct {
			name string
			of   func(c *gpu.Counters) uint64
		}{
			{"warp instructions", func(c *gpu.Counters) uint64 { return c.SM.WarpInsts }},
			{"blocks launched", func(c *gpu.Counters) uint64 { return c.SM.BlocksLaunched }},
			{"accesses of the L1s", func(c *gpu.Counters) uint64 { return c.L1D.Total() }},
			{"accesses of the L2", func(c *gpu.Counters) uint64 { return c.L2.Total() }},
			{"reads of DRAM", func(c *gpu.Counters) uint64 { return c.DRAMReads() }},
			{"packets of requests", func(c *gpu.Counters) uint64 { return c.Request.Packets }},
			{"requests of the slices", func(c *gpu.Counters) uint64 { return c.Slice.Requests }},
		} {
			if got, want := c.of(&both), c.of(&first)+c.of(&alone); got != want || c.of(&first) == 0 {
				t.Errorf("%s: %d %s in both runs, want %d + %d", name, got, c.name, c.of(&first), c.of(&alone))
			}
		}
		var want uint64
		for ch := range fresh.chip.Memory().Parts.Channels() {
			d := fresh.chip.Memory().Parts.DRAM(ch)
			for i := range d.Config().Banks {
				want += d.Bank(i).Requests
			}
		}
		if got := sum(); got != banks+want || banks == 0 {
			t.Errorf("%s: %d requests of banks, want %d + %d", name, got, banks, want)
		}
	}
}
