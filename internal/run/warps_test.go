package run_test

import (
	"context"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// What warps do over time fits what is counted: every warp slot of an SM with instructions has samples, the shares of
// states in them are near those of the counted warp cycles, and they stay few.
func TestWarpsOverTime(t *testing.T) {
	for _, c := range []struct {
		file string
		near float64 // largest difference of a state's share
	}{
		{"matmul/matmul.toml", 0.05},
		{"learn/reduction.toml", 0.08},
		{"sass/sgemm.toml", 0.05},
	} {
		t.Run(c.file, func(t *testing.T) {
			o := run.Options{Timing: true, Page: true}
			ready, err := job.Load("../../examples/"+c.file, o)
			if err != nil {
				t.Fatal(err)
			}
			res, err := ready.Run(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			w := res.History.Warps
			sampled, all, cells := map[string]float64{}, 0.0, 0
			sms := map[int]bool{}
			for _, s := range w.Slots {
				sms[s.SM] = true
				cells += len(s.States)
				if uint64(len(s.States)) != res.Cycles/w.Every {
					t.Fatalf("SM %d, slot %d has %d samples every %d cycles of %d", s.SM, s.Slot, len(s.States), w.Every, res.Cycles)
				}
				for i, name := range w.States {
					n := float64(strings.Count(s.States, string(rune('a'+i))))
					sampled[name] += n
					all += n
				}
			}
			if cells > 1<<17 {
				t.Errorf("%d states are kept", cells)
			}
			for _, s := range res.PerSM {
				if (s.WarpInstructions > 0) != sms[s.SM] {
					t.Errorf("SM %d issued %d warp instructions, and has samples: %v", s.SM, s.WarpInstructions, sms[s.SM])
				}
			}
			counted, total := stalls(res)
			for name, n := range counted {
				if a, b := sampled[name]/all, n/total; a-b > c.near || b-a > c.near {
					t.Errorf("%s: %.3f of the samples, %.3f of the warp cycles", name, a, b)
				}
			}
		})
	}
}

// stalls returns the warp cycles of all launches by state, and their sum.
func stalls(res *report.Run) (map[string]float64, float64) {
	by, total := map[string]float64{}, 0.0
	for i := range res.Kernels {
		for name, n := range res.Kernels[i].Stalls {
			by[name] += float64(n)
			total += float64(n)
		}
	}
	return by, total
}
