package noc

import (
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle/internal/mem"
)

// TestOutbox: an outbox that is asked while its network has yet to advance answers as the network does that
// has advanced and takes every packet at once, and it waits for the advance only if it matters.
func TestOutbox(t *testing.T) {
	for _, c := range []struct {
		name  string
		cfg   Config
		early int // at least so often there is room before the advance
	}{
		{"crossbar", local(2, 2), 100},
		{"crossbar with buffers of one", with(local(2, 2), func(c *Config) { c.InBuffer, c.OutBuffer = 1, 1 }), 1},
		{"fly", with(routed(Fly, 2, 2), func(c *Config) { c.InBuffer = 6 }), 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 4))
			at, beside := New(c.cfg), New(c.cfg)
			advanced := false
			box := beside.NewOutbox(1)
			box.Advanced = func() {
				if !advanced {
					beside.Advance()
					advanced = true
				}
			}
			early, refused := 0, 0
			for cycle := range 3000 {
				if dst := r.IntN(2); r.IntN(3) > 0 && (at.Pop(dst) == nil) != (beside.Pop(dst) == nil) {
					t.Fatalf("cycle %d: output %d has a packet in one network alone", cycle, dst)
				}
				at.Advance()
				advanced = false
				for range r.IntN(4) {
					dst, bytes := r.IntN(2), 8<<r.IntN(7)
					want := at.HasRoom(1, bytes)
					if got := box.HasRoom(bytes); got != want {
						t.Fatalf("cycle %d: room for %d bytes: %v, want %v", cycle, bytes, got, want)
					}
					switch {
					case want:
						at.Push(new(mem.Req), 1, dst, bytes)
						box.Push(new(mem.Req), dst, bytes)
						if !advanced {
							early++
						}
					default:
						refused++
					}
				}
				box.Advanced()
				box.Flush()
				if at.Stats != beside.Stats {
					t.Fatalf("cycle %d: %+v, want %+v", cycle, beside.Stats, at.Stats)
				}
			}
			if early < c.early || refused < 100 {
				t.Errorf("%d packets found room before the advance, want %d; %d found none, want 100", early, c.early, refused)
			}
		})
	}
}
