package simt_test

import (
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// TestReferenceCounters compares the SMs' counters with GPGPU-Sim's own runs on the
// whole chip, with a warm L2. On the two configurations whose network both simulators
// model alike, cycles and counters are equal.
func TestReferenceCounters(t *testing.T) {
	alltests.Only(t, "seconds of reference runs")
	const runs, configs = "../../../testdata/reference/gpgpusim", "../../../testdata/reference/configs"
	f, err := os.Open(filepath.Join(runs, "runs.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	col := map[string]int{}
	for i, n := range rows[0] {
		col[n] = i
	}
	done := map[string]*report.Run{}
	compared := 0
	for _, r := range rows[1:] {
		config, name := r[col["config"]], r[col["job"]]
		if config == "SM2_GTX480" || r[col["l2_at_start"]] != "warm" {
			continue
		}
		key := config + " " + name
		res := done[key]
		if res == nil {
			ready, err := job.Load(filepath.Join(runs, name+".toml"), job.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range ready.Job.Steps {
				if s.Kind == job.StepLaunch {
					s.Launch.Registers = 16
				}
			}
			o := job.Options{Timing: true, GPU: filepath.Join(configs, config, "gpgpusim.config")}
			if err := o.Settings.Set("run.copies_fill_l2=true"); err != nil {
				t.Fatal(err)
			}
			if res, err = ready.Run(context.Background(), o); err != nil {
				t.Fatalf("%s: %v", key, err)
			}
			done[key] = res
		}
		launch, err := strconv.Atoi(r[col["launch"]])
		if err != nil || launch >= len(res.Kernels) {
			t.Fatalf("%s: no launch %s", key, r[col["launch"]])
		}
		k := &res.Kernels[launch]
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
			want, err := strconv.ParseUint(r[col[c.column]], 10, 64)
			if err != nil {
				t.Fatalf("%s of %s is not a number: %v", c.column, key, err)
			}
			compared++
			if c.got != want {
				t.Errorf("%s launch %d: %s is %d, GPGPU-Sim's %d", key, launch, c.column, c.got, want)
			}
		}
	}
	if compared < 400 {
		t.Errorf("only %d figures compared", compared)
	}
}
