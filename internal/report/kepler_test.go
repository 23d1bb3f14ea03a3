package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The report of the Kepler-style core: what fetch did adds up to all cycles,
// and warps have a row each.
func TestKeplerText(t *testing.T) {
	r := &Run{
		Heddle: "1.2.3", Input: "p.kasm", Programs: []string{"p.kasm"}, GPU: "kepler-edu", Mode: "timing", OK: true,
		Timing: &Timing{Core: "kepler", SMs: 1, Cycles: 1000}, WarpInstructions: 300, ThreadInstructions: 9600,
		Kernels: []Kernel{{
			Name: "p", Grid: [3]int64{1, 1, 1}, Block: [3]int64{64, 1, 1}, Registers: 64, SharedBytes: 16384, WarpInstructions: 300, ThreadInstructions: 9600,
			KernelTiming: &KernelTiming{
				Cycles: 1000, WarpCycles: 1500, BlocksPerSM: 1, Occupancy: 0.0625,
				Stalls:     map[string]uint64{"selected": 200, "long_scoreboard": 1231, "start": 69},
				SlotStalls: map[string]uint64{"scoreboard": 731, "start": 69, "drain": 0},
				Warps: []Warp{
					{Warp: 3, ExitCycle: 999, Cycles: 999, Stalls: map[string]uint64{"selected": 150, "long_scoreboard": 780, "start": 69}},
					{Warp: 17, Cycles: 501, Stalls: map[string]uint64{"selected": 50, "long_scoreboard": 451}},
				},
				Lines: []Line{{File: "p.kasm", PC: 200, Text: "NOP", WarpCycles: 1500, Stalls: map[string]uint64{"long_scoreboard": 1231, "selected": 269}}},
			},
		}},
		Kepler: &Kepler{Conform: "datasheet", DualIssues: 100, SingleIssues: 100, Squashed: 7, Branches: 2, Transactions: 1234, Replays: 31, Conflicts: 5},
		State:  "R1 all\n",
	}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(b.String(), "what fetch did")
	want := `             cycles   share
none: scoreboard              731  73.1 %  ███████████████████████▍
one instruction selected      100  10.0 %  ███▎
two instructions selected     100  10.0 %  ███▎
none: start                    69   6.9 %  ██▎
───────────────────────────────────────────────────────────────────
all                         1,000

instructions squashed by branches      7
branches taken                         2
memory transactions                1,234
of them from splits                   31
bank conflict cycles                   5

warp  cycles  exit in  selected  main stall
   3     999      999    15.0 %  long scoreboard 78 %
  17     501        –    10.0 %  long scoreboard 90 %

hottest lines  instruction  issues    share  waiting for
p.kasm pc 200  NOP               0  100.0 %  long scoreboard 82 %

R1 all

done in 0 µs
`
	if d := cmp.Diff(want, text); d != "" {
		t.Error(d)
	}
	if !strings.Contains(b.String(), "kepler-edu: 1 SM, kepler core\n") {
		t.Error(b.String())
	}
}

// Counters of runs one after the other add up.
func TestKeplerAdd(t *testing.T) {
	var sum Kepler
	for n := range uint64(3) {
		sum.Add(&Kepler{Conform: "rtl", DualIssues: n, SingleIssues: 2, Squashed: 3, Branches: 4, Transactions: 5, Replays: 6, Conflicts: 7, ExitCycle: map[string]uint64{"0": n}})
	}
	want := Kepler{Conform: "rtl", DualIssues: 3, SingleIssues: 6, Squashed: 9, Branches: 12, Transactions: 15, Replays: 18, Conflicts: 21, ExitCycle: map[string]uint64{"0": 2}}
	if d := cmp.Diff(want, sum); d != "" {
		t.Error(d)
	}
}
