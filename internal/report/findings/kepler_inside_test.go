package findings

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/report"
)

// TestKeplerIdle: the time without an instruction is the same number for every order in which
// the states come.
func TestKeplerIdle(t *testing.T) {
	k := &report.Kernel{KernelTiming: &report.KernelTiming{Cycles: 1_000_003, SlotStalls: map[string]uint64{
		"scoreboard": 123_457, "branch": 33_331, "barrier": 7_919, "drain": 101, "collectors": 55_555, "bank_conflict": 99_991, "start": 3}}}
	r := &report.Run{Timing: &report.Timing{SMs: 7}}
	want := newKeplerLaunch(r, k).idle
	for range 200 {
		if got := newKeplerLaunch(r, k).idle; got != want {
			t.Fatalf("%v, and then %v", want, got)
		}
	}
}
