package gpu_test

import (
	"bufio"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// simLine is one line of the output of a launch: its counter, with all indices and
// the table that it is in, and the rest of the line.
type simLine struct{ name, key, value string }

// simLines splits the output of a launch into its lines. The appearances of a
// repeated counter are numbered.
func simLines(text string) []simLine {
	var (
		list  []simLine
		table string
		seen  = map[string]int{}
	)
	add := func(key, value string) {
		seen[key]++
		name := strings.TrimSpace(indices.ReplaceAllString(key, "[]"))
		list = append(list, simLine{name, fmt.Sprintf("%s#%d", key, seen[key]), strings.Join(strings.Fields(value), " ")})
	}
	for _, l := range strings.Split(text, "\n") {
		l = strings.TrimSpace(l)
		switch {
		case l == "", strings.HasPrefix(l, "="):
		case strings.HasPrefix(l, "Stall:"), strings.HasPrefix(l, "n_cmd="), strings.HasPrefix(l, "n_activity="), strings.HasPrefix(l, "bk0:"):
			sep := "="
			if strings.Contains(l[:6], ":") {
				sep = ":"
			}
			fields := strings.Fields(l)
			for i := 0; i < len(fields); i++ {
				name, value, _ := strings.Cut(fields[i], sep)
				for i+1 < len(fields) && !strings.Contains(fields[i+1], sep) {
					i++
					value += " " + fields[i]
				}
				if sep == ":" && strings.HasPrefix(name, "bk") {
					name = "bk"
				}
				add(name, value)
			}
		case strings.ContainsAny(l[:1], "0123456789"):
			add(table, l)
		default:
			i := strings.IndexAny(l, "=:")
			if i < 0 {
				table = l
				continue
			}
			name, value := strings.TrimSpace(l[:i]), strings.TrimSpace(l[i+1:])
			switch {
			case value == "":
				table = name
			case strings.HasPrefix(name, "dram["):
				add(table+" "+name, value)
			default:
				add(name, value)
			}
		}
	}
	return list
}

// differing are the counters that are not equal to those of the reference runs in
// every line, with the reason. All others must be equal to the last digit, and one
// that has become equal must leave the list.
var differing = map[string]string{
	// Faults of GPGPU-Sim.
	"gpu_occupancy": "there 0 of 0, here the share of warp slots in use", "gpu_tot_occupancy": "as gpu_occupancy",
	"kernel_stream_id": "there never set, so any number", "total accesses": "there never counted, always 0",
	"number of total memory accesses made dram[]": "there never counted, always 0",
	"total dram reads":                            "there always 0 on the GTX 480, against its own n_rd",
	"number of total read accesses dram[]":        "as total dram reads",
	"average mf latency per bank dram[]":          "there none on the GTX 480, as its reads are not counted",
	"min_chip_accesses":                           "depends on total accesses, which are there 0",
	"maximum service time to same row dram[]":     "there cycles of the launch are taken from each other, so a row that stays open from one launch to the next is measured too short",
	// Only the GTX 480: a request counts from its arrival at the L2.
	"averagemflatency":                   "on the GTX 480 there without the way to the partition, 43 cycles for data and 8 for constants",
	"maxmflatency":                       "as averagemflatency",
	"mf_lat_table":                       "as averagemflatency",
	"mf_lat_pw_table":                    "as averagemflatency",
	"maximum mf latency per bank dram[]": "as averagemflatency",
	// Unknown.
	"Slowest packet":                        "there its number in a count over both subnets, here in that of its own",
	"Slowest flit":                          "as Slowest packet",
	"Req_Network_out_buffer_full_per_cycle": "one launch of 88; cause unknown",
	"bk":                                    "the idle cycles of a bank, by less than 0.3 %; cause unknown",
}

// hostTime are counters that depend on the host's speed.
var hostTime = []string{"gpgpu_simulation_time", "gpgpu_simulation_rate", "gpgpu_silicon_slowdown", "gpu_total_sim_rate"}

// TestEveryCounter compares every line of the output under GPGPU-Sim's names
// with that of the reference runs: all jobs, all configurations, cold and warm.
func TestEveryCounter(t *testing.T) {
	alltests.Only(t, "every counter against GPGPU-Sim's")
	type tally struct{ n, bad int }
	all := map[string]*tally{}
	lines := 0
	for _, c := range []string{"SM2_GTX480", "SM75_RTX2060", "SM7_QV100"} {
		for _, l2 := range []string{"cold", "warm"} {
			for n, run := range readCounters(t, c, l2) {
				if !alltests.On() && n%12 != 0 {
					continue
				}
				ours := launches(runReference(t, c, l2, run.job).stats)
				if len(ours) != len(run.launches) {
					t.Fatalf("%s, %s, %s: %d launches, %d there", c, l2, run.job, len(ours), len(run.launches))
				}
				last := map[string]string{}
				for i := range ours {
					a := map[string]string{}
					for _, l := range simLines("kernel_name = " + ours[i]) {
						a[l.key] = l.value
					}
					for _, l := range run.launches[i] {
						x := all[l.name]
						if x == nil {
							x = &tally{}
							all[l.name] = x
						}
						if slices.Contains(hostTime, l.name) {
							continue
						}
						x.n++
						lines++
						got, ok := a[l.key]
						switch {
						case !ok:
							got = "absent"
						case strings.Contains(l.name, "stats_breakdown["), strings.Contains(l.name, "fail_breakdown["):
							// There they are kept by stream, and the number of the
							// stream is never set: each launch appears to be alone.
							got = less(t, got, last[l.key])
						}
						if got == l.value {
							continue
						}
						x.bad++
						if differing[l.name] == "" || l.name == "bk" && !near(t, got, l.value, 0.003) {
							t.Errorf("%s, %s, %s, launch %d: %s: %.200s here, %.200s there", c, l2, run.job, i, l.key, got, l.value)
						}
					}
					last = a
				}
			}
		}
	}
	equal := 0
	for _, n := range slices.SortedFunc(maps.Keys(all), cmp.Compare) {
		x := all[n]
		if x.bad == 0 {
			equal++
		} else {
			t.Logf("%s: %d of %d lines differ: %s", n, x.bad, x.n, differing[n])
		}
	}
	t.Logf("%d of %d counters are equal in all of %d lines", equal, len(all), lines)
	for n := range differing {
		if x := all[n]; alltests.On() && (x == nil || x.bad == 0) {
			t.Errorf("%s is now equal and must leave the list", n)
		}
	}
}

// counterRun is the output of a reference run after each launch of a job.
type counterRun struct {
	job      string
	launches [][]simLine
}

// readCounters reads the reference runs of a configuration and a state of the
// L2, in the order of their jobs' names. A line is the job, the launch, the key
// of a simLine and its value, separated by tabs.
func readCounters(t *testing.T, config, l2 string) []counterRun {
	t.Helper()
	f, err := os.Open(filepath.Join(referenceRuns, "counters", config+"."+l2+".tsv.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var list []counterRun
	s := bufio.NewScanner(z)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		col := strings.SplitN(s.Text(), "\t", 4)
		if len(col) != 4 {
			t.Fatalf("%s.%s: %q has %d columns, want 4", config, l2, s.Text(), len(col))
		}
		if len(list) == 0 || list[len(list)-1].job != col[0] {
			list = append(list, counterRun{job: col[0]})
		}
		run := &list[len(list)-1]
		if col[1] != fmt.Sprint(len(run.launches)-1) {
			run.launches = append(run.launches, nil)
		}
		key, _, _ := strings.Cut(col[2], "#")
		line := simLine{strings.TrimSpace(indices.ReplaceAllString(key, "[]")), col[2], col[3]}
		run.launches[len(run.launches)-1] = append(run.launches[len(run.launches)-1], line)
	}
	if err := s.Err(); err != nil || len(list) == 0 {
		t.Fatalf("%s.%s: %d jobs, %v", config, l2, len(list), err)
	}
	return list
}

// less subtracts the count of earlier launches from a running total.
func less(t *testing.T, total, before string) string {
	t.Helper()
	if before == "" {
		return total
	}
	return fmt.Sprint(number(t, total) - number(t, before))
}

// near compares texts whose words are numbers followed by a letter: the first must
// be equal, the others within a share.
func near(t *testing.T, a, b string, share float64) bool {
	t.Helper()
	x, y := strings.Fields(a), strings.Fields(b)
	if len(x) != len(y) || len(x) == 0 || x[0] != y[0] {
		return false
	}
	for i := range x {
		p, q := float64(number(t, x[i])), float64(number(t, y[i]))
		if max(p-q, q-p) > share*max(p, q) {
			return false
		}
	}
	return true
}
