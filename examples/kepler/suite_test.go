package kepler_test

import (
	"fmt"
	"math"
	"math/bits"
	"os"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
)

// The eleven tests of the datasheet's regression suite, by its names, with
// assertions of our own: at level datasheet what the datasheet promises, at
// level rtl what the hardware description does.
func TestSuite(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, level kepler.Level)
	}{
		{"test_alu_ops", aluOps},
		{"test_app_matmul", appMatmul},
		{"test_control_flow", controlFlow},
		{"test_fpu_sfu_ops", fpuSFUOps},
		{"test_function_call", functionCall},
		{"test_lsu_split", lsuSplit},
		{"test_memory_system", memorySystem},
		{"test_perspective_cube", draws("cube1")},
		{"test_pipeline_issue", pipelineIssue},
		{"test_rotated_cube", draws("rotated")},
		{"test_wireframe_cube", draws("cube")},
	} {
		t.Run(test.name, func(t *testing.T) {
			for level := range kepler.Datasheet + 1 {
				t.Run(level.String(), func(t *testing.T) { test.run(t, level) })
			}
		})
	}
}

// setup returns a core with a program on a warp, all lanes, that keeps its
// fetch trace.
func setup(t *testing.T, level kepler.Level, warp int, text string) *kepler.Core {
	t.Helper()
	prog, err := kasm.Assemble("test.kasm", text, kasm.RTL)
	if err != nil {
		t.Fatal(err)
	}
	k := kepler.New(kepler.ConfigFor(level))
	if err := k.Load(prog.Words, warp); err != nil {
		t.Fatal(err)
	}
	k.Trace(true)
	if err := k.Start(warp, 0, ^uint32(0)); err != nil {
		t.Fatal(err)
	}
	return k
}

// set gives a register the value f(lane).
func set(t *testing.T, k *kepler.Core, warp, reg int, f func(lane uint32) uint32) {
	t.Helper()
	for l := range kasm.Lanes {
		if err := k.SetRegister(warp, reg, l, f(uint32(l))); err != nil {
			t.Fatal(err)
		}
	}
}

func constant(v uint32) func(uint32) uint32 { return func(uint32) uint32 { return v } }

// ends runs a core to its end.
func ends(t *testing.T, k *kepler.Core) {
	t.Helper()
	if !k.Run(k.Cycle() + 100_000) {
		t.Fatalf("does not end: %v %v", k.Fault(), k.Waiting())
	}
}

// holds asserts that a register holds f(lane) in every lane.
func holds(t *testing.T, k *kepler.Core, warp, reg int, what string, f func(lane uint32) uint32) {
	t.Helper()
	for l, got := range k.Register(warp, reg) {
		if want := f(uint32(l)); got != want {
			t.Errorf("%s: R%d of lane %d is %08x, want %08x", what, reg, l, got, want)
			return
		}
	}
}

func flag01(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// aluOps is integer arithmetic and logic against Go's.
func aluOps(t *testing.T, level kepler.Level) {
	// R1 and R2 have large and small values of both signs, R3 is an addend.
	r1 := func(l uint32) uint32 { return (l - 16) * 0x0badf00d }
	r2 := func(l uint32) uint32 { return l*l*l - 9*l*l + 7 }
	r3 := func(l uint32) uint32 { return 1 << l }
	type op = func(a, b, c uint32) uint32
	for text, want := range map[string]op{
		"ADD R9, R1, R2, R63, 5":   func(a, b, _ uint32) uint32 { return a + b + 5 },
		"SUB R9, R1, R2, R63, 5":   func(a, b, _ uint32) uint32 { return a - b - 5 },
		"MUL R9, R1, R2, R63, -3":  func(a, b, _ uint32) uint32 { return a * (b - 3) },
		"IMAD R9, R1, R2, R3":      func(a, b, c uint32) uint32 { return a*b + c },
		"NEG R9, R1":               func(a, _, _ uint32) uint32 { return -a },
		"MOV R9, R1":               func(a, _, _ uint32) uint32 { return a },
		"IDIV R9, R1, R2":          func(a, b, _ uint32) uint32 { return uint32(int32(a) / int32(b)) },
		"IDIV R9, R1, R63":         func(_, _, _ uint32) uint32 { return 0 },
		"IREM R9, R1, R2":          func(a, b, _ uint32) uint32 { return uint32(int32(a) % int32(b)) },
		"IABS R9, R1":              func(a, _, _ uint32) uint32 { return uint32(abs(int(int32(a)))) },
		"IMIN R9, R1, R2":          func(a, b, _ uint32) uint32 { return uint32(min(int32(a), int32(b))) },
		"IMAX R9, R1, R2":          func(a, b, _ uint32) uint32 { return uint32(max(int32(a), int32(b))) },
		"SLT R9, R1, R2":           func(a, b, _ uint32) uint32 { return flag01(a < b) }, // without a sign
		"SLE R9, R1, R2":           func(a, b, _ uint32) uint32 { return flag01(int32(a) <= int32(b)) },
		"SEQ R9, R2, R63, R63, 7":  func(_, b, _ uint32) uint32 { return flag01(b == 7) },
		"AND R9, R1, R2":           func(a, b, _ uint32) uint32 { return a & b },
		"OR R9, R1, R2":            func(a, b, _ uint32) uint32 { return a | b },
		"XOR R9, R1, R2":           func(a, b, _ uint32) uint32 { return a ^ b },
		"NOT R9, R1":               func(a, _, _ uint32) uint32 { return ^a },
		"SHL R9, R1, R63, R63, 5":  func(a, _, _ uint32) uint32 { return a << 5 },
		"SHR R9, R1, R63, R63, 5":  func(a, _, _ uint32) uint32 { return a >> 5 },
		"SHA R9, R1, R63, R63, 40": func(a, _, _ uint32) uint32 { return uint32(int32(a) >> 31) }, // beyond the width: all sign
		"POPC R9, R1":              func(a, _, _ uint32) uint32 { return uint32(bits.OnesCount32(a)) },
		"CLZ R9, R3":               func(_, _, c uint32) uint32 { return uint32(bits.LeadingZeros32(c)) },
		"BREV R9, R1":              func(a, _, _ uint32) uint32 { return bits.Reverse32(a) },
		"CNOT R9, R1":              func(a, _, _ uint32) uint32 { return flag01(a == 0) },
	} {
		k := setup(t, level, 4, text+"\nEXIT")
		set(t, k, 4, 1, r1)
		set(t, k, 4, 2, r2)
		set(t, k, 4, 3, r3)
		ends(t, k)
		holds(t, k, 4, 9, text, func(l uint32) uint32 { return want(r1(l), r2(l), r3(l)) })
	}
	// A comparison has its predicate; the RTL writes a register too, and NOP
	// clears one.
	k := setup(t, level, 4, "ISETP.LT P1, R1, R2 rd=57\nSELP R9, R1, R2, P1\nNOP rd=10\nEXIT")
	set(t, k, 4, 1, r1)
	set(t, k, 4, 2, r2)
	for _, reg := range []int{10, 57} {
		set(t, k, 4, reg, constant(77))
	}
	ends(t, k)
	less := func(l uint32) bool { return int32(r1(l)) < int32(r2(l)) }
	for l := range kasm.Lanes {
		if got := k.Predicate(4, 1)>>l&1 != 0; got != less(uint32(l)) {
			t.Errorf("ISETP: P1 of lane %d is %v", l, got)
		}
	}
	if level == kepler.RTL {
		holds(t, k, 4, 57, "ISETP", func(l uint32) uint32 { return flag01(less(l)) })
		holds(t, k, 4, 10, "NOP", constant(0))
		return
	}
	holds(t, k, 4, 9, "SELP", func(l uint32) uint32 {
		if less(l) {
			return r1(l)
		}
		return r2(l)
	})
	holds(t, k, 4, 57, "ISETP", constant(77))
	holds(t, k, 4, 10, "NOP", constant(77))
}

// appMatmul is the tiled product of the datasheet: A counts from 1 to 64, B is
// the identity, two warps, 512 bytes of shared memory.
func appMatmul(t *testing.T, level kepler.Level) {
	text, err := os.ReadFile("tiled.kasm")
	if err != nil {
		t.Fatal(err)
	}
	k := setup(t, level, 0, string(text))
	prog, err := kasm.Assemble("tiled.kasm", string(text), kasm.RTL)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Load(prog.Words, 1); err != nil {
		t.Fatal(err)
	}
	if err := k.Start(1, 0, ^uint32(0)); err != nil {
		t.Fatal(err)
	}
	set(t, k, 1, 13, constant(32))
	for n := range uint32(64) {
		k.SetMemory(4*n, n+1)
		if n/8 == n%8 {
			k.SetMemory(0x100+4*n, 1)
		}
	}
	waited := false // at the barrier
	for !k.Done() && k.Cycle() < 10_000 {
		k.Step()
		waited = waited || k.Status(0) == kepler.Barrier || k.Status(1) == kepler.Barrier
	}
	ends(t, k)
	if waited != (level == kepler.Datasheet) {
		t.Errorf("a warp has waited at the barrier: %v", waited)
	}
	used := 0
	for n := range uint32(64) {
		if got := k.Memory(0x200 + 4*n); got != n+1 {
			t.Errorf("C[%d][%d] is %d, want %d", n/8, n%8, got, n+1)
		}
	}
	for word := range kepler.SharedBytes / 4 {
		if k.Shared(word) != 0 {
			used = word + 1
		}
	}
	if used*4 != 512 {
		t.Errorf("%d bytes of shared memory are used, want 512", used*4)
	}
	if n := k.Stats().Transactions; n != 6 {
		t.Errorf("%d transactions, want a line of A, of B and of C for each warp", n)
	}
}

// controlFlow is branches within branches: each lane goes its own way and all
// meet again.
func controlFlow(t *testing.T, level kepler.Level) {
	k := setup(t, level, 7, `
        TID   R1
        AND   R2, R1, R63, R63, 1
        AND   R3, R1, R63, R63, 2
        SSY   met
        BNE   R2, R63, odd
        SSY   even2                # even lanes go on after the odd ones
        BNE   R3, R63, even1
        ADD   R9, R9, R63, R63, 10
        JOIN
even1:  ADD   R9, R9, R63, R63, 20
        JOIN
even2:  ADD   R9, R9, R63, R63, 100
        STR   [R63 + 4], R9
        JOIN
odd:    ADD   R9, R9, R63, R63, 3
        STR   [R63 + 4], R9
        JOIN
met:    ADD   R9, R9, R63, R63, 1000
        EXIT`)
	ends(t, k)
	holds(t, k, 7, 9, "branches", func(l uint32) uint32 {
		switch {
		case l&1 != 0:
			return 1003
		case l&2 != 0:
			return 1120
		}
		return 1110
	})
	if n, m := k.StackTop(7), k.Mask(7); n != 0 || m != ^uint32(0) {
		t.Errorf("at the end the divergence stack has %d entries, and the mask is %08x", n, m)
	}
	// The path that is taken runs first, so the other one's store stays.
	if got := k.Memory(4); got != 110 && got != 120 {
		t.Errorf("the last store was of %d; that of the even lanes has to be", got)
	}

	// A loop that each lane leaves in its own round.
	k = setup(t, level, 7, `
        TID   R1
        SSY   out
again:  BEQ   R2, R1, leave
        ADD   R2, R2, R63, R63, 1
        ADD   R9, R9, R2
        BRA   again
leave:  JOIN
out:    ADD   R8, R8, R63, R63, 1
        EXIT`)
	ends(t, k)
	holds(t, k, 7, 9, "loop", func(l uint32) uint32 { return l * (l + 1) / 2 })
	holds(t, k, 7, 8, "after the loop", constant(1))

	// A guard that holds nowhere: the RTL's JOIN does not ask it and pops.
	k = setup(t, level, 7, "SSY away\n@!P7 JOIN\nADD R9, R9, R63, R63, 1\nEXIT\naway: ADD R9, R9, R63, R63, 2\nEXIT")
	ends(t, k)
	if level == kepler.RTL {
		holds(t, k, 7, 9, "guarded JOIN", constant(2))
	} else {
		holds(t, k, 7, 9, "guarded JOIN", constant(1))
	}

	// A guarded BRA takes the whole warp along if one lane takes it.
	k = setup(t, level, 7, "TID R1\nISETP.EQ P1, R1, R63 rd=57\n@P1 BRA to\nADD R9, R9, R63, R63, 1\nto: EXIT")
	ends(t, k)
	holds(t, k, 7, 9, "guarded BRA", constant(0))
}

// fpuSFUOps is floating-point arithmetic, IEEE-754 or the RTL's own, and the
// special functions, which are 16-bit tables at both levels.
func fpuSFUOps(t *testing.T, level kepler.Level) {
	const nan = 0x7fc00000
	f := math.Float32bits
	for _, c := range []struct {
		text    string
		a, b, c uint32
		ieee    uint32
		rtl     uint32
	}{
		{"FADD R9, R1, R2", f(1.5), f(2.25), 0, f(3.75), f(3.75)},
		{"FADD R9, R1, R2", f(1), f(0x1p-24 + 0x1p-40), 0, f(1 + 0x1p-23), f(1)},                       // the RTL cuts off
		{"FSUB R9, R1, R2", f(1.5), f(1.5), 0, 0, 103 << 23},                                           // 2^(e-24) is left
		{"FSUB R9, R1, R2", f(5), f(2), 0, f(3), f(3)},                                                 //
		{"FMUL R9, R1, R2", f(3), f(0.5), 0, f(1.5), f(1.5)},                                           //
		{"FMUL R9, R1, R2", f(-2), f(1.25), 0, f(-2.5), 0xc0600000},                                    // -3.5: a zero taken off negates the mantissa
		{"FDIV R9, R1, R2", f(10), f(2), 0, f(5), 0x409fffff},                                          // three steps toward it
		{"FFMA R9, R1, R2, R3", f(2), f(3), f(4), f(10), f(10)},                                        //
		{"FTOI R9, R1", f(5.75), 0, 0, 5, 0x40900000},                                                  // no integer
		{"ITOF R9, R1", 0xfffffff9, 0, 0, f(-7), f(-7)},                                                //
		{"ITOF R9, R1", 0x01ffffff, 0, 0, f(0x1p25), f(0x1p25 - 2)},                                    // to nearest, toward zero
		{"FABS R9, R1", f(-3), 0, 0, f(3), f(3)},                                                       //
		{"FNEG R9, R1", f(3), 0, 0, f(-3), f(-3)},                                                      //
		{"FMIN R9, R1, R2", f(-3), f(2), 0, f(-3), f(-3)},                                              //
		{"FMAX R9, R1, R2", f(-3), f(2), 0, f(2), f(2)},                                                //
		{"FSETP.LT P1, R1, R2 rd=57\n@P1 MOV R9, R4", f(-1), f(2), 0, 1, 1},                            //
		{"FSETP.GE P1, R1, R2 rd=57\n@P1 MOV R9, R4", f(-1), f(-2), 0, 1, 1},                           //
		{"FSETP.EQ P1, R1, R2 rd=57\n@P1 MOV R9, R4", f(0), 1 << 31, 0, 1, 1},                          // zeros are equal
		{"FSETP.EQ P1, R1, R2 rd=57\n@P1 MOV R9, R4", nan, nan, 0, 0, 1},                               // NaN equals itself for the RTL
		{"FADD R9, R1, R2", f(float32(math.Inf(1))), f(1), 0, f(float32(math.Inf(1))), f(1)},           // an infinity times one is zero
		{"FADD R9, R1, R2", f(math.MaxFloat32), f(math.MaxFloat32), 0, 0x7f800000, 0x7f7fffff + 1<<23}, // the exponent grows
	} {
		k := setup(t, level, 9, c.text+"\nEXIT")
		for reg, v := range map[int]uint32{1: c.a, 2: c.b, 3: c.c, 4: 1} {
			set(t, k, 9, reg, constant(v))
		}
		ends(t, k)
		want := c.ieee
		if level == kepler.RTL {
			want = c.rtl
		}
		holds(t, k, 9, 9, c.text, constant(want))
	}
	for _, s := range special {
		k := setup(t, level, 9, s.name+" R9, R1\nEXIT")
		operand := func(l uint32) uint32 { return l*0x0823 + 0x11 }
		set(t, k, 9, 1, operand)
		ends(t, k)
		holds(t, k, 9, 9, s.name, func(l uint32) uint32 { return uint32(int32(s.at(operand(l)))) })
	}
}

// special are the special functions by their definitions: tables of 256 points,
// clamped to what 16 bits of fixed point hold, and straight lines between them.
var special = []specialFunction{
	{"SIN", 0, 0, func(i float64) float64 { return math.Sin(2 * math.Pi * i / 256) }, 32767},
	{"COS", 0x4000, 0, func(i float64) float64 { return math.Sin(2 * math.Pi * i / 256) }, 32767},
	{"EX2", 0, 0x7fff, func(i float64) float64 { return math.Exp2(i/256 - 1) }, 32767},
	{"LG2", 0, 0x7fff, func(i float64) float64 { return math.Log2(1 + i/256) }, 32767},
	{"RCP", 0, 0x4000, func(i float64) float64 { return 1 / (1 + i/256) }, 32767},
	{"RSQ", 0, 0x5a82, func(i float64) float64 { return 1 / math.Sqrt(1+i/256) }, 32767},
	{"SQRT", 0, 0x5a82, func(i float64) float64 { return math.Sqrt(1+i/256) / 2 }, 32768},
	{"TANH", 0, 0x7fdd, func(i float64) float64 { return math.Tanh((i - 128) / 32) }, 32768},
}

type specialFunction struct {
	name  string
	shift uint32 // added to the operand
	end   int    // the value after the last point
	f     func(float64) float64
	scale float64
}

func (s *specialFunction) at(x uint32) int16 {
	point := func(i uint32) int {
		if i == 256 {
			return s.end
		}
		scale := s.scale
		if s.name == "SIN" || s.name == "COS" {
			if i >= 128 {
				scale = 32768
			}
		}
		return int(min(max(s.f(float64(i)), -1), 32767.0/32768) * scale)
	}
	x += s.shift
	a, b := point(x>>8&255), point(x>>8&255+1)
	return int16(a + int(math.Floor(float64((b-a)*int(x&255))/256)))
}

// functionCall is CALL and RET: functions that call functions.
func functionCall(t *testing.T, level kepler.Level) {
	// Each of depth functions adds its number, before its callee and after it.
	nest := func(depth int) string {
		var b strings.Builder
		b.WriteString("CALL f1\nADD R9, R9, R63, R63, 1000\nEXIT\n")
		for n := 1; n <= depth; n++ {
			fmt.Fprintf(&b, "f%d: ADD R9, R9, R%d, R63, 0\n", n, n)
			if n < depth {
				fmt.Fprintf(&b, "CALL f%d\nADD R9, R9, R63, R63, 100\n", n+1)
			}
			b.WriteString("RET\n")
		}
		return b.String()
	}
	with := func(depth int) *kepler.Core {
		k := setup(t, level, 11, nest(depth))
		for n := 1; n <= depth; n++ {
			set(t, k, 11, n, constant(uint32(n)))
		}
		set(t, k, 11, 0, constant(77))
		return k
	}
	k := with(8)
	ends(t, k)
	holds(t, k, 11, 9, "eight deep", constant(36+7*100+1000))
	if n := k.CallTop(11); n != 0 {
		t.Errorf("the call stack has %d entries at the end", n)
	}
	if level == kepler.RTL { // CALL and RET write a zero
		holds(t, k, 11, 0, "CALL", constant(0))
	} else {
		holds(t, k, 11, 0, "CALL", constant(77))
	}

	// In the RTL a ninth return address overwrites the first: the last RET goes
	// back into the eighth function, finds the stack empty the next time, and the
	// warp runs on and around its program memory for ever. Else it is a fault.
	k = with(9)
	done := k.Run(20_000)
	if level == kepler.RTL {
		if done || k.Register(11, 9)[0] < 45+8*100+1 {
			t.Errorf("nine deep: done is %v, R9 is %d; the first return address should be lost", done, k.Register(11, 9)[0])
		}
		return
	}
	if f := k.Fault(); done || f == nil || !strings.Contains(f.Error(), "call stack is full") {
		t.Errorf("nine deep: %v", f)
	}
}

// lsuSplit is one access to 32 lines. In the RTL only warp 0 can load so, and
// of a store only the first line arrives.
func lsuSplit(t *testing.T, level kepler.Level) {
	for _, warp := range []int{0, 5} {
		k := setup(t, level, warp, "LDR R9, [R1]\nADD R9, R9, R63, R63, 1\nEXIT")
		set(t, k, warp, 1, func(l uint32) uint32 { return l * 128 })
		for l := range uint32(kasm.Lanes) {
			k.SetMemory(l*128, 100+l)
		}
		done := k.Run(20_000)
		if level == kepler.RTL && warp != 0 {
			if done || !k.Stuck() {
				t.Error("a load of warp 5 from many lines ends; in the RTL its answers are lost")
			}
			continue
		}
		if !done {
			t.Fatalf("warp %d: does not end: %v", warp, k.Waiting())
		}
		holds(t, k, warp, 9, "load", func(l uint32) uint32 { return 101 + l })
		if s := k.Stats(); s.Transactions != 32 || s.Replays != 31 {
			t.Errorf("warp %d: %d transactions, %d of them replays", warp, s.Transactions, s.Replays)
		}
	}
	k := setup(t, level, 0, "STR [R1], R2\nEXIT")
	set(t, k, 0, 1, func(l uint32) uint32 { return l/2*128 + l%2*4 })
	set(t, k, 0, 2, func(l uint32) uint32 { return 500 + l })
	ends(t, k)
	for l := range uint32(kasm.Lanes) {
		want := 500 + l
		if level == kepler.RTL && l/2 > 0 {
			want = 0
		}
		if got := k.Memory(l/2*128 + l%2*4); got != want {
			t.Errorf("lane %d has stored %d, want %d", l, got, want)
		}
	}
	// Lanes on one line, in any order, are one transaction.
	k = setup(t, level, 5, "LDR R9, [R1 + 512]\nADD R9, R9, R63, R63, 1\nEXIT")
	set(t, k, 5, 1, func(l uint32) uint32 { return (l * 7 % 32) * 4 })
	for l := range uint32(kasm.Lanes) {
		k.SetMemory(512+l*4, l)
	}
	ends(t, k)
	holds(t, k, 5, 9, "shuffled load", func(l uint32) uint32 { return l*7%32 + 1 })
	if n := k.Stats().Transactions; n != 1 {
		t.Errorf("shuffled load: %d transactions", n)
	}
}

// memorySystem is many transactions at once, and what keeps them apart.
func memorySystem(t *testing.T, level kepler.Level) {
	const loads = 40
	var b strings.Builder
	for n := range loads {
		fmt.Fprintf(&b, "LDR R%d, [R1 + %d]\n", n+10, 128*n)
	}
	for n := range loads {
		fmt.Fprintf(&b, "ADD R9, R9, R%d, R63, 0\n", n+10)
	}
	k := setup(t, level, 2, b.String()+"EXIT")
	sum := uint32(0)
	for n := range uint32(loads) {
		k.SetMemory(128*n, n*n+1)
		sum += n*n + 1
	}
	most := 0
	for !k.Done() && k.Cycle() < 20_000 {
		k.Step()
		most = max(most, k.View(2).Outstanding)
	}
	ends(t, k)
	holds(t, k, 2, 9, "sum of loads", constant(sum))
	if n := k.View(2).Outstanding; most < 4 || n != 0 {
		t.Errorf("%d transactions outstanding at most, %d at the end", most, n)
	}
	if n := k.Stats().Transactions; n != loads {
		t.Errorf("%d transactions, want %d", n, loads)
	}

	// While the lanes of an access to one bank of shared memory are served in
	// turn, the RTL executes what waits behind it again and again.
	b.Reset()
	b.WriteString("LDS R9, [R1]\n")
	for n := range 16 {
		fmt.Fprintf(&b, "ADD R%d, R%d, R63, R63, 1\n", 20+n, 20+n)
	}
	k = setup(t, level, 2, b.String()+"EXIT")
	set(t, k, 2, 1, func(l uint32) uint32 { return 128 * l })
	for l := range kasm.Lanes {
		if err := k.SetShared(128*l, uint32(l+50)); err != nil {
			t.Fatal(err)
		}
	}
	ends(t, k)
	holds(t, k, 2, 9, "bank conflict", func(l uint32) uint32 { return l + 50 })
	if n := k.Stats().Conflicts; n != 31 {
		t.Errorf("a conflict of 32 lanes costs %d cycles, want 31", n)
	}
	total := uint32(0)
	for n := range 16 {
		total += k.Register(2, 20+n)[0]
	}
	if total < 16 || (total == 16) != (level == kepler.Datasheet) {
		t.Errorf("16 additions of one behind a bank conflict come to %d", total)
	}

	// A load finds what the same warp has stored before it.
	k = setup(t, level, 2, `
        STR   [R1], R2
        LDR   R9, [R1]
        ADD   R2, R9, R63, R63, 1
        STR   [R1], R2
        LDR   R8, [R1]
        EXIT`)
	set(t, k, 2, 1, func(l uint32) uint32 { return 4 * l })
	set(t, k, 2, 2, func(l uint32) uint32 { return 3 * l })
	ends(t, k)
	holds(t, k, 2, 9, "load after store", func(l uint32) uint32 { return 3 * l })
	holds(t, k, 2, 8, "load after the second store", func(l uint32) uint32 { return 3*l + 1 })
}

// pipelineIssue is which instructions are selected together: the datasheet's
// table 2, and hazards within a pair.
func pipelineIssue(t *testing.T, level kepler.Level) {
	first := map[string]string{
		"ALU": "ADD R10, R11, R12, R13", "FPU": "FADD R10, R11, R12, R13", "LSU": "LDR R10, [R11] rs2=12 rs3=13", "SFU": "SIN R10, R11, R12, R13", "CTRL": "SSY to rd=10 rs1=11 rs2=12 rs3=13",
	}
	second := map[string]string{
		"ALU": "SUB R20, R21, R22, R23", "FPU": "FMUL R20, R21, R22, R23", "LSU": "LDS R20, [R21] rs2=22 rs3=23", "SFU": "EX2 R20, R21, R22, R23", "CTRL": "BAR rd=20 rs1=21 rs2=22 rs3=23",
	}
	with := map[string]string{"ALU": "FPU LSU SFU", "FPU": "ALU LSU SFU", "LSU": "ALU FPU SFU", "SFU": "ALU FPU LSU", "CTRL": ""}
	together := func(text string) bool {
		k := setup(t, level, 3, text+"\nto: EXIT")
		ends(t, k)
		at := map[int]uint64{}
		for _, f := range k.Fetches() {
			if _, seen := at[f.PC]; !seen {
				at[f.PC] = f.Cycle
			}
		}
		return at[0] == at[1]
	}
	for a, x := range first {
		for b, y := range second {
			want := strings.Contains(with[a], b)
			if level == kepler.RTL && strings.Contains("FPU SFU FPU", a+" "+b) {
				want = false // one unit
			}
			if got := together(x + "\n" + y); got != want {
				t.Errorf("%s and %s together: %v", a, b, got)
			}
		}
	}
	for text, want := range map[string]bool{
		"ADD R10, R11, R12, R13\nFADD R20, R21, R22, R23": true,
		"ADD R10, R11, R12, R13\nFADD R20, R10, R22, R23": false, // the second reads what the first writes
		"ADD R10, R11, R12, R13\nFADD R20, R21, R10, R23": false,
		"ADD R10, R11, R12, R13\nFADD R10, R21, R22, R23": false, // both write one register
		"ADD R10, R11, R12, R13\nFADD R11, R21, R22, R23": true,  // the first reads what the second writes
	} {
		if got := together(text); got != want {
			t.Errorf("%q together: %v", text, got)
		}
	}
	// The scheduler stays with a warp that can go on; the RTL's turns to the next.
	prog, err := kasm.Assemble("turns.kasm", "ADD R10, R11, R12, R13\nADD R20, R21, R22, R23\nADD R30, R31, R32, R33\nEXIT", kasm.RTL)
	if err != nil {
		t.Fatal(err)
	}
	turns := kepler.New(kepler.ConfigFor(level))
	turns.Trace(true)
	if err := turns.Load(prog.Words, 3, 8); err != nil {
		t.Fatal(err)
	}
	for _, w := range []int{3, 8} {
		if err := turns.Start(w, 0, ^uint32(0)); err != nil {
			t.Fatal(err)
		}
	}
	ends(t, turns)
	want := []int{3, 3, 3}
	if level == kepler.RTL {
		want = []int{3, 8, 3}
	}
	for i, w := range want {
		if got := turns.Fetches()[i].Warp; got != w {
			t.Errorf("fetch %d is of warp %d, want %d", i, got, w)
		}
	}

	// A pair counts as one cycle that selected two.
	k := setup(t, level, 3, "ADD R10, R11, R12, R13\nFADD R20, R21, R22, R23\nEXIT")
	ends(t, k)
	if s := k.Stats(); s.DualIssues != 1 {
		t.Errorf("%d cycles selected two instructions, want 1", s.DualIssues)
	}
}

// draws is a demo as a test of the suite.
func draws(name string) func(*testing.T, kepler.Level) {
	return func(t *testing.T, level kepler.Level) {
		for _, d := range demos {
			if d.name == name {
				d.test(t, level)
			}
		}
	}
}
