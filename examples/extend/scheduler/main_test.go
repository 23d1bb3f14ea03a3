package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// TestCompare: all schedulers compute the right values (compare checks them) in
// cycles of the same order; the one of this program is another than the built-in
// ones.
func TestCompare(t *testing.T) {
	var out bytes.Buffer
	jobs := alltests.Some([]string{"matmul", "pathfinder"}, 1)
	if err := compare(&out, "../../..", jobs...); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + out.String())
	cycles := map[string]map[string]float64{}
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n")[1:] {
		var job, scheduler string
		var n, ipc float64
		if _, err := fmt.Sscan(line, &job, &scheduler, &n, &ipc); err != nil || ipc <= 0 {
			t.Fatalf("%q: %v", line, err)
		}
		if cycles[job] == nil {
			cycles[job] = map[string]float64{}
		}
		cycles[job][scheduler] = n
	}
	if len(cycles) != len(jobs) {
		t.Fatalf("%d jobs, want %d", len(cycles), len(jobs))
	}
	for job, by := range cycles {
		for scheduler, n := range by {
			if ratio := n / by["gto"]; ratio < 0.5 || ratio > 2 {
				t.Errorf("%s: %s takes %.2f times the cycles of gto", job, scheduler, ratio)
			}
			if scheduler != "laggard" && n == by["laggard"] {
				t.Errorf("%s: laggard takes the cycles of %s", job, scheduler)
			}
		}
	}
}
