package kcase_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/work/kcase"
)

// replay runs a case and reports every difference.
func replay(t *testing.T, text []byte, folder string) {
	c, err := kcase.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	progs, err := c.Assemble(c.Name, func(file string) (string, error) {
		b, err := os.ReadFile(filepath.Join(folder, file))
		return string(b), err
	})
	if err != nil {
		t.Fatal(err)
	}
	k, err := c.Core(kepler.Config{}, progs)
	if err != nil {
		t.Fatal(err)
	}
	k.Trace(true)
	k.Run(c.Limit())
	diffs, n := c.Compare(k)
	if n < 1000 {
		t.Errorf("only %d values compared", n)
	}
	for i, d := range diffs {
		if i == 20 {
			t.Errorf("and %d more", len(diffs)-i)
			break
		}
		t.Error(d)
	}
}

// A warp that never exits has the exit cycle -1, and a run that is never done the done
// cycle -1. Warp 0 never ends here; warp 1 exits.
func TestNeverExits(t *testing.T) {
	const text = `{"format": "` + kcase.Format + `", "name": "round", "max_cycles": 500,
		"programs": [{"asm": "LOOP:\n\tBRA LOOP\n", "warps": [0]}, {"asm": "\tEXIT\n", "warps": [1]}],
		"warps": [{"warp": 0, "pc": 0, "mask": "1"}, {"warp": 1, "pc": 0, "mask": "1"}],
		"rtl": {"exit_cycle": {"0": %d, "1": %d}, "done_cycle": %d}}`
	run := func(warp0, warp1, done int64) []kcase.Diff {
		t.Helper()
		c, err := kcase.Parse(fmt.Appendf(nil, text, warp0, warp1, done))
		if err != nil {
			t.Fatal(err)
		}
		progs, err := c.Assemble(c.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		k, err := c.Core(kepler.Config{}, progs)
		if err != nil {
			t.Fatal(err)
		}
		k.Run(c.Limit())
		diffs, n := c.Compare(k)
		if n != 3 {
			t.Errorf("%d values compared, want 3", n)
		}
		return diffs
	}
	diffs := run(-1, -1, -1)
	if len(diffs) != 1 || diffs[0].What != "exit cycle of warp 1" || diffs[0].Want != "never" {
		t.Fatalf("warp 1 exits: %v", diffs)
	}
	exit, err := strconv.ParseInt(diffs[0].Got, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if diffs := run(-1, exit, -1); len(diffs) != 0 {
		t.Errorf("all is as recorded: %v", diffs)
	}
	if diffs := run(300, exit, 310); len(diffs) != 2 || diffs[0].Got != "never" || diffs[1].Got != "never" {
		t.Errorf("warp 0 does not exit: %v", diffs)
	}
}

// Every program of the reference testbenches does on the model what it did on
// the hardware description.
func TestPrograms(t *testing.T) {
	files, err := filepath.Glob("testdata/programs/*.json")
	if err != nil || len(files) != 28 {
		t.Fatalf("%d cases, want 28; %v", len(files), err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".json"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			replay(t, text, filepath.Dir(f))
		})
	}
}

// So do random programs.
func TestRandom(t *testing.T) {
	f, err := os.Open("testdata/random.jsonl.zst")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 64<<20)
	n := 0
	for lines.Scan() {
		text := append([]byte(nil), lines.Bytes()...)
		c, err := kcase.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		n++
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			replay(t, text, "")
		})
	}
	if err := lines.Err(); err != nil || n != 40 {
		t.Fatalf("%d cases, want 40; %v", n, err)
	}
}

// load returns a case and a core that is set up for it.
func load(tb testing.TB, name string) (*kcase.Case, func() *kepler.Core) {
	tb.Helper()
	return loadAt(tb, name, kepler.RTL)
}

func loadAt(tb testing.TB, name string, level kepler.Level) (*kcase.Case, func() *kepler.Core) {
	tb.Helper()
	c, progs := assembled(tb, name)
	return c, func() *kepler.Core {
		k, err := c.Core(kepler.ConfigFor(level), progs)
		if err != nil {
			tb.Fatal(err)
		}
		return k
	}
}

// At level datasheet the programs leave what they left on the hardware
// description, as far as they rely neither on its arithmetic nor on registers
// that comparisons happen to write, and do not race.
func TestDatasheetLeavesTheSame(t *testing.T) {
	for _, name := range []string{
		"test_alu_ops_cnot", "test_alu_ops_isa_ext", "test_alu_ops_mov", "test_alu_ops_negation", "test_app_matmul",
		"test_control_flow_diverge", "test_control_flow_hazard", "test_control_flow_predicates", "test_fpu_sfu_ops_fma", "test_fpu_sfu_ops_sfu",
		"test_memory_system", "test_pipeline_issue_add_fadd", "test_pipeline_issue_addi_itof",
		"test_parallel_cube", "test_parallel_cube_run2", "test_parallel_pyramid", "test_parallel_pyramid_run2",
		"test_parallel_torus", "test_parallel_torus_run2", "test_perspective_cube", "test_perspective_cube_run2",
		"test_rotated_cube", "test_rotated_cube_run2", "test_wireframe_cube",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, start := loadAt(t, name, kepler.Datasheet)
			k := start()
			if !k.Run(c.Limit()) {
				t.Fatalf("does not end: %v %v", k.Fault(), k.Waits())
			}
			// The cycles may differ, and nothing below asks for them.
			c.RTL = kcase.Recorded{Mem: c.RTL.Mem, Shared: c.RTL.Shared, Preds: c.RTL.Preds}
			diffs, n := c.Compare(k)
			for _, d := range diffs {
				t.Error(d)
			}
			t.Logf("%d values, done in cycle %d", n, k.DoneCycle())
		})
	}
}

// A cycle allocates nothing once the lines of memory that the program writes
// are there.
func TestAllocations(t *testing.T) {
	for _, test := range []struct {
		name  string
		level kepler.Level
	}{
		{"test_perspective_cube", kepler.RTL}, {"test_multi_warp_torus", kepler.RTL},
		{"test_perspective_cube", kepler.Datasheet}, {"test_multi_warp_torus", kepler.Datasheet},
	} {
		name := test.name
		c, start := loadAt(t, name, test.level)
		k := start()
		k.Run(c.Limit())
		done := k.Cycle()
		warm := start()
		k.Words(func(addr, _ uint32) { warm.SetMemory(addr, 0) })
		for warm.Cycle() < 300 {
			warm.Step()
		}
		stretch := func() {
			for until := warm.Cycle() + (done-320)/2; warm.Cycle() < until; {
				warm.Step()
			}
		}
		if n := testing.AllocsPerRun(1, stretch); n != 0 {
			t.Errorf("%s: %v allocations in %d cycles", name, n, (done-320)/2)
		}
	}
}

// Simulated cycles per second, from the first fetch to the end.
func BenchmarkCycle(b *testing.B) {
	for _, name := range []string{"test_perspective_cube", "test_parallel_torus", "test_multi_warp_torus"} {
		b.Run(name, func(b *testing.B) {
			_, start := load(b, name)
			b.ReportAllocs()
			k := start()
			for range b.N {
				if k.Done() {
					b.StopTimer()
					k = start()
					for k.Cycle() < 69 {
						k.Step()
					}
					b.StartTimer()
				}
				k.Step()
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
		})
	}
}
