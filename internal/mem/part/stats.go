package part

import (
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/mem/dram"
)

// SubStats are the counters of one sub-partition.
type SubStats struct {
	Packets    uint64 // requests that entered, as sent
	Requests   uint64 // the same after long ones were cut into sectors
	Replies    uint64 // replies taken
	Vanished   uint64 // L1 write-backs that ended here or in the DRAM, sectors of a write that is acknowledged as one, and requests that a reset dropped
	CopyFilled uint64 // sectors that copies put into the L2
	Far        uint64 // of Packets: those that went to the other half of the L2, or waited for a line from there
}

// ChannelStats are the counters of one channel beyond those of its device.
type ChannelStats struct {
	ToDRAM     uint64 // requests that left an L2 for the DRAM
	WriteBacks uint64 // of the L2s, ended
	NoCredit   uint64 // cycles with a request but without a credit
}

// Occupancy says where the requests of a sub-partition and its channel are.
type Occupancy struct {
	Delay    int // in the delay before the L2
	Away     int // at another chip
	ToL2     int
	ToDRAM   int
	FromDRAM int
	ToNet    int
	Misses   int // of the L2, waiting for data or for service
	MissLen  int // requests of the L2 on their way to ToDRAM

	Latency   int // of the channel: in the delay before the DRAM
	Scheduler int // waiting for a bank
	Returned  int // answered, not yet back
	DRAMIdle  bool
}

// SubStats returns the counters of a sub-partition.
func (m *Memory) SubStats(sub int) *SubStats { return &m.subs[sub].stats }

// ChannelStats returns the counters of a channel.
func (m *Memory) ChannelStats(ch int) *ChannelStats { return &m.chans[ch].stats }

// L2Stats returns the counters of a slice, nil if the L2 is off.
func (m *Memory) L2Stats(sub int) *cache.Stats {
	s := &m.subs[sub]
	if s.l2 == nil {
		return nil
	}
	m.catchUp(s)
	return &s.l2.Stats
}

// L2Lines returns the number of lines that an L2 slice holds.
func (m *Memory) L2Lines(sub int) int {
	if l2 := m.subs[sub].l2; l2 != nil {
		return l2.Held()
	}
	return 0
}

// DRAM returns the device of a channel with its counters up to date; nil with
// FixedLatency or Open. The caller must not change it.
func (m *Memory) DRAM(ch int) *dram.Device {
	c := &m.chans[ch]
	if c.dev != nil {
		c.catchUp(m.dramTicks)
	}
	return c.dev
}

// DRAMStats returns the counters of a channel's DRAM, up to date; nil with FixedLatency. With
// Open there are requests, commands and rows, but no cycles.
func (m *Memory) DRAMStats(ch int) *dram.Stats {
	if d := m.DRAM(ch); d != nil {
		return d.Stats()
	}
	if m.cfg.Open.On {
		return &m.chans[ch].open
	}
	return nil
}

// Occupancy returns where the requests of a sub-partition are.
func (m *Memory) Occupancy(sub int) Occupancy {
	s := &m.subs[sub]
	c := &m.chans[sub/m.cfg.Subs]
	o := Occupancy{
		Delay: s.delay.Len(), Away: s.away.Len(), ToL2: s.toL2.Len(), ToDRAM: s.toDRAM.Len(),
		FromDRAM: s.fromDRAM.Len(), ToNet: s.toNet.Len(), Latency: c.latency.Len(), DRAMIdle: true,
	}
	if s.l2 != nil {
		o.Misses, o.MissLen = s.l2.Pending(), s.l2.MissLen()
	}
	if c.dev != nil {
		o.Scheduler, o.DRAMIdle, o.Returned = c.dev.Pending(), c.dev.Empty(), c.dev.Replies()
	}
	return o
}
