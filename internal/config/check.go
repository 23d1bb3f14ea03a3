package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/param"
)

// maxSMs bounds the SMs of a chip; the largest real chips have fewer than 200.
const maxSMs = 4096

// Check reports all values that contradict each other.
func (g *GPU) Check() error {
	var errs []error
	bad := func(key, format string, a ...any) {
		v, _ := g.Value(key)
		errs = append(errs, fmt.Errorf("%s = %.60s: %s", key, v, fmt.Sprintf(format, a...)))
	}
	if n := g.SMs(); n > maxSMs {
		bad("chip.clusters", "%d SMs in all: want at most %d (chip.sms_per_cluster = %d)", n, maxSMs, g.Chip.SMsPerCluster)
	}
	if !isPower(g.Chip.SlicesPerChannel) {
		bad("chip.slices_per_channel", "want a power of two")
	}
	var major, minor int
	if n, err := fmt.Sscanf(g.ComputeCapability+"\n", "%d.%d\n", &major, &minor); err != nil || n != 2 || major < 0 || minor < 0 || minor > 9 {
		bad("compute_capability", "want major.minor, such as 8.6")
	}
	g.checkSM(bad)
	m := g.machine()
	if p, ok := g.params(g.Core).(core.Checked); ok {
		p.Check(m, bad)
	}
	g.checkL1(bad)
	g.checkIdeal(bad)

	// The models check the rest. Their messages are about the tables named here.
	tables := []string{"l1d", "l1c", "l1t", "l1i", "l2", "l1d.prefer_l1", "l1d.prefer_shared"}
	broken := false
	for _, t := range tables {
		c := g.CacheConfig(t)
		if err := c.Check(); err != nil {
			errs = append(errs, g.conflict(t, err))
			broken = true
			continue
		}
		if want := t == "l1t"; !c.Disabled && c.IsTexture() != want {
			if want {
				bad(t+".mshr", "a texture cache needs fifo or sector-fifo")
			} else {
				bad(t+".mshr", "fifo and sector-fifo are for the texture cache")
			}
		}
	}
	if err := g.DRAMConfig().Check(); err != nil {
		errs = append(errs, g.conflict("dram", err))
		broken = true
	}
	if !broken {
		p := g.PartitionConfig()
		if err := p.Check(); err != nil {
			errs = append(errs, g.conflict("partition", err))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if err := g.CoreConfig().Check(); err != nil {
		return g.conflict(g.Core, err)
	}
	chip := g.ChipConfig()
	if err := chip.Check(); err != nil {
		return g.conflict("chip", err)
	}
	return nil
}

// conflict adds the keys and their values to a model's error about a table.
func (g *GPU) conflict(table string, err error) error {
	var about []string
	var c *param.Conflict
	if errors.As(err, &c) {
		for _, k := range c.Keys {
			if v, ok := g.Value(k); ok {
				about = append(about, k+" = "+v)
			}
		}
	}
	if len(about) == 0 {
		return fmt.Errorf("[%s]: %w", table, err)
	}
	return fmt.Errorf("[%s]: %w (%s)", table, err, strings.Join(about, ", "))
}

type complain func(key, format string, a ...any)

func (g *GPU) checkSM(bad complain) {
	s := &g.SM
	if s.Threads%32 != 0 || s.Threads > 64*32 {
		bad("sm.threads", "want a multiple of 32, at most 2048")
	}
	if s.SharedPerBlock > s.Shared {
		bad("sm.shared_per_block", "the SM has only sm.shared = %d", s.Shared)
	}
	if !isPower(s.SharedGranule) {
		bad("sm.shared_granule", "want a power of two")
	}
	if s.RegisterGranule > s.Registers {
		bad("sm.register_granule", "the SM has only sm.registers = %d", s.Registers)
	}
	if s.SharedReserved > s.Shared && s.Shared > 0 {
		bad("sm.shared_reserved", "the SM has only sm.shared = %d", s.Shared)
	}
}

func (g *GPU) checkL1(bad complain) {
	l := &g.L1D
	if !isPower(l.BankInterleave) {
		bad("l1d.bank_interleave", "want a power of two")
	}
	for _, x := range []struct {
		key   string
		cache *Cache
	}{{"l1c", &g.L1C}, {"l1i", &g.L1I}} {
		if x.cache.Enabled && x.cache.Sectored {
			bad(x.key+".sectored", "this cache reads whole lines")
		}
		if x.cache.Enabled && x.cache.Write != cache.ReadOnly {
			bad(x.key+".write", "nothing is written to this cache: want \"read-only\"")
		}
	}
	if !l.Adaptive {
		return
	}
	switch {
	case !l.Enabled:
		bad("l1d.adaptive", "an adaptive L1 needs l1d.enabled = true")
		return
	case l.Unified == 0:
		bad("l1d.unified", "l1d.adaptive = true needs the size of L1 and shared memory together")
		return
	case l.bytes() > l.Unified<<10:
		bad("l1d.unified", "the L1 alone has %d KiB: l1d.sets = %d, l1d.ways = %d, l1d.line = %d", l.bytes()>>10, l.Sets, l.Ways, l.Line)
	case l.Ways*(l.Unified<<10)%l.bytes() != 0:
		bad("l1d.unified", "want a whole number of ways of the L1: l1d.sets = %d, l1d.line = %d", l.Sets, l.Line)
	}
	if !slices.IsSorted(l.SharedSizes) {
		bad("l1d.shared_sizes", "want ascending order")
		return
	}
	most := l.SharedSizes[len(l.SharedSizes)-1]
	if most >= l.Unified {
		bad("l1d.shared_sizes", "the largest leaves the L1 nothing of l1d.unified = %d", l.Unified)
	}
	if g.SM.Shared > most<<10 {
		bad("sm.shared", "the largest of l1d.shared_sizes is %d KiB", most)
	}
}
