package krun

import (
	"context"

	"github.com/heddle-sim/heddle/internal/core/kepler/chip"
	"github.com/heddle-sim/heddle/internal/report"
)

// This file: a run on several SMs, or with caches.

// doChip simulates to the end, as Do does for a single core, and leaves the result
// of the SMs in the core.
func (r *Run) doChip(ctx context.Context) error {
	c, err := chip.New(r.Core)
	if err != nil {
		return err
	}
	limit := r.limit()
	if r.Timeline != nil {
		r.record(c.SMs())
		defer stopRecording(c.SMs())
	}
	var rows *series
	if r.Series != nil {
		rows = r.startSeries()
	}
	for !c.Ended() && c.Cycle() < limit && ctx.Err() == nil {
		until := min(limit, c.Cycle()+stretch-c.Cycle()%stretch)
		if rows != nil {
			until = min(until, rows.next)
		}
		c.Run(until)
		if rows != nil && c.Cycle() >= rows.next {
			c.Gather()
			rows.row()
		}
		if r.Progress != nil && c.Cycle()%stretch == 0 {
			r.Progress(c.Cycle())
		}
	}
	c.Gather()
	if err := rows.end(); err != nil {
		return err
	}
	s := c.Stats()
	r.memory = report.Memory{
		L1: report.Cache(s.L1), L2: report.Cache(s.L2),
		DRAM: report.DRAM{
			Reads: s.DRAM.Reads + s.DRAM.AllocReads, Writes: s.DRAM.Writes + s.DRAM.WriteBacks, Activates: s.DRAM.Activates, Precharges: s.DRAM.Precharges,
			Requests: s.DRAM.Requests, RowHits: s.DRAM.RowHits, BusyCycles: s.DRAM.DataCycles, Cycles: s.DRAM.Cycles,
		},
		Network:           report.Network{RequestPackets: s.Requests.Packets, RequestFlits: s.Requests.Flits, ReplyPackets: s.Replies.Packets, ReplyFlits: s.Replies.Flits},
		MeanLatencyCycles: s.MeanLatency(), Replies: s.Answered,
	}
	r.memory.DRAM.BytesRead, r.memory.DRAM.BytesWritten = r.memory.DRAM.Reads*s.BurstBytes, r.memory.DRAM.Writes*s.BurstBytes
	if err := ctx.Err(); err != nil && !r.Core.Done() {
		return err
	}
	if err := r.Err(); err != nil {
		return err // not a nil *Error in an error
	}
	return nil
}

// AddMemory adds the counters of a chip's memory system in this run to those in to.
func (r *Run) AddMemory(to *report.Memory) {
	m := &r.memory
	latency := to.MeanLatencyCycles*float64(to.Replies) + m.MeanLatencyCycles*float64(m.Replies)
	if to.Replies += m.Replies; to.Replies > 0 {
		to.MeanLatencyCycles = latency / float64(to.Replies)
	}
	for _, c := range [...]struct{ to, from *report.Cache }{{&to.L1, &m.L1}, {&to.L2, &m.L2}} {
		c.to.Accesses += c.from.Accesses
		c.to.Hits += c.from.Hits
		c.to.PendingHits += c.from.PendingHits
		c.to.Misses += c.from.Misses
		c.to.Refused += c.from.Refused
		c.to.WriteBacks += c.from.WriteBacks
	}
	d, e := &to.DRAM, &m.DRAM
	d.Reads += e.Reads
	d.Writes += e.Writes
	d.Activates += e.Activates
	d.Precharges += e.Precharges
	d.Requests += e.Requests
	d.RowHits += e.RowHits
	d.BusyCycles += e.BusyCycles
	d.Cycles += e.Cycles
	d.BytesRead += e.BytesRead
	d.BytesWritten += e.BytesWritten
	n, o := &to.Network, &m.Network
	n.RequestPackets += o.RequestPackets
	n.RequestFlits += o.RequestFlits
	n.ReplyPackets += o.ReplyPackets
	n.ReplyFlits += o.ReplyFlits
}
