package modern

import "github.com/heddle-sim/heddle/internal/core"

// Stages of the pipeline, as records tell of them.
const (
	stageFetch    = iota // its fetch hit the L0I
	stageDecode          // it was decoded
	stageIssue           // it was issued
	stageControl         // it came into Control
	stageAllocate        // it left Allocate (fixed latency)
	stageRead            // it began to read its registers
	stageExecute         // its pipe began
	stageMemory          // the memory unit of the SM took it
	stageWrite           // its result was written
	stages
)

var stageNames = [stages]string{"fetch", "decode", "issue", "control", "allocate", "read operands", "execute", "memory", "write back"}

// Log has the way of every instruction kept from now on, until HandOn hands some
// to sink, or FlushLog all. The list is used again after the call.
func (c *Core) Log(sink func(list []core.Record)) { c.log = core.NewLog(stages, sink) }

// HandOn hands on the records kept if there are many. Owners call it between
// two cycles.
func (c *Core) HandOn() { c.log.HandOn() }

// FlushLog hands on the records kept.
func (c *Core) FlushLog() { c.log.Flush() }

// logged begins the record of an instruction that is issued.
func (c *Core) logged(fi int32, from *fetched) {
	f := &c.flight[fi]
	b := &c.Residents.Blocks[c.warps[f.warp].Block]
	c.log.Begin(fi, core.Record{
		Work: b.Work, Block: b.X.Linear(), ID: f.uid, At: f.at, Warp: f.warp - int16(b.First), Slot: f.warp, Sched: int16(f.sub),
		Times: [core.MaxStages]uint64{stageFetch: from.fetch, stageDecode: from.decode, stageIssue: c.now},
	})
}
