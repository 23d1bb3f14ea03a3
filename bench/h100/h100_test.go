package main

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/alltests"
)

func load(t *testing.T) *heddle.Program {
	t.Helper()
	t.Chdir("../..")
	p, err := loaded("ptx")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The kernels' results equal those of plain Go, also if blocks extend beyond the matrix, as PTX and as machine code.
func TestValues(t *testing.T) {
	t.Chdir("../..")
	for _, code := range []string{"ptx", "compiled"} {
		p, err := loaded(code)
		if err != nil {
			t.Fatal(err)
		}
		testValues(t, p)
	}
}

func testValues(t *testing.T, p *heddle.Program) {
	for _, b := range benchmarks {
		for _, c := range alltests.Some([]struct{ n, block int }{{21, 16}, {1, 8}, {33, 32}, {2, 8}, {16, 8}}, 2) {
			m, err := newMachine(p, c.n, c.block)
			if err != nil {
				t.Fatal(err)
			}
			if err := m.check(b.run(m)); err != nil {
				t.Errorf("%s of size %d, width %d: %v", b.name, c.n, c.block, err)
			}
		}
	}
}

// Wrong values are detected.
func TestCheckFinds(t *testing.T) {
	m, err := newMachine(load(t), 16, 8)
	if err != nil {
		t.Fatal(err)
	}
	list := benchmarks[0].run(m)
	list[0].want[17] *= 1.001
	if err := m.check(list); err == nil || !strings.Contains(err.Error(), "element 17") {
		t.Errorf("a wrong element gives %v", err)
	}
}

// A few quick measurements of the half that was not used for tuning.
func TestHardware(t *testing.T) {
	alltests.Only(t, "rows of an H100")
	p := load(t)
	all, err := readHardware("bench/h100/testdata")
	if err != nil {
		t.Fatal(err)
	}
	empty := 0
	for i := range all {
		r := &all[i]
		if r.kind != "empty" || r.tuned || r.blocks > 4096 {
			continue
		}
		empty++
		n, err := simulate(p, r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if e := n/r.hardware() - 1; math.Abs(e) > .1 {
			t.Errorf("empty kernel, %d blocks of %d threads: %.0f cycles, hardware %.0f, %+.1f %%", r.blocks, r.block, n, r.hardware(), 100*e)
		}
	}
	if empty < 30 {
		t.Errorf("only %d rows of empty kernels", empty)
	}

	// A step of the chain takes 4.07 to 4.14 cycles, over all shapes.
	at := func(turns int) float64 {
		n, err := simulate(p, &row{kind: "ffma", block: 32, blocks: 1, turns: turns}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if s := (at(40) - at(10)) / (30 * 128); s < 4.07/1.02 || s > 4.14*1.02 {
		t.Errorf("a step of the chain takes %.3f cycles", s)
	}

	kept := map[string]float64{}
	list := slices.Clone(chases)
	if !alltests.On() {
		list = slices.DeleteFunc(list, func(c ring) bool { return c.name == "L2, other half" })
	}
	if err := latencies(p, list, kept, nil); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2]float64{"L1": {32, 35}, "L2, own half": {260, 270}, "L2, other half": {450, 525}, "DRAM": {637, 663}} {
		if n, ok := kept["latency "+name]; ok && (n < want[0] || n > want[1]) {
			t.Errorf("a dependent load takes %.1f cycles in the %s, want %v", n, name, want)
		}
	}
}

// Every row is read, each once, and split in halves.
func TestReadHardware(t *testing.T) {
	list, err := readHardware("testdata")
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	odd := map[string]int{}
	for i := range list {
		count[list[i].kind]++
		if list[i].tuned {
			odd[list[i].kind]++
		}
	}
	want := map[string]int{"empty": 175, "2dconv": 33, "2mm": 33, "3mm": 27, "atax": 27, "bicg": 27, "gemm": 27, "gesummv": 27, "mvt": 27, "syrk": 27}
	for k, n := range want {
		if count[k] != n || odd[k] != (n+1)/2 {
			t.Errorf("%s: %d rows, %d of them tuned; want %d and %d", k, count[k], odd[k], n, (n+1)/2)
		}
	}
	r, _, err := readRow("suite=polybench, benchmark=gemm, frequency=345, profile_type=nsys, size=32, blockDimX=8, cycles=3624.92, beforeTurning=1")
	if err != nil || r.key() != "gemm\t32\t8\t0\t0" {
		t.Fatalf("%q: %v", r.key(), err)
	}
	if us := r.hardware() / clock; math.Abs(us-10.507) > 1e-3 {
		t.Errorf("the row takes %.3f microseconds, not 10.507", us)
	}
	for _, bad := range []string{
		"", "suite", "benchmark=gemm, cycles=1, frequency=x, blockDimX=8", "benchmark=gemm, cycles=0, frequency=345, blockDimX=8",
		"benchmark=gemm, cycles=1, frequency=0, blockDimX=8", "benchmark=gemm, cycles=1, frequency=345", "benchmark=gemm, cycles=NaN, frequency=345, blockDimX=8",
	} {
		if _, _, err := readRow(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestSummarise(t *testing.T) {
	for _, c := range []struct {
		errors []float64
		want   summary
	}{
		{nil, summary{}},
		{[]float64{-.2}, summary{1, .2, .2, .2, .2, -.2}},
		{[]float64{.1, -.3}, summary{2, .2, .2, .3, .3, -.1}},
		{[]float64{.5, -.1, .3}, summary{3, .3, .3, .5, .5, .7 / 3}},
		{[]float64{.01, .02, .03, .04, .05, .06, .07, .08, .09, .1}, summary{10, .055, .055, .09, .1, .055}},
	} {
		got := summarise(c.errors)
		a, b := []float64{got.n, got.mean, got.median, got.tenth, got.worst, got.bias}, []float64{c.want.n, c.want.mean, c.want.median, c.want.tenth, c.want.worst, c.want.bias}
		if !slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) < 1e-12 }) {
			t.Errorf("%v: %+v, want %+v", c.errors, got, c.want)
		}
	}
}

// The report matches the stored results.
func TestReport(t *testing.T) {
	t.Chdir("../..")
	list, err := readHardware("bench/h100/testdata")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for i := range list {
		known[list[i].key()] = true
	}
	var kept [2]map[string]float64
	for i, file := range []string{ofPTX, ofCode} {
		if kept[i], err = readResults(file); err != nil {
			t.Fatal(err)
		}
		for k := range kept[i] {
			if !known[k] && !strings.HasPrefix(k, "latency ") {
				t.Errorf("%s has %q, which nobody has measured", file, k)
			}
		}
	}
	if b, err := os.ReadFile("docs/h100.md"); err != nil || string(b) != document(list, kept[0], kept[1]) {
		t.Errorf("docs/h100.md is not what go run ./bench/h100 writes: %v", err)
	}
}

// The stored results are close to those of the current simulator: regenerating them takes
// hours, too long for a test after every small change to the core.
func TestKept(t *testing.T) {
	t.Chdir("../..")
	for code, file := range map[string]string{"ptx": ofPTX, "compiled": ofCode} {
		p, err := loaded(code)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := readResults(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range alltests.Some([]row{
			{kind: "empty", block: 704, blocks: 2048}, {kind: "ffma", block: 64, blocks: 2, turns: 20}, {kind: "2mm", size: 32, block: 16},
			{kind: "2dconv", size: 96, block: 16}, {kind: "atax", size: 64, block: 32}, {kind: "gesummv", size: 48, block: 8}, {kind: "syrk", size: 32, block: 32},
		}, 3) {
			if r.kind == "empty" && code != "ptx" {
				continue // no code
			}
			n, err := simulate(p, &r, nil)
			if err != nil {
				t.Fatal(err)
			}
			if want, ok := kept[r.key()]; !ok || math.Abs(n/want-1) > .05 {
				t.Errorf("%s, %s: %.0f cycles, stored: %v; regenerate them with go run ./bench/h100 -run ., and with -compiled -run .", strings.ReplaceAll(r.key(), "\t", " "), code, n, want)
			}
		}
	}
}

// Job files of the same kernels take as long as the launches here.
func TestJobs(t *testing.T) {
	alltests.Only(t, "jobs of the comparison with an H100")
	p := load(t)
	for name, r := range map[string]row{
		"empty": {kind: "empty", block: 704, blocks: 2048}, "ffma": {kind: "ffma", block: 32, blocks: 1, turns: 20}, "gemm": {kind: "gemm", size: 64, block: 8},
	} {
		res, err := heddle.RunJob(t.Context(), "examples/polybench/"+name+".toml", heddle.JobOptions{Timing: true})
		if err != nil {
			t.Fatal(err)
		}
		n, err := simulate(p, &r, nil)
		if err != nil {
			t.Fatal(err)
		}
		// The values differ, and buffers may lie elsewhere.
		if !res.OK || math.Abs(float64(res.Cycles)/n-1) > .01 {
			t.Errorf("%s: the job takes %d cycles, ok %v; the launch %.0f", name, res.Cycles, res.OK, n)
		}
	}
}
