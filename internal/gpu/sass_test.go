package gpu_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// TestSASSOnEveryCore runs the examples in SASS cycle by cycle: under their
// control bits, under scoreboards, and on the SIMT core. The values are those
// computed on the host, and the instruction counts those of a functional run.
func TestSASSOnEveryCore(t *testing.T) {
	alltests.Only(t, "machine code on every GPU")
	files, err := filepath.Glob("../../examples/sass/*.toml")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d examples: %v", len(files), err)
	}
	for _, file := range alltests.Some(files, 2) {
		want := runJob(t, file, false, job.Options{})
		for _, x := range []struct {
			gpu, core string
			set       []string
		}{
			{gpu: "rtx-a6000"}, {gpu: "rtx-3080", set: []string{"modern.dependences=scoreboard"}}, {gpu: "rtx-5070-ti", core: "modern"},
			{gpu: "rtx-3070"}, {gpu: "rtx-3070", core: "modern"}, {gpu: "rtx-a6000", core: "simt"},
		} {
			o := job.Options{GPU: x.gpu}
			o.Settings.Core = x.core
			got := runJob(t, file, true, o, x.set...)
			if !got.OK {
				t.Errorf("%s, %+v: checks fail: %+v", file, x, got.Checks)
			}
			if got.WarpInstructions != want.WarpInstructions || got.ThreadInstructions != want.ThreadInstructions {
				t.Errorf("%s, %+v: %d warp and %d thread instructions, %d and %d in a functional run", file, x,
					got.WarpInstructions, got.ThreadInstructions, want.WarpInstructions, want.ThreadInstructions)
			}
			bits := len(got.Dependences) == 1 && got.Dependences[0].Mechanism == "control bits"
			if modern := got.Core == "modern"; modern && bits != (x.set == nil) || !modern && len(got.Dependences) != 0 {
				t.Errorf("%s, %+v: guarded by %+v", file, x, got.Dependences)
			}
			for i := range got.Kernels {
				balance(t, x.gpu, &got.Kernels[i])
			}
			balanceRun(t, x.gpu, got)
		}
	}
}

// TestDoublesOfOtherChips: code for sm_80, where sums in binary64 have a fixed latency, computes the
// same on a chip whose sub-cores share a unit for them, and so does code that waits for a counter.
func TestDoublesOfOtherChips(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name, arch, control string
		counter             string // of the first sum
		want                string // what guards dependences
	}{
		{"stall counters", "sm_80", "[B------:R-:W-:-:S10]", "[B------:R-:W-:-:S10]", "scoreboards"},
		{"a counter", "sm_80", "[B0-----:R-:W0:-:S02]", "[B------:R-:W0:-:S02]", "control bits"},
		{"a counter, sm_86", "sm_86", "[B0-----:R-:W0:-:S02]", "[B------:R-:W0:-:S02]", "control bits"},
	} {
		wait := "[B------:R-:W-:-:S10]"
		if c.want == "control bits" {
			wait = "[B0-----:R-:W-:-:S10]"
		}
		text := ".arch " + c.arch + "\n.kernel k\n.regs 16\n.param out, 8\n" +
			"[B------:R-:W-:-:S10] MOV R2, c[0x0][0x160] ;\n[B------:R-:W-:-:S10] MOV R3, c[0x0][0x164] ;\n" +
			"[B------:R-:W-:-:S10] MOV R4, RZ ;\n[B------:R-:W-:-:S10] MOV R5, 0x40000000 ;\n" + // 2
			c.counter + " DADD R6, R4, 1 ;\n" + c.control + " DMUL R6, R6, R4 ;\n" + c.control + " DADD R6, R6, R4 ;\n" +
			wait + " STG.E.64 [R2], R6 ;\n[B------:R-:W-:-:S01] EXIT ;\n"
		toml := "program = \"k.sass\"\n[buffers.out]\ntype = \"f64\"\ncount = 1\n[[launches]]\ngrid = [1, 1, 1]\nblock = [1, 1, 1]\nargs = [{ buffer = \"out\" }]\n[[checks]]\nbuffer = \"out\"\nvalues = [8.0]\n"
		for name, s := range map[string]string{"k.sass": text, "k.toml": toml} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(s), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		got := runJob(t, filepath.Join(dir, "k.toml"), true, job.Options{GPU: "rtx-a6000"})
		if !got.OK || len(got.Dependences) != 1 || got.Dependences[0].Mechanism != c.want {
			t.Errorf("%s: right: %t, guarded by %+v, want %s; %+v", c.name, got.OK, got.Dependences, c.want, got.Checks)
		}
	}
}
