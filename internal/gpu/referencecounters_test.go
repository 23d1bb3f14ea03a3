package gpu_test

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// TestReferenceCounters compares the SMs' counters with GPGPU-Sim's own runs on the
// whole chip, with a warm L2. On the two configurations whose network both simulators
// model alike, cycles and counters are equal.
func TestReferenceCounters(t *testing.T) {
	alltests.Only(t, "seconds of reference runs")
	compared := 0
	for _, r := range readReference(t) {
		if r.config == "SM2_GTX480" || r.l2 != "warm" {
			continue
		}
		res := runReference(t, r.config, r.l2, r.job)
		if r.launch >= len(res.Kernels) {
			t.Fatalf("%s %s: no launch %d", r.config, r.job, r.launch)
		}
		k := &res.Kernels[r.launch]
		for _, c := range []struct {
			column string
			got    uint64
		}{
			{"gpu_sim_cycle", k.Cycles},
			{"warp_insn_issued", k.WarpInstructions},
			{"issue_Stall", k.SlotStalls["pipe"]},
			{"issue_W0_Idle", k.SlotStalls["idle"]},
			{"issue_W0_Scoreboard", k.SlotStalls["scoreboard"]},
			{"stall_shd_mem", k.Memory.LoadStoreStallCycles},
			{"shmem_bkconflict", k.Memory.SharedConflictCycles},
			{"L1D_accesses", k.Memory.L1.Accesses},
			{"L1D_misses", k.Memory.L1.Misses},
			{"L1D_pending_hits", k.Memory.L1.PendingHits},
			{"L1D_resfails", k.Memory.L1.Refused},
		} {
			want, ok := r.v[c.column]
			if !ok {
				t.Fatalf("%s of %s %s is not a number", c.column, r.config, r.job)
			}
			compared++
			if float64(c.got) != want {
				t.Errorf("%s %s launch %d: %s is %d, GPGPU-Sim's %.0f", r.config, r.job, r.launch, c.column, c.got, want)
			}
		}
	}
	if compared < 400 {
		t.Errorf("only %d figures compared", compared)
	}
}
