package heddle_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/heddle-sim/heddle"
)

// These tests bring the built-in parts of the memory system as a program would
// write them, from outside: a machine with one of them does what the machine with
// the built-in one does, in every counter.

// lru is the built-in LRU.
type lru struct {
	ways int
	used []uint64
}

func (l *lru) OnHit(set, way int, now uint64)        { l.used[set*l.ways+way] = now }
func (l *lru) OnFill(set, way int, addr, now uint64) { l.used[set*l.ways+way] = now }
func (l *lru) OnInvalidate(set, way int)             {}

func (l *lru) Victim(set int, from heddle.Ways) int {
	best := from.Next(0)
	for w := best; w >= 0; w = from.Next(w + 1) {
		if l.used[set*l.ways+w] < l.used[set*l.ways+best] {
			best = w
		}
	}
	return best
}

// mru gives up the line used last.
type mru struct{ lru }

func (m *mru) Victim(set int, from heddle.Ways) int {
	best := from.Next(0)
	for w := best; w >= 0; w = from.Next(w + 1) {
		if m.used[set*m.ways+w] > m.used[set*m.ways+best] {
			best = w
		}
	}
	return best
}

func init() {
	heddle.RegisterReplacement("test-mru", func(sets, ways int) heddle.ReplacementPolicy {
		return &mru{lru{ways, make([]uint64, sets*ways)}}
	})
	heddle.RegisterReplacement("test-lru", func(sets, ways int) heddle.ReplacementPolicy {
		return &lru{ways, make([]uint64, sets*ways)}
	})
}

// result runs a job on a machine with some of its values changed, and returns the
// counters of all its launches.
func result(t *testing.T, job, machine string, threads int, set ...string) (*heddle.JobResult, string) {
	t.Helper()
	opt := heddle.JobOptions{GPU: machine, Timing: true, Threads: threads}
	for _, s := range set {
		if err := opt.Settings.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	res, err := heddle.RunJob(context.Background(), fmt.Sprintf("examples/%s/%[1]s.toml", job), opt)
	if err != nil || !res.OK {
		t.Fatalf("%s on %s: OK %v, %v", job, machine, res != nil && res.OK, err)
	}
	counters, err := json.MarshalIndent(res.Kernels, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return res, string(counters)
}

// differ shows the first lines in which two results are not the same.
func differ(t *testing.T, a, b string) {
	t.Helper()
	x, y := bytes.Split([]byte(a), []byte("\n")), bytes.Split([]byte(b), []byte("\n"))
	for i := range min(len(x), len(y)) {
		if !bytes.Equal(x[i], y[i]) {
			t.Fatalf("line %d of the counters: %s, with the built-in part %s", i+1, y[i], x[i])
		}
	}
	if len(x) != len(y) {
		t.Fatalf("%d lines of counters, with the built-in part %d", len(y), len(x))
	}
}

// TestPluggedReplacement: LRU as a plug-in gives the cycles and counters of the
// built-in LRU. The caches are small enough to give up lines all the time.
func TestPluggedReplacement(t *testing.T) {
	small := []string{"l2.ways=2", "l2.sets=16", "run.copies_fill_l2=false"}
	plugged := append([]string{"l1d.replace=test-lru", "l1i.replace=test-lru", "l1c.replace=test-lru", "l2.replace=test-lru"}, small...)
	for _, c := range []struct{ job, machine string }{
		{"spmv", "rtx-2060"}, {"transpose", "rtx-a6000"}, {"reduction", "gtx-480"}, {"histogram", "v100"}, {"texture", "titan-x-pascal"}, {"compact", "rtx-5070-ti"},
	} {
		t.Run(c.job+"-"+c.machine, func(t *testing.T) {
			built, want := result(t, c.job, c.machine, 0, small...)
			_, got := result(t, c.job, c.machine, 1, plugged...)
			differ(t, want, got)
			if m := built.Kernels[0].Memory; m.L2.Misses == 0 {
				t.Error("the L2 gave nothing up")
			}
		})
	}
	t.Run("the newest instead", func(t *testing.T) {
		_, oldest := result(t, "spmv", "rtx-2060", 0, small...)
		if _, newest := result(t, "spmv", "rtx-2060", 0, append([]string{"l2.replace=test-mru"}, small...)...); newest == oldest {
			t.Error("another policy changes nothing")
		}
	})
}
