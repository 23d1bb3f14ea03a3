package sweep

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/sweep/store"
)

// reported runs nothing: results are made up from what a point is, "" for none, "!" for a failure,
// "4:" before one for an exit code.
func reported(t *testing.T, text string, result func(p *Point) string) (*File, []*Point, *store.Store) {
	t.Helper()
	dir := folder(t, base(text))
	f, err := Load(filepath.Join(dir, "sweep.toml"))
	if err != nil {
		t.Fatal(err)
	}
	points, err := f.Points()
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(filepath.Join(dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range points {
		r := &store.Record{Digest: p.Digest, Input: p.Input.Name, GPU: p.GPU, Settings: p.Settings}
		x, wrong := strings.CutPrefix(result(p), "4:")
		switch {
		case x == "":
			continue
		case x == "!":
			r.Why = "it took too long"
		default:
			r.Result = []byte(x)
		}
		if wrong {
			r.Code = 4
		}
		if err := s.Put(r); err != nil {
			t.Fatal(err)
		}
	}
	return f, points, s
}

// cyclesBy are results by the names of points.
func cyclesBy(list map[string]string) func(*Point) string {
	return func(p *Point) string {
		x := list[p.String()]
		code, n, wrong := strings.Cut(x, ":")
		switch {
		case x == "" || x == "!":
			return x
		case wrong:
			return fmt.Sprintf(`%s:{"cycles": %s}`, code, n)
		}
		return fmt.Sprintf(`{"cycles": %s}`, x)
	}
}

func TestVerdicts(t *testing.T) {
	const axes = "inputs = [\"a.toml\", \"b.toml\"]\n[axes]\n\"l2.ways\" = [8, 16]\n\"run.launch_latency\" = [1, 2]\n[report]\nmetrics = [\"cycles\"]\n"
	all := map[string]string{
		"a l2.ways=8 run.launch_latency=1": "100", "a l2.ways=8 run.launch_latency=2": "100", "a l2.ways=16 run.launch_latency=1": "50", "a l2.ways=16 run.launch_latency=2": "80",
		"b l2.ways=8 run.launch_latency=1": "900", "b l2.ways=8 run.launch_latency=2": "400", "b l2.ways=16 run.launch_latency=1": "800", "b l2.ways=16 run.launch_latency=2": "5",
	}
	with := func(change map[string]string) map[string]string {
		m := map[string]string{}
		for k, v := range all {
			m[k] = v
		}
		for k, v := range change {
			m[k] = v
		}
		return m
	}
	for _, c := range []struct {
		name, more string
		cycles     map[string]string
		want       string
	}{
		// √(100·900) = 300, √(100·400) = 200, √(50·800) = 200, √(80·5) = 20
		{"means, and each input", "", all, `
metric  input         best  of                                worst  of                               baseline
cycles  all 2 (mean)  20    l2.ways=16 run.launch_latency=2   300    l2.ways=8 run.launch_latency=1   –
cycles  a             50    l2.ways=16 run.launch_latency=1   100    l2.ways=8 (2 points)             –
cycles  b             5     l2.ways=16 run.launch_latency=2   900    l2.ways=8 run.launch_latency=1   –
`},
		{"more is better", "better = { cycles = \"more\" }\n", all, `
metric  input         best  of                               worst  of                                baseline
cycles  all 2 (mean)  300   l2.ways=8 run.launch_latency=1   20     l2.ways=16 run.launch_latency=2   –
cycles  a             100   l2.ways=8 (2 points)             50     l2.ways=16 run.launch_latency=1   –
cycles  b             900   l2.ways=8 run.launch_latency=1   5      l2.ways=16 run.launch_latency=2   –
`},
		{"a baseline that leaves an axis open", "baseline = { \"l2.ways\" = 8 }\n", all, `
metric  input         best  of                                worst  of                               baseline
cycles  all 2 (mean)  20    l2.ways=16 run.launch_latency=2   300    l2.ways=8 run.launch_latency=1   200
cycles  a             50    l2.ways=16 run.launch_latency=1   100    l2.ways=8 (2 points)             100
cycles  b             5     l2.ways=16 run.launch_latency=2   900    l2.ways=8 run.launch_latency=1   400
`},
		{"what failed, ended early or is missing does not count", "", with(map[string]string{"b l2.ways=16 run.launch_latency=2": "4:5", "a l2.ways=16 run.launch_latency=1": "!", "b l2.ways=8 run.launch_latency=1": ""}), `
metric  input         best  of                               worst  of                                baseline
cycles  all 2 (mean)  200   l2.ways=8 run.launch_latency=2   200    l2.ways=8 run.launch_latency=2    –
cycles  a             80    l2.ways=16 run.launch_latency=2  100    l2.ways=8 (2 points)              –
cycles  b             400   l2.ways=8 run.launch_latency=2   800    l2.ways=16 run.launch_latency=1   –
`},
		{"all ended early", "", map[string]string{"a l2.ways=8 run.launch_latency=1": "4:7", "a l2.ways=16 run.launch_latency=1": "4:5"}, `
metric  input  best  of                                worst  of                               baseline
cycles  a      5     l2.ways=16 run.launch_latency=1   7      l2.ways=8 run.launch_latency=1   –
`},
		{"nothing has run", "", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, points, s := reported(t, axes+c.more, cyclesBy(c.cycles))
			table, err := f.Table(points, s)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if err := f.Summary(table, s).WriteText(&b); err != nil {
				t.Fatal(err)
			}
			words := func(text string) (list [][]string) {
				for line := range strings.Lines(text) {
					list = append(list, strings.Fields(line))
				}
				return list
			}
			if diff := cmp.Diff(words(c.want), words(b.String())); diff != "" {
				t.Errorf("got\n%s%s", b.String(), diff)
			}
		})
	}
}

// Points are at the levels of their values, also where a value sets several keys.
func TestSummaryAxes(t *testing.T) {
	f, points, s := reported(t, "inputs = [\"a.toml\", \"b.toml\"]\ngpus = [\"rtx-2060\", \"v100\"]\n[axes]\nmemory = [{ \"l2.ways\" = 8 }, { \"l2.ways\" = 16, \"clocks.dram\" = 900 }, { \"l2.ways\" = 16, \"clocks.dram\" = 800 }]\n[zip]\n\"run.launch_latency\" = [1, 2]\n\"run.caches\" = [\"flushed\", \"warm\"]\n[report]\nbaseline = { gpu = \"v100\", \"clocks.dram\" = 900, \"run.caches\" = \"warm\" }\n", func(p *Point) string { return fmt.Sprintf(`{"cycles": %d}`, p.Number+1) })
	table, err := f.Table(points, s)
	if err != nil {
		t.Fatal(err)
	}
	r := f.Summary(table, s)
	want := []ReportAxis{
		{Name: "input", Levels: []string{"a", "b"}, Base: -1},
		{Name: "gpu", Levels: []string{"rtx-2060", "v100"}, Base: 1},
		{Name: "memory", Levels: []string{"l2.ways=8", "l2.ways=16 clocks.dram=900", "l2.ways=16 clocks.dram=800"}, Base: 1, Keyed: true},
		{Name: "run.launch_latency+run.caches", Levels: []string{"run.launch_latency=1 run.caches=flushed", "run.launch_latency=2 run.caches=warm"}, Base: 1, Keyed: true},
	}
	if diff := cmp.Diff(want, r.Axes); diff != "" {
		t.Error(diff)
	}
	for i, p := range points {
		words := p.Input.Name + " " + p.GPU
		for a := 2; a < len(r.Axes); a++ {
			words += " " + r.Axes[a].Levels[r.At[a][i]]
		}
		if got := r.Axes[0].Levels[r.At[0][i]] + " " + r.Axes[1].Levels[r.At[1][i]] + strings.TrimPrefix(words, p.Input.Name+" "+p.GPU); got != p.String() {
			t.Errorf("point %d is at %s, want %s", i, got, p)
		}
		// a value that the baseline gives for one key gives the other keys of the axis
		if b := r.Bases[i]; b < 0 || points[b].String() != p.Input.Name+" v100 l2.ways=16 clocks.dram=900 run.launch_latency=2 run.caches=warm" {
			t.Errorf("point %d is compared with %d", i, b)
		}
	}
}

// A store alone is reported by the keys that differ, with the last result of each name.
func TestStoreReport(t *testing.T) {
	_, points, s := reported(t, "inputs = [\"a.toml\"]\ngpus = [\"v100\"]\n[axes]\n\"l2.ways\" = [16, 8]\n\"run.launch_latency\" = [1, 2]\n[set]\n\"run.caches\" = \"flushed\"\n", func(p *Point) string {
		if p.Number == 3 {
			return "!"
		}
		return fmt.Sprintf(`{"cycles": %d, "memory": {"l2": {"hits": %d, "accesses": 8}}}`, 10*p.Number, p.Number)
	})
	// The same point before a change of its input: another digest, and older.
	if err := s.Put(&store.Record{Digest: "00", Input: "a", GPU: "v100", Settings: points[0].Settings, Result: []byte(`{"cycles": 99999}`)}); err != nil {
		t.Fatal(err)
	}
	newer, err := s.Get(points[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	newer.Made = newer.Made.AddDate(1, 0, 0)
	if err := s.Put(newer); err != nil {
		t.Fatal(err)
	}
	table, r, err := StoreReport(s, ReportOptions{Metrics: []string{"cycles", "memory.l2.hits / memory.l2.accesses"}, Baseline: []Setting{{Key: "l2.ways", Value: "16"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := []ReportAxis{{Name: "input", Levels: []string{"a"}, Base: 0}, {Name: "l2.ways", Levels: []string{"8", "16"}, Base: 1}, {Name: "run.launch_latency", Levels: []string{"1", "2"}, Base: -1}}
	if diff := cmp.Diff(want, r.Axes); diff != "" {
		t.Error(diff)
	}
	var got []string
	for i := range r.Digests {
		text := fmt.Sprintf("%s %s: %s %s", table.Rows[i].Cells[1], table.Rows[i].Cells[2], number(r.Values[0][i]), number(r.Values[1][i]))
		if state := r.States[i]; state != "" {
			text += " " + state
		}
		got = append(got, text)
	}
	if diff := cmp.Diff([]string{"16 1: 0 0", "16 2: 10 0.125", "8 1: 20 0.250", "8 2: – – it took too long"}, got); diff != "" {
		t.Error(diff)
	}
	if r.Metrics[0].More || !r.Metrics[1].More {
		t.Errorf("%+v: fewer cycles and more hits are better", r.Metrics)
	}
	if empty, err := store.Open(filepath.Join(t.TempDir(), "store")); err != nil {
		t.Fatal(err)
	} else if _, _, err := StoreReport(empty, ReportOptions{}); err == nil || !strings.Contains(err.Error(), "has no result yet") {
		t.Errorf("an empty store: %v", err)
	}
	if _, _, err := StoreReport(s, ReportOptions{Baseline: []Setting{{Key: "l2.ways", Value: "5"}}}); err == nil || !strings.Contains(err.Error(), "has no result of the baseline (l2.ways = 5)") {
		t.Errorf("an unknown baseline: %v", err)
	}
}

// A divisor of 0 leaves a quotient open; what is compared ended as it should.
func TestTableGaps(t *testing.T) {
	const axes = "inputs = [\"a.toml\"]\n[axes]\n\"l2.ways\" = [8, 16]\n[report]\nbaseline = { \"l2.ways\" = 8 }\nmetrics = "
	for _, c := range []struct{ name, metrics, first, second, want string }{
		{"divisor 0 everywhere", `["cycles", "h / n"]`, `{"cycles": 10, "h": 0, "n": 0}`, `{"cycles": 5, "h": 0, "n": 0}`, "10 – 1.000, 5 – 0.500"},
		{"no cycles", `["cycles", "ipc"]`, `{"cycles": 0, "warp_instructions": 3}`, `{"cycles": 0, "warp_instructions": 3}`, "0 –, 0 –"},
		{"names in different results", `["cycles", "h / n"]`, `{"cycles": 10, "h": 1}`, `{"cycles": 5, "n": 1}`, "10 – 1.000, 5 – 0.500"},
		{"unknown dividend", `["cycles", "g / n"]`, `{"cycles": 10, "n": 0}`, "", `no result has a number called "g"`},
		{"unknown divisor", `["cycles", "h / m"]`, `{"cycles": 10, "h": 0}`, "", `no result has a number called "m"`},
		{"the baseline ended early", `["cycles"]`, `4:{"cycles": 10}`, `{"cycles": 5}`, "10 exit code 4, 5"},
		{"one ended early", `["cycles"]`, `{"cycles": 10}`, `4:{"cycles": 5}`, "10 1.000, 5 – exit code 4"},
		{"all ended early", `["cycles"]`, `4:{"cycles": 10}`, `4:{"cycles": 5}`, "10 1.000 exit code 4, 5 0.500 exit code 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, points, s := reported(t, axes+c.metrics+"\n", func(p *Point) string { return []string{c.first, c.second}[p.Number] })
			table, err := f.Table(points, s)
			if err != nil {
				if !strings.HasPrefix(err.Error(), c.want) {
					t.Errorf("got %v, want %s", err, c.want)
				}
				return
			}
			var b strings.Builder
			if err := table.WriteText(&b); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, line := range strings.Split(strings.TrimSpace(b.String()), "\n")[1:] {
				got = append(got, strings.Join(strings.Fields(line)[2:], " "))
			}
			if diff := cmp.Diff(c.want, strings.Join(got, ", ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDiffGaps: a quotient whose divisor is 0 is named as such, and a ratio to 0 is left open.
func TestDiffGaps(t *testing.T) {
	for _, c := range []struct{ name, metric, a, b, want string }{
		{"divisor 0", "h / n", `{"cycles": 1, "h": 3, "n": 0}`, `{"cycles": 1, "h": 3, "n": 1}`, `"h / n" has no value in any result`},
		{"no cycles", "ipc", `{"cycles": 0, "warp_instructions": 3}`, `{"cycles": 1, "warp_instructions": 3}`, `"ipc" has no value in any result`},
		{"an unknown name", "h / m", `{"h": 3}`, `{"h": 3}`, `has a number called "h / m"`},
		{"from 0", "h", `{"h": 0}`, `{"h": 3}`, "vecadd 0 3 -"},
		{"from 2", "h", `{"h": 2}`, `{"h": 3}`, "vecadd 2 3 1.5000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stores [2]*store.Store
			for i, text := range []string{c.a, c.b} {
				s, err := store.Open(filepath.Join(t.TempDir(), "store"))
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Put(&store.Record{Digest: strings.Repeat("a", 32), Input: "vecadd", Result: []byte(text)}); err != nil {
					t.Fatal(err)
				}
				stores[i] = s
			}
			d, err := Diff(stores[0], stores[1], c.metric)
			got := fmt.Sprint(err)
			if err == nil {
				var b strings.Builder
				if err := d.WriteText(&b); err != nil {
					t.Fatal(err)
				}
				got = strings.Join(strings.Fields(b.String()), " ")
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
