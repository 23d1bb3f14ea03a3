package compare

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tables reads two texts and makes tables of them.
func tables(a, b string, o Options) (ta, tb *Table, by string, err error) {
	sa, err := Read("a.csv", strings.NewReader(a))
	if err != nil {
		return nil, nil, "", err
	}
	sb, err := Read("b.json", strings.NewReader(b))
	if err != nil {
		return nil, nil, "", err
	}
	return Tables(sa, []*Source{sb}, o)
}

// written returns a table as text: name, launch, value and line of each row.
func written(t *Table) []string {
	var lines []string
	for _, r := range t.Rows {
		lines = append(lines, fmt.Sprintf("%s #%d %g :%d", r.Name, r.Launch, r.Value, r.Line))
	}
	return lines
}

const twoKernels = `{"heddle":"0.1.0","gpu":"rtx-a6000","core":"modern","mode":"timing","ok":true,"cycles":300,"memory":{"l2":{"hits":9}},
	"kernels":[{"name":"two","launch":1,"cycles":200,"memory":{"l2":{"hits":5}}},{"name":"one","launch":0,"cycles":100,"memory":{"l2":{"hits":4}}}]}`

func TestTables(t *testing.T) {
	for _, tt := range []struct {
		name   string
		text   string
		o      Options
		by     string
		metric string
		want   []string
		notes  []string
	}{
		{name: "a plain table", text: "kernel,cycles\none,100\ntwo,250.5\n", by: Kernels, metric: "cycles", want: []string{"one #-1 100 :2", "two #-1 250.5 :3"}},
		{name: "headings in any case, with a byte order mark, comments and empty lines", text: "\ufeff# measured in June\n\nKernel Name , Elapsed_Cycles\r\n\"one\", \"1,234\"\r\n",
			by: Kernels, metric: "Elapsed_Cycles", want: []string{"one #-1 1234 :4"}},
		{name: "semicolons", text: "kernel;cycles\none;7\n", by: Kernels, metric: "cycles", want: []string{"one #-1 7 :2"}},
		{name: "tabs, and cells with commas", text: "kernel\tgrid\tcycles\n\"f(int, int)\"\t(1, 1, 1)\t7\n", by: Kernels, metric: "cycles", want: []string{"f(int, int) #-1 7 :2"}},
		{name: "launch numbers", text: "ID,Kernel Name,cycles\n0,one,5\n1,one,6\n", by: Kernels, metric: "cycles", want: []string{"one #0 5 :2", "one #1 6 :3"}},
		{name: "a column of kernels that counts launches", text: "kernel,name,gpu_sim_cycle\n1,one,5\n2,two,6\n", by: Kernels, metric: "gpu_sim_cycle", want: []string{"one #1 5 :2", "two #2 6 :3"}},
		{name: "a table of runs", text: "benchmark,cycles\ngemm,5\n", by: Runs, metric: "cycles", want: []string{"gemm #-1 5 :2"}},
		{name: "benchmarks and kernels", text: "Benchmark,Kernel,Elapsed_Cycles\nbfs,one,5\n", by: Kernels, metric: "Elapsed_Cycles", want: []string{"one #-1 5 :2"}},
		{name: "benchmarks and kernels, by run", text: "Benchmark,Kernel,Elapsed_Cycles\nbfs,one,5\n", o: Options{By: Runs}, by: Runs, metric: "Elapsed_Cycles", want: []string{"bfs #-1 5 :2"}},
		{name: "names of several columns", text: "case,size,block,cycles\ngemm,64,8,5\ngemm,,8,6\n", o: Options{Names: []string{"case", "SIZE", "block"}}, by: Runs, metric: "cycles",
			want: []string{"gemm-64-8 #-1 5 :2", "gemm-8 #-1 6 :3"}},
		{name: "lines of key=value: conditions are no part of the name", text: "\nsuite=polybench, benchmark=gemm, frequency=1755, profile_type=nsys, size=64, blockDimX=8, cycles=4012.50, beforeTurning=1\n\n" +
			"suite=polybench, benchmark=2mm, frequency=1755, profile_type=nsys, size=64, dim=3, cycles=12.00, beforeTurning=1\n",
			by: Runs, metric: "cycles", want: []string{"gemm-64-8 #-1 4012.5 :2", "2mm-64-3 #-1 12 :4"}},
		{name: "conditions that rows must meet", text: "suite=s, benchmark=a, profile_type=ncu, cycles=1\nsuite=s, benchmark=a, profile_type=nsys, cycles=2\n", o: Options{Where: []string{"profile_type=nsys"}},
			by: Runs, metric: "cycles", want: []string{"a #-1 2 :2"}},
		{name: "conditions that rows must not meet", text: "kernel,name,cycles\n1,one,5\nTOTAL,1 kernels,6\n", o: Options{Where: []string{"kernel != TOTAL"}}, by: Kernels, metric: "cycles", want: []string{"one #1 5 :2"}},
		{name: "another column", text: "kernel,cycles,l2 hits\none,5,77\n", o: Options{KeyA: "L2_hits"}, by: Kernels, metric: "l2 hits", want: []string{"one #-1 77 :2"}},
		{name: "the only column with cycles in its name", text: "kernel,hw_cycles_mean,x\none,5,77\n", by: Kernels, metric: "hw_cycles_mean", want: []string{"one #-1 5 :2"}},
		{name: "rows without a value, and short ones", text: "kernel,cycles,x\none,n/a,1\ntwo,5,1\nthree\nfour,-,1\nfive,7\n", by: Kernels, metric: "cycles",
			want: []string{"two #-1 5 :3", "five #-1 7 :6"}, notes: []string{"a.csv: 3 rows without a value left out"}},
		{name: "less a launch latency", text: "kernel,cycles\none,5100\n", o: Options{LessA: 5000}, by: Kernels, metric: "cycles", want: []string{"one #-1 100 :2"}},
		{name: "Nsight Compute, a line for each metric", text: "==PROF== Connected to process 7\n==PROF== Disconnected\n" +
			`"ID","Process ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"` + "\n" +
			`"0","7","one(float*)","Speed","Elapsed Cycles","cycle","1,500"` + "\n" + `"0","7","one(float*)","Speed","SM Frequency","Ghz","1.09"` + "\n" +
			`"1","7","one(float*)","Speed","Elapsed Cycles","cycle","1,600"` + "\n" + `"1","7","one(float*)","Other","Elapsed Cycles","cycle","9"` + "\n",
			by: Kernels, metric: "Elapsed Cycles", want: []string{"one(float*) #0 1500 :4", "one(float*) #1 1600 :6"}},
		{name: "Nsight Compute, a line for each metric, launches without numbers", text: "Kernel Name,Metric Name,Metric Value\none,Elapsed Cycles,5\none,Duration,1\none,Elapsed Cycles,6\n",
			by: Kernels, metric: "Elapsed Cycles", want: []string{"one #-1 5 :2", "one #-1 6 :4"}},
		{name: "Nsight Compute, raw page with a line of units", text: `"ID","Kernel Name","gpc__cycles_elapsed.max"` + "\n" + `"","","cycle"` + "\n" + `"0","one(int)","5,827"` + "\n",
			by: Kernels, metric: "gpc__cycles_elapsed.max", want: []string{"one(int) #0 5827 :3"}},
		{name: "metrics of one kernel", text: "metric\tvalue\nElapsed Cycles\t5827\nDuration ns\t4320\n", by: Kernels, metric: "Elapsed Cycles", want: []string{" #-1 5827 :2"}},
		{name: "a result: launches in their order", text: twoKernels, by: Kernels, metric: "cycles", want: []string{"one #0 100 :0", "two #1 200 :0"}},
		{name: "a result by another counter", text: twoKernels, o: Options{KeyA: "memory.l2.hits"}, by: Kernels, metric: "memory.l2.hits", want: []string{"one #0 4 :0", "two #1 5 :0"}},
		{name: "a result as one run, less the latency of two launches", text: twoKernels, o: Options{By: Runs, LessA: 20}, by: Runs, metric: "cycles", want: []string{"a #-1 260 :0"}},
		{name: "a result that ended early", text: `{"heddle":"1","ok":false,"error":{"kind":"interrupted"},"cycles":3,"kernels":[{"name":"k","launch":0,"cycles":3}]}`, by: Kernels, metric: "cycles",
			want: []string{"k #0 3 :0"}, notes: []string{"a.csv: the run ended early (interrupted)"}},
		{name: "a sampled result: cycles of launches that were not simulated", text: sampledKernels, by: Kernels, metric: "cycles",
			want: []string{"one #0 100 :0", "one #1 110 :0"}, notes: []string{"a.csv: the run is sampled: 1 of 2 launches were simulated, the cycles of the others are estimates"}},
		{name: "a sampled result by a counter that they do not have", text: sampledKernels, o: Options{KeyA: "memory.l2.hits"}, by: Kernels, metric: "memory.l2.hits",
			want: []string{"one #0 4 :0"}, notes: []string{"a.csv: the run is sampled: 1 of 2 launches were simulated, the others are left out"}},
		{name: "a sampled result by a counter that they have", text: sampledKernels, o: Options{KeyA: "warp_instructions"}, by: Kernels, metric: "warp_instructions", want: []string{"one #0 7 :0", "one #1 8 :0"}},
		{name: "a sampled result as one run", text: sampledKernels, o: Options{By: Runs}, by: Runs, metric: "cycles",
			want: []string{"a #-1 210 :0"}, notes: []string{"a.csv: the run is sampled: 1 of 2 launches were simulated, and the cycles are an estimate ± 10.0 %"}},
		{name: "a result without kernels is a run", text: `{"heddle":"1","ok":true,"cycles":3,"kernels":[]}`, by: Runs, metric: "cycles", want: []string{"a #-1 3 :0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ta, _, by, err := tables(tt.text, twoKernels, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if by != tt.by || ta.Metric != tt.metric {
				t.Errorf("rows are %s, metric %q; want %s, %q", by, ta.Metric, tt.by, tt.metric)
			}
			if diff := cmp.Diff(tt.want, written(ta)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.notes, ta.Notes); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// sampledKernels is a result of two launches, one of which was simulated.
const sampledKernels = `{"heddle":"1","mode":"timing","ok":true,"cycles":210,"sampling":{"launches":2,"timed":1,"timed_cycles":100,"estimated_cycles":110,"margin_cycles":21},"kernels":[
	{"name":"one","launch":0,"cycles":100,"warp_instructions":7,"memory":{"l2":{"hits":4}}},{"name":"one","launch":1,"sampled":true,"cycles":110,"warp_instructions":8,"memory":{"l2":{"hits":0}}}]}`

// Invalid input is reported with its place, what is wrong, and what is valid.
func TestBadInput(t *testing.T) {
	var many strings.Builder
	many.WriteString("kernel,cycles\n")
	for range 100 {
		many.WriteString("one,x\n")
	}
	for _, tt := range []struct {
		name string
		text string
		o    Options
		want string
	}{
		{"empty", " \n\n", Options{}, "a.csv: the file is empty"},
		{"binary", "\x7fELF\x00\x01", Options{}, "a.csv: this is neither text nor JSON"},
		{"a list", "[1]", Options{}, "a.csv: this is a JSON list"},
		{"one column", "kernel\none\n", Options{}, `a.csv:1:1: the heading "kernel" has one column`},
		{"too many fields", "kernel,cycles\none,1,2\n", Options{}, "a.csv:2:7: this line has 3 fields; want the 2 of the heading"},
		{"not a number", "kernel,cycles\none, fast\n", Options{}, `a.csv:2:6: cycles: "fast" is not a number`},
		{"groups of digits", "kernel,cycles\none,\"12,34\"\n", Options{}, `a.csv:2:5: cycles: "12,34" is not a number`},
		{"negative", "kernel,cycles\none,-3\n", Options{}, "a.csv:2:5: cycles: -3 is negative"},
		{"infinite", "kernel,cycles\none,1e999\n", Options{}, "a.csv:2:5: cycles: 1e999 is out of range"},
		{"a quote too many", "kernel,cycles\no\"ne,3\n", Options{}, `a.csv:2:2: bare " in non-quoted-field`},
		{"no column of cycles", "kernel,time\none,3\n", Options{}, "a.csv:1: there is no column cycles; select one with --key-a; there are: kernel, time"},
		{"a column misspelt", "kernel,time,cycles\none,3,3\n", Options{KeyA: "tmie"}, `a.csv:1: there is no column "tmie"; did you mean "time"?`},
		{"a name misspelt", "kernel,time,cycles\none,3,3\n", Options{Names: []string{"kernle"}}, `a.csv:1: there is no column "kernle" (--name); did you mean "kernel"?`},
		{"a condition misspelt", "kernel,time,cycles\none,3,3\n", Options{Where: []string{"tmie=3"}}, `--where tmie=3: no table has the column "tmie"; did you mean "time"?`},
		{"a condition without a value", "kernel,cycles\none,3\n", Options{Where: []string{"time"}}, "--where time: write COLUMN=VALUE"},
		{"not key=value", "benchmark=a, cycles=3\nbenchmark=b, 4\n", Options{}, `a.csv:2:14: "4": want key=value`},
		{"a key twice", "benchmark=a, cycles=3, cycles=4\n", Options{}, "a.csv:1:24: cycles is given twice"},
		{"broken JSON", "{\n \"heddle\": }", Options{}, "a.csv:2:12: invalid character '}'"},
		{"JSON cut off", "{\"heddle\": 1,\n \"x", Options{}, "a.csv:2:4: the file ends within the result"},
		{"two results in a file", "{\"heddle\":1}\n{}", Options{}, "a.csv:1:13: text after the result"},
		{"other JSON", "{}", Options{}, `a.csv: this JSON is not a result of heddle run --json: it has no member "heddle"`},
		{"a member of another kind", "{\"heddle\":\"1\",\n\"kernels\":3}", Options{}, "a.csv:2:11: kernels is a number: not the type that a result has there"},
		{"a key misspelt", twoKernels, Options{KeyA: "memory.l2.hist"}, `a.csv: kernel two: there is no "memory.l2.hist"; did you mean "hits"?`},
		{"a key that has parts", twoKernels, Options{KeyA: "memory.l2"}, `a.csv: kernel two: "memory.l2" is not a number; it has parts, such as "memory.l2.hits"`},
		{"a key below a number", twoKernels, Options{KeyA: "cycles.x"}, `a.csv: kernel two: "cycles" has no parts`},
		{"a key that is a text", twoKernels, Options{KeyA: "name"}, `a.csv: kernel two: "name" is not a number`},
		{"a functional run", `{"heddle":"1","mode":"functional","kernels":[{"name":"k"}]}`, Options{}, "a.csv: this is the result of a functional run, which counts no cycles"},
		{"no kernels", `{"heddle":"1","cycles":3}`, Options{By: Kernels}, "a.csv: the result has no kernels; --by run compares whole runs"},
		{"rows of another kind", twoKernels, Options{By: "warp"}, "--by warp is not known; want kernel or run"},
		{"less than nothing", twoKernels, Options{LessA: -1}, "--less-a -1 is invalid; want a number from 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.o.KeyA != "" {
				tt.o.KeyB = "cycles"
			}
			_, _, _, err := tables(tt.text, twoKernels, tt.o)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s…", err, tt.want)
			}
		})
	}
	_, _, _, err := tables(many.String(), twoKernels, Options{})
	if n := strings.Count(err.Error(), "\n") + 1; n != mostErrors {
		t.Errorf("of 100 wrong lines %d are reported, want %d", n, mostErrors)
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadFile(dir); err == nil || !strings.Contains(err.Error(), "this is a folder") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := ReadFile(filepath.Join(dir, "none.csv")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// Names in programs, and their forms in c++filt and profilers.
func TestIdentifier(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"vecadd", "vecadd"},
		{"_Z6vecaddPfS_", "vecadd"},
		{"vecadd(float*, float*)", "vecadd"},
		{"_ZL6vecaddPf", "vecadd"},
		{"_Z4gemmIfEvPT_", "gemm"},
		{"void gemm<float>(float*)", "gemm"},
		{"_ZN3lib4core4gemmIfLi4EEEvPT_", "gemm"},
		{"void lib::core::gemm<float, 4>(float*)", "gemm"},
		{"_ZN12_GLOBAL__N_14walkEv", "walk"},
		{"(anonymous namespace)::walk()", "walk"},
		{"void f<std::pair<int, (kind)2> >(int)", "f"},
		{"2dconv-1024-8", "2dconv-1024-8"},
		{"_Z", "_Z"},
		{"_Z99x", "_Z99x"},
		{"", ""},
		{"a (b)", "a"},
		{"((((", "(((("},
		{">>>", ">>>"},
	} {
		if got := identifier(tt.name); got != tt.want {
			t.Errorf("identifier(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func FuzzCompare(f *testing.F) {
	f.Add("kernel,cycles\none,100\n", twoKernels, "", "", "name")
	f.Add("benchmark=a, size=3, cycles=100\n", "run;cycles\na-3;5\n", "cycles", "size=3", "order")
	f.Add("ID,Kernel Name,Metric Name,Metric Value\n0,f(),Elapsed Cycles,\"1,5\"\n", "metric\tvalue\nElapsed Cycles\t1e-20\n", "Elapsed Cycles", "ID!=7", "launch")
	f.Fuzz(func(t *testing.T, a, b, key, where, how string) {
		o := Options{KeyA: key, KeyB: key, LessA: 3}
		if where != "" {
			o.Where = []string{where}
		}
		ta, tb, by, err := tables(a, b, o)
		if err != nil {
			return
		}
		c, err := Compare(ta, tb, by, how, 0)
		if err != nil {
			return
		}
		var w strings.Builder
		if err := errors.Join(c.WriteText(&w, false), c.WriteJSON(&w, true), c.WriteCSV(&w), c.WriteScatter(&w, "svg"), c.WriteErrors(&w, "svg")); err != nil {
			t.Error(err)
		}
	})
}
