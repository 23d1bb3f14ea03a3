package job_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// Results so far change nothing, grow, and add up; nor do ranges change anything whose instructions
// are recorded meanwhile, and these are what a recording from the beginning has.
func TestResultsSoFar(t *testing.T) {
	alltests.Only(t, "results before the end")
	const examples = "../../../examples/"
	for _, c := range alltests.Some([]struct {
		name, file string
		threads    int
		core       string
	}{
		{"streams", examples + "streams/streams.toml", 1, "modern"},
		{"SIMT core", examples + "matmul/matmul.toml", 1, "simt"},
		{"modern core", examples + "matmul/matmul.toml", 1, "modern"},
		{"modern core, two workers", examples + "matmul/matmul.toml", 2, "modern"},
	}, 2) {
		t.Run(c.name, func(t *testing.T) {
			once := func(live func(func() *report.Run) *run.Wish) *report.Run {
				o := run.Options{Timing: true, Page: true, Threads: c.threads, Live: live}
				o.Settings.Core = c.core
				ready, err := job.Load(c.file, o)
				if err != nil {
					t.Fatal(err)
				}
				res, err := ready.Run(context.Background(), o)
				if err != nil {
					t.Fatal(err)
				}
				res.Seconds = 0
				return res
			}
			plain := once(nil)
			var last *report.Run
			n := 0
			watched := once(func(soFar func() *report.Run) *run.Wish {
				n++
				last = grown(t, last, soFar())
				if n%3 == 0 {
					return nil
				}
				return &run.Wish{SM: n - 1, Cycles: 2000}
			})
			sameWays(t, plain.Ways, watched.Ways)
			plain.Ways, watched.Ways = nil, nil
			if d := cmp.Diff(text(t, plain), text(t, watched)); d != "" {
				t.Errorf("the result differs: %s", d)
			}
			if n == 0 {
				t.Fatal("no result so far")
			}
			grown(t, last, watched)
		})
	}
}

// sameWays compares the instructions of ranges that were recorded on SM 0 with those of a recording
// from the beginning of the run.
func sameWays(t *testing.T, first, ranges []*report.Ways) {
	t.Helper()
	if len(first) != 1 || first[0].SM != 0 || first[0].From != 0 || len(first[0].Inst) < 100 {
		t.Fatalf("a run begins with the ways %+v", first)
	}
	want := times(t, first[0])
	compared := 0
	for _, r := range ranges {
		got := times(t, r)
		if r.From == 0 || r.SM != 0 {
			continue
		}
		for key, cycles := range want {
			if issue := uint64(cycles[0]); issue < r.From || issue >= min(r.To, first[0].To) {
				continue
			}
			compared++
			if !slices.Equal(got[key], cycles) {
				t.Errorf("%s: stages from issue on begin in cycles %d, want %d", key, got[key], cycles)
			}
		}
	}
	if compared == 0 {
		t.Error("no range has instructions of the beginning")
	}
}

// times returns the cycles in which the stages of each complete instruction began, from its issue on, and
// finds that it issued in the range and no stage begins before the previous one.
func times(t *testing.T, r *report.Ways) map[string][]int64 {
	t.Helper()
	all := map[string][]int64{}
	issue := slices.Index(r.Stages, "issue")
	for i, n := range r.Inst {
		at, cycles := int64(r.From), []int64(nil)
		for s := range r.Stages {
			if at += r.At[s][i]; s > 0 && r.At[s][i] < 0 {
				t.Fatalf("stage %s begins %d cycles before %s", r.Stages[s], -r.At[s][i], r.Stages[s-1])
			}
			if s >= issue {
				cycles = append(cycles, at)
			}
		}
		if c := uint64(cycles[0]); c < r.From || c >= r.To {
			t.Fatalf("an instruction issued in cycle %d, and the range is %d to %d", c, r.From, r.To)
		}
		if !slices.Contains(r.Open, i) {
			all[fmt.Sprintf("%s of slot %d in cycle %d", r.Insts[n].Text, r.Slot[i], cycles[0])] = cycles
		}
	}
	return all
}

// grown finds that a result has at least what an earlier one has, and adds up.
func grown(t *testing.T, old, now *report.Run) *report.Run {
	t.Helper()
	var insts uint64
	for i := range now.Kernels {
		k := &now.Kernels[i]
		insts += k.WarpInstructions
		var states, lines uint64
		for _, n := range k.Stalls {
			states += n
		}
		for j := range k.Lines {
			lines += k.Lines[j].WarpCycles
		}
		if states != k.WarpCycles || lines != k.WarpCycles {
			t.Errorf("launch %d at cycle %d: states are %d warp cycles, lines %d, all %d", k.Launch, now.Cycles, states, lines, k.WarpCycles)
		}
	}
	if insts != now.WarpInstructions {
		t.Errorf("at cycle %d launches have %d warp instructions, the run %d", now.Cycles, insts, now.WarpInstructions)
	}
	if old == nil {
		return now
	}
	if now.Cycles < old.Cycles || now.WarpInstructions < old.WarpInstructions || len(now.Kernels) < len(old.Kernels) || len(now.History.End) < len(old.History.End)/2 {
		t.Errorf("cycle %d has less than cycle %d", now.Cycles, old.Cycles)
	}
	return now
}

func text(t *testing.T, r *report.Run) string {
	t.Helper()
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
