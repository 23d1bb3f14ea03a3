package simt

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/mem/cache"
)

// Model is the core model of this package.
var Model = &core.Model{
	Name: "simt", Params: func() core.Params { return &Params{} },
	Compat:  func(p core.Params) any { return &p.(*Params).Compat },
	Options: options, Finish: finish,
	States: core.Names(WarpStates, WarpState.String), Stages: stageNames[:], Ideals: core.Ideals(),
}

func init() { core.Schedulers.Take("lrr", "gto", "old", "rrr", "two-level", "warp-limiting") }

// ChipWide returns the settings that affect the whole chip.
func (s *Params) ChipWide() (perfectMemory, gatedLanes bool) { return s.PerfectMemory, s.GatedLanes }

// Lacks says why a core cannot have an idealisation.
func (s *Params) Lacks(ideal string) string {
	if ideal == "issue_width" && s.IssuePerWarp == 2 {
		return "schedulers issue two instructions of a warp in a cycle already (simt.issue_per_warp), and a warp's buffer holds no more"
	}
	return ""
}

// Check reports values that contradict each other.
func (s *Params) Check(m *core.Machine, bad func(key, format string, a ...any)) {
	// An instruction enters its unit at stage latency − initiation.
	list := s.Settings(m).(*Config).timings()
	for _, x := range list {
		if x.t.Initiation > x.t.Latency {
			bad(x.initiation, "must not exceed the latency, %s = %d", x.latency, x.t.Latency)
		}
	}
	for i := range s.Special {
		if x := &s.Special[i]; x.Units > 0 && x.Depth < x.Latency {
			at := fmt.Sprintf("simt.special%d", i+1)
			bad(at+".depth", "must be at least %s.latency = %d", at, x.Latency)
		}
	}
	if s.Schedulers > m.Warps {
		bad("simt.schedulers", "there are only %d warps (sm.threads = %d)", m.Warps, 32*m.Warps)
	}
	if s.SubCores {
		n := s.Schedulers
		for _, x := range []struct {
			key   string
			width int
			units int
		}{
			{"sp", s.Issue.SP, s.Units.SP}, {"dp", s.Issue.DP, s.Units.DP}, {"int", s.Issue.Int, s.Units.Int},
			{"sfu", s.Issue.SFU, s.Units.SFU}, {"tensor", s.Issue.Tensor, s.Units.Tensor}, {"mem", s.Issue.Mem, 1},
		} {
			if x.units > 0 && x.width != n {
				bad("simt.issue."+x.key, "with simt.sub_cores there must be one for each of the simt.schedulers = %d", n)
			}
		}
		if s.Collector.Banks%n != 0 {
			bad("simt.collector.banks", "with simt.sub_cores it must be a multiple of simt.schedulers = %d", n)
		}
		if s.Collector.Gen.Units%n != 0 {
			bad("simt.collector.gen.units", "with simt.sub_cores it must be a multiple of simt.schedulers = %d", n)
		}
	}
	if s.Units.Tensor > 0 && !s.TensorPort {
		bad("simt.units.tensor", "needs simt.tensor_port = true; without it no instruction reaches the tensor units")
	}
	for _, x := range []struct {
		key string
		c   *cache.Config
	}{{"l1i", &m.L1I}, {"l1c", &m.L1C}} {
		if x.c.Disabled && !s.PerfectInstConst {
			bad(x.key+".enabled", "an SM needs this cache unless simt.perfect_inst_const is true")
		}
	}
	// A cache that fills sectors one by one cannot take an access of several sectors.
	if s.sectorAccesses(m) {
		return
	}
	for _, x := range m.DataCaches {
		if x.Sectored {
			bad(x.Name+".sectored", "with simt.coalesce_arch = %d accesses are whole lines; want at least 40, or 20 to 38 with l1d.skip_global", s.CoalesceArch)
		}
	}
}

// sectorAccesses reports whether all accesses to global and local memory are at most
// 32 bytes long.
func (s *Params) sectorAccesses(m *core.Machine) bool {
	return s.CoalesceArch >= 40 || 20 <= s.CoalesceArch && s.CoalesceArch < 39 && m.GlobalSkipsL1
}

// Peaks adds the peak rates of the units.
func (s *Params) Peaks(m *core.Machine, clock int64, add func(name, format string, a ...any)) {
	for _, x := range []struct {
		name              string
		units, initiation int
	}{{"f32 peak", s.Units.SP, s.Initiation.FPMad}, {"f64 peak", s.Units.DP, s.Initiation.DPMad}} {
		if n := int64(m.SMs * x.units); n > 0 || x.name == "f32 peak" {
			add(x.name, "%s Gflop/s (%d units of 32 lanes, one fma each in %d cycles)", core.PerGiga(2*32*n*clock/int64(max(1, x.initiation))), n, x.initiation)
		}
	}
}

// Depths adds the depths of the units: the longest latency of each.
func (s *Params) Depths(add func(name, format string, a ...any)) {
	l, t := &s.Latency, &s.TraceLatency
	add("unit depth", "int %d, sp %d, dp %d, sfu %d, tensor %d cycles, the longest latency of each",
		max(l.IntAdd, l.IntMax, l.IntMul, l.IntMad, l.IntShfl, t.Int), max(l.FPAdd, l.FPMax, l.FPMul, l.FPMad, t.SP),
		max(l.DPAdd, l.DPMax, l.DPMul, l.DPMad, t.DP), max(l.SFU, l.IntDiv, l.FPDiv, l.DPDiv, t.SFU), max(l.Tensor, t.Tensor))
}

// Model returns the core model.
func (c *Config) Model() *core.Model { return Model }

// Clone returns a copy.
func (c *Config) Clone() core.Settings { x := *c; return &x }

// Caches returns the settings of all caches of an SM.
func (c *Config) Caches() []*cache.Config { return []*cache.Config{&c.L1D, &c.L1C, &c.L1T, &c.L1I} }

// CodeBytes returns inst: an instruction takes the same space here as in the program.
func (c *Config) CodeBytes(inst int) int { return inst }

// Rates returns what an SM issues at most.
func (c *Config) Rates() core.Rates { return core.Rates{Issues: c.Schedulers * c.MaxIssue} }

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

// Count returns the counters that all models have.
func (c *Core) Count() *core.Stats { return &c.Stats.Stats }

// Own returns the model's own counters.
func (c *Core) Own() core.Own { return &c.Stats.Counters }

// Inherit takes over the counters of another core.
func (c *Core) Inherit(old core.SM) { c.Stats = old.(*Core).Stats }
