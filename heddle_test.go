package heddle_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/run"
)

const kernels = `.version 7.8
.target sm_80
.address_size 64
.global .align 4 .u32 counter[2] = {5, 6};

// Stores its arguments.
.visible .entry store(.param .u64 out, .param .f32 f, .param .s16 h, .param .u8 c, .param .u64 big, .param .align 4 .b8 s[8])
{
	.reg .b16 %h<2>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd0, [out];
	ld.param.b32 %r0, [f];
	ld.param.u16 %h0, [h];
	ld.param.u8 %h1, [c];
	ld.param.u64 %rd1, [big];
	ld.param.u32 %r1, [s];
	ld.param.u32 %r2, [s+4];
	st.global.b32 [%rd0], %r0;
	st.global.u16 [%rd0+4], %h0;
	st.global.u16 [%rd0+6], %h1;
	st.global.u64 [%rd0+8], %rd1;
	st.global.u32 [%rd0+16], %r1;
	st.global.u32 [%rd0+20], %r2;
	ret;
}
.visible .entry wild(.param .u64 out)
{
	.reg .b64 %rd<1>;
	ld.param.u64 %rd0, [out];
	st.global.u32 [%rd0], 1;
	ret;
}
.visible .entry endless()
{
L:	bra L;
}
`

func newGPU(t *testing.T, opts ...heddle.Option) *heddle.GPU {
	t.Helper()
	p, err := heddle.LoadSource(heddle.Source{Name: "kernels.ptx", Text: kernels})
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff([]string{"store", "wild", "endless"}, p.Kernels()); diff != "" {
		t.Error(diff)
	}
	g, err := heddle.New(p, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestArguments(t *testing.T) {
	g := newGPU(t)
	out, err := g.Alloc(24, "out")
	if err != nil {
		t.Fatal(err)
	}
	one := heddle.Dim(1)
	launch := func(args ...any) error {
		_, err := g.Launch(context.Background(), "store", one, one, args...)
		return err
	}
	if err := launch(out, float32(1.5), int16(-2), 200, uint64(math.MaxUint64), []byte{1, 0, 0, 0, 2, 0, 0, 0}); err != nil {
		t.Fatal(err)
	}
	got, err := heddle.Download[uint32](g, out, 6)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff([]uint32{0x3fc00000, 200<<16 | 0xfffe, 0xffffffff, 0xffffffff, 1, 2}, got); diff != "" {
		t.Error(diff)
	}
	s := make([]byte, 8)
	for _, c := range []struct {
		args []any
		want string
	}{
		{[]any{out}, "takes 6 arguments, not 1"},
		{[]any{out, 1.5, int16(1), 1, 1, s}, "argument 2 (f) has 8 bytes, the parameter (.f32) has 4"},
		{[]any{out, float32(1), 40000, 256, 1, s}, "256 does not fit 1 bytes"},
		{[]any{out, float32(1), 70000, 1, 1, s}, "70000 does not fit 2 bytes"},
		{[]any{out, float32(1), -32769, 1, 1, s}, "-32769 does not fit 2 bytes"},
		{[]any{out, float32(1), 1, 1, 1, s[:7]}, "argument 6 (s) has 7 bytes"},
		{[]any{out, float32(1), 1, 1, "x", s}, "cannot pass a string to a kernel"},
		{[]any{out, float32(1), 1, 1, nil, s}, "cannot pass a"},
	} {
		err := launch(c.args...)
		var le *heddle.LaunchError
		if !errors.As(err, &le) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.args, err, c.want)
		}
	}
}

func TestSymbols(t *testing.T) {
	g := newGPU(t)
	p, size, err := g.Symbol("counter")
	if err != nil || size != 8 {
		t.Fatalf("size %d, %v", size, err)
	}
	got, err := heddle.Download[int32](g, p, 2)
	if diff := gocmp.Diff([]int32{5, 6}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if err := heddle.Store(g, p.Add(4), []int32{-7}); err != nil {
		t.Fatal(err)
	}
	if got, _ := heddle.Download[int32](g, p, 2); !gocmp.Equal(got, []int32{5, -7}) {
		t.Errorf("got %v", got)
	}
	if _, _, err := g.Symbol("nothing"); err == nil {
		t.Error("an unknown symbol was found")
	}
}

func TestErrors(t *testing.T) {
	g := newGPU(t, heddle.MaxInstructions(500), heddle.Threads(1), heddle.MemoryLimit(1<<20))
	ctx := context.Background()
	one := heddle.Dim(1)
	_, err := g.Launch(ctx, "wild", one, one, heddle.Ptr(64))
	var fault *heddle.Fault
	if !errors.As(err, &fault) || fault.Where.Kernel != "wild" || fault.Where.Pos.Line != 31 {
		t.Errorf("%+v", err)
	}
	_, err = g.Launch(ctx, "endless", one, heddle.Dim(64))
	var limit *heddle.LimitError
	if !errors.As(err, &limit) {
		t.Errorf("%v", err)
	}
	if _, err = g.Launch(ctx, "wlid", one, one); err == nil || !strings.Contains(err.Error(), `did you mean "wild"?`) {
		t.Errorf("%v", err)
	}
	if _, err := g.Alloc(1<<21, "big"); err == nil {
		t.Error("the memory limit was passed")
	}
	if _, err := g.Alloc(-1, "x"); err == nil {
		t.Error("a negative size was allocated")
	}
	if _, err := heddle.Download[int32](g, 0, 1); err == nil {
		t.Error("null was read")
	}
	if _, err := heddle.Download[int64](g, 0, math.MaxInt); err == nil {
		t.Error("too much was read")
	}
	p, err := g.Alloc(16, "freed")
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Free(p); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Launch(ctx, "wild", one, one, p); !errors.As(err, &limit) {
		t.Errorf("the limit does not apply to all launches together: %v", err)
	}
	g = newGPU(t)
	if p, err = g.Alloc(16, "freed"); err != nil {
		t.Fatal(err)
	}
	if err := g.Free(p); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Launch(ctx, "wild", one, one, p); !errors.As(err, &fault) || !strings.Contains(fault.What, "freed") {
		t.Errorf("%v", err)
	}
	if _, err := heddle.LoadSource(); err == nil {
		t.Error("no program was loaded")
	}
	if _, err := heddle.Load("nowhere.ptx"); err == nil {
		t.Error("a missing file was loaded")
	}
	if _, err := heddle.LoadSource(heddle.Source{Name: "x.ptx", Text: "nonsense"}); err == nil {
		t.Error("nonsense was loaded")
	}
}

// TestMachine launches on a machine that counts cycles.
func TestMachine(t *testing.T) {
	prog, err := heddle.Load("examples/vecadd/vecadd.ptx")
	if err != nil {
		t.Fatal(err)
	}
	run := func(opts ...heddle.Option) heddle.Stats {
		t.Helper()
		g, err := heddle.New(prog, opts...)
		if err != nil {
			t.Fatal(err)
		}
		a, err := heddle.Upload(g, "a", []float32{1, 2, 3})
		if err != nil {
			t.Fatal(err)
		}
		c, err := g.Alloc(12, "c")
		if err != nil {
			t.Fatal(err)
		}
		var st heddle.Stats
		for range 2 { // the second launch finds the machine in the state after the first
			if st, err = g.Launch(context.Background(), "vecadd", heddle.Dim(1), heddle.Dim(32), a, a, c, 3); err != nil {
				t.Fatal(err)
			}
		}
		sum, err := heddle.Download[float32](g, c, 3)
		if err != nil || !slices.Equal(sum, []float32{2, 4, 6}) {
			t.Errorf("%v %v", sum, err)
		}
		return st
	}
	plain := run()
	timed := run(heddle.Machine("rtx-2060"), heddle.Set("run.launch_latency=0"))
	late := run(heddle.Machine("rtx-2060"), heddle.Set("run.launch_latency=1000"))
	if one := run(heddle.Machine("rtx-2060"), heddle.Set("run.launch_latency=0"), heddle.Threads(1)); one.Cycles != timed.Cycles {
		t.Errorf("%d cycles with one worker, %d with as many as there are cores", one.Cycles, timed.Cycles)
	}
	if plain.Cycles != 0 || timed.Cycles == 0 || late.Cycles != timed.Cycles+1000 {
		t.Errorf("%d cycles without a machine, %d with one, %d with a latency of 1000 more", plain.Cycles, timed.Cycles, late.Cycles)
	}
	if timed.WarpInstructions != plain.WarpInstructions || timed.ThreadInstructions != plain.ThreadInstructions || timed.Blocks != plain.Blocks {
		t.Errorf("%+v with a machine, %+v without", timed, plain)
	}
	for _, o := range [][]heddle.Option{{heddle.Machine("rtx-9999")}, {heddle.Machine("rtx-2060"), heddle.Set("run.launch_latencie=3")}, {heddle.Set("run.caches")}} {
		if _, err := heddle.New(prog, o...); err == nil {
			t.Error("a wrong option is taken")
		}
	}
}

// cancelAfter is a context that is cancelled after the given number of checks.
type cancelAfter struct {
	context.Context
	asks *atomic.Int64
}

func (c cancelAfter) Err() error {
	if c.asks.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestLaunchAfterEveryEnd launches again on a machine on which a launch has ended
// in each possible way. The first has no effect on the second: it takes the same
// cycles as on a new machine, and memory has only its writes.
func TestLaunchAfterEveryEnd(t *testing.T) {
	alltests.Only(t, "launches after every kind of end")
	prog, err := heddle.LoadSource(heddle.Source{Name: "ends.ptx", Text: `.version 7.8
.target sm_80
.address_size 64
// Adds 1 to a word for each block, after some turns.
.visible .entry count(.param .u64 out, .param .u32 turns)
{
	.reg .b64 %rd<3>;
	.reg .b32 %r<4>;
	.reg .pred %p;
	ld.param.u64 %rd0, [out];
	ld.param.u32 %r1, [turns];
	mov.u32 %r2, %ctaid.x;
	mul.wide.u32 %rd1, %r2, 4;
	add.u64 %rd0, %rd0, %rd1;
	mov.u32 %r0, 0;
again:
	add.u32 %r0, %r0, 1;
	setp.lt.u32 %p, %r0, %r1;
	@%p bra again;
	ld.global.u32 %r3, [%rd0];
	add.u32 %r3, %r3, 1;
	st.global.u32 [%rd0], %r3;
	ret;
}
.visible .entry wild(.param .u64 out, .param .u32 turns)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<2>;
	mov.u32 %r0, %ctaid.x;
	mul.wide.u32 %rd0, %r0, 8;
	st.global.u32 [%rd0], 1;
	ret;
}
.visible .entry stuck(.param .u64 out, .param .u32 turns)
{
	.reg .b32 %r<2>;
	.reg .pred %p;
	mov.u32 %r0, %tid.x;
	setp.ge.u32 %p, %r0, 32;
	@%p bra second;
	bar.sync 1, 64;
	ret;
second:
	bar.sync 2, 64;
	ret;
}
// Stores 777 to a word for each block, except in the fourth, which faults after the
// others have ended.
.visible .entry late(.param .u64 out, .param .u32 turns)
{
	.reg .b64 %rd<3>;
	.reg .b32 %r<3>;
	.reg .pred %p;
	ld.param.u64 %rd0, [out];
	mov.u32 %r0, %ctaid.x;
	setp.eq.u32 %p, %r0, 3;
	@%p bra fourth;
	mul.wide.u32 %rd1, %r0, 4;
	add.u64 %rd0, %rd0, %rd1;
	st.global.u32 [%rd0], 777;
	ret;
fourth:
	mov.u32 %r1, 0;
again:
	add.u32 %r1, %r1, 1;
	setp.lt.u32 %p, %r1, 20000;
	@%p bra again;
	mov.u64 %rd2, 8;
	st.global.u32 [%rd2], 1;
	ret;
}
// Stores 777 to a word for each block and never ends.
.visible .entry endless(.param .u64 out, .param .u32 turns)
{
	.reg .b64 %rd<2>;
	.reg .b32 %r<1>;
	ld.param.u64 %rd0, [out];
	mov.u32 %r0, %ctaid.x;
	mul.wide.u32 %rd1, %r0, 4;
	add.u64 %rd0, %rd0, %rd1;
	st.global.u32 [%rd0], 777;
again:
	bra again;
}
`})
	if err != nil {
		t.Fatal(err)
	}
	const blocks = 4000
	for _, machine := range alltests.Some([]string{"", "rtx-2060", "rtx-2070-super"}, 2) {
		for _, threads := range alltests.Some([]int{1, 4, 2}, 2) {
			begin := func(t *testing.T) (*heddle.GPU, heddle.Ptr) {
				t.Helper()
				opts := []heddle.Option{heddle.Threads(threads)}
				if machine != "" {
					opts = append(opts, heddle.Machine(machine), heddle.Set("run.launch_latency=0"))
				}
				g, err := heddle.New(prog, opts...)
				if err != nil {
					t.Fatal(err)
				}
				out, err := g.Alloc(blocks*4, "out")
				if err != nil {
					t.Fatal(err)
				}
				return g, out
			}
			launch := func(t *testing.T, g *heddle.GPU, out heddle.Ptr) heddle.Stats {
				t.Helper()
				before, err := heddle.Download[uint32](g, out, blocks)
				if err != nil {
					t.Fatal(err)
				}
				st, err := g.Launch(context.Background(), "count", heddle.Dim(30), heddle.Dim(1), out, 10)
				if err != nil {
					t.Fatal(err)
				}
				after, err := heddle.Download[uint32](g, out, blocks)
				if err != nil {
					t.Fatal(err)
				}
				for i := range after {
					want := before[i]
					if i < 30 {
						want++
					}
					if after[i] != want {
						t.Fatalf("word %d is %d after the launch, want %d", i, after[i], want)
					}
				}
				return st
			}
			var fault *heddle.Fault
			var stuck *heddle.StuckError
			for _, c := range []struct {
				name, kernel string
				asks         int64 // checks of the context until it is cancelled
				grid         uint32
				is           func(error) bool
			}{
				{"a fault", "wild", 1 << 40, 600, func(err error) bool { return errors.As(err, &fault) }},
				{"a fault after other blocks have stored", "late", 1 << 40, 64, func(err error) bool { return errors.As(err, &fault) }},
				{"no progress", "stuck", 1 << 40, 3, func(err error) bool { return errors.As(err, &stuck) }},
				{"cancelled before it begins", "count", 0, blocks, func(err error) bool { return errors.Is(err, context.Canceled) }},
				{"cancelled on its way", "count", 3, blocks, func(err error) bool { return errors.Is(err, context.Canceled) }},
				{"cancelled after it has stored", "endless", 3, 64, func(err error) bool { return errors.Is(err, context.Canceled) }},
				{"refused", "count", 1 << 40, 0, func(err error) bool { var e *heddle.LaunchError; return errors.As(err, &e) }},
			} {
				t.Run(fmt.Sprintf("%s %d threads %s", cmp.Or(machine, "functional"), threads, c.name), func(t *testing.T) {
					g, out := begin(t)
					want := launch(t, g, out)
					g, out = begin(t)
					asks := new(atomic.Int64)
					asks.Store(c.asks)
					_, err := g.Launch(cancelAfter{context.Background(), asks}, c.kernel, heddle.Dim(c.grid), heddle.Dim(64), out, 100)
					if !c.is(err) {
						t.Fatalf("it ends with %v", err)
					}
					if got := launch(t, g, out); got != want {
						t.Errorf("%+v, on a new machine %+v", got, want)
					}
				})
			}
		}
	}
}

// TestGridID reads %gridid, the number of a launch in time (PTX ISA, special
// registers). Refused and merely prepared launches and rehearsals have none.
func TestGridID(t *testing.T) {
	prog, err := heddle.LoadSource(heddle.Source{Name: "which.ptx", Text: `.version 7.8
.target sm_80
.address_size 64
.visible .entry which(.param .u64 out)
{
	.reg .b64 %rd<4>;
	.reg .b32 %r<2>;
	ld.param.u64 %rd0, [out];
	mov.u64 %rd1, %gridid;
	mov.u32 %r0, %ctaid.x;
	mul.wide.u32 %rd2, %r0, 8;
	add.u64 %rd0, %rd0, %rd2;
	st.global.u64 [%rd0], %rd1;
	ret;
}
`})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for _, m := range []struct {
		name string
		opts []heddle.Option
	}{
		{"functional", nil},
		{"simt", []heddle.Option{heddle.Machine("rtx-2060")}},
		{"modern", []heddle.Option{heddle.Machine("rtx-2070-super")}},
		{"rehearsed", []heddle.Option{heddle.Machine("rtx-2060"), heddle.Set("run.caches=warm")}},
	} {
		g, err := heddle.New(prog, m.opts...)
		if err != nil {
			t.Fatal(err)
		}
		out, err := g.Alloc(16, "out")
		if err != nil {
			t.Fatal(err)
		}
		for want := uint64(1); want <= 3; want++ {
			for _, shared := range []int{200 << 10, 1 << 20} { // too much for the machine, and for any
				if shared < 1<<20 && m.name == "functional" {
					continue
				}
				c := heddle.LaunchConfig{Grid: heddle.Dim(2), Block: heddle.Dim(1), Shared: shared}
				if _, err := g.LaunchWith(ctx, "which", c, out); err == nil {
					t.Fatalf("%s: %d bytes of shared memory are taken", m.name, shared)
				}
			}
			if _, err := g.Launch(ctx, "which", heddle.Dim(2), heddle.Dim(1), out); err != nil {
				t.Fatal(err)
			}
			got, err := heddle.Download[uint64](g, out, 2)
			if err != nil || !slices.Equal(got, []uint64{want, want}) {
				t.Errorf("%s: %%gridid is %v in launch %d, %v", m.name, got, want, err)
			}
		}
	}
}

// TestExtremes launches with the largest and smallest numbers that a LaunchConfig
// can hold: each is refused as a launch, and nothing panics.
func TestExtremes(t *testing.T) {
	const most = math.MaxUint32
	programs := map[string]string{
		"static.ptx": `.version 7.8
.target sm_80
.address_size 64
.shared .align 4 .b32 room[16];
.visible .entry k()
{
	.reg .b32 %r;
	ld.shared.u32 %r, [room];
	ret;
}
`,
		"static.sass": ".arch sm_80\n.kernel k\n.shared 64\n[B------:R-:W-:-:S01] EXIT ;\n",
	}
	for name, text := range programs {
		prog, err := heddle.LoadSource(heddle.Source{Name: name, Text: text})
		if err != nil {
			t.Fatal(err)
		}
		for _, opts := range [][]heddle.Option{nil, {heddle.Machine("rtx-2060")}, {heddle.Machine("rtx-2070-super")}} {
			for _, c := range []heddle.LaunchConfig{
				{Grid: heddle.Dim(1), Block: heddle.Dim(1), Shared: math.MaxInt},
				{Grid: heddle.Dim(1), Block: heddle.Dim(1), Shared: math.MaxInt - 63},
				{Grid: heddle.Dim(1), Block: heddle.Dim(1), Shared: math.MaxInt - 64},
				{Grid: heddle.Dim(1), Block: heddle.Dim(1), Shared: math.MinInt},
				{Grid: heddle.Dim(1), Block: heddle.Dim(1), Shared: -1},
				{Grid: heddle.Dim(1), Block: heddle.Dim(1), Shared: 227<<10 - 63}, // a byte too much
				{Grid: heddle.Dim(most, most, most), Block: heddle.Dim(1)},
				{Grid: heddle.Dim(1<<22, 1<<21, 1<<21), Block: heddle.Dim(1)}, // 2^64
				{Grid: heddle.Dim(1), Block: heddle.Dim(most, most, most)},
				{Grid: heddle.Dim(1), Block: heddle.Dim(1<<22, 1<<21, 1<<21)},
				{Grid: heddle.Dim(1<<31-1, 65535, 65535), Block: heddle.Dim(1024), Cooperative: true, Shared: math.MaxInt},
			} {
				g, err := heddle.New(prog, opts...)
				if err != nil {
					t.Fatal(err)
				}
				var le *heddle.LaunchError
				if _, err := g.LaunchWith(context.Background(), "k", c); !errors.As(err, &le) {
					t.Errorf("%s: %+v: %v", name, c, err)
				}
			}
		}
	}
}

// TestSettings: values of Set apply with and without a machine, and invalid values
// are refused in both cases, with messages that do not mention the command line.
func TestSettings(t *testing.T) {
	for _, machine := range []string{"", "rtx-2060"} {
		begin := func(opts ...heddle.Option) (*heddle.GPU, error) {
			if machine != "" {
				opts = append(opts, heddle.Machine(machine))
			}
			p, err := heddle.LoadSource(heddle.Source{Name: "kernels.ptx", Text: kernels})
			if err != nil {
				t.Fatal(err)
			}
			return heddle.New(p, opts...)
		}
		for _, c := range []struct {
			name string
			opts []heddle.Option
			size int
			fits bool
		}{
			{"the default", nil, 2 << 20, true},
			{"as an option", []heddle.Option{heddle.MemoryLimit(1 << 20)}, 2 << 20, false},
			{"as a setting", []heddle.Option{heddle.Set("functional.memory=1MiB")}, 2 << 20, false},
			{"as a setting, and less", []heddle.Option{heddle.Set("functional.memory=1MiB")}, 1 << 19, true},
			{"the last counts", []heddle.Option{heddle.MemoryLimit(1 << 20), heddle.Set("functional.memory=4MiB")}, 2 << 20, true},
			{"the last counts, an option", []heddle.Option{heddle.Set("functional.memory=4MiB"), heddle.MemoryLimit(1 << 20)}, 2 << 20, false},
		} {
			g, err := begin(c.opts...)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := g.Alloc(c.size, "x"); (err == nil) != c.fits {
				t.Errorf("%q, memory %s: %d bytes: %v", machine, c.name, c.size, err)
			}
		}
		for _, set := range []string{"run.launch_latency=-1", "sm.blocks=nonsense", "sm.blocks=-3", "clocks.core=0", "run.caches=hot", "functional.heap=much", "nothing=1", "sm.blocks"} {
			_, err := begin(heddle.Set(set))
			if err == nil {
				t.Errorf("%q: %s is taken", machine, set)
			} else if strings.Contains(err.Error(), "-C") || strings.Contains(err.Error(), "--") {
				t.Errorf("%q: %s: the message mentions flags: %v", machine, set, err)
			}
		}
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("kernels.ptx", kernels)
	loop := write("loop.toml", "program = \"kernels.ptx\"\n[[launches]]\nkernel = \"endless\"\ngrid = [1, 1, 1]\nblock = [32, 1, 1]\n")
	vast := write("vast.toml", `program = "kernels.ptx"
[buffers.out]
type = "u32"
count = 500_000_000_000
[[launches]]
kernel = "wild"
grid = [1, 1, 1]
block = [1, 1, 1]
args = [{ buffer = "out" }]
`)
	write("loop.kasm", "loop: BRA loop\n")
	frames := write("frames.toml", "program = \"loop.kasm\"\n[[warps]]\nwarp = 0\n")
	for _, c := range []struct {
		what string
		run  func() error
	}{
		{"a setting", func() error {
			var o heddle.JobOptions
			o.Timing = true
			if err := o.Settings.Set("sm.blocks=-3"); err != nil {
				return err
			}
			_, err := heddle.RunJob(context.Background(), "examples/vecadd/vecadd.toml", o)
			return err
		}},
		{"a selection of nothing", func() error {
			sel, err := heddle.SelectLaunches("77")
			if err != nil {
				return err
			}
			_, err = heddle.RunJob(context.Background(), "examples/vecadd/vecadd.toml", heddle.JobOptions{Select: sel})
			return err
		}},
		{"a dump of nothing", func() error {
			_, err := heddle.RunJob(context.Background(), "examples/vecadd/vecadd.toml", heddle.JobOptions{Dumps: []heddle.JobDump{{Buffer: "nobody", File: "x"}}})
			return err
		}},
		{"hazards of a core without any", func() error {
			_, err := heddle.RunJob(context.Background(), "examples/vecadd/vecadd.toml", heddle.JobOptions{Timing: true, GPU: "rtx-2060", Hazards: true})
			return err
		}},
		{"a limit on instructions", func() error {
			_, err := heddle.RunJob(context.Background(), loop, heddle.JobOptions{MaxInsts: 1000})
			return err
		}},
		{"a limit on cycles", func() error {
			_, err := heddle.RunJob(context.Background(), loop, heddle.JobOptions{MaxInsts: 1000, Timing: true, GPU: "rtx-2060"})
			return err
		}},
		{"a limit on cycles of the Kepler-style core", func() error {
			_, err := heddle.RunJob(context.Background(), frames, heddle.JobOptions{MaxInsts: 1000})
			return err
		}},
		{"a series that cannot be written", func() error {
			closed, err := os.Create(filepath.Join(dir, "closed"))
			if err != nil {
				return err
			}
			if err := closed.Close(); err != nil {
				return err
			}
			_, err = heddle.RunJob(context.Background(), frames, heddle.JobOptions{MaxInsts: 1000, Series: &run.Series{Every: 100, Out: closed}})
			return err
		}},
		{"a buffer beyond the memory", func() error {
			_, err := heddle.RunJob(context.Background(), vast, heddle.JobOptions{})
			return err
		}},
	} {
		if err := c.run(); err == nil || strings.Contains(err.Error(), "-C") || strings.Contains(err.Error(), "--") {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// TestTimedCopies reads the clock after a copy of four mebibytes: 1000 ns and 12.5
// GB/s at 1365 MHz are 1365 and 458,018 cycles, the second rounded up.
func TestTimedCopies(t *testing.T) {
	prog, err := heddle.LoadSource(heddle.Source{Name: "when.ptx", Text: `.version 7.8
.target sm_80
.address_size 64
.visible .entry when(.param .u64 out)
{
	.reg .b64 %rd<2>;
	ld.param.u64 %rd0, [out];
	mov.u64 %rd1, %clock64;
	st.global.u64 [%rd0], %rd1;
	ret;
}
`})
	if err != nil {
		t.Fatal(err)
	}
	clock := func(copies string) uint64 {
		t.Helper()
		g, err := heddle.New(prog, heddle.Machine("rtx-2060"), heddle.Set("run.copies="+copies))
		if err != nil {
			t.Fatal(err)
		}
		p, err := heddle.Upload(g, "data", make([]uint32, 1<<20))
		if err != nil {
			t.Fatal(err)
		}
		// A failed copy leaves the machine unchanged.
		if err := g.Write(p.Add(1<<22), []byte{1}); err == nil {
			t.Error("a copy beyond the end of memory")
		}
		if _, err := g.Launch(context.Background(), "when", heddle.Dim(1), heddle.Dim(1), p); err != nil {
			t.Fatal(err)
		}
		when, err := heddle.Download[uint64](g, p, 1)
		if err != nil {
			t.Fatal(err)
		}
		return when[0]
	}
	// The failed copy also takes the latency and a cycle.
	if d := clock("timed") - clock("instant"); d != 1365+458018+1365+1 {
		t.Errorf("the copies take %d cycles", d)
	}
}
