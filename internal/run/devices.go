package run

import (
	"cmp"
	"slices"

	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/report"
)

// This file: the result of a timing run on several devices, each with a session.

// Join returns the result of sessions whose chips form a machine, and err joined with
// observers' write errors; err is why the run ended early. Counters are sums, and tables of
// parts have the parts of all devices.
func Join(sessions []*Session, m *gpu.Machine, err error) (*report.Run, error) {
	res, err := sessions[0].End(err)
	res.History, res.Ways = nil, nil // those of one chip alone would mislead
	res.Programs, res.Dependences = slices.Clone(res.Programs), slices.Clone(res.Dependences)
	total := sessions[0].Chip.Totals()
	mark(res, 0)
	for i, s := range sessions[1:] {
		x, _ := s.End(nil)
		mark(x, i+1)
		res.Kernels = append(res.Kernels, x.Kernels...)
		res.LeftOut += x.LeftOut
		res.WarpInstructions += x.WarpInstructions
		res.ThreadInstructions += x.ThreadInstructions
		res.PerSM = append(res.PerSM, x.PerSM...)
		res.PerSlice = append(res.PerSlice, x.PerSlice...)
		res.PerChannel = append(res.PerChannel, x.PerChannel...)
		res.PerPort, res.Subnets = append(res.PerPort, x.PerPort...), append(res.Subnets, x.Subnets...)
		res.Cycles = max(res.Cycles, x.Cycles)
		for _, p := range x.Programs {
			if !slices.Contains(res.Programs, p) {
				res.Programs = append(res.Programs, p)
			}
		}
		for _, d := range x.Dependences {
			if !slices.Contains(res.Dependences, d) {
				res.Dependences = append(res.Dependences, d)
			}
		}
		t := s.Chip.Totals()
		total.Add(&t)
	}
	slices.SortStableFunc(res.Kernels, func(a, b report.Kernel) int { return cmp.Compare(a.Launch, b.Launch) })
	cfg := sessions[0].Chip.Config()
	res.Memory = memory(&total, cfg)
	res.Memory.DRAM.Peak *= float64(len(sessions))
	for _, t := range m.Traffic() {
		l := report.Link{From: t.From, To: t.To, Copies: t.Copies, Accesses: t.Accesses, Bytes: t.Bytes, BusyCycles: t.Busy}
		if t.Busy > 0 {
			l.Rate = float64(t.Bytes) / float64(t.Busy) * float64(cfg.Clocks.Core) / 1e9
		}
		res.Links = append(res.Links, l)
	}
	return res, err
}

// mark notes the device of the parts in a result.
func mark(res *report.Run, device int) {
	for i := range res.PerSM {
		res.PerSM[i].Device = &device
	}
	for i := range res.PerSlice {
		res.PerSlice[i].Device = &device
	}
	for i := range res.PerChannel {
		res.PerChannel[i].Device = &device
	}
	for i := range res.PerPort {
		res.PerPort[i].Device = &device
	}
	for i := range res.Subnets {
		res.Subnets[i].Device = &device
	}
}
