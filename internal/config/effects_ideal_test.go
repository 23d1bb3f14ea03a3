package config_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/config"
	heddlecore "github.com/heddle-sim/heddle/internal/core"
)

// idealCase is an idealisation, a kernel that it makes faster, and one that it leaves as it
// is. The kernels are those of bodies; with are settings of all runs.
type idealCase struct {
	key            string // without the table
	faster, spared string
	with           string
	core           string // "" for both
	spare          string // further settings of the runs of the spared one
	least          uint64 // percent that must be saved, of what the kernel makes likely
}

// split is a kernel whose lanes take two paths of the same length, with much arithmetic.
func init() {
	path := func(r string) string { return strings.Repeat(" mad.lo.u32 "+r+", "+r+", 3, 1;\n", 24) }
	bodies["split"] = [2]string{"", " and.b32 %r4, %r1, 1;\n setp.ne.u32 %p1, %r4, 0;\n @%p1 bra L;\n" + path("%r10") + " bra.uni M;\nL:\n" + path("%r11") +
		"M:\n add.u32 %r12, %r10, %r11;\n st.global.u32 [%rd2], %r12;\n"}
	// Three registers of one bank for each instruction.
	bodies["reads"] = [2]string{"", times(48, "fma.rn.f32 %f1$d, %f24, %f32, %f40;")}
	// Independent instructions for three pipes.
	bodies["pairs"] = [2]string{"", times(24, "add.f32 %f1$d, %f20, 0f3F800000;\nxor.b32 %r1$d, %r20, 3;\nsetp.ne.u32 %p$b, %r21, 3;")}
}

var idealCases = []idealCase{
	{"l1", "stream", "flood_int_add", "", "", "", 60},
	{"mshrs", "stream", "flood_int_add", "l1d.entries=1", "", "", 80},
	{"l2", "rows", "flood_int_add", perfect, "", "", 40},
	{"dram_bandwidth", "rows", "flood_int_add", perfect, "", "", 5},
	{"dram_latency", "chase", "flood_int_add", perfect, "", "", 30},
	{"network", "rows", "flood_int_add", perfect, "", "", 0},
	{"launch_latency", "empty", "flood_int_add", "run.launch_latency=500", "", "run.launch_latency=0", 60},
	{"shared_banks", "shared", "stream", "", "", "", 15},
	{"coalescing", "rows", "shared", "", "", "", 50},
	{"icache", "mix", "empty", "l1i.miss_queue=64", "", "run.icache=warm\nmodern.perfect_icache=true", 15},
	{"const", "consts", "flood_int_add", "", "", "", 45},
	{"register_ports", "reads.many", "chain_int_add", perfect, "modern", "", 20},
	{"register_ports", "banks.many", "chain_int_add", perfect, "simt", "", 20},
	{"occupancy", "chase.many", "flood_int_add", "sm.blocks=1", "", "", 25},
	{"divergence", "split", "banks", perfect, "", "", 15},
	{"issue_width", "pairs.many", "chain_int_add", perfect + "\n-gpgpu_operand_collector_num_units_gen 16\n-gpgpu_operand_collector_num_in_ports_gen 8\n-gpgpu_operand_collector_num_out_ports_gen 8", "", "-gpgpu_inst_fetch_throughput 16", 15},
	{"double.int", "flood_int_add", "flood_fp_add", perfect, "modern", "", 25},
	{"double.int", "flood_int_mul", "flood_fp_add", perfect, "simt", "", 25},
	{"double.fp32", "flood_fp_mad", "flood_int_mul", perfect + "\nmodern.fp32_on_int=false", "", "", 40},
	{"double.fp64", "flood_dp_mad", "flood_int_mul", perfect, "", "", 40},
	{"double.sfu", "flood_sfu", "flood_int_mul", perfect, "", "", 40},
	{"double.tensor", "flood_tensor", "flood_int_mul", perfect, "", "", 3},
	{"double.memory", "shared", "flood_int_mul", perfect, "", "", 20},
}

// cycles runs a kernel on a machine.
func cyclesOf(t *testing.T, lines, on string) outcome {
	t.Helper()
	o := perform(t, base(t, lines), loadOf(on))
	if o.end != "" {
		t.Fatalf("%s: ended with %s: %s", on, o.end, o.explains)
	}
	return o
}

// TestIdealisations checks for both cores that each idealisation makes a kernel faster that
// suffers from what it removes, and leaves one alone that does not.
func TestIdealisations(t *testing.T) {
	for i, c := range idealCases {
		for k, core := range []string{"simt", "modern"} {
			if (i+k)%4 != 0 && !alltests.On() {
				continue
			}
			if c.core != "" && c.core != core {
				continue
			}
			t.Run(core+" "+c.key, func(t *testing.T) {
				with := c.with + "\ncore=" + core
				if core == "modern" {
					with += "\nmodern.perfect_icache=" + fmt.Sprint(c.key != "icache")
				}
				on := with + "\nideal." + c.key + "=true"
				if a, b := cyclesOf(t, with, c.faster).cycles, cyclesOf(t, on, c.faster).cycles; b >= a || 100*(a-b) < c.least*a {
					t.Errorf("%s takes %d cycles, and %d with ideal.%s; want at least %d %% less", c.faster, a, b, c.key, c.least)
				} else {
					t.Logf("%s: %d → %d", c.faster, a, b)
				}
				with, on = with+"\n"+c.spare, on+"\n"+c.spare
				if a, b := cyclesOf(t, with, c.spared).cycles, cyclesOf(t, on, c.spared).cycles; b != a {
					t.Errorf("%s takes %d cycles, and %d with ideal.%s", c.spared, a, b, c.key)
				}
			})
		}
	}
}

// TestFreeInstructions checks that instructions of diverged lanes that execute for nothing
// count as executed by their threads, but not as issues.
func TestFreeInstructions(t *testing.T) {
	for _, core := range []string{"simt", "modern"} {
		t.Run(core, func(t *testing.T) {
			with := perfect + "\ncore=" + core
			count := func(o outcome, name string) uint64 {
				n, ok := o.numbers[".SM."+name]
				if !ok {
					t.Fatalf("no counter %s", name)
				}
				return n
			}
			all, free := cyclesOf(t, with, "split"), cyclesOf(t, with+"\nideal.divergence=true", "split")
			if a, b := count(all, "ThreadInsts"), count(free, "ThreadInsts"); a != b {
				t.Errorf("%d instructions of threads, and %d with ideal.divergence", a, b)
			}
			if a, b := count(all, "WarpInsts"), count(free, "WarpInsts"); 10*b > 7*a {
				t.Errorf("%d issues, and %d with ideal.divergence", a, b)
			}
		})
	}
}

// TestIssueRates checks that the issues that a core can make double with its schedulers'.
func TestIssueRates(t *testing.T) {
	for _, core := range []string{"simt", "modern"} {
		t.Run(core, func(t *testing.T) {
			most := func(lines string) int { return base(t, lines).ChipConfig().Core.(heddlecore.Rated).Rates().Issues }
			if a, b := most("core="+core), most("core="+core+"\nideal.issue_width=true"); a == 0 || b != 2*a {
				t.Errorf("%d issues in a cycle, and %d with ideal.issue_width", a, b)
			}
		})
	}
}

// TestDoubledUniform is TestIdealisations for the uniform datapath, which PTX does not name.
func TestDoubledUniform(t *testing.T) {
	const set = "ideal.double.uniform=true"
	if a, b := performSASS(t, "", "uniform").cycles, performSASS(t, set, "uniform").cycles; b >= a {
		t.Errorf("uniform takes %d cycles, and %d with %s", a, b, set)
	}
	if a, b := performSASS(t, "", "mufu").cycles, performSASS(t, set, "mufu").cycles; b != a {
		t.Errorf("mufu takes %d cycles, and %d with %s", a, b, set)
	}
}

// idealEffects has the idealisations among all effects of settings.
var idealEffects = func() []effect {
	var list []effect
	for _, c := range idealCases {
		with, core := c.with, c.core
		if core == "" {
			core = "simt"
		}
		list = append(list, effect{"ideal." + c.key + "=true", c.faster, "less", strings.TrimSpace(with + "\ncore=" + core)})
	}
	return append(list, effect{"ideal.line=chase.ptx:22", "chase", "less", ""})
}()

// TestIdealisationsAreListed checks that each key of the table is described, and that all
// core models of this repository obey all of them.
func TestIdealisationsAreListed(t *testing.T) {
	for _, name := range []string{"rtx-3070", "rtx-a6000"} {
		g, err := config.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		list := g.Idealisations()
		for _, x := range list {
			if _, ok := g.Value(x.Key); !ok || x.What == "" || x.Optimistic == "" || x.Missing != "" {
				t.Errorf("%s: %+v", name, x)
			}
		}
		for _, k := range config.Keys() {
			if strings.HasPrefix(k.Name, "ideal.") && k.Name != config.LineKey && !slices.ContainsFunc(list, func(x config.Idealisation) bool { return x.Key == k.Name }) {
				t.Errorf("%s is not described", k.Name)
			}
			if strings.HasPrefix(k.Name, "ideal.") && (k.Source == "" || k.Help == "") {
				t.Errorf("%s has no help or source", k.Name)
			}
		}
	}
}

// TestIdealisationsRefused checks what is said of idealisations that a machine cannot have.
func TestIdealisationsRefused(t *testing.T) {
	for _, c := range []struct{ name, set, want string }{
		{"no L1", "l1d.enabled=false\nideal.l1=true", "ideal.l1 = true: the machine has no L1 data cache"},
		{"no L2", "l2.enabled=false\nideal.l2=true", "ideal.l2 = true: the machine has no L2"},
		{"no DRAM", "dram.fixed_latency=true\nideal.dram_latency=true", "the machine has no model of the DRAM"},
		{"two issues", "core=simt\nsimt.issue_per_warp=2\nideal.issue_width=true", "two instructions of a warp in a cycle already"},
		{"a line without number", "ideal.line=kernel.cu", "want FILE:LINE, such as kernel.cu:42"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := base(t, "")
			for _, s := range strings.Split(c.set, "\n") {
				if err := g.Set(s); err != nil {
					t.Fatal(err)
				}
			}
			if err := g.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("refused with %v, want %q", err, c.want)
			}
		})
	}
}
