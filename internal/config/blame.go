package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The models know nothing of keys. This file finds the keys that a model's
// complaint is about.

// culprit is a part of a model's message, and the keys that it is about: $t is
// the table that was checked, $s the kind of unit that the message names.
type culprit struct{ words, keys string }

// cacheCulprits are for the tables of caches, culprits for the others.
var cacheCulprits = []culprit{
	{"sets of ", "$t.sets $t.ways"},
	{"index", "$t.index $t.sets"},
	{"does not divide the line", "$t.port $t.line"},
	{"a sector cache has lines", "$t.sectored $t.line"},
	{"must allocate on miss", "$t.write $t.allocate"},
	{"need allocation on miss", "$t.write_miss $t.allocate"},
	{"has no write allocation", "$t.write $t.write_miss"},
	{"needs a result queue", "$t.mshr $t.result_queue"},
	{"of type N", "$t.sectored $t.write $t.allocate"},
	{"would block for ever", "$t.miss_queue $t.write $t.write_miss"},
	{"line ", "$t.line"},
}

var culprits = []culprit{
	// The core.
	{"L1 banks", "l1d.banks l1d.bank_index"},
	{"L1 bank interleaving", "l1d.bank_interleave"},
	{"L1 latency", "l1d.latency"},
	{"warp parts", "simt.shared_parts"},
	{"issue per warp", "simt.issue_per_warp"},
	{"initiation interval", "simt.other_latency simt.other_initiation"},
	{"reach no collector unit", "simt.units.$s simt.collector.specialized simt.collector.$s.units simt.collector.$s.in_ports simt.collector.gen.units simt.collector.gen.in_ports simt.collector.gen.out_ports"},
	{"have no dispatch unit", "simt.collector.$s.units simt.collector.$s.out_ports simt.collector.gen.units simt.collector.gen.out_ports"},
	{"cannot be shared out", "simt.collector.specialized simt.collector.$s.units simt.collector.gen.units simt.schedulers"},
	{"no issue or execute registers", "simt.units.$s simt.issue.$s simt.exec.$s"},
	{"sub-core mode needs", "simt.sub_cores simt.issue.$s simt.exec.$s simt.schedulers"},
	{"of sub-core mode", "simt.sub_cores simt.units.$s simt.schedulers"},
	{"in sub-core mode", "simt.sub_cores simt.units.$s simt.exec.$s"},
	{"needs SP and SFU units", "simt.units.sp simt.units.sfu"},
	{"units are more than", "simt.units.sp simt.units.dp simt.units.int simt.units.sfu simt.units.tensor"},
	{"schedulers have only", "simt.schedulers sm.threads"},
	{"sub-cores have only", "modern.sub_cores sm.threads"},
	{"are no power of two", "modern.shared_banks modern.l1_banks"},
	{"caches must be perfect", "l1i.enabled modern.perfect_icache modern.perfect_const"},
	{"wide read window", "modern.wide_window modern.window"},
	{"L0I line", "modern.l0i.line"}, {"L0I has", "modern.l0i.sets modern.l0i.ways"},
	{"L0FL line", "modern.l0fl.line"}, {"L0FL has", "modern.l0fl.sets modern.l0fl.ways"},
	{"L0VL line", "modern.l0vl.line"}, {"L0VL has", "modern.l0vl.sets modern.l0vl.ways"},
	{" WAR ", "modern.address_start modern.address_cycles"}, {" RAW ", "modern.address_start modern.address_cycles"},

	// Memory.
	{"bank groups", "dram.timing.groups dram.timing.banks"},
	{" banks: want", "dram.timing.banks"},
	{"a refresh takes", "dram.timing.rfc dram.timing.refi"},
	{"a burst of", "dram.burst_length dram.data_ratio"},
	{"write queue needs", "dram.write_queue dram.scheduler"},
	{"high watermark", "dram.write_high dram.write_size"},
	{"low watermark", "dram.write_low dram.write_high"},
	{"queue to the L2", "partition.to_l2"},
	{"nothing to share", "dram.queue dram.return_queue chip.slices_per_channel"},
	{"address mapping", "partition.mapping dram.timing.banks chip.channels chip.slices_per_channel"},
	{"indexing", "partition.indexing chip.channels chip.slices_per_channel"},

	// The network and the chip.
	{"input speedup", "noc.input_speedup noc.vcs"},
	{"torus needs an even number", "noc.kind noc.vcs"},
	{"too few for", "noc.kind noc.radix noc.dimensions chip.clusters chip.channels"},
	{"terminals that can be simulated", "noc.kind noc.radix noc.dimensions"},
	{"routers would hold", "noc.kind noc.radix noc.dimensions noc.vcs noc.vc_buffer noc.flit_in_buffer noc.flit_out_buffer noc.boundary_buffer"},
	{"network buffers", "noc.in_buffer noc.out_buffer noc.flit_in_buffer noc.flit_out_buffer chip.clusters chip.channels chip.slices_per_channel"},
	{"adaptive L1 needs an L1", "l1d.sets l1d.ways l1d.line"},
	{"common measure", "clocks.core clocks.noc clocks.l2 clocks.dram"},
	{"shared memory sizes", "l1d.shared_sizes l1d.unified"},
	{"KiB would have", "l1d.unified l1d.sets l1d.line"},
	{"nodes on a side", "chip.clusters chip.channels chip.slices_per_channel"},
}

var unitWord = regexp.MustCompile(`\b(sp|dp|int|sfu|tensor|mem|spec[1-8])\b`)

// specialKey is the key of a specialised unit, which has a table of its own.
func specialKey(key string) string {
	kind, n, is := strings.Cut(key, ".spec")
	if !is || len(n) != 1 {
		return key
	}
	word := map[string]string{"simt.units": "units", "simt.issue": "issue_width", "simt.exec": "exec_width"}[kind]
	if word == "" {
		return key
	}
	return "simt.special" + n + "." + word
}

// blame adds to a model's complaint the keys that it is about, with their
// values. table is where the settings of the model stand.
func (g *GPU) blame(table string, err error) error {
	msg := err.Error()
	list, from := g.largest(msg), culprits
	if keyAt(table+".sets") != nil {
		from = cacheCulprits
	}
	for _, c := range from {
		if len(list) > 0 || !strings.Contains(msg, c.words) {
			continue
		}
		unit := unitWord.FindString(msg)
		for k := range strings.FieldsSeq(strings.NewReplacer("$t", table, "$s", unit).Replace(c.keys)) {
			list = append(list, specialKey(k))
		}
	}
	var about []string
	for _, k := range list {
		if v, ok := g.Value(k); ok && !slices.Contains(about, k+" = "+v) {
			about = append(about, k+" = "+v)
		}
	}
	if len(about) == 0 {
		return fmt.Errorf("[%s]: %w", table, err)
	}
	return fmt.Errorf("[%s]: %w (%s)", table, err, strings.Join(about, ", "))
}

// largest returns the keys with the largest share in a sum over all caches that
// is too large; nil if the message is about something else.
func (g *GPU) largest(msg string) []string {
	var parts []string
	switch {
	case strings.Contains(msg, "lines of all caches"):
		parts = []string{"sets ways"}
	case strings.Contains(msg, "pending misses of all caches"):
		parts = []string{"entries", "miss_queue", "result_queue"}
	}
	var best []string
	most := int64(-1)
	for _, t := range []string{"l1d", "l1c", "l1t", "l1i", "l2"} {
		n := int64(g.SMs())
		if t == "l2" {
			n = int64(g.Slices())
		}
		for _, p := range parts {
			of, list := n, []string(nil)
			for last := range strings.FieldsSeq(p) {
				of *= int64(g.number(t + "." + last))
				list = append(list, t+"."+last)
			}
			if of > most {
				most, best = of, list
			}
		}
	}
	if most < 0 {
		return nil
	}
	return append(best, "chip.clusters", "chip.sms_per_cluster", "chip.channels", "chip.slices_per_channel")
}
