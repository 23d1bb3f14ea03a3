package modern

import "github.com/heddle-sim/heddle/internal/core"

// Stages of the pipeline in records.
const (
	stageFetch    = iota // its fetch hit the L0I
	stageDecode          // it was decoded
	stageIssue           // it was issued
	stageControl         // it entered Control
	stageAllocate        // it left Allocate (fixed latency)
	stageRead            // it began to read its registers
	stageExecute         // it began in its pipe
	stageMemory          // it entered the memory unit of the SM
	stageWrite           // its result was written
	stages
)

var stageNames = [stages]string{"fetch", "decode", "issue", "control", "allocate", "read operands", "execute", "memory", "write back"}

// Log keeps a record of every instruction that issues from now on, until HandOn or FlushLog passes
// it to sink, which must not keep the list: it is reused. It ends the log before; nil begins none.
func (c *Core) Log(sink func(list []core.Record)) {
	c.log.Close(c.now)
	c.log = core.NewLog(stages, sink)
}

// HandOn passes on the kept records if there are many. Owners call it between two
// cycles.
func (c *Core) HandOn() { c.log.HandOn() }

// FlushLog passes on the kept records.
func (c *Core) FlushLog() { c.log.Flush() }

// logged starts the record of an instruction at issue.
func (c *Core) logged(fi int32, from *fetched) {
	f := &c.flight[fi]
	b := &c.Residents.Blocks[c.warps[f.warp].Block]
	c.log.Begin(fi, core.Record{
		Work: b.Work, Block: b.X.Linear(), ID: f.uid, At: f.at, For: c.acct.WaitedFor(f.warp), Warp: f.warp - int16(b.First), Slot: f.warp, Sched: int16(f.sub),
		Times: [core.MaxStages]uint64{stageFetch: from.fetch, stageDecode: from.decode, stageIssue: c.now},
	})
}
