package krun_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/timeline"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/work/kcase"
	"github.com/heddle-sim/heddle/internal/work/krun"
)

const recorded = "../kcase/testdata"

// cases returns the recorded cases by name: programs and random ones.
func cases(t *testing.T) map[string][]byte {
	t.Helper()
	list := map[string][]byte{}
	files, err := filepath.Glob(recorded + "/programs/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if list[strings.TrimSuffix(filepath.Base(f), ".json")], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(recorded + "/random.jsonl.zst")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		list[fmt.Sprint("random", len(list))] = bytes.Clone(lines.Bytes())
	}
	if err := lines.Err(); err != nil || len(list) != 68 {
		t.Fatalf("%d cases, want 68: %v", len(list), err)
	}
	return list
}

func setUp(t *testing.T, text []byte, level kepler.Level) (*kcase.Case, *krun.Run) {
	t.Helper()
	c, err := kcase.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return c, coreOf(t, c, level)
}

// coreOf prepares the run of a case.
func coreOf(t *testing.T, c *kcase.Case, level kepler.Level) *krun.Run {
	t.Helper()
	progs, err := c.Assemble(c.Name, func(file string) (string, error) {
		b, err := os.ReadFile(filepath.Join(recorded, "programs", file))
		return string(b), err
	})
	if err != nil {
		t.Fatal(err)
	}
	k, err := c.Core(kepler.ConfigFor(level), progs)
	if err != nil {
		t.Fatal(err)
	}
	k.Trace(true)
	return &krun.Run{Name: "case", Core: k, Programs: progs, Limit: min(c.Limit(), 60_000)}
}

func sum(m map[string]uint64) (n uint64) {
	for _, v := range m {
		n += v
	}
	return n
}

// TestCounters runs every recorded case at both levels: the counters of the result
// sum to the run's cycles and to each warp's, and it has the recorded values.
func TestCounters(t *testing.T) {
	for name, text := range cases(t) {
		for level := range kepler.Datasheet + 1 {
			t.Run(fmt.Sprintf("%s/%v", name, level), func(t *testing.T) {
				t.Parallel()
				c, r := setUp(t, text, level)
				res := addsUp(t, c, r)
				if level != kepler.RTL {
					return
				}
				if c.RTL.DoneCycle != nil {
					same(t, "cycles", res.Cycles, uint64(*c.RTL.DoneCycle))
				}
				if c.RTL.Dual != nil {
					same(t, "dual", res.Kepler.DualIssues, *c.RTL.Dual)
					same(t, "single", res.Kepler.SingleIssues, *c.RTL.Single)
				}
				for w, n := range c.RTL.ExitCycle {
					same(t, "exit of warp "+w, res.Kepler.ExitCycle[w], uint64(n))
				}
			})
		}
	}
}

// TestMutatedCases runs the recorded cases with changed registers, masks, warps and
// programs. The hardware's behaviour is unknown there, but nothing panics, every
// run reaches its limit or says why it ended, and every cycle is counted once.
func TestMutatedCases(t *testing.T) {
	alltests.Only(t, "damaged cases")
	all := cases(t)
	names := slices.Sorted(maps.Keys(all))
	ends := map[string]int{}
	rounds := alltests.Count(2, 6)
	for n := range rounds * len(names) {
		rng := rand.New(rand.NewPCG(41, uint64(n)))
		level := kepler.Level(n / len(names) % 2)
		c, err := kcase.Parse(all[names[n%len(names)]])
		if err != nil {
			t.Fatal(err)
		}
		other, err := kcase.Parse(all[names[rng.IntN(len(names))]])
		if err != nil {
			t.Fatal(err)
		}
		c.MaxCycles, c.StartCycle = 4000, 0
		switch rng.IntN(3) {
		case 0: // the programs of another case, for the same warps
			for i := range c.Programs {
				p := other.Programs[i%len(other.Programs)]
				c.Programs[i].Asm, c.Programs[i].AsmFile = p.Asm, p.AsmFile
			}
		case 1: // with its memory as well
			c.Mem, c.Shared, c.Programs = other.Mem, other.Shared, other.Programs
		}
		for i := range c.Programs {
			c.Programs[i].Warps = nil
		}
		c.Warps = nil
		for _, w := range rng.Perm(kepler.Warps)[:1+rng.IntN(kepler.Warps)] {
			mask := rng.Uint32() & rng.Uint32() // sometimes none at all
			if rng.IntN(2) == 0 {
				mask = ^uint32(0) >> rng.IntN(33)
			}
			c.Warps = append(c.Warps, kcase.Warp{Warp: w, PC: uint32(rng.IntN(40) / 30 * rng.IntN(40)), Mask: kcase.Hex(mask)})
			if rng.IntN(40) > 0 { // else its program memory is empty
				p := &c.Programs[rng.IntN(len(c.Programs))]
				p.Warps = append(p.Warps, w)
			}
			for range 4 {
				c.Regs = append(c.Regs, [4]int64{int64(w), rng.Int64N(64), rng.Int64N(33) - 1, int64(rng.Uint32() >> rng.IntN(32))})
			}
		}
		t.Run(fmt.Sprintf("%d/%s/%v", n, c.Name, level), func(t *testing.T) {
			res := addsUp(t, c, coreOf(t, c, level))
			switch {
			case res.OK:
				ends["done"]++
			case res.Cycles == 0:
				t.Error("it did not run")
			default:
				ends["not done"]++
			}
		})
	}
	if ends["done"] < 100*rounds/6 || ends["not done"] < 20*rounds/6 {
		t.Errorf("%v: too many of one kind", ends)
	}
}

func same(t *testing.T, what string, got, want uint64) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %d, want %d", what, got, want)
	}
}

// addsUp runs a case, and checks the sums of its result's counters.
func addsUp(t *testing.T, c *kcase.Case, r *krun.Run) *report.Run {
	t.Helper()
	err := r.Do(context.Background())
	var ended *krun.Error
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	if err == nil && !r.Core.Done() || err != nil && (ended.Msg == "" || ended.Kind == "limit" && r.Core.Cycle() != r.Limit) {
		t.Errorf("it ended in cycle %d with %v", r.Core.Cycle(), err)
	}
	res := r.Result("case")
	k, own := res.Kernels[0].KernelTiming, res.Kepler
	same(t, "fetch", own.DualIssues+own.SingleIssues+sum(k.SlotStalls), k.Cycles)
	same(t, "cycles of the run", k.Cycles, res.Cycles)
	same(t, "warps", sum(k.Stalls), k.WarpCycles)
	var warps uint64
	selected := map[int]uint64{}
	for i, f := range r.Core.Fetches() {
		if i == 0 || r.Core.Fetches()[i-1].Cycle != f.Cycle {
			selected[f.Warp]++
		}
	}
	for _, w := range k.Warps {
		same(t, fmt.Sprint("warp ", w.Warp), sum(w.Stalls), w.Cycles)
		if w.ExitCycle > 0 && c.StartCycle < kepler.FirstFetch {
			same(t, fmt.Sprint("life of warp ", w.Warp), w.Cycles, w.ExitCycle)
		}
		same(t, fmt.Sprint("selections of warp ", w.Warp), w.Stalls["selected"], selected[w.Warp])
		warps += w.Cycles
	}
	same(t, "all warps", warps, k.WarpCycles)
	var at, issues, threads uint64
	for _, l := range k.Lines {
		same(t, fmt.Sprint("line ", l.Line), sum(l.Stalls), l.WarpCycles)
		at += l.WarpCycles
		issues += l.Issues
		threads += l.ThreadInstructions
	}
	same(t, "lines", at, k.WarpCycles)
	same(t, "instructions", issues, res.WarpInstructions)
	same(t, "threads", threads, res.ThreadInstructions)
	return res
}

// TestTimeline records every instruction's way in every kind of case, and compares
// it with the fetch trace and the number of executed instructions.
func TestTimeline(t *testing.T) {
	for name, text := range cases(t) {
		if strings.Contains(name, "torus") || strings.Contains(name, "pyramid") || strings.Contains(name, "cube") {
			continue // long, and alike
		}
		for level := range kepler.Datasheet + 1 {
			t.Run(fmt.Sprintf("%s/%v", name, level), func(t *testing.T) {
				t.Parallel()
				_, r := setUp(t, text, level)
				type key struct{ cycle, warp, pc uint64 }
				fetched := map[key]int{}
				executed := uint64(0)
				bad := 0
				r.Core.Record(func(w *kepler.Way) {
					fetched[key{w.Fetch, uint64(w.Warp), uint64(w.PC)}]++
					if !w.Squashed {
						executed++
					}
					last := w.Fetch
					for _, at := range []uint64{w.Decode, w.Collect, w.Read, w.Queue, w.Execute, w.Write} {
						if at < last {
							bad++
						}
						last = at
					}
				})
				for !r.Over() {
					r.Core.Step()
				}
				done := r.Core.Done()
				before := executed
				r.Core.Record(nil)
				if bad > 0 {
					t.Errorf("%d ways go backwards in time", bad)
				}
				for _, f := range r.Core.Fetches() {
					if fetched[key{f.Cycle, uint64(f.Warp), uint64(f.PC)}] == 0 {
						t.Fatalf("%+v has no way", f)
					}
				}
				if level == kepler.Datasheet {
					if n := len(r.Core.Fetches()); n != len(fetched) {
						t.Errorf("%d instructions were fetched, %d have a way", n, len(fetched))
					}
					if s := r.Core.Stats(); done && before != s.Executed {
						t.Errorf("%d ways are not squashed, %d instructions executed", before, s.Executed)
					}
				}
			})
		}
	}
}

// TestWay checks single instructions: the latencies of the specification.
func TestWay(t *testing.T) {
	prog, err := kasm.Assemble("w.kasm", "ADD R1, R2, R3\nLDR R5, [R8]\nADD R7, R5, R5 rs3=9\nEXIT", kasm.RTL)
	if err != nil {
		t.Fatal(err)
	}
	k := kepler.New(kepler.ConfigFor(kepler.Datasheet))
	if err := errors.Join(k.Load(prog.Words, 3), k.Start(3, 0, 0xff)); err != nil {
		t.Fatal(err)
	}
	rec := timeline.New(0)
	r := &krun.Run{Name: "w.kasm", Core: k, Programs: []*kasm.Program{prog}, Timeline: rec, From: 1000}
	ways := map[int]kepler.Way{}
	if err := r.Do(context.Background()); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := rec.WriteKanata(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"^Kanata\t0004\nC=\t1069\n", "L\t0\t0\tSM0 w3: ADD R1, R2, R3\n", "L\t0\t1\tADD R1, R2, R3, kernel w.kasm, .*lanes 000000ff, w.kasm:1\n", "\nR\t[0-9]+\t[0-9]+\t1\n",
	} {
		if !regexp.MustCompile(want).MatchString(text.String()) {
			t.Errorf("no %q in\n%.600s", want, text.String())
		}
	}

	k = kepler.New(kepler.ConfigFor(kepler.Datasheet))
	if err := errors.Join(k.Load(prog.Words, 3), k.Start(3, 0, 0xff)); err != nil {
		t.Fatal(err)
	}
	k.Record(func(w *kepler.Way) { ways[w.PC] = *w })
	k.Run(1000)
	const f = kepler.FirstFetch
	delay := [7]uint64{5, 3, 7, 6, 4, 1, 2}[(f+7)%7]%6 + 2 // launched in cycle f+7, it is paired with the ADD
	for pc, want := range map[int]kepler.Way{
		0: {Fetch: f, Decode: f + 1, Collect: f + 2, Read: f + 3, Queue: f + 6, Execute: f + 6, Write: f + 7},
		1: {Fetch: f, Decode: f + 1, Collect: f + 2, Read: f + 3, Queue: f + 6, Execute: f + 7, Write: f + 7 + delay + 3},
		// Two operands of one bank take a cycle more.
		2: {Fetch: f + 11 + delay, Decode: f + 12 + delay, Collect: f + 13 + delay, Read: f + 14 + delay, Queue: f + 18 + delay, Execute: f + 18 + delay, Write: f + 19 + delay},
	} {
		want.Warp, want.Program, want.PC, want.Lanes = 3, 1, pc, 0xff
		if ways[pc] != want {
			t.Errorf("pc %d: %+v, want %+v", pc, ways[pc], want)
		}
	}
}

// totals sums the rows of a series, and returns the cycle of the last one.
func totals(t *testing.T, series io.Reader, every uint64) (total map[string]uint64, last uint64) {
	t.Helper()
	rows, err := csv.NewReader(series).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	total = map[string]uint64{}
	for i, row := range rows[1:] {
		for col, cell := range row {
			if n, err := strconv.ParseUint(cell, 10, 64); err == nil {
				total[rows[0][col]] += n
			}
		}
		cycle, err := strconv.ParseUint(row[0], 10, 64)
		if err != nil || i < len(rows)-2 && cycle != last+every || cycle <= last {
			t.Fatalf("every %d: row %d has cycle %s", every, i, row[0])
		}
		last = cycle
	}
	return total, last
}

// TestSeries checks that the rows sum to the final counters.
func TestSeries(t *testing.T) {
	for _, every := range []uint64{1, 7, 1000, 1_000_000} {
		text, err := os.ReadFile(recorded + "/programs/test_app_matmul.json")
		if err != nil {
			t.Fatal(err)
		}
		_, r := setUp(t, text, kepler.RTL)
		var out bytes.Buffer
		r.Series = &run.Series{Every: every, Out: &out}
		if err := r.Do(context.Background()); err != nil {
			t.Fatal(err)
		}
		total, last := totals(t, &out, every)
		res := r.Result("matmul")
		for name, want := range map[string]uint64{
			"warp_instructions": res.WarpInstructions, "thread_instructions": res.ThreadInstructions,
			"slots.dual": res.Kepler.DualIssues, "slots.scoreboard": res.Kernels[0].SlotStalls["scoreboard"],
			"stalls.long_scoreboard": res.Kernels[0].Stalls["long_scoreboard"], "memory_transactions": res.Kepler.Transactions, "branches_taken": res.Kepler.Branches,
		} {
			if total[name] != want || want == 0 {
				t.Errorf("every %d: %s sums to %d, want %d", every, name, total[name], want)
			}
		}
		if last != res.Cycles {
			t.Errorf("every %d: the last row is of cycle %d of %d", every, last, res.Cycles)
		}
	}
}
