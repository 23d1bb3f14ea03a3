package job

import (
	"context"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/report"
)

func runTimed(t *testing.T, file, gpu string, set ...string) *report.Run {
	t.Helper()
	ready, err := Load(file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Timing: true, GPU: gpu}
	for _, s := range set {
		if err := o.Settings.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	res, err := ready.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if !res.OK {
		t.Fatalf("checks failed: %+v", res.Checks)
	}
	return res
}

// What is laid beside the lines of a program adds up to what its launches did.
func TestLines(t *testing.T) {
	for _, c := range []struct{ file, gpu, line, waits string }{
		{"../../../testdata/reference/gpgpusim/vecadd.toml", "rtx-2060", "add.f32", "long_scoreboard"},
		{"../../../testdata/reference/gpgpusim/bfs.toml", "gtx-480", "setp.gt.s32", "long_scoreboard"},
		{"../../../testdata/reference/gpgpusim/reduce.toml", "v100", "bar.sync", "barrier"},
	} {
		res := runTimed(t, c.file, c.gpu)
		seen := uint64(0)
		for _, k := range res.Kernels {
			var issues, lanes, cycles, stalls uint64
			by := map[string]uint64{}
			for _, l := range k.Lines {
				issues += l.Issues
				lanes += l.ThreadInstructions
				cycles += l.WarpCycles
				var sum uint64
				for s, n := range l.Stalls {
					by[s] += n
					sum += n
				}
				if sum != l.WarpCycles {
					t.Errorf("%s launch %d line %d: stalls add up to %d of %d", c.file, k.Launch, l.Line, sum, l.WarpCycles)
				}
				if !strings.Contains(l.Text, l.Instruction) {
					t.Errorf("%s launch %d: instruction %q, text %q", c.file, k.Launch, l.Instruction, l.Text)
				}
				if l.File == "" || l.Line < 1 || l.Instruction == "" {
					t.Errorf("%s launch %d: a line without a place: %+v", c.file, k.Launch, l)
				}
				if l.Instruction == c.line {
					seen += l.Stalls[c.waits]
				}
			}
			if issues != k.WarpInstructions || lanes != k.ThreadInstructions {
				t.Errorf("%s launch %d: lines have %d and %d instructions, the launch %d and %d", c.file, k.Launch, issues, lanes, k.WarpInstructions, k.ThreadInstructions)
			}
			for s, n := range k.Stalls {
				stalls += n
				if by[s] != n {
					t.Errorf("%s launch %d: lines have %d %s, the launch %d", c.file, k.Launch, by[s], s, n)
				}
			}
			if cycles != k.WarpCycles || stalls != k.WarpCycles || cycles == 0 {
				t.Errorf("%s launch %d: %d warp cycles, %d by line, %d by state", c.file, k.Launch, k.WarpCycles, cycles, stalls)
			}
		}
		if seen == 0 {
			t.Errorf("%s: no %s at %s", c.file, c.waits, c.line)
		}
	}
}
