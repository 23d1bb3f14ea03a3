package simt

import "github.com/heddle-sim/heddle/internal/isa"

// This file: the way of every instruction through the core, for those who ask.
// It is written down beside the simulation and changes nothing in it.

// Record is a warp instruction that has left the core. Its times are core
// cycles of the GPU, each at or after the one before.
type Record struct {
	Kernel *Kernel
	Block  uint64 // in its grid
	ID     uint64 // instructions that the core issued before it
	At     int32  // instruction, in the order of the work's code
	Warp   int16  // in its block
	Slot   int16  // of the core
	Sched  int16  // scheduler
	Lanes  isa.LaneMask

	Fetch    uint64 // its fetch began
	Decode   uint64 // it came into the instruction buffer
	Issue    uint64
	Collect  uint64 // a collector unit took it, to read its operands
	Dispatch uint64 // it had them and left the collector
	Execute  uint64 // a unit took it
	Done     uint64 // its result was written and its last access answered; without any, it left its unit
}

// logSize is how many records are kept before HandOn hands them on.
const logSize = 512

// log keeps records.
type log struct {
	sink          func(c *Core, list []Record)
	buf           []Record
	fetch, decode [maxWarps]uint64
	open          []Record // by record of the instruction in flight
}

// Log has the way of every instruction kept from now on, until HandOn hands some
// to sink, or FlushLog all. The list is used again after the call.
func (c *Core) Log(sink func(c *Core, list []Record)) {
	c.log = &log{sink: sink, buf: make([]Record, 0, logSize+64), open: make([]Record, len(c.flight))}
}

// HandOn hands on the records kept if there are many. Owners call it between
// two cycles.
func (c *Core) HandOn() {
	if c.log != nil && len(c.log.buf) >= logSize {
		c.FlushLog()
	}
}

// FlushLog hands on the records kept.
func (c *Core) FlushLog() {
	if l := c.log; l != nil && len(l.buf) > 0 {
		l.sink(c, l.buf)
		l.buf = l.buf[:0]
	}
}

// begin is told that instruction i of warp s was issued as in-flight record fi.
func (l *log) begin(c *Core, fi, s, i int32, sched int) {
	for len(l.open) <= int(fi) {
		l.open = append(l.open, Record{})
	}
	w := &c.warps[s]
	b := &c.blocks[w.blk]
	l.open[fi] = Record{
		Kernel: w.k, Block: b.x.Linear(), ID: c.flight[fi].uid, At: i, Warp: int16(int(s) - b.first), Slot: int16(s), Sched: int16(sched),
		Fetch: l.fetch[s], Decode: l.decode[s], Issue: c.now,
	}
}

// end is told that an in-flight record is given back.
func (l *log) end(c *Core, fi int32) {
	r := &l.open[fi]
	r.Lanes = c.flight[fi].lanes
	r.Done = c.now
	// What a stage left out, such as a fence the units, happened with the next.
	at := r.Done
	for _, t := range [...]*uint64{&r.Execute, &r.Dispatch, &r.Collect} {
		if *t == 0 || *t > at {
			*t = at
		}
		at = *t
	}
	l.buf = append(l.buf, *r)
}
