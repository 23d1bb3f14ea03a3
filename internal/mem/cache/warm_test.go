package cache

import (
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle/internal/mem"
)

// TestWarm: accesses without time leave the same lines as the same accesses with it, one after another, and count
// the sectors that these move.
func TestWarm(t *testing.T) {
	for name, alloc := range map[string]WriteAlloc{"lazy fetch": LazyFetch, "fetch on write": FetchOnWrite} {
		t.Run(name, func(t *testing.T) {
			cfg := Config{Name: "l2", Level: L2, Sectored: true, Sets: 8, Line: 128, Ways: 4, Alloc: OnMiss, Write: WriteBack, WriteAlloc: alloc, Entries: 16, Merge: 8, MissQueue: 8, Port: 32}
			var pool mem.Pool
			timed, err := New(cfg, &pool)
			if err != nil {
				t.Fatal(err)
			}
			quick, err := New(cfg, &pool)
			if err != nil {
				t.Fatal(err)
			}
			rnd := rand.New(rand.NewPCG(1, 2))
			sent, counted := 0, 0
			for i := range uint64(3000) {
				line, sector, write := rnd.Uint64N(64)*128, rnd.IntN(4), rnd.IntN(3) == 0
				var bytes mem.ByteMask
				bytes.Set(32*sector, 32)
				r := pool.Get()
				*r = mem.Req{Addr: line + uint64(32*sector), PartAddr: line + uint64(32*sector), Size: 32, Sectors: 1 << sector, Bytes: bytes, Write: write, Kind: mem.GlobalRead}
				if write {
					r.Kind = mem.GlobalWrite
				}
				if timed.Access(i, r) == Fail {
					t.Fatalf("access %d is refused: %v", i, timed.Reason())
				}
				for m := timed.PopMiss(); m != nil; m = timed.PopMiss() {
					sent += int(m.Size) / mem.SectorBytes
					if !m.IsWriteBack() {
						timed.Fill(i, m)
					}
				}
				for timed.Ready() {
					timed.PopReady()
				}
				fetched, written := quick.Warm(i, line, line, 1<<sector, write, bytes)
				counted += fetched + written
			}
			if sent != counted || sent == 0 {
				t.Errorf("%d sectors are counted, want %d", counted, sent)
			}
			for i := range timed.lines {
				if a, b := &timed.lines[i], &quick.lines[i]; a.tag != b.tag || a.val != b.val || a.mod != b.mod || a.dirty != b.dirty || a.rd != b.rd || a.stamp != b.stamp {
					t.Fatalf("line %d: %+v, want %+v", i, *b, *a)
				}
			}
		})
	}
}
