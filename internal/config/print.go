package config

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/heddle-sim/heddle/internal/mem/noc"
)

// WriteTOML writes the whole GPU as a file that Load reads: above each value
// what it is and what it counts, behind it where it comes from.
func (g *GPU) WriteTOML(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# %s: the whole configuration. Above each value stands what it is, behind it\n# where it comes from. To change a few values only, write a file that begins\n# with extends = %q.\n", g.Name, g.Name)
	if list := g.Derived(); len(list) > 0 {
		fmt.Fprintf(b, "#\n# What follows from it:\n")
		for _, d := range list {
			fmt.Fprintf(b, "#   %-22s %s\n", d.Name, d.Value)
		}
	}
	table := ""
	fmt.Fprintln(b)
	for i := range keys {
		k := &keys[i]
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
		what := k.Help
		if k.Unit != "" {
			what += " [" + k.Unit + "]"
		}
		if k.Enum != nil {
			what += ": " + strings.Join(nonempty(k.Enum), ", ")
		}
		if k.Inert != "" {
			what += " (changes no number: " + k.Inert + ")"
		}
		fmt.Fprintf(b, "# %s\n%s = %s", what, rest, k.format(g))
		if s := g.sources[k.Name]; s != "" {
			fmt.Fprintf(b, "  # %s", s)
		}
		fmt.Fprintln(b)
	}
	return b.Flush()
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

// pointless reports whether a value stands below something that is not there:
// a cache that is switched off, a unit of which there are none, a core that the
// GPU neither has nor has parameters for.
func (g *GPU) pointless(k *Key) bool {
	table, last, _ := cutLast(k.Name)
	if on := keyAt[table+".enabled"]; on != nil && last != "enabled" && !on.at(g).Bool() {
		_, isCache := cacheFields[last]
		return isCache
	}
	if strings.HasPrefix(k.Name, modernStart) && g.Core != "modern" && g.sources[k.Name] == byDefault {
		return true
	}
	if strings.HasPrefix(table, "simt.special") && last != "units" {
		return keyAt[table+".units"].at(g).Int() == 0
	}
	return false
}

// cacheFields are the last parts of the keys of a Cache.
var cacheFields = func() map[string]bool {
	m := map[string]bool{}
	for i := range keys {
		if rest, ok := strings.CutPrefix(keys[i].Name, "l1c."); ok {
			m[rest] = true
		}
	}
	return m
}()

// Derived is a figure that follows from a GPU's values.
type Derived struct {
	Name  string // what it is
	Value string // with its unit
}

// Derived returns the figures that one looks for on a data sheet, and those
// that the models work out by themselves.
func (g *GPU) Derived() []Derived {
	var list []Derived
	add := func(name, format string, a ...any) {
		list = append(list, Derived{name, fmt.Sprintf(format, a...)})
	}
	sms := g.SMs()
	add("SMs", "%d", sms)
	add("warps per SM", "%d", g.SM.Threads/32)
	if g.Core == "modern" {
		g.modernPeaks(add)
	} else {
		add("f32 peak", "%s Gflop/s (%d units of 32 lanes, one fma each in %d cycles)",
			perGiga(2*32*int64(sms)*int64(g.SIMT.Units.SP)*int64(g.Clocks.Core)/int64(max(1, g.SIMT.Initiation.FPMad))), g.SIMT.Units.SP*sms, g.SIMT.Initiation.FPMad)
		if n := int64(sms) * int64(g.SIMT.Units.DP); n > 0 {
			add("f64 peak", "%s Gflop/s (%d units of 32 lanes, one fma each in %d cycles)",
				perGiga(2*32*n*int64(g.Clocks.Core)/int64(max(1, g.SIMT.Initiation.DPMad))), n, g.SIMT.Initiation.DPMad)
		}
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
		add("L2 bandwidth", "%s GB/s (32 bytes per slice and cycle)", perGiga(32*int64(slices)*int64(g.Clocks.L2)))
	}
	if !g.DRAM.FixedLatency {
		add("DRAM access", "%d bytes", g.DRAM.BurstLength*g.DRAM.BusBytes*g.DRAM.Chips)
		add("DRAM bandwidth", "%s GB/s", g.DRAMBandwidth())
	}
	if net, _ := g.NoCConfig(); net.Kind != noc.Local && net.Check() == nil {
		add("network", "%s; at most %d cycles when it is empty", net.Shape(), net.Longest())
		if net.Kind != noc.Fly {
			for i, row := range strings.Split(net.Map(), "\n") {
				add(fmt.Sprint("network row ", i), "%s", row)
			}
		}
	}
	if g.Core == "simt" {
		add("unit depth", "int %d, sp %d, dp %d, sfu %d, tensor %d cycles, the longest latency of each", g.depth(0), g.depth(1), g.depth(2), g.depth(3), g.depth(4))
	}
	return list
}

// modernPeaks adds the peaks of a modern core: fused multiply-adds of its pipes,
// and products of half words in its tensor units, by HMMA with accumulators of
// both kinds.
func (g *GPU) modernPeaks(add func(name, format string, a ...any)) {
	m := &g.Modern
	sms, core := int64(g.SMs()), int64(g.Clocks.Core)
	// Products in so many cycles of a unit of which there are n on an SM.
	peak := func(n, products, cycles int64) string { return perGiga(2 * products * n * sms * core / max(1, cycles)) }
	pipes, every := 1, int64(m.Time.FP32.Interval)
	if m.FP32OnInt && m.Time.FP32.Pipe == "fp32" {
		pipes = 2
	}
	// A sub-core issues one instruction a cycle.
	each := max(1, float64(every)/float64(pipes))
	add("f32 peak", "%s Gflop/s (%d sub-cores an SM, one FFMA each in %g cycles)", perGiga(int64(2*32*float64(int64(m.SubCores)*sms*core)/each)), m.SubCores, each)
	if n := int64(m.Time.FP64.Interval); m.Time.FP64.Pipe == "fp64" {
		add("f64 peak", "%s Gflop/s (one DFMA an SM in %d cycles)", peak(1, 32, n), n)
	}
	shape, products := "16816", int64(16*8*16)
	if g.Architecture == "turing" { // the largest that it has
		shape, products = "1688", 16*8*8
	}
	half := products * 16 / 2048 / 2
	f32, f16 := 2*half+int64(m.TensorExtra), half*int64(m.TensorHalves)
	add("tensor peak", "%s Gflop/s with f32 accumulators, %s with f16 (%d sub-cores an SM, one HMMA.%s each in %d and %d cycles)",
		peak(int64(m.SubCores), products, f32), peak(int64(m.SubCores), products, f16), m.SubCores, shape, f32, f16)
}

// perGiga writes n in billions with one decimal.
func perGiga(n int64) string {
	n = (n + 5e7) / 1e8
	return fmt.Sprintf("%d.%d", n/10, n%10)
}

// SMs is the number of SMs of the chip.
func (g *GPU) SMs() int { return g.Chip.Clusters * g.Chip.SMsPerCluster }

// Slices is the number of L2 slices of the chip.
func (g *GPU) Slices() int { return g.Chip.Channels * g.Chip.SlicesPerChannel }

// L2Bytes is the size of the L2 of the whole chip.
func (g *GPU) L2Bytes() int { return g.Slices() * g.L2.bytes() }

// DRAMBandwidth is what all channels can move, in GB/s with one decimal.
func (g *GPU) DRAMBandwidth() string {
	// In steps, so that absurd values do not overflow: kHz, then bytes.
	bytes := int64(g.DRAM.BusBytes) * int64(g.DRAM.Chips) * int64(g.DRAM.DataRatio)
	kHz := int64(g.Clocks.DRAM) / 1e3
	if bytes > (1<<62)/kHz/int64(g.Chip.Channels) {
		return "absurdly many"
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

// depth is the number of stages that a kind of unit needs: int, sp, dp, sfu,
// tensor.
func (g *GPU) depth(unit int) int {
	l, t := &g.SIMT.Latency, &g.SIMT.TraceLatency
	switch unit {
	case 0:
		return max(l.IntAdd, l.IntMax, l.IntMul, l.IntMad, l.IntShfl, t.Int)
	case 1:
		return max(l.FPAdd, l.FPMax, l.FPMul, l.FPMad, t.SP)
	case 2:
		return max(l.DPAdd, l.DPMax, l.DPMul, l.DPMad, t.DP)
	case 3:
		return max(l.SFU, l.IntDiv, l.FPDiv, l.DPDiv, t.SFU)
	}
	return max(l.Tensor, t.Tensor)
}

// WriteOptions lists what became of the options of GPGPU-Sim's files.
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
