package bench

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/heddle-sim/heddle"
)

// ownGTO, ownCGGTY and inTurn are built-in policies as plug-ins.
type (
	ownGTO   struct{}
	ownCGGTY struct{}
	inTurn   struct{ last int }
)

func (ownGTO) Order(w *heddle.Warps, order []uint8) []uint8 {
	return append(append(order, uint8(w.Last)), w.ByAge...)
}

func (ownCGGTY) Order(w *heddle.Warps, order []uint8) []uint8 {
	if w.Last >= 0 {
		order = append(order, uint8(w.Last))
	}
	for i := len(w.ByAge) - 1; i >= 0; i-- {
		order = append(order, w.ByAge[i])
	}
	return order
}

func (s *inTurn) Next(o *heddle.Offer) (sm, kernel int) {
	for i := range o.SMs {
		if sm := (s.last + 1 + i) % o.SMs; o.CanTake(sm, 0) {
			s.last = sm
			return sm, 0
		}
	}
	return -1, 0
}

func init() {
	heddle.RegisterScheduler("bench-gto", func(int, int) heddle.Scheduler { return ownGTO{} })
	heddle.RegisterScheduler("bench-cggty", func(int, int) heddle.Scheduler { return ownCGGTY{} })
	heddle.RegisterBlockScheduler("bench-in-turn", func() heddle.BlockScheduler { return &inTurn{-1} })
}

// BenchmarkExtend runs jobs with a built-in part and with the same part as a plug-in,
// in turn, and reports the speed of the second in percent of the first. Cycles must
// be equal.
func BenchmarkExtend(b *testing.B) {
	set := func(o *heddle.JobOptions, core, value string) {
		o.Settings.Core = core
		if err := o.Settings.Set(value); err != nil {
			b.Fatal(err)
		}
	}
	for _, c := range []struct {
		name       string
		built, own func(o *heddle.JobOptions)
	}{
		{"scheduler simt", func(o *heddle.JobOptions) { set(o, "simt", "simt.scheduler=gto") }, func(o *heddle.JobOptions) { set(o, "simt", "simt.scheduler=bench-gto") }},
		{"scheduler modern", func(o *heddle.JobOptions) { set(o, "modern", "modern.scheduler=cggty") }, func(o *heddle.JobOptions) { set(o, "modern", "modern.scheduler=bench-cggty") }},
		{"block scheduler", func(o *heddle.JobOptions) {}, func(o *heddle.JobOptions) { set(o, "simt", "chip.block_scheduler=bench-in-turn") }},
		{"observer of blocks", func(o *heddle.JobOptions) {}, func(o *heddle.JobOptions) { o.Watch = &heddle.Observer{Block: func(*heddle.BlockEvent) {}} }},
		{"observer of instructions", func(o *heddle.JobOptions) {}, func(o *heddle.JobOptions) { o.Watch = &heddle.Observer{Inst: func(*heddle.InstEvent) {}} }},
		{"observer of memory", func(o *heddle.JobOptions) {}, func(o *heddle.JobOptions) { o.Watch = &heddle.Observer{Memory: func(*heddle.MemoryEvent) {}} }},
	} {
		b.Run(c.name, func(b *testing.B) {
			var took [2]time.Duration
			for b.Loop() {
				for _, name := range []string{"matmul_tiled.toml", "copy_s8.toml"} {
					var cycles [2]uint64
					for i, with := range []func(*heddle.JobOptions){c.built, c.own} {
						o := heddle.JobOptions{Timing: true, GPU: "rtx-2060", Threads: 1}
						with(&o)
						from := time.Now()
						res, err := heddle.RunJob(context.Background(), filepath.Join(references, name), o)
						took[i] += time.Since(from)
						if err != nil || !res.OK {
							b.Fatal(name, err)
						}
						cycles[i] = res.Cycles
					}
					if cycles[0] != cycles[1] {
						b.Fatalf("%s: %d cycles, and %d with the plug-in", name, cycles[0], cycles[1])
					}
				}
			}
			b.ReportMetric(100*took[0].Seconds()/took[1].Seconds(), "%speed")
		})
	}
}
