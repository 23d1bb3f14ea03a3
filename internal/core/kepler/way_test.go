package kepler_test

import (
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle/internal/core/kepler"
)

// Every fetched instruction has one record, and the number of those not squashed is the
// number executed: random programs with all operations.
func TestWays(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 99))
		warps := r.Perm(kepler.Warps)[:1+r.IntN(12)]
		k, _ := setUp(t, r, []string{randomProgram(r, 1), deepProgram(r)}, warps)
		k.Trace(true)
		type key struct {
			cycle uint64
			warp  int
			pc    int
		}
		ways := map[key]int{}
		executed, threads, bad := uint64(0), uint64(0), 0
		k.Record(func(w *kepler.Way) {
			ways[key{w.Fetch, w.Warp, w.PC}]++
			last := w.Fetch
			for _, at := range []uint64{w.Decode, w.Collect, w.Read, w.Queue, w.Execute, w.Write} {
				if at < last || at > k.Cycle()+1 {
					bad++
				}
				last = at
			}
			if !w.Squashed {
				executed++
				for m := w.Lanes; m != 0; m &= m - 1 {
					threads++
				}
			}
		})
		if !k.Run(1_000_000) {
			// Warps may have different numbers of barriers; all end.
			t.Fatalf("seed %d: %v %v", seed, k.Fault(), k.Waits())
		}
		if s := k.Stats(); executed != s.Executed || threads != s.Threads || bad > 0 {
			t.Errorf("seed %d: records of %d instructions on %d lanes, want %d on %d; %d are out of order", seed, executed, threads, s.Executed, s.Threads, bad)
		}
		k.Record(nil)
		for _, f := range k.Fetches() {
			if n := ways[key{f.Cycle, f.Warp, f.PC}]; n != 1 {
				t.Fatalf("seed %d: %+v has %d records", seed, f, n)
			}
		}
		if len(ways) != len(k.Fetches()) {
			t.Errorf("seed %d: %d records, %d instructions were fetched", seed, len(ways), len(k.Fetches()))
		}
	}
}
