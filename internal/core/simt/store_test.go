package simt

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/isa"
)

// TestStoreThroughput: once the queues are full, a store of a line of four sectors takes
// four cycles, because the L1 accepts one request per cycle (measured: 4).
func TestStoreThroughput(t *testing.T) {
	g := newRig(t, rtx3070(t))
	g.run(chain(900, func(int) (*isa.Inst, *[32]uint64) {
		return store(isa.Global, 4, 1, 2), strided(0x1000, 4)
	}), 20000)
	if d := g.issues[780].cycle - g.issues[390].cycle; d < 4*390 || d > 4*390+390/39 {
		t.Errorf("%d cycles for 390 stores, want 4 each and at most one more for each filling of a bank's queue", d)
	}
	// The warp retires when the last acknowledgement has arrived.
	if last := g.issues[900].cycle; g.cycle < last+g.delay {
		t.Errorf("the warp retired at cycle %d; its stores were issued up to %d and take %d", g.cycle, last, g.delay)
	}
}
