package simt

import "github.com/heddle-sim/heddle/internal/core"

// Stages of the pipeline in records.
const (
	stageFetch    = iota // its fetch began
	stageDecode          // it entered the instruction buffer
	stageIssue           // it was issued
	stageCollect         // it entered a collector unit, to read its operands
	stageDispatch        // it left the collector with all operands
	stageExecute         // it entered a unit
	stageWrite           // its result was written and its last access answered; without either, it left its unit
	stages
)

var stageNames = [stages]string{"fetch", "decode", "issue", "read operands", "dispatch", "execute", "write back"}

// seen holds when the instructions in the buffers of warps were fetched and decoded.
type seen struct{ fetch, decode [maxWarps]uint64 }

// Log keeps a record of every instruction that issues from now on, until HandOn or FlushLog passes
// it to sink, which must not keep the list: it is reused. It ends the log before; nil begins none.
func (c *Core) Log(sink func(list []core.Record)) {
	c.log.Close(c.now)
	c.front = seen{}
	c.log = core.NewLog(stages, sink)
}

// HandOn passes on the kept records if there are many. Owners call it between two
// cycles.
func (c *Core) HandOn() { c.log.HandOn() }

// FlushLog passes on the kept records.
func (c *Core) FlushLog() { c.log.Flush() }

// logged starts the record of an instruction of warp s at issue.
func (c *Core) logged(fi, s int32, sched int) {
	f := &c.flight[fi]
	b := &c.Residents.Blocks[c.warps[s].Block]
	c.log.Begin(fi, core.Record{
		Work: b.Work, Block: b.X.Linear(), ID: f.uid, At: f.at, For: c.acct.WaitedFor(int16(s)), Warp: int16(int(s) - b.First), Slot: int16(s), Sched: int16(sched),
		Times: [core.MaxStages]uint64{stageFetch: c.front.fetch[s], stageDecode: c.front.decode[s], stageIssue: c.now},
	})
}
