package core

import "testing"

// TestSleep: how many cycles pass before a core must be simulated, and what it has slept
// then.
func TestSleep(t *testing.T) {
	for _, c := range []struct {
		name  string
		awake bool
		until uint64 // of a sleep that begins in tick 10
		room  int
		full  int // cycles in which the network has no room
		calls int // of Pass
		want  uint64
		next  uint64 // after cycle 100, in which the sleep begins
	}{
		{"until the next tick", false, 11, 0, 0, 5, 0, 101},
		{"until a tick", false, 14, 0, 0, 5, 3, 104},
		{"until its owner wakes it", false, Never, 0, 0, 5, 5, Never},
		{"turned off", true, 14, 0, 0, 5, 0, 101},
		{"until the network has room", false, Never, 40, 2, 5, 2, 101},
		{"until a tick before the network has room", false, 14, 40, 9, 9, 3, 101},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s Sleep
			if c.awake {
				s.StayAwake()
			}
			s.Doze(10, c.until, c.room)
			if got := s.Next(100); got != c.next {
				t.Errorf("something may happen in cycle %d, want %d", got, c.next)
			}
			for i := range c.calls {
				if r := s.Room(); r > 0 && i >= c.full || !s.Pass() {
					break
				}
			}
			if got := s.Wake(); got != c.want {
				t.Errorf("slept for %d cycles, want %d", got, c.want)
			}
			if s.Asleep() || s.Pass() || s.Room() != 0 {
				t.Error("sleeps after Wake")
			}
		})
	}
}
