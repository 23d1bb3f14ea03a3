package gpu

import (
	"reflect"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/core/modern"
	"github.com/heddle-sim/heddle/internal/core/simt"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/mem/cache"
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

// run does a core cycle.
func (c modernCore) run(now uint64) status {
	c.Cycle(now)
	return statusOf(c.RepliesFull(), !c.Unfinished() || c.Err() != nil, c.Asleep())
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
			planOf(x.Type()).combine(t.Field(i).Addr().UnsafePointer(), x.Addr().UnsafePointer(), false)
		}
	}
}

func (c modernCore) inherit(old Core) { c.Stats = old.(modernCore).Stats }

func (c modernCore) takePlaces(k *Kernel, sum core.Places) {
	c.TakePlaces(k.core.(*modern.Kernel), sum)
}
