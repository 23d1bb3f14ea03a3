package gpu

import (
	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/core/simt"
	"github.com/heddle-sim/heddle/internal/exec"
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

// run does a core cycle.
func (c simtCore) run(now uint64) status {
	c.Cycle(now)
	return statusOf(c.RepliesFull(), !c.Unfinished() || c.Err() != nil, c.Asleep())
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

func (c simtCore) inherit(old Core) { c.Stats = old.(simtCore).Stats }

func (c simtCore) takePlaces(k *Kernel, sum core.Places) { c.TakePlaces(k.core.(*simt.Kernel), sum) }
