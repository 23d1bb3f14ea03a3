package exec

import (
	"context"
	"errors"
	"testing"
)

// TestEndless: a run ends when all blocks loop for ever, and goes on as long as one of them, or
// one that has not begun, may change that.
func TestEndless(t *testing.T) {
	const never = 1 << 62
	loop := func(period uint64) func(s *script) {
		return func(s *script) { s.length, s.state = never, func(done uint64) uint64 { return done % period } }
	}
	for _, c := range []struct {
		name  string
		talks bool
		edit  func(s *script)
		stuck bool
	}{
		{"one instruction", true, loop(1), true},
		{"a long loop", true, loop(2*spinSlice + 3), true},
		{"loops of several lengths", true, func(s *script) { loop(3 + 2*s.n)(s) }, true},
		{"blocks that cannot communicate", false, loop(7), true},
		{"some blocks have ended", true, func(s *script) {
			if s.n > 0 {
				loop(5)(s)
			}
		}, true},
		{"a counter", true, loop(never), false},
		{"a loop that each slice leaves, of warps that pass nothing to each other", true, func(s *script) {
			s.length, s.state = never, perSlice
		}, true},
		{"a loop that each slice leaves", true, func(s *script) {
			s.length, s.state, s.shares = never, perSlice, true
		}, false},
		{"stores to shared memory", true, func(s *script) {
			loop(7)(s)
			s.shares = true
		}, true},
		{"a block stores now and then", true, func(s *script) {
			loop(5)(s)
			if s.n == 3 {
				loop(10_000)(s)
				s.stores = func(done uint64) bool { return done%10_000 == 0 }
			}
		}, false},
		{"all stores are before the loop", true, func(s *script) {
			s.length, s.stores = never, func(done uint64) bool { return done < 100_000 }
			s.state = func(done uint64) uint64 {
				if done < 200_000 {
					return done
				}
				return 200_000 + done%9
			}
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fakeGrid{}
			g := f.launch(4, c.edit)
			g.Talks, g.Spins = c.talks, c.talks
			_, err := g.Run(context.Background(), Options{Threads: 2, MaxInsts: 1 << 26}, 0)
			var stuck *StuckError
			var limit *LimitError
			switch {
			case errors.As(err, &stuck) != c.stuck, errors.As(err, &limit) == c.stuck:
				t.Errorf("%v; want that it loops: %v", err, c.stuck)
			case c.stuck && len(stuck.Loops) == 0:
				t.Error("nothing says where")
			}
		})
	}
}

// perSlice is a state that comes back within each slice, but not from one to the next.
func perSlice(done uint64) uint64 {
	if done%spinSlice == 0 {
		return done
	}
	return done % 7
}

// TestEndlessWaitsForBlocks: blocks wait for one that begins only because none of them ends.
func TestEndlessWaitsForBlocks(t *testing.T) {
	f := &fakeGrid{}
	g := f.launch(200, func(s *script) {
		s.needs = 100
		s.state = func(uint64) uint64 { return 0 }
	})
	g.Talks, g.Spins = true, true
	if res, err := g.Run(context.Background(), Options{}, 0); err != nil || res.Blocks != 200 {
		t.Errorf("%v, %+v", err, res)
	}
}
