package run

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/report"
)

// This file: counters over time for a page. Intervals begin short and double whenever there are
// too many, so that runs of every length have about as many rows.

// The bounds of a history (our choice): a screen shows no more rows, and a long run is read as
// seldom as a short one.
const (
	historyRows  = 2000
	historyParts = 240    // rows of the parts; while they are recorded, up to twice as many
	historyFirst = 32     // core cycles of the first interval
	historyLog   = 20_000 // blocks of a launch whose log a page gets
)

// history records counters over time.
type history struct {
	chip    *gpu.GPU
	sampler *gpu.Sampler
	every   uint64
	last    gpu.Sample
	end     []uint64
	names   []string
	columns [][]uint64
	parts   []*partHistory
	each    int // rows that are one of the parts, a power of two
	joined  int // rows since the parts' last one
	warps   *warpHistory
}

// partHistory is a counter of the parts of one kind.
type partHistory struct {
	part, counter string
	read          func(to []uint64) // the parts' counts so far
	last, now     []uint64
	counts        []uint64 // row by row, of each part
}

// startHistory starts recording.
func startHistory(chip *gpu.GPU) *history {
	h := &history{chip: chip, every: historyFirst, each: 1, warps: newWarpHistory(chip)}
	h.names = []string{"warp_instructions", "thread_instructions", "resident_warps", "blocks"}
	for _, st := range chip.States() {
		h.names = append(h.names, "stalls."+st)
	}
	h.names = append(h.names, "memory.l1.accesses", "memory.l1.hits", "memory.l2.accesses", "memory.l2.hits", "memory.dram.reads", "memory.dram.writes",
		"memory.network.request_packets", "memory.network.reply_packets", "memory.latency_cycles", "memory.replies")
	h.columns = make([][]uint64, len(h.names))
	for i := range h.columns {
		h.columns[i] = make([]uint64, 0, historyRows)
	}
	m := chip.Memory().Parts
	h.add("sm", "warp_instructions", chip.Config().SMs(), func(to []uint64) {
		for i := range to {
			to[i] = chip.Core(i).Count().WarpInsts
		}
	})
	h.add("sm", "warp_cycles", chip.Config().SMs(), func(to []uint64) {
		for i := range to {
			to[i] = chip.Core(i).Count().WarpCycles
		}
	})
	h.add("slice", "requests", m.Subs(), func(to []uint64) {
		for i := range to {
			to[i] = m.SubStats(i).Packets
		}
	})
	h.add("channel", "busy_cycles", m.Channels(), func(to []uint64) {
		for i := range to {
			if d := m.DRAM(i); d != nil {
				to[i] = d.Stats().DataCycles
			}
		}
	})
	h.last = chip.Sample()
	h.sampler = chip.OnSample(h.every, h.row)
	return h
}

// add records a counter of n parts; there may be none.
func (h *history) add(part, counter string, n int, read func(to []uint64)) {
	if n == 0 {
		return
	}
	p := &partHistory{part: part, counter: counter, read: read, last: make([]uint64, n), now: make([]uint64, n), counts: make([]uint64, 0, 2*historyParts*n)}
	read(p.last)
	h.parts = append(h.parts, p)
}

// row adds what happened since the last row.
func (h *history) row() {
	s, o := h.chip.Sample(), &h.last
	if s.Cycle == o.Cycle {
		return
	}
	h.end = append(h.end, s.Cycle)
	col := 0
	put := func(n uint64) {
		h.columns[col] = append(h.columns[col], n)
		col++
	}
	put(s.WarpInsts - o.WarpInsts)
	put(s.ThreadInsts - o.ThreadInsts)
	put(uint64(s.Resident))
	put(s.Blocks - o.Blocks)
	for st := range h.chip.States() {
		put(s.States[st] - o.States[st])
	}
	put(s.L1Accesses - o.L1Accesses)
	put(s.L1Hits - o.L1Hits)
	put(s.L2Accesses - o.L2Accesses)
	put(s.L2Hits - o.L2Hits)
	put(s.DRAMReads - o.DRAMReads)
	put(s.DRAMWrites - o.DRAMWrites)
	put(s.Requests - o.Requests)
	put(s.Replies - o.Replies)
	put(s.Latency - o.Latency)
	put(s.LatencyN - o.LatencyN)
	h.last = s
	if h.joined++; h.joined == h.each {
		h.partRow()
	}
	if s.Cycle%h.every == 0 { // not the last, shorter row
		h.warps.row()
	}
	if len(h.end) == historyRows {
		h.halve()
	}
}

// partRow adds a row of the parts.
func (h *history) partRow() {
	h.joined = 0
	rows := 0
	for _, p := range h.parts {
		p.row()
		rows = len(p.counts) / len(p.now)
	}
	if rows == 2*historyParts {
		h.halveParts()
		h.each *= 2
	}
}

// halveParts joins rows of the parts in pairs.
func (h *history) halveParts() {
	for _, p := range h.parts {
		p.counts = pairs(p.counts, len(p.now), false)
	}
}

// row adds what happened since the last row.
func (p *partHistory) row() {
	p.read(p.now)
	for i, n := range p.now {
		p.counts = append(p.counts, n-p.last[i])
	}
	p.last, p.now = p.now, p.last
}

// halve joins rows in pairs and doubles the interval.
func (h *history) halve() {
	for i, c := range h.columns {
		h.columns[i] = pairs(c, 1, h.names[i] == "resident_warps")
	}
	if h.each > 1 {
		h.each /= 2
	} else {
		h.halveParts()
	}
	h.end = pairs(h.end, 1, true)
	h.every *= 2
	h.warps.slower()
	h.sampler.Slow(h.every)
}

// pairs returns the sums of neighbouring rows of some numbers, or the second of each pair. A single
// row at the end stays.
func pairs(list []uint64, row int, last bool) []uint64 {
	to := list[:0]
	for len(list) >= 2*row {
		for i := range row {
			x := list[row+i]
			if !last {
				x += list[i]
			}
			to = append(to, x)
		}
		list = list[2*row:]
	}
	return append(to, list...)
}

// result returns the rows so far.
func (h *history) result() *report.History {
	x := &report.History{Every: h.every, End: slices.Clone(h.end), Columns: map[string][]uint64{}}
	for i, name := range h.names {
		x.Columns[name] = slices.Clone(h.columns[i])
	}
	x.Warps = h.warps.result(h.every)
	for _, p := range h.parts {
		x.Parts = append(x.Parts, p.result(h.every*uint64(h.each), h.joined > 0))
	}
	return x
}

// result returns the rows so far, with the open one if there is one.
func (p *partHistory) result(every uint64, open bool) report.PartHistory {
	n := len(p.now)
	rows := slices.Clone(p.counts)
	if open {
		p.read(p.now)
		for i, c := range p.now {
			rows = append(rows, c-p.last[i])
		}
	}
	for len(rows) > historyParts*n {
		rows = pairs(rows, n, false)
		every *= 2
	}
	x := report.PartHistory{Part: p.part, Counter: p.counter, Every: every, Counts: make([][]uint64, n)}
	for i := range x.Counts {
		x.Counts[i] = make([]uint64, 0, len(rows)/n)
		for at := i; at < len(rows); at += n {
			x.Counts[i] = append(x.Counts[i], rows[at])
		}
	}
	return x
}
