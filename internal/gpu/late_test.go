package gpu_test

import (
	"testing"
	"time"

	"github.com/heddle-sim/heddle/internal/gpu"
)

// TestAbsentWorkers runs a kernel whose results depend on the order of all accesses with
// workers whose goroutines never run, as on a host whose other cores do something else. The
// owner of the chip runs their clusters.
func TestAbsentWorkers(t *testing.T) {
	together(t, 3)
	for _, name := range []string{"gtx-480", "rtx-3080"} {
		base := race(t, name, 1, false, nil)
		end := gpu.NobodyHelps()
		got := race(t, name, 3, false, nil)
		end()
		got.compare(t, &base, name+", absent workers")
	}
}

// TestTrier gives trials the times of parts, and looks at what they decide.
func TestTrier(t *testing.T) {
	const us = time.Microsecond
	for _, c := range []struct {
		name            string
		alone, together func(part int) time.Duration
		late            func(cycle int) int
		want            bool
	}{
		{name: "workers pay", alone: func(int) time.Duration { return 100 * us }, together: func(int) time.Duration { return 60 * us }, want: true},
		{name: "a gain that is not worth the processor time", alone: func(int) time.Duration { return 100 * us }, together: func(int) time.Duration { return 92 * us }},
		{
			name:  "parts without workers are interrupted",
			alone: func(part int) time.Duration { return time.Duration(100+4000*(part&1)) * us }, together: func(int) time.Duration { return 110 * us },
		},
		{
			name:     "parts with workers are interrupted",
			together: func(part int) time.Duration { return time.Duration(60+4000*(part&1)) * us }, alone: func(int) time.Duration { return 100 * us }, want: true,
		},
		{
			name: "workers come late", alone: func(int) time.Duration { return 100 * us }, together: func(int) time.Duration { return 60 * us },
			late: func(cycle int) int { return cycle % 5 / 4 },
		},
		{
			name: "workers come late now and then", alone: func(int) time.Duration { return 100 * us }, together: func(int) time.Duration { return 60 * us },
			late: func(cycle int) int { return cycle % 50 / 49 }, want: true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := gpu.Try(c.alone, c.together, c.late); got != c.want {
				t.Errorf("workers are called: %v, want %v", got, c.want)
			}
		})
	}
}

// TestLateWorkersAreSentHome has workers that keep the others waiting for long.
func TestLateWorkersAreSentHome(t *testing.T) {
	if together, waited := gpu.Interrupted(5 * time.Millisecond); together || waited < 100 {
		t.Errorf("a worker that was away for 5 ms counts as %d late rounds, and workers are still called: %v", waited, together)
	}
}

// TestOnlySleepersAreAbsent: a worker that is awake is not taken for absent because another one sleeps.
func TestOnlySleepersAreAbsent(t *testing.T) {
	if sleeper, other := gpu.AbsentBesideASleeper(); !sleeper || other {
		t.Errorf("absent: the worker that sleeps %v, the other one %v; want true, false", sleeper, other)
	}
}
