package krun_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/timeline"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/work/krun"
)

// onChip returns a run of a program on warps 0 and 1 of two SMs with caches.
func onChip(t *testing.T, text string) *krun.Run {
	t.Helper()
	cfg := kepler.ConfigFor(kepler.Datasheet)
	for _, s := range []string{"kepler.sms=2", "kepler.l1.on=true", "kepler.l2.on=true"} {
		key, value, _ := strings.Cut(s, "=")
		if err := cfg.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	p, err := kasm.Assemble("t.kasm", text, kasm.RTL)
	if err != nil {
		t.Fatal(err)
	}
	k := kepler.New(cfg)
	if err := k.Load(p.Words, 0, 1); err != nil {
		t.Fatal(err)
	}
	for w := range 2 {
		if err := k.Start(w, 0, ^uint32(0)); err != nil {
			t.Fatal(err)
		}
	}
	return &krun.Run{Name: "t.kasm", Core: k, Programs: []*kasm.Program{p}, Limit: 5000}
}

// A run on a chip leaves its result in its core, with the machine and the counters
// of the memory system.
func TestChip(t *testing.T) {
	const text = "LDR R1, [R63]\nADD R2, R1, R63, 1\nLDR R3, [R2 + 3]\nATOM.ADD R4, [R63 + 8], R2\nEXIT"
	r := onChip(t, text)
	if err := r.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	res := r.Result("t")
	if res.SMs != 2 || res.Conditions["kepler.sms"] != int64(2) || res.Conditions["kepler.conform"] != "datasheet" || res.WarpInstructions != 10 {
		t.Errorf("%d SMs, %v, %d instructions", res.SMs, res.Conditions, res.WarpInstructions)
	}
	m := res.Kernels[0].Memory
	if m.L1.Accesses != 4 || m.L1.Hits != 2 || m.L1.Misses != 2 || m.L2.Accesses != 4 || m.Network.RequestPackets != 4 || m.Network.ReplyPackets != 4 || m.Replies != 6 {
		t.Errorf("%+v", m)
	}
	if r.Core.Memory(8) != 64 {
		t.Errorf("the counter is %d", r.Core.Memory(8))
	}
	var twice report.Memory
	r.AddMemory(&twice)
	r.AddMemory(&twice)
	if twice.L1.Accesses != 8 || twice.Replies != 12 || twice.MeanLatencyCycles != m.MeanLatencyCycles || twice.DRAM.BytesRead != 2*m.DRAM.BytesRead || m.DRAM.BytesRead != 128 {
		t.Errorf("twice: %+v", twice)
	}
}

// In uneven warps 0 and 1 load and add, the first more often than the second.
const uneven = `
	SHL R3, R14, R63, 3
again:
	LDR R1, [R2]
	ADD R2, R2, R63, 128
	ADD R4, R4, R1
	ADD R3, R3, R63, 1
	ISETP.LT P0, R3, R60
@P0 BRA again
	STR [R2], R4
	EXIT`

// unevenRun is a run of uneven on several SMs, of which some may have no warp.
func unevenRun(t *testing.T, sms string) *krun.Run {
	t.Helper()
	r := onChip(t, uneven)
	if err := r.Core.Config().Set("kepler.sms", sms); err != nil {
		t.Fatal(err)
	}
	for w := range 2 {
		if err := errors.Join(r.Core.SetRegister(w, 14, -1, uint32(w)), r.Core.SetRegister(w, 60, -1, 12)); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// Every cycle of every SM is counted once, also for SMs that are done or have no
// warp, at the end of a run and before.
func TestChipCounters(t *testing.T) {
	for _, sms := range []string{"1", "2", "3", "24"} {
		for _, limit := range []uint64{20, 150, 400, 0} {
			r := unevenRun(t, sms)
			r.Limit = limit
			err := r.Do(t.Context())
			var ended *krun.Error
			if (limit == 0) != (err == nil) || err != nil && (!errors.As(err, &ended) || ended.Kind != "limit") {
				t.Fatalf("%s SMs, limit %d: %v", sms, limit, err)
			}
			k, c := r.Core, r.Core.Counters()
			var slots uint64
			for _, n := range c.Slots {
				slots += n
			}
			if n := uint64(k.Config().Chip.SMs); slots != n*k.Counted() || limit > 0 && k.Counted() != limit {
				t.Errorf("%s SMs, limit %d: %d cycles by what fetch did, %d cycles", sms, limit, slots, k.Counted())
			}
			var life, at uint64
			for w := range kepler.Warps {
				var sum uint64
				for _, n := range c.Warps[w] {
					sum += n
				}
				if life += sum; sum != k.Lifetime(w) || (sum > 0) != (w < 2) {
					t.Errorf("%s SMs, limit %d: warp %d: %d cycles by state, lifetime %d", sms, limit, w, sum, k.Lifetime(w))
				}
			}
			for pc := range kasm.ProgramWords {
				for _, n := range k.Point(1, pc).Cycles {
					at += n
				}
			}
			if at != life {
				t.Errorf("%s SMs, limit %d: %d cycles by instruction, %d of all warps", sms, limit, at, life)
			}
		}
	}
}

// The rows of a series sum to the final counters, and the timeline has every
// instruction of every SM.
func TestChipSeriesAndTimeline(t *testing.T) {
	plain := unevenRun(t, "2")
	if err := plain.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, every := range []uint64{1, 37, 1000} {
		r := unevenRun(t, "2")
		var out bytes.Buffer
		r.Series = &run.Series{Every: every, Out: &out}
		r.Timeline = timeline.New(0)
		if err := r.Do(t.Context()); err != nil {
			t.Fatal(err)
		}
		total, last := totals(t, &out, every)
		res, want := r.Result("t"), plain.Result("t")
		if res.Cycles != want.Cycles || last != res.Cycles || res.WarpInstructions != want.WarpInstructions {
			t.Errorf("every %d: cycle %d of %d, %d without", every, last, res.Cycles, want.Cycles)
		}
		for name, want := range map[string]uint64{
			"warp_instructions": want.WarpInstructions, "slots.dual": want.Kepler.DualIssues, "slots.done": want.Kernels[0].SlotStalls["done"],
			"stalls.long_scoreboard": want.Kernels[0].Stalls["long_scoreboard"], "memory_transactions": want.Kepler.Transactions,
		} {
			if total[name] != want || want == 0 {
				t.Errorf("every %d: %s sums to %d, want %d", every, name, total[name], want)
			}
		}
		var text bytes.Buffer
		if err := r.Timeline.WriteKanata(&text); err != nil {
			t.Fatal(err)
		}
		for sm := range 2 {
			if !strings.Contains(text.String(), fmt.Sprintf("SM%d w%d: ", sm, sm)) {
				t.Errorf("nothing of SM %d in\n%.500s", sm, text.String())
			}
		}
		if n := len(regexp.MustCompile(`(?m)^R\t\d+\t\d+\t0$`).FindAllString(text.String(), -1)); uint64(n) != want.WarpInstructions {
			t.Errorf("%d instructions end in the timeline, %d executed", n, want.WarpInstructions)
		}
	}
}

// An SM that gets stuck while another one still runs is reported as stuck, whatever
// the other one does before it ends.
func TestChipStuckBesideAnother(t *testing.T) {
	const text = `
	ISETP.EQ P0, R14, R63
@P0 BRA 200
again:
	ADD R3, R3, R63, 1
	ISETP.LT P1, R3, R60
@P1 BRA again
	EXIT`
	late := 0
	for turns := uint32(5); turns < 60; turns += 3 {
		r := onChip(t, text)
		if err := errors.Join(r.Core.SetRegister(1, 14, -1, 1), r.Core.SetRegister(1, 60, -1, turns)); err != nil {
			t.Fatal(err)
		}
		err := r.Do(t.Context())
		var ended *krun.Error
		if !errors.As(err, &ended) || ended.Kind != "stuck" || !strings.Contains(err.Error(), "warp 0 at pc 255") || strings.Contains(err.Error(), "warp 1") {
			t.Errorf("%d turns: %v", turns, err)
		}
		if r.Core.ExitCycle(1) > 400 {
			late++
		}
	}
	if late < 5 {
		t.Errorf("the second SM is late in %d runs only", late)
	}
}

// Runs on a chip that end early say why, with the line.
func TestChipEnds(t *testing.T) {
	for _, c := range []struct{ text, kind, want string }{
		{"NOP\nLDR R1, [R2 + 2]\nEXIT", "fault", "t.kasm:2: misaligned access to memory at 0x2: warp 0, lane 0, pc 1: LDR R1, [R2 + 2]"},
		{"loop: BRA loop", "limit", "t.kasm: stopped after 5000 cycles: limit reached"},
		{"NOP", "stuck", "t.kasm: no forward progress after cycle"},
	} {
		r := onChip(t, c.text)
		err := r.Do(t.Context())
		e, ok := err.(*krun.Error)
		if !ok || e.Kind != c.kind || !strings.HasPrefix(e.Msg, c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}
