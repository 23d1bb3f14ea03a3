package simt

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem"
)

// total returns the sums of the counters of the core's caches.
func (g *rig) cacheStats() []any {
	c := g.core
	all := []any{c.L1D().Stats, c.L1T().Stats}
	if c.L1I() != nil {
		all = append(all, c.L1I().Stats, c.L1C().Stats)
	}
	return all
}

// TestSleep compares runs with and without sleeping, counter by counter.
func TestSleep(t *testing.T) {
	for name, cfg := range map[string]func(testing.TB) Config{"rtx2060": rtx2060, "gtx480": gtx480, "qv100": qv100} {
		for p := range policies {
			for _, compat := range []Compat{{}, GPGPUSim()} {
				cfg := cfg(t)
				cfg.Policy, cfg.PolicyWarps, cfg.Compat = p, 3, compat
				var got [2]*rig
				for i := range got {
					g := newRig(t, cfg)
					g.delay = 400
					if i == 1 {
						g.core.KeepAwake()
					}
					s := mixed(3, 6)
					s.n = 4
					g.run(s, 100000)
					g.core.Sync()
					got[i] = g
				}
				a, b := got[0], got[1]
				if a.cycle != b.cycle || !slices.Equal(a.issues, b.issues) {
					t.Errorf("%s %s: %d cycles asleep, %d awake", name, p, a.cycle, b.cycle)
				}
				if d := cmp.Diff(b.core.Stats, a.core.Stats); d != "" {
					t.Errorf("%s %s: counters (- awake, + asleep)\n%s", name, p, d)
				}
				if !reflect.DeepEqual(a.cacheStats(), b.cacheStats()) {
					t.Errorf("%s %s: the caches' counters differ", name, p)
				}
			}
		}
	}
}

// TestNextEvent: the owner may skip to the cycle before which nothing happens.
func TestNextEvent(t *testing.T) {
	run := func(jump bool) *rig {
		g := newRig(t, rtx2060(t))
		g.delay = 5000
		s := chain(20, func(i int) (*isa.Inst, *[32]uint64) {
			return load(isa.Global, 4, 1, 1), strided(0x1000+0x1000*uint64(i), 4)
		})
		s.n = 1
		k, err := NewKernel(g.core.Config(), s, core.KernelOptions{})
		if err != nil {
			t.Fatal(err)
		}
		g.core.Launch(k, s.Block(0))
		ticks := 0
		for g.ended == 0 {
			if ticks++; ticks > 200000 {
				t.Fatal("no end")
			}
			if next := g.core.NextEvent(g.cycle); jump && next > g.cycle+1 {
				if len(g.flying) > 0 {
					next = min(next, g.flying[0].due)
				}
				g.core.Skip(next - g.cycle - 1)
				g.cycle = next - 1
			}
			g.tick()
		}
		if jump && ticks > 4000 {
			t.Errorf("%d calls for %d cycles", ticks, g.cycle)
		}
		return g
	}
	a, b := run(true), run(false)
	if a.cycle != b.cycle {
		t.Errorf("%d cycles with jumps, %d without", a.cycle, b.cycle)
	}
	if d := cmp.Diff(b.core.Stats, a.core.Stats); d != "" {
		t.Errorf("counters (- without, + with jumps)\n%s", d)
	}
}

// TestAccounting checks the sums that must hold at the end of every run.
func TestAccounting(t *testing.T) {
	for name, cfg := range map[string]func(testing.TB) Config{"rtx2060": rtx2060, "gtx480": gtx480} {
		g := newRig(t, cfg(t))
		s := mixed(5, 7)
		s.n = 5
		k, err := NewKernel(g.core.Config(), s, core.KernelOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for n := uint64(0); g.ended < 5; {
			if n < s.n && g.core.CanTake(k) {
				g.core.Launch(k, s.Block(n))
				n++
			}
			g.tick()
			if g.cycle > 100000 {
				t.Fatal("no end")
			}
		}
		for range 1000 {
			g.tick()
		}
		st := &g.core.Stats
		var states, lanes, slots uint64
		for _, n := range st.States {
			states += n
		}
		if states != st.WarpLife || states == 0 {
			t.Errorf("%s: the states sum to %d; the warps lived %d cycles", name, states, st.WarpLife)
		}
		for _, n := range st.Lanes {
			lanes += n
		}
		if want := uint64(len(s.log)); st.WarpInsts != want || lanes != want || st.Completed != want || st.States[Selected] != want {
			t.Errorf("%s: %d steps, %d issued, %d by lanes, %d completed, %d selected", name, want, st.WarpInsts, lanes, st.Completed, st.States[Selected])
		}
		for _, s := range st.Slots {
			slots += s[0] + s[1] + s[2]
		}
		if n := uint64(len(st.Slots)) * st.Cycles; slots+st.Issues[0]+st.Issues[1] != n {
			t.Errorf("%s: %d slots, %d accounted for", name, n, slots+st.Issues[0]+st.Issues[1])
		}
		if g.pool.Live != 0 {
			t.Errorf("%s: %d requests were not returned", name, g.pool.Live)
		}
		if len(g.core.freeF) != len(g.core.flight) || g.core.Busy() {
			t.Errorf("%s: instructions are still in flight", name)
		}
		for _, r := range g.core.regs {
			if r != (reserved{}) {
				t.Errorf("%s: registers are still reserved", name)
			}
		}
	}
}

// TestNoAllocation: once warm, cycles allocate nothing.
func TestNoAllocation(t *testing.T) {
	for name, cfg := range map[string]func(testing.TB) Config{"rtx2060": rtx2060, "gtx480": gtx480} {
		g := newRig(t, cfg(t))
		g.flying = make([]inFlight, 0, 1<<12)
		s := mixed(8, 400)
		s.log = make([]issued, 0, 1<<20)
		k, err := NewKernel(g.core.Config(), s, core.KernelOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for g.core.CanTake(k) {
			g.core.Launch(k, s.Block(0))
		}
		for range 6000 {
			g.tick()
		}
		// The rig's own queue of replies moves along its array.
		n := testing.AllocsPerRun(5, func() {
			g.flying = append(make([]inFlight, 0, 1<<12), g.flying...)
			for range 200 {
				g.tick()
			}
		})
		if n > 1 || g.core.alive == 0 {
			t.Errorf("%s: %v allocations in 200 cycles, one of them the rig's", name, n)
		}
	}
}

// one returns a configuration with one scheduler that is held up only by dependences.
func one(t testing.TB, p Policy, n int) Config {
	c := gtx480(t)
	c.Schedulers, c.Policy, c.PolicyWarps = 1, p, n
	c.PerfectInstConst, c.FetchWidth = true, 16
	c.IssueWidth, c.ExecWidth = [Sets]int{SP: 8, SFU: 8, Mem: 8}, [Sets]int{SP: 8, SFU: 8, Mem: 8}
	c.Units[SP], c.WriteWidth, c.RegisterPorts = 8, 8, 2
	c.Special = [Sets]Collectors{SP: {16, 8, 8}, SFU: {8, 8, 8}, Mem: {8, 8, 8}}
	return c
}

// TestPolicies checks the order in which schedulers issue from four warps. Each has six
// instructions, of which the third waits for the second.
func TestPolicies(t *testing.T) {
	code := []*isa.Inst{mov(1), load(isa.Global, 4, 2, 9), mov(3, 2), mov(4), mov(5), mov(6), exit()}
	s := &script{code: code}
	for w := range 4 {
		var steps []step
		for pc := range code {
			steps = append(steps, step{pc: pc, addr: strided(0x1000+uint64(w)*0x1000, 0)})
		}
		s.warps = append(s.warps, steps)
	}
	// Warps in the order of their issues, up to the first result and after it.
	for _, c := range []struct {
		p     Policy
		n     int
		first []int
		then  []int
	}{
		{LRR, 0, []int{0, 1, 2, 3, 0, 1, 2, 3}, []int{0, 1, 2, 3, 0, 1, 2, 3}},
		{GTO, 0, []int{0, 0, 1, 1, 2, 2, 3, 3}, []int{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}},
		{Oldest, 0, []int{0, 0, 1, 1, 2, 2, 3, 3}, []int{0, 0, 0, 0, 0, 1}},
		// Strict: it stays with a warp until that can continue.
		{RRR, 0, []int{0, 1, 2, 3, 0, 1, 2, 3}, []int{0, 1, 2, 3}},
		// Two at a time; a warp that waits for memory is replaced by the next. Which two
		// are active when the results arrive depends on how the lists have rotated.
		{TwoLevel, 2, []int{0, 1, 0, 1, 2, 3, 2, 3}, []int{}},
		{Limiting, 1, []int{0, 0}, []int{0, 0, 0, 0, 0}},
	} {
		s.log = nil
		g := newRig(t, one(t, c.p, c.n))
		g.delay = 300
		// The replies of all come together.
		g.run(s, 5000)
		var first, then []int
		for _, x := range g.issues {
			if x.cycle < 250 {
				first = append(first, x.warp)
			} else {
				then = append(then, x.warp)
			}
		}
		if len(then) > len(c.then) {
			then = then[:len(c.then)]
		}
		if !slices.Equal(first, c.first) || !slices.Equal(then, c.then) {
			t.Errorf("%s: %v and then %v, want %v and then %v", c.p, first, then, c.first, c.then)
		}
	}
}

// TestGreedyAgainstOldest: when an older warp can continue, GTO stays with the current
// warp and the oldest-first scheduler switches back.
func TestGreedyAgainstOldest(t *testing.T) {
	code := []*isa.Inst{mov(1), mov(2, 1)}
	for i := range 30 {
		code = append(code, mov(10+i))
	}
	code = append(code, exit())
	s := &script{code: code, warps: make([][]step, 2)}
	for pc := range code {
		s.warps[0] = append(s.warps[0], step{pc: pc})
		if pc != 1 { // the second warp never waits
			s.warps[1] = append(s.warps[1], step{pc: pc})
		}
	}
	back := func(p Policy) (n int) {
		s.log = nil
		g := newRig(t, one(t, p, 0))
		g.run(s, 1000)
		for _, x := range g.issues {
			if x.warp == 1 {
				n++
			} else if n > 0 {
				return n
			}
		}
		return n
	}
	// A move's result takes six cycles (GPGPU-Sim: L + 4 without a source register, at
	// two steps per cycle, L = 1), so the second warp gets five until the first can
	// continue; the second's jump takes some of them.
	if n := back(Oldest); n > 5 || n < 1 {
		t.Errorf("oldest first went back after %d instructions of the younger warp", n)
	}
	if n := back(GTO); n <= 5 {
		t.Errorf("greedy left its warp after %d instructions", n)
	}
}

// TestDualIssue: two instructions of a warp issue in a cycle, to different units.
func TestDualIssue(t *testing.T) {
	pair := func(edit func(*Config), b *isa.Inst) uint64 {
		cfg := one(t, GTO, 0)
		cfg.MaxIssue = 2
		edit(&cfg)
		g := newRig(t, cfg)
		s := &script{code: []*isa.Inst{mov(1), b, exit()}, warps: [][]step{{{pc: 0}, {pc: 1}, {pc: 2}}}}
		g.run(s, 1000)
		return g.issues[1].cycle - g.issues[0].cycle
	}
	for _, c := range []struct {
		name string
		got  uint64
		want uint64
	}{
		{"other unit", pair(func(c *Config) { c.DualDiffer = true }, sin(2, 3)), 0},
		{"same unit", pair(func(c *Config) { c.DualDiffer = true }, mov(2)), 1},
		{"same unit allowed", pair(func(c *Config) { c.DualDiffer = false }, mov(2)), 0},
		{"single issue", pair(func(c *Config) { c.MaxIssue = 1 }, sin(2, 3)), 1},
	} {
		if c.got != c.want {
			t.Errorf("%s: the second of the pair issues %d cycles later, want %d", c.name, c.got, c.want)
		}
	}
}

// TestBarrier: no warp passes before all have arrived, then all pass at once.
func TestBarrier(t *testing.T) {
	for name, cfg := range map[string]func(testing.TB) Config{"rtx2060": rtx2060, "gtx480": gtx480} {
		code := []*isa.Inst{load(isa.Global, 4, 1, 2), mov(3, 1), bar(), mov(4), exit()}
		s := &script{code: code}
		for w := range 6 {
			steps := []step{{pc: 0, addr: strided(0x1000*uint64(w+1), 4)}, {pc: 1}, {pc: 2}, {pc: 3}, {pc: 4}}
			if w == 3 {
				steps = steps[4:] // leaves at once; the others do not wait for it
			}
			s.warps = append(s.warps, steps)
		}
		g := newRig(t, cfg(t))
		g.run(s, 5000)
		last, first := uint64(0), ^uint64(0)
		for _, x := range g.issues {
			switch x.pc {
			case 2:
				last = max(last, x.cycle)
			case 3:
				first = min(first, x.cycle)
			}
		}
		if first < last || first > last+1 {
			t.Errorf("%s: the last warp reached the barrier in cycle %d, the first left it in %d", name, last, first)
		}
		if g.core.Stats.States[Barrier] == 0 {
			t.Errorf("%s: no warp was seen waiting at the barrier", name)
		}
	}
}

// TestFence: what a fence waits for, and that it empties the L1.
func TestFence(t *testing.T) {
	run := func(loadsOnly bool, in *isa.Inst) (gap uint64, misses uint64) {
		cfg := rtx2060(t)
		cfg.Compat.FenceLoadsOnly = loadsOnly
		g := newRig(t, cfg)
		g.delay = 300
		a := strided(0x1000, 4)
		s := &script{
			code: []*isa.Inst{load(isa.Global, 4, 1, 2), mov(3, 1), in, fenceInst(), mov(4), load(isa.Global, 4, 5, 2), exit()},
			warps: [][]step{{{pc: 0, addr: a}, {pc: 1}, {pc: 2, addr: strided(0x8000, 4)}, {pc: 3}, {pc: 4},
				{pc: 5, addr: a}, {pc: 6}}},
		}
		g.run(s, 5000)
		return g.issues[4].cycle - g.issues[3].cycle, g.core.L1D().Stats.Misses()
	}
	ld, st := load(isa.Global, 4, 7, 2), store(isa.Global, 4, 2, 3)
	for _, c := range []struct {
		name      string
		loadsOnly bool
		in        *isa.Inst
		waits     bool
	}{
		{"load", true, ld, true}, {"load", false, ld, true},
		{"store", true, st, false}, {"store", false, st, true},
	} {
		gap, misses := run(c.loadsOnly, c.in)
		if (gap > 300) != c.waits {
			t.Errorf("%s, loads only %v: the next instruction issues %d cycles after the fence", c.name, c.loadsOnly, gap)
		}
		// The two sides of the fence, four sectors each, and the access between.
		if misses != 12 {
			t.Errorf("%s: %d misses, want 12: the L1 is empty after a fence", c.name, misses)
		}
	}
}

// TestAtomicsBlock: with the switch, nothing issues until the replies have arrived.
func TestAtomicsBlock(t *testing.T) {
	for _, sp := range []isa.Space{isa.Global, isa.Shared} {
		for _, block := range []bool{true, false} {
			cfg := rtx2060(t)
			cfg.Compat.AtomicsBlock = block
			g := newRig(t, cfg)
			g.delay = 300
			s := &script{
				code:  []*isa.Inst{atom(sp, 1, 2, 3), mov(4), mov(5, 1), exit()},
				warps: [][]step{{{pc: 0, addr: strided(0x1000, 4)}, {pc: 1}, {pc: 2}, {pc: 3}}},
			}
			g.run(s, 5000)
			free := g.issues[1].cycle-g.issues[0].cycle == 1
			if free == block {
				t.Errorf("%s, blocking %v: the next instruction issues %d cycles after the atomic", sp, block, g.issues[1].cycle-g.issues[0].cycle)
			}
			if d := g.issues[2].cycle - g.issues[0].cycle; d < uint64(cfg.SharedLatency) {
				t.Errorf("%s: the result is used after %d cycles", sp, d)
			}
		}
	}
}

// TestAtomicsAnswered: each lane of an atomic is answered exactly once, wherever the
// instruction goes and whatever its cache operator (such as that of ATOMG.EF), and the
// warp ends.
func TestAtomicsAnswered(t *testing.T) {
	for _, machine := range []struct {
		name   string
		config func(testing.TB) Config
	}{{"rtx2060", rtx2060}, {"gtx480", gtx480}} {
		for _, sp := range []isa.Space{isa.Global, isa.Generic, isa.Shared, isa.Local, isa.Const, isa.Texture} {
			for op := isa.CacheDefault; op <= isa.CacheWT; op++ {
				for _, block := range []bool{true, false} {
					t.Run(fmt.Sprintf("%s %v operator %d blocking %v", machine.name, sp, op, block), func(t *testing.T) {
						cfg := machine.config(t)
						cfg.Compat.AtomicsBlock = block
						g := newRig(t, cfg)
						s := &script{code: []*isa.Inst{with(atom(sp, 1, 2, 3), op), mov(4, 1), exit()}}
						for range 4 {
							s.warps = append(s.warps, []step{{pc: 0, addr: strided(0x1000, 4)}, {pc: 0, addr: strided(0x1000, 0), lanes: 0xff}, {pc: 1}, {pc: 2}})
						}
						g.run(s, 20_000)
					})
				}
			}
		}
	}
}

// TestBackpressure: a blocked network and a full reply queue delay requests but lose
// none.
func TestBackpressure(t *testing.T) {
	for name, cfg := range map[string]func(testing.TB) Config{"rtx2060": rtx2060, "gtx480": gtx480} {
		g := newRig(t, cfg(t))
		s := &script{n: 1, regs: 16}
		s.code = []*isa.Inst{
			load(isa.Global, 4, 1, 9), with(load(isa.Global, 4, 2, 9), isa.CacheCG), load(isa.Const, 4, 3, 9), load(isa.Texture, 4, 4, 9),
			store(isa.Global, 4, 9, 8), with(store(isa.Global, 4, 9, 8), isa.CacheCG), atom(isa.Global, 5, 9, 8), load(isa.Local, 8, 6, 9),
			store(isa.Local, 8, 9, 8), mov(7, 1), exit(),
		}
		for w := range 8 {
			var steps []step
			for pc := range s.code {
				steps = append(steps, step{pc: pc, addr: strided(uint64(0x1000*(w+1)), 20)})
			}
			s.warps = append(s.warps, steps)
		}
		k, err := NewKernel(g.core.Config(), s, core.KernelOptions{})
		if err != nil {
			t.Fatal(err)
		}
		g.core.Launch(k, s.Block(0))
		for n := 0; g.ended == 0 || len(g.flying) > 0; n++ {
			if n > 100000 {
				t.Fatalf("%s: no end", name)
			}
			g.refuse = n%200 < 150
			g.tick()
		}
		for range 500 {
			g.tick()
		}
		if g.pool.Live != 0 || g.core.Busy() || g.held == 0 {
			t.Errorf("%s: %d requests are left, busy %v; the reply queue was full %d times", name, g.pool.Live, g.core.Busy(), g.held)
		}
		st := &g.core.Stats
		var in, out uint64
		for k := range mem.Kinds {
			if k != mem.L1WriteBack { // which is not answered
				out += st.Packets[k]
				in += st.ReplyPackets[k]
			}
		}
		if in != out || st.LSStallBy[ClientGlobalLoad][StallNetwork] == 0 {
			t.Errorf("%s: %d requests, %d replies, %d cycles without room in the network", name, out, in, st.LSStallBy[ClientGlobalLoad][StallNetwork])
		}
	}
}

// TestAsyncCopies: only the wait instruction waits for them, and for all of them.
func TestAsyncCopies(t *testing.T) {
	g := newRig(t, rtx2060(t))
	g.delay = 300
	cp := &isa.Inst{Op: "cp.async.ca.shared.global", Unit: isa.UnitLSU, Load: true, Store: true, Space: isa.Global, Width: 4, Elem: 4, Srcs: regs(2, 3),
		Async: isa.Async{Does: isa.AsyncStart, Done: isa.ByGroup}}
	wait := &isa.Inst{Op: "cp.async.wait_all", Unit: isa.UnitLSU, Async: isa.Async{Does: isa.AsyncWaitAll, Done: isa.ByGroup}}
	s := &script{
		code: []*isa.Inst{cp, mov(4), cp, wait, mov(5), wait, mov(6), exit()},
		warps: [][]step{{{pc: 0, addr: strided(0x1000, 4)}, {pc: 1}, {pc: 2, addr: strided(0x2000, 4)}, {pc: 3},
			{pc: 4}, {pc: 5}, {pc: 6}, {pc: 7}}},
	}
	g.run(s, 5000)
	d := func(a, b int) uint64 { return g.issues[b].cycle - g.issues[a].cycle }
	if d(0, 3) > 10 || d(3, 4) < g.delay || d(4, 6) > 10 {
		t.Errorf("%d cycles before the wait, %d in it, %d in a wait for nothing", d(0, 3), d(3, 4), d(4, 6))
	}
	if n := g.core.Stats.States[LongScoreboard]; n < g.delay {
		t.Errorf("%d cycles of waiting for memory", n)
	}
	if g.core.Busy() || g.pool.Live != 0 {
		t.Error("something is left")
	}
}

// TestCopyGroups: a wait for groups lets the youngest closed ones stay in flight, does
// not wait for copies of the open group, and bulk groups are separate.
func TestCopyGroups(t *testing.T) {
	const plain, bulk, barrier = isa.ByGroup, isa.ByBulk, isa.ByMbarrier
	cp := func(done isa.Completion) *isa.Inst {
		return &isa.Inst{Op: "cp", Unit: isa.UnitLSU, Load: true, Store: true, Space: isa.Global, Width: 4, Elem: 4, Srcs: regs(2, 3),
			Async: isa.Async{Does: isa.AsyncStart, Done: done}}
	}
	other := func(does isa.AsyncRole, of isa.Completion, leave int32) *isa.Inst {
		return &isa.Inst{Op: "cp", Unit: isa.UnitLSU, Async: isa.Async{Does: does, Done: of, Leave: leave}}
	}
	commit, commitBulk := other(isa.AsyncCommit, plain, 0), other(isa.AsyncCommit, bulk, 0)
	wait := func(of isa.Completion, leave int32) *isa.Inst { return other(isa.AsyncWait, of, leave) }
	for _, tt := range []struct {
		name  string
		code  []*isa.Inst
		waits bool // for the slow copies
	}{
		{"one of one may stay in flight", []*isa.Inst{cp(plain), commit, wait(plain, 1)}, false},
		{"none may stay", []*isa.Inst{cp(plain), commit, wait(plain, 0)}, true},
		{"the older of two must complete", []*isa.Inst{cp(plain), commit, cp(plain), commit, wait(plain, 1)}, true},
		{"two of two may stay", []*isa.Inst{cp(plain), commit, cp(plain), commit, wait(plain, 2)}, false},
		{"an empty group counts", []*isa.Inst{cp(plain), commit, commit, wait(plain, 1)}, true},
		{"the open group is not waited for", []*isa.Inst{cp(plain), wait(plain, 0)}, false},
		{"wait_all closes it", []*isa.Inst{cp(plain), other(isa.AsyncWaitAll, plain, 0)}, true},
		{"bulk groups are separate", []*isa.Inst{cp(bulk), commitBulk, commit, wait(plain, 0)}, false},
		{"bulk groups are waited for too", []*isa.Inst{cp(bulk), commitBulk, wait(bulk, 0)}, true},
		{"a copy for an mbarrier is in no group", []*isa.Inst{cp(barrier), commitBulk, wait(bulk, 0)}, false},
	} {
		g := newRig(t, rtx2060(t))
		g.delay = 300
		s := &script{code: append(tt.code, mov(5), exit())}
		var steps []step
		for i, in := range s.code {
			st := step{pc: i}
			if in.Load {
				st.addr = strided(0x1000*uint64(i+1), 4)
			}
			steps = append(steps, st)
		}
		s.warps = [][]step{steps}
		g.run(s, 5000)
		n := len(tt.code)
		if d := g.issues[n].cycle - g.issues[n-1].cycle; (d > g.delay/2) != tt.waits {
			t.Errorf("%s: %d cycles at the wait, copies take %d", tt.name, d, g.delay)
		}
		if g.core.Busy() || g.pool.Live != 0 {
			t.Errorf("%s: something is left", tt.name)
		}
	}
}

// TestRetireInScan: a finished warp's slot becomes free when the fetch scan passes it,
// or at once.
func TestRetireInScan(t *testing.T) {
	run := func(scan bool) uint64 {
		cfg := gtx480(t)
		cfg.PerfectInstConst = true
		cfg.Compat.RetireInScan = scan
		g := newRig(t, cfg)
		// Many warps that always have something to fetch, before one that ends.
		s := &script{code: []*isa.Inst{mov(1), bra(0), exit()}}
		for w := range 8 {
			n := 40
			if w == 7 {
				n = 1
			}
			var steps []step
			for range n {
				steps = append(steps, step{pc: 0}, step{pc: 1})
			}
			s.warps = append(s.warps, append(steps, step{pc: 2}))
		}
		k, err := NewKernel(&cfg, s, core.KernelOptions{})
		if err != nil {
			t.Fatal(err)
		}
		g.core.Launch(k, s.Block(0))
		for g.core.alive>>7&1 != 0 {
			g.tick()
		}
		return g.cycle
	}
	if slow, fast := run(true), run(false); slow < fast {
		t.Errorf("the warp retires in cycle %d at the scan, in cycle %d at once", slow, fast)
	}
}

// TestOccupancy checks the limits on resident blocks (GPGPU-Sim's rules, and the figures
// of its runs for GTX480).
func TestOccupancy(t *testing.T) {
	fermi, volta := gtx480(t), qv100(t)
	for _, c := range []struct {
		cfg                   *Config
		threads, regs, shared int
		want                  int
		by                    core.Limit
		name                  string
	}{
		{&fermi, 256, 16, 0, 6, core.ByThreads, "threads"},
		{&fermi, 256, 20, 0, 6, core.ByThreads, "20 registers"},
		{&fermi, 256, 21, 0, 5, core.ByRegisters, "21 registers"},
		{&fermi, 256, 24, 0, 5, core.ByRegisters, "24 registers"},
		{&fermi, 256, 32, 0, 4, core.ByRegisters, "32 registers"},
		{&fermi, 256, 48, 0, 2, core.ByRegisters, "48 registers"},
		{&fermi, 256, 63, 0, 2, core.ByRegisters, "63 registers"},
		{&fermi, 32, 16, 0, 8, core.ByBlocks, "blocks"},
		{&fermi, 64, 16, 49152, 1, core.ByShared, "all shared memory"},
		{&fermi, 64, 16, 24577, 1, core.ByShared, "a byte more than half"},
		{&fermi, 64, 16, 24576, 2, core.ByShared, "half of shared memory"},
		{&fermi, 1536, 16, 0, 1, core.ByThreads, "one block"},
		{&fermi, 1537, 16, 0, 0, core.ByThreads, "too many threads"},
		{&fermi, 64, 16, 49153, 0, core.ByShared, "too much shared memory"},
		{&volta, 33, 32, 0, 32, core.ByThreads, "rounded up to warps"},
	} {
		n, by := c.cfg.Occupancy(c.threads, c.regs, c.shared)
		if n != c.want || by != c.by {
			t.Errorf("%s: %d blocks by %s, want %d by %s", c.name, n, by, c.want, c.by)
		}
	}
}

// TestResources: a core takes exactly the blocks that Occupancy returns, and as many
// again after they have ended.
func TestResources(t *testing.T) {
	cfg := gtx480(t)
	g := newRig(t, cfg)
	s := chain(3, func(int) (*isa.Inst, *[32]uint64) { return mov(1), nil })
	s.n, s.regs, s.smem = 11, 16, 12288
	k, err := NewKernel(&cfg, s, core.KernelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		n := 0
		for g.core.CanTake(k) {
			g.core.Launch(k, s.Block(0))
			n++
		}
		if n != 4 || k.MaxBlocks != 4 || g.core.Launch(k, s.Block(0)) {
			t.Errorf("round %d: %d blocks on the core, want 4", round, n)
		}
		for range 2000 {
			g.tick()
		}
		if g.core.Blocks() != 0 || g.core.Unfinished() {
			t.Fatal("the blocks have not ended")
		}
	}
	if _, err := NewKernel(&cfg, &script{code: s.code, warps: s.warps, smem: 1 << 20}, core.KernelOptions{}); err == nil {
		t.Error("a block with too much shared memory was accepted")
	} else if _, ok := err.(*exec.LaunchError); !ok {
		t.Errorf("%T is not a LaunchError", err)
	}
}

// TestCheck: contradictory settings are refused.
func TestCheck(t *testing.T) {
	for name, edit := range map[string]func(*Config){
		"no schedulers":          func(c *Config) { c.Schedulers = 0 },
		"too many warps":         func(c *Config) { c.Warps = 65 },
		"negative latency":       func(c *Config) { c.IntTime.Add.Latency = -1 },
		"initiation too long":    func(c *Config) { c.IntTime.Add = Timing{4, 5} },
		"a million SMs":          func(c *Config) { c.SMs = 1e6 },
		"no register banks":      func(c *Config) { c.RegisterBanks = 0 },
		"banks not divisible":    func(c *Config) { c.RegisterBanks = 6 },
		"registers per sub-core": func(c *Config) { c.IssueWidth[SP] = 3 },
		"units per sub-core":     func(c *Config) { c.Units[Int] = 2 },
		"no collector":           func(c *Config) { c.Generic = Collectors{} },
		"no dispatch":            func(c *Config) { c.Generic.Out = 0 },
		"policy without number":  func(c *Config) { c.Policy, c.PolicyWarps = TwoLevel, 0 },
		"unknown policy":         func(c *Config) { c.Policy = 99 },
		"odd L1 banks":           func(c *Config) { c.L1BankHash, c.L1Banks = 2, 7 },
		"no L1 latency":          func(c *Config) { c.L1Latency = 0 },
		"no SP units":            func(c *Config) { c.Units[SP] = 0 },
	} {
		cfg := rtx2060(t)
		edit(&cfg)
		if _, err := New(cfg, 0, Env{Pool: &mem.Pool{}, HasRoom: func(int) bool { return true }, Send: func(*mem.Req, int) {}}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := New(rtx2060(t), 0, Env{}); err == nil {
		t.Error("a core without network was accepted")
	}
}

// TestPipe compares the queue that models a shift pipeline with a shift pipeline.
func TestPipe(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, depth := range []int{1, 2, 3, 5, 30} {
		p := newPipe[int](depth)
		stages := make([]int, depth)
		for tick := uint64(1); tick < 3000; tick++ {
			if got, want := p.ready(tick), stages[0] != 0; got != want {
				t.Fatalf("depth %d tick %d: ready %v, want %v", depth, tick, got, want)
			}
			if stages[0] != 0 && r.IntN(3) > 0 {
				if got := p.Pop().v; got != stages[0] {
					t.Fatalf("depth %d tick %d: %d, want %d", depth, tick, got, stages[0])
				}
				stages[0] = 0
			}
			for i := range depth - 1 {
				if stages[i] == 0 {
					stages[i], stages[i+1] = stages[i+1], 0
				}
			}
			if got, want := p.room(tick), stages[depth-1] == 0; got != want {
				t.Fatalf("depth %d tick %d: room %v, want %v", depth, tick, got, want)
			}
			if stages[depth-1] == 0 && r.IntN(2) > 0 {
				stages[depth-1] = int(tick)
				p.push(int(tick), tick+uint64(depth))
			}
		}
	}
}
