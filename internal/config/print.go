package config

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/mem/noc"
)

// WriteTOML writes the whole GPU as a file that Load reads: above each value its
// description and unit, after it its source.
func (g *GPU) WriteTOML(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# %s: the whole configuration. Above each value is its description, after it its\n# source. To change only a few values, write a file that starts with\n# extends = %q.\n", g.Name, g.Name)
	if list := g.Derived(); len(list) > 0 {
		fmt.Fprintf(b, "#\n# Derived figures:\n")
		for _, d := range list {
			fmt.Fprintf(b, "#   %-22s %s\n", d.Name, d.Value)
		}
	}
	table := ""
	fmt.Fprintln(b)
	for i := range keys() {
		k := &keys()[i]
		if g.pointless(k) {
			continue
		}
		head, rest, nested := strings.Cut(k.Name, ".")
		if !nested {
			head, rest = "", k.Name
		}
		if head != table {
			table = head
			fmt.Fprintf(b, "\n[%s]\n", table)
		}
		fmt.Fprintf(b, "%s\n%s = %s", comment(k), rest, g.format(k))
		if s := g.sources[k.Name]; s != "" {
			fmt.Fprintf(b, "  # %s", s)
		}
		fmt.Fprintln(b)
	}
	return b.Flush()
}

// comment describes a value in a comment of TOML.
func comment(k *Key) string {
	what := "# " + k.Help
	if k.Unit != "" {
		what += " [" + k.Unit + "]"
	}
	if k.Enum != nil {
		what += ": " + strings.Join(nonempty(k.Enum), ", ")
	}
	if k.Inert != "" {
		what += " (affects no result: " + k.Inert + ")"
	}
	return what
}

func nonempty(list []string) []string {
	var out []string
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// pointless reports whether a value belongs to something that the GPU does not
// have: a disabled cache, a kind of unit with the number 0, or a core that it
// neither uses nor has parameters for.
func (g *GPU) pointless(k *Key) bool {
	table, last, _ := cutLast(k.Name)
	if on := keyAt(table + ".enabled"); on != nil && last != "enabled" && !g.at(on).Bool() {
		return keyAt("l1c."+last) != nil
	}
	if m := core.ModelOf(k.Root); m != nil && m.Whole && g.Core != m.Name && g.sources[k.Name] == byDefault {
		return true
	}
	u := keyAt(table + ".units")
	return u != nil && u.Gate && u != k && g.number(u.Name) == 0
}

// Derived is a figure derived from a GPU's values.
type Derived struct {
	Name  string // what it is
	Value string // with its unit
}

// Derived returns the figures of a data sheet, and those that the models compute
// themselves.
func (g *GPU) Derived() []Derived {
	var list []Derived
	add := func(name, format string, a ...any) {
		list = append(list, Derived{name, fmt.Sprintf(format, a...)})
	}
	sms := g.SMs()
	add("SMs", "%d", sms)
	add("warps per SM", "%d", g.SM.Threads/32)
	described, _ := g.params(g.Core).(core.Described)
	if described != nil {
		described.Peaks(g.machine(), int64(g.Clocks.Core), add)
	}
	if g.L1D.Enabled {
		kib := g.L1D.bytes() >> 10
		if g.L1D.Adaptive {
			add("L1 per SM", "%d KiB, up to %d KiB with little shared memory", kib, g.L1D.Unified)
		} else {
			add("L1 per SM", "%d KiB", kib)
		}
	}
	if g.L2.Enabled {
		slices := g.Slices()
		add("L2", "%d KiB in %d slices", g.L2Bytes()>>10, slices)
		add("L2 bandwidth", "%s GB/s (32 bytes per slice and cycle)", core.PerGiga(32*int64(slices)*int64(g.Clocks.L2)))
	}
	if !g.DRAM.FixedLatency {
		add("DRAM access", "%d bytes", g.DRAM.BurstLength*g.DRAM.BusBytes*g.DRAM.Chips)
		add("DRAM bandwidth", "%s GB/s", g.DRAMBandwidth())
	}
	if net, _ := g.NoCConfig(); net.Kind != noc.Local && net.Check() == nil {
		add("network", "%s; at most %d cycles when empty", net.Shape(), net.Longest())
		if net.Kind != noc.Fly {
			for i, row := range strings.Split(net.Map(), "\n") {
				add(fmt.Sprint("network row ", i), "%s", row)
			}
		}
	}
	if described != nil {
		described.Depths(add)
	}
	return list
}

// SMs is the number of SMs of the chip.
func (g *GPU) SMs() int { return g.Chip.Clusters * g.Chip.SMsPerCluster }

// Slices is the number of L2 slices of the chip.
func (g *GPU) Slices() int { return g.Chip.Channels * g.Chip.SlicesPerChannel }

// L2Bytes is the size of the L2 of the whole chip.
func (g *GPU) L2Bytes() int { return g.Slices() * g.L2.bytes() }

// DRAMBandwidth is the peak rate of all channels, in GB/s with one decimal.
func (g *GPU) DRAMBandwidth() string {
	// In steps (kHz, then bytes), so that absurd values do not overflow.
	bytes := int64(g.DRAM.BusBytes) * int64(g.DRAM.Chips) * int64(g.DRAM.DataRatio)
	kHz := int64(g.Clocks.DRAM) / 1e3
	if bytes > (1<<62)/kHz/int64(g.Chip.Channels) {
		return "more than 4.6e12" // 2^62 kB/s
	}
	n := int64(g.Chip.Channels) * bytes * kHz / 1e3 // MB/s
	n = (n + 50) / 100
	return fmt.Sprintf("%d.%d", n/10, n%10)
}

func (c *Cache) bytes() int {
	if !c.Enabled {
		return 0
	}
	return c.Sets * c.Ways * c.Line
}

// WriteOptions lists the use of the options of GPGPU-Sim's files.
func WriteOptions(w io.Writer, options []Option) error {
	b := bufio.NewWriter(w)
	for use := range Use(len(useNames)) {
		first := true
		for _, o := range options {
			if o.Use != use {
				continue
			}
			if first {
				fmt.Fprintf(b, "%s:\n", use)
				first = false
			}
			what := o.Note
			if len(o.Keys) > 0 && use == Honoured {
				what = strings.Join(o.Keys, " ")
			}
			fmt.Fprintf(b, "  %s %s  # %s\n", o.Name, o.Value, what)
		}
	}
	return b.Flush()
}
