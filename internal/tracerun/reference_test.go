package tracerun_test

import (
	"archive/tar"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/trace"
	"github.com/heddle-sim/heddle/internal/trace/open"
	"github.com/heddle-sim/heddle/internal/tracerun"
)

const (
	traces  = "../../../shared/data/traces"
	runs    = "../../../shared/data/accel-sim-runs"
	configs = "../../../shared/data/gpgpusim-configs"
)

// unpacked unpacks an archive of traces and returns the folder with its list.
func unpacked(t testing.TB, name string) string {
	t.Helper()
	f, err := os.Open(filepath.Join(traces, name+".tar.xz"))
	if err != nil {
		t.Skip("the traces are not here")
	}
	defer f.Close()
	z, err := xz.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		path := filepath.Join(dir, filepath.Base(h.Name))
		b, err := io.ReadAll(r)
		if err == nil {
			err = os.WriteFile(path, b, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// target is the binary version for which the reference relabelled its traces.
var target = map[string]int{"SM75_RTX2060": 75, "SM7_QV100": 70, "SM86_RTX3070": 86}

// relabelled is a launch as the reference's script changed it: another binary
// version, and the opcodes that its tables do not have replaced.
type relabelled struct {
	trace.Source
	arch  int
	times int // blocks are there so often
}

func (r relabelled) Header() (trace.Header, error) {
	h, err := r.Source.Header()
	r.head(&h)
	return h, err
}

func (r relabelled) head(h *trace.Header) {
	if r.arch > 0 && h.Arch != 61 {
		h.Arch = r.arch
	}
}

func (r relabelled) Open() (*trace.Kernel, error) {
	k, err := r.Source.Open()
	if err != nil {
		return nil, err
	}
	was := k.Arch
	r.head(&k.Header)
	if was == k.Arch {
		return k, nil
	}
	sub := map[string]string{"VIADD": "IADD3"}
	if r.arch == 70 {
		for from, to := range map[string]string{"ULDC": "LDC", "S2UR": "S2R", "UIMAD": "IMAD", "USHF": "SHF", "UIADD3": "IADD3", "UMOV": "MOV",
			"UISETP": "ISETP", "ULOP3": "LOP3", "SHL": "SHF"} {
			sub[from] = to
		}
	}
	for i := range k.Code {
		base, rest, _ := strings.Cut(k.Code[i].Op, ".")
		if to, ok := sub[base]; ok {
			if rest != "" {
				to += "." + rest
			}
			k.Code[i].Op = to
		}
	}
	return k, nil
}

// row is a launch of a reference run.
type row struct {
	config, trace string
	kernel        int
	v             map[string]float64
}

func reference(t testing.TB) []row {
	t.Helper()
	f, err := os.Open(filepath.Join(runs, "summary.csv"))
	if err != nil {
		t.Skip("the reference runs are not here")
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	list, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for _, l := range list[1:] {
		n, err := strconv.Atoi(l[2])
		if err != nil {
			continue // sums
		}
		x := row{l[0], l[1], n, map[string]float64{}}
		for i, name := range list[0] {
			if i < len(l) {
				if v, err := strconv.ParseFloat(l[i], 64); err == nil {
					x.v[name] = v
				}
			}
		}
		rows = append(rows, x)
	}
	return rows
}

// TestReference runs the traces that Accel-Sim ran, with its configuration
// files.
func TestReference(t *testing.T) {
	rows := reference(t)
	results := map[string]*report.Run{}
	sum, worst, missed, n := 0.0, 0.0, 0, 0
	for _, r := range rows {
		if r.trace == "x8-vectoradd" {
			continue // TestEightfold
		}
		key := r.config + "/" + r.trace
		res := results[key]
		if res == nil {
			set, err := open.Open(unpacked(t, r.trace))
			if err != nil {
				t.Fatal(err)
			}
			for i := range set.Commands {
				if c := &set.Commands[i]; c.Launch != nil {
					c.Launch = relabelled{c.Launch, target[r.config], 1}
				}
			}
			res, err = tracerun.Run(context.Background(), set, tracerun.Options{GPU: filepath.Join(configs, r.config, "gpgpusim.config"), Threads: 1})
			if err != nil {
				t.Fatalf("%s: %v", key, err)
			}
			results[key] = res
		}
		k := res.Kernels[r.kernel-1]
		off := func(name string, got uint64) string {
			want, ok := r.v[name]
			if !ok || float64(got) == want {
				return ""
			}
			return fmt.Sprintf(" %s %d, want %.0f", name, got, want)
		}
		const launch = 5000 // configured
		want := r.v["gpu_sim_cycle"] - launch
		e := (float64(k.Cycles)-launch)/want - 1
		sum += math.Abs(e)
		worst = max(worst, math.Abs(e))
		n++
		diff := off("warp_instr_trace", k.WarpInstructions) + off("gpu_sim_insn", k.ThreadInstructions) + off("L1D_accesses", k.Memory.L1.Accesses) +
			off("L2_accesses", k.Memory.L2.Accesses) + off("dram_reads", k.Memory.DRAM.Reads) + off("dram_writes", k.Memory.DRAM.Writes)
		if math.Abs(e) > 0.2 {
			missed++
		}
		if e != 0 || diff != "" {
			t.Logf("%s kernel %d: %d cycles, want %.0f (%+.2f %% less the launch)%s", key, r.kernel, k.Cycles, r.v["gpu_sim_cycle"], 100*e, diff)
		}
	}
	t.Logf("%d launches, mean of absolute errors %.2f %%, worst %.2f %%, %d beyond 20 %%", n, 100*sum/float64(n), 100*worst, missed)
	if sum/float64(n) > 0.1 || missed > n/20 {
		t.Errorf("mean error %.2f %%, %d of %d beyond 20 %%", 100*sum/float64(n), missed, n)
	}
}
