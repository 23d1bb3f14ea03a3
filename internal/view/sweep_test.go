package view_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/compare"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/sweep"
	"github.com/heddle-sim/heddle/internal/sweep/store"
	"github.com/heddle-sim/heddle/internal/view"
)

// This file: the report of a sweep in a browser.

// sweepOf is a sweep of two inputs on two machines over four sizes of the L2, two memories and as
// many launch latencies as are asked for, whose results are in a store. Of the second input one point
// has failed, one has not run, and one has another exit code. What it returns are the results by name.
func sweepOf(t *testing.T, latencies int) (*sweep.File, *store.Store, *sweep.Table, *sweep.Report) {
	t.Helper()
	dir := t.TempDir()
	job, err := filepath.Abs(root + "/examples/vecadd/vecadd.toml")
	if err != nil {
		t.Fatal(err)
	}
	other, err := filepath.Abs(root + "/examples/matmul/matmul.toml")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for i := range latencies {
		list = append(list, strconv.Itoa(100*i))
	}
	text := fmt.Sprintf(`inputs = [{ path = %q, name = "vecadd" }, { path = %q, name = %q }]
gpus = ["rtx-2060", "v100"]
[axes]
"l2.ways" = [4, 8, 16, 32]
memory = [{ "clocks.dram" = 800 }, { "clocks.dram" = 1600, "l1d.ways" = 64 }]
"run.launch_latency" = [%s]
[report]
baseline = { gpu = "rtx-2060", "l2.ways" = 8, "clocks.dram" = 800 }
metrics = ["cycles", "ipc", "energy", "memory.l2.hits"]
better = { energy = "less" }
`, job, other, hostile, strings.Join(list, ", "))
	path := filepath.Join(dir, "l2.toml")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := sweep.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	points, err := f.Points()
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(filepath.Join(dir, "l2.store"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range points {
		keep(t, s, p)
	}
	table, err := f.Table(points, s)
	if err != nil {
		t.Fatal(err)
	}
	return f, s, table, f.Summary(table, s)
}

// keep puts a made-up result of a point into a store.
func keep(t *testing.T, s *store.Store, p *sweep.Point) {
	t.Helper()
	r := &store.Record{Digest: p.Digest, Input: p.Input.Name, GPU: p.GPU, Settings: p.Settings}
	ways, dram, latency := 0.0, 0.0, 0.0
	for _, x := range p.Settings {
		v, err := strconv.ParseFloat(x.Value, 64)
		if err != nil {
			t.Fatal(err)
		}
		switch x.Key {
		case "l2.ways":
			ways = v
		case "clocks.dram":
			dram = v
		case "run.launch_latency":
			latency = v
		}
	}
	cycles := math.Round(20_000/math.Sqrt(ways) + 4_000_000/dram + 3*latency)
	energy := 5 + ways/4 + dram/400
	if p.GPU == "v100" {
		cycles, energy = math.Round(cycles*0.7), energy*1.5
	}
	if p.Input.Name == hostile {
		cycles *= 3
		switch p.String()[len(hostile):] {
		case " v100 l2.ways=32 clocks.dram=800 run.launch_latency=0":
			return // has not run
		case " v100 l2.ways=32 clocks.dram=1600 l1d.ways=64 run.launch_latency=0":
			r.Why = "it took longer than " + hostile
		case " v100 l2.ways=16 clocks.dram=1600 l1d.ways=64 run.launch_latency=0":
			r.Code, cycles = 4, 1
		}
	}
	if r.Why == "" {
		r.Result = fmt.Appendf(nil, `{"heddle": "1", "mode": "timing", "input": "x", "cycles": %.0f, "warp_instructions": 32768, "energy": %g, "memory": {"l2": {"hits": %.0f}}}`, cycles, energy, 100*ways)
	}
	if err := s.Put(r); err != nil {
		t.Fatal(err)
	}
}

// sweepPage is the page of a report.
func sweepPage(t *testing.T, r *sweep.Report) *view.Page {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return &view.Page{Sweep: text, SweepName: "l2.toml"}
}

// cell is a number as the page writes it: whole, or with at most seven significant digits.
func cell(v *float64) string {
	switch {
	case v == nil:
		return "–"
	case *v == math.Trunc(*v):
		return report.Count(uint64(*v))
	}
	digits := 6 - int(math.Floor(math.Log10(math.Abs(*v))))
	text := strconv.FormatFloat(*v, 'f', max(0, digits), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	whole, rest, _ := strings.Cut(text, ".")
	n, _ := strconv.ParseUint(whole, 10, 64)
	if whole = report.Count(n); rest != "" {
		whole += "." + rest
	}
	return whole
}

// cells are the texts of the cells of a table by its label, a row each; the head is the first.
func (b *browser) cells(label string) [][]string {
	b.Helper()
	return js[[][]string](b, fmt.Sprintf(`[...document.querySelectorAll('[aria-label=%q] tr:not(.spacer)')].map(r => [...r.children].map(c => c.innerText.replaceAll("\u00a0", " ").trim()))`, label))
}

// click clicks a button of a card by the title of the card.
func (b *browser) click(card, button string) {
	b.Helper()
	js[int](b, fmt.Sprintf(`(card => { [...card.querySelectorAll("button")].find(x => x.innerText.trim() === %q).click(); return new Promise(r => setTimeout(() => requestAnimationFrame(() => r(1)), 50)) })([...document.querySelectorAll(".card")].find(c => c.querySelector("h2")?.innerText.startsWith(%q)))`, button, card))
}

// choose chooses an option of a list by the text of its label within a card.
func (b *browser) choose(card, label, option string) {
	b.Helper()
	js[int](b, fmt.Sprintf(`(s => { s.value = [...s.options].find(o => o.text === %[1]q).value; s.dispatchEvent(new Event("change", {bubbles: true})); return new Promise(r => setTimeout(() => requestAnimationFrame(() => r(1)), 50)) })([...[...document.querySelectorAll(".card")].find(c => c.classList.contains(%[2]q) || c.querySelector("h2")?.innerText.startsWith(%[2]q)).querySelectorAll("label")].find(l => l.innerText.startsWith(%[3]q)).querySelector("select"))`, option, card, label))
}

func TestSweepReport(t *testing.T) {
	alltests.Only(t, "pages in a browser")
	b := newBrowser(t)
	_, s, table, r := sweepOf(t, 2)
	url := b.write(sweepPage(t, r))
	b.open(url)
	for name, f := range map[string]func(*testing.T, *browser, *sweep.Table, *sweep.Report, *store.Store){
		"verdicts": sweepVerdicts, "points": sweepPoints, "curves": sweepCurves, "heat map": sweepHeat, "front": sweepFront, "selection": sweepSelection, "address": sweepAddress,
	} {
		t.Run(name, func(t *testing.T) {
			b.T = t
			b.open(url)
			f(t, b, table, r, s)
			b.quiet()
		})
	}
	b.T = t
	b.open(url)
	b.picture("sweep")
	b.click("Points", "17")
	b.picture("sweep-point")
	if n := js[int](b, `document.querySelectorAll("img, script[src]").length`); n != 0 {
		t.Errorf("%d elements of a hostile name are in the page", n)
	}
	b.quiet()
}

// sweepVerdicts compares the best and the worst with those of the store.
func sweepVerdicts(t *testing.T, b *browser, table *sweep.Table, _ *sweep.Report, s *store.Store) {
	shown := strings.Join(strings.Fields(b.text()), " ")
	// Of each combination, the geometric mean of both inputs; those with a failed point have none.
	means := map[string]float64{}
	for i := range table.Rows {
		for j := range table.Rows {
			a, c := &table.Rows[i], &table.Rows[j]
			if a.Point.Input.Name == "vecadd" && c.Point.Input.Name == hostile && slices.Equal(a.Cells[1:], c.Cells[1:]) && c.State == "" && c.Code == 0 {
				means[strings.Join(a.Cells[1:], " ")] = math.Sqrt(*a.Values[0] * *c.Values[0])
			}
		}
	}
	if len(means) != len(table.Rows)/2-3 {
		t.Fatalf("%d means", len(means))
	}
	best, worst := math.Inf(1), 0.0
	for _, v := range means {
		best, worst = min(best, v), max(worst, v)
	}
	for _, want := range []string{cell(&best), cell(&worst), "64 points", "62", "v100"} {
		if !strings.Contains(strings.ReplaceAll(shown, "points 64", "64 points"), want) {
			t.Errorf("the summary does not show %q", want)
		}
	}
	list, err := s.Digests()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"vecadd", hostile} {
		least, most := math.Inf(1), 0.0
		for _, d := range list {
			rec, err := s.Get(d)
			if err != nil {
				t.Fatal(err)
			}
			var x struct{ Cycles float64 }
			if err := json.Unmarshal(rec.Result, &x); err != nil {
				t.Fatal(err)
			}
			if rec.Input == name && rec.Code == 0 {
				least, most = min(least, x.Cycles), max(most, x.Cycles)
			}
		}
		found := false
		for _, row := range b.cells("Best and worst of each input")[1:] {
			if row[0] == name {
				found = true
				if row[1] != cell(&least) || row[3] != cell(&most) {
					t.Errorf("%s: best %s, worst %s; want %s, %s", name, row[1], row[3], cell(&least), cell(&most))
				}
			}
		}
		if !found {
			t.Errorf("there is no row of %s", name)
		}
	}
}

// sweepPoints compares the table with the store, and sorts it.
func sweepPoints(t *testing.T, b *browser, table *sweep.Table, r *sweep.Report, s *store.Store) {
	rows := b.cells("Points")
	if len(rows) != len(table.Rows)+1 {
		t.Fatalf("%d rows, want %d", len(rows), len(table.Rows)+1)
	}
	metric := slices.Index(rows[0], "cycles")
	for i, row := range rows[1:] {
		want := []string{"–", "–"}
		if rec, err := s.Get(r.Digests[i]); err == nil {
			var x struct{ Cycles, Energy float64 }
			if err := json.Unmarshal(rec.Result, &x); err != nil {
				t.Fatal(err)
			}
			want = []string{cell(&x.Cycles), cell(&x.Energy)}
		}
		if got := []string{row[metric], row[metric+2]}; !slices.Equal(got, want) {
			t.Errorf("point %d has %q, want %q", i, got, want)
		}
		if ratio := table.Rows[i].Ratio; ratio > 0 && table.Rows[i].Code == 0 && row[metric+4] != fmt.Sprintf("%.3f", ratio) {
			t.Errorf("point %d is %s of the baseline, want %.3f", i, row[metric+4], ratio)
		}
	}
	text := b.text()
	for _, want := range []string{"no result: it has not run", "no result: it took longer than " + hostile, "exit code 4", hostile} {
		if !strings.Contains(text, want) {
			t.Errorf("the table does not show %q", want)
		}
	}
	b.click("Points", "cycles")
	last := math.Inf(1)
	for _, row := range b.cells("Points")[1:] {
		v, err := strconv.ParseFloat(strings.ReplaceAll(row[metric], ",", ""), 64)
		if err != nil {
			v = math.Inf(1) // without a value, as the worst
		}
		if v > last {
			t.Errorf("sorted by cycles, %s follows %g", row[metric], last)
		}
		last = v
	}
}

// along is the geometric mean of what a page averages.
func along(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(list)))
}

// sweepCurves compares the curves of the L2 with the points, at the baseline and averaged.
func sweepCurves(t *testing.T, b *browser, table *sweep.Table, _ *sweep.Report, _ *store.Store) {
	b.click("cycles along each axis", "Table")
	check := func(held bool) {
		shown := map[string]string{}
		for _, row := range b.cells("cycles along each axis")[1:] {
			shown[strings.Join(row[:3], " ")] = row[3]
		}
		for _, name := range []string{"vecadd", hostile} {
			for _, ways := range []string{"4", "8", "16", "32"} {
				values := map[string][]float64{} // by the other axes
				levels := map[string]int{}
				for _, row := range table.Rows {
					rest := strings.Join(append(slices.Clone(row.Cells[1:2]), row.Cells[3:]...), " ")
					if row.Point.Input.Name != name || held && !strings.HasPrefix(rest, "rtx-2060 800") {
						continue
					}
					if row.State == "" && row.Code == 0 {
						levels[rest]++
						if row.Cells[2] == ways {
							values[rest] = append(values[rest], *row.Values[0])
						}
					}
				}
				var list []float64
				for rest, n := range levels {
					if n == 4 {
						list = append(list, values[rest]...)
					}
				}
				want := along(list)
				got, err := strconv.ParseFloat(strings.ReplaceAll(shown["l2.ways "+ways+" "+name], ",", ""), 64)
				if err != nil || math.Abs(got/want-1) > 1e-6 {
					t.Errorf("held %v: %s with %s ways has %q, want %g", held, name, ways, shown["l2.ways "+ways+" "+name], want)
				}
			}
		}
	}
	check(true)
	b.choose("toolbar", "Other axes", "averaged")
	check(false)
	if text := b.text(); !strings.Contains(text, "Combinations that lack a value") || !strings.Contains(text, "averaged: gpu, l2.ways") {
		t.Error("the page does not say what it averages and leaves out")
	}
}

// sweepHeat compares the cells of a heat map with the points of an input.
func sweepHeat(t *testing.T, b *browser, table *sweep.Table, _ *sweep.Report, _ *store.Store) {
	b.choose("toolbar", "Input", "vecadd")
	b.choose("toolbar", "Other axes", "averaged")
	b.choose("cycles by two axes", "Across", "l2.ways")
	b.choose("cycles by two axes", "Down", "gpu")
	rows := b.cells("cycles by gpu and l2.ways")
	for i, gpu := range []string{"rtx-2060", "v100"} {
		for j, ways := range []string{"4", "8", "16", "32"} {
			var list []float64
			for _, row := range table.Rows {
				if row.Cells[0] == "vecadd" && row.Cells[1] == gpu && row.Cells[2] == ways {
					list = append(list, *row.Values[0])
				}
			}
			got, err := strconv.ParseFloat(strings.ReplaceAll(rows[1+i][1+j], ",", ""), 64)
			if want := along(list); err != nil || math.Abs(got/want-1) > 1e-3 { // four digits are shown
				t.Errorf("%s, %s ways: %q, want %g", gpu, ways, rows[1+i][1+j], want)
			}
		}
	}
}

// sweepFront compares the front with one that compares all points with all others.
func sweepFront(t *testing.T, b *browser, table *sweep.Table, r *sweep.Report, _ *store.Store) {
	b.choose("Trade-off", "Input", hostile)
	b.choose("Trade-off", "Across", "energy")
	b.choose("Trade-off", "Up", "memory.l2.hits")
	type pair struct{ energy, hits float64 }
	var all []pair
	for _, row := range table.Rows {
		if row.Point.Input.Name == hostile && row.State == "" && row.Code == 0 {
			all = append(all, pair{*row.Values[2], *row.Values[3]})
		}
	}
	var want [][]string
	for _, p := range all {
		if !slices.ContainsFunc(all, func(o pair) bool { return o.energy <= p.energy && o.hits >= p.hits && o != p }) {
			want = append(want, []string{cell(&p.energy), cell(&p.hits)})
		}
	}
	var got [][]string
	for _, row := range b.cells("Points on the front")[1:] {
		got = append(got, row[:2])
	}
	order := func(x, y []string) int { return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1])) }
	slices.SortFunc(want, order)
	slices.SortFunc(got, order)
	if len(want) < 8 || !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("the front is %v, want %v", got, want)
	}
}

// sweepSelection selects by keyboard and by pointer.
func sweepSelection(t *testing.T, b *browser, table *sweep.Table, r *sweep.Report, _ *store.Store) {
	rows := func() int { return len(b.cells("Points")) - 1 }
	js[int](b, `[...document.querySelectorAll('[aria-label="Select by gpu"] button')].find(x => x.innerText === "v100").focus(); 1`)
	b.do(chromedp.KeyEvent(" "))
	if n := rows(); n != 32 {
		t.Errorf("%d points on the v100, want 32", n)
	}
	js[int](b, `document.querySelector('[aria-label="cycles: at most"]').focus(); 1`)
	b.do(chromedp.KeyEvent("9000"), chromedp.KeyEvent(kb.Enter))
	want := 0
	for _, row := range table.Rows {
		if row.Point.GPU == "v100" && row.State == "" && row.Code == 0 && *row.Values[0] <= 9000 {
			want++
		}
	}
	if n := rows(); n != want || want == 0 {
		t.Errorf("%d points within 9,000 cycles, want %d", n, want)
	}
	if !strings.Contains(b.text(), fmt.Sprintf("%d of 64 points", want)) {
		t.Errorf("the page does not say that %d points are selected", want)
	}
	b.click("All points", "Select all 64 points")
	// The upper half of the axis gpu is the v100.
	type box struct{ X, Y, W, H float64 }
	at := js[box](b, `(g => { g.scrollIntoView({block: "center"}); const r = g.querySelector(".grab").getBoundingClientRect(); return {X: r.x, Y: r.y, W: r.width, H: r.height} })([...document.querySelectorAll(".dim")].find(g => g.querySelector(".name").textContent.startsWith("gpu")))`)
	mouse := func(kind input.DispatchMouseEventType, y float64) {
		call(b, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: at.X + at.W/2, Y: y, Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1})
	}
	mouse(input.DispatchMouseEventTypeMousePressed, at.Y+2)
	mouse(input.DispatchMouseEventTypeMouseMoved, at.Y+at.H*0.2)
	mouse(input.DispatchMouseEventTypeMouseMoved, at.Y+at.H*0.4)
	mouse(input.DispatchMouseEventTypeMouseReleased, at.Y+at.H*0.4)
	if n := rows(); n != 32 {
		t.Errorf("%d points after dragging along the axis, want 32", n)
	}
}

// sweepAddress finds that what is chosen is in the address.
func sweepAddress(t *testing.T, b *browser, _ *sweep.Table, _ *sweep.Report, _ *store.Store) {
	b.choose("toolbar", "Metric", "ipc")
	b.click("Points", "17")
	url := js[string](b, `location.href`)
	b.do(chromedp.Navigate("about:blank"))
	b.open(url)
	text := b.text()
	for _, want := range []string{"ipc along each axis", "Point 17", "heddle view "} {
		if !strings.Contains(text, want) {
			t.Errorf("%s does not show %q", url, want)
		}
	}
}

// TestSmallSweeps shows reports in which something is missing.
func TestSmallSweeps(t *testing.T) {
	alltests.Only(t, "pages in a browser")
	b := newBrowser(t)
	for _, c := range []struct {
		name, text string
		run        func(*sweep.Point) string // a result; "" for none
		words      []string
	}{
		{"one point", "gpus = [\"v100\"]\n", func(*sweep.Point) string { return `{"cycles": 1234, "warp_instructions": 4936}` }, []string{"All are equal: 1,234", "All are equal: 4", "no axis but its inputs", "needs two axes", "On the front: 1 of 1"}},
		{"nothing has run", "[axes]\n\"l2.ways\" = [4, 8]\n", func(*sweep.Point) string { return "" }, []string{"No point has a number to be compared", "No point has a value", "no result: it has not run", "No point has values of both metrics"}},
		{"one metric, one axis", "[axes]\n\"l2.ways\" = [4, 8]\n[report]\nmetrics = [\"cycles\"]\n", func(p *sweep.Point) string { return fmt.Sprintf(`{"cycles": %d}`, 10+p.Number) }, []string{"A Pareto front needs two metrics", "cycles of vecadd.", "needs two axes"}},
		{"zeros and negative numbers", "[axes]\n\"l2.ways\" = [4, 8]\n\"run.launch_latency\" = [0, 1]\n[report]\nmetrics = [\"cycles\", \"x\"]\n", func(p *sweep.Point) string { return fmt.Sprintf(`{"cycles": 0, "x": %d}`, p.Number-2) }, []string{"All are equal: 0", "arithmetic ones where a value is not above 0", "-2"}},
		{"an axis of many values", "[axes]\n\"run.launch_latency\" = [" + strings.Repeat("1, ", 59) + "7]\n", func(p *sweep.Point) string {
			return fmt.Sprintf(`{"cycles": %d, "warp_instructions": 9}`, 100+p.Number)
		}, []string{"60 values"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.T = t
			job, err := filepath.Abs(root + "/examples/vecadd/vecadd.toml")
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "small.toml")
			if err := os.WriteFile(path, fmt.Appendf(nil, "inputs = [%q]\n%s", job, c.text), 0o666); err != nil {
				t.Fatal(err)
			}
			f, err := sweep.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			points, err := f.Points()
			if err != nil {
				t.Fatal(err)
			}
			s, err := store.Open(filepath.Join(t.TempDir(), "store"))
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range points {
				if text := c.run(p); text != "" {
					if err := s.Put(&store.Record{Digest: p.Digest, Input: p.Input.Name, Settings: p.Settings, Result: []byte(text)}); err != nil {
						t.Fatal(err)
					}
				}
			}
			table, err := f.Table(points, s)
			if err != nil {
				t.Fatal(err)
			}
			b.open(b.write(sweepPage(t, f.Summary(table, s))))
			shown := strings.ReplaceAll(b.text(), "\u00a0", " ")
			for _, w := range c.words {
				if !strings.Contains(shown, w) {
					t.Errorf("the page does not show %q", w)
				}
			}
			b.picture("sweep-" + strings.ReplaceAll(c.name, " ", "-"))
			b.quiet()
		})
	}
}

// The picture of docs/sweeps.md is made of a report in the file of the first variable.
const sweepPageIn, sweepPictureIn = "HEDDLE_SWEEP_PAGE", "HEDDLE_SWEEP_PICTURE"

// TestSweepPicture takes a picture of a report's charts, if one is wanted.
func TestSweepPicture(t *testing.T) {
	file, picture := os.Getenv(sweepPageIn), os.Getenv(sweepPictureIn)
	if file == "" || picture == "" {
		t.Skipf("no picture is wanted; %s and %s say of which report and where", sweepPageIn, sweepPictureIn)
	}
	b := newBrowser(t)
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 1100, Height: 900, DeviceScaleFactor: 1})
	b.open("file://" + file)
	// The switches are left out: the picture shows charts.
	box := js[[]float64](b, `document.querySelector(".switches").remove(); document.querySelectorAll("#lines .note, #axes .toolbar").forEach(x => x.remove()); new Promise(r => setTimeout(r, 300)).then(() => {
		const a = document.querySelector("#lines .card").getBoundingClientRect(), z = document.querySelector("#axes .card:last-child").getBoundingClientRect();
		return [a.left, a.top + scrollY, a.width, z.bottom - a.top];
	})`)
	beyond := true
	png := call(b, page.CaptureScreenshot, page.CaptureScreenshotParams{CaptureBeyondViewport: &beyond, Clip: &page.Viewport{X: box[0] - 4, Y: box[1] - 4, Width: box[2] + 8, Height: box[3] + 8, Scale: 1}}).Data
	if err := os.WriteFile(picture, png, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestSweepPages links pages of points in place of commands.
func TestSweepPages(t *testing.T) {
	_, _, _, r := sweepOf(t, 1)
	r.Pages = "l2.pages"
	x := data(t, write(t, sweepPage(t, r)))["sweep"].(map[string]any)
	if x["pages"] != "l2.pages" || len(x["digests"].([]any)) != 32 {
		t.Errorf("the data are %v", x)
	}
	if page := write(t, sweepPage(t, r)); len(page) > 400_000 || strings.Contains(page, hostile) {
		t.Errorf("%d bytes", len(page))
	}
}

// TestComparisonAlone shows a comparison of two stores, which has no result beside it.
func TestComparisonAlone(t *testing.T) {
	alltests.Only(t, "pages in a browser")
	table := func(side, store string, values ...float64) *compare.Table {
		x := &compare.Table{Side: side, Files: []string{store}, Metric: "cycles"}
		for i, v := range values {
			x.Rows = append(x.Rows, compare.Row{Name: fmt.Sprint("point ", i, " ", hostile), Launch: -1, Value: v, File: store})
		}
		return x
	}
	c, err := compare.Compare(table("a", "old.store", 100, 200, 7), table("b", "new.store", 110, 200), "point", compare.ByName, 0)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := c.WriteJSON(&text, true); err != nil {
		t.Fatal(err)
	}
	out, ok := compare.Parse(text.Bytes())
	if !ok {
		t.Fatal("the comparison cannot be read again")
	}
	b := newBrowser(t)
	b.open(b.write(&view.Page{Comparisons: []view.Comparison{{Name: "old.store and new.store", JSON: out}}}))
	b.picture("diff")
	shown := b.text()
	for _, want := range []string{"old.store and new.store", "5.00 %", "+5.00 %", "10.00 %", "old.store only", hostile} {
		if !strings.Contains(shown, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	b.quiet()
}

// TestSweepAccessible runs axe-core on the report.
func TestSweepAccessible(t *testing.T) {
	alltests.Only(t, "pages in a browser")
	axe := axeCore(t)
	b := newBrowser(t)
	_, _, _, r := sweepOf(t, 2)
	b.open(b.write(sweepPage(t, r)))
	js[int](b, axe+";1")
	b.click("Points", "17")
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 390} {
			t.Run(fmt.Sprint(scheme, " ", width), func(t *testing.T) {
				b.T = t
				b.scheme(scheme)
				call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1})
				b.accessible()
			})
		}
	}
	b.T = t
	b.quiet()
}

// many repeats the points of a report along one more axis, with other digests and values.
func many(r *sweep.Report, times int) {
	n := len(r.Digests)
	axis := sweep.ReportAxis{Name: "run.launch_latency", Base: -1}
	var levels, bases []int
	for k := range times {
		axis.Levels = append(axis.Levels, strconv.Itoa(100*k))
		for i := range n {
			levels = append(levels, k)
			b := -1
			if r.Bases[i] >= 0 {
				b = k*n + r.Bases[i]
			}
			bases = append(bases, b)
			if k == 0 {
				continue
			}
			for a := range r.At {
				r.At[a] = append(r.At[a], r.At[a][i])
			}
			for m := range r.Values {
				v := r.Values[m][i]
				if v != nil {
					v = new(*v + float64(k)/7)
				}
				r.Values[m] = append(r.Values[m], v)
			}
			sum := sha256.Sum256(fmt.Append(nil, k, r.Digests[i]))
			r.Digests, r.Counted = append(r.Digests, fmt.Sprintf("%x", sum[:16])), append(r.Counted, r.Counted[i])
			if state, ok := r.States[i]; ok {
				r.States[k*n+i] = state
			}
		}
	}
	r.Axes, r.At, r.Bases = append(r.Axes, axis), append(r.At, levels), bases
}

// TestLargeSweep finds that a report of 5,000 points and more is usable.
func TestLargeSweep(t *testing.T) {
	alltests.Only(t, "pages in a browser")
	const longest = 200 // ms that the page may compute for a step
	b := newBrowser(t)
	call(b, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
	_, _, _, r := sweepOf(t, 1)
	many(r, 157)
	url := b.write(sweepPage(t, r))
	st, err := os.Stat(strings.TrimPrefix(url, "file://"))
	if err != nil || st.Size() > 1<<20 || len(r.Digests) < 5000 {
		t.Errorf("%d points in %d bytes, want at most 1 MiB", len(r.Digests), st.Size())
	}
	b.open(url)
	shown := js[float64](b, `performance.now()`)
	most := 0.0
	for i := range 30 {
		before := b.work()
		js[int](b, fmt.Sprintf(`(box => { box.scrollTop += %d %% 3 ? 400 : box.scrollHeight / 25; return new Promise(r => requestAnimationFrame(() => setTimeout(() => r(1), 0))) })(document.querySelector(".grid.many"))`, i))
		most = max(most, b.work()-before)
	}
	before := b.work()
	b.click("All points", "v100")
	selecting := b.work() - before
	t.Logf("%d points, %d bytes, shown after %.0f ms; a step of scrolling takes at most %.0f ms, a selection %.0f ms", len(r.Digests), st.Size(), shown, most, selecting)
	if most > longest {
		t.Errorf("scrolling by a step takes %.0f ms, want at most %d", most, longest)
	}
	if rows := js[int](b, `document.querySelectorAll("tr").length`); rows > 500 {
		t.Errorf("%d rows are in the document", rows)
	}
	call(b, emulation.ClearDeviceMetricsOverride, cdp.Empty{})
	b.quiet()
}
