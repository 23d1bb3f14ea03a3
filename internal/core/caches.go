package core

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
)

// Resplit returns the L1D of a core whose launches want one of another size:
// empty, and with the counters of the old one. What waits in that is dropped, as
// when it is invalidated. An error if it is in use.
func Resplit(old *cache.Cache, cfg cache.Config, pool *mem.Pool) (*cache.Cache, error) {
	if n := old.ForgetPrefetches(); n > 0 {
		return nil, fmt.Errorf("the L1D cannot change while %d misses are pending in it", n)
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

// Warm puts code into an instruction cache, from its first byte to its last:
// what does not fit pushes out what came before it.
func Warm(l1i *cache.Cache, now, from, bytes uint64) {
	line := uint64(l1i.Config().Line)
	all := uint8(1<<(line/mem.SectorBytes) - 1)
	for at := from &^ (line - 1); at < from+bytes; at += line {
		l1i.FillDirect(now, at, at, all)
	}
}
