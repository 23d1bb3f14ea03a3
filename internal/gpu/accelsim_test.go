package gpu_test

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// simStats runs a job and returns the output under GPGPU-Sim's names.
func simStats(t *testing.T, file, gpu string, set ...string) string {
	t.Helper()
	ready, err := job.Load(file, job.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	o := job.Options{Timing: true, GPU: gpu, AccelSim: &out}
	for _, s := range set {
		if err := o.Settings.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ready.Run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var indices = regexp.MustCompile(`\[[^\]]*\]`)

// simNames returns the names of the counters in a text, without indices, in
// order of appearance.
func simNames(text string) []string {
	var list []string
	add := func(name string) {
		name = strings.TrimSpace(indices.ReplaceAllString(name, "[]"))
		if name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	for _, l := range strings.Split(text, "\n") {
		l = strings.TrimSpace(l)
		switch {
		case l == "", strings.ContainsAny(l[:1], "0123456789-="):
		case strings.HasPrefix(l, "dram["), strings.HasPrefix(l, "DRAM["), strings.HasPrefix(l, "Memory Partition"), strings.HasPrefix(l, "Class"):
			// rows of tables and headings
		case strings.HasPrefix(l, "Cache L2_bank"), strings.HasPrefix(l, "MSHR contents"):
			// a dump of the MSHRs, not counters
		case strings.HasPrefix(l, "bk0:"):
			add("bk")
		case strings.HasPrefix(l, "Stall:"), strings.HasPrefix(l, "n_cmd="), strings.HasPrefix(l, "n_activity="):
			for _, f := range strings.Fields(l) {
				add(f[:strings.IndexAny(f, "=:")])
			}
		case strings.HasPrefix(l, "ctas_completed"), strings.HasPrefix(l, "LD_mem_lat_dist"), strings.HasPrefix(l, "ST_mem_lat_dist"):
			add(strings.Fields(l)[0])
		case strings.HasPrefix(l, "In Dram Latency Queue"):
			add("In Dram Latency Queue")
		default:
			if i := strings.IndexAny(l, "=:"); i >= 0 {
				add(l[:i])
			}
		}
	}
	return list
}

// launches cuts a text into those of its launches.
func launches(text string) []string {
	parts := strings.Split(text, "kernel_name = ")
	for i := range parts {
		if at := strings.Index(parts[i], "GPGPU-Sim: synchronize"); at >= 0 {
			parts[i] = parts[i][:at]
		}
	}
	return parts[1:]
}

// headings are lines of the output without a counter.
var headings = []string{
	"L1I_cache", "L1D_cache", "L1C_cache", "L1T_cache", "Total_core_cache_stats", "Total_core_cache_fail_stats", "BW Util details", "BW Util Bottlenecks",
	"Commands details", "Dual Bus Interface Util", "L2_total_cache_breakdown", "L2_total_cache_reservation_fail_breakdown",
}

// Every printed name is explained.
func TestAccelSimExplained(t *testing.T) {
	for _, gpu := range []string{"rtx-2060", "gtx-480"} {
		text := simStats(t, "../../testdata/reference/gpgpusim/vecadd.toml", gpu, "run.copies_fill_l2=false")
		names := simNames(text)
		if len(names) < 190 {
			t.Errorf("%s: only %d names", gpu, len(names))
		}
		for _, n := range names {
			if slices.Contains(headings, n) || regexp.MustCompile(`^W[0-9]+$`).MatchString(n) {
				continue
			}
			if found, _ := report.Explained(strings.NewReplacer("bk", "bk…").Replace(n)); len(found) == 0 {
				if found, _ = report.Explained(n); len(found) == 0 {
					t.Errorf("%s: %q is not explained", gpu, n)
				}
			}
		}
	}
}

// The counters are running totals; those of the launch alone are not.
func TestAccelSimTotals(t *testing.T) {
	list := launches(simStats(t, "../../testdata/reference/gpgpusim/reduce.toml", "rtx-2060"))
	if len(list) < 2 {
		t.Fatalf("%d launches", len(list))
	}
	last := map[string]string{}
	var cycles, insts uint64
	for i, l := range list {
		v := simValues(l)
		cycles += number(t, v["gpu_sim_cycle"])
		insts += number(t, v["gpu_sim_insn"])
		if got := number(t, v["gpu_tot_sim_cycle"]); got != cycles {
			t.Errorf("launch %d: gpu_tot_sim_cycle = %d, want %d", i, got, cycles)
		}
		if got := number(t, v["gpu_tot_sim_insn"]); got != insts {
			t.Errorf("launch %d: gpu_tot_sim_insn = %d, want %d", i, got, insts)
		}
		for _, name := range []string{"L1D_total_cache_accesses", "gpgpu_n_tot_w_icount", "gpgpu_n_mem_read_global", "ctas_completed"} {
			if i > 0 && number(t, v[name]) <= number(t, last[name]) {
				t.Errorf("launch %d: %s went from %s to %s", i, name, last[name], v[name])
			}
		}
		last = v
	}
}

func number(t *testing.T, s string) uint64 {
	t.Helper()
	var n uint64
	digits := 0
	for _, c := range s {
		if c < '0' || c > '9' {
			break
		}
		n = 10*n + uint64(c-'0')
		digits++
	}
	if digits == 0 {
		t.Fatalf("%q is not a number", s)
	}
	return n
}

// simValues returns the first value of every name in the text of a launch.
func simValues(text string) map[string]string {
	v := map[string]string{}
	for _, l := range strings.Split(text, "\n") {
		l = strings.TrimSpace(l)
		if rest, ok := strings.CutPrefix(l, "ctas_completed "); ok {
			v["ctas_completed"] = rest
			continue
		}
		if i := strings.IndexAny(l, "=:"); i > 0 {
			name := strings.TrimSpace(l[:i])
			if _, seen := v[name]; !seen {
				v[name] = strings.TrimSpace(l[i+1:])
			}
		}
	}
	return v
}

// Counters of the SIMT core with a counterpart in the modern one are not left at 0:
// all issues and completions are counted, every cycle of a sub-core is in one
// counter, and eight words of one bank cost seven more passes.
func TestCountersOfModernCores(t *testing.T) {
	const rounds = 100
	m := newMicro(t, "rtx-2070-super").zeros("out", 1)
	m.launch("banks", 1, 32, fmt.Sprintf(`{ buffer = "out" }, { u32 = 8 }, { u32 = %d }`, rounds))
	count := map[string]uint64{}
	for _, l := range simLines(simStats(t, m.file(), m.gpu, m.set...)) {
		for _, f := range strings.Fields(l.value) {
			if _, n, ok := strings.Cut(f, ":"); ok { // of the schedulers
				f = n
			}
			n, _ := strconv.ParseUint(f, 10, 64)
			name, _, _ := strings.Cut(l.key, "#")
			count[name] += n
		}
	}
	insts := count["gpu_sim_insn"] / 32
	if n := count["gpgpu_n_tot_w_icount"]; n != count["single_issue_nums"] || n < insts || n > insts+rounds {
		t.Errorf("%d warp instructions completed, %d issued; %d thread instructions", n, count["single_issue_nums"], count["gpu_sim_insn"])
	}
	if n := count["gpgpu_stall_shd_mem[s_mem][bk_conf]"]; n != 7*(rounds+1) {
		t.Errorf("%d cycles of bank conflicts, want %d", n, 7*(rounds+1))
	}
	if n := count["gpgpu_n_stall_shd_mem"]; n < 7*(rounds+1) {
		t.Errorf("%d cycles of stalls", n)
	}
	// The warp mostly waits for its loads; three sub-cores have no warp.
	busy := count["Stall"] + count["W0_Scoreboard"] + count["single_issue_nums"]
	if w := count["W0_Scoreboard"]; w < 20*rounds || count["W0_Idle"] < 3*busy {
		t.Errorf("%d cycles waiting for registers, %d idle, %d issues, %d others", w, count["W0_Idle"], count["single_issue_nums"], count["Stall"])
	}
}
