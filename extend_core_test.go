package heddle_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/alltests"
)

// greedy is GTO or CGGTY as a plug-in: the warp that issued last, then by age.
type greedy struct{ youngest bool }

func (g greedy) Order(w *heddle.Warps, order []uint8) []uint8 {
	if w.Last >= 0 {
		order = append(order, uint8(w.Last))
	}
	if !g.youngest {
		return append(order, w.ByAge...)
	}
	for i := len(w.ByAge) - 1; i >= 0; i-- {
		order = append(order, w.ByAge[i])
	}
	return order
}

// lazy never issues anything.
type lazy struct{}

func (lazy) Order(*heddle.Warps, []uint8) []uint8 { return nil }

// wild names slots that are not its own, and some twice.
type wild struct{}

func (wild) Order(w *heddle.Warps, order []uint8) []uint8 {
	order = append(order, 255, 64, 63, 0)
	order = append(order, w.ByAge...)
	return append(order, w.ByAge...)
}

// asking issues from the warp that has issued least, and checks its input.
type asking struct {
	t         *testing.T
	scheduler int
}

func (a asking) Order(w *heddle.Warps, order []uint8) []uint8 {
	best, least := uint8(0), ^uint64(0)
	var mine uint64
	for i, s := range w.ByAge {
		mine |= 1 << s
		x := w.Info(int(s))
		if i > 0 && w.Info(int(w.ByAge[i-1])).Age >= x.Age {
			a.t.Error("ByAge is not in the order of age")
		}
		if x.Kernel == "" || int(s)%4 != a.scheduler || w.Try>>s&1 != 0 && x.Next == nil {
			a.t.Errorf("slot %d of scheduler %d has %+v", s, a.scheduler, x)
		}
		if w.Can>>s&1 != 0 && x.Issued < least {
			best, least = s, x.Issued
		}
	}
	for _, set := range []uint64{w.Try, w.Memory, w.Result, w.Barrier, w.Fetch} {
		if set&^mine != 0 {
			a.t.Errorf("a set has slots %#x that no warp of the scheduler is in", set&^mine)
		}
	}
	if w.Try == 0 || w.Can&^w.Try != 0 || w.Can&(w.Memory|w.Result|w.Barrier|w.Fetch) != 0 || w.Try&(w.Barrier|w.Fetch) != 0 {
		a.t.Errorf("try %#x, can %#x, memory %#x, barrier %#x, fetch %#x", w.Try, w.Can, w.Memory, w.Barrier, w.Fetch)
	}
	for _, slot := range []int{-1, 64, 1000} {
		if x := w.Info(slot); x != (heddle.WarpInfo{}) {
			a.t.Errorf("slot %d, which no core has, has %+v", slot, x)
		}
	}
	if least == ^uint64(0) {
		return append(order, w.ByAge...)
	}
	return append(order, best)
}

var asked *testing.T // for the schedulers called asking

func init() {
	heddle.RegisterScheduler("own-gto", func(sm, scheduler int) heddle.Scheduler { return greedy{} })
	heddle.RegisterScheduler("own-cggty", func(sm, scheduler int) heddle.Scheduler { return greedy{youngest: true} })
	heddle.RegisterScheduler("lazy", func(sm, scheduler int) heddle.Scheduler { return lazy{} })
	heddle.RegisterScheduler("wild", func(sm, scheduler int) heddle.Scheduler { return wild{} })
	heddle.RegisterScheduler("asking", func(sm, scheduler int) heddle.Scheduler { return asking{asked, scheduler} })
}

// timed runs a job on a machine with changed values, and returns its result without
// the fields that differ between runs.
func timed(t *testing.T, job string, set ...string) (*heddle.JobResult, error) {
	t.Helper()
	o := heddle.JobOptions{Timing: true}
	for _, s := range set {
		if machine, ok := strings.CutPrefix(s, "gpu="); ok {
			o.GPU, o.Settings.Core, _ = strings.Cut(machine, " ")
			continue
		}
		if err := o.Settings.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	res, err := heddle.RunJob(context.Background(), job, o)
	if res != nil {
		res.Seconds = 0
	}
	return res, err
}

// TestOwnScheduler: the models' policies, written as plug-ins, give the same result
// in every counter. With HEDDLE_ALL on every eighth example.
func TestOwnScheduler(t *testing.T) {
	few, jobs := []string{"gpgpusim/reduce"}, []string{"gpgpusim/reduce", "gpgpusim/matmul_tiled"}
	if alltests.On() {
		list, err := filepath.Glob("examples/*/*.toml")
		if err != nil {
			t.Fatal(err)
		}
		few, jobs = []string{"transpose", "reduction", "printf"}, nil
		for _, path := range alltests.Spread(list, 2, 8) {
			if b, err := os.ReadFile(path); err == nil && !strings.Contains(string(b), ".kasm\"") {
				jobs = append(jobs, path)
			}
		}
	}
	for i, m := range []struct{ gpu, key, built, own string }{
		{"rtx-2060", "simt.scheduler", "gto", "own-gto"},
		{"gtx-480", "simt.scheduler", "gto", "own-gto"},
		{"rtx-3070 modern", "modern.scheduler", "cggty", "own-cggty"},
		{"rtx-3070 modern", "modern.scheduler", "gto", "own-gto"},
	} {
		list := few // on the first machine all
		if i == 0 {
			list = jobs
		}
		t.Run(m.gpu+" "+m.own, func(t *testing.T) {
			for _, job := range list {
				if filepath.Ext(job) == "" {
					job = jobFile(job)
				}
				t.Run(filepath.Base(job), func(t *testing.T) {
					t.Parallel()
					want, wantErr := timed(t, job, "gpu="+m.gpu, m.key+"="+m.built)
					have, haveErr := timed(t, job, "gpu="+m.gpu, m.key+"="+m.own)
					if (wantErr == nil) != (haveErr == nil) {
						t.Fatalf("it ended with %v, and with %v", wantErr, haveErr)
					}
					a, _ := json.Marshal(want)
					b, _ := json.Marshal(have)
					if string(a) != string(b) {
						t.Errorf("%d cycles, want %d; other numbers may differ too", have.Cycles, want.Cycles)
					}
				})
			}
		})
	}
}

// TestSchedulers: a scheduler's input is right, it may return anything, and one
// that issues nothing ends the run, not the program. The number of threads and
// skipping idle cycles change nothing.
func TestSchedulers(t *testing.T) {
	asked = t
	const job = "testdata/reference/gpgpusim/matmul_tiled.toml"
	for _, m := range []struct{ gpu, key string }{{"rtx-2060", "simt.scheduler"}, {"rtx-3070 modern", "modern.scheduler"}} {
		for _, name := range []string{"asking", "wild"} {
			t.Run(m.gpu+" "+name, func(t *testing.T) {
				asked = t
				want, err := timed(t, job, "gpu="+m.gpu, m.key+"="+name)
				if err != nil || !want.OK {
					t.Fatal(err)
				}
				every, err := timed(t, job, "gpu="+m.gpu, m.key+"="+name, "run.idle_skip=false")
				if err != nil || every.Cycles != want.Cycles {
					t.Errorf("%d cycles if every one is simulated, else %d; %v", every.Cycles, want.Cycles, err)
				}
			})
		}
		t.Run(m.gpu+" lazy", func(t *testing.T) {
			var stuck *heddle.StuckError
			if _, err := timed(t, job, "gpu="+m.gpu, m.key+"=lazy"); !errors.As(err, &stuck) {
				t.Errorf("it ended with %v, want a *StuckError", err)
			}
		})
	}
	t.Run("names", func(t *testing.T) {
		var o heddle.RunOptions
		o.Settings.Set("simt.scheduler=own-gtp")
		if _, err := heddle.RunJob(context.Background(), job, heddle.JobOptions{Timing: true, GPU: "rtx-2060", Settings: o.Settings}); err == nil || !strings.Contains(err.Error(), `"own-gto"`) {
			t.Errorf("a misspelt name: %v", err)
		}
		for _, name := range []string{"gto", "cggty", "two-level", "own-gto", ""} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%q was registered twice", name)
					}
				}()
				heddle.RegisterScheduler(name, nil)
			}()
		}
	})
	t.Run("allocations", func(t *testing.T) {
		allocated := func(set string) uint64 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := timed(t, job, "gpu=rtx-2060", set); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			return after.Mallocs - before.Mallocs
		}
		allocated("simt.scheduler=gto")
		// Three for each scheduler of each SM: the scheduler, its list, and its
		// holder.
		if a, b := allocated("simt.scheduler=gto"), allocated("simt.scheduler=own-gto"); b > a+a/10+1000 {
			t.Errorf("%d allocations with a built-in scheduler, %d with a registered one", a, b)
		}
	})
}

// inTurn is the built-in round robin of a chip with an SM in each cluster, as a
// plug-in; lowest is lowest-first; alone keeps one block on the chip at a time;
// never places none; wrong returns SMs and kernels that do not exist.
type (
	inTurn struct{ last int }
	lowest struct{}
	alone  struct{}
	never  struct{}
	wrong  struct{ n int }
)

func first(o *heddle.Offer, from int) int {
	for i := range o.SMs {
		if sm := (from + i) % o.SMs; o.CanTake(sm, 0) {
			return sm
		}
	}
	return -1
}

func (s *inTurn) Next(o *heddle.Offer) (sm, kernel int) {
	if sm = first(o, s.last+1); sm >= 0 {
		s.last = sm
	}
	return sm, 0
}

func (lowest) Next(o *heddle.Offer) (sm, kernel int) { return first(o, 0), 0 }

func (alone) Next(o *heddle.Offer) (sm, kernel int) {
	for _, n := range o.Blocks {
		if n > 0 {
			return -1, 0
		}
	}
	return first(o, int(o.Kernels[0].Next)), 0
}

func (never) Next(*heddle.Offer) (sm, kernel int) { return -1, -1 }

func (w *wrong) Next(o *heddle.Offer) (sm, kernel int) {
	switch w.n++; w.n % 5 {
	case 0:
		return o.SMs, 0
	case 3: // what it writes is its own affair
		o.SMs, o.Blocks, o.Warps, o.Took = 1000, nil, nil, nil
		o.Kernels = append(o.Kernels, o.Kernels...)
		return 999, len(o.Kernels) - 1
	case 1:
		return 0, len(o.Kernels)
	case 2:
		return -7, 0
	}
	return first(o, 0), 0
}

func init() {
	heddle.RegisterBlockScheduler("own-round-robin", func() heddle.BlockScheduler { return &inTurn{-1} })
	heddle.RegisterBlockScheduler("own-lowest-first", func() heddle.BlockScheduler { return lowest{} })
	heddle.RegisterBlockScheduler("alone", func() heddle.BlockScheduler { return alone{} })
	heddle.RegisterBlockScheduler("never", func() heddle.BlockScheduler { return never{} })
	heddle.RegisterBlockScheduler("wrong", func() heddle.BlockScheduler { return &wrong{} })
}

// TestBlockSchedulers: the built-in policies, written as plug-ins, give the same
// result in every counter; one that lets blocks wait only costs time; one that
// places none ends the run; skipping idle cycles changes nothing.
func TestBlockSchedulers(t *testing.T) {
	run := func(job string, set ...string) (*heddle.JobResult, string, error) {
		res, err := timed(t, job, append(set, "gpu=rtx-2060", "run.block_log=true")...)
		b, _ := json.Marshal(res)
		return res, string(b), err
	}
	for _, job := range alltests.Some([]string{"gpgpusim/reduce", "compact", "transpose", "reduction"}, 1) {
		job = jobFile(job)
		for _, name := range []string{"round-robin", "lowest-first"} {
			t.Run(filepath.Base(job)+" "+name, func(t *testing.T) {
				want, all, err := run(job, "chip.block_scheduler="+name)
				if err != nil {
					t.Fatal(err)
				}
				if res, have, err := run(job, "chip.block_scheduler=own-"+name); err != nil || have != all {
					t.Errorf("%d cycles, want %d; other numbers may differ too; %v", res.Cycles, want.Cycles, err)
				}
			})
		}
	}
	const job = "testdata/reference/gpgpusim/matmul_tiled.toml"
	for _, name := range []string{"alone", "wrong"} {
		t.Run(name, func(t *testing.T) {
			plain, _, _ := run(job)
			res, all, err := run(job, "chip.block_scheduler="+name)
			if err != nil || !res.OK || name == "alone" && res.Cycles <= plain.Cycles {
				t.Fatalf("%d cycles, in turn %d; %v", res.Cycles, plain.Cycles, err)
			}
			if every, have, err := run(job, "chip.block_scheduler="+name, "run.idle_skip=false"); err != nil || have != all {
				t.Errorf("%d cycles if every one is simulated, else %d; %v", every.Cycles, res.Cycles, err)
			}
			if name != "alone" {
				return
			}
			var last uint64 // blocks are in the order of the grid
			for i, b := range res.Kernels[0].BlockLog {
				if b.StartCycle+1 < last || b.EndCycle == nil {
					t.Fatalf("block %d begins in cycle %d, the one before it ends in %d", i, b.StartCycle, last)
				}
				last = *b.EndCycle
			}
		})
	}
	t.Run("never", func(t *testing.T) {
		var stuck *heddle.StuckError
		if _, _, err := run(job, "chip.block_scheduler=never"); !errors.As(err, &stuck) {
			t.Errorf("it ended with %v, want a *StuckError", err)
		}
	})
	t.Run("several kernels", func(t *testing.T) {
		for _, shared := range []string{"false", "true"} {
			if res, _, err := run("examples/streams/streams.toml", "chip.block_scheduler=own-lowest-first", "chip.shared_sms="+shared); err != nil || !res.OK {
				t.Errorf("%v", err)
			}
		}
	})
}
