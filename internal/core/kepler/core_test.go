package kepler_test

import (
	"math"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
)

// start returns a core with a program on some warps, with all lanes active.
func start(t testing.TB, level kepler.Level, text string, warps ...int) *kepler.Core {
	t.Helper()
	prog, err := kasm.Assemble("test.kasm", text, kasm.RTL)
	if err != nil {
		t.Fatal(err)
	}
	k := kepler.New(kepler.ConfigFor(level))
	if err := k.Load(prog.Words, warps...); err != nil {
		t.Fatal(err)
	}
	for _, w := range warps {
		if err := k.Start(w, 0, ^uint32(0)); err != nil {
			t.Fatal(err)
		}
	}
	k.Trace(true)
	return k
}

// fetchOf returns the cycle in which a warp's pc was first fetched.
func fetchOf(t *testing.T, k *kepler.Core, warp, pc int) uint64 {
	t.Helper()
	for _, f := range k.Fetches() {
		if f.Warp == warp && f.PC == pc {
			return f.Cycle
		}
	}
	t.Fatalf("pc %d of warp %d was not fetched", pc, warp)
	return 0
}

// Distances from fetch to fetch, measured on the hardware description.
func TestDistances(t *testing.T) {
	for _, c := range []struct {
		name, text string
		from, to   int
		want       uint64
	}{
		{"dependent ALU", "ADD R1, R2, R3\nADD R4, R1, R5\nEXIT", 0, 1, 8},
		{"dependent on FPU", "FADD R1, R2, R3\nADD R4, R1, R6\nEXIT", 0, 1, 8},
		{"dependent on SFU", "SIN R1, R2\nADD R4, R1, R5\nEXIT", 0, 1, 8},
		{"operands in one bank", "ADD R1, R4, R8\nADD R5, R1, R2\nEXIT", 0, 1, 9},
		{"three operands in one bank", "IMAD R1, R4, R8, R12\nADD R5, R1, R2\nEXIT", 0, 1, 10},
		{"dependent on LDS", "LDS R1, [R2]\nADD R4, R1, R5\nEXIT", 0, 1, 11},
		{"taken branch", "BEQ R1, R2, to\nNOP\nNOP\nNOP\nNOP\nNOP\nNOP\nNOP\nNOP\nNOP\nto: EXIT", 0, 10, 8},
		{"jump", "BRA to\nNOP\nNOP\nNOP\nNOP\nNOP\nNOP\nNOP\nNOP\nNOP\nto: EXIT", 0, 10, 7},
		{"independent", "ADD R1, R2, R3\nADD R4, R5, R6\nEXIT", 0, 1, 1},
		{"pair", "ADD R1, R2, R3\nFADD R4, R5, R6\nEXIT", 0, 1, 0},
	} {
		for level := range kepler.Datasheet + 1 {
			k := start(t, level, c.text, 5)
			if !k.Run(10_000) {
				t.Fatalf("%s at level %v does not end: %v", c.name, level, k.Waits())
			}
			if first := fetchOf(t, k, 5, 0); first != kepler.FirstFetch {
				t.Errorf("the first fetch is in cycle %d", first)
			}
			if got := fetchOf(t, k, 5, c.to) - fetchOf(t, k, 5, c.from); got != c.want {
				t.Errorf("%s at level %v: %d cycles, want %d", c.name, level, got, c.want)
			}
		}
	}
}

// A load's dependent is fetched 11 cycles plus the memory's delay later. The delay
// depends on the launch cycle, seven cycles after the fetch, modulo seven.
func TestLoadLatency(t *testing.T) {
	lfsr := [7]uint64{5, 3, 7, 6, 4, 1, 2}
	for n := range 7 {
		text := strings.Repeat("NOP rd=9\n", n) + "LDR R1, [R2]\nADD R4, R1, R5\nEXIT"
		k := start(t, kepler.RTL, text, 5)
		if !k.Run(10_000) {
			t.Fatal("does not end")
		}
		fetched := fetchOf(t, k, 5, n)
		want := 11 + lfsr[(fetched+7)%7]%6 + 2
		if got := fetchOf(t, k, 5, n+1) - fetched; got != want {
			t.Errorf("fetched in cycle %d: %d cycles, want %d", fetched, got, want)
		}
	}
}

// At level datasheet the scheduler stays with a warp; the RTL goes round robin.
func TestScheduling(t *testing.T) {
	text := "ADD R1, R2, R3\nADD R4, R5, R6\nADD R7, R8, R9\nADD R10, R11, R12\nEXIT"
	for level, want := range map[kepler.Level][]int{kepler.RTL: {2, 7, 2, 7, 2, 7, 2, 7}, kepler.Datasheet: {2, 2, 2, 2}} {
		k := start(t, level, text, 2, 7)
		if !k.Run(10_000) {
			t.Fatal("does not end")
		}
		for i, w := range want {
			if got := k.Fetches()[i].Warp; got != w {
				t.Errorf("level %v: fetch %d is of warp %d, want %d", level, i, got, w)
			}
		}
	}
}

// SFU and FPU are one unit in the RTL and two in the datasheet.
func TestSFUPairs(t *testing.T) {
	for level, want := range map[kepler.Level]uint64{kepler.RTL: 1, kepler.Datasheet: 0} {
		k := start(t, level, "FADD R1, R2, R3\nSIN R4, R5, R7 rs2=7 rs3=7\nEXIT", 3)
		if !k.Run(10_000) {
			t.Fatal("does not end")
		}
		if got := fetchOf(t, k, 3, 1) - fetchOf(t, k, 3, 0); got != want {
			t.Errorf("level %v: %d cycles, want %d", level, got, want)
		}
	}
}

// Four warps store a value in shared memory, wait at a barrier, and read each other's
// values. The last arrives late. In the RTL's first epoch no warp waits for it.
func TestBarrierMeets(t *testing.T) {
	text := `
	BNE R1, R2, go      # warp 9 has R1 = R2 and is slow
	AND R3, R40, R40
loop:	ADD R3, R3, R40, 1
	BNE R3, R4, loop
go:	STS [R5], R6
	BAR
	LDS R7, [R8]
	BAR
	STS [R5], R40
	BAR
	LDS R9, [R8]
	EXIT`
	warps := []int{0, 3, 9, 23}
	run := func(level kepler.Level) (first, second []uint32) {
		k := start(t, level, text, warps...)
		for n, w := range warps {
			for reg, v := range map[int]uint32{1: uint32(w), 2: 9, 4: 50, 5: uint32(n) * 4, 6: 100 + uint32(n), 8: uint32(n+2) % 4 * 4} {
				if err := k.SetRegister(w, reg, -1, v); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !k.Run(100_000) {
			t.Fatalf("level %v does not end: %v", level, k.Waits())
		}
		for _, w := range warps {
			first = append(first, k.Register(w, 7)[31])
			second = append(second, k.Register(w, 9)[31])
		}
		return first, second
	}
	first, second := run(kepler.Datasheet)
	for n := range warps {
		if want := 100 + uint32(n+2)%4; first[n] != want || second[n] != 0 {
			t.Errorf("datasheet: warp %d read %d and %d, want %d and 0", warps[n], first[n], second[n], want)
		}
	}
	if first, _ = run(kepler.RTL); first[0] == 102 {
		t.Errorf("rtl: warp 0 waited for warp 9")
	}
}

// A store and a load over 32 lines. In the RTL only a store's first line reaches memory,
// and a warp other than 0 waits forever for a split load.
func TestSplits(t *testing.T) {
	const text = "TID R1\nSHL R2, R1, R40, 8\nADD R3, R1, R40, 7\nSTR [R2 + 4096], R3\nLDR R4, [R2 + 4096]\nEXIT"
	k := start(t, kepler.Datasheet, text, 6)
	if !k.Run(100_000) {
		t.Fatalf("does not end: %v", k.Waits())
	}
	for l := range uint32(32) {
		if k.Memory(4096+256*l) != l+7 || k.Register(6, 4)[l] != l+7 {
			t.Errorf("lane %d: memory %d, register %d, want %d", l, k.Memory(4096+256*l), k.Register(6, 4)[l], l+7)
		}
	}
	if s := k.Stats(); s.Transactions != 64 || s.Replays != 62 {
		t.Errorf("%d transactions, %d of them replays; want 64 and 62", s.Transactions, s.Replays)
	}

	k = start(t, kepler.RTL, text, 6)
	if k.Run(100_000) || !k.Stuck() {
		t.Errorf("rtl: the split store of warp 6 ends or is not stuck in cycle %d", k.Cycle())
	}
	if w := k.Waits(); len(w) != 1 || !strings.HasPrefix(w[0], "warp 6 at pc ") {
		t.Errorf("it waits: %q", w)
	}
	k = start(t, kepler.RTL, "TID R1\nSHL R2, R1, R40, 8\nADD R3, R1, R40, 7\nSTR [R2 + 4096], R3\nEXIT", 0)
	if !k.Run(100_000) {
		t.Fatalf("rtl: the split store of warp 0 does not end: %v", k.Waits())
	}
	for l := range uint32(32) {
		want := uint32(0)
		if l == 0 {
			want = 7
		}
		if got := k.Memory(4096 + 256*l); got != want {
			t.Errorf("rtl: line of lane %d: %d, want %d", l, got, want)
		}
	}
}

// Side effects that are quirks of the RTL.
func TestSideEffects(t *testing.T) {
	for _, c := range []struct {
		name, text string
		reg        int
		rtl, sheet uint32
	}{
		{"ISETP writes a register", "ISETP.EQ P1, R2, R2\nEXIT", 1, 1, 77},
		{"the zero word writes R0 where P0 is true", "ISETP.EQ P0, R2, R2 rd=16\nADD R5, R6, R7\nADD R8, R5, R7\nADD R8, R8, R7\n.word 0\nEXIT", 0, 0, 77},
		{"CALL writes R0", "CALL f\nf: EXIT", 0, 0, 77},
		{"STS writes what was read last", "LDS R3, [R40 + 8]\nSTS [R40 + 4], R3 rd=9\nEXIT", 9, 5, 77},
	} {
		for level, want := range map[kepler.Level]uint32{kepler.RTL: c.rtl, kepler.Datasheet: c.sheet} {
			k := start(t, level, c.text, 4)
			for _, reg := range []int{0, 1, 9} {
				if err := k.SetRegister(4, reg, -1, 77); err != nil {
					t.Fatal(err)
				}
			}
			if err := k.SetShared(8, 5); err != nil {
				t.Fatal(err)
			}
			if !k.Run(10_000) {
				t.Fatalf("%s, level %v: does not end: %v", c.name, level, k.Waits())
			}
			if got := k.Register(4, c.reg)[3]; got != want {
				t.Errorf("%s, level %v: %d, want %d", c.name, level, got, want)
			}
		}
	}
}

// Arithmetic that follows IEEE-754 only at level datasheet.
func TestArithmetic(t *testing.T) {
	f := math.Float32bits
	for _, c := range []struct {
		text       string
		a, b       uint32
		rtl, sheet uint32
	}{
		{"FDIV R3, R1, R2", f(10), f(2), 0x409fffff, f(5)},
		{"FSUB R3, R1, R2", f(3), f(3), 0x3400_0000, f(0)}, // 2^-23, where 3 is 1.5·2^1
		{"FTOI R3, R1", f(6.75), 0, 0x40a00000, 6},
		{"ITOF R3, R1", 0x7fffffff, 0, 0x4effffff, 0x4f000000},
		{"FADD R3, R1, R2", f(1), 0x7f800000, 0, 0x7f800000},
	} {
		for level, want := range map[kepler.Level]uint32{kepler.RTL: c.rtl, kepler.Datasheet: c.sheet} {
			k := start(t, level, c.text+"\nEXIT", 2)
			for reg, v := range map[int]uint32{1: c.a, 2: c.b} {
				if err := k.SetRegister(2, reg, -1, v); err != nil {
					t.Fatal(err)
				}
			}
			if !k.Run(10_000) {
				t.Fatal("does not end")
			}
			if got := k.Register(2, 3)[0]; got != want {
				t.Errorf("%s of %08x and %08x, level %v: %08x, want %08x", c.text, c.a, c.b, level, got, want)
			}
		}
	}
}

// Full stacks work; one more entry is a fault.
func TestStacks(t *testing.T) {
	ssy := func(n int) string { // each has its own JOIN, the innermost first
		return strings.Repeat("SSY 1\n", n) + strings.Repeat("JOIN\n", n) + "EXIT"
	}
	nested := func(n int) string { // n nested calls
		var b strings.Builder
		b.WriteString("CALL f1\nEXIT\n")
		for i := 1; i <= n; i++ {
			b.WriteString("f" + string(rune('a'+i)) + ": ")
			if i < n {
				b.WriteString("CALL f" + string(rune('a'+i+1)) + "\n")
			}
			b.WriteString("ADD R1, R1, R40, 1\nRET\n")
		}
		return strings.Replace(b.String(), "CALL f1", "CALL fb", 1)
	}
	for _, c := range []struct{ name, text, fault string }{
		{"8 calls", nested(8), ""},
		{"9 calls", nested(9), "the call stack is full: 8 return addresses"},
		{"33 entries", strings.Repeat("SSY 1\n", 33) + "EXIT", "the divergence stack is full: 32 entries"},
		{"32 entries", strings.Repeat("SSY 1\n", 32) + "EXIT", ""},
		{"empty", "RET", "the call stack is empty"},
		{"33 pushes and pops", ssy(33), "the divergence stack is full: 32 entries"},
	} {
		k := start(t, kepler.Datasheet, c.text, 1)
		done := k.Run(100_000)
		switch f := k.Fault(); {
		case c.fault == "" && !done:
			t.Errorf("%s: does not end: %v %v", c.name, f, k.Waits())
		case c.fault != "" && (f == nil || f.What != c.fault):
			t.Errorf("%s: %v, want %s", c.name, f, c.fault)
		}
		if c.name == "8 calls" && k.Register(1, 1)[7] != 8 {
			t.Errorf("8 calls: %d functions ran", k.Register(1, 1)[7])
		}
	}
}

func TestBadSetUp(t *testing.T) {
	k := kepler.New(kepler.Config{})
	for name, err := range map[string]error{
		"warp":       k.Start(24, 0, 1),
		"load":       k.Load(nil, -1),
		"too long":   k.Load(make([]uint64, 257), 0),
		"register":   k.SetRegister(0, 64, 0, 1),
		"lane":       k.SetRegister(0, 0, 32, 1),
		"no warp":    k.SetRegister(-1, 0, 0, 1),
		"shared":     k.SetShared(16384, 1),
		"shared < 0": k.SetShared(-1, 1),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := kepler.LevelByName("gate"); err == nil || !strings.Contains(err.Error(), "want rtl or datasheet") {
		t.Errorf("level: %v", err)
	}
}
