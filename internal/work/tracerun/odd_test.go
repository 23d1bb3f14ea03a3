package tracerun_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/trace/open"
	"github.com/heddle-sim/heddle/internal/work/tracerun"
)

// odd is a launch of one block.
type odd struct {
	grid, block       string
	shared, registers int64
	warps             [][]string // instructions of each, as version 5 has them, without pc and immediate
}

// write writes the launch to a folder, and after it one that
// every machine can run.
func (o odd) write(t testing.TB) string {
	t.Helper()
	var s strings.Builder
	text := func(o odd) string {
		s.Reset()
		fmt.Fprintf(&s, "-kernel name = k\n-kernel id = 1\n-grid dim = (%s)\n-block dim = (%s)\n-shmem = %d\n-nregs = %d\n-binary version = 80\n-cuda stream id = 0\n"+
			"-shmem base_addr = 0x00007f5e00000000\n-local mem base_addr = 0x00007f5ddd000000\n-nvbit version = 1.7\n-accelsim tracer version = 5\n-enable lineinfo = 0\n\n"+
			"#traces format = x\n\n#BEGIN_TB\n\nthread block = 0,0,0\n\n", o.grid, o.block, o.shared, o.registers)
		for w, list := range o.warps {
			if list == nil {
				continue
			}
			fmt.Fprintf(&s, "warp = %d\ninsts = %d\n", w, len(list))
			for i, l := range list {
				fmt.Fprintf(&s, "%04x %s 0 \n", 16*i, l)
			}
			s.WriteByte('\n')
		}
		s.WriteString("#END_TB\n")
		return s.String()
	}
	plain := odd{grid: "1,1,1", block: "32,1,1", registers: 8, warps: [][]string{{exit}}}
	dir := t.TempDir()
	for name, text := range map[string]string{"kernelslist.g": "kernel-1.traceg\nkernel-2.traceg\n", "kernel-1.traceg": text(o), "kernel-2.traceg": text(plain)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	exit    = "ffffffff 0 EXIT 0 0"
	barrier = "ffffffff 0 BAR.SYNC 0 0"
	add     = "ffffffff 1 R4 IADD3 1 R4 0"
)

// TestOdd replays launches that no tracer should write, or few programs make.
// Each comes to its end, or is refused with a reason.
func TestOdd(t *testing.T) {
	one := func(list ...string) [][]string { return [][]string{append(list, exit)} }
	for n, c := range []struct {
		name  string
		is    odd
		insts uint64 // of warps, of the first launch
		fails string // part of the message; "" if it runs
		warns string
	}{
		{name: "a store with a destination, which is used", is: odd{warps: one("ffffffff 1 R4 STG.E 2 R6 R8 4 1 0x7f0000000000 4", add)}, insts: 3},
		{name: "a fence with a destination, which is used", is: odd{warps: one("ffffffff 1 R4 MEMBAR.SC.GPU 0 0", add)}, insts: 3},
		{name: "a load of no lane, whose result is used", is: odd{warps: one("00000000 1 R4 LDG.E 1 R6 4 1 0x0 0", add)}, insts: 3},
		{name: "a load without a result", is: odd{warps: one("ffffffff 0 LDG.E 1 R6 4 1 0x7f0000000000 4", add)}, insts: 3},
		{name: "an atomic of no lane, whose result is used", is: odd{warps: one("00000000 1 R4 ATOMG.E.ADD 1 R6 4 1 0x0 0", add)}, insts: 3},
		{name: "a load that runs over the end of memory", is: odd{warps: one("ffffffff 1 R4 LDG.E.128 1 R6 16 1 0xfffffffffffffff8 4", add)}, insts: 3},
		{name: "a barrier without lanes", is: odd{warps: one("00000000 0 BAR.SYNC 0 0", add)}, insts: 3},
		{name: "DEPBAR without copies", is: odd{warps: one("ffffffff 0 LDGDEPBAR 0 0", "ffffffff 0 DEPBAR.LE 0 0", add)}, insts: 4},
		{name: "no EXIT", is: odd{warps: [][]string{{add, add}}}, insts: 2},
		{name: "a barrier, then nothing", is: odd{block: "64,1,1", warps: [][]string{{barrier}, {add, barrier, exit}}}, insts: 4},
		{name: "a barrier to which warps are missing", is: odd{block: "128,1,1", warps: [][]string{{barrier, add, exit}, nil, {barrier, exit}, {}}}, insts: 5, warns: "warp"},
		{name: "a barrier that others have left", is: odd{block: "96,1,1", warps: [][]string{{barrier, barrier, exit}, {barrier, exit}, {exit}}}, insts: 6},
		{name: "a barrier of the lanes that have not left", is: odd{warps: one("0000ffff 0 EXIT 0 0", "ffff0000 0 BAR.SYNC 0 0", add)}, insts: 4},
		{name: "arriving alone", is: odd{block: "64,1,1", warps: [][]string{{"ffffffff 0 BAR.ARV 0 0", exit}, {barrier, exit}}}, insts: 4},
		{name: "parts of a warp at a barrier, others gone later", is: odd{block: "64,1,1", warps: [][]string{{"0000ffff 0 BAR.SYNC 0 0", "ffff0000 0 EXIT 0 0", "0000ffff 0 EXIT 0 0"}, {barrier, exit}}}, insts: 5},
		{name: "instructions after EXIT", is: odd{warps: [][]string{{exit, add, barrier, exit}}}, insts: 4},
		{name: "a grid of more blocks than a number holds", is: odd{grid: "4294967295,4294967295,4294967295", warps: one()}, fails: "grid"},
		{name: "the largest grid", is: odd{grid: "2147483647,65535,65535", warps: one()}, insts: 1, warns: "1 of 9223090559730712575"},
		{name: "a grid without blocks", is: odd{grid: "0,1,1", warps: one()}, fails: "grid"},
		{name: "a block of too many threads", is: odd{block: "1025,1,1", warps: one()}, fails: "1024"},
		{name: "a block without threads", is: odd{block: "0,1,1", warps: one()}, fails: "block"},
		{name: "more shared memory than an SM has", is: odd{shared: 100 << 20, warps: one("ffffffff 1 R4 LDS 1 R6 4 1 0x6000000 4")}, insts: 2, warns: "bytes of shared memory"},
		{name: "more registers than an SM has", is: odd{block: "1024,1,1", registers: 255, warps: one()}, insts: 1, warns: "needs 255 registers"},
		{name: "more registers than there are numbers", is: odd{registers: 1 << 20, warps: one()}, fails: "nregs"},
		{name: "shared memory below nothing", is: odd{shared: -1, warps: one()}, fails: "shmem"},
	} {
		if c.is.grid == "" {
			c.is.grid = "1,1,1"
		}
		if c.is.block == "" {
			c.is.block = "32,1,1"
		}
		dir := c.is.write(t)
		for i, gpu := range []string{"rtx-2060", "rtx-a6000"} {
			for k, keys := range [][]string{{}, {"trace.dependences=scoreboard", "trace.hidden_dependences=off"}, {"run.caches=warm"}} {
				if !alltests.On() && k != (n+i)%3 {
					continue
				}
				how := fmt.Sprintf("%s on %s %s", c.name, gpu, keys)
				var s run.Settings
				for _, k := range keys {
					if err := s.Set(k); err != nil {
						t.Fatal(err)
					}
				}
				set, err := open.Open(dir)
				if err != nil {
					t.Fatalf("%s: %v", how, err)
				}
				r, err := tracerun.Run(t.Context(), set, tracerun.Options{GPU: gpu, Threads: 1, MaxInsts: 1_000_000, Settings: s})
				switch {
				case c.fails == "" && err != nil:
					t.Errorf("%s: %v", how, err)
				case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
					t.Errorf("%s: %v, want an error about %s", how, err, c.fails)
				case c.fails == "" && (len(r.Kernels) != 2 || r.Kernels[0].WarpInstructions != c.insts || r.Kernels[1].WarpInstructions != 1):
					t.Errorf("%s: %d launches, the first %d warp instructions, want 2 and %d", how, len(r.Kernels), r.Kernels[0].WarpInstructions, c.insts)
				}
				if w := strings.Join(r.Trace.Warnings, "\n"); err == nil && !strings.Contains(w, c.warns) {
					t.Errorf("%s: no warning of %s:\n%s", how, c.warns, w)
				}
			}
		}
	}
}
