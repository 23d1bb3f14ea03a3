package simt

import "github.com/heddle-sim/heddle/internal/core"

// Stages of the pipeline, as records tell of them.
const (
	stageFetch    = iota // its fetch began
	stageDecode          // it came into the instruction buffer
	stageIssue           // it was issued
	stageCollect         // a collector unit took it, to read its operands
	stageDispatch        // it had them and left the collector
	stageExecute         // a unit took it
	stageWrite           // its result was written and its last access answered; without any, it left its unit
	stages
)

var stageNames = [stages]string{"fetch", "decode", "issue", "read operands", "dispatch", "execute", "write back"}

// seen is when the instructions in the buffers of warps were fetched and decoded.
type seen struct{ fetch, decode [maxWarps]uint64 }

// Log has the way of every instruction kept from now on, until HandOn hands some
// to sink, or FlushLog all. The list is used again after the call.
func (c *Core) Log(sink func(list []core.Record)) { c.log = core.NewLog(stages, sink) }

// HandOn hands on the records kept if there are many. Owners call it between
// two cycles.
func (c *Core) HandOn() { c.log.HandOn() }

// FlushLog hands on the records kept.
func (c *Core) FlushLog() { c.log.Flush() }

// logged begins the record of an instruction of warp s that a scheduler issues.
func (c *Core) logged(fi, s int32, sched int) {
	f := &c.flight[fi]
	b := &c.Residents.Blocks[c.warps[s].Block]
	c.log.Begin(fi, core.Record{
		Work: b.Work, Block: b.X.Linear(), ID: f.uid, At: f.at, Warp: int16(int(s) - b.First), Slot: int16(s), Sched: int16(sched),
		Times: [core.MaxStages]uint64{stageFetch: c.front.fetch[s], stageDecode: c.front.decode[s], stageIssue: c.now},
	})
}
