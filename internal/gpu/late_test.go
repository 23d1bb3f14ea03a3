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

// TestMemoryBesideSMs runs a kernel whose results depend on the order of all accesses while another
// worker simulates the memory system: with a network that often has no room, which SMs wait to know, and
// with clocks of which several ticks are between two core cycles.
func TestMemoryBesideSMs(t *testing.T) {
	together(t, 3)
	for _, c := range []struct {
		name   string
		change func(*gpu.Config)
	}{
		{"small buffers", func(c *gpu.Config) { c.Net.InBuffer, c.Net.OutBuffer = 1, 1 }},
		{"slow core", func(c *gpu.Config) { c.Clocks = gpu.Clocks{Core: 500e6, Net: 700e6, L2: 1900e6, DRAM: 2100e6} }},
		{"slow L2", func(c *gpu.Config) {
			c.Clocks = gpu.Clocks{Core: 1000e6, Net: 1000e6, L2: 600e6, DRAM: 3300e6}
			c.Net.InBuffer = 1
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := race(t, "gtx-480", 1, false, c.change)
			got := race(t, "gtx-480", 3, false, c.change)
			got.compare(t, &base, "3 threads")
			end := gpu.NobodyHelps()
			got = race(t, "gtx-480", 2, false, c.change)
			end()
			got.compare(t, &base, "an absent worker")
		})
	}
}

// TestTrier gives trials the times of parts, and looks at what they decide.
func TestTrier(t *testing.T) {
	const us = time.Microsecond
	for _, c := range []struct {
		name            string
		alone, together func(part int) time.Duration
		late            func(cycle int) time.Duration
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
			late: func(cycle int) time.Duration { return time.Duration(cycle%5/4) * 100 * us },
		},
		{
			name: "workers come late now and then", alone: func(int) time.Duration { return 100 * us }, together: func(int) time.Duration { return 60 * us },
			late: func(cycle int) time.Duration { return time.Duration(cycle%50/49) * 100 * us }, want: true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := gpu.Try(c.alone, c.together, c.late); got != c.want {
				t.Errorf("workers are called: %v, want %v", got, c.want)
			}
		})
	}
}

// TestTrialsOfClasses: workers that pay where many SMs are awake are not sent home by cycles with few.
func TestTrialsOfClasses(t *testing.T) {
	if few, many := gpu.TryTwo(); few || !many {
		t.Errorf("workers are called for cycles with few SMs awake: %v, with many: %v; want false, true", few, many)
	}
}

// TestLateWorkersAreSentHome has workers that keep the others waiting: what that may cost is a share
// of the time.
func TestLateWorkersAreSentHome(t *testing.T) {
	if together, waited := gpu.Interrupted(20 * time.Millisecond); together || waited < 10*time.Millisecond {
		t.Errorf("a worker that was away for 20 ms cost %v, and workers are still called: %v", waited, together)
	}
	const us, most = time.Microsecond, 8000
	for _, c := range []struct {
		name       string
		late       func(cycle int) time.Duration
		from, upTo int // cycles until workers are no longer called
	}{
		{"never", func(int) time.Duration { return 0 }, most, most},
		{"1.5 ms in 100", func(i int) time.Duration { return time.Duration(i%1000/999) * 1500 * us }, most, most},
		{"1.5 ms in 10", func(i int) time.Duration { return time.Duration(i%100/99) * 1500 * us }, 150, 1000},
		{"5 µs in every cycle", func(int) time.Duration { return 5 * us }, most, most},
		{"10 µs in every cycle", func(int) time.Duration { return 10 * us }, 200, 1000},
		{"10 ms at once", func(i int) time.Duration { return time.Duration(i/5000*(5001-i)) * 10000 * us }, 5000, 5000},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := gpu.Stay(most, 100*us, c.late); got < c.from || got > c.upTo {
				t.Errorf("workers are called for %d cycles, want %d to %d", got, c.from, c.upTo)
			}
		})
	}
}

// TestTrialsBecomeRare: where the host's cores do something else, more than where workers do not pay.
func TestTrialsBecomeRare(t *testing.T) {
	const n = 12
	paid, busy := gpu.Retries(n, false), gpu.Retries(n, true)
	if paid[0] != busy[0] || paid[n-1] >= busy[n-1] || paid[n-1] <= paid[0] {
		t.Errorf("cycles between trials: %v, and on a busy host %v", paid, busy)
	}
}

// TestOnlySleepersAreAbsent: a worker that is awake is not taken for absent because another one sleeps.
func TestOnlySleepersAreAbsent(t *testing.T) {
	if sleeper, other := gpu.AbsentBesideASleeper(); !sleeper || other {
		t.Errorf("absent: the worker that sleeps %v, the other one %v; want true, false", sleeper, other)
	}
}
