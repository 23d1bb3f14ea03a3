package gpu

import (
	"reflect"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/sm/modern"
	"github.com/heddle-sim/heddle/internal/sm/simt"
)

// modernCore is a modern core as the chip drives it.
type modernCore struct{ *modern.Core }

var modernStates = func() []string {
	var list []string
	for st := range modern.WarpStates {
		list = append(list, st.String())
	}
	return list
}()

var modernStages = []string{"fetch", "decode", "issue", "control", "allocate", "read operands", "execute", "memory", "write back"}

// run does a core cycle.
func (c modernCore) run(now uint64) status {
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

func (c modernCore) canTake(k *Kernel) bool { return c.CanTake(k.core.(*modern.Kernel)) }

func (c modernCore) launch(k *Kernel, b exec.Block) bool {
	return c.Launch(k.core.(*modern.Kernel), b)
}

func (c modernCore) warmCode(k *Kernel) { c.WarmCode(k.core.(*modern.Kernel)) }

func (c modernCore) split(s Split) error { return c.Resplit(s.L1D, s.Shared) }

func (c modernCore) Count() Count {
	s := &c.Stats
	return Count{s.WarpInsts, s.ThreadInsts, s.BlocksDone, s.Cycles, s.WarpCycles, s.Latency, s.LatencyN}
}

func (c modernCore) states() []uint64 {
	c.Settle()
	return c.Stats.States[:]
}

func (c modernCore) perWarp() []uint64 { return c.Stats.PerWarp }

// L1C returns nil: constants come through the level-1 instruction cache.
func (c modernCore) L1C() *cache.Cache { return nil }

// L1T returns nil: textures go through the L1D.
func (c modernCore) L1T() *cache.Texture { return nil }

func (c modernCore) readInto(t *Counters) {
	c.Settle()
	add(&t.Modern, &c.Stats)
}

// shareNames adds the counters of modern cores to those of the same names of
// SIMT cores, where reports look for what all cores have.
func shareNames(to *simt.Stats, from *modern.Stats) {
	t, f := reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem()
	for i := range t.NumField() {
		if x := f.FieldByName(t.Type().Field(i).Name); x.IsValid() && x.Type() == t.Field(i).Type() {
			combine(t.Field(i), x, false)
		}
	}
}

func (c modernCore) log(sink func([]Record)) {
	var out []Record
	c.Log(func(_ *modern.Core, list []modern.Record) {
		out = out[:0]
		for i := range list {
			e := &list[i]
			r := Record{
				Work: e.Kernel.Work, Block: e.Block, ID: e.ID, At: e.At, Warp: e.Warp, Slot: e.Slot, Sched: e.Sub, Lanes: e.Lanes,
				Times: [maxStages]uint64{e.Fetch, e.Decode, e.Issue, e.Control, e.Allocate, e.Read, e.Execute, e.Memory, e.Write},
			}
			// A stage that it did not pass begins with the next.
			at := e.Done
			if e.Write > 0 {
				at = e.Write
			}
			for j := len(modernStages) - 1; j >= 0; j-- {
				if r.Times[j] == 0 || r.Times[j] > at {
					r.Times[j] = at
				}
				at = r.Times[j]
			}
			out = append(out, r)
		}
		sink(out)
	})
}

// modernEnv is what modern core i sees of the chip.
func (g *GPU) modernEnv(i int) modern.Env {
	e := g.env(i)
	return modern.Env{
		Pool: e.pool, HasRoom: e.hasRoom, Send: e.send, Turn: e.turn, Issued: e.issued,
		BlockDone: func(k *modern.Kernel, b exec.Block) { e.blockDone(k, b) },
	}
}

// modernWaits sorts the states of warps.
var modernWaits = [modern.WarpStates]waitKind{
	modern.NoInstruction: waitsFetch, modern.BranchResolving: waitsFetch,
	modern.Wait: waitsResult, modern.ShortScoreboard: waitsResult, modern.LongScoreboard: waitsResult,
	modern.MathThrottle: waitsRegister, modern.LGThrottle: waitsRegister, modern.MIOThrottle: waitsRegister, modern.Dispatch: waitsRegister,
	modern.Membar: waitsAll, modern.Drain: waitsAll,
}

func (c modernCore) View(slot int) (WarpView, bool) {
	v, ok := c.Core.View(slot)
	if !ok {
		return WarpView{}, false
	}
	return modernView(&v), true
}

func (c modernCore) Views() []WarpView {
	list := c.Core.Views()
	out := make([]WarpView, len(list))
	for i := range list {
		out[i] = modernView(&list[i])
	}
	return out
}

func modernView(v *modern.WarpView) WarpView {
	w := WarpView{
		Slot: v.Slot, Work: v.Kernel.Work, Block: v.Block, InBlock: v.InBlock, Exec: v.Exec, State: v.State.String(),
		At: v.At, Active: v.Active, Live: v.Live, Buffer: v.Buffer, Missed: v.Missed, Issued: v.Issued, Age: v.Age,
		Reserved: v.Reserved, Stores: v.Stores, Stuck: v.Stuck, waits: modernWaits[v.State],
	}
	if v.Kernel.ControlBits {
		w.Counters = v.Counters[:]
	}
	for i := range v.Flights {
		w.Flights = append(w.Flights, Flight(v.Flights[i]))
	}
	return w
}

func (c modernCore) Stand(slot int) (Stands, bool) {
	st, ok := c.Core.Stand(slot)
	if !ok {
		return Stands{}, false
	}
	return Stands{st.Kernel.Work, st.Age, st.Issued, st.Next, st.Last}, true
}

func (c modernCore) ResidentBlocks() []BlockView {
	var out []BlockView
	for _, b := range c.Core.ResidentBlocks() {
		out = append(out, BlockView{b.Kernel.Work, b.Block, b.First, b.Left, b.Stuck})
	}
	return out
}

func (c modernCore) Queues() []QueueView {
	var out []QueueView
	for _, q := range c.Core.Queues() {
		out = append(out, QueueView(q))
	}
	return out
}
