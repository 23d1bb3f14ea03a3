package run

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/mem/noc"
	"github.com/heddle-sim/heddle/internal/report"
)

// parts adds the counters of the machine's parts to a result.
func parts(chip *gpu.GPU, t *report.Timing) {
	for i := range chip.Config().SMs() {
		c := chip.Core(i)
		s := c.Count()
		r := report.SM{
			SM: i, Blocks: s.BlocksDone, WarpInstructions: s.WarpInsts, ThreadInstructions: s.ThreadInsts,
			BusyCycles: s.Cycles, WarpCycles: s.WarpCycles,
		}
		if s.LatencyN > 0 {
			r.MeanLatencyCycles = float64(s.Latency) / float64(s.LatencyN)
		}
		if d := c.L1D(); d != nil {
			r.L1 = cacheLevel(&d.Stats)
		}
		t.PerSM = append(t.PerSM, r)
	}
	networks(chip, t)
	p := chip.Memory().Parts
	for i := range p.Subs() {
		st := p.L2Stats(i)
		if st == nil {
			st = &cache.Stats{}
		}
		t.PerSlice = append(t.PerSlice, report.Slice{Slice: i, Requests: p.SubStats(i).Packets, L2: cacheLevel(st)})
	}
	for i := range p.Channels() {
		d := p.DRAM(i)
		if d == nil {
			continue // memory with a fixed latency has no channels
		}
		s := d.Stats()
		c := report.Channel{
			Channel: i, Reads: s.Reads + s.AllocReads, Writes: s.Writes + s.WriteBacks, Activates: s.Activates,
			Requests: s.Requests, RowHits: s.RowHits, BusyCycles: s.DataCycles, Cycles: s.Cycles,
		}
		for b := range d.Config().Banks {
			x := d.Bank(b)
			c.Banks = append(c.Banks, report.Bank{Bank: b, Reads: x.Reads, Writes: x.Writes, Activates: x.Activates, Requests: x.Requests, RowHits: x.RowHits})
		}
		t.PerChannel = append(t.PerChannel, c)
	}
}

// networks adds the counters of the network and its ports to a result.
func networks(chip *gpu.GPU, t *report.Timing) {
	m, cfg := chip.Memory(), &chip.Config().Net
	add := func(side string, requests, replies []noc.Traffic) {
		for i := range requests {
			t.PerPort = append(t.PerPort, report.Port{
				Side: side, Port: i, RequestPackets: requests[i].Packets, RequestFlits: requests[i].Flits, ReplyPackets: replies[i].Packets, ReplyFlits: replies[i].Flits,
			})
		}
	}
	add(report.SMsSide, m.Requests.In, m.Replies.Out)
	add(report.SliceSide, m.Requests.Out, m.Replies.In)
	kind := "crossbar"
	if cfg.Kind != noc.Local {
		kind = cfg.Shape()
	}
	for _, x := range []struct {
		of  string
		net *noc.Network
	}{{"requests", m.Requests}, {"replies", m.Replies}} {
		s := &x.net.Stats
		packets, sum, longest := x.net.Overall()
		r := report.Subnet{
			Of: x.of, Kind: kind, FlitBytes: cfg.FlitBytes, Packets: s.Packets, Flits: s.Flits, MaxLatencyCycles: longest,
			Cycles: s.Cycles, BusyCycles: s.Busy, Conflicts: s.Conflicts, Refused: s.InFull, FullOutputs: s.OutFull,
		}
		if packets > 0 {
			r.MeanLatencyCycles = float64(sum) / float64(packets)
		}
		t.Subnets = append(t.Subnets, r)
	}
}

// latencies returns the distribution of latencies without trailing zeros. It is a copy:
// sharing the counters' memory would keep their kernel alive, with all its code.
func latencies(s *core.Stats) []uint64 {
	list := s.LatencyLog[1:]
	for len(list) > 0 && list[len(list)-1] == 0 {
		list = list[:len(list)-1]
	}
	return slices.Clone(list)
}
