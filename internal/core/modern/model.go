package modern

import (
	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem/cache"
)

// Model is the core model of this package.
var Model = &core.Model{
	Name: "modern", Whole: true, Tables: []string{"l1i"},
	Params:  func() core.Params { c := Ampere(); return &c.Params },
	Options: options, Finish: finish, ChosenBy: "-is_SM_remodeling_enabled",
	States: core.Names(WarpStates, WarpState.String), Stages: stageNames[:], Ideals: core.Ideals(),
}

// Settings returns the settings of a machine's core with these values. The core has no
// separate constant or texture cache, and its own path to the L1D.
func (p *Params) Settings(m *core.Machine) core.Settings {
	c := &Config{m.Shape, *p}
	c.L1C, c.L1T, c.LocalSlots, c.WarpGranule, c.Barriers, c.OneBlockAtLeast = cache.Config{}, cache.Config{}, false, 0, 0, false
	c.Replies = p.RepliesTaken
	c.idealise()
	return c
}

// Peaks adds the peak rates of fused multiply-adds in the pipes, and of binary16
// products in the tensor units, by HMMA with either kind of accumulator.
func (p *Params) Peaks(m *core.Machine, clock int64, add func(name, format string, a ...any)) {
	sms := int64(m.SMs)
	// The peak of n units per SM that each compute this number of products in cycles.
	peak := func(n, products, cycles int64) string {
		return core.PerGiga(2 * products * n * sms * clock / max(1, cycles))
	}
	fp32, fp64 := &p.Time[isa.ClassFP32], &p.Time[isa.ClassFP64]
	pipes := 1
	if p.FP32OnInt && fp32.Pipe == FP32 {
		pipes = 2
	}
	// A sub-core issues one instruction per cycle.
	each := max(1, float64(fp32.Interval)/float64(pipes))
	add("f32 peak", "%s Gflop/s (%d sub-cores per SM, one FFMA each in %g cycles)", core.PerGiga(int64(2*32*float64(int64(p.SubCores)*sms*clock)/each)), p.SubCores, each)
	if n := int64(fp64.Interval); fp64.Pipe == FP64 {
		add("f64 peak", "%s Gflop/s (one DFMA per SM in %d cycles)", peak(1, 32, n), n)
	}
	shape, products := "16816", int64(16*8*16)
	if m.Architecture == "turing" { // its largest shape
		shape, products = "1688", 16*8*8
	}
	half := products * 16 / 2048 / 2
	f32, f16 := 2*half+int64(p.TensorExtra), half*int64(p.TensorHalves)
	add("tensor peak", "%s Gflop/s with f32 accumulators, %s with f16 (%d sub-cores per SM, one HMMA.%s each in %d and %d cycles)",
		peak(int64(p.SubCores), products, f32), peak(int64(p.SubCores), products, f16), p.SubCores, shape, f32, f16)
}

// Depths adds nothing: [modern.time] gives the depths of the pipes.
func (p *Params) Depths(func(name, format string, a ...any)) {}

// Model returns the core model.
func (c *Config) Model() *core.Model { return Model }

// Clone returns a copy.
func (c *Config) Clone() core.Settings { x := *c; return &x }

// Caches returns the settings of all caches of an SM.
func (c *Config) Caches() []*cache.Config { return []*cache.Config{&c.L1D, &c.L1I} }

// CodeBytes returns 16: instructions have 128 bits [HW], whatever their size in the
// program.
func (c *Config) CodeBytes(int) int { return codeBytes }

// FixedLatency returns the latency of a class.
func (c *Config) FixedLatency(k isa.Class) int { return c.Time[k].Latency }

// Prepare makes a launch ready for the cores.
func (c *Config) Prepare(w exec.Work, o core.KernelOptions) (core.Kernel, error) {
	k, err := NewKernel(c, w, o)
	if err != nil {
		return nil, err
	}
	return k, nil
}

// New returns SM id, idle.
func (c *Config) New(id int, env core.Env) (core.SM, error) {
	x, err := New(*c, id, env)
	if err != nil {
		return nil, err
	}
	return x, nil
}

// Run simulates a core cycle.
func (c *Core) Run(now uint64) core.Status {
	c.Cycle(now)
	return core.StatusOf(c.RepliesFull(), !c.Unfinished() || c.err != nil, c.Asleep())
}

// L1C returns nil: constants come through the level-1 instruction cache.
func (c *Core) L1C() *cache.Cache { return nil }

// L1T returns nil: textures go through the L1D.
func (c *Core) L1T() *cache.Texture { return nil }

// Count returns the counters that all models have.
func (c *Core) Count() *core.Stats { return &c.Stats.Stats }

// Own returns the model's own counters.
func (c *Core) Own() core.Own { return &c.Stats.Counters }

// Inherit takes over the counters of another core.
func (c *Core) Inherit(old core.SM) { c.Stats = old.(*Core).Stats }

// Rates returns what an SM does at most. Pipes for memory have no fixed interval and are left
// out; FP32 instructions may take the integer pipes too if the machine lets them.
func (c *Config) Rates() core.Rates {
	issues := c.SubCores
	if c.Ideal.IssueWidth {
		issues *= 2
	}
	r := core.Rates{Issues: issues, L1Sectors: min(c.L1Sectors, c.L1Banks*c.L1Lookups), Flops: map[string]float64{}}
	for p := range Memory {
		n := c.SubCores
		switch {
		case p == FP64:
			n = 1
		case p == FP32 && c.FP32OnInt:
			n *= 2
		}
		r.Pipes = append(r.Pipes, core.PipeCount{Pipe: p.String(), Count: n})
	}
	// Sub-cores issue that many instructions a cycle, however many pipes could take one.
	rate := func(class isa.Class, each float64) float64 {
		t := &c.Time[class]
		for _, p := range r.Pipes {
			if p.Pipe == t.Pipe.String() && t.Interval > 0 {
				return 2 * 32 * each * min(float64(p.Count)/float64(t.Interval), float64(issues))
			}
		}
		return 0
	}
	r.Flops["f32"], r.Flops["f64"], r.Flops["f16"] = rate(isa.ClassFP32, 1), rate(isa.ClassFP64, 1), rate(isa.ClassHalf, 2)
	o := op{inst: &isa.Inst{}} // taken as HMMA.16816.F32
	o.tensor(c)
	r.Flops["tensor"] = 2 * 16 * 8 * 16 * float64(c.SubCores) / float64(max(o.interval, 1))
	return r
}

// Pipe returns the pipe of an instruction, and how long it occupies it.
func (k *Kernel) Pipe(i int) (string, int) {
	o := &k.ops[i]
	if o.pipe >= Memory {
		return "", 0
	}
	return o.pipe.String(), int(o.interval)
}
