package job

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/timeline"
	"github.com/heddle-sim/heddle/internal/run"
)

// watched runs a job with everything written beside it.
func watched(t *testing.T, file, gpu string, o Options, set ...string) *report.Run {
	t.Helper()
	ready, err := Load(file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range set {
		if err := o.Settings.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	o.Timing, o.GPU = true, gpu
	res, err := ready.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func asJSON(t *testing.T, r *report.Run) string {
	t.Helper()
	r.Seconds = 0
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Looking changes nothing; and what is seen is what happened.
func TestWatching(t *testing.T) {
	alltests.Only(t, "results of a run that is watched")
	for _, c := range alltests.Some([]struct{ file, gpu string }{
		{"../../../testdata/reference/gpgpusim/reduce.toml", "gtx-480"},
		{"../../../testdata/reference/gpgpusim/matmul_tiled.toml", "rtx-2060"},
		{"../../../testdata/reference/gpgpusim/bfs.toml", "v100"},
	}, 2) {
		t.Run(c.file, func(t *testing.T) {
			const fills = "run.copies_fill_l2=false"
			plain := watched(t, c.file, c.gpu, Options{}, fills)
			var csv, sim bytes.Buffer
			r := timeline.New(0)
			seen := watched(t, c.file, c.gpu, Options{Timeline: r, Series: &run.Series{Every: 333, Out: &csv}, AccelSim: &sim}, fills)
			if diff := cmp.Diff(asJSON(t, plain), asJSON(t, seen)); diff != "" {
				t.Fatalf("looking changes the result: %s", diff)
			}
			if got := uint64(r.Len()); got != seen.WarpInstructions || r.Left() != 0 {
				t.Errorf("the timeline has %d instructions and %d without room, %d were issued", got, r.Left(), seen.WarpInstructions)
			}
			checkParts(t, seen)
			checkKanata(t, r, seen)
			checkSeries(t, csv.String(), 333, seen)

			// The same rows come with every cycle simulated.
			var slow bytes.Buffer
			watched(t, c.file, c.gpu, Options{Series: &run.Series{Every: 333, Out: &slow}}, fills, "run.idle_skip=false")
			if diff := cmp.Diff(csv.String(), slow.String()); diff != "" {
				t.Errorf("skipping changes the series: %s", diff)
			}
		})
	}
}

// checkParts compares the sums over the machine's parts with the whole.
func checkParts(t *testing.T, res *report.Run) {
	t.Helper()
	type sums struct {
		Blocks, Insts, Lanes, WarpCycles, L1, L1Hits, L2, L2Misses, Reads, Writes, Requests, BankReads, BankWrites, BankRequests, BankHits uint64
	}
	var got sums
	for _, s := range res.PerSM {
		got.Blocks += s.Blocks
		got.Insts += s.WarpInstructions
		got.Lanes += s.ThreadInstructions
		got.WarpCycles += s.WarpCycles
		got.L1 += s.L1.Accesses
		got.L1Hits += s.L1.Hits
	}
	for _, s := range res.PerSlice {
		got.L2 += s.L2.Accesses
		got.L2Misses += s.L2.Misses
		got.Requests += s.Requests
	}
	for _, c := range res.PerChannel {
		got.Reads += c.Reads
		got.Writes += c.Writes
		for _, b := range c.Banks {
			got.BankReads += b.Reads
			got.BankWrites += b.Writes
			got.BankRequests += b.Requests
			got.BankHits += b.RowHits
		}
	}
	m := &res.Memory
	want := sums{
		Insts: res.WarpInstructions, Lanes: res.ThreadInstructions,
		L1: m.L1.Accesses, L1Hits: m.L1.Hits, L2: m.L2.Accesses, L2Misses: m.L2.Misses, Requests: m.Network.RequestPackets,
		Reads: m.DRAM.Reads, Writes: m.DRAM.Writes, BankReads: m.DRAM.Reads, BankWrites: m.DRAM.Writes,
		BankRequests: m.DRAM.Requests, BankHits: m.DRAM.RowHits,
	}
	for _, k := range res.Kernels {
		want.Blocks += k.Blocks
		want.WarpCycles += k.WarpCycles
		var issues uint64
		for _, n := range k.LanesPerIssue {
			issues += n
		}
		if issues != k.WarpInstructions || len(k.LanesPerIssue) != 33 {
			t.Errorf("launch %d: %d issues by lanes, %d in all", k.Launch, issues, k.WarpInstructions)
		}
		var replies uint64
		for _, n := range k.Memory.LatencyLog2 {
			replies += n
		}
		if replies != k.Memory.Replies || replies == 0 {
			t.Errorf("launch %d: %d replies by latency, %d in all", k.Launch, replies, k.Memory.Replies)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the parts do not add up to the whole: %s", diff)
	}
}

// checkKanata reads a timeline as Konata does: every instruction begins, goes
// through stages in their order and ends; none is outside the run.
func checkKanata(t *testing.T, r *timeline.Recorder, res *report.Run) {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteKanata(&b); err != nil {
		t.Fatal(err)
	}
	order := "F D Is Rd Dp X Wb"
	var now, cycles, first uint64
	open, last := map[string]string{}, map[string]string{}
	begun, ended := 0, 0
	executed := 0
	for _, l := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		f := strings.Split(l, "\t")
		switch f[0] {
		case "C=":
			now, _ = strconv.ParseUint(f[1], 10, 64)
			first = now
		case "C":
			d, err := strconv.ParseUint(f[1], 10, 64)
			if err != nil || d == 0 {
				t.Fatalf("%q", l)
			}
			now += d
		case "I":
			if f[1] != strconv.Itoa(begun) {
				t.Fatalf("%q is not number %d", l, begun)
			}
			begun++
			last[f[1]] = ""
		case "S":
			if open[f[1]] != "" || strings.Index(order, f[3]) <= strings.Index(order, last[f[1]]) && last[f[1]] != "" {
				t.Fatalf("%q comes after stage %q, %q open", l, last[f[1]], open[f[1]])
			}
			open[f[1]], last[f[1]] = f[3], f[3]
			if f[3] == "X" {
				executed++
			}
		case "E":
			if open[f[1]] != f[3] {
				t.Fatalf("%q while %q is open", l, open[f[1]])
			}
			open[f[1]] = ""
		case "R":
			if last[f[1]] != "Wb" {
				t.Fatalf("%q after stage %q", l, last[f[1]])
			}
			ended++
			cycles = now
		}
	}
	if uint64(begun) != res.WarpInstructions || ended != begun {
		t.Errorf("%d instructions begin, %d end; %d were issued", begun, ended, res.WarpInstructions)
	}
	if executed*10 < begun*9 {
		t.Errorf("only %d of %d instructions were seen in a unit", executed, begun)
	}
	if start := res.Kernels[0].FirstBlockCycle; first < start || cycles > res.Cycles+1 {
		t.Errorf("cycles %d to %d; the first block was placed at %d, the run ended at %d", first, cycles, start, res.Cycles)
	}
}

// checkSeries compares the sums of a series with the result.
func checkSeries(t *testing.T, text string, every uint64, res *report.Run) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	sum := map[string]uint64{}
	var last uint64
	for n, row := range rows[1:] {
		for i, name := range rows[0] {
			v, err := strconv.ParseUint(row[i], 10, 64)
			switch {
			case name == "ipc" || strings.HasPrefix(name, "memory.mean"):
			case err != nil:
				t.Fatalf("%s: %q", name, row[i])
			case name == "cycle":
				if want := last + every; v != want && (n != len(rows)-2 || v > want) {
					t.Errorf("row %d ends at cycle %d, want %d", n, v, want)
				}
				last = v
			default:
				sum[name] += v
			}
		}
	}
	want := map[string]uint64{
		"warp_instructions": res.WarpInstructions, "thread_instructions": res.ThreadInstructions,
		"memory.l1.accesses": res.Memory.L1.Accesses, "memory.l1.hits": res.Memory.L1.Hits,
		"memory.l2.accesses": res.Memory.L2.Accesses, "memory.l2.hits": res.Memory.L2.Hits,
		"memory.dram.reads": res.Memory.DRAM.Reads, "memory.dram.writes": res.Memory.DRAM.Writes,
		"memory.network.request_packets": res.Memory.Network.RequestPackets, "memory.network.reply_packets": res.Memory.Network.ReplyPackets,
	}
	for _, k := range res.Kernels {
		want["blocks"] += k.Blocks
		for s, n := range k.Stalls {
			want["stalls."+s] += n
		}
	}
	for name, n := range want {
		if sum[name] != n {
			t.Errorf("%s adds up to %d, want %d", name, sum[name], n)
		}
	}
	if last != res.Cycles {
		t.Errorf("the series ends at cycle %d of %d", last, res.Cycles)
	}
}
