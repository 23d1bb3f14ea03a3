package simt

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/isa"
)

// TestDistances checks the cycles from an instruction's issue to the issue of one that
// needs its result, in chains. Those of the 3070 and the V100 were measured with
// GPGPU-Sim.
func TestDistances(t *testing.T) {
	self := func(in func(dst int, src ...int) *isa.Inst, src ...int) func(int) (*isa.Inst, *[32]uint64) {
		return func(int) (*isa.Inst, *[32]uint64) { return in(1, src...), nil }
	}
	memory := func(in *isa.Inst, addr *[32]uint64) func(int) (*isa.Inst, *[32]uint64) {
		return func(int) (*isa.Inst, *[32]uint64) { return in, addr }
	}
	// The first instructions of a chain are not measured: they warm the caches.
	warm := func(f func(int) (*isa.Inst, *[32]uint64)) func(int) (*isa.Inst, *[32]uint64) { return f }
	type row struct {
		name string
		cfg  func(testing.TB) Config
		edit func(*Config)
		next func(int) (*isa.Inst, *[32]uint64)
		want uint64
	}
	rows := []row{
		{"fma", rtx3070, nil, self(fma, 1, 2, 3), 7},
		{"mad", rtx3070, nil, self(alu, 1, 2), 7},
		{"mov", rtx3070, nil, self(mov, 1), 7},
		{"three sources of one bank", rtx3070, nil, self(fma, 1, 3, 5), 8},
		{"two sources of one bank", rtx3070, nil, self(fma, 1, 3), 7},
		{"five sources of one bank", rtx3070, nil, self(fma, 1, 3, 5, 7, 9), 9},
		{"sin", rtx3070, nil, func(int) (*isa.Inst, *[32]uint64) { return sin(1, 1), nil }, 26},
		{"double", rtx3070, nil, self(dfma, 1), 69},
		{"shared", rtx3070, nil, memory(load(isa.Shared, 4, 1, 1), strided(0, 4)), 34},
		{"shared, stride 8", rtx3070, nil, memory(load(isa.Shared, 4, 1, 1), strided(0, 8)), 35},
		{"shared, stride 128", rtx3070, nil, memory(load(isa.Shared, 4, 1, 1), strided(0, 128)), 65},
		{"shared, 8 bytes", rtx3070, nil, memory(load(isa.Shared, 8, 1, 1), strided(0, 8)), 35},
		{"shared, 16 bytes", rtx3070, nil, memory(load(isa.Shared, 16, 1, 1), strided(0, 16)), 37},
		{"fma", qv100, func(c *Config) { c.FloatTime.Mad = Timing{2, 1} }, self(fma, 1, 2, 3), 7},
		{"shared", qv100, nil, memory(load(isa.Shared, 4, 1, 1), strided(0, 4)), 25},
		{"longer unit", qv100, nil, self(dfma, 1), 13},
		{"register ports 1", rtx3070, func(c *Config) { c.RegisterPorts = 1 }, self(fma, 1, 2), 8},
		{"register ports 1, three of one bank", rtx3070, func(c *Config) { c.RegisterPorts = 1 }, self(fma, 1, 3, 5), 10},
		{"no source", rtx3070, nil, self(mov), 6},
		{"no source, register ports 1", rtx3070, func(c *Config) { c.RegisterPorts = 1 }, self(mov), 7},
		{"independent floats", rtx3070, func(c *Config) { c.FloatTime.Mad = Timing{2, 1} }, func(i int) (*isa.Inst, *[32]uint64) { return fma(1+i%20, 30), nil }, 1},
		{"independent integers", rtx3070, nil, func(i int) (*isa.Inst, *[32]uint64) { return alu(1+i, 300), nil }, 2},
		{"L1 hit", rtx3070, nil, warm(memory(load(isa.Global, 4, 1, 1), strided(0x1000, 0))), 43},
		{"L1 hit, one sector in each bank", rtx3070, nil, warm(memory(load(isa.Global, 4, 1, 1), strided(0x1000, 4))), 43},
		{"L1 hit, two sectors in each bank", rtx3070, nil, warm(memory(load(isa.Global, 8, 1, 1), strided(0x1000, 8))), 44},
		{"L1 hit, all sectors in one bank", rtx3070, nil, warm(memory(load(isa.Global, 4, 1, 1), strided(0x10000, 128))), 74},
		{"L1 hit", qv100, nil, warm(memory(load(isa.Global, 4, 1, 1), strided(0x1000, 4))), 24},
		{"bypassing the L1", rtx3070, nil, memory(with(load(isa.Global, 4, 1, 1), isa.CacheCG), strided(0x1000, 0)), 199},
		{"atomics on one word", rtx3070, nil, memory(atom(isa.Global, 1, 1, 2), strided(0x1000, 0)), 230},
		{"L1 miss", rtx3070, nil, func(i int) (*isa.Inst, *[32]uint64) {
			return load(isa.Global, 4, 1, 1), strided(0x1000+0x80*uint64(i), 0)
		}, 239},
		{"L1 miss", qv100, func(c *Config) { c.SMs = 2 }, func(i int) (*isa.Inst, *[32]uint64) {
			return load(isa.Global, 4, 1, 1), strided(0x1000+0x80*uint64(i), 0)
		}, 193},
		{"constant hit", rtx3070, func(c *Config) { c.PerfectInstConst = false }, memory(load(isa.Const, 4, 1, 1), strided(0x1000, 0)), 4},
		{"constants of eight lines", rtx3070, func(c *Config) { c.PerfectInstConst = false }, memory(load(isa.Const, 4, 1, 1), strided(0x1000, 16)), 11},
		{"constants of 32 lines", rtx3070, func(c *Config) { c.PerfectInstConst = false }, memory(load(isa.Const, 4, 1, 1), strided(0x1000, 64)), 35},
		{"perfect constant", rtx3070, nil, memory(load(isa.Param, 4, 1, 1), strided(8, 0)), 4},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			cfg := r.cfg(t)
			if r.edit != nil {
				r.edit(&cfg)
			}
			g := newRig(t, cfg)
			g.delay = 187 + 6 // the 3070's L2, local crossbar
			if cfg.SMs == 2 {
				g.delay = 160 + 6 // the V100's
			}
			g.run(chain(50, r.next), 20000)
			a, b := 10, 40
			if !cfg.PerfectInstConst {
				a, b = 18, 30 // within a line of the instruction cache
			}
			if got := g.slope(a, b); got != r.want {
				t.Errorf("%d cycles, want %d", got, r.want)
			}
		})
	}
}
