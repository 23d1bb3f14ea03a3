package program_test

import (
	"bytes"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/compile"
	"github.com/heddle-sim/heddle/internal/compile/machine"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
	"github.com/heddle-sim/heddle/internal/isa/sass"
	"github.com/heddle-sim/heddle/internal/program"
)

// tiledKernel is k0: loads in a loop, shared memory, a barrier, a division, and a square root.
const tiledKernel = `.visible .entry k0(.param .u64 in, .param .u64 out) {
 .shared .align 4 .b8 tile[512];
 .reg .b64 %in, %out, %at; .reg .b32 %t, %s, %i, %v, %w, %x, %sum; .reg .f32 %f, %g; .reg .pred %p;
 ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 8; add.s64 %in, %in, %at; add.s64 %out, %out, %at;
 mov.u32 %s, tile; shl.b32 %x, %t, 2; add.u32 %s, %s, %x; mov.u32 %sum, 1; mov.u32 %i, 0;
LOOP:
 ld.global.u32 %v, [%in]; ld.global.u32 %w, [%in+4];
 xor.b32 %x, %v, %w; st.shared.u32 [%s], %x;
 bar.sync 0;
 xor.b32 %x, %s, 4; ld.shared.u32 %x, [%x];
 mad.lo.u32 %sum, %sum, 31, %x;
 bar.sync 0;
 and.b32 %x, %x, 1; setp.eq.u32 %p, %x, 0; @%p bra NEXT;
 or.b32 %w, %w, 1; div.u32 %v, %v, %w; add.u32 %sum, %sum, %v;
NEXT:
 add.s64 %in, %in, 256; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 3; @%p bra LOOP;
 cvt.rn.f32.u32 %f, %sum; sqrt.rn.f32 %g, %f; mov.b32 %x, %g;
 st.global.v2.u32 [%out], {%sum, %x}; ret; }
`

// nestedLoops is k0: two loops whose ways out depend on an atomic, so that blocks follow each other over edges on which no
// cycle passes.
const nestedLoops = `.visible .entry k0(.param .u64 in, .param .u64 out) {
 .reg .b64 %in, %out, %at, %cnt; .reg .b32 %t, %a, %b, %c, %s, %v; .reg .pred %p;
 ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 4;
 add.s64 %cnt, %in, %at; add.s64 %out, %out, %at;
 ld.global.u32 %a, [%cnt]; mov.u32 %b, 1; mul.lo.u32 %c, %a, %a; add.u32 %s, %a, 9;
OUTER:
 activemask.b32 %b;
INNER:
 xor.b32 %s, %s, 21845; and.b32 %s, %s, 63;
 atom.global.add.u32 %v, [%cnt], %s;
 setp.lt.u32 %p, %v, 50; @%p bra INNER;
 mad.lo.u32 %s, %s, 3, 1;
 atom.global.add.u32 %v, [%cnt], -15; setp.lt.u32 %p, %v, 64;
 @%p bra DONE;
 setp.gt.u32 %p, %v, 1000000000; @%p bra OUTER;
DONE: add.u32 %s, %s, %c; add.u32 %s, %s, %b;
 st.global.u32 [%out], %s; ret; }
`

// TestCompiledNestedLoops: what a block leaves open is waited for over edges that fall through, too.
func TestCompiledNestedLoops(t *testing.T) {
	m, err := ptx.Parse("k.ptx", []byte(".version 8.0\n.target sm_86\n.address_size 64\n"+nestedLoops))
	if err != nil {
		t.Fatal(err)
	}
	c, err := compile.Module(m, compile.Options{Arch: sass.Arch(*forSM)})
	if err != nil || len(c.Refused) > 0 {
		t.Fatal(err, c.Refused)
	}
	input := make([]uint32, 512)
	for i := range input {
		input[i] = uint32(i)
	}
	if _, hazards := timed(t, c.File, input); hazards != 0 {
		t.Errorf("%d hazards in\n%s", hazards, c.File.Text())
	}
}

// backToOuter is k0: from the inner of two loops a branch leads back to the header of the outer one, so that the
// inner one's header is entered from there in all rounds.
const backToOuter = `.visible .entry k0(.param .u64 in, .param .u64 out) {
 .reg .b64 %in, %out, %at; .reg .b32 %t, %a, %b, %c; .reg .pred %p, %q;
 ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 8; add.s64 %out, %out, %at; mul.wide.u32 %at, %t, 24; add.s64 %in, %in, %at;
 mov.u32 %a, 0; mov.u32 %b, %t; mov.u32 %c, 0;
OUTER: add.u32 %a, %a, 1; ld.global.u32 %t, [%in]; xor.b32 %c, %c, %t;
INNER: add.u32 %b, %b, 3; and.b32 %t, %b, 1; setp.eq.u32 %p, %t, 0; setp.lt.u32 %q, %a, 5; and.pred %p, %p, %q;
 @%p bra OUTER;
 mad.lo.u32 %c, %c, 5, %b; setp.lt.u32 %q, %b, 60; @%q bra INNER;
 st.global.v2.u32 [%out], {%c, %a}; ret; }
`

// TestCompiledBackToOuter: such a kernel is compiled in finite time, and gives what its PTX gives.
func TestCompiledBackToOuter(t *testing.T) {
	text := ".version 8.0\n.target sm_86\n.address_size 64\n" + backToOuter
	input := rowInput()
	want, got := outputs(t, program.PTXCode, text, []string{"loops"}, input), outputs(t, program.CompiledCode, text, []string{"loops"}, input)
	if !bytes.Equal(got[0], want[0]) {
		t.Errorf("got %x, want %x", got[0][:64], want[0][:64])
	}
}

// TestCompiledStackPointer: kernels of which the first round of spilling stores nothing keep the stack pointer for the next.
func TestCompiledStackPointer(t *testing.T) {
	for _, c := range []struct{ seed, words, less, registers int }{{391569, 20, 3, 32}, {394168, 12, 1, 28}, {394339, 12, 3, 24}} {
		m, err := ptx.Parse("k.ptx", []byte(".version 8.0\n.target sm_86\n.address_size 64\n"+randomKernel(0, c.seed, c.words, fmt.Sprintf(".maxnreg %d", c.registers))))
		if err != nil {
			t.Fatal(err)
		}
		if r, err := compile.Module(m, compile.Options{Arch: sass.Arch(*forSM), Less: c.less, Verify: true}); err != nil || len(r.Refused) > 0 {
			t.Errorf("seed %d: %v %v", c.seed, err, r.Refused)
		}
	}
}

// timed runs k0 of a program on the modern core, and returns what it leaves, and how many hazards the
// checker finds.
func timed(t *testing.T, f *sass.File, input []uint32) (out []uint32, hazards int) {
	t.Helper()
	return timedBlock(t, f, input, 32, 64)
}

// timedBlock is timed for a block of some threads that leaves some words.
func timedBlock(t *testing.T, f *sass.File, input []uint32, threads uint32, words int) (out []uint32, hazards int) {
	t.Helper()
	return timedWith(t, heddle.Source{Name: "k.sass", Text: f.Text()}, int(f.Arch), input, threads, words, nil)
}

// timedWith is timedBlock for a program in any form on an architecture's GPU, with more arguments and settings.
func timedWith(t *testing.T, s heddle.Source, arch int, input []uint32, threads uint32, words int, more func(g *heddle.GPU) []any, set ...string) (out []uint32, hazards int) {
	t.Helper()
	prog, err := heddle.LoadSource(s)
	if err != nil {
		t.Fatal(err)
	}
	gpu := "rtx-a6000"
	if arch == 75 {
		gpu = "rtx-2080-ti"
	}
	options := []heddle.Option{heddle.With(heddle.RunOptions{Timing: true, Hazards: true, Threads: 1, MaxInsts: 1 << 22}), heddle.Machine(gpu), heddle.Set("chip.clusters=1")}
	for _, s := range set {
		options = append(options, heddle.Set(s))
	}
	g, err := heddle.New(prog, options...)
	if err != nil {
		t.Fatal(err)
	}
	in, err := heddle.Upload(g, "in", input)
	if err != nil {
		t.Fatal(err)
	}
	to, err := heddle.Upload(g, "out", make([]uint32, words))
	if err != nil {
		t.Fatal(err)
	}
	args := []any{in, to}
	if more != nil {
		args = append(args, more(g)...)
	}
	if _, err := g.Launch(t.Context(), "k0", heddle.Dim(1), heddle.Dim(threads), args...); err != nil {
		return nil, -1 // an address made of a wrong value
	}
	if out, err = heddle.Download[uint32](g, to, words); err != nil {
		t.Fatal(err)
	}
	res, err := g.Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range res.Checkers {
		hazards += len(c.Hazards)
	}
	return out, hazards
}

// TestCompiledContracts: code for a core with other latencies has no hazard on it, and the same values.
func TestCompiledContracts(t *testing.T) {
	kernels := []string{tiledKernel, randomKernel(0, 9000, inputs, ""), randomKernel(0, 9001, inputs, "")}
	r := rand.New(rand.NewPCG(1, 2))
	input := make([]uint32, 1024)
	for i := range input {
		input[i] = r.Uint32()
	}
	for _, c := range []struct {
		set    []string
		change func(c *machine.Contract)
	}{
		{[]string{"modern.time.int.latency=6"}, func(c *machine.Contract) { c.Integer = 6 }},
		{[]string{"modern.time.imad.latency=7"}, func(c *machine.Contract) { c.Product = 7 }},
		{[]string{"modern.time.fp32.latency=6"}, func(c *machine.Contract) { c.Float = 6 }},
		{[]string{"modern.time.setp.latency=15"}, func(c *machine.Contract) { c.Predicate = 15 }},
		{[]string{"modern.time.int.latency=2", "modern.time.imad.latency=2", "modern.time.fp32.latency=2"}, func(c *machine.Contract) { c.Integer, c.Product, c.Float = 2, 2, 2 }},
		{[]string{"modern.counters=2"}, func(c *machine.Contract) { c.Counters = 2 }},
	} {
		t.Run(strings.Join(c.set, " "), func(t *testing.T) {
			contract := machine.Ampere
			c.change(&contract)
			for _, k := range kernels {
				m, err := ptx.Parse("k.ptx", []byte(genHeader+k))
				if err != nil {
					t.Fatal(err)
				}
				var lists [2][]uint32
				for i, o := range []compile.Options{{Arch: 86}, {Arch: 86, Contract: &contract}} {
					code, err := compile.Module(m, o)
					if err != nil || len(code.Refused) > 0 {
						t.Fatal(err, code.Refused)
					}
					s := heddle.Source{Name: "k.sass", Text: code.File.Text()}
					hazards := 0
					if i == 0 {
						lists[i], hazards = timedWith(t, s, 86, input, 32, 64, nil)
					} else {
						lists[i], hazards = timedWith(t, s, 86, input, 32, 64, nil, c.set...)
					}
					if hazards != 0 {
						t.Errorf("%d hazards in\n%s", hazards, s.Text)
					}
				}
				if !slices.Equal(lists[0], lists[1]) {
					t.Errorf("other values than those of an RTX A6000's code in\n%s", k)
				}
			}
		})
	}
}

// TestCompiledHazards: the checker finds nothing in random kernels, some with registers in memory. Where a stall is
// lowered by one, or a wait is left out, it finds that, or the values stay as they were.
func TestCompiledHazards(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	type kernel struct {
		text    string
		threads uint32
		words   int
	}
	kernels := []kernel{{tiledKernel, 32, 64}}
	for seed := range alltests.Count(2, 20) {
		kernels = append(kernels, kernel{randomKernel(0, 9000+seed, inputs, ""), 32, 64}, kernel{randomKernel(0, 9500+seed, 40, ".maxnreg 24"), 32, 64},
			kernel{genKernel(0, []string{"", ".maxnreg 24"}[seed%2], generate(uint64(9700+seed))), genThreads, genOutput / 4})
	}
	places := max(1, alltests.Count(40, 600)/len(kernels))
	input := make([]uint32, 1024)
	for i := range input {
		input[i] = r.Uint32()
	}
	noticed, harmless := [2]int{}, [2]int{}
	for _, k := range kernels {
		m, err := ptx.Parse("k.ptx", []byte(genHeader+k.text))
		if err != nil {
			t.Fatal(err)
		}
		c, err := compile.Module(m, compile.Options{Arch: sass.Arch(*forSM)})
		if err != nil || len(c.Refused) > 0 {
			t.Fatal(err, c.Refused)
		}
		want, hazards := timedBlock(t, c.File, input, k.threads, k.words)
		if hazards != 0 {
			t.Errorf("%d hazards in\n%s", hazards, c.File.Text())
			continue
		}
		code := c.File.Kernels[0].Code
		for n := range places {
			kind := n % 2
			i := r.IntN(len(code))
			for k := 0; k < len(code) && (kind == 0 && code[i].Ctl.Stall < 2 || kind == 1 && code[i].Ctl.Wait == 0); k++ {
				i = (i + 1) % len(code)
			}
			ctl := code[i].Ctl
			what := "a lower stall"
			if kind == 0 {
				code[i].Ctl.Stall--
			} else {
				counter := bits.TrailingZeros8(ctl.Wait)
				if r.IntN(2) == 0 {
					counter = bits.Len8(ctl.Wait) - 1
				}
				code[i].Ctl.Wait &^= 1 << counter
				what = fmt.Sprint("no wait for ", counter)
			}
			got, hazards := timedBlock(t, c.File, input, k.threads, k.words)
			switch {
			case hazards != 0:
				noticed[kind]++
			case slices.Equal(got, want):
				harmless[kind]++
			default:
				t.Errorf("%s at instruction %d, which nobody notices, leaves other values in\n%s", what, i, c.File.Text())
			}
			code[i].Ctl = ctl
		}
	}
	t.Logf("stalls: %d noticed, %d harmless; waits: %d noticed, %d harmless", noticed[0], harmless[0], noticed[1], harmless[1])
	if noticed[0] == 0 || noticed[1] == 0 {
		t.Error("nothing was noticed")
	}
}
