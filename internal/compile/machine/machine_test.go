package machine

import "testing"

// TestOf: a contract's latencies reach each kind of reader.
func TestOf(t *testing.T) {
	slow := Ampere
	slow.Integer, slow.Half, slow.Predicate, slow.Counters, slow.Reuse = 6, 9, 14, 2, false
	for _, c := range []struct {
		name     string
		contract Contract
		got      func(m *Machine) int
		want     int
	}{
		{"ALU to ALU", Ampere, func(m *Machine) int { return int(m.Need[ALU][ByALU]) }, 4},
		{"ALU to FFMA", Ampere, func(m *Machine) int { return int(m.Need[ALU][ByFMA]) }, 5},
		{"half to an address", Ampere, func(m *Machine) int { return int(m.Need[Half][ByAddress]) }, 5},
		{"ISETP to ALU", Ampere, func(m *Machine) int { return int(m.Predicate[ALU][ByALU]) }, 4},
		{"ISETP to a guard", Ampere, func(m *Machine) int { return int(m.Predicate[ALU][ByGuard]) }, 13},
		{"VOTE to ALU", Ampere, func(m *Machine) int { return int(m.Predicate[Vote][ByALU]) }, 13},
		{"slow ALU to FFMA", slow, func(m *Machine) int { return int(m.Need[ALU][ByFMA]) }, 7},
		{"slow half to a queue", slow, func(m *Machine) int { return int(m.Need[Half][ByQueue]) }, 8},
		{"slow ISETP, or a carry, to ALU", slow, func(m *Machine) int { return int(m.Predicate[ALU][ByALU]) }, 6},
		{"slow ISETP to a guard", slow, func(m *Machine) int { return int(m.Predicate[ALU][ByGuard]) }, 14},
		{"counters", slow, func(m *Machine) int { return m.Counters }, 2},
		{"no cache of operands", slow, func(m *Machine) int { return m.ReuseSlots }, 0},
	} {
		if got := c.got(Of(86, c.contract)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	for _, c := range []struct {
		name string
		got  func(m *Machine) uint8
		want uint8
	}{ // Mesa's table; loads and stores as ptxas leaves them
		{"ALU to FFMA", func(m *Machine) uint8 { return m.Need[ALU][ByFMA] }, 5},
		{"ALU to half", func(m *Machine) uint8 { return m.Need[ALU][ByHalf] }, 6},
		{"FFMA to IMAD.WIDE", func(m *Machine) uint8 { return m.Need[FMA][ByWide] }, 4},
		{"FFMA to an address", func(m *Machine) uint8 { return m.Need[FMA][ByAddress] }, 8},
		{"half to half", func(m *Machine) uint8 { return m.Need[Half][ByHalf] }, 6},
		{"half to ALU", func(m *Machine) uint8 { return m.Need[Half][ByALU] }, 8},
		{"ISETP to ALU", func(m *Machine) uint8 { return m.Predicate[ALU][ByALU] }, 4},
		{"FSETP to ALU", func(m *Machine) uint8 { return m.Predicate[FMA][ByALU] }, 5},
		{"HSETP2 to ALU", func(m *Machine) uint8 { return m.Predicate[Half][ByALU] }, 8},
		{"ISETP to half", func(m *Machine) uint8 { return m.Predicate[ALU][ByHalf] }, 12},
		{"ISETP to a guard", func(m *Machine) uint8 { return m.Predicate[ALU][ByGuard] }, 12},
		{"HSETP2 to a guard", func(m *Machine) uint8 { return m.Predicate[Half][ByGuard] }, 14},
		{"FFMA to FFMA of the same pipe", func(m *Machine) uint8 { return m.Spacing[FMA] }, 2},
	} {
		if got := c.got(Of(75, Ampere)); got != c.want {
			t.Errorf("sm_75, %s: %d, want %d", c.name, got, c.want)
		}
	}
	if Of(60, Ampere) != nil {
		t.Error("sm_60 has a description")
	}
}

// TestNewest: a GPU without a description has that of the newest before it.
func TestNewest(t *testing.T) {
	for sm, want := range map[int]int{52: 0, 80: 80, 86: 86, 88: 87, 89: 89, 90: 89, 120: 89} {
		if got := Newest(sm); got != want {
			t.Errorf("sm_%d: %d, want %d", sm, got, want)
		}
	}
}

// TestLongLatencies: cycles beyond what a description holds become its most, and do not wrap to few.
func TestLongLatencies(t *testing.T) {
	for _, cycles := range []int{255, 256, 257, 512} {
		c := Ampere
		c.Integer = cycles
		if n := Of(86, c).Need[ALU][ByALU]; n != 255 {
			t.Errorf("%d cycles become %d, want 255", cycles, n)
		}
	}
}
