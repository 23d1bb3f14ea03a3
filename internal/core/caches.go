package core

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
)

// Resplit returns an empty L1D of another size, with the counters of the old one. The
// old one's waiting requests are dropped, as by an invalidation. It returns an error
// if the old one has pending misses.
func Resplit(old *cache.Cache, cfg cache.Config, pool *mem.Pool) (*cache.Cache, error) {
	if n := old.ForgetPrefetches(); n > 0 {
		return nil, fmt.Errorf("the L1D cannot be resized while %d misses are pending in it", n)
	}
	for r := old.MissHead(); r != nil; r = old.MissHead() {
		pool.Put(old.PopMiss())
	}
	cfg.Name = old.Config().Name
	d, err := cache.New(cfg, pool)
	if err != nil {
		return nil, err
	}
	d.Stats = old.Stats
	return d, nil
}

// Warm fills an instruction cache with code in ascending order. Code that does not
// fit evicts what was filled first.
func Warm(l1i *cache.Cache, now, from, bytes uint64) {
	line := uint64(l1i.Config().Line)
	all := uint8(1<<(line/mem.SectorBytes) - 1)
	for at := from &^ (line - 1); at < from+bytes; at += line {
		l1i.FillDirect(now, at, at, all)
	}
}
