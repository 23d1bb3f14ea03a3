package whatif_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/whatif"
)

// fake makes runs that take these cycles less than 1,000, by the assignments of a run, two
// launches each; all warps wait at a line for as long. A negative number fails the run's check.
func fake(saved map[string]int, runs *atomic.Int32) func(context.Context, []string) (*report.Run, string, error) {
	return func(_ context.Context, set []string) (*report.Run, string, error) {
		runs.Add(1)
		key := strings.Join(set, " ")
		n := saved[key]
		if n == 1000 {
			return nil, "", errors.New("broken")
		}
		res := &report.Run{Timing: &report.Timing{Cycles: uint64(1000 - max(n, 0))}, Checks: []report.Check{{Buffer: "out", OK: n >= 0}}}
		for i := range 2 {
			cycles := uint64(500 - i*max(n, 0))
			res.Kernels = append(res.Kernels, report.Kernel{Name: "k", Launch: i, KernelTiming: &report.KernelTiming{Cycles: cycles, Lines: []report.Line{
				{File: "k.ptx", Line: 7, Instruction: "ld.global.u32", Stalls: map[string]uint64{"selected": 5, "wait": 10, "long_scoreboard": cycles}, Accesses: &report.Accesses{Requests: 1}},
				{File: "k.ptx", Line: 9, Instruction: "st.global.u32", Stalls: map[string]uint64{"selected": 5}, Accesses: &report.Accesses{Requests: 1}},
			}}})
		}
		return res, "out", nil
	}
}

// nameless makes runs whose instructions have no lines, as those of traces.
func nameless(f func(context.Context, []string) (*report.Run, string, error)) func(context.Context, []string) (*report.Run, string, error) {
	return func(ctx context.Context, set []string) (*report.Run, string, error) {
		res, printed, err := f(ctx, set)
		for i := range res.Kernels {
			for j := range res.Kernels[i].Lines {
				l := &res.Kernels[i].Lines[j]
				l.File, l.Line = "", 0
			}
		}
		return res, printed, err
	}
}

func options(t *testing.T, saved map[string]int, runs *atomic.Int32) whatif.Options {
	t.Helper()
	g, err := config.Load("rtx-2060")
	if err != nil {
		t.Fatal(err)
	}
	return whatif.Options{Input: "job.toml", Machine: g, Workers: 3, Only: []string{"l1", "l2", "const", "network"}, Run: fake(saved, runs)}
}

func TestExplore(t *testing.T) {
	var runs atomic.Int32
	o := options(t, map[string]int{
		"ideal.l1=true": 100, "ideal.l2=true": 100, "ideal.network=true": -1, "ideal.const=true": 1000,
		"ideal.l1=true ideal.l2=true": 150, "ideal.line=k.ptx:7": 300,
	}, &runs)
	o.Line = "k.ptx:7"
	res, err := whatif.Explore(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, x := range res.Ideals {
		rows = append(rows, fmt.Sprintf("%s %d %q", x.Name, x.SavedCycles, x.Error))
	}
	want := []string{`line 300 ""`, `l1 100 ""`, `l2 100 ""`, `network 0 "the values of out are wrong"`, `const 0 "broken"`}
	if !slices.Equal(rows, want) {
		t.Errorf("rows %q, want %q", rows, want)
	}
	if p := res.Pair; p == nil || p.Names != [2]string{"l1", "l2"} || p.SavedCycles != 150 || p.SumCycles != 200 || p.InteractionCycles != -50 {
		t.Errorf("pair %+v", p)
	}
	if res.Cycles != 1000 || res.SumPercent != 20 || res.Checks != 1 {
		t.Errorf("baseline %d cycles, sum %g, %d checks", res.Cycles, res.SumPercent, res.Checks)
	}
	l := res.Ideals[1].Lines
	if len(l) != 1 || l[0].Line != 7 || l[0].State != "long_scoreboard" || l[0].Before != 1020 || l[0].After != 920 {
		t.Errorf("lines %+v", l)
	}
	if n := runs.Load(); n != 7 {
		t.Errorf("%d runs, want 7", n)
	}
}

func TestLaunches(t *testing.T) {
	var runs atomic.Int32
	o := options(t, map[string]int{"ideal.l1=true": 100}, &runs)
	var err error
	if o.Launches, err = run.ParseSelection("1"); err != nil {
		t.Fatal(err)
	}
	res, err := whatif.Explore(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if res.Cycles != 500 || res.Ideals[0].SavedPercent != 20 || len(res.Ideals[0].Launches) != 1 || res.Ideals[0].Launches[0].After != 400 {
		t.Errorf("%d cycles, %+v", res.Cycles, res.Ideals[0])
	}
}

// TestKept checks that runs are made once for the same content, and again for another.
func TestKept(t *testing.T) {
	var runs atomic.Int32
	o := options(t, map[string]int{"ideal.l1=true": 100, "ideal.l2=true": 50}, &runs)
	o.Cache, o.Digest = t.TempDir(), "a"
	first, err := whatif.Explore(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	made := runs.Load()
	for _, c := range []struct {
		name   string
		change func()
		more   int32
	}{
		{"the same", func() {}, 0},
		{"another content", func() { o.Digest = "b" }, made},
		{"another machine", func() {
			if err := o.Machine.Set("l2.ways=8"); err != nil {
				t.Fatal(err)
			}
		}, made},
		{"no cache", func() { o.Digest = "" }, made},
	} {
		c.change()
		before := runs.Load()
		again, err := whatif.Explore(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if n := runs.Load() - before; n != c.more {
			t.Errorf("%s: %d more runs, want %d", c.name, n, c.more)
		}
		if !reflect.DeepEqual(first, again) {
			t.Errorf("%s: another result", c.name)
		}
	}
}

// TestFails checks what ends an exploration.
func TestFails(t *testing.T) {
	for _, c := range []struct {
		name, want string
		change     func(o *whatif.Options)
		saved      map[string]int
	}{
		{"the baseline", "broken", func(*whatif.Options) {}, map[string]int{"": 1000}},
		{"wrong values", "the values of out are wrong", func(*whatif.Options) {}, map[string]int{"": -1}},
		{"an unknown name", `no idealisation is called "network2"; did you mean "network"?`, func(o *whatif.Options) { o.Only = []string{"network2"} }, nil},
		{"a line without loads", "k.ptx:9: no load from global or local memory has run there; k.ptx:7 has one", func(o *whatif.Options) { o.Line = "k.ptx:9" }, nil},
		{"a trace", "k.ptx:7: the input names no lines", func(o *whatif.Options) { o.Line, o.Run = "k.ptx:7", nameless(o.Run) }, nil},
		{"no launch", "no launch is among 7-9; the run has 0 k, 1 k", func(o *whatif.Options) { o.Launches, _ = run.ParseSelection("7-9") }, nil},
		{"no line", "want FILE:LINE", func(o *whatif.Options) { o.Line = "k.ptx" }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var runs atomic.Int32
			o := options(t, c.saved, &runs)
			c.change(&o)
			if _, err := whatif.Explore(context.Background(), o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("ended with %v, want %q", err, c.want)
			}
			if n := runs.Load(); n > 1 {
				t.Errorf("%d runs were made", n)
			}
		})
	}
}

// TestPairPrints checks that the output of the run with two changes is compared, too, and
// that wrong values are known as such.
func TestPairPrints(t *testing.T) {
	const both = "ideal.l1=true ideal.l2=true"
	for _, c := range []struct {
		name        string
		pair        int
		other       string // what the pair prints
		same, wrong bool
	}{
		{"the same", 150, "out", true, false},
		{"something else", 150, "time", false, false},
		{"wrong values", -1, "out", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var runs atomic.Int32
			o := options(t, map[string]int{"ideal.l1=true": 100, "ideal.l2=true": 100, both: c.pair}, &runs)
			f := o.Run
			o.Run = func(ctx context.Context, set []string) (*report.Run, string, error) {
				res, printed, err := f(ctx, set)
				if strings.Join(set, " ") == both {
					printed = c.other
				}
				return res, printed, err
			}
			res, err := whatif.Explore(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			if p := res.Pair; p == nil || p.SameOutput != c.same || p.WrongValues != c.wrong || res.WrongValues() != c.wrong {
				t.Errorf("pair %+v", p)
			}
		})
	}
}
