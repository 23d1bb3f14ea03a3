package modern

import "github.com/heddle-sim/heddle/internal/isa"

// This file: the way of every instruction through the core, for those who ask.
// It is written down beside the simulation and changes nothing in it.

// Record is a warp instruction that has left the core. Its times are core
// cycles of the GPU, each at or after the one before; 0 stands for a stage that
// it did not pass.
type Record struct {
	Kernel *Kernel
	Block  uint64 // in its grid
	ID     uint64 // instructions that the core issued before it
	At     int32  // instruction, in the order of the work's code
	Warp   int16  // in its block
	Slot   int16  // of the core
	Sub    int16  // sub-core
	Lanes  isa.LaneMask

	Fetch    uint64 // its fetch hit the L0I
	Decode   uint64
	Issue    uint64
	Control  uint64
	Allocate uint64 // it left Allocate (fixed latency)
	Read     uint64 // it began to read its registers
	Execute  uint64 // its pipe began
	Memory   uint64 // the memory unit of the SM took it
	Write    uint64 // its result was written
	Done     uint64 // nothing of it was left
}

// logSize is how many records are kept before HandOn hands them on.
const logSize = 512

// log keeps records.
type log struct {
	sink func(c *Core, list []Record)
	buf  []Record
	open []Record // by record of the instruction in flight
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

// begin is told that an instruction was issued as in-flight record fi.
func (l *log) begin(c *Core, fi int32, from *fetched) {
	for len(l.open) <= int(fi) {
		l.open = append(l.open, Record{})
	}
	f := &c.flight[fi]
	w := &c.warps[f.warp]
	b := &c.blocks[w.blk]
	l.open[fi] = Record{
		Kernel: w.k, Block: b.x.Linear(), ID: f.uid, At: f.at, Warp: f.warp - int16(b.first), Slot: f.warp, Sub: int16(f.sub),
		Fetch: from.fetch, Decode: from.decode, Issue: c.now,
	}
}

// end is told that an in-flight record is given back.
func (l *log) end(c *Core, fi int32) {
	r := &l.open[fi]
	r.Lanes = c.flight[fi].lanes
	r.Done = max(c.now, r.Write)
	l.buf = append(l.buf, *r)
}
