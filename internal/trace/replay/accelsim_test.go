package replay

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/trace"
)

// theirs is a launch in Accel-Sim's table.
type theirs struct {
	insts, cycles          float64
	l1, l1hit, l2, l2hit   float64
	reads, writes          float64
	hasL1, hasL2           bool
	config, trace, ordinal string
}

func readTheirs(t *testing.T) []theirs {
	f, err := os.Open(filepath.Join(shared, "accel-sim-runs", "summary.csv"))
	if err != nil {
		t.Skip("the reference runs are not here")
	}
	defer f.Close()
	c := csv.NewReader(f)
	c.FieldsPerRecord = -1 // host times are in the rows of totals only
	rows, err := c.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, n := range rows[0] {
		at[n] = i
	}
	var list []theirs
	for _, r := range rows[1:] {
		if r[at["kernel"]] == "TOTAL" {
			continue
		}
		num := func(name string) float64 {
			v, _ := strconv.ParseFloat(r[at[name]], 64)
			return v
		}
		list = append(list, theirs{config: r[at["config"]], trace: r[at["trace"]], ordinal: r[at["kernel"]],
			insts: num("warp_instr_trace"), cycles: num("gpu_sim_cycle"),
			l1: num("L1D_accesses"), l1hit: num("L1D_hit"), l2: num("L2_accesses"), l2hit: num("L2_hit"),
			hasL1: r[at["L1D_hit"]] != "", hasL2: r[at["L2_hit"]] != "",
			reads: num("dram_reads"), writes: num("dram_writes")})
	}
	return list
}

// derive makes of a trace what Accel-Sim was given: another binary version, and
// other names for opcodes that its map of that version lacks.
func derive(k *trace.Kernel, version int) {
	names := map[string]string{"VIADD": "IADD3"}
	if version == 70 {
		for _, p := range strings.Fields("ULDC:LDC S2UR:S2R UIMAD:IMAD USHF:SHF UIADD3:IADD3 UMOV:MOV UISETP:ISETP ULOP3:LOP3 SHL:SHF") {
			a, b, _ := strings.Cut(p, ":")
			names[a] = b
		}
	}
	k.Arch = version
	for i := range k.Code {
		base, rest, has := strings.Cut(k.Code[i].Op, ".")
		if n := names[base]; n != "" {
			k.Code[i].Op = n
			if has {
				k.Code[i].Op += "." + rest
			}
		}
	}
}

var versions = map[string]int{"SM6_TITANX": 61, "SM7_QV100": 70, "SM75_RTX2060": 75, "SM86_RTX3070": 86}

// repeat runs a launch's blocks several times, each time 16 MiB further on. (The
// reference table does not say how far; of the powers of two only this one gives
// its number of writes to DRAM.)
func repeat(k *trace.Kernel, n int) {
	one, list := len(k.Present), k.Blocks.(*memBlocks)
	blocks := list.list
	for r := range n - 1 {
		for i := range one {
			b := *blocks[i]
			b.Mems = slices.Clone(b.Mems)
			for m := range b.Mems {
				b.Mems[m].Base += uint64(r+1) << 24
			}
			list.list = append(list.list, &b)
			k.Present = append(k.Present, k.Present[i])
		}
	}
	k.Grid[0] *= uint32(n)
}

// ours runs the launches of a trace one after another.
func ours(t *testing.T, cfgName, name string) []*gpu.Kernel {
	t.Helper()
	cfg, err := config.Load(filepath.Join(shared, "gpgpusim-configs", cfgName, "gpgpusim.config"))
	if err != nil {
		t.Fatal(err)
	}
	chip := cfg.ChipConfig()
	chip.Compat.DrainBetween = false  // a launch ends with its last block,
	chip.Compat.ClocksRestart = false // and clocks run on
	chip.Run.Threads = 1
	g, err := gpu.New(chip)
	if err != nil {
		t.Fatal(err)
	}
	times := 1
	file := name
	if name == "x8-vectoradd" {
		file, times = "mgpusim-simple-trace-example", 8
	}
	var list []*gpu.Kernel
	for _, a := range archives(t, file) {
		if a.name != file {
			continue
		}
		for i, read := range a.kernels {
			for _, c := range a.copies[i] {
				// It cuts addresses to 32 bits, so that copies fill lines that
				// nobody asks for.
				if err := g.Add(&gpu.Op{Kind: gpu.OpCopy, Copy: func() error { return nil }, Bytes: c.bytes, Fills: []gpu.Range{{Addr: c.addr & 0xffffffff, Bytes: c.bytes}}}); err != nil {
					t.Fatal(err)
				}
			}
			k, _ := read(t)
			derive(k, versions[cfgName])
			repeat(k, times)
			o := &gpu.Op{Kind: gpu.OpLaunch, Make: func(bool) (exec.Work, error) { return New(k, Options{AsAccelSim: true}) }}
			if err := g.Add(o); err != nil {
				t.Fatal(err)
			}
			list = append(list, o.Kernel)
		}
	}
	if err := g.Finish(context.Background()); err != nil {
		t.Fatal(err)
	}
	return list
}

// unequal are the launches that are not equal in all figures, with the reason
// and by how many percent their cycles may differ.
var unequal = map[string]struct {
	why     string
	percent float64
}{
	"SM6_TITANX microgpusim-matrixmul-32-32 1": {"its partitions are drawn at random, in an order of requests that a trace does not tell", 1.5},
	"SM86_RTX3070 x8-vectoradd 1":              {"the trace was made by hand and is not here; the distance of its copies is a guess", 0.5},
}

// TestAccelSim replays traces on the SIMT core with Accel-Sim's configurations
// and compares with what it printed.
func TestAccelSim(t *testing.T) {
	only := os.Getenv("HEDDLE_ACCELSIM") // words that a row must have
	done := map[string][]*gpu.Kernel{}
	var b strings.Builder
	fmt.Fprintf(&b, "%-14s %-30s %3s | %8s %8s %7s | %17s %15s %17s %15s | %15s %13s\n", "config", "trace", "", "cycles", "theirs", "error", "L1 acc", "L1 hit", "L2 acc", "L2 hit", "DRAM rd", "DRAM wr")
	const launch = 5000
	sum, n, exact := 0.0, 0, 0
	for _, r := range readTheirs(t) {
		key := r.config + " " + r.trace
		if !strings.Contains(key, only) {
			continue
		}
		list, ok := done[key]
		if !ok {
			list = ours(t, r.config, r.trace)
			done[key] = list
		}
		i, err := strconv.Atoi(r.ordinal)
		if err != nil || i > len(list) {
			t.Fatalf("%s has no launch %s", key, r.ordinal)
		}
		k := list[i-1]
		if float64(k.WarpInsts) != r.insts {
			t.Errorf("%s %s: %d warp instructions, theirs %.0f", key, r.ordinal, k.WarpInsts, r.insts)
		}
		e := 100 * ((float64(k.Cycles())-launch)/(r.cycles-launch) - 1)
		sum += math.Abs(e)
		n++
		why, known := unequal[key+" "+r.ordinal]
		switch {
		case e == 0:
			exact++
			if known {
				t.Errorf("%s %s is equal now and must leave the list", key, r.ordinal)
			}
		case math.Abs(e) > why.percent:
			t.Errorf("%s %s: %+.2f %% cycles; at most %.2f %% %s", key, r.ordinal, e, why.percent, why.why)
		}
		pair := func(a, b float64, has bool) string {
			if !has || a == b {
				return fmt.Sprintf("= %.0f", a)
			}
			// Hits are printed as a rate of four digits, and in one launch a few
			// accesses hit instead of being merged.
			if math.Abs(a-b) > 1+0.0001*b {
				t.Errorf("%s %s: a count is %.0f, theirs %.0f", key, r.ordinal, a, b)
			}
			return fmt.Sprintf("%.0f/%.0f", a, b)
		}
		hits := func(total, misses uint64) float64 { return float64(total - misses) }
		l1, l2 := k.L1D.Total(), k.L2.Total()
		fmt.Fprintf(&b, "%-14s %-30s %3s | %8.0f %8.0f %+6.1f%% | %17s %15s %17s %15s | %15s %13s", r.config, strings.TrimPrefix(r.trace, "mgpusim-"), r.ordinal,
			float64(k.Cycles())-launch, r.cycles-launch, e,
			pair(float64(l1), r.l1, true), pair(hits(l1, k.L1D.Misses()), math.Round(r.l1*r.l1hit), r.hasL1),
			pair(float64(l2), r.l2, true), pair(hits(l2, k.L2.Misses()), math.Round(r.l2*r.l2hit), r.hasL2),
			pair(float64(k.DRAMReads()), r.reads, true), pair(float64(k.DRAMWrites()), r.writes, true))
		b.WriteString("\n")
	}
	t.Logf("\n%s", b.String())
	t.Logf("%d launches, %d of them equal: mean of the absolute errors %.3f %%", n, exact, sum/float64(max(n, 1)))
}
