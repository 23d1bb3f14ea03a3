package kepler_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
)

// addsUp checks what is true of the counters of every run, at its end or before: each
// cycle and each warp's cycles are counted once. What fetch did is taken from the fetch
// trace, which is independent of the counters.
func addsUp(t *testing.T, k *kepler.Core) {
	t.Helper()
	c, s := k.Counters(), k.Stats()
	same := func(what string, got, want uint64) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	var slots uint64
	for _, n := range c.Slots {
		slots += n
	}
	same("cycles by what fetch did", slots, k.Counted())
	if k.Done() {
		same("cycles counted", k.Counted(), k.DoneCycle())
		same("cycles after the last exit", c.Slots[kepler.SlotDone], 1)
	}

	var dual, single uint64
	var selected [kepler.Warps]uint64
	for i, f := range k.Fetches() {
		if i > 0 && f.Cycle == k.Fetches()[i-1].Cycle {
			dual, single = dual+1, single-1
			continue
		}
		single++
		selected[f.Warp]++
	}
	same("dual", c.Slots[kepler.SlotDual], dual)
	same("single", c.Slots[kepler.SlotSingle], single)
	var life, at, executed, threads, replays, conflicts uint64
	for w := range kepler.Warps {
		var sum uint64
		for _, n := range c.Warps[w] {
			sum += n
		}
		switch exit := k.ExitCycle(w); {
		case !k.Started(w):
			same("cycles of a warp that was not started", sum, 0)
		case exit > 0: // all start in cycle 0 here
			same("cycles of a warp", sum, exit)
		default:
			same("cycles of a warp that has not exited", sum, k.Counted())
		}
		life += sum
		same("selected", c.Warps[w][kepler.Selected], selected[w])
	}
	for p := range k.Programs() {
		for pc := range kasm.ProgramWords {
			pt := k.Point(p, pc)
			for _, n := range pt.Cycles {
				at += n
			}
			executed += pt.Executed
			threads += pt.Threads
			replays += pt.Replays
			conflicts += pt.Conflicts
		}
	}
	same("warps' cycles by instruction", at, life)
	same("executed by instruction", executed, s.Executed)
	same("threads by instruction", threads, s.Threads)
	same("split transactions by instruction", replays, s.Replays)
	same("bank conflicts by instruction", conflicts, s.Conflicts)
	executed, threads = 0, 0
	for n, x := range c.Lanes {
		executed += x
		threads += uint64(n) * x
	}
	same("executed by lanes", executed, s.Executed)
	same("threads by lanes", threads, s.Threads)
}

// The counters of random programs add up at both levels, at the end and before it.
func TestCountersAddUp(t *testing.T) {
	for level := range kepler.Datasheet + 1 {
		for n := range uint64(alltests.Count(20, 60)) {
			r := rand.New(rand.NewPCG(n, 77))
			warps := r.Perm(kepler.Warps)[:1+r.IntN(kepler.Warps)]
			texts := []string{randomProgram(r, 1), randomProgram(r, 1)}
			k, _ := setUpAt(t, r, level, texts, warps)
			k.Trace(true)
			for range 5 {
				k.Run(k.Cycle() + uint64(r.IntN(400)))
				addsUp(t, k)
			}
			k.Run(20_000)
			addsUp(t, k)
			if t.Failed() {
				t.Fatalf("level %v, seed %d, done %v, fault %v", level, n, k.Done(), k.Fault())
			}
		}
	}
}

// A warp is in the state of what it waits for, for the cycles that follow from the
// pipeline's latencies.
func TestStates(t *testing.T) {
	const tail = "EXIT"
	long := uint64(0) // delay of the load below: launched in cycle 69+7
	{
		lfsr := [7]uint64{5, 3, 7, 6, 4, 1, 2}
		long = lfsr[(kepler.FirstFetch+7)%7]%6 + 2
	}
	for _, c := range []struct {
		name, text string
		level      kepler.Level
		state      kepler.WarpState
		want       uint64
	}{
		{"before the first fetch", tail, kepler.RTL, kepler.Starting, kepler.FirstFetch},
		{"dependent", "ADD R1, R2, R3\nADD R4, R1, R5\n" + tail, kepler.RTL, kepler.Dependence, 7},
		{"dependent predicate", "ISETP.EQ P1, R2, R3 rd=57\n@P1 ADD R4, R6, R5\n" + tail, kepler.Datasheet, kepler.Dependence, 6}, // a predicate can be used one cycle earlier than a register
		{"load", "LDR R1, [R2]\nADD R4, R1, R5\n" + tail, kepler.RTL, kepler.LongScoreboard, 10 + long},
		{"load from shared memory", "LDS R1, [R2]\nADD R4, R1, R5\n" + tail, kepler.RTL, kepler.ShortScoreboard, 10},
		// A taken branch blocks fetch for two cycles, and so does each EXIT.
		{"jump", "BRA to\nto: " + tail, kepler.Datasheet, kepler.Branching, 3}, // the second cycle of the EXIT is after the exit
		{"no jump", tail, kepler.Datasheet, kepler.Branching, 1},
		// Four lanes access four words of one bank: three more cycles.
		{"bank conflict", "TID R1\nAND R1, R1, R63, 3\nSHL R1, R1, R63, 7\nLDS R3, [R1]\nADD R4, R3, R3\n" + tail, kepler.Datasheet, kepler.Conflict, 3},
		{"no bank conflict", "TID R1\nSHL R1, R1, R63, 2\nLDS R3, [R1]\nADD R4, R3, R3\n" + tail, kepler.Datasheet, kepler.Conflict, 0},
	} {
		k := start(t, c.level, c.text, 5)
		if !k.Run(10_000) {
			t.Fatalf("%s: does not end: %v", c.name, k.Waits())
		}
		if got := k.Counters().Warps[5][c.state]; got != c.want {
			t.Errorf("%s: %v in %d cycles, want %d; all: %v", c.name, c.state, got, c.want, k.Counters().Warps[5])
		}
		addsUp(t, k)
	}
}

// At a barrier the early warp waits, and an EXIT waits for a store.
func TestWaitingStates(t *testing.T) {
	k := start(t, kepler.Datasheet, strings.Repeat("ADD R1, R1, R63, 1\n", 20)+"BAR\nEXIT", 3)
	prog, err := kasm.Assemble("b.kasm", "BAR\nEXIT", kasm.RTL)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Load(prog.Words, 9); err != nil {
		t.Fatal(err)
	}
	if err := k.Start(9, 0, 1); err != nil {
		t.Fatal(err)
	}
	if !k.Run(10_000) {
		t.Fatal(k.Waits())
	}
	addsUp(t, k)
	early, late := k.Counters().Warps[9][kepler.AtBarrier], k.Counters().Warps[3][kepler.AtBarrier]
	// Each addition is 8 cycles after the previous one, and the last warp to arrive
	// does not wait.
	if late != 0 || early < 19*8 || early > 20*8 {
		t.Errorf("warp 9 is at the barrier for %d cycles, warp 3 for %d", early, late)
	}

	// Instructions fetched after the EXIT fill 8 places of its queue and 32 collectors
	// while 64 lines are stored; then fetch waits for the EXIT.
	k = start(t, kepler.Datasheet, "TID R1\nSHL R2, R1, R63, 7\nSTR [R2], R1\nSTR [R2 + 4096], R1\nEXIT", 0)
	if !k.Run(10_000) {
		t.Fatal(k.Waits())
	}
	addsUp(t, k)
	if n := k.Counters().Warps[0][kepler.Draining]; n < 10 || n != k.Counters().Slots[kepler.SlotDrain] {
		t.Errorf("EXIT waits for the stores for %d cycles, fetch for %d", n, k.Counters().Slots[kepler.SlotDrain])
	}
}
