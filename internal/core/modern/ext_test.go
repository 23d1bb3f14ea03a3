package modern

import (
	"math"
	"testing"
)

// Measurements by others that the model of two banks with one port each explains: cycles
// per instruction within 5 % of the measured figure, or of the corresponding ideal.
func TestExternal(t *testing.T) {
	turing := Turing()
	turing.PerfectICache, turing.PerfectConst = true, true
	each := func(cfg Config, f func(i int) *inst) float64 {
		code := []*inst{clock(60)}
		for i := range 64 {
			code = append(code, f(i))
		}
		return float64(distance(t, cfg, 0, 65, append(code, clock(61))...)) / 64
	}
	streams := func(f func(i int) *inst) float64 {
		var code []*inst
		for i := range 512 {
			code = append(code, f(i))
		}
		p := prog(append(code, exit())...)
		p.warps = 32
		newRig(t, warm()).run(p, 20_000)
		return float64(p.log[len(p.log)-1].cycle-p.log[0].cycle) / (8 * 512)
	}
	// The second pass of 12 KiB of straight-line code.
	again := func() float64 {
		const n = 768
		var code []*inst
		for i := range n {
			code = append(code, fadd(10+i%8, 2, 3).stall(2))
		}
		p := prog(append(code, bra(0, 2).stall(5), exit())...)
		newRig(t, Ampere()).run(p, 400_000)
		return float64(p.at(0, n-1, 1)-p.at(0, 0, 1)) / (n - 1)
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"ext_rtx2070_bank_conflict, IADD3, conflict", each(turing, func(i int) *inst { return iadd3(0, 2, 4+2*i, 0) }), 3.031},
		{"ext_rtx2070_bank_conflict, IADD3, none", each(turing, func(i int) *inst { return iadd3(0, 2*i, 2*i+1, 0) }), 2.062},
		{"ext_rtx2070_bank_conflict, IADD3, reuse", each(turing, func(i int) *inst { return iadd3(0, 2, 4+2*i, 0).reuse(1) }), 2.031},
		{"ext_rtx3060_regbank, two in one bank", streams(func(i int) *inst { return ffma(20+i%8, 2, 5, 16) }), 2},
		{"ext_rtx3060_regbank, three in one bank", streams(func(i int) *inst { return ffma(20+i%8, 2, 4, 16) }), 3},
		{"ext_rtx3060_icache, within the L0I", again(), 2.01},
	} {
		if math.Abs(c.got-c.want) > 0.05*c.want {
			t.Errorf("%s: %.3f cycles, want %.3f", c.name, c.got, c.want)
		}
	}
}
