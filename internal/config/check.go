package config

import (
	"errors"
	"fmt"
	"slices"
)

// maxSMs bounds the SMs of a chip; the largest there are have fewer than 200.
const maxSMs = 4096

// Check reports what does not fit together, all of it.
func (g *GPU) Check() error {
	var errs []error
	bad := func(key, format string, a ...any) {
		v, _ := g.Value(key)
		errs = append(errs, fmt.Errorf("%s = %.60s: %s", key, v, fmt.Sprintf(format, a...)))
	}
	if n := g.SMs(); n > maxSMs {
		bad("chip.clusters", "%d SMs in all are more than %d (chip.sms_per_cluster = %d)", n, maxSMs, g.Chip.SMsPerCluster)
	}
	if !isPower(g.Chip.SlicesPerChannel) {
		bad("chip.slices_per_channel", "the number of slices of a channel must be a power of two")
	}
	var major, minor int
	if n, err := fmt.Sscanf(g.ComputeCapability+"\n", "%d.%d\n", &major, &minor); err != nil || n != 2 || major < 0 || minor < 0 || minor > 9 {
		bad("compute_capability", "write major.minor, such as 8.6")
	}
	g.checkSM(bad)
	if g.Core == "simt" {
		g.checkSIMT(bad)
	}
	g.checkL1(bad)

	// What is left is for the models to say. Their messages are about the
	// tables named.
	tables := []string{"l1d", "l1c", "l1t", "l1i", "l2", "l1d.prefer_l1", "l1d.prefer_shared"}
	broken := false
	for _, t := range tables {
		c := g.CacheConfig(t)
		if err := c.Check(); err != nil {
			errs = append(errs, g.blame(t, err))
			broken = true
			continue
		}
		if want := t == "l1t"; !c.Disabled && c.IsTexture() != want {
			if want {
				bad(t+".mshr", "a texture cache takes fifo or sector-fifo")
			} else {
				bad(t+".mshr", "fifo and sector-fifo are for the texture cache")
			}
		}
	}
	for _, t := range []string{"l1i", "l1c"} {
		if !g.CacheConfig(t).Disabled || g.Core == "modern" || g.SIMT.PerfectInstConst {
			continue // the modern core speaks for itself
		}
		bad(t+".enabled", "an SM needs this cache unless simt.perfect_inst_const is true")
	}
	if err := g.DRAMConfig().Check(); err != nil {
		errs = append(errs, g.blame("dram", err))
		broken = true
	}
	if !broken {
		p := g.PartitionConfig()
		if err := p.Check(); err != nil {
			errs = append(errs, g.blame("partition", err))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if g.Core == "modern" {
		core := g.ModernConfig()
		if err := core.Check(); err != nil {
			return g.blame("modern", err)
		}
	} else {
		core := g.SIMTConfig()
		if err := core.Check(); err != nil {
			return g.blame("simt", err)
		}
	}
	chip := g.ChipConfig()
	if err := chip.Check(); err != nil {
		return g.blame("chip", err)
	}
	return nil
}

type complain func(key, format string, a ...any)

func (g *GPU) checkSM(bad complain) {
	s := &g.SM
	if s.Threads%32 != 0 || s.Threads > 64*32 {
		bad("sm.threads", "want a multiple of 32, at most 2048")
	}
	if w := s.Threads / 32; g.Core == "simt" && g.SIMT.Schedulers > w {
		bad("simt.schedulers", "there are only %d warps (sm.threads = %d)", w, s.Threads)
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

func (g *GPU) checkSIMT(bad complain) {
	s := &g.SIMT
	// An instruction enters its unit at stage latency − initiation.
	for i := range keys {
		k := &keys[i]
		var of string
		switch table, last, _ := cutLast(k.Name); {
		case table == "simt.initiation":
			of = "simt.latency." + last
		case table == "simt.trace_initiation":
			of = "simt.trace_latency." + last
		case last == "initiation" && keyAt[table+".units"].at(g).Int() > 0:
			of = table + ".latency"
		default:
			continue
		}
		if l := keyAt[of].at(g).Int(); k.at(g).Int() > l {
			bad(k.Name, "the next instruction cannot wait longer than the latency, %s = %d", of, l)
		}
	}
	for i := range s.Special {
		if x := &s.Special[i]; x.Units > 0 && x.Depth < x.Latency {
			at := fmt.Sprintf("simt.special%d", i+1)
			bad(at+".depth", "an instruction needs %s.latency = %d", at, x.Latency)
		}
	}
	if s.SubCores {
		n := s.Schedulers
		for _, x := range []struct {
			key   string
			width int
			units int
		}{
			{"sp", s.Issue.SP, s.Units.SP}, {"dp", s.Issue.DP, s.Units.DP}, {"int", s.Issue.Int, s.Units.Int},
			{"sfu", s.Issue.SFU, s.Units.SFU}, {"tensor", s.Issue.Tensor, s.Units.Tensor}, {"mem", s.Issue.Mem, 1},
		} {
			if x.units > 0 && x.width != n {
				bad("simt.issue."+x.key, "with simt.sub_cores each of the simt.schedulers = %d has one register", n)
			}
		}
		if s.Collector.Banks%n != 0 {
			bad("simt.collector.banks", "with simt.sub_cores the banks are shared out among simt.schedulers = %d", n)
		}
		if s.Collector.Gen.Units%n != 0 {
			bad("simt.collector.gen.units", "with simt.sub_cores the collectors are shared out among simt.schedulers = %d", n)
		}
	}
	if s.Units.Tensor > 0 && !s.TensorPort {
		bad("simt.units.tensor", "without simt.tensor_port nothing reaches them")
	}
}

// sectorAccesses reports whether all accesses of global and local memory are of
// 32 bytes at most.
func (g *GPU) sectorAccesses() bool {
	arch := g.SIMT.CoalesceArch
	return arch >= 40 || 20 <= arch && arch < 39 && g.L1D.SkipGlobal
}

func (g *GPU) checkL1(bad complain) {
	l := &g.L1D
	if !isPower(l.BankInterleave) {
		bad("l1d.bank_interleave", "want a power of two")
	}
	// An access of several sectors has no place in a cache that fills them one
	// by one.
	for _, x := range []struct {
		key   string
		cache *Cache
	}{{"l1d", &l.Cache}, {"l1d.prefer_l1", &l.PreferL1}, {"l1d.prefer_shared", &l.PreferShared}} {
		if x.cache.Enabled && x.cache.Sectored && !g.sectorAccesses() {
			bad(x.key+".sectored", "with simt.coalesce_arch = %d accesses are as long as lines; want 40 and more, or 20 to 38 and l1d.skip_global", g.SIMT.CoalesceArch)
		}
	}
	for _, x := range []struct {
		key   string
		cache *Cache
	}{{"l1c", &g.L1C}, {"l1i", &g.L1I}} {
		if x.cache.Enabled && x.cache.Sectored {
			bad(x.key+".sectored", "this cache is read by whole lines")
		}
		if x.cache.Enabled && x.cache.Write != "read-only" {
			bad(x.key+".write", "nothing is written to this cache: want \"read-only\"")
		}
	}
	if !l.Adaptive {
		return
	}
	switch {
	case !l.Enabled:
		bad("l1d.adaptive", "there is no L1 (l1d.enabled = false)")
		return
	case l.Unified == 0:
		bad("l1d.unified", "an adaptive L1 needs the size of L1 and shared memory together (l1d.adaptive = true)")
		return
	case l.bytes() > l.Unified<<10:
		bad("l1d.unified", "the L1 alone has %d KiB: l1d.sets = %d, l1d.ways = %d, l1d.line = %d", l.bytes()>>10, l.Sets, l.Ways, l.Line)
	case l.Ways*(l.Unified<<10)%l.bytes() != 0:
		bad("l1d.unified", "it is no whole number of ways of the L1: l1d.sets = %d, l1d.line = %d", l.Sets, l.Line)
	}
	if !slices.IsSorted(l.SharedSizes) {
		bad("l1d.shared_sizes", "want them in ascending order")
		return
	}
	most := l.SharedSizes[len(l.SharedSizes)-1]
	if most >= l.Unified {
		bad("l1d.shared_sizes", "the largest leaves nothing of l1d.unified = %d to the L1", l.Unified)
	}
	if g.SM.Shared > most<<10 {
		bad("sm.shared", "the largest of l1d.shared_sizes is %d KiB", most)
	}
}
