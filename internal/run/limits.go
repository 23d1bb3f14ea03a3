package run

import (
	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem/noc"
	"github.com/heddle-sim/heddle/internal/report"
)

// This file: what a machine does at most, and how much of it a launch used.

// sector is the number of bytes that a slice of the L2 serves in a cycle.
const sector = 32

// rates returns what an SM does at most; the zero value if its model does not say.
func rates(cfg *gpu.Config) core.Rates {
	if x, ok := cfg.Core.(core.Rated); ok {
		return x.Rates()
	}
	return core.Rates{}
}

// limits describes what a machine does at most.
func limits(cfg *gpu.Config) *report.Machine {
	r, b, sms, hz := rates(cfg), cfg.Core.Base(), cfg.SMs(), float64(cfg.Clocks.Core)
	m := &report.Machine{
		WarpSlots: b.Warps, BlockSlots: b.Blocks, Registers: b.Registers, SharedBytes: b.Shared,
		Issues: r.Issues * sms, L1Rate: float64(r.L1Sectors*sms*sector) * hz / 1e9,
	}
	if !cfg.Mem.L2.Disabled {
		m.L2Rate = float64(cfg.Mem.Channels*cfg.Mem.Subs*sector) * float64(cfg.Clocks.L2) / 1e9
	}
	for kind, n := range r.Flops {
		if n > 0 {
			if m.Gflops == nil {
				m.Gflops = map[string]float64{}
			}
			m.Gflops[kind] = n * float64(sms) * hz / 1e9
		}
	}
	return m
}

// peaks compares a launch with what the parts of the machine do at most in its cycles.
func peaks(k *gpu.Kernel, cfg *gpu.Config, m *report.Memory) []report.PeakUse {
	var list []report.PeakUse
	add := func(part string, used, most float64, unit string) {
		if most > 0 {
			list = append(list, report.PeakUse{Part: part, Used: used, Most: most, Unit: unit})
		}
	}
	r, cycles := rates(cfg), float64(k.SimulatedCycles())
	in := func(hz int64) float64 { return cycles * float64(hz) / float64(cfg.Clocks.Core) } // cycles of another clock
	sms := cycles * float64(cfg.SMs())
	add("issue", float64(k.WarpInsts-k.PassedWarpInsts), float64(r.Issues)*sms, "warp instructions")
	busy := map[string]float64{}
	for i := range k.Places {
		if n := k.Places[i].Issues; n > 0 {
			pipe, each := k.Pipe(i)
			busy[pipe] += float64(n) * float64(each)
		}
	}
	for _, p := range r.Pipes {
		if busy[p.Pipe] == 0 {
			continue
		}
		add(p.Pipe, busy[p.Pipe], float64(p.Count)*sms, "cycles")
	}
	add("l1", float64(m.L1.Accesses), float64(r.L1Sectors)*sms, "sectors")
	slices := cfg.Mem.Channels * cfg.Mem.Subs
	if cfg.Net.Kind == noc.Local { // a packet for each port and cycle
		ports := float64(min(cfg.Clusters, slices)) * in(int64(cfg.Clocks.Net))
		add("network_request", float64(m.Network.RequestPackets), ports, "packets")
		add("network_reply", float64(m.Network.ReplyPackets), ports, "packets")
	}
	if !cfg.Mem.L2.Disabled {
		add("l2", float64(m.L2.Accesses), float64(slices)*in(int64(cfg.Clocks.L2)), "accesses")
	}
	add("dram", float64(m.DRAM.BusyCycles), float64(m.DRAM.Cycles), "cycles")
	return list
}

// flops counts the floating-point operations of a launch by the kind of number, of
// instructions that add, multiply or do both. Nil if there are none.
func flops(k *gpu.Kernel) map[string]uint64 {
	list := map[string]uint64{}
	code := k.Work().Code()
	for i := range k.Places {
		p, in := &k.Places[i], code[i]
		if t := in.Tensor; t != nil {
			list["tensor"] += p.Issues * 2 * uint64(t.M) * uint64(t.N) * uint64(t.K)
			continue
		}
		var each uint64
		switch in.Kind {
		case isa.KindAdd, isa.KindMul:
			each = 1
		case isa.KindMad:
			each = 2
		}
		switch in.Data {
		case isa.DataHalf:
			if in.Unit == isa.UnitFP16 { // two numbers in a register
				each *= 2
			}
			list["f16"] += each * p.Lanes
		case isa.DataFloat:
			list["f32"] += each * p.Lanes
		case isa.DataDouble:
			list["f64"] += each * p.Lanes
		}
	}
	for kind, n := range list {
		if n == 0 {
			delete(list, kind)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

// occupancySteps returns how much less of each resource lets an SM hold more blocks of a
// launch.
func occupancySteps(k *gpu.Kernel, cfg *gpu.Config) []report.OccupancyStep {
	var list []report.OccupancyStep
	if k.LimitedBy == core.ByGrid {
		return nil
	}
	step := func(resource string, now, granule int, blocks func(n int) int) {
		for n := now - granule; n > 0; n -= granule {
			if b := blocks(n); b > k.MaxBlocks {
				list = append(list, report.OccupancyStep{Resource: resource, Now: now, Need: n, Blocks: b})
				return
			}
		}
	}
	of := func(threads, registers, shared int) int {
		n, _ := cfg.Core.Occupancy(threads, registers, shared)
		return n
	}
	step("threads", k.Threads, isa.WarpSize, func(n int) int { return of(n, k.Registers, k.Shared) })
	step("registers", k.Registers, 1, func(n int) int { return of(k.Threads, n, k.Shared) })
	step("shared memory", k.Shared, 128, func(n int) int { return of(k.Threads, k.Registers, n) })
	return list
}
