package sweep

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/sweep/store"
)

// folder makes a folder with files; "sweep.toml" is the sweep's.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o666)
		if strings.HasPrefix(text, "#!") {
			mode = 0o777
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const aJob = "program = \"k.ptx\"\n[[launches]]\ngrid = 1\nblock = 32\n"

// base is what the sweeps of tests can run.
func base(sweep string) map[string]string {
	return map[string]string{"sweep.toml": sweep, "a.toml": aJob, "b.toml": aJob + "shared = 16\n", "k.ptx": ".version 8.0\n", "app": "#!/bin/sh\n", "gpu.toml": "extends = \"rtx-2060\"\n"}
}

func TestPoints(t *testing.T) {
	for _, c := range []struct {
		name, sweep string
		more        map[string]string
		want        []string
	}{
		{"one input", `inputs = ["a.toml"]`, nil, []string{"a"}},
		{"a pattern leaves out the sweep itself", `inputs = ["*.toml"]`, nil, []string{"a", "b", "gpu"}},
		{"inputs, then GPUs, then axes, the last first", `
inputs = ["a.toml", "b.toml"]
gpus = ["rtx-2060", "v100"]
[axes]
"l2.ways" = [8, 16]
"simt.scheduler" = ["gto", "lrr"]`, nil, []string{
			"a rtx-2060 l2.ways=8 simt.scheduler=gto", "a rtx-2060 l2.ways=8 simt.scheduler=lrr", "a rtx-2060 l2.ways=16 simt.scheduler=gto", "a rtx-2060 l2.ways=16 simt.scheduler=lrr",
			"a v100 l2.ways=8 simt.scheduler=gto", "a v100 l2.ways=8 simt.scheduler=lrr", "a v100 l2.ways=16 simt.scheduler=gto", "a v100 l2.ways=16 simt.scheduler=lrr",
			"b rtx-2060 l2.ways=8 simt.scheduler=gto", "b rtx-2060 l2.ways=8 simt.scheduler=lrr", "b rtx-2060 l2.ways=16 simt.scheduler=gto", "b rtx-2060 l2.ways=16 simt.scheduler=lrr",
			"b v100 l2.ways=8 simt.scheduler=gto", "b v100 l2.ways=8 simt.scheduler=lrr", "b v100 l2.ways=16 simt.scheduler=gto", "b v100 l2.ways=16 simt.scheduler=lrr",
		}},
		{"values that go together", `
inputs = ["a.toml"]
[axes]
memory = [{ "dram.preset" = "gddr6" }, { "dram.preset" = "hbm2", "clocks.dram" = 850 }]`, nil,
			[]string{"a dram.preset=gddr6", "a dram.preset=hbm2 clocks.dram=850"}},
		{"axes that walk together", `
inputs = ["a.toml"]
[zip]
"l2.ways" = [8, 16]
"clocks.dram" = [800.5, 900]`, nil, []string{"a l2.ways=8 clocks.dram=800.5", "a l2.ways=16 clocks.dram=900"}},
		{"flags as keys, and values of all points", `
inputs = ["a.toml"]
[set]
core = "simt"
"run.caches" = "flushed"
[axes]
max_cycles = [1000, 2000]`, nil, []string{"a core=simt run.caches=flushed max_cycles=1000", "a core=simt run.caches=flushed max_cycles=2000"}},
		{"programs and names", `inputs = [{ cuda = ["./app", "-n", "4"], name = "four" }, { cuda = ["./app", "-n", "8"] }, { path = "a.toml", name = "job" }]`, nil, []string{"four", "app", "job"}},
		{"names are made different", `inputs = ["a.toml", "x/a.toml"]`, map[string]string{"x/a.toml": aJob + "shared = 8\n", "x/k.ptx": ""}, []string{"a", "a-2"}},
		{"what is included gives way", `
include = ["inc/common.toml"]
inputs = ["b.toml"]
[axes]
"l2.ways" = [4]`, map[string]string{"inc/common.toml": "inputs = [\"../a.toml\"]\ngpus = [\"../gpu.toml\"]\n[axes]\n\"l2.ways\" = [8, 16]\n[limits]\njobs = 3\n"},
			[]string{"a GPU l2.ways=4", "b GPU l2.ways=4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := base(c.sweep)
			for name, text := range c.more {
				files[name] = text
			}
			dir := folder(t, files)
			f, err := Load(filepath.Join(dir, "sweep.toml"))
			if err != nil {
				t.Fatal(err)
			}
			list, err := f.Points()
			if err != nil && c.name != "a pattern leaves out the sweep itself" { // gpu.toml is no job
				t.Fatal(err)
			}
			if err != nil {
				list = nil
				for _, in := range f.Inputs {
					list = append(list, &Point{Input: in})
				}
			}
			var got []string
			digests := map[string]bool{}
			for i, p := range list {
				got = append(got, strings.Replace(p.String(), filepath.Join(dir, "gpu.toml"), "GPU", 1))
				if digests[p.Digest] && p.Digest != "" {
					t.Errorf("point %d has the digest of another", i)
				}
				digests[p.Digest] = true
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	dir := folder(t, base("inputs = [\"a.toml\"]\n[limits]\nmemory = \"1.5 GiB\"\ntime = \"90s\"\njobs = 3\n[report]\nmetrics = [\"cycles\"]\nbaseline = { gpu = \"v100\", \"l2.ways\" = 16 }\n"))
	f, err := Load(filepath.Join(dir, "sweep.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if want := (Limits{Memory: 3 << 29, Time: 90 * time.Second, Jobs: 3}); f.Limits != want {
		t.Errorf("limits %+v, want %+v", f.Limits, want)
	}
	if diff := cmp.Diff(ReportOptions{Baseline: []Setting{{Key: "gpu", Value: "v100"}, {Key: "l2.ways", Value: "16"}}, Metrics: []string{"cycles"}}, f.Report); diff != "" {
		t.Error(diff)
	}
}

// What is wrong is said with its place, and how to mend it.
func TestBadFiles(t *testing.T) {
	for _, c := range []struct{ name, sweep, want string }{
		{"empty", "", `the sweep has nothing to run: add inputs = ["job.toml"]`},
		{"no TOML", "inputs = [", "sweep.toml:1:"},
		{"unknown key", "inputs = [\"a.toml\"]\naxis = 1", `sweep.toml:2:1: unknown key "axis"; did you mean "axes"?`},
		{"inputs is no list", `inputs = "a.toml"`, "sweep.toml:1:10: inputs must be a list in brackets, not a string"},
		{"no inputs", "inputs = []", "sweep.toml:1:10: inputs is empty"},
		{"an input that is a number", "inputs = [1]", "sweep.toml:1:11: each of inputs must be a path in quotes"},
		{"nothing matches", `inputs = ["*.nothing"]`, `sweep.toml:1:11: no file matches "*.nothing"`},
		{"a broken pattern", `inputs = ["[.toml"]`, `is no pattern for paths`},
		{"no such program", `inputs = [{ cuda = ["./none"] }]`, `sweep.toml:1:21: no program ./none`},
		{"path and cuda", `inputs = [{ path = "a.toml", cuda = ["./app"] }]`, "either path or cuda, not both"},
		{"an input without either", `inputs = [{ name = "x" }]`, "an input needs path"},
		{"two of a name", `inputs = [{ path = "a.toml", name = "x" }, { path = "b.toml", name = "x" }]`, `two inputs have the name "x"`},
		{"unknown GPU", "inputs = [\"a.toml\"]\ngpus = [\"rtx-2061\"]", `sweep.toml:2:9: unknown GPU "rtx-2061"; did you mean "rtx-2060"?`},
		{"unknown axis", "inputs = [\"a.toml\"]\n[axes]\n\"l2.wayz\" = [1]", `sweep.toml:3:`},
		{"an axis of one value", "inputs = [\"a.toml\"]\n[axes]\n\"l2.ways\" = 8", "the axis l2.ways must be a list of values in brackets, not an integer"},
		{"an axis of none", "inputs = [\"a.toml\"]\n[axes]\n\"l2.ways\" = []", "the axis l2.ways has no values"},
		{"a value of a wrong type", "inputs = [\"a.toml\"]\n[axes]\n\"l2.ways\" = [[8]]", "a value of l2.ways must be a string, a number or a boolean, not a list"},
		{"a value that cannot be", "inputs = [\"a.toml\"]\n[axes]\n\"l2.ways\" = [\"many\"]", "sweep.toml:3:14: "},
		{"an empty value", "inputs = [\"a.toml\"]\n[axes]\nx = [{}]", "a value of the axis x is empty"},
		{"a list in set", "inputs = [\"a.toml\"]\n[set]\n\"l2.ways\" = [8]", "l2.ways in [set] must have one value"},
		{"a key twice", "inputs = [\"a.toml\"]\n[axes]\n\"l2.ways\" = [8]\nboth = [{ \"l2.ways\" = 16 }]", "l2.ways is set by l2.ways and by both"},
		{"zip of different lengths", "inputs = [\"a.toml\"]\n[zip]\n\"l2.ways\" = [8, 16]\n\"l2.line\" = [64]", "l2.line has 1 values and l2.ways 2"},
		{"no size", "inputs = [\"a.toml\"]\n[limits]\nmemory = \"much\"", `memory = "much"; want a size such as "16 GiB"`},
		{"no time", "inputs = [\"a.toml\"]\n[limits]\ntime = \"-3s\"", `time = "-3s"; want a duration`},
		{"no jobs", "inputs = [\"a.toml\"]\n[limits]\njobs = 0", "jobs is 0; it must be at least 1"},
		{"an include that is missing", "include = [\"x.toml\"]", "sweep.toml:1:12: include: cannot read"},
		{"an include of itself", "include = [\"sweep.toml\"]", "sweep.toml includes this file in turn"},
		{"better of no metric", "inputs = [\"a.toml\"]\n[report]\nmetrics = [\"cycles\", \"seconds\"]\nbetter = { cycels = \"more\" }", `sweep.toml:4:12: "cycels" in better is none of the metrics; did you mean "cycles"?`},
		{"better of none of the default metrics", "inputs = [\"a.toml\"]\n[report]\nbetter = { hits = \"more\" }", `"hits" in better is none of the metrics; they are: cycles, ipc`},
		{"no metric", "inputs = [\"a.toml\"]\n[report]\nmetrics = []", "metrics is empty"},
		{"a million points", "inputs = [\"a.toml\"]\n[axes]\n\"l2.ways\" = " + numbers(1000) + "\n\"run.launch_latency\" = " + numbers(1000), "1 inputs × 1 GPUs × 1000 values of l2.ways × 1000 values of run.launch_latency are 1000000 points, more than the limit of 100000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folder(t, base(c.sweep))
			_, err := Load(filepath.Join(dir, "sweep.toml"))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	f, err := Load(filepath.Join(folder(t, base("inputs = [\"a.toml\"]\n[report]\nbaseline = { \"l2.ways\" = 8 }\n")), "sweep.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Points(); err == nil || !strings.Contains(err.Error(), "no point is the baseline of the report (l2.ways = 8)") {
		t.Errorf("a baseline that there is not: %v", err)
	}
	dir := folder(t, map[string]string{"one.toml": `include = ["two.toml"]`, "two.toml": `include = ["three.toml"]`, "three.toml": `include = ["one.toml"]`})
	if _, err := Load(filepath.Join(dir, "one.toml")); err == nil || !strings.Contains(err.Error(), "three.toml:1:12: include: one.toml includes this file in turn") {
		t.Errorf("a circle: %v", err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "it is a folder") {
		t.Errorf("a folder: %v", err)
	}
}

func numbers(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprint(1+i))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// A point's name changes with everything that its result depends on, and with nothing else.
func TestDigests(t *testing.T) {
	digest := func(files map[string]string) string {
		t.Helper()
		f, err := Load(filepath.Join(folder(t, files), "sweep.toml"))
		if err != nil {
			t.Fatal(err)
		}
		list, err := f.Points()
		if err != nil {
			t.Fatal(err)
		}
		return list[0].Digest
	}
	plain := "inputs = [\"a.toml\"]\ngpus = [\"gpu.toml\"]\n"
	want := digest(base(plain))
	for _, c := range []struct {
		name   string
		change func(files map[string]string)
		same   bool
	}{
		{"nothing", func(map[string]string) {}, true},
		{"the name of the input", func(f map[string]string) {
			f["sweep.toml"] = strings.Replace(plain, `"a.toml"`, `{ path = "a.toml", name = "other" }`, 1)
		}, true},
		{"limits", func(f map[string]string) { f["sweep.toml"] += "[limits]\njobs = 1\n" }, true},
		{"a value that is the default", func(f map[string]string) { f["sweep.toml"] += "[set]\n\"l2.ways\" = 16\n" }, true},
		{"the same machine by another name", func(f map[string]string) { f["sweep.toml"] = strings.Replace(plain, "gpu.toml", "rtx-2060", 1) }, true},
		{"another value", func(f map[string]string) { f["sweep.toml"] += "[set]\n\"l2.ways\" = 8\n" }, false},
		{"a value in the GPU's file", func(f map[string]string) { f["gpu.toml"] += "[l2]\nways = 8\n" }, false},
		{"a run condition", func(f map[string]string) { f["sweep.toml"] += "[set]\n\"run.caches\" = \"flushed\"\n" }, false},
		{"the limit of device memory", func(f map[string]string) { f["sweep.toml"] += "[set]\n\"functional.memory\" = \"1GiB\"\n" }, false},
		{"a flag", func(f map[string]string) { f["sweep.toml"] += "[set]\nkernels = \"0\"\n" }, false},
		{"the job", func(f map[string]string) { f["a.toml"] += "shared = 16\n" }, false},
		{"its program", func(f map[string]string) { f["k.ptx"] += "\n" }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := base(plain)
			c.change(files)
			if got := digest(files); (got == want) != c.same {
				t.Errorf("same digest: %t, want %t", got == want, c.same)
			}
		})
	}
}

// A point's name changes with a file that its GPU's file extends, without cycles too.
func TestExtended(t *testing.T) {
	for _, mode := range []string{"timing", "functional"} {
		t.Run(mode, func(t *testing.T) {
			digests := map[string]bool{}
			for _, capability := range []string{"8.6", "8.0"} {
				files := base("inputs = [\"a.toml\"]\ngpus = [\"gpu.toml\"]\n[set]\nmode = \"" + mode + "\"\n")
				files["gpu.toml"] = "extends = \"below.toml\"\n"
				files["below.toml"] = "extends = \"rtx-a6000\"\ncompute_capability = \"" + capability + "\"\n"
				f, err := Load(filepath.Join(folder(t, files), "sweep.toml"))
				if err != nil {
					t.Fatal(err)
				}
				list, err := f.Points()
				if err != nil {
					t.Fatal(err)
				}
				digests[list[0].Digest] = true
			}
			if len(digests) != 2 {
				t.Error("the same name for two machines")
			}
		})
	}
}

// FuzzLoad: a sweep is read, or refused with a place or a reason.
func FuzzLoad(f *testing.F) {
	for _, text := range []string{
		"inputs = [\"a.toml\"]\ngpus = [\"v100\"]\n[axes]\n\"l2.ways\" = [8, 16]\nx = [{ \"l2.line\" = 64 }]\n[zip]\n\"clocks.dram\" = [1, 2.5]\n",
		"include = [\"sweep.toml\"]\n[limits]\nmemory = \"1 GiB\"\ntime = \"1h\"\n[report]\nbaseline = { gpu = \"x.toml\" }\nmetrics = [\"ipc\"]\n",
		"inputs = [{ cuda = [\"./app\", \"-n\"], reads = [\".\"], name = \"n\" }, { path = \"*.toml\" }]\n[set]\ncore = \"simt\"\nkernels = \"0-\"\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "/") || strings.Contains(text, "*") {
			return // the rest of the disk is not part of the test
		}
		file, err := Load(filepath.Join(folder(t, base(text)), "sweep.toml"))
		if (file == nil) == (err == nil) {
			t.Fatalf("%v, %v", file, err)
		}
		if err == nil && file.points() <= 100 {
			_, _ = file.Points()
		}
	})
}

// Single points are found without a look at the inputs of others, and also after the sweep has changed.
func TestNamed(t *testing.T) {
	const sweep = "inputs = [\"a.toml\", \"b.toml\"]\n[axes]\n\"l2.ways\" = [8, 16]\n"
	dir := folder(t, base(sweep))
	s, err := store.Open(filepath.Join(dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	named := func(digests ...string) (string, string, error) {
		f, err := Load(filepath.Join(dir, "sweep.toml"))
		if err != nil {
			t.Fatal(err)
		}
		list, unknown, err := f.Named(digests, s)
		return fmt.Sprint(list), unknown, err
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Load(filepath.Join(dir, "sweep.toml"))
	if err != nil {
		t.Fatal(err)
	}
	points, err := f.Points()
	if err != nil {
		t.Fatal(err)
	}
	last := points[3].Digest
	expect := func(what string, want, wantUnknown string, digests ...string) {
		t.Helper()
		if list, unknown, err := named(digests...); err != nil || list != want || unknown != wantUnknown {
			t.Errorf("%s: %s, unknown %q, error %v", what, list, unknown, err)
		}
	}
	expect("nothing is known", "[b l2.ways=16]", "", last)
	expect("a name of no point", "[]", "00", last, "00")
	write("a.toml", "nonsense")
	expect("the other input cannot be read", "[b l2.ways=16]", "", last)
	if _, _, err := named(points[0].Digest); err == nil || !strings.Contains(err.Error(), "a.toml") {
		t.Errorf("its own input cannot be read: %v", err)
	}
	write("a.toml", aJob)
	write("sweep.toml", strings.Replace(sweep, "[8,", "[4, 8,", 1))
	expect("points have moved", "[b l2.ways=16]", "", last)
	if got := s.Order(filepath.Join(dir, "sweep.toml")); len(got) != 6 || got[5] != last {
		t.Errorf("what is kept is %v", got)
	}
	write("b.toml", aJob+"shared = 32\n")
	expect("the input has changed", "[]", last, last)
	f.Remember(points, s)
	write("sweep.toml", strings.Replace(sweep, "16", "8", 1))
	expect("one has become another", "[]", points[1].Digest, points[0].Digest, points[1].Digest)
}

// The example is a sweep, and its points have names.
func TestExample(t *testing.T) {
	f, err := Load("../../examples/sweep.toml")
	if err != nil {
		t.Fatal(err)
	}
	points, err := f.Points()
	if err != nil {
		t.Fatal(err)
	}
	digests := map[string]bool{}
	for _, p := range points {
		digests[p.Digest] = true
	}
	if len(points) != 2*2*3*4*2 || len(digests) != len(points) {
		t.Errorf("%d points with %d names", len(points), len(digests))
	}
}
