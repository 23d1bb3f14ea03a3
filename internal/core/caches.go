package core

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
)

// Resplit replaces the L1D of SM id by an empty one of another size, which takes over the
// counters. The old one's waiting requests are dropped, as by an invalidation. Without an
// L1D, or for a disabled one, it does nothing. It returns an error if warps are resident,
// or if misses are pending.
func Resplit(l1d **cache.Cache, own *cache.Config, cfg cache.Config, pool *mem.Pool, id int, resident bool) error {
	old := *l1d
	if old == nil || cfg.Disabled {
		return nil
	}
	if resident {
		return fmt.Errorf("SM %d: the L1D cannot be resized while warps are resident", id)
	}
	if n := old.ForgetPrefetches(); n > 0 {
		return fmt.Errorf("SM %d: the L1D cannot be resized while %d misses are pending in it", id, n)
	}
	for r := old.MissHead(); r != nil; r = old.MissHead() {
		pool.Put(old.PopMiss())
	}
	cfg.Name = old.Config().Name
	d, err := cache.New(cfg, pool)
	if err != nil {
		return fmt.Errorf("SM %d: %w", id, err)
	}
	d.Stats = old.Stats
	*l1d, *own = d, cfg
	return nil
}

// Warm fills an instruction cache with the first of some code, as much as fits beside other bytes, which take
// whole ways: a GPU reads so much ahead at a launch, not all (FlashGPU-Sim, counters of an RTX 5090).
func Warm(l1i *cache.Cache, now, from, bytes, beside uint64) {
	line := uint64(l1i.Config().Line)
	all := uint8(1<<(line/mem.SectorBytes) - 1)
	way := uint64(l1i.Config().Sets) * line
	beside = (beside + way - 1) / way * way
	if room := uint64(l1i.Config().Bytes()); beside < room {
		bytes = min(bytes, room-beside)
	}
	for at := from &^ (line - 1); at < from+bytes; at += line {
		l1i.FillDirect(now, at, at, all)
	}
}
