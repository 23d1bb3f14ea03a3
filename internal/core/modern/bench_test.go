package modern

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/isa"
)

// BenchmarkCore times four busy sub-cores, without values: nanoseconds per warp
// instruction.
func BenchmarkCore(b *testing.B) {
	for _, c := range []struct {
		name  string
		warps int
		delay uint64
		code  func() []*inst
	}{
		{"ffma, 1 warp per sub-core", 4, 100, func() []*inst {
			var code []*inst
			for i := range 64 {
				code = append(code, ffma(10+i%16, 2, 3, 4+i%4))
			}
			return code
		}},
		{"mixed, 8 warps per sub-core", 32, 100, func() []*inst {
			var code []*inst
			for i := range 8 {
				code = append(code, ld(isa.Shared, 32, 40+i, 2).wr(0), ffma(10+i, 2, 3, 4), ffma(20+i, 2, 3, 5), iadd3(30+i, 2, 3),
					fmul(9, 2, 5), fadd(8, 2, 3), ld(isa.Global, 32, 50+i, 2).wr(1).stall(2), nop().wait(3))
			}
			return code
		}},
		{"stores and loads that miss, 8 warps per sub-core", 32, 400, func() []*inst {
			var code []*inst
			for i := range 8 {
				x := ld(isa.Global, 32, 50+i, 2).wr(1).stall(2)
				x.addr = strided(uint64(i)<<20, 128)
				code = append(code, x, st(isa.Global, 32, 2, 4).rd(2).stall(2))
				for range 12 {
					code = append(code, fadd(8, 2, 3))
				}
				code = append(code, nop().wait(6))
			}
			return code
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			code := c.code()
			g := newRig(b, Ampere())
			g.delay = c.delay
			p := prog(append(code, bra(0, 1<<60).stall(5), exit())...)
			p.warps, p.smem = c.warps, 4096
			p.plain = true // no values
			for _, in := range code {
				in.f = nil
			}
			k, err := NewKernel(g.core.Config(), p, core.KernelOptions{})
			if err != nil {
				b.Fatal(err)
			}
			g.core.Launch(k, p.Block(0))
			for range 5000 {
				g.tick()
			}
			from := g.core.Stats.WarpInsts
			cycles := g.cycle
			b.ReportAllocs()
			for b.Loop() {
				for range 1000 {
					g.tick()
				}
			}
			g.core.Sync()
			n := g.core.Stats.WarpInsts - from
			b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "M-insts/s")
			b.ReportMetric(float64(n)/float64(g.cycle-cycles), "insts/cycle")
		})
	}
}
