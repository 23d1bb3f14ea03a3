package config

import (
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/mem/cache"
	"github.com/heddle-sim/heddle/internal/mem/dram"
	"github.com/heddle-sim/heddle/internal/mem/part"
)

// Ideal are the idealisations of a machine: each removes one cause of lost time. They change
// when something happens, never what is computed. Those of the memory system are here, those
// of SMs in package core.
type Ideal struct {
	L1            bool `key:"l1" help:"every read that looks into the L1 data cache hits" def:"false" source:"what-if; no machine has it"`
	L2            bool `key:"l2" help:"every access to the L2 hits" def:"false" source:"what-if; no machine has it"`
	DRAMBandwidth bool `key:"dram_bandwidth" help:"DRAM accesses never wait for each other; each takes the time of a single one" def:"false" source:"what-if; no machine has it"`
	DRAMLatency   bool `key:"dram_latency" help:"rows open and data come at once; only the rates of commands and data pins are left" def:"false" source:"what-if; no machine has it"`
	Network       bool `help:"packets in the network never wait for each other" def:"false" source:"what-if; no machine has it"`
	Launch        bool `key:"launch_latency" help:"launches and blocks begin without latency, interval or turnaround" def:"false" source:"what-if; no machine has it"`

	core.Ideal `key:"."`
}

// idealTable is the table of the idealisations in a machine's file.
const idealTable = "ideal."

// Idealisation describes an idealisation for a machine.
type Idealisation struct {
	Key        string // of the configuration
	Name       string // the key without its table
	What       string // what is removed, after "if"
	Optimistic string // why a real machine would gain less
	Missing    string // why the machine cannot have it; "" if it can
}

// idealisations are all that are switches, in the order in which they are shown.
var idealisations = []Idealisation{
	{Name: "l1", What: "every load hit the L1", Optimistic: "first touches, capacity and memory barriers cost nothing either; loads that go past the L1 (atomics, ld.cg, ld.cv) still go to the L2, and the texture cache of the simt core misses as before"},
	{Name: "mshrs", What: "misses were unlimited", Optimistic: "a miss still needs a free line in its set; hardware pays for each entry"},
	{Name: "l2", What: "every access hit the L2", Optimistic: "first touches cost nothing, and written data never leave the L2"},
	{Name: "dram_bandwidth", What: "DRAM had no bandwidth limit", Optimistic: "rows are never refreshed, and accesses to one bank overlap"},
	{Name: "dram_latency", What: "DRAM had no latency", Optimistic: "rows open at once and reads follow writes at once, so the pins reach their peak rate"},
	{Name: "network", What: "the network had no contention", Optimistic: "wires and buffers are unlimited; an SM still takes as many replies in a cycle"},
	{Name: "shared_banks", What: "shared memory had no bank conflicts", Optimistic: "atomics of several lanes on one word take one pass, too"},
	{Name: "coalescing", What: "accesses were coalesced", Optimistic: "no layout of the data may allow it; atomics and local memory stay as they are"},
	{Name: "icache", What: "every fetch hit", Optimistic: "the first execution of a kernel needs no code from memory; branches still refill the buffer"},
	{Name: "const", What: "every constant hit", Optimistic: "first touches cost nothing, and neither do different constants for the lanes of a warp"},
	{Name: "register_ports", What: "register ports were free", Optimistic: "a register file with enough ports for that would be several times as large"},
	{Name: "occupancy", What: "only threads limited the blocks of an SM", Optimistic: "registers and shared memory are as large as needed, and the L1 gives nothing up for them"},
	{Name: "launch_latency", What: "launches took no time", Optimistic: "the time of the host's call and of the driver is gone, too"},
	{Name: "divergence", What: "diverged lanes cost no issues", Optimistic: "instructions of the shorter paths execute in no time; their accesses to memory, barriers and special functions still issue"},
	{Name: "issue_width", What: "schedulers issued twice as much", Optimistic: "decoding and dependences are checked twice as fast; pipes and register ports stay as they are"},
	{Name: "double.int", What: "the integer pipe were doubled", Optimistic: "the unit's area doubles; an interval of one cycle cannot be halved"},
	{Name: "double.fp32", What: "the f32 pipe were doubled", Optimistic: "the unit's area doubles; an interval of one cycle cannot be halved"},
	{Name: "double.fp64", What: "the f64 pipe were doubled", Optimistic: "the unit's area doubles; an interval of one cycle cannot be halved"},
	{Name: "double.sfu", What: "the special function units were doubled", Optimistic: "the unit's area doubles; an interval of one cycle cannot be halved"},
	{Name: "double.tensor", What: "the tensor units were doubled", Optimistic: "the unit's area doubles; operands come as fast as they are needed"},
	{Name: "double.uniform", What: "the uniform datapath were doubled", Optimistic: "the unit's area doubles; an interval of one cycle cannot be halved"},
	{Name: "double.memory", What: "the load/store path were doubled", Optimistic: "L1, shared memory and the way back to the registers double their rates without more latency"},
}

// LineKey is the idealisation of the loads of a line, which is no switch.
const LineKey = idealTable + "line"

// Idealisations returns the idealisations, with why the machine cannot have them where it
// cannot.
func (g *GPU) Idealisations() []Idealisation {
	list := slices.Clone(idealisations)
	for i := range list {
		x := &list[i]
		x.Key = idealTable + x.Name
		x.Missing = g.lacks(x.Name)
	}
	return list
}

// ofSMs are the names of the idealisations that core models offer.
var ofSMs = core.Ideals()

// lacks says why the machine cannot have an idealisation; "" if it can. It is the only place
// that knows, with the parameters of core models.
func (g *GPU) lacks(name string) string {
	m := core.ModelOf(g.Core)
	switch {
	case slices.Contains(ofSMs, name) && m != nil && !slices.Contains(m.Ideals, name):
		return "not for this core: the core model " + m.Name + " does not offer it"
	case (name == "l1" || name == "line") && !g.L1D.Enabled:
		return "the machine has no L1 data cache"
	case name == "l2" && !g.L2.Enabled:
		return "the machine has no L2"
	case strings.HasPrefix(name, "dram_") && g.DRAM.FixedLatency:
		return "the machine has no model of the DRAM (dram.fixed_latency)"
	case m != nil:
		if x, ok := g.params(g.Core).(core.Limited); ok {
			return x.Lacks(name)
		}
	}
	return ""
}

// idealised returns the names of the idealisations that are on.
func (g *GPU) idealised() []string {
	if g.Ideal == (Ideal{}) {
		return nil
	}
	var names []string
	for i := range keys() {
		k := &keys()[i]
		if name, ok := strings.CutPrefix(k.Name, idealTable); ok && !g.at(k).IsZero() {
			names = append(names, name)
		}
	}
	return names
}

// checkIdeal reports idealisations that are on although the machine cannot have them.
func (g *GPU) checkIdeal(bad complain) {
	for _, name := range g.idealised() {
		if why := g.lacks(name); why != "" {
			bad(idealTable+name, "%s", why)
		}
	}
	if l := g.Ideal.Line; l != "" {
		if _, _, ok := core.SplitLine(l); !ok {
			bad(LineKey, "want FILE:LINE, such as kernel.cu:42")
		}
	}
}

// manyMisses are more pending misses than an L1 or an L2 slice has sectors (our choice: 128
// KiB in sectors of 32 bytes).
const manyMisses = 4096

// idealCache applies the idealisations to a cache of a table.
func (g *GPU) idealCache(table string, c *cache.Config) {
	data := strings.HasPrefix(table, "l1d") || table == "l2"
	if g.Ideal.MSHRs && data && !c.IsTexture() {
		c.Entries, c.Merge, c.MissQueue = max(c.Entries, manyMisses), max(c.Merge, manyMisses), max(c.MissQueue, manyMisses)
	}
	c.Perfect = g.Ideal.L1 && strings.HasPrefix(table, "l1d") || g.Ideal.L2 && table == "l2"
}

// idealDRAM applies the idealisations to a channel.
func (g *GPU) idealDRAM(c *dram.Config) {
	if g.Ideal.DRAMLatency {
		t := &c.Timing
		t.RCD, t.RAS, t.RP, t.RC, t.CDLR, t.WR, t.RTPL = 0, 0, 0, 0, 0, 0, 0
		t.CL, t.WL = 1, 1
		c.NoTurnaround = true
	}
}

// idealPartition applies the idealisations to the partitions.
func (g *GPU) idealPartition(c *part.Config) {
	if g.Ideal.DRAMLatency {
		c.DRAMLatency = 0
	}
	if g.Ideal.DRAMBandwidth {
		d := &c.DRAM
		hit := d.CL + d.BurstCycles()
		c.Open = part.Open{On: true, Hit: g.coreCycles(hit), Empty: g.coreCycles(hit + d.RCD), Other: g.coreCycles(hit + d.RCD + d.RP)}
	}
}

// coreCycles converts DRAM cycles to core cycles, rounded up.
func (g *GPU) coreCycles(n int) int {
	kHz := max(1, int64(g.Clocks.DRAM)/1e3)
	return int((int64(n)*(int64(g.Clocks.Core)/1e3) + kHz - 1) / kHz)
}
