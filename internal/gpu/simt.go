package gpu

import (
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/sm/simt"
)

// simtCore is a SIMT core as the chip drives it.
type simtCore struct{ *simt.Core }

var simtStates = func() []string {
	var list []string
	for st := range simt.WarpStates {
		list = append(list, st.String())
	}
	return list
}()

var simtStages = []string{"fetch", "decode", "issue", "read operands", "dispatch", "execute", "write back"}

// simtWaits sorts the states of warps.
var simtWaits = [simt.WarpStates]waitKind{
	simt.NoInstruction: waitsFetch, simt.Wait: waitsResult, simt.ShortScoreboard: waitsResult, simt.LongScoreboard: waitsResult,
	simt.PipeThrottle: waitsRegister, simt.Membar: waitsAll, simt.Drain: waitsAll, simt.Atomics: waitsAtomics,
}

// run does a core cycle.
func (c simtCore) run(now uint64) status {
	c.Cycle(now)
	var s status
	if c.RepliesFull() {
		s |= repliesFull
	}
	if !c.Unfinished() || c.Err() != nil {
		s |= dry
	}
	if c.Asleep() {
		s |= asleep
	}
	return s
}

func (c simtCore) canTake(k *Kernel) bool { return c.CanTake(k.core.(*simt.Kernel)) }

func (c simtCore) launch(k *Kernel, b exec.Block) bool { return c.Launch(k.core.(*simt.Kernel), b) }

func (c simtCore) split(s Split) error { return c.Resplit(s.L1D, s.Shared) }

func (c simtCore) warmCode(k *Kernel) { c.WarmCode(k.core.(*simt.Kernel)) }

func (c simtCore) Count() Count {
	s := &c.Stats
	return Count{s.WarpInsts, s.ThreadInsts, s.BlocksDone, s.Cycles, s.WarpCycles, s.Latency, s.LatencyN}
}

func (c simtCore) states() []uint64 {
	c.Settle()
	return c.Stats.States[:]
}

func (c simtCore) perWarp() []uint64 { return c.Stats.PerWarp }

func (c simtCore) readInto(t *Counters) {
	c.Settle()
	add(&t.SM, &c.Stats)
}

func (c simtCore) log(sink func([]Record)) {
	var out []Record
	c.Log(func(_ *simt.Core, list []simt.Record) {
		out = out[:0]
		for i := range list {
			e := &list[i]
			out = append(out, Record{
				Work: e.Kernel.Work, Block: e.Block, ID: e.ID, At: e.At, Warp: e.Warp, Slot: e.Slot, Sched: e.Sched, Lanes: e.Lanes,
				Times: [maxStages]uint64{e.Fetch, e.Decode, e.Issue, e.Collect, e.Dispatch, e.Execute, e.Done},
			})
		}
		sink(out)
	})
}

func (c simtCore) View(slot int) (WarpView, bool) {
	v, ok := c.Core.View(slot)
	if !ok {
		return WarpView{}, false
	}
	return viewOf(&v), true
}

func (c simtCore) Views() []WarpView {
	list := c.Core.Views()
	out := make([]WarpView, len(list))
	for i := range list {
		out[i] = viewOf(&list[i])
	}
	return out
}

func viewOf(v *simt.WarpView) WarpView {
	w := WarpView{
		Slot: v.Slot, Work: v.Kernel.Work, Block: v.Block, InBlock: v.InBlock, Exec: v.Exec, State: v.State.String(),
		At: v.At, Active: v.Active, Live: v.Live, Buffer: v.Buffer, Missed: v.Missed, Issued: v.Issued, Age: v.Age,
		Reserved: v.Reserved, Stores: v.Stores, Atomics: v.Atomics, Copies: v.Copies, Stuck: v.Stuck, waits: simtWaits[v.State],
	}
	for i := range v.Flights {
		w.Flights = append(w.Flights, Flight(v.Flights[i]))
	}
	return w
}

func (c simtCore) Stand(slot int) (Stands, bool) {
	st, ok := c.Core.Stand(slot)
	if !ok {
		return Stands{}, false
	}
	return Stands{st.Kernel.Work, st.Age, st.Issued, st.Next, st.Last}, true
}

func (c simtCore) ResidentBlocks() []BlockView {
	var out []BlockView
	for _, b := range c.Core.ResidentBlocks() {
		out = append(out, BlockView{b.Kernel.Work, b.Block, b.First, b.Left, b.Stuck})
	}
	return out
}

func (c simtCore) Queues() []QueueView {
	var out []QueueView
	for _, q := range c.Core.Queues() {
		out = append(out, QueueView(q))
	}
	return out
}

// simtEnv is what SIMT core i sees of the chip.
func (g *GPU) simtEnv(i int) simt.Env {
	e := g.env(i)
	return simt.Env{
		Pool: e.pool, HasRoom: e.hasRoom, Send: e.send, Turn: e.turn, Issued: e.issued,
		BlockDone: func(k *simt.Kernel, b exec.Block) { e.blockDone(k, b) },
	}
}
