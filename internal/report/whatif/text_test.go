package whatif

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func example() *Result {
	return &Result{
		Heddle: "1.2.3", Input: "job.toml", GPU: "v100", Core: "simt", Launches: "0-2", Cycles: 10_000, Checks: 2, Printed: true,
		Ideals: []Ideal{
			{Name: "l1", Key: "ideal.l1", What: "every load hit the L1", Optimistic: "first touches are free", Cycles: 4000, SavedCycles: 6000, SavedPercent: 60, SameOutput: true,
				Launches: []Launch{{Launch: 0, Name: "k", Before: 10_000, After: 4000}},
				Lines: []Line{
					{File: "dir/k.ptx", Line: 7, Function: "k", Instruction: "add.f32", SourceFile: "/src/k.cu", SourceLine: 3, State: "long_scoreboard", Before: 80_000, After: 5000},
					{File: "dir/k.ptx", Line: 9, Function: "k", Instruction: "ret", State: "drain", Before: 900, After: 100},
					{PC: 0xa80, Function: "lud", Instruction: "STS", State: "wait", Before: 700, After: 100}, // of a trace
				}},
			{Name: "l2", Key: "ideal.l2", What: "every access hit the L2", Optimistic: "so are writes", Cycles: 5000, SavedCycles: 5000, SavedPercent: 50, SameOutput: true, Lines: []Line{}, Launches: []Launch{}},
			{Name: "const", Key: "ideal.const", What: "every constant hit", Cycles: 10_000, SameOutput: false, Lines: []Line{}, Launches: []Launch{}},
			{Name: "icache", Key: "ideal.icache", What: "every fetch hit", Error: "broken", Lines: []Line{}, Launches: []Launch{}},
			{Name: "network", Key: "ideal.network", What: "the network had no contention", Cycles: 10_100, SavedCycles: -100, SavedPercent: -1, SameOutput: true, Lines: []Line{}, Launches: []Launch{}},
		},
		Pair:       &Pair{Names: [2]string{"l1", "l2"}, Cycles: 3900, SavedCycles: 6100, SavedPercent: 61, SumCycles: 11_000, InteractionCycles: -4900, SameOutput: true},
		SumPercent: 110, Missing: []Missing{{"dram_latency", "the machine has no model of the DRAM"}},
	}
}

func TestText(t *testing.T) {
	const want = `heddle 1.2.3  what if  job.toml  on v100 (simt core)
baseline: 10,000 cycles (launches 0-2)

what if                        cycles    saved                       name
every load hit the L1           4,000  −60.0 %  ███████████████████▎  l1
every access hit the L2         5,000  −50.0 %  ████████████████     l2
every constant hit             10,000    0.0 %                       const
every fetch hit                failed                                icache
the network had no contention  10,100   +1.0 %                       network

l1 and l2 together: 3,900 cycles, −61.0 %; alone they add up to 11,000 cycles less, together they save 4,900 fewer: both claim these cycles
sum of all savings: 110.0 %; more than 100 % because causes overlap: the same cycles count for several of them

name  lines with less waiting  instruction  waited    now  for
l1    k.cu:3                   add.f32      80,000  5,000  long scoreboard
      k.ptx:9                  ret             900    100  drain
      lud pc 0xa80             STS             700    100  wait

l1 is optimistic: first touches are free
l2 is optimistic: so are writes
const: the program printed something else than in the baseline; if that is not a time, its cycles are not comparable
icache failed: broken
dram_latency was not tried: the machine has no model of the DRAM
values: all runs but 1 passed 2 checks
`
	var b strings.Builder
	if err := example().WriteText(&b); err != nil {
		t.Fatal(err)
	}
	have, lines := strings.Split(b.String(), "\n"), strings.Split(want, "\n")
	for i := range max(len(have), len(lines)) {
		var a, b string
		if i < len(have) {
			a = have[i]
		}
		if i < len(lines) {
			b = lines[i]
		}
		if strings.Join(strings.Fields(a), " ") != strings.Join(strings.Fields(b), " ") {
			t.Errorf("line %d:\n%s\nwant\n%s", i+1, a, b)
		}
	}
}

// TestTextOfMany checks that what saves nothing takes one line.
func TestTextOfMany(t *testing.T) {
	r := example()
	for _, name := range []string{"a", "b", "c", "d"} {
		r.Ideals = append(r.Ideals, Ideal{Name: name, What: "if " + name, Cycles: 10_001, SavedCycles: -1, SavedPercent: -0.01, SameOutput: true})
	}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, "\nless than 0.05 %: const, a, b, c, d\n\nl1 and l2 together") || strings.Contains(text, "if a") {
		t.Error(text)
	}
}

func TestTextOfThePair(t *testing.T) {
	for _, c := range []struct {
		name string
		pair *Pair
		want string
	}{
		{"one hides the other", &Pair{Names: [2]string{"a", "b"}, InteractionCycles: 7}, "together they save 7 more: one hides the other"},
		{"apart", &Pair{Names: [2]string{"a", "b"}}, "and so they do together"},
		{"failed", &Pair{Names: [2]string{"a", "b"}, Error: "broken"}, "a and b together: failed: broken"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := example()
			r.Pair = c.pair
			var b strings.Builder
			if err := r.WriteText(&b); err != nil || !strings.Contains(b.String(), c.want) {
				t.Errorf("%v, want %q in:\n%s", err, c.want, b.String())
			}
		})
	}
}

func TestJSON(t *testing.T) {
	var b strings.Builder
	if err := example().WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var back Result
	if err := json.Unmarshal([]byte(b.String()), &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&back, example()) {
		t.Errorf("read back: %+v", back)
	}
}

// TestTextOfValues checks what is said of the values and the output of all runs.
func TestTextOfValues(t *testing.T) {
	same := func() []Ideal { return []Ideal{{Name: "a", SameOutput: true}, {Name: "b", SameOutput: true}} }
	for _, c := range []struct {
		name   string
		change func(r *Result)
		want   string
		wrong  bool
	}{
		{"all right", func(*Result) {}, "values: every run passed 2 checks; all runs printed the same\n", false},
		{"no checks", func(r *Result) { r.Checks = 0 }, "values: the input has no checks; all runs printed the same\n", false},
		{"nothing printed", func(r *Result) { r.Printed = false }, "values: every run passed 2 checks\n", false},
		{"a run failed", func(r *Result) { r.Ideals[1] = Ideal{Name: "b", Error: "broken"} }, "b failed: broken\nvalues: all runs but 1 passed 2 checks; all runs but 1 printed the same\n", false},
		{"wrong values", func(r *Result) { r.Ideals[1] = Ideal{Name: "b", Error: "the values of x are wrong", WrongValues: true} }, "values: all runs but 1 passed", true},
		{"the pair failed", func(r *Result) { r.Pair.Error, r.Pair.WrongValues = "the values of x are wrong", true }, "values: all runs but 1 passed", true},
		{"the pair printed something else", func(r *Result) { r.Pair.SameOutput = false }, "a and b: the program printed something else than in the baseline; if that is not a time, its cycles are not comparable\nvalues: every run passed 2 checks\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &Result{Checks: 2, Printed: true, Ideals: same(), Pair: &Pair{Names: [2]string{"a", "b"}, SameOutput: true}}
			c.change(r)
			var b strings.Builder
			if err := r.WriteText(&b); err != nil || !strings.Contains(b.String(), c.want) || r.WrongValues() != c.wrong {
				t.Errorf("%v, wrong values: %v; want %v and %q in:\n%s", err, r.WrongValues(), c.wrong, c.want, b.String())
			}
		})
	}
}
