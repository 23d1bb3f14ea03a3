package chip_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/core/kepler/chip"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
)

// core returns a core with a program on some warps, each with its number in R14, for a
// chip with some settings.
func core(t *testing.T, set []string, text string, warps ...int) *kepler.Core {
	t.Helper()
	cfg := kepler.ConfigFor(kepler.Datasheet)
	for _, s := range set {
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
	if err := k.Load(p.Words, warps...); err != nil {
		t.Fatal(err)
	}
	for _, w := range warps {
		if err := k.SetRegister(w, 14, -1, uint32(w)); err != nil {
			t.Fatal(err)
		}
		if err := k.Start(w, 0, ^uint32(0)); err != nil {
			t.Fatal(err)
		}
	}
	return k
}

func first(n int) (list []int) {
	for w := range n {
		list = append(list, w)
	}
	return list
}

// run runs a chip to its end and gathers the results.
func run(t *testing.T, k *kepler.Core) *chip.Chip {
	t.Helper()
	c, err := chip.New(k)
	if err != nil {
		t.Fatal(err)
	}
	if !c.Run(1_000_000) {
		var waits []string
		for _, sm := range c.SMs() {
			waits = append(waits, fmt.Sprint(sm.Fault(), sm.Waiting()))
		}
		t.Fatalf("%+v: not done in cycle %d: %v", k.Config().Chip, c.Cycle(), waits)
	}
	c.Gather()
	return c
}

// machines are chips of all kinds.
var machines = [][]string{
	{"kepler.sms=4", "kepler.l1.on=true", "kepler.l2.on=true"},
	{"kepler.sms=4"},
	{"kepler.sms=1", "kepler.l1.on=true", "kepler.l2.on=true"},
	{"kepler.sms=3", "kepler.l2.on=true", "kepler.l2.slices=4", "kepler.l2.latency=100"},
	{"kepler.sms=24", "kepler.l1.on=true", "kepler.l1.sets=1", "kepler.l1.ways=1", "kepler.l1.misses=1", "kepler.dram.latency=700"},
	{"kepler.sms=2", "kepler.l1.on=true", "kepler.l2.on=true", "kepler.l2.sets=1", "kepler.l2.ways=1", "kepler.l2.misses=1", "kepler.l2.slices=1"},
}

// state returns the contents of registers and memory after a run.
func state(k *kepler.Core) string {
	var b strings.Builder
	for w := range kepler.Warps {
		for r := range kasm.Registers {
			fmt.Fprintln(&b, w, r, k.Register(w, r))
		}
		for p := range kasm.Predicates {
			fmt.Fprintln(&b, w, p, k.Predicate(w, p))
		}
		fmt.Fprintln(&b, w, k.Status(w), k.Mask(w), k.StackTop(w), k.CallTop(w))
	}
	for a := uint32(0); a < 0x20000; a += 4 {
		if v := k.Memory(a); v != 0 {
			fmt.Fprintln(&b, a, v)
		}
	}
	return b.String()
}

// Products of matrices of 16 by 16, a row of C for each of 16 warps, split
// accesses, textures and loops: the values are the same on every machine, and
// those of plain arithmetic.
const product = `
        TID   R1
        AND   R2, R1, R63, 15        # column; lanes 16 to 31 do the same again
        SHL   R3, R14, R63, 6        # row of A
        SHL   R4, R2, R63, 2         # column of B
        MOV   R5, R63
        MOV   R6, R63, 16
        MOV   R10, R63
next:   LDR   R7, [R3 + 0x1000]
        LDR   R8, [R4 + 0x2000]
        IMAD  R10, R7, R8, R10
        ADD   R3, R3, R63, 4
        ADD   R4, R4, R63, 64
        ADD   R5, R5, R63, 1
        BNE   R5, R6, next
        SHL   R9, R14, R63, 6
        SHL   R11, R2, R63, 2
        ADD   R9, R9, R11
        STR   [R9 + 0x3000], R10
        SHL   R12, R1, R63, 8        # a line of its own for every lane
        SHL   R13, R14, R63, 13
        ADD   R12, R12, R13
        STR   [R12 + 0x4000], R10
        LDR   R15, [R12 + 0x4000]
        MOV   R16, R63, 0x1000
        SHL   R17, R1, R63, 7
        TEX.BILINEAR R18, R17, R17, [R16], 16x16
        MOV   R19, R63, 1
        ATOM.ADD R63, [R63 + 0x100], R19
        MOV   R63, R62
        EXIT`

func productCore(t *testing.T, set ...string) *kepler.Core {
	k := core(t, set, strings.Replace(product, "ATOM.ADD R63,", "ATOM.ADD R20,", 1), first(16)...)
	for i := range uint32(256) {
		k.SetMemory(0x1000+4*i, i*7%23-5)
		k.SetMemory(0x2000+4*i, i*5%19-9)
	}
	return k
}

func TestSameValues(t *testing.T) {
	one := productCore(t)
	if !one.Run(1_000_000) {
		t.Fatal(one.Fault(), one.Waiting())
	}
	for row := range uint32(16) {
		for col := range uint32(16) {
			want := uint32(0)
			for n := range uint32(16) {
				want += ((16*row+n)*7%23 - 5) * ((16*n+col)*5%19 - 9)
			}
			if got := one.Memory(0x3000 + 64*row + 4*col); got != want {
				t.Fatalf("C[%d][%d] is %d, want %d", row, col, got, want)
			}
		}
	}
	if got := one.Memory(0x100); got != 16*32 {
		t.Errorf("the counter is %d", got)
	}
	for w := range 16 { // tickets depend on the order of arrival
		_ = one.SetRegister(w, 20, -1, 0)
	}
	want := state(one)
	t.Logf("one SM, mock memory: %d cycles", one.DoneCycle())
	for _, m := range machines {
		k := productCore(t, m...)
		c := run(t, k)
		seen := map[uint32]bool{}
		for w := range 16 {
			for _, v := range k.Register(w, 20) {
				seen[v] = true
			}
			_ = k.SetRegister(w, 20, -1, 0)
		}
		if len(seen) != 16*32 {
			t.Errorf("%v: %d different tickets", m, len(seen))
		}
		if got := state(k); got != want {
			t.Errorf("%v has different results", m)
		}
		t.Logf("%v: %d cycles, %+v", m, k.DoneCycle(), c.Stats())
	}
}

// Runs are deterministic.
func TestSameCycles(t *testing.T) {
	for _, m := range machines {
		var seen string
		for range 2 {
			k := productCore(t, m...)
			c := run(t, k)
			s := fmt.Sprint(k.DoneCycle(), c.Cycle(), c.Stats(), k.Stats(), *k.Counters())
			if seen != "" && s != seen {
				t.Errorf("%v: %s, then %s", m, seen, s)
			}
			seen = s
		}
	}
}

// Gathered counters add up: those of fetch to the run's cycles on every SM, those of a
// warp to its lifetime.
func TestGather(t *testing.T) {
	k := productCore(t, machines[0]...)
	c := run(t, k)
	once := *k.Counters()
	if c.Gather(); *k.Counters() != once {
		t.Error("gathering once more changes the counters")
	}
	var slots uint64
	for _, n := range k.Counters().Slots {
		slots += n
	}
	if sms := uint64(len(c.SMs())); slots != sms*k.DoneCycle() || sms < 2 {
		t.Errorf("fetch accounts for %d cycles of %d on %d SMs", slots, k.DoneCycle(), sms)
	}
	for w := range 16 {
		var n uint64
		for _, v := range k.Counters().Warps[w] {
			n += v
		}
		if n != k.Lifetime(w) || n == 0 {
			t.Errorf("warp %d accounts for %d cycles of %d", w, n, k.Lifetime(w))
		}
		if k.Status(w) != kepler.Exited || k.ExitCycle(w) == 0 {
			t.Errorf("warp %d is %v", w, k.Status(w))
		}
	}
	if !k.Done() {
		t.Error("not done")
	}
}

// Caches keep their lines: a second pass over lines that fit hits in the L1, one over
// lines that do not fit misses.
func TestHits(t *testing.T) {
	pass := func(lines int) string {
		return fmt.Sprintf(`
        TID   R1
        SHL   R1, R1, R63, 2
        MOV   R5, R63
        MOV   R6, R63, 2
again:  OR    R2, R1, R63
        MOV   R3, R63
        MOV   R4, R63, %d
line:   LDR   R7, [R2]
        ADD   R8, R8, R7
        ADD   R2, R2, R63, 128
        ADD   R3, R3, R63, 1
        BNE   R3, R4, line
        ADD   R5, R5, R63, 1
        BNE   R5, R6, again
        EXIT`, lines)
	}
	for _, c := range []struct {
		lines      int
		hits, miss uint64
	}{{64, 64, 64}, {128, 0, 256}} { // the L1 has 64 lines; with more, LRU always evicts the line that is needed next
		s := run(t, core(t, caches, pass(c.lines), 0)).Stats()
		if s.L1.Hits != c.hits || s.L1.Misses != c.miss || s.L2.Misses != uint64(c.lines) || s.L2.Hits != c.miss-uint64(c.lines) {
			t.Errorf("%d lines twice: %+v", c.lines, s)
		}
	}
}

// Atomics and stores reach the L2, whatever is in the L1.
func TestWriteThrough(t *testing.T) {
	k := core(t, caches, `
        MOV   R1, R63, 0x100
        LDR   R2, [R1]
        ADD   R3, R2, R63, 5
        STR   [R1], R3
        STR   [R1], R3
        ATOM.ADD R4, [R1], R3
        LDR   R5, [R1]
        EXIT`, 0)
	s := run(t, k).Stats()
	if s.L1.Accesses != 4 || s.L2.Accesses != 4 || s.Requests.Packets != 4 || s.Answered != 5 {
		t.Errorf("%+v", s)
	}
	if got := k.Memory(0x100); got != 5+32*5 || k.Register(0, 5)[0] != got {
		t.Errorf("memory has %d, R5 %d", got, k.Register(0, 5)[0])
	}
}

// SMID returns the SM on which an instruction runs.
func TestSMID(t *testing.T) {
	k := core(t, []string{"kepler.sms=5"}, "SMID R1\nEXIT", first(kepler.Warps)...)
	run(t, k)
	for w := range kepler.Warps {
		if v := k.Register(w, 1); v[0] != uint32(w%5) || v[31] != v[0] {
			t.Errorf("warp %d: SM %d", w, v[0])
		}
	}
}

// A fault on one SM and a barrier that never completes are detected.
func TestEnds(t *testing.T) {
	k := core(t, []string{"kepler.sms=4"}, "SHL R1, R14, R63, 20\nSHL R1, R1, R63, 3\nLDR R2, [R1]\nEXIT", first(8)...)
	c, err := chip.New(k)
	if err != nil {
		t.Fatal(err)
	}
	if c.Run(100_000) {
		t.Error("warps 4 to 7 read beyond memory without a fault")
	}
	c.Gather()
	if f := k.Fault(); f == nil || f.Warp < 4 || !strings.HasPrefix(f.What, "access to memory at 0x") {
		t.Errorf("fault: %v", f)
	}
	// A program that loops forever is not stuck.
	k = core(t, []string{"kepler.sms=2", "kepler.dram.latency=2000"}, "LDR R1, [R63]\n LDR R2, [R3]\nADD R3, R1, R2\nloop: BRA loop", 0)
	if c, err = chip.New(k); err != nil {
		t.Fatal(err)
	}
	if c.Run(20_000) || c.Stuck() || c.Cycle() != 20_000 {
		t.Errorf("cycle %d, stuck %v", c.Cycle(), c.Stuck())
	}
	rtl := kepler.New(kepler.ConfigFor(kepler.RTL))
	if _, err := chip.New(rtl); err == nil || !strings.Contains(err.Error(), "level datasheet") {
		t.Errorf("level rtl: %v", err)
	}
}

// caches are the settings that turn on both levels of caches.
var caches = []string{"kepler.l1.on=true", "kepler.l2.on=true"}

// Chips with the extreme values of every setting run.
func TestExtremes(t *testing.T) {
	for _, set := range [][]string{
		{"kepler.sms=24", "kepler.l1.sets=1024", "kepler.l1.ways=32", "kepler.l2.sets=1024", "kepler.l2.ways=32", "kepler.l2.slices=16", "kepler.l1.misses=1024", "kepler.l2.misses=1024"},
		{"kepler.l1.latency=0", "kepler.l2.latency=0", "kepler.dram.latency=0", "kepler.l2.slices=1"},
		{"kepler.l1.latency=10000", "kepler.l2.latency=10000", "kepler.dram.latency=10000"},
	} {
		k := core(t, append(set, caches...), "LDR R1, [R63]\nADD R1, R1, R63, 1\nSTR [R63], R1\nATOM.ADD R2, [R63], R1\nEXIT", 0, 1)
		run(t, k)
		if k.Memory(0) == 0 {
			t.Errorf("%v: nothing happened", set)
		}
	}
}
