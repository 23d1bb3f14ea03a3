package replay

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/gpu"
)

// The reference ran traces of one instruction again and again on Accel-Sim, with
// its configurations, and noted the cycles.
const (
	microRuns = "../../../../shared/data/accel-sim-runs/micro/README.md"
	configs   = "../../../../shared/data/gpgpusim-configs"
)

// where is the address of the memory that they access.
const where = 0x7f0000000000

// micro are the traces' instructions: what stands behind address and mask, of
// the i-th repetition.
var micro = map[string]func(i int) []string{
	"ffma": line("1 R4 FFMA 1 R4 0 0"), "ffma2": line("1 R4 FFMA 2 R4 R8 0 0"), "ffma3": line("1 R4 FFMA 3 R4 R8 R12 0 0"),
	"imad": line("1 R4 IMAD 1 R4 0 0"), "mov": line("1 R4 MOV 1 R4 0 0"), "ldc": line("1 R4 LDC 1 R4 0 0"), "s2r": line("1 R4 S2R 0 0 0"),
	"mufu": line("1 R4 MUFU.RCP 1 R4 0 0"), "dadd": line("1 R4 DADD 1 R4 0 0"), "hmma": line("1 R4 HMMA.16816.F32 1 R4 0 0"),
	"rz": line("1 R255 FFMA 1 R4 0 0"), "bra": line("0 BRA 0 0 0"), "bar": line("0 BAR.SYNC 0 0 0"),
	"lds": line("1 R4 LDS 1 R4 4 1 0x0 4 0"), "lds2": line("1 R4 LDS 1 R4 4 1 0x0 8 0"), "lds32": line("1 R4 LDS 1 R4 4 1 0x0 128 0"),
	"lds64": line("1 R4 LDS.64 1 R4 8 1 0x0 8 0"), "lds128": line("1 R4 LDS.128 1 R4 16 1 0x0 16 0"),
	"ldg0": load("LDG.E", 4, 0, 0), "ldg4": load("LDG.E", 4, 0, 4), "ldg128": load("LDG.E", 4, 0, 128), "ldg64": load("LDG.E.128", 16, 0, 16),
	"ldgcg": load("LDG.E.STRONG.GPU", 4, 0, 0), "atom": load("ATOMG.E.ADD", 4, 0, 0),
	"miss": load("LDG.E.STRONG.GPU", 4, 4096, 0), "coldl1": load("LDG.E", 4, 4096, 0), "same": load("LDG.E", 4, 32, 0),
	"unal":    line("1 R4 LDG.E.128 1 R4 16 1 0x7f0000000018 0 0"),
	"st":      func(i int) []string { return []string{fmt.Sprintf("0 STG.E 2 R4 R6 4 1 %#x 4 0", where+i*128)} },
	"indep":   func(i int) []string { return []string{fmt.Sprintf("1 R%d FFMA 1 R60 0 0", 4+i%40)} },
	"indepi":  func(i int) []string { return []string{fmt.Sprintf("1 R%d IMAD 1 R60 0 0", 4+i%40)} },
	"membar":  lines("1 R4 LDG.E 1 R4 4 1 0x7f0000000000 0 0", "0 MEMBAR.SC.GPU 0 0 0"),
	"membars": lines("0 STG.E 2 R4 R6 4 1 0x7f0000000000 4 0", "0 MEMBAR.SC.GPU 0 0 0"),
}

func line(s string) func(int) []string     { return lines(s) }
func lines(s ...string) func(int) []string { return func(int) []string { return s } }

func load(op string, bytes, step, stride int) func(int) []string {
	return func(i int) []string {
		return []string{fmt.Sprintf("1 R4 %s 1 R4 %d 1 %#x %d 0", op, bytes, where+i*step, stride)}
	}
}

// microTrace is the trace of n repetitions by each of some warps.
func microTrace(kind string, arch, n, warps int) string {
	var list []string
	if kind == "missl1" { // lines that are in the L2, then again through the L1
		for i := range n {
			list = append(list, micro["miss"](i)...)
		}
		for i := range n {
			list = append(list, micro["coldl1"](i)...)
		}
	} else {
		for i := range n {
			list = append(list, micro[kind](i)...)
		}
	}
	list = append(list, "0 EXIT 0 0 0")
	var b strings.Builder
	fmt.Fprintf(&b, "-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (%d,1,1)\n-shmem = 0\n-nregs = 24\n-binary version = %d\n-shmem base_addr = 0x00007f5e00000000\n-local mem base_addr = 0x00007f5ddd000000\n-accelsim tracer version = 5\nthread block = 0,0,0\n", 32*warps, arch)
	for w := range warps {
		fmt.Fprintf(&b, "warp = %d\ninsts = %d\n", w, len(list))
		for i, l := range list {
			fmt.Fprintf(&b, "%04x ffffffff %s\n", 16*i, l)
		}
	}
	return b.String()
}

// measured is what the reference noted: cycles of 0, 100 and 300 repetitions.
type measured struct {
	config, kind string
	ports        int // steps of the collector in a cycle; 0 as configured
	warps        int
	cycles       [3]uint64
}

var (
	microLine  = regexp.MustCompile("^(RTX3070|QV100|RTX2060|TITANX)(?: \\(binary version \\d+\\)| with `-gpgpu_reg_file_port_throughput (\\d+)`)?: (.*)")
	microEntry = regexp.MustCompile(`^([a-z0-9, ]+?) (\d+) (\d+) (\d+)\.?$`)
)

// noted reads the reference's notes. What they say of other settings is left
// out.
func noted(t *testing.T) []measured {
	t.Helper()
	b, err := os.ReadFile(microRuns)
	if err != nil {
		t.Skip("the reference runs are not here")
	}
	folders := map[string]string{"RTX3070": "SM86_RTX3070", "QV100": "SM7_QV100", "RTX2060": "SM75_RTX2060", "TITANX": "SM6_TITANX"}
	var list []measured
	for _, l := range strings.FieldsFunc(strings.ReplaceAll(string(b), ". ", "\n"), func(r rune) bool { return r == '\n' }) {
		m := microLine.FindStringSubmatch(strings.TrimSpace(l))
		if m == nil {
			continue
		}
		warps := 1
		ports, _ := strconv.Atoi(m[2])
		var last [3]uint64
		// "4 warps: bar 1 2 3, ldg128 1 2 3; 8 warps: ..."; "imad, mov, ldc 1 2 3".
		names := ""
		for _, part := range strings.FieldsFunc(strings.TrimSuffix(m[3], "."), func(r rune) bool { return r == ';' || r == ',' }) {
			part = strings.TrimSpace(part)
			if n, rest, ok := strings.Cut(part, " warps: "); ok {
				warps, _ = strconv.Atoi(n)
				part = rest
			}
			if rest, same := strings.CutSuffix(part, " same"); same {
				list = append(list, measured{folders[m[1]], rest, ports, warps, last})
				continue
			}
			e := microEntry.FindStringSubmatch(part)
			if e == nil {
				names += part + ","
				continue
			}
			for i := range last {
				last[i], _ = strconv.ParseUint(e[2+i], 10, 64)
			}
			for kind := range strings.SplitSeq(names+e[1], ",") {
				list = append(list, measured{folders[m[1]], kind, ports, warps, last})
			}
			names = ""
		}
	}
	return list
}

// random are measurements on a machine whose partitions are drawn at random by
// the order in which addresses are asked for, which is not ours; they are met to
// two thousandths.
var random = map[string]bool{"SM6_TITANX miss": true, "SM6_TITANX missl1": true}

// The SIMT core takes as long as Accel-Sim for the same instructions again and
// again: units, latencies, register banks, coalescing, caches, barriers.
func TestMicro(t *testing.T) {
	list := noted(t)
	if len(list) < 40 {
		t.Fatalf("only %d measurements were read", len(list))
	}
	chips := map[string]gpu.Config{}
	exact := 0
	for _, m := range list {
		chip, ok := chips[m.config]
		if !ok {
			c, err := config.Load(filepath.Join(configs, m.config, "gpgpusim.config"))
			if err != nil {
				t.Fatal(err)
			}
			chip = c.ChipConfig()
			chip.Compat.DrainBetween = false // a launch ends with its last block
			chip.Run.Threads = 1
			chips[m.config] = chip
		}
		arch := 86
		if m.config == "SM6_TITANX" {
			arch = 61
		}
		var got [3]uint64
		for i, n := range []int{0, 100, 300} {
			if chip.SM.RegisterPorts = chips[m.config].SM.RegisterPorts; m.ports > 0 {
				chip.SM.RegisterPorts = m.ports
			}
			g, err := gpu.New(chip)
			if err != nil {
				t.Fatal(err)
			}
			k := readText(t, microTrace(m.kind, arch, n, m.warps))
			o := &gpu.Op{Kind: gpu.OpLaunch, Make: func(bool) (exec.Work, error) { return New(k, Options{AsAccelSim: true}) }}
			if err := g.Add(o); err != nil {
				t.Fatal(err)
			}
			if err := g.Finish(context.Background()); err != nil {
				t.Fatal(err)
			}
			got[i] = o.Kernel.Cycles()
		}
		if got == m.cycles {
			exact++
			continue
		}
		if random[m.config+" "+m.kind] && near(got, m.cycles) {
			continue
		}
		t.Errorf("%s, %s, %d warps: %v cycles, want %v", m.config, m.kind, m.warps, got, m.cycles)
	}
	t.Logf("%d of %d measurements are met in all three numbers", exact, len(list))
}

func near(a, b [3]uint64) bool {
	for i := range a {
		if d := float64(a[i])/float64(b[i]) - 1; d > 0.002 || d < -0.002 {
			return false
		}
	}
	return true
}
