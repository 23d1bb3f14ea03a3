package job_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// registers are the names of registers in PTX and SASS.
var registers = regexp.MustCompile(`%(r|rd|f|fd|p|rs|h|hh)[0-9]+\b|\b(R|P)[0-9]+\b`)

// waitStates are the states that are waits for instructions.
var waitStates = []string{"wait", "short_scoreboard", "long_scoreboard"}

// Waits for instructions are for instructions that write or read what the waiting one needs, and
// they are nearly all found.
func TestWaitedFor(t *testing.T) {
	const examples = "../../../examples/"
	for _, c := range alltests.Some([]struct {
		name, file, core string
		counted          bool // waits are for counters, which instructions share, and stall counts are none
	}{
		{"copies, modern", examples + "cp-async/cp-async.toml", "modern", false},
		{"copies, SIMT", examples + "cp-async/cp-async.toml", "simt", false},
		{"control bits", examples + "sass/sgemm.toml", "modern", true},
		{"streams, modern", examples + "streams/streams.toml", "modern", false},
		{"matmul, modern", examples + "matmul/matmul.toml", "modern", false},
		{"matmul, SIMT", examples + "matmul/matmul.toml", "simt", false},
	}, 1) {
		t.Run(c.name, func(t *testing.T) {
			var inside func(*run.Inside) func() error
			once := func(threads int, page bool) *report.Run {
				o := run.Options{Timing: true, Page: page, Threads: threads, Inside: inside}
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
			res := once(1, true)
			waits, found := uint64(0), uint64(0)
			for i := range res.Kernels {
				w, f := checkWaits(t, &res.Kernels[i], c.counted)
				waits, found = waits+w, found+f
			}
			if waits == 0 || float64(found) < 0.99*float64(waits) {
				t.Errorf("of %d warp cycles of waits %d have an instruction", waits, found)
			}
			if d := cmp.Diff(text(t, res), text(t, once(2, true))); d != "" {
				t.Errorf("two workers find others: %s", d)
			}
			inside = settled
			if d := cmp.Diff(text(t, res), text(t, once(1, true))); d != "" {
				t.Errorf("a run that is looked at finds others: %s", d)
			}
			inside = nil
			plain := once(1, false)
			for _, k := range plain.Kernels {
				for _, l := range k.Lines {
					if l.WaitedFor != nil {
						t.Fatal("waits for instructions are recorded without a page")
					}
				}
			}
		})
	}
}

// settled brings the counters of all SMs up to date every seven cycles.
func settled(in *run.Inside) func() error {
	n := 0
	return func() error {
		if n++; n%7 == 0 {
			for i := range in.Chip.Config().SMs() {
				in.Chip.Core(i).Settle()
			}
		}
		return nil
	}
}

// checkWaits checks the waits of a launch, and returns those of its lines and those for
// instructions.
func checkWaits(t *testing.T, k *report.Kernel, counted bool) (waits, found uint64) {
	t.Helper()
	states := waitStates
	if counted {
		states = waitStates[1:]
	}
	type place struct {
		function, file string
		line, pc       int
	}
	at := map[place]*report.Line{}
	for i := range k.Lines {
		l := &k.Lines[i]
		at[place{l.Function, l.File, l.Line, l.PC}] = l
	}
	for _, l := range k.Lines {
		most, sum := uint64(0), uint64(0)
		for _, s := range states {
			most += l.Stalls[s]
		}
		for _, p := range l.WaitedFor {
			sum += p.WarpCycles
			from := at[place{p.Function, p.File, p.Line, p.PC}]
			if from == nil || p.WarpCycles == 0 {
				t.Errorf("%s waited %d warp cycles for line %d, which never ran", l.Text, p.WarpCycles, p.Line)
				continue
			}
			if !counted && !related(from.Text, l.Text) {
				t.Errorf("%s waited for %s, with which it shares no register", l.Text, from.Text)
			}
			if counted && !strings.Contains(from.Control, "W") && !strings.Contains(from.Control, "R") {
				t.Errorf("%s waited for %s %s, which has no counter", l.Text, from.Control, from.Text)
			}
		}
		if sum > most {
			t.Errorf("%s waited %d warp cycles for instructions, but %d in all", l.Text, sum, most)
		}
		waits, found = waits+most, found+sum
	}
	return waits, found
}

// related reports whether an instruction of PTX may wait for another: it shares a register with
// it, or waits for all.
func related(from, to string) bool {
	for _, all := range []string{"bar.", "barrier", "membar", "fence", "cp.async.wait", "cp.async.bulk.wait"} {
		if strings.Contains(to, all) {
			return true
		}
	}
	if strings.Contains(from, "cp.async") {
		return true
	}
	names := registers.FindAllString(to, -1)
	return slices.ContainsFunc(registers.FindAllString(from, -1), func(r string) bool { return slices.Contains(names, r) })
}
