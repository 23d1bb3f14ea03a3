package noc

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/mem"
)

// TestOpen checks that packets of a network without contention take the time that they take
// alone, whatever else is under way.
func TestOpen(t *testing.T) {
	grid := func(k Kind, vcs int) Config {
		return Config{Kind: k, Inputs: 6, Outputs: 3, InBuffer: 9, OutBuffer: 9, FlitBytes: 32, VCs: vcs, VCBuffer: 8, BoundaryBuffer: 16,
			Iterations: 1, VCDelay: 1, SwitchDelay: 1, LinkDelay: 1, InputSpeedup: 1, OutputSpeedup: 1, Steps: 1, Placement: Spread}
	}
	for _, c := range []struct {
		name string
		cfg  Config
	}{{"crossbar", local(6, 3)}, {"fly", grid(Fly, 1)}, {"mesh", grid(Mesh, 2)}, {"torus", grid(Torus, 2)}} {
		t.Run(c.name, func(t *testing.T) {
			for _, bytes := range []int{8, 136} {
				alone := arrivesAfter(t, c.cfg, bytes)
				cfg := c.cfg
				cfg.Open = true
				if got := arrivesAfter(t, cfg, bytes); got != alone {
					t.Errorf("%d bytes: alone after %d advances, want %d", bytes, got, alone)
				}
				n := New(cfg)
				first := new(mem.Req)
				n.Push(first, 0, 1, bytes)
				for i := range 50 {
					if !n.HasRoom(i%6, bytes) {
						t.Fatal("no room")
					}
					n.Push(new(mem.Req), i%6, 1, bytes)
				}
				for range alone {
					n.Advance()
				}
				found := false
				for r := n.Pop(1); r != nil; r = n.Pop(1) {
					found = found || r == first
				}
				if !found {
					t.Errorf("%d bytes: one of 51 packets has not arrived after %d advances", bytes, alone)
				}
			}
		})
	}
}
