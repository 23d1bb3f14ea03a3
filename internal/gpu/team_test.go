package gpu_test

import (
	"fmt"
	"testing"

	"github.com/heddle-sim/heddle/internal/gpu"
)

// TestTeamsFillEvenly: three clusters of two blocks wait for each other on three SMs that take two
// blocks each. They fit only if SMs fill evenly.
func TestTeamsFillEvenly(t *testing.T) {
	const body = `sub.u64 %a1, %in, 4096;
	@%first atom.global.add.u32 %r5, [%a1], 1;
	all: ld.volatile.global.u32 %v, [%a1];
	setp.lt.u32 %p1, %v, 6;
	@%p1 bra all;`
	cfg := teamConfig(t, "h100-pcie", 1, "chip.clusters=3", "chip.gpcs=1", "sm.blocks=2")
	text := fmt.Sprintf(teamFrame, " .reqnctapercluster 2", body)
	if _, _, err := onTeam(t, text, 6, cfg); err != nil {
		t.Error(err)
	}
}

// TestActiveClusters counts the clusters that GPCs hold.
func TestActiveClusters(t *testing.T) {
	for _, c := range []struct{ sms, gpcs, blocks, size, want int }{
		{114, 0, 1, 1, 114},
		{114, 1, 2, 2, 114},
		{114, 7, 1, 2, 57}, // six GPCs of 16 SMs, one of 18
		{132, 8, 1, 2, 66}, // six of 16, two of 18
		{132, 8, 1, 18, 2},
		{114, 7, 2, 2, 114},
		{114, 7, 1, 16, 7},
		{12, 4, 8, 4, 16}, // two of 2, two of 4
		{7, 4, 8, 3, 0},   // too few for pairs: one of 1, three of 2
		{6, 2, 32, 3, 42}, // one of 2, one of 4
	} {
		cfg := gpu.Config{GPCs: c.gpcs}
		cfg.Clusters, cfg.SMsPerCluster = c.sms, 1
		if n := cfg.ActiveClusters(c.blocks, c.size); n != c.want {
			t.Errorf("%d SMs in %d GPCs with %d blocks each hold %d clusters of %d, want %d", c.sms, c.gpcs, c.blocks, n, c.size, c.want)
		}
	}
}
