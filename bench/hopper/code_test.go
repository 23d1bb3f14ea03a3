package hopper

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/alltests"
)

// cold runs a kernel of an RTX 5090 once, with cold caches of data, and returns its cycles. Its buffer has mib MiB.
func cold(t testing.TB, body string, grid, block uint32, mib int, set ...string) float64 {
	t.Helper()
	prog, err := heddle.LoadSource(heddle.Source{Name: "code.ptx", Text: `.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 in)
{
	.reg .b32 %r<8>, %s<4>; .reg .b64 %a<8>; .reg .f32 %f<4>; .reg .pred %p;
	ld.param.u64 %a0, [in]; mov.u32 %r1, %tid.x;
	` + body + "\nret;\n}\n"})
	if err != nil {
		t.Fatal(err)
	}
	opts := []heddle.Option{heddle.Machine("rtx-5090"), heddle.Set("run.copies_fill_l2=false")}
	for _, s := range set {
		opts = append(opts, heddle.Set(s))
	}
	g, err := heddle.New(prog, opts...)
	if err != nil {
		t.Fatal(err)
	}
	in, err := g.Alloc(mib<<20, "in")
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.LaunchWith(context.Background(), "k", heddle.LaunchConfig{Grid: heddle.Dim(grid), Block: heddle.Dim(block)}, in)
	if err != nil {
		t.Fatal(err)
	}
	return float64(r.Cycles)
}

// imads is a chain of dependent IMADs, with the registers of a compiler.
func imads(n int) string {
	var b strings.Builder
	b.WriteString("add.u32 %r2, %r1, 3; add.u32 %r3, %r1, 5; mov.u32 %s0, %r1;\n")
	for i := range n {
		fmt.Fprintf(&b, "mad.lo.u32 %%s%d, %%s%d, %%r2, %%r3;\n", (i+1)%4, i%4)
	}
	return b.String() + "st.global.u32 [%a0], %s0;"
}

// sum adds two vectors of 2 Mi numbers.
const sum = `mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 256, %r1; mul.wide.u32 %a1, %r1, 4; add.u64 %a1, %a1, %a0;
	ld.global.f32 %f1, [%a1]; ld.global.f32 %f2, [%a1+8388608]; add.f32 %f1, %f1, %f2; st.global.f32 [%a1+16777216], %f1;`

// TestCode compares whole kernels on an RTX 5090 with FlashGPU-Sim's measurements by Nsight Compute, which empties the
// caches before each: straight-line code, which a launch reads ahead up to 64 KiB, and a sum of vectors.
func TestCode(t *testing.T) {
	var table strings.Builder
	for _, c := range []struct {
		name     string
		hardware float64
		within   float64 // percent
		slow     bool
		model    func(t testing.TB) float64
	}{
		{"64 dependent IMADs", 3977, 2, false, func(t testing.TB) float64 { return cold(t, imads(64), 1, 32, 1) }},
		{"1024 dependent IMADs", 7912, 2, false, func(t testing.TB) float64 { return cold(t, imads(1024), 1, 32, 1) }},
		{"4096 dependent IMADs", 20425, 5, false, func(t testing.TB) float64 { return cold(t, imads(4096), 1, 32, 1) }},
		{"5120 dependent IMADs", 30177, 5, false, func(t testing.TB) float64 { return cold(t, imads(5120), 1, 32, 1) }},
		{"sum of vectors of 2 Mi numbers, at 2000 MHz", 29643, 20, true, func(t testing.TB) float64 {
			return cold(t, sum, 8192, 256, 24, "clocks.core=2000", "clocks.noc=2000", "clocks.l2=2000")
		}},
	} {
		if c.slow && !alltests.On() {
			continue
		}
		got := c.model(t)
		diff := 100 * (got/c.hardware - 1)
		fmt.Fprintf(&table, "| %s | %g | %.0f | %+.0f %% |\n", c.name, c.hardware, got, diff)
		if math.Abs(diff) > c.within {
			t.Errorf("%s: %.0f cycles, hardware %.0f: %+.1f %%, want at most %g %%", c.name, got, c.hardware, diff, c.within)
		}
	}
	t.Logf("\n%s", table.String())
}
